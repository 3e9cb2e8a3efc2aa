// matter/src/prescribed/prescribed_dynamics.c: known motion beside constraints.
#include "prescribed_support.h"

// udot = params[0] of one mobility.
static tal_status calc_given_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0] - arg->params[0];
    return TAL_OK;
}

static tal_status add_given_force(const void *self, const tal_constraint_arg *arg,
                                  const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
    return TAL_OK;
}

static const tal_constraint_ops given_acceleration = {.size = sizeof given_acceleration,
                                                      .name = "given acceleration",
                                                      .ma = 1,
                                                      .num_mobilities = 1,
                                                      .num_params = 1,
                                                      .calc_a = calc_given_a,
                                                      .add_forces = add_given_force};

// udot_0 + 2 udot_1 = 0 of two mobilities.
static tal_status calc_coupled_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0] + 2.0 * arg->udot[1];
    return TAL_OK;
}

static tal_status add_coupled_force(const void *self, const tal_constraint_arg *arg,
                                    const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
    f[1] += 2.0 * lambda[0];
    return TAL_OK;
}

static const tal_constraint_ops coupled_accelerations = {.size = sizeof coupled_accelerations,
                                                         .name = "coupled accelerations",
                                                         .ma = 1,
                                                         .num_mobilities = 2,
                                                         .num_params = 1,
                                                         .calc_a = calc_coupled_a,
                                                         .add_forces = add_coupled_force};

// Half the square of the distance of two body origins stays what it is.
static tal_vec3 rod_of(const tal_constraint_arg *arg)
{
    return tal_v3_sub(arg->X_AB[1].p, arg->X_AB[0].p);
}

static tal_status calc_rod_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    perr[0] = 0.5 * tal_v3_dot(rod_of(arg), rod_of(arg)) - arg->params[0];
    return TAL_OK;
}

static tal_status calc_rod_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = tal_v3_dot(rod_of(arg), tal_v3_sub(arg->V[1].v, arg->V[0].v));
    return TAL_OK;
}

static tal_status calc_rod_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    const tal_vec3 v = tal_v3_sub(arg->V[1].v, arg->V[0].v);
    aerr[0] = tal_v3_dot(rod_of(arg), tal_v3_sub(arg->a[1].v, arg->a[0].v)) + tal_v3_dot(v, v);
    return TAL_OK;
}

static tal_status add_rod_forces(const void *self, const tal_constraint_arg *arg,
                                 const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_vec3 push = tal_v3_scale(lambda[0], rod_of(arg));
    F[0].v = tal_v3_sub(F[0].v, push);
    F[1].v = tal_v3_add(F[1].v, push);
    return TAL_OK;
}

static const tal_constraint_ops rod = {.size = sizeof rod,
                                       .name = "rod",
                                       .mp = 1,
                                       .num_bodies = 2,
                                       .num_params = 1,
                                       .calc_p = calc_rod_p,
                                       .calc_v = calc_rod_v,
                                       .calc_a = calc_rod_a,
                                       .add_forces = add_rod_forces};

static void add_given(world *w, tal_body_ix body, double udot)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0].body = body;
    (void)tal_matter_add_constraint(w->matter, &def, &given_acceleration, NULL, &udot);
}

// Condition of H, 500, times round-off.
START_TEST(a_known_acceleration_equals_a_constraint_that_demands_it)
{
    static world w;
    (void)build_g7(&w);
    add_given(&w, (tal_body_ix){2}, 1.3);
    add_given(&w, (tal_body_ix){3}, -0.7);
    set_g7(&w);
    world_realize(&w, TAL_STAGE_ACCELERATION);
    double udot[7], lambda[2];
    memcpy(udot, tal_state_udot(w.state), sizeof udot);
    memcpy(lambda, tal_state_multipliers(w.state), sizeof lambda);
    for (int i = 0; i < 2; ++i) {
        const tal_mobility mobility = {{i + 2}, 0};
        (void)tal_constraint_set_enabled(w.matter, w.state, (tal_constraint_ix){i}, false);
        (void)tal_mobility_lock_at(w.matter, w.state, mobility, TAL_LEVEL_ACCELERATION,
                                   i == 0 ? 1.3 : -0.7);
    }
    world_solve(&w);
    test_assert_near(tal_state_udot(w.state), udot, 7, 1e-12, "udot");
    test_assert_near(tal_matter_motion_multipliers(w.matter, w.state) + 1, lambda, 2, 1e-12, "tau");
    world_end(&w);
}

// The known one leads, the free one follows; and the force of the constraint on the known one is
// part of what its motion takes.
START_TEST(a_known_mobility_drives_another_through_a_constraint)
{
    static world w;
    (void)build_g7(&w);
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0].body.i = 4;
    def.mobilities[1].body.i = 6;
    (void)tal_matter_add_constraint(w.matter, &def, &coupled_accelerations, NULL, NULL);
    set_g7(&w);
    const tal_mobility leader = {{4}, 0};
    (void)tal_mobility_lock_at(w.matter, w.state, leader, TAL_LEVEL_ACCELERATION, 0.9);
    world_solve(&w);
    ck_assert(tal_state_udot(w.state)[3] == 0.9);
    ck_assert_double_eq_tol(tal_state_udot(w.state)[5], -0.45, 1e-13);
    check_duality(&w, (tal_motion_ix){0});
    world_end(&w);
}

// What the constraint asks for is known already, so it has nothing to do; where it asks for
// something else, motion goes first and the error tells how far the constraint is from being met.
START_TEST(known_motion_goes_before_constraints)
{
    static world w;
    (void)build_g7(&w);
    add_given(&w, (tal_body_ix){2}, 1.3);
    set_g7(&w);
    world_realize(&w, TAL_STAGE_ACCELERATION);
    const double lambda = tal_state_multipliers(w.state)[0];
    const tal_mobility mobility = {{2}, 0};
    (void)tal_mobility_lock_at(w.matter, w.state, mobility, TAL_LEVEL_ACCELERATION, 1.3);
    world_solve(&w);
    ck_assert(tal_state_udot(w.state)[1] == 1.3);
    ck_assert(tal_state_multipliers(w.state)[0] == 0.0);
    ck_assert_double_eq_tol(tal_matter_motion_multipliers(w.matter, w.state)[1], lambda, 1e-12);

    (void)tal_mobility_lock_at(w.matter, w.state, mobility, TAL_LEVEL_ACCELERATION, 0.5);
    world_realize(&w, TAL_STAGE_ACCELERATION);
    ck_assert(tal_state_udot(w.state)[1] == 0.5);
    ck_assert_double_eq_tol(tal_state_udoterr(w.state)[0], 0.5 - 1.3, 1e-15);
    world_end(&w);
}

// Constraints are met by what is free, and count in the forces of known motion. The errors of
// solved constraints are round-off of sums of terms near 100.
START_TEST(constraints_are_met_by_the_free_mobilities)
{
    int num_met = 0;
    for (int trial = 0; trial < 10; ++trial) {
        test_rng rng = test_rng_seed(300 + (uint64_t)trial);
        static world w;
        world_begin(&w);
        add_all_mobilizers(&w, &rng);
        const double half_square = 0.5;
        for (int i = 0; i < 3; ++i) {
            tal_constraint_def def = tal_constraint_def_default();
            def.bodies[0].i = 5 + 4 * i;
            def.bodies[1].i = 30 + i;
            (void)tal_matter_add_constraint(w.matter, &def, &rod, NULL, &half_square);
        }
        add_given(&w, (tal_body_ix){20}, 0.4);
        world_finish(&w);
        randomize(&w, &rng);
        for (int b = 1; b < w.num_bodies; ++b) {
            if ((b + trial) % 4 == 0) set_lock(&w, (tal_body_ix){b}, 6 + (b + trial) % 3);
        }
        world_realize(&w, TAL_STAGE_ACCELERATION);
        const double most = test_largest(tal_state_udot(w.state), tal_state_nu(w.state));
        ck_assert_double_le(most, 1e4);
        // where what a constraint acts on is locked, motion goes first and an error remains
        if (test_largest(tal_state_udoterr(w.state), 4) <= 1e-10 * fmax(1.0, most)) {
            check_duality(&w, (tal_motion_ix){0});
            ++num_met;
        }
        world_end(&w);
    }
    ck_assert_int_ge(num_met, 5);
}

// Between two bodies of a locked assembly a rod has no effect, however the assembly flies.
START_TEST(a_constraint_within_a_locked_assembly_is_idle)
{
    static world w;
    (void)build_g7(&w);
    tal_constraint_def def = tal_constraint_def_default();
    def.bodies[0].i = 6;
    def.bodies[1].i = 7;
    (void)tal_matter_add_constraint(w.matter, &def, &rod, NULL, NULL);
    set_g7(&w);
    for (int b = 6; b <= 7; ++b) {
        (void)tal_body_lock(w.matter, w.state, (tal_body_ix){b}, TAL_LEVEL_POSITION);
    }
    world_solve(&w);
    double udot[7];
    memcpy(udot, tal_state_udot(w.state), sizeof udot);
    ck_assert(tal_state_multipliers(w.state)[0] == 0.0);
    (void)tal_constraint_set_enabled(w.matter, w.state, (tal_constraint_ix){0}, false);
    world_solve(&w);
    ck_assert_mem_eq(udot, tal_state_udot(w.state), sizeof udot);
    world_end(&w);
}

START_TEST(a_mechanism_with_nothing_free_has_finite_answers)
{
    static world w;
    (void)build_g7(&w);
    add_given(&w, (tal_body_ix){2}, 0.0);
    tal_constraint_def def = tal_constraint_def_default();
    def.bodies[0].i = 4;
    def.bodies[1].i = 7;
    (void)tal_matter_add_constraint(w.matter, &def, &rod, NULL, NULL);
    set_g7(&w);
    for (int b = 1; b <= 7; ++b) {
        ck_assert_int_eq(tal_body_lock(w.matter, w.state, (tal_body_ix){b}, TAL_LEVEL_POSITION),
                         TAL_OK);
    }
    world_solve(&w);
    ck_assert_int_eq(tal_matter_num_free(w.matter, w.state), 0);
    ck_assert(test_largest(tal_state_udot(w.state), 7) == 0.0);
    ck_assert(test_largest(tal_state_u(w.state), 7) == 0.0);
    ck_assert(test_largest(tal_state_multipliers(w.state), 2) == 0.0);
    const double weight = test_largest(tal_matter_motion_multipliers(w.matter, w.state), 7);
    ck_assert(isfinite(weight) && weight > 1.0);
    world_end(&w);
}

// On a pin about any axis a slider along it, whose origin a plane across the axis holds; on Ground
// another slider, held at 0.3. Turning the pin changes no height, but for round-off in its column
// of G.
static void build_idle_pin(world *w, test_rng *rng)
{
    world_begin(w);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(rng);
    def.X_PF = test_random_xform(rng);
    const tal_xform axis = def.X_PF;
    const tal_body_ix pin = tal_matter_add_pin(w->matter, TAL_GROUND, &def);
    def.X_PF = tal_xf_from_R(tal_rotation_from_angle_axis(-0.5 * TAL_PI, tal_v3(0.0, 1.0, 0.0)));
    const tal_body_ix lift = tal_matter_add_slider(w->matter, pin, &def);
    const tal_body_ix other = tal_matter_add_slider(w->matter, TAL_GROUND, &def);
    const tal_constraint_def plane = tal_constraint_between(TAL_GROUND, lift);
    const double height = tal_v3_dot(axis.R.z, axis.p) + 0.5 + 1e-9;
    (void)tal_constraint_add_point_in_plane(w->matter, &plane, axis.R.z, height, TAL_VEC3_ZERO);
    const tal_constraint_def held = tal_constraint_on(other, 0);
    (void)tal_constraint_add_constant_coordinate(w->matter, &held, 0.3);
    world_finish(w);
    const double q[] = {0.7, 0.5, 0.1};
    ck_assert_int_eq(tal_state_set_q(w->state, q, 3), TAL_OK);
    ck_assert_int_eq(tal_body_lock(w->matter, w->state, lift, TAL_LEVEL_POSITION), TAL_OK);
}

// The plane is missed by 1e-9, within tolerance, and the lock leaves nothing to bring it closer.
// The pin has no part in it, so it stays to the bit: its column must be zero, not 1e-17, which
// would turn it by 1e8.
START_TEST(a_constraint_that_a_lock_has_settled_moves_nothing_else)
{
    test_rng rng = test_rng_seed((uint64_t)_i);
    static world w;
    build_idle_pin(&w, &rng);
    world_realize(&w, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_project_q(w.system, w.state, NULL, NULL, NULL), TAL_OK);
    ck_assert(tal_state_q(w.state)[0] == 0.7);
    ck_assert(fabs(tal_state_q(w.state)[2] - 0.3) < 1e-15);

    const double u[] = {0.4, 1e-9, 0.2};
    ck_assert_int_eq(tal_state_set_u(w.state, u, 3), TAL_OK);
    ck_assert_int_eq(tal_body_lock(w.matter, w.state, (tal_body_ix){2}, TAL_LEVEL_VELOCITY),
                     TAL_OK);
    world_realize(&w, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_project_u(w.system, w.state, NULL, NULL, NULL), TAL_OK);
    ck_assert(tal_state_u(w.state)[0] == 0.4);

    double K[9], work[400];
    int dof = -1, iwork[40];
    ck_assert(tal_matter_dense_work_size(w.matter, w.state) <= 400);
    ck_assert(tal_matter_dense_iwork_size(w.matter, w.state) <= 40);
    ck_assert_int_eq(
        tal_matter_calc_null_basis(w.matter, w.state, tal_matrix_view(K, 3, 3), &dof, work, iwork),
        TAL_OK);
    ck_assert_int_eq(dof, 1);
    ck_assert(fabs(fabs(K[0]) - 1.0) < 1e-15);
    world_end(&w);
}

int main(void)
{
    Suite *suite = suite_create("matter/prescribed_constraints");
    TCase *tc = tcase_create("constraints");
    tcase_add_test(tc, a_known_acceleration_equals_a_constraint_that_demands_it);
    tcase_add_test(tc, a_known_mobility_drives_another_through_a_constraint);
    tcase_add_test(tc, known_motion_goes_before_constraints);
    tcase_add_test(tc, constraints_are_met_by_the_free_mobilities);
    tcase_add_test(tc, a_constraint_within_a_locked_assembly_is_idle);
    tcase_add_test(tc, a_mechanism_with_nothing_free_has_finite_answers);
    tcase_add_loop_test(tc, a_constraint_that_a_lock_has_settled_moves_nothing_else, 1, 11);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
