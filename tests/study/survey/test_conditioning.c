// study/src/survey/conditioning.c and lint.c: condition, sensitivity and lints (RBDA sec. 10.1 and
// 10.2, entries 10.02 and 10.07).
#include "talus_test.h"

#include <talus/study/conditioning.h>

#include <float.h>

enum {
    MOST = 40
};

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
} model;

static model begin(void)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    return m;
}

static void finish(model *m)
{
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_MODEL), TAL_OK);
}

static void end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

// Links of mass 1 and length `unit`, rods, in a chain.
static model chain_of(int n, double unit)
{
    model m = begin();
    tal_mobod_def link = tal_mobod_def_default();
    link.mass =
        (tal_mass_props){1.0,
                         {0.5 * unit, 0.0, 0.0},
                         tal_s3_diag(1e-3 * unit * unit, unit * unit / 3.0, unit * unit / 3.0)};
    for (int i = 0; i < n; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : unit, 0.0, 0.0));
        (void)tal_matter_add_pin(m.matter, (tal_body_ix){i}, &link);
    }
    finish(&m);
    return m;
}

// Angles that alternate between +-75 degrees (RBDA fig. 10.3).
static void bend(model *m, double angle)
{
    for (int b = 1; b < tal_matter_num_bodies(m->matter); ++b) {
        ck_assert_int_eq(
            tal_body_set_q(m->matter, m->state, (tal_body_ix){b}, 0, b % 2 == 1 ? angle : -angle),
            TAL_OK);
    }
}

static tal_conditioning conditioning_of(model *m)
{
    tal_conditioning how;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_conditioning_calc(m->system, m->state, &how, &err) == TAL_OK, "%s",
                  err.message);
    return how;
}

// --- condition ---

// The book's numbers have three or four digits.
START_TEST(the_condition_of_six_links_is_that_of_the_book)
{
    model m = chain_of(6, 1.0);
    ck_assert_double_eq_tol(conditioning_of(&m).condition, 5685.0, 0.5);
    bend(&m, 75.0 * TAL_DEGREE);
    const tal_conditioning how = conditioning_of(&m);
    ck_assert_double_eq_tol(how.condition, 725.0, 0.5);
    ck_assert_double_eq_tol(how.most / how.least, how.condition, 1e-9 * how.condition);
    ck_assert_int_eq(how.dof, 6);
    // near the worst case of 4 n^4, and below it
    ck_assert_double_lt(how.condition, 4.0 * 6 * 6 * 6 * 6);
    end(&m);
}

END_TEST

// Lengths in millimeters make M^-1 another matrix, and `scaled` the same number: eigenvalues are
// exact to n eps times their largest, so the least one to n eps cond of itself.
START_TEST(the_scaled_condition_does_not_know_units)
{
    double scaled[2], share[2];
    for (int k = 0; k < 2; ++k) {
        model m = begin();
        const double mm = k == 0 ? 1.0 : 1024.0;
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = (tal_mass_props){
            2.0, {0.3 * mm, 0.1 * mm, 0.0}, tal_s3_diag(mm * mm, 1.1 * mm * mm, 1.2 * mm * mm)};
        def.X_PF = tal_xf_from_p(tal_v3(0.4 * mm, 0.0, 0.0));
        const tal_body_ix a = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
        const tal_body_ix b = tal_matter_add_pin(m.matter, a, &def);
        (void)tal_matter_add_free(m.matter, b, &def);
        finish(&m);
        const tal_conditioning how = conditioning_of(&m);
        scaled[k] = how.scaled;
        share[k] = how.share;
        end(&m);
    }
    ck_assert_double_eq_tol(scaled[0], scaled[1], 8.0 * DBL_EPSILON * scaled[0] * scaled[0]);
    ck_assert_double_eq_tol(share[0], share[1], 64.0 * DBL_EPSILON);
}

END_TEST

// A crank, a rod and a slider have one motion: nothing is badly conditioned there, whatever M is.
START_TEST(constraints_leave_the_condition_of_what_still_moves)
{
    model m = chain_of(3, 1.0);
    tal_conditioning how = conditioning_of(&m);
    ck_assert_int_eq(how.dof, 3);
    end(&m);

    m = begin();
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_rod(1.0, tal_v3(0.5, 0.0, 0.0));
    link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(1e-3, 1.0 / 3, 1.0 / 3)};
    const tal_body_ix a = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix b = tal_matter_add_pin(m.matter, a, &link);
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, b);
    (void)tal_constraint_add_point_in_plane(m.matter, &def, tal_v3(0, 1, 0), 0.0, tal_v3(1, 0, 0));
    finish(&m);
    bend(&m, 1.0);
    how = conditioning_of(&m);
    ck_assert_int_eq(how.dof, 1);
    ck_assert_double_eq(how.condition, 1.0);
    ck_assert_double_eq_tol(how.scaled, 1.0, 4.0 * DBL_EPSILON);
    end(&m);
}

END_TEST

START_TEST(a_motion_without_mass_has_no_condition)
{
    model m = begin();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    const tal_body_ix a = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    def.mass = (tal_mass_props){0.0, TAL_VEC3_ZERO, tal_s3_diag(0, 0, 0)};
    (void)tal_matter_add_slider(m.matter, a, &def);
    finish(&m);
    const tal_conditioning how = conditioning_of(&m);
    ck_assert_double_eq(how.condition, (double)INFINITY);
    ck_assert_double_eq(how.scaled, (double)INFINITY);
    ck_assert_double_eq(how.share, 0.0);
    end(&m);
}

END_TEST

START_TEST(nothing_that_moves_is_well_conditioned)
{
    model m = begin();
    finish(&m);
    const tal_conditioning how = conditioning_of(&m);
    ck_assert_int_eq(how.dof, 0);
    ck_assert_double_eq(how.condition, 1.0);
    ck_assert_double_eq(how.share, 1.0);
    ck_assert_int_lt(how.weakest.body.i, 0);
    end(&m);
}

END_TEST

// --- sensitivity ---

// The forces that give one rad/s^2 each, rounded to three digits, give accelerations between 0.59
// and 1.38 (RBDA sec. 10.2). `reach` of what was rounded off bounds what they change by, and is
// attained by the worst signs.
START_TEST(reach_bounds_what_rounded_forces_do)
{
    static const double rounded[6] = {126.0, 97.5, 70.0, 43.8, 21.9, 6.16};
    const double ones[6] = {1, 1, 1, 1, 1, 1};
    double tau[6], off[6], udot[6], reach[6], of_tau[6];
    model m = chain_of(6, 1.0);
    bend(&m, 75.0 * TAL_DEGREE);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_matter_inverse_dynamics(m.matter, m.state, ones, NULL, NULL, tau), TAL_OK);
    for (int i = 0; i < 6; ++i) {
        off[i] = tau[i] - rounded[i];
    }
    ck_assert_int_eq(tal_conditioning_calc_reach(m.system, m.state, off, reach, NULL), TAL_OK);
    ck_assert_int_eq(tal_conditioning_calc_reach(m.system, m.state, tau, of_tau, NULL), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_Minv(m.matter, m.state, rounded, udot), TAL_OK);
    for (int i = 0; i < 6; ++i) {
        ck_assert_double_le(fabs(udot[i] - 1.0), reach[i] * (1.0 + 1e-9));
        ck_assert_double_lt(reach[i], 1.3);

        ck_assert_double_gt(of_tau[i], 80.0); // the book: errors grow by more than 80
        ck_assert_double_lt(of_tau[i], 500.0);
    }
    for (int row = 0; row < 6; ++row) { // the worst signs, from a column of M^-1
        double unit[6] = {0}, column[6], worst[6];
        unit[row] = 1.0;
        ck_assert_int_eq(tal_matter_mul_Minv(m.matter, m.state, unit, column), TAL_OK);
        for (int j = 0; j < 6; ++j) {
            worst[j] = copysign(off[j], column[j]);
        }
        ck_assert_int_eq(tal_matter_mul_Minv(m.matter, m.state, worst, udot), TAL_OK);
        // cond(M) eps of the terms
        ck_assert_double_eq_tol(udot[row], reach[row], 725.0 * 16.0 * DBL_EPSILON);
    }
    end(&m);
}

END_TEST

// With constraints: differences of constrained forward dynamics, which is linear in f.
START_TEST(reach_respects_constraints_and_locks)
{
    model m = begin();
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(1e-3, 1.0 / 3, 1.0 / 3)};
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i < 4; ++i) {
        last = tal_matter_add_pin(m.matter, last, &link);
        link.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    }
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, last);
    (void)tal_constraint_add_point_in_plane(m.matter, &def, tal_v3(0, 1, 0), 0.3, tal_v3(1, 0, 0));
    finish(&m);
    bend(&m, 0.8);
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, (tal_body_ix){2}, TAL_LEVEL_VELOCITY),
                     TAL_OK);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    const double f[4] = {1.0, -2.0, 0.5, 3.0};
    double reach[4], expected[4] = {0}, still[4], moved[4], none[4] = {0}, work[3000];
    int iwork[300];
    ck_assert_uint_le(tal_matter_dense_work_size(m.matter, m.state), 3000);
    ck_assert_int_eq(tal_conditioning_calc_reach(m.system, m.state, f, reach, NULL), TAL_OK);
    ck_assert_int_eq(tal_matter_solve_constrained(m.matter, m.state, TAL_SOLVE_NULL_SPACE, NULL,
                                                  none, still, NULL, work, iwork),
                     TAL_OK);
    for (int j = 0; j < 4; ++j) {
        double one[4] = {0};
        one[j] = f[j];
        ck_assert_int_eq(tal_matter_solve_constrained(m.matter, m.state, TAL_SOLVE_NULL_SPACE, NULL,
                                                      one, moved, NULL, work, iwork),
                         TAL_OK);
        for (int i = 0; i < 4; ++i) {
            expected[i] += fabs(moved[i] - still[i]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        // a condition of some hundreds, times eps and terms of size 10
        ck_assert_double_eq_tol(reach[i], expected[i], 1e-11 * fmax(1.0, expected[i]));
    }
    ck_assert_double_eq(reach[1], 0.0); // locked
    end(&m);
}

END_TEST

// Without forces given, those that the accelerations take.
START_TEST(reach_of_the_state_is_that_of_M_udot)
{
    model m = chain_of(3, 1.0);
    double udot[3], f[3], given[3], own[3];
    for (int b = 1; b <= 3; ++b) {
        ck_assert_int_eq(tal_body_set_u(m.matter, m.state, (tal_body_ix){b}, 0, 1.0), TAL_OK);
    }
    bend(&m, 0.5);
    ck_assert_int_eq(tal_conditioning_calc_reach(m.system, m.state, NULL, own, NULL), TAL_OK);
    memcpy(udot, tal_state_udot(m.state), sizeof udot);
    ck_assert_double_gt(fabs(udot[2]), 0.1); // it moves
    ck_assert_int_eq(tal_matter_mul_M(m.matter, m.state, udot, f), TAL_OK);
    ck_assert_int_eq(tal_conditioning_calc_reach(m.system, m.state, f, given, NULL), TAL_OK);
    ck_assert_mem_eq(own, given, sizeof own);
    end(&m);
}

END_TEST

// --- lints ---

static int lints_of(model *m, tal_lint lints[], int max)
{
    int num = -1;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_lint_find(m->system, m->state, NULL, lints, max, &num, &err) == TAL_OK, "%s",
                  err.message);
    return num;
}

// A model that is as usual, but for one thing.
static model usual(double com, double place, double mass, double mobilizer)
{
    model m = begin();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(mass, 0.1);
    def.X_PF = tal_xf_from_p(tal_v3(place, 0.0, 0.0));
    const tal_body_ix a = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    const tal_mass_props ball = tal_mass_props_sphere(1.0, 0.1);
    const tal_xform moved = tal_xf_from_p(tal_v3(com, 0.0, 0.0));
    def.mass = tal_mass_props_transform(&moved, &ball);
    def.X_PF = tal_xf_from_p(tal_v3(0.3, 0.0, 0.0));
    def.X_BM = tal_xf_from_p(tal_v3(com + mobilizer, 0.0, 0.0));
    (void)tal_matter_add_pin(m.matter, a, &def);
    finish(&m);
    return m;
}

// Inventory of RBDA: 10.02.
START_TEST(each_lint_is_found_where_it_is)
{
    static const struct {
        double com, place, mass, mobilizer;
        tal_lint_kind kind;
        int body;
        const char *says;
    } cases[] = {
        {500.0, 0.0, 1.0, 0.1, TAL_LINT_FAR_FRAME, 2, "its origin is 500 m away from it"},
        {0.0, 0.0, 1.0, 500.0, TAL_LINT_FAR_FRAME, 2, "its mobilizer is 500 m away from it"},
        {0.0, 1e9, 1.0, 0.1, TAL_LINT_FAR_FROM_GROUND, 2, "times the size of the model"},
        {0.0, 0.0, 1e-6, 0.1, TAL_LINT_INERTIA_RATIO, 1, "times its own mass"},
    };

    tal_lint lints[4];
    model m = usual(0.0, 0.0, 1.0, 0.1);
    ck_assert_int_eq(lints_of(&m, lints, 4), 0);
    end(&m);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        m = usual(cases[k].com, cases[k].place, cases[k].mass, cases[k].mobilizer);
        const int num = lints_of(&m, lints, 4);
        ck_assert_int_ge(num, 1);
        ck_assert_int_eq(lints[0].kind, cases[k].kind);
        ck_assert_int_eq(lints[0].body.i, cases[k].body);
        ck_assert_msg(strstr(lints[0].message, cases[k].says) != NULL, "%s", lints[0].message);
        end(&m);
    }
}

END_TEST

// A wheel of 1e-10 kg m^2 on a slider along its rim: what the pin moves is all but the slider's.
START_TEST(inertia_that_cancels_is_found)
{
    model m = begin();
    tal_lint lint;
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = (tal_mass_props){1e-4, TAL_VEC3_ZERO, tal_s3_diag(1e-10, 1e-10, 1e-10)};
    const tal_body_ix wheel = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    def.mass = (tal_mass_props){1.0, TAL_VEC3_ZERO, tal_s3_diag(0.0, 0.0, 0.0)};
    def.X_PF = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    (void)tal_matter_add_slider(m.matter, wheel, &def);
    finish(&m);
    ck_assert_int_eq(lints_of(&m, &lint, 1), 1);
    ck_assert_int_eq(lint.kind, TAL_LINT_WEAK_INERTIA);
    ck_assert_int_eq(lint.body.i, wheel.i);
    // M_11 = 1 + 1e-10, of which M_12 = 1 takes 1
    ck_assert_double_eq_tol(1.0 / lint.value, 1e-10, 4.0 * DBL_EPSILON);
    const tal_conditioning how = conditioning_of(&m);
    ck_assert_double_eq_tol(how.share, 1e-10, 4.0 * DBL_EPSILON);
    ck_assert_int_eq(how.weakest.body.i, wheel.i);
    ck_assert_int_eq(how.weakest.i, 0);
    end(&m);
}

END_TEST

// Three parallel cranks lose rank where they lie flat. Bent by phi, the least pivot goes as phi^2.
START_TEST(loops_that_nearly_lose_rank_are_found)
{
    tal_lint lint;
    for (int k = 0; k < 2; ++k) {
        const double phi = k == 0 ? 0.5 : 2e-5;
        model m = begin();
        tal_mobod_def link = tal_mobod_def_default();
        link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(1e-3, 1.0 / 3, 1.0 / 3)};
        const tal_body_ix a = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
        link.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
        const tal_body_ix b = tal_matter_add_pin(m.matter, a, &link);
        link.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
        const tal_body_ix c = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
        const tal_constraint_def def = tal_constraint_between(b, c);
        const tal_vec3 tip = {1.0, 0.0, 0.0};
        (void)tal_constraint_add_ball(m.matter, &def, tip, tip);
        finish(&m);
        tal_body_set_q(m.matter, m.state, a, 0, phi);
        tal_body_set_q(m.matter, m.state, b, 0, -phi);
        tal_body_set_q(m.matter, m.state, c, 0, phi);
        ck_assert_int_eq(lints_of(&m, &lint, 1), k);
        if (k == 1) ck_assert_int_eq(lint.kind, TAL_LINT_LOOP);
        if (k == 1) ck_assert_int_lt(lint.body.i, 0);
        end(&m);
    }
}

END_TEST

START_TEST(limits_are_those_of_the_caller)
{
    model m = usual(500.0, 1e9, 1.0, 0.1);
    tal_lint_limits limits = tal_lint_limits_default();
    int num = -1;
    ck_assert_int_eq(lints_of(&m, NULL, 0), 2); // counted, not listed
    limits.far_frame = 1e5;
    ck_assert_int_eq(tal_lint_find(m.system, m.state, &limits, NULL, 0, &num, NULL), TAL_OK);
    ck_assert_int_eq(num, 1);
    limits.far_from_ground = 0.0; // never
    ck_assert_int_eq(tal_lint_find(m.system, m.state, &limits, NULL, 0, &num, NULL), TAL_OK);
    ck_assert_int_eq(num, 0);
    limits.loop = (double)NAN;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_lint_find(m.system, m.state, &limits, NULL, 0, &num, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "limit 4 is NaN");
    end(&m);
}

END_TEST

// --- far from the origin ---

// A pendulum and a four-bar at 1e9 m (a million kilometers) accelerate as at the origin: frames
// along the tree are never differences of positions, and constraints work relative to the common
// ancestor of their bodies, here a cart that is itself far away (RBDA 8.12). Ten eps of terms of
// size 10, divided by a share of inertia of 0.1.
START_TEST(a_million_kilometers_away_nothing_changes)
{
    double udot[2][4];
    for (int k = 0; k < 2; ++k) {
        model m = begin();
        tal_mobod_def link = tal_mobod_def_default();
        link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(1e-3, 1.0 / 3, 1.0 / 3)};
        link.X_PF = tal_xf_from_p(tal_v3(0.0, k == 0 ? 0.0 : 1e9, k == 0 ? 0.0 : -3e8));
        const tal_body_ix cart = tal_matter_add_slider(m.matter, TAL_GROUND, &link);
        link.X_PF = tal_xf_from_p(TAL_VEC3_ZERO);
        const tal_body_ix a = tal_matter_add_pin(m.matter, cart, &link);
        link.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
        const tal_body_ix b = tal_matter_add_pin(m.matter, a, &link);
        link.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
        const tal_body_ix c = tal_matter_add_pin(m.matter, cart, &link);
        const tal_constraint_def def = tal_constraint_between(b, c);
        const tal_vec3 tip = {1.0, 0.0, 0.0};
        (void)tal_constraint_add_ball(m.matter, &def, tip, tip);
        finish(&m);
        const double q[4] = {0.2, 0.7, -0.7, 0.7}, u[4] = {1.0, 2.0, -2.0, 2.0};
        for (int i = 0; i < 4; ++i) {
            tal_body_set_q(m.matter, m.state, (tal_body_ix){i + 1}, 0, q[i]);
            tal_body_set_u(m.matter, m.state, (tal_body_ix){i + 1}, 0, u[i]);
        }
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);
        memcpy(udot[k], tal_state_udot(m.state), sizeof udot[k]);
        for (int i = 0; i < 3; ++i) {
            ck_assert_double_lt(fabs(tal_state_qerr(m.state)[i]), 4.0 * DBL_EPSILON);
        }
        end(&m);
    }
    for (int i = 0; i < 4; ++i) {
        ck_assert_double_eq_tol(udot[1][i], udot[0][i], 1e-13);
    }
}

END_TEST

// A trapezoid of bars that stands on Ground at 4e5 m is off by the rounding of such positions; on a
// weld beside it, it is not: constraints work along the tree from the common ancestor of their
// bodies (RBDA sec. 8.7, entry 8.12). Compared are the error of a loop that is closed exactly, and
// accelerations for a torque on the first bar with those at the origin.
START_TEST(a_weld_nearby_keeps_the_digits_of_a_loop_far_away)
{
    const double phi = 0.65, f[3] = {1.0, 0.0, 0.0};
    double off[3], udot[3][3], work[3000];
    int iwork[300];
    for (int k = 0; k < 3; ++k) { // at the origin; far away, on Ground; far away, on a weld
        model m = begin();
        const tal_vec3 far = {k > 0 ? 1e6 / 3.0 : 0.0, k > 0 ? 1e6 / 7.0 : 0.0, 0.0};
        tal_mobod_def link = tal_mobod_def_default();
        link.X_PF = tal_xf_from_p(far);
        const tal_body_ix ground =
            k == 2 ? tal_matter_add_weld(m.matter, TAL_GROUND, &link) : TAL_GROUND;
        const tal_vec3 base = k == 2 ? TAL_VEC3_ZERO : far, one = {1.0, 0.0, 0.0};
        link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(1e-3, 1.0 / 3, 1.0 / 3)};
        link.X_PF = tal_xf_from_p(base);
        const tal_body_ix a = tal_matter_add_pin(m.matter, ground, &link);
        link.X_PF = tal_xf_from_p(one);
        const tal_body_ix b = tal_matter_add_pin(m.matter, a, &link);
        link.X_PF = tal_xf_from_p(tal_v3_add(base, tal_v3(1.0 + 2.0 * cos(phi), 0.0, 0.0)));
        const tal_body_ix c = tal_matter_add_pin(m.matter, ground, &link);
        const tal_constraint_def def = tal_constraint_between(b, c);
        (void)tal_constraint_add_ball(m.matter, &def, one, one);
        finish(&m);
        tal_body_set_q(m.matter, m.state, a, 0, phi);
        tal_body_set_q(m.matter, m.state, b, 0, -phi);
        tal_body_set_q(m.matter, m.state, c, 0, TAL_PI - phi);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
        ck_assert_uint_le(tal_matter_dense_work_size(m.matter, m.state), 3000);
        ck_assert_int_eq(tal_matter_solve_constrained(m.matter, m.state, TAL_SOLVE_MULTIPLIERS,
                                                      NULL, f, udot[k], NULL, work, iwork),
                         TAL_OK);
        off[k] = test_largest(tal_state_qerr(m.state), 3);
        end(&m);
    }
    ck_assert_double_lt(off[0], 8.0 * DBL_EPSILON);
    ck_assert_double_lt(off[2], 8.0 * DBL_EPSILON);
    ck_assert_double_gt(off[1], 1e4 * fmax(off[2], 0.1 * DBL_EPSILON));
    test_assert_near(udot[2], udot[0], 3, 1e-14 * test_largest(udot[0], 3), "udot");
    ck_assert_double_gt(fabs(udot[1][0] - udot[0][0]), 1e-13); // what the weld is good for
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("conditioning");
    TCase *const theory = tcase_create("theory");
    tcase_add_test(theory, the_condition_of_six_links_is_that_of_the_book);
    tcase_add_test(theory, the_scaled_condition_does_not_know_units);
    tcase_add_test(theory, constraints_leave_the_condition_of_what_still_moves);
    tcase_add_test(theory, a_motion_without_mass_has_no_condition);
    tcase_add_test(theory, nothing_that_moves_is_well_conditioned);
    tcase_add_test(theory, reach_bounds_what_rounded_forces_do);
    tcase_add_test(theory, reach_respects_constraints_and_locks);
    tcase_add_test(theory, reach_of_the_state_is_that_of_M_udot);
    tcase_add_test(theory, each_lint_is_found_where_it_is);
    tcase_add_test(theory, inertia_that_cancels_is_found);
    tcase_add_test(theory, loops_that_nearly_lose_rank_are_found);
    tcase_add_test(theory, limits_are_those_of_the_caller);
    tcase_add_test(theory, a_million_kilometers_away_nothing_changes);
    tcase_add_test(theory, a_weld_nearby_keeps_the_digits_of_a_loop_far_away);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
