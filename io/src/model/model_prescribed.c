// The table: forces that are functions of time, and external loads from tables.
#include "force_facts_internal.h"

#include "model/model_write_internal.h"

#include <stdio.h>

enum {
    BODY = TALI_FORCE_REFS,
    FORCE_FRAME,
    POINT_FRAME,
    NUM_FUNCTIONS = 9 // force, point, torque
};

const tali_model_attribute tali_model_prescribed_force_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"force_frame", TALI_TYPE_BODY, .initial = "ground",
     .doc = "body in whose axes force and torque are given"},
    {"point_frame", TALI_TYPE_BODY, .initial = "",
     .doc = "body in whose frame the point is given; default: the body that it acts on"},
    {.name = NULL}};

static const tali_model_attribute component_attributes[] = {
    {"axis", TALI_TYPE_WORD, .words = "x|y|z", .doc = "along or about which"}, {.name = NULL}};

// A component that is given twice would be lost.
static void check_component(tali_model *m, tali_model_item *item)
{
    const int first = item->parent >= 0 ? m->items[item->parent].first : -1;
    for (int c = first; c >= 0 && &m->items[c] != item; c = m->items[c].next) {
        const tali_model_item *other = &m->items[c];
        if (other->row != item->row || other->ref[0] != item->ref[0]) continue;
        tali_model_item_error(m, item, "axis", ": this component is given twice");
        return;
    }
}

static void describe_component(tali_model_description *d)
{
    tali_force_facts facts;
    (void)tali_force_facts_of(d->w->model.forces, (tal_force_ix){d->owner}, &facts);
    tali_model_say_index(d, d->index % 3);
    tali_model_say_function(d, facts.functions[d->index]);
}

#define COMPONENT(element, text)                                                                   \
    {                                                                                              \
        .name = (element), .doc = (text), .own = component_attributes,                             \
        .children = TALI_GROUP_FUNCTIONS, .min_children = 1, .max_children = 1,                    \
        .check = check_component, .describe = describe_component                                   \
    }

const tali_model_row tali_model_component_rows[] = {
    COMPONENT("force", "One component of the force, a function of time [N]."),
    COMPONENT("point", "One coordinate of the point where the force acts [m]."),
    COMPONENT("torque", "One component of the torque [N m]."),
    {.name = NULL}};

void tali_model_build_prescribed_force(tali_model *m, tali_model_item *item)
{
    tal_prescribed_force_def def = tal_prescribed_force_def_default();
    def.body = tali_model_body_at(m, item->ref[BODY]);
    def.force_frame = tali_model_body_at(m, item->ref[FORCE_FRAME]);
    if (item->ref[POINT_FRAME] != TALI_NO_BODY) {
        def.point_frame = tali_model_body_at(m, item->ref[POINT_FRAME]);
    }
    tal_function **functions[] = {def.force, def.point, def.torque};
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        const tali_model_item *part = &m->items[c];
        const ptrdiff_t which = part->row - tali_model_component_rows;
        functions[which][part->ref[0]] = tali_model_take_function(m, part, 0);
    }
    item->built = tal_forces_add_prescribed_force(m->forces, item->name, &def).i;
}

void tali_model_describe_prescribed_force(tali_model_description *d)
{
    tali_force_facts facts;
    (void)tali_force_facts_of(d->w->model.forces, (tal_force_ix){d->index}, &facts);
    tali_model_say_index(d, facts.bodies[0].i);
    tali_model_say_index(d, facts.bodies[1].i);
    tali_model_say_index(d, facts.count); // of the point's frame
}

void tali_model_write_components(tali_model_description *force)
{
    tali_model_writer *w = force->w;
    tali_force_facts facts;
    (void)tali_force_facts_of(w->model.forces, (tal_force_ix){force->index}, &facts);
    tali_model_sink_put(&w->out, "\n");
    for (int i = 0; i < NUM_FUNCTIONS; ++i) {
        if (facts.functions[i] == NULL) continue;
        tali_model_description d = {.w = w,
                                    .row = &tali_model_component_rows[i / 3],
                                    .whose = force->name,
                                    .owner = force->index,
                                    .index = i};
        tali_model_write_element(&d, "      ", "\n");
    }
    tali_model_sink_put(&w->out, "    ");
}

// ---- external loads

const tali_model_attribute tali_model_external_load_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"force_frame", TALI_TYPE_BODY, .initial = "ground",
     .doc = "body in whose axes force and torque are given"},
    {"point_frame", TALI_TYPE_BODY, .initial = "ground",
     .doc = "body in whose frame the point is given"},
    {"file", TALI_TYPE_TEXT, .doc = "path of a table with a column `time`, relative to this file"},
    {"force", TALI_TYPE_TEXT,
     .doc = "what the names of its three columns begin with; x, y, z follow [N]"},
    {"point", TALI_TYPE_TEXT, .initial = "",
     .doc = "the same for the point where the force acts [m]; default: the origin of the body"},
    {"torque", TALI_TYPE_TEXT, .initial = "", .doc = "the same for a torque [N m]"},
    {.name = NULL}};

enum {
    FILE_NAME,
    FIRST_PREFIX
};

// The column of a component; -1, and an error, when there is none.
static int find_column(tali_model *m, const tali_model_item *item, const char *attribute,
                       const char *prefix, int axis)
{
    char name[2 * TAL_MAX_NAME];
    (void)snprintf(name, sizeof name, "%s%c", prefix, "xyz"[axis]);
    const int column = tal_table_find_column(item->table, name);
    if (column < 0) {
        tali_model_item_error(m, item, attribute, ": the table has no column '%.60s'", name);
    }
    return column;
}

void tali_model_check_external_load(tali_model *m, tali_model_item *item)
{
    static const char *const attributes[] = {"force", "point", "torque"};
    item->table = tali_model_item_table(m, item, item->text[FILE_NAME]);
    if (item->table == NULL) return;
    if (tal_table_find_column(item->table, "time") < 0) {
        tali_model_item_error(m, item, "file", ": the table has no column 'time'");
    }
    for (int i = 0; i < NUM_FUNCTIONS; ++i) {
        const char *prefix = item->text[FIRST_PREFIX + i / 3];
        if (prefix == NULL || *prefix == '\0') continue;
        if (find_column(m, item, attributes[i / 3], prefix, i % 3) < 0) return;
    }
}

// Three columns as rows of three; NULL where there are none, or memory runs out.
static const double *take_rows(tali_model *m, const tali_model_item *item, const char *prefix)
{
    if (*prefix == '\0') return NULL;
    const int count = tal_table_num_rows(item->table);
    double *rows = tali_arena_take(&m->arena, 3 * (size_t)count * sizeof *rows + 1);
    m->no_memory = m->no_memory || rows == NULL;
    for (int axis = 0; axis < 3 && rows != NULL; ++axis) {
        const int column = find_column(m, item, "file", prefix, axis);
        for (int i = 0; i < count; ++i) {
            rows[3 * i + axis] = tal_table_value(item->table, i, column);
        }
    }
    return rows;
}

void tali_model_build_external_load(tali_model *m, tali_model_item *item)
{
    tal_external_load_def def = tal_external_load_def_default();
    const int time = tal_table_find_column(item->table, "time");
    def.count = tal_table_num_rows(item->table);
    double *times = tali_arena_take(&m->arena, (size_t)def.count * sizeof *times + 1);
    def.body = tali_model_body_at(m, item->ref[BODY]);
    def.force_frame = tali_model_body_at(m, item->ref[FORCE_FRAME]);
    def.point_frame = tali_model_body_at(m, item->ref[POINT_FRAME]);
    def.force = take_rows(m, item, item->text[FIRST_PREFIX]);
    def.point = take_rows(m, item, item->text[FIRST_PREFIX + 1]);
    def.torque = take_rows(m, item, item->text[FIRST_PREFIX + 2]);
    m->no_memory = m->no_memory || times == NULL;
    if (m->no_memory) return;
    for (int i = 0; i < def.count; ++i) {
        times[i] = tal_table_value(item->table, i, time);
    }
    def.times = times;
    item->built = tal_forces_add_external_load(m->forces, item->name, &def).i;
}
