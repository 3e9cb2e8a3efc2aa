// Rows of a table as States of a model.
#include "error_internal.h"

#include "scene/scene_internal.h"

#include <talus/io/bridge.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static int q_column(const tal_scene *scene, const tal_table *table, int slot, bool *is_angle)
{
    char name[TAL_COORDINATE_NAME_SIZE];
    int i = -1;
    const tal_matter *const matter = scene->model.matter;
    const tal_body_ix body = tal_matter_q_owner(matter, scene->state, slot, &i);
    if (body.i < 0 || tal_body_coordinate_name(matter, scene->state, body, i, name) != TAL_OK) {
        return -1;
    }
    *is_angle = tal_coordinate_is_angle(matter, scene->state, body, i);
    return tal_table_find_column(table, name);
}

// A speed is named after its body: "<body>.u<i>".
static int u_column(const tal_scene *scene, const tal_table *table, int slot)
{
    char name[TAL_COORDINATE_NAME_SIZE];
    int i = -1;
    const tal_body_ix body = tal_matter_u_owner(scene->model.matter, scene->state, slot, &i);
    if (body.i < 0) return -1;
    (void)snprintf(name, sizeof name, "%s.u%d", tal_body_name(scene->model.matter, body), i);
    return tal_table_find_column(table, name);
}

// A variable of a force or a measure is named after the group that it is declared in.
static int z_column(const tal_scene *scene, const tal_table *table, int slot)
{
    char name[TAL_MAX_NAME + 16];
    int i = -1;
    const tal_system *const system = scene->model.system;
    const tal_group_ix group = tal_state_slot_owner(system, scene->state, TAL_POOL_Z, slot, &i);
    if (group.i < 0) return -1;
    (void)snprintf(name, sizeof name, "%s[%d]", tal_group_name(system, group), i);
    return tal_table_find_column(table, name);
}

static bool take_lists(tal_scene *scene, tali_scene_rows *rows)
{
    const size_t nq = (size_t)tal_state_nq(scene->state) + 1;
    const size_t nu = (size_t)tal_state_nu(scene->state) + 1;
    const size_t nz = (size_t)tal_state_nz(scene->state) + 1;
    rows->z_column = tali_arena_take(&scene->arena, nz * sizeof *rows->z_column);
    rows->q_column = tali_arena_take(&scene->arena, nq * sizeof *rows->q_column);
    rows->u_column = tali_arena_take(&scene->arena, nu * sizeof *rows->u_column);
    rows->is_angle = tali_arena_take(&scene->arena, nq * sizeof *rows->is_angle);
    return rows->q_column != NULL && rows->u_column != NULL && rows->z_column != NULL &&
           rows->is_angle != NULL;
}

// Find the columns of all coordinates, speeds and z of the model.
tal_status tali_scene_rows_begin(tal_scene *scene, const tal_table *table, tali_scene_rows *rows,
                                 tal_error *err)
{
    *rows = (tali_scene_rows){.table = table, .has_speeds = true, .has_z = true, .degrees = 1.0};
    if (tal_table_in_degrees(table)) rows->degrees = TAL_DEGREE;
    if (!take_lists(scene, rows)) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
    const int nq = tal_state_nq(scene->state), nu = tal_state_nu(scene->state);
    const int nz = tal_state_nz(scene->state);
    int found = 0;
    for (int i = 0; i < nq; ++i) {
        rows->q_column[i] = q_column(scene, table, i, &rows->is_angle[i]);
        if (rows->q_column[i] >= 0) ++found;
    }
    for (int i = 0; i < nu; ++i) {
        rows->u_column[i] = u_column(scene, table, i);
        rows->has_speeds = rows->has_speeds && rows->u_column[i] >= 0;
    }
    for (int i = 0; i < nz; ++i) {
        rows->z_column[i] = z_column(scene, table, i);
        rows->has_z = rows->has_z && rows->z_column[i] >= 0;
    }
    if (found > 0 || nq == 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the table has no coordinate of the model");
}

static tal_status refuse_value(const tali_scene_rows *rows, int row, int column, tal_error *err)
{
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "row %d, column '%s' is %g: it must be finite",
                     row + 1, tal_table_column_name(rows->table, column),
                     tal_table_value(rows->table, row, column));
}

static tal_status set_q(tal_scene *scene, const tali_scene_rows *rows, int row, tal_error *err)
{
    double *const q = tal_state_upd_q(scene->state);
    const double *const values = tal_table_row(rows->table, row);
    for (int i = 0; i < tal_state_nq(scene->state); ++i) {
        if (rows->q_column[i] < 0) continue;
        q[i] = (rows->is_angle[i] ? rows->degrees : 1.0) * values[rows->q_column[i]];
        if (!isfinite(q[i])) return refuse_value(rows, row, rows->q_column[i], err);
    }
    return TAL_OK;
}

static tal_status set_u(tal_scene *scene, const tali_scene_rows *rows, int row, tal_error *err)
{
    double *const u = tal_state_upd_u(scene->state);
    const double *const values = tal_table_row(rows->table, row);
    for (int i = 0; i < tal_state_nu(scene->state); ++i) {
        u[i] = values[rows->u_column[i]];
        if (!isfinite(u[i])) return refuse_value(rows, row, rows->u_column[i], err);
    }
    return TAL_OK;
}

static tal_status set_z(tal_scene *scene, const tali_scene_rows *rows, int row, tal_error *err)
{
    double *const z = tal_state_upd_z(scene->state);
    const double *const values = tal_table_row(rows->table, row);
    for (int i = 0; i < tal_state_nz(scene->state); ++i) {
        z[i] = values[rows->z_column[i]];
        if (!isfinite(z[i])) return refuse_value(rows, row, rows->z_column[i], err);
    }
    return TAL_OK;
}

tal_status tali_scene_rows_set(tal_scene *scene, const tali_scene_rows *rows, int row,
                               tal_stage stage, tal_error *err)
{
    const double t = tal_table_value(rows->table, row, 0);
    if (!isfinite(t)) return refuse_value(rows, row, 0, err);
    (void)tal_state_set_t(scene->state, t);
    tal_status st = set_q(scene, rows, row, err);
    if (st == TAL_OK && rows->has_speeds) st = set_u(scene, rows, row, err);
    if (st == TAL_OK && rows->has_z) st = set_z(scene, rows, row, err);
    if (st != TAL_OK) return st;
    st = tal_system_realize(scene->model.system, scene->state, stage);
    if (st == TAL_OK) return st;
    return TALI_FAIL(err, st, "row %d: %s", row + 1, tal_state_error(scene->state)->message);
}
