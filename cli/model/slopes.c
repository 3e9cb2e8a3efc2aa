// Columns along a run, and how they change.
#include "model/slopes.h"

#include "text/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_STEPS = 100000,
    MOST_EVENTS = 10000,
    NUM_POINTS = 4
};

// Differences (4 D(h/2) - D(h)) / 3 with the central difference D, off by h^4 and by 3 eps / h.
static const double STEP = 1e-4;
static const double AT[NUM_POINTS] = {-1.0, -0.5, 0.5, 1.0};
static const double WEIGHT[NUM_POINTS] = {1.0 / 6.0, -4.0 / 3.0, 4.0 / 3.0, -1.0 / 6.0};

// A model with values, and its run.
typedef struct trial {
    cli_model model;
    const cli_columns *columns;
    tal_parameter numbers[CLI_MAX_OPTIONS];
    double values[CLI_MAX_OPTIONS]; // of the numbers
    int num;
    tal_sensitivity *study;
} trial;

void slopes_create(cli_slopes *it, const cli_model *model)
{
    const size_t size = (size_t)it->num_times * (size_t)it->columns->num;
    const size_t more = (size_t)(it->vary->num + 1) * (size_t)it->columns->num;
    it->shape = vary_shape_of(model);
    it->rows = cli_alloc(size, sizeof *it->rows);
    it->slopes = cli_alloc((size_t)it->vary->num * size, sizeof *it->slopes);
    it->room = cli_alloc(size > more ? size : more, sizeof *it->room);
}

void slopes_destroy(cli_slopes *it)
{
    free(it->rows);
    free(it->slopes);
    free(it->room);
}

static tal_status refuse(cli_slopes *it, tal_status st, const char *fmt, const char *name)
{
    it->error = (tal_error){st, "talus", ""};
    snprintf(it->error.message, sizeof it->error.message, fmt, name);
    return st;
}

// --- a run ---

static tal_status read_columns(void *context, const tal_system *system, tal_state *state,
                               double numbers[])
{
    (void)system;
    const trial *const of = context;
    return columns_read(of->columns, &of->model, state, numbers);
}

// The model for these values, and a study of its numbers; `like` has the steps, or is NULL.
static tal_status open_trial(cli_slopes *it, const double values[], const tal_sensitivity *like,
                             trial *out)
{
    cli_args quiet = *it->args;
    cli_set_flag(&quiet, "quiet");
    memset(out, 0, sizeof *out);
    out->columns = it->columns;
    if (vary_read_model(&quiet, it->vary, values, &out->model) != CLI_OK) {
        if (out->model.status == TAL_ERR_NO_MEMORY) {
            return refuse(it, TAL_ERR_NO_MEMORY, "there is not enough memory%s", "");
        }
        return refuse(it, TAL_ERR_NOT_FINITE, "the model is wrong with these <param>s%s", "");
    }
    if (!vary_has_shape(&out->model, it->shape)) {
        return refuse(it, TAL_ERR_WRONG_SYSTEM,
                      "other values of <param>s change the structure of the model%s", "");
    }
    const char *missing = NULL;
    out->num = vary_numbers(it->vary, &out->model, out->numbers, &missing);
    if (out->num < 0) {
        return refuse(it, TAL_ERR_BAD_NAME, "with these <param>s the model has no '%.60s'",
                      missing);
    }
    int n = 0;
    for (int i = 0; i < it->vary->num; ++i) {
        if (!it->vary->is_param[i]) out->values[n++] = values[i];
    }
    tal_sensitivity_def def = tal_sensitivity_def_default();
    def.parameters = out->numbers;
    def.num_parameters = out->num;
    def.steps_of = like;
    def.step = it->step > 0.0 ? it->step : 1e9;
    def.accuracy = it->step > 0.0 || like != NULL ? 0.0 : it->accuracy;
    def.max_steps = MOST_STEPS;
    def.max_events = MOST_EVENTS;
    return tal_sensitivity_create(out->model.system, &def, &out->study, &it->error);
}

static void close_trial(trial *of)
{
    tal_sensitivity_destroy(of->study);
    cli_model_destroy(&of->model);
}

// Run to time k, and read its row.
static tal_status go_on(cli_slopes *it, trial *of, int k, double row[])
{
    tal_state *const state = of->model.state;
    const tal_status st = k == 0 ? tal_sensitivity_run(of->study, state, of->values, it->times[0])
                                 : tal_sensitivity_continue(of->study, state, it->times[k]);
    if (st != TAL_OK) {
        it->error = *tal_sensitivity_error(of->study);
        return st;
    }
    if (read_columns(of, of->model.system, state, row) != TAL_OK) {
        it->error = *tal_state_error(state);
        return it->error.status;
    }
    return cli_is_interrupted() ? refuse(it, TAL_ERR_STEP_LIMIT, "interrupted%s", "") : TAL_OK;
}

// How the columns at time k change with the numbers of the State.
static tal_status read_slopes(cli_slopes *it, trial *of, int k)
{
    const size_t width = (size_t)it->columns->num, size = (size_t)it->num_times * width;
    const tal_status st = tal_sensitivity_of_numbers(of->study, of->model.state, read_columns, of,
                                                     it->columns->num, it->room);
    if (st != TAL_OK) {
        it->error = *tal_sensitivity_error(of->study);
        return st;
    }
    int n = 0;
    for (int i = 0; i < it->vary->num; ++i) {
        if (it->vary->is_param[i]) continue;
        memcpy(it->slopes + (size_t)i * size + (size_t)k * width, it->room + (size_t)n++ * width,
               width * sizeof *it->room);
    }
    return TAL_OK;
}

static tal_status run_trial(cli_slopes *it, trial *of, bool with_slopes)
{
    tal_status st = TAL_OK;
    it->num_rows = 0;
    for (int k = 0; k < it->num_times && st == TAL_OK; ++k) {
        st = go_on(it, of, k, it->rows + (size_t)k * (size_t)it->columns->num);
        if (st == TAL_OK && with_slopes && of->num > 0) st = read_slopes(it, of, k);
        it->num_rows += st == TAL_OK;
        it->end = tal_state_t(of->model.state);
        if (st == TAL_OK && tal_sensitivity_has_ended(of->study)) break;
    }
    return st;
}

// --- <param>s ---

// One run with another value of a <param>, added to its slopes.
static tal_status add_point(cli_slopes *it, const double values[], int i, int point,
                            const tal_sensitivity *like)
{
    double moved[CLI_MAX_OPTIONS];
    memcpy(moved, values, (size_t)it->vary->num * sizeof *moved);
    const double unit = values[i] != 0.0 ? fabs(values[i]) : 1.0;
    moved[i] += STEP * AT[point] * unit;
    const size_t width = (size_t)it->columns->num;
    double *const slopes = it->slopes + (size_t)i * (size_t)it->num_times * width;
    trial of;
    tal_status st = open_trial(it, moved, like, &of);
    for (int k = 0; k < it->num_rows && st == TAL_OK; ++k) {
        st = go_on(it, &of, k, it->room);
        for (size_t c = 0; c < width && st == TAL_OK; ++c) {
            slopes[(size_t)k * width + c] += WEIGHT[point] / (STEP * unit) * it->room[c];
        }
    }
    close_trial(&of);
    return st;
}

tal_status slopes_find(cli_slopes *it, const double values[], bool with_slopes)
{
    const size_t size = (size_t)it->num_times * (size_t)it->columns->num;
    it->error = (tal_error){TAL_OK, "", ""};
    memset(it->slopes, 0, (size_t)it->vary->num * size * sizeof *it->slopes);
    trial of;
    tal_status st = open_trial(it, values, NULL, &of);
    if (st == TAL_OK) st = run_trial(it, &of, with_slopes);
    for (int i = 0; i < it->vary->num && st == TAL_OK && with_slopes; ++i) {
        for (int point = 0; point < NUM_POINTS && it->vary->is_param[i] && st == TAL_OK; ++point) {
            st = add_point(it, values, i, point, of.study);
        }
    }
    close_trial(&of);
    return st;
}
