// talus plot: columns of a table as an SVG.
#include "commands/commands.h"
#include "plot/svg.h"
#include "table/result.h"

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
    size_t size = 0;
    char *const text = svg_draw(plot, &size);
    tal_error err = {0};
    int code = CLI_OK;
    if (path == NULL) {
        (void)fwrite(text, 1, size, stdout); // errors of standard output are reported at the end
    } else if (tal_file_write(path, text, size, &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_BAD_FILE, &err);
    }
    free(text);
    return code;
}

// A picture under construction: every column with its unit, and a panel for each unit.
typedef struct picture {
    svg_series *series;      // [n] those of a panel side by side
    svg_panel *panels;       // [n]
    result_unit_text *units; // [n] of the panels
    int num_panels;
} picture;

// The axis of a unit.
static const char *label_of(const char *unit)
{
    static const struct {
        const char *unit, *label;
    } labels[] = {{"rad", "angle [rad]"},
                  {"rad/s", "angular speed [rad/s]"},
                  {"m", "position [m]"},
                  {"m/s", "speed [m/s]"},
                  {"1", "quaternion"},
                  {"J", "energy [J]"},
                  {"N", "force [N]"},
                  {"N m", "moment [N m]"},
                  {"m or rad", "error [m or rad]"},
                  {"m/s or rad/s", "error [m/s or rad/s]"}};

    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; ++i) {
        if (strcmp(labels[i].unit, unit) == 0) return labels[i].label;
    }
    return unit;
}

// The panel of a unit, which is there then.
static int panel_of(picture *it, const char *unit)
{
    int p = 0;
    while (p < it->num_panels && strcmp(it->units[p], unit) != 0) {
        ++p;
    }
    if (p < it->num_panels) return p;
    snprintf(it->units[p], sizeof it->units[p], "%s", unit);
    it->panels[p].label = label_of(it->units[p]);
    ++it->num_panels;
    return p;
}

// Sort columns into panels by their units, in the order in which these appear.
static picture make_picture(const tal_table *table, const int columns[], int n)
{
    picture it = {.series = cli_alloc((size_t)n, sizeof *it.series),
                  .panels = cli_alloc((size_t)n + 1, sizeof *it.panels),
                  .units = cli_alloc((size_t)n + 1, sizeof *it.units)};
    result_unit_text *const units = cli_alloc((size_t)tal_table_num_columns(table), sizeof *units);
    int *const panels = cli_alloc((size_t)n, sizeof *panels);
    result_units(table, units);
    for (int s = 0; s < n; ++s) {
        panels[s] = panel_of(&it, units[columns[s]]);
        ++it.panels[panels[s]].num_series;
    }
    int *const next = cli_alloc((size_t)it.num_panels + 1, sizeof *next);
    for (int p = 0; p < it.num_panels; ++p) {
        it.panels[p].series = it.series + next[p];
        next[p + 1] = next[p] + it.panels[p].num_series;
    }
    for (int s = 0; s < n; ++s) {
        it.series[next[panels[s]]++] = (svg_series){
            .name = tal_table_column_name(table, columns[s]), .y = copy_column(table, columns[s])};
    }
    if (n == 0) it.panels[it.num_panels++].label = "";
    free(next);
    free(panels);
    free(units);
    return it;
}

// Draw columns over column x, as an SVG with one panel for each unit.
static int draw_panels(const cli_args *args, const tal_table *table, int x, const int columns[],
                       int n)
{
    picture it = make_picture(table, columns, n);
    double *const xs = copy_column(table, x);
    const char *const x_name = tal_table_column_name(table, x);
    result_unit_text *const units = cli_alloc((size_t)tal_table_num_columns(table), sizeof *units);
    result_units(table, units);
    const char *const unit = units[x][0] == 0 && strcmp(x_name, "time") == 0 ? "s" : units[x];
    char *const x_label = unit[0] != 0 ? cli_format("%s [%s]", x_name, unit) : cli_copy(x_name);
    const char *title = cli_text(args, "title");
    if (title == NULL) title = tal_table_header(table, "name");
    const int height = cli_count(args, "height");
    const svg_plot plot = {.title = title != NULL ? title : args->files[0],
                           .x_label = x_label,
                           .x = xs,
                           .num = tal_table_num_rows(table),
                           .panels = it.panels,
                           .num_panels = it.num_panels,
                           .width = cli_count(args, "width"),
                           .height = height > 0 ? height : 250 + 200 * it.num_panels};
    const int least = 70 + 50 * it.num_panels;
    const int code = plot.height >= least
                         ? write_plot(args, &plot)
                         : cli_fail(args, CLI_USAGE, "%d panels need a --height of at least %d.",
                                    it.num_panels, least);
    for (int s = 0; s < n; ++s) {
        free((double *)it.series[s].y);
    }
    free(it.series);
    free(it.panels);
    free(it.units);
    free(units);
    free(x_label);
    free(xs);
    return code;
}

// Of all columns, those that are not zero throughout, to the front; all, when none is.
static int leave_out_zeros(const tal_table *table, int columns[], int n)
{
    int kept = 0;
    for (int s = 0; s < n; ++s) {
        int r = 0;
        while (r < tal_table_num_rows(table) && tal_table_value(table, r, columns[s]) == 0.0) {
            ++r;
        }
        if (r < tal_table_num_rows(table)) columns[kept++] = columns[s];
    }
    return kept > 0 ? kept : n;
}

int cmd_plot(const cli_args *args)
{
    const int height = cli_count(args, "height");
    if (cli_count(args, "width") < 200 || (height > 0 && height < 120)) {
        return cli_fail(args, CLI_USAGE, "a picture has at least 200 x 120 pixels.");
    }
    tal_table *table = NULL;
    int code = result_read(args, args->files[0], &table);
    if (code != CLI_OK) return code;
    const char *const x_name = cli_text(args, "x");
    const int x = x_name != NULL ? result_find_column(args, table, x_name) : 0;
    int *const columns = cli_alloc((size_t)tal_table_num_columns(table), sizeof *columns);
    int n = x >= 0 ? result_choose_columns(args, table, x, columns) : -1;
    if (n > 0 && !cli_is_given(args, "columns")) n = leave_out_zeros(table, columns, n);
    code = n >= 0 ? draw_panels(args, table, x, columns, n) : CLI_USAGE;
    free(columns);
    tal_table_destroy(table);
    return code;
}
