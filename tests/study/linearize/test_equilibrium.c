// Equilibria and inverse statics against closed forms.
#include "talus_test.h"
#include "turning_support.h"

#include <talus/study.h>

#include <math.h>

static const double G = 9.81;

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_equilibrium *eq;
} model;

static model begin_model(void)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(m.forces, tal_v3(0.0, -G, 0.0));
    return m;
}

static void finish_model(model *m, const tal_equilibrium_def *def)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_equilibrium_create(m->system, def, &m->eq, &err) == TAL_OK, "%s",
                  err.message);
}

static void end_model(model *m)
{
    tal_equilibrium_destroy(m->eq);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static tal_rest find(model *m)
{
    tal_rest rest;
    const tal_status st = tal_equilibrium_find(m->eq, m->state, &rest);
    ck_assert_msg(st == TAL_OK, "%s", tal_equilibrium_error(m->eq)->message);
    return rest;
}

static double q_of(const model *m, tal_body_ix body)
{
    return tal_body_q(m->matter, m->state, body, 0);
}

// A point mass of 2 kg at 0.5 m below a pin about z.
static tal_body_ix add_pendulum(model *m)
{
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_point(2.0, tal_v3(0.0, -0.5, 0.0));
    return tal_matter_add_pin(m->matter, TAL_GROUND, &link);
}

// The last step is below 1e-9, and Newton's method squares errors: 1e-9 is far more than is left.
START_TEST(a_pendulum_comes_to_rest_below_from_nearly_above)
{
    model m = begin_model();
    const tal_body_ix body = add_pendulum(&m);
    finish_model(&m, NULL);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, body, 0, 3.1), TAL_OK);
    ck_assert_int_eq(tal_body_set_u(m.matter, m.state, body, 0, 5.0), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert_double_lt(fabs(remainder(q_of(&m, body), 2.0 * TAL_PI)), 1e-9);
    ck_assert(rest.is_stable);
    ck_assert_double_lt(rest.udot, 1e-8);
    ck_assert_double_eq(tal_body_u(m.matter, m.state, body, 0), 0.0);
    end_model(&m);
}

END_TEST

START_TEST(any_equilibrium_near_the_top_is_the_top)
{
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.kind = TAL_EQUILIBRIUM_ANY;
    model m = begin_model();
    const tal_body_ix body = add_pendulum(&m);
    finish_model(&m, &def);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, body, 0, 2.9), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert_double_eq_tol(q_of(&m, body), TAL_PI, 1e-9);
    ck_assert(!rest.is_stable);
    end_model(&m);
}

END_TEST

// A constant torque has no potential energy to report, and still counts: sin(q) = T / (m g l).
START_TEST(forces_along_speeds_count_with_their_sign)
{
    model m = begin_model();
    const tal_body_ix body = add_pendulum(&m);
    (void)tal_forces_add_mobility_force(m.forces, NULL, (tal_mobility){body, 0}, 4.0);
    finish_model(&m, NULL);
    (void)find(&m);
    ck_assert_double_eq_tol(q_of(&m, body), asin(4.0 / (2.0 * G * 0.5)), 1e-9);
    end_model(&m);
}

END_TEST

// Three links between two points of Ground 1.8 apart hang as a trapezoid: by symmetry the middle
// link is level, and the outer ones go down with cos(a) = (1.8 - 1) / 2.
START_TEST(a_hanging_chain_between_two_points_is_symmetric)
{
    model m = begin_model();
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(0.0, 1.0 / 3.0, 1.0 / 3.0)};
    tal_body_ix body = TAL_GROUND;
    tal_body_ix links[3];
    for (int i = 0; i < 3; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
        links[i] = body = tal_matter_add_pin(m.matter, body, &link);
    }
    tal_constraint_def ends = tal_constraint_def_default();
    ends.name = "hook";
    ends.bodies[0] = TAL_GROUND;
    ends.bodies[1] = body;
    (void)tal_constraint_add_ball(m.matter, &ends, tal_v3(1.8, 0.0, 0.0), tal_v3(1.0, 0.0, 0.0));
    finish_model(&m, NULL);
    ck_assert_int_eq(tal_equilibrium_find(m.eq, m.state, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_equilibrium_error(m.eq)->message, "assemble"));

    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(m.system, NULL, &assembler, NULL), TAL_OK);
    const double start[] = {-0.3, -0.9, 2.2};
    ck_assert_int_eq(tal_state_set_q(m.state, start, 3), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(assembler, m.state, NULL), TAL_OK);
    const tal_rest rest = find(&m);
    const double a = acos(0.4);
    ck_assert(rest.is_stable);
    ck_assert_double_eq_tol(q_of(&m, links[0]), -a, 1e-8);
    ck_assert_double_eq_tol(q_of(&m, links[1]), a, 1e-8);
    ck_assert_double_eq_tol(q_of(&m, links[2]), a, 1e-8);
    tal_assembler_destroy(assembler);
    end_model(&m);
}

END_TEST

// A body that falls has no rest: the State stays as it was.
START_TEST(what_falls_for_ever_is_reported_by_name)
{
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "stone";
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
    finish_model(&m, NULL);
    const tal_status st = tal_equilibrium_find(m.eq, m.state, NULL);
    ck_assert_int_eq(st, TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_equilibrium_error(m.eq)->message, "'stone'"));
    ck_assert_double_eq(tal_body_q(m.matter, m.state, body, 1), 0.0);
    end_model(&m);
}

END_TEST

// Nothing stiff stands against what pushes a body that falls, and a pendulum on a ball that is
// level: no step is worth taking in search of any equilibrium, and yet they are not at rest.
START_TEST(no_step_to_take_is_not_rest)
{
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.kind = TAL_EQUILIBRIUM_ANY;
    for (int k = 0; k < 2; ++k) {
        model m = begin_model();
        tal_mobod_def bob = tal_mobod_def_default();
        bob.mass = tal_mass_props_point(1.0, tal_v3(0.0, -0.1, 0.0));
        bob.mass.inertia = tal_s3_add(bob.mass.inertia, TAL_SYM3_IDENTITY);
        bob.name = "bob";
        if (k == 0) (void)tal_matter_add_free(m.matter, TAL_GROUND, &bob);
        if (k == 1) (void)tal_matter_add_ball(m.matter, TAL_GROUND, &bob);
        finish_model(&m, &def);
        const double level[4] = {0.5, 0.5, 0.5, 0.5}; // x to y, y to z, z to x
        if (k == 1) tal_state_set_q(m.state, level, 4);
        ck_assert_int_eq(tal_equilibrium_find(m.eq, m.state, NULL), TAL_ERR_NO_CONVERGENCE);
        const char *message = tal_equilibrium_error(m.eq)->message;
        ck_assert_msg(strstr(message, "'bob' still has udot") != NULL, "%s", message);
        end_model(&m);
    }
}

END_TEST

// An arm of two links of 1 m with point masses at their ends, held level: torques (m1 + 2 m2) g at
// the shoulder, m2 g at the elbow.
START_TEST(inverse_statics_gives_the_torques_that_hold_an_arm)
{
    model m = begin_model();
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_point(2.0, tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link.mass = tal_mass_props_point(3.0, tal_v3(1.0, 0.0, 0.0));
    link.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    (void)tal_matter_add_pin(m.matter, upper, &link);
    finish_model(&m, NULL);
    const bool both[] = {true, true}, one[] = {true, false};
    double tau[2];
    tal_actuation actuation;
    ck_assert_int_eq(tal_equilibrium_inverse_statics(m.eq, m.state, both, tau, &actuation), TAL_OK);
    const double wanted[] = {(2.0 + 2.0 * 3.0) * G, 3.0 * G};
    test_assert_near(tau, wanted, 2, 1e-12 * wanted[0], "tau");
    ck_assert_int_eq(actuation, TAL_ACTUATION_PROPER);
    ck_assert_int_eq(tal_equilibrium_inverse_statics(m.eq, m.state, one, tau, &actuation), TAL_OK);
    ck_assert_int_eq(actuation, TAL_ACTUATION_UNDER);
    end_model(&m);
}

END_TEST

// A State that is off its constraints has no torques that would hold it there.
START_TEST(inverse_statics_refuses_a_state_that_is_not_assembled)
{
    model m = begin_model();
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &bob);
    tal_constraint_def rod = tal_constraint_between(TAL_GROUND, body);
    rod.name = "rod";
    (void)tal_constraint_add_rod(m.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    finish_model(&m, NULL);
    (void)tal_body_set_q(m.matter, m.state, body, 0, 1.5);
    const bool actuated[] = {true, true, true};
    double tau[3] = {7.0, 7.0, 7.0};
    ck_assert_int_eq(tal_equilibrium_inverse_statics(m.eq, m.state, actuated, tau, NULL),
                     TAL_ERR_BAD_VALUE);
    const char *message = tal_equilibrium_error(m.eq)->message;
    ck_assert_msg(strstr(message, "'rod' is off by") != NULL, "%s", message);
    ck_assert(tau[0] == 7.0 && tau[1] == 7.0 && tau[2] == 7.0);
    end_model(&m);
}

END_TEST

// --- forces that have no rest ---

// Along the first speed: 1 at q = 0, and elsewhere 2, back towards it; NaN where it has snapped.
static tal_status apply_jump(const void *self, const tal_force_context *context,
                             tal_spatial_vec F[], double f[])
{
    (void)F;
    const double q = tal_state_q(context->state)[0];
    f[0] += q > *(const double *)self ? (double)NAN : q == 0.0 ? 1.0 : q < 0.0 ? 2.0 : -2.0;
    return TAL_OK;
}

static const tal_force_ops jump_ops = {
    .size = sizeof jump_ops, .name = "jump", .apply = apply_jump};

static model on_a_jump(double *snaps_at, const tal_equilibrium_def *def)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    tal_mobod_def body = tal_mobod_def_default();
    body.name = "cart";
    body.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    (void)tal_matter_add_slider(m.matter, TAL_GROUND, &body);
    (void)tal_forces_add(m.forces, NULL, &jump_ops, snaps_at);
    finish_model(&m, def);
    return m;
}

// Nothing is ever smaller, or downhill, than where the force jumps.
START_TEST(where_no_step_helps_the_body_is_named)
{
    double never = (double)INFINITY;
    for (int any = 0; any < 2; ++any) {
        tal_equilibrium_def def = tal_equilibrium_def_default();
        def.kind = any != 0 ? TAL_EQUILIBRIUM_ANY : TAL_EQUILIBRIUM_STABLE;
        def.accuracy = 1e-300;
        model m = on_a_jump(&never, &def);
        ck_assert_int_eq(tal_equilibrium_find(m.eq, m.state, NULL), TAL_ERR_NO_CONVERGENCE);
        const char *message = tal_equilibrium_error(m.eq)->message;
        ck_assert_ptr_nonnull(strstr(message, "'cart'"));
        ck_assert_ptr_nonnull(strstr(message, "no step"));
        ck_assert_double_eq(tal_state_q(m.state)[0], 0.0);
        end_model(&m);
    }
}

END_TEST

START_TEST(forces_that_are_not_finite_are_reported)
{
    double here = -1.0;
    model m = on_a_jump(&here, NULL);
    ck_assert_int_eq(tal_equilibrium_find(m.eq, m.state, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_int_gt((int)strlen(tal_equilibrium_error(m.eq)->message), 10);
    end_model(&m);
}

END_TEST

// A pendulum that is locked, and a System of Ground alone, rest wherever they are.
START_TEST(what_cannot_move_is_at_rest)
{
    model m = begin_model();
    const tal_body_ix body = add_pendulum(&m);
    finish_model(&m, NULL);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, body, 0, 1.0), TAL_OK);
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, body, TAL_LEVEL_POSITION), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert_double_eq(rest.udot, 0.0);
    ck_assert_double_eq(q_of(&m, body), 1.0);
    end_model(&m);

    m = begin_model();
    finish_model(&m, NULL);
    ck_assert_double_eq(find(&m).udot, 0.0);
    end_model(&m);
}

END_TEST

// --- what is prescribed ---

// A hoop that turns about the vertical, y, with a bead at r = 0.5 on it.
static model hoop_with_bead(tal_equilibrium_kind kind, double w, turning how, tal_body_ix *hoop,
                            tal_body_ix *bead)
{
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = (tal_mass_props){1.0, TAL_VEC3_ZERO, tal_s3_diag(1.0, 1.0, 1.0)};
    def.X_PF.R = def.X_BM.R = tal_rotation_about(TAL_AXIS_X, -0.5 * TAL_PI); // pin about y
    *hoop = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(0.0, -0.5, 0.0));
    *bead = tal_matter_add_pin(m.matter, *hoop, &def);
    make_it_turn(m.matter, *hoop, w, how);
    tal_equilibrium_def search = tal_equilibrium_def_default();
    search.kind = kind;
    finish_model(&m, &search);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, *hoop, 0, 0.0), TAL_OK);
    ck_assert_int_eq(tal_body_set_u(m.matter, m.state, *hoop, 0, w), TAL_OK);
    lock_it_turning(m.matter, m.state, *hoop, how);
    return m;
}

// The bead stands out at cos(angle) = g / (w^2 r) with a stiffness of m w^2 r^2 sin^2(angle):
// stable, however the hoop is made to turn. Its angle is nothing that forces decide on, and stays.
START_TEST(a_bead_on_a_turning_hoop_stands_out)
{
    const turning how = (turning)_i;
    tal_body_ix hoop, bead;
    model m = hoop_with_bead(TAL_EQUILIBRIUM_STABLE, 6.0, how, &hoop, &bead);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, bead, 0, 0.3), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert(rest.is_stable);
    ck_assert_double_lt(rest.udot, 1e-8);
    ck_assert_double_eq_tol(q_of(&m, bead), acos(G / (36.0 * 0.5)), 1e-9);
    ck_assert_double_eq(tal_body_u(m.matter, m.state, bead, 0), 0.0);
    ck_assert_double_eq(q_of(&m, hoop), 0.0);
    ck_assert_double_eq_tol(tal_body_u(m.matter, m.state, hoop, 0), 6.0, 1e-12);
    end_model(&m);
}

END_TEST

// At its lowest the bead rests as well, and not stably when the hoop turns faster than sqrt(g / r)
// = 4.43.
START_TEST(a_bead_at_the_bottom_is_stable_while_the_hoop_turns_slowly)
{
    for (int fast = 0; fast < 2; ++fast) {
        tal_body_ix hoop, bead;
        model m =
            hoop_with_bead(TAL_EQUILIBRIUM_ANY, fast == 0 ? 4.0 : 5.0, (turning)_i, &hoop, &bead);
        ck_assert_int_eq(tal_body_set_q(m.matter, m.state, bead, 0, 0.05), TAL_OK);
        const tal_rest rest = find(&m);
        ck_assert_double_eq_tol(q_of(&m, bead), 0.0, 1e-9);
        ck_assert(rest.is_stable == (fast == 0));
        end_model(&m);
    }
}

END_TEST

// The hoop speeds up: at this moment the bead has no acceleration along it where it stands out for
// the speed it has now. What is prescribed is not for the forces to balance.
START_TEST(known_accelerations_are_not_balanced)
{
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
    const tal_body_ix cart = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_point(2.0, tal_v3(0.0, -0.5, 0.0));
    const tal_body_ix bob = tal_matter_add_pin(m.matter, cart, &def);
    tal_motion_def pull = tal_motion_def_default();
    pull.body = cart;
    pull.level = TAL_LEVEL_ACCELERATION;
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_constant(NULL, 4.0, 1, &f, NULL), TAL_OK);
    (void)tal_matter_add_motion_functions(m.matter, &pull, &f, 1);
    finish_model(&m, NULL);
    const tal_rest rest = find(&m);
    ck_assert(rest.is_stable);
    ck_assert_double_lt(rest.udot, 1e-8); // of the bob, not the 4 of the cart
    ck_assert_double_eq_tol(q_of(&m, bob), -atan(4.0 / G), 1e-9);
    end_model(&m);
}

END_TEST

// A body on a plane whose two speeds are made equal, and a spring along x: it goes to x = 0, along
// the only way there is, and is held along that way. Nothing could push it off that way.
START_TEST(constraints_on_speeds_leave_one_way_to_go)
{
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
    const tal_body_ix x = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    def.X_PF.R = def.X_BM.R = tal_rotation_about(TAL_AXIS_Y, -0.5 * TAL_PI); // along z
    const tal_body_ix z = tal_matter_add_slider(m.matter, x, &def);
    tal_constraint_def on = tal_constraint_def_default();
    on.mobilities[0] = (tal_mobility){x, 0};
    on.mobilities[1] = (tal_mobility){z, 0};
    on.num_mobilities = 2;
    const double slopes[] = {1.0, -1.0};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, slopes, 2, 0.0, &f, NULL), TAL_OK);
    (void)tal_constraint_add_speed_coupler(m.matter, &on, 2, f);
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){x, 0}, 7.0, 0.0);
    finish_model(&m, NULL);
    const double q[] = {0.3, 0.1};
    ck_assert_int_eq(tal_state_set_q(m.state, q, 2), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert(rest.is_stable);
    ck_assert_double_eq_tol(q_of(&m, x), 0.0, 1e-9);
    ck_assert_double_eq_tol(q_of(&m, z), -0.2, 1e-9);
    end_model(&m);
}

END_TEST

// --- scales ---

// A particle on a rod, from one radian beside the lowest place. The unit of motion is the rod, so
// the accuracy is 1e-9 of it.
START_TEST(rods_may_be_nanometers_or_light_seconds)
{
    for (int e = -9; e <= 9; e += 3) {
        const double l = pow(10.0, e);
        model m = begin_model();
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
        const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
        const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
        (void)tal_constraint_add_rod(m.matter, &ends, TAL_VEC3_ZERO, TAL_VEC3_ZERO, l);
        finish_model(&m, NULL);
        const double beside[] = {l * sin(1.0), -l * cos(1.0), 0.0}, unit = 1.0 / l;
        const double weights[] = {unit, unit, unit};
        ck_assert_int_eq(tal_state_set_q(m.state, beside, 3), TAL_OK);
        ck_assert_int_eq(tal_state_set_weights(m.state, TAL_POOL_U, weights, 3), TAL_OK);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_INSTANCE), TAL_OK);
        ck_assert_int_eq(tal_state_set_weights(m.state, TAL_POOL_QERR, &unit, 1), TAL_OK);
        const tal_rest rest = find(&m);
        ck_assert(rest.is_stable);
        ck_assert_double_lt(fabs(q_of(&m, body)), 1e-8 * l);
        end_model(&m);
    }
}

END_TEST

// A spring of any stiffness makes the rest stable; without one nothing pushes back.
START_TEST(what_nothing_pushes_back_is_not_stable)
{
    const double stiffness[] = {1e-9, 1.0, 1e9, 0.0};
    for (int k = 0; k < 4; ++k) {
        model m = begin_model();
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
        const tal_body_ix cart = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
        const tal_mobility along = {cart, 0};
        (void)tal_forces_add_mobility_spring(m.forces, NULL, along, stiffness[k], 0.25);
        tal_equilibrium_def any = tal_equilibrium_def_default();
        any.kind = TAL_EQUILIBRIUM_ANY;
        finish_model(&m, &any);
        const tal_rest rest = find(&m);
        ck_assert(rest.is_stable == (stiffness[k] > 0.0));
        ck_assert_double_eq_tol(q_of(&m, cart), stiffness[k] > 0.0 ? 0.25 : 0.0, 1e-9);
        end_model(&m);
    }
}

END_TEST

// --- auxiliary variables ---

// A spring that creeps: f = -k (q - z), zdot = (q - z) / 2. Two of them, on the second speed and on
// the first.
typedef struct creeping {
    double k;
    int speed;
    tal_group_ix z;
} creeping;

static tal_status declare_creep(void *self, tal_forces *forces, tal_force_ix me)
{
    tal_group_def def = tal_group_def_default();
    def.name = "z";
    def.pool = TAL_POOL_Z;
    def.capacity = 1;
    ((creeping *)self)->z = tal_force_add_group(forces, me, &def);
    return TAL_OK;
}

static double stretch(const creeping *it, const tal_force_context *context)
{
    const int at = tal_group_start(context->system, context->state, it->z);
    return tal_state_q(context->state)[it->speed] - tal_state_z(context->state)[at];
}

static tal_status apply_creep(const void *self, const tal_force_context *context,
                              tal_spatial_vec F[], double f[])
{
    (void)F;
    const creeping *it = self;
    f[it->speed] -= it->k * stretch(it, context);
    return TAL_OK;
}

static tal_status creep_on(const void *self, const tal_force_context *context)
{
    const creeping *it = self;
    *tal_group_upd_dot(context->system, context->state, it->z) = 0.5 * stretch(it, context);
    return TAL_OK;
}

static const tal_force_ops creep_ops = {.size = sizeof creep_ops,
                                        .name = "creep",
                                        .apply = apply_creep,
                                        .declare = declare_creep,
                                        .realize_acceleration = creep_on};

// z stay as they are, here 0.2 and -0.4, and the masses rest where the springs carry them: at z - m
// g / k. What z do next is reported: half the stretch.
START_TEST(auxiliary_variables_stay_and_their_rates_are_reported)
{
    creeping springs[] = {{40.0, 1, {0}}, {80.0, 0, {0}}};
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.X_PF.R = def.X_BM.R = tal_rotation_about(TAL_AXIS_Z, 0.5 * TAL_PI); // along y
    def.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
    const tal_body_ix first = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix second = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    (void)tal_forces_add(m.forces, NULL, &creep_ops, &springs[0]);
    (void)tal_forces_add(m.forces, NULL, &creep_ops, &springs[1]);
    finish_model(&m, NULL);
    const double z[] = {0.2, -0.4};
    ck_assert_int_eq(tal_state_set_z(m.state, z, 2), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert(rest.is_stable);
    ck_assert_double_lt(rest.udot, 1e-8);
    ck_assert_double_eq_tol(q_of(&m, second), 0.2 - 2.0 * G / 40.0, 1e-9);
    ck_assert_double_eq_tol(q_of(&m, first), -0.4 - 3.0 * G / 80.0, 1e-9);
    ck_assert(tal_state_z(m.state)[0] == 0.2 && tal_state_z(m.state)[1] == -0.4);
    ck_assert_double_eq_tol(rest.zdot, 0.5 * 2.0 * G / 40.0, 1e-9);
    end_model(&m);
}

END_TEST

START_TEST(bad_definitions_are_refused)
{
    model m = begin_model();
    (void)add_pendulum(&m);
    finish_model(&m, NULL);
    tal_equilibrium_def def = tal_equilibrium_def_default();
    tal_equilibrium *out = NULL;
    tal_error err;
    def.accuracy = (double)NAN;
    ck_assert_int_eq(tal_equilibrium_create(m.system, &def, &out, &err), TAL_ERR_BAD_VALUE);
    def = tal_equilibrium_def_default();
    def.kind = (tal_equilibrium_kind)7;
    ck_assert_int_eq(tal_equilibrium_create(m.system, &def, &out, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "7"));
    ck_assert_ptr_null(out);
    ck_assert_int_eq(tal_equilibrium_create(NULL, NULL, &out, NULL), TAL_ERR_NULL);
    test_record_breaches();
    test_assert_refused(tal_equilibrium_find(NULL, m.state, NULL), TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_equilibrium_find(m.eq, NULL, NULL), TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_equilibrium_inverse_statics(m.eq, m.state, NULL, &(double){0.0}, NULL),
                        TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_equilibrium_inverse_statics(NULL, m.state, NULL, &(double){0.0}, NULL),
                        TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_equilibrium_create(m.system, NULL, NULL, NULL), TAL_ERR_NULL, "out");
    ck_assert_int_eq(tal_equilibrium_error(NULL)->status, TAL_ERR_NULL);
    end_model(&m);
}

END_TEST

// With any number of iterations below the least that is enough, the status says so and the State is
// as it was. From that number on all answers are the same, bit for bit, and say how many there
// were.
START_TEST(one_iteration_too_few_is_told)
{
    for (int kind = TAL_EQUILIBRIUM_STABLE; kind <= TAL_EQUILIBRIUM_ANY; ++kind) {
        int enough = 0;
        double found = 0.0;
        for (int allowed = 1; allowed <= 20; ++allowed) {
            tal_equilibrium_def def = tal_equilibrium_def_default();
            def.kind = (tal_equilibrium_kind)kind;
            def.max_iterations = allowed;
            model m = begin_model();
            const tal_body_ix body = add_pendulum(&m);
            finish_model(&m, &def);
            (void)tal_body_set_q(m.matter, m.state, body, 0, 1.1);
            tal_rest rest;
            const tal_status st = tal_equilibrium_find(m.eq, m.state, &rest);
            if (st == TAL_OK) {
                if (enough == 0) enough = allowed, found = q_of(&m, body);
                ck_assert_int_eq(rest.iterations, enough);
                ck_assert_double_eq(q_of(&m, body), found);
            } else {
                ck_assert_int_eq(enough, 0);
                ck_assert_int_eq(st, TAL_ERR_NO_CONVERGENCE);
                ck_assert_ptr_nonnull(
                    strstr(tal_equilibrium_error(m.eq)->message, "not enough iterations"));
                ck_assert_double_eq(q_of(&m, body), 1.1);
            }
            end_model(&m);
        }
        ck_assert_int_gt(enough, 2);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/equilibrium");
    TCase *tests = tcase_create("equilibrium");
    tcase_add_test(tests, a_pendulum_comes_to_rest_below_from_nearly_above);
    tcase_add_test(tests, one_iteration_too_few_is_told);
    tcase_add_test(tests, any_equilibrium_near_the_top_is_the_top);
    tcase_add_test(tests, forces_along_speeds_count_with_their_sign);
    tcase_add_test(tests, a_hanging_chain_between_two_points_is_symmetric);
    tcase_add_test(tests, what_falls_for_ever_is_reported_by_name);
    tcase_add_test(tests, no_step_to_take_is_not_rest);
    tcase_add_test(tests, inverse_statics_gives_the_torques_that_hold_an_arm);
    tcase_add_test(tests, inverse_statics_refuses_a_state_that_is_not_assembled);
    tcase_add_test(tests, where_no_step_helps_the_body_is_named);
    tcase_add_test(tests, forces_that_are_not_finite_are_reported);
    tcase_add_test(tests, what_cannot_move_is_at_rest);
    tcase_add_loop_test(tests, a_bead_on_a_turning_hoop_stands_out, 0, NUM_TURNINGS);
    tcase_add_loop_test(tests, a_bead_at_the_bottom_is_stable_while_the_hoop_turns_slowly, 0,
                        NUM_TURNINGS);
    tcase_add_test(tests, known_accelerations_are_not_balanced);
    tcase_add_test(tests, constraints_on_speeds_leave_one_way_to_go);
    tcase_add_test(tests, rods_may_be_nanometers_or_light_seconds);
    tcase_add_test(tests, what_nothing_pushes_back_is_not_stable);
    tcase_add_test(tests, auxiliary_variables_stay_and_their_rates_are_reported);
    tcase_add_test(tests, bad_definitions_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
