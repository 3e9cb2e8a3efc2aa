// Direct functions give the bits of the State, for random trees of every mobilizer.
#include "operator/operators_internal.h"
#include "random_tree.h"

#include <talus/matter.h>

#include <stdlib.h>
#include <string.h>

enum {
    MOST_U = 128,
    MOST_BODIES = 32
};

static tal_direct *create(const random_tree *tree)
{
    tal_direct *direct = NULL;
    tal_error err;
    ck_assert_msg(tal_direct_create(tree->matter, tree->state, &direct, &err) == TAL_OK, "%s",
                  err.message);
    ck_assert_int_eq(tal_direct_nu(direct), tree->nu);
    ck_assert_int_eq(tal_direct_num_bodies(direct), tree->num_bodies);
    ck_assert_int_eq(tal_direct_nq(direct), tal_state_nq(tree->state));
    return direct;
}

// --- a tree of the mobilizers that lanes know ---

typedef struct plain_tree {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
} plain_tree;

static tal_body_ix add_body(tal_matter *matter, int kind, tal_body_ix parent,
                            const tal_mobod_def *def)
{
    switch (kind) {
    case 0:
        return tal_matter_add_slider(matter, parent, def);
    case 1:
        return tal_matter_add_ball(matter, parent, def);
    case 2:
        return tal_matter_add_free(matter, parent, def);
    case 3:
        return tal_matter_add_translation(matter, parent, def);
    case 4:
        return tal_matter_add_weld(matter, parent, def);
    default:
        return tal_matter_add_pin(matter, parent, def);
    }
}

// `kind` 0 to 4: half of the bodies have that, the others pins; 5: pins alone.
static plain_tree plain_tree_create(uint64_t seed, int kind)
{
    plain_tree it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    test_rng rng = test_rng_seed(seed);
    const int n = (int)(seed % 9) + 1;
    for (int b = 1; b <= n; ++b) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_sphere(1.0 + test_random_uniform(&rng, 0.0, 1.0), 0.4);
        def.X_PF = tal_xf_from_p(test_random_vec3(&rng));
        def.X_BM =
            (tal_xform){tal_rotation_from_qt(test_random_quat(&rng)), test_random_vec3(&rng)};
        def.direction = b % 3 == 0 ? TAL_REVERSE : TAL_FORWARD;
        def.use_angles = b % 2 == 0;
        const tal_body_ix parent = {(int)(test_random_bits(&rng) % (uint64_t)b)};
        (void)add_body(it.matter, b % 2 == 0 ? kind : 5, parent, &def);
    }
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(it.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(it.system, &it.state, NULL), TAL_OK);
    return it;
}

static void plain_tree_destroy(plain_tree *it)
{
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

static void compare_bits(const double a[], const double b[], int n, const char *what)
{
    ck_assert_msg(memcmp(a, b, (size_t)n * sizeof *a) == 0, "%s: other bits", what);
}

static void compare_dynamics(const random_tree *tree, tal_direct *direct, const double f[],
                             const tal_spatial_vec F[])
{
    double theirs[MOST_U], ours[MOST_U];
    const double *const q = tal_state_q(tree->state), *const u = tal_state_u(tree->state);
    random_tree_realize(tree, tree->state, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_matter_forward_dynamics(tree->matter, tree->state, F, f, theirs, NULL),
                     TAL_OK);
    ck_assert_int_eq(tal_direct_forward_dynamics(direct, q, u, f, F, ours), TAL_OK);
    compare_bits(ours, theirs, tree->nu, "udot");
    double needed[MOST_U], also[MOST_U];
    ck_assert_int_eq(
        tal_matter_inverse_dynamics(tree->matter, tree->state, theirs, F, NULL, needed), TAL_OK);
    ck_assert_int_eq(tal_direct_inverse_dynamics(direct, q, u, ours, F, also), TAL_OK);
    compare_bits(also, needed, tree->nu, "f");
}

static void compare_matrices(const random_tree *tree, tal_direct *direct)
{
    static double M[MOST_U * MOST_U], also[MOST_U * MOST_U], J[6 * MOST_U], ours[6 * MOST_U];
    const double *const q = tal_state_q(tree->state);
    const int n = tree->nu;
    random_tree_realize(tree, tree->state, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_matter_calc_M(tree->matter, tree->state, tal_matrix_view(M, n, n)),
                     TAL_OK);
    ck_assert_int_eq(tal_direct_mass_matrix(direct, q, also), TAL_OK);
    compare_bits(also, M, n * n, "M");
    const tal_station frame = {{tree->num_bodies - 1}, {0.1, -0.2, 0.3}};
    ck_assert_int_eq(
        tal_matter_calc_frame_J(tree->matter, tree->state, &frame, 1, tal_matrix_view(J, 6, n)),
        TAL_OK);
    ck_assert_int_eq(tal_direct_frame_jacobian(direct, q, frame.body, frame.p_BS, ours), TAL_OK);
    compare_bits(ours, J, 6 * n, "J");
}

static void compare_motion(const random_tree *tree, tal_direct *direct)
{
    tal_xform X[MOST_BODIES];
    tal_spatial_vec V[MOST_BODIES];
    random_tree_realize(tree, tree->state, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(
        tal_direct_kinematics(direct, tal_state_q(tree->state), tal_state_u(tree->state), X, V),
        TAL_OK);
    for (int b = 0; b < tree->num_bodies; ++b) {
        const tal_xform X_GB = tal_body_X_GB(tree->matter, tree->state, (tal_body_ix){b});
        const tal_spatial_vec V_GB = tal_body_V_GB(tree->matter, tree->state, (tal_body_ix){b});
        compare_bits(&X[b].p.x, &X_GB.p.x, 3, "X.p");
        compare_bits(&X[b].R.x.x, &X_GB.R.x.x, 9, "X.R");
        compare_bits(&V[b].w.x, &V_GB.w.x, 6, "V");
    }
}

START_TEST(results_are_those_of_the_state_to_the_bit)
{
    test_rng rng = test_rng_seed(5);
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        random_tree_def def = random_tree_def_default(seed);
        def.num_bodies = (int)seed % 25 + 1;
        def.chain = seed % 3 == 0;
        random_tree tree = random_tree_create(&def);
        ck_assert_int_le(tree.nu, MOST_U);
        tal_direct *direct = create(&tree);
        for (int shakes = 0; shakes < 3; ++shakes) {
            random_tree_shake(&tree, tree.state, &rng);
            compare_motion(&tree, direct);
            compare_dynamics(&tree, direct, tree.f, tree.F);
            compare_dynamics(&tree, direct, NULL, NULL);
            compare_matrices(&tree, direct);
        }
        tal_direct_destroy(direct);
        random_tree_destroy(&tree);
    }
}

END_TEST

// Rows computed at once have the bits of rows computed alone, whatever n is.
START_TEST(rows_have_the_bits_that_they_have_alone)
{
    enum {
        ROWS = 21
    };

    static double q[ROWS * MOST_U], u[ROWS * MOST_U], f[ROWS * MOST_U], udot[ROWS * MOST_U];
    test_rng rng = test_rng_seed(6);
    int in_lanes = 0;
    for (uint64_t seed = 1; seed <= 120; ++seed) {
        const int kind = (int)(seed % 6);
        plain_tree tree = plain_tree_create(seed, kind);
        tal_direct *direct = NULL;
        ck_assert_int_eq(tal_direct_create(tree.matter, tree.state, &direct, NULL), TAL_OK);
        ck_assert_int_eq(tal_direct_set_gravity(direct, tal_v3(0.1, -9.81, 0.2)), TAL_OK);
        if (seed % 4 < 2) (void)tali_op_direct_use_lanes(direct, 4);
        in_lanes += tal_direct_lanes(direct) > 1;
        const int nq = tal_direct_nq(direct), nu = tal_direct_nu(direct);
        const int n = (int)(seed % ROWS) + 1;
        for (int i = 0; i < n * nq; ++i) {
            q[i] = test_random_uniform(&rng, -2.0, 2.0);
        }
        for (int i = 0; i < n * nu; ++i) {
            u[i] = test_random_uniform(&rng, -2.0, 2.0);
            f[i] = test_random_uniform(&rng, -2.0, 2.0);
        }
        const double *const push = seed % 2 == 0 ? f : NULL;
        tal_status status[ROWS];
        ck_assert_int_eq(tal_direct_forward_dynamics_many(direct, n, q, u, push, udot, status),
                         TAL_OK);
        for (int k = 0; k < n; ++k) {
            double alone[MOST_U];
            ck_assert_int_eq(status[k], TAL_OK);
            ck_assert_int_eq(tal_direct_forward_dynamics(direct, q + k * nq, u + k * nu,
                                                         push != NULL ? push + k * nu : NULL, NULL,
                                                         alone),
                             TAL_OK);
            compare_bits(udot + k * nu, alone, nu, "udot");
        }
        // a neighbor that is not a number, or fails, changes nothing
        q[0] = (double)NAN;
        static double again[ROWS * MOST_U];
        ck_assert_int_eq(tal_direct_forward_dynamics_many(direct, n, q, u, push, again, status),
                         TAL_ERR_NOT_FINITE);
        ck_assert_int_eq(status[0], TAL_ERR_NOT_FINITE);
        ck_assert(isnan(again[0]));
        if (n > 1) compare_bits(again + nu, udot + nu, (n - 1) * nu, "udot beside a NaN");
        tal_direct_destroy(direct);
        plain_tree_destroy(&tree);
    }
    const bool has_lanes = strncmp(tal_matter_kernel_set(), "avx", 3) == 0;
    ck_assert_int_eq(in_lanes > 60, has_lanes); // most of the trees, or none
}

END_TEST

// Gravity is a force m g at each center of mass: it gives all bodies of a free tree that is at rest
// the acceleration g, and its own J^T F balances inverse dynamics of udot = 0 at rest.
START_TEST(gravity_acts_on_all_bodies)
{
    random_tree_def def = random_tree_def_default(11);
    def.free_base = true;
    random_tree tree = random_tree_create(&def);
    tal_direct *direct = create(&tree);
    const tal_vec3 g = {0.3, -9.0, 0.7};
    ck_assert_int_eq(tal_direct_set_gravity(direct, g), TAL_OK);
    double u[MOST_U] = {0.0}, udot[MOST_U];
    const double *const q = tal_state_q(tree.state);
    ck_assert_int_eq(tal_direct_forward_dynamics(direct, q, u, NULL, NULL, udot), TAL_OK);
    tal_state_set_u(tree.state, u, tree.nu);
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    tal_spatial_vec A[MOST_BODIES];
    ck_assert_int_eq(tal_matter_calc_accelerations(tree.matter, tree.state, udot, A), TAL_OK);
    for (int b = 1; b < tree.num_bodies; ++b) { // at rest all points accelerate alike
        const double got[6] = {A[b].w.x, A[b].w.y, A[b].w.z, A[b].v.x, A[b].v.y, A[b].v.z};
        const double wanted[6] = {0.0, 0.0, 0.0, g.x, g.y, g.z};
        test_assert_near(got, wanted, 6, 1e-10, "A"); // ten bodies of condition 1e3 or so
    }
    tal_direct_destroy(direct);
    random_tree_destroy(&tree);
}

END_TEST

// A pin at Ground with a point mass beside it: what is not finite, and what moves no mass.
START_TEST(failures_are_told)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix arm = tal_matter_add_pin(matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_point(0.0, TAL_VEC3_ZERO);
    def.name = "feather";
    (void)tal_matter_add_slider(matter, arm, &def);
    tal_state *state = NULL;
    tal_direct *direct = NULL;
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_direct_create(matter, state, &direct, &err), TAL_OK);
    double q[2] = {0.0, 0.0}, u[2] = {0.0, 0.0}, out[12];
    ck_assert_int_eq(tal_direct_forward_dynamics(direct, q, u, NULL, NULL, out), TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_direct_error(direct)->message, "'feather'"));
    q[0] = (double)NAN;
    ck_assert_int_eq(tal_direct_forward_dynamics(direct, q, u, NULL, NULL, out),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_direct_mass_matrix(direct, q, out), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_direct_frame_jacobian(direct, q, arm, TAL_VEC3_ZERO, out),
                     TAL_ERR_NOT_FINITE);
    tal_xform X[3];
    ck_assert_int_eq(tal_direct_kinematics(direct, q, NULL, X, NULL), TAL_ERR_NOT_FINITE);
    q[0] = 0.0;
    u[0] = (double)INFINITY;
    ck_assert_int_eq(tal_direct_inverse_dynamics(direct, q, u, NULL, NULL, out),
                     TAL_ERR_NOT_FINITE);
    test_record_breaches();
    test_assert_breach((void)tal_direct_set_gravity(direct, tal_v3((double)NAN, 0.0, 0.0)),
                       TAL_ERR_NOT_FINITE, "nan");
    test_assert_refused(tal_direct_forward_dynamics(direct, q, u, NULL, NULL, NULL), TAL_ERR_NULL,
                        "NULL");
    test_assert_refused(tal_direct_frame_jacobian(direct, q, (tal_body_ix){3}, TAL_VEC3_ZERO, out),
                        TAL_ERR_BAD_INDEX, "body 3");
    tal_direct_destroy(direct);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

START_TEST(what_they_cannot_obey_is_refused)
{
    for (int way = 0; way < 2; ++way) {
        tal_system *system = tal_system_create(NULL);
        tal_matter *matter = tal_matter_create(system);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(1.0, tal_v3(1.0, 0.0, 0.0));
        const tal_body_ix arm = tal_matter_add_pin(matter, TAL_GROUND, &def);
        const tal_constraint_def on = tal_constraint_on(arm, 0);
        if (way == 0) (void)tal_matter_lock_by_default(matter, arm, TAL_LEVEL_POSITION);
        if (way == 1) (void)tal_constraint_add_constant_coordinate(matter, &on, 0.5);
        tal_state *state = NULL;
        tal_direct *direct = NULL;
        tal_error err;
        ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
        ck_assert_int_eq(tal_direct_create(matter, state, &direct, &err), TAL_ERR_BAD_VALUE);
        ck_assert_msg(strstr(err.message, way == 0 ? "locks" : "constraints") != NULL, "%s",
                      err.message);
        ck_assert_ptr_null(direct);
        tal_state_destroy(state);
        tal_system_destroy(system);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/op_direct");
    TCase *tests = tcase_create("direct");
    tcase_add_test(tests, results_are_those_of_the_state_to_the_bit);
    tcase_add_test(tests, rows_have_the_bits_that_they_have_alone);
    tcase_add_test(tests, gravity_acts_on_all_bodies);
    tcase_add_test(tests, failures_are_told);
    tcase_add_test(tests, what_they_cannot_obey_is_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
