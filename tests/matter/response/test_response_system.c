// matter/src/response/response_system.c: mass, center, inertia, momentum and energy of the whole
// system.
#include "kernel/passes_internal.h"
#include "motion_support.h"

#include <float.h>

enum {
    TRIALS = 30,
    BODIES = 20,
    MAX_SPEEDS = 6 * BODIES
};

// See test_response_station.c.
static const double TOL = 1e-9;

static random_tree realized_tree(int seed)
{
    random_tree_def def = random_tree_def_default((uint64_t)seed);
    def.num_bodies = BODIES;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
    return tree;
}

// Sums of this many terms of this size, each with a few dozen roundings.
static double round_off(double size)
{
    return 30.0 * BODIES * DBL_EPSILON * size;
}

// --- energy ---

// T = u^T M u / 2, for the State's u and any other.
START_TEST(kinetic_energy_is_half_u_M_u)
{
    test_rng rng = test_rng_seed(1);
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i);
        tali_tree_view view;
        ck_assert(tali_tree_realize_view(tree.matter, tree.state, TALI_INERTIA, &view));
        double u[MAX_SPEEDS], Mu[MAX_SPEEDS];
        tal_spatial_vec room[BODIES + 1], open[BODIES + 1];
        for (int j = 0; j < tree.nu; ++j) {
            u[j] = test_random_uniform(&rng, -1.0, 1.0);
        }
        view.passes->mass(&view, u, Mu, room, open);
        double wanted = 0.0, size = 0.0;
        for (int j = 0; j < tree.nu; ++j) {
            wanted += 0.5 * u[j] * Mu[j];
            size += fabs(0.5 * u[j] * Mu[j]);
        }

        const double T = tal_matter_calc_kinetic_energy(tree.matter, tree.state, u);
        const double T_state = tal_matter_kinetic_energy(tree.matter, tree.state);
        const double T_same =
            tal_matter_calc_kinetic_energy(tree.matter, tree.state, tal_state_u(tree.state));

        ck_assert_double_eq_tol(T, wanted, round_off(size));
        ck_assert_double_eq_tol(T_state, T_same, round_off(T_same));
        random_tree_destroy(&tree);
    }
}

static void observe_energy(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const random_tree *tree = context;
    seen[0] = tal_matter_kinetic_energy(tree->matter, state);
}

// dT/dt = sum F.V + f.u: mobilizers make no power of their own.
START_TEST(energy_grows_by_the_power_of_the_applied_forces)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i);
        const tal_bodies_view V = tal_matter_velocities(tree.matter, tree.state);
        double power = 0.0, rate;
        for (int b = 1; b < tree.num_bodies; ++b) {
            power += tal_sv_dot(tree.F[b], *tal_view_V_GM(&V, b));
        }
        for (int j = 0; j < tree.nu; ++j) {
            power += tree.f[j] * tal_state_u(tree.state)[j];
        }

        differentiate(&tree, TAL_STAGE_VELOCITY, observe_energy, &tree, 1, &rate);

        // differences see T, whose parts vary with their own, larger, powers
        const double T = tal_matter_kinetic_energy(tree.matter, tree.state);
        ck_assert_double_eq_tol(rate, power, 10.0 * TOL * fmax(1.0, T));
        random_tree_destroy(&tree);
    }
}

// --- center and momentum ---

static void observe_com(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const random_tree *tree = context;
    const tal_vec3 com = tal_matter_com(tree->matter, state);
    memcpy(seen, &com, sizeof com);
}

static void observe_com_velocity(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const random_tree *tree = context;
    const tal_vec3 v = tal_matter_com_velocity(tree->matter, state);
    memcpy(seen, &v, sizeof v);
}

static void observe_momentum(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const random_tree *tree = context;
    const tal_spatial_vec h = tal_matter_momentum(tree->matter, state);
    memcpy(seen, &h, sizeof h);
}

START_TEST(the_center_moves_with_its_velocity_and_acceleration)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i);
        const tal_vec3 v = tal_matter_com_velocity(tree.matter, tree.state);
        const tal_vec3 a = tal_matter_com_acceleration(tree.matter, tree.state);

        double p_rate[3], v_rate[3];
        differentiate(&tree, TAL_STAGE_POSITION, observe_com, &tree, 3, p_rate);
        differentiate(&tree, TAL_STAGE_VELOCITY, observe_com_velocity, &tree, 3, v_rate);

        test_assert_near(&v.x, p_rate, 3, TOL * size_of(p_rate, 3), "velocity of the center");
        test_assert_near(&a.x, v_rate, 3, TOL * size_of(v_rate, 3), "its acceleration");
        random_tree_destroy(&tree);
    }
}

// dh/dt = all that is applied, and what holds Ground, about one fixed point.
START_TEST(momentum_changes_by_the_forces_from_outside)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i);
        const tal_bodies_view X = tal_matter_poses(tree.matter, tree.state);
        tal_spatial_vec F = tal_body_reaction_M(tree.matter, tree.state, TAL_GROUND);
        for (int b = 1; b < tree.num_bodies; ++b) {
            F = tal_sv_add(F, tal_sv_shift_force(tree.F[b], tal_view_X_GM(&X, b)->p));
        }

        double rate[6];
        differentiate(&tree, TAL_STAGE_VELOCITY, observe_momentum, &tree, 6, rate);

        const double T = tal_matter_kinetic_energy(tree.matter, tree.state);
        test_assert_near(&F.w.x, rate, 6, 10.0 * TOL * fmax(T, size_of(rate, 6)),
                         "rate of momentum");
        random_tree_destroy(&tree);
    }
}

// h = (h_C + p_GC x m v_C, m v_C)
START_TEST(momentum_is_central_momentum_moved)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i);
        const tal_spatial_vec h = tal_matter_momentum(tree.matter, tree.state);
        const tal_spatial_vec h_C = tal_matter_central_momentum(tree.matter, tree.state);
        const tal_vec3 p_GC = tal_matter_com(tree.matter, tree.state);
        const double mass = tal_matter_mass(tree.matter, tree.state);
        const double tol = round_off(size_of(&h.w.x, 6) + size_of(&h_C.w.x, 6));

        test_assert_sv_near(h, tal_sv_shift_force(h_C, p_GC), tol);
        test_assert_v3_near(
            h.v, tal_v3_scale(mass, tal_matter_com_velocity(tree.matter, tree.state)), tol);
        random_tree_destroy(&tree);
    }
}

// --- inertia ---

START_TEST(mass_properties_are_those_of_all_bodies_glued_together)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i);
        tal_mass_props wanted = TAL_MASSLESS;
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_xform X_GB = tal_body_X_GB(tree.matter, tree.state, (tal_body_ix){b});
            const tal_mass_props in_B =
                tal_body_mass_props(tree.matter, tree.state, (tal_body_ix){b});
            const tal_mass_props in_G = tal_mass_props_transform(&X_GB, &in_B);
            wanted = tal_mass_props_combine(&wanted, &in_G);
        }

        const tal_mass_props all = tal_matter_mass_props(tree.matter, tree.state);

        const double tol = round_off(tal_s3_trace(wanted.inertia));
        test_assert_near(&all.mass, &wanted.mass, 10, tol, "mass properties");
        ck_assert_double_eq_tol(tal_matter_mass(tree.matter, tree.state), wanted.mass, tol);
        test_assert_v3_near(tal_matter_com(tree.matter, tree.state), wanted.com, tol);
        test_assert_s3_near(tal_matter_central_inertia(tree.matter, tree.state),
                            tal_mass_props_central_inertia(wanted), tol);
        random_tree_destroy(&tree);
    }
}

// Moving the whole system does not change what is central. A position p far from the origin is
// known to eps |p|, which enters the inertia times mass times size, and the momentum times linear
// momentum: 1e3 at most.
START_TEST(central_quantities_do_not_care_where_the_system_is)
{
    random_tree_def def = random_tree_def_default(11);
    def.num_bodies = BODIES;
    def.free_base = true;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    const tal_sym3 I = tal_matter_central_inertia(tree.matter, tree.state);
    const tal_spatial_vec h = tal_matter_central_momentum(tree.matter, tree.state);
    const int last = tal_body_nq(tree.matter, tree.state, (tal_body_ix){1}) - 1;

    ck_assert_int_eq(tal_body_set_q(tree.matter, tree.state, (tal_body_ix){1}, last, 1e6), TAL_OK);
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);

    ck_assert(tal_v3_norm(tal_matter_com(tree.matter, tree.state)) > 0.9e6);
    const double tol = DBL_EPSILON * 1e6 * 1e3;
    test_assert_s3_near(tal_matter_central_inertia(tree.matter, tree.state), I, tol);
    test_assert_sv_near(tal_matter_central_momentum(tree.matter, tree.state), h, tol);
    random_tree_destroy(&tree);
}

START_TEST(a_system_without_mass_rests_at_the_origin)
{
    random_tree_def def = random_tree_def_default(1);
    def.num_bodies = 0;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
    const tal_matter *m = tree.matter;

    ck_assert_double_eq(tal_matter_mass(m, tree.state), 0.0);
    test_assert_v3_near(tal_matter_com(m, tree.state), TAL_VEC3_ZERO, 0.0);
    test_assert_v3_near(tal_matter_com_velocity(m, tree.state), TAL_VEC3_ZERO, 0.0);
    test_assert_v3_near(tal_matter_com_acceleration(m, tree.state), TAL_VEC3_ZERO, 0.0);
    test_assert_s3_near(tal_matter_central_inertia(m, tree.state), TAL_SYM3_ZERO, 0.0);
    ck_assert_double_eq(tal_matter_kinetic_energy(m, tree.state), 0.0);
    ck_assert_double_eq(tal_matter_calc_kinetic_energy(m, tree.state, NULL), 0.0);
    random_tree_destroy(&tree);
}

// --- contracts ---

static void assert_all_breach(const tal_matter *m, tal_state *state, tal_status status,
                              const char *part)
{
    double x;
    tal_vec3 v;
    tal_sym3 I;
    tal_spatial_vec h;
    tal_mass_props props;
    test_assert_nan(x, tal_matter_mass(m, state), status, part);
    test_assert_nan(v, tal_matter_com(m, state), status, part);
    test_assert_nan(v, tal_matter_com_velocity(m, state), status, part);
    test_assert_nan(v, tal_matter_com_acceleration(m, state), status, part);
    test_assert_nan(props, tal_matter_mass_props(m, state), status, part);
    test_assert_nan(I, tal_matter_central_inertia(m, state), status, part);
    test_assert_nan(h, tal_matter_momentum(m, state), status, part);
    test_assert_nan(h, tal_matter_central_momentum(m, state), status, part);
    test_assert_nan(x, tal_matter_kinetic_energy(m, state), status, part);
    test_assert_nan(x, tal_matter_calc_kinetic_energy(m, state, (double[100]){0.0}), status, part);
}

START_TEST(a_broken_contract_is_nan_and_one_sentence)
{
    random_tree_def def = random_tree_def_default(1);
    random_tree tree = random_tree_create(&def);
    test_record_breaches();

    assert_all_breach(tree.matter, tree.state, TAL_ERR_STAGE, "reached only Model");
    assert_all_breach(tree.matter, NULL, TAL_ERR_NULL, "State is NULL");
    assert_all_breach(NULL, tree.state, TAL_ERR_NULL, "matter is NULL");
    random_tree_realize(&tree, tree.state, TAL_STAGE_POSITION);
    double x;
    test_assert_nan(x, tal_matter_calc_kinetic_energy(tree.matter, tree.state, NULL), TAL_ERR_NULL,
                    "u is NULL");
    random_tree_destroy(&tree);
}

int main(void)
{
    Suite *suite = suite_create("matter/response_system");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, kinetic_energy_is_half_u_M_u);
    tcase_add_test(theory, energy_grows_by_the_power_of_the_applied_forces);
    tcase_add_test(theory, the_center_moves_with_its_velocity_and_acceleration);
    tcase_add_test(theory, momentum_changes_by_the_forces_from_outside);
    tcase_add_test(theory, momentum_is_central_momentum_moved);
    tcase_add_test(theory, mass_properties_are_those_of_all_bodies_glued_together);
    tcase_add_test(theory, central_quantities_do_not_care_where_the_system_is);
    tcase_add_test(theory, a_system_without_mass_rests_at_the_origin);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_broken_contract_is_nan_and_one_sentence);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
