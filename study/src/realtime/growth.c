// How errors of constraints change in a step of Welch's and Baumgarte's methods (Welch sec. 4).
//
// Where M and G are constant, what a method does to the error e of a row and to its rate does not
// depend on the rest: (e, h edot) becomes A (e, h edot). Off the constraints all these methods move
// with constant speed, [[1, 1], [0, 1]].
#include "realtime/realtime_internal.h"

#include <string.h>

static void put(double A[], double a, double b, double c, double d)
{
    A[0] = a;
    A[1] = b;
    A[2] = c;
    A[3] = d;
}

// h times the rates of (e, h edot): edotdot = -2 alpha edot - beta^2 e.
static void calc_rates(const tal_fixed_stepper_def *def, const double y[2], double rates[2])
{
    rates[0] = y[1];
    rates[1] = -2.0 * def->alpha_h * y[1] - def->beta_h * def->beta_h * y[0];
}

// What an explicit method makes of y.
static void step_by_tableau(const tal_fixed_stepper_def *def, double y[2])
{
    const tal_rk_tableau *it = def->tableau;
    double k[TAL_MAX_RK_STAGES][2], end[2] = {y[0], y[1]};
    for (int i = 0; i < it->stages; ++i) {
        double at[2] = {y[0], y[1]};
        for (int j = 0; j < i; ++j) {
            const double a = it->a[(size_t)i * (size_t)it->stages + (size_t)j];
            at[0] += a * k[j][0];
            at[1] += a * k[j][1];
        }
        calc_rates(def, at, k[i]);
        end[0] += it->b[i] * k[i][0];
        end[1] += it->b[i] * k[i][1];
    }
    memcpy(y, end, sizeof end);
}

// By scheme: those of Welch have a matrix without parameters.
tal_status tal_fixed_stepper_calc_growth(const tal_fixed_stepper_def *def, double A[])
{
    if (def == NULL || A == NULL) return TALI_BREACH(TAL_ERR_NULL, "the definition or A is NULL");
    const double a = def->alpha_h, b = def->beta_h;
    switch (def->scheme) {
    case TAL_SCHEME_PREDICTOR: // h edot = -e takes the error away, and is left as a speed
        put(A, 0.0, 0.0, -1.0, 0.0);
        return TAL_OK;
    case TAL_SCHEME_PREDICTOR_CORRECTOR: // Welch eq. 56: eigenvalues 0 and -1
        put(A, 0.0, 0.0, -2.0, -1.0);
        return TAL_OK;
    case TAL_SCHEME_SEMI_EXPLICIT_EULER:
        put(A, 1.0 - b * b, 1.0 - 2.0 * a, -b * b, 1.0 - 2.0 * a);
        return TAL_OK;
    case TAL_SCHEME_EXPLICIT: {
        tal_error why = {TAL_OK, "", ""};
        const tal_status st = tal_rk_check(def->tableau, &why);
        if (st != TAL_OK) return TALI_BREACH(st, "%s", why.message);
        double e[2] = {1.0, 0.0}, rate[2] = {0.0, 1.0};
        step_by_tableau(def, e);
        step_by_tableau(def, rate);
        put(A, e[0], rate[0], e[1], rate[1]);
        return TAL_OK;
    }
    default:
        return TALI_BREACH(
            TAL_ERR_BAD_VALUE, "the scheme '%s' removes errors of constraints by iteration",
            tal_scheme_name(def->scheme) != NULL ? tal_scheme_name(def->scheme) : "none");
    }
}
