// Arithmetic as a graph: each expression is a node, and equal expressions are one node.
//
// Nodes are made operands first, so the order of nodes is an order of evaluation. Rules that cost
// nothing are applied as a node is made: constants are folded, x 0, x 1, x + 0, x - x and
// (x - y) + y are recognized, negation moves outward until a sum absorbs it, constants move to the
// front of products. tali_graph_simplify() does what needs the whole graph.
#ifndef TALUS_GRAPH_INTERNAL_H
#define TALUS_GRAPH_INTERNAL_H

#include "names_internal.h"

#include <talus/common/status.h>

#include <stddef.h>

/// What a node does with its operands.
typedef enum tali_graph_op {
    TALI_GRAPH_CONSTANT,
    TALI_GRAPH_INPUT, ///< a: which array, b: which of its entries
    TALI_GRAPH_ADD,
    TALI_GRAPH_SUB,
    TALI_GRAPH_MUL,
    TALI_GRAPH_DIV,
    TALI_GRAPH_NEG,
    TALI_GRAPH_SIN,
    TALI_GRAPH_COS,
    TALI_GRAPH_SQRT,
    TALI_GRAPH_HOLD ///< the operand, as a constant for derivatives
} tali_graph_op;

typedef struct tali_graph_node {
    tali_graph_op op;
    int a, b;        ///< operands; b is 0 where there is one
    double constant; ///< not negative
} tali_graph_node;

/// An array that a function takes or fills.
typedef struct tali_graph_array {
    const char *name;
    int size;
} tali_graph_array;

enum {
    TALI_GRAPH_MAX_INPUTS = 4,
    TALI_GRAPH_MAX_OUTPUTS = 4
};

/// A function under construction. Begin with tali_graph_begin(), end with tali_graph_end().
typedef struct tali_graph {
    tal_allocator allocator;
    bool no_memory; ///< memory ran out: all nodes made since are 0
    tali_graph_node *nodes;
    int num, capacity;
    tali_names index;
    tali_graph_array inputs[TALI_GRAPH_MAX_INPUTS];
    int num_inputs;
    tali_graph_array outputs[TALI_GRAPH_MAX_OUTPUTS];
    int num_outputs;
    int *results; ///< the nodes of all entries of all outputs
    int num_results, results_capacity;
} tali_graph;

/// What a function costs. A negation that no sum absorbs counts as an addition.
typedef struct tali_graph_count {
    int mul, add, div, sqrt, sin, cos;
} tali_graph_count;

enum {
    TALI_GRAPH_ZERO = 0, ///< the node of the constant 0
    TALI_GRAPH_ONE = 1
};

void tali_graph_begin(tali_graph *g, const tal_allocator *allocator);
void tali_graph_end(tali_graph *g);

/// Entries of an array of numbers that the function is given: the node of entry i is that of
/// tali_graph_input(g, array, i). Returns the array. `name` is borrowed.
int tali_graph_add_inputs(tali_graph *g, const char *name, int size);
int tali_graph_input(tali_graph *g, int array, int i);

/// An array that the function fills, with the nodes of its entries.
void tali_graph_add_outputs(tali_graph *g, const char *name, const int entries[], int size);

int tali_graph_constant(tali_graph *g, double value);
/// A node by its operation; `b` is 0 for one operand.
int tali_graph_make(tali_graph *g, tali_graph_op op, int a, int b);

/// The derivatives of `n` nodes while inputs change as `rates` says: [num] nodes of the graph as it
/// was when it had `num` nodes; 0 where a node does not change. Those of inputs are given.
/// @param[in]     nodes  [n]
/// @param[in,out] rates  [num]
/// @param[out]    out    [n]
void tali_graph_differentiate(tali_graph *g, const int nodes[], int n, int rates[], int num,
                              int out[]);

/// Remove what no output needs, and put common factors of sums outside, until nothing changes.
void tali_graph_simplify(tali_graph *g);

/// The same without looking for factors.
void tali_graph_prune(tali_graph *g);

/// Operations that the results need; zeros, and the graph knows, when memory runs out.
tali_graph_count tali_graph_count_of(tali_graph *g);

/// How many times each node is used, by others and as a result; 0: not needed.
/// @param[out] uses  [num]
void tali_graph_uses(const tali_graph *g, int uses[]);

/// What the function gives: outputs one after the other.
/// @param[in]  inputs   [num_inputs] arrays
/// @param[out] results  [num_results]
/// @param      work     [num]
void tali_graph_evaluate(const tali_graph *g, const double *const inputs[], double results[],
                         double work[]);

#endif // TALUS_GRAPH_INTERNAL_H
