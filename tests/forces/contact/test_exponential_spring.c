// Tests for forces/src/contact/exponential_spring.c.
#include "force_model.h"

#include <talus/forces/derivative.h>

typedef struct foot {
    model m;
    tal_exponential_spring_def def;
    tal_force_ix force;
} foot;

static foot begin(void)
{
    test_rng rng = test_rng_seed(9);
    foot s = {.m = model_begin(), .def = tal_exponential_spring_def_default()};
    s.def.body = s.m.body[BALL];
    s.def.p_BS = tal_v3(0.3, -0.2, 0.5);
    s.def.plane_body = s.m.body[PIN];
    s.def.X_BF = test_random_xform(&rng);
    s.def.d1 = 2.0;
    s.def.d2 = 0.5;
    s.def.cz = 0.1;
    s.def.max_fz = 4.0;
    s.def.kxy = 3.0;
    s.def.cxy = 0.4;
    s.def.v_settle = 0.5;
    s.force = tal_forces_add_exponential_spring(s.m.forces, "foot", &s.def);
    model_finish(&s.m);
    return s;
}

static tal_exponential_spring_info info_of(foot *s)
{
    tal_exponential_spring_info info;
    ck_assert_int_eq(tal_exponential_spring_calc(s->m.forces, s->m.state, s->force, &info), TAL_OK);
    return info;
}

// The formulas of the header, from matter's own kinematics, for a station that has just been put
// down sticking: the anchor is under it, so that all friction is viscous, up to the limit.
START_TEST(the_force_is_its_formula)
{
    foot s = begin();
    model *m = &s.m;
    int limited = 0, clamped = 0;
    for (uint64_t seed = 1; seed < 40; ++seed) {
        model_shake(m, seed);
        ck_assert_int_eq(tal_exponential_spring_reset(m->forces, m->state, s.force, 0.0), TAL_OK);
        model_realize(m, TAL_STAGE_VELOCITY);
        const tal_exponential_spring_info info = info_of(&s);
        const tal_xform X_GF =
            tal_xf_mul(tal_body_X_GB(m->matter, m->state, s.def.plane_body), s.def.X_BF);
        const tal_vec3 p_GS = tal_station_p_GS(m->matter, m->state, s.def.body, s.def.p_BS);
        const tal_vec3 p = tal_m3_tmul_v3(X_GF.R, tal_v3_sub(p_GS, X_GF.p));
        const tal_vec3 v =
            tal_m3_tmul_v3(s.def.X_BF.R, tal_station_v_AS(m->matter, m->state, s.def.plane_body,
                                                          s.def.body, s.def.p_BS));
        test_assert_v3_near(info.p_F, p, 1e-13);
        test_assert_v3_near(info.v_F, v, 1e-13);
        const double grown = 2.0 * exp(-0.5 * (p.z - s.def.d0));
        if (grown > 4.0) ++clamped;
        const double fz = fmin(fmax(fmin(grown, 4.0) * (1.0 - 0.1 * v.z), 0.0), 4.0);
        ck_assert_double_eq_tol(info.f_F.z, fz, 1e-13);
        const double speed = sqrt(v.x * v.x + v.y * v.y);
        const bool slips = 0.4 * speed > 0.7 * fz;
        const double f = fmin(0.4 * speed, 0.7 * fz);
        ck_assert_double_eq_tol(info.f_F.x, -f * v.x / speed, 1e-13);
        ck_assert_double_eq_tol(info.f_F.y, -f * v.y / speed, 1e-13);
        ck_assert_double_eq(info.sliding, slips ? 1.0 : 0.0);
        ck_assert_double_eq_tol(info.p0_F[0], p.x, 1e-13);
        if (slips) ++limited;

        const load on = model_load(m, s.force);
        test_assert_v3_near(on.F[BALL].v, tal_m3_mul_v3(X_GF.R, info.f_F), 1e-13);
    }
    ck_assert_int_gt(limited, 3);
    ck_assert_int_gt(clamped, 3);
    model_end(m);
}

END_TEST

// Moved away from its anchor the station is pulled back by k, or by mu fz where that is less, and
// then the anchor follows.
START_TEST(the_anchor_holds_and_then_follows)
{
    foot s = begin();
    model *m = &s.m;
    model_shake(m, 3);
    memset(tal_state_upd_u(m->state), 0, MODEL_NU * sizeof(double));
    model_realize(m, TAL_STAGE_VELOCITY);
    tal_exponential_spring_reset(m->forces, m->state, s.force, 0.0);
    model_realize(m, TAL_STAGE_VELOCITY);
    const tal_exponential_spring_info before = info_of(&s);
    for (int far = 0; far < 2; ++far) {
        tal_state_upd_q(m->state)[tal_body_q_start(m->matter, m->state, m->body[SLIDER])] +=
            far == 0 ? 0.1 : 5.0;
        model_realize(m, TAL_STAGE_VELOCITY);
        const tal_exponential_spring_info info = info_of(&s);
        const double dx = info.p_F.x - before.p_F.x, dy = info.p_F.y - before.p_F.y;
        const double pull = 3.0 * sqrt(dx * dx + dy * dy), limit = 0.7 * info.f_F.z;
        ck_assert_int_eq(pull > limit, far == 1);
        const double kept = fmin(1.0, limit / pull);
        ck_assert_double_eq_tol(info.f_F.x, -3.0 * dx * kept, 1e-12);
        ck_assert_double_eq_tol(info.f_F.y, -3.0 * dy * kept, 1e-12);
        ck_assert_double_eq_tol(info.p0_F[0], info.p_F.x - dx * kept, 1e-12);
        ck_assert_double_eq(info.sliding, far == 0 ? 0.0 : 1.0);
    }
    // sliding, the anchor is under the station; at rest that ends it, and nothing changes any more
    const double mu[] = {0.5, 0.7, 0.7};
    for (int step = 0; step < 3; ++step) {
        model_realize(m, TAL_STAGE_ACCELERATION);
        ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_OK);
        const tal_stage stage = step < 2 ? TAL_STAGE_VELOCITY : TAL_STAGE_ACCELERATION;
        ck_assert_int_eq(tal_state_stage(m->state), stage);
        model_realize(m, TAL_STAGE_ACCELERATION);
        ck_assert_double_eq_tol(info_of(&s).mu, mu[step], 1e-15);
    }
    ck_assert_double_eq_tol(info_of(&s).p0_F[0], info_of(&s).p_F.x, 1e-13);
    model_end(m);
}

END_TEST

START_TEST(the_anchor_of_a_spring_that_is_off_stays)
{
    foot s = begin();
    model *m = &s.m;
    model_shake(m, 3);
    model_realize(m, TAL_STAGE_VELOCITY);
    tal_exponential_spring_reset(m->forces, m->state, s.force, 0.0);
    ck_assert_int_eq(tal_force_set_enabled(m->forces, m->state, s.force, false), TAL_OK);
    const tal_var_ix anchor =
        tal_system_find_var(m->system, tal_forces_subsystem(m->forces), "foot.anchor");
    double before[3]; // x, y, sliding
    memcpy(before, tal_var_value(m->system, m->state, anchor), sizeof before);
    model_shake(m, 4);
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_OK);
    ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_ACCELERATION);
    ck_assert_mem_eq(tal_var_value(m->system, m->state, anchor), before, sizeof before);
    model_end(m);
}

END_TEST

// What changes at the start of a step lowers the State, and methods that look back on several steps
// restart: a station that goes on sticking or sliding, wherever it has come, leaves the State as
// it is.
START_TEST(steps_that_neither_stick_nor_slip_anew_change_nothing)
{
    foot s = begin();
    model *m = &s.m;
    for (int sliding = 0; sliding < 2; ++sliding) {
        model_shake(m, 3);
        if (sliding == 0) memset(tal_state_upd_u(m->state), 0, MODEL_NU * sizeof(double));
        model_realize(m, TAL_STAGE_VELOCITY);
        tal_exponential_spring_reset(m->forces, m->state, s.force, sliding);
        // a damper that asks for more than mu fz at any speed
        if (sliding == 1) {
            tal_force_set_param(m->forces, m->state, s.force, TAL_EXPONENTIAL_CXY, 1e3);
        }
        for (int step = 0; step < 5; ++step) {
            tal_state_upd_q(m->state)[tal_body_q_start(m->matter, m->state, m->body[SLIDER])] +=
                0.01;
            model_realize(m, TAL_STAGE_ACCELERATION);
            const tal_exponential_spring_info info = info_of(&s);
            ck_assert_double_eq(info.sliding, sliding);
            ck_assert_int_eq(info.p0_F[0] == info.p_F.x, sliding == 1);
            ck_assert_int_eq(tal_system_begin_step(m->system, m->state), TAL_OK);
            ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_ACCELERATION);
        }
    }
    model_end(m);
}

END_TEST

// Sticking, sliding, in between, and with the force at its limits: as long as no limit is crossed
// on the way. Differences of fourth order over 1e-3 of a force of size one.
START_TEST(the_change_is_that_of_differences)
{
    foot s = begin();
    model *m = &s.m;
    int num_good = 0;
    for (uint64_t seed = 1; seed < 60; ++seed) {
        model_shake(m, seed);
        tal_exponential_spring_reset(m->forces, m->state, s.force, (double)(seed % 3) * 0.5);
        model_realize(m, TAL_STAGE_VELOCITY);
        tal_force_report report;
        ck_assert_int_eq(tal_force_test(m->forces, m->state, s.force, &report, NULL), TAL_OK);
        num_good += report.change < 1e-9;
    }
    ck_assert_int_ge(num_good, 55);
    model_end(m);
}

END_TEST

// While it sticks, energy and power account for all that the station is given.
START_TEST(action_is_reaction_and_energy_is_accounted_for)
{
    foot s = begin();
    model *m = &s.m;
    model_check_reaction(m, s.force, 1e-12);
    model_check_heap_and_switch(m, s.force);
    int stuck = 0;
    for (uint64_t seed = 1; seed < 60; ++seed) {
        model_shake(m, seed);
        tal_exponential_spring_reset(m->forces, m->state, s.force, 0.0);
        model_realize(m, TAL_STAGE_VELOCITY);
        const double grown = 2.0 * exp(-0.5 * (info_of(&s).p_F.z - s.def.d0));
        if (info_of(&s).sliding > 0.0 || fabs(grown - 4.0) < 0.1) continue; // kinks
        ++stuck;
        const load on = model_load(m, s.force);
        const double lost = tal_force_dissipated_power(m->forces, m->state, s.force);
        ck_assert_double_ge(lost, 0.0);
        ck_assert_double_eq_tol(model_power(m, &on) + lost, -model_energy_rate(m, s.force), 1e-8);
    }
    ck_assert_int_gt(stuck, 10);
    model_end(m);
}

END_TEST

START_TEST(parameters_live_in_the_state)
{
    foot s = begin();
    model *m = &s.m;
    model_check_param(m, s.force, TAL_EXPONENTIAL_STATION + 2, 0.1, TAL_STAGE_INSTANCE);
    model_check_param(m, s.force, TAL_EXPONENTIAL_D0, 0.1, TAL_STAGE_DYNAMICS);
    model_check_refused(m, s.force, TAL_EXPONENTIAL_D2, -1.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, s.force, TAL_EXPONENTIAL_MUS, 0.1, TAL_ERR_BAD_VALUE);
    // friction at rest may be as in motion, but not less
    const double muk = tal_force_param(m->forces, m->state, s.force, TAL_EXPONENTIAL_MUK);
    model_check_refused(m, s.force, TAL_EXPONENTIAL_MUS, nextafter(muk, 0.0), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_force_set_param(m->forces, m->state, s.force, TAL_EXPONENTIAL_MUS, muk),
                     TAL_OK);
    model_check_refused(m, s.force, TAL_EXPONENTIAL_PLANE + 4, 7.0, TAL_ERR_BAD_VALUE);
    model_end(m);
}

END_TEST

// Those of Simbody's ExponentialSpringParameters; cxy is 2 sqrt(kxy) for 1 kg.
START_TEST(parameters_have_the_defaults_of_the_published_model)
{
    const tal_exponential_spring_def def = tal_exponential_spring_def_default();
    ck_assert(def.d0 == 0.0065905 && def.d1 == 0.5336 && def.d2 == 1150.0);
    ck_assert(def.cz == 0.5 && def.max_fz == 1e5 && def.kxy == 2e4);
    ck_assert_double_eq_tol(def.cxy, 2.0 * sqrt(def.kxy), 1e-12);
    ck_assert(def.v_settle == 0.01 && def.mus == 0.7 && def.muk == 0.5);
}

END_TEST

START_TEST(what_cannot_be_is_refused)
{
    tal_error err = {0};
    model m = model_begin();
    tal_exponential_spring_def def = tal_exponential_spring_def_default();
    def.body.i = -1;
    (void)tal_forces_add_exponential_spring(m.forces, "foot", &def);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);

    foot s = begin();
    tal_exponential_spring_info info;
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_exponential_spring_calc(s.m.forces, s.m.state, s.force, NULL),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(
        st = tal_exponential_spring_calc(s.m.forces, s.m.state, (tal_force_ix){5}, &info),
        TAL_ERR_BAD_INDEX, "5");
    test_assert_breach(
        st = tal_exponential_spring_reset(s.m.forces, s.m.state, (tal_force_ix){5}, 0.0),
        TAL_ERR_BAD_INDEX, "5");
    test_assert_breach(st = tal_exponential_spring_reset(s.m.forces, s.m.state, s.force, 2.0),
                       TAL_ERR_BAD_VALUE, "2");
    tal_state_invalidate(s.m.state, TAL_STAGE_TIME);
    test_assert_breach(st = tal_exponential_spring_calc(s.m.forces, s.m.state, s.force, &info),
                       TAL_ERR_STAGE, "Velocity");
    test_assert_breach(st = tal_exponential_spring_reset(s.m.forces, s.m.state, s.force, 0.0),
                       TAL_ERR_STAGE, "Position");
    ck_assert_int_eq(st, TAL_ERR_STAGE);
    model_end(&s.m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/exponential_spring");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, the_force_is_its_formula);
    tcase_add_test(theory, the_anchor_holds_and_then_follows);
    tcase_add_test(theory, the_anchor_of_a_spring_that_is_off_stays);
    tcase_add_test(theory, steps_that_neither_stick_nor_slip_anew_change_nothing);
    tcase_add_test(theory, the_change_is_that_of_differences);
    tcase_add_test(theory, action_is_reaction_and_energy_is_accounted_for);
    tcase_add_test(theory, parameters_live_in_the_state);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, parameters_have_the_defaults_of_the_published_model);
    tcase_add_test(errors, what_cannot_be_is_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
