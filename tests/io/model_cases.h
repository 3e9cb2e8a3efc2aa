// One small file for every element of the table, and the C program that builds the same.
#ifndef TALUS_MODEL_CASES_H
#define TALUS_MODEL_CASES_H

#include "model_internal.h"

#include "talus_test.h"

#include <talus/talus.h>

#include <stdio.h>

/// The model that an element is added to: a (free, quaternion), b (pin on a), c (gimbal on b),
/// d (slider on Ground), e (ball with angles, on d).
typedef struct built {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_events *events;
    tal_body_ix a, b, c, d, e, x;
    tal_state *state;
    const tal_marker *markers;
    int num_markers;
    tal_mesh *mesh;     ///< must outlive the System
    tal_force_ix force; ///< of the case, for what it sets in the State
} built;

typedef struct model_case {
    tali_group group;
    const char *row; ///< name of the element
    const char *xml; ///< the element
    void (*build)(built *m);
    void (*start)(built *m); ///< what the file sets in the State; NULL: nothing
} model_case;

#define BASE_MASS                                                                                  \
    "mass='2' com='0.1 0.2 -0.1' inertia='0.5 0.6 0.7 0.01 -0.02 0.03' about='origin' "

static const char base_bodies[] =
    "<bodies>"
    "<free name='a' " BASE_MASS "/>"
    "<pin name='b' parent='a' " BASE_MASS
    "frame='0.1 0.2 0.3 0.4 0.5 0.6' body_frame='0.3 0 -0.2'/>"
    "<gimbal name='c' parent='b' " BASE_MASS "frame='0 -0.4 0' body_frame='0 0.3 0 0.1 -0.2 0.3'/>"
    "<slider name='d' " BASE_MASS "frame='1 0 0 0 0 0.5'/>"
    "<ball name='e' parent='d' angles='yes' " BASE_MASS "frame='0 0.1 0'/>"
    "</bodies>";

static inline tal_mobod_def base_def(const char *name)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = name;
    def.mass = (tal_mass_props){2.0, {0.1, 0.2, -0.1}, {0.5, 0.6, 0.7, 0.01, -0.02, 0.03}};
    return def;
}

static inline tal_xform frame_xyz(double x, double y, double z, double a, double b, double c)
{
    const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const double angles[] = {a, b, c};
    return (tal_xform){tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, angles), tal_v3(x, y, z)};
}

static inline void build_base(built *m)
{
    m->system = tal_system_create(NULL);
    m->matter = tal_matter_create(m->system);
    m->forces = tal_forces_create(m->system, m->matter);
    tal_mobod_def def = base_def("a");
    m->a = tal_matter_add_free(m->matter, TAL_GROUND, &def);
    def = base_def("b");
    def.X_PF = frame_xyz(0.1, 0.2, 0.3, 0.4, 0.5, 0.6);
    def.X_BM = tal_xf_from_p(tal_v3(0.3, 0.0, -0.2));
    m->b = tal_matter_add_pin(m->matter, m->a, &def);
    def = base_def("c");
    def.X_PF = tal_xf_from_p(tal_v3(0.0, -0.4, 0.0));
    def.X_BM = frame_xyz(0.0, 0.3, 0.0, 0.1, -0.2, 0.3);
    m->c = tal_matter_add_gimbal(m->matter, m->b, &def);
    def = base_def("d");
    def.X_PF = frame_xyz(1.0, 0.0, 0.0, 0.0, 0.0, 0.5);
    m->d = tal_matter_add_slider(m->matter, TAL_GROUND, &def);
    def = base_def("e");
    def.X_PF = tal_xf_from_p(tal_v3(0.0, 0.1, 0.0));
    def.use_angles = true;
    m->e = tal_matter_add_ball(m->matter, m->d, &def);
}

// ---- bodies

static inline tal_mobod_def x_def(void)
{
    tal_mobod_def def = base_def("x");
    def.X_PF = frame_xyz(0.2, 0.1, 0.0, 0.3, 0.2, 0.1);
    def.X_BM = frame_xyz(0.0, 0.1, 0.2, -0.3, 0.2, 0.1);
    return def;
}

#define X_BODY                                                                                     \
    "name='x' parent='b' " BASE_MASS                                                               \
    "frame='0.2 0.1 0 0.3 0.2 0.1' body_frame='0 0.1 0.2 -0.3 0.2 0.1' "

#define BODY_CASE(kind)                                                                            \
    static inline void case_##kind(built *m)                                                       \
    {                                                                                              \
        const tal_mobod_def def = x_def();                                                         \
        m->x = tal_matter_add_##kind(m->matter, m->b, &def);                                       \
    }
BODY_CASE(weld)
BODY_CASE(pin)
BODY_CASE(slider)
BODY_CASE(universal)
BODY_CASE(cylinder)
BODY_CASE(bend_stretch)
BODY_CASE(planar)
BODY_CASE(gimbal)
BODY_CASE(bushing)
BODY_CASE(translation)
BODY_CASE(ball)
BODY_CASE(line_orientation)
BODY_CASE(free_line)
BODY_CASE(free)

#define BODY_CASE_WITH(kind, ...)                                                                  \
    static inline void case_##kind(built *m)                                                       \
    {                                                                                              \
        const tal_mobod_def def = x_def();                                                         \
        m->x = tal_matter_add_##kind(m->matter, m->b, &def, __VA_ARGS__);                          \
    }
static const double spherical_params[] = {0.1, 0.2, 1.0, -1.0, 1.0, 1.0};
BODY_CASE_WITH(screw, 0.3)
BODY_CASE_WITH(spherical_coords, spherical_params)
BODY_CASE_WITH(ellipsoid, tal_v3(0.3, 0.4, 0.5))
BODY_CASE_WITH(cantilever, 0.7)

static inline tal_function *spline_of_4(void)
{
    const double x[] = {-2.0, -0.5, 0.5, 2.0}, y[] = {0.1, 0.3, -0.2, 0.4};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_spline(NULL, x, y, 4, TAL_SPLINE_SIMM, &f, NULL), TAL_OK);
    return f;
}

#define SPLINE "<spline x='-2 -0.5 0.5 2' y='0.1 0.3 -0.2 0.4' end='simm'/>"

static inline void case_function_based(built *m)
{
    const tal_mobod_def def = x_def();
    tal_function_based_def parts = tal_function_based_def_default();
    const double slopes[] = {1.0, 0.5};
    parts.nq = 2;
    parts.rotation[2] = (tal_mobilizer_function){NULL, 2, {0, 1}};
    ck_assert_int_eq(
        tal_function_create_linear(NULL, slopes, 2, 0.1, &parts.rotation[2].function, NULL),
        TAL_OK);
    parts.rotation_axis[2] = tal_v3(0.0, 1.0, 1.0);
    parts.translation[0] = (tal_mobilizer_function){spline_of_4(), 1, {1}};
    tal_function_based *mobilizer = NULL;
    ck_assert_int_eq(tal_function_based_create(&parts, NULL, &mobilizer, NULL), TAL_OK);
    m->x = tal_matter_add_function_based(m->matter, m->b, &def, mobilizer);
}

// ---- constraints

#define BETWEEN(one, two)                                                                          \
    tal_constraint_def def = tal_constraint_between(m->one, m->two);                               \
    def.name = "x";
#define ON(body, i)                                                                                \
    tal_constraint_def def = tal_constraint_on(m->body, i);                                        \
    def.name = "x";

static inline tal_xform frame_1(void)
{
    return frame_xyz(0.1, 0.2, 0.3, 0.1, 0.2, 0.3);
}

static inline tal_xform frame_2(void)
{
    return frame_xyz(-0.1, 0.2, 0.0, 0.3, 0.0, 0.2);
}

#define FRAME_1 "0.1 0.2 0.3 0.1 0.2 0.3"
#define FRAME_2 "-0.1 0.2 0 0.3 0 0.2"
#define B_E     "name='x' body1='b' body2='e' "

static inline void case_rod(built *m)
{
    BETWEEN(b, e)
    tal_constraint_add_rod(m->matter, &def, tal_v3(0.1, 0.2, 0.3), tal_v3(0.4, 0.5, 0.6), 0.7);
}

static inline void case_ball_constraint(built *m)
{
    BETWEEN(b, e)
    tal_constraint_add_ball(m->matter, &def, tal_v3(0.1, 0.2, 0.3), tal_v3(0.4, 0.5, 0.6));
}

static inline void case_point_in_plane(built *m)
{
    BETWEEN(b, e)
    tal_constraint_add_point_in_plane(m->matter, &def, tal_v3(1.0, 2.0, 2.0), 0.3,
                                      tal_v3(0.4, 0.5, 0.6));
}

static inline void case_point_on_line(built *m)
{
    BETWEEN(b, e)
    tal_constraint_add_point_on_line(m->matter, &def, tal_v3(1.0, 2.0, 2.0), tal_v3(0.1, 0.2, 0.3),
                                     tal_v3(0.4, 0.5, 0.6));
}

static inline void case_constant_angle(built *m)
{
    BETWEEN(b, e)
    tal_constraint_add_constant_angle(m->matter, &def, tal_v3(1.0, 2.0, 2.0), tal_v3(0.0, 1.0, 0.0),
                                      1.1);
}

static inline void case_constant_orientation(built *m)
{
    BETWEEN(b, e)
    const tal_mat3 R_1 = frame_1().R, R_2 = frame_2().R;
    tal_constraint_add_constant_orientation(m->matter, &def, &R_1, &R_2);
}

#define TWO_FRAMES_CASE(kind)                                                                      \
    static inline void case_##kind##_constraint(built *m)                                          \
    {                                                                                              \
        BETWEEN(b, e)                                                                              \
        const tal_xform X_1 = frame_1(), X_2 = frame_2();                                          \
        tal_constraint_add_##kind(m->matter, &def, &X_1, &X_2);                                    \
    }
TWO_FRAMES_CASE(weld)
TWO_FRAMES_CASE(loop_pin)
TWO_FRAMES_CASE(loop_slider)
TWO_FRAMES_CASE(loop_cylinder)
TWO_FRAMES_CASE(loop_universal)
TWO_FRAMES_CASE(loop_planar)

static inline void case_loop_screw(built *m)
{
    BETWEEN(b, e)
    const tal_xform X_1 = frame_1(), X_2 = frame_2();
    tal_constraint_add_loop_screw(m->matter, &def, &X_1, &X_2, 0.2);
}

static inline void case_constant_coordinate(built *m)
{
    ON(c, 1)
    tal_constraint_add_constant_coordinate(m->matter, &def, 0.3);
}

static inline void case_constant_speed(built *m)
{
    ON(d, 0)
    tal_constraint_add_constant_speed(m->matter, &def, 0.3);
}

static inline void case_constant_acceleration(built *m)
{
    ON(a, 4)
    tal_constraint_add_constant_acceleration(m->matter, &def, 0.3);
}

static inline tal_function *linear_of_2(void)
{
    const double slopes[] = {1.0, -2.0};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, slopes, 2, 0.1, &f, NULL), TAL_OK);
    return f;
}

#define LINEAR_2 "<linear slopes='1 -2' offset='0.1'/>"

static inline void case_coordinate_coupler(built *m)
{
    ON(b, 0)
    def.mobilities[1] = (tal_mobility){m->c, 2};
    def.num_mobilities = 2;
    tal_constraint_add_coordinate_coupler(m->matter, &def, linear_of_2());
}

static inline void case_speed_coupler(built *m)
{
    ON(b, 0)
    def.mobilities[1] = (tal_mobility){m->c, 2};
    def.num_mobilities = 2;
    tal_constraint_add_speed_coupler(m->matter, &def, 1, linear_of_2());
}

static inline tal_function *sinusoid_of_time(void)
{
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, 0.5, 2.0, 0.3, &f, NULL), TAL_OK);
    return f;
}

#define SINUSOID "<sinusoid amplitude='0.5' frequency='2' phase='0.3'/>"

static inline void case_prescribed_motion(built *m)
{
    ON(b, 0)
    tal_constraint_add_prescribed_motion(m->matter, &def, sinusoid_of_time());
}

static inline void case_no_slip_1d(built *m)
{
    BETWEEN(a, b)
    def.bodies[2] = m->e;
    tal_constraint_add_no_slip_1d(m->matter, &def, tal_v3(0.1, 0.2, 0.3), tal_v3(1.0, 2.0, 2.0));
}

static inline void case_point_on_plane(built *m)
{
    BETWEEN(b, e)
    const tal_xform plane = frame_1();
    tal_constraint_add_point_on_plane_contact(m->matter, &def, &plane, tal_v3(0.4, 0.5, 0.6));
}

static inline void case_sphere_on_plane(built *m)
{
    BETWEEN(b, e)
    const tal_xform plane = frame_1();
    tal_constraint_add_sphere_on_plane_contact(m->matter, &def, &plane, tal_v3(0.4, 0.5, 0.6), 0.2,
                                               true);
}

static inline void case_sphere_on_sphere(built *m)
{
    BETWEEN(b, e)
    tal_constraint_add_sphere_on_sphere_contact(m->matter, &def, tal_v3(0.1, 0.2, 0.3), 0.1,
                                                tal_v3(0.4, 0.5, 0.6), 0.2, true);
}

static inline void case_line_on_line(built *m)
{
    BETWEEN(b, e)
    const tal_xform X_1 = frame_1(), X_2 = frame_2();
    tal_constraint_add_line_on_line_contact(m->matter, &def, &X_1, &X_2, false);
}

// ---- motions

static inline tal_motion_def motion_on(tal_body_ix body, int mobility)
{
    tal_motion_def def = tal_motion_def_default();
    def.name = "x";
    def.body = body;
    def.mobility = mobility;
    return def;
}

static inline void case_motion_functions(built *m)
{
    tal_motion_def def = motion_on(m->b, 0);
    def.level = TAL_LEVEL_VELOCITY;
    tal_function *f = sinusoid_of_time();
    tal_matter_add_motion_functions(m->matter, &def, &f, 1);
}

static inline void case_motion_steady(built *m)
{
    const tal_motion_def def = motion_on(m->c, -1);
    const double u[] = {0.1, 0.2, 0.3};
    tal_matter_add_motion_steady(m->matter, &def, u, 3);
}

static inline void case_motion_sinusoid(built *m)
{
    tal_motion_def def = motion_on(m->d, 0);
    def.level = TAL_LEVEL_ACCELERATION;
    tal_matter_add_motion_sinusoid(m->matter, &def, 0.5, 2.0, 0.3);
}

// ---- measures: each drives an actuator on b

static inline void drive_b(built *m, tal_measure_ix control)
{
    const tal_mobility at = {m->b, 0};
    tal_forces_add_mobility_actuator(m->forces, "motor", at, 3.0, control);
}

static inline tal_measure_ix add_wave(built *m, const char *name)
{
    return tal_measure_add_sinusoid(m->system, tal_matter_subsystem(m->matter), name, 0.5, 2.0,
                                    0.3);
}

#define WAVE  "<sinusoid name='w' amplitude='0.5' frequency='2' phase='0.3'/>"
#define CLOCK "<time name='t'/>"
#define OWNER m->system, tal_matter_subsystem(m->matter)

static inline tal_measure_ix add_clock(built *m)
{
    return tal_measure_add_time(OWNER, "t");
}

static inline void case_measure_constant(built *m)
{
    const double value = 0.7;
    drive_b(m, tal_measure_add_constant(OWNER, "x", &value, 1));
}

static inline void case_measure_time(built *m)
{
    drive_b(m, tal_measure_add_time(OWNER, "x"));
}

static inline void case_measure_variable(built *m)
{
    const double value = 0.7;
    drive_b(m, tal_measure_add_variable(OWNER, "x", &value, 1, TAL_STAGE_VELOCITY));
}

static inline void case_measure_sinusoid(built *m)
{
    drive_b(m, add_wave(m, "x"));
}

static inline void case_measure_sum(built *m)
{
    const tal_measure_ix w = add_wave(m, "w"), t = add_clock(m);
    drive_b(m, tal_measure_add_sum(OWNER, "x", w, t));
}

static inline void case_measure_difference(built *m)
{
    const tal_measure_ix w = add_wave(m, "w"), t = add_clock(m);
    drive_b(m, tal_measure_add_difference(OWNER, "x", w, t));
}

static inline void case_measure_scale(built *m)
{
    drive_b(m, tal_measure_add_scale(OWNER, "x", 1.7, add_wave(m, "w")));
}

static inline void case_measure_integrate(built *m)
{
    const double initial = 0.4;
    drive_b(m, tal_measure_add_integrate(OWNER, "x", add_wave(m, "w"), &initial));
}

static inline void case_measure_differentiate(built *m)
{
    drive_b(m, tal_measure_add_differentiate(OWNER, "x", add_wave(m, "w")));
}

static inline void case_measure_extreme(built *m)
{
    drive_b(m, tal_measure_add_extreme(OWNER, "x", TAL_EXTREME_MINIMUM_ABS, add_wave(m, "w")));
}

static inline void case_measure_delay(built *m)
{
    tal_delay_def def = tal_delay_def_default();
    def.name = "x";
    def.operand = add_wave(m, "w");
    def.delay = 0.1;
    def.capacity = 17;
    drive_b(m, tal_measure_add_delay(OWNER, &def));
}

static inline void case_measure_hold(built *m)
{
    const double initial = 0.6;
    tal_hold_def def = tal_hold_def_default();
    def.name = "x";
    def.operand = add_wave(m, "w");
    def.period = 0.25;
    def.t0 = 0.5;
    def.initial = &initial;
    drive_b(m, tal_measure_add_hold(OWNER, &def));
}

static inline void case_measure_coordinate(built *m)
{
    drive_b(m, tal_measure_add_coordinate(m->matter, "x", (tal_mobility){m->a, 6}));
}

static inline void case_measure_speed(built *m)
{
    drive_b(m, tal_measure_add_speed(m->matter, "x", (tal_mobility){m->c, 1}));
}

static inline void case_measure_station(built *m)
{
    drive_b(m, tal_measure_add_station(m->matter, "x", m->c, tal_v3(0.1, 0.2, 0.3), m->d,
                                       tal_v3(1.0, 2.0, 2.0)));
}

static inline void case_measure_distance(built *m)
{
    drive_b(m, tal_measure_add_distance(m->matter, "x", m->b, tal_v3(0.1, 0.2, 0.3), m->e,
                                        tal_v3(0.4, 0.5, 0.6)));
}

static inline void case_measure_kinetic_energy(built *m)
{
    drive_b(m, tal_measure_add_kinetic_energy(m->matter, "x"));
}

static inline void case_measure_multiplier(built *m)
{
    case_ball_constraint(m);
    drive_b(m, tal_measure_add_time(OWNER, "x"));
    (void)tal_measure_add_multiplier(m->matter, "y", (tal_constraint_ix){0}, 2);
}

// ---- stops: on the speed of b, and on the time

static inline void add_stop(built *m, const char *name, tal_measure_ix measure,
                            tal_crossing crossing)
{
    tal_run_stop stop = tal_run_stop_default();
    stop.name = name;
    stop.measure = measure;
    stop.crossing = crossing;
    stop.value = 0.25;
    stop.window = 1e-6;
    stop.separation = 0.125;
    stop.message = "It's <enough>.";
    stop.begins_inactive = crossing == TAL_CROSSING_RISING;
    if (measure.i < 0) {
        stop.message = NULL;
        stop.window = stop.separation = 0.0;
    }
    (void)tal_events_add_stop(m->events, &stop);
}

static inline void case_stop(built *m)
{
    const tal_measure_ix speed = tal_measure_add_speed(m->matter, "speed", (tal_mobility){m->b, 0});
    m->events = tal_events_create(m->system);
    add_stop(m, "down", speed, TAL_CROSSING_FALLING);
    add_stop(m, "up", speed, TAL_CROSSING_RISING);
    add_stop(m, "across", speed, TAL_CROSSING_EITHER);
    add_stop(m, "late", (tal_measure_ix){-1}, TAL_CROSSING_EITHER);
}

#define STOPS                                                                                      \
    "</stops><measures><speed name='speed' mobility='b'/></measures><stops>"                       \
    "<stop name='down' when='speed' falls_below='0.25' " STOP_MORE "/>"                            \
    "<stop name='up' when='speed' rises_above='0.25' enabled='no' " STOP_MORE "/>"                 \
    "<stop name='across' when='speed' crosses='0.25' " STOP_MORE "/>"                              \
    "<stop name='late' time='0.25'/>"
#define STOP_MORE "message='It&apos;s &lt;enough&gt;.' window='1e-6' separation='0.125'"

// ---- markers

static const tal_marker case_markers[] = {{"tip", {3}, {0.1, 0.2, 0.3}, 2.5},
                                          {"a <b>", {0}, {0.0, 0.0, 0.0}, 1.0}};

static inline void case_marker(built *m)
{
    m->markers = case_markers;
    m->num_markers = 2;
}

#define MARKERS                                                                                    \
    "<marker name='tip' body='c' station='0.1 0.2 0.3' weight='2.5'/><marker name='a &lt;b>'/>"

// ---- forces

static inline tal_two_points points_b_e(const built *m)
{
    return (tal_two_points){m->b, tal_v3(0.1, 0.2, 0.3), m->e, tal_v3(0.4, 0.5, 0.6)};
}

#define POINTS "name='x' body1='b' station1='0.1 0.2 0.3' body2='e' station2='0.4 0.5 0.6' "

static inline void case_gravity(built *m)
{
    m->force = tal_forces_add_gravity(m->forces, tal_v3(0.1, -9.81, 0.2));
}

static inline void start_gravity_case(built *m)
{
    tal_gravity_set_zero_height(m->forces, m->state, m->force, 0.4);
}

static inline void case_two_point_spring(built *m)
{
    const tal_two_points points = points_b_e(m);
    tal_forces_add_two_point_spring(m->forces, "x", &points, 30.0, 0.2);
}

static inline void case_two_point_damper(built *m)
{
    const tal_two_points points = points_b_e(m);
    tal_forces_add_two_point_damper(m->forces, "x", &points, 3.0);
}

static inline void case_two_point_force(built *m)
{
    const tal_two_points points = points_b_e(m);
    tal_forces_add_two_point_force(m->forces, "x", &points, 3.0);
}

static inline void case_constant_force(built *m)
{
    tal_forces_add_constant_force(m->forces, "x", m->c, tal_v3(0.1, 0.2, 0.3),
                                  tal_v3(1.0, 2.0, 3.0));
}

static inline void case_constant_torque(built *m)
{
    tal_forces_add_constant_torque(m->forces, "x", m->c, tal_v3(1.0, 2.0, 3.0));
}

static inline void case_gear_torque(built *m)
{
    tal_forces_add_gear_torque(m->forces, "x", m->b, 2.0, 0.3, 0.4);
}

static inline void case_mobility_force(built *m)
{
    tal_forces_add_mobility_force(m->forces, "x", (tal_mobility){m->c, 2}, 2.0);
}

static inline void case_mobility_damper(built *m)
{
    tal_forces_add_mobility_damper(m->forces, "x", (tal_mobility){m->c, 2}, 2.0);
}

static inline void case_mobility_friction(built *m)
{
    const tal_friction friction = {3.0, 2.0, 0.1, 0.01};
    tal_forces_add_mobility_friction(m->forces, "x", (tal_mobility){m->b, 0}, &friction);
}

static inline void case_global_damper(built *m)
{
    tal_forces_add_global_damper(m->forces, "x", 0.7);
}

static inline void case_mobility_spring(built *m)
{
    tal_forces_add_mobility_spring(m->forces, "x", (tal_mobility){m->e, 1}, 20.0, 0.3);
}

static inline void case_mobility_nonlinear_spring(built *m)
{
    tal_forces_add_mobility_nonlinear_spring(m->forces, "x", (tal_mobility){m->d, 0},
                                             spline_of_4());
}

static inline void case_mobility_stop(built *m)
{
    const tal_stop stop = {50.0, 0.3, -0.1, 0.1};
    tal_forces_add_mobility_stop(m->forces, "x", (tal_mobility){m->b, 0}, &stop);
}

static inline void case_discrete(built *m)
{
    tal_forces_add_discrete(m->forces, "x");
}

static inline void start_loads_case(built *m)
{
    const tal_force_ix force = {0};
    const tal_spatial_vec F = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}},
                          f = {{0.0, 0.0, 0.0}, {0.0, 7.0, 0.0}};
    tal_discrete_set_body_force(m->forces, m->state, force, m->c, F);
    tal_discrete_set_body_force(m->forces, m->state, force, m->a, f);
    tal_discrete_set_mobility_force(m->forces, m->state, force, (tal_mobility){m->c, 2}, 1.5);
}

#define LOADS                                                                                      \
    "<discrete_forces name='x'><load body='c' moment='1 2 3' force='4 5 6'/>"                      \
    "<load body='a' force='0 7 0'/><mobility_load mobility='c:2' force='1.5'/></discrete_forces>"

static inline void case_bushing_force(built *m)
{
    tal_bushing_def def = tal_bushing_def_default();
    def.body1 = m->b;
    def.body2 = m->e;
    def.X_B1F = frame_1();
    def.X_B2M = frame_2();
    for (int i = 0; i < 6; ++i) {
        def.stiffness[i] = 1.0 + i;
        def.damping[i] = 0.5 * i;
    }
    tal_forces_add_bushing(m->forces, "x", &def);
}

static inline void case_mobility_actuator(built *m)
{
    const tal_measure_ix none = {-1};
    m->force = tal_forces_add_mobility_actuator(m->forces, "x", (tal_mobility){m->b, 0}, 3.0, none);
}

static inline void start_mobility_actuator_case(built *m)
{
    tal_force_set_param(m->forces, m->state, m->force, TAL_ACTUATOR_CONTROL, 0.4);
}

static inline void case_point_actuator(built *m)
{
    const tal_push push = {m->c, tal_v3(0.1, 0.2, 0.3), tal_v3(1.0, 2.0, 2.0), true};
    m->force = tal_forces_add_point_actuator(m->forces, "x", &push, 3.0, (tal_measure_ix){-1});
}

static inline void start_point_actuator_case(built *m)
{
    tal_force_set_param(m->forces, m->state, m->force, TAL_POINT_ACTUATOR_CONTROL, 0.4);
}

static inline void case_torque_actuator(built *m)
{
    const tal_twist twist = {m->b, m->e, tal_v3(1.0, 2.0, 2.0)};
    m->force = tal_forces_add_torque_actuator(m->forces, "x", &twist, 3.0, (tal_measure_ix){-1});
}

static inline void start_torque_actuator_case(built *m)
{
    tal_force_set_param(m->forces, m->state, m->force, TAL_TORQUE_ACTUATOR_CONTROL, 0.4);
}

static inline void case_body_actuator(built *m)
{
    const tal_thrust thrust = {m->c, tal_v3(0.1, 0.2, 0.3), true};
    m->force = tal_forces_add_body_actuator(m->forces, "x", &thrust, 3.0, (tal_measure_ix){-1});
}

static inline void start_body_actuator_case(built *m)
{
    const double controls[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    tal_force_set_params(m->forces, m->state, m->force, TAL_BODY_ACTUATOR_CONTROL, controls, 6);
}

static inline void case_thermostat(built *m)
{
    tal_thermostat_def def = tal_thermostat_def_default();
    def.kT = 0.5;
    def.relaxation_time = 0.2;
    def.chain_length = 4;
    def.excluded = 2.0;
    tal_forces_add_thermostat(m->forces, "x", &def);
}

static inline void case_langevin(built *m)
{
    tal_langevin_def def = tal_langevin_def_default();
    def.kT = 0.5;
    def.friction = 2.0;
    def.interval = 0.01;
    def.seed = UINT64_MAX;
    tal_forces_add_langevin(m->forces, "x", &def);
}

static inline void case_smooth_contact(built *m)
{
    tal_smooth_contact_def def = tal_smooth_contact_def_default();
    def.sphere_body = m->c;
    def.plane_body = m->e;
    def.center = tal_v3(0.1, 0.2, 0.3);
    def.radius = 0.5;
    def.X_BF = frame_1();
    def.material.stiffness = 2e4;
    def.material.dissipation = 0.3;
    def.material.static_friction = 0.8;
    def.material.dynamic_friction = 0.6;
    def.material.viscous_friction = 0.1;
    tal_forces_add_smooth_contact(m->forces, "x", &def);
}

static inline void case_exponential_spring(built *m)
{
    tal_exponential_spring_def def = tal_exponential_spring_def_default();
    def.body = m->c;
    def.p_BS = tal_v3(0.1, 0.2, 0.3);
    def.X_BF = frame_1();
    tal_forces_add_exponential_spring(m->forces, "x", &def);
}

static inline void add_surface(built *m, const char *name, tal_body_ix body, tal_shape shape,
                               uint64_t cliques)
{
    tal_contact_surface_def def = tal_contact_surface_def_default();
    def.name = name;
    def.body = body;
    def.X_BS = frame_2();
    def.shape = shape;
    def.material = tal_contact_material_of(TAL_RUBBER);
    def.material.static_friction = 0.8;
    def.cliques = cliques;
    tal_contact_add_surface(m->forces, m->force, &def);
}

static inline void add_contact(built *m, tal_shape other, tal_shape shape)
{
    tal_contact_def def = tal_contact_def_default();
    def.friction = TAL_CONTACT_HOLLARS;
    def.grip.transition_speed = 0.02;
    m->force = tal_forces_add_contact(m->forces, "x", &def);
    add_surface(m, "one", m->c, other, 0);
    add_surface(m, "two", m->e, shape, UINT64_C(1) << 63 | 4);
}

static inline void case_contact(built *m)
{
    add_contact(m, tal_shape_sphere(0.6), tal_shape_sphere(0.7));
}

static inline void case_half_space(built *m)
{
    add_contact(m, tal_shape_sphere(0.6), tal_shape_half_space());
}

static inline void case_s_ellipsoid(built *m)
{
    add_contact(m, tal_shape_half_space(), tal_shape_ellipsoid(tal_v3(0.5, 0.6, 0.7)));
}

static inline void case_s_cylinder(built *m)
{
    add_contact(m, tal_shape_half_space(), tal_shape_cylinder(0.5, 0.6, 0.1));
}

static inline void case_s_brick(built *m)
{
    add_contact(m, tal_shape_half_space(), tal_shape_brick(tal_v3(0.5, 0.6, 0.7), 0.1));
}

static inline void case_s_torus(built *m)
{
    add_contact(m, tal_shape_half_space(), tal_shape_torus(0.5, 0.1));
}

// A box of eight vertices.
static inline void case_s_mesh(built *m)
{
    static const int faces[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    tal_vec3 vertices[8];
    for (int i = 0; i < 8; ++i) {
        vertices[i] =
            tal_v3((i & 1) != 0 ? 0.7 : -0.7, (i & 2) != 0 ? 0.8 : -0.8, (i & 4) != 0 ? 0.9 : -0.9);
    }
    ck_assert_int_eq(tal_mesh_create(NULL, vertices, 8, faces, 12, &m->mesh, NULL), TAL_OK);
    add_contact(m, tal_shape_half_space(), tal_shape_mesh(m->mesh));
}

#define BOX_VERTICES                                                                               \
    "<vertices>-0.7 -0.8 -0.9\n0.7 -0.8 -0.9\n-0.7 0.8 -0.9\n0.7 0.8 -0.9\n"                       \
    "-0.7 -0.8 0.9\n0.7 -0.8 0.9\n-0.7 0.8 0.9\n0.7 0.8 0.9</vertices>"
#define BOX_FACES                                                                                  \
    "<faces>0 2 1  1 2 3  4 5 6  5 7 6  0 1 4  1 5 4\n2 6 3  3 6 7  0 4 2  2 4 6  1 3 5  3 7 5</faces>"

#define RUBBER "frame='" FRAME_2 "' material='rubber' static_friction='0.8' "
#define ONE    "<sphere name='one' body='c' radius='0.6' " RUBBER "/>"
#define TWO    "name='two' body='e' cliques='3 64' " RUBBER
#define FLAT   "<half_space name='one' body='c' " RUBBER "/>"
#define TOUCH(one, two)                                                                            \
    "<contact name='x' friction='hollars' transition_speed='0.02'>" one two "</contact>"
#define CONTACT(xml) TOUCH(ONE, xml)

// ---- functions: each is the energy of a spring on b

static inline void spring_on_b(built *m, tal_function *energy)
{
    tal_forces_add_mobility_nonlinear_spring(m->forces, "x", (tal_mobility){m->b, 0}, energy);
}

#define MADE(call)                                                                                 \
    tal_function *f = NULL;                                                                        \
    ck_assert_int_eq(call, TAL_OK);                                                                \
    spring_on_b(m, f);

static inline void case_f_constant(built *m)
{
    MADE(tal_function_create_constant(NULL, 2.0, 1, &f, NULL))
}

static inline void case_f_linear(built *m)
{
    const double slope = 1.5;
    MADE(tal_function_create_linear(NULL, &slope, 1, 0.2, &f, NULL))
}

static inline void case_f_polynomial(built *m)
{
    const double c[] = {2.0, 1.0, -3.0};
    MADE(tal_function_create_polynomial(NULL, c, 3, &f, NULL))
}

static inline void case_f_sinusoid(built *m)
{
    spring_on_b(m, sinusoid_of_time());
}

static inline void case_f_step(built *m)
{
    MADE(tal_function_create_step(NULL, -3.0, 1.0, 3.0, 2.0, &f, NULL))
}

static inline void case_f_piecewise(built *m)
{
    const double x[] = {-2.0, -0.5, 0.5, 2.0}, y[] = {0.1, 0.3, -0.2, 0.4};
    MADE(tal_function_create_piecewise_linear(NULL, x, y, 4, &f, NULL))
}

static inline void case_f_spline(built *m)
{
    spring_on_b(m, spline_of_4());
}

static inline void case_f_quintic(built *m)
{
    const double x[] = {-2.0, -0.5, 0.5, 2.0}, y[] = {0.1, 0.3, -0.2, 0.4};
    MADE(tal_function_create_quintic_spline(NULL, x, y, 4, &f, NULL))
}

static inline void case_f_sum(built *m)
{
    tal_function *parts[] = {spline_of_4(), sinusoid_of_time()};
    MADE(tal_function_create_sum(NULL, parts, 2, &f, NULL))
}

static inline void case_f_product(built *m)
{
    tal_function *parts[] = {spline_of_4(), sinusoid_of_time()};
    MADE(tal_function_create_product(NULL, parts, 2, &f, NULL))
}

static inline void case_f_composition(built *m)
{
    tal_function *inner = sinusoid_of_time();
    MADE(tal_function_create_composition(NULL, spline_of_4(), &inner, 1, &f, NULL))
}

// ---- decorations

static inline void decorate(built *m, tal_decoration d)
{
    d.X_BD = frame_1();
    d.color = tal_v3(0.1, 0.2, 0.3);
    d.opacity = 0.5;
    d.scale = 2.0;
    tal_matter_add_decoration(m->matter, m->c, &d);
}

#define SHOWN "body='c' frame='" FRAME_1 "' color='0.1 0.2 0.3' opacity='0.5' scale='2' "

static inline void case_d_sphere(built *m)
{
    decorate(m, tal_decoration_sphere(0.2));
}

static inline void case_d_brick(built *m)
{
    decorate(m, tal_decoration_brick(tal_v3(0.1, 0.2, 0.3)));
}

static inline void case_d_cylinder(built *m)
{
    decorate(m, tal_decoration_cylinder(0.1, 0.2));
}

static inline void case_d_ellipsoid(built *m)
{
    decorate(m, tal_decoration_ellipsoid(tal_v3(0.1, 0.2, 0.3)));
}

static inline void case_d_line(built *m)
{
    tal_decoration line = tal_decoration_line(TAL_VEC3_ZERO, tal_v3(0.1, 0.2, 0.3));
    decorate(m, line);
}

static inline void case_d_mesh(built *m)
{
    decorate(m, tal_decoration_mesh("femur.obj"));
}

static inline void case_d_text(built *m)
{
    decorate(m, tal_decoration_text("a <label> & more"));
}

#define ENERGY(xml)                                                                                \
    "<mobility_nonlinear_spring name='x' mobility='b'>" xml "</mobility_nonlinear_spring>"
#define SPRING_OF TALI_GROUP_FUNCTIONS

static const model_case model_cases[] = {
    {TALI_GROUP_BODIES, "weld", "<weld " X_BODY "/>", case_weld, NULL},
    {TALI_GROUP_BODIES, "pin", "<pin " X_BODY "/>", case_pin, NULL},
    {TALI_GROUP_BODIES, "slider", "<slider " X_BODY "/>", case_slider, NULL},
    {TALI_GROUP_BODIES, "screw", "<screw pitch='0.3' " X_BODY "/>", case_screw, NULL},
    {TALI_GROUP_BODIES, "universal", "<universal " X_BODY "/>", case_universal, NULL},
    {TALI_GROUP_BODIES, "cylinder", "<cylinder " X_BODY "/>", case_cylinder, NULL},
    {TALI_GROUP_BODIES, "bend_stretch", "<bend_stretch " X_BODY "/>", case_bend_stretch, NULL},
    {TALI_GROUP_BODIES, "planar", "<planar " X_BODY "/>", case_planar, NULL},
    {TALI_GROUP_BODIES, "gimbal", "<gimbal " X_BODY "/>", case_gimbal, NULL},
    {TALI_GROUP_BODIES, "bushing", "<bushing " X_BODY "/>", case_bushing, NULL},
    {TALI_GROUP_BODIES, "spherical_coords",
     "<spherical_coords azimuth_offset='0.1' zenith_offset='0.2' signs='1 -1 1' radial_axis='1' " X_BODY
     "/>",
     case_spherical_coords, NULL},
    {TALI_GROUP_BODIES, "translation", "<translation " X_BODY "/>", case_translation, NULL},
    {TALI_GROUP_BODIES, "ball", "<ball " X_BODY "/>", case_ball, NULL},
    {TALI_GROUP_BODIES, "ellipsoid", "<ellipsoid radii='0.3 0.4 0.5' " X_BODY "/>", case_ellipsoid,
     NULL},
    {TALI_GROUP_BODIES, "line_orientation", "<line_orientation " X_BODY "/>", case_line_orientation,
     NULL},
    {TALI_GROUP_BODIES, "free_line", "<free_line " X_BODY "/>", case_free_line, NULL},
    {TALI_GROUP_BODIES, "free", "<free " X_BODY "/>", case_free, NULL},
    {TALI_GROUP_BODIES, "cantilever", "<cantilever length='0.7' " X_BODY "/>", case_cantilever,
     NULL},
    {TALI_GROUP_BODIES, "function_based",
     "<function_based coordinates='2' " X_BODY ">"
     "<rotation index='2' coordinates='0 1' axis='0 1 1'><linear slopes='1 0.5' offset='0.1'/></rotation>"
     "<translation index='0' coordinates='1'>" SPLINE "</translation></function_based>",
     case_function_based, NULL},
    {TALI_GROUP_CONSTRAINTS, "rod",
     "<rod " B_E "station1='0.1 0.2 0.3' station2='0.4 0.5 0.6' length='0.7'/>", case_rod, NULL},
    {TALI_GROUP_CONSTRAINTS, "ball", "<ball " B_E "station1='0.1 0.2 0.3' station2='0.4 0.5 0.6'/>",
     case_ball_constraint, NULL},
    {TALI_GROUP_CONSTRAINTS, "point_in_plane",
     "<point_in_plane " B_E "normal='1 2 2' height='0.3' station='0.4 0.5 0.6'/>",
     case_point_in_plane, NULL},
    {TALI_GROUP_CONSTRAINTS, "point_on_line",
     "<point_on_line " B_E "direction='1 2 2' point='0.1 0.2 0.3' station='0.4 0.5 0.6'/>",
     case_point_on_line, NULL},
    {TALI_GROUP_CONSTRAINTS, "constant_angle",
     "<constant_angle " B_E "axis1='1 2 2' axis2='0 1 0' angle='1.1'/>", case_constant_angle, NULL},
    {TALI_GROUP_CONSTRAINTS, "constant_orientation",
     "<constant_orientation " B_E "rotation1='0.1 0.2 0.3' rotation2='0.3 0 0.2'/>",
     case_constant_orientation, NULL},
    {TALI_GROUP_CONSTRAINTS, "weld", "<weld " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2 "'/>",
     case_weld_constraint, NULL},
    {TALI_GROUP_CONSTRAINTS, "constant_coordinate",
     "<constant_coordinate name='x' mobility='c:1' value='0.3'/>", case_constant_coordinate, NULL},
    {TALI_GROUP_CONSTRAINTS, "constant_speed",
     "<constant_speed name='x' mobility='d' value='0.3'/>", case_constant_speed, NULL},
    {TALI_GROUP_CONSTRAINTS, "constant_acceleration",
     "<constant_acceleration name='x' mobility='a:4' value='0.3'/>", case_constant_acceleration,
     NULL},
    {TALI_GROUP_CONSTRAINTS, "coordinate_coupler",
     "<coordinate_coupler name='x' mobilities='b; c:2'>" LINEAR_2 "</coordinate_coupler>",
     case_coordinate_coupler, NULL},
    {TALI_GROUP_CONSTRAINTS, "speed_coupler",
     "<speed_coupler name='x' mobilities='b:0;c:2' speeds='1'>" LINEAR_2 "</speed_coupler>",
     case_speed_coupler, NULL},
    {TALI_GROUP_CONSTRAINTS, "prescribed_motion",
     "<prescribed_motion name='x' mobility='b'>" SINUSOID "</prescribed_motion>",
     case_prescribed_motion, NULL},
    {TALI_GROUP_CONSTRAINTS, "no_slip_1d",
     "<no_slip_1d name='x' case='a' body1='b' body2='e' point='0.1 0.2 0.3' direction='1 2 2'/>",
     case_no_slip_1d, NULL},
    {TALI_GROUP_CONSTRAINTS, "point_on_plane_contact",
     "<point_on_plane_contact " B_E "plane='" FRAME_1 "' station='0.4 0.5 0.6'/>",
     case_point_on_plane, NULL},
    {TALI_GROUP_CONSTRAINTS, "sphere_on_plane_contact",
     "<sphere_on_plane_contact " B_E "plane='" FRAME_1
     "' center='0.4 0.5 0.6' radius='0.2' rolling='yes'/>",
     case_sphere_on_plane, NULL},
    {TALI_GROUP_CONSTRAINTS, "sphere_on_sphere_contact",
     "<sphere_on_sphere_contact " B_E
     "center1='0.1 0.2 0.3' radius1='0.1' center2='0.4 0.5 0.6' radius2='0.2' rolling='yes'/>",
     case_sphere_on_sphere, NULL},
    {TALI_GROUP_CONSTRAINTS, "line_on_line_contact",
     "<line_on_line_contact " B_E "edge1='" FRAME_1 "' edge2='" FRAME_2 "'/>", case_line_on_line,
     NULL},
    {TALI_GROUP_CONSTRAINTS, "loop_pin",
     "<loop_pin " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2 "'/>", case_loop_pin_constraint,
     NULL},
    {TALI_GROUP_CONSTRAINTS, "loop_slider",
     "<loop_slider " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2 "'/>", case_loop_slider_constraint,
     NULL},
    {TALI_GROUP_CONSTRAINTS, "loop_cylinder",
     "<loop_cylinder " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2 "'/>",
     case_loop_cylinder_constraint, NULL},
    {TALI_GROUP_CONSTRAINTS, "loop_universal",
     "<loop_universal " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2 "'/>",
     case_loop_universal_constraint, NULL},
    {TALI_GROUP_CONSTRAINTS, "loop_planar",
     "<loop_planar " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2 "'/>", case_loop_planar_constraint,
     NULL},
    {TALI_GROUP_CONSTRAINTS, "loop_screw",
     "<loop_screw " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2 "' pitch='0.2'/>", case_loop_screw,
     NULL},
    {TALI_GROUP_MOTIONS, "functions",
     "<functions name='x' body='b' level='velocity'>" SINUSOID "</functions>",
     case_motion_functions, NULL},
    {TALI_GROUP_MOTIONS, "steady", "<steady name='x' body='c' all='yes' speed='0.1 0.2 0.3'/>",
     case_motion_steady, NULL},
    {TALI_GROUP_MOTIONS, "sinusoid",
     "<sinusoid name='x' body='d' level='acceleration' amplitude='0.5' frequency='2' phase='0.3'/>",
     case_motion_sinusoid, NULL},
    {TALI_GROUP_MEASURES, "constant", "<constant name='x' values='0.7'/>", case_measure_constant,
     NULL},
    {TALI_GROUP_MEASURES, "time", "<time name='x'/>", case_measure_time, NULL},
    {TALI_GROUP_MEASURES, "variable", "<variable name='x' values='0.7' invalidates='velocity'/>",
     case_measure_variable, NULL},
    {TALI_GROUP_MEASURES, "sinusoid",
     "<sinusoid name='x' amplitude='0.5' frequency='2' phase='0.3'/>", case_measure_sinusoid, NULL},
    {TALI_GROUP_MEASURES, "sum", WAVE CLOCK "<sum name='x' of='w' with='t'/>", case_measure_sum,
     NULL},
    {TALI_GROUP_MEASURES, "difference", WAVE CLOCK "<difference name='x' of='w' with='t'/>",
     case_measure_difference, NULL},
    {TALI_GROUP_MEASURES, "scale", WAVE "<scale name='x' of='w' factor='1.7'/>", case_measure_scale,
     NULL},
    {TALI_GROUP_MEASURES, "integrate", WAVE "<integrate name='x' of='w' initial='0.4'/>",
     case_measure_integrate, NULL},
    {TALI_GROUP_MEASURES, "differentiate", WAVE "<differentiate name='x' of='w'/>",
     case_measure_differentiate, NULL},
    {TALI_GROUP_MEASURES, "extreme", WAVE "<extreme name='x' of='w' which='minimum_abs'/>",
     case_measure_extreme, NULL},
    {TALI_GROUP_MEASURES, "delay", WAVE "<delay name='x' of='w' delay='0.1' capacity='17'/>",
     case_measure_delay, NULL},
    {TALI_GROUP_MEASURES, "hold",
     WAVE "<hold name='x' of='w' period='0.25' first='0.5' initial='0.6'/>", case_measure_hold,
     NULL},
    {TALI_GROUP_MEASURES, "coordinate", "<coordinate name='x' mobility='a:6'/>",
     case_measure_coordinate, NULL},
    {TALI_GROUP_MEASURES, "speed", "<speed name='x' mobility='c:1'/>", case_measure_speed, NULL},
    {TALI_GROUP_MEASURES, "station",
     "<station name='x' body='c' station='0.1 0.2 0.3' from='d' along='1 2 2'/>",
     case_measure_station, NULL},
    {TALI_GROUP_MEASURES, "distance", "<distance " POINTS "/>", case_measure_distance, NULL},
    {TALI_GROUP_MEASURES, "kinetic_energy", "<kinetic_energy name='x'/>",
     case_measure_kinetic_energy, NULL},
    {TALI_GROUP_MEASURES, "multiplier",
     "<time name='x'/><multiplier name='y' constraint='x' row='2'/></measures><constraints><ball " B_E
     "station1='0.1 0.2 0.3' station2='0.4 0.5 0.6'/></constraints><measures>",
     case_measure_multiplier, NULL},
    {TALI_GROUP_STOPS, "stop", STOPS, case_stop, NULL},
    {TALI_GROUP_MARKERS, "marker", MARKERS, case_marker, NULL},
    {TALI_GROUP_FORCES, "gravity", "<gravity g='0.1 -9.81 0.2' zero_height='0.4'/>", case_gravity,
     start_gravity_case},
    {TALI_GROUP_FORCES, "two_point_spring",
     "<two_point_spring " POINTS "stiffness='30' rest_length='0.2'/>", case_two_point_spring, NULL},
    {TALI_GROUP_FORCES, "two_point_damper", "<two_point_damper " POINTS "damping='3'/>",
     case_two_point_damper, NULL},
    {TALI_GROUP_FORCES, "two_point_force", "<two_point_force " POINTS "force='3'/>",
     case_two_point_force, NULL},
    {TALI_GROUP_FORCES, "constant_force",
     "<constant_force name='x' body='c' station='0.1 0.2 0.3' force='1 2 3'/>", case_constant_force,
     NULL},
    {TALI_GROUP_FORCES, "constant_torque", "<constant_torque name='x' body='c' torque='1 2 3'/>",
     case_constant_torque, NULL},
    {TALI_GROUP_FORCES, "gear_torque",
     "<gear_torque name='x' body='b' torque='2' radius='0.3' angle='0.4'/>", case_gear_torque,
     NULL},
    {TALI_GROUP_FORCES, "mobility_force", "<mobility_force name='x' mobility='c:2' force='2'/>",
     case_mobility_force, NULL},
    {TALI_GROUP_FORCES, "mobility_damper", "<mobility_damper name='x' mobility='c:2' damping='2'/>",
     case_mobility_damper, NULL},
    {TALI_GROUP_FORCES, "mobility_friction",
     "<mobility_friction name='x' mobility='b' static='3' dynamic='2' viscous='0.1' speed='0.01'/>",
     case_mobility_friction, NULL},
    {TALI_GROUP_FORCES, "global_damper", "<global_damper name='x' damping='0.7'/>",
     case_global_damper, NULL},
    {TALI_GROUP_FORCES, "mobility_spring",
     "<mobility_spring name='x' mobility='e:1' stiffness='20' rest='0.3'/>", case_mobility_spring,
     NULL},
    {TALI_GROUP_FORCES, "mobility_nonlinear_spring",
     "<mobility_nonlinear_spring name='x' mobility='d'>" SPLINE "</mobility_nonlinear_spring>",
     case_mobility_nonlinear_spring, NULL},
    {TALI_GROUP_FORCES, "mobility_stop",
     "<mobility_stop name='x' mobility='b' stiffness='50' dissipation='0.3' range='-0.1 0.1'/>",
     case_mobility_stop, NULL},
    {TALI_GROUP_FORCES, "discrete_forces", "<discrete_forces name='x'/>", case_discrete, NULL},
    {TALI_GROUP_LOADS, "load", LOADS, case_discrete, start_loads_case},
    {TALI_GROUP_LOADS, "mobility_load", LOADS, case_discrete, start_loads_case},
    {TALI_GROUP_FORCES, "bushing",
     "<bushing " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2
     "' stiffness='1 2 3 4 5 6' damping='0 0.5 1 1.5 2 2.5'/>",
     case_bushing_force, NULL},
    {TALI_GROUP_FORCES, "mobility_actuator",
     "<mobility_actuator name='x' mobility='b' gain='3' control='0.4'/>", case_mobility_actuator,
     start_mobility_actuator_case},
    {TALI_GROUP_FORCES, "point_actuator",
     "<point_actuator name='x' body='c' station='0.1 0.2 0.3' direction='1 2 2' in_body='yes' gain='3' "
     "control='0.4'/>",
     case_point_actuator, start_point_actuator_case},
    {TALI_GROUP_FORCES, "torque_actuator",
     "<torque_actuator " B_E "axis='1 2 2' gain='3' control='0.4'/>", case_torque_actuator,
     start_torque_actuator_case},
    {TALI_GROUP_FORCES, "body_actuator",
     "<body_actuator name='x' body='c' station='0.1 0.2 0.3' in_body='yes' gain='3' controls='1 2 3 4 5 6'/>",
     case_body_actuator, start_body_actuator_case},
    {TALI_GROUP_FORCES, "thermostat",
     "<thermostat name='x' kT='0.5' relaxation_time='0.2' chain='4' excluded='2'/>",
     case_thermostat, NULL},
    {TALI_GROUP_FORCES, "langevin",
     "<langevin name='x' kT='0.5' friction='2' interval='0.01' seed='18446744073709551615'/>",
     case_langevin, NULL},
    {TALI_GROUP_FORCES, "smooth_contact",
     "<smooth_contact name='x' sphere_body='c' plane_body='e' center='0.1 0.2 0.3' radius='0.5' plane='" FRAME_1
     "' stiffness='2e4' dissipation='0.3' static_friction='0.8' dynamic_friction='0.6' "
     "viscous_friction='0.1'/>",
     case_smooth_contact, NULL},
    {TALI_GROUP_FORCES, "exponential_spring",
     "<exponential_spring name='x' body='c' station='0.1 0.2 0.3' plane='" FRAME_1 "'/>",
     case_exponential_spring, NULL},
    {TALI_GROUP_FORCES, "contact", CONTACT("<sphere radius='0.7' " TWO "/>"), case_contact, NULL},
    {TALI_GROUP_SURFACES, "half_space", CONTACT("<half_space " TWO "/>"), case_half_space, NULL},
    {TALI_GROUP_SURFACES, "sphere", CONTACT("<sphere radius='0.7' " TWO "/>"), case_contact, NULL},
    {TALI_GROUP_SURFACES, "ellipsoid", TOUCH(FLAT, "<ellipsoid radii='0.5 0.6 0.7' " TWO "/>"),
     case_s_ellipsoid, NULL},
    {TALI_GROUP_SURFACES, "cylinder",
     TOUCH(FLAT, "<cylinder radius='0.5' half_length='0.6' rim_radius='0.1' " TWO "/>"),
     case_s_cylinder, NULL},
    {TALI_GROUP_SURFACES, "brick",
     TOUCH(FLAT, "<brick half_lengths='0.5 0.6 0.7' corner_radius='0.1' " TWO "/>"), case_s_brick,
     NULL},
    {TALI_GROUP_SURFACES, "torus",
     TOUCH(FLAT, "<torus ring_radius='0.5' tube_radius='0.1' " TWO "/>"), case_s_torus, NULL},
    {TALI_GROUP_SURFACES, "mesh",
     TOUCH(FLAT, "<mesh " TWO ">\n" BOX_VERTICES "\n" BOX_FACES "</mesh>"), case_s_mesh, NULL},
    {TALI_GROUP_MESH_PARTS, "vertices",
     TOUCH(FLAT, "<mesh " TWO ">" BOX_FACES BOX_VERTICES "</mesh>"), case_s_mesh, NULL},
    {TALI_GROUP_MESH_PARTS, "faces", TOUCH(FLAT, "<mesh " TWO ">" BOX_FACES BOX_VERTICES "</mesh>"),
     case_s_mesh, NULL},
    {SPRING_OF, "constant", ENERGY("<constant value='2'/>"), case_f_constant, NULL},
    {SPRING_OF, "linear", ENERGY("<linear slopes='1.5' offset='0.2'/>"), case_f_linear, NULL},
    {SPRING_OF, "polynomial", ENERGY("<polynomial coefficients='2 1 -3'/>"), case_f_polynomial,
     NULL},
    {SPRING_OF, "sinusoid", ENERGY(SINUSOID), case_f_sinusoid, NULL},
    {SPRING_OF, "step", ENERGY("<step from='-3 1' to='3 2'/>"), case_f_step, NULL},
    {SPRING_OF, "piecewise_linear",
     ENERGY("<piecewise_linear x='-2 -0.5 0.5 2' y='0.1 0.3 -0.2 0.4'/>"), case_f_piecewise, NULL},
    {SPRING_OF, "spline", ENERGY(SPLINE), case_f_spline, NULL},
    {SPRING_OF, "quintic_spline",
     ENERGY("<quintic_spline x='-2 -0.5 0.5 2' y='0.1 0.3 -0.2 0.4'/>"), case_f_quintic, NULL},
    {SPRING_OF, "sum", ENERGY("<sum>" SPLINE SINUSOID "</sum>"), case_f_sum, NULL},
    {SPRING_OF, "product", ENERGY("<product>" SPLINE SINUSOID "</product>"), case_f_product, NULL},
    {SPRING_OF, "composition", ENERGY("<composition>" SPLINE SINUSOID "</composition>"),
     case_f_composition, NULL},
    {TALI_GROUP_DECORATIONS, "sphere", "<sphere radius='0.2' " SHOWN "/>", case_d_sphere, NULL},
    {TALI_GROUP_DECORATIONS, "brick", "<brick half_lengths='0.1 0.2 0.3' " SHOWN "/>", case_d_brick,
     NULL},
    {TALI_GROUP_DECORATIONS, "cylinder", "<cylinder radius='0.1' half_height='0.2' " SHOWN "/>",
     case_d_cylinder, NULL},
    {TALI_GROUP_DECORATIONS, "ellipsoid", "<ellipsoid radii='0.1 0.2 0.3' " SHOWN "/>",
     case_d_ellipsoid, NULL},
    {TALI_GROUP_DECORATIONS, "line", "<line end='0.1 0.2 0.3' " SHOWN "/>", case_d_line, NULL},
    {TALI_GROUP_DECORATIONS, "mesh", "<mesh file='femur.obj' " SHOWN "/>", case_d_mesh, NULL},
    {TALI_GROUP_DECORATIONS, "text", "<text text='a &lt;label&gt; &amp; more' " SHOWN "/>",
     case_d_text, NULL},
};

enum {
    NUM_MODEL_CASES = (int)(sizeof model_cases / sizeof *model_cases)
};

/// The file of a case, with the base model in it. `text` has room for 4000 characters.
static inline const char *case_file(const model_case *c, char text[4000])
{
    const char *sections[TALI_NUM_GROUPS] = {
        [TALI_GROUP_BODIES] = "bodies",     [TALI_GROUP_CONSTRAINTS] = "constraints",
        [TALI_GROUP_MOTIONS] = "motions",   [TALI_GROUP_MEASURES] = "measures",
        [TALI_GROUP_FORCES] = "forces",     [TALI_GROUP_DECORATIONS] = "decorations",
        [TALI_GROUP_FUNCTIONS] = "forces",  [TALI_GROUP_SURFACES] = "forces",
        [TALI_GROUP_MESH_PARTS] = "forces", [TALI_GROUP_LOADS] = "forces",
        [TALI_GROUP_STOPS] = "stops",       [TALI_GROUP_MARKERS] = "markers",
    };
    const char *section = sections[c->group];
    const char *motor = c->group == TALI_GROUP_MEASURES
                            ? "<forces><mobility_actuator name='motor' mobility='b' gain='3' "
                              "measure='x'/></forces>"
                            : "";
    (void)snprintf(text, 4000, "<talus version='1' name='system'>%s\n<%s>\n%s\n</%s>%s</talus>",
                   base_bodies, section, c->xml, section, motor);
    return text;
}

/// The C program of a case, to the State.
static inline built case_program(const model_case *c)
{
    built m = {.system = NULL};
    build_base(&m);
    c->build(&m);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_system_realize_topology(m.system, &err) == TAL_OK, "%s: %s", c->row,
                  err.message);
    ck_assert_int_eq(tal_state_create(m.system, &m.state, &err), TAL_OK);
    if (c->start != NULL) c->start(&m);
    return m;
}

static inline void case_end(built *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
    tal_mesh_destroy(m->mesh);
}

/// The model of a program.
static inline tal_model case_model(const built *m)
{
    return (tal_model){.system = m->system,
                       .state = m->state,
                       .matter = m->matter,
                       .forces = m->forces,
                       .markers = m->markers,
                       .num_markers = m->num_markers};
}

#endif // TALUS_MODEL_CASES_H
