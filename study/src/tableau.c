// Explicit Runge-Kutta methods as data.
#include "error_internal.h"

#include <talus/study/tableau.h>

#include <math.h>
#include <stddef.h>

// HNW sec. II.4: c | a, then b, then b_hat.
static const double MERSON_C[] = {0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 2.0, 1.0};

// clang-format off
static const double MERSON_A[] = {
    0.0,       0.0,       0.0,        0.0, 0.0,
    1.0 / 3.0, 0.0,       0.0,        0.0, 0.0,
    1.0 / 6.0, 1.0 / 6.0, 0.0,        0.0, 0.0,
    1.0 / 8.0, 0.0,       3.0 / 8.0,  0.0, 0.0,
    1.0 / 2.0, 0.0,       -3.0 / 2.0, 2.0, 0.0,
};
// clang-format on

static const double MERSON_B[] = {1.0 / 6.0, 0.0, 0.0, 2.0 / 3.0, 1.0 / 6.0};
static const double MERSON_B_HAT[] = {1.0 / 10.0, 0.0, 3.0 / 10.0, 2.0 / 5.0, 1.0 / 5.0};

static const tal_rk_tableau MERSON = {
    .name = "Merson 4(3)",
    .stages = 5,
    .order = 4,
    .embedded_order = 3,
    .a = MERSON_A,
    .b = MERSON_B,
    .b_hat = MERSON_B_HAT,
    .c = MERSON_C,
};

const tal_rk_tableau *tal_rk_merson(void)
{
    return &MERSON;
}

// Sums are of at most 16 rationals of size 10 or so: round-off stays below this.
static const double TOLERANCE = 1e-12;

static bool sums_to(const double terms[], int n, double sum)
{
    for (int i = 0; i < n; ++i) {
        sum -= terms[i];
    }
    return fabs(sum) <= TOLERANCE; // false for a NaN
}

tal_status tal_rk_check(const tal_rk_tableau *tableau, tal_error *err)
{
    if (tableau == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the tableau is NULL");
    const char *name = tableau->name != NULL ? tableau->name : "(no name)";
    if (tableau->a == NULL || tableau->b == NULL || tableau->c == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "tableau '%s' needs a, b and c", name);
    }
    const int s = tableau->stages;
    if (s < 1 || s > TAL_MAX_RK_STAGES || tableau->order < 1 || tableau->embedded_order < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "tableau '%s' has %d stages and orders %d and %d: stages go from 1 to %d",
                         name, s, tableau->order, tableau->embedded_order, TAL_MAX_RK_STAGES);
    }
    for (int i = 0; i < s; ++i) {
        const double *row = tableau->a + i * s;
        for (int j = i; j < s; ++j) {
            if (row[j] == 0.0) continue;
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "tableau '%s' is not explicit: a[%d][%d] is %g", name, i, j, row[j]);
        }
        if (!sums_to(row, i, tableau->c[i])) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "tableau '%s': row %d of a does not sum to %g",
                             name, i, tableau->c[i]);
        }
    }
    if (!sums_to(tableau->b, s, 1.0) ||
        (tableau->b_hat != NULL && !sums_to(tableau->b_hat, s, 1.0))) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "tableau '%s': b or b_hat does not sum to 1",
                         name);
    }
    return TAL_OK;
}
