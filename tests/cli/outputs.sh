#!/usr/bin/env bash
# outputs.sh TALUS SOURCE_DIR
# What commands print, against stored answers: words exactly, numbers to 1e-9 (compare_output.sh);
# runs are far more accurate than that, so that no choice of steps shows. Hashes and
# numbers that are round-off are left out.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"
expected=$source_dir/tests/cli/expected

# prints NAME ARGUMENT...: with the error `floor` of numbers that may be zero but for round-off. On
# standard error there is the `warning`, and besides it only how long it took. `also` varies.
floor=0
warning=
also=
prints() {
    local name=$1
    shift
    expect 0 "$@"
    is <(grep -vE '^[0-9]+ [a-z]+ in [0-9.e-]+ s' err) "$warning"
    local varies='^hash|"hash"|largest.acceleration|^error|"error"|iterations|git_hash|model_hash'
    varies+="|talus_kernels$also"
    grep -vE "$varies" out >"$name"
    printf '#!/bin/sh\ncat %s\n' "$work/$name" >program
    chmod +x program
    [ -e "$expected/$name" ] || complain "$expected/$name is missing"
    bash "$source_dir/tests/support/compare_output.sh" ./program "$expected/$name" "$floor" ||
        complain "talus $* prints something else than $expected/$name"
}

prints info.txt info held.talus
prints info.json info four_bar.talus --json
prints check.txt check four_bar.talus
prints equilibrium.txt equilibrium held.talus
prints modes.txt modes held.talus --at-rest
prints assemble.txt assemble open_loop.talus
prints simulate.sto simulate held.talus -q -e 1 --every 0.25 -a 1e-13 -i dormand-prince
prints simulate.json simulate held.talus -q -e 1 --every 0.5 -a 1e-13 -i dormand-prince \
    --json -c q,wave
boom=$(printf ',boom.reaction_%s' fx fy fz mx my mz)
prints columns.csv simulate pushed.talus -q -e 0.2 --every 0.2 -a 1e-13 -i dormand-prince \
    -f csv -o - -c "time,udot,energy,poses$boom"
prints bath.csv simulate octane.talus -q -e 0.02 --every 0.01 -f csv -o - -c time,bath,energy
prints simulate.txt simulate held.talus -e 1 --step 0.1 -o result.sto
prints sweep.csv sweep held.talus -q -v mass=1:2:3 -a 1e-13 -i dormand-prince -c q,total_energy
prints random.csv sweep held.talus -q -v mass=1:2 -n 3 --seed 7 -a 1e-13 -i dormand-prince -c q
prints plot.svg plot table.csv --title 'a < b & c'
prints template.talus template
prints convert.talus convert held.talus -o - -f talus
prints show.txt show table.csv -n 2
prints show.json show table.csv -n 2 --json
prints arm.txt info arm.talus
prints wheel.txt info rimless_wheel.talus
prints check.json check four_bar.talus --json
prints equilibrium.json equilibrium held.talus --json
prints modes.json modes held.talus --at-rest --json
prints assemble.json assemble open_loop.talus --json
prints muscles.csv muscles arm.talus --over elbow --rows 3 --activation 0.5
prints paths.txt paths leg.talus

# pictures: more names than there is room for, panels by units in degrees with a gap and numbers far
# from zero, one column over another, one table over another
awk 'BEGIN { printf "time"; for (k = 0; k < 20; k++) printf ",c%d", k; print ""
    for (i = 0; i < 6; i++) { printf "%d", i
        for (k = 0; k < 20; k++) printf ",%d", (i * (k + 3)) % (k + 5); print "" } }' >many.csv
awk 'BEGIN { print "# talus_units=s,rad,rad/s,m,J"; print "time,a.q0,a.u0,x,E"
    for (i = 0; i < 9; i++) print i / 4 "," (i - 4) ^ 2 / 8 "," i - 4 "," \
        (i == 3 ? "nan" : 1e6 + i / 8) "," i % 4 }' >kinds.csv
prints many.svg plot many.csv -c '*' --height 200
prints panels.svg plot kinds.csv --degrees
prints path.svg plot kinds.csv --x a.q0 -c a.u0,E
prints tables.svg plot kinds.csv table.csv
prints stats.txt stats kinds.csv -c a.q0,E --histogram 3 --autocorrelation 2
prints stats.json stats kinds.csv -c a.q0,E --histogram 3 --autocorrelation 2 --json --from 0.5

# a model with many kinds of elements, by every command that reads one. Two compilers agree to 2e-10
# on its motion, which is in contact with the floor; numbers that ought to be zero are up to 1e-9.
prints zoo.txt info zoo.talus
prints zoo.json info zoo.talus --json
prints zoo_out.talus convert zoo.talus -o - -f talus
floor=3e-9
also='|talus_option_' # which options there are is seen above
groups=time,q,u,udot,z,measures,energy,errors,poses,reactions,contacts
prints zoo.csv simulate zoo.talus -q -e 0.28 --every 0.01 -a 1e-12 -i dormand-prince -f csv -o - \
    -c $groups
prints zoo_muscles.csv muscles zoo.talus -q --over shank.q0 --rows 4 -f csv -o - \
    --outputs length,speed,excitation,activation,fiber_length,tendon_length,tendon_force
# shellcheck disable=SC2016 # backquotes are Markdown
all=$("$talus" help muscle_output | sed -n 's/.*`output` | \([^|]*\) |.*/\1/p' | tr -d ' ')
prints zoo_fast.csv muscles zoo.talus -q --over hip --from -0.2 --to 0.3 --rows 2 -f csv -o - \
    --activation 0.7 -m vasti,hamstrings --outputs "$all"
prints zoo_paths.txt paths zoo.talus -p hamstrings
# the State of what was written is not realized by the search for fibers
expect 0 muscles zoo_out.talus -q --over shank.q0 --rows 2 -o again.csv
has again.csv '# talus_units=rad,m,'
is err ''
expect 1 check zoo.talus
is out 'model                   zoo
condition               714.286
condition without units 13.8424
gain of force errors    1

findings
  severity  where  what
  warning   vasti  its length jumps by 0.0071 m at shank.q0 = -0.5526.'
# joints whose limits are near make three modes uncertain
expect 0 modes zoo.talus
has err ', and 2 more modes are as uncertain: accelerations jump in slope'
prints zoo_sweep.json sweep zoo.talus -q -v hip=0.1:0.2:2 -e 0.26 -c hip --json -o zoo_sweep.csv
# markers from angles, and angles, moments and muscles from them: hip = 0.3 + t, knee = -0.5 t. Once
# the toe is beside the plane, which no angle can follow.
awk 'BEGIN { print "time,knee.x,knee.y,knee.z,toe.x,toe.y,toe.z"
    for (i = 0; i < 12; i++) { t = i / 20; a = 0.3 + t; b = a - 0.5 * t
        kx = 0.4 * sin(a); ky = -0.4 * cos(a)
        printf "%.17g,%.17g,%.17g,0,%.17g,%.17g,%g\n", t, kx + 0.05 * cos(a), ky + 0.05 * sin(a), \
            kx + 0.4 * sin(b) + 0.12 * cos(b), ky - 0.4 * cos(b) + 0.12 * sin(b), \
            i == 6 ? 0.01 : 0 } }' >seen.csv
prints zoo_ik.json ik zoo.talus seen.csv -q -a 1e-10 --json -o followed.sto --marker-errors
has followed.sto $'\tknee.error\ttoe.error\tpost.error'
warning='talus ik: warning: 1 markers of the model are not in seen.csv and not used: post.'
prints zoo_ik.txt ik zoo.talus seen.csv -a 1e-10 -o followed.sto
warning=
near "$(last followed.sto hip)" 0.85 1e-7 'the hip by markers'
near "$(last followed.sto shank.q0)" -0.275 1e-7 'the knee by markers'
near "$(first followed.sto hip)" 0.3 1e-7 'the hip by the first markers'
{ printf 'a\nendheader\ntime\thip\tshank.q0\n'
    awk 'BEGIN { for (i = 0; i < 12; i++) { t = i / 20
        printf "%.17g\t%.17g\t%.17g\n", t, 0.3 + t + 0.01 * sin(5 * t), -0.5 * t } }'; } >moved.sto
prints zoo_id.csv id zoo.talus moved.sto -q -f csv -o -
prints zoo_bare.csv id zoo.talus moved.sto -q --no-forces -f csv -o -
prints zoo_moved.csv muscles zoo.talus moved.sto -q -f csv -o - \
    --outputs length,speed,fiber_length,fiber_velocity,tendon_force,activation
floor=0
also=

# as many columns as there are, and names that JSON has to quote
{ seq -s, 1000 1400 | sed 's/1000/"a ""b"" \\"/'; seq -s, 1000 1400; } >wide.csv
expect 0 show wide.csv
words=$(awk 'NR == 2 { print NF }' out)
[ "$words" -eq 403 ] || complain "talus show has $words of 403 words"
end=$(awk 'END { print $NF }' out)
[ "$end" = 1400 ] || complain "talus show ends with $end"
expect 0 show wide.csv --json
has out '"a_\"b\"_\\": 1000,'

# a model written out is the same model: the same accelerations, bit for bit
expect 0 convert pendulum.talus -o again.talus
expect 0 simulate pendulum.talus -q -e 1 -o first.csv
expect 0 simulate again.talus -q -e 1 -o second.csv
cmp -s <(grep -v '^#' first.csv) <(grep -v '^#' second.csv) ||
    complain "a model that was written and read again moves otherwise"
finish
