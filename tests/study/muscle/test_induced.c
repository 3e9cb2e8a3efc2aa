// Tests for study/src/muscle/induced.c: what each force alone does.
#include "alloc_guard.h"
#include "muscle/leg_support.h"

#include <math.h>

enum {
    MOST = 40
};

static tal_induced *create(const leg *it, bool potentials)
{
    tal_error err = {TAL_OK, "", ""};
    tal_induced *made = NULL;
    const tal_induced_def def = {.potentials = potentials};
    const tal_status st = tal_induced_create(it->system, it->forces, &def, &made, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return made;
}

static int find(const tal_induced *made, const char *name)
{
    for (int i = 0; i < tal_induced_num(made); ++i) {
        if (strcmp(tal_induced_name(made, i), name) == 0) return i;
    }
    ck_abort_msg("no contributor '%s'", name);
    return -1;
}

// --- closed forms ---

// 2 kg on a vertical slider that a constraint holds where it is: gravity moves nothing, and is
// carried; so is a lift of 10 N.
START_TEST(what_is_held_does_not_move_and_is_carried)
{
    leg it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    it.forces = tal_forces_create(it.system, it.matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    const tal_mat3 up = {{0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}; // columns
    def.X_PF = tal_xf(up, TAL_VEC3_ZERO); // x of the slider is up
    const tal_body_ix slider = tal_matter_add_slider(it.matter, TAL_GROUND, &def);
    (void)tal_forces_add_gravity(it.forces, tal_v3(0.0, -9.80665, 0.0));
    const tal_force_ix lift = tal_forces_add_mobility_actuator(
        it.forces, "lift", (tal_mobility){slider, 0}, 10.0, (tal_measure_ix){-1});
    const tal_constraint_def on = tal_constraint_on(slider, 0);
    (void)tal_constraint_add_constant_coordinate(it.matter, &on, 0.0);
    leg_finish(&it);
    (void)tal_actuator_set_control(it.forces, it.state, lift, 1.0);
    tal_induced *made = create(&it, false);
    double udot[MOST], lambda[MOST];
    ck_assert_int_eq(tal_induced_calc(made, it.state, udot, lambda), TAL_OK);
    const int g = find(made, "gravity"), l = find(made, "lift");
    ck_assert_double_eq_tol(udot[g], 0.0, 1e-14);
    ck_assert_double_eq_tol(udot[l], 0.0, 1e-14);
    // the constraint pushes with -lambda along q
    ck_assert_double_eq_tol(-lambda[g], 19.6133, 1e-12);
    ck_assert_double_eq_tol(-lambda[l], -10.0, 1e-12);
    tal_induced_destroy(made);
    leg_end(&it);
}

END_TEST

// A pendulum of length 1 at 30 degrees with u = 2: gravity gives -g sin(q), speed gives no udot,
// and takes the mass center to the pivot with u^2 l.
START_TEST(speed_alone_takes_a_pendulum_to_its_pivot)
{
    leg it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    it.forces = tal_forces_create(it.system, it.matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    const tal_body_ix bob = tal_matter_add_pin(it.matter, TAL_GROUND, &def);
    (void)tal_forces_add_gravity(it.forces, tal_v3(0.0, -9.80665, 0.0));
    leg_finish(&it);
    const double q = TAL_PI / 6.0;
    (void)tal_body_set_q(it.matter, it.state, bob, 0, q);
    (void)tal_body_set_u(it.matter, it.state, bob, 0, 2.0);
    tal_induced *made = create(&it, false);
    ck_assert_int_eq(tal_induced_num(made), 4);
    double udot[4];
    tal_spatial_vec A_GB[2];
    ck_assert_int_eq(tal_induced_calc(made, it.state, udot, NULL), TAL_OK);
    const int g = find(made, "gravity"), v = find(made, "velocity");
    ck_assert_double_eq_tol(udot[g], -4.903325, 1e-13);
    ck_assert_double_eq_tol(udot[v], 0.0, 1e-13);
    ck_assert_int_eq(tal_induced_calc_bodies(made, v, &udot[v], A_GB), TAL_OK);
    ck_assert_double_eq_tol(A_GB[bob.i].v.x, -4.0 * sin(q), 1e-13);
    ck_assert_double_eq_tol(A_GB[bob.i].v.y, 4.0 * cos(q), 1e-13);
    ck_assert_int_eq(tal_induced_calc_bodies(made, g, &udot[g], A_GB), TAL_OK);
    ck_assert_double_eq_tol(A_GB[bob.i].v.x, -4.903325 * cos(q), 1e-13);
    tal_induced_destroy(made);
    leg_end(&it);
}

END_TEST

// --- the sum ---

// A leg with muscles, dampers, a coupled kneecap, a foot on a moving rod, a prescribed toe: all
// contributors together are udot of the State. Numbers of the size 100 with round-off of some
// 1e-14 each, through matrices whose condition numbers are below 1e4: 1e-10 is promised.
START_TEST(all_together_are_the_acceleration_of_the_state)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_MILLARD, false);
    (void)tal_forces_add_mobility_damper(it.forces, NULL, (tal_mobility){it.body[LEG_SHANK], 0},
                                         0.7);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 0.3;
    const tal_body_ix cap = tal_matter_add_slider(it.matter, it.body[LEG_THIGH], &def);
    const tal_body_ix toe = leg_add_bone(&it, it.body[LEG_FOOT], 0.2, 0.06, -0.02, true);
    tal_motion_def wave = tal_motion_def_default();
    wave.body = toe;

    (void)tal_matter_add_motion_sinusoid(it.matter, &wave, 0.3, 5.0, 0.2);
    tal_constraint_def with = tal_constraint_def_default();
    with.mobilities[0] = (tal_mobility){it.body[LEG_SHANK], 0};
    with.mobilities[1] = (tal_mobility){cap, 0};
    with.num_mobilities = 2;
    const double coefficients[] = {0.3, 0.2, -1.0};
    const int powers[] = {1, 0, 2, 0, 0, 1};
    tal_function *f = NULL;
    ck_assert_int_eq(
        tal_function_create_multivariate_polynomial(NULL, coefficients, powers, 3, 2, &f, NULL),
        TAL_OK);
    (void)tal_constraint_add_coordinate_coupler(it.matter, &with, f);
    const tal_thrust thrust = {it.body[LEG_FOOT], {0.1, 0.0, 0.05}, true};
    const tal_force_ix jet =
        tal_forces_add_body_actuator(it.forces, "jet", &thrust, 30.0, (tal_measure_ix){-1});
    leg_finish(&it);
    tal_induced *made = create(&it, false);
    const int nu = tal_matter_nu(it.matter), n = tal_induced_num(made);
    ck_assert_int_eq(n, LEG_MUSCLES + 1 + 4);
    test_rng rng = test_rng_seed(17);
    for (int k = 0; k < 20; ++k) {
        for (int b = 1; b < 4; ++b) {
            (void)tal_body_set_q(it.matter, it.state, it.body[b], 0,
                                 test_random_uniform(&rng, -0.5, 0.5));
            (void)tal_body_set_u(it.matter, it.state, it.body[b], 0,
                                 test_random_uniform(&rng, -3.0, 3.0));
        }
        (void)tal_state_set_t(it.state, 0.1 * k);
        (void)tal_force_set_param(it.forces, it.state, jet, TAL_BODY_ACTUATOR_CONTROL + 4, 0.5);
        for (int m = 0; m < LEG_MUSCLES; ++m) {
            (void)tal_muscle_set_activation(it.forces, it.state, it.muscle[m],
                                            test_random_uniform(&rng, 0.1, 0.9));
        }
        tal_status st = tal_system_prescribe_and_project(it.system, it.state, NULL, NULL);
        if (st == TAL_OK) st = tal_forces_equilibrate_muscles(it.forces, it.state);
        if (st == TAL_OK) st = tal_system_realize(it.system, it.state, TAL_STAGE_ACCELERATION);
        ck_assert_msg(st == TAL_OK, "%s", tal_state_error(it.state)->message);
        double udot[20 * 8], sum[8] = {0.0};
        test_assert_no_heap(st = tal_induced_calc(made, it.state, udot, NULL));
        ck_assert_msg(st == TAL_OK, "%s", tal_induced_error(made)->message);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < nu; ++j) {
                sum[j] += udot[i * nu + j];
            }
        }
        const double *whole = tal_state_udot(it.state);
        double largest = 1.0;
        for (int j = 0; j < nu; ++j) {
            largest = fmax(largest, fabs(whole[j]));
        }
        for (int j = 0; j < nu; ++j) {
            ck_assert_double_eq_tol(sum[j], whole[j], 1e-10 * largest);
        }
        // bodies, too
        tal_spatial_vec A_GB[16], all = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
        for (int i = 0; i < n; ++i) {
            ck_assert_int_eq(tal_induced_calc_bodies(made, i, udot + i * nu, A_GB), TAL_OK);
            all.v = tal_v3_add(all.v, A_GB[toe.i].v);
        }
        const tal_spatial_vec A = tal_body_A_GB(it.matter, it.state, toe);
        ck_assert_double_le(tal_v3_norm(tal_v3_sub(all.v, A.v)), 1e-10 * largest);
    }
    tal_induced_destroy(made);
    leg_end(&it);
}

END_TEST

// A potential times the force is what the force does.
START_TEST(potentials_are_accelerations_per_newton)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_THELEN, false);
    leg_finish(&it);
    (void)tal_body_set_q(it.matter, it.state, it.body[LEG_SHANK], 0, -0.4);
    for (int m = 0; m < LEG_MUSCLES; ++m) {
        (void)tal_muscle_override(it.forces, it.state, it.muscle[m], 10.0 + m);
    }
    tal_induced *unit = create(&it, true), *made = create(&it, false);
    double per_newton[MOST], udot[MOST];
    ck_assert_int_eq(tal_induced_calc(unit, it.state, per_newton, NULL), TAL_OK);
    ck_assert_int_eq(tal_induced_calc(made, it.state, udot, NULL), TAL_OK);
    for (int m = 0; m < LEG_MUSCLES; ++m) {
        ck_assert_str_eq(tal_induced_name(made, m), leg_muscles[m].name);
        for (int j = 0; j < 3; ++j) {
            ck_assert_double_eq_tol((10.0 + m) * per_newton[3 * m + j], udot[3 * m + j], 1e-10);
        }
    }
    // the soleus does not cross the knee, and moves it
    ck_assert_double_gt(fabs(udot[3 * 7 + 1]), 1e-3);
    tal_induced_destroy(unit);
    tal_induced_destroy(made);
    leg_end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/induced");
    TCase *tc = tcase_create("induced");
    tcase_add_test(tc, what_is_held_does_not_move_and_is_carried);
    tcase_add_test(tc, speed_alone_takes_a_pendulum_to_its_pivot);
    tcase_add_test(tc, all_together_are_the_acceleration_of_the_state);
    tcase_add_test(tc, potentials_are_accelerations_per_newton);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
