// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_MOBILIZER_H
#define TALUS_MATTER_MOBILIZER_H

/**
 * @file talus/matter/mobilizer.h
 * @brief What a mobilizer is: the motion it allows a body, as a table of functions.
 *
 * A mobilizer connects frame F, fixed on the parent body, to frame M, fixed on the child. Its
 * coordinates q say where M is in F, its speeds u how it moves there:
 *
 *     X_FM = X_FM(q)         V_FM = H_FM(q) u         qdot = N(q) u
 *
 * with V_FM = (w_FM, v_FM), the angular velocity of M in F and the velocity of Mo in F, both
 * expressed in F (manual ch. 5). Every built-in mobilizer is such a table; yours is treated
 * the same. tal_mobilizer_test() checks that the functions of a table agree with each other.
 */

#include <talus/common.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup mobilizer Mobilizers
/// @{

/// Most coordinates and most speeds a mobilizer can have.
#define TAL_MAX_NQ 7
#define TAL_MAX_NU 6

/// Arguments of the functions of a table. `u` is NULL where only q is known.
typedef struct tal_mobilizer_arg {
    bool use_angles;      ///< q holds body-XYZ angles instead of a quaternion
    const double *params; ///< [num_params] instance parameters: pitch, radii, ...
    const double *q;      ///< [nq]
    const double *u;      ///< [nu]
} tal_mobilizer_arg;

/// Which product tal_mobilizer_ops.mul_N forms. `in` has nu values and `out` nq for N, Ndot and
/// NPLUS_T; the other way round for the rest.
typedef enum tal_n_op {
    TAL_N,       ///< qdot = N u
    TAL_N_T,     ///< f_u = N^T f_q
    TAL_NPLUS,   ///< u = N^+ qdot
    TAL_NPLUS_T, ///< f_q = N^+^T f_u
    TAL_NDOT,    ///< Ndot u, with Ndot the time derivative of N along qdot = N arg->u
    TAL_NDOT_T   ///< Ndot^T f_q
} tal_n_op;

/**
 * A mobilizer as a table of functions.
 *
 * Declare it `static const`, fill what you need with designated initializers, leave the rest NULL.
 * All functions are pure: they read `self` and their arguments, write their outputs, allocate
 * nothing, and may run on several threads at once. Anything that varies belongs in the State. They
 * are written for the forward direction; Talus reverses (manual sec. 5.1).
 */
typedef struct tal_mobilizer_ops {
    size_t size;      ///< sizeof(tal_mobilizer_ops): lets the table grow without breaking you
    const char *name; ///< for messages, e.g. "pin"
    uint64_t tag;     ///< change it when the meaning of q or u changes: part of the structure hash
    int nu;           ///< speeds, 0 <= nu <= TAL_MAX_NU
    int nq;           ///< coordinates with a quaternion (or plain), nu <= nq <= TAL_MAX_NQ
    int nq_angles;    ///< coordinates with body-XYZ angles; equal to nq when there is no choice
    int num_params;   ///< doubles of instance parameters, kept in the State
    bool has_quaternion; ///< q[0..3] is a quaternion, w first; with angles, q[0..2] are XYZ

    // Required.

    /// X_FM(q). A quaternion may be of any length: normalize it here, and let N grow with it.
    /// Return TAL_ERR_BAD_VALUE for a q at which M has no pose; q is finite.
    tal_status (*calc_X_FM)(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM);

    /// The nu columns of H_FM(q), expressed in F: V_FM = H_FM u.
    /// @param[out] H_FM  [nu]
    tal_status (*calc_H_FM)(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[]);

    // Optional. The default, when NULL, is given after the colon.

    /// The time derivative in F of those columns, along qdot = N u: all zero.
    /// @param[out] Hdot_FM  [nu]
    tal_status (*calc_Hdot_FM)(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[]);

    /// Derivatives in F of Hdot_FM u along each speed: column l along qdot = N e_l, with u held.
    /// Derivatives of dynamics need them: differences of calc_Hdot_FM, which
    /// tal_matter_differenced_mobilizers() reports.
    /// @param[out] slopes  [nu]
    tal_status (*calc_Hdot_u_slopes)(const void *self, const tal_mobilizer_arg *arg,
                                     tal_spatial_vec slopes[]);

    /// N, N^+, Ndot applied to a vector, and transposed: qdot = u, allowed only when nq == nu. `in`
    /// and `out` do not overlap. TAL_ERR_SINGULAR where N grows without bound.
    /// @param[in]  in   [nq or nu, as ::tal_n_op says]
    /// @param[out] out  [nq or nu, as ::tal_n_op says]
    tal_status (*mul_N)(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                        const double in[], double out[]);

    /// The q that places M nearest to a wanted X_FM; arg->q is a first guess: Gauss-Newton, then
    /// Newton, on the functions above.
    /// @param[out] q  [nq]
    tal_status (*fit_q)(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[]);

    /// The u that comes nearest to a wanted V_FM: least squares on H_FM.
    /// @param[out] u  [nu]
    tal_status (*fit_u)(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec V_FM,
                        double u[]);

    /// Are these parameters physical? If not, fill `err` with a sentence that names the wrong one:
    /// any finite value is accepted.
    /// @param[in] params  [num_params]
    tal_status (*check_params)(const void *self, const double params[], tal_error *err);

    /// Called once, when the System is destroyed or refuses the mobilizer: nothing.
    void (*destroy)(void *self);
} tal_mobilizer_ops;

/// Which way the coordinates of a mobilizer are meant.
typedef enum tal_direction {
    TAL_FORWARD, ///< they place M in F
    TAL_REVERSE  ///< they place F in M: the functions of the table give X_MF and V_MF in M
} tal_direction;

/// @name Built-in tables
/// Conventions as in Simbody; doc/mobilizers.md has the equations. The `self` of all of them is
/// NULL. With a quaternion, a zero one is TAL_ERR_BAD_VALUE; with angles instead, |cos q1| < 1e-6
/// is TAL_ERR_SINGULAR in N, N^T and Ndot.
/// @{
TAL_API const tal_mobilizer_ops *tal_mobilizer_weld(void);
TAL_API const tal_mobilizer_ops *tal_mobilizer_pin(void);    ///< q: angle about z
TAL_API const tal_mobilizer_ops *tal_mobilizer_slider(void); ///< q: distance along x
TAL_API const tal_mobilizer_ops *tal_mobilizer_screw(void);  ///< q: angle about z; params: {pitch}
TAL_API const tal_mobilizer_ops *tal_mobilizer_universal(void);    ///< Rx(q0) Ry(q1)
TAL_API const tal_mobilizer_ops *tal_mobilizer_cylinder(void);     ///< Rz(q0), q1 along z
TAL_API const tal_mobilizer_ops *tal_mobilizer_bend_stretch(void); ///< Rz(q0), then q1 along Mx
TAL_API const tal_mobilizer_ops *tal_mobilizer_planar(void);       ///< Rz(q0), (q1, q2) in Fx, Fy
TAL_API const tal_mobilizer_ops *tal_mobilizer_gimbal(void);       ///< body-XYZ angles, u = qdot
/// Body-XYZ angles, then p_FM in F; u = qdot.
TAL_API const tal_mobilizer_ops *tal_mobilizer_bushing(void);
/// params: {azimuth offset, zenith offset, azimuth sign, zenith sign, radial sign, axis: 0 z, 1 x}.
TAL_API const tal_mobilizer_ops *tal_mobilizer_spherical_coords(void);
TAL_API const tal_mobilizer_ops *tal_mobilizer_translation(void);      ///< p_FM in F
TAL_API const tal_mobilizer_ops *tal_mobilizer_ball(void);             ///< u = w_FM in F
TAL_API const tal_mobilizer_ops *tal_mobilizer_ellipsoid(void);        ///< params: {rx, ry, rz}
TAL_API const tal_mobilizer_ops *tal_mobilizer_line_orientation(void); ///< u = (wx, wy) in M
TAL_API const tal_mobilizer_ops *tal_mobilizer_free_line(void);        ///< the same, then v_FM in F
TAL_API const tal_mobilizer_ops *tal_mobilizer_free(void);             ///< u = (w_FM, v_FM) in F
TAL_API const tal_mobilizer_ops *tal_mobilizer_cantilever(void); ///< free beam; params: {length}
/// q: angle about z, radius q along x; params: {radius}
TAL_API const tal_mobilizer_ops *tal_mobilizer_rack_and_pinion(void);

/// @}

/// One of the six functions of a function-based mobilizer, of some of its coordinates. It must
/// offer second derivatives; with third ones, derivatives of dynamics are exact. One function may
/// serve several of the six.
typedef struct tal_mobilizer_function {
    tal_function *function; ///< NULL: zero
    int num_coords;         ///< number of arguments of the function
    int coords[TAL_MAX_NU]; ///< which coordinates they are [num_coords]
} tal_mobilizer_function;

/**
 * Description of a function-based mobilizer, the CustomJoint of OpenSim: three body-fixed rotations
 * about chosen axes and three translations along chosen axes of F, each a function of some of the
 * coordinates. u = qdot.
 */
typedef struct tal_function_based_def {
    int nq; ///< number of coordinates, 1 to 6; each must be used by some function
    tal_mobilizer_function rotation[3];    ///< angles, rad
    tal_vec3 rotation_axis[3];             ///< directions, of any length; default x, y, z
    tal_mobilizer_function translation[3]; ///< distances
    tal_vec3 translation_axis[3];          ///< directions in F, of any length; default x, y, z
} tal_function_based_def;

/// No coordinates, all functions zero, axes x, y, z.
TAL_API tal_function_based_def tal_function_based_def_default(void);

/// A table and its `self` for one function-based mobilizer, allocated together.
typedef struct tal_function_based tal_function_based;

/**
 * Make a function-based mobilizer.
 *
 * @param[in]  def        copied; its functions are adopted on success and destroyed with the rest
 * @param[in]  allocator  NULL means the default
 * @param[out] out        owned by the caller until a System adopts it; NULL on failure
 * @param[out] err        why it failed; may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE or TAL_ERR_BAD_INDEX naming the function, axis or coordinate,
 *         TAL_ERR_NULL, TAL_ERR_NO_MEMORY; on failure nothing has been adopted
 */
TAL_API TAL_NODISCARD tal_status tal_function_based_create(const tal_function_based_def *def,
                                                           const tal_allocator *allocator,
                                                           tal_function_based **out,
                                                           tal_error *err);

/// Free it, functions included; NULL is allowed. The `destroy` of its table.
TAL_API void tal_function_based_destroy(tal_function_based *mobilizer);

/// Its table; borrowed. The `self` that goes with it is the tal_function_based itself.
TAL_API const tal_mobilizer_ops *tal_function_based_ops(const tal_function_based *mobilizer);

/**
 * How far the functions of a table are from agreeing, each relative to the size of what it compares
 * or to 1, whichever is larger; infinite for a NaN.
 *
 * Derivatives are compared with central differences, extrapolated to fourth order over steps of
 * 1e-3 in q: noise is 1e-12 to 1e-10, more where the functions vary within 1e-2. A wrong formula
 * shows as 1e-3 or more. H and N are two sides of one equation, d/dt X_FM along N u = H_FM u, so a
 * mistake in either shows in both.
 */
typedef struct tal_mobilizer_report {
    double H;     ///< each column of H_FM against differences of X_FM along that column of N
    double Hdot;  ///< Hdot_FM against differences of H_FM along N u
    double N;     ///< H_FM u against differences of X_FM along N u; |quaternion| kept
    double Nplus; ///< N^+ N - 1
    double Ndot;  ///< Ndot against differences of N along N u
    double N_T;   ///< the transposed products against the plain ones
    double fit_q; ///< X_FM(fit_q(X_FM(q))) against X_FM(q), with a guess at a distance from q
    double fit_u; ///< fit_u(H_FM u) against u
    double Hdot_u_slopes; ///< against differences of Hdot_FM u along each column of N; 0 if absent
    double worst;         ///< the largest of these
} tal_mobilizer_report;

/**
 * Check the functions of a mobilizer's table against each other at one q and u.
 *
 * @param[in]  ops, self   the table and its data
 * @param[in]  arg         params, mode, q (not singular) and u
 * @param[in]  direction   both directions are worth checking
 * @param[out] report      filled on success
 * @param[out] err         why it failed; may be NULL
 * @return TAL_OK; TAL_ERR_NULL or TAL_ERR_BAD_VALUE for a table that is incomplete or parameters
 *         that are not physical; or what a function of the table returned
 */
TAL_API TAL_NODISCARD tal_status tal_mobilizer_test(const tal_mobilizer_ops *ops, const void *self,
                                                    const tal_mobilizer_arg *arg,
                                                    tal_direction direction,
                                                    tal_mobilizer_report *report, tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_MOBILIZER_H
