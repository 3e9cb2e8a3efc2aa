// Theory: Fixman's potential, molecular dynamics in torsions and a bath together give the
// statistics that they should.
#include "molecule_fixman.h"
#include "talus_test.h"

#include <talus/molecule.h>
#include <talus/study.h>

#include <math.h>

enum {
    BINS = 24,
    BLOCKS = 100,
    STEPS = 1500 // of a block
};

// Four equal sites at 300 K without a potential; how often the dihedral is in each bin, by blocks.
static void sample(double temperature_of_fixman, double counts[BLOCKS][BINS])
{
    const double l = 0.153, bend = 112.0 * TAL_MOL_DEGREE;
    const tal_vec3 x[4] = {{l * cos(bend), l * sin(bend), 0.0},
                           {0.0, 0.0, 0.0},
                           {l, 0.0, 0.0},
                           {l - l * cos(bend), l * sin(bend), 0.0}};
    tal_error err;
    tal_ff *ff = NULL;
    tal_mol *mol = NULL;
    tal_state *state = NULL;
    tal_md *md = NULL;
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &ff, &err), TAL_OK);
    tal_ff_class_def site = tal_ff_class_def_default();
    site.name = "C";
    const int type = tal_ff_add_type(ff, "C", tal_ff_add_class(ff, &site), 0.0);
    ck_assert_int_eq(tal_ff_set_type_mass(ff, type, ref_butanes[0].mass[0]), TAL_OK);
    ck_assert_int_eq(tal_ff_freeze(ff, &err), TAL_OK);
    const tal_mol_def bare = {.only_added = true};
    ck_assert_int_eq(tal_mol_create(ff, &bare, NULL, &mol, &err), TAL_OK);
    for (int i = 0; i < 4; ++i) {
        (void)tal_mol_add_atom(mol, type, "C", 1, "");
        if (i > 0) (void)tal_mol_add_bond(mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(mol, x, 4);
    ck_assert_int_eq(tal_mol_freeze(mol, &err), TAL_OK);
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    const tal_mol_instance *butane = tal_mol_add(system, matter, forces, "butane", mol, NULL, NULL);
    ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_mol_set_fixman_temperature(butane, state, temperature_of_fixman), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_mol_set_random_velocities(butane, state, 300.0, 5), TAL_OK);
    tal_md_def def = tal_md_def_default();
    def.bath = TAL_MD_LANGEVIN;
    def.step = 0.01;
    def.kT = TAL_MOL_R * 300.0;
    def.friction = 5.0;
    def.seed = 11;
    ck_assert_int_eq(tal_md_create(system, &def, &md, &err), TAL_OK);
    const tal_body_ix torsion = tal_mol_bond_joint(butane, 1).body;
    memset(counts, 0, BLOCKS * sizeof counts[0]);
    for (int i = 0; i < BLOCKS * STEPS; ++i) {
        const tal_status st = tal_md_run(md, state, 1);
        ck_assert_msg(st == TAL_OK, "%s", tal_md_error(md)->message);
        const double turns = tal_body_q(matter, state, torsion, 0) / (360.0 * TAL_MOL_DEGREE);
        const int bin = (int)(BINS * (turns - floor(turns)));
        counts[i / STEPS][bin < BINS ? bin : 0] += 1.0 / STEPS;
    }
    tal_md_destroy(md);
    tal_state_destroy(state);
    tal_system_destroy(system);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

// Chi-squared against what is expected, with the error of each bin from blocks of 15 ps, which are
// independent: the dihedral forgets where it was within 1 ps.
static double chi_squared(double counts[BLOCKS][BINS], const double expected[BINS])
{
    double sum = 0.0;
    for (int b = 0; b < BINS; ++b) {
        double mean = 0.0, squares = 0.0;
        for (int k = 0; k < BLOCKS; ++k) {
            mean += counts[k][b] / BLOCKS;
            squares += counts[k][b] * counts[k][b] / BLOCKS;
        }
        const double variance = (squares - mean * mean) / (BLOCKS - 1);
        sum += (mean - expected[b]) * (mean - expected[b]) / variance;
    }
    return sum;
}

// 24 bins, one of which the others determine, have a mean of 23 and a sigma of sqrt(46): 3 sigma
// are 44. Each distribution is far from what the other run gives.
START_TEST(torsions_are_distributed_as_they_should_be)
{
    static double with[BLOCKS][BINS], without[BLOCKS][BINS];
    double even[BINS];
    for (int b = 0; b < BINS; ++b) {
        even[b] = 1.0 / BINS;
    }
    sample(0.0, without);
    sample(300.0, with);
    ck_assert_double_le(chi_squared(without, ref_butane_bins), 44.0);
    ck_assert_double_le(chi_squared(with, even), 44.0);
    ck_assert_double_ge(chi_squared(without, even), 80.0);
    ck_assert_double_ge(chi_squared(with, ref_butane_bins), 80.0);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("fixman_statistics");
    TCase *all = tcase_create("fixman_statistics");
    tcase_set_timeout(all, 60.0);
    tcase_add_test(all, torsions_are_distributed_as_they_should_be);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
