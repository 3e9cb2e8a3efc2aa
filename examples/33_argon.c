// Liquid argon: 256 atoms in a periodic box, with lists of neighbors, by Verlet's method.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    CELLS = 4,
    ATOMS = 4 * CELLS * CELLS * CELLS
};

static const double EDGE = 2.29; // of the box [nm]: 1.4 g/cm^3

// On a lattice of cubes, with atoms on corners and in the middle of faces.
static void place(tal_vec3 x[])
{
    const double a = EDGE / CELLS;
    for (int i = 0; i < ATOMS; ++i) {
        const int cell = i / 4, k = i % 4, layer = cell / (CELLS * CELLS);
        const int row = cell / CELLS % CELLS, column = cell % CELLS;
        x[i] =
            tal_v3(a * (layer + (k == 1 || k == 2 ? 0.5 : 0.0)),
                   a * (row + (k == 1 || k == 3 ? 0.5 : 0.0)), a * (column + (k > 1 ? 0.5 : 0.0)));
    }
}

static tal_ff *make_field(void)
{
    tal_ff *ff = NULL;
    if (tal_ff_create(NULL, NULL, &ff, NULL) != TAL_OK) return NULL;
    tal_ff_class_def argon = tal_ff_class_def_default();
    argon.name = "Ar";
    argon.size = 0.3405;        // sigma [nm]
    argon.well_depth = 0.99607; // epsilon [kJ/mol]
    const int type = tal_ff_add_type(ff, "Ar", tal_ff_add_class(ff, &argon), 0.0);
    (void)tal_ff_set_type_mass(ff, type, 39.948); // Da
    return tal_ff_freeze(ff, NULL) == TAL_OK ? ff : NULL;
}

static tal_mol *make_liquid(const tal_ff *ff)
{
    tal_vec3 x[ATOMS];
    tal_mol *mol = NULL;
    if (ff == NULL || tal_mol_create(ff, NULL, NULL, &mol, NULL) != TAL_OK) return NULL;
    for (int i = 0; i < ATOMS; ++i) {
        (void)tal_mol_add_atom(mol, 0, "Ar", i, "");
    }
    place(x);
    (void)tal_mol_set_positions(mol, x, ATOMS);
    return tal_mol_freeze(mol, NULL) == TAL_OK ? mol : NULL;
}

int main(void)
{
    tal_ff *ff = make_field();
    tal_mol *mol = make_liquid(ff);
    if (mol == NULL) return 1;
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_CARTESIAN; // every atom for itself
    const tal_mol_instance *argon = tal_mol_add(system, matter, forces, "argon", mol, &how, NULL);

    tal_error err;
    tal_state *state = NULL;
    tal_md *md = NULL;
    tal_md_def def = tal_md_def_default();
    def.step = 0.004; // ps
    tal_mol_nonbonded pairs = tal_mol_nonbonded_default();
    pairs.vdw = (tal_mol_range){TAL_CUTOFF_QUINTIC, 0.9, 1.0}; // nm
    pairs.coulomb = pairs.vdw;
    pairs.box = tal_v3(EDGE, EDGE, EDGE);
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_MODEL);
    if (st == TAL_OK) st = tal_mol_set_nonbonded(argon, state, &pairs);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_mol_set_random_velocities(argon, state, 240.0, 7);
    if (st == TAL_OK) st = tal_md_create(system, &def, &md, &err);
    if (st == TAL_OK) {
        const double before = tal_md_report_of(md, state).conserved;
        st = tal_md_run(md, state, 1000);
        const double after = tal_md_report_of(md, state).conserved;
        const double kelvin = tal_mol_calc_temperature(argon, state, 0);
        const tal_mol_list list = tal_mol_list_of(argon, state);
        printf("%d atoms, %d mobilities\n", ATOMS, tal_mol_instance_statistics(argon).nu);
        printf("energy kept to 1 kJ/mol of the whole: %s\n",
               fabs(after - before) < 1.0 ? "yes" : "no");
        printf("the lattice has melted, half of its heat went: %s\n",
               kelvin > 95.0 && kelvin < 160.0 ? "yes" : "no");
        printf("lists were kept for several steps: %s\n",
               list.num_builds > 1 && list.num_builds < 500 ? "yes" : "no");
    }
    if (st != TAL_OK) puts(err.message);
    tal_md_destroy(md);
    tal_state_destroy(state);
    tal_system_destroy(system);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
    return st == TAL_OK ? 0 : 1;
}
