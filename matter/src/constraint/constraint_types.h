// Constraints as matter keeps them: as declared, and the paths they act along.
#ifndef TALUS_CONSTRAINT_TYPES_H
#define TALUS_CONSTRAINT_TYPES_H

#include "names_internal.h"

#include <talus/matter/constraint.h>

/// A constraint as it was added, and its place in the tree.
typedef struct tali_constraint {
    char name[TAL_MAX_NAME + 1];
    tal_constraint_ops ops;
    void *self;
    int *bodies;          ///< [num_bodies]; the first of one block for these five
    int *mobility_bodies; ///< [num_mobilities]
    int *mobility_index;  ///< [num_mobilities]
    int *wrench_places;   ///< [num_bodies + 1] entry of its path; -1: Ground, which it leaves out
    int *speed_places;    ///< [num_mobilities] among the speeds of its path
    int num_mobilities;
    int param0;
    bool disabled;

    // found when the topology is realized
    int ancestor;
    int path0;         ///< first of its entries in the list of paths
    int path_len;      ///< bodies on the way from the constrained ones to Ground, tip to base
    int path_nu;       ///< their speeds
    int block;         ///< constraints of different blocks cannot couple
    int first_coupled; ///< where in by_block those begin that may share a mobility with it
    int max_row0;      ///< its first row in its block when everything is enabled
    bool may_be_fast;  ///< it acts on bodies that may be fast
    int fast_row0;     ///< its first row among those of all fast constraints
    size_t pose0;      ///< first of its bodies in the poses of constrained bodies
    size_t wrench0;    ///< first of its doubles in the constraint wrenches
    size_t matrix0;    ///< first of its doubles in the constraint matrices
} tali_constraint;

/// One body on a constraint's path.
typedef struct tali_constraint_path_entry {
    int32_t body;
    int32_t parent; ///< position of its parent on the path; -1 when that is Ground
    int32_t e0;     ///< its first speed among those of the path
} tali_constraint_path_entry;

/// Rows of one constraint at each level, and all of them.
static inline int tali_constraint_rows(const tali_constraint *c)
{
    return c->ops.mp + c->ops.mv + c->ops.ma;
}

/// A constraint within these is small (tali_constraint_room); those built in are.
enum {
    TALI_CONSTRAINT_SMALL_BODIES = TAL_CONSTRAINT_BODIES,
    TALI_CONSTRAINT_SMALL_MOBILITIES = TAL_CONSTRAINT_MOBILITIES,
    TALI_CONSTRAINT_SMALL_ROWS = 12
};

static inline bool tali_constraint_is_small(const tali_constraint *c)
{
    return c->ops.num_bodies <= TALI_CONSTRAINT_SMALL_BODIES &&
           c->num_mobilities <= TALI_CONSTRAINT_SMALL_MOBILITIES &&
           tali_constraint_rows(c) <= TALI_CONSTRAINT_SMALL_ROWS;
}

/// Forces a row puts on bodies: one on each constrained body, and what balances them on the
/// ancestor.
static inline int tali_constraint_num_wrenches(const tali_constraint *c)
{
    return c->ops.num_bodies > 0 ? c->ops.num_bodies + 1 : 0;
}

/// Which body the i-th of them acts on.
static inline int tali_constraint_wrench_body(const tali_constraint *c, int i)
{
    return i < c->ops.num_bodies ? c->bodies[i] : c->ancestor;
}

/// A block of constraints with everything enabled.
typedef struct tali_constraint_block {
    int32_t rows;
    int32_t speeds; ///< that it acts on: no more of its rows can be independent
} tali_constraint_block;

/// Everything matter knows of its constraints. Const after topology.
typedef struct tali_constraints {
    tali_constraint *list;
    int count;
    int capacity;
    tali_names names;
    double *params;
    int num_params;
    int params_capacity;

    tali_constraint_path_entry *path;
    int path_total;
    int32_t *by_block;    ///< [count] constraints, block by block, each in the order of its matrix
    int32_t *block_begin; ///< [num_blocks + 1] into by_block; at most count + 1
    tali_constraint_block *blocks; ///< [num_blocks]; at most count
    int num_blocks;
    int max_rows;         ///< rows of all constraints, everything enabled
    int max_block_rows;   ///< rows of the largest block
    int max_block_speeds; ///< most speeds that one block acts on
    int max_small_rows;   ///< the same two of small blocks: tali_constraint_block_is_small()
    int max_small_speeds;
    size_t max_small_matrix;   ///< rows times speeds of a small block
    size_t max_block_entries;  ///< of the rows of one block, each along its path
    size_t max_block_envelope; ///< entries of W of one block
    int max_path_len;
    int max_bodies, max_mobilities; ///< most that one constraint acts on
    int max_own_rows;               ///< most rows of one constraint
    size_t max_own_wrenches;        ///< most forces that the rows of one constraint put on bodies
    size_t max_own_coefficients;    ///< and on mobilities
    bool has_large;                 ///< some constraint does not fit ::tali_constraint_room
    int mp, mv, ma;                 ///< equations of all constraints
    size_t num_poses;               ///< of the bodies of all, and of their ancestors
    size_t wrench_doubles;          ///< wrenches and coefficients of all
    size_t matrix_doubles;          ///< E and Y of all
    size_t envelope_doubles;        ///< W of all blocks
    bool forces_need_velocity;

    tal_group_ix qerr, uerr, udoterr;
    tal_var_ix enabled;    ///< uint8_t[count]
    tal_var_ix var_params; ///< double[num_params]
    tal_var_ix shares;     ///< double[count] weights of multipliers
    tal_cache_ix rows;     ///< rows of each constraint, at Instance
    tal_cache_ix poses;    ///< of the bodies of each, as tali_constraint_pose
    tal_cache_ix wrenches; ///< G^T as forces on bodies and mobilities
    tal_cache_ix matrices; ///< E and the factored W
    tal_cache_ix room;     ///< of one large constraint: tali_constraint_room_in(); no result
} tali_constraints;

#endif // TALUS_CONSTRAINT_TYPES_H
