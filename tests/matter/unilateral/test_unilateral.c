// matter/src/unilateral/unilateral.c, unilateral_values.c and unilateral_builtin.c: elements, their
// modes in a State, their gaps and slips.
#include "constraint/type/constraint_builtin_internal.h"
#include "unilateral_support.h"

#include <string.h>

// --- grips agree with themselves ---

static tal_constraint_ix point_grip(tal_matter *matter, const tal_constraint_def *def,
                                    test_rng *rng)
{
    const tal_xform plane = test_random_xform(rng);
    return tali_constraint_add_point_on_plane_grip(matter, def, &plane, test_random_vec3(rng));
}

static tal_constraint_ix sphere_on_plane_grip(tal_matter *matter, const tal_constraint_def *def,
                                              test_rng *rng)
{
    const tal_xform plane = test_random_xform(rng);
    return tali_constraint_add_sphere_on_plane_grip(matter, def, &plane, test_random_vec3(rng),
                                                    0.4);
}

static tal_constraint_ix sphere_on_sphere_grip(tal_matter *matter, const tal_constraint_def *def,
                                               test_rng *rng)
{
    const tal_vec3 center1 = test_random_vec3(rng);
    return tali_constraint_add_sphere_on_sphere_grip(matter, def, center1, 0.4,
                                                     test_random_vec3(rng), 0.9);
}

static tal_constraint_ix line_on_line_grip(tal_matter *matter, const tal_constraint_def *def,
                                           test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tali_constraint_add_line_on_line_grip(matter, def, &X_1, &X_2);
}

START_TEST(rates_and_forces_of_grips_are_derivatives_and_transposes)
{
    enum {
        TREES = 40
    };

    check_on_random_trees(point_grip, 2, TREES, NULL);
    check_on_random_trees(sphere_on_plane_grip, 2, TREES, NULL);
    check_on_random_trees(sphere_on_sphere_grip, 2, TREES, NULL);
    check_on_random_trees(line_on_line_grip, 2, TREES, NULL);
}

END_TEST

// --- every kind of element ---

/// Two free bodies, or one slider: an element of each kind, with its gap at the start and its rate
/// when body 2 moves with velocity v.
typedef struct kind {
    const char *name;
    tal_unilateral_ix (*add)(tal_matter *matter, const tal_unilateral_def *def, tal_body_ix body1,
                             tal_body_ix body2, tal_mobility slider);
    double gap, speed;
    int num_slips;
} kind;

static const tal_vec3 WHERE = {0.3, -0.4, 1.5}; // of body 2
static const tal_vec3 HOW = {2.0, 1.0, -3.0};   // its velocity; the slider moves at 0.7

static tal_unilateral_ix add_point(tal_matter *matter, const tal_unilateral_def *def,
                                   tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)slider;
    const tal_xform plane = floor_at(0.5);
    return tal_unilateral_add_point_on_plane(matter, def, body1, &plane, body2,
                                             tal_v3(0.0, 0.0, -0.2));
}

static tal_unilateral_ix add_sphere(tal_matter *matter, const tal_unilateral_def *def,
                                    tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)slider;
    const tal_xform plane = floor_at(0.5);
    return tal_unilateral_add_sphere_on_plane(matter, def, body1, &plane, body2, TAL_VEC3_ZERO,
                                              0.25);
}

static tal_unilateral_ix add_spheres(tal_matter *matter, const tal_unilateral_def *def,
                                     tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)slider;
    return tal_unilateral_add_sphere_on_sphere(matter, def, body1, tal_v3(0.3, -0.4, 0.0), 0.5,
                                               body2, TAL_VEC3_ZERO, 0.25);
}

static tal_unilateral_ix add_edges(tal_matter *matter, const tal_unilateral_def *def,
                                   tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)slider;
    const tal_xform along_x = TAL_XFORM_IDENTITY;
    const tal_xform along_y = {
        tal_m3(tal_v3(0.0, 1.0, 0.0), tal_v3(-1.0, 0.0, 0.0), tal_v3(0.0, 0.0, 1.0)),
        {0.0, 0.0, -0.1}};
    return tal_unilateral_add_edge_on_edge(matter, def, body1, &along_x, body2, &along_y);
}

static tal_unilateral_ix add_rope(tal_matter *matter, const tal_unilateral_def *def,
                                  tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)slider;
    return tal_unilateral_add_rope(matter, def, body1, tal_v3(0.3, -0.4, 0.0), body2, TAL_VEC3_ZERO,
                                   2.0);
}

static tal_unilateral_ix add_lower(tal_matter *matter, const tal_unilateral_def *def,
                                   tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)body1, (void)body2;
    return tal_unilateral_add_stop(matter, def, slider, -0.25, false);
}

static tal_unilateral_ix add_upper(tal_matter *matter, const tal_unilateral_def *def,
                                   tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)body1, (void)body2;
    return tal_unilateral_add_stop(matter, def, slider, 0.25, true);
}

static tal_unilateral_ix add_ratchet(tal_matter *matter, const tal_unilateral_def *def,
                                     tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)body1, (void)body2;
    return tal_unilateral_add_ratchet(matter, def, slider, 0.5, 1);
}

static tal_unilateral_ix add_dry(tal_matter *matter, const tal_unilateral_def *def,
                                 tal_body_ix body1, tal_body_ix body2, tal_mobility slider)
{
    (void)body1, (void)body2;
    return tal_unilateral_add_dry_friction(matter, def, slider, 0.2);
}

static const kind KINDS[] = {{"point", add_point, 0.8, -3.0, 2},
                             {"sphere", add_sphere, 0.75, -3.0, 2},
                             {"spheres", add_spheres, 0.75, -3.0, 2},
                             {"edges", add_edges, 1.4, -3.0, 2},
                             {"rope", add_rope, 0.5, 3.0, 0},
                             {"lower", add_lower, 0.25, 0.7, 0},
                             {"upper", add_upper, 0.25, -0.7, 0},
                             {"ratchet", add_ratchet, (double)NAN, 0.2, 0},
                             {"dry", add_dry, (double)NAN, (double)NAN, 1}};

enum {
    NUM_KINDS = sizeof KINDS / sizeof KINDS[0]
};

/// All kinds in one model.
typedef struct zoo {
    test_model model;
    tal_body_ix ball, slider;
    tal_unilateral_ix element[NUM_KINDS];
} zoo;

static void zoo_create(zoo *it)
{
    test_model_begin(&it->model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.3, 0.4, 0.5);
    it->ball = tal_matter_add_free(it->model.matter, TAL_GROUND, &def);
    it->slider = tal_matter_add_slider(it->model.matter, TAL_GROUND, &def);
    for (int k = 0; k < NUM_KINDS; ++k) {
        tal_unilateral_def one = tal_unilateral_def_default();
        one.name = KINDS[k].name;
        one.material = dry(0.5, 0.4);
        one.material.limit = 1.5;
        const tal_mobility at = {it->slider, 0};
        it->element[k] = KINDS[k].add(it->model.matter, &one, TAL_GROUND, it->ball, at);
        ck_assert_msg(it->element[k].i == k, "%s", tal_system_error(it->model.system)->message);
    }
    test_model_freeze(&it->model);
    tal_state *state = it->model.state;
    test_model_realize(&it->model, TAL_STAGE_TIME);
    for (int j = 0; j < 3; ++j) {
        const double p[] = {WHERE.x, WHERE.y, WHERE.z}, v[] = {HOW.x, HOW.y, HOW.z};
        tal_body_set_q(it->model.matter, state, it->ball, 4 + j, p[j]);
        tal_body_set_u(it->model.matter, state, it->ball, 3 + j, v[j]);
    }
    tal_body_set_u(it->model.matter, state, it->slider, 0, 0.7);
}

static void assert_same(double is, double should, const char *what)
{
    const bool both_nan = isnan(is) && isnan(should);
    // a few roundings of numbers up to 3
    ck_assert_msg(both_nan || fabs(is - should) <= 1e-14, "%s: %.17g, not %.17g", what, is, should);
}

START_TEST(gaps_open_and_close_as_bodies_move)
{
    zoo it;
    zoo_create(&it);
    tal_matter *matter = it.model.matter;
    tal_state *state = it.model.state;
    ck_assert_int_eq(tal_matter_num_unilaterals(matter), NUM_KINDS);
    for (int k = 0; k < NUM_KINDS; ++k) {
        const tal_unilateral_ix at = tal_matter_find_unilateral(matter, KINDS[k].name);
        ck_assert_int_eq(at.i, k);
        ck_assert_str_eq(tal_unilateral_name(matter, at), KINDS[k].name);
        ck_assert_int_eq(tal_unilateral_num_slips(matter, at), KINDS[k].num_slips);
        assert_same(tal_unilateral_gap(matter, state, at), KINDS[k].gap, KINDS[k].name);
        assert_same(tal_unilateral_speed(matter, state, at), KINDS[k].speed, KINDS[k].name);
    }
    double slip[2];
    ck_assert_int_eq(tal_unilateral_calc_slip(matter, state, it.element[0], slip), TAL_OK);
    assert_same(slip[0], 2.0, "along x");
    assert_same(slip[1], 1.0, "along y");
    ck_assert_int_eq(tal_unilateral_calc_slip(matter, state, it.element[NUM_KINDS - 1], slip),
                     TAL_OK);
    assert_same(slip[0], 0.5, "0.7 less 0.2");
    assert_same(slip[1], 0.0, "nothing");
    // body 2 falls freely; the rope's slack changes with its length alone: v^2 across, over length
    it.model.gravity = tal_v3(0.0, 0.0, -9.81);
    ck_assert_int_eq(tal_state_invalidate(state, TAL_STAGE_DYNAMICS), TAL_OK);
    assert_same(tal_unilateral_acceleration(matter, state, it.element[0]), -9.81, "point");
    assert_same(tal_unilateral_acceleration(matter, state, it.element[4]), 9.81 - 5.0 / 1.5,
                "rope");
    test_model_end(&it.model);
}

END_TEST

START_TEST(modes_enable_constraints_and_nothing_else)
{
    zoo it;
    zoo_create(&it);
    tal_matter *matter = it.model.matter;
    tal_state *state = it.model.state;
    for (int k = 0; k < NUM_KINDS; ++k) {
        const tal_unilateral_ix at = it.element[k];
        const tal_constraint_ix normal = tal_unilateral_normal(matter, at);
        const tal_constraint_ix grip = tal_unilateral_grip(matter, at);
        ck_assert_int_eq(normal.i >= 0, k < NUM_KINDS - 1);
        ck_assert_int_eq(grip.i >= 0, KINDS[k].num_slips > 0);
        ck_assert_int_eq(tal_unilateral_mode_of(matter, state, at),
                         normal.i >= 0 ? TAL_UNILATERAL_OFF : TAL_UNILATERAL_SLIDE);
        const tal_unilateral_mode on = grip.i >= 0 ? TAL_UNILATERAL_STICK : TAL_UNILATERAL_ON;
        ck_assert_int_eq(tal_unilateral_set_mode(matter, state, at, on, NULL), TAL_OK);
        ck_assert_int_eq(tal_unilateral_mode_of(matter, state, at), on);
        if (normal.i >= 0) {
            ck_assert(tal_constraint_is_enabled(matter, state, normal));
            ck_assert_int_eq(tal_constraint_unilateral(matter, normal).i, k);
        }
        if (grip.i < 0) continue;
        ck_assert_int_eq(tal_constraint_unilateral(matter, grip).i, k);
        ck_assert(tal_constraint_is_enabled(matter, state, grip));
        ck_assert_int_eq(tal_unilateral_set_mode(matter, state, at, TAL_UNILATERAL_SLIDE, NULL),
                         TAL_OK);
        ck_assert(!tal_constraint_is_enabled(matter, state, grip));
        ck_assert_int_eq(tal_unilateral_set_enabled(matter, state, at, false), TAL_OK);
        ck_assert_int_eq(tal_unilateral_mode_of(matter, state, at), TAL_UNILATERAL_OFF);
        if (normal.i >= 0) ck_assert(!tal_constraint_is_enabled(matter, state, normal));
        ck_assert_int_eq(tal_unilateral_set_enabled(matter, state, at, true), TAL_OK);
    }
    test_model_end(&it.model);
}

END_TEST

START_TEST(a_point_that_begins_to_stick_is_anchored_where_it_is)
{
    zoo it;
    zoo_create(&it);
    tal_matter *matter = it.model.matter;
    tal_state *state = it.model.state;
    const tal_unilateral_ix point = it.element[0];
    ck_assert_int_eq(tal_unilateral_set_mode(matter, state, point, TAL_UNILATERAL_STICK, NULL),
                     TAL_OK);
    test_model_realize(&it.model, TAL_STAGE_POSITION);
    const tal_constraint_rows rows =
        tal_constraint_rows_of(matter, state, tal_unilateral_grip(matter, point));
    ck_assert_int_eq(rows.mp, 2);
    ck_assert_double_eq(tal_state_qerr(state)[rows.p0], 0.0);
    ck_assert_double_eq(tal_state_qerr(state)[rows.p0 + 1], 0.0);
    tal_body_set_q(matter, state, it.ball, 4, WHERE.x + 0.125);
    test_model_realize(&it.model, TAL_STAGE_POSITION);
    assert_same(tal_state_qerr(state)[rows.p0], 0.125, "moved along x");
    // sticking already: it stays where it was
    ck_assert_int_eq(tal_unilateral_set_mode(matter, state, point, TAL_UNILATERAL_STICK, NULL),
                     TAL_OK);
    test_model_realize(&it.model, TAL_STAGE_POSITION);
    assert_same(tal_state_qerr(state)[rows.p0], 0.125, "still");
    test_model_end(&it.model);
}

END_TEST

// --- refusals ---

START_TEST(modes_that_an_element_cannot_have_are_refused_by_name)
{
    zoo it;
    zoo_create(&it);
    tal_matter *matter = it.model.matter;
    tal_state *state = it.model.state;

    const struct {
        int k;
        tal_unilateral_mode mode;
    } wrong[] = {{0, TAL_UNILATERAL_ON},
                 {4, TAL_UNILATERAL_STICK},
                 {4, TAL_UNILATERAL_SLIDE},
                 {NUM_KINDS - 1, TAL_UNILATERAL_OFF},
                 {0, (tal_unilateral_mode)9}};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        const tal_unilateral_ix at = it.element[wrong[i].k];
        ck_assert_int_eq(tal_unilateral_set_mode(matter, state, at, wrong[i].mode, NULL),
                         TAL_ERR_BAD_VALUE);
        ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, KINDS[wrong[i].k].name));
        tal_state_clear_error(state);
    }
    ck_assert_int_eq(tal_unilateral_set_enabled(matter, state, it.element[4], false), TAL_OK);
    ck_assert_int_eq(tal_unilateral_set_mode(matter, state, it.element[4], TAL_UNILATERAL_ON, NULL),
                     TAL_ERR_BAD_VALUE);
    tal_state_clear_error(state);
    test_model_end(&it.model);
}

END_TEST

START_TEST(materials_are_checked_field_by_field)
{
    zoo it;
    zoo_create(&it);
    tal_matter *matter = it.model.matter;
    tal_state *state = it.model.state;
    const tal_unilateral_material good = dry(0.5, 0.4);
    ck_assert_int_eq(tal_unilateral_set_material(matter, state, it.element[0], &good), TAL_OK);
    for (int field = 0; field < 9; ++field) {
        static const char *const names[] = {"sliding_mu",       "viscous_mu", "limit",
                                            "restitution",      "slow_speed", "capture_speed",
                                            "transition_speed", "static_mu",  "restitution"};
        tal_unilateral_material bad = good;
        double *const at[] = {&bad.sliding_mu,       &bad.viscous_mu, &bad.limit,
                              &bad.restitution,      &bad.slow_speed, &bad.capture_speed,
                              &bad.transition_speed, &bad.static_mu,  &bad.restitution};
        *at[field] = field == 7 ? 0.3 : field == 8 ? 1.5 : field % 2 == 0 ? -1.0 : (double)NAN;
        ck_assert_int_eq(tal_unilateral_set_material(matter, state, it.element[0], &bad),
                         TAL_ERR_BAD_VALUE);
        ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, names[field]));
        tal_state_clear_error(state);
    }
    const tal_unilateral_material is = tal_unilateral_material_of(matter, state, it.element[0]);
    ck_assert_double_eq(is.static_mu, 0.5);
    tal_unilateral_material never = good;
    never.static_mu = (double)INFINITY;
    ck_assert_int_eq(tal_unilateral_set_material(matter, state, it.element[0], &never), TAL_OK);
    test_model_end(&it.model);
}

END_TEST

typedef void (*mistake_fn)(tal_matter *matter, tal_body_ix body);

static void no_parts(tal_matter *matter, tal_body_ix body)
{
    (void)body;
    const tal_unilateral_def def = tal_unilateral_def_default();
    tal_matter_add_unilateral(matter, &def);
}

static void too_many_equations(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body);
    def.normal = tal_constraint_add_ball(matter, &between, TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    tal_matter_add_unilateral(matter, &def);
}

static void grip_of_three(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body);
    def.grip = tal_constraint_add_ball(matter, &between, TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    tal_matter_add_unilateral(matter, &def);
}

static void shared_part(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body);
    def.normal = tal_constraint_add_rod(matter, &between, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    tal_matter_add_unilateral(matter, &def);
    tal_matter_add_unilateral(matter, &def);
}

static void missing_part(tal_matter *matter, tal_body_ix body)
{
    (void)body;
    tal_unilateral_def def = tal_unilateral_def_default();
    def.normal = (tal_constraint_ix){77};
    tal_matter_add_unilateral(matter, &def);
}

static void wrong_sign(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_add_ratchet(matter, NULL, (tal_mobility){body, 0}, 0.0, 2);
}

static void no_limit(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_add_dry_friction(matter, NULL, (tal_mobility){body, 0}, 0.0);
}

static void itself(tal_matter *matter, tal_body_ix body)
{
    const tal_xform plane = TAL_XFORM_IDENTITY;
    tal_unilateral_add_point_on_plane(matter, NULL, body, &plane, body, TAL_VEC3_ZERO);
}

static void no_plane(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_add_point_on_plane(matter, NULL, TAL_GROUND, NULL, body, TAL_VEC3_ZERO);
}

static void same_name(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = "twice";
    tal_unilateral_add_stop(matter, &def, (tal_mobility){body, 0}, 1.0, true);
    tal_unilateral_add_stop(matter, &def, (tal_mobility){body, 0}, 1.0, true);
}

static void no_anchor(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body);
    def.grip = tal_constraint_add_point_on_line(matter, &between, tal_v3(1.0, 0.0, 0.0),
                                                TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    tal_matter_add_unilateral(matter, &def);
}

static void bad_material(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material = dry(0.3, 0.4);
    tal_unilateral_add_rope(matter, &def, TAL_GROUND, TAL_VEC3_ZERO, body, TAL_VEC3_ZERO, 1.0);
}

static void kkt_with_friction(tal_matter *matter, tal_body_ix body)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material = dry(0.4, 0.4);
    const tal_xform plane = TAL_XFORM_IDENTITY;
    tal_unilateral_add_point_on_plane(matter, &def, TAL_GROUND, &plane, body, TAL_VEC3_ZERO);
    tal_matter_set_solve_way(matter, TAL_SOLVE_KKT);
}

START_TEST(mistakes_are_kept_until_the_topology_is_realized)
{
    static const struct {
        mistake_fn make;
        tal_status status;
        const char *says;
    } mistakes[] = {
        {no_parts, TAL_ERR_BAD_VALUE, "neither"},
        {too_many_equations, TAL_ERR_BAD_VALUE, "must have one"},
        {grip_of_three, TAL_ERR_BAD_VALUE, "grip"},
        {shared_part, TAL_ERR_BAD_VALUE, "belongs to 'unilateral0'"},
        {missing_part, TAL_ERR_BAD_INDEX, "77"},
        {wrong_sign, TAL_ERR_BAD_VALUE, "sign is 2"},
        {no_limit, TAL_ERR_BAD_VALUE, "limit"},
        {itself, TAL_ERR_BAD_VALUE, "itself"},
        {no_plane, TAL_ERR_NULL, "NULL"},
        {same_name, TAL_ERR_BAD_NAME, "twice"},
        {no_anchor, TAL_ERR_BAD_VALUE, "anchor"},
        {bad_material, TAL_ERR_BAD_VALUE, "static_mu"},
        {kkt_with_friction, TAL_ERR_BAD_VALUE, "kkt"},
    };

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; ++i) {
        test_model model;
        test_model_begin(&model);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        const tal_body_ix body = tal_matter_add_slider(model.matter, TAL_GROUND, &def);
        mistakes[i].make(model.matter, body);
        tal_error err = {0};
        ck_assert_msg(tal_system_realize_topology(model.system, &err) == mistakes[i].status,
                      "mistake %zu: %s", i, err.message);
        ck_assert_msg(strstr(err.message, mistakes[i].says) != NULL, "'%s' lacks '%s'", err.message,
                      mistakes[i].says);
        tal_system_destroy(model.system);
    }
}

END_TEST

START_TEST(an_element_starts_off_even_if_its_constraint_was_enabled)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    const tal_body_ix body = tal_matter_add_slider(model.matter, TAL_GROUND, &def);
    tal_unilateral_def one = tal_unilateral_def_default();
    const tal_constraint_def on = tal_constraint_on(body, 0);
    one.normal = tal_constraint_add_constant_coordinate(model.matter, &on, -1.0);
    const tal_unilateral_ix stop = tal_matter_add_unilateral(model.matter, &one);
    one.disabled = true;
    one.normal = tal_constraint_add_constant_coordinate(model.matter, &on, -2.0);
    const tal_unilateral_ix other = tal_matter_add_unilateral(model.matter, &one);
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    ck_assert_int_eq(tal_unilateral_mode_of(model.matter, model.state, stop), TAL_UNILATERAL_OFF);
    ck_assert(tal_unilateral_is_enabled(model.matter, model.state, stop));
    ck_assert(!tal_unilateral_is_enabled(model.matter, model.state, other));
    ck_assert_double_eq(tal_unilateral_gap(model.matter, model.state, stop), 1.0);
    test_model_end(&model);
}

END_TEST

// --- gaps of all elements ---

enum {
    MANY = 8
};

/// Points and spheres over planes, spheres on and in spheres, and a rope, between bodies of a
/// random tree.
typedef struct many {
    tal_unilateral_ix element[MANY];
    test_rng rng;
} many;

static void add_many(tal_matter *matter, void *context)
{
    many *it = context;
    const tal_body_ix bodies[MANY][2] = {{{0}, {9}}, {{3}, {8}}, {{7}, {0}}, {{4}, {10}},
                                         {{5}, {1}}, {{0}, {6}}, {{8}, {2}}, {{2}, {6}}};
    for (int k = 0; k < MANY; ++k) {
        const tal_body_ix one = bodies[k][0], two = bodies[k][1];
        const tal_xform plane = test_random_xform(&it->rng);
        const tal_vec3 at = test_random_vec3(&it->rng);
        it->element[k] =
            k < 2   ? tal_unilateral_add_point_on_plane(matter, NULL, one, &plane, two, at)
            : k < 4 ? tal_unilateral_add_sphere_on_plane(matter, NULL, one, &plane, two, at, 0.2)
            : k < 6
                ? tal_unilateral_add_sphere_on_sphere(matter, NULL, one, plane.p, 0.3, two, at, 0.2)
            : k < 7
                ? tal_unilateral_add_sphere_in_sphere(matter, NULL, one, plane.p, 9.3, two, at, 0.2)
                : tal_unilateral_add_rope(matter, NULL, one, plane.p, two, at, 9.0);
    }
}

// What is found from poses is the error of the constraint, enabled, and its rate: sums of a dozen
// products of numbers up to 20, 1e-13 of them.
START_TEST(gaps_of_all_elements_are_the_errors_of_their_constraints)
{
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        many context = {.rng = test_rng_seed(seed)};
        random_tree_def def = random_tree_def_default(seed + 900);
        def.add_more = add_many;
        def.context = &context;
        random_tree tree = random_tree_create(&def);
        double gap[MANY], rate[MANY];
        ck_assert_int_eq(tal_system_realize(tree.system, tree.state, TAL_STAGE_VELOCITY), TAL_OK);
        ck_assert_int_eq(tal_matter_calc_gaps(tree.matter, tree.state, false, gap), TAL_OK);
        ck_assert_int_eq(tal_matter_calc_gaps(tree.matter, tree.state, true, rate), TAL_OK);
        for (int k = 0; k < MANY; ++k) {
            const tal_unilateral_ix e = context.element[k];
            ck_assert_double_eq(gap[k], tal_unilateral_gap(tree.matter, tree.state, e));
            ck_assert_double_eq(rate[k], tal_unilateral_speed(tree.matter, tree.state, e));
            ck_assert_int_eq(
                tal_unilateral_set_mode(tree.matter, tree.state, e, TAL_UNILATERAL_ON, NULL),
                TAL_OK);
        }
        ck_assert_int_eq(tal_system_realize(tree.system, tree.state, TAL_STAGE_VELOCITY), TAL_OK);
        for (int k = 0; k < MANY; ++k) {
            const tal_constraint_rows rows = tal_constraint_rows_of(
                tree.matter, tree.state, tal_unilateral_normal(tree.matter, context.element[k]));
            const int sign = tal_unilateral_sign(tree.matter, context.element[k]);
            const double p = sign * tal_state_qerr(tree.state)[rows.p0];
            const double v = sign * tal_state_uerr(tree.state)[rows.p0];
            ck_assert_double_eq_tol(gap[k], p, 1e-12 * (1.0 + fabs(p)));
            ck_assert_double_eq_tol(rate[k], v, 1e-12 * (1.0 + fabs(v)) * 20.0);
        }
        double none[MANY];
        ck_assert_int_eq(tal_matter_calc_gaps(tree.matter, tree.state, false, none), TAL_OK);
        for (int k = 0; k < MANY; ++k) {
            ck_assert(isinf(none[k])); // nothing is open
        }
        random_tree_destroy(&tree);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/unilateral");
    TCase *tc = tcase_create("elements");
    tcase_add_test(tc, rates_and_forces_of_grips_are_derivatives_and_transposes);
    tcase_add_test(tc, gaps_open_and_close_as_bodies_move);
    tcase_add_test(tc, modes_enable_constraints_and_nothing_else);
    tcase_add_test(tc, a_point_that_begins_to_stick_is_anchored_where_it_is);
    tcase_add_test(tc, modes_that_an_element_cannot_have_are_refused_by_name);
    tcase_add_test(tc, materials_are_checked_field_by_field);
    tcase_add_test(tc, mistakes_are_kept_until_the_topology_is_realized);
    tcase_add_test(tc, gaps_of_all_elements_are_the_errors_of_their_constraints);
    tcase_add_test(tc, an_element_starts_off_even_if_its_constraint_was_enabled);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
