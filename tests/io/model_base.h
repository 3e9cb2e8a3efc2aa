// The model that every case of model_cases.h adds an element to.
#ifndef TALUS_MODEL_BASE_H
#define TALUS_MODEL_BASE_H

#include "model/model_internal.h"
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
    tali_model_group group;
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

// ---- what cases share

static inline tal_function *spline_of_4(void)
{
    const double x[] = {-2.0, -0.5, 0.5, 2.0}, y[] = {0.1, 0.3, -0.2, 0.4};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_spline(NULL, x, y, 4, TAL_SPLINE_SIMM, &f, NULL), TAL_OK);
    return f;
}

#define SPLINE "<spline x='-2 -0.5 0.5 2' y='0.1 0.3 -0.2 0.4' end='simm'/>"

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

#endif // TALUS_MODEL_BASE_H
