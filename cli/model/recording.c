// Rows at given times, or at steps; checkpoints between steps.
//
// A checkpoint is taken where nothing within the last step is wanted any more: what follows depends
// on the State, the method and the rows so far alone, so that a run that is resumed takes the same
// steps and gives the same bytes.
#include "model/recording.h"

#include "model/run_save.h"
#include "table/result.h"
#include "text/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- rows ---

// A row at `shown`.
static tal_status read_row(const recording *it)
{
    cli_run *const run = it->run;
    const tal_status st = columns_read(it->columns, run->model, run->shown, it->row);
    if (st != TAL_OK) run->error = *tal_state_error(run->shown);
    return st;
}

static tal_status put_row(const recording *it, const double row[])
{
    const tal_status st = tal_table_add_row(it->table, row);
    if (st == TAL_OK) return st;
    it->run->error = (tal_error){st, "put_row", "no memory for a row of the table"};
    return st;
}

static bool goes_on(const cli_run *run, tal_status st)
{
    return st == TAL_OK && !run->was_stopped && !run->has_ended;
}

// --- checkpoints ---

static void save_rows(const recording *it, cli_bytes *to)
{
    const int n = tal_table_num_rows(it->table), width = it->columns->num;
    bytes_add(to, &n, sizeof n);
    for (int r = 0; r < n; ++r) {
        for (int c = 0; c < width; ++c) {
            const double value = tal_table_value(it->table, r, c);
            bytes_add(to, &value, sizeof value);
        }
    }
    thinning_save(&it->kept, to);
    bytes_add(to, &it->step, sizeof it->step);
}

static tal_status load_rows(recording *it, checkpoint_reader *from)
{
    int n = 0;
    checkpoint_take(from, &n, sizeof n);
    for (int r = 0; r < n && !from->is_short; ++r) {
        checkpoint_take(from, it->row, (size_t)it->columns->num * sizeof *it->row);
        if (put_row(it, it->row) != TAL_OK) return TAL_ERR_NO_MEMORY;
    }
    thinning_load(&it->kept, from);
    checkpoint_take(from, &it->step, sizeof it->step);
    return from->is_short ? TAL_ERR_FILE : TAL_OK;
}

static void save(recording *it)
{
    cli_bytes all = {0};
    save_rows(it, &all);
    if (it->run->diary != NULL) touches_save(it->run->diary, &all);
    const tal_status st = cli_run_save(it->run, &all);
    if (st == TAL_OK) {
        checkpoint_save(&it->save, it->args, &all);
    } else {
        it->save.cannot = true;
        cli_warn(it->args,
                 "this method remembers several steps and cannot continue from a file: a run "
                 "that is interrupted begins again.");
    }
    free(all.data);
}

// What the run calls between steps.
static void rest(void *context)
{
    recording *const it = context;
    const bool is_last = it->run->was_stopped && it->save.path != NULL && !it->save.cannot;
    if (is_last || checkpoint_is_due(&it->save)) save(it);
}

// Go on from what was kept; an exit code.
static int resume(recording *it)
{
    checkpoint_reader from = checkpoint_read(&it->save);
    tal_status st = load_rows(it, &from);
    if (st == TAL_OK && it->run->diary != NULL) st = touches_resume(it->run->diary, &from);
    if (st == TAL_OK) st = cli_run_resume(it->run, &from);
    if (st != TAL_OK) {
        return cli_fail(it->args, CLI_BAD_FILE,
                        "'%s' does not fit this run (%s): remove it to begin again.", it->save.path,
                        tal_status_text(st));
    }
    it->goes_on = true;
    return CLI_OK;
}

int recording_begin(recording *it, const cli_args *args, cli_run *run, const cli_columns *columns,
                    tal_table *table)
{
    *it = (recording){.args = args, .run = run, .columns = columns, .table = table};
    it->stop = args->only_rows > 0 ? args->only_time : (double)INFINITY;
    it->row = cli_alloc((size_t)columns->num, sizeof *it->row);
    thinning_begin(&it->kept, columns->num);
    char *const manifest = result_manifest(args, table);
    int code = checkpoint_begin(&it->save, args, manifest);
    free(manifest);
    if (code == CLI_OK && it->save.found.size > 0) code = resume(it);
    run->rest = it->save.path != NULL ? rest : NULL;
    run->rest_context = it;
    return code;
}

void recording_end(recording *it, bool done)
{
    if (it->run != NULL) it->run->rest = NULL;
    checkpoint_end(&it->save, done);
    thinning_destroy(&it->kept);
    free(it->row);
    *it = (recording){0};
}

// --- at given times ---

static double time_of(const schedule *s, int k)
{
    return k == s->num - 1 ? s->end : s->start + k * s->every;
}

static tal_status record_times(const recording *it, const schedule *s, int num)
{
    tal_status st = TAL_OK;
    for (int k = tal_table_num_rows(it->table); k < num && goes_on(it->run, st); ++k) {
        st = cli_run_go(it->run, time_of(s, k));
        tal_status added = read_row(it);
        if (added == TAL_OK) added = put_row(it, it->row);
        if (st == TAL_OK) st = added;
    }
    return st;
}

// --- at steps ---

// The rows within a step that began at `before`, and its end.
static tal_status keep_step(recording *it, double before)
{
    cli_run *const run = it->run;
    const double end = tal_state_t(run->state);
    tal_status st = TAL_OK;
    for (int part = 1; part < THINNING_PARTS && st == TAL_OK && !run->had_event; ++part) {
        const long number = (it->step - 1) * THINNING_PARTS + part;
        if (!thinning_wants(&it->kept, number)) continue;
        st = cli_run_look(run, before + (end - before) * part / THINNING_PARTS);
        if (st == TAL_OK) st = read_row(it);
        if (st == TAL_OK) thinning_add(&it->kept, number, it->row);
    }
    (void)tal_state_copy(run->shown, run->state);
    if (st == TAL_OK && thinning_wants(&it->kept, it->step * THINNING_PARTS)) {
        st = read_row(it);
        if (st == TAL_OK) thinning_add(&it->kept, it->step * THINNING_PARTS, it->row);
    }
    return st;
}

static tal_status put_kept_rows(const recording *it)
{
    tal_status st = TAL_OK;
    for (int r = 0; r < it->kept.num && st == TAL_OK; ++r) {
        st = put_row(it, it->kept.rows + (size_t)r * (size_t)it->kept.width);
    }
    return st;
}

// Is the end of the run among the rows?
static bool has_end(const recording *it)
{
    if (it->kept.num == 0) return false;
    const double *const last = it->kept.rows + (size_t)(it->kept.num - 1) * (size_t)it->kept.width;
    return last[0] == tal_state_t(it->run->shown);
}

static tal_status begin_steps(recording *it)
{
    tal_status st = cli_run_step(it->run);
    if (st == TAL_OK) st = read_row(it);
    if (st == TAL_OK) thinning_add(&it->kept, 0, it->row);
    return st;
}

static tal_status record_steps(recording *it, double end)
{
    cli_run *const run = it->run;
    tal_status st = it->goes_on ? TAL_OK : begin_steps(it);
    while (goes_on(run, st) && tal_state_t(run->state) < fmin(end, it->stop)) {
        const double before = tal_state_t(run->state);
        ++it->step;
        st = cli_run_step(run);
        if (st == TAL_OK && tal_state_t(run->state) > before) st = keep_step(it, before);
        thinning_count(&it->kept, it->step);
        if (st == TAL_OK && run->rest != NULL && !run->is_over) run->rest(run->rest_context);
    }
    tal_status put = put_kept_rows(it);
    if (put == TAL_OK && !has_end(it)) {
        put = read_row(it);
        if (put == TAL_OK) put = put_row(it, it->row);
    }
    return st == TAL_OK ? put : st;
}

tal_status recording_go(recording *it, const schedule *s, int num)
{
    return s->every > 0.0 ? record_times(it, s, num) : record_steps(it, s->end);
}
