// One evaluation of the terms of a molecule: what it reads, and the sums it adds to.
#ifndef TALUS_TERM_EVALUATION_INTERNAL_H
#define TALUS_TERM_EVALUATION_INTERNAL_H

#include "term/grid_internal.h"
#include "term/instance_internal.h"
#include "term/pair_internal.h"

typedef struct tali_term_evaluation {
    const tal_mol_instance *instance;
    const tal_vec3 *x; ///< positions
    int64_t *f;        ///< forces
    int *cells;        ///< work of tali_term_cells_size() bytes
    double *born;      ///< work of tali_term_born_size() bytes
    double *lanes;     ///< work of tali_list_work_size() bytes
    tal_state *state;  ///< that has the list of neighbors
    double scale[TAL_NUM_MOL_SCALES];
    bool everything; ///< also what is frozen, and the virial; nothing is mapped
    tali_term_pairs pairs;
    tali_term_grid grid;
    int64_t energy[TALI_NUM_ROWS];
    int64_t virial[9]; ///< columns of the sum of d f^T
} tali_term_evaluation;

static inline void tali_term_add_energy(tali_term_evaluation *it, int row, double energy)
{
    tali_term_add(&it->energy[row], tali_term_on_grid(&it->grid, energy));
}

static inline void tali_term_add_virial(tali_term_evaluation *it, tal_vec3 d, tal_vec3 f)
{
    for (int k = 0; k < 3; ++k) {
        const double along = k == 0 ? f.x : k == 1 ? f.y : f.z;
        tali_term_push(&it->grid, &it->virial[3 * k], tal_v3_scale(along, d));
    }
}

/// Bytes that pairs need to look for neighbors.
size_t tali_term_cells_size(int num_atoms);

/// Add all pairs that act: those that move, or everything.
void tali_term_add_pairs(tali_term_evaluation *it);

/// Add the pairs that move, by a list of neighbors. False, and nothing added, if that does not do:
/// something is too large for it, or a law that the kernels do not know.
bool tali_term_add_listed(tali_term_evaluation *it);

/// Bytes that water as a continuum needs.
size_t tali_term_born_size(int num_atoms);

/// Add water as a continuum.
void tali_term_add_born(tali_term_evaluation *it);

/// I of an atom of radius rho~ that a sphere of radius s at distance r covers, and its slope by r.
double tali_term_cover(double rho, double s, double r, double *slope);

#endif // TALUS_TERM_EVALUATION_INTERNAL_H
