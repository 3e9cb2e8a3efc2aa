// matter/src/operator/op_dynamics.c, op_rotor.c: inverse and forward dynamics, and golden numbers
// of RBDA.
#include "alloc_guard.h"
#include "op_support.h"

static double round_off(const random_tree *tree)
{
    return 16.0 * (tree->nu + tree->num_bodies) * DBL_EPSILON;
}

// Loads about Bo from those of the tree, which are about Mo.
static tal_matrix loads_about_B(const random_tree *tree)
{
    tal_matrix F = zeros(6 * tree->num_bodies, 1);
    const tal_bodies_view poses = tal_matter_poses(tree->matter, tree->state);
    for (int b = 1; b < tree->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_vec3 p_MB = tal_m3_mul_v3(tal_view_X_GM(&poses, b)->R,
                                            tal_body_X_MB(tree->matter, tree->state, body).p);
        *(tal_spatial_vec *)(void *)at(F, 6 * b, 0) =
            tal_sv_shift_force(tree->F[b], tal_v3_neg(p_MB));
    }
    return F;
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

START_TEST(forward_dynamics_is_what_the_State_computes)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
        tal_matrix F = loads_about_B(&tree), udot = dense(tree.nu, 1);
        tal_matrix state_udot = dense(tree.nu, 1);
        memcpy(state_udot.data, tal_state_udot(tree.state), (size_t)tree.nu * sizeof(double));
        must(tree.state, tal_matter_forward_dynamics(tree.matter, tree.state,
                                                     (const tal_spatial_vec *)(void *)F.data,
                                                     tree.f, udot.data, NULL));
        // the loads differ by the round-off of two shifts, and M^-1 amplifies that by 1/least
        const spectrum s = spectrum_of_M(&tree);
        const double load = 1.0 + size_of(F), speed = 4.0 * (1.0 + size_of(state_udot));
        const double tol = round_off(&tree) * (s.most / s.least) * (load / s.most + speed);
        ck_assert_double_le(distance(udot, state_udot), tol);
        free(F.data), free(udot.data), free(state_udot.data);
        random_tree_destroy(&tree);
    }
}

/*
 * f_needed = ID(udot) carries n eps of the terms that make it up; FD maps that back with M^-1, so
 * the udot that returns is off by cond(M) n eps |udot| and, from the bias C, by n eps |C| / least.
 */
START_TEST(forward_dynamics_undoes_inverse_dynamics)
{
    test_rng rng = test_rng_seed(31);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        tal_matrix F = loads_about_B(&tree), udot = dense(tree.nu, 1), back = dense(tree.nu, 1);
        tal_matrix needed = dense(tree.nu, 1), C = dense(tree.nu, 1);
        const tal_spatial_vec *F_GB = (const tal_spatial_vec *)(void *)F.data;
        fill_random(udot, &rng);
        must(tree.state,
             tal_matter_inverse_dynamics(tree.matter, tree.state, NULL, F_GB, NULL, C.data));
        must(tree.state, tal_matter_inverse_dynamics(tree.matter, tree.state, udot.data, F_GB, NULL,
                                                     needed.data));
        must(tree.state, tal_matter_forward_dynamics(tree.matter, tree.state, F_GB, needed.data,
                                                     back.data, NULL));
        const spectrum s = spectrum_of_M(&tree);
        const double tol = round_off(&tree) * ((s.most / s.least) * (1.0 + size_of(udot)) +
                                               (size_of(C) + size_of(needed)) / s.least);
        ck_assert_double_le(distance(back, udot), tol);

        // with the forces it asked for, nothing is missing
        must(tree.state, tal_matter_inverse_dynamics(tree.matter, tree.state, udot.data, F_GB,
                                                     needed.data, back.data));
        for (int j = 0; j < tree.nu; ++j) {
            ck_assert(back.data[j] == 0.0);
        }
        free(F.data), free(udot.data), free(back.data), free(needed.data), free(C.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(inverse_dynamics_is_M_udot_minus_the_tree_forces)
{
    test_rng rng = test_rng_seed(32);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        tal_matrix F = loads_about_B(&tree), a = dense(tree.nu, 1), needed = dense(tree.nu, 1);
        tal_matrix tree_force = dense(tree.nu, 1), Ma = dense(tree.nu, 1),
                   free_f = dense(tree.nu, 1);
        const tal_spatial_vec *F_GB = (const tal_spatial_vec *)(void *)F.data;
        fill_random(a, &rng);
        must(tree.state, tal_matter_inverse_dynamics(tree.matter, tree.state, a.data, F_GB, tree.f,
                                                     needed.data));
        must(tree.state,
             tal_matter_calc_tree_forces(tree.matter, tree.state, F_GB, tree.f, tree_force.data));
        must(tree.state, tal_matter_mul_M(tree.matter, tree.state, a.data, Ma.data));
        for (int j = 0; j < tree.nu; ++j) {
            Ma.data[j] -= tree_force.data[j];
        }
        const double tol =
            round_off(&tree) * (1.0 + size_of(Ma) + size_of(tree_force) + size_of(F));
        ck_assert_double_le(distance(needed, Ma), tol);

        // without mobility forces, they are the difference
        must(tree.state,
             tal_matter_calc_tree_forces(tree.matter, tree.state, F_GB, NULL, free_f.data));
        for (int j = 0; j < tree.nu; ++j) {
            free_f.data[j] += tree.f[j];
        }
        ck_assert_double_le(distance(free_f, tree_force), tol);
        free(F.data), free(a.data), free(needed.data), free(tree_force.data), free(Ma.data);
        free(free_f.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(accelerations_are_the_Jacobian_times_udot_and_the_bias)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        const int n = tree.num_bodies;
        tal_matrix A = dense(6 * n, 1), J = dense(6 * n, 1), bias = dense(6 * n, 1);
        tal_matrix udot = dense(tree.nu, 1), A_GB = dense(6 * n, 1);
        must(tree.state,
             tal_matter_forward_dynamics(tree.matter, tree.state, NULL, tree.f, udot.data,
                                         (tal_spatial_vec *)(void *)A_GB.data));
        must(tree.state, tal_matter_calc_accelerations(tree.matter, tree.state, udot.data,
                                                       (tal_spatial_vec *)(void *)A.data));
        must(tree.state, tal_matter_mul_J(tree.matter, tree.state, udot.data,
                                          (tal_spatial_vec *)(void *)J.data));
        must(tree.state,
             tal_matter_calc_J_bias(tree.matter, tree.state, (tal_spatial_vec *)(void *)bias.data));
        for (int i = 0; i < 6 * n; ++i) {
            J.data[i] += bias.data[i];
        }
        const double tol = round_off(&tree) * (1.0 + size_of(J) + size_of(bias));
        ck_assert_double_le(distance(A, J), tol);
        // forward dynamics goes through D^-1 where a ball's acceleration is taken from its forces
        const spectrum s = spectrum_of_M(&tree);
        ck_assert_double_le(distance(A_GB, J), tol * (s.most / s.least));
        free(A.data), free(J.data), free(bias.data), free(udot.data), free(A_GB.data);
        random_tree_destroy(&tree);
    }
}

// --- RBDA's seven bodies ---

typedef struct seven {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
} seven;

// A frame of RBDA: rot(rx(angle)) xlt(r) places the successor's axes turned by +angle at r.
static tal_xform placed(double angle, tal_vec3 r)
{
    static const tal_axis x[] = {TAL_AXIS_X};
    return tal_xf(tal_rotation_from_angles(TAL_BODY_FIXED, 1, x, &angle), r);
}

static tal_mass_props with_central_inertia(double mass, tal_vec3 com, tal_sym3 I_C)
{
    return (tal_mass_props){mass, com,
                            tal_s3_add(I_C, tal_s3_scale(mass, tal_s3_cross_square(com)))};
}

// All pins about z. With `floating`, a base body between Ground and body 1.
static seven build_seven(bool floating)
{
    static const int parent[] = {0, 1, 1, 2, 2, 3, 3};
    seven G7 = {tal_system_create(NULL), NULL, NULL};
    G7.matter = tal_matter_create(G7.system);
    tal_body_ix body[8] = {TAL_GROUND};
    if (floating) {
        tal_mobod_def base = tal_mobod_def_default();
        base.mass = with_central_inertia(5.0, tal_v3(0.1, -0.1, 0.05),
                                         (tal_sym3){0.5, 0.6, 0.7, 0.02, 0.01, 0.03});
        body[0] = tal_matter_add_free(G7.matter, TAL_GROUND, &base);
    }
    for (int i = 1; i <= 7; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = with_central_inertia(1.0 + 0.1 * i, tal_v3(0.05, -0.02 * i, 0.1),
                                        (tal_sym3){0.1 + 0.01 * i, 0.2, 0.15, 0.01, 0.01, 0.01});
        def.X_PF = placed(0.1 * i, tal_v3(0.1 * i, 0.2, -0.05 * i));
        body[i] = tal_matter_add_pin(G7.matter, body[parent[i - 1]], &def);
    }
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_system_realize_topology(G7.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(G7.system, &G7.state, &err), TAL_OK);
    for (int i = 1; i <= 7; ++i) {
        (void)tal_body_set_q(G7.matter, G7.state, body[i], 0, 0.3 * i - 1.0);
        (void)tal_body_set_u(G7.matter, G7.state, body[i], 0, 0.5 - 0.1 * i);
    }
    const double v0[] = {0.1, -0.2, 0.3, 0.4, -0.5, 0.6};
    for (int j = 0; j < 6 && floating; ++j) {
        (void)tal_body_set_u(G7.matter, G7.state, body[0], j, v0[j]);
    }
    ck_assert_int_eq(tal_system_realize(G7.system, G7.state, TAL_STAGE_VELOCITY), TAL_OK);
    return G7;
}

static void destroy_seven(seven *G7)
{
    tal_state_destroy(G7->state);
    tal_system_destroy(G7->system);
}

// m g at every com, about Bo.
static void weigh(const seven *G7, tal_vec3 g, tal_spatial_vec F_GB[])
{
    const tal_bodies_view poses = tal_matter_poses(G7->matter, G7->state);
    F_GB[0] = TAL_SPATIAL_VEC_ZERO;
    for (int b = 1; b < tal_matter_num_bodies(G7->matter); ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props props = tal_body_mass_props(G7->matter, G7->state, body);
        const tal_vec3 weight = tal_v3_scale(props.mass, g);
        // X_BM is the identity here, so M is B
        const tal_vec3 com = tal_m3_mul_v3(tal_view_X_GM(&poses, b)->R, props.com);
        F_GB[b] = tal_sv(tal_v3_cross(com, weight), weight);
    }
}

// Printed to 16 digits; the forces are near 10 and their terms near 100, so 1e-13 is their
// round-off.
static const double DIGITS = 1e-13;

static const char SEVEN[] = "seven bodies of RBDA", AFLOAT[] = "seven bodies on a floating base";
static const char RECURSION[] = "RBDA tables 5.1 and 9.4 to 9.6, in Python";

START_TEST(seven_bodies_have_the_published_inverse_dynamics)
{
    static const double tau[] = {2.035701528171649,   2.757033251172311,  7.936616247539217,
                                 0.22677424966874565, 0.6062232067026453, 1.418835205051196,
                                 2.0806522195865806};
    static const double C[] = {6.1680403344955455, 3.8578356005589773, 9.524847212529565,
                               0.3298158681864644, 0.6943611294960232, 1.4501843780710877,
                               2.091632987647421};
    seven G7 = build_seven(false);
    tal_spatial_vec W[8];
    weigh(&G7, tal_v3(0.0, 0.0, -9.81), W);
    double udot[7], f[7];
    for (int i = 0; i < 7; ++i) {
        udot[i] = 0.2 * (i + 1) - 0.7;
    }
    must(G7.state, tal_matter_inverse_dynamics(G7.matter, G7.state, udot, W, NULL, f));
    test_validate(SEVEN, RECURSION, "tau", "inverse dynamics", test_difference(f, tau, 7), DIGITS);
    must(G7.state, tal_matter_inverse_dynamics(G7.matter, G7.state, NULL, W, NULL, f));
    test_validate(SEVEN, RECURSION, "velocity and weight forces", "inverse dynamics",
                  test_difference(f, C, 7), DIGITS);
    destroy_seven(&G7);
}

START_TEST(seven_bodies_have_the_published_gravity_forces)
{
    static const double C[] = {5.896551811029616,   3.921915425077899,  9.648720134884229,
                               0.36319512087965633, 0.7345840440370154, 1.4810255800028265,
                               2.112976781368017};
    seven G7 = build_seven(false);
    tal_spatial_vec W[8];
    weigh(&G7, tal_v3(0.0, 0.0, -9.81), W);
    double f[7];
    must(G7.state, tal_matter_mul_JT(G7.matter, G7.state, W, f));
    for (int i = 0; i < 7; ++i) {
        f[i] = -f[i];
    }
    test_validate(SEVEN, RECURSION, "weight forces", "Jacobian, transposed",
                  test_difference(f, C, 7), DIGITS);
    destroy_seven(&G7);
}

// Ten digits after the point are printed.
START_TEST(seven_bodies_have_the_published_mass_matrix_and_energy)
{
    static const double H[7][7] = {
        {7.3113533493, 1.5471615116, 3.2889789157, 0.1352191896, 0.1572349637, 0.1919493985,
         0.2281672943},
        {1.5471615116, 1.3486434747, 0.0, 0.1722600790, 0.2004848031, 0.0, 0.0},
        {3.2889789157, 0.0, 2.6058672216, 0.0, 0.0, 0.2389447375, 0.2819612089},
        {0.1352191896, 0.1722600790, 0.0, 0.1624600000, 0.0, 0.0, 0.0},
        {0.1572349637, 0.2004848031, 0.0, 0.0, 0.1687500000, 0.0, 0.0},
        {0.1919493985, 0.0, 0.2389447375, 0.0, 0.0, 0.1770400000, 0.0},
        {0.2281672943, 0.0, 0.2819612089, 0.0, 0.0, 0.0, 0.1875700000}};
    seven G7 = build_seven(false);
    tal_matrix M = dense(7, 7);
    must(G7.state, tal_matter_calc_M(G7.matter, G7.state, M));
    test_assert_near(M.data, &H[0][0], 49, 5.1e-11, "H");
    double momentum[7], energy = 0.0;
    const double *u = tal_state_u(G7.state);
    must(G7.state, tal_matter_mul_M(G7.matter, G7.state, u, momentum));
    for (int i = 0; i < 7; ++i) {
        energy += 0.5 * u[i] * momentum[i];
    }
    test_validate(SEVEN, RECURSION, "kinetic energy", "product with M",
                  fabs(energy - 1.1205290307472775), DIGITS);
    free(M.data);
    destroy_seven(&G7);
}

START_TEST(seven_bodies_have_the_published_forward_dynamics)
{
    static const double udot[] = {8.071947464983912,  -13.4797693225235, -14.042384326021766,
                                  5.544306696141652,  4.378876460643141, 2.0095119649817144,
                                  0.13872293002506084};
    seven G7 = build_seven(false);
    tal_spatial_vec W[8];
    weigh(&G7, tal_v3(0.0, 0.0, -9.81), W);
    double a[7];
    must(G7.state, tal_matter_forward_dynamics(G7.matter, G7.state, W, NULL, a, NULL));
    // the forces' round-off over the least eigenvalue of H, which is near 0.1
    test_validate(SEVEN, RECURSION, "accelerations", "forward dynamics",
                  test_difference(a, udot, 7), 10.0 * DIGITS);
    destroy_seven(&G7);
}

START_TEST(seven_bodies_on_a_floating_base_move_as_published)
{
    static const double a0[] = {1.1272360802898427, 0.4293606910986775,  -0.7819433473741331,
                                2.294849086048201,  -2.7668066596342684, -9.17082650783406};
    static const double udot[] = {0.07566404627464886, -0.8872378977130306, -0.4996700029882279,
                                  4.804749043234278,   5.671523830923689,   5.85068880824932,
                                  6.385523503894332};
    seven G7 = build_seven(true);
    // RBDA's rx and ry re-express, so gravity is turned the other way (RBDA tab. 2.2)
    const tal_mat3 Rx = placed(0.3, TAL_VEC3_ZERO).R;
    static const tal_axis y[] = {TAL_AXIS_Y};
    const double angle = 0.2;
    const tal_mat3 Ry = tal_rotation_from_angles(TAL_BODY_FIXED, 1, y, &angle);
    const tal_vec3 g = tal_m3_tmul_v3(Rx, tal_m3_tmul_v3(Ry, tal_v3(0.0, 0.0, -9.81)));
    tal_spatial_vec W[9], A[9];
    weigh(&G7, g, W);
    double f[13] = {0.0}, a[13];
    for (int i = 0; i < 7; ++i) {
        f[6 + i] = 0.1 * (i + 1);
    }
    must(G7.state, tal_matter_forward_dynamics(G7.matter, G7.state, W, f, a, A));
    test_validate(AFLOAT, RECURSION, "accelerations", "forward dynamics",
                  test_difference(a + 6, udot, 7), 10.0 * DIGITS);
    // a spatial acceleration leaves w x v out of that of the point (RBDA eq. 2.48)
    const tal_vec3 w = {0.1, -0.2, 0.3}, v = {0.4, -0.5, 0.6};
    const tal_vec3 spatial = tal_v3_sub(A[1].v, tal_v3_cross(w, v));
    test_assert_near(&A[1].w.x, a0, 3, 10.0 * DIGITS, "angular");
    test_assert_near(&spatial.x, a0 + 3, 3, 10.0 * DIGITS, "linear");

    double energy = 0.0, momentum[13];
    const double *u = tal_state_u(G7.state);
    must(G7.state, tal_matter_mul_M(G7.matter, G7.state, u, momentum));
    for (int i = 0; i < 13; ++i) {
        energy += 0.5 * u[i] * momentum[i];
    }
    test_validate(AFLOAT, RECURSION, "kinetic energy", "product with M",
                  fabs(energy - 8.478818185123462), DIGITS);
    // the base stands in Ground, so its coordinates are Ground's
    static const double published[] = {0.06796104952288042, -8.677455597794141, 3.506139379248373,
                                       8.68273524536989,    -1.86592206684256,  10.758306331590843};
    must(G7.state, tal_system_realize(G7.system, G7.state, TAL_STAGE_VELOCITY));
    const tal_spatial_vec h = tal_matter_momentum(G7.matter, G7.state);
    test_validate(AFLOAT, RECURSION, "momentum", "sum over bodies",
                  test_difference(&h.w.x, published, 6), 10.0 * DIGITS);
    destroy_seven(&G7);
}

// --- rotors ---

START_TEST(a_rotor_adds_to_its_own_diagonal_entry_and_to_nothing_else)
{
    test_rng rng = test_rng_seed(33);
    for (int k = 4; k < NUM_TREES - 2; ++k) {
        random_tree tree = tree_number(k);
        const int n = tree.nu;
        tal_matrix before = dense(n, n), after = dense(n, n), rotor = zeros(n, 1);
        must(tree.state, tal_matter_calc_M(tree.matter, tree.state, before));
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b};
            if (tal_body_nu(tree.matter, body) != 1) continue;
            const double inertia = test_random_uniform(&rng, 0.5, 2.0);
            rotor.data[tal_body_u_start(tree.matter, body)] = inertia;
            ck_assert_int_eq(tal_body_set_rotor_inertia(tree.matter, tree.state, body, inertia),
                             TAL_OK);
            ck_assert(tal_body_rotor_inertia(tree.matter, tree.state, body) == inertia);
        }
        random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
        must(tree.state, tal_matter_calc_M(tree.matter, tree.state, after));
        for (int e = 0; e < n * n; ++e) {
            const double added = e / n == e % n ? rotor.data[e % n] : 0.0;
            ck_assert(after.data[e] == before.data[e] + added);
        }
        // the operators agree with the matrix
        tal_matrix a = dense(n, 1), f = dense(n, 1), wanted = dense(n, 1), back = dense(n, 1);
        fill_random(a, &rng);
        must(tree.state, tal_matter_mul_M(tree.matter, tree.state, a.data, f.data));
        multiply(after, false, a, wanted);
        ck_assert_double_le(distance(f, wanted), round_off(&tree) * size_of(after) * size_of(a));
        must(tree.state, tal_matter_mul_Minv(tree.matter, tree.state, f.data, back.data));
        const spectrum s = spectrum_of(after);
        ck_assert_double_le(distance(back, a), round_off(&tree) * (s.most / s.least) * size_of(a));

        // and so does the energy: u^T M u / 2
        const double *u = tal_state_u(tree.state);
        must(tree.state, tal_matter_mul_M(tree.matter, tree.state, u, f.data));
        double energy = 0.0;
        for (int j = 0; j < n; ++j) {
            energy += 0.5 * u[j] * f.data[j];
        }
        const double tol = round_off(&tree) * size_of(after) * (4.0 * n); // |u_j| <= 2
        const double of_State = tal_matter_kinetic_energy(tree.matter, tree.state);
        ck_assert_double_le(fabs(of_State - energy), tol);
        const double of_u = tal_matter_calc_kinetic_energy(tree.matter, tree.state, u);
        ck_assert_double_le(fabs(of_u - energy), tol);
        free(before.data), free(after.data), free(rotor.data), free(a.data), free(f.data);
        free(wanted.data), free(back.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(a_rotor_that_cannot_be_is_refused_by_name)
{
    seven G7 = build_seven(true);
    const tal_body_ix base = {1}, first = {2}, none = {99};
    ck_assert_int_eq(tal_body_set_rotor_inertia(G7.matter, G7.state, base, 1.0), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(G7.state)->message, "body1"));
    ck_assert_int_eq(tal_system_realize(G7.system, G7.state, TAL_STAGE_VELOCITY),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_body_set_rotor_inertia(G7.matter, G7.state, first, -1.0),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_body_set_rotor_inertia(G7.matter, G7.state, first, (double)NAN),
                     TAL_ERR_NOT_FINITE);
    test_assert_breach((void)tal_body_set_rotor_inertia(G7.matter, G7.state, none, 1.0),
                       TAL_ERR_BAD_INDEX, "99");
    test_assert_breach((void)tal_body_rotor_inertia(G7.matter, G7.state, none), TAL_ERR_BAD_INDEX,
                       "99");
    test_assert_breach((void)tal_body_rotor_inertia(G7.matter, NULL, first), TAL_ERR_NULL, "State");
    test_assert_breach((void)tal_body_set_rotor_inertia(G7.matter, NULL, first, 1.0), TAL_ERR_NULL,
                       "State");
    destroy_seven(&G7);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/op_dynamics");
    TCase *identities = tcase_create("identities");
    tcase_add_test(identities, forward_dynamics_is_what_the_State_computes);
    tcase_add_test(identities, forward_dynamics_undoes_inverse_dynamics);
    tcase_add_test(identities, inverse_dynamics_is_M_udot_minus_the_tree_forces);
    tcase_add_test(identities, accelerations_are_the_Jacobian_times_udot_and_the_bias);
    suite_add_tcase(suite, identities);
    TCase *golden = tcase_create("golden numbers");
    tcase_add_test(golden, seven_bodies_have_the_published_inverse_dynamics);
    tcase_add_test(golden, seven_bodies_have_the_published_gravity_forces);
    tcase_add_test(golden, seven_bodies_have_the_published_mass_matrix_and_energy);
    tcase_add_test(golden, seven_bodies_have_the_published_forward_dynamics);
    tcase_add_test(golden, seven_bodies_on_a_floating_base_move_as_published);
    suite_add_tcase(suite, golden);
    TCase *rotors = tcase_create("rotors");
    tcase_add_test(rotors, a_rotor_adds_to_its_own_diagonal_entry_and_to_nothing_else);
    tcase_add_test(rotors, a_rotor_that_cannot_be_is_refused_by_name);
    suite_add_tcase(suite, rotors);
    return test_run(suite);
}
