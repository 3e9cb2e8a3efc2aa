// The whole file: document, arrays, System, State; the entry points.
#include "alloc_internal.h"
#include "error_internal.h"

#include "opensim/osim_internal.h"
#include "text/reading_internal.h"

#include <string.h>

tal_osim_options tal_osim_options_default(void)
{
    const tal_osim_options options = {.allocator = tal_allocator_default(), .any_inertia = true};
    return options;
}

// --- the document ---

// <OpenSimDocument Version="40000">; before 1.5 the model is the root.
static void read_version(tali_osim *o)
{
    const tali_xml_element *root = o->xml->root;
    const tali_xml_attribute *version = tali_xml_find(root, "Version");
    double value = 10500.0;
    if (version != NULL && tali_osim_parse_numbers(version->value, &value, 1) != 1) {
        tali_osim_error(o, root, ": its Version is '%.40s'", version->value);
    }
    if (version == NULL) {
        tali_osim_warn(o, root, " has no Version; it is read as 1.5");
    }
    o->version = value >= 0.0 && value < 1e6 ? (int)value : 10500;
    o->model = strcmp(root->name, "Model") == 0 ? root : tali_xml_child(root, "Model");
    if (o->model == NULL) tali_osim_error(o, root, " has no <Model>; this is not a model");
}

// Probes do not change the motion; ProbeReporter reads them from the document.
static void note_sets(tali_osim *o)
{
    const tali_xml_element *e = tali_osim_first_of(o->model, "ProbeSet");
    for (; e != NULL; e = e->next) {
        tali_osim_ignore(o, e, TAL_NOTE, "measures only where a ProbeReporter asks for it");
    }
    e = tali_osim_first_of(o->model, "ComponentSet");
    for (; e != NULL; e = e->next) {
        if (strcmp(e->name, "PhysicalOffsetFrame") == 0) continue;
        tali_osim_ignore(o, e, TAL_NOTE, "is not read: Talus does not have it");
    }
}

void tali_osim_read(tali_osim *o)
{
    read_version(o);
    if (o->model == NULL) return;
    tali_osim_include_sets(o);
    if (o->no_memory) return;
    tali_osim_check_class(o, o->model);
    o->gravity = tal_v3(0.0, -9.80665, 0.0);
    const tali_xml_element *engine = tali_osim_engine(o->model);
    if (engine != NULL) o->gravity = tali_osim_vec3(o, engine, "gravity", o->gravity);
    o->gravity = tali_osim_vec3(o, o->model, "gravity", o->gravity);
    tali_osim_read_bodies(o);
    if (o->no_memory) return;
    tali_osim_resolve_frames(o);
    tali_osim_read_joints(o);
    tali_osim_read_markers(o);
    tali_osim_read_constraints(o);
    tali_osim_read_contact(o);
    tali_osim_read_wraps(o);
    tali_osim_read_forces(o);
    tali_osim_read_controllers(o);
    note_sets(o);
}

// --- memory ---

static void free_path(tali_osim_path *path)
{
    for (int i = 0; path != NULL && i < path->num_points; ++i) {
        for (int k = 0; k < 3; ++k) {
            tal_function_destroy(path->points[i].functions[k]);
        }
    }
    if (path != NULL) tal_function_destroy(path->length);
}

// Functions that no System has adopted.
static void free_functions(tali_osim *o)
{
    for (int i = 0; i < o->num_joints; ++i) {
        for (int k = 0; k < 6; ++k) {
            tal_function_destroy(o->joints[i].axes[k].function);
        }
    }
    for (int i = 0; i < o->num_coordinates; ++i) {
        tal_function_destroy(o->coordinates[i].prescribed);
    }
    for (int i = 0; i < o->num_constraints; ++i) {
        tal_function_destroy(o->constraints[i].function);
    }
    for (int i = 0; i < o->num_forces; ++i) {
        for (int k = 0; k < 9; ++k) {
            tal_function_destroy(o->forces[i].functions[k]);
        }
        free_path(o->forces[i].path);
    }
    for (int i = 0; i < o->num_geometries; ++i) {
        tal_mesh_destroy(o->geometries[i].mesh);
    }
    for (int i = 0; i < o->num_controllers; ++i) {
        const tali_osim_controller *it = &o->controllers[i];
        for (int k = 0; k < it->num && it->functions != NULL; ++k) {
            tal_function_destroy(it->functions[k]);
        }
    }
}

void tali_osim_free(tali_osim *o)
{
    const tal_allocator *allocator = &o->arena.allocator;
    free_functions(o);
#define FREE(what) tali_free(allocator, o->what, (size_t)o->what##_capacity * sizeof *o->what)
    FREE(bodies);
    FREE(frames);
    FREE(joints);
    FREE(coordinates);
    FREE(constraints);
    FREE(markers);
    FREE(geometries);
    FREE(forces);
    FREE(wraps);
    FREE(controllers);
    FREE(stops);
#undef FREE
    tali_name_map *const maps[] = {&o->body_names,       &o->frame_paths,    &o->marker_names,
                                   &o->coordinate_names, &o->geometry_names, &o->force_names,
                                   &o->unknown};
    for (int i = 0; i < 7; ++i) {
        tali_name_map_free(maps[i]);
    }
    for (int i = 0; i < o->num_sets; ++i) {
        tali_xml_destroy(o->sets[i].xml);
    }
    for (int i = 0; i < o->num_more_forces; ++i) {
        tali_xml_destroy(o->more_forces[i]);
    }
    tali_xml_destroy(o->xml);
    tali_arena_free(&o->arena);
    tal_diagnostics_destroy(o->found);
}

// --- diagnostics ---

// Those of the model's file come first; in each file, what concerns it as a whole comes last.
static bool comes_before(const char *file, const tal_diagnostic *a, const tal_diagnostic *b)
{
    const bool in_model = strcmp(a->file, file) == 0;
    if (strcmp(a->file, b->file) != 0) {
        return in_model || (strcmp(b->file, file) != 0 && strcmp(a->file, b->file) < 0);
    }
    if (a->line == 0 || b->line == 0) return a->line != 0 && b->line == 0;
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

void tali_osim_copy_found(const tali_osim *o, tal_diagnostics *found)
{
    for (int i = 0; i < tal_diagnostics_num(o->found); ++i) {
        const tal_diagnostic *d = tal_diagnostics_at(o->found, i);
        tal_diagnostics_add(found, d->severity, d->file, d->line, d->column, "%s", d->message);
    }
}

void tali_osim_hand_on(const tali_osim *o, tal_diagnostics *found)
{
    int order[TAL_MAX_DIAGNOSTICS];
    const int n = tal_diagnostics_num(o->found);
    const char *file = o->xml != NULL ? o->xml->file : "";
    for (int i = 0; i < n; ++i) {
        const tal_diagnostic *d = tal_diagnostics_at(o->found, i);
        int k = i;
        for (; k > 0 && comes_before(file, d, tal_diagnostics_at(o->found, order[k - 1])); --k) {
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
    for (int i = 0; i < n; ++i) {
        const tal_diagnostic *d = tal_diagnostics_at(o->found, order[i]);
        tal_diagnostics_add(found, d->severity, d->file, d->line, d->column, "%s", d->message);
    }
}

// --- entry points ---

bool tali_osim_begin(tali_osim *o, const tal_osim_options *options)
{
    *o = (tali_osim){.options = options != NULL ? *options : tal_osim_options_default()};
    const tal_allocator *allocator = &o->options.allocator;
    o->arena = tali_arena_make(allocator);
    o->body_names.allocator = o->frame_paths.allocator = o->marker_names.allocator = *allocator;
    o->coordinate_names.allocator = o->geometry_names.allocator = *allocator;
    o->force_names.allocator = o->unknown.allocator = *allocator;
    o->found = tal_diagnostics_create(allocator);
    return o->found != NULL;
}

// From a file or a text to a model. What was read is kept in `o`, which the caller frees.
static tal_status read_model(tali_osim *o, const char *path, const char *text, size_t size,
                             tal_model *model)
{
    const tal_allocator *allocator = &o->options.allocator;
    o->in_memory = text != NULL;
    const tal_status st =
        text == NULL ? tali_xml_read_file(path, NULL, allocator, &o->xml, o->found)
                     : tali_xml_read_memory(path, text, size, NULL, allocator, &o->xml, o->found);
    if (st == TAL_OK) {
        tali_osim_read(o);
        if (!o->no_memory && tal_diagnostics_num_errors(o->found) == 0) tali_osim_build(o, model);
        tali_osim_report_ignored(o);
    }
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    if (o->no_memory) tal_diagnostics_add(o->found, TAL_ERROR, path, 0, 0, "memory ran out");
    const bool good = tal_diagnostics_num_errors(o->found) == 0;
    if (!good) tal_model_destroy(model);
    return good ? TAL_OK : o->no_memory ? TAL_ERR_NO_MEMORY : TAL_ERR_FILE;
}

tal_status tali_osim_open(tali_osim *o, const char *path, tal_model *model)
{
    return read_model(o, path, NULL, 0, model);
}

tal_status tali_osim_open_text(tali_osim *o, const char *name, const char *text, size_t size,
                               tal_model *model)
{
    return read_model(o, name, text, size, model);
}

static tal_status read_any(const char *path, const char *text, size_t size,
                           const tal_osim_options *options, tal_model *model,
                           tal_diagnostics *found)
{
    tali_osim o;
    if (!tali_osim_begin(&o, options)) {
        tali_osim_free(&o);
        return TAL_ERR_NO_MEMORY;
    }
    const tal_status st = read_model(&o, path, text, size, model);
    if (found != NULL) tali_osim_hand_on(&o, found);
    tali_osim_free(&o);
    return st;
}

tal_status tal_osim_read_file(const char *path, const tal_osim_options *options, tal_model *model,
                              tal_diagnostics *found)
{
    if (model != NULL) *model = (tal_model){.system = NULL};
    const tal_status st = tali_reading_check(
        path, path, model, options != NULL ? &options->allocator : NULL, __func__);
    return st == TAL_OK ? read_any(path, NULL, 0, options, model, found) : st;
}

tal_status tal_osim_read_memory(const char *name, const char *text, size_t size,
                                const tal_osim_options *options, tal_model *model,
                                tal_diagnostics *found)
{
    if (model != NULL) *model = (tal_model){.system = NULL};
    const tal_status st = tali_reading_check(
        name, text, model, options != NULL ? &options->allocator : NULL, __func__);
    return st == TAL_OK ? read_any(name, text, size, options, model, found) : st;
}
