// A peptide of twelve amino acids folds in torsion space: from a straight chain to a helix.
//
// Bond lengths and angles are rigid, and so are the peptide bonds: two torsions of each amino acid,
// phi and psi, are all that moves. They prefer the values of a helix, and the partial charges of
// C=O and N-H attract each other. A minimizer finds the helix, and a Langevin bath at 300 K shakes
// it. Hydrogen bonds are counted as Kabsch and Sander do: those of a helix are from C=O of each
// amino acid to N-H of the fourth one behind it, eight in a chain of twelve.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    RESIDUES = 12,
    PER_RESIDUE = 5, // N, CA, C, O, H
    ATOMS = RESIDUES * PER_RESIDUE,
    N = 0,
    CA = 1,
    C = 2,
    O = 3,
    H = 4
};

static const double PHI = -57.0, PSI = -47.0; // degrees, of an alpha helix
static const double KELVIN = 300.0;

// Where an atom is at a distance from c, at an angle to b-c, and at a dihedral about it to a.
static tal_vec3 place(tal_vec3 a, tal_vec3 b, tal_vec3 c, double r, double angle, double dihedral)
{
    const tal_vec3 along = tal_v3_normalize(tal_v3_sub(c, b));
    const tal_vec3 normal = tal_v3_normalize(tal_v3_cross(tal_v3_sub(b, a), along));
    const tal_vec3 up = tal_v3_cross(normal, along);
    const double theta = angle * TAL_MOL_DEGREE, phi = dihedral * TAL_MOL_DEGREE;
    return tal_v3_add(c, tal_v3_add(tal_v3_scale(-r * cos(theta), along),
                                    tal_v3_add(tal_v3_scale(r * sin(theta) * cos(phi), up),
                                               tal_v3_scale(r * sin(theta) * sin(phi), normal))));
}

// A straight chain: all dihedrals of the backbone are 180 degrees.
static void build_chain(tal_vec3 x[ATOMS])
{
    tal_vec3 before[3] = {{-0.2, 0.1, 0.0}, {-0.1, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int i = 0; i < RESIDUES; ++i) {
        tal_vec3 *at = x + PER_RESIDUE * i;
        at[N] = place(before[0], before[1], before[2], 0.1329, 117.0, 180.0);
        at[CA] = place(before[1], before[2], at[N], 0.1458, 122.0, 180.0);
        at[C] = place(before[2], at[N], at[CA], 0.1525, 111.0, 180.0);
        at[H] = place(before[1], before[2], at[N], 0.101, 119.0, 0.0);
        at[O] = place(at[N], at[CA], at[C], 0.1231, 120.5, 0.0);
        before[0] = at[N];
        before[1] = at[CA];
        before[2] = at[C];
    }
}

static tal_ff *make_field(void)
{
    // partial charges of Kabsch and Sander
    static const double charges[PER_RESIDUE] = {-0.20, 0.0, 0.42, -0.42, 0.20};
    static const double sizes[PER_RESIDUE] = {0.29, 0.34, 0.32, 0.27, 0.10};
    static const char *const names[PER_RESIDUE] = {"N", "CA", "C", "O", "H"};
    static const int elements[PER_RESIDUE] = {7, 6, 6, 8, 1};
    tal_ff_def def = tal_ff_def_default();
    tal_error err;
    tal_ff *ff = NULL;
    def.vdw_scale[2] = 0.0;
    if (tal_ff_create(&def, NULL, &ff, &err) != TAL_OK) return NULL;
    for (int k = 0; k < PER_RESIDUE; ++k) {
        tal_ff_class_def atom = tal_ff_class_def_default();
        atom.name = names[k];
        atom.element = elements[k];
        atom.size = sizes[k];
        atom.well_depth = 0.2;
        (void)tal_ff_add_type(ff, names[k], tal_ff_add_class(ff, &atom), charges[k]);
    }
    // a wave is lowest half a turn from its phase
    const tal_ff_wave phi = {1, 60.0, (PHI + 180.0) * TAL_MOL_DEGREE};
    const tal_ff_wave psi = {1, 60.0, (PSI + 180.0) * TAL_MOL_DEGREE};
    (void)tal_ff_add_torsion(ff, C, N, CA, C, &phi, 1);
    (void)tal_ff_add_torsion(ff, N, CA, C, N, &psi, 1);
    return tal_ff_freeze(ff, &err) == TAL_OK ? ff : NULL;
}

static tal_mol *make_peptide(const tal_ff *ff)
{
    static const int bonds[4][3] = {{N, CA, 1}, {CA, C, 1}, {C, O, 2}, {N, H, 1}};
    static const char *const names[PER_RESIDUE] = {"N", "CA", "C", "O", "H"};
    const tal_mol_def def = {.allow_missing = true};
    tal_vec3 x[ATOMS];
    tal_error err;
    tal_mol *mol = NULL;
    build_chain(x);
    if (tal_mol_create(ff, &def, NULL, &mol, &err) != TAL_OK) return NULL;
    for (int i = 0; i < ATOMS; ++i) {
        (void)tal_mol_add_atom(mol, i % PER_RESIDUE, names[i % PER_RESIDUE], i / PER_RESIDUE + 1,
                               "A");
    }
    for (int i = 0; i < RESIDUES; ++i) {
        const int at = PER_RESIDUE * i;
        for (int k = 0; k < 4; ++k) {
            (void)tal_mol_add_bond(mol, at + bonds[k][0], at + bonds[k][1], bonds[k][2]);
        }
        // the peptide bond is half a double one: it does not turn
        if (i > 0) (void)tal_mol_add_bond(mol, at - PER_RESIDUE + C, at + N, 2);
    }
    (void)tal_mol_set_positions(mol, x, ATOMS);
    return tal_mol_freeze(mol, &err) == TAL_OK ? mol : NULL;
}

static double distance(const tal_vec3 x[], int a, int b)
{
    return tal_v3_norm(tal_v3_sub(x[a], x[b]));
}

// Hydrogen bonds of a helix that are there: Kabsch and Sander's energy is below -0.5 kcal/mol.
static int count_bonds(const tal_vec3 x[])
{
    int found = 0;
    for (int i = 0; i + 4 < RESIDUES; ++i) {
        const int c = PER_RESIDUE * i + C, o = PER_RESIDUE * i + O;
        const int n = PER_RESIDUE * (i + 4) + N, h = PER_RESIDUE * (i + 4) + H;
        const double e = 0.42 * 0.20 * 33.2 *
                         (1.0 / distance(x, o, n) + 1.0 / distance(x, c, h) -
                          1.0 / distance(x, o, h) - 1.0 / distance(x, c, n));
        if (e < -0.5) ++found;
    }
    return found;
}

static void show(const char *what, const tal_mol_instance *peptide, const tal_state *state)
{
    tal_vec3 x[ATOMS];
    if (tal_mol_calc_positions(peptide, state, x, ATOMS) != TAL_OK) return;
    const int first = CA, last = PER_RESIDUE * (RESIDUES - 1) + CA;
    printf("%-10s %.1f nm from end to end, %d hydrogen bonds\n", what, distance(x, first, last),
           count_bonds(x));
}

// The helix that the torsions have: how far apart amino acids are along it, and how many make a
// turn, from four alpha carbons in its middle.
static void show_helix(const tal_mol_instance *peptide, const tal_state *state)
{
    tal_vec3 x[ATOMS], at[4];
    if (tal_mol_calc_positions(peptide, state, x, ATOMS) != TAL_OK) return;
    for (int k = 0; k < 4; ++k) {
        at[k] = x[PER_RESIDUE * (RESIDUES / 2 - 2 + k) + CA];
    }
    // second differences of points on a helix are normal to its axis
    const tal_vec3 a = tal_v3_sub(tal_v3_sub(at[1], at[0]), tal_v3_sub(at[2], at[1]));
    const tal_vec3 b = tal_v3_sub(tal_v3_sub(at[2], at[1]), tal_v3_sub(at[3], at[2]));
    const tal_vec3 axis = tal_v3_normalize(tal_v3_cross(a, b));
    const double turn = atan2(tal_v3_norm(tal_v3_cross(a, b)), tal_v3_dot(a, b));
    printf("a helix of %.1f amino acids a turn, %.2f nm each\n", 2.0 * TAL_PI / turn,
           fabs(tal_v3_dot(axis, tal_v3_sub(at[2], at[1]))));
}

// A chain that is shaken at 300 K stays a helix.
static tal_status shake(const tal_system *system, tal_state *state, const tal_mol_instance *peptide)
{
    tal_md *md = NULL;
    tal_error err;
    tal_md_def def = tal_md_def_default();
    def.bath = TAL_MD_LANGEVIN;
    def.step = 0.004; // ps
    def.kT = TAL_MOL_R * KELVIN;
    def.friction = 5.0; // 1/ps
    tal_status st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_mol_set_random_velocities(peptide, state, KELVIN, 7);
    if (st == TAL_OK) st = tal_md_create(system, &def, &md, &err);
    if (st == TAL_OK) st = tal_md_run(md, state, 2500);
    tal_vec3 x[ATOMS];
    if (st == TAL_OK) st = tal_mol_calc_positions(peptide, state, x, ATOMS);
    if (st == TAL_OK) {
        printf("after 10 ps at 300 K at least five hydrogen bonds are left: %s\n",
               count_bonds(x) >= 5 ? "yes" : "no");
    }
    tal_md_destroy(md);
    return st;
}

int main(void)
{
    tal_error err = {TAL_OK, "", ""};
    tal_ff *ff = make_field();
    tal_mol *mol = ff != NULL ? make_peptide(ff) : NULL;
    if (mol == NULL) return 1;
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.freeze_double = true;
    const tal_mol_instance *peptide = tal_mol_add(system, matter, forces, "p", mol, &how, NULL);

    tal_state *state = NULL;
    tal_minimizer *minimizer = NULL;
    tal_minimum found = {0};
    tal_minimizer_def def = tal_minimizer_def_default();
    def.tolerance = 1e-4; // kJ/mol/rad
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_minimizer_create(system, &def, &minimizer, &err);
    if (st == TAL_OK) {
        const tal_mol_statistics made = tal_mol_instance_statistics(peptide);
        printf("%d atoms, %d bodies, %d mobilities\n", ATOMS, made.num_bodies, made.nu);
        show("straight:", peptide, state);
        st = tal_minimizer_run(minimizer, state, 5000, &found);
    }
    if (st == TAL_OK) {
        printf("converged: %s\n", found.end == TAL_MINIMIZER_CONVERGED ? "yes" : "no");
        show("folded:", peptide, state);
        show_helix(peptide, state);
        st = shake(system, state, peptide);
    }
    if (st != TAL_OK) puts(err.status != TAL_OK ? err.message : tal_status_text(st));
    tal_minimizer_destroy(minimizer);
    tal_state_destroy(state);
    tal_system_destroy(system);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
    return st == TAL_OK ? 0 : 1;
}
