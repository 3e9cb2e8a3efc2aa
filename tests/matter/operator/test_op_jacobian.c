// matter/src/operator/op_jacobian.c, op_station.c, kernel_jacobian.c, op_rates.c: Jacobians and
// rates.
#include "op_support.h"

static double round_off(const random_tree *tree)
{
    return 16.0 * (tree->nu + tree->num_bodies) * DBL_EPSILON;
}

static tal_xform X_GB_of(const random_tree *tree, const tal_state *state, int b)
{
    const tal_bodies_view poses = tal_matter_poses(tree->matter, state);
    const tal_body_ix body = {b};
    return tal_xf_mul(*tal_view_X_GM(&poses, b), tal_body_X_MB(tree->matter, state, body));
}

// A few stations on random bodies, Ground among them.
enum {
    NUM_STATIONS = 4
};

static void random_stations(const random_tree *tree, test_rng *rng, tal_station stations[])
{
    for (int k = 0; k < NUM_STATIONS; ++k) {
        const int b = k == 0 ? 0 : (int)test_random_uniform(rng, 1.0, tree->num_bodies);
        stations[k].body.i = k == 1 ? tree->num_bodies - 1 : b;
        stations[k].p_BS = test_random_vec3(rng);
    }
}

// --- operators are their matrices ---

START_TEST(the_system_Jacobian_is_the_matrix_it_stands_for)
{
    test_rng rng = test_rng_seed(21);
    for (int k = 0; k < NUM_TREES - 2; ++k) {
        random_tree tree = tree_number(k);
        const int rows = 6 * tree.num_bodies;
        tal_matrix J = dense(rows, tree.nu), U = dense(tree.nu, 2), F = dense(rows, 2);
        tal_matrix V = dense(rows, 2), f = dense(tree.nu, 2), wanted = dense(rows, 2);
        fill_random(U, &rng);
        fill_random(F, &rng);
        must(tree.state, tal_matter_calc_J(tree.matter, tree.state, J));
        const double tol = round_off(&tree) * (1.0 + size_of(J));

        must(tree.state, tal_matter_mul_J_columns(tree.matter, tree.state, U, V));
        multiply(J, false, U, wanted);
        ck_assert_double_le(distance(V, wanted), tol * size_of(U));
        must(tree.state, tal_matter_mul_J(tree.matter, tree.state, at(U, 0, 1),
                                          (tal_spatial_vec *)(void *)wanted.data));
        ck_assert_mem_eq(wanted.data, at(V, 0, 1), (size_t)rows * sizeof(double));

        must(tree.state, tal_matter_mul_JT_columns(tree.matter, tree.state, F, f));
        tal_matrix f_wanted = dense(tree.nu, 2);
        multiply(J, true, F, f_wanted);
        ck_assert_double_le(distance(f, f_wanted), tol * size_of(F));
        must(tree.state,
             tal_matter_mul_JT(tree.matter, tree.state,
                               (const tal_spatial_vec *)(void *)at(F, 0, 1), f_wanted.data));
        ck_assert_mem_eq(f_wanted.data, at(f, 0, 1), (size_t)tree.nu * sizeof(double));
        free(J.data), free(U.data), free(F.data), free(V.data), free(f.data);
        free(wanted.data), free(f_wanted.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(the_Jacobian_times_the_speeds_of_the_State_is_its_velocities)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        tal_matrix V = dense(6 * tree.num_bodies, 1);
        tal_spatial_vec *V_GB = (tal_spatial_vec *)(void *)V.data;
        must(tree.state, tal_matter_mul_J(tree.matter, tree.state, tal_state_u(tree.state), V_GB));
        const tal_bodies_view velocities = tal_matter_velocities(tree.matter, tree.state);
        for (int b = 0; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b};
            const tal_mat3 R_GM =
                tal_m3_mul(X_GB_of(&tree, tree.state, b).R,
                           tal_m3_transpose(tal_body_X_MB(tree.matter, tree.state, body).R));
            const tal_vec3 p_MB =
                tal_m3_mul_v3(R_GM, tal_body_X_MB(tree.matter, tree.state, body).p);
            const tal_spatial_vec wanted =
                tal_sv_shift_motion(*tal_view_V_GM(&velocities, b), p_MB);
            test_assert_sv_near(V_GB[b], wanted, round_off(&tree) * (1.0 + size_of(V)));
        }
        free(V.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(stations_and_frames_have_the_Jacobian_of_their_body_shifted)
{
    test_rng rng = test_rng_seed(22);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        const int n = NUM_STATIONS;
        tal_station s[NUM_STATIONS];
        random_stations(&tree, &rng, s);
        tal_matrix JA = dense(6 * n, tree.nu), JS = dense(3 * n, tree.nu), u = dense(tree.nu, 1);
        fill_random(u, &rng);
        must(tree.state, tal_matter_calc_frame_J(tree.matter, tree.state, s, n, JA));
        must(tree.state, tal_matter_calc_station_J(tree.matter, tree.state, s, n, JS));
        const double tol = round_off(&tree) * (1.0 + size_of(JA)) * (1.0 + size_of(u));

        // rows of the station are the linear rows of the frame, to the bit
        for (int e = 0; e < n * tree.nu; ++e) {
            ck_assert_mem_eq(at(JA, 6 * (e % n) + 3, e / n), at(JS, 3 * (e % n), e / n),
                             3 * sizeof(double));
        }
        tal_matrix VA = dense(6 * n, 1), wanted = dense(6 * n, 1), VS = dense(3 * n, 1);
        must(tree.state, tal_matter_mul_frame_J(tree.matter, tree.state, s, n, u.data,
                                                (tal_spatial_vec *)(void *)VA.data));
        multiply(JA, false, u, wanted);
        ck_assert_double_le(distance(VA, wanted), tol);
        must(tree.state, tal_matter_mul_station_J(tree.matter, tree.state, s, n, u.data,
                                                  (tal_vec3 *)(void *)VS.data));
        for (int i = 0; i < n; ++i) {
            ck_assert_mem_eq(at(VS, 3 * i, 0), at(VA, 6 * i + 3, 0), 3 * sizeof(double));
        }
        // the body's own motion, shifted
        tal_matrix V = dense(6 * tree.num_bodies, 1);
        tal_spatial_vec *V_GB = (tal_spatial_vec *)(void *)V.data;
        must(tree.state, tal_matter_mul_J(tree.matter, tree.state, u.data, V_GB));
        for (int i = 0; i < n; ++i) {
            const int b = s[i].body.i;
            const tal_vec3 p = tal_m3_mul_v3(X_GB_of(&tree, tree.state, b).R, s[i].p_BS);
            test_assert_sv_near(*(tal_spatial_vec *)(void *)at(VA, 6 * i, 0),
                                tal_sv_shift_motion(V_GB[b], p), tol);
        }
        free(JA.data), free(JS.data), free(u.data), free(VA.data), free(wanted.data);
        free(VS.data), free(V.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(transposed_Jacobians_of_stations_and_frames_do_the_same_work)
{
    test_rng rng = test_rng_seed(23);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        const int n = NUM_STATIONS;
        tal_station s[NUM_STATIONS];
        random_stations(&tree, &rng, s);
        tal_matrix JA = dense(6 * n, tree.nu), F = dense(6 * n, 1), f = dense(tree.nu, 1);
        tal_matrix JS = dense(3 * n, tree.nu), fS = dense(3 * n, 1), wanted = dense(tree.nu, 1);
        fill_random(F, &rng);
        fill_random(fS, &rng);
        must(tree.state, tal_matter_calc_frame_J(tree.matter, tree.state, s, n, JA));
        must(tree.state, tal_matter_calc_station_J(tree.matter, tree.state, s, n, JS));
        const double tol = round_off(&tree) * (1.0 + size_of(JA)) * size_of(F);

        must(tree.state, tal_matter_mul_frame_JT(tree.matter, tree.state, s, n,
                                                 (const tal_spatial_vec *)(void *)F.data, f.data));
        multiply(JA, true, F, wanted);
        ck_assert_double_le(distance(f, wanted), tol);
        must(tree.state, tal_matter_mul_station_JT(tree.matter, tree.state, s, n,
                                                   (const tal_vec3 *)(void *)fS.data, f.data));
        multiply(JS, true, fS, wanted);
        ck_assert_double_le(distance(f, wanted), tol);
        free(JA.data), free(F.data), free(f.data), free(JS.data), free(fS.data);
        free(wanted.data);
        random_tree_destroy(&tree);
    }
}

// --- against differences ---

/*
 * Along q(t) = q + t N u the derivative of a pose at t = 0 is what the Jacobian says. It is taken
 * from four points,
 *
 *     f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h,     error h^4/30 f^(5)
 *
 * A pose is a product of turns at rates |qdot_i| and less, so |f^(5)| <= S W^5 with W = sum
 * |qdot_i| and S its size. With h = 1e-3/W that is S W 3e-14, and round-off is 1.5 eps S/h =
 * S W 3.3e-13; short quaternions turn up to twice as fast as their qdot. So TOL S W is safe with
 */
static const double TOL = 1e-11;

typedef struct moved {
    tal_state *state[4]; ///< at h, -h, 2h, -2h
    double h, W;
} moved;

static moved move_along_u(const random_tree *tree)
{
    const int nq = tal_matter_nq(tree->matter, tree->state);
    tal_matrix qdot = dense(nq, 1), q = dense(nq, 1);
    must(tree->state,
         tal_matter_calc_qdot(tree->matter, tree->state, tal_state_u(tree->state), qdot.data));
    moved m = {.W = 1.0};
    for (int i = 0; i < nq; ++i) {
        m.W += fabs(qdot.data[i]);
    }
    m.h = 1e-3 / m.W;
    static const double steps[] = {1.0, -1.0, 2.0, -2.0};
    for (int k = 0; k < 4; ++k) {
        ck_assert_int_eq(tal_state_create(tree->system, &m.state[k], NULL), TAL_OK);
        ck_assert_int_eq(tal_state_copy(m.state[k], tree->state), TAL_OK);
        for (int i = 0; i < nq; ++i) {
            q.data[i] = tal_state_q(tree->state)[i] + steps[k] * m.h * qdot.data[i];
        }
        ck_assert_int_eq(tal_state_set_q(m.state[k], q.data, nq), TAL_OK);
        random_tree_realize(tree, m.state[k], TAL_STAGE_VELOCITY);
    }
    free(qdot.data), free(q.data);
    return m;
}

static void destroy_moved(moved *m)
{
    for (int k = 0; k < 4; ++k) {
        tal_state_destroy(m->state[k]);
    }
}

static double four_points(const double f[4], double h)
{
    return (8.0 * (f[0] - f[1]) - (f[2] - f[3])) / (12.0 * h);
}

enum {
    DIFFERENCED_TREES = 10 // up to 20 bodies
};

START_TEST(J_u_is_the_rate_of_the_poses)
{
    for (int k = 0; k < DIFFERENCED_TREES; ++k) {
        random_tree tree = tree_number(k);
        moved m = move_along_u(&tree);
        tal_matrix V = dense(6 * tree.num_bodies, 1);
        tal_spatial_vec *V_GB = (tal_spatial_vec *)(void *)V.data;
        must(tree.state, tal_matter_mul_J(tree.matter, tree.state, tal_state_u(tree.state), V_GB));
        for (int b = 0; b < tree.num_bodies; ++b) {
            double rate[12], value[12][4];
            for (int s = 0; s < 4; ++s) {
                const tal_xform X = X_GB_of(&tree, m.state[s], b);
                const double *x = &X.R.x.x;
                for (int i = 0; i < 12; ++i) {
                    value[i][s] = x[i];
                }
            }
            for (int i = 0; i < 12; ++i) {
                rate[i] = four_points(value[i], m.h);
            }
            const tal_xform X = X_GB_of(&tree, tree.state, b);
            const tal_mat3 Rdot = {{rate[0], rate[1], rate[2]},
                                   {rate[3], rate[4], rate[5]},
                                   {rate[6], rate[7], rate[8]}};
            const double tol = TOL * m.W * (1.0 + tal_v3_norm(X.p));
            test_assert_m3_near(Rdot, tal_m3_mul(tal_m3_cross(V_GB[b].w), X.R), tol);
            test_assert_v3_near(V_GB[b].v, tal_v3(rate[9], rate[10], rate[11]), tol);
        }
        free(V.data);
        destroy_moved(&m);
        random_tree_destroy(&tree);
    }
}

// The bias has the size S W^2, and so has its tolerance.
START_TEST(the_biases_are_the_rates_of_the_Jacobians_times_u)
{
    test_rng rng = test_rng_seed(24);
    for (int k = 0; k < DIFFERENCED_TREES; ++k) {
        random_tree tree = tree_number(k);
        moved m = move_along_u(&tree);
        const int n = NUM_STATIONS, rows = 6 * tree.num_bodies;
        tal_station s[NUM_STATIONS];
        random_stations(&tree, &rng, s);
        tal_matrix V = dense(rows, 4), A = dense(rows, 1), VA = dense(6 * n, 4),
                   AA = dense(6 * n, 1);
        tal_matrix aS = dense(3 * n, 1);
        double size = 1.0;
        for (int i = 0; i < 4; ++i) {
            must(m.state[i], tal_matter_mul_J(tree.matter, m.state[i], tal_state_u(tree.state),
                                              (tal_spatial_vec *)(void *)at(V, 0, i)));
            must(m.state[i],
                 tal_matter_mul_frame_J(tree.matter, m.state[i], s, n, tal_state_u(tree.state),
                                        (tal_spatial_vec *)(void *)at(VA, 0, i)));
        }
        must(tree.state,
             tal_matter_calc_J_bias(tree.matter, tree.state, (tal_spatial_vec *)(void *)A.data));
        must(tree.state, tal_matter_calc_frame_bias(tree.matter, tree.state, s, n,
                                                    (tal_spatial_vec *)(void *)AA.data));
        must(tree.state, tal_matter_calc_station_bias(tree.matter, tree.state, s, n,
                                                      (tal_vec3 *)(void *)aS.data));
        for (int b = 1; b < tree.num_bodies; ++b) {
            size = fmax(size, 2.0 + tal_v3_norm(X_GB_of(&tree, tree.state, b).p));
        }
        const double tol = TOL * m.W * m.W * size;
        for (int i = 0; i < rows; ++i) {
            const double f[4] = {*at(V, i, 0), *at(V, i, 1), *at(V, i, 2), *at(V, i, 3)};
            ck_assert_double_le(fabs(four_points(f, m.h) - A.data[i]), tol);
        }
        for (int i = 0; i < 6 * n; ++i) {
            const double f[4] = {*at(VA, i, 0), *at(VA, i, 1), *at(VA, i, 2), *at(VA, i, 3)};
            ck_assert_double_le(fabs(four_points(f, m.h) - AA.data[i]), tol);
        }
        for (int i = 0; i < n; ++i) {
            ck_assert_mem_eq(at(aS, 3 * i, 0), at(AA, 6 * i + 3, 0), 3 * sizeof(double));
        }
        free(V.data), free(A.data), free(VA.data), free(AA.data), free(aS.data);
        destroy_moved(&m);
        random_tree_destroy(&tree);
    }
}

// --- N ---

START_TEST(N_plus_undoes_N_and_transposes_agree)
{
    test_rng rng = test_rng_seed(25);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        const tal_matter *matter = tree.matter;
        const int nu = tree.nu, nq = tal_matter_nq(matter, tree.state);
        tal_matrix u = dense(nu, 2), qdot = dense(nq, 2), back = dense(nu, 2);
        tal_matrix fq = dense(nq, 2), fu = dense(nu, 2), fq2 = dense(nq, 2);
        fill_random(u, &rng);
        fill_random(fq, &rng);
        must(tree.state, tal_matter_mul_N_columns(matter, tree.state, TAL_N, u, qdot));
        must(tree.state, tal_matter_mul_N_columns(matter, tree.state, TAL_NPLUS, qdot, back));
        // N and N^+ of one body are products of its few numbers: 64 roundings, times the size of N,
        // which the angles keep below 1/cos 1.2 = 2.8
        const double tol = 64.0 * 2.8 * DBL_EPSILON * (1.0 + size_of(qdot)) * (1.0 + size_of(fq));
        ck_assert_double_le(distance(back, u), tol);

        const tal_n_op pairs[][2] = {{TAL_N, TAL_N_T}, {TAL_NDOT, TAL_NDOT_T}};
        for (int i = 0; i < 2; ++i) {
            must(tree.state, tal_matter_mul_N(matter, tree.state, pairs[i][0], u.data, qdot.data));
            must(tree.state, tal_matter_mul_N(matter, tree.state, pairs[i][1], fq.data, fu.data));
            double left = 0.0, right = 0.0, size = 1.0;
            for (int j = 0; j < nq; ++j) {
                left += qdot.data[j] * fq.data[j];
                size += fabs(qdot.data[j] * fq.data[j]);
            }
            for (int j = 0; j < nu; ++j) {
                right += fu.data[j] * u.data[j];
            }
            ck_assert_double_le(fabs(left - right), 64.0 * nq * DBL_EPSILON * size * 8.0);
        }
        must(tree.state, tal_matter_mul_N(matter, tree.state, TAL_NPLUS_T, u.data, fq2.data));
        must(tree.state, tal_matter_mul_N(matter, tree.state, TAL_N_T, fq2.data, fu.data));
        for (int j = 0; j < nu; ++j) {
            ck_assert_double_le(fabs(fu.data[j] - u.data[j]), tol); // (N^+ N)^T = 1
        }
        free(u.data), free(qdot.data), free(back.data), free(fq.data), free(fu.data);
        free(fq2.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(rates_are_those_the_State_computes)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
        const int nq = tal_matter_nq(tree.matter, tree.state);
        tal_matrix rate = dense(nq, 1);
        must(tree.state,
             tal_matter_calc_qdot(tree.matter, tree.state, tal_state_u(tree.state), rate.data));
        ck_assert_mem_eq(rate.data, tal_state_qdot(tree.state), (size_t)nq * sizeof(double));
        must(tree.state, tal_matter_calc_qdotdot(tree.matter, tree.state,
                                                 tal_state_udot(tree.state), rate.data));
        ck_assert_mem_eq(rate.data, tal_state_qdotdot(tree.state), (size_t)nq * sizeof(double));
        free(rate.data);
        random_tree_destroy(&tree);
    }
}

// Columns are products one after the other: bit for bit.
START_TEST(columns_of_stations_and_frames_are_products_one_by_one)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        random_tree_realize(&tree, tree.state, TAL_STAGE_POSITION);
        const tal_matter *matter = tree.matter;
        const tal_station at[] = {{{tree.num_bodies - 1}, {0.1, -0.2, 0.3}},
                                  {{0}, {1.0, 2.0, 3.0}}};
        test_rng rng = test_rng_seed(500 + (uint64_t)k);
        tal_matrix U = dense(tree.nu, 3), f = dense(tree.nu, 3), one = dense(tree.nu, 1);
        tal_matrix v = dense(6, 3), V = dense(12, 3);
        for (int i = 0; i < 3 * tree.nu; ++i) {
            U.data[i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        must(tree.state, tal_matter_mul_station_J_columns(matter, tree.state, at, 2, U, v));
        must(tree.state, tal_matter_mul_frame_J_columns(matter, tree.state, at, 2, U, V));
        for (int j = 0; j < 3; ++j) {
            tal_vec3 v_GS[2];
            tal_spatial_vec V_GA[2];
            const double *u = U.data + j * tree.nu;
            must(tree.state, tal_matter_mul_station_J(matter, tree.state, at, 2, u, v_GS));
            must(tree.state, tal_matter_mul_frame_J(matter, tree.state, at, 2, u, V_GA));
            ck_assert_mem_eq(v_GS, v.data + 6 * j, sizeof v_GS);
            ck_assert_mem_eq(V_GA, V.data + 12 * j, sizeof V_GA);
        }
        const size_t bytes = (size_t)tree.nu * sizeof(double);
        must(tree.state, tal_matter_mul_station_JT_columns(matter, tree.state, at, 2, v, f));
        for (int j = 0; j < 3; ++j) {
            const tal_vec3 *push = (const tal_vec3 *)(const void *)(v.data + 6 * j);
            must(tree.state, tal_matter_mul_station_JT(matter, tree.state, at, 2, push, one.data));
            if (bytes > 0) ck_assert_mem_eq(one.data, f.data + j * tree.nu, bytes);
        }
        must(tree.state, tal_matter_mul_frame_JT_columns(matter, tree.state, at, 2, V, f));
        for (int j = 0; j < 3; ++j) {
            const tal_spatial_vec *push = (const tal_spatial_vec *)(const void *)(V.data + 12 * j);
            must(tree.state, tal_matter_mul_frame_JT(matter, tree.state, at, 2, push, one.data));
            if (bytes > 0) ck_assert_mem_eq(one.data, f.data + j * tree.nu, bytes);
        }
        free(U.data), free(f.data), free(one.data), free(v.data), free(V.data);
        random_tree_destroy(&tree);
    }
}

int main(void)
{
    Suite *suite = suite_create("matter/op_jacobian");
    TCase *identities = tcase_create("identities");
    tcase_add_test(identities, the_system_Jacobian_is_the_matrix_it_stands_for);
    tcase_add_test(identities, the_Jacobian_times_the_speeds_of_the_State_is_its_velocities);
    tcase_add_test(identities, stations_and_frames_have_the_Jacobian_of_their_body_shifted);
    tcase_add_test(identities, transposed_Jacobians_of_stations_and_frames_do_the_same_work);
    tcase_add_test(identities, columns_of_stations_and_frames_are_products_one_by_one);
    tcase_add_test(identities, N_plus_undoes_N_and_transposes_agree);
    tcase_add_test(identities, rates_are_those_the_State_computes);
    suite_add_tcase(suite, identities);
    TCase *differences = tcase_create("differences");
    tcase_add_test(differences, J_u_is_the_rate_of_the_poses);
    tcase_add_test(differences, the_biases_are_the_rates_of_the_Jacobians_times_u);
    suite_add_tcase(suite, differences);
    return test_run(suite);
}
