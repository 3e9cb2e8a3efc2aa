// matter/src/derivative/derivative_constraint.c and derivative_constrained.c: derivatives of the
// errors and forces of constraints, and of forward dynamics with constraints.
#include "alloc_guard.h"
#include "op_support.h"

#include <talus/matter/derivatives.h>
#include <talus/matter/unilateral.h>
#include <talus/matter/unilaterals.h>

// --- a tree with a weld, a rolling sphere, a rod and a coupled pair of speeds ---

static void add_constraints(tal_matter *matter, void *context)
{
    (void)context;
    test_rng rng = test_rng_seed(7);
    const tal_xform X_1 = test_random_xform(&rng), X_2 = test_random_xform(&rng);
    tal_constraint_def def = tal_constraint_between((tal_body_ix){3}, (tal_body_ix){7});
    (void)tal_constraint_add_loop_universal(matter, &def, &X_1, &X_2);
    def = tal_constraint_between((tal_body_ix){5}, (tal_body_ix){9});
    (void)tal_constraint_add_sphere_on_sphere_contact(matter, &def, test_random_vec3(&rng), 0.4,
                                                      test_random_vec3(&rng), 0.9, true);
    def = tal_constraint_between((tal_body_ix){0}, (tal_body_ix){8});
    (void)tal_constraint_add_rod(matter, &def, test_random_vec3(&rng), test_random_vec3(&rng), 2.0);
    def = tal_constraint_def_default();
    for (int b = 10; b > 0 && def.num_mobilities < 2; --b) {
        if (tal_body_nu(matter, (tal_body_ix){b}) == 0) continue;
        def.mobilities[def.num_mobilities++].body.i = b;
    }
    const double terms[] = {0.7, 0.3, -0.5};
    const int powers[] = {2, 0, 1, 1, 0, 3};
    tal_function *product = NULL;
    ck_assert_int_eq(
        tal_function_create_multivariate_polynomial(NULL, terms, powers, 3, 2, &product, NULL),
        TAL_OK);
    (void)tal_constraint_add_speed_coupler(matter, &def, 2, product);
}

/// A tree, forces and accelerations, multipliers.
typedef struct subject {
    random_tree tree;
    int nu, m, n_v;
    tal_matrix udot, f, F, lambda; // F: 6 num_bodies
} subject;

static subject subject_number(int k)
{
    random_tree_def def = random_tree_def_default((uint64_t)(300 + k));
    def.free_base = k % 2 == 0;
    def.chain = k % 3 == 0;
    def.add_more = add_constraints;
    subject s = {.tree = random_tree_create(&def)};
    random_tree_realize(&s.tree, s.tree.state, TAL_STAGE_VELOCITY);
    const tal_constraint_rows rows = tal_matter_constraint_rows(s.tree.matter, s.tree.state);
    s.nu = s.tree.nu, s.m = rows.mp + rows.mv + rows.ma, s.n_v = rows.mp + rows.mv;
    test_rng rng = test_rng_seed((uint64_t)(1300 + k));
    s.udot = dense(s.nu, 1), s.f = dense(s.nu, 1);
    s.F = dense(6 * s.tree.num_bodies, 1), s.lambda = dense(s.m, 1);
    fill_random(s.udot, &rng), fill_random(s.f, &rng);
    fill_random(s.F, &rng), fill_random(s.lambda, &rng);
    return s;
}

static void subject_free(subject *s)
{
    random_tree_destroy(&s->tree);
    free(s->udot.data), free(s->f.data), free(s->F.data), free(s->lambda.data);
}

static const tal_spatial_vec *forces_of(const subject *s)
{
    return (const tal_spatial_vec *)(const void *)s->F.data;
}

// G^T lambda, aerr, and verr.
static void sample_rows(const subject *s, tal_state *state, double out[])
{
    const random_tree *t = &s->tree;
    random_tree_realize(t, state, TAL_STAGE_VELOCITY);
    must(state, tal_matter_mul_GT(t->matter, state, TAL_G, s->lambda.data, out));
    must(state, tal_matter_calc_constraint_aerr(t->matter, state, s->udot.data, out + s->nu));
    memcpy(out + s->nu + s->m, tal_state_uerr(state), (size_t)s->n_v * sizeof *out);
}

// udot and lambda of these forces.
static void sample_motion(const subject *s, tal_state *state, double out[])
{
    const random_tree *t = &s->tree;
    random_tree_realize(t, state, TAL_STAGE_VELOCITY);
    double *work = calloc(tal_matter_dense_work_size(t->matter, state), sizeof *work);
    int *iwork = calloc(tal_matter_dense_iwork_size(t->matter, state), sizeof *iwork);
    must(state, tal_matter_solve_constrained(t->matter, state, TAL_SOLVE_MULTIPLIERS, forces_of(s),
                                             s->f.data, out, out + s->nu, work, iwork));
    free(work), free(iwork);
}

typedef void (*sample_fn)(const subject *s, tal_state *state, double out[]);

// One column by differences of sixth order, along speed j of q or of u.
static void difference(const subject *s, sample_fn sample, int j, bool of_u, tal_matrix column)
{
    static const double weight[3] = {1.5, -0.6, 0.1};
    const random_tree *t = &s->tree;
    const double h = 1e-3;
    const int n = column.rows, nq = tal_matter_nq(t->matter, t->state);
    tal_matrix value = dense(n, 1), unit = zeros(s->nu, 1), qdot = dense(nq, 1);
    tal_state *moved = NULL;
    ck_assert_int_eq(tal_state_create(t->system, &moved, NULL), TAL_OK);
    memset(column.data, 0, (size_t)n * sizeof(double));
    unit.data[j] = 1.0;
    must(t->state, tal_matter_mul_N(t->matter, t->state, TAL_N, unit.data, qdot.data));
    for (int k = 0; k < 6; ++k) {
        const double step = (k % 2 == 0 ? h : -h) * (k / 2 + 1);
        ck_assert_int_eq(tal_state_copy(moved, t->state), TAL_OK);
        if (of_u) tal_state_upd_u(moved)[j] += step;
        for (int i = 0; i < nq && !of_u; ++i) {
            tal_state_upd_q(moved)[i] += step * qdot.data[i];
        }
        sample(s, moved, value.data);
        for (int i = 0; i < n; ++i) {
            column.data[i] += weight[k / 2] * value.data[i] / (2.0 * step);
        }
    }
    tal_state_destroy(moved);
    free(value.data), free(unit.data), free(qdot.data);
}

enum {
    NUM_SUBJECTS = 6
};

// As in test_derivative_frames.c: differences are good to some 1e-9 of what is differenced, and a
// wrong term is of size one.
START_TEST(errors_and_forces_agree_with_differences)
{
    for (int k = 0; k < NUM_SUBJECTS; ++k) {
        subject s = subject_number(k);
        const random_tree *t = &s.tree;
        tal_matrix by[2] = {dense(s.nu + s.m, s.nu), dense(s.nu + s.m, s.nu)};
        tal_matrix verr_by_q = dense(s.n_v, s.nu), column = dense(s.nu + s.m + s.n_v, 1);
        must(t->state,
             tal_matter_calc_constraint_derivatives(t->matter, t->state, s.udot.data, s.lambda.data,
                                                    verr_by_q, by[0], by[1]));
        for (int j = 0; j < 2 * s.nu; ++j) {
            const bool of_u = j >= s.nu;
            const int l = j % s.nu;
            difference(&s, sample_rows, l, of_u, column);
            const tal_matrix found = tal_matrix_view(at(by[of_u], 0, l), s.nu + s.m, 1);
            const tal_matrix wanted = tal_matrix_view(column.data, s.nu + s.m, 1);
            ck_assert_msg(distance(found, wanted) <= 1e-7 * (1.0 + size_of(by[of_u])),
                          "tree %d column %d: off by %g", k, j, distance(found, wanted));
            if (of_u) continue;
            const tal_matrix verr = tal_matrix_view(column.data + s.nu + s.m, s.n_v, 1);
            const tal_matrix verr_found = tal_matrix_view(at(verr_by_q, 0, l), s.n_v, 1);
            ck_assert_double_le(distance(verr_found, verr), 1e-7 * (1.0 + size_of(verr_by_q)));
        }
        free(by[0].data), free(by[1].data), free(verr_by_q.data), free(column.data);
        subject_free(&s);
    }
}

// Whether all rows are independent, as they are in most of these trees.
static bool has_rank(const subject *s)
{
    tal_rows_report report;
    must(s->tree.state,
         tal_matter_calc_constraint_report(s->tree.matter, s->tree.state, &report, NULL));
    return report.rank == s->m && report.rcond > 1e-6;
}

// Columns of the derivatives are those of differences; by f they solve M x + G^T y = e_j, G x = 0.
START_TEST(constrained_accelerations_and_multipliers_agree_with_differences)
{
    int compared = 0;
    for (int k = 0; compared < NUM_SUBJECTS; ++k) {
        subject s = subject_number(k);
        if (!has_rank(&s)) {
            subject_free(&s);
            continue;
        }
        ++compared;
        const random_tree *t = &s.tree;
        const int n = s.nu + s.m;
        tal_matrix by[3] = {dense(n, s.nu), dense(n, s.nu), dense(n, s.nu)}, column = dense(n, 1);
        must(t->state,
             tal_matter_calc_constrained_derivatives(t->matter, t->state, forces_of(&s), s.f.data,
                                                     NULL, NULL, by[0], by[1], by[2]));
        for (int j = 0; j < 2 * s.nu; ++j) {
            const bool of_u = j >= s.nu;
            const int l = j % s.nu;
            difference(&s, sample_motion, l, of_u, column);
            const tal_matrix found = tal_matrix_view(at(by[of_u], 0, l), n, 1);
            ck_assert_msg(distance(found, column) <= 1e-6 * (1.0 + size_of(by[of_u])),
                          "tree %d column %d: off by %g of %g", k, j, distance(found, column),
                          size_of(by[of_u]));
        }
        tal_matrix Mx = dense(s.nu, 1), GTy = dense(s.nu, 1), Gx = dense(s.m, 1);
        for (int j = 0; j < s.nu; ++j) {
            double *x = at(by[2], 0, j), *y = at(by[2], s.nu, j);
            must(t->state, tal_matter_mul_M(t->matter, t->state, x, Mx.data));
            must(t->state, tal_matter_mul_GT(t->matter, t->state, TAL_G, y, GTy.data));
            must(t->state, tal_matter_mul_G(t->matter, t->state, TAL_G, x, Gx.data));
            const double size = 1.0 + size_of(GTy);
            for (int i = 0; i < s.nu; ++i) {
                const double wanted = i == j ? 1.0 : 0.0;
                ck_assert_double_le(fabs(Mx.data[i] + GTy.data[i] - wanted), 1e-9 * size);
            }
            ck_assert_double_le(size_of(Gx), 1e-9 * (1.0 + size_of(by[2])));
        }
        free(by[0].data), free(by[1].data), free(by[2].data), free(column.data);
        free(Mx.data), free(GTy.data), free(Gx.data);
        subject_free(&s);
    }
}

START_TEST(nothing_is_allocated)
{
    subject s = subject_number(1);
    const random_tree *t = &s.tree;
    const int n = s.nu + s.m;
    tal_matrix by[3] = {dense(n, s.nu), dense(n, s.nu), dense(n, s.nu)};
    tal_status st = TAL_OK;
    random_tree_realize(t, t->state, TAL_STAGE_VELOCITY);
    test_assert_no_heap(st = tal_matter_calc_constrained_derivatives(t->matter, t->state,
                                                                     forces_of(&s), s.f.data, NULL,
                                                                     NULL, by[0], by[1], by[2]));
    must(t->state, st);
    free(by[0].data), free(by[1].data), free(by[2].data);
    subject_free(&s);
}

// --- mechanisms in a plane ---

static double *at_entry(tal_matrix A, int i, int j)
{
    return at(A, i, j);
}

/// Pins about z in a row, with a mass at the end of each link of length one.
typedef struct linkage {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_body_ix bodies[4];
} linkage;

static linkage linkage_begin(int n)
{
    linkage at = {.system = tal_system_create(NULL)};
    at.matter = tal_matter_create(at.system);
    for (int i = 0; i < n; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(1.0 + i, tal_v3(0.5, 0.0, 0.0));
        def.X_PF.p = tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0);
        at.bodies[i] = tal_matter_add_pin(at.matter, i == 0 ? TAL_GROUND : at.bodies[i - 1], &def);
    }
    return at;
}

static void linkage_realize(linkage *at, const double q[], const double u[])
{
    ck_assert_int_eq(tal_system_realize_topology(at->system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(at->system, &at->state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(at->system, at->state, TAL_STAGE_MODEL), TAL_OK);
    const int n = tal_matter_nu(at->matter);
    for (int i = 0; i < n; ++i) {
        tal_state_upd_q(at->state)[i] = q[i];
        tal_state_upd_u(at->state)[i] = u[i];
    }
    must(at->state, tal_system_realize(at->system, at->state, TAL_STAGE_VELOCITY));
}

static void linkage_end(linkage *at)
{
    tal_state_destroy(at->state);
    tal_system_destroy(at->system);
}

// A square of four bars, closed by a pin, of whose five rows three have no effect in the plane. The
// bars allow u, and what udot has of it is quadratic in u: along u it changes by twice that.
START_TEST(rows_without_effect_are_no_obstacle)
{
    linkage at = linkage_begin(3);
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, at.bodies[2]);
    const tal_xform X = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    (void)tal_constraint_add_loop_pin(at.matter, &ends, &X, &X);
    const double right = 0.5 * TAL_PI, q[3] = {right, -right, -right}, u[3] = {1.0, -1.0, 1.0};
    linkage_realize(&at, q, u);
    const int n = 3 + 5;
    tal_matrix by_u = dense(n, 3), none = {NULL, 0, 0, 1};
    const double f[3] = {1.0, 0.0, 0.0};
    double moving[3], resting[3];
    must(at.state, tal_matter_calc_constrained_derivatives(at.matter, at.state, NULL, f, moving,
                                                           NULL, none, by_u, none));
    memset(tal_state_upd_u(at.state), 0, sizeof resting);
    must(at.state, tal_system_realize(at.system, at.state, TAL_STAGE_VELOCITY));
    must(at.state, tal_matter_calc_constrained_derivatives(at.matter, at.state, NULL, f, resting,
                                                           NULL, none, none, none));
    for (int i = 0; i < 3; ++i) {
        double along = 0.0;
        for (int j = 0; j < 3; ++j) {
            along += *at_entry(by_u, i, j) * u[j];
        }
        ck_assert_double_le(fabs(along - 2.0 * (moving[i] - resting[i])), 1e-12);
    }
    free(by_u.data);
    linkage_end(&at);
}

// The same bars folded flat: to first order the end can move across them only, so the row along
// them has no effect, and gains one when a bar turns.
START_TEST(a_change_of_rank_is_an_error_that_names_the_constraint)
{
    linkage at = linkage_begin(3);
    tal_constraint_def ends = tal_constraint_between(TAL_GROUND, at.bodies[2]);
    ends.name = "closure";
    const tal_vec3 end = {1.0, 0.0, 0.0};
    (void)tal_constraint_add_ball(at.matter, &ends, end, end);
    const double q[3] = {0.0, 0.0, TAL_PI}, u[3] = {0.0, 0.0, 0.0}, f[3] = {1.0, 2.0, 0.0};
    linkage_realize(&at, q, u);
    tal_matrix by_q = dense(6, 3), none = {NULL, 0, 0, 1};
    ck_assert_int_eq(tal_matter_calc_constrained_derivatives(at.matter, at.state, NULL, f, NULL,
                                                             NULL, by_q, none, none),
                     TAL_ERR_SINGULAR);
    const char *why = tal_state_error(at.state)->message;
    ck_assert_msg(strstr(why, "closure") != NULL && strstr(why, "rank") != NULL, "%s", why);
    free(by_q.data);
    linkage_end(&at);
}

// With the first pin prescribed udot of it stays, and the rest of the equations hold.
START_TEST(known_accelerations_stay)
{
    linkage at = linkage_begin(3);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = at.bodies[0];
    (void)tal_matter_add_motion_sinusoid(at.matter, &motion, 0.4, 1.0, 0.2);
    tal_constraint_def ends = tal_constraint_between(TAL_GROUND, at.bodies[2]);
    (void)tal_constraint_add_rod(at.matter, &ends, tal_v3(0.5, 1.0, 0.0), tal_v3(1.0, 0.0, 0.0),
                                 1.0);
    const double q[3] = {0.3, 0.4, -0.2}, u[3] = {0.5, 1.0, -1.0}, f[3] = {1.0, 2.0, 0.5};
    linkage_realize(&at, q, u);
    tal_matrix by_q = dense(4, 3), by_f = dense(4, 3), none = {NULL, 0, 0, 1};
    must(at.state, tal_matter_calc_constrained_derivatives(at.matter, at.state, NULL, f, NULL, NULL,
                                                           by_q, none, by_f));
    for (int j = 0; j < 3; ++j) {
        ck_assert_double_eq(*at_entry(by_q, 0, j), 0.0);
        ck_assert_double_eq(*at_entry(by_f, 0, j), 0.0);
    }
    free(by_q.data), free(by_f.data);
    linkage_end(&at);
}

START_TEST(constraints_without_changes_of_their_own_are_listed)
{
    linkage at = linkage_begin(3);
    tal_constraint_def pair = tal_constraint_def_default();
    pair.num_mobilities = 1;
    pair.mobilities[0] = (tal_mobility){at.bodies[1], 0};
    const tal_constraint_ix speed = tal_constraint_add_constant_speed(at.matter, &pair, 1.0);
    ck_assert_int_ge(speed.i, 0);
    tal_constraint_ix list[2];
    ck_assert_int_eq(tal_matter_differenced_constraints(at.matter, list, 2), 0);
    tal_system_destroy(at.system);
}

int main(void)
{
    Suite *suite = suite_create("matter/derivative_constrained");
    TCase *trees = tcase_create("trees");
    tcase_set_timeout(trees, 60.0);
    tcase_add_test(trees, errors_and_forces_agree_with_differences);
    tcase_add_test(trees, constrained_accelerations_and_multipliers_agree_with_differences);
    tcase_add_test(trees, nothing_is_allocated);
    suite_add_tcase(suite, trees);
    TCase *plane = tcase_create("mechanisms in a plane");
    tcase_add_test(plane, rows_without_effect_are_no_obstacle);
    tcase_add_test(plane, a_change_of_rank_is_an_error_that_names_the_constraint);
    tcase_add_test(plane, known_accelerations_stay);
    tcase_add_test(plane, constraints_without_changes_of_their_own_are_listed);
    suite_add_tcase(suite, plane);
    return test_run(suite);
}
