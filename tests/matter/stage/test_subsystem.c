// subsystem.c: matter in a System. Failures name their cause and leave the State as it was; nothing
// allocates after creation; results depend on the variables alone.
#include "alloc_guard.h"
#include "random_tree.h"
#include "tree_support.h"

#include <pthread.h>

// --- failures ---

static tal_mobod_def heavy(const char *name)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = name;
    def.mass = tal_mass_props_sphere(2.0, 0.5);
    return def;
}

static tal_mobod_def massless(const char *name)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = name;
    return def;
}

// Realizing must fail at `stage` like this, keep the variables and stay below; and work again once
// `state` has been given back what it had before.
static void assert_fails(const rig *r, tal_stage stage, tal_status expected, const char *part)
{
    tal_state *before = NULL;
    ck_assert_int_eq(tal_state_create(r->system, &before, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(before, r->state), TAL_OK);
    ck_assert_int_eq(tal_system_realize(r->system, r->state, TAL_STAGE_ACCELERATION), expected);
    const char *message = tal_state_error(r->state)->message;
    ck_assert_msg(strstr(message, part) != NULL, "'%s' lacks '%s'", message, part);
    ck_assert_int_eq(tal_state_stage(r->state), stage - 1);
    ck_assert_int_eq(tal_state_lowest_difference(r->system, before, r->state), TAL_STAGE_INFINITY);
    tal_state_destroy(before);
}

static const char *const hinges[] = {"pin",         "slider", "universal",        "ball",
                                     "translation", "gimbal", "line_orientation", "free",
                                     "planar"};

START_TEST(a_massless_tip_is_reported_by_name)
{
    test_rng rng = test_rng_seed(10);
    rig r;
    rig_begin(&r);
    tal_mobod_def arm = heavy("arm"), tip = massless("tip"), other = heavy("other");
    arm.X_PF = test_random_xform(&rng);
    tip.X_PF = test_random_xform(&rng);
    (void)rig_add(&r, 0, "pin", &arm, NULL);
    (void)rig_add(&r, 1, hinges[_i], &tip, NULL);
    (void)rig_add(&r, 0, "pin", &other, NULL);
    rig_finish(&r);
    assert_fails(&r, TAL_STAGE_ACCELERATION, TAL_ERR_SINGULAR, "'tip'");
    // with mass it works: the structure is rigid, so it may have some
    const tal_mass_props mass = tal_mass_props_sphere(1.0, 0.1);
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, (tal_body_ix){2}, &mass), TAL_OK);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    rig_end(&r);
}

END_TEST

// A massless link between two mobilizers that can do the same: only the sum of their motions moves
// mass. D of the inner one is pure round-off of what the outer one took away, whatever the
// orientation and whatever hangs on it.
static const struct {
    const char *inner, *outer;
    bool offset; ///< the outer one may be anywhere on the link
} idle_links[] = {{"pin", "pin", false},   {"slider", "slider", true},
                  {"ball", "ball", true}, // the link spins about its own axis
                  {"planar", "pin", true}, {"cylinder", "pin", false},
                  {"gimbal", "pin", false}};

START_TEST(a_massless_link_that_can_move_by_itself_is_reported_by_name)
{
    test_rng rng = test_rng_seed(20 + (uint64_t)_i);
    for (int trial = 0; trial < 200; ++trial) {
        const double scale = pow(10.0, test_random_uniform(&rng, -4.0, 4.0));
        rig r;
        rig_begin(&r);
        const tal_mobod_def base = random_def(&rng), more = random_def(&rng);
        tal_mobod_def link = massless("link"), bob = random_def(&rng);
        bob.mass.mass *= scale;
        bob.mass.inertia = tal_s3_scale(scale, bob.mass.inertia);
        link.X_PF = test_random_xform(&rng);
        bob.X_PF = idle_links[_i].offset ? tal_xf_from_p(test_random_vec3(&rng))
                                         : tal_xf_from_p(tal_v3(0.0, 0.0, 0.7));
        (void)rig_add(&r, 0, "ball", &base, NULL);
        (void)rig_add(&r, 1, idle_links[_i].inner, &link, NULL);
        (void)rig_add(&r, 2, idle_links[_i].outer, &bob, NULL);
        if (trial % 2 == 0) (void)rig_add(&r, 3, "ball", &more, NULL);
        rig_finish(&r);
        const tal_xform X_FM = tal_xf_from_R(test_random_rotation(&rng));
        ck_assert_int_eq(tal_body_fit_q(r.matter, r.state, (tal_body_ix){1}, &X_FM), TAL_OK);
        const double last = test_random_uniform(&rng, -3.0, 3.0);
        const int nq = tal_body_nq(r.matter, r.state, (tal_body_ix){3});
        ck_assert_int_eq(tal_body_set_q(r.matter, r.state, (tal_body_ix){3}, nq - 1, last), TAL_OK);
        assert_fails(&r, TAL_STAGE_ACCELERATION, TAL_ERR_SINGULAR, "'link'");
        rig_end(&r);
    }
}

END_TEST

// Masses between 0.1 g and 10 t in one tree: ill conditioned, but nothing moves without mass.
START_TEST(trees_of_very_different_masses_are_accepted)
{
    static const char *const kinds[] = {"pin",    "slider",      "universal", "cylinder",
                                        "planar", "gimbal",      "bushing",   "translation",
                                        "ball",   "free",        "free_line", "line_orientation",
                                        "weld",   "bend_stretch"};
    test_rng rng = test_rng_seed(25);
    for (int trial = 0; trial < 200; ++trial) {
        rig r;
        rig_begin(&r);
        for (int b = 1; b <= 30; ++b) {
            tal_mobod_def def = random_def(&rng);
            const double scale = pow(10.0, test_random_uniform(&rng, -4.0, 4.0));
            def.mass.mass *= scale;
            def.mass.inertia = tal_s3_scale(scale, def.mass.inertia);
            const int parent = (int)(test_random_bits(&rng) % (uint64_t)b);
            (void)rig_add(&r, parent, kinds[test_random_bits(&rng) % 14], &def, NULL);
        }
        rig_finish(&r);
        double *q = tal_state_upd_q(r.state);
        for (int i = 0; i < tal_state_nq(r.state); ++i) {
            q[i] += test_random_uniform(&rng, 0.1, 1.0);
        }
        rig_realize(&r, TAL_STAGE_ACCELERATION);
        rig_end(&r);
    }
}

END_TEST

START_TEST(q_that_is_no_number_is_reported_by_name)
{
    static const double bad[] = {TALI_NAN, HUGE_VAL, -HUGE_VAL};
    rig r;
    rig_begin(&r);
    const tal_mobod_def one = heavy("one"), two = heavy("two");
    (void)rig_add(&r, 0, "pin", &one, NULL);
    (void)rig_add(&r, 1, "free", &two, NULL);
    rig_finish(&r);
    for (int k = 0; k < 3; ++k) {
        tal_state_upd_q(r.state)[0] = bad[k];
        assert_fails(&r, TAL_STAGE_POSITION, TAL_ERR_NOT_FINITE, "'one': its coordinate 0");
        tal_state_upd_q(r.state)[0] = 0.5;
        tal_state_upd_q(r.state)[7] = bad[k];
        assert_fails(&r, TAL_STAGE_POSITION, TAL_ERR_NOT_FINITE, "'two': its coordinate 6");
        tal_state_upd_q(r.state)[7] = 0.5;
        tal_state_upd_u(r.state)[3] = bad[k];
        assert_fails(&r, TAL_STAGE_VELOCITY, TAL_ERR_NOT_FINITE, "'two': its speed 2");
        tal_state_upd_u(r.state)[3] = 0.5;
        rig_realize(&r, TAL_STAGE_ACCELERATION);
    }
    rig_end(&r);
}

END_TEST

// w x (w x r) overflows from w = 1e154 rad/s on: speeds are finite, accelerations are not. A run
// must not go on with them. Forward and inverse dynamics say so too, and so does a product with M
// that overflows.
START_TEST(speeds_too_large_for_accelerations_are_reported_by_name)
{
    rig r;
    rig_begin(&r);
    tal_mobod_def arm = heavy("arm"), tip = heavy("tip");
    tip.X_PF = tal_xf_from_p(tal_v3(7.0, 3.0, 2.0));
    (void)rig_add(&r, 0, "ball", &arm, NULL);
    (void)rig_add(&r, 1, hinges[_i], &tip, NULL);
    rig_finish(&r);
    double room[9];
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    tal_state_upd_u(r.state)[1] = 1e200;
    assert_fails(&r, TAL_STAGE_ACCELERATION, TAL_ERR_NOT_FINITE, "body '");
    ck_assert_ptr_nonnull(strstr(tal_state_error(r.state)->message, "at t = 0"));
    rig_realize(&r, TAL_STAGE_DYNAMICS);
    ck_assert_int_eq(tal_matter_forward_dynamics(r.matter, r.state, NULL, NULL, room, NULL),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_inverse_dynamics(r.matter, r.state, NULL, NULL, NULL, room),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_calc_tree_forces(r.matter, r.state, NULL, NULL, room),
                     TAL_ERR_NOT_FINITE);
    for (int j = 0; j < tal_state_nu(r.state); ++j) {
        room[j] = 1.7e308;
    }
    ck_assert_int_eq(tal_matter_mul_M(r.matter, r.state, room, room), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(r.state)->message, "too large"));
    // products of every kind, of vectors and of columns
    const int nu = tal_state_nu(r.state);
    double large[36], out[36];
    for (int i = 0; i < 36; ++i) {
        large[i] = 1.7e308;
    }
    const tal_spatial_vec *F = (const tal_spatial_vec *)(const void *)large;
    tal_spatial_vec *V = (tal_spatial_vec *)(void *)out;
    const tal_matrix in = tal_matrix_view(large, nu, 2), forces = tal_matrix_view(large, 18, 2);
    const tal_matrix moves = tal_matrix_view(out, 18, 2), f = tal_matrix_view(out, nu, 2);
    const tal_station tip_of = {{2}, {0.7, 0.3, 0.2}};
    ck_assert_int_eq(tal_matter_mul_M_columns(r.matter, r.state, in, f), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_mul_J_columns(r.matter, r.state, in, moves), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_mul_JT_columns(r.matter, r.state, forces, f), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_mul_J(r.matter, r.state, large, V), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_mul_JT(r.matter, r.state, F, out), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_mul_frame_J(r.matter, r.state, &tip_of, 1, large, V),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_mul_frame_JT(r.matter, r.state, &tip_of, 1, F, out),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_matter_calc_J_bias(r.matter, r.state, V), TAL_ERR_NOT_FINITE);
    // velocities themselves: the product with a length overflows
    const double u1 = tal_state_u(r.state)[0];
    for (int j = 0; j < 3; ++j) {
        tal_state_upd_u(r.state)[j] = j == 1 ? -1.7e308 : 1.7e308;
    }
    assert_fails(&r, TAL_STAGE_VELOCITY, TAL_ERR_NOT_FINITE, "'tip': its velocity is not finite");
    tal_state_upd_u(r.state)[0] = tal_state_upd_u(r.state)[2] = u1;
    // and nothing is wrong with the State once its speed is
    tal_state_upd_u(r.state)[1] = 1e100;
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    for (int j = 0; j < tal_state_nu(r.state); ++j) {
        ck_assert(isfinite(tal_state_udot(r.state)[j]));
    }
    rig_end(&r);
}

END_TEST

START_TEST(a_quaternion_without_direction_is_reported_by_name)
{
    rig r;
    rig_begin(&r);
    const tal_mobod_def def = heavy("top");
    (void)rig_add(&r, 0, "ball", &def, NULL);
    rig_finish(&r);
    tal_state_upd_q(r.state)[0] = 0.0;
    assert_fails(&r, TAL_STAGE_POSITION, TAL_ERR_BAD_VALUE, "'top': its quaternion (0, 0, 0, 0)");
    tal_state_upd_q(r.state)[0] = 1e200;
    assert_fails(&r, TAL_STAGE_POSITION, TAL_ERR_BAD_VALUE, "'top'");
    tal_state_upd_q(r.state)[0] = -1e-100;
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    rig_end(&r);
}

END_TEST

// --- mobilizers that fail ---

typedef struct faulty {
    int fails; ///< which function
} faulty;

static tal_status faulty_X(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)arg;
    *X_FM = TAL_XFORM_IDENTITY;
    return ((const faulty *)self)->fails == 0 ? TAL_ERR_BAD_VALUE : TAL_OK;
}

static tal_status faulty_H(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H[])
{
    (void)arg;
    H[0] = tal_sv(tal_v3(1.0, 0.0, 0.0), TAL_VEC3_ZERO);
    return ((const faulty *)self)->fails == 1 ? TAL_ERR_SINGULAR : TAL_OK;
}

static tal_status faulty_Hdot(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H[])
{
    (void)arg;
    H[0] = TAL_SPATIAL_VEC_ZERO;
    return ((const faulty *)self)->fails == 2 ? TAL_ERR_CALLBACK : TAL_OK;
}

static tal_status faulty_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                           const double in[], double out[])
{
    (void)arg;
    const int fails = ((const faulty *)self)->fails;
    out[0] = op == TAL_NDOT ? 0.0 : in[0];
    return (fails == 3 && op == TAL_N) || (fails == 4 && op == TAL_NDOT) ? TAL_ERR_SINGULAR
                                                                         : TAL_OK;
}

START_TEST(a_mobilizer_that_fails_is_reported_by_name)
{
    static const tal_mobilizer_ops ops = {.size = sizeof ops,
                                          .name = "faulty",
                                          .nu = 1,
                                          .nq = 1,
                                          .nq_angles = 1,
                                          .calc_X_FM = faulty_X,
                                          .calc_H_FM = faulty_H,
                                          .calc_Hdot_FM = faulty_Hdot,
                                          .mul_N = faulty_N};

    static const struct {
        tal_stage stage;
        tal_status status;
    } expected[] = {{TAL_STAGE_POSITION, TAL_ERR_BAD_VALUE},
                    {TAL_STAGE_POSITION, TAL_ERR_SINGULAR},
                    {TAL_STAGE_VELOCITY, TAL_ERR_CALLBACK},
                    {TAL_STAGE_VELOCITY, TAL_ERR_SINGULAR},
                    {TAL_STAGE_ACCELERATION, TAL_ERR_SINGULAR}};

    faulty self = {.fails = _i};
    rig r;
    rig_begin(&r);
    const tal_mobod_def def = heavy("patient");
    (void)tal_matter_add_mobilizer(r.matter, TAL_GROUND, &def, &ops, &self, NULL);
    rig_finish(&r);
    assert_fails(&r, expected[_i].stage, expected[_i].status, "'patient': its mobilizer, 'faulty'");
    self.fails = -1;
    ck_assert_int_eq(tal_state_invalidate(r.state, TAL_STAGE_POSITION), TAL_OK);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    rig_end(&r);
}

END_TEST

// --- memory ---

START_TEST(nothing_allocates_after_creation)
{
    random_tree_def def = random_tree_def_default(30);
    def.num_bodies = 40;
    random_tree tree = random_tree_create(&def);
    test_rng rng = test_rng_seed(31);
    tal_status st = TAL_OK;
    const tal_xform X = test_random_xform(&rng);
    const tal_mass_props mass = test_random_mass_props(&rng);
    const tal_spatial_vec V = test_random_spatial_vec(&rng);
    test_assert_no_heap({
        for (int b = 1; b <= def.num_bodies && st == TAL_OK; ++b) {
            const tal_body_ix body = {b};
            st = tal_system_realize(tree.system, tree.state, TAL_STAGE_REPORT);
            if (st == TAL_OK) st = tal_body_set_mass_props(tree.matter, tree.state, body, &mass);
            if (st == TAL_OK) st = tal_body_set_X_PF(tree.matter, tree.state, body, &X);
            if (st == TAL_OK) st = tal_body_set_X_BM(tree.matter, tree.state, body, &X);
            if (st == TAL_OK) st = tal_body_fit_q(tree.matter, tree.state, body, &X);
            if (st == TAL_OK) st = tal_body_fit_u(tree.matter, tree.state, body, V);
            if (st == TAL_OK) st = tal_matter_set_use_angles(tree.matter, tree.state, b % 2 == 0);
            if (st == TAL_OK) st = tal_matter_normalize_quaternions(tree.matter, tree.state);
        }
    });
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(tree.state)->message);
    random_tree_destroy(&tree);
}

END_TEST

typedef struct rationed {
    int left; ///< allocations until one fails; every later one succeeds
    int live;
    bool failed;
} rationed;

static void *rationed_alloc(void *context, size_t size)
{
    rationed *ration = context;
    if (ration->left-- == 0) {
        ration->failed = true;
        return NULL;
    }
    const size_t rounded = (size + TAL_ALIGNMENT - 1) / TAL_ALIGNMENT * TAL_ALIGNMENT;
    void *block = aligned_alloc(TAL_ALIGNMENT, rounded);
    ration->live += block != NULL;
    return block;
}

static void rationed_free(void *context, void *block, size_t size)
{
    (void)size;
    rationed *ration = context;
    ration->live -= block != NULL;
    free(block);
}

// Builds, realizes and destroys a System that uses everything matter allocates for.
static tal_status live_once(rationed *ration, tal_error *err)
{
    tal_system_def def = tal_system_def_default();
    def.allocator = (tal_allocator){rationed_alloc, rationed_free, ration};
    tal_system *system = tal_system_create(&def);
    if (system == NULL) return TAL_ERR_NO_MEMORY;
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def body = heavy(NULL);
    tal_body_ix last = TAL_GROUND;
    for (int b = 1; b <= 12; ++b) {
        last = tal_matter_add_screw(matter, last, &body, 0.1 * b);
        const double q = 0.1;
        (void)tal_body_set_initial_q(matter, last, &q, 1);
        (void)tal_body_limit_coordinate(matter, last, 0, -1.0, 1.0);
        const char name[] = {(char)('a' + b), '\0'};
        (void)tal_body_name_coordinate(matter, last, 0, name);
        const tal_decoration label = tal_decoration_text("screw");
        (void)tal_matter_add_decoration(matter, last, &label);
    }
    tal_state *state = NULL;
    tal_status st = tal_system_realize_topology(system, err);
    if (st == TAL_OK) st = tal_state_create(system, &state, err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st;
}

START_TEST(any_allocation_may_fail)
{
    bool failed = true;
    for (int k = 0; failed; ++k) {
        rationed ration = {.left = k};
        tal_error err = {TAL_OK, "", ""};
        const tal_status st = live_once(&ration, &err);
        failed = ration.failed;
        ck_assert_msg(st == (failed ? TAL_ERR_NO_MEMORY : TAL_OK), "%d: %d %s", k, st, err.message);
        ck_assert_int_eq(ration.live, 0);
        ck_assert_int_lt(k, 1000);
    }
}

END_TEST

// A State grows with the number of bodies and nothing else.
START_TEST(memory_is_linear_in_the_number_of_bodies)
{
    size_t size[3];
    for (int k = 0; k < 3; ++k) {
        random_tree_def def = random_tree_def_default(40);
        def.num_bodies = 2000 << k;
        random_tree tree = random_tree_create(&def);
        size[k] = tal_system_state_size(tree.system);
        random_tree_destroy(&tree);
    }
    // per body it is the same but for what all Systems have and for rounding; a random tree has few
    // open sums at a time
    ck_assert_double_eq_tol((double)size[1] / (double)size[0], 2.0, 0.02);
    ck_assert_double_eq_tol((double)size[2] / (double)size[1], 2.0, 0.02);
}

END_TEST

// --- determinism ---

enum {
    THREADS = 8,
    ROUNDS = 25
};

typedef struct runner {
    const random_tree *tree;
    double *results; ///< [ROUNDS nu]
    bool ok;
} runner;

static void *run_rounds(void *argument)
{
    runner *run = argument;
    tal_state *state = NULL;
    run->ok = tal_state_create(run->tree->system, &state, NULL) == TAL_OK;
    for (int k = 0; k < ROUNDS && run->ok; ++k) {
        test_rng rng = test_rng_seed(1000 + (uint64_t)k);
        random_tree_shake(run->tree, state, &rng);
        run->ok = tal_system_realize(run->tree->system, state, TAL_STAGE_REPORT) == TAL_OK;
        if (!run->ok) break;
        const size_t nu = (size_t)run->tree->nu;
        memcpy(run->results + (size_t)k * nu, tal_state_udot(state), nu * sizeof(double));
    }
    tal_state_destroy(state);
    return NULL;
}

START_TEST(threads_that_share_a_system_get_the_same_bytes)
{
    random_tree_def def = random_tree_def_default(50);
    def.num_bodies = 60;
    random_tree tree = random_tree_create(&def);
    runner runs[THREADS + 1];
    pthread_t threads[THREADS];
    const size_t count = (size_t)ROUNDS * (size_t)tree.nu;
    for (int k = 0; k <= THREADS; ++k) {
        runs[k] = (runner){&tree, calloc(count, sizeof(double)), false};
        ck_assert_ptr_nonnull(runs[k].results);
    }
    (void)run_rounds(&runs[THREADS]);
    ck_assert(runs[THREADS].ok);
    for (int k = 0; k < THREADS; ++k) {
        ck_assert_int_eq(pthread_create(&threads[k], NULL, run_rounds, &runs[k]), 0);
    }
    for (int k = 0; k < THREADS; ++k) {
        ck_assert_int_eq(pthread_join(threads[k], NULL), 0);
    }
    for (int k = 0; k < THREADS; ++k) {
        ck_assert(runs[k].ok);
        ck_assert_mem_eq(runs[k].results, runs[THREADS].results, count * sizeof(double));
    }
    for (int k = 0; k <= THREADS; ++k) {
        free(runs[k].results);
    }
    random_tree_destroy(&tree);
}

END_TEST

// --- P18: results depend on the variables alone ---

// One random change of a variable, or a look at some stage.
static void walk(const random_tree *tree, tal_state *state, test_rng *rng)
{
    const tal_body_ix body = {1 + (int)(test_random_bits(rng) % (uint64_t)(tree->num_bodies - 1))};
    const tal_matter *matter = tree->matter;
    const int nq = tal_body_nq(matter, state, body), nu = tal_body_nu(matter, body);
    const bool turns = matter->bodies[body.i].ops.has_quaternion;
    const tal_mass_props mass = test_random_mass_props(rng);
    const tal_xform X = test_random_xform(rng);
    const double x = test_random_uniform(rng, 0.2, 1.2);
    int n = 0;
    const double *params = NULL;
    tal_status st = TAL_OK;
    switch (test_random_bits(rng) % 12) {
    case 0:
        if (nq > 0) {
            st = tal_body_set_q(matter, state, body, (int)(test_random_bits(rng) % 3) % nq, x);
        }
        break;
    case 1:
        if (nu > 0) {
            st = tal_body_set_u(matter, state, body, (int)(test_random_bits(rng) % 3) % nu, x);
        }
        break;
    case 2:
        st = tal_body_set_mass_props(matter, state, body, &mass);
        break;
    case 3:
        st = tal_body_set_X_PF(matter, state, body, &X);
        break;
    case 4:
        st = tal_body_set_X_BM(matter, state, body, &X);
        break;
    case 5:
        if (turns) {
            st = tal_body_set_use_angles(matter, state, body, test_random_bits(rng) % 2 == 0);
        }
        break;
    case 6:
        params = tal_body_params(matter, state, body, &n);
        if (n == 1 || n == 3) {
            const double scaled[] = {x, x, x};
            st = tal_body_set_params(matter, state, body, scaled, n);
        }
        ck_assert_ptr_nonnull(params);
        break;
    case 7:
        st = tal_state_set_t(state, x);
        break;
    case 8:
        st = tal_matter_normalize_quaternions(matter, state);
        break;
    default: {
        const tal_stage stage = (tal_stage)(TAL_STAGE_MODEL + (int)(test_random_bits(rng) % 8));
        st = tal_system_realize(tree->system, state, stage);
    }
    }
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(state)->message);
}

// Every result of Acceleration and below, byte for byte.
static void assert_same_results(const random_tree *tree, const tal_state *a, const tal_state *b)
{
    const tal_system *system = tree->system;
    const size_t nq = (size_t)tal_state_nq(a), nu = (size_t)tal_state_nu(a);
    const size_t nb = (size_t)tree->num_bodies;
    ck_assert_mem_eq(tal_state_udot(a), tal_state_udot(b), nu * sizeof(double));
    ck_assert_mem_eq(tal_state_qdot(a), tal_state_qdot(b), nq * sizeof(double));
    ck_assert_mem_eq(tal_state_qdotdot(a), tal_state_qdotdot(b), nq * sizeof(double));

    const struct {
        tal_cache_ix entry;
        size_t size;
    } entries[] = {{tree->matter->position, nb * sizeof(tali_tree_pose)},
                   {tree->matter->velocity, nb * sizeof(tali_tree_rates)},
                   {tree->matter->acceleration, nb * sizeof(tal_spatial_vec)}};

    for (size_t k = 0; k < sizeof entries / sizeof entries[0]; ++k) {
        const void *x = tal_cache_value(system, a, entries[k].entry);
        const void *y = tal_cache_value(system, b, entries[k].entry);
        ck_assert_mem_eq(x, y, entries[k].size);
    }
}

START_TEST(after_any_walk_results_are_those_of_a_fresh_state)
{
    const int length = getenv("TALUS_SOAK") != NULL ? 1000000 : 2000;
    random_tree_def def = random_tree_def_default(60 + (uint64_t)_i);
    def.num_bodies = 21;
    random_tree tree = random_tree_create(&def);
    test_rng rng = test_rng_seed(61 + (uint64_t)_i);
    const size_t size = tal_state_save_size(tree.state) + 4096;
    void *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    for (int k = 0; k < length; ++k) {
        walk(&tree, tree.state, &rng);
        if (k % 20 != 0) continue;
        tal_state *fresh = NULL;
        ck_assert_int_eq(tal_state_create(tree.system, &fresh, NULL), TAL_OK);
        const size_t used = tal_state_save_size(tree.state);
        ck_assert_uint_le(used, size);
        ck_assert_int_eq(tal_state_save(tree.state, bytes, used), TAL_OK);
        ck_assert_int_eq(tal_state_load(tree.system, fresh, bytes, used), TAL_OK);
        random_tree_realize(&tree, fresh, TAL_STAGE_ACCELERATION);
        random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
        assert_same_results(&tree, tree.state, fresh);
        tal_state_destroy(fresh);
    }
    free(bytes);
    random_tree_destroy(&tree);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter: subsystem");
    TCase *errors = tcase_create("errors");
    tcase_add_checked_fixture(errors, test_record_breaches, NULL);
    tcase_add_loop_test(errors, a_massless_tip_is_reported_by_name, 0,
                        (int)(sizeof hinges / sizeof hinges[0]));
    tcase_add_loop_test(errors, a_massless_link_that_can_move_by_itself_is_reported_by_name, 0,
                        (int)(sizeof idle_links / sizeof idle_links[0]));
    tcase_add_test(errors, trees_of_very_different_masses_are_accepted);
    tcase_add_test(errors, q_that_is_no_number_is_reported_by_name);
    tcase_add_loop_test(errors, speeds_too_large_for_accelerations_are_reported_by_name, 0,
                        (int)(sizeof hinges / sizeof hinges[0]));
    tcase_add_test(errors, a_quaternion_without_direction_is_reported_by_name);
    tcase_add_loop_test(errors, a_mobilizer_that_fails_is_reported_by_name, 0, 5);
    TCase *alloc = tcase_create("alloc");
    tcase_set_timeout(alloc, 60.0);
    tcase_add_checked_fixture(alloc, test_record_breaches, NULL);
    tcase_add_test(alloc, nothing_allocates_after_creation);
    tcase_add_test(alloc, any_allocation_may_fail);
    tcase_add_test(alloc, memory_is_linear_in_the_number_of_bodies);
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 14400.0);
    tcase_add_test(theory, threads_that_share_a_system_get_the_same_bytes);
    tcase_add_loop_test(theory, after_any_walk_results_are_those_of_a_fresh_state, 0, 5);
    suite_add_tcase(suite, errors);
    suite_add_tcase(suite, alloc);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
