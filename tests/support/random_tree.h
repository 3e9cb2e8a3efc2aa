// Random trees of bodies with every built-in mobilizer, and loads to apply to them.
#ifndef TALUS_RANDOM_TREE_H
#define TALUS_RANDOM_TREE_H

#include "talus_test.h"

#include <talus/matter.h>

/// A System whose matter is a random tree, and one State of it at random q and u.
typedef struct random_tree {
    tal_system *system;
    tal_matter *matter;
    tal_state *state; ///< realized to Model
    int num_bodies;   ///< Ground included
    int nu;           ///< speeds of the whole tree
    tal_spatial_vec
        *F;    ///< [num_bodies] force about Mo, in Ground, applied when Dynamics is realized
    double *f; ///< [nu] mobility forces applied with it
} random_tree;

/// What the tree may be made of.
typedef struct random_tree_def {
    uint64_t seed;
    int num_bodies;  ///< besides Ground
    bool chain;      ///< every body on the one before; otherwise on any earlier one
    bool free_base;  ///< the first body is free (forward) and carries all others
    double reversed; ///< share of reversed mobilizers
    double angles;   ///< share of mobilizers with angles instead of a quaternion
    void (*add_more)(tal_matter *matter, void *context); ///< adds constraints; NULL: none
    void *context;                                       ///< handed to add_more
} random_tree_def;

/// Any tree: 10 bodies, half the mobilizers reversed, half with angles.
random_tree_def random_tree_def_default(uint64_t seed);

/// Make the tree. The kinds of mobilizer are dealt from a shuffled deck, so any 20 bodies in a row
/// have every kind. Masses, frames, q, u and the loads F and f are random and of size one; q keeps
/// away from the singularities of the angles. Frees everything with random_tree_destroy().
random_tree random_tree_create(const random_tree_def *def);

void random_tree_destroy(random_tree *tree);

/// Random q and u in another State of the same System: quaternions of length 0.5 to 2, angles and
/// distances within 1.2, speeds within 2.
void random_tree_shake(const random_tree *tree, tal_state *state, test_rng *rng);

/// Realize, and fail the test with the State's sentence if that fails.
void random_tree_realize(const random_tree *tree, tal_state *state, tal_stage stage);

#endif // TALUS_RANDOM_TREE_H
