// The table: stops and markers.
#include "error_internal.h"

#include "model/model_write_internal.h"

#include <math.h>
#include <string.h>

// ---- stops

static const tali_model_attribute stop_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the stop"},
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
    {"message", TALI_TYPE_TEXT, .initial = "", .doc = "message for the user: why the run ended"},
    {"window", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "accuracy of the time of the crossing [s]; 0: time scale times accuracy"},
    {"separation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "smallest time between two crossings [s]: steps are kept shorter; 0: unknown"},
    {.name = NULL}};

enum {
    WHEN = 1,
    TIME_LIST = 3,
    NUM_LISTS = 4,
    WINDOW = 0,
    SEPARATION
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

static void build_stop(tali_model *m, tali_model_item *item)
{
    const tal_crossing crossings[] = {TAL_CROSSING_FALLING, TAL_CROSSING_RISING,
                                      TAL_CROSSING_EITHER, TAL_CROSSING_EITHER};
    const int which = given(item);
    if (m->events == NULL) m->events = tal_events_create(m->system);
    if (m->events == NULL) return;
    tal_run_stop stop = tal_run_stop_default();
    stop.name = item->name;
    stop.message = *item->text[0] != '\0' ? item->text[0] : NULL;
    stop.measure = tali_model_measure_at(m, item->ref[WHEN]);
    stop.value = item->lists[which].values[0];
    stop.crossing = crossings[which];
    stop.window = item->p[WINDOW];
    stop.separation = item->p[SEPARATION];
    stop.begins_inactive = !item->ref[0];
    item->built = tal_events_add_stop(m->events, &stop).i;
}

static void describe_stop(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_event_ix event = {d->index};
    const tal_run_stop *stop = tal_event_stop(model->system, event);
    const int which = stop->measure.i < 0                      ? TIME_LIST
                      : stop->crossing == TAL_CROSSING_FALLING ? 0
                      : stop->crossing == TAL_CROSSING_RISING  ? 1
                                                               : 2;
    tali_model_say_index(d, tal_event_is_active(model->system, model->state, event));
    tali_model_say_index(d, stop->measure.i);
    for (int i = 0; i < NUM_LISTS; ++i) {
        tali_model_say_values(d, &stop->value, i == which ? 1 : 0);
    }
    tali_model_say_text(d, stop->message);
    tali_model_say_number(d, stop->window);
    tali_model_say_number(d, stop->separation);
}

bool tali_model_find_stop(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_system *system = d->w->model.system;
    const tal_event_ix event = {d->index};
    if (event.i >= tal_system_num_events(system)) return false;
    d->name = tal_event_name(system, event);
    d->row = tal_event_stop(system, event) != NULL ? &tali_model_stop_rows[0] : NULL;
    if (d->row == NULL) {
        tali_model_write_refuse(
            d->w, "event '%s' calls a function, which cannot be written to a file", d->name);
    }
    return true;
}

const tali_model_row tali_model_stop_rows[] = {
    {.name = "stop",
     .doc = "Ends a run when a measure crosses a value, or at a time. "
            "A measure that is beyond the value at the start does not cross it.",
     .own = stop_attributes,
     .check = check_stop,
     .build = build_stop,
     .describe = describe_stop},
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
