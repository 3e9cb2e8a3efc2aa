// Inverse kinematics: frames in chunks, chunks in lanes.
#include "alloc_internal.h"
#include "error_internal.h"

#include "assemble/assembler_internal.h"
#include "problem/study_internal.h"

#include <talus/study/tracker.h>

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// What one thread needs at a time.
typedef struct lane {
    tal_assembler *assembler;
    tal_state *state;
} lane;

struct tal_tracker {
    const tal_system *system;
    tal_allocator allocator;
    tal_tracker_def def;
    tal_executor executor;
    int num_lanes;
    lane *lanes;

    // the run at hand
    const tal_state *start;
    const tal_frames *frames;
    double *q;
    tal_fit *fits;
    atomic_int num_done;
    atomic_bool is_cancelled;
    tal_error error_record;
};

tal_tracker_def tal_tracker_def_default(void)
{
    tal_tracker_def def = {.assembler = tal_assembler_def_default(), .chunk = 250, .lanes = 1};
    def.assembler.accuracy = 1e-6;
    return def;
}

// --- creation ---

static tal_status check_def(const tal_tracker_def *def, tal_error *err)
{
    if (def == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "'def' is NULL");
    if (def->chunk < 0 || def->lanes < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "chunk is %d and lanes is %d: chunk must not be negative, "
                         "and lanes at least 1",
                         def->chunk, def->lanes);
    }
    if (def->executor != NULL && def->executor->run == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "the executor has no function");
    }
    if (def->assembler.num_markers + def->assembler.num_sensors > 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there are no markers and no sensors to follow");
}

static tal_status fill_lane(const tal_tracker *tracker, lane *it, tal_error *err)
{
    const tal_status st =
        tal_assembler_create(tracker->system, &tracker->def.assembler, &it->assembler, err);
    return st == TAL_OK ? tal_state_create(tracker->system, &it->state, err) : st;
}

tal_status tal_tracker_create(const tal_system *system, const tal_tracker_def *def,
                              tal_tracker **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st == TAL_OK) st = check_def(def, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_tracker *tracker = tali_alloc(&allocator, sizeof *tracker);
    if (tracker == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a tracker");
    tracker->system = system;
    tracker->allocator = allocator;
    tracker->def = *def;
    tracker->executor = def->executor != NULL ? *def->executor : tal_executor_in_order();
    tracker->num_lanes = def->lanes;
    tracker->lanes = tali_alloc(&allocator, (size_t)def->lanes * sizeof *tracker->lanes);
    if (tracker->lanes == NULL) {
        st = TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %d lanes", def->lanes);
    }
    for (int i = 0; i < def->lanes && st == TAL_OK; ++i) {
        st = fill_lane(tracker, &tracker->lanes[i], err);
    }
    if (st != TAL_OK) {
        tal_tracker_destroy(tracker);
        return st;
    }
    *out = tracker;
    return TAL_OK;
}

void tal_tracker_destroy(tal_tracker *tracker)
{
    if (tracker == NULL) return;
    const tal_allocator allocator = tracker->allocator;
    for (int i = 0; i < tracker->num_lanes && tracker->lanes != NULL; ++i) {
        tal_assembler_destroy(tracker->lanes[i].assembler);
        tal_state_destroy(tracker->lanes[i].state);
    }
    tali_free(&allocator, tracker->lanes, (size_t)tracker->num_lanes * sizeof *tracker->lanes);
    tali_free(&allocator, tracker, sizeof *tracker);
}

const char *tal_tracker_marker_name(const tal_tracker *tracker, int marker)
{
    if (tracker != NULL) return tal_assembler_marker_name(tracker->lanes[0].assembler, marker);
    (void)TALI_BREACH(TAL_ERR_NULL, "the tracker is NULL");
    return "(no marker)";
}

tal_status tal_tracker_calc_marker_errors(const tal_tracker *tracker, const tal_state *state,
                                          const tal_vec3 points[], tal_vec3 errors[])
{
    if (tracker == NULL || points == NULL || errors == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tal_assembler *it = tracker->lanes[0].assembler;
    const tal_status st = tali_assembler_calc_marker_errors(it, state, points, NULL, errors);
    for (int k = 0; k < it->def.num_markers && st == TAL_OK; ++k) {
        // seen or not as a whole, as tal_assembler_observe() takes it
        const double sum = errors[k].x + errors[k].y + errors[k].z;
        if (isnan(sum)) errors[k] = tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
    }
    return st;
}

const tal_error *tal_tracker_error(const tal_tracker *tracker)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_tracker_error", "the tracker is NULL"};
    return tracker != NULL ? &tracker->error_record : &none;
}

// --- one frame ---

static tal_status observe(const tal_tracker *tracker, tal_assembler *assembler, int k)
{
    const tal_frames *frames = tracker->frames;
    const size_t markers = (size_t)tracker->def.assembler.num_markers;
    const size_t sensors = (size_t)tracker->def.assembler.num_sensors;
    const size_t goals = (size_t)tracker->def.assembler.num_coordinates;
    for (size_t i = 0; i < goals && frames->coordinates != NULL; ++i) {
        const double value = frames->coordinates[(size_t)k * goals + i];
        const tal_status st = tal_assembler_set_coordinate(assembler, (int)i, value);
        if (st != TAL_OK) return st;
    }
    return tal_assembler_observe(
        assembler, frames->points != NULL ? frames->points + (size_t)k * markers : NULL,
        frames->rotations != NULL ? frames->rotations + (size_t)k * sensors : NULL);
}

// Fits one frame from where the lane's State is; what cannot be fitted leaves it there.
static void fit_frame(tal_tracker *tracker, lane *at, int k, bool is_first)
{
    const tal_frames *frames = tracker->frames;
    tal_assembly found = {.worst_marker = -1};
    tal_status st = observe(tracker, at->assembler, k);
    if (st == TAL_OK && frames->times != NULL) st = tal_state_set_t(at->state, frames->times[k]);
    if (st == TAL_OK) {
        st = is_first ? tal_assembler_fit(at->assembler, at->state, &found)
                      : tal_assembler_assemble(at->assembler, at->state, &found);
    }
    tracker->fits[k] = (tal_fit){
        st, found.iterations, found.error, found.marker_rms, found.marker_max, found.worst_marker};
    const size_t nq = (size_t)tal_state_nq(at->state);
    memcpy(tracker->q + (size_t)k * nq, tal_state_q(at->state), nq * sizeof(double));
}

// --- chunks and lanes ---

static int chunk_length(const tal_tracker *tracker)
{
    const int n = tracker->frames->num_frames;
    return tracker->def.chunk > 0 && tracker->def.chunk < n ? tracker->def.chunk : n;
}

static void follow_chunk(tal_tracker *tracker, lane *at, int chunk)
{
    const int length = chunk_length(tracker), total = tracker->frames->num_frames;
    const int first = chunk * length;
    const int end = total - first < length ? total : first + length;
    const tal_status st = tal_state_copy(at->state, tracker->start);
    for (int k = first; k < end && st == TAL_OK; ++k) {
        if (atomic_load(&tracker->is_cancelled)) return;
        fit_frame(tracker, at, k, k == first);
        const int done = atomic_fetch_add(&tracker->num_done, 1) + 1;
        if (tracker->def.progress == NULL) continue;
        if (!tracker->def.progress(tracker->def.context, done, total)) {
            atomic_store(&tracker->is_cancelled, true);
        }
    }
}

// Lane i follows chunks i, i + lanes, i + 2 lanes, ...
static void follow_lane(void *work, int i)
{
    tal_tracker *tracker = work;
    const int length = chunk_length(tracker);
    const int num_chunks = (tracker->frames->num_frames + length - 1) / length;
    for (int chunk = i; chunk < num_chunks; chunk += tracker->num_lanes) {
        follow_chunk(tracker, &tracker->lanes[i], chunk);
    }
}

static tal_status check_frames(tal_tracker *tracker, const tal_state *start,
                               const tal_frames *frames)
{
    tal_error *err = &tracker->error_record;
    if (tal_state_structure_hash(start) != tal_system_structure_hash(tracker->system)) {
        return TALI_FAIL(err, TAL_ERR_WRONG_SYSTEM, "the State belongs to another System");
    }
    if (frames->num_frames < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there cannot be %d frames", frames->num_frames);
    }
    if (frames->points == NULL && frames->rotations == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "neither points nor rotations are given");
    }
    for (int k = 0; k < frames->num_frames && frames->times != NULL; ++k) {
        if (isfinite(frames->times[k])) continue;
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "the time of frame %d is %g", k,
                         frames->times[k]);
    }
    return TAL_OK;
}

tal_status tal_tracker_run(tal_tracker *tracker, const tal_state *start, const tal_frames *frames,
                           double q[], tal_fit fits[])
{
    if (tracker == NULL || start == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    if (frames == NULL || q == NULL || fits == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "frames or results are NULL");
    }
    tracker->error_record = (tal_error){TAL_OK, "", ""};
    const tal_status st = check_frames(tracker, start, frames);
    if (st != TAL_OK || frames->num_frames == 0) return st;
    tracker->start = start;
    tracker->frames = frames;
    tracker->q = q;
    tracker->fits = fits;
    atomic_store(&tracker->num_done, 0);
    atomic_store(&tracker->is_cancelled, false);
    for (int k = 0; k < frames->num_frames; ++k) {
        fits[k] = (tal_fit){.status = TAL_RETRY, .worst_marker = -1};
    }
    tracker->executor.run(tracker->executor.context, follow_lane, tracker, tracker->num_lanes);
    if (!atomic_load(&tracker->is_cancelled)) return TAL_OK;
    return TALI_FAIL(&tracker->error_record, TAL_ERR_CALLBACK,
                     "the run was stopped after %d of %d frames", atomic_load(&tracker->num_done),
                     frames->num_frames);
}
