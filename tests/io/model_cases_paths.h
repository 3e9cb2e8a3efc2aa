// Programs that build paths as the files of model_cases.h do.
#ifndef TALUS_MODEL_CASES_PATHS_H
#define TALUS_MODEL_CASES_PATHS_H

#include "model_base.h"

#define PATH_ENDS "<point body='c' station='0.1 0.2 0.3'/><point body='e' station='0.4 0.5 0.6'/>"
#define PATH_SPRING                                                                                \
    "<forces><path_spring name='x' path='p' stiffness='30' rest_length='0.1' dissipation='0.2'/>"  \
    "</forces>"
#define WRAP_PLACE  "name='w' body='b' side='-y' frame='0.1 0.2 0.3 0.4 0.5 0.6' "
#define WRAP_HOLLOW "name='w' body='b' frame='0.1 0.2 0.3 0.4 0.5 0.6' "
#define USE_WRAP                                                                                   \
    "</wraps><paths><path name='p'>" PATH_ENDS "<over wrap='w'/></path></paths>" PATH_SPRING       \
    "<wraps>"
#define PATH(parts) "<path name='p'>" parts "</path></paths>" PATH_SPRING "<paths>"
#define PATH_P      "</forces><paths><path name='p'>" PATH_ENDS "</path></paths><forces>"
#define PATH_BEFORE "</measures><paths><path name='p'>" PATH_ENDS "</path></paths><measures>"
#define PATH_CURVE  "<polynomial coefficients='0.5 0.2 -0.7'/>"

static inline void end_path(built *m, tal_path_ix path)
{
    tal_path_add_point(m->forces, path, m->c, tal_v3(0.1, 0.2, 0.3));
    tal_path_add_point(m->forces, path, m->e, tal_v3(0.4, 0.5, 0.6));
}

static inline void pull_path(built *m, tal_path_ix path)
{
    (void)tal_forces_add_path_spring(m->forces, "x", path, 30.0, 0.1, 0.2);
}

static inline tal_path_ix plain_path(built *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "p");
    end_path(m, path);
    return path;
}

static inline void over_wrap(built *m, tal_wrap wrap, tal_wrap_side side)
{
    const tal_xform X = frame_xyz(0.1, 0.2, 0.3, 0.4, 0.5, 0.6);
    wrap.side = side;
    const tal_wrap_ix w = tal_forces_add_wrap(m->forces, "w", m->b, &X, &wrap);
    const tal_path_ix path = plain_path(m);
    (void)tal_path_add_wrap(m->forces, path, w, 0, -1);
    pull_path(m, path);
}

static inline void case_wrap_cylinder(built *m)
{
    over_wrap(m, tal_wrap_cylinder(0.2, 0.7), TAL_WRAP_MINUS_Y);
}

static inline void case_wrap_sphere(built *m)
{
    over_wrap(m, tal_wrap_sphere(0.2), TAL_WRAP_MINUS_Y);
}

static inline void case_wrap_ellipsoid(built *m)
{
    over_wrap(m, tal_wrap_ellipsoid(tal_v3(0.2, 0.25, 0.3)), TAL_WRAP_MINUS_Y);
}

static inline void case_wrap_torus(built *m)
{
    over_wrap(m, tal_wrap_torus(0.5, 0.1), TAL_WRAP_ANY_SIDE);
}

static inline void case_path(built *m)
{
    pull_path(m, plain_path(m));
}

static inline void case_function_path(built *m)
{
    const double slopes[2] = {0.3, 0.4};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, slopes, 2, 1.0, &f, NULL), TAL_OK);
    const tal_mobility at[2] = {{m->b, 0}, {m->e, 1}};
    pull_path(m, tal_forces_add_function_path(m->forces, "p", at, 2, f));
}

static inline void case_path_conditional(built *m)
{
    const tal_path_ix path = plain_path(m);
    tal_path_add_conditional_point(m->forces, path, m->b, tal_v3(0.1, 0.2, 0.3),
                                   (tal_mobility){m->e, 2}, -0.2, INFINITY);
    pull_path(m, path);
}

static inline void case_path_moving(built *m)
{
    const double c[3] = {0.5, 0.2, -0.7};
    const tal_path_ix path = plain_path(m);
    const tal_xform X = frame_xyz(0.1, 0.2, 0.3, 0.4, 0.5, 0.6);
    const tal_mobility at[3] = {{m->b, 0}, {m->e, 1}, {m->d, 0}};
    tal_function *f[3] = {NULL, NULL, NULL};
    for (int k = 0; k < 3; ++k) {
        ck_assert_int_eq(tal_function_create_polynomial(NULL, c, 3, &f[k], NULL), TAL_OK);
    }
    tal_path_add_moving_point(m->forces, path, m->d, &X, at, f);
    pull_path(m, path);
}

static inline void case_ligament(built *m)
{
    const double c[3] = {0.5, 0.2, -0.7};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, c, 3, &f, NULL), TAL_OK);
    (void)tal_forces_add_ligament(m->forces, "x", plain_path(m), 20.0, 0.1, f);
}

static inline void case_path_actuator(built *m)
{
    m->force =
        tal_forces_add_path_actuator(m->forces, "x", plain_path(m), 20.0, (tal_measure_ix){-1});
}

static inline void start_path_actuator(built *m)
{
    (void)tal_force_set_param(m->forces, m->state, m->force, TAL_PATH_ACTUATOR_CONTROL, 0.4);
}

static inline void case_clutched_spring(built *m)
{
    m->force = tal_forces_add_clutched_spring(m->forces, "x", plain_path(m), 20.0, 0.1, 0.2,
                                              (tal_measure_ix){-1});
}

static inline void start_clutched_spring(built *m)
{
    tal_state_upd_z(m->state)[0] = 0.3;
    (void)tal_force_set_param(m->forces, m->state, m->force, TAL_CLUTCHED_SPRING_CONTROL, 0.4);
}

static inline void drive_by_path(built *m, tal_measure_ix measure)
{
    (void)tal_forces_add_mobility_actuator(m->forces, "motor", (tal_mobility){m->b, 0}, 3.0,
                                           measure);
}

static inline void case_path_length(built *m)
{
    drive_by_path(m, tal_measure_add_path_length(m->forces, "x", plain_path(m)));
}

static inline void case_path_speed(built *m)
{
    drive_by_path(m, tal_measure_add_path_speed(m->forces, "x", plain_path(m)));
}

#endif // TALUS_MODEL_CASES_PATHS_H
