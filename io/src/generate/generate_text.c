// Statements of C.
#include "generate/generate_function.h"

#include <talus/io/number.h>

#include <stdio.h>

// One function on its way.
typedef struct writing {
    tali_scene_bytes *out;
    const tali_generate_function *f;
    const tali_generate_style *style;
    const tali_generate_parts *parts;
} writing;

static void put(tali_scene_bytes *out, const char *text)
{
    tali_scene_put_text(out, text);
}

static void put_count(tali_scene_bytes *out, int n)
{
    char text[TALI_GENERATE_NAME];
    (void)snprintf(text, sizeof text, "%d", n);
    put(out, text);
}

// With a point, so that it is no integer.
static void put_constant(const writing *to, double value)
{
    char text[TAL_NUMBER_SIZE];
    (void)tal_number_write(value, text);
    put(to->out, text);
    if (strpbrk(text, ".en") == NULL) put(to->out, ".0");
    put(to->out, to->style->suffix);
}

static void put_product(const writing *to, int i);

static void put_operand(const writing *to, int i)
{
    const tali_graph *const g = &to->f->graph;
    const tali_graph_node *const node = &g->nodes[i];
    if (to->parts->part[i] >= 0) {
        put(to->out, "t");
        put_count(to->out, i);
    } else if (node->op == TALI_GRAPH_CONSTANT) {
        put_constant(to, node->constant);
    } else if (node->op == TALI_GRAPH_INPUT) {
        put(to->out, g->inputs[node->a].name);
        put(to->out, "[");
        put_count(to->out, node->b);
        put(to->out, "]");
    } else if (node->op == TALI_GRAPH_NEG) {
        put(to->out, "-");
        put_constant(to, g->nodes[node->a].constant);
    } else {
        put_product(to, i);
    }
}

static void put_binary(const writing *to, const tali_graph_node *node, const char *sign)
{
    put_operand(to, node->a);
    put(to->out, sign);
    put_operand(to, node->b);
}

static void put_product(const writing *to, int i)
{
    put_binary(to, &to->f->graph.nodes[i], " * ");
}

static void put_call(const writing *to, const char *name, int a)
{
    put(to->out, name);
    put(to->out, to->style->suffix);
    put(to->out, "(");
    put_operand(to, a);
    put(to->out, ")");
}

// The right side of a statement, by its operation.
static void put_expression(const writing *to, int i)
{
    const tali_graph_node *const node = &to->f->graph.nodes[i];
    switch (node->op) {
    case TALI_GRAPH_ADD:
        put_binary(to, node, " + ");
        return;
    case TALI_GRAPH_SUB:
        put_binary(to, node, " - ");
        return;
    case TALI_GRAPH_MUL:
        put_binary(to, node, " * ");
        return;
    case TALI_GRAPH_DIV:
        put_binary(to, node, " / ");
        return;
    case TALI_GRAPH_SIN:
        put_call(to, "sin", node->a);
        return;
    case TALI_GRAPH_COS:
        put_call(to, "cos", node->a);
        return;
    case TALI_GRAPH_SQRT:
        put_call(to, "sqrt", node->a);
        return;
    case TALI_GRAPH_NEG:
        put(to->out, "-"), put_operand(to, node->a);
        return;
    default:
        put_operand(to, i);
        return;
    }
}

static void put_const(const writing *to, int i)
{
    put(to->out, "    const ");
    put(to->out, to->style->type);
    put(to->out, " t");
    put_count(to->out, i);
    put(to->out, " = ");
}

// What a part needs of earlier ones, in the order of its use.
static void put_loads(const writing *to, int part)
{
    const tali_generate_parts *const parts = to->parts;
    for (int i = 0; i < to->f->graph.num; ++i) {
        int reads[4];
        if (parts->part[i] != part) continue;
        const int n = tali_generate_reads(&to->f->graph, parts, i, reads);
        for (int k = 0; k < n; ++k) {
            const int read = reads[k];
            if (parts->part[read] == part || parts->loaded[read] == part) continue;
            parts->loaded[read] = part;
            put_const(to, read);
            put(to->out, "s[");
            put_count(to->out, parts->slot[read]);
            put(to->out, "];\n");
        }
    }
}

static void put_statements(const writing *to, int part)
{
    for (int i = 0; i < to->f->graph.num; ++i) {
        if (to->parts->part[i] != part) continue;
        put_const(to, i);
        put_expression(to, i);
        put(to->out, ";\n");
    }
}

static void put_store(const writing *to, const char *array, int at, int node)
{
    put(to->out, "    ");
    put(to->out, array);
    put(to->out, "[");
    put_count(to->out, at);
    put(to->out, "] = ");
    put_operand(to, node);
    put(to->out, ";\n");
}

// Does a part fill entries of an output? What needs no statement is filled by the last part.
static bool is_filled_by(const writing *to, int result, int part)
{
    const int own = to->parts->part[to->f->graph.results[result]];
    return own < 0 ? part == to->parts->num_parts - 1 : own == part;
}

static void put_stores(const writing *to, int part)
{
    const tali_graph *const g = &to->f->graph;
    for (int i = 0; i < g->num; ++i) {
        const bool is_own = to->parts->part[i] == part && to->parts->slot[i] >= 0;
        if (is_own) put_store(to, "s", to->parts->slot[i], i);
    }
    int result = 0;
    for (int a = 0; a < g->num_outputs; ++a) {
        for (int i = 0; i < g->outputs[a].size; ++i, ++result) {
            if (!is_filled_by(to, result, part)) continue;
            put_store(to, g->outputs[a].name, i, g->results[result]);
        }
    }
}

// ---- heads --------------------------------------------------------------------------------------

static bool node_reads(const writing *to, int i, int array)
{
    const tali_graph_node *const node = &to->f->graph.nodes[i];
    if (node->op == TALI_GRAPH_INPUT) return node->a == array;
    if (node->op == TALI_GRAPH_CONSTANT || to->parts->part[i] >= 0) return false;
    if (node->op == TALI_GRAPH_NEG) return false;
    return node_reads(to, node->a, array) || node_reads(to, node->b, array);
}

// Does a part, or for -1 any, read an array that the function is given?
static bool reads_input(const writing *to, int part, int array)
{
    const tali_graph *const g = &to->f->graph;
    for (int i = 0; i < g->num; ++i) {
        const int own = to->parts->part[i];
        const tali_graph_node *const node = &g->nodes[i];
        if (own < 0 || (part >= 0 && own != part)) continue;
        if (node_reads(to, node->a, array)) return true;
        if (node->op <= TALI_GRAPH_DIV && node_reads(to, node->b, array)) return true;
    }
    for (int r = 0; r < g->num_results; ++r) {
        const bool is_own = part < 0 || is_filled_by(to, r, part);
        if (is_own && to->parts->part[g->results[r]] < 0 && node_reads(to, g->results[r], array)) {
            return true;
        }
    }
    return false;
}

static bool fills_output(const writing *to, int part, int array)
{
    const tali_graph *const g = &to->f->graph;
    int result = 0;
    for (int a = 0; a < array; ++a) {
        result += g->outputs[a].size;
    }
    for (int i = 0; i < g->outputs[array].size; ++i) {
        if (is_filled_by(to, result + i, part)) return true;
    }
    return false;
}

static void put_parameter(tali_scene_bytes *out, bool *is_first, const char *begin,
                          const char *type, const char *name, const char *end)
{
    if (!*is_first) put(out, ", ");
    *is_first = false;
    put(out, begin);
    put(out, type);
    put(out, name);
    put(out, end);
}

// The arguments of a part: only what it uses. As a call, or as parameters with their type.
static void put_part_arguments(const writing *to, int part, const char *type)
{
    const tali_graph *const g = &to->f->graph;
    const char *const end = type[0] != 0 ? "[]" : "";
    bool is_first = true;
    put(to->out, "(");
    for (int a = 0; a < g->num_inputs; ++a) {
        if (!reads_input(to, part, a)) continue;
        put_parameter(to->out, &is_first, type[0] != 0 ? "const " : "", type, g->inputs[a].name,
                      end);
    }
    if (to->parts->num_slots > 0) put_parameter(to->out, &is_first, "", type, "s", end);
    for (int a = 0; a < g->num_outputs; ++a) {
        if (!fills_output(to, part, a)) continue;
        put_parameter(to->out, &is_first, "", type, g->outputs[a].name, end);
    }
    put(to->out, ")");
}

static void put_part_name(const writing *to, int part)
{
    put(to->out, to->f->name);
    put(to->out, "_");
    put_count(to->out, part + 1);
}

static void put_part_head(const writing *to, int part)
{
    char type[16];
    (void)snprintf(type, sizeof type, "%s ", to->style->type);
    put(to->out, "void ");
    put_part_name(to, part);
    put_part_arguments(to, part, type);
}

static void put_body(const writing *to, int part)
{
    put_loads(to, part);
    put_statements(to, part);
    put_stores(to, part);
}

void tali_generate_put_prototype(tali_scene_bytes *out, const tali_generate_function *f,
                                 const tali_generate_style *style)
{
    const tali_graph *const g = &f->graph;
    char type[16];
    (void)snprintf(type, sizeof type, "%s ", style->type);
    bool is_first = true;
    put(out, "void ");
    put(out, f->name);
    put(out, "(");
    for (int a = 0; a < g->num_inputs; ++a) {
        put_parameter(out, &is_first, "const ", type, g->inputs[a].name, "[]");
    }
    for (int a = 0; a < g->num_outputs; ++a) {
        put_parameter(out, &is_first, "", type, g->outputs[a].name, "[]");
    }
    put(out, ")");
}

static void put_calls(const writing *to)
{
    if (to->parts->num_slots > 0) {
        put(to->out, "    ");
        put(to->out, to->style->type);
        put(to->out, " s[");
        put_count(to->out, to->parts->num_slots);
        put(to->out, "];\n");
    }
    for (int part = 0; part < to->parts->num_parts; ++part) {
        put(to->out, "    ");
        put_part_name(to, part);
        put_part_arguments(to, part, "");
        put(to->out, ";\n");
    }
}

static void put_unused(tali_scene_bytes *out, const char *name)
{
    put(out, "    (void)");
    put(out, name);
    put(out, ";\n");
}

// Parts are not static: a compiler would put functions that are called once together again.
void tali_generate_put_function(tali_scene_bytes *out, const tali_generate_function *f,
                                const tali_generate_style *style)
{
    tali_generate_parts parts;
    if (!tali_generate_cut(&f->graph, style->max_statements, &parts)) {
        out->failed = true;
        return;
    }
    const writing to = {.out = out, .f = f, .style = style, .parts = &parts};
    for (int part = 0; part < parts.num_parts && parts.num_parts > 1; ++part) {
        put_part_head(&to, part);
        put(out, ";\n");
        put_part_head(&to, part);
        put(out, "\n{\n");
        put_body(&to, part);
        put(out, "}\n\n");
    }
    tali_generate_put_prototype(out, f, style);
    put(out, "\n{\n");
    for (int a = 0; a < f->graph.num_inputs; ++a) {
        if (!reads_input(&to, -1, a)) put_unused(out, f->graph.inputs[a].name);
    }
    for (int a = 0; a < f->graph.num_outputs; ++a) {
        if (f->graph.outputs[a].size == 0) put_unused(out, f->graph.outputs[a].name);
    }
    if (parts.num_parts > 1) {
        put_calls(&to);
    } else {
        put_body(&to, 0);
    }
    put(out, "}\n");
    tali_generate_parts_free(&parts);
}
