// What the steps of many samples cost, one by one and side by side in lanes.
#include "bench.h"
#include "build_talus.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLES = 256
};

typedef struct work {
    talus_model t;
    tal_ensemble *ensemble;
    tal_design design;
    double *results;
    tal_lane_use use;
} work;

static tal_status read_first(void *context, const tal_system *system, tal_state *state,
                             double results[])
{
    (void)context, (void)system;
    results[0] = tal_state_q(state)[0];
    return TAL_OK;
}

// Sample k begins with speeds of its own.
static tal_status set_speeds(const tal_parameter *it, const tal_system *system, tal_state *state,
                             double value)
{
    (void)it, (void)system;
    double *const u = tal_state_upd_u(state);
    for (int i = 0; i < tal_state_nu(state); ++i) {
        u[i] += sin(value + i);
    }
    return TAL_OK;
}

static void run(void *context, long count)
{
    work *const w = context;
    for (long i = 0; i < count; ++i) {
        if (tal_ensemble_run(w->ensemble, w->t.state, &w->design, w->results, NULL, NULL) !=
            TAL_OK) {
            talus_stop(tal_ensemble_error(w->ensemble));
        }
    }
    w->use = tal_ensemble_lane_use(w->ensemble);
}

static work begin(const model *m, int width, double end_time)
{
    static const tal_parameter speeds = {.name = "speeds", .set = set_speeds};
    static const tal_distribution any = {TAL_UNIFORM, 0.0, 6.0};
    work w = {.t = talus_build(m), .design = tal_design_random(&any, 1, 42, SAMPLES)};
    talus_set_values(&w.t, m, 0);
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = &speeds;
    def.num_parameters = 1;
    def.read = read_first;
    def.num_outputs = 1;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = end_time;
    def.width = width;
    tal_error err;
    if (tal_ensemble_create(w.t.system, &def, &w.ensemble, &err) != TAL_OK) talus_stop(&err);
    w.results = calloc(SAMPLES, sizeof *w.results);
    if (w.results == NULL) exit(EXIT_FAILURE);
    return w;
}

static void end(work *w)
{
    tal_ensemble_destroy(w->ensemble);
    talus_free(&w->t);
    free(w->results);
}

// Adaptive runs at the default accuracy.
static void measure(model m, double end_time)
{
    static const int widths[] = {1, 4, 8};
    static const char *const names[] = {"one by one", "4 lanes", "8 lanes"};
    work works[3];
    bench rows[3];
    for (int i = 0; i < 3; ++i) {
        works[i] = begin(&m, widths[i], end_time);
        rows[i] = (bench){.name = names[i], .run = run, .context = &works[i]};
    }
    bench_measure(rows, 3, 15, 5e7);
    bench_print(m.name, rows, 3);
    for (int i = 1; i < 3; ++i) {
        (void)printf("  %s: %.2f times one by one, %.0f %% of %d lanes used%s%s\n", names[i],
                     rows[0].median / rows[i].median, 100.0 * works[i].use.share,
                     works[i].use.width, works[i].use.why_alone[0] != '\0' ? ", alone: " : "",
                     works[i].use.why_alone);
    }
    for (int i = 0; i < 3; ++i) {
        end(&works[i]);
    }
    model_free(&m);
}

int main(void)
{
    static const int lengths[] = {2, 10, 30};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
        measure(model_pin_chain(lengths[i]), 0.3);
    }
    measure(model_humanoid(0), 0.3);
    return EXIT_SUCCESS;
}
