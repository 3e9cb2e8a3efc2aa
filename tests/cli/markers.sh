#!/usr/bin/env bash
# markers.sh TALUS SOURCE_DIR
# Measured data: markers that do not fit, loads from a file, rows that are too far apart.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# An arm of two markers, one meter long, and frames of it by its angle.
cat >arm.talus <<'END'
<talus version="1" name="arm">
<bodies><pin name="arm" mass="2" com="0 -0.5 0" solid="sphere 0.1"/></bodies>
<markers><marker name="tip" body="arm" station="0 -1 0"/>
<marker name="mid" body="arm" station="0.1 -0.5 0"/></markers>
<forces><gravity g="0 -9.81 0"/></forces></talus>
END
frames() { # UNIT SCALE SHIFT: ten frames; the tip is off by SHIFT in frame 5; frame 7 is empty
    printf 'PathFileType\t4\t(X/Y/Z)\tframes.trc\n'
    printf 'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\t'
    printf 'OrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n'
    printf '10\t10\t10\t4\t%s\t10\t1\t10\n' "$1"
    printf 'Frame#\tTime\ttip\t\t\tmid\t\t\telbow\t\t\tshoe\t\t\n'
    printf '\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3\tX4\tY4\tZ4\n\n'
    awk -v scale="$2" -v shift="$3" 'BEGIN { OFS = "\t"
        for (i = 0; i < 10; ++i) { q = 0.1 * i; c = cos(q) * scale; s = sin(q) * scale
            d = i == 5 ? shift * scale : 0
            if (i == 7) { print i + 1, i / 10, "", "", "", "", "", "", 1, 1, 1, 2, 2, 2; continue }
            print i + 1, i / 10, s + d, -c, 0, 0.1 * c + 0.5 * s, 0.1 * s - 0.5 * c, 0, \
                1, 1, 1, 2, 2, 2 } }'
}
frames m 1 0 >good.trc
expect 0 ik arm.talus good.trc -o found.sto
has out 'frames                  10'
has out 'frames without markers  1'
has out 'rms '
has out 'maximum '
has out 'worst marker            '
has err '2 markers of good.trc are not in the model and not used: elbow, shoe.'
[ "$(grep -c 'not used' err)" = 1 ] || complain "unused markers take more than one line"
has err '1 frames of good.trc have no markers; their rows are nan.'
grep -q $'^0.7\tnan\tnan\tnan\tnan$' found.sto || complain "a frame without markers has coordinates"
near "$(sed -n '/^0.9\t/p' found.sto | cut -f 2)" 0.9 1e-6 'the angle of the last frame'
# 20 cm off: the tip moves by that, less what the fit spreads over both markers
frames m 1 0.2 >bad.trc
expect 0 ik arm.talus bad.trc --marker-errors -o found.sto
has out 'worst marker            tip'
has out 'at time                 0.5 s'
has err "marker 'tip' is "
has err 'above 0.05 m a marker is misplaced or mislabelled'
has found.sto $'tip.error\tmid.error'
has found.sto 'talus_units=s,rad,m,m,,m,m'
expect 0 ik arm.talus bad.trc --json -q -o found.sto
python3 -c 'import json; r = json.load(open("out"))
assert r["worst_marker"] == "tip" and r["rms"] < r["maximum"]' ||
    complain "ik --json: $(cat out)"
# mm that the file calls m, and m that it calls mm
frames m 1000 0 >wrong.trc
expect 0 ik arm.talus wrong.trc -o found.sto
has err 'the markers of wrong.trc are 1e+03 times as far apart as those of the model'
has err 'check the Units in its header, they look like mm.'
frames mm 1 0 >wrong.trc
expect 0 ik arm.talus wrong.trc -o found.sto
has err 'they look like m.'
frames mm 1000 0 >right.trc
expect 0 ik arm.talus right.trc -o found.sto
grep -q 'check the Units' err && complain "units that are right are doubted"

# --- loads ---
# A weight of 30 N that pulls the tip down, as a plate would measure it: the moment at the pin is
# that of holding the arm, 2 * 9.81 * 0.5 sin q, and 30 * sin q, at rest.
cat >still.csv <<'END'
time,arm.q0
0,0.5
0.1,0.5
0.2,0.5
0.3,0.5
END
awk 'BEGIN { s = sin(0.5); c = cos(0.5); printf "time,plate_vx,plate_vy,plate_vz,plate_px,plate_py,"
    print "plate_pz,plate_mx,plate_my,plate_mz"
    printf "0,0,-30,0,%.17g,%.17g,0,0,0,0\n0.2,0,-30,0,%.17g,%.17g,0,0,0,4\n", s, -c, s, -c }' >plate.csv
expect 0 id arm.talus still.csv -q -o alone.sto
near "$(first alone.sto arm.q0_moment)" '2 * 9.81 * 0.5 * sin(0.5)' 1e-12 'what holds the arm'
expect 0 id arm.talus still.csv --external plate.csv --load arm=plate_v,plate_p,plate_m -o held.sto
near "$(first held.sto arm.q0_moment)" '(2 * 9.81 * 0.5 + 30) * sin(0.5)' 1e-12 'with a load'
near "$(sed -n '/^0.1\t/p' held.sto | cut -f 2)" '(2 * 9.81 * 0.5 + 30) * sin(0.5) - 2' 1e-12 \
    'half of the torque'
near "$(last held.sto arm.q0_moment)" '2 * 9.81 * 0.5 * sin(0.5)' 1e-12 'no load after the last row'
has err 'plate.csv has loads from t = 0 to 0.2 only, the motion goes from 0 to 0.3'
expect 0 rerun held.sto
expect 0 id arm.talus still.csv -q -x plate.csv -l arm=plate_v -o origin.sto
near "$(first origin.sto arm.q0_moment)" '2 * 9.81 * 0.5 * sin(0.5)' 1e-12 'a force at the pin'
expect 2 id arm.talus still.csv -x plate.csv -l arn=plate_v
has err "--load: the model has no body 'arn' (did you mean 'arm'?)."
expect 2 id arm.talus still.csv -x plate.csv -l arm=plate_w
has err "plate.csv has no column 'plate_wx' for --load."
expect 2 id arm.talus still.csv -x plate.csv
has err 'say by --load BODY=FORCE,POINT,TORQUE where it acts.'
expect 2 id arm.talus still.csv -l arm=plate_v
has err '--load needs --external FILE.'
expect 3 id arm.talus still.csv -x nowhere.csv -l arm=plate_v

# --- rows that are too far apart for their rates ---
wave() { # ROWS PER PERIOD
    awk -v n="$1" 'BEGIN { print "time,arm.q0"
        for (i = 0; i <= 6 * n; ++i)
            printf "%.17g,%.17g\n", i / n, sin(2 * 3.14159265358979323846 * i / n) }'
}
wave 3 >coarse.csv
expect 0 id arm.talus coarse.csv -o x.sto
has err "coarse.csv: the accelerations of 'arm.q0' change by "
has err 'are too far apart for this motion'
wave 40 >fine.csv
expect 0 id arm.talus fine.csv -o x.sto
grep -q 'too far apart' err && complain "rows that are close enough are doubted: $(cat err)"
finish
