// A subsystem with one z whose rate is the time at which its step began: a variable sampled at each
// step.
#ifndef TALUS_SAMPLER_H
#define TALUS_SAMPLER_H

#include <talus/state.h>

typedef struct sampler {
    tal_group_ix z;
    tal_var_ix s;
} sampler;

static inline tal_status sampler_update(const void *self, const tal_system *system,
                                        tal_state *state, void *value)
{
    (void)self, (void)system;
    *(double *)value = tal_state_t(state);
    return TAL_OK;
}

static inline tal_status sampler_declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    sampler *it = self;
    tal_group_def z = tal_group_def_default();
    z.capacity = 1;
    it->z = tal_system_add_group(system, me, &z);
    tal_var_def var = tal_var_def_default();
    var.name = "s";
    var.size = sizeof(double);
    var.invalidates = TAL_STAGE_ACCELERATION;
    var.update = sampler_update;
    var.update_depends_on = TAL_STAGE_TIME;
    var.sampled = true;
    it->s = tal_system_add_var(system, me, &var);
    return TAL_OK;
}

static inline tal_status sampler_rate(const void *self, const tal_system *system, tal_state *state)
{
    const sampler *it = self;
    tal_group_upd_dot(system, state, it->z)[0] = tal_var_double(system, state, it->s);
    return TAL_OK;
}

static const tal_subsystem_ops sampler_ops = {
    .size = sizeof sampler_ops,
    .name = "sampler",
    .realize_topology = sampler_declare,
    .realize_acceleration = sampler_rate,
};

#endif // TALUS_SAMPLER_H
