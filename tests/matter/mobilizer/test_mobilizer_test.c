// matter/src/mobilizer/mobilizer_test.c: the self-check finds what is wrong, and nothing else. That
// right tables pass is tested in test_mobilizer_builtin.c.
#include "mobilizer_support.h"

// Slips are larger than this, noise is smaller (mobilizer.h).
static const double SLIP = 1e-3, NOISE = 1e-9;

enum {
    NUM_SLIPS = 13
};

// A table that does as another, with one slip: the kind of error that is easily made.
typedef struct slipped {
    const tal_mobilizer_ops *right;
    int slip;
} slipped;

static const slipped *slip_of(const void *self)
{
    return self;
}

static tal_status slip_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    const tal_status st = slip_of(self)->right->calc_X_FM(NULL, arg, X_FM);
    if (slip_of(self)->slip == 0) X_FM->p.z += 0.1 * X_FM->R.x.x;
    return st;
}

static tal_status slip_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    const tal_status st = slip_of(self)->right->calc_H_FM(NULL, arg, H_FM);
    if (slip_of(self)->slip == 1) H_FM[0].v = tal_v3_neg(H_FM[0].v);
    return st;
}

static tal_status slip_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    const tal_status st = slip_of(self)->right->calc_Hdot_FM(NULL, arg, Hdot_FM);
    if (slip_of(self)->slip == 2) Hdot_FM[1].v = TAL_VEC3_ZERO;
    return st;
}

static tal_status slip_mul_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                             const double in[], double out[])
{
    const tal_status st = slip_of(self)->right->mul_N(NULL, arg, op, in, out);
    const int slip = slip_of(self)->slip;
    if (slip == 3 && op == TAL_N) out[2] = -out[2];
    if (slip == 4 && (op == TAL_NPLUS || op == TAL_NPLUS_T)) {
        for (int i = 0; i < (op == TAL_NPLUS ? 3 : 4); ++i) {
            out[i] *= 2.0;
        }
    }
    if (slip == 5 && (op == TAL_NDOT || op == TAL_NDOT_T)) {
        for (int i = 0; i < (op == TAL_NDOT ? 4 : 3); ++i) {
            out[i] = 0.0;
        }
    }
    if (slip == 6 && op == TAL_N_T) out[0] += 0.1 * in[1];
    if (slip == 9 && op == TAL_NPLUS_T) out[0] += 0.1 * in[1];
    if (slip == 10 && op == TAL_NDOT_T) out[0] += 0.1 * in[1];
    for (int i = 0; i < 4 && op == TAL_N; ++i) {
        if (slip == 11) out[i] += 0.1 * in[0] * arg->q[i];
        if (slip == 12) out[i] *= 1.0 + 0.1 * in[0] * in[1];
    }
    return st;
}

static tal_status slip_fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                             double q[])
{
    const tal_status st = slip_of(self)->right->fit_q(NULL, arg, X_FM, q);
    if (slip_of(self)->slip == 7) q[1] = -q[1];
    return st;
}

static tal_status slip_fit_u(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec V_FM,
                             double u[])
{
    (void)arg;
    u[0] = V_FM.w.x;
    u[1] = V_FM.w.y;
    u[2] = slip_of(self)->slip == 8 ? V_FM.v.z : V_FM.w.z;
    return TAL_OK;
}

static tal_mobilizer_ops slipped_ops(const tal_mobilizer_ops *right)
{
    tal_mobilizer_ops ops = *right;
    ops.calc_X_FM = slip_X_FM;
    ops.calc_H_FM = slip_H_FM;
    ops.calc_Hdot_FM = slip_Hdot_FM;
    ops.mul_N = slip_mul_N;
    ops.fit_q = slip_fit_q;
    ops.fit_u = slip_fit_u;
    return ops;
}

// Which figures of the report tell of a slip: bits in the order of its fields.
enum {
    H = 1,
    HDOT = 2,
    N = 4,
    NPLUS = 8,
    NDOT = 16,
    N_T = 32,
    FIT_Q = 64,
    FIT_U = 128
};

static int found(const tal_mobilizer_report *r, double limit)
{
    return (r->H > limit ? H : 0) | (r->Hdot > limit ? HDOT : 0) | (r->N > limit ? N : 0) |
           (r->Nplus > limit ? NPLUS : 0) | (r->Ndot > limit ? NDOT : 0) |
           (r->N_T > limit ? N_T : 0) | (r->fit_q > limit ? FIT_Q : 0) |
           (r->fit_u > limit ? FIT_U : 0);
}

START_TEST(every_kind_of_slip_is_found)
{
    // what is made of X_FM, H_FM or N may suffer with them: fits, and Hdot_FM in reverse
    static const struct {
        int told, may_tell;
    } slips[NUM_SLIPS] = {
        {H | N, HDOT | FIT_Q},              // X_FM
        {H | N, HDOT | FIT_U},              // H_FM
        {HDOT, 0},                          // Hdot_FM
        {H | N, HDOT | NPLUS | NDOT | N_T}, // N
        {NPLUS, 0},                         // N^+
        {NDOT, 0},                          // Ndot
        {N_T, 0},                           // N^T
        {FIT_Q, 0},                         //
        {FIT_U, 0},                         //
        {N_T, 0},                           // N^+^T
        {N_T, 0},                           // Ndot^T
        {N, NDOT | N_T},                    // a quaternion that is stretched
        {N, HDOT | NDOT | N_T},             // N u that is not linear in u
    };

    const double radii[3] = {0.5, 0.8, 1.1};
    const tal_mobilizer_ops ops = slipped_ops(tal_mobilizer_ellipsoid());
    test_rng rng = test_rng_seed(1);
    for (int slip = 0; slip < NUM_SLIPS; ++slip) {
        int seen = 0; // one state or another may hide a slip from one of the figures
        for (int i = 0; i < 20; ++i) {
            const slipped self = {tal_mobilizer_ellipsoid(), slip};
            const tal_direction direction = i % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
            mobilizer_state state;
            random_state(&rng, &ops, radii, false, &state);
            tal_mobilizer_report r;
            tal_error err;
            ck_assert_int_eq(tal_mobilizer_test(&ops, &self, &state.arg, direction, &r, &err),
                             TAL_OK);
            ck_assert_msg((found(&r, NOISE) & ~(slips[slip].told | slips[slip].may_tell)) == 0,
                          "slip %d, trial %d: %d", slip, i, found(&r, NOISE));
            ck_assert(r.worst > SLIP);
            seen |= found(&r, SLIP);
        }
        ck_assert_msg((seen & slips[slip].told) == slips[slip].told, "slip %d: %d", slip, seen);
    }
}

START_TEST(without_a_slip_nothing_is_found)
{
    const double radii[3] = {0.5, 0.8, 1.1};
    const slipped self = {tal_mobilizer_ellipsoid(), -1};
    const tal_mobilizer_ops ops = slipped_ops(self.right);
    test_rng rng = test_rng_seed(2);
    mobilizer_state state;
    random_state(&rng, &ops, radii, false, &state);
    tal_mobilizer_report r;
    ck_assert_int_eq(tal_mobilizer_test(&ops, &self, &state.arg, TAL_FORWARD, &r, NULL), TAL_OK);
    ck_assert_double_le(r.worst, NOISE);
}

// ---- the example of doc/mobilizers.md: a bead on the parabola z = x^2

static tal_status bead_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf_from_p(tal_v3(arg->q[0], 0.0, arg->q[0] * arg->q[0]));
    return TAL_OK;
}

static tal_status bead_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    H_FM[0] = tal_sv(TAL_VEC3_ZERO, tal_v3(1.0, 0.0, 2.0 * arg->q[0]));
    return TAL_OK;
}

static tal_status bead_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    (void)self;
    Hdot_FM[0] = tal_sv(TAL_VEC3_ZERO, tal_v3(0.0, 0.0, 2.0 * arg->u[0]));
    return TAL_OK;
}

START_TEST(a_bead_on_a_wire_needs_three_functions)
{
    static const tal_mobilizer_ops bead = {
        .size = sizeof bead,
        .name = "bead",
        .tag = 1,
        .nu = 1,
        .nq = 1,
        .nq_angles = 1,
        .calc_X_FM = bead_X_FM,
        .calc_H_FM = bead_H_FM,
        .calc_Hdot_FM = bead_Hdot_FM,
    };
    test_rng rng = test_rng_seed(4);
    for (int i = 0; i < 100; ++i) {
        mobilizer_state state;
        random_state(&rng, &bead, NULL, false, &state);
        tal_mobilizer_report r;
        ck_assert_int_eq(tal_mobilizer_test(&bead, NULL, &state.arg,
                                            i % 2 == 0 ? TAL_FORWARD : TAL_REVERSE, &r, NULL),
                         TAL_OK);
        ck_assert_double_le(r.worst, NOISE);
    }
    // from the point (0, 1) above it, a parabola is nearest at x = +-sqrt(1/2)
    const double guess = 0.1;
    double q = 0.0;
    const tal_mobilizer_arg arg = {false, NULL, &guess, NULL};
    const tal_xform above = tal_xf_from_p(tal_v3(0.0, 0.0, 1.0));
    ck_assert_int_eq(tali_mobilizer_fit_q(&bead, NULL, &arg, TAL_FORWARD, &above, &q), TAL_OK);
    ck_assert_double_eq_tol(q, sqrt(0.5), 1e-14);
}

// ---- errors

// Fails at the n-th call.
typedef struct failing {
    int *calls_left;
} failing;

static tal_status count_down(const void *self)
{
    const failing *f = self;
    return --*f->calls_left == -1 ? TAL_ERR_CALLBACK : TAL_OK; // once: no later call tells
}

static tal_status failing_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    const tal_status st = count_down(self);
    return st != TAL_OK ? st : tal_mobilizer_ball()->calc_X_FM(NULL, arg, X_FM);
}

static tal_status failing_H_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec H_FM[])
{
    const tal_status st = count_down(self);
    return st != TAL_OK ? st : tal_mobilizer_ball()->calc_H_FM(NULL, arg, H_FM);
}

static tal_status failing_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                                  tal_spatial_vec Hdot_FM[])
{
    (void)arg;
    for (int j = 0; j < 3; ++j) {
        Hdot_FM[j] = TAL_SPATIAL_VEC_ZERO;
    }
    return count_down(self);
}

static tal_status failing_mul_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                                const double in[], double out[])
{
    const tal_status st = count_down(self);
    return st != TAL_OK ? st : tal_mobilizer_ball()->mul_N(NULL, arg, op, in, out);
}

static tal_status failing_fit_q(const void *self, const tal_mobilizer_arg *arg,
                                const tal_xform *X_FM, double q[])
{
    const tal_status st = count_down(self);
    return st != TAL_OK ? st : tal_mobilizer_ball()->fit_q(NULL, arg, X_FM, q);
}

START_TEST(a_failure_of_any_call_is_returned_and_the_report_left_alone)
{
    tal_mobilizer_ops ops = *tal_mobilizer_ball();
    ops.calc_X_FM = failing_X_FM;
    ops.calc_H_FM = failing_H_FM;
    ops.calc_Hdot_FM = failing_Hdot_FM;
    ops.mul_N = failing_mul_N;
    ops.fit_q = failing_fit_q;
    test_rng rng = test_rng_seed(3);
    mobilizer_state state;
    random_state(&rng, &ops, NULL, false, &state);
    int total = 0;
    for (;; ++total) {
        int calls_left = total;
        const failing self = {&calls_left};
        tal_mobilizer_report r = {.worst = 7.0};
        tal_error err;
        const tal_status st = tal_mobilizer_test(&ops, &self, &state.arg, TAL_REVERSE, &r, &err);
        if (st == TAL_OK) {
            ck_assert_int_ge(calls_left, 0); // no failure was lost
            break;
        }
        ck_assert_int_eq(st, TAL_ERR_CALLBACK);
        ck_assert(strstr(err.message, "'ball'") != NULL);
        ck_assert_double_eq(r.worst, 7.0);
    }
    ck_assert_int_gt(total, 50);
}

static tal_status nan_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    H_FM[0] = tal_sv(tal_v3(0.0, 0.0, (double)NAN), TAL_VEC3_ZERO);
    return TAL_OK;
}

static tal_status easy_fit_u(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec V_FM,
                             double u[])
{
    (void)self, (void)arg;
    u[0] = V_FM.w.z;
    return TAL_OK;
}

START_TEST(a_nan_is_infinitely_wrong)
{
    tal_mobilizer_ops ops = *tal_mobilizer_pin();
    ops.calc_H_FM = nan_H_FM;
    ops.fit_u = easy_fit_u;
    const double q = 0.1, u = 0.2;
    const tal_mobilizer_arg arg = {false, NULL, &q, &u};
    tal_mobilizer_report r;
    tal_error err;
    // fit_u is asked for no velocity that is not finite
    ck_assert_int_eq(tal_mobilizer_test(&ops, NULL, &arg, TAL_FORWARD, &r, &err),
                     TAL_ERR_NOT_FINITE);
    ops = *tal_mobilizer_pin();
    ops.calc_Hdot_FM = nan_H_FM;
    ck_assert_int_eq(tal_mobilizer_test(&ops, NULL, &arg, TAL_FORWARD, &r, &err), TAL_OK);
    ck_assert(isinf(r.Hdot) && isinf(r.worst));
}

START_TEST(incomplete_calls_are_refused)
{
    test_record_breaches();
    const double q = 0.1, u = 0.2, pitch = 0.3;
    const tal_mobilizer_ops *screw = tal_mobilizer_screw();
    const tal_mobilizer_arg good = {false, &pitch, &q, &u};
    tal_mobilizer_arg bad[3] = {good, good, good};
    bad[0].q = NULL;
    bad[1].u = NULL;
    bad[2].params = NULL;
    tal_mobilizer_report r;
    tal_error err;
    for (int i = 0; i < 3; ++i) {
        test_assert_breach(
            ck_assert_int_eq(tal_mobilizer_test(screw, NULL, &bad[i], TAL_FORWARD, &r, &err),
                             TAL_ERR_NULL),
            TAL_ERR_NULL, "is NULL");
        ck_assert_int_eq(err.status, TAL_ERR_NULL);
    }
    test_assert_breach(
        ck_assert_int_eq(tal_mobilizer_test(screw, NULL, NULL, TAL_FORWARD, &r, NULL),
                         TAL_ERR_NULL),
        TAL_ERR_NULL, "is NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_mobilizer_test(screw, NULL, &good, TAL_FORWARD, NULL, NULL),
                         TAL_ERR_NULL),
        TAL_ERR_NULL, "is NULL");
    // a table that is not a table, and parameters that are none
    ck_assert_int_eq(tal_mobilizer_test(NULL, NULL, &good, TAL_FORWARD, &r, &err), TAL_ERR_NULL);
    const double not_finite = (double)NAN;
    bad[2].params = &not_finite;
    ck_assert_int_eq(tal_mobilizer_test(screw, NULL, &bad[2], TAL_FORWARD, &r, &err),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(test_breaches(), 0);
}

int main(void)
{
    Suite *suite = suite_create("matter/mobilizer_test");
    TCase *tc = tcase_create("slips");
    tcase_add_test(tc, every_kind_of_slip_is_found);
    tcase_add_test(tc, without_a_slip_nothing_is_found);
    tcase_add_test(tc, a_bead_on_a_wire_needs_three_functions);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, a_failure_of_any_call_is_returned_and_the_report_left_alone);
    tcase_add_test(tc, a_nan_is_infinitely_wrong);
    tcase_add_test(tc, incomplete_calls_are_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
