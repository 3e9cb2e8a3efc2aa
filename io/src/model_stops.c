// The table: stops and markers.
#include "model_internal.h"

#include <string.h>

// ---- stops

static const tali_attribute stop_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the stop"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "from the beginning"},
    {"when", TALI_TYPE_MEASURE, .initial = "", .doc = "the measure that is watched, one number"},
    {"falls_below", TALI_TYPE_REALS, .initial = "",
     .doc = "the value it must come down to; in the units of the file where the measure is the "
            "coordinate or speed of an angle"},
    {"rises_above", TALI_TYPE_REALS, .initial = "",
     .doc = "the value it must come up to, likewise"},
    {"crosses", TALI_TYPE_REALS, .initial = "",
     .doc = "the value it must cross either way, likewise"},
    {"time", TALI_TYPE_REALS, .initial = "", .doc = "instead of `when`: a time [s]"},
    {"message", TALI_TYPE_TEXT, .initial = "", .doc = "why the run ends, for people"},
    {"window", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "how close to find the crossing [s]; 0: time scale times accuracy"},
    {"separation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "two crossings are at least this far apart, so steps are kept shorter [s]; 0: unknown"},
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
static int given(const tali_item *item)
{
    int which = -1, count = 0;
    for (int i = 0; i < NUM_LISTS; ++i) {
        if (!tali_item_has(item, list_names[i])) continue;
        which = i;
        ++count;
    }
    return count == 1 && item->lists[which].count == 1 ? which : -1;
}

// An angle, or its rate, if the measure is the coordinate or speed of one.
static bool is_angle(const tali_model *m, const tali_item *measure)
{
    const bool speed = strcmp(measure->row->name, "speed") == 0;
    if (!speed && strcmp(measure->row->name, "coordinate") != 0) return false;
    return measure->ref[0] >= 0 &&
           measure->ref[1] < tali_item_num_angles(&m->items[measure->ref[0]], speed);
}

static void check_stop(tali_model *m, tali_item *item)
{
    const int which = given(item), measure = item->ref[WHEN];
    if (which < 0) {
        tali_item_error(
            m, item, NULL,
            " needs one number in one of 'falls_below', 'rises_above', 'crosses' and 'time'");
        return;
    }
    if ((which == TIME_LIST) == tali_item_has(item, "when")) {
        tali_item_error(m, item, "when",
                        which == TIME_LIST ? ": a time needs no 'when'"
                                           : ": '%s' needs 'when', the measure that is watched",
                        list_names[which]);
        return;
    }
    if (measure >= 0 && item->unit != 1.0 && is_angle(m, &m->items[measure])) {
        item->lists[which].values[0] *= item->unit;
    }
}

static void build_stop(tali_model *m, tali_item *item)
{
    const tal_crossing crossings[] = {TAL_CROSSING_FALLING, TAL_CROSSING_RISING,
                                      TAL_CROSSING_EITHER, TAL_CROSSING_EITHER};
    const int which = given(item);
    if (m->events == NULL) m->events = tal_events_create(m->system);
    if (m->events == NULL) return;
    tal_run_stop stop = tal_run_stop_default();
    stop.name = item->name;
    stop.message = *item->text[0] != '\0' ? item->text[0] : NULL;
    stop.measure = tali_measure_at(m, item->ref[WHEN]);
    stop.value = item->lists[which].values[0];
    stop.crossing = crossings[which];
    stop.window = item->p[WINDOW];
    stop.separation = item->p[SEPARATION];
    stop.begins_inactive = !item->ref[0];
    item->built = tal_events_add_stop(m->events, &stop).i;
}

const tali_row tali_stop_rows[] = {
    {.name = "stop",
     .doc = "Ends a run when a measure crosses a value, or at a time. "
            "What is beyond the value from the start does not cross it.",
     .own = stop_attributes,
     .check = check_stop,
     .build = build_stop},
    {.name = NULL}};

// ---- markers

static const tali_attribute marker_attributes[] = {
    {"name", TALI_TYPE_NAME, .doc = "as in the frames"},
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "what it is on"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "where, on the body [m]"},
    {"weight", TALI_TYPE_REAL, 1, "1", TALI_NO_NEGATIVE_NUMBER, .doc = "of its error, squared"},
    {.name = NULL}};

// Room is there for all.
static void build_marker(tali_model *m, tali_item *item)
{
    tal_marker *marker = &m->markers[m->num_markers];
    marker->name = tali_arena_copy(&m->kept->arena, item->name, strlen(item->name));
    marker->body = tali_body_at(m, item->ref[0]);
    marker->p_BS = tali_vec3_at(item->p);
    marker->weight = item->p[3];
    if (marker->name == NULL) m->no_memory = true;
    item->built = m->num_markers++;
}

const tali_row tali_marker_rows[] = {
    {.name = "marker",
     .doc = "A point of a body that is observed: `talus ik` looks for it "
            "in its frames, by name.",
     .own = marker_attributes,
     .build = build_marker},
    {.name = NULL}};
