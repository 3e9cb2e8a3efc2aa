// matter/src/response/response_inertia.c: inertias of bodies alone and with what they carry, and
// the terms that velocities add.
#include "alloc_guard.h"
#include "motion_support.h"

#include <float.h>

enum {
    TRIALS = 20,
    BODIES = 20
};

static random_tree realized_tree(int seed, bool free_base)
{
    random_tree_def def = random_tree_def_default((uint64_t)seed);
    def.num_bodies = BODIES;
    def.free_base = free_base;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
    return tree;
}

// Sums of so many terms of this size, each with a few dozen roundings.
static double round_off(double size)
{
    return 30.0 * BODIES * DBL_EPSILON * size;
}

static void assert_inertia_near(tal_spatial_inertia M, tal_spatial_inertia N)
{
    const double size = fmax(1.0, tal_s3_trace(N.G));
    ck_assert_double_eq_tol(M.mass, N.mass, round_off(N.mass));
    test_assert_v3_near(M.p, N.p, round_off(sqrt(size)));
    test_assert_s3_near(M.G, N.G, round_off(size));
}

static void assert_abi_near(tal_abi P, tal_abi Q, double tol)
{
    test_assert_s3_near(P.J, Q.J, tol);
    test_assert_m3_near(P.F, Q.F, tol);
    test_assert_s3_near(P.M, Q.M, tol);
}

static tal_vec3 p_PB_G(const random_tree *tree, tal_body_ix body)
{
    const tal_body_ix parent = tal_body_parent(tree->matter, body);
    return tal_v3_sub(tal_body_p_GB(tree->matter, tree->state, body),
                      tal_body_p_GB(tree->matter, tree->state, parent));
}

// --- inertias ---

START_TEST(a_body_has_the_inertia_it_was_given_turned_to_ground)
{
    random_tree tree = realized_tree(1, false);
    for (int b = 1; b < tree.num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props props = tal_body_mass_props(tree.matter, tree.state, body);
        const tal_spatial_inertia wanted =
            tal_spatial_inertia_reexpress(tal_body_X_GB(tree.matter, tree.state, body).R,
                                          tal_spatial_inertia_from_mass_props(props));

        assert_inertia_near(tal_body_spatial_inertia(tree.matter, tree.state, body), wanted);
    }
    random_tree_destroy(&tree);
}

// I_B^c = I_B + sum over children                                               RBDA eq. 6.13
START_TEST(a_composite_is_the_body_and_its_childrens_composites)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i, false);
        tal_spatial_inertia sum[BODIES + 1] = {{0.0, TAL_VEC3_ZERO, TAL_SYM3_ZERO}};
        for (int b = 1; b < tree.num_bodies; ++b) {
            sum[b] = tal_body_spatial_inertia(tree.matter, tree.state, (tal_body_ix){b});
        }
        for (int b = tree.num_bodies - 1; b > 0; --b) {
            const tal_body_ix body = {b};
            const int p = tal_body_parent(tree.matter, body).i;
            sum[p] = tal_spatial_inertia_add(
                sum[p], tal_spatial_inertia_shift(sum[b], p_PB_G(&tree, body)));
        }
        for (int b = 0; b < tree.num_bodies; ++b) {
            assert_inertia_near(
                tal_body_composite_inertia(tree.matter, tree.state, (tal_body_ix){b}), sum[b]);
        }
        random_tree_destroy(&tree);
    }
}

START_TEST(the_composite_of_ground_is_the_system)
{
    random_tree tree = realized_tree(2, false);
    const tal_mass_props all = tal_matter_mass_props(tree.matter, tree.state);

    assert_inertia_near(tal_body_composite_inertia(tree.matter, tree.state, TAL_GROUND),
                        tal_spatial_inertia_from_mass_props(all));
    random_tree_destroy(&tree);
}

// P - P H D^-1 H^T P with D = H^T P H, by Cholesky.                             RBDA eq. 7.23
static tal_abi let_go(tal_abi P, int nu, const tal_spatial_vec H[])
{
    double D[TAL_MAX_NU * TAL_MAX_NU], X[TAL_MAX_NU * TAL_MAX_NU] = {0.0};
    tal_spatial_vec U[TAL_MAX_NU];
    for (int j = 0; j < nu; ++j) {
        U[j] = tal_abi_mul(P, H[j]);
        X[j * nu + j] = 1.0;
        for (int i = 0; i < nu; ++i) {
            D[j * nu + i] = tal_sv_dot(H[i], U[j]);
        }
    }
    if (nu == 0) return P;
    tal_chol_info info;
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(D, nu, nu), &info, NULL), TAL_OK);
    ck_assert_int_eq(tal_chol_solve(tal_matrix_view(D, nu, nu), tal_matrix_view(X, nu, nu), NULL),
                     TAL_OK);
    for (int j = 0; j < nu; ++j) {
        tal_spatial_vec g = TAL_SPATIAL_VEC_ZERO;
        for (int i = 0; i < nu; ++i) {
            g = tal_sv_axpy(X[j * nu + i], U[i], g);
        }
        P = tal_abi_sub(P, tal_abi_outer(g, U[j]));
    }
    return P;
}

// P_B = M_B + sum over children of what is felt past their mobilizers           RBDA eq. 7.21
// One projection of a P that both sides share: what is subtracted is not larger than P, so the
// difference is round-off of P.
START_TEST(an_articulated_body_carries_what_its_mobilizers_let_be_felt)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i, i % 2 == 0);
        const tal_matter *m = tree.matter;
        tal_abi sum[BODIES + 1];
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b};
            sum[b] = tal_abi_from_spatial_inertia(tal_body_spatial_inertia(m, tree.state, body));
        }
        for (int b = tree.num_bodies - 1; b > 0; --b) {
            const tal_body_ix body = {b};
            const tal_abi P = tal_body_articulated_inertia(m, tree.state, body);
            const double size = fmax(1.0, tal_s3_trace(sum[b].J));
            assert_abi_near(P, sum[b], round_off(size));
            const int p = tal_body_parent(m, body).i;
            if (p == 0) continue;
            tal_spatial_vec H[TAL_MAX_NU];
            ck_assert_int_eq(tal_body_H(m, tree.state, body, TAL_H_PB_G, H), TAL_OK);
            const tal_abi felt = let_go(P, tal_body_nu(m, body), H);
            sum[p] = tal_abi_add(sum[p], tal_abi_shift(felt, p_PB_G(&tree, body)));
        }
        random_tree_destroy(&tree);
    }
}

// From rest, with nothing else acting, a force on a floating body gives P^-1 F: all it carries is
// free to move. That is what P means.
START_TEST(a_floating_base_accelerates_by_its_articulated_inertia)
{
    test_rng rng = test_rng_seed(1);
    for (int i = 0; i < TRIALS; ++i) {
        random_tree_def def = random_tree_def_default((uint64_t)i);
        def.num_bodies = BODIES;
        def.free_base = true;
        random_tree tree = random_tree_create(&def);
        const tal_body_ix base = {1};
        memset(tal_state_upd_u(tree.state), 0, (size_t)tree.nu * sizeof(double));
        memset(tree.f, 0, (size_t)tree.nu * sizeof *tree.f);
        memset(tree.F, 0, (size_t)tree.num_bodies * sizeof *tree.F);
        const tal_spatial_vec F_B = test_random_spatial_vec(&rng);
        random_tree_realize(&tree, tree.state, TAL_STAGE_POSITION);
        const tal_vec3 p_BM = tal_m3_mul_v3(tal_body_X_GB(tree.matter, tree.state, base).R,
                                            tal_body_X_BM(tree.matter, tree.state, base).p);
        tree.F[1] = tal_sv_shift_force(F_B, tal_v3_neg(p_BM));
        random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);

        const tal_abi P = tal_body_articulated_inertia(tree.matter, tree.state, base);
        const tal_spatial_vec A = tal_body_A_GB(tree.matter, tree.state, base);

        // a residual: round-off of its terms, whatever the condition of P
        const double size = (tal_s3_trace(P.J) + tal_s3_trace(P.M)) * size_of(&A.w.x, 6);
        test_assert_sv_near(tal_abi_mul(P, A), F_B, round_off(size));
        random_tree_destroy(&tree);
    }
}

START_TEST(ground_cannot_be_moved)
{
    random_tree tree = realized_tree(3, false);

    const tal_abi P = tal_body_articulated_inertia(tree.matter, tree.state, TAL_GROUND);

    ck_assert(isinf(P.J.xx) && isinf(P.J.yy) && isinf(P.J.zz));
    ck_assert(isinf(P.M.xx) && isinf(P.M.yy) && isinf(P.M.zz));
    test_assert_m3_near(P.F, TAL_MAT3_ZERO, 0.0);
    random_tree_destroy(&tree);
}

// --- what velocities cost ---

// A_GB = A_GP shifted + H_PB_G udot + Coriolis
START_TEST(coriolis_is_what_accelerations_have_besides_udot)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i, false);
        const tal_matter *m = tree.matter;
        tal_state *s = tree.state;
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b}, parent = tal_body_parent(m, body);
            const tal_spatial_vec A_GB = tal_body_A_GB(m, s, body);
            tal_spatial_vec H[TAL_MAX_NU];
            ck_assert_int_eq(tal_body_H(m, s, body, TAL_H_PB_G, H), TAL_OK);
            const tal_spatial_vec A_GP = tal_body_A_GB(m, s, parent);
            tal_spatial_vec sum = tal_sv_shift_motion(A_GP, p_PB_G(&tree, body));
            for (int j = 0; j < tal_body_nu(m, body); ++j) {
                sum = tal_sv_axpy(tal_state_udot(s)[tal_body_u_start(m, body) + j], H[j], sum);
            }

            const tal_spatial_vec own = tal_body_mobilizer_coriolis(m, s, body);
            const tal_spatial_vec total = tal_body_total_coriolis(m, s, body);

            const double tol =
                round_off(size_of(&A_GB.w.x, 6) + size_of(&A_GP.w.x, 6) + size_of(&total.w.x, 6));
            test_assert_sv_near(tal_sv_add(sum, own), A_GB, tol);
            const tal_spatial_vec inherited =
                tal_sv_shift_motion(tal_body_total_coriolis(m, s, parent), p_PB_G(&tree, body));
            test_assert_sv_near(tal_sv_add(inherited, own), total, tol);
        }
        test_assert_sv_near(tal_body_mobilizer_coriolis(m, s, TAL_GROUND), TAL_SPATIAL_VEC_ZERO,
                            0.0);
        random_tree_destroy(&tree);
    }
}

// M A0 + b: the force at udot = 0; and b by its definition.
START_TEST(centrifugal_force_is_coriolis_and_gyroscopic_force_together)
{
    random_tree tree = realized_tree(4, false);
    const tal_matter *m = tree.matter;
    tal_state *s = tree.state;
    for (int b = 0; b < tree.num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_spatial_inertia M = tal_body_spatial_inertia(m, s, body);
        const tal_vec3 w = tal_body_V_GB(m, s, body).w;
        const tal_spatial_vec gyro = {tal_v3_scale(M.mass, tal_v3_cross(w, tal_s3_mul_v3(M.G, w))),
                                      tal_v3_scale(M.mass, tal_v3_cross(w, tal_v3_cross(w, M.p)))};
        const tal_spatial_vec MA = tal_spatial_inertia_mul(M, tal_body_total_coriolis(m, s, body));

        const tal_spatial_vec F = tal_body_centrifugal_force(m, s, body);

        const double tol = round_off(size_of(&MA.w.x, 6) + size_of(&gyro.w.x, 6));
        test_assert_sv_near(tal_body_gyroscopic_force(m, s, body), gyro, tol);
        test_assert_sv_near(F, tal_sv_add(MA, gyro), tol);
    }
    random_tree_destroy(&tree);
}

// --- contracts ---

static void assert_all_breach(const tal_matter *m, tal_state *state, tal_body_ix body,
                              tal_status status, const char *part)
{
    tal_spatial_inertia M;
    tal_abi P;
    tal_spatial_vec F;
    test_assert_nan(M, tal_body_spatial_inertia(m, state, body), status, part);
    test_assert_nan(M, tal_body_composite_inertia(m, state, body), status, part);
    test_assert_nan(P, tal_body_articulated_inertia(m, state, body), status, part);
    test_assert_nan(F, tal_body_gyroscopic_force(m, state, body), status, part);
    test_assert_nan(F, tal_body_mobilizer_coriolis(m, state, body), status, part);
    test_assert_nan(F, tal_body_total_coriolis(m, state, body), status, part);
    test_assert_nan(F, tal_body_centrifugal_force(m, state, body), status, part);
}

START_TEST(a_broken_contract_is_nan_and_one_sentence)
{
    random_tree_def def = random_tree_def_default(1);
    random_tree tree = random_tree_create(&def);
    const tal_body_ix body = {3}, none = {99};
    test_record_breaches();

    assert_all_breach(tree.matter, tree.state, body, TAL_ERR_STAGE, "reached only Model");
    assert_all_breach(tree.matter, NULL, body, TAL_ERR_NULL, "State is NULL");
    assert_all_breach(tree.matter, tree.state, none, TAL_ERR_BAD_INDEX, "no body 99");
    assert_all_breach(NULL, tree.state, body, TAL_ERR_NULL, "matter is NULL");
    random_tree_destroy(&tree);
}

START_TEST(a_massless_tip_has_a_composite_but_no_articulated_inertia)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "feather";
    const tal_body_ix tip = tal_matter_add_pin(matter, TAL_GROUND, &def);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);

    const tal_abi P = tal_body_articulated_inertia(matter, state, tip);

    ck_assert(all_nan(&P, sizeof P));
    ck_assert_int_eq(tal_state_error(state)->status, TAL_ERR_SINGULAR);
    ck_assert_msg(strstr(tal_state_error(state)->message, "'feather'") != NULL, "%s",
                  tal_state_error(state)->message);
    ck_assert_double_eq(tal_body_composite_inertia(matter, state, tip).mass, 0.0);
    ck_assert_double_eq(tal_body_spatial_inertia(matter, state, tip).G.xx, 0.0);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

// --- memory ---

START_TEST(no_response_touches_the_heap)
{
    random_tree tree = realized_tree(5, false);
    const tal_matter *m = tree.matter;
    tal_state *s = tree.state;
    const tal_body_ix A = {2}, B = {7};
    const tal_vec3 p = {1.0, 2.0, 3.0};
    tal_spatial_vec H[TAL_MAX_NU];

    test_assert_no_heap(
        (void)tal_body_articulated_inertia(m, s, B); (void)tal_body_composite_inertia(m, s, B);
        (void)tal_body_reaction_F(m, s, B); (void)tal_body_A_AB(m, s, A, B);
        (void)tal_body_Hdot(m, s, B, TAL_H_PB_G, H); (void)tal_body_A_FM(m, s, B);
        (void)tal_station_distance_acceleration(m, s, A, p, B, p);
        (void)tal_matter_central_inertia(m, s); (void)tal_matter_central_momentum(m, s);
        (void)tal_matter_calc_kinetic_energy(m, s, tal_state_u(s)));
    random_tree_destroy(&tree);
}

int main(void)
{
    Suite *suite = suite_create("matter/response_inertia");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_body_has_the_inertia_it_was_given_turned_to_ground);
    tcase_add_test(theory, a_composite_is_the_body_and_its_childrens_composites);
    tcase_add_test(theory, the_composite_of_ground_is_the_system);
    tcase_add_test(theory, an_articulated_body_carries_what_its_mobilizers_let_be_felt);
    tcase_add_test(theory, a_floating_base_accelerates_by_its_articulated_inertia);
    tcase_add_test(theory, ground_cannot_be_moved);
    tcase_add_test(theory, coriolis_is_what_accelerations_have_besides_udot);
    tcase_add_test(theory, centrifugal_force_is_coriolis_and_gyroscopic_force_together);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_broken_contract_is_nan_and_one_sentence);
    tcase_add_test(errors, a_massless_tip_has_a_composite_but_no_articulated_inertia);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, no_response_touches_the_heap);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
