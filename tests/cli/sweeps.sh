#!/usr/bin/env bash
# sweeps.sh TALUS SOURCE_DIR
# Samples side by side have the bytes of samples one by one; choices are compared with a reference,
# and the cheapest that is good enough is named.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# --- lanes and threads: the same bytes, also where samples fail ---
# A model that is read again (mass), numbers of the State (q0, u0, damping), a start that fails.
cat >tree.talus <<'END_OF_FILE'
<talus version="1" name="tree"><param name="mass" value="2"/>
<bodies><ball name="hip" mass="$mass" com="0 -0.5 0" solid="sphere 0.1"/>
<pin name="knee" parent="hip" frame="0 -1 0" mass="1" com="0 -0.4 0"/></bodies>
<forces><gravity g="0 -9.81 0"/>
<mobility_damper name="rub" mobility="knee" damping="0.1"/></forces></talus>
END_OF_FILE
varied='-v mass=1:2:2 -v knee.u0=-2:2:40 -e 0.5 -a 1e-6'
first=
for width in 1 4 8 0; do
    for threads in 1 2; do
        # shellcheck disable=SC2086 # words
        expect 0 sweep tree.talus $varied --width $width -t $threads -o wide$width.$threads.csv
        first=${first:-wide$width.$threads.csv}
        cmp -s "$first" wide$width.$threads.csv ||
            complain "a sweep with width $width on $threads threads has other bytes"
    done
    case $width in 1) has err '80 samples one by one: the width is 1' ;; esac
done
if grep -qw avx512dq /proc/cpuinfo; then
    has err '80 samples side by side, 8 at a time, '
elif grep -qw fma /proc/cpuinfo; then
    has err '80 samples side by side, 4 at a time, '
fi
# a sample that fails is told as it is when it is alone: with a speed whose square overflows
for width in 1 0; do
    expect 1 sweep tree.talus -q -v knee.u0=0:1e300:64 --width $width -o failed$width.csv
    grep -c . failed$width.csv >lines
    cp err err$width
done
cmp -s failed1.csv failed0.csv || complain 'samples that fail have other bytes side by side'
cmp -s err1 err0 || complain "samples that fail have other reasons side by side: $(diff err1 err0)"
has err0 'talus sweep: 63 of 64 samples failed.'
# with --resume the folder does not depend on the width either
# shellcheck disable=SC2086 # words
expect 0 sweep tree.talus -q $varied --width 1 --resume --shard 1/2 -o mixed.csv
# shellcheck disable=SC2086 # words
expect 0 sweep tree.talus -q $varied --width 0 --resume -o mixed.csv
cmp -s "$first" mixed.csv || complain 'a folder begun with another width gives other bytes'
# events: what cannot go side by side says why
expect 0 sweep bouncing_ball.talus -v ball.q0=0:1:70 -e 0.01 -o alone.csv
has err '70 samples one by one: it has events'

# --- errors have the orders of the methods: of half the step, a half, a fourth, a sixteenth ---
# chosen FILE NAME...: the values of these columns, row by row
chosen() {
    local file=$1
    shift
    grep -v '^#' "$file" | awk -F, -v names="$*" '
        NR == 1 { n = split(names, want, " "); for (i = 1; i <= NF; ++i) at[$i] = i; next }
        { for (i = 1; i <= n; ++i) printf "%s%s", $at[want[i]], i < n ? " " : "\n" }'
}
expect 0 sweep pendulum.talus -q --among integrator=euler,trapezoid,merson \
    --among step=0.002,0.001 -e 1 -o orders.csv
# The next term of the error is smaller by about h times the rates of the motion, 10/s at most:
# ratios are exact to 5 %.
chosen orders.csv error | awk '
    NR % 2 { coarse = $1; next }
    { want = NR == 2 ? 2 : NR == 4 ? 4 : 16; r = coarse / $1 / want
      if (r < 0.95 || r > 1.05) exit 1 }
    END { if (NR != 6) exit 1 }' || complain "orders of methods: $(chosen orders.csv error)"
# Euler takes one evaluation a step and one at the end, Merson five
[ "$(chosen orders.csv steps evaluations | sed -n '1p;5p' | tr '\n' ';')" = '500 501;500 2501;' ] ||
    complain "evaluations: $(chosen orders.csv steps evaluations)"

# --- against the motion itself: a spring whose solution is cos(2 t) ---
cat >spring.talus <<'END_OF_FILE'
<talus version="1" name="spring"><bodies><slider name="cart" mass="1" q="1"/></bodies>
<forces><mobility_spring name="spring" mobility="cart" stiffness="4"/>
<mobility_damper name="air" mobility="cart" damping="0.02"/></forces></talus>
END_OF_FILE
expect 0 sweep spring.talus -q --among integrator=merson,dormand-prince,verner-8 \
    --among accuracy=1e-3:1e-9:7 -e 3 -c q --choose 1e-6 -o spring.csv
cp out verdict
# x'' + 0.02 x' + 4 x = 0: x = exp(-0.01 t) (cos w t + 0.01/w sin w t), w^2 = 4 - 0.01^2. The error
# at the end is one of those whose largest is told; the reference is exact to 1e-11.
chosen spring.csv cart.q0 error | awk '
    { w = sqrt(4 - 1e-4); x = exp(-0.03) * (cos(3 * w) + 0.01 / w * sin(3 * w))
      d = $1 - x; d = d < 0 ? -d : d; if (d > $2 + 1e-10) exit 1; if (d > 0.01 * $2) ++n }
    END { if (NR != 21 || n < 10) exit 1 }' ||
    complain "errors against the closed form: $(chosen spring.csv cart.q0 error)"
# the choice by another program
want=$(chosen spring.csv integrator accuracy error evaluations | awk '
    $3 <= 1e-6 && (!n || $4 < n) { n = $4
        split("merson bogacki-shampine-5 dormand-prince fehlberg verner-8", name, " ")
        best = "integrator=" name[$1 + 1] " accuracy=" $2 }
    END { print best }')
[ -n "$want" ] || complain 'no choice was good enough'
has spring.csv talus_option_among_2=accuracy=1e-3:1e-9:7
expect 0 sweep spring.talus --among integrator=merson,dormand-prince,verner-8 \
    --among accuracy=1e-3:1e-9:7 -e 3 -c q --choose 1e-6
[ "$(sed -n 's/^chosen *//p' out)" = "$want" ] || complain "chosen: $(tail -1 out), not $want"
expect 0 sweep spring.talus --json --among accuracy=1e-3,1e-9 -e 3 -c q --choose 1e-6
has out '"chosen": "accuracy=1e-9"'
expect 0 rerun spring.csv
# killed, it goes on to the same bytes; so do shards
for i in 1 2 3; do
    expect 0 sweep spring.talus -q --among integrator=merson,dormand-prince,verner-8 \
        --among accuracy=1e-3:1e-9:7 -e 3 -c q --resume --shard $i/3 -o parts.csv
done
expect 0 sweep spring.talus -q --among integrator=merson,dormand-prince,verner-8 \
    --among accuracy=1e-3:1e-9:7 -e 3 -c q --resume -o parts.csv
cmp -s spring.csv parts.csv || complain 'choices in parts have other bytes'

# --- choices of models: without damping, with another stiffness ---
expect 0 sweep spring.talus --among air.enabled=yes,no --among spring.stiffness=4,4.4 -a 1e-9 \
    -e 3 -c q --choose 1e-6
has out 'chosen                  air.enabled=yes spring.stiffness=4'
# with two cases the error is that of the worse
expect 0 sweep spring.talus -q -v cart.q0=0:1:2 --among air.enabled=yes,no -a 1e-9 -e 3 \
    -c q -o cases.csv
[ "$(chosen cases.csv 'cart.q0' | wc -l)" = 4 ] || complain 'two cases of two choices are not four'
chosen cases.csv error | awk '$1 != 0 && NR < 3 { exit 1 } NR == 4 && $1 < 0.01 { exit 1 }' ||
    complain "errors of cases: $(chosen cases.csv error)"
# angles instead of quaternions: the same motion
expect 0 sweep t_handle.talus --among angles=no,yes -c u,energy -a 1e-10 -e 0.5 --choose 1e-6
has out 'chosen                  angles=no'
expect 2 sweep t_handle.talus --among angles=no,yes
has err "--among angles changes which coordinates there are: name --columns without 'bar.q0'"

# --- none is good enough; a reference that is not exact enough says so ---
expect 1 sweep spring.talus --among accuracy=1e-2,1e-3 -c q --choose 1e-9
has err 'talus sweep: no choice comes within --choose 1e-09: the most exact is accuracy=0.001'
expect 1 sweep spring.talus --among accuracy=1e-3 -c q --choose 2e-11 --reference bogacki-shampine \
    -e 3
has err 'talus sweep: warning: the reference changes by '

# --- what makes no sense ---
refused() { # SENTENCE ARGUMENT...
    local sentence=$1
    shift
    expect 2 sweep spring.talus "$@"
    is err "talus sweep: $sentence"
}
refused "--choose needs --among, as --among integrator=merson,dormand-prince." --choose 1 -v air=1:2
refused "--among needs NAME=VALUES, not 'accuracy'." --among accuracy
refused "--among 'accuracy' is given twice." --among accuracy=1 --among accuracy=2
refused "--among: there is no integrator 'mersn' (did you mean 'merson'?)." \
    --among integrator=merson,mersn
numbers='positive numbers with commas between them, or LOW:HIGH:COUNT'
refused "--among accuracy needs $numbers, not '-1'." \
    --among accuracy=1e-3,-1
refused "--among angles needs no, yes or no,yes, not 'maybe'." --among angles=maybe
refused "there is no force or constraint 'spring2' to enable." --among spring2.enabled=no
refused "'cart.q0' cannot be both varied and chosen." -v cart.q0=0:1:2 --among cart.q0=1,2
refused "--among step=0.1 says so here, not --step." --among integrator=merson --step 0.1
expect 2 sweep spring.talus --among cart.q9=1,2
has err "there is no 'cart.q9' to vary (did you mean 'cart.q0'?)"

finish
