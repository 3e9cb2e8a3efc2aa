// An oscillator for tests of ensembles, and its closed form: q = q0 cos(w t) + u0 / w sin(w t),
// w^2 = k / m.
#ifndef TALUS_ENSEMBLE_SUPPORT_H
#define TALUS_ENSEMBLE_SUPPORT_H

#include "talus_test.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>

// --- measures that read q and u ---

static inline tal_status calc_variable(const void *self, const tal_system *system, tal_state *state,
                                       int order, int n, double value[])
{
    (void)system, (void)order, (void)n;
    value[0] = *(const bool *)self ? tal_state_u(state)[0] : tal_state_q(state)[0];
    return TAL_OK;
}

static inline void needs_variable(const void *self, const tal_system *system, int order,
                                  tal_measure_needs *needs)
{
    (void)self, (void)system, (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_VELOCITY);
}

static const tal_measure_ops variable_ops = {.size = sizeof variable_ops,
                                             .name = "variable",
                                             .calc = calc_variable,
                                             .needs = needs_variable};

static inline tal_measure_ix add_variable(tal_system *system, tal_subsystem_ix owner, bool wants_u)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = wants_u ? "speed" : "place";
    def.size = 1;
    def.self = &wants_u;
    def.self_size = sizeof wants_u;
    return tal_system_add_measure(system, owner, &variable_ops, &def);
}

// --- a mass on a slider and a spring, m = 2, k = 8 ---

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_body_ix body;
    tal_measure_ix outputs[2]; // place and speed
    tal_parameter parameters[4];
    tal_integrator_def integrator;
} model;

enum {
    MASS,
    STIFFNESS,
    Q0,
    U0
};

static inline void build(model *m)
{
    *m = (model){.system = tal_system_create(NULL)};
    m->matter = tal_matter_create(m->system);
    m->forces = tal_forces_create(m->system, m->matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    m->body = tal_matter_add_slider(m->matter, TAL_GROUND, &def);
    const tal_force_ix spring =
        tal_forces_add_mobility_spring(m->forces, NULL, (tal_mobility){m->body, 0}, 8.0, 0.0);
    const tal_subsystem_ix owner = tal_matter_subsystem(m->matter);
    m->outputs[0] = add_variable(m->system, owner, false);
    m->outputs[1] = add_variable(m->system, owner, true);
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(m->system, &m->state, &err), TAL_OK);
    m->parameters[MASS] = tal_parameter_mass("mass", m->matter, m->body);
    m->parameters[STIFFNESS] =
        tal_parameter_force("stiffness", m->forces, spring, TAL_MOBILITY_SPRING_STIFFNESS);
    m->parameters[Q0] = tal_parameter_q("q0", m->matter, m->body, 0);
    m->parameters[U0] = tal_parameter_u("u0", m->matter, m->body, 0);
    m->integrator = tal_integrator_def_default();
    m->integrator.tableau = tal_rk_dormand_prince();
    m->integrator.accuracy = 1e-10;
}

static inline tal_ensemble *create(const model *m, int first, int count, int lanes,
                                   const tal_executor *executor)
{
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = m->parameters + first;
    def.num_parameters = count;
    def.outputs = m->outputs;
    def.num_outputs = 2;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = 3.0;
    def.integrator = &m->integrator;
    def.lanes = lanes;
    def.executor = executor;
    tal_error err;
    tal_ensemble *ensemble = NULL;
    ck_assert_msg(tal_ensemble_create(m->system, &def, &ensemble, &err) == TAL_OK, "%s",
                  err.message);
    return ensemble;
}

static inline void end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

// Runs samples of a table.
static inline tal_status run_table(tal_ensemble *ensemble, const tal_state *start,
                                   const double values[], int num_parameters, int n,
                                   double results[], tal_status status[])
{
    const tal_design design = tal_design_table(values, num_parameters, n);
    return tal_ensemble_run(ensemble, start, &design, results, status, NULL);
}

static inline void closed_form(const double p[4], double out[2])
{
    const double w = sqrt(p[STIFFNESS] / p[MASS]), t = 3.0;
    out[0] = p[Q0] * cos(w * t) + p[U0] / w * sin(w * t);
    out[1] = -p[Q0] * w * sin(w * t) + p[U0] * cos(w * t);
}

#endif // TALUS_ENSEMBLE_SUPPORT_H
