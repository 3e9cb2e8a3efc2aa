// A lipid of twelve beads, as Martini has them: a head of two charges, two beads of glycerol, two
// tails of four beads.
//
//     (+)-(-)-o-x-x-x-x
//             |
//             o-x-x-x-x
//
// Once its beads are free, and springs hold them at their distances; once they are balls on sticks,
// whose lengths are constant and whose directions are not, and the three beads in the middle are
// one body. Energies and forces on beads are the same at both granularities; the sticks keep the
// energy better where steps are long.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    BEADS = 12,
    BONDS = BEADS - 1,
    KINDS = 4 // positive, negative, glycerol, tail
};

static const int bonds[BONDS][2] = {{0, 1}, {1, 2}, {2, 3}, {2, 4},  {4, 5},  {5, 6},
                                    {6, 7}, {3, 8}, {8, 9}, {9, 10}, {10, 11}};
static const double KELVIN = 310.0;

static tal_ff *make_field(void)
{
    static const char *const names[KINDS] = {"Q0", "Qa", "Na", "C1"};
    static const double charges[KINDS] = {1.0, -1.0, 0.0, 0.0};
    // depths of pairs [kJ/mol], by levels of attraction; charges and tails are farther apart
    static const double depths[KINDS][KINDS] = {
        {3.5, 4.5, 4.0, 2.0}, {4.5, 5.0, 4.0, 2.0}, {4.0, 4.0, 4.0, 2.7}, {2.0, 2.0, 2.7, 3.5}};
    tal_ff_def def = tal_ff_def_default();
    tal_ff *ff = NULL;
    tal_error err;
    def.vdw_scale[1] = def.coulomb_scale[1] = 1.0; // only neighbors do not interact
    if (tal_ff_create(&def, NULL, &ff, &err) != TAL_OK) return NULL;
    for (int k = 0; k < KINDS; ++k) {
        tal_ff_class_def bead = tal_ff_class_def_default();
        bead.name = names[k];
        bead.size = 0.47;
        bead.well_depth = depths[k][k];
        const int type = tal_ff_add_type(ff, names[k], tal_ff_add_class(ff, &bead), charges[k]);
        (void)tal_ff_set_type_mass(ff, type, 72.0); // Da: four waters
    }
    for (int a = 0; a < KINDS; ++a) {
        for (int b = 0; b < a; ++b) {
            const double sigma = a == 3 && b < 2 ? 0.62 : 0.47;
            (void)tal_ff_add_pair(ff, a, b, sigma, depths[a][b]);
        }
    }
    // the tables say how tails bend; Martini's bends are harmonic in the cosine
    (void)tal_ff_add_cosine_bend(ff, 1, 2, 2, 25.0, 120.0 * TAL_MOL_DEGREE);
    (void)tal_ff_add_cosine_bend(ff, 1, 2, 3, 25.0, TAL_PI);
    (void)tal_ff_add_cosine_bend(ff, 2, 3, 3, 25.0, TAL_PI);
    (void)tal_ff_add_cosine_bend(ff, 3, 3, 3, 25.0, TAL_PI);
    return tal_ff_freeze(ff, &err) == TAL_OK ? ff : NULL;
}

static tal_mol *make_lipid(const tal_ff *ff)
{
    static const int kinds[BEADS] = {0, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
    // tails are 0.5 nm apart, and nothing is quite straight
    static const tal_vec3 x[BEADS] = {
        {0.05, 0.02, 1.40},  {0.00, 0.00, 0.93},  {0.02, 0.01, 0.46},  {0.38, 0.03, 0.42},
        {0.00, 0.03, 0.00},  {0.03, 0.00, -0.47}, {0.00, 0.02, -0.94}, {0.04, 0.04, -1.41},
        {0.50, 0.00, -0.03}, {0.52, 0.04, -0.50}, {0.49, 0.01, -0.97}, {0.53, 0.02, -1.43}};
    const tal_mol_def def = {.allow_missing = true};
    tal_error err;
    tal_mol *mol = NULL;
    if (tal_mol_create(ff, &def, NULL, &mol, &err) != TAL_OK) return NULL;
    for (int i = 0; i < BEADS; ++i) {
        (void)tal_mol_add_atom(mol, kinds[i], "B", 1, "");
    }
    for (int b = 0; b < BONDS; ++b) {
        const int *at = bonds[b];
        (void)tal_mol_add_bond(mol, at[0], at[1], 1);
        (void)tal_mol_add_stretch(mol, at[0], at[1], 625.0, b == 2 ? 0.37 : 0.47);
    }
    (void)tal_mol_set_positions(mol, x, BEADS);
    return tal_mol_freeze(mol, &err) == TAL_OK ? mol : NULL;
}

// A lipid at one granularity.
typedef struct scene {
    tal_system *system;
    tal_state *state;
    const tal_mol_instance *lipid;
} scene;

static tal_status begin(scene *s, const tal_mol *mol, const tal_mol_granularity *how)
{
    tal_error err;
    s->system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(s->system);
    tal_forces *forces = tal_forces_create(s->system, matter);
    s->lipid = tal_mol_add(s->system, matter, forces, "lipid", mol, how, NULL);
    tal_status st = tal_system_realize_topology(s->system, &err);
    if (st == TAL_OK) st = tal_state_create(s->system, &s->state, &err);
    if (st == TAL_OK) st = tal_system_realize(s->system, s->state, TAL_STAGE_MODEL);
    tal_mol_nonbonded pairs = tal_mol_nonbonded_default();
    pairs.vdw = (tal_mol_range){TAL_CUTOFF_FORCE_SWITCH, 0.9, 1.2};
    pairs.coulomb = (tal_mol_range){TAL_CUTOFF_FORCE_SWITCH, 0.0, 1.2};
    pairs.permittivity = 15.0;
    if (st == TAL_OK) st = tal_mol_set_nonbonded(s->lipid, s->state, &pairs);
    return st == TAL_OK ? tal_system_realize(s->system, s->state, TAL_STAGE_POSITION) : st;
}

static void end(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
}

static tal_status show(const char *what, const scene *s)
{
    tal_mol_energy e;
    const tal_mol_statistics made = tal_mol_instance_statistics(s->lipid);
    const tal_status st = tal_mol_calc_energy(s->lipid, s->state, &e);
    printf("%s: %d mobilities; pairs %.4f, bends %.4f, constant %.4f, total %.4f kJ/mol\n", what,
           made.nu, e.vdw + e.coulomb, e.bend, e.frozen, e.total);
    return st;
}

// The largest difference of forces on beads.
static double compare(const scene *a, const scene *b)
{
    tal_vec3 f[BEADS], g[BEADS];
    double most = 0.0;
    if (tal_mol_calc_forces(a->lipid, a->state, f, BEADS) != TAL_OK ||
        tal_mol_calc_forces(b->lipid, b->state, g, BEADS) != TAL_OK) {
        return 1e300;
    }
    for (int i = 0; i < BEADS; ++i) {
        most = fmax(most, tal_v3_norm(tal_v3_sub(f[i], g[i])));
    }
    return most;
}

// How much the energy changes in 5 ps by itself with steps of a length.
static tal_status drift(const scene *s, double step, double *change)
{
    tal_md *md = NULL;
    tal_error err;
    tal_md_def def = tal_md_def_default();
    def.step = step;
    tal_status st = tal_mol_set_random_velocities(s->lipid, s->state, KELVIN, 5);
    if (st == TAL_OK) st = tal_md_create(s->system, &def, &md, &err);
    if (st == TAL_OK) {
        const double before = tal_md_report_of(md, s->state).conserved;
        st = tal_md_run(md, s->state, (int)lrint(5.0 / step));
        *change = fabs(tal_md_report_of(md, s->state).conserved - before);
    }
    tal_md_destroy(md);
    return st;
}

int main(void)
{
    tal_ff *ff = make_field();
    tal_mol *mol = ff != NULL ? make_lipid(ff) : NULL;
    if (mol == NULL) return 1;
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_CARTESIAN;
    scene beads = {NULL, NULL, NULL}, sticks = {NULL, NULL, NULL};
    tal_status st = begin(&beads, mol, &how);

    tal_mol_bond_choice choices[BONDS];
    for (int b = 0; b < BONDS; ++b) {
        const tal_bond_mobility stick = b == 1 || b == 2 ? TAL_BOND_RIGID : TAL_BOND_UNIVERSAL;
        choices[b] = (tal_mol_bond_choice){bonds[b][0], bonds[b][1], stick};
    }
    how.level = TAL_MOL_TORSIONS;
    how.bonds = choices;
    how.num_bonds = BONDS;
    if (st == TAL_OK) st = begin(&sticks, mol, &how);

    if (st == TAL_OK) st = show("beads ", &beads);
    if (st == TAL_OK) st = show("sticks", &sticks);
    double by_beads = 0.0, by_sticks = 0.0;
    if (st == TAL_OK) {
        printf("forces on beads are the same: %s\n",
               compare(&beads, &sticks) < 1e-8 ? "yes" : "no");
        st = drift(&beads, 0.05, &by_beads);
    }
    if (st == TAL_OK) st = drift(&sticks, 0.05, &by_sticks);
    if (st == TAL_OK) {
        printf("steps of 50 fs: sticks keep the energy better than beads: %s\n",
               by_sticks < by_beads ? "yes" : "no");
    }
    if (st != TAL_OK) puts(tal_status_text(st));
    end(&sticks);
    end(&beads);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
    return st == TAL_OK ? 0 : 1;
}
