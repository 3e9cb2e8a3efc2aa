// What the parts of the friction solver share: the scaled problem and its workspace.
//
//     friction.c         the order of attempts, the check of an answer
//     friction_start.c   modes from friction pyramids, by Lemke's method
//     friction_relax.c   modes from passes of Gauss-Seidel, where pyramids lead nowhere
//     friction_hold.c    forces of contacts that stick or are open, as a guess says
//     friction_newton.c  forces for given modes, by Newton's method; changes of modes
//     friction_iterate.c   many contacts, by passes; uses only the check of contacts
#ifndef TALUS_FRICTION_INTERNAL_H
#define TALUS_FRICTION_INTERNAL_H

#include "solve/lcp_internal.h"

#include <talus/common/friction.h>

/// Coefficients of friction above this count as this: such a contact never slips in practice.
#define TALI_FRICTION_LARGEST_MU 1e3

/// Directions of a friction pyramid of two tangential rows, most.
enum {
    TALI_FRICTION_FACETS = 16
};

/// The problem with the rows of each contact scaled by one factor, so that its cone keeps its
/// shape, and bilateral rows each by its own: A_ij s_i s_j, b_i s_i, pi_i / s_i. All diagonals are
/// then at most 1.
typedef struct tali_friction {
    int n, num_contacts;
    const tal_friction_contact *contacts;
    tal_matrix A;      // n x n, full
    double *s, *b;     // [n]
    double *limit;     // [num_contacts] scaled
    int *contact_of;   // [n] the contact of each row; -1: bilateral
    double compliance; // how soft contacts are, as a part of the mean diagonal of A
    double *softness;  // [n] what a compliance of 1 adds to the diagonal; 0 in bilateral rows
    double *softer;    // [n] pi with a larger compliance
    double *pi, *a;    // [n]
    int *modes;        // [num_contacts] tal_friction_mode
    double *work;      // of the attempts
    int *iwork;        // likewise
    int pivots, iterations, changes;
} tali_friction;

/// mu of a contact, as a number that can be added up: beyond the largest it never slips.
static inline double tali_friction_finite_mu(double mu)
{
    return mu < TALI_FRICTION_LARGEST_MU ? mu : TALI_FRICTION_LARGEST_MU;
}

/// a = (A + compliance) pi + b
void tali_friction_find_a(tali_friction *f);

/// Entry (i, j) with the compliance.
static inline double tali_friction_entry(const tali_friction *f, int i, int j)
{
    const double extra = i == j ? f->compliance * f->softness[i] : 0.0;
    return tali_dense_col(f->A, j)[i] + extra;
}

/// Doubles and ints of work that the parts need for n rows and as many contacts.
size_t tali_friction_start_work(int n, int num_contacts);
size_t tali_friction_start_iwork(int n, int num_contacts);
size_t tali_friction_hold_work(int n);
size_t tali_friction_hold_iwork(int n);
size_t tali_friction_newton_work(int n);
size_t tali_friction_newton_iwork(int n);

/// Forces and modes with cones replaced by pyramids of `facets` sides. TAL_OK,
/// TAL_ERR_INFEASIBLE, TAL_ERR_NO_CONVERGENCE.
tal_status tali_friction_start(tali_friction *f, int facets);

/// Forces and modes by as many passes of block projected Gauss-Seidel, from zeros.
void tali_friction_relax(tali_friction *f, int passes);

/// Forces of the present modes, and others where these contradict the cones, while all contacts
/// stick or are open and there are no bilateral rows. False when that does not lead to an answer.
bool tali_friction_hold(tali_friction *f);

/// Change the mode that disagrees most with its force and acceleration, if any does by more than
/// round-off: the contact; -1: all agree.
int tali_friction_change_worst(tali_friction *f);

/// Forces of the present modes, and other modes where these contradict the cones, until all
/// agree. TAL_OK or TAL_ERR_NO_CONVERGENCE.
tal_status tali_friction_polish(tali_friction *f);

/// Do the contacts make sense? `contact_of` [n] becomes the contact of each row, -1 for bilateral
/// ones. TAL_OK, TAL_ERR_BAD_INDEX, TAL_ERR_BAD_VALUE.
tal_status tali_friction_check(const tal_friction_contact contacts[], int num_contacts, int n,
                               int contact_of[], const char *where, tal_error *err);

#endif // TALUS_FRICTION_INTERNAL_H
