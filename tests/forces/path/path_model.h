// Paths on the tree of force_model.h, with an element that pulls along one of them.
#ifndef TALUS_PATH_MODEL_H
#define TALUS_PATH_MODEL_H

#include "force_model.h"

/// An element that pulls along a path with a constant tension.
typedef struct puller {
    const tal_forces *forces;
    tal_path_ix path;
    double tension;
} puller;

static inline tal_status puller_apply(const void *self, const tal_force_context *context,
                                      tal_spatial_vec F[], double f[])
{
    const puller *it = self;
    return tal_path_apply_tension(it->forces, context->state, it->path, it->tension, F, f);
}

static inline tal_status puller_energy(const void *self, const tal_force_context *context,
                                       double *energy)
{
    const puller *it = self;
    *energy = it->tension * tal_path_length(it->forces, context->state, it->path);
    return TAL_OK;
}

static const tal_force_ops puller_ops = {.size = sizeof(tal_force_ops),
                                         .name = "pull",
                                         .needs = TAL_FORCE_NEEDS_Q,
                                         .is_concurrent = true,
                                         .apply = puller_apply,
                                         .calc_potential_energy = puller_energy};

/// dl/dt along the State's qdot, by central differences of fourth order over 1e-4: an error of
/// 1e-12 for what is smooth at scale 0.1. False where the path touches other things on the way.
static inline bool path_rate(model *m, tal_path_ix path, double *rate)
{
    static const double at[4] = {-2.0, -1.0, 1.0, 2.0}, weight[4] = {1.0, -8.0, 8.0, -1.0};
    double q[MODEL_MAX_NQ], qdot[MODEL_MAX_NQ];
    const int nq = tal_state_nq(m->state);
    const double h = 1e-4;
    memcpy(q, tal_state_q(m->state), (size_t)nq * sizeof *q);
    memcpy(qdot, tal_state_qdot(m->state), (size_t)nq * sizeof *q);
    uint64_t touched = 0;
    bool is_same = true;
    *rate = 0.0;
    for (int k = 0; k < 4; ++k) {
        double moved[MODEL_MAX_NQ];
        for (int i = 0; i < nq; ++i) {
            moved[i] = q[i] + at[k] * h * qdot[i];
        }
        tal_state_set_q(m->state, moved, nq);
        model_realize(m, TAL_STAGE_POSITION);
        *rate += weight[k] * tal_path_length(m->forces, m->state, path) / (12.0 * h);
        uint64_t touches = 1;
        for (int w = 0; w < tal_path_num_wraps(m->forces, path); ++w) {
            const bool is_on = tal_path_is_on_wrap(m->forces, m->state, path, w);
            touches = 2 * touches + (is_on ? 1 : 0);
        }
        if (k > 0 && touches != touched) is_same = false;
        touched = touches;
    }
    tal_state_set_q(m->state, q, nq);
    model_realize(m, TAL_STAGE_VELOCITY);
    return is_same;
}

/// A mistake in a model, and what is said of it.
typedef struct path_mistake {
    void (*make)(model *m);
    tal_status status;
    const char *says; ///< part of the message
} path_mistake;

static inline void path_check_mistake(const path_mistake *mistake)
{
    model m = model_begin();
    mistake->make(&m);
    tal_error err = {0};
    ck_assert_int_eq(model_refuse(&m, &err), mistake->status);
    ck_assert_msg(strstr(err.message, mistake->says) != NULL, "%s", err.message);
}

#endif // TALUS_PATH_MODEL_H
