// Talus's assembler and tracker.
#include "assembly.h"
#include "bench.h"
#include "build_talus.h"
#include "count_alloc.h"

#include <talus/study/tracker.h>

#include <math.h>
#include <stdlib.h>

static double constraint_error(const talus_model *t)
{
    double sum = 0.0;
    const int rows = tal_state_pool_size(t->state, TAL_POOL_QERR);
    for (int i = 0; i < rows; ++i) {
        sum += tal_state_qerr(t->state)[i] * tal_state_qerr(t->state)[i];
    }
    return sqrt(sum / rows);
}

static bool assemble(const assembly_problem *problem, assembly_result *out)
{
    talus_model t = talus_build(&problem->m);
    tal_assembler_def def = tal_assembler_def_default();
    def.tolerance = problem->tolerance;
    tal_assembler *assembler = NULL;
    tal_error error;
    if (tal_assembler_create(t.system, &def, &assembler, &error) != TAL_OK) talus_stop(&error);
    *out = (assembly_result){.seconds = 0.0};
    for (int k = 0; k < ASSEMBLY_STARTS; ++k) {
        talus_require(&t, tal_state_set_q(t.state, problem->starts[k], 3));
        const long before = allocations();
        const double start = bench_now();
        const tal_status st = tal_assembler_assemble(assembler, t.state, NULL);
        out->seconds += 1e-9 * (bench_now() - start);
        out->allocations += allocations() - before;
        out->failures += st != TAL_OK;
        if (st == TAL_OK) out->error = fmax(out->error, constraint_error(&t));
    }
    tal_assembler_destroy(assembler);
    talus_free(&t);
    return true;
}

// Frames one after the other, on one thread.
static bool track(const tracking_problem *problem, double accuracy, assembly_result *out)
{
    talus_model t = talus_build(&problem->m);
    tal_marker markers[TRACKING_MARKERS];
    for (int k = 0; k < TRACKING_MARKERS; ++k) {
        markers[k] = (tal_marker){NULL, {problem->bodies[k]}, problem->stations[k], 1.0};
    }
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.markers = markers;
    def.assembler.num_markers = TRACKING_MARKERS;
    def.assembler.accuracy = accuracy;
    def.chunk = 0;
    tal_tracker *tracker = NULL;
    tal_error error;
    if (tal_tracker_create(t.system, &def, &tracker, &error) != TAL_OK) talus_stop(&error);
    double *q = calloc((size_t)TRACKING_FRAMES * (size_t)problem->m.nq, sizeof *q);
    tal_fit *fits = calloc(TRACKING_FRAMES, sizeof *fits);
    if (q == NULL || fits == NULL) return false;
    const tal_frames frames = {TRACKING_FRAMES, NULL, &problem->points[0][0], NULL, NULL};
    *out = (assembly_result){.allocations = -allocations()};
    const double start = bench_now();
    const tal_status st = tal_tracker_run(tracker, t.state, &frames, q, fits);
    out->seconds = 1e-9 * (bench_now() - start);
    out->allocations += allocations();
    double sum = 0.0;
    for (int f = 0; f < TRACKING_FRAMES; ++f) {
        out->failures += fits[f].status != TAL_OK;
        sum += fits[f].marker_rms * fits[f].marker_rms;
    }
    out->error = sqrt(sum / TRACKING_FRAMES);
    free(q);
    free(fits);
    tal_tracker_destroy(tracker);
    talus_free(&t);
    return st == TAL_OK;
}

const assembly_solver assembly_talus = {"Talus", true, assemble, track};
