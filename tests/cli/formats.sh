#!/usr/bin/env bash
# formats.sh TALUS SOURCE_DIR
# Files: formats are recognized and named, what laboratories record is read, and convert is a fixed
# point.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# --- what a file is, where another one is expected ---
echo '<mujoco model="humanoid"><worldbody/></mujoco>' >humanoid.xml
echo '<?xml version="1.0"?><!-- a world --><sdf version="1.9"><model name="x"/></sdf>' >world.sdf
echo '<OpenSimDocument Version="40000"><Model name="leg"/></OpenSimDocument>' >leg.osim
cp humanoid.xml model.talus
cp humanoid.xml robot.urdf
cp leg.osim data.sto
cp leg.osim data.csv
mujoco='a model of MuJoCo (MJCF)'
for command in info check simulate assemble modes equilibrium; do
    expect 3 $command humanoid.xml
    has err "humanoid.xml:1:1: error: this is $mujoco, not a model file of Talus"
    expect 3 $command world.sdf
    has err 'error: this is a model of Gazebo (SDF), not a model file of Talus'
done
expect 3 info model.talus
has err "model.talus:1:1: error: this is $mujoco, not a model file of Talus"
expect 3 info robot.urdf
has err "robot.urdf:1:1: error: <mujoco> is not <robot>: this is $mujoco, not a URDF file"
expect 3 convert humanoid.xml -o humanoid.talus
has err "this is $mujoco"
for table in data.sto data.csv leg.osim; do
    expect 3 plot $table
    has err "$table: error: this is a model of OpenSim (.osim), not a table"
    expect 3 show $table
    expect 3 id held.talus $table
    has err 'this is a model of OpenSim (.osim), not a table'
done
expect 3 id held.talus pendulum.talus
has err 'this is a model file of Talus (.talus), not a table'
expect 3 plot world.sdf
has err 'world.sdf: error: this is a model of Gazebo (SDF), not a table'
expect 3 plot notes.txt
has err 'notes.txt: error: the name does not end with .sto, .mot, .trc, .csv, .npz or .c3d'

# --- what cannot be read: the system's reason ---
expect 3 info nowhere.talus
is err 'nowhere.talus: error: the file cannot be opened: No such file or directory'
expect 3 plot nowhere.csv
is err 'nowhere.csv: error: the file cannot be opened: No such file or directory'
mkdir folder.talus folder.csv folder.urdf
for file in folder.talus folder.urdf; do
    expect 3 info $file
    has err "$file:1:1: error: the file cannot be read: Is a directory"
done
expect 3 show folder.csv
is err 'folder.csv: error: the file cannot be read: Is a directory'
if [ "$(id -u)" -ne 0 ]; then
    cp held.talus secret.talus
    chmod 000 secret.talus
    expect 3 info secret.talus
    is err 'secret.talus: error: the file cannot be opened: Permission denied'
fi

# --- tables as laboratories have them ---
printf 'PathFileType 4 (X/Y/Z) walk.trc\nDataRate CameraRate NumFrames NumMarkers Units\n' >walk.trc
printf '100 100 2 1 mm\nFrame# Time LASI\n X1 Y1 Z1\n1 0 1 2 3\n2 0.01 1 2 4\n' >>walk.trc
expect 0 convert walk.trc -o walk.csv
has walk.csv 'LASI.z'
printf 'x\nnRows=10\nnColumns=2\ninDegrees=no\nendheader\ntime\ta\n0\t1\n1\t2\n' >short.sto
expect 0 show short.sto
has err 'short.sto: warning: the header says nRows=10, but there are 2 rows: was the file cut off?'
printf 'x\ninDegrees=no\nendheader\ntime\tf\tf\n0\t1\t2\n' >twice.sto
expect 0 convert twice.sto -o once.csv
has err "columns 2 and 3 are both named 'f'; the second one is read as 'f_2'"
has once.csv 'time,f,f_2'
printf 'm\nDataType=Vec3\nversion=3\nendheader\ntime\tp\n0\t1,2,3\n1\t4,5,6\n' >vectors.sto
expect 0 convert vectors.sto -o vectors.csv
has vectors.csv 'time,p.x,p.y,p.z'
has vectors.csv '1,4,5,6'
printf 'DataRate=100\nDataType=Quaternion\nversion=3\nendheader\ntime\timu\n0\t1,0,0,0\n' >imu.sto
expect 0 convert imu.sto -o imu.csv
has imu.csv 'time,imu.w,imu.x,imu.y,imu.z'

# --- C3D files: parts of them as tables ---
cp "$source_dir"/tests/fuzz/corpus_c3d/intel_real.c3d walk.c3d
expect 0 convert walk.c3d captured.trc
has captured.trc 'KNEE'
expect 0 convert captured.trc -o captured.csv
has captured.csv '0.02,8,2,-8,'
expect 0 convert walk.c3d --part analog -o channels.csv
"$talus" convert - -f trc <walk.c3d >piped.trc || complain 'a C3D file from standard input'
cmp -s <(tail -n +2 piped.trc) <(tail -n +2 captured.trc) || complain 'a C3D file from a pipe'
"$talus" convert - --part analog -f csv <walk.c3d | cmp -s - channels.csv ||
    complain 'channels of a C3D file from a pipe'
has channels.csv 'time,Fx,Fy,Fz,Mx,My,Mz'
expect 0 convert walk.c3d --part forces -o forces.csv
has forces.csv '0,1,2,4,-1.375,0.5,0,0,0,10.25'
expect 2 convert walk.c3d --part bones -o x.csv
has err "--part 'bones' should be markers, analog, plates or forces"
expect 2 convert walk.trc --part forces -o x.csv
has err '--part is for .c3d files, which walk.trc is not'
expect 3 convert walk.trc -o x.c3d
has err 'a .c3d file can be read, but not written'
head -c 1200 walk.c3d >cut.c3d
expect 3 convert cut.c3d -o x.trc
has err 'cut.c3d: error: the file is cut off'

# --- convert is a fixed point: every example, and every model of the fuzz corpus ---
count=0
for model in *.talus "$source_dir"/tests/fuzz/corpus_model/*; do
    cp "$model" given.talus 2>/dev/null || continue # a folder
    "$talus" convert given.talus -q -o one.talus 2>/dev/null || continue
    expect 0 convert one.talus -q -o two.talus
    cmp -s one.talus two.talus || complain "$model changes when it is converted again"
    count=$((count + 1))
done
[ $count -gt 100 ] || complain "only $count models were converted"
finish
