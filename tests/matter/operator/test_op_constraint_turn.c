// How the bodies of a constraint are turned: zero where it is met, a known angle where it is not,
// and a gradient that agrees with differences.
#include "op_support.h"

typedef tal_constraint_ix (*add_fn)(tal_matter *, const tal_constraint_def *, const tal_xform *,
                                    const tal_xform *);

static tal_constraint_ix add_orientation(tal_matter *matter, const tal_constraint_def *def,
                                         const tal_xform *X_1, const tal_xform *X_2)
{
    return tal_constraint_add_constant_orientation(matter, def, &X_1->R, &X_2->R);
}

static tal_constraint_ix add_screw(tal_matter *matter, const tal_constraint_def *def,
                                   const tal_xform *X_1, const tal_xform *X_2)
{
    return tal_constraint_add_loop_screw(matter, def, X_1, X_2, 0.3);
}

static const struct {
    add_fn add;
    bool about_z; // it may turn about z
} kinds[] = {
    {tal_constraint_add_weld, false},
    {add_orientation, false},
    {tal_constraint_add_loop_slider, false},
    {tal_constraint_add_loop_pin, true},
    {tal_constraint_add_loop_cylinder, true},
    {tal_constraint_add_loop_planar, true},
    {add_screw, true},
};

enum {
    NUM_KINDS = sizeof kinds / sizeof kinds[0]
};

// Two free bodies, the second on a ball on a pin of its own, tied together.
typedef struct pair {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_body_ix bodies[2];
    tal_constraint_ix tie;
    tal_xform X[2];
} pair;

static pair make_pair(int kind, test_rng *rng)
{
    pair p = {.system = tal_system_create(NULL)};
    p.matter = tal_matter_create(p.system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(rng);
    p.bodies[0] = tal_matter_add_free(p.matter, TAL_GROUND, &def);
    def.X_PF = test_random_xform(rng);
    const tal_body_ix base = tal_matter_add_pin(p.matter, TAL_GROUND, &def);
    def.X_BM = test_random_xform(rng);
    p.bodies[1] = tal_matter_add_free(p.matter, base, &def);
    p.X[0] = test_random_xform(rng), p.X[1] = test_random_xform(rng);
    const tal_constraint_def ends = tal_constraint_between(p.bodies[0], p.bodies[1]);
    p.tie = kinds[kind].add(p.matter, &ends, &p.X[0], &p.X[1]);
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(p.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(p.system, &p.state, &err), TAL_OK);
    ck_assert(tal_constraint_has_turn(p.matter, p.tie));
    return p;
}

static void end_pair(pair *p)
{
    tal_state_destroy(p->state);
    tal_system_destroy(p->system);
}

// Body 2 so that its frame is turned by R_12, seen from the frame of body 1.
static void turn_by(pair *p, tal_mat3 R_12)
{
    ck_assert_int_eq(tal_system_realize(p->system, p->state, TAL_STAGE_POSITION), TAL_OK);
    const tal_mat3 R_G1 = tal_m3_mul(tal_body_X_GB(p->matter, p->state, p->bodies[0]).R, p->X[0].R);
    const tal_mat3 R_GB = tal_m3_mul(tal_m3_mul(R_G1, R_12), tal_m3_transpose(p->X[1].R));
    const tal_body_ix base = tal_body_parent(p->matter, p->bodies[1]);
    const tal_mat3 R_GF = tal_m3_mul(tal_body_X_GB(p->matter, p->state, base).R,
                                     tal_body_X_PF(p->matter, p->state, p->bodies[1]).R);
    const tal_mat3 R_GM = tal_m3_mul(R_GB, tal_body_X_BM(p->matter, p->state, p->bodies[1]).R);
    const tal_mat3 R_FM = tal_m3_mul(tal_m3_transpose(R_GF), R_GM);
    ck_assert_int_eq(tal_body_fit_rotation(p->matter, p->state, p->bodies[1], &R_FM), TAL_OK);
    ck_assert_int_eq(tal_system_realize(p->system, p->state, TAL_STAGE_POSITION), TAL_OK);
}

static void shake(pair *p, test_rng *rng)
{
    const tal_xform X = test_random_xform(rng);
    ck_assert_int_eq(tal_body_fit_q(p->matter, p->state, p->bodies[0], &X), TAL_OK);
    ck_assert_int_eq(tal_body_set_q(p->matter, p->state, (tal_body_ix){2}, 0,
                                    test_random_uniform(rng, -3.0, 3.0)),
                     TAL_OK);
}

static tal_vec3 turn_of(const pair *p, tal_matrix J)
{
    tal_vec3 turn = {(double)NAN, 0.0, 0.0};
    ck_assert_int_eq(tal_matter_calc_constraint_turn(p->matter, p->state, p->tie, &turn, J),
                     TAL_OK);
    return turn;
}

static const tal_matrix NO_J = {NULL, 0, 0, 1};

// Products of a few rotations leave 1e-15; the angle of a rotation matrix that near to the unit
// matrix no more.
START_TEST(a_constraint_that_is_met_is_not_turned)
{
    test_rng rng = test_rng_seed(981);
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        pair p = make_pair(kind, &rng);
        for (int k = 0; k < 20; ++k) {
            shake(&p, &rng);
            const double free_turn = test_random_uniform(&rng, -3.0, 3.0);
            turn_by(&p, tal_rotation_about(TAL_AXIS_Z, kinds[kind].about_z ? free_turn : 0.0));
            ck_assert_double_lt(tal_v3_norm(turn_of(&p, NO_J)), 1e-14);
        }
        end_pair(&p);
    }
}

END_TEST

// Turned by an angle about an axis across z: by that angle, up to half a turn and there too, where
// perr of a weld vanishes.
START_TEST(the_angle_of_a_turn_is_found_up_to_half_a_turn)
{
    test_rng rng = test_rng_seed(982);
    const double pi = TAL_PI;
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        pair p = make_pair(kind, &rng);
        for (int k = 0; k <= 20; ++k) {
            shake(&p, &rng);
            const double angle = pi * k / 20.0, heading = test_random_uniform(&rng, -3.0, 3.0);
            const tal_vec3 axis = tal_v3(cos(heading), sin(heading), 0.0);
            turn_by(&p, tal_rotation_from_angle_axis(angle, axis));
            // sine and cosine both are at hand, so no angle loses digits
            ck_assert_double_eq_tol(tal_v3_norm(turn_of(&p, NO_J)), angle, 1e-13);
        }
        end_pair(&p);
    }
}

END_TEST

// d/dt 1/2 |turn|^2 = turn . J u, by central differences along q + h N u: h^2 and eps / h, both
// below 1e-9.
START_TEST(the_gradient_agrees_with_differences)
{
    enum {
        NU = 13,
        NQ = 15
    };

    test_rng rng = test_rng_seed(983);
    const double h = 1e-5;
    for (int trial = 0; trial < 20 * NUM_KINDS; ++trial) {
        pair p = make_pair(trial % NUM_KINDS, &rng);
        shake(&p, &rng);
        turn_by(&p, tal_rotation_from_angle_axis(test_random_uniform(&rng, 0.1, 2.5),
                                                 test_random_unit(&rng)));
        double q[NQ], moved[NQ], dq[NQ], u[NU], half_square[2];
        tal_matrix J = dense(3, NU);
        const tal_vec3 turn = turn_of(&p, J);
        double slope = 0.0;
        for (int i = 0; i < NU; ++i) {
            u[i] = test_random_uniform(&rng, -1.0, 1.0);
            slope += u[i] * (turn.x * *at(J, 0, i) + turn.y * *at(J, 1, i) + turn.z * *at(J, 2, i));
        }
        memcpy(q, tal_state_q(p.state), sizeof q);
        ck_assert_int_eq(tal_matter_mul_N(p.matter, p.state, TAL_N, u, dq), TAL_OK);
        for (int side = 0; side < 2; ++side) {
            for (int i = 0; i < NQ; ++i) {
                moved[i] = q[i] + (side == 0 ? -h : h) * dq[i];
            }
            ck_assert_int_eq(tal_state_set_q(p.state, moved, NQ), TAL_OK);
            ck_assert_int_eq(tal_system_realize(p.system, p.state, TAL_STAGE_POSITION), TAL_OK);
            const tal_vec3 there = turn_of(&p, NO_J);
            half_square[side] = 0.5 * tal_v3_dot(there, there);
        }
        ck_assert_double_eq_tol(slope, (half_square[1] - half_square[0]) / (2.0 * h), 1e-8);
        free(J.data);
        end_pair(&p);
    }
}

END_TEST

// Exactly half a turn, and exactly none, where no cross product tells the axis.
START_TEST(opposite_axes_are_turned_by_half_a_turn)
{
    const double pi = TAL_PI;
    for (int k = 0; k < 3; ++k) {
        const tal_axis axis = (tal_axis)k;
        const tal_vec3 should = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        tal_system *system = tal_system_create(NULL);
        tal_matter *matter = tal_matter_create(system);
        const tal_mobod_def def = tal_mobod_def_default();
        const tal_body_ix body = tal_matter_add_weld(matter, TAL_GROUND, &def);
        // z of the frames along x, y or z: about y, or about x
        tal_xform X_1 = TAL_XFORM_IDENTITY, X_2;
        X_1.R.z = should;
        X_1.R.x = axis == TAL_AXIS_X ? tal_v3(0.0, 1.0, 0.0) : tal_v3(0.0, 0.0, 1.0);
        if (axis == TAL_AXIS_Z) X_1.R.x = tal_v3(1.0, 0.0, 0.0);
        X_1.R.y = tal_v3_cross(X_1.R.z, X_1.R.x);
        X_2 = X_1;
        X_2.R.z = tal_v3_scale(-1.0, X_1.R.z);
        X_2.R.y = tal_v3_scale(-1.0, X_1.R.y);
        const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
        const tal_constraint_ix same = tal_constraint_add_loop_pin(matter, &ends, &X_1, &X_1);
        const tal_constraint_ix opposite = tal_constraint_add_loop_pin(matter, &ends, &X_1, &X_2);
        tal_state *state = NULL;
        tal_vec3 turn;
        ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
        ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
        ck_assert_int_eq(tal_matter_calc_constraint_turn(matter, state, same, &turn, NO_J), TAL_OK);
        ck_assert_double_eq(tal_v3_norm(turn), 0.0);
        ck_assert_int_eq(tal_matter_calc_constraint_turn(matter, state, opposite, &turn, NO_J),
                         TAL_OK);
        ck_assert_double_eq_tol(tal_v3_norm(turn), pi, 1e-15);
        ck_assert_double_eq_tol(tal_v3_dot(turn, should), 0.0, 1e-15);
        tal_state_destroy(state);
        tal_system_destroy(system);
    }
}

END_TEST

START_TEST(bad_calls_are_refused)
{
    test_rng rng = test_rng_seed(984);
    pair p = make_pair(0, &rng);
    tal_vec3 turn;
    ck_assert_int_eq(tal_system_realize(p.system, p.state, TAL_STAGE_POSITION), TAL_OK);
    test_record_breaches();
    test_assert_refused(tal_matter_calc_constraint_turn(p.matter, p.state, p.tie, NULL, NO_J),
                        TAL_ERR_NULL, "turn");
    const tal_constraint_ix none = {5};
    test_assert_refused(tal_matter_calc_constraint_turn(p.matter, p.state, none, &turn, NO_J),
                        TAL_ERR_BAD_INDEX, "5");
    double wrong[6];
    test_assert_refused(tal_matter_calc_constraint_turn(p.matter, p.state, p.tie, &turn,
                                                        tal_matrix_view(wrong, 3, 2)),
                        TAL_ERR_BAD_VALUE, "J");
    test_assert_refused(tal_matter_calc_constraint_turn(NULL, p.state, p.tie, &turn, NO_J),
                        TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_constraint_has_turn(p.matter, none), TAL_ERR_BAD_INDEX, "5");
    end_pair(&p);

    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    const tal_mobod_def def = tal_mobod_def_default();
    const tal_body_ix body = tal_matter_add_weld(matter, TAL_GROUND, &def);
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
    const tal_constraint_ix rod =
        tal_constraint_add_rod(matter, &ends, TAL_VEC3_ZERO, tal_v3(1.0, 0.0, 0.0), 1.0);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert(!tal_constraint_has_turn(matter, rod));
    test_assert_refused(tal_matter_calc_constraint_turn(matter, state, rod, &turn, NO_J),
                        TAL_ERR_BAD_VALUE, "rotation");
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/op_constraint_turn");
    TCase *tests = tcase_create("turn");
    tcase_add_test(tests, a_constraint_that_is_met_is_not_turned);
    tcase_add_test(tests, the_angle_of_a_turn_is_found_up_to_half_a_turn);
    tcase_add_test(tests, the_gradient_agrees_with_differences);
    tcase_add_test(tests, opposite_axes_are_turned_by_half_a_turn);
    tcase_add_test(tests, bad_calls_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
