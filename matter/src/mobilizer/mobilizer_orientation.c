// What mobilizers with several rotations share: sequences of turns, and a free orientation kept as
// a quaternion or as body-XYZ angles.
#include "mobilizer/mobilizer_orientation_internal.h"

#include <math.h>

// A quaternion outside of this range is no orientation: its squares overflow or underflow.
static const double SHORTEST = 1e-100, LONGEST = 1e100;

const tal_spatial_vec tali_mobilizer_unit_columns[6] = {
    {{1.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, {{0.0, 1.0, 0.0}, {0.0, 0.0, 0.0}},
    {{0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}}, {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}},
    {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, {{0.0, 0.0, 0.0}, {0.0, 0.0, 1.0}},
};

const tal_axis tali_mobilizer_axes_xyz[3] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};

// ---- sequences of turns

tal_mat3 tali_mobilizer_turns(int n, const tal_axis axis[], const double angle[], tal_vec3 axis_F[])
{
    tal_mat3 R = TAL_MAT3_IDENTITY;
    for (int i = 0; i < n; ++i) {
        if (axis_F != NULL) axis_F[i] = tal_m3_mul_v3(R, tal_v3_axis(axis[i]));
        R = tal_m3_mul(R, tal_rotation_about(axis[i], angle[i]));
    }
    return R;
}

void tali_mobilizer_turns_axes_dot(int n, const tal_vec3 axis_F[], const double rate[],
                                   tal_vec3 axis_dot_F[])
{
    tal_vec3 w = TAL_VEC3_ZERO; // angular velocity in F of the frame that carries the next axis
    for (int i = 0; i < n; ++i) {
        axis_dot_F[i] = tal_v3_cross(w, axis_F[i]);
        w = tal_v3_axpy(rate[i], axis_F[i], w);
    }
}

void tali_mobilizer_turns_H_FM(int n, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    tal_vec3 axis_F[3];
    (void)tali_mobilizer_turns(n, tali_mobilizer_axes_xyz, arg->q, axis_F);
    for (int i = 0; i < n; ++i) {
        H_FM[i] = tal_sv(axis_F[i], TAL_VEC3_ZERO);
    }
}

void tali_mobilizer_turns_Hdot_FM(int n, const tal_mobilizer_arg *arg, tal_spatial_vec Hdot_FM[])
{
    tal_vec3 axis_F[3], axis_dot_F[3];
    (void)tali_mobilizer_turns(n, tali_mobilizer_axes_xyz, arg->q, axis_F);
    tali_mobilizer_turns_axes_dot(n, axis_F, arg->u, axis_dot_F);
    for (int i = 0; i < n; ++i) {
        Hdot_FM[i] = tal_sv(axis_dot_F[i], TAL_VEC3_ZERO);
    }
}

// The sum is that of r_m r_i A_m x A_i over m < i, and angle l turns every axis after A_l about it.
void tali_mobilizer_turns_slopes(int n, const tal_vec3 axis_F[], const double rate[],
                                 tal_vec3 slopes_F[])
{
    for (int l = 0; l < n; ++l) {
        slopes_F[l] = TAL_VEC3_ZERO;
        for (int i = l + 1; i < n; ++i) {
            const tal_vec3 turned_i = tal_v3_cross(axis_F[l], axis_F[i]);
            for (int m = 0; m < i; ++m) {
                const tal_vec3 turned_m =
                    l < m ? tal_v3_cross(axis_F[l], axis_F[m]) : TAL_VEC3_ZERO;
                const tal_vec3 change = tal_v3_add(tal_v3_cross(turned_m, axis_F[i]),
                                                   tal_v3_cross(axis_F[m], turned_i));
                slopes_F[l] = tal_v3_axpy(rate[m] * rate[i], change, slopes_F[l]);
            }
        }
    }
}

void tali_mobilizer_turns_Hdot_u_slopes(int n, const tal_mobilizer_arg *arg,
                                        tal_spatial_vec slopes[])
{
    tal_vec3 axis_F[3], slopes_F[3];
    (void)tali_mobilizer_turns(n, tali_mobilizer_axes_xyz, arg->q, axis_F);
    tali_mobilizer_turns_slopes(n, axis_F, arg->u, slopes_F);
    for (int l = 0; l < n; ++l) {
        slopes[l] = tal_sv(slopes_F[l], TAL_VEC3_ZERO);
    }
}

tal_status tali_mobilizer_fit_about_z(const tal_xform *X_FM, double q[])
{
    static const tal_axis z = TAL_AXIS_Z;
    return tal_rotation_to_angles(&X_FM->R, TAL_BODY_FIXED, 1, &z, q);
}

/*
 * The rotation tells the angle except for whole turns, the translation tells the turn. If the
 * wanted rotation is about z by a + 2 pi k, (q - a - 2 pi k)^2 + (lead q - way)^2 is least at
 *
 *     q = (a + 2 pi k + lead way) / (1 + lead^2)
 *
 * and the k with the least value is the one nearest to (way / lead - a) / (2 pi). Of a rotation
 * about another axis this is only a guess, which tali_mobilizer_refine_q() improves.
 */
tal_status tali_mobilizer_fit_turn(const tal_xform *X_FM, double lead, double way, double q[])
{
    const double turn = 2.0 * TAL_PI;
    double angle;
    const tal_status st = tali_mobilizer_fit_about_z(X_FM, &angle);
    if (st != TAL_OK) return st;
    const double turns = lead != 0.0 ? round((way / lead - angle) / turn) : 0.0;
    if (isfinite(turns)) angle += turns * turn;
    q[0] = (angle + lead * way) / (1.0 + lead * lead);
    return TAL_OK;
}

// ---- a free orientation

static tal_quat load_quat(const double q[])
{
    return tal_qt(q[0], q[1], q[2], q[3]);
}

static void store_quat(tal_quat q, double out[])
{
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

tal_status tali_mobilizer_orientation_R_FM(const tal_mobilizer_arg *arg, tal_mat3 *R_FM)
{
    if (arg->use_angles) {
        *R_FM = tali_mobilizer_turns(3, tali_mobilizer_axes_xyz, arg->q, NULL);
        return TAL_OK;
    }
    const tal_quat q = load_quat(arg->q);
    if (!tal_qt_is_finite(q)) return TAL_ERR_NOT_FINITE;
    const double size = fmax(fmax(fabs(q.w), fabs(q.x)), fmax(fabs(q.y), fabs(q.z)));
    if (size < SHORTEST || size > LONGEST) return TAL_ERR_BAD_VALUE;
    *R_FM = tal_rotation_from_qt(q);
    return TAL_OK;
}

tal_status tali_mobilizer_orientation_fit(const tal_mobilizer_arg *arg, const tal_mat3 *R_FM,
                                          double q[])
{
    if (arg->use_angles) {
        return tal_rotation_to_angles(R_FM, TAL_BODY_FIXED, 3, tali_mobilizer_axes_xyz, q);
    }
    store_quat(tal_rotation_to_qt(R_FM), q);
    return TAL_OK;
}

static tal_quat quat_mul_N(tali_mobilizer_spin spin, tal_quat q, tal_vec3 w)
{
    return spin == TALI_SPIN_IN_F ? tal_qt_mul_N_F(q, w) : tal_qt_mul_N_M(q, w);
}

static tal_vec3 quat_tmul_N(tali_mobilizer_spin spin, tal_quat q, tal_quat f)
{
    return spin == TALI_SPIN_IN_F ? tal_qt_tmul_N_F(q, f) : tal_qt_tmul_N_M(q, f);
}

/*
 * Products for a quaternion: N is linear in q, so Ndot = N(qdot), and N^+ = 4 N^T / |q|^2. Of
 * `w_in`, `q_in` the one the operation reads is given; of `w_out`, `q_out` the other is written.
 */
static void quat_products(const tal_mobilizer_arg *arg, tali_mobilizer_spin spin, tal_n_op op,
                          tal_vec3 w_in, const double q_in[], tal_vec3 *w_out, double q_out[])
{
    const tal_quat q = load_quat(arg->q);
    const double scale = 4.0 / tal_qt_dot(q, q);
    tal_quat qdot = q; // argument of N: q, or its derivative for Ndot
    if (op == TAL_NDOT || op == TAL_NDOT_T) {
        const double wz = spin == TALI_SPIN_IN_F ? arg->u[2] : 0.0;
        qdot = quat_mul_N(spin, q, tal_v3(arg->u[0], arg->u[1], wz));
    }

    switch (op) {
    case TAL_N:
    case TAL_NDOT:
        store_quat(quat_mul_N(spin, qdot, w_in), q_out);
        return;
    case TAL_NPLUS_T:
        store_quat(quat_mul_N(spin, q, tal_v3_scale(scale, w_in)), q_out);
        return;
    case TAL_N_T:
    case TAL_NDOT_T:
        *w_out = quat_tmul_N(spin, qdot, load_quat(q_in));
        return;
    case TAL_NPLUS:
        *w_out = tal_v3_scale(scale, quat_tmul_N(spin, q, load_quat(q_in)));
        return;
    }
}

// Products for body-XYZ angles. Reading everything backwards turns the maps for w in F into those
// for w in M (rotation.h). Ndot^T f has no closed form of its own: f . Ndot e_j, one j at a time.
static tal_vec3 angle_products(const tal_mobilizer_arg *arg, tali_mobilizer_spin spin, tal_n_op op,
                               tal_vec3 in)
{
    const bool in_F = spin == TALI_SPIN_IN_F;
    const tal_vec3 q =
        in_F ? tali_mobilizer_v3_load(arg->q) : tal_v3_reverse(tali_mobilizer_v3_load(arg->q));
    const tal_vec3 x = in_F ? in : tal_v3_reverse(in);
    tal_vec3 w = TAL_VEC3_ZERO;
    if (op == TAL_NDOT || op == TAL_NDOT_T) {
        w = in_F ? tali_mobilizer_v3_load(arg->u) : tal_v3(0.0, arg->u[1], arg->u[0]);
    }

    tal_vec3 y = TAL_VEC3_ZERO;
    switch (op) {
    case TAL_N:
        y = tal_xyz_mul_N_F(q, x);
        break;
    case TAL_N_T:
        y = tal_xyz_tmul_N_F(q, x);
        break;
    case TAL_NPLUS:
        y = tal_xyz_mul_Nplus_F(q, x);
        break;
    case TAL_NPLUS_T:
        y = tal_xyz_tmul_Nplus_F(q, x);
        break;
    case TAL_NDOT:
        y = tal_xyz_mul_Ndot_F(q, w, x);
        break;
    case TAL_NDOT_T:
        y.x = tal_v3_dot(x, tal_xyz_mul_Ndot_F(q, w, tal_v3_axis(TAL_AXIS_X)));
        y.y = tal_v3_dot(x, tal_xyz_mul_Ndot_F(q, w, tal_v3_axis(TAL_AXIS_Y)));
        y.z = tal_v3_dot(x, tal_xyz_mul_Ndot_F(q, w, tal_v3_axis(TAL_AXIS_Z)));
        break;
    }
    return in_F ? y : tal_v3_reverse(y);
}

tal_status tali_mobilizer_orientation_mul_N(const tal_mobilizer_arg *arg, tali_mobilizer_spin spin,
                                            int num_plain, tal_n_op op, const double in[],
                                            double out[])
{
    const int num_w = spin == TALI_SPIN_IN_F ? 3 : 2;
    const int num_q = tali_mobilizer_orientation_nq(arg);
    const bool reads_w = op == TAL_N || op == TAL_NDOT || op == TAL_NPLUS_T;
    const bool is_zero = op == TAL_NDOT || op == TAL_NDOT_T;
    if (arg->use_angles && op != TAL_NPLUS && op != TAL_NPLUS_T &&
        fabs(cos(arg->q[1])) < TALI_XYZ_MIN_COS) {
        return TAL_ERR_SINGULAR;
    }

    tal_vec3 w = TAL_VEC3_ZERO;
    if (reads_w) w = tal_v3(in[0], in[1], num_w == 3 ? in[2] : 0.0);
    if (!arg->use_angles) {
        quat_products(arg, spin, op, w, in, &w, out);
    } else if (reads_w) {
        tali_mobilizer_v3_store(angle_products(arg, spin, op, w), out);
    } else {
        w = angle_products(arg, spin, op, tali_mobilizer_v3_load(in));
    }
    if (!reads_w) {
        out[0] = w.x;
        out[1] = w.y;
        if (num_w == 3) out[2] = w.z;
    }

    const int first_in = reads_w ? num_w : num_q, first_out = reads_w ? num_q : num_w;
    for (int i = 0; i < num_plain; ++i) {
        out[first_out + i] = is_zero ? 0.0 : in[first_in + i];
    }
    return TAL_OK;
}
