// Spanning trees of bodies and joints.
#include "error_internal.h"

#include <talus/matter/graph.h>

#include <stddef.h>

/// A tree being grown.
typedef struct growth {
    const bool *massless;
    int num_bodies;
    const tal_graph_joint *joints;
    int num_joints;
    tal_graph_step *steps;
    int count;  ///< steps so far
    int *level; ///< [num_bodies] -1: not in the tree
} growth;

static bool is_massless(const growth *g, int body)
{
    return g->massless != NULL && g->massless[body];
}

static void hang(growth *g, int body, int inboard, int joint)
{
    const bool reversed = joint >= 0 && g->joints[joint].parent == body;
    g->level[body] = g->level[inboard] + 1;
    g->steps[g->count++] = (tal_graph_step){body, inboard, joint, reversed, g->level[body]};
}

// The body at the other end of a joint that may be in the tree; -1 when the joint is not at `body`,
// or its other end is in the tree already.
static int free_end(const growth *g, int joint, int body)
{
    const tal_graph_joint *j = &g->joints[joint];
    if (j->must_close || (j->parent != body && j->child != body)) return -1;
    const int other = j->parent == body ? j->child : j->parent;
    return g->level[other] < 0 ? other : -1;
}

// The joint to continue by from a body without mass: to a body with mass if there is one; -1 at the
// end.
static int next_joint(const growth *g, int tip)
{
    int next = -1;
    for (int j = 0; j < g->num_joints; ++j) {
        const int other = free_end(g, j, tip);
        if (other < 0) continue;
        if (!is_massless(g, other)) return j;
        if (next < 0) next = j;
    }
    return next;
}

// Hangs a body without mass together with a chain that ends in one with mass. False when there is
// none.
static bool hang_massless(growth *g, int body, int inboard, int joint)
{
    const int before = g->count;
    hang(g, body, inboard, joint);
    int tip = body;
    while (is_massless(g, tip)) {
        const int by = next_joint(g, tip);
        if (by < 0) break;
        const int next = free_end(g, by, tip);
        hang(g, next, tip, by);
        tip = next;
    }
    if (!is_massless(g, tip)) return true;
    while (g->count > before) {
        g->level[g->steps[--g->count].body] = -1;
    }
    return false;
}

// Everything that can hang on the bodies from step `first` on, level by level; -1: on Ground.
static void grow(growth *g, int first)
{
    for (int k = first; k < g->count; ++k) {
        const int inboard = k < 0 ? 0 : g->steps[k].body;
        for (int j = 0; j < g->num_joints; ++j) {
            const int other = free_end(g, j, inboard);
            if (other < 0) continue;
            if (is_massless(g, other)) {
                (void)hang_massless(g, other, inboard, j);
            } else {
                hang(g, other, inboard, j);
            }
        }
    }
}

// A base for what is not connected with Ground; -1 when all that is left has no mass.
static int choose_base(const growth *g)
{
    int any = -1;
    for (int b = 1; b < g->num_bodies; ++b) {
        if (g->level[b] >= 0 || is_massless(g, b)) continue;
        bool is_child = false;
        for (int j = 0; j < g->num_joints; ++j) {
            is_child = is_child || (g->joints[j].child == b && !g->joints[j].must_close);
        }
        if (!is_child) return b;
        if (any < 0) any = b;
    }
    return any;
}

static tal_status check_joints(int num_bodies, const tal_graph_joint joints[], int num_joints,
                               tal_error *err)
{
    for (int j = 0; j < num_joints; ++j) {
        const int a = joints[j].parent, b = joints[j].child;
        if (a < 0 || a >= num_bodies || b < 0 || b >= num_bodies) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX,
                             "joint %d is between bodies %d and %d, but there are %d", j, a, b,
                             num_bodies);
        }
        if (a == b) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "joint %d connects body %d with itself", j, a);
        }
    }
    return TAL_OK;
}

static int list_closing(const growth *g, int closing[])
{
    int n = 0;
    for (int j = 0; j < g->num_joints; ++j) {
        bool in_tree = false;
        for (int k = 0; k < g->count && !in_tree; ++k) {
            in_tree = g->steps[k].joint == j;
        }
        if (!in_tree) closing[n++] = j;
    }
    return n;
}

// A graph is two lists, its tree two more. NOLINTNEXTLINE(readability-function-size)
tal_status tal_graph_span(const bool massless[], int num_bodies, const tal_graph_joint joints[],
                          int num_joints, tal_graph_step steps[], int closing[], int *num_closing,
                          int work[], tal_error *err)
{
    if (num_bodies < 1 || num_joints < 0 ||
        (num_joints > 0 && (joints == NULL || closing == NULL)) ||
        (num_bodies > 1 && steps == NULL) || num_closing == NULL || work == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "a graph of %d bodies and %d joints needs all its arrays",
                           num_bodies, num_joints);
    }
    const tal_status st = check_joints(num_bodies, joints, num_joints, err);
    if (st != TAL_OK) return st;
    growth g = {massless, num_bodies, joints, num_joints, steps, 0, work};
    for (int b = 0; b < num_bodies; ++b) {
        g.level[b] = b == 0 ? 0 : -1;
    }
    grow(&g, -1);
    for (int base = choose_base(&g); base >= 0; base = choose_base(&g)) {
        const int first = g.count;
        hang(&g, base, 0, -1);
        grow(&g, first);
    }
    for (int b = 1; b < num_bodies; ++b) {
        if (g.level[b] >= 0) continue;
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY,
                         "body %d has no mass and would end a branch: give it mass, or weld it", b);
    }
    *num_closing = list_closing(&g, closing);
    return TAL_OK;
}
