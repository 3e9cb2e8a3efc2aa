// Results: tables that record how they were made.
#ifndef TALUS_CLI_RESULT_H
#define TALUS_CLI_RESULT_H

#include "cli.h"
#include "model/model.h"

// An empty table whose header has version, commit, kernels, command, files, the model's hash and
// every setting; NULL, and a sentence, on failure.
tal_table *result_create(const cli_args *args, const cli_model *model);
// The same header for a table that is there already. An exit code.
int result_record(const cli_args *args, const cli_model *model, tal_table *table);

// All that a result depends on, as lines "name: value": the header of its table, and hashes of the
// files after the first, the model. Owned by the caller.
char *result_manifest(const cli_args *args, const tal_table *table);

// Can a table go where -o says? Asked before the work, so that none is lost. `or_model`: the
// command can write a model, too. An exit code.
int result_check_out(const cli_args *args, bool or_model);

// Say in the header which units columns have, from column `first` on; those of others are unknown,
// as "" is.
tal_status result_set_units(tal_table *table, int first, const char *const units[], int n);
// One more column, and its unit.
tal_status result_add_column(tal_table *table, const char *name, const char *unit);
// The units of all columns, [tal_table_num_columns()]; "": unknown.
typedef char result_unit_text[16];
void result_units(const tal_table *table, result_unit_text units[]);

// Say in the header what of the model ended the run.
tal_status result_set_end(tal_table *table, const char *ended_by);

// Can a table with these columns be what -o says? Asked before the work, too. An exit code.
int result_check_fit(const cli_args *args, const tal_table *table);

// Is a table wanted, besides what is printed?
bool result_is_wanted(const cli_args *args);

// Write it to -o, or else to standard output as .sto, or as JSON with --json. An exit code.
int result_write(const cli_args *args, const tal_table *table);
// Write it to standard output, as --format says. An exit code.
int result_print(const cli_args *args, const tal_table *table);
// Say as JSON what was written to -o, if --json is given; for commands that say nothing else.
void result_report(const cli_args *args, const tal_table *table);
// Write a result that is not all of what was asked for, marked; never CLI_OK.
int result_write_part(const cli_args *args, tal_table *table, const char *why);

// A setting or a file from the header, as it was given; owned by the caller. NULL: it is not there.
char *result_value(const tal_table *table, const char *key);

// Is it a C3D file? By its name, or by what standard input has, which was kept before.
bool result_is_c3d(const char *path);

// Read a table of any format; what is wrong is printed. An exit code.
int result_read(const cli_args *args, const char *path, tal_table **out);

// A name of a list; -1, and a sentence about the file, when there is none.
int result_find_name(const cli_args *args, const char *file, tal_name_at_fn at, const void *context,
                     const char *name);
// The names of a list that `words` has, with commas between them; * in a word stands for anything:
// their numbers, each once, in the order of the words. How many; -1, and a sentence, on failure.
int result_choose_names(const cli_args *args, const char *file, tal_name_at_fn at,
                        const void *context, const char *words, int chosen[]);
// A column of a table by name; -1, and a sentence, when there is none.
int result_find_column(const cli_args *args, const tal_table *table, const char *name);

// The columns of --columns, or else all except `skip`: their numbers, [tal_table_num_columns()].
// How many; -1, and a sentence, on failure.
int result_choose_columns(const cli_args *args, const tal_table *table, int skip, int columns[]);

// Keys of the header. Files and options that do not fit a line are there as JSON texts:
// "\u0009x.talus".
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
