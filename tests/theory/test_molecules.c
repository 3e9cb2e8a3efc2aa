// Molecules that move: argon pairs and butane against quadratures of the energy integral.
#include "talus_test.h"

#include <talus/molecule.h>
#include <talus/study.h>

typedef struct run {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_integrator *integ;
    const tal_mol_instance *molecule;
} run;

// A System of the molecule, and an integrator of tolerance 1e-11.
static void start(run *r, tal_mol_level level)
{
    tal_error err;
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = level;
    r->system = tal_system_create(NULL);
    r->matter = tal_matter_create(r->system);
    r->forces = tal_forces_create(r->system, r->matter);
    r->molecule = tal_mol_add(r->system, r->matter, r->forces, "mol", r->mol, &how, NULL);
    ck_assert_msg(tal_system_realize_topology(r->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(r->system, &r->state, &err), TAL_OK);
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_verner_8();
    def.accuracy = 1e-11;
    def.max_steps = 100000;
    ck_assert_msg(tal_integrator_create(r->system, &def, &r->integ, &err) == TAL_OK, "%s",
                  err.message);
}

static void step_to(run *r, double t)
{
    const tal_status st = tal_integrator_step_to(r->integ, r->state, t);
    ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(r->integ)->message);
    ck_assert_int_eq(tal_system_realize(r->system, r->state, TAL_STAGE_VELOCITY), TAL_OK);
}

static void stop(run *r)
{
    tal_integrator_destroy(r->integ);
    tal_state_destroy(r->state);
    tal_system_destroy(r->system);
    tal_mol_destroy(r->mol);
    tal_ff_destroy(r->ff);
}

static void begin(run *r, const char *name, double mass, double sigma, double depth)
{
    tal_error err;
    memset(r, 0, sizeof *r);
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &r->ff, &err), TAL_OK);
    tal_ff_class_def one = tal_ff_class_def_default();
    one.name = name;
    one.size = sigma;
    one.well_depth = depth;
    (void)tal_ff_set_type_mass(
        r->ff, tal_ff_add_type(r->ff, name, tal_ff_add_class(r->ff, &one), 0.0), mass);
}

static void freeze(run *r)
{
    tal_error err;
    const tal_mol_def def = {.allow_missing = true};
    ck_assert_msg(tal_ff_freeze(r->ff, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_mol_create(r->ff, &def, NULL, &r->mol, &err), TAL_OK);
}

// refs:argon_dimer, from rest at the outer turning point of E = -eps/2. Over one period errors of
// the integrator grow to some hundred times its tolerance.
START_TEST(two_argon_atoms_swing_as_the_quadrature_says)
{
    static const double t[5] = {0.0, 0.2461249711263675, 0.492249942252735, 0.98449988450547,
                                1.96899976901094};
    static const double distance[5] = {0.46899753781267955, 0.460889955677229, 0.4353205047878223,
                                       0.34960583106603726, 0.4689975378126813};
    run r;
    begin(&r, "Ar", 39.948, 0.3405, 0.99607);
    freeze(&r);
    const tal_vec3 x[2] = {{0.1, 0.2, 0.3}, {0.1 + distance[0], 0.2, 0.3}};
    for (int i = 0; i < 2; ++i) {
        (void)tal_mol_add_atom(r.mol, 0, "Ar", 1, "");
    }
    (void)tal_mol_set_positions(r.mol, x, 2);
    tal_error err;
    ck_assert_int_eq(tal_mol_freeze(r.mol, &err), TAL_OK);
    start(&r, TAL_MOL_CARTESIAN);
    for (int k = 1; k < 5; ++k) {
        step_to(&r, t[k]);
        tal_vec3 at[2];
        ck_assert_int_eq(tal_mol_calc_positions(r.molecule, r.state, at, 2), TAL_OK);
        ck_assert_double_eq_tol(at[1].x - at[0].x, distance[k], 1e-9);
        ck_assert_double_eq_tol(tal_system_energy(r.system, r.state), -0.5 * 0.99607, 1e-9);
    }
    stop(&r);
}

END_TEST

// refs:butane_release: four sites, rigid bonds and angles, the torsion of Ryckaert and Bellemans,
// from rest. Momenta stay zero and the energy stays V(phi0).
static void release(const double mass[4], double phi0, double energy, double period, double quarter)
{
    const double theta = 112.0 * TAL_MOL_DEGREE, l = 0.153, pi = 180.0 * TAL_MOL_DEGREE;
    const double C[6] = {9.2789, 12.1557, -13.1202, -3.0597, 26.2403, -31.495};
    run r;
    begin(&r, "CH2", mass[1], 0.0, 0.0);
    (void)tal_ff_set_type_mass(r.ff, tal_ff_add_type(r.ff, "CH3", 0, 0.0), mass[0]);
    (void)tal_ff_add_rb_torsion(r.ff, 0, 0, 0, 0, C);
    freeze(&r);
    // 0-1 and 2-3 lean by theta against 1-2, and 3 is turned by phi0 against 0
    const double up = l * sin(theta), along = -l * cos(theta);
    const tal_vec3 x[4] = {{-along, up, 0.0},
                           {0.0, 0.0, 0.0},
                           {l, 0.0, 0.0},
                           {l + along, up * cos(phi0), up * sin(phi0)}};
    for (int i = 0; i < 4; ++i) {
        (void)tal_mol_add_atom(r.mol, i == 0 || i == 3 ? 1 : 0, "C", 1, "");
        if (i > 0) (void)tal_mol_add_bond(r.mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(r.mol, x, 4);
    tal_error err;
    ck_assert_int_eq(tal_mol_freeze(r.mol, &err), TAL_OK);
    start(&r, TAL_MOL_TORSIONS);
    const tal_mol_joint joint = tal_mol_bond_joint(r.molecule, 1);
    ck_assert_int_eq(joint.mobility, TAL_BOND_TORSION);
    ck_assert_double_eq_tol(tal_body_q(r.matter, r.state, joint.body, 0), phi0, 1e-14);
    step_to(&r, 0.125 * period);
    ck_assert_double_eq_tol(tal_body_q(r.matter, r.state, joint.body, 0), quarter, 1e-8);
    step_to(&r, 0.5 * period); // the other turning point
    ck_assert_double_eq_tol(tal_body_q(r.matter, r.state, joint.body, 0), 2.0 * pi - phi0, 1e-8);
    step_to(&r, 5.0 * period);
    ck_assert_double_eq_tol(tal_body_q(r.matter, r.state, joint.body, 0), phi0, 1e-7);
    ck_assert_double_eq_tol(tal_system_energy(r.system, r.state), energy, 1e-9);
    stop(&r);
}

START_TEST(butane_turns_as_the_quadrature_says)
{
    const double equal[4] = {14.027, 14.027, 14.027, 14.027};
    const double heavy[4] = {15.035, 14.027, 14.027, 15.035};
    const double rad = TAL_MOL_DEGREE;
    release(equal, 170.0 * rad, 1.1104717345138653, 0.1974802280223225, 3.0175541046507806);
    release(equal, 150.0 * rad, 7.396278377955687, 0.25258838251430865, 2.752908483678003);
    release(heavy, 170.0 * rad, 1.1104717345138653, 0.20088911815595764, 3.0175500595317835);
    release(heavy, 150.0 * rad, 7.396278377955687, 0.25708403519793316, 2.7528127859252765);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("molecules");
    TCase *motion = tcase_create("motion");
    tcase_add_test(motion, two_argon_atoms_swing_as_the_quadrature_says);
    tcase_add_test(motion, butane_turns_as_the_quadrature_says);
    suite_add_tcase(suite, motion);
    return test_run(suite);
}
