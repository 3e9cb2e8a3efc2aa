// Columns of results: numbers read from a State, each with a name.
#ifndef TALUS_CLI_COLUMNS_H
#define TALUS_CLI_COLUMNS_H

#include "cli.h"
#include "model/model.h"

// What a column reads.
typedef enum column_kind {
    COLUMN_TIME,
    COLUMN_Q,
    COLUMN_U,
    COLUMN_UDOT,
    COLUMN_Z,
    COLUMN_MEASURE,
    COLUMN_KINETIC_ENERGY,
    COLUMN_POTENTIAL_ENERGY,
    COLUMN_TOTAL_ENERGY,
    COLUMN_TEMPERATURE,      // 2 K / N [J]
    COLUMN_BATH_ENERGY,      // of all thermostats
    COLUMN_CONSERVED_ENERGY, // total energy and bath energy
    COLUMN_POSITION_ERROR,   // largest |qerr|
    COLUMN_VELOCITY_ERROR,   // largest |uerr|
    COLUMN_POSE,             // i: body; j: x, y, z, and a quaternion
    COLUMN_REACTION,         // i: body; j: force, then moment about Mo
    COLUMN_CONTACT           // i: force element; j: which surface, and which component
} column_kind;

typedef struct column {
    column_kind kind;
    int i, j; // which slot; which measure, and which of its values
    char name[2 * TAL_COORDINATE_NAME_SIZE + 16];
    char unit[TAL_UNIT_SIZE]; // "": none, or unknown
} column;

// The columns of a result.
typedef struct cli_columns {
    column *list; // owned
    int num;
    tal_stage stage; // that they need
} cli_columns;

// Everything that a State of a model can be asked for, in the order of results. An exit code.
int columns_all(const cli_args *args, const cli_model *model, cli_columns *out);
// The group of columns that a kind belongs to; "": none.
const char *columns_group(column_kind kind);
// The names of all groups, up to NULL.
const char *columns_group_name(int i);

// Choose columns by a list as in --columns; the time comes first when `with_time`. An exit code.
int columns_choose(const cli_args *args, const cli_model *model, const char *list, bool with_time,
                   cli_columns *out);
void columns_destroy(cli_columns *it);

// Is there a column of this name?
bool columns_find(const cli_columns *it, const char *name);
// Add their names to a table, and their units to its header.
tal_status columns_name(const cli_columns *it, tal_table *table);
// Realize a State as far as they need it, and read a row: [it->num].
tal_status columns_read(const cli_columns *it, const cli_model *model, tal_state *state,
                        double row[]);

// Largest absolute value; 0 for none.
double cli_largest(const double values[], int n);

#endif // TALUS_CLI_COLUMNS_H
