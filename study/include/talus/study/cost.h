// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_COST_H
#define TALUS_STUDY_COST_H

/**
 * @file talus/study/cost.h
 * @brief What dynamics of a tree costs by the shape of the tree alone: how full its mass matrix is,
 *        and the operations of the best algorithms known, after RBDA sec. 6.4 and 10.3.
 *
 *     int lambda[100];
 *     st = tal_matter_calc_lambda(matter, lambda);
 *     const tal_tree_cost cost = tal_tree_cost_of(lambda, tal_matter_nu(matter));
 *     printf("%.0f %% of M are zeros\n", 100.0 * (1.0 - cost.density));
 *
 * The counts are for joints of one speed with Denavit-Hartenberg frames where a body has one child,
 * without sines and cosines, divisions counted as multiplications. A joint of several speeds counts
 * as that many joints. They compare trees and algorithms with each other; Talus' own passes have
 * other counts (doc/performance.md), and time depends on more than counts.
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup tree_cost Costs of trees
/// @{

/// Multiplications with divisions, and additions.
typedef struct tal_operations {
    double multiplications, additions;
} tal_operations;

/// Costs of one tree.
typedef struct tal_tree_cost {
    int n;          ///< speeds
    int depth;      ///< speeds on the longest way to Ground
    double below;   ///< D1: entries of M below the diagonal that are not zero by the tree
    double updates; ///< D2: entries that factoring M = L^T D L changes, each once for each way
    double density; ///< (n + 2 D1) / n^2; 1 for a chain, 1 without speeds
    tal_operations inverse_dynamics; ///< by Newton and Euler's equations, O(n)
    tal_operations mass_matrix;      ///< by composite bodies, O(n depth)
    tal_operations solve;            ///< factoring M and one solution, O(n depth^2)
    tal_operations articulated;      ///< forward dynamics by articulated bodies, O(n)
    bool prefers_mass_matrix; ///< forward dynamics by the first three is cheaper than by the last
} tal_tree_cost;

/**
 * Costs of a tree from its parents.
 *
 * @param[in] lambda  [n] the speed before each on the way to Ground, -1 where there is none, as
 *                    tal_matter_calc_lambda() gives it: each before its own
 * @param[in] n       speeds, 0 or more
 * @return all zero on a breach
 */
TAL_API tal_tree_cost tal_tree_cost_of(const int lambda[], int n);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_COST_H
