// States in tables, for tools that begin with one or record them.
#ifndef TALUS_IO_TOOL_STATES_INTERNAL_H
#define TALUS_IO_TOOL_STATES_INTERNAL_H

#include "opensim/tool_internal.h"

/// Rows of activations, fiber lengths and the like. All of it is in the arena.
typedef struct tali_osim_z_rows {
    int num, num_rows;
    int *slots;     ///< [num] in z
    int *columns;   ///< [num] of the table
    double *values; ///< [num_rows][num]
} tali_osim_z_rows;

/// What a table says of z, by the names of version 4 or earlier ones; nothing where it has no such
/// column. False when memory runs out.
bool tali_osim_tool_read_z(tali_osim_tool *tool, const tal_table *table, tali_osim_z_rows *rows);
/// Put a row into the State.
void tali_osim_tool_put_z(tali_osim_tool *tool, const tali_osim_z_rows *rows, int row);

/// A table of all states among the results. NULL when memory runs out.
tal_table *tali_osim_tool_add_states(tali_osim_tool *tool, const char *file, bool in_degrees);
/// The present State as its next row.
/// @param[out] row  [columns of the table]
void tali_osim_tool_add_state_row(tali_osim_tool *tool, tal_table *table, double row[],
                                  bool in_degrees);

#endif // TALUS_IO_TOOL_STATES_INTERNAL_H
