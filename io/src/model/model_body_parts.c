// The table: what is in a body: coordinates, and functions of a mobilizer made of them.
#include "matter_facts_internal.h"

#include "model/model_write_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tali_model_attribute coordinate_attributes[] = {
    {"index", TALI_TYPE_INTEGER, .initial = "0", .doc = "which coordinate of the body"},
    {"name", TALI_TYPE_NAME, .initial = "",
     .doc = "instead of `<body>.q<index>`; unique among coordinates"},
    {"lock", TALI_TYPE_WORD, .initial = "free", .words = "free|acceleration|velocity|position",
     .doc = "locked at the start, at this level; the other coordinates of the body are not"},
    {"lock_at", TALI_TYPE_REALS, .initial = "",
     .doc = "coordinate, speed or acceleration at which it is locked: one number"},
    {.name = NULL}};

static const tali_model_attribute part_attributes[] = {
    {"index", TALI_TYPE_INTEGER, .doc = "which of the three: 0, 1 or 2"},
    {"coordinates", TALI_TYPE_REALS, .doc = "the arguments of the function, by number"},
    {"axis", TALI_TYPE_REALS, .initial = "", .doc = "its direction; default: x, y or z, by index"},
    {.name = NULL}};

static void check_coordinate(tali_model *m, tali_model_item *item)
{
    const tali_model_item *body = &m->items[item->parent];
    const int nq = tali_model_item_nq(body);
    if (item->ref[TALI_PART_INDEX] >= nq) {
        tali_model_item_error(m, item, "index", ": the body has %d coordinate%s", nq,
                              nq == 1 ? "" : "s");
        return;
    }
    if (item->lists[0].count > 1 || (item->lists[0].count == 1 && item->ref[TALI_PART_LOCK] == 0)) {
        tali_model_item_error(m, item, "lock_at", ": 'lock_at' is one number, with 'lock'");
    }
    const bool speed = item->ref[TALI_PART_LOCK] != (int)TAL_LEVEL_POSITION;
    if (item->unit != 1.0 && item->ref[TALI_PART_INDEX] < tali_model_item_num_angles(body, speed)) {
        for (int i = 0; i < item->lists[0].count; ++i) {
            item->lists[0].values[i] *= item->unit;
        }
    }
}

static void build_coordinate(tali_model *m, tali_model_item *item)
{
    const tal_body_ix body = {m->items[item->parent].built};
    if (item->name == NULL) return;
    (void)tal_body_name_coordinate(m->matter, body, item->ref[TALI_PART_INDEX], item->name);
}

static void start_coordinate(tali_model *m, tali_model_item *item)
{
    const tal_level level = (tal_level)item->ref[TALI_PART_LOCK];
    const tal_mobility at = {{m->items[item->parent].built}, item->ref[TALI_PART_INDEX]};
    if (level == TAL_LEVEL_FREE) return;
    if (item->lists[0].count == 0) {
        (void)tal_mobility_lock(m->matter, m->state, at, level);
    } else {
        (void)tal_mobility_lock_at(m->matter, m->state, at, level, item->lists[0].values[0]);
    }
}

// A <rotation> or <translation>: index, coordinates, axis, and only one of each.
static void check_part(tali_model *m, tali_model_item *item)
{
    const tali_model_item *body = &m->items[item->parent];
    if (tali_model_row_ops(body->row) != NULL) {
        tali_model_item_error(m, item, NULL, " is allowed in <function_based> only");
        return;
    }
    if (item->ref[TALI_PART_INDEX] > 2) {
        tali_model_item_error(m, item, "index", ": 'index' is %d; it must be 0, 1 or 2",
                              item->ref[TALI_PART_INDEX]);
    }
    const tali_model_list *coords = &item->lists[0];
    for (int i = 0; i < coords->count; ++i) {
        const double c = coords->values[i];
        if (c >= 0.0 && c < body->ref[TALI_BODY_REFS] && c == floor(c) && i < TAL_MAX_NU) continue;
        tali_model_item_error(m, item, "coordinates", ": '%g' is not a coordinate of the body", c);
        break;
    }
    const int axis = item->lists[1].count;
    if (axis != 0 && axis != 3) {
        tali_model_item_error(m, item, "axis", ": 'axis' has %d numbers; 3 are needed", axis);
    }
    for (int other = item->next; other >= 0; other = m->items[other].next) {
        if (m->items[other].row != item->row) continue;
        if (m->items[other].ref[TALI_PART_INDEX] != item->ref[TALI_PART_INDEX]) continue;
        tali_model_item_error(m, &m->items[other], "index", ": there is another one with index %d",
                              item->ref[TALI_PART_INDEX]);
    }
}

// The lock of one mobility, where the body is not locked as a whole.
static tal_level lock_of(const tal_model *model, tal_body_ix body, int i)
{
    const tal_matter *matter = model->matter;
    if (tal_body_lock_level(matter, model->state, body) != TAL_LEVEL_FREE) return TAL_LEVEL_FREE;
    if (i >= tal_body_nu(matter, body)) return TAL_LEVEL_FREE;
    return tal_mobility_lock_level(matter, model->state, (tal_mobility){body, i});
}

static void describe_coordinate(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_body_ix body = {d->owner};
    const tal_level level = lock_of(model, body, d->index);
    tali_model_say_index(d, d->index);
    tali_model_say_index(d, (int)level);
    if (level == TAL_LEVEL_FREE) return;
    const double *at = tali_matter_lock_values(model->matter, model->state, body);
    tali_model_say_values(d, at + d->index, 1);
}

enum {
    COORDINATE_ROW,
    ROTATION_ROW,
    TRANSLATION_ROW
};

static const tal_mobilizer_function *part_of(const tal_function_based_def *def, bool turn, int i)
{
    return turn ? &def->rotation[i] : &def->translation[i];
}

static const tal_function_based_def *functions_of(const tal_model *model, int body)
{
    const tali_matter_body_facts facts =
        tali_matter_body_facts_of(model->matter, (tal_body_ix){body});
    return tali_matter_function_based_facts(facts.ops, facts.self);
}

static void describe_part(tali_model_description *d)
{
    const tal_function_based_def *def = functions_of(&d->w->model, d->owner);
    const bool turn = d->row == &tali_model_body_part_rows[ROTATION_ROW];
    const tal_mobilizer_function *part = part_of(def, turn, d->index);
    const tal_vec3 *axis = turn ? &def->rotation_axis[d->index] : &def->translation_axis[d->index];
    double *coords = tali_model_keep_values(d, part->num_coords);
    for (int i = 0; i < part->num_coords; ++i) {
        coords[i] = part->coords[i];
    }
    tali_model_say_index(d, d->index);
    tali_model_say_values(d, coords, part->num_coords);
    tali_model_say_values(d, &axis->x, 3);
    tali_model_say_function(d, part->function);
}

static void write_part(const tali_model_description *body, int row, int index, const char *name)
{
    tali_model_description d = {.w = body->w,
                                .row = &tali_model_body_part_rows[row],
                                .name = name,
                                .whose = body->name,
                                .owner = body->index,
                                .index = index};
    tali_model_write_element(&d, row == COORDINATE_ROW ? "    " : "", "");
}

// The functions of a mobilizer that is made of them; coordinates that are locked alone, or have
// other names than those they have anyway.
void tali_model_write_body_parts(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_body_ix body = {d->index};
    const tal_function_based_def *functions = functions_of(model, d->index);
    for (int i = 0; functions != NULL && i < 6; ++i) {
        const bool turn = i < 3;
        if (part_of(functions, turn, i % 3)->function == NULL) continue;
        write_part(d, turn ? ROTATION_ROW : TRANSLATION_ROW, i % 3, NULL);
    }
    for (int i = 0; i < tal_body_nq(model->matter, model->state, body); ++i) {
        char name[TAL_COORDINATE_NAME_SIZE], usual[TAL_COORDINATE_NAME_SIZE + 16];
        (void)tal_body_coordinate_name(model->matter, model->state, body, i, name);
        (void)snprintf(usual, sizeof usual, "%s.q%d", d->name, i);
        const bool has_name = strcmp(name, usual) != 0;
        if (!has_name && lock_of(model, body, i) == TAL_LEVEL_FREE) continue;
        write_part(d, COORDINATE_ROW, i, has_name ? name : NULL);
    }
}

const tali_model_row tali_model_body_part_rows[] = {
    {.name = "coordinate",
     .doc = "Names a coordinate of the body, or locks it alone.",
     .own = coordinate_attributes,
     .check = check_coordinate,
     .build = build_coordinate,
     .start = start_coordinate,
     .describe = describe_coordinate},
    {.name = "rotation",
     .doc =
         "In `<function_based>`: one of three body-fixed rotations, as a function of coordinates.",
     .own = part_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .check = check_part,
     .describe = describe_part},
    {.name = "translation",
     .doc = "In `<function_based>`: one of three translations in F, as a function of coordinates.",
     .own = part_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .check = check_part,
     .describe = describe_part},
    {.name = NULL}};
