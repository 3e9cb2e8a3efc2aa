#!/usr/bin/env bash
# runs.sh TALUS SOURCE_DIR
# Runs can be repeated bit for bit, interrupted, and cut short by failures.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

data() { # FILE: the rows of a table
    sed '1,/^endheader/d' "$1"
}

# --- the same, bit for bit ---
for integrator in merson bogacki-shampine-5 verner-8 verlet semi-explicit-euler cvode-bdf ida \
    arkode; do
    expect 0 simulate four_bar.talus -q -e 0.5 -i "$integrator" -o "$integrator.sto"
    expect 0 rerun "$integrator.sto"
    has out 'the same, bit for bit: '
    is err ''
done
expect 0 simulate held.talus -q -s mass=3 -e 1 --every 0.01 -c q,wave -o set.sto
expect 0 rerun set.sto -o set2.sto
cmp -s <(data set.sto) <(data set2.sto) || complain "talus rerun -o wrote other rows"
# which kernels ran is told, and that they were others
kernels=$("$talus" version | sed -n 's/^kernels *//p')
grep -qx "talus_kernels=$kernels" set.sto || complain "set.sto does not say which kernels ran"
sed 's/^talus_kernels=.*/talus_kernels=slide rule/' set.sto >other.sto
expect 0 rerun other.sto
has err "the set of kernels was slide rule and is now $kernels."
expect 0 sweep held.talus -q -v mass=1:2:8 -t 1 -o one.csv
expect 0 sweep held.talus -q -v mass=1:2:8 -t 3 -o three.csv
cmp -s one.csv three.csv || complain "a sweep depends on the number of threads"
expect 0 rerun three.csv
# numbers of the State, of files, and both; several methods, for a lane goes from sample to sample
for integrator in merson verner-8 verlet cvode-bdf ida arkode-dirk; do
    for vary in '-v arm.q0=0.1:1:7' \
        '-v arm.mass=1:2:3 -v mass=1:2:3' '-v mass=1:2:2 -v arm.u0=-1:1:4'; do
        # shellcheck disable=SC2086
        expect 0 sweep held.talus -q $vary -i $integrator -t 1 -o one.csv
        # shellcheck disable=SC2086
        expect 0 sweep held.talus -q $vary -i $integrator -t 3 -o three.csv
        cmp -s one.csv three.csv ||
            complain "a sweep, $vary, by $integrator depends on the number of threads"
    done
done
expect 0 rerun three.csv
expect 0 sweep four_bar.talus -q -v crank.q0=1:2:5 -e 0.3 -t 0 -o all.csv
expect 0 sweep four_bar.talus -q -v crank.q0=1:2:5 -e 0.3 -o one.csv
cmp -s one.csv all.csv || complain "a sweep with constraints depends on the number of threads"
# a sample is a simulation: the row of the angle that the file has is the end of a run, bit for bit
expect 0 simulate held.talus -q -e 1 -c q,u -o run.csv
expect 0 sweep held.talus -q -v arm.q0=0.17453292519943295:0.5:2 -e 1 -c q,u -o swept.csv
[ "$(tail -1 run.csv | cut -d, -f2-)" = "$(tail -2 swept.csv | head -1 | cut -d, -f2-)" ] ||
    complain "a sample of a sweep is not what talus simulate finds"
expect 0 sweep held.talus -q -v mass=2:3:2 -e 1 -c q,u -o swept.csv
[ "$(tail -1 run.csv | cut -d, -f2-)" = "$(tail -2 swept.csv | head -1 | cut -d, -f2-)" ] ||
    complain "a sample of a sweep over a param is not what talus simulate finds"
# those that fail are named
expect 1 sweep held.talus -q -v arm.mass=-1:1:3 -o bad.csv
has err "talus sweep: row 1: "
has err "talus sweep: 2 of 3 samples failed."
has bad.csv '# talus_incomplete=2 of 3 samples failed'
expect 0 assemble open_loop.talus -q -o closed.sto
expect 0 rerun closed.sto

# a changed model is noticed, and so is a changed result
sed -i 's/stiffness="20"/stiffness="21"/' held.talus
expect 1 rerun set.sto
has err 'the hash of the model was'
has err "instead of"
sed -i 's/stiffness="21"/stiffness="20"/' held.talus
sed 's/^0\.5\t/0.50000000000000011\t/' set.sto >changed.sto
expect 1 rerun changed.sto
has err "column 'time' is 0.5 instead of 0.5000000000000001"
mkdir elsewhere
mv held.talus elsewhere
expect 3 rerun set.sto
expect 0 rerun set.sto --model elsewhere/held.talus
mv elsewhere/held.talus .
mv set.sto elsewhere
cp held.talus elsewhere
rm held.talus
expect 0 rerun elsewhere/set.sto
cp elsewhere/held.talus .

# whatever the file is called, and however long an option is
mkdir $'odd\n "folder\\ '
for path in ' held.talus' 'held.talus ' $'odd\n "folder\\ /held.talus' '"held".talus'; do
    cp held.talus "$path"
    expect 0 simulate "$path" -q -e 0.1 -o odd.sto
    expect 0 rerun odd.sto
    expect 0 sweep "$path" -q -e 0.1 -v mass=1:2:2 -o odd.csv
    expect 0 rerun odd.csv
done
expect 0 simulate held.talus -q -e 0.1 -c "$(printf 'arm.q0,%.0s' {1..400})wave" -o long.sto
expect 0 rerun long.sto
has out 'rows, 3 columns'

# what wrote no result is not run, least of all rerun itself or what would write another file
echo mine >precious.csv
for command in rerun convert info template nothing; do
    sed "s/^talus_command=.*/talus_command=$command/
        s/^talus_file_1=.*/talus_file_1=said.sto\ntalus_file_2=precious.csv/" \
        long.sto >said.sto
    expect 3 rerun said.sto
    has err 'said.sto '
done
is precious.csv mine
# nothing is left behind where it fails
mkdir aside
TMPDIR=$PWD/aside expect 3 rerun long.sto --model nowhere.talus
TMPDIR=$PWD/aside expect 0 rerun long.sto
[ -z "$(ls aside)" ] || complain "talus rerun leaves $(ls aside)"

# --- recording changes no step ---
expect 0 simulate held.talus -q -e 1 -o few.sto --every 1
expect 0 simulate held.talus -q -e 1 -o many.sto --every 0.01
[ "$(data few.sto | tail -1)" = "$(data many.sto | tail -1)" ] ||
    complain "the end depends on how many rows are written"

# --- stops of the model end a run well ---
cat >stone.talus <<'END'
<talus version="1" name="stone">
  <bodies><translation name="stone" mass="1" q="0 1 0" u="1 2 0"/></bodies>
  <measures><station name="height" body="stone" along="0 1 0"/></measures>
  <forces><gravity g="0 -10 0"/></forces>
  <stops>
    <stop name="landed" when="height" falls_below="0" message="The stone is on the ground."/>
    <stop name="late" time="2"/>
  </stops>
</talus>
END
expect 0 simulate stone.talus -e 5 -a 1e-9 --every 0.1 -o stone.sto
has out 'landed at t = 0.68989794'
has out 'The stone is on the ground.'
has stone.sto 'talus_ended_by=landed at t = 0.68989794'
awk 'END { exit !($1 > 0.68989794 && $1 < 0.68989795) }' stone.sto ||
    complain "the last row is at $(tail -1 stone.sto)"
expect 0 rerun stone.sto
has out 'the same, bit for bit: 8 rows'
expect 0 simulate stone.talus -q -e 5 -a 1e-9 --every 1 -o few.sto
[ "$(data few.sto | tail -1)" = "$(data stone.sto | tail -1)" ] ||
    complain "where a stop ends a run depends on how many rows are written"
sed 's/when="height"/enabled="no" &/' stone.talus >deep.talus
expect 0 simulate deep.talus -e 5 --every 0.1
has out 'talus_ended_by=late at t = 2 s'
has err 'talus simulate: ended by late at t = 2 s'
expect 0 simulate deep.talus -e 1 -o early.sto
grep -q talus_ended_by early.sto && complain "a run that no stop ended says that one did"
# what people write in two lines stands in one
sed 's/The stone is/The stone\&#10;is/' stone.talus >lines.talus
expect 0 simulate lines.talus -q -e 10 -o lines.sto
has lines.sto ': The stone is on the ground.'
is err ''

# --- Ctrl-C: what was computed is written and marked, and the program ends with 1 ---
interrupt() { # SIGNAL FILE
    "$talus" simulate held.talus -a 1e-9 -e 1e6 --every 0.05 -o "$2" >out 2>err &
    local run=$!
    sleep 1
    kill -s "$1" "$run"
    local code=0
    wait "$run" || code=$?
    [ "$code" -eq 1 ] || complain "after $1 the exit code is $code"
    has "$2" 'talus_incomplete=interrupted at t = '
    has err 'interrupted at t = '
    [ "$(data "$2" | wc -l)" -gt 10 ] || complain "after $1 nothing was written"
}
interrupt INT cut.sto
interrupt TERM cut2.sto
# what is there is the beginning of a longer run
expect 0 simulate held.talus -q -a 1e-9 -e 4 --every 0.05 -o short.sto
cmp -s <(data cut.sto | head -6) <(data short.sto | head -6) ||
    complain "an interrupted run begins otherwise than a short one"

# A sweep takes memory for all its rows before it begins, so that none is lost: here 0.6 GB for 2e7,
# of 0.9 GB that there are. (A sanitizer wants more than that for itself.)
if (ulimit -v 900000 && "$talus" version) >/dev/null 2>&1; then
    (
        ulimit -v 900000
        exec "$talus" sweep held.talus -v arm.q0=0:1 -n 20000000 -e 0.001 -c q -o swept.csv
    ) >out 2>err &
    run=$!
    for ((i = 0; i < 100; i++)); do # until it is at work
        grep -q 'of 2e+07 samples' err && break
        sleep 0.2
    done
    kill -s TERM "$run"
    code=0
    wait "$run" || code=$?
    [ "$code" -eq 1 ] || complain "an interrupted sweep ends with $code: $(cat err)"
    has swept.csv '# talus_incomplete='
    [ "$(grep -vc '^#' swept.csv)" -gt 10 ] ||
        complain "an interrupted sweep lost what was finished"
    expect 0 rerun swept.csv -q
    is err ''
    code=0
    (ulimit -v 300000 &&
        exec "$talus" sweep held.talus -q -v arm.q0=0:1 -n 20000000 -o none.csv) 2>err || code=$?
    [ "$code" -eq 1 ] || complain "a sweep without memory ends with $code"
    has err 'there is not enough memory.'
fi

# it is repeated as far as it went, which takes no longer than it took
expect 0 rerun cut.sto
has out 'the same, bit for bit: '
has out 'the result is not complete: interrupted at t = '

# --- the hash is of all of a model, and of what it says, not how ---
hash_of() { # LAST: of a model with a long function that ends with LAST
    awk -v last="$1" 'BEGIN {
        printf "<talus version=\"1\"><bodies><pin name=\"a\" mass=\"1\"/></bodies><forces>"
        printf "<mobility_nonlinear_spring mobility=\"a\"><polynomial coefficients=\""
        for (i = 0; i < 20000; ++i) printf "0.125 "
        printf "%s\"/></mobility_nonlinear_spring></forces></talus>", last
    }' >long.talus
    expect 0 info long.talus
    sed -n 's/^hash *//p' out
}
[ "$(hash_of 1)" = "$(hash_of 1.0)" ] ||
    complain "a number that is written otherwise makes another hash"
[ "$(hash_of 1)" != "$(hash_of 2)" ] || complain "the end of a long model is not in its hash"
for name in octane rimless_wheel; do
    expect 0 convert $name.talus -o plain.talus
    grep -q 'named=\|<material' plain.talus && complain "plain.talus has names"
    expect 0 info $name.talus
    sed '/^params/,/^$/d' out >with_names # which params are names of numbers
    expect 0 info plain.talus
    cmp -s with_names out || complain "$name.talus without names is another model"
done

# --- nothing to move ---
echo '<talus version="1" name="empty"/>' >empty.talus
for integrator in $("$talus" help integrators | awk '{ print $1 }'); do
    expect 0 simulate empty.talus -q -e 1 -i "$integrator" -o empty.csv
done
for command in info check assemble equilibrium modes; do
    expect 0 "$command" empty.talus
done

# --- a run that fails: x'' = 2 x^3 has a pole, x = 1 / (1 - t) ---
cat >pole.talus <<'END'
<talus version="1" name="pole">
  <bodies><slider name="cart" mass="1" q="1" u="1"/></bodies>
  <forces>
    <mobility_nonlinear_spring mobility="cart">
      <polynomial coefficients="-0.5 0 0 0 0"/>
    </mobility_nonlinear_spring>
  </forces>
</talus>
END
expect 1 simulate pole.talus -q -e 2 -a 1e-8 -o failed.sto
has failed.sto 'talus_incomplete=failed at t = 1.0000'
finish
