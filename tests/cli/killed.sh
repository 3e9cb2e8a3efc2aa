#!/usr/bin/env bash
# killed.sh TALUS SOURCE_DIR
# Every command that writes a result can be killed at any time and given again: with --resume it
# writes the bytes of a run that was never ended, and nothing that is written is ever half there.
# One table has all commands. It fails for a command that does not say how it is resumed, and for
# one that is not listed here.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"
RANDOM=7

# --- what commands read ---
cat >arm.talus <<'END_OF_FILE'
<talus version="1" name="arm">
<param name="mass" value="2"/>
<bodies><pin name="arm" mass="$mass" com="0 -0.5 0" solid="sphere 0.1" range="-1 1"/></bodies>
<markers><marker name="tip" body="arm" station="0 -1 0"/>
<marker name="mid" body="arm" station="0.1 -0.5 0"/></markers>
<paths><path name="pull"><point station="0.1 0 0"/>
<point body="arm" station="0 -0.3 0"/></path></paths>
<forces><gravity g="0 -9.81 0"/>
<millard name="pull" path="pull" max_force="100" fiber_length="0.2" tendon_length="0.1"/></forces>
</talus>
END_OF_FILE
cat >arm_driven.talus <<'END_OF_FILE'
<talus version="1" name="arm"><bodies><pin name="arm" mass="2" com="0 -0.5 0"/></bodies>
<forces><mobility_actuator name="motor" mobility="arm" gain="1"/></forces></talus>
END_OF_FILE
frames() { # NUMBER
    printf 'PathFileType\t4\t(X/Y/Z)\tframes.trc\n'
    printf 'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n100\t100\t%d\t2\tm\n' "$1"
    printf 'Frame#\tTime\ttip\t\t\tmid\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n'
    awk -v n="$1" 'BEGIN { OFS = "\t"; for (i = 0; i < n; ++i) { q = sin(0.01 * i)
        c = cos(q); s = sin(q)
        print i + 1, i / 100, s, -c, 0, 0.1 * c + 0.5 * s, 0.1 * s - 0.5 * c, 0 } }'
}
frames 20000 >frames.trc
cp "$source_dir"/examples/gait/* "$source_dir"/tests/io/atoms/formamide.* .
expect 0 simulate arm.talus -q -e 0.5 --every 0.01 -c q,u -o motion.sto
expect 0 ik leg.osim walk.trc -q -o angles.mot
{
    echo '<OpenSimDocument Version="40000"><ForceSet><objects>'
    for joint in hip knee ankle; do
        echo "<CoordinateActuator name='m_$joint'><coordinate>$joint</coordinate>"
        echo '<optimal_force>100</optimal_force></CoordinateActuator>'
    done
    echo '</objects></ForceSet></OpenSimDocument>'
} >motors.xml
# command, how it is resumed (help --json has the same), where its result goes, arguments; "none"
# writes no result. Commands that go on are killed more often.
table='
info        none
check       none
simulate    goes_on       sto  human_body.talus -e 20
simulate    goes_on       csv  human_body.talus -e 20 --every 0.01
simulate    goes_on       sto  bouncing_ball.talus -e 3 --every 0.0001 --events EVENTS
simulate    goes_on       sto  slope.talus -e 5 --stepper contact
simulate    goes_on       sto  human_body.talus -e 4 --formulation hybrid --step 0.001
sweep       goes_on       csv  arm.talus -v mass=1:2:600 -v arm.q0=0:1:10 -e 0.1
ik          goes_on       sto  arm.talus frames.trc --chunk 100
mol         goes_on       sto  run formamide.prmtop formamide.inpcrd --time 20 --step 0.001
assemble    begins_again  csv  four_bar.talus
id          begins_again  sto  arm.talus motion.sto
muscles     begins_again  csv  arm.talus --over arm.q0
paths       begins_again  talus arm.talus
sensitivities begins_again csv  arm.talus -p mass -e 0.1 --every 0.01
optimize    begins_again  csv  arm_driven.talus --final arm.q0=0.3 -n 5
fit         begins_again  csv  arm.talus motion.sto -p mass
modes       begins_again  csv  arm.talus --at-rest
equilibrium begins_again  talus arm.talus
view        begins_again  json human_body.talus
render      begins_again  -
plot        begins_again  svg  motion.sto
convert     begins_again  csv  motion.sto
generate    begins_again  c    pendulum.talus --prefix killed
run         begins_again  dir  id.xml
scale       begins_again  dir  leg.osim walk.trc --measure thigh=HIP,KNEE
so          begins_again  dir  leg.osim angles.mot --cutoff 6 --from 0.2 --to 0.3
analyze     begins_again  dir  leg.osim angles.mot --cutoff 6 --analysis MuscleAnalysis
cmc         begins_again  dir  leg.osim angles.mot --cutoff 6 --to 0.05
rra         begins_again  dir  leg.osim angles.mot --forces motors.xml --to 0.02
bench       none
template    begins_again  talus
rerun       begins_again  sto  motion.sto
show        none
stats       none
help        none
version     none
'

"$talus" help --json | python3 -c 'import json, sys
for row in json.load(sys.stdin)["commands"]:
    print(row["command"], (row["resume"] or "none").replace(" ", "_"))' | sort >known
echo "$table" | awk 'NF { print $1, $2 }' | sort -u >listed
cmp -s known listed || complain "how commands are resumed, here (<) and in the program (>):
$(diff listed known)"

# every command that has --out says how
for command in $("$talus" help --json | python3 -c 'import json, sys
for row in json.load(sys.stdin)["commands"]:
    if not row["resume"]: print(row["command"])'); do
    ! "$talus" help "$command" | grep -qE -- '--out ' ||
        complain "talus $command has --out and does not say how it is resumed"
done

# whole OUT WHOLE: each file that is there has all its bytes; a .part was being written
whole() {
    [ -e "$1" ] || return 0
    local file
    while read -r file; do
        cmp -s "$file" "$2${file#"$1"}" || complain "$file is not what it is in a whole run"
    done < <(find "$1" -type f ! -name '*.part')
}

# kill_once PATH WORDS...: begin, and kill it at some time; in half of the cases after it has kept
# something
kept=0
kill_once() {
    local path=$1
    shift
    "$talus" "$@" >/dev/null 2>err &
    local run=$!
    if ((RANDOM % 2)); then
        while [ ! -e "$path" ] && kill -0 "$run" 2>/dev/null; do
            sleep 0.005
        done
    fi
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -9 "$run" 2>/dev/null
    wait "$run" 2>/dev/null
    [ ! -e "$path" ] || kept=$((kept + 1))
}

mkdir first again
number=0
while read -r command how kind more; do
    case $kind in '' | -) continue ;; esac
    number=$((number + 1))
    read -ra words <<<"$command $more"
    name=$number.$kind good=first/$name out=again/$name
    expect 0 "${words[@]/EVENTS/first/$number.events}" -q -o "$good"
    words=("${words[@]/EVENTS/again/$number.events}")
    kills=3
    [ "$how" = begins_again ] || kills=7 # of each of four ways to simulate, of ik, and so on
    kept=0
    for ((i = 0; i < kills; i++)); do
        kill_once "$out.run" "${words[@]}" -q --resume -o "$out"
        whole "$out" "$good"
        [ "$how" = begins_again ] || [ ! -e "$out" ] || break # it was done
        [ "$command" != template ] || rm -f "$out"            # it overwrites nothing
    done
    expect 0 "${words[@]}" -q --resume -o "$out"
    diff -r -x '*.part' "$good" "$out" >differs 2>&1 ||
        complain "talus ${words[*]} has other bytes after it was killed: $(head -3 differs)"
    [ ! -e "first/$number.events" ] || cmp -s "first/$number.events" "again/$number.events" ||
        complain "talus ${words[*]} has another list of events after it was killed"
    [ ! -e "$out.run" ] || complain "$out.run is left"
    [ "$how" = begins_again ] || [ "$kept" -gt 0 ] ||
        complain "talus ${words[*]} kept nothing in $kills runs"
done <<<"$table"

# --- Ctrl-C leaves it resumable; other settings and damaged files are told ---
"$talus" simulate human_body.talus -q -e 500 --resume -o long.sto 2>err &
run=$!
for ((i = 0; i < 400; i++)); do
    [ ! -e long.sto.run ] || break
    sleep 0.02
done
kill -TERM "$run"
code=0
wait "$run" || code=$?
[ "$code" -eq 1 ] || complain "an interrupted run ends with $code"
has err 'the same command goes on.'
[ ! -e long.sto ] || complain 'an interrupted run that is kept wrote a table'
expect 3 simulate human_body.talus -q -e 501 --resume -o long.sto
has err "it has 'talus_option_end: 500' instead of 'talus_option_end: 501'"
cp long.sto.run again/1.sto.run
printf 'x' | dd of=again/1.sto.run bs=1 seek=2000 conv=notrunc 2>/dev/null
rm again/1.sto
expect 0 simulate human_body.talus -e 20 --resume -o again/1.sto
has err "'again/1.sto.run' is damaged: the run begins again."
cmp -s first/1.sto again/1.sto || complain 'a run that begins again has other bytes'

# a method that remembers several steps begins again, and says so
expect 0 simulate pendulum.talus -i cvode-adams -e 2 -o several.sto
expect 0 simulate pendulum.talus -i cvode-adams -e 2 --resume -o other.sto
cmp -s several.sto other.sto || complain '--resume changes what cvode-adams does'

# --- wrong usage ---
for command in simulate ik sweep; do
    expect 2 $command arm.talus frames.trc --resume
done
expect 2 simulate arm.talus --resume
is err 'talus simulate: --resume needs -o FILE: what is done is kept in FILE.run.'

finish
