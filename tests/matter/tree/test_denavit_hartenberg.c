// Tests of matter/src/tree/denavit_hartenberg.c: RBDA sec. 4.3, in both orders.
#include "talus_test.h"

#include <talus/matter.h>

#include <math.h>

enum {
    MOST = 9
};

typedef struct robot {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
} robot;

static robot begin(void)
{
    robot r = {.system = tal_system_create(NULL)};
    r.matter = tal_matter_create(r.system);
    return r;
}

static void finish(robot *r)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(r->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(r->system, &r->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(r->system, r->state, TAL_STAGE_INSTANCE), TAL_OK);
}

static void end(robot *r)
{
    tal_state_destroy(r->state);
    tal_system_destroy(r->system);
}

static robot from_table(const tal_dh_def *def)
{
    robot r = begin();
    tal_error err = {0};
    ck_assert_msg(tal_matter_add_dh(r.matter, TAL_GROUND, def, NULL, &err) == TAL_OK, "%s",
                  err.message);
    finish(&r);
    return r;
}

static tal_body_ix tip_of(const robot *r)
{
    return (tal_body_ix){tal_matter_num_bodies(r->matter) - 1};
}

static tal_xform pose(const robot *r, const double q[])
{
    ck_assert_int_eq(tal_state_set_q(r->state, q, tal_state_nq(r->state)), TAL_OK);
    ck_assert_int_eq(tal_system_realize(r->system, r->state, TAL_STAGE_POSITION), TAL_OK);
    return tal_body_X_GB(r->matter, r->state, tip_of(r));
}

static void assert_same_pose(tal_xform a, tal_xform b, double tolerance)
{
    test_assert_m3_near(a.R, b.R, tolerance);
    test_assert_v3_near(a.p, b.p, tolerance);
}

// The product of a table, written down once more.
static tal_xform product(const tal_dh_def *def, const double q[])
{
    tal_xform X = def->X_PD;
    for (int i = 0, k = 0; i < def->num_rows; ++i) {
        const tal_dh_row *row = &def->rows[i];
        const double first = q[k++];
        double turn = first, way = 0.0;
        if (row->joint == TAL_DH_PRISMATIC) turn = 0.0, way = first;
        if (row->joint == TAL_DH_HELICAL) way = row->pitch * first;
        if (row->joint == TAL_DH_CYLINDRICAL) way = q[k++];
        const double ct = cos(row->theta + turn), st = sin(row->theta + turn);
        const double ca = cos(row->alpha), sa = sin(row->alpha), d = row->d + way;
        const tal_mat3 Rz = {{ct, st, 0}, {-st, ct, 0}, {0, 0, 1}};
        const tal_mat3 Rx = {{1, 0, 0}, {0, ca, sa}, {0, -sa, ca}};
        const tal_xform Z = tal_xf(Rz, tal_v3(0, 0, d)), A = tal_xf(Rx, tal_v3(row->a, 0, 0));
        const bool is_standard = def->order == TAL_DH_STANDARD;
        X = tal_xf_mul(X, is_standard ? tal_xf_mul(Z, A) : tal_xf_mul(A, Z));
    }
    return X;
}

static void random_rows(test_rng *rng, tal_dh_row rows[], int n)
{
    for (int i = 0; i < n; ++i) {
        rows[i] = (tal_dh_row){.a = test_random_uniform(rng, -1.0, 1.0),
                               .alpha = test_random_uniform(rng, -3.0, 3.0),
                               .d = test_random_uniform(rng, -1.0, 1.0),
                               .theta = test_random_uniform(rng, -3.0, 3.0),
                               .joint = (tal_dh_joint)(test_random_bits(rng) % 4),
                               .pitch = 0.2};
        // axes that are parallel, that meet, and that are the same
        if (test_random_bits(rng) % 3 == 0) rows[i].alpha = 0.0;
        if (test_random_bits(rng) % 3 == 0) rows[i].a = 0.0;
    }
}

static void random_q(test_rng *rng, double q[], int n)
{
    for (int i = 0; i < n; ++i) {
        q[i] = test_random_uniform(rng, -3.0, 3.0);
    }
}

// Nine products of numbers up to 10: 1e-14.
START_TEST(a_table_makes_the_poses_of_its_product)
{
    test_rng rng = test_rng_seed(43);
    for (int round = 0; round < 100; ++round) {
        tal_dh_row rows[MOST];
        tal_dh_def def = tal_dh_def_default();
        def.order = round % 2 == 0 ? TAL_DH_STANDARD : TAL_DH_MODIFIED;
        def.rows = rows;
        def.num_rows = 1 + round % MOST;
        def.X_PD = test_random_xform(&rng);
        random_rows(&rng, rows, def.num_rows);
        robot r = from_table(&def);
        double q[2 * MOST];
        random_q(&rng, q, 2 * MOST);
        assert_same_pose(pose(&r, q), product(&def, q), 1e-13);
        end(&r);
    }
}

END_TEST

// To a table and to bodies again: the same poses, whichever order. Feet of normals are as far away
// as axes are skew: ten times 1e-13.
START_TEST(a_chain_has_a_table_with_the_same_poses)
{
    test_rng rng = test_rng_seed(44);
    for (int round = 0; round < 200; ++round) {
        tal_dh_row rows[MOST], found[2 * MOST];
        tal_dh_def def = tal_dh_def_default();
        def.order = round % 2 == 0 ? TAL_DH_STANDARD : TAL_DH_MODIFIED;
        def.rows = rows;
        def.num_rows = 1 + round % MOST;
        def.X_PD = test_random_xform(&rng);
        random_rows(&rng, rows, def.num_rows);
        robot r = from_table(&def);
        for (int order = 0; order < 2; ++order) {
            tal_dh_chain chain;
            ck_assert_int_eq(tal_matter_calc_dh(r.matter, r.state, TAL_GROUND, tip_of(&r),
                                                (tal_dh_order)order, found, &chain, NULL),
                             TAL_OK);
            ck_assert_int_eq(chain.num_rows, def.num_rows);
            tal_dh_def again = tal_dh_def_default();
            again.order = (tal_dh_order)order;
            again.rows = found;
            again.num_rows = chain.num_rows;
            again.X_PD = chain.X_PD;
            double q[2 * MOST];
            for (int k = 0; k < 3; ++k) {
                random_q(&rng, q, 2 * MOST);
                assert_same_pose(tal_xf_mul(product(&again, q), chain.X_DB), pose(&r, q), 1e-12);
            }
        }
        end(&r);
    }
}

END_TEST

// Pins with any frames, some after welds: a table of four numbers for each joint has no room for
// more, besides six for the base; at q = 0 one end of it is empty.
// Inventory of RBDA: 4.13.
START_TEST(any_chain_of_pins_has_a_table_of_4_n_and_6_numbers)
{
    test_rng rng = test_rng_seed(45);
    for (int round = 0; round < 50; ++round) {
        robot r = begin();
        tal_body_ix body = TAL_GROUND;
        tal_mobod_def link = tal_mobod_def_default();
        link.mass.mass = 1.0;
        link.mass.inertia = tal_s3_diag(1.0, 1.0, 1.0);
        const int n = 2 + round % 6;
        for (int i = 0; i < n; ++i) {
            link.X_PF = test_random_xform(&rng);
            link.X_BM = test_random_xform(&rng);
            if (i % 3 == 1) body = tal_matter_add_weld(r.matter, body, &link);
            body = i % 4 == 3 ? tal_matter_add_slider(r.matter, body, &link)
                              : tal_matter_add_pin(r.matter, body, &link);
        }
        finish(&r);
        tal_dh_row rows[2 * MOST];
        tal_dh_chain chain;
        tal_dh_def def = tal_dh_def_default();
        def.order = (tal_dh_order)(round % 2);
        ck_assert_int_eq(
            tal_matter_calc_dh(r.matter, r.state, TAL_GROUND, body, def.order, rows, &chain, NULL),
            TAL_OK);
        ck_assert_int_eq(chain.num_rows, n);
        const tal_dh_row *empty = &rows[def.order == TAL_DH_MODIFIED ? 0 : n - 1];
        const double rest[] = {empty->a, empty->alpha, empty->d, empty->theta};
        ck_assert_double_lt(test_largest(rest, 4), 1e-12);
        for (int i = 0; i < n; ++i) {
            ck_assert_int_eq(rows[i].joint, i % 4 == 3 ? TAL_DH_PRISMATIC : TAL_DH_REVOLUTE);
        }
        def.rows = rows;
        def.num_rows = n;
        def.X_PD = chain.X_PD;
        double q[MOST];
        random_q(&rng, q, MOST);
        // the feet of skew axes: up to some hundred meters away
        assert_same_pose(tal_xf_mul(product(&def, q), chain.X_DB), pose(&r, q), 1e-10);
        end(&r);
    }
}

END_TEST

// The arm of a PUMA 560, in Craig's order (meters): where its wrist is with all angles zero.
START_TEST(a_puma_stands_as_in_its_table)
{
    static const tal_dh_row puma[] = {{.theta = 0.0},
                                      {.alpha = -0.5 * TAL_PI},
                                      {.a = 0.4318, .d = 0.1491},
                                      {.a = -0.0203, .alpha = -0.5 * TAL_PI, .d = 0.4331},
                                      {.alpha = 0.5 * TAL_PI},
                                      {.alpha = -0.5 * TAL_PI}};
    static const char *const names[] = {"waist", "shoulder", "elbow", "roll", "pitch", "yaw"};
    const tal_mass_props masses[6] = {
        tal_mass_props_sphere(1.0, 0.1), tal_mass_props_sphere(1.0, 0.1),
        tal_mass_props_sphere(1.0, 0.1), tal_mass_props_sphere(1.0, 0.1),
        tal_mass_props_sphere(1.0, 0.1), tal_mass_props_sphere(1.0, 0.1)};
    robot r = begin();
    tal_dh_def def = tal_dh_def_default();
    tal_body_ix bodies[6];
    def.rows = puma;
    def.num_rows = 6;
    def.names = names;
    def.mass = masses;
    ck_assert_int_eq(tal_matter_add_dh(r.matter, TAL_GROUND, &def, bodies, NULL), TAL_OK);
    finish(&r);
    ck_assert_str_eq(tal_body_name(r.matter, bodies[2]), "elbow");
    ck_assert_double_eq(tal_body_mass_props(r.matter, r.state, bodies[5]).mass, 1.0);
    const double q[6] = {0.0};
    const tal_xform X = pose(&r, q);
    test_assert_v3_near(X.p, tal_v3(0.4318 - 0.0203, 0.1491, -0.4331), 1e-15);
    end(&r);
}

END_TEST

START_TEST(bad_tables_and_chains_are_refused_by_name)
{
    robot r = begin();
    tal_error err = {0};
    tal_dh_row row = {.a = (double)NAN};
    tal_dh_def def = tal_dh_def_default();
    def.rows = &row;
    def.num_rows = 1;
    ck_assert_int_eq(tal_matter_add_dh(r.matter, TAL_GROUND, &def, NULL, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "row 0"));
    row = (tal_dh_row){.joint = (tal_dh_joint)7};
    ck_assert_int_eq(tal_matter_add_dh(r.matter, TAL_GROUND, &def, NULL, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "kind 7"));
    ck_assert_int_eq(tal_matter_num_bodies(r.matter), 1);

    tal_mobod_def link = tal_mobod_def_default();
    link.name = "hip";
    const tal_body_ix hip = tal_matter_add_ball(r.matter, TAL_GROUND, &link);
    link.name = "knee";
    const tal_body_ix knee = tal_matter_add_pin(r.matter, hip, &link);
    link.name = "back";
    link.direction = TAL_REVERSE;
    link.mass = tal_mass_props_sphere(1.0, 1.0);
    const tal_body_ix back = tal_matter_add_pin(r.matter, knee, &link);
    finish(&r);
    tal_dh_row rows[4];
    tal_dh_chain chain;
    ck_assert_int_eq(tal_matter_calc_dh(r.matter, r.state, TAL_GROUND, knee, TAL_DH_MODIFIED, rows,
                                        &chain, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "'hip'"));
    ck_assert_int_eq(
        tal_matter_calc_dh(r.matter, r.state, knee, back, TAL_DH_MODIFIED, rows, &chain, &err),
        TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "'back' has in reverse"));
    ck_assert_int_eq(
        tal_matter_calc_dh(r.matter, r.state, back, knee, TAL_DH_MODIFIED, rows, &chain, &err),
        TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "no chain leads"));
    ck_assert_int_eq(
        tal_matter_calc_dh(r.matter, r.state, hip, knee, TAL_DH_MODIFIED, rows, &chain, &err),
        TAL_OK);
    ck_assert_int_eq(chain.num_rows, 1);
    end(&r);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/denavit_hartenberg");
    TCase *tests = tcase_create("tables");
    tcase_add_test(tests, a_table_makes_the_poses_of_its_product);
    tcase_add_test(tests, a_chain_has_a_table_with_the_same_poses);
    tcase_add_test(tests, any_chain_of_pins_has_a_table_of_4_n_and_6_numbers);
    tcase_add_test(tests, a_puma_stands_as_in_its_table);
    tcase_add_test(tests, bad_tables_and_chains_are_refused_by_name);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
