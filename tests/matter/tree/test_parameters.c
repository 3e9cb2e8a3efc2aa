// parameters.c: masses, frames and mobilizer parameters are variables of a State.
#include "tree_support.h"

enum {
    ARM = 1,
    TIP,
    DOT,
    ROD
};

static tal_body_ix body(int b)
{
    return (tal_body_ix){b};
}

// A pin, a screw, a particle, a line.
static void build(rig *r)
{
    const double pitch = 0.2;
    rig_begin(r);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(2.0, tal_v3(0.1, 0.2, 0.3));
    def.X_BM = tal_xf_from_p(tal_v3(0.0, 0.4, 0.0));
    def.name = "arm";
    (void)rig_add(r, 0, "pin", &def, NULL);
    def.name = "tip";
    (void)rig_add(r, ARM, "screw", &def, &pitch);
    def = tal_mobod_def_default();
    def.name = "dot";
    def.structure = TAL_BODY_PARTICLE;
    def.mass = tal_mass_props_point(0.5, TAL_VEC3_ZERO);
    (void)rig_add(r, TIP, "translation", &def, NULL);
    def.name = "rod";
    def.structure = TAL_BODY_LINE;
    def.mass = tal_mass_props_rod(0.5, tal_v3(0.0, 0.0, 0.3));
    (void)rig_add(r, 0, "free_line", &def, NULL);
    rig_finish(r);
    r->gravity = tal_v3(0.0, -9.81, 0.0);
}

static void assert_pending(const rig *r, tal_status expected, const char *part)
{
    ck_assert_int_eq(tal_system_realize(r->system, r->state, TAL_STAGE_MODEL), expected);
    const char *message = tal_state_error(r->state)->message;
    ck_assert_msg(strstr(message, part) != NULL, "'%s' lacks '%s'", message, part);
}

START_TEST(what_was_set_is_read_back_bit_for_bit)
{
    test_rng rng = test_rng_seed(1);
    rig r;
    build(&r);
    const tal_mass_props mass = test_random_mass_props(&rng);
    const tal_xform X_PF = test_random_xform(&rng), X_BM = test_random_xform(&rng);
    const double pitch = -0.7;
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(TIP), &mass), TAL_OK);
    ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_MODEL);
    ck_assert_int_eq(tal_body_set_X_PF(r.matter, r.state, body(TIP), &X_PF), TAL_OK);
    ck_assert_int_eq(tal_body_set_X_BM(r.matter, r.state, body(TIP), &X_BM), TAL_OK);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_body_set_params(r.matter, r.state, body(TIP), &pitch, 1), TAL_OK);
    ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_MODEL);
    rig_realize(&r, TAL_STAGE_ACCELERATION);

    const tal_mass_props mass_back = tal_body_mass_props(r.matter, r.state, body(TIP));
    const tal_xform X_PF_back = tal_body_X_PF(r.matter, r.state, body(TIP));
    const tal_xform X_BM_back = tal_body_X_BM(r.matter, r.state, body(TIP));
    int n = 0;
    ck_assert_mem_eq(&mass_back, &mass, sizeof mass);
    ck_assert_mem_eq(&X_PF_back, &X_PF, sizeof X_PF);
    ck_assert_mem_eq(&X_BM_back, &X_BM, sizeof X_BM);
    ck_assert_double_eq(tal_body_params(r.matter, r.state, body(TIP), &n)[0], pitch);
    ck_assert_int_eq(n, 1);
    (void)tal_body_params(r.matter, r.state, body(ARM), &n);
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(tal_body_set_params(r.matter, r.state, body(ARM), NULL, 0), TAL_OK);
    rig_end(&r);
}

END_TEST

// Setting parameters in a State is the same as having built the System with them.
START_TEST(a_changed_state_is_that_of_a_system_built_so)
{
    test_rng rng = test_rng_seed(2);
    for (int trial = 0; trial < 10; ++trial) {
        tal_mobod_def defs[3], others[3];
        const double radii[] = {0.4, 0.5, 0.6}, other_radii[] = {0.7, 0.2, 0.3};
        rig r, s;
        rig_begin(&r);
        rig_begin(&s);
        for (int b = 0; b < 3; ++b) {
            defs[b] = random_def(&rng);
            others[b] = random_def(&rng);
            const char *kind = b == 1 ? "ellipsoid" : "pin";
            (void)rig_add(&r, b, kind, &defs[b], radii);
            (void)rig_add(&s, b, kind, &others[b], other_radii);
        }
        rig_finish(&r);
        rig_finish(&s);
        r.gravity = s.gravity = tal_v3(0.3, -9.81, 0.7);
        const double q[] = {0.3, 0.5, 0.1, -0.4, 0.7, 0.9}, u[] = {1.0, -1.0, 2.0, 0.5, 0.3};
        rig *both[] = {&r, &s};
        for (int k = 0; k < 2; ++k) {
            ck_assert_int_eq(tal_state_set_q(both[k]->state, q, 6), TAL_OK);
            ck_assert_int_eq(tal_state_set_u(both[k]->state, u, 5), TAL_OK);
            rig_realize(both[k], TAL_STAGE_ACCELERATION);
        }
        for (int b = 0; b < 3; ++b) {
            const tal_body_ix at = {b + 1};
            ck_assert_int_eq(tal_body_set_mass_props(s.matter, s.state, at, &defs[b].mass), TAL_OK);
            ck_assert_int_eq(tal_body_set_X_PF(s.matter, s.state, at, &defs[b].X_PF), TAL_OK);
            ck_assert_int_eq(tal_body_set_X_BM(s.matter, s.state, at, &defs[b].X_BM), TAL_OK);
        }
        ck_assert_int_eq(tal_body_set_params(s.matter, s.state, body(2), radii, 3), TAL_OK);
        rig_realize(&s, TAL_STAGE_ACCELERATION);
        ck_assert_mem_eq(tal_state_udot(s.state), tal_state_udot(r.state), 5 * sizeof(double));
        rig_end(&r);
        rig_end(&s);
    }
}

END_TEST

START_TEST(what_is_not_physical_is_refused_by_name)
{
    rig r;
    build(&r);
    tal_mass_props mass = tal_mass_props_sphere(-1.0, 0.1);
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(ARM), &mass),
                     TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'arm'");
    ck_assert_double_eq(tal_body_mass_props(r.matter, r.state, body(ARM)).mass, 2.0);
    mass = tal_mass_props_sphere(1.0, 0.1);
    mass.com.x = TALI_NAN;
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(ARM), &mass),
                     TAL_ERR_NOT_FINITE);
    assert_pending(&r, TAL_ERR_NOT_FINITE, "'arm'");
    tal_xform X = TAL_XFORM_IDENTITY;
    X.R.y.x = 1e-3;
    ck_assert_int_eq(tal_body_set_X_PF(r.matter, r.state, body(ARM), &X), TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'arm': X_PF");
    ck_assert_int_eq(tal_body_set_X_BM(r.matter, r.state, body(ARM), &X), TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'arm': X_BM");
    const double nan_pitch = TALI_NAN;
    ck_assert_int_eq(tal_body_set_params(r.matter, r.state, body(TIP), &nan_pitch, 1),
                     TAL_ERR_NOT_FINITE);
    assert_pending(&r, TAL_ERR_NOT_FINITE, "'tip'");
    ck_assert_int_eq(tal_body_set_params(r.matter, r.state, body(TIP), NULL, 1), TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'tip': its screw has 1 parameters");
    ck_assert_int_eq(tal_body_set_params(r.matter, r.state, body(ARM), &nan_pitch, 1),
                     TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'arm': its pin has 0 parameters, not 1");
    X = TAL_XFORM_IDENTITY;
    ck_assert_int_eq(tal_body_set_X_BM(r.matter, r.state, TAL_GROUND, &X), TAL_ERR_BAD_INDEX);
    assert_pending(&r, TAL_ERR_BAD_INDEX, "Ground");
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    rig_end(&r);
}

END_TEST

// A particle stays a particle wherever M is on it; a line must stay along Mz.
START_TEST(structure_is_topology)
{
    rig r;
    build(&r);
    const tal_mass_props sphere = tal_mass_props_sphere(1.0, 0.1);
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(DOT), &sphere),
                     TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'dot' is a particle");
    const tal_xform shifted = tal_xf_from_p(tal_v3(0.3, 0.0, 0.0));
    ck_assert_int_eq(tal_body_set_X_BM(r.matter, r.state, body(DOT), &shifted), TAL_OK);
    const tal_mass_props heavier = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(DOT), &heavier), TAL_OK);

    ck_assert_int_eq(tal_body_set_X_BM(r.matter, r.state, body(ROD), &shifted), TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'rod' is a line");
    const tal_xform along = tal_xf_from_p(tal_v3(0.0, 0.0, -0.2));
    ck_assert_int_eq(tal_body_set_X_BM(r.matter, r.state, body(ROD), &along), TAL_OK);
    const tal_mass_props thick = tal_mass_props_brick(1.0, tal_v3(0.1, 0.1, 0.4));
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(ROD), &thick),
                     TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'rod' is a line");
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    // without mass the line may go elsewhere, and find its mass there
    const tal_mass_props none = TAL_MASSLESS, straight = tal_mass_props_rod(1.0, along.p);
    const tal_mass_props there = tal_mass_props_transform(&shifted, &straight);
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(ROD), &none), TAL_OK);
    ck_assert_int_eq(tal_body_set_X_BM(r.matter, r.state, body(ROD), &shifted), TAL_OK);
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(ROD), &there), TAL_OK);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    rig_end(&r);
}

END_TEST

START_TEST(broken_contracts_are_reported_and_answered)
{
    rig r;
    build(&r);
    const tal_xform X = TAL_XFORM_IDENTITY;
    const tal_mass_props mass = TAL_MASSLESS;
    const double x = 0.0;
    int n = 5;
    test_assert_breach(
        ck_assert_double_nan(tal_body_mass_props(r.matter, r.state, body(9)).inertia.yz),
        TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach(ck_assert_double_nan(tal_body_mass_props(NULL, r.state, body(1)).mass),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_double_nan(tal_body_X_PF(NULL, r.state, body(1)).p.x),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_double_nan(tal_body_X_BM(NULL, r.state, body(1)).R.x.x),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_double_nan(tal_body_X_BM(r.matter, NULL, body(1)).R.x.x),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_body_params(NULL, r.state, body(1), &n)),
                       TAL_ERR_NULL, "NULL");
    ck_assert_int_eq(n, 0);
    test_assert_breach(ck_assert_ptr_null(tal_body_params(r.matter, NULL, body(TIP), NULL)),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(1), NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_X_PF(r.matter, r.state, body(1), NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_X_BM(r.matter, r.state, body(1), NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_X_BM(NULL, r.state, body(1), &X), TAL_ERR_NULL), TAL_ERR_NULL,
        "NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_X_PF(r.matter, r.state, body(9), &X), TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_mass_props(r.matter, NULL, body(1), &mass), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_params(NULL, r.state, body(1), &x, 1), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    rig_end(&r);
}

END_TEST

// A State of another System is never written.
START_TEST(a_state_of_another_system_is_refused)
{
    rig r, s;
    build(&r);
    rig_begin(&s);
    const tal_mobod_def def = tal_mobod_def_default();
    (void)rig_add(&s, 0, "weld", &def, NULL);
    rig_finish(&s);
    const tal_xform X = TAL_XFORM_IDENTITY;
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_X_PF(r.matter, s.state, body(1), &X), TAL_ERR_WRONG_SYSTEM),
        TAL_ERR_WRONG_SYSTEM, "");
    test_assert_breach(ck_assert_double_nan(tal_body_X_PF(r.matter, s.state, body(1)).p.x),
                       TAL_ERR_WRONG_SYSTEM, "");
    test_assert_breach(ck_assert_double_nan(tal_body_q(r.matter, s.state, body(1), 0)),
                       TAL_ERR_WRONG_SYSTEM, "");
    rig_end(&r);
    rig_end(&s);
}

END_TEST

START_TEST(a_breach_names_the_function_that_was_called)
{
    rig r;
    build(&r);
    tal_state *none = NULL;
    const tal_body_ix tip = body(TIP);
    const tal_mobility mobility = {tip, 0};
    const tal_mass_props mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_xform X = TAL_XFORM_IDENTITY;
    const double pitch = 0.3;
    double low, high;
    int i;
    char name[TAL_COORDINATE_NAME_SIZE];
    test_assert_breach_is_of(tal_body_nq, r.matter, none, tip);
    test_assert_breach_is_of(tal_body_q, r.matter, none, tip, 0);
    test_assert_breach_is_of(tal_body_u, r.matter, none, tip, 0);
    test_assert_breach_is_of(tal_body_set_q, r.matter, none, tip, 0, 1.0);
    test_assert_breach_is_of(tal_body_set_u, r.matter, none, tip, 0, 1.0);
    test_assert_breach_is_of(tal_body_fit_q, r.matter, none, tip, &X);
    test_assert_breach_is_of(tal_body_set_use_angles, r.matter, none, tip, true);
    test_assert_breach_is_of(tal_body_mass_props, r.matter, none, tip);
    test_assert_breach_is_of(tal_body_set_mass_props, r.matter, none, tip, &mass);
    test_assert_breach_is_of(tal_body_X_PF, r.matter, none, tip);
    test_assert_breach_is_of(tal_body_set_X_PF, r.matter, none, tip, &X);
    test_assert_breach_is_of(tal_body_set_X_BM, r.matter, none, tip, &X);
    test_assert_breach_is_of(tal_body_params, r.matter, none, tip, &i);
    test_assert_breach_is_of(tal_body_set_params, r.matter, none, tip, &pitch, 1);
    test_assert_breach_is_of(tal_body_coordinate_name, r.matter, none, tip, 0, name);
    test_assert_breach_is_of(tal_body_range, r.matter, none, tip, 0, &low, &high);
    test_assert_breach_is_of(tal_mobility_lock_level, r.matter, none, mobility);
    test_assert_breach_is_of(tal_mobility_lock, r.matter, none, mobility, TAL_LEVEL_POSITION);
    test_assert_breach_is_of(tal_body_X_GB, r.matter, none, tip);
    test_assert_breach_is_of(tal_body_V_GB, r.matter, none, tip);
    test_assert_breach_is_of(tal_body_mass, r.matter, none, tip, NULL);
    test_assert_breach_is_of(tal_matter_poses, r.matter, none);
    test_assert_breach_is_of(tal_matter_constraint_rows, r.matter, none);
    // the same of a State that stands too low
    tal_state_invalidate(r.state, TAL_STAGE_MODEL);
    test_assert_breach_is_of(tal_body_q, r.matter, r.state, tip, 0);
    test_assert_breach_is_of(tal_body_X_GB, r.matter, r.state, tip);
    rig_end(&r);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter: parameters");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, what_was_set_is_read_back_bit_for_bit);
    tcase_add_test(theory, a_changed_state_is_that_of_a_system_built_so);
    tcase_add_test(theory, structure_is_topology);
    TCase *errors = tcase_create("errors");
    tcase_add_checked_fixture(errors, test_record_breaches, NULL);
    tcase_add_test(errors, what_is_not_physical_is_refused_by_name);
    tcase_add_test(errors, broken_contracts_are_reported_and_answered);
    tcase_add_test(errors, a_state_of_another_system_is_refused);
    tcase_add_test(errors, a_breach_names_the_function_that_was_called);
    suite_add_tcase(suite, theory);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
