// What a mechanism of tests/theory/test_dense_*.c is made of, and its kinematics from the
// definitions alone: poses of every mobilizer (doc/mobilizers.md) and rows of every constraint
// (talus/matter/constraints.h) as functions of time.
#ifndef TALUS_DENSE_MECHANISM_H
#define TALUS_DENSE_MECHANISM_H

#include "dense_jet.h"

#include <talus/matter.h>

#include <string.h>

enum {
    DENSE_BODIES = 8, // Ground included
    DENSE_ITEMS = 8,  // constraints
    DENSE_SPEEDS = 6 * (DENSE_BODIES - 1),
    DENSE_ROWS = 6 * DENSE_ITEMS
};

typedef enum dense_kind {
    KIND_WELD,
    KIND_PIN,
    KIND_SLIDER,
    KIND_SCREW,
    KIND_UNIVERSAL,
    KIND_CYLINDER,
    KIND_BEND_STRETCH,
    KIND_PLANAR,
    KIND_GIMBAL,
    KIND_BUSHING,
    KIND_SPHERICAL,
    KIND_TRANSLATION,
    KIND_CANTILEVER,
    KIND_FUNCTIONS,
    // from here on u is not qdot
    KIND_BALL,
    KIND_ELLIPSOID,
    KIND_LINE,
    KIND_FREE_LINE,
    KIND_FREE,
    NUM_DENSE_KINDS
} dense_kind;

typedef struct dense_body {
    dense_kind kind;
    int parent;
    tal_mobod_def def;
    double params[6];    // as the mobilizer has them
    tal_vec3 shift_axis; // of functions: the first of the shifts
    double rotor;
    int nu, u0;
    tal_level known; // of all its mobilities
    double wave[3];  // its motion: amplitude, omega, phase; amplitude 0: a lock
} dense_body;

typedef enum dense_item_kind {
    ITEM_ROD,
    ITEM_BALL,
    ITEM_WELD,
    ITEM_ORIENTATION,
    ITEM_ANGLE,
    ITEM_POINT_IN_PLANE,
    ITEM_POINT_ON_LINE,
    ITEM_COORDINATE,
    ITEM_SPEED,
    ITEM_ACCELERATION,
    ITEM_COUPLER,
    ITEM_SPEED_COUPLER,
    ITEM_MOTION,
    ITEM_NO_SLIP,
    ITEM_STICKING_POINT,
    ITEM_SPHERE_ON_PLANE,
    ITEM_DISK_ON_PLANE,
    ITEM_SPHERE_ON_SPHERE,
    ITEM_LINE_ON_LINE,
    ITEM_LOOP_PIN,
    ITEM_LOOP_SLIDER,
    ITEM_LOOP_CYLINDER,
    ITEM_LOOP_UNIVERSAL,
    ITEM_LOOP_PLANAR,
    ITEM_LOOP_SCREW,
    NUM_ITEM_KINDS
} dense_item_kind;

typedef struct dense_item {
    dense_item_kind kind;
    int body[3];      // 1 and 2; the case of a no-slip, then 1 and 2
    tal_mobility on;  // of rows on mobilities
    tal_mobility too; // and another of a coupler
    tal_vec3 a, b;    // stations or directions on bodies 1 and 2
    tal_xform X, Y;   // frames on bodies 1 and 2
    double size;      // length, radius, angle, value, height, pitch
    int mp, mv, ma;
} dense_item;

typedef struct dense_mechanism {
    int num_bodies, num_items, nu;
    dense_body body[DENSE_BODIES];
    dense_item item[DENSE_ITEMS];
} dense_mechanism;

// --- mobilizers ---

static inline jet33 turns_xyz(const jet q[])
{
    const jet33 x = jet_turn_about(0, q[0]), y = jet_turn_about(1, q[1]),
                z = jet_turn_about(2, q[2]);
    const jet33 xy = jet33_mul(&x, &y);
    return jet33_mul(&xy, &z);
}

static inline jet33 rotation_of_quaternion(const double q[])
{
    real e[4], length = 0.0L;
    for (int i = 0; i < 4; ++i) {
        e[i] = (real)q[i];
        length += e[i] * e[i];
    }
    for (int i = 0; i < 4; ++i) {
        e[i] /= sqrtl(length);
    }
    jet33 R;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const real w = e[0], x = e[1 + i], y = e[1 + j], z = e[1 + k];
        R.e[i][i] = jet_of(1.0L - 2.0L * (y * y + z * z));
        R.e[i][j] = jet_of(2.0L * (x * y - w * z));
        R.e[i][k] = jet_of(2.0L * (x * z + w * y));
    }
    return R;
}

static inline jet_pose pose_of_functions(const dense_body *b, const jet q[])
{
    // rotation[0] = 0.1 q0^3 - 0.2 q0^2 + 0.3 q0 + 1, rotation[1] = 0.5 sin(1.3 q1 + 0.2)
    const jet square = jet_mul(q[0], q[0]);
    const jet bend =
        jet_add(jet_add(jet_scale((real)0.1, jet_mul(square, q[0])), jet_scale(-(real)0.2, square)),
                jet_add(jet_scale((real)0.3, q[0]), jet_of(1.0L)));
    const jet swing =
        jet_scale(0.5L, jet_sin(jet_add(jet_scale((real)1.3, q[1]), jet_of((real)0.2))));
    // translation[0] = 0.4 q0 - 0.7 q1 + 0.1, translation[2] = 0.5 sin(1.3 q0 + 0.2)
    const jet along = jet_add(jet_add(jet_scale((real)0.4, q[0]), jet_scale(-(real)0.7, q[1])),
                              jet_of((real)0.1));
    const jet up = jet_scale(0.5L, jet_sin(jet_add(jet_scale((real)1.3, q[0]), jet_of((real)0.2))));
    const jet33 x = jet_turn_about(0, bend), y = jet_turn_about(1, swing);
    jet_pose X = {jet33_mul(&x, &y), jet3_mul(along, jet3_unit(jet3_of(b->shift_axis)))};
    X.p.e[2] = jet_add(X.p.e[2], up);
    return X;
}

// X_FM of mobilizers whose coordinates are q with rates u.
static inline jet_pose pose_of_coordinates(const dense_body *b, const jet q[])
{
    const jet zero = jet_of(0.0L);
    jet_pose X = jet_pose_of(&TAL_XFORM_IDENTITY);
    switch (b->kind) {
    case KIND_PIN:
        X.R = jet_turn_about(2, q[0]);
        break;
    case KIND_SLIDER:
        X.p.e[0] = q[0];
        break;
    case KIND_SCREW:
        X.R = jet_turn_about(2, q[0]);
        X.p.e[2] = jet_scale((real)b->params[0], q[0]);
        break;
    case KIND_UNIVERSAL:
        X.R = turns_xyz((const jet[]){q[0], q[1], zero});
        break;
    case KIND_CYLINDER:
        X.R = jet_turn_about(2, q[0]);
        X.p.e[2] = q[1];
        break;
    case KIND_BEND_STRETCH:
        X.R = jet_turn_about(2, q[0]);
        X.p = jet3_mul(q[1], jet33_column(&X.R, 0));
        break;
    case KIND_PLANAR:
        X.R = jet_turn_about(2, q[0]);
        X.p.e[0] = q[1], X.p.e[1] = q[2];
        break;
    case KIND_GIMBAL:
        X.R = turns_xyz(q);
        break;
    case KIND_BUSHING:
        X.R = turns_xyz(q);
        X.p = (jet3){{q[3], q[4], q[5]}};
        break;
    case KIND_SPHERICAL: {
        const double *const s = b->params + 2; // signs, then which axis
        const jet33 z =
            jet_turn_about(2, jet_add(jet_scale((real)s[0], q[0]), jet_of((real)b->params[0])));
        const jet33 y =
            jet_turn_about(1, jet_add(jet_scale((real)s[1], q[1]), jet_of((real)b->params[1])));
        X.R = jet33_mul(&z, &y);
        X.p = jet3_mul(jet_scale((real)s[2], q[2]), jet33_column(&X.R, s[3] == 0.0 ? 2 : 0));
        break;
    }
    case KIND_TRANSLATION:
        X.p = (jet3){{q[0], q[1], q[2]}};
        break;
    case KIND_CANTILEVER: {
        const real L = (real)b->params[0];
        X.R = turns_xyz(q);
        X.p.e[0] = jet_scale(2.0L / 3.0L * L, q[1]);
        X.p.e[1] = jet_scale(-2.0L / 3.0L * L, q[0]);
        const jet squares = jet_add(jet_mul(q[0], q[0]), jet_mul(q[1], q[1]));
        X.p.e[2] = jet_sub(jet_of(L), jet_scale(4.0L / 15.0L * L, squares));
        break;
    }
    case KIND_FUNCTIONS:
        return pose_of_functions(b, q);
    default:
        break;
    }
    return X;
}

// X_FM of mobilizers that turn freely: where q says, turning with u.
static inline jet_pose pose_of_turning(const dense_body *b, bool has_angles, const double q[],
                                       const real u[], const real udot[])
{
    const int first = has_angles ? 3 : 4; // coordinate of the shift
    const jet angles[] = {jet_of((real)q[0]), jet_of((real)q[1]), jet_of((real)q[2])};
    const jet33 now = has_angles ? turns_xyz(angles) : rotation_of_quaternion(q);
    const bool is_line = b->kind == KIND_LINE || b->kind == KIND_FREE_LINE;
    const int turns = is_line ? 2 : 3;
    const real w[3] = {u[0], u[1], is_line ? 0.0L : u[2]};
    const real wdot[3] = {udot[0], udot[1], is_line ? 0.0L : udot[2]};
    const jet33 spin = jet_spin(w, wdot);
    jet_pose X = {is_line ? jet33_mul(&now, &spin) : jet33_mul(&spin, &now),
                  jet3_of(TAL_VEC3_ZERO)};
    if (b->kind == KIND_ELLIPSOID) {
        for (int i = 0; i < 3; ++i) {
            X.p.e[i] = jet_scale((real)b->params[i], X.R.e[i][2]);
        }
    } else if (b->kind == KIND_FREE || b->kind == KIND_FREE_LINE) {
        for (int i = 0; i < 3; ++i) {
            X.p.e[i] = (jet){(real)q[first + i], u[turns + i], udot[turns + i]};
        }
    }
    return X;
}

static inline jet_pose mobilizer_pose(const dense_body *b, bool has_angles, const double q[],
                                      const real u[], const real udot[])
{
    jet path[6];
    for (int i = 0; i < b->nu; ++i) {
        path[i] = b->kind < KIND_BALL ? (jet){(real)q[i], u[i], udot[i]} : jet_of(0.0L);
    }
    const jet_pose X = b->kind < KIND_BALL ? pose_of_coordinates(b, path)
                                           : pose_of_turning(b, has_angles, q, u, udot);
    return b->def.direction == TAL_REVERSE ? jet_pose_invert(&X) : X;
}

/// Poses of all bodies in Ground, along u and udot.
static inline void dense_poses(const dense_mechanism *m, const tal_matter *matter,
                               const tal_state *state, const real u[], const real udot[],
                               jet_pose X_GB[])
{
    X_GB[0] = jet_pose_of(&TAL_XFORM_IDENTITY);
    for (int i = 1; i < m->num_bodies; ++i) {
        const dense_body *const b = &m->body[i];
        const tal_body_ix ix = {i};
        const double *const q = tal_state_q(state) + tal_body_q_start(matter, state, ix);
        const bool has_angles = tal_body_uses_angles(matter, state, ix);
        const jet_pose X_FM = mobilizer_pose(b, has_angles, q, u + b->u0, udot + b->u0);
        const jet_pose X_PF = jet_pose_of(&b->def.X_PF), X_BM = jet_pose_of(&b->def.X_BM);
        const jet_pose X_MB = jet_pose_invert(&X_BM);
        const jet_pose X_PM = jet_pose_mul(&X_PF, &X_FM);
        const jet_pose X_PB = jet_pose_mul(&X_PM, &X_MB);
        X_GB[i] = jet_pose_mul(&X_GB[b->parent], &X_PB);
    }
}

// --- constraints ---

static inline int common_ancestor(const dense_mechanism *m, int a, int b)
{
    while (a != b) {
        if (a > b)
            a = m->body[a].parent;
        else
            b = m->body[b].parent;
    }
    return a;
}

static inline jet3 jet_axis(const jet_pose *X, tal_vec3 direction)
{
    return jet33_apply(&X->R, jet3_unit(jet3_of(direction)));
}

// Velocity of the material of a body at the place P, as a jet without a second rate.
static inline jet3 material_velocity(const jet_pose *X, jet3 P)
{
    real V[6], A[6];
    jet_pose_motion(X, V, A);
    const jet3 w = {{{V[0], A[0], 0.0L}, {V[1], A[1], 0.0L}, {V[2], A[2], 0.0L}}};
    return jet3_add(jet3_rate(X->p), jet3_cross(w, jet3_sub(P, X->p)));
}

static inline jet3 slip_at(const jet_pose *one, const jet_pose *two, jet3 P)
{
    return jet3_sub(material_velocity(two, P), material_velocity(one, P));
}

// e of body 1 . e of body 2
static inline jet axes_dot(const jet_pose *F, int i, const jet_pose *M, int k)
{
    return jet3_dot(jet33_column(&F->R, i), jet33_column(&M->R, k));
}

// Turn of M about z of F, in the turn in which z / pitch says it is.
static inline jet screw_angle(const jet_pose *F, const jet_pose *M, real z, real pitch)
{
    const jet c = axes_dot(F, 0, M, 0), s = axes_dot(F, 1, M, 0);
    const real square = c.x * c.x + s.x * s.x, two_pi = 2.0L * acosl(-1.0L);
    jet angle = {atan2l(s.x, c.x), (c.x * s.d - s.x * c.d) / square, 0.0L};
    angle.dd =
        (c.x * s.dd - s.x * c.dd) / square - 2.0L * angle.d * (c.x * c.d + s.x * s.d) / square;
    angle.x += two_pi * roundl((z / pitch - angle.x) / two_pi);
    return angle;
}

// Mx . Fy, My . Fz, Mz . Fx
static inline void parallel_rows(const jet_pose *F, const jet_pose *M, jet row[3])
{
    row[0] = axes_dot(F, 1, M, 0);
    row[1] = axes_dot(F, 2, M, 1);
    row[2] = axes_dot(F, 0, M, 2);
}

// Rows of joints that close loops. Returns their number.
static inline int loop_rows(const dense_item *c, const jet_pose *one, const jet_pose *two,
                            jet row[])
{
    const jet_pose X = jet_pose_of(&c->X), Y = jet_pose_of(&c->Y);
    const jet_pose F = jet_pose_mul(one, &X), M = jet_pose_mul(two, &Y);
    const jet33 R_FG = jet33_transpose(&F.R);
    const jet3 p = jet33_apply(&R_FG, jet3_sub(M.p, F.p));
    int n = 0;
    switch (c->kind) {
    case ITEM_LOOP_SLIDER:
        parallel_rows(&F, &M, row);
        row[3] = p.e[1], row[4] = p.e[2];
        return 5;
    case ITEM_LOOP_UNIVERSAL:
        row[n++] = axes_dot(&F, 0, &M, 1);
        row[n++] = p.e[0], row[n++] = p.e[1], row[n++] = p.e[2];
        return n;
    default:
        row[n++] = axes_dot(&F, 0, &M, 2);
        row[n++] = axes_dot(&F, 1, &M, 2);
    }
    if (c->kind == ITEM_LOOP_PLANAR) {
        row[n++] = p.e[2];
        return n;
    }
    row[n++] = p.e[0], row[n++] = p.e[1];
    if (c->kind == ITEM_LOOP_PIN) row[n++] = p.e[2];
    if (c->kind == ITEM_LOOP_SCREW) {
        const real pitch = (real)c->size;
        row[n++] = jet_sub(p.e[2], jet_scale(pitch, screw_angle(&F, &M, p.e[2].x, pitch)));
    }
    return n;
}

// Spheres in contact: distance, then slip along two directions across the line of centers.
static inline void sphere_rows(const dense_item *c, const jet_pose *one, const jet_pose *two,
                               jet row[])
{
    const real r1 = (real)c->size, r2 = 2.0L * (real)c->size;
    const jet3 c1 = jet_pose_apply(one, jet3_of(c->a)), c2 = jet_pose_apply(two, jet3_of(c->b));
    const jet3 d = jet3_sub(c2, c1), n = jet3_unit(d);
    int least = 0;
    for (int i = 1; i < 3; ++i) {
        const real along = fabsl(jet3_dot(n, jet33_column(&one->R, i)).x);
        if (along < fabsl(jet3_dot(n, jet33_column(&one->R, least)).x)) least = i;
    }
    const jet3 x = jet3_unit(jet3_cross(jet33_column(&one->R, least), n)), y = jet3_cross(n, x);
    const jet3 slip = slip_at(one, two, jet3_add(c1, jet3_scale(r1 / (r1 + r2), d)));
    row[0] = jet_sub(jet3_norm(d), jet_of(r1 + r2));
    row[1] = jet3_dot(x, slip), row[2] = jet3_dot(y, slip);
}

// Edges in contact: distance along the common normal, then slip halfway between the nearest points.
static inline void edge_rows(const dense_item *c, const jet_pose *one, const jet_pose *two,
                             jet row[])
{
    const jet3 x1 = jet_axis(one, c->X.R.x), x2 = jet_axis(two, c->Y.R.x);
    const jet3 P1 = jet_pose_apply(one, jet3_of(c->X.p)), P2 = jet_pose_apply(two, jet3_of(c->Y.p));
    const jet3 d = jet3_sub(P2, P1), across = jet3_cross(x1, x2);
    const bool out = jet3_dot(across, jet_axis(one, c->X.R.z)).x >= 0.0L;
    const jet3 n = jet3_scale(out ? 1.0L : -1.0L, jet3_unit(across));
    // (d + t2 x2 - t1 x1) is across both edges
    const jet cosine = jet3_dot(x1, x2), d1 = jet3_dot(x1, d), d2 = jet3_dot(x2, d);
    const jet by = jet_invert(jet_sub(jet_of(1.0L), jet_mul(cosine, cosine)));
    const jet t1 = jet_mul(by, jet_sub(d1, jet_mul(cosine, d2)));
    const jet t2 = jet_mul(by, jet_sub(jet_mul(cosine, d1), d2));
    const jet3 Q1 = jet3_add(P1, jet3_mul(t1, x1)), Q2 = jet3_add(P2, jet3_mul(t2, x2));
    const jet3 slip = slip_at(one, two, jet3_scale(0.5L, jet3_add(Q1, Q2)));
    row[0] = jet3_dot(n, d);
    row[1] = jet3_dot(x1, slip), row[2] = jet3_dot(jet3_cross(n, x1), slip);
}

// Rows of constraints that act on bodies: position rows as they are, velocity rows without a second
// rate.
static inline void body_rows(const dense_mechanism *m, const dense_item *c, const jet_pose X_GB[],
                             jet row[])
{
    const jet_pose *const one = &X_GB[c->body[0]], *const two = &X_GB[c->body[1]];
    const jet33 R_AG = jet33_transpose(&X_GB[common_ancestor(m, c->body[0], c->body[1])].R);
    const jet3 S1 = jet_pose_apply(one, jet3_of(c->a)), S2 = jet_pose_apply(two, jet3_of(c->b));
    const jet size = jet_of((real)c->size);
    const jet_pose X = jet_pose_of(&c->X), Y = jet_pose_of(&c->Y);
    const jet_pose F = jet_pose_mul(one, &X), M = jet_pose_mul(two, &Y);
    const jet33 R_FG = jet33_transpose(&F.R), R_1G = jet33_transpose(&one->R);
    switch (c->kind) {
    case ITEM_ROD:
        row[0] = jet_sub(jet3_norm(jet3_sub(S2, S1)), size);
        break;
    case ITEM_BALL: {
        const jet3 p = jet33_apply(&R_AG, jet3_sub(S2, S1));
        row[0] = p.e[0], row[1] = p.e[1], row[2] = p.e[2];
        break;
    }
    case ITEM_WELD: {
        const jet3 p = jet33_apply(&R_AG, jet3_sub(M.p, F.p));
        parallel_rows(&F, &M, row);
        row[3] = p.e[0], row[4] = p.e[1], row[5] = p.e[2];
        break;
    }
    case ITEM_ORIENTATION:
        parallel_rows(&F, &M, row);
        break;
    case ITEM_ANGLE:
        row[0] = jet_sub(jet3_dot(jet_axis(one, c->a), jet_axis(two, c->b)), jet_cos(size));
        break;
    case ITEM_POINT_IN_PLANE:
        row[0] = jet_sub(jet3_dot(jet_axis(one, c->a), jet3_sub(S2, one->p)), size);
        break;
    case ITEM_POINT_ON_LINE: {
        const jet3 p = jet33_apply(&R_1G, jet3_sub(S2, one->p));
        const jet3 from = jet3_sub(p, jet3_of(c->X.p));
        const jet3 d = jet3_unit(jet3_of(c->a)), x = jet3_of(tal_v3_perp(c->a));
        row[0] = jet3_dot(x, from), row[1] = jet3_dot(jet3_cross(d, x), from);
        break;
    }
    case ITEM_NO_SLIP: {
        const jet_pose *const at = one; // the case
        const jet3 P = jet_pose_apply(at, jet3_of(c->a));
        row[0] = jet3_dot(jet_axis(at, c->b), slip_at(two, &X_GB[c->body[2]], P));
        break;
    }
    case ITEM_STICKING_POINT: {
        const jet3 slip = slip_at(one, two, S2);
        row[0] = jet33_apply(&R_FG, jet3_sub(S2, F.p)).e[2];
        row[1] = jet3_dot(jet33_column(&F.R, 0), slip);
        row[2] = jet3_dot(jet33_column(&F.R, 1), slip);
        break;
    }
    case ITEM_SPHERE_ON_PLANE: {
        const jet3 z = jet33_column(&F.R, 2), lowest = jet3_sub(S2, jet3_mul(size, z));
        const jet3 slip = slip_at(one, two, lowest);
        row[0] = jet_sub(jet3_dot(z, jet3_sub(S2, F.p)), size);
        row[1] = jet3_dot(jet33_column(&F.R, 0), slip);
        row[2] = jet3_dot(jet33_column(&F.R, 1), slip);
        break;
    }
    case ITEM_DISK_ON_PLANE: {
        // the edge is radius sin(tilt) below the center, along what is across the axis
        const jet3 z = jet33_column(&F.R, 2), a = jet_axis(two, c->Y.R.z);
        const jet3 side = jet3_cross(a, z), up = jet3_cross(side, a);
        const jet3 lowest = jet3_sub(S2, jet3_mul(jet_mul(size, jet_invert(jet3_norm(side))), up));
        const jet3 slip = slip_at(one, two, lowest);
        row[0] = jet_sub(jet3_dot(z, jet3_sub(S2, F.p)), jet_mul(size, jet3_norm(side)));
        row[1] = jet3_dot(jet33_column(&F.R, 0), slip);
        row[2] = jet3_dot(jet33_column(&F.R, 1), slip);
        break;
    }
    case ITEM_SPHERE_ON_SPHERE:
        sphere_rows(c, one, two, row);
        break;
    case ITEM_LINE_ON_LINE:
        edge_rows(c, one, two, row);
        break;
    default:
        (void)loop_rows(c, one, two, row);
    }
}

static inline bool acts_on_mobilities(const dense_item *c)
{
    return c->kind >= ITEM_COORDINATE && c->kind <= ITEM_MOTION;
}

static inline int speed_of(const dense_mechanism *m, tal_mobility at)
{
    return m->body[at.body.i].u0 + at.i;
}

// q, u, udot of a mobility as a jet.
static inline jet coordinate_of(const dense_mechanism *m, const tal_matter *matter,
                                const tal_state *state, tal_mobility at, const real u[],
                                const real udot[])
{
    const int j = speed_of(m, at);
    const double q = tal_state_q(state)[tal_body_q_start(matter, state, at.body) + at.i];
    return (jet){(real)q, u[j], udot[j]};
}

// The row of a constraint on mobilities.
static inline jet mobility_row(const dense_mechanism *m, const tal_matter *matter,
                               const tal_state *state, const dense_item *c, const real u[],
                               const real udot[])
{
    const jet q = coordinate_of(m, matter, state, c->on, u, udot);
    const jet q2 = coordinate_of(m, matter, state, c->too, u, udot);
    const jet t = {(real)tal_state_t(state), 1.0L, 0.0L}, size = jet_of((real)c->size);
    switch (c->kind) {
    case ITEM_COORDINATE:
        return jet_sub(q, size);
    case ITEM_SPEED:
        return jet_sub(jet_rate(q), size);
    case ITEM_ACCELERATION:
        return jet_sub(jet_of(q.dd), size);
    case ITEM_COUPLER: // 0.7 q - 1.3 q2 + size
        return jet_add(jet_add(jet_scale((real)0.7, q), jet_scale(-(real)1.3, q2)), size);
    case ITEM_SPEED_COUPLER: // 0.7 u - 1.3 u2 + 0.4 q + size
        return jet_add(
            jet_add(jet_scale((real)0.7, jet_rate(q)), jet_scale(-(real)1.3, jet_rate(q2))),
            jet_add(jet_scale((real)0.4, (jet){q.x, q.d, 0.0L}), size));
    default: // q - 0.5 sin(size t + 0.3)
        return jet_sub(q, jet_scale(0.5L, jet_sin(jet_add(jet_mul(size, t), jet_of((real)0.3)))));
    }
}

#endif // TALUS_DENSE_MECHANISM_H
