// Exact sums: every contribution is rounded once to a multiple of a unit, and multiples are added
// as integers, so that the result does not depend on their order.
#ifndef TALUS_TERM_GRID_INTERNAL_H
#define TALUS_TERM_GRID_INTERNAL_H

#include <talus/common/vec.h>

#include <math.h>
#include <stdint.h>

/// What contributions are rounded to.
typedef struct tali_term_grid {
    double per_unit; ///< 2^36, or 2^12 where forces are large
    bool is_over;    ///< a contribution was too large, or no number
} tali_term_grid;

/// A contribution may be so many units: sums of 32 of them fit.
#define TALI_GRID_MOST 2.8823037615171174e17 // 2^58

/// A number as a multiple of the unit.
static inline int64_t tali_term_on_grid(tali_term_grid *grid, double value)
{
    const double multiple = value * grid->per_unit;
    if (!(fabs(multiple) < TALI_GRID_MOST)) {
        grid->is_over = true;
        return 0;
    }
    return (int64_t)llrint(multiple);
}

/// Add to a sum; a sum that leaves the range wraps.
static inline void tali_term_add(int64_t *sum, int64_t units)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)units);
}

/// Add a force to those of an atom.
static inline void tali_term_push(tali_term_grid *grid, int64_t f[3], tal_vec3 force)
{
    tali_term_add(&f[0], tali_term_on_grid(grid, force.x));
    tali_term_add(&f[1], tali_term_on_grid(grid, force.y));
    tali_term_add(&f[2], tali_term_on_grid(grid, force.z));
}

/// Add a force to those of one atom, and its opposite to those of another.
static inline void tali_term_push_both(tali_term_grid *grid, int64_t f1[3], int64_t f2[3],
                                       tal_vec3 force)
{
    const int64_t units[3] = {tali_term_on_grid(grid, force.x), tali_term_on_grid(grid, force.y),
                              tali_term_on_grid(grid, force.z)};
    for (int k = 0; k < 3; ++k) {
        tali_term_add(&f1[k], units[k]);
        tali_term_add(&f2[k], -units[k]);
    }
}

#endif // TALUS_TERM_GRID_INTERNAL_H
