// Rows of pairs, several lanes at a time, by the best that the processor has (ADR 20).
#ifndef TALUS_KERNEL_INTERNAL_H
#define TALUS_KERNEL_INTERNAL_H

#include "processor_internal.h"

#include "term/pair_internal.h"

#include <talus/molecule/force_field.h>

#include <stdbool.h>
#include <stdint.h>

/// Atoms of a cluster: entries of a list are an atom and a cluster.
#define TALI_LANES_CLUSTER 8

/// Atoms in the order of clusters, and what acts on them. An atom has a slot; slots without an atom
/// are at the origin, and no entry has their bit.
typedef struct tali_lanes_atoms {
    const tali_term_pairs *pairs;
    double per_unit; ///< of the grid
    double vdw;      ///< scale of A and B
    double coulomb;  ///< scale of the product of charges
    bool is_charged;
    const tal_ff_pair *table; ///< [num_classes][num_classes]
    int num_classes;
    const int *class_of;     ///< [slots]
    const double *charge;    ///< [slots]
    const double *x, *y, *z; ///< [slots]
    int64_t *fx, *fy, *fz;   ///< [slots] sums
    int64_t energy[2];       ///< sums: van der Waals, charges
    bool is_over;            ///< a contribution was too large for these sums; they are spoilt
} tali_lanes_atoms;

/// One atom and others: clusters times 256, with a bit for every atom of them that is meant.
typedef struct tali_lanes_row {
    int slot;
    const uint32_t *entries;
    int num_entries;
} tali_lanes_row;

/// Where atoms are, for looking for neighbors.
typedef struct tali_lanes_places {
    const double *x[3]; ///< [slots] NaN: no atom
    tal_vec3 box;       ///< zero: none
    tal_vec3 per_box;   ///< inverse edges; zero: none
    double reach;
} tali_lanes_places;

/// What is compiled for several processors.
typedef struct tali_lanes_kernels {
    /// Add the pairs of rows to the sums.
    void (*add_rows)(tali_lanes_atoms *atoms, const tali_lanes_row rows[], int n);
    /// Entries of the clusters `near` that have atoms within reach of a slot, those atoms' bits
    /// set; their number. `row` has room for n.
    int (*find_row)(const tali_lanes_places *places, int slot, const int near[], int n,
                    uint32_t row[]);
} tali_lanes_kernels;

/// The kernels for a processor; false if this machine cannot run them.
bool tali_lanes_for(tali_processor processor, tali_lanes_kernels *out);

/// The best of them.
tali_lanes_kernels tali_lanes_best(void);

/// Whether the kernels know how pairs are set to act.
bool tali_lanes_knows(const tali_term_pairs *pairs);

#endif // TALUS_KERNEL_INTERNAL_H
