// A table in memory: chosen quantities at chosen times.
#include "alloc_internal.h"
#include "error_internal.h"

#include "integrate/integrator_internal.h"

#include <talus/study/recorder.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct recorded {
    char name[TAL_MAX_NAME + 1];
    tal_column_def def;
} recorded;

struct tal_recorder {
    const tal_system *system;
    tal_allocator allocator;
    tal_state *report; // the State quantities are computed from
    tal_stage stage;   // the highest that a column needs
    int num_columns;   // besides the time
    int max_rows, num_rows;
    recorded *columns;
    double *rows; // max_rows by 1 + num_columns
    tal_error error_record;
};

// --- creation ---

static tal_status check_columns(const tal_column_def columns[], int n, int max_rows, tal_error *err)
{
    if (n < 0 || max_rows < 0 || n == INT32_MAX) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a table cannot have %d columns and %d rows", n,
                         max_rows);
    }
    if (columns == NULL && n > 0) return TALI_FAIL(err, TAL_ERR_NULL, "'columns' is NULL");
    for (int i = 0; i < n; ++i) {
        if (columns[i].name == NULL || columns[i].calc == NULL) {
            return TALI_FAIL(err, TAL_ERR_NULL, "column %d needs a name and a function", i + 1);
        }
        if (strlen(columns[i].name) > TAL_MAX_NAME) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the name of column %d is too long", i + 1);
        }
        if (columns[i].stage < TAL_STAGE_MODEL || columns[i].stage > TAL_STAGE_REPORT) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "column '%s' needs stage %d, which is invalid",
                             columns[i].name, (int)columns[i].stage);
        }
    }
    return TAL_OK;
}

static size_t row_bytes(const tal_recorder *recorder)
{
    return (1 + (size_t)recorder->num_columns) * sizeof(double);
}

static void copy_columns(tal_recorder *recorder, const tal_column_def columns[])
{
    recorder->stage = TAL_STAGE_MODEL;
    for (int i = 0; i < recorder->num_columns; ++i) {
        recorded *it = &recorder->columns[i];
        it->def = columns[i];
        (void)snprintf(it->name, sizeof it->name, "%s", columns[i].name);
        if (it->def.stage > recorder->stage) recorder->stage = it->def.stage;
    }
}

tal_status tal_recorder_create(const tal_system *system, const tal_column_def columns[], int n,
                               int max_rows, tal_recorder **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (system == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the System is NULL");
    tal_status st = check_columns(columns, n, max_rows, err);
    if (st != TAL_OK) return st;
    tal_state *report = NULL;
    st = tal_state_create(system, &report, err);
    if (st != TAL_OK) return st;

    const tal_allocator allocator = tal_system_allocator(system);
    tal_recorder *recorder = tali_alloc(&allocator, sizeof *recorder);
    if (recorder == NULL) {
        tal_state_destroy(report);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a recorder");
    }
    recorder->system = system;
    recorder->allocator = allocator;
    recorder->report = report;
    recorder->num_columns = n;
    recorder->max_rows = max_rows;
    recorder->columns = tali_alloc(&allocator, (size_t)n * sizeof(recorded));
    recorder->rows = tali_alloc(&allocator, (size_t)max_rows * row_bytes(recorder));
    if (recorder->columns == NULL || recorder->rows == NULL) {
        tal_recorder_destroy(recorder);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a table of %d rows", max_rows);
    }
    copy_columns(recorder, columns);
    *out = recorder;
    return TAL_OK;
}

void tal_recorder_destroy(tal_recorder *recorder)
{
    if (recorder == NULL) return;
    const tal_allocator allocator = recorder->allocator;
    tal_state_destroy(recorder->report);
    tali_free(&allocator, recorder->columns, (size_t)recorder->num_columns * sizeof(recorded));
    tali_free(&allocator, recorder->rows, (size_t)recorder->max_rows * row_bytes(recorder));
    tali_free(&allocator, recorder, sizeof *recorder);
}

// --- recording ---

// Records the failure of another object.
static tal_status pass_on(tal_recorder *recorder, const tal_error *why, tal_status st)
{
    const char *message = why->status != TAL_OK ? why->message : tal_status_text(st);
    return TALI_FAIL(&recorder->error_record, st, "%s", message);
}

// A row from the private State.
static tal_status write_row(tal_recorder *recorder)
{
    tal_state *state = recorder->report;
    const tal_status st = tal_system_realize(recorder->system, state, recorder->stage);
    if (st != TAL_OK) return pass_on(recorder, tal_state_error(state), st);
    double *row = recorder->rows + (size_t)recorder->num_rows * (1 + (size_t)recorder->num_columns);
    row[0] = tal_state_t(state);
    for (int i = 0; i < recorder->num_columns; ++i) {
        const tal_column_def *def = &recorder->columns[i].def;
        row[1 + i] = def->calc(def->context, recorder->system, state);
    }
    ++recorder->num_rows;
    return TAL_OK;
}

static tal_status check_room(tal_recorder *recorder, int n)
{
    if (n <= recorder->max_rows - recorder->num_rows) return TAL_OK;
    return TALI_FAIL(&recorder->error_record, TAL_ERR_CAPACITY,
                     "%d more rows do not fit: the table has %d of %d", n, recorder->num_rows,
                     recorder->max_rows);
}

tal_status tal_recorder_add_row(tal_recorder *recorder, const tal_state *state)
{
    if (recorder == NULL) return TALI_BREACH(TAL_ERR_NULL, "the recorder is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    recorder->error_record = (tal_error){TAL_OK, "", ""};
    tal_status st = check_room(recorder, 1);
    if (st != TAL_OK) return st;
    st = tal_state_copy(recorder->report, state);
    return st == TAL_OK ? write_row(recorder)
                        : pass_on(recorder, tal_state_error(recorder->report), st);
}

static tal_status check_times(tal_recorder *recorder, const double times[], int n, double t)
{
    tal_error *err = &recorder->error_record;
    if (n < 0) return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there cannot be %d times", n);
    if (times == NULL && n > 0) return TALI_FAIL(err, TAL_ERR_NULL, "'times' is NULL");
    for (int i = 0; i < n; ++i) {
        if (!isfinite(times[i]) || times[i] < t) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "time %d is %g, which is not after %g", i,
                             times[i], t);
        }
        t = times[i];
    }
    return TAL_OK;
}

// One more step, if the integrator's max_steps allows it.
static tal_status allow_step(tal_recorder *recorder, const tal_integrator *integ, long taken)
{
    if (integ->def.max_steps == 0 || taken < integ->def.max_steps) return TAL_OK;
    return TALI_FAIL(&recorder->error_record, TAL_ERR_STEP_LIMIT,
                     "%ld steps, max_steps of the integrator, do not reach the last time", taken);
}

tal_status tal_recorder_run(tal_recorder *recorder, tal_integrator *integ, tal_state *state,
                            const double times[], int n)
{
    if (recorder == NULL) return TALI_BREACH(TAL_ERR_NULL, "the recorder is NULL");
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    recorder->error_record = (tal_error){TAL_OK, "", ""};
    tal_status st = check_times(recorder, times, n, tal_state_t(state));
    if (st == TAL_OK) st = check_room(recorder, n);
    if (st != TAL_OK) return st;

    // no step at first: it makes the State consistent
    st = tal_integrator_step(integ, state, tal_state_t(state));
    if (st != TAL_OK) return pass_on(recorder, tal_integrator_error(integ), st);
    int i = 0;
    for (; i < n && times[i] <= tal_state_t(state) && st == TAL_OK; ++i) {
        st = tal_recorder_add_row(recorder, state);
    }
    long steps = 0;
    while (i < n && st == TAL_OK) {
        if (times[i] > tal_state_t(state)) {
            st = allow_step(recorder, integ, steps++);
            if (st == TAL_OK) st = tal_integrator_step(integ, state, times[n - 1]);
        } else {
            st = tal_integrator_interpolate(integ, state, times[i++], recorder->report);
            if (st == TAL_OK) st = write_row(recorder);
        }
    }
    if (st == TAL_OK || recorder->error_record.status != TAL_OK) return st;
    return pass_on(recorder, tal_integrator_error(integ), st);
}

// --- what is in the table ---

void tal_recorder_clear(tal_recorder *recorder)
{
    if (recorder != NULL) recorder->num_rows = 0;
}

int tal_recorder_num_rows(const tal_recorder *recorder)
{
    return recorder != NULL ? recorder->num_rows : 0;
}

int tal_recorder_num_columns(const tal_recorder *recorder)
{
    return recorder != NULL ? 1 + recorder->num_columns : 0;
}

const char *tal_recorder_column_name(const tal_recorder *recorder, int column)
{
    if (column < 0 || column >= tal_recorder_num_columns(recorder)) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "column %d does not exist", column);
        return "";
    }
    return column == 0 ? "time" : recorder->columns[column - 1].name;
}

const double *tal_recorder_row(const tal_recorder *recorder, int row)
{
    if (row < 0 || row >= tal_recorder_num_rows(recorder)) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "row %d does not exist", row);
        return NULL;
    }
    return recorder->rows + (size_t)row * (1 + (size_t)recorder->num_columns);
}

double tal_recorder_value(const tal_recorder *recorder, int row, int column)
{
    if (column < 0 || column >= tal_recorder_num_columns(recorder)) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "column %d does not exist", column);
        return TALI_NAN;
    }
    const double *values = tal_recorder_row(recorder, row);
    return values != NULL ? values[column] : TALI_NAN;
}

const tal_error *tal_recorder_error(const tal_recorder *recorder)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_recorder_error", "the recorder is NULL"};
    return recorder != NULL ? &recorder->error_record : &none;
}
