#!/usr/bin/env bash
# outputs.sh TALUS SOURCE_DIR
# What commands print, against stored answers: words exactly, numbers to 1e-9 (compare_output.sh);
# runs are far more accurate than that, so that no choice of steps shows. Hashes and
# numbers that are round-off are left out.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"
expected=$source_dir/tests/cli/expected

# prints NAME ARGUMENT...
prints() {
    local name=$1
    shift
    expect 0 "$@"
    local varies='^hash|"hash"|largest.acceleration|^error|"error"|iterations|git_hash|model_hash'
    varies+='|talus_kernels'
    grep -vE "$varies" out >"$name"
    printf '#!/bin/sh\ncat %s\n' "$work/$name" >program
    chmod +x program
    [ -e "$expected/$name" ] || complain "$expected/$name is missing"
    bash "$source_dir/tests/support/compare_output.sh" ./program "$expected/$name" ||
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
