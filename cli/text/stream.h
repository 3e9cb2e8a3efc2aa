// "-" in place of a file: standard input, standard output.
#ifndef TALUS_CLI_STREAM_H
#define TALUS_CLI_STREAM_H

#include "cli.h"

// The path to read: "-" is standard input, which can be read more than once from then on. NULL,
// and a sentence, when that fails.
const char *stream_input(const cli_args *args, const char *path);
// Is it standard input?
bool stream_is_input(const char *path);

// All of standard input, after stream_input(). Owned by the caller.
char *stream_read(size_t *size);

// The file of -o; NULL when there is none: standard output.
const char *stream_out_path(const cli_args *args);
// Is -o given as "-"? Then nothing else goes to standard output.
bool stream_is_output(const cli_args *args);
// A name whose extension selects the format: -o, or "-.csv" for --format csv on standard output.
// NULL: neither is given.
const char *stream_out_name(const cli_args *args);

// Write bytes to -o or to standard output. An exit code.
int stream_write(const cli_args *args, const char *path, const void *bytes, size_t size);

#endif // TALUS_CLI_STREAM_H
