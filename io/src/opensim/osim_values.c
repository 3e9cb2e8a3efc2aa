// Properties of objects: where they stand, what they say.
#include "alloc_internal.h"
#include "array_internal.h"
#include "error_internal.h"

#include "opensim/osim_internal.h"
#include "table/table_internal.h"
#include "text/text_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --- diagnostics ---

static void say_at(tali_osim *o, tal_severity severity, const tali_xml_element *at, const char *fmt,
                   va_list args) TAL_PRINTF(4, 0);

static void say_at(tali_osim *o, tal_severity severity, const tali_xml_element *at, const char *fmt,
                   va_list args)
{
    char tag[128] = "", rest[300];
    if (at != NULL) (void)tali_xml_tag(at, tag, sizeof tag);
    tali_error_print(rest, sizeof rest, fmt, args);
    tal_diagnostics_add(o->found, severity, tali_osim_file_of(o, at), at != NULL ? at->line : 0,
                        at != NULL ? at->column : 0, "%s%s", tag, rest);
}

void tali_osim_error(tali_osim *o, const tali_xml_element *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say_at(o, TAL_ERROR, at, fmt, args);
    va_end(args);
}

void tali_osim_warn(tali_osim *o, const tali_xml_element *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say_at(o, TAL_WARNING, at, fmt, args);
    va_end(args);
}

// --- where properties stand ---

const tali_xml_element *tali_osim_property(const tali_xml_element *object, const char *name)
{
    const tali_xml_element *child = tali_xml_child(object, name);
    // an object in <defaults> has no defaults itself
    const tali_xml_element *at = object->parent;
    if (at != NULL && strcmp(at->name, "defaults") == 0) return child;
    for (; child == NULL && at != NULL; at = at->parent) {
        const tali_xml_element *defaults = tali_xml_child(at, "defaults");
        if (defaults == NULL) continue;
        const tali_xml_element *same = tali_xml_child(defaults, object->name);
        if (same != NULL) child = tali_xml_child(same, name);
    }
    return child;
}

const char *tali_osim_name(const tali_xml_element *object)
{
    const tali_xml_attribute *name = tali_xml_find(object, "name");
    return name != NULL ? name->value : "";
}

const char *tali_osim_last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

const tali_xml_element *tali_osim_object(const tali_xml_element *object, const char *name)
{
    const tali_xml_element *wrapper = tali_osim_property(object, name);
    if (wrapper != NULL) return wrapper->first;
    for (const tali_xml_element *c = object->first; c != NULL; c = c->next) {
        if (strcmp(tali_osim_name(c), name) == 0) return c;
    }
    return NULL;
}

const tali_xml_element *tali_osim_first(const tali_xml_element *list)
{
    const tali_xml_element *objects = tali_xml_child(list, "objects");
    return objects != NULL ? objects->first : list->first;
}

const tali_xml_element *tali_osim_engine(const tali_xml_element *model)
{
    const tali_xml_element *engine = tali_xml_child(model, "DynamicsEngine");
    return engine != NULL ? engine->first : NULL;
}

const tali_xml_element *tali_osim_set(const tali_xml_element *object, const char *name)
{
    if (object == NULL) return NULL;
    const tali_xml_element *set = tali_xml_child(object, name);
    const tali_xml_element *engine = set == NULL ? tali_osim_engine(object) : NULL;
    return engine != NULL ? tali_xml_child(engine, name) : set;
}

const tali_xml_element *tali_osim_first_of(const tali_xml_element *object, const char *name)
{
    const tali_xml_element *set = tali_osim_set(object, name);
    return set != NULL ? tali_osim_first(set) : NULL;
}

// --- numbers and words ---

static bool is_between(char c)
{
    return tali_text_is_blank(c) || c == ',' || c == '(' || c == ')';
}

// A number, or what old Windows programs wrote for one: "-1.#IND", "1.#INF".
static const char *read_one(const char *at, double *value)
{
    const char *end = tal_number_read(at, NULL, value);
    if (end == NULL || *end != '#') return end;
    const bool infinite = strncmp(end, "#INF", 4) == 0;
    *value = infinite ? copysign(INFINITY, *value) : TALI_NAN;
    while (*end != '\0' && !is_between(*end)) {
        ++end;
    }
    return end;
}

int tali_osim_parse_numbers(const char *text, double values[], int capacity)
{
    int count = 0;
    const char *at = text;
    for (;;) {
        while (is_between(*at)) {
            ++at;
        }
        if (*at == '\0') return count;
        double value = 0.0;
        at = read_one(at, &value);
        if (at == NULL || (*at != '\0' && !is_between(*at))) return -1;
        if (count < capacity) values[count] = value;
        ++count;
    }
}

bool tali_osim_numbers(tali_osim *o, const tali_xml_element *object, const char *name, int n,
                       double out[])
{
    const tali_xml_element *property = tali_osim_property(object, name);
    if (property == NULL) return false;
    double values[TALI_OSIM_MAX_LIST];
    bool good = tali_osim_parse_numbers(property->text, values, TALI_OSIM_MAX_LIST) == n;
    for (int i = 0; i < n && good; ++i) {
        good = isfinite(values[i]);
    }
    if (good) {
        memcpy(out, values, (size_t)n * sizeof *out);
    } else {
        tali_osim_error(o, property, ": '%.40s' is not %d finite number%s", property->text, n,
                        n == 1 ? "" : "s");
    }
    return good;
}

int tali_osim_all_numbers(tali_osim *o, const tali_xml_element *object, const char *name,
                          double **out)
{
    const tali_xml_element *property = tali_osim_property(object, name);
    *out = NULL;
    if (property == NULL) return 0;
    const int n = tali_osim_parse_numbers(property->text, NULL, 0);
    if (n < 0) tali_osim_error(o, property, ": '%.40s' is not a list of numbers", property->text);
    if (n <= 0) return 0;
    *out = tali_arena_take(&o->arena, (size_t)n * sizeof **out);
    if (*out == NULL) {
        o->no_memory = true;
        return 0;
    }
    return tali_osim_parse_numbers(property->text, *out, n);
}

double tali_osim_number(tali_osim *o, const tali_xml_element *object, const char *name,
                        double initial)
{
    const tali_xml_element *property = tali_osim_property(object, name);
    if (property == NULL || property->text[0] == '\0') return initial;
    double value = initial;
    if (tali_osim_parse_numbers(property->text, &value, 1) == 1 && !isnan(value)) return value;
    tali_osim_error(o, property, ": '%.40s' is not a number", property->text);
    return initial;
}

tal_vec3 tali_osim_vec3(tali_osim *o, const tali_xml_element *object, const char *name,
                        tal_vec3 initial)
{
    double v[3];
    return tali_osim_numbers(o, object, name, 3, v) ? tal_v3(v[0], v[1], v[2]) : initial;
}

bool tali_osim_bool(tali_osim *o, const tali_xml_element *object, const char *name, bool initial)
{
    const tali_xml_element *property = tali_osim_property(object, name);
    if (property == NULL || property->text[0] == '\0') return initial;
    const char *const text = property->text;
    if (tali_table_same_word(text, "true") || strcmp(text, "1") == 0) return true;
    if (tali_table_same_word(text, "false") || strcmp(text, "0") == 0) return false;
    tali_osim_error(o, property, ": '%.40s' is neither true nor false", text);
    return initial;
}

bool tali_osim_is_on(tali_osim *o, const tali_xml_element *object, const char *on, const char *off)
{
    if (tali_osim_property(object, on) != NULL) return tali_osim_bool(o, object, on, true);
    return !tali_osim_bool(o, object, off, false);
}

const char *tali_osim_text(const tali_xml_element *object, const char *name)
{
    const tali_xml_element *property = tali_osim_property(object, name);
    if (property == NULL || property->text[0] == '\0') return NULL;
    return tali_table_same_word(property->text, "unassigned") ? NULL : property->text;
}

int tali_osim_words(tali_osim *o, const tali_xml_element *object, const char *name,
                    const char *words[], int capacity)
{
    const char *at = tali_osim_text(object, name);
    if (at == NULL) return 0;
    for (int n = 0;; ++n) {
        while (is_between(*at)) {
            ++at;
        }
        if (*at == '\0') return n;
        if (n == capacity) {
            tali_osim_error(o, tali_osim_property(object, name), " has more than %d names",
                            capacity);
            return n;
        }
        const char *end = at;
        while (*end != '\0' && !is_between(*end)) {
            ++end;
        }
        words[n] = tali_arena_copy(&o->arena, at, (size_t)(end - at));
        if (words[n] == NULL) {
            o->no_memory = true;
            return n;
        }
        at = end;
    }
}

// --- sockets ---

// <connectors><Connector_PhysicalFrame_ name="parent_frame"><connectee_name> of 30500 to 30516
static const char *connector_of(const tali_xml_element *object, const char *name)
{
    const tali_xml_element *connectors = tali_xml_child(object, "connectors");
    const tali_xml_element *c = connectors != NULL ? connectors->first : NULL;
    for (; c != NULL; c = c->next) {
        if (strcmp(tali_osim_name(c), name) == 0) return tali_osim_text(c, "connectee_name");
    }
    return NULL;
}

const char *tali_osim_socket(const tali_xml_element *object, const char *name)
{
    static const char *const ways[][2] = {
        {"socket_", ""}, {"socket_", "_connectee_name"}, {"connector_", "_connectee_name"}};
    for (int i = 0; i < 3; ++i) {
        char tag[80];
        (void)snprintf(tag, sizeof tag, "%s%s%s", ways[i][0], name, ways[i][1]);
        const char *text = tali_osim_text(object, tag);
        if (text != NULL) return text;
    }
    return connector_of(object, name);
}

// --- the rest ---

tal_xform tali_osim_xform(tal_vec3 angles, tal_vec3 p)
{
    const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const double turn[] = {angles.x, angles.y, angles.z};
    return (tal_xform){tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, turn), p};
}

void *tali_osim_take(tali_osim *o, int count, size_t size)
{
    void *it = tali_arena_take(&o->arena, (size_t)count * size);
    if (it == NULL) o->no_memory = true;
    return it;
}

void *tali_osim_add(tali_osim *o, void **array, int *num, int *capacity, size_t size)
{
    if (!tali_grow(&o->arena.allocator, array, *num, capacity, size)) {
        o->no_memory = true;
        return NULL;
    }
    char *it = (char *)*array + (size_t)*num * size;
    memset(it, 0, size);
    *num += 1;
    return it;
}
