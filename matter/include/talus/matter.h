// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_H
#define TALUS_MATTER_H

/**
 * @file talus/matter.h
 * @brief Layer 2: bodies, the mobilizers that connect them, and the O(n) operators on the tree.
 */

#include <talus/matter/applied.h>
#include <talus/matter/closure.h>
#include <talus/matter/collider.h>
#include <talus/matter/constraint.h>
#include <talus/matter/constraint_operators.h>
#include <talus/matter/constraints.h>
#include <talus/matter/coordinate.h>
#include <talus/matter/decoration.h>
#include <talus/matter/denavit_hartenberg.h>
#include <talus/matter/derivatives.h>
#include <talus/matter/direct.h>
#include <talus/matter/graph.h>
#include <talus/matter/impact.h>
#include <talus/matter/measures.h>
#include <talus/matter/mobilizer.h>
#include <talus/matter/model.h>
#include <talus/matter/natural.h>
#include <talus/matter/operators.h>
#include <talus/matter/prescribed.h>
#include <talus/matter/response.h>
#include <talus/matter/simplify.h>
#include <talus/matter/subtree.h>
#include <talus/matter/tree_factor.h>
#include <talus/matter/unilateral.h>
#include <talus/matter/unilaterals.h>
#include <talus/matter/units.h>
#include <talus/matter/velocity_map.h>
#include <talus/state.h>

#endif // TALUS_MATTER_H
