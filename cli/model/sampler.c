// Samples of a sweep: a model is read where a <param> changes, and what its State holds is set.
//
// Samples that can be stepped side by side are given to an ensemble, which has the same bits as
// runs one by one; all others are run as talus simulate runs a model.
#include "model/sampler.h"

#include "text/progress.h"

#include <math.h>
#include <string.h>

void sampler_begin(sampler *it, const sampler_def *def)
{
    memset(it, 0, sizeof *it);
    it->def = def;
    it->widest = 1;
}

// --- models ---

static void drop_model(sampler *it)
{
    tal_ensemble_destroy(it->ensemble);
    if (it->has_run) cli_run_destroy(&it->run);
    tal_state_destroy(it->state);
    if (it->has_model) cli_model_destroy(&it->model);
    memset(&it->model, 0, sizeof it->model);
    it->ensemble = NULL;
    it->state = NULL;
    it->has_run = it->has_model = it->has_tried = false;
}

void sampler_end(sampler *it)
{
    drop_model(it);
}

static bool proceed(void *context, double t)
{
    (void)context;
    (void)t;
    return !cli_is_interrupted();
}

static tal_status refuse_model(sampler *it, tal_status st, const char *fmt, const char *name)
{
    it->error = (tal_error){st, "talus sweep", ""};
    snprintf(it->error.message, sizeof it->error.message, fmt, name);
    return st;
}

static bool lanes_proceed(void *context)
{
    (void)context;
    return !cli_is_interrupted();
}

static tal_status read_columns(void *context, const tal_system *system, tal_state *state,
                               double results[])
{
    const sampler *const it = context;
    (void)system;
    return columns_read(it->def->columns, &it->model, state, results);
}

// An ensemble, if it can run samples side by side: steppers of events cannot.
static tal_status try_side_by_side(sampler *it)
{
    it->has_tried = true;
    if (tal_system_num_events(it->model.system) > 0) {
        snprintf(it->why_alone, sizeof it->why_alone, "it has events");
        return TAL_OK;
    }
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = it->numbers;
    def.num_parameters = it->num_numbers;
    def.num_outputs = it->def->columns->num;
    def.read = read_columns;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = it->def->end;
    def.integrator = &it->run.integrator;
    def.width = it->def->width;
    def.proceed = lanes_proceed;
    def.context = it;
    const tal_status st = tal_ensemble_create(it->model.system, &def, &it->ensemble, &it->error);
    if (st != TAL_OK) return st;
    const tal_lane_use use = tal_ensemble_lane_use(it->ensemble);
    if (use.why_alone[0] == 0) return TAL_OK;
    snprintf(it->why_alone, sizeof it->why_alone, "%s", use.why_alone);
    tal_ensemble_destroy(it->ensemble);
    it->ensemble = NULL;
    return TAL_OK;
}

// What a model needs besides being read.
static tal_status equip_model(sampler *it)
{
    const sampler_def *const def = it->def;
    const char *missing = NULL;
    it->num_numbers = vary_numbers(def->vary, &it->model, it->numbers, &missing);
    if (it->num_numbers < 0) {
        return refuse_model(it, TAL_ERR_BAD_NAME,
                            "with these values of <param>s the model has no '%.60s'", missing);
    }
    it->state = cli_state_copy(&def->args, &it->model);
    if (it->state == NULL) return refuse_model(it, TAL_ERR_NO_MEMORY, "there is no memory%s", "");
    it->has_run = true;
    if (cli_run_create(&def->args, &it->model, &def->integrator, &it->run) != CLI_OK) {
        return refuse_model(it, TAL_ERR_BAD_VALUE, "with these values of <param>s it cannot run%s",
                            "");
    }
    it->run.end = def->end;
    it->run.proceed = proceed;
    return TAL_OK;
}

// The model for the <param>s in it->values: the one that is there, or read again.
tal_status sampler_find_model(sampler *it)
{
    const sampler_def *const def = it->def;
    if (it->has_model && vary_same_params(def->vary, it->values, it->read_for)) {
        return it->error.status;
    }
    drop_model(it);
    memcpy(it->read_for, it->values, sizeof it->read_for);
    it->error = (tal_error){TAL_OK, "", ""};
    it->has_model = true;
    if (vary_read_model(&def->args, def->vary, it->values, &it->model) != CLI_OK) {
        if (it->model.status == TAL_ERR_NO_MEMORY) {
            return refuse_model(it, TAL_ERR_NO_MEMORY, "there is not enough memory%s", "");
        }
        return refuse_model(it, TAL_ERR_BAD_VALUE, "the model is wrong with these <param>s%s", "");
    }
    if (!vary_has_shape(&it->model, def->shape)) {
        return refuse_model(it, TAL_ERR_WRONG_SYSTEM,
                            "these values of <param>s change the structure of the model%s", "");
    }
    return equip_model(it);
}

// --- samples one by one ---

tal_status sampler_set_start(sampler *it, tal_error *why)
{
    const cli_vary *const vary = it->def->vary;
    tal_status st = tal_state_copy(it->state, it->model.state);
    int n = 0;
    for (int i = 0; i < vary->num && st == TAL_OK; ++i) {
        if (vary->is_param[i]) continue;
        const tal_parameter *const number = &it->numbers[n++];
        st = number->set(number, it->model.system, it->state, it->values[i]);
    }
    if (st == TAL_OK) return TAL_OK;
    *why = *tal_state_error(it->state);
    (void)tal_state_clear_error(it->state);
    return st;
}

static tal_status run_alone(sampler *it, double results[], tal_error *why)
{
    const double end = it->def->end;
    ++it->alone;
    tal_status st = sampler_set_start(it, why);
    if (st != TAL_OK) return st;
    st = cli_run_restart(&it->run, it->state);
    if (st == TAL_OK && end > tal_state_t(it->state)) st = cli_run_go(&it->run, end);
    if (st != TAL_OK) {
        *why = it->run.error;
        return st;
    }
    st = columns_read(it->def->columns, &it->model, it->run.shown, results);
    if (st != TAL_OK) *why = *tal_state_error(it->run.shown);
    return st;
}

// --- samples side by side ---

// The numbers of the State of the ensemble's sample k.
static tal_status numbers_of(void *context, int k, double values[])
{
    const sampler *const it = context;
    const cli_vary *const vary = it->def->vary;
    double all[CLI_MAX_OPTIONS];
    const tal_status st = tal_design_sample(&vary->design, it->first + k, all);
    int n = 0;
    for (int i = 0; i < vary->num && st == TAL_OK; ++i) {
        if (!vary->is_param[i]) values[n++] = all[i];
    }
    return st;
}

// How many samples from `first` on have the <param>s of the model that is there.
static int count_alike(const sampler *it, int first, int n)
{
    double values[CLI_MAX_OPTIONS];
    int num = 1;
    for (; num < n; ++num) {
        if (tal_design_sample(&it->def->vary->design, first + num, values) != TAL_OK) break;
        if (!vary_same_params(it->def->vary, values, it->read_for)) break;
    }
    return num;
}

static void count_use(sampler *it)
{
    const tal_lane_use use = tal_ensemble_lane_use(it->ensemble);
    if (use.width > it->widest) it->widest = use.width;
    it->in_lanes += use.in_lanes;
    it->alone += use.alone;
    it->used += use.share * use.in_lanes;
}

static int run_side_by_side(sampler *it, int first, int num, double results[], tal_status status[],
                            tal_error why[])
{
    it->first = first;
    const tal_design design = tal_design_function(numbers_of, it, it->num_numbers, num);
    const tal_status st =
        tal_ensemble_run(it->ensemble, it->model.state, &design, results, status, why);
    count_use(it);
    if (st == TAL_RETRY) return 0;
    for (int k = 0; k < num && st != TAL_OK; ++k) {
        status[k] = st;
        why[k] = *tal_ensemble_error(it->ensemble);
    }
    return num;
}

int sampler_run(sampler *it, int first, int n, double results[], tal_status status[],
                tal_error why[])
{
    if (cli_is_interrupted()) return 0;
    why[0] = (tal_error){TAL_OK, "", ""};
    status[0] = tal_design_sample(&it->def->vary->design, first, it->values);
    if (status[0] == TAL_OK) status[0] = sampler_find_model(it);
    const int num = status[0] == TAL_OK ? count_alike(it, first, n) : 1;
    if (num > 1 && !it->has_tried) status[0] = try_side_by_side(it);
    if (num > 1 && status[0] == TAL_OK && it->ensemble != NULL) {
        return run_side_by_side(it, first, num, results, status, why);
    }
    if (status[0] != TAL_OK) why[0] = it->error;
    if (status[0] == TAL_OK) status[0] = run_alone(it, results, &why[0]);
    for (int i = 0; i < it->def->columns->num && status[0] != TAL_OK; ++i) {
        results[i] = (double)NAN;
    }
    return it->has_run && it->run.was_stopped ? 0 : 1;
}

// --- the report ---

sampler_use sampler_use_of(const sampler samplers[], int n)
{
    sampler_use use = {.widest = 1, .why_alone = ""};
    for (int i = 0; i < n; ++i) {
        const sampler *const it = &samplers[i];
        if (it->widest > use.widest) use.widest = it->widest;
        use.in_lanes += it->in_lanes;
        use.alone += it->alone;
        use.used += it->used;
        if (it->why_alone[0] != 0) use.why_alone = it->why_alone;
    }
    return use;
}

void sampler_tell(const sampler_use *use)
{
    if (use->in_lanes > 0.0) {
        fprintf(stderr, "%.0f samples side by side, %d at a time, %.3g %% of the lanes in use\n",
                use->in_lanes, use->widest, 100.0 * use->used / use->in_lanes);
    }
    if (use->alone > 0.0) {
        const char *const why = use->why_alone;
        fprintf(stderr, "%.0f samples one by one%s%s\n", use->alone, why[0] != 0 ? ": " : "", why);
    }
}
