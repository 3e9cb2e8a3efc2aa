// A molecule in a System as a struct: bodies, stations, which terms move, what its State holds.
#ifndef TALUS_TERM_INSTANCE_INTERNAL_H
#define TALUS_TERM_INSTANCE_INTERNAL_H

#include "kernel/kernel_internal.h"
#include "plan/plan_internal.h"
#include "term/law_internal.h"

#include <talus/molecule/nonbonded.h>

#include <stdint.h>

/// Rows of energies; the families of bonded terms come first, in their order.
typedef enum tali_term_row {
    TALI_ROW_VDW = TAL_NUM_MOL_FAMILIES,
    TALI_ROW_VDW14,
    TALI_ROW_COULOMB,
    TALI_ROW_COULOMB14,
    TALI_ROW_BORN,
    TALI_ROW_SURFACE,
    TALI_ROW_FROZEN,
    TALI_NUM_ROWS
} tali_term_row;

/// What becomes of a bonded term.
typedef enum tali_term_fate {
    TALI_TERM_MOVES,
    TALI_TERM_MAPPED, ///< part of the series of a mobility
    TALI_TERM_FROZEN  ///< its atoms do not move against each other
} tali_term_fate;

/// A body of an instance.
typedef struct tali_term_body {
    int body;             ///< in matter
    int parent;           ///< in the instance; -1: Ground
    int first, num_atoms; ///< of its atoms among `order`
    int mapped;           ///< its series; -1: none
    tal_mol_joint joint;
    int bond;
} tali_term_body;

/// A pair whose atoms are up to four bonds apart, with its scales put in.
typedef struct tali_term_pair {
    int i, j;
    double A, B;
    double charge; ///< scale of the product of charges
} tali_term_pair;

/// All torsions about one bond as a series of its q.
typedef struct tali_term_mapped {
    int body; ///< in the instance
    tali_field_series series;
} tali_term_mapped;

/// A granularity with copies of all that it points to.
typedef struct tali_term_choices {
    size_t size; ///< of the whole block
    tal_mol_granularity how;
    tal_mol_selection *selections;
    tal_mol_bond_choice *bonds;
    int *atoms;    ///< of all selections
    char *letters; ///< chains of all selections
} tali_term_choices;

struct tal_mol_instance {
    tal_allocator allocator;
    size_t size; ///< of the whole block
    tali_term_choices *choices;
    tal_xform X_GR;          ///< of the frame of the positions
    tal_mol_picture picture; ///< of its decorations, which follow each other
    int first_decoration, num_decorations;
    const tal_mol *mol;
    const tal_system *system;
    const tal_matter *matter;
    const tal_forces *forces;
    tal_force_ix me;
    tal_mol_statistics statistics;

    int *body;         ///< [num_atoms] in the instance
    int *order;        ///< [num_atoms] atoms by body
    tal_vec3 *station; ///< [num_atoms] in B
    int *class_of;     ///< [num_atoms]
    int *class_count;  ///< [classes] atoms of each
    tali_term_body *bodies;
    tal_mol_demoted *demoted;
    int *cut;

    unsigned char *fate[TAL_NUM_MOL_FAMILIES]; ///< of the terms of the molecule
    int *moving[TAL_NUM_MOL_FAMILIES];         ///< those that move
    int num_moving[TAL_NUM_MOL_FAMILIES];
    tali_term_mapped *mapped;
    int num_mapped;

    tali_term_pair *pairs; ///< scaled pairs that move
    int num_pairs;
    int *skip_start; ///< [num_atoms + 1] of atoms behind each that its row leaves out
    int *skip;       ///< [num_skips at most] ascending
    int num_skips;
    int list_room;              ///< entries of a list of neighbors for each atom
    bool is_charged;            ///< an atom has a charge
    bool has_exclusions;        ///< not every pair of atoms acts
    tali_lanes_kernels kernels; ///< the best for this machine

    tal_var_ix scales;      ///< double [TAL_NUM_MOL_SCALES]
    tal_var_ix nonbonded;   ///< tal_mol_nonbonded
    tal_var_ix temperature; ///< double, of Fixman's potential
    tal_cache_ix fixman;    ///< work of tali_term_fixman_size() bytes
    tal_cache_ix stations;  ///< tal_vec3 [num_atoms], in M
    tal_cache_ix list;      ///< tali_list; outlives every stage but the first
    tal_cache_ix sums;      ///< tali_term_sums of what moves
    tal_cache_ix speeds;    ///< work of tali_term_speeds_size() bytes
    tal_cache_ix all;       ///< tali_term_sums of everything, on atoms alone
};

/// Sums over terms. Behind it: positions, forces on atoms, slopes of mapped series, work.
typedef struct tali_term_sums {
    double energy[TALI_NUM_ROWS]; ///< [kJ/mol]
    double virial[9];             ///< columns, of everything [kJ/mol]
    double unit;                  ///< of the forces [kJ/mol/nm]
} tali_term_sums;

/// Keep what an instance is added with. False when memory runs out.
bool tali_term_keep_choices(tal_mol_instance *instance, const tal_mol_granularity *how);

/// Copy settings with zeros between the fields: a State that is saved has all of its bytes.
void tali_term_copy_settings(const tal_mol_nonbonded *from, tal_mol_nonbonded *to);

/// Bytes of sums and what is behind them.
size_t tali_term_sums_size(const tal_mol_instance *instance);

/// Positions of the atoms in Ground, behind sums.
const tal_vec3 *tali_term_positions(const tali_term_sums *sums);

/// Forces on the atoms in multiples of the unit: x, y, z of each.
const int64_t *tali_term_forces(const tal_mol_instance *instance, const tali_term_sums *sums);

/// dE/dq of mapped series.
const double *tali_term_slopes(const tal_mol_instance *instance, const tali_term_sums *sums);

/// Sums of what moves, or of everything without mapping. The calc functions of the cache entries.
tal_status tali_term_calc_moving(const void *self, const tal_system *system, tal_state *state,
                                 void *value);
tal_status tali_term_calc_all(const void *self, const tal_system *system, tal_state *state,
                              void *value);

/// The sums, computed if they are out of date. NULL on failure, which the State keeps.
const tali_term_sums *tali_term_sums_of(const tal_mol_instance *instance, tal_state *state,
                                        tal_cache_ix entry);

/// Bytes that Fixman's potential needs.
size_t tali_term_fixman_size(int num_bodies);

/// Fixman's potential and its forces; the calc function of the cache entry.
tal_status tali_term_calc_fixman(const void *self, const tal_system *system, tal_state *state,
                                 void *value);

/// Add its forces, those along all speeds, if it has a temperature.
tal_status tali_term_add_fixman(const tal_mol_instance *instance, tal_state *state, double f[]);

/// Its energy; NaN on failure, which the State keeps.
double tali_term_fixman_energy(const tal_mol_instance *instance, tal_state *state);

/// Bytes of work that random velocities need.
size_t tali_term_speeds_size(const tal_matter *matter);

/// The force on an atom.
tal_vec3 tali_term_force_on(const tal_mol_instance *instance, const tali_term_sums *sums, int atom);

/// Whether a State is of the System of an instance and at a stage; a breach and `st` otherwise.
bool tali_term_is_state(const tal_mol_instance *instance, const tal_state *state, tal_stage stage,
                        const char *where, tal_status *st);

/// Decide what becomes of every term: fates, mapped series, scaled pairs, rows. The arrays are as
/// long as they can become.
void tali_term_sort_out(tal_mol_instance *instance, const tali_plan *plan);

/// Whether an atom of body `body[atom]` cannot move in body `b` of the instance.
bool tali_term_is_fixed_in(const tal_mol_instance *instance, int atom, int b);

/// Whether what is between atoms i < j is left out of pairs, or scaled: up to four bonds apart.
bool tali_term_is_skipped(const tal_mol_instance *instance, int i, int j);

/// Whether the atoms of a pair, so many bonds apart, do not move against each other.
bool tali_term_is_pair_frozen(const tal_mol_instance *instance, int i, int j, int bonds);

/// The parameters of a pair by how many bonds apart its atoms are; false if it is not a special
/// one.
bool tali_term_special_pair(const tal_mol *mol, int i, int j, int bonds, tali_term_pair *pair);

#endif // TALUS_TERM_INSTANCE_INTERNAL_H
