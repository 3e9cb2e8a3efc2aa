// Butane as four sites with rigid bonds and angles: its torsion in a bath at 300 K. Rigid bonds
// change how often each angle is seen; Fixman's potential takes that back.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    STEPS = 60000
};

static const double KELVIN = 300.0, MASS = 14.027; // Da

// Four sites, and the torsion of Ryckaert and Bellemans as a series.
static tal_mol *make_butane(const tal_ff *ff)
{
    const double l = 0.153, bend = 112.0 * TAL_MOL_DEGREE; // nm
    const tal_vec3 x[4] = {tal_v3(l * cos(bend), l * sin(bend), 0.0), tal_v3(0.0, 0.0, 0.0),
                           tal_v3(l, 0.0, 0.0), tal_v3(l - l * cos(bend), -l * sin(bend), 0.0)};
    tal_mol *mol = NULL;
    tal_mol_def def = tal_mol_def_default();
    def.only_added = true; // no tables of bonded terms
    if (tal_mol_create(ff, &def, NULL, &mol, NULL) != TAL_OK) return NULL;
    for (int i = 0; i < 4; ++i) {
        (void)tal_mol_add_atom(mol, 0, "C", 1, "");
        if (i > 0) (void)tal_mol_add_bond(mol, i - 1, i, 1);
    }
    const tal_ff_wave wave = {.n = 3, .V = 1.0, .gamma = 0.0}; // 1 + cos(3 phi) [kJ/mol]
    (void)tal_mol_add_torsion(mol, 0, 1, 2, 3, &wave, 1);
    (void)tal_mol_set_positions(mol, x, 4);
    return tal_mol_freeze(mol, NULL) == TAL_OK ? mol : NULL;
}

// How often the torsion is nearer to trans (180 degrees) than 60 degrees.
static double trans_fraction(tal_md *md, tal_state *state, const tal_matter *matter,
                             tal_body_ix torsion)
{
    int trans = 0;
    for (int i = 0; i < STEPS; ++i) {
        if (tal_md_run(md, state, 1) != TAL_OK) return -1.0;
        trans += cos(tal_body_q(matter, state, torsion, 0)) < -0.5 ? 1 : 0;
    }
    return (double)trans / STEPS;
}

// Fixman's potential by the torsion, from where it is trans.
static void show_fixman(const tal_system *system, tal_state *state, const tal_mol_instance *butane,
                        tal_body_ix torsion)
{
    double trans = 0.0;
    for (int phi = 180; phi >= 0; phi -= 60) {
        tal_mol_energy energy;
        (void)tal_body_set_q(tal_system_matter(system), state, torsion, 0, phi * TAL_MOL_DEGREE);
        if (tal_system_realize(system, state, TAL_STAGE_POSITION) != TAL_OK) return;
        if (tal_mol_calc_energy(butane, state, &energy) != TAL_OK) return;
        if (phi == 180) trans = energy.fixman;
        printf("  at %3d degrees Fixman's potential is %6.3f kJ/mol\n", phi, energy.fixman - trans);
    }
}

int main(void)
{
    tal_ff *ff = NULL;
    tal_error err;
    if (tal_ff_create(NULL, NULL, &ff, &err) != TAL_OK) return 1;
    tal_ff_class_def carbon = tal_ff_class_def_default();
    carbon.name = "C";
    (void)tal_ff_set_type_mass(ff, tal_ff_add_type(ff, "C", tal_ff_add_class(ff, &carbon), 0.0),
                               MASS);
    tal_status st = tal_ff_freeze(ff, &err);
    tal_mol *mol = st == TAL_OK ? make_butane(ff) : NULL;
    if (mol == NULL) return 1;

    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    const tal_mol_instance *butane = tal_mol_add(system, matter, forces, "butane", mol, NULL, NULL);
    tal_state *state = NULL;
    st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);

    const tal_mol_statistics made = tal_mol_instance_statistics(butane);
    const tal_body_ix torsion = tal_mol_bond_joint(butane, 1).body;
    printf("%d bodies, %d mobilities, %d torsion mapped to a coordinate\n", made.num_bodies,
           made.nu, made.num_mapped);
    printf("the torsion is %.0f degrees\n", tal_body_q(matter, state, torsion, 0) / TAL_MOL_DEGREE);

    if (st == TAL_OK) st = tal_mol_set_fixman_temperature(butane, state, KELVIN);
    if (st == TAL_OK) show_fixman(system, state, butane, torsion);

    tal_md *md = NULL;
    tal_md_def def = tal_md_def_default();
    def.bath = TAL_MD_LANGEVIN;
    def.step = 0.01; // ps
    def.kT = TAL_MOL_R * KELVIN;
    def.friction = 5.0; // 1/ps
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_mol_set_random_velocities(butane, state, KELVIN, 1);
    if (st == TAL_OK) st = tal_md_create(system, &def, &md, &err);
    if (st == TAL_OK) { // by symmetry, as with bonds and angles that are stiff
        const double trans = trans_fraction(md, state, matter, torsion);
        printf("trans for a third of the time: %s\n",
               fabs(trans - 1.0 / 3.0) < 0.08 ? "yes" : "no");
    }
    if (st != TAL_OK) puts(err.message);
    tal_md_destroy(md);
    tal_state_destroy(state);
    tal_system_destroy(system);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
    return st == TAL_OK ? 0 : 1;
}
