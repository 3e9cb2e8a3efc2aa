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
 * How far a right table may be off in tal_constraint_test(). Bodies of these trees turn and move
 * with speeds up to v = 20, and steps are h = 1e-3 / v. Velocity errors are sums of a few terms of
 * size v, so round-off in their differences is 3 eps * 3 v / h = 8e-10, and the fifth derivative,
 * of the order of v^6, leaves h^4 v^6 / 480 = 1e-12. The result may be of size one by cancellation.
 */
static const double CHECKER_TOLERANCE = 1e-9;

/// How far the table of constraint 0 between these bodies may be off in this tree.
typedef double (*checker_tolerance_fn)(const random_tree *tree, const tal_constraint_def *def);

/// Trees of ten bodies, with one constraint between bodies chosen by the seed. In half of the trees
/// a free body carries all others and is not constrained, so that the ancestor is not Ground; in
/// the other half Ground may be constrained. `tolerance` may be NULL: CHECKER_TOLERANCE.
static inline void check_on_random_trees(add_constraint_fn add, int num_bodies, int num_trees,
                                         checker_tolerance_fn tolerance)
{
    for (int k = 0; k < num_trees; ++k) {
        random_tree_def def = random_tree_def_default((uint64_t)(1000 + k));
        one_constraint one = {.add = add, .def = tal_constraint_def_default()};
        one.rng = test_rng_seed((uint64_t)(k + 1));
        def.free_base = k % 2 == 0;
        def.chain = k % 5 == 0;
        for (int i = 0; i < num_bodies; ++i) {
            const int first = def.free_base ? 2 : 0;
            one.def.bodies[i].i = first + (3 * i + k / 2) % (11 - first);
        }
        def.add_more = add_one;
        def.context = &one;
        random_tree tree = random_tree_create(&def);
        tal_constraint_report report = {(double)NAN, (double)NAN, (double)NAN,
                                        (double)NAN, (double)NAN, (double)NAN};
        tal_error err = {0};
        ck_assert_int_eq(tal_state_set_t(tree.state, 0.3), TAL_OK);
        ck_assert_msg(tal_constraint_test(tree.matter, tree.state, (tal_constraint_ix){0}, &report,
                                          &err) == TAL_OK,
                      "%s", err.message);
        const double limit = tolerance != NULL ? tolerance(&tree, &one.def) : CHECKER_TOLERANCE;
        ck_assert_msg(report.worst <= limit,
                      "tree %d: verr %.1e aerr %.1e linear %.1e forces %.1e change %.1e", k,
                      report.verr, report.aerr, report.linear, report.forces, report.change);
        random_tree_destroy(&tree);
    }
}

// --- models built by hand ---

/// A System with gravity and constant mobility forces, and a State of it.
typedef struct test_model {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_vec3 gravity;
    double f[32]; ///< mobility forces
} test_model;

static inline tal_status test_model_forces(const void *self, const tal_system *system,
                                           tal_state *state)
{
    (void)system;
    const test_model *model = self;
    const tal_applied_forces to = tal_matter_upd_forces(model->matter, state);
    const tal_bodies_view view = tal_matter_poses(model->matter, state);
    for (int b = 1; b < view.num_bodies; ++b) {
        tal_vec3 com;
        const double mass = tal_body_mass(model->matter, state, (tal_body_ix){b}, &com);
        tal_apply_station_force(&view, b, com, tal_v3_scale(mass, model->gravity), to.F_GM);
    }
    for (int j = 0; j < tal_state_nu(state); ++j) {
        to.f[j] += model->f[j];
    }
    return TAL_OK;
}

/// An empty System in `model`, which must stay where it is.
static inline void test_model_begin(test_model *model)
{
    static const tal_subsystem_ops ops = {
        .size = sizeof ops, .name = "loads", .realize_dynamics = test_model_forces};
    *model = (test_model){.system = tal_system_create(NULL)};
    model->matter = tal_matter_create(model->system);
    (void)tal_system_add_subsystem(model->system, NULL, &ops, model);
}

/// Freeze it, and make a State.
static inline void test_model_freeze(test_model *model)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(model->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(model->system, &model->state, &err) == TAL_OK, "%s",
                  err.message);
}

static inline void test_model_realize(test_model *model, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(model->system, model->state, stage) == TAL_OK, "%s",
                  tal_state_error(model->state)->message);
}

static inline void test_model_end(test_model *model)
{
    tal_state_destroy(model->state);
    tal_system_destroy(model->system);
}

#endif // TALUS_CONSTRAINT_SUPPORT_H
