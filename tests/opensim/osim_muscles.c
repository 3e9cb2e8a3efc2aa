// Paths and muscles of an .osim file as elements of a model file.
#include "osim_muscles.h"

#include "text/xml_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROOM = 8 << 20 // characters of a model file
};

// Text that grows.
typedef struct sheet {
    char *text;
    size_t length;
} sheet;

static void put(sheet *out, const char *fmt, ...) TAL_PRINTF(2, 3);

static void put(sheet *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(out->text + out->length, ROOM - out->length, fmt, args);
    va_end(args);
    if (n > 0 && out->length + (size_t)n < ROOM) out->length += (size_t)n;
}

// ---- the document

// The next element in document order; `into` its children, too.
static const tali_xml_element *step(const tali_xml_element *at, bool into)
{
    if (into && at->first != NULL) return at->first;
    while (at != NULL && at->next == NULL) {
        at = at->parent;
    }
    return at != NULL ? at->next : NULL;
}

// The next element of a tag from `at` on; what stands in <defaults> is not a part of a model.
static const tali_xml_element *find_tag(const tali_xml_element *at, const char *tag)
{
    while (at != NULL && strcmp(at->name, tag) != 0) {
        at = step(at, strcmp(at->name, "defaults") != 0);
    }
    return at;
}

static const char *name_of(const tali_xml_element *element)
{
    const tali_xml_attribute *name = tali_xml_find(element, "name");
    return name != NULL ? name->value : "";
}

static const char *text_of(const tali_xml_element *element, const char *child, const char *initial)
{
    const tali_xml_element *found = tali_xml_child(element, child);
    return found != NULL && *found->text != '\0' ? found->text : initial;
}

// What a property, or the socket of version 4, names: "/bodyset/tibia_r" is "tibia_r".
static const char *reference_of(const tali_xml_element *element, const char *property)
{
    char socket[80];
    (void)snprintf(socket, sizeof socket, "socket_%s",
                   strcmp(property, "body") == 0 ? "parent_frame" : property);
    const char *name = text_of(element, property, text_of(element, socket, ""));
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

static double number_of(const tali_xml_element *element, const char *child, double initial)
{
    return strtod(text_of(element, child, ""), NULL) +
           (tali_xml_child(element, child) == NULL ? initial : 0.0);
}

// The objects of a set: <PathPointSet><objects>.
static const tali_xml_element *objects_of(const tali_xml_element *element, const char *set)
{
    const tali_xml_element *found = tali_xml_child(element, set);
    if (found != NULL) found = tali_xml_child(found, "objects");
    return found != NULL ? found->first : NULL;
}

// ---- paths

// A function of one coordinate, times a factor.
static void put_function(sheet *out, const tali_xml_element *f, double scale)
{
    if (strcmp(f->name, "MultiplierFunction") == 0) {
        const tali_xml_element *inner = tali_xml_child(f, "function");
        put_function(out, inner->first, scale * number_of(f, "scale", 1.0));
        return;
    }
    const bool is_simm = strcmp(f->name, "SimmSpline") == 0 ||
                         strcmp(f->name, "NaturalCubicSpline") == 0 ||
                         strcmp(f->name, "natCubicSpline") == 0;
    put(out, "<product><constant value='%.17g'/>", scale);
    put(out, "<spline x='%s' y='%s' end='%s'/></product>", text_of(f, "x", ""), text_of(f, "y", ""),
        is_simm ? "simm" : "natural");
}

// Functions of version 2 stand in the property itself, or in <objects> of it.
static const tali_xml_element *function_of(const tali_xml_element *point, const char *property)
{
    const tali_xml_element *f = tali_xml_child(point, property);
    f = f != NULL ? f->first : NULL;
    while (f != NULL && (strcmp(f->name, "objects") == 0 || strcmp(f->name, "FunctionSet") == 0)) {
        f = f->first;
    }
    return f;
}

static void put_point(sheet *out, const tali_xml_element *point)
{
    const char *body = reference_of(point, "body");
    const char *location = text_of(point, "location", "0 0 0");
    if (strcmp(point->name, "ConditionalPathPoint") == 0) {
        put(out, "<conditional_point body='%s' station='%s' coordinate='%s' range='%s'/>\n", body,
            location, reference_of(point, "coordinate"), text_of(point, "range", ""));
    } else if (strcmp(point->name, "MovingPathPoint") == 0) {
        put(out, "<moving_point body='%s' coordinates='%s; %s; %s'>", body,
            reference_of(point, "x_coordinate"), reference_of(point, "y_coordinate"),
            reference_of(point, "z_coordinate"));
        put_function(out, function_of(point, "x_location"), 1.0);
        put_function(out, function_of(point, "y_location"), 1.0);
        put_function(out, function_of(point, "z_location"), 1.0);
        put(out, "</moving_point>\n");
    } else {
        put(out, "<point body='%s' station='%s'/>\n", body, location);
    }
}

static void put_path(sheet *out, const tali_xml_element *muscle)
{
    const tali_xml_element *geometry = tali_xml_child(muscle, "GeometryPath");
    if (geometry == NULL) geometry = muscle;
    put(out, "<path name='%s'>\n", name_of(muscle));
    const tali_xml_element *e = objects_of(geometry, "PathPointSet");
    for (; e != NULL; e = e->next) {
        put_point(out, e);
    }
    for (e = objects_of(geometry, "PathWrapSet"); e != NULL; e = e->next) {
        int first = -1, last = -1; // counted from 1; below that the ends
        (void)sscanf(text_of(e, "range", "-1 -1"), "%d %d", &first, &last);
        put(out, "<over wrap='%s' first='%d' last='%d'/>\n", text_of(e, "wrap_object", ""),
            first > 0 ? first - 1 : 0, last > 0 ? last - 1 : 0);
    }
    put(out, "</path>\n");
}

static void put_wraps(sheet *out, const tali_xml_element *root)
{
    const tali_xml_element *at = find_tag(root, "WrapCylinder");
    for (; at != NULL; at = find_tag(step(at, false), "WrapCylinder")) {
        const tali_xml_element *body = at;
        while (strcmp(body->name, "Body") != 0) {
            body = body->parent;
        }
        const char *side = text_of(at, "quadrant", "all");
        const bool has_sign = *side == '-' || *side == '+';
        const bool is_any = strcmp(side, "all") == 0 || strcmp(side, "Unassigned") == 0;
        put(out,
            "<wrap_cylinder name='%s' body='%s' frame='%s %s' side='%s%s' radius='%s' length='%s'/>\n",
            name_of(at), name_of(body), text_of(at, "translation", "0 0 0"),
            text_of(at, "xyz_body_rotation", "0 0 0"), has_sign || is_any ? "" : "+",
            is_any ? "any" : side, text_of(at, "radius", ""), text_of(at, "length", ""));
    }
}

// ---- muscles

static void put_thelen(sheet *out, const tali_xml_element *m)
{
    static const struct {
        const char *ours, *theirs;
    } numbers[] = {{"tendon_strain", "FmaxTendonStrain"},
                   {"passive_strain", "FmaxMuscleStrain"},
                   {"active_width", "KshapeActive"},
                   {"passive_shape", "KshapePassive"},
                   {"velocity_shape", "Af"},
                   {"eccentric", "Flen"},
                   {"activation_time", "activation_time_constant"},
                   {"deactivation_time", "deactivation_time_constant"}};

    put(out, "<thelen ");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        const char *value = text_of(m, numbers[i].theirs, "");
        if (*value != '\0') put(out, "%s='%s' ", numbers[i].ours, value);
    }
}

// Of the kind, with the sizes of the file.
static void put_muscle(sheet *out, const tali_xml_element *m, osim_muscle_kind kind)
{
    if (kind == OSIM_THELEN) {
        put_thelen(out, m);
    } else {
        put(out, "<degroote implicit='yes' ");
    }
    const char *pennation =
        text_of(m, "pennation_angle_at_optimal", text_of(m, "pennation_angle", "0"));
    put(out,
        "name='%s' path='%s' max_force='%s' fiber_length='%s' tendon_length='%s' pennation='%s' "
        "max_speed='%s'/>\n",
        name_of(m), name_of(m), text_of(m, "max_isometric_force", "1"),
        text_of(m, "optimal_fiber_length", "1"), text_of(m, "tendon_slack_length", "1"), pennation,
        text_of(m, "max_contraction_velocity", "10"));
}

static void put_all(sheet *out, const tali_xml *xml, const char *tag, osim_muscle_kind kind)
{
    const tali_xml_element *at;
    put(out, "<wraps>");
    put_wraps(out, xml->root);
    put(out, "</wraps><paths>");
    for (at = find_tag(xml->root, tag); at != NULL; at = find_tag(step(at, false), tag)) {
        put_path(out, at);
    }
    put(out, "</paths><forces>");
    for (at = find_tag(xml->root, tag); at != NULL; at = find_tag(step(at, false), tag)) {
        put_muscle(out, at, kind);
    }
    put(out, "</forces></talus>\n");
}

tal_status osim_read_with_muscles(const char *path, const char *muscle, osim_muscle_kind kind,
                                  tal_model *model, tal_diagnostics *found)
{
    tal_model bones = {.system = NULL};
    tali_xml *xml = NULL;
    tal_error err = {TAL_OK, "", ""};
    sheet out = {.text = calloc(1, ROOM)};
    *model = (tal_model){.system = NULL};
    tal_status st = out.text != NULL ? TAL_OK : TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) st = tal_osim_read_file(path, NULL, &bones, found);
    if (st == TAL_OK) st = tali_xml_read_file(path, NULL, NULL, &xml, found);
    if (st == TAL_OK) st = tal_model_write_memory(&bones, NULL, out.text, ROOM, &out.length, &err);
    if (st == TAL_OK) {
        char *end = strstr(out.text, "</talus>");
        out.length = (size_t)(end - out.text);
        put_all(&out, xml, muscle, kind);
        st = tal_model_read_memory(path, out.text, out.length, NULL, model, found);
    }
    if (err.status != TAL_OK) fprintf(stderr, "%s\n", err.message);
    tali_xml_destroy(xml);
    tal_model_destroy(&bones);
    free(out.text);
    return st;
}
