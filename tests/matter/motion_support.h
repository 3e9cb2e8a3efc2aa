// Differences along the motion of a State, for tests of the responses.
#ifndef TALUS_MOTION_SUPPORT_H
#define TALUS_MOTION_SUPPORT_H

#include "random_tree.h"

#include <math.h>

enum {
    MAX_OBSERVED = 64
};

/// Something seen in a State that is `t` later than the one a test is about.
typedef void (*observe_fn)(const void *context, tal_state *state, double t, double seen[]);

/// The State at time t on a path that leaves `from` (realized to Acceleration) with its qdot and
/// udot: q + t qdot, u + t udot. First derivatives at t = 0 of what depends on q and u are the true
/// ones.
static inline void follow(const tal_state *from, double t, tal_state *to)
{
    ck_assert_int_eq(tal_state_copy(to, from), TAL_OK);
    double *q = tal_state_upd_q(to);
    double *u = tal_state_upd_u(to);
    const double *qdot = tal_state_qdot(from), *udot = tal_state_udot(from);
    for (int i = 0; i < tal_state_nq(from); ++i) {
        q[i] += t * qdot[i];
    }
    for (int j = 0; j < tal_state_nu(from); ++j) {
        u[j] += t * udot[j];
    }
}

/// The time derivative of `n` observed numbers along the motion, by central differences of fourth
/// order.
static inline void differentiate(const random_tree *tree, tal_stage stage, observe_fn observe,
                                 const void *context, int n, double dot[])
{
    static const double weight[] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
    static const int steps[] = {-2, -1, 1, 2};
    const double h = 2e-4;
    tal_state *later = NULL;
    ck_assert_int_eq(tal_state_create(tree->system, &later, NULL), TAL_OK);
    for (int i = 0; i < n; ++i) {
        dot[i] = 0.0;
    }
    for (int k = 0; k < 4; ++k) {
        double seen[MAX_OBSERVED];
        follow(tree->state, steps[k] * h, later);
        random_tree_realize(tree, later, stage);
        observe(context, later, steps[k] * h, seen);
        for (int i = 0; i < n; ++i) {
            dot[i] += weight[k] / h * seen[i];
        }
    }
    tal_state_destroy(later);
}

/// The largest absolute value, or 1.
static inline double size_of(const double x[], int n)
{
    double size = 1.0;
    for (int i = 0; i < n; ++i) {
        size = fmax(size, fabs(x[i]));
    }
    return size;
}

/// Write a transform, or the rate of one that moves with V: (w x R, v).
static inline void write_xform(tal_xform X, double to[12])
{
    memcpy(to, &X, sizeof X);
}

static inline void write_xform_rate(tal_xform X, tal_spatial_vec V, double to[12])
{
    const tal_xform rate = {tal_v3_cross_m3(V.w, X.R), V.v};
    memcpy(to, &rate, sizeof rate);
}

/// Whether every double of a value is NaN.
static inline bool all_nan(const void *value, size_t bytes)
{
    const double *x = value;
    for (size_t i = 0; i < bytes / sizeof *x; ++i) {
        if (!isnan(x[i])) return false;
    }
    return true;
}

/// `x = call` must break the contract exactly once, as test_assert_breach() says, and give NaN in
/// every number.
#define test_assert_nan(x, call, status, part)                                                     \
    do {                                                                                           \
        memset(&(x), 0, sizeof(x));                                                                \
        test_assert_breach((x) = (call), status, part);                                            \
        ck_assert_msg(all_nan(&(x), sizeof(x)), "%s is not NaN", #call);                           \
    } while (0)

#endif // TALUS_MOTION_SUPPORT_H
