// What the files of the program share: commands and their options, arguments, errors, exit codes.
#ifndef TALUS_CLI_CLI_H
#define TALUS_CLI_CLI_H

#include <talus/talus.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// How the program ends.
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, // the study failed, or was interrupted
    CLI_USAGE = 2,  // the command line is wrong
    CLI_BAD_FILE = 3
};

enum {
    CLI_MAX_ARGS = 64,   // files on a command line
    CLI_MAX_OPTIONS = 32 // options of a command, and values of one that can be repeated
};

// What the value of an option is.
typedef enum cli_kind {
    CLI_FLAG,     // none
    CLI_NUMBER,   // a finite number
    CLI_POSITIVE, // a finite number above zero
    CLI_COUNT,    // a whole number, not negative
    CLI_TEXT,
    CLI_LIST // text, and the option can be repeated
} cli_kind;

// A row of the table of options. Help, man page, parsing and the settings in results come from it.
typedef struct cli_option {
    const char *name; // without dashes
    char letter;      // short form; 0: none
    cli_kind kind;
    const char *value;   // shown as the value in help texts; NULL for a flag
    const char *initial; // when it is not given; NULL: nothing
    const char *help;
    bool is_setting; // a result depends on it and records it
} cli_option;

// Options that several commands have, as bits.
enum {
    CLI_JSON = 1 << 0,
    CLI_QUIET = 1 << 1,
    CLI_SEED = 1 << 2,
    CLI_THREADS = 1 << 3,
    CLI_ACCURACY = 1 << 4,
    CLI_INTEGRATOR = 1 << 5,
    CLI_OUT = 1 << 6,
    CLI_SET = 1 << 7,
    CLI_ANY_INERTIA = 1 << 8,
    CLI_START = 1 << 9,
    CLI_STRICT = 1 << 10,
    CLI_APPROXIMATE = 1 << 11,
    CLI_FREE_BASE = 1 << 12,
    CLI_CONTACT = 1 << 13,
    CLI_COLLIDERS = 1 << 14,
    CLI_PACKAGES = 1 << 15,
    CLI_FORMAT = 1 << 16,
    CLI_RESUME = 1 << 17, // --resume: what is done is kept, and the same command goes on
    CLI_AGAIN = 1 << 18,  // --resume: the command takes little time, and begins again
    CLI_NUM_COMMON = 19,
    CLI_READING = CLI_SET | CLI_ANY_INERTIA | CLI_START | CLI_STRICT | CLI_APPROXIMATE |
                  CLI_FREE_BASE | CLI_CONTACT | CLI_COLLIDERS |
                  CLI_PACKAGES, // what reading a model has
    CLI_RESULT = 1 << 19        // no option: the command writes a table that talus rerun can repeat
};

typedef struct cli_args cli_args;
typedef struct cli_team cli_team;

// What commands are for, in the order of help texts.
typedef enum cli_group {
    CLI_MODELS,
    CLI_STUDIES,
    CLI_OPENSIM,
    CLI_RESULTS,
    CLI_PROGRAM
} cli_group;

// A command: what help texts say of it, and what it does.
typedef struct cli_command {
    const char *name;
    cli_group group;
    const char *files; // names of the arguments, as in help texts
    int min_files, max_files;
    const char *summary;       // one line
    const char *about;         // what else there is to know
    unsigned common;           // which of the common options, and CLI_RESULT
    const cli_option *options; // its own, up to one without a name; NULL: none
    const char *example;       // a command line
    const char *example_help;  // what it does
    int (*run)(const cli_args *args);
} cli_command;

// The commands by group, up to NULL, and the common options in the order of their bits.
extern const cli_command *const cli_commands[];
extern const cli_option cli_common_options[];

// A parsed command line. Strings are borrowed from it.
struct cli_args {
    const cli_command *command;
    const char *files[CLI_MAX_ARGS];
    int num_files;
    const cli_option *options[CLI_MAX_OPTIONS];           // all that the command has
    const char *values[CLI_MAX_OPTIONS][CLI_MAX_OPTIONS]; // [option][i]
    int num_values[CLI_MAX_OPTIONS];                      // 0: as the table says
    int num_options;
    // for talus rerun
    int only_rows;                                     // of the result; 0: all
    double only_time;                                  // where a result with fewer rows was cut
    int (*take)(void *taker, const tal_table *result); // gets the result; an exit code
    void *taker;
    const cli_team *team; // NULL: this process is alone
};

// The program: run a command line, the program's name first. An exit code.
int cli_main(int argc, const char *const argv[]);

// Parse a command line without the name of the program. Errors are printed; returns an exit code.
int cli_parse(int argc, const char *const argv[], cli_args *args);

// Find a command by name; NULL when there is none.
const cli_command *cli_find_command(const char *name);
// The command whose name is nearest; NULL: no name is near.
const char *cli_guess_command(const char *name);

// All options of a command in the order of help texts; returns how many.
int cli_options_of(const cli_command *command, const cli_option *options[]);

// Values of an option that the command has; what the table says when it was not given.
bool cli_flag(const cli_args *args, const char *option);
bool cli_is_given(const cli_args *args, const char *option);
const char *cli_text(const cli_args *args, const char *option); // NULL: not given, no default
double cli_number(const cli_args *args, const char *option);    // NaN: not given, no default
int cli_count(const cli_args *args, const char *option);        // -1: not given, no default
int cli_list(const cli_args *args, const char *option, const char *const **values);

// Set a flag as if it were given, if the command has it.
void cli_set_flag(cli_args *args, const char *option);

// How a command that was killed is given again: "goes on", "begins again"; "" if it writes no
// result.
const char *cli_how_resumed(const cli_command *command);

// How many threads --threads asks for, one or more.
int cli_threads(const cli_args *args);

// Print "talus COMMAND: sentence" on stderr and return `code`.
int cli_fail(const cli_args *args, int code, const char *fmt, ...) TAL_PRINTF(3, 4);
// The same for the error of a library call.
int cli_fail_with(const cli_args *args, int code, const tal_error *err);
// The same for a status without a sentence of its own.
int cli_fail_status(const cli_args *args, int code, tal_status st);
// The same about a file; CLI_BAD_FILE.
int cli_fail_file(const cli_args *args, const char *path, tal_status st);
// A warning: printed unless the command is to be quiet.
void cli_warn(const cli_args *args, const char *fmt, ...) TAL_PRINTF(2, 3);

// Memory; ends the program with a message when there is none.
void *cli_alloc(size_t count, size_t size);
void *cli_resize(void *memory, size_t count, size_t size);
char *cli_copy(const char *text);
// Like printf(), of any length.
char *cli_format(const char *fmt, ...) TAL_PRINTF(1, 2);
char *cli_format_list(const char *fmt, va_list list) TAL_PRINTF(1, 0);
// Names with commas between them, at most `most`, "and 3 more" behind them; owned by the caller.
char *cli_join(tal_name_at_fn at, const void *context, int most);
// The result of a library call; ends the program when it is NULL.
void *cli_need(void *made);

// Help texts.
void cli_help(FILE *out);
void cli_help_command(FILE *out, const cli_command *command);
void cli_man_page(FILE *out);
// The completion script of a shell; false when the shell is not known.
bool cli_completion(FILE *out, const char *shell);

#endif // TALUS_CLI_CLI_H
