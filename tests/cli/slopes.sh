#!/usr/bin/env bash
# slopes.sh TALUS SOURCE_DIR
# talus sensitivities and talus fit: slopes are those of closed forms, and a fit finds what made the
# table.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# A block on a spring, from x0 at rest: x = x0 cos(w t), w = sqrt(k / m). k is a <param>, and a
# number of the force as well.
cat >block.talus <<'END'
<talus version="1" name="block">
<param name="k" value="18"/><param name="m" value="2"/>
<bodies><slider name="block" mass="$m" q="0.7"/></bodies>
<forces><mobility_spring name="spring" mobility="block" stiffness="$k"/></forces>
</talus>
END
for k in k spring.stiffness; do
    for m in m block.mass; do
        expect 0 sensitivities block.talus -q -p $k -p $m -p block.q0 -p block.u0 -e 1.3 -a 1e-10 \
            -c block.q0 -o slopes.sto
        w3='sin(3 * 1.3)'
        near "$(last slopes.sto block.q0)" '0.7 * cos(3 * 1.3)' 1e-8 "x by $k and $m"
        near "$(last slopes.sto "block.q0 by $k")" "-0.7 * 1.3 * $w3 / 12" 1e-7 "x by $k"
        near "$(last slopes.sto "block.q0 by $m")" "0.7 * 1.3 * $w3 * 3 / 4" 1e-7 "x by $m"
        near "$(last slopes.sto 'block.q0 by block.q0')" 'cos(3 * 1.3)' 1e-7 'x by x0'
        near "$(last slopes.sto 'block.q0 by block.u0')" "$w3 / 3" 1e-7 'x by u0'
    done
done

# Steps of one length, rows on the way, --set and --start; the last row is the same without the
# others.
expect 0 sensitivities block.talus -q -s k=8 --start block.q0=0.3 -p k -e 1 --every 0.25 \
    --step 0.01 -c block.u0 -o rows.sto
# shellcheck disable=SC2016 # of awk
worst=$(rows rows.sto 'NR > 1 { t = x["time"]; w = 2; n++
    d = x["block.u0 by k"] + 0.3 / 8 * (sin(w * t) + w * t * cos(w * t)); d = d < 0 ? -d : d
    if (d > most) most = d } END { print n == 5 ? most + 0 : "none" }')
less "$worst" 1e-7 'slopes of the speed, row by row'

# A ball that bounces once, and a throw that a stop ends: the time of the end moves, too.
expect 0 sensitivities bouncing_ball.talus -q -p height -e 0.9 -a 1e-9 -c height -o ball.sto
# y = v r - g r^2 / 2 + 0.1 with r = t - T, v = 0.8 g T, T = sqrt(2 (h - 0.1) / g), T_h = 1 / (g T)
T='sqrt(2 / 9.81)'
near "$(last ball.sto 'height by height')" \
    "0.8 / $T * (0.9 - $T) - (1.8 * $T - 0.9) * 9.81 / (9.81 * $T)" 1e-6 'a bounce by its height'
cat >throw.talus <<'END'
<talus version="1" name="throw">
<bodies><translation name="ball" mass="1" q="0 2 0" u="3 4 0">
<coordinate index="0" name="way"/><coordinate index="1" name="height"/></translation></bodies>
<measures><coordinate name="above" mobility="height"/></measures>
<stops><stop name="landed" when="above" falls_below="0"/></stops>
<forces><gravity g="0 -9.81 0"/></forces></talus>
END
expect 0 sensitivities throw.talus -q -p height -p ball.u1 -e 9 -a 1e-9 -c way -o throw.sto
# x = 3 T with T = (4 + sqrt(16 + 4 g)) / g
near "$(last throw.sto time)" '(4 + sqrt(16 + 4 * 9.81)) / 9.81' 1e-9 'when it lands'
near "$(last throw.sto 'way by height')" '3 / sqrt(16 + 4 * 9.81)' 1e-7 'how far by height'
near "$(last throw.sto 'way by ball.u1')" '3 * (1 + 4 / sqrt(16 + 4 * 9.81)) / 9.81' 1e-7 \
    'how far by speed'

# --- fit ---

# What made the table is found, as <param>s, numbers of the State and starts; the model that is
# written moves as measured.
expect 0 simulate block.talus -q -s k=11 --start block.q0=0.4 --start block.u0=0.3 -e 3 \
    --every 0.05 -a 1e-11 -c q -o measured.sto
for names in '-p k' '-p spring.stiffness'; do
    # shellcheck disable=SC2086 # several words
    expect 0 fit block.talus measured.sto $names -p block.q0 -p block.u0 -a 1e-10 --json
    python3 - "$names" <<'END' || complain "fit $names: $(cat out)"
import json, sys
found = [row["value"] for row in json.load(open("out"))["parameters"]]
assert all(abs(a - b) < 1e-6 for a, b in zip(found, [11, 0.4, 0.3])), found
END
done
expect 0 fit block.talus measured.sto -q -p k -p block.q0 -p block.u0 -a 1e-10 -o fitted.talus
expect 0 simulate fitted.talus -q -e 3 --every 0.05 -a 1e-11 -c q -o again.sto
near "$(last again.sto block.q0)" "$(last measured.sto block.q0)" 1e-7 'the fitted model'
expect 0 fit block.talus measured.sto -q -p k -p block.q0 -p block.u0 -o beside.sto
near "$(last beside.sto block.q0)" "$(last beside.sto 'block.q0 measured')" 1e-5 'run and table'

# A range that does not have the answer ends at its bound; k and m cannot be told apart.
expect 0 fit block.talus measured.sto -q -p k=12:30 -p block.q0 -p block.u0 -o held.talus
has held.talus 'stiffness="12"'
expect 0 fit block.talus measured.sto -p k -p m -p block.q0 -p block.u0
has err 'does not determine all of the parameters'

# Tables in degrees
cat >swing.talus <<'END'
<talus version="1" name="swing"><param name="length" value="1"/>
<bodies><pin name="rod" mass="1" com="0 -$length 0" q="0.5"/></bodies>
<forces><gravity g="0 -9.81 0"/></forces></talus>
END
expect 0 simulate swing.talus -q -s length=0.8 -e 2 --every 0.1 -a 1e-9 -c q -o radians.sto
awk -F '\t' -v OFS='\t' '/inDegrees/ { print "inDegrees=yes"; next }
    go { $2 = sprintf("%.15g", $2 * 180 / 3.14159265358979) } /^time/ { go = 1 } { print }' \
    radians.sto >degrees.sto
expect 0 fit swing.talus degrees.sto -q -p length=0.2:3 -o length.talus
has length.talus 'com="0 -0.8'

# --- what is wrong ---
refused() { # CODE SENTENCE ARGUMENT...
    local code=$1 sentence=$2
    shift 2
    expect "$code" "$@"
    is out ''
    is err "$sentence"
}
refused 2 'talus sensitivities: --parameter is missing: NAME.' sensitivities block.talus
refused 2 "talus sensitivities: --parameter needs NAME, not 'k=1:2'." sensitivities block.talus \
    -p k=1:2
refused 2 "talus fit: --parameter needs NAME or NAME=LOW:HIGH, not 'k=2:1'." fit block.talus \
    measured.sto -p k=2:1
refused 2 "talus fit: --parameter 'k' is given twice." fit block.talus measured.sto -p k -p k
expect 2 sensitivities block.talus -p stifness
has err "there is no 'stifness' to vary"
expect 2 sensitivities block.talus -p spring.stifness
has err "did you mean 'spring.stiffness'?"
refused 2 'talus sensitivities: --end is -1, and the model begins at 0.' sensitivities block.talus \
    -p k -e -1
refused 2 'talus sensitivities: --step needs a positive number, not -1.' sensitivities \
    block.talus -p k --step=-1
expect 3 fit block.talus degrees.sto -p k
has err 'has no column that the model has, too'
refused 2 "talus fit: --weight 'rod.q0=2': no such column is fitted." fit block.talus \
    measured.sto -p k -w rod.q0=2
refused 2 "talus fit: --weight needs COLUMN=NUMBER, not 'block.q0=-2'." fit block.talus \
    measured.sto -p k -w block.q0=-2
printf 'time,block.q0\n-1,0.7\n0,0.7\n' >early.csv
refused 3 'talus fit: early.csv, row 1: t = -1 is before t = 0, where the model begins.' \
    fit block.talus early.csv -p k

finish
