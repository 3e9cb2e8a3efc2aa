// The time derivative of a measure: the operand's own where it offers one, else an estimate.
//
// The estimate is the slope at t of the parabola through the last sample f0, its slope fdot0, and
// f:
//
//     fdot = 2 s - fdot0,    s = (f - f0) / (t - t0)
//
// It needs a start. Two samples give a line; three give a parabola, whose slope at the last one is
//
//     fdot = s + (s - s0) h / (h + h0),    h = t - t0, and s0, h0 those of the interval before.
#include "measure/measure_kinds.h"

#include <string.h>

typedef struct differentiate {
    tal_measure_ix me, operand;
    bool exact;
    int n;
    tal_var_ix history;
} differentiate;

// How much is known at a sample.
enum {
    NO_SAMPLE,
    NO_SLOPE, // one sample: fdot is 0
    LINE,     // two samples: fdot is s0
    PARABOLA  // three or more
};

// The last sample, followed in memory by f[n] and fdot[n].
typedef struct sample {
    double known; // one of the enum
    double t;
    double h; // length of the interval that ends at t
} sample;

static const double *values_at(const sample *at)
{
    return (const double *)(at + 1);
}

static size_t sample_size(int n)
{
    return sizeof(sample) + 2 * (size_t)n * sizeof(double);
}

static double slope(const sample *last, double s, double h, double fdot0)
{
    if (last->known < LINE) return s;
    // three samples in order of time, or the other way round; else two of them may coincide
    const bool in_order = h * last->h > 0.0;
    if (last->known < PARABOLA && in_order) return s + (s - fdot0) * (h / (h + last->h));
    return 2.0 * s - fdot0;
}

// The sample that the State itself is.
static tal_status update(const void *self, const tal_system *system, tal_state *state, void *value)
{
    const differentiate *me = self;
    const sample *last = tal_var_value(system, state, me->history);
    memcpy(value, last, sample_size(me->n));
    const double *f = tali_measure_sample_operand(system, state, me->me, me->operand, 0);
    if (f == NULL) return tal_state_error(state)->status;
    const double t = tal_state_t(state);
    if (last->known > NO_SAMPLE && t == last->t) return TAL_OK;

    sample *next = value;
    double *next_f = (double *)(next + 1);
    const double *f0 = values_at(last);
    const double h = t - last->t;
    next->t = t;
    for (int i = 0; i < me->n; ++i) {
        next_f[i] = f[i];
        next_f[me->n + i] =
            last->known > NO_SAMPLE ? slope(last, (f[i] - f0[i]) / h, h, f0[me->n + i]) : 0.0;
    }
    next->h = last->known > NO_SAMPLE ? h : 0.0;
    next->known = last->known < PARABOLA ? last->known + 1.0 : PARABOLA;
    return TAL_OK;
}

static tal_status declare_estimate(void *self, tal_system *system, tal_measure_site *site)
{
    differentiate *me = self;
    me->me = site->measure;
    me->n = site->size;
    me->exact = site->num_derivatives > 0;
    site->num_derivatives = me->exact ? site->num_derivatives - 1 : 0;
    if (me->exact) return TAL_OK;
    me->history =
        tali_measure_add_history(system, site, sample_size(me->n), update, me, me->operand, 1);
    return TAL_OK;
}

static void needs(const void *self, const tal_system *system, int order, tal_measure_needs *out)
{
    const differentiate *me = self;
    if (me->exact) {
        tal_measure_needs_operand(out, system, me->operand, order + 1);
    } else {
        tali_measure_needs_history(out, system, me->history, me->operand);
    }
}

static tal_status calc_estimate(const void *self, const tal_system *system, tal_state *state,
                                int order, int n, double value[])
{
    const differentiate *me = self;
    const double *from = NULL;
    if (me->exact) {
        from = tal_measure_derivatives(system, state, me->operand, order + 1);
    } else {
        const sample *at = tal_cache_realize(system, state, tal_var_update(system, me->history));
        if (at != NULL) from = values_at(at) + n;
    }
    if (from == NULL) return tal_state_error(state)->status;
    memcpy(value, from, (size_t)n * sizeof(double));
    return TAL_OK;
}

static tal_status restart(const void *self, const tal_system *system, tal_state *state)
{
    const differentiate *me = self;
    return me->exact ? TAL_OK
                     : tali_measure_clear_history(system, state, me->history, sample_size(me->n));
}

static const tal_measure_ops differentiate_ops = {
    .size = sizeof differentiate_ops,
    .name = "differentiate",
    .calc = calc_estimate,
    .declare = declare_estimate,
    .needs = needs,
    .restart = restart,
};

tal_measure_ix tal_measure_add_differentiate(tal_system *system, tal_subsystem_ix owner,
                                             const char *name, tal_measure_ix operand)
{
    const differentiate self = {.operand = operand};
    return tali_measure_add_unary(system, owner, &differentiate_ops, name, operand, &self,
                                  sizeof self);
}

// --- facts ---

bool tali_measure_differentiate_facts(const tal_measure_ops *table, const void *self,
                                      tali_measure_facts *facts)
{
    if (table != &differentiate_ops) return false;
    const differentiate *me = self;
    facts->operands[0] = me->operand;
    return true;
}
