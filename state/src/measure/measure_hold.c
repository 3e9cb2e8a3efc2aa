// Sample-and-hold. The samples are in a sampled variable: users of the measure read the stored
// values, which stay as they are through a step.
#include "alloc_internal.h"

#include "measure/measure_kinds.h"

#include <math.h>
#include <string.h>

typedef struct hold {
    tal_measure_ix me, operand;
    double period, t0;
    const double *initial; // only until it is declared
    tal_stage invalidates;
    int n;
    tal_var_ix stored;
} hold;

// The stored bytes are 1 + n doubles: how many sampling times are done with, and the values.
static size_t stored_size(int n)
{
    return (1 + (size_t)n) * sizeof(double);
}

tal_hold_def tal_hold_def_default(void)
{
    return (tal_hold_def){.operand = {-1}, .invalidates = TAL_STAGE_POSITION};
}

// How many of the sampling times t0, t0 + period, ... have come by t.
static double sampling_times_by(const hold *me, double t)
{
    const double tolerance = 1e-9; // periods: rounding in a sum of steps must not lose a sample
    const double passed = floor((t - me->t0) / me->period + tolerance) + 1.0;
    return passed > 0.0 ? passed : 0.0;
}

// What a step that starts here continues with.
static tal_status update(const void *self, const tal_system *system, tal_state *state, void *value)
{
    const hold *me = self;
    const double *stored = tal_var_value(system, state, me->stored);
    double *next = value;
    memcpy(next, stored, stored_size(me->n));
    const double due = sampling_times_by(me, tal_state_t(state));
    if (!(due > stored[0])) return TAL_OK;

    const double *f = tali_measure_sample_operand(system, state, me->me, me->operand, 0);
    if (f == NULL) return tal_state_error(state)->status;
    next[0] = due;
    memcpy(next + 1, f, (size_t)me->n * sizeof(double));
    return TAL_OK;
}

static tal_status check_hold(tal_system *system, const hold *me, const tal_measure_site *site)
{
    if (!(me->period > 0.0) || !isfinite(me->period)) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "hold '%s': period is %g, but must be positive and finite",
                               site->name, me->period);
    }
    if (!isfinite(me->t0)) {
        return tal_system_fail(system, TAL_ERR_NOT_FINITE, "hold '%s': t0 is %g", site->name,
                               me->t0);
    }
    const bool finite = me->initial == NULL || tali_measure_check_values(system, "hold", site->name,
                                                                         me->initial, site->size);
    return finite ? TAL_OK : TAL_ERR_NOT_FINITE;
}

// The held values are a sampled variable, whose update takes a sample when one is due.
static tal_status declare_hold(void *self, tal_system *system, tal_measure_site *site)
{
    hold *me = self;
    const tal_status st = check_hold(system, me, site);
    if (st != TAL_OK) return st;
    me->me = site->measure;
    me->n = site->size;
    site->num_derivatives = 0;

    const tal_allocator allocator = tal_system_allocator(system);
    double *initial = tali_alloc(&allocator, stored_size(me->n));
    if (initial == NULL) {
        return tal_system_fail(system, TAL_ERR_NO_MEMORY, "hold '%s': no memory", site->name);
    }
    if (me->initial != NULL) memcpy(initial + 1, me->initial, (size_t)me->n * sizeof(double));
    me->initial = NULL;

    char name[TAL_MAX_NAME + 1];
    tal_measure_needs needs = {.stage = TAL_STAGE_TIME};
    tal_measure_needs_operand(&needs, system, me->operand, 0);
    tal_var_def var = tal_var_def_default();
    var.name = tali_measure_part(name, site, "stored");
    var.size = stored_size(me->n);
    var.invalidates = me->invalidates;
    var.initial = initial;
    var.update = update;
    var.update_depends_on = needs.stage;
    var.context = me;
    var.update_prereqs = needs.prereqs;
    var.num_update_prereqs = needs.num_prereqs;
    var.sampled = true;
    me->stored = tal_system_add_var(system, site->owner, &var);
    tali_free(&allocator, initial, stored_size(me->n));
    tal_system_reserve_scratch(system, (size_t)me->n * sizeof(double));
    return TAL_OK;
}

static void needs(const void *self, const tal_system *system, int order, tal_measure_needs *out)
{
    (void)system;
    (void)order;
    const hold *me = self;
    tal_measure_needs_stage(out, me->invalidates);
    tal_measure_needs_prereq(out, tal_prereq_var(me->stored));
}

static tal_status calc_hold(const void *self, const tal_system *system, tal_state *state, int order,
                            int n, double value[])
{
    (void)order;
    const hold *me = self;
    const double *stored = tal_var_value(system, state, me->stored);
    memcpy(value, stored + 1, (size_t)n * sizeof(double));
    return TAL_OK;
}

static tal_status restart(const void *self, const tal_system *system, tal_state *state)
{
    const hold *me = self;
    double *stored = tal_var_upd(system, state, me->stored);
    if (stored == NULL) return tal_contract_last()->status;
    stored[0] = 0.0;
    return TAL_OK;
}

static const tal_measure_ops hold_ops = {
    .size = sizeof hold_ops,
    .name = "hold",
    .calc = calc_hold,
    .declare = declare_hold,
    .needs = needs,
    .restart = restart,
};

tal_measure_ix tal_measure_add_hold(tal_system *system, tal_subsystem_ix owner,
                                    const tal_hold_def *def)
{
    if (def == NULL) return tal_system_add_measure(system, owner, &hold_ops, NULL);
    const hold self = {.operand = def->operand,
                       .period = def->period,
                       .t0 = def->t0,
                       .initial = def->initial,
                       .invalidates = def->invalidates};
    return tali_measure_add_unary(system, owner, &hold_ops, def->name, def->operand, &self,
                                  sizeof self);
}

// The sample waits in scratch memory while the State is lowered: the operand's own memory may hold
// nothing after that.
static tal_status store(const hold *me, const tal_system *system, tal_state *state,
                        const double f[])
{
    const size_t mark = tal_state_scratch_mark(state);
    const size_t bytes = (size_t)me->n * sizeof(double);
    double *sample = tal_state_scratch_take(state, bytes);
    if (sample == NULL) return tal_contract_last()->status;
    memcpy(sample, f, bytes);
    double *stored = tal_var_upd(system, state, me->stored);
    if (stored != NULL) {
        stored[0] = sampling_times_by(me, tal_state_t(state));
        memcpy(stored + 1, sample, bytes);
    }
    tal_state_scratch_release(state, mark);
    return stored != NULL ? TAL_OK : tal_contract_last()->status;
}

tal_status tal_measure_sample(const tal_system *system, tal_state *state, tal_measure_ix measure)
{
    const hold *me = tal_measure_self(system, measure, &hold_ops);
    if (me == NULL) return tal_contract_last()->status;
    const double *f = tali_measure_sample_operand(system, state, measure, me->operand, 0);
    if (f != NULL) return store(me, system, state, f);
    const tal_status st = tal_state_error(state)->status;
    return st != TAL_OK ? st : tal_contract_last()->status;
}

// --- facts ---

bool tali_measure_hold_facts(const tal_measure_ops *table, const void *self,
                             tali_measure_facts *facts)
{
    if (table != &hold_ops) return false;
    const hold *me = self;
    facts->operands[0] = me->operand;
    facts->numbers[0] = me->period;
    facts->numbers[1] = me->t0;
    facts->variable = me->stored;
    facts->invalidates = me->invalidates;
    return true;
}
