// matter.c, tree.c, decoration.c, coordinate_info.c: building, and asking what was built.
#include "tree_support.h"

#include <stdio.h>

// The first failure of building must be this one, and its sentence must contain `part`.
static void assert_refused(rig *r, tal_status expected, const char *part)
{
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_system_realize_topology(r->system, &err), expected);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    tal_system_destroy(r->system);
}

static tal_mobod_def heavy(const char *name)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = name;
    def.mass = tal_mass_props_sphere(2.0, 0.5);
    return def;
}

// --- bodies ---

START_TEST(ground_is_there_from_the_start)
{
    rig r;
    rig_begin(&r);
    ck_assert_int_eq(tal_matter_num_bodies(r.matter), 1);
    ck_assert_str_eq(tal_body_name(r.matter, TAL_GROUND), "ground");
    ck_assert_str_eq(tal_body_mobilizer(r.matter, TAL_GROUND), "ground");
    ck_assert_int_eq(tal_body_parent(r.matter, TAL_GROUND).i, -1);
    ck_assert_int_eq(tal_body_nu(r.matter, TAL_GROUND), 0);
    ck_assert_ptr_eq(tal_matter_system(r.matter), r.system);
    ck_assert_int_eq(tal_matter_subsystem(r.matter).i,
                     tal_system_find_subsystem(r.system, "matter").i);
    rig_finish(&r);
    rig_realize(&r, TAL_STAGE_REPORT); // a System of Ground alone has nothing to compute
    ck_assert_int_eq(tal_state_nq(r.state), 0);
    rig_end(&r);
}

END_TEST

START_TEST(bodies_are_found_by_name_and_know_their_parents)
{
    rig r;
    rig_begin(&r);
    const tal_mobod_def upper = heavy("upper"), lower = heavy("lower"), plain = heavy(NULL);
    const tal_body_ix a = tal_matter_add_pin(r.matter, TAL_GROUND, &upper);
    const tal_body_ix b = tal_matter_add_ball(r.matter, a, &lower);
    const tal_body_ix c = tal_matter_add_weld(r.matter, b, &plain);
    const tal_body_ix d = tal_matter_add_free(r.matter, a, &plain);
    ck_assert_int_eq(tal_matter_num_bodies(r.matter), 5);
    ck_assert_int_eq(tal_matter_find_body(r.matter, "lower").i, b.i);
    ck_assert_int_eq(tal_matter_find_body(r.matter, "body3").i, c.i);
    ck_assert_int_eq(tal_matter_find_body(r.matter, "nobody").i, -1);
    ck_assert_int_eq(tal_matter_find_body(r.matter, NULL).i, -1);
    ck_assert_int_eq(tal_matter_find_body(NULL, "lower").i, -1);
    ck_assert_int_eq(tal_body_parent(r.matter, d).i, a.i);
    ck_assert_str_eq(tal_body_mobilizer(r.matter, b), "ball");
    ck_assert_int_eq(tal_body_nu(r.matter, d), 6);
    test_assert_breach(ck_assert_int_eq(tal_body_u_start(r.matter, a), -1), TAL_ERR_TOPOLOGY,
                       "upper");
    rig_finish(&r);
    ck_assert_int_eq(tal_body_u_start(r.matter, a), 0);
    ck_assert_int_eq(tal_body_u_start(r.matter, b), 1);
    ck_assert_int_eq(tal_body_u_start(r.matter, d), 4);
    rig_end(&r);
}

END_TEST

START_TEST(ten_thousand_names_are_all_found)
{
    rig r;
    rig_begin(&r);
    tal_mobod_def def = heavy(NULL);
    char name[32];
    for (int b = 1; b <= 10000; ++b) {
        (void)snprintf(name, sizeof name, "%d#%d", b % 97, b);
        def.name = name;
        ck_assert_int_eq(tal_matter_add_pin(r.matter, TAL_GROUND, &def).i, b);
    }
    for (int b = 1; b <= 10000; ++b) {
        (void)snprintf(name, sizeof name, "%d#%d", b % 97, b);
        ck_assert_int_eq(tal_matter_find_body(r.matter, name).i, b);
    }
    tal_system_destroy(r.system);
}

END_TEST

START_TEST(a_second_matter_is_refused)
{
    rig r;
    rig_begin(&r);
    ck_assert_ptr_null(tal_matter_create(r.system));
    assert_refused(&r, TAL_ERR_BAD_NAME, "has matter already");
}

END_TEST

START_TEST(questions_without_matter_are_answered)
{
    const tal_body_ix far = {7};
    rig r;
    rig_begin(&r);
    test_assert_breach(ck_assert_ptr_null(tal_matter_create(NULL)), TAL_ERR_NULL, "NULL");
    ck_assert_int_eq(tal_matter_num_bodies(NULL), -1);
    ck_assert_ptr_null(tal_matter_system(NULL));
    ck_assert_int_eq(tal_matter_subsystem(NULL).i, -1);
    test_assert_breach(ck_assert_str_eq(tal_body_name(NULL, far), "(no body)"), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert_str_eq(tal_body_name(r.matter, far), "(no body)"),
                       TAL_ERR_BAD_INDEX, "no body 7");
    test_assert_breach(ck_assert_int_eq(tal_body_parent(r.matter, far).i, -1), TAL_ERR_BAD_INDEX,
                       "no body 7");
    test_assert_breach(ck_assert_str_eq(tal_body_mobilizer(r.matter, far), "(no body)"),
                       TAL_ERR_BAD_INDEX, "no body 7");
    test_assert_breach(ck_assert_int_eq(tal_body_nu(r.matter, far), -1), TAL_ERR_BAD_INDEX,
                       "no body 7");
    test_assert_breach(ck_assert_int_eq(tal_body_u_start(r.matter, far), -1), TAL_ERR_BAD_INDEX,
                       "no body 7");
    const tal_mobod_def def = heavy("late");
    test_assert_breach(ck_assert_int_eq(tal_matter_add_pin(NULL, TAL_GROUND, &def).i, -1),
                       TAL_ERR_NULL, "NULL");
    rig_finish(&r);
    test_assert_breach(ck_assert_int_eq(tal_matter_add_pin(r.matter, TAL_GROUND, &def).i, -1),
                       TAL_ERR_TOPOLOGY, "is realized");
    rig_end(&r);
}

END_TEST

// --- what is refused while building ---

typedef struct wrong_body {
    tal_status status;
    const char *part;
    void (*spoil)(tal_mobod_def *def);
} wrong_body;

static void negative_mass(tal_mobod_def *def)
{
    def->mass.mass = -1.0;
}

static void nan_mass(tal_mobod_def *def)
{
    def->mass.mass = TALI_NAN;
}

static void infinite_com(tal_mobod_def *def)
{
    def->mass.com.y = HUGE_VAL;
}

static void no_triangle(tal_mobod_def *def)
{
    def->mass.inertia.xx = 100.0;
}

static void skew_frame(tal_mobod_def *def)
{
    def->X_PF.R.x.y = 0.1;
}

static void mirrored_frame(tal_mobod_def *def)
{
    def->X_BM.R.z = tal_v3(0.0, 0.0, -1.0);
}

static void nan_frame(tal_mobod_def *def)
{
    def->X_BM.p.z = TALI_NAN;
}

static void heavy_particle(tal_mobod_def *def)
{
    def->structure = TAL_BODY_PARTICLE;
}

static void thick_line(tal_mobod_def *def)
{
    def->structure = TAL_BODY_LINE;
}

static void heavy_nothing(tal_mobod_def *def)
{
    def->structure = TAL_BODY_MASSLESS;
}

static void odd_structure(tal_mobod_def *def)
{
    def->structure = (tal_body_structure)9;
}

static void odd_direction(tal_mobod_def *def)
{
    def->direction = (tal_direction)5;
}

static void taken_name(tal_mobod_def *def)
{
    def->name = "base";
}

static void empty_name(tal_mobod_def *def)
{
    def->name = "";
}

static void blank_name(tal_mobod_def *def)
{
    def->name = " knee";
}

static void tab_name(tal_mobod_def *def)
{
    def->name = "left\tknee";
}

static void long_name(tal_mobod_def *def)
{
    def->name = "a name of more than sixty-three characters is more than anybody can remember";
}

static const wrong_body wrong_bodies[] = {
    {TAL_ERR_BAD_VALUE, "'bad'", negative_mass},
    {TAL_ERR_NOT_FINITE, "'bad'", nan_mass},
    {TAL_ERR_NOT_FINITE, "'bad'", infinite_com},
    {TAL_ERR_BAD_VALUE, "'bad'", no_triangle},
    {TAL_ERR_BAD_VALUE, "'bad': X_PF", skew_frame},
    {TAL_ERR_BAD_VALUE, "'bad': X_BM", mirrored_frame},
    {TAL_ERR_BAD_VALUE, "'bad': X_BM", nan_frame},
    {TAL_ERR_BAD_VALUE, "'bad' is a particle", heavy_particle},
    {TAL_ERR_BAD_VALUE, "'bad' is a line", thick_line},
    {TAL_ERR_BAD_VALUE, "'bad' is massless", heavy_nothing},
    {TAL_ERR_BAD_VALUE, "'bad' is of an unknown structure", odd_structure},
    {TAL_ERR_BAD_VALUE, "no direction 5", odd_direction},
    {TAL_ERR_BAD_NAME, "'base' already", taken_name},
    {TAL_ERR_BAD_NAME, "this one has 0", empty_name},
    {TAL_ERR_BAD_NAME, "body ' knee': a name cannot begin or end with blanks", blank_name},
    {TAL_ERR_BAD_NAME, "a name cannot have control characters", tab_name},
    {TAL_ERR_BAD_NAME, "1 to 63", long_name}};

START_TEST(a_body_that_cannot_be_is_refused_by_name)
{
    const wrong_body *wrong = &wrong_bodies[_i];
    rig r;
    rig_begin(&r);
    const tal_mobod_def base = heavy("base");
    (void)tal_matter_add_pin(r.matter, TAL_GROUND, &base);
    tal_mobod_def def = heavy("bad");
    wrong->spoil(&def);
    ck_assert_int_eq(tal_matter_add_pin(r.matter, TAL_GROUND, &def).i, -1);

    // the first failure is kept, and later adds do nothing
    const tal_mobod_def fine = heavy("fine");
    ck_assert_int_eq(tal_matter_add_pin(r.matter, TAL_GROUND, &fine).i, -1);
    ck_assert_int_eq(tal_matter_num_bodies(r.matter), 2);
    ck_assert_int_eq(tal_body_name_coordinate(r.matter, (tal_body_ix){1}, 0, "x"), wrong->status);
    assert_refused(&r, wrong->status, wrong->part);
}

END_TEST

START_TEST(a_parent_must_exist)
{
    rig r;
    rig_begin(&r);
    const tal_mobod_def def = heavy("orphan");
    ck_assert_int_eq(tal_matter_add_pin(r.matter, (tal_body_ix){3}, &def).i, -1);
    assert_refused(&r, TAL_ERR_BAD_INDEX, "'orphan': its parent, body 3");
}

END_TEST

START_TEST(a_body_needs_a_def)
{
    rig r;
    rig_begin(&r);
    ck_assert_int_eq(tal_matter_add_pin(r.matter, TAL_GROUND, NULL).i, -1);
    assert_refused(&r, TAL_ERR_NULL, "its def is NULL");
}

END_TEST

START_TEST(structures_take_the_mass_that_is_theirs)
{
    rig r;
    rig_begin(&r);
    tal_mobod_def def = tal_mobod_def_default();
    def.structure = TAL_BODY_PARTICLE;
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    ck_assert_int_eq(tal_matter_add_translation(r.matter, TAL_GROUND, &def).i, 1);
    def.structure = TAL_BODY_LINE; // a rod along Mz, wherever M is on it
    def.mass = tal_mass_props_rod(2.0, tal_v3(0.0, 0.0, 0.5));
    def.X_BM = tal_xf_from_p(tal_v3(0.0, 0.0, 0.3));
    ck_assert_int_eq(tal_matter_add_free_line(r.matter, TAL_GROUND, &def).i, 2);
    def.structure = TAL_BODY_MASSLESS;
    def.mass = TAL_MASSLESS;
    ck_assert_int_eq(tal_matter_add_weld(r.matter, TAL_GROUND, &def).i, 3);
    rig_finish(&r);
    rig_realize(&r, TAL_STAGE_ACCELERATION); // neither needs the inertia it does not have
    rig_end(&r);
}

END_TEST

// --- tables and their parameters ---

static int destroyed;

static void count_destroy(void *self)
{
    (void)self;
    ++destroyed;
}

static tal_status at_zero(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf_from_p(tal_v3(arg->q[0], arg->params[17], 0.0));
    return TAL_OK;
}

static tal_status along_x(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    (void)arg;
    H_FM[0] = tal_sv(TAL_VEC3_ZERO, tal_v3(1.0, 0.0, 0.0));
    return TAL_OK;
}

static tal_status no_negatives(const void *self, const double params[], tal_error *err)
{
    (void)self;
    if (params[0] >= 0.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "parameter 0 is %g", params[0]);
}

static const tal_mobilizer_ops custom = {.size = sizeof custom,
                                         .name = "custom",
                                         .tag = 77,
                                         .nu = 1,
                                         .nq = 1,
                                         .nq_angles = 1,
                                         .num_params = 20,
                                         .calc_X_FM = at_zero,
                                         .calc_H_FM = along_x,
                                         .check_params = no_negatives,
                                         .destroy = count_destroy};

START_TEST(null_parameters_are_zeros_and_the_table_is_destroyed_once)
{
    rig r;
    rig_begin(&r);
    destroyed = 0;
    const tal_mobod_def def = heavy("custom");
    (void)tal_matter_add_mobilizer(r.matter, TAL_GROUND, &def, &custom, NULL, NULL);
    rig_finish(&r);
    int n = 0;
    const double *params = tal_body_params(r.matter, r.state, (tal_body_ix){1}, &n);
    ck_assert_int_eq(n, 20);
    for (int i = 0; i < 20; ++i) {
        ck_assert_double_eq(params[i], 0.0);
    }
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(destroyed, 0);
    rig_end(&r);
    ck_assert_int_eq(destroyed, 1);
}

END_TEST

START_TEST(a_refused_mobilizer_is_destroyed_at_once)
{
    rig r;
    rig_begin(&r);
    destroyed = 0;
    const tal_mobod_def def = heavy("custom");
    const double params[20] = {-1.0};
    (void)tal_matter_add_mobilizer(r.matter, TAL_GROUND, &def, &custom, NULL, params);
    ck_assert_int_eq(destroyed, 1);
    assert_refused(&r, TAL_ERR_BAD_VALUE, "'custom': parameter 0 is -1");
    ck_assert_int_eq(destroyed, 1);
}

END_TEST

START_TEST(a_parameter_must_be_a_number)
{
    rig r;
    rig_begin(&r);
    const tal_mobod_def def = heavy("screw");
    (void)tal_matter_add_screw(r.matter, TAL_GROUND, &def, TALI_NAN);
    assert_refused(&r, TAL_ERR_NOT_FINITE, "'screw'");
}

END_TEST

START_TEST(a_mobilizer_needs_a_table)
{
    rig r;
    rig_begin(&r);
    const tal_mobod_def def = heavy("bare");
    (void)tal_matter_add_mobilizer(r.matter, TAL_GROUND, &def, NULL, NULL, NULL);
    assert_refused(&r, TAL_ERR_BAD_VALUE, "'bare': a mobilizer needs a table");

    rig_begin(&r);
    tal_mobilizer_ops lame = custom;
    lame.calc_H_FM = NULL;
    (void)tal_matter_add_mobilizer(r.matter, TAL_GROUND, &def, &lame, NULL, NULL);
    assert_refused(&r, TAL_ERR_NULL, "'bare': mobilizer 'custom' has no calc_H_FM");
}

END_TEST

START_TEST(a_shorter_table_ends_with_nothing)
{
    rig r;
    rig_begin(&r);
    tal_mobilizer_ops older = custom;
    older.size = offsetof(tal_mobilizer_ops, check_params);
    const tal_mobod_def def = heavy("older");
    destroyed = 0;
    (void)tal_matter_add_mobilizer(r.matter, TAL_GROUND, &def, &older, NULL, NULL);
    rig_finish(&r);
    rig_end(&r);
    ck_assert_int_eq(destroyed, 0);
}

END_TEST

// --- identity ---

static uint64_t structure_of(const char *kind, int parent, tal_direction direction)
{
    rig r;
    rig_begin(&r);
    tal_mobod_def def = heavy(NULL);
    (void)rig_add(&r, 0, "pin", &def, NULL);
    def.direction = direction;
    (void)rig_add(&r, parent, kind, &def, NULL);
    rig_finish(&r);
    const uint64_t hash = tal_system_structure_hash(r.system);
    rig_end(&r);
    return hash;
}

START_TEST(trees_that_differ_have_states_that_do_not_mix)
{
    const uint64_t same = structure_of("pin", 1, TAL_FORWARD);
    ck_assert_uint_eq(same, structure_of("pin", 1, TAL_FORWARD));
    ck_assert_uint_ne(same, structure_of("slider", 1, TAL_FORWARD));
    ck_assert_uint_ne(same, structure_of("pin", 0, TAL_FORWARD));
    ck_assert_uint_ne(same, structure_of("pin", 1, TAL_REVERSE));
}

END_TEST

// --- decorations ---

// A chain with a branch that was built depth first: speeds of subtrees are neighbors already. The
// same tree built in another order: its places are those of the first one.
START_TEST(subtrees_have_neighboring_places)
{
    rig r;
    rig_begin(&r);
    const tal_mobod_def def = heavy(NULL);
    const tal_body_ix a = tal_matter_add_ball(r.matter, TAL_GROUND, &def);
    const tal_body_ix b = tal_matter_add_pin(r.matter, a, &def);
    (void)tal_matter_add_slider(r.matter, b, &def);
    (void)tal_matter_add_free(r.matter, a, &def);
    (void)tal_matter_add_pin(r.matter, TAL_GROUND, &def);
    rig_finish(&r);
    ck_assert(r.matter->tree.is_depth_first);
    for (int i = 1; i < r.matter->tree.num_bodies; ++i) {
        ck_assert_int_eq(r.matter->tree.place[i], r.matter->tree.u0[i]);
    }
    rig_end(&r);

    rig_begin(&r);
    const tal_body_ix a2 = tal_matter_add_ball(r.matter, TAL_GROUND, &def);
    (void)tal_matter_add_pin(r.matter, TAL_GROUND, &def); // between a and what is on it
    const tal_body_ix b2 = tal_matter_add_pin(r.matter, a2, &def);
    (void)tal_matter_add_free(r.matter, a2, &def);
    (void)tal_matter_add_slider(r.matter, b2, &def);
    rig_finish(&r);
    ck_assert(!r.matter->tree.is_depth_first);
    const int place[] = {0, 0, 11, 3, 5, 4}, span[] = {12, 11, 1, 2, 6, 1};
    for (int i = 1; i < r.matter->tree.num_bodies; ++i) {
        ck_assert_int_eq(r.matter->tree.place[i], place[i]);
        ck_assert_int_eq(r.matter->tree.span[i], span[i]);
    }
    rig_end(&r);
}

END_TEST

START_TEST(decorations_are_kept_in_order)
{
    rig r;
    rig_begin(&r);
    const tal_mobod_def def = heavy("bob");
    const tal_body_ix bob = tal_matter_add_pin(r.matter, TAL_GROUND, &def);
    char path[] = "bob.obj";
    tal_decoration all[] = {tal_decoration_sphere(0.1),
                            tal_decoration_brick(tal_v3(1.0, 2.0, 3.0)),
                            tal_decoration_cylinder(0.2, 0.7),
                            tal_decoration_ellipsoid(tal_v3(0.1, 0.2, 0.3)),
                            tal_decoration_line(tal_v3(1.0, 0.0, 0.0), tal_v3(1.0, 1.0, 0.0)),
                            tal_decoration_mesh(path),
                            tal_decoration_text("bob")};
    all[0].color = tal_v3(1.0, 0.5, 0.0);
    all[0].opacity = 0.3;
    all[0].scale = 2.0;
    for (int i = 0; i < 7; ++i) {
        ck_assert_int_eq(
            tal_matter_add_decoration(r.matter, i % 2 == 0 ? bob : TAL_GROUND, &all[i]), i);
    }
    path[0] = 'x'; // the text is a copy
    rig_finish(&r);

    ck_assert_int_eq(tal_matter_num_decorations(r.matter), 7);
    for (int i = 0; i < 7; ++i) {
        const tal_decoration *d = tal_matter_decoration(r.matter, i);
        ck_assert_int_eq(d->kind, i);
        ck_assert_int_eq(d->body.i, i % 2 == 0 ? bob.i : 0);
        test_assert_v3_near(d->size, all[i].size, 0.0 + DBL_MIN);
        if (i > 0) ck_assert_double_eq(d->opacity, 1.0);
    }
    ck_assert_double_eq(tal_matter_decoration(r.matter, 0)->opacity, 0.3);
    ck_assert_double_eq(tal_matter_decoration(r.matter, 4)->end.y, 1.0);
    ck_assert_double_eq(tal_matter_decoration(r.matter, 4)->end.x, 0.0);
    ck_assert_str_eq(tal_matter_decoration(r.matter, 5)->text, "bob.obj");
    ck_assert_str_eq(tal_matter_decoration(r.matter, 6)->text, "bob");
    ck_assert_int_eq(tal_matter_num_decorations(NULL), -1);
    test_assert_breach(ck_assert_ptr_null(tal_matter_decoration(NULL, 0)), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_matter_decoration(r.matter, 7)), TAL_ERR_BAD_INDEX,
                       "no decoration 7");
    test_assert_breach(ck_assert_int_eq(tal_matter_add_decoration(r.matter, bob, &all[0]), -1),
                       TAL_ERR_TOPOLOGY, "is realized");
    rig_end(&r);
}

END_TEST

static void refuse_decoration(tal_decoration d, int body, tal_status st, const char *part)
{
    rig r;
    rig_begin(&r);
    ck_assert_int_eq(tal_matter_add_decoration(r.matter, (tal_body_ix){body}, &d), -1);
    assert_refused(&r, st, part);
}

START_TEST(decorations_that_cannot_be_drawn_are_refused)
{
    const tal_decoration ball = tal_decoration_sphere(0.1);
    refuse_decoration(ball, 4, TAL_ERR_BAD_INDEX, "body 4");
    refuse_decoration(tal_decoration_sphere(-1.0), 0, TAL_ERR_BAD_VALUE, "size 0");
    refuse_decoration(tal_decoration_cylinder(1.0, TALI_NAN), 0, TAL_ERR_BAD_VALUE, "size 1");
    refuse_decoration(tal_decoration_mesh(NULL), 0, TAL_ERR_NULL, "no mesh file");
    refuse_decoration(tal_decoration_text(""), 0, TAL_ERR_NULL, "no text");
    tal_decoration d = ball;
    d.kind = (tal_decoration_kind)99;
    refuse_decoration(d, 0, TAL_ERR_BAD_VALUE, "kind 99");
    d = ball;
    d.color.y = 1.5;
    refuse_decoration(d, 0, TAL_ERR_BAD_VALUE, "color");
    d = ball;
    d.opacity = TALI_NAN;
    refuse_decoration(d, 0, TAL_ERR_BAD_VALUE, "opacity");
    d = ball;
    d.scale = 0.0;
    refuse_decoration(d, 0, TAL_ERR_BAD_VALUE, "scale");
    d = ball;
    d.X_BD.R.x.x = 2.0;
    refuse_decoration(d, 0, TAL_ERR_BAD_VALUE, "rotation");
    rig r;
    rig_begin(&r);
    ck_assert_int_eq(tal_matter_add_decoration(r.matter, TAL_GROUND, NULL), -1);
    assert_refused(&r, TAL_ERR_NULL, "NULL");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter: model");
    TCase *theory = tcase_create("theory");
    tcase_add_checked_fixture(theory, test_record_breaches, NULL);
    tcase_add_test(theory, ground_is_there_from_the_start);
    tcase_add_test(theory, bodies_are_found_by_name_and_know_their_parents);
    tcase_add_test(theory, ten_thousand_names_are_all_found);
    tcase_add_test(theory, structures_take_the_mass_that_is_theirs);
    tcase_add_test(theory, null_parameters_are_zeros_and_the_table_is_destroyed_once);
    tcase_add_test(theory, a_shorter_table_ends_with_nothing);
    tcase_add_test(theory, trees_that_differ_have_states_that_do_not_mix);
    tcase_add_test(theory, subtrees_have_neighboring_places);
    tcase_add_test(theory, decorations_are_kept_in_order);
    TCase *errors = tcase_create("errors");
    tcase_add_checked_fixture(errors, test_record_breaches, NULL);
    tcase_add_test(errors, a_second_matter_is_refused);
    tcase_add_test(errors, questions_without_matter_are_answered);
    tcase_add_loop_test(errors, a_body_that_cannot_be_is_refused_by_name, 0,
                        (int)(sizeof wrong_bodies / sizeof wrong_bodies[0]));
    tcase_add_test(errors, a_parent_must_exist);
    tcase_add_test(errors, a_body_needs_a_def);
    tcase_add_test(errors, a_refused_mobilizer_is_destroyed_at_once);
    tcase_add_test(errors, a_parameter_must_be_a_number);
    tcase_add_test(errors, a_mobilizer_needs_a_table);
    tcase_add_test(errors, decorations_that_cannot_be_drawn_are_refused);
    suite_add_tcase(suite, theory);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
