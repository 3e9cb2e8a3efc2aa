// Coordinates over time, from the rows of a table.
#include "error_internal.h"

#include "opensim/tool_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

int tali_osim_tool_q_slot(const tali_osim_tool *tool, int coordinate)
{
    const tal_mobility m = tool->o.coordinates[coordinate].mobility;
    return tal_body_q_start(tool->model.matter, tool->model.state, m.body) + m.i;
}

int tali_osim_tool_u_slot(const tali_osim_tool *tool, int coordinate)
{
    const tal_mobility m = tool->o.coordinates[coordinate].mobility;
    return tal_body_u_start(tool->model.matter, m.body) + m.i;
}

// --- columns ---

// How a table names what it has of a coordinate: its name with an end, or a path with one.
typedef struct quantity {
    const char *end, *path_end;
    bool is_value; // else its speed
} quantity;

static const quantity value_of = {"", "value", true}, speed_of = {"_u", "speed", false};

// By its name, by the path of version 4, or by any path that ends with it.
static int find_column(const tali_osim_tool *tool, const tal_table *table, int coordinate,
                       const quantity *what)
{
    const tali_osim_coordinate *q = &tool->o.coordinates[coordinate];
    char path[300];
    (void)snprintf(path, sizeof path, "%s%s", q->name, what->end);
    int column = tal_table_find_column(table, path);
    (void)snprintf(path, sizeof path, "/jointset/%s/%s/%s", tool->o.joints[q->joint].name, q->name,
                   what->path_end);
    if (column < 0) column = tal_table_find_column(table, path);
    if (column < 0) column = tal_table_find_column(table, path + 10); // "<joint>/<name>/value"
    if (column >= 0) return column;
    (void)snprintf(path, sizeof path, "/%s/%s", q->name, what->path_end);
    const size_t length = strlen(path);
    for (int c = 0; c < tal_table_num_columns(table); ++c) {
        const char *label = tal_table_column_name(table, c);
        const size_t n = strlen(label);
        if (n > length && strcmp(label + n - length, path) == 0) return c;
    }
    return -1;
}

// Radians above two turns, or degrees that no one has converted, are probably in the other unit.
static void check_unit(tali_osim_tool *tool, const tal_table *table, const char *property,
                       const tali_osim_coordinate *q, const double y[], int n)
{
    const bool degrees = tal_table_in_degrees(table);
    double most = 0.0;
    for (int r = 0; r < n; ++r) {
        most = fmax(most, fabs(y[r]));
    }
    const bool turns = q->kind == TALI_OSIM_ROTATIONAL;
    const bool narrow =
        isfinite(q->low) && isfinite(q->high) && fmax(fabs(q->low), fabs(q->high)) <= 2.0 * pi;
    const bool suspicious =
        turns ? most > 4.0 * pi : q->kind == TALI_OSIM_COUPLED && narrow && most > 2.0 * pi;
    if (!suspicious) return;
    tali_osim_tool_warn(tool, property, "column '%s' reaches %.3g%s: is it in %s?", q->name,
                        turns && degrees ? most * 180.0 / pi : most,
                        turns ? (degrees ? " degrees" : " radians") : "",
                        turns && degrees ? "another unit" : "degrees");
}

// The values of a coordinate in radians or meters, or its speeds; without a column its default.
static bool read_column(tali_osim_tool *tool, const tal_table *table, const char *property, int c,
                        const quantity *what, tali_osim_coordinate_rows *rows)
{
    const tali_osim_coordinate *q = &tool->o.coordinates[c];
    double *y = rows->values + (size_t)c * (size_t)rows->num_rows;
    const int column = find_column(tool, table, c, what);
    const double initial = what->is_value ? q->value : q->speed;
    rows->given[c] = column >= 0;
    const bool turns = q->kind == TALI_OSIM_ROTATIONAL;
    const double unit = turns && tal_table_in_degrees(table) ? pi / 180.0 : 1.0;
    for (int r = 0; r < rows->num_rows; ++r) {
        y[r] = column >= 0 ? unit * tal_table_value(table, r, column) : initial;
        if (isfinite(y[r])) continue;
        tali_osim_tool_error(tool, property, "column '%s' is %g at t = %g", q->name, y[r],
                             rows->times[r]);
        return false;
    }
    if (column < 0) {
        tali_osim_tool_warn(tool, property,
                            "it has no column '%s%s': the coordinate keeps its default, %g",
                            q->name, what->end, initial);
    } else if (what->is_value) {
        check_unit(tool, table, property, q, y, rows->num_rows);
    }
    return true;
}

// A row at the time of the one before says nothing new. Readers of tables warn of it.
static void drop_repeats(const tali_osim_tool *tool, tali_osim_coordinate_rows *rows)
{
    const int n = rows->num_rows;
    double *to = rows->values; // never ahead of where it reads
    for (int c = 0; c < tool->o.num_coordinates; ++c) {
        const double *from = rows->values + (size_t)c * (size_t)n;
        for (int r = 0; r < n; ++r) {
            if (r == 0 || rows->times[r] != rows->times[r - 1]) *to++ = from[r];
        }
    }
    int kept = 0;
    for (int r = 0; r < n; ++r) {
        const double t = rows->times[r];
        if (kept == 0 || t != rows->times[kept - 1]) rows->times[kept++] = t;
    }
    rows->num_rows = kept;
}

// One of the two quantities of all coordinates.
static bool read_rows(tali_osim_tool *tool, const tal_table *table, const char *property,
                      const quantity *what, tali_osim_coordinate_rows *rows)
{
    tali_arena *arena = &tool->setup.arena;
    const size_t n = (size_t)tal_table_num_rows(table), nc = (size_t)tool->o.num_coordinates;
    *rows = (tali_osim_coordinate_rows){.num_rows = tal_table_num_rows(table)};
    rows->times = tali_arena_take(arena, n * sizeof *rows->times);
    rows->values = tali_arena_take(arena, n * nc * sizeof *rows->values);
    rows->given = tali_arena_take(arena, nc * sizeof *rows->given);
    if (rows->times == NULL || rows->values == NULL || rows->given == NULL) {
        tool->setup.no_memory = true;
        return false;
    }
    const int time = tal_table_find_column(table, "time");
    if (time < 0) {
        tali_osim_tool_error(tool, property, "it has no column 'time'");
        return false;
    }
    for (int r = 0; r < rows->num_rows; ++r) {
        rows->times[r] = tal_table_value(table, r, time);
    }
    bool any = false;
    for (int c = 0; c < tool->o.num_coordinates; ++c) {
        if (!read_column(tool, table, property, c, what, rows)) return false;
        any = any || rows->given[c];
    }
    if (!any) {
        tali_osim_tool_error(tool, property, "it has no %s of the model",
                             what->is_value ? "coordinate" : "speed");
    }
    drop_repeats(tool, rows);
    return any;
}

bool tali_osim_tool_read_coordinates(tali_osim_tool *tool, const tal_table *table,
                                     const char *property, tali_osim_coordinate_rows *rows)
{
    return read_rows(tool, table, property, &value_of, rows);
}

bool tali_osim_tool_read_speeds(tali_osim_tool *tool, const tal_table *table, const char *property,
                                tali_osim_coordinate_rows *rows)
{
    return read_rows(tool, table, property, &speed_of, rows);
}

// --- curves ---

tal_signal *tali_osim_tool_make_curves(tali_osim_tool *tool, const tali_osim_coordinate_rows *rows,
                                       const char *property, tal_signal_filter filter)
{
    tal_signal_def def = tal_signal_def_default();
    const double cutoff = tali_osim_number(&tool->setup, tool->root, property, -1.0);
    def.filter = filter;
    def.cutoff = cutoff > 0.0 ? cutoff : 0.0;
    tal_error err = {TAL_OK, "", ""};
    tal_signal *curves = NULL;
    const tal_status st =
        tal_signal_create(&tool->options.allocator, &def, rows->times, rows->values, rows->num_rows,
                          tool->o.num_coordinates, &curves, &err);
    tali_osim_tool_fail(tool, st, &err);
    return curves;
}

// --- constraints ---

// Move the dependent coordinates of couplers, f(q) - q_dependent = 0, to where they follow.
static bool follow(const tali_osim_tool *tool, bool speeds)
{
    const tal_model *model = &tool->model;
    const tal_subsystem_ix owner = tal_matter_subsystem(model->matter);
    const tal_pool pool = speeds ? TAL_POOL_UERR : TAL_POOL_QERR;
    const tal_group_ix group = tal_system_find_group(model->system, owner, pool, "constraints");
    bool moved = false;
    for (int i = 0; i < tool->o.num_constraints; ++i) {
        const tali_osim_constraint *it = &tool->o.constraints[i];
        const tal_constraint_rows rows =
            tal_constraint_rows_of(model->matter, model->state, it->constraint);
        if (it->num_coords == 0 || rows.mp != 1) continue;
        const int row = tal_group_start(model->system, model->state, group) + rows.p0;
        const double *errors = speeds ? tal_state_uerr(model->state) : tal_state_qerr(model->state);
        const double error = errors[row];
        if (error == 0.0) continue;
        const int c = it->coords[it->num_coords - 1];
        const int slot = speeds ? tali_osim_tool_u_slot(tool, c) : tali_osim_tool_q_slot(tool, c);
        double *at = speeds ? tal_state_upd_u(model->state) : tal_state_upd_q(model->state);
        at[slot] += error;
        moved = true;
        const tal_stage stage = speeds ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION;
        if (tal_system_realize(model->system, model->state, stage) != TAL_OK) return false;
    }
    return moved;
}

tal_status tali_osim_tool_meet(const tali_osim_tool *tool, bool speeds)
{
    const tal_model *model = &tool->model;
    tal_status st = tal_system_realize(model->system, model->state,
                                       speeds ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION);
    for (int pass = 0; pass < 4 && st == TAL_OK && tool->o.num_constraints > 0; ++pass) {
        if (!follow(tool, speeds)) break; // a coupler may follow another
    }
    if (st != TAL_OK || tool->o.num_constraints == 0) return st;
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-9;
    return speeds ? tal_system_project_u(model->system, model->state, &options, NULL, NULL)
                  : tal_system_project_q(model->system, model->state, &options, NULL, NULL);
}

void tali_osim_tool_list_dependent(const tali_osim_tool *tool, bool dependent[])
{
    memset(dependent, 0, (size_t)tal_matter_nu(tool->model.matter) * sizeof *dependent);
    for (int i = 0; i < tool->o.num_constraints; ++i) {
        const tali_osim_constraint *it = &tool->o.constraints[i];
        if (it->num_coords == 0 || !it->enforced) continue;
        dependent[tali_osim_tool_u_slot(tool, it->coords[it->num_coords - 1])] = true;
    }
}
