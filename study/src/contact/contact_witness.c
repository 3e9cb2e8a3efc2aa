// The witnesses of unilateral elements: one number each for gap, slip, force and friction.
#include "unilateral_watch_internal.h"

#include "contact/contacts_internal.h"

#include <math.h>

// What a witness is that has nothing to tell.
static const double SILENT = 1.0;

static const tali_contacts_memory *memory_of(const tal_contacts *contacts, const tal_state *state)
{
    return tal_var_value(contacts->system, state, contacts->memory);
}

static tal_unilateral_mode mode_of(const tal_contacts *contacts, const tal_state *state, int i)
{
    return tal_unilateral_mode_of(contacts->matter, state, (tal_unilateral_ix){i});
}

static const double *values_of(const tal_contacts *contacts, const tal_state *state,
                               tali_contacts_witness witness)
{
    const tal_stage stage = tal_group_stage(contacts->system, witness.group);
    return tal_state_triggers(state, stage) +
           tal_group_start(contacts->system, state, witness.group) + witness.first;
}

static bool is_open(const tal_contacts *contacts, const tal_state *state, int i)
{
    const tal_unilateral_ix element = {i};
    return mode_of(contacts, state, i) == TAL_UNILATERAL_OFF &&
           tal_unilateral_is_enabled(contacts->matter, state, element);
}

static bool has_trait(const tal_contacts *contacts, int i, tali_contacts_trait trait)
{
    return (contacts->traits[i] & trait) != 0;
}

static tal_status fail_number(tal_state *state, const tal_contacts *contacts, int i,
                              const char *subject, double value)
{
    const tal_status st = tal_state_error(state)->status;
    if (st != TAL_OK) return st;
    return tal_state_fail(state, TAL_ERR_NOT_FINITE, "the %s of unilateral '%s' is %g at t = %g",
                          subject, tal_unilateral_name(contacts->matter, (tal_unilateral_ix){i}),
                          value, tal_state_t(state));
}

// A number that could not be computed is a failure of its element.
static inline tal_status check(tal_state *state, const tal_contacts *contacts, int i,
                               const char *subject, double value)
{
    return isfinite(value) ? TAL_OK : fail_number(state, contacts, i, subject, value);
}

// How far an element is within its limits, or below its plane.
static double limit_of(const tal_contacts *contacts, tal_state *state, int i, bool is_below)
{
    const tal_unilateral_ix element = {i};
    if (!is_below) {
        const bool is_in = tal_unilateral_is_enabled(contacts->matter, state, element);
        const double edge = tali_contacts_edge(contacts);
        return tal_unilateral_margin(contacts->matter, state, element) + (is_in ? edge : -edge);
    }
    return tal_unilateral_gap(contacts->matter, state, element) - tali_contacts_edge(contacts);
}

// Witnesses of the stage Position of all elements.
tal_status tali_contacts_realize_position(const void *self, const tal_system *system,
                                          tal_state *state)
{
    const tal_contacts *contacts = self;
    if (contacts->num <= 0) return TAL_OK;
    const tali_contacts_memory *memory = memory_of(contacts, state);
    double *gap = tal_group_upd_triggers(system, state, contacts->gap.group);
    double *limit = gap + contacts->limit.first;
    tal_status st = tal_matter_calc_gaps(contacts->matter, state, false, gap);
    for (int i = 0; i < contacts->num && st == TAL_OK; ++i) {
        limit[i] = SILENT;
        if (has_trait(contacts, i, TALI_CONTACTS_IS_LIMITED)) {
            limit[i] = limit_of(contacts, state, i, memory[i].is_below != 0);
            st = check(state, contacts, i, "margin", limit[i]);
        }
        const bool is_open = !isinf(gap[i]);
        gap[i] = is_open ? gap[i] - memory[i].gap_datum : SILENT;
        if (st == TAL_OK) st = check(state, contacts, i, "gap", gap[i]);
    }
    return st;
}

// Slip of an element that slides, speed of an open ratchet.
static double slip_of(const tal_contacts *contacts, tal_state *state, int i, double datum)
{
    const tal_unilateral_ix element = {i};
    const tal_unilateral_mode mode = mode_of(contacts, state, i);
    if (mode == TAL_UNILATERAL_SLIDE) {
        return tal_unilateral_slip_speed(contacts->matter, state, element) - datum;
    }
    if (has_trait(contacts, i, TALI_CONTACTS_IS_RATCHET) && is_open(contacts, state, i)) {
        return tal_unilateral_speed(contacts->matter, state, element) - datum;
    }
    return SILENT;
}

// Rates of gaps, and slips.
tal_status tali_contacts_realize_velocity(const void *self, const tal_system *system,
                                          tal_state *state)
{
    const tal_contacts *contacts = self;
    if (contacts->num <= 0) return TAL_OK;
    const tali_contacts_memory *memory = memory_of(contacts, state);
    double *rate = tal_group_upd_triggers(system, state, contacts->gap_rate.group);
    double *slip = rate + contacts->slip.first;
    tal_status st = tal_matter_calc_gaps(contacts->matter, state, true, rate);
    for (int i = 0; i < contacts->num && st == TAL_OK; ++i) {
        slip[i] = SILENT;
        if (isinf(rate[i])) { // not open
            rate[i] = 0.0;
            slip[i] = slip_of(contacts, state, i, memory[i].slip_datum);
        }
        st = check(state, contacts, i, "speed", rate[i]);
        if (st == TAL_OK) st = check(state, contacts, i, "slip", slip[i]);
    }
    return st;
}

// How far a slide is from a jam, of an element that slides; the acceleration of one at rest.
static void look_at_one(const tal_contacts *contacts, tal_state *state, int i, bool is_resting,
                        double *normal, double *margin)
{
    const tal_unilateral_ix element = {i};
    if (is_open(contacts, state, i)) {
        if (is_resting) *normal = tal_unilateral_acceleration(contacts->matter, state, element);
        return;
    }
    const bool has_normal = tal_unilateral_normal(contacts->matter, element).i >= 0;
    if (has_normal && mode_of(contacts, state, i) == TAL_UNILATERAL_SLIDE) {
        *margin = tal_unilateral_slide_margin(contacts->matter, state, element);
    }
}

// Forces, cones and margins. What sticks has a cone, which says all; the others are looked at one
// by one, but for those that are open.
tal_status tali_contacts_realize_acceleration(const void *self, const tal_system *system,
                                              tal_state *state)
{
    const tal_contacts *contacts = self;
    if (contacts->num <= 0) return TAL_OK;
    const tali_contacts_memory *memory = memory_of(contacts, state);
    double *normal = tal_group_upd_triggers(system, state, contacts->force.group);
    double *cone = normal + contacts->cone.first, *margin = normal + contacts->margin.first;
    const double *gap = values_of(contacts, state, contacts->gap);
    if (!tali_matter_watch_unilaterals(contacts->matter, state, normal, cone)) {
        return tal_state_error(state)->status;
    }
    for (int i = 0; i < contacts->num; ++i) {
        const bool has_force = !isinf(normal[i]), has_cone = !isinf(cone[i]);
        const bool is_resting = memory[i].is_resting != 0;
        margin[i] = SILENT;
        if (!has_force) normal[i] = SILENT;
        if (!has_cone) cone[i] = SILENT;
        if (!has_cone && gap[i] != SILENT && !is_resting) continue; // open
        if (!has_cone) look_at_one(contacts, state, i, is_resting, &normal[i], &margin[i]);
        tal_status st = check(state, contacts, i, "force", normal[i]);
        if (st == TAL_OK) st = check(state, contacts, i, "friction", cone[i]);
        if (st == TAL_OK) st = check(state, contacts, i, "margin of slip", margin[i]);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// Is a kind of witness nowhere below zero?
static bool is_kept(const tal_contacts *contacts, const tal_state *state,
                    tali_contacts_witness witness)
{
    const double *value = values_of(contacts, state, witness);
    for (int i = 0; i < contacts->num; ++i) {
        if (value[i] < 0.0) return false;
    }
    return true;
}

// Is each element enabled within its limits, and disabled beyond them?
static bool are_limits_kept(const tal_contacts *contacts, const tal_state *state)
{
    const double *value = values_of(contacts, state, contacts->limit);
    for (int i = 0; i < contacts->num; ++i) {
        const tal_unilateral_ix element = {i};
        if (!has_trait(contacts, i, TALI_CONTACTS_IS_LIMITED)) continue;
        const bool is_in = tal_unilateral_is_enabled(contacts->matter, state, element);
        if (is_in != (value[i] > 0.0)) return false;
    }
    return true;
}

bool tali_contacts_is_settled(const tal_contacts *contacts, const tal_state *state)
{
    return is_kept(contacts, state, contacts->gap) && is_kept(contacts, state, contacts->slip) &&
           is_kept(contacts, state, contacts->force) && is_kept(contacts, state, contacts->cone) &&
           is_kept(contacts, state, contacts->margin) && are_limits_kept(contacts, state);
}
