// talus plot: columns of tables as a picture.
#include "commands/commands.h"
#include "plot/charts.h"
#include "text/report.h"
#include "text/stream.h"

#include <stdlib.h>
#include <string.h>

// The kind of picture that the name of -o ends with, or that --format says; else SVG. NULL, and a
// sentence, when there is no such kind.
static const canvas_ops *kind_of(const cli_args *args)
{
    const char *const path = stream_out_path(args), *const format = cli_text(args, "format");
    if (path == NULL && format == NULL) return &canvas_svg;
    const char *const slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *const dot = path != NULL ? strrchr(slash != NULL ? slash : path, '.') : NULL;
    const char *const end = path == NULL ? format : dot != NULL ? dot + 1 : "";
    const canvas_ops *const kind = canvas_find(end);
    if (kind != NULL) return kind;
    if (path != NULL) {
        (void)cli_fail(args, CLI_USAGE, "--out '%s' should end with .svg, .png or .pdf.", path);
    } else {
        (void)cli_fail(args, CLI_USAGE, "--format '%s' should be svg, png or pdf.", format);
    }
    return NULL;
}

static int check_options(const cli_args *args)
{
    const int height = cli_count(args, "height"), width = cli_count(args, "width");
    const char *const aspect = cli_text(args, "aspect");
    if (width < 200 || (height > 0 && height < 120)) {
        return cli_fail(args, CLI_USAGE, "a picture has at least 200 x 120 pixels.");
    }
    if (width > 20000 || height > 20000 || cli_number(args, "scale") > 10.0) {
        return cli_fail(args, CLI_USAGE,
                        "a picture has at most 20000 x 20000 pixels, and --scale is at most 10.");
    }
    if (strcmp(aspect, "auto") != 0 && strcmp(aspect, "equal") != 0 &&
        strcmp(aspect, "free") != 0) {
        return cli_fail(args, CLI_USAGE, "--aspect '%s' should be auto, equal or free.", aspect);
    }
    return CLI_OK;
}

// What is in the picture, besides it or with it.
static void print_report(const cli_args *args, const charts *it, const canvas_ops *kind, int height,
                         const char *picture)
{
    static const char *const columns[] = {"column", "unit", "drawn"};
    report r;
    report_begin(&r, args);
    if (stream_out_path(args) != NULL) report_text(&r, "result", stream_out_path(args));
    report_text(&r, "format", kind->format);
    report_count(&r, "width", it->figure.width);
    report_count(&r, "height", height);
    report_count(&r, "panels", it->figure.num_panels);
    report_table(&r, "columns", columns, 3);
    for (int c = 0; c < it->num_columns; ++c) {
        report_cell_text(&r, it->columns[c].name);
        report_cell_text(&r, it->columns[c].unit);
        report_cell_text(&r, it->columns[c].is_drawn ? "yes" : "no");
    }
    report_end_table(&r);
    if (stream_out_path(args) == NULL) report_text(&r, "picture", picture);
    report_end(&r);
}

// The picture goes to -o or to standard output; with --json, what is in it to standard output, and
// an SVG that has no other place with it.
static int write_picture(const cli_args *args, const charts *it, const canvas_ops *kind)
{
    const bool has_report = cli_flag(args, "json") && !stream_is_output(args);
    const char *const path = stream_out_path(args);
    if (has_report && path == NULL && kind != &canvas_svg) {
        return cli_fail(args, CLI_USAGE, "--json cannot contain a %s: write it to a file with -o.",
                        kind->format);
    }
    size_t size = 0;
    int height = 0, code = CLI_OK;
    char *const picture = figure_draw(&it->figure, kind, cli_number(args, "scale"), &height, &size);
    if (path != NULL || !has_report) code = stream_write(args, path, picture, size);
    if (code == CLI_OK && has_report) print_report(args, it, kind, height, picture);
    free(picture);
    return code;
}

static int draw(const cli_args *args, const charts *it, const canvas_ops *kind)
{
    const int least = figure_least_height(&it->figure);
    if (it->figure.height > 0 && it->figure.height < least) {
        return cli_fail(args, CLI_USAGE, "%d panels need a --height of at least %d.",
                        it->figure.num_panels, least);
    }
    if (it->num_left_out > 0) {
        cli_warn(args,
                 "these are the %d columns that vary most, of %d. -c NAME,NAME,... chooses others, "
                 "and -c '*' takes all; talus show %s -n 1 lists them.",
                 CHARTS_DOZEN, CHARTS_DOZEN + it->num_left_out, it->sources[0].path);
    }
    return write_picture(args, it, kind);
}

static int run(const cli_args *args)
{
    const canvas_ops *const kind = kind_of(args);
    if (kind == NULL) return CLI_USAGE;
    int code = check_options(args);
    if (code != CLI_OK) return code;
    charts it;
    code = charts_make(args, &it);
    if (code == CLI_OK) code = draw(args, &it, kind);
    charts_destroy(&it);
    return code;
}

static const cli_option options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns to draw, separated by commas; * stands for any letters. Default: all that "
             "are not zero or round-off, but only the twelve that vary most"},
    {.name = "x",
     .kind = CLI_TEXT,
     .value = "COLUMN",
     .help = "column on the horizontal axis; default: the first"},
    {.name = "degrees", .kind = CLI_FLAG, .help = "angles and their rates in degrees"},
    {.name = "aspect",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "auto",
     .help = "equal: both axes have the same scale; free: they have not; auto: they have with "
             "--x, if both have the same unit and their ranges are within a factor of 20"},
    {.name = "title",
     .kind = CLI_TEXT,
     .value = "TEXT",
     .help = "title of the plot; default: the name of the file"},
    {.name = "width",
     .kind = CLI_COUNT,
     .value = "PIXELS",
     .initial = "800",
     .help = "width of the picture"},
    {.name = "height",
     .kind = CLI_COUNT,
     .value = "PIXELS",
     .initial = "0",
     .help = "height of the picture; 0: chosen for its panels and legends"},
    {.name = "scale",
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "2",
     .help = "dots of a PNG for each pixel"},
    {0}};

const cli_command cmd_plot = {
    .name = "plot",
    .group = CLI_RESULTS,
    .files = "TABLE...",
    .min_files = 1,
    .max_files = CLI_MAX_ARGS,
    .summary = "draw columns of tables as SVG, PNG or PDF",
    .about =
        "TABLE is a .sto, .mot, .trc, .csv, .npz or .c3d file. Several tables are drawn over each other. There is "
        "one panel for each unit, if the tables have units. The name of -o ends with .svg, .png or .pdf. "
        "Without -o the picture is written to standard output, as SVG or as --format says.",
    .common = CLI_JSON | CLI_QUIET | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus plot swing.sto -c upper.q0,lower.q0 -o swing.svg",
    .example_help = "two angles over time",
    .run = run};
