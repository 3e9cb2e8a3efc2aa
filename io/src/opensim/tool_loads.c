// External loads: forces that data give, at points that data give.
#include "error_internal.h"

#include "opensim/tool_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- data ---

// Where the three components stand whose labels begin with an identifier; false, and an error, when
// there are not three.
static bool find_three(tali_osim *o, const tali_xml_element *e, const tal_table *table,
                       const char *identifier, int columns[3])
{
    const size_t length = strlen(identifier);
    int n = 0;
    for (int c = 0; c < tal_table_num_columns(table); ++c) {
        if (strncmp(tal_table_column_name(table, c), identifier, length) != 0) continue;
        if (n < 3) columns[n] = c;
        ++n;
    }
    if (n == 3) return true;
    tali_osim_error(o, e, ": %d columns begin with '%.60s'; there must be three", n, identifier);
    return false;
}

// A natural cubic spline; straight lines through two or three rows, a constant through one, as
// OpenSim has it.
static tal_function *curve_of(tali_osim *o, const tal_table *table, int column)
{
    const int n = tal_table_num_rows(table);
    double *x = tali_arena_take(&o->arena, (size_t)n * sizeof *x);
    double *y = tali_arena_take(&o->arena, (size_t)n * sizeof *y);
    if (x == NULL || y == NULL) {
        o->no_memory = true;
        return NULL;
    }
    for (int r = 0; r < n; ++r) {
        x[r] = tal_table_value(table, r, 0);
        y[r] = tal_table_value(table, r, column);
    }
    tal_function *f = NULL;
    tal_error err = {TAL_OK, "", ""};
    const tal_allocator *allocator = &o->arena.allocator;
    const tal_status st =
        n >= 4   ? tal_function_create_spline(allocator, x, y, n, TAL_SPLINE_NATURAL, &f, &err)
        : n >= 2 ? tal_function_create_piecewise_linear(allocator, x, y, n, &f, &err)
                 : tal_function_create_constant(allocator, y[0], 1, &f, &err);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK && st != TAL_ERR_NO_MEMORY) {
        tali_osim_error(o, o->xml->root, ": column '%.60s' of the data: %s",
                        tal_table_column_name(table, column), err.message);
    }
    return f;
}

static void read_curves(tali_osim *o, const tali_xml_element *e, const tal_table *table,
                        const char *property, tal_function *out[3])
{
    const char *identifier = tali_osim_text(e, property);
    int columns[3];
    if (identifier == NULL || !find_three(o, e, table, identifier, columns)) return;
    for (int k = 0; k < 3; ++k) {
        out[k] = curve_of(o, table, columns[k]);
    }
}

// --- one load ---

static int find_body(tali_osim_tool *tool, tali_osim *o, const tali_xml_element *e,
                     const char *property)
{
    const char *name = tali_osim_text(e, property);
    if (name == NULL) return 0;
    const int body = tali_name_map_find(&tool->o.body_names, tali_osim_last_name(name));
    if (body < 0) tali_osim_error(o, e, ": the model has no body '%.60s'", name);
    return body < 0 ? 0 : body;
}

static void read_load(tali_osim_tool *tool, tali_osim *o, const tali_xml_element *e,
                      const tal_table *table, tali_osim_load *load)
{
    const char *name = tali_osim_name(e); // of the file, which goes before the load does
    load->name = tali_arena_copy(&tool->setup.arena, name, strlen(name));
    o->no_memory = o->no_memory || load->name == NULL;
    if (tali_osim_text(e, "applied_to_body") == NULL) {
        tali_osim_error(o, e, " needs <applied_to_body>");
    }
    load->body = find_body(tool, o, e, "applied_to_body");
    load->force_body = find_body(tool, o, e, "force_expressed_in_body");
    load->point_body = find_body(tool, o, e, "point_expressed_in_body");
    read_curves(o, e, table, "force_identifier", load->force);
    read_curves(o, e, table, "point_identifier", load->point);
    read_curves(o, e, table, "torque_identifier", load->torque);
}

// --- the file ---

static const tali_xml_element *loads_of(const tali_xml *xml)
{
    const tali_xml_element *root = xml->root;
    return strcmp(root->name, "OpenSimDocument") == 0 && root->first != NULL ? root->first : root;
}

static tal_table *read_data(tali_osim_tool *tool, tali_osim *o, const tali_xml_element *root,
                            const char *folder)
{
    const char *file = tali_osim_text(root, "datafile");
    if (file == NULL) {
        tali_osim_error(o, root, " needs <datafile>");
        return NULL;
    }
    tal_table *table = NULL;
    tal_table_options how = tal_table_options_default();
    how.allocator = tool->options.allocator;
    const char *path = tali_osim_tool_path(tool, folder, file);
    const tal_status st = tal_table_read_file(path, &how, &table, o->found);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    if (st == TAL_OK && tal_table_num_rows(table) < 1) {
        tali_osim_error(o, root, ": its data have no rows");
        tal_table_destroy(table);
        table = NULL;
    }
    return table;
}

// OpenSim carries points of application along with their bodies where it is given the motion that
// they were measured with.
static void warn_of_motion(tali_osim *o, const tali_xml_element *at)
{
    if (tali_osim_text(at, "external_loads_model_kinematics_file") == NULL) return;
    tali_osim_warn(o, at,
                   ": <external_loads_model_kinematics_file> is not read: points stay where the "
                   "data have them, and do not move with their bodies");
}

// All loads of a file that are switched on, with curves through their data.
static void read_all(tali_osim_tool *tool, tali_osim *o, const char *path, tali_osim_loads *loads)
{
    const tali_xml_element *root = loads_of(o->xml);
    if (strcmp(root->name, "ExternalLoads") != 0) {
        tali_osim_error(o, root, " is not <ExternalLoads>");
        return;
    }
    tali_osim_check_tree(o, root);
    tali_osim_report_ignored(o);
    warn_of_motion(o, root);
    tal_table *table = read_data(tool, o, root, tali_osim_tool_folder(tool, path));
    int n = 0;
    for (const tali_xml_element *e = tali_osim_first(root); e != NULL; e = e->next) {
        n += strcmp(e->name, "ExternalForce") == 0;
    }
    // it stays with the tool, longer than the file
    loads->loads = tali_arena_take(&tool->setup.arena, (size_t)n * sizeof *loads->loads);
    o->no_memory = o->no_memory || loads->loads == NULL;
    const tali_xml_element *e = tali_osim_first(root);
    for (; e != NULL && table != NULL && !o->no_memory; e = e->next) {
        if (strcmp(e->name, "ExternalForce") != 0) continue;
        if (!tali_osim_is_on(o, e, "appliesForce", "isDisabled")) continue;
        read_load(tool, o, e, table, &loads->loads[loads->num++]);
    }
    if (table != NULL) {
        loads->first = tal_table_value(table, 0, 0);
        loads->last = tal_table_value(table, tal_table_num_rows(table) - 1, 0);
    }
    tal_table_destroy(table);
}

void tali_osim_tool_read_loads(tali_osim_tool *tool, const char *property, tali_osim_loads *loads)
{
    *loads = (tali_osim_loads){.first = -INFINITY, .last = INFINITY};
    const char *file = tali_osim_text(tool->root, property);
    if (file == NULL) return;
    warn_of_motion(&tool->setup, tool->root); // older set-ups have it
    tali_osim o;
    tal_osim_options how = tal_osim_options_default();
    how.allocator = tool->options.allocator;
    const char *path = tali_osim_tool_path(tool, tool->folder, file);
    tal_status st = tali_osim_begin(&o, &how) ? TAL_OK : TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) st = tali_xml_read_file(path, NULL, &how.allocator, &o.xml, o.found);
    if (st == TAL_OK) read_all(tool, &o, path, loads);
    tool->setup.no_memory = tool->setup.no_memory || o.no_memory || st == TAL_ERR_NO_MEMORY;
    if (o.found != NULL) tali_osim_copy_found(&o, tool->setup.found);
    tali_osim_free(&o);
}

void tali_osim_tool_free_loads(tali_osim_loads *loads)
{
    for (int i = 0; i < loads->num; ++i) {
        for (int k = 0; k < 3; ++k) {
            tal_function_destroy(loads->loads[i].force[k]);
            tal_function_destroy(loads->loads[i].point[k]);
            tal_function_destroy(loads->loads[i].torque[k]);
        }
    }
    loads->num = 0;
}

// --- acting ---

static tal_vec3 value_at(tal_function *const f[3], double t)
{
    if (f[0] == NULL || f[1] == NULL || f[2] == NULL) return TAL_VEC3_ZERO;
    return tal_v3(tal_function_calc_value_1(f[0], t), tal_function_calc_value_1(f[1], t),
                  tal_function_calc_value_1(f[2], t));
}

static tal_xform pose_of(const tali_osim_tool *tool, int body)
{
    return tal_body_X_GB(tool->model.matter, tool->model.state, tool->o.bodies[body].body);
}

tal_vec3 tali_osim_tool_load_force(const tali_osim_tool *tool, const tali_osim_load *load, double t)
{
    return tal_m3_mul_v3(pose_of(tool, load->force_body).R, value_at(load->force, t));
}

tal_vec3 tali_osim_tool_load_point(const tali_osim_tool *tool, const tali_osim_load *load, double t)
{
    // without a point it acts at the origin
    return load->point[0] != NULL
               ? tal_xf_apply(pose_of(tool, load->point_body), value_at(load->point, t))
               : pose_of(tool, load->body).p;
}

void tali_osim_tool_apply_loads(const tali_osim_tool *tool, const tali_osim_loads *loads, double t,
                                tal_spatial_vec F_GB[])
{
    for (int i = 0; i < loads->num; ++i) {
        const tali_osim_load *it = &loads->loads[i];
        const tal_mat3 R_GE = pose_of(tool, it->force_body).R;
        const tal_vec3 f_G = tali_osim_tool_load_force(tool, it, t);
        const tal_vec3 moment_G = tal_m3_mul_v3(R_GE, value_at(it->torque, t));
        const tal_vec3 p_BS_G =
            tal_v3_sub(tali_osim_tool_load_point(tool, it, t), pose_of(tool, it->body).p);
        tal_spatial_vec *F = &F_GB[tool->o.bodies[it->body].body.i];
        F->w = tal_v3_add(F->w, tal_v3_add(moment_G, tal_v3_cross(p_BS_G, f_G)));
        F->v = tal_v3_add(F->v, f_G);
    }
}

// --- forces of the System ---

void tali_osim_tool_note_loads(tali_osim_tool *tool, tali_osim_loads *loads)
{
    tool->applied = tali_osim_take(&tool->setup, loads->num, sizeof *tool->applied);
    for (int i = 0; i < loads->num && tool->applied != NULL; ++i) {
        tali_osim_load *load = &loads->loads[i];
        const char *name = load->name != NULL ? load->name : "";
        tool->applied[tool->num_applied++] = (tali_osim_applied){name, load->body, {-1}, load};
    }
}

void tali_osim_tool_add_loads(tali_osim *o, tal_model *model, void *context)
{
    tali_osim_tool *tool = context;
    tali_osim_loads loads = {.loads = NULL};
    tali_osim_tool_read_loads(tool, "external_loads_file", &loads);
    tali_osim_tool_note_loads(tool, &loads);
    for (int i = 0; i < loads.num && tali_osim_tool_is_good(tool); ++i) {
        tali_osim_load *load = &loads.loads[i];
        tal_prescribed_force_def def = tal_prescribed_force_def_default();
        def.body = o->bodies[load->body].body;
        def.force_frame = o->bodies[load->force_body].body;
        def.point_frame = o->bodies[load->point_body].body;
        if (load->point[0] == NULL) def.point_frame = def.body; // at its origin
        memcpy(def.force, load->force, sizeof def.force);
        memcpy(def.point, load->point, sizeof def.point);
        memcpy(def.torque, load->torque, sizeof def.torque);
        memset(load->force, 0, sizeof load->force); // adopted
        memset(load->point, 0, sizeof load->point);
        memset(load->torque, 0, sizeof load->torque);
        const bool is_free = load->name != NULL && load->name[0] != '\0' &&
                             tal_forces_find(model->forces, load->name).i < 0;
        const tal_force_ix force =
            tal_forces_add_prescribed_force(model->forces, is_free ? load->name : NULL, &def);
        if (tool->applied != NULL) tool->applied[i].force = force;
    }
    if (loads.num > 0) {
        double range[2];
        tali_osim_tool_time_range(tool, range);
        if (range[0] < loads.first || (isfinite(range[1]) && range[1] > loads.last)) {
            tali_osim_tool_warn(tool, "external_loads_file",
                                "its data go from %g s to %g s; outside they are continued",
                                loads.first, loads.last);
        }
    }
    tali_osim_tool_free_loads(&loads);
}

void tali_osim_tool_extend_loads(tali_osim_tool *tool)
{
    tool->o.extend = tali_osim_tool_add_loads;
    tool->o.extend_context = tool;
}
