// The table: functions.
#include "model_internal.h"

#include <string.h>

// ---- functions: made while the file is checked, so that all that is wrong with them is told

typedef tal_status (*make_fn)(const tali_item *item, const tal_allocator *allocator,
                              tal_function **out, tal_error *err);

static void make(tali_model *m, tali_item *item, make_fn call)
{
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = call(item, &m->options.allocator, &item->function, &err);
    if (st == TAL_OK) return;
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    tali_item_error(m, item, NULL, ": %s", err.message);
}

static const tali_attribute constant_attributes[] = {
    {"value", TALI_TYPE_REAL, 1, .doc = "whatever the arguments are"},
    {"arguments", TALI_TYPE_INTEGER, .initial = "1", .doc = "how many there are"},
    {.name = NULL}};

static tal_status constant(const tali_item *item, const tal_allocator *allocator,
                           tal_function **out, tal_error *err)
{
    return tal_function_create_constant(allocator, item->p[0], item->ref[0], out, err);
}

static void make_constant(tali_model *m, tali_item *item)
{
    make(m, item, constant);
}

static const tali_attribute linear_attributes[] = {
    {"slopes", TALI_TYPE_REALS, .doc = "one for each argument"},
    {"offset", TALI_TYPE_REAL, 1, "0", .doc = "what is added"},
    {.name = NULL}};

static tal_status linear(const tali_item *item, const tal_allocator *allocator, tal_function **out,
                         tal_error *err)
{
    const tali_list *a = &item->lists[0];
    const double none = 0.0;
    return tal_function_create_linear(allocator, a->count > 0 ? a->values : &none, a->count,
                                      item->p[0], out, err);
}

static void make_linear(tali_model *m, tali_item *item)
{
    make(m, item, linear);
}

static const tali_attribute polynomial_attributes[] = {
    {"coefficients", TALI_TYPE_REALS, .doc = "highest power first"}, {.name = NULL}};

static tal_status polynomial(const tali_item *item, const tal_allocator *allocator,
                             tal_function **out, tal_error *err)
{
    const tali_list *c = &item->lists[0];
    const double none = 0.0;
    return tal_function_create_polynomial(allocator, c->count > 0 ? c->values : &none, c->count,
                                          out, err);
}

static void make_polynomial(tali_model *m, tali_item *item)
{
    make(m, item, polynomial);
}

const tali_attribute tali_sinusoid_attributes[] = {
    {"amplitude", TALI_TYPE_REAL, 1, .doc = "a of a sin(w x + p)"},
    {"frequency", TALI_TYPE_REAL, 1, .doc = "w [rad per unit of x]"},
    {"phase", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "p"},
    {.name = NULL}};

static tal_status sinusoid(const tali_item *item, const tal_allocator *allocator,
                           tal_function **out, tal_error *err)
{
    return tal_function_create_sinusoid(allocator, item->p[0], item->p[1], item->p[2], out, err);
}

static void make_sinusoid(tali_model *m, tali_item *item)
{
    make(m, item, sinusoid);
}

static const tali_attribute step_attributes[] = {
    {"from", TALI_TYPE_REAL, 2, .doc = "x and y where it begins"},
    {"to", TALI_TYPE_REAL, 2, .doc = "x and y where it ends"},
    {.name = NULL}};

static tal_status smooth_step(const tali_item *item, const tal_allocator *allocator,
                              tal_function **out, tal_error *err)
{
    const double *p = item->p;
    return tal_function_create_step(allocator, p[0], p[1], p[2], p[3], out, err);
}

static void make_step(tali_model *m, tali_item *item)
{
    make(m, item, smooth_step);
}

static const tali_attribute points_attributes[] = {
    {"x", TALI_TYPE_REALS, .doc = "of the points, increasing"},
    {"y", TALI_TYPE_REALS, .doc = "of the points"},
    {.name = NULL}};

static const tali_attribute spline_attributes[] = {
    {"x", TALI_TYPE_REALS, .doc = "of the points, increasing"},
    {"y", TALI_TYPE_REALS, .doc = "of the points"},
    {"end", TALI_TYPE_WORD, .initial = "natural", .words = "natural|simm",
     .doc = "what it does in the first and last interval"},
    {.name = NULL}};

// As many x as y, and some.
static bool check_points(tali_model *m, const tali_item *item)
{
    const int nx = item->lists[0].count, ny = item->lists[1].count;
    if (nx == ny && nx >= 2) return true;
    tali_item_error(m, item, "y", ": there are %d x and %d y; it needs two points or more", nx, ny);
    return false;
}

static tal_status piecewise_linear(const tali_item *item, const tal_allocator *allocator,
                                   tal_function **out, tal_error *err)
{
    return tal_function_create_piecewise_linear(
        allocator, item->lists[0].values, item->lists[1].values, item->lists[0].count, out, err);
}

static void make_piecewise_linear(tali_model *m, tali_item *item)
{
    if (check_points(m, item)) make(m, item, piecewise_linear);
}

static tal_status spline(const tali_item *item, const tal_allocator *allocator, tal_function **out,
                         tal_error *err)
{
    return tal_function_create_spline(allocator, item->lists[0].values, item->lists[1].values,
                                      item->lists[0].count, (tal_spline_end)item->ref[0], out, err);
}

static void make_spline(tali_model *m, tali_item *item)
{
    if (check_points(m, item)) make(m, item, spline);
}

static tal_status quintic_spline(const tali_item *item, const tal_allocator *allocator,
                                 tal_function **out, tal_error *err)
{
    return tal_function_create_quintic_spline(
        allocator, item->lists[0].values, item->lists[1].values, item->lists[0].count, out, err);
}

static void make_quintic_spline(tali_model *m, tali_item *item)
{
    if (check_points(m, item)) make(m, item, quintic_spline);
}

// ---- functions of functions

typedef tal_status (*combine_fn)(const tal_allocator *allocator, tal_function *const parts[],
                                 int count, tal_function **out, tal_error *err);

// The parts were made before; they are adopted if all goes well.
static void combine(tali_model *m, tali_item *item, combine_fn call)
{
    tal_function **parts = tali_arena_take(&m->arena, (size_t)item->num_children * sizeof(void *));
    if (parts == NULL) {
        m->no_memory = true;
        return;
    }
    int n = 0;
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        if (m->items[c].function == NULL) return; // it is wrong, and told so
        parts[n++] = m->items[c].function;
    }
    if (n < item->row->min_children) return;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = call(&m->options.allocator, parts, n, &item->function, &err);
    if (st != TAL_OK) {
        if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
        tali_item_error(m, item, NULL, ": %s", err.message);
        return;
    }
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        m->items[c].function = NULL;
    }
}

static void make_sum(tali_model *m, tali_item *item)
{
    combine(m, item, tal_function_create_sum);
}

static void make_product(tali_model *m, tali_item *item)
{
    combine(m, item, tal_function_create_product);
}

static tal_status compose(const tal_allocator *allocator, tal_function *const parts[], int count,
                          tal_function **out, tal_error *err)
{
    return tal_function_create_composition(allocator, parts[0], parts + 1, count - 1, out, err);
}

static void make_composition(tali_model *m, tali_item *item)
{
    combine(m, item, compose);
}

// ---- functions by name

static const tali_attribute named_attributes[] = {
    {"named", TALI_TYPE_FUNCTION, .doc = "the function's name"}, {.name = NULL}};

// Make the function of an item once more. Children stand behind their parents.
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

static bool stands_in(const tali_model *m, const tali_item *item, int index)
{
    int at = item->parent;
    while (at > index) {
        at = m->items[at].parent;
    }
    return at == index;
}

// A function has one owner, so everybody who refers to one gets what was made of its definition, which is made once more
// for the next. A definition that refers to others comes back here for each, but no deeper than functions can be nested.
static void make_named(tali_model *m, tali_item *item)
{
    enum {
        MOST = 1000000 // thirty names that each use the one before twice ask for a billion
    };

    const int definition = item->ref[0];
    if (item->group == TALI_GROUP_NAMED_FUNCTIONS) {
        tali_item_error(m, item, NULL, " cannot stand in <functions>: it has a name already");
        return;
    }
    if (definition < 0) return; // told
    if (stands_in(m, item, definition)) {
        tali_item_error(m, item, "named", ": the function '%s' uses itself",
                        m->items[definition].name);
        return;
    }
    if (m->items[definition].function == NULL) return; // it is wrong, and told so
    if (m->num_repeated >= MOST) {
        tali_item_error(m, item, "named", ": names stand for more than %d functions in all", MOST);
        return;
    }
    item->function = m->items[definition].function;
    m->items[definition].function = NULL;
    repeat(m, definition);
}

static const tali_attribute function_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of a function that stands in `<functions>`"},
    {.name = NULL}};

#define FUNCTION(element, api, attributes, maker, text)                                            \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = function_attributes,            \
        .own = (attributes), .check = (maker)                                                      \
    }
#define COMBINED(element, api, least, maker, text)                                                 \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = function_attributes,            \
        .children = TALI_GROUP_FUNCTIONS, .min_children = (least), .max_children = -1,             \
        .check = (maker)                                                                           \
    }

const tali_row tali_function_rows[] = {
    FUNCTION("constant", "constant", constant_attributes, make_constant, "A constant."),
    FUNCTION("linear", "linear function", linear_attributes, make_linear,
             "A sum of slopes times arguments, and an offset."),
    FUNCTION("polynomial", "polynomial", polynomial_attributes, make_polynomial,
             "A polynomial of one argument."),
    FUNCTION("sinusoid", "sinusoid", tali_sinusoid_attributes, make_sinusoid, "a sin(w x + p)."),
    FUNCTION("step", "step", step_attributes, make_step, "A smooth step."),
    FUNCTION("piecewise_linear", "piecewise linear function", points_attributes,
             make_piecewise_linear, "Straight lines between points."),
    FUNCTION("spline", "spline", spline_attributes, make_spline,
             "The cubic spline through points."),
    FUNCTION("quintic_spline", "quintic spline", points_attributes, make_quintic_spline,
             "The natural quintic spline through points."),
    COMBINED("sum", "sum", 1, make_sum, "The sum of the functions in it."),
    COMBINED("product", "product", 1, make_product, "The product of the functions in it."),
    COMBINED("composition", "composition", 2, make_composition,
             "The first function in it, of the values of the others."),
    FUNCTION("function", NULL, named_attributes, make_named,
             "A function that stands in `<functions>` further up."),
    {.name = NULL}};
