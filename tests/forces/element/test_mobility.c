// Tests for forces/src/element/mobility_speed.c and mobility_coordinate.c, and for
// tal_body_mul_N().
#include "force_model.h"

static const tal_friction FRICTION = {3.0, 2.0, 0.5, 0.1};
static const tal_stop STOP = {40.0, 0.6, -0.3, 0.2};

// One element at a time, on a model of its own.
typedef struct one {
    model m;
    tal_force_ix force;
} one;

static tal_mobility at(const model *m, int body, int i)
{
    const tal_mobility mobility = {m->body[body], i};
    return mobility;
}

static int slot_u(const model *m, int body, int i)
{
    return tal_body_u_start(m->matter, m->body[body]) + i;
}

// Nothing but f[slot], which is returned.
static double only(const load *on, int slot)
{
    for (int b = 0; b < MODEL_BODIES; ++b) {
        test_assert_sv_near(on->F[b], TAL_SPATIAL_VEC_ZERO, 0.0);
    }
    for (int i = 0; i < MODEL_NU; ++i) {
        if (i != slot) ck_assert_double_eq(on->f[i], 0.0);
    }
    return on->f[slot];
}

// --- on speeds ---

START_TEST(a_mobility_force_is_what_the_state_says)
{
    one o = {.m = model_begin()};
    model *m = &o.m;
    o.force = tal_forces_add_mobility_force(m->forces, "motor", at(m, GIMBAL, 1), 4.0);
    model_finish(m);
    load on = model_load(m, o.force);
    ck_assert_double_eq(only(&on, slot_u(m, GIMBAL, 1)), 4.0);
    tal_force_set_param(m->forces, m->state, o.force, TAL_MOBILITY_FORCE_FORCE, -7.0);
    on = model_load(m, o.force);
    ck_assert_double_eq(only(&on, slot_u(m, GIMBAL, 1)), -7.0);
    ck_assert_double_eq(tal_forces_dissipated_power(m->forces, m->state), 0.0);
    model_check_param(m, o.force, TAL_MOBILITY_FORCE_FORCE, 1.0, TAL_STAGE_DYNAMICS);
    model_check_refused(m, o.force, 0, (double)NAN, TAL_ERR_NOT_FINITE);
    model_check_heap_and_switch(m, o.force);
    model_end(m);
}

END_TEST

START_TEST(dampers_resist_speeds)
{
    model m = model_begin();
    const tal_force_ix one_damper =
        tal_forces_add_mobility_damper(m.forces, "damper", at(&m, FREE, 4), 3.0);
    const tal_force_ix global = tal_forces_add_global_damper(m.forces, "air", 0.25);
    model_finish(&m);
    for (uint64_t seed = 1; seed < 10; ++seed) {
        model_shake(&m, seed);
        const double *u = tal_state_u(m.state);
        load on = model_load(&m, one_damper);
        ck_assert_double_eq(only(&on, slot_u(&m, FREE, 4)), -3.0 * u[slot_u(&m, FREE, 4)]);
        on = model_load(&m, global);
        for (int i = 0; i < MODEL_NU; ++i) {
            ck_assert_double_eq(on.f[i], -0.25 * u[i]);
        }
    }
    model_check_balance(&m, one_damper, 1e-14);
    model_check_balance(&m, global, 1e-14);
    model_check_param(&m, one_damper, TAL_MOBILITY_DAMPER_DAMPING, 1.0, TAL_STAGE_DYNAMICS);
    model_check_param(&m, global, TAL_MOBILITY_DAMPER_DAMPING, 1.0, TAL_STAGE_DYNAMICS);
    model_check_refused(&m, global, 0, -1.0, TAL_ERR_BAD_VALUE);
    model_check_heap_and_switch(&m, one_damper);
    model_check_heap_and_switch(&m, global);
    model_end(&m);
}

END_TEST

static double friction_at(one *o, double u)
{
    model *m = &o->m;
    tal_body_set_u(m->matter, m->state, m->body[PIN], 0, u);
    model_realize(m, TAL_STAGE_VELOCITY);
    const load on = model_load(m, o->force);
    return only(&on, slot_u(m, PIN, 0));
}

START_TEST(friction_follows_its_curve)
{
    one o = {.m = model_begin()};
    model *m = &o.m;
    o.force = tal_forces_add_mobility_friction(m->forces, "brake", at(m, PIN, 0), &FRICTION);
    model_finish(m);
    const double Fs = 3.0, Fd = 2.0, c = 0.5, v0 = 0.1;
    for (int k = -200; k <= 200; ++k) {
        const double u = 0.01 * k, s = u / v0;
        // written out once more: the hump by powers of e, the step by exponentials
        const double hump = (Fs - Fd) * s * sqrt(exp(1.0) / exp(s * s));
        const double step =
            fabs(s) > 30.0 ? (s > 0.0 ? 1.0 : -1.0) : (exp(20.0 * s) - 1.0) / (exp(20.0 * s) + 1.0);
        const double f = friction_at(&o, u);
        ck_assert_double_eq_tol(f, -(hump + Fd * step + c * u), 1e-13);
        const double power = tal_force_dissipated_power(m->forces, m->state, o.force);
        ck_assert_double_eq(power, -f * u);
        ck_assert_double_ge(power, 0.0);
        ck_assert_double_eq(friction_at(&o, -u), -f); // odd
    }
    ck_assert_double_eq(friction_at(&o, 0.0), 0.0);
    // the static force at v0, to 2 exp(-20) Fd; the dynamic one beyond
    ck_assert_double_eq_tol(-friction_at(&o, v0), Fs + c * v0, 1e-8);
    ck_assert_double_eq_tol(-friction_at(&o, 2.0), Fd + c * 2.0, 1e-14);
    // s^2 overflows
    ck_assert_double_eq(friction_at(&o, 1e170), -(Fd + c * 1e170));
    model_shake(m, 3);
    model_check_param(m, o.force, TAL_FRICTION_STATIC, 5.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, o.force, TAL_FRICTION_DYNAMIC, 1.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, o.force, TAL_FRICTION_VISCOUS, 1.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, o.force, TAL_FRICTION_SPEED, 1.0, TAL_STAGE_DYNAMICS);
    model_check_refused(m, o.force, TAL_FRICTION_SPEED, 0.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, o.force, TAL_FRICTION_STATIC, 1.0, TAL_ERR_BAD_VALUE);
    model_check_heap_and_switch(m, o.force);
    model_end(m);
}

END_TEST

// --- on coordinates ---

// f_q = f along one coordinate: f_u must do the same work along all speeds, one by one.
static void check_work(model *m, const load *on, tal_mobility mobility, int q, double f_q)
{
    const int u0 = tal_body_u_start(m->matter, mobility.body);
    const int nu = tal_body_nu(m->matter, mobility.body);
    for (int j = 0; j < MODEL_NU; ++j) {
        double u[TAL_MAX_NU] = {0.0}, qdot[TAL_MAX_NQ] = {0.0};
        const bool own = j >= u0 && j < u0 + nu;
        if (own) {
            u[j - u0] = 1.0;
            ck_assert_int_eq(tal_body_mul_N(m->matter, m->state, mobility.body, TAL_N, u, qdot),
                             TAL_OK);
        }
        ck_assert_double_eq_tol(on->f[j], f_q * qdot[q], 1e-13 * (1.0 + fabs(f_q * qdot[q])));
    }
}

START_TEST(a_spring_pulls_every_kind_of_coordinate)
{
    // body, coordinate counted with angles, and as the State counts
    static const int where[][3] = {{PIN, 0, 0},  {GIMBAL, 0, 0}, {GIMBAL, 1, 1}, {GIMBAL, 2, 2},
                                   {BALL, 0, 0}, {BALL, 1, 1},   {BALL, 2, 2},   {SLIDER, 0, 0},
                                   {FREE, 3, 4}, {FREE, 4, 5},   {FREE, 5, 6}};
    for (int k = 0; k < 11; ++k) {
        model m = model_begin();
        const tal_mobility mobility = at(&m, where[k][0], where[k][1]);
        const tal_force_ix ix =
            tal_forces_add_mobility_spring(m.forces, "spring", mobility, 6.0, 0.4);
        model_finish(&m);
        for (uint64_t seed = 1; seed < 6; ++seed) {
            model_shake(&m, seed);
            const double q = tal_body_q(m.matter, m.state, mobility.body, where[k][2]);
            const load on = model_load(&m, ix);
            check_work(&m, &on, mobility, where[k][2], -6.0 * (q - 0.4));
            ck_assert_double_eq_tol(tal_force_potential_energy(m.forces, m.state, ix),
                                    3.0 * (q - 0.4) * (q - 0.4), 1e-15);
        }
        model_check_balance(&m, ix, 1e-9);
        model_end(&m);
    }
}

END_TEST

START_TEST(a_quaternion_is_no_place_for_a_spring)
{
    one o = {.m = model_begin()};
    model *m = &o.m;
    o.force = tal_forces_add_mobility_spring(m->forces, "neck", at(m, FREE, 2), 6.0, 0.4);
    const tal_force_ix along =
        tal_forces_add_mobility_spring(m->forces, "along", at(m, FREE, 4), 2.0, 0.0);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(m->system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(m->system, &m->state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_INSTANCE),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "'neck'"));
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "quaternion"));

    // while it is disabled it has no effect, but it cannot be evaluated either
    tal_force_set_enabled(m->forces, m->state, o.force, false);
    model_shake(m, 5);
    load on;
    memset(&on, 0, sizeof on);
    ck_assert_int_eq(tal_force_apply(m->forces, m->state, o.force, on.F, on.f), TAL_ERR_BAD_VALUE);
    ck_assert_double_nan(tal_force_potential_energy(m->forces, m->state, o.force));
    const double q4 = tal_body_q(m->matter, m->state, m->body[FREE], 5);
    ck_assert_double_eq(tal_force_potential_energy(m->forces, m->state, along), q4 * q4);

    // with angles it works, and the other spring stays on its distance
    tal_force_set_enabled(m->forces, m->state, o.force, true);
    ck_assert_int_eq(tal_body_set_use_angles(m->matter, m->state, m->body[FREE], true), TAL_OK);
    model_realize(m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(tal_force_potential_energy(m->forces, m->state, along), q4 * q4);
    model_check_balance(m, o.force, 1e-9);
    model_end(m);
}

END_TEST

START_TEST(a_singular_coordinate_fails_with_the_name_of_the_body)
{
    one o = {.m = model_begin()};
    model *m = &o.m;
    o.force = tal_forces_add_mobility_spring(m->forces, "neck", at(m, BALL, 0), 6.0, 9.0);
    model_finish(m);
    tal_body_set_q(m->matter, m->state, m->body[BALL], 1, 2.0 * atan(1.0));
    model_realize(m, TAL_STAGE_POSITION);
    double f_q[3] = {1.0, 0.0, 0.0}, f_u[3];
    ck_assert_int_eq(tal_body_mul_N(m->matter, m->state, m->body[BALL], TAL_N_T, f_q, f_u),
                     TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(
        strstr(tal_state_error(m->state)->message, tal_body_name(m->matter, m->body[BALL])));
    model_end(m);
}

END_TEST

START_TEST(a_nonlinear_spring_is_the_slope_of_its_energy)
{
    one o = {.m = model_begin()};
    model *m = &o.m;
    const double quartic[] = {1.5, 0.0, -0.5, 0.2, 3.0}; // 1.5 q^4 - 0.5 q^2 + 0.2 q + 3
    tal_function *energy = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, quartic, 5, &energy, NULL), TAL_OK);
    o.force =
        tal_forces_add_mobility_nonlinear_spring(m->forces, "duffing", at(m, BALL, 2), energy);
    model_finish(m);
    for (uint64_t seed = 1; seed < 10; ++seed) {
        model_shake(m, seed);
        const double q = tal_body_q(m->matter, m->state, m->body[BALL], 2);
        const load on = model_load(m, o.force);
        check_work(m, &on, at(m, BALL, 2), 2, -(6.0 * q * q * q - q + 0.2));
        ck_assert_double_eq_tol(tal_force_potential_energy(m->forces, m->state, o.force),
                                1.5 * q * q * q * q - 0.5 * q * q + 0.2 * q + 3.0, 1e-14);
    }
    model_check_balance(m, o.force, 1e-9);
    model_check_heap_and_switch(m, o.force);
    ck_assert_int_eq(tal_force_num_params(m->forces, o.force), 0);
    model_end(m);
}

END_TEST

// f_q and the power dissipated, at a q and qdot of the slider.
static double stop_at(one *o, double q, double qdot)
{
    model *m = &o->m;
    tal_body_set_q(m->matter, m->state, m->body[SLIDER], 0, q);
    tal_body_set_u(m->matter, m->state, m->body[SLIDER], 0, qdot);
    model_realize(m, TAL_STAGE_VELOCITY);
    const load on = model_load(m, o->force);
    return only(&on, slot_u(m, SLIDER, 0));
}

START_TEST(a_stop_pushes_and_never_sticks)
{
    one o = {.m = model_begin()};
    model *m = &o.m;
    o.force = tal_forces_add_mobility_stop(m->forces, "bumper", at(m, SLIDER, 0), &STOP);
    model_finish(m);
    const double k = 40.0, d = 0.6, low = -0.3, high = 0.2;
    for (int i = -40; i <= 40; ++i) {
        for (int j = -40; j <= 40; ++j) {
            const double q = 0.02 * i, qdot = 0.1 * j;
            double expected = 0.0, elastic = 0.0;
            if (q > high) {
                elastic = -k * (q - high);
                expected = elastic * (1.0 + d * qdot);
                if (expected > 0.0) expected = 0.0;
            } else if (q < low) {
                elastic = -k * (q - low);
                expected = elastic * (1.0 - d * qdot);
                if (expected < 0.0) expected = 0.0;
            }
            ck_assert_double_eq_tol(stop_at(&o, q, qdot), expected, 1e-12);
            const double energy = tal_force_potential_energy(m->forces, m->state, o.force);
            ck_assert_double_eq_tol(energy, 0.5 * elastic * elastic / k, 1e-13);
            const double power = tal_force_dissipated_power(m->forces, m->state, o.force);
            ck_assert_double_ge(power, 0.0);
            ck_assert_double_eq_tol(power, (elastic - expected) * qdot, 1e-12);
        }
    }
    // a range without ends never pushes
    const double all[] = {-(double)INFINITY, (double)INFINITY};
    ck_assert_int_eq(tal_force_set_params(m->forces, m->state, o.force, TAL_STOP_LOW, all, 2),
                     TAL_OK);
    ck_assert_double_eq(stop_at(&o, 9.0, 1.0), 0.0);
    model_check_refused(m, o.force, TAL_STOP_LOW, (double)NAN, TAL_ERR_NOT_FINITE);
    const double range[] = {0.5, 0.4};
    ck_assert_int_eq(tal_force_set_params(m->forces, m->state, o.force, TAL_STOP_LOW, range, 2),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "range"));
    model_end(m);
}

END_TEST

// A range of one point makes the stop act everywhere, and its energy smooth where it is left alone.
START_TEST(a_stop_on_an_angle_acts_through_N)
{
    one o = {.m = model_begin()};
    model *m = &o.m;
    const tal_stop always = {4.0, 0.1, 3.0, 3.0}; // all q of the tests are below
    o.force = tal_forces_add_mobility_stop(m->forces, "bumper", at(m, GIMBAL, 1), &always);
    model_finish(m);
    model_check_balance(m, o.force, 1e-9);
    model_check_param(m, o.force, TAL_STOP_STIFFNESS, 1.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, o.force, TAL_STOP_DISSIPATION, 0.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, o.force, TAL_STOP_LOW, 2.0, TAL_STAGE_DYNAMICS);
    model_check_heap_and_switch(m, o.force);
    model_end(m);
}

END_TEST

// --- bad input ---

START_TEST(mobilities_that_do_not_exist_are_refused)
{
    tal_error err = {0};
    model m = model_begin();
    ck_assert_int_lt(tal_forces_add_mobility_force(m.forces, "a", at(&m, PIN, 1), 1.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "no speed 1: it has 1"));
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_mobility_spring(m.forces, "a", at(&m, BALL, 3), 1.0, 0.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "no coordinate 3: it has 3"));
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_mobility_damper(m.forces, "a", at(&m, PIN, -1), 1.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    const tal_mobility nowhere = {{44}, 0};
    ck_assert_int_lt(tal_forces_add_mobility_stop(m.forces, "a", nowhere, &STOP).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
}

END_TEST

static tal_function *line_of(int num_args)
{
    const double a[2] = {1.0, 1.0};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, a, num_args, 0.0, &f, NULL), TAL_OK);
    return f;
}

// Leaks would be seen by the sanitizer: the function is adopted in any case.
START_TEST(bad_energies_and_laws_are_refused)
{
    tal_error err = {0};
    model m = model_begin();
    const tal_mobility pin = at(&m, PIN, 0);
    ck_assert_int_lt(tal_forces_add_mobility_nonlinear_spring(m.forces, NULL, pin, line_of(2)).i,
                     0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "2 arguments"));
    m = model_begin();
    ck_assert_int_lt(
        tal_forces_add_mobility_nonlinear_spring(m.forces, "a", at(&m, PIN, 5), line_of(1)).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    const tal_friction inverted = {1.0, 2.0, 0.0, 0.1};
    ck_assert_int_lt(tal_forces_add_mobility_friction(m.forces, "a", pin, &inverted).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "static force"));

    m = model_begin();
    test_assert_breach(tal_forces_add_mobility_nonlinear_spring(NULL, "a", pin, line_of(1)),
                       TAL_ERR_NULL, "forces");
    test_assert_breach(tal_forces_add_mobility_spring(NULL, "a", pin, 1.0, 1.0), TAL_ERR_NULL,
                       "forces");
    test_assert_breach(tal_forces_add_global_damper(NULL, "a", 1.0), TAL_ERR_NULL, "forces");
    // a name that is taken: the element, and with it the function, is destroyed
    (void)tal_forces_add_mobility_force(m.forces, "a", pin, 1.0);
    ck_assert_int_lt(tal_forces_add_mobility_nonlinear_spring(m.forces, "a", pin, line_of(1)).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_NAME);
}

END_TEST

START_TEST(rates_of_one_body_are_those_of_the_whole)
{
    model m = model_begin();
    model_finish(&m);
    double in[MODEL_MAX_NQ], all[MODEL_MAX_NQ], part[TAL_MAX_NQ];
    for (int i = 0; i < MODEL_MAX_NQ; ++i) {
        in[i] = 0.3 * i - 1.0;
    }
    for (int op = TAL_N; op <= TAL_NDOT_T; ++op) {
        const bool from_q = op == TAL_N_T || op == TAL_NPLUS || op == TAL_NDOT_T;
        ck_assert_int_eq(tal_matter_mul_N(m.matter, m.state, (tal_n_op)op, in, all), TAL_OK);
        for (int b = 1; b < MODEL_BODIES; ++b) {
            const int q0 = tal_body_q_start(m.matter, m.state, m.body[b]);
            const int u0 = tal_body_u_start(m.matter, m.body[b]);
            const int nq = tal_body_nq(m.matter, m.state, m.body[b]);
            const int nu = tal_body_nu(m.matter, m.body[b]);
            ck_assert_int_eq(tal_body_mul_N(m.matter, m.state, m.body[b], (tal_n_op)op,
                                            in + (from_q ? q0 : u0), part),
                             TAL_OK);
            test_assert_near(part, all + (from_q ? u0 : q0), from_q ? nu : nq, 0.0, "N");
        }
    }
    ck_assert_int_eq(tal_body_nq_angles(m.matter, m.body[FREE]), 6);
    ck_assert_int_eq(tal_body_nq_angles(m.matter, m.body[PIN]), 1);
    const tal_body_ix absent = {60};
    test_assert_breach((void)tal_body_nq_angles(m.matter, absent), TAL_ERR_BAD_INDEX, "60");
    test_assert_refused(tal_body_mul_N(m.matter, m.state, absent, TAL_N, in, part),
                        TAL_ERR_BAD_INDEX, "60");
    test_assert_refused(tal_body_mul_N(m.matter, m.state, m.body[1], TAL_N, NULL, part),
                        TAL_ERR_NULL, "in");
    test_assert_refused(tal_body_mul_N(m.matter, m.state, m.body[1], TAL_N, in, NULL), TAL_ERR_NULL,
                        "out");
    in[0] = (double)NAN;
    ck_assert_int_eq(tal_body_mul_N(m.matter, m.state, m.body[1], TAL_N, in, part),
                     TAL_ERR_NOT_FINITE);
    model_end(&m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/mobility");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_mobility_force_is_what_the_state_says);
    tcase_add_test(theory, dampers_resist_speeds);
    tcase_add_test(theory, friction_follows_its_curve);
    tcase_add_test(theory, a_spring_pulls_every_kind_of_coordinate);
    tcase_add_test(theory, a_nonlinear_spring_is_the_slope_of_its_energy);
    tcase_add_test(theory, a_stop_pushes_and_never_sticks);
    tcase_add_test(theory, a_stop_on_an_angle_acts_through_N);
    tcase_add_test(theory, rates_of_one_body_are_those_of_the_whole);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_quaternion_is_no_place_for_a_spring);
    tcase_add_test(errors, a_singular_coordinate_fails_with_the_name_of_the_body);
    tcase_add_test(errors, mobilities_that_do_not_exist_are_refused);
    tcase_add_test(errors, bad_energies_and_laws_are_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
