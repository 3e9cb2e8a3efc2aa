// Coordinates and their rates from the rows of a table.
#include "rates.h"

#include "angles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    const bool turns = cli_is_angle(it->model, it->state, body, i);
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
        // tables of a few digits are a little off; a larger error means that it is not a quaternion
        if (!(fabs(length - 1.0) < 0.01)) {
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
        const bool has_quaternion = cli_is_of_quaternion(it->model, it->state, body, 0);
        if (has_quaternion) code = mend_quaternion(it, body);
    }
    return code;
}

// --- smoothing ---

// One pass of Butterworth's low-pass of order 2 from the bilinear transform; w = tan(pi cutoff /
// rate).
static void pass(double y[], int n, double w)
{
    const double a0 = w * w / (1.0 + sqrt(2.0) * w + w * w);
    const double b1 = 2.0 * a0 * (1.0 / (w * w) - 1.0), b2 = 1.0 - 4.0 * a0 - b1;
    double x1 = y[0], x2 = y[0], y1 = y[0],
           y2 = y[0]; // as if the first value had been constant before
    for (int i = 0; i < n; ++i) {
        const double x = y[i];
        y[i] = a0 * (x + 2.0 * x1 + x2) + b1 * y1 + b2 * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y[i];
    }
}

static void reverse(double y[], int n)
{
    for (int i = 0; i < n / 2; ++i) {
        const double other = y[n - 1 - i];
        y[n - 1 - i] = y[i];
        y[i] = other;
    }
}

// Butterworth's low-pass of order 2, forward and backward, so that nothing is delayed.
static void smooth_values(double y[], int n, double cutoff, double rate)
{
    // two passes halve the power at the cutoff if each pass has a slightly higher one
    const double w = tan(TAL_PI * cutoff / sqrt(sqrt(sqrt(2.0) - 1.0)) / rate);
    // the values are continued beyond both ends, rotated about them, for as long as the filter
    // remembers
    const double memory = ceil(2.0 * rate / cutoff);
    const int more = memory < n - 1 ? (int)memory : n - 1;
    double *const longer = cli_alloc((size_t)n + 2 * (size_t)more, sizeof *longer);
    for (int i = 0; i < more; ++i) {
        longer[i] = 2.0 * y[0] - y[more - i];
        longer[more + n + i] = 2.0 * y[n - 1] - y[n - 2 - i];
    }
    memcpy(longer + more, y, (size_t)n * sizeof *y);
    for (int k = 0; k < 2; ++k) {
        pass(longer, n + 2 * more, w);
        reverse(longer, n + 2 * more);
    }
    memcpy(y, longer + more, (size_t)n * sizeof *y);
    free(longer);
}

static int smooth(rows *it, double cutoff)
{
    const double span = it->times[it->num - 1] - it->times[0];
    const double rate = (it->num - 1) / span;
    for (int r = 1; r < it->num; ++r) {
        if (fabs((it->times[r] - it->times[r - 1]) * rate - 1.0) < 0.01) continue;
        return cli_fail(it->args, CLI_BAD_FILE,
                        "%s: --cutoff needs rows at equal time intervals; at t = %g they are not.",
                        it->path, it->times[r]);
    }
    if (!(cutoff < 0.4 * rate)) {
        return cli_fail(it->args, CLI_USAGE,
                        "--cutoff %g Hz is too high for %g rows per second; choose less than %g.",
                        cutoff, rate, 0.4 * rate);
    }
    for (int slot = 0; slot < it->nq; ++slot) {
        if (it->is_there[slot]) smooth_values(values_of(it, slot), it->num, cutoff, rate);
    }
    return CLI_OK;
}

// --- differentiating ---

enum {
    // rows that a derivative is made of: errors of order 8 amid the rows, 7 at their ends
    WINDOW = 9
};

// The weights of a value at x[j] that comes in, from those of the value before it.
static void add_value(const double x[], int j, double ratio, double w[3][WINDOW])
{
    const int k = j - 1;
    for (int m = 2; m > 0; --m) {
        w[m][j] = ratio * (m * w[m - 1][k] - x[k] * w[m][k]);
    }
    w[0][j] = -ratio * x[k] * w[0][k];
}

// The weights of the value at x[k] once that at x[j] has come in.
static void renew_weights(const double x[], int j, int k, double w[3][WINDOW])
{
    const double gap = x[j] - x[k];
    for (int m = 2; m > 0; --m) {
        w[m][k] = (x[j] * w[m][k] - m * w[m - 1][k]) / gap;
    }
    w[0][k] *= x[j] / gap;
}

// Weights of the values at x[0..n-1] in the first and second derivative, at 0, of the polynomial
// through them (Fornberg, Math. Comp. 51 (1988), pp. 699-706).
static void find_weights(const double x[], int n, double first[], double second[])
{
    double w[3][WINDOW] = {{1.0}}; // by derivative, from the value itself on
    double above = 1.0;
    for (int j = 1; j < n; ++j) {
        double below = 1.0;
        for (int k = 0; k < j; ++k) {
            below *= x[j] - x[k];
        }
        add_value(x, j, above / below, w);
        for (int k = 0; k < j; ++k) {
            renew_weights(x, j, k, w);
        }
        above = below;
    }
    memcpy(first, w[1], sizeof w[1]);
    memcpy(second, w[2], sizeof w[2]);
}

// Rates of all coordinates in all rows, from polynomials through the nearest rows.
static void differentiate(const rows *it, cli_rates *out)
{
    const int n = it->num < WINDOW ? it->num : WINDOW;
    for (int r = 0; r < it->num; ++r) {
        // the nearest rows
        int begin = r - n / 2;
        if (begin > it->num - n) begin = it->num - n;
        if (begin < 0) begin = 0;
        double x[WINDOW], first[WINDOW], second[WINDOW];
        for (int k = 0; k < n; ++k) {
            x[k] = it->times[begin + k] - it->times[r];
        }
        find_weights(x, n, first, second);
        for (int slot = 0; slot < it->nq; ++slot) {
            const double *const y = values_of(it, slot) + begin;
            const size_t at = (size_t)r * (size_t)it->nq + (size_t)slot;
            out->q[at] = y[r - begin];
            // differences to the row itself: the rate of a constant is exactly zero
            for (int k = 0; k < n; ++k) {
                out->qdot[at] += first[k] * (y[k] - y[r - begin]);
                out->qdotdot[at] += second[k] * (y[k] - y[r - begin]);
            }
        }
    }
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
    const int code = read_rows(&it, cutoff);
    out->nq = nq;
    out->num = num;
    out->times = it.times;
    out->q = cli_alloc(size, sizeof *out->q);
    out->qdot = cli_alloc(size, sizeof *out->qdot);
    out->qdotdot = cli_alloc(size, sizeof *out->qdotdot);
    if (code == CLI_OK) differentiate(&it, out);
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
