// Operations of dynamics by the shape of a tree (RBDA sec. 6.4, 10.3; tab. 6.6, 10.1, eq. 10.12).
//
//   D0  bodies that do not hang on Ground; their composite inertias are moved to their parents
//   D1  pairs of a speed and another one on its way to Ground
//   D2  sum of d (d - 1) / 2 over all speeds, d being the speeds on the way, itself included
//
// The first child of a body has frames that two screws lead to; the others need three.
#include "error_internal.h"

#include <talus/study/cost.h>

#include <stddef.h>

// Moving a composite inertia to the parent and adding it, for the first child and for others; the
// same of a force (RBDA tab. A.5).
static const tal_operations INERTIA[2] = {{32.0, 43.0}, {47.0, 58.0}};
static const tal_operations FORCE[2] = {{20.0, 12.0}, {24.0, 18.0}};

static void add(tal_operations *sum, tal_operations one)
{
    sum->multiplications += one.multiplications;
    sum->additions += one.additions;
}

// Whether no speed before this one has the same parent.
static bool is_first_child(const int lambda[], int k)
{
    for (int j = lambda[k] + 1; j < k; ++j) {
        if (lambda[j] == lambda[k]) return false;
    }
    return true;
}

// Speeds from this one to Ground, itself included.
static int on_the_way(const int lambda[], int k)
{
    int d = 0;
    for (; k >= 0; k = lambda[k]) {
        ++d;
    }
    return d;
}

// Each composite inertia goes to its parent once; a force of every speed passes each joint on its
// way to Ground but the last.
static void add_passages(const int lambda[], int n, tal_tree_cost *cost)
{
    for (int k = 0; k < n; ++k) {
        if (lambda[k] < 0) continue;
        add(&cost->mass_matrix, INERTIA[is_first_child(lambda, k) ? 0 : 1]);
        for (int at = k; lambda[at] >= 0; at = lambda[at]) {
            add(&cost->mass_matrix, FORCE[is_first_child(lambda, at) ? 0 : 1]);
        }
    }
}

static double total(const tal_operations *a)
{
    return a->multiplications + a->additions;
}

static bool is_tree(const int lambda[], int n)
{
    for (int k = 0; k < n; ++k) {
        if (lambda[k] < -1 || lambda[k] >= k) return false;
    }
    return true;
}

// RBDA's best counts; below two joints its formulas for chains begin with negative numbers.
tal_tree_cost tal_tree_cost_of(const int lambda[], int n)
{
    tal_tree_cost cost = {.n = 0};
    if (n < 0 || (n > 0 && lambda == NULL)) {
        (void)TALI_BREACH(TAL_ERR_NULL, "'lambda' is NULL, or n is %d", n);
        return cost;
    }
    if (!is_tree(lambda, n)) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "the speeds are no tree: each must follow its parent");
        return cost;
    }
    cost.n = n;
    for (int k = 0; k < n; ++k) {
        const int d = on_the_way(lambda, k);
        cost.depth = d > cost.depth ? d : cost.depth;
        cost.below += d - 1;
        cost.updates += 0.5 * d * (d - 1);
    }
    cost.density = n > 0 ? (n + 2.0 * cost.below) / ((double)n * n) : 1.0;
    add_passages(lambda, n, &cost);
    cost.solve =
        (tal_operations){3.0 * cost.below + cost.updates + n, 2.0 * cost.below + cost.updates};
    if (n > 1) {
        cost.inverse_dynamics = (tal_operations){93.0 * n - 108.0, 81.0 * n - 100.0};
        cost.articulated = (tal_operations){224.0 * n - 259.0, 205.0 * n - 248.0};
    }
    cost.prefers_mass_matrix =
        total(&cost.inverse_dynamics) + total(&cost.mass_matrix) + total(&cost.solve) <=
        total(&cost.articulated);
    return cost;
}
