// Actions: events that set a variable or apply an impulse, given as data.
#include "alloc_internal.h"
#include "build_internal.h"
#include "error_internal.h"
#include "matter_facts_internal.h"

#include "event/events_internal.h"
#include "problem/study_internal.h"

#include <math.h>
#include <string.h>

enum {
    MOST_VALUES = 64 // that are set at once, so that they fit the stack
};

// --- setting a variable ---

typedef struct set_action {
    tal_run_set def; // begins with the stop; its values stand behind it
} set_action;

static tal_status set_variable(void *context, const tal_system *system, tal_state *state,
                               tal_event_cause cause, bool *terminate)
{
    (void)cause;
    (void)terminate;
    const tal_run_set *it = &((const set_action *)context)->def;
    double values[MOST_VALUES];
    const int n = tal_measure_size(system, it->measure);
    const double *from = it->from.i >= 0 ? tal_measure_values(system, state, it->from) : it->values;
    if (from == NULL) return tal_state_error(state)->status;
    memcpy(values, from, (size_t)n * sizeof *values); // not borrowed from the State
    return tal_measure_set(system, state, it->measure, values, n);
}

tal_run_set tal_run_set_default(void)
{
    const tal_run_set def = {
        .when = tal_run_stop_default(), .measure = {-1}, .from = {-1}, .values = NULL};
    return def;
}

static bool is_measure(const tal_system *system, tal_measure_ix measure)
{
    return measure.i >= 0 && measure.i < tal_system_num_measures(system);
}

// What is set is there, can be set, and gets as many finite values as it has.
static tal_status check_set(tal_system *system, const tal_run_set *def)
{
    const char *name = def->when.name != NULL ? def->when.name : "(no name)";
    const bool by_measure = def->from.i >= 0;
    if (!is_measure(system, def->measure) || (by_measure && !is_measure(system, def->from))) {
        return tal_system_fail(system, TAL_ERR_BAD_INDEX, "action '%s': there is no measure %d",
                               name, by_measure ? def->from.i : def->measure.i);
    }
    const int n = tal_measure_size(system, def->measure);
    const int given = by_measure ? tal_measure_size(system, def->from) : def->num_values;
    if (n != given || n > MOST_VALUES || (!by_measure && def->values == NULL)) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "action '%s': measure '%s' has %d values, but %d are given; %d are "
                               "the most",
                               name, tal_measure_name(system, def->measure), n, given, MOST_VALUES);
    }
    const char *kind = tal_measure_kind(system, def->measure);
    if (strcmp(kind, "variable") != 0 && strcmp(kind, "integrate") != 0) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "action '%s': measure '%s' is of kind '%s': only variables and "
                               "integrals can be set",
                               name, tal_measure_name(system, def->measure), kind);
    }
    for (int i = 0; i < n && !by_measure; ++i) {
        if (isfinite(def->values[i])) continue;
        return tal_system_fail(system, TAL_ERR_NOT_FINITE, "action '%s': value %d is %g", name, i,
                               def->values[i]);
    }
    return TAL_OK;
}

tal_event_ix tal_events_add_set(tal_events *events, const tal_run_set *def)
{
    const tal_event_ix none = {-1};
    tal_system *system = tali_events_action_begin(events, def, __func__);
    if (system == NULL || check_set(system, def) != TAL_OK) return none;
    const tal_allocator allocator = tal_system_allocator(system);
    const size_t num = def->from.i >= 0 ? 0 : (size_t)def->num_values;
    const size_t size = sizeof(set_action) + num * sizeof(double);
    set_action *it = tali_alloc(&allocator, size);
    if (it == NULL) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for an action");
        return none;
    }
    it->def = *def;
    it->def.num_values = (int)num;
    it->def.values = num > 0 ? memcpy(it + 1, def->values, num * sizeof(double)) : NULL;
    return tali_events_action_add(events, &def->when, def->period, set_variable, it, size);
}

const tal_run_set *tal_event_run_set(const tal_system *system, tal_event_ix event)
{
    const tal_happening *it = tali_event_happening(system, event);
    return it != NULL && it->handle == set_variable ? &((const set_action *)it->context)->def
                                                    : NULL;
}

// --- an impulse ---

typedef struct impulse_action {
    tal_run_impulse def; // begins with the stop
} impulse_action;

// The impulse along the speeds: J^T p, or p along one.
static tal_status calc_along_speeds(const tal_run_impulse *it, tal_state *state, double f[], int nu)
{
    memset(f, 0, (size_t)nu * sizeof *f);
    if (it->body.i < 0) {
        f[tal_body_u_start(it->matter, it->mobility.body) + it->mobility.i] = it->along;
        return TAL_OK;
    }
    const tal_mat3 R_GA = tal_body_X_GB(it->matter, state, it->in).R;
    const tal_station at = {it->body, it->p_BS};
    const tal_vec3 p_G = tal_m3_mul_v3(R_GA, it->impulse);
    return tal_matter_mul_station_JT(it->matter, state, &at, 1, &p_G, f);
}

// M du + G^T lambda = f, G du = 0: du = M^-1 f, less what the constraints take away again.
static tal_status calc_jump(const tal_matter *matter, tal_state *state, const double f[],
                            double du[], double back[], double *rows)
{
    const tal_constraint_rows all = tal_matter_constraint_rows(matter, state);
    const int m = all.mp + all.mv + all.ma, nu = tal_matter_nu(matter);
    tal_status st = tal_matter_mul_Minv(matter, state, f, du);
    if (st != TAL_OK || m == 0) return st;
    st = tal_matter_mul_G(matter, state, TAL_G, du, rows);
    if (st == TAL_OK) {
        st = tal_matter_calc_constraint_impulse(matter, state, rows, rows + m, back);
    }
    for (int i = 0; i < nu && st == TAL_OK; ++i) {
        du[i] += back[i];
    }
    return st;
}

static tal_status apply_impulse(void *context, const tal_system *system, tal_state *state,
                                tal_event_cause cause, bool *terminate)
{
    (void)cause;
    (void)terminate;
    const tal_run_impulse *it = &((const impulse_action *)context)->def;
    const int nu = tal_matter_nu(it->matter);
    const tal_constraint_rows all = tal_matter_constraint_rows(it->matter, state);
    const size_t rows = (size_t)(all.mp + all.mv + all.ma);
    const size_t mark = tal_state_scratch_mark(state);
    double *f = tal_state_scratch_take(state, (3 * (size_t)nu + 2 * rows) * sizeof *f);
    if (f == NULL) return TAL_ERR_CAPACITY;
    double *du = f + nu, *back = du + nu;
    tal_status st = calc_along_speeds(it, state, f, nu);
    if (st == TAL_OK) st = calc_jump(it->matter, state, f, du, back, back + nu);
    double *u = st == TAL_OK ? tal_state_upd_u(state) : NULL;
    if (u != NULL) u += tali_problem_u_start(system, state, it->matter);
    for (int i = 0; i < nu && u != NULL; ++i) {
        u[i] += du[i];
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_run_impulse tal_run_impulse_default(void)
{
    const tal_run_impulse def = {
        .when = tal_run_stop_default(), .body = {-1}, .mobility = {{-1}, 0}};
    return def;
}

static bool has_body(const tal_matter *matter, tal_body_ix body)
{
    return body.i >= 0 && body.i < tal_matter_num_bodies(matter);
}

static tal_status check_impulse(tal_system *system, const tal_run_impulse *def)
{
    const char *name = def->when.name != NULL ? def->when.name : "(no name)";
    if (def->matter == NULL) {
        return tal_system_fail(system, TAL_ERR_NULL, "impulse '%s': its matter is NULL", name);
    }
    const bool on_body = def->body.i >= 0;
    const tal_mobility at = def->mobility;
    const bool is_there = on_body
                              ? has_body(def->matter, def->body) && has_body(def->matter, def->in)
                              : has_body(def->matter, at.body) && at.i >= 0 &&
                                    at.i < tal_body_nu(def->matter, at.body);
    if (!is_there) {
        return tal_system_fail(system, TAL_ERR_BAD_INDEX,
                               "impulse '%s': there is no such body or mobility", name);
    }
    if (tal_v3_is_finite(def->impulse) && tal_v3_is_finite(def->p_BS) && isfinite(def->along)) {
        return TAL_OK;
    }
    return tal_system_fail(system, TAL_ERR_NOT_FINITE, "impulse '%s' is not finite", name);
}

// What a jump of all speeds takes.
static size_t scratch_for(const tal_matter *matter)
{
    size_t rows = 0;
    for (int i = 0; i < tal_matter_num_constraints(matter); ++i) {
        const tal_constraint_ops *ops =
            tali_matter_constraint_facts_of(matter, (tal_constraint_ix){i}).ops;
        rows += (size_t)(ops->mp + ops->mv + ops->ma);
    }
    return (3 * (size_t)tal_matter_nu(matter) + 2 * rows) * sizeof(double) + TAL_ALIGNMENT;
}

tal_event_ix tal_events_add_impulse(tal_events *events, const tal_run_impulse *def)
{
    const tal_event_ix none = {-1};
    tal_system *system = tali_events_action_begin(events, def, __func__);
    if (system == NULL || check_impulse(system, def) != TAL_OK) return none;
    const tal_allocator allocator = tal_system_allocator(system);
    impulse_action *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for an action");
        return none;
    }
    it->def = *def;
    tal_system_reserve_scratch(system, scratch_for(def->matter));
    return tali_events_action_add(events, &def->when, def->period, apply_impulse, it, sizeof *it);
}

const tal_run_impulse *tal_event_run_impulse(const tal_system *system, tal_event_ix event)
{
    const tal_happening *it = tali_event_happening(system, event);
    return it != NULL && it->handle == apply_impulse ? &((const impulse_action *)it->context)->def
                                                     : NULL;
}
