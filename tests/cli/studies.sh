#!/usr/bin/env bash
# studies.sh TALUS SOURCE_DIR
# Commands agree with each other: what one finds out, another one confirms.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# largest |value| of the columns from the second on, without the outer tenths of the rows
largest() { # FILE
    sed '1,/^endheader/d' "$1" | awk -F '\t' '
        { size[NR] = 0; for (i = 2; i <= NF; i++) { x = $i < 0 ? -$i : $i; if (x > size[NR]) size[NR] = x } }
        END { for (r = NR / 10; r < NR * 9 / 10; r++) if (size[int(r) + 1] > n) n = size[int(r) + 1]; print n + 0 }'
}

# Inverse dynamics of a motion without other forces than the model's finds nothing missing, up to the error
# of second derivatives of quintic splines, which goes with the fourth power of the distance of rows: half of
# it leaves a sixteenth, here at least an eighth.
finds_nothing() { # MODEL END
    local n
    for n in 100 200; do
        expect 0 simulate "$1" -q -e "$2" --every "$(awk -v e="$2" -v n=$n 'BEGIN { print e / n }')" \
            -a 1e-11 -i dormand-prince -c q -o free$n.sto
        expect 0 id "$1" free$n.sto -q -o missing$n.sto
    done
    expect 0 id "$1" free100.sto -q --no-forces -o forces.sto
    less "$(largest missing200.sto)" "$(awk -v a="$(largest missing100.sto)" 'BEGIN { print a / 8 }')" \
        "id of $1 does not converge"
    less "$(largest missing100.sto)" "$(awk -v a="$(largest forces.sto)" 'BEGIN { print a / 1000 }')" \
        "id of $1 finds forces"
}
finds_nothing held.talus 2
finds_nothing pendulum.talus 1 # whose joints are away from the origins of its bodies
expect 0 assemble open_loop.talus -q -o closed.talus
finds_nothing closed.talus 1
cp free100.sto free.sto
# a missing column keeps its value, loudly
expect 0 id held.talus free.sto -o odd.sto
has err "free.sto has no column 'arm.q0'; it keeps its value."

# where a damped model ends is where its equilibrium is
expect 0 simulate held.talus -q -e 60 -a 1e-10 -o long.sto
expect 0 equilibrium held.talus -q -o rest.sto
awk -v a="$(last long.sto arm.q0)" -v b="$(last rest.sto arm.q0)" \
    'BEGIN { d = a - b; exit !(a != "" && d < 1e-8 && d > -1e-8) }' ||
    complain "the end of a long run, $(last long.sto arm.q0), is not the rest, $(last rest.sto arm.q0)"
# an assembled model has nothing left to assemble
expect 0 assemble closed.talus --json
has out '"iterations": 0'

# --- markers ---
# a marker at the end of the arm, seen at 0 and at 30 degrees, in millimeters; and one that is not seen
cat >frames.trc <<'END'
PathFileType	4	(X/Y/Z)	frames.trc
DataRate	CameraRate	NumFrames	NumMarkers	Units	OrigDataRate	OrigDataStartFrame	OrigNumFrames
10	10	2	1	mm	10	1	2
Frame#	Time	tip
		X1	Y1	Z1

1	0.0	0	-1000	0
2	0.1	500	-866.0254037844386	0
END
sed 's|<bodies>|<markers><marker name="tip" body="arm" station="0 -1 0"/>\
    <marker name="lost" body="arm" weight="0.5"/></markers>&|' held.talus >seen.talus
expect 0 ik seen.talus frames.trc -o found.sto
has err "marker 'lost' is not in the table"
awk -v a="$(last found.sto arm.q0)" 'BEGIN { d = a - 0.52359877559829882; exit !(a != "" && d < 1e-6 && d > -1e-6) }' ||
    complain "the arm is at $(last found.sto arm.q0) instead of 30 degrees"
# what is written says the same
expect 0 convert seen.talus again.talus
grep -q 'name="lost" body="arm" weight="0.5"' again.talus || complain "markers are lost on the way"
expect 0 ik again.talus frames.trc -q -o again.sto
cmp -s <(sed '1,/^endheader/d' found.sto) <(sed '1,/^endheader/d' again.sto) || complain "a written model tracks otherwise"
[ "$(grep model_hash found.sto)" = "$(grep model_hash again.sto)" ] || complain "a written model has another hash"
expect 0 ik seen.talus frames.trc -q -t 2 --chunk 1 -o found2.sto

# --- URDF ---
cat >arm.urdf <<'END'
<robot name="arm">
  <link name="base"/>
  <link name="hand"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>
END
expect 0 convert arm.urdf arm.talus
expect 0 simulate arm.urdf -q -e 1 -c q -o urdf.csv
expect 0 simulate arm.talus -q -e 1 -c q -o talus.csv
cmp -s <(grep -v '^#' urdf.csv) <(grep -v '^#' talus.csv) || complain "a URDF moves otherwise as .talus"
expect 2 info arm.urdf -s a=1

# --- tables ---
expect 0 convert free.sto free.csv
expect 0 convert free.csv free2.sto
cmp -s <(sed '1,/^endheader/d' free.sto) <(sed '1,/^endheader/d' free2.sto) ||
    complain "a table changes on its way through CSV"
expect 0 convert free.sto free.npz
expect 0 plot free.sto -o free.svg
has free.svg '>crank.q0</text>'
expect 0 bench held.talus --seconds 0.05
has out 'one evaluation'
finish
