#!/usr/bin/env bash
# molecule_peers.sh
# The Lennard-Jones fluid of bench_molecule by LAMMPS and GROMACS, where they are installed: 4000
# atoms, density 0.8442, cutoff 2.5, on one core. Prints the time of the processor that a step takes
# for each atom: runs of 2200 steps less those of 200, in which it melts. LAMMPS checks its lists at
# every step, as Talus does; GROMACS makes them every ten steps.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
TIMEFORMAT=%U

# seconds of the processor that a command takes
seconds() { # COMMAND...
    { time "$@" >out 2>&1; } 2>&1
}

tell() { # WHO SECONDS_OF_2200 SECONDS_OF_200
    awk -v who="$1" -v all="$2" -v start="$3" 'BEGIN {
        printf "  %-34s a step %6.1f ns for each atom\n", who, (all - start) * 1e9 / 2000 / 4000 }'
}

lammps() {
    cat >in.lj <<'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
fix 1 all nve
run ${steps}
END
    local all start
    all=$(seconds lmp -in in.lj -log none -var steps 2200)
    start=$(seconds lmp -in in.lj -log none -var steps 200)
    tell 'LAMMPS lj/cut, lists checked' "$all" "$start"
}

gromacs() {
    awk 'BEGIN {
        n = 10; edge = n * (4 / 0.8442) ^ (1 / 3) * 0.3405; a = edge / n
        print "argon"; print 4 * n * n * n
        for (i = 0; i < n; ++i) for (j = 0; j < n; ++j) for (k = 0; k < n; ++k)
            for (c = 0; c < 4; ++c) {
                x = a * (i + (c == 1 || c == 2) / 2); y = a * (j + (c == 1 || c == 3) / 2)
                z = a * (k + (c > 1) / 2); ++m
                printf "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", m, "AR", "AR", m, x, y, z
            }
        printf "%.5f %.5f %.5f\n", edge, edge, edge }' >argon.gro
    cat >argon.top <<'END'
[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
AR 18 39.948 0.0 A 0.3405 0.99607
[ moleculetype ]
AR 1
[ atoms ]
1 AR 1 AR AR 1 0.0 39.948
[ system ]
argon
[ molecules ]
AR 4000
END
    local steps times=()
    for steps in 2200 200; do
        printf '%s\n' 'integrator = md' 'dt = 0.0107' "nsteps = $steps" 'cutoff-scheme = Verlet' \
            'verlet-buffer-tolerance = -1' 'nstlist = 10' 'rlist = 0.953' 'rvdw = 0.851' \
            'rcoulomb = 0.851' 'vdw-modifier = None' 'coulombtype = Cut-off' 'gen-vel = yes' \
            'gen-temp = 172.5' 'gen-seed = 1' 'nstcalcenergy = 100' >run.mdp
        gmx grompp -f run.mdp -c argon.gro -p argon.top -o run.tpr -maxwarn 5 >out 2>&1
        times+=("$(seconds gmx mdrun -s run.tpr -nt 1 -pin off)")
    done
    tell 'GROMACS, mixed precision' "${times[@]}"
}

echo 'Lennard-Jones fluid of 4000 atoms by others'
if command -v lmp >/dev/null; then lammps; else echo '  LAMMPS is not installed'; fi
if command -v gmx >/dev/null; then gromacs; else echo '  GROMACS is not installed'; fi
