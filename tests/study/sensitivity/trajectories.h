// What tests of sensitivities share: Systems with gravity, and studies of them.
#ifndef TRAJECTORIES_H
#define TRAJECTORIES_H

#include "talus_test.h"

#include <talus/study.h>

/// A System with gravity, its first force element, and a State.
typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_force_ix gravity;
    tal_state *state;
} model;

static inline model begin(tal_vec3 g)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    m.gravity = tal_forces_add_gravity(m.forces, g);
    return m;
}

static inline void finish(model *m)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
}

static inline void end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static inline tal_sensitivity *study_of(const model *m, const tal_parameter parameters[], int n,
                                        double step)
{
    tal_sensitivity_def def = tal_sensitivity_def_default();
    def.parameters = parameters;
    def.num_parameters = n;
    def.tableau = tal_rk_verner_8();
    def.step = step;
    tal_sensitivity *study = NULL;
    tal_error err = {0};
    ck_assert_msg(tal_sensitivity_create(m->system, &def, &study, &err) == TAL_OK, "%s",
                  err.message);
    return study;
}

static inline void run(tal_sensitivity *study, model *m, const double values[], double end_time)
{
    ck_assert_msg(tal_sensitivity_run(study, m->state, values, end_time) == TAL_OK, "%s",
                  tal_sensitivity_error(study)->message);
}

#endif // TRAJECTORIES_H
