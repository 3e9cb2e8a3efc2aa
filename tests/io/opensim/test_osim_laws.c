// io/src/opensim/: forces by expressions and functions, ligaments with a toe, delayed and pneumatic
// actuators. Each has a known answer at one pose, passes the public tester, and is written again.
#include "opensim/osim_support.h"
#include "opensim/round_trip.h"

#include <talus/forces/derivative.h>

#define VALUE(name, value, speed)                                                                  \
    "<Coordinate name='" name "'><default_value>" value                                            \
    "</default_value><default_speed_value>" speed "</default_speed_value></Coordinate>"
#define SIX                                                                                        \
    VALUE("r1", "0", "0")                                                                          \
    VALUE("r2", "0", "0")                                                                          \
    VALUE("r3", "0", "0") VALUE("x", "3", "0.6") VALUE("y", "4", "0.8") VALUE("z", "0", "0")
#define PIN  "<PinJoint name='j'>" SOCKETS("/ground", "/bodyset/a") "<coordinates>"
#define FREE "<FreeJoint name='k'>" SOCKETS("/ground", "/bodyset/b") "<coordinates>"
#define BOTH                                                                                       \
    PIN VALUE("h", "0.4", "0.3") "</coordinates></PinJoint>" FREE SIX "</coordinates></FreeJoint>"
// a turns about z, by 0.4 with 0.3 rad/s; b is free, at (3, 4, 0), and leaves with 1 m/s
#define MODEL(forces) DOC("40000", BODIES(BODY("a", "") BODY("b", "")) JOINTS(BOTH) FORCES(forces))
#define ON_B                                                                                       \
    "<socket_frame1>/ground</socket_frame1><socket_frame2>/bodyset/b</socket_frame2>"              \
    "<rotational_damping>0 0 0.2</rotational_damping><translational_damping>0.1 0.1 0.1"           \
    "</translational_damping>"
#define TO_B                                                                                       \
    "<GeometryPath name='path'><PathPointSet><objects><PathPoint name='p'><socket_parent_frame>"   \
    "/ground</socket_parent_frame><location>0 0 0</location></PathPoint><PathPoint name='q'>"      \
    "<socket_parent_frame>/bodyset/b</socket_parent_frame><location>0 0 0</location></PathPoint>"  \
    "</objects></PathPointSet></GeometryPath>"

// A model with one force, at Velocity.
typedef struct subject {
    tal_model model;
    tal_force_ix force;
    double g[7]; // along the pin, then moment and force on b
} subject;

static subject begin(const char *text)
{
    subject s = {.model = read_text(text)};
    s.force = tal_forces_find(s.model.forces, "f");
    ck_assert_int_ge(s.force.i, 0);
    realize(&s.model, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_forces_calc_generalized(s.model.forces, s.model.state, &s.force, 1, s.g),
                     TAL_OK);
    return s;
}

// Written and read again it moves as before: numbers are kept, so round-off of sums is all.
static void end(subject *s)
{
    tal_model again;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    char said[2000];
    const tal_status st = round_trip(&s->model, &again, found);
    say_all(found, said, sizeof said);
    ck_assert_msg(st == TAL_OK, "%s", said);
    ck_assert_double_le(round_trip_difference(&s->model, &again, 20), 1e-12);
    tal_model_destroy(&again);
    tal_model_destroy(&s->model);
    tal_diagnostics_destroy(found);
}

static tal_force_report ask_tester(const subject *s)
{
    tal_force_report report;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_force_test(s->model.forces, s->model.state, s->force, &report, &err) ==
                      TAL_OK,
                  "%s", err.message);
    return report;
}

// Its changes are right, and power, energy and dissipation add up. The tester says that 1e-10 is
// right for forces of size one; these are up to 60.
static void assert_consistent(const subject *s, double tol)
{
    const tal_force_report report = ask_tester(s);
    ck_assert_msg(report.worst <= tol, "adds %g change %g rates %g energy %g power %g", report.adds,
                  report.change, report.rates, report.energy, report.power);
}

static const double tol = 1e-14; // some ulps of numbers up to 60

START_TEST(a_coordinate_follows_an_expression)
{
    subject s = begin(MODEL("<ExpressionBasedCoordinateForce name='f'><coordinate>h</coordinate>"
                            "<expression>-k*q - 0.5*qdot^3; k = 2</expression>"
                            "</ExpressionBasedCoordinateForce>"));
    ck_assert_double_eq_tol(s.g[0], -2.0 * 0.4 - 0.5 * 0.027, tol);
    assert_consistent(&s, 1e-9);
    end(&s);
}

END_TEST

// d = 5 and ddot = 1: 2 (5 - 0.5) + 0.1 * 1 * 5 = 9.5 pull b towards Ground's origin.
START_TEST(two_points_attract_by_an_expression)
{
    subject s = begin(
        MODEL("<ExpressionBasedPointToPointForce name='f'><socket_body1>/ground</socket_body1>"
              "<socket_body2>/bodyset/b</socket_body2><point1>0 0 0</point1><point2>0 0 0</point2>"
              "<expression>2*(d - 0.5) + 0.1*ddot*d</expression>"
              "</ExpressionBasedPointToPointForce>"));
    ck_assert_double_eq_tol(s.g[4], -9.5 * 0.6, 10.0 * tol);
    ck_assert_double_eq_tol(s.g[5], -9.5 * 0.8, 10.0 * tol);
    assert_consistent(&s, 1e-9);
    end(&s);
}

END_TEST

// Each law is a function of its own deformation: it stores what its integral is.
START_TEST(a_bushing_of_expressions_stores_energy)
{
    subject s = begin(MODEL("<ExpressionBasedBushingForce name='f'>" ON_B
                            "<Mz_expression>3*sin(theta_z)</Mz_expression><Fx_expression>"
                            "0.5*delta_x^3</Fx_expression><Fy_expression>2*delta_y</Fy_expression>"
                            "</ExpressionBasedBushingForce>"));
    ck_assert_double_eq_tol(s.g[4], -(0.5 * 27.0 + 0.1 * 0.6), 10.0 * tol);
    ck_assert_double_eq_tol(s.g[5], -(2.0 * 4.0 + 0.1 * 0.8), 10.0 * tol);
    // x^4 / 8 and y^2, by Gauss's formula, which is exact for them
    ck_assert_double_eq_tol(tal_force_potential_energy(s.model.forces, s.model.state, s.force),
                            81.0 / 8.0 + 16.0, 10.0 * tol);
    assert_consistent(&s, 1e-8);
    end(&s);
}

END_TEST

START_TEST(a_bushing_of_expressions_of_all_deformations)
{
    subject s = begin(MODEL("<ExpressionBasedBushingForce name='f'>" ON_B
                            "<Mx_expression>delta_x*delta_y</Mx_expression><Fx_expression>"
                            "2*delta_x - delta_y; a = 1</Fx_expression>"
                            "</ExpressionBasedBushingForce>"));
    ck_assert_double_eq_tol(s.g[4], -(6.0 - 4.0 + 0.06), 10.0 * tol);
    // the moment is at b's origin, where g has it: 12 about x of the frame
    ck_assert_double_eq_tol(s.g[1], -12.0, 10.0 * tol);
    end(&s);
}

END_TEST

START_TEST(a_bushing_of_functions_stores_energy)
{
    subject s =
        begin(MODEL("<FunctionBasedBushingForce name='f'>" ON_B
                    "<f_x_delta_x_function><PolynomialFunction><coefficients>2 0 1</coefficients>"
                    "</PolynomialFunction></f_x_delta_x_function><LinearFunction name="
                    "'f_y_delta_y_function'><coefficients>3 0.5</coefficients></LinearFunction>"
                    "</FunctionBasedBushingForce>"));
    ck_assert_double_eq_tol(s.g[4], -(2.0 * 9.0 + 1.0 + 0.06), 10.0 * tol);
    ck_assert_double_eq_tol(s.g[5], -(3.0 * 4.0 + 0.5 + 0.08), 10.0 * tol);
    ck_assert_double_eq_tol(tal_force_potential_energy(s.model.forces, s.model.state, s.force),
                            (18.0 + 3.0) + (24.0 + 2.0), 10.0 * tol);
    assert_consistent(&s, 1e-8);
    end(&s);
}

END_TEST

// 5 m long, 4 m slack: a strain of 0.25, growing by 0.25 per second.
START_TEST(a_ligament_has_a_toe_and_damping)
{
    subject s = begin(
        MODEL("<Blankevoort1991Ligament name='f'>" TO_B "<linear_stiffness>100</linear_stiffness>"
              "<transition_strain>0.06</transition_strain><damping_coefficient>2"
              "</damping_coefficient><slack_length>4</slack_length></Blankevoort1991Ligament>"));
    const double line = 100.0 * (0.25 - 0.03) + 2.0 * 0.25;
    const tal_forces *forces = s.model.forces;
    ck_assert_double_eq_tol(tal_path_force_tension(forces, s.model.state, s.force), line, 10 * tol);
    ck_assert_double_eq_tol(s.g[4], -0.6 * line, 10.0 * tol);
    ck_assert_double_eq_tol(tal_force_potential_energy(forces, s.model.state, s.force),
                            400.0 * (0.5 * 0.25 * 0.19 + 0.0036 / 6.0), 10.0 * tol);
    ck_assert_double_eq_tol(tal_force_dissipated_power(forces, s.model.state, s.force), 0.5, tol);
    // damping begins with a kink at rest, where the tester asks for the energy
    tal_force_report report = ask_tester(&s);
    ck_assert_double_le(fmax(report.change, report.power), 1e-9);
    (void)tal_force_set_param(forces, s.model.state, s.force, TAL_BLANKEVOORT_DAMPING, 0.0);
    assert_consistent(&s, 1e-8);
    (void)tal_force_set_param(forces, s.model.state, s.force, TAL_BLANKEVOORT_DAMPING, 2.0);
    // in the toe, where damping has not grown to its full value: a strain of 0.005
    const double l0 = 5.0 / 1.005, share = 0.5;
    ck_assert_int_eq(
        tal_force_set_param(forces, s.model.state, s.force, TAL_BLANKEVOORT_SLACK_LENGTH, l0),
        TAL_OK);
    realize(&s.model, TAL_STAGE_VELOCITY);
    ck_assert_double_eq_tol(tal_path_force_tension(forces, s.model.state, s.force),
                            50.0 * 0.005 * 0.005 / 0.06 + 2.0 * share / l0, 1e-12);
    report = ask_tester(&s);
    ck_assert_double_le(report.power, 1e-9);
    // it does not push, and shortening is not damped
    (void)tal_force_set_param(forces, s.model.state, s.force, TAL_BLANKEVOORT_SLACK_LENGTH, 6.0);
    realize(&s.model, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(tal_path_force_tension(forces, s.model.state, s.force), 0.0);
    (void)tal_force_set_param(forces, s.model.state, s.force, TAL_BLANKEVOORT_SLACK_LENGTH, 4.0);
    const tal_body_ix b = tal_matter_find_body(s.model.matter, "b");
    (void)tal_body_set_u(s.model.matter, s.model.state, b, 3, -0.6);
    (void)tal_body_set_u(s.model.matter, s.model.state, b, 4, -0.8);
    realize(&s.model, TAL_STAGE_VELOCITY);
    ck_assert_double_eq_tol(tal_path_force_tension(forces, s.model.state, s.force), 22.0, 10 * tol);
    end(&s);
}

END_TEST

// da/dt = (x - a) / tau, from 0.2 under a control of 0.7: a = 0.7 - 0.5 exp(-t / 0.05).
START_TEST(an_activation_follows_its_control)
{
    subject s = begin(MODEL("<ActivationCoordinateActuator name='f'><coordinate>h</coordinate>"
                            "<optimal_force>3</optimal_force><activation_time_constant>0.05"
                            "</activation_time_constant><default_activation>0.2"
                            "</default_activation><min_control>-1</min_control><max_control>1"
                            "</max_control></ActivationCoordinateActuator>"));
    ck_assert_double_eq_tol(s.g[0], 0.6, tol);
    assert_consistent(&s, 1e-9);
    tal_model *m = &s.model;
    ck_assert_int_eq(tal_actuator_set_control(m->forces, m->state, s.force, 0.7), TAL_OK);
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-9;
    tal_integrator *integrator = NULL;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_integrator_create(m->system, &def, &integrator, &err) == TAL_OK, "%s",
                  err.message);
    ck_assert_int_eq(tal_integrator_step_to(integrator, m->state, 0.1), TAL_OK);
    ck_assert_double_eq_tol(tal_state_z(m->state)[0], 0.7 - 0.5 * exp(-0.1 / 0.05), 1e-7);
    tal_integrator_destroy(integrator);
    (void)tal_actuator_set_control(m->forces, m->state, s.force, 0.0); // a file cannot say it
    end(&s);
}

END_TEST

// A tube of 5 m less a cord of 1 m, 1.5 turns of a thread of 2 m: p (3 * 16 - 4) / (9 pi).
START_TEST(a_tube_pulls_by_its_pressure)
{
    subject s = begin(MODEL("<McKibbenActuator name='f'>" TO_B "<number_of_turns>1.5"
                            "</number_of_turns><thread_length>2</thread_length><cord_length>1"
                            "</cord_length></McKibbenActuator>"));
    const tal_model *m = &s.model;
    ck_assert_int_eq(tal_actuator_set_control(m->forces, m->state, s.force, 10.0), TAL_OK);
    realize(m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq_tol(tal_path_force_tension(m->forces, m->state, s.force),
                            440.0 / (9.0 * 3.14159265358979323846), 10.0 * tol);
    assert_consistent(&s, 1e-9);
    (void)tal_actuator_set_control(m->forces, m->state, s.force, 0.0);
    end(&s);
}

END_TEST

START_TEST(wrong_expressions_are_refused_with_line_and_column)
{
    assert_says(
        MODEL("\n<ExpressionBasedCoordinateForce name='f'><coordinate>h</coordinate>\n "
              "<expression>2*p</expression></ExpressionBasedCoordinateForce>\n"
              "<ExpressionBasedBushingForce name='g'>" ON_B
              "\n <My_expression>theta_y*(1</My_expression></ExpressionBasedBushingForce>"),
        "m:3:2: error: <expression>: line 1, column 3 of its formula, 'p': no such name; it may "
        "have q qdot, and names after semicolons\n"
        "m:5:2: error: <My_expression>: line 1, column 9 of its formula, '(1': there is no ')' for "
        "it\n");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/osim_laws");
    TCase *tc = tcase_create("osim_laws");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, a_coordinate_follows_an_expression);
    tcase_add_test(tc, two_points_attract_by_an_expression);
    tcase_add_test(tc, a_bushing_of_expressions_stores_energy);
    tcase_add_test(tc, a_bushing_of_expressions_of_all_deformations);
    tcase_add_test(tc, a_bushing_of_functions_stores_energy);
    tcase_add_test(tc, a_ligament_has_a_toe_and_damping);
    tcase_add_test(tc, an_activation_follows_its_control);
    tcase_add_test(tc, a_tube_pulls_by_its_pressure);
    tcase_add_test(tc, wrong_expressions_are_refused_with_line_and_column);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
