// io/src/opensim/: functions, constraints and forces of models.
#include "opensim/osim_support.h"

// --- functions ---

// The value that a coordinate follows at a time.
static double prescribed(const char *function, double t)
{
    char text[2000];
    (void)snprintf(
        text, sizeof text,
        DOC("40000", BODIES(BODY("b", "")) JOINTS("<PinJoint name='p'>" SOCKETS(
                         "/ground",
                         "/bodyset/b") "<coordinates><Coordinate name='q'><prescribed>true"
                                       "</prescribed><prescribed_function>%s</prescribed_function>"
                                       "</Coordinate></coordinates></PinJoint>")),
        function);
    tal_model model = read_text(text);
    ck_assert_int_eq(tal_state_set_t(model.state, t), TAL_OK);
    ck_assert_int_eq(tal_system_prescribe_and_project(model.system, model.state, NULL, NULL),
                     TAL_OK);
    const double q = tal_body_q(model.matter, model.state, (tal_body_ix){1}, 0);
    tal_model_destroy(&model);
    return q;
}

START_TEST(functions_have_their_values)
{
    const double tol = 1e-15; // values below one, a few operations each
    ck_assert_double_eq_tol(prescribed("<Constant><value>0.3</value></Constant>", 2.0), 0.3, tol);
    ck_assert_double_eq_tol(
        prescribed("<LinearFunction><coefficients>2 0.1</coefficients></LinearFunction>", 0.2), 0.5,
        tol);
    ck_assert_double_eq_tol(
        prescribed("<PolynomialFunction><coefficients>1 2 3</coefficients></PolynomialFunction>",
                   0.1),
        3.21, 4.0 * tol);
    ck_assert_double_eq_tol(prescribed("<Sine><amplitude>2</amplitude><omega>3</omega><phase>0.1"
                                       "</phase><offset>-1</offset></Sine>",
                                       0.2),
                            2.0 * sin(0.7) - 1.0, 2.0 * tol);
    // half way up
    ck_assert_double_eq_tol(
        prescribed("<StepFunction><start_time>0</start_time><end_time>1</end_time><start_value>-1"
                   "</start_value><end_value>2</end_value></StepFunction>",
                   0.5),
        0.5, tol);
    ck_assert_double_eq_tol(
        prescribed(
            "<PiecewiseLinearFunction><x>0 1 3</x><y>0, 2, (1)</y></PiecewiseLinearFunction>", 2.0),
        1.5, tol);
    // each value holds up to the next point, and the last one from there on
    static const char steps[] =
        "<PiecewiseConstantFunction><x>0 1 3</x><y>0.1 0.2 0.3</y></PiecewiseConstantFunction>";
    ck_assert_double_eq(prescribed(steps, 0.5), 0.1);
    ck_assert_double_eq(prescribed(steps, 2.0), 0.2);
    ck_assert_double_eq(prescribed(steps, 3.5), 0.3);
    ck_assert_double_eq(prescribed(steps, 9.0), 0.3);
    // of one argument: 1 + 2 t + 3 t^2
    ck_assert_double_eq_tol(
        prescribed("<MultivariatePolynomialFunction><coefficients>1 2 3</coefficients><dimension>1"
                   "</dimension><order>2</order></MultivariatePolynomialFunction>",
                   0.1),
        1.23, 4.0 * tol);
    // both splines reproduce what they are made for: a cubic between its ends, a parabola
    ck_assert_double_eq_tol(
        prescribed("<SimmSpline><x>-1 0 1 2 3</x><y>-1 0 1 8 27</y></SimmSpline>", 0.5), 0.125,
        50.0 * tol);
    ck_assert_double_eq_tol(prescribed("<GCVSpline><half_order>3</half_order><x>-1 0 1 2 3 4</x>"
                                       "<y>1 0 1 4 9 16</y></GCVSpline>",
                                       0.5),
                            0.25, 50.0 * tol);
    ck_assert_double_eq_tol(
        prescribed("<MultiplierFunction><function><MultiplierFunction><function><Constant><value>5"
                   "</value></Constant></function><scale>0.5</scale></MultiplierFunction>"
                   "</function><scale>0.1</scale></MultiplierFunction>",
                   0.0),
        0.25, tol);
}

END_TEST

// --- constraints and forces ---

START_TEST(constraints_become_ours)
{
    tal_model model = read_text(
        DOC("40000",
            BODIES(BODY("b", "") BODY("c", "")) CONSTRAINTS(
                "<WeldConstraint name='w'><socket_frame1>/bodyset/b</socket_frame1><socket_frame2>"
                "/bodyset/c</socket_frame2></WeldConstraint>"
                "<PointConstraint name='p'><isEnforced>false</isEnforced><socket_body_1>/ground"
                "</socket_body_1><socket_body_2>/bodyset/c</socket_body_2><location_body_1>1 2 3"
                "</location_body_1></PointConstraint>"
                "<PointOnLineConstraint name='l'><isEnforced>false</isEnforced><socket_line_body>"
                "/ground</socket_line_body><socket_follower_body>/bodyset/b</socket_follower_body>"
                "<line_direction_vec>0 1 0</line_direction_vec></PointOnLineConstraint>"
                "<ConstantDistanceConstraint><isEnforced>false</isEnforced><socket_body_1>/ground"
                "</socket_body_1><socket_body_2>/bodyset/c</socket_body_2><constant_distance>2"
                "</constant_distance></ConstantDistanceConstraint>"
                "<RollingOnSurfaceConstraint name='r'><isEnforced>false</isEnforced>"
                "<rolling_body>b</rolling_body><surface_body>ground</surface_body>"
                "</RollingOnSurfaceConstraint>")));
    realize(&model, TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_matter_num_constraints(model.matter), 4 + 4);    // rolling is four
    ck_assert_int_eq(tal_state_pool_size(model.state, TAL_POOL_QERR), 6); // the weld alone
    static const char *const names[] = {"w", "p", "l"};
    for (int i = 0; i < 3; ++i) {
        const tal_constraint_ix ix = tal_matter_find_constraint(model.matter, names[i]);
        ck_assert_int_eq(ix.i, i);
        ck_assert(tal_constraint_is_enabled(model.matter, model.state, ix) == (i == 0));
    }
    tal_model_destroy(&model);
}

END_TEST

// A ball that is enforced to roll: it stays at its height, does not slip where Ground's origin is,
// and does not spin. Its other two turns are free.
START_TEST(rolling_leaves_two_turns)
{
    tal_model model =
        read_text(DOC("40000", BODIES(BODY("b", "")) CONSTRAINTS(
                                   "<RollingOnSurfaceConstraint name='r'><rolling_body>b"
                                   "</rolling_body><surface_body>ground</surface_body>"
                                   "<surface_height>0.5</surface_height>"
                                   "</RollingOnSurfaceConstraint>")));
    realize(&model, TAL_STAGE_INSTANCE);
    const double q[] = {1.0, 0.0, 0.0, 0.0, 0.2, 0.7, 0.0}; // 0.2 above its height
    ck_assert_int_eq(tal_state_nq(model.state), 6);
    ck_assert_int_eq(tal_state_set_q(model.state, q + 1, 6), TAL_OK);
    realize(&model, TAL_STAGE_POSITION);
    const double *qerr = tal_state_qerr(model.state);
    ck_assert_double_eq_tol(qerr[0], 0.2, 1e-15);
    ck_assert_double_eq_tol(qerr[1], 0.0, 1e-15); // z across x
    // turning about x and z, with the velocity that leaves Ground's origin at rest
    const tal_vec3 w = {0.3, 0.0, -0.4}, p = {0.2, 0.7, 0.0};
    const tal_vec3 v = tal_v3_cross(w, p);
    const double u[] = {w.x, w.y, w.z, v.x, 0.0, v.z};
    ck_assert_int_eq(tal_state_set_u(model.state, u, 6), TAL_OK);
    realize(&model, TAL_STAGE_VELOCITY);
    for (int i = 0; i < 4; ++i) {
        ck_assert_double_eq_tol(tal_state_uerr(model.state)[i], 0.0, 1e-15);
    }
    const double spin[] = {0.0, 0.5, 0.0, 0.3, 0.1, -0.2};
    ck_assert_int_eq(tal_state_set_u(model.state, spin, 6), TAL_OK);
    realize(&model, TAL_STAGE_VELOCITY);
    // by height, spin, and slip of the roller's point at the origin: v - w x p
    const double *uerr = tal_state_uerr(model.state);
    ck_assert_double_eq_tol(uerr[0], 0.1, 1e-15);
    ck_assert_double_eq_tol(fabs(uerr[1]), 0.5, 1e-15);
    ck_assert_double_eq_tol(uerr[2], 0.3, 1e-15);
    ck_assert_double_eq_tol(uerr[3], -0.2 + 0.5 * 0.2, 1e-15);
    tal_model_destroy(&model);
}

END_TEST

// A length of two coordinates, and what a tension of 2 * 10 N does along them: -dl/dq.
START_TEST(a_path_can_be_a_function_of_coordinates)
{
    tal_model model = read_leg(CORPUS "rare_40000.osim");
    const tal_force_ix string = tal_forces_find(model.forces, "string");
    int i;
    const tal_body_ix thorax = tal_matter_find_coordinate(model.matter, model.state, "lean", &i);
    const tal_body_ix arm = tal_matter_find_coordinate(model.matter, model.state, "raise", &i);
    const double x = 0.3, y = -0.4;
    (void)tal_body_set_q(model.matter, model.state, thorax, 0, x);
    (void)tal_body_set_q(model.matter, model.state, arm, 0, y);
    ck_assert_int_eq(tal_actuator_set_control(model.forces, model.state, string, 2.0), TAL_OK);
    realize(&model, TAL_STAGE_VELOCITY);
    double l[1], f[32] = {0.0};
    tal_spatial_vec F[16] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
    ck_assert_int_eq(tal_forces_calc_path_lengths(model.forces, model.state, l), TAL_OK);
    // constant, y, y^2, x, x y, x^2
    const double length = 0.3 - 0.02 * y + 0.01 * y * y + 0.03 * x + 0.005 * x * y - 0.004 * x * x;
    ck_assert_double_eq_tol(l[0], length, 1e-16);
    ck_assert_int_eq(tal_force_apply(model.forces, model.state, string, F, f), TAL_OK);
    ck_assert_double_eq_tol(f[tal_body_u_start(model.matter, thorax)],
                            -20.0 * (0.03 + 0.005 * y - 0.008 * x), 1e-14);
    ck_assert_double_eq_tol(f[tal_body_u_start(model.matter, arm)],
                            -20.0 * (-0.02 + 0.02 * y + 0.005 * x), 1e-14);
    tal_model_destroy(&model);
}

END_TEST

// The forces of one element on one body, at the default pose and the given control.
static tal_spatial_vec force_on(const char *force, const char *name, int control)
{
    char text[3000];
    (void)snprintf(
        text, sizeof text,
        DOC("40000", BODIES(BODY("b", "") BODY("c", "")) JOINTS("<FreeJoint name='p'>" SOCKETS(
                         "/ground",
                         "/bodyset/b") "<coordinates><Coordinate name='rx'/><Coordinate name='ry'/>"
                                       "<Coordinate name='rz'><default_value>1.5707963267948966"
                                       "</default_value></Coordinate></coordinates></FreeJoint>"
                                       "<WeldJoint name='w'>" SOCKETS(
                                           "/ground", "/bodyset/c") "</WeldJoint>") FORCES("%s")),
        force);
    tal_model model = read_text(text);
    const tal_force_ix ix = tal_forces_find(model.forces, name);
    ck_assert_int_ge(ix.i, 0);
    const double x = 2.0;
    if (control >= 0) {
        ck_assert_int_eq(tal_force_set_params(model.forces, model.state, ix, control, &x, 1), 0);
    }
    realize(&model, TAL_STAGE_VELOCITY);
    tal_spatial_vec F[3];
    double f[6];
    ck_assert_int_eq(tal_forces_calc_sum(model.forces, model.state, &ix, 1, F, f), TAL_OK);
    const int b = tal_matter_find_body(model.matter, "b").i;
    tal_model_destroy(&model);
    return F[b];
}

START_TEST(actuators_act_where_the_file_says)
{
    // twice 5 N along x of the body, which points along y of Ground
    tal_spatial_vec F = force_on("<PointActuator name='a'><body>b</body><point>0 0 0</point>"
                                 "<direction>3 0 0</direction><optimal_force>5</optimal_force>"
                                 "</PointActuator>",
                                 "a", TAL_POINT_ACTUATOR_CONTROL);
    const double along_y[] = {0.0, 10.0, 0.0}, about_y[] = {0.0, 14.0, 0.0};
    test_assert_near(&F.v.x, along_y, 3, 1e-14, "force");
    F = force_on("<TorqueActuator name='a'><bodyA>b</bodyA><axis>0 1 0</axis><optimal_force>7"
                 "</optimal_force></TorqueActuator>",
                 "a", TAL_TORQUE_ACTUATOR_CONTROL);
    test_assert_near(&F.w.x, about_y, 3, 1e-14, "torque in ground");
    F = force_on("<TorqueActuator name='a'><bodyA>b</bodyA><bodyB>c</bodyB><axis>1 0 0</axis>"
                 "<torque_is_global>false</torque_is_global><optimal_force>7</optimal_force>"
                 "</TorqueActuator>",
                 "a", TAL_TORQUE_ACTUATOR_CONTROL);
    test_assert_near(&F.w.x, about_y, 3, 1e-14, "torque in the body");
    // between two bodies, about y of Ground: about -x of the body
    F = force_on("<TorqueActuator name='a'><bodyA>c</bodyA><bodyB>b</bodyB><axis>0 1 0</axis>"
                 "<torque_is_global>true</torque_is_global><optimal_force>-7</optimal_force>"
                 "</TorqueActuator>",
                 "a", TAL_TORQUE_ACTUATOR_CONTROL);
    test_assert_near(&F.w.x, about_y, 3, 1e-14, "torque in ground on the second body");
    // 10 N along y at (1, 2, 3) of Ground: a moment (-30, 0, 10)
    F = force_on("<PointActuator name='a'><body>b</body><point>1 2 3</point>"
                 "<point_is_global>true</point_is_global><direction>0 1 0</direction>"
                 "<force_is_global>true</force_is_global><optimal_force>5</optimal_force>"
                 "</PointActuator>",
                 "a", TAL_POINT_ACTUATOR_CONTROL);
    const double moment[] = {-30.0, 0.0, 10.0};
    test_assert_near(&F.v.x, along_y, 3, 1e-14, "force in ground");
    test_assert_near(&F.w.x, moment, 3, 1e-14, "point in ground");
    // the second control of the force is that along y; in the body, that along x is
    F = force_on("<BodyActuator name='a'><socket_body>/bodyset/b</socket_body></BodyActuator>", "a",
                 TAL_BODY_ACTUATOR_CONTROL + 4);
    const double two_along_y[] = {0.0, 2.0, 0.0};
    test_assert_near(&F.v.x, two_along_y, 3, 1e-14, "force on a body");
    F = force_on("<BodyActuator name='a'><socket_body>/bodyset/b</socket_body>"
                 "<spatial_force_is_global>false</spatial_force_is_global></BodyActuator>",
                 "a", TAL_BODY_ACTUATOR_CONTROL + 3);
    test_assert_near(&F.v.x, two_along_y, 3, 1e-14, "force on a body, in it");
}

END_TEST

#define CONSTANT(value) "<Constant><value>" value "</value></Constant>"
#define FUNCTIONS(name, x, y, z)                                                                   \
    "<FunctionSet name='" name "'><objects>" CONSTANT(x) CONSTANT(y) CONSTANT(z) "</objects>"      \
                                                                                 "</FunctionSet>"

// The body is turned by 90 degrees about z: its x is y of Ground.
START_TEST(prescribed_forces_act_where_the_file_says)
{
    const double along_y[] = {0.0, 5.0, 0.0}, about_z[] = {0.0, 0.0, -10.0};
    tal_spatial_vec F =
        force_on("<PrescribedForce name='a'><socket_frame>/bodyset/b</socket_frame>"
                 "<forceIsGlobal>false</forceIsGlobal>" FUNCTIONS("forceFunctions", "5", "0", "0")
                     FUNCTIONS("pointFunctions", "0", "2", "0") "</PrescribedForce>",
                 "a", -1);
    // at (-2, 0, 0) of Ground
    test_assert_near(&F.v.x, along_y, 3, 1e-14, "force in the body");
    test_assert_near(&F.w.x, about_z, 3, 1e-14, "point in the body");
    F = force_on(
        "<PrescribedForce name='a'><body>b</body><pointIsGlobal>true</pointIsGlobal>"
        "<forceFunctions>" FUNCTIONS(
            "", "0", "5", "0") "</forceFunctions>"
                               "<pointFunctions>" FUNCTIONS(
                                   "", "-3", "0", "0") "</pointFunctions>"
                                                       "<torqueFunctions>" FUNCTIONS(
                                                           "", "0", "0", "5") "</torqueFunctions>"
                                                                              "</PrescribedForce>",
        "a", -1);
    test_assert_near(&F.v.x, along_y, 3, 1e-14, "force in ground");
    test_assert_near(&F.w.x, about_z, 3, 1e-14, "point in ground, and a torque");
}

END_TEST

// 10 degrees beyond the limit and 5 beyond the transition: 10 times 2 N m per degree. A slider has
// meters: 0.3 m beyond it, 4 N/m.
START_TEST(limits_of_angles_are_in_degrees)
{
    static const struct {
        const char *joint, *value, *limit;
        double force;
    } cases[] = {{"PinJoint", "1.7453292519943295",
                  "<upper_limit>90</upper_limit><lower_limit>-90</lower_limit>"
                  "<upper_stiffness>2</upper_stiffness><transition>5</transition>",
                  -20.0},
                 {"SliderJoint", "-1.3",
                  "<upper_limit>1</upper_limit><lower_limit>-1</lower_limit>"
                  "<lower_stiffness>4</lower_stiffness><transition>0.1</transition>",
                  1.2}};

    for (int k = 0; k < 2; ++k) {
        char text[3000];
        (void)snprintf(
            text, sizeof text,
            DOC("40000",
                BODIES(BODY("b", "")) JOINTS("<%s name='p'>" SOCKETS(
                    "/ground", "/bodyset/b") "<coordinates><Coordinate name='q'><default_value>%s"
                                             "</default_value></Coordinate></coordinates></%s>")
                    FORCES("<CoordinateLimitForce name='l'><coordinate>q</coordinate>%s"
                           "</CoordinateLimitForce>")),
            cases[k].joint, cases[k].value, cases[k].joint, cases[k].limit);
        tal_model model = read_text(text);
        const tal_force_ix ix = tal_forces_find(model.forces, "l");
        realize(&model, TAL_STAGE_VELOCITY);
        tal_spatial_vec F[2];
        double f[1];
        ck_assert_int_eq(tal_forces_calc_sum(model.forces, model.state, &ix, 1, F, f), TAL_OK);
        ck_assert_double_eq_tol(f[0], cases[k].force, 1e-12);
        tal_model_destroy(&model);
    }
}

END_TEST

// Every number of a smooth contact arrives in its place.
START_TEST(a_smooth_contact_has_the_numbers_of_the_file)
{
    tal_model model = read_text(DOC(
        "40000",
        BODIES(BODY("b", "")) JOINTS("<FreeJoint name='p'>" SOCKETS(
            "/ground",
            "/bodyset/b") "</FreeJoint>") "<ContactGeometrySet><objects>"
                                          "<ContactHalfSpace name='floor'><socket_frame>"
                                          "/ground</socket_frame></ContactHalfSpace>"
                                          "<ContactSphere name='heel'><socket_frame>"
                                          "/bodyset/b</socket_frame><location>1 2 3"
                                          "</location><radius>0.25</radius>"
                                          "</ContactSphere></objects>"
                                          "</ContactGeometrySet>" FORCES(
                                              "<SmoothSphereHalfSpaceForce name='s'><socket_sphere>/contactgeometryset/heel"
                                              "</socket_sphere><socket_half_space>/contactgeometryset/floor"
                                              "</socket_half_space><stiffness>4</stiffness><dissipation>5</dissipation>"
                                              "<static_friction>0.8</static_friction><dynamic_friction>0.7"
                                              "</dynamic_friction><viscous_friction>0.6</viscous_friction>"
                                              "<transition_velocity>0.5</transition_velocity><constant_contact_force>0.4"
                                              "</constant_contact_force><hertz_smoothing>30</hertz_smoothing>"
                                              "<hunt_crossley_smoothing>20</hunt_crossley_smoothing>"
                                              "</SmoothSphereHalfSpaceForce>")));
    const tal_force_ix s = tal_forces_find(model.forces, "s");
    ck_assert_int_ge(s.i, 0);
    const double center[] = {1.0, 2.0, 3.0};
    const double numbers[] = {0.25, 4.0, 5.0, 0.8, 0.7, 0.6, 0.5, 0.4, 30.0, 20.0};
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq(tal_force_param(model.forces, model.state, s, TAL_SMOOTH_CENTER + i),
                            center[i]);
    }
    for (int i = 0; i < 10; ++i) {
        ck_assert_double_eq(tal_force_param(model.forces, model.state, s, TAL_SMOOTH_RADIUS + i),
                            numbers[i]);
    }
    tal_model_destroy(&model);
}

END_TEST

START_TEST(a_force_that_the_file_switches_off_is_off)
{
    for (int k = 0; k < 2; ++k) {
        char text[2000];
        (void)snprintf(
            text, sizeof text,
            DOC("40000",
                BODIES(BODY("b", "")) JOINTS("<PinJoint name='p'>" SOCKETS(
                    "/ground", "/bodyset/b") "<coordinates><Coordinate name='q'/></coordinates>"
                                             "</PinJoint>")
                    FORCES("<SpringGeneralizedForce name='s'>%s<coordinate>q"
                           "</coordinate><stiffness>3</stiffness><viscosity>1"
                           "</viscosity></SpringGeneralizedForce>")),
            k == 0 ? "<appliesForce>false</appliesForce>" : "<isDisabled>true</isDisabled>");
        tal_model model = read_text(text);
        realize(&model, TAL_STAGE_INSTANCE);
        static const char *const names[] = {"s", "s_viscosity"};
        for (int i = 0; i < 2; ++i) {
            const tal_force_ix ix = tal_forces_find(model.forces, names[i]);
            ck_assert_int_ge(ix.i, 0);
            ck_assert(!tal_force_is_enabled(model.forces, model.state, ix));
        }
        tal_model_destroy(&model);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/osim_forces");
    TCase *tc = tcase_create("osim_forces");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, functions_have_their_values);
    tcase_add_test(tc, constraints_become_ours);
    tcase_add_test(tc, rolling_leaves_two_turns);
    tcase_add_test(tc, a_path_can_be_a_function_of_coordinates);
    tcase_add_test(tc, actuators_act_where_the_file_says);
    tcase_add_test(tc, prescribed_forces_act_where_the_file_says);
    tcase_add_test(tc, limits_of_angles_are_in_degrees);
    tcase_add_test(tc, a_smooth_contact_has_the_numbers_of_the_file);
    tcase_add_test(tc, a_force_that_the_file_switches_off_is_off);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
