// Tests for forces/src/core/forces.c, subsystem.c and gravity.c.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/forces.h>

#include <math.h>
#include <stdio.h>

// A tree with turned frames and centers of mass away from every origin.
typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix body[4];
    tal_force_ix gravity;
    tal_state *state;
} model;

static const tal_vec3 G = {1.0, -9.0, 2.0};

static tal_mobod_def random_def(test_rng *rng)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(rng);
    def.X_PF = test_random_xform(rng);
    def.X_BM = test_random_xform(rng);
    return def;
}

static model begin_model(void)
{
    test_rng rng = test_rng_seed(11);
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    m.body[0] = TAL_GROUND;
    tal_mobod_def def = random_def(&rng);
    m.body[1] = tal_matter_add_free(m.matter, TAL_GROUND, &def);
    def = random_def(&rng);
    m.body[2] = tal_matter_add_pin(m.matter, m.body[1], &def);
    def = random_def(&rng);
    m.body[3] = tal_matter_add_ball(m.matter, m.body[2], &def);
    m.gravity = tal_forces_add_gravity(m.forces, G);
    return m;
}

static void finish_model(model *m, tal_stage stage)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    test_rng rng = test_rng_seed(12);
    double *y = tal_state_upd_y(m->state);
    for (int i = 0; i < tal_state_ny(m->state); ++i) {
        y[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    ck_assert_msg(tal_system_realize(m->system, m->state, stage) == TAL_OK, "%s",
                  tal_state_error(m->state)->message);
}

static void end_model(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

// --- gravity ---

// Nothing holds a tree that floats: its center of mass, and with it the total of m A, falls with g.
// In free fall from rest no mobilizer moves, so every body has A = (0, g).
START_TEST(a_floating_tree_at_rest_falls_without_bending)
{
    model m = begin_model();
    finish_model(&m, TAL_STAGE_INSTANCE);
    double *u = tal_state_upd_u(m.state);
    for (int i = 0; i < tal_state_nu(m.state); ++i) {
        u[i] = 0.0;
    }

    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);

    // M of the base stays with the same orientation: (w, v) of u_free in F, F turned in Ground
    const double *udot = tal_state_udot(m.state);
    const tal_xform X_PF = tal_body_X_PF(m.matter, m.state, m.body[1]);
    const tal_vec3 a_G = tal_m3_mul_v3(X_PF.R, tal_v3(udot[3], udot[4], udot[5]));
    // condition of the tree's inertias is below 1e2: 1e-12 leaves two digits
    test_assert_v3_near(a_G, G, 1e-12);
    const double zeros[7] = {0.0};
    test_assert_near(udot, zeros, 3, 1e-12, "angular acceleration of the base");
    test_assert_near(udot + 6, zeros, 4, 1e-12, "acceleration of the joints");
    end_model(&m);
}

END_TEST

// d(energy)/dt = -(power of the applied forces), along any motion; by central differences in time
// of step h, extrapolated, so the error is O(h^4) = 1e-12 and noise eps |E| / h = 1e-12.
START_TEST(the_power_of_gravity_is_what_its_energy_loses)
{
    model m = begin_model();
    finish_model(&m, TAL_STAGE_DYNAMICS);
    double f[10] = {0.0};
    tal_spatial_vec F[4] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
    ck_assert_int_eq(tal_force_apply(m.forces, m.state, m.gravity, F, f), TAL_OK);
    double power = 0.0;
    for (int b = 0; b < 4; ++b) {
        power += tal_sv_dot(F[b], tal_body_V_GB(m.matter, m.state, m.body[b]));
    }

    double q[12], qdot[12];
    const int nq = tal_state_nq(m.state);
    memcpy(q, tal_state_q(m.state), (size_t)nq * sizeof *q);
    memcpy(qdot, tal_state_qdot(m.state), (size_t)nq * sizeof *q);
    double slope[2];
    for (int k = 0; k < 2; ++k) {
        const double h = k == 0 ? 1e-3 : 2e-3;
        double energy[2];
        for (int side = 0; side < 2; ++side) {
            double moved[12];
            for (int i = 0; i < nq; ++i) {
                moved[i] = q[i] + (side == 0 ? -h : h) * qdot[i];
            }
            tal_state_set_q(m.state, moved, nq);
            ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_POSITION), TAL_OK);
            energy[side] = tal_forces_potential_energy(m.forces, m.state);
        }
        slope[k] = (energy[1] - energy[0]) / (2.0 * h);
    }
    ck_assert_double_eq_tol((4.0 * slope[0] - slope[1]) / 3.0, -power, 1e-9);
    end_model(&m);
}

END_TEST

START_TEST(zero_height_shifts_the_energy_and_no_force)
{
    model m = begin_model();
    finish_model(&m, TAL_STAGE_DYNAMICS);
    double mass = 0.0;
    for (int b = 1; b < 4; ++b) {
        mass += tal_body_mass(m.matter, m.state, m.body[b], NULL);
    }
    const double before = tal_forces_potential_energy(m.forces, m.state);

    ck_assert_int_eq(tal_gravity_set_zero_height(m.forces, m.state, m.gravity, 2.5), TAL_OK);

    ck_assert_int_eq(tal_state_stage(m.state), TAL_STAGE_VELOCITY); // kinematics stays
    ck_assert_double_eq(tal_gravity_zero_height(m.forces, m.state, m.gravity), 2.5);
    test_assert_v3_near(tal_gravity_g(m.forces, m.state, m.gravity), G, 0.0);
    const double after = tal_force_potential_energy(m.forces, m.state, m.gravity);
    ck_assert_double_eq_tol(before - after, mass * tal_v3_norm(G) * 2.5, 1e-12 * fabs(before));
    end_model(&m);
}

END_TEST

// Every State of the System starts there, and no call on it is needed.
START_TEST(a_definition_has_the_zero_height)
{
    model m = begin_model();
    tal_gravity_def def = tal_gravity_def_default();
    ck_assert_double_eq(def.zero_height, 0.0);
    def.name = "moon";
    def.g = tal_v3(0.0, -1.62, 0.0);
    def.zero_height = -0.75;
    const tal_force_ix moon = tal_forces_add_gravity_def(m.forces, &def);
    finish_model(&m, TAL_STAGE_POSITION);
    ck_assert_str_eq(tal_force_name(m.forces, moon), "moon");
    ck_assert_double_eq(tal_gravity_zero_height(m.forces, m.state, moon), -0.75);
    test_assert_v3_near(tal_gravity_g(m.forces, m.state, moon), def.g, 0.0);
    ck_assert_double_eq(tal_gravity_zero_height(m.forces, m.state, m.gravity), 0.0);
    end_model(&m);

    const double wrong[] = {(double)NAN, HUGE_VAL};
    for (int i = 0; i < 2; ++i) {
        m = begin_model();
        def.zero_height = wrong[i];
        ck_assert_int_lt(tal_forces_add_gravity_def(m.forces, &def).i, 0);
        tal_error err = {0};
        ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_ERR_NOT_FINITE);
        ck_assert_ptr_nonnull(strstr(err.message, "zero height"));
        tal_system_destroy(m.system);
    }
}

END_TEST

START_TEST(gravity_is_set_in_the_state)
{
    model m = begin_model();
    finish_model(&m, TAL_STAGE_DYNAMICS);
    double f[10] = {0.0};
    tal_spatial_vec twice[4] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}}, once[4], none[4];
    memcpy(once, twice, sizeof once);
    memcpy(none, twice, sizeof none);

    ck_assert_int_eq(tal_force_apply(m.forces, m.state, m.gravity, once, f), TAL_OK);
    tal_gravity_set_g(m.forces, m.state, m.gravity, tal_v3_scale(2.0, G));
    ck_assert_int_eq(tal_force_apply(m.forces, m.state, m.gravity, twice, f), TAL_OK);
    for (int b = 0; b < 4; ++b) {
        test_assert_sv_near(twice[b], tal_sv_scale(2.0, once[b]), 0.0);
    }

    // an excluded body feels nothing, its neighbors what they felt
    tal_gravity_set_excluded(m.forces, m.state, m.gravity, m.body[2], true);
    ck_assert(tal_gravity_is_excluded(m.forces, m.state, m.gravity, m.body[2]));
    ck_assert(!tal_gravity_is_excluded(m.forces, m.state, m.gravity, m.body[1]));
    ck_assert_int_eq(tal_state_stage(m.state), TAL_STAGE_MODEL);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_force_apply(m.forces, m.state, m.gravity, none, f), TAL_OK);
    test_assert_sv_near(none[2], TAL_SPATIAL_VEC_ZERO, 0.0);
    test_assert_sv_near(none[1], twice[1], 0.0);
    test_assert_sv_near(none[3], twice[3], 0.0);
    end_model(&m);
}

END_TEST

// A search through all of them for each would take seconds.
START_TEST(a_hundred_thousand_forces_have_names)
{
    model m = begin_model();
    char name[32];
    const int first = tal_forces_num(m.forces);
    for (int i = 0; i < 100000; ++i) {
        (void)snprintf(name, sizeof name, "f%d", i);
        const tal_force_ix force =
            tal_forces_add_mobility_force(m.forces, name, (tal_mobility){m.body[1], 0}, 1.0);
        ck_assert_int_eq(force.i, first + i);
    }
    ck_assert_int_eq(tal_forces_find(m.forces, "f0").i, first);
    ck_assert_int_eq(tal_forces_find(m.forces, "f99999").i, first + 99999);
    ck_assert_int_eq(tal_forces_find(m.forces, "f100000").i, -1);
    ck_assert_int_eq(tal_forces_find(m.forces, NULL).i, -1);
    tal_system_destroy(m.system);
}

END_TEST

START_TEST(a_breach_names_the_function_that_was_called)
{
    model m = begin_model();
    const tal_mobility mobility = {m.body[1], 0};
    const tal_force_ix damper = tal_forces_add_mobility_damper(m.forces, "damper", mobility, 1.0);
    const tal_force_ix discrete = tal_forces_add_discrete(m.forces, "discrete");
    finish_model(&m, TAL_STAGE_DYNAMICS);
    tal_state *none = NULL;
    test_assert_breach_is_of(tal_force_is_enabled, m.forces, none, damper);
    test_assert_breach_is_of(tal_force_set_enabled, m.forces, none, damper, false);
    test_assert_breach_is_of(tal_force_param, m.forces, none, damper, 0);
    test_assert_breach_is_of(tal_force_set_param, m.forces, none, damper, 0, 1.0);
    test_assert_breach_is_of(tal_gravity_g, m.forces, none, m.gravity);
    test_assert_breach_is_of(tal_gravity_set_g, m.forces, none, m.gravity, G);
    test_assert_breach_is_of(tal_gravity_is_excluded, m.forces, none, m.gravity, m.body[1]);
    test_assert_breach_is_of(tal_gravity_set_excluded, m.forces, none, m.gravity, m.body[1], true);
    test_assert_breach_is_of(tal_discrete_mobility_force, m.forces, none, discrete, mobility);
    test_assert_breach_is_of(tal_discrete_set_mobility_force, m.forces, none, discrete, mobility,
                             1.0);
    end_model(&m);
}

END_TEST

START_TEST(a_bad_field_is_refused_and_realize_says_so)
{
    model m = begin_model();
    finish_model(&m, TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_gravity_set_g(m.forces, m.state, m.gravity, tal_v3(0.0, (double)NAN, 0.0)),
                     TAL_ERR_NOT_FINITE);
    test_assert_v3_near(tal_gravity_g(m.forces, m.state, m.gravity), G, 0.0);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "gravity"));
    ck_assert_int_eq(tal_gravity_set_zero_height(m.forces, m.state, m.gravity, (double)INFINITY),
                     TAL_ERR_NOT_FINITE);
    end_model(&m);
}

END_TEST

// --- an element of one's own: a spring on a pin whose rest angle relaxes, zdot = (q - z) / tau ---

typedef struct creep {
    double stiffness; // N m / rad
    tal_body_ix body;
    tal_group_ix rest; // z
    tal_var_ix tau;    // s
    tal_cache_ix stretch;
    tal_status fail; // what apply returns
    double poison;   // what it adds besides
    bool speak;      // whether it explains its failure
    int *destroyed;
} creep;

static tal_status calc_stretch(const void *context, const tal_system *system, tal_state *state,
                               void *value)
{
    const creep *it = context;
    const int slot = tal_group_start(system, state, it->rest);
    *(double *)value = tal_state_q(state)[7] - tal_state_z(state)[slot];
    return TAL_OK;
}

static tal_status creep_declare(void *self, tal_forces *forces, tal_force_ix me)
{
    creep *it = self;
    if (it->fail == TAL_ERR_CALLBACK) return TAL_ERR_CALLBACK;
    const double tau = 0.5;
    tal_var_def var = tal_var_def_default();
    var.name = "tau";
    var.size = sizeof tau;
    var.initial = &tau;
    var.invalidates = TAL_STAGE_DYNAMICS;
    it->tau = tal_force_add_var(forces, me, &var);
    tal_group_def group = tal_group_def_default();
    group.name = "rest";
    group.capacity = 1;
    it->rest = tal_force_add_group(forces, me, &group);
    tal_cache_def cache = tal_cache_def_default();
    cache.name = "stretch";
    cache.size = sizeof(double);
    cache.calc = calc_stretch;
    const tal_prereq qz[] = {{TAL_PREREQ_Q, 0}, {TAL_PREREQ_Z, 0}};
    cache.prereqs = qz;
    cache.num_prereqs = 2;
    it->stretch = tal_force_add_cache(forces, me, &cache);
    return TAL_OK;
}

static double stretch_of(const creep *it, const tal_force_context *context)
{
    return tal_cache_realize_double(context->system, context->state, it->stretch);
}

static tal_status creep_apply(const void *self, const tal_force_context *context,
                              tal_spatial_vec F[], double f[])
{
    const creep *it = self;
    if (it->fail != TAL_OK && it->speak) {
        return tal_state_fail(context->state, it->fail, "the spring has snapped");
    }
    if (it->fail != TAL_OK) return it->fail;
    f[tal_body_u_start(context->matter, it->body)] -= it->stiffness * stretch_of(it, context);
    F[1].v.x += it->poison;
    return TAL_OK;
}

static tal_status creep_zdot(const void *self, const tal_force_context *context)
{
    const creep *it = self;
    const double tau = tal_var_double(context->system, context->state, it->tau);
    double *zdot = tal_group_upd_dot(context->system, context->state, it->rest);
    zdot[0] = stretch_of(it, context) / tau;
    return it->fail;
}

static tal_status creep_energy(const void *self, const tal_force_context *context, double *energy)
{
    const creep *it = self;
    *energy = 0.5 * it->stiffness * stretch_of(it, context) * stretch_of(it, context);
    return it->fail;
}

static tal_status creep_power(const void *self, const tal_force_context *context, double *power)
{
    const creep *it = self;
    const double tau = tal_var_double(context->system, context->state, it->tau);
    *power = it->stiffness * stretch_of(it, context) * stretch_of(it, context) / tau;
    return TAL_OK;
}

static tal_status creep_instance(const void *self, const tal_force_context *context)
{
    const creep *it = self;
    ck_assert_ptr_null(context->poses.bytes);
    return it->fail == TAL_ERR_SINGULAR ? TAL_ERR_SINGULAR : TAL_OK;
}

static void creep_destroy(void *self)
{
    const creep *it = self;
    ++*it->destroyed;
}

static const tal_force_ops creep_ops = {
    .size = sizeof creep_ops,
    .name = "creep",
    .tag = 1,
    .apply = creep_apply,
    .declare = creep_declare,
    .realize_instance = creep_instance,
    .realize_acceleration = creep_zdot,
    .calc_potential_energy = creep_energy,
    .calc_dissipated_power = creep_power,
    .destroy = creep_destroy,
};

START_TEST(an_element_owns_variables_z_and_cache)
{
    int destroyed = 0;
    model m = begin_model();
    creep spring = {.stiffness = 30.0, .body = m.body[2], .destroyed = &destroyed};
    const tal_force_ix ix = tal_forces_add(m.forces, "knee", &creep_ops, &spring);
    finish_model(&m, TAL_STAGE_ACCELERATION);
    const tal_subsystem_ix me = tal_forces_subsystem(m.forces);

    ck_assert_int_eq(tal_forces_num(m.forces), 2);
    ck_assert_int_eq(tal_forces_find(m.forces, "knee").i, ix.i);
    ck_assert_int_eq(tal_forces_find(m.forces, "hip").i, -1);
    ck_assert_str_eq(tal_force_name(m.forces, ix), "knee");
    ck_assert_str_eq(tal_force_kind(m.forces, ix), "creep");
    ck_assert_ptr_eq(tal_forces_matter(m.forces), m.matter);
    ck_assert_int_eq(tal_system_find_var(m.system, me, "knee.tau").i, spring.tau.i);
    ck_assert_int_ge(tal_system_find_group(m.system, me, TAL_POOL_Z, "knee.rest").i, 0);
    ck_assert_int_ge(tal_system_find_cache(m.system, me, "knee.stretch").i, 0);

    // f = -k x, zdot = x / tau, energy k x^2 / 2, of which k x zdot is lost
    const double x = tal_state_q(m.state)[7] - tal_state_z(m.state)[0];
    double f[10] = {0.0};
    tal_spatial_vec F[4] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
    ck_assert_int_eq(tal_force_apply(m.forces, m.state, ix, F, f), TAL_OK);
    ck_assert_double_eq(f[6], -30.0 * x);
    ck_assert_double_eq(tal_state_zdot(m.state)[0], x / 0.5);
    ck_assert_double_eq(tal_force_potential_energy(m.forces, m.state, ix), 15.0 * x * x);
    ck_assert_double_eq(tal_force_dissipated_power(m.forces, m.state, ix), 30.0 * x * x / 0.5);
    ck_assert_double_eq(tal_forces_dissipated_power(m.forces, m.state), 30.0 * x * x / 0.5);
    ck_assert_double_eq(tal_force_dissipated_power(m.forces, m.state, m.gravity), 0.0);
    ck_assert_double_eq(tal_forces_potential_energy(m.forces, m.state),
                        tal_force_potential_energy(m.forces, m.state, m.gravity) + 15.0 * x * x);
    end_model(&m);
    ck_assert_int_eq(destroyed, 1);
}

END_TEST

START_TEST(a_disabled_element_applies_nothing_and_its_z_stand_still)
{
    int destroyed = 0;
    model m = begin_model();
    creep spring = {.stiffness = 30.0, .body = m.body[2], .destroyed = &destroyed};
    const tal_force_ix ix = tal_forces_add(m.forces, NULL, &creep_ops, &spring);
    finish_model(&m, TAL_STAGE_ACCELERATION);
    ck_assert_str_eq(tal_force_name(m.forces, ix), "force1");
    double with[10];
    memcpy(with, tal_state_udot(m.state), sizeof with);
    ck_assert(tal_force_is_enabled(m.forces, m.state, ix));

    ck_assert_int_eq(tal_force_set_enabled(m.forces, m.state, ix, false), TAL_OK);
    ck_assert_int_eq(tal_state_stage(m.state), TAL_STAGE_MODEL);
    ck_assert(!tal_force_is_enabled(m.forces, m.state, ix));
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);

    ck_assert_double_eq(tal_state_zdot(m.state)[0], 0.0);
    ck_assert_double_eq(tal_forces_dissipated_power(m.forces, m.state), 0.0);
    ck_assert(memcmp(with, tal_state_udot(m.state), sizeof with) != 0);

    // without gravity either, a body at rest stays at rest
    tal_force_set_enabled(m.forces, m.state, m.gravity, false);
    double *u = tal_state_upd_u(m.state);
    for (int i = 0; i < 10; ++i) {
        u[i] = 0.0;
    }
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);
    const double zeros[10] = {0.0};
    test_assert_near(tal_state_udot(m.state), zeros, 10, 0.0, "udot");
    end_model(&m);
}

END_TEST

START_TEST(a_force_that_is_not_finite_is_named)
{
    int destroyed = 0;
    model m = begin_model();
    creep sound = {.stiffness = 30.0, .body = m.body[2], .destroyed = &destroyed};
    creep sick = {.stiffness = 30.0, .body = m.body[2], .destroyed = &destroyed};
    tal_forces_add(m.forces, "sound", &creep_ops, &sound);
    tal_forces_add(m.forces, "sick", &creep_ops, &sick);
    finish_model(&m, TAL_STAGE_DYNAMICS);

    const double poisons[] = {(double)NAN, (double)INFINITY};
    for (int k = 0; k < 2; ++k) {
        sick.poison = poisons[k];
        tal_state_invalidate(m.state, TAL_STAGE_DYNAMICS);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS),
                         TAL_ERR_NOT_FINITE);
        ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "'sick'"));
        ck_assert_int_eq(tal_state_stage(m.state), TAL_STAGE_VELOCITY);
    }
    // each finite, the sum not
    sound.poison = sick.poison = 1.5e308;
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(
        strstr(tal_state_error(m.state)->message, "the sum of the applied forces"));
    sound.poison = sick.poison = 0.0;
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_OK);
    end_model(&m);
    ck_assert_int_eq(destroyed, 2);
}

END_TEST

START_TEST(an_element_that_fails_is_named_at_every_stage)
{
    int destroyed = 0;
    model m = begin_model();
    creep spring = {.stiffness = 30.0, .body = m.body[2], .destroyed = &destroyed};
    const tal_force_ix ix = tal_forces_add(m.forces, "knee", &creep_ops, &spring);
    finish_model(&m, TAL_STAGE_DYNAMICS);

    spring.fail = TAL_RETRY;
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_RETRY);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "'knee'"));
    tal_state_invalidate(m.state, TAL_STAGE_DYNAMICS);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_RETRY);
    spring.speak = true; // its own words stay
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_RETRY);
    ck_assert_str_eq(tal_state_error(m.state)->message, "the spring has snapped");
    ck_assert_double_nan(tal_force_potential_energy(m.forces, m.state, ix));
    ck_assert_double_nan(tal_forces_potential_energy(m.forces, m.state));
    spring.fail = TAL_ERR_SINGULAR;
    tal_state_invalidate(m.state, TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "'knee'"));
    end_model(&m);
}

END_TEST

// --- building ---

static tal_status build_with(const char *name, const tal_force_ops *ops, creep *self,
                             tal_error *err)
{
    model m = begin_model();
    const tal_force_ix ix = tal_forces_add(m.forces, name, ops, self);
    if (self->fail == TAL_OK) ck_assert_int_lt(ix.i, 0);
    ck_assert_int_eq(tal_forces_add(m.forces, "later", &creep_ops, self).i < 0,
                     self->fail == TAL_OK);
    const tal_status st = tal_system_realize_topology(m.system, err);
    tal_system_destroy(m.system);
    return st;
}

START_TEST(a_bad_element_is_remembered_with_its_name)
{
    int destroyed = 0;
    tal_error err = {0};
    creep self = {.destroyed = &destroyed};
    ck_assert_int_eq(build_with("gravity", &creep_ops, &self, &err), TAL_ERR_BAD_NAME);
    ck_assert_ptr_nonnull(strstr(err.message, "'gravity'"));
    ck_assert_int_eq(destroyed, 2); // adopted even when refused
    ck_assert_int_eq(build_with("", &creep_ops, &self, &err), TAL_ERR_BAD_NAME);
    ck_assert_int_eq(build_with(" a", &creep_ops, &self, &err), TAL_ERR_BAD_NAME);
    ck_assert_ptr_nonnull(
        strstr(err.message, "force ' a': a name cannot begin or end with blanks"));
    ck_assert_int_eq(
        build_with("0123456789012345678901234567890123456789", &creep_ops, &self, &err),
        TAL_ERR_BAD_NAME);
    ck_assert_int_eq(build_with("a", NULL, &self, &err), TAL_ERR_BAD_VALUE);
    tal_force_ops ops = creep_ops;
    ops.apply = NULL;
    ck_assert_int_eq(build_with("a", &ops, &self, &err), TAL_ERR_NULL);
    ck_assert_ptr_nonnull(strstr(err.message, "apply"));
    ops = creep_ops;
    ops.name = NULL;
    ck_assert_int_eq(build_with("a", &ops, &self, &err), TAL_ERR_NULL);
    ops.size = 3;
    ck_assert_int_eq(build_with("a", &ops, &self, &err), TAL_ERR_BAD_VALUE);
    self.fail = TAL_ERR_CALLBACK; // from declare
    ck_assert_int_eq(build_with("a", &creep_ops, &self, &err), TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(strstr(err.message, "'a'"));
}

END_TEST

static tal_status declare_speeds(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)self;
    tal_group_def group = tal_group_def_default();
    group.pool = TAL_POOL_U;
    group.capacity = 1;
    ck_assert_int_lt(tal_force_add_group(forces, me, &group).i, 0);
    return TAL_OK;
}

START_TEST(an_element_cannot_declare_speeds)
{
    tal_force_ops ops = {.size = sizeof ops, .name = "x", .apply = creep_apply};
    ops.declare = declare_speeds;
    model m = begin_model();
    tal_forces_add(m.forces, "x", &ops, NULL);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "'x'"));
    tal_system_destroy(m.system);
}

END_TEST

// Names, kinds and tags are part of the structure: a State of one cannot be used with the other.
START_TEST(elements_are_part_of_the_structure)
{
    int destroyed = 0;
    uint64_t hash[4];
    tal_force_ops ops = creep_ops;
    for (int k = 0; k < 4; ++k) {
        model m = begin_model();
        creep spring = {.stiffness = 30.0, .body = m.body[2], .destroyed = &destroyed};
        ops.tag = k == 1 ? 2 : 1;
        ops.name = k == 2 ? "other" : "creep";
        tal_forces_add(m.forces, "knee", &ops, &spring);
        finish_model(&m, TAL_STAGE_MODEL);
        hash[k] = tal_system_structure_hash(m.system);
        end_model(&m);
    }
    ck_assert(hash[0] != hash[1]);
    ck_assert(hash[0] != hash[2]);
    ck_assert(hash[0] == hash[3]);
}

END_TEST

// The energy of a System is that of its matter and of all its forces.
START_TEST(energies_add_up_over_the_system)
{
    model m = begin_model();
    tal_forces *more = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(more, tal_v3_scale(2.0, G));
    finish_model(&m, TAL_STAGE_VELOCITY);
    const double kinetic = tal_matter_kinetic_energy(m.matter, m.state);
    const double potential = tal_forces_potential_energy(m.forces, m.state);
    // twice the field, twice the energy, bit for bit
    ck_assert_double_eq(tal_system_potential_energy(m.system, m.state), 3.0 * potential);
    ck_assert_double_eq(tal_system_energy(m.system, m.state), kinetic + 3.0 * potential);
    ck_assert_ptr_eq(tal_system_matter(m.system), m.matter);
    ck_assert_ptr_null(tal_system_matter(NULL));
    const tal_subsystem_ops other = {.size = sizeof other, .name = "other"};
    ck_assert_ptr_null(tal_subsystem_self_as(m.system, tal_forces_subsystem(m.forces), &other));
    end_model(&m);

    double e = 0.0;
    test_assert_breach(e = tal_system_energy(NULL, NULL), TAL_ERR_NULL, "System");
    ck_assert_double_nan(e);
    tal_system *empty = tal_system_create(NULL);
    ck_assert_ptr_null(tal_system_matter(empty));
    ck_assert_double_eq(tal_system_energy(empty, NULL), 0.0);
    tal_system_destroy(empty);
}

END_TEST

START_TEST(a_system_may_have_several_force_subsystems)
{
    model m = begin_model();
    tal_forces *more = tal_forces_create(m.system, m.matter);
    const tal_force_ix up = tal_forces_add_gravity(more, tal_v3_neg(G));
    finish_model(&m, TAL_STAGE_INSTANCE);
    double *u = tal_state_upd_u(m.state);
    for (int i = 0; i < 10; ++i) {
        u[i] = 0.0;
    }
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);
    const double zeros[10] = {0.0};
    // the forces cancel bit for bit
    test_assert_near(tal_state_udot(m.state), zeros, 10, 0.0, "udot");
    ck_assert_int_eq(up.i, 0);
    end_model(&m);
}

END_TEST

// --- contracts ---

START_TEST(broken_contracts_are_reported_and_yield_nothing)
{
    model m = begin_model();
    model other = begin_model();
    int destroyed = 0;
    creep spring = {.stiffness = 30.0, .body = m.body[2], .destroyed = &destroyed};
    const tal_force_ix ix = tal_forces_add(m.forces, "knee", &creep_ops, &spring);
    const tal_force_ix bad = {7};
    const tal_var_def var = tal_var_def_default();
    const tal_cache_def cache = tal_cache_def_default();
    const tal_group_def group = tal_group_def_default();
    test_assert_breach(tal_forces_create(NULL, m.matter), TAL_ERR_NULL, "System");
    test_assert_breach(tal_forces_create(m.system, NULL), TAL_ERR_NULL, "matter");
    test_assert_breach(tal_forces_add(NULL, "x", &creep_ops, &spring), TAL_ERR_NULL, "forces");
    test_assert_breach(tal_forces_add_gravity(NULL, G), TAL_ERR_NULL, "forces");
    test_assert_breach((void)tal_force_add_var(m.forces, ix, &var), TAL_ERR_TOPOLOGY, "knee");
    test_assert_breach((void)tal_force_add_var(m.forces, ix, NULL), TAL_ERR_NULL, "knee");
    test_assert_breach((void)tal_force_add_cache(m.forces, bad, &cache), TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_force_add_group(NULL, ix, &group), TAL_ERR_NULL, "forces");
    finish_model(&m, TAL_STAGE_INSTANCE);

    test_assert_breach(tal_forces_add(m.forces, "x", &creep_ops, &spring), TAL_ERR_TOPOLOGY, "");
    test_assert_breach((void)tal_force_name(m.forces, bad), TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_force_kind(m.forces, bad), TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_force_is_enabled(m.forces, m.state, bad), TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_force_set_enabled(m.forces, m.state, bad, true), TAL_ERR_BAD_INDEX,
                       "7");
    test_assert_breach((void)tal_force_set_enabled(m.forces, NULL, ix, true), TAL_ERR_NULL, "");
    tal_spatial_vec F[4];
    double f[10];
    test_assert_refused(tal_force_apply(m.forces, m.state, ix, F, f), TAL_ERR_STAGE, "Velocity");
    double e = 0.0;
    test_assert_breach(e = tal_force_potential_energy(m.forces, m.state, ix), TAL_ERR_STAGE,
                       "Position");
    ck_assert_double_nan(e);
    test_assert_breach(e = tal_force_dissipated_power(m.forces, m.state, ix), TAL_ERR_STAGE, "");
    ck_assert_double_nan(e);
    test_assert_breach(e = tal_forces_potential_energy(m.forces, m.state), TAL_ERR_STAGE, "");
    ck_assert_double_nan(e);
    test_assert_breach(e = tal_forces_dissipated_power(m.forces, m.state), TAL_ERR_STAGE, "");
    ck_assert_double_nan(e);
    test_assert_breach(e = tal_forces_dissipated_power(NULL, m.state), TAL_ERR_NULL, "");
    test_assert_breach(e = tal_forces_potential_energy(NULL, m.state), TAL_ERR_NULL, "");
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    test_assert_refused(tal_force_apply(m.forces, m.state, ix, NULL, f), TAL_ERR_NULL, "");

    // gravity's own calls
    test_assert_breach((void)tal_gravity_g(m.forces, m.state, ix), TAL_ERR_BAD_INDEX, "creep");
    test_assert_breach(e = tal_gravity_zero_height(m.forces, m.state, bad), TAL_ERR_BAD_INDEX, "7");
    ck_assert_double_nan(e);
    test_assert_breach((void)tal_gravity_set_g(m.forces, m.state, ix, G), TAL_ERR_BAD_INDEX, "");
    test_assert_breach((void)tal_gravity_set_zero_height(m.forces, m.state, ix, 0.0),
                       TAL_ERR_BAD_INDEX, "");
    const tal_body_ix absent = {9};
    test_assert_breach((void)tal_gravity_is_excluded(m.forces, m.state, m.gravity, absent),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach((void)tal_gravity_set_excluded(m.forces, m.state, m.gravity, absent, true),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach((void)tal_gravity_set_excluded(m.forces, NULL, m.gravity, m.body[1], true),
                       TAL_ERR_NULL, "");
    ck_assert_int_eq(tal_forces_num(NULL), -1);
    ck_assert_ptr_null(tal_forces_matter(NULL));
    ck_assert_int_eq(tal_forces_subsystem(NULL).i, -1);

    // matter of another System
    ck_assert_ptr_null(tal_forces_create(other.system, m.matter));
    ck_assert_int_eq(tal_system_error(other.system)->status, TAL_ERR_WRONG_SYSTEM);
    tal_system_destroy(other.system);
    end_model(&m);
}

END_TEST

START_TEST(realizing_forces_touches_no_heap)
{
    model m = begin_model();
    finish_model(&m, TAL_STAGE_INSTANCE);
    tal_status st = TAL_OK;
    double e = 0.0;
    test_assert_no_heap(st = tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION));
    ck_assert_int_eq(st, TAL_OK);
    test_assert_no_heap(e = tal_forces_potential_energy(m.forces, m.state));
    ck_assert(isfinite(e));
    end_model(&m);
}

END_TEST

START_TEST(memory_may_run_out_at_any_call)
{
    bool built = false;
    for (int n = 1; n < 200 && !built; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_system_def def = tal_system_def_default();
        def.allocator = test_heap_allocator(&heap);
        tal_system *system = tal_system_create(&def);
        if (system == NULL) continue;
        tal_matter *matter = tal_matter_create(system);
        tal_forces *forces = matter != NULL ? tal_forces_create(system, matter) : NULL;
        int destroyed = 0;
        creep spring = {.stiffness = 30.0, .body = {1}, .destroyed = &destroyed};
        if (forces != NULL) {
            (void)tal_forces_add_gravity(forces, G);
            (void)tal_forces_add(forces, "knee", &creep_ops, &spring);
        }
        tal_error err = {0};
        built = forces != NULL && tal_system_realize_topology(system, &err) == TAL_OK;
        if (!built) ck_assert_int_eq(tal_system_error(system)->status, TAL_ERR_NO_MEMORY);
        if (built) test_assert_never_refused(&heap);
        tal_system_destroy(system);
        ck_assert_int_eq(heap.live, 0);
        if (forces != NULL) ck_assert_int_eq(destroyed, 1);
    }
    ck_assert(built);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/forces");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_floating_tree_at_rest_falls_without_bending);
    tcase_add_test(theory, the_power_of_gravity_is_what_its_energy_loses);
    tcase_add_test(theory, zero_height_shifts_the_energy_and_no_force);
    tcase_add_test(theory, a_definition_has_the_zero_height);
    tcase_add_test(theory, gravity_is_set_in_the_state);
    tcase_add_test(theory, an_element_owns_variables_z_and_cache);
    tcase_add_test(theory, a_disabled_element_applies_nothing_and_its_z_stand_still);
    tcase_add_test(theory, elements_are_part_of_the_structure);
    tcase_add_test(theory, a_system_may_have_several_force_subsystems);
    tcase_add_test(theory, energies_add_up_over_the_system);
    tcase_add_test(theory, a_hundred_thousand_forces_have_names);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_breach_names_the_function_that_was_called);
    tcase_add_test(errors, a_bad_field_is_refused_and_realize_says_so);
    tcase_add_test(errors, a_force_that_is_not_finite_is_named);
    tcase_add_test(errors, an_element_that_fails_is_named_at_every_stage);
    tcase_add_test(errors, a_bad_element_is_remembered_with_its_name);
    tcase_add_test(errors, an_element_cannot_declare_speeds);
    tcase_add_test(errors, broken_contracts_are_reported_and_yield_nothing);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, realizing_forces_touches_no_heap);
    tcase_add_test(alloc, memory_may_run_out_at_any_call);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
