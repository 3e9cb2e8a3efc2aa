// Numbers, vectors and rotations that carry two time derivatives, in long double: the oracle of
// tests of theory differentiates nothing by hand.
#ifndef TALUS_DENSE_JET_H
#define TALUS_DENSE_JET_H

#include <talus/common.h>

#include <math.h>

typedef long double real;

/// A value, its rate, and the rate of that.
typedef struct jet {
    real x, d, dd;
} jet;

typedef struct jet3 {
    jet e[3];
} jet3;

/// e[row][column]
typedef struct jet33 {
    jet e[3][3];
} jet33;

typedef struct jet_pose {
    jet33 R;
    jet3 p;
} jet_pose;

static inline jet jet_of(real x)
{
    return (jet){x, 0.0L, 0.0L};
}

static inline jet jet_add(jet a, jet b)
{
    return (jet){a.x + b.x, a.d + b.d, a.dd + b.dd};
}

static inline jet jet_scale(real s, jet a)
{
    return (jet){s * a.x, s * a.d, s * a.dd};
}

static inline jet jet_sub(jet a, jet b)
{
    return jet_add(a, jet_scale(-1.0L, b));
}

static inline jet jet_mul(jet a, jet b)
{
    return (jet){a.x * b.x, a.d * b.x + a.x * b.d, a.dd * b.x + 2.0L * a.d * b.d + a.x * b.dd};
}

// f(a) from f, f' and f'' at a.x.
static inline jet jet_chain(jet a, real f, real f1, real f2)
{
    return (jet){f, f1 * a.d, f2 * a.d * a.d + f1 * a.dd};
}

static inline jet jet_sin(jet a)
{
    return jet_chain(a, sinl(a.x), cosl(a.x), -sinl(a.x));
}

static inline jet jet_cos(jet a)
{
    return jet_chain(a, cosl(a.x), -sinl(a.x), -cosl(a.x));
}

static inline jet jet_sqrt(jet a)
{
    const real s = sqrtl(a.x);
    return jet_chain(a, s, 0.5L / s, -0.25L / (s * a.x));
}

static inline jet jet_invert(jet a)
{
    return jet_chain(a, 1.0L / a.x, -1.0L / (a.x * a.x), 2.0L / (a.x * a.x * a.x));
}

/// The rate as a jet of its own; its second rate is not known and stands at 0.
static inline jet jet_rate(jet a)
{
    return (jet){a.d, a.dd, 0.0L};
}

// --- vectors ---

static inline jet3 jet3_of(tal_vec3 v)
{
    return (jet3){{jet_of((real)v.x), jet_of((real)v.y), jet_of((real)v.z)}};
}

static inline jet3 jet3_add(jet3 a, jet3 b)
{
    return (jet3){{jet_add(a.e[0], b.e[0]), jet_add(a.e[1], b.e[1]), jet_add(a.e[2], b.e[2])}};
}

static inline jet3 jet3_mul(jet s, jet3 a)
{
    return (jet3){{jet_mul(s, a.e[0]), jet_mul(s, a.e[1]), jet_mul(s, a.e[2])}};
}

static inline jet3 jet3_scale(real s, jet3 a)
{
    return jet3_mul(jet_of(s), a);
}

static inline jet3 jet3_sub(jet3 a, jet3 b)
{
    return jet3_add(a, jet3_scale(-1.0L, b));
}

static inline jet jet3_dot(jet3 a, jet3 b)
{
    return jet_add(jet_mul(a.e[0], b.e[0]),
                   jet_add(jet_mul(a.e[1], b.e[1]), jet_mul(a.e[2], b.e[2])));
}

static inline jet3 jet3_cross(jet3 a, jet3 b)
{
    jet3 c;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c.e[i] = jet_sub(jet_mul(a.e[j], b.e[k]), jet_mul(a.e[k], b.e[j]));
    }
    return c;
}

static inline jet jet3_norm(jet3 a)
{
    return jet_sqrt(jet3_dot(a, a));
}

static inline jet3 jet3_unit(jet3 a)
{
    return jet3_mul(jet_invert(jet3_norm(a)), a);
}

static inline jet3 jet3_rate(jet3 a)
{
    return (jet3){{jet_rate(a.e[0]), jet_rate(a.e[1]), jet_rate(a.e[2])}};
}

// --- rotations and poses ---

static inline jet33 jet33_of(const tal_mat3 *A)
{
    const tal_vec3 columns[] = {A->x, A->y, A->z};
    jet33 out;
    for (int k = 0; k < 3; ++k) {
        const jet3 c = jet3_of(columns[k]);
        for (int i = 0; i < 3; ++i) {
            out.e[i][k] = c.e[i];
        }
    }
    return out;
}

static inline jet3 jet33_column(const jet33 *A, int k)
{
    return (jet3){{A->e[0][k], A->e[1][k], A->e[2][k]}};
}

static inline jet33 jet33_transpose(const jet33 *A)
{
    jet33 out;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            out.e[i][k] = A->e[k][i];
        }
    }
    return out;
}

static inline jet3 jet33_apply(const jet33 *A, jet3 v)
{
    jet3 out;
    for (int i = 0; i < 3; ++i) {
        out.e[i] = jet3_dot((jet3){{A->e[i][0], A->e[i][1], A->e[i][2]}}, v);
    }
    return out;
}

static inline jet33 jet33_mul(const jet33 *A, const jet33 *B)
{
    jet33 out;
    for (int k = 0; k < 3; ++k) {
        const jet3 c = jet33_apply(A, jet33_column(B, k));
        for (int i = 0; i < 3; ++i) {
            out.e[i][k] = c.e[i];
        }
    }
    return out;
}

/// A turn by `angle` about an axis of length 1 that stands still (Rodrigues).
static inline jet33 jet_turn(const real axis[3], jet angle)
{
    const jet s = jet_sin(angle), c = jet_cos(angle), rest = jet_sub(jet_of(1.0L), c);
    jet33 out;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out.e[i][i] = jet_add(c, jet_scale(axis[i] * axis[i], rest));
        out.e[i][j] = jet_sub(jet_scale(axis[i] * axis[j], rest), jet_scale(axis[k], s));
        out.e[i][k] = jet_add(jet_scale(axis[i] * axis[k], rest), jet_scale(axis[j], s));
    }
    return out;
}

static inline jet33 jet_turn_about(int axis, jet angle)
{
    const real e[3][3] = {{1.0L, 0.0L, 0.0L}, {0.0L, 1.0L, 0.0L}, {0.0L, 0.0L, 1.0L}};
    return jet_turn(e[axis], angle);
}

/// A rotation that is 1 now and turns with w, and w at the rate b: 1 + [t] + [t]^2 / 2 with t = w s
/// + b s^2 / 2.
static inline jet33 jet_spin(const real w[3], const real b[3])
{
    jet33 out;
    real ww = 0.0L;
    for (int i = 0; i < 3; ++i) {
        ww += w[i] * w[i];
    }
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out.e[i][i] = (jet){1.0L, 0.0L, w[i] * w[i] - ww};
        out.e[i][j] = (jet){0.0L, -w[k], w[i] * w[j] - b[k]};
        out.e[i][k] = (jet){0.0L, w[j], w[i] * w[k] + b[j]};
    }
    return out;
}

static inline jet_pose jet_pose_of(const tal_xform *X)
{
    return (jet_pose){jet33_of(&X->R), jet3_of(X->p)};
}

static inline jet3 jet_pose_apply(const jet_pose *X, jet3 p)
{
    return jet3_add(X->p, jet33_apply(&X->R, p));
}

static inline jet_pose jet_pose_mul(const jet_pose *X, const jet_pose *Y)
{
    return (jet_pose){jet33_mul(&X->R, &Y->R), jet_pose_apply(X, Y->p)};
}

static inline jet_pose jet_pose_invert(const jet_pose *X)
{
    const jet33 R = jet33_transpose(&X->R);
    return (jet_pose){R, jet3_scale(-1.0L, jet33_apply(&R, X->p))};
}

/// Spatial velocity (w, v) and acceleration of a pose: Rdot R^T = [w], and the skew part of Rddot
/// R^T is [wdot].
static inline void jet_pose_motion(const jet_pose *X, real V[6], real A[6])
{
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        V[i] = A[i] = 0.0L;
        for (int c = 0; c < 3; ++c) {
            const jet *const rj = &X->R.e[j][c], *const rk = &X->R.e[k][c];
            V[i] += 0.5L * (rk->d * rj->x - rj->d * rk->x);
            A[i] += 0.5L * (rk->dd * rj->x - rj->dd * rk->x);
        }
        V[3 + i] = X->p.e[i].d;
        A[3 + i] = X->p.e[i].dd;
    }
}

/// A pose that stands where X is and moves with V and A.
static inline jet_pose jet_pose_moving(const jet_pose *X, const real V[6], const real A[6])
{
    jet33 now = X->R;
    jet3 p = X->p;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            now.e[i][k].d = now.e[i][k].dd = 0.0L;
        }
        p.e[i].d = V[3 + i], p.e[i].dd = A[3 + i];
    }
    const jet33 spin = jet_spin(V, A);
    return (jet_pose){jet33_mul(&spin, &now), p};
}

#endif // TALUS_DENSE_JET_H
