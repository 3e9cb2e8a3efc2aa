// matter/src/response/response_reaction.c: what mobilizers bear.
#include "motion_support.h"

#include <float.h>

enum {
    TRIALS = 30,
    MAX_BODIES = 200
};

static random_tree realized_tree(int seed, int num_bodies, bool free_base)
{
    random_tree_def def = random_tree_def_default((uint64_t)seed);
    def.num_bodies = num_bodies;
    def.free_base = free_base;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
    return tree;
}

// The largest force across any mobilizer, or 1: sums along the tree pass through forces of this
// size, so n eps of it is the round-off of any balance. Moments are about points within 30 of each
// other.
static double force_size(const random_tree *tree)
{
    double size = 1.0;
    for (int b = 0; b < tree->num_bodies; ++b) {
        const tal_spatial_vec F = tal_body_reaction_M(tree->matter, tree->state, (tal_body_ix){b});
        size = fmax(size, size_of(&F.w.x, 6));
    }
    return size;
}

static double tolerance(const random_tree *tree)
{
    return 30.0 * tree->num_bodies * DBL_EPSILON * force_size(tree);
}

static tal_vec3 p_BM_G(const random_tree *tree, tal_body_ix body)
{
    const tal_mat3 R_GB = tal_body_X_GB(tree->matter, tree->state, body).R;
    return tal_m3_mul_v3(R_GB, tal_body_X_BM(tree->matter, tree->state, body).p);
}

// --- identities ---

// Newton and Euler for one body cut free, about its Bo, from public numbers alone:
//
//     M A_GB + b = F applied + mobilizer on the body + mobilizers of the children on it
START_TEST(every_single_body_is_in_balance)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i, i % 10 == 0 ? MAX_BODIES : i, i % 2 == 0);
        const tal_matter *m = tree.matter;
        tal_spatial_vec sum[MAX_BODIES + 1];
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b};
            const tal_spatial_inertia M = tal_body_spatial_inertia(m, tree.state, body);
            const tal_spatial_vec MA =
                tal_spatial_inertia_mul(M, tal_body_A_GB(m, tree.state, body));
            const tal_spatial_vec applied = tal_sv_shift_force(tree.F[b], p_BM_G(&tree, body));
            sum[b] = tal_sv_add(applied, tal_body_reaction_B(m, tree.state, body));
            sum[b] = tal_sv_sub(sum[b], MA);
            sum[b] = tal_sv_sub(sum[b], tal_body_gyroscopic_force(m, tree.state, body));
            const tal_body_ix parent = tal_body_parent(m, body);
            if (parent.i == 0) continue;
            // from Fo to the parent's Bo
            const tal_vec3 p_PF_G = tal_m3_mul_v3(tal_body_X_GB(m, tree.state, parent).R,
                                                  tal_body_X_PF(m, tree.state, body).p);
            const tal_spatial_vec F_F = tal_body_reaction_F(m, tree.state, body);
            sum[parent.i] = tal_sv_add(sum[parent.i], tal_sv_shift_force(F_F, p_PF_G));
        }
        for (int b = 1; b < tree.num_bodies; ++b) {
            test_assert_sv_near(sum[b], TAL_SPATIAL_VEC_ZERO, tolerance(&tree));
        }
        random_tree_destroy(&tree);
    }
}

// H^T R = f: along its mobilities a mobilizer passes on the mobility forces and nothing else. This
// is the residual of the equations of motion at the udot found, which is round-off of the forces in
// it and not that of udot times the condition of M.
START_TEST(along_its_mobilities_a_mobilizer_passes_on_mobility_forces_only)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i, 20, false);
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b};
            tal_spatial_vec H[TAL_MAX_NU];
            ck_assert_int_eq(tal_body_H(tree.matter, tree.state, body, TAL_H_PM_G, H), TAL_OK);
            const tal_spatial_vec R = tal_body_reaction_M(tree.matter, tree.state, body);
            for (int j = 0; j < tal_body_nu(tree.matter, body); ++j) {
                const double along = tal_sv_dot(H[j], R);
                const double f = tree.f[tal_body_u_start(tree.matter, body) + j];
                test_assert_near(&along, &f, 1, tolerance(&tree), "H^T R");
            }
        }
        random_tree_destroy(&tree);
    }
}

// Action and reaction do work at the rate f.u between them, wherever they are taken.
START_TEST(a_mobilizer_makes_no_power_but_that_of_its_mobility_forces)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i, 20, false);
        const tal_matter *m = tree.matter;
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b}, parent = tal_body_parent(m, body);
            const tal_xform X_PF = tal_body_X_PF(m, tree.state, body);
            const tal_spatial_vec V_GF = tal_frame_V_AS(m, tree.state, TAL_GROUND, parent, &X_PF);
            const tal_spatial_vec V_GB = tal_body_V_GB(m, tree.state, body);
            const double power = tal_sv_dot(tal_body_reaction_B(m, tree.state, body), V_GB) +
                                 tal_sv_dot(tal_body_reaction_F(m, tree.state, body), V_GF);

            double wanted = 0.0;
            for (int j = 0; j < tal_body_nu(m, body); ++j) {
                const int k = tal_body_u_start(m, body) + j;
                wanted += tree.f[k] * tal_state_u(tree.state)[k];
            }

            // both powers are of the size force times speed, and cancel
            test_assert_near(&power, &wanted, 1, tolerance(&tree) * size_of(&V_GB.w.x, 6), "power");
        }
        random_tree_destroy(&tree);
    }
}

START_TEST(a_free_mobilizer_bears_nothing)
{
    random_tree_def def = random_tree_def_default(5);
    def.free_base = true;
    random_tree tree = random_tree_create(&def);
    memset(tree.f, 0, (size_t)tree.nu * sizeof *tree.f);
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);

    const tal_spatial_vec R = tal_body_reaction_M(tree.matter, tree.state, (tal_body_ix){1});

    // not by the balance of body 1 alone: all forces of the tree pass through here and cancel
    test_assert_sv_near(R, TAL_SPATIAL_VEC_ZERO, tolerance(&tree));
    random_tree_destroy(&tree);
}

// What holds Ground is the opposite of all that is done to it: what the base mobilizers do at their
// F, and what is applied to Ground itself.
START_TEST(ground_is_held_against_its_total_load)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree_def def = random_tree_def_default((uint64_t)i);
        random_tree tree = random_tree_create(&def);
        test_rng rng = test_rng_seed((uint64_t)i);
        tree.F[0] = test_random_spatial_vec(&rng);
        random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
        tal_spatial_vec load = tree.F[0];
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b};
            if (tal_body_parent(tree.matter, body).i != 0) continue;
            const tal_vec3 p_GF = tal_body_X_PF(tree.matter, tree.state, body).p;
            load = tal_sv_add(
                load, tal_sv_shift_force(tal_body_reaction_F(tree.matter, tree.state, body), p_GF));
        }

        const tal_spatial_vec M = tal_body_reaction_M(tree.matter, tree.state, TAL_GROUND);
        const tal_spatial_vec B = tal_body_reaction_B(tree.matter, tree.state, TAL_GROUND);

        test_assert_sv_near(tal_sv_add(M, load), TAL_SPATIAL_VEC_ZERO, tolerance(&tree));
        test_assert_sv_near(B, M, 0.0);
        random_tree_destroy(&tree);
    }
}

// --- textbook ---

static tal_status pull_down(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const tal_matter *matter = self;
    const tal_bodies_view poses = tal_matter_poses(matter, state);
    tal_vec3 com_M;
    const double mass = tal_body_mass(matter, state, (tal_body_ix){1}, &com_M);
    const tal_applied_forces to = tal_matter_upd_forces(matter, state);
    tal_apply_station_force(&poses, 1, com_M, tal_v3(0.0, -9.81 * mass, 0.0), to.F_GM);
    return TAL_OK;
}

static const tal_subsystem_ops gravity_ops = {
    .size = sizeof gravity_ops,
    .name = "gravity",
    .realize_dynamics = pull_down,
};

// refs:compound_pendulum_reactions: a rod of 3 kg and 2 m on a pin at the origin, released from the
// horizontal; elliptic functions, 18 digits. Theta is measured from the downward vertical.
START_TEST(a_falling_rod_pulls_at_its_pin_as_in_closed_form)
{
    static const double cases[][4] = {
        // theta, thetadot, pin force x, y
        {1.5707963267948966, 0.0, 0.0, 7.3575},
        {1.3412785378272496, -1.8296939607513278, -14.669948374105422, 10.784910049391609},
        {0.6759951588168716, -3.388059363600395, -32.319348596138106, 47.65297615895484},
        {-1.0791194655464966, -2.6357203517803938, 27.558425489667474, 22.116249697739892},
        {-0.19353744915076654, 3.800035677483391, 12.49793529694003, 71.125521678825},
        {0.78099433665498, 3.232769307266345, -33.10746580663569, 40.75785662706626},
        {-0.6551994112082129, -3.4158326294114367, 31.992578256295815, 48.99058358552375},
    };
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def rod = tal_mobod_def_default();
    rod.mass = tal_mass_props_rod(3.0, tal_v3(0.0, 1.0, 0.0));
    rod.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    const tal_body_ix body = tal_matter_add_pin(matter, TAL_GROUND, &rod);
    (void)tal_system_add_subsystem(system, NULL, &gravity_ops, matter);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        ck_assert_int_eq(tal_body_set_q(matter, state, body, 0, cases[i][0]), TAL_OK);
        ck_assert_int_eq(tal_body_set_u(matter, state, body, 0, cases[i][1]), TAL_OK);
        ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_ACCELERATION), TAL_OK);

        const tal_spatial_vec F_M = tal_body_reaction_M(matter, state, body);
        const tal_spatial_vec F_B = tal_body_reaction_B(matter, state, body);
        const tal_spatial_vec F_F = tal_body_reaction_F(matter, state, body);

        // a few dozen operations on forces up to 75 N: 100 eps 75 = 2e-12
        const tal_spatial_vec wanted = {{0.0, 0.0, 0.0}, {cases[i][2], cases[i][3], 0.0}};
        test_validate("rod that falls from the horizontal", "refs:compound_pendulum_reactions",
                      "force at its pin [N]", "reactions",
                      test_difference(&F_M.w.x, &wanted.w.x, 6), 2e-12);
        test_assert_sv_near(F_F, tal_sv_neg(wanted), 2e-12);
        const tal_vec3 p_BM_in_G = tal_v3(-sin(cases[i][0]), cos(cases[i][0]), 0.0);
        test_assert_sv_near(F_B, tal_sv_shift_force(wanted, p_BM_in_G), 4e-12);
    }
    tal_state_destroy(state);
    tal_system_destroy(system);
}

// --- contracts ---

START_TEST(a_broken_contract_is_nan_and_one_sentence)
{
    random_tree_def def = random_tree_def_default(1);
    random_tree tree = random_tree_create(&def);
    const tal_body_ix body = {3}, none = {99};
    tal_spatial_vec F;
    test_record_breaches();
    random_tree_realize(&tree, tree.state, TAL_STAGE_DYNAMICS);

    const char *low = "needs stage Acceleration, but the State has reached only Dynamics";
    test_assert_nan(F, tal_body_reaction_M(tree.matter, tree.state, body), TAL_ERR_STAGE, low);
    test_assert_nan(F, tal_body_reaction_B(tree.matter, tree.state, body), TAL_ERR_STAGE, low);
    test_assert_nan(F, tal_body_reaction_F(tree.matter, tree.state, body), TAL_ERR_STAGE, low);
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
    test_assert_nan(F, tal_body_reaction_M(tree.matter, tree.state, none), TAL_ERR_BAD_INDEX,
                    "no body 99");
    test_assert_nan(F, tal_body_reaction_F(tree.matter, tree.state, TAL_GROUND), TAL_ERR_BAD_INDEX,
                    "Ground has no parent");
    test_assert_nan(F, tal_body_reaction_M(NULL, tree.state, body), TAL_ERR_NULL, "matter is NULL");
    random_tree_destroy(&tree);
}

int main(void)
{
    Suite *suite = suite_create("matter/response_reaction");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, every_single_body_is_in_balance);
    tcase_add_test(theory, along_its_mobilities_a_mobilizer_passes_on_mobility_forces_only);
    tcase_add_test(theory, a_mobilizer_makes_no_power_but_that_of_its_mobility_forces);
    tcase_add_test(theory, a_free_mobilizer_bears_nothing);
    tcase_add_test(theory, ground_is_held_against_its_total_load);
    suite_add_tcase(suite, theory);
    TCase *textbook = tcase_create("textbook");
    tcase_add_test(textbook, a_falling_rod_pulls_at_its_pin_as_in_closed_form);
    suite_add_tcase(suite, textbook);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_broken_contract_is_nan_and_one_sentence);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
