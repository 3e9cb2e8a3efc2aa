// matter/src/operator/op_task.c, op_floating.c: operational-space inertia; a tree seen from its
// base.
#include "alloc_guard.h"
#include "op_support.h"

#include <limits.h>

static double round_off(const random_tree *tree)
{
    return 16.0 * (tree->nu + tree->num_bodies) * DBL_EPSILON;
}

enum {
    NUM_FRAMES = 2
};

static void random_frames(const random_tree *tree, test_rng *rng, tal_station frames[])
{
    for (int k = 0; k < NUM_FRAMES; ++k) {
        frames[k].body.i = (int)test_random_uniform(rng, 1.0, tree->num_bodies);
        frames[k].p_BS = test_random_vec3(rng);
    }
}

static spectrum spectrum_of_M(const random_tree *tree)
{
    if (tree->nu == 0) return (spectrum){1.0, 1.0};
    tal_matrix M = dense(tree->nu, tree->nu);
    must(tree->state, tal_matter_calc_M(tree->matter, tree->state, M));
    const spectrum s = spectrum_of(M);
    free(M.data);
    return s;
}

// --- operational space ---

// |J M^-1 J^T - Lambda^-1|: the error of M^-1, cond(M) n eps / least, between two J.
// Inventory of RBDA: 7.05.
START_TEST(Lambda_inverse_is_J_Minv_J_transposed)
{
    test_rng rng = test_rng_seed(51);
    const int m = 6 * NUM_FRAMES;
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        const int nu = tree.nu;
        tal_station frames[NUM_FRAMES];
        random_frames(&tree, &rng, frames);
        tal_matrix J = dense(m, nu), JT = dense(nu, m), A = dense(nu, m), wanted = dense(m, m);
        tal_matrix Linv = dense(m, m);
        must(tree.state, tal_matter_calc_frame_J(tree.matter, tree.state, frames, NUM_FRAMES, J));
        for (int e = 0; e < m * nu; ++e) {
            *at(JT, e / m, e % m) = *at(J, e % m, e / m);
        }
        must(tree.state, tal_matter_mul_Minv_columns(tree.matter, tree.state, JT, A));
        multiply(J, false, A, wanted);
        must(tree.state,
             tal_matter_calc_Lambda_inv(tree.matter, tree.state, frames, NUM_FRAMES, Linv));
        const spectrum s = spectrum_of_M(&tree);
        const double tol =
            round_off(&tree) * (s.most / s.least) / s.least * (1.0 + size_of(J) * size_of(J));
        ck_assert_double_le(distance(Linv, wanted), tol);
        for (int e = 0; e < m * m; ++e) {
            ck_assert(*at(Linv, e / m, e % m) == *at(Linv, e % m, e / m));
        }
        free(J.data), free(JT.data), free(A.data), free(wanted.data), free(Linv.data);
        random_tree_destroy(&tree);
    }
}

// L = Lambda Linv Lambda, whatever the rank (Penrose's second condition).
START_TEST(Lambda_is_the_pseudoinverse_and_tells_the_rank)
{
    test_rng rng = test_rng_seed(52);
    random_tree_def def = random_tree_def_default(5);
    def.free_base = true;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    const tal_station frame = {{tree.num_bodies - 1}, test_random_vec3(&rng)};
    tal_matrix L = dense(6, 6), Linv = dense(6, 6), LL = dense(6, 6), LLL = dense(6, 6);
    tal_matrix work = dense((int)tal_matter_Lambda_work_size(1), 1);
    int iwork[64], rank = -1;
    ck_assert_uint_le(tal_matter_Lambda_iwork_size(1), 64);
    must(tree.state,
         tal_matter_calc_Lambda(tree.matter, tree.state, &frame, 1, L, &rank, work.data, iwork));
    ck_assert_int_eq(rank, 6); // a free base lets every body move in every direction
    must(tree.state, tal_matter_calc_Lambda_inv(tree.matter, tree.state, &frame, 1, Linv));
    multiply(L, false, Linv, LL);
    multiply(LL, false, L, LLL);
    const spectrum s = spectrum_of(Linv);
    ck_assert_double_le(distance(LLL, L), 64.0 * DBL_EPSILON * (s.most / s.least) * size_of(L));
    free(L.data), free(Linv.data), free(LL.data), free(LLL.data), free(work.data);
    random_tree_destroy(&tree);
}

// A pin turns about one axis and moves its tip along one line: one direction in six.
START_TEST(a_pendulum_shows_one_direction_of_inertia)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def rod = tal_mobod_def_default();
    rod.mass = tal_mass_props_rod(3.0, tal_v3(0.0, 1.0, 0.0)); // 2 m long, half a length from Bo
    rod.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    const tal_body_ix body = tal_matter_add_pin(matter, TAL_GROUND, &rod);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);

    // I = 3 2^2/3 = 4 about the pin; the tip, 2 m below, has J = (0,0,1; 2,0,0)
    const tal_station tip = {body, {0.0, -1.0, 0.0}}, ground = {TAL_GROUND, {1.0, 2.0, 3.0}};
    static const double J[] = {0.0, 0.0, 1.0, 2.0, 0.0, 0.0};
    tal_matrix L = dense(6, 6), work = dense((int)tal_matter_Lambda_work_size(1), 1);
    int iwork[64], rank = -1;
    must(state, tal_matter_calc_Lambda_inv(matter, state, &tip, 1, L));
    for (int e = 0; e < 36; ++e) {
        ck_assert_double_eq_tol(L.data[e], J[e / 6] * J[e % 6] / 4.0, 1e-15);
    }
    // Lambda = (J J^T / 4)^+ = 4 J J^T / 25
    must(state, tal_matter_calc_Lambda(matter, state, &tip, 1, L, &rank, work.data, iwork));
    ck_assert_int_eq(rank, 1);
    for (int e = 0; e < 36; ++e) {
        ck_assert_double_eq_tol(L.data[e], 4.0 * J[e / 6] * J[e % 6] / 25.0, 1e-14);
    }
    must(state, tal_matter_calc_Lambda(matter, state, &ground, 1, L, &rank, work.data, iwork));
    ck_assert_int_eq(rank, 0);
    ck_assert(size_of(L) == 0.0);
    ck_assert_uint_ge(tal_matter_Lambda_work_size(0), 1);
    ck_assert_uint_ge(tal_matter_Lambda_iwork_size(0), 1);
    free(L.data), free(work.data);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

// --- floating base ---

static tal_floating dense_floating(int n)
{
    tal_floating form = {dense(6, 6), dense(6, n), dense(n, n), TAL_SPATIAL_VEC_ZERO, NULL};
    form.C = dense(n, 1).data;
    return form;
}

static void free_floating(tal_floating *form)
{
    free(form->I.data), free(form->F.data), free(form->H.data), free(form->C);
}

static random_tree floating_tree(int k)
{
    random_tree_def def = random_tree_def_default((uint64_t)(300 + k));
    def.num_bodies = 1 + 3 * k;
    def.free_base = true;
    def.chain = k % 2 == 1;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    return tree;
}

enum {
    NUM_FLOATING = 8
};

// The equations with the answers of forward dynamics put in must leave nothing.
START_TEST(forward_dynamics_solves_the_floating_equations)
{
    test_rng rng = test_rng_seed(53);
    for (int k = 0; k < NUM_FLOATING; ++k) {
        random_tree tree = floating_tree(k);
        const tal_body_ix base = {1};
        const int n = tal_matter_floating_n(tree.matter, base);
        ck_assert_int_eq(n, tree.nu - 6);
        tal_matrix F = dense(6 * tree.num_bodies, 1), A = dense(6 * tree.num_bodies, 1);
        tal_matrix f = dense(tree.nu, 1), udot = dense(tree.nu, 1);
        const tal_spatial_vec *F_GB = (const tal_spatial_vec *)(void *)F.data;
        tal_spatial_vec *A_GB = (tal_spatial_vec *)(void *)A.data;
        fill_random(F, &rng);
        fill_random(f, &rng);
        memset(f.data, 0, 6 * sizeof(double)); // nothing holds the base
        must(tree.state,
             tal_matter_forward_dynamics(tree.matter, tree.state, F_GB, f.data, udot.data, A_GB));
        tal_floating form = dense_floating(n);
        must(tree.state, tal_matter_calc_floating(tree.matter, tree.state, base, F_GB, &form));

        const double *A0 = at(A, 6, 0), *p = &form.p.w.x;
        double size = 1.0 + size_of(F) + size_of(f), left[6];
        for (int i = 0; i < 6; ++i) {
            left[i] = p[i];
            size += fabs(p[i]);
            for (int j = 0; j < 6; ++j) {
                left[i] += *at(form.I, i, j) * A0[j];
                size += fabs(*at(form.I, i, j) * A0[j]);
            }
            for (int j = 0; j < n; ++j) {
                left[i] += *at(form.F, i, j) * udot.data[6 + j];
                size += fabs(*at(form.F, i, j) * udot.data[6 + j]);
            }
        }
        // a residual of forward dynamics is cond(M) n eps of the terms in it
        const spectrum s = spectrum_of_M(&tree);
        const double tol = round_off(&tree) * (s.most / s.least) * size;
        for (int i = 0; i < 6; ++i) {
            ck_assert_double_le(fabs(left[i]), tol);
        }
        for (int i = 0; i < n; ++i) {
            double sum = form.C[i] - f.data[6 + i];
            for (int j = 0; j < 6; ++j) {
                sum += *at(form.F, j, i) * A0[j];
            }
            for (int j = 0; j < n; ++j) {
                sum += *at(form.H, i, j) * udot.data[6 + j];
            }
            ck_assert_double_le(fabs(sum), tol);
        }

        // base taken out: H^fl udot + C^fl = tau (RBDA eq. 9.14)
        ck_assert_int_eq(tal_floating_eliminate_base(&form, NULL), TAL_OK);
        for (int i = 0; i < n; ++i) {
            double sum = form.C[i] - f.data[6 + i];
            for (int j = 0; j < n; ++j) {
                sum += *at(form.H, i, j) * udot.data[6 + j];
            }
            ck_assert_double_le(fabs(sum), tol * (s.most / s.least));
        }
        free_floating(&form);
        free(F.data), free(A.data), free(f.data), free(udot.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(the_joint_part_is_the_block_of_M)
{
    for (int k = 1; k < NUM_FLOATING; ++k) {
        random_tree tree = floating_tree(k);
        const tal_body_ix base = {1};
        const int n = tree.nu - 6;
        for (int b = 2; b < tree.num_bodies; ++b) { // rotors count too
            const tal_body_ix body = {b};
            if (tal_body_nu(tree.matter, body) != 1) continue;
            (void)tal_body_set_rotor_inertia(tree.matter, tree.state, body, 0.1 * b);
        }
        random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
        tal_matrix M = dense(tree.nu, tree.nu);
        tal_floating form = dense_floating(n);
        must(tree.state, tal_matter_calc_M(tree.matter, tree.state, M));
        must(tree.state, tal_matter_calc_floating(tree.matter, tree.state, base, NULL, &form));
        const tal_matrix block = {at(M, 6, 6), n, n, tree.nu};
        ck_assert_double_le(distance(form.H, block), round_off(&tree) * size_of(M));
        free(M.data);
        free_floating(&form);
        random_tree_destroy(&tree);
    }
}

START_TEST(floating_inverse_dynamics_undoes_forward_dynamics)
{
    test_rng rng = test_rng_seed(54);
    for (int k = 0; k < NUM_FLOATING; ++k) {
        random_tree tree = floating_tree(k);
        const tal_body_ix base = {1};
        const int n = tree.nu - 6;
        tal_matrix F = dense(6 * tree.num_bodies, 1), A = dense(6 * tree.num_bodies, 1);
        tal_matrix f = dense(tree.nu, 1), udot = dense(tree.nu, 1), tau = dense(n, 1);
        const tal_spatial_vec *F_GB = (const tal_spatial_vec *)(void *)F.data;
        tal_spatial_vec *A_GB = (tal_spatial_vec *)(void *)A.data, A0;
        fill_random(F, &rng);
        fill_random(f, &rng);
        memset(f.data, 0, 6 * sizeof(double));
        must(tree.state,
             tal_matter_forward_dynamics(tree.matter, tree.state, F_GB, f.data, udot.data, A_GB));
        must(tree.state, tal_matter_floating_inverse_dynamics(tree.matter, tree.state, base,
                                                              udot.data + 6, F_GB, &A0, tau.data));
        const spectrum s = spectrum_of_M(&tree);
        const double cond = s.most / s.least;
        const double tol = round_off(&tree) * cond * (1.0 + size_of(F) + s.most * size_of(A));
        for (int i = 0; i < n; ++i) {
            ck_assert_double_le(fabs(tau.data[i] - f.data[6 + i]), tol);
        }
        test_assert_sv_near(A0, A_GB[1], tol / s.least);
        free(F.data), free(A.data), free(f.data), free(udot.data), free(tau.data);
        random_tree_destroy(&tree);
    }
}

// A body that hangs on others floats as if it were alone: with the force that its mobilizer carries
// given as an applied force, it moves as it does in the tree.
START_TEST(any_body_can_be_the_base)
{
    random_tree_def def = random_tree_def_default(77);
    def.num_bodies = 12;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    tal_matrix A = dense(6 * tree.num_bodies, 1), udot = dense(tree.nu, 1);
    tal_spatial_vec *A_GB = (tal_spatial_vec *)(void *)A.data;
    must(tree.state,
         tal_matter_forward_dynamics(tree.matter, tree.state, NULL, NULL, udot.data, A_GB));
    const spectrum s = spectrum_of_M(&tree);
    for (int b = 1; b < tree.num_bodies; ++b) {
        const tal_body_ix base = {b};
        const int n = tal_matter_floating_n(tree.matter, base);
        tal_floating form = dense_floating(n);
        must(tree.state, tal_matter_calc_floating(tree.matter, tree.state, base, NULL, &form));
        // the speeds carried, in ascending order: those of bodies that have b on their path
        int speeds[64], count = 0;
        for (int c = b + 1; c < tree.num_bodies; ++c) {
            tal_body_ix at_body = {c};
            while (at_body.i > b) {
                at_body = tal_body_parent(tree.matter, at_body);
            }
            const tal_body_ix carried = {c};
            for (int j = 0; j < tal_body_nu(tree.matter, carried) && at_body.i == b; ++j) {
                speeds[count++] = tal_body_u_start(tree.matter, carried) + j;
            }
        }
        ck_assert_int_eq(count, n);
        // no forces along the joints: F^T A + H udot + C = 0
        for (int i = 0; i < n; ++i) {
            double sum = form.C[i], size = 1.0 + fabs(sum);
            for (int j = 0; j < 6; ++j) {
                sum += *at(form.F, j, i) * *at(A, 6 * b + j, 0);
                size += fabs(*at(form.F, j, i) * *at(A, 6 * b + j, 0));
            }
            for (int j = 0; j < n; ++j) {
                sum += *at(form.H, i, j) * udot.data[speeds[j]];
                size += fabs(*at(form.H, i, j) * udot.data[speeds[j]]);
            }
            ck_assert_double_le(fabs(sum), round_off(&tree) * (s.most / s.least) * size);
        }
        free_floating(&form);
    }
    free(A.data), free(udot.data);
    random_tree_destroy(&tree);
}

START_TEST(a_base_without_inertia_is_reported)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    const tal_mobod_def nothing = tal_mobod_def_default();
    const tal_body_ix base = tal_matter_add_free(matter, TAL_GROUND, &nothing);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    tal_spatial_vec A = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
    ck_assert_int_eq(
        tal_matter_floating_inverse_dynamics(matter, state, base, NULL, NULL, &A, NULL),
        TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "base"));
    ck_assert(A.w.x == 1.0 && A.v.z == 6.0);
    double f[6] = {0.0}, a[6];
    ck_assert_int_eq(tal_matter_mul_Minv(matter, state, f, a), TAL_ERR_SINGULAR);
    const tal_station frame = {base, {0.0, 0.0, 0.0}};
    double work[256], L[36];
    int iwork[64], rank;
    ck_assert_int_eq(tal_matter_calc_Lambda(matter, state, &frame, 1, tal_matrix_view(L, 6, 6),
                                            &rank, work, iwork),
                     TAL_ERR_SINGULAR);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

// 36 n^2 is more than an int from n = 7724 on, 6 n from n = 357913942 on.
START_TEST(sizes_of_work_are_counted_in_size_t)
{
    const size_t n = 10000;
    ck_assert_uint_eq(tal_matter_Lambda_work_size((int)n), 72 * n * n + 12 * n);
    ck_assert_uint_eq(tal_matter_Lambda_iwork_size((int)n), 6 * n);
    ck_assert_uint_eq(tal_matter_Lambda_iwork_size(357913941), (size_t)6 * 357913941);
    size_t size = 1;
    test_assert_breach(size = tal_matter_Lambda_work_size(357913942), TAL_ERR_BAD_VALUE,
                       "too many");
    ck_assert_uint_eq(size, 0);
    test_assert_breach(size = tal_matter_Lambda_iwork_size(INT_MAX), TAL_ERR_BAD_VALUE, "too many");
    test_assert_breach(size = tal_matter_Lambda_work_size(-1), TAL_ERR_BAD_VALUE,
                       "not be negative");
    ck_assert_uint_eq(size, 0);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/op_task");
    TCase *task = tcase_create("operational space");
    tcase_add_test(task, Lambda_inverse_is_J_Minv_J_transposed);
    tcase_add_test(task, Lambda_is_the_pseudoinverse_and_tells_the_rank);
    tcase_add_test(task, a_pendulum_shows_one_direction_of_inertia);
    tcase_add_test(task, sizes_of_work_are_counted_in_size_t);
    suite_add_tcase(suite, task);
    TCase *floating = tcase_create("floating base");
    tcase_add_test(floating, forward_dynamics_solves_the_floating_equations);
    tcase_add_test(floating, the_joint_part_is_the_block_of_M);
    tcase_add_test(floating, floating_inverse_dynamics_undoes_forward_dynamics);
    tcase_add_test(floating, any_body_can_be_the_base);
    tcase_add_test(floating, a_base_without_inertia_is_reported);
    suite_add_tcase(suite, floating);
    return test_run(suite);
}
