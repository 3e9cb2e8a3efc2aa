// Using a mobilizer's table: defaults for what it leaves out, and reversal.
#ifndef TALUS_MOBILIZER_INTERNAL_H
#define TALUS_MOBILIZER_INTERNAL_H

#include "error_internal.h"

#include <talus/matter/mobilizer.h>

/// Tags of the built-in tables, from "TAL" in ASCII upwards.
enum {
    TALI_TAG_WELD = 0x54414c00,
    TALI_TAG_PIN,
    TALI_TAG_SLIDER,
    TALI_TAG_SCREW,
    TALI_TAG_UNIVERSAL,
    TALI_TAG_CYLINDER,
    TALI_TAG_BEND_STRETCH,
    TALI_TAG_PLANAR,
    TALI_TAG_GIMBAL,
    TALI_TAG_BUSHING,
    TALI_TAG_SPHERICAL_COORDS,
    TALI_TAG_TRANSLATION,
    TALI_TAG_BALL,
    TALI_TAG_ELLIPSOID,
    TALI_TAG_LINE_ORIENTATION,
    TALI_TAG_FREE_LINE,
    TALI_TAG_FREE,
    TALI_TAG_CANTILEVER,
    TALI_TAG_FUNCTION_BASED,
    TALI_TAG_RACK_AND_PINION
};

/// Check a table: sizes, required functions, counts. The sentence names what is missing.
tal_status tali_mobilizer_check(const tal_mobilizer_ops *ops, tal_error *err);

/// Check instance parameters: all finite, and physical in the eyes of the table.
tal_status tali_mobilizer_check_params(const tal_mobilizer_ops *ops, const void *self,
                                       const double params[], tal_error *err);

/// Coordinates in use: `nq` or `nq_angles`.
static inline int tali_mobilizer_nq(const tal_mobilizer_ops *ops, bool use_angles)
{
    return use_angles ? ops->nq_angles : ops->nq;
}

/// @name The mobilizer as the tree sees it: always X_FM and V_FM in F, whichever the direction
/// A q that is not finite, or whose X_FM is not, is TAL_ERR_NOT_FINITE; an invalid quaternion is
/// TAL_ERR_BAD_VALUE. The caller knows the body and writes the sentence.
/// @{
tal_status tali_mobilizer_X_FM(const tal_mobilizer_ops *ops, const void *self,
                               const tal_mobilizer_arg *arg, tal_direction direction,
                               tal_xform *X_FM);

/// `X_FM` as given by tali_mobilizer_X_FM() at the same arg.
tal_status tali_mobilizer_H_FM(const tal_mobilizer_ops *ops, const void *self,
                               const tal_mobilizer_arg *arg, tal_direction direction,
                               const tal_xform *X_FM, tal_spatial_vec H_FM[]);

/// `H_FM` as given by tali_mobilizer_H_FM(), and V_FM = H_FM u.
tal_status tali_mobilizer_Hdot_FM(const tal_mobilizer_ops *ops, const void *self,
                                  const tal_mobilizer_arg *arg, tal_direction direction,
                                  const tal_xform *X_FM, const tal_spatial_vec H_FM[],
                                  tal_spatial_vec V_FM, tal_spatial_vec Hdot_FM[]);

/// Hdot_FM u alone, with arg->u.
tal_status tali_mobilizer_Hdot_u(const tal_mobilizer_ops *ops, const void *self,
                                 const tal_mobilizer_arg *arg, tal_direction direction,
                                 const tal_xform *X_FM, const tal_spatial_vec H_FM[],
                                 tal_spatial_vec *Hdot_u);

/// How the columns of a mobilizer, and Hdot_FM u, change in F when M moves along one speed l: along
/// qdot = N e_l, with u held.
typedef struct tali_mobilizer_slopes {
    tal_spatial_vec of_H[TAL_MAX_NU * TAL_MAX_NU]; ///< of column k at l nu + k
    tal_spatial_vec of_Hdot_u[TAL_MAX_NU];
} tali_mobilizer_slopes;

/// Derivatives of the columns come from Hdot_FM, which is linear in u; those of Hdot_FM u from the
/// table or, where it has none, from differences.
tal_status tali_mobilizer_slopes_of(const tal_mobilizer_ops *ops, const void *self,
                                    const tal_mobilizer_arg *arg, tal_direction direction,
                                    const tal_xform *X_FM, const tal_spatial_vec H_FM[],
                                    tali_mobilizer_slopes *slopes);

/// Are some of them differences?
static inline bool tali_mobilizer_is_differenced(const tal_mobilizer_ops *ops)
{
    return ops->calc_Hdot_FM != NULL && ops->calc_Hdot_u_slopes == NULL;
}

/// Products with N do not depend on the direction: q and u keep their relation. `in` and `out` do
/// not overlap. TAL_ERR_SINGULAR where the rates of body-XYZ angles grow without bound.
tal_status tali_mobilizer_mul_N(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_n_op op, const double in[],
                                double out[]);

/// The q nearest to X_FM: the sum of squares of the angle left (rad) and the distance left (length)
/// is least. arg->q is a first guess, and may be `q` itself. In reverse, a table with its own fit_q
/// measures the distance between the origins of F, in M.
tal_status tali_mobilizer_fit_q(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_direction direction,
                                const tal_xform *X_FM, double q[]);

/// The u nearest to V_FM: the sum of squares of the six differences is least, and among equally
/// good u the shortest is taken. `u` may be arg->u. In reverse, a table with its own fit_u measures
/// V_MF in M.
tal_status tali_mobilizer_fit_u(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_direction direction,
                                tal_spatial_vec V_FM, double u[]);

/// @}

/// Which parts of a transform or a velocity are to be fitted.
typedef enum tali_mobilizer_fit_parts {
    TALI_FIT_ROTATION = 1,
    TALI_FIT_TRANSLATION = 2,
    TALI_FIT_ALL = 3
} tali_mobilizer_fit_parts;

/// @name Fits of a part: rotation or translation, angular or linear velocity
/// The part that is not asked for stays as near as it can to what it is at arg->q and arg->u.
/// @{
tal_status tali_mobilizer_fit_q_part(const tal_mobilizer_ops *ops, const void *self,
                                     const tal_mobilizer_arg *arg, tal_direction direction,
                                     const tal_xform *X_FM, tali_mobilizer_fit_parts parts,
                                     double q[]);

tal_status tali_mobilizer_fit_u_part(const tal_mobilizer_ops *ops, const void *self,
                                     const tal_mobilizer_arg *arg, tal_direction direction,
                                     tal_spatial_vec V_FM, tali_mobilizer_fit_parts parts,
                                     double u[]);
/// @}

/// Improve `q`, which holds a first guess, until the parts of X_FM asked for are met as nearly as
/// can be by moving along N u: damped Gauss-Newton, then Newton. For tables whose fit_q has only a
/// guess to offer.
tal_status tali_mobilizer_refine_q(const tal_mobilizer_ops *ops, const void *self,
                                   const tal_mobilizer_arg *arg, tal_direction direction,
                                   const tal_xform *X_FM, tali_mobilizer_fit_parts parts,
                                   double q[]);

#endif // TALUS_MOBILIZER_INTERNAL_H
