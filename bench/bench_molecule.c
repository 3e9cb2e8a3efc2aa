// What molecules cost: a Lennard-Jones fluid by size and processor; a chain in torsions, its
// Fixman potential and its steps, against its forward dynamics.
//
// Aims: of the fluid of 4000 atoms 300 ns for an atom and step with AVX-512, 350 with AVX2, with
// lists that are checked at every step and exact sums; the same within 15 % up to a million atoms;
// no allocation. Of the chain: Fixman's potential for 0.4 times the forward dynamics. Of a peptide
// of 22 atoms: forces and accelerations in 4 us. The fluid is
// that of LAMMPS' bench: density 0.8442, cutoff 2.5, skin 0.3, a step of 0.005, melting from a
// lattice at temperature 1.44, in units of sigma, epsilon and mass.
#include "bench.h"
#include "count_alloc.h"
#include "term/instance_internal.h"

#include <talus/molecule.h>
#include <talus/study.h>

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

// ---- a chain in torsions

typedef struct chain {
    fluid f;
    tal_md *md;
    const tal_matter *matter;
    double *udot;
} chain;

static void add_chain(fluid *f, int n)
{
    tal_error err;
    tal_vec3 *x = calloc((size_t)n, sizeof *x);
    if (x == NULL) exit(EXIT_FAILURE);
    require(tal_ff_create(NULL, NULL, &f->ff, &err), err.message);
    tal_ff_class_def site = tal_ff_class_def_default();
    site.name = "C";
    const int type = tal_ff_add_type(f->ff, "C", tal_ff_add_class(f->ff, &site), 0.0);
    (void)tal_ff_set_type_mass(f->ff, type, 14.027);
    require(tal_ff_freeze(f->ff, &err), err.message);
    const tal_mol_def bare = {.only_added = true};
    require(tal_mol_create(f->ff, &bare, NULL, &f->mol, &err), err.message);
    for (int i = 0; i < n; ++i) {
        x[i] = tal_v3(0.126 * i, 0.043 * (i % 2), 0.02 * (i % 3));
        (void)tal_mol_add_atom(f->mol, type, "C", 1, "");
        if (i > 0) (void)tal_mol_add_bond(f->mol, i - 1, i, 1);
    }
    require(tal_mol_set_positions(f->mol, x, n), "positions");
    require(tal_mol_freeze(f->mol, &err), err.message);
    free(x);
}

static void find_accelerations(void *context, long count)
{
    chain *c = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_upd_q(c->f.state);
        require(tal_system_realize(c->f.system, c->f.state, TAL_STAGE_VELOCITY), "velocity");
        require(tal_matter_forward_dynamics(c->matter, c->f.state, NULL, NULL, c->udot, NULL),
                "forward dynamics");
    }
}

// The articulated inertias are there already: what Fixman's potential adds to forward dynamics.
static void find_fixman(void *context, long count)
{
    chain *c = context;
    for (long i = 0; i < count; ++i) {
        const double T = 300.0 + (double)(i % 2);
        require(tal_mol_set_fixman_temperature(c->f.atoms, c->f.state, T), "temperature");
        const double *energy = tal_cache_realize(c->f.system, c->f.state, c->f.atoms->fixman);
        if (energy == NULL) exit(EXIT_FAILURE);
    }
}

static void run_chain(void *context, long count)
{
    chain *c = context;
    require(tal_md_run(c->md, c->f.state, (int)count), tal_md_error(c->md)->message);
}

static void bench_chain(int n)
{
    tal_error err;
    chain c = {.f = {.step = 0.002}};
    add_chain(&c.f, n);
    c.f.system = tal_system_create(NULL);
    c.f.matter = tal_matter_create(c.f.system);
    c.f.forces = tal_forces_create(c.f.system, c.f.matter);
    c.matter = c.f.matter;
    c.f.atoms = (tal_mol_instance *)tal_mol_add(c.f.system, c.f.matter, c.f.forces, "chain",
                                                c.f.mol, NULL, NULL);
    require(tal_system_realize_topology(c.f.system, &err), err.message);
    require(tal_state_create(c.f.system, &c.f.state, &err), err.message);
    require(tal_mol_set_scale(c.f.atoms, c.f.state, TAL_MOL_SCALE_VDW, 0.0), "scale");
    require(tal_system_realize(c.f.system, c.f.state, TAL_STAGE_POSITION), "positions");
    require(tal_mol_set_random_velocities(c.f.atoms, c.f.state, 300.0, 1), "velocities");
    require(tal_system_realize(c.f.system, c.f.state, TAL_STAGE_DYNAMICS), "dynamics");
    c.udot = calloc((size_t)tal_matter_nu(c.f.matter), sizeof *c.udot);
    tal_md_def def = tal_md_def_default();
    def.bath = TAL_MD_LANGEVIN;
    def.step = 0.002;
    def.kT = TAL_MOL_R * 300.0;
    require(tal_md_create(c.f.system, &def, &c.md, &err), err.message);
    bench rows[2] = {{.name = "forward dynamics", .run = find_accelerations, .context = &c},
                     {.name = "fixman", .run = find_fixman, .context = &c}};
    bench_measure(rows, 2, 21, 1e7);
    bench step = {.name = "step", .run = run_chain, .context = &c};
    bench_measure(&step, 1, 5, 1e8);
    (void)printf("  %d sites: forward dynamics %.1f us, Fixman's potential %.2f of it (aim: 0.4), "
                 "a step with friction and noise, and pairs of all sites, %.1f us\n",
                 n, 1e-3 * rows[0].least, rows[1].least / rows[0].least, 1e-3 * step.least);
    tal_md_destroy(c.md);
    free(c.udot);
    tear_down(&c.f);
}

// ---- a peptide of the size of alanine's, with caps

enum {
    PEPTIDE = 22
};

// Atoms behind their neighbors: the first is the carbon of a methyl group.
static const int hangs_on[PEPTIDE] = {-1, 0,  0,  0, 0,  4,  4,  6,  6,  8,  8,
                                      10, 10, 10, 8, 14, 14, 16, 16, 18, 18, 18};
static const int kinds[PEPTIDE] = {0, 1, 1, 1, 0, 2, 3, 1, 0, 1, 0,
                                   1, 1, 1, 0, 2, 3, 1, 0, 1, 1, 1};

// Four directions that are far from each other, and those opposite to them.
static tal_vec3 bond_to(int i, int nth)
{
    static const tal_vec3 d[4] = {
        {1.0, 1.0, 1.0}, {1.0, -1.0, -1.0}, {-1.0, 1.0, -1.0}, {-1.0, -1.0, 1.0}};
    const double side = (hangs_on[i] + nth) % 2 == 0 ? 1.0 : -1.0;
    return tal_v3_scale(side * 0.14 / sqrt(3.0), d[(i + nth) % 4]);
}

static void add_peptide(fluid *f)
{
    static const int elements[4] = {6, 1, 8, 7};
    static const double sizes[4] = {0.34, 0.11, 0.3, 0.325}, charges[4] = {0.1, 0.1, -0.5, -0.4};
    const tal_ff_wave waves[2] = {{1, 2.0, 0.0}, {3, 0.8, 0.0}};
    tal_error err;
    tal_vec3 x[PEPTIDE] = {{0.0, 0.0, 0.0}};
    require(tal_ff_create(NULL, NULL, &f->ff, &err), err.message);
    for (int k = 0; k < 4; ++k) {
        tal_ff_class_def kind = tal_ff_class_def_default();
        kind.name = tal_element_symbol(elements[k]);
        kind.element = elements[k];
        kind.size = sizes[k];
        kind.well_depth = 0.4;
        (void)tal_ff_add_type(f->ff, kind.name, tal_ff_add_class(f->ff, &kind), charges[k]);
    }
    for (int k = 0; k < 16; ++k) {
        if (k / 4 > k % 4) continue;
        (void)tal_ff_add_torsion(f->ff, TAL_FF_ANY, k / 4, k % 4, TAL_FF_ANY, waves, 2);
    }
    require(tal_ff_freeze(f->ff, &err), err.message);
    const tal_mol_def known = {.allow_missing = true};
    require(tal_mol_create(f->ff, &known, NULL, &f->mol, &err), err.message);
    for (int i = 0, nth = 0; i < PEPTIDE; ++i) {
        (void)tal_mol_add_atom(f->mol, kinds[i], "X", 1, "");
        if (i == 0) continue;
        nth = hangs_on[i] == hangs_on[i - 1] ? nth + 1 : 0;
        (void)tal_mol_add_bond(f->mol, hangs_on[i], i, 1);
        x[i] = tal_v3_add(x[hangs_on[i]], bond_to(i, nth));
    }
    require(tal_mol_set_positions(f->mol, x, PEPTIDE), "positions");
    require(tal_mol_freeze(f->mol, &err), err.message);
}

static void find_motion(void *context, long count)
{
    fluid *f = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_upd_q(f->state);
        require(tal_system_realize(f->system, f->state, TAL_STAGE_ACCELERATION),
                tal_state_error(f->state)->message);
    }
}

static void bench_peptide(void)
{
    tal_error err;
    fluid f = {.step = 0.0};
    add_peptide(&f);
    f.system = tal_system_create(NULL);
    f.matter = tal_matter_create(f.system);
    f.forces = tal_forces_create(f.system, f.matter);
    f.atoms =
        (tal_mol_instance *)tal_mol_add(f.system, f.matter, f.forces, "peptide", f.mol, NULL, NULL);
    require(tal_system_realize_topology(f.system, &err), err.message);
    require(tal_state_create(f.system, &f.state, &err), err.message);
    bench rows[2] = {{.name = "forces", .run = find_forces, .context = &f},
                     {.name = "motion", .run = find_motion, .context = &f}};
    bench_measure(rows, 2, 21, 1e7);
    (void)printf("  %d atoms, %d bodies, %d mobilities: forces %.2f us, forces and accelerations "
                 "%.2f us (aim: 4)\n",
                 PEPTIDE, tal_matter_num_bodies(f.matter) - 1, tal_matter_nu(f.matter),
                 1e-3 * rows[0].least, 1e-3 * rows[1].least);
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
    (void)printf("a peptide in torsions\n");
    bench_peptide();
    (void)printf("chain of sites in torsions\n");
    bench_chain(100);
    return EXIT_SUCCESS;
}
