// The step loop of one-step methods: trial steps, error control, failures (manual sec. 10.4).
#include "integrator_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// --- creation ---

tal_integrator_def tal_integrator_def_default(void)
{
    return (tal_integrator_def){.tableau = tal_rk_merson(), .accuracy = 1e-3};
}

static tal_status check_positive(double value, bool zero_too, const char *what, tal_error *err)
{
    if (isfinite(value) && (value > 0.0 || (zero_too && value == 0.0))) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s is %g: it must be positive and finite%s", what,
                     value, zero_too ? ", or zero for the default" : "");
}

static tal_status check_def(const tal_integrator_def *def, tal_error *err)
{
    tal_status st = tal_rk_check(def->tableau, err);
    if (st == TAL_OK) st = check_positive(def->accuracy, false, "accuracy", err);
    if (st == TAL_OK) st = check_positive(def->fixed_step, true, "fixed_step", err);
    if (st == TAL_OK) st = check_positive(def->initial_step, true, "initial_step", err);
    if (st == TAL_OK) st = check_positive(def->min_step, true, "min_step", err);
    if (st == TAL_OK) st = check_positive(def->max_step, true, "max_step", err);
    if (st == TAL_OK) {
        st = check_positive(def->constraint_tolerance, true, "constraint_tolerance", err);
    }
    if (st != TAL_OK) return st;
    if (def->max_steps < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "max_steps is %ld: it must not be negative",
                         def->max_steps);
    }
    if (def->max_step > 0.0 && def->max_step < def->min_step) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "max_step %g is below min_step %g", def->max_step,
                         def->min_step);
    }
    if (def->fixed_step == 0.0 && def->tableau->b_hat == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "tableau '%s' has no error estimate: give a fixed_step",
                         def->tableau->name);
    }
    return TAL_OK;
}

// Cuts the workspace out of one block: y0, error, weighed and the stages.
static bool take_workspace(tal_integrator *integ)
{
    const tal_system *system = integ->system;
    const int ny = tal_system_pool_capacity(system, TAL_POOL_Q) +
                   tal_system_pool_capacity(system, TAL_POOL_U) +
                   tal_system_pool_capacity(system, TAL_POOL_Z);
    const size_t one = tali_align((size_t)ny * sizeof(double));
    integ->capacity_y = ny;
    integ->block_bytes = one * (size_t)(3 + integ->def.tableau->stages);
    integ->block = tali_alloc(&integ->allocator, integ->block_bytes);
    if (integ->block == NULL) return false;
    char *bytes = integ->block;
    integ->y0 = (double *)(void *)bytes;
    integ->error = (double *)(void *)(bytes + one);
    integ->weighed = (double *)(void *)(bytes + 2 * one);
    integ->k = (double *)(void *)(bytes + 3 * one);
    return true;
}

static void find_matter(tal_integrator *integ)
{
    integ->matter = tal_system_matter(integ->system);
    if (integ->matter == NULL) return;
    const tal_subsystem_ix owner = tal_matter_subsystem(integ->matter);
    integ->q_group = tal_system_find_group(integ->system, owner, TAL_POOL_Q, "q");
    integ->u_group = tal_system_find_group(integ->system, owner, TAL_POOL_U, "u");
}

tal_status tal_integrator_create(const tal_system *system, const tal_integrator_def *def,
                                 tal_integrator **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (system == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the System is NULL");
    if (!tal_system_has_topology(system)) {
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY, "realize the topology of System '%s' first",
                         tal_system_name(system));
    }
    const tal_integrator_def chosen = def != NULL ? *def : tal_integrator_def_default();
    const tal_status st = check_def(&chosen, err);
    if (st != TAL_OK) return st;

    const tal_allocator allocator = tal_system_allocator(system);
    tal_integrator *integ = tali_alloc(&allocator, sizeof *integ);
    if (integ == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an integrator");
    integ->system = system;
    integ->allocator = allocator;
    integ->def = chosen;
    find_matter(integ);
    integ->projection = tal_project_options_default();
    integ->projection.tolerance =
        chosen.constraint_tolerance > 0.0 ? chosen.constraint_tolerance : 0.1 * chosen.accuracy;
    integ->projection.infinity_norm = chosen.infinity_norm;
    for (int i = 0; i < chosen.tableau->stages && chosen.tableau->b_hat != NULL; ++i) {
        integ->error_coefs[i] = chosen.tableau->b[i] - chosen.tableau->b_hat[i];
    }
    if (!take_workspace(integ)) {
        tali_free(&allocator, integ, sizeof *integ);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an integrator's workspace");
    }
    *out = integ;
    return TAL_OK;
}

void tal_integrator_destroy(tal_integrator *integ)
{
    if (integ == NULL) return;
    const tal_allocator allocator = integ->allocator;
    tali_free(&allocator, integ->block, integ->block_bytes);
    tali_free(&allocator, integ, sizeof *integ);
}

const tal_error *tal_integrator_error(const tal_integrator *integ)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_integrator_error", "the integrator is NULL"};
    return integ != NULL ? &integ->error_record : &none;
}

tal_integrator_stats tal_integrator_statistics(const tal_integrator *integ)
{
    if (integ != NULL) {
        tal_integrator_stats stats = integ->stats;
        stats.next_step = integ->h_next;
        return stats;
    }
    (void)TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    return (tal_integrator_stats){.steps_attempted = 0};
}

void tal_integrator_reset(tal_integrator *integ)
{
    if (integ != NULL) integ->h_next = 0.0;
}

// --- putting values into the State ---

// out = y0 + h sum coefs_j k_j, or without y0.
static void combine(const tal_integrator *integ, const double *y0, double h, const double coefs[],
                    int n, int ny, double out[])
{
    for (int i = 0; i < ny; ++i) {
        out[i] = y0 != NULL ? y0[i] : 0.0;
    }
    for (int j = 0; j < n; ++j) {
        const double weight = h * coefs[j];
        const double *k = integ->k + (size_t)j * (size_t)integ->capacity_y;
        if (weight == 0.0) continue;
        for (int i = 0; i < ny; ++i) {
            out[i] += weight * k[i];
        }
    }
}

static bool all_finite(const double values[], int n)
{
    double sum = 0.0; // a NaN or an infinity anywhere makes it NaN
    for (int i = 0; i < n; ++i) {
        sum += 0.0 * values[i];
    }
    return sum == 0.0;
}

// Names the first variable in `values`, ordered as y, that is not finite.
static tal_status name_not_finite(tal_integrator *integ, const tal_state *state,
                                  const double values[], const char *what)
{
    const int nq = tal_state_nq(state), nu = tal_state_nu(state), ny = tal_state_ny(state);
    int i = 0;
    while (i < ny - 1 && isfinite(values[i])) {
        ++i;
    }
    char name[160];
    if (i < nq) {
        int local = 0;
        const tal_group_ix group =
            tal_state_slot_owner(integ->system, state, TAL_POOL_Q, i, &local);
        const tal_subsystem_ix owner = tal_group_owner(integ->system, group);
        (void)snprintf(name, sizeof name, "coordinate %d of '%s'", local,
                       tal_subsystem_name(integ->system, owner));
    } else {
        const bool is_u = i < nq + nu;
        tali_name_variable(integ, state, is_u ? TAL_POOL_U : TAL_POOL_Z,
                           is_u ? i - nq : i - nq - nu, name, sizeof name);
    }
    return TALI_FAIL(&integ->error_record, TAL_ERR_NOT_FINITE, "%s %s is %g at t = %g", what, name,
                     values[i], tal_state_t(state));
}

// The failure of a call on the State, in the State's words.
static tal_status pass_on(tal_integrator *integ, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    const tal_error *why = tal_state_error(state);
    const char *message = why->status != TAL_OK ? why->message : tal_status_text(st);
    return TALI_FAIL(&integ->error_record, st, "%s", message);
}

// Values that are not finite never enter the State.
static tal_status put(tal_integrator *integ, tal_state *state, double t, const double y[])
{
    const int ny = tal_state_ny(state);
    if (!all_finite(y, ny)) return name_not_finite(integ, state, y, "the step to");
    const tal_status st = tal_state_set_t(state, t);
    if (st != TAL_OK) return pass_on(integ, state, st);
    memcpy(tal_state_upd_y(state), y, (size_t)ny * sizeof *y);
    return TAL_OK;
}

// --- manual sec. 10.4: stages, ends of steps ---

static tal_status normalize(const tal_integrator *integ, tal_state *state)
{
    return integ->matter != NULL ? tal_matter_normalize_quaternions(integ->matter, state) : TAL_OK;
}

// An inner stage: prescribed and relaxed, not projected.
static tal_status settle_stage(tal_integrator *integ, tal_state *state)
{
    const tal_system *system = integ->system;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = tal_system_prescribe_q(system, state, NULL);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_system_prescribe_u(system, state, NULL);
    if (st == TAL_OK) st = tal_system_relax(system, state, integ->projection.tolerance, NULL);
    return pass_on(integ, state, st);
}

// The end of a step: prescribed and projected. The part of the error that projection removes is
// taken out of `error` ({q, u, ...}, or NULL).
static tal_status project(tal_integrator *integ, tal_state *state, double error[])
{
    const tal_system *system = integ->system;
    const tal_project_options *options = &integ->projection;
    double *u_error = error != NULL ? error + tal_state_nq(state) : NULL;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = tal_system_prescribe_q(system, state, NULL);
    if (st == TAL_OK) st = normalize(integ, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_system_project_q(system, state, options, error, NULL);
    if (st == TAL_OK) st = tal_system_prescribe_u(system, state, NULL);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tal_system_project_u(system, state, options, u_error, NULL);
    return pass_on(integ, state, st);
}

static tal_status relax(tal_integrator *integ, tal_state *state)
{
    return pass_on(integ, state,
                   tal_system_relax(integ->system, state, integ->projection.tolerance, NULL));
}

// ydot into stage `i`; every number in it is finite.
static tal_status evaluate(tal_integrator *integ, tal_state *state, int i)
{
    ++integ->stats.realizations;
    const tal_status st = tal_system_realize(integ->system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return pass_on(integ, state, st);
    const int ny = tal_state_ny(state);
    const double *ydot = tal_state_ydot(state);
    if (!all_finite(ydot, ny)) return name_not_finite(integ, state, ydot, "the rate of");
    memcpy(integ->k + (size_t)i * (size_t)integ->capacity_y, ydot, (size_t)ny * sizeof *ydot);
    return TAL_OK;
}

// --- one trial step ---

// From y0 at t0, with its rates in k_0, to t1 = t0 + h. On success the State stands at t1, and
// `norm` is that of the weighted error.
static tal_status try_step(tal_integrator *integ, tal_state *state, double t0, double t1,
                           double *norm)
{
    const tal_rk_tableau *rk = integ->def.tableau;
    const int s = rk->stages, ny = tal_state_ny(state);
    const double h = t1 - t0;
    double *y = integ->error; // free until the end of the step
    tal_status st = TAL_OK;
    for (int i = 1; i < s && st == TAL_OK; ++i) {
        combine(integ, integ->y0, h, rk->a + (size_t)(i * s), i, ny, y);
        st = put(integ, state, t0 + rk->c[i] * h, y);
        if (st == TAL_OK) st = settle_stage(integ, state);
        if (st == TAL_OK) st = evaluate(integ, state, i);
    }
    if (st != TAL_OK) return st;

    combine(integ, integ->y0, h, rk->b, s, ny, y);
    st = put(integ, state, t1, y);
    if (st != TAL_OK) return st;
    combine(integ, NULL, h, integ->error_coefs, s, ny, integ->error);
    st = project(integ, state, integ->error);
    if (st != TAL_OK) return st;
    *norm = integ->def.fixed_step > 0.0 ? 0.0 : tali_error_norm(integ, state);
    return relax(integ, state);
}

// --- choosing steps ---

// The least step worth taking: what t can resolve, with some bits to spare.
static double least_step(const tal_integrator *integ, double t)
{
    const double scale = fmax(fabs(t), tal_system_time_scale(integ->system));
    return fmax(integ->def.min_step, 16.0 * DBL_EPSILON * scale);
}

// (h / t_c)^(p + 1) is about the error of a step of an embedded method of order p.
static double first_step(const tal_integrator *integ)
{
    if (integ->def.initial_step > 0.0) return integ->def.initial_step;
    const double power = 1.0 / (integ->def.tableau->embedded_order + 1.0);
    return tal_system_time_scale(integ->system) * pow(integ->def.accuracy, power);
}

static double limited(const tal_integrator *integ, double h)
{
    return integ->def.max_step > 0.0 ? fmin(h, integ->def.max_step) : h;
}

// The usual factor (HNW sec. II.4): the error goes with h^(p + 1), p the lower order.
static double step_factor(const tal_integrator *integ, double norm, bool may_grow)
{
    const double power = 1.0 / (integ->def.tableau->embedded_order + 1.0);
    const double wanted = norm > 0.0 ? 0.9 * pow(integ->def.accuracy / norm, power) : 5.0;
    return fmin(fmax(wanted, 0.1), may_grow ? 5.0 : 1.0);
}

// A failure that a smaller step may avoid.
static bool may_retry(tal_status st)
{
    return st == TAL_RETRY || st == TAL_ERR_NOT_FINITE || st == TAL_ERR_SINGULAR ||
           st == TAL_ERR_NO_CONVERGENCE;
}

// --- failures ---

static tal_status step_too_small(tal_integrator *integ, const tal_state *state, double t, double h)
{
    char name[160];
    tali_name_variable(integ, state, integ->worst.pool, integ->worst.slot, name, sizeof name);
    return TALI_FAIL(&integ->error_record, TAL_ERR_STEP_TOO_SMALL,
                     "at t = %.17g accuracy %g would need a step below %g, because of %s", t,
                     integ->def.accuracy, h, name);
}

// Puts the State back to the start of the step, as far up as it was. The story is in the
// integrator's record; what the State says about this realization adds nothing to it.
static void back_up(tal_integrator *integ, tal_state *state, double t0)
{
    const tal_error story = integ->error_record;
    tal_status st = put(integ, state, t0, integ->y0);
    if (st == TAL_OK) st = settle_stage(integ, state);
    if (st == TAL_OK) (void)!tal_system_realize(integ->system, state, TAL_STAGE_ACCELERATION);
    integ->error_record = story;
}

// A step could not be computed, or its error is too large. `*h` becomes smaller, or the failure is
// final. A step that could not be computed says nothing about how much smaller.
static tal_status refuse(tal_integrator *integ, const tal_state *state, double t0, double norm,
                         tal_status st, double *h)
{
    if (st == TAL_OK) {
        ++integ->stats.error_failures;
        *h *= step_factor(integ, norm, false);
        return *h < least_step(integ, t0) ? step_too_small(integ, state, t0, *h) : TAL_OK;
    }
    ++integ->stats.other_failures;
    *h *= 0.25;
    const bool give_up = integ->def.fixed_step > 0.0 || *h < least_step(integ, t0);
    if (!may_retry(st) || give_up) return st;
    integ->error_record = (tal_error){TAL_OK, "", ""};
    return TAL_OK;
}

// The step from t0 to t1 is taken; `h` is what was tried before t_end cut it short.
static void accept(tal_integrator *integ, double h, double taken, double norm, bool may_grow)
{
    const bool was_cut = taken < h;
    const double wanted = taken * step_factor(integ, norm, may_grow);
    // a step cut short says little about longer ones
    integ->h_next = limited(integ, was_cut && may_grow ? fmax(wanted, h) : wanted);
    if (integ->def.fixed_step > 0.0) integ->h_next = integ->def.fixed_step;
    integ->stats.last_step = taken;
    ++integ->stats.steps_taken;
}

// --- one step ---

// Begin: ydot at the start, auto-update variables, y0.
static tal_status begin(tal_integrator *integ, tal_state *state)
{
    tal_status st = evaluate(integ, state, 0);
    if (st != TAL_OK) return st;
    st = tal_system_begin_step(integ->system, state);
    if (st != TAL_OK) return pass_on(integ, state, st);
    memcpy(integ->y0, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    return TAL_OK;
}

// Where a step of about `h` ends. A remainder that is a step up to round-off is the step; so times
// add up to t_end exactly.
static double end_of_step(double t0, double h, double t_end)
{
    return t_end - t0 <= h * (1.0 + 1e-9) ? t_end : t0 + h;
}

// One more trial step, if max_steps allows it.
static tal_status spend_one(tal_integrator *integ, double t0, double t_end)
{
    if (integ->def.max_steps > 0 && integ->steps_left-- <= 0) {
        return TALI_FAIL(&integ->error_record, TAL_ERR_STEP_LIMIT,
                         "%ld steps did not reach t = %g; the run stands at t = %g",
                         integ->def.max_steps, t_end, t0);
    }
    ++integ->stats.steps_attempted;
    return TAL_OK;
}

// One accepted step that does not pass t_end. A step that is not allowed does not begin, so that a
// run can go on where it was stopped.
static tal_status step(tal_integrator *integ, tal_state *state, double t_end)
{
    const double t0 = tal_state_t(state);
    tal_status st = spend_one(integ, t0, t_end);
    if (st == TAL_OK) st = begin(integ, state);
    if (st != TAL_OK) return st;
    const bool fixed = integ->def.fixed_step > 0.0;
    if (integ->h_next == 0.0) integ->h_next = limited(integ, first_step(integ));
    double h = fixed ? integ->def.fixed_step : fmax(integ->h_next, least_step(integ, t0));
    for (bool may_grow = true; st == TAL_OK; may_grow = false) {
        const double t1 = end_of_step(t0, h, t_end);
        double norm = 0.0;
        st = try_step(integ, state, t0, t1, &norm);
        if (st == TAL_OK && norm <= integ->def.accuracy) {
            accept(integ, h, t1 - t0, norm, may_grow);
            return TAL_OK;
        }
        h = t1 - t0;
        st = refuse(integ, state, t0, norm, st, &h);
        if (st == TAL_OK) st = spend_one(integ, t0, t_end);
    }
    back_up(integ, state, t0);
    return st;
}

// As a step of length zero: prescribed, projected, relaxed.
static tal_status start_up(tal_integrator *integ, tal_state *state)
{
    const tal_status st = project(integ, state, NULL);
    return st == TAL_OK ? relax(integ, state) : st;
}

tal_status tal_integrator_step_to(tal_integrator *integ, tal_state *state, double t)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    integ->error_record = (tal_error){TAL_OK, "", ""};
    integ->steps_left = integ->def.max_steps;
    if (!isfinite(t) || t < tal_state_t(state)) {
        return TALI_FAIL(&integ->error_record, TAL_ERR_BAD_VALUE,
                         "cannot step to t = %g from t = %g", t, tal_state_t(state));
    }
    tal_status st = start_up(integ, state);
    while (st == TAL_OK && tal_state_t(state) < t) {
        st = step(integ, state, t);
    }
    if (st == TAL_OK) {
        st =
            pass_on(integ, state, tal_system_realize(integ->system, state, TAL_STAGE_ACCELERATION));
    }
    // nobody is left to try again
    if (st == TAL_RETRY) st = integ->error_record.status = TAL_ERR_CALLBACK;
    return st;
}
