// The table: functions.
#include "model/model_write_internal.h"

#include <talus/io/table.h>

#include <string.h>

// ---- functions: made while the file is checked, so that all their errors are reported

static void make_function(tali_model *m, tali_model_item *item)
{
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = item->row->make(item, &m->options.allocator, &item->function, &err);
    if (st == TAL_OK) return;
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    tali_model_item_error(m, item, NULL, ": %s", err.message);
}

static const tali_model_attribute constant_attributes[] = {
    {"value", TALI_TYPE_REAL, 1, .doc = "the value"},
    {"arguments", TALI_TYPE_INTEGER, .initial = "1", .doc = "number of arguments"},
    {.name = NULL}};

static tal_status constant(const tali_model_item *item, const tal_allocator *allocator,
                           tal_function **out, tal_error *err)
{
    return tal_function_create_constant(allocator, item->p[0], item->ref[0], out, err);
}

static void describe_constant(tali_model_description *d)
{
    tali_model_say_number(d, d->function->numbers[0]);
    tali_model_say_index(d, d->function->count);
}

static const tali_model_attribute linear_attributes[] = {
    {"slopes", TALI_TYPE_REALS, .doc = "one for each argument"},
    {"offset", TALI_TYPE_REAL, 1, "0", .doc = "added to the sum"},
    {.name = NULL}};

static tal_status linear(const tali_model_item *item, const tal_allocator *allocator,
                         tal_function **out, tal_error *err)
{
    const tali_model_list *a = &item->lists[0];
    const double none = 0.0;
    return tal_function_create_linear(allocator, a->count > 0 ? a->values : &none, a->count,
                                      item->p[0], out, err);
}

static void describe_linear(tali_model_description *d)
{
    tali_model_say_values(d, d->function->list, d->function->count);
    tali_model_say_number(d, d->function->numbers[0]);
}

static const tali_model_attribute polynomial_attributes[] = {
    {"coefficients", TALI_TYPE_REALS, .doc = "highest power first"}, {.name = NULL}};

static tal_status polynomial(const tali_model_item *item, const tal_allocator *allocator,
                             tal_function **out, tal_error *err)
{
    const tali_model_list *c = &item->lists[0];
    const double none = 0.0;
    return tal_function_create_polynomial(allocator, c->count > 0 ? c->values : &none, c->count,
                                          out, err);
}

static void describe_polynomial(tali_model_description *d)
{
    const tali_function_facts *f = d->function;
    tali_model_say_list(
        d, (tali_model_list){.shown = f->list + f->count - 1, .stride = -1, .count = f->count});
}

static const tali_model_attribute multivariate_attributes[] = {
    {"coefficients", TALI_TYPE_REALS, .doc = "of the terms"},
    {"powers", TALI_TYPE_REALS,
     .doc = "of the first term: one for each argument; then those of the next"},
    {.name = NULL}};

// Powers as whole numbers, in the arena; NULL, and an error, when one is not.
static int *take_powers(tali_model *m, const tali_model_item *item)
{
    const tali_model_list *given = &item->lists[1];
    int *powers = tali_arena_take(&m->arena, (size_t)given->count * sizeof *powers + 1);
    m->no_memory = m->no_memory || powers == NULL;
    for (int k = 0; k < given->count && powers != NULL; ++k) {
        const double p = given->values[k];
        powers[k] = p >= 0.0 && p <= TAL_FUNCTION_MAX_POWER ? (int)p : -1;
        if (powers[k] == p) continue;
        tali_model_item_error(m, item, "powers",
                              ": the power %g is not a whole number from 0 to %d", p,
                              TAL_FUNCTION_MAX_POWER);
        return NULL;
    }
    return powers;
}

static void make_multivariate(tali_model *m, tali_model_item *item)
{
    const int count = item->lists[0].count, num = item->lists[1].count;
    if (count < 1 || num < count || num % count != 0) {
        tali_model_item_error(m, item, "powers",
                              ": there are %d coefficients and %d powers; each term has one power "
                              "for each argument",
                              count, num);
        return;
    }
    const int *powers = take_powers(m, item);
    if (powers == NULL) return;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_function_create_multivariate_polynomial(
        &m->options.allocator, item->lists[0].values, powers, count, num / count, &item->function,
        &err);
    if (st == TAL_OK) return;
    m->no_memory = m->no_memory || st == TAL_ERR_NO_MEMORY;
    tali_model_item_error(m, item, NULL, ": %s", err.message);
}

static double power_number(const void *from, int i)
{
    return ((const int *)from)[i];
}

static void describe_multivariate(tali_model_description *d)
{
    const tali_function_facts *f = d->function;
    tali_model_say_values(d, f->list, f->count);
    tali_model_say_list(d, (tali_model_list){.number = power_number,
                                             .from = f->powers,
                                             .count = f->count * f->num_args});
}

const tali_model_attribute tali_model_sinusoid_attributes[] = {
    {"amplitude", TALI_TYPE_REAL, 1, .doc = "a of a sin(w x + p)"},
    {"frequency", TALI_TYPE_REAL, 1, .doc = "w [rad per unit of x]"},
    {"phase", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "p"},
    {.name = NULL}};

static tal_status sinusoid(const tali_model_item *item, const tal_allocator *allocator,
                           tal_function **out, tal_error *err)
{
    return tal_function_create_sinusoid(allocator, item->p[0], item->p[1], item->p[2], out, err);
}

static void describe_sinusoid(tali_model_description *d)
{
    tali_model_say_numbers(d, d->function->numbers, 3);
}

static const tali_model_attribute power_attributes[] = {
    {"scale", TALI_TYPE_REAL, 1, "1", .doc = "a of a x^p"},
    {"exponent", TALI_TYPE_REAL, 1, .doc = "p; -1 for 1/x"},
    {.name = NULL}};

static tal_status power(const tali_model_item *item, const tal_allocator *allocator,
                        tal_function **out, tal_error *err)
{
    return tal_function_create_power(allocator, item->p[0], item->p[1], out, err);
}

static const tali_model_attribute exponential_attributes[] = {
    {"scale", TALI_TYPE_REAL, 1, "1", .doc = "a of a exp(r x)"},
    {"rate", TALI_TYPE_REAL, 1, .doc = "r [1 per unit of x]"},
    {.name = NULL}};

static tal_status exponential(const tali_model_item *item, const tal_allocator *allocator,
                              tal_function **out, tal_error *err)
{
    return tal_function_create_exponential(allocator, item->p[0], item->p[1], out, err);
}

static void describe_growth(tali_model_description *d)
{
    tali_model_say_numbers(d, d->function->numbers, 2);
}

static const tali_model_attribute step_attributes[] = {
    {"from", TALI_TYPE_REAL, 2, .doc = "x and y where the step begins"},
    {"to", TALI_TYPE_REAL, 2, .doc = "x and y where the step ends"},
    {.name = NULL}};

static tal_status smooth_step(const tali_model_item *item, const tal_allocator *allocator,
                              tal_function **out, tal_error *err)
{
    const double *p = item->p;
    return tal_function_create_step(allocator, p[0], p[1], p[2], p[3], out, err);
}

static void describe_step(tali_model_description *d)
{
    tali_model_say_numbers(d, d->function->numbers, 4);
}

static const tali_model_attribute points_attributes[] = {
    {"x", TALI_TYPE_REALS, .doc = "of the points, increasing"},
    {"y", TALI_TYPE_REALS, .doc = "of the points"},
    {.name = NULL}};

static const tali_model_attribute nodes_attributes[] = {
    {"x", TALI_TYPE_REALS, .doc = "of the nodes, increasing"},
    {"y", TALI_TYPE_REALS, .doc = "of the nodes"},
    {"kind", TALI_TYPE_WORD, .initial = "linear", .words = "linear|steps",
     .doc = "straight lines, or the value of the next node"},
    {.name = NULL}};

static const tali_model_attribute bezier_attributes[] = {
    {"x", TALI_TYPE_REALS, .doc = "of the nodes, increasing"},
    {"y", TALI_TYPE_REALS, .doc = "of the nodes"},
    {"slope", TALI_TYPE_REALS, .doc = "dy/dx at the nodes"},
    {"curviness", TALI_TYPE_REALS, .doc = "of each corner between two nodes, 0 to 1"},
    {.name = NULL}};

static const tali_model_attribute spline_attributes[] = {
    {"x", TALI_TYPE_REALS, .doc = "of the points, increasing"},
    {"y", TALI_TYPE_REALS, .doc = "of the points"},
    {"end", TALI_TYPE_WORD, .initial = "natural", .words = "natural|simm",
     .doc = "form in the first and last interval"},
    {.name = NULL}};

static void describe_points(tali_model_description *d)
{
    const tali_function_facts *f = d->function;
    tali_model_say_values(d, f->list, f->count);
    tali_model_say_list(d,
                        (tali_model_list){.shown = f->y, .stride = f->stride, .count = f->count});
    tali_model_say_index(d, (int)f->end); // of a cubic spline
}

// As many x as y, and some.
static void make_curve(tali_model *m, tali_model_item *item)
{
    const int nx = item->lists[0].count, ny = item->lists[1].count;
    if (nx == ny && nx >= 2) {
        make_function(m, item);
        return;
    }
    tali_model_item_error(m, item, "y", ": there are %d x and %d y; it needs two points or more",
                          nx, ny);
}

static tal_status nodes(const tali_model_item *item, const tal_allocator *allocator,
                        tal_function **out, tal_error *err)
{
    return tal_function_create_nodes(allocator, item->lists[0].values, item->lists[1].values,
                                     item->lists[0].count, (tal_nodes)item->ref[0], out, err);
}

// Four lists; the last has one number for each corner.
static void make_bezier(tali_model *m, tali_model_item *item)
{
    const tali_model_list *l = item->lists;
    const int n = l[0].count;
    if (n >= 2 && l[1].count == n && l[2].count == n && l[3].count == n - 1) {
        make_function(m, item);
        return;
    }
    tali_model_item_error(m, item, "curviness",
                          ": there are %d x, %d y, %d slopes and %d numbers of curviness; n nodes "
                          "have n of each and n - 1 of curviness",
                          n, l[1].count, l[2].count, l[3].count);
}

static tal_status bezier(const tali_model_item *item, const tal_allocator *allocator,
                         tal_function **out, tal_error *err)
{
    enum {
        MOST = 9
    };

    const tali_model_list *l = item->lists;
    tal_bezier_node at[MOST];
    for (int i = 0; i < l[0].count && i < MOST; ++i) {
        at[i] = (tal_bezier_node){l[0].values[i], l[1].values[i], l[2].values[i]};
    }
    return tal_function_create_bezier(allocator, at, l[3].values, l[0].count, out, err);
}

static void describe_bezier(tali_model_description *d)
{
    const tali_function_facts *f = d->function;
    for (int k = 0; k < 3; ++k) {
        tali_model_say_list(
            d, (tali_model_list){.shown = f->list + k, .stride = 3, .count = f->count});
    }
    tali_model_say_values(d, f->y, f->count - 1);
}

static tal_status piecewise_linear(const tali_model_item *item, const tal_allocator *allocator,
                                   tal_function **out, tal_error *err)
{
    return tal_function_create_piecewise_linear(
        allocator, item->lists[0].values, item->lists[1].values, item->lists[0].count, out, err);
}

static tal_status spline(const tali_model_item *item, const tal_allocator *allocator,
                         tal_function **out, tal_error *err)
{
    return tal_function_create_spline(allocator, item->lists[0].values, item->lists[1].values,
                                      item->lists[0].count, (tal_spline_end)item->ref[0], out, err);
}

static tal_status quintic_spline(const tali_model_item *item, const tal_allocator *allocator,
                                 tal_function **out, tal_error *err)
{
    return tal_function_create_quintic_spline(
        allocator, item->lists[0].values, item->lists[1].values, item->lists[0].count, out, err);
}

// ---- columns of tables

static const tali_model_attribute table_attributes[] = {
    {"curve", TALI_TYPE_WORD, .initial = "spline", .words = "linear|spline|quintic",
     .doc = "lines between the rows, a natural cubic spline, or a quintic one"},
    {"file", TALI_TYPE_TEXT, .doc = "path of a table, relative to this file"},
    {"column", TALI_TYPE_TEXT, .doc = "name of the column that has the values"},
    {"against", TALI_TYPE_TEXT, .initial = "time",
     .doc = "name of the column that has the arguments, increasing"},
    {"scale", TALI_TYPE_REAL, 1, "1", .doc = "factor on the values"},
    {.name = NULL}};

enum {
    TABLE_FILE,
    TABLE_COLUMN,
    TABLE_AGAINST,
    TABLE_PATH_SIZE = 1000
};

// The column of a name; NULL, and an error, when there is none or memory runs out.
static double *take_column(tali_model *m, const tali_model_item *item, const tal_table *table,
                           const char *attribute, const char *name)
{
    const int column = tal_table_find_column(table, name), rows = tal_table_num_rows(table);
    if (column < 0) {
        tali_model_item_error(m, item, attribute, ": the table has no column '%.60s'", name);
        return NULL;
    }
    double *values = tali_arena_take(&m->arena, (size_t)rows * sizeof *values + 1);
    m->no_memory = m->no_memory || values == NULL;
    for (int i = 0; i < rows && values != NULL; ++i) {
        values[i] = tal_table_value(table, i, column);
    }
    return values;
}

static tal_status create_curve(const tali_model_item *item, const tal_allocator *allocator,
                               const double x[], const double y[], int count, tal_function **out,
                               tal_error *err)
{
    switch (item->ref[0]) {
    case 0:
        return tal_function_create_piecewise_linear(allocator, x, y, count, out, err);
    case 1:
        return tal_function_create_spline(allocator, x, y, count, TAL_SPLINE_NATURAL, out, err);
    default:
        return tal_function_create_quintic_spline(allocator, x, y, count, out, err);
    }
}

static void make_from_table(tali_model *m, tali_model_item *item, const tal_table *table)
{
    double *x = take_column(m, item, table, "against", item->text[TABLE_AGAINST]);
    double *y = take_column(m, item, table, "column", item->text[TABLE_COLUMN]);
    if (x == NULL || y == NULL) return;
    const int rows = tal_table_num_rows(table);
    for (int i = 0; i < rows; ++i) {
        y[i] *= item->p[0];
    }
    tal_error err = {TAL_OK, "", ""};
    const tal_status st =
        create_curve(item, &m->options.allocator, x, y, rows, &item->function, &err);
    if (st == TAL_OK) return;
    m->no_memory = m->no_memory || st == TAL_ERR_NO_MEMORY;
    tali_model_item_error(m, item, "file", ": %s", err.message);
}

tal_table *tali_model_item_table(tali_model *m, const tali_model_item *item, const char *file)
{
    char path[TABLE_PATH_SIZE];
    if (file == NULL || !tali_model_item_path(m, item, file, path, sizeof path)) return NULL;
    tal_table_options how = tal_table_options_default();
    how.allocator = m->options.allocator;
    tal_table *table = NULL;
    const tal_status st = tal_table_read_file(path, &how, &table, m->found);
    m->no_memory = m->no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) {
        tali_model_item_error(m, item, "file", ": '%.100s' could not be read", path);
    }
    return table;
}

static void make_table(tali_model *m, tali_model_item *item)
{
    if (!tali_model_item_has(item, "column")) return; // reported
    tal_table *table = tali_model_item_table(m, item, item->text[TABLE_FILE]);
    if (table != NULL) make_from_table(m, item, table);
    tal_table_destroy(table);
}

// ---- functions of functions

// The parts were made before; they are adopted if all goes well.
static void combine(tali_model *m, tali_model_item *item)
{
    tal_function **parts = tali_arena_take(&m->arena, (size_t)item->num_children * sizeof(void *));
    if (parts == NULL) {
        m->no_memory = true;
        return;
    }
    int n = 0;
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        if (m->items[c].function == NULL) return; // it is wrong, and an error was reported
        parts[n++] = m->items[c].function;
    }
    if (n < item->row->min_children) return;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st =
        item->row->combine(&m->options.allocator, parts, n, &item->function, &err);
    if (st != TAL_OK) {
        if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
        tali_model_item_error(m, item, NULL, ": %s", err.message);
        return;
    }
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        m->items[c].function = NULL;
    }
}

static tal_status compose(const tal_allocator *allocator, tal_function *const parts[], int count,
                          tal_function **out, tal_error *err)
{
    return tal_function_create_composition(allocator, parts[0], parts + 1, count - 1, out, err);
}

// ---- functions by name

static const tali_model_attribute named_attributes[] = {
    {"named", TALI_TYPE_FUNCTION, .doc = "the function's name"}, {.name = NULL}};

// Make the function of an item once more. Children are after their parents.
static void repeat(tali_model *m, int index)
{
    int end = index + 1;
    while (end < m->num_items && m->items[end].parent >= index) {
        ++end;
    }
    for (int i = end - 1; i >= index && !m->no_memory; --i) {
        m->items[i].row->check(m, &m->items[i]);
        m->num_repeated += 1;
    }
}

static bool stands_in(const tali_model *m, const tali_model_item *item, int index)
{
    int at = item->parent;
    while (at > index) {
        at = m->items[at].parent;
    }
    return at == index;
}

// A function has one owner, so everybody who refers to one gets what was made of its definition,
// which is made once more for the next. A definition that refers to others comes back here for
// each, but no deeper than functions can be nested.
static void make_named(tali_model *m, tali_model_item *item)
{
    enum {
        MOST = 1000000 // thirty names that each use the one before twice ask for a billion
    };

    const int definition = item->ref[0];
    if (item->group == TALI_GROUP_NAMED_FUNCTIONS) {
        tali_model_item_error(m, item, NULL,
                              " is not allowed in <functions>: it has a name already");
        return;
    }
    if (definition < 0) return; // reported
    if (stands_in(m, item, definition)) {
        tali_model_item_error(m, item, "named", ": the function '%s' uses itself",
                              m->items[definition].name);
        return;
    }
    if (m->items[definition].function == NULL) return; // it is wrong, and an error was reported
    if (m->num_repeated >= MOST) {
        tali_model_item_error(m, item, "named",
                              ": <function named> is used for more than %d functions in all", MOST);
        return;
    }
    item->function = m->items[definition].function;
    m->items[definition].function = NULL;
    repeat(m, definition);
}

static const tali_model_attribute function_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of a function in `<functions>`"},
    {.name = NULL}};

#define FUNCTION(element, api, attributes, checker, maker, describer, text)                        \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = function_attributes,            \
        .own = (attributes), .check = (checker), .make = (maker), .describe = (describer)          \
    }
#define COMBINED(element, least, combiner, text)                                                   \
    {                                                                                              \
        .name = (element), .kind = (element), .doc = (text), .shared = function_attributes,        \
        .children = TALI_GROUP_FUNCTIONS, .min_children = (least), .max_children = -1,             \
        .check = combine, .combine = (combiner)                                                    \
    }

const tali_model_row tali_model_function_rows[] = {
    FUNCTION("constant", "constant", constant_attributes, make_function, constant,
             describe_constant, "A constant."),
    FUNCTION("linear", "linear function", linear_attributes, make_function, linear, describe_linear,
             "A sum of slopes times arguments, and an offset."),
    FUNCTION("polynomial", "polynomial", polynomial_attributes, make_function, polynomial,
             describe_polynomial, "A polynomial of one argument."),
    FUNCTION("multivariate_polynomial", "multivariate polynomial", multivariate_attributes,
             make_multivariate, NULL, describe_multivariate,
             "A polynomial of several arguments: a sum of terms."),
    FUNCTION("sinusoid", "sinusoid", tali_model_sinusoid_attributes, make_function, sinusoid,
             describe_sinusoid, "a sin(w x + p)."),
    FUNCTION("power", "power", power_attributes, make_function, power, describe_growth,
             "a x^p, such as 1/x."),
    FUNCTION("exponential", "exponential", exponential_attributes, make_function, exponential,
             describe_growth, "a exp(r x)."),
    FUNCTION("step", "step", step_attributes, make_function, smooth_step, describe_step,
             "A smooth step."),
    FUNCTION("piecewise_linear", "piecewise linear function", points_attributes, make_curve,
             piecewise_linear, describe_points, "Straight lines between points."),
    FUNCTION("spline", "spline", spline_attributes, make_curve, spline, describe_points,
             "The cubic spline through points."),
    FUNCTION("quintic_spline", "quintic spline", points_attributes, make_curve, quintic_spline,
             describe_points, "The natural quintic spline through points."),
    FUNCTION("nodes", "nodes", nodes_attributes, make_curve, nodes, describe_points,
             "Values at nodes, held beyond the first and the last one."),
    FUNCTION("bezier", "Bezier curve", bezier_attributes, make_bezier, bezier, describe_bezier,
             "A smooth curve of Bezier corners through nodes with given slopes."),
    COMBINED("sum", 1, tal_function_create_sum, "The sum of the functions inside."),
    COMBINED("product", 1, tal_function_create_product, "The product of the functions inside."),
    COMBINED("composition", 2, compose,
             "The first function inside, applied to the values of the others."),
    FUNCTION("table", NULL, table_attributes, make_table, NULL, NULL,
             "The curve through the rows of a table in a file: .sto, .mot, .trc, .csv or .npz."),
    FUNCTION("function", NULL, named_attributes, make_named, NULL, NULL,
             "A function from `<functions>` above."),
    {.name = NULL}};
