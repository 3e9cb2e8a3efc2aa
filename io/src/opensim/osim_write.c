// From a System and a State to an .osim file of version 4.0: text, and the whole.
#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"

#include "opensim/osim_write_internal.h"

#include <talus/io/number.h>

#include <stdarg.h>
#include <string.h>

// --- what cannot be said ---

void tali_osim_refuse(tali_osim_writer *w, const char *fmt, ...)
{
    char text[TAL_DIAGNOSTIC_SIZE];
    va_list args;
    va_start(args, fmt);
    tali_error_print(text, sizeof text, fmt, args);
    va_end(args);
    tal_diagnostics_add(w->found, TAL_ERROR, "", 0, 0, "%s", text);
}

void tali_osim_leave_out(tali_osim_writer *w, const char *fmt, ...)
{
    char text[TAL_DIAGNOSTIC_SIZE];
    va_list args;
    va_start(args, fmt);
    tali_error_print(text, sizeof text, fmt, args);
    va_end(args);
    tal_diagnostics_add(w->found, TAL_WARNING, "", 0, 0, "%s", text);
}

// --- tags ---

static void indent(tali_osim_writer *w)
{
    for (int i = 0; i < w->depth; ++i) {
        tali_model_sink_text(&w->out, "\t", 1);
    }
}

static void put_escaped(tali_osim_writer *w, const char *text)
{
    for (const char *at = text; *at != '\0'; ++at) {
        const char *escape = *at == '&'   ? "&amp;"
                             : *at == '<' ? "&lt;"
                             : *at == '>' ? "&gt;"
                             : *at == '"' ? "&quot;"
                                          : NULL;
        if (escape != NULL) {
            tali_model_sink_text(&w->out, escape, strlen(escape));
        } else {
            tali_model_sink_text(&w->out, at, 1);
        }
        if ((unsigned char)*at < ' ') {
            tali_osim_refuse(w, "'%.60s' has the character %d, which XML does not allow", text,
                             (unsigned char)*at);
        }
    }
}

void tali_osim_open_tag(tali_osim_writer *w, const char *tag, const char *name)
{
    indent(w);
    tali_model_sink_put(&w->out, "<%s", tag);
    if (name != NULL) {
        tali_model_sink_put(&w->out, " name=\"");
        put_escaped(w, name);
        tali_model_sink_put(&w->out, "\"");
        if (strchr(name, '/') != NULL) {
            tali_osim_refuse(w, "'%.60s' has a slash in its name, which OpenSim takes for a path",
                             name);
        }
    }
    tali_model_sink_put(&w->out, ">\n");
    w->depth += 1;
}

void tali_osim_close_tag(tali_osim_writer *w, const char *tag)
{
    w->depth -= 1;
    indent(w);
    tali_model_sink_put(&w->out, "</%s>\n", tag);
}

void tali_osim_put_text(tali_osim_writer *w, const char *tag, const char *text)
{
    indent(w);
    tali_model_sink_put(&w->out, "<%s>", tag);
    put_escaped(w, text);
    tali_model_sink_put(&w->out, "</%s>\n", tag);
}

void tali_osim_put_bool(tali_osim_writer *w, const char *tag, bool value)
{
    tali_osim_put_text(w, tag, value ? "true" : "false");
}

void tali_osim_put_numbers(tali_osim_writer *w, const char *tag, const double values[], int count)
{
    char text[TAL_NUMBER_SIZE];
    indent(w);
    tali_model_sink_put(&w->out, "<%s>", tag);
    for (int i = 0; i < count; ++i) {
        const int length = tal_number_write(values[i], text);
        if (i > 0) tali_model_sink_text(&w->out, " ", 1);
        tali_model_sink_text(&w->out, text, (size_t)length);
    }
    tali_model_sink_put(&w->out, "</%s>\n", tag);
}

void tali_osim_put_number(tali_osim_writer *w, const char *tag, double value)
{
    tali_osim_put_numbers(w, tag, &value, 1);
}

void tali_osim_put_vec3(tali_osim_writer *w, const char *tag, tal_vec3 v)
{
    tali_osim_put_numbers(w, tag, &v.x, 3);
}

void tali_osim_put_body(tali_osim_writer *w, const char *tag, int body)
{
    char path[TAL_MAX_NAME + 16];
    if (body == 0) {
        tali_osim_put_text(w, tag, "/ground");
        return;
    }
    (void)snprintf(path, sizeof path, "/bodyset/%s",
                   tal_body_name(w->model->matter, (tal_body_ix){body}));
    tali_osim_put_text(w, tag, path);
}

tal_vec3 tali_osim_angles_of(tal_mat3 R)
{
    const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    double angles[3];
    (void)tal_rotation_to_angles(&R, TAL_BODY_FIXED, 3, axes, angles);
    return tal_v3(angles[0], angles[1], angles[2]);
}

void tali_osim_put_frame(tali_osim_writer *w, const char *angles, const char *p, tal_xform X)
{
    tali_osim_put_vec3(w, p, X.p);
    tali_osim_put_vec3(w, angles, tali_osim_angles_of(X.R));
}

bool tali_osim_is_identity(const tal_xform *X)
{
    return X->R.x.x == 1.0 && X->R.y.y == 1.0 && X->R.z.z == 1.0 && tal_v3_norm(X->p) == 0.0;
}

// --- the whole ---

static void write_gravity(tali_osim_writer *w)
{
    const tal_forces *forces = w->model->forces;
    tal_vec3 g = TAL_VEC3_ZERO;
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix force = {i};
        if (strcmp(tal_force_kind(forces, force), "gravity") != 0) continue;
        if (!tal_force_is_enabled(forces, w->model->state, force)) continue;
        g = tal_gravity_g(forces, w->model->state, force);
    }
    tali_osim_put_vec3(w, "gravity", g);
}

static void write_markers(tali_osim_writer *w)
{
    tali_osim_open_tag(w, "MarkerSet", "markerset");
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 0; i < w->model->num_markers; ++i) {
        const tal_marker *marker = &w->model->markers[i];
        tali_osim_open_tag(w, "Marker", marker->name);
        tali_osim_put_body(w, "socket_parent_frame", marker->body.i);
        tali_osim_put_vec3(w, "location", marker->p_BS);
        tali_osim_put_bool(w, "fixed", false);
        tali_osim_close_tag(w, "Marker");
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "MarkerSet");
}

// Measures do not act by themselves; what is driven by one is refused where it stands. Events and
// unilateral elements do.
static void check_others(tali_osim_writer *w)
{
    const tal_system *system = w->model->system;
    const int measures = tal_system_num_measures(system);
    if (measures > 0) {
        tali_osim_leave_out(w, "%d measure%s left out: .osim files have none", measures,
                            measures == 1 ? " is" : "s are");
    }
    const int decorations = tal_matter_num_decorations(w->model->matter);
    if (decorations > 0) {
        tali_osim_leave_out(w, "%d decoration%s left out", decorations,
                            decorations == 1 ? " is" : "s are");
    }
    for (int i = 0; i < tal_system_num_subsystems(system); ++i) {
        const tal_subsystem_ix subsystem = {i};
        if (i == tal_matter_subsystem(w->model->matter).i ||
            i == tal_forces_subsystem(w->model->forces).i) {
            continue;
        }
        tali_osim_refuse(w, "'%s' of the System cannot be said in an .osim file",
                         tal_subsystem_name(system, subsystem));
    }
    const int unilaterals = tal_matter_num_unilaterals(w->model->matter);
    if (unilaterals > 0) {
        tali_osim_refuse(w, "%d unilateral element%s cannot be said in an .osim file", unilaterals,
                         unilaterals == 1 ? "" : "s");
    }
}

// Sections in the order of OpenSim's own files.
static void write_model(tali_osim_writer *w)
{
    const char *name = tal_system_name(w->model->system);
    tali_model_sink_put(&w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n"
                                 "<OpenSimDocument Version=\"40000\">\n");
    w->depth = 1;
    check_others(w);
    tali_osim_open_tag(w, "Model", name[0] != '\0' ? name : "model");
    tali_osim_open_tag(w, "Ground", "ground");
    tali_osim_write_point_frames(w, 0);
    tali_osim_write_wraps(w, 0);
    tali_osim_close_tag(w, "Ground");
    write_gravity(w);
    tali_osim_put_text(w, "length_units", "meters");
    tali_osim_put_text(w, "force_units", "N");
    tali_osim_write_bodies(w);
    tali_osim_write_joints(w);
    tali_osim_write_constraints(w);
    tali_osim_write_geometries(w);
    tali_osim_write_forces(w);
    tali_osim_write_controllers(w);
    write_markers(w);
    tali_osim_close_tag(w, "Model");
    tali_model_sink_put(&w->out, "</OpenSimDocument>\n");
}

// --- entry points ---

static tal_status check_model(const tal_model *model, const char *where)
{
    const bool whole = model != NULL && model->system != NULL && model->state != NULL &&
                       model->matter != NULL && model->forces != NULL;
    if (!whole) return tali_breach(TAL_ERR_NULL, where, "the model has a NULL in it");
    if (tal_state_structure_hash(model->state) == tal_system_structure_hash(model->system)) {
        return TAL_OK;
    }
    return tali_breach(TAL_ERR_WRONG_SYSTEM, where, "the State belongs to another System");
}

static tal_status write_text(const tal_model *model, char text[], size_t size, size_t *length,
                             tal_diagnostics *found)
{
    tali_osim_writer w = {.model = model, .out = {text, size, 0}, .found = found};
    const int errors = tal_diagnostics_num_errors(found);
    write_model(&w);
    *length = w.out.length;
    return tal_diagnostics_num_errors(found) == errors ? TAL_OK : TAL_ERR_BAD_VALUE;
}

tal_status tal_osim_write_memory(const tal_model *model, char text[], size_t size, size_t *length,
                                 tal_diagnostics *found)
{
    size_t needed = 0;
    tal_status st = check_model(model, __func__);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(model->system);
    tal_diagnostics *own = found == NULL ? tal_diagnostics_create(&allocator) : NULL;
    if (found == NULL && own == NULL) return TAL_ERR_NO_MEMORY;
    st = write_text(model, text, text != NULL ? size : 0, &needed, found != NULL ? found : own);
    tal_diagnostics_destroy(own);
    if (length != NULL) *length = needed;
    return st;
}

tal_status tal_osim_write_file(const tal_model *model, const char *path, tal_diagnostics *found)
{
    size_t length = 0;
    if (path == NULL) return TALI_BREACH(TAL_ERR_NULL, "the name of the file is NULL");
    tal_status st = tal_osim_write_memory(model, NULL, 0, &length, found);
    if (st != TAL_OK) return st;
    tal_error err = {TAL_OK, "", ""};
    const tal_allocator allocator = tal_system_allocator(model->system);
    char *text = tali_alloc(&allocator, length + 1);
    st = text != NULL ? tal_osim_write_memory(model, text, length + 1, NULL, NULL)
                      : TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) st = tali_file_replace_by(path, text, length, __func__, &err);
    if (st != TAL_OK && found != NULL) {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s",
                            st == TAL_ERR_NO_MEMORY ? "memory ran out" : err.message);
    }
    tali_free(&allocator, text, length + 1);
    return st;
}
