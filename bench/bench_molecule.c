// What molecules cost: a Lennard-Jones fluid by size and processor, a small peptide.
//
// Aims: 300 ns for an atom and step of the fluid of 4000 atoms with AVX-512, 350 with AVX2, with
// lists that are checked at every step and exact sums; the same within 15 % up to a million atoms;
// no allocation. The fluid is that of LAMMPS' bench: density 0.8442, cutoff 2.5, skin 0.3, a step
// of 0.005, melting from a lattice at temperature 1.44, in units of sigma, epsilon and mass.
#include "bench.h"
#include "count_alloc.h"
#include "term/instance_internal.h"

#include <talus/molecule.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double SIGMA = 0.3405, EPSILON = 0.99607, MASS = 39.948; // argon

typedef struct fluid {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_mol_instance *atoms;
    double step;
} fluid;

static void require(tal_status st, const char *why)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "%s: %s\n", tal_status_name(st), why);
    exit(EXIT_FAILURE);
}

static void add_argon(fluid *f, int cells, double edge)
{
    tal_error err;
    const int n = 4 * cells * cells * cells;
    tal_vec3 *x = calloc((size_t)n, sizeof *x);
    if (x == NULL) exit(EXIT_FAILURE);
    require(tal_ff_create(NULL, NULL, &f->ff, &err), err.message);
    tal_ff_class_def argon = tal_ff_class_def_default();
    argon.name = "Ar";
    argon.size = SIGMA;
    argon.well_depth = EPSILON;
    (void)tal_ff_set_type_mass(
        f->ff, tal_ff_add_type(f->ff, "Ar", tal_ff_add_class(f->ff, &argon), 0.0), MASS);
    require(tal_ff_freeze(f->ff, &err), err.message);
    require(tal_mol_create(f->ff, NULL, NULL, &f->mol, &err), err.message);
    for (int i = 0; i < n; ++i) { // a lattice of cubes with atoms on corners and faces
        const int cell = i / 4, k = i % 4;
        const double a = edge / cells;
        x[i] = tal_v3(a * (cell / (cells * cells) + (k == 1 || k == 2 ? 0.5 : 0.0)),
                      a * (cell / cells % cells + (k == 1 || k == 3 ? 0.5 : 0.0)),
                      a * (cell % cells + (k > 1 ? 0.5 : 0.0)));
        (void)tal_mol_add_atom(f->mol, 0, "Ar", 1, "");
    }
    require(tal_mol_set_positions(f->mol, x, n), "positions");
    require(tal_mol_freeze(f->mol, &err), err.message);
    free(x);
}

static void build(fluid *f, int cells, double skin)
{
    tal_error err;
    const double edge = cells * cbrt(4.0 / 0.8442) * SIGMA;
    *f = (fluid){.step = 0.005 * SIGMA * sqrt(MASS / EPSILON)};
    add_argon(f, cells, edge);
    f->system = tal_system_create(NULL);
    f->matter = tal_matter_create(f->system);
    f->forces = tal_forces_create(f->system, f->matter);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_CARTESIAN;
    how.list_room = 32;
    f->atoms = (tal_mol_instance *)tal_mol_add(f->system, f->matter, f->forces, "argon", f->mol,
                                               &how, NULL);
    require(tal_system_realize_topology(f->system, &err), err.message);
    require(tal_state_create(f->system, &f->state, &err), err.message);
    tal_mol_nonbonded set = tal_mol_nonbonded_default();
    set.vdw = (tal_mol_range){TAL_CUTOFF_TRUNCATE, 0.0, 2.5 * SIGMA};
    set.coulomb = set.vdw;
    set.box = tal_v3(edge, edge, edge);
    set.skin = skin * SIGMA;
    require(tal_mol_set_nonbonded(f->atoms, f->state, &set), tal_state_error(f->state)->message);
    require(tal_system_realize(f->system, f->state, TAL_STAGE_POSITION), "positions");
    require(tal_mol_set_random_velocities(f->atoms, f->state, 1.44 * EPSILON / TAL_MOL_R, 1),
            "velocities");
}

static void tear_down(fluid *f)
{
    tal_state_destroy(f->state);
    tal_system_destroy(f->system);
    tal_mol_destroy(f->mol);
    tal_ff_destroy(f->ff);
}

// Leapfrog by hand: what every method must do for a step, and nothing else.
static void take_steps(void *context, long count)
{
    fluid *f = context;
    const int n = tal_state_nu(f->state);
    for (long i = 0; i < count; ++i) {
        require(tal_system_realize(f->system, f->state, TAL_STAGE_ACCELERATION),
                tal_state_error(f->state)->message);
        const double *udot = tal_state_udot(f->state);
        double *u = tal_state_upd_u(f->state);
        for (int k = 0; k < n; ++k) {
            u[k] += f->step * udot[k];
        }
        double *q = tal_state_upd_q(f->state);
        for (int k = 0; k < n; ++k) {
            q[k] += f->step * u[k];
        }
    }
}

static void find_forces(void *context, long count)
{
    fluid *f = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_upd_q(f->state);
        require(tal_system_realize(f->system, f->state, TAL_STAGE_DYNAMICS),
                tal_state_error(f->state)->message);
    }
}

static void bench_fluid(int cells, tali_processor processor)
{
    static const char *const names[TALI_NUM_PROCESSORS] = {"any x86-64", "AVX2", "AVX-512"};
    tali_lanes_kernels kernels;
    if (!tali_lanes_for(processor, &kernels)) return;
    fluid f;
    build(&f, cells, 0.3);
    f.atoms->kernels = kernels;
    const int n = tal_mol_num_atoms(f.mol);
    take_steps(&f, n < 20000 ? 200 : 40); // it melts
    const long before = allocations();
    take_steps(&f, 20);
    const long allocated = allocations() - before;
    bench row = {.name = "step", .run = take_steps, .context = &f};
    bench_measure(&row, 1, n < 20000 ? 21 : 5, 4e8);
    bench still = {.name = "forces", .run = find_forces, .context = &f};
    bench_measure(&still, 1, 5, 1e8);
    const tal_mol_list list = tal_mol_list_of(f.atoms, f.state);
    (void)printf("  %7d atoms, %-10s  a step %6.1f ns for each atom, of which forces %6.1f; %4.1f "
                 "clusters near; allocations: %ld\n",
                 n, names[processor], row.least / n, still.least / n, (double)list.num_entries / n,
                 allocated);
    tear_down(&f);
}

int main(void)
{
#ifndef NDEBUG
    (void)printf("asserts are on: invalid results are filled with NaN, which costs time\n");
#endif
    (void)printf("Lennard-Jones fluid (aim: 300 ns with AVX-512, 350 with AVX2)\n");
    for (int p = 0; p < TALI_NUM_PROCESSORS; ++p) {
        bench_fluid(10, (tali_processor)p);
    }
    bench_fluid(20, TALI_PROCESSOR_AVX512);
    bench_fluid(40, TALI_PROCESSOR_AVX512);
    return EXIT_SUCCESS;
}
