// Fitting q to a pose and u to a velocity, for any mobilizer.
//
// A pose is missed by e = (rotation vector of R_wanted R_FM^T, p_wanted - p_FM), expressed in F. As
// u acts for a short time, e changes by -H_FM u, up to a term that is perpendicular to the rotation
// vector. So g = H_FM^T e is the exact downhill gradient of |e|^2 / 2 for coordinates that move
// along N u, and a step that solves
//
//     H_FM du = e            Gauss-Newton: quick where the pose can be met
//     -(dg/du) du = g        Newton, with differences of g: quick where it cannot
//
// comes to rest only where |e| is stationary.
#include "mobilizer/mobilizer_internal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

// Directions below this part of the largest are left out of a Newton step.
static const double LEAST_DIRECTION = 1e-7;

// Step of differences of g, in the size of the hinge's own motion.
static const double DIFFERENCE = 1e-4;

static const double FIRST_DAMPING = 1e-2, LEAST_DAMPING = 1e-4;

enum {
    MAX_STEPS = 30,         // of Gauss-Newton: four or five where the pose can be met
    MAX_NEWTON_STEPS = 200, // it may first have to leave a region where |e|^2 is not convex
    MAX_TRIES = 12,
    ROWS = 6 + TAL_MAX_NU,                        // a pose, and the damping of each speed
    WORK = 2 * TAL_MAX_NU + ROWS + 3 * TAL_MAX_NU // tal_cod_work_size(ROWS, TAL_MAX_NU)
};

// A pose to be met: what stays the same while q is improved.
typedef struct pose_fit {
    const tal_mobilizer_ops *ops;
    const void *self;
    const tal_mobilizer_arg *arg; // its q is not used
    tal_direction direction;
    tal_xform X_FM; // wanted
    tali_mobilizer_fit_parts parts;
} pose_fit;

// Where the improvement is.
typedef struct pose_guess {
    double q[TAL_MAX_NQ];
    tal_xform X_FM;
    tal_spatial_vec miss; // e, with zeros in the parts not asked for
    double cost;          // |e|^2
} pose_guess;

static double length_of(tal_spatial_vec V)
{
    return sqrt(tal_sv_dot(V, V));
}

static tal_spatial_vec mask(tali_mobilizer_fit_parts parts, tal_spatial_vec V)
{
    return tal_sv((parts & TALI_FIT_ROTATION) != 0 ? V.w : TAL_VEC3_ZERO,
                  (parts & TALI_FIT_TRANSLATION) != 0 ? V.v : TAL_VEC3_ZERO);
}

// The shortest x that minimizes |A x - b|. A is rows x nu. A and b are overwritten; b has room for
// nu numbers.
static tal_status least_squares(int rows, int nu, double A[], double b[], double rcond, double x[])
{
    double work[WORK];
    int iwork[TAL_MAX_NU];
    assert(tal_cod_work_size(rows, nu) <= WORK);
    tal_cod f;
    tal_status st = tal_cod_factor(&f, tal_matrix_view(A, rows, nu), rcond, work, iwork, NULL);
    if (st != TAL_OK) return st;
    const tal_matrix X = {b, nu, 1, rows};
    st = tal_cod_solve(&f, tal_matrix_view(b, rows, 1), X, NULL);
    memcpy(x, b, (size_t)nu * sizeof *x);
    return st;
}

static tal_mobilizer_arg arg_at(const pose_fit *fit, const double q[])
{
    tal_mobilizer_arg arg = *fit->arg;
    arg.q = q;
    return arg;
}

// Fill in what follows from guess->q.
static tal_status judge(const pose_fit *fit, pose_guess *guess)
{
    const tal_mobilizer_arg arg = arg_at(fit, guess->q);
    const tal_status st =
        tali_mobilizer_X_FM(fit->ops, fit->self, &arg, fit->direction, &guess->X_FM);
    if (st != TAL_OK) return st;
    const tal_mat3 missing = tal_m3_mul(fit->X_FM.R, tal_m3_transpose(guess->X_FM.R));
    const tal_angle_axis turn = tal_rotation_to_angle_axis(&missing);
    guess->miss = mask(fit->parts, tal_sv(tal_v3_scale(turn.angle, turn.axis),
                                          tal_v3_sub(fit->X_FM.p, guess->X_FM.p)));
    guess->cost = tal_sv_dot(guess->miss, guess->miss);
    return TAL_OK;
}

// The guess that the step du leads to: q + N du, its quaternion of unit length.
static tal_status step_from(const pose_fit *fit, const pose_guess *guess, const double du[],
                            pose_guess *out)
{
    const tal_mobilizer_ops *ops = fit->ops;
    const tal_mobilizer_arg arg = arg_at(fit, guess->q);
    double dq[TAL_MAX_NQ] = {0.0};
    const tal_status st = tali_mobilizer_mul_N(ops, fit->self, &arg, TAL_N, du, dq);
    if (st != TAL_OK) return st;
    for (int i = 0; i < TAL_MAX_NQ; ++i) {
        out->q[i] = guess->q[i] + dq[i];
    }
    if (ops->has_quaternion && !fit->arg->use_angles) {
        const tal_quat q = tal_qt_normalize(tal_qt(out->q[0], out->q[1], out->q[2], out->q[3]));
        memcpy(out->q, &q, sizeof q);
    }
    return judge(fit, out);
}

static tal_status masked_columns(const pose_fit *fit, const pose_guess *guess, tal_spatial_vec H[])
{
    const tal_mobilizer_arg arg = arg_at(fit, guess->q);
    const tal_status st =
        tali_mobilizer_H_FM(fit->ops, fit->self, &arg, fit->direction, &guess->X_FM, H);
    for (int j = 0; j < fit->ops->nu && st == TAL_OK; ++j) {
        H[j] = mask(fit->parts, H[j]);
    }
    return st;
}

// Gauss-Newton step, the one that makes |H du - e|^2 + sum (damping |H_j| du_j)^2 least. Scaling by
// the length of a column makes the damping independent of the units of the speeds.
static tal_status gauss_newton_step(const pose_fit *fit, const pose_guess *guess,
                                    const tal_spatial_vec H[], double damping, double du[])
{
    const int nu = fit->ops->nu, rows = 6 + nu;
    double A[ROWS * TAL_MAX_NU] = {0.0}, b[ROWS] = {0.0};
    for (int j = 0; j < nu; ++j) {
        memcpy(A + j * rows, &H[j], sizeof H[j]);
        A[j * rows + 6 + j] = damping * length_of(H[j]);
    }
    memcpy(b, &guess->miss, sizeof guess->miss);
    return least_squares(rows, nu, A, b, -1.0, du);
}

// g = H^T e a short way along speed k.
static tal_status gradient_along(const pose_fit *fit, const pose_guess *guess, int k, double time,
                                 double g[])
{
    double du[TAL_MAX_NU] = {0.0};
    du[k] = time;
    pose_guess there = *guess;
    tal_status st = step_from(fit, guess, du, &there);
    if (st != TAL_OK) return st;
    tal_spatial_vec H[TAL_MAX_NU];
    st = masked_columns(fit, &there, H);
    for (int j = 0; j < fit->ops->nu && st == TAL_OK; ++j) {
        g[j] = tal_sv_dot(H[j], there.miss);
    }
    return st;
}

// Newton step, -(dg/du) du = g with damping as above. Central differences over a motion of 1e-4
// give dg/du to 1e-8, so smaller columns count as zero.
static tal_status newton_step(const pose_fit *fit, const pose_guess *guess,
                              const tal_spatial_vec H[], double damping, double du[])
{
    const int nu = fit->ops->nu;
    double B[TAL_MAX_NU * TAL_MAX_NU], A[TAL_MAX_NU * TAL_MAX_NU], g[TAL_MAX_NU];
    for (int k = 0; k < nu; ++k) {
        const double size = length_of(H[k]), time = size > 0.0 ? DIFFERENCE / size : DIFFERENCE;
        double ahead[TAL_MAX_NU] = {0.0}, behind[TAL_MAX_NU] = {0.0};
        tal_status st = gradient_along(fit, guess, k, time, ahead);
        if (st == TAL_OK) st = gradient_along(fit, guess, k, -time, behind);
        if (st != TAL_OK) return st;
        for (int j = 0; j < nu; ++j) {
            B[k * nu + j] = (behind[j] - ahead[j]) / (2.0 * time);
        }
        g[k] = tal_sv_dot(H[k], guess->miss);
    }
    for (int k = 0; k < nu; ++k) {
        for (int j = 0; j < nu; ++j) {
            A[k * nu + j] = 0.5 * (B[k * nu + j] + B[j * nu + k]);
        }
        A[k * nu + k] += damping * damping * tal_sv_dot(H[k], H[k]);
    }
    return least_squares(nu, nu, A, g, LEAST_DIRECTION, du);
}

typedef tal_status (*step_rule)(const pose_fit *fit, const pose_guess *guess,
                                const tal_spatial_vec H[], double damping, double du[]);

// One accepted step, with as much damping as it takes; `*is_done` when no step helps any more.
static tal_status improve(const pose_fit *fit, step_rule rule, pose_guess *guess, double *damping,
                          bool *is_done)
{
    tal_spatial_vec H[TAL_MAX_NU];
    tal_status st = masked_columns(fit, guess, H);
    if (st != TAL_OK) return st;

    *is_done = true;
    for (int i = 0; i < MAX_TRIES; ++i) {
        double du[TAL_MAX_NU] = {0.0};
        st = rule(fit, guess, H, *damping, du);
        if (st != TAL_OK) return st;
        tal_spatial_vec moved = TAL_SPATIAL_VEC_ZERO;
        for (int j = 0; j < fit->ops->nu; ++j) {
            moved = tal_sv_axpy(du[j], H[j], moved);
        }
        // a step into a singularity or out of the domain is one that does not help
        pose_guess next = *guess;
        st = step_from(fit, guess, du, &next);
        if (st == TAL_ERR_CALLBACK) return st; // that is not a place, but a function that failed
        if (st == TAL_OK && next.cost <= guess->cost * (1.0 + 4.0 * DBL_EPSILON)) {
            *guess = next;
            *damping = *damping < LEAST_DAMPING ? 0.0 : 0.1 * *damping;
            // beyond this the pose changes by round-off only
            *is_done = length_of(moved) <= 4.0 * DBL_EPSILON * (1.0 + sqrt(guess->cost));
            return TAL_OK;
        }
        *damping = fmax(FIRST_DAMPING, 10.0 * *damping);
    }
    return TAL_OK;
}

tal_status tali_mobilizer_refine_q(const tal_mobilizer_ops *ops, const void *self,
                                   const tal_mobilizer_arg *arg, tal_direction direction,
                                   const tal_xform *X_FM, tali_mobilizer_fit_parts parts,
                                   double q[])
{
    if (!tal_xf_is_finite(*X_FM)) return TAL_ERR_NOT_FINITE;
    const pose_fit fit = {ops, self, arg, direction, *X_FM, parts};
    const size_t size_q = (size_t)tali_mobilizer_nq(ops, arg->use_angles) * sizeof *q;
    pose_guess guess = {{0.0}, TAL_XFORM_IDENTITY, TAL_SPATIAL_VEC_ZERO, 0.0};
    memcpy(guess.q, q, size_q);
    const tal_status st = judge(&fit, &guess);
    if (st != TAL_OK) return st;

    // an exact fit is left alone, to the last bit
    const double exact = 64.0 * DBL_EPSILON * DBL_EPSILON * (1.0 + tal_v3_dot(X_FM->p, X_FM->p));
    static const step_rule rules[2] = {gauss_newton_step, newton_step};
    static const int max_steps[2] = {MAX_STEPS, MAX_NEWTON_STEPS};
    for (int k = 0; k < 2; ++k) {
        bool is_done = ops->nu == 0;
        double damping = 0.0;
        for (int i = 0; i < max_steps[k] && !is_done && guess.cost > exact; ++i) {
            const tal_status step = improve(&fit, rules[k], &guess, &damping, &is_done);
            if (step == TAL_ERR_CALLBACK || (step != TAL_OK && k == 0)) return step;
            if (step != TAL_OK) break; // differences reach past an edge: the best so far counts
        }
    }
    memcpy(q, guess.q, size_q);
    return TAL_OK;
}

tal_status tali_mobilizer_fit_q(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_direction direction,
                                const tal_xform *X_FM, double q[])
{
    if (!tal_xf_is_finite(*X_FM)) return TAL_ERR_NOT_FINITE;
    if (ops->fit_q != NULL) {
        const tal_xform X = direction == TAL_REVERSE ? tal_xf_inverse(*X_FM) : *X_FM;
        return ops->fit_q(self, arg, &X, q);
    }
    memmove(q, arg->q, (size_t)tali_mobilizer_nq(ops, arg->use_angles) * sizeof *q);
    return tali_mobilizer_refine_q(ops, self, arg, direction, X_FM, TALI_FIT_ALL, q);
}

// The part that is not asked for is taken from where M is; the fit of the whole is where to start.
tal_status tali_mobilizer_fit_q_part(const tal_mobilizer_ops *ops, const void *self,
                                     const tal_mobilizer_arg *arg, tal_direction direction,
                                     const tal_xform *X_FM, tali_mobilizer_fit_parts parts,
                                     double q[])
{
    tal_xform whole;
    tal_status st = tali_mobilizer_X_FM(ops, self, arg, direction, &whole);
    if (st != TAL_OK) return st;
    if ((parts & TALI_FIT_ROTATION) != 0) whole.R = X_FM->R;
    if ((parts & TALI_FIT_TRANSLATION) != 0) whole.p = X_FM->p;
    st = tali_mobilizer_fit_q(ops, self, arg, direction, &whole, q);
    if (st != TAL_OK) return st;
    return tali_mobilizer_refine_q(ops, self, arg, direction, X_FM, parts, q);
}

// u = u0 + x with the shortest x that makes |H (u0 + x) - V| least, in the parts asked for.
static tal_status fit_u_from(const tal_mobilizer_ops *ops, const void *self,
                             const tal_mobilizer_arg *arg, tal_direction direction,
                             tal_spatial_vec V_FM, tali_mobilizer_fit_parts parts,
                             const double u0[], double u[])
{
    if (!tal_sv_is_finite(V_FM)) return TAL_ERR_NOT_FINITE;
    tal_xform X_FM;
    tal_status st = tali_mobilizer_X_FM(ops, self, arg, direction, &X_FM);
    if (st != TAL_OK) return st;
    tal_spatial_vec H[TAL_MAX_NU];
    st = tali_mobilizer_H_FM(ops, self, arg, direction, &X_FM, H);
    if (st != TAL_OK) return st;

    tal_spatial_vec miss = V_FM;
    double A[6 * TAL_MAX_NU], b[6], x[TAL_MAX_NU] = {0.0};
    for (int j = 0; j < ops->nu; ++j) {
        miss = tal_sv_axpy(-u0[j], H[j], miss);
        const tal_spatial_vec column = mask(parts, H[j]);
        memcpy(A + 6 * j, &column, sizeof column);
    }
    miss = mask(parts, miss);
    memcpy(b, &miss, sizeof miss);
    st = least_squares(6, ops->nu, A, b, -1.0, x);
    for (int j = 0; j < ops->nu && st == TAL_OK; ++j) {
        u[j] = u0[j] + x[j];
    }
    return st;
}

tal_status tali_mobilizer_fit_u_part(const tal_mobilizer_ops *ops, const void *self,
                                     const tal_mobilizer_arg *arg, tal_direction direction,
                                     tal_spatial_vec V_FM, tali_mobilizer_fit_parts parts,
                                     double u[])
{
    return fit_u_from(ops, self, arg, direction, V_FM, parts, arg->u, u);
}

/*
 * For a table with a fit_u of its own in reverse, from manual eq. 5.13 with the frames swapped,
 *
 *     w_MF = -w_FM           v_MF = -(v_FM + p_FM x w_FM)           both re-expressed in M
 */
tal_status tali_mobilizer_fit_u(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_direction direction,
                                tal_spatial_vec V_FM, double u[])
{
    const double u0[TAL_MAX_NU] = {0.0};
    if (ops->fit_u == NULL) {
        return fit_u_from(ops, self, arg, direction, V_FM, TALI_FIT_ALL, u0, u);
    }
    if (!tal_sv_is_finite(V_FM)) return TAL_ERR_NOT_FINITE;
    if (direction == TAL_FORWARD) return ops->fit_u(self, arg, V_FM, u);

    tal_xform X_FM;
    const tal_status st = tali_mobilizer_X_FM(ops, self, arg, direction, &X_FM);
    if (st != TAL_OK) return st;
    const tal_spatial_vec at_Fo = tal_sv_shift_motion(V_FM, tal_v3_neg(X_FM.p));
    return ops->fit_u(self, arg, tal_sv_neg(tal_m3_tmul_sv(X_FM.R, at_Fo)), u);
}
