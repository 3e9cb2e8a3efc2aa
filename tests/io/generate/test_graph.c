// io/src/generate/graph*.c: expressions that are equal are one, and what costs nothing is not
// computed.
#include "generate/graph_internal.h"
#include "talus_test.h"

#include <math.h>

static int binary(tali_graph *g, tali_graph_op op, int a, int b)
{
    return tali_graph_make(g, op, a, b);
}

#define ADD TALI_GRAPH_ADD
#define SUB TALI_GRAPH_SUB
#define MUL TALI_GRAPH_MUL
#define DIV TALI_GRAPH_DIV
#define NEG TALI_GRAPH_NEG

typedef struct fixture {
    tali_graph g;
    int x, y, z;
} fixture;

static fixture begin(void)
{
    const tal_allocator heap = tal_allocator_default();
    fixture f;
    tali_graph_begin(&f.g, &heap);
    const int in = tali_graph_add_inputs(&f.g, "v", 3);
    f.x = tali_graph_input(&f.g, in, 0);
    f.y = tali_graph_input(&f.g, in, 1);
    f.z = tali_graph_input(&f.g, in, 2);
    return f;
}

static int operations(tali_graph *g)
{
    const tali_graph_count n = tali_graph_count_of(g);
    return n.mul + n.add + n.div + n.sqrt + n.sin + n.cos;
}

START_TEST(rules_are_applied_as_nodes_are_made)
{
    fixture f = begin();
    tali_graph *const g = &f.g;
    const int x = f.x, y = f.y, zero = TALI_GRAPH_ZERO, one = TALI_GRAPH_ONE;
    const int minus_x = binary(g, NEG, x, 0), xy = binary(g, MUL, x, y);

    ck_assert_int_eq(binary(g, MUL, x, zero), zero);
    ck_assert_int_eq(binary(g, MUL, one, x), x);
    ck_assert_int_eq(binary(g, ADD, zero, x), x);
    ck_assert_int_eq(binary(g, SUB, x, x), zero);
    ck_assert_int_eq(binary(g, ADD, x, y), binary(g, ADD, y, x));
    ck_assert_int_eq(binary(g, MUL, y, x), xy);
    ck_assert_int_eq(binary(g, NEG, minus_x, 0), x);
    ck_assert_int_eq(binary(g, MUL, minus_x, y), binary(g, NEG, xy, 0));
    ck_assert_int_eq(binary(g, MUL, minus_x, binary(g, NEG, y, 0)), xy);
    ck_assert_int_eq(binary(g, ADD, minus_x, y), binary(g, SUB, y, x));
    ck_assert_int_eq(binary(g, SUB, x, y), binary(g, NEG, binary(g, SUB, y, x), 0));
    ck_assert_int_eq(binary(g, ADD, binary(g, SUB, x, y), y), x);
    ck_assert_int_eq(binary(g, SUB, binary(g, ADD, x, y), y), x);
    ck_assert_int_eq(binary(g, SUB, x, binary(g, SUB, x, y)), y);
    ck_assert_int_eq(binary(g, DIV, x, one), x);
    ck_assert_int_eq(tali_graph_make(g, TALI_GRAPH_COS, minus_x, 0),
                     tali_graph_make(g, TALI_GRAPH_COS, x, 0));
    tali_graph_end(g);
}

END_TEST

START_TEST(constants_meet_in_front_of_products)
{
    fixture f = begin();
    tali_graph *const g = &f.g;
    const int two = tali_graph_constant(g, 2.0), three = tali_graph_constant(g, 3.0);
    const int six = tali_graph_constant(g, 6.0), minus_three = tali_graph_constant(g, -3.0);

    ck_assert_int_eq(binary(g, MUL, two, three), six);
    ck_assert_int_eq(binary(g, MUL, binary(g, MUL, two, f.x), binary(g, MUL, three, f.y)),
                     binary(g, MUL, six, binary(g, MUL, f.x, f.y)));
    ck_assert_int_eq(binary(g, MUL, minus_three, f.x),
                     binary(g, NEG, binary(g, MUL, three, f.x), 0));
    ck_assert_int_eq(binary(g, ADD, three, minus_three), TALI_GRAPH_ZERO);
    tali_graph_end(g);
}

END_TEST

// tau = (v x I v) . s, with I = diag(1.5, 1.6, 1.7) and s = z: 29 operations as vectors. The best
// there is, 0.1 v1 v2, has 2 (RBDA tab. 10.3).
START_TEST(the_example_of_RBDA_has_two_operations)
{
    for (int simplifies = 0; simplifies < 2; ++simplifies) {
        fixture f = begin();
        tali_graph *const g = &f.g;
        const int v[3] = {f.x, f.y, f.z}, s[3] = {0, 0, TALI_GRAPH_ONE};
        int Iv[3], tau = TALI_GRAPH_ZERO;
        for (int i = 0; i < 3; ++i) {
            Iv[i] = binary(g, MUL, tali_graph_constant(g, 1.5 + 0.1 * i), v[i]);
        }
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const int p = binary(g, SUB, binary(g, MUL, v[j], Iv[k]), binary(g, MUL, v[k], Iv[j]));
            tau = binary(g, ADD, tau, binary(g, MUL, p, s[i]));
        }
        tali_graph_add_outputs(g, "tau", &tau, 1);
        if (simplifies == 1) tali_graph_simplify(g);
        ck_assert_int_eq(operations(g), simplifies == 1 ? 2 : 4);
        const double in[3] = {2.0, 3.0, 5.0};
        const double *const inputs[1] = {in};
        double out = 0.0, work[64];
        ck_assert_int_le(g->num, 64);
        tali_graph_evaluate(g, inputs, &out, work);
        ck_assert_double_eq_tol(out, 0.6, 1e-15 * 10.0);
        tali_graph_end(g);
    }
}

END_TEST

START_TEST(factors_are_found_only_where_they_save_something)
{
    fixture f = begin();
    tali_graph *const g = &f.g;
    const int xy = binary(g, MUL, f.x, f.y), xz = binary(g, MUL, f.x, f.z);
    const int shared[2] = {binary(g, ADD, xy, xz), xy};
    tali_graph_add_outputs(g, "out", shared, 2);
    tali_graph_simplify(g);
    ck_assert_int_eq(operations(g), 3); // x y is needed anyway
    tali_graph_end(g);
}

END_TEST

// d/dx of sqrt(x y) sin(x) / (cos(y) - x), with z held.
START_TEST(derivatives_are_those_of_calculus)
{
    fixture f = begin();
    tali_graph *const g = &f.g;
    const int root = tali_graph_make(g, TALI_GRAPH_SQRT, binary(g, MUL, f.x, f.y), 0);
    const int above = binary(g, MUL, root, tali_graph_make(g, TALI_GRAPH_SIN, f.x, 0));
    const int below = binary(g, SUB, tali_graph_make(g, TALI_GRAPH_COS, f.y, 0), f.x);
    const int held = tali_graph_make(g, TALI_GRAPH_HOLD, above, 0);
    const int nodes[2] = {binary(g, DIV, above, below), held};
    int rates[64] = {0}, out[2];
    rates[f.x] = TALI_GRAPH_ONE;
    ck_assert_int_le(g->num, 64);
    tali_graph_differentiate(g, nodes, 2, rates, g->num, out);
    ck_assert_int_eq(out[1], TALI_GRAPH_ZERO);
    tali_graph_add_outputs(g, "d", out, 1);
    tali_graph_simplify(g);

    const double x = 0.7, y = 0.4, in[3] = {x, y, 0.0};
    const double *const inputs[1] = {in};
    double d = 0.0, work[128];
    ck_assert_int_le(g->num, 128);
    tali_graph_evaluate(g, inputs, &d, work);
    const double r = sqrt(x * y), b = cos(y) - x;
    const double expected = (0.5 * y / r * sin(x) + r * cos(x)) / b + r * sin(x) / (b * b);
    ck_assert_double_eq_tol(d, expected, 1e-14 * fabs(expected));
    tali_graph_end(g);
}

END_TEST

// Every request fails once, those that only count operations among them: these are told by the
// graph too, and never taken for none.
START_TEST(memory_that_runs_out_is_noticed)
{
    bool is_done = false;
    for (int at = 1; !is_done; ++at) {
        test_heap heap = {.refuse_at = at};
        const tal_allocator allocator = test_heap_allocator(&heap);
        tali_graph g;
        tali_graph_begin(&g, &allocator);
        const int in = tali_graph_add_inputs(&g, "v", 200);
        int sum = TALI_GRAPH_ZERO;
        for (int i = 0; i < 200; ++i) {
            sum = binary(&g, ADD, sum, tali_graph_input(&g, in, i));
        }
        tali_graph_add_outputs(&g, "sum", &sum, 1);
        tali_graph_simplify(&g);
        ck_assert(g.no_memory || heap.calls < at);
        const int n = operations(&g);
        is_done = heap.calls < at;
        ck_assert_int_eq(g.no_memory, !is_done);
        if (is_done) ck_assert_int_eq(n, 199);
        tali_graph_end(&g);
        ck_assert_int_eq(heap.live, 0);
    }
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("graph");
    TCase *const theory = tcase_create("theory");
    tcase_add_test(theory, rules_are_applied_as_nodes_are_made);
    tcase_add_test(theory, constants_meet_in_front_of_products);
    tcase_add_test(theory, the_example_of_RBDA_has_two_operations);
    tcase_add_test(theory, factors_are_found_only_where_they_save_something);
    tcase_add_test(theory, derivatives_are_those_of_calculus);
    tcase_add_test(theory, memory_that_runs_out_is_noticed);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
