// io/src/scene/scene_touch.c: where rigid bodies touch.
#include "scene/scene_internal.h"
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdlib.h>

enum {
    KINDS = 9,
    SPHERES = 3, // the kind of two spheres
    POSES = 20
};

// Two free bodies with one contact of every kind between them.
typedef struct pair {
    tal_model model;
    tal_body_ix bodies[2];
    tal_constraint_ix contacts[KINDS];
    tal_vec3 center; // of the first sphere of two, on the first body
} pair;

static void add_contacts(pair *it, test_rng *rng)
{
    tal_matter *const matter = it->model.matter;
    tal_constraint_def def = tal_constraint_def_default();
    def.bodies[0] = it->bodies[0];
    def.bodies[1] = it->bodies[1];
    const tal_xform plane = test_random_xform(rng), edge = test_random_xform(rng);
    const tal_vec3 p = test_random_vec3(rng), q = test_random_vec3(rng),
                   axis = test_random_unit(rng);
    int n = 0;
    it->center = p;
    it->contacts[n++] = tal_constraint_add_point_on_plane_contact(matter, &def, &plane, p);
    for (int k = 0; k < 2; ++k) {
        const bool rolls = k == 1;
        it->contacts[n++] =
            tal_constraint_add_sphere_on_plane_contact(matter, &def, &plane, p, 0.3, rolls);
        it->contacts[n++] =
            tal_constraint_add_disk_on_plane_contact(matter, &def, &plane, p, axis, 0.4, rolls);
        it->contacts[n++] =
            tal_constraint_add_sphere_on_sphere_contact(matter, &def, p, 0.2, q, 0.5, rolls);
        it->contacts[n++] =
            tal_constraint_add_line_on_line_contact(matter, &def, &plane, &edge, rolls);
    }
    ck_assert_int_eq(n, KINDS);
}

static tal_model begin_model(void)
{
    tal_model model = {.system = tal_system_create(NULL)};
    model.matter = tal_matter_create(model.system);
    model.forces = tal_forces_create(model.system, model.matter);
    return model;
}

static void end_model(tal_model *model)
{
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_system_realize_topology(model->system, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(model->system, &model->state, NULL), TAL_OK);
}

static pair make_pair(test_rng *rng)
{
    pair it = {.model = begin_model()};
    for (int k = 0; k < 2; ++k) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = test_random_mass_props(rng);
        def.X_BM = test_random_xform(rng);
        it.bodies[k] = tal_matter_add_free(it.model.matter, TAL_GROUND, &def);
    }
    add_contacts(&it, rng);
    end_model(&it.model);
    return it;
}

static tal_scene *make_scene(const tal_model *model)
{
    tal_scene *scene = NULL;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_scene_create(model, NULL, &scene, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return scene;
}

static void set_random_q(tal_scene *scene, test_rng *rng)
{
    double *const q = tal_state_upd_q(scene->state);
    for (int i = 0; i < tal_state_nq(scene->state); ++i) {
        q[i] = test_random_uniform(rng, -1.0, 1.0);
    }
    ck_assert_int_eq(tal_system_realize(scene->model.system, scene->state, TAL_STAGE_POSITION),
                     TAL_OK);
}

// The force of the first multiplier acts at the point: its moment about Bo is (p - Bo) x f. All
// lengths are about 1: round-off is a few times 2e-16, amplified at most by 1 / s2 of two lines,
// which these seeds keep above 1e-3.
static void check_point(const pair *it, tal_scene *scene, int contact)
{
    const tal_matter *const matter = it->model.matter;
    const tal_constraint_ix ix = it->contacts[contact];
    tal_vec3 p = TAL_VEC3_ZERO;
    tal_spatial_vec F[3];
    double f[12], lambda[64] = {0};
    ck_assert(tali_scene_touch_point(scene, ix, &p));
    lambda[tal_constraint_rows_of(matter, scene->state, ix).p0] = 1.0;
    ck_assert_int_eq(tal_matter_calc_constraint_forces(matter, scene->state, lambda, ix, F, f),
                     TAL_OK);
    const tal_spatial_vec on_first = F[it->bodies[0].i];
    const tal_vec3 Bo = tal_body_X_GB(matter, scene->state, it->bodies[0]).p;
    ck_assert_double_gt(tal_v3_norm(on_first.v), 0.5);
    const tal_vec3 moment = tal_v3_cross(tal_v3_sub(p, Bo), on_first.v);
    ck_assert_double_le(tal_v3_norm(tal_v3_sub(moment, on_first.w)), 1e-12);
}

// Forces between spheres act along a line: the point on it is on the first one.
static void check_sphere(const pair *it, tal_scene *scene)
{
    tal_vec3 p = TAL_VEC3_ZERO;
    const tal_xform X_GB = tal_body_X_GB(it->model.matter, scene->state, it->bodies[0]);
    ck_assert(tali_scene_touch_point(scene, it->contacts[SPHERES], &p));
    const double distance = tal_v3_norm(tal_v3_sub(p, tal_xf_apply(X_GB, it->center)));
    ck_assert_double_eq_tol(distance, 0.2, 1e-14);
}

START_TEST(contact_forces_act_where_bodies_touch)
{
    test_rng rng = test_rng_seed(1801);
    pair it = make_pair(&rng);
    tal_scene *const scene = make_scene(&it.model);
    for (int i = 0; i < POSES; ++i) {
        set_random_q(scene, &rng);
        for (int k = 0; k < KINDS; ++k) {
            check_point(&it, scene, k);
        }
        check_sphere(&it, scene);
    }
    tal_scene_destroy(scene);
    tal_model_destroy(&it.model);
}

END_TEST

// A coin of radius 0.2 that may rest with a point on the floor, and hangs on a rope.
static tal_model make_coin(void)
{
    tal_model model = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    def.name = "coin";
    const tal_body_ix coin = tal_matter_add_translation(model.matter, TAL_GROUND, &def);
    tal_unilateral_def element = tal_unilateral_def_default();
    element.material.static_mu = element.material.sliding_mu = 0.5;
    (void)tal_unilateral_add_sphere_on_plane(model.matter, &element, TAL_GROUND,
                                             &TAL_XFORM_IDENTITY, coin, TAL_VEC3_ZERO, 0.2);
    (void)tal_unilateral_add_rope(model.matter, NULL, TAL_GROUND, tal_v3(0.0, 0.0, 3.0), coin,
                                  TAL_VEC3_ZERO, 2.8);
    end_model(&model);
    return model;
}

// It falls for two rows, and lies on the floor at x = 1 from then on.
static tal_table *make_fall(void)
{
    static const char *const names[] = {"time",    "coin.q0", "coin.q1", "coin.q2",
                                        "coin.u0", "coin.u1", "coin.u2"};
    static const double rows[4][7] = {{0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0},
                                      {0.5, 0.5, 0.0, 0.6, 1.0, 0.0, -1.0},
                                      {1.0, 1.0, 0.0, 0.2, 0.0, 0.0, 0.0},
                                      {1.5, 1.0, 0.0, 0.2, 0.0, 0.0, 0.0}};
    tal_table *const table = tal_table_create(NULL);
    for (int c = 0; c < 7; ++c) {
        ck_assert_int_eq(tal_table_add_column(table, names[c]), TAL_OK);
    }
    for (int r = 0; r < 4; ++r) {
        ck_assert_int_eq(tal_table_add_row(table, rows[r]), TAL_OK);
    }
    return table;
}

START_TEST(an_element_touches_where_its_gap_is_closed)
{
    tal_model model = make_coin();
    tal_scene *const scene = make_scene(&model);
    tal_table *const table = make_fall();
    tali_scene_rows rows;
    tali_scene_loads loads;
    ck_assert_int_eq(tali_scene_rows_begin(scene, table, &rows, NULL), TAL_OK);
    ck_assert(tali_scene_loads_begin(scene, &loads, 4));
    for (int r = 0; r < 4; ++r) {
        ck_assert_int_eq(tali_scene_rows_set(scene, &rows, r, TAL_STAGE_VELOCITY, NULL), TAL_OK);
        ck_assert_int_eq(tali_scene_loads_add(scene, &loads, r), TAL_OK);
    }
    // one place: its normal; the grip, the rope have none. Channel k of frame r is at [4 k + r].
    ck_assert_int_eq(loads.num_contacts, 1);
    const double *const at = loads.contacts[0];
    ck_assert(isnan(at[0]) && isnan(at[1]));
    for (int r = 2; r < 4; ++r) {
        ck_assert_double_eq_tol(at[r], 1.0, 1e-15);
        ck_assert_double_eq_tol(at[4 + r], 0.0, 1e-15);
        ck_assert_double_eq_tol(at[8 + r], 0.0, 1e-15);
        ck_assert(isnan(at[12 + r])); // the force is not known
    }
    tali_scene_loads_end(scene, &loads);
    tal_table_destroy(table);
    tal_scene_destroy(scene);
    tal_model_destroy(&model);
}

END_TEST

// A brick of 0.4, 0.6 and 0.2 m, held above a floor below z = 0, then on it: four corners.
START_TEST(colliders_touch_at_their_corners)
{
    tal_model model = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix box = tal_matter_add_translation(model.matter, TAL_GROUND, &def);
    tal_collider_def solid = tal_collider_def_default();
    solid.X_BS.R = tal_rotation_about(TAL_AXIS_Y, 0.5 * TAL_PI); // outward is -x of the shape
    (void)tal_matter_add_collider(model.matter, &solid);
    solid.X_BS = TAL_XFORM_IDENTITY;
    solid.body = box;
    solid.shape = tal_shape_brick(tal_v3(0.2, 0.3, 0.1), 0.0);
    (void)tal_matter_add_collider(model.matter, &solid);
    end_model(&model);
    tal_scene *const scene = make_scene(&model);
    ck_assert(tali_scene_has_contacts(scene));
    for (int k = 0; k < 2; ++k) {
        const double q[3] = {1.0, 2.0, k == 0 ? 0.5 : 0.1};
        ck_assert_int_eq(tal_state_set_q(scene->state, q, 3), TAL_OK);
        ck_assert_int_eq(tal_system_realize(model.system, scene->state, TAL_STAGE_VELOCITY),
                         TAL_OK);
        tali_scene_loads loads;
        ck_assert(tali_scene_loads_begin(scene, &loads, 1));
        ck_assert_int_eq(tali_scene_loads_add(scene, &loads, 0), TAL_OK);
        ck_assert_int_eq(loads.num_contacts, k == 0 ? 0 : 4);
        for (int i = 0; i < loads.num_contacts; ++i) {
            const double *const at = loads.contacts[i];
            ck_assert_double_eq_tol(fabs(at[0] - 1.0), 0.2, 1e-14);
            ck_assert_double_eq_tol(fabs(at[1] - 2.0), 0.3, 1e-14);
            ck_assert_double_eq_tol(at[2], 0.0, 1e-14);
            ck_assert(isnan(at[3])); // the force is not known
        }
        tali_scene_loads_end(scene, &loads);
    }
    tal_scene_destroy(scene);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(a_scene_has_contacts_ropes_and_a_note)
{
    tal_model model = make_coin();
    tal_scene *const scene = make_scene(&model);
    tal_table *const table = make_fall();
    ck_assert_int_eq(tal_scene_add_run(scene, "fall", table, NULL), TAL_OK);
    tali_scene_bytes out = {.allocator = tal_allocator_default()};
    tali_scene_put_json(scene, false, &out);
    tali_scene_put(&out, "", 1);
    const char *const json = (const char *)out.at;
    ck_assert_ptr_nonnull(strstr(json, "\"contacts\":{"));
    ck_assert_ptr_nonnull(strstr(json, "rigid contacts are shown where they are closed"));
    ck_assert_ptr_nonnull(strstr(json, "\"kind\":\"rod\",\"layer\":\"constraint\""));
    ck_assert_ptr_null(strstr(json, "\"enabled\":false"));
    ck_assert_ptr_null(strstr(json, "sphere on plane"));
    tali_scene_bytes_free(&out);
    tal_table_destroy(table);
    tal_scene_destroy(scene);
    tal_model_destroy(&model);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("scene_touch");
    TCase *const all = tcase_create("theory");
    tcase_add_test(all, contact_forces_act_where_bodies_touch);
    tcase_add_test(all, an_element_touches_where_its_gap_is_closed);
    tcase_add_test(all, colliders_touch_at_their_corners);
    tcase_add_test(all, a_scene_has_contacts_ropes_and_a_note);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
