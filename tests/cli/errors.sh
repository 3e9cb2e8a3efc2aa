#!/usr/bin/env bash
# errors.sh TALUS SOURCE_DIR
# What the program says when something is wrong, word for word, and how it ends.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# refused CODE SENTENCE ARGUMENT...: nothing on standard output, the sentence on standard error
refused() {
    local code=$1 sentence=$2
    shift 2
    expect "$code" "$@"
    is err "$sentence"
    is out ''
}

# usage
expect 2
has err 'usage: talus COMMAND'
refused 2 \
    "talus: there is no command 'simulat' (did you mean 'simulate'?); talus help lists them." \
    simulat
refused 2 "talus: there is no command 'xyzzy'; talus help lists them." xyzzy
refused 2 'talus simulate: an argument is missing; usage: talus simulate MODEL' simulate
refused 2 "talus info: 'b' is not expected; usage: talus info MODEL" info a b
for command in info check simulate assemble modes equilibrium sweep show bench rerun; do
    expect 2 $command a b
    has err "talus $command: 'b' is not expected"
done
for command in ik id convert; do
    expect 2 $command a b c
    has err "talus $command: 'c' is not expected"
done
refused 2 'talus simulate: there is no option --ennd (did you mean --end?).' \
    simulate held.talus --ennd 3
refused 2 'talus simulate: there is no option --zzzzzzz; see talus simulate --help.' \
    simulate held.talus --zzzzzzz
refused 2 'talus simulate: there is no option -Z.' simulate held.talus -Z
refused 2 'talus simulate: --end needs a value, SECONDS.' simulate held.talus --end
refused 2 "talus simulate: --end needs a number, not 'soon'." simulate held.talus --end soon
refused 2 "talus simulate: --end needs a number, not 'inf'." simulate held.talus --end inf
refused 2 "talus sweep: --threads needs a whole number, not '1.5'." sweep held.talus -t 1.5
refused 2 "talus sweep: --threads needs a whole number, not '-1'." sweep held.talus -t -1
expect 0 assemble held.talus --restarts 0 --seed 0
refused 2 'talus simulate: --end is given twice.' simulate held.talus -e 1 --end=2
refused 2 'talus simulate: --quiet has no value.' simulate held.talus --quiet=yes
refused 2 "talus simulate: --end 0 is not after the start, 0." simulate held.talus -e 0
refused 2 'talus simulate: --every needs a positive number, not -1.' simulate held.talus --every -1
refused 2 'talus simulate: --every 1e-12 would give 1e+13 rows.' simulate held.talus --every 1e-12
refused 2 "talus simulate: --accuracy needs a positive number, not '0'." simulate held.talus -a 0
refused 2 "talus simulate: there is no integrator 'mersen' (did you mean 'merson'?)." \
    simulate held.talus -i mersen
refused 2 "talus simulate: there is no column 'arm.q1' (did you mean 'arm.q0'?)." \
    simulate held.talus -c arm.q1
refused 2 "talus simulate: --set needs NAME=VALUE, not 'mass'." simulate held.talus -s mass
refused 2 'talus sweep: --vary is missing: NAME=LOW:HIGH:COUNT.' sweep held.talus
refused 2 "talus sweep: --vary needs NAME=LOW:HIGH:COUNT, not 'mass=1:x'." \
    sweep held.talus -v mass=1:x
varied='coordinates, speeds as BODY.u0, masses as BODY.mass, numbers of forces as FORCE.NAME and '
varied+='<param>s can be varied.'
refused 2 "talus sweep: there is no 'mas' to vary (did you mean 'mass'?); $varied" \
    sweep held.talus -v mas=1:2:5
refused 2 "talus sweep: there is no 'arm.mas' to vary (did you mean 'arm.mass'?); $varied" \
    sweep held.talus -v arm.mas=1:2:5
refused 2 "talus sweep: there is no 'arm.q1' to vary (did you mean 'arm.q0'?); $varied" \
    sweep held.talus -v arm.q1=1:2:5 -v x=1:2
refused 2 "talus sweep: there is no 'stiffness' to vary; $varied" \
    sweep held.talus -v stiffness=1:2:5
refused 2 "talus help: there is no command and no element 'plto' (did you mean 'plot'?)." help plto
refused 3 'talus ik: held.talus has no <markers>.' ik held.talus frames.trc
refused 2 'talus plot: a picture has at least 200 x 120 pixels.' plot table.csv --width 10

# files
refused 3 'nowhere.talus: error: the file cannot be opened: No such file or directory' info nowhere.talus
refused 3 'nowhere.sto: error: the file cannot be opened: No such file or directory' plot nowhere.sto
refused 3 \
    'talus info: table.csv is a table, not a model; talus show, plot, convert and rerun take tables.' info table.csv
refused 3 'talus rerun: table.csv does not name the command that made it.' rerun table.csv
expect 3 info wrong.talus
has err "wrong.talus:3:"
has err "has no attribute 'rnage' (did you mean 'range'?)"
has err "wrong.talus:4:"
[ "$(grep -c 'error:' err)" -ge 3 ] ||
    complain "not all errors of wrong.talus are reported: $(cat err)"
expect 3 simulate held.talus -q -e 1 -o no/such/folder/result.sto
has err "cannot write 'no/such/folder/result.sto'; folder 'no/such/folder': No such file or directory."
refused 2 "talus simulate: --out 'result.xyz' should end with .sto, .mot, .trc, .csv or .npz." \
    simulate held.talus -e 1e9 -o result.xyz
refused 2 "talus assemble: --out 'a.b' should end with .talus, .sto, .mot, .trc, .csv or .npz." \
    assemble held.talus -o a.b
refused 2 'talus simulate: --step needs a positive number, not -1.' simulate held.talus --step -1
refused 2 'talus convert: table.csv is a table, which cannot be converted to x.talus.' \
    convert table.csv -o x.talus
refused 2 'talus convert: name the new file: talus convert table.csv -o FILE.' convert table.csv
refused 2 'talus convert: name the new file once: talus convert table.csv -o FILE.' \
    convert table.csv x.sto -o x.sto
refused 2 'talus convert: held.talus is a model, which cannot be converted to x.sto.' \
    convert held.talus x.sto
if [ -w /dev/full ]; then
    for command in 'info held.talus' \
        'simulate held.talus -q -e 1' 'plot table.csv' help template; do
        code=0
        # shellcheck disable=SC2086
        "$talus" $command >/dev/full 2>err || code=$?
        [ "$code" -eq 3 ] || complain "talus $command >/dev/full: exit code $code instead of 3"
        has err 'No space left on device'
    done
fi
expect 0 template -o held2.talus
refused 3 'talus template: held2.talus exists already.' template -o held2.talus

# a full disk, as a limit on the size of files: an old picture stays, and no half of a model is left
expect 0 plot table.csv -o old.svg
cp old.svg kept.svg
for command in 'plot table.csv -o old.svg --title another' \
    'plot table.csv -o fresh.svg' 'template -o fresh.talus'; do
    code=0
    # shellcheck disable=SC2086
    (
        trap '' XFSZ
        ulimit -f 1
        exec "$talus" $command 2>&1
    ) >err || code=$?
    [ "$code" -eq 3 ] ||
        complain "talus $command on a full disk: exit code $code instead of 3: $(cat err)"
    has err 'annot'
done
cmp -s old.svg kept.svg || complain 'a plot that could not be written cost the old one'
[ -e fresh.svg ] && complain 'half a plot is left'
[ -e fresh.talus ] && complain 'half a template is left'
expect 2 simulate held.talus --set mess=1
has err 'mess'

# names that no table can hold, and results that a format cannot: told before the work
sed 's/name="arm"/name=" arm"/' held.talus >blank.talus
expect 3 check blank.talus
has err '<pin name=" arm">: a name cannot begin or end with blanks'
cat >blank.urdf <<'END'
<robot name="arm"><link name="base"/><link name="hand "/>
<joint name="elbow" type="fixed"><parent link="base"/><child link="hand "/></joint></robot>
END
expect 3 check blank.urdf
has err 'a name cannot begin or end with blanks'
refused 2 \
    "talus sweep: this table cannot be written to --out x.sto: the first column is not 'time'." \
    sweep held.talus -v mass=1:2:2 -e 1e9 -o x.sto
expect 2 simulate held.talus -e 1e9 -o x.trc
has err "talus simulate: this table cannot be written to --out x.trc: column 'arm.q0' is in a place where <marker>.x, .y or .z is expected."
sed 's/name="wave"/name="time"/' held.talus >twice.talus
expect 0 simulate twice.talus -e 0.1 -o twice.sto
has err "talus simulate: warning: two columns would be named 'time'; the second one is left out."

# the study fails
expect 1 simulate held.talus -q -e 1 -a 1e-300
expect 1 check open_loop.talus

# pins that would repeat each other, but are 2e-6 m apart
cat >twice.talus <<'END'
<talus version="1"><bodies><free name="a" mass="1" inertia="0.1 0.1 0.1"/></bodies>
<constraints><loop_pin name="P1" body1="ground" body2="a"/>
<loop_pin name="P2" body1="ground" body2="a" frame1="0 0 2e-6"/></constraints></talus>
END
expect 1 check twice.talus
has out 'its geometry is off by 1.0e-06: equations that would repeat others are taken as such'
sed 's/ frame1="0 0 2e-6"//' twice.talus >exact.talus
expect 1 check exact.talus
! grep -q 'its geometry' out || complain 'exact geometry is said to be off'

# what costs digits: a body far from its frame, and another far from ground
cat >far.talus <<'END'
<talus version="1"><bodies>
<free name="a" mass="1" com="0 50 0" inertia="1e-4 1e-4 1e-4" q="1 0 0 0 0 1e9 0"/></bodies></talus>
END
expect 0 check far.talus
has out 'its origin is 50 m away from it'
has out 'times the size of the model: positions keep'
grep -qE '^condition without units +[0-9.e+]+$' out || complain 'check tells no condition'

# speeds that are finite, and accelerations that are not
cat >fast.talus <<'END'
<talus version="1"><bodies><pin name="a" mass="1" com="0.5 0 0" inertia="0.1 0.1 0.1" u="1e200"/>
<pin name="b" parent="a" frame="1 0 0" mass="1" com="0.5 0 0" inertia="0.1 0.1 0.1"/>
</bodies></talus>
END
expect 1 check fast.talus
has out "body 'a': the rate of speed 0 is"
expect 1 simulate fast.talus -q -o fast.sto
has err 'too large for double precision'
finish
