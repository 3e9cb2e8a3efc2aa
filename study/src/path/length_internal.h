// Length of a path and its slope along coordinates, for the studies of paths.
#ifndef TALUS_FIT_LENGTH_INTERNAL_H
#define TALUS_FIT_LENGTH_INTERNAL_H

#include <talus/forces.h>

/// A path in a State of a study's own.
typedef struct tali_fit_subject {
    const tal_system *system;
    const tal_forces *forces;
    const tal_matter *matter;
    tal_state *state; ///< owned
    tal_path_ix path;
} tali_fit_subject;

/// Check what a study of a path is called with, and copy the State. A breach names `where`.
tal_status tali_fit_begin(const tal_system *system, const tal_forces *forces,
                          const tal_state *start, tal_path_ix path, const char *where,
                          tali_fit_subject *out, tal_error *err);

/// Slot of a coordinate, numbered as with angles, among those of its body in the State; -1 for a
/// part of a quaternion.
int tali_fit_slot(const tali_fit_subject *it, tal_mobility at);

/// dl/dq of a coordinate from the generalized forces g. On entry: Position.
/// @param[in] g  [nu] by tal_path_calc_generalized()
tal_status tali_fit_calc_slope(const tali_fit_subject *it, const double g[], tal_mobility at,
                               double *slope);

#endif // TALUS_FIT_LENGTH_INTERNAL_H
