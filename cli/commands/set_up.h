// Set-ups of OpenSim's tools: from a file, or made of options.
#ifndef TALUS_CLI_SET_UP_H
#define TALUS_CLI_SET_UP_H

#include "cli.h"

#include <talus/talus.h>

/// Run a tool, print what is wrong, write the results. `--property` and `--start` count.
/// @param[in] name  the set-up file, or what stands for it in messages
/// @param[in] text  the set-up itself; NULL: that of the file
int set_up_run(const cli_args *args, const char *name, const char *text);

/// A tool whose set-up is made of options.
typedef struct set_up_tool {
    const char *root;     ///< "AnalyzeTool"
    const char *cutoff;   ///< property: the filter of the motion
    const char *given;    ///< property: the second argument
    const char *analysis; ///< the only one; NULL: those of --analysis, if it has analyses
} set_up_tool;

/// Run a tool with MODEL, MOTION and what the options say.
int set_up_run_tool(const cli_args *args, const set_up_tool *it);

/// @name A set-up as it is written
/// @{

/// A text as it stands in XML; the caller frees it.
char *set_up_escaped(const char *text);
/// A set-up with more behind it; both are freed, and the caller frees the result.
char *set_up_append(char *setup, char *more);
/// One more property behind a set-up, which is freed.
char *set_up_with(char *setup, const char *property, const char *value);
/// @}

#endif // TALUS_CLI_SET_UP_H
