// Results: tables that know how they came about.
#ifndef TALUS_CLI_RESULT_H
#define TALUS_CLI_RESULT_H

#include "cli.h"
#include "model.h"

// An empty table whose header has version, commit, kernels, command, files, the model's hash and every setting.
tal_table *result_create(const cli_args *args, const cli_model *model);

// Can a table go where -o says? Asked before the work, so that none is lost. `also` is one more ending that the
// command takes, or NULL. An exit code.
int result_check_out(const cli_args *args, const char *also);

// Say in the header which units columns have, from column `first` on; those of others are unknown, as "" is.
void result_set_units(tal_table *table, int first, const char *const units[], int n);
// The units of all columns, [tal_table_num_columns()]; "": unknown.
typedef char result_unit_text[16];
void result_units(const tal_table *table, result_unit_text units[]);

// Mark a result that is not all of what was asked for.
void result_mark_incomplete(tal_table *table, const char *why);

// Write it to -o, or else to standard output as .sto, or as JSON with --json. An exit code.
int result_write(const cli_args *args, const tal_table *table);

// Read a table of any format; what is wrong is printed. An exit code.
int result_read(const cli_args *args, const char *path, tal_table **out);

// A column of a table by name; -1, and a sentence, when there is none.
int result_find_column(const cli_args *args, const tal_table *table, const char *name);

// The columns of --columns, or else all but `skip`: their numbers, [tal_table_num_columns()]. How many; -1,
// and a sentence, on failure.
int result_choose_columns(const cli_args *args, const tal_table *table, int skip, int columns[]);

// Keys of the header.
#define RESULT_VERSION    "talus_version"
#define RESULT_GIT        "talus_git_hash"
#define RESULT_KERNELS    "talus_kernels" // tal_matter_kernel_set()
#define RESULT_COMMAND    "talus_command"
#define RESULT_FILE       "talus_file"   // and a number, from 1
#define RESULT_OPTION     "talus_option" // and "_NAME"; of a list also a number
#define RESULT_MODEL_HASH "talus_model_hash"
#define RESULT_INCOMPLETE "talus_incomplete"
#define RESULT_UNITS      "talus_units"    // of all columns, with commas between them
#define RESULT_ENDED_BY   "talus_ended_by" // the stop of the model that ended the run, and when

#endif // TALUS_CLI_RESULT_H
