// Using a mobilizer's table: defaults for what it leaves out, and reversal.
#ifndef TALUS_MOBILIZER_INTERNAL_H
#define TALUS_MOBILIZER_INTERNAL_H

#include "error_internal.h"

#include <talus/matter/mobilizer.h>

/// Check a table: sizes, required functions, counts. The sentence names what is missing.
tal_status tali_mobilizer_check(const tal_mobilizer_ops *ops, tal_error *err);

/// @name The mobilizer as the tree sees it: always X_FM and V_FM in F, whichever the direction
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

/// Products with N do not depend on the direction: q and u keep their relation.
tal_status tali_mobilizer_mul_N(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_n_op op, const double in[],
                                double out[]);

tal_status tali_mobilizer_fit_q(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_direction direction,
                                const tal_xform *X_FM, double q[]);

tal_status tali_mobilizer_fit_u(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_direction direction,
                                tal_spatial_vec V_FM, double u[]);
/// @}

#endif // TALUS_MOBILIZER_INTERNAL_H
