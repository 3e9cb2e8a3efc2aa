// Controllers: what drives actuators and muscles.
#include "alloc_internal.h"
#include "error_internal.h"

#include "opensim/osim_internal.h"
#include "table/table_internal.h"
#include "text/text_internal.h"

#include <talus/io/table.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- which actuators ---

int tali_osim_find_force(const tali_osim *o, const char *name)
{
    return tali_name_map_find(&o->force_names, tali_osim_last_name(name));
}

static const char *force_at(const void *context, int i)
{
    const tali_osim *o = context;
    return i < o->num_forces ? o->forces[i].name : NULL;
}

// Whether a force has one control here. Body actuators have six.
static bool has_control(const tali_osim *o, int i)
{
    static const char *const others[] = {"CoordinateActuator", "PointActuator", "TorqueActuator",
                                         "PathActuator", "ClutchedPathSpring"};
    const tali_osim_force *f = &o->forces[i];
    for (int k = 0; k < 5; ++k) {
        if (strcmp(f->element->name, others[k]) == 0) return true;
    }
    return f->muscle != NULL;
}

static void drive(tali_osim *o, tali_osim_controller *it, int force)
{
    for (int i = 0; i < it->num; ++i) {
        if (it->forces[i] == force) return;
    }
    if (it->num < o->num_forces) it->forces[it->num++] = force;
}

static void drive_all(tali_osim *o, tali_osim_controller *it)
{
    for (int i = 0; i < o->num_forces; ++i) {
        if (has_control(o, i)) drive(o, it, i);
    }
}

// The next word of a list, in the arena; NULL: there is none.
static const char *next_word(tali_osim *o, const char **at)
{
    static const char *const between = " \t\r\n,()";
    *at += strspn(*at, between);
    const size_t length = strcspn(*at, between);
    if (length == 0) return NULL;
    const char *word = tali_arena_copy(&o->arena, *at, length);
    if (word == NULL) o->no_memory = true;
    *at += length;
    return word;
}

// The members of a group of the set of forces. False when there is no such group.
static bool drive_group(tali_osim *o, tali_osim_controller *it, const char *name)
{
    const tali_xml_element *set = tali_osim_set(o->model, "ForceSet");
    const tali_xml_element *groups = set != NULL ? tali_xml_child(set, "groups") : NULL;
    const tali_xml_element *group = groups != NULL ? groups->first : NULL;
    while (group != NULL && strcmp(tali_osim_name(group), name) != 0) {
        group = group->next;
    }
    const char *at = group != NULL ? tali_osim_text(group, "members") : NULL;
    for (const char *word; at != NULL && (word = next_word(o, &at)) != NULL;) {
        const int force = tali_osim_find_force(o, word);
        if (force >= 0 && has_control(o, force)) drive(o, it, force);
    }
    return group != NULL;
}

static void drive_named(tali_osim *o, tali_osim_controller *it, const char *word)
{
    const int force = tali_osim_find_force(o, word);
    if (force >= 0 && has_control(o, force)) {
        drive(o, it, force);
    } else if (force >= 0) {
        tali_osim_error(o, it->element, ": '%.60s', a <%.40s>, has no control", word,
                        o->forces[force].element->name);
    } else if (!drive_group(o, it, word)) {
        const char *meant = tali_text_did_you_mean(tali_osim_last_name(word), force_at, o);
        tali_osim_error(o, it->element, ": there is no actuator '%.60s'%s%s%s", word,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "");
    }
}

// <actuator_list>, or the socket of version 4.6: names, paths, groups, or "ALL".
static void read_driven(tali_osim *o, tali_osim_controller *it)
{
    const char *at = tali_osim_socket(it->element, "actuators");
    if (at == NULL) at = tali_osim_text(it->element, "actuator_list");
    it->forces = tali_osim_take(o, o->num_forces, sizeof *it->forces);
    if (it->forces == NULL || at == NULL) return;
    for (const char *word; (word = next_word(o, &at)) != NULL;) {
        if (tali_table_same_word(word, "all")) {
            drive_all(o, it);
        } else {
            drive_named(o, it, word);
        }
    }
}

// --- functions of time ---

static bool take_functions(tali_osim *o, tali_osim_controller *it)
{
    it->functions = tali_osim_take(o, it->num, sizeof *it->functions);
    return it->functions != NULL;
}

// Each function stands for the actuator that it is named after, or whose number it has.
static void read_functions(tali_osim *o, tali_osim_controller *it)
{
    const tali_xml_element *set = tali_osim_property(it->element, "ControlFunctions");
    if (set == NULL) set = tali_osim_object(it->element, "ControlFunctions");
    const tali_xml_element *e = set != NULL ? tali_osim_first(set) : NULL;
    if (e != NULL && strcmp(e->name, "FunctionSet") == 0) e = tali_osim_first(e);
    for (int i = 0; e != NULL; e = e->next, ++i) {
        const int force = tali_osim_find_force(o, tali_osim_name(e));
        int k = 0;
        while (k < it->num && it->forces[k] != force) {
            ++k;
        }
        if (k == it->num) k = i; // a name of its own, or none
        if (k >= it->num) {
            tali_osim_error(o, e, ": there is no actuator number %d in the controller's list",
                            i + 1);
        } else if (it->functions[k] != NULL) {
            tali_osim_error(o, e, ": actuator '%s' has a function already",
                            o->forces[it->forces[k]].name);
        } else {
            it->functions[k] = tali_osim_read_function(o, e, 1);
        }
    }
}

static void read_controls_file(tali_osim *o, tali_osim_controller *it);

// Actuators without a function are not driven.
static void drop_undriven(tali_osim_controller *it)
{
    int n = 0;
    for (int i = 0; i < it->num; ++i) {
        if (it->functions[i] == NULL) continue;
        it->functions[n] = it->functions[i];
        it->forces[n++] = it->forces[i];
        if (n - 1 < i) it->functions[i] = NULL;
    }
    it->num = n;
}

static void read_prescribed(tali_osim *o, tali_osim_controller *it)
{
    read_driven(o, it);
    if (it->forces == NULL) return;
    const bool from_file = tali_osim_text(it->element, "controls_file") != NULL;
    if (from_file && it->num == 0) drive_all(o, it);
    if (!take_functions(o, it)) return;
    if (from_file) {
        read_controls_file(o, it);
    } else {
        read_functions(o, it);
    }
    drop_undriven(it);
}

// --- reflexes ---

static void read_reflex(tali_osim *o, tali_osim_controller *it)
{
    read_driven(o, it);
    it->gain = tali_osim_number(o, it->element, "gain", 1.0);
    for (int i = 0; i < it->num; ++i) {
        const tali_osim_force *f = &o->forces[it->forces[i]];
        if (f->muscle != NULL) continue;
        tali_osim_error(o, it->element, ": '%s' is no muscle, which a reflex needs", f->name);
    }
}

// --- controls of a ControlSet ---

// Nodes of a <ControlLinear>: times and values.
typedef struct control_nodes {
    double *t, *x;
    int n;
} control_nodes;

static bool read_nodes(tali_osim *o, const tali_xml_element *control, control_nodes *nodes)
{
    const tali_xml_element *first = tali_osim_first_of(control, "x_nodes");
    if (first == NULL) first = tali_osim_first_of(control, "nodes"); // before 2.0
    int n = 0;
    for (const tali_xml_element *e = first; e != NULL; e = e->next) {
        ++n;
    }
    nodes->t = tali_osim_take(o, n, sizeof *nodes->t);
    nodes->x = tali_osim_take(o, n, sizeof *nodes->x);
    if (nodes->t == NULL || nodes->x == NULL) return false;
    for (const tali_xml_element *e = first; e != NULL; e = e->next) {
        nodes->t[nodes->n] = tali_osim_number(o, e, "t", 0.0);
        nodes->x[nodes->n++] = tali_osim_number(o, e, "value", 0.0);
    }
    return true;
}

// Straight lines between nodes, or steps; held beyond them, or continued.
static tal_function *make_control(tali_osim *o, const tali_xml_element *control,
                                  const control_nodes *nodes)
{
    tal_error err = {TAL_OK, "", ""};
    tal_function *f = NULL;
    const tal_allocator *from = &o->arena.allocator;
    const bool steps = tali_osim_bool(o, control, "use_steps", false);
    const bool continued = tali_osim_bool(o, control, "extrapolate", true) && !steps;
    for (int i = 0; i < nodes->n && steps; ++i) {
        double *stop = TALI_OSIM_ADD(o, stops);
        if (stop != NULL) *stop = nodes->t[i];
    }
    const tal_status st =
        continued && nodes->n > 1
            ? tal_function_create_piecewise_linear(from, nodes->t, nodes->x, nodes->n, &f, &err)
            : tal_function_create_nodes(from, nodes->t, nodes->x, nodes->n,
                                        steps ? TAL_NODES_STEPS : TAL_NODES_LINEAR, &f, &err);
    if (st != TAL_OK) tali_osim_error(o, control, ": %s", err.message);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    return f;
}

tal_function *tali_osim_read_control(tali_osim *o, const tali_xml_element *control)
{
    control_nodes nodes = {NULL, NULL, 0};
    if (strcmp(control->name, "ControlConstant") == 0) {
        const double x = tali_osim_number(o, control, "value", 0.0), t = 0.0;
        nodes = (control_nodes){&(double){t}, &(double){x}, 1};
        return make_control(o, control, &nodes);
    }
    if (strcmp(control->name, "ControlLinear") != 0) {
        tali_osim_error(o, control, ": controls of this kind are not read");
        return NULL;
    }
    if (!read_nodes(o, control, &nodes)) return NULL;
    if (nodes.n == 0) {
        tali_osim_error(o, control, " has no nodes in <x_nodes>");
        return NULL;
    }
    return make_control(o, control, &nodes);
}

// A control is named after its actuator, alone or with ".excitation" behind it.
static int find_controlled(const tali_osim *o, const char *text)
{
    char name[128];
    const char *end = strstr(text, ".excitation");
    const size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
    if (length >= sizeof name) return -1;
    memcpy(name, text, length);
    name[length] = '\0';
    return tali_osim_find_force(o, name);
}

// Of each control the actuator that has its name.
static void read_controls(tali_osim *o, tali_osim_controller *it, const tali_xml_element *first)
{
    for (const tali_xml_element *e = first; e != NULL; e = e->next) {
        const int force = find_controlled(o, tali_osim_name(e));
        int k = 0;
        while (k < it->num && it->forces[k] != force) {
            ++k;
        }
        if (k == it->num || it->functions[k] != NULL) {
            tali_osim_warn(o, e, ": no actuator is driven by it");
        } else {
            it->functions[k] = tali_osim_read_control(o, e);
        }
    }
}

// --- controls in files of their own ---

// A <ControlSet> in a document; what is wrong with it is said with its name.
static void read_control_document(tali_osim *o, tali_osim_controller *it, const char *path)
{
    tali_xml *xml = NULL, *const outer = o->xml;
    const tal_status st = tali_xml_read_file(path, NULL, &o->arena.allocator, &xml, o->found);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) return;
    o->xml = xml;
    const tali_xml_element *set = xml->root;
    if (strcmp(set->name, "ControlSet") != 0) set = tali_xml_child(set, "ControlSet");
    if (set == NULL) {
        tali_osim_error(o, xml->root, " has no <ControlSet>");
    } else {
        read_controls(o, it, tali_osim_first(set));
    }
    o->xml = outer;
    tali_xml_destroy(xml);
}

// Straight lines between the rows of a table, held beyond them.
static void read_control_table(tali_osim *o, tali_osim_controller *it, const char *path)
{
    tal_table *table = NULL;
    tal_table_options how = tal_table_options_default();
    how.allocator = o->arena.allocator;
    const tal_status st = tal_table_read_file(path, &how, &table, o->found);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    const int n = st == TAL_OK ? tal_table_num_rows(table) : 0;
    double *t = tali_osim_take(o, n, sizeof *t), *x = tali_osim_take(o, n, sizeof *x);
    for (int c = 1; n > 0 && t != NULL && x != NULL && c < tal_table_num_columns(table); ++c) {
        const int force = find_controlled(o, tal_table_column_name(table, c));
        int k = 0;
        while (k < it->num && it->forces[k] != force) {
            ++k;
        }
        if (k == it->num || it->functions[k] != NULL) continue;
        for (int r = 0; r < n; ++r) {
            t[r] = tal_table_value(table, r, 0);
            x[r] = tal_table_value(table, r, c);
        }
        tal_error err = {TAL_OK, "", ""};
        const tal_status made = tal_function_create_nodes(
            &o->arena.allocator, t, x, n, TAL_NODES_LINEAR, &it->functions[k], &err);
        o->no_memory = o->no_memory || made == TAL_ERR_NO_MEMORY;
        if (made != TAL_OK) tali_osim_error(o, it->element, ": %s", err.message);
    }
    tal_table_destroy(table);
}

static void read_controls_file(tali_osim *o, tali_osim_controller *it)
{
    char path[1024];
    tali_osim_beside(o, tali_osim_text(it->element, "controls_file"), path);
    const size_t n = strlen(path);
    if (n > 4 && tali_table_same_word(path + n - 4, ".xml")) {
        read_control_document(o, it, path);
    } else {
        read_control_table(o, it, path);
    }
}

static void read_control_set(tali_osim *o, tali_osim_controller *it)
{
    read_driven(o, it);
    if (it->forces == NULL) return;
    if (it->num == 0) drive_all(o, it);
    if (!take_functions(o, it)) return;
    if (tali_osim_text(it->element, "controls_file") != NULL) {
        read_controls_file(o, it);
    } else {
        read_controls(o, it, tali_osim_first_of(it->element, "ControlSet"));
    }
    drop_undriven(it);
}

// --- correction ---

// Whether a coordinate moves by itself, and not as a lock, a motion or a coupler says.
static bool is_free(const tali_osim *o, int coordinate)
{
    const tali_osim_coordinate *q = &o->coordinates[coordinate];
    bool follows = false;
    for (int i = 0; i < o->num_constraints; ++i) {
        const tali_osim_constraint *it = &o->constraints[i];
        if (it->num_coords == 0 || !it->enforced) continue;
        follows = follows || it->coords[it->num_coords - 1] == coordinate;
    }
    return !follows && !q->locked && q->prescribed == NULL;
}

// An actuator for each coordinate that is free: "<coordinate>_corrector". The tool that has the
// motion drives them.
static void read_correction(tali_osim *o, tali_osim_controller *it)
{
    const bool of_tool = o->more_controllers != NULL && o->xml == o->more_controllers;
    if (!of_tool) {
        tali_osim_ignore(o, it->element, it->enabled ? TAL_WARNING : TAL_NOTE,
                         "acts only in the set-up of a ForwardTool, which has the motion");
        return;
    }
    it->gain = tali_osim_number(o, it->element, "kp", 100.0);
    it->damping = tali_osim_number(o, it->element, "kv", 20.0);
    it->forces = tali_osim_take(o, o->num_coordinates, sizeof *it->forces);
    it->corrected = tali_osim_take(o, o->num_coordinates, sizeof *it->corrected);
    if (it->forces == NULL || it->corrected == NULL) return;
    for (int c = 0; c < o->num_coordinates && it->enabled; ++c) {
        char name[128];
        (void)snprintf(name, sizeof name, "%.100s_corrector", o->coordinates[c].name);
        if (!is_free(o, c)) continue;
        int force = tali_osim_find_force(o, name);
        const char *copy = force < 0 ? tali_arena_copy(&o->arena, name, strlen(name)) : NULL;
        if (copy != NULL) force = tali_osim_take_actuator(o, it->element, copy, c);
        o->no_memory = o->no_memory || force < 0;
        if (force < 0) return;
        it->forces[it->num] = force;
        it->corrected[it->num++] = c;
    }
}

tal_controller_ix tali_osim_correct(const tali_osim *o, tal_model *model,
                                    const tali_osim_controller *it, int i, tal_function *target)
{
    const double strength = o->forces[it->forces[i]].numbers[0]; // for a control of one
    const tal_feedback feedback = {.mobility = o->coordinates[it->corrected[i]].mobility,
                                   .stiffness = it->gain / strength,
                                   .damping = it->damping / strength,
                                   .target = target};
    return tal_forces_add_feedback(model->forces, NULL, o->forces[it->forces[i]].force, &feedback);
}

// --- the table ---

static const struct {
    const char *name;
    void (*read)(tali_osim *o, tali_osim_controller *it);
} rows[] = {{"PrescribedController", read_prescribed},
            {"ControlSetController", read_control_set},
            {"ToyReflexController", read_reflex},
            {"CorrectionController", read_correction}};

enum {
    NUM_ROWS = sizeof rows / sizeof *rows
};

// <enabled> since 4.0, <isDisabled> and <isEnabled> before.
static bool is_enabled(tali_osim *o, const tali_xml_element *e)
{
    if (tali_osim_property(e, "isEnabled") != NULL) return tali_osim_bool(o, e, "isEnabled", true);
    return tali_osim_is_on(o, e, "enabled", "isDisabled");
}

// A controller of a kind that is known; others are counted.
static void read_controller(tali_osim *o, const tali_xml_element *e)
{
    int row = 0;
    while (row < NUM_ROWS && strcmp(rows[row].name, e->name) != 0) {
        ++row;
    }
    const bool enabled = is_enabled(o, e);
    if (row == NUM_ROWS) {
        tali_osim_ignore(o, e, enabled ? TAL_WARNING : TAL_NOTE, "does not act in Talus");
        return;
    }
    tali_osim_controller *it = TALI_OSIM_ADD(o, controllers);
    if (it == NULL) return;
    it->element = e;
    it->name = tali_osim_name(e);
    it->enabled = enabled;
    it->first.i = -1;
    tali_osim_check_class(o, e);
    if (it->name[0] == '\0') it->name = NULL;
    const char *flaw = it->name != NULL ? tali_text_name_flaw(it->name) : NULL;
    if (flaw != NULL) tali_osim_error(o, e, ": %s", flaw);
    rows[row].read(o, it);
}

// Those of the model, then those of a tool.
void tali_osim_read_controllers(tali_osim *o)
{
    const tali_xml_element *e = tali_osim_first_of(o->model, "ControllerSet");
    for (; e != NULL; e = e->next) {
        read_controller(o, e);
    }
    if (o->more_controllers == NULL) return;
    const tali_xml_element *root = o->more_controllers->root;
    if (strcmp(root->name, "OpenSimDocument") == 0 && root->first != NULL) root = root->first;
    tali_xml *const outer = o->xml;
    o->xml = o->more_controllers;
    for (e = tali_osim_first_of(root, "ControllerSet"); e != NULL; e = e->next) {
        read_controller(o, e);
    }
    o->xml = outer;
}

// --- the System ---

// A reflex is of one muscle: the controller of a file becomes as many as it drives.
static void add_reflexes(tali_osim *o, tal_model *model, tali_osim_controller *it)
{
    for (int i = 0; i < it->num; ++i) {
        const tal_controller_ix made =
            tal_forces_add_reflex(model->forces, it->num == 1 ? it->name : NULL,
                                  o->forces[it->forces[i]].force, it->gain);
        if (i == 0) it->first = made;
        it->num_made += 1;
    }
}

static void add_functions(tali_osim *o, tal_model *model, tali_osim_controller *it)
{
    tal_force_ix *driven = tali_osim_take(o, it->num, sizeof *driven);
    if (driven == NULL) return;
    for (int i = 0; i < it->num; ++i) {
        driven[i] = o->forces[it->forces[i]].force;
    }
    it->first =
        tal_forces_add_function_controller(model->forces, it->name, driven, it->functions, it->num);
    it->num_made = 1;
    memset(it->functions, 0, (size_t)it->num * sizeof(tal_function *)); // adopted
}

void tali_osim_add_controllers(tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_controllers; ++i) {
        tali_osim_controller *it = &o->controllers[i];
        if (it->num == 0 || it->corrected != NULL) continue;
        if (it->functions != NULL) {
            add_functions(o, model, it);
        } else {
            add_reflexes(o, model, it);
        }
    }
}

void tali_osim_disable_controllers(const tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_controllers; ++i) {
        const tali_osim_controller *it = &o->controllers[i];
        for (int k = 0; k < it->num_made && !it->enabled; ++k) {
            const tal_controller_ix made = {it->first.i + k};
            (void)tal_controller_set_enabled(model->forces, model->state, made, false);
        }
    }
}
