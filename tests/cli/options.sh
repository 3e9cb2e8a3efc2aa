#!/usr/bin/env bash
# options.sh TALUS SOURCE_DIR
# What each option does, and where its values end.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# refused CODE SENTENCE ARGUMENT...: that code, that sentence, and nothing is printed
refused() {
    local code=$1 sentence=$2
    shift 2
    expect "$code" "$@"
    is err "$sentence"
    is out ''
}

# said NAME: what the last report says after this name
said() {
    sed -n "s/^$1   *\([^ ]*\).*/\1/p" out
}

sed 's|<bodies>|<markers><marker name="tip" body="arm" station="0 -1 0"/></markers>&|' \
    held.talus >seen.talus
cat >frames.csv <<'END'
time,tip.x,tip.y,tip.z
0,0,-1,0
0.1,0.5,-0.8660254037844386,0
0.2,0.6,-0.8,0
0.3,0.8,-0.6,0
END

# --- numbers that must be positive ---
for value in 0 -1; do
    for command in 'simulate held.talus' \
        'sweep held.talus -v mass=1:2:3' 'bench held.talus' 'equilibrium held.talus' \
        'assemble held.talus' 'ik seen.talus frames.csv'; do
        # shellcheck disable=SC2086
        refused 2 "talus ${command%% *}: --accuracy needs a positive number, not '$value'." \
            $command -a $value
    done
    refused 2 "talus bench: --seconds needs a positive number, not '$value'." \
        bench held.talus --seconds $value
done
refused 2 'talus simulate: --step needs a positive number, not -1.' simulate held.talus --step -1
refused 2 'talus simulate: --every needs a positive number, not -0.5.' \
    simulate held.talus --every -0.5
refused 2 "talus sweep: --vary needs NAME=LOW:HIGH:COUNT, not 'mass=1:2:0'." \
    sweep held.talus -v mass=1:2:0
refused 2 "talus show: --rows needs a whole number, not '-1'." show table.csv -n -1

# --- simulate: a model that begins at a time; rows and steps as many as asked for ---
sed 's/name="held pendulum"/& time="5"/' held.talus >later.talus
expect 0 simulate later.talus -e 6 --every 0.25 --step 0.125 -o later.sto
near "$(said rows)" 5 0 'rows every quarter of a second, from the start to the end'
near "$(said steps)" 8 0 'steps of an eighth of a second'
near "$(first later.sto time)" 5 0 'the first row'
near "$(last later.sto time)" 6 0 'the last row'
has err '1 s in '
refused 2 'talus simulate: --end 5 is not after the start, 5.' simulate later.talus -e 5
expect 0 simulate held.talus -q -e 1 --every 0.3 -o cut.sto
near "$(rows cut.sto 'END { print NR - 1 }')" 5 0 'rows at 0, 0.3, 0.6, 0.9 and 1'
near "$(last cut.sto time)" 1 0 'the end is a row'
expect 0 simulate held.talus -q -e 1 --every 2 -o two.sto
near "$(rows two.sto 'END { print NR - 1 }')" 2 0 'rows at the start and at the end'
expect 0 simulate held.talus -q -e 1 -o usual.sto
less 200 "$(rows usual.sto 'END { print NR - 1 }')" 'rows unless told'
expect 0 simulate held.talus -e 1 -a 1e-3 -o coarse.sto
coarse=$(said evaluations)
expect 0 simulate held.talus -e 1 -a 1e-9 -o fine.sto
less "$coarse" "$(said evaluations)" 'evaluations at a coarse accuracy'
expect 0 simulate held.talus -q -e 1 -c wave,arm.u0,arm.q0 -o some.csv
has some.csv 'time,wave,arm.u0,arm.q0'

# --- sweep: grids, the ends included; samples; seeds ---
expect 0 sweep held.talus -q -v mass=1:2:3 -v arm.q0=0:0.5:2 -e 0.1 -c arm.u0 -o grid.csv
is <(grep -v '^#' grid.csv | cut -d, -f 1,2) "mass,arm.q0
1,0
1,0.5
1.5,0
1.5,0.5
2,0
2,0.5"
expect 0 sweep held.talus -q -v mass=1:2:1 -e 0.1 -c arm.q0
is <(grep -v '^#' out | cut -d, -f 1) "mass
1"
for seed in 1 2; do
    expect 0 sweep held.talus -q -v mass=1:2 -n 4 --seed $seed -e 0.1 -c arm.q0 -o random$seed.csv
    [ "$(grep -vc '^#' random$seed.csv)" -eq 5 ] ||
        complain "--samples 4 gives $(grep -vc '^#' random$seed.csv) lines"
done
cmp -s <(grep -v '^#' random1.csv) <(grep -v '^#' random2.csv) &&
    complain "another seed gives the same samples"
expect 0 sweep held.talus -q -v arm.u0=0:4:2 -e 1e-6 -c arm.u0 -a 1e-9
near "$(grep -v '^#' out | awk -F, 'END { print $NF }')" 4 1e-4 'a speed that was set'
varied='coordinates, speeds as BODY.u0, masses as BODY.mass, numbers of forces as FORCE.NAME and '
varied+='<param>s can be varied.'
refused 2 "talus sweep: there is no 'arm.uu0' to vary (did you mean 'arm.u0'?); $varied" \
    sweep held.talus -v arm.uu0=1:2:3

# --- ik: chunks and threads change nothing here ---
for chunk in 0 1 3 250; do
    for threads in 1 2; do
        expect 0 ik seen.talus frames.csv -q --chunk $chunk -t $threads -o part.sto
        near "$(last part.sto arm.q0)" \
            'atan2(0.8, 0.6)' 1e-6 "the arm, with chunks of $chunk and $threads threads"
        near "$(first part.sto arm.q0)" \
            0 1e-6 "the arm at first, with chunks of $chunk and $threads threads"
    done
done

# --- equilibrium: of two, the one above is found with --any alone ---
cat >upright.talus <<'END'
<talus version="1" units="deg">
  <bodies><pin name="arm" mass="1" com="0 -0.5 0" q="175"/></bodies>
  <forces><gravity g="0 -9.81 0"/></forces>
</talus>
END
expect 0 equilibrium upright.talus
has out 'stable                  yes'
expect 0 equilibrium upright.talus --any
has out 'stable                  no'
near "$(awk '/arm.q0/ { print $2 }' out)" 3.14159 1e-5 'the upper equilibrium'

# --- show: rows evenly chosen, the first and the last among them ---
{ echo x; seq 0 10; } >eleven.csv
for n in 2 3 6; do
    expect 0 show eleven.csv -n $n
    [ "$(grep -cE '^ *[0-9]' out)" -eq $n ] ||
        complain "show -n $n prints $(grep -cE '^ *[0-9]' out) rows"
    [ "$(grep -E '^ *[0-9]' out | awk 'NR == 1 { print $NF }')" = 0 ] ||
        complain "show -n $n leaves the first row out"
    [ "$(grep -E '^ *[0-9]' out | awk 'END { print $NF }')" = 10 ] ||
        complain "show -n $n leaves the last row out"
done

# --- plot: the size of the picture, its title ---
expect 0 plot table.csv --width 400 --height 300 --title 'a title' -o small.svg
has small.svg 'width="400" height="300"'
has small.svg 'a title'
expect 0 plot table.csv --width 200 --height 120 -o least.svg
has least.svg 'width="200" height="120"'
refused 2 'talus plot: a picture has at least 200 x 120 pixels.' \
    plot table.csv --width 199 --height 120
refused 2 'talus plot: a picture has at least 200 x 120 pixels.' \
    plot table.csv --width 200 --height 119

# --- a measure that fails is told, by its name: a delay that keeps fewer samples than it needs ---
delay='<delay name="late" of="wave" delay="0.5" capacity="4"/>'
sed "s|<sinusoid.*/>|&$delay|" held.talus >late.talus
expect 1 simulate late.talus -q -e 2 -o late.sto
has err "'late'"
has late.sto 'talus_incomplete=failed at t = '
expect 1 sweep late.talus -q -v mass=1:2:2 -e 2 -c late
has err "talus sweep: row 1: delay 'late': its 4 samples reach back to t = "
has err 'talus sweep: 2 of 2 samples failed.'
expect 0 simulate late.talus -q -e 2 -c wave -o late.sto

# --- a run that fails ends, with stops too: x'' = 2 x^3 has a pole, x = 1 / (1 - t) ---
cat >pole.talus <<'END'
<talus version="1" name="pole">
  <bodies><slider name="cart" mass="1" q="1" u="1"/></bodies>
  <forces>
    <mobility_nonlinear_spring mobility="cart">
      <polynomial coefficients="-0.5 0 0 0 0"/>
    </mobility_nonlinear_spring>
  </forces>
  <stops><stop name="late" time="1.5"/></stops>
</talus>
END
expect 1 simulate pole.talus -q -e 2 -a 1e-8 -o failed.sto
has failed.sto 'talus_incomplete=failed at t = 1.0000'
has err 'failed at t = 1.0000'
finish
