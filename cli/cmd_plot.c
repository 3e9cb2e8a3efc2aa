// talus plot: columns of a table as an SVG.
#include "commands.h"
#include "result.h"
#include "svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static double *copy_column(const tal_table *table, int column)
{
    const int rows = tal_table_num_rows(table);
    double *const values = cli_alloc((size_t)rows, sizeof *values);
    for (int r = 0; r < rows; ++r) {
        values[r] = tal_table_value(table, r, column);
    }
    return values;
}

static int write_plot(const cli_args *args, const svg_plot *plot)
{
    const char *const path = cli_text(args, "out");
    FILE *const out = path != NULL ? fopen(path, "w") : stdout;
    if (out == NULL) {
        return cli_fail(args, CLI_BAD_FILE, "%s cannot be written: %s.", path, strerror(errno));
    }
    svg_write(out, plot);
    const bool failed = fflush(out) != 0 || ferror(out) != 0;
    if ((path != NULL && fclose(out) != 0) || failed) {
        return cli_fail(args, CLI_BAD_FILE, "the picture cannot be written: %s.", strerror(errno));
    }
    return CLI_OK;
}

static int draw(const cli_args *args, const tal_table *table, int x, const int columns[], int n)
{
    svg_series *const series = cli_alloc((size_t)n, sizeof *series);
    double *const xs = copy_column(table, x);
    for (int s = 0; s < n; ++s) {
        series[s].name = tal_table_column_name(table, columns[s]);
        series[s].y = copy_column(table, columns[s]);
    }
    const char *title = cli_text(args, "title");
    if (title == NULL) title = tal_table_header(table, "name");
    const svg_plot plot = {.title = title != NULL ? title : args->files[0],
                           .x_label = x == 0 && strcmp(tal_table_column_name(table, 0), "time") == 0
                                          ? "time [s]"
                                          : tal_table_column_name(table, x),
                           .x = xs,
                           .num = tal_table_num_rows(table),
                           .series = series,
                           .num_series = n,
                           .width = cli_count(args, "width"),
                           .height = cli_count(args, "height")};
    const int code = write_plot(args, &plot);
    for (int s = 0; s < n; ++s) {
        free((double *)series[s].y);
    }
    free(xs);
    free(series);
    return code;
}

int cmd_plot(const cli_args *args)
{
    if (cli_count(args, "width") < 200 || cli_count(args, "height") < 120) {
        return cli_fail(args, CLI_USAGE, "a picture has at least 200 x 120 pixels.");
    }
    tal_table *table = NULL;
    int code = result_read(args, args->files[0], &table);
    if (code != CLI_OK) return code;
    const char *const x_name = cli_text(args, "x");
    const int x = x_name != NULL ? result_find_column(args, table, x_name) : 0;
    int *const columns = cli_alloc((size_t)tal_table_num_columns(table), sizeof *columns);
    const int n = x >= 0 ? result_choose_columns(args, table, x, columns) : -1;
    code = n >= 0 ? draw(args, table, x, columns, n) : CLI_USAGE;
    free(columns);
    tal_table_destroy(table);
    return code;
}
