// Ensembles: creation, and runs.
#include "ensemble/ensemble_internal.h"

#include <math.h>
#include <string.h>

tal_ensemble_def tal_ensemble_def_default(void)
{
    return (tal_ensemble_def){.task = TAL_TASK_REALIZE, .lanes = 1};
}

// --- checks ---

static tal_status check_outputs(const tal_system *system, const tal_ensemble_def *def,
                                tal_error *err)
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
static const char *what_is_wrong(const tal_ensemble_def *def)
{
    if (def->lanes < 1) return "it needs at least one lane";
    if (def->width < 0) return "the width cannot be negative";
    if (def->num_parameters < 0) return "the number of parameters cannot be negative";
    if (def->num_parameters > 0 && def->parameters == NULL) return "'parameters' is NULL";
    if (def->num_outputs < 1) return "it needs an output: a measure, or a value from 'read'";
    if (def->outputs != NULL && def->read != NULL) return "give 'outputs' or 'read', not both";
    if (def->outputs == NULL && def->read == NULL) return "'outputs' and 'read' are NULL";
    if (def->num_times < 0) return "the number of times cannot be negative";
    if (def->num_times > 0 && def->times == NULL) return "'times' is NULL";
    return isfinite(def->end_time) ? NULL : "'end_time' must be finite";
}

static tal_status check_task(const tal_ensemble_def *def, tal_error *err)
{
    if (def->task < TAL_TASK_REALIZE || def->task > TAL_TASK_CALL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no task %d", (int)def->task);
    }
    if ((def->task == TAL_TASK_CALL) != (def->run != NULL)) {
        return TALI_FAIL(err, TAL_ERR_NULL, "'run' and TAL_TASK_CALL belong together");
    }
    const bool has_frames = def->frames != NULL && def->frames->num_frames > 0;
    if ((def->task == TAL_TASK_TRACK) != has_frames) {
        return TALI_FAIL(err, TAL_ERR_NULL, "'frames' and TAL_TASK_TRACK belong together");
    }
    if (def->num_times > 0 && def->task != TAL_TASK_INTEGRATE) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "'times' are for TAL_TASK_INTEGRATE");
    }
    for (int i = 0; i < def->num_times; ++i) {
        if (isfinite(def->times[i]) && (i == 0 || def->times[i] >= def->times[i - 1])) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "time %d is %g: times must be finite and ascending", i, def->times[i]);
    }
    return TAL_OK;
}

// What must be so before memory is taken.
static tal_status check_def(const tal_system *system, const tal_ensemble_def *def, tal_error *err)
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
    const tal_status st = check_task(def, err);
    return st == TAL_OK ? check_outputs(system, def, err) : st;
}

// --- creation ---

// Copies of the arrays that the caller may free.
static void keep_arrays(tal_ensemble *it)
{
    tal_ensemble_def *const def = &it->def;
    const size_t np = (size_t)def->num_parameters, no = (size_t)def->num_outputs;
    if (np > 0) memcpy(it->parameters, def->parameters, np * sizeof *it->parameters);
    if (def->read == NULL) memcpy(it->outputs, def->outputs, no * sizeof *it->outputs);
    if (def->num_times > 0) {
        memcpy(it->times, def->times, (size_t)def->num_times * sizeof *it->times);
    }
    def->parameters = it->parameters;
    def->outputs = it->outputs;
    def->times = it->times;
}

// One block for all arrays of an ensemble.
static tal_status take_memory(tal_ensemble *it, tal_error *err)
{
    const tal_ensemble_def *const def = &it->def;
    const size_t np = (size_t)def->num_parameters, row = (size_t)it->row_size;
    const size_t d = sizeof(double), trials = 1 + 2 * np;
    const tali_piece pieces[] = {
        {&it->lanes, (size_t)def->lanes * sizeof *it->lanes},
        {&it->parameters, np * sizeof *it->parameters},
        {&it->outputs, (size_t)def->num_outputs * sizeof *it->outputs},
        {&it->times, (size_t)def->num_times * d},
        {&it->trial_values, trials * np * d},
        {&it->trial_results, trials * row * d},
        {&it->fit_work, tal_least_squares_work_size((int)np, (int)row) * d},
        {&it->best, np * d},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an ensemble");
    keep_arrays(it);
    return TAL_OK;
}

static size_t size_of_q(const tal_ensemble *it)
{
    return (size_t)it->frames.num_frames * (size_t)it->nq * sizeof(double);
}

static size_t size_of_fits(const tal_ensemble *it)
{
    return (size_t)it->frames.num_frames * sizeof(tal_fit);
}

tal_status tali_ensemble_fill_lane(tal_ensemble *it, tali_ensemble_lane *lane, tal_error *err)
{
    tal_status st = tal_state_create(it->system, &lane->state, err);
    if (st == TAL_OK) st = tal_state_create(it->system, &lane->report, err);
    if (st != TAL_OK) return st;
    it->nq = tal_state_nq(lane->state);
    lane->values = tali_alloc(&it->allocator, (size_t)it->def.num_parameters * sizeof(double));
    if (it->frames.num_frames > 0) {
        lane->q = tali_alloc(&it->allocator, size_of_q(it));
        lane->fits = tali_alloc(&it->allocator, size_of_fits(it));
    }
    const bool has_frames = lane->q != NULL && lane->fits != NULL;
    if (lane->values == NULL || (it->frames.num_frames > 0 && !has_frames)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an ensemble");
    }
    return tali_ensemble_equip(it, lane, err);
}

// What follows from a def that is good.
static void set_up(tal_ensemble *it, const tal_system *system, const tal_ensemble_def *def)
{
    it->system = system;
    it->def = *def;
    it->executor = def->executor != NULL ? *def->executor : tal_executor_in_order();
    if (def->frames != NULL) it->frames = *def->frames;
    it->num_rows = def->num_times > 0 ? def->num_times : 1;
    if (it->frames.num_frames > 0) it->num_rows = it->frames.num_frames;
    it->row_size = it->num_rows * def->num_outputs;
    it->stage = TAL_STAGE_MODEL;
    for (int i = 0; i < def->num_outputs && def->read == NULL; ++i) {
        const tal_stage stage = tal_measure_stage(system, def->outputs[i], 0);
        if (stage > it->stage) it->stage = stage;
    }
}

tal_status tal_ensemble_create(const tal_system *system, const tal_ensemble_def *def,
                               tal_ensemble **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = check_def(system, def, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_ensemble *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an ensemble");
    it->allocator = allocator;
    set_up(it, system, def);
    st = take_memory(it, err);
    for (int i = 0; i < it->def.lanes && st == TAL_OK; ++i) {
        st = tali_ensemble_fill_lane(it, &it->lanes[i], err);
        if (st == TAL_OK) st = tali_ensemble_block_create(it, &it->lanes[i].block, err);
    }
    if (st != TAL_OK) {
        tal_ensemble_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

void tali_ensemble_empty_lane(const tal_ensemble *it, tali_ensemble_lane *lane)
{
    tal_equilibrium_destroy(lane->equilibrium);
    tal_tracker_destroy(lane->tracker);
    tal_assembler_destroy(lane->assembler);
    tal_integrator_destroy(lane->integrator);
    tal_state_destroy(lane->report);
    tal_state_destroy(lane->state);
    tali_free(&it->allocator, lane->values, (size_t)it->def.num_parameters * sizeof(double));
    tali_free(&it->allocator, lane->q, size_of_q(it));
    tali_free(&it->allocator, lane->fits, size_of_fits(it));
}

void tal_ensemble_destroy(tal_ensemble *ensemble)
{
    if (ensemble == NULL) return;
    const tal_allocator allocator = ensemble->allocator;
    for (int i = 0; i < ensemble->def.lanes && ensemble->block != NULL; ++i) {
        tali_ensemble_block_destroy(ensemble, ensemble->lanes[i].block);
        tali_ensemble_empty_lane(ensemble, &ensemble->lanes[i]);
    }
    tali_free(&allocator, ensemble->block, ensemble->block_bytes);
    tali_free(&allocator, ensemble, sizeof *ensemble);
}

int tal_ensemble_row_size(const tal_ensemble *ensemble)
{
    return ensemble != NULL ? ensemble->row_size : 0;
}

const tal_error *tal_ensemble_error(const tal_ensemble *ensemble)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_ensemble_error", "the ensemble is NULL"};
    return ensemble != NULL ? &ensemble->error_record : &none;
}

tal_lane_use tal_ensemble_lane_use(const tal_ensemble *ensemble)
{
    tal_lane_use use = {.width = 1, .why_alone = ""};
    if (ensemble == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the ensemble is NULL");
        return use;
    }
    uint64_t evaluations[2] = {0, 0};
    use.why_alone = ensemble->why_alone;
    for (int i = 0; i < ensemble->def.lanes; ++i) {
        const tali_ensemble_lane *const lane = &ensemble->lanes[i];
        use.alone += lane->num_alone;
        if (lane->block != NULL) tali_ensemble_block_use(lane->block, &use, evaluations);
    }
    const double all = (double)evaluations[0] * use.width;
    use.share = all > 0.0 ? (double)evaluations[1] / all : 0.0;
    return use;
}
