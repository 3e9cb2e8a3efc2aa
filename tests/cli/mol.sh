#!/usr/bin/env bash
# mol.sh TALUS SOURCE_DIR
# talus mol: formamide and a water molecule of AMBER's files, with parameters of our own.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"
cp "$source_dir"/tests/io/atoms/formamide.* .
atoms=(formamide.prmtop formamide.inpcrd)
cp formamide.prmtop box.prmtop
{
    cat formamide.inpcrd
    printf '%12.7f%12.7f%12.7f%12.7f%12.7f%12.7f\n' 20 20 20 90 90 90
} >box.inpcrd

refused() { # CODE SENTENCE ARGUMENT...
    local code=$1 sentence=$2
    shift 2
    expect "$code" "$@"
    is err "$sentence"
    is out ''
}

# a number of what was printed, by the words before it
said() { # WORDS
    awk -v words="$1" 'substr($0, 1, length(words) + 1) == words " " {
        print substr($0, 25) + 0; exit }' out
}

# --- info ---
expect 0 mol info formamide.prmtop
has out formamide.prmtop
near "$(said atoms)" 9 0 'atoms of a topology'
near "$(said bonds)" 8 0 'bonds of a topology'
near "$(said frames)" 0 0 'frames of a topology'
expect 0 mol info "${atoms[@]}"
near "$(said molecules)" 2 0 'molecules'
near "$(said bodies)" 3 0 'the halves of formamide, and water'
near "$(said mobilities)" 13 0 'six each for two molecules, and a torsion'
near "$(said charge)" 0 0 'charge'
expect 0 mol info "${atoms[@]}" --level cartesian --json
python3 -c 'import json, sys
said = json.load(open("out"))
assert said["mobilities"] == 27 and said["bodies"] == 9, said' || complain "bodies of free atoms"

# --- energy: the numbers are those of tests/io/atoms/test_prmtop.c ---
expect 0 mol energy "${atoms[@]}" --level cartesian --json
python3 - <<'PYTHON' || complain "energies are not those of the formulas"
import json
terms = {row["term"]: row["energy"] for row in json.load(open("out"))["energies"]}
known = {"stretch": 4.42726080034414, "bend": 0.2924536404731306, "torsion": 17.913570553127155,
         "improper": 2.647014154659183, "vdw": 12.892126896978057, "vdw 1-4": -0.14707141282282232,
         "coulomb": -43.360925774352644, "coulomb 1-4": -175.92518954483998}
for name, value in known.items():
    assert abs(terms[name] - value) < 1e-9, (name, terms[name], value)
assert abs(terms["total"] - sum(known.values())) < 1e-8
PYTHON
# constant terms change their row, and the total stays
expect 0 mol energy "${atoms[@]}" --level torsions --json
python3 - <<'PYTHON' || complain "the total depends on the level"
import json
terms = {row["term"]: row["energy"] for row in json.load(open("out"))["energies"]}
assert abs(terms["total"] + 181.26076068641) < 1e-8 and terms["constant"] != 0.0, terms
PYTHON
# AMBER's constant of Coulomb's law is 3.5e-5 smaller
expect 0 mol energy "${atoms[@]}" -l cartesian --amber-coulomb --json
python3 - <<'PYTHON' || complain "--amber-coulomb"
import json
terms = {row["term"]: row["energy"] for row in json.load(open("out"))["energies"]}
assert abs(terms["coulomb"] / -43.360925774352644 - 138.930647714136 / 138.93545764438) < 1e-9
PYTHON
expect 0 mol energy "${atoms[@]}" --born --cutoff 1.2
has out born
# in a box half an edge is the farthest that pairs reach
expect 0 mol energy box.prmtop box.inpcrd
expect 1 mol energy box.prmtop box.inpcrd --cutoff 1.2
expect 0 mol energy box.prmtop box.inpcrd --cutoff 1.2 --vacuum

# --- minimize ---
expect 0 mol minimize "${atoms[@]}" -l bat -o least.pdb --json
python3 -c 'import json
said = json.load(open("out"))
assert "within the tolerance" in said["ended_because"], said
assert said["gained"] > 1.0' || complain "a minimum was not found"
has least.pdb 'HW1 WAT     2'
expect 0 mol energy formamide.prmtop least.pdb -l cartesian
# the forces that are left come from the three decimals of the file: 5e-5 nm at 5e5 kJ/mol/nm^2
less "$(said 'largest force')" 60 'forces at a minimum'

# --- run: the quantity that is conserved; the same bytes again, and after an end in the middle ---
run=(mol run "${atoms[@]}" --time 1 --step 0.0005 --every 0.05 --bath none -l cartesian --seed 3)
expect 0 "${run[@]}" -q -o run.sto --trajectory run.dcd
near "$(last run.sto time)" 1 1e-9 'where the run ends'
[ "$(sed '1,/^endheader/d' run.sto | wc -l)" -eq 22 ] || complain "the run has not 21 rows"
# the result knows its molecule: what is in both of its files, not their names
hash_of() { # FILE
    sed -n 's/^talus_model_hash=//p' "$1"
}
[[ $(hash_of run.sto) =~ ^[0-9a-f]{16}$ ]] || complain "a run does not know its molecule"
for name in prmtop inpcrd; do
    cp formamide.prmtop other.prmtop
    cp formamide.inpcrd other.inpcrd
    short=(mol run other.prmtop other.inpcrd --time 0.1 -q)
    expect 0 "${short[@]}" -o same.sto
    [ "$(hash_of same.sto)" = "$(hash_of run.sto)" ] ||
        complain "names of files change the molecule"
    awk 'NR == 1 { $0 = $0 " " } { print }' formamide.$name >other.$name
    expect 0 "${short[@]}" -o changed.sto
    [ "$(hash_of changed.sto)" != "$(hash_of run.sto)" ] ||
        complain "a change of .$name is not noticed"
done
# steps are a tenth of the shortest period: Verlet's energy swings by a hundredth of kT per bond
less "$(drift run.sto conserved)" 0.5 'energy of an isolated molecule'
expect 0 rerun run.sto
expect 0 plot run.sto -c temperature,conserved -o run.svg
# nothing pushes the whole: random velocities give it a momentum, which stays
near "$(last run.sto momentum)" "$(first run.sto momentum)" 1e-9 'momentum'
near "$(last run.sto angular)" "$(first run.sto angular)" 1e-6 'angular momentum'
expect 0 mol run "${atoms[@]}" --time 0.1 --step 0.002 --every 0.02 --bath ghmc --leaps 5 \
    -o bath.sto --json
python3 -c 'import json
part = json.load(open("out"))["accepted_part"]
assert 0.5 < part <= 1, part' || complain "hybrid Monte Carlo"
for bath in langevin chain rescale; do
    expect 0 mol run "${atoms[@]}" --time 1 --every 0.1 --step 0.001 --bath $bath -q -o bath.sto
    has bath.sto temperature
done
expect 0 mol run "${atoms[@]}" --time 0.1 --fixman -q -o fixman.sto
expect 0 mol info run.dcd
near "$(said frames)" 21 0 'frames of a trajectory'

# --- convert ---
expect 0 mol convert run.dcd --names formamide.prmtop -o run.pdb
[ "$(grep -c '^MODEL' run.pdb)" -eq 21 ] || complain "not all frames became models"
expect 0 mol convert run.dcd --names formamide.prmtop --stride 10 -o some.xyz
[ "$(grep -c '^9$' some.xyz)" -eq 3 ] || complain "--stride 10 does not give three frames"
expect 0 mol convert run.pdb --frame 20 -o last.rst7
expect 0 mol info last.rst7
near "$(said atoms)" 9 0 'atoms of one frame'

# --- fit: torsions alone bring a turned molecule back ---
expect 0 mol run "${atoms[@]}" --time 0.5 --step 0.001 --every 0.5 -q -o turned.sto \
    --trajectory turned.xyz
expect 0 mol convert turned.xyz --frame 1 -o turned.inpcrd
expect 0 mol fit "${atoms[@]}" turned.inpcrd -o fitted.pdb
less "$(said 'rms distance')" 1e-6 'distance after a fit'
has fitted.pdb ATOM

# --- view: a ball for each of nine atoms, two half sticks for each of eight bonds, a box ---
expect 0 mol run "${atoms[@]}" --time 0.2 --coordinates -q -o moving.sto
expect 0 mol view "${atoms[@]}" moving.sto -o moving.json
has out 'frames'
near "$(said frames)" 3 0 'frames of a scene'
python3 -c 'import json
kinds = [shape["kind"] for shape in json.load(open("moving.json"))["shapes"]]
assert kinds.count("sphere") == 9 and kinds.count("cylinder") == 16, kinds' ||
    complain "balls and sticks of a scene"
expect 0 mol view box.prmtop box.inpcrd -q -o box.glb

# --- mistakes ---
refused 2 "talus mol: --out 'x.pdf' should end with .html, .glb or .json." \
    mol view "${atoms[@]}" -o x.pdf
refused 2 "talus mol: 'melt' should be info, energy, minimize, run, view, convert or fit." \
    mol melt formamide.prmtop
refused 2 'talus mol: energy needs a topology (.prmtop) and coordinates.' \
    mol energy formamide.prmtop
refused 2 "talus mol: there is no --level 'torsion' (did you mean 'torsions'?); levels are \
cartesian, bat, torsions, backbone, residues and rigid." mol energy "${atoms[@]}" -l torsion
refused 2 "talus mol: --bath is none, langevin, chain, rescale or ghmc, not 'ice'." \
    mol run "${atoms[@]}" --bath ice
refused 2 'talus mol: --every 0.1 ps is not a whole number of trajectories of 7 steps of 0.002 ps: '"\
see --leaps." mol run "${atoms[@]}" --bath ghmc --leaps 7
refused 2 'talus mol: --every 0.1 ps is not a whole number of steps of 0.03 ps.' \
    mol run "${atoms[@]}" --step 0.03
refused 2 "talus mol: --out 'x.sto' should end with .pdb, .xyz, .inpcrd, .rst7 or .dcd." \
    mol minimize "${atoms[@]}" -o x.sto
refused 2 'talus mol: there is no --frame 7: formamide.inpcrd has 1, from 0 on.' \
    mol convert formamide.inpcrd --frame 7 -o x.xyz
refused 2 'talus mol: name the new file: talus mol convert run.dcd -o FILE.' mol convert run.dcd
refused 2 'talus mol: fit needs a third file, the target.' mol fit "${atoms[@]}"
expect 3 mol info nothing.pdb
has err 'nothing.pdb: error: the file cannot be opened'
expect 3 mol energy formamide.inpcrd formamide.prmtop
sed 's/%FLAG CHARGE/%FLAG CHARGF/' formamide.prmtop >bad.prmtop
expect 3 mol energy bad.prmtop formamide.inpcrd
has err 'bad.prmtop: error: section CHARGE: it is missing'

finish
