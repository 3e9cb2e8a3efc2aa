// Programs that build bodies, constraints and motions as the files of model_cases.h do.
#ifndef TALUS_MODEL_CASES_MATTER_H
#define TALUS_MODEL_CASES_MATTER_H

#include "model_base.h"

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
BODY_CASE_WITH(rack_and_pinion, 0.4)
BODY_CASE_WITH(spherical_coords, spherical_params)
BODY_CASE_WITH(ellipsoid, tal_v3(0.3, 0.4, 0.5))
BODY_CASE_WITH(cantilever, 0.7)

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

#define B_E "name='x' body1='b' body2='e' "

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

static inline void case_disk_on_plane(built *m)
{
    BETWEEN(b, e)
    const tal_xform plane = frame_1();
    tal_constraint_add_disk_on_plane_contact(m->matter, &def, &plane, tal_v3(0.4, 0.5, 0.6),
                                             tal_v3(1.0, 2.0, 2.0), 0.2, true);
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

#endif // TALUS_MODEL_CASES_MATTER_H
