// Kinematics of the tree, base to tip: where every body is, and how it moves.
//
//   quantity                            manual        RBDA          here
//   pose of M in Ground                 X_GM                        pose.R_GM, pose.p_GM
//   parent's Mo to Mo, in Ground        p_PM          r             p_PM
//   hinge columns, in Ground about Mo   H_PM_G        S             H
//   spatial velocity                    V_GM          v             motion.V
//   acceleration at udot = 0            Jdot u        a             motion.A0
//
// Everything is about Mo and expressed in Ground, so H has no shift: a pin's is [axis; 0].
#include "kernel_hinge.h"
#include "kernel_math.h"
#include "kernel_set.h"
#include "sincos.h"

// R_GF, and p_PM as far as F.
typedef struct inboard_frame {
    m3 R_GF;
    v3 p_PF;
} inboard_frame;

static inline inboard_frame place_F(const tali_pose *parent, const tali_constants *constants)
{
    return (inboard_frame){m3_mul(parent->R_GM, constants->R_PF),
                           m3_mul_v3(parent->R_GM, constants->p_PF)};
}

// Turn the frame by the angle about its z axis.
static inline m3 turn_z(m3 R, sine_cosine t)
{
    return (m3){v3_axpy(t.s, R.y, v3_scale(t.c, R.x)), v3_axpy(t.c, R.y, v3_scale(-t.s, R.x)), R.z};
}

static inline m3 rotation_of_quaternion(const double q[])
{
    const real s = 2.0 / fused(q[0], q[0], fused(q[1], q[1], fused(q[2], q[2], q[3] * q[3])));
    const real x = s * q[1], y = s * q[2], z = s * q[3];
    const real wx = q[0] * x, wy = q[0] * y, wz = q[0] * z;
    const real xx = q[1] * x, xy = q[1] * y, xz = q[1] * z;
    const real yy = q[2] * y, yz = q[2] * z, zz = q[3] * z;
    return (m3){{1.0 - (yy + zz), xy + wz, xz - wy},
                {xy - wz, 1.0 - (xx + zz), yz + wx},
                {xz + wy, yz - wx, 1.0 - (xx + yy)}};
}

// Rx(q0) Ry(q1) Rz(q2)
static inline m3 rotation_of_angles(const double q[])
{
    const sine_cosine x = sincos_of(q[0]), y = sincos_of(q[1]), z = sincos_of(q[2]);
    const real sxsy = x.s * y.s, cxsy = x.c * y.s;
    return (m3){{y.c * z.c, fused(sxsy, z.c, x.c * z.s), fused(-cxsy, z.c, x.s * z.s)},
                {-y.c * z.s, fused(-sxsy, z.s, x.c * z.c), fused(cxsy, z.s, x.s * z.c)},
                {y.s, -x.s * y.c, x.c * y.c}};
}

static inline m3 orientation(const double q[], bool use_angles)
{
    return use_angles ? rotation_of_angles(q) : rotation_of_quaternion(q);
}

static inline void set_columns(sv H[], m3 R_GF, bool angular)
{
    const v3 none = {0.0, 0.0, 0.0};
    H[0] = angular ? (sv){R_GF.x, none} : (sv){none, R_GF.x};
    H[1] = angular ? (sv){R_GF.y, none} : (sv){none, R_GF.y};
    H[2] = angular ? (sv){R_GF.z, none} : (sv){none, R_GF.z};
}

// X_GM as far as the hinge settles it: R_GM, and p_PM.
typedef struct outboard_frame {
    m3 R_GM;
    v3 p_PM;
} outboard_frame;

// The general mobilizer: X_FM and H_FM come from its table.
static inline outboard_frame place_general(const tal_xform *X_FM, const sv H_FM[], int nu,
                                           inboard_frame f, sv H[])
{
    for (int j = 0; j < nu; ++j) {
        H[j] = (sv){m3_mul_v3(f.R_GF, H_FM[j].w), m3_mul_v3(f.R_GF, H_FM[j].v)};
    }
    return (outboard_frame){m3_mul(f.R_GF, X_FM->R), m3_muladd(f.R_GF, X_FM->p, f.p_PF)};
}

// Across the hinge of one body, from F to M; writes the hinge columns.
static inline outboard_frame cross_hinge(const tali_tree *tree, const tali_model *model,
                                         const double q[], int b, int general, inboard_frame f,
                                         const tali_position *at)
{
    sv *H = at->H + tree->u0[b];
    const double *qb = q + model->q0[b];
    const v3 none = {0.0, 0.0, 0.0};
    const real sign = tree->sign[b];
    switch ((tali_hinge)tree->hinge[b]) {
    case TALI_HINGE_WELD:
    case TALI_HINGE_PIN: // place_pin() is for these
        break;
    case TALI_HINGE_SLIDER:
        H[0] = (sv){none, v3_scale(sign, f.R_GF.x)};
        return (outboard_frame){f.R_GF, v3_axpy(sign * qb[0], f.R_GF.x, f.p_PF)};
    case TALI_HINGE_BALL:
        set_columns(H, f.R_GF, true);
        return (outboard_frame){m3_mul(f.R_GF, orientation(qb, model->use_angles[b] != 0)), f.p_PF};
    case TALI_HINGE_TRANSLATION:
        set_columns(H, f.R_GF, false);
        return (outboard_frame){f.R_GF, m3_muladd(f.R_GF, (v3){qb[0], qb[1], qb[2]}, f.p_PF)};
    case TALI_HINGE_FREE: {
        const double *p = qb + model->nq[b] - 3;
        set_columns(H, f.R_GF, true);
        set_columns(H + 3, f.R_GF, false);
        return (outboard_frame){m3_mul(f.R_GF, orientation(qb, model->use_angles[b] != 0)),
                                m3_muladd(f.R_GF, (v3){p[0], p[1], p[2]}, f.p_PF)};
    }
    case TALI_HINGE_LOCKED: // known motion takes the same course
    case TALI_HINGE_MIXED:
    case TALI_HINGE_GENERAL:
        return place_general(&at->X_FM[general], at->H_FM + tree->u0[b], tree->nu[b], f, H);
    }
    return (outboard_frame){f.R_GF, f.p_PF};
}

// Sines and cosines of several pins at a time: so many that no angle is read right after it was
// written, which takes the processor long.
enum {
    PINS_AT_A_TIME = 32
};

typedef struct pin_turns {
    real s[PINS_AT_A_TIME], c[PINS_AT_A_TIME];
} pin_turns;

// Of the pins from number `first` on, in the order of bodies.
static inline void turn_pins(const tali_tree *tree, const tali_model *model, const double q[],
                             int first, pin_turns *turns)
{
    const int left = tree->num_pins - first;
    const int n = left < PINS_AT_A_TIME ? left : PINS_AT_A_TIME;
    real angle[PINS_AT_A_TIME];
    for (int i = 0; i < n; ++i) {
        const int b = tree->pins[first + i];
        angle[i] = tree->sign[b] * q[model->q0[b]];
    }
    for (int i = n; i < tali_whole_lanes(n); ++i) {
        angle[i] = 0.0;
    }
    tree->sweeps->sincos(n, angle, turns->s, turns->c);
}

// A pin turns F before the parent turns both: a sweep along a chain waits for R_GM of the parent,
// so what does not need it is done beside that. z of F and z of M are one axis.
static inline void place_pin(const tali_tree *tree, const tali_constants *constants, sine_cosine t,
                             int b, const tali_position *at)
{
    const tali_pose *parent = &at->pose[tree->parent[b]];
    const real sign = tree->sign[b];
    const m3 R_PM = turn_z(constants->R_PF, t);
    const m3 R_GM = m3_mul(parent->R_GM, R_PM);
    const v3 p_PM = m3_mul_v3(parent->R_GM, constants->p_PF);
    at->H[tree->u0[b]] = (sv){v3_scale(sign, R_GM.z), {0.0, 0.0, 0.0}};
    at->pose[b] = (tali_pose){R_GM, v3_add(parent->p_GM, p_PM)};
    at->p_PM[b] = p_PM;
}

// One body: its pose from its parent's, and its hinge columns in Ground.
static inline void place_body(const tali_tree *tree, const tali_constants *constants,
                              const tali_model *model, const double q[], int b, int general,
                              const tali_position *at)
{
    const tali_pose *parent = &at->pose[tree->parent[b]];
    const inboard_frame f = place_F(parent, constants);
    const outboard_frame m = cross_hinge(tree, model, q, b, general, f, at);
    at->pose[b] = (tali_pose){m.R_GM, v3_add(parent->p_GM, m.p_PM)};
    at->p_PM[b] = m.p_PM;
}

static void sweep_position(const tali_tree *tree, const tali_constants constants[],
                           const tali_model *model, const double q[], const tali_position *at)
{
    at->pose[0] = (tali_pose){.R_GM = TAL_MAT3_IDENTITY};
    at->p_PM[0] = TAL_VEC3_ZERO;
    if (tree->num_particles > 0) tree->sweeps->particles_position(tree, constants, model, q, at);
    int general = 0, pin = 0;
    pin_turns turns;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (tree->hinge[b] == TALI_HINGE_PIN) {
            const int i = pin++ % PINS_AT_A_TIME;
            if (i == 0) turn_pins(tree, model, q, pin - 1, &turns);
            place_pin(tree, &constants[b], (sine_cosine){turns.s[i], turns.c[i]}, b, at);
            continue;
        }
        if (tali_is_particle(tree, tree->hinge, b)) continue;
        place_body(tree, &constants[b], model, q, b, general, at);
        general += tree->hinge[b] == TALI_HINGE_GENERAL;
    }
}

// --- velocities ---

// One body: its velocity from its parent's, and the acceleration that velocities alone give it.
//
//     w  = w_P + w_PM               v  = v_P + w_P x p + v_PM
TAL_ALWAYS_INLINE void move_body(const tali_view *view, const double u[], int b, const bool is_pin,
                                 const bool with_A0, int general, const tali_velocity *at)
{
    const tali_motion *parent = &at->motion[view->tree->parent[b]];
    const v3 w_P = parent->V.w;
    const hinge_motion across = move_hinge(view, b, is_pin, u, w_P);
    tali_motion *motion = &at->motion[b];
    motion->V = (sv){v3_add(w_P, across.V_PM.w), v3_add(parent->V.v, across.v_rel)};
    if (!with_A0) return;
    motion->A0 = accelerate(view, b, is_pin, &across, w_P, parent->A0, &at->Hdot_u[general]);
}

TAL_ALWAYS_INLINE void sweep_velocity_of(const tali_view *view, const double u[],
                                         const bool has_particles, const bool with_A0,
                                         const tali_velocity *at)
{
    const tali_tree *tree = view->tree;
    at->motion[0] = (tali_motion){.V = TAL_SPATIAL_VEC_ZERO};
    int general = 0;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (tree->hinge[b] == TALI_HINGE_PIN) {
            move_body(view, u, b, true, with_A0, general, at);
            continue;
        }
        if (has_particles && tali_is_particle(tree, tree->hinge, b)) continue;
        move_body(view, u, b, false, with_A0, general, at);
        general += tree->hinge[b] == TALI_HINGE_GENERAL;
    }
}

// A tree without particles pays nothing for looking.
static void sweep_velocity(const tali_view *view, const double u[], bool with_A0,
                           const tali_velocity *at)
{
    if (view->tree->num_particles > 0) {
        view->sweeps->particles_velocity(view, u, at);
        sweep_velocity_of(view, u, true, true, at);
    } else if (with_A0) {
        sweep_velocity_of(view, u, false, true, at);
    } else {
        sweep_velocity_of(view, u, false, false, at);
    }
}

TAL_ALWAYS_INLINE void coast_body(const tali_view *view, const double u[], int b, const bool is_pin,
                                  int general, tali_motion motion[])
{
    const tali_motion *parent = &motion[view->tree->parent[b]];
    const v3 w_P = parent->V.w;
    const hinge_motion across = move_hinge(view, b, is_pin, u, w_P);
    motion[b].A0 = accelerate(view, b, is_pin, &across, w_P, parent->A0, &view->Hdot_u[general]);
}

static void sweep_A0(const tali_view *view, const double u[], tali_motion motion[])
{
    const tali_tree *tree = view->tree;
    int general = 0;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (tree->hinge[b] == TALI_HINGE_PIN) {
            coast_body(view, u, b, true, general, motion);
            continue;
        }
        coast_body(view, u, b, false, general, motion);
        general += tree->hinge[b] == TALI_HINGE_GENERAL;
    }
}

void TALI_KERNEL(kinematics)(tali_sweeps *out)
{
    out->position = sweep_position;
    out->velocity = sweep_velocity;
    out->A0 = sweep_A0;
}
