// io/src/generate/generate_turn.c: matrices across steps with the operation counts of RBDA sec. A.4
// and A.5 (entries A.06 to A.08 of its inventory), and the values of dense products.
#include "generate/generate_internal.h"
#include "talus_test.h"

#include <math.h>

// A graph with one array of inputs, numbered as they are taken.
typedef struct fixture {
    tali_graph g;
    int array, next;
    double values[64];
    test_rng rng;
} fixture;

static void begin(fixture *f, uint64_t seed)
{
    const tal_allocator heap = tal_allocator_default();
    tali_graph_begin(&f->g, &heap);
    f->array = tali_graph_add_inputs(&f->g, "v", 64);
    f->next = 0;
    f->rng = test_rng_seed(seed);
}

static int input(fixture *f, double value)
{
    f->values[f->next] = value;
    return tali_graph_input(&f->g, f->array, f->next++);
}

static int any(fixture *f)
{
    return input(f, test_random_uniform(&f->rng, -1.0, 1.0));
}

static tali_generate_m3 any_matrix(fixture *f, bool is_symmetric)
{
    tali_generate_m3 A;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            A.at[i][j] = is_symmetric && j < i ? A.at[j][i] : any(f);
        }
    }
    return A;
}

static tali_generate_m3 rotation(fixture *f)
{
    const tal_mat3 R = test_random_rotation(&f->rng);
    const tal_vec3 columns[3] = {R.x, R.y, R.z};
    tali_generate_m3 A;
    for (int j = 0; j < 3; ++j) {
        A.at[0][j] = input(f, columns[j].x);
        A.at[1][j] = input(f, columns[j].y);
        A.at[2][j] = input(f, columns[j].z);
    }
    return A;
}

// A turn about an axis by an angle that varies, or by a constant one.
static tali_generate_step turn(fixture *f, int axis, bool is_constant)
{
    const double angle = test_random_uniform(&f->rng, 0.3, 1.2), c = cos(angle), s = sin(angle);
    tali_graph *const g = &f->g;
    return (tali_generate_step){.kind = TALI_GENERATE_TURN,
                                .axis = axis,
                                .cos = is_constant ? tali_graph_constant(g, c) : input(f, c),
                                .sin = is_constant ? tali_graph_constant(g, s) : input(f, s)};
}

static tali_generate_step shift(fixture *f, int axis)
{
    return (tali_generate_step){.kind = TALI_GENERATE_SHIFT, .axis = axis, .distance = any(f)};
}

// A screw along an axis: shifted, then turned.
static tali_generate_way screw(fixture *f, int axis)
{
    const tali_generate_step turned = turn(f, axis, false), shifted = shift(f, axis);
    return (tali_generate_way){.steps = {shifted, turned}, .num = 2};
}

// Values of nodes; the graph keeps them as outputs, so that they are counted.
static void outputs(fixture *f, const int nodes[], int n, double values[])
{
    static double work[4096];
    const double *const in[1] = {f->values};
    tali_graph_add_outputs(&f->g, "out", nodes, n);
    tali_graph_prune(&f->g);
    ck_assert_int_le(f->g.num, 4096);
    tali_graph_evaluate(&f->g, in, values, work);
}

// The book does not count changes of sign, which the graph counts as additions.
static void check_count(fixture *f, int mul, int add)
{
    tali_graph_count count = tali_graph_count_of(&f->g);
    int uses[4096];
    tali_graph_uses(&f->g, uses);
    for (int i = 0; i < f->g.num; ++i) {
        if (f->g.nodes[i].op == TALI_GRAPH_NEG && uses[i] > 0) --count.add;
    }
    ck_assert_msg(count.mul == mul && count.add == add, "%dm + %da, not %dm + %da", count.mul,
                  count.add, mul, add);
    ck_assert_int_eq(count.div + count.sqrt + count.sin + count.cos, 0);
}

// --- dense matrices ---

typedef struct dense {
    double a[6][6];
} dense;

// A node's value, input or constant.
static double value_of(const fixture *f, int node)
{
    const tali_graph_node *const it = &f->g.nodes[node];
    if (it->op == TALI_GRAPH_INPUT) return f->values[it->b];
    if (it->op == TALI_GRAPH_NEG) return -value_of(f, it->a);
    return it->constant;
}

static dense rotation_of(const fixture *f, const tali_generate_step *step)
{
    dense E = {{{0.0}}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3 && step->kind == TALI_GENERATE_ROTATE; ++j) {
            E.a[i][j] = value_of(f, step->R.at[i][j]);
        }
        if (step->kind == TALI_GENERATE_SHIFT) E.a[i][i] = 1.0;
    }
    if (step->kind != TALI_GENERATE_TURN) return E;
    const int x = (step->axis + 1) % 3, y = (step->axis + 2) % 3;
    E.a[step->axis][step->axis] = 1.0;
    E.a[x][x] = E.a[y][y] = value_of(f, step->cos);
    E.a[y][x] = value_of(f, step->sin);
    E.a[x][y] = -E.a[y][x];
    return E;
}

// A B A^T of n x n matrices.
static dense congruent(const dense *A, const dense *B, int n)
{
    dense out = {{{0.0}}};
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < n; ++k) {
                for (int l = 0; l < n; ++l) {
                    out.a[i][j] += A->a[i][k] * B->a[k][l] * A->a[j][l];
                }
            }
        }
    }
    return out;
}

static dense dense_of(const fixture *f, const tali_generate_m3 *A)
{
    dense out = {{{0.0}}};
    for (int k = 0; k < 9; ++k) {
        out.a[k / 3][k % 3] = value_of(f, A->at[k / 3][k % 3]);
    }
    return out;
}

// --- rotations of matrices ---

static void check_turn(bool about_axis, bool is_symmetric, int mul, int add)
{
    for (int axis = 0; axis < 3; ++axis) {
        fixture f;
        begin(&f, 80 + (uint64_t)axis);
        tali_generate_step step = {.kind = TALI_GENERATE_ROTATE};
        if (about_axis) step = turn(&f, axis, false);
        if (!about_axis) step.R = rotation(&f);
        const tali_generate_m3 A = any_matrix(&f, is_symmetric);
        const dense E = rotation_of(&f, &step), was = dense_of(&f, &A);
        const dense wanted = congruent(&E, &was, 3);
        const tali_generate_m3 out = tali_generate_turn(&f.g, &step, &A, is_symmetric);
        double values[9];
        outputs(&f, &out.at[0][0], 9, values);
        check_count(&f, mul, add);
        for (int k = 0; k < 9; ++k) {
            ck_assert_double_eq_tol(values[k], wanted.a[k / 3][k % 3], 1e-14);
        }
        tali_graph_end(&f.g);
    }
}

// What all matrices of one angle share is in the counts: s^2 and c s; and 2 c s, 1 - 2 s^2 where
// the matrix is symmetric.
START_TEST(matrices_turn_with_the_published_counts)
{
    check_turn(true, true, 8 + 2, 7 + 3);
    check_turn(true, false, 12 + 2, 12);
    check_turn(false, true, 28, 29);
    check_turn(false, false, 40, 39);
}

END_TEST

START_TEST(the_third_column_of_a_rotation_is_a_product_of_the_others)
{
    fixture f;
    begin(&f, 24);
    const tali_generate_m3 A = rotation(&f), B = rotation(&f);
    const dense a = dense_of(&f, &A), b = dense_of(&f, &B);
    const tali_generate_m3 out = tali_generate_mul_rotations(&f.g, &A, &B);
    double values[9];
    outputs(&f, &out.at[0][0], 9, values);
    check_count(&f, 24, 15);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 3; ++k) {
                sum += a.a[i][k] * b.a[k][j];
            }
            ck_assert_double_eq_tol(values[3 * i + j], sum, 1e-15 * 4.0);
        }
    }
    tali_graph_end(&f.g);
}

END_TEST

// --- articulated bodies across screws ---

// The 6 x 6 transform of forces, [E, r~ E; 0, E] for a turn and a shift from the parent.
static dense force_transform(const fixture *f, const tali_generate_step *step)
{
    const dense E = rotation_of(f, step);
    dense X = {{{0.0}}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            X.a[i][j] = X.a[i + 3][j + 3] = E.a[i][j];
        }
    }
    if (step->kind != TALI_GENERATE_SHIFT) return X;
    const int x = (step->axis + 1) % 3, y = (step->axis + 2) % 3;
    X.a[x][y + 3] = -value_of(f, step->distance);
    X.a[y][x + 3] = value_of(f, step->distance);
    return X;
}

static dense dense_body(const fixture *f, const tali_generate_body *it)
{
    dense out = {{{0.0}}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out.a[i][j] = value_of(f, it->I.at[i][j]);
            out.a[i][j + 3] = out.a[j + 3][i] = value_of(f, it->H.at[i][j]);
            out.a[i + 3][j + 3] = value_of(f, it->M.at[i][j]);
        }
    }
    return out;
}

// Across the steps of a way, the last one first.
static void check_way(fixture *f, const tali_generate_way *way, const tali_generate_body *body,
                      int mul, int add)
{
    dense wanted = dense_body(f, body);
    for (int k = way->num - 1; k >= 0; --k) {
        const dense X = force_transform(f, &way->steps[k]);
        wanted = congruent(&X, &wanted, 6);
    }
    const tali_generate_body out = tali_generate_body_to_parent(&f->g, way, *body);
    int nodes[27];
    double values[27];
    for (int k = 0; k < 9; ++k) {
        nodes[k] = out.I.at[k / 3][k % 3];
        nodes[k + 9] = out.H.at[k / 3][k % 3];
        nodes[k + 18] = out.M.at[k / 3][k % 3];
    }
    outputs(f, nodes, 27, values);
    check_count(f, mul, add);
    for (int k = 0; k < 9; ++k) {
        const int i = k / 3, j = k % 3;
        ck_assert_double_eq_tol(values[k], wanted.a[i][j], 1e-14);
        ck_assert_double_eq_tol(values[k + 9], wanted.a[i][j + 3], 1e-14);
        ck_assert_double_eq_tol(values[k + 18], wanted.a[i + 3][j + 3], 1e-14);
    }
}

static tali_generate_body any_body(fixture *f, bool is_freed)
{
    tali_generate_body it = {any_matrix(f, true), any_matrix(f, false), any_matrix(f, true)};
    for (int k = 0; k < 3 && is_freed; ++k) { // a pin about z is free: row and column 3 are zero
        it.I.at[2][k] = it.I.at[k][2] = it.H.at[2][k] = TALI_GRAPH_ZERO;
    }
    return it;
}

// RBDA tab. A.5: 38 and 40, 28 and 34 about z where row 3 is zero, 32 and 28 about x; with what a
// varying angle costs once, 2 and 3. From one frame of Denavit and Hartenberg to the next, 62 and
// 65.
// Inventory of RBDA: 10.10.
START_TEST(screws_take_articulated_bodies_along_with_the_published_counts)
{
    for (int axis = 0; axis < 3; ++axis) {
        fixture f;
        begin(&f, 700 + (uint64_t)axis);
        const tali_generate_way way = screw(&f, axis);
        const tali_generate_body body = any_body(&f, false);
        check_way(&f, &way, &body, 38 + 2, 40 + 3);
        tali_graph_end(&f.g);
        begin(&f, 710 + (uint64_t)axis);
        const tali_generate_way next = screw(&f, axis);
        const tali_generate_body freed = any_body(&f, true);
        const bool is_z = axis == 2;
        check_way(&f, &next, &freed, (is_z ? 28 : 32) + 2, (is_z ? 34 : 28) + 3);
        tali_graph_end(&f.g);
    }
    fixture f;
    begin(&f, 720);
    const tali_generate_way own = screw(&f, 2);
    const tali_generate_step tilt = turn(&f, 0, true), along = shift(&f, 0);
    const tali_generate_way way = {.steps = {along, tilt, own.steps[0], own.steps[1]}, .num = 4};
    const tali_generate_body body = any_body(&f, true);
    check_way(&f, &way, &body, 62, 65);
    tali_graph_end(&f.g);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/turn");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, matrices_turn_with_the_published_counts);
    tcase_add_test(tests, the_third_column_of_a_rotation_is_a_product_of_the_others);
    tcase_add_test(tests, screws_take_articulated_bodies_along_with_the_published_counts);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
