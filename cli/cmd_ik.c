// talus ik: coordinates that follow markers.
#include "columns.h"
#include "commands.h"
#include "model.h"
#include "progress.h"
#include "result.h"

#include <stdlib.h>
#include <string.h>

// What is observed, and what is found.
typedef struct tracking {
    tal_marker_frames seen;
    int num_frames, nq;
    double *q;     // [num_frames][nq]
    tal_fit *fits; // [num_frames]
} tracking;

static void tracking_destroy(tracking *it)
{
    tal_marker_frames_destroy(&it->seen);
    free(it->q);
    free(it->fits);
}

// Look the markers up in the frames; what does not fit is printed.
static int take_frames(const cli_args *args, const tal_table *table, const tal_model *model,
                       tracking *it)
{
    const int n = model->num_markers;
    const char **const names = cli_alloc((size_t)n, sizeof *names);
    for (int i = 0; i < n; ++i) {
        names[i] = model->markers[i].name;
    }
    tal_diagnostics *const found = tal_diagnostics_create(NULL);
    const tal_status st = tal_marker_frames_create(table, names, n, NULL, &it->seen, found);
    free(names);
    cli_print_diagnostics(args, found);
    if (st != TAL_OK) {
        return cli_fail(args, CLI_BAD_FILE, "%s: %s.", args->files[1], tal_status_text(st));
    }
    it->num_frames = it->seen.frames.num_frames;
    it->q = cli_alloc((size_t)it->num_frames * (size_t)it->nq, sizeof *it->q);
    it->fits = cli_alloc((size_t)it->num_frames, sizeof *it->fits);
    return CLI_OK;
}

static bool tell(void *context, int done, int total)
{
    (void)total;
    return progress_tell(context, (double)done);
}

static tal_status track(const cli_args *args, const cli_model *model, tracking *it, tal_error *err)
{
    const int lanes = cli_threads(args);
    tal_threads *threads = NULL;
    tal_tracker *tracker = NULL;
    progress told;
    tal_status st = tal_threads_create(lanes, &threads, err);
    if (st != TAL_OK) return st;
    const tal_executor executor = tal_threads_executor(threads);
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.markers = model->file.markers;
    def.assembler.num_markers = model->file.num_markers;
    def.assembler.accuracy = cli_number(args, "accuracy");
    def.chunk = cli_count(args, "chunk");
    def.lanes = lanes;
    def.executor = &executor;
    def.progress = tell;
    def.context = &told;
    progress_begin(&told, args, "frames", false, 0.0, (double)it->num_frames);
    st = tal_tracker_create(model->system, &def, &tracker, err);
    if (st == TAL_OK) {
        st = tal_tracker_run(tracker, model->state, &it->seen.frames, it->q, it->fits);
        *err = *tal_tracker_error(tracker);
    }
    progress_end(&told, (double)it->num_frames);
    tal_tracker_destroy(tracker);
    tal_threads_destroy(threads);
    return st;
}

static tal_status add_rows(const tracking *it, tal_table *table)
{
    double *const row = cli_alloc((size_t)it->nq + 4, sizeof *row);
    tal_status st = TAL_OK;
    for (int f = 0; f < it->num_frames && st == TAL_OK; ++f) {
        const tal_fit *const fit = &it->fits[f];
        if (fit->status == TAL_RETRY) continue; // never reached
        row[0] = it->seen.frames.times[f];
        memcpy(row + 1, it->q + (size_t)f * (size_t)it->nq, (size_t)it->nq * sizeof *row);
        row[it->nq + 1] = fit->marker_rms;
        row[it->nq + 2] = fit->marker_max;
        row[it->nq + 3] = fit->error;
        st = tal_table_add_row(table, row);
    }
    free(row);
    return st;
}

static int write_result(const cli_args *args, const cli_model *model, const cli_columns *columns,
                        const tracking *it)
{
    tal_table *const table = result_create(args, model);
    if (table == NULL) return CLI_FAILED;
    tal_status st = columns_name(columns, table);
    if (st == TAL_OK) st = tal_table_add_column(table, "marker_rms");
    if (st == TAL_OK) st = tal_table_add_column(table, "marker_max");
    if (st == TAL_OK) st = tal_table_add_column(table, "constraint_error");
    if (st == TAL_OK) st = add_rows(it, table);
    int bad = 0;
    for (int f = 0; f < it->num_frames; ++f) {
        bad += it->fits[f].status != TAL_OK;
    }
    int code = st == TAL_OK ? CLI_OK : cli_fail(args, CLI_FAILED, "the table cannot be made.");
    if (bad > 0) {
        char why[80];
        snprintf(why, sizeof why, "%d of %d frames %s", bad, it->num_frames,
                 cli_is_interrupted() ? "were not reached" : "are best effort");
        result_mark_incomplete(table, why);
        code = cli_fail(args, CLI_FAILED, "%s.", why);
    }
    const int written = result_write(args, table);
    tal_table_destroy(table);
    return written != CLI_OK ? written : code;
}

static int follow(const cli_args *args, const cli_model *model, const tal_table *frames)
{
    tracking it = {.nq = tal_state_nq(model->state)};
    cli_columns columns = {0};
    tal_error err = {0};
    int code = take_frames(args, frames, &model->file, &it);
    if (code == CLI_OK) {
        const tal_status st = track(args, model, &it, &err);
        if (st != TAL_OK && st != TAL_ERR_CALLBACK) code = cli_fail_with(args, CLI_FAILED, &err);
    }
    if (code == CLI_OK) code = columns_choose(args, model, "q", true, &columns);
    if (code == CLI_OK) code = write_result(args, model, &columns, &it);
    columns_destroy(&columns);
    tracking_destroy(&it);
    return code;
}

int cmd_ik(const cli_args *args)
{
    cli_model model;
    tal_table *frames = NULL;
    int code = result_check_out(args, NULL);
    if (code != CLI_OK) return code;
    code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK && model.file.num_markers == 0) {
        code = cli_fail(args, CLI_BAD_FILE, "%s has no <markers>.", args->files[0]);
    }
    if (code == CLI_OK) code = result_read(args, args->files[1], &frames);
    if (code == CLI_OK) code = follow(args, &model, frames);
    tal_table_destroy(frames);
    cli_model_destroy(&model);
    return code;
}
