// Formulas as texts: parsing them to nodes, evaluating these with their derivatives.
#include "alloc_internal.h"
#include "error_internal.h"
#include "function_facts_internal.h"

#include "text/expression_internal.h"
#include "text/text_internal.h"

#include <talus/io/number.h>

#include <stdio.h>
#include <string.h>

enum {
    MAX_NODES = TALI_EXPRESSION_MAX_NODES,
    MAX_PENDING = 64, // operators and brackets that wait for an operand
    MAX_NAMES = 32,   // defined in one text
    MAX_ORDER = 2
};

// A number, an argument, or an operation on nodes before it.
typedef struct node {
    const tali_expression_operation *operation; // NULL: a number or an argument
    int from[3];
    int argument; // -1: a number
    double number;
} node;

typedef struct expression {
    tal_allocator allocator;
    size_t size;
    int num_nodes, root;
    const char *text, *arguments; // in this block
    node nodes[];                 // [num_nodes]
} expression;

// --- evaluation ---

// A value with its derivatives by two arguments, and by both.
typedef struct dual {
    double v, i, j, ij;
} dual;

// An infinite slope does not matter for what does not change.
static double times(double slope, double change)
{
    return change == 0.0 ? 0.0 : slope * change;
}

// The chain rule: d f(x, y) and d2 f(x, y).
static dual chain(const tali_expression_operation *f, const dual *x, const dual *y, int order)
{
    const tali_expression_partials p = f->calc(x->v, y->v, order);
    dual out = {.v = p.v};
    if (order == 0) return out;
    out.i = times(p.x, x->i) + times(p.y, y->i);
    if (order == 1) return out;
    out.j = times(p.x, x->j) + times(p.y, y->j);
    out.ij = times(p.x, x->ij) + times(p.y, y->ij) + times(p.xx, x->i * x->j) +
             times(p.xy, x->i * y->j + x->j * y->i) + times(p.yy, y->i * y->j);
    return out;
}

static dual evaluate_node(const node *it, const dual before[], const double x[], const int wrt[],
                          int order)
{
    if (it->operation != NULL) {
        const dual *a = &before[it->from[0]];
        if (it->operation->num_args == 3) return before[it->from[a->v != 0.0 ? 1 : 2]];
        return chain(it->operation, a, &before[it->from[1]], order);
    }
    if (it->argument < 0) return (dual){.v = it->number};
    return (dual){.v = x[it->argument],
                  .i = order > 0 && wrt[0] == it->argument ? 1.0 : 0.0,
                  .j = order > 1 && wrt[1] == it->argument ? 1.0 : 0.0};
}

static dual evaluate(const expression *f, const double x[], const int wrt[], int order)
{
    dual values[MAX_NODES];
    for (int k = 0; k < f->num_nodes; ++k) {
        values[k] = evaluate_node(&f->nodes[k], values, x, wrt, order);
    }
    return values[f->root]; // cppcheck-suppress uninitvar ; a formula has a node at least
}

static double calc_value(const void *self, const double x[], int n)
{
    (void)n;
    return evaluate(self, x, NULL, 0).v;
}

static double calc_derivative(const void *self, const double x[], int n, const int wrt[], int order)
{
    (void)n;
    const dual at = evaluate(self, x, wrt, order);
    return order == 1 ? at.i : at.ij;
}

static void destroy(void *self)
{
    expression *f = self;
    const tal_allocator allocator = f->allocator;
    tali_free(&allocator, f, f->size);
}

static const tal_function_ops expression_ops = {
    .size = sizeof expression_ops,
    .name = "expression",
    .calc_value = calc_value,
    .calc_derivative = calc_derivative,
    .destroy = destroy,
};

// --- the parser ---

// What waits for an operand: an operator, a bracket, or a function with its bracket.
typedef struct pending {
    const tali_expression_operation *operation; // NULL: a bracket
    const char *at;
    int precedence; // 0: a bracket
    int num_args;   // of a function, so far
} pending;

typedef struct name {
    const char *at;
    size_t length;
    int node;
} name;

typedef struct parser {
    const char *text, *end; // the whole, and the end of the part that is parsed
    const char *at;
    const char *arguments;
    tal_error *err;
    node nodes[MAX_NODES];
    pending stack[MAX_PENDING];
    int operands[3 * MAX_PENDING];
    name names[MAX_NAMES];
    int num_nodes, num_pending, num_operands, num_names;
} parser;

// A failure at a place in the text. Never TAL_OK.
static tal_status fail(parser *p, const char *at, const char *what)
{
    int line = 1, column = 1;
    for (const char *c = p->text; c < at; ++c) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n' ? 1 : 0;
    }
    int shown = 0;
    while (shown < 20 && at[shown] != '\0' && !tali_text_is_blank(at[shown])) {
        ++shown;
    }
    return TALI_FAIL(p->err, TAL_ERR_BAD_VALUE, "line %d, column %d of its formula, '%.*s': %s",
                     line, column, shown, at, what);
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && tali_text_is_blank(*p->at)) {
        ++p->at;
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t length_of_name(const parser *p, const char *at)
{
    const char *c = at;
    while (c < p->end && (is_letter(*c) || (c > at && is_digit(*c)))) {
        ++c;
    }
    return (size_t)(c - at);
}

static tal_status push_node(parser *p, const char *at, node it)
{
    if (p->num_nodes == MAX_NODES) return fail(p, at, "the formula is too long");
    if (p->num_operands == 3 * MAX_PENDING) return fail(p, at, "it is nested too deeply");
    p->operands[p->num_operands++] = p->num_nodes;
    p->nodes[p->num_nodes++] = it;
    return TAL_OK;
}

static tal_status push_pending(parser *p, const tali_expression_operation *operation,
                               const char *at, int precedence)
{
    if (p->num_pending == MAX_PENDING) return fail(p, at, "it is nested too deeply");
    p->stack[p->num_pending++] = (pending){operation, at, precedence, 1};
    return TAL_OK;
}

// The last operands become one.
static tal_status apply(parser *p, const pending *it)
{
    node made = {.operation = it->operation, .argument = -1};
    p->num_operands -= it->operation->num_args;
    for (int k = 0; k < it->operation->num_args; ++k) {
        made.from[k] = p->operands[p->num_operands + k];
    }
    if (it->operation->num_args == 1) made.from[1] = made.from[0]; // not used
    return push_node(p, it->at, made);
}

// Apply what binds at least as strongly, up to the last open bracket.
static tal_status reduce(parser *p, int precedence)
{
    tal_status st = TAL_OK;
    while (st == TAL_OK && p->num_pending > 0 &&
           p->stack[p->num_pending - 1].precedence >= precedence) {
        p->num_pending -= 1;
        st = apply(p, &p->stack[p->num_pending]);
    }
    return st;
}

enum {
    OF_SUM = 1,
    OF_PRODUCT = 2,
    OF_MINUS = 3,
    OF_POWER = 4
};

// --- operands ---

// The number of an argument in the list of their names; -1: none.
static int find_argument(const char *list, const char *at, size_t length)
{
    int number = 0;
    for (const char *word = list; *word != '\0'; ++number) {
        const size_t n = strcspn(word, " ");
        if (n == length && memcmp(word, at, n) == 0) return number;
        word += n + strspn(word + n, " ");
    }
    return -1;
}

static tal_status read_variable(parser *p, size_t length)
{
    const char *at = p->at;
    p->at += length;
    for (int i = 0; i < p->num_names; ++i) {
        const name *it = &p->names[i];
        if (it->length != length || memcmp(it->at, at, length) != 0) continue;
        if (p->num_operands == 3 * MAX_PENDING) return fail(p, at, "it is nested too deeply");
        p->operands[p->num_operands++] = it->node;
        return TAL_OK;
    }
    const int argument = find_argument(p->arguments, at, length);
    if (argument >= 0) return push_node(p, at, (node){.argument = argument});
    char what[200];
    (void)snprintf(what, sizeof what,
                   "no such name; it may have %.100s, and names after semicolons", p->arguments);
    return fail(p, at, what);
}

static tal_status read_function(parser *p, size_t length, const char *bracket)
{
    const tali_expression_operation *f = tali_expression_find(p->at, length);
    if (f == NULL) return fail(p, p->at, "there is no such function");
    const char *at = p->at;
    p->at = bracket + 1;
    return push_pending(p, f, at, 0);
}

static tal_status read_number(parser *p)
{
    double value = 0.0;
    const char *end = tal_number_read(p->at, p->end, &value);
    if (end == NULL) return fail(p, p->at, "this is not a number");
    const char *at = p->at;
    p->at = end;
    return push_node(p, at, (node){.argument = -1, .number = value});
}

// A number, a name, or what comes before one: a minus sign, a bracket, a function.
static tal_status read_operand(parser *p, bool *complete)
{
    *complete = true;
    char c = '\0';
    if (p->at < p->end) c = *p->at;
    if (is_digit(c) || c == '.') return read_number(p);
    const size_t length = length_of_name(p, p->at);
    if (length > 0) {
        const char *next = p->at + length;
        while (next < p->end && tali_text_is_blank(*next)) {
            ++next;
        }
        *complete = next == p->end || *next != '(';
        return *complete ? read_variable(p, length) : read_function(p, length, next);
    }
    *complete = false;
    if (c != '-' && c != '(') return fail(p, p->at, "a number or a name is missing here");
    p->at += 1;
    return c == '-' ? push_pending(p, tali_expression_operator('~'), p->at - 1, OF_MINUS)
                    : push_pending(p, NULL, p->at - 1, 0);
}

// --- operators ---

static tal_status close_bracket(parser *p)
{
    tal_status st = reduce(p, OF_SUM);
    if (st != TAL_OK) return st;
    if (p->num_pending == 0) return fail(p, p->at, "there is no '(' for it");
    const pending it = p->stack[--p->num_pending];
    if (it.operation != NULL && it.num_args != it.operation->num_args) {
        return fail(p, it.at,
                    it.operation->num_args == 1   ? "it takes one argument"
                    : it.operation->num_args == 2 ? "it takes two arguments"
                                                  : "it takes three arguments");
    }
    p->at += 1;
    return it.operation != NULL ? apply(p, &it) : TAL_OK;
}

static tal_status next_argument(parser *p)
{
    tal_status st = reduce(p, OF_SUM);
    if (st != TAL_OK) return st;
    pending *it = p->num_pending > 0 ? &p->stack[p->num_pending - 1] : NULL;
    if (it == NULL || it->operation == NULL) return fail(p, p->at, "a comma outside a function");
    if (it->num_args == it->operation->num_args) return fail(p, p->at, "one argument too many");
    it->num_args += 1;
    p->at += 1;
    return TAL_OK;
}

// An operator, after which an operand comes; a comma, too; or a closing bracket.
static tal_status read_operator(parser *p, bool *wants_operand)
{
    const char c = *p->at;
    *wants_operand = c != ')';
    if (c == ')') return close_bracket(p);
    if (c == ',') return next_argument(p);
    const int precedence = c == '+' || c == '-'   ? OF_SUM
                           : c == '*' || c == '/' ? OF_PRODUCT
                           : c == '^'             ? OF_POWER
                                                  : 0;
    if (precedence == 0) return fail(p, p->at, "an operator is missing here");
    const tal_status st = reduce(p, c == '^' ? OF_POWER + 1 : precedence); // ^ from the right
    p->at += 1;
    return st == TAL_OK ? push_pending(p, tali_expression_operator(c), p->at - 1, precedence) : st;
}

// One formula, from `at` to `end`.
static tal_status parse_formula(parser *p, int *root)
{
    tal_status st = TAL_OK;
    bool wants_operand = true, complete = false;
    p->num_pending = p->num_operands = 0;
    for (skip_blanks(p); st == TAL_OK && (wants_operand || p->at < p->end); skip_blanks(p)) {
        if (wants_operand) {
            st = read_operand(p, &complete);
            wants_operand = !complete;
        } else {
            st = read_operator(p, &wants_operand);
        }
    }
    if (st == TAL_OK) st = reduce(p, OF_SUM);
    if (st != TAL_OK) return st;
    if (p->num_pending > 0) {
        return fail(p, p->stack[p->num_pending - 1].at, "there is no ')' for it");
    }
    *root = p->operands[0];
    return TAL_OK;
}

// "name = formula", from `from` to `to`.
static tal_status parse_definition(parser *p, const char *from, const char *to)
{
    p->at = from;
    p->end = to;
    skip_blanks(p);
    if (p->at == to) return TAL_OK; // nothing behind the last semicolon
    const char *at = p->at;
    const size_t length = length_of_name(p, at);
    p->at += length;
    skip_blanks(p);
    if (length == 0 || p->at == to || *p->at != '=') {
        return fail(p, at, "after a semicolon comes a name, '=' and a formula");
    }
    if (p->num_names == MAX_NAMES) return fail(p, at, "too many names are defined");
    p->at += 1;
    int root = 0;
    const tal_status st = parse_formula(p, &root);
    p->names[p->num_names++] = (name){at, length, root};
    return st;
}

// Definitions from the last to the first, as one may use those behind it; then the formula.
static tal_status parse(parser *p, int *root)
{
    const char *to = p->text + strlen(p->text);
    tal_status st = TAL_OK;
    for (const char *c = to; st == TAL_OK && c > p->text;) {
        --c;
        if (*c != ';') continue;
        st = parse_definition(p, c + 1, to);
        to = c;
    }
    p->at = p->text;
    p->end = to;
    return st == TAL_OK ? parse_formula(p, root) : st;
}

// --- creation ---

static expression *keep(const parser *p, const tal_allocator *allocator, int root)
{
    const size_t nodes = (size_t)p->num_nodes * sizeof(node);
    const size_t text = strlen(p->text) + 1, arguments = strlen(p->arguments) + 1;
    const size_t size = sizeof(expression) + nodes + text + arguments;
    expression *f = tali_alloc(allocator, size);
    if (f == NULL) return NULL;
    char *texts = (char *)f + sizeof *f + nodes;
    *f = (expression){.allocator = *allocator,
                      .size = size,
                      .num_nodes = p->num_nodes,
                      .root = root,
                      .text = texts,
                      .arguments = texts + text};
    memcpy(f->nodes, p->nodes, nodes);
    memcpy(texts, p->text, text);
    memcpy(texts + text, p->arguments, arguments);
    return f;
}

static int count_words(const char *list)
{
    int count = 0;
    for (const char *at = list + strspn(list, " "); *at != '\0'; ++count) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return count;
}

tal_status tali_expression_create(const tal_allocator *allocator, const char *text,
                                  const char *arguments, tal_function **out, tal_error *err)
{
    *out = NULL;
    tal_allocator own;
    tal_status st = tali_alloc_choose(allocator, &own, __func__);
    if (st != TAL_OK) return st;
    parser *p = tali_alloc(&own, sizeof *p);
    if (p == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
    *p = (parser){.text = text, .arguments = arguments, .err = err};
    int root = 0;
    st = parse(p, &root);
    expression *f = st == TAL_OK ? keep(p, &own, root) : NULL;
    tali_free(&own, p, sizeof *p);
    if (st != TAL_OK) return st;
    if (f == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
    tal_function_def def = tal_function_def_default();
    def.ops = &expression_ops;
    def.self = f;
    def.num_args = count_words(arguments);
    def.max_order = MAX_ORDER;
    st = tal_function_create(&own, &def, out, err);
    if (st != TAL_OK) destroy(f);
    return st;
}

const char *tali_expression_text(const tal_function *f, const char **arguments)
{
    const void *self = NULL;
    if (tali_function_ops_of(f, &self)->calc_value != calc_value) return NULL;
    const expression *it = self;
    if (arguments != NULL) *arguments = it->arguments;
    return it->text;
}
