// Slopes of a function along one direction, by extrapolated differences, each with an estimate of
// its error: what linearization and the stiffness at an equilibrium rest on.
//
// No step of differences suits every model: the accelerations of a light link over a heavy one bend
// within the root of their mass ratio, a molecule in meters within 1e-10. So the step that is
// usual, H, is tried first, and kept where the extrapolation converges and much shorter steps see
// the same slopes. Otherwise steps are tried from the shortest upward: there the
// differences are wrong through round-off alone, and the error that they show is to be believed.
#ifndef TALUS_SLOPE_INTERNAL_H
#define TALUS_SLOPE_INTERNAL_H

#include "alloc_internal.h"

#include <talus/common.h>

enum {
    TALI_SLOPE_STEPS = 3 // of one extrapolation
};

/// A function of x, and room for differences of it.
typedef struct tali_slope {
    /// Values at x. A failure, or values that are not finite, end a walk to longer steps.
    tal_status (*calc)(void *context, const double x[], double values[]);
    void *context;
    int n;                   // values
    int ends[3], num_ranges; // values of one kind: [0, ends[0]), [ends[0], ends[1]), ...
    const double *here;      // [n] values at x = 0

    // room, [n] each
    double *plus, *minus;
    double *D[TALI_SLOPE_STEPS]; // central differences, the longest step first
    double *S[TALI_SLOPE_STEPS]; // second differences over 2 h
    double floor[3];             // what round-off makes of a slope of this kind
    double *jump;                // of the slopes taken
    int *patience;               // how many longer steps are still tried
} tali_slope;

/// Room for functions with up to n values: pieces for tali_alloc_pieces().
enum {
    TALI_SLOPE_PIECES = 4 + 2 * TALI_SLOPE_STEPS
};

void tali_slope_list_room(tali_slope *slope, size_t n, tali_piece pieces[TALI_SLOPE_PIECES]);

/**
 * d values / d x_i at x = 0.
 *
 * @param[in,out] x      zeros; back to that afterwards
 * @param[in]     H      the usual step
 * @param[in]     size   what x_i is added to, for its round-off
 * @param[out]    slope  [n]
 * @param[out]    error  [n] how far each may be off; half the jump where a slope jumps
 * @param[out]    used   the step that served; may be NULL
 * @return TAL_OK; or what `calc` returned at the shortest step
 */
tal_status tali_slope_along(tali_slope *it, double x[], int i, double H, double size,
                            double slope[], double error[], double *used);

#endif // TALUS_SLOPE_INTERNAL_H
