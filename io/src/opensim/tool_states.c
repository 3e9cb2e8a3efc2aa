// States in tables: coordinates, speeds, and what muscles and springs have besides.
#include "force_facts_internal.h"

#include "opensim/tool_states_internal.h"

#include <stdio.h>
#include <string.h>

// --- names ---

// What the i-th z of a force is called; NULL: it has none of its own name.
static const char *z_name(const tali_osim_force *f, int i)
{
    const bool delayed = strcmp(f->element->name, "ActivationCoordinateActuator") == 0;
    if (f->muscle == NULL) return delayed ? "activation" : "stretch"; // of a clutched spring
    const bool active = f->muscle->activation != TAL_ACTIVATION_NONE;
    if (active && i == 0) return "activation";
    return f->muscle->model == TAL_MUSCLE_DEGROOTE ? "normalized_tendon_force" : "fiber_length";
}

// Version 4: "/forceset/soleus_r/activation"; before: "soleus_r.activation".
static void z_label(const tali_osim_force *f, int i, bool as_path, char label[300])
{
    (void)snprintf(label, 300, as_path ? "/forceset/%s/%s" : "%s.%s", f->name, z_name(f, i));
}

// --- from a table ---

// Columns of a table that are z, and where they belong.
static int find_columns(tali_osim_tool *tool, const tal_table *table, tali_osim_z_rows *rows)
{
    int n = 0;
    for (int i = 0; i < tool->o.num_forces; ++i) {
        const tali_osim_force *f = &tool->o.forces[i];
        int slot;
        for (int k = 0; f->force.i >= 0; ++k) {
            if (tali_force_z(tool->model.forces, tool->model.state, f->force, k, &slot) <= k) break;
            int column = -1;
            for (int way = 0; way < 2 && column < 0; ++way) {
                char label[300];
                z_label(f, k, way == 0, label);
                column = tal_table_find_column(table, label);
            }
            if (column < 0) continue;
            if (rows != NULL) {
                rows->slots[n] = slot;
                rows->columns[n] = column;
            }
            ++n;
        }
    }
    return n;
}

bool tali_osim_tool_read_z(tali_osim_tool *tool, const tal_table *table, tali_osim_z_rows *rows)
{
    const int n = find_columns(tool, table, NULL), num_rows = tal_table_num_rows(table);
    *rows = (tali_osim_z_rows){.num = n, .num_rows = num_rows};
    rows->slots = tali_osim_take(&tool->setup, n, sizeof *rows->slots);
    rows->columns = tali_osim_take(&tool->setup, n, sizeof *rows->columns);
    rows->values =
        tali_arena_take(&tool->setup.arena, (size_t)n * (size_t)num_rows * sizeof *rows->values);
    if (rows->slots == NULL || rows->columns == NULL || rows->values == NULL) {
        tool->setup.no_memory = true;
        return false;
    }
    (void)find_columns(tool, table, rows);
    for (int r = 0; r < num_rows; ++r) {
        for (int k = 0; k < n; ++k) {
            rows->values[(size_t)r * (size_t)n + (size_t)k] =
                tal_table_value(table, r, rows->columns[k]);
        }
    }
    return true;
}

void tali_osim_tool_put_z(tali_osim_tool *tool, const tali_osim_z_rows *rows, int row)
{
    double *z = tal_state_upd_z(tool->model.state);
    for (int k = 0; k < rows->num; ++k) {
        z[rows->slots[k]] = rows->values[(size_t)row * (size_t)rows->num + (size_t)k];
    }
}

// --- to a table ---

static void add_coordinate(tali_osim_tool *tool, tal_table *table, int c, bool is_speed)
{
    const tali_osim_coordinate *q = &tool->o.coordinates[c];
    char label[300];
    if (tool->o.version >= 40000) {
        (void)snprintf(label, sizeof label, "/jointset/%s/%s/%s", tool->o.joints[q->joint].name,
                       q->name, is_speed ? "speed" : "value");
    } else {
        (void)snprintf(label, sizeof label, "%s%s", q->name, is_speed ? "_u" : "");
    }
    tali_osim_tool_add_column(tool, table, label, "");
}

// Version 4 has value and speed of each coordinate together, earlier ones all values first.
static void add_coordinates(tali_osim_tool *tool, tal_table *table)
{
    const int n = tool->o.num_coordinates;
    for (int i = 0; i < 2 * n; ++i) {
        const bool paired = tool->o.version >= 40000;
        add_coordinate(tool, table, paired ? i / 2 : i % n, paired ? i % 2 == 1 : i >= n);
    }
}

tal_table *tali_osim_tool_add_states(tali_osim_tool *tool, const char *file, bool in_degrees)
{
    tal_table *table = tali_osim_tool_add_result(tool, file, "states");
    if (table == NULL) return NULL;
    tal_table_set_in_degrees(table, in_degrees);
    add_coordinates(tool, table);
    for (int i = 0; i < tool->o.num_forces; ++i) {
        const tali_osim_force *f = &tool->o.forces[i];
        for (int k = 0; f->force.i >= 0; ++k) {
            if (tali_force_z(tool->model.forces, tool->model.state, f->force, k, NULL) <= k) break;
            char label[300];
            z_label(f, k, tool->o.version >= 40000, label);
            tali_osim_tool_add_column(tool, table, label, "");
        }
    }
    return table;
}

// One row of such a table.
void tali_osim_tool_add_state_row(tali_osim_tool *tool, tal_table *table, double row[],
                                  bool in_degrees)
{
    const tal_state *s = tool->model.state;
    const int n = tool->o.num_coordinates;
    const bool paired = tool->o.version >= 40000;
    double *at = row;
    *at++ = tal_state_t(s);
    for (int i = 0; i < 2 * n; ++i) {
        const int c = paired ? i / 2 : i % n;
        const bool is_speed = paired ? i % 2 == 1 : i >= n;
        const bool turns = tool->o.coordinates[c].kind == TALI_OSIM_ROTATIONAL;
        const double value = is_speed ? tal_state_u(s)[tali_osim_tool_u_slot(tool, c)]
                                      : tal_state_q(s)[tali_osim_tool_q_slot(tool, c)];
        *at++ = in_degrees && turns ? value / TAL_DEGREE : value;
    }
    for (int i = 0; i < tool->o.num_forces; ++i) {
        const tali_osim_force *f = &tool->o.forces[i];
        int slot;
        for (int k = 0; f->force.i >= 0; ++k) {
            if (tali_force_z(tool->model.forces, s, f->force, k, &slot) <= k) break;
            *at++ = tal_state_z(s)[slot];
        }
    }
    const tal_status st = tal_table_add_row(table, row);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
}
