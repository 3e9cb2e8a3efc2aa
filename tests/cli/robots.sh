#!/usr/bin/env bash
# robots.sh TALUS SOURCE_DIR
# Robots from URDF files on the command line: whatever real files have, they can be simulated.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"
cp -r "$source_dir"/tests/io/urdf/robots/* .
unset TALUS_PACKAGE_PATH ROS_PACKAGE_PATH

# every robot is read, and the model has its name
while read -r file name; do
    expect 0 info "$file"
    has out "model                   $name"
    expect 0 simulate "$file" -q -e 0.05 -o "$name.sto"
    expect 0 rerun "$name.sto"
    # what is said about a file is said once
    expect 0 info "$file"
    [ "$(sed 's/.*[0-9]: //' err | sed 's/: .*//' | sort | uniq -d | grep -cv '^note$')" -le 1 ] ||
        complain "$file: remarks of one kind are not merged: $(cat err)"
    [ "$(grep -c 'not read' err)" -le 2 ] || complain "$file: what is not read is told twice"
done <<'END'
quadruped.urdf hound
humanoid.urdf walker_one
mobile_manipulator.urdf tidy
hand.urdf grasper
arm.urdf reach_arm
END

# odd inertias: a warning, or an error if they are not wanted
expect 3 info arm.urdf --strict
has err 'error: links have an inertia that is not physical'
has err 'error: links have a negative principal moment of inertia, by rounding in the file'
expect 0 info mobile_manipulator.urdf --strict

# --- a free base falls: z = z0 - g t^2 / 2, whatever the joints do about the mass center ---
# The pelvis is not the mass center, but nothing turns the robot, and at rest its joints follow
# their weights alone; so does what they carry: all of it falls.
expect 0 simulate humanoid.urdf -q --free-base -e 0.3 -a 1e-8 --start pelvis_tz=1 -o fall.sto
near "$(first fall.sto pelvis_tz)" 1 0 'the start value of the base'
near "$(last fall.sto pelvis_tz)" '1 - 9.81 / 2 * 0.3 ^ 2' 1e-6 'a robot in free fall'

# --- start values ---
expect 0 simulate hand.urdf -q -e 0.01 --start index_proximal=0.4 --start thumb_flex=1 -o hand.sto
near "$(first hand.sto index_proximal)" 0.4 0 'a start value'
near "$(first hand.sto thumb_flex)" 1 0 'a second start value'
near "$(first hand.sto index_distal)" '0.9 * (1.1 * 0.4 + 0.05)' 1e-15 'what follows a start value'
expect 0 rerun hand.sto
expect 2 info hand.urdf --start index_proxmal=0.4
has err "there is no coordinate or speed 'index_proxmal' (did you mean 'index_proximal'?)"
expect 2 info hand.urdf --start index_middle=0.4
has err "'index_middle' begins where 'index_proximal' lets it begin"
expect 2 info hand.urdf --start index_proximal
has err "talus info: --start needs NAME=VALUE, not 'index_proximal'."
expect 0 simulate held.talus -q -e 0.01 --start arm.q0=0.25 -o held.sto
near "$(first held.sto arm.q0)" 0.25 0 'the start value of a model file'
expect 2 info held.talus --start arn.q0=0.25
has err "there is no coordinate or speed 'arn.q0' (did you mean 'arm.q0'?)"
expect 2 info zoo.talus --start held.uu0=0.25
has err "there is no coordinate or speed 'held.uu0' (did you mean 'held.u0'?)"

# speeds, too, of a robot, a model file and a model of OpenSim
expect 0 simulate hand.urdf -q -e 0.01 --start palm.u0=0.5 --free-base -c q,u -o hand.sto
near "$(first hand.sto palm.u0)" 0.5 0 'the start value of a speed'
expect 0 simulate held.talus -q -e 0.01 --start arm.u0=-0.5 -o held.sto
near "$(first held.sto arm.u0)" -0.5 0 'the start value of a speed of a model file'
expect 0 rerun held.sto
cp "$source_dir/tests/fuzz/corpus_osim/leg_40000.osim" leg.osim
speed=$("$talus" info leg.osim -q --json | grep -o '[a-z_]*\.u0' | head -1)
expect 0 simulate leg.osim -q -e 0.001 --start "$speed=0.25" -c q,u -o leg.sto
near "$(first leg.sto "$speed")" 0.25 0 'the start value of a speed of a model of OpenSim'
expect 2 info leg.osim --start nothing=1
has err "there is no coordinate or speed 'nothing'"
# and an .osim file can be read strictly
sed 's|<gravity>|<wobble>1</wobble><gravity>|' leg.osim >odd.osim
expect 0 info odd.osim
has err "wobble"
expect 3 info odd.osim --strict
has err "wobble"

# --- contact: a quadruped that stands on the floor does not fall through it ---
legs=()
for leg in FR FL RR RL; do
    legs+=(--start "${leg}_thigh_joint=0.7" --start "${leg}_calf_joint=-1.4")
done
dog=(quadruped.urdf -q --free-base --contact --start trunk_tz=0.345 "${legs[@]}")
expect 0 simulate "${dog[@]}" -i cvode-bdf -e 0.5 -c trunk_tz -o dog.sto
lowest=$(rows dog.sto 'NR == 2 { low = 1 }
    x["trunk_tz"] < low { low = x["trunk_tz"] }
    END { print low }')
less 0.03 "$lowest" 'the trunk, 0.055 m thick, sinks into the floor'
expect 0 simulate quadruped.urdf -q --free-base --start trunk_tz=0.345 -e 0.5 -c trunk_tz -o air.sto
less "$(last air.sto trunk_tz)" -0.8 'without contact it falls'
expect 0 convert "${dog[@]}" -o dog.talus
has dog.talus '<talus version="1" name="hound"'
has dog.talus '<half_space name="floor"'

# A stiffer one comes to rest on the floor: steps of an explicit method are then as short as
# stability asks for. It says so, and an implicit one takes far fewer.
sed -E 's/damping="[0-9.]*"/damping="5"/' quadruped.urdf >stiff.urdf
stiff=(stiff.urdf "${dog[@]:2}" -e 2 -c trunk_tz -o stiff.sto)
expect 0 simulate "${stiff[@]}"
has err 'stability limits the steps'
has err 'An implicit method takes fewer steps; try -i cvode-bdf.'
explicit=$(awk '$1 == "steps" && NF == 2 { print $2 }' out)
expect 0 simulate "${stiff[@]}" -i cvode-bdf
! grep -q 'stability limits' err || complain 'an implicit method gets the advice, too'
implicit=$(awk '$1 == "steps" && NF == 2 { print $2 }' out)
less "$((5 * implicit))" "$explicit" 'steps of an implicit method, five times'

# --- meshes: beside the file, in a package above it, on a search path ---
mkdir -p elsewhere/deep && cp mobile_manipulator.urdf elsewhere/deep/robot.urdf
expect 0 info mobile_manipulator.urdf
! grep -q 'not found' err || complain "meshes beside the file are not found: $(cat err)"
expect 0 info elsewhere/deep/robot.urdf
has err "mesh files are not found: 'tidy_description/meshes/block.obj'"
cp -r tidy_description elsewhere
(cd elsewhere/deep && "$talus" info robot.urdf >/dev/null 2>../../err)
has err "mesh files are not found: 'tidy_description/meshes/block.obj'" # and no package
rm -r elsewhere/tidy_description
mkdir -p packages && mv tidy_description packages
expect 0 info elsewhere/deep/robot.urdf
has err "'package://tidy_description/meshes/block.obj'"
expect 0 info elsewhere/deep/robot.urdf --packages "/nowhere:$PWD/packages"
! grep -q 'package://' err || complain "--packages is not searched: $(cat err)"
for variable in TALUS_PACKAGE_PATH ROS_PACKAGE_PATH; do
    env "$variable=$PWD/packages" "$talus" info elsewhere/deep/robot.urdf >out 2>err
    ! grep -q 'package://' err || complain "$variable is not searched: $(cat err)"
done

# --- what a robot becomes is a fixed point of convert ---
for robot in quadruped humanoid hand arm; do
    expect 0 convert $robot.urdf -q --free-base --contact -o one.talus
    expect 0 convert one.talus -q -o two.talus
    cmp -s one.talus two.talus || complain "$robot changes when it is converted again"
done
finish
