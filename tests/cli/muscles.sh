#!/usr/bin/env bash
# muscles.sh TALUS SOURCE_DIR
# talus muscles: lengths, moment arms and forces along a coordinate and along a motion; talus info
# lists muscles.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

lacks() { # FILE TEXT
    ! grep -qF -- "$2" "$1" || complain "'$2' is in $1"
}

# Where a path bears on a cylinder about the axis of a joint, its moment arm is the radius. Along
# the whole range it is minus the slope of the length, by differences over h = 0.027 that are off by
# h l'' / 4 where the path lifts off and l'' jumps by 0.02 at most: 1.4e-4.
expect 0 muscles arm.talus -q --over shoulder -o along.csv
# the columns of a .csv table as those of a .sto table, for rows, first and last
{ printf "\nendheader\n"; grep -v '^#' along.csv | tr , '\t'; } >along.sto
near "$(first along.sto deltoid_front.moment_arm.shoulder)" 0.026 1e-9 'arm of a path on a cylinder'
near "$(last along.sto deltoid_back.moment_arm.shoulder)" -0.026 1e-9 'arm of a path behind it'
slope=$(rows along.sto '{ q[NR] = x["shoulder"]; l[NR] = x["biceps.length"]
    r[NR] = x["biceps.moment_arm.shoulder"] }
    END { for (i in q) if ((i - 1) in q && (i + 1) in q) {
        e = r[i] + (l[i + 1] - l[i - 1]) / (q[i + 1] - q[i - 1]); if (e < 0) e = -e
        if (e > most) most = e } print most + 0 }')
less "$slope" 1.5e-4 'moment arm and slope of the length of the biceps'
near "$(first along.sto shoulder)" -0.7853981633974483 1e-12 'where the range begins'
near "$(last along.sto shoulder)" 1.9198621771937625 1e-12 'where it ends'

# what a muscle does not cross is left out, and what is asked for is there
expect 0 muscles arm.talus -q --over elbow --rows 3 -o elbow.csv
lacks elbow.csv brachialis.moment_arm.shoulder
has elbow.csv brachialis.moment_arm.elbow
expect 0 muscles arm.talus -q --over elbow --rows 3 -m brachialis,biceps --arms shoulder \
    --outputs tendon_strain,fiber_length --from 0.5 --to 1 -o some.csv
lacks some.csv triceps
lacks some.csv moment_arm.elbow
has some.csv brachialis.moment_arm.shoulder
has some.csv brachialis.tendon_strain
[[ $(tail -1 some.csv) == 1,* ]] || complain "the last row is not at --to: $(tail -1 some.csv)"

# Along a motion that has activations and fibers, forces are those of the simulation.
expect 0 simulate arm.talus -q -e 0.4 --every 0.02 -a 1e-6 -c q,z -o reach.sto
expect 0 muscles arm.talus -q reach.sto --outputs fiber_length,activation,tendon_force -o forces.sto
near "$(last forces.sto biceps.fiber_length)" "$(last reach.sto 'biceps.fiber_length[0]')" 1e-12 \
    'fibers of a motion'
near "$(last forces.sto triceps_long.activation)" "$(last reach.sto 'triceps_long.activation[0]')" \
    1e-12 'activations of a motion'
# Without them fibers are in equilibrium: more activation pulls more.
expect 0 simulate arm.talus -q -e 0.4 --every 0.02 -a 1e-6 -c q -o angles.sto
expect 0 muscles arm.talus -q angles.sto --activation 0.1 -o weak.sto
expect 0 muscles arm.talus -q angles.sto --activation 0.8 -o strong.sto
less "$(first weak.sto biceps.tendon_force)" "$(first strong.sto biceps.tendon_force)" \
    'a weak muscle'

# where the arm comes to after a second: dormand-prince at 1e-9 gave these
expect 0 simulate arm.talus -q -e 1 -a 1e-7 -c q -o reach.sto
near "$(last reach.sto shoulder)" 0.92559113 1e-4 'shoulder at the end of the reach'
near "$(last reach.sto elbow)" 1.49139609 1e-4 'elbow at the end of the reach'

# a picture of the table
expect 0 muscles arm.talus -q --over elbow --outputs length --rows 11 -o arms.csv --plot arms.svg
has arms.svg biceps.moment_arm.elbow
expect 0 rerun -q arms.csv

# mistakes
expect 2 muscles arm.talus -q
has err 'either a MOTION or --over'
expect 2 muscles arm.talus -q --over wrist -o x.sto
has err "no coordinate 'wrist'"
expect 2 muscles arm.talus -q --over elbow -m soleus -o x.sto
has err "no muscle 'soleus'"
expect 2 muscles arm.talus -q --over elbow --outputs tendon_forc -o x.sto
has err "did you mean 'tendon_force'?"
expect 2 muscles arm.talus -q --over elbow --plot x.svg
has err '--plot needs -o'
expect 1 muscles knee.talus -q --over "knee angle" -o x.sto
has err 'has no muscles'

# talus info lists muscles with their lengths
expect 0 info arm.talus --json
has out '"muscle": "triceps_long"'
has out '"longest":'

finish
