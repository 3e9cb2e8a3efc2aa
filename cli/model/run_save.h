// A run as bytes, to go on from in another process.
#ifndef TALUS_CLI_RUN_SAVE_H
#define TALUS_CLI_RUN_SAVE_H

#include "model/run.h"
#include "text/checkpoint.h"

// Add a run to bytes: State, method, and where it is. TAL_ERR_STAGE for a method that cannot go on
// from here as if it had not been ended.
tal_status cli_run_save(cli_run *run, cli_bytes *to);

// Read it again, into a run that was created in the same way. TAL_ERR_FILE for bytes that do not
// fit; then the run is to be restarted.
tal_status cli_run_resume(cli_run *run, checkpoint_reader *from);

#endif // TALUS_CLI_RUN_SAVE_H
