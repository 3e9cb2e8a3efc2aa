// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_INERTIA_H
#define TALUS_COMMON_INERTIA_H

/**
 * @file talus/common/inertia.h
 * @brief Mass properties, rigid spatial inertia, articulated inertia.
 *
 * tal_mass_props is what a user gives and reads: mass, mass center, inertia about the body origin.
 * tal_spatial_inertia is the same ten numbers as the algorithms use them, tal_abi the general
 * symmetric 6 x 6 matrix. Every shift takes p_AB and brings a quantity about B to A.
 */

#include <talus/common/spatial.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Mass properties of a rigid body B, about Bo and expressed in B.
typedef struct tal_mass_props {
    double mass;      ///< kg, >= 0; a massless body has zero inertia too
    tal_vec3 com;     ///< p_BoBc, mass center from the body origin, m
    tal_sym3 inertia; ///< about Bo (not about the mass center), kg m^2; products as -sum m x y
} tal_mass_props;

/// Spatial inertia of a rigid body about a point O of it (manual 3.3.3):
///
///     M = m [ G   px]      G: unit inertia (gyration) about O, inertia = m G
///           [-px  1 ]      p: from O to the mass center
typedef struct tal_spatial_inertia {
    double mass;
    tal_vec3 p;
    tal_sym3 G;
} tal_spatial_inertia;

/// A symmetric 6 x 6 matrix from motion to force: articulated-body inertia (manual eq. 12.4,
/// RBDA sec. 7.1). Unlike a rigid inertia it has no mass center.
///
///     P = [J   F]
///         [F^T M]
typedef struct tal_abi {
    tal_sym3 J;
    tal_mat3 F;
    tal_sym3 M;
} tal_abi;

static_assert(sizeof(tal_mass_props) == 10 * sizeof(double), "no padding");
static_assert(sizeof(tal_spatial_inertia) == 10 * sizeof(double), "no padding");
static_assert(sizeof(tal_abi) == 21 * sizeof(double), "no padding");

static const tal_mass_props TAL_MASSLESS = {0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};

/**
 * @defgroup mass_props Mass properties
 *
 * Solids of uniform density, centered on the body origin with their axes along the body's; put them
 * elsewhere with tal_mass_props_transform(), join them with tal_mass_props_combine(). Numbers are
 * not checked here: tal_mass_props_check() does that.
 * @{
 */

/// A point mass at p_BS.
TAL_API tal_mass_props tal_mass_props_point(double mass, tal_vec3 p_BS);

/// A thin rod from -half to +half.
TAL_API tal_mass_props tal_mass_props_rod(double mass, tal_vec3 half);

/// A solid ball.
TAL_API tal_mass_props tal_mass_props_sphere(double mass, double radius);

/// A thin spherical shell.
TAL_API tal_mass_props tal_mass_props_spherical_shell(double mass, double radius);

/// A solid ellipsoid with these radii along x, y, z.
TAL_API tal_mass_props tal_mass_props_ellipsoid(double mass, tal_vec3 radii);

/// A solid block reaching from -half to +half in x, y, z.
TAL_API tal_mass_props tal_mass_props_brick(double mass, tal_vec3 half);

/// A solid cylinder, from a rod (radius 0) to a disk (half length 0), about a coordinate axis.
TAL_API tal_mass_props tal_mass_props_cylinder(double mass, double radius, double half_length,
                                               tal_axis axis);

/// An open thin-walled tube, from a rod (radius 0) to a ring (half length 0), about a coordinate
/// axis.
TAL_API tal_mass_props tal_mass_props_tube(double mass, double radius, double half_length,
                                           tal_axis axis);

/// The same body seen from A: about Ao and expressed in A, given its properties in B and X_AB.
TAL_API tal_mass_props tal_mass_props_transform(const tal_xform *X_AB, const tal_mass_props *in_B);

/// Two bodies glued together, both given in the same frame.
TAL_API tal_mass_props tal_mass_props_combine(const tal_mass_props *a, const tal_mass_props *b);

/// Inertia about the mass center, expressed in B.
static inline tal_sym3 tal_mass_props_central_inertia(tal_mass_props props)
{
    return tal_s3_sub(props.inertia, tal_s3_scale(props.mass, tal_s3_cross_square(props.com)));
}

/// How far an inertia may be outside of what a real body can have, as tal_mass_props_excess()
/// counts it. Measured and rounded inertias often are a little outside.
#define TAL_INERTIA_TOLERANCE 1e-3

/**
 * How far an inertia is outside of what a real body can have.
 *
 * Principal moments A <= B <= C about the mass center are integrals of squared distances from an
 * axis, so that C <= A + B, and none is negative. The excess is (C - A - B) / C, and 0 for a real
 * body. What is below 1e-12 of the trace of `inertia` counts as 0: with numbers of twelve digits,
 * subtracting the parallel-axis term leaves such errors. Infinity when no moment is positive but
 * some are negative; NaN when numbers are not finite.
 */
TAL_API double tal_mass_props_excess(const tal_mass_props *props);

/**
 * Whether these mass properties are valid.
 *
 * All ten numbers must be finite, the mass must not be negative, and without mass there must be no
 * inertia. The excess of the inertia must not be above TAL_INERTIA_TOLERANCE; an excess above zero
 * is accepted, but should be checked.
 *
 * @param[in]  props  the mass properties to check
 * @param[out] err    which number is wrong, and why; an earlier failure in it stays; may be NULL
 * @return TAL_OK, TAL_ERR_NOT_FINITE, TAL_ERR_BAD_VALUE, or TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_mass_props_check(const tal_mass_props *props, tal_error *err);

/** @} */

/**
 * @defgroup spatial_inertia Rigid spatial inertia
 * @{
 */

/// The spatial inertia about Bo, in B. A massless body has zero p and G.
static inline tal_spatial_inertia tal_spatial_inertia_from_mass_props(tal_mass_props props)
{
    const bool has_mass = !(props.mass <= 0.0); // a NaN has mass, so that it shows
    const tal_spatial_inertia M = {props.mass, has_mass ? props.com : TAL_VEC3_ZERO,
                                   has_mass ? tal_s3_scale(1.0 / props.mass, props.inertia)
                                            : TAL_SYM3_ZERO};
    return M;
}

/// The mass properties about Bo, in B, of a spatial inertia.
static inline tal_mass_props tal_mass_props_from_spatial_inertia(tal_spatial_inertia M)
{
    const tal_mass_props props = {M.mass, M.p, tal_s3_scale(M.mass, M.G)};
    return props;
}

/// M V: spatial momentum of a velocity, inertial force of an acceleration (manual 3.3.3).
static inline tal_spatial_vec tal_spatial_inertia_mul(tal_spatial_inertia M, tal_spatial_vec V)
{
    return tal_sv_scale(M.mass, tal_sv(tal_v3_add(tal_s3_mul_v3(M.G, V.w), tal_v3_cross(M.p, V.v)),
                                       tal_v3_sub(V.v, tal_v3_cross(M.p, V.w))));
}

/// V^T M V / 2, the same whatever the point and the frame (RBDA eq. 2.67).
static inline double tal_spatial_inertia_energy(tal_spatial_inertia M, tal_spatial_vec V)
{
    return 0.5 * tal_sv_dot(V, tal_spatial_inertia_mul(M, V));
}

/// The inertia about B becomes the inertia about A, another point of the same body (manual
/// 12.3.1): p_AC = p_AB + p_BC,  G_A = G_B - p_BCx^2 + p_ACx^2.
static inline tal_spatial_inertia tal_spatial_inertia_shift(tal_spatial_inertia M_B, tal_vec3 p_AB)
{
    const tal_vec3 p_AC = tal_v3_add(p_AB, M_B.p);
    const tal_sym3 G_C = tal_s3_sub(M_B.G, tal_s3_cross_square(M_B.p));
    const tal_spatial_inertia M_A = {M_B.mass, p_AC, tal_s3_add(G_C, tal_s3_cross_square(p_AC))};
    return M_A;
}

/// Re-express in A an inertia given in B; its point stays (manual 12.2).
static inline tal_spatial_inertia tal_spatial_inertia_reexpress(tal_mat3 R_AB,
                                                                tal_spatial_inertia M_B)
{
    const tal_spatial_inertia M_A = {M_B.mass, tal_m3_mul_v3(R_AB, M_B.p),
                                     tal_s3_congruence(R_AB, M_B.G)};
    return M_A;
}

/// The two bodies glued together; both about one point and in one frame.
static inline tal_spatial_inertia tal_spatial_inertia_add(tal_spatial_inertia M,
                                                          tal_spatial_inertia N)
{
    const double mass = M.mass + N.mass;
    const double share = mass <= 0.0 ? 0.0 : N.mass / mass;
    const tal_spatial_inertia sum = {mass, tal_v3_axpy(share, tal_v3_sub(N.p, M.p), M.p),
                                     tal_s3_add(M.G, tal_s3_scale(share, tal_s3_sub(N.G, M.G)))};
    return sum;
}

/// M written out: J = m G, F = m px, M = m 1.
static inline tal_abi tal_abi_from_spatial_inertia(tal_spatial_inertia M)
{
    const tal_abi P = {tal_s3_scale(M.mass, M.G), tal_m3_cross(tal_v3_scale(M.mass, M.p)),
                       tal_s3_diag(M.mass, M.mass, M.mass)};
    return P;
}

/// M^-1, from force to motion (manual eq. 12.2, RBDA eq. 2.74). Infinite or NaN when the body has
/// no mass or no inertia about some axis.
///
///     M^-1 = 1/m [   g        -g px     ]       g = (G - px^2)^-1,  px^2 = px^T px
///                [ px g   px g px^T + 1 ]
static inline tal_abi tal_spatial_inertia_inverse(tal_spatial_inertia M)
{
    const double s = 1.0 / M.mass;
    const tal_sym3 g = tal_s3_scale(s, tal_s3_inverse(tal_s3_sub(M.G, tal_s3_cross_square(M.p))));
    const tal_mat3 lower = tal_v3_cross_m3(M.p, tal_m3_from_s3(g));
    const tal_abi inverse = {
        g, tal_m3_transpose(lower),
        tal_s3_add(tal_s3_congruence(tal_m3_cross(M.p), g), tal_s3_diag(s, s, s))};
    return inverse;
}

/** @} */

/**
 * @defgroup abi Articulated inertia
 * @{
 */

/// P + Q
static inline tal_abi tal_abi_add(tal_abi P, tal_abi Q)
{
    const tal_abi sum = {tal_s3_add(P.J, Q.J), tal_m3_add(P.F, Q.F), tal_s3_add(P.M, Q.M)};
    return sum;
}

/// P - Q
static inline tal_abi tal_abi_sub(tal_abi P, tal_abi Q)
{
    const tal_abi difference = {tal_s3_sub(P.J, Q.J), tal_m3_sub(P.F, Q.F), tal_s3_sub(P.M, Q.M)};
    return difference;
}

/// g u^T, which is symmetric when g and u are parallel. Otherwise it is one term of a sum that is
/// symmetric as a whole, and the upper triangles of the diagonal blocks are enough.
static inline tal_abi tal_abi_outer(tal_spatial_vec g, tal_spatial_vec u)
{
    const tal_abi P = {tal_s3_from_m3(tal_m3_outer(g.w, u.w)), tal_m3_outer(g.w, u.v),
                       tal_s3_from_m3(tal_m3_outer(g.v, u.v))};
    return P;
}

/// P V
static inline tal_spatial_vec tal_abi_mul(tal_abi P, tal_spatial_vec V)
{
    return tal_sv(tal_v3_add(tal_s3_mul_v3(P.J, V.w), tal_m3_mul_v3(P.F, V.v)),
                  tal_v3_add(tal_m3_tmul_v3(P.F, V.w), tal_s3_mul_v3(P.M, V.v)));
}

/// P about B becomes P about A, where p = p_AB (manual eq. 12.5 to 12.7):
///
///     [1 px] [J   F] [ 1  0]        F' = F + px M
///     [0  1] [F^T M] [-px 1]        J' = J + px F^T - F' px,   and  -F' px = (px F'^T)^T
static inline tal_abi tal_abi_shift(tal_abi P_B, tal_vec3 p_AB)
{
    const tal_mat3 F = tal_m3_add(P_B.F, tal_v3_cross_m3(p_AB, tal_m3_from_s3(P_B.M)));
    const tal_mat3 A = tal_v3_cross_m3(p_AB, tal_m3_transpose(P_B.F));
    const tal_mat3 B = tal_m3_transpose(tal_v3_cross_m3(p_AB, tal_m3_transpose(F)));
    const tal_abi P_A = {tal_s3_add(P_B.J, tal_s3_from_m3(tal_m3_add(A, B))), F, P_B.M};
    return P_A;
}

/// Re-express in A an inertia given in B; its point stays.
static inline tal_abi tal_abi_reexpress(tal_mat3 R_AB, tal_abi P_B)
{
    const tal_mat3 RF = tal_m3_mul(R_AB, P_B.F);
    const tal_abi P_A = {tal_s3_congruence(R_AB, P_B.J), tal_m3_mul(RF, tal_m3_transpose(R_AB)),
                         tal_s3_congruence(R_AB, P_B.M)};
    return P_A;
}

/** @} */

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_INERTIA_H
