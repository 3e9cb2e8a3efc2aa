// Mechanisms of the reference cases, made of the constraints in loop_support.h.
#ifndef TALUS_MECHANISM_SUPPORT_H
#define TALUS_MECHANISM_SUPPORT_H

#include "loop_support.h"
#include "ref_loop_7pin_ball.h"

// --- a spatial loop ---

static inline tal_xform xform_of(const double e[6])
{
    static const tal_axis xyz[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    return tal_xf(tal_rotation_from_angles(TAL_BODY_FIXED, 3, xyz, e), tal_v3(e[3], e[4], e[5]));
}

static inline tal_vec3 vec(const double v[3])
{
    return tal_v3(v[0], v[1], v[2]);
}

/// refs:loop_7pin_ball where it starts, with the ball repeated.
static inline void build_seven_pins(loop *l, int copies)
{
    loop_begin(l);
    l->gravity = vec(loop_7pin_gravity);
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i < 7; ++i) {
        const loop_7pin_body *b = &loop_7pin[i];
        tal_mobod_def def = tal_mobod_def_default();
        const tal_vec3 com = vec(b->com);
        const tal_sym3 I = {b->moments[0],  b->moments[1],  b->moments[2],
                            b->products[0], b->products[1], b->products[2]};
        def.X_PF = xform_of(b->X_PF), def.X_BM = xform_of(b->X_BM);
        def.mass.mass = b->mass, def.mass.com = com;
        def.mass.inertia = tal_s3_add(I, tal_s3_scale(b->mass, tal_s3_cross_square(com)));
        last = tal_matter_add_pin(l->matter, last, &def);
        l->push[i] = b->tau;
    }
    for (int k = 0; k < copies; ++k) {
        (void)add_ball(l, TAL_GROUND, vec(loop_7pin_target), last, vec(loop_7pin_tip));
    }
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
    for (int i = 0; i < 7; ++i) {
        tal_state_upd_q(l->state)[i] = loop_7pin[i].q;
        tal_state_upd_u(l->state)[i] = loop_7pin[i].u;
    }
}

// --- Andrews' squeezer ---

static inline tal_mass_props lump(double mass, double x, double y, double I)
{
    const tal_vec3 com = tal_v3(x, y, 0.0);
    const tal_sym3 about_com = {I, I, I, 0.0, 0.0, 0.0};
    const tal_mass_props props = {
        mass, com, tal_s3_add(about_com, tal_s3_scale(mass, tal_s3_cross_square(com)))};
    return props;
}

static inline tal_body_ix add_link(loop *l, tal_body_ix parent, double x, double y,
                                   tal_mass_props mass)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = mass;
    def.X_PF.p = tal_v3(x, y, 0.0);
    return tal_matter_add_pin(l->matter, parent, &def);
}

/// What Andrews' squeezer is driven by besides gravity, which it lacks: a spring from D on K3 to C.
typedef struct squeezer_spring {
    tal_matter *matter;
    int body;
} squeezer_spring;

static inline tal_status squeezer_force(const void *self, const tal_system *system,
                                        tal_state *state)
{
    (void)system;
    const squeezer_spring *s = self;
    const tal_body_ix body = {s->body};
    const tal_vec3 p_BD = tal_v3(0.02, -0.018, 0.0), p_C = tal_v3(0.014, 0.072, 0.0);
    const tal_xform X_GB = tal_body_X_GB(s->matter, state, body);
    const tal_vec3 d = tal_v3_sub(p_C, tal_xf_apply(X_GB, p_BD));
    const double L = tal_v3_norm(d);
    const tal_applied_forces to = tal_matter_upd_forces(s->matter, state);
    const tal_bodies_view poses = tal_matter_poses(s->matter, state);
    tal_apply_station_force(&poses, s->body, p_BD, tal_v3_scale(4530.0 * (L - 0.07785) / L, d),
                            to.F_GM);
    return TAL_OK;
}

static const tal_subsystem_ops squeezer_ops = {
    .size = sizeof squeezer_ops, .name = "spring", .realize_dynamics = squeezer_force};

/// refs:a03_andrews_squeezer where it starts. Speeds: beta, theta, gamma, delta, phi, epsilon,
/// omega; E of K2 meets E of K3, K4 and K6. `spring` must live as long as the System.
static inline void build_squeezer(loop *l, squeezer_spring *spring)
{
    loop_begin(l);
    l->gravity = tal_v3(0.0, 0.0, 0.0);
    l->push[0] = 0.033;
    const double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273;
    const tal_body_ix K1 = add_link(l, TAL_GROUND, 0.0, 0.0, lump(0.04325, 0.00092, 0.0, 2.194e-6));
    const tal_body_ix K2 = add_link(l, K1, 0.007, 0.0, lump(0.00365, -0.0115, 0.0, 4.41e-7));
    const tal_body_ix K3 =
        add_link(l, TAL_GROUND, xb, yb, lump(0.02373, 0.01043, -0.01874, 5.255e-6));
    const tal_body_ix K5 =
        add_link(l, TAL_GROUND, xa, ya, lump(0.0705, 0.02308, 0.00916, 1.169e-5));
    const tal_body_ix K4 =
        add_link(l, K5, 0.04, 0.0, lump(0.00706, 0.0, -(0.02 - 0.01421), 5.667e-7));
    const tal_body_ix K7 =
        add_link(l, TAL_GROUND, xa, ya, lump(0.05498, -0.00449, -0.01228, 1.912e-5));
    const tal_body_ix K6 =
        add_link(l, K7, 0.0, -0.04, lump(0.00706, 0.02 - 0.01421, 0.0, 5.667e-7));
    const tal_vec3 E_2 = tal_v3(-0.028, 0.0, 0.0);
    (void)add_ball(l, K3, tal_v3(0.0, -0.035, 0.0), K2, E_2);
    (void)add_ball(l, K4, tal_v3(0.0, -0.02, 0.0), K2, E_2);
    (void)add_ball(l, K6, tal_v3(0.02, 0.0, 0.0), K2, E_2);
    *spring = (squeezer_spring){l->matter, K3.i};
    (void)tal_system_add_subsystem(l->system, NULL, &squeezer_ops, spring);
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
    // beta, theta, gamma, delta, phi, epsilon, omega
    const double q[] = {-0.061713890014276449636, 0.0,
                        0.45527981916307038026,   0.48736497954384255023,
                        0.22266839016588588467,   1.2305474445498211925,
                        -0.22266839016588588467};
    ck_assert_int_eq(tal_state_set_q(l->state, q, 7), TAL_OK);
}

// --- Bricard's mechanism ---

// A frame at `p` whose z is the axis of a Bricard joint: x, y or z of Ground.
static inline tal_xform bricard_joint(char axis, tal_vec3 p)
{
    const tal_mat3 about_x = {{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}};
    const tal_mat3 about_y = {{1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}};
    return tal_xf(axis == 'x' ? about_x : axis == 'y' ? about_y : TAL_MAT3_IDENTITY, p);
}

/// refs:a04_bricard_slender where it starts.
static inline void build_bricard(loop *l)
{
    static const char axes[] = "yzxyz";
    static const double to_next[5][3] = {
        {1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, 1.0}, {-1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    loop_begin(l);
    tal_body_ix last = TAL_GROUND;
    tal_vec3 p = tal_v3(0.0, 0.0, 0.0);
    for (int i = 0; i < 5; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        const tal_xform middle = tal_xf_from_p(tal_v3_scale(0.5, vec(to_next[i])));
        const tal_mass_props rod = tal_mass_props_rod(1.0, middle.p);
        def.mass = tal_mass_props_transform(&middle, &rod);
        def.X_PF = bricard_joint(axes[i], p);
        def.X_BM = bricard_joint(axes[i], tal_v3(0.0, 0.0, 0.0));
        last = tal_matter_add_pin(l->matter, last, &def);
        p = tal_v3(to_next[i][0], to_next[i][1], to_next[i][2]);
    }
    const tal_xform on_ground = bricard_joint('x', tal_v3(0.0, 0.0, 1.0));
    const tal_xform on_rod = bricard_joint('x', p);
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, last);
    (void)tal_constraint_add_loop_pin(l->matter, &def, &on_ground, &on_rod);
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
}

#endif // TALUS_MECHANISM_SUPPORT_H
