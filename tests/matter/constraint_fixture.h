// A mechanism with rows of every level, and its G as a matrix.
#ifndef TALUS_CONSTRAINT_FIXTURE_H
#define TALUS_CONSTRAINT_FIXTURE_H

#include "loop_support.h"

#include <stdlib.h>

enum {
    MAX_N = MAX_LOOP_U,
    MAX_M = MAX_LOOP_ROWS
};

/// build_mixed() with an acceleration row besides: mp = 5, mv = 1, ma = 1.
typedef struct fixture {
    loop l;
    int n, m;
    double udot[MAX_N], f[MAX_N];
    tal_spatial_vec F[16];
} fixture;

static inline void fill(double x[], int n, test_rng *rng)
{
    for (int i = 0; i < n; ++i) {
        x[i] = test_random_uniform(rng, -1.0, 1.0);
    }
}

static inline fixture *make(uint64_t seed)
{
    fixture *x = calloc(1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    test_rng rng = test_rng_seed(seed);
    build_mixed_with(&x->l, &rng, true);
    randomize(&x->l, &rng);
    loop_realize(&x->l, TAL_STAGE_INSTANCE);
    const tal_constraint_rows rows = tal_matter_constraint_rows(x->l.matter, x->l.state);
    x->n = tal_matter_nu(x->l.matter);
    x->m = rows.mp + rows.mv + rows.ma;
    ck_assert_int_eq(rows.mp, 5);
    ck_assert_int_eq(rows.mv, 1);
    ck_assert_int_eq(rows.ma, 1);
    fill(x->udot, x->n, &rng);
    fill(x->f, x->n, &rng);
    for (int b = 1; b < tal_matter_num_bodies(x->l.matter); ++b) {
        x->F[b] = test_random_spatial_vec(&rng);
    }
    return x;
}

static inline void release(fixture *x)
{
    loop_end(&x->l);
    free(x);
}

static inline tal_matrix G_of(const loop *l, double data[])
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(l->matter, l->state);
    const tal_matrix G =
        tal_matrix_view(data, rows.mp + rows.mv + rows.ma, tal_matter_nu(l->matter));
    ck_assert_int_eq(tal_matter_calc_G(l->matter, l->state, TAL_G, G), TAL_OK);
    return G;
}

// y = A x or A^T x
static inline void apply(tal_matrix A, bool transpose, const double x[], double y[])
{
    const int rows = transpose ? A.cols : A.rows, cols = transpose ? A.rows : A.cols;
    for (int i = 0; i < rows; ++i) {
        y[i] = 0.0;
        for (int j = 0; j < cols; ++j) {
            y[i] += (transpose ? A.data[j + i * A.ld] : A.data[i + j * A.ld]) * x[j];
        }
    }
}
#endif // TALUS_CONSTRAINT_FIXTURE_H
