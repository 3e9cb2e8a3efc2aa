// Parameter studies: samples in lanes.
#include "sweep/sweep_internal.h"

#include <math.h>
#include <string.h>

// --- parameters ---

static tal_status set_var(const tal_parameter *self, const tal_system *system, tal_state *state,
                          double value)
{
    return tal_var_set_double(system, state, (tal_var_ix){self->i}, value);
}

static tal_status set_mass(const tal_parameter *self, const tal_system *system, tal_state *state,
                           double value)
{
    (void)system;
    const tal_body_ix body = {self->i};
    tal_mass_props props = tal_body_mass_props(self->object, state, body);
    if (!(props.mass > 0.0)) {
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "'%s': a body without mass has no inertia to scale", self->name);
    }
    props.inertia = tal_s3_scale(value / props.mass, props.inertia);
    props.mass = value;
    return tal_body_set_mass_props(self->object, state, body, &props);
}

static tal_status set_force(const tal_parameter *self, const tal_system *system, tal_state *state,
                            double value)
{
    (void)system;
    return tal_force_set_param(self->object, state, (tal_force_ix){self->i}, self->j, value);
}

static tal_status set_constraint(const tal_parameter *self, const tal_system *system,
                                 tal_state *state, double value)
{
    (void)system;

    enum {
        MOST = 64
    };

    const tal_constraint_ix constraint = {self->i};
    int n = 0;
    double params[MOST];
    const double *now = tal_constraint_params(self->object, state, constraint, &n);
    if (now == NULL || self->j < 0 || self->j >= n || n > MOST) {
        return tal_state_fail(state, TAL_ERR_BAD_INDEX, "'%s': there is no parameter %d",
                              self->name, self->j);
    }
    memcpy(params, now, (size_t)n * sizeof *params);
    params[self->j] = value;
    return tal_constraint_set_params(self->object, state, constraint, params, n);
}

static tal_status set_q(const tal_parameter *self, const tal_system *system, tal_state *state,
                        double value)
{
    (void)system;
    return tal_body_set_q(self->object, state, (tal_body_ix){self->i}, self->j, value);
}

static tal_status set_u(const tal_parameter *self, const tal_system *system, tal_state *state,
                        double value)
{
    (void)system;
    return tal_body_set_u(self->object, state, (tal_body_ix){self->i}, self->j, value);
}

tal_parameter tal_parameter_var(const char *name, tal_var_ix var)
{
    return (tal_parameter){name, set_var, NULL, var.i, 0};
}

tal_parameter tal_parameter_mass(const char *name, const tal_matter *matter, tal_body_ix body)
{
    return (tal_parameter){name, set_mass, matter, body.i, 0};
}

tal_parameter tal_parameter_force(const char *name, const tal_forces *forces, tal_force_ix force,
                                  int param)
{
    return (tal_parameter){name, set_force, forces, force.i, param};
}

tal_parameter tal_parameter_constraint(const char *name, const tal_matter *matter,
                                       tal_constraint_ix constraint, int param)
{
    return (tal_parameter){name, set_constraint, matter, constraint.i, param};
}

tal_parameter tal_parameter_q(const char *name, const tal_matter *matter, tal_body_ix body, int i)
{
    return (tal_parameter){name, set_q, matter, body.i, i};
}

tal_parameter tal_parameter_u(const char *name, const tal_matter *matter, tal_body_ix body, int i)
{
    return (tal_parameter){name, set_u, matter, body.i, i};
}

// --- creation ---

tal_sweep_def tal_sweep_def_default(void)
{
    return (tal_sweep_def){.lanes = 1};
}

static tal_status check_outputs(const tal_system *system, const tal_sweep_def *def, tal_error *err)
{
    for (int i = 0; i < def->num_outputs && def->read == NULL; ++i) {
        const int m = def->outputs[i].i;
        if (m < 0 || m >= tal_system_num_measures(system)) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX,
                             "output %d is measure %d, which does not exist", i, m);
        }
        if (tal_measure_size(system, def->outputs[i]) != 1) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "output %d, '%s', is not one number", i,
                             tal_measure_name(system, def->outputs[i]));
        }
    }
    return TAL_OK;
}

// What is wrong with the numbers of a def; NULL: nothing.
static const char *what_is_wrong(const tal_sweep_def *def)
{
    if (def->lanes < 1) return "it needs at least one lane";
    if (def->num_parameters < 0) return "the number of parameters cannot be negative";
    if (def->num_parameters > 0 && def->parameters == NULL) return "'parameters' is NULL";
    if (def->num_outputs < 1) return "it needs an output: a measure, or a value from 'read'";
    if (def->outputs != NULL && def->read != NULL) return "give 'outputs' or 'read', not both";
    if (def->outputs == NULL && def->read == NULL) return "'outputs' and 'read' are NULL";
    return isfinite(def->end_time) ? NULL : "'end_time' must be finite";
}

static tal_status check_def(const tal_system *system, const tal_sweep_def *def, tal_error *err)
{
    if (system == NULL || def == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "an argument is NULL");
    if (!tal_system_has_topology(system)) {
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY, "realize the topology of System '%s' first",
                         tal_system_name(system));
    }
    const char *wrong = what_is_wrong(def);
    if (wrong != NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "%d parameters, %d outputs, %d lanes and end_time %g are invalid: %s",
                         def->num_parameters, def->num_outputs, def->lanes, def->end_time, wrong);
    }
    if (def->executor != NULL && def->executor->run == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "the executor has no function");
    }
    for (int i = 0; i < def->num_parameters; ++i) {
        if (def->parameters[i].set != NULL && def->parameters[i].name != NULL) continue;
        return TALI_FAIL(err, TAL_ERR_NULL, "parameter %d needs a name and a function", i);
    }
    return check_outputs(system, def, err);
}

// One block for all arrays of a study, with copies of parameters and outputs.
static tal_status take_memory(tal_sweep *sweep, tal_error *err)
{
    const size_t np = (size_t)sweep->def.num_parameters, no = (size_t)sweep->def.num_outputs;
    const size_t d = sizeof(double), trials = 1 + 2 * np;
    const tali_piece pieces[] = {
        {&sweep->lanes, (size_t)sweep->num_lanes * sizeof *sweep->lanes},
        {&sweep->parameters, np * sizeof *sweep->parameters},
        {&sweep->outputs, no * sizeof *sweep->outputs},
        {&sweep->trial_values, trials * np * d},
        {&sweep->trial_results, trials * no * d},
        {&sweep->J, no * np * d},
        {&sweep->r, no * d},
        {&sweep->H, np * np * d},
        {&sweep->g, np * d},
        {&sweep->best, np * d},
    };
    sweep->block = tali_alloc_pieces(&sweep->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                     &sweep->block_bytes);
    if (sweep->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a parameter study");
    }
    if (np > 0) memcpy(sweep->parameters, sweep->def.parameters, np * sizeof *sweep->parameters);
    if (sweep->def.read == NULL) {
        memcpy(sweep->outputs, sweep->def.outputs, no * sizeof *sweep->outputs);
    }
    sweep->def.parameters = sweep->parameters;
    sweep->def.outputs = sweep->outputs;
    return TAL_OK;
}

static tal_status fill_lane(const tal_sweep *sweep, tali_sweep_lane *lane, tal_error *err)
{
    const tal_status st = tal_state_create(sweep->system, &lane->state, err);
    if (st != TAL_OK || sweep->def.run != NULL) return st;
    return tal_integrator_create(sweep->system, sweep->def.integrator, &lane->integrator, err);
}

tal_status tal_sweep_create(const tal_system *system, const tal_sweep_def *def, tal_sweep **out,
                            tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = check_def(system, def, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_sweep *sweep = tali_alloc(&allocator, sizeof *sweep);
    if (sweep == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a parameter study");
    sweep->system = system;
    sweep->allocator = allocator;
    sweep->def = *def;
    sweep->num_lanes = def->lanes;
    sweep->executor = def->executor != NULL ? *def->executor : tal_executor_in_order();
    sweep->stage = TAL_STAGE_MODEL;
    for (int i = 0; i < def->num_outputs && def->read == NULL; ++i) {
        const tal_stage stage = tal_measure_stage(system, def->outputs[i], 0);
        if (stage > sweep->stage) sweep->stage = stage;
    }
    st = take_memory(sweep, err);
    for (int i = 0; i < sweep->num_lanes && st == TAL_OK; ++i) {
        st = fill_lane(sweep, &sweep->lanes[i], err);
    }
    if (st != TAL_OK) {
        tal_sweep_destroy(sweep);
        return st;
    }
    *out = sweep;
    return TAL_OK;
}

void tal_sweep_destroy(tal_sweep *sweep)
{
    if (sweep == NULL) return;
    const tal_allocator allocator = sweep->allocator;
    for (int i = 0; i < sweep->num_lanes && sweep->block != NULL; ++i) {
        tal_integrator_destroy(sweep->lanes[i].integrator);
        tal_state_destroy(sweep->lanes[i].state);
    }
    tali_free(&allocator, sweep->block, sweep->block_bytes);
    tali_free(&allocator, sweep, sizeof *sweep);
}

const tal_error *tal_sweep_error(const tal_sweep *sweep)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_sweep_error", "the study is NULL"};
    return sweep != NULL ? &sweep->error_record : &none;
}

// --- samples ---

static tal_status set_values(const tal_sweep *sweep, tal_state *state, const double values[])
{
    tal_status st = TAL_OK;
    for (int i = 0; i < sweep->def.num_parameters && st == TAL_OK; ++i) {
        const tal_parameter *parameter = &sweep->parameters[i];
        st = parameter->set(parameter, sweep->system, state, values[i]);
    }
    return st;
}

static tal_status simulate(const tal_sweep *sweep, tali_sweep_lane *lane, int index)
{
    if (sweep->def.run != NULL) {
        return sweep->def.run(sweep->def.context, sweep->system, lane->state, index);
    }
    if (!(sweep->def.end_time > tal_state_t(lane->state))) return TAL_OK;
    tal_integrator_reset(lane->integrator);
    const tal_status st =
        tal_integrator_step_to(lane->integrator, lane->state, sweep->def.end_time);
    if (st != TAL_OK) lane->why = *tal_integrator_error(lane->integrator);
    return st;
}

static tal_status read_outputs(const tal_sweep *sweep, tal_state *state, double results[])
{
    if (sweep->def.read != NULL) {
        return sweep->def.read(sweep->def.context, sweep->system, state, results);
    }
    const tal_status st = tal_system_realize(sweep->system, state, sweep->stage);
    for (int i = 0; i < sweep->def.num_outputs && st == TAL_OK; ++i) {
        results[i] = tal_measure_value(sweep->system, state, sweep->outputs[i]);
        const tal_status why = tal_state_error(state)->status; // a measure that failed is a NaN
        if (why != TAL_OK) return why;
        if (!isfinite(results[i])) {
            return tal_state_fail(state, TAL_ERR_NOT_FINITE, "output '%s' is %g",
                                  tal_measure_name(sweep->system, sweep->outputs[i]), results[i]);
        }
    }
    return st;
}

// Simulate one sample in a lane and read its outputs; NaN when it fails.
static void run_sample(tal_sweep *sweep, int index, int k)
{
    tali_sweep_lane *lane = &sweep->lanes[index];
    const size_t np = (size_t)sweep->def.num_parameters, no = (size_t)sweep->def.num_outputs;
    double *results = sweep->results + (size_t)k * no;
    const tal_error before = lane->why;
    lane->why = (tal_error){TAL_OK, "", ""};
    tal_status st = tal_state_copy(lane->state, sweep->start);
    if (st == TAL_OK) st = set_values(sweep, lane->state, sweep->values + (size_t)k * np);
    if (st == TAL_OK) st = simulate(sweep, lane, index);
    if (st == TAL_OK) st = read_outputs(sweep, lane->state, results);
    if (sweep->status != NULL) sweep->status[k] = st;
    if (st == TAL_OK || lane->failed >= 0) lane->why = before;
    if (st == TAL_OK) return;
    for (size_t i = 0; i < no; ++i) {
        results[i] = TALI_NAN;
    }
    if (lane->failed < 0) {
        lane->failed = k;
        if (lane->why.status == TAL_OK) lane->why = *tal_state_error(lane->state);
        lane->why.status = st;
    }
    // the failure of a setter waits for the next realize, which must not be that of the next sample
    const tal_status told = tal_system_realize(sweep->system, lane->state, TAL_STAGE_MODEL);
    (void)told;
}

static void run_lane(void *work, int index)
{
    tal_sweep *sweep = work;
    sweep->lanes[index].failed = -1;
    for (int k = index; k < sweep->num_samples; k += sweep->num_lanes) {
        run_sample(sweep, index, k);
    }
}

// Keeps the sentence of the first sample that failed.
static void collect_failures(tal_sweep *sweep)
{
    const tali_sweep_lane *first = NULL;
    for (int i = 0; i < sweep->num_lanes; ++i) {
        const tali_sweep_lane *lane = &sweep->lanes[i];
        if (lane->failed < 0 || (first != NULL && lane->failed > first->failed)) continue;
        first = lane;
    }
    if (first == NULL) return;
    (void)TALI_FAIL(&sweep->error_record, first->why.status, "sample %d: %.200s", first->failed,
                    first->why.message);
}

tal_status tal_sweep_run(tal_sweep *sweep, const tal_state *start, const double values[], int n,
                         double results[], tal_status status[])
{
    if (sweep == NULL || start == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    const bool has_values = values != NULL || sweep->def.num_parameters == 0;
    if (n < 0 || (n > 0 && (!has_values || results == NULL))) {
        return TALI_BREACH(TAL_ERR_NULL,
                           "%d samples: the number is negative, or values or results are NULL", n);
    }
    sweep->error_record = (tal_error){TAL_OK, "", ""};
    if (tal_state_structure_hash(start) != tal_system_structure_hash(sweep->system)) {
        return TALI_BREACH(TAL_ERR_WRONG_SYSTEM, "the State belongs to another System");
    }
    const size_t np = (size_t)sweep->def.num_parameters;
    for (size_t k = 0; k < (size_t)n * np; ++k) {
        if (isfinite(values[k])) continue;
        return TALI_FAIL(&sweep->error_record, TAL_ERR_NOT_FINITE, "'%s' is %g in sample %d",
                         sweep->parameters[k % np].name, values[k], (int)(k / np));
    }
    sweep->start = start;
    sweep->values = values;
    sweep->results = results;
    sweep->status = status;
    sweep->num_samples = n;
    sweep->executor.run(sweep->executor.context, run_lane, sweep, sweep->num_lanes);
    collect_failures(sweep);
    return TAL_OK;
}
