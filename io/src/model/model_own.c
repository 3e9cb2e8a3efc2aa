// Elements that users register: from their defs to rows of the table, to Systems and back to text.
#include "error_internal.h"
#include "force_facts_internal.h"
#include "matter_facts_internal.h"
#include "measure_facts_internal.h"

#include "model/model_write_internal.h"

#include <math.h>
#include <string.h>

// ---- rows

tali_model_group tali_model_group_of_place(tal_model_place place)
{
    static const tali_model_group groups[] = {[TAL_MODEL_BODY] = TALI_GROUP_BODIES,
                                              [TAL_MODEL_CONSTRAINT] = TALI_GROUP_CONSTRAINTS,
                                              [TAL_MODEL_MOTION] = TALI_GROUP_MOTIONS,
                                              [TAL_MODEL_MEASURE] = TALI_GROUP_MEASURES,
                                              [TAL_MODEL_FORCE] = TALI_GROUP_FORCES};
    return groups[place];
}

// A built-in row of the place, for what all of them have.
static const tali_model_row *row_like(tal_model_place place)
{
    const tali_model_row *row = tali_model_rows(tali_model_group_of_place(place));
    while (row->name != NULL && row->shared == NULL) {
        ++row;
    }
    return row;
}

static tali_model_attribute attribute_of(const tal_model_attribute *a)
{
    const tali_model_type types[] = {[TAL_MODEL_NUMBERS] = TALI_TYPE_REAL,
                                     [TAL_MODEL_ANGLES] = TALI_TYPE_REAL,
                                     [TAL_MODEL_WHOLE_NUMBER] = TALI_TYPE_INTEGER,
                                     [TAL_MODEL_YES_OR_NO] = TALI_TYPE_BOOL,
                                     [TAL_MODEL_TEXT] = TALI_TYPE_TEXT,
                                     [TAL_MODEL_FRAME] = TALI_TYPE_FRAME,
                                     [TAL_MODEL_BODY_NAME] = TALI_TYPE_BODY,
                                     [TAL_MODEL_MOBILITY] = TALI_TYPE_MOBILITY,
                                     [TAL_MODEL_MEASURE_NAME] = TALI_TYPE_MEASURE};
    tali_model_attribute out = {a->name,
                                types[a->type],
                                a->count,
                                a->initial,
                                a->type == TAL_MODEL_ANGLES ? TALI_IS_ANGLE : 0u,
                                NULL,
                                a->doc};
    if (out.type == TALI_TYPE_REAL && a->count == 0) out.type = TALI_TYPE_REALS;
    return out;
}

static void build_own(tali_model *m, tali_model_item *item);
static void describe_own(tali_model_description *d);

// The row has the shared attributes of its place, and those of the definition.
void tali_model_own_row_make(const tal_model_element *element, tali_model_own_row *out)
{
    const tali_model_row *like = row_like(element->place);
    const bool is_body = element->place == TAL_MODEL_BODY;
    *out = (tali_model_own_row){.group = tali_model_group_of_place(element->place)};
    for (int i = 0; i < element->num_attributes; ++i) {
        out->attributes[i] = attribute_of(&element->attributes[i]);
    }
    out->row = (tali_model_row){.name = element->name,
                                .doc = element->doc,
                                .shared = like->shared,
                                .own = out->attributes,
                                .children = is_body ? like->children : TALI_GROUP_NONE,
                                .max_children = is_body ? -1 : 0,
                                .check = is_body ? like->check : NULL,
                                .build = build_own,
                                .start = like->start,
                                .describe_shared = like->describe_shared,
                                .describe = describe_own,
                                .write_children = is_body ? like->write_children : NULL,
                                .angles_q = element->angles_q,
                                .angles_u = element->angles_u,
                                .registered = element};
}

// ---- is a registry right?

static bool is_identifier(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return name != NULL && *name != '\0' && strchr("0123456789", *name) == NULL &&
           strspn(name, letters) == strlen(name);
}

// What is wrong with an attribute; NULL: nothing.
static const char *wrong_with_attribute(const tal_model_element *element, int i)
{
    const tal_model_attribute *a = &element->attributes[i];
    const tali_model_row *like = row_like(element->place);
    if (!is_identifier(a->name)) return "a name can have only letters, digits and '_'";
    for (const tali_model_attribute *b = like->shared; b->name != NULL; ++b) {
        if (strcmp(b->name, a->name) == 0) {
            return "all elements of that place have this attribute already";
        }
    }
    for (int k = 0; k < i; ++k) {
        if (strcmp(element->attributes[k].name, a->name) == 0) return "the name is used twice";
    }
    if ((int)a->type < 0 || a->type > TAL_MODEL_MEASURE_NAME) return "its type is invalid";
    if (a->count < 0 || a->count > TAL_MODEL_MAX_NUMBERS) return "its count is out of range";
    if (a->type == TAL_MODEL_FRAME && a->initial != NULL && strcmp(a->initial, "0 0 0") != 0) {
        return "the only default of a frame is 0 0 0";
    }
    const bool refers = a->type == TAL_MODEL_BODY_NAME || a->type == TAL_MODEL_MOBILITY;
    if (element->place == TAL_MODEL_BODY && refers) return "a body cannot refer to others";
    if (a->type == TAL_MODEL_MEASURE_NAME && element->place != TAL_MODEL_FORCE &&
        element->place != TAL_MODEL_MEASURE) {
        return "only measures and forces can refer to measures";
    }
    return NULL;
}

// What a table calls itself: they are found again by it.
static const char *table_name(tal_model_place place, const void *ops)
{
    switch (place) {
    case TAL_MODEL_BODY:
        return ((const tal_mobilizer_ops *)ops)->name;
    case TAL_MODEL_CONSTRAINT:
        return ((const tal_constraint_ops *)ops)->name;
    case TAL_MODEL_MOTION:
        return ((const tal_motion_ops *)ops)->name;
    case TAL_MODEL_MEASURE:
        return ((const tal_measure_ops *)ops)->name;
    case TAL_MODEL_FORCE:
        break;
    }
    return ((const tal_force_ops *)ops)->name;
}

// What is wrong with a registered element; NULL: nothing.
static const char *wrong_with_element(const tal_model_registry *registry, int i)
{
    const tal_model_element *element = &registry->elements[i];
    if (element->size != sizeof *element) return "its size is not sizeof(tal_model_element)";
    if ((int)element->place < 0 || element->place > TAL_MODEL_FORCE) return "its place is invalid";
    if (!is_identifier(element->name)) return "a name can have only letters, digits and '_'";
    if (element->ops == NULL || element->build == NULL || element->describe == NULL) {
        return "its ops, build or describe is NULL";
    }
    if (table_name(element->place, element->ops) == NULL) return "its ops have no name";
    if (element->num_attributes < 0 || element->num_attributes > TAL_MODEL_MAX_ATTRIBUTES ||
        (element->num_attributes > 0 && element->attributes == NULL)) {
        return "its number of attributes is out of range";
    }
    const tali_model_row *rows = tali_model_rows(tali_model_group_of_place(element->place));
    for (int k = 0; rows[k].name != NULL; ++k) {
        if (strcmp(rows[k].name, element->name) == 0) {
            return "there is a built-in element with that name";
        }
    }
    for (int k = 0; k < i; ++k) {
        const tal_model_element *other = &registry->elements[k];
        if (other->place == element->place && strcmp(other->name, element->name) == 0) {
            return "the name is used twice";
        }
    }
    return NULL;
}

tal_status tali_model_check_registry(const tal_model_registry *registry, const char *where)
{
    const int n = registry != NULL ? registry->num_elements : 0;
    if (n < 0 || (n > 0 && registry->elements == NULL)) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "the registry has %d elements, and %s list", n,
                           registry->elements == NULL ? "no" : "a");
    }
    for (int i = 0; i < n; ++i) {
        const tal_model_element *element = &registry->elements[i];
        const char *wrong = wrong_with_element(registry, i);
        const char *attribute = "";
        for (int k = 0; wrong == NULL && k < element->num_attributes; ++k) {
            wrong = wrong_with_attribute(element, k);
            if (wrong != NULL) attribute = element->attributes[k].name;
        }
        if (wrong == NULL) continue;
        return tali_breach(TAL_ERR_BAD_VALUE, where, "registered element %d '%s' %s: %s", i,
                           element->name != NULL ? element->name : "",
                           attribute != NULL ? attribute : "", wrong);
    }
    return TAL_OK;
}

// ---- building

static tal_model_value no_value(void)
{
    return (tal_model_value){.text = "",
                             .frame = TAL_XFORM_IDENTITY,
                             .body = TAL_GROUND,
                             .mobility = {TAL_GROUND, 0},
                             .measure = {-1}};
}

// A value of an item, at its place among all of them.
static tal_model_value value_at(const tali_model *m, const tali_model_item *item,
                                const tali_model_attribute *a, const tali_model_room *at)
{
    tal_model_value value = no_value();
    const int *ref = item->ref + at->ref;
    switch (a->type) {
    case TALI_TYPE_REAL:
        memcpy(value.numbers, item->p + at->p, (size_t)a->count * sizeof(double));
        value.count = a->count;
        break;
    case TALI_TYPE_REALS:
        value.list = item->lists[at->lists].values;
        value.count = item->lists[at->lists].count;
        break;
    case TALI_TYPE_FRAME:
        value.frame = tali_model_frame_at(item->p + at->p);
        break;
    case TALI_TYPE_TEXT:
        value.text = item->text[at->text];
        break;
    case TALI_TYPE_BODY:
        value.body = tali_model_body_at(m, *ref);
        break;
    case TALI_TYPE_MEASURE:
        value.measure = tali_model_measure_at(m, *ref);
        break;
    case TALI_TYPE_MOBILITY:
        value.mobility = tali_model_mobility_at(m, ref[0], ref[1]);
        break;
    default:
        value.integer = *ref;
        break;
    }
    return value;
}

// Add a registered element by the function of its user, with the values of the item.
static void build_own(tali_model *m, tali_model_item *item)
{
    const tal_model_element *element = item->row->registered;
    tal_model_value values[TAL_MODEL_MAX_ATTRIBUTES];
    tali_model_room at = {0, 0, 0, 0};
    const tali_model_attribute *a;
    int n = -1;
    for (const tali_model_attribute *b = item->row->shared; b->name != NULL; ++b) {
        --n; // the shared ones come first
    }
    for (int i = 0; (a = tali_model_row_attribute(item->row, i)) != NULL; ++i) {
        if (++n >= 0) values[n] = value_at(m, item, a, &at);
        const tali_model_room room = tali_model_room_of(a);
        at = (tali_model_room){at.p + room.p, at.ref + room.ref, at.text + room.text,
                               at.lists + room.lists};
    }
    const bool is_body = element->place == TAL_MODEL_BODY;
    tal_model_site site = {.system = m->system,
                           .matter = m->matter,
                           .forces = m->forces,
                           .name = item->name,
                           .body = tal_mobod_def_default(),
                           .constraint = tal_constraint_def_default(),
                           .motion = tal_motion_def_default()};
    if (is_body) {
        site.parent = tali_model_body_at(m, item->ref[TALI_BODY_PARENT]);
        site.body = tali_model_body_def_of(m, item);
    }
    if (element->place == TAL_MODEL_CONSTRAINT) {
        site.constraint = tali_model_constraint_def_of(item);
    }
    if (element->place == TAL_MODEL_MOTION) site.motion = tali_model_motion_def_of(m, item);
    item->built = element->build(element->context, &site, values);
    if (item->built < 0) {
        (void)tal_system_fail(m->system, TAL_ERR_CALLBACK, "it was not built");
    } else if (is_body) {
        tali_model_finish_body(m, item, (tal_body_ix){item->built});
    }
}

// ---- writing

// Whether a table is the one that was registered. A System has copies of tables.
static bool is_table(const tal_model_element *element, const void *ops)
{
    if (element->place == TAL_MODEL_BODY) {
        const tal_mobilizer_ops *a = element->ops, *b = ops;
        return strcmp(a->name, b->name) == 0 && a->calc_X_FM == b->calc_X_FM &&
               a->calc_H_FM == b->calc_H_FM;
    }
    if (element->place == TAL_MODEL_CONSTRAINT) {
        const tal_constraint_ops *a = element->ops, *b = ops;
        return strcmp(a->name, b->name) == 0 && a->calc_a == b->calc_a &&
               a->add_forces == b->add_forces;
    }
    if (element->place == TAL_MODEL_MOTION) {
        const tal_motion_ops *a = element->ops, *b = ops;
        return strcmp(a->name, b->name) == 0 && a->calc == b->calc;
    }
    const tal_force_ops *a = element->ops, *b = ops;
    return strcmp(a->name, b->name) == 0 && a->apply == b->apply;
}

const tali_model_row *tali_model_registered(const tali_model_writer *w, tal_model_place place,
                                            const void *ops, tali_model_own_row *own)
{
    for (int i = 0; w->registry != NULL && i < w->registry->num_elements; ++i) {
        const tal_model_element *element = &w->registry->elements[i];
        if (element->place != place || !is_table(element, ops)) continue;
        tali_model_own_row_make(element, own);
        return &own->row;
    }
    return NULL;
}

const tali_model_row *tali_model_registered_measure(const tali_model_writer *w,
                                                    tal_measure_ix measure, tali_model_own_row *own)
{
    for (int i = 0; w->registry != NULL && i < w->registry->num_elements; ++i) {
        const tal_model_element *element = &w->registry->elements[i];
        if (element->place != TAL_MODEL_MEASURE) continue;
        if (tali_measure_self_as(w->model.system, measure, element->ops) == NULL) continue;
        tali_model_own_row_make(element, own);
        return &own->row;
    }
    return NULL;
}

// As it was added with.
static const void *self_of(const tal_model *model, const tal_model_element *element, int index)
{
    const void *self = NULL;
    switch (element->place) {
    case TAL_MODEL_BODY:
        return tali_matter_body_facts_of(model->matter, (tal_body_ix){index}).self;
    case TAL_MODEL_CONSTRAINT:
        return tali_matter_constraint_facts_of(model->matter, (tal_constraint_ix){index}).self;
    case TAL_MODEL_MOTION:
        return tali_matter_motion_facts_of(model->matter, (tal_motion_ix){index}).self;
    case TAL_MODEL_MEASURE:
        return tali_measure_self_as(model->system, (tal_measure_ix){index}, element->ops);
    case TAL_MODEL_FORCE:
        break;
    }
    (void)tali_force_ops_of(model->forces, (tal_force_ix){index}, &self);
    return self;
}

static bool has_all_finite(const double values[], int count)
{
    for (int i = 0; i < count; ++i) {
        if (!isfinite(values[i])) return false;
    }
    return true;
}

// Say one value; false when no file can hold it.
static bool say_value(tali_model_description *d, const tali_model_attribute *a,
                      const tal_model_value *v)
{
    const tal_model *model = &d->w->model;
    const int b = a->type == TALI_TYPE_MOBILITY ? v->mobility.body.i : v->body.i;
    const double *numbers = d->p + d->at.p;
    switch (a->type) {
    case TALI_TYPE_REAL:
        tali_model_say_numbers(d, v->numbers, a->count);
        return has_all_finite(numbers, a->count);
    case TALI_TYPE_REALS:
        tali_model_say_values(d, v->list, v->count);
        return v->count >= 0 && (v->list != NULL || v->count == 0) &&
               has_all_finite(v->list, v->count);
    case TALI_TYPE_FRAME:
        tali_model_say_frame(d, &v->frame);
        return has_all_finite(numbers, 12);
    case TALI_TYPE_TEXT:
        tali_model_say_text(d, v->text);
        return v->text != NULL;
    case TALI_TYPE_BODY:
        tali_model_say_index(d, b);
        return b >= 0 && b < tal_matter_num_bodies(model->matter);
    case TALI_TYPE_MEASURE:
        tali_model_say_index(d, v->measure.i);
        return v->measure.i < tal_system_num_measures(model->system) &&
               (v->measure.i >= 0 || a->initial != NULL);
    case TALI_TYPE_MOBILITY:
        tali_model_say_index(d, b);
        tali_model_say_index(d, v->mobility.i);
        return b > 0 && b < tal_matter_num_bodies(model->matter) && v->mobility.i >= 0;
    default:
        tali_model_say_index(d, v->integer);
        return v->integer >= 0 && (a->type == TALI_TYPE_INTEGER || v->integer <= 1);
    }
}

// Ask the user's function for the values.
static void describe_own(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_model_element *element = d->row->registered;
    tal_model_value values[TAL_MODEL_MAX_ATTRIBUTES];
    for (int i = 0; i < element->num_attributes; ++i) {
        values[i] = no_value();
    }
    const tal_status st = element->describe(element->context, model, d->index,
                                            self_of(model, element, d->index), values);
    if (st != TAL_OK) {
        tali_model_write_refuse(d->w, "<%s> '%s' cannot be described (%s)", element->name, d->name,
                                tal_status_text(st));
        return;
    }
    for (int i = 0; i < element->num_attributes; ++i) {
        if (say_value(d, &d->row->own[i], &values[i])) continue;
        tali_model_write_refuse(d->w,
                                "<%s> '%s' has a value of '%s' that cannot be written to a file",
                                element->name, d->name, d->row->own[i].name);
        return;
    }
}
