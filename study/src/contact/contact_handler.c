// What is done where an element must change: impacts, then modes (manual fig. 13).
#include "contact/contacts_internal.h"

#include <math.h>

enum {
    MOST_ROUNDS = 10, // of impacts and modes, besides two for each element
    SAME_RATIOS = 3   // of intervals between impacts that pile up
};

static tal_unilateral_ix element_of(int i)
{
    return (tal_unilateral_ix){i};
}

static const char *name_of(const tal_contacts *contacts, int i)
{
    return tal_unilateral_name(contacts->matter, element_of(i));
}

// --- where the State is ---

// Onto the constraints that are enabled, by far closer than tolerances of elements: what is left
// would be taken for approach or separation.
static tal_status project(const tal_contacts *contacts, tal_state *state)
{
    const double least = fmin(contacts->def.gap_tolerance, contacts->def.speed_tolerance);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-3 * least;
    options.infinity_norm = true;
    const tal_system *system = contacts->system;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_system_project_q(system, state, &options, NULL, NULL);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    return st == TAL_OK ? tal_system_project_u(system, state, &options, NULL, NULL) : st;
}

// Elements that have run off their limits are disabled, those that are back within them enabled;
// not below their plane, where they have come from outside.
static tal_status follow_limits(const tal_contacts *contacts, tal_state *state)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < contacts->num && st == TAL_OK; ++i) {
        const tal_unilateral_ix element = element_of(i);
        if (!tal_unilateral_is_limited(contacts->matter, element)) continue;
        const bool was_in = tal_unilateral_is_enabled(contacts->matter, state, element);
        const double margin = tal_unilateral_margin(contacts->matter, state, element);
        const double half = 0.5 * tali_contacts_edge(contacts);
        bool is_in = margin > (was_in ? -half : half);
        if (is_in && !was_in &&
            tal_unilateral_level_of(contacts->matter, element) == TAL_UNILATERAL_POSITION) {
            is_in =
                tal_unilateral_gap(contacts->matter, state, element) > -contacts->def.gap_tolerance;
        }
        st = tal_unilateral_set_enabled(contacts->matter, state, element, is_in);
    }
    return st;
}

// Elements that penetrate when a run begins: nothing can be said of how they came there.
static tal_status check_start(const tal_contacts *contacts, tal_state *state)
{
    for (int i = 0; i < contacts->num; ++i) {
        const tal_unilateral_ix element = element_of(i);
        const bool is_open =
            tal_unilateral_is_enabled(contacts->matter, state, element) &&
            tal_unilateral_mode_of(contacts->matter, state, element) == TAL_UNILATERAL_OFF;
        if (!is_open ||
            tal_unilateral_level_of(contacts->matter, element) != TAL_UNILATERAL_POSITION) {
            continue;
        }
        const double gap = tal_unilateral_gap(contacts->matter, state, element);
        if (gap >= -contacts->def.gap_tolerance) continue;
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "unilateral '%s' is closed too far when the run begins, by %g: move "
                              "its bodies apart, or raise gap_tolerance above that",
                              name_of(contacts, i), -gap);
    }
    return TAL_OK;
}

// --- impacts that pile up ---

static bool piles_up(const tal_contacts *contacts, const tali_contacts_memory *memory, double t)
{
    return memory->in_a_row >= SAME_RATIOS && t - memory->t < contacts->def.pile_up_interval;
}

// When infinitely many impacts will have happened: intervals are a geometric series.
static double end_of_series(const tali_contacts_memory *memory)
{
    return memory->t + memory->interval * memory->ratio / (1.0 - memory->ratio);
}

// The speed below which nothing rebounds: that of the elements whose impacts pile up, if any.
static tal_status find_capture_speed(const tal_contacts *contacts, tal_state *state, double *speed)
{
    const tali_contacts_memory *memory = tal_var_value(contacts->system, state, contacts->memory);
    const double t = tal_state_t(state);
    *speed = fmax(contacts->def.capture_speed, 2.0 * contacts->def.speed_tolerance);
    for (int i = 0; i < contacts->num; ++i) {
        if (!piles_up(contacts, &memory[i], t)) continue;
        if (contacts->def.pile_up == TAL_PILE_UP_STOP) {
            return tal_state_fail(state, TAL_ERR_EVENT_LIMIT,
                                  "impacts of unilateral '%s' pile up at t = %.10g: %lld so far, "
                                  "each interval %.4g times the one before",
                                  name_of(contacts, i), end_of_series(&memory[i]),
                                  (long long)memory[i].num_known, memory[i].ratio);
        }
        const double approach = -tal_unilateral_speed(contacts->matter, state, element_of(i));
        *speed = fmax(*speed, approach);
    }
    return TAL_OK;
}

static void remember_interval(tali_contacts_memory *memory, double t)
{
    const double interval = t - memory->t;
    const double ratio =
        isfinite(interval) && memory->interval > 0.0 ? interval / memory->interval : 0.0;
    const bool is_same = fabs(ratio - memory->ratio) <= 0.01 * ratio;
    const bool shrinks = ratio > 0.0 && ratio <= 0.999;
    memory->in_a_row = shrinks ? (is_same ? memory->in_a_row + 1 : 1) : 0;
    memory->interval = isfinite(interval) ? interval : 0.0;
    memory->ratio = ratio;
    memory->t = t;
}

// --- telling ---

static void tell(const tal_contacts *contacts, const tal_contact_event *event)
{
    if (contacts->def.listen == NULL) return;
    contacts->def.listen(contacts->def.context, contacts->system, event);
}

static void tell_impact(const tal_contacts *contacts, int i, const tal_unilateral_impact *impact)
{
    const tal_contact_event event = {.t = impact->t,
                                     .element = element_of(i),
                                     .kind = TAL_CONTACT_IMPACT,
                                     .speed = impact->speed,
                                     .after = impact->after,
                                     .normal = impact->normal,
                                     .friction = {impact->friction[0], impact->friction[1]}};
    tell(contacts, &event);
}

static tal_contact_kind kind_of_change(tal_unilateral_mode before, tal_unilateral_mode now)
{
    if (before == TAL_UNILATERAL_OFF) return TAL_CONTACT_CLOSES;
    if (now == TAL_UNILATERAL_OFF) return TAL_CONTACT_OPENS;
    return now == TAL_UNILATERAL_STICK ? TAL_CONTACT_STICKS : TAL_CONTACT_SLIPS;
}

// Impacts that have not been told yet.
static void note_impacts(const tal_contacts *contacts, tal_state *state)
{
    tali_contacts_memory *memory = tal_var_upd(contacts->system, state, contacts->memory);
    for (int i = 0; i < contacts->num; ++i) {
        const tal_unilateral_impact impact =
            tal_unilateral_impact_of(contacts->matter, state, element_of(i));
        if (impact.count == memory[i].num_known) continue;
        memory[i].num_known = impact.count;
        remember_interval(&memory[i], impact.t);
        tell_impact(contacts, i, &impact);
    }
}

// --- the elements as they are left ---

// Where the gap or the speed of an open element is watched from. Touching at rest its acceleration
// tells when it closes, and the gap only if that should have been missed.
static void leave_open(const tal_contacts *contacts, double value, double speed, double tolerance,
                       double *datum, int32_t *is_resting)
{
    const bool touches = value <= tolerance;
    *is_resting = touches && speed <= contacts->def.speed_tolerance;
    *datum = touches ? fmin(value, 0.0) : 0.0;
    if (*is_resting) *datum -= tolerance;
}

// What is watched of element `i` from here on.
static void leave(const tal_contacts *contacts, tal_state *state, int i,
                  tali_contacts_memory *memory)
{
    const tal_matter *matter = contacts->matter;
    const tal_unilateral_ix element = element_of(i);
    const tal_unilateral_level level = tal_unilateral_level_of(matter, element);
    const tal_unilateral_mode mode = tal_unilateral_mode_of(matter, state, element);
    memory->gap_datum = memory->slip_datum = 0.0;
    memory->is_resting = 0;
    memory->is_below = tal_unilateral_is_limited(matter, element) &&
                       !tal_unilateral_is_enabled(matter, state, element) &&
                       tal_unilateral_margin(matter, state, element) > 0.0;
    if (mode == TAL_UNILATERAL_SLIDE) {
        const double slip = tal_unilateral_slip_speed(matter, state, element);
        const double tolerance = contacts->def.speed_tolerance;
        // what has just begun to slip is still at rest; a thousandth of what counts as rest delays
        // the end of its slip by nothing that matters
        if (slip <= tolerance) memory->slip_datum = fmin(slip, 0.0) - 1e-3 * tolerance;
    }
    if (mode != TAL_UNILATERAL_OFF || level == TAL_UNILATERAL_ACCELERATION) return;
    const double speed = tal_unilateral_speed(matter, state, element);
    if (level == TAL_UNILATERAL_VELOCITY) {
        leave_open(contacts, speed, speed, contacts->def.speed_tolerance, &memory->slip_datum,
                   &memory->is_resting);
    } else {
        leave_open(contacts, tal_unilateral_gap(matter, state, element), speed,
                   contacts->def.gap_tolerance, &memory->gap_datum, &memory->is_resting);
    }
}

// Impacts switch constraints, which invalidates Instance. Where all modes are as they were, only
// speeds have changed in the end, and the next step need not be a small one.
static void forget_switching(tal_state *state, tal_stage lowest_before)
{
    tal_state_reset_low_water(state);
    const bool was_lower = lowest_before < TAL_STAGE_POSITION;
    (void)tal_state_invalidate(state, was_lower ? lowest_before : TAL_STAGE_POSITION);
}

// Remember where the elements are, and tell which modes are new.
static tal_status leave_all(const tal_contacts *contacts, tal_state *state, bool *is_new)
{
    *is_new = false;
    for (int i = 0; i < contacts->num; ++i) {
        const tali_contacts_memory *all = tal_var_value(contacts->system, state, contacts->memory);
        tali_contacts_memory memory = all[i];
        leave(contacts, state, i, &memory);
        const tal_unilateral_mode mode =
            tal_unilateral_mode_of(contacts->matter, state, element_of(i));
        const tal_unilateral_mode before = (tal_unilateral_mode)memory.mode;
        memory.mode = (int32_t)mode;
        tali_contacts_memory *upd = tal_var_upd(contacts->system, state, contacts->memory);
        if (upd == NULL) return tal_contract_last()->status;
        upd[i] = memory;
        if (mode == before) continue;
        *is_new = true;
        const tal_contact_event event = {.t = tal_state_t(state),
                                         .element = element_of(i),
                                         .kind = kind_of_change(before, mode)};
        tell(contacts, &event);
    }
    return TAL_OK;
}

// --- handling ---

// Impacts, then modes. `again`: sliding friction has stopped an element at once, which may let
// others approach.
static tal_status settle_once(const tal_contacts *contacts, tal_state *state, bool *again)
{
    tal_impact_options options = tal_impact_options_default();
    options.gap_tolerance = contacts->def.gap_tolerance;
    options.speed_tolerance = contacts->def.speed_tolerance;
    options.sequential = contacts->def.sequential;
    tal_impact_report report;
    tal_status st = project(contacts, state);
    if (st == TAL_OK) st = find_capture_speed(contacts, state, &options.capture_speed);
    if (st == TAL_OK) st = tal_matter_solve_impact(contacts->matter, state, &options, &report);
    if (st != TAL_OK) return st;
    if (report.num_impacting > 0) note_impacts(contacts, state);
    st = tal_matter_solve_modes(contacts->matter, state, &options, &report);
    *again = report.num_jammed > 0;
    return st;
}

static tal_status settle(const tal_contacts *contacts, tal_state *state)
{
    const int most = MOST_ROUNDS + 2 * contacts->num;
    const tal_stage lowest_before = tal_state_low_water(state);
    bool again = true, is_new = false;
    tal_status st = TAL_OK;
    for (int k = 0; k < most && again && st == TAL_OK; ++k) {
        st = settle_once(contacts, state, &again);
    }
    if (st == TAL_OK && again) {
        st = tal_state_fail(state, TAL_ERR_NO_CONVERGENCE,
                            "unilateral elements did not come to rest at t = %.17g: sliding "
                            "friction stopped one of them %d times",
                            tal_state_t(state), most);
    }
    if (st == TAL_OK) st = project(contacts, state);
    if (st == TAL_OK) st = leave_all(contacts, state, &is_new);
    if (st == TAL_OK && !is_new) forget_switching(state, lowest_before);
    return st;
}

tal_status tali_contacts_handle(const void *self, const tal_system *system, tal_state *state,
                                tal_event_cause cause, const tal_event_ix events[], int count,
                                bool *terminate)
{
    (void)events, (void)count, (void)terminate;
    const tal_contacts *contacts = self;
    if (contacts->num <= 0) return TAL_OK;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return st;
    if (cause == TAL_EVENT_CHANGED && tali_contacts_is_settled(contacts, state)) return TAL_OK;
    st = follow_limits(contacts, state);
    if (st == TAL_OK && cause == TAL_EVENT_INITIALIZATION) st = check_start(contacts, state);
    return st == TAL_OK ? settle(contacts, state) : st;
}
