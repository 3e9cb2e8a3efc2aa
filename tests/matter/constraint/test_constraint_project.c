// Tests of matter/src/constraint/constraint_project.c: q and u onto the constraints.
#include "alloc_guard.h"
#include "mechanism_support.h"
#include "project_support.h"

#include <float.h>

// --- helpers ---

// One Newton step, whatever the errors are.
static tal_project_options one_step(void)
{
    tal_project_options options = options_of(HUGE_VAL);
    options.even_if_met = true;
    return options;
}

static double uerr_norm(const loop *l)
{
    double sum = 0.0;
    for (int i = 0; i < tal_state_pool_size(l->state, TAL_POOL_UERR); ++i) {
        sum += tal_state_uerr(l->state)[i] * tal_state_uerr(l->state)[i];
    }
    return sqrt(sum);
}

// Moves each q by up to `size`.
static void disturb_q(const loop *l, test_rng *rng, double size)
{
    for (int i = 0; i < tal_state_nq(l->state); ++i) {
        tal_state_upd_q(l->state)[i] += test_random_uniform(rng, -size, size);
    }
}

// --- dense matrices, from columns u = e_j ---

typedef struct dense {
    int nq, nu, m;                         // m: rows of uerr
    double N[2 * MAX_LOOP_U * MAX_LOOP_U]; // nq x nu
    double PV[MAX_LOOP_ROWS * MAX_LOOP_U]; // m x nu
    double offset[MAX_LOOP_ROWS];          // uerr at u = 0
} dense;

// qdot = N u and uerr = [P; V] u + offset are linear in u here, so columns are exact to round-off.
static dense matrices_of(const loop *l)
{
    dense d = {.nq = tal_state_nq(l->state), .nu = tal_state_nu(l->state)};
    double kept[MAX_LOOP_U];
    memcpy(kept, tal_state_u(l->state), (size_t)d.nu * sizeof *kept);
    for (int j = -1; j < d.nu; ++j) {
        for (int i = 0; i < d.nu; ++i) {
            tal_state_upd_u(l->state)[i] = i == j ? 1.0 : 0.0;
        }
        loop_realize(l, TAL_STAGE_VELOCITY);
        d.m = tal_state_pool_size(l->state, TAL_POOL_UERR);
        for (int i = 0; i < d.m; ++i) {
            const double e = tal_state_uerr(l->state)[i];
            if (j < 0) d.offset[i] = e;
            if (j >= 0) d.PV[i + j * d.m] = e - d.offset[i];
        }
        for (int i = 0; i < d.nq && j >= 0; ++i) {
            d.N[i + j * d.nq] = tal_state_qdot(l->state)[i];
        }
    }
    ck_assert_int_eq(tal_state_set_u(l->state, kept, d.nu), TAL_OK);
    return d;
}

// The s with least |K s| that solves C s = r: [K^T K  C^T; C  0] [s; mu] = [0; r].
static void solve_least(const double KTK[], const double C[], int m, int ldc, int n,
                        const double r[], double s[])
{
    enum {
        MOST = MAX_LOOP_U + MAX_LOOP_ROWS
    };

    double A[MOST * MOST] = {0.0}, x[MOST] = {0.0};
    const int size = n + m;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            A[i + j * size] = KTK[i + j * n];
        }
        for (int i = 0; i < m; ++i) {
            A[n + i + j * size] = A[j + (n + i) * size] = C[i + j * ldc];
        }
    }
    memcpy(x + n, r, (size_t)m * sizeof *x);
    double work[8 * MOST];
    int iwork[8 * MOST];
    ck_assert_int_le((int)tal_cod_work_size(size, size), 8 * MOST);
    tal_cod cod;
    ck_assert_int_eq(tal_cod_factor(&cod, tal_matrix_view(A, size, size), -1.0, work, iwork, NULL),
                     TAL_OK);
    ck_assert_int_eq(cod.rank, size);
    ck_assert_int_eq(
        tal_cod_solve(&cod, tal_matrix_view(x, size, 1), tal_matrix_view(x, size, 1), NULL),
        TAL_OK);
    memcpy(s, x, (size_t)n * sizeof *s);
}

// W^T W
static void gram(const dense *d, const double W[], double WTW[])
{
    for (int i = 0; i < d->nu; ++i) {
        for (int j = 0; j < d->nu; ++j) {
            WTW[i + j * d->nu] = i == j ? W[i] * W[i] : 0.0;
        }
    }
}

// --- theory ---

START_TEST(newton_steps_converge_quadratically)
{
    test_rng rng = test_rng_seed(1);
    loop l;
    build_mixed(&l, &rng);
    randomize(&l, &rng);
    assemble(&l);
    disturb_q(&l, &rng, 1e-2);

    double before = 0.0;
    for (int i = 0; i < 4; ++i) {
        const tal_project_options options = one_step();
        project_q(&l, &options, NULL);
        const double after = qerr_norm(&l);
        // curvatures of this mechanism are of order 1; 1e-14 is the round-off of its errors
        if (i > 0) ck_assert_double_le(after, 20.0 * before * before + 1e-14);
        before = after;
    }
    ck_assert_double_le(before, 1e-14);
    loop_end(&l);
}

END_TEST

START_TEST(what_meets_the_constraints_is_returned_bit_for_bit)
{
    test_rng rng = test_rng_seed(2);
    loop l;
    build_mixed(&l, &rng);
    randomize(&l, &rng);
    assemble(&l);
    tal_state *copy = NULL;
    ck_assert_int_eq(tal_state_create(l.system, &copy, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(copy, l.state), TAL_OK);

    tal_project_result result;
    const tal_project_options options = options_of(1e-10);
    project_q(&l, &options, &result);
    ck_assert(!result.changed);
    ck_assert_int_eq(result.iterations, 0);
    ck_assert_double_eq(result.norm_before, result.norm_after);
    project_u(&l, &options, &result);
    ck_assert(!result.changed);
    ck_assert(tal_state_is_equal(copy, l.state));
    tal_state_destroy(copy);
    loop_end(&l);
}

END_TEST

// As in manual eq. 10.5, but counted along speeds (theory T-9): dq = N s, where s has the least
// |W_u s| of all that solve P s = e. The quaternions are not of unit length, and the tolerance
// weights drop out.
START_TEST(the_change_of_q_is_the_least_in_the_weighted_norm)
{
    test_rng rng = test_rng_seed(3);
    loop l;
    build_mixed(&l, &rng);
    randomize(&l, &rng);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    set_weights(&l, &rng, TAL_POOL_U);
    set_weights(&l, &rng, TAL_POOL_QERR);
    assemble(&l);
    disturb_q(&l, &rng, 1e-3);
    const dense d = matrices_of(&l);
    double q0[2 * MAX_LOOP_U], KTK[MAX_LOOP_U * MAX_LOOP_U] = {0.0}, s[MAX_LOOP_U],
                                                r[MAX_LOOP_ROWS];
    memcpy(q0, tal_state_q(l.state), (size_t)d.nq * sizeof *q0);
    gram(&d, tal_state_weights(l.state, TAL_POOL_U), KTK);
    const int mp = tal_state_pool_size(l.state, TAL_POOL_QERR) - 2; // two quaternions
    ck_assert_int_eq(mp, 5);
    loop_realize(&l, TAL_STAGE_POSITION);
    memcpy(r, tal_state_qerr(l.state), (size_t)mp * sizeof *r);
    solve_least(KTK, d.PV, mp, d.m, d.nu, r, s);
    double lengths[2] = {0.0, 0.0};
    const tal_body_ix with_quaternions[2] = {{1}, {6}};

    const tal_project_options options = one_step();
    project_q(&l, &options, NULL);
    for (int i = 0; i < d.nq; ++i) {
        for (int j = 0; j < d.nu; ++j) {
            q0[i] -= d.N[i + j * d.nq] * s[j];
        }
    }
    for (int k = 0; k < 2; ++k) { // quaternions are normalized afterwards
        double *e = q0 + tal_body_q_start(l.matter, l.state, with_quaternions[k]);
        lengths[k] = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
        for (int i = 0; i < 4; ++i) {
            e[i] /= lengths[k];
        }
    }
    // q is of order 1, the change of 1e-3 is known to 1e-13: condition 1e3, errors 1e-13
    test_assert_near(tal_state_q(l.state), q0, d.nq, 1e-13, "q");
    loop_end(&l);
}

END_TEST

START_TEST(the_change_of_u_is_the_least_in_the_weighted_norm)
{
    test_rng rng = test_rng_seed(4);
    loop l;
    build_mixed(&l, &rng);
    randomize(&l, &rng);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    set_weights(&l, &rng, TAL_POOL_U);
    set_weights(&l, &rng, TAL_POOL_UERR);
    const dense d = matrices_of(&l);
    double KTK[MAX_LOOP_U * MAX_LOOP_U] = {0.0}, s[MAX_LOOP_U], u[MAX_LOOP_U];
    gram(&d, tal_state_weights(l.state, TAL_POOL_U), KTK);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    solve_least(KTK, d.PV, d.m, d.m, d.nu, tal_state_uerr(l.state), s);
    for (int j = 0; j < d.nu; ++j) {
        u[j] = tal_state_u(l.state)[j] - s[j];
    }

    tal_project_result result;
    const tal_project_options options = options_of(1e-13);
    project_u(&l, &options, &result);
    // linear in u, so one iteration does it
    ck_assert_int_le(result.iterations, 2);
    ck_assert_double_le(uerr_norm(&l), 1e-12);
    test_assert_near(tal_state_u(l.state), u, d.nu, 1e-12, "u");
    loop_end(&l);
}

END_TEST

// By manual eq. 10.12-10.14 what is left of an error estimate no constraint sees, and there is
// nothing to remove from it a second time.
START_TEST(error_estimates_lose_what_the_constraints_see)
{
    test_rng rng = test_rng_seed(5);
    loop l;
    build_mixed(&l, &rng);
    randomize(&l, &rng);
    assemble(&l);
    const dense d = matrices_of(&l);
    double e_q[2 * MAX_LOOP_U], e_u[MAX_LOOP_U], again_q[2 * MAX_LOOP_U], again_u[MAX_LOOP_U];
    for (int i = 0; i < d.nq; ++i) {
        e_q[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    for (int i = 0; i < d.nu; ++i) {
        e_u[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    const tal_project_options options = options_of(1e-10);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_project_q(l.system, l.state, &options, e_q, NULL), TAL_OK);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_project_u(l.system, l.state, &options, e_u, NULL), TAL_OK);
    memcpy(again_q, e_q, sizeof e_q);
    memcpy(again_u, e_u, sizeof e_u);
    ck_assert_int_eq(tal_system_project_q(l.system, l.state, &options, again_q, NULL), TAL_OK);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_project_u(l.system, l.state, &options, again_u, NULL), TAL_OK);

    test_assert_near(again_q, e_q, d.nq, 1e-13, "e_q");
    test_assert_near(again_u, e_u, d.nu, 1e-13, "e_u");
    for (int i = 0; i < d.m; ++i) {
        double sum = 0.0;
        for (int j = 0; j < d.nu; ++j) {
            sum += d.PV[i + j * d.m] * e_u[j];
        }
        ck_assert_double_le(fabs(sum), 1e-13);
    }
    // moving q along what is left changes perr to second order only
    const double step = 1e-5;
    for (int i = 0; i < d.nq; ++i) {
        tal_state_upd_q(l.state)[i] += step * e_q[i];
    }
    loop_realize(&l, TAL_STAGE_POSITION);
    ck_assert_double_le(qerr_norm(&l), 100.0 * step * step);
    loop_end(&l);
}

END_TEST

START_TEST(repeating_constraints_does_not_change_the_projection)
{
    double q[2][3];
    for (int copies = 1; copies <= 3; copies += 2) {
        loop l;
        loop_begin(&l);
        tal_body_ix last = TAL_GROUND;
        for (int i = 0; i < 3; ++i) {
            tal_mobod_def def = tal_mobod_def_default();
            def.mass = slender(1.0, 1.0);
            if (i > 0) def.X_PF.p = tal_v3(1.0, 0.0, 0.0);
            last = tal_matter_add_pin(l.matter, last, &def);
        }
        for (int i = 0; i < copies; ++i) {
            (void)add_ball(&l, TAL_GROUND, tal_v3(1.5, 0.5, 0.0), last, tal_v3(1.0, 0.0, 0.0));
        }
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        const double start[] = {1.0, -1.2, -0.7};
        ck_assert_int_eq(tal_state_set_q(l.state, start, 3), TAL_OK);
        const tal_project_options options = options_of(1e-13);
        project_q(&l, &options, NULL);
        memcpy(q[copies / 2], tal_state_q(l.state), sizeof q[0]);
        loop_end(&l);
    }
    test_assert_near(q[1], q[0], 3, 1e-12, "q");
}

END_TEST

// Two rods from far points hold a point; they differ by an angle. The velocity that both rows allow
// is along z, whatever the angle: what is left of u = (3, 4, 5) is (0, 0, 5). Rows 1e-3 apart are
// for the normal equations, which lose six digits and get them back by their second pass; rows 1e-5
// apart are for the orthogonal factorization.
START_TEST(rows_that_are_nearly_parallel_are_told_apart)
{
    static const double angles[] = {1e-3, 1e-5};
    for (int k = 0; k < 2; ++k) {
        loop l;
        loop_begin(&l);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = slender(1.0, 1.0);
        const tal_body_ix body = tal_matter_add_translation(l.matter, TAL_GROUND, &def);
        const tal_vec3 center = tal_v3(0.0, 0.0, 0.0);
        (void)add_rod(&l, TAL_GROUND, tal_v3(1.0, 0.0, 0.0), body, center, 1.0);
        (void)add_rod(&l, TAL_GROUND, tal_v3(cos(angles[k]), sin(angles[k]), 0.0), body, center,
                      1.0);
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        const double u[] = {3.0, 4.0, 5.0};
        ck_assert_int_eq(tal_state_set_u(l.state, u, 3), TAL_OK);
        const tal_project_options options = one_step();
        project_u(&l, &options, NULL);
        const double left[] = {0.0, 0.0, 5.0};
        // eps / angle: how well the two directions tell y
        test_assert_near(tal_state_u(l.state), left, 3, 50.0 * DBL_EPSILON / angles[k], "u");
        loop_end(&l);
    }
}

END_TEST

// Near the center of a rod's sphere a full Newton step goes far out: it is shortened until it
// helps.
START_TEST(a_step_that_goes_too_far_is_shortened)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(1.0, 1.0);
    const tal_body_ix body = tal_matter_add_translation(l.matter, TAL_GROUND, &def);
    (void)add_rod(&l, TAL_GROUND, tal_v3(0.0, 0.0, 0.0), body, tal_v3(0.0, 0.0, 0.0), 1.0);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    const double q[] = {0.006, -0.008, 0.0};
    ck_assert_int_eq(tal_state_set_q(l.state, q, 3), TAL_OK);
    const tal_project_options first = one_step();
    tal_project_result result;
    project_q(&l, &first, &result);
    ck_assert(result.changed);
    ck_assert_double_lt(result.norm_after, result.norm_before);
    const tal_project_options options = options_of(1e-14);
    project_q(&l, &options, NULL);
    const double nearest[] = {0.6, -0.8, 0.0};
    test_assert_near(tal_state_q(l.state), nearest, 3, 1e-13, "q");
    loop_end(&l);
}

END_TEST

// Locked mobilities stay as they are; the others do all the work.
START_TEST(locked_mobilities_are_not_projected)
{
    test_rng rng = test_rng_seed(9);
    loop l;
    build_four_bars(&l, 2, 1.0);
    pose_four_bars(&l, 2, 1.1, 1.0);
    const tal_body_ix crank = {1};
    ck_assert_int_eq(tal_body_lock(l.matter, l.state, crank, TAL_LEVEL_POSITION), TAL_OK);
    disturb_q(&l, &rng, 0.01);
    const double held = tal_state_q(l.state)[0];
    const tal_project_options options = options_of(1e-13);
    double e[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    loop_realize(&l, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_project_q(l.system, l.state, &options, e, NULL), TAL_OK);
    ck_assert_double_eq(tal_state_q(l.state)[0], held);
    ck_assert_double_le(qerr_norm(&l), 1e-12);
    ck_assert_double_eq(e[0], 1.0);
    tal_state_upd_u(l.state)[0] = 0.0;
    project_u(&l, &options, NULL);
    ck_assert_double_eq(tal_state_u(l.state)[0], 0.0);
    ck_assert_double_le(uerr_norm(&l), 1e-14);
    loop_end(&l);
}

END_TEST

// Velocity equations nonlinear in u are solved by iteration: |u|^2 = 2 from u = (3, 4) gives the
// nearest point of that circle, u sqrt(2) / 5.
START_TEST(nonlinear_velocity_equations_are_iterated)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(1.0, 1.0);
    const tal_body_ix body = tal_matter_add_translation(l.matter, TAL_GROUND, &def);
    tal_constraint_def energy = tal_constraint_def_default();
    energy.mobilities[0].body = energy.mobilities[1].body = body;
    energy.mobilities[1].i = 1;
    const double square = 2.0;
    (void)tal_matter_add_constraint(l.matter, &energy, &test_energy, NULL, &square);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    const double u[] = {3.0, 4.0, 5.0};
    ck_assert_int_eq(tal_state_set_u(l.state, u, 3), TAL_OK);

    tal_project_result result;
    const tal_project_options options = options_of(1e-13);
    project_u(&l, &options, &result);
    const double expected[] = {3.0 * sqrt(2.0) / 5.0, 4.0 * sqrt(2.0) / 5.0, 5.0};
    test_assert_near(tal_state_u(l.state), expected, 3, 1e-12, "u");
    ck_assert_int_gt(result.iterations, 3);
    loop_end(&l);
}

END_TEST

START_TEST(quaternions_are_normalized_and_left_alone_when_they_are)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(1.0, 1.0);
    (void)tal_matter_add_ball(l.matter, TAL_GROUND, &def);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    const double q[] = {2.0, 0.0, -2.0, 1.0};
    ck_assert_int_eq(tal_state_set_q(l.state, q, 4), TAL_OK);
    double e[] = {1.0, 1.0, 1.0, 1.0};

    tal_project_result result;
    loop_realize(&l, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_project_q(l.system, l.state, NULL, e, &result), TAL_OK);
    const double unit[] = {2.0 / 3.0, 0.0, -2.0 / 3.0, 1.0 / 3.0};
    test_assert_near(tal_state_q(l.state), unit, 4, 1e-15, "q");
    ck_assert(result.changed);
    ck_assert_double_eq_tol(result.norm_before, 2.0, 1e-15);
    ck_assert_double_le(result.norm_after, 1e-15);
    ck_assert_double_eq_tol(e[0] * unit[0] + e[2] * unit[2] + e[3] * unit[3], 0.0, 1e-15);
    ck_assert_double_eq(e[1], 1.0);

    // a length that is off by less than the tolerance stays
    const double nearly[] = {1.0 + 1e-6, 0.0, 0.0, 0.0};
    ck_assert_int_eq(tal_state_set_q(l.state, nearly, 4), TAL_OK);
    project_q(&l, NULL, &result);
    ck_assert(!result.changed);
    ck_assert_double_eq(tal_state_q(l.state)[0], nearly[0]);
    tal_project_options options = options_of(1e-4);
    options.even_if_met = true;
    project_q(&l, &options, &result);
    ck_assert(result.changed);
    ck_assert_double_eq(tal_state_q(l.state)[0], 1.0);
    loop_end(&l);
}

END_TEST

// --- mechanisms ---

// refs:stewart_platform: six leg lengths give the pose back.
START_TEST(a_stewart_platform_finds_its_pose_from_its_legs)
{
    static const double base[6] = {-10.0, 10.0, 110.0, 130.0, 230.0, 250.0};
    static const double top[6] = {-50.0, 50.0, 70.0, 170.0, 190.0, 290.0};
    static const double legs[2][6] = {
        {1.1641406778827460747, 1.4053450560605940292, 1.4282514815864801523, 1.4955709311679812969,
         1.0834957877013363931, 1.3235742606933077384},
        {1.0914380170329462697, 0.72970925468466746266, 1.2770821779495933746,
         1.1637836476327049738, 1.5145258328180988702, 1.2848861925630022525}};
    static const double position[2][3] = {{0.1, -0.2, 1.1}, {0.3, 0.1, 0.9}};
    static const double angles[2][3] = {{0.2, -0.1, 0.3}, {-0.3, 0.25, -0.4}};
    const double degree = TAL_PI / 180.0;
    for (int k = 0; k < 2; ++k) {
        loop l;
        loop_begin(&l);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = slender(1.0, 1.0);
        const tal_body_ix platform = tal_matter_add_free(l.matter, TAL_GROUND, &def);
        for (int i = 0; i < 6; ++i) {
            const double a = base[i] * degree, b = top[i] * degree;
            (void)add_rod(&l, TAL_GROUND, tal_v3(cos(a), sin(a), 0.0), platform,
                          tal_v3(0.6 * cos(b), 0.6 * sin(b), 0.0), legs[k][i]);
        }
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        const double home[] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.2};
        ck_assert_int_eq(tal_state_set_q(l.state, home, 7), TAL_OK);

        const tal_project_options options = options_of(1e-14);
        project_q(&l, &options, NULL);
        const double *q = tal_state_q(l.state);
        // fixed angles x, y, z: R = Rz Ry Rx
        static const tal_axis zyx[] = {TAL_AXIS_Z, TAL_AXIS_Y, TAL_AXIS_X};
        const double wanted_angles[] = {angles[k][2], angles[k][1], angles[k][0]};
        const tal_mat3 R = tal_rotation_from_qt(tal_qt(q[0], q[1], q[2], q[3]));
        test_assert_m3_near(R, tal_rotation_from_angles(TAL_BODY_FIXED, 3, zyx, wanted_angles),
                            1e-12);
        test_validate("Stewart platform from its legs", "refs:stewart_platform", "position [m]",
                      "projection", test_difference(q + 4, position[k], 3), 1e-12);
        loop_end(&l);
    }
}

END_TEST

// refs:a04_bricard_slender: five rods and six pins whose axes make one of the rows redundant.
// With the first joint held, projection finds the pose and the velocities of the trajectory.
START_TEST(a_bricard_mechanism_is_closed_although_its_rows_repeat_each_other)
{
    static const struct {
        double angle, rate, P3[3], P3_vel[3];
    } rows[] = {{0.25304785498930927723,
                 1.0357141567635427346,
                 {0.77430263122281826158, -0.97974938687829350847, -0.2002277176407101533},
                 {-0.82833547502660588784, 0.13107690942437067319, -0.6413823378483040045}},
                {1.0371631130597489579,
                 2.040336408454372181,
                 {0.27333391580966080887, -0.88654400079197901905, -0.46264428523407862846},
                 {-1.0963864291279320601, 0.15638823603460650298, -0.29967959591410882888}}};

    loop l;
    build_bricard(&l);
    const tal_body_ix first = {1}, third = {3};
    const tal_project_options options = options_of(1e-14);
    tal_rows_report report;
    for (int k = 0; k < 2; ++k) {
        const int steps = 10; // the other joints follow from the pose before
        const double from = tal_body_q(l.matter, l.state, first, 0);
        for (int i = 1; i <= steps; ++i) {
            const double angle = from + (rows[k].angle - from) * i / steps;
            ck_assert_int_eq(
                tal_body_lock_at(l.matter, l.state, first, TAL_LEVEL_POSITION, &angle, 1), TAL_OK);
            loop_realize(&l, TAL_STAGE_TIME);
            ck_assert_int_eq(tal_system_prescribe_q(l.system, l.state, NULL), TAL_OK);
            project_q(&l, &options, NULL);
        }
        ck_assert_int_eq(tal_body_unlock(l.matter, l.state, first), TAL_OK);
        ck_assert_int_eq(
            tal_body_lock_at(l.matter, l.state, first, TAL_LEVEL_VELOCITY, &rows[k].rate, 1),
            TAL_OK);
        loop_realize(&l, TAL_STAGE_POSITION);
        ck_assert_int_eq(tal_system_prescribe_u(l.system, l.state, NULL), TAL_OK);
        project_u(&l, &options, NULL);
        const tal_vec3 origin = tal_v3(0.0, 0.0, 0.0);
        const tal_vec3 p_P3 = tal_station_p_GS(l.matter, l.state, third, origin);
        const tal_vec3 v_P3 = tal_station_v_GS(l.matter, l.state, third, origin);
        test_assert_near(&p_P3.x, rows[k].P3, 3, 1e-12, "P3");
        test_assert_near(&v_P3.x, rows[k].P3_vel, 3, 1e-12, "velocity of P3");
        ck_assert_int_eq(tal_body_unlock(l.matter, l.state, first), TAL_OK);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL),
                         TAL_OK);
        ck_assert_int_eq(report.rank, 4);
        ck_assert_int_eq(report.num_redundant, 1);
        ck_assert_int_eq(report.dof, 1);
        ck_assert_int_eq(report.num_inconsistent, 0);
    }
    loop_end(&l);
}

END_TEST

// The z rows of the balls have no effect: they take no part in the projection.
START_TEST(many_four_bars_close_from_a_bad_guess)
{
    test_rng rng = test_rng_seed(6);
    for (int N = 2; N <= 40; N += 38) {
        loop l;
        build_four_bars(&l, N, 1.0);
        pose_four_bars(&l, N, 1.1, 1.0);
        disturb_q(&l, &rng, 0.05);
        for (int i = 0; i < tal_state_nu(l.state); ++i) {
            tal_state_upd_u(l.state)[i] += test_random_uniform(&rng, -0.1, 0.1);
        }
        tal_project_options options = options_of(1e-13);
        options.infinity_norm = true;
        tal_project_result result;
        project_q(&l, &options, &result);
        ck_assert_double_le(result.norm_after, 1e-13);
        ck_assert_int_le(result.iterations, 6);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        double largest = 0.0;
        for (int i = 0; i < 3 * N; ++i) {
            largest = fmax(largest, fabs(tal_state_uerr(l.state)[i]));
        }
        project_u(&l, &options, &result);
        ck_assert_double_eq_tol(result.norm_before, 0.1 * largest, 1e-16); // t_c T_p
        ck_assert_double_le(result.norm_after, 1e-13);
        for (int i = 0; i < 3 * N; ++i) {
            ck_assert_double_le(fabs(tal_state_qerr(l.state)[i]), 1e-13);
            ck_assert_double_le(fabs(tal_state_uerr(l.state)[i]), 1e-12); // t_c is 0.1
        }
        loop_end(&l);
    }
}

END_TEST

// With all links in one line the couplers can move either way: G loses rank. Whatever happens is
// finite and no worse than the start.
START_TEST(at_a_change_point_nothing_explodes)
{
    test_rng rng = test_rng_seed(7);
    for (int trial = 0; trial < 20; ++trial) {
        loop l;
        build_four_bars(&l, 2, 1.0);
        pose_four_bars(&l, 2, 0.0, 1.0);
        disturb_q(&l, &rng, trial < 10 ? 1e-4 : 1e-9);
        loop_realize(&l, TAL_STAGE_POSITION);
        const double before = qerr_norm(&l);
        const tal_project_options options = options_of(1e-12);
        const tal_status st = tal_system_project_q(l.system, l.state, &options, NULL, NULL);
        ck_assert(st == TAL_OK || st == TAL_ERR_NO_CONVERGENCE);
        ck_assert_double_le(qerr_norm(&l), before);
        for (int i = 0; i < tal_state_nq(l.state); ++i) {
            ck_assert_double_le(fabs(tal_state_q(l.state)[i]), 1.0);
        }
        loop_end(&l);
    }
}

END_TEST

// --- failures ---

START_TEST(out_of_reach_everything_stays_and_the_worst_constraint_is_named)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(1.0, 1.0);
    const tal_body_ix body = tal_matter_add_pin(l.matter, TAL_GROUND, &def);
    tal_constraint_def near = tal_constraint_def_default();
    near.name = "near", near.bodies[1] = body;
    const double near_params[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.01};
    (void)tal_matter_add_constraint(l.matter, &near, &test_rod, NULL, near_params);
    near.name = "far";
    const double far_params[] = {9.0, 0.0, 0.0, 1.0, 0.0, 0.0, 3.0};
    (void)tal_matter_add_constraint(l.matter, &near, &test_rod, NULL, far_params);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    tal_state_upd_q(l.state)[0] = 0.3;
    loop_realize(&l, TAL_STAGE_POSITION);

    tal_project_result result = {0};
    ck_assert_int_eq(tal_system_project_q(l.system, l.state, NULL, NULL, &result),
                     TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(l.state)->message, "'far'"));
    ck_assert_double_eq(tal_state_q(l.state)[0], 0.3);
    ck_assert_int_eq(tal_state_stage(l.state), TAL_STAGE_POSITION);

    // no iterations allowed
    tal_project_options none = options_of(1e-4);
    none.max_iterations = 0;
    ck_assert_int_eq(tal_system_project_q(l.system, l.state, &none, NULL, NULL),
                     TAL_ERR_NO_CONVERGENCE);
    ck_assert_double_eq(tal_state_q(l.state)[0], 0.3);
    // disabled constraints ask for nothing
    for (int i = 0; i < 2; ++i) {
        const tal_constraint_ix constraint = {i};
        ck_assert_int_eq(tal_constraint_set_enabled(l.matter, l.state, constraint, false), TAL_OK);
    }
    project_q(&l, NULL, &result);
    ck_assert(!result.changed);
    loop_end(&l);
}

END_TEST

// Below the least number of iterations that is enough q and u stay as they were, and the status
// says so; from there on all answers are the same, bit for bit, and say how many there were.
START_TEST(one_iteration_too_few_is_told)
{
    for (int of_u = 0; of_u < 2; ++of_u) {
        int enough = 0;
        double found[2 * MAX_LOOP_U];
        for (int allowed = 0; allowed <= 12; ++allowed) {
            test_rng rng = test_rng_seed(18);
            loop l;
            build_mixed(&l, &rng);
            randomize(&l, &rng);
            assemble(&l);
            if (of_u == 0) disturb_q(&l, &rng, 0.1);
            loop_realize(&l, TAL_STAGE_VELOCITY);
            tal_project_options options = options_of(1e-12);
            options.max_iterations = allowed;
            tal_project_result result = {0};
            double *values = of_u != 0 ? tal_state_upd_u(l.state) : tal_state_upd_q(l.state);
            const int n = of_u != 0 ? tal_state_nu(l.state) : tal_state_nq(l.state);
            const size_t bytes = (size_t)n * sizeof *values;
            for (int i = 0; i < n && of_u != 0; ++i) {
                values[i] += test_random_uniform(&rng, -0.5, 0.5);
            }
            double before[2 * MAX_LOOP_U];
            memcpy(before, values, bytes);
            loop_realize(&l, of_u != 0 ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION);
            const tal_status st =
                of_u != 0 ? tal_system_project_u(l.system, l.state, &options, NULL, &result)
                          : tal_system_project_q(l.system, l.state, &options, NULL, &result);
            values = of_u != 0 ? tal_state_upd_u(l.state) : tal_state_upd_q(l.state);
            if (st == TAL_OK) {
                if (enough == 0) enough = allowed, memcpy(found, values, bytes);
                ck_assert_int_eq(result.iterations, enough);
                ck_assert_mem_eq(values, found, bytes);
            } else {
                ck_assert_int_eq(enough, 0);
                ck_assert_int_eq(st, TAL_ERR_NO_CONVERGENCE);
                ck_assert_mem_eq(values, before, bytes);
                ck_assert(!result.changed);
                ck_assert_double_eq(result.norm_after, result.norm_before);
            }
            loop_end(&l);
        }
        ck_assert_int_ge(enough, of_u != 0 ? 1 : 3);
    }
}

END_TEST

START_TEST(projection_does_not_touch_the_heap)
{
    test_rng rng = test_rng_seed(8);
    loop l;
    build_mixed(&l, &rng);
    randomize(&l, &rng);
    assemble(&l);
    disturb_q(&l, &rng, 1e-2);
    loop_realize(&l, TAL_STAGE_POSITION);
    const tal_project_options options = options_of(1e-12);
    double e[2 * MAX_LOOP_U] = {1.0};
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_system_project_q(l.system, l.state, &options, e, NULL));
    ck_assert_int_eq(st, TAL_OK);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    test_assert_no_heap(st = tal_system_project_u(l.system, l.state, &options, e, NULL));
    ck_assert_int_eq(st, TAL_OK);
    loop_end(&l);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("constraint_project");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, newton_steps_converge_quadratically);
    tcase_add_test(theory, what_meets_the_constraints_is_returned_bit_for_bit);
    tcase_add_test(theory, the_change_of_q_is_the_least_in_the_weighted_norm);
    tcase_add_test(theory, the_change_of_u_is_the_least_in_the_weighted_norm);
    tcase_add_test(theory, error_estimates_lose_what_the_constraints_see);
    tcase_add_test(theory, repeating_constraints_does_not_change_the_projection);
    tcase_add_test(theory, rows_that_are_nearly_parallel_are_told_apart);
    tcase_add_test(theory, a_step_that_goes_too_far_is_shortened);
    tcase_add_test(theory, locked_mobilities_are_not_projected);
    tcase_add_test(theory, nonlinear_velocity_equations_are_iterated);
    tcase_add_test(theory, quaternions_are_normalized_and_left_alone_when_they_are);
    suite_add_tcase(suite, theory);
    TCase *mechanisms = tcase_create("mechanisms");
    tcase_add_test(mechanisms, a_stewart_platform_finds_its_pose_from_its_legs);
    tcase_add_test(mechanisms, a_bricard_mechanism_is_closed_although_its_rows_repeat_each_other);
    tcase_add_test(mechanisms, many_four_bars_close_from_a_bad_guess);
    tcase_add_test(mechanisms, at_a_change_point_nothing_explodes);
    suite_add_tcase(suite, mechanisms);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, out_of_reach_everything_stays_and_the_worst_constraint_is_named);
    tcase_add_test(errors, one_iteration_too_few_is_told);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, projection_does_not_touch_the_heap);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
