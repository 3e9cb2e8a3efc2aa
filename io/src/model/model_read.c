// From documents to items: what is where, names, params, includes.
#include "alloc_internal.h"
#include "error_internal.h"
#include "hash_internal.h"

#include "model/model_internal.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_INCLUDES = 16,   // files, each of which includes the next
    MAX_DOCUMENTS = 256, // files in all
    MAX_DEPTH = 64,      // of elements: tali_xml_limits_default()
    MAX_PATH = 1000,
    PARAM_ROW = 0, // in section_rows
    INCLUDE_ROW = 1
};

static const double DEGREE = TAL_PI / 180.0;

static const char PARAM_LETTERS[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

// ---- the frame of a file

static const tali_model_attribute top_attributes[] = {
    {"version", TALI_TYPE_WORD, .words = "1", .doc = "of the format"},
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the model"},
    {"units", TALI_TYPE_WORD, .initial = "rad", .words = "rad|deg",
     .doc = "of angles in this file; other units are SI"},
    {"time", TALI_TYPE_REAL, 1, "0", .doc = "initial time [s]"},
    {"time_scale", TALI_TYPE_REAL, 1, "0.1", TALI_POSITIVE_NUMBER,
     .doc = "a typical time in which velocities change [s]"},
    {"solve", TALI_TYPE_WORD, .initial = "multipliers", .words = "multipliers|kkt",
     .doc =
         "for accelerations; `kkt`: M and the constraints at once, for bodies without mass that only "
         "constraints hold; the cost grows with the cube of their number"},
    {"fixed_steps", TALI_TYPE_BOOL, .initial = "no",
     .doc = "whether States have the memory that steps of a fixed length need; `talus simulate "
            "--formulation` gives it to any model"},
    {"collider_elements", TALI_TYPE_BOOL, .initial = "no",
     .doc = "whether unilateral elements replace all colliders, so that integrators can handle "
            "them: solids on half-spaces, and spheres. They are named `ball on floor`, or `box on "
            "floor 3` for vertex 3; an element of that name in `<unilaterals>` is used instead"},
    {.name = NULL}};

static const tali_model_row top_rows[] = {{.name = "talus",
                                           .doc = "The model.",
                                           .own = top_attributes,
                                           .children = TALI_GROUP_SECTIONS,
                                           .max_children = -1},
                                          {.name = NULL}};

static const tali_model_attribute param_attributes[] = {
    {"name", TALI_TYPE_NAME, .doc = "letters, digits and '_'"},
    {"value", TALI_TYPE_REAL, 1, .doc = "any number; it may use params defined above"},
    {.name = NULL}};

static const tali_model_attribute include_attributes[] = {
    {"file", TALI_TYPE_TEXT, .doc = "path, relative to this file"},
    {"prefix", TALI_TYPE_TEXT, .initial = "",
     .doc = "put in front of all names in that file: letters, digits and '_'. So a file can be "
            "included twice"},
    {"on", TALI_TYPE_BODY, .initial = "ground", .doc = "the body that is `ground` in that file"},
    {.name = NULL}};

static const tali_model_row section_rows[] = {
    {.name = "param",
     .doc = "A number with a name. Write `$name`, `-$name` or `2.5*$name` in place of any number "
            "below it. A program that reads the file can set it to another value.",
     .own = param_attributes},
    {.name = "include",
     .doc =
         "Another file: the content of its `<talus>` is inserted here. Its own units are used "
         "for it; its name, time and time scale are ignored. With a prefix `left_` its body "
         "`foot` is called `left_foot` here, and its param `mass` is called `left_mass`; in that "
         "file names stay unchanged. Elements that act on all bodies, such as gravity, belong in "
         "the including file.",
     .own = include_attributes},
    {.name = "functions",
     .doc = "Functions with names. Elements below use them as `<function named=\"...\"/>`.",
     .children = TALI_GROUP_NAMED_FUNCTIONS,
     .max_children = -1},
    {.name = "materials",
     .doc = "Materials with names, for surfaces below.",
     .children = TALI_GROUP_MATERIALS,
     .max_children = -1},
    {.name = "bodies",
     .doc = "Bodies. The tag of each is the name of its mobilizer.",
     .children = TALI_GROUP_BODIES,
     .max_children = -1,
     .find = tali_model_find_body},
    {.name = "force_fields",
     .doc = "Force fields, for the molecules below.",
     .children = TALI_GROUP_FIELDS,
     .max_children = -1,
     .find = tali_model_find_field},
    {.name = "molecules",
     .doc =
         "Molecules. Their bodies come behind all others and are called `<molecule>.<number>`; other elements of the file "
         "cannot name them, but act on them if they act on all bodies, as gravity and baths do. "
         "Lengths are in nm, times in ps, masses in Da, energies in kJ/mol: in such a file they are the units of all else.",
     .children = TALI_GROUP_MOLECULES,
     .max_children = -1,
     .find = tali_model_find_molecule},
    {.name = "constraints",
     .doc = "Constraints.",
     .children = TALI_GROUP_CONSTRAINTS,
     .max_children = -1,
     .find = tali_model_find_constraint},
    {.name = "unilaterals",
     .doc = "Constraints that push but do not pull, with dry friction and impacts.",
     .children = TALI_GROUP_UNILATERALS,
     .max_children = -1,
     .find = tali_model_find_unilateral},
    {.name = "colliders",
     .doc =
         "Convex solids that do not penetrate each other, for `talus simulate --stepper contact`.",
     .children = TALI_GROUP_COLLIDERS,
     .max_children = -1,
     .find = tali_model_find_collider},
    {.name = "motions",
     .doc = "Motions that are prescribed.",
     .children = TALI_GROUP_MOTIONS,
     .max_children = -1,
     .find = tali_model_find_motion},
    {.name = "wraps",
     .doc = "Obstacles that paths go over.",
     .children = TALI_GROUP_WRAPS,
     .max_children = -1,
     .find = tali_model_find_wrap},
    {.name = "paths",
     .doc = "Paths that forces pull along.",
     .children = TALI_GROUP_PATHS,
     .max_children = -1,
     .find = tali_model_find_path},
    {.name = "measures",
     .doc = "Signals. Operands come before the measures that use them.",
     .children = TALI_GROUP_MEASURES,
     .max_children = -1,
     .find = tali_model_find_measure},
    {.name = "forces",
     .doc = "Force elements.",
     .children = TALI_GROUP_FORCES,
     .max_children = -1,
     .find = tali_model_find_force},
    {.name = "controllers",
     .doc = "Controllers, which add to the controls of actuators and muscles.",
     .children = TALI_GROUP_CONTROLLERS,
     .max_children = -1,
     .find = tali_model_find_controller},
    {.name = "stops",
     .doc = "Conditions that end a run: `talus simulate` says which one did, and when.",
     .children = TALI_GROUP_STOPS,
     .max_children = -1,
     .find = tali_model_find_stop},
    {.name = "events",
     .doc = "What happens when a measure crosses a value, or at a time: variables are set, "
            "impulses act, a run ends. `<stops>` may have the same.",
     .children = TALI_GROUP_STOPS,
     .max_children = -1,
     .find = tali_model_find_event},
    {.name = "markers",
     .doc = "Points of bodies that are observed.",
     .children = TALI_GROUP_MARKERS,
     .max_children = -1,
     .find = tali_model_find_marker},
    {.name = "decorations",
     .doc = "What bodies look like.",
     .children = TALI_GROUP_DECORATIONS,
     .max_children = -1,
     .find = tali_model_find_decoration},
    {.name = NULL}};

const tali_model_row *tali_model_rows(tali_model_group group)
{
    static const tali_model_row none[] = {{.name = NULL}};
    switch (group) {
    case TALI_GROUP_TOP:
        return top_rows;
    case TALI_GROUP_SECTIONS:
        return section_rows;
    case TALI_GROUP_BODIES:
        return tali_model_body_rows;
    case TALI_GROUP_BODY_PARTS:
        return tali_model_body_part_rows;
    case TALI_GROUP_FIELDS:
        return tali_model_field_rows;
    case TALI_GROUP_FIELD_PARTS:
        return tali_model_field_part_rows;
    case TALI_GROUP_MOLECULES:
        return tali_model_molecule_rows;
    case TALI_GROUP_MOLECULE_PARTS:
        return tali_model_molecule_part_rows;
    case TALI_GROUP_CONSTRAINTS:
        return tali_model_constraint_rows;
    case TALI_GROUP_UNILATERALS:
        return tali_model_unilateral_rows;
    case TALI_GROUP_COLLIDERS:
        return tali_model_collider_rows;
    case TALI_GROUP_MOTIONS:
        return tali_model_motion_rows;
    case TALI_GROUP_WRAPS:
        return tali_model_wrap_rows;
    case TALI_GROUP_PATHS:
        return tali_model_path_rows;
    case TALI_GROUP_PATH_PARTS:
        return tali_model_path_part_rows;
    case TALI_GROUP_MEASURES:
        return tali_model_measure_rows;
    case TALI_GROUP_FORCES:
        return tali_model_force_rows;
    case TALI_GROUP_SURFACES:
        return tali_model_surface_rows;
    case TALI_GROUP_STOPS:
        return tali_model_stop_rows;
    case TALI_GROUP_MARKERS:
        return tali_model_marker_rows;
    case TALI_GROUP_MESH_PARTS:
        return tali_model_mesh_part_rows;
    case TALI_GROUP_LOADS:
        return tali_model_load_rows;
    case TALI_GROUP_COMPONENTS:
        return tali_model_component_rows;
    case TALI_GROUP_CONTROLLERS:
        return tali_model_controller_rows;
    case TALI_GROUP_DRIVES:
        return tali_model_drive_rows;
    case TALI_GROUP_DECORATIONS:
        return tali_model_decoration_rows;
    case TALI_GROUP_FUNCTIONS:
    case TALI_GROUP_NAMED_FUNCTIONS:
        return tali_model_function_rows;
    case TALI_GROUP_MATERIALS:
        return tali_model_material_rows;
    case TALI_GROUP_NONE:
    case TALI_NUM_GROUPS:
        break;
    }
    return none;
}

// ---- names

static uint64_t hash_of(tali_model_group group, const char *name)
{
    const unsigned char first = (unsigned char)group;
    return tali_hash(tali_hash(TALI_HASH_SEED, &first, 1), name, strlen(name));
}

int tali_model_find_name(const tali_model *m, tali_model_group group, const char *name)
{
    const uint64_t hash = hash_of(group, name);
    int probe = 0, i;
    while ((i = tali_names_next(&m->names, hash, &probe)) >= 0) {
        if (m->items[i].group == group && strcmp(m->items[i].name, name) == 0) break;
    }
    return i;
}

int tali_model_find_from(const tali_model *m, const tali_model_item *item, tali_model_group group,
                         const char *name)
{
    char whole[TAL_MAX_NAME + 1];
    if (*item->prefix == '\0') return tali_model_find_name(m, group, name);
    const int length = snprintf(whole, sizeof whole, "%s%s", item->prefix, name);
    if (length < 0 || (size_t)length >= sizeof whole) return -1;
    return tali_model_find_name(m, group, whole);
}

bool tali_model_is_body(const tali_model *m, const tali_model_item *item, const char *name)
{
    return strcmp(name, "ground") == 0 ||
           tali_model_find_from(m, item, TALI_GROUP_BODIES, name) >= 0;
}

const char *tali_model_full_name(tali_model *m, const tali_model_item *item, const char *name)
{
    const size_t before = strlen(item->prefix), length = strlen(name);
    if (before == 0 || item->group == TALI_GROUP_TOP) return name;
    char *whole = tali_arena_take(&m->arena, before + length + 1);
    if (whole == NULL) {
        m->no_memory = true;
        return NULL;
    }
    (void)snprintf(whole, before + length + 1, "%s%s", item->prefix, name);
    return whole;
}

// Whether there is a name to enter; what must have one and has none, or the other way round, is
// reported.
static bool has_name_to_enter(tali_model *m, const tali_model_item *item)
{
    if (item->group == TALI_GROUP_NAMED_FUNCTIONS && !tali_model_item_has(item, "name")) {
        tali_model_item_error(m, item, NULL, " needs the attribute 'name'");
    }
    if (item->name == NULL || item->group < TALI_GROUP_NAMED_FUNCTIONS ||
        item->group == TALI_GROUP_SURFACES) {
        return false;
    }
    if (item->group == TALI_GROUP_FUNCTIONS) {
        tali_model_item_error(m, item, "name", ": a function has a name in <functions> only");
        return false;
    }
    if (item->group == TALI_GROUP_BODIES && strcmp(item->name, "ground") == 0) {
        tali_model_item_error(m, item, "name", ": 'ground' is the name of the built-in body");
        return false;
    }
    const char *common = "";
    for (int i = 0; item->group == TALI_GROUP_MATERIALS && common != NULL; ++i) {
        common = tali_model_common_material_at(i);
        if (common == NULL || strcmp(common, item->name) != 0) continue;
        tali_model_item_error(m, item, "name", ": '%s' is the name of a built-in material", common);
        return false;
    }
    return true;
}

void tali_model_enter_name(tali_model *m, int index)
{
    const tali_model_item *item = &m->items[index];
    if (!has_name_to_enter(m, item)) return;
    if (!tali_names_reserve(&m->names, &m->arena.allocator)) {
        m->no_memory = true;
        return;
    }
    const int other = tali_model_find_name(m, item->group, item->name);
    if (other >= 0) {
        tali_model_item_error(
            m, item, "name", ": the name '%s' is taken by <%s> in line %d of %.80s", item->name,
            m->items[other].row->name, m->items[other].element->line, m->items[other].xml->file);
        return;
    }
    tali_names_add(&m->names, hash_of(item->group, item->name), index);
}

// ---- params

tali_model_named_value *tali_model_find_value(const tali_model *m, const char *name, size_t length)
{
    for (int i = 0; i < m->num_values; ++i) {
        const char *other = m->values[i].name;
        if (strncmp(other, name, length) == 0 && other[length] == '\0') return &m->values[i];
    }
    return NULL;
}

// Add a <param>, with the value that the program set if there is one.
static void define_param(tali_model *m, const tali_model_item *item)
{
    enum {
        MOST = 10000 // a search through all of them stays quick
    };

    if (item->name == NULL) return;
    const size_t length = strlen(item->name);
    if (strspn(item->name, PARAM_LETTERS) != length) {
        tali_model_item_error(m, item, "name", ": a name can have only letters, digits and '_'");
        return;
    }
    if (tali_model_find_value(m, item->name, length) != NULL) {
        tali_model_item_error(m, item, "name", ": '%s' is defined already", item->name);
        return;
    }
    if (m->num_values >= MOST) {
        tali_model_item_error(m, item, "name", ": there are more than %d params", MOST);
        return;
    }
    if (!tali_grow(&m->arena.allocator, (void **)&m->values, m->num_values, &m->values_capacity,
                   sizeof *m->values)) {
        m->no_memory = true;
        return;
    }
    tali_model_named_value fresh = {item->name, item->p[0], false};
    for (int i = 0; i < m->options.num_params; ++i) {
        const tal_model_param *given = &m->options.params[i];
        if (strcmp(given->name, item->name) != 0) continue;
        fresh = (tali_model_named_value){item->name, given->value, true};
    }
    m->values[m->num_values++] = fresh;
}

// Whether a name in full is this prefix and that name.
static bool is_prefixed(const char *whole, const char *prefix, const char *name, size_t length)
{
    const size_t n = strlen(prefix);
    return strncmp(whole, prefix, n) == 0 && strncmp(whole + n, name, length) == 0 &&
           whole[n + length] == '\0';
}

const tali_model_named_value *tali_model_find_param(const tali_model *m,
                                                    const tali_model_item *item, const char *name,
                                                    size_t length)
{
    for (;;) {
        for (int i = 0; i < m->num_values; ++i) {
            if (is_prefixed(m->values[i].name, item->prefix, name, length)) return &m->values[i];
        }
        if (item->include < 0) return NULL;
        item = &m->items[item->include];
    }
}

static const char *param_at(const void *context, int i)
{
    const tali_model *m = context;
    return i < m->num_values ? m->values[i].name : NULL;
}

// What the program that reads sets must be there.
static void check_given_params(tali_model *m, const char *file)
{
    for (int i = 0; i < m->options.num_params; ++i) {
        const char *name = m->options.params[i].name;
        if (tali_model_find_value(m, name, strlen(name)) != NULL) continue;
        const char *guess = tali_text_did_you_mean(name, param_at, m);
        m->num_refused += 1;
        tal_diagnostics_add(m->found, TAL_ERROR, file, 0, 0,
                            "there is no <param> '%.60s' to set%s%s%s", name,
                            guess != NULL ? " (did you mean '" : "", guess != NULL ? guess : "",
                            guess != NULL ? "'?)" : "");
    }
}

// ---- items

static const char *row_name_at(const void *context, int i)
{
    return ((const tali_model_row *)context)[i].name;
}

static const tali_model_row *find_row(const tali_model *m, tali_model_group group, const char *name)
{
    const tali_model_row *rows = tali_model_rows(group);
    for (int i = 0; rows[i].name != NULL; ++i) {
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    for (int i = 0; i < m->num_own_rows; ++i) {
        const tali_model_own_row *own = &m->own_rows[i];
        if (own->group == group && strcmp(own->row.name, name) == 0) return &own->row;
    }
    return NULL;
}

static void report_unknown(tali_model *m, const tali_xml *xml, const tali_xml_element *element,
                           tali_model_group group)
{
    const char *guess = tali_text_did_you_mean(element->name, row_name_at, tali_model_rows(group));
    const char *parent = element->parent != NULL ? element->parent->name : NULL;
    const char *kind = parent == NULL ? tali_xml_kind(element->name, strlen(element->name)) : NULL;
    if (kind != NULL) {
        tali_xml_error(xml, element, NULL, m->found,
                       "this is %s, not a model file of Talus, which begins with <talus>", kind);
        return;
    }
    tali_xml_error(xml, element, NULL, m->found, "there is no <%.60s> %s%.60s%s%s%s%s",
                   element->name, parent != NULL ? "in <" : "at the top of a model file",
                   parent != NULL ? parent : "", parent != NULL ? ">" : "",
                   guess != NULL ? " (did you mean <" : "", guess != NULL ? guess : "",
                   guess != NULL ? ">?)" : "");
}

// Add an item, for which there is room; its index.
static int add_item(tali_model *m, const tali_model_item *like)
{
    assert(m->num_items < m->items_capacity);
    const int index = m->num_items++;
    tali_model_item *item = &m->items[index];
    *item = *like;
    item->first = item->last = item->next = item->built = -1;
    if (item->parent >= 0) {
        tali_model_item *parent = &m->items[item->parent];
        if (parent->last >= 0) m->items[parent->last].next = index;
        if (parent->first < 0) parent->first = index;
        parent->last = index;
        parent->num_children += 1;
    }
    return index;
}

static void check_children(tali_model *m, const tali_model_item *item)
{
    const tali_model_row *row = item->row;
    const int n = item->num_children;
    if (n < row->min_children || (row->max_children >= 0 && n > row->max_children)) {
        tali_model_item_error(
            m, item, NULL, " contains %d element%s; it needs %s%d", n, n == 1 ? "" : "s",
            row->max_children < 0                                            ? "at least "
            : row->max_children > row->min_children && n > row->max_children ? "at most "
            : row->max_children > row->min_children                          ? "at least "
                                                                             : "",
            n < row->min_children ? row->min_children : row->max_children);
    }
    if (!row->has_numbers && (*item->element->text != '\0' || item->element->mixed)) {
        tali_model_item_error(m, item, NULL, " contains text; only elements are allowed there");
    }
}

// A document that is being walked through.
typedef struct place {
    tali_xml *xml;
    const tali_xml_element *at; // NULL: done
    double unit;
    const char *prefix;
    int include;             // item of the <include>; -1: none
    int depth;               // of `at`
    int open[MAX_DEPTH + 1]; // items of the elements around `at`, outermost first
} place;

// Documents that are open, each included by the one before.
typedef struct walk {
    place stack[MAX_INCLUDES];
    int depth;
} walk;

// Continue to the next element in document order, to a child only if `into`.
static void step_to_next(place *p, bool into)
{
    if (into && p->at->first != NULL) {
        p->at = p->at->first;
        p->depth += 1;
        return;
    }
    while (p->at != NULL && p->at->next == NULL) {
        p->at = p->at->parent;
        p->depth -= 1;
    }
    if (p->at != NULL) p->at = p->at->next;
}

// Room for the items of one more document, at once: every element is one item at most.
static bool reserve_items(tali_model *m, int more)
{
    if (more > INT_MAX - m->items_capacity) return false;
    const int capacity = m->items_capacity + more;
    tali_model_item *items = tali_alloc(&m->arena.allocator, (size_t)capacity * sizeof *items);
    if (items == NULL) return false;
    if (m->num_items > 0) memcpy(items, m->items, (size_t)m->num_items * sizeof *items);
    tali_free(&m->arena.allocator, m->items, (size_t)m->items_capacity * sizeof *items);
    m->items = items;
    m->items_capacity = capacity;
    return true;
}

// A file for another version of the format may have anything in it: this is all that is said.
static bool has_known_version(tali_model *m, const tali_xml *xml)
{
    const tali_xml_attribute *version = tali_xml_find(xml->root, "version");
    if (version == NULL || strcmp(xml->root->name, "talus") != 0) return true;
    if (strcmp(version->value, "1") == 0) return true;
    tali_xml_error(xml, xml->root, version, m->found,
                   "version '%.40s' of the format is not known: this Talus reads version 1. Use a "
                   "newer Talus, or write the file for version 1 (doc/model_file.md)",
                   version->value);
    return false;
}

// Keep a document, and begin to walk through it.
static void open_document(tali_model *m, walk *w, tali_xml *xml, const char *prefix, int include)
{
    if (!has_known_version(m, xml)) {
        tali_xml_destroy(xml);
        return;
    }
    if (!reserve_items(m, xml->num_elements) ||
        !tali_grow(&m->arena.allocator, (void **)&m->documents, m->num_documents,
                   &m->documents_capacity, sizeof *m->documents)) {
        m->no_memory = true;
        tali_xml_destroy(xml);
        return;
    }
    m->documents[m->num_documents++] = xml;
    place *p = &w->stack[w->depth++];
    *p = (place){.xml = xml, .at = xml->root, .unit = 1.0, .prefix = prefix, .include = include};
}

// As long as it fits.
static bool path_beside(const tali_model *m, const tali_model_item *item, const char *file,
                        char path[], size_t size)
{
    const char *from = item->xml->file;
    const char *slash = strrchr(from, '/');
    int length = 0;
    if (file[0] != '/' && m->options.folder != NULL) {
        length = snprintf(path, size, "%s/", m->options.folder);
    } else if (file[0] != '/' && slash != NULL) {
        length = snprintf(path, size, "%.*s/", (int)(slash - from), from);
    }
    if (length < 0 || (size_t)length >= size) return false;
    const size_t left = size - (size_t)length;
    const int rest = snprintf(path + length, left, "%s", file);
    return rest >= 0 && (size_t)rest < left;
}

bool tali_model_item_path(tali_model *m, const tali_model_item *item, const char *file, char path[],
                          size_t size)
{
    if (m->in_memory && m->options.folder == NULL) {
        tali_model_item_error(m, item, "file",
                              ": a model in memory has no folder to read files from");
        return false;
    }
    if (path_beside(m, item, file, path, size)) return true;
    tali_model_item_error(m, item, "file", ": the path is longer than %zu characters", size - 1);
    return false;
}

// The prefix of the names in the file of an <include>, behind that of the file it is in. NULL, and
// an error, when it cannot be one.
static const char *prefix_of(tali_model *m, const tali_model_item *item)
{
    const char *own = item->text[1];
    if (*own == '\0') return item->prefix;
    const size_t before = strlen(item->prefix), length = strlen(own);
    if (before + length >= TAL_MAX_NAME / 2 || (*own >= '0' && *own <= '9') ||
        strspn(own, PARAM_LETTERS) != length) {
        tali_model_item_error(m, item, "prefix",
                              ": '%.60s' must be letters, digits and '_', not begin with a digit, "
                              "and be shorter than %d characters",
                              own, TAL_MAX_NAME / 2);
        return NULL;
    }
    return tali_model_full_name(m, item, own);
}

// Open the file of an <include>, unless it includes itself or there are too many.
static void begin_include(tali_model *m, walk *w, const tali_model_item *item)
{
    char path[MAX_PATH];
    if (item->text[0] == NULL) return;
    const int index = (int)(item - m->items); // items move when there are more
    const char *prefix = prefix_of(m, item);
    if (prefix == NULL) return;
    if (w->depth >= MAX_INCLUDES) {
        tali_model_item_error(m, item, "file",
                              ": files include each other more than %d levels deep", MAX_INCLUDES);
        return;
    }
    if (!tali_model_item_path(m, item, item->text[0], path, sizeof path)) return;
    for (int i = 0; i < w->depth; ++i) {
        if (strcmp(w->stack[i].xml->file, path) != 0) continue;
        tali_model_item_error(m, item, "file", ": '%.100s' includes itself", path);
        return;
    }
    if (m->num_documents >= MAX_DOCUMENTS) {
        tali_model_item_error(m, item, "file", ": more than %d files are included", MAX_DOCUMENTS);
        return;
    }
    tali_xml *xml = NULL;
    const tal_status st = tali_xml_read_file(path, NULL, &m->arena.allocator, &xml, m->found);
    if (st == TAL_OK) {
        open_document(m, w, xml, prefix, index);
        return;
    }
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    tali_model_item_error(m, item, "file", ": '%.100s' could not be read", path);
}

// Make the item of one element. -1 when it is not to be made.
static int make_item(tali_model *m, const place *p)
{
    const int parent = p->depth > 0 ? p->open[p->depth - 1] : -1;
    const tali_model_group group = parent >= 0 ? m->items[parent].row->children : TALI_GROUP_TOP;
    const tali_model_row *row = find_row(m, group, p->at->name);
    if (row == NULL) {
        report_unknown(m, p->xml, p->at, group);
        return -1;
    }
    const tali_model_item like = {.row = row,
                                  .xml = p->xml,
                                  .element = p->at,
                                  .unit = p->unit,
                                  .prefix = p->prefix,
                                  .include = p->include,
                                  .group = group,
                                  .parent = parent};
    const int index = add_item(m, &like);
    tali_model_item_parse(m, &m->items[index]);
    if (!m->no_memory) tali_model_enter_name(m, index);
    return index;
}

// What an item means for those that follow it.
static void digest(tali_model *m, walk *w, int index)
{
    const tali_model_item *item = &m->items[index];
    place *p = &w->stack[w->depth - 1];
    if (item->group == TALI_GROUP_TOP) {
        if (item->ref[1] == 1) p->unit = DEGREE;
        if (item->ref[2] == 1) m->solves_kkt = true; // what is included may need it
        if (item->ref[3] == 1) m->options.fixed_memory = true;
        if (item->ref[4] == 1) m->has_collider_elements = true;
        if (w->depth > 1) return;
        m->name = item->name;
        m->time = item->p[0];
        m->time_scale = item->p[1];
    } else if (item->row == &section_rows[PARAM_ROW]) {
        define_param(m, item);
    } else if (item->row == &section_rows[INCLUDE_ROW]) {
        begin_include(m, w, item);
    }
}

static void walk_through(tali_model *m, tali_xml *first)
{
    walk w = {.depth = 0};
    open_document(m, &w, first, "", -1);
    while (w.depth > 0 && !m->no_memory) {
        place *p = &w.stack[w.depth - 1];
        if (p->at == NULL) {
            w.depth -= 1;
            continue;
        }
        const int index = make_item(m, p);
        if (m->no_memory) return;
        p->open[p->depth] = index;
        step_to_next(p, index >= 0);
        if (index >= 0) digest(m, &w, index);
    }
    for (int i = 0; i < m->num_items; ++i) {
        check_children(m, &m->items[i]);
    }
}

static void make_own_rows(tali_model *m)
{
    const tal_model_registry *registry = m->options.registry;
    if (registry == NULL || registry->num_elements == 0) return;
    m->own_rows = tali_arena_take(&m->arena, (size_t)registry->num_elements * sizeof *m->own_rows);
    if (m->own_rows == NULL) {
        m->no_memory = true;
        return;
    }
    for (int i = 0; i < registry->num_elements; ++i) {
        tali_model_own_row_make(&registry->elements[i], &m->own_rows[i]);
    }
    m->num_own_rows = registry->num_elements;
}

static void load(tali_model *m, tal_status st, tali_xml *xml)
{
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    if (xml == NULL) return;
    make_own_rows(m);
    walk_through(m, xml);
    if (m->num_documents > 0) check_given_params(m, m->documents[0]->file);
}

void tali_model_load_file(tali_model *m, const char *path)
{
    tali_xml *xml = NULL;
    const tal_status st = tali_xml_read_file(path, NULL, &m->arena.allocator, &xml, m->found);
    load(m, st, xml);
}

void tali_model_load_memory(tali_model *m, const char *name, const char *text, size_t size)
{
    tali_xml *xml = NULL;
    const tal_status st =
        tali_xml_read_memory(name, text, size, NULL, &m->arena.allocator, &xml, m->found);
    load(m, st, xml);
}
