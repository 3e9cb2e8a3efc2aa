// Forces of muscles at the end of a window.
#include "follow/foresight_internal.h"

#include <talus/study/tableau.h>

#include <math.h>
#include <string.h>

enum {
    MAX_STEPS = 10000,
    MAX_TRIALS = 100 // of the search for an excitation
};

static const double tolerance = 1e-9; // of a step, in units of z

// --- memory ---

tal_status tali_foresight_create(tali_foresight *it, const tal_system *system,
                                 const tal_forces *forces, const tal_force_ix muscles[], int n,
                                 tal_error *err)
{
    *it = (tali_foresight){.forces = forces, .allocator = tal_system_allocator(system), .n = n};
    const size_t count = (size_t)n, nodes = TALI_FORESIGHT_MAX_NODES;
    const tali_piece pieces[] = {
        {&it->muscles, count * sizeof *it->muscles},
        {&it->alone, count * sizeof *it->alone},
        {&it->z, count * sizeof *it->z},
        {&it->l, nodes * count * sizeof *it->l},
        {&it->ldot, nodes * count * sizeof *it->ldot},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %d muscles", n);
    if (n > 0) memcpy(it->muscles, muscles, count * sizeof *muscles);
    return TAL_OK;
}

void tali_foresight_destroy(tali_foresight *it)
{
    tali_free(&it->allocator, it->block, it->block_bytes);
    it->block = NULL;
}

// --- a window ---

tal_status tali_foresight_begin(tali_foresight *it, tal_state *state)
{
    const double *z = tal_state_z(state);
    for (int m = 0; m < it->n; ++m) {
        if (!tali_muscle_alone_of(it->forces, state, it->muscles[m], &it->alone[m])) {
            return tal_state_error(state)->status;
        }
        for (int k = 0; k < TALI_MUSCLE_NUM_Z; ++k) {
            const int slot = it->alone[m].slot[k];
            it->z[m][k] = slot >= 0 ? z[slot] : 0.0;
        }
    }
    it->num_nodes = 0;
    return TAL_OK;
}

tal_status tali_foresight_add_node(tali_foresight *it, double t, tal_state *state)
{
    double *l = it->l + (size_t)it->num_nodes * (size_t)it->n;
    double *ldot = it->ldot + (size_t)it->num_nodes * (size_t)it->n;
    for (int m = 0; m < it->n; ++m) {
        const tal_path_ix path = tal_muscle_path(it->forces, it->muscles[m]);
        l[m] = tal_path_length(it->forces, state, path);
        ldot[m] = tal_path_speed(it->forces, state, path);
        if (isfinite(l[m]) && isfinite(ldot[m])) continue;
        const tal_status st = tal_state_error(state)->status;
        return st != TAL_OK ? st : TAL_ERR_NOT_FINITE;
    }
    it->times[it->num_nodes++] = t;
    return TAL_OK;
}

void tali_foresight_put(const tali_foresight *it, int m, const double z[], tal_state *state)
{
    double *to = tal_state_upd_z(state);
    for (int k = 0; k < TALI_MUSCLE_NUM_Z; ++k) {
        const int slot = it->alone[m].slot[k];
        if (slot >= 0) to[slot] = z[k];
    }
}

// --- one muscle through the window ---

// Length and speed of its path: the cubic with the values and slopes of two nodes.
static void path_at(const tali_foresight *it, int m, double t, double *l, double *ldot)
{
    int k = 0;
    while (k < it->num_nodes - 2 && it->times[k + 1] < t) {
        ++k;
    }
    const size_t at = (size_t)k * (size_t)it->n + (size_t)m, next = at + (size_t)it->n;
    const double h = it->times[k + 1] - it->times[k], x = (t - it->times[k]) / h, y = 1.0 - x;
    const double step = it->l[next] - it->l[at];
    const double a = h * it->ldot[at] - step, b = step - h * it->ldot[next];
    *l = y * it->l[at] + x * it->l[next] + x * y * (a * y + b * x);
    *ldot = (step + (y - x) * (a * y + b * x) + x * y * (b - a)) / h;
}

typedef double z_of_muscle[TALI_MUSCLE_NUM_Z];

// One step of a tableau from z; the largest error over its unit.
static double try_step(const tali_foresight *it, int m, double x, double t, double h,
                       const z_of_muscle z, z_of_muscle to)
{
    const tal_rk_tableau *rk = tal_rk_dormand_prince();
    z_of_muscle rate[TAL_MAX_RK_STAGES];
    for (int i = 0; i < rk->stages; ++i) {
        z_of_muscle at = {z[0], z[1]};
        double l, ldot;
        for (int j = 0; j < i; ++j) {
            for (int k = 0; k < TALI_MUSCLE_NUM_Z; ++k) {
                at[k] += h * rk->a[i * rk->stages + j] * rate[j][k];
            }
        }
        path_at(it, m, t + rk->c[i] * h, &l, &ldot);
        (void)tali_muscle_alone_find(&it->alone[m], l, ldot, at, x, rate[i]);
    }
    double worst = 0.0;
    for (int k = 0; k < TALI_MUSCLE_NUM_Z; ++k) {
        double error = 0.0;
        to[k] = z[k];
        for (int i = 0; i < rk->stages && it->alone[m].slot[k] >= 0; ++i) {
            to[k] += h * rk->b[i] * rate[i][k];
            error += h * (rk->b[i] - rk->b_hat[i]) * rate[i][k];
        }
        error = fabs(error) / it->alone[m].unit[k];
        if (!(error <= worst)) worst = error; // a NaN is kept
    }
    return worst;
}

double tali_foresight_tension(const tali_foresight *it, int m, double x, double z[])
{
    const double end = it->times[it->num_nodes - 1];
    double t = it->times[0], h = end - t, l, ldot;
    z_of_muscle at = {it->z[m][0], it->z[m][1]}, to;
    for (int step = 0; t < end; ++step) {
        const bool is_last = t + 1.0001 * h >= end;
        if (is_last) h = end - t;
        const double error = try_step(it, m, x, t, h, at, to);
        const bool is_good = error <= tolerance;
        if (is_good) memcpy(at, to, sizeof at);
        if (is_good) t = is_last ? end : t + h;
        const double grow = isfinite(error) ? 0.9 * pow(tolerance / fmax(error, 1e-16), 0.2) : 0.1;
        h *= fmin(fmax(grow, 0.1), 5.0);
        if (step > MAX_STEPS) return (double)NAN;
    }
    if (z != NULL) memcpy(z, at, sizeof at);
    path_at(it, m, end, &l, &ldot);
    return tali_muscle_alone_find(&it->alone[m], l, ldot, at, x, NULL);
}

// Regula falsi where the end that stays counts half (Illinois); halving where that is slow.
double tali_foresight_excitation(const tali_foresight *it, int m, double lower, double upper,
                                 double tension)
{
    double a = lower, b = upper;
    double fa = tali_foresight_tension(it, m, a, NULL) - tension;
    double fb = tali_foresight_tension(it, m, b, NULL) - tension;
    if (!(fa < 0.0)) return a;
    if (!(fb > 0.0)) return b;
    int side = 0;
    for (int i = 0; i < MAX_TRIALS && b - a > 1e-10; ++i) {
        double x = i % 4 == 3 ? 0.5 * (a + b) : (a * fb - b * fa) / (fb - fa);
        if (!(x > a && x < b)) x = 0.5 * (a + b);
        const double f = tali_foresight_tension(it, m, x, NULL) - tension;
        if (f == 0.0) return x;
        if (f < 0.0) {
            a = x;
            fa = f;
            if (side == -1) fb *= 0.5;
            side = -1;
        } else {
            b = x;
            fb = f;
            if (side == 1) fa *= 0.5;
            side = 1;
        }
    }
    return 0.5 * (a + b);
}
