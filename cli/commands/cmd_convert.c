// talus convert: a table or a model in another format.
#include "commands/commands.h"
#include "model/model.h"
#include "table/result.h"
#include "text/report.h"
#include "text/stream.h"

#include <stdlib.h>
#include <string.h>

// Where it goes: a file, or standard output for a NULL path; and a name that selects the format.
typedef struct target {
    const char *path, *name;
} target;

// The part of a C3D file that is asked for; markers go into a .trc alone.
static int read_part(const cli_args *args, tal_table **out)
{
    static const char *const parts[] = {"markers", "analog", "plates", "forces"};
    const char *const wanted = cli_text(args, "part");
    const bool is_c3d = result_is_c3d(args->files[0]);
    int part = 0;
    while (part < 4 && strcmp(parts[part], wanted) != 0) {
        ++part;
    }
    if (part == 4) {
        return cli_fail(args, CLI_USAGE, "--part '%s' should be markers, analog, plates or forces.",
                        wanted);
    }
    if (!is_c3d) {
        if (part == 0) return result_read(args, args->files[0], out);
        return cli_fail(args, CLI_USAGE, "--part is for .c3d files, which %s is not.",
                        args->files[0]);
    }
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    const tal_status st =
        tal_c3d_read_file(stream_input(args, args->files[0]), (tal_c3d_part)part, NULL, out, found);
    cli_print_diagnostics(args, found);
    return st == TAL_OK ? CLI_OK : CLI_BAD_FILE;
}

static int convert_table(const cli_args *args, const target *to)
{
    tal_table *table = NULL;
    int code = read_part(args, &table);
    tal_error err = {0};
    if (code == CLI_OK && to->path != NULL &&
        tal_table_write_file(table, to->path, &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_BAD_FILE, &err);
    } else if (code == CLI_OK && to->path == NULL) {
        code = result_print(args, table);
    }
    tal_table_destroy(table);
    return code;
}

static int convert_model(const cli_args *args, const target *to)
{
    cli_model model;
    int code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = cli_model_write(args, &model.file, to->path);
    cli_model_destroy(&model);
    return code;
}

// Is it a table? What comes from standard input is one unless it is XML; what is not a table by its
// name is read as a model, whose reader says what is wrong with it.
static bool is_table(const char *path)
{
    if (!stream_is_input(path)) return tal_file_kind_of(path, NULL, 0) == TAL_FILE_TABLE;
    size_t size = 0;
    char *const bytes = stream_read(&size);
    size_t first = 0;
    while (first < size && strchr(" \t\r\n\xef\xbb\xbf", bytes[first]) != NULL) {
        ++first;
    }
    const bool is_xml = first < size && bytes[first] == '<';
    free(bytes);
    return !is_xml;
}

static int find_target(const cli_args *args, target *to)
{
    const char *const out = cli_text(args, "out");
    const char *const given = out != NULL ? out : args->num_files > 1 ? args->files[1] : NULL;
    const bool is_twice = out != NULL && args->num_files > 1;
    const bool has_format = cli_is_given(args, "format");
    if ((given == NULL && !has_format) || is_twice) {
        return cli_fail(args, CLI_USAGE, "name the new file%s: talus convert %s -o FILE.",
                        is_twice ? " once" : "", args->files[0]);
    }
    to->path = given != NULL && strcmp(given, "-") != 0 ? given : NULL;
    to->name = to->path != NULL ? to->path : stream_out_name(args);
    if (to->path == NULL && to->name != NULL &&
        tal_file_kind_of(to->name, NULL, 0) == TAL_FILE_UNKNOWN) {
        return cli_fail(
            args, CLI_USAGE,
            "--format '%s' should be sto, mot, trc, csv or npz, or talus or osim for a model.",
            cli_text(args, "format"));
    }
    if (to->name != NULL) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "say by --format what to write to standard output.");
}

static int run(const cli_args *args)
{
    target to = {0};
    int code = find_target(args, &to);
    if (code != CLI_OK) return code;
    if (stream_input(args, args->files[0]) == NULL) return CLI_BAD_FILE;
    const bool from_table = is_table(args->files[0]);
    const tal_file_kind kind = tal_file_kind_of(to.name, NULL, 0);
    if (from_table == (kind == TAL_FILE_TALUS || kind == TAL_FILE_OSIM)) {
        return cli_fail(args, CLI_USAGE, "%s is a %s, which cannot be converted to %s.",
                        args->files[0], from_table ? "table" : "model",
                        to.path != NULL ? to.path : cli_text(args, "format"));
    }
    code = from_table ? convert_table(args, &to) : convert_model(args, &to);
    if (code == CLI_OK && to.path != NULL && cli_flag(args, "json")) {
        report r;
        report_begin(&r, args);
        report_text(&r, "result", to.path);
        report_end(&r);
    }
    return code;
}

static const cli_option options[] = {
    {.name = "part",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "markers",
     .help =
         "which part of a C3D file: markers, analog (channels), plates (force plates, with forces "
         "at their centers) or forces (force plates, with forces at the centers of pressure)"},
    {0}};

const cli_command cmd_convert = {
    .name = "convert",
    .group = CLI_MODELS,
    .files = "FILE",
    .min_files = 1,
    .max_files = 2,
    .summary = "write a file in another format",
    .about =
        "Tables: reads .sto, .mot, .trc, .csv, .npz and .c3d, writes these but .c3d. Models: reads "
        ".talus, .urdf and .osim, writes .talus with includes and params resolved, and .osim. The "
        "extensions select the formats. The new name can also follow FILE, without -o.",
    .common = CLI_JSON | CLI_QUIET | CLI_READING | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus convert swing.sto -o swing.csv",
    .example_help = "for a spreadsheet",
    .run = run};
