#!/usr/bin/env bash
# studies.sh TALUS SOURCE_DIR
# Commands agree with each other: what one finds out, another one confirms.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# largest |value| of the columns from the second on, without the outer tenths of the rows
largest() { # FILE
    # shellcheck disable=SC2016 # of awk
    rows "$1" '{ size[NR - 1] = 0; for (i = 2; i <= NF; i++) { y = $i < 0 ? -$i : $i;
        if (y > size[NR - 1]) size[NR - 1] = y } }
        END { m = NR - 1;
        for (r = m / 10; r < m * 9 / 10; r++) if (size[int(r) + 1] > n) n = size[int(r) + 1];
        print n + 0 }'
}

# Inverse dynamics of a motion without other forces than the model's finds nothing missing, up to
# the error of second derivatives of polynomials through nine rows, which goes with the eighth power
# of the distance of rows: half of it leaves a 256th, here at least an eighth, down to what the
# error of the simulation, 1e-11, makes over the square of that distance, 1e-6.
finds_nothing() { # MODEL END
    local n
    for n in 100 200; do
        expect 0 simulate "$1" \
            -q -e "$2" --every "$(awk -v e="$2" -v n=$n 'BEGIN { print e / n }')" \
            -a 1e-11 -i dormand-prince -c q -o free$n.sto
        expect 0 id "$1" free$n.sto -q -o missing$n.sto
    done
    expect 0 id "$1" free100.sto -q --no-forces -o forces.sto
    less "$(largest missing200.sto)" \
        "$(awk -v a="$(largest missing100.sto)" 'BEGIN { print (a > 8e-6 ? a / 8 : 1e-6) }')" \
        "id of $1 does not converge"
    less "$(largest missing100.sto)" \
        "$(awk -v a="$(largest forces.sto)" 'BEGIN { print a / 1000 }')" \
        "id of $1 finds forces"
}
finds_nothing held.talus 2
finds_nothing pendulum.talus 1 # whose joints are away from the origins of its bodies
expect 0 assemble open_loop.talus -q -o closed.talus
finds_nothing closed.talus 1
cp free100.sto free.sto

# What depends on time is taken at the time of each row: the motor's force leaves nothing to be
# found, nor does the coordinate that a constraint holds; what the motion of the cart takes is m x''
# = -4.8 sin(4 t). Errors are those of finds_nothing, at the ends too: with 200 rows below 1e-6.
expect 0 simulate driven.talus -q -e 1 --every 0.005 -a 1e-11 -i dormand-prince -c q -o driven.sto
expect 0 id driven.talus -q driven.sto -o drives.sto
drives=$(rows drives.sto 'function size(v) { return v < 0 ? -v : v }
    { e = size(x["arm.q0_moment"]) + size(x["hand.q0_moment"]); 
    e += size(x["cart.q0_force"] + 4.8 * sin(4 * x["time"]))
    if (e > most) most = e }
    END { print most + 0 }')
less "$drives" 1e-6 'id of driven.talus'

# The forces that were applied come back, in every row, the first and the last too. Errors go with
# the seventh power of the distance at the ends: half of it leaves a 128th, here at least a
# sixteenth.
differs() { # FILE: largest difference from what pushed.talus applies
    # shellcheck disable=SC2016 # of awk
    rows "$1" 'BEGIN { want["boat.u3_force"] = 2; want["mast.u1_moment"] = -0.15
        want["boom.q0_moment"] = 0.025 }
        NR == 2 { for (k in want) if (k in known) ++seen }
        { for (i = 2; i <= NF; i++) { d = $i - want[name[i]]; if (d < 0) d = -d;
        if (d > n) n = d } }
        END { print seen == 3 ? n + 0 : "none" }'
}
for n in 25 50; do
    expect 0 simulate pushed.talus -q -e 1 --every "$(awk -v n=$n 'BEGIN { print 1 / n }')" \
        -a 1e-12 -i dormand-prince -c q -o pushed$n.sto
    expect 0 id pushed.talus -q -s push=0 pushed$n.sto -o applied$n.sto
done
less "$(differs applied25.sto)" 1e-3 "id of pushed.talus"
less "$(differs applied50.sto)" "$(awk -v a="$(differs applied25.sto)" 'BEGIN { print a / 16 }')" \
    "id of pushed.talus does not converge"
# q and -q are one orientation: a table that mixes them gives the same forces, bit for bit
sed '1,/^endheader/d' pushed50.sto | awk -F '\t' -v OFS='\t' '
    NR > 1 && NR % 3 == 0 {
        for (i = 2; i <= 5; i++) $i = substr($i, 1, 1) == "-" ? substr($i, 2) : "-" $i }
    { print }' >rows
{ sed '/^endheader/q' pushed50.sto; cat rows; } >mixed.sto
expect 0 id pushed.talus -q -s push=0 mixed.sto -o mixed_found.sto
cmp -s <(sed '1,/^endheader/d' applied50.sto) <(sed '1,/^endheader/d' mixed_found.sto) ||
    complain "id depends on the signs of quaternions"
cut -f 1-4,6- pushed50.sto >part.sto
sed -i 's/^nColumns=.*/nColumns=12/' part.sto
expect 3 id pushed.talus -q part.sto
has err "part.sto has only part of the quaternion of 'boat'; all four columns are needed."
# the same motion in degrees
expect 0 simulate pendulum.talus -q -e 1 --every 0.01 -a 1e-9 -c q -o swing.sto
expect 0 id pendulum.talus -q swing.sto -o radians.sto
{ sed '/^endheader/q' swing.sto | sed 's/^inDegrees=.*/inDegrees=yes/'
  sed '1,/^endheader/d' swing.sto | awk -F '\t' -v OFS='\t' -v OFMT=%.17g -v CONVFMT=%.17g '
      NR > 1 { for (i = 2; i <= NF; i++) $i = $i * 180 / 3.14159265358979323846 } { print }'; } \
          >degrees.mot
expect 0 id pendulum.talus -q degrees.mot -o degrees.sto
# round-off of angles, 1e-16, over the square of the distance
paste <(sed '1,/^endheader/d' radians.sto) <(sed '1,/^endheader/d' degrees.sto) | awk -F '\t' '
    NR > 1 { for (i = 2; i <= NF / 2; i++) {
        if ($i + 0 != $i || $(i + NF / 2) + 0 != $(i + NF / 2)) bad = 1
        d = $i - $(i + NF / 2); if (d < 0) d = -d; if (d > n) n = d } }
    END { exit !(NR > 100 && !bad && n < 1e-9) }' || complain "id takes degrees for something else"
# Noise that alternates from row to row is all that --cutoff takes out: 1e-4 rad make 4e-4 / 0.01^2
# = 4 rad/s^2 without it. The pendulum's faster swing has 1.1 Hz, and at large angles some of four
# times that: at 20 Hz its own motion stays, to (4 / 20)^4 = 2e-3 of 10 N m.
sed '1,/^endheader/d' swing.sto | awk -F '\t' -v OFS='\t' -v OFMT=%.17g -v CONVFMT=%.17g '
    NR > 1 { for (i = 2; i <= NF; i++) $i = $i + (NR % 2 ? 1e-4 : -1e-4) } { print }' >rows
{ sed '/^endheader/q' swing.sto; cat rows; } >noisy.sto
expect 0 id pendulum.talus -q noisy.sto -o rough.sto
expect 0 id pendulum.talus -q noisy.sto --cutoff 20 -o smooth.sto
less 1 "$(largest rough.sto)" "noise is lost"
less "$(largest smooth.sto)" 0.1 "--cutoff leaves noise"
expect 2 id pendulum.talus noisy.sto --cutoff 60
has err '--cutoff 60 Hz is too high for 100 rows per second; choose less than 40.'
expect 2 id pendulum.talus noisy.sto --cutoff=-1
# a missing column keeps its value, loudly
sed '1,/^endheader/d' noisy.sto | cut -f 1,2 | tr '\t' ',' >part.csv
expect 0 id pendulum.talus part.csv -o odd.sto
has err "part.csv has no column"
has err "it keeps its value."
# a table without any of them is another model's
expect 3 id held.talus free.sto -o odd.sto
has err "free.sto has no coordinate of the model, no column 'arm.q0' for example."
# a force that cannot be computed is not left out
cat >crowd.talus <<'END'
<talus version="1"><bodies><slider name="a" axis="y" mass="1"/></bodies><forces>
<contact name="crowd" max_pairs="1"><half_space/><sphere body="a" radius="0.1"/>
<sphere body="a" radius="0.1"/></contact></forces></talus>
END
printf 'time,a.q0\n0,0\n0.1,0\n0.2,0\n0.3,0\n' >crowd.csv
expect 1 id crowd.talus crowd.csv -o odd.sto
has err "talus id: contact 'crowd': contact needs room for 2 pairs but has room for 1"
# nor is one that overflows, and it is named
cat >huge.talus <<'END'
<talus version="1"><bodies><slider name="a" axis="y" mass="1"/></bodies><forces>
<gravity g="0 -9.81 0"/><two_point_spring name="huge" body1="ground" station1="9 9 0" body2="a"
stiffness="1e308"/></forces></talus>
END
expect 1 id huge.talus crowd.csv -o odd.sto
has err "talus id: force 'huge' applied a force that is not finite at t = 0"

# where a damped model ends is where its equilibrium is
expect 0 simulate held.talus -q -e 60 -a 1e-10 -o long.sto
expect 0 equilibrium held.talus -q -o rest.sto
near "$(last long.sto arm.q0)" \
    "$(last rest.sto arm.q0)" 1e-8 'the end of a long run, which is the rest'
# an assembled model has nothing left to assemble
expect 0 assemble closed.talus --json
has out '"iterations": 0'

# --- markers ---
# a marker at the end of the arm, seen at 0 and at 30 degrees, in millimeters; and one that is not
# seen
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
has err "1 markers of the model are not in frames.trc and not used: lost."
near "$(last found.sto arm.q0)" 'pi / 6' 1e-6 'the arm, at 30 degrees'
# what is written says the same
expect 0 convert seen.talus -o again.talus
grep -q 'name="lost" body="arm" weight="0.5"' again.talus || complain "markers are lost on the way"
expect 0 ik again.talus frames.trc -q -o again.sto
cmp -s <(sed '1,/^endheader/d' found.sto) <(sed '1,/^endheader/d' again.sto) ||
    complain "a written model tracks otherwise"
[ "$(grep model_hash found.sto)" = "$(grep model_hash again.sto)" ] ||
    complain "a written model has another hash"
expect 0 ik seen.talus frames.trc -q -t 2 --chunk 1 -o found2.sto
# marker by marker: the arm is 10 mm too short for what is seen; 'lost' is not seen in any frame
sed 's/station="0 -1 0"/station="0 -0.99 0"/' seen.talus >short.talus
expect 0 ik short.talus frames.trc -q --marker-errors -o short.sto
[ "$(grep -c $'\tnan$' short.sto)" = 2 ] || complain "a marker that is not seen has an error"
sed $'s/\tnan$/\t0/' short.sto >numbers.sto
near "$(last numbers.sto tip.error)" 0.01 1e-9 'the error of the marker at the tip'
# a range holds the arm at 20 degrees, unless it is to be ignored
sed 's/range="-90 90"/range="-20 20"/' seen.talus >narrow.talus
expect 0 ik narrow.talus frames.trc -q -o narrow.sto
near "$(last narrow.sto arm.q0)" 'pi / 9' 1e-12 'the arm, at the end of its range'
expect 0 ik narrow.talus frames.trc -q --ignore-ranges -o wide.sto
near "$(last wide.sto arm.q0)" 'pi / 6' 1e-6 'the arm, beyond its range'

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
expect 0 convert arm.urdf -o arm.talus
expect 0 simulate arm.urdf -q -e 1 -c q -o urdf.csv
expect 0 simulate arm.talus -q -e 1 -c q -o talus.csv
cmp -s <(grep -v '^#' urdf.csv) <(grep -v '^#' talus.csv) ||
    complain "a URDF moves otherwise as .talus"
expect 2 info arm.urdf -s a=1
has err 'a URDF has no params'
cp arm.urdf arm.xml
expect 0 info arm.xml

# --- OpenSim ---
cat >arm.osim <<'END'
<OpenSimDocument Version="40000"><Model name="arm"><BodySet><objects>
  <Body name="hand"><mass>2</mass><mass_center>0 -0.5 0</mass_center>
    <inertia>0.1 0.01 0.1 0 0 0</inertia></Body>
</objects></BodySet><JointSet><objects><PinJoint name="elbow">
  <socket_parent_frame>/ground</socket_parent_frame>
  <socket_child_frame>/bodyset/hand</socket_child_frame>
  <coordinates><Coordinate name="flexion">
    <default_value>1</default_value></Coordinate></coordinates>
</PinJoint></objects></JointSet></Model></OpenSimDocument>
END
expect 0 check arm.osim
expect 0 convert arm.osim -o arm_osim.talus
expect 0 simulate arm.osim -q -e 1 -c q -o osim.csv
expect 0 simulate arm_osim.talus -q -e 1 -c q -o osim_talus.csv
cmp -s <(grep -v '^#' osim.csv) <(grep -v '^#' osim_talus.csv) ||
    complain "an .osim file moves otherwise as .talus"
expect 2 info arm.osim -s a=1
has err 'an .osim file has no params'
expect 2 convert arm.osim -o arm.sto

# a pendulum of 2 kg held still at one radian: 2 kg 9.80665 m/s^2 0.5 m sin 1
{
    printf 'still\nnRows=5\nnColumns=2\ninDegrees=no\nendheader\ntime\tflexion\n'
    for t in 0 1 2 3 4; do printf '%s\t1\n' $t; done
} >still.mot
cat >id.xml <<'END'
<OpenSimDocument Version="40000"><InverseDynamicsTool name="still"><model_file>arm.osim</model_file>
<coordinates_file>none.mot</coordinates_file></InverseDynamicsTool></OpenSimDocument>
END
expect 3 run id.xml
has err 'none.mot'
expect 0 run id.xml -p coordinates_file=still.mot -o still
near "$(last still/inverse_dynamics.sto flexion_moment)" '9.80665 * sin(1)' 1e-12 'a moment'
expect 0 rerun still/inverse_dynamics.sto
expect 0 run id.xml -p coordinates_file=still.mot -o still --json
python3 -m json.tool <out >/dev/null || complain "talus run --json: $(head -3 out)"
has out '{"result": "still/inverse_dynamics.sto", "rows": 5'
# from standard input, where paths begin here; nothing else is left behind
"$talus" run - -q -p coordinates_file=still.mot -o piped <id.xml || complain 'a set-up from a pipe'
cmp -s <(sed '1,/endheader/d' still/inverse_dynamics.sto) \
    <(sed '1,/endheader/d' piped/inverse_dynamics.sto) || complain 'a set-up from a pipe differs'
! ls set-up-* >/dev/null 2>&1 || complain 'a set-up from a pipe is left behind'
expect 2 run id.xml -p nothing

# --- a hub without mass, held by the wheel it rolls on: solve="kkt"; it turns by -3/2 of the wheel,
# and its spring is 9/4 of that on a wheel alone. Each run is within ten times its accuracy of what
# is exact ---
cat >hub.talus <<'END'
<talus version="1" solve="kkt"><bodies>
  <pin name="wheel" mass="2" com="0 -0.1 0" inertia="0.1 0.1 0.15" u="3"/>
  <pin name="hub" frame="0.5 0 0" u="-4.5"/></bodies>
<constraints>
<no_slip_1d name="roll" body1="wheel" body2="hub" point="0.3 0 0" direction="0 1 0"/></constraints>
<forces><gravity g="0 -9.81 0"/><mobility_spring mobility="hub" stiffness="2"/></forces></talus>
END
sed 's/ solve="kkt"//; s/<pin name="hub".*u="-4.5"\/>//; /<constraints>/d; /<no_slip_1d/d
    s/"hub" stiffness="2"/"wheel" stiffness="4.5"/' hub.talus >wheel.talus
expect 0 simulate wheel.talus -q -e 2 -a 1e-11 -o wheel.sto
for method in merson cvode-bdf ida; do
    expect 0 simulate hub.talus -q -e 2 -a 1e-5 -i $method -o hub.sto
    near "$(last hub.sto wheel.q0)" "$(last wheel.sto wheel.q0)" 1e-4 "the wheel by $method"
    near "$(last hub.sto hub.q0)" "-1.5 * $(last wheel.sto wheel.q0)" 1.5e-4 "the hub by $method"
    expect 0 rerun hub.sto
done
expect 0 check hub.talus
has out 'only constraints hold it'
expect 0 convert hub.talus -o again.talus
has again.talus 'solve="kkt"'
expect 0 modes hub.talus
expect 0 equilibrium hub.talus
sed 's/ solve="kkt"//' hub.talus >refused.talus
expect 1 simulate refused.talus -q -e 1
has err 'solve="kkt"'

# --- inertias that no real body can have, as of link 3 of the Puma 560: refused in model files
# unless they are asked for, and warned of in URDF unless they are to be refused ---
sed 's/izz="0.01"/izz="0.001"/; s/iyy="0.1"/iyy="0.12"/' arm.urdf >puma.urdf
sed 's/<\/bodies>/<pin name="link3" mass="4.8" inertia="0.066 0.086 0.0125"\/>&/' \
    held.talus >puma.talus
expect 3 simulate puma.talus -e 1
has err '--any-inertia'
expect 0 simulate puma.urdf -q -e 0.1 -o puma.sto
expect 0 info puma.urdf
has err 'warning: links have an inertia that is not physical'
expect 3 simulate puma.urdf -e 1 --strict
has err 'error: links have an inertia that is not physical'
for model in puma.urdf puma.talus; do
    expect 0 simulate $model -q -e 1 --any-inertia -o puma.sto
    expect 0 rerun puma.sto
    expect 1 check $model --any-inertia
    has out 'its inertia is not physical'
    # a model that is written keeps the permit, and has the same hash
    expect 0 convert $model --any-inertia -o written.talus
    has written.talus 'any_inertia="yes"'
    expect 0 simulate written.talus -q -e 1 -o written.sto
    [ "$(grep model_hash puma.sto)" = "$(grep model_hash written.sto)" ] ||
        complain "$model has another hash when it is written"
done
# who needs no permit gets none
expect 0 convert held.talus --any-inertia -o written.talus
expect 0 convert held.talus -o plain.talus
cmp -s written.talus plain.talus || complain "--any-inertia changes a model that needs it not"

# --- tables ---
expect 0 convert free.sto -o free.csv
expect 0 convert free.csv free2.sto
cmp -s <(sed '1,/^endheader/d' free.sto) <(sed '1,/^endheader/d' free2.sto) ||
    complain "a table changes on its way through CSV"
expect 0 convert free.sto --out free.npz
expect 0 plot free.sto -o free.svg
has free.svg '>crank.q0</text>'
# units get panels of their own; what is zero throughout is left out unless it is asked for
expect 0 simulate pendulum.talus -q -e 1 -o units.sto
expect 0 plot units.sto
for label in 'angle [rad]' 'angular speed [rad/s]' 'energy [J]'; do
    has out ">$label</text>"
done
grep -q position_error out && complain "talus plot draws what is zero throughout"
expect 0 plot units.sto -c position_error
has out '>position_error [m or rad]</text>'
expect 2 plot units.sto --height 150
has err 'talus plot: 3 panels need a --height of at least 228.'
# those of one unit side by side, wherever their columns stand
printf '# talus_units=s,m,N,m\ntime,a,b,c\n0,1,2,3\n1,2,3,4\n' >mixed.csv
expect 0 plot mixed.csv
grep -o '>[a-z][^<]*</text>' out | tr -d '\n' >order
is order '>mixed.csv</text>>position [m]</text>>a</text>>c</text>>b [N]</text>>time [s]</text>'
# numbers without differences, and those without quotients
printf 'time,a,b\n0,-1.7e308,1e-320\n1,1.7e308,2e-320\n2,0,0\n' >ends.csv
expect 0 plot ends.csv
grep -q 'nan\|inf' out && complain "talus plot draws what is not a number"
# a name is cut between letters
printf 'time,%s,%s\n0,1,2\n1,2,3\n' \
    "$(printf '\303\251%.0s' {1..70})" "a$(printf '\303\251%.0s' {1..70})" >long.csv
expect 0 plot long.csv
iconv -f UTF-8 -t UTF-8 out >/dev/null 2>&1 || complain "talus plot cuts letters apart"
expect 0 bench held.talus --seconds 0.05
has out 'one evaluation'
# --- modes know how far they are off: a light link over a heavy one has them right; at the very end
# of a spline, where the curve of the knee becomes a line, there are two slopes, and a word is said
# ---
cat >light_over_heavy.talus <<'END'
<talus version="1" name="light over heavy">
  <bodies>
    <pin name="a" mass="0.001" com="0 -0.5 0"/>
    <pin name="b" parent="a" frame="0 -0.5 0" mass="1000" com="0 -0.5 0"/>
  </bodies>
  <forces><gravity g="0 -9.81 0"/></forces>
</talus>
END
expect 0 modes light_over_heavy.talus -q -o modes.csv
less "$(awk -F , '$1 == 2 { d = $5 - 6264.1862544146588; print d < 0 ? -d : d }' modes.csv)" \
    1e-5 'the fast mode'
less "$(awk -F , '$1 == 2 { print $6 }' modes.csv)" 1e-5 'its error'
expect 0 modes light_over_heavy.talus
is err ''
expect 0 modes knee.talus
has err 'warning: mode 1 may be off by 0.2'

# --- a hoop that is made to turn, at any level: the bead stands out, at cos(angle) = g / (w^2 r),
# and that is stable ---
for level in position velocity acceleration; do
    case $level in
    position) turn='<linear slopes="6"/>' ;;
    velocity) turn='<constant value="6"/>' ;;
    acceleration) turn='<constant value="0"/>' ;;
    esac
    cat >hoop.talus <<END
<talus version="1" name="hoop">
  <bodies>
    <pin name="hoop" mass="1" inertia="1 1 1" u="6"/>
    <pin name="bead" parent="hoop" axis="0 -1 0" mass="1" com="0 0 -0.5" q="0.3"/>
  </bodies>
  <motions><functions name="turn" body="hoop" level="$level">$turn</functions></motions>
  <forces><gravity g="0 0 -9.81"/></forces>
</talus>
END
    expect 0 equilibrium hoop.talus -o rest.sto
    grep -q '^stable *yes' out ||
        complain "the bead is not stable, with a motion of $level: $(head -1 out)"
    off=$(awk -v q="$(last rest.sto bead.q0)" \
        'BEGIN { d = cos(q) - 9.81 / 18; print d < 0 ? -d : d }')
    less "$off" 1e-8 \
        "the bead, with a motion of $level"
done

# polynomials in place of paths: the model that is written has the lengths of the one it came from
expect 0 paths leg.talus -o fitted.talus
grep -Eq '^  hamstrings .* yes$' out || complain "talus paths says nothing about the hamstrings"
grep -q '<function_path name="hamstrings"' fitted.talus || complain "no polynomial was written"
for model in leg fitted; do
    expect 0 simulate $model.talus -q -e 0.01 --every 0.01 -c length -o $model.sto
done
off=$(awk -v a="$(last leg.sto length)" -v b="$(last fitted.sto length)" \
    'BEGIN { d = a - b; print d < 0 ? -d : d }')
less "$off" 1e-3 "the length of a path and of its polynomial"
expect 1 paths leg.talus --tolerance 1e-9 --degree 2 -o same.talus
has err "1 of the paths are not within the tolerances: they stay as they are."
grep -q '<path name="hamstrings"' same.talus || complain "a bad fit was written"
expect 2 paths leg.talus --path nerve
has err "there is no path 'nerve' in leg.talus"
expect 2 paths leg.talus -o leg.sto
has err "should end with .talus: a model is written"

# a patella that a coupler moves with the knee: along the constraint one coordinate is left
cat >patella.talus <<END
<talus version="1" name="patella">
  <bodies>
    <pin name="shank" mass="2" com="0 -0.2 0" inertia="0.03 0.001 0.03" range="-1.5 0.2"/>
    <slider name="patella" frame="0 0.05 0" mass="0.1" q="0.05"/>
  </bodies>
  <constraints>
    <coordinate_coupler mobilities="shank; patella">
      <multivariate_polynomial coefficients="-1 0.03 0.02 0.05" powers="0 1 1 0 2 0 0 0"/>
    </coordinate_coupler>
  </constraints>
  <paths>
    <path name="quadriceps">
      <point station="0.02 0.35 0"/>
      <point body="patella" station="0.01 0 0"/>
      <point body="shank" station="0.03 -0.08 0"/>
    </path>
  </paths>
</talus>
END
expect 1 paths patella.talus
has err "coordinate 0 of body 'patella' has the range -inf to inf: give it a finite one"
expect 0 paths patella.talus --along-constraints
grep -Eq '^  quadriceps +shank.q0 .* yes$' out ||
    complain "a fit along constraints: $(grep quadriceps out)"

# a path that changes sides, and one with a point that comes and goes
cat >flaws.talus <<'END'
<talus version="1" name="flaws">
  <bodies><slider name="cart" mass="1" range="-1 1"/></bodies>
  <wraps><wrap_cylinder name="post" frame="0 1 0" radius="0.3"/></wraps>
  <paths>
    <path name="rope"><point station="0 2 0"/><point body="cart"/><over wrap="post"/></path>
    <path name="line">
      <point station="0 2 0"/>
      <conditional_point coordinate="cart:0" station="1 1 0" range="0.2 1"/>
      <point body="cart"/>
    </path>
  </paths>
</talus>
END
expect 1 check flaws.talus
grep -q 'remark *rope *its moment arm jumps by 0.6 at cart.q0 = ' out ||
    complain "talus check does not see the kink"
grep -q 'warning *line *its length jumps by .* m at cart.q0 = 0.2' out ||
    complain "talus check does not see the jump"
finish
