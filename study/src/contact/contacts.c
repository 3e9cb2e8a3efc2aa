// Unilateral elements in a run: creation, and what is declared for each element.
#include "contact/contacts_internal.h"

#include <math.h>
#include <stdio.h>

// Of witnesses whose rates are not needed: the time stepper would find them by differences, which
// costs as much as two more evaluations in each step.
static const double RATE_IS_NOT_WANTED = 1e30;

const char *tal_contact_kind_name(tal_contact_kind kind)
{
    static const char *const names[] = {"impact", "closes", "opens", "sticks", "slips"};
    const bool is_kind = (int)kind >= 0 && (size_t)kind < sizeof names / sizeof names[0];
    return is_kind ? names[kind] : "(no kind)";
}

tal_contacts_def tal_contacts_def_default(void)
{
    return (tal_contacts_def){
        .gap_tolerance = 1e-6, .speed_tolerance = 1e-6, .window = 1e-12, .pile_up_interval = 1e-6};
}

// --- checks ---

// Tolerances, window and policy of a def; the sentence names the field that is wrong.
static tal_status check_def(tal_system *system, const tal_contacts_def *def)
{
    const struct {
        const char *name;
        double value;
    } positive[] = {{"gap_tolerance", def->gap_tolerance},
                    {"speed_tolerance", def->speed_tolerance},
                    {"window", def->window},
                    {"pile_up_interval", def->pile_up_interval}};

    for (size_t i = 0; i < sizeof positive / sizeof positive[0]; ++i) {
        if (positive[i].value > 0.0 && isfinite(positive[i].value)) continue;
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "contacts: %s is %g: it must be positive and finite",
                               positive[i].name, positive[i].value);
    }
    const bool is_fast = !(def->capture_speed >= 0.0 && isfinite(def->capture_speed));
    if (is_fast || !(def->separation >= 0.0 && isfinite(def->separation))) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "contacts: %s is %g: it must be finite and not negative",
                               is_fast ? "capture_speed" : "separation",
                               is_fast ? def->capture_speed : def->separation);
    }
    if (def->pile_up == TAL_PILE_UP_CAPTURE || def->pile_up == TAL_PILE_UP_STOP) return TAL_OK;
    return tal_system_fail(system, TAL_ERR_BAD_VALUE, "contacts: pile_up is invalid: %d",
                           (int)def->pile_up);
}

// --- declaring ---

// Room for the witnesses of one stage, `kinds` for each element.
static tal_group_ix add_group(const tal_contacts *contacts, const char *name, tal_stage stage,
                              int kinds)
{
    tal_group_def def = tal_group_def_default();
    def.name = name;
    def.pool = TAL_POOL_TRIGGER;
    def.capacity = kinds * contacts->num;
    def.stage = stage;
    return tal_system_add_group(contacts->system, contacts->me, &def);
}

static void add_witnesses(tal_contacts *contacts)
{
    const int num = contacts->num;
    const tal_group_ix position = add_group(contacts, "gaps and limits", TAL_STAGE_POSITION, 2);
    const tal_group_ix velocity = add_group(contacts, "rates and slips", TAL_STAGE_VELOCITY, 2);
    const tal_group_ix forces =
        add_group(contacts, "forces, cones and margins", TAL_STAGE_ACCELERATION, 3);
    contacts->gap = (tali_contacts_witness){position, 0};
    contacts->limit = (tali_contacts_witness){position, num};
    contacts->gap_rate = (tali_contacts_witness){velocity, 0};
    contacts->slip = (tali_contacts_witness){velocity, num};
    contacts->force = (tali_contacts_witness){forces, 0};
    contacts->cone = (tali_contacts_witness){forces, num};
    contacts->margin = (tali_contacts_witness){forces, 2 * num};
}

// One event of element `i`, named after it where that is not too long. Only gaps have rates.
static void add_event(const tal_contacts *contacts, int i, const char *subject,
                      tal_crossing crossing, tali_contacts_witness trigger,
                      const tali_contacts_witness *rate)
{
    char name[2 * TAL_MAX_NAME];
    const char *element = tal_unilateral_name(contacts->matter, (tal_unilateral_ix){i});
    const int length = snprintf(name, sizeof name, "%s %s", element, subject);
    tal_event_def def = tal_event_def_default();
    def.name = length > 0 && length <= TAL_MAX_NAME ? name : NULL;
    def.trigger = trigger.group;
    def.slot = trigger.first + i;
    def.crossing = crossing;
    def.window = contacts->def.window;
    if (rate != NULL) {
        def.rate = rate->group;
        def.rate_slot = rate->first + i;
    }
    def.separation = contacts->def.separation;
    // limits may be passed twice in one step
    const bool is_limit = crossing == TAL_CROSSING_EITHER;
    if (def.separation == 0.0 && rate == NULL && !is_limit) def.separation = RATE_IS_NOT_WANTED;
    (void)tal_system_add_event(contacts->system, contacts->me, &def);
}

static void add_events(const tal_contacts *contacts, int i)
{
    const tal_unilateral_ix element = {i};
    const bool has_normal = tal_unilateral_normal(contacts->matter, element).i >= 0;
    const bool has_grip = tal_unilateral_grip(contacts->matter, element).i >= 0;
    const bool is_ratchet =
        tal_unilateral_level_of(contacts->matter, element) == TAL_UNILATERAL_VELOCITY;
    const tal_crossing falls = TAL_CROSSING_FALLING;
    if (has_normal && !is_ratchet) {
        add_event(contacts, i, "gap", falls, contacts->gap, &contacts->gap_rate);
    }
    if (is_ratchet || has_grip) add_event(contacts, i, "slip", falls, contacts->slip, NULL);
    if (has_normal) add_event(contacts, i, "force", falls, contacts->force, NULL);
    if (has_grip) add_event(contacts, i, "cone", falls, contacts->cone, NULL);
    if (has_grip && has_normal) add_event(contacts, i, "margin", falls, contacts->margin, NULL);
    if (tal_unilateral_is_limited(contacts->matter, element)) {
        add_event(contacts, i, "limit", TAL_CROSSING_EITHER, contacts->limit, NULL);
    }
}

static void add_memory(tal_contacts *contacts, tali_contacts_memory initial[])
{
    for (int i = 0; i < contacts->num; ++i) {
        initial[i] = (tali_contacts_memory){.t = -(double)INFINITY, .mode = TAL_UNILATERAL_OFF};
    }
    tal_var_def def = tal_var_def_default();
    def.name = "memory of contacts";
    def.size = (size_t)contacts->num * sizeof *initial;
    def.initial = initial;
    def.invalidates = TAL_STAGE_POSITION;
    contacts->memory = tal_system_add_var(contacts->system, contacts->me, &def);
}

// The event by which the subsystem is called when a run begins, and after others changed a State.
static void add_causes(const tal_contacts *contacts)
{
    tal_event_def def = tal_event_def_default();
    def.name = "settle";
    def.causes = 1u << TAL_EVENT_INITIALIZATION | 1u << TAL_EVENT_CHANGED;
    (void)tal_system_add_event(contacts->system, contacts->me, &def);
}

static uint8_t traits_of(const tal_contacts *contacts, int i)
{
    const tal_unilateral_ix element = {i};
    const tal_unilateral_level level = tal_unilateral_level_of(contacts->matter, element);
    const bool is_limited = tal_unilateral_is_limited(contacts->matter, element);
    return (uint8_t)((level == TAL_UNILATERAL_POSITION ? TALI_CONTACTS_HAS_GAP : 0) |
                     (level == TAL_UNILATERAL_VELOCITY ? TALI_CONTACTS_IS_RATCHET : 0) |
                     (is_limited ? TALI_CONTACTS_IS_LIMITED : 0));
}

// Witnesses, memory and events for the elements that matter has by now.
static tal_status realize_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)me;
    tal_contacts *contacts = self;
    contacts->num = tal_matter_num_unilaterals(contacts->matter);
    if (contacts->num <= 0) return TAL_OK;
    const size_t bytes = (size_t)contacts->num * sizeof(tali_contacts_memory);
    tali_contacts_memory *initial = tali_alloc(&contacts->allocator, bytes);
    if (initial == NULL) {
        return tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for contacts");
    }
    add_memory(contacts, initial);
    tali_free(&contacts->allocator, initial, bytes);
    contacts->traits = tali_alloc(&contacts->allocator, (size_t)contacts->num);
    if (contacts->traits == NULL) {
        return tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for contacts");
    }
    for (int i = 0; i < contacts->num; ++i) {
        contacts->traits[i] = traits_of(contacts, i);
    }
    add_witnesses(contacts);
    for (int i = 0; i < contacts->num; ++i) {
        add_events(contacts, i);
    }
    add_causes(contacts);
    return tal_system_error(system)->status;
}

static void destroy(void *self)
{
    tal_contacts *contacts = self;
    const tal_allocator allocator = contacts->allocator;
    tali_free(&allocator, contacts->traits, contacts->traits != NULL ? (size_t)contacts->num : 0);
    tali_free(&allocator, contacts, sizeof *contacts);
}

// Behind matter and forces, whose results the witnesses read, and before a user's events.
static const tal_subsystem_ops contacts_ops = {
    .size = sizeof contacts_ops,
    .name = "contacts",
    .order = 900,
    .realize_topology = realize_topology,
    .realize_position = tali_contacts_realize_position,
    .realize_velocity = tali_contacts_realize_velocity,
    .realize_acceleration = tali_contacts_realize_acceleration,
    .handle_events = tali_contacts_handle,
    .destroy = destroy,
};

// --- creation ---

// Why a System cannot have a handler; TAL_OK: it can.
static tal_status can_create(tal_system *system, const tal_contacts_def *def)
{
    const tal_status st = tal_system_error(system)->status;
    if (st != TAL_OK) return st;
    if (tal_system_matter(system) == NULL) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "contacts: System '%s' has no matter: create it first",
                               tal_system_name(system));
    }
    if (tal_system_contacts(system) != NULL) {
        return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                               "contacts: System '%s' has a handler already",
                               tal_system_name(system));
    }
    return check_def(system, def);
}

tal_contacts *tal_contacts_create(tal_system *system, const tal_contacts_def *def)
{
    const tal_contacts_def chosen = def != NULL ? *def : tal_contacts_def_default();
    if (system == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
        return NULL;
    }
    if (tal_system_has_topology(system)) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY, "System '%s' is realized: create contacts before that",
                          tal_system_name(system));
        return NULL;
    }
    if (can_create(system, &chosen) != TAL_OK) return NULL;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_contacts *contacts = tali_alloc(&allocator, sizeof *contacts);
    if (contacts == NULL) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for contacts");
        return NULL;
    }
    contacts->system = system;
    contacts->matter = tal_system_matter(system);
    contacts->allocator = allocator;
    contacts->def = chosen;
    contacts->num = 0;
    contacts->traits = NULL;
    // the call destroys a subsystem that it refuses
    const tal_subsystem_ix me = tal_system_add_subsystem(system, NULL, &contacts_ops, contacts);
    if (me.i < 0) return NULL;
    contacts->me = me;
    return contacts;
}

const tal_contacts *tal_system_contacts(const tal_system *system)
{
    for (int i = 0; system != NULL && i < tal_system_num_subsystems(system); ++i) {
        const tal_contacts *contacts =
            tal_subsystem_self_as(system, (tal_subsystem_ix){i}, &contacts_ops);
        if (contacts != NULL) return contacts;
    }
    return NULL;
}

tal_subsystem_ix tal_contacts_subsystem(const tal_contacts *contacts)
{
    return contacts != NULL ? contacts->me : (tal_subsystem_ix){-1};
}

tal_contacts_def tal_contacts_def_of(const tal_contacts *contacts)
{
    if (contacts != NULL) return contacts->def;
    (void)TALI_BREACH(TAL_ERR_NULL, "the contacts are NULL");
    return tal_contacts_def_default();
}
