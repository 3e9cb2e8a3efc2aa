#!/usr/bin/env bash
# models.sh TALUS SOURCE_DIR
# Each model of examples/models/ is unsuspicious, runs, and finds what is known about it from
# elsewhere: a published number, a closed form worked out here, or a conserved energy.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

for model in "$source_dir"/examples/models/*; do
    model=$(basename "$model")
    expect 0 check "$model"
    is err ''
    # the third equation of a ball in a plane is a remark worth reading
    [ "$model" = four_bar.talus ] || has out 'no problems found'
    grep -qF "models/$model" "$source_dir/examples/README.md" ||
        complain "examples/README.md does not mention $model"
done

# --- pendulum: two rods of 1 m, w^2 = (3 -+ 6 / sqrt 7) g / l; its damper changes them by
# damping^2, 1e-6 ---
expect 0 modes pendulum.talus --at-rest -q -o modes.csv
frequency() { # MODE
    awk -F , -v mode="$1" '$1 == mode { print $2 }' modes.csv
}
near "$(frequency 0)" \
    'sqrt((3 - 6 / sqrt(7)) * 9.81) / (2 * pi)' 1e-6 'slow swing of the double pendulum'
near "$(frequency 2)" \
    'sqrt((3 + 6 / sqrt(7)) * 9.81) / (2 * pi)' 1e-5 'fast swing of the double pendulum'

# --- four-bar: where the crank is, the circles about its tip and about the rocker's pin say where
# the rocker is ---
expect 0 simulate four_bar.talus -q -e 1 -a 1e-8 -o bar.sto
rocker=$(rows bar.sto '{
    dx = 0.2 * cos(x["crank.q0"]) - 0.7; dy = 0.2 * sin(x["crank.q0"]); d = sqrt(dx * dx + dy * dy)
    c = (0.25 + d * d - 0.36) / (2 * 0.5 * d)
    want = atan2(dy, dx) - atan2(sqrt(1 - c * c), c)
    e = cos(x["rocker angle"] - want) - 1; if (-e > most) most = -e } END { print sqrt(2 * most) }')
less "$rocker" 1e-7 'angle between the rocker and its closed form' # round-off of cos is 1e-8

# --- three cranks of 1 m on a coupler: one mobility, which a file of seven digits hides unless the
# loops are closed first; KINSOL closes them where our own solver does, up to 5e-8 along it ---
cat >three_cranks.talus <<'END'
<talus version="1" name="three cranks" units="deg">
  <bodies>
    <pin name="a" mass="1" com="0.5 0 0" inertia="0.001 0.34 0.34" q="40"/>
    <pin name="coupler" parent="a" frame="1 0 0" mass="2" com="1 0 0" inertia="0.01 2.7 2.7"
      q="-40"/>
    <pin name="b" frame="1 0 0" mass="1" com="0.5 0 0" inertia="0.001 0.34 0.34" q="40.000001"/>
    <pin name="c" frame="2 0 0" mass="1" com="0.5 0 0" inertia="0.001 0.34 0.34" q="39.999998"/>
  </bodies>
  <constraints>
    <ball name="first" body1="coupler" station1="1 0 0" body2="b" station2="1 0 0"/>
    <ball name="second" body1="coupler" station1="2 0 0" body2="c" station2="1 0 0"/>
  </constraints>
</talus>
END
expect 0 info three_cranks.talus
grep -A2 '^loops that share' out >loops.txt
is <(awk 'END { print $NF }' loops.txt) 1
expect 0 assemble three_cranks.talus -q -o own.sto
expect 0 assemble three_cranks.talus -q --solver kinsol -o kinsol.sto
is <(awk 'END { for (i = 2; i <= 5; i++) printf "%.6f\n", $i }' kinsol.sto) \
    "$(awk 'END { for (i = 2; i <= 5; i++) printf "%.6f\n", $i }' own.sto)"
expect 2 assemble three_cranks.talus --solver kinsoll
has err "did you mean 'kinsol'"
expect 0 equilibrium pendulum.talus -q --solver kinsol -o hanging.sto
expect 0 equilibrium pendulum.talus -q -o hangs.sto
is <(awk 'END { for (i = 2; i <= 3; i++) printf "%.9f\n", $i + 0 }' hanging.sto) \
    "$(awk 'END { for (i = 2; i <= 3; i++) printf "%.9f\n", $i + 0 }' hangs.sto)"

# --- human body: in free flight only springs and gravity work ---
expect 0 simulate human_body.talus -q -e 0.5 -a 1e-9 -i bogacki-shampine-5 -o dive.sto
less "$(drift dive.sto total_energy)" 1e-4 'energy of the diver, of some 8000 J'

# --- squeezer: beta after 30 ms, IVP test set (andrews), good to 11 digits ---
expect 0 simulate squeezer.talus -q -e 0.03 -a 1e-10 -i verner-8 -c q -o squeezer.sto
near "$(last squeezer.sto beta)" 15.81077119515371 1e-8 "beta of Andrews' squeezer"

# --- Stewart platform: inverse kinematics; the pose of the table gives back the length of each leg
# ---
expect 0 simulate stewart_platform.talus -q -e 2 -a 1e-8 -o table.sto
legs=$(rows table.sto '
    function square(a) { return a * a }
    function leg(i, bx, by, sx, sy,    px, py, pz, home) {
        px = (1 - 2 * (c * c + d * d)) * sx + 2 * (b * c - a * d) * sy + x["table.q4"] - bx
        py = 2 * (b * c + a * d) * sx + (1 - 2 * (b * b + d * d)) * sy + x["table.q5"] - by
        pz = 2 * (b * d - a * c) * sx + 2 * (c * d + a * b) * sy + x["table.q6"]
        home = sqrt(square(sx - bx) + square(sy - by) + square(1.2))
        e = sqrt(px * px + py * py + pz * pz) - home
        e -= 0.1 * sin(3 * x["time"] + (i - 1) * 1.04719755119659775)
        if (square(e) > most) most = square(e)
    }
    NR > 2 {
        a = x["table.q0"]; b = x["table.q1"]; c = x["table.q2"]; d = x["table.q3"]
        leg(1, 1, -0.2, 0.4, -0.45); leg(2, 1, 0.2, 0.4, 0.45); leg(3, -0.3, 1, 0.2, 0.55)
        leg(4, -0.7, 0.8, -0.6, 0.1); leg(5, -0.7, -0.8, -0.6, -0.1); leg(6, -0.3, -1, 0.2, -0.55)
    } END { print sqrt(most) }')
less "$legs" 1e-8 'lengths of the legs' # constraints are met to a tenth of the accuracy

# --- T-handle: Euler's equations repeat after 4 K(k) / r (Landau and Lifshitz I, sec. 37), K by the
# arithmetic-geometric mean; inertias are those of two thin rods about their common mass center ---
period=$(awk 'BEGIN {
    I1 = 0.02 * 0.04 ^ 2 / 12 + 0.06 * 0.02 / 0.08 * 0.02 ^ 2; I2 = 0.06 * 0.12 ^ 2 / 12;
    I3 = I1 + I2
    w = 20; e = 0.2; E2 = I1 * e ^ 2 + I2 * w ^ 2; L2 = (I1 * e) ^ 2 + (I2 * w) ^ 2
    if (L2 < E2 * I2) { t = I1; I1 = I3; I3 = t }
    k2 = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    a = 1; g = sqrt(1 - k2); for (i = 0; i < 20; i++) { t = (a + g) / 2; g = sqrt(a * g); a = t }
    rate = sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3))
    printf "%.17g", 4 * 3.14159265358979323846 / (2 * a) / rate }')
expect 0 simulate t_handle.talus -q -e "$period" -a 1e-11 -i verner-8 -o spin.sto \
    --every "$(awk -v p="$period" 'BEGIN { printf "%.17g", p / 100 }')"
# the spin about the stem, y of the body: minus itself after half a period, itself after a whole one
spins=$(rows spin.sto '{
    a = x["bar.q0"]; b = x["bar.q1"]; c = x["bar.q2"]; d = x["bar.q3"]
    y = 2 * (b * c - a * d) * x["bar.u0"] + (1 - 2 * (b * b + d * d)) * x["bar.u1"]
    y += 2 * (c * d + a * b) * x["bar.u2"]
} NR == 52 { half = y } END { printf "%.12f %.12f", half, y }')
near "${spins#* }" 20 1e-6 'spin after one period'
near "${spins% *}" -20 1e-2 'spin after half a period' # of a cubic between steps

# --- elbow: tension times moment arm carries forearm and load at a right angle; the rods are
# 9-40-41 and 21-220-221 triangles; the frequency is that of the linearized springs, damped ---
expect 0 equilibrium elbow.talus -q -o rest.sto
near "$(last rest.sto flexion)" 'pi / 2' 1e-8 'angle of the elbow'
near "$(awk 'BEGIN { m = 5000 * (0.205 - 0.1623965821) * 0.045 * 0.2 / 0.205
    printf "%.12f", m - 2000 * (0.221 - 0.216) * 0.021 * 0.22 / 0.221 }')" \
    '(1.6 * 0.17 + 2 * 0.33) * 9.81' 1e-8 'moments about the elbow'
expect 0 modes elbow.talus -q -o modes.csv
inertia='(0.012 + 1.6 * 0.17 ^ 2 + 2 * 0.33 ^ 2)'
stiffness='(5000 * 0.1623965821 * 0.009 ^ 2 / 0.205 ^ 3 + 2000 * 0.216 * 0.00462 ^ 2 / 0.221 ^ 3)'
damping="(100 * (0.009 / 0.205) ^ 2 / (2 * $inertia))"
near "$(frequency 0)" \
    "sqrt($stiffness / $inertia - $damping ^ 2) / (2 * pi)" 1e-8 'frequency of the elbow'
expect 0 simulate elbow.talus -q -e 1 -o lift.sto -s load=1

# --- knee: the first rows of both curves say how high the shank begins: m g (x + c sin q); then
# energy is kept ---
expect 0 simulate knee.talus -q -e 2 -a 1e-9 -o knee.sto
near "$(first knee.sto potential_energy)" \
    '3.7075 * 9.80665 * (-0.0032 + 0.1867 * sin(-2.0944))' 1e-9 'energy of the shank'
less "$(drift knee.sto total_energy)" 1e-7 'energy of the knee'

# --- rimless wheel: McGeer's formula for points that hit without a bounce
# (examples/08_passive_walker.c); round feet that take time to stop walk faster, here by 5 % ---
expect 0 simulate rimless_wheel.talus -q -e 5 -a 1e-6 --every 0.005 -o walk.sto
middle=$(rows walk.sto '{ k = int(-x["turn"] / 0.78539816339744831 + 0.5)
    if (k > steps) { steps = k; speed = -x["wheel.u0"] } }
    END { print speed }')
near "$middle" 1.45 0.1 'speed in the middle of a step'
less "$(last walk.sto turn)" -9 'turn of the wheel after 5 s'

# At the default accuracy, too, rows show no energy that the wheel has not: a speed of 1.3 m/s is
# held to a quarter of 1e-3, which is 4e-3 J of 10 kg, and two rows differ by twice as much at most.
# (It was 1.7 J.)
expect 0 simulate rimless_wheel.talus -q -o walk.sto
gain=$(rows walk.sto '{ e = x["total_energy"]
    if (seen++ && e - before > gain) gain = e - before
    before = e } END { print gain + 0 }')
less "$gain" 8e-3 'energy gained between two rows'

# --- octane: without van der Waals gauche and cis lie 2.93 and 44.8 kJ/mol above trans; without a
# bath energy is kept; in it each of 11 speeds has kT / 2 on average. Samples 0.1 ps apart are all
# but independent at a friction of 10/ps; of 500 the mean is known to sqrt(2/11/500) = 1.9 %, and
# four times that is allowed ---
expect 0 simulate octane.talus -q -e 1 --step 0.002 -s friction=0 -s depth=0 -s dihedral=80 \
    -o free.sto
less "$(drift free.sto total_energy)" 1e-6 'energy of octane'
near "$(first free.sto potential_energy)" \
    '9.28 + (c = cos(100 * pi / 180)) * (12.16 + c * (-13.12 + c * (-3.06 + c * (26.24 - 31.5 * c))))' \
    1e-5 'energy of a torsion'
expect 0 simulate octane.talus -q -e 0.01 --step 0.002 -s depth=0 -s dihedral=0 -o cis.sto
near "$(first cis.sto potential_energy)" 44.8 1e-9 'energy of cis octane'
expect 0 simulate octane.talus -q -e 52 --every 0.1 --step 0.002 -o bath.sto
kinetic=$(rows bath.sto 'x["time"] > 2 { sum += x["kinetic_energy"]; n++ } END { print sum / n }')
near "$kinetic" '5.5 * 2.494339' 1.05 'mean kinetic energy of octane'

# --- a coin rolls in a circle: after 2 pi / 2.5 s it is where it began, half of that before on the
# other side; it keeps its tilt and its energy. The radius of the circle of its center is r w3 / W,
# by the equation in the file. Steps are accurate to 1e-9 of a change of one ---
expect 0 check rolling_disk.talus -q
expect 0 simulate rolling_disk.talus -q -e 2.5132741228718345 --every 1.25663706143591725 -a 1e-9 \
    -o coin.sto
radius='(9.81 * 0.3 - 0.25 * 0.09 * 6.25 * sin(pi / 3)) * 0.5 / (1.5 * 0.09 * 2.5 * sin(pi / 3)) * 0.3 / 2.5'
near "$(rows coin.sto 'NR == 3 { y = x["coin.q5"] } END { print y }')" "2 * $radius" 1e-7 \
    'the far side of the circle'
near "$(rows coin.sto 'NR == 3 { y = x["coin.q4"] } END { print y }')" 0 1e-7 'the far side, across'
near "$(last coin.sto coin.q4)" 0 1e-7 'the end of the circle'
near "$(last coin.sto coin.q5)" 0 1e-7 'the end of the circle, across'
less "$(drift coin.sto coin.q6)" 1e-8 'height of the coin'
less "$(drift coin.sto total_energy)" 1e-8 'energy of the coin'
less "$(last coin.sto velocity_error)" 1e-8 'slip of the coin'

# --- hard contacts: impacts and changes as talus simulate --events lists them ---
event() { # NUMBER COLUMN KIND: of the n-th line of a kind
    awk -F , -v n="$1" -v c="$2" -v kind="$3" '$3 == kind && ++k == n { print $c }' events.csv
}

# bouncing ball: flights of 2 e^n sqrt(2 h / g); it rests where they pile up
expect 0 simulate bouncing_ball.talus -q -e 5 -a 1e-8 -o ball.sto --events events.csv
near "$(event 1 1 impact)" 'sqrt(2 / 9.81)' 1e-9 'first impact of the ball'
near "$(event 3 1 impact)" 'sqrt(2 / 9.81) * (1 + 2 * 0.8 + 2 * 0.64)' 1e-9 'its third impact'
near "$(event 1 1 closes)" 'sqrt(2 / 9.81) * 9' 1e-5 'when the ball lies still'
near "$(last ball.sto push)" '0.5 * 9.81' 1e-9 'weight of the ball'

# rocking block: Housner's first impacts, by a quadrature of the specification, and the rate left
expect 0 simulate rocking_block.talus -q -e 20 -a 1e-8 -o rock.sto --events events.csv
near "$(event 1 1 impact)" 0.292540372468 1e-6 'first impact of the block'
near "$(last rock.sto tilt)" 0 1e-6 'tilt of the block in the end'
near "$(last rock.sto 'left foot')" '9.81 / 2' 1e-6 'half of its weight'

# rope pendulum: it falls 0.8 m, and the rope stops 0.8 of its speed
expect 0 simulate rope_pendulum.talus -q -e 2 -a 1e-9 -o rope.sto --events events.csv
near "$(event 1 1 impact)" 'sqrt(1.6 / 9.81)' 1e-9 'when the rope is taut'
near "$(event 1 6 impact)" '2 * 0.8 * sqrt(1.6 * 9.81)' 1e-8 'impulse of the rope'

# stick and slip, as its comment says
expect 0 simulate stick_slip.talus -q -e 4 -a 1e-9 -o slip.sto --events events.csv
near "$(event 1 1 slips)" '0.4 * 9.81 / 5' 1e-8 'first slip of the block'
w=7.0710678118654755 d=0.01962
near "$(event 2 1 sticks)" \
    "0.4 * 9.81 / 5 + (pi + 2 * atan2(0.1, $w * $d)) / $w" 1e-7 'when it sticks again'
near "$(event 2 1 slips)" \
    "0.4 * 9.81 / 5 + (pi + 2 * atan2(0.1, $w * $d)) / $w + 2 * $d / 0.1" 1e-7 'its second slip'

# ratchet: held from the time the rate is zero until the torque is positive again
expect 0 simulate ratchet.talus -q -e 5 -a 1e-9 -o ratchet.sto --events events.csv
near "$(event 1 1 closes)" 'pi / 4' 1e-8 'when the pawl holds'
near "$(event 1 1 opens)" 'pi * 3 / 8' 1e-8 'when it lets go'
near "$(last ratchet.sto turn)" '0.5 + 5 - pi * 3 / 8 - cos(20) / 4' 1e-7 'turn of the wheel'

# hard wheel: the same step again and again
expect 0 simulate hard_wheel.talus -q -e 4 -a 1e-9 -o wheel.sto --events events.csv
near "$(event 1 1 impact)" '2.213869429331347 / sqrt(9.81)' 1e-8 'first step of the hard wheel'
near "$(event 5 1 impact)" '5 * 2.213869429331347 / sqrt(9.81)' 1e-7 'its fifth step'

# --- three bodies on a slope, by fixed steps of 1e-3 s: after n steps of constant acceleration a
# the way is a h^2 n (n + 1) / 2; the block that sticks does not creep. The same after writing the
# model to a file and reading it again ---
expect 0 convert slope.talus -q -o again.talus
for model in slope.talus again.talus; do
    expect 0 simulate "$model" -q --stepper contact --step 1e-3 -e 1 --every 0.5 -o slope.sto
    near "$(last slope.sto slider.q4)" '9.81 * (0.5 - 0.2 * sqrt(0.75)) * 0.5005' 1e-9 \
        'a block slides'
    near "$(last slope.sto stone.q4)" 0 1e-12 'a block sticks'
    near "$(last slope.sto ball.q4)" '5 / 7 * 4.905 * 0.5005' 1e-9 'a ball rolls'
    near "$(last slope.sto ball.q6)" 0.1 1e-9 'height of the ball'
done
expect 0 simulate slope.talus -e 0.1 -o slope.sto
has err 'integrators ignore the colliders of this model: use simulate --stepper contact, or'

# --- the same by an integrator, with elements in the places of colliders, which a file keeps ---
sed 's/version="1"/& collider_elements="yes"/; s/body="\(slider\|stone\|ball\)"/& cliques="1"/' \
    slope.talus >elements.talus
expect 0 convert elements.talus -q -o again.talus
expect 0 convert again.talus -q -o once_more.talus
cmp -s again.talus once_more.talus || complain 'elements of colliders are written twice'
for model in elements.talus again.talus; do
    expect 0 simulate "$model" -a 1e-9 -e 1 --every 0.5 -o slope.sto
    ! grep -q 'ignore the colliders' err || complain 'a warning of colliders that are elements'
    near "$(last slope.sto slider.q4)" '9.81 * (0.5 - 0.2 * sqrt(0.75)) * 0.5' 1e-7 'it slides'
    near "$(last slope.sto stone.q4)" 0 1e-12 'a block sticks'
    near "$(last slope.sto ball.q4)" '5 / 7 * 4.905 * 0.5' 1e-7 'a ball rolls'
done
expect 3 check "$(sed 's/ cliques="1"//' elements.talus >meet.talus && echo meet.talus)"
has err "'smooth' and 'rough' cannot be made unilateral elements"

expect 2 simulate slope.talus -q --stepper contacts -o slope.sto
has err "--stepper is integrator or contact, not 'contacts'"

# --- the four-bar of A02 by fixed steps: each formulation that covers it comes to the angle of the
# integrator, by an error of second order of 1e-3 ---
expect 0 simulate four_bar.talus -q -a 1e-10 -e 0.5 -o exact.sto
angle=$(last exact.sto crank.q0)
for formulation in hybrid semi-recursive fully-recursive welch baumgarte; do
    expect 0 simulate four_bar.talus -q --formulation $formulation --step 2e-3 -e 0.5 -o fixed.sto
    near "$(last fixed.sto crank.q0)" "$angle" 1e-3 "a four-bar by $formulation"
done
expect 0 simulate four_bar.talus -q --formulation hybrid --stepper generalized-alpha -e 0.1 \
    -o fixed.sto
sed 's/units="deg"/& fixed_steps="yes"/' four_bar.talus >fixed.talus
expect 0 convert fixed.talus -q -o again.talus
has again.talus 'fixed_steps="yes"'
expect 0 simulate again.talus -q --formulation global --step 5e-4 -e 0.5 -o fixed.sto
near "$(last fixed.sto crank.q0)" "$angle" 1e-3 'a four-bar by global, from a file that was written'
expect 2 simulate four_bar.talus -q --formulation hybird -e 0.1 -o fixed.sto
has err "there is no --formulation 'hybird' (did you mean 'hybrid'?)"
expect 2 simulate four_bar.talus -q --stepper newmark -e 0.1 -o fixed.sto
has err '--stepper newmark needs a --formulation'
expect 1 simulate four_bar.talus -q --formulation welch --stepper newmark -e 0.1 -o fixed.sto
has err "the scheme 'newmark' does not go with the formulation 'welch'"
cat >box.urdf <<'END'
<robot name="box"><link name="base">
<inertial><origin xyz="0 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 0.4"/><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
<collision><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision>
</link></robot>
END
expect 0 simulate box.urdf -q --free-base --colliders --stepper contact --start base_tz=0.3 \
    -e 1 -o box.sto
near "$(last box.sto base_tz)" 0.1 1e-5 'a robot that has fallen onto the floor'
finish
