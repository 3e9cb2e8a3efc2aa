// Histories, which the measures that remember samples share; and the extremes.
#include "error_internal.h"

#include "measure/measure_kinds.h"

#include <math.h>
#include <string.h>

// --- histories ---

static tal_stage later(tal_stage a, tal_stage b)
{
    return a > b ? a : b;
}

tal_var_ix tali_measure_add_history(tal_system *system, const tal_measure_site *site, size_t size,
                                    tal_calc_fn update, const void *self, tal_measure_ix operand,
                                    int orders)
{
    char name[TAL_MAX_NAME + 1];
    tal_measure_needs needs = {.stage = TAL_STAGE_TIME};
    for (int order = 0; order < orders; ++order) {
        tal_measure_needs_operand(&needs, system, operand, order);
    }
    tal_var_def var = tal_var_def_default();
    var.name = tali_measure_part(name, site, "history");
    var.size = size;
    var.invalidates = later(needs.stage, TAL_STAGE_POSITION);
    var.update = update;
    var.update_depends_on = needs.stage;
    var.context = self;
    var.update_prereqs = needs.prereqs;
    var.num_update_prereqs = needs.num_prereqs;
    return tal_system_add_var(system, site->owner, &var);
}

void tali_measure_needs_history(tal_measure_needs *needs, const tal_system *system,
                                tal_var_ix history, tal_measure_ix operand)
{
    tal_measure_needs_stage(needs, later(tal_measure_stage(system, operand, 0), TAL_STAGE_TIME));
    tal_measure_needs_prereq(needs, tal_prereq_cache(tal_var_update(system, history)));
}

tal_status tali_measure_clear_history(const tal_system *system, tal_state *state,
                                      tal_var_ix history, size_t size)
{
    void *bytes = tal_var_upd(system, state, history);
    if (bytes == NULL) return tal_contract_last()->status;
    memset(bytes, 0, size);
    return TAL_OK;
}

const double *tali_measure_sample_operand(const tal_system *system, tal_state *state,
                                          tal_measure_ix measure, tal_measure_ix operand, int order)
{
    const double *values = tal_measure_derivatives(system, state, operand, order);
    const int n = tal_measure_size(system, operand);
    for (int i = 0; values != NULL && i < n; ++i) {
        if (isfinite(values[i])) continue;
        (void)tal_state_fail(state, TAL_ERR_NOT_FINITE,
                             "measure '%s' cannot sample '%s': component %d is %g at t = %g",
                             tal_measure_name(system, measure), tal_measure_name(system, operand),
                             i, values[i], tal_state_t(state));
        return NULL;
    }
    return values;
}

// --- extremes ---

typedef struct extreme {
    tal_measure_ix me, operand;
    tal_extreme which;
    int n;
    tal_var_ix history;
} extreme;

// The history is 1 + 2 n doubles: whether there is a sample, the extremes, their times.
static size_t extreme_size(int n)
{
    return (1 + 2 * (size_t)n) * sizeof(double);
}

static bool beats(tal_extreme which, double f, double best)
{
    const bool smallest = which == TAL_EXTREME_MINIMUM || which == TAL_EXTREME_MINIMUM_ABS;
    return smallest ? f < best : f > best;
}

static tal_status extreme_update(const void *self, const tal_system *system, tal_state *state,
                                 void *value)
{
    const extreme *me = self;
    const bool absolute =
        me->which == TAL_EXTREME_MINIMUM_ABS || me->which == TAL_EXTREME_MAXIMUM_ABS;
    const double *stored = tal_var_value(system, state, me->history);
    double *next = value;
    memcpy(next, stored, extreme_size(me->n));
    const double *f = tali_measure_sample_operand(system, state, me->me, me->operand, 0);
    if (f == NULL) return tal_state_error(state)->status;

    next[0] = 1.0;
    for (int i = 0; i < me->n; ++i) {
        const double candidate = absolute ? fabs(f[i]) : f[i];
        if (stored[0] != 0.0 && !beats(me->which, candidate, stored[1 + i])) continue;
        next[1 + i] = candidate;
        next[1 + me->n + i] = tal_state_t(state);
    }
    return TAL_OK;
}

static tal_status extreme_declare(void *self, tal_system *system, tal_measure_site *site)
{
    extreme *me = self;
    me->me = site->measure;
    me->n = site->size;
    site->num_derivatives = 0;
    const int which = (int)me->which;
    if (which < TAL_EXTREME_MINIMUM || which > TAL_EXTREME_MAXIMUM_ABS) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE, "extreme '%s': there is no extreme %d",
                               site->name, which);
    }
    me->history = tali_measure_add_history(system, site, extreme_size(me->n), extreme_update, me,
                                           me->operand, 1);
    return TAL_OK;
}

static void extreme_needs(const void *self, const tal_system *system, int order,
                          tal_measure_needs *needs)
{
    (void)order;
    const extreme *me = self;
    tali_measure_needs_history(needs, system, me->history, me->operand);
}

static tal_status extreme_calc(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double value[])
{
    (void)order;
    const extreme *me = self;
    const double *at = tal_cache_realize(system, state, tal_var_update(system, me->history));
    if (at == NULL) return tal_state_error(state)->status;
    memcpy(value, at + 1, (size_t)n * sizeof(double));
    return TAL_OK;
}

static tal_status extreme_restart(const void *self, const tal_system *system, tal_state *state)
{
    const extreme *me = self;
    return tali_measure_clear_history(system, state, me->history, extreme_size(me->n));
}

static const tal_measure_ops extreme_ops = {
    .size = sizeof extreme_ops,
    .name = "extreme",
    .calc = extreme_calc,
    .declare = extreme_declare,
    .needs = extreme_needs,
    .restart = extreme_restart,
};

tal_measure_ix tal_measure_add_extreme(tal_system *system, tal_subsystem_ix owner, const char *name,
                                       tal_extreme which, tal_measure_ix operand)
{
    const extreme self = {.operand = operand, .which = which};
    return tali_measure_add_unary(system, owner, &extreme_ops, name, operand, &self, sizeof self);
}

double tal_measure_time_of_extreme(const tal_system *system, tal_state *state,
                                   tal_measure_ix measure, int i)
{
    const extreme *me = tal_measure_self(system, measure, &extreme_ops);
    if (me == NULL) return TALI_NAN;
    if (i < 0 || i >= me->n) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "measure '%s' has no component %d: it has %d",
                          tal_measure_name(system, measure), i, me->n);
        return TALI_NAN;
    }
    const double *at = tal_cache_realize(system, state, tal_var_update(system, me->history));
    return at != NULL ? at[1 + me->n + i] : TALI_NAN;
}

// --- facts ---

bool tali_measure_extreme_facts(const tal_measure_ops *table, const void *self,
                                tali_measure_facts *facts)
{
    if (table != &extreme_ops) return false;
    const extreme *me = self;
    facts->operands[0] = me->operand;
    facts->which = me->which;
    return true;
}
