// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_GRAPH_H
#define TALUS_MATTER_GRAPH_H

/**
 * @file talus/matter/graph.h
 * @brief From any set of bodies and joints to a spanning tree and the joints that close its loops.
 *
 * A model file names joints between pairs of bodies in any order. Matter needs a tree, parents
 * first. tal_graph_span() says in which order to add the bodies, by which joint each is connected,
 * and which joints are left to be constraints (tal_constraint_add_loop_pin() and others, or
 * tal_matter_split_body()).
 */

#include <talus/common/status.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup graph Spanning trees
/// @{

/// A joint between two bodies. Body 0 is Ground.
typedef struct tal_graph_joint {
    int parent;
    int child;
    bool must_close; ///< never part of the tree: it is to be a constraint
} tal_graph_joint;

/// One body of the tree, in the order in which bodies are to be added.
typedef struct tal_graph_step {
    int body;
    int inboard;   ///< the body it hangs on, which comes earlier or is Ground
    int joint;     ///< which joint; -1: none, so it is free and hangs on Ground
    bool reversed; ///< the joint's parent is outboard: TAL_REVERSE
    int level;     ///< bodies on the way to Ground, itself included
} tal_graph_step;

/**
 * Find a spanning tree of least depth.
 *
 * Bodies are taken level by level from Ground. A body without mass must not end a branch, so it is
 * taken together with one that it carries. Where nothing connects bodies with Ground, one of them
 * becomes a free base: the first with mass that is not the child of a joint, or else the first.
 *
 * @param[in]  massless     [num_bodies] NULL: all have mass. Ground's entry is ignored
 * @param[in]  num_bodies   Ground included
 * @param[in]  joints       [num_joints]
 * @param[out] steps        [num_bodies - 1]
 * @param[out] closing      [num_joints] the joints that are not in the tree, ascending
 * @param[out] num_closing  how many
 * @param[out] work         [num_bodies]
 * @param[out] err          may be NULL
 * @return TAL_OK; TAL_ERR_BAD_INDEX or TAL_ERR_BAD_VALUE for a joint between bodies that do not
 *         exist or of a body with itself; TAL_ERR_TOPOLOGY when a body without mass can only end a
 *         branch
 */
TAL_NODISCARD TAL_API tal_status tal_graph_span(const bool massless[], int num_bodies,
                                                const tal_graph_joint joints[], int num_joints,
                                                tal_graph_step steps[], int closing[],
                                                int *num_closing, int work[], tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_GRAPH_H
