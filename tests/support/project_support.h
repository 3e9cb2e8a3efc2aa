// Projection of a loop's q and u, where it is to succeed. Included by a test program.
#ifndef TALUS_PROJECT_SUPPORT_H
#define TALUS_PROJECT_SUPPORT_H

#include "loop_support.h"

static inline tal_project_options options_of(double tolerance)
{
    tal_project_options options = tal_project_options_default();
    options.tolerance = tolerance;
    return options;
}

static inline double qerr_norm(const loop *l)
{
    double sum = 0.0;
    for (int i = 0; i < tal_state_pool_size(l->state, TAL_POOL_QERR); ++i) {
        sum += tal_state_qerr(l->state)[i] * tal_state_qerr(l->state)[i];
    }
    return sqrt(sum);
}

static inline void project_q(const loop *l, const tal_project_options *options,
                             tal_project_result *result)
{
    loop_realize(l, TAL_STAGE_POSITION);
    const tal_status st = tal_system_project_q(l->system, l->state, options, NULL, result);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(l->state)->message);
}

static inline void project_u(const loop *l, const tal_project_options *options,
                             tal_project_result *result)
{
    loop_realize(l, TAL_STAGE_VELOCITY);
    const tal_status st = tal_system_project_u(l->system, l->state, options, NULL, result);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(l->state)->message);
}

static inline void assemble(const loop *l)
{
    const tal_project_options options = options_of(1e-12);
    project_q(l, &options, NULL);
    project_u(l, &options, NULL);
}

static inline void set_weights(const loop *l, test_rng *rng, tal_pool pool)
{
    double w[2 * MAX_LOOP_U];
    const int n = tal_state_pool_size(l->state, pool);
    for (int i = 0; i < n; ++i) {
        w[i] = test_random_uniform(rng, 0.2, 5.0);
    }
    ck_assert_int_eq(tal_state_set_weights(l->state, pool, w, n), TAL_OK);
}

#endif
