// Line orientation and free line: for bodies without inertia about Mz, which therefore must not
// spin about it.
//
//     w_FM = u0 Mx + u1 My          Mx, My: axes of M, expressed in F
//
// q is a whole orientation, so that a direction needs no singular pair of angles; its turn about Mz
// has no meaning of its own. The free line adds p_FM in F, with v_FM as its speeds.
#include "mobilizer/mobilizer_orientation_internal.h"

#include <string.h>

// ---- line orientation

static tal_status line_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    tal_mat3 R_FM;
    const tal_status st = tali_mobilizer_orientation_R_FM(arg, &R_FM);
    if (st != TAL_OK) return st;
    H_FM[0] = tal_sv(R_FM.x, TAL_VEC3_ZERO);
    H_FM[1] = tal_sv(R_FM.y, TAL_VEC3_ZERO);
    return TAL_OK;
}

// d/dt Mx = w_FM x Mx = -u1 Mz, d/dt My = u0 Mz
static tal_status line_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    (void)self;
    tal_mat3 R_FM;
    const tal_status st = tali_mobilizer_orientation_R_FM(arg, &R_FM);
    if (st != TAL_OK) return st;
    Hdot_FM[0] = tal_sv(tal_v3_scale(-arg->u[1], R_FM.z), TAL_VEC3_ZERO);
    Hdot_FM[1] = tal_sv(tal_v3_scale(arg->u[0], R_FM.z), TAL_VEC3_ZERO);
    return TAL_OK;
}

// Hdot u is zero: -u0 u1 Mz + u1 u0 Mz.
static tal_status line_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                     tal_spatial_vec slopes[])
{
    (void)self, (void)arg;
    for (int l = 0; l < 2; ++l) {
        slopes[l] = TAL_SPATIAL_VEC_ZERO;
    }
    return TAL_OK;
}

static tal_status line_mul_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                             const double in[], double out[])
{
    (void)self;
    return tali_mobilizer_orientation_mul_N(arg, TALI_SPIN_OF_A_LINE, 0, op, in, out);
}

static const tal_mobilizer_ops line_ops = {
    .size = sizeof line_ops,
    .name = "line orientation",
    .tag = TALI_TAG_LINE_ORIENTATION,
    .nu = 2,
    .nq = 4,
    .nq_angles = 3,
    .has_quaternion = true,
    .calc_X_FM = tali_mobilizer_ball_X_FM,
    .calc_H_FM = line_H_FM,
    .calc_Hdot_FM = line_Hdot_FM,
    .calc_Hdot_u_slopes = line_Hdot_u_slopes,
    .mul_N = line_mul_N,
    .fit_q = tali_mobilizer_ball_fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_line_orientation(void)
{
    return &line_ops;
}

// ---- free line

static tal_status free_line_H_FM(const void *self, const tal_mobilizer_arg *arg,
                                 tal_spatial_vec H_FM[])
{
    memcpy(H_FM + 2, tali_mobilizer_unit_columns + 3, 3 * sizeof *H_FM);
    return line_H_FM(self, arg, H_FM);
}

static tal_status free_line_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                                    tal_spatial_vec Hdot_FM[])
{
    for (int j = 2; j < 5; ++j) {
        Hdot_FM[j] = TAL_SPATIAL_VEC_ZERO;
    }
    return line_Hdot_FM(self, arg, Hdot_FM);
}

// Zero, as for the line.
static tal_status free_line_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                          tal_spatial_vec slopes[])
{
    (void)self, (void)arg;
    for (int l = 0; l < 5; ++l) {
        slopes[l] = TAL_SPATIAL_VEC_ZERO;
    }
    return TAL_OK;
}

static tal_status free_line_mul_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                                  const double in[], double out[])
{
    (void)self;
    return tali_mobilizer_orientation_mul_N(arg, TALI_SPIN_OF_A_LINE, 3, op, in, out);
}

static const tal_mobilizer_ops free_line_ops = {
    .size = sizeof free_line_ops,
    .name = "free line",
    .tag = TALI_TAG_FREE_LINE,
    .nu = 5,
    .nq = 7,
    .nq_angles = 6,
    .has_quaternion = true,
    .calc_X_FM = tali_mobilizer_free_X_FM,
    .calc_H_FM = free_line_H_FM,
    .calc_Hdot_FM = free_line_Hdot_FM,
    .calc_Hdot_u_slopes = free_line_Hdot_u_slopes,
    .mul_N = free_line_mul_N,
    .fit_q = tali_mobilizer_free_fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_free_line(void)
{
    return &free_line_ops;
}
