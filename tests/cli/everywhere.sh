#!/usr/bin/env bash
# everywhere.sh TALUS SOURCE_DIR
# What works the same in every command: - for standard input and output, --json, params and start
# values. One table has all commands.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

cat >arm.talus <<'END'
<talus version="1" name="arm">
<param name="mass" value="2"/>
<bodies><pin name="arm" mass="$mass" com="0 -0.5 0" solid="sphere 0.1"/></bodies>
<markers><marker name="tip" body="arm" station="0 -1 0"/>
<marker name="mid" body="arm" station="0.1 -0.5 0"/></markers>
<forces><gravity g="0 -9.81 0"/></forces></talus>
END
{
    printf 'PathFileType\t4\t(X/Y/Z)\tframes.trc\n'
    printf 'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n10\t10\t5\t2\tm\n'
    printf 'Frame#\tTime\ttip\t\t\tmid\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n'
    awk 'BEGIN { OFS = "\t"; for (i = 0; i < 5; ++i) { q = 0.1 * i; c = cos(q); s = sin(q)
        print i + 1, i / 10, s, -c, 0, 0.1 * c + 0.5 * s, 0.1 * s - 0.5 * c, 0 } }'
} >frames.trc
expect 0 simulate arm.talus -q -e 1 --every 0.1 --start arm.q0=0.5 -o motion.sto
expect 0 convert motion.sto -o motion.npz

# the same arm with a muscle
cat >limb.talus <<'END'
<talus version="1" name="limb">
<param name="mass" value="2"/>
<bodies><pin name="arm" mass="$mass" com="0 -0.5 0" solid="sphere 0.1" range="-1 1"/></bodies>
<paths><path name="pull"><point station="0.1 0 0"/>
<point body="arm" station="0 -0.3 0"/></path></paths>
<forces><gravity g="0 -9.81 0"/>
<millard name="pull" path="pull" max_force="100" fiber_length="0.2" tendon_length="0.1"/></forces>
</talus>
END

# the same arm with a motor
cat >driven.talus <<'END'
<talus version="1" name="driven arm">
<param name="mass" value="2"/>
<bodies><pin name="arm" mass="$mass" com="0 -0.5 0" solid="sphere 0.1"/></bodies>
<forces><gravity g="0 -9.81 0"/><mobility_actuator name="motor" mobility="arm" gain="1"/></forces>
</talus>
END

# the same arm of OpenSim, another coordinate that no marker sees, and a set-up
cat >arm.osim <<'END'
<OpenSimDocument Version="40000"><Model name="arm"><BodySet><objects>
<Body name="arm"><mass>2</mass><mass_center>0 -0.5 0</mass_center>
<inertia>1 1 1 0 0 0</inertia></Body>
<Body name="cart"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body>
</objects></BodySet><JointSet><objects>
<PinJoint name="shoulder"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/arm</socket_child_frame>
<coordinates><Coordinate name="raise"/></coordinates></PinJoint>
<SliderJoint name="rail"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/cart</socket_child_frame>
<coordinates><Coordinate name="roll"><locked>true</locked></Coordinate></coordinates></SliderJoint>
</objects></JointSet><MarkerSet><objects>
<Marker name="tip"><socket_parent_frame>/bodyset/arm</socket_parent_frame>
<location>0 -1 0</location></Marker>
<Marker name="mid"><socket_parent_frame>/bodyset/arm</socket_parent_frame>
<location>0.1 -0.5 0</location></Marker>
</objects></MarkerSet></Model></OpenSimDocument>
END
cat >setup.xml <<'END'
<OpenSimDocument Version="40000"><InverseKinematicsTool name="ik"><model_file>arm.osim</model_file>
<marker_file>frames.trc</marker_file><output_motion_file>found.mot</output_motion_file>
<IKTaskSet><objects><IKMarkerTask name="tip"/><IKMarkerTask name="mid"/></objects></IKTaskSet>
</InverseKinematicsTool></OpenSimDocument>
END

# a command: what it reads, other arguments, formats that -o can have; "-" is none. A model among
# the other arguments comes first; the file is what - stands for.
table='
info        arm.talus   -                            -
check       arm.talus   -                            -
simulate    arm.talus   -e,0.2,--every,0.1           sto,mot,csv,npz
assemble    arm.talus   -                            sto,mot,csv,npz,talus
ik          frames.trc  arm.talus                    sto,mot,csv,npz
id          motion.sto  arm.talus                    sto,mot,csv,npz
muscles     limb.talus  --over,arm.q0,--rows,3       csv,npz
muscles     motion.sto  limb.talus                   sto,mot,csv,npz
paths       limb.talus  --tolerance,0.001            talus
modes       arm.talus   --at-rest                    csv,npz
equilibrium arm.talus   -                            sto,mot,csv,npz,talus
sweep       arm.talus   -v,mass=1:2:3,-e,0.1         csv,npz
sensitivities arm.talus -p,mass,-e,0.1               sto,mot,csv,npz
optimize    driven.talus --final,arm.q0=0.3,-n,5      sto,mot,csv,npz
fit         motion.sto  arm.talus,-p,arm.u0          sto,mot,csv,npz,talus
view        arm.talus   -                            glb,json
render      arm.talus   --size,64x48,--fps,1         png,apng
plot        motion.sto  -                            svg,png,pdf
show        motion.sto  -n,3                         -
stats       motion.sto  -                            -
convert     motion.sto  -                            sto,mot,csv,npz
convert     motion.npz  -                            sto,mot,csv,npz
convert     frames.trc  -                            sto,trc,csv,npz
convert     arm.talus   -                            talus
generate    arm.talus   --function,all               -
run         setup.xml   -                            -
bench       arm.talus   --seconds,0.01               -
template    -           -                            -
rerun       motion.sto  -                            -
help        -           -                            -
version     -           -                            -
'

# these read several files and write a folder, or are of molecules: tests/cli/tools.sh, mol.sh
elsewhere='analyze
cmc
mol
rra
scale
so'

# the table has all commands
"$talus" help --json | python3 -c 'import json, sys
for row in json.load(sys.stdin)["commands"]: print(row["command"])' | sort >known
{ echo "$table"; echo "$elsewhere"; } | awk 'NF { print $1 }' | sort -u >listed
cmp -s known listed || complain "the table lacks commands: $(comm -3 known listed)"

# words: a command with its files and the other arguments
arguments() { # COMMAND FILE ARGUMENTS
    local more=()
    IFS=, read -ra more <<<"$3"
    words=("$1")
    case $3 in
    *.talus*)
        words+=("${more[0]}" "$2" "${more[@]:1}")
        ;;
    *)
        [ "$2" = - ] || words+=("$2")
        [ "$3" = - ] || words+=("${more[@]}")
        ;;
    esac
}

# render needs a page, and a browser that draws it
can_render=yes
if ! "$talus" render arm.talus -q -o first.png >out 2>err; then
    grep -qE 'built without its viewer|install chromium' err || complain "render: $(cat err)"
    echo "render: NOT RUN: $(cat err)"
    can_render=no
fi

# the same without what a file is called, when it was made, and how long that took
plain() {
    grep -avE 'talus_file|talus_option_out|seconds|microsec|evaluation|steps per|time|"file"' "$1"
}

is_json() { # WHAT
    python3 -m json.tool <out >/dev/null 2>&1 || complain "$1 is not JSON: $(head -3 out)"
}

while read -r command file more formats; do
    [ -n "$command" ] || continue
    [ "$command" != render ] || [ "$can_render" = yes ] || continue
    arguments "$command" "$file" "$more"
    first_format=${formats%%,*}

    # --- --json: one JSON text, also with -q and with -o ---
    case $command in
    render | view) ;; # with -o, below
    convert)
        expect 0 "${words[@]}" --json -o "out.$first_format"
        is_json "talus ${words[*]} --json -o"
        has out "\"result\": \"out.$first_format\""
        ;;
    rerun)
        expect 0 "${words[@]}" --json
        is_json "talus ${words[*]} --json"
        ;;
    *)
        expect 0 "${words[@]}" --json
        is_json "talus ${words[*]} --json"
        expect 0 "${words[@]}" --json -q
        is_json "talus ${words[*]} --json -q"
        ;;
    esac
    if [ "$formats" != - ] && [ "$command" != convert ]; then
        rm -f "out.$first_format"
        expect 0 "${words[@]}" --json -q -o "out.$first_format"
        is_json "talus ${words[*]} --json -q -o out.$first_format"
        has out "out.$first_format"
    fi

    # --- -: standard input ---
    if [ "$file" != - ] && [ "$command" != bench ]; then
        extra=()
        [ "$formats" = - ] || extra=(-o - -f "$first_format")
        "$talus" "${words[@]}" "${extra[@]}" >one 2>err || complain "talus ${words[*]}: $(cat err)"
        "$talus" "${words[@]/#$file/-}" "${extra[@]}" <"$file" >two 2>err ||
            complain "talus ${words[*]/#$file/-}: $(cat err)"
        cmp -s <(plain one) <(plain two) || [ "$command" = plot ] || [ "$command" = show ] ||
            complain "talus ${words[*]/#$file/-} prints something else: $(diff one two | head -3)"
    fi

    # --- -o -: standard output, in every format ---
    if [ "$formats" != - ]; then
        for format in ${formats//,/ }; do
            rm -f "written.$format"
            expect 0 "${words[@]}" -q -o "written.$format"
            expect 0 "${words[@]}" -q -o - -f "$format"
            cmp -s out "written.$format" ||
                complain "talus ${words[*]} -o - -f $format is not what -o x.$format is"
        done
        expect 2 "${words[@]}" -o - -f nonsense
        has err "--format 'nonsense'"
    fi

    # --- params and start values, in every command that reads a model ---
    case $file$more in *.talus*) ;; *) continue ;; esac
    extra=()
    case $command in convert | view | render) extra=(-o "changed.$first_format") ;; esac
    expect 0 "${words[@]}" -q "${extra[@]}" -s mass=3 --start arm.q0=0.1 --start arm.u0=0.2
    expect 2 "${words[@]}" "${extra[@]}" -s mas=3
    has err "there is no <param> 'mas' to set (did you mean 'mass'?)"
    expect 2 "${words[@]}" "${extra[@]}" --start arm.u9=3
    has err "there is no coordinate or speed 'arm.u9'"
done <<<"$table"

# what was set is there
expect 0 convert arm.talus -q -s mass=3 --start arm.q0=0.1 --start arm.u0=0.2 -o changed.talus
has changed.talus 'mass="3"'
has changed.talus 'q="0.1"'
has changed.talus 'u="0.2"'

# in set-up files too: what no marker sees begins there, and is still locked there
expect 0 run setup.xml -q -o there --start roll=0.3
near "$(last there/found.mot roll)" 0.3 1e-9 'a start value of talus run'
near "$(last there/found.mot raise)" '0.4 * 180 / pi' 1e-4 'an angle beside a start value'
has there/found.mot 'talus_option_start_1=roll=0.3'
expect 0 rerun there/found.mot
expect 0 simulate arm.osim -q -e 0.1 --start roll=0.3 -o locked.sto
near "$(last locked.sto roll)" 0.3 1e-12 'a start value of a locked coordinate'
expect 2 run setup.xml -o there --start rol=0.3
has err "there is no coordinate or speed 'rol' (did you mean 'roll'?)"
expect 2 run setup.xml -o there --start roll
has err "--start needs NAME=VALUE, not 'roll'."
expect 2 run setup.xml -o there -s mass=3
has err '--set: an .osim file has no params'
expect 2 run setup.xml -o -
has err '-o is a folder here'

# --- help as JSON: all commands, a command, an element ---
expect 0 help simulate --json
is_json 'talus help simulate --json'
has out '{"option": "end", "letter": "e", "value": "SECONDS"'
expect 0 help pin --json
is_json 'talus help pin --json'
has out '"topic": "pin"'
expect 2 help nothing --json
is out ''
expect 0 help --man --json
is_json 'talus help --man --json'
expect 0 template --json
has out '"model": "<!-- A double pendulum.'
rm -f mine.talus
expect 0 template --json -o mine.talus
is_json 'talus template --json -o'
has out '"result": "mine.talus"'
expect 0 template -o -
cmp -s out mine.talus || complain 'talus template -o - is not what -o mine.talus is'

# a film says when it was made, but not where
if [ "$can_render" = yes ]; then
    "$talus" render motion.sto -q --size 64x48 --fps 2 -o - -f mp4 >piped.mp4 2>err ||
        complain "a film to standard output: $(cat err)"
    [ "$(head -c 8 piped.mp4 | tail -c 4)" = ftyp ] || complain 'piped.mp4 is not an MP4 file'
fi

# --- in a pipe, from one to the next ---
"$talus" template | "$talus" simulate - -q -e 1 -o - -f npz >pipe.npz || complain 'a pipe to npz'
[ "$(head -c 2 pipe.npz)" = PK ] || complain 'pipe.npz is not a NumPy file'
"$talus" template | "$talus" simulate - -q -e 1 | "$talus" plot - -o - -f png >pipe.png ||
    complain 'a pipe to png'
"$talus" template | "$talus" simulate - -q -e 1 -o - -f npz | "$talus" stats - --json >out ||
    complain 'a pipe of npz'
[ "$(head -c 4 pipe.png | tail -c 3)" = PNG ] || complain 'pipe.png is not a PNG file'
"$talus" convert - -f trc <frames.trc | "$talus" ik arm.talus - -q -o piped.sto ||
    complain 'a pipe of trc'
near "$(last piped.sto arm.q0)" 0.4 1e-6 'an angle from a pipe'

# --- short options combine ---
expect 0 simulate arm.talus -qe0.1 -fcsv
has out 'time,arm.q0'
finish
