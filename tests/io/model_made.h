// Elements made up from the table of what a model file may contain, and models with them: read,
// written, and read again.
#ifndef TALUS_MODEL_MADE_H
#define TALUS_MODEL_MADE_H

#include "model/model_internal.h"
#include "model_same.h"

#include <stdio.h>

enum {
    TEXT_SIZE = 40000,
    VALUE_SIZE = 400,
    MAX_NUMBERS = 14,   // of a list: ranges of seven coordinates
    NUM_CANDIDATES = 16 // values to try, of each type
};

// What stands around the elements of a group, besides the bodies and measures that they refer to.
static const struct {
    tali_model_group group;
    const char *begin, *end;
} places[] = {
    {TALI_GROUP_BODIES, "<bodies>", "</bodies><forces><gravity g=\"0 -9.81 0\"/></forces>"},
    {TALI_GROUP_BODY_PARTS,
     "<bodies><function_based name=\"f\" coordinates=\"2\" mass=\"1\" inertia=\"1 1 1\">",
     "<rotation index=\"2\" coordinates=\"0\"><linear slopes=\"1\"/></rotation>"
     "<translation index=\"2\" coordinates=\"1\"><linear slopes=\"1\"/></translation>"
     "</function_based></bodies>"},
    {TALI_GROUP_CONSTRAINTS, "<constraints>", "</constraints>"},
    {TALI_GROUP_UNILATERALS, "<unilaterals>", "</unilaterals>"},
    {TALI_GROUP_COLLIDERS, "<colliders>", "</colliders>"},
    {TALI_GROUP_MOTIONS, "<motions>", "</motions>"},
    {TALI_GROUP_WRAPS, "<wraps>", "</wraps>"},
    {TALI_GROUP_PATHS, "<paths>", "</paths>"},
    {TALI_GROUP_PATH_PARTS,
     "<paths><path name=\"p\"><point body=\"a\"/><point body=\"b\"/><point body=\"c\"/>",
     "</path></paths>"},
    {TALI_GROUP_MEASURES, "<measures>", "</measures>"},
    {TALI_GROUP_FORCES, "<forces>", "</forces>"},
    {TALI_GROUP_LOADS, "<forces><discrete_forces>", "</discrete_forces></forces>"},
    {TALI_GROUP_COMPONENTS, "<forces><prescribed_force body=\"a\">",
     "</prescribed_force></forces>"},
    {TALI_GROUP_CONTROLLERS, "<controllers>", "</controllers>"},
    {TALI_GROUP_DRIVES, "<controllers><function_controller>",
     "</function_controller></controllers>"},
    {TALI_GROUP_SURFACES, "<forces><contact law=\"power\">", "</contact></forces>"},
    {TALI_GROUP_STOPS, "<stops>", "</stops>"},
    {TALI_GROUP_MARKERS, "<markers>", "</markers>"},
    {TALI_GROUP_DECORATIONS, "<decorations>", "</decorations>"},
    {TALI_GROUP_FUNCTIONS, "<forces><mobility_nonlinear_spring mobility=\"a\">",
     "</mobility_nonlinear_spring></forces>"},
    {TALI_GROUP_MATERIALS, "<materials>",
     "</materials><forces><contact><sphere radius=\"1\" material=\"it\"/></contact></forces>"}};

static const char around[] =
    "<talus version=\"1\"><functions><constant name=\"fun\" value=\"0.2\"/></functions><bodies>"
    "<pin name=\"a\" mass=\"1\" com=\"0 -0.5 0\" inertia=\"1 1 1\"/>"
    "<pin name=\"b\" parent=\"a\" mass=\"1\" inertia=\"1 1 1\"/>"
    "<free name=\"c\" mass=\"1\" inertia=\"1 1 1\"/></bodies>"
    "<constraints><loop_planar name=\"link\" body1=\"b\" body2=\"c\"/></constraints>"
    "<unilaterals><rope name=\"tether\" body2=\"c\" length=\"500\"/></unilaterals>"
    "<wraps><wrap_sphere name=\"knob\" radius=\"0.2\"/></wraps>"
    "<paths><path name=\"way\"><point body=\"a\"/><point body=\"b\"/></path></paths>"
    "<measures><constant name=\"sig\" values=\"0.5\"/>"
    "<constant name=\"six\" values=\"1 2 3 4 5 6\"/>"
    "<variable name=\"var\" values=\"0.25\"/></measures>"
    "<forces><millard name=\"calf\" path=\"way\" max_force=\"100\" fiber_length=\"0.1\" "
    "tendon_length=\"0.2\"/>"
    "<path_spring name=\"cable\" path=\"way\" stiffness=\"10\" rest_length=\"0.3\"/></forces>";

// What an attribute needs besides itself; for the attribute "" the element alone does.
static const struct {
    tali_model_group group; // TALI_GROUP_NONE: any
    const char *row;        // NULL: any
    const char *attribute, *with;
} companions[] = {
    {TALI_GROUP_STOPS, "set", "", "time=\"3\" to=\"0.7\""},
    {TALI_GROUP_STOPS, "set", "to", "time=\"3\""},
    {TALI_GROUP_STOPS, "set", "from", "time=\"3\""},
    {TALI_GROUP_STOPS, "set", "when", "crosses=\"0.3\" to=\"0.7\""},
    {TALI_GROUP_STOPS, "set", "falls_below", "when=\"sig\" to=\"0.7\""},
    {TALI_GROUP_STOPS, "set", "rises_above", "when=\"sig\" to=\"0.7\""},
    {TALI_GROUP_STOPS, "set", "crosses", "when=\"sig\" to=\"0.7\""},
    {TALI_GROUP_STOPS, "set", "time", "to=\"0.7\""},
    {TALI_GROUP_STOPS, NULL, "", "time=\"3\""},
    {TALI_GROUP_STOPS, NULL, "when", "crosses=\"0.3\""},
    {TALI_GROUP_STOPS, NULL, "falls_below", "when=\"sig\""},
    {TALI_GROUP_STOPS, NULL, "rises_above", "when=\"sig\""},
    {TALI_GROUP_STOPS, NULL, "crosses", "when=\"sig\""},
    {TALI_GROUP_STOPS, NULL, "time", " "},
    {TALI_GROUP_UNILATERALS, NULL, "sliding_mu", "static_mu=\"9\""},
    {TALI_GROUP_UNILATERALS, "dry_friction", "", "limit=\"2\""},
    {TALI_GROUP_UNILATERALS, "friction_about", "", "limit=\"2\""},
    {TALI_GROUP_UNILATERALS, "friction_along", "", "limit=\"2\""},
    {TALI_GROUP_UNILATERALS, "friction_over", "", "limit=\"2\""},
    {TALI_GROUP_BODY_PARTS, "coordinate", "", "lock=\"velocity\""},
    {TALI_GROUP_BODY_PARTS, "coordinate", "lock", " "},
    {TALI_GROUP_NONE, NULL, "lock_at", "lock=\"velocity\""},
    {TALI_GROUP_FORCES, NULL, "z", "track_dissipation=\"yes\""},
    {TALI_GROUP_BODIES, NULL, "com", "mass=\"1\" inertia=\"9 9 9\""},
    {TALI_GROUP_BODIES, NULL, "about", "mass=\"1\" com=\"0 0.1 0\" inertia=\"1 1 1\""},
    {TALI_GROUP_BODIES, NULL, "inertia", "mass=\"1\""},
    {TALI_GROUP_BODIES, NULL, "solid", "mass=\"1\""}};

// What no file says again: it is asked for once, and its effect is written.
static inline bool is_ephemeral(const tali_model_row *row, const tali_model_attribute *a)
{
    // of no file here; the function of two measures would be another one
    return (strcmp(row->name, "mesh") == 0 && strcmp(a->name, "file") == 0) ||
           (strcmp(row->name, "function") == 0 && strcmp(a->name, "with") == 0);
}

// What needs a file beside it: io/model_express has one.
static inline bool needs_file(const tali_model_row *row)
{
    const char *const rows[] = {"table", "table_controller", "external_load"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (strcmp(row->name, rows[i]) == 0) return true;
    }
    return false;
}

static inline const char *companion(tali_model_group group, const tali_model_row *row,
                                    const char *attribute)
{
    for (size_t i = 0; i < sizeof companions / sizeof *companions; ++i) {
        const tali_model_group in = companions[i].group;
        const char *of = companions[i].row;
        if (strcmp(companions[i].attribute, attribute) != 0) continue;
        if (in != TALI_GROUP_NONE && in != group) continue;
        if (of == NULL || strcmp(of, row->name) == 0) return companions[i].with;
    }
    return attribute[0] != '\0' ? companion(group, row, "") : "";
}

// One of several texts.
static inline bool choose(const char *const list[], int n, int candidate, char value[VALUE_SIZE])
{
    if (candidate >= n) return false;
    (void)snprintf(value, VALUE_SIZE, "%s", list[candidate]);
    return true;
}

#define CHOOSE(...)                                                                                \
    choose((const char *const[]){__VA_ARGS__},                                                     \
           (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), candidate, value)

enum {
    GROWING, // numbers, larger ones for a later attribute
    FALLING, // the same, smaller ones for a later attribute
    SAME,    // and four more
    NUM_KINDS = SAME + 4
};

static inline void numbers(int count, int attribute, int kind, char value[VALUE_SIZE])
{
    static const double same[] = {1.0, -1.0, 0.0, 2.0};
    int length = 0;
    for (int i = 0; i < count; ++i) {
        const double x = kind >= SAME
                             ? same[kind - SAME]
                             : 0.4 + 0.1 * i + 0.013 * (kind == GROWING ? attribute : -attribute);
        length += snprintf(value + length, (size_t)(VALUE_SIZE - length), " %g", x);
    }
}

static inline bool number_candidate(const tali_model_attribute *a, int attribute, int candidate,
                                    char value[VALUE_SIZE])
{
    if (a->type == TALI_TYPE_REAL) {
        if (candidate < NUM_KINDS) numbers(a->count, attribute, candidate, value);
        return candidate < NUM_KINDS;
    }
    if (candidate <= MAX_NUMBERS - 1) {
        numbers(candidate + 1, attribute, GROWING, value);
    } else {
        numbers(1, attribute, candidate == MAX_NUMBERS ? SAME : SAME + 2, value);
    }
    return true;
}

// A value of an attribute's type to try; false behind the last one.
static inline bool make_value(const tali_model_attribute *a, int attribute, int candidate,
                              char value[VALUE_SIZE])
{
    switch (a->type) {
    case TALI_TYPE_NAME:
        return CHOOSE("it");
    case TALI_TYPE_TEXT:
        return CHOOSE("7", "y", "sphere 0.1", "origin", "com");
    case TALI_TYPE_REAL:
    case TALI_TYPE_REALS:
        // of <bezier>, whose four lists belong together: two nodes and one corner
        if (strcmp(a->name, "polygon") == 0) return CHOOSE("0 0 1 0 0 1");
        if (strcmp(a->name, "slope") == 0) return CHOOSE("0 5");
        if (strcmp(a->name, "curviness") == 0) return CHOOSE("0.5");
        return number_candidate(a, attribute, candidate, value);
    case TALI_TYPE_FRAME:
        return CHOOSE("0.1 0.2 0.3 0.4 0.5 0.6");
    case TALI_TYPE_ROTATION:
        return CHOOSE("0.4 0.5 0.6");
    case TALI_TYPE_INTEGER:
        return CHOOSE("1", "2", "0", "300");
    case TALI_TYPE_BOOL:
        return CHOOSE("yes", "no");
    case TALI_TYPE_WORD: {
        const char *at = a->words;
        for (; candidate > 0 && at != NULL; --candidate) {
            at = strchr(at, '|');
            if (at != NULL) ++at;
        }
        if (at == NULL) return false;
        (void)snprintf(value, VALUE_SIZE, "%.*s", (int)strcspn(at, "|"), at);
        return true;
    }
    case TALI_TYPE_BODY:
        return attribute % 2 == 0 ? CHOOSE("a", "c") : CHOOSE("c", "b");
    case TALI_TYPE_MEASURE:
        return CHOOSE("sig", "six", "var");
    case TALI_TYPE_CONSTRAINT:
        return CHOOSE("link");
    case TALI_TYPE_FUNCTION:
        return CHOOSE("fun");
    case TALI_TYPE_MATERIAL:
        return CHOOSE("steel");
    case TALI_TYPE_MOBILITY:
        return CHOOSE("a", "c:4");
    case TALI_TYPE_WRAP:
        return CHOOSE("knob");
    case TALI_TYPE_PATH:
        return CHOOSE("way");
    case TALI_TYPE_UNILATERAL:
        return CHOOSE("tether");
    case TALI_TYPE_FORCE:
        return CHOOSE("calf", "cable");
    case TALI_TYPE_MOBILITIES:
    case TALI_TYPE_BODIES:
        return CHOOSE("a", "a; b", "a; b; a");
    }
    return false;
}

static inline void add(char text[TEXT_SIZE], const char *more)
{
    const size_t length = strlen(text);
    ck_assert_uint_lt(length + strlen(more), TEXT_SIZE);
    (void)strcpy(text + length, more);
}

static inline void add_attribute(char text[TEXT_SIZE], const char *name, const char *value)
{
    char part[VALUE_SIZE + 100];
    (void)snprintf(part, sizeof part, " %s=\"%s\"", name, value);
    add(text, part);
}

// What must stand in an element.
static inline void add_children(char text[TEXT_SIZE], const tali_model_row *row)
{
    if (row->children == TALI_GROUP_MESH_PARTS) {
        add(text, "<vertices>0 0 0 1 0 0 0 1 0 0 0 1</vertices>"
                  "<faces>0 2 1 0 1 3 0 3 2 1 2 3</faces>");
    }
    for (int i = 0; i < row->min_children; ++i) {
        const bool is_path = row->children == TALI_GROUP_PATH_PARTS;
        add(text, is_path ? "<point body=\"a\"/>"
                  : row->children == TALI_GROUP_DRIVES
                      ? "<drive force=\"calf\"><linear slopes=\"0.5\"/></drive>"
                  : row->children == TALI_GROUP_BODY_PARTS
                      ? "<rotation index=\"0\" coordinates=\"0\"><linear slopes=\"2\"/></rotation>"
                      : "<linear slopes=\"0.5\" offset=\"0.1\"/>");
    }
}

static inline bool can_read(const char *text, tal_model *model)
{
    return tal_model_read_memory("m.talus", text, strlen(text), NULL, model, NULL) == TAL_OK;
}

// Read, write, read again: the same System and State, which is written the same. What was written,
// for the caller to free; NULL when the text is refused.
static inline char *there_and_back(const char *text)
{
    tal_model one, two;
    tal_error err;
    if (!can_read(text, &one)) return NULL;
    char *first = write_text(&one, &err);
    ck_assert_msg(first != NULL, "%.4000s\n%.4000s", err.message, text);
    ck_assert_msg(can_read(first, &two), "%.4000s\n%.4000s", text, first);
    char *second = write_text(&two, &err);
    ck_assert_msg(second != NULL && strcmp(first, second) == 0, "%.4000s\n%.4000s\n%.4000s", text,
                  first, second);
    ck_assert_msg(tal_system_structure_hash(one.system) == tal_system_structure_hash(two.system),
                  "%s", text);
    ck_assert_msg(tal_state_is_equal(one.state, two.state), "%s", text);
    tal_model_destroy(&one);
    tal_model_destroy(&two);
    free(second);
    return first;
}

#endif // TALUS_MODEL_MADE_H
