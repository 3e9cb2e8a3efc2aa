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

// --- Fehlberg, NASA TR R-315 (1969), tab. III; the solution of order 5 is the one that goes on ---

static const double FEHLBERG_C[] = {0.0, 1.0 / 4.0, 3.0 / 8.0, 12.0 / 13.0, 1.0, 1.0 / 2.0};

// clang-format off
static const double FEHLBERG_A[] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    1.0 / 4.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    3.0 / 32.0, 9.0 / 32.0, 0.0, 0.0, 0.0, 0.0,
    1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0, 0.0, 0.0, 0.0,
    439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0, 0.0, 0.0,
    -8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0, 0.0,
};

static const double FEHLBERG_B[] = {
    16.0 / 135.0, 0.0, 6656.0 / 12825.0, 28561.0 / 56430.0, -9.0 / 50.0, 2.0 / 55.0,
};

static const double FEHLBERG_B_HAT[] = {
    25.0 / 216.0, 0.0, 1408.0 / 2565.0, 2197.0 / 4104.0, -1.0 / 5.0, 0.0,
};
// clang-format on

static const tal_rk_tableau FEHLBERG = {
    .name = "Fehlberg 5(4)",
    .stages = 6,
    .order = 5,
    .embedded_order = 4,
    .a = FEHLBERG_A,
    .b = FEHLBERG_B,
    .b_hat = FEHLBERG_B_HAT,
    .c = FEHLBERG_C,
};

const tal_rk_tableau *tal_rk_fehlberg(void)
{
    return &FEHLBERG;
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

// --- Bogacki and Shampine, Comput. Math. Appl. 32 (1996) 15-28 ---
//
// The conditions of order 4 for dense output leave d a plane; d is where those of order 5, in the
// middle of the step, are met best (least squares).

// clang-format off
static const double BS5_C[] = {
    0.0, 1.0 / 6.0, 2.0 / 9.0, 3.0 / 7.0, 2.0 / 3.0, 3.0 / 4.0, 1.0, 1.0,
};

static const double BS5_A[] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    1.0 / 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    2.0 / 27.0, 4.0 / 27.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    183.0 / 1372.0, -162.0 / 343.0, 1053.0 / 1372.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    68.0 / 297.0, -4.0 / 11.0, 42.0 / 143.0, 1960.0 / 3861.0, 0.0, 0.0, 0.0, 0.0,
    597.0 / 22528.0, 81.0 / 352.0, 63099.0 / 585728.0, 58653.0 / 366080.0, 4617.0 / 20480.0, 0.0,
        0.0, 0.0,
    174197.0 / 959244.0, -30942.0 / 79937.0, 8152137.0 / 19744439.0, 666106.0 / 1039181.0,
        -29421.0 / 29068.0, 482048.0 / 414219.0, 0.0, 0.0,
    587.0 / 8064.0, 0.0, 4440339.0 / 15491840.0, 24353.0 / 124800.0, 387.0 / 44800.0,
        2152.0 / 5985.0, 7267.0 / 94080.0, 0.0,
};

static const double BS5_B[] = {
    587.0 / 8064.0, 0.0, 4440339.0 / 15491840.0, 24353.0 / 124800.0, 387.0 / 44800.0,
    2152.0 / 5985.0, 7267.0 / 94080.0, 0.0,
};

static const double BS5_B_HAT[] = {
    2479.0 / 34992.0, 0.0, 123.0 / 416.0, 612941.0 / 3411720.0, 43.0 / 1440.0, 2272.0 / 6561.0,
    79937.0 / 1113912.0, 3293.0 / 556956.0,
};

static const double BS5_D[] = {
    -1.4125400028069842304, 0.0, 2.2939669152170621445, 0.8633258651716355702,
    -1.4696752741209117615, -1.5003751783133823555, 0.3132841131698019930, 0.9120135616827786397,
};
// clang-format on

static const tal_rk_tableau BOGACKI_SHAMPINE_5 = {
    .name = "Bogacki-Shampine 5(4)",
    .stages = 8,
    .order = 5,
    .embedded_order = 4,
    .a = BS5_A,
    .b = BS5_B,
    .b_hat = BS5_B_HAT,
    .c = BS5_C,
    .d = BS5_D,
};

const tal_rk_tableau *tal_rk_bogacki_shampine_5(void)
{
    return &BOGACKI_SHAMPINE_5;
}

// --- Verner's "most efficient" 8(7) pair: RKV87.IIa.Efficient.000000282866.081208 of his
// collection (www.sfu.ca/~jverner), where it has 40 digits; the family, SIAM J. Numer. Anal. 15
// (1978) 772-790
// ---
//
// d is chosen as above, without the last stage, which only b_hat uses.

// clang-format off
static const double VERNER_C[] = {
    0.0, 0.05, 0.1065625, 0.15984375, 0.39, 0.465, 0.155, 0.943, 0.90180204173585695826, 0.909,
    0.94, 1.0, 1.0,
};

static const double VERNER_A[] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    -0.0069931640625, 0.1135556640625, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.0399609375, 0.0, 0.1198828125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.36139756280045751241, 0.0, -1.3415240667004927718, 1.3701265039000352594, 0.0, 0.0, 0.0, 0.0,
        0.0, 0.0, 0.0, 0.0, 0.0,
    0.049047202797202797203, 0.0, 0.0, 0.23509720422144047399, 0.18085559298135672881, 0.0, 0.0,
        0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.06169289044289044289, 0.0, 0.0, 0.11236568314640276623, -0.03885046071451366767,
        0.019791887125220458554, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    -1.7676302402223268757, 0.0, 0.0, -62.5, -6.0618893773766691008, 5.6508231982227631386,
        65.621696419376232838, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    -1.1809450665549707998, 0.0, 0.0, -41.504734411143208416, -4.4344383191037250112,
        4.2604081885861330248, 43.75364022446171585, 0.0078714254899123106874, 0.0, 0.0, 0.0, 0.0,
        0.0,
    -1.2814059994414884055, 0.0, 0.0, -45.047139960139866302, -4.7313620694495764773,
        4.5149670165938078412, 47.449095571729851349, 0.010592282971116611357,
        -0.0057468422638446162544, 0.0, 0.0, 0.0, 0.0,
    -1.7244701342624851918, 0.0, 0.0, -60.923490084830540165, -5.9515183762223924552,
        5.556523730698456236, 63.983011980333053368, 0.014642028250414961593,
        0.064604087723582036036, -0.07930323169008878984, 0.0, 0.0, 0.0,
    -3.3016226677470790164, 0.0, 0.0, -118.01127235975250857, -10.141422388456112486,
        9.1393113322320579235, 123.37594282840426837, 4.6232443788745804748,
        -3.3832777380682019237, 4.5275921003246181895, -5.8284954858116229632, 0.0, 0.0,
    -3.03951503376630903, 0.0, 0.0, -109.26086808941762547, -9.2906424974002934497,
        8.4305049817649111421, 114.20100103783313136, -0.96372713421454793582,
        -5.0348840888021897912, 5.9581308240029231775, 0.0, 0.0, 0.0,
};

static const double VERNER_B[] = {
    0.044279894190079510747, 0.0, 0.0, 0.0, 0.0, 0.35410493917244487448, 0.24796921549564378287,
    -15.694202038838084051, 25.084064965558562613, -31.738367786260276468, 22.938283273988783952,
    -0.23613246330715421453, 0.0,
};

static const double VERNER_B_HAT[] = {
    0.044312615229089792125, 0.0, 0.0, 0.0, 0.0, 0.35460956423432264479, 0.24784804313666530696,
    4.4481347324757844927, 19.846886366118733699, -23.58162337746561842, 0.0, 0.0,
    -0.36016794372897751621,
};

static const double VERNER_D[] = {
    -1.9795572963831171642, 0.0, 0.0, 0.0, 0.0, -0.3867736521775355589, 2.9694065430028879682,
    -0.0960279941909996150, -1.7254404764499570075, -1.4722588256927684627,
    -0.2297241306452795599, 2.9203758325367694002, 0.0,
};
// clang-format on

static const tal_rk_tableau VERNER_8 = {
    .name = "Verner 8(7)",
    .stages = 13,
    .order = 8,
    .embedded_order = 7,
    .a = VERNER_A,
    .b = VERNER_B,
    .b_hat = VERNER_B_HAT,
    .c = VERNER_C,
    .d = VERNER_D,
};

const tal_rk_tableau *tal_rk_verner_8(void)
{
    return &VERNER_8;
}

// --- is it a tableau? ---

// Sums are of at most 16 numbers of size 100 or so: round-off stays below this.
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
