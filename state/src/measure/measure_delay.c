// What a signal was a while ago, by cubic interpolation between samples of step starts.
//
// The samples are in a ring of declared capacity; the State itself counts as one more, the last:
//
//     t_0 < t_1 < ... < t_m-1 < t        and wanted is the value at  t - delay
//
// Values are read from the stored ring and the operand, so a trial State inside a step costs no
// copy of the ring: only the start of a step does that.
#include "measure/measure_kinds.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    MIN_CAPACITY = 4,
    STENCIL = 4 // samples that make a cubic
};

typedef struct delay {
    tal_measure_ix me, operand;
    double delay;
    int capacity;
    int n;
    int width; // doubles in a sample: t, f[n], and fdot[n] for Hermite
    bool hermite;
    tal_var_ix history;
} delay;

// Followed in memory by `capacity` samples of `width` doubles.
typedef struct ring {
    int32_t first; // index of the earliest sample
    int32_t count;
    int64_t lost; // 1 when there have been earlier samples
} ring;

// The samples before t, and the one at t.
typedef struct samples {
    const delay *self;
    const ring *ring;
    int stored;
    double t;
    const double *f, *fdot;
} samples;

tal_delay_def tal_delay_def_default(void)
{
    return (tal_delay_def){.operand = {-1}, .capacity = 256};
}

static size_t ring_size(const delay *me)
{
    return sizeof(ring) + (size_t)me->capacity * (size_t)me->width * sizeof(double);
}

// --- samples ---

static const double *stored_sample(const delay *me, const ring *at, int i)
{
    const size_t slot = ((size_t)at->first + (size_t)i) % (size_t)me->capacity;
    return (const double *)(at + 1) + slot * (size_t)me->width;
}

static double time_at(const samples *all, int i)
{
    return i < all->stored ? stored_sample(all->self, all->ring, i)[0] : all->t;
}

static const double *value_at(const samples *all, int i)
{
    return i < all->stored ? stored_sample(all->self, all->ring, i) + 1 : all->f;
}

static const double *slope_at(const samples *all, int i)
{
    return i < all->stored ? stored_sample(all->self, all->ring, i) + 1 + all->self->n : all->fdot;
}

// Collects the samples that matter at the State's t: later ones are of a future that was undone.
// False after a recorded failure.
static bool collect(const delay *me, const tal_system *system, tal_state *state, samples *all)
{
    const ring *at = tal_var_value(system, state, me->history);
    // the variable may have been written or loaded by other code
    if (at->first < 0 || at->first >= me->capacity || at->count < 0 || at->count > me->capacity) {
        (void)tal_state_fail(
            state, TAL_ERR_BAD_VALUE, "delay '%s': its history is damaged (sample %d, %d of %d)",
            tal_measure_name(system, me->me), (int)at->first, (int)at->count, me->capacity);
        return false;
    }
    const double *f = tali_measure_sample_operand(system, state, me->me, me->operand, 0);
    const double *fdot = f;
    if (f != NULL && me->hermite) {
        fdot = tali_measure_sample_operand(system, state, me->me, me->operand, 1);
    }
    if (fdot == NULL) return false;
    *all = (samples){me, at, at->count, tal_state_t(state), f, fdot};
    while (all->stored > 0 && time_at(all, all->stored - 1) >= all->t) {
        --all->stored;
    }
    return true;
}

// The ring with the State as its last sample.
static tal_status update(const void *self, const tal_system *system, tal_state *state, void *value)
{
    const delay *me = self;
    samples all;
    if (!collect(me, system, state, &all)) return tal_state_error(state)->status;

    memcpy(value, all.ring, ring_size(me));
    ring *next = value;
    next->count = all.stored;
    if (next->count == me->capacity) {
        next->first = (next->first + 1) % me->capacity;
        next->lost = 1;
        --next->count;
    }
    const size_t slot = ((size_t)next->first + (size_t)next->count) % (size_t)me->capacity;
    double *sample = (double *)(next + 1) + slot * (size_t)me->width;
    const size_t bytes = (size_t)me->n * sizeof(double);
    sample[0] = all.t;
    memcpy(sample + 1, all.f, bytes);
    if (me->hermite) memcpy(sample + 1 + me->n, all.fdot, bytes);
    ++next->count;
    return TAL_OK;
}

// --- interpolation ---

// The last sample at or before `wanted`, which is between the first sample and t.
static int find_interval(const samples *all, double wanted)
{
    int low = 0;
    int high = all->stored;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (time_at(all, middle) <= wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Cubic with the values and slopes of both ends, in s = (wanted - t_k) / h:
//
//     f_k + s (h d_k + s (3 df - h (2 d_k + d_k+1) + s (h (d_k + d_k+1) - 2 df))),
//     df = f_k+1 - f_k
static void interpolate_hermite(const samples *all, int k, double wanted, double value[])
{
    const double h = time_at(all, k + 1) - time_at(all, k);
    const double s = (wanted - time_at(all, k)) / h;
    const double *f0 = value_at(all, k);
    const double *f1 = value_at(all, k + 1);
    const double *d0 = slope_at(all, k);
    const double *d1 = slope_at(all, k + 1);
    for (int i = 0; i < all->self->n; ++i) {
        const double df = f1[i] - f0[i];
        const double quadratic = 3.0 * df - h * (2.0 * d0[i] + d1[i]);
        const double cubic = h * (d0[i] + d1[i]) - 2.0 * df;
        value[i] = f0[i] + s * (h * d0[i] + s * (quadratic + s * cubic));
    }
}

// Lagrange polynomial through the samples nearest to interval k, four where there are enough:
//
//     sum_i f_i prod_{j != i} (wanted - t_j) / (t_i - t_j)
static void interpolate_lagrange(const samples *all, int k, double wanted, double value[])
{
    const int total = all->stored + 1;
    const int m = total < STENCIL ? total : STENCIL;
    int first = k - 1;
    if (first > total - m) first = total - m;
    if (first < 0) first = 0;

    memset(value, 0, (size_t)all->self->n * sizeof(double));
    for (int i = first; i < first + m; ++i) {
        double weight = 1.0;
        for (int j = first; j < first + m; ++j) {
            if (j == i) continue;
            weight *= (wanted - time_at(all, j)) / (time_at(all, i) - time_at(all, j));
        }
        const double *f = value_at(all, i);
        for (int c = 0; c < all->self->n; ++c) {
            value[c] += weight * f[c];
        }
    }
}

// The value at t - delay, by Hermite's or Lagrange's cubic.
static tal_status calc_delayed(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double value[])
{
    (void)order;
    const delay *me = self;
    samples all;
    if (!collect(me, system, state, &all)) return tal_state_error(state)->status;

    const double wanted = all.t - me->delay;
    const double earliest = time_at(&all, 0);
    if (wanted < earliest && all.ring->lost != 0) {
        return tal_state_fail(state, TAL_ERR_CAPACITY,
                              "delay '%s': its %d samples reach back to t = %g, but t = %g is "
                              "wanted: raise its capacity",
                              tal_measure_name(system, me->me), me->capacity, earliest, wanted);
    }
    if (wanted <= earliest || wanted >= all.t) {
        const int end = wanted <= earliest ? 0 : all.stored;
        memcpy(value, value_at(&all, end), (size_t)n * sizeof(double));
        return TAL_OK;
    }
    const int k = find_interval(&all, wanted);
    if (me->hermite) {
        interpolate_hermite(&all, k, wanted, value);
    } else {
        interpolate_lagrange(&all, k, wanted, value);
    }
    return TAL_OK;
}

// --- declaring ---

static tal_status check_delay(tal_system *system, const delay *me, const tal_measure_site *site)
{
    if (!(me->delay >= 0.0) || !isfinite(me->delay)) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "delay '%s': delay is %g, but must be finite and not negative",
                               site->name, me->delay);
    }
    const int most = (int)(INT32_MAX / 4 / (1 + 2 * (int64_t)site->size));
    if (me->capacity < MIN_CAPACITY || me->capacity > most) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "delay '%s': capacity is %d, but must be %d to %d for %d values",
                               site->name, me->capacity, MIN_CAPACITY, most, site->size);
    }
    return TAL_OK;
}

static tal_status declare_delay(void *self, tal_system *system, tal_measure_site *site)
{
    delay *me = self;
    const tal_status st = check_delay(system, me, site);
    if (st != TAL_OK) return st;
    me->me = site->measure;
    me->n = site->size;
    // slopes that come later than the values would make the measure come too late for its users
    const tal_stage stage = tal_measure_stage(system, me->operand, 0);
    const tal_stage limit = stage > TAL_STAGE_TIME ? stage : TAL_STAGE_TIME;
    me->hermite = site->num_derivatives > 0 && tal_measure_stage(system, me->operand, 1) <= limit;
    me->width = 1 + (me->hermite ? 2 : 1) * me->n;
    site->num_derivatives = 0;
    me->history = tali_measure_add_history(system, site, ring_size(me), update, me, me->operand,
                                           me->hermite ? 2 : 1);
    return TAL_OK;
}

// Values come from the stored ring and the operand, not from the update value.
static void needs(const void *self, const tal_system *system, int order, tal_measure_needs *out)
{
    (void)order;
    const delay *me = self;
    tal_measure_needs_stage(out, TAL_STAGE_TIME);
    tal_measure_needs_operand(out, system, me->operand, 0);
    if (me->hermite) tal_measure_needs_operand(out, system, me->operand, 1);
    tal_measure_needs_prereq(out, tal_prereq_var(me->history));
}

static tal_status restart(const void *self, const tal_system *system, tal_state *state)
{
    const delay *me = self;
    return tali_measure_clear_history(system, state, me->history, ring_size(me));
}

static const tal_measure_ops delay_ops = {
    .size = sizeof delay_ops,
    .name = "delay",
    .calc = calc_delayed,
    .declare = declare_delay,
    .needs = needs,
    .restart = restart,
};

tal_measure_ix tal_measure_add_delay(tal_system *system, tal_subsystem_ix owner,
                                     const tal_delay_def *def)
{
    if (def == NULL) return tal_system_add_measure(system, owner, &delay_ops, NULL);
    const delay self = {.operand = def->operand, .delay = def->delay, .capacity = def->capacity};
    return tali_measure_add_unary(system, owner, &delay_ops, def->name, def->operand, &self,
                                  sizeof self);
}

// --- facts ---

bool tali_measure_delay_facts(const tal_measure_ops *table, const void *self,
                              tali_measure_facts *facts)
{
    if (table != &delay_ops) return false;
    const delay *me = self;
    facts->operands[0] = me->operand;
    facts->numbers[0] = me->delay;
    facts->capacity = me->capacity;
    return true;
}
