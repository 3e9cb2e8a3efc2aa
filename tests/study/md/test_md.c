// Tests for study/src/md: molecular dynamics by steps of a fixed length.
#include "alloc_guard.h"
#include "md_support.h"

#include <math.h>

// ---- Verlet's method

// With all speeds turned around a run goes back to where it began. The motion is not chaotic in
// this time: what is left is round-off and the tolerance of the drift, grown by its slopes.
START_TEST(runs_can_be_turned_around)
{
    scene s;
    begin(&s);
    add_tree(&s);
    tal_md_def def = def_of(TAL_MD_ISOLATED, 0.01);
    def.drift = (tal_md_drift)_i;
    ready(&s, &def);
    stir(&s, 61, 0.2, 1.0);
    double q0[32], q1[32];
    const int nq = tal_state_nq(s.state), nu = tal_state_nu(s.state);
    memcpy(q0, tal_state_q(s.state), (size_t)nq * sizeof q0[0]);
    run(&s, 100);
    memcpy(q1, tal_state_q(s.state), (size_t)nq * sizeof q1[0]);
    double *u = tal_state_upd_u(s.state);
    for (int i = 0; i < nu; ++i) {
        u[i] = -u[i];
    }
    run(&s, 100);
    double far = 0.0, back = 0.0;
    for (int i = 0; i < nq; ++i) {
        far = fmax(far, fabs(q1[i] - q0[i]));
        back = fmax(back, fabs(tal_state_q(s.state)[i] - q0[i]));
    }
    ck_assert_double_gt(far, 0.1);
    ck_assert_double_le(back, 1e-9);
    end(&s);
}

END_TEST

static double error_of_energy(tal_md_drift drift, double step, int steps, double *norm)
{
    scene s;
    begin(&s);
    add_tree(&s);
    tal_md_def def = def_of(TAL_MD_ISOLATED, step);
    def.drift = drift;
    ready(&s, &def);
    stir(&s, 62, 0.2, 1.0);
    const double before = tal_md_report_of(s.md, s.state).conserved;
    double worst = 0.0;
    for (int i = 0; i < 10; ++i) {
        run(&s, steps / 10);
        worst = fmax(worst, fabs(tal_md_report_of(s.md, s.state).conserved - before));
    }
    const double *q = tal_state_q(s.state);
    *norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    end(&s);
    return worst;
}

// The energy is off by a multiple of the square of the step, and quaternions stay unit ones.
START_TEST(the_error_of_the_energy_is_of_order_two)
{
    double norm[2];
    const double rough = error_of_energy((tal_md_drift)_i, 4e-3, 500, &norm[0]);
    const double fine = error_of_energy((tal_md_drift)_i, 2e-3, 1000, &norm[1]);
    ck_assert_double_eq_tol(rough / fine, 4.0, 0.4);
    ck_assert_double_eq_tol(norm[0], 1.0, 1e-10);
    ck_assert_double_eq_tol(norm[1], 1.0, 1e-10);
}

END_TEST

// ---- baths

// refs:nhc_oscillator: after 2000 steps of 0.01 the conserved quantity was off by at most
// 0.007755287574816805, with 4000 of 0.005 by 0.001949076521151838, in an independent program.
START_TEST(chains_move_as_in_the_references)
{
    const double expected[2] = {0.007755287574816805, 0.001949076521151838};
    for (int k = 0; k < 2; ++k) {
        scene s;
        begin(&s);
        add_oscillator(&s, 2.0, 50.0);
        tal_md_def def = def_of(TAL_MD_CHAIN, k == 0 ? 0.01 : 0.005);
        def.kT = 2.494338785445972;
        def.relaxation_time = 0.5;
        ready(&s, &def);
        tal_state_upd_q(s.state)[0] = 0.2;
        tal_state_upd_u(s.state)[0] = 1.0;
        const double before = tal_md_report_of(s.md, s.state).conserved;
        ck_assert_double_eq_tol(before, 2.0, 1e-14);
        double worst = 0.0;
        for (int i = 0; i < (k == 0 ? 2000 : 4000); ++i) {
            run(&s, 1);
            worst = fmax(worst, fabs(tal_md_report_of(s.md, s.state).conserved - before));
        }
        ck_assert_double_eq_tol(worst, expected[k], 1e-9);
        end(&s);
    }
}

END_TEST

// BAOAB gives an oscillator the right spread at any step, also a long one (LM): mean x^2 = kT/k
// within 3 sigma. Blocks of 200 steps are independent: friction takes 4.
START_TEST(langevin_gives_an_oscillator_its_spread)
{
    enum {
        BLOCKS = 400
    };

    scene s;
    begin(&s);
    add_oscillator(&s, 1.5, 6.0); // omega = 2, h omega = 1
    tal_md_def def = def_of(TAL_MD_LANGEVIN, 0.5);
    def.kT = 3.0;
    def.friction = 0.5;
    def.seed = 7;
    ready(&s, &def);
    run(&s, 100);
    double sum = 0.0, squares = 0.0;
    for (int b = 0; b < BLOCKS; ++b) {
        double block = 0.0;
        for (int i = 0; i < 200; ++i) {
            run(&s, 1);
            const double x = tal_state_q(s.state)[0];
            block += x * x / 200.0;
        }
        sum += block;
        squares += block * block;
    }
    const double mean = sum / BLOCKS;
    const double sigma = sqrt((squares / BLOCKS - mean * mean) / (BLOCKS - 1));
    ck_assert_double_le(sigma, 0.02);
    ck_assert_double_eq_tol(mean, 0.5, 3.0 * sigma);
    end(&s);
}

END_TEST

// In a tree with every kind of coordinate every u_i (M u)_i has the mean kT: modal equipartition.
// Strong friction makes every sample a new one, to e^-3. The variance of each is 2 kT^2 at least
// and a few times that for light ones; it is measured.
START_TEST(noise_gives_every_speed_its_share)
{
    enum {
        SAMPLES = 4000,
        MOST = 16
    };

    scene s;
    begin(&s);
    add_tree(&s);
    tal_md_def def = def_of(TAL_MD_LANGEVIN, 0.01);
    def.kT = 0.7;
    def.friction = 300.0;
    def.seed = 3;
    ready(&s, &def);
    stir(&s, 63, 0.2, 0.0);
    run(&s, 10);
    const int nu = tal_state_nu(s.state);
    double sum[MOST] = {0.0}, squares[MOST] = {0.0}, p[MOST];
    for (int k = 0; k < SAMPLES; ++k) {
        run(&s, 1);
        const double *u = tal_state_u(s.state);
        ck_assert_int_eq(tal_matter_mul_M(s.matter, s.state, u, p), TAL_OK);
        for (int i = 0; i < nu; ++i) {
            sum[i] += u[i] * p[i] / SAMPLES;
            squares[i] += u[i] * p[i] * u[i] * p[i] / SAMPLES;
        }
    }
    for (int i = 0; i < nu; ++i) { // 12 speeds, all within 3 sigma with this seed
        const double sigma = sqrt((squares[i] - sum[i] * sum[i]) / SAMPLES);
        ck_assert_double_eq_tol(sum[i], 0.7, 3.0 * sigma + 0.01);
    }
    end(&s);
}

END_TEST

// Rescaling gives the kinetic energy of N atoms its mean N kT/2 and its variance N kT^2/2 (BDP).
START_TEST(rescaling_gives_kinetic_energy_its_distribution)
{
    enum {
        SAMPLES = 20000,
        ATOMS = 4
    };

    scene s;
    begin(&s);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass.mass = 2.0;
    body.structure = TAL_BODY_PARTICLE;
    for (int i = 0; i < ATOMS; ++i) {
        (void)tal_matter_add_translation(s.matter, TAL_GROUND, &body);
    }
    tal_md_def def = def_of(TAL_MD_RESCALE, 0.1);
    def.kT = 1.3;
    def.relaxation_time = 0.05;
    ready(&s, &def);
    tal_state_upd_u(s.state)[0] = 1.0;
    run(&s, 100);
    const double N = 3.0 * ATOMS;
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < SAMPLES; ++i) {
        run(&s, 1);
        const double K = tal_matter_kinetic_energy(s.matter, s.state);
        sum += K / SAMPLES;
        squares += K * K / SAMPLES;
    }
    // samples are correlated by e^-2: the mean has sigma sqrt(N/2 kT^2/20000 (1 + e^-2)/(1 - e^-2))
    const double variance = 0.5 * N * 1.3 * 1.3, few = SAMPLES / 1.32;
    ck_assert_double_eq_tol(sum, 0.5 * N * 1.3, 3.0 * sqrt(variance / few));
    // the fourth moment of a chi-squared distribution: kurtosis 3 + 12/N
    const double spread = variance * sqrt((2.0 + 12.0 / N) / few);
    ck_assert_double_eq_tol(squares - sum * sum, variance, 3.0 * spread);
    const tal_md_report report = tal_md_report_of(s.md, s.state);
    ck_assert_double_eq_tol(report.conserved, 1.0, 1e-9); // what the bath gave is counted
    end(&s);
}

END_TEST

// ---- runs

// State and memory are all there is: a run continues bit for bit, in another process for all that
// matters; nothing is allocated.
START_TEST(runs_continue_bit_for_bit)
{
    for (int bath = TAL_MD_ISOLATED; bath <= TAL_MD_SAMPLE; ++bath) {
        scene a, b;
        tal_md_def def = def_of((tal_md_bath)bath, 0.01);
        def.kT = 0.5;
        def.trajectory = 3;
        def.still_every = bath == TAL_MD_SAMPLE ? 0 : 3;
        def.still_turning = true;
        begin(&a);
        add_tree(&a);
        ready(&a, &def);
        stir(&a, 64, 0.2, 1.0);
        begin(&b);
        add_tree(&b);
        ready(&b, &def);
        ck_assert_int_eq(tal_state_set_q(b.state, tal_state_q(a.state), tal_state_nq(a.state)),
                         TAL_OK);
        ck_assert_int_eq(tal_state_set_u(b.state, tal_state_u(a.state), tal_state_nu(a.state)),
                         TAL_OK);
        run(&b, 7);
        const tal_md_memory memory = tal_md_memory_of(b.md);
        ck_assert_int_eq(memory.steps, 7);
        tal_error err;
        tal_md_destroy(b.md);
        ck_assert_int_eq(tal_md_create(b.system, &def, &b.md, &err), TAL_OK);
        ck_assert_int_eq(tal_md_set_memory(b.md, &memory), TAL_OK);
        run(&b, 6);
        tal_status st;
        test_assert_no_heap(st = tal_md_run(a.md, a.state, 13));
        ck_assert_int_eq(st, TAL_OK);
        const size_t bytes = (size_t)tal_state_ny(a.state) * sizeof(double);
        ck_assert(memcmp(tal_state_y(a.state), tal_state_y(b.state), bytes) == 0);
        ck_assert(tal_md_report_of(a.md, a.state).conserved ==
                  tal_md_report_of(b.md, b.state).conserved);
        end(&a);
        end(&b);
    }
}

END_TEST

// Momentum and angular momentum of the whole go, speeds between bodies stay.
START_TEST(momentum_can_be_removed)
{
    scene s;
    begin(&s);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_brick(2.0, tal_v3(0.3, 0.2, 0.1));
    body.X_BM = tal_xf_from_p(tal_v3(0.0, 0.4, 0.0));
    const tal_body_ix root = tal_matter_add_free(s.matter, TAL_GROUND, &body);
    (void)tal_matter_add_pin(s.matter, root, &body);
    (void)tal_matter_add_free(s.matter, TAL_GROUND, &body);
    tal_md_def def = def_of(TAL_MD_ISOLATED, 1e-9);
    def.still_every = 1;
    def.still_turning = true;
    ready(&s, &def);
    stir(&s, 65, 0.4, 1.0);
    const double inner = tal_body_u(s.matter, s.state, (tal_body_ix){2}, 0);
    run(&s, 1);
    const tal_spatial_vec P = tal_matter_central_momentum(s.matter, s.state);
    ck_assert_double_le(tal_v3_norm(P.v), 1e-13);
    ck_assert_double_le(tal_v3_norm(P.w), 1e-13);
    ck_assert_double_eq_tol(tal_body_u(s.matter, s.state, (tal_body_ix){2}, 0), inner, 1e-8);
    end(&s);
}

END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    scene s;
    tal_error err;
    tal_md *md = NULL;
    begin(&s);
    add_tree(&s);
    tal_md_def def = def_of(TAL_MD_CHAIN, 0.01);
    def.kT = 1.0;
    ready(&s, &def);
    tal_md_def bad = def;
    bad.step = 0.0;
    ck_assert_int_eq(tal_md_create(s.system, &bad, &md, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "step"));
    bad = def;
    bad.kT = 0.0;
    ck_assert_int_eq(tal_md_create(s.system, &bad, &md, &err), TAL_ERR_BAD_VALUE);
    bad = def;
    bad.chain_length = TAL_MAX_CHAIN + 1;
    ck_assert_int_eq(tal_md_create(s.system, &bad, &md, &err), TAL_ERR_BAD_VALUE);
    bad = def;
    bad.bath = TAL_MD_SAMPLE;
    bad.trajectory = 0;
    ck_assert_int_eq(tal_md_create(s.system, &bad, &md, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "trajectory"));
    bad.trajectory = 1;
    bad.still_every = 1;
    ck_assert_int_eq(tal_md_create(s.system, &bad, &md, &err), TAL_ERR_BAD_VALUE);
    bad = def;
    bad.most_rounds = 0;
    ck_assert_int_eq(tal_md_create(s.system, &bad, &md, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(md);
    ck_assert_int_eq(tal_md_run(s.md, s.state, -1), TAL_ERR_BAD_VALUE);
    tal_md_memory memory = tal_md_memory_of(s.md);
    memory.accepted = 1; // of no steps
    ck_assert_int_eq(tal_md_set_memory(s.md, &memory), TAL_ERR_BAD_VALUE);
    memory.accepted = 0;
    memory.c[1] = (double)NAN;
    ck_assert_int_eq(tal_md_set_memory(s.md, &memory), TAL_ERR_BAD_VALUE);
    stir(&s, 66, 0.1, 1.0);
    ck_assert_int_eq(tal_body_lock(s.matter, s.state, (tal_body_ix){2}, TAL_LEVEL_POSITION),
                     TAL_OK);
    ck_assert_int_eq(tal_md_run(s.md, s.state, 1), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_md_error(s.md)->message, "unlock"));
    ck_assert_int_eq(tal_body_unlock(s.matter, s.state, (tal_body_ix){2}), TAL_OK);
    tal_md_destroy(s.md);
    def.bath = TAL_MD_ISOLATED;
    ck_assert_int_eq(tal_md_create(s.system, &def, &s.md, &err), TAL_OK);
    stir(&s, 67, 0.1, 300.0); // 3 rad in a step
    const tal_status st = tal_md_run(s.md, s.state, 1);
    ck_assert_msg(st == TAL_ERR_NO_CONVERGENCE, "%s", tal_md_error(s.md)->message);
    end(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("md");
    TCase *verlet = tcase_create("verlet");
    tcase_add_loop_test(verlet, runs_can_be_turned_around, 0, 2);
    tcase_add_loop_test(verlet, the_error_of_the_energy_is_of_order_two, 0, 2);
    suite_add_tcase(suite, verlet);
    TCase *baths = tcase_create("baths");
    tcase_set_timeout(baths, 60.0);
    tcase_add_test(baths, chains_move_as_in_the_references);
    tcase_add_test(baths, langevin_gives_an_oscillator_its_spread);
    tcase_add_test(baths, noise_gives_every_speed_its_share);
    tcase_add_test(baths, rescaling_gives_kinetic_energy_its_distribution);
    suite_add_tcase(suite, baths);
    TCase *runs = tcase_create("runs");
    tcase_add_test(runs, runs_continue_bit_for_bit);
    tcase_add_test(runs, momentum_can_be_removed);
    tcase_add_test(runs, what_does_not_fit_is_refused);
    suite_add_tcase(suite, runs);
    return test_run(suite);
}
