// Tests of matter/src/constraint/constraint_test.c: a right table passes, every kind of wrong one
// is caught.
#include "constraint_support.h"

// A point of body 1 keeps away from one of body 0 by (t, 0, 0), and udot of a mobility is 1 + t: a
// table with position, time and acceleration in it, right or wrong in one way.
typedef enum mistake {
    NONE,
    VERR_SIGN,
    VERR_WITHOUT_TIME,
    AERR_WITHOUT_CENTRIPETAL,
    AERR_NOT_LINEAR,
    AERR_NAN,
    FORCE_WITHOUT_MOMENT,
    FORCE_OVERWRITES,
    FORCE_SQUARED,
    FORCE_NAN,
    MOBILITY_FORGOTTEN,
    CHANGE_OF_FORCE,
    CHANGE_OF_ERROR,
    NUM_MISTAKES,
    FAILS_P,
    FAILS_V,
    FAILS_A,
    FAILS_FORCE
} mistake;

static mistake of(const void *self)
{
    return *(const mistake *)self;
}

static const tal_vec3 STATION = {0.3, -0.5, 0.7};

static tal_vec3 arm(const tal_constraint_arg *arg)
{
    return tal_m3_mul_v3(arg->X_AB[1].R, STATION);
}

static tal_status calc_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    if (of(self) == FAILS_P) return TAL_ERR_SINGULAR;
    ck_assert(arg->V == NULL && arg->a == NULL && arg->u == NULL && arg->udot == NULL);
    const tal_vec3 d = tal_v3_sub(tal_xf_apply(arg->X_AB[1], STATION), arg->X_AB[0].p);
    perr[0] = d.x - arg->t, perr[1] = d.y, perr[2] = d.z;
    return TAL_OK;
}

static tal_status calc_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    if (of(self) == FAILS_V) return TAL_ERR_SINGULAR;
    ck_assert(arg->V != NULL && arg->a == NULL && arg->u != NULL && arg->udot == NULL);
    const tal_vec3 v = tal_sv_shift_motion(arg->V[1], arm(arg)).v;
    const tal_vec3 d = tal_v3_sub(v, arg->V[0].v);
    verr[0] = d.x - (of(self) == VERR_WITHOUT_TIME ? 0.0 : 1.0), verr[1] = d.y;
    verr[2] = of(self) == VERR_SIGN ? -d.z : d.z;
    return TAL_OK;
}

static tal_status calc_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    if (of(self) == FAILS_A) return TAL_ERR_SINGULAR;
    ck_assert(arg->V != NULL && arg->a != NULL && arg->u != NULL && arg->udot != NULL);
    const tal_vec3 w = of(self) == AERR_WITHOUT_CENTRIPETAL ? TAL_VEC3_ZERO : arg->V[1].w;
    const tal_vec3 a = tal_sv_shift_acceleration(arg->a[1], w, arm(arg)).v;
    const tal_vec3 d = tal_v3_sub(a, arg->a[0].v);
    aerr[0] = d.x, aerr[1] = d.y, aerr[2] = d.z;
    const double udot = arg->udot[0];
    aerr[3] = (of(self) == AERR_NOT_LINEAR ? udot * udot : udot) - 1.0 - arg->t;
    if (of(self) == AERR_NAN) aerr[1] = (double)NAN;
    return TAL_OK;
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    if (of(self) == FAILS_FORCE) return TAL_ERR_SINGULAR;
    const double scale = of(self) == FORCE_SQUARED ? lambda[0] : 1.0;
    tal_vec3 push = tal_v3(scale * lambda[0], lambda[1], lambda[2]);
    if (of(self) == FORCE_NAN) push.y = (double)NAN;
    const tal_vec3 moment =
        of(self) == FORCE_WITHOUT_MOMENT ? TAL_VEC3_ZERO : tal_v3_cross(arm(arg), push);
    if (of(self) == FORCE_OVERWRITES) F[1] = TAL_SPATIAL_VEC_ZERO;
    F[1] = tal_sv_add(F[1], tal_sv(moment, push));
    F[0].v = tal_v3_sub(F[0].v, push);
    if (of(self) != MOBILITY_FORGOTTEN) f[0] += lambda[3];
    return TAL_OK;
}

// The point is at X STATION: it moves by dx + turn x arm, and so on for its derivatives.
static tal_status calc_change(const void *self, const tal_constraint_arg *arg,
                              const tal_constraint_change *change, const double lambda[],
                              double perr[], double verr[], double aerr[], tal_spatial_vec F[],
                              double f[])
{
    (void)f;
    const tal_vec3 r = arm(arg), w = arg->V[1].w, alpha = arg->a[1].w;
    const tal_spatial_vec dX = change->dX[1], dV = change->dV[1], dA = change->dA[1];
    const tal_vec3 dr = tal_v3_cross(dX.w, r), push = tal_v3(lambda[0], lambda[1], lambda[2]);
    const tal_vec3 wr = tal_v3_cross(w, r);
    const tal_vec3 dwr = tal_v3_add(tal_v3_cross(dV.w, r), tal_v3_cross(w, dr));
    tal_vec3 p = tal_v3_sub(tal_v3_add(dX.v, dr), change->dX[0].v);
    tal_vec3 v = tal_v3_sub(tal_v3_add(dV.v, dwr), change->dV[0].v);
    tal_vec3 a = tal_v3_add(tal_v3_cross(dA.w, r), tal_v3_cross(alpha, dr));
    a = tal_v3_add(a, tal_v3_add(tal_v3_cross(dV.w, wr), tal_v3_cross(w, dwr)));
    a = tal_v3_sub(tal_v3_add(dA.v, a), change->dA[0].v);
    if (of(self) == CHANGE_OF_ERROR) a = tal_v3_neg(a);
    memcpy(perr, &p, sizeof p);
    memcpy(verr, &v, sizeof v);
    memcpy(aerr, &a, sizeof a);
    aerr[3] = change->dudot[0];
    const tal_vec3 moment = of(self) == CHANGE_OF_FORCE ? TAL_VEC3_ZERO : tal_v3_cross(dr, push);
    F[1].w = tal_v3_add(F[1].w, moment);
    return TAL_OK;
}

static const tal_constraint_ops ops = {
    .size = sizeof ops,
    .name = "moving point",
    .mp = 3,
    .ma = 1,
    .num_bodies = 2,
    .num_mobilities = 1,
    .calc_p = calc_p,
    .calc_v = calc_v,
    .calc_a = calc_a,
    .add_forces = add_forces,
    .calc_change = calc_change,
};

// Two free bodies on a third, at a random state.
static void build(test_model *model, mistake *wrong)
{
    test_rng rng = test_rng_seed(4);
    test_model_begin(model);
    for (int b = 1; b <= 3; ++b) {
        tal_mobod_def body = tal_mobod_def_default();
        body.mass = test_random_mass_props(&rng);
        body.X_PF = test_random_xform(&rng);
        body.X_BM = test_random_xform(&rng);
        (void)tal_matter_add_free(model->matter, (tal_body_ix){b == 1 ? 0 : 1}, &body);
    }
    tal_constraint_def between = tal_constraint_between((tal_body_ix){2}, (tal_body_ix){3});
    between.name = "subject";
    between.mobilities[0] = (tal_mobility){{2}, 4};
    (void)tal_matter_add_constraint(model->matter, &between, &ops, wrong, NULL);
    test_model_freeze(model);
    for (int i = 0; i < tal_state_nq(model->state); ++i) {
        tal_state_upd_q(model->state)[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    for (int j = 0; j < tal_state_nu(model->state); ++j) {
        tal_state_upd_u(model->state)[j] = test_random_uniform(&rng, -2.0, 2.0);
    }
}

static const tal_constraint_ix SUBJECT = {0};

static tal_constraint_report report_on(mistake wrong)
{
    test_model model;
    build(&model, &wrong);
    tal_constraint_report report = {(double)NAN, (double)NAN, (double)NAN,
                                    (double)NAN, (double)NAN, (double)NAN};
    ck_assert_int_eq(tal_constraint_test(model.matter, model.state, SUBJECT, &report, NULL),
                     TAL_OK);
    test_model_end(&model);
    return report;
}

START_TEST(a_right_table_passes)
{
    const tal_constraint_report report = report_on(NONE);
    ck_assert_double_le(report.worst, CHECKER_TOLERANCE);
    ck_assert_double_ge(report.worst, 0.0);
}

// Each mistake is of size one, and shows in the number that stands for it.
START_TEST(every_mistake_shows_where_it_was_made)
{
    const tal_constraint_report report = report_on((mistake)_i);
    const double found = _i <= VERR_WITHOUT_TIME          ? report.verr
                         : _i == AERR_WITHOUT_CENTRIPETAL ? report.aerr
                         : _i <= AERR_NAN                 ? report.linear
                         : _i < CHANGE_OF_FORCE           ? report.forces
                                                          : report.change;
    ck_assert_double_gt(found, 1e-3);
    ck_assert_double_ge(report.worst, found);
    if (_i > AERR_NAN) ck_assert_double_le(report.aerr, CHECKER_TOLERANCE);
}

START_TEST(a_failure_of_the_table_is_passed_on_with_its_name)
{
    for (int wrong = FAILS_P; wrong <= FAILS_FORCE; ++wrong) {
        mistake which = NONE;
        test_model model;
        build(&model, &which);
        which = (mistake)wrong;
        tal_constraint_report report = {7.0, 7.0, 7.0, 7.0, 7.0, 7.0};
        tal_error err = {0};
        ck_assert_int_eq(tal_constraint_test(model.matter, model.state, SUBJECT, &report, &err),
                         TAL_ERR_SINGULAR);
        ck_assert_msg(strstr(err.message, "subject") != NULL, "%s", err.message);
        ck_assert_double_eq(report.worst, 7.0);
        test_model_end(&model);
    }
}

START_TEST(the_state_stays_as_it_is)
{
    mistake none = NONE;
    test_model model;
    build(&model, &none);
    tal_state *before = NULL;
    ck_assert_int_eq(tal_state_create(model.system, &before, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(before, model.state), TAL_OK);
    tal_constraint_report report;
    ck_assert_int_eq(tal_constraint_test(model.matter, model.state, SUBJECT, &report, NULL),
                     TAL_OK);
    ck_assert(tal_state_is_equal(before, model.state));
    tal_state_destroy(before);
    test_model_end(&model);
}

START_TEST(what_is_missing_is_a_broken_contract)
{
    test_record_breaches();
    mistake none = NONE;
    test_model model;
    build(&model, &none);
    tal_constraint_report report;
    test_assert_breach((void)tal_constraint_test(NULL, model.state, SUBJECT, &report, NULL),
                       TAL_ERR_NULL, "matter");
    test_assert_breach((void)tal_constraint_test(model.matter, NULL, SUBJECT, &report, NULL),
                       TAL_ERR_NULL, "state");
    test_assert_breach((void)tal_constraint_test(model.matter, model.state, SUBJECT, NULL, NULL),
                       TAL_ERR_NULL, "report");
    const tal_constraint_ix other = {1};
    tal_error err = {0};
    test_assert_breach((void)tal_constraint_test(model.matter, model.state, other, &report, &err),
                       TAL_ERR_BAD_INDEX, "constraint 1");
    ck_assert_int_eq(err.status, TAL_ERR_BAD_INDEX);
    test_model_end(&model);
}

int main(void)
{
    Suite *suite = suite_create("matter/constraint_test");
    TCase *tables = tcase_create("tables");
    tcase_add_test(tables, a_right_table_passes);
    tcase_add_loop_test(tables, every_mistake_shows_where_it_was_made, NONE + 1, NUM_MISTAKES);
    tcase_add_test(tables, a_failure_of_the_table_is_passed_on_with_its_name);
    tcase_add_test(tables, the_state_stays_as_it_is);
    tcase_add_test(tables, what_is_missing_is_a_broken_contract);
    suite_add_tcase(suite, tables);
    return test_run(suite);
}
