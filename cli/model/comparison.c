// Runs that are compared with a reference.
//
// Given    choices, a model, columns
// Compute  for each choice, along the run:  error = max |x - x_ref| / max(1, |x_ref|)
//
// over all columns and TIMES times, so that an error that happens to vanish at the end counts. The
// reference itself is judged in the same way, against one that is ten times as loose.
#include "model/comparison.h"

#include "text/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TIMES = 16 // equally spaced, the end among them
};

const char *const comparison_names[COMPARISON_NUM] = {"error", "evaluations", "steps",
                                                      "reference_error"};

void comparison_begin(comparison *it, sampler *made, const cli_choices *choices)
{
    const size_t size = (size_t)TIMES * (size_t)made->def->columns->num;
    const size_t n = (size_t)choices->num_choices;
    *it = (comparison){.sampler = made, .choices = choices, .known = -1};
    it->reference = cli_alloc(size, sizeof *it->reference);
    it->trial = cli_alloc(size, sizeof *it->trial);
    it->seconds = cli_alloc(n, sizeof *it->seconds);
    it->runs = cli_alloc(n, sizeof *it->runs);
}

void comparison_end(const comparison *it)
{
    free(it->reference);
    free(it->trial);
    free(it->seconds);
    free(it->runs);
}

// --- one run ---

// What a run takes.
typedef struct cost {
    double evaluations, steps;
} cost;

static cost cost_of(const cli_run *run)
{
    const tal_integrator_stats stats = tal_integrator_statistics(run->integ);
    return (cost){(double)stats.realizations, (double)stats.steps_taken};
}

static void add_cost(cost *sum, const cli_run *run, cost before)
{
    const cost now = cost_of(run);
    sum->evaluations += now.evaluations - before.evaluations;
    sum->steps += now.steps - before.steps;
}

// To a time. Looking within a step can take evaluations, which are not counted: the method does not
// need them.
static tal_status go_to(cli_run *run, double t, cost *spent)
{
    tal_status st = TAL_OK;
    if (run->has_jumps) {
        const cost before = cost_of(run);
        st = cli_run_go(run, t);
        add_cost(spent, run, before);
        return st;
    }
    while (st == TAL_OK && tal_state_t(run->state) < t && !run->was_stopped && !run->is_over) {
        const cost before = cost_of(run);
        st = cli_run_step(run);
        add_cost(spent, run, before);
    }
    return st == TAL_OK && tal_state_t(run->state) > t ? cli_run_look(run, t) : st;
}

// Columns at all times.
static tal_status follow(const comparison *it, cli_run *run, double rows[], cost *spent)
{
    const sampler_def *const def = it->sampler->def;
    const double start = tal_state_t(run->state);
    run->end = def->end;
    tal_status st = TAL_OK;
    for (int i = 0; i < TIMES && st == TAL_OK && !run->was_stopped; ++i) {
        const double t = i == TIMES - 1 ? def->end : start + (i + 1) * (def->end - start) / TIMES;
        st = go_to(run, t, spent);
        if (st != TAL_OK) return st;
        double *const row = rows + (size_t)i * (size_t)def->columns->num;
        st = columns_read(def->columns, run->model, run->shown, row);
        if (st != TAL_OK) run->error = *tal_state_error(run->shown);
    }
    return st;
}

static bool proceed(void *context, double t)
{
    (void)context;
    (void)t;
    return !cli_is_interrupted();
}

// Run a choice of the case in the sampler's values; -1: the reference.
static tal_status run_choice(comparison *it, int choice, double accuracy, double rows[],
                             cost *spent, tal_error *why)
{
    sampler *const made = it->sampler;
    choices_fill_numbers(it->choices, choice, made->values);
    tal_status st = sampler_find_model(made);
    if (st != TAL_OK) {
        *why = made->error;
        return st;
    }
    st = sampler_set_start(made, why);
    if (st != TAL_OK) return st;
    st = choices_set_state(it->choices, choice, &made->model, made->state);
    if (st != TAL_OK) {
        *why = *tal_state_error(made->state);
        (void)tal_state_clear_error(made->state);
        return st;
    }
    tal_integrator_def def = choices_integrator(it->choices, choice);
    if (accuracy > 0.0) def.accuracy = accuracy;
    cli_run run;
    *why = (tal_error){TAL_ERR_BAD_VALUE, "talus sweep", "this choice cannot run"};
    if (cli_run_create(&made->def->args, &made->model, &def, &run) == CLI_OK) {
        run.proceed = proceed;
        st = cli_run_restart(&run, made->state);
        if (st == TAL_OK) st = follow(it, &run, rows, spent);
        *why = run.error;
        if (st == TAL_OK && run.was_stopped) st = TAL_RETRY;
    } else {
        st = TAL_ERR_BAD_VALUE;
        if (run.error.status != TAL_OK) *why = run.error;
    }
    cli_run_destroy(&run);
    return st;
}

// --- comparing ---

static double error_of(const double rows[], const double reference[], int n)
{
    double worst = 0.0;
    for (int i = 0; i < n; ++i) {
        const double scale = fmax(1.0, fabs(reference[i]));
        const double error = fabs(rows[i] - reference[i]) / scale;
        // a NaN is no small error, unless both are
        if (isnan(error) && !(isnan(rows[i]) && isnan(reference[i]))) return (double)INFINITY;
        if (error > worst) worst = error;
    }
    return worst;
}

static int num_of(const comparison *it)
{
    return TIMES * it->sampler->def->columns->num;
}

// The reference of a case, if it is not there.
static tal_status find_reference(comparison *it, int which)
{
    if (it->known == which) return it->status;
    it->known = which;
    const double accuracy = it->choices->reference.accuracy;
    cost spent = {0.0, 0.0};
    it->status = run_choice(it, -1, accuracy, it->reference, &spent, &it->why);
    if (it->status == TAL_OK) {
        it->status = run_choice(it, -1, 10.0 * accuracy, it->trial, &spent, &it->why);
    }
    it->doubt = error_of(it->trial, it->reference, num_of(it));
    if (it->status == TAL_RETRY) it->known = -1;
    return it->status;
}

// Processor time of this thread [s].
static double thread_time(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A sample against the reference of its case: a row of results.
static tal_status compare(comparison *it, int k, double results[], tal_error *why)
{
    sampler *const made = it->sampler;
    const int columns = made->def->columns->num, num = it->choices->num_choices;
    const int choice = k % num;
    tal_status st = tal_design_sample(&made->def->vary->design, k / num, made->values);
    if (st == TAL_OK) st = find_reference(it, k / num);
    if (st != TAL_OK) {
        *why = it->why;
        (void)snprintf(why->message, sizeof why->message, "the reference failed: %.200s",
                       it->why.message);
        return st;
    }
    cost spent = {0.0, 0.0};
    const double before = thread_time();
    st = run_choice(it, choice, 0.0, it->trial, &spent, why);
    if (st != TAL_OK) return st;
    it->seconds[choice] += thread_time() - before;
    ++it->runs[choice];
    memcpy(results, it->trial + (size_t)(TIMES - 1) * (size_t)columns,
           (size_t)columns * sizeof *results);
    results[columns + COMPARISON_ERROR] = error_of(it->trial, it->reference, num_of(it));
    results[columns + COMPARISON_EVALUATIONS] = spent.evaluations;
    results[columns + COMPARISON_STEPS] = spent.steps;
    results[columns + COMPARISON_REFERENCE_ERROR] = it->doubt;
    return TAL_OK;
}

bool comparison_run(comparison *it, int k, double results[], tal_status *status, tal_error *why)
{
    if (cli_is_interrupted()) return false;
    *why = (tal_error){TAL_OK, "", ""};
    *status = compare(it, k, results, why);
    if (*status == TAL_RETRY) return false;
    if (*status == TAL_OK) {
        *why = (tal_error){TAL_OK, "", ""};
        return true;
    }
    for (int i = 0; i < it->sampler->def->columns->num + COMPARISON_NUM; ++i) {
        results[i] = (double)NAN;
    }
    return true;
}
