// Tests for forces/src/bath/thermostat.c, langevin.c and thermal.c. Runs at temperature:
// study/test_baths.c.
#include "force_model.h"

static const double KT = 1.7, TAU = 0.4, GAMMA = 3.0, DT = 0.01;

typedef struct baths {
    model m;
    tal_force_ix chain, noise;
} baths;

static baths begin(double rotor)
{
    baths b = {.m = model_begin()};
    tal_thermostat_def chain = tal_thermostat_def_default();
    chain.kT = KT;
    chain.relaxation_time = TAU;
    b.chain = tal_forces_add_thermostat(b.m.forces, "chain", &chain);
    tal_langevin_def noise = tal_langevin_def_default();
    noise.kT = KT;
    noise.friction = GAMMA;
    noise.interval = DT;
    noise.seed = 5;
    b.noise = tal_forces_add_langevin(b.m.forces, "noise", &noise);
    model_finish(&b.m);
    tal_body_set_rotor_inertia(b.m.matter, b.m.state, b.m.body[PIN], rotor);
    model_shake(&b.m, 3);
    return b;
}

// What an element applies, along the speeds.
static void generalized(model *m, tal_force_ix force, double g[])
{
    const load on = model_load(m, force);
    model_generalized(m, m->state, &on, g);
}

static double *chain_z(baths *b)
{
    const tal_subsystem_ix me = tal_forces_subsystem(b->m.forces);
    const tal_group_ix group = tal_system_find_group(b->m.system, me, TAL_POOL_Z, "chain.chain");
    return tal_state_upd_z(b->m.state) + tal_group_start(b->m.system, b->m.state, group);
}

// Sums of products of size 10: 1e-12.
START_TEST(friction_of_a_chain_is_minus_c_times_momentum)
{
    baths b = begin(0.7);
    double Mu[MODEL_NU], g[MODEL_NU];
    chain_z(&b)[0] = -0.8;
    for (uint64_t seed = 1; seed < 6; ++seed) {
        model_shake(&b.m, seed);
        chain_z(&b)[0] = -0.8;
        model_realize(&b.m, TAL_STAGE_VELOCITY);
        const double *u = tal_state_u(b.m.state);
        ck_assert_int_eq(tal_matter_mul_M(b.m.matter, b.m.state, u, Mu), TAL_OK);
        generalized(&b.m, b.chain, g);
        double twice_K = 0.0;
        for (int i = 0; i < MODEL_NU; ++i) {
            ck_assert_double_eq_tol(g[i], 0.8 * Mu[i], 1e-12);
            twice_K += u[i] * Mu[i];
        }
        ck_assert_double_eq_tol(tal_force_dissipated_power(b.m.forces, b.m.state, b.chain),
                                -0.8 * twice_K, 1e-12);
        ck_assert_double_eq_tol(tal_thermostat_temperature(b.m.forces, b.m.state, b.chain),
                                twice_K / MODEL_NU, 1e-12);
    }
    ck_assert_double_eq(tal_thermostat_dof(b.m.forces, b.m.state, b.chain), MODEL_NU);
    model_end(&b.m);
}

END_TEST

// Locked speeds do not move and have no share in the energy: the temperature is that of the others.
START_TEST(what_is_locked_is_at_no_temperature)
{
    baths b = begin(0.0);
    model *m = &b.m;
    ck_assert_int_eq(tal_body_lock(m->matter, m->state, m->body[BALL], TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_body_lock(m->matter, m->state, m->body[SLIDER], TAL_LEVEL_VELOCITY),
                     TAL_OK);
    model_realize(m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(tal_thermostat_dof(m->forces, m->state, b.chain), MODEL_NU - 4.0);
    const double K = tal_matter_kinetic_energy(m->matter, m->state);
    ck_assert_double_eq_tol(tal_thermostat_temperature(m->forces, m->state, b.chain),
                            2.0 * K / (MODEL_NU - 4.0), 1e-12);
    model_end(m);
}

END_TEST

// The rates as the header prints them, and the bath's energy: its rate is the power that goes
// there.
START_TEST(the_chain_follows_its_equations)
{
    baths b = begin(0.0);
    model *m = &b.m;
    const double given[6] = {0.3, -0.5, 0.8, 1.0, 2.0, 3.0};
    memcpy(chain_z(&b), given, sizeof given);
    tal_force_set_param(m->forces, m->state, b.chain, TAL_THERMOSTAT_EXCLUDED, 2.0);
    tal_force_set_enabled(m->forces, m->state, b.noise, false);
    model_realize(m, TAL_STAGE_ACCELERATION);
    const double N = MODEL_NU - 2.0;
    ck_assert_double_eq(tal_thermostat_dof(m->forces, m->state, b.chain), N);
    const double K = tal_matter_kinetic_energy(m->matter, m->state), rate = 1.0 / (TAU * TAU);
    const double *c = given, *zdot = tal_state_zdot(m->state);
    const double expected[6] = {(2.0 * K / (N * KT) - 1.0) * rate - c[0] * c[1],
                                N * c[0] * c[0] - rate - c[1] * c[2],
                                c[1] * c[1] - rate,
                                c[0],
                                c[1],
                                c[2]};
    test_assert_near(zdot, expected, 6, 1e-12, "zdot");
    const double *s = given + 3;
    const double t2 = TAU * TAU;
    const double energy = KT * (N * t2 * c[0] * c[0] / 2.0 + N * s[0] +
                                t2 * (c[1] * c[1] + c[2] * c[2]) / 2.0 + s[1] + s[2]);
    ck_assert_double_eq_tol(tal_thermostat_bath_energy(m->forces, m->state, b.chain), energy,
                            1e-12);
    const double gained = KT * (N * t2 * c[0] * zdot[0] + N * zdot[3] + t2 * c[1] * zdot[1] +
                                t2 * c[2] * zdot[2] + zdot[4] + zdot[5]);
    ck_assert_double_eq_tol(gained, tal_force_dissipated_power(m->forces, m->state, b.chain),
                            1e-12);
    model_end(m);
}

END_TEST

// Without noise a Langevin bath is -gamma M u.
START_TEST(the_chain_is_read_and_set)
{
    baths b = begin(0.0);
    model *m = &b.m;
    const double c[3] = {0.3, -0.5, 0.8}, s[3] = {1.0, 2.0, 3.0};
    double c_read[3], s_read[3];
    ck_assert_int_eq(tal_thermostat_chain_length(m->forces, b.chain), 3);
    ck_assert_int_eq(tal_thermostat_set_chain(m->forces, m->state, b.chain, c, s, 3), TAL_OK);
    ck_assert_int_lt(tal_state_stage(m->state), TAL_STAGE_DYNAMICS);
    ck_assert_int_eq(memcmp(chain_z(&b), c, sizeof c), 0);
    ck_assert_int_eq(memcmp(chain_z(&b) + 3, s, sizeof s), 0);
    ck_assert_int_eq(tal_thermostat_chain(m->forces, m->state, b.chain, c_read, s_read, 3), TAL_OK);
    ck_assert_int_eq(memcmp(c_read, c, sizeof c), 0);
    ck_assert_int_eq(memcmp(s_read, s, sizeof s), 0);

    // one without the other
    ck_assert_int_eq(tal_thermostat_set_chain(m->forces, m->state, b.chain, NULL, c, 3), TAL_OK);
    ck_assert_int_eq(tal_thermostat_chain(m->forces, m->state, b.chain, c_read, NULL, 3), TAL_OK);
    ck_assert_int_eq(tal_thermostat_chain(m->forces, m->state, b.chain, NULL, s_read, 3), TAL_OK);
    ck_assert_int_eq(memcmp(c_read, c, sizeof c), 0);
    ck_assert_int_eq(memcmp(s_read, c, sizeof c), 0);

    // what is refused changes nothing
    const double bad[3] = {9.0, (double)NAN, 9.0};
    ck_assert_int_eq(tal_thermostat_set_chain(m->forces, m->state, b.chain, s, bad, 3),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "s_1"));
    ck_assert_int_eq(tal_state_clear_error(m->state), TAL_OK);
    ck_assert_int_eq(memcmp(chain_z(&b), c, sizeof c), 0);
    test_assert_breach((void)tal_thermostat_set_chain(m->forces, m->state, b.chain, c, s, 2),
                       TAL_ERR_BAD_VALUE, "3 links, not 2");
    test_assert_breach((void)tal_thermostat_chain(m->forces, m->state, b.noise, c_read, s_read, 3),
                       TAL_ERR_BAD_INDEX, "");
    test_assert_breach(ck_assert_int_eq(tal_thermostat_chain_length(m->forces, b.noise), -1),
                       TAL_ERR_BAD_INDEX, "");
    model_end(m);
}

END_TEST

START_TEST(langevin_friction_is_minus_gamma_times_momentum)
{
    baths b = begin(0.7);
    double Mu[MODEL_NU], g[MODEL_NU];
    tal_force_set_param(b.m.forces, b.m.state, b.noise, TAL_LANGEVIN_KT, 0.0);
    model_realize(&b.m, TAL_STAGE_VELOCITY);
    const double *u = tal_state_u(b.m.state);
    ck_assert_int_eq(tal_matter_mul_M(b.m.matter, b.m.state, u, Mu), TAL_OK);
    generalized(&b.m, b.noise, g);
    double power = 0.0;
    for (int i = 0; i < MODEL_NU; ++i) {
        ck_assert_double_eq_tol(g[i], -GAMMA * Mu[i], 1e-12);
        power += GAMMA * u[i] * Mu[i];
    }
    ck_assert_double_eq_tol(tal_force_dissipated_power(b.m.forces, b.m.state, b.noise), power,
                            1e-12);
    model_end(&b.m);
}

END_TEST

// Over n intervals the mean of g_i g_j is C_ij = 2 gamma kT / dt M_ij with a variance of
// (C_ii C_jj + C_ij^2) / n. Of the 105 entries the worst is a normal number that exceeds 4.5 once
// in 1400 seeds.
START_TEST(noise_has_the_covariance_of_the_mass_matrix)
{
    enum {
        N = 4000
    };

    baths b = begin(30.0); // a rotor that outweighs what the pin carries
    model *m = &b.m;
    static double sum[MODEL_NU][MODEL_NU];
    double g[MODEL_NU], M[MODEL_NU * MODEL_NU], mean = 0.0;
    memset(tal_state_upd_u(m->state), 0, MODEL_NU * sizeof(double)); // no friction
    for (int k = 0; k < N; ++k) {
        tal_state_set_t(m->state, (k + 0.5) * DT);
        model_realize(m, TAL_STAGE_VELOCITY);
        generalized(m, b.noise, g);
        mean += g[0];
        for (int i = 0; i < MODEL_NU * MODEL_NU; ++i) {
            sum[i / MODEL_NU][i % MODEL_NU] += g[i / MODEL_NU] * g[i % MODEL_NU] / N;
        }
    }
    const tal_matrix matrix = {M, MODEL_NU, MODEL_NU, MODEL_NU};
    ck_assert_int_eq(tal_matter_calc_M(m->matter, m->state, matrix), TAL_OK);
    const double size = 2.0 * GAMMA * KT / DT;
    for (int i = 0; i < MODEL_NU; ++i) {
        for (int j = 0; j <= i; ++j) {
            const double C_ij = size * M[i * MODEL_NU + j];
            const double C_ii = size * M[i * MODEL_NU + i], C_jj = size * M[j * MODEL_NU + j];
            const double sigma = sqrt((C_ii * C_jj + C_ij * C_ij) / N);
            ck_assert_double_eq_tol(sum[i][j], C_ij, 4.5 * sigma);
        }
    }
    ck_assert_double_eq_tol(mean / N, 0.0, 4.5 * sqrt(size * M[0] / N));
    model_end(m);
}

END_TEST

START_TEST(noise_is_a_function_of_seed_and_interval)
{
    baths b = begin(0.0);
    model *m = &b.m;
    double first[MODEL_NU], g[MODEL_NU];
    tal_state_set_t(m->state, 7.25 * DT);
    model_realize(m, TAL_STAGE_VELOCITY);
    generalized(m, b.noise, first);

    // the same interval, then another, then back
    tal_state_set_t(m->state, 7.75 * DT);
    model_realize(m, TAL_STAGE_VELOCITY);
    generalized(m, b.noise, g);
    test_assert_near(g, first, MODEL_NU, 0.0, "g");
    tal_state_set_t(m->state, 8.25 * DT);
    model_realize(m, TAL_STAGE_VELOCITY);
    generalized(m, b.noise, g);
    ck_assert_double_ne(g[0], first[0]);
    tal_state_set_t(m->state, 7.5 * DT);
    model_realize(m, TAL_STAGE_VELOCITY);
    generalized(m, b.noise, g);
    test_assert_near(g, first, MODEL_NU, 0.0, "g");

    // another seed, then back
    ck_assert_uint_eq(tal_langevin_seed(m->forces, m->state, b.noise), 5);
    ck_assert_int_eq(tal_langevin_set_seed(m->forces, m->state, b.noise, 6), TAL_OK);
    model_realize(m, TAL_STAGE_VELOCITY);
    generalized(m, b.noise, g);
    ck_assert_double_ne(g[0], first[0]);
    ck_assert_int_eq(tal_langevin_set_seed(m->forces, m->state, b.noise, 5), TAL_OK);
    generalized(m, b.noise, g);
    test_assert_near(g, first, MODEL_NU, 0.0, "g");
    model_end(m);
}

END_TEST

START_TEST(steps_that_do_not_fit_the_intervals_are_refused)
{
    baths b = begin(0.0);
    model *m = &b.m;
    tal_state_set_t(m->state, 3.0 * DT);
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_OK);
    tal_state_set_t(m->state, 4.0 * DT); // the end of the step belongs to its interval
    model_realize(m, TAL_STAGE_ACCELERATION);
    tal_state_set_t(m->state, 4.1 * DT);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_DYNAMICS),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "'noise'"));
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "fixed step of 0.01"));

    // after a restart the clock may stand anywhere, but no step may begin between two intervals
    ck_assert_int_eq(tal_langevin_restart(m->forces, m->state, b.noise), TAL_OK);
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "between"));
    // unless it is disabled
    tal_force_set_enabled(m->forces, m->state, b.noise, false);
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_OK);
    model_end(m);
}

END_TEST

START_TEST(noise_is_held_through_a_step_before_time_zero_too)
{
    baths b = begin(0.0);
    model *m = &b.m;
    double first[MODEL_NU], g[MODEL_NU];
    for (int interval = -3; interval < 1; ++interval) {
        tal_state_set_t(m->state, interval * DT);
        ck_assert_int_eq(tal_langevin_restart(m->forces, m->state, b.noise), TAL_OK);
        model_realize(m, TAL_STAGE_ACCELERATION);
        ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_OK);
        model_realize(m, TAL_STAGE_VELOCITY);
        generalized(m, b.noise, first);
        tal_state_set_t(m->state, (interval + 1) * DT);
        model_realize(m, TAL_STAGE_VELOCITY);
        generalized(m, b.noise, g);
        test_assert_near(g, first, MODEL_NU, 0.0, "g");
        tal_state_set_t(m->state, (interval + 1.1) * DT);
        ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_DYNAMICS),
                         TAL_ERR_BAD_VALUE);
    }
    model_end(m);
}

END_TEST

START_TEST(more_intervals_than_can_be_counted_are_refused)
{
    baths b = begin(0.0);
    model *m = &b.m;
    tal_state_set_t(m->state, 1e300);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_DYNAMICS),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "more intervals"));
    // a step that begins there is, too
    model_realize(m, TAL_STAGE_TIME);
    ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_ERR_BAD_VALUE);
    // they are not counted while the bath is disabled
    tal_force_set_enabled(m->forces, m->state, b.noise, false);
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_OK);
    model_end(m);
}

END_TEST

// Polynomials in velocities, and turning noise: differences of fourth order over 1e-3 leave 1e-11
// of forces of size 100.
START_TEST(changes_are_those_of_differences)
{
    for (int with_rotor = 0; with_rotor < 2; ++with_rotor) {
        baths b = begin(with_rotor == 1 ? 0.7 : 0.0);
        for (uint64_t seed = 1; seed < 5; ++seed) {
            model_shake(&b.m, seed);
            for (int i = 0; i < 6; ++i) {
                chain_z(&b)[i] = 0.5 - 0.2 * i;
            }
            model_realize(&b.m, TAL_STAGE_VELOCITY);
            tal_force_report report;
            ck_assert_int_eq(tal_force_test(b.m.forces, b.m.state, b.chain, &report, NULL), TAL_OK);
            ck_assert_double_lt(fmax(report.worst, report.rates), 1e-9);
            ck_assert_int_eq(tal_force_test(b.m.forces, b.m.state, b.noise, &report, NULL), TAL_OK);
            ck_assert_double_lt(report.change, 1e-9);
        }
        ck_assert_int_eq(tal_forces_differenced(b.m.forces, NULL, 0), 0);
        model_end(&b.m);
    }
}

END_TEST

START_TEST(parameters_live_in_the_state)
{
    baths b = begin(0.0);
    model *m = &b.m;
    chain_z(&b)[0] = 0.5;
    model_check_param(m, b.noise, TAL_LANGEVIN_KT, 0.5, TAL_STAGE_DYNAMICS);
    model_check_param(m, b.noise, TAL_LANGEVIN_FRICTION, 0.5, TAL_STAGE_DYNAMICS);
    model_check_param(m, b.noise, TAL_LANGEVIN_INTERVAL, 0.5, TAL_STAGE_INSTANCE);
    model_check_refused(m, b.noise, TAL_LANGEVIN_INTERVAL, 0.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, b.noise, TAL_LANGEVIN_KT, -1.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, b.chain, TAL_THERMOSTAT_KT, 0.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, b.chain, TAL_THERMOSTAT_TIME, -1.0, TAL_ERR_BAD_VALUE);
    model_check_heap_and_switch(m, b.chain);
    model_check_heap_and_switch(m, b.noise);

    // nothing left to be at temperature
    tal_force_set_param(m->forces, m->state, b.chain, TAL_THERMOSTAT_EXCLUDED, MODEL_NU);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_ACCELERATION),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "'chain'"));
    model_end(m);
}

END_TEST

START_TEST(bad_definitions_and_broken_contracts_are_reported)
{
    tal_error err = {0};
    tal_thermostat_def chain = tal_thermostat_def_default();
    model m = model_begin();
    ck_assert_int_lt(tal_forces_add_thermostat(m.forces, "bath", &chain).i, 0); // no kT
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "kT"));
    chain.kT = 1.0;
    chain.chain_length = TAL_MAX_CHAIN; // the longest there is
    m = model_begin();
    ck_assert_int_ge(tal_forces_add_thermostat(m.forces, NULL, &chain).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_OK);
    chain.chain_length = 17;
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_thermostat(m.forces, NULL, &chain).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "17 links"));
    const tal_langevin_def noise = tal_langevin_def_default();
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_langevin(m.forces, "bath", &noise).i, 0); // no interval
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "interval"));

    baths b = begin(0.0);
    const tal_forces *forces = b.m.forces;
    double x = 0.0;
    test_assert_breach((void)tal_forces_add_thermostat(b.m.forces, "x", NULL), TAL_ERR_NULL, "def");
    test_assert_breach((void)tal_forces_add_langevin(b.m.forces, "x", NULL), TAL_ERR_NULL, "def");
    test_assert_breach((void)tal_forces_add_thermostat(NULL, "x", &chain), TAL_ERR_NULL, "forces");
    test_assert_breach(x = tal_thermostat_dof(forces, b.m.state, b.noise), TAL_ERR_BAD_INDEX,
                       "langevin");
    ck_assert_double_nan(x);
    test_assert_breach(x = tal_thermostat_bath_energy(forces, b.m.state, b.noise),
                       TAL_ERR_BAD_INDEX, "langevin");
    test_assert_breach((void)tal_langevin_seed(forces, b.m.state, b.chain), TAL_ERR_BAD_INDEX,
                       "thermostat");
    test_assert_breach((void)tal_langevin_set_seed(forces, b.m.state, b.chain, 1),
                       TAL_ERR_BAD_INDEX, "thermostat");
    test_assert_breach((void)tal_langevin_restart(forces, b.m.state, b.chain), TAL_ERR_BAD_INDEX,
                       "thermostat");
    tal_state_set_t(b.m.state, 1.0);
    test_assert_breach(x = tal_thermostat_temperature(forces, b.m.state, b.chain), TAL_ERR_STAGE,
                       "Velocity");
    ck_assert_double_nan(x);
    model_end(&b.m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/thermostat");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, friction_of_a_chain_is_minus_c_times_momentum);
    tcase_add_test(theory, what_is_locked_is_at_no_temperature);
    tcase_add_test(theory, the_chain_follows_its_equations);
    tcase_add_test(theory, the_chain_is_read_and_set);
    tcase_add_test(theory, langevin_friction_is_minus_gamma_times_momentum);
    tcase_add_test(theory, noise_has_the_covariance_of_the_mass_matrix);
    tcase_add_test(theory, noise_is_a_function_of_seed_and_interval);
    tcase_add_test(theory, steps_that_do_not_fit_the_intervals_are_refused);
    tcase_add_test(theory, noise_is_held_through_a_step_before_time_zero_too);
    tcase_add_test(theory, more_intervals_than_can_be_counted_are_refused);
    tcase_add_test(theory, changes_are_those_of_differences);
    tcase_add_test(theory, parameters_live_in_the_state);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_definitions_and_broken_contracts_are_reported);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
