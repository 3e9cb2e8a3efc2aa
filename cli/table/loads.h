// Loads on bodies that were measured, as by a force plate: columns of a table.
#ifndef TALUS_CLI_LOADS_H
#define TALUS_CLI_LOADS_H

#include "cli.h"
#include "model/model.h"

// Where the columns of a load are; -1: there are none.
typedef struct cli_load {
    tal_body_ix body;
    int force[3], point[3], torque[3];
} cli_load;

typedef struct cli_loads {
    tal_table *table; // owned
    const char *path;
    cli_load *list; // [num] owned
    int num;
} cli_loads;

// Read --external and the --load options that say which of its columns act on which body. An exit
// code; nothing without --external.
int loads_read(const cli_args *args, const cli_model *model, cli_loads *out);
void loads_destroy(cli_loads *it);

// Add the loads at the time of a State, which is at Position, to the forces on all bodies: moment
// about Bo, and force, in Ground [N m, N]. Between rows they are on a straight line; before the
// first and after the last there are none. An exit code.
int loads_add(const cli_args *args, const cli_loads *it, const cli_model *model,
              const tal_state *state, tal_spatial_vec F_GB[]);

// Warn when the times from `first` to `last` are not all within the table's.
void loads_check_times(const cli_args *args, const cli_loads *it, double first, double last);

#endif // TALUS_CLI_LOADS_H
