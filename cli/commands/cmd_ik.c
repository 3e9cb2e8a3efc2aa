// talus ik: coordinates that follow markers.
#include "commands/commands.h"
#include "model/tracking.h"
#include "table/columns.h"
#include "table/markers.h"
#include "table/result.h"
#include "text/report.h"
#include "text/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Look the markers up in the frames; what does not fit is printed.
static int take_frames(const cli_args *args, const tal_table *table, const tal_model *model,
                       tracking *it)
{
    const int n = model->num_markers;
    const char **const names = cli_alloc((size_t)n, sizeof *names);
    for (int i = 0; i < n; ++i) {
        names[i] = model->markers[i].name;
    }
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    const tal_status st = tal_marker_frames_create(table, names, n, NULL, &it->seen, found);
    free(names);
    if (st != TAL_OK) {
        cli_print_diagnostics(args, found);
        return cli_fail_file(args, args->files[1], st);
    }
    tal_diagnostics_destroy(found); // of what is unused, one by one
    markers_say_unused(args, table, model);
    it->num_frames = it->seen.frames.num_frames;
    it->q = cli_alloc((size_t)it->num_frames * (size_t)it->nq, sizeof *it->q);
    it->fits = cli_alloc((size_t)it->num_frames, sizeof *it->fits);
    if (cli_flag(args, "marker-errors")) {
        it->num_markers = n;
        it->distances = cli_alloc((size_t)it->num_frames * (size_t)n, sizeof *it->distances);
    }
    return CLI_OK;
}

// Nothing is known of a frame in which no marker is seen.
static bool is_empty(const tal_fit *fit)
{
    return fit->worst_marker < 0;
}

// One row for each frame that was reached: coordinates and errors.
static tal_status add_rows(const tracking *it, tal_table *table)
{
    double *const row = cli_alloc((size_t)(it->nq + 4 + it->num_markers), sizeof *row);
    tal_status st = TAL_OK;
    for (int f = 0; f < it->num_frames && st == TAL_OK; ++f) {
        const tal_fit *const fit = &it->fits[f];
        if (fit->status == TAL_RETRY) continue; // never reached
        row[0] = it->seen.frames.times[f];
        memcpy(row + 1, it->q + (size_t)f * (size_t)it->nq, (size_t)it->nq * sizeof *row);
        row[it->nq + 1] = fit->marker_rms;
        row[it->nq + 2] = fit->marker_max;
        row[it->nq + 3] = fit->error;
        for (int k = 0; k < it->num_markers; ++k) {
            row[it->nq + 4 + k] = it->distances[(size_t)f * (size_t)it->num_markers + (size_t)k];
        }
        for (int k = 1; k < it->nq + 4 + it->num_markers && is_empty(fit); ++k) {
            row[k] = (double)NAN;
        }
        st = tal_table_add_row(table, row);
    }
    free(row);
    return st;
}

// One column for each marker: "<marker>.error".
static tal_status add_marker_columns(const cli_model *model, int num_markers, tal_table *table)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < num_markers && st == TAL_OK; ++k) {
        char name[TAL_MAX_NAME + 8];
        snprintf(name, sizeof name, "%s.error", model->file.markers[k].name);
        st = result_add_column(table, name, "m");
    }
    return st;
}

// An empty table for all frames; an exit code.
static int make_table(const cli_args *args, const cli_model *model, const cli_columns *columns,
                      const tracking *it, tal_table **out)
{
    tal_table *const table = result_create(args, model);
    if (table == NULL) return CLI_FAILED;
    tal_status st = columns_name(columns, table);
    if (st == TAL_OK) st = result_add_column(table, "marker_rms", "m");
    if (st == TAL_OK) st = result_add_column(table, "marker_max", "m");
    if (st == TAL_OK) st = result_add_column(table, "constraint_error", "");
    if (st == TAL_OK) st = add_marker_columns(model, it->num_markers, table);
    if (st == TAL_OK) st = tal_table_reserve(table, it->num_frames);
    const int code =
        st == TAL_OK ? result_check_fit(args, table) : cli_fail_status(args, CLI_FAILED, st);
    if (code == CLI_OK) {
        *out = table;
    } else {
        tal_table_destroy(table);
    }
    return code;
}

// How well all frames fit.
typedef struct summary {
    double rms, max; // [m] over all markers that were seen; NaN: none was
    int worst;       // marker, -1: none
    double when;     // [s]
    int num_empty;   // frames without markers
} summary;

// The errors of all frames in a few numbers.
static summary summarize(const tracking *it, int num_markers)
{
    summary all = {(double)NAN, (double)NAN, -1, 0.0, 0};
    double sum = 0.0, count = 0.0;
    for (int f = 0; f < it->num_frames; ++f) {
        const tal_fit *const fit = &it->fits[f];
        if (fit->status == TAL_RETRY) continue; // never reached
        all.num_empty += is_empty(fit);
        if (is_empty(fit)) continue;
        int seen = 0;
        for (int k = 0; k < num_markers; ++k) {
            seen +=
                marker_is_seen(it->seen.frames.points[(size_t)f * (size_t)num_markers + (size_t)k]);
        }
        sum += fit->marker_rms * fit->marker_rms * seen;
        count += seen;
        if (fit->marker_max <= all.max) continue;
        all.max = fit->marker_max;
        all.worst = fit->worst_marker;
        all.when = it->seen.frames.times[f];
    }
    if (count > 0.0) all.rms = sqrt(sum / count);
    return all;
}

static void report_fit(const cli_args *args, const cli_model *model, const tracking *it,
                       const summary *all)
{
    const char *const name = all->worst >= 0 ? model->file.markers[all->worst].name : "none";
    if (stream_out_path(args) == NULL) {
        fprintf(stderr, "talus ik: %d frames, rms %.3g m, maximum %.3g m, marker %s at t = %g s\n",
                it->num_frames, all->rms, all->max, name, all->when);
        return;
    }
    report r;
    report_begin(&r, args);
    report_text(&r, "result", cli_text(args, "out"));
    report_count(&r, "frames", it->num_frames);
    report_count(&r, "frames without markers", all->num_empty);
    report_number(&r, "rms", all->rms, "m");
    report_number(&r, "maximum", all->max, "m");
    report_text(&r, "worst marker", name);
    report_number(&r, "at time", all->when, "s");
    report_end(&r);
}

static void warn_of_errors(const cli_args *args, const cli_model *model, const summary *all)
{
    const double MOST = 0.05; // m
    if (all->num_empty > 0) {
        cli_warn(args, "%d frames of %s have no markers; their rows are nan.", all->num_empty,
                 args->files[1]);
    }
    if (!(all->max > MOST)) return;
    cli_warn(args,
             "marker '%s' is %.3g m from where it was seen at t = %g; above 0.05 m a marker is "
             "misplaced or mislabelled, or the model does not fit.",
             model->file.markers[all->worst].name, all->max, all->when);
}

// Frames that are missing, and frames that do not fit.
static int num_bad(const tracking *it)
{
    int bad = 0;
    for (int f = 0; f < it->num_frames; ++f) {
        const bool was_reached = it->fits[f].status != TAL_RETRY;
        if (was_reached && is_empty(&it->fits[f])) continue;
        bad += it->fits[f].status != TAL_OK;
    }
    return bad;
}

static int write_result(const cli_args *args, const tracking *it, tal_table *table)
{
    const tal_status st = add_rows(it, table);
    if (st != TAL_OK) return cli_fail_status(args, CLI_FAILED, st);
    const int bad = num_bad(it);
    if (bad == 0) return result_write(args, table);
    char why[80];
    snprintf(why, sizeof why, "%d of %d frames %s", bad, it->num_frames,
             cli_is_interrupted() ? "were not reached" : "did not converge");
    (void)cli_fail(args, CLI_FAILED, "%s.", why);
    return result_write_part(args, table, why);
}

// With --resume an interrupted run writes no table: its chunks are kept.
static bool is_kept(const cli_args *args, const tracking *it)
{
    return cli_flag(args, "resume") &&
           tal_batch_num_done(it->batch) < tal_batch_num_samples(it->batch);
}

// Write what was found, and say how well it fits. An exit code.
static int tell_result(const cli_args *args, const cli_model *model, tracking *it, tal_table *table)
{
    if (is_kept(args, it)) {
        return cli_fail(args, CLI_FAILED,
                        "interrupted with %d of %d chunks done; the same command goes on.",
                        tal_batch_num_done(it->batch), tal_batch_num_samples(it->batch));
    }
    const summary all = summarize(it, model->file.num_markers);
    const int code = write_result(args, it, table);
    warn_of_errors(args, model, &all);
    const bool is_there = code == CLI_OK || code == CLI_FAILED;
    if (is_there && report_is_wanted(args)) report_fit(args, model, it, &all);
    if (is_there) tracking_forget(it);
    return code;
}

// Fit all frames, write the result, and say how well they fit.
static int follow_frames(const cli_args *args, const cli_model *model, const tal_table *frames)
{
    tracking it = {.args = args, .model = model, .nq = tal_state_nq(model->state)};
    cli_columns columns = {0};
    tal_table *table = NULL;
    int code = take_frames(args, frames, &model->file, &it);
    if (code == CLI_OK) markers_check_units(args, model, &it.seen.frames);
    if (code == CLI_OK) code = columns_choose(args, model, "q", true, &columns);
    if (code == CLI_OK) code = make_table(args, model, &columns, &it, &table);
    if (code == CLI_OK) {
        char *const manifest = result_manifest(args, table);
        code = tracking_go(&it, manifest);
        free(manifest);
    }
    if (code == CLI_OK) code = tell_result(args, model, &it, table);
    tal_table_destroy(table);
    columns_destroy(&columns);
    tracking_destroy(&it);
    return code;
}

static int run(const cli_args *args)
{
    cli_model model;
    tal_table *frames = NULL;
    int code = result_check_out(args, false);
    if (code != CLI_OK) return code;
    code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK && model.file.num_markers == 0) {
        code = cli_fail(args, CLI_BAD_FILE, "%s has no <markers>.", args->files[0]);
    }
    if (code == CLI_OK) code = result_read(args, args->files[1], &frames);
    if (code == CLI_OK) code = follow_frames(args, &model, frames);
    tal_table_destroy(frames);
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {
    {.name = "accuracy",
     .letter = 'a',
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "1e-6",
     .help = "a frame is finished when the next step is smaller than this",
     .is_setting = true},
    {.name = "chunk",
     .kind = CLI_COUNT,
     .value = "FRAMES",
     .initial = "250",
     .help =
         "length of chunks; within a chunk, each frame starts from the one before; 0: one chunk",
     .is_setting = true},
    {.name = "marker-errors",
     .kind = CLI_FLAG,
     .help = "also write the distance of each marker from its measured position [m]",
     .is_setting = true},
    {.name = "ignore-ranges",
     .kind = CLI_FLAG,
     .help = "let coordinates leave their ranges",
     .is_setting = true},
    {0}};

const cli_command cmd_ik = {
    .name = "ik",
    .group = CLI_STUDIES,
    .files = "MODEL FRAMES",
    .min_files = 2,
    .max_files = 2,
    .summary = "find coordinates that follow markers",
    .about =
        "FRAMES is a .trc file. The <markers> of the model give the place and the weight of each marker. "
        "A marker that is only in the model or only in FRAMES is left out, with a warning. The result "
        "has the coordinates of each frame and its errors.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_RESUME | CLI_THREADS | CLI_OUT | CLI_FORMAT,
    .options = options,
    .example = "talus ik mine.talus frames.trc -o found.sto",
    .example_help = "coordinates of each frame",
    .run = run};
