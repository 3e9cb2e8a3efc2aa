// Chunks of frames as samples of a batch. The frames of a chunk start from each other, those of
// different chunks do not, so that a chunk is what can be done by another thread, or another day.
#include "model/tracking.h"

#include "text/stream.h"

#include <stdlib.h>
#include <string.h>

// What is kept of a fit, behind the coordinates of its frame.
enum {
    FIT_NUMBERS = 6
};

// --- a chunk as numbers ---

static void put_frame(const tracking *it, int f, double row[])
{
    const tal_fit *const fit = &it->fits[f];
    const double numbers[FIT_NUMBERS] = {(double)fit->status, fit->iterations, fit->error,
                                         fit->marker_rms,     fit->marker_max, fit->worst_marker};
    memcpy(row, it->q + (size_t)f * (size_t)it->nq, (size_t)it->nq * sizeof *row);
    memcpy(row + it->nq, numbers, sizeof numbers);
}

static void take_frame(tracking *it, int f, const double row[])
{
    const double *const at = row + it->nq;
    memcpy(it->q + (size_t)f * (size_t)it->nq, row, (size_t)it->nq * sizeof *row);
    it->fits[f] = (tal_fit){(tal_status)at[0], (int)at[1], at[2], at[3], at[4], (int)at[5]};
}

static int num_chunks(const tracking *it)
{
    return (it->num_frames + it->chunk - 1) / it->chunk;
}

static int frames_of(const tracking *it, int chunk)
{
    const int left = it->num_frames - chunk * it->chunk;
    return left < it->chunk ? left : it->chunk;
}

// --- the work ---

static bool tell(void *context, int done, int total)
{
    tracking *const it = context;
    (void)done;
    (void)total;
    return progress_tell(&it->told, (double)(atomic_fetch_add(&it->done, 1) + 1));
}

// What the batch calls, on any thread: a chunk of frames.
static tal_status follow_chunk(void *context, int lane, int first, int n, double results[],
                               tal_status status[], tal_error why[])
{
    tracking *const it = context;
    (void)n; // one
    const int start = first * it->chunk, num = frames_of(it, first);
    const size_t markers = (size_t)it->model->file.num_markers, nq = (size_t)it->nq;
    const tal_frames all = it->seen.frames;
    const tal_frames frames = {.num_frames = num,
                               .times = all.times + start,
                               .points = all.points + (size_t)start * markers};
    const tal_status st = tal_tracker_run(it->trackers[lane], it->model->state, &frames,
                                          it->q + (size_t)start * nq, it->fits + start);
    if (st == TAL_ERR_CALLBACK) return TAL_RETRY;
    status[0] = TAL_OK;
    why[0] = (tal_error){TAL_OK, "", ""};
    for (int f = 0; f < num && st == TAL_OK; ++f) {
        put_frame(it, start + f, results + (size_t)f * (nq + FIT_NUMBERS));
    }
    for (size_t k = (size_t)num * (nq + FIT_NUMBERS); k < (size_t)it->chunk * (nq + FIT_NUMBERS);
         ++k) {
        results[k] = 0.0; // the last chunk may be short
    }
    return st;
}

static tal_status create_trackers(tracking *it, tal_error *err)
{
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.markers = it->model->file.markers;
    def.assembler.num_markers = it->model->file.num_markers;
    def.assembler.accuracy = cli_number(it->args, "accuracy");
    def.assembler.ignore_ranges = cli_flag(it->args, "ignore-ranges");
    def.chunk = 0; // each run is of one chunk
    def.progress = tell;
    def.context = it;
    it->trackers = cli_alloc((size_t)it->num_lanes, sizeof(tal_tracker *));
    tal_status st = TAL_OK;
    for (int i = 0; i < it->num_lanes && st == TAL_OK; ++i) {
        st = tal_tracker_create(it->model->system, &def, &it->trackers[i], err);
    }
    return st;
}

// In memory, or with --resume in a folder beside the result. An exit code.
static int create_batch(tracking *it, const char *manifest)
{
    const bool resumes = cli_flag(it->args, "resume");
    char *const path = resumes ? cli_format("%s.run", stream_out_path(it->args)) : NULL;
    tal_batch_def def = tal_batch_def_default();
    def.path = path;
    def.manifest = manifest;
    def.num_samples = num_chunks(it);
    def.row_size = it->chunk * (it->nq + FIT_NUMBERS);
    def.chunk = 1;
    tal_error err = {0};
    const tal_status st = tal_batch_create(&def, &it->batch, &err);
    free(path);
    if (st != TAL_OK) return cli_fail_with(it->args, resumes ? CLI_BAD_FILE : CLI_FAILED, &err);
    const int damaged = tal_batch_num_damaged(it->batch);
    if (damaged > 0) {
        cli_warn(it->args, "%d files of the run were damaged; they are made again.", damaged);
    }
    return CLI_OK;
}

// Fill in what is done, by this run or an earlier one.
static tal_status take_done(tracking *it, tal_error *err)
{
    const size_t row = (size_t)it->nq + FIT_NUMBERS;
    double *const results = cli_alloc((size_t)it->chunk * row, sizeof *results);
    tal_status st = TAL_OK;
    for (int c = 0; c < num_chunks(it) && st == TAL_OK; ++c) {
        st = tal_batch_read(it->batch, c, 1, results, NULL, NULL);
        for (int f = 0; f < frames_of(it, c) && st == TAL_OK; ++f) {
            take_frame(it, c * it->chunk + f, results + (size_t)f * row);
        }
        if (st == TAL_RETRY) st = TAL_OK; // not done
    }
    if (st != TAL_OK) *err = *tal_batch_error(it->batch);
    free(results);
    return st;
}

// How far each marker is from where it was seen, in all frames that were reached.
static tal_status measure_markers(tracking *it, tal_error *err)
{
    const cli_model *const model = it->model;
    const size_t n = (size_t)it->num_markers;
    tal_state *state = NULL;
    tal_status st = tal_state_create(model->system, &state, err);
    if (st == TAL_OK) st = tal_state_copy(state, model->state);
    tal_vec3 *const errors = cli_alloc(n, sizeof *errors);
    for (int f = 0; f < it->num_frames && st == TAL_OK; ++f) {
        if (it->fits[f].status == TAL_RETRY) continue; // never reached
        (void)tal_state_set_t(state, it->seen.frames.times[f]);
        (void)tal_state_set_q(state, it->q + (size_t)f * (size_t)it->nq, it->nq);
        st = tal_system_realize(model->system, state, TAL_STAGE_POSITION);
        if (st == TAL_OK) {
            st = tal_tracker_calc_marker_errors(it->trackers[0], state,
                                                it->seen.frames.points + (size_t)f * n, errors);
        }
        for (size_t k = 0; k < n && st == TAL_OK; ++k) {
            it->distances[(size_t)f * n + k] = tal_v3_norm(errors[k]);
        }
    }
    if (st != TAL_OK && state != NULL) *err = *tal_state_error(state);
    free(errors);
    tal_state_destroy(state);
    return st;
}

// Do what is not done.
static tal_status follow(tracking *it, tal_error *err)
{
    tal_threads *threads = NULL;
    tal_status st = tal_threads_create(it->num_lanes, &threads, err);
    if (st == TAL_OK) st = create_trackers(it, err);
    if (st != TAL_OK) {
        tal_threads_destroy(threads);
        return st;
    }
    const tal_executor executor = tal_threads_executor(threads);
    const int before = tal_batch_num_done(it->batch) * it->chunk;
    atomic_store(&it->done, before < it->num_frames ? before : it->num_frames);
    progress_begin(&it->told, it->args, "frames", false, (double)atomic_load(&it->done),
                   (double)it->num_frames);
    st = tal_batch_go(it->batch, follow_chunk, it, it->num_lanes, &executor);
    progress_end(&it->told, (double)atomic_load(&it->done));
    tal_threads_destroy(threads);
    if (st == TAL_OK || st == TAL_RETRY) return TAL_OK;
    *err = *tal_batch_error(it->batch);
    for (int i = 0; i < it->num_lanes; ++i) {
        const tal_error *const why = tal_tracker_error(it->trackers[i]);
        if (why->status == st) *err = *why; // it says more
    }
    return st;
}

int tracking_go(tracking *it, const char *manifest)
{
    const int chunk = cli_count(it->args, "chunk");
    it->chunk = chunk > 0 && chunk < it->num_frames ? chunk : it->num_frames;
    if (it->chunk < 1) it->chunk = 1; // there are no frames
    it->num_lanes = cli_threads(it->args);
    for (int f = 0; f < it->num_frames; ++f) {
        it->fits[f].status = TAL_RETRY;
    }
    int code = create_batch(it, manifest);
    if (code != CLI_OK) return code;
    tal_error err = {0};
    tal_status st = follow(it, &err);
    if (st == TAL_OK) st = take_done(it, &err);
    if (st == TAL_OK && it->distances != NULL) st = measure_markers(it, &err);
    return st == TAL_OK ? CLI_OK : cli_fail_with(it->args, CLI_FAILED, &err);
}

void tracking_forget(tracking *it)
{
    if (!cli_flag(it->args, "resume") || tal_batch_remove(it->batch) == TAL_OK) return;
    cli_warn(it->args, "%s.", tal_batch_error(it->batch)->message);
}

void tracking_destroy(tracking *it)
{
    for (int i = 0; i < it->num_lanes && it->trackers != NULL; ++i) {
        tal_tracker_destroy(it->trackers[i]);
    }
    free(it->trackers);
    tal_batch_destroy(it->batch);
    tal_marker_frames_destroy(&it->seen);
    free(it->q);
    free(it->fits);
    free(it->distances);
}
