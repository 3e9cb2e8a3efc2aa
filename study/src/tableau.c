// Explicit Runge-Kutta methods as data.
#include "error_internal.h"

#include <talus/study/tableau.h>

#include <math.h>
#include <stddef.h>

// --- Euler: y1 is the second stage; b_hat is the trapezoid ---

static const double EULER_C[] = {0.0, 1.0};
static const double EULER_A[] = {0.0, 0.0, 1.0, 0.0};
static const double EULER_B[] = {1.0, 0.0};
static const double TRAPEZOID_B[] = {1.0 / 2.0, 1.0 / 2.0};

static const tal_rk_tableau EULER = {
    .name = "Euler 1(2)",
    .stages = 2,
    .order = 1,
    .embedded_order = 2,
    .a = EULER_A,
    .b = EULER_B,
    .b_hat = TRAPEZOID_B,
    .c = EULER_C,
};

const tal_rk_tableau *tal_rk_euler(void)
{
    return &EULER;
}

// --- the explicit trapezoid: the same two the other way round ---

static const tal_rk_tableau TRAPEZOID = {
    .name = "trapezoid 2(1)",
    .stages = 2,
    .order = 2,
    .embedded_order = 1,
    .a = EULER_A,
    .b = TRAPEZOID_B,
    .b_hat = EULER_B,
    .c = EULER_C,
};

const tal_rk_tableau *tal_rk_trapezoid(void)
{
    return &TRAPEZOID;
}

// --- Bogacki and Shampine, Appl. Math. Lett. 2 (1989) 321-325 ---

static const double BS_C[] = {0.0, 1.0 / 2.0, 3.0 / 4.0, 1.0};

// clang-format off
static const double BS_A[] = {
    0.0,       0.0,       0.0,       0.0,
    1.0 / 2.0, 0.0,       0.0,       0.0,
    0.0,       3.0 / 4.0, 0.0,       0.0,
    2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0, 0.0,
};
// clang-format on

static const double BS_B[] = {2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0, 0.0};
static const double BS_B_HAT[] = {7.0 / 24.0, 1.0 / 4.0, 1.0 / 3.0, 1.0 / 8.0};

static const tal_rk_tableau BOGACKI_SHAMPINE = {
    .name = "Bogacki-Shampine 3(2)",
    .stages = 4,
    .order = 3,
    .embedded_order = 2,
    .a = BS_A,
    .b = BS_B,
    .b_hat = BS_B_HAT,
    .c = BS_C,
};

const tal_rk_tableau *tal_rk_bogacki_shampine(void)
{
    return &BOGACKI_SHAMPINE;
}

// --- Merson, HNW sec. II.4 ---

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

// --- Dormand and Prince, HNW sec. II.5; dense output, HNW sec. II.6 ---

static const double DP_C[] = {0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0};

// clang-format off
static const double DP_A[] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0, 0.0,
    19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0, 0.0,
    9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0, 0.0,
    35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0,
};

static const double DP_B[] = {
    35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0,
};

static const double DP_B_HAT[] = {
    5179.0 / 57600.0, 0.0, 7571.0 / 16695.0, 393.0 / 640.0, -92097.0 / 339200.0, 187.0 / 2100.0,
    1.0 / 40.0,
};

static const double DP_D[] = {
    -12715105075.0 / 11282082432.0, 0.0, 87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0, 701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
};
// clang-format on

static const tal_rk_tableau DORMAND_PRINCE = {
    .name = "Dormand-Prince 5(4)",
    .stages = 7,
    .order = 5,
    .embedded_order = 4,
    .a = DP_A,
    .b = DP_B,
    .b_hat = DP_B_HAT,
    .c = DP_C,
    .d = DP_D,
};

const tal_rk_tableau *tal_rk_dormand_prince(void)
{
    return &DORMAND_PRINCE;
}

// --- is it a tableau? ---

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
    if (tableau->d != NULL && !sums_to(tableau->d, s, 0.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "tableau '%s': d does not sum to 0", name);
    }
    return TAL_OK;
}
