// Promises P1 and P3: dynamics of every mobilizer and of deep chains, against numbers computed
// independently with 20 digits and more.
#include "tree_refs.h"
#include "tree_support.h"

#include <pthread.h>
#include <stdio.h>

static tal_xform frame(const double x[6])
{
    static const tal_axis xyz[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    return tal_xf(tal_rotation_from_angles(TAL_BODY_FIXED, 3, xyz, x), tal_v3(x[3], x[4], x[5]));
}

static void build(rig *r, const ref_tree *ref)
{
    rig_begin(r);
    r->gravity = tal_v3(ref->gravity[0], ref->gravity[1], ref->gravity[2]);
    for (int i = 0; i < ref->num_bodies; ++i) {
        const ref_body *b = &ref->bodies[i];
        tal_mobod_def def = tal_mobod_def_default();
        const tal_vec3 com = {b->com[0], b->com[1], b->com[2]};
        const tal_sym3 I = {b->I[0], b->I[1], b->I[2], b->I[3], b->I[4], b->I[5]};
        def.X_PF = frame(b->X_PF);
        def.X_BM = frame(b->X_BM);
        def.mass = (tal_mass_props){b->mass, com,
                                    tal_s3_add(I, tal_s3_scale(b->mass, tal_s3_cross_square(com)))};
        ck_assert_int_eq(rig_add(r, b->parent, b->mobilizer, &def, b->params).i, i + 1);
    }
    rig_finish(r);
}

// Sets q and u, and collects tau.
static void set_up(rig *r, const ref_tree *ref, double tau[])
{
    for (int i = 0; i < ref->num_bodies; ++i) {
        const ref_body *b = &ref->bodies[i];
        const tal_body_ix body = {i + 1};
        for (int k = 0; k < tal_body_nq(r->matter, r->state, body); ++k) {
            ck_assert_int_eq(tal_body_set_q(r->matter, r->state, body, k, b->q[k]), TAL_OK);
        }
        for (int j = 0; j < tal_body_nu(r->matter, body); ++j) {
            ck_assert_int_eq(tal_body_set_u(r->matter, r->state, body, j, b->u[j]), TAL_OK);
            tau[tal_body_u_start(r->matter, body) + j] = b->tau[j];
        }
    }
    r->tau = tau;
}

// The name that tests/refs/README.md has for the table a tree is from.
static const char *source_of(const ref_tree *ref)
{
    if (ref->num_bodies == 2) return "refs:tree_each_mobilizer";
    return ref->num_bodies == 7 ? "refs:kuka_iiwa14" : "refs:tree_random_08";
}

// P1: 50 cond(M) eps for what a solve gives. No solve is in the rest: sums of some hundred products
// over at most eight levels, 1000 eps of the largest.
static const double DIRECT = 1000.0 * DBL_EPSILON;

static void check_energies(const rig *r, const ref_tree *ref)
{
    double potential = 0.0, size = 0.0;
    for (int b = 1; b <= ref->num_bodies; ++b) {
        const tal_mass_props m = tal_body_mass_props(r->matter, r->state, (tal_body_ix){b});
        const tal_vec3 com = tal_xf_apply(rig_X_GB(r, b), m.com);
        potential -= m.mass * tal_v3_dot(r->gravity, com);
        size += fabs(m.mass * tal_v3_dot(r->gravity, com));
    }
    const double kinetic = tal_matter_kinetic_energy(r->matter, r->state);
    ck_assert_double_eq_tol(kinetic, ref->kinetic, DIRECT * ref->kinetic);
    ck_assert_double_eq_tol(potential, ref->potential, DIRECT * size);
    if (ref->momentum == NULL) return;
    const tal_spatial_vec h = tal_matter_momentum(r->matter, r->state);
    test_assert_near(&h.w.x, ref->momentum, 6, DIRECT * test_largest(ref->momentum, 6), "momentum");
}

static void check_poses(const rig *r, const ref_tree *ref)
{
    for (int b = 1; ref->poses != NULL && b <= ref->num_bodies; ++b) {
        const ref_pose *pose = &ref->poses[b - 1];
        const tal_xform X_GB = rig_X_GB(r, b);
        const double *R = pose->R_GB; // by rows
        const tal_mat3 R_GB = {{R[0], R[3], R[6]}, {R[1], R[4], R[7]}, {R[2], R[5], R[8]}};
        test_assert_m3_near(X_GB.R, R_GB, DIRECT);
        test_assert_near(&X_GB.p.x, pose->origin_G, 3, DIRECT * 4.0, ref->name);

        const tal_spatial_vec V_GB = rig_V_GB(r, b);
        const double *com = ref->bodies[b - 1].com;
        const tal_vec3 v_com =
            tal_station_v_GS(r->matter, r->state, (tal_body_ix){b}, tal_v3(com[0], com[1], com[2]));
        const double speed = 1.0 + test_largest(pose->w_G, 3) + test_largest(pose->v_com_G, 3);
        test_assert_near(&V_GB.w.x, pose->w_G, 3, DIRECT * speed, ref->name);
        test_assert_near(&v_com.x, pose->v_com_G, 3, DIRECT * speed, ref->name);
    }
}

// M column by column, and the mobility forces that hold udot = 0, by inverse dynamics.
static void check_inverse(const rig *r, const ref_tree *ref)
{
    const int nu = ref->nu;
    const double size_M = test_largest(ref->M, nu * nu);
    tal_spatial_vec F_GB[16];
    double f[32];
    for (int j = 0; j < nu; ++j) {
        double unit[32] = {0.0};
        unit[j] = 1.0;
        ck_assert_int_eq(tal_matter_mul_M(r->matter, r->state, unit, f), TAL_OK);
        for (int i = 0; i < nu; ++i) {
            ck_assert_double_eq_tol(f[i], ref->M[i * nu + j], DIRECT * size_M);
        }
    }
    rig_weights(r, F_GB);
    ck_assert_int_eq(tal_matter_inverse_dynamics(r->matter, r->state, NULL, F_GB, NULL, f), TAL_OK);
    test_validate(ref->name, source_of(ref), "velocity and weight forces, relative",
                  "inverse dynamics",
                  test_difference(f, ref->bias, nu) / test_largest(ref->bias, nu), DIRECT);
}

START_TEST(every_mobilizer_agrees_with_the_reference)
{
    const ref_tree *ref = &ref_trees[_i];
    rig r;
    double tau[32];
    build(&r, ref);
    set_up(&r, ref, tau);
    rig_realize(&r, TAL_STAGE_ACCELERATION);

    const double size = test_largest(ref->udot, ref->nu);
    test_validate(ref->name, source_of(ref), "accelerations, relative", "forward dynamics",
                  test_difference(tal_state_udot(r.state), ref->udot, ref->nu) / size,
                  50.0 * ref->cond * DBL_EPSILON);
    check_inverse(&r, ref);
    check_poses(&r, ref);
    check_energies(&r, ref);
    rig_end(&r);
}

END_TEST

START_TEST(the_kuka_arm_at_rest_holds_its_weight)
{
    const ref_tree *ref = &ref_trees[sizeof ref_trees / sizeof ref_trees[0] - 1];
    rig r;
    build(&r, ref);
    r.tau = kuka_rest_tau;
    ck_assert_int_eq(tal_state_set_q(r.state, kuka_rest_q, 7), TAL_OK);
    rig_realize(&r, TAL_STAGE_ACCELERATION);

    // the torques are rounded: udot is off by cond(M) times that, over the smallest inertia
    const double still[7] = {0.0};
    const double size = test_largest(kuka_rest_tau, 7) / 1e-3;
    test_assert_near(tal_state_udot(r.state), still, 7, 50.0 * DBL_EPSILON * size, "udot");
    const tal_xform X = rig_X_GB(&r, 7);
    const double *R = kuka_rest_R_G7;
    const tal_mat3 R_G7 = {{R[0], R[3], R[6]}, {R[1], R[4], R[7]}, {R[2], R[5], R[8]}};
    test_assert_m3_near(X.R, R_G7, DIRECT);
    test_assert_near(&X.p.x, kuka_rest_p_G7, 3, DIRECT, "p_G7");
    rig_end(&r);
}

END_TEST

// --- P3: a horizontal chain of rods released from rest (refs:long_chain_release) ---

// m l = 1 kg m, g = 9.81 m/s^2; F_i = A (r^i - r^(2n+2-i)) with r = sqrt(3) - 2, A from
// 4 F_1 + 2 F_2 = m g, alpha_i = -6/(m l) (F_i + F_i+1). The forces shrink by |r| per rod, so
// powers beyond the 400th are below the smallest number that matters.
static double joint_force(int n, int i)
{
    const double r = sqrt(3.0) - 2.0, weight = 2.0 * 9.81;
    const double first = r - pow(r, 2.0 * n + 1.0), second = r * r - pow(r, 2.0 * n);
    const double A = weight / (4.0 * first + 2.0 * second);
    return i <= n ? A * (pow(r, i) - pow(r, 2.0 * n + 2.0 - i)) : 0.0;
}

typedef struct chain_run {
    int n;
    bool ok;
    double worst; ///< |alpha - exact|
    double tip;   ///< vertical acceleration of the free end
} chain_run;

static tal_status build_chain(rig *r, int n)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_rod(2.0, tal_v3(0.25, 0.0, 0.0));
    def.X_BM = tal_xf_from_p(tal_v3(-0.25, 0.0, 0.0));
    tal_body_ix last = TAL_GROUND;
    for (int b = 1; b <= n; ++b) {
        def.X_PF = b == 1 ? TAL_XFORM_IDENTITY : tal_xf_from_p(tal_v3(0.25, 0.0, 0.0));
        last = tal_matter_add_pin(r->matter, last, &def);
    }
    return tal_system_realize_topology(r->system, NULL);
}

// No assertions: this runs on a thread with a small stack.
static void *release_chain(void *argument)
{
    chain_run *run = argument;
    static const tal_subsystem_ops loads = {
        .size = sizeof loads, .name = "loads", .realize_dynamics = rig_apply};
    rig r = {.system = tal_system_create(NULL), .gravity = {0.0, -9.81, 0.0}};
    r.matter = tal_matter_create(r.system);
    (void)tal_system_add_subsystem(r.system, NULL, &loads, &r);
    run->ok = build_chain(&r, run->n) == TAL_OK &&
              tal_state_create(r.system, &r.state, NULL) == TAL_OK &&
              tal_system_realize(r.system, r.state, TAL_STAGE_ACCELERATION) == TAL_OK;
    double alpha = 0.0, up = 0.0; // of the rods, absolute; of the joints
    for (int i = 1; run->ok && i <= run->n; ++i) {
        alpha += tal_state_udot(r.state)[i - 1];
        const double exact = -6.0 * (joint_force(run->n, i) + joint_force(run->n, i + 1));
        run->worst = fmax(run->worst, fabs(alpha - exact));
        up += 0.5 * alpha;
    }
    run->tip = up;
    tal_state_destroy(r.state);
    tal_system_destroy(r.system);
    return NULL;
}

static void run_on_small_stack(chain_run *run)
{
    pthread_attr_t attributes;
    pthread_t thread;
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, test_small_stack()), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, release_chain, run), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&attributes);
}

// The error: joint angles are differences of absolute ones, so summing n of them accumulates
// sqrt(n) to n rounding errors of the size of the largest, 30 rad/s^2; most are far smaller.
START_TEST(a_chain_let_go_is_exact_on_a_64_kB_stack)
{
    static const int sizes[] = {1, 2, 3, 10, 100, 1000, 10000, 100000};
    chain_run run = {.n = sizes[_i]};
    run_on_small_stack(&run);
    ck_assert(run.ok);
    char name[80];
    (void)snprintf(name, sizeof name, "chain of rods let go, n = %d", run.n);
    test_validate(name, "refs:long_chain_release", "accelerations [rad/s^2]", "forward dynamics",
                  run.worst, 1e-12);
    const double tip = run.n == 1    ? -14.715
                       : run.n == 2  ? -8.40857142857143
                       : run.n == 3  ? -10.187307692307693
                       : run.n == 10 ? -9.80996256968106
                                     : -9.81;
    ck_assert_double_eq_tol(run.tip, tip, 1e-12);
}

END_TEST

// refs:mass_ratio_double_pendulum: point masses, inner 1 kg, outer m; angles from the downward
// vertical. The problem is well conditioned at every ratio: some ten roundings.
START_TEST(a_double_pendulum_is_exact_at_any_mass_ratio)
{
    static const double refs[][3] = {
        {1e-9, -6.31977551406235, 8.952680463601784},  {1e-6, -6.319777772399903, 8.95267995050276},
        {1e-3, -6.322033970224346, 8.952167337631005}, {1.0, -7.480022083994742, 8.689070012552675},
        {1e3, -8.700910761195287, 8.411681547705639},  {1e6, -8.703418989534153, 8.41111167297308},
        {1e9, -8.703421500407241, 8.411111102497454}};
    rig r;
    rig_begin(&r);
    r.gravity = tal_v3(0.0, -9.81, 0.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.structure = TAL_BODY_PARTICLE;
    def.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix inner = tal_matter_add_pin(r.matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_point(refs[_i][0], TAL_VEC3_ZERO);
    (void)tal_matter_add_pin(r.matter, inner, &def);
    rig_finish(&r);
    const double q[] = {0.7, -1.1 - 0.7}, u[] = {1.3, -2.1 - 1.3};
    ck_assert_int_eq(tal_state_set_q(r.state, q, 2), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(r.state, u, 2), TAL_OK);
    rig_realize(&r, TAL_STAGE_ACCELERATION);

    const double *udot = tal_state_udot(r.state);
    const double absolute[] = {udot[0], udot[0] + udot[1]};
    char name[80];
    (void)snprintf(name, sizeof name, "double pendulum, mass ratio %.0e", refs[_i][0]);
    test_validate(name, "refs:mass_ratio_double_pendulum", "accelerations [rad/s^2]",
                  "forward dynamics", test_difference(absolute, refs[_i] + 1, 2), 2e-14 * 10.0);
    rig_end(&r);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter: references");
    TCase *textbook = tcase_create("textbook");
    tcase_set_timeout(textbook, 100.0);
    tcase_add_loop_test(textbook, every_mobilizer_agrees_with_the_reference, 0,
                        (int)(sizeof ref_trees / sizeof ref_trees[0]));
    tcase_add_test(textbook, the_kuka_arm_at_rest_holds_its_weight);
    tcase_add_loop_test(textbook, a_double_pendulum_is_exact_at_any_mass_ratio, 0, 7);
    tcase_add_loop_test(textbook, a_chain_let_go_is_exact_on_a_64_kB_stack, 0, 8);
    suite_add_tcase(suite, textbook);
    return test_run(suite);
}
