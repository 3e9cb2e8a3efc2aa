// Tests of the built-in constraints: what their errors are, what they refuse, and where they are
// singular.
#include "constraint_support.h"

static tal_body_ix body(int i)
{
    return (tal_body_ix){i};
}

// --- what the errors are, by the responses of matter ---

// Two free bodies, 2 and 3, on a ball, 1, which is then the ancestor. The constraints come from
// `add`.
static void build(test_model *model, void (*add)(tal_matter *matter, const tal_constraint_def *def))
{
    test_rng rng = test_rng_seed(21);
    test_model_begin(model);
    for (int b = 1; b <= 3; ++b) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = test_random_mass_props(&rng);
        def.X_PF = test_random_xform(&rng);
        def.X_BM = test_random_xform(&rng);
        if (b == 1) (void)tal_matter_add_ball(model->matter, TAL_GROUND, &def);
        if (b > 1) (void)tal_matter_add_free(model->matter, body(1), &def);
    }
    const tal_constraint_def between = tal_constraint_between(body(2), body(3));
    add(model->matter, &between);
    test_model_freeze(model);
    for (int i = 0; i < tal_state_nq(model->state); ++i) {
        tal_state_upd_q(model->state)[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    for (int j = 0; j < tal_state_nu(model->state); ++j) {
        tal_state_upd_u(model->state)[j] = test_random_uniform(&rng, -2.0, 2.0);
    }
    test_model_realize(model, TAL_STAGE_VELOCITY);
}

static const tal_vec3 S1 = {0.3, -0.2, 0.5}, S2 = {-0.4, 0.1, 0.6};
static const tal_vec3 E1 = {1.0, 2.0, -0.5}, E2 = {0.3, -1.0, 2.0};

static tal_xform frame(int which)
{
    test_rng rng = test_rng_seed((uint64_t)(100 + which));
    return test_random_xform(&rng);
}

static void add_position_constraints(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_xform X_1 = frame(1), X_2 = frame(2);
    (void)tal_constraint_add_rod(matter, def, S1, S2, 0.7);                                  // 0
    (void)tal_constraint_add_ball(matter, def, S1, S2);                                      // 1
    (void)tal_constraint_add_weld(matter, def, &X_1, &X_2);                                  // 4
    (void)tal_constraint_add_point_in_plane(matter, def, E1, 0.2, S2);                       // 10
    (void)tal_constraint_add_point_on_line(matter, def, E1, S1, S2);                         // 11
    (void)tal_constraint_add_constant_angle(matter, def, E1, E2, 1.1);                       // 13
    (void)tal_constraint_add_constant_orientation(matter, def, &X_1.R, &X_2.R);              // 14
    (void)tal_constraint_add_sphere_on_sphere_contact(matter, def, S1, 0.2, S2, 0.3, false); // 17
    (void)tal_constraint_add_line_on_line_contact(matter, def, &X_1, &X_2, false);           // 18
    // 19: the same edge of body 1, which is then on the other side of it
    const tal_xform over = {tal_m3(X_1.R.x, tal_v3_neg(X_1.R.y), tal_v3_neg(X_1.R.z)), X_1.p};
    (void)tal_constraint_add_line_on_line_contact(matter, def, &over, &X_2, false);
}

static tal_vec3 turned(tal_xform X, tal_vec3 e)
{
    return tal_m3_mul_v3(X.R, e);
}

START_TEST(position_errors_are_as_defined)
{
    test_model model;
    build(&model, add_position_constraints);
    const tal_xform X_A2 = tal_body_X_AB(model.matter, model.state, body(1), body(2));
    const tal_xform X_A3 = tal_body_X_AB(model.matter, model.state, body(1), body(3));
    const tal_xform B = tal_xf_mul(X_A2, frame(1)), F = tal_xf_mul(X_A3, frame(2));
    const tal_vec3 p1 = tal_xf_apply(X_A2, S1), p2 = tal_xf_apply(X_A3, S2);
    const tal_vec3 d = tal_v3_sub(p2, p1), o = tal_v3_sub(F.p, B.p);
    const tal_vec3 n = tal_v3_normalize(E1), x = tal_v3_perp(n), y = tal_v3_cross(n, x);
    const double axes[3] = {tal_v3_dot(F.R.x, B.R.y), tal_v3_dot(F.R.y, B.R.z),
                            tal_v3_dot(F.R.z, B.R.x)};
    const tal_vec3 cross = tal_v3_normalize(tal_v3_cross(B.R.x, F.R.x));
    const double out = tal_v3_dot(cross, B.R.z) > 0.0 ? 1.0 : -1.0;

    const double wanted[20] = {
        tal_v3_norm(d) - 0.7,
        d.x,
        d.y,
        d.z,
        axes[0],
        axes[1],
        axes[2],
        o.x,
        o.y,
        o.z,
        tal_v3_dot(turned(X_A2, n), tal_v3_sub(p2, X_A2.p)) - 0.2,
        tal_v3_dot(turned(X_A2, x), d),
        tal_v3_dot(turned(X_A2, y), d),
        tal_v3_dot(turned(X_A2, n), turned(X_A3, tal_v3_normalize(E2))) - cos(1.1),
        axes[0],
        axes[1],
        axes[2],
        tal_v3_norm(d) - 0.5,
        out * tal_v3_dot(cross, o),
        -out * tal_v3_dot(cross, o),
    };
    // sums of a few products of size one
    test_assert_near(tal_state_qerr(model.state), wanted, 20, 1e-14, "perr");
    test_model_end(&model);
}

static void add_rolling_constraints(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_xform X_1 = frame(1);
    tal_constraint_def three = *def;
    three.bodies[0] = body(1), three.bodies[1] = body(2), three.bodies[2] = body(3);
    (void)tal_constraint_add_no_slip_1d(matter, &three, S1, E1);
    (void)tal_constraint_add_point_on_plane_contact(matter, def, &X_1, S2);
    (void)tal_constraint_add_sphere_on_plane_contact(matter, def, &X_1, S2, 0.4, true);
    (void)tal_constraint_add_sphere_on_sphere_contact(matter, def, S1, 0.2, S2, 0.3, true);
    const tal_xform X_2 = frame(2);
    (void)tal_constraint_add_line_on_line_contact(matter, def, &X_1, &X_2, true);
    (void)tal_constraint_add_disk_on_plane_contact(matter, def, &X_1, S2, E2, 0.4, true);
}

// The velocity that body b has at the point P of the ancestor, in the ancestor.
static tal_vec3 velocity_at(const test_model *model, int b, tal_vec3 p_AP)
{
    const tal_xform X = tal_body_X_AB(model->matter, model->state, body(1), body(b));
    return tal_station_v_AS(model->matter, model->state, body(1), body(b),
                            tal_xf_inv_apply(X, p_AP));
}

static tal_vec3 slip_at(const test_model *model, tal_vec3 p_AP)
{
    return tal_v3_sub(velocity_at(model, 3, p_AP), velocity_at(model, 2, p_AP));
}

// Halfway between the nearest points of two lines, by least squares: (1 - x x^T) removes what is
// along x.
static tal_vec3 midpoint(tal_vec3 p1, tal_vec3 x1, tal_vec3 p2, tal_vec3 x2)
{
    const tal_mat3 N1 = tal_m3_sub(TAL_MAT3_IDENTITY, tal_m3_outer(x1, x1));
    const tal_mat3 N2 = tal_m3_sub(TAL_MAT3_IDENTITY, tal_m3_outer(x2, x2));
    const tal_vec3 b = tal_v3_add(tal_m3_mul_v3(N1, p1), tal_m3_mul_v3(N2, p2));
    return tal_m3_mul_v3(tal_m3_inverse(tal_m3_add(N1, N2)), b);
}

// The lowest point of a circle about c with axis a, where z is up: along two directions across a.
static tal_vec3 lowest_of_circle(tal_vec3 c, tal_vec3 a, double radius, tal_vec3 z)
{
    const tal_vec3 u = tal_v3_perp(a), v = tal_v3_cross(a, u);
    const double angle = atan2(-tal_v3_dot(z, v), -tal_v3_dot(z, u));
    return tal_v3_axpy(radius * cos(angle), u, tal_v3_axpy(radius * sin(angle), v, c));
}

// uerr holds the rates of all position errors first: five here.
START_TEST(velocity_errors_are_slips)
{
    test_model model;
    build(&model, add_rolling_constraints);
    const tal_xform X_A2 = tal_body_X_AB(model.matter, model.state, body(1), body(2));
    const tal_xform X_A3 = tal_body_X_AB(model.matter, model.state, body(1), body(3));
    const tal_xform P = tal_xf_mul(X_A2, frame(1));
    const tal_vec3 c1 = tal_xf_apply(X_A2, S1), c2 = tal_xf_apply(X_A3, S2);
    const tal_vec3 lowest = tal_v3_axpy(-0.4, P.R.z, c2);
    const tal_vec3 between = tal_v3_axpy(0.4, tal_v3_sub(c2, c1), c1);
    const double *perr = tal_state_qerr(model.state);
    const double *verr = tal_state_uerr(model.state) + 5;

    ck_assert_double_eq_tol(perr[0], tal_v3_dot(P.R.z, tal_v3_sub(c2, P.p)), 1e-14);
    ck_assert_double_eq_tol(perr[1], tal_v3_dot(P.R.z, tal_v3_sub(c2, P.p)) - 0.4, 1e-14);
    ck_assert_double_eq_tol(verr[0], tal_v3_dot(tal_v3_normalize(E1), slip_at(&model, S1)), 1e-13);
    const tal_vec3 stick = slip_at(&model, c2), roll = slip_at(&model, lowest);
    ck_assert_double_eq_tol(verr[1], tal_v3_dot(P.R.x, stick), 1e-13);
    ck_assert_double_eq_tol(verr[2], tal_v3_dot(P.R.y, stick), 1e-13);
    ck_assert_double_eq_tol(verr[3], tal_v3_dot(P.R.x, roll), 1e-13);
    ck_assert_double_eq_tol(verr[4], tal_v3_dot(P.R.y, roll), 1e-13);
    // of two spheres the directions are arbitrary: compare the length of the slip across their line
    const tal_vec3 n = tal_v3_normalize(tal_v3_sub(c2, c1)), s = slip_at(&model, between);
    const double across = tal_v3_norm(tal_v3_axpy(-tal_v3_dot(n, s), n, s));
    ck_assert_double_eq_tol(hypot(verr[5], verr[6]), across, 1e-13);
    const tal_xform E = tal_xf_mul(X_A3, frame(2));
    const tal_vec3 grind = slip_at(&model, midpoint(P.p, P.R.x, E.p, E.R.x));
    const tal_vec3 m = tal_v3_normalize(tal_v3_cross(P.R.x, E.R.x));
    const double out = tal_v3_dot(m, P.R.z) > 0.0 ? 1.0 : -1.0;
    const tal_vec3 y = tal_v3_scale(out, tal_v3_cross(m, P.R.x));
    ck_assert_double_eq_tol(verr[7], tal_v3_dot(P.R.x, grind), 1e-12);
    ck_assert_double_eq_tol(verr[8], tal_v3_dot(y, grind), 1e-12);
    const tal_vec3 axis = turned(X_A3, tal_v3_normalize(E2));
    const tal_vec3 edge = lowest_of_circle(c2, axis, 0.4, P.R.z), slide = slip_at(&model, edge);
    ck_assert_double_eq_tol(perr[4], tal_v3_dot(P.R.z, tal_v3_sub(edge, P.p)), 1e-14);
    ck_assert_double_eq_tol(verr[9], tal_v3_dot(P.R.x, slide), 1e-13);
    ck_assert_double_eq_tol(verr[10], tal_v3_dot(P.R.y, slide), 1e-13);
    test_model_end(&model);
}

// --- parameters in the State ---

static void add_named_rod(tal_matter *matter, const tal_constraint_def *def)
{
    tal_constraint_def named = *def;
    named.name = "strut";
    (void)tal_constraint_add_rod(matter, &named, S1, S2, 0.7);
}

START_TEST(parameters_change_in_the_state)
{
    test_model model;
    build(&model, add_named_rod);
    const double before = tal_state_qerr(model.state)[0];
    const tal_constraint_ix strut = {0};
    double params[TAL_ROD_NUM_PARAMS];
    int n = 0;
    memcpy(params, tal_constraint_params(model.matter, model.state, strut, &n), sizeof params);
    ck_assert_int_eq(n, TAL_ROD_NUM_PARAMS);
    params[TAL_ROD_LENGTH] = 0.9;
    ck_assert_int_eq(tal_constraint_set_params(model.matter, model.state, strut, params, n),
                     TAL_OK);
    test_model_realize(&model, TAL_STAGE_POSITION);
    ck_assert_double_eq_tol(tal_state_qerr(model.state)[0], before - 0.2, 1e-15);

    params[TAL_ROD_LENGTH] = -1.0;
    ck_assert_int_eq(tal_constraint_set_params(model.matter, model.state, strut, params, n),
                     TAL_ERR_BAD_VALUE);
    ck_assert(strstr(tal_state_error(model.state)->message, "strut") != NULL);
    ck_assert(strstr(tal_state_error(model.state)->message, "-1") != NULL);
    ck_assert_double_eq(
        tal_constraint_params(model.matter, model.state, strut, NULL)[TAL_ROD_LENGTH], 0.9);
    test_model_end(&model);
}

// --- what is refused ---

typedef void (*bad_fn)(tal_matter *matter, const tal_constraint_def *def);

static void negative_length(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_rod(matter, def, S1, S2, -0.7);
}

static void zero_length(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_rod(matter, def, S1, S2, 0.0);
}

static void nan_station(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_ball(matter, def, tal_v3(0.0, (double)NAN, 0.0), S2);
}

static void skew_frame(tal_matter *matter, const tal_constraint_def *def)
{
    tal_xform X_1 = frame(1);
    const tal_xform X_2 = frame(2);
    X_1.R.x = tal_v3_scale(1.1, X_1.R.x);
    (void)tal_constraint_add_weld(matter, def, &X_1, &X_2);
}

static void second_skew_frame(tal_matter *matter, const tal_constraint_def *def)
{
    tal_xform X_2 = frame(2);
    const tal_xform X_1 = frame(1);
    X_2.R.y = tal_v3_neg(X_2.R.y);
    (void)tal_constraint_add_loop_pin(matter, def, &X_1, &X_2);
}

static void skew_orientation(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_mat3 R_1 = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 2.0}};
    const tal_mat3 R_2 = TAL_MAT3_IDENTITY;
    (void)tal_constraint_add_constant_orientation(matter, def, &R_1, &R_2);
}

static void no_normal(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_point_in_plane(matter, def, TAL_VEC3_ZERO, 0.0, S2);
}

static void no_line(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_point_on_line(matter, def, TAL_VEC3_ZERO, S1, S2);
}

static void no_axis_1(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_constant_angle(matter, def, TAL_VEC3_ZERO, E2, 1.0);
}

static void no_axis_2(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_constant_angle(matter, def, E1, TAL_VEC3_ZERO, 1.0);
}

static void flat_angle(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_constant_angle(matter, def, E1, E2, 0.0);
}

static void no_slip_nowhere(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_no_slip_1d(matter, def, S1, TAL_VEC3_ZERO);
}

static void no_radius(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_xform plane = frame(1);
    (void)tal_constraint_add_sphere_on_plane_contact(matter, def, &plane, S2, 0.0, true);
}

static void no_disk(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_xform plane = frame(1);
    (void)tal_constraint_add_disk_on_plane_contact(matter, def, &plane, S2, E2, 0.0, true);
}

static void disk_without_axis(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_xform plane = frame(1);
    (void)tal_constraint_add_disk_on_plane_contact(matter, def, &plane, S2, TAL_VEC3_ZERO, 1.0,
                                                   false);
}

static void skew_disk_plane(tal_matter *matter, const tal_constraint_def *def)
{
    tal_xform plane = frame(1);
    plane.R.z = TAL_VEC3_ZERO;
    (void)tal_constraint_add_disk_on_plane_contact(matter, def, &plane, S2, E2, 1.0, false);
}

static void skew_plane(tal_matter *matter, const tal_constraint_def *def)
{
    tal_xform plane = frame(1);
    plane.R.z = TAL_VEC3_ZERO;
    (void)tal_constraint_add_sphere_on_plane_contact(matter, def, &plane, S2, 1.0, false);
}

static void skew_point_plane(tal_matter *matter, const tal_constraint_def *def)
{
    tal_xform plane = frame(1);
    plane.R.z = TAL_VEC3_ZERO;
    (void)tal_constraint_add_point_on_plane_contact(matter, def, &plane, S2);
}

static void negative_radius_1(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_sphere_on_sphere_contact(matter, def, S1, -1.0, S2, 1.0, true);
}

static void negative_radius_2(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_sphere_on_sphere_contact(matter, def, S1, 1.0, S2, -1.0, false);
}

static void skew_edge(tal_matter *matter, const tal_constraint_def *def)
{
    tal_xform X_1 = frame(1);
    const tal_xform X_2 = frame(2);
    X_1.R = tal_m3_scale(2.0, X_1.R);
    (void)tal_constraint_add_line_on_line_contact(matter, def, &X_1, &X_2, true);
}

static void no_such_body(tal_matter *matter, const tal_constraint_def *def)
{
    tal_constraint_def other = *def;
    other.bodies[1] = body(17);
    (void)tal_constraint_add_ball(matter, &other, S1, S2);
}

static void no_such_mobility(tal_matter *matter, const tal_constraint_def *def)
{
    tal_constraint_def other = *def;
    other.mobilities[0] = (tal_mobility){body(2), 6};
    (void)tal_constraint_add_constant_speed(matter, &other, 1.0);
}

// The angles of a line turn it by more than its speeds can.
static tal_constraint_def on_a_line(tal_matter *matter, const tal_constraint_def *def)
{
    tal_constraint_def other = *def;
    tal_mobod_def line = tal_mobod_def_default();
    line.name = "line";
    other.mobilities[0] =
        (tal_mobility){tal_matter_add_line_orientation(matter, TAL_GROUND, &line), 0};
    return other;
}

static void coordinate_of_a_line(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_constraint_def other = on_a_line(matter, def);
    (void)tal_constraint_add_constant_coordinate(matter, &other, 1.0);
}

static tal_function *linear(int num_args)
{
    const double a[4] = {1.0, 2.0, 3.0, 4.0};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, a, num_args, 0.0, &f, NULL), TAL_OK);
    return f;
}

static void motion_of_a_line(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_constraint_def other = on_a_line(matter, def);
    (void)tal_constraint_add_prescribed_motion(matter, &other, linear(1));
}

static double square(const void *self, const double x[], int n)
{
    (void)self, (void)n;
    return x[0] * x[0];
}

static void too_few_derivatives(tal_matter *matter, const tal_constraint_def *def)
{
    static const tal_function_ops ops = {
        .size = sizeof ops, .name = "square", .calc_value = square};
    tal_function_def shallow = tal_function_def_default();
    shallow.ops = &ops;
    shallow.max_order = 1;
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create(NULL, &shallow, &f, NULL), TAL_OK);
    (void)tal_constraint_add_prescribed_motion(matter, def, f);
}

static void too_few_arguments(tal_matter *matter, const tal_constraint_def *def)
{
    tal_constraint_def other = *def;
    other.mobilities[0] = (tal_mobility){body(2), 1};
    other.num_mobilities = 1;
    (void)tal_constraint_add_speed_coupler(matter, &other, 1, linear(2));
}

static void too_many_speeds(tal_matter *matter, const tal_constraint_def *def)
{
    tal_constraint_def other = *def;
    other.mobilities[0] = (tal_mobility){body(2), 1};
    other.num_mobilities = 1;
    (void)tal_constraint_add_speed_coupler(matter, &other, 2, linear(1));
}

static void no_function(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_coordinate_coupler(matter, def, NULL);
}

static void function_twice(tal_matter *matter, const tal_constraint_def *def)
{
    tal_constraint_def other = *def;
    other.name = "first";
    other.mobilities[0] = (tal_mobility){body(2), 1};
    other.num_mobilities = 1;
    tal_function *f = linear(1);
    ck_assert_int_eq(tal_constraint_add_speed_coupler(matter, &other, 1, f).i, 0);
    other.name = def->name;
    (void)tal_constraint_add_speed_coupler(matter, &other, 1, f);
}

static void null_orientation(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_mat3 R = TAL_MAT3_IDENTITY;
    (void)tal_constraint_add_constant_orientation(matter, def, &R, NULL);
}

static void null_plane(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_point_on_plane_contact(matter, def, NULL, S2);
}

static void null_sphere_plane(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_sphere_on_plane_contact(matter, def, NULL, S2, 1.0, true);
}

static void null_disk_plane(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_disk_on_plane_contact(matter, def, NULL, S2, E2, 1.0, true);
}

static void null_edge(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_line_on_line_contact(matter, def, NULL, NULL, true);
}

static void null_loop(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_loop_screw(matter, def, NULL, NULL, 1.0);
}

static void null_frame(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_xform X_2 = frame(2);
    (void)tal_constraint_add_weld(matter, def, NULL, &X_2);
}

static void cut_ground(tal_matter *matter, const tal_constraint_def *def)
{
    (void)def;
    const tal_mobod_def half = tal_mobod_def_default();
    (void)tal_matter_split_body(matter, TAL_GROUND, body(1), &half, tal_mobilizer_pin(), NULL, NULL,
                                NULL);
}

static void cut_nothing(tal_matter *matter, const tal_constraint_def *def)
{
    (void)def;
    tal_mobod_def ghost = tal_mobod_def_default();
    ghost.name = "ghost";
    const tal_body_ix b = tal_matter_add_pin(matter, TAL_GROUND, &ghost);
    ghost.name = "half";
    (void)tal_matter_split_body(matter, b, body(1), &ghost, tal_mobilizer_pin(), NULL, NULL, NULL);
}

static void cut_without_def(tal_matter *matter, const tal_constraint_def *def)
{
    (void)def;
    tal_constraint_ix weld = {5};
    const tal_body_ix none = tal_matter_split_body(matter, body(1), body(1), NULL,
                                                   tal_mobilizer_pin(), NULL, NULL, &weld);
    ck_assert_int_lt(none.i, 0);
    ck_assert_int_lt(weld.i, 0);
}

static const struct bad {
    bad_fn add;
    tal_status status;
    const char *part; // of the sentence
} bads[] = {
    {negative_length, TAL_ERR_BAD_VALUE, "'culprit': its length must be positive, not -0.7"},
    {zero_length, TAL_ERR_BAD_VALUE, "'culprit': its length must be positive, not 0"},
    {nan_station, TAL_ERR_NOT_FINITE, "'culprit': parameter 1 is"},
    {skew_frame, TAL_ERR_BAD_VALUE, "'culprit': its frame on body 1"},
    {second_skew_frame, TAL_ERR_BAD_VALUE, "'culprit': its frame on body 2"},
    {skew_orientation, TAL_ERR_BAD_VALUE, "'culprit': its frame on body 1"},
    {no_normal, TAL_ERR_BAD_VALUE, "'culprit': its normal (0, 0, 0) is not a direction"},
    {no_line, TAL_ERR_BAD_VALUE, "'culprit': its direction (0, 0, 0) is not a direction"},
    {no_axis_1, TAL_ERR_BAD_VALUE, "'culprit': its axis on body 1 (0, 0, 0)"},
    {no_axis_2, TAL_ERR_BAD_VALUE, "'culprit': its axis on body 2 (0, 0, 0)"},
    {flat_angle, TAL_ERR_BAD_VALUE, "'culprit': its angle must be between 0 and pi, not 0"},
    {no_slip_nowhere, TAL_ERR_BAD_VALUE, "'culprit': its direction"},
    {no_radius, TAL_ERR_BAD_VALUE, "'culprit': its radius must be positive, not 0"},
    {no_disk, TAL_ERR_BAD_VALUE, "'culprit': its radius must be positive, not 0"},
    {disk_without_axis, TAL_ERR_BAD_VALUE, "'culprit': its axis (0, 0, 0) is not a direction"},
    {skew_disk_plane, TAL_ERR_BAD_VALUE, "'culprit': its plane"},
    {skew_plane, TAL_ERR_BAD_VALUE, "'culprit': its plane"},
    {skew_point_plane, TAL_ERR_BAD_VALUE, "'culprit': its plane"},
    {negative_radius_1, TAL_ERR_BAD_VALUE, "'culprit': its radius on body 1"},
    {negative_radius_2, TAL_ERR_BAD_VALUE, "'culprit': its radius on body 2"},
    {skew_edge, TAL_ERR_BAD_VALUE, "'culprit': its frame on body 1"},
    {no_such_body, TAL_ERR_BAD_INDEX, "'culprit': there is no body 17"},
    {no_such_mobility, TAL_ERR_BAD_INDEX, "'culprit': body 2 has no speed 6"},
    {coordinate_of_a_line, TAL_ERR_BAD_VALUE, "'culprit': speed 0 of body 'line'"},
    {motion_of_a_line, TAL_ERR_BAD_VALUE, "'culprit': speed 0 of body 'line'"},
    {too_few_arguments, TAL_ERR_BAD_VALUE,
     "1 arguments with 1 derivatives, but was given one of 2"},
    {too_few_derivatives, TAL_ERR_BAD_VALUE, "with 2 derivatives, but was given one of 1 with 1"},
    {too_many_speeds, TAL_ERR_BAD_VALUE, "1 mobilities cannot have 2 speeds"},
    {no_function, TAL_ERR_NULL, "an argument of a coordinate coupler is NULL"},
    {function_twice, TAL_ERR_BAD_VALUE, "a speed coupler:"},
    {cut_ground, TAL_ERR_BAD_INDEX, "no body 0 to split"},
    {cut_nothing, TAL_ERR_BAD_VALUE, "body 'ghost' has no mass"},
    {cut_without_def, TAL_ERR_NULL, "has no def"},
    {null_orientation, TAL_ERR_NULL, "an argument of a constant orientation is NULL"},
    {null_plane, TAL_ERR_NULL, "an argument of a point on plane contact is NULL"},
    {null_sphere_plane, TAL_ERR_NULL, "an argument of a rolling sphere on plane is NULL"},
    {null_disk_plane, TAL_ERR_NULL, "an argument of a rolling disk on plane is NULL"},
    {null_edge, TAL_ERR_NULL, "an argument of a rolling line on line is NULL"},
    {null_loop, TAL_ERR_NULL, "an argument of a loop screw is NULL"},
    {null_frame, TAL_ERR_NULL, "an argument of a weld is NULL"},
};

enum {
    NUM_BADS = sizeof bads / sizeof bads[0]
};

START_TEST(bad_input_is_refused_by_name)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.5);
    def.name = "base";
    (void)tal_matter_add_ball(model.matter, TAL_GROUND, &def);
    def.name = "free";
    (void)tal_matter_add_free(model.matter, body(1), &def);
    tal_constraint_def between = tal_constraint_between(body(1), body(2));
    between.name = "culprit";
    bads[_i].add(model.matter, &between);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(model.system, &err), bads[_i].status);
    ck_assert_msg(strstr(err.message, bads[_i].part) != NULL, "'%s' lacks '%s'", err.message,
                  bads[_i].part);
    test_model_end(&model);
}

START_TEST(without_matter_nothing_is_added_and_functions_are_freed)
{
    test_record_breaches();
    const tal_constraint_def def = tal_constraint_on(body(1), 0);
    const tal_xform X = TAL_XFORM_IDENTITY;
    test_assert_breach(ck_assert_int_lt(tal_constraint_add_ball(NULL, &def, S1, S2).i, 0),
                       TAL_ERR_NULL, "matter");
    test_assert_breach(ck_assert_int_lt(tal_constraint_add_weld(NULL, &def, &X, NULL).i, 0),
                       TAL_ERR_NULL, "matter");
    test_assert_breach(
        ck_assert_int_lt(tal_constraint_add_prescribed_motion(NULL, &def, linear(1)).i, 0),
        TAL_ERR_NULL, "matter");
    test_assert_breach(
        ck_assert_int_lt(tal_constraint_add_constant_coordinate(NULL, &def, 1.0).i, 0),
        TAL_ERR_NULL, "matter");
}

START_TEST(a_missing_definition_is_refused_and_functions_are_freed)
{
    test_model model;
    test_model_begin(&model);
    (void)tal_constraint_add_prescribed_motion(model.matter, NULL, linear(1));
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(model.system, &err), TAL_ERR_NULL);
    ck_assert(strstr(err.message, "def is NULL") != NULL);
    test_model_end(&model);
}

static void add_a_ball(tal_matter *matter, const tal_constraint_def *def)
{
    (void)tal_constraint_add_ball(matter, def, S1, S2);
}

START_TEST(only_loop_joints_have_coordinates)
{
    test_record_breaches();
    test_model model;
    build(&model, add_a_ball);
    const tal_constraint_ix ball = {0}, none = {3};
    double q[3];
    ck_assert_int_eq(tal_constraint_num_coordinates(model.matter, ball), 0);
    test_assert_breach(ck_assert_int_eq(tal_constraint_num_coordinates(model.matter, none), -1),
                       TAL_ERR_BAD_INDEX, "constraint 3");
    test_assert_breach(
        (void)tal_constraint_calc_coordinates(model.matter, model.state, none, q, NULL),
        TAL_ERR_BAD_INDEX, "constraint 3");
    test_assert_breach(
        (void)tal_constraint_calc_coordinates(model.matter, model.state, ball, q, NULL),
        TAL_ERR_BAD_INDEX, "has no coordinates");
    test_assert_breach(
        (void)tal_constraint_calc_coordinates(model.matter, model.state, ball, NULL, NULL),
        TAL_ERR_NULL, "q is NULL");
    test_model_end(&model);
}

// --- singular configurations ---

typedef tal_constraint_ix (*singular_fn)(tal_matter *matter, const tal_constraint_def *def);

static tal_constraint_ix rod_of_no_length(tal_matter *matter, const tal_constraint_def *def)
{
    return tal_constraint_add_rod(matter, def, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
}

static tal_constraint_ix concentric(tal_matter *matter, const tal_constraint_def *def)
{
    return tal_constraint_add_sphere_on_sphere_contact(matter, def, TAL_VEC3_ZERO, 1.0,
                                                       TAL_VEC3_ZERO, 1.0, true);
}

static tal_constraint_ix parallel(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_xform X = TAL_XFORM_IDENTITY, above = tal_xf_from_p(tal_v3(0.3, 0.2, 0.5));
    return tal_constraint_add_line_on_line_contact(matter, def, &X, &above, true);
}

// Mx along Fz: there is no angle about Fz.
static tal_constraint_ix fallen_screw(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_xform X = TAL_XFORM_IDENTITY;
    const tal_xform lying = {{{0.0, 0.0, 1.0}, {0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}}, {0.0, 0.0, 0.0}};
    return tal_constraint_add_loop_screw(matter, def, &X, &lying, 0.5);
}

static tal_constraint_ix aligned(tal_matter *matter, const tal_constraint_def *def)
{
    const tal_vec3 z = tal_v3(0.0, 0.0, 1.0);
    return tal_constraint_add_constant_angle(matter, def, z, z, 0.5);
}

static const singular_fn singulars[] = {rod_of_no_length, concentric, parallel, fallen_screw,
                                        aligned};

enum {
    NUM_SINGULARS = sizeof singulars / sizeof singulars[0]
};

START_TEST(singular_configurations_give_finite_answers_or_a_sentence)
{
    test_model model;
    test_model_begin(&model);
    model.gravity = tal_v3(1.0, 2.0, 3.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.5);
    (void)tal_matter_add_free(model.matter, TAL_GROUND, &def);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body(1));
    const tal_constraint_ix added = singulars[_i](model.matter, &between);
    ck_assert_int_eq(added.i, 0);
    test_model_freeze(&model);
    for (int moving = 0; moving < 2; ++moving) {
        for (int j = 0; j < 6; ++j) {
            tal_state_upd_u(model.state)[j] = moving * (0.3 + j);
        }
        // what moves away from a singularity may not be possible to keep: that is told, by name
        const tal_status st = tal_system_realize(model.system, model.state, TAL_STAGE_ACCELERATION);
        if (moving && st != TAL_OK) {
            ck_assert(strstr(tal_state_error(model.state)->message, "constraint0") != NULL);
            break;
        }
        ck_assert_msg(st == TAL_OK, "%s", tal_state_error(model.state)->message);
        const int rows = tal_state_pool_size(model.state, TAL_POOL_UDOTERR);
        const int nv = tal_state_pool_size(model.state, TAL_POOL_UERR);
        ck_assert_double_lt(test_largest(tal_state_udot(model.state), 6), 1e3);
        ck_assert_double_lt(test_largest(tal_state_multipliers(model.state), rows), 1e3);
        ck_assert_double_lt(test_largest(tal_state_uerr(model.state), nv), 1e2);
        double q[3] = {0.0}, qdot[3] = {0.0};
        if (singulars[_i] == fallen_screw) {
            ck_assert_int_eq(
                tal_constraint_calc_coordinates(model.matter, model.state, added, q, qdot), TAL_OK);
            ck_assert(isfinite(q[0]) && isfinite(qdot[0]));
        }
    }
    test_model_end(&model);
}

// --- memory ---

static tal_status build_and_test(const tal_system_def *def)
{
    tal_system *system = tal_system_create(def);
    if (system == NULL) return TAL_ERR_NO_MEMORY;
    tal_matter *matter = tal_matter_create(system);
    tal_status st = TAL_ERR_NO_MEMORY;
    tal_state *state = NULL;
    tal_mobod_def slider = tal_mobod_def_default();
    slider.mass = tal_mass_props_sphere(1.0, 0.5);
    if (matter != NULL) {
        const tal_body_ix b = tal_matter_add_slider(matter, TAL_GROUND, &slider);
        const tal_constraint_def def1 = tal_constraint_on(b, 0);
        const tal_constraint_def def2 = tal_constraint_between(TAL_GROUND, b);
        (void)tal_constraint_add_prescribed_motion(matter, &def1, linear(1));
        const tal_constraint_ix rod = tal_constraint_add_rod(matter, &def2, S1, S2, 1.0);
        st = tal_system_realize_topology(system, NULL);
        if (st == TAL_OK) st = tal_state_create(system, &state, NULL);
        tal_constraint_report report;
        if (st == TAL_OK) st = tal_constraint_test(matter, state, rod, &report, NULL);
    }
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st;
}

START_TEST(running_out_of_memory_at_any_call_is_reported_and_leaks_nothing)
{
    test_record_breaches();
    tal_status st = TAL_ERR_NO_MEMORY;
    for (int n = 1; st != TAL_OK; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_system_def def = tal_system_def_default();
        def.allocator = test_heap_allocator(&heap);
        st = build_and_test(&def);
        ck_assert_int_eq(heap.live, 0);
        ck_assert(st == TAL_ERR_NO_MEMORY || (st == TAL_OK && heap.calls < n));
        ck_assert_int_lt(n, 200);
    }
}

int main(void)
{
    Suite *suite = suite_create("matter/constraint_errors");
    TCase *definitions = tcase_create("definitions");
    tcase_add_test(definitions, position_errors_are_as_defined);
    tcase_add_test(definitions, velocity_errors_are_slips);
    tcase_add_test(definitions, parameters_change_in_the_state);
    suite_add_tcase(suite, definitions);
    TCase *errors = tcase_create("errors");
    tcase_add_loop_test(errors, bad_input_is_refused_by_name, 0, NUM_BADS);
    tcase_add_test(errors, without_matter_nothing_is_added_and_functions_are_freed);
    tcase_add_test(errors, a_missing_definition_is_refused_and_functions_are_freed);
    tcase_add_test(errors, only_loop_joints_have_coordinates);
    suite_add_tcase(suite, errors);
    TCase *singular = tcase_create("singular");
    tcase_add_loop_test(singular, singular_configurations_give_finite_answers_or_a_sentence, 0,
                        NUM_SINGULARS);
    suite_add_tcase(suite, singular);
    TCase *memory = tcase_create("memory");
    tcase_add_test(memory, running_out_of_memory_at_any_call_is_reported_and_leaks_nothing);
    suite_add_tcase(suite, memory);
    return test_run(suite);
}
