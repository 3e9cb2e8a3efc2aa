// Tests for forces/src/contact/contact.c: what it refuses, and running out of memory.
#include "contact_model.h"

// The State's last failure names this, and whoever realizes next is told of it.
static void assert_told(const model *m, const char *part)
{
    const char *message = tal_state_error(m->state)->message;
    ck_assert_msg(strstr(message, part) != NULL, "'%s' lacks '%s'", message, part);
    ck_assert_int_ne(tal_system_realize(m->system, m->state, TAL_STAGE_VELOCITY), TAL_OK);
}

// A value the State refuses stays out, and the stages that would have used it stay unrealized.
START_TEST(bad_values_are_refused_by_name)
{
    scene s = balls(NULL);
    model *m = &s.m;
    const tal_contact_surface_ix ball = s.surface[1];
    tal_contact_grip grip = tal_contact_def_default().grip;
    grip.transition_speed = 0.0;
    ck_assert_int_eq(tal_contact_set_grip(m->forces, m->state, s.contact, &grip),
                     TAL_ERR_BAD_VALUE);
    assert_told(m, "transition speed");

    tal_contact_material material =
        tal_contact_surface_material(m->forces, m->state, s.contact, ball);
    material.static_friction = 0.1;
    ck_assert_int_eq(
        tal_contact_surface_set_material(m->forces, m->state, s.contact, ball, &material),
        TAL_ERR_BAD_VALUE);
    assert_told(m, "static friction 0.1");
    material.stiffness = (double)NAN;
    ck_assert_int_eq(
        tal_contact_surface_set_material(m->forces, m->state, s.contact, ball, &material),
        TAL_ERR_NOT_FINITE);
    assert_told(m, "stiffness");

    tal_shape shape = tal_shape_sphere(-1.0);
    ck_assert_int_eq(tal_contact_surface_set_shape(m->forces, m->state, s.contact, ball, &shape),
                     TAL_ERR_BAD_VALUE);
    assert_told(m, "-1");
    shape = tal_shape_torus(1.0, 0.5);
    ck_assert_int_eq(tal_contact_surface_set_shape(m->forces, m->state, s.contact, ball, &shape),
                     TAL_ERR_BAD_VALUE);
    assert_told(m, "is a sphere");

    tal_xform X_BS = TAL_XFORM_IDENTITY;
    X_BS.R.x.x = 2.0;
    ck_assert_int_eq(tal_contact_surface_set_X_BS(m->forces, m->state, s.contact, ball, &X_BS),
                     TAL_ERR_BAD_VALUE);
    assert_told(m, "X_BS");
    X_BS.p.y = (double)NAN;
    ck_assert_int_eq(tal_contact_surface_set_X_BS(m->forces, m->state, s.contact, ball, &X_BS),
                     TAL_ERR_NOT_FINITE);
    assert_told(m, "X_BS");
    model_end(m);
}

END_TEST

START_TEST(null_is_a_breach)
{
    scene s = balls(NULL);
    const tal_forces *forces = s.m.forces;
    tal_state *state = s.m.state;
    const tal_contact_surface_ix ball = s.surface[1];
    test_assert_breach((void)tal_contact_set_grip(forces, state, s.contact, NULL), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach((void)tal_contact_surface_set_material(forces, state, s.contact, ball, NULL),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_contact_surface_set_shape(forces, state, s.contact, ball, NULL),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_contact_surface_set_X_BS(forces, state, s.contact, ball, NULL),
                       TAL_ERR_NULL, "NULL");
    model_realize(&s.m, TAL_STAGE_VELOCITY);
    test_assert_refused(tal_contact_calc(forces, state, s.contact, 0, NULL), TAL_ERR_NULL, "NULL");
    model_end(&s.m);
}

END_TEST

START_TEST(what_is_not_there_is_a_breach)
{
    scene s = balls(NULL);
    const tal_forces *forces = s.m.forces;
    tal_state *state = s.m.state;
    const tal_force_ix contact = s.contact, no_force = {9};
    const tal_contact_surface_ix none = {9};
    tal_contact_grip grip = tal_contact_def_default().grip;
    const tal_contact_material material = tal_contact_material_default();
    const tal_shape shape = tal_shape_sphere(1.0);
    const tal_xform X_BS = TAL_XFORM_IDENTITY;
    test_assert_breach((void)tal_contact_set_grip(forces, state, no_force, &grip),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(grip = tal_contact_grip_of(forces, state, no_force), TAL_ERR_BAD_INDEX, "9");
    ck_assert(isnan(grip.breakaway));
    test_assert_breach((void)tal_contact_num_surfaces(forces, no_force), TAL_ERR_BAD_INDEX, "9");
    test_assert_breach((void)tal_contact_surface_X_BS(forces, state, contact, none),
                       TAL_ERR_BAD_INDEX, "no surface 9");
    test_assert_breach((void)tal_contact_surface_material(forces, state, contact, none),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach((void)tal_contact_surface_shape(forces, state, contact, none),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach((void)tal_contact_surface_name(forces, contact, none), TAL_ERR_BAD_INDEX,
                       "9");
    test_assert_breach((void)tal_contact_surface_body(forces, contact, none), TAL_ERR_BAD_INDEX,
                       "9");
    test_assert_breach((void)tal_contact_surface_set_shape(forces, state, contact, none, &shape),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach((void)tal_contact_surface_set_X_BS(forces, state, contact, none, &X_BS),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(
        (void)tal_contact_surface_set_material(forces, state, contact, none, &material),
        TAL_ERR_BAD_INDEX, "9");
    model_realize(&s.m, TAL_STAGE_VELOCITY);
    tal_contact_info info;
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_contact_calc(forces, state, contact, -1, &info), TAL_ERR_BAD_INDEX,
                       "-1");
    ck_assert_int_eq(st, TAL_ERR_BAD_INDEX);
    test_assert_breach(st = tal_contact_calc(forces, state, no_force, 0, &info), TAL_ERR_BAD_INDEX,
                       "9");
    ck_assert_int_eq(st, TAL_ERR_BAD_INDEX);
    model_end(&s.m);
}

END_TEST

START_TEST(what_comes_too_early_or_too_late_is_a_breach)
{
    scene s = balls(NULL);
    const tal_contact_surface_def more = tal_contact_surface_def_default();
    test_assert_breach((void)tal_contact_add_surface(s.m.forces, s.contact, &more),
                       TAL_ERR_TOPOLOGY, "realized");
    model_realize(&s.m, TAL_STAGE_VELOCITY);
    tal_state_invalidate(s.m.state, TAL_STAGE_POSITION);
    test_assert_breach((void)tal_contact_num(s.m.forces, s.m.state, s.contact), TAL_ERR_STAGE, "");
    model_end(&s.m);
}

END_TEST

// A def that building refuses, and what its sentence must contain.
static void check_refused_def(const tal_contact_def *def, const char *part)
{
    model m = model_begin();
    (void)tal_forces_add_contact(m.forces, "touch", def);
    tal_error err = {0};
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, "touch") != NULL && strstr(err.message, part) != NULL,
                  "'%s' lacks '%s'", err.message, part);
}

static void check_refused_surface(const tal_contact_surface_def *def, tal_status expected,
                                  const char *part)
{
    model m = model_begin();
    const tal_force_ix contact = tal_forces_add_contact(m.forces, "touch", NULL);
    tal_contact_surface_def first = tal_contact_surface_def_default();
    first.name = "first";
    (void)tal_contact_add_surface(m.forces, contact, &first);
    ck_assert_int_lt(tal_contact_add_surface(m.forces, contact, def).i, 0);
    ck_assert_int_lt(tal_contact_add_surface(m.forces, contact, &first).i, 0); // sticky
    tal_error err = {0};
    ck_assert_int_eq(model_refuse(&m, &err), expected);
    ck_assert_msg(strstr(err.message, "touch") != NULL && strstr(err.message, part) != NULL,
                  "'%s' lacks '%s'", err.message, part);
}

START_TEST(bad_definitions_are_refused_when_building)
{
    tal_contact_def def = tal_contact_def_default();
    def.exponent = 0.5;
    check_refused_def(&def, "exponent");
    def = tal_contact_def_default();
    def.law = (tal_contact_law)7;
    check_refused_def(&def, "law");
    def = tal_contact_def_default();
    def.friction = (tal_contact_friction)-1;
    check_refused_def(&def, "friction");
    def = tal_contact_def_default();
    def.max_faces = -3;
    check_refused_def(&def, "negative");
    def = tal_contact_def_default();
    def.grip.damping = 0.0;
    check_refused_def(&def, "damping");
    def = tal_contact_def_default();
    def.grip.stiffness = (double)INFINITY;
    check_refused_def(&def, "stiffness");
    def = tal_contact_def_default();
    def.grip.breakaway = 1.5;
    check_refused_def(&def, "breakaway");
    test_assert_breach((void)tal_forces_add_contact(NULL, "touch", NULL), TAL_ERR_NULL, "NULL");

    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.body.i = 77;
    check_refused_surface(&surface, TAL_ERR_BAD_INDEX, "77");
    surface = tal_contact_surface_def_default();
    surface.name = "first";
    check_refused_surface(&surface, TAL_ERR_BAD_NAME, "first");
    surface.name = "";
    check_refused_surface(&surface, TAL_ERR_BAD_NAME, "1 to");
    surface.name = "sole ";
    check_refused_surface(&surface, TAL_ERR_BAD_NAME,
                          "surface 'sole ': a name cannot begin or end with blanks");
    surface = tal_contact_surface_def_default();
    surface.shape = tal_shape_sphere((double)NAN);
    check_refused_surface(&surface, TAL_ERR_NOT_FINITE, "surface1");
    surface.shape = tal_shape_brick(tal_v3(1.0, 1.0, 1.0), 0.0);
    check_refused_surface(&surface, TAL_ERR_BAD_VALUE, "sharp");
    surface = tal_contact_surface_def_default();
    surface.material.foundation = 0.0;
    check_refused_surface(&surface, TAL_ERR_BAD_VALUE, "foundation is 0");
    surface = tal_contact_surface_def_default();
    surface.X_BS.R.y.y = 0.0;
    check_refused_surface(&surface, TAL_ERR_BAD_VALUE, "X_BS");

    model m = model_begin();
    const tal_force_ix contact = tal_forces_add_contact(m.forces, "touch", NULL);
    test_assert_breach((void)tal_contact_add_surface(m.forces, contact, NULL), TAL_ERR_NULL, "def");
    test_assert_breach((void)tal_contact_add_surface(NULL, contact, &surface), TAL_ERR_NULL,
                       "NULL");
    tal_system_destroy(m.system);
}

END_TEST

// Two half-spaces, which meet without end, and more bristles than were asked for.
START_TEST(what_can_be_known_when_building_is_reported_then)
{
    model m = model_begin();
    tal_force_ix contact = tal_forces_add_contact(m.forces, "touch", NULL);
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.name = "one";
    surface.shape = tal_shape_half_space();
    (void)tal_contact_add_surface(m.forces, contact, &surface);
    surface.name = "other";
    surface.body = m.body[PIN];
    (void)tal_contact_add_surface(m.forces, contact, &surface);
    tal_error err = {0};
    ck_assert_int_ne(model_refuse(&m, &err), TAL_OK);
    ck_assert_msg(strstr(err.message, "one") != NULL && strstr(err.message, "other") != NULL, "%s",
                  err.message);

    m = model_begin();
    tal_contact_def def = quiet(TAL_CONTACT_ELASTOPLASTIC);
    def.max_bristles = 2;
    contact = tal_forces_add_contact(m.forces, "touch", &def);
    surface.shape = tal_shape_sphere(1.0);
    surface.name = NULL;
    for (int b = 0; b < 3; ++b) {
        surface.body = m.body[b];
        (void)tal_contact_add_surface(m.forces, contact, &surface);
    }
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_CAPACITY);
    ck_assert_msg(strstr(err.message, "max_bristles") != NULL, "%s", err.message);
}

END_TEST

// Overflow is an error that names the contact, at Dynamics and in every call that computes it.
START_TEST(too_many_contacts_are_an_error_by_name)
{
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, 3, &mesh, NULL), TAL_OK);
    for (int k = 0; k < 3; ++k) {
        tal_contact_def def = tal_contact_def_default();
        if (k == 0) def.max_pairs = 1;
        if (k == 1) def.max_points = 1;
        if (k == 2) def.max_faces = 5;
        static const char *const fields[] = {"max_pairs", "max_points", "max_faces"};
        rail r = rail_begin(&def);
        (void)rail_add(&r, "a", tal_shape_sphere(1.0));
        (void)rail_add(&r, "b", tal_shape_sphere(1.0));
        if (k == 2) (void)rail_add(&r, "c", tal_shape_mesh(mesh));
        rail_finish(&r, -0.5);
        ck_assert_int_eq(tal_system_realize(r.m.system, r.m.state, TAL_STAGE_DYNAMICS),
                         TAL_ERR_CAPACITY);
        const char *message = tal_state_error(r.m.state)->message;
        ck_assert_msg(strstr(message, "contact 'contact'") != NULL, "%s", message);
        ck_assert_msg(strstr(message, fields[k]) != NULL, "%s", message);
        ck_assert(isnan(tal_force_potential_energy(r.m.forces, r.m.state, r.contact)));
        ck_assert(isnan(tal_force_dissipated_power(r.m.forces, r.m.state, r.contact)));
        ck_assert_int_eq(tal_contact_num(r.m.forces, r.m.state, r.contact), -1);
        tal_contact_info info;
        ck_assert_int_eq(tal_contact_calc(r.m.forces, r.m.state, r.contact, 0, &info),
                         TAL_ERR_CAPACITY);
        tal_body_set_q(r.m.matter, r.m.state, r.body, 0, -5.0); // apart
        model_realize(&r.m, TAL_STAGE_ACCELERATION);
        model_end(&r.m);
    }
    tal_mesh_destroy(mesh);
}

END_TEST

// A rigid ball on a floor that is rigid, or becomes so: nothing could deform. By the foundation
// where one of them is a mesh. Surfaces that never meet may all be rigid.
START_TEST(two_rigid_surfaces_that_can_meet_are_refused)
{
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, 1, &mesh, NULL), TAL_OK);
    for (int k = 0; k < 4; ++k) {
        const bool is_mesh = k % 2 == 1, in_clique = k >= 2;
        model m = model_begin();
        const tal_force_ix contact = tal_forces_add_contact(m.forces, "contact", NULL);
        tal_contact_surface_def surface = tal_contact_surface_def_default();
        surface.name = "floor";
        surface.material = tal_contact_material_of(TAL_RIGID);
        surface.cliques = in_clique ? 1 : 0;
        (void)tal_contact_add_surface(m.forces, contact, &surface);
        surface.name = "ball";
        surface.body = m.body[FREE];
        surface.shape = is_mesh ? tal_shape_mesh(mesh) : tal_shape_sphere(1.0);
        (void)tal_contact_add_surface(m.forces, contact, &surface);
        tal_error err = {0};
        if (in_clique) {
            ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_OK);
            tal_system_destroy(m.system);
            continue;
        }
        ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
        ck_assert_ptr_nonnull(strstr(err.message, "'floor' and 'ball'"));
        ck_assert_ptr_nonnull(strstr(err.message, is_mesh ? "a foundation" : "a stiffness"));
    }
    tal_mesh_destroy(mesh);

    rail r = rail_begin(NULL);
    r.ball = rail_add(&r, "ball", tal_shape_sphere(1.0));
    rail_finish(&r, 0.1);
    const tal_contact_material rigid = tal_contact_material_of(TAL_RIGID);
    const tal_contact_surface_ix floor = {0};
    ck_assert_int_eq(
        tal_contact_surface_set_material(r.m.forces, r.m.state, r.contact, floor, &rigid), TAL_OK);
    ck_assert_int_eq(
        tal_contact_surface_set_material(r.m.forces, r.m.state, r.contact, r.ball, &rigid),
        TAL_ERR_BAD_VALUE);
    assert_told(&r.m, "both rigid");
    model_end(&r.m);
}

END_TEST

// A pose that overflows is told by the surface that has it.
START_TEST(a_pose_that_is_not_finite_is_reported)
{
    rail r = rail_begin(NULL);
    r.ball = rail_add(&r, "ball", tal_shape_sphere(1.0));
    rail_finish(&r, 1.5e308);
    const tal_xform X_BS = tal_xf_from_p(tal_v3(1.5e308, 0.0, 0.0));
    tal_contact_surface_set_X_BS(r.m.forces, r.m.state, r.contact, r.ball, &X_BS);
    const tal_status st = tal_system_realize(r.m.system, r.m.state, TAL_STAGE_DYNAMICS);
    ck_assert_int_eq(st, TAL_ERR_NOT_FINITE);
    ck_assert_msg(strstr(tal_state_error(r.m.state)->message, "ball") != NULL, "%s",
                  tal_state_error(r.m.state)->message);
    model_end(&r.m);
}

END_TEST

START_TEST(without_memory_building_fails_and_nothing_leaks)
{
    int failures = 0;
    for (int n = 1; n < 200; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_system_def def = tal_system_def_default();
        def.allocator = test_heap_allocator(&heap);
        tal_system *system = tal_system_create(&def);
        if (system == NULL) continue;
        tal_matter *matter = tal_matter_create(system);
        tal_forces *forces = matter != NULL ? tal_forces_create(system, matter) : NULL;
        if (forces != NULL) {
            const tal_contact_def sticky = quiet(TAL_CONTACT_ELASTOPLASTIC);
            tal_mobod_def body = tal_mobod_def_default();
            body.mass.mass = 1.0;
            const tal_force_ix contact = tal_forces_add_contact(forces, "contact", &sticky);
            tal_contact_surface_def surface = tal_contact_surface_def_default();
            for (int b = 0; b < 10; ++b) {
                (void)tal_contact_add_surface(forces, contact, &surface);
                surface.body = tal_matter_add_slider(matter, TAL_GROUND, &body);
                surface.shape = tal_shape_sphere(1.0);
            }
        }
        tal_error err = {0};
        const tal_status st = tal_system_realize_topology(system, &err);
        tal_system_destroy(system);
        ck_assert_int_eq(heap.live, 0);
        if (st == TAL_OK && forces != NULL) break;
        ck_assert_int_ne(st, TAL_OK);
        ck_assert_int_eq(err.status, TAL_ERR_NO_MEMORY);
        ++failures;
    }
    ck_assert_int_gt(failures, 10);
    ck_assert_int_lt(failures, 190);
}

END_TEST
int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/contact_errors");
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_values_are_refused_by_name);
    tcase_add_test(errors, null_is_a_breach);
    tcase_add_test(errors, what_is_not_there_is_a_breach);
    tcase_add_test(errors, what_comes_too_early_or_too_late_is_a_breach);
    tcase_add_test(errors, bad_definitions_are_refused_when_building);
    tcase_add_test(errors, what_can_be_known_when_building_is_reported_then);
    tcase_add_test(errors, too_many_contacts_are_an_error_by_name);
    tcase_add_test(errors, a_pose_that_is_not_finite_is_reported);
    tcase_add_test(errors, two_rigid_surfaces_that_can_meet_are_refused);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, without_memory_building_fails_and_nothing_leaks);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
