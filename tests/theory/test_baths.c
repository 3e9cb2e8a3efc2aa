// Runs at constant temperature: equipartition, what a Nose-Hoover chain conserves, and which
// integrators a Langevin bath accepts.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>
#include <string.h>

enum {
    NU = 6,
    NUM_BLOCKS = 100
};

// For the noise of a Langevin bath speeds are such that nothing turns by more than 0.1 rad in a
// step.
static const double KT_CHAIN = 1.3, KT_LANGEVIN = 0.3;

// A ball with a quaternion, on it a pin with a rotor, on that a universal, held by a spring.
typedef struct pendulum {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_force_ix bath;
    tal_state *state;
    tal_integrator *integ;
} pendulum;

static pendulum build(void)
{
    pendulum p = {.system = tal_system_create(NULL)};
    p.matter = tal_matter_create(p.system);
    p.forces = tal_forces_create(p.system, p.matter);
    (void)tal_forces_add_gravity(p.forces, tal_v3(0.0, -3.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.2, 0.4, 0.3));
    def.X_BM = tal_xf_from_p(tal_v3(0.05, 0.2, 0.0));
    tal_body_ix body = tal_matter_add_ball(p.matter, TAL_GROUND, &def);
    def.X_PF = tal_xf_from_p(tal_v3(0.0, -0.2, 0.1));
    body = tal_matter_add_pin(p.matter, body, &def);
    body = tal_matter_add_universal(p.matter, body, &def);
    // a spring to the side: without it the angular momentum about the vertical would keep its sign
    const tal_two_points side = {TAL_GROUND, {1.5, -0.5, 0.3}, body, {0.1, -0.3, 0.2}};
    (void)tal_forces_add_two_point_spring(p.forces, "spring", &side, 4.0, 0.3);
    return p;
}

static void finish(pendulum *p, const tal_integrator_def *def)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(p->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(p->system, &p->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_integrator_create(p->system, def, &p->integ, &err) == TAL_OK, "%s",
                  err.message);
    tal_body_set_rotor_inertia(p->matter, p->state, (tal_body_ix){2}, 0.1);
    const double u[NU] = {1.0, -0.5, 0.7, 1.0, -1.0, 0.5};
    ck_assert_int_eq(tal_state_set_u(p->state, u, NU), TAL_OK);
}

static void end(pendulum *p)
{
    tal_integrator_destroy(p->integ);
    tal_state_destroy(p->state);
    tal_system_destroy(p->system);
}

static void go(pendulum *p, double t)
{
    ck_assert_msg(tal_integrator_step_to(p->integ, p->state, t) == TAL_OK, "%s",
                  tal_integrator_error(p->integ)->message);
}

// --- equipartition ---

// The mean of u_i (M u)_i over `steps` steps, for all i, and behind them the mean of those.
static void mean_of_block(pendulum *p, int *step, int steps, double dt, double mean[])
{
    double Mu[NU];
    memset(mean, 0, (NU + 1) * sizeof *mean);
    for (int k = 0; k < steps; ++k) {
        go(p, ++*step * dt);
        const double *u = tal_state_u(p->state);
        ck_assert_int_eq(tal_matter_mul_M(p->matter, p->state, u, Mu), TAL_OK);
        for (int i = 0; i < NU; ++i) {
            mean[i] += u[i] * Mu[i] / steps;
            mean[NU] += u[i] * Mu[i] / steps / NU;
        }
    }
}

// Blocks much longer than the motion remembers are independent, so the standard deviation of the
// mean of all is that of the blocks over the root of their number.
// With 3 sigma one seed in 50 fails for one of the seven means by chance.
static void check_equipartition(pendulum *p, double kT, double dt, int steps_per_block)
{
    static double means[NUM_BLOCKS][NU + 1];
    int step = 0;
    double ignored[NU + 1];
    mean_of_block(p, &step, steps_per_block, dt, ignored); // to forget the start
    for (int k = 0; k < NUM_BLOCKS; ++k) {
        mean_of_block(p, &step, steps_per_block, dt, means[k]);
    }
    for (int i = 0; i <= NU; ++i) {
        double mean = 0.0, variance = 0.0;
        for (int k = 0; k < NUM_BLOCKS; ++k) {
            mean += means[k][i] / NUM_BLOCKS;
        }
        for (int k = 0; k < NUM_BLOCKS; ++k) {
            variance += (means[k][i] - mean) * (means[k][i] - mean) / (NUM_BLOCKS - 1);
        }
        const double sigma = sqrt(variance / NUM_BLOCKS);
        ck_assert_double_lt(sigma, 0.04 * kT); // a test that could not fail would not count
        ck_assert_msg(fabs(mean - kT) < 3.0 * sigma, "speed %d: %g, sigma %g", i, mean, sigma);
    }
}

static tal_integrator_def fixed(double dt)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.fixed_step = dt;
    return def;
}

static pendulum with_langevin(double dt, const tal_integrator_def *def)
{
    pendulum p = build();
    tal_langevin_def bath = tal_langevin_def_default();
    bath.kT = KT_LANGEVIN;
    bath.friction = 4.0;
    bath.interval = dt;
    bath.seed = 99;
    p.bath = tal_forces_add_langevin(p.forces, "bath", &bath);
    finish(&p, def);
    return p;
}

// The mean is low by (gamma dt)^2 / 12 = 5e-4, a tenth of sigma at most. Blocks are 80 times 1 /
// gamma.
START_TEST(a_langevin_bath_gives_every_speed_its_share)
{
    const double dt = 0.02;
    const tal_integrator_def def = fixed(dt);
    pendulum p = with_langevin(dt, &def);
    check_equipartition(&p, KT_LANGEVIN, dt, 1000);
    end(&p);
}

END_TEST

static pendulum with_chain(const tal_integrator_def *def)
{
    pendulum p = build();
    tal_thermostat_def bath = tal_thermostat_def_default();
    bath.kT = KT_CHAIN;
    bath.relaxation_time = 0.5;
    p.bath = tal_forces_add_thermostat(p.forces, "bath", &bath);
    tal_force_track_dissipation(p.forces, p.bath);
    finish(&p, def);
    return p;
}

START_TEST(a_nose_hoover_chain_gives_every_speed_its_share)
{
    const double dt = 0.025;
    const tal_integrator_def def = fixed(dt);
    pendulum p = with_chain(&def);
    check_equipartition(&p, KT_CHAIN, dt, 1000);
    end(&p);
}

END_TEST

// Energy of size 10 along 10 s to accuracy 1e-11 a step: 1e-9. What went to the bath is what its
// account says, and what the bath has.
START_TEST(a_nose_hoover_chain_conserves_the_energy_of_system_and_bath)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-11;
    def.absolute_u = def.absolute_z = true;
    pendulum p = with_chain(&def);
    go(&p, 0.0);
    const double energy = tal_system_energy(p.system, p.state);
    ck_assert_double_eq(tal_thermostat_bath_energy(p.forces, p.state, p.bath), 0.0);
    double least = 0.0, most = 0.0;
    for (int k = 1; k <= 10; ++k) {
        go(&p, k);
        const double bath = tal_thermostat_bath_energy(p.forces, p.state, p.bath);
        const double account = tal_force_dissipated_energy(p.forces, p.state, p.bath);
        ck_assert_double_eq_tol(tal_system_energy(p.system, p.state) + bath, energy, 1e-9);
        ck_assert_double_eq_tol(account, bath, 1e-9);
        least = fmin(least, bath);
        most = fmax(most, bath);
    }
    ck_assert_double_gt(most - least, 0.1); // it did exchange energy
    end(&p);
}

END_TEST

// --- Langevin and integrators ---

START_TEST(a_langevin_run_can_be_repeated_and_continued_to_the_bit)
{
    const double dt = 0.01;
    const tal_integrator_def def = fixed(dt);
    double y[2][2 * NU + 1];
    for (int k = 0; k < 2; ++k) {
        pendulum p = with_langevin(dt, &def);
        go(&p, 0.5);
        if (k == 0) go(&p, 1.0);
        if (k == 1) {
            // go on from a copy in another State with another integrator
            tal_state *copy = NULL;
            ck_assert_int_eq(tal_state_create(p.system, &copy, NULL), TAL_OK);
            ck_assert_int_eq(tal_state_copy(copy, p.state), TAL_OK);
            tal_state_destroy(p.state);
            p.state = copy;
            tal_integrator_destroy(p.integ);
            ck_assert_int_eq(tal_integrator_create(p.system, &def, &p.integ, NULL), TAL_OK);
            go(&p, 1.0);
        }
        ck_assert_int_eq(tal_state_ny(p.state), 2 * NU + 1);
        memcpy(y[k], tal_state_y(p.state), sizeof y[k]);
        end(&p);
    }
    ck_assert_int_eq(memcmp(y[0], y[1], sizeof y[0]), 0);
}

END_TEST

START_TEST(a_langevin_bath_refuses_steps_that_are_not_its_own)
{
    const double dt = 0.01;
    tal_integrator_def defs[4] = {tal_integrator_def_default(), fixed(0.007), fixed(2.0 * dt),
                                  fixed(0.5 * dt)};
    for (int k = 0; k < 4; ++k) {
        pendulum p = with_langevin(dt, &defs[k]);
        ck_assert_int_eq(tal_integrator_step_to(p.integ, p.state, 1.0), TAL_ERR_BAD_VALUE);
        const char *said = tal_integrator_error(p.integ)->message;
        ck_assert_msg(strstr(said, "'bath'") != NULL, "%s", said);
        ck_assert_msg(strstr(said, "fixed step of 0.01") != NULL, "%s", said);
        end(&p);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("theory/baths");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 100);
    tcase_add_test(theory, a_langevin_bath_gives_every_speed_its_share);
    tcase_add_test(theory, a_nose_hoover_chain_gives_every_speed_its_share);
    tcase_add_test(theory, a_nose_hoover_chain_conserves_the_energy_of_system_and_bath);
    tcase_add_test(theory, a_langevin_run_can_be_repeated_and_continued_to_the_bit);
    tcase_add_test(theory, a_langevin_bath_refuses_steps_that_are_not_its_own);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
