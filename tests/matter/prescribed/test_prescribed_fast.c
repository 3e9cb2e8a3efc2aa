// matter/src/prescribed/prescribed_fast.c and prescribed_relax.c: fast velocities, and constraints
// on fast bodies.
#include "alloc_guard.h"
#include "prescribed_support.h"

#include <talus/common/function.h>

// Newton's last step is below this, and the error after it far below: quadratically small.
static const double TOLERANCE = 1e-6;

// A world with springs and friction along its mobilities: f = -k (q - q0) - c u - d |u| u, where
// qdot = u.
typedef struct damped {
    world w;
    double k[MAX_SPEEDS], c[MAX_SPEEDS], d[MAX_SPEEDS];
} damped;

static tal_status damped_forces(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const damped *s = self;
    const tal_applied_forces to = tal_matter_upd_forces(s->w.matter, state);
    for (int i = 0; i < tal_state_nu(state); ++i) {
        const double u = tal_state_u(state)[i];
        to.f[i] -= s->c[i] * u + s->d[i] * fabs(u) * u;
        if (s->k[i] != 0.0) to.f[i] -= s->k[i] * tal_state_q(state)[i];
    }
    return TAL_OK;
}

static const tal_subsystem_ops damped_ops = {
    .size = sizeof damped_ops, .name = "springs and friction", .realize_dynamics = damped_forces};

static void begin(damped *s)
{
    memset(s, 0, sizeof *s);
    world_begin(&s->w);
    (void)tal_system_add_subsystem(s->w.system, NULL, &damped_ops, s);
}

static tal_mobod_def lump(double mass)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(mass, 0.1);
    return def;
}

static tal_body_ix add_slider(damped *s, tal_body_ix parent)
{
    const tal_mobod_def def = lump(2.0);
    return tal_matter_add_slider(s->w.matter, parent, &def);
}

static tal_status relax(damped *s, bool *changed)
{
    world_realize(&s->w, TAL_STAGE_TIME);
    return tal_system_relax(s->w.system, s->w.state, TOLERANCE, changed);
}

static void relax_well(damped *s)
{
    ck_assert_msg(relax(s, NULL) == TAL_OK, "%s", tal_state_error(s->w.state)->message);
}

// The damper, and the spring, of each mobility balance what pushes: nothing is left for tau.
static void assert_balanced(damped *s, int first, int n)
{
    world_realize(&s->w, TAL_STAGE_ACCELERATION);
    const double *tau = tal_matter_motion_multipliers(s->w.matter, s->w.state);
    ck_assert_ptr_nonnull(tau);
    for (int i = first; i < first + n; ++i) {
        ck_assert_double_eq_tol(tau[i], 0.0, 1e-12);
    }
}

// Rows of constraints in the equations of motion.
static int num_rows(const damped *s)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(s->w.matter, s->w.state);
    return rows.mp + rows.mv + rows.ma;
}

// ---- the table of manual sec. 10.3

// One slider for each line. All feel the same push and friction, and all but one the same spring.
START_TEST(all_eight_lines_of_the_table_hold)
{
    enum {
        FREE,
        ACCELERATION,
        VELOCITY,
        VELOCITY_FAST,
        VELOCITY_SLOW,
        POSITION,
        POSITION_FAST,
        POSITION_SLOW,
        LINES
    };

    static damped s;
    begin(&s);
    tal_body_ix body[LINES];
    for (int i = 0; i < LINES; ++i) {
        body[i] = add_slider(&s, TAL_GROUND);
    }
    tal_motion_def def = tal_motion_def_default();
    static const tal_level levels[] = {TAL_LEVEL_ACCELERATION, TAL_LEVEL_VELOCITY,
                                       TAL_LEVEL_POSITION};
    static const int lines[] = {ACCELERATION, VELOCITY, POSITION};
    for (int i = 0; i < 3; ++i) {
        def.body = body[lines[i]];
        def.level = levels[i];
        (void)tal_matter_add_motion_sinusoid(s.w.matter, &def, 3.0, 2.0, 0.0);
    }
    (void)tal_matter_make_fast(s.w.matter, body[VELOCITY_FAST], TAL_LEVEL_VELOCITY);
    (void)tal_matter_make_fast(s.w.matter, body[POSITION_FAST], TAL_LEVEL_POSITION);
    world_finish(&s.w);
    for (int i = 0; i < LINES; ++i) {
        s.k[i] = 50.0, s.c[i] = 4.0, s.w.f[i] = 10.0;
        (void)tal_body_set_q(s.w.matter, s.w.state, body[i], 0, 0.1);
        (void)tal_body_set_u(s.w.matter, s.w.state, body[i], 0, 0.2);
    }
    const double value = 0.7; // an event handler would write these
    (void)tal_body_lock_at(s.w.matter, s.w.state, body[VELOCITY_SLOW], TAL_LEVEL_VELOCITY, &value,
                           1);
    (void)tal_body_lock_at(s.w.matter, s.w.state, body[POSITION_SLOW], TAL_LEVEL_POSITION, &value,
                           1);
    const double t = 0.3;
    (void)tal_state_set_t(s.w.state, t);
    world_realize(&s.w, TAL_STAGE_TIME);
    ck_assert_int_eq(tal_system_prescribe_q(s.w.system, s.w.state, NULL), TAL_OK);
    world_realize(&s.w, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_prescribe_u(s.w.system, s.w.state, NULL), TAL_OK);
    relax_well(&s);
    world_realize(&s.w, TAL_STAGE_ACCELERATION);

    const double sn = sin(2.0 * t), cs = cos(2.0 * t);
    const double free_udot = (10.0 - 50.0 * 0.1 - 4.0 * 0.2) / 2.0;
    const double expected[LINES][3] = {
        {free_udot, 0.2, 0.1},     {3.0 * sn, 0.2, 0.1},
        {6.0 * cs, 3.0 * sn, 0.1}, {0.0, (10.0 - 50.0 * 0.1) / 4.0, 0.1},
        {0.0, 0.7, 0.1},           {-12.0 * sn, 6.0 * cs, 3.0 * sn},
        {0.0, 0.0, 10.0 / 50.0},   {0.0, 0.0, 0.7}};
    for (int i = 0; i < LINES; ++i) {
        ck_assert_double_eq_tol(tal_state_udot(s.w.state)[i], expected[i][0], 1e-12);
        ck_assert_double_eq_tol(tal_state_u(s.w.state)[i], expected[i][1], 1e-12);
        ck_assert_double_eq_tol(tal_state_q(s.w.state)[i], expected[i][2], 1e-12);
        ck_assert_double_eq_tol(tal_state_qdot(s.w.state)[i], tal_state_u(s.w.state)[i], 1e-15);
    }
    ck_assert_int_eq(tal_matter_num_free(s.w.matter, s.w.state), 1);
    ck_assert_int_eq(
        tal_mobility_level(s.w.matter, s.w.state, (tal_mobility){body[VELOCITY_FAST], 0}),
        TAL_LEVEL_VELOCITY);
    ck_assert(tal_matter_motion_error(s.w.matter, s.w.state, TAL_LEVEL_VELOCITY) == 0.0);
    world_end(&s.w);
}

END_TEST

// ---- velocities

// Falling in a viscous medium: m g = c v, and with drag by the square m g = d v^2.
START_TEST(a_fast_slider_has_its_terminal_speed)
{
    static damped s;
    begin(&s);
    for (int i = 0; i < 3; ++i) {
        const tal_body_ix body = add_slider(&s, TAL_GROUND);
        (void)tal_matter_make_fast(s.w.matter, body, TAL_LEVEL_VELOCITY);
    }
    world_finish(&s.w);
    s.w.gravity = tal_v3(-9.81, 0.0, 0.0);
    s.c[0] = 0.5, s.d[1] = 0.02, s.c[2] = 1e-3;
    relax_well(&s);
    const double weight = 2.0 * 9.81;
    const double *u = tal_state_u(s.w.state);
    ck_assert_double_eq_tol(u[0], -weight / 0.5, 1e-13 * weight / 0.5);
    ck_assert_double_eq_tol(u[1], -sqrt(weight / 0.02), 1e-9 * sqrt(weight / 0.02));
    ck_assert_double_eq_tol(u[2], -weight / 1e-3, 1e-13 * weight / 1e-3); // 20 km/s
    ck_assert(tal_state_q(s.w.state)[0] == 0.0);

    // once there it stays, to the last bit
    double found[3];
    memcpy(found, tal_state_u(s.w.state), sizeof found);
    bool changed = true;
    ck_assert_int_eq(relax(&s, &changed), TAL_OK);
    ck_assert(!changed);
    ck_assert_mem_eq(found, tal_state_u(s.w.state), sizeof found);
    world_end(&s.w);
}

END_TEST

// Prescribing leaves u to relaxing, and stops what is fast in position. The carried slider is fast
// at another level than what carries it: q from its spring, after which the carrier sinks with the
// weight of both.
START_TEST(levels_may_differ_along_a_branch)
{
    static damped s;
    begin(&s);
    const tal_body_ix carrier = add_slider(&s, TAL_GROUND), carried = add_slider(&s, carrier);
    const tal_body_ix tip = add_slider(&s, carried);
    (void)tal_matter_make_fast(s.w.matter, carrier, TAL_LEVEL_VELOCITY);
    (void)tal_matter_make_fast(s.w.matter, carried, TAL_LEVEL_POSITION);
    world_finish(&s.w);
    s.w.gravity = tal_v3(-10.0, 0.0, 0.0);
    s.c[0] = 4.0, s.k[1] = 80.0, s.k[2] = 40.0;
    const double u[] = {0.3, 0.4, 0.5};
    memcpy(tal_state_upd_u(s.w.state), u, sizeof u);
    world_realize(&s.w, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_prescribe_u(s.w.system, s.w.state, NULL), TAL_OK);
    ck_assert(tal_state_u(s.w.state)[0] == 0.3);
    ck_assert(tal_state_u(s.w.state)[1] == 0.0 && tal_state_u(s.w.state)[2] == 0.0);
    ck_assert_int_eq(tal_mobility_level(s.w.matter, s.w.state, (tal_mobility){tip, 0}),
                     TAL_LEVEL_POSITION);
    relax_well(&s);
    ck_assert_double_eq_tol(tal_state_u(s.w.state)[0], -60.0 / 4.0, 1e-12);
    ck_assert_double_eq_tol(tal_state_q(s.w.state)[1], -40.0 / 80.0, 1e-12);
    ck_assert_double_eq_tol(tal_state_q(s.w.state)[2], -20.0 / 40.0, 1e-12);
    assert_balanced(&s, 0, 3);
    world_end(&s.w);
}

END_TEST

static tal_constraint_ix couple(damped *s, tal_body_ix a, tal_body_ix b, double ratio, bool speeds,
                                double offset)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0].body = a;
    def.mobilities[1].body = b;
    def.num_mobilities = 2;
    const double slopes[] = {1.0, -ratio};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, slopes, 2, -offset, &f, NULL), TAL_OK);
    return speeds ? tal_constraint_add_speed_coupler(s->w.matter, &def, 2, f)
                  : tal_constraint_add_coordinate_coupler(s->w.matter, &def, f);
}

// Two pistons with a gear between them, u0 = 3 u1: lambda = f0 - c0 u0 = -(f1 - c1 u1) / 3.
START_TEST(fast_speeds_meet_velocity_and_position_equations)
{
    for (int speeds = 0; speeds < 2; ++speeds) {
        static damped s;
        begin(&s);
        const tal_body_ix a = add_slider(&s, TAL_GROUND), b = add_slider(&s, TAL_GROUND);
        (void)tal_matter_make_fast(s.w.matter, a, TAL_LEVEL_VELOCITY);
        (void)tal_matter_make_fast(s.w.matter, b, TAL_LEVEL_VELOCITY);
        const tal_constraint_ix gear = couple(&s, a, b, 3.0, speeds != 0, speeds != 0 ? 0.0 : 0.5);
        world_finish(&s.w);
        s.w.f[0] = 7.0, s.w.f[1] = -2.0, s.c[0] = 0.8, s.c[1] = 1.9;
        relax_well(&s);
        const double u1 = (7.0 * 3.0 - 2.0) / (0.8 * 9.0 + 1.9);
        ck_assert_double_eq_tol(tal_state_u(s.w.state)[0], 3.0 * u1, 1e-13);
        ck_assert_double_eq_tol(tal_state_u(s.w.state)[1], u1, 1e-13);
        double lambda = 0.0;
        world_realize(&s.w, TAL_STAGE_DYNAMICS);
        ck_assert_int_eq(tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state, gear, &lambda),
                         TAL_OK);
        ck_assert_double_eq_tol(lambda, 7.0 - 0.8 * 3.0 * u1, 1e-12);
        // q0 - 3 q1 = 0.5 is closed by the least change of q: along (1, -3)
        if (!speeds) {
            ck_assert_double_eq_tol(tal_state_q(s.w.state)[0], 0.05, 1e-14);
            ck_assert_double_eq_tol(tal_state_q(s.w.state)[1], -0.15, 1e-14);
        }
        ck_assert_int_eq(num_rows(&s), 0);
        assert_balanced(&s, 0, 2);
        world_end(&s.w);
    }
}

END_TEST

// ---- positions with constraints

// A lump of 3 kg that a ball holds by a station: three rows, and every one of their forces is
// another part of its weight.
START_TEST(a_fast_lump_hangs_by_three_rows_at_once)
{
    static damped s;
    begin(&s);
    const tal_mobod_def def = lump(3.0);
    const tal_body_ix body = tal_matter_add_translation(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(s.w.matter, body, TAL_LEVEL_POSITION);
    const tal_constraint_def tie = tal_constraint_between(TAL_GROUND, body);
    const tal_constraint_ix ball = tal_constraint_add_ball(s.w.matter, &tie, tal_v3(1.0, 2.0, -0.5),
                                                           tal_v3(0.25, -0.5, 0.125));
    world_finish(&s.w);
    s.w.gravity = tal_v3(1.0, -10.0, 2.0);
    relax_well(&s);
    const double expected[] = {0.75, 2.5, -0.625};
    test_assert_near(tal_state_q(s.w.state), expected, 3, 1e-14, "q");
    double lambda[3];
    world_realize(&s.w, TAL_STAGE_DYNAMICS);
    ck_assert_int_eq(tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state, ball, lambda),
                     TAL_OK);
    const double sign = lambda[0] > 0.0 ? 1.0 : -1.0; // whichever body the multipliers push
    const double weight[] = {sign * 3.0, -sign * 30.0, sign * 6.0};
    test_assert_near(lambda, weight, 3, 1e-12, "lambda");
    assert_balanced(&s, 0, 3);
    world_end(&s.w);
}

END_TEST

// A pendulum of length 1 and a rod from (2, 0) of length 1.5 to its tip: two circles meet where
// x = (1 + 4 - 2.25) / 4, and y below. Its weight at the tip is borne by both.
START_TEST(a_fast_pendulum_is_held_by_a_rod)
{
    for (int twice = 1; twice <= 2; ++twice) {
        static damped s;
        begin(&s);
        tal_mobod_def def = lump(3.0);
        def.X_BM.p = tal_v3(-1.0, 0.0, 0.0); // the lump is one meter along x of the pin's frame
        const tal_body_ix pin = tal_matter_add_pin(s.w.matter, TAL_GROUND, &def);
        (void)tal_matter_make_fast(s.w.matter, pin, TAL_LEVEL_POSITION);
        tal_constraint_def tie = tal_constraint_def_default();
        tie.bodies[1] = pin;
        for (int i = 0; i < twice; ++i) {
            (void)tal_constraint_add_rod(s.w.matter, &tie, tal_v3(2.0, 0.0, 0.0),
                                         tal_v3(0.0, 0.0, 0.0), 1.5);
        }
        world_finish(&s.w);
        s.w.gravity = tal_v3(0.0, -10.0, 0.0);
        (void)tal_body_set_q(s.w.matter, s.w.state, pin, 0, -0.5);
        relax_well(&s);
        const double x = 2.75 / 4.0, y = -sqrt(1.0 - x * x);
        ck_assert_double_eq_tol(tal_state_q(s.w.state)[0], atan2(y, x), 1e-12);

        // moment about the pin: 30 x = T d, with d the distance of the rod's line, 2 y / 1.5
        double lambda = 0.0;
        world_realize(&s.w, TAL_STAGE_DYNAMICS);
        ck_assert_int_eq(tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state,
                                                              (tal_constraint_ix){0}, &lambda),
                         TAL_OK);
        const double tension = 30.0 * x / (2.0 * -y / 1.5);
        ck_assert_double_eq_tol(lambda, tension / twice, 1e-12);
        assert_balanced(&s, 0, 1);
        // what the pin bears: the weight less what the rod takes
        const tal_spatial_vec R = tal_body_reaction_M(s.w.matter, s.w.state, pin);
        test_assert_v3_near(R.v, tal_v3(-tension * (2.0 - x) / 1.5, 30.0 - tension * -y / 1.5, 0.0),
                            1e-12);
        (void)tal_constraint_set_enabled(s.w.matter, s.w.state, (tal_constraint_ix){0}, false);
        if (twice == 1) { // and without the rod it hangs down
            relax_well(&s);
            ck_assert_double_eq_tol(tal_state_q(s.w.state)[0], -1.57079632679489662, 1e-14);
            world_realize(&s.w, TAL_STAGE_DYNAMICS);
            ck_assert_int_eq(tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state,
                                                                  (tal_constraint_ix){0}, &lambda),
                             TAL_OK);
            ck_assert(lambda == 0.0);
        }
        world_end(&s.w);
    }
}

END_TEST

// A load that is pushed sideways hangs from a cart by a rod. The rod points along the force on the
// load and pulls the cart with it: m udot = 4 N, whatever the load weighs, for it has no inertia.
// The rod's own stiffness, T / L across it, is all that makes the place stable.
START_TEST(a_cart_feels_the_load_that_hangs_on_it)
{
    static damped s;
    begin(&s);
    const tal_body_ix cart = add_slider(&s, TAL_GROUND);
    const tal_mobod_def def = lump(0.5);
    const tal_body_ix load = tal_matter_add_translation(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(s.w.matter, load, TAL_LEVEL_POSITION);
    tal_constraint_def tie = tal_constraint_def_default();
    tie.bodies[0] = cart;
    tie.bodies[1] = load;
    const tal_constraint_ix rod =
        tal_constraint_add_rod(s.w.matter, &tie, tal_v3(0.0, 0.0, 0.0), tal_v3(0.0, 0.0, 0.0), 2.0);
    world_finish(&s.w);
    s.w.gravity = tal_v3(0.0, -6.0, 0.0);
    s.w.f[1] = 4.0; // along x of the load; its weight is 3 N
    const double q[] = {5.0, 5.3, -1.5, 0.4};
    (void)tal_state_set_q(s.w.state, q, 4);
    relax_well(&s);
    ck_assert(tal_state_q(s.w.state)[0] == 5.0);
    const double expected[] = {5.0 + 2.0 * 0.8, -2.0 * 0.6, 0.0};
    test_assert_near(tal_state_q(s.w.state) + 1, expected, 3, 1e-13, "load");
    world_realize(&s.w, TAL_STAGE_ACCELERATION);
    double lambda = 0.0;
    ck_assert_int_eq(tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state, rod, &lambda),
                     TAL_OK);
    ck_assert_double_eq_tol(lambda, 5.0, 1e-12);
    ck_assert_double_eq_tol(tal_state_udot(s.w.state)[0], 4.0 / 2.0, 1e-12);
    assert_balanced(&s, 1, 3);
    world_end(&s.w);
}

END_TEST

// The same load, dynamic at first: the rod has a row then, and the System moves as one in which
// nothing may be fast. A State chooses; others of the same System do as they like.
START_TEST(a_state_chooses_what_is_fast)
{
    static damped s, plain;
    damped *const both[] = {&s, &plain};
    tal_body_ix load = {0};
    tal_constraint_ix rod = {0};
    for (int k = 0; k < 2; ++k) {
        begin(both[k]);
        const tal_body_ix cart = add_slider(both[k], TAL_GROUND);
        const tal_mobod_def def = lump(0.5);
        load = tal_matter_add_translation(both[k]->w.matter, TAL_GROUND, &def);
        if (k == 0) (void)tal_matter_allow_fast(both[k]->w.matter, load);
        const tal_constraint_def tie = tal_constraint_between(cart, load);
        rod = tal_constraint_add_rod(both[k]->w.matter, &tie, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 2.0);
        world_finish(&both[k]->w);
        both[k]->w.gravity = tal_v3(0.0, -6.0, 0.0);
        both[k]->w.f[1] = 4.0;
        const double q[] = {5.0, 6.6, -1.2, 0.0};
        (void)tal_state_set_q(both[k]->w.state, q, 4);
        world_realize(&both[k]->w, TAL_STAGE_ACCELERATION);
        ck_assert_int_eq(num_rows(both[k]), 1);
    }
    ck_assert_mem_eq(tal_state_udot(s.w.state), tal_state_udot(plain.w.state), 4 * sizeof(double));
    ck_assert_int_eq(tal_body_set_fast(s.w.matter, s.w.state, load, TAL_LEVEL_POSITION), TAL_OK);
    relax_well(&s);
    world_realize(&s.w, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(num_rows(&s), 0);
    double lambda = 0.0;
    ck_assert_int_eq(tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state, rod, &lambda),
                     TAL_OK);
    ck_assert_double_eq_tol(lambda, 5.0, 1e-12);
    assert_balanced(&s, 1, 3);
    ck_assert_int_eq(tal_body_set_fast(s.w.matter, s.w.state, load, TAL_LEVEL_FREE), TAL_OK);
    (void)tal_state_set_q(s.w.state, tal_state_q(plain.w.state), 4);
    world_realize(&s.w, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(num_rows(&s), 1);
    ck_assert_mem_eq(tal_state_udot(s.w.state), tal_state_udot(plain.w.state), 4 * sizeof(double));
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_fast(plain.w.matter, plain.w.state, load, TAL_LEVEL_POSITION),
                         TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "tal_matter_allow_fast");
    world_end(&s.w);
    world_end(&plain.w);
}

END_TEST

START_TEST(what_a_state_cannot_relax_is_refused_and_stays_dynamic)
{
    static damped s;
    begin(&s);
    const tal_body_ix a = add_slider(&s, TAL_GROUND);
    (void)tal_matter_allow_fast(s.w.matter, a);
    tal_constraint_def def = tal_constraint_on(a, 0);
    def.name = "pull";
    (void)tal_constraint_add_constant_acceleration(s.w.matter, &def, 0.0);
    world_finish(&s.w);
    ck_assert_int_eq(tal_body_set_fast(s.w.matter, s.w.state, a, TAL_LEVEL_VELOCITY),
                     TAL_ERR_BAD_VALUE);
    const char *message = tal_state_error(s.w.state)->message;
    ck_assert_msg(strstr(message, "'pull'") != NULL && strstr(message, "acceleration") != NULL,
                  "%s", message);
    ck_assert_int_eq(tal_body_fast_level(s.w.matter, s.w.state, a), TAL_LEVEL_FREE);
    ck_assert_int_eq(tal_body_set_fast(s.w.matter, s.w.state, a, TAL_LEVEL_ACCELERATION),
                     TAL_ERR_BAD_VALUE);
    world_end(&s.w);
}

END_TEST

// ---- failures

START_TEST(a_rod_out_of_reach_is_named_and_everything_stays)
{
    static damped s;
    begin(&s);
    const tal_mobod_def def = lump(1.0);
    const tal_body_ix pin = tal_matter_add_pin(s.w.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(s.w.matter, pin, TAL_LEVEL_POSITION);
    tal_constraint_def tie = tal_constraint_def_default();
    tie.bodies[1] = pin;
    (void)tal_constraint_add_rod(s.w.matter, &tie, tal_v3(5.0, 0.0, 0.0), tal_v3(1.0, 0.0, 0.0),
                                 3.9);
    tie.name = "short"; // the worse one
    (void)tal_constraint_add_rod(s.w.matter, &tie, tal_v3(5.0, 0.0, 0.0), tal_v3(1.0, 0.0, 0.0),
                                 1.5);
    world_finish(&s.w);
    (void)tal_body_set_q(s.w.matter, s.w.state, pin, 0, 0.4);
    (void)tal_body_set_u(s.w.matter, s.w.state, pin, 0, 0.3);
    bool changed = false;
    ck_assert_int_eq(relax(&s, &changed), TAL_ERR_NO_CONVERGENCE);
    ck_assert_msg(strstr(tal_state_error(s.w.state)->message, "'short' cannot be met") != NULL,
                  "%s", tal_state_error(s.w.state)->message);
    ck_assert(!changed && tal_state_q(s.w.state)[0] == 0.4 && tal_state_u(s.w.state)[0] == 0.3);
    world_end(&s.w);
}

END_TEST

static tal_status fail_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    perr[0] = arg->q[0];
    return *(const bool *)self ? TAL_ERR_CALLBACK : TAL_OK;
}

static tal_status fail_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = arg->u[0];
    return TAL_OK;
}

static tal_status fail_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0];
    return TAL_OK;
}

static tal_status fail_forces(const void *self, const tal_constraint_arg *arg,
                              const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
    return TAL_OK;
}

static const tal_constraint_ops fail_ops = {.size = sizeof fail_ops,
                                            .name = "moody",
                                            .mp = 1,
                                            .num_mobilities = 1,
                                            .calc_p = fail_p,
                                            .calc_v = fail_v,
                                            .calc_a = fail_a,
                                            .add_forces = fail_forces};

START_TEST(a_fast_constraint_that_fails_is_named)
{
    static damped s;
    static bool fails = true;
    begin(&s);
    const tal_body_ix body = add_slider(&s, TAL_GROUND);
    (void)tal_matter_make_fast(s.w.matter, body, TAL_LEVEL_POSITION);
    tal_constraint_def def = tal_constraint_def_default();
    def.name = "of two minds";
    def.mobilities[0].body = body;
    (void)tal_matter_add_constraint(s.w.matter, &def, &fail_ops, &fails, NULL);
    world_finish(&s.w);
    (void)tal_body_set_q(s.w.matter, s.w.state, body, 0, 0.3);
    ck_assert_int_eq(relax(&s, NULL), TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.w.state)->message, "'of two minds' (moody)"));
    ck_assert(tal_state_q(s.w.state)[0] == 0.3);
    fails = false;
    relax_well(&s);
    ck_assert_double_eq_tol(tal_state_q(s.w.state)[0], 0.0, 1e-15);
    world_end(&s.w);
}

END_TEST

START_TEST(a_push_without_friction_finds_no_speed)
{
    static damped s;
    begin(&s);
    const tal_body_ix body = add_slider(&s, TAL_GROUND);
    (void)tal_matter_make_fast(s.w.matter, body, TAL_LEVEL_VELOCITY);
    world_finish(&s.w);
    s.w.f[0] = 1.0;
    ck_assert_int_eq(relax(&s, NULL), TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.w.state)->message, "finds no equilibrium"));
    ck_assert(tal_state_u(s.w.state)[0] == 0.0);
    world_end(&s.w);
}

END_TEST

START_TEST(what_relaxing_cannot_meet_is_refused_with_a_sentence)
{
    static const char *const says[] = {"of both levels", "acceleration equations",
                                       "velocity equations", "not at level 1"};
    for (int k = 0; k < 4; ++k) {
        static damped s;
        begin(&s);
        const tal_body_ix a = add_slider(&s, TAL_GROUND), b = add_slider(&s, TAL_GROUND);
        (void)tal_matter_make_fast(s.w.matter, a,
                                   k == 3 ? TAL_LEVEL_ACCELERATION : TAL_LEVEL_POSITION);
        tal_constraint_def def = tal_constraint_def_default();
        def.mobilities[0].body = a;
        if (k == 0) {
            (void)tal_matter_make_fast(s.w.matter, b, TAL_LEVEL_VELOCITY);
            (void)couple(&s, a, b, 1.0, false, 0.0);
        }
        if (k == 1) (void)tal_constraint_add_constant_acceleration(s.w.matter, &def, 0.0);
        if (k == 2) (void)tal_constraint_add_constant_speed(s.w.matter, &def, 0.0);
        tal_error err;
        ck_assert_int_eq(tal_system_realize_topology(s.w.system, &err), TAL_ERR_BAD_VALUE);
        ck_assert_msg(strstr(err.message, says[k]) != NULL, "%s", err.message);
        world_end(&s.w);
    }
}

END_TEST

START_TEST(only_fast_constraints_have_multipliers_of_this_kind)
{
    static damped s;
    begin(&s);
    const tal_body_ix a = add_slider(&s, TAL_GROUND), b = add_slider(&s, TAL_GROUND);
    (void)tal_matter_make_fast(s.w.matter, a, TAL_LEVEL_POSITION);
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0].body = b;
    const tal_constraint_ix slow = tal_constraint_add_constant_coordinate(s.w.matter, &def, 0.0);
    def.mobilities[0].body = a;
    const tal_constraint_ix fast = tal_constraint_add_constant_coordinate(s.w.matter, &def, 0.0);
    world_finish(&s.w);
    world_realize(&s.w, TAL_STAGE_DYNAMICS);
    ck_assert_int_eq(num_rows(&s), 1);
    double lambda = 0.0;
    test_record_breaches();
    test_assert_breach(
        ck_assert_int_eq(tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state, slow, &lambda),
                         TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "does not act on a fast body");
    test_assert_breach(
        (void)tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state, fast, NULL), TAL_ERR_NULL,
        "lambda");
    const tal_constraint_ix none = {7};
    test_assert_breach(
        (void)tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state, none, &lambda),
        TAL_ERR_BAD_INDEX, "7");
    (void)tal_state_set_t(s.w.state, 1.0); // too early
    test_assert_breach(
        ck_assert_int_ne(tal_constraint_calc_fast_multipliers(s.w.matter, s.w.state, fast, &lambda),
                         TAL_OK),
        TAL_ERR_STAGE, "Dynamics");
    world_end(&s.w);
}

END_TEST

START_TEST(relaxing_with_constraints_never_touches_the_heap)
{
    static damped s;
    begin(&s);
    const tal_body_ix a = add_slider(&s, TAL_GROUND), b = add_slider(&s, TAL_GROUND);
    (void)tal_matter_make_fast(s.w.matter, a, TAL_LEVEL_VELOCITY);
    (void)tal_matter_make_fast(s.w.matter, b, TAL_LEVEL_VELOCITY);
    (void)couple(&s, a, b, 3.0, false, 0.1);
    world_finish(&s.w);
    s.c[0] = s.c[1] = 1.0;
    s.w.f[0] = 2.0;
    world_realize(&s.w, TAL_STAGE_TIME);
    tal_status st = TAL_OK;
    test_assert_no_heap({
        st = tal_system_relax(s.w.system, s.w.state, TOLERANCE, NULL);
        if (st == TAL_OK) st = tal_system_realize(s.w.system, s.w.state, TAL_STAGE_ACCELERATION);
    });
    ck_assert_int_eq(st, TAL_OK);
    world_end(&s.w);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/prescribed_fast");
    TCase *tc = tcase_create("balance");
    tcase_add_test(tc, all_eight_lines_of_the_table_hold);
    tcase_add_test(tc, a_fast_slider_has_its_terminal_speed);
    tcase_add_test(tc, levels_may_differ_along_a_branch);
    tcase_add_test(tc, fast_speeds_meet_velocity_and_position_equations);
    tcase_add_test(tc, a_fast_lump_hangs_by_three_rows_at_once);
    tcase_add_test(tc, a_fast_pendulum_is_held_by_a_rod);
    tcase_add_test(tc, a_cart_feels_the_load_that_hangs_on_it);
    tcase_add_test(tc, a_state_chooses_what_is_fast);
    tcase_add_test(tc, what_a_state_cannot_relax_is_refused_and_stays_dynamic);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, a_rod_out_of_reach_is_named_and_everything_stays);
    tcase_add_test(tc, a_fast_constraint_that_fails_is_named);
    tcase_add_test(tc, a_push_without_friction_finds_no_speed);
    tcase_add_test(tc, what_relaxing_cannot_meet_is_refused_with_a_sentence);
    tcase_add_test(tc, only_fast_constraints_have_multipliers_of_this_kind);
    tcase_add_test(tc, relaxing_with_constraints_never_touches_the_heap);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
