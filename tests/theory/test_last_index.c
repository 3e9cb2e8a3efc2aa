// The last index of each kind is taken, the one behind it and the one before the first are refused:
// a comparison that is off by one reads what is beside an array, which no other result shows.
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>

// `call`, an expression of the int i, must say `is_good` for 0 and num - 1; for num and -1 it must
// break the contract and must not say it.
#define ASSERT_RANGE(num, call, is_good)                                                           \
    do {                                                                                           \
        const int ends[] = {0, (num)-1, (num), -1};                                                \
        ck_assert_int_gt((num), 1);                                                                \
        for (int e_ = 0; e_ < 4; ++e_) {                                                           \
            const int i = ends[e_];                                                                \
            (void)test_breaches();                                                                 \
            const bool good_ = is_good(call);                                                      \
            ck_assert_msg(good_ == (e_ < 2), "%s with %d of %d", #call, i, (num));                 \
            ck_assert_int_eq(test_breaches() > 0, e_ >= 2);                                        \
            if (e_ >= 2) ck_assert_int_eq(tal_contract_last()->status, TAL_ERR_BAD_INDEX);         \
        }                                                                                          \
    } while (0)

// A name, and not "(no body)" or "".
static bool is_name(const char *name)
{
    return name != NULL && name[0] != '\0' && name[0] != '(';
}

static bool is_point(tal_vec3 p)
{
    return tal_v3_is_finite(p);
}

static bool is_there(const void *p)
{
    return p != NULL;
}

static bool is_ok(tal_status st)
{
    return st == TAL_OK;
}

static bool is_body(tal_body_ix body)
{
    return body.i >= 0;
}

// Two or more of everything that has an index.
typedef struct world {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
} world;

static void add_paths(world *w, tal_body_ix body)
{
    const tal_wrap cylinder = tal_wrap_cylinder(0.1, 1.0);
    for (int k = 0; k < 2; ++k) {
        const tal_wrap_ix wrap =
            tal_forces_add_wrap(w->forces, NULL, body, &TAL_XFORM_IDENTITY, &cylinder);
        const tal_path_ix path = tal_forces_add_path(w->forces, NULL);
        (void)tal_path_add_point(w->forces, path, TAL_GROUND, tal_v3(1.0, 1.0, 0.0));
        (void)tal_path_add_point(w->forces, path, body, tal_v3(1.0, -1.0, 0.0));
        (void)tal_path_add_wrap(w->forces, path, wrap, 0, -1);
    }
}

static void build(world *w)
{
    w->system = tal_system_create(NULL);
    w->matter = tal_matter_create(w->system);
    w->forces = tal_forces_create(w->system, w->matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    const tal_subsystem_ix owner = tal_matter_subsystem(w->matter);
    for (int k = 0; k < 2; ++k) {
        const tal_body_ix body = tal_matter_add_pin(w->matter, TAL_GROUND, &def);
        const tal_body_ix next = tal_matter_add_pin(w->matter, body, &def);
        tal_constraint_def speed = tal_constraint_on(body, 0);
        (void)tal_constraint_add_constant_speed(w->matter, &speed, 0.0);
        tal_motion_def motion = tal_motion_def_default();
        motion.body = next;
        (void)tal_matter_add_motion_sinusoid(w->matter, &motion, 0.1, 2.0, 0.0);
        (void)tal_forces_add_constant_force(w->forces, NULL, body, TAL_VEC3_ZERO, TAL_VEC3_ZERO);
        (void)tal_measure_add_sinusoid(w->system, owner, NULL, 1.0, 2.0, 0.0);
        add_paths(w, body);
    }
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(w->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(w->system, &w->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(w->system, w->state, TAL_STAGE_REPORT), TAL_OK);
}

static void destroy(world *w)
{
    tal_state_destroy(w->state);
    tal_system_destroy(w->system);
}

START_TEST(of_a_system)
{
    world w;
    build(&w);
    ASSERT_RANGE(tal_system_num_subsystems(w.system),
                 tal_subsystem_name(w.system, (tal_subsystem_ix){i}), is_name);
    ASSERT_RANGE(tal_system_num_measures(w.system), tal_measure_name(w.system, (tal_measure_ix){i}),
                 is_name);
    destroy(&w);
}

END_TEST

START_TEST(of_matter)
{
    world w;
    build(&w);
    ASSERT_RANGE(tal_matter_num_bodies(w.matter), tal_body_name(w.matter, (tal_body_ix){i}),
                 is_name);
    ASSERT_RANGE(tal_matter_num_constraints(w.matter),
                 tal_constraint_name(w.matter, (tal_constraint_ix){i}), is_name);
    ASSERT_RANGE(tal_matter_num_motions(w.matter), tal_motion_name(w.matter, (tal_motion_ix){i}),
                 is_name);
    ASSERT_RANGE(tal_matter_num_bodies(w.matter),
                 tal_body_X_GB(w.matter, w.state, (tal_body_ix){i}).p, is_point);
    // slots that are not matter's are not breaches
    int k = 0;
    for (int pass = 0; pass < 2; ++pass) {
        const int n = tal_matter_nu(w.matter);
        const int ends[] = {0, n - 1, n, -1};
        for (int e = 0; e < 4; ++e) {
            const tal_body_ix owner = pass == 0
                                          ? tal_matter_q_owner(w.matter, w.state, ends[e], &k)
                                          : tal_matter_u_owner(w.matter, w.state, ends[e], &k);
            ck_assert_int_eq(is_body(owner), e < 2);
            ck_assert_int_eq(k >= 0, e < 2);
        }
    }
    destroy(&w);
}

END_TEST

START_TEST(of_forces)
{
    world w;
    build(&w);
    ASSERT_RANGE(tal_forces_num(w.forces), tal_force_name(w.forces, (tal_force_ix){i}), is_name);
    ASSERT_RANGE(tal_forces_num_paths(w.forces), tal_path_name(w.forces, (tal_path_ix){i}),
                 is_name);
    ASSERT_RANGE(tal_forces_num_wraps(w.forces), tal_wrap_name(w.forces, (tal_wrap_ix){i}),
                 is_name);
    const tal_path_ix last = {tal_forces_num_paths(w.forces) - 1};
    ASSERT_RANGE(tal_path_num_points(w.forces, last), tal_path_point_body(w.forces, last, i),
                 is_body);
    ASSERT_RANGE(tal_path_num_points(w.forces, last),
                 tal_path_point_station(w.forces, w.state, last, i), is_point);
    destroy(&w);
}

END_TEST

START_TEST(of_meshes)
{
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, 0, &mesh, NULL), TAL_OK);
    const int faces = tal_mesh_num_faces(mesh);
    ASSERT_RANGE(tal_mesh_num_vertices(mesh), tal_mesh_vertex(mesh, i), is_point);
    ASSERT_RANGE(faces, tal_mesh_face_normal(mesh, i), is_point);
    ASSERT_RANGE(faces, tal_mesh_face_centroid(mesh, i), is_point);
    ASSERT_RANGE(faces, tal_mesh_face_area(mesh, i), isfinite);
    tal_mesh_destroy(mesh);
}

END_TEST

START_TEST(of_tables)
{
    tal_table *table = tal_table_create(NULL);
    ck_assert_int_eq(tal_table_add_column(table, "time"), TAL_OK);
    ck_assert_int_eq(tal_table_add_column(table, "x"), TAL_OK);
    for (int k = 0; k < 3; ++k) {
        const double row[] = {0.1 * k, 2.0};
        ck_assert_int_eq(tal_table_add_row(table, row), TAL_OK);
    }
    ASSERT_RANGE(2, tal_table_column_name(table, i), is_name);
    ASSERT_RANGE(3, tal_table_row(table, i), is_there);
    ASSERT_RANGE(3, tal_table_value(table, i, 1), isfinite);
    ASSERT_RANGE(2, tal_table_value(table, 2, i), isfinite);
    ASSERT_RANGE(3, tal_table_set_value(table, i, 1, 0.0), is_ok);
    ASSERT_RANGE(2, tal_table_set_value(table, 2, i, 0.0), is_ok);
    tal_table_destroy(table);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("theory/last_index");
    TCase *all = tcase_create("the last index is taken, the next one is not");
    tcase_add_test(all, of_a_system);
    tcase_add_test(all, of_matter);
    tcase_add_test(all, of_forces);
    tcase_add_test(all, of_meshes);
    tcase_add_test(all, of_tables);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
