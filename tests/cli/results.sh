#!/usr/bin/env bash
# results.sh TALUS SOURCE_DIR
# What results hold, and how one learns what they can hold: rows, columns, names, pipes, averages.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

count() { # FILE: rows of a table
    rows "$1" 'END { print NR - 1 }'
}

# --- rows: every step, at most 1001; where steps are few, rows between them ---
said() { # WORD: a number of the report
    sed -n "s/^$1  *\([0-9.e+-]*\).*/\1/p" out
}
expect 0 simulate held.talus -e 2 -o few.sto
less "$(said steps)" 199 'steps of a short run'
less 200 "$(count few.sto)" 'rows of a run of few steps'
less "$(count few.sto)" 401 'rows of a run of few steps'
expect 0 simulate held.talus -e 20 -a 1e-5 -o some.sto
less 200 "$(said steps)" 'steps of a longer run'
near "$(count some.sto)" "$(said steps) + 1" 0 'every step is a row'
expect 0 simulate held.talus -e 20 -a 1e-10 -c q -o many.sto
less 1001 "$(said steps)" 'steps of an exact run'
less "$(count many.sto)" 1001 'rows of an exact run'
less 500 "$(count many.sto)" 'rows of an exact run'
near "$(last many.sto time)" 20 0 'the end is a row'
expect 0 rerun many.sto
expect 0 simulate held.talus -q -e 2 --step 0.002 -o thousand.sto
near "$(count thousand.sto)" 1001 0 'a thousand steps'
# Rows between steps are as exact as steps: energy and what dampers took, of a pendulum without them
sed '/<mobility_damper/d' pendulum.talus >free.talus
for accuracy in 1e-4 1e-7; do
    expect 0 simulate free.talus -e 1 -a $accuracy -o free.sto
    # within the error that each of the steps may make, times the energy's scale
    less "$(drift free.sto total_energy)" \
        "$(awk -v a=$accuracy -v n="$(said steps)" 'BEGIN { print 10 * a * n }')" \
        "energy at $accuracy"
done

# --- columns ---
expect 0 simulate held.talus -q -e 1 --every 0.5 -c time,q,udot -o c.sto
near "$(count c.sto)" 3 0 'rows with -c time'
has c.sto 'talus_units=s,rad,rad/s^2'
expect 0 simulate pendulum.talus -q -e 0.1 --every 0.1 -c poses,reactions -o c.sto
has c.sto $'upper.x\tupper.y\tupper.z\tupper.qw'
# at the start nothing moves: the pins carry what does not accelerate, and poses are those of pins
expect 0 simulate pendulum.talus -q -e 0.001 --every 0.001 -c lower.x,upper.x,q -o c.sto
near "$(first c.sto upper.x)" '0.5 * sin(pi / 3)' 1e-12 'where a body is'
expect 0 equilibrium held.talus -q -o rest.talus
expect 0 simulate rest.talus -q -e 0.001 --every 0.001 -c reactions,udot -o c.sto
near "$(first c.sto arm.reaction_fy)" '2 * 9.81' 1e-6 'the pin carries the weight'
# measures have the units of what they measure, and rates those of rates
cat >measured.talus <<'END'
<talus version="1"><bodies><slider name="cart" mass="1" u="2"/></bodies>
<measures><time name="clock"/><coordinate name="x" mobility="cart"/>
<speed name="v" mobility="cart"/>
<differentiate name="a" of="v"/><integrate name="s" of="v"/><integrate name="xt" of="x"/>
<constant name="one" values="1"/></measures></talus>
END
expect 0 simulate measured.talus -q -e 1 --every 1 -c measures,z -o c.sto
has c.sto 'talus_units=s,s,m,m/s,m/s^2,m,m s,,'
near "$(last c.sto s)" 2 1e-9 'a distance'
# contacts: a ball that rests on the floor is carried by it
cat >ball.talus <<'END'
<talus version="1"><bodies>
<slider name="ball" frame="0 0 0 0 0 1.5707963267948966" mass="2" q="0.0999"/></bodies>
<forces><gravity g="0 -9.81 0"/><global_damper damping="50"/>
<contact name="touch"><half_space name="floor" body="ground"
frame="0 0 0 0 0 -1.5707963267948966" material="rubber"/>
<sphere name="skin" body="ball" radius="0.1" material="rubber"/></contact></forces></talus>
END
expect 0 simulate ball.talus -q -e 5 -i cvode-bdf -a 1e-6 -c contacts,q -o c.sto
near "$(last c.sto touch.skin.fy)" '2 * 9.81' 1e-2 'the floor carries the ball'
near "$(last c.sto touch.floor.fy)" '-2 * 9.81' 1e-2 'the ball presses on the floor'
# baths: the conserved energy is conserved, and its parts are those of the columns
cat >bath.talus <<'END'
<talus version="1"><bodies><slider name="a" mass="1" u="1.5"/></bodies>
<forces><mobility_spring mobility="a" stiffness="1"/>
<thermostat name="bath" kT="1" relaxation_time="1"/></forces></talus>
END
if "$talus" check bath.talus >out 2>err; then
    expect 0 simulate bath.talus -q -e 20 -a 1e-9 -o c.sto
    less "$(drift c.sto conserved_energy)" 1e-6 'conserved energy'
    less 0.01 "$(drift c.sto bath_energy)" 'bath energy'
    has c.sto $'\ttemperature\t'
else
    complain "bath.talus: $(head -2 err)"
fi

# A Langevin bath needs steps of its interval: they are taken from there, in sweeps too
expect 0 simulate octane.talus -q -e 0.1 -c temperature -o unasked.sto
expect 0 simulate octane.talus -q -e 0.1 -c temperature --step 0.002 -o asked.sto
cmp -s <(sed '1,/^endheader/d' unasked.sto) <(sed '1,/^endheader/d' asked.sto) ||
    complain "simulate does not take its step from the interval of the bath"
for step in '' '--step 0.002'; do
    # shellcheck disable=SC2086
    expect 0 sweep octane.talus -q -v dihedral=180:60:3 -e 0.1 -c temperature $step -o swept.csv
    near "$(tail -1 swept.csv | cut -d, -f 2)" "$(last asked.sto temperature)" 1e-12 'a sample'
done
expect 0 rerun swept.csv
expect 2 sweep octane.talus -v dihedral=180:60:3 --step=-1

# --- steps that stability limits: a damper that is done after 0.1 ms, followed for a second ---
cat >stiff.talus <<'END'
<talus version="1"><bodies><slider name="cart" mass="1" q="1"/></bodies>
<forces><mobility_spring mobility="cart" stiffness="1"/>
<mobility_damper mobility="cart" damping="10000"/></forces></talus>
END
expect 0 simulate stiff.talus -e 1 -o stiff.sto
has err 's on average, not accuracy: a motion of the model decays in 0.0001 s.'
has err 'try -i cvode-bdf.'
expect 0 simulate stiff.talus -e 1 -i cvode-bdf -o stiff.sto
grep -q 'stability limits' err && complain "an implicit method is advised against: $(cat err)"
expect 0 simulate held.talus -e 20 -a 1e-9 -o exact.sto
grep -q 'stability limits' err && complain "an exact run is advised against: $(cat err)"

# --- sizes that look like mistakes ---
cat >odd.talus <<'END'
<talus version="1"><bodies><pin name="turned" mass="1" solid="sphere 0.1" q="90"/>
<pin name="huge" mass="1" com="500 0 0" solid="sphere 200"/>
<pin name="thin" mass="1" com="10 0 0" solid="sphere 0.001"/>
<slider name="away" mass="1" q="1e6"/></bodies></talus>
END
expect 1 check odd.talus
has out 'it starts at 90 rad, 14.3 turns; is it in degrees?'
has out 'its mass center is 500 m from its origin.'
has out 'its inertia is that of a body of '
has out 'its origin is 10 m away from it, '
has out 'it starts 1e+06 m from the origin of ground.'
for model in pendulum elbow octane human_body; do
    "$talus" check $model.talus >out 2>err
    grep -qE "turns|from its origin|times its size|of a body of" out &&
        complain "$model: $(cat out)"
done

# --- what is there ---
expect 0 info elbow.talus
has out 'flexion     1.5708  rad       0  2.61799'
has out 'triceps   2000'
has out 'reactions  upper arm.reaction_fx'
expect 0 help pin
has out '<pin>'
has out 'Rotation about z. q: angle.'
# shellcheck disable=SC2016 # of Markdown
has out '| `mass` |'
expect 2 simulate held.talus -c nothing_like_it
has err "there is no column 'nothing_like_it'; there are time, q, u, udot, z, measures"
expect 2 simulate held.talus -c arm.q1
has err "(did you mean 'arm.q0'?)"
expect 0 template -o mine.talus
expect 2 simulate mine.talus -s lenght=1
has err "(did you mean 'length'?)"
expect 2 show table.csv -c nothing_like_it
has err "table.csv has no column 'nothing_like_it'; it has "
for command in info check simulate assemble modes equilibrium bench; do
    "$talus" "$command" --help >out
    has out '--set'
    has out '--start'
done

# --- pipes ---
expect 0 simulate held.talus -q -e 1 --every 0.5 -o a.csv
"$talus" simulate - -q -e 1 --every 0.5 -o - -f csv <held.talus >b.csv 2>err ||
    complain "pipe: $(cat err)"
cmp -s <(grep -v '^#' a.csv) <(grep -v '^#' b.csv) || complain "a model from a pipe moves otherwise"
for format in sto csv; do
    "$talus" convert a.csv -o - -f $format | "$talus" convert - -o - -f csv >again.csv
    cmp -s <(grep -v '^#' a.csv) <(grep -v '^#' again.csv) || complain "$format through pipes"
done
"$talus" convert - -o - -f talus <held.talus >again.talus 2>err || complain "$(cat err)"
expect 0 simulate again.talus -q -e 1 --every 0.5 -o c.csv
cmp -s <(grep -v '^#' a.csv) <(grep -v '^#' c.csv) ||
    complain "a model through a pipe moves otherwise"
"$talus" assemble - -o - -f talus <open_loop.talus >closed.talus 2>err || complain "$(cat err)"
expect 0 check closed.talus -q
"$talus" sweep - -q -v mass=1:2:3 <held.talus >swept 2>err ||
    complain "a sweep from a pipe: $(cat err)"
"$talus" info - --json <held.talus | python3 -m json.tool >/dev/null || complain "info - --json"
"$talus" show - <a.csv | grep -q arm.q0 || complain "show -"
awk 'BEGIN { print "time,x"; for (i = 0; i < 40000; i++) print i "," i / 8 }' >large.csv
"$talus" convert - -o - -f csv <large.csv | grep -v '^#' >same.csv
cmp -s same.csv large.csv || complain "a large table through a pipe"
printf 'time,tip.x,tip.y,tip.z\n0,1,2,3\n0.5,4,5,6\n' >tip.csv
expect 0 convert tip.csv -o tip.trc
"$talus" convert - -o - -f csv <tip.trc | grep -v '^#' | cmp -s - tip.csv || complain "trc, piped"
expect 2 simulate held.talus -o - -f nothing
expect 2 convert a.csv -o -

# --- one letter behind the other ---
expect 0 simulate held.talus -qe1 --every 0.5 -oc.csv
cmp -s <(grep -v '^#' a.csv) <(grep -v '^#' c.csv) || complain "-qe1 is not -q -e 1"
expect 2 simulate held.talus -qz1
has err 'there is no option -z.'

# --- JSON: the same everywhere, also with -o and -q ---
is_json() { # ARGUMENT...: the command prints JSON and nothing else
    expect 0 "$@"
    python3 -m json.tool <out >/dev/null 2>&1 || complain "talus $* prints: $(head -3 out)"
}
for quiet in '' -q; do
    for out in '' '-o x.sto'; do
        [ "$quiet$out" = -q ] && continue
        # shellcheck disable=SC2086
        for command in 'simulate held.talus -e 0.1' 'id held.talus few.sto'; do
            is_json $command --json $quiet $out
        done
        # shellcheck disable=SC2086
        is_json modes held.talus --json $quiet ${out/sto/csv}
        # shellcheck disable=SC2086
        is_json sweep held.talus -v mass=1:2:2 -e 0.1 --json $quiet ${out/sto/csv}
        # shellcheck disable=SC2086
        is_json equilibrium held.talus --json $quiet $out
    done
    # shellcheck disable=SC2086
    is_json info held.talus --json $quiet
    # shellcheck disable=SC2086
    is_json rerun few.sto --json $quiet
    # shellcheck disable=SC2086
    is_json convert few.sto -o x.csv --json $quiet
    # shellcheck disable=SC2086
    is_json stats few.sto --json $quiet
done

# --- averages ---
awk 'BEGIN { print "time,wave,five,walk"; x = 0; srand(3)
    for (i = 0; i < 4096; ++i) { x = 0.9 * x + rand() - 0.5; printf "%d,%.17g,5,%.17g\n", i, \
        sin(2 * 3.14159265358979323846 * i / 64), x } }' >wave.csv
expect 0 stats wave.csv --json --histogram 4 --autocorrelation 32
number() { # TABLE COLUMN KEY: of the first entry of a column
    python3 - "$@" <<'END'
import json, sys
table, column, key = sys.argv[1:4]
print(next(row[key] for row in json.load(open('out'))[table] if row['column'] == column))
END
}
near "$(number statistics wave mean)" 0 1e-12 'mean of a wave'
near "$(number statistics wave deviation)" 'sqrt(0.5)' 1e-3 'deviation of a wave'
near "$(number statistics five mean)" 5 0 'mean of a constant'
near "$(number statistics five block_error)" 0 0 'error of a constant'
near "$(number histogram five count)" 4096 0 'histogram of a constant'
# x = 0.9 x + r: the variance of r is 1/12, that of x (1/12) / (1 - 0.81) = 0.439; the error of the
# mean is sqrt(1/12 / 4096) / (1 - 0.9) = 0.0451, known to 1 / sqrt(2 * 7) at the coarsest block
near "$(number statistics walk deviation)" 'sqrt(0.439)' 0.1 'deviation of a walk'
near "$(number statistics walk block_error)" 0.0451 0.03 'error of its mean'
# correlations 0.9, 0.81, ...: their sum from 1 on is 9, and a half
near "$(number statistics walk correlation_rows)" 9.5 4 'how long it remembers'
python3 - <<'END' || complain "autocorrelation"
import json
all = json.load(open('out'))['autocorrelation']
found = [r['correlation'] for r in all if r['column'] == 'wave']
assert abs(found[0] - 1) < 1e-12 and abs(found[32] + 1) < 0.02, found
END
expect 0 stats wave.csv -c five --from 4000
has out '96'
expect 3 stats wave.csv --from 5000
finish
