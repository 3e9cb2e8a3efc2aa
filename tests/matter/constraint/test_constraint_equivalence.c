// Tests of the built-in constraints: a free body with a constraint moves like one with the
// mobilizer that leaves the same freedom; constraints that say the same give the same
// accelerations.
#include "constraint_support.h"

/*
 * Both sides solve the same equations by different ways: one by mobilizers alone, the other by
 * multipliers from W = G M^-1 G^T. For bodies of size one and masses 1 to 4 the condition number of
 * W is below 1e3, so accelerations agree to 1e3 eps = 2e-13 of their size.
 */
static const double RELATIVE = 1e-12;

typedef tal_body_ix (*add_body_fn)(tal_matter *matter, tal_body_ix parent,
                                   const tal_mobod_def *def);
typedef void (*tie_fn)(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                       const tal_xform *X_M);

// --- the mobilizers ---

static const double PITCH = 0.3;

static tal_body_ix add_screw(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def)
{
    return tal_matter_add_screw(matter, parent, def, PITCH);
}

// --- and what ties a free body to the same motion ---

static void tie_ball(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                     const tal_xform *X_M)
{
    (void)tal_constraint_add_ball(matter, def, X_F->p, X_M->p);
}

static void tie_weld(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                     const tal_xform *X_M)
{
    (void)tal_constraint_add_weld(matter, def, X_F, X_M);
}

static void tie_orientation(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                            const tal_xform *X_M)
{
    (void)tal_constraint_add_constant_orientation(matter, def, &X_F->R, &X_M->R);
}

static void tie_pin(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                    const tal_xform *X_M)
{
    (void)tal_constraint_add_loop_pin(matter, def, X_F, X_M);
}

static void tie_slider(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                       const tal_xform *X_M)
{
    (void)tal_constraint_add_loop_slider(matter, def, X_F, X_M);
}

static void tie_cylinder(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                         const tal_xform *X_M)
{
    (void)tal_constraint_add_loop_cylinder(matter, def, X_F, X_M);
}

static void tie_universal(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                          const tal_xform *X_M)
{
    (void)tal_constraint_add_loop_universal(matter, def, X_F, X_M);
}

static void tie_planar(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                       const tal_xform *X_M)
{
    (void)tal_constraint_add_loop_planar(matter, def, X_F, X_M);
}

static void tie_screw(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                      const tal_xform *X_M)
{
    (void)tal_constraint_add_loop_screw(matter, def, X_F, X_M, PITCH);
}

// A slider: its origin on the x axis of F, its axes parallel to F's.
static void tie_line(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                     const tal_xform *X_M)
{
    (void)tal_constraint_add_point_on_line(matter, def, X_F->R.x, X_F->p, X_M->p);
    (void)tal_constraint_add_constant_orientation(matter, def, &X_F->R, &X_M->R);
}

// Planar: its origin in the xy plane of F, its z across x and y of F.
static void tie_plane(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                      const tal_xform *X_M)
{
    const double right = TAL_PI / 2.0;
    const double height = tal_v3_dot(X_F->R.z, X_F->p);
    (void)tal_constraint_add_point_in_plane(matter, def, X_F->R.z, height, X_M->p);
    (void)tal_constraint_add_constant_angle(matter, def, X_F->R.x, X_M->R.z, right);
    (void)tal_constraint_add_constant_angle(matter, def, X_F->R.y, X_M->R.z, right);
}

// A ball: the origin of M sticks to the xy plane of F, where it is.
static void tie_stuck(tal_matter *matter, const tal_constraint_def *def, const tal_xform *X_F,
                      const tal_xform *X_M)
{
    (void)tal_constraint_add_point_on_plane_contact(matter, def, X_F, X_M->p);
}

static const struct pair {
    const char *what;
    add_body_fn mobilizer;
    tie_fn tie;
} pairs[] = {
    {"ball", tal_matter_add_ball, tie_ball},
    {"weld", tal_matter_add_weld, tie_weld},
    {"translation", tal_matter_add_translation, tie_orientation},
    {"pin", tal_matter_add_pin, tie_pin},
    {"slider", tal_matter_add_slider, tie_slider},
    {"cylinder", tal_matter_add_cylinder, tie_cylinder},
    {"universal", tal_matter_add_universal, tie_universal},
    {"planar", tal_matter_add_planar, tie_planar},
    {"screw", add_screw, tie_screw},
    {"slider by line and orientation", tal_matter_add_slider, tie_line},
    {"planar by plane and angles", tal_matter_add_planar, tie_plane},
    {"ball by a stuck point", tal_matter_add_ball, tie_stuck},
};

enum {
    NUM_PAIRS = sizeof pairs / sizeof pairs[0],
    LAST = 3
};

// Ground, a ball, a pin, and then the body in question; parents with room on both sides of frames.
static void build(test_model *model, uint64_t seed, add_body_fn last, tie_fn tie)
{
    test_rng rng = test_rng_seed(seed);
    test_model_begin(model);
    model->gravity = tal_v3(0.3, -9.81, 0.7);
    const add_body_fn add[LAST] = {tal_matter_add_ball, tal_matter_add_pin, last};
    for (int b = 1; b <= LAST; ++b) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = test_random_mass_props(&rng);
        def.X_PF = test_random_xform(&rng);
        def.X_BM = test_random_xform(&rng);
        (void)add[b - 1](model->matter, (tal_body_ix){b - 1}, &def);
        if (b < LAST || tie == NULL) continue;
        const tal_constraint_def between =
            tal_constraint_between((tal_body_ix){LAST - 1}, (tal_body_ix){LAST});
        tie(model->matter, &between, &def.X_PF, &def.X_BM);
    }
    test_model_freeze(model);
    double *q = tal_state_upd_q(model->state), *u = tal_state_upd_u(model->state);
    for (int i = 0; i < tal_state_nq(model->state); ++i) {
        q[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    for (int j = 0; j < tal_state_nu(model->state); ++j) {
        u[j] = test_random_uniform(&rng, -2.0, 2.0);
    }
    ck_assert_int_eq(tal_matter_normalize_quaternions(model->matter, model->state), TAL_OK);
}

// Bring the tied model where the other is.
static void follow(const test_model *leader, test_model *model)
{
    memcpy(tal_state_upd_q(model->state), tal_state_q(leader->state), 5 * sizeof(double));
    memcpy(tal_state_upd_u(model->state), tal_state_u(leader->state), 4 * sizeof(double));
    const tal_body_ix last = {LAST};
    const tal_xform X_FM = tal_body_X_FM(leader->matter, leader->state, last);
    const tal_spatial_vec V_FM = tal_body_V_FM(leader->matter, leader->state, last);
    ck_assert_int_eq(tal_body_fit_q(model->matter, model->state, last, &X_FM), TAL_OK);
    ck_assert_int_eq(tal_body_fit_u(model->matter, model->state, last, V_FM), TAL_OK);
}

START_TEST(a_free_body_with_a_constraint_moves_like_its_mobilizer)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        test_model by_mobilizer, by_constraint;
        build(&by_mobilizer, seed, pairs[_i].mobilizer, NULL);
        build(&by_constraint, seed, tal_matter_add_free, pairs[_i].tie);
        test_model_realize(&by_mobilizer, TAL_STAGE_ACCELERATION);
        follow(&by_mobilizer, &by_constraint);
        test_model_realize(&by_constraint, TAL_STAGE_ACCELERATION);

        const tal_state *state = by_constraint.state;
        const int rows = tal_state_pool_size(state, TAL_POOL_UDOTERR);
        const int np = tal_state_pool_size(state, TAL_POOL_QERR);
        ck_assert_double_le(test_largest(tal_state_qerr(state), np), 1e-14);
        const int nv = tal_state_pool_size(state, TAL_POOL_UERR);
        ck_assert_double_le(test_largest(tal_state_uerr(state), nv), 1e-13);
        ck_assert_double_le(test_largest(tal_state_udoterr(state), rows), 2e-12);
        for (int b = 1; b <= LAST; ++b) {
            const tal_body_ix body = {b};
            const tal_spatial_vec A = tal_body_A_GB(by_constraint.matter, state, body);
            const tal_spatial_vec wanted =
                tal_body_A_GB(by_mobilizer.matter, by_mobilizer.state, body);
            test_assert_sv_near(A, wanted, RELATIVE * fmax(1.0, test_largest(&wanted.w.x, 6)));
        }
        test_model_end(&by_mobilizer);
        test_model_end(&by_constraint);
    }
}

// Joints that close loops report what the mobilizer has for q and u.
START_TEST(a_loop_joint_has_the_coordinates_of_its_mobilizer)
{
    for (int k = 3; k <= 8; ++k) {
        test_model by_mobilizer, by_constraint;
        build(&by_mobilizer, 5, pairs[k].mobilizer, NULL);
        build(&by_constraint, 5, tal_matter_add_free, pairs[k].tie);
        if (k == 8) {
            tal_body_set_q(by_mobilizer.matter, by_mobilizer.state, (tal_body_ix){3}, 0, 17.3);
        }
        test_model_realize(&by_mobilizer, TAL_STAGE_VELOCITY);
        follow(&by_mobilizer, &by_constraint);
        test_model_realize(&by_constraint, TAL_STAGE_TIME);

        const tal_constraint_ix joint = {0};
        const int n = tal_constraint_num_coordinates(by_constraint.matter, joint);
        ck_assert_int_eq(n, tal_body_nu(by_mobilizer.matter, (tal_body_ix){LAST}));
        double q[3], qdot[3];
        ck_assert_int_eq(tal_constraint_calc_coordinates(by_constraint.matter, by_constraint.state,
                                                         joint, q, qdot),
                         TAL_OK);
        for (int i = 0; i < n; ++i) {
            const tal_body_ix last = {LAST};
            ck_assert_double_eq_tol(
                q[i], tal_body_q(by_mobilizer.matter, by_mobilizer.state, last, i), 1e-13);
            ck_assert_double_eq_tol(
                qdot[i], tal_body_u(by_mobilizer.matter, by_mobilizer.state, last, i), 1e-13);
        }
        test_model_end(&by_mobilizer);
        test_model_end(&by_constraint);
    }
}

// --- mobilities ---

// One body on Ground, its kind and frames the same every time.
static void add_one_body(test_model *model, add_body_fn add)
{
    test_rng rng = test_rng_seed(7);
    test_model_begin(model);
    model->gravity = tal_v3(0.3, -9.81, 0.7);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(&rng);
    def.X_PF = test_random_xform(&rng);
    def.X_BM = test_random_xform(&rng);
    (void)add(model->matter, TAL_GROUND, &def);
}

static double first_udot(test_model *model, double q, double u)
{
    tal_body_set_q(model->matter, model->state, (tal_body_ix){1}, 0, q);
    tal_body_set_u(model->matter, model->state, (tal_body_ix){1}, 0, u);
    test_model_realize(model, TAL_STAGE_ACCELERATION);
    return tal_state_udot(model->state)[0];
}

START_TEST(a_cylinder_at_constant_height_is_a_pin)
{
    test_model pin, cylinder;
    add_one_body(&pin, tal_matter_add_pin);
    add_one_body(&cylinder, tal_matter_add_cylinder);
    const tal_constraint_def height = tal_constraint_on((tal_body_ix){1}, 1);
    (void)tal_constraint_add_constant_coordinate(cylinder.matter, &height, 0.0);
    test_model_freeze(&pin);
    test_model_freeze(&cylinder);
    ck_assert_double_eq_tol(first_udot(&cylinder, 0.4, 1.5), first_udot(&pin, 0.4, 1.5), 1e-13);
    ck_assert_double_le(fabs(tal_state_udot(cylinder.state)[1]), 1e-12);
    test_model_end(&pin);
    test_model_end(&cylinder);
}

// z - pitch angle = 0 makes a screw of a cylinder; and u_z - pitch u_angle = 0 does so too.
START_TEST(a_coupled_cylinder_is_a_screw)
{
    for (int by_speed = 0; by_speed < 2; ++by_speed) {
        test_model screw, cylinder;
        add_one_body(&screw, add_screw);
        add_one_body(&cylinder, tal_matter_add_cylinder);
        tal_constraint_def both = tal_constraint_on((tal_body_ix){1}, 0);
        both.mobilities[1] = (tal_mobility){{1}, 1};
        both.num_mobilities = 2;
        const double a[2] = {-PITCH, 1.0};
        tal_function *f = NULL;
        ck_assert_int_eq(tal_function_create_linear(NULL, a, 2, 0.0, &f, NULL), TAL_OK);
        const tal_constraint_ix added =
            by_speed ? tal_constraint_add_speed_coupler(cylinder.matter, &both, 2, f)
                     : tal_constraint_add_coordinate_coupler(cylinder.matter, &both, f);
        ck_assert_int_eq(added.i, 0);
        test_model_freeze(&screw);
        test_model_freeze(&cylinder);
        tal_body_set_q(cylinder.matter, cylinder.state, (tal_body_ix){1}, 1, 0.4 * PITCH);
        tal_body_set_u(cylinder.matter, cylinder.state, (tal_body_ix){1}, 1, 1.5 * PITCH);
        ck_assert_double_eq_tol(first_udot(&cylinder, 0.4, 1.5), first_udot(&screw, 0.4, 1.5),
                                1e-11);
        test_model_end(&screw);
        test_model_end(&cylinder);
    }
}

// A coupler that one of its mobilities has no part in holds the other all the same.
START_TEST(a_coupler_may_leave_one_of_its_mobilities_alone)
{
    for (int of = 0; of < 2; ++of) {
        test_model model;
        test_model_begin(&model);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_sphere(1.0, 0.5);
        (void)tal_matter_add_translation(model.matter, TAL_GROUND, &def);
        tal_constraint_def both = tal_constraint_def_default();
        both.mobilities[0] = (tal_mobility){{1}, 0};
        both.mobilities[1] = (tal_mobility){{1}, 1};
        both.num_mobilities = 2;
        const double a[2] = {of == 0 ? 1.0 : 0.0, of == 0 ? 0.0 : 1.0};
        tal_function *f = NULL;
        ck_assert_int_eq(tal_function_create_linear(NULL, a, 2, 0.0, &f, NULL), TAL_OK);
        (void)tal_constraint_add_coordinate_coupler(model.matter, &both, f);
        test_model_freeze(&model);
        model.gravity = tal_v3(3.0, -9.0, 5.0);
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        const double *udot = tal_state_udot(model.state);
        ck_assert_double_eq_tol(udot[0], of == 0 ? 0.0 : 3.0, 1e-15);
        ck_assert_double_eq_tol(udot[1], of == 1 ? 0.0 : -9.0, 1e-15);
        ck_assert_double_eq_tol(udot[2], 5.0, 1e-15);
        test_model_end(&model);
    }
}

START_TEST(a_mobility_accelerates_as_it_is_told)
{
    test_model model;
    add_one_body(&model, tal_matter_add_planar);
    tal_constraint_def def = tal_constraint_on((tal_body_ix){1}, 0);
    (void)tal_constraint_add_constant_acceleration(model.matter, &def, 2.5);
    def.mobilities[0].i = 1;
    (void)tal_constraint_add_constant_speed(model.matter, &def, 1.0);
    def.mobilities[0].i = 2;
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, 2.0, 3.0, 0.0, &f, NULL), TAL_OK);
    (void)tal_constraint_add_prescribed_motion(model.matter, &def, f);
    test_model_freeze(&model);
    ck_assert_int_eq(tal_state_set_t(model.state, 0.2), TAL_OK);

    ck_assert_double_eq_tol(first_udot(&model, 0.1, 0.4), 2.5, 1e-12);
    ck_assert_double_eq_tol(tal_state_udot(model.state)[1], 0.0, 1e-12);
    ck_assert_double_eq_tol(tal_state_udot(model.state)[2], -18.0 * sin(0.6), 1e-13);
    ck_assert_double_eq_tol(tal_state_qerr(model.state)[0], -2.0 * sin(0.6), 1e-15);
    ck_assert_double_eq_tol(tal_state_uerr(model.state)[0], -6.0 * cos(0.6), 1e-14);
    ck_assert_double_eq_tol(tal_state_uerr(model.state)[1], -1.0, 1e-15);
    test_model_end(&model);
}

// u . u - 2, with its derivatives.
static double twice_energy(const void *self, const double u[], int n)
{
    (void)self, (void)n;
    return u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - 2.0;
}

static double energy_derivative(const void *self, const double u[], int n, const int wrt[],
                                int order)
{
    (void)self, (void)n;
    if (order == 1) return 2.0 * u[wrt[0]];
    return order == 2 && wrt[0] == wrt[1] ? 2.0 : 0.0;
}

// A constraint that is not linear in u: of a point mass with constant kinetic energy, gravity only
// turns the velocity. udot = g - u (u . g) / (u . u).
START_TEST(a_point_of_constant_kinetic_energy_only_turns)
{
    static const tal_function_ops ops = {.size = sizeof ops,
                                         .name = "kinetic energy",
                                         .calc_value = twice_energy,
                                         .calc_derivative = energy_derivative};
    test_model model;
    test_model_begin(&model);
    model.gravity = tal_v3(0.3, -9.81, 0.7);
    tal_mobod_def point = tal_mobod_def_default();
    point.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    (void)tal_matter_add_translation(model.matter, TAL_GROUND, &point);
    tal_function_def energy = tal_function_def_default();
    energy.ops = &ops;
    energy.num_args = 3;
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create(NULL, &energy, &f, NULL), TAL_OK);
    tal_constraint_def def = tal_constraint_on((tal_body_ix){1}, 0);
    def.mobilities[1] = (tal_mobility){{1}, 1};
    def.mobilities[2] = (tal_mobility){{1}, 2};
    def.num_mobilities = 3;
    ck_assert_int_eq(tal_constraint_add_speed_coupler(model.matter, &def, 3, f).i, 0);
    test_model_freeze(&model);
    for (int k = 0; k < 2; ++k) { // the forces follow the velocity
        const tal_vec3 u = k == 0 ? tal_v3(1.0, 0.6, -0.8) : tal_v3(0.0, -1.0, 1.0);
        memcpy(tal_state_upd_u(model.state), &u, sizeof u);
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        ck_assert_double_le(fabs(tal_state_uerr(model.state)[0]), 1e-15);
        const double share = tal_v3_dot(u, model.gravity) / tal_v3_dot(u, u);
        const tal_vec3 wanted = tal_v3_axpy(-share, u, model.gravity);
        test_assert_near(tal_state_udot(model.state), &wanted.x, 3, 1e-14, "udot");
    }
    test_model_end(&model);
}

int main(void)
{
    Suite *suite = suite_create("matter/constraint_equivalence");
    TCase *bodies = tcase_create("bodies");
    tcase_set_timeout(bodies, 60.0);
    tcase_add_loop_test(bodies, a_free_body_with_a_constraint_moves_like_its_mobilizer, 0,
                        NUM_PAIRS);
    tcase_add_test(bodies, a_loop_joint_has_the_coordinates_of_its_mobilizer);
    suite_add_tcase(suite, bodies);
    TCase *mobilities = tcase_create("mobilities");
    tcase_add_test(mobilities, a_cylinder_at_constant_height_is_a_pin);
    tcase_add_test(mobilities, a_coupled_cylinder_is_a_screw);
    tcase_add_test(mobilities, a_coupler_may_leave_one_of_its_mobilities_alone);
    tcase_add_test(mobilities, a_mobility_accelerates_as_it_is_told);
    tcase_add_test(mobilities, a_point_of_constant_kinetic_energy_only_turns);
    suite_add_tcase(suite, mobilities);
    return test_run(suite);
}
