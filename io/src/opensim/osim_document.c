// A model's document, changed and written again.
#include "opensim/document_internal.h"

#include <talus/io/number.h>

#include <stdio.h>
#include <string.h>

// Elements are made by readers and by this file, never const; whoever holds the document may change
// it.
static tali_xml_element *open_element(const tali_xml_element *e)
{
    return (tali_xml_element *)e;
}

// --- changing ---

bool tali_osim_set_text(tali_arena *arena, const tali_xml_element *e, const char *text)
{
    const char *copy = tali_arena_copy(arena, text, strlen(text));
    if (copy != NULL) open_element(e)->text = copy;
    return copy != NULL;
}

bool tali_osim_set_numbers(tali_arena *arena, const tali_xml_element *e, const double values[],
                           int n)
{
    char text[1024];
    size_t used = 0;
    for (int i = 0; i < n && used + 32 < sizeof text; ++i) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.17g", i > 0 ? " " : "",
                                 values[i]);
    }
    return tali_osim_set_text(arena, e, text);
}

tali_xml_element *tali_osim_add_element(tali_arena *arena, const tali_xml_element *parent,
                                        const char *name)
{
    tali_xml_element *e = tali_arena_take(arena, sizeof *e);
    const char *copy = tali_arena_copy(arena, name, strlen(name));
    if (e == NULL || copy == NULL) return NULL;
    *e = (tali_xml_element){
        .name = copy, .text = "", .parent = parent, .line = parent->line, .column = parent->column};
    const tali_xml_element *last = parent->first;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    if (last != NULL) {
        open_element(last)->next = e;
    } else {
        open_element(parent)->first = e;
    }
    return e;
}

bool tali_osim_set_property(tali_arena *arena, const tali_xml_element *object, const char *name,
                            const double values[], int n)
{
    const tali_xml_element *e = tali_xml_child(object, name);
    if (e == NULL) e = tali_osim_add_element(arena, object, name);
    return e != NULL && tali_osim_set_numbers(arena, e, values, n);
}

static bool copy_attributes(tali_arena *arena, tali_xml_element *to, const tali_xml_element *from)
{
    tali_xml_attribute *list =
        tali_arena_take(arena, (size_t)(from->num_attributes + 1) * sizeof *list);
    for (int i = 0; i < from->num_attributes && list != NULL; ++i) {
        const tali_xml_attribute *at = &from->attributes[i];
        list[i] = *at;
        list[i].name = tali_arena_copy(arena, at->name, strlen(at->name));
        list[i].value = tali_arena_copy(arena, at->value, strlen(at->value));
        if (list[i].name == NULL || list[i].value == NULL) return false;
    }
    to->attributes = list;
    to->num_attributes = list != NULL ? from->num_attributes : 0;
    return list != NULL;
}

// Documents are 64 levels deep at most (tali_xml_limits), so a walk along parents is enough.
tali_xml_element *tali_osim_copy_element(tali_arena *arena, const tali_xml_element *parent,
                                         const tali_xml_element *e)
{
    tali_xml_element *whole = NULL;
    const tali_xml_element *to_parent = parent, *from = e;
    while (from != NULL) {
        tali_xml_element *to = tali_osim_add_element(arena, to_parent, from->name);
        if (to == NULL || !copy_attributes(arena, to, from) ||
            !tali_osim_set_text(arena, to, from->text)) {
            return NULL;
        }
        if (whole == NULL) whole = to;
        if (from->first != NULL) {
            from = from->first;
            to_parent = to;
            continue;
        }
        while (from != e && from->next == NULL) {
            from = from->parent;
            to_parent = to_parent->parent;
        }
        from = from == e ? NULL : from->next;
    }
    return whole;
}

void tali_osim_replace_element(const tali_xml_element *old, const tali_xml_element *made)
{
    tali_xml_element *to = open_element(old);
    const tali_xml_element *before = made->parent->first;
    while (before != made && before->next != made) {
        before = before->next;
    }
    if (before != made) open_element(before)->next = made->next;
    to->name = made->name;
    to->text = made->text;
    to->attributes = made->attributes;
    to->num_attributes = made->num_attributes;
    to->first = made->first;
    for (const tali_xml_element *e = to->first; e != NULL; e = e->next) {
        open_element(e)->parent = to;
    }
}

void tali_osim_adopt_children(const tali_xml_element *to, const tali_xml_element *from)
{
    open_element(to)->first = from->first;
    for (const tali_xml_element *e = to->first; e != NULL; e = e->next) {
        open_element(e)->parent = to;
    }
    int num = 0;
    tali_xml_attribute *list = (tali_xml_attribute *)to->attributes;
    for (int i = 0; i < to->num_attributes; ++i) {
        if (strcmp(list[i].name, "file") != 0) list[num++] = list[i];
    }
    open_element(to)->num_attributes = num;
}

bool tali_osim_multiply_function(tali_osim *o, const tali_xml_element *function, double scale)
{
    if (strcmp(function->name, "MultiplierFunction") == 0) {
        const double product = scale * tali_osim_number(o, function, "scale", 1.0);
        return tali_osim_set_property(&o->arena, function, "scale", &product, 1);
    }
    tali_xml_element *outer = open_element(function);
    tali_xml_element *inner = tali_arena_take(&o->arena, sizeof *inner);
    if (inner == NULL) return false;
    *inner = *outer;
    inner->next = NULL;
    inner->attributes = NULL;
    inner->num_attributes = 0;
    for (const tali_xml_element *e = inner->first; e != NULL; e = e->next) {
        open_element(e)->parent = inner;
    }
    outer->name = "MultiplierFunction";
    outer->text = "";
    outer->first = NULL;
    tali_xml_element *property = tali_osim_add_element(&o->arena, outer, "function");
    if (property == NULL) return false;
    property->first = inner;
    inner->parent = property;
    return tali_osim_set_property(&o->arena, outer, "scale", &scale, 1);
}

// --- writing ---

static void put_escaped(tali_scene_bytes *out, const char *text)
{
    static const struct {
        char c;
        const char *as;
    } rows[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

    for (; *text != '\0'; ++text) {
        const char *as = NULL;
        for (int i = 0; i < 4; ++i) {
            if (rows[i].c == *text) as = rows[i].as;
        }
        tali_scene_put(out, as != NULL ? as : text, as != NULL ? strlen(as) : 1);
    }
}

static void put_indent(tali_scene_bytes *out, int depth)
{
    for (int i = 0; i < depth; ++i) {
        tali_scene_put(out, "\t", 1);
    }
}

static void put_tag(tali_scene_bytes *out, const tali_xml_element *e)
{
    tali_scene_put(out, "<", 1);
    tali_scene_put_text(out, e->name);
    for (int i = 0; i < e->num_attributes; ++i) {
        tali_scene_put(out, " ", 1);
        tali_scene_put_text(out, e->attributes[i].name);
        tali_scene_put(out, "=\"", 2);
        put_escaped(out, e->attributes[i].value);
        tali_scene_put(out, "\"", 1);
    }
    const bool is_empty = e->first == NULL && e->text[0] == '\0';
    tali_scene_put_text(out, is_empty ? " />" : ">");
    if (!is_empty) put_escaped(out, e->text);
    if (e->first != NULL || is_empty) tali_scene_put(out, "\n", 1);
}

static void put_end(tali_scene_bytes *out, const tali_xml_element *e)
{
    tali_scene_put(out, "</", 2);
    tali_scene_put_text(out, e->name);
    tali_scene_put(out, ">\n", 2);
}

void tali_osim_write_document(const tali_xml_element *root, tali_scene_bytes *out)
{
    tali_scene_put_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n");
    const tali_xml_element *e = root;
    int depth = 0;
    while (e != NULL) {
        put_indent(out, depth);
        put_tag(out, e);
        if (e->first != NULL) {
            e = e->first;
            ++depth;
            continue;
        }
        if (e->text[0] != '\0') put_end(out, e);
        while (e != root && e->next == NULL) {
            e = e->parent;
            put_indent(out, --depth);
            put_end(out, e);
        }
        e = e == root ? NULL : e->next;
    }
}
