// Coordinates and their rates from the rows of a table.
#include "table/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Tables of a few digits are off by less: lengths of quaternions from one, intervals of time from
// each other, in shares.
static const double MOST_OFF = 0.01;

// The highest cutoff of a filter, in rows per second: beyond it too little of the signal is seen.
static const double MOST_CUTOFF = 0.4;

// Values on their way.
typedef struct rows {
    const cli_args *args;
    const cli_model *model;
    const tal_state *state;
    const tal_table *motion;
    const char *path;
    int nq, num;
    double *times;  // [num]
    double *y;      // [nq][num]
    bool *is_there; // [nq]
} rows;

static double *values_of(const rows *it, int slot)
{
    return it->y + (size_t)slot * (size_t)it->num;
}

static int name_of(const rows *it, int slot, tal_body_ix *body, int *i, char name[])
{
    *body = tal_matter_q_owner(it->model->matter, it->state, slot, i);
    const tal_status st = tal_body_coordinate_name(it->model->matter, it->state, *body, *i, name);
    return st == TAL_OK ? CLI_OK
                        : cli_fail(it->args, CLI_FAILED, "there is no coordinate %d.", slot);
}

// A tracker that gives angles between -180 and 180 degrees makes jumps that are not motion.
static void warn_of_jumps(const rows *it, const char *name, const double y[])
{
    for (int r = 1; r < it->num; ++r) {
        if (!(fabs(y[r] - y[r - 1]) > TAL_PI)) continue;
        cli_warn(it->args,
                 "%s, column '%s' jumps by %.3g degrees at t = %g; is a full turn missing?",
                 it->path, name, (y[r] - y[r - 1]) * 180.0 / TAL_PI, it->times[r]);
        return;
    }
}

// A table without any of the coordinates is the wrong table, or uses other names.
static int check_names(const rows *it)
{
    int i = -1;
    tal_body_ix body;
    char name[TAL_COORDINATE_NAME_SIZE];
    for (int slot = it->nq - 1; slot >= 0; --slot) {
        const int code = name_of(it, slot, &body, &i, name);
        if (code != CLI_OK) return code;
        if (tal_table_find_column(it->motion, name) >= 0) return CLI_OK;
    }
    return it->nq == 0 ? CLI_OK
                       : cli_fail(it->args, CLI_BAD_FILE,
                                  "%s has no coordinate of the model, no column '%s' for example.",
                                  it->path, name);
}

// One coordinate from its column, in radians; without a column it is constant.
static int read_column(rows *it, int slot)
{
    int i = -1;
    tal_body_ix body;
    char name[TAL_COORDINATE_NAME_SIZE];
    const int code = name_of(it, slot, &body, &i, name);
    if (code != CLI_OK) return code;
    const int column = tal_table_find_column(it->motion, name);
    double *const y = values_of(it, slot);
    if (column < 0) {
        cli_warn(it->args, "%s has no column '%s'; it keeps its value.", it->path, name);
        for (int r = 0; r < it->num; ++r) {
            y[r] = tal_state_q(it->state)[slot];
        }
        return CLI_OK;
    }
    const bool turns = tal_coordinate_is_angle(it->model->matter, it->state, body, i);
    const double unit = turns && tal_table_in_degrees(it->motion) ? TAL_PI / 180.0 : 1.0;
    for (int r = 0; r < it->num; ++r) {
        y[r] = unit * tal_table_value(it->motion, r, column);
        if (isfinite(y[r])) continue;
        return cli_fail(it->args, CLI_BAD_FILE, "%s, column '%s' is %g at t = %g.", it->path, name,
                        y[r], it->times[r]);
    }
    if (turns) warn_of_jumps(it, name, y);
    it->is_there[slot] = true;
    return CLI_OK;
}

// Length one, and of q and -q, which are the same orientation, the one that is nearer to the row
// before.
static int mend_quaternion(rows *it, tal_body_ix body)
{
    const int q0 = tal_body_q_start(it->model->matter, it->state, body);
    const bool *const has = it->is_there + q0;
    if (!has[0] && !has[1] && !has[2] && !has[3]) return CLI_OK;
    const char *const name = tal_body_name(it->model->matter, body);
    if (!has[0] || !has[1] || !has[2] || !has[3]) {
        return cli_fail(it->args, CLI_BAD_FILE,
                        "%s has only part of the quaternion of '%s'; all four columns are needed.",
                        it->path, name);
    }
    double *y[4], before[4] = {0.0};
    for (int k = 0; k < 4; ++k) {
        y[k] = values_of(it, q0 + k);
    }
    for (int r = 0; r < it->num; ++r) {
        const double length =
            sqrt(y[0][r] * y[0][r] + y[1][r] * y[1][r] + y[2][r] * y[2][r] + y[3][r] * y[3][r]);
        if (!(fabs(length - 1.0) < MOST_OFF)) {
            return cli_fail(it->args, CLI_BAD_FILE,
                            "%s: at t = %g the quaternion of '%s' has length %g instead of 1.",
                            it->path, it->times[r], name, length);
        }
        double along = 0.0;
        for (int k = 0; k < 4; ++k) {
            along += before[k] * y[k][r];
        }
        for (int k = 0; k < 4; ++k) {
            y[k][r] /= along < 0.0 ? -length : length;
            before[k] = y[k][r];
        }
    }
    return CLI_OK;
}

static int mend_quaternions(rows *it)
{
    const tal_matter *const matter = it->model->matter;
    int code = CLI_OK;
    for (int b = 1; b < tal_matter_num_bodies(matter) && code == CLI_OK; ++b) {
        const tal_body_ix body = {b};
        const bool has_quaternion =
            tal_coordinate_is_of_quaternion(it->model->matter, it->state, body, 0);
        if (has_quaternion) code = mend_quaternion(it, body);
    }
    return code;
}

// --- smoothing ---

// Are there equal time intervals between the rows, short enough for the cutoff?
static int check_rate(const rows *it, double cutoff, double rate)
{
    for (int r = 1; r < it->num; ++r) {
        if (fabs((it->times[r] - it->times[r - 1]) * rate - 1.0) < MOST_OFF) continue;
        return cli_fail(it->args, CLI_BAD_FILE,
                        "%s: --cutoff needs rows at equal time intervals; at t = %g they are not.",
                        it->path, it->times[r]);
    }
    if (!(cutoff < MOST_CUTOFF * rate)) {
        return cli_fail(it->args, CLI_USAGE,
                        "--cutoff %g Hz is too high for %g rows per second; choose less than %g.",
                        cutoff, rate, MOST_CUTOFF * rate);
    }
    return CLI_OK;
}

static int smooth(rows *it, double cutoff)
{
    const double rate = (it->num - 1) / (it->times[it->num - 1] - it->times[0]);
    const int code = check_rate(it, cutoff, rate);
    if (code != CLI_OK) return code;
    double *const work = cli_alloc(tal_signal_lowpass_work_size(it->num), sizeof *work);
    tal_status st = TAL_OK;
    tal_error err = {0};
    for (int slot = 0; slot < it->nq && st == TAL_OK; ++slot) {
        if (!it->is_there[slot]) continue;
        st = tal_signal_lowpass(rate, cutoff, 2, values_of(it, slot), it->num, work, &err);
    }
    free(work);
    return st == TAL_OK ? CLI_OK : cli_fail_with(it->args, CLI_FAILED, &err);
}

// --- differentiating ---

// From one coordinate after the other to one row after the other.
static void turn(const rows *it, const double by_slot[], double by_row[])
{
    for (int r = 0; r < it->num; ++r) {
        for (int slot = 0; slot < it->nq; ++slot) {
            by_row[(size_t)r * (size_t)it->nq + (size_t)slot] =
                by_slot[(size_t)slot * (size_t)it->num + (size_t)r];
        }
    }
}

// The second derivative once more, from every second row: [num / 2] of slot.
static bool differentiate_coarsely(const rows *it, int slot, double second[], double work[])
{
    const int half = (it->num + 1) / 2;
    double *const times = work, *const y = work + half, *const first = work + 2 * (ptrdiff_t)half;
    for (int r = 0; r < half; ++r) {
        times[r] = it->times[2 * r];
        y[r] = values_of(it, slot)[2 * r];
    }
    return tal_signal_differentiate(times, y, half, 1, first, second, NULL) == TAL_OK;
}

// How much of the accelerations of a coordinate changes without every second row, ends left out.
static double share_of_change(const rows *it, int slot, const double second[], double work[])
{
    const int half = (it->num + 1) / 2;
    double *const coarse = work + 3 * (ptrdiff_t)half;
    if (!differentiate_coarsely(it, slot, coarse, work)) return 0.0;
    double change = 0.0, size = 0.0;
    for (int r = 2; r < half - 2; ++r) {
        const double fine = second[(size_t)slot * (size_t)it->num + 2 * (size_t)r];
        change += (coarse[r] - fine) * (coarse[r] - fine);
        size += fine * fine;
    }
    return size > 0.0 ? sqrt(change / size) : 0.0;
}

// Accelerations that depend on which rows there are are not those of the motion.
static void warn_of_coarse_rows(const rows *it, const double second[])
{
    const double MOST = 0.1; // a tenth of the accelerations
    if (it->num < 12) return;
    double *const work = cli_alloc(4 * (size_t)it->num, sizeof *work);
    double worst = 0.0;
    int at = -1;
    for (int slot = 0; slot < it->nq; ++slot) {
        const double share = it->is_there[slot] ? share_of_change(it, slot, second, work) : 0.0;
        if (share <= worst) continue;
        worst = share;
        at = slot;
    }
    free(work);
    int i = -1;
    tal_body_ix body;
    char name[TAL_COORDINATE_NAME_SIZE];
    if (worst <= MOST || name_of(it, at, &body, &i, name) != CLI_OK) return;
    cli_warn(it->args,
             "%s: the accelerations of '%s' change by %.0f %% if every second row is left out: its "
             "rows, %.3g s apart, are too far apart for this motion, or noisy; give more rows, or "
             "smooth them by --cutoff.",
             it->path, name, fmin(100.0 * worst, 999.0),
             (it->times[it->num - 1] - it->times[0]) / (it->num - 1));
}

// Rates of all coordinates in all rows.
static int differentiate(const rows *it, cli_rates *out)
{
    const size_t size = (size_t)it->num * (size_t)it->nq;
    double *const first = cli_alloc(size, sizeof *first);
    double *const second = cli_alloc(size, sizeof *second);
    tal_error err = {0};
    const tal_status st =
        tal_signal_differentiate(it->times, it->y, it->num, it->nq, first, second, &err);
    if (st == TAL_OK) warn_of_coarse_rows(it, second);
    turn(it, it->y, out->q);
    turn(it, first, out->qdot);
    turn(it, second, out->qdotdot);
    free(first);
    free(second);
    return st == TAL_OK ? CLI_OK : cli_fail_with(it->args, CLI_FAILED, &err);
}

static int check_times(const rows *it)
{
    for (int r = 0; r < it->num; ++r) {
        if (r == 0 || it->times[r] > it->times[r - 1]) continue;
        return cli_fail(it->args, CLI_BAD_FILE, "%s has two rows at t = %.17g; remove one.",
                        it->path, it->times[r]);
    }
    return CLI_OK;
}

static int read_rows(rows *it, double cutoff)
{
    for (int r = 0; r < it->num; ++r) {
        it->times[r] = tal_table_value(it->motion, r, 0);
    }
    int code = check_times(it);
    if (code == CLI_OK) code = check_names(it);
    for (int slot = 0; slot < it->nq && code == CLI_OK; ++slot) {
        code = read_column(it, slot);
    }
    if (code == CLI_OK) code = mend_quaternions(it);
    return code == CLI_OK && cutoff > 0.0 ? smooth(it, cutoff) : code;
}

int rates_find(const cli_args *args, const cli_model *model, const tal_state *state,
               const tal_table *motion, const char *path, double cutoff, cli_rates *out)
{
    const int nq = tal_state_nq(state), num = tal_table_num_rows(motion);
    memset(out, 0, sizeof *out);
    if (num < 3 || strcmp(tal_table_column_name(motion, 0), "time") != 0) {
        return cli_fail(args, CLI_BAD_FILE,
                        "the first column of %s must be 'time', and it needs three rows or more.",
                        path);
    }
    const size_t size = (size_t)num * (size_t)nq;
    rows it = {.args = args,
               .model = model,
               .state = state,
               .motion = motion,
               .path = path,
               .nq = nq,
               .num = num,
               .times = cli_alloc((size_t)num, sizeof *it.times),
               .y = cli_alloc(size, sizeof *it.y),
               .is_there = cli_alloc((size_t)nq, sizeof *it.is_there)};
    int code = read_rows(&it, cutoff);
    out->nq = nq;
    out->num = num;
    out->times = it.times;
    out->q = cli_alloc(size, sizeof *out->q);
    out->qdot = cli_alloc(size, sizeof *out->qdot);
    out->qdotdot = cli_alloc(size, sizeof *out->qdotdot);
    if (code == CLI_OK) code = differentiate(&it, out);
    free(it.y);
    free(it.is_there);
    return code;
}

void rates_destroy(cli_rates *it)
{
    free(it->times);
    free(it->q);
    free(it->qdot);
    free(it->qdotdot);
}
