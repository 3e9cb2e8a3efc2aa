// What L-BFGS remembers of the last steps, and its two loops (NocedalWright alg. 7.4). Between the
// loops the caller multiplies by a first guess of H.
#ifndef TALUS_LBFGS_INTERNAL_H
#define TALUS_LBFGS_INTERNAL_H

#include <stdbool.h>

/// Steps s and changes y of the gradient, a ring; in memory of the caller.
typedef struct tali_lbfgs {
    int n, memory;
    double *s, *y;       ///< [memory][n]
    double *rho, *alpha; ///< [memory]
    int num, newest;     ///< steps remembered
} tali_lbfgs;

/// Where the next step and the change of the gradient along it go: both [n].
void tali_lbfgs_room(const tali_lbfgs *it, double **s, double **y);

/// Keep what was written there, if it shows a curvature that is positive.
/// @param[out] curvature  s . y; may be NULL
bool tali_lbfgs_keep(tali_lbfgs *it, double *curvature);

/// The change of the gradient along the newest step.
const double *tali_lbfgs_newest_y(const tali_lbfgs *it);

/// First loop: steps are undone in d [n], from the newest on.
void tali_lbfgs_undo(tali_lbfgs *it, double d[]);

/// Second loop: they are redone, the newest last.
void tali_lbfgs_redo(const tali_lbfgs *it, double d[]);

#endif // TALUS_LBFGS_INTERNAL_H
