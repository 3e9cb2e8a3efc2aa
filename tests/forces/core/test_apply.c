// Tests for forces/src/core/apply.c: what is computed again and when, chunks and threads, accounts
// of dissipated energy, sums of chosen elements.
#include "force_model.h"

#include <stdio.h>

// --- an element that counts ---

// A force along the slider's speed, and how often it was asked for. It keeps its size in the State.
typedef struct counter {
    double initial;
    tal_var_ix size;
    int calls;
    bool had_poses, had_velocities;
} counter;

static tal_status counter_declare(void *self, tal_forces *forces, tal_force_ix me)
{
    counter *it = self;
    tal_var_def def = tal_var_def_default();
    def.name = "size";
    def.size = sizeof it->initial;
    def.initial = &it->initial;
    def.invalidates = TAL_STAGE_DYNAMICS;
    it->size = tal_force_add_var(forces, me, &def);
    return TAL_OK;
}

static tal_status counter_apply(const void *self, const tal_force_context *context,
                                tal_spatial_vec F[], double f[])
{
    (void)F;
    counter *it = (counter *)(uintptr_t)self; // tests only: the struct is not const
    ++it->calls;
    it->had_poses = context->poses.bytes != NULL;
    it->had_velocities = context->velocities.bytes != NULL;
    const tal_body_ix slider = {SLIDER};
    f[tal_body_u_start(context->matter, slider)] +=
        tal_var_double(context->system, context->state, it->size);
    return TAL_OK;
}

static const tal_force_ops counter_ops = {
    .size = sizeof counter_ops,
    .name = "counter",
    .apply = counter_apply,
    .declare = counter_declare,
};

typedef struct counted {
    model m;
    counter of[TAL_NUM_FORCE_NEEDS];
    tal_force_ix ix[TAL_NUM_FORCE_NEEDS];
} counted;

static void counted_begin(counted *c)
{
    c->m = model_begin();
    for (int i = 0; i < TAL_NUM_FORCE_NEEDS; ++i) {
        tal_force_ops ops = counter_ops;
        ops.needs = (tal_force_needs)i;
        c->of[i] = (counter){.initial = 1.0 + i};
        c->ix[i] = tal_forces_add(c->m.forces, NULL, &ops, &c->of[i]);
    }
    model_finish(&c->m);
    model_realize(&c->m, TAL_STAGE_ACCELERATION);
}

// How often each has been asked since the last time.
static void check_calls(counted *c, int all, int q, int t)
{
    model_realize(&c->m, TAL_STAGE_ACCELERATION);
    const int expected[TAL_NUM_FORCE_NEEDS] = {all, q, t};
    for (int i = 0; i < TAL_NUM_FORCE_NEEDS; ++i) {
        ck_assert_int_eq(c->of[i].calls, expected[i]);
        c->of[i].calls = 0;
    }
}

START_TEST(forces_are_computed_when_what_they_need_has_changed)
{
    counted c;
    counted_begin(&c);
    tal_state *state = c.m.state;
    const tal_system *system = c.m.system;
    check_calls(&c, 1, 1, 1);
    check_calls(&c, 0, 0, 0);
    (void)tal_state_upd_u(state);
    check_calls(&c, 1, 0, 0);
    (void)tal_state_upd_q(state);
    check_calls(&c, 1, 1, 0);
    tal_state_set_t(state, 0.5);
    check_calls(&c, 1, 0, 1);
    (void)tal_state_upd_y(state);
    check_calls(&c, 1, 1, 0);
    tal_state_invalidate(state, TAL_STAGE_DYNAMICS);
    check_calls(&c, 1, 0, 0);
    tal_state_invalidate(state, TAL_STAGE_INSTANCE);
    check_calls(&c, 1, 1, 1);
    // variables of their own
    tal_var_set_double(system, state, c.of[TAL_FORCE_NEEDS_Q].size, 7.0);
    check_calls(&c, 1, 1, 0);
    tal_var_set_double(system, state, c.of[TAL_FORCE_NEEDS_T].size, 7.0);
    check_calls(&c, 1, 0, 1);
    tal_var_set_double(system, state, c.of[TAL_FORCE_NEEDS_ALL].size, 7.0);
    check_calls(&c, 1, 0, 0);
    // enabling
    tal_force_set_enabled(c.m.forces, state, c.ix[TAL_FORCE_NEEDS_Q], false);
    check_calls(&c, 1, 0, 1);
    tal_force_set_enabled(c.m.forces, state, c.ix[TAL_FORCE_NEEDS_Q], true);
    check_calls(&c, 1, 1, 1);
    model_end(&c.m);
}

END_TEST

// Parameters of built-in elements share variables: setting one is heard by the sum it belongs to,
// and the result is that of a State which never was elsewhere.
START_TEST(a_parameter_that_changes_is_felt)
{
    model m = model_begin();
    const tal_two_points at = {TAL_GROUND, {0.1, 0.2, 0.3}, m.body[PIN], {0.3, 0.1, 0.2}};
    const tal_force_ix spring = tal_forces_add_two_point_spring(m.forces, "s", &at, 1.0, 0.1);
    const tal_force_ix damper = tal_forces_add_two_point_damper(m.forces, "d", &at, 1.0);
    model_finish(&m);
    const tal_force_ix both[] = {spring, damper};
    const int which[] = {TAL_SPRING_STIFFNESS, TAL_DAMPER_DAMPING};
    tal_state *other = NULL;
    for (int k = 0; k < 2; ++k) {
        double before[MODEL_NU];
        model_realize(&m, TAL_STAGE_ACCELERATION);
        memcpy(before, tal_state_udot(m.state), sizeof before);
        tal_force_set_param(m.forces, m.state, both[k], which[k], 3.0);
        model_realize(&m, TAL_STAGE_ACCELERATION);
        ck_assert_int_ne(memcmp(before, tal_state_udot(m.state), sizeof before), 0);
        ck_assert_int_eq(tal_state_create(m.system, &other, NULL), TAL_OK);
        tal_state_set_y(other, tal_state_y(m.state), tal_state_ny(m.state));
        tal_force_set_param(m.forces, other, spring, TAL_SPRING_STIFFNESS, 3.0);
        if (k == 1) tal_force_set_param(m.forces, other, damper, TAL_DAMPER_DAMPING, 3.0);
        ck_assert_int_eq(tal_system_realize(m.system, other, TAL_STAGE_ACCELERATION), TAL_OK);
        test_assert_near(tal_state_udot(m.state), tal_state_udot(other), MODEL_NU, 0.0, "udot");
        tal_state_destroy(other);
    }
    model_end(&m);
}

END_TEST

START_TEST(what_is_not_needed_is_not_shown)
{
    counted c;
    counted_begin(&c);
    ck_assert(c.of[TAL_FORCE_NEEDS_ALL].had_poses && c.of[TAL_FORCE_NEEDS_ALL].had_velocities);
    ck_assert(c.of[TAL_FORCE_NEEDS_Q].had_poses && !c.of[TAL_FORCE_NEEDS_Q].had_velocities);
    ck_assert(!c.of[TAL_FORCE_NEEDS_T].had_poses && !c.of[TAL_FORCE_NEEDS_T].had_velocities);
    (void)model_load(&c.m, c.ix[TAL_FORCE_NEEDS_Q]);
    ck_assert(!c.of[TAL_FORCE_NEEDS_Q].had_velocities);
    model_end(&c.m);
}

END_TEST

// --- everything at once ---

// Many elements of several kinds.
static void add_many(model *m, tal_bushing_def *bushing)
{
    test_rng rng = test_rng_seed(77);
    (void)tal_forces_add_gravity(m->forces, tal_v3(0.0, -9.81, 0.0));
    for (int i = 0; i < 40; ++i) {
        const tal_two_points at = {m->body[i % MODEL_BODIES], test_random_vec3(&rng),
                                   m->body[(i + 2) % MODEL_BODIES], test_random_vec3(&rng)};
        (void)tal_forces_add_two_point_spring(m->forces, NULL, &at, 1.0 + i, 0.5);
        (void)tal_forces_add_two_point_damper(m->forces, NULL, &at, 0.1 * i);
        const tal_mobility speed = {m->body[FREE], i % 6}, gimbal = {m->body[GIMBAL], i % 3};
        (void)tal_forces_add_mobility_damper(m->forces, NULL, speed, 0.3);
        (void)tal_forces_add_mobility_spring(m->forces, NULL, gimbal, 0.3, 0.1);
    }
    *bushing = tal_bushing_def_default();
    bushing->body1 = m->body[PIN];
    bushing->body2 = m->body[GIMBAL];
    bushing->stiffness[1] = bushing->damping[2] = 1.0;
    (void)tal_forces_add_bushing(m->forces, "bushing", bushing);
}

// A State that reaches the same values in different ways has the same bytes of udot: kept sums and
// computed sums do not differ.
START_TEST(kept_sums_are_the_same_to_the_bit)
{
    model m = model_begin();
    tal_bushing_def bushing;
    add_many(&m, &bushing);
    model_finish(&m);
    tal_state *other = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &other, NULL), TAL_OK);
    for (uint64_t seed = 1; seed < 20; ++seed) {
        double u[MODEL_NU];
        model_shake(&m, seed);
        model_realize(&m, TAL_STAGE_ACCELERATION);
        memcpy(u, tal_state_u(m.state), sizeof u);
        for (int i = 0; i < MODEL_NU; ++i) {
            u[i] *= 0.5;
        }
        tal_state_set_u(m.state, u, MODEL_NU); // the forces of q stay
        model_realize(&m, TAL_STAGE_ACCELERATION);
        tal_state_set_y(other, tal_state_y(m.state), tal_state_ny(m.state));
        ck_assert_int_eq(tal_system_realize(m.system, other, TAL_STAGE_ACCELERATION), TAL_OK);
        test_assert_near(tal_state_udot(m.state), tal_state_udot(other), MODEL_NU, 0.0, "udot");
    }
    tal_state_destroy(other);
    model_end(&m);
}

END_TEST

// udot at 10 States with so many chunks; `threads` 0: no executor, -1: no chunks.
static void run_threads(int threads, int num_chunks, double udot[10][MODEL_NU])
{
    tal_threads *pool = NULL;
    ck_assert_int_eq(tal_threads_create(threads > 0 ? threads : 1, &pool, NULL), TAL_OK);
    const tal_executor executor = tal_threads_executor(pool);
    model m = model_begin();
    tal_bushing_def bushing;
    add_many(&m, &bushing);
    if (threads >= 0) {
        tal_forces_use_threads(m.forces, threads > 0 ? &executor : NULL, num_chunks);
    }
    model_finish(&m);
    for (int k = 0; k < 10; ++k) {
        model_shake(&m, (uint64_t)k + 1);
        model_realize(&m, TAL_STAGE_ACCELERATION);
        memcpy(udot[k], tal_state_udot(m.state), sizeof udot[k]);
    }
    model_end(&m);
    tal_threads_destroy(pool);
}

START_TEST(results_do_not_depend_on_the_number_of_threads)
{
    static double reference[10][MODEL_NU], serial[10][MODEL_NU], udot[10][MODEL_NU];
    run_threads(-1, 0, reference);
    const int chunks[] = {1, 3, 8, 64};
    for (int c = 0; c < 4; ++c) {
        run_threads(0, chunks[c], serial);
        for (int threads = 1; threads <= 8; threads += threads < 4 ? 1 : 4) {
            run_threads(threads, chunks[c], udot);
            ck_assert_int_eq(memcmp(serial, udot, sizeof udot), 0);
        }
        // another order of the sum: accelerations of size 1000, of which each sum loses some eps
        for (int k = 0; k < 10; ++k) {
            test_assert_near(serial[k], reference[k], MODEL_NU, 1e-11, "udot");
        }
    }
}

END_TEST

// A failure on some thread is told as if there were none: the bushing turned by a quarter about y.
START_TEST(a_failure_on_a_thread_has_its_sentence)
{
    tal_threads *pool = NULL;
    ck_assert_int_eq(tal_threads_create(3, &pool, NULL), TAL_OK);
    const tal_executor executor = tal_threads_executor(pool);
    char alone[256] = "";
    for (int k = 0; k < 2; ++k) {
        model m = model_begin();
        tal_bushing_def bushing;
        add_many(&m, &bushing);
        bushing.body1 = TAL_GROUND;
        bushing.body2 = m.body[SLIDER];
        bushing.stiffness[0] = 1.0;
        // body 2's frame turned so that body-XYZ angles are singular, wherever the slider is
        model aim = model_begin();
        model_finish(&aim);
        const tal_mat3 R_GB = tal_body_X_GB(aim.matter, aim.state, aim.body[SLIDER]).R;
        const tal_mat3 R_FM =
            tal_m3(tal_v3(0.0, 0.0, -1.0), tal_v3(0.0, 1.0, 0.0), tal_v3(1.0, 0.0, 0.0));
        bushing.X_B2M.R = tal_m3_mul(tal_m3_transpose(R_GB), R_FM);
        model_end(&aim);
        (void)tal_forces_add_bushing(m.forces, "locked", &bushing);
        if (k == 1) tal_forces_use_threads(m.forces, &executor, 8);
        model_finish(&m);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS),
                         TAL_ERR_SINGULAR);
        const char *said = tal_state_error(m.state)->message;
        ck_assert_ptr_nonnull(strstr(said, "locked"));
        if (k == 0) (void)snprintf(alone, sizeof alone, "%s", said);
        ck_assert_str_eq(alone, said);
        model_end(&m);
    }
    tal_threads_destroy(pool);
}

END_TEST

START_TEST(chunks_take_no_memory_at_run_time)
{
    model m = model_begin();
    tal_bushing_def bushing;
    add_many(&m, &bushing);
    tal_forces_use_threads(m.forces, NULL, 8);
    model_finish(&m);
    tal_status st = TAL_OK;
    (void)tal_state_upd_y(m.state);
    test_assert_no_heap(st = tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION));
    ck_assert_int_eq(st, TAL_OK);
    model_end(&m);
}

END_TEST

START_TEST(bad_requests_for_threads_are_remembered)
{
    tal_error err = {0};
    for (int k = 0; k < 3; ++k) {
        model m = model_begin();
        const tal_executor absent = {NULL, NULL};
        if (k == 0) tal_forces_use_threads(m.forces, NULL, 0);
        if (k == 1) tal_forces_use_threads(m.forces, NULL, 65);
        if (k == 2) tal_forces_use_threads(m.forces, &absent, 4);
        ck_assert_int_eq(model_refuse(&m, &err), k == 2 ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE);
    }
    test_assert_breach(tal_forces_use_threads(NULL, NULL, 4), TAL_ERR_NULL, "forces");
    model m = model_begin();
    model_finish(&m);
    test_assert_breach(tal_forces_use_threads(m.forces, NULL, 4), TAL_ERR_TOPOLOGY, "realized");
    model_end(&m);
    m = model_begin();
    tal_force_ops ops = counter_ops;
    counter it = {.initial = 1.0};
    ops.needs = (tal_force_needs)7;
    ck_assert_int_lt(tal_forces_add(m.forces, "odd", &ops, &it).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "odd"));
}

END_TEST

// --- sums and accounts ---

START_TEST(chosen_elements_can_be_summed)
{
    model m = model_begin();
    tal_bushing_def bushing;
    add_many(&m, &bushing);
    model_finish(&m);
    const tal_force_ix which[] = {{0}, {5}, {12}, {5}};
    tal_spatial_vec F[MODEL_BODIES];
    double f[MODEL_NU];
    memset(F, 7, sizeof F);
    ck_assert_int_eq(tal_forces_calc_sum(m.forces, m.state, which, 4, F, f), TAL_OK);
    load sum;
    memset(&sum, 0, sizeof sum);
    for (int k = 0; k < 4; ++k) {
        ck_assert_int_eq(tal_force_apply(m.forces, m.state, which[k], sum.F, sum.f), TAL_OK);
    }
    // shifted to Bo one by one there, all at once here: a few roundings of moments of size 100
    for (int b = 0; b < MODEL_BODIES; ++b) {
        test_assert_sv_near(F[b], sum.F[b], 1e-12);
    }
    ck_assert_int_eq(memcmp(sum.f, f, sizeof f), 0);

    // none, and broken contracts, which leave the arrays alone
    ck_assert_int_eq(tal_forces_calc_sum(m.forces, m.state, NULL, 0, F, f), TAL_OK);
    memset(&sum, 0, sizeof sum);
    ck_assert_int_eq(memcmp(sum.F, F, sizeof F), 0);
    const tal_force_ix bad = {999};
    test_assert_refused(tal_forces_calc_sum(m.forces, m.state, &bad, 1, F, f), TAL_ERR_BAD_INDEX,
                        "999");
    test_assert_refused(tal_forces_calc_sum(m.forces, m.state, NULL, 1, F, f), TAL_ERR_NULL, "");
    tal_state_set_t(m.state, 1.0);
    test_assert_refused(tal_forces_calc_sum(m.forces, m.state, which, 4, F, f), TAL_ERR_STAGE,
                        "Velocity");
    model_end(&m);
}

END_TEST

// A small force, two that overflow only together, and one that does alone; the sum of the first two
// and of another is asked for.
static void assert_sum_blames(int other, const char *whom)
{
    model m = model_begin();
    const tal_vec3 push = {1e308, 0.0, 0.0};
    const tal_two_points ends = {m.body[1], {2.0, 0.0, 0.0}, m.body[2], {0.0, 9.0, 9.0}};
    tal_force_ix all[4];
    all[0] = tal_forces_add_constant_force(m.forces, "small", m.body[1], TAL_VEC3_ZERO,
                                           tal_v3(1.0, 0.0, 0.0));
    all[1] = tal_forces_add_constant_force(m.forces, "large", m.body[1], TAL_VEC3_ZERO, push);
    all[2] = tal_forces_add_constant_force(m.forces, "twin", m.body[1], TAL_VEC3_ZERO, push);
    all[3] = tal_forces_add_two_point_spring(m.forces, "rope", &ends, 1e308, 0.1);
    model_finish(&m);
    tal_spatial_vec F[MODEL_BODIES];
    double f[MODEL_NU];
    const tal_force_ix which[] = {all[0], all[1], all[other]};
    ck_assert_int_eq(tal_forces_calc_sum(m.forces, m.state, which, 2, F, f), TAL_OK);
    ck_assert_int_eq(tal_forces_calc_sum(m.forces, m.state, which, 3, F, f), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, whom));
    ck_assert_int_eq(tal_forces_calc_generalized(m.forces, m.state, which, 3, f),
                     TAL_ERR_NOT_FINITE);
    model_end(&m);
}

START_TEST(a_sum_that_is_not_finite_names_who_it_was)
{
    assert_sum_blames(2, "the sum of the applied forces is not finite");
    assert_sum_blames(3, "force 'rope' applied a force that is not finite");
}

END_TEST

// The sum of all enabled elements, handed to the operator, gives the udot of realizing; and so does
// the getter of all that was applied. Bo is away from Mo in every body. Forces of size 100 through
// inertias whose condition is below 1e3: 1e-10 leaves two digits.
START_TEST(what_elements_apply_is_what_operators_take)
{
    model m = model_begin();
    tal_bushing_def bushing;
    add_many(&m, &bushing);
    model_finish(&m);
    for (uint64_t seed = 1; seed < 4; ++seed) {
        model_shake(&m, seed);
        tal_force_ix which[200];
        int n = 0;
        ck_assert_int_le(tal_forces_num(m.forces), 200);
        for (int i = 0; i < tal_forces_num(m.forces); ++i) {
            which[n] = (tal_force_ix){i};
            if (tal_force_is_enabled(m.forces, m.state, which[n])) ++n;
        }
        tal_spatial_vec F[MODEL_BODIES], all[MODEL_BODIES];
        double f[MODEL_NU], udot[MODEL_NU], f_all[MODEL_NU];
        ck_assert_int_eq(tal_forces_calc_sum(m.forces, m.state, which, n, F, f), TAL_OK);
        ck_assert_int_eq(tal_matter_forward_dynamics(m.matter, m.state, F, f, udot, NULL), TAL_OK);
        model_realize(&m, TAL_STAGE_ACCELERATION);
        test_assert_near(udot, tal_state_udot(m.state), MODEL_NU, 1e-10, "udot by the sum");
        ck_assert_int_eq(tal_matter_calc_applied_forces(m.matter, m.state, all, f_all), TAL_OK);
        for (int b = 0; b < MODEL_BODIES; ++b) {
            test_assert_sv_near(all[b], F[b], 1e-12);
        }
        test_assert_near(f_all, f, MODEL_NU, 1e-12, "f of all");
        ck_assert_int_eq(tal_matter_forward_dynamics(m.matter, m.state, all, f_all, udot, NULL),
                         TAL_OK);
        test_assert_near(udot, tal_state_udot(m.state), MODEL_NU, 1e-10, "udot by the getter");
    }
    ck_assert_int_eq(tal_matter_calc_applied_forces(m.matter, m.state, NULL, NULL), TAL_OK);
    tal_spatial_vec F[MODEL_BODIES];
    test_assert_refused(tal_matter_calc_applied_forces(NULL, m.state, F, NULL), TAL_ERR_NULL,
                        "matter");
    model_shake(&m, 5);
    test_assert_refused(tal_matter_calc_applied_forces(m.matter, m.state, F, NULL), TAL_ERR_STAGE,
                        "");
    model_end(&m);
}

END_TEST

// g . u is the power sum F . V + f . u of the same elements, by the velocities of the bodies'
// frames B; M lies elsewhere in all of them. Sums of 50 or so products of size up to 100: 1e-11 is
// a thousand roundings.
START_TEST(generalized_forces_have_the_power_of_the_elements)
{
    model m = model_begin();
    tal_bushing_def bushing;
    add_many(&m, &bushing);
    model_finish(&m);
    const tal_force_ix which[] = {{0}, {5}, {12}, {5}};
    tal_spatial_vec F[MODEL_BODIES];
    double f[MODEL_NU], g[MODEL_NU];
    for (uint64_t seed = 1; seed < 6; ++seed) {
        model_shake(&m, seed);
        ck_assert_int_eq(tal_forces_calc_sum(m.forces, m.state, which, 4, F, f), TAL_OK);
        ck_assert_int_eq(tal_forces_calc_generalized(m.forces, m.state, which, 4, g), TAL_OK);
        const double *u = tal_state_u(m.state);
        double power = 0.0, by_bodies = 0.0;
        for (int i = 0; i < MODEL_NU; ++i) {
            power += g[i] * u[i];
            by_bodies += f[i] * u[i];
        }
        for (int b = 0; b < MODEL_BODIES; ++b) {
            by_bodies += tal_sv_dot(F[b], tal_body_V_GB(m.matter, m.state, m.body[b]));
        }
        // sums of some hundred products
        ck_assert_double_eq_tol(power, by_bodies, 1e-13 * fmax(1.0, fabs(by_bodies)));
    }

    const tal_force_ix bad = {999};
    memset(g, 0, sizeof g);
    test_assert_refused(tal_forces_calc_generalized(m.forces, m.state, &bad, 1, g),
                        TAL_ERR_BAD_INDEX, "999");
    test_assert_refused(tal_forces_calc_generalized(m.forces, m.state, which, 4, NULL),
                        TAL_ERR_NULL, "");
    test_assert_refused(tal_forces_calc_generalized(m.forces, NULL, which, 4, g), TAL_ERR_NULL,
                        "State");
    tal_state_set_t(m.state, 1.0);
    test_assert_refused(tal_forces_calc_generalized(m.forces, m.state, which, 4, g), TAL_ERR_STAGE,
                        "Velocity");
    ck_assert(g[0] == 0.0 && g[MODEL_NU - 1] == 0.0);
    model_end(&m);
}

END_TEST

// -g / t of a string with tension t is the gradient of its length, here by central differences over
// 1e-5, which leave 1e-10 of the third derivative and 1e-11 of round-off: 1e-8 is generous to both.
START_TEST(generalized_forces_of_a_string_are_its_moment_arms)
{
    model m = model_begin();
    const tal_two_points ends = {m.body[FREE], {0.3, -0.2, 0.1}, m.body[GIMBAL], {-0.4, 0.5, 0.2}};
    const double tension = 3.0;
    const tal_force_ix string = tal_forces_add_two_point_force(m.forces, "string", &ends, -tension);
    model_finish(&m);
    double g[MODEL_NU];
    ck_assert_int_eq(tal_forces_calc_generalized(m.forces, m.state, &string, 1, g), TAL_OK);
    const int pin = tal_body_u_start(m.matter, m.body[PIN]);
    const double q = tal_body_q(m.matter, m.state, m.body[PIN], 0);
    double length[2];
    for (int k = 0; k < 2; ++k) {
        tal_body_set_q(m.matter, m.state, m.body[PIN], 0, q + (k == 0 ? -1e-5 : 1e-5));
        model_realize(&m, TAL_STAGE_POSITION);
        length[k] =
            tal_station_distance(m.matter, m.state, ends.body1, ends.p_B1, ends.body2, ends.p_B2);
    }
    ck_assert_double_eq_tol(g[pin] / tension, -(length[1] - length[0]) / 2e-5, 1e-8);
    model_end(&m);
}

END_TEST

START_TEST(dissipated_energy_is_a_z_whose_rate_is_the_power)
{
    model m = model_begin();
    const tal_mobility pin = {m.body[PIN], 0}, slider = {m.body[SLIDER], 0};
    const tal_force_ix gravity = tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.81, 0.0));
    const tal_force_ix damper = tal_forces_add_mobility_damper(m.forces, "damper", pin, 2.0);
    const tal_force_ix motor = tal_forces_add_mobility_force(m.forces, "motor", slider, 2.0);
    tal_forces_track_dissipation(m.forces);
    const tal_force_ix late = tal_forces_add_mobility_damper(m.forces, "late", slider, 2.0);
    tal_force_track_dissipation(m.forces, motor); // dissipates nothing: its z stays where it is
    model_finish(&m);
    ck_assert_int_eq(tal_state_nz(m.state), 2);
    const tal_subsystem_ix me = tal_forces_subsystem(m.forces);
    const tal_group_ix group = tal_system_find_group(m.system, me, TAL_POOL_Z, "damper.dissipated");
    ck_assert_int_ge(group.i, 0);
    const int slot = tal_group_start(m.system, m.state, group);
    tal_state_upd_z(m.state)[slot] = 3.0;
    model_realize(&m, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq(tal_state_zdot(m.state)[slot],
                        tal_force_dissipated_power(m.forces, m.state, damper));
    ck_assert_double_eq(tal_state_zdot(m.state)[1 - slot], 0.0);
    ck_assert_double_eq(tal_force_dissipated_energy(m.forces, m.state, damper), 3.0);
    ck_assert_double_eq(tal_forces_dissipated_energy(m.forces, m.state), 3.0);

    // disabled: the account stands still
    tal_force_set_enabled(m.forces, m.state, damper, false);
    model_realize(&m, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq(tal_state_zdot(m.state)[slot], 0.0);

    double e = 0.0;
    test_assert_breach(e = tal_force_dissipated_energy(m.forces, m.state, late), TAL_ERR_BAD_INDEX,
                       "late");
    ck_assert_double_nan(e);
    test_assert_breach(e = tal_force_dissipated_energy(m.forces, m.state, gravity),
                       TAL_ERR_BAD_INDEX, "gravity");
    test_assert_breach(e = tal_forces_dissipated_energy(NULL, m.state), TAL_ERR_NULL, "");
    test_assert_breach(tal_force_track_dissipation(m.forces, damper), TAL_ERR_TOPOLOGY, "realized");
    test_assert_breach(tal_forces_track_dissipation(m.forces), TAL_ERR_TOPOLOGY, "realized");
    model_end(&m);
    m = model_begin();
    test_assert_breach(tal_force_track_dissipation(m.forces, damper), TAL_ERR_BAD_INDEX,
                       "no force");
    tal_force_track_dissipation(m.forces, damper); // the System has failed: silence
    tal_error err = {0};
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "no force"));
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/apply");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60);
    tcase_add_test(theory, forces_are_computed_when_what_they_need_has_changed);
    tcase_add_test(theory, a_parameter_that_changes_is_felt);
    tcase_add_test(theory, what_is_not_needed_is_not_shown);
    tcase_add_test(theory, kept_sums_are_the_same_to_the_bit);
    tcase_add_test(theory, results_do_not_depend_on_the_number_of_threads);
    tcase_add_test(theory, a_failure_on_a_thread_has_its_sentence);
    tcase_add_test(theory, chunks_take_no_memory_at_run_time);
    tcase_add_test(theory, chosen_elements_can_be_summed);
    tcase_add_test(theory, a_sum_that_is_not_finite_names_who_it_was);
    tcase_add_test(theory, what_elements_apply_is_what_operators_take);
    tcase_add_test(theory, generalized_forces_have_the_power_of_the_elements);
    tcase_add_test(theory, generalized_forces_of_a_string_are_its_moment_arms);
    tcase_add_test(theory, dissipated_energy_is_a_z_whose_rate_is_the_power);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_requests_for_threads_are_remembered);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
