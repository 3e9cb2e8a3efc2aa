// From tables to figures: which columns are drawn, in which panels.
#include "plot/charts.h"

#include "plot/axis.h"
#include "plot/font.h"
#include "table/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Smaller than this, compared with others of its unit, a quantity is round-off.
#define ROUND_OFF 1e-11

// --- tables ---

// The name of a file without folders; all of it when that is the name of another one, too.
static char *short_name(const cli_args *args, int i)
{
    const char *const path = args->files[i], *const slash = strrchr(path, '/');
    const char *const own = slash != NULL ? slash + 1 : path;
    for (int k = 0; k < args->num_files; ++k) {
        const char *const other = strrchr(args->files[k], '/');
        const char *const name = other != NULL ? other + 1 : args->files[k];
        if (k != i && strcmp(name, own) == 0) return cli_copy(path);
    }
    return cli_copy(strcmp(own, "-") == 0 ? "standard input" : own);
}

static int read_sources(const cli_args *args, charts *it)
{
    it->sources = cli_alloc((size_t)args->num_files, sizeof *it->sources);
    for (int i = 0; i < args->num_files; ++i) {
        charts_source *const source = &it->sources[it->num_sources++];
        source->path = args->files[i];
        source->name = short_name(args, i);
        const int code = result_read(args, source->path, &source->table);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

// --- columns ---

// The unit in brackets at the end of a name: "force [N]". Owned by the caller; NULL: there is none.
static char *unit_in_name(const char *name)
{
    const size_t length = strlen(name);
    const int close = length > 2 ? name[length - 1] : ' ';
    const char *const open = close == ']'   ? strrchr(name, '[')
                             : close == ')' ? strrchr(name, '(')
                                            : NULL;
    if (open == NULL || open == name || open[-1] != ' ') return NULL;
    return cli_format("%.*s", (int)(name + length - open) - 2, open + 1);
}

// The unit that a table says of a column; that in the column's name; that of all that a .trc file
// has. Owned by the caller.
static char *unit_of(const tal_table *table, result_unit_text units[], int column)
{
    const char *const name = tal_table_column_name(table, column);
    const char *const markers = tal_table_header(table, "Units");
    if (units[column][0] != 0) return cli_copy(units[column]);
    if (strcmp(name, "time") == 0) return cli_copy("s");
    char *const own = unit_in_name(name);
    if (own != NULL) return own;
    return cli_copy(markers != NULL && column > 0 ? "m" : "");
}

static charts_column *find_column(charts *it, const char *name)
{
    for (int c = 0; c < it->num_columns; ++c) {
        if (strcmp(it->columns[c].name, name) == 0) return &it->columns[c];
    }
    return NULL;
}

// An angle in degrees instead of radians, its rates as well.
static void turn_to_degrees(charts_column *column)
{
    const char *const rest = column->unit + 3;
    if (strncmp(column->unit, "rad", 3) != 0 || (*rest != 0 && *rest != '/')) return;
    char *const unit = cli_format(FONT_DEGREE_TEXT "%s", rest);
    free(column->unit);
    column->unit = unit;
    column->factor = 1.0 / TAL_DEGREE;
}

static charts_column *add_column(const cli_args *args, charts *it, const charts_source *source,
                                 result_unit_text units[], int c)
{
    const size_t n = (size_t)it->num_columns;
    it->columns = cli_resize(it->columns, n + 1, sizeof *it->columns);
    charts_column *const column = &it->columns[it->num_columns++];
    *column = (charts_column){.factor = 1.0, .low = (double)NAN, .high = (double)NAN};
    column->name = cli_copy(tal_table_column_name(source->table, c));
    column->unit = unit_of(source->table, units, c);
    column->at = cli_alloc((size_t)it->num_sources, sizeof *column->at);
    for (int s = 0; s < it->num_sources; ++s) {
        column->at[s] = -1;
    }
    if (cli_flag(args, "degrees")) turn_to_degrees(column);
    return column;
}

static void include_column(charts_column *column, const tal_table *table, int c)
{
    axis_range range = {column->low, column->high};
    for (int r = 0; r < tal_table_num_rows(table); ++r) {
        const double value = column->factor * tal_table_value(table, r, c);
        axis_include(&range, &value, 1);
    }
    column->low = range.low;
    column->high = range.high;
}

// All columns of all tables; those of one name are one.
static void list_columns(const cli_args *args, charts *it)
{
    for (int s = 0; s < it->num_sources; ++s) {
        const charts_source *const source = &it->sources[s];
        const int n = tal_table_num_columns(source->table);
        result_unit_text *const units = cli_alloc((size_t)n, sizeof *units);
        result_units(source->table, units);
        for (int c = 0; c < n; ++c) {
            charts_column *column = find_column(it, tal_table_column_name(source->table, c));
            if (column == NULL) column = add_column(args, it, source, units, c);
            column->at[s] = c;
            include_column(column, source->table, c);
        }
        free(units);
    }
}

static const char *name_at(const void *context, int i)
{
    const charts *const it = context;
    return i < it->num_columns ? it->columns[i].name : NULL;
}

// --- which are drawn ---

static double size_of(const charts_column *column)
{
    const double size = fmax(fabs(column->low), fabs(column->high));
    return size > 0.0 ? size : 0.0;
}

// Of an error "m or rad" both are what it is compared with.
static bool is_comparable(const char *unit, const char *other)
{
    const char *const or = strstr(unit, " or ");
    if (or == NULL) return strcmp(unit, other) == 0;
    return strcmp(or +4, other) == 0 ||
           (strlen(other) == (size_t)(or -unit) && strncmp(unit, other, strlen(other)) == 0);
}

// Zero throughout, or far smaller than others of its unit?
static bool is_round_off(const charts *it, const charts_column *column)
{
    double largest = 0.0;
    for (int c = 0; c < it->num_columns; ++c) {
        // degrees are compared with what they were
        const charts_column *const other = &it->columns[c];
        const char *const unit = other->factor != 1.0 ? "rad" : other->unit;
        if (c != it->x &&
            (is_comparable(column->unit, other->unit) || is_comparable(column->unit, unit))) {
            largest = fmax(largest, size_of(other) / other->factor);
        }
    }
    return size_of(column) / column->factor <= ROUND_OFF * largest || size_of(column) == 0.0;
}

// How much a column varies; compared with others of its unit, so that all units count.
static double variation(const charts_column *column)
{
    const double width = column->high - column->low;
    return width > ROUND_OFF * size_of(column) ? width : 0.0;
}

static double relative_variation(const charts *it, const charts_column *column)
{
    double most = 0.0;
    for (int c = 0; c < it->num_columns; ++c) {
        const charts_column *const other = &it->columns[c];
        if (other->is_drawn && strcmp(other->unit, column->unit) == 0) {
            most = fmax(most, variation(other));
        }
    }
    return most > 0.0 ? variation(column) / most : 0.0;
}

// Of more than a dozen columns, those that vary most.
static void draw_a_dozen(charts *it, int num_drawn)
{
    double *const ranks = cli_alloc((size_t)it->num_columns, sizeof *ranks);
    for (int c = 0; c < it->num_columns; ++c) {
        ranks[c] = it->columns[c].is_drawn ? relative_variation(it, &it->columns[c]) : -1.0;
    }
    for (int k = num_drawn; k > CHARTS_DOZEN; --k) {
        int least = -1;
        for (int c = 0; c < it->num_columns; ++c) {
            if (ranks[c] >= 0.0 && (least < 0 || ranks[c] <= ranks[least])) least = c;
        }
        ranks[least] = -1.0;
        it->columns[least].is_drawn = false;
        ++it->num_left_out;
    }
    free(ranks);
}

// Is it on the horizontal axis, or time, which is there usually?
static bool is_horizontal(const charts *it, int column)
{
    return column == it->x || strcmp(it->columns[column].name, "time") == 0;
}

// Without --columns: what is not round-off, and of that a dozen.
static void draw_usual(charts *it)
{
    int drawn = 0;
    for (int c = 0; c < it->num_columns; ++c) {
        charts_column *const column = &it->columns[c];
        column->is_drawn = !is_horizontal(it, c) && !is_round_off(it, column);
        drawn += column->is_drawn ? 1 : 0;
    }
    for (int c = 0; c < it->num_columns && drawn == 0; ++c) { // all, then
        it->columns[c].is_drawn = !is_horizontal(it, c);
    }
    draw_a_dozen(it, drawn);
}

static int choose_columns(const cli_args *args, charts *it)
{
    const char *const list = cli_text(args, "columns"), *const x = cli_text(args, "x");
    const char *const file = args->files[0];
    it->x = x != NULL ? result_find_name(args, file, name_at, it, x) : 0;
    if (it->x < 0) return CLI_USAGE;
    if (list == NULL) {
        draw_usual(it);
        return CLI_OK;
    }
    int *const chosen = cli_alloc((size_t)it->num_columns, sizeof *chosen);
    const int n = result_choose_names(args, file, name_at, it, list, chosen);
    for (int i = 0; i < n; ++i) {
        // over itself it says nothing, unless that is all
        it->columns[chosen[i]].is_drawn = chosen[i] != it->x || n == 1;
    }
    free(chosen);
    return n >= 0 ? CLI_OK : CLI_USAGE;
}

// Every table needs what is on the horizontal axis.
static int take_x(const cli_args *args, charts *it)
{
    const charts_column *const x = &it->columns[it->x];
    for (int s = 0; s < it->num_sources; ++s) {
        charts_source *const source = &it->sources[s];
        const int rows = tal_table_num_rows(source->table);
        if (x->at[s] < 0) {
            return cli_fail(args, CLI_USAGE,
                            "%s has no column '%s', which is on the horizontal axis.", source->path,
                            x->name);
        }
        source->x = cli_alloc((size_t)rows, sizeof *source->x);
        for (int r = 0; r < rows; ++r) {
            source->x[r] = x->factor * tal_table_value(source->table, r, x->at[s]);
        }
    }
    return CLI_OK;
}

// --- panels ---

// "m/s^2" with a superscript. Owned by the caller.
static char *pretty_unit(const char *unit)
{
    static const char *const digits[] = {"\xc2\xb2", "\xc2\xb3"};
    const char *const power = strchr(unit, '^');
    if (power == NULL || (power[1] != '2' && power[1] != '3')) return cli_copy(unit);
    return cli_format("%.*s%s%s", (int)(power - unit), unit, digits[power[1] - '2'], power + 2);
}

// What is measured in a unit.
static const char *quantity_of(const char *unit)
{
    static const struct {
        const char *unit, *quantity;
    } quantities[] = {{"rad", "angle"},
                      {FONT_DEGREE_TEXT, "angle"},
                      {"rad/s", "angular speed"},
                      {FONT_DEGREE_TEXT "/s", "angular speed"},
                      {"rad/s^2", "angular acceleration"},
                      {FONT_DEGREE_TEXT "/s^2", "angular acceleration"},
                      {"m", "position"},
                      {"m/s", "speed"},
                      {"m/s^2", "acceleration"},
                      {"s", "time"},
                      {"J", "energy"},
                      {"W", "power"},
                      {"N", "force"},
                      {"N m", "moment"},
                      {"1", "quaternion"},
                      {"m or rad", "error"},
                      {"m/s or rad/s", "error"}};

    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; ++i) {
        if (strcmp(quantities[i].unit, unit) == 0) return quantities[i].quantity;
    }
    return "";
}

// A name and a unit: "angle [rad]". Owned by the caller.
static char *label_of(const char *name, const char *unit)
{
    char *const own = unit_in_name(name);
    char *const pretty = pretty_unit(unit);
    const bool is_named = name[0] != 0;
    const bool has_unit = unit[0] != 0 && strcmp(unit, "1") != 0 && own == NULL;
    char *const label =
        has_unit ? cli_format(is_named ? "%s [%s]" : "%s%s", name, pretty) : cli_copy(name);
    free(own);
    free(pretty);
    return label;
}

// The number of columns that are drawn, of a unit.
static int count_drawn(const charts *it, const char *unit)
{
    int n = 0;
    for (int c = 0; c < it->num_columns; ++c) {
        if (it->columns[c].is_drawn && strcmp(it->columns[c].unit, unit) == 0) ++n;
    }
    return n;
}

static bool is_first_of_unit(const charts *it, int column)
{
    for (int c = 0; c < column; ++c) {
        if (it->columns[c].is_drawn && strcmp(it->columns[c].unit, it->columns[column].unit) == 0) {
            return false;
        }
    }
    return it->columns[column].is_drawn;
}

static double *copy_column(const tal_table *table, int column, double factor)
{
    const int rows = tal_table_num_rows(table);
    double *const values = cli_alloc((size_t)rows, sizeof *values);
    for (int r = 0; r < rows; ++r) {
        values[r] = factor * tal_table_value(table, r, column);
    }
    return values;
}

// The lines of a column, one for each table that has it: k of its panel, which has `num_columns`. A
// column has a color and a table has dashes; tables have colors where there is one column.
static void add_lines(charts *it, const charts_column *column, int k, int num_columns)
{
    for (int s = 0; s < it->num_sources; ++s) {
        if (column->at[s] < 0) continue;
        const tal_table *const table = it->sources[s].table;
        const figure_style style = {num_columns == 1 ? s : k, num_columns == 1 ? 0 : s};
        double *const values = copy_column(table, column->at[s], column->factor);
        it->values[it->num_lines] = values;
        it->lines[it->num_lines++] = (figure_line){.name = column->name,
                                                   .x = it->sources[s].x,
                                                   .y = values,
                                                   .num = tal_table_num_rows(table),
                                                   .style = style};
    }
}

// The rows of a legend: columns by their colors, then tables by their dashes. A column that is
// alone is named beside the axis.
static void add_keys(charts *it, figure_panel *panel, const char *unit, int num_columns,
                     figure_key keys[])
{
    panel->keys = keys;
    for (int c = 0; c < it->num_columns && num_columns > 1; ++c) {
        const charts_column *const column = &it->columns[c];
        if (!column->is_drawn || strcmp(column->unit, unit) != 0) continue;
        const figure_style style = {panel->num_keys, 0};
        keys[panel->num_keys++] = (figure_key){column->name, style};
    }
    for (int s = 0; s < it->num_sources && it->num_sources > 1; ++s) {
        // dashes of several columns are shown in the gray of none of them
        const figure_style style = {num_columns == 1 ? s : 6, num_columns == 1 ? 0 : s};
        keys[panel->num_keys++] = (figure_key){it->sources[s].name, style};
    }
}

// Should a unit be as long upward as to the right?
static bool is_equal(const cli_args *args, const charts *it, const char *unit)
{
    const char *const aspect = cli_text(args, "aspect");
    const charts_column *const x = &it->columns[it->x];
    if (strcmp(aspect, "auto") != 0) return strcmp(aspect, "equal") == 0;
    if (!cli_is_given(args, "x") || strcmp(x->unit, unit) != 0) return false;
    axis_range range = axis_no_range();
    for (int c = 0; c < it->num_columns; ++c) {
        const charts_column *const column = &it->columns[c];
        if (!column->is_drawn || strcmp(column->unit, unit) != 0) continue;
        axis_include(&range, &column->low, 1);
        axis_include(&range, &column->high, 1);
    }
    const double ratio = (range.high - range.low) / (x->high - x->low);
    return ratio > 1.0 / 20.0 && ratio < 20.0; // else it would be a line, not a picture
}

// One panel for each unit, in the order in which these appear.
static void make_panels(const cli_args *args, charts *it)
{
    const size_t n = (size_t)it->num_columns, sources = (size_t)it->num_sources;
    it->panels = cli_alloc(n + 1, sizeof *it->panels);
    it->labels = cli_alloc(n + 2, sizeof *it->labels);
    it->lines = cli_alloc(n * sources, sizeof *it->lines);
    it->values = cli_alloc(n * sources, sizeof *it->values);
    it->keys = cli_alloc(n * (1 + sources), sizeof *it->keys);
    figure_key *keys = it->keys;
    for (int first = 0; first < it->num_columns; ++first) {
        if (!is_first_of_unit(it, first)) continue;
        const char *const unit = it->columns[first].unit;
        const int num = count_drawn(it, unit);
        figure_panel *const panel = &it->panels[it->figure.num_panels];
        char *const label = label_of(num == 1 ? it->columns[first].name : quantity_of(unit), unit);
        it->labels[it->figure.num_panels++] = label;
        panel->label = label;
        panel->in_degrees = strcmp(unit, FONT_DEGREE_TEXT) == 0 || strcmp(unit, "deg") == 0;
        panel->is_equal = is_equal(args, it, unit);
        panel->lines = it->lines + it->num_lines;
        const int before = it->num_lines;
        for (int c = first, k = 0; c < it->num_columns; ++c) {
            if (!it->columns[c].is_drawn || strcmp(it->columns[c].unit, unit) != 0) continue;
            add_lines(it, &it->columns[c], k++, num);
        }
        panel->num_lines = it->num_lines - before;
        add_keys(it, panel, unit, num, keys);
        keys += panel->num_keys;
    }
    if (it->figure.num_panels == 0) it->panels[it->figure.num_panels++].label = "";
}

static void make_figure(const cli_args *args, charts *it)
{
    const charts_column *const x = &it->columns[it->x];
    make_panels(args, it);
    char *const x_label = label_of(x->name, x->unit);
    it->labels[it->figure.num_panels] = x_label;
    const char *title = cli_text(args, "title");
    if (title == NULL) title = tal_table_header(it->sources[0].table, "name");
    it->figure.title = title != NULL ? title : it->sources[0].name;
    it->figure.x_label = x_label;
    it->figure.x_in_degrees = strcmp(x->unit, FONT_DEGREE_TEXT) == 0;
    it->figure.panels = it->panels;
    it->figure.width = cli_count(args, "width");
    it->figure.height = cli_count(args, "height");
}

int charts_make(const cli_args *args, charts *out)
{
    *out = (charts){0};
    int code = read_sources(args, out);
    if (code == CLI_OK) list_columns(args, out);
    if (code == CLI_OK) code = choose_columns(args, out);
    if (code == CLI_OK) code = take_x(args, out);
    if (code == CLI_OK) make_figure(args, out);
    return code;
}

void charts_destroy(charts *it)
{
    for (int s = 0; s < it->num_sources; ++s) {
        tal_table_destroy(it->sources[s].table);
        free(it->sources[s].name);
        free(it->sources[s].x);
    }
    for (int c = 0; c < it->num_columns; ++c) {
        free(it->columns[c].name);
        free(it->columns[c].unit);
        free(it->columns[c].at);
    }
    for (int l = 0; l < it->num_lines; ++l) {
        free(it->values[l]);
    }
    for (int p = 0; it->labels != NULL && p <= it->figure.num_panels; ++p) {
        free(it->labels[p]);
    }
    free(it->sources);
    free(it->columns);
    free(it->panels);
    free(it->lines);
    free(it->keys);
    free(it->labels);
    free(it->values);
}
