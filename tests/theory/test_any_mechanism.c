// Everything together: random trees of all mobilizers with constraints of many kinds, prescribed
// motions, locks, rotors, and parameters that change. The results of a State must be right,
// whatever was done with it before.
#include "random_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    NUM_BODIES = 9, // Ground included
    MAX_NU = 6 * NUM_BODIES,
    MAX_RESULTS = 4000
};

static int pick(test_rng *rng, int n)
{
    return (int)(test_random_bits(rng) % (uint64_t)n);
}

static tal_body_ix any_body(test_rng *rng)
{
    return (tal_body_ix){1 + pick(rng, NUM_BODIES - 1)};
}

// --- building ---

static tal_function *wave(test_rng *rng)
{
    tal_function *f = NULL;
    const double omega = test_random_uniform(rng, 0.5, 2.0);
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, 0.5, omega, 0.3, &f, NULL), TAL_OK);
    return f;
}

// Of body 2 against body 1, which is another body or Ground; or of the coordinates of body 2.
static void add_constraint(tal_matter *matter, test_rng *rng)
{
    const tal_body_ix two = any_body(rng);
    const tal_body_ix one = {(two.i + 1 + pick(rng, NUM_BODIES - 1)) % NUM_BODIES};
    tal_constraint_def def = tal_constraint_between(one, two);
    tal_constraint_def on = tal_constraint_on(two, 0);
    def.disabled = on.disabled = pick(rng, 3) == 0;
    const tal_vec3 p = test_random_vec3(rng), s = test_random_vec3(rng);
    const tal_vec3 d = test_random_unit(rng);
    const tal_xform X = test_random_xform(rng), Y = test_random_xform(rng);
    const bool has_speeds = tal_body_nu(matter, two) > 0;
    const bool has_coordinates = has_speeds && tal_body_qdot_is_u(matter, two);
    switch (pick(rng, 12)) {
    case 0:
        (void)tal_constraint_add_ball(matter, &def, p, s);
        break;
    case 1:
        (void)tal_constraint_add_point_in_plane(matter, &def, d, 0.3, s);
        break;
    case 2:
        (void)tal_constraint_add_constant_angle(matter, &def, d, X.R.x, 1.1);
        break;
    case 3:
        (void)tal_constraint_add_weld(matter, &def, &X, &Y);
        break;
    case 4:
        (void)tal_constraint_add_sphere_on_plane_contact(matter, &def, &X, s, 0.4, true);
        break;
    case 5:
        (void)tal_constraint_add_sphere_on_sphere_contact(matter, &def, p, 0.3, s, 0.4, true);
        break;
    case 6:
        (void)tal_constraint_add_line_on_line_contact(matter, &def, &X, &Y, true);
        break;
    case 7:
        (void)tal_constraint_add_loop_screw(matter, &def, &X, &Y, 0.2);
        break;
    case 8:
        if (has_speeds) (void)tal_constraint_add_constant_speed(matter, &on, 0.4);
        break;
    case 9:
        if (has_speeds) (void)tal_constraint_add_constant_acceleration(matter, &on, -0.6);
        break;
    case 10:
        if (has_coordinates) {
            (void)tal_constraint_add_prescribed_motion(matter, &on, wave(rng));
        }
        break;
    default:
        (void)tal_constraint_add_rod(matter, &def, p, s, 0.7);
    }
}

static void add_motion(tal_matter *matter, tal_body_ix body, test_rng *rng)
{
    tal_motion_def def = tal_motion_def_default();
    def.body = body;
    def.disabled = pick(rng, 3) == 0;
    const bool qdot_is_u = tal_body_qdot_is_u(matter, body);
    def.level = (tal_level)(1 + pick(rng, qdot_is_u ? 3 : 2));
    def.mobility = qdot_is_u && pick(rng, 2) == 0 ? pick(rng, tal_body_nu(matter, body)) : -1;
    (void)tal_matter_add_motion_sinusoid(matter, &def, 0.5, 1.3, 0.2);
}

static void add_all(tal_matter *matter, void *context)
{
    test_rng *rng = context;
    for (int k = pick(rng, 5); k > 0; --k) {
        add_constraint(matter, rng);
    }
    const tal_body_ix body = any_body(rng);
    if (pick(rng, 2) == 0 && tal_body_nu(matter, body) > 0) add_motion(matter, body, rng);
}

static random_tree mechanism(test_rng *rng)
{
    random_tree_def def = random_tree_def_default(test_random_bits(rng));
    def.num_bodies = NUM_BODIES - 1;
    def.chain = pick(rng, 4) == 0;
    def.free_base = pick(rng, 4) == 0;
    def.add_more = add_all;
    def.context = rng;
    return random_tree_create(&def);
}

// --- changing ---

static void change_body(const random_tree *tree, tal_state *state, test_rng *rng)
{
    const tal_matter *matter = tree->matter;
    const tal_body_ix body = any_body(rng);
    const int nu = tal_body_nu(matter, body);
    const tal_xform X = test_random_xform(rng);
    const tal_mass_props mass = test_random_mass_props(rng);
    switch (pick(rng, 6)) {
    case 0:
        ck_assert_int_eq(tal_body_set_mass_props(matter, state, body, &mass), TAL_OK);
        break;
    case 1:
        ck_assert_int_eq(tal_body_set_X_PF(matter, state, body, &X), TAL_OK);
        break;
    case 2:
        ck_assert_int_eq(tal_body_set_X_BM(matter, state, body, &X), TAL_OK);
        break;
    case 3:
        if (nu == 1) {
            const double inertia = test_random_uniform(rng, 0.0, 2.0);
            ck_assert_int_eq(tal_body_set_rotor_inertia(matter, state, body, inertia), TAL_OK);
        }
        break;
    case 4: {
        const bool angles = tal_body_uses_angles(matter, state, body);
        if (tal_body_nq(matter, state, body) > nu || angles) {
            ck_assert_int_eq(tal_body_set_use_angles(matter, state, body, !angles), TAL_OK);
        }
        break;
    }
    default:
        ck_assert_int_eq(tal_body_lock(matter, state, body, (tal_level)pick(rng, 4)), TAL_OK);
    }
}

static void change_choice(const random_tree *tree, tal_state *state, test_rng *rng)
{
    const int nc = tal_matter_num_constraints(tree->matter);
    const bool on = pick(rng, 2) == 0;
    if (tal_matter_num_motions(tree->matter) > 0 && pick(rng, 3) == 0) {
        ck_assert_int_eq(tal_motion_set_enabled(tree->matter, state, (tal_motion_ix){0}, on),
                         TAL_OK);
    } else if (nc > 0) {
        const tal_constraint_ix c = {pick(rng, nc)};
        const double share = test_random_uniform(rng, 0.5, 2.0);
        ck_assert_int_eq(
            on ? tal_constraint_set_share(tree->matter, state, c, share)
               : tal_constraint_set_enabled(tree->matter, state, c,
                                            !tal_constraint_is_enabled(tree->matter, state, c)),
            TAL_OK);
    }
}

static void change(const random_tree *tree, tal_state *state, test_rng *rng)
{
    ck_assert_int_eq(tal_system_realize(tree->system, state, TAL_STAGE_MODEL), TAL_OK);
    const double x = test_random_uniform(rng, -1.0, 1.0);
    switch (pick(rng, 6)) {
    case 0:
        random_tree_shake(tree, state, rng);
        break;
    case 1:
        ck_assert_int_eq(tal_state_set_t(state, x), TAL_OK);
        break;
    case 2:
        if (tree->nu > 0) tal_state_upd_u(state)[pick(rng, tree->nu)] = x;
        break;
    case 3:
        change_choice(tree, state, rng);
        break;
    default:
        change_body(tree, state, rng);
    }
}

// Something computed in between, as far as it gets: a stage, or what an operator needs.
static void look_on_the_way(const random_tree *tree, tal_state *state, test_rng *rng)
{
    const tal_stage stage = (tal_stage)(TAL_STAGE_MODEL + pick(rng, 8));
    (void)!tal_system_realize(tree->system, state, stage);
    double in[MAX_NU] = {1.0}, out[MAX_NU];
    if (tree->nu == 0 || tal_state_stage(state) < TAL_STAGE_TIME) return;
    switch (pick(rng, 4)) {
    case 0:
        (void)!tal_matter_mul_Minv(tree->matter, state, in, out);
        break;
    case 1:
        (void)!tal_matter_inverse_dynamics(tree->matter, state, in, NULL, NULL, out);
        break;
    case 2:
        (void)tal_body_composite_inertia(tree->matter, state, any_body(rng));
        break;
    default: {
        tal_rows_report report;
        (void)!tal_matter_calc_constraint_report(tree->matter, state, &report, NULL);
    }
    }
}

// --- what a State says ---

typedef struct results {
    double value[MAX_RESULTS];
    int count;
} results;

static void add(results *to, const void *values, size_t bytes)
{
    const size_t n = bytes / sizeof(double);
    ck_assert_int_le(to->count + (int)n, MAX_RESULTS);
    if (n > 0) memcpy(to->value + to->count, values, n * sizeof(double));
    to->count += (int)n;
}

static void read_all(const random_tree *tree, tal_state *state, results *to)
{
    const size_t d = sizeof(double);
    to->count = 0;
    const double status = tal_system_realize(tree->system, state, TAL_STAGE_ACCELERATION);
    add(to, &status, d);
    if (status != TAL_OK) return;
    const size_t m = (size_t)tal_state_pool_size(state, TAL_POOL_UDOTERR);
    add(to, tal_state_ydot(state), (size_t)tal_state_ny(state) * d);
    add(to, tal_state_qdotdot(state), (size_t)tal_state_nq(state) * d);
    add(to, tal_state_uerr(state), (size_t)tal_state_pool_size(state, TAL_POOL_UERR) * d);
    add(to, tal_state_udoterr(state), m * d);
    add(to, tal_state_multipliers(state), m * d);
    add(to, tal_matter_motion_multipliers(tree->matter, state), (size_t)tree->nu * d);
    for (int b = 1; b < NUM_BODIES; ++b) {
        const tal_body_ix body = {b};
        const tal_xform X = tal_body_X_GB(tree->matter, state, body);
        const tal_spatial_vec A = tal_body_A_GB(tree->matter, state, body);
        const tal_spatial_vec R = tal_body_reaction_B(tree->matter, state, body);
        const tal_spatial_vec C = tal_body_centrifugal_force(tree->matter, state, body);
        const tal_abi P = tal_body_articulated_inertia(tree->matter, state, body);
        add(to, &X, sizeof X);
        add(to, &A, sizeof A);
        add(to, &R, sizeof R);
        add(to, &C, sizeof C);
        add(to, &P, sizeof P);
    }
    const double energy = tal_matter_kinetic_energy(tree->matter, state);
    add(to, &energy, d);
}

// A new State with the same variables.
static tal_state *fresh(const random_tree *tree, tal_state *state)
{
    tal_state *made = NULL;
    ck_assert_int_eq(tal_state_create(tree->system, &made, NULL), TAL_OK);
    const size_t size = tal_state_save_size(state);
    void *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(tal_state_save(state, bytes, size), TAL_OK);
    ck_assert_int_eq(tal_state_load(tree->system, made, bytes, size), TAL_OK);
    free(bytes);
    ck_assert(tal_state_is_equal(made, state));
    return made;
}

START_TEST(what_a_state_says_does_not_depend_on_its_past)
{
    test_rng rng = test_rng_seed((uint64_t)(100 + _i));
    random_tree tree = mechanism(&rng);
    tal_state *other = fresh(&tree, tree.state);
    static results old, young;
    for (int k = 0; k < 40; ++k) {
        if (pick(&rng, 8) == 0) ck_assert_int_eq(tal_state_copy(tree.state, other), TAL_OK);
        change(&tree, tree.state, &rng);
        look_on_the_way(&tree, tree.state, &rng);
        if (pick(&rng, 8) == 0) ck_assert_int_eq(tal_state_copy(other, tree.state), TAL_OK);
        if (pick(&rng, 3) != 0) continue;
        tal_state *young_state = fresh(&tree, tree.state);
        read_all(&tree, tree.state, &old);
        read_all(&tree, young_state, &young);
        ck_assert_int_eq(old.count, young.count);
        ck_assert_mem_eq(old.value, young.value, (size_t)old.count * sizeof(double));
        tal_state_destroy(young_state);
    }
    tal_state_destroy(other);
    random_tree_destroy(&tree);
}

END_TEST

// --- Newton and Euler ---

/// What acts on the bodies and along the speeds besides inertia and mobilizers.
typedef struct loads {
    tal_spatial_vec F[NUM_BODIES]; // about Bo
    double f[MAX_NU];
    double size; // of the largest force or moment there is
} loads;

static double size_of(tal_spatial_vec F)
{
    return sqrt(tal_sv_dot(F, F));
}

// Applied ones and those of the constraints, and along speeds those of known motions and of rotors
// too.
static loads loads_of(const random_tree *tree, tal_state *state)
{
    const tal_matter *m = tree->matter;
    loads on = {.size = 1.0};
    tal_spatial_vec F[NUM_BODIES];
    const tal_constraint_ix all = {-1};
    ck_assert_int_eq(
        tal_matter_calc_constraint_forces(m, state, tal_state_multipliers(state), all, F, on.f),
        TAL_OK);
    for (int b = 1; b < NUM_BODIES; ++b) {
        const tal_body_ix body = {b};
        const tal_vec3 p_BM =
            tal_m3_mul_v3(tal_body_X_GB(m, state, body).R, tal_body_X_BM(m, state, body).p);
        on.F[b] = tal_sv_add(F[b], tal_sv_shift_force(tree->F[b], p_BM));
        on.size = fmax(on.size, fmax(size_of(F[b]), size_of(tal_body_reaction_B(m, state, body))));
        if (tal_body_nu(m, body) != 1) continue;
        const int u = tal_body_u_start(m, body);
        on.f[u] -= tal_body_rotor_inertia(m, state, body) * tal_state_udot(state)[u];
    }
    const double *tau = tal_matter_motion_multipliers(m, state);
    for (int j = 0; j < tree->nu; ++j) {
        on.f[j] += tree->f[j] - tau[j];
    }
    return on;
}

// About Bo: what A_GB takes of the body's own mass, from its mass properties alone.
static tal_spatial_vec inertia_force(const random_tree *tree, const tal_state *state,
                                     tal_body_ix body)
{
    const tal_matter *m = tree->matter;
    const tal_mass_props props = tal_body_mass_props(m, state, body);
    const tal_mat3 R = tal_body_X_GB(m, state, body).R;
    const tal_vec3 w = tal_body_V_GB(m, state, body).w, c = tal_m3_mul_v3(R, props.com);
    const tal_spatial_vec A = tal_sv_shift_acceleration(tal_body_A_GB(m, state, body), w, c);
    const tal_vec3 w_B = tal_m3_tmul_v3(R, w), a_B = tal_m3_tmul_v3(R, A.w);
    const tal_sym3 I = tal_mass_props_central_inertia(props);
    const tal_vec3 spin =
        tal_v3_add(tal_s3_mul_v3(I, a_B), tal_v3_cross(w_B, tal_s3_mul_v3(I, w_B)));
    const tal_spatial_vec F_C = tal_sv(tal_m3_mul_v3(R, spin), tal_v3_scale(props.mass, A.v));
    return tal_sv_shift_force(F_C, c);
}

// To the State's own time: q and u where motions and locks want them.
static bool solve(const random_tree *tree, tal_state *state)
{
    return tal_system_realize(tree->system, state, TAL_STAGE_TIME) == TAL_OK &&
           tal_system_prescribe_q(tree->system, state, NULL) == TAL_OK &&
           tal_system_realize(tree->system, state, TAL_STAGE_POSITION) == TAL_OK &&
           tal_system_prescribe_u(tree->system, state, NULL) == TAL_OK &&
           tal_system_realize(tree->system, state, TAL_STAGE_ACCELERATION) == TAL_OK;
}

/*
 * Every body is in balance, and a mobilizer passes on along its speeds what acts along them, and
 * nothing else. Sums go over NUM_BODIES bodies and moments over levers of up to 30: round-off is n
 * 30 eps of the largest force.
 */
static void check_balance(const random_tree *tree, tal_state *state)
{
    const tal_matter *m = tree->matter;
    const loads on = loads_of(tree, state);
    const double tolerance = 30.0 * NUM_BODIES * DBL_EPSILON * on.size;
    tal_spatial_vec left[NUM_BODIES];
    for (int b = 1; b < NUM_BODIES; ++b) {
        const tal_body_ix body = {b}, parent = tal_body_parent(m, body);
        const tal_spatial_vec R = tal_body_reaction_B(m, state, body);
        left[b] = tal_sv_sub(inertia_force(tree, state, body), tal_sv_add(on.F[b], R));
        const tal_vec3 p =
            tal_v3_sub(tal_body_p_GB(m, state, body), tal_body_p_GB(m, state, parent));
        if (parent.i > 0) left[parent.i] = tal_sv_add(left[parent.i], tal_sv_shift_force(R, p));
        tal_spatial_vec H[TAL_MAX_NU];
        ck_assert_int_eq(tal_body_H(m, state, body, TAL_H_PB_G, H), TAL_OK);
        for (int j = 0; j < tal_body_nu(m, body); ++j) {
            const double f = on.f[tal_body_u_start(m, body) + j];
            ck_assert_double_eq_tol(tal_sv_dot(H[j], R), f, tolerance);
        }
    }
    for (int b = 1; b < NUM_BODIES; ++b) {
        test_assert_sv_near(left[b], TAL_SPATIAL_VEC_ZERO, tolerance);
    }
}

START_TEST(newton_and_euler_hold_for_every_body_of_any_mechanism)
{
    test_rng rng = test_rng_seed((uint64_t)(500 + _i));
    random_tree tree = mechanism(&rng);
    for (int k = 0; k < 20; ++k) {
        change(&tree, tree.state, &rng);
        if (k % 4 == 3 && solve(&tree, tree.state)) check_balance(&tree, tree.state);
    }
    random_tree_destroy(&tree);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/any_mechanism");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, what_a_state_says_does_not_depend_on_its_past, 0, 100);
    tcase_add_loop_test(all, newton_and_euler_hold_for_every_body_of_any_mechanism, 0, 100);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
