// Two lobes of a protein, as a network of springs between beads: how the lobes move against each
// other. Once every bead is free, once each lobe is one rigid body.
//
//     lobe A  : : :
//             : : : . . .
//                   : : :  lobe B
//
// Springs join all beads that are near each other; those within a rigid lobe are constant and drop
// out by themselves. Rigid lobes can only be stiffer: their frequencies lie above those of the
// network, and for the softest motions only a little.
#include <talus/talus.h>

#include <stdio.h>

enum {
    PER_LOBE = 2 * 3 * 2,
    BEADS = 2 * PER_LOBE,
    SOFTEST = 4
};

static const double SPACING = 0.38;                     // nm, from one alpha carbon to the next
static const double CUTOFF = 1.0;                       // nm: beads that are nearer have a spring
static const double K_WITHIN = 800.0, K_BETWEEN = 80.0; // kJ/mol/nm^2: lobes touch loosely
static const double MASS = 110.0;                       // Da, of an amino acid on average

static tal_mol *make_network(const tal_ff *ff)
{
    const tal_mol_def def = {.only_added = true};
    tal_vec3 x[BEADS];
    tal_error err;
    tal_mol *mol = NULL;
    if (tal_mol_create(ff, &def, NULL, &mol, &err) != TAL_OK) return NULL;
    for (int i = 0; i < BEADS; ++i) {
        const int lobe = i / PER_LOBE, k = i % PER_LOBE;
        const int column = k % 2, row = k / 2 % 3, layer = k / 6;
        x[i] = tal_v3_scale(SPACING, tal_v3(column + 1.6 * lobe, row - 1.7 * lobe, layer));
        (void)tal_mol_add_atom(mol, 0, "CA", k + 1, lobe == 0 ? "A" : "B");
    }
    for (int i = 0; i < BEADS; ++i) {
        for (int j = 0; j < i; ++j) {
            const double r = tal_v3_norm(tal_v3_sub(x[i], x[j]));
            const double k = i / PER_LOBE == j / PER_LOBE ? K_WITHIN : K_BETWEEN;
            if (r < CUTOFF) (void)tal_mol_add_stretch(mol, j, i, k, r);
        }
    }
    (void)tal_mol_set_positions(mol, x, BEADS);
    if (tal_mol_freeze(mol, &err) != TAL_OK) puts(err.message);
    return mol;
}

// The lowest frequencies [1/ps] of a System at rest. Those of rigid motions are zero but for the
// round-off of derivatives, whose root they are.
static tal_status find_modes(const tal_system *system, const tal_state *state, double lowest[])
{
    tal_linearizer *lin = NULL;
    tal_error err;
    int found = 0;
    tal_status st = tal_linearizer_create(system, NULL, &lin, &err);
    if (st == TAL_OK) st = tal_linearizer_run(lin, state);
    if (st == TAL_OK) st = tal_linearizer_find_modes(lin);
    for (int i = 0; st == TAL_OK && i < tal_linearizer_num_modes(lin) && found < SOFTEST; ++i) {
        const tal_mode mode = tal_linearizer_mode(lin, i);
        if (mode.im > 0.0 && mode.frequency > 0.1) lowest[found++] = mode.frequency;
    }
    tal_linearizer_destroy(lin);
    return st;
}

// Bodies as `how` says, and their softest motions.
static tal_status study(const tal_mol *mol, const tal_mol_granularity *how, double lowest[])
{
    tal_error err;
    tal_state *state = NULL;
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    const tal_mol_instance *network = tal_mol_add(system, matter, forces, "net", mol, how, NULL);
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = find_modes(system, state, lowest);
    if (st == TAL_OK) {
        const tal_mol_statistics made = tal_mol_instance_statistics(network);
        const int springs = tal_mol_num_terms(mol, TAL_MOL_STRETCH);
        printf("%2d bodies, %3d mobilities, %3d of %d springs act\n", made.num_bodies, made.nu,
               springs - made.num_frozen, springs);
    }
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st;
}

int main(void)
{
    tal_ff *ff = NULL;
    tal_error err;
    if (tal_ff_create(NULL, NULL, &ff, &err) != TAL_OK) return 1;
    tal_ff_class_def bead = tal_ff_class_def_default();
    bead.name = "CA";
    (void)tal_ff_set_type_mass(ff, tal_ff_add_type(ff, "CA", tal_ff_add_class(ff, &bead), 0.0),
                               MASS);
    tal_status st = tal_ff_freeze(ff, &err);
    tal_mol *mol = st == TAL_OK ? make_network(ff) : NULL;
    if (mol == NULL) return 1;

    double free_beads[SOFTEST], rigid_lobes[SOFTEST];
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_CARTESIAN;
    st = study(mol, &how, free_beads);

    const tal_mol_selection lobes[] = {
        {.level = TAL_MOL_DOMAINS, .chain = "A", .last_residue = -1},
        {.level = TAL_MOL_DOMAINS, .chain = "B", .last_residue = -1}};
    how.selections = lobes;
    how.num_selections = 2;
    if (st == TAL_OK) st = study(mol, &how, rigid_lobes);

    for (int i = 0; i < SOFTEST && st == TAL_OK; ++i) {
        printf("motion %d: %.4f/ps free, %.4f/ps with rigid lobes\n", i + 1, free_beads[i],
               rigid_lobes[i]);
    }
    if (st != TAL_OK) puts(tal_status_text(st));
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
    return st == TAL_OK ? 0 : 1;
}
