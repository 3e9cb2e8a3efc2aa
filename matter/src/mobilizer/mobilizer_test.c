// Does a mobilizer's table agree with itself? Every derivative is compared with differences of what
// it is the derivative of.
//
// They are taken along q(t) = q + t qdot, with a step short enough that no coordinate moves by more
// than STEP.
#include "mobilizer/mobilizer_internal.h"
#include "tree/differences_internal.h"

#include <math.h>
#include <string.h>

static const double STEP = 1e-3;

enum {
    MAX_SAMPLES = TAL_MAX_NQ * TAL_MAX_NU // the most numbers that are differentiated at once
};

// The mobilizer under test, and how its q moves.
typedef struct subject {
    const tal_mobilizer_ops *ops;
    const void *self;
    tal_mobilizer_arg arg;
    tal_direction direction;
    int nq;
    double qdot[TAL_MAX_NQ]; // N u
} subject;

// What is differentiated: f(q), as a row of numbers.
typedef tal_status (*sampled)(const subject *s, const double q[], double f[]);

static subject at_q(const subject *s, const double q[])
{
    subject moved = *s;
    moved.arg.q = q;
    return moved;
}

static tal_status pose(const subject *s, tal_xform *X_FM)
{
    return tali_mobilizer_X_FM(s->ops, s->self, &s->arg, s->direction, X_FM);
}

static tal_status columns(const subject *s, tal_xform *X_FM, tal_spatial_vec H_FM[])
{
    const tal_status st = pose(s, X_FM);
    if (st != TAL_OK) return st;
    return tali_mobilizer_H_FM(s->ops, s->self, &s->arg, s->direction, X_FM, H_FM);
}

static tal_status product(const subject *s, tal_n_op op, const double in[], double out[])
{
    return tali_mobilizer_mul_N(s->ops, s->self, &s->arg, op, in, out);
}

// Column j of the matrix of `op`.
static tal_status column(const subject *s, tal_n_op op, int j, double out[])
{
    double unit[TAL_MAX_NQ] = {0.0};
    unit[j] = 1.0;
    return product(s, op, unit, out);
}

static tal_status sample_X_FM(const subject *s, const double q[], double f[])
{
    const subject moved = at_q(s, q);
    tal_xform X_FM = TAL_XFORM_IDENTITY;
    const tal_status st = pose(&moved, &X_FM);
    memcpy(f, &X_FM, sizeof X_FM);
    return st;
}

static tal_status sample_H_FM(const subject *s, const double q[], double f[])
{
    const subject moved = at_q(s, q);
    tal_xform X_FM;
    tal_spatial_vec H_FM[TAL_MAX_NU] = {TAL_SPATIAL_VEC_ZERO};
    const tal_status st = columns(&moved, &X_FM, H_FM);
    memcpy(f, H_FM, (size_t)s->ops->nu * sizeof *H_FM);
    return st;
}

static tal_status sample_N(const subject *s, const double q[], double f[])
{
    const subject moved = at_q(s, q);
    for (int j = 0; j < s->ops->nu; ++j) {
        const tal_status st = column(&moved, TAL_N, j, f + j * s->nq);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// df/dt at q along qdot, for the n numbers of f.
static tal_status differentiate(const subject *s, sampled f, const double qdot[], int n,
                                double fdot[])
{
    double speed = 1.0;
    for (int i = 0; i < s->nq; ++i) {
        speed = fmax(speed, fabs(qdot[i]));
    }
    for (int i = 0; i < n; ++i) {
        fdot[i] = 0.0;
    }

    const tali_differences_four_points at = tali_differences_four_points_of(STEP / speed);
    for (int k = 0; k < 4; ++k) {
        double q[TAL_MAX_NQ], sample[MAX_SAMPLES] = {0.0};
        for (int i = 0; i < s->nq; ++i) {
            q[i] = s->arg.q[i] + at.step[k] * qdot[i];
        }
        const tal_status st = f(s, q, sample);
        if (st != TAL_OK) return st;
        for (int i = 0; i < n; ++i) {
            fdot[i] += at.weight[k] * sample[i];
        }
    }
    return TAL_OK;
}

// How far the motion of X_FM along qdot is from V_FM: Rdot = w x R, pdot = v (manual eq. 5.6).
static tal_status compare_motion(const subject *s, const tal_xform *X_FM, tal_spatial_vec V_FM,
                                 const double qdot[], double *error)
{
    const tal_xform expected = {tal_v3_cross_m3(V_FM.w, X_FM->R), V_FM.v};
    double found[12], wanted[12];
    memcpy(wanted, &expected, sizeof expected);
    const tal_status st = differentiate(s, sample_X_FM, qdot, 12, found);
    if (st != TAL_OK) return st;
    *error = fmax(*error, tali_differences_slope(found, wanted, 12));
    return TAL_OK;
}

// manual eq. 5.7 and 5.8, one speed at a time, then for u as a whole. N moves a quaternion without
// stretching it.
static tal_status test_X_FM(const subject *s, tal_mobilizer_report *report)
{
    const int nu = s->ops->nu;
    tal_xform X_FM;
    tal_spatial_vec H_FM[TAL_MAX_NU];
    tal_status st = columns(s, &X_FM, H_FM);
    tal_spatial_vec V_FM = TAL_SPATIAL_VEC_ZERO;
    for (int j = 0; j < nu && st == TAL_OK; ++j) {
        double qdot[TAL_MAX_NQ];
        st = column(s, TAL_N, j, qdot);
        if (st != TAL_OK) break;
        st = compare_motion(s, &X_FM, H_FM[j], qdot, &report->H);
        V_FM = tal_sv_axpy(s->arg.u[j], H_FM[j], V_FM);
    }
    if (st != TAL_OK) return st;

    if (s->ops->has_quaternion && !s->arg.use_angles) {
        const double *q = s->arg.q, *qdot = s->qdot;
        const double stretch = q[0] * qdot[0] + q[1] * qdot[1] + q[2] * qdot[2] + q[3] * qdot[3];
        report->N = fabs(stretch);
    }
    return compare_motion(s, &X_FM, V_FM, s->qdot, &report->N);
}

static tal_status test_Hdot_FM(const subject *s, tal_mobilizer_report *report)
{
    const int nu = s->ops->nu;
    tal_xform X_FM;
    tal_spatial_vec H_FM[TAL_MAX_NU], Hdot_FM[TAL_MAX_NU];
    tal_status st = columns(s, &X_FM, H_FM);
    if (st != TAL_OK) return st;
    tal_spatial_vec V_FM = TAL_SPATIAL_VEC_ZERO;
    for (int j = 0; j < nu; ++j) {
        V_FM = tal_sv_axpy(s->arg.u[j], H_FM[j], V_FM);
    }
    st = tali_mobilizer_Hdot_FM(s->ops, s->self, &s->arg, s->direction, &X_FM, H_FM, V_FM, Hdot_FM);
    if (st != TAL_OK) return st;

    double found[6 * TAL_MAX_NU], wanted[6 * TAL_MAX_NU];
    memcpy(found, Hdot_FM, (size_t)nu * sizeof *Hdot_FM);
    st = differentiate(s, sample_H_FM, s->qdot, 6 * nu, wanted);
    report->Hdot = tali_differences_slope(found, wanted, 6 * nu);
    return st;
}

static tal_status test_N(const subject *s, tal_mobilizer_report *report)
{
    const int nu = s->ops->nu;
    double wanted[MAX_SAMPLES], found[MAX_SAMPLES];
    tal_status st = differentiate(s, sample_N, s->qdot, s->nq * nu, wanted);
    for (int j = 0; j < nu && st == TAL_OK; ++j) {
        st = column(s, TAL_NDOT, j, found + j * s->nq);
    }
    if (st != TAL_OK) return st;
    report->Ndot = tali_differences_slope(found, wanted, s->nq * nu);

    for (int j = 0; j < nu; ++j) {
        double qdot[TAL_MAX_NQ], u[TAL_MAX_NU], unit[TAL_MAX_NU] = {0.0};
        unit[j] = 1.0;
        st = product(s, TAL_N, unit, qdot);
        if (st != TAL_OK) return st;
        st = product(s, TAL_NPLUS, qdot, u);
        if (st != TAL_OK) return st;
        report->Nplus = fmax(report->Nplus, tali_differences_slope(u, unit, nu));
    }
    return TAL_OK;
}

// Is `transposed` the transpose of `plain`? Row i of the one against column i of the other.
static tal_status compare_transposes(const subject *s, tal_n_op plain, tal_n_op transposed,
                                     int rows, int cols, double *error)
{
    double A[MAX_SAMPLES], B[MAX_SAMPLES], A_T[MAX_SAMPLES];
    for (int j = 0; j < cols; ++j) {
        const tal_status st = column(s, plain, j, A + j * rows);
        if (st != TAL_OK) return st;
    }
    for (int i = 0; i < rows; ++i) {
        const tal_status st = column(s, transposed, i, B + i * cols);
        if (st != TAL_OK) return st;
        for (int j = 0; j < cols; ++j) {
            A_T[i * cols + j] = A[j * rows + i];
        }
    }
    *error = fmax(*error, tali_differences_slope(B, A_T, rows * cols));
    return TAL_OK;
}

static tal_status test_transposes(const subject *s, tal_mobilizer_report *report)
{
    const int nu = s->ops->nu, nq = s->nq;
    tal_status st = compare_transposes(s, TAL_N, TAL_N_T, nq, nu, &report->N_T);
    if (st != TAL_OK) return st;
    st = compare_transposes(s, TAL_NPLUS, TAL_NPLUS_T, nu, nq, &report->N_T);
    if (st != TAL_OK) return st;
    return compare_transposes(s, TAL_NDOT, TAL_NDOT_T, nq, nu, &report->N_T);
}

static tal_status sample_Hdot_u(const subject *s, const double q[], double f[])
{
    const subject moved = at_q(s, q);
    tal_xform X_FM;
    tal_spatial_vec H_FM[TAL_MAX_NU], Hdot_u = TAL_SPATIAL_VEC_ZERO;
    tal_status st = columns(&moved, &X_FM, H_FM);
    if (st == TAL_OK) {
        st = tali_mobilizer_Hdot_u(s->ops, s->self, &moved.arg, s->direction, &X_FM, H_FM, &Hdot_u);
    }
    memcpy(f, &Hdot_u, sizeof Hdot_u);
    return st;
}

// Each column of slopes, against differences of Hdot u along that column of N.
static tal_status test_slopes(const subject *s, tal_mobilizer_report *report)
{
    tal_xform X_FM;
    tal_spatial_vec H_FM[TAL_MAX_NU];
    tali_mobilizer_slopes slopes;
    if (s->ops->calc_Hdot_u_slopes == NULL) return TAL_OK;
    tal_status st = columns(s, &X_FM, H_FM);
    if (st != TAL_OK) return st;
    st = tali_mobilizer_slopes_of(s->ops, s->self, &s->arg, s->direction, &X_FM, H_FM, &slopes);
    for (int l = 0; l < s->ops->nu && st == TAL_OK; ++l) {
        double along[TAL_MAX_NQ], by_differences[6];
        st = column(s, TAL_N, l, along);
        if (st == TAL_OK) st = differentiate(s, sample_Hdot_u, along, 6, by_differences);
        if (st != TAL_OK) return st;
        const double error = tali_differences_slope(&slopes.of_Hdot_u[l].w.x, by_differences, 6);
        report->Hdot_u_slopes = fmax(report->Hdot_u_slopes, error);
    }
    return st;
}

// The fits must recover the present q and u; that of q starts a little way off.
static tal_status test_fits(const subject *s, tal_mobilizer_report *report)
{
    double guess[TAL_MAX_NQ], q[TAL_MAX_NQ] = {0.0}, u[TAL_MAX_NU] = {0.0}, speed = 1.0;
    for (int i = 0; i < s->nq; ++i) {
        speed = fmax(speed, fabs(s->qdot[i]));
    }
    for (int i = 0; i < s->nq; ++i) {
        guess[i] = s->arg.q[i] + 0.05 / speed * s->qdot[i];
    }
    tal_xform X_FM, fitted = TAL_XFORM_IDENTITY;
    tal_spatial_vec H_FM[TAL_MAX_NU], V_FM = TAL_SPATIAL_VEC_ZERO;
    tal_status st = columns(s, &X_FM, H_FM);
    if (st != TAL_OK) return st;
    const subject guessed = at_q(s, guess), found = at_q(s, q);
    st = tali_mobilizer_fit_q(s->ops, s->self, &guessed.arg, s->direction, &X_FM, q);
    if (st != TAL_OK) return st;
    st = pose(&found, &fitted);
    if (st != TAL_OK) return st;
    double a[12], b[12];
    memcpy(a, &fitted, sizeof fitted);
    memcpy(b, &X_FM, sizeof X_FM);
    report->fit_q = tali_differences_slope(a, b, 12);

    for (int j = 0; j < s->ops->nu; ++j) {
        V_FM = tal_sv_axpy(s->arg.u[j], H_FM[j], V_FM);
    }
    st = tali_mobilizer_fit_u(s->ops, s->self, &s->arg, s->direction, V_FM, u);
    report->fit_u = tali_differences_slope(u, s->arg.u, s->ops->nu);
    return st;
}

static tal_status run_tests(subject *s, tal_mobilizer_report *report)
{
    static tal_status (*const tests[])(const subject *, tal_mobilizer_report *) = {
        test_X_FM, test_Hdot_FM, test_slopes, test_N, test_transposes, test_fits};
    tal_status st = product(s, TAL_N, s->arg.u, s->qdot);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0] && st == TAL_OK; ++i) {
        st = tests[i](s, report);
    }
    const tal_mobilizer_report *r = report;
    const double worst = fmax(fmax(fmax(r->H, r->Hdot), fmax(r->N, r->Nplus)),
                              fmax(fmax(r->Ndot, r->N_T), fmax(r->fit_q, r->fit_u)));
    report->worst = fmax(worst, r->Hdot_u_slopes);
    return st;
}

tal_status tal_mobilizer_test(const tal_mobilizer_ops *ops, const void *self,
                              const tal_mobilizer_arg *arg, tal_direction direction,
                              tal_mobilizer_report *report, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_mobilizer_check(ops, err);
    if (st != TAL_OK) return st;
    const bool is_complete = arg != NULL && report != NULL && (arg->q != NULL || ops->nq == 0) &&
                             (arg->u != NULL || ops->nu == 0) &&
                             (arg->params != NULL || ops->num_params == 0);
    if (!is_complete) {
        (void)TALI_BREACH(TAL_ERR_NULL, "arg, its q, u or params, or report is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "arg, its q, u or params, or report is NULL");
    }
    st = tali_mobilizer_check_params(ops, self, arg->params, err);
    if (st != TAL_OK) return st;

    subject s = {ops, self, *arg, direction, tali_mobilizer_nq(ops, arg->use_angles), {0.0}};
    tal_mobilizer_report found = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    st = run_tests(&s, &found);
    if (st != TAL_OK) {
        return TALI_FAIL(err, st, "a function of mobilizer '%s' failed: %s", ops->name,
                         tal_status_text(st));
    }
    *report = found;
    return TAL_OK;
}
