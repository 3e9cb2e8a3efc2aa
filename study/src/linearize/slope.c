// Slopes by extrapolated differences, with their errors.
#include "array_internal.h"

#include "linearize/slope_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A jump below this part of the slope, or this many times its error, is none.
static const double SMALL_JUMP = 1e-4, JUMP_ERRORS = 16.0;

// Slopes this near to the truth need no other step; what is left is their error squared or better.
static const double GOOD = 1e-8;

// As a check, steps that much shorter than the usual one, how near their slopes must be, and how
// much round-off they may show: more by as much as they are shorter. A force may reach over
// micrometers, or over atoms.
static const struct {
    double share, agrees;
} probes[] = {{0x1p-13, 1e-3}, {0x1p-30, 0.1}};

static const double PROBE_ROUNDOFF = 256.0;

// A step is at least this share of what it is added to: round-off leaves ten digits of it.
static const double LEAST_SHARE = 1e-6;

// Steps of the walk, shortest first: H 4^-20 to H 4^10, as 1e-14 to 1e4 of a unit of motion.
enum {
    SHORTEST = -20,
    LONGEST = 10,
    PATIENCE = 4 // steps without a better slope, which is a factor of 256
};

void tali_slope_list_room(tali_slope *slope, size_t n, tali_piece pieces[TALI_SLOPE_PIECES])
{
    const size_t bytes = n * sizeof(double);
    int count = 0;
    pieces[count++] = (tali_piece){&slope->plus, bytes};
    pieces[count++] = (tali_piece){&slope->minus, bytes};
    pieces[count++] = (tali_piece){&slope->jump, bytes};
    pieces[count++] = (tali_piece){&slope->patience, n * sizeof(int)};
    for (int k = 0; k < TALI_SLOPE_STEPS; ++k) {
        pieces[count++] = (tali_piece){&slope->D[k], bytes};
        pieces[count++] = (tali_piece){&slope->S[k], bytes};
    }
}

static int first_of(const tali_slope *it, int range)
{
    return range == 0 ? 0 : it->ends[range - 1];
}

// --- one extrapolation ---

static tal_status values_at(tali_slope *it, double x[], int i, double h, double values[])
{
    x[i] = h;
    const tal_status st = it->calc(it->context, x, values);
    x[i] = 0.0;
    return st;
}

// D = (f(h) - f(-h)) / 2h and S = (f(h) - 2 f(0) + f(-h)) / 2h. False in `seen` when nothing has
// changed.
static tal_status difference(tali_slope *it, double x[], int i, double h, int at, bool *seen)
{
    tal_status st = values_at(it, x, i, h, it->plus);
    if (st == TAL_OK) st = values_at(it, x, i, -h, it->minus);
    *seen = false;
    for (int k = 0; k < it->n; ++k) {
        it->D[at][k] = (it->plus[k] - it->minus[k]) / (2.0 * h);
        it->S[at][k] = (it->plus[k] - it->here[k] + (it->minus[k] - it->here[k])) / (2.0 * h);
        *seen = *seen || it->plus[k] != it->minus[k];
    }
    return st;
}

// Round-off of the values, which neighbors share that are solved for together, and of x.
static void find_floor(tali_slope *it, double h, double size)
{
    for (int range = 0; range < it->num_ranges; ++range) {
        const int first = first_of(it, range), end = it->ends[range];
        const double values = fmax(tali_array_largest(it->plus + first, end - first),
                                   tali_array_largest(it->here + first, end - first));
        const double slopes = tali_array_largest(it->D[TALI_SLOPE_STEPS - 1] + first, end - first);
        it->floor[range] = DBL_EPSILON * (values + slopes * size) / h;
    }
}

// Richardson's extrapolation of differences with steps h, h / ratio, h / ratio^2, whose errors go
// with h^2, h^4, ... The error is what the last but one still changed; or less, by as much as the
// changes became smaller before: then the rest of the series does, too.
static double extrapolate(const double D[TALI_SLOPE_STEPS], double ratio, double *error)
{
    const double square = ratio * ratio;
    const double first = 1.0 / (square - 1.0), second = 1.0 / (square * square - 1.0);
    const double a = D[1] + first * (D[1] - D[0]);
    const double b = D[2] + first * (D[2] - D[1]);
    const double before = fabs(D[2] - D[1]), last = fabs(b - a);
    const double gain = last < before ? fmax(last / before, 0.01) : 1.0;
    *error = gain * last;
    return b + second * (b - a);
}

// Half the difference of the slopes on both sides: S less what goes with h and h^3.
static double find_jump(const double S[TALI_SLOPE_STEPS], double ratio)
{
    const double cube = ratio * ratio * ratio;
    const double a = (ratio * S[1] - S[0]) / (ratio - 1.0);
    const double b = (ratio * S[2] - S[1]) / (ratio - 1.0);
    return fabs((cube * b - a) / (cube - 1.0));
}

// Value k from the differences at hand, its error, and its jump where that is not round-off.
static double slope_of(const tali_slope *it, int k, double floor, double ratio, double *error,
                       double *jump)
{
    const double D[] = {it->D[0][k], it->D[1][k], it->D[2][k]};
    const double S[] = {it->S[0][k], it->S[1][k], it->S[2][k]};
    const double found = extrapolate(D, ratio, error);
    *error += floor;
    *jump = find_jump(S, ratio);
    if (*jump <= SMALL_JUMP * fabs(found) + JUMP_ERRORS * *error) *jump = 0.0;
    return found;
}

// --- the usual step ---

// Whether a much shorter step sees these slopes, too; to one side, which a jump does not survive.
static bool probe_agrees(tali_slope *it, double x[], int i, double H, int probe,
                         const double slope[])
{
    const double share = probes[probe].share, step = share * H;
    if (values_at(it, x, i, step, it->plus) != TAL_OK) return false;
    for (int range = 0; range < it->num_ranges; ++range) {
        const double roundoff = PROBE_ROUNDOFF * it->floor[range] / share;
        for (int k = first_of(it, range); k < it->ends[range]; ++k) {
            const double seen = (it->plus[k] - it->here[k]) / step;
            const double bend = 2.0 * share * fabs(it->S[0][k]);
            const double allowed = probes[probe].agrees * fabs(slope[k]) + bend + roundoff;
            if (!(fabs(seen - slope[k]) <= allowed)) return false;
        }
    }
    return true;
}

// Steps H, H / 2, H / 4. False when they do not suit.
static bool try_usual(tali_slope *it, double x[], int i, double H, double size, double slope[],
                      double error[])
{
    bool seen;
    for (int at = 0; at < TALI_SLOPE_STEPS; ++at) {
        if (difference(it, x, i, ldexp(H, -at), at, &seen) != TAL_OK) return false;
    }
    find_floor(it, ldexp(H, 1 - TALI_SLOPE_STEPS), size);
    for (int range = 0; range < it->num_ranges; ++range) {
        const double floor = 4.0 * it->floor[range];
        for (int k = first_of(it, range); k < it->ends[range]; ++k) {
            double jump;
            slope[k] = slope_of(it, k, floor, 2.0, &error[k], &jump);
            if (!(error[k] <= GOOD * fabs(slope[k]) + 16.0 * floor) || jump > 0.0) return false;
        }
    }
    return probe_agrees(it, x, i, H, 0, slope) && probe_agrees(it, x, i, H, 1, slope);
}

// --- any step ---

// Takes what this step makes better. Returns how many values may still gain by a longer one: those
// that are not good yet and have not stopped to gain. Beyond the usual step, a value that is good
// beside others of its kind has had enough.
static int take_better(tali_slope *it, bool is_long, double slope[], double error[], bool *gained)
{
    int open = 0;
    *gained = false;
    for (int range = 0; range < it->num_ranges; ++range) {
        const int first = first_of(it, range), end = it->ends[range];
        const double most = is_long ? tali_array_largest(slope + first, end - first) : 0.0;
        for (int k = first; k < end; ++k) {
            if (it->patience[k] == 0) continue;
            double err, jump;
            const double found = slope_of(it, k, it->floor[range], 4.0, &err, &jump);
            const bool better = err < error[k];
            it->patience[k] = better ? PATIENCE : it->patience[k] - 1;
            if (better) slope[k] = found, error[k] = err, it->jump[k] = jump, *gained = true;
            if (error[k] <= 0.01 * GOOD * fmax(fabs(slope[k]), most)) it->patience[k] = 0;
            open += it->patience[k] > 0;
        }
    }
    return open;
}

// The differences of the step before move up by one place.
static void make_room(tali_slope *it)
{
    double *const D = it->D[2], *const S = it->S[2];
    it->D[2] = it->D[1], it->D[1] = it->D[0], it->D[0] = D;
    it->S[2] = it->S[1], it->S[1] = it->S[0], it->S[0] = S;
}

// Slopes from steps of all sizes, shortest first, each value from the step that suits it best.
static tal_status try_all_steps(tali_slope *it, double x[], int i, double H, double size,
                                double slope[], double error[], double *used)
{
    int taken = 0;
    for (int k = 0; k < it->n; ++k) {
        slope[k] = it->jump[k] = 0.0, error[k] = (double)INFINITY, it->patience[k] = PATIENCE;
    }
    for (int level = SHORTEST; level <= LONGEST; ++level) {
        const double h = ldexp(H, 2 * level);
        bool seen, gained;
        make_room(it);
        const tal_status st = difference(it, x, i, h, 0, &seen);
        if (st != TAL_OK && taken < TALI_SLOPE_STEPS) return st;
        if (st != TAL_OK) break;
        if (!seen && taken == 0 && level < 0) continue; // x + h is x
        if (++taken < TALI_SLOPE_STEPS) continue;
        find_floor(it, h / 16.0, size);
        const int open = take_better(it, level > 0, slope, error, &gained);
        if (gained) *used = h;
        if (open == 0) break;
    }
    for (int k = 0; k < it->n; ++k) {
        error[k] += it->jump[k]; // a slope that jumps is known to half the jump only
    }
    return TAL_OK;
}

tal_status tali_slope_along(tali_slope *it, double x[], int i, double H, double size,
                            double slope[], double error[], double *used)
{
    double local;
    if (used == NULL) used = &local;
    H = *used = fmax(H, LEAST_SHARE * size);
    if (try_usual(it, x, i, H, size, slope, error)) return TAL_OK;
    return try_all_steps(it, x, i, H, size, slope, error, used);
}
