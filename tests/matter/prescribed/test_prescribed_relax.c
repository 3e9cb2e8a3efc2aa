// matter/src/prescribed/prescribed_relax.c: fast mobilizers are brought to balance.
#include "alloc_guard.h"
#include "prescribed_support.h"

// Newton's last step is below this, and the error after it far below.
static const double TOLERANCE = 1e-6;

// ---- helpers

// A world with springs along its mobilities: f = -k (q - q0), where qdot = u.
typedef struct sprung {
    world w;
    double stiffness, rest;
} sprung;

static tal_status spring_forces(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const sprung *s = self;
    const tal_applied_forces to = tal_matter_upd_forces(s->w.matter, state);
    for (int i = 0; i < tal_state_nu(state) && s->stiffness != 0.0; ++i) {
        to.f[i] -= s->stiffness * (tal_state_q(state)[i] - s->rest);
    }
    return TAL_OK;
}

static const tal_subsystem_ops spring_ops = {
    .size = sizeof spring_ops, .name = "springs", .realize_dynamics = spring_forces};

static void begin(sprung *s)
{
    world_begin(&s->w);
    s->stiffness = s->rest = 0.0;
    (void)tal_system_add_subsystem(s->w.system, NULL, &spring_ops, s);
}

static tal_mobod_def bob(void)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    def.X_PF = tal_xf_from_p(tal_v3(0.0, -1.0, 0.0));
    def.mass.com = tal_v3(0.0, -1.0, 0.0);
    def.mass.inertia = (tal_sym3){2.0, 0.1, 2.0, 0.0, 0.0, 0.0};
    return def;
}

static tal_status relax(sprung *s, bool *changed)
{
    world_realize(&s->w, TAL_STAGE_TIME);
    return tal_system_relax(s->w.system, s->w.state, TOLERANCE, changed);
}

// ---- balance

// Hanging in a field of gravity that is not along an axis: from anywhere, also from nearly upright.
START_TEST(a_fast_pendulum_hangs_along_gravity)
{
    for (int k = 0; k < 8; ++k) {
        static sprung s;
        begin(&s);
        const tal_mobod_def def = bob();
        const tal_body_ix pin = tal_matter_add_pin(s.w.matter, TAL_GROUND, &def);
        ck_assert_int_eq(tal_matter_make_fast(s.w.matter, pin, TAL_LEVEL_POSITION), TAL_OK);
        world_finish(&s.w);
        s.w.gravity = tal_v3(9.81 * sin(0.3), -9.81 * cos(0.3), 0.0);
        (void)tal_body_set_q(s.w.matter, s.w.state, pin, 0, 0.3 - 3.1 + 0.885 * k);
        (void)tal_body_set_u(s.w.matter, s.w.state, pin, 0, 2.0);
        bool changed = false;
        ck_assert_int_eq(relax(&s, &changed), TAL_OK);
        ck_assert(changed);
        // a whole number of turns is the same place
        const double off = remainder(tal_state_q(s.w.state)[0] - 0.3, 2.0 * TAL_PI);
        ck_assert_double_eq_tol(off, 0.0, 1e-12);
        ck_assert(tal_state_u(s.w.state)[0] == 0.0);

        // once there it stays, to the last bit
        const double q = tal_state_q(s.w.state)[0];
        ck_assert_int_eq(relax(&s, &changed), TAL_OK);
        ck_assert(!changed && tal_state_q(s.w.state)[0] == q);
        world_realize(&s.w, TAL_STAGE_ACCELERATION);
        ck_assert(tal_state_udot(s.w.state)[0] == 0.0);
        ck_assert_double_eq_tol(tal_matter_motion_multipliers(s.w.matter, s.w.state)[0], 0.0,
                                1e-12);
        world_end(&s.w);
    }
}

// A step within tolerance is not a proof of balance: this one is a balance that nothing stays in.
START_TEST(a_fast_pendulum_does_not_stay_almost_upright)
{
    static sprung s;
    begin(&s);
    const tal_mobod_def def = bob();
    const tal_body_ix pin = tal_matter_add_pin(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(s.w.matter, pin, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    s.w.gravity = tal_v3(0.0, -9.81, 0.0);
    (void)tal_body_set_q(s.w.matter, s.w.state, pin, 0, 3.14159265);
    ck_assert_int_eq(relax(&s, NULL), TAL_OK);
    ck_assert_double_eq_tol(tal_state_q(s.w.state)[0], 0.0, 1e-12);
    world_end(&s.w);
}

// The arm is dynamic; what it carries is fast and hangs down whatever the arm does.
START_TEST(what_a_fast_body_carries_is_fast_too)
{
    static sprung s;
    begin(&s);
    const tal_mobod_def def = bob();
    const tal_body_ix arm = tal_matter_add_pin(s.w.matter, TAL_GROUND, &def);
    const tal_body_ix first = tal_matter_add_pin(s.w.matter, arm, &def);
    (void)tal_matter_add_pin(s.w.matter, first, &def);
    (void)tal_matter_make_fast(s.w.matter, first, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    s.w.gravity = tal_v3(0.0, -9.81, 0.0);
    const double q[] = {0.7, 0.2, -0.5};
    (void)tal_state_set_q(s.w.state, q, 3);
    ck_assert_int_eq(relax(&s, NULL), TAL_OK);
    ck_assert(tal_state_q(s.w.state)[0] == 0.7);
    ck_assert_double_eq_tol(tal_state_q(s.w.state)[1], -0.7, 1e-14);
    ck_assert_double_eq_tol(tal_state_q(s.w.state)[2], 0.0, 1e-14);
    world_realize(&s.w, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_matter_num_free(s.w.matter, s.w.state), 1);
    ck_assert(tal_state_udot(s.w.state)[0] != 0.0 && tal_state_udot(s.w.state)[1] == 0.0);
    ck_assert(tal_matter_motion_error(s.w.matter, s.w.state, TAL_LEVEL_POSITION) == 0.0);
    world_end(&s.w);
}

// A spring along each mobility of a chain, against weights: sum of what hangs outboard.
START_TEST(springs_stretch_until_they_carry_the_weight)
{
    static sprung s;
    begin(&s);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(2.0, 0.1);
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 4; ++i) {
        body = tal_matter_add_slider(s.w.matter, body, &def);
        if (i == 0) (void)tal_matter_make_fast(s.w.matter, body, TAL_LEVEL_POSITION);
    }
    world_finish(&s.w);
    s.w.gravity = tal_v3(10.0, 0.0, 0.0);
    s.stiffness = 400.0;
    s.rest = 0.1;
    ck_assert_int_eq(relax(&s, NULL), TAL_OK);
    for (int i = 0; i < 4; ++i) {
        ck_assert_double_eq_tol(tal_state_q(s.w.state)[i], 0.1 + 20.0 * (4 - i) / 400.0, 1e-12);
    }

    // one of them is locked: the others stay the same
    (void)tal_body_lock(s.w.matter, s.w.state, (tal_body_ix){2}, TAL_LEVEL_POSITION);
    s.w.gravity = tal_v3(20.0, 0.0, 0.0);
    ck_assert_int_eq(relax(&s, NULL), TAL_OK);
    ck_assert_double_eq_tol(tal_state_q(s.w.state)[1], 0.25, 1e-12);
    ck_assert_double_eq_tol(tal_state_q(s.w.state)[0], 0.1 + 40.0 * 4 / 400.0, 1e-12);
    world_end(&s.w);
}

// A ball may turn about the vertical freely: no force, no stiffness, no error.
START_TEST(a_fast_ball_hangs_down_and_keeps_a_unit_quaternion)
{
    static sprung s;
    begin(&s);
    const tal_mobod_def def = bob();
    const tal_body_ix ball = tal_matter_add_ball(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(s.w.matter, ball, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    s.w.gravity = tal_v3(0.0, -9.81, 0.0);
    const double q[] = {0.8, 0.5, 0.2, -0.3};
    (void)tal_state_set_q(s.w.state, q, 4);
    ck_assert_int_eq(relax(&s, NULL), TAL_OK);
    world_realize(&s.w, TAL_STAGE_POSITION);
    const tal_bodies_view poses = tal_matter_poses(s.w.matter, s.w.state);
    const tal_vec3 up = tal_m3_mul_v3(tal_view_X_GM(&poses, 1)->R, tal_v3(0.0, 1.0, 0.0));
    test_assert_v3_near(up, tal_v3(0.0, 1.0, 0.0),
                        1e-8); // the shift makes the turn slow
    ck_assert_double_eq_tol(tal_state_qerr(s.w.state)[0], 0.0, 1e-15);
    world_end(&s.w);
}

START_TEST(prescribing_stops_fast_mobilities_and_leaves_their_q)
{
    static sprung s;
    begin(&s);
    const tal_mobod_def def = bob();
    const tal_body_ix planar = tal_matter_add_planar(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(s.w.matter, planar, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    const double y[] = {0.1, 0.2, 0.3, 1.0, 2.0, 3.0};
    (void)tal_state_set_y(s.w.state, y, 6);
    (void)tal_mobility_lock_at(s.w.matter, s.w.state, (tal_mobility){planar, 1}, TAL_LEVEL_VELOCITY,
                               0.5);
    world_solve(&s.w);
    ck_assert_mem_eq(tal_state_q(s.w.state), y, 3 * sizeof *y);
    ck_assert(tal_state_u(s.w.state)[0] == 0.0 && tal_state_u(s.w.state)[1] == 0.5);
    ck_assert_int_eq(tal_matter_num_free(s.w.matter, s.w.state), 0);
    ck_assert(tal_matter_motion_error(s.w.matter, s.w.state, TAL_LEVEL_VELOCITY) == 0.0);
    world_end(&s.w);
}

// ---- failures

START_TEST(a_force_that_nothing_balances_is_an_error_that_leaves_q)
{
    static sprung s;
    begin(&s);
    tal_mobod_def def = bob();
    def.name = "leaf";
    const tal_body_ix slider = tal_matter_add_slider(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(s.w.matter, slider, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    s.w.f[0] = 3.0;
    (void)tal_body_set_q(s.w.matter, s.w.state, slider, 0, 0.4);
    ck_assert_int_eq(relax(&s, NULL), TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(
        strstr(tal_state_error(s.w.state)->message, "'leaf' finds no equilibrium"));
    ck_assert(tal_state_q(s.w.state)[0] == 0.4);

    s.w.f[0] = TALI_NAN;
    ck_assert_int_eq(relax(&s, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.w.state)->message, "'leaf' are not finite"));
    s.w.f[0] = 0.0; // no force at all is balance
    bool changed = true;
    ck_assert_int_eq(relax(&s, &changed), TAL_OK);
    ck_assert(!changed);
    world_end(&s.w);
}

START_TEST(the_body_with_the_largest_force_left_is_named)
{
    static sprung s;
    begin(&s);
    tal_mobod_def def = bob();
    const tal_body_ix first = tal_matter_add_slider(s.w.matter, TAL_GROUND, &def);
    def.name = "pushed";
    (void)tal_matter_add_slider(s.w.matter, first, &def);
    (void)tal_matter_make_fast(s.w.matter, first, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    s.w.f[1] = 3.0;
    ck_assert_int_eq(relax(&s, NULL), TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.w.state)->message, "'pushed'"));
    world_end(&s.w);
}

// Body-XYZ angles have no rates at a right angle; q that is not a number places nothing.
START_TEST(what_cannot_be_moved_or_placed_fails_with_its_name)
{
    static sprung s;
    begin(&s);
    tal_mobod_def def = bob();
    def.name = "head";
    const tal_body_ix ball = tal_matter_add_ball(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(s.w.matter, ball, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    (void)tal_matter_set_use_angles(s.w.matter, s.w.state, true);
    const double q[] = {0.0, 1.57079632679489661923, 0.0};
    (void)tal_state_set_q(s.w.state, q, 3);
    ck_assert_int_eq(relax(&s, NULL), TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.w.state)->message, "'head'"));
    ck_assert_mem_eq(tal_state_q(s.w.state), q, sizeof q);
    tal_state_upd_q(s.w.state)[0] = TALI_NAN;
    ck_assert_int_eq(relax(&s, NULL), TAL_ERR_NOT_FINITE);
    world_end(&s.w);
}

START_TEST(relaxing_never_touches_the_heap)
{
    static sprung s;
    begin(&s);
    const tal_mobod_def def = bob();
    const tal_body_ix ball = tal_matter_add_ball(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_add_pin(s.w.matter, ball, &def);
    (void)tal_matter_make_fast(s.w.matter, ball, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    s.w.gravity = tal_v3(3.0, -9.0, 1.0);
    world_realize(&s.w, TAL_STAGE_TIME);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_system_relax(s.w.system, s.w.state, TOLERANCE, NULL));
    ck_assert_int_eq(st, TAL_OK);
    world_end(&s.w);
}

int main(void)
{
    Suite *suite = suite_create("matter/prescribed_relax");
    TCase *tc = tcase_create("balance");
    tcase_add_test(tc, a_fast_pendulum_hangs_along_gravity);
    tcase_add_test(tc, a_fast_pendulum_does_not_stay_almost_upright);
    tcase_add_test(tc, what_a_fast_body_carries_is_fast_too);
    tcase_add_test(tc, springs_stretch_until_they_carry_the_weight);
    tcase_add_test(tc, a_fast_ball_hangs_down_and_keeps_a_unit_quaternion);
    suite_add_tcase(suite, tc);

    tcase_add_test(tc, prescribing_stops_fast_mobilities_and_leaves_their_q);

    tc = tcase_create("errors");
    tcase_add_test(tc, the_body_with_the_largest_force_left_is_named);
    tcase_add_test(tc, what_cannot_be_moved_or_placed_fails_with_its_name);
    tcase_add_test(tc, a_force_that_nothing_balances_is_an_error_that_leaves_q);
    tcase_add_test(tc, relaxing_never_touches_the_heap);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
