// Programs that build forces as the files of model_cases.h do.
#ifndef TALUS_MODEL_CASES_FORCES_H
#define TALUS_MODEL_CASES_FORCES_H

#include "model_base.h"

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

static inline void case_mobility_limit(built *m)
{
    const tal_limit limit = {-0.1, 0.2, 30.0, 40.0, 0.5, 0.05};
    tal_forces_add_mobility_limit(m->forces, "x", (tal_mobility){m->b, 0}, &limit);
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
    const tal_push push = {m->c, tal_v3(0.1, 0.2, 0.3), tal_v3(1.0, 2.0, 2.0), true, true};
    m->force = tal_forces_add_point_actuator(m->forces, "x", &push, 3.0, (tal_measure_ix){-1});
}

static inline void start_point_actuator_case(built *m)
{
    tal_force_set_param(m->forces, m->state, m->force, TAL_POINT_ACTUATOR_CONTROL, 0.4);
}

static inline void case_torque_actuator(built *m)
{
    const tal_twist twist = {m->b, m->e, tal_v3(1.0, 2.0, 2.0), true};
    m->force = tal_forces_add_torque_actuator(m->forces, "x", &twist, 3.0, (tal_measure_ix){-1});
}

static inline void start_torque_actuator_case(built *m)
{
    tal_force_set_param(m->forces, m->state, m->force, TAL_TORQUE_ACTUATOR_CONTROL, 0.4);
}

static inline void case_two_point_actuator(built *m)
{
    const tal_two_points points = points_b_e(m);
    m->force =
        tal_forces_add_two_point_actuator(m->forces, "x", &points, 3.0, (tal_measure_ix){-1});
}

static inline void start_two_point_actuator_case(built *m)
{
    tal_force_set_param(m->forces, m->state, m->force, TAL_TWO_POINT_ACTUATOR_CONTROL, 0.4);
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
#define SOLE         "frame='" FRAME_2 "' material='sole' " // rubber, in <materials>

#endif // TALUS_MODEL_CASES_FORCES_H
