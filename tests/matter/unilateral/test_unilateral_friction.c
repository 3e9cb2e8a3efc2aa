// matter/src/unilateral/unilateral_friction.c: sliding friction in the equations of motion.
#include "alloc_guard.h"
#include "unilateral_support.h"

#include <string.h>

static const double ALONG_X[2] = {1.0, 0.0};

static double push_of(block *it, int k)
{
    return tal_unilateral_force_of(it->model.matter, it->model.state, it->corner[k]).normal;
}

// Deceleration mu g. The moment mu m g h about y moves the load to the front pair: with half length
// a, 4 a dN = mu m g h / ... gives 5.886 and 3.924 of 19.62 N. The answers are sums of a dozen
// numbers of that size: 1e-12.
START_TEST(a_sliding_block_slows_down_by_mu_g_and_leans_forward)
{
    block it;
    block_create(&it, dry(0.5, 0.5));
    tal_body_set_u(it.model.matter, it.model.state, it.body, 3, 2.0);
    block_set_modes(&it, TAL_UNILATERAL_SLIDE, ALONG_X);
    test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
    const double *udot = tal_state_udot(it.model.state);
    for (int j = 0; j < 6; ++j) {
        ck_assert_double_eq_tol(udot[j], j == 3 ? -4.905 : 0.0, 1e-12);
    }
    const double N[CORNERS] = {5.886, 5.886, 3.924, 3.924};
    for (int k = 0; k < CORNERS; ++k) {
        const tal_unilateral_force force =
            tal_unilateral_force_of(it.model.matter, it.model.state, it.corner[k]);
        ck_assert_double_eq_tol(force.normal, N[k], 1e-12);
        ck_assert_double_eq_tol(force.friction[0], -0.5 * N[k], 1e-12);
        ck_assert_double_eq_tol(force.friction[1], 0.0, 1e-12);
    }
    test_model_end(&it.model);
}

END_TEST

// Spinning about z at 3 rad/s, all corners sliding: each drags at the same distance from the axis,
// alpha = -mu m g r / I_z = -25.2360168 (specification, T5).
START_TEST(a_spinning_block_is_braked_by_all_corners)
{
    block it;
    block_create(&it, dry(0.5, 0.5));
    tal_body_set_u(it.model.matter, it.model.state, it.body, 2, 3.0);
    block_set_modes(&it, TAL_UNILATERAL_SLIDE, NULL);
    test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
    const double r = hypot(0.5, 0.3), I_z = 2.0 / 3.0 * (0.25 + 0.09);
    const double alpha = -0.5 * 2.0 * 9.81 * r / I_z;
    ck_assert_double_eq_tol(alpha, -25.2360168, 5e-8); // as printed there
    ck_assert_double_eq_tol(tal_state_udot(it.model.state)[2], alpha, 1e-12);
    test_model_end(&it.model);
}

END_TEST

// A point mass on a slope of 30 degrees: g (sin - mu cos) = 0.0624457497 (T6), and the other way.
START_TEST(a_point_slides_down_a_slope)
{
    test_model model;
    test_model_begin(&model);
    const double slope = 30.0 * TAL_DEGREE;
    model.gravity = tal_v3(9.81 * sin(slope), 0.0, -9.81 * cos(slope));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 3.0;
    const tal_body_ix body = tal_matter_add_translation(model.matter, TAL_GROUND, &def);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.material = dry(0.57, 0.57);
    const tal_xform plane = TAL_XFORM_IDENTITY;
    const tal_unilateral_ix at = tal_unilateral_add_point_on_plane(
        model.matter, &contact, TAL_GROUND, &plane, body, TAL_VEC3_ZERO);
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    for (int way = -1; way <= 1; way += 2) {
        tal_body_set_u(model.matter, model.state, body, 0, way * 0.3);
        ck_assert_int_eq(
            tal_unilateral_set_mode(model.matter, model.state, at, TAL_UNILATERAL_SLIDE, NULL),
            TAL_OK);
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        const double a = 9.81 * (sin(slope) - way * 0.57 * cos(slope));
        if (way > 0) ck_assert_double_eq_tol(a, 0.0624457497, 5e-11); // as printed
        ck_assert_double_eq_tol(tal_state_udot(model.state)[0], a, 1e-14);
        const tal_unilateral_force force = tal_unilateral_force_of(model.matter, model.state, at);
        ck_assert_double_eq_tol(force.normal, 3.0 * 9.81 * cos(slope), 1e-13);
        ck_assert_double_eq_tol(force.friction[0], -way * 0.57 * force.normal, 1e-13);
    }
    // viscous: 0.2 s/m at 0.3 m/s add 0.06
    contact.material.viscous_mu = 0.2;
    ck_assert_int_eq(tal_unilateral_set_material(model.matter, model.state, at, &contact.material),
                     TAL_OK);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_udot(model.state)[0], 9.81 * (sin(slope) - 0.63 * cos(slope)),
                            1e-14);
    test_model_end(&model);
}

END_TEST

// The uniform rod on its tip, T7: a_N = a0 + k pi with k = 1 + 3 cos^2 - 3 mu sin cos. At 63
// degrees and mu = 1.3 k is small and positive, and the force is many times the weight.
START_TEST(a_rod_that_slides_towards_its_tip_is_pressed_down_by_its_friction)
{
    rod it;
    const double angle = 63.0 * TAL_DEGREE;
    rod_create(&it, angle, dry(1.3, 1.3));
    // the tip slides to the left, away from the center: friction on it acts to the right
    tal_body_set_u(it.model.matter, it.model.state, it.body, 1, -1.0);
    ck_assert_int_eq(tal_unilateral_set_mode(it.model.matter, it.model.state, it.tip,
                                             TAL_UNILATERAL_SLIDE, NULL),
                     TAL_OK);
    const double c = cos(angle), s = sin(angle);
    for (int way = -1; way <= 1; way += 2) {
        tal_body_set_u(it.model.matter, it.model.state, it.body, 1, way);
        ck_assert_int_eq(tal_unilateral_set_mode(it.model.matter, it.model.state, it.tip,
                                                 TAL_UNILATERAL_SLIDE, NULL),
                         TAL_OK);
        test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
        const double k = 1.0 + 3.0 * c * c + way * 3.0 * 1.3 * s * c;
        const double pi = tal_unilateral_force_of(it.model.matter, it.model.state, it.tip).normal;
        if (way < 0) ck_assert_double_eq_tol(9.81 / k, 240.8013, 5e-5); // as printed in T7
        ck_assert_double_eq_tol(pi * k, 9.81, 1e-12); // k is a difference of numbers like 1.6
        ck_assert_double_eq_tol(
            tal_unilateral_slide_margin(it.model.matter, it.model.state, it.tip),
            k / (1.0 + 3.0 * c * c), 1e-12);
        ck_assert_double_eq_tol(
            tal_unilateral_acceleration(it.model.matter, it.model.state, it.tip), 0.0, 1e-11);
    }
    test_model_end(&it.model);
}

END_TEST

// --- against the folded matrix ---

/// A random tree with points that slide on planes of Ground.
typedef struct sliders {
    tal_unilateral_ix element[3];
    test_rng rng;
} sliders;

static void add_sliders(tal_matter *matter, void *context)
{
    sliders *it = context;
    for (int k = 0; k < 3; ++k) {
        tal_unilateral_def def = tal_unilateral_def_default();
        def.material = dry(0.5, 0.1 + 0.1 * k);
        def.material.limit = k == 1 ? 2.0 : 0.0;
        const tal_xform plane = test_random_xform(&it->rng);
        const tal_vec3 at = test_random_vec3(&it->rng);
        const tal_body_ix body = {10 - 3 * k};
        it->element[k] =
            k < 2 ? tal_unilateral_add_point_on_plane(matter, &def, TAL_GROUND, &plane, body, at)
                  : tal_unilateral_add_sphere_on_plane(matter, &def, TAL_GROUND, &plane, body, at,
                                                       0.3);
    }
    const tal_constraint_def tie = tal_constraint_between((tal_body_ix){2}, (tal_body_ix){9});
    tal_constraint_add_rod(matter, &tie, TAL_VEC3_ZERO, test_random_vec3(&it->rng), 1.0);
}

// M udot + C = f + G^T pi with all rows, normal and tangential, from the State in which they stick;
// a_N = 0; pi_T = -(limit + mu pi_N) v / |v|. Terms are of size 1e2, solutions of linear systems of
// condition 1e3 at most: 1e-9 relative to the largest term.
START_TEST(udot_solves_the_equations_with_friction_as_a_force)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        sliders context = {.rng = test_rng_seed(seed)};
        random_tree_def def = random_tree_def_default(seed + 500);
        def.add_more = add_sliders;
        def.context = &context;
        random_tree tree = random_tree_create(&def);
        tal_state *state = tree.state, *stuck = NULL;
        tal_error err;
        ck_assert_int_eq(tal_state_create(tree.system, &stuck, &err), TAL_OK);
        for (int k = 0; k < 3; ++k) {
            ck_assert_int_eq(tal_unilateral_set_mode(tree.matter, state, context.element[k],
                                                     TAL_UNILATERAL_SLIDE, NULL),
                             TAL_OK);
        }
        ck_assert_int_eq(tal_system_realize(tree.system, state, TAL_STAGE_ACCELERATION), TAL_OK);
        ck_assert_int_eq(tal_state_copy(stuck, state), TAL_OK);
        double left[64], G[64 * 16], pi[16] = {0.0}, back[64];
        const int nu = tal_matter_nu(tree.matter);
        ck_assert_int_le(nu, 64);
        ck_assert_int_eq(
            tal_matter_calc_residual(tree.matter, state, tal_state_udot(state), NULL, left),
            TAL_OK);
        for (int k = 0; k < 3; ++k) {
            ck_assert_int_eq(tal_unilateral_set_mode(tree.matter, stuck, context.element[k],
                                                     TAL_UNILATERAL_STICK, NULL),
                             TAL_OK);
        }
        ck_assert_int_eq(tal_system_realize(tree.system, stuck, TAL_STAGE_VELOCITY), TAL_OK);
        const tal_constraint_rows all = tal_matter_constraint_rows(tree.matter, stuck);
        const int m = all.mp + all.mv + all.ma;
        ck_assert_int_eq(m, 10);
        for (int k = 0; k < 3; ++k) {
            const tal_unilateral_ix at = context.element[k];
            const tal_unilateral_force force = tal_unilateral_force_of(tree.matter, state, at);
            const tal_unilateral_material mat = tal_unilateral_material_of(tree.matter, state, at);
            const tal_constraint_rows normal =
                tal_constraint_rows_of(tree.matter, stuck, tal_unilateral_normal(tree.matter, at));
            const tal_constraint_rows grip =
                tal_constraint_rows_of(tree.matter, stuck, tal_unilateral_grip(tree.matter, at));
            const int grip0 = grip.mp > 0 ? grip.p0 : grip.v0;
            double v[2];
            ck_assert_int_eq(tal_unilateral_calc_slip(tree.matter, state, at, v), TAL_OK);
            const double sigma = mat.limit + mat.sliding_mu * force.normal;
            for (int r = 0; r < 2; ++r) {
                const double should = -sigma * v[r] / hypot(v[0], v[1]);
                ck_assert_double_eq_tol(force.friction[r], should, 1e-12 * (1.0 + fabs(sigma)));
                pi[grip0 + r] = force.friction[r];
            }
            pi[normal.p0] = force.normal;
            const double a = tal_unilateral_acceleration(tree.matter, state, at);
            ck_assert_double_eq_tol(a, 0.0, 1e-8);
        }
        // the rod is the last constraint: position rows of the elements come first
        const tal_constraint_rows rod_now = tal_constraint_rows_of(
            tree.matter, state, (tal_constraint_ix){tal_matter_num_constraints(tree.matter) - 1});
        const tal_constraint_rows rod_stuck = tal_constraint_rows_of(
            tree.matter, stuck, (tal_constraint_ix){tal_matter_num_constraints(tree.matter) - 1});
        pi[rod_stuck.p0] = -tal_state_multipliers(state)[rod_now.p0];
        ck_assert_int_eq(tal_matter_calc_G(tree.matter, stuck, TAL_G, tal_matrix_view(G, m, nu)),
                         TAL_OK);
        double largest = 1.0;
        for (int j = 0; j < nu; ++j) {
            back[j] = left[j];
            for (int r = 0; r < m; ++r) {
                back[j] -= G[r + j * m] * pi[r];
            }
            largest = fmax(largest, fabs(left[j]));
        }
        ck_assert_msg(test_largest(back, nu) <= 1e-9 * largest, "seed %d: %g of %g", (int)seed,
                      test_largest(back, nu), largest);
        // and the residual that implicit methods see, with friction in it
        ck_assert_int_eq(tal_matter_calc_residual(tree.matter, state, tal_state_udot(state),
                                                  tal_state_multipliers(state), back),
                         TAL_OK);
        ck_assert_double_le(test_largest(back, nu), 1e-9 * largest);
        tal_state_destroy(stuck);
        random_tree_destroy(&tree);
    }
}

END_TEST

// --- direction ---

// Within a step the direction does not turn back; it follows from one step to the next.
START_TEST(the_direction_of_slip_is_kept_through_zero)
{
    block it;
    block_create(&it, dry(0.5, 0.5));
    tal_matter *matter = it.model.matter;
    tal_state *state = it.model.state;
    block_set_modes(&it, TAL_UNILATERAL_SLIDE, ALONG_X);
    const double speeds[] = {0.0, 1e-12, 0.1, -0.1};
    for (int i = 0; i < 4; ++i) {
        tal_body_set_u(matter, state, it.body, 3, speeds[i]);
        test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
        ck_assert_double_eq_tol(tal_state_udot(state)[3], -4.905, 1e-12);
        ck_assert_double_eq_tol(tal_unilateral_slip_speed(matter, state, it.corner[0]), speeds[i],
                                1e-15);
    }
    // it turns with the slip
    tal_body_set_u(matter, state, it.body, 3, 0.0);
    tal_body_set_u(matter, state, it.body, 4, 0.2);
    test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_udot(state)[4], -4.905, 1e-12);
    // from the next step on it is the other way
    ck_assert_int_eq(tal_system_begin_step(it.model.system, state), TAL_OK);
    tal_body_set_u(matter, state, it.body, 4, -0.2);
    test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_udot(state)[4], -4.905, 1e-12);
    ck_assert_double_eq_tol(tal_unilateral_slip_speed(matter, state, it.corner[0]), -0.2, 1e-15);
    test_model_end(&it.model);
}

END_TEST

// --- what else sees friction ---

// A block that a motion moves along x at constant speed: the motion bears mu m g, and the floor
// what the block weighs.
START_TEST(motions_and_reactions_bear_friction)
{
    test_model model;
    test_model_begin(&model);
    model.gravity = tal_v3(0.0, 0.0, -9.81);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 3.0;
    const tal_body_ix body = tal_matter_add_translation(model.matter, TAL_GROUND, &def);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.material = dry(0.4, 0.4);
    const tal_xform plane = TAL_XFORM_IDENTITY;
    const tal_unilateral_ix at = tal_unilateral_add_point_on_plane(
        model.matter, &contact, TAL_GROUND, &plane, body, TAL_VEC3_ZERO);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = body;
    motion.mobility = 0;
    motion.level = TAL_LEVEL_VELOCITY;
    const double speed = 0.8;
    tal_matter_add_motion_steady(model.matter, &motion, &speed, 1);
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    tal_body_set_u(model.matter, model.state, body, 0, speed);
    ck_assert_int_eq(
        tal_unilateral_set_mode(model.matter, model.state, at, TAL_UNILATERAL_SLIDE, NULL), TAL_OK);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    const double drag = 0.4 * 3.0 * 9.81;
    ck_assert_double_eq_tol(tal_body_motion_force(model.matter, model.state, body, 0), drag, 1e-13);
    ck_assert_double_eq_tol(tal_state_udot(model.state)[0], 0.0, 1e-14);
    const tal_spatial_vec F = tal_body_reaction_B(model.matter, model.state, body);
    ck_assert_double_eq_tol(F.v.x, drag, 1e-12); // what the mobilizer adds: the motion's force
    ck_assert_double_eq_tol(F.v.z, 0.0, 1e-12);
    test_model_end(&model);
}

END_TEST

// A dry joint: a force of at most 1.5 N against a slip of 0.7 - 0.2.
START_TEST(dry_friction_needs_no_normal)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    const tal_body_ix body = tal_matter_add_slider(model.matter, TAL_GROUND, &def);
    tal_unilateral_def one = tal_unilateral_def_default();
    one.material.limit = 1.5;
    const tal_unilateral_ix at =
        tal_unilateral_add_dry_friction(model.matter, &one, (tal_mobility){body, 0}, 0.2);
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    tal_body_set_u(model.matter, model.state, body, 0, 0.7);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq(tal_state_udot(model.state)[0], -0.75);
    ck_assert_double_eq(tal_unilateral_force_of(model.matter, model.state, at).friction[0], -1.5);
    tal_body_set_u(model.matter, model.state, body, 0, 0.1);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq(tal_state_udot(model.state)[0], 0.75);
    model.f[0] = 1.0;
    ck_assert_int_eq(
        tal_unilateral_set_mode(model.matter, model.state, at, TAL_UNILATERAL_STICK, NULL), TAL_OK);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_udot(model.state)[0], 0.0, 1e-15);
    ck_assert_double_eq_tol(tal_unilateral_force_of(model.matter, model.state, at).friction[0],
                            -1.0, 1e-15);
    test_model_end(&model);
}

END_TEST

START_TEST(more_than_may_slide_is_an_error_that_says_what_to_raise)
{
    block it;
    block_begin(&it, dry(0.5, 0.5));
    ck_assert_int_eq(tal_matter_set_most_sliding(it.model.matter, 3), TAL_OK);
    test_model_freeze(&it.model);
    test_model_realize(&it.model, TAL_STAGE_TIME);
    block_set_modes(&it, TAL_UNILATERAL_SLIDE, ALONG_X);
    ck_assert_int_eq(tal_system_realize(it.model.system, it.model.state, TAL_STAGE_ACCELERATION),
                     TAL_ERR_CAPACITY);
    const char *message = tal_state_error(it.model.state)->message;
    ck_assert_ptr_nonnull(strstr(message, "unilateral3"));
    ck_assert_ptr_nonnull(strstr(message, "tal_matter_set_most_sliding"));
    test_model_end(&it.model);
}

END_TEST

START_TEST(nothing_allocates_and_the_same_input_gives_the_same_bytes)
{
    block it;
    block_create(&it, dry(0.5, 0.5));
    double first[6];
    for (int round = 0; round < 3; ++round) {
        block_set_modes(&it, TAL_UNILATERAL_STICK, NULL);
        for (int j = 0; j < 6; ++j) {
            tal_body_set_u(it.model.matter, it.model.state, it.body, j, 0.1 * (j + 1));
        }
        tal_status st = TAL_OK;
        test_assert_no_heap(st = tal_unilateral_set_mode(it.model.matter, it.model.state,
                                                         it.corner[0], TAL_UNILATERAL_OFF, NULL));
        ck_assert_int_eq(st, TAL_OK);
        block_set_modes(&it, TAL_UNILATERAL_SLIDE, NULL);
        test_assert_no_heap(
            st = tal_system_realize(it.model.system, it.model.state, TAL_STAGE_ACCELERATION));
        ck_assert_int_eq(st, TAL_OK);
        if (round == 0) memcpy(first, tal_state_udot(it.model.state), sizeof first);
        ck_assert_mem_eq(first, tal_state_udot(it.model.state), sizeof first);
        (void)push_of(&it, 0);
    }
    test_model_end(&it.model);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/unilateral_friction");
    TCase *tc = tcase_create("friction");
    tcase_add_test(tc, a_sliding_block_slows_down_by_mu_g_and_leans_forward);
    tcase_add_test(tc, a_spinning_block_is_braked_by_all_corners);
    tcase_add_test(tc, a_point_slides_down_a_slope);
    tcase_add_test(tc, a_rod_that_slides_towards_its_tip_is_pressed_down_by_its_friction);
    tcase_add_test(tc, udot_solves_the_equations_with_friction_as_a_force);
    tcase_add_test(tc, the_direction_of_slip_is_kept_through_zero);
    tcase_add_test(tc, motions_and_reactions_bear_friction);
    tcase_add_test(tc, dry_friction_needs_no_normal);
    tcase_add_test(tc, more_than_may_slide_is_an_error_that_says_what_to_raise);
    tcase_add_test(tc, nothing_allocates_and_the_same_input_gives_the_same_bytes);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
