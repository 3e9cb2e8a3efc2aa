// Constraints as matter keeps them: as declared, and the paths they act along.
#ifndef TALUS_CONSTRAINT_TYPES_H
#define TALUS_CONSTRAINT_TYPES_H

#include <talus/matter/constraint.h>

/// A constraint as it was added, and its place in the tree.
typedef struct tali_constraint {
    char name[TAL_MAX_NAME + 1];
    uint64_t name_hash;
    tal_constraint_ops ops;
    void *self;
    int bodies[TAL_MAX_CONSTRAINED_BODIES];
    int mobility_bodies[TAL_MAX_CONSTRAINED_MOBILITIES];
    int mobility_index[TAL_MAX_CONSTRAINED_MOBILITIES];
    int num_mobilities;
    int param0;
    bool disabled;

    // found when the topology is realized
    int ancestor;
    int path0;         ///< first of its entries in the list of paths
    int path_len;      ///< bodies on the way from the constrained ones to Ground, tip to base
    int path_nu;       ///< their speeds
    int block;         ///< constraints of different blocks cannot couple
    int first_coupled; ///< the lowest constraint of its block that shares a mobility with it
    int max_row0;      ///< its first row in its block when everything is enabled
    int fast_level;    ///< tal_level of the fast bodies it acts on; free: it acts on none
    int fast_row0;     ///< its first row among those of all fast constraints
    size_t wrench0;    ///< first of its doubles in the constraint wrenches
    size_t matrix0;    ///< first of its doubles in the constraint matrices
} tali_constraint;

/// One body on a constraint's path.
typedef struct tali_path_entry {
    int32_t body;
    int32_t parent; ///< position of its parent on the path; -1 when that is Ground
    int32_t e0;     ///< its first speed among those of the path
} tali_path_entry;

/// Rows of one constraint at each level, and all of them.
static inline int tali_rows(const tali_constraint *c)
{
    return c->ops.mp + c->ops.mv + c->ops.ma;
}

/// Forces a row puts on bodies: one on each constrained body, and what balances them on the
/// ancestor.
static inline int tali_num_wrenches(const tali_constraint *c)
{
    return c->ops.num_bodies > 0 ? c->ops.num_bodies + 1 : 0;
}

/// Which body the i-th of them acts on.
static inline int tali_wrench_body(const tali_constraint *c, int i)
{
    return i < c->ops.num_bodies ? c->bodies[i] : c->ancestor;
}

/// Everything matter knows of its constraints. Const after topology.
typedef struct tali_constraints {
    tali_constraint *list;
    int count;
    int capacity;
    double *params;
    int num_params;
    int params_capacity;

    tali_path_entry *path;
    int path_total;
    int32_t *by_block;    ///< [count] constraints, block by block
    int32_t *block_begin; ///< [num_blocks + 1] into by_block; at most count + 1
    int num_blocks;
    int max_rows;              ///< rows of all constraints, everything enabled
    int max_block_rows;        ///< rows of the largest block
    int max_block_q;           ///< most coordinates, and speeds, that one block can act on
    size_t max_block_entries;  ///< of the rows of one block, each along its path, over coordinates
    size_t max_block_envelope; ///< entries of W of one block
    int max_path_len;
    int mp, mv, ma;          ///< equations of all constraints
    size_t wrench_doubles;   ///< wrenches and coefficients of all
    size_t matrix_doubles;   ///< E and Y of all
    size_t envelope_doubles; ///< W of all blocks
    bool forces_need_velocity;

    tal_group_ix qerr, uerr, udoterr;
    tal_var_ix enabled;    ///< uint8_t[count]
    tal_var_ix var_params; ///< double[num_params]
    tal_var_ix shares;     ///< double[count] weights of multipliers
    tal_cache_ix rows;     ///< rows of each constraint, at Instance
    tal_cache_ix wrenches; ///< G^T as forces on bodies and mobilities
    tal_cache_ix matrices; ///< E and the factored W
} tali_constraints;

#endif // TALUS_CONSTRAINT_TYPES_H
