#!/usr/bin/env bash
# optimize.sh TALUS SOURCE_DIR
# talus optimize finds motions whose cost is known in closed form or was published.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# objective, end and difference of the report in out
found() { # KEY
    python3 -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"
}

# A block of 2 kg by 3 m within 1.5 s, from rest to rest: the least integral of u^2 is
# 12 m^2 d^2 / T^3, with a control that falls linearly; Hermite-Simpson has it in its polynomials.
cat >block.talus <<'END'
<talus version="1" name="block"><param name="m" value="2"/>
<bodies><slider name="block" mass="$m"/></bodies>
<forces>
<mobility_actuator name="motor" mobility="block" gain="1" least="-20" largest="20"/></forces>
</talus>
END
there='--final block.q0=3 --final block.u0=0'
# shellcheck disable=SC2086 # several words
expect 0 optimize block.talus --json -e 1.5 $there -n 5
near "$(found objective)" '12 * 4 * 9 / 1.5^3' 1e-6 'least effort'
less "$(found gap_to_a_simulation)" 1e-7 'simulation of the least effort'
# shellcheck disable=SC2086
expect 0 optimize block.talus -q -e 1.5 $there -n 5 -o motion.sto
near "$(last motion.sto block.q0)" 3 1e-8 'where the motion ends'
near "$(first motion.sto 'motor control')" '6 * 2 * 3 / 1.5^2' 1e-6 'control at the start'
near "$(last motion.sto 'motor control')" '-6 * 2 * 3 / 1.5^2' 1e-6 'control at the end'

# Least time: full force one way, then the other, 2 sqrt(d m / F); with --range less force.
# shellcheck disable=SC2086
expect 0 optimize block.talus --json -e 0.2:5 --effort 0 --time 1 $there -n 20
near "$(found end)" '2 * sqrt(3 * 2 / 20)' 1e-5 'least time'
# shellcheck disable=SC2086
expect 0 optimize block.talus --json -e 0.2:5 --effort 0 --time 1 $there -n 20 -r motor=-10:10
near "$(found end)" '2 * sqrt(3 * 2 / 10)' 1e-5 'least time with less force'

# A pendulum of 1 kg and 1 m up in 2 s: 68.130596552 by Pontryagin's equations; 40 intervals are
# off by 7.2e-5.
cat >pole.talus <<'END'
<talus version="1" name="pole">
<bodies><pin name="pole" mass="1" com="0 -1 0"/></bodies>
<forces><gravity g="0 -9.81 0"/><mobility_actuator name="motor" mobility="pole" gain="1"/></forces>
</talus>
END
expect 0 optimize pole.talus --json -e 2 --final pole.q0=3.14159265358979 --final pole.u0=0 -n 40
near "$(found objective)" 68.130596552 1e-4 'swing up'

# --- what is wrong ---
refused() { # CODE SENTENCE ARGUMENT...
    local code=$1 sentence=$2
    shift 2
    expect "$code" optimize "$@"
    is err "$sentence"
}
refused 2 "talus optimize: --end needs SECONDS or LOW:HIGH, not 'soon'." block.talus -e soon
refused 2 "talus optimize: --final needs NAME=VALUE or NAME=LOW:HIGH, not 'block.q0=2:1'." \
    block.talus --final block.q0=2:1
refused 2 "talus optimize: --final: there is no coordinate or speed 'motor'." block.talus \
    --final motor=1
refused 2 "talus optimize: --range: there is no coordinate, speed or actuator 'block.q1' (did you mean 'block.q0'?)." \
    block.talus -r block.q1=1
refused 2 'talus optimize: --effort 0 and --time 0 must not be negative, and one must be positive.' \
    block.talus --effort 0
refused 2 'talus optimize: --power needs a number from 1 on, not 0.5.' block.talus --power 0.5
refused 2 "talus optimize: --method needs hermite-simpson or trapezoid, not 'euler'." block.talus \
    -m euler
expect 2 optimize pendulum.talus --final uper.q0=1
has err "(did you mean 'upper.q0'?)"
# too little force for the time
# shellcheck disable=SC2086
expect 1 optimize block.talus -e 0.5 $there -n 5
cat >free.talus <<'END'
<talus version="1" name="free"><bodies><slider name="block" mass="1"/></bodies></talus>
END
refused 1 'talus optimize: nothing in the model has a control; give it an actuator or a muscle.' \
    free.talus
expect 1 optimize four_bar.talus -e 0.5
has err 'constraint'

finish
