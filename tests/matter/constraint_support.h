// Constraints on random trees, and on two free bodies, for the tests of constraints.
#ifndef TALUS_CONSTRAINT_SUPPORT_H
#define TALUS_CONSTRAINT_SUPPORT_H

#include "random_tree.h"

#include <math.h>
#include <string.h>

/// How a kind of constraint is added, with random geometry, to bodies of a random tree.
typedef tal_constraint_ix (*add_constraint_fn)(tal_matter *matter, const tal_constraint_def *def,
                                               test_rng *rng);

/// What add_one() adds.
typedef struct one_constraint {
    add_constraint_fn add;
    tal_constraint_def def;
    test_rng rng;
} one_constraint;

static inline void add_one(tal_matter *matter, void *context)
{
    one_constraint *one = context;
    const tal_constraint_ix added = one->add(matter, &one->def, &one->rng);
    ck_assert_msg(added.i == 0, "%s", tal_system_error(tal_matter_system(matter))->message);
}

/*
 * How far a right table may be off in tal_constraint_test(). Bodies of these trees turn and move with
 * speeds up to v = 20, and steps are h = 1e-3 / v. Velocity errors are sums of a few terms of size v, so
 * round-off in their differences is 3 eps * 3 v / h = 8e-10, and the fifth derivative, of the order of
 * v^6, leaves h^4 v^6 / 480 = 1e-12. The result may be of size one by cancellation.
 */
static const double CHECKER_TOLERANCE = 1e-9;

/// A tree of ten bodies in which no two are welded together, with one constraint between bodies chosen
/// by the seed: in half of the trees on branches above the same body, so that the ancestor is not Ground.
static inline void check_on_random_trees(add_constraint_fn add, int num_bodies, int num_trees,
                                         double tolerance)
{
    for (int k = 0; k < num_trees; ++k) {
        random_tree_def def = random_tree_def_default((uint64_t)(1000 + k));
        one_constraint one = {.add = add, .def = tal_constraint_def_default()};
        one.rng = test_rng_seed((uint64_t)(k + 1));
        def.free_base = k % 2 == 0;
        def.chain = k % 5 == 0;
        for (int i = 0; i < num_bodies; ++i) {
            // three different bodies, Ground among them when the base is not free
            const int first = def.free_base ? 2 : 0;
            one.def.bodies[i].i = first + (3 * i + k / 2) % (11 - first);
        }
        def.add_more = add_one;
        def.context = &one;
        random_tree tree = random_tree_create(&def);
        tal_constraint_report report = {NAN, NAN, NAN, NAN, NAN};
        tal_error err = {0};
        ck_assert_int_eq(tal_state_set_t(tree.state, 0.3), TAL_OK);
        ck_assert_msg(tal_constraint_test(tree.matter, tree.state, (tal_constraint_ix){0}, &report,
                                          &err) == TAL_OK,
                      "%s", err.message);
        ck_assert_msg(report.worst <= tolerance,
                      "tree %d: verr %.1e aerr %.1e linear %.1e forces %.1e", k, report.verr,
                      report.aerr, report.linear, report.forces);
        random_tree_destroy(&tree);
    }
}

#endif // TALUS_CONSTRAINT_SUPPORT_H
