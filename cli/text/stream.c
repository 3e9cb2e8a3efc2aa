// "-" in place of a file: standard input, standard output.
#include "text/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT "/dev/stdin"

bool stream_is_input(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, INPUT) == 0;
}

// Let standard input be a file without a name that has all of it: a model is read again for each
// value of a param.
static bool keep_input(void)
{
    FILE *const kept = tmpfile();
    if (kept == NULL) return false;
    char bytes[65536];
    size_t n = 0;
    bool is_good = true;
    while (is_good && (n = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        is_good = fwrite(bytes, 1, n, kept) == n;
    }
    is_good = is_good && ferror(stdin) == 0 && fflush(kept) == 0;
    is_good = is_good && dup2(fileno(kept), STDIN_FILENO) >= 0;
    (void)fclose(kept);
    return is_good;
}

const char *stream_input(const cli_args *args, const char *path)
{
    static bool is_kept = false; // of the process, as standard input is
    if (!stream_is_input(path)) return path;
    if (!is_kept && !keep_input()) {
        (void)cli_fail(args, CLI_BAD_FILE, "cannot read standard input: %s.", strerror(errno));
        return NULL;
    }
    is_kept = true;
    return INPUT;
}

char *stream_read(size_t *size)
{
    FILE *const in = fopen(INPUT, "rb");
    char *bytes = cli_alloc(1, 1);
    size_t capacity = 0;
    *size = 0;
    while (in != NULL && feof(in) == 0 && ferror(in) == 0) {
        if (capacity - *size < 65536) {
            capacity = 2 * capacity + 65536;
            bytes = cli_resize(bytes, capacity, 1);
        }
        *size += fread(bytes + *size, 1, capacity - *size, in);
    }
    if (in != NULL) (void)fclose(in);
    return bytes;
}

const char *stream_out_path(const cli_args *args)
{
    const char *const path = cli_text(args, "out");
    return path != NULL && strcmp(path, "-") != 0 ? path : NULL;
}

bool stream_is_output(const cli_args *args)
{
    const char *const path = cli_text(args, "out");
    return path != NULL && strcmp(path, "-") == 0;
}

const char *stream_out_name(const cli_args *args)
{
    static const char *const names[] = {"-.sto",   "-.mot",  "-.trc", "-.csv", "-.npz",
                                        "-.talus", "-.svg",  "-.png", "-.pdf", "-.apng",
                                        "-.mp4",   "-.html", "-.glb", "-.json"};
    const char *const path = stream_out_path(args), *const format = cli_text(args, "format");
    if (path != NULL || format == NULL) return path;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (strcmp(names[i] + 2, format) == 0) return names[i];
    }
    return "-"; // of no format
}

int stream_write(const cli_args *args, const char *path, const void *bytes, size_t size)
{
    tal_error err = {0};
    if (path == NULL) {
        (void)fwrite(bytes, 1, size, stdout); // errors of standard output are reported at the end
        return CLI_OK;
    }
    return tal_file_write(path, bytes, size, &err) == TAL_OK
               ? CLI_OK
               : cli_fail_with(args, CLI_BAD_FILE, &err);
}
