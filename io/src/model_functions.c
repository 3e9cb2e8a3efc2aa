// The table: functions and measures.
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

static const tali_attribute sinusoid_attributes[] = {
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

#define FUNCTION(element, api, attributes, maker, text)                                            \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .own = (attributes), .check = (maker)     \
    }
#define COMBINED(element, api, least, maker, text)                                                 \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .children = TALI_GROUP_FUNCTIONS,         \
        .min_children = (least), .max_children = -1, .check = (maker)                              \
    }

const tali_row tali_function_rows[] = {
    FUNCTION("constant", "constant", constant_attributes, make_constant, "A constant."),
    FUNCTION("linear", "linear function", linear_attributes, make_linear,
             "A sum of slopes times arguments, and an offset."),
    FUNCTION("polynomial", "polynomial", polynomial_attributes, make_polynomial,
             "A polynomial of one argument."),
    FUNCTION("sinusoid", "sinusoid", sinusoid_attributes, make_sinusoid, "a sin(w x + p)."),
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
    {.name = NULL}};

// ---- measures

static const tali_attribute measure_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the measure"}, {.name = NULL}};

static tal_subsystem_ix owner(const tali_model *m)
{
    return tal_matter_subsystem(m->matter);
}

// Operands stand before those that use them, so their sizes are known. Lists must fit them.
static void check_operands(tali_model *m, tali_item *item)
{
    const char *names[] = {"of", "with"};
    for (int i = 0, k = 0; k < 2; ++k) {
        if (!tali_item_has(item, names[k])) continue;
        const int operand = item->ref[i++];
        if (operand < 0 || operand < (int)(item - m->items)) continue;
        tali_item_error(m, item, names[k],
                        ": the measure '%s' must stand before the one that uses it",
                        m->items[operand].name);
    }
}

static tal_measure_ix operand(const tali_model *m, const tali_item *item, int i)
{
    return tali_measure_at(m, item->ref[i]);
}

// The initial values, if there are as many as the operand has; NULL otherwise, which may be a failure.
static const double *initial_of(tali_model *m, const tali_item *item, tal_measure_ix of)
{
    const tali_list *list = &item->lists[0];
    if (list->count == 0) return NULL;
    const int size = tal_measure_size(m->system, of);
    if (list->count == size) return list->values;
    (void)tal_system_fail(m->system, TAL_ERR_BAD_VALUE,
                          "'initial' has %d numbers; the operand has %d", list->count, size);
    return NULL;
}

static const tali_attribute values_attributes[] = {
    {"values", TALI_TYPE_REALS, .doc = "one or more numbers"}, {.name = NULL}};

static void build_constant(tali_model *m, tali_item *item)
{
    const tali_list *v = &item->lists[0];
    item->built = tal_measure_add_constant(m->system, owner(m), item->name, v->values, v->count).i;
}

static void check_values(tali_model *m, tali_item *item)
{
    if (item->lists[0].count > 0 || !tali_item_has(item, "values")) return;
    tali_item_error(m, item, "values", ": 'values' has no numbers");
}

static void build_time(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_time(m->system, owner(m), item->name).i;
}

#define STAGES "model|instance|time|position|velocity|dynamics|acceleration|report"

static const tali_attribute variable_attributes[] = {
    {"values", TALI_TYPE_REALS, .doc = "in the beginning"},
    {"invalidates", TALI_TYPE_WORD, .initial = "dynamics", .words = STAGES,
     .doc = "the lowest stage that uses it"},
    {.name = NULL}};

static void build_variable(tali_model *m, tali_item *item)
{
    const tali_list *v = &item->lists[0];
    const tal_stage stage = (tal_stage)((int)TAL_STAGE_MODEL + item->ref[0]);
    item->built =
        tal_measure_add_variable(m->system, owner(m), item->name, v->values, v->count, stage).i;
}

static void build_sinusoid(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_sinusoid(m->system, owner(m), item->name, item->p[0], item->p[1],
                                           item->p[2])
                      .i;
}

static const tali_attribute two_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the first operand"},
    {"with", TALI_TYPE_MEASURE, .doc = "the second operand"},
    {.name = NULL}};

static void build_sum(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_sum(m->system, owner(m), item->name, operand(m, item, 0),
                                      operand(m, item, 1))
                      .i;
}

static void build_difference(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_difference(m->system, owner(m), item->name, operand(m, item, 0),
                                             operand(m, item, 1))
                      .i;
}

static const tali_attribute scale_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the operand"},
    {"factor", TALI_TYPE_REAL, 1, .doc = "what it is multiplied by"},
    {.name = NULL}};

static void build_scale(tali_model *m, tali_item *item)
{
    item->built =
        tal_measure_add_scale(m->system, owner(m), item->name, item->p[0], operand(m, item, 0)).i;
}

static const tali_attribute integrate_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "what is integrated over time"},
    {"initial", TALI_TYPE_REALS, .initial = "", .doc = "values in the beginning; zeros"},
    {.name = NULL}};

static void build_integrate(tali_model *m, tali_item *item)
{
    const tal_measure_ix of = operand(m, item, 0);
    const double *initial = initial_of(m, item, of);
    item->built = tal_measure_add_integrate(m->system, owner(m), item->name, of, initial).i;
}

static const tali_attribute of_attributes[] = {{"of", TALI_TYPE_MEASURE, .doc = "the operand"},
                                               {.name = NULL}};

static void build_differentiate(tali_model *m, tali_item *item)
{
    item->built =
        tal_measure_add_differentiate(m->system, owner(m), item->name, operand(m, item, 0)).i;
}

static const tali_attribute extreme_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the operand"},
    {"which", TALI_TYPE_WORD, .initial = "maximum",
     .words = "minimum|maximum|minimum_abs|maximum_abs", .doc = "of f, or of its size"},
    {.name = NULL}};

static void build_extreme(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_extreme(m->system, owner(m), item->name,
                                          (tal_extreme)item->ref[1], operand(m, item, 0))
                      .i;
}

static const tali_attribute delay_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "what is delayed"},
    {"capacity", TALI_TYPE_INTEGER, .initial = "256",
     .doc = "samples kept: more than steps in a delay"},
    {"delay", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[s]"},
    {.name = NULL}};

static void build_delay(tali_model *m, tali_item *item)
{
    tal_delay_def def = tal_delay_def_default();
    def.name = item->name;
    def.operand = operand(m, item, 0);
    def.capacity = item->ref[1];
    def.delay = item->p[0];
    item->built = tal_measure_add_delay(m->system, owner(m), &def).i;
}

static void check_delay(tali_model *m, tali_item *item)
{
    const int most = 1000000; // what a slip of the finger could ask for takes all memory
    check_operands(m, item);
    if (item->ref[1] <= most) return;
    tali_item_error(m, item, "capacity", ": 'capacity' is %d; at most %d is possible", item->ref[1],
                    most);
}

static const tali_attribute hold_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "what is sampled"},
    {"invalidates", TALI_TYPE_WORD, .initial = "position", .words = STAGES,
     .doc = "the lowest stage that uses it, later than time"},
    {"period", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[s]"},
    {"first", TALI_TYPE_REAL, 1, "0", .doc = "first sampling time [s]"},
    {"initial", TALI_TYPE_REALS, .initial = "", .doc = "values before the first sample; zeros"},
    {.name = NULL}};

static void build_hold(tali_model *m, tali_item *item)
{
    tal_hold_def def = tal_hold_def_default();
    def.name = item->name;
    def.operand = operand(m, item, 0);
    def.invalidates = (tal_stage)((int)TAL_STAGE_MODEL + item->ref[1]);
    def.period = item->p[0];
    def.t0 = item->p[1];
    def.initial = initial_of(m, item, def.operand);
    item->built = tal_measure_add_hold(m->system, owner(m), &def).i;
}

#define MEASURE(element, attributes, checker, builder, text)                                       \
    {                                                                                              \
        .name = (element), .kind = (element), .doc = (text), .shared = measure_attributes,         \
        .own = (attributes), .check = (checker), .build = (builder)                                \
    }

const tali_row tali_measure_rows[] = {
    MEASURE("constant", values_attributes, check_values, build_constant,
            "Numbers that never change."),
    MEASURE("time", NULL, NULL, build_time, "t."),
    MEASURE("variable", variable_attributes, check_values, build_variable,
            "Numbers that somebody sets in the State."),
    MEASURE("sinusoid", sinusoid_attributes, NULL, build_sinusoid, "a sin(w t + p)."),
    MEASURE("sum", two_attributes, check_operands, build_sum, "The sum of two measures."),
    MEASURE("difference", two_attributes, check_operands, build_difference,
            "The difference of two measures."),
    MEASURE("scale", scale_attributes, check_operands, build_scale, "A factor times a measure."),
    MEASURE("integrate", integrate_attributes, check_operands, build_integrate,
            "The time integral of a measure."),
    MEASURE("differentiate", of_attributes, check_operands, build_differentiate,
            "The time derivative of a measure."),
    MEASURE("extreme", extreme_attributes, check_operands, build_extreme,
            "The least or largest value so far."),
    MEASURE("delay", delay_attributes, check_delay, build_delay, "The value some time ago."),
    MEASURE("hold", hold_attributes, check_operands, build_hold,
            "The value at the last of regular times."),
    {.name = NULL}};
