// Derivatives of dynamics against complex steps through the same kernels (tests/matter/complex/).
#include "complex/complex_tree.h"
#include "derivative/derivative_internal.h"
#include "mobilizer_support.h"
#include "op_support.h"

#include <stdio.h>

// So small that its square is nothing; what it leaves in imaginary parts is exact.
static const double STEP = 1e-30;

// --- one tree, as the kernels over complex numbers see it ---

typedef struct subject {
    random_tree tree;
    tali_tree_view view;
    tali_matter_model model;
    int nq;
    tal_matrix given, F;             // udot or f; [6 num_bodies]
    tal_matrix q, u, X, H, Hdot_u;   // imaginary parts
    tali_mobilizer_slopes *of_table; // [num_general]
} subject;

static void ask_tables(subject *s)
{
    const tali_tree *tree = s->view.tree;
    const tal_matter *matter = s->tree.matter;
    s->of_table = calloc((size_t)tree->num_general + 1, sizeof *s->of_table);
    ck_assert_ptr_nonnull(s->of_table);
    for (int g = 0; g < tree->num_general; ++g) {
        const int b = tree->general[g];
        const tali_tree_body *body = &matter->bodies[b];
        const tal_mobilizer_arg arg = tali_tree_mobilizer_arg_of(
            matter, s->tree.state, b, tali_tree_q_of(matter, s->tree.state),
            tali_tree_u_of(matter, s->tree.state));
        ck_assert_int_eq(tali_mobilizer_slopes_of(&body->ops, body->self, &arg, body->direction,
                                                  &s->view.X_FM[g], s->view.H_FM + tree->u0[b],
                                                  &s->of_table[g]),
                         TAL_OK);
    }
}

static subject subject_of(random_tree tree, uint64_t seed)
{
    subject s = {.tree = tree};
    test_rng rng = test_rng_seed(seed);
    ck_assert(tali_tree_realize_view(tree.matter, tree.state, TALI_VELOCITY, &s.view));
    s.model = tali_matter_model_of(tree.matter, tree.state);
    s.nq = tal_matter_nq(tree.matter, tree.state);
    s.given = dense(tree.nu, 1);
    s.F = dense(6 * tree.num_bodies, 1);
    fill_random(s.given, &rng);
    fill_random(s.F, &rng);
    const int general = s.view.tree->num_general;
    s.q = zeros(s.nq, 1), s.u = zeros(tree.nu, 1);
    s.X = zeros(12 * general, 1), s.H = zeros(6 * tree.nu, 1), s.Hdot_u = zeros(6 * general, 1);
    ask_tables(&s);
    return s;
}

static void subject_free(subject *s)
{
    random_tree_destroy(&s->tree);
    free(s->given.data), free(s->F.data), free(s->q.data), free(s->u.data);
    free(s->X.data), free(s->H.data), free(s->Hdot_u.data), free(s->of_table);
}

static void clear(tal_matrix A)
{
    memset(A.data, 0, (size_t)(A.rows * A.cols) * sizeof *A.data);
}

// Which general hinge a body is; -1: none.
static int general_of(const tali_tree *tree, int b)
{
    for (int g = 0; g < tree->num_general; ++g) {
        if (tree->general[g] == b) return g;
    }
    return -1;
}

static void put_imaginary(tal_matrix A, int first, const double x[], int n)
{
    for (int i = 0; i < n; ++i) {
        A.data[first + i] = STEP * x[i];
    }
}

// q moves along speed l of body b: X_FM by the rigid motion H_l, the rest as the table says.
static void step_q(subject *s, int b, int l)
{
    const tali_tree *tree = s->view.tree;
    const int g = general_of(tree, b), u0 = tree->u0[b], nu = tree->nu[b];
    double unit[TAL_MAX_NU] = {0.0}, along[TAL_MAX_NQ];
    const tal_body_ix body = {b};
    unit[l] = 1.0;
    must(s->tree.state, tal_body_mul_N(s->tree.matter, s->tree.state, body, TAL_N, unit, along));
    put_imaginary(s->q, s->model.q0[b], along, s->model.nq[b]);
    if (g < 0) return;
    const tal_spatial_vec H = s->view.H_FM[u0 + l];
    const tal_mat3 R = s->view.X_FM[g].R;
    const tal_xform dX = {{tal_v3_cross(H.w, R.x), tal_v3_cross(H.w, R.y), tal_v3_cross(H.w, R.z)},
                          H.v};
    put_imaginary(s->X, 12 * g, &dX.R.x.x, 12);
    put_imaginary(s->H, 6 * u0, &s->of_table[g].of_H[l * nu].w.x, 6 * nu);
    put_imaginary(s->Hdot_u, 6 * g, &s->of_table[g].of_Hdot_u[l].w.x, 6);
}

// Speed l of body b: Hdot u, which is quadratic in u, changes twice.
static void step_u(subject *s, int b, int l)
{
    const tali_tree *tree = s->view.tree;
    const int g = general_of(tree, b), u0 = tree->u0[b], nu = tree->nu[b];
    const double *u = tali_tree_u_of(s->tree.matter, s->tree.state) + u0;
    s->u.data[u0 + l] = STEP;
    if (g < 0) return;
    tal_spatial_vec change = TAL_SPATIAL_VEC_ZERO;
    for (int k = 0; k < nu; ++k) {
        change = tal_sv_axpy(u[k], s->of_table[g].of_H[k * nu + l], change);
        change = tal_sv_axpy(u[k], s->of_table[g].of_H[l * nu + k], change);
    }
    put_imaginary(s->Hdot_u, 6 * g, &change.w.x, 6);
}

// One column of the derivative, by a complex step.
static void complex_column(subject *s, int which, int b, int l, int forward, double column[])
{
    const tali_tree *tree = s->view.tree;
    const tal_matter *matter = s->tree.matter;
    tal_matrix step = zeros(tree->num_u, 1), value = dense(tree->num_u, 1);
    clear(s->q), clear(s->u), clear(s->X), clear(s->H), clear(s->Hdot_u);
    if (which == 0) step_q(s, b, l);
    if (which == 1) step_u(s, b, l);
    if (which == 2) step.data[tree->u0[b] + l] = STEP;
    const complex_inputs in = {
        .tree = tree,
        .model = &s->model,
        .nq = s->nq,
        .constants = {&s->view.constants->R_PF.x.x, NULL},
        .q = {tali_tree_q_of(matter, s->tree.state), s->q.data},
        .u = {tali_tree_u_of(matter, s->tree.state), s->u.data},
        .X_FM = {tree->num_general > 0 ? &s->view.X_FM->R.x.x : NULL, s->X.data},
        .H_FM = {tree->num_general > 0 ? &s->view.H_FM->w.x : NULL, s->H.data},
        .Hdot_u = {tree->num_general > 0 ? &s->view.Hdot_u->w.x : NULL, s->Hdot_u.data},
        .F_GB = {s->F.data, NULL},
        .given = {s->given.data, step.data}};
    complex_dynamics(&in, forward, value.data, column);
    for (int i = 0; i < tree->num_u; ++i) {
        column[i] /= STEP;
    }
    free(step.data), free(value.data);
}

static double largest(tal_matrix A)
{
    double most = 0.0;
    for (int i = 0; i < A.rows * A.cols; ++i) {
        most = fmax(most, fabs(A.data[i]));
    }
    return most;
}

// The largest difference between D and complex steps, relative to the largest entry.
static double compare(subject *s, int which, int forward, tal_matrix D)
{
    const tali_tree *tree = s->view.tree;
    tal_matrix C = dense(tree->num_u, tree->num_u);
    for (int b = 1; b < tree->num_bodies; ++b) {
        for (int l = 0; l < tree->nu[b]; ++l) {
            complex_column(s, which, b, l, forward, at(C, 0, tree->u0[b] + l));
        }
    }
    const double size = largest(C);
    for (int i = 0; i < C.rows * C.cols; ++i) {
        C.data[i] -= D.data[i];
    }
    const double error = largest(C) / (size > 0.0 ? size : 1.0);
    free(C.data);
    return error;
}

static void check_ID(subject *s, double tol, const char *what)
{
    const int n = s->tree.nu;
    tal_matrix D[3] = {dense(n, n), dense(n, n), dense(n, n)};
    must(s->tree.state, tal_matter_calc_ID_derivatives(s->tree.matter, s->tree.state, s->given.data,
                                                       (const tal_spatial_vec *)(void *)s->F.data,
                                                       D[0], D[1], D[2]));
    for (int i = 0; i < 3; ++i) {
        const double error = compare(s, i, 0, D[i]);
        if (getenv("TALUS_SHOW") != NULL) (void)printf("%s ID %d: %.1e\n", what, i, error);
        ck_assert_msg(error <= tol, "%s: derivative %d of inverse dynamics is off by %g", what, i,
                      error);
        free(D[i].data);
    }
}

static void check_FD(subject *s, double factor, const char *what)
{
    const int n = s->tree.nu;
    tal_matrix D[3] = {dense(n, n), dense(n, n), dense(n, n)}, M = dense(n, n);
    must(s->tree.state, tal_matter_calc_FD_derivatives(s->tree.matter, s->tree.state,
                                                       (const tal_spatial_vec *)(void *)s->F.data,
                                                       s->given.data, NULL, D[0], D[1], D[2]));
    must(s->tree.state, tal_matter_calc_M(s->tree.matter, s->tree.state, M));
    const spectrum p = spectrum_of(M);
    const double tol = factor * DBL_EPSILON * p.most / p.least;
    for (int i = 0; i < 3; ++i) {
        const double error = compare(s, i, 1, D[i]);
        if (getenv("TALUS_SHOW") != NULL) {
            (void)printf("%s FD %d: %.1e, %.2f eps cond\n", what, i, error, factor * error / tol);
        }
        ck_assert_msg(error <= tol, "%s: derivative %d of forward dynamics is off by %g, not %g",
                      what, i, error, tol);
        free(D[i].data);
    }
    free(M.data);
}

START_TEST(derivatives_of_random_trees_are_those_of_complex_steps)
{
    for (int k = 2; k < NUM_TREES - 4; ++k) {
        subject s = subject_of(tree_number(k), (uint64_t)(900 + k));
        if (s.tree.nu > 0) {
            check_ID(&s, 1e-13, "random tree");
            check_FD(&s, 10.0, "random tree");
        }
        subject_free(&s);
    }
}

// Masses over eight decades, lengths over four.
static random_tree badly_scaled(uint64_t seed)
{
    random_tree_def def = random_tree_def_default(seed);
    def.num_bodies = 20;
    random_tree tree = random_tree_create(&def);
    test_rng rng = test_rng_seed(seed);
    random_tree_realize(&tree, tree.state, TAL_STAGE_MODEL);
    for (int b = 1; b < tree.num_bodies; ++b) {
        const tal_body_ix body = {b};
        const double m = pow(10.0, test_random_uniform(&rng, -4.0, 4.0));
        const double r = pow(10.0, test_random_uniform(&rng, -2.0, 2.0));
        tal_mass_props mass = tal_body_mass_props(tree.matter, tree.state, body);
        mass.mass *= m;
        mass.com = tal_v3_scale(r, mass.com);
        mass.inertia = tal_s3_scale(m * r * r, mass.inertia);
        tal_xform X_PF = tal_body_X_PF(tree.matter, tree.state, body);
        X_PF.p = tal_v3_scale(r, X_PF.p);
        ck_assert_int_eq(tal_body_set_mass_props(tree.matter, tree.state, body, &mass), TAL_OK);
        ck_assert_int_eq(tal_body_set_X_PF(tree.matter, tree.state, body, &X_PF), TAL_OK);
    }
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    return tree;
}

START_TEST(so_are_those_of_badly_scaled_trees)
{
    for (int k = 0; k < 6; ++k) {
        subject s = subject_of(badly_scaled((uint64_t)(950 + k)), (uint64_t)(960 + k));
        check_ID(&s, 1e-13, "badly scaled tree");
        check_FD(&s, 10.0, "badly scaled tree");
        subject_free(&s);
    }
}

// --- structure ---

static tal_spatial_vec cross(tal_spatial_vec V, tal_spatial_vec X)
{
    return tal_sv(tal_v3_cross(V.w, X.w),
                  tal_v3_add(tal_v3_cross(V.w, X.v), tal_v3_cross(V.v, X.w)));
}

// The change of column k along speed l about a point that does not move: theory eq. 13.2 in F.
static tal_spatial_vec D(const tali_mobilizer_slopes *s, const tal_spatial_vec H[], int nu, int l,
                         int k)
{
    const tal_spatial_vec of_H = s->of_H[l * nu + k];
    return tal_sv(of_H.w, tal_v3_add(of_H.v, tal_v3_cross(H[l].v, H[k].w)));
}

/*
 * Displacements along two speeds in either order end at the same pose if the speeds are rates of
 * coordinates, and apart by a third displacement if not:
 *
 *     D_l S_k - D_k S_l = S_l x S_k - sum c_m S_m
 *
 * c is zero where qdot = u, and that of rotations where three speeds are an angular velocity in F.
 * In reverse the speeds are those of the same coordinates, so c is the same. A line turns about
 * axes of M, and what is left is a turn about Mz that it cannot make: it is left out here.
 */
START_TEST(columns_change_as_displacements_do)
{
    test_rng rng = test_rng_seed(77);
    for (int i = 0; i < NUM_BUILTINS; ++i) {
        const tal_mobilizer_ops *ops = builtins[i].ops();
        if (ops == tal_mobilizer_line_orientation() || ops == tal_mobilizer_free_line()) continue;
        for (int way = 0; way < 4; ++way) {
            const tal_direction direction = way % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
            const bool use_angles = ops->has_quaternion && way / 2 == 1;
            mobilizer_state at;
            tal_xform X;
            tal_spatial_vec H[TAL_MAX_NU];
            tali_mobilizer_slopes slopes;
            random_state(&rng, ops, builtins[i].params, use_angles, &at);
            ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, &at.arg, direction, &X), TAL_OK);
            ck_assert_int_eq(tali_mobilizer_H_FM(ops, NULL, &at.arg, direction, &X, H), TAL_OK);
            ck_assert_int_eq(
                tali_mobilizer_slopes_of(ops, NULL, &at.arg, direction, &X, H, &slopes), TAL_OK);
            for (int lk = 0; lk < ops->nu * ops->nu; ++lk) {
                const int l = lk / ops->nu, k = lk % ops->nu;
                tal_spatial_vec rest =
                    tal_sv_sub(D(&slopes, H, ops->nu, l, k), D(&slopes, H, ops->nu, k, l));
                rest = tal_sv_sub(rest, cross(H[l], H[k]));
                const bool turns = ops->has_quaternion && l < 3 && k < 3 && l != k;
                const double sign = k == (l + 1) % 3 ? 1.0 : -1.0;
                if (turns) rest = tal_sv_axpy(sign, H[3 - l - k], rest);
                // ten operations on numbers below 10
                const double off = tal_v3_norm(rest.w) + tal_v3_norm(rest.v);
                ck_assert_msg(off <= 100.0 * DBL_EPSILON * 10.0, "%s, speeds %d and %d: %g",
                              ops->name, l, k, off);
            }
        }
    }
}

int main(void)
{
    Suite *suite = suite_create("matter/derivative_complex");
    TCase *steps = tcase_create("complex steps");
    tcase_set_timeout(steps, 60.0);
    tcase_add_test(steps, derivatives_of_random_trees_are_those_of_complex_steps);
    tcase_add_test(steps, so_are_those_of_badly_scaled_trees);
    suite_add_tcase(suite, steps);
    TCase *structure = tcase_create("structure");
    tcase_add_test(structure, columns_change_as_displacements_do);
    suite_add_tcase(suite, structure);
    return test_run(suite);
}
