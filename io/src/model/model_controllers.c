// The table: controllers.
#include "control_facts_internal.h"

#include "model/model_write_internal.h"

#include <stdio.h>

static const tali_model_attribute controller_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the controller"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "whether it is enabled at the start"},
    {.name = NULL}};

enum {
    ENABLED,
    DRIVEN // first ref of its own
};

static void start_controller(tali_model *m, tali_model_item *item)
{
    if (item->ref[ENABLED]) return;
    (void)tal_controller_set_enabled(m->forces, m->state, (tal_controller_ix){item->built}, false);
}

static void describe_controller(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_controller_ix controller = {d->index};
    tali_model_say_index(d, tal_controller_is_enabled(model->forces, model->state, controller));
}

static const tali_controller_facts *facts_of(const tali_model_description *d)
{
    return tali_controller_facts_of(d->w->model.forces, (tal_controller_ix){d->index});
}

static void say_driven(tali_model_description *d)
{
    const tal_controller_ix controller = {d->index};
    tali_model_say_index(d, tal_controller_actuator(d->w->model.forces, controller, 0).i);
}

static tal_force_ix driven(const tali_model *m, const tali_model_item *item)
{
    return tali_model_force_at(m, item->ref[DRIVEN]);
}

// ---- functions of time

static const tali_model_attribute drive_attributes[] = {
    {"force", TALI_TYPE_FORCE, .doc = "the actuator or muscle that the function inside drives"},
    {.name = NULL}};

static void build_function_controller(tali_model *m, tali_model_item *item)
{
    const size_t n = (size_t)item->num_children;
    tal_force_ix *forces = tali_arena_take(&m->arena, n * sizeof *forces);
    tal_function **functions = tali_arena_take(&m->arena, n * sizeof *functions);
    if (forces == NULL || functions == NULL) {
        m->no_memory = true;
        return;
    }
    int i = 0;
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        forces[i] = tali_model_force_at(m, m->items[c].ref[0]);
        functions[i++] = tali_model_take_function(m, &m->items[c], 0);
    }
    item->built = tal_forces_add_function_controller(m->forces, item->name, forces, functions, i).i;
}

static void describe_drive(tali_model_description *d)
{
    const tal_forces *forces = d->w->model.forces;
    const tal_controller_ix controller = {d->owner};
    tali_model_say_index(d, tal_controller_actuator(forces, controller, d->index).i);
    tali_model_say_function(d, tali_controller_facts_of(forces, controller)->functions[d->index]);
}

const tali_model_row tali_model_drive_rows[] = {
    {.name = "drive",
     .doc = "What it adds to one control: a function of time.",
     .own = drive_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .describe = describe_drive},
    {.name = NULL}};

static void write_drives(tali_model_description *controller)
{
    tali_model_writer *w = controller->w;
    const tal_controller_ix ix = {controller->index};
    tali_model_sink_put(&w->out, "\n");
    for (int i = 0; i < tal_controller_num_actuators(w->model.forces, ix); ++i) {
        tali_model_description d = {.w = w,
                                    .row = tali_model_drive_rows,
                                    .whose = controller->name,
                                    .owner = ix.i,
                                    .index = i};
        tali_model_write_element(&d, "      ", "\n");
    }
    tali_model_sink_put(&w->out, "    ");
}

// ---- tables

static const tali_model_attribute table_attributes[] = {
    {"kind", TALI_TYPE_WORD, .initial = "linear", .words = "linear|steps",
     .doc = "straight lines between the rows, or the value of the next row"},
    {"file", TALI_TYPE_TEXT, .doc = "path of a table, relative to this file"},
    {.name = NULL}};

// The column of a force: its name, alone or as OpenSim writes excitations; -1 when there is none.
static int column_of(const tal_table *table, const char *force)
{
    static const char *const endings[] = {"", ".excitation"};
    int column = -1;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && column < 0; ++i) {
        char name[2 * TAL_MAX_NAME];
        (void)snprintf(name, sizeof name, "%s%s", force, endings[i]);
        column = tal_table_find_column(table, name);
    }
    return column;
}

// Forces with a column, and their columns; how many there are. The arrays may be NULL.
static int match_columns(const tali_model *m, const tal_table *table, int columns[],
                         tal_force_ix forces[])
{
    int n = 0;
    for (int i = 0; i < m->num_items; ++i) {
        const tali_model_item *item = &m->items[i];
        if (item->group != TALI_GROUP_FORCES || item->name == NULL) continue;
        const int column = column_of(table, item->name);
        if (column < 0) continue;
        if (columns != NULL) columns[n] = column;
        if (forces != NULL) forces[n] = (tal_force_ix){item->built};
        ++n;
    }
    return n;
}

static void check_table(tali_model *m, tali_model_item *item)
{
    item->table = tali_model_item_table(m, item, item->text[0]);
    if (item->table == NULL) return;
    if (tal_table_find_column(item->table, "time") < 0) {
        tali_model_item_error(m, item, "file", ": the table has no column 'time'");
    } else if (match_columns(m, item->table, NULL, NULL) == 0) {
        tali_model_item_error(m, item, "file", ": no column has the name of a force");
    }
}

// Times and controls of the forces that have a column.
static void build_table(tali_model *m, tali_model_item *item)
{
    const tal_table *table = item->table;
    const int rows = tal_table_num_rows(table), n = match_columns(m, table, NULL, NULL);
    const int time = tal_table_find_column(table, "time");
    int *columns = tali_arena_take(&m->arena, (size_t)n * sizeof *columns);
    tal_force_ix *forces = tali_arena_take(&m->arena, (size_t)n * sizeof *forces);
    double *times = tali_arena_take(&m->arena, (size_t)rows * sizeof *times + 1);
    double *values = tali_arena_take(&m->arena, (size_t)rows * (size_t)n * sizeof *values + 1);
    if (columns == NULL || forces == NULL || times == NULL || values == NULL) {
        m->no_memory = true;
        return;
    }
    (void)match_columns(m, table, columns, forces);
    for (int i = 0; i < rows; ++i) {
        times[i] = tal_table_value(table, i, time);
        for (int k = 0; k < n; ++k) {
            values[(size_t)i * (size_t)n + (size_t)k] = tal_table_value(table, i, columns[k]);
        }
    }
    item->built = tal_forces_add_table_controller(m->forces, item->name, forces, n, times, values,
                                                  rows, (tal_nodes)item->ref[DRIVEN])
                      .i;
}

// ---- measures, reflexes, feedback

#define DRIVES                                                                                     \
    {                                                                                              \
        "force", TALI_TYPE_FORCE, .doc = "the actuator or muscle that it drives"                   \
    }

static const tali_model_attribute measure_attributes[] = {
    DRIVES,
    {"measure", TALI_TYPE_MEASURE, .doc = "one number, at velocity or before"},
    {"gain", TALI_TYPE_REAL, 1, "1", .doc = "control per measure"},
    {.name = NULL}};

static void build_measure_controller(tali_model *m, tali_model_item *item)
{
    const tal_measure_ix measure = tali_model_measure_at(m, item->ref[DRIVEN + 1]);
    item->built = tal_forces_add_measure_controller(m->forces, item->name, driven(m, item),
                                                    item->p[0], measure)
                      .i;
}

static void describe_measure_controller(tali_model_description *d)
{
    const tali_controller_facts *facts = facts_of(d);
    say_driven(d);
    tali_model_say_index(d, facts->measure.i);
    tali_model_say_number(d, facts->gain);
}

static const tali_model_attribute reflex_attributes[] = {
    {"muscle", TALI_TYPE_FORCE, .doc = "whose stretch it resists"},
    {"gain", TALI_TYPE_REAL, 1, .doc = "control per lengthening over the largest fiber speed"},
    {.name = NULL}};

static void build_reflex(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_reflex(m->forces, item->name, driven(m, item), item->p[0]).i;
}

static void describe_reflex(tali_model_description *d)
{
    say_driven(d);
    tali_model_say_number(d, facts_of(d)->gain);
}

static const tali_model_attribute feedback_attributes[] = {
    DRIVES,
    {"mobility", TALI_TYPE_MOBILITY, .flags = TALI_COUNTED_WITH_ANGLES,
     .doc = "the coordinate that is to follow the function inside, or to stay at zero"},
    {"stiffness", TALI_TYPE_REAL, 1, "0", .doc = "control per coordinate [1/rad or 1/m]"},
    {"damping", TALI_TYPE_REAL, 1, "0", .doc = "control per rate of it [s/rad or s/m]"},
    {.name = NULL}};

static void build_feedback(tali_model *m, tali_model_item *item)
{
    const tal_feedback feedback = {
        .mobility = tali_model_mobility_at(m, item->ref[DRIVEN + 1], item->ref[DRIVEN + 2]),
        .stiffness = item->p[0],
        .damping = item->p[1],
        .target = tali_model_take_function(m, item, 0)};
    item->built = tal_forces_add_feedback(m->forces, item->name, driven(m, item), &feedback).i;
}

static void describe_feedback(tali_model_description *d)
{
    const tali_controller_facts *facts = facts_of(d);
    say_driven(d);
    tali_model_say_index(d, facts->mobility.body.i);
    tali_model_say_index(d, facts->mobility.i);
    tali_model_say_number(d, facts->stiffness);
    tali_model_say_number(d, facts->damping);
    if (facts->num_functions > 0) tali_model_say_function(d, facts->functions[0]);
}

// ---- the rows

#define CONTROLLER                                                                                 \
    .shared = controller_attributes, .start = start_controller,                                    \
    .describe_shared = describe_controller

const tali_model_row tali_model_controller_rows[] = {
    {.name = "function_controller",
     .kind = "function controller",
     .doc = "Functions of time, one for each control that it drives.",
     .children = TALI_GROUP_DRIVES,
     .min_children = 1,
     .max_children = -1,
     .build = build_function_controller,
     .write_children = write_drives,
     CONTROLLER},
    {.name = "table_controller",
     .doc = "Columns of a table, each with the name of the force that it drives (or that name and "
            "'.excitation'). It is written as a `<function_controller>`.",
     .own = table_attributes,
     .check = check_table,
     .build = build_table,
     CONTROLLER},
    {.name = "measure_controller",
     .kind = "measure controller",
     .doc = "A gain times a measure.",
     .own = measure_attributes,
     .build = build_measure_controller,
     .describe = describe_measure_controller,
     CONTROLLER},
    {.name = "reflex",
     .kind = "reflex",
     .doc = "A stretch reflex: it excites a muscle while its path gets longer.",
     .own = reflex_attributes,
     .build = build_reflex,
     .describe = describe_reflex,
     CONTROLLER},
    {.name = "feedback",
     .kind = "feedback",
     .doc = "stiffness (target - q) + damping (target' - qdot). The function inside is the target "
            "over time, in rad or m; none: zero.",
     .own = feedback_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .max_children = 1,
     .build = build_feedback,
     .describe = describe_feedback,
     CONTROLLER},
    {.name = NULL}};

bool tali_model_find_controller(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_forces *forces = d->w->model.forces;
    const tal_controller_ix controller = {d->index};
    if (controller.i >= tal_forces_num_controllers(forces)) return false;
    const char *kind = tal_controller_kind(forces, controller);
    d->name = tal_controller_name(forces, controller);
    if (tali_controller_facts_of(forces, controller) != NULL) {
        d->row = tali_model_row_of_kind(TALI_GROUP_CONTROLLERS, kind);
    }
    if (d->row == NULL) {
        tali_model_write_refuse(d->w,
                                "controller '%s' is of kind '%s', which cannot be written to a "
                                "file: use a measure controller",
                                d->name, kind);
    }
    return true;
}
