// The table: events that are given as data, and markers.
#include "error_internal.h"

#include "model/model_write_internal.h"

#include <math.h>
#include <string.h>

// ---- when

static const tali_model_attribute when_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the event"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "whether it is enabled at the start"},
    {"when", TALI_TYPE_MEASURE, .initial = "", .doc = "the measure that is watched, one number"},
    {"falls_below", TALI_TYPE_REALS, .initial = "",
     .doc = "value that it must fall below; in the units of the file if the measure is the "
            "coordinate or speed of an angle"},
    {"rises_above", TALI_TYPE_REALS, .initial = "",
     .doc = "value that it must rise above, in the same units"},
    {"crosses", TALI_TYPE_REALS, .initial = "",
     .doc = "value that it must cross in either direction, in the same units"},
    {"time", TALI_TYPE_REALS, .initial = "", .doc = "instead of `when`: a time [s]"},
    {"window", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "accuracy of the time of the crossing [s]; 0: time scale times accuracy"},
    {"separation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "smallest time between two crossings [s]: steps are kept shorter; 0: unknown"},
    {.name = NULL}};

static const tali_model_attribute stop_attributes[] = {
    {"message", TALI_TYPE_TEXT, .initial = "", .doc = "message for the user: why the run ended"},
    {.name = NULL}};

enum {
    WHEN = 1,
    TIME_LIST = 3,
    NUM_LISTS = 4,
    WINDOW = 0,
    SEPARATION,
    FIRST_REF = 2,   // of a row's own
    FIRST_NUMBER = 2 // likewise
};

static const char *const list_names[NUM_LISTS] = {"falls_below", "rises_above", "crosses", "time"};

// Which of the four lists is given; -1 when it is not exactly one of one number.
static int given(const tali_model_item *item)
{
    int which = -1, count = 0;
    for (int i = 0; i < NUM_LISTS; ++i) {
        if (!tali_model_item_has(item, list_names[i])) continue;
        which = i;
        ++count;
    }
    return count == 1 && item->lists[which].count == 1 ? which : -1;
}

// An angle, or its rate, if the measure is the coordinate or speed of one.
static bool is_angle(const tali_model *m, const tali_model_item *measure)
{
    const bool speed = strcmp(measure->row->name, "speed") == 0;
    if (!speed && strcmp(measure->row->name, "coordinate") != 0) return false;
    return measure->ref[0] >= 0 &&
           measure->ref[1] < tali_model_item_num_angles(&m->items[measure->ref[0]], speed);
}

static void check_stop(tali_model *m, tali_model_item *item)
{
    const int which = given(item), measure = item->ref[WHEN];
    if (which < 0) {
        tali_model_item_error(
            m, item, NULL,
            " needs one number in one of 'falls_below', 'rises_above', 'crosses' and 'time'");
        return;
    }
    if ((which == TIME_LIST) == tali_model_item_has(item, "when")) {
        tali_model_item_error(m, item, "when",
                              which == TIME_LIST
                                  ? ": a time needs no 'when'"
                                  : ": '%s' needs 'when', the measure that is watched",
                              list_names[which]);
        return;
    }
    if (measure >= 0 && item->unit != 1.0 && is_angle(m, &m->items[measure])) {
        item->lists[which].values[0] *= item->unit;
    }
}

// When, as the API has it; false when there are no events.
static bool when_of(tali_model *m, const tali_model_item *item, tal_run_stop *when)
{
    const tal_crossing crossings[] = {TAL_CROSSING_FALLING, TAL_CROSSING_RISING,
                                      TAL_CROSSING_EITHER, TAL_CROSSING_EITHER};
    const int which = given(item);
    if (m->events == NULL) m->events = tal_events_create(m->system);
    *when = tal_run_stop_default();
    when->name = item->name;
    when->measure = tali_model_measure_at(m, item->ref[WHEN]);
    when->value = item->lists[which].values[0];
    when->crossing = crossings[which];
    when->window = item->p[WINDOW];
    when->separation = item->p[SEPARATION];
    when->begins_inactive = !item->ref[0];
    return m->events != NULL;
}

static void build_stop(tali_model *m, tali_model_item *item)
{
    tal_run_stop stop;
    if (!when_of(m, item, &stop)) return;
    stop.message = *item->text[0] != '\0' ? item->text[0] : NULL;
    item->built = tal_events_add_stop(m->events, &stop).i;
}

// ---- actions

// Behind what is its own.
#define PERIOD                                                                                     \
    {                                                                                              \
        "period", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,                                 \
            .doc = "with `time`: repeat with this period [s]; 0: once"                             \
    }

// A period belongs to a time.
static void check_action(tali_model *m, tali_model_item *item, int period)
{
    check_stop(m, item);
    if (item->p[period] == 0.0 || tali_model_item_has(item, "time")) return;
    tali_model_item_error(m, item, "period", ": 'period' needs 'time', when it happens first");
}

static const tali_model_attribute set_attributes[] = {
    {"measure", TALI_TYPE_MEASURE, .doc = "what is set: a `<variable>`, or an `<integrate>`"},
    {"from", TALI_TYPE_MEASURE, .initial = "", .doc = "the measure whose value is taken"},
    {"to", TALI_TYPE_REALS, .initial = "", .doc = "instead of `from`: the new values"},
    PERIOD,
    {.name = NULL}};

static void check_set(tali_model *m, tali_model_item *item)
{
    check_action(m, item, FIRST_NUMBER);
    if (tali_model_item_has(item, "from") != tali_model_item_has(item, "to")) return;
    tali_model_item_error(m, item, NULL, " needs one of 'from' and 'to'");
}

static void build_set(tali_model *m, tali_model_item *item)
{
    tal_run_set set = tal_run_set_default();
    if (!when_of(m, item, &set.when)) return;
    set.measure = tali_model_measure_at(m, item->ref[FIRST_REF]);
    set.from = tali_model_measure_at(m, item->ref[FIRST_REF + 1]);
    set.values = item->lists[NUM_LISTS].values;
    set.num_values = item->lists[NUM_LISTS].count;
    set.period = item->p[FIRST_NUMBER];
    item->built = tal_events_add_set(m->events, &set).i;
}

static const tali_model_attribute impulse_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"in", TALI_TYPE_BODY, .initial = "ground", .doc = "the body in whose frame it is given"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"impulse", TALI_TYPE_REAL, 3, .doc = "[N s]"},
    PERIOD,
    {.name = NULL}};

static void check_impulse(tali_model *m, tali_model_item *item)
{
    check_action(m, item, FIRST_NUMBER + 6);
}

static void build_impulse(tali_model *m, tali_model_item *item)
{
    tal_run_impulse it = tal_run_impulse_default();
    if (!when_of(m, item, &it.when)) return;
    const double *p = item->p + FIRST_NUMBER;
    it.matter = m->matter;
    it.body = tali_model_body_at(m, item->ref[FIRST_REF]);
    it.in = tali_model_body_at(m, item->ref[FIRST_REF + 1]);
    it.p_BS = tali_model_vec3_at(p);
    it.impulse = tali_model_vec3_at(p + 3);
    it.period = p[6];
    item->built = tal_events_add_impulse(m->events, &it).i;
}

static const tali_model_attribute mobility_impulse_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .doc = "along which speed"},
    {"impulse", TALI_TYPE_REAL, 1, .doc = "[N s or N m s]"},
    PERIOD,
    {.name = NULL}};

static void check_mobility_impulse(tali_model *m, tali_model_item *item)
{
    check_action(m, item, FIRST_NUMBER + 1);
}

static void build_mobility_impulse(tali_model *m, tali_model_item *item)
{
    tal_run_impulse it = tal_run_impulse_default();
    if (!when_of(m, item, &it.when)) return;
    it.matter = m->matter;
    it.mobility = tali_model_mobility_at(m, item->ref[FIRST_REF], item->ref[FIRST_REF + 1]);
    it.along = item->p[FIRST_NUMBER];
    it.period = item->p[FIRST_NUMBER + 1];
    item->built = tal_events_add_impulse(m->events, &it).i;
}

// ---- writing

// When an event happens, whatever it does then.
static const tal_run_stop *when_it_happens(const tal_system *system, tal_event_ix event)
{
    const tal_run_stop *stop = tal_event_stop(system, event);
    const tal_run_set *set = tal_event_run_set(system, event);
    const tal_run_impulse *impulse = tal_event_run_impulse(system, event);
    return stop != NULL ? stop : set != NULL ? &set->when : impulse != NULL ? &impulse->when : NULL;
}

static void describe_when(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_event_ix event = {d->index};
    const tal_run_stop *when = when_it_happens(model->system, event);
    const int which = when->measure.i < 0                      ? TIME_LIST
                      : when->crossing == TAL_CROSSING_FALLING ? 0
                      : when->crossing == TAL_CROSSING_RISING  ? 1
                                                               : 2;
    tali_model_say_index(d, tal_event_is_active(model->system, model->state, event));
    tali_model_say_index(d, when->measure.i);
    for (int i = 0; i < NUM_LISTS; ++i) {
        tali_model_say_values(d, &when->value, i == which ? 1 : 0);
    }
    tali_model_say_number(d, when->window);
    tali_model_say_number(d, when->separation);
}

static void describe_stop(tali_model_description *d)
{
    const tal_system *system = d->w->model.system;
    tali_model_say_text(d, tal_event_stop(system, (tal_event_ix){d->index})->message);
}

static void describe_set(tali_model_description *d)
{
    const tal_run_set *set = tal_event_run_set(d->w->model.system, (tal_event_ix){d->index});
    const tali_model_targets targets = {.measures = {set->measure, set->from}};
    tali_model_say_targets(d, &targets);
    tali_model_say_values(d, set->values, set->num_values);
    tali_model_say_number(d, set->period);
}

static void describe_impulse(tali_model_description *d)
{
    const tal_run_impulse *it = tal_event_run_impulse(d->w->model.system, (tal_event_ix){d->index});
    const tali_model_targets targets = {.bodies = {it->body.i, it->in.i}, .mobility = it->mobility};
    tali_model_say_targets(d, &targets);
    if (it->body.i >= 0) {
        tali_model_say_vec3(d, it->p_BS);
        tali_model_say_vec3(d, it->impulse);
    } else {
        tali_model_say_number(d, it->along);
    }
    tali_model_say_number(d, it->period);
}

enum {
    STOP_ROW,
    SET_ROW,
    IMPULSE_ROW,
    MOBILITY_IMPULSE_ROW
};

static const tali_model_row *row_of_event(const tal_system *system, tal_event_ix event)
{
    const tal_run_impulse *impulse = tal_event_run_impulse(system, event);
    if (tal_event_stop(system, event) != NULL) return &tali_model_stop_rows[STOP_ROW];
    if (tal_event_run_set(system, event) != NULL) return &tali_model_stop_rows[SET_ROW];
    if (impulse == NULL) return NULL;
    return &tali_model_stop_rows[impulse->body.i >= 0 ? IMPULSE_ROW : MOBILITY_IMPULSE_ROW];
}

// Events of unilateral elements and of muscles are part of these.
static bool is_of_elements(const tal_model *model, tal_event_ix event)
{
    const int owner = tal_event_owner(model->system, event).i;
    const tal_contacts *contacts = tal_system_contacts(model->system);
    return owner == tal_forces_subsystem(model->forces).i ||
           (contacts != NULL && owner == tal_contacts_subsystem(contacts).i);
}

// Whether all events only end a run: then they stand in <stops>, as they always have.
static bool are_stops(const tal_model *model)
{
    for (int i = 0; i < tal_system_num_events(model->system); ++i) {
        if (is_of_elements(model, (tal_event_ix){i})) continue;
        if (tal_event_stop(model->system, (tal_event_ix){i}) == NULL) return false;
    }
    return true;
}

static bool find_event(tali_model_description *d, bool in_stops)
{
    const tal_model *model = &d->w->model;
    const tal_system *system = model->system;
    const tal_event_ix event = {d->index};
    if (event.i >= tal_system_num_events(system) || are_stops(model) != in_stops) return false;
    if (is_of_elements(model, event)) return true;
    d->name = tal_event_name(system, event);
    d->row = row_of_event(system, event);
    if (d->row == NULL) {
        tali_model_write_refuse(
            d->w, "event '%s' calls a function, which cannot be written to a file", d->name);
    }
    return true;
}

bool tali_model_find_stop(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    return find_event(d, true);
}

bool tali_model_find_event(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    return find_event(d, false);
}

#define EVENT(element, text, attributes, checker, builder, describer)                              \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = when_attributes, .own = (attributes),          \
        .check = (checker), .build = (builder), .describe_shared = describe_when,                  \
        .describe = (describer)                                                                    \
    }

const tali_model_row tali_model_stop_rows[] = {
    EVENT("stop",
          "Ends a run when a measure crosses a value, or at a time. "
          "A measure that is beyond the value at the start does not cross it.",
          stop_attributes, check_stop, build_stop, describe_stop),
    EVENT("set", "Sets a variable when a measure crosses a value, or at a time.", set_attributes,
          check_set, build_set, describe_set),
    EVENT("impulse",
          "An impulse on a body when a measure crosses a value, or at a time: speeds jump, and "
          "constraints hold.",
          impulse_attributes, check_impulse, build_impulse, describe_impulse),
    EVENT("mobility_impulse", "The same along a speed.", mobility_impulse_attributes,
          check_mobility_impulse, build_mobility_impulse, describe_impulse),
    {.name = NULL}};

// ---- markers

static const tali_model_attribute marker_attributes[] = {
    {"name", TALI_TYPE_NAME, .doc = "name, as in the frames"},
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "what it is on"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "where, on the body [m]"},
    {"weight", TALI_TYPE_REAL, 1, "1", TALI_NO_NEGATIVE_NUMBER,
     .doc = "weight of its squared error"},
    {.name = NULL}};

// Room is there for all.
static void build_marker(tali_model *m, tali_model_item *item)
{
    tal_marker *marker = &m->markers[m->num_markers];
    marker->name = tali_arena_copy(&m->kept->arena, item->name, strlen(item->name));
    marker->body = tali_model_body_at(m, item->ref[0]);
    marker->p_BS = tali_model_vec3_at(item->p);
    marker->weight = item->p[3];
    if (marker->name == NULL) m->no_memory = true;
    item->built = m->num_markers++;
}

static void describe_marker(tali_model_description *d)
{
    const tal_marker *marker = &d->w->model.markers[d->index];
    tali_model_say_index(d, marker->body.i);
    tali_model_say_vec3(d, marker->p_BS);
    tali_model_say_number(d, marker->weight);
}

// Markers are the caller's: no one has checked them.
static void check_marker(tali_model_writer *w, int index)
{
    const tal_marker *marker = &w->model.markers[index];
    const char *name = marker->name != NULL ? marker->name : "";
    const tal_vec3 p = marker->p_BS;
    if (*name == '\0' || tali_name_map_find(&w->markers, name) >= 0) {
        tali_model_write_refuse(w, "marker %d '%.60s' has no name, or the name of another marker",
                                index, name);
    } else if (marker->body.i < 0 || marker->body.i >= tal_matter_num_bodies(w->model.matter)) {
        tali_model_write_refuse(w, "marker '%s' is on body %d, which does not exist", name,
                                marker->body.i);
    } else if (!tal_v3_is_finite(p) || !(marker->weight >= 0.0) || isinf(marker->weight)) {
        tali_model_write_refuse(w, "marker '%s' is at (%g, %g, %g) with weight %g", name, p.x, p.y,
                                p.z, marker->weight);
    } else if (!tali_name_map_add(&w->markers, name, index)) {
        w->status = tali_fail(w->err, TAL_ERR_NO_MEMORY, "tal_model_write", "no memory");
    }
}

bool tali_model_find_marker(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    if (d->index >= d->w->model.num_markers) return false;
    check_marker(d->w, d->index);
    d->name = d->w->model.markers[d->index].name;
    d->row = d->w->status == TAL_OK ? &tali_model_marker_rows[0] : NULL;
    return true;
}

const tali_model_row tali_model_marker_rows[] = {
    {.name = "marker",
     .doc = "An observed point of a body: `talus ik` finds it by name "
            "in its frames.",
     .own = marker_attributes,
     .build = build_marker,
     .describe = describe_marker},
    {.name = NULL}};
