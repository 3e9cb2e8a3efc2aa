// One small file for every element of the table, and the C program that builds the same.
#ifndef TALUS_MODEL_CASES_H
#define TALUS_MODEL_CASES_H

#include "model_cases_forces.h"
#include "model_cases_matter.h"
#include "model_cases_muscles.h"
#include "model_cases_paths.h"
#include "model_cases_unilaterals.h"
#include "model_cases_watch.h"

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

static inline void case_f_polynomial_of_one(built *m)
{
    const double c[] = {2.0};
    MADE(tal_function_create_polynomial(NULL, c, 1, &f, NULL))
}

static inline void case_f_multivariate(built *m)
{
    const double c[] = {2.0, -3.0};
    const int powers[] = {3, 0};
    MADE(tal_function_create_multivariate_polynomial(NULL, c, powers, 2, 1, &f, NULL))
}

static inline void case_f_sinusoid(built *m)
{
    spring_on_b(m, sinusoid_of_time());
}

static inline void case_f_power(built *m)
{
    MADE(tal_function_create_power(NULL, 1.5, 3.0, &f, NULL))
}

static inline void case_f_exponential(built *m)
{
    MADE(tal_function_create_exponential(NULL, 1.5, -0.5, &f, NULL))
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

static inline void case_f_nodes(built *m)
{
    const double x[] = {-2.0, -0.5, 0.5, 2.0}, y[] = {0.1, 0.3, -0.2, 0.4};
    MADE(tal_function_create_nodes(NULL, x, y, 4, TAL_NODES_STEPS, &f, NULL))
}

static inline void case_f_bezier(built *m)
{
    const tal_bezier_node nodes[] = {{-1.0, 0.0, 0.0}, {0.0, 0.5, 1.0}, {1.0, 1.0, 0.0}};
    const double curviness[] = {0.25, 0.75};
    MADE(tal_function_create_bezier(NULL, nodes, curviness, 3, &f, NULL))
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

// by name, from one that uses another
static inline void case_f_function(built *m)
{
    tal_function *parts[] = {spline_of_4(), sinusoid_of_time(), spline_of_4()};
    MADE(tal_function_create_sum(NULL, parts, 3, &f, NULL))
}

#define ENERGY(xml)                                                                                \
    "<mobility_nonlinear_spring name='x' mobility='b'>" xml "</mobility_nonlinear_spring>"
#define SPRING_OF TALI_GROUP_FUNCTIONS

static const model_case model_cases[] = {
    {TALI_GROUP_BODIES, "weld", "<weld " X_BODY "/>", case_weld, NULL},
    {TALI_GROUP_BODIES, "pin", "<pin " X_BODY "/>", case_pin, NULL},
    {TALI_GROUP_BODIES, "slider", "<slider " X_BODY "/>", case_slider, NULL},
    {TALI_GROUP_BODIES, "screw", "<screw pitch='0.3' " X_BODY "/>", case_screw, NULL},
    {TALI_GROUP_BODIES, "rack_and_pinion", "<rack_and_pinion radius='0.4' " X_BODY "/>",
     case_rack_and_pinion, NULL},
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
    {TALI_GROUP_CONSTRAINTS, "disk_on_plane_contact",
     "<disk_on_plane_contact " B_E "plane='" FRAME_1
     "' center='0.4 0.5 0.6' axis='1 2 2' radius='0.2' rolling='yes'/>",
     case_disk_on_plane, NULL},
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
    {TALI_GROUP_MEASURES, "product", WAVE CLOCK "<product name='x' of='w' with='t'/>",
     case_measure_product, NULL},
    {TALI_GROUP_MEASURES, "function",
     WAVE "<function name='x' of='w'><power scale='2' exponent='3'/></function>",
     case_measure_function, NULL},
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
    {TALI_GROUP_MEASURES, "loop_coordinate",
     "<time name='x'/><loop_coordinate name='y' constraint='x' coordinate='1'/></measures>"
     "<constraints><loop_cylinder " B_E "frame1='" FRAME_1 "' frame2='" FRAME_2
     "'/></constraints><measures>",
     case_measure_loop_coordinate, NULL},
    {TALI_GROUP_MEASURES, "path_length", PATH_BEFORE "<path_length name='x' path='p'/>",
     case_path_length, NULL},
    {TALI_GROUP_MEASURES, "unilateral",
     "</measures><unilaterals><rope name='r' body1='b' body2='e' station1='0.1 0.2 0.3' "
     "station2='0.4 0.5 0.6' length='0.7'/></unilaterals><measures>"
     "<unilateral name='x' element='r' what='speed'/>",
     case_measure_unilateral, NULL},
    {TALI_GROUP_MEASURES, "path_speed", PATH_BEFORE "<path_speed name='x' path='p'/>",
     case_path_speed, NULL},
    {TALI_GROUP_WRAPS, "wrap_cylinder",
     "<wrap_cylinder " WRAP_PLACE "radius='0.2' length='0.7'/>" USE_WRAP, case_wrap_cylinder, NULL},
    {TALI_GROUP_WRAPS, "wrap_sphere", "<wrap_sphere " WRAP_PLACE "radius='0.2'/>" USE_WRAP,
     case_wrap_sphere, NULL},
    {TALI_GROUP_WRAPS, "wrap_ellipsoid",
     "<wrap_ellipsoid " WRAP_PLACE "radii='0.2 0.25 0.3'/>" USE_WRAP, case_wrap_ellipsoid, NULL},
    {TALI_GROUP_WRAPS, "wrap_torus",
     "<wrap_torus " WRAP_HOLLOW "ring_radius='0.5' tube_radius='0.1'/>" USE_WRAP, case_wrap_torus,
     NULL},
    {TALI_GROUP_UNILATERALS, "point_on_plane",
     "<point_on_plane " B_E TOUGH "plane='" FRAME_1
     "' station='0.4 0.5 0.6' polygon='0 0 0.5 0 0.5 0.25'/>",
     case_u_point_on_plane, NULL},
    {TALI_GROUP_UNILATERALS, "sphere_on_plane",
     "<sphere_on_plane enabled='no' " B_E TOUGH "plane='" FRAME_1
     "' center='0.4 0.5 0.6' radius='0.3'/>",
     case_u_sphere_on_plane, NULL},
    {TALI_GROUP_UNILATERALS, "sphere_on_sphere",
     "<sphere_on_sphere " B_E TOUGH "center1='0.1 0.2 0.3' radius1='0.4' center2='0.4 0.5 0.6' "
     "radius2='0.2'/>",
     case_u_sphere_on_sphere, NULL},
    {TALI_GROUP_UNILATERALS, "sphere_in_sphere",
     "<sphere_in_sphere " B_E TOUGH "center1='0.1 0.2 0.3' radius1='0.4' center2='0.4 0.5 0.6' "
     "radius2='0.2'/>",
     case_u_sphere_in_sphere, NULL},
    {TALI_GROUP_UNILATERALS, "edge_on_edge",
     "<edge_on_edge " B_E TOUGH "edge1='" FRAME_1 "' edge2='" FRAME_2
     "' half1='0.25' half2='0.5'/>",
     case_u_edge_on_edge, NULL},
    {TALI_GROUP_UNILATERALS, "rope",
     "<rope " B_E "station1='0.1 0.2 0.3' station2='0.4 0.5 0.6' length='0.7'/>", case_u_rope,
     NULL},
    {TALI_GROUP_UNILATERALS, "stop",
     "<stop name='x' mobility='c:1' bound='0.3' restitution='0.25'/>"
     "<stop name='y' mobility='c:1' is_upper='no' bound='-0.3' restitution='0.25'/>",
     case_u_stop, NULL},
    {TALI_GROUP_UNILATERALS, "ratchet",
     "<ratchet name='x' mobility='d' speed='0.3'/>"
     "<ratchet name='y' mobility='d' speed='2' is_upper='yes'/>",
     case_u_ratchet, NULL},
    {TALI_GROUP_UNILATERALS, "dry_friction",
     "<dry_friction name='x' mobility='d' speed='0.3' limit='2.5'/>", case_u_dry_friction, NULL},
    {TALI_GROUP_UNILATERALS, "friction_about",
     LOADED_PIN "<friction_about " B_E TOUGH "axis='0.1 0.2 0.3' load='pin' load_row='2' "
                "load_rows='2' load_weights='1 0.25 1 1 1'/>",
     case_u_friction_about, NULL},
    {TALI_GROUP_UNILATERALS, "friction_along",
     LOADED_PIN "<friction_along " B_E TOUGH "direction='0.1 0.2 0.3' point='0.4 0.5 0.6' "
                "station='0.7 0.8 0.9' load='pin' load_row='3' load_weights='1 0.25 1 1 1'/>",
     case_u_friction_along, NULL},
    {TALI_GROUP_UNILATERALS, "friction_over",
     LOADED_PIN "<friction_over " B_E TOUGH "plane='" FRAME_1 "' station='0.7 0.8 0.9' load='pin' "
                "load_row='4' load_weights='1 0.25 1 1 1'/>",
     case_u_friction_over, NULL},
    {TALI_GROUP_UNILATERALS, "handling",
     "<handling gap_tolerance='1e-5' speed_tolerance='2e-5' capture_speed='0.125' window='1e-9' "
     "pile_up_interval='1e-3' separation='0.25' pile_up='stop' sequential='yes' most_touching='5' "
     "most_sliding='3'/>",
     case_u_handling, NULL},
    {TALI_GROUP_PATHS, "path", PATH(PATH_ENDS), case_path, NULL},
    {TALI_GROUP_PATHS, "function_path",
     "<function_path name='p' coordinates='b; e:1'><linear slopes='0.3 0.4' offset='1'/>"
     "</function_path></paths>" PATH_SPRING "<paths>",
     case_function_path, NULL},
    {TALI_GROUP_PATH_PARTS, "point", PATH(PATH_ENDS), case_path, NULL},
    {TALI_GROUP_PATH_PARTS, "conditional_point",
     PATH(PATH_ENDS "<conditional_point body='b' station='0.1 0.2 0.3' coordinate='e:2' "
                    "range='-0.2 inf'/>"),
     case_path_conditional, NULL},
    {TALI_GROUP_PATH_PARTS, "moving_point",
     PATH(PATH_ENDS "<moving_point body='d' coordinates='b; e:1; d' "
                    "frame='0.1 0.2 0.3 0.4 0.5 0.6'>" PATH_CURVE PATH_CURVE PATH_CURVE
                    "</moving_point>"),
     case_path_moving, NULL},
    {TALI_GROUP_PATH_PARTS, "over",
     "</paths><wraps><wrap_sphere " WRAP_PLACE
     "radius='0.2'/></wraps><paths>" PATH(PATH_ENDS "<over wrap='w'/>"),
     case_wrap_sphere, NULL},
    {TALI_GROUP_FORCES, "path_spring",
     PATH_P "<path_spring name='x' path='p' stiffness='30' rest_length='0.1' dissipation='0.2'/>",
     case_path, NULL},
    {TALI_GROUP_FORCES, "ligament",
     PATH_P "<ligament name='x' path='p' force='20' rest_length='0.1'>" PATH_CURVE "</ligament>",
     case_ligament, NULL},
    {TALI_GROUP_FORCES, "path_actuator",
     PATH_P "<path_actuator name='x' path='p' gain='20' control='0.4'/>", case_path_actuator,
     start_path_actuator},
    {TALI_GROUP_FORCES, "clutched_spring",
     PATH_P "<clutched_spring name='x' path='p' stiffness='20' dissipation='0.1' time='0.2' "
            "control='0.4' z='0.3'/>",
     case_clutched_spring, start_clutched_spring},
    {TALI_GROUP_FORCES, "thelen",
     PATH_P "<thelen " CASE_MUSCLE "pennation='0.2' active_width='0.5' threshold='0.9' "
            "z='0.3 0.4'/>",
     case_thelen, start_z},
    {TALI_GROUP_FORCES, "millard",
     PATH_P "<millard " CASE_MUSCLE "damping='0.2' tendon_strain='0.06' eccentric_curviness='0.8' "
            "initial_activation='0.3' initial_fiber_length='0.4' control='0.6' "
            "control_range='0.1 0.8'/>",
     case_millard, start_millard},
    {TALI_GROUP_FORCES, "degroote",
     PATH_P "<degroote " CASE_MUSCLE "implicit='yes' initial_tendon_force='0.2' "
            "tendon_force_rate='0.7' active_width='1.1' override='12'/>",
     case_degroote, start_degroote},
    {TALI_GROUP_FORCES, "muscle",
     PATH_P "<muscle " CASE_MUSCLE "damping='0.3'>" PATH_CURVE PATH_CURVE PATH_CURVE "</muscle>",
     case_muscle, NULL},
    {TALI_GROUP_FORCES, "prescribed_force",
     "<prescribed_force name='x' body='c' force_frame='e'><force axis='y'>" PATH_CURVE
     "</force><point axis='x'>" PATH_CURVE "</point><torque axis='z'>" PATH_CURVE
     "</torque></prescribed_force>",
     case_prescribed_force, NULL},
    {TALI_GROUP_MEASURES, "muscle_output",
     CALF_FOR_MEASURE "<muscle_output name='y' muscle='calf' output='tendon_power'/>",
     case_muscle_output, start_z},
    {TALI_GROUP_MEASURES, "metabolics",
     CALF_FOR_MEASURE "<metabolics name='y' muscle='calf' model='bhargava' mass='0.4' "
                      "force_shortening='yes' least_heat='no'/>",
     case_metabolics, start_z},
    {TALI_GROUP_MEASURES, "path_tension",
     "<time name='x'/></measures><paths><path name='p'>" PATH_ENDS
     "</path></paths><forces><path_spring name='s' path='p' stiffness='30' rest_length='0.1' "
     "dissipation='0.2'/></forces><measures><path_tension name='y' force='s'/>",
     case_path_tension, NULL},
    {TALI_GROUP_CONTROLLERS, "function_controller",
     CALF_FOR_CONTROLLER "<function_controller name='x'><drive force='calf'>" PATH_CURVE
                         "</drive></function_controller>",
     case_function_controller, start_z},
    {TALI_GROUP_CONTROLLERS, "measure_controller",
     CALF_FOR_CONTROLLER "<measure_controller name='x' force='calf' measure='t' gain='0.4'/>",
     case_measure_controller, start_z},
    {TALI_GROUP_CONTROLLERS, "reflex",
     CALF_FOR_CONTROLLER "<reflex name='x' enabled='no' muscle='calf' gain='0.4'/>", case_reflex,
     start_reflex},
    {TALI_GROUP_CONTROLLERS, "feedback",
     CALF_FOR_CONTROLLER "<feedback name='x' force='calf' mobility='b' stiffness='2' "
                         "damping='0.3'>" PATH_CURVE "</feedback>",
     case_feedback, start_z},
    {TALI_GROUP_STOPS, "stop", STOPS, case_stop, NULL},
    {TALI_GROUP_STOPS, "set", SETS, case_set, NULL},
    {TALI_GROUP_STOPS, "impulse",
     "<impulse name='x' time='0.5' body='c' in='d' station='0.1 0.2 0.3' impulse='1 2 3'/>",
     case_impulse, NULL},
    {TALI_GROUP_STOPS, "mobility_impulse",
     "<mobility_impulse name='x' time='0.5' period='0.125' mobility='c:1' impulse='0.7'/>",
     case_mobility_impulse, NULL},
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
    {TALI_GROUP_FORCES, "mobility_limit",
     "<mobility_limit name='x' mobility='b' range='-0.1 0.2' stiffness='30 40' damping='0.5' "
     "transition='0.05'/>",
     case_mobility_limit, NULL},
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
     "<point_actuator name='x' body='c' station='0.1 0.2 0.3' direction='1 2 2' in_body='yes' point_in_ground='yes' gain='3' "
     "control='0.4'/>",
     case_point_actuator, start_point_actuator_case},
    {TALI_GROUP_FORCES, "two_point_actuator",
     "<two_point_actuator " POINTS "gain='3' control='0.4'/>", case_two_point_actuator,
     start_two_point_actuator_case},
    {TALI_GROUP_FORCES, "torque_actuator",
     "<torque_actuator " B_E "axis='1 2 2' in_ground='yes' gain='3' control='0.4'/>",
     case_torque_actuator, start_torque_actuator_case},
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
    {TALI_GROUP_MATERIALS, "material",
     "<material name='sole' material='rubber' static_friction='0.8'/></materials><forces>" TOUCH(
         "<sphere name='one' body='c' radius='0.6' " SOLE "/>",
         "<sphere name='two' body='e' cliques='3 64' radius='0.7' " SOLE
         "/>") "</forces><materials>",
     case_contact, NULL},
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
    {SPRING_OF, "polynomial", ENERGY("<polynomial coefficients='2'/>"), case_f_polynomial_of_one,
     NULL},
    {SPRING_OF, "multivariate_polynomial",
     ENERGY("<multivariate_polynomial coefficients='2 -3' powers='3 0'/>"), case_f_multivariate,
     NULL},
    {SPRING_OF, "sinusoid", ENERGY(SINUSOID), case_f_sinusoid, NULL},
    {SPRING_OF, "power", ENERGY("<power scale='1.5' exponent='3'/>"), case_f_power, NULL},
    {SPRING_OF, "exponential", ENERGY("<exponential scale='1.5' rate='-0.5'/>"), case_f_exponential,
     NULL},
    {SPRING_OF, "step", ENERGY("<step from='-3 1' to='3 2'/>"), case_f_step, NULL},
    {SPRING_OF, "piecewise_linear",
     ENERGY("<piecewise_linear x='-2 -0.5 0.5 2' y='0.1 0.3 -0.2 0.4'/>"), case_f_piecewise, NULL},
    {SPRING_OF, "spline", ENERGY(SPLINE), case_f_spline, NULL},
    {SPRING_OF, "quintic_spline",
     ENERGY("<quintic_spline x='-2 -0.5 0.5 2' y='0.1 0.3 -0.2 0.4'/>"), case_f_quintic, NULL},
    {SPRING_OF, "nodes", ENERGY("<nodes x='-2 -0.5 0.5 2' y='0.1 0.3 -0.2 0.4' kind='steps'/>"),
     case_f_nodes, NULL},
    {SPRING_OF, "bezier",
     ENERGY("<bezier x='-1 0 1' y='0 0.5 1' slope='0 1 0' curviness='0.25 0.75'/>"), case_f_bezier,
     NULL},
    {SPRING_OF, "sum", ENERGY("<sum>" SPLINE SINUSOID "</sum>"), case_f_sum, NULL},
    {SPRING_OF, "product", ENERGY("<product>" SPLINE SINUSOID "</product>"), case_f_product, NULL},
    {SPRING_OF, "composition", ENERGY("<composition>" SPLINE SINUSOID "</composition>"),
     case_f_composition, NULL},
    {SPRING_OF, "function",
     "</forces><functions><spline name='s' x='-2 -0.5 0.5 2' y='0.1 0.3 -0.2 0.4' end='simm'/>"
     "<sum name='f'><function named='s'/>" SINUSOID "<function named='s'/></sum></functions>"
     "<forces>" ENERGY("<function named='f'/>"),
     case_f_function, NULL},
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
        [TALI_GROUP_BODIES] = "bodies",
        [TALI_GROUP_CONSTRAINTS] = "constraints",
        [TALI_GROUP_UNILATERALS] = "unilaterals",
        [TALI_GROUP_MOTIONS] = "motions",
        [TALI_GROUP_MEASURES] = "measures",
        [TALI_GROUP_FORCES] = "forces",
        [TALI_GROUP_DECORATIONS] = "decorations",
        [TALI_GROUP_FUNCTIONS] = "forces",
        [TALI_GROUP_SURFACES] = "forces",
        [TALI_GROUP_MESH_PARTS] = "forces",
        [TALI_GROUP_LOADS] = "forces",
        [TALI_GROUP_STOPS] = "stops",
        [TALI_GROUP_MARKERS] = "markers",
        [TALI_GROUP_MATERIALS] = "materials",
        [TALI_GROUP_WRAPS] = "wraps",
        [TALI_GROUP_PATHS] = "paths",
        [TALI_GROUP_PATH_PARTS] = "paths",
        [TALI_GROUP_CONTROLLERS] = "controllers",
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
