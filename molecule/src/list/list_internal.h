// Lists of neighbors: atoms in clusters of eight, and for every atom the clusters near it.
//
// A list is a hint. It says where to look for pairs, and has every pair within the cutoff; sums do
// not depend on the order in which pairs come. So it does not matter when a list was made, how far
// it reaches, or which State it came from: the results have the same bits.
#ifndef TALUS_LIST_INTERNAL_H
#define TALUS_LIST_INTERNAL_H

#include "kernel/kernel_internal.h"
#include "term/instance_internal.h"

/// A list in a State. Behind it are the arrays of tali_list_arrays.
typedef struct tali_list {
    double reach;   ///< pairs nearer than this are in it; infinite: all
    double skin;    ///< how much farther than the cutoff that is
    tal_vec3 box;   ///< that it was made for
    int num_slots;  ///< a multiple of eight
    int columns[2]; ///< along x and y, of atoms; clusters are cut from columns
    int bins;       ///< of each column, along z
    tal_vec3 low, side;
    long num_entries; ///< of all rows
    bool is_stored; ///< the rows are here; false: there is no room, they are looked for every time
    long num_builds;
} tali_list;

/// The arrays behind a list.
typedef struct tali_list_arrays {
    int *atom_at;          ///< [slots] atoms; -1: none
    int *slot_of;          ///< [num_atoms]
    int *class_of;         ///< [slots]
    double *charge;        ///< [slots]
    int *bin_start;        ///< [bins of all columns + 1] atoms before it, column after column
    int *column_start;     ///< [columns + 1] slots
    double *x[3];          ///< [slots] where atoms were when the list was made
    double *box_center[3]; ///< [clusters] of the box around a cluster, in the periodic box
    double *box_half[3];   ///< [clusters] half of its size
    int *row_start;        ///< [slots + 1]
    uint32_t *entries;     ///< [capacity]
    int *work;             ///< [num_atoms] while it is made
    uint32_t *row;         ///< [clusters] a row that is not stored
    int *near;             ///< [clusters] clusters near one
} tali_list_arrays;

/// The most slots that a molecule may need: columns end with clusters that are not full.
int tali_list_max_slots(int num_atoms);

/// Room for entries.
long tali_list_capacity(const tal_mol_instance *instance);

/// Bytes of a list.
size_t tali_list_size(const tal_mol_instance *instance);

/// Where the arrays of a list are.
tali_list_arrays tali_list_arrays_of(const tal_mol_instance *instance, const tali_list *list);

/// Make a list for positions. False where an atom is nowhere.
bool tali_list_build(const tal_mol_instance *instance, const tali_term_pairs *pairs,
                     const tal_vec3 x[], tali_list *list);

/// The row of a slot, from the boxes of a list: into `row`, whose length is returned. `near` are
/// the clusters that tali_list_find_near() found for its cluster.
int tali_list_find_row(const tal_mol_instance *instance, const tali_list *list,
                       const tali_list_arrays *at, int slot, int num_near, uint32_t row[]);

/// Clusters near one and not before it, into `at->near`; their number.
int tali_list_find_near(const tali_list *list, const tali_list_arrays *at, int cluster);

/// Bytes of work that adding pairs needs.
size_t tali_list_work_size(const tal_mol_instance *instance);

#endif // TALUS_LIST_INTERNAL_H
