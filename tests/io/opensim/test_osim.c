// io/src/opensim/: models of OpenSim become Systems.
#include "opensim/osim_support.h"

// --- versions ---

START_TEST(the_same_leg_is_read_from_files_of_three_layouts)
{
    static const char *const files[] = {"leg_40000.osim", "leg_30508.osim", "leg_30000.osim"};
    static char texts[3][40000];
    for (int i = 0; i < 3; ++i) {
        char path[500];
        size_t length = 0;
        (void)snprintf(path, sizeof path, "%s%s", CORPUS, files[i]);
        tal_model model = read_leg(path);
        ck_assert_int_eq(
            tal_model_write_memory(&model, NULL, texts[i], sizeof texts[i], &length, NULL), TAL_OK);
        ck_assert_uint_lt(length, sizeof texts[i]);
        tal_model_destroy(&model);
    }
    ck_assert_str_eq(texts[0], texts[1]);
    ck_assert_str_eq(texts[0], texts[2]);
}

END_TEST

// The State of a model is the same, byte for byte, after it was written and read: also when joints
// stand in the file in another order than their bodies in the tree.
START_TEST(a_model_that_is_written_and_read_has_the_same_state)
{
    static char text[20000];
    tal_model model = read_text(
        "<OpenSimDocument Version='40000'><Model><BodySet><objects><Body name='a'><mass>1</mass>"
        "<inertia>1 1 1 0 0 0</inertia></Body><Body name='b'><mass>1</mass><inertia>1 1 1 0 0 0"
        "</inertia></Body></objects></BodySet><JointSet><objects><PinJoint name='second'>"
        "<socket_parent_frame>/bodyset/a</socket_parent_frame><socket_child_frame>/bodyset/b"
        "</socket_child_frame><coordinates><Coordinate name='y'><range>-3 3</range><clamped>true"
        "</clamped></Coordinate></coordinates></PinJoint><PinJoint name='first'>"
        "<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/a"
        "</socket_child_frame><coordinates><Coordinate name='x'><range>-1 1</range><clamped>true"
        "</clamped></Coordinate></coordinates></PinJoint></objects></JointSet></Model>"
        "</OpenSimDocument>");
    tal_model again;
    size_t length = 0;
    ck_assert_int_eq(tal_model_write_memory(&model, NULL, text, sizeof text, &length, NULL),
                     TAL_OK);
    ck_assert_int_eq(tal_model_read_memory("again", text, length, NULL, &again, NULL), TAL_OK);
    static unsigned char bytes[2][20000];
    const size_t size = tal_state_save_size(model.state);
    ck_assert_uint_eq(size, tal_state_save_size(again.state));
    ck_assert_uint_le(size, sizeof bytes[0]);
    ck_assert_int_eq(tal_state_save(model.state, bytes[0], size), TAL_OK);
    ck_assert_int_eq(tal_state_save(again.state, bytes[1], size), TAL_OK);
    ck_assert_mem_eq(bytes[0], bytes[1], size);
    tal_model_destroy(&model);
    tal_model_destroy(&again);
}

END_TEST

// The knee and the hip by their formulas; splines and scales by Talus' own functions.
START_TEST(the_leg_stands_where_its_functions_say)
{
    tal_model model = read_leg(CORPUS "leg_40000.osim");
    realize(&model, TAL_STAGE_POSITION);
    // few products of rotations with entries of one, and distances of one
    const double tol = 20.0 * DBL_EPSILON;
    const tal_axis z[] = {TAL_AXIS_Z}, zxy[] = {TAL_AXIS_Z, TAL_AXIS_X, TAL_AXIS_Y};
    const double tilt = 0.05, hip[] = {0.3, 0.1, 0.02}, knee = -0.6;
    const tal_xform X_GP = {tal_rotation_from_angles(TAL_BODY_FIXED, 1, z, &tilt),
                            tal_v3(0.2, 0.93, 0.0)};
    const tal_xform X_PF =
        tal_xf_mul(tal_xf_from_p(tal_v3(-0.07, -0.066, 0.083)),
                   tal_xf_from_R(tal_rotation_from_angles(TAL_BODY_FIXED, 3, zxy, hip)));
    const double at[] = {-2.1, -1.5, -0.9, -0.3, 0.2};
    const double x[] = {-0.003, 0.002, 0.004, -0.001, -0.005};
    const double y[] = {-0.42, -0.41, -0.40, -0.396, -0.395};
    tal_function *fx = NULL, *fy = NULL;
    ck_assert_int_eq(tal_function_create_spline(NULL, at, x, 5, TAL_SPLINE_SIMM, &fx, NULL), 0);
    ck_assert_int_eq(tal_function_create_spline(NULL, at, y, 5, TAL_SPLINE_SIMM, &fy, NULL), 0);
    const tal_xform X_FT = {tal_rotation_from_angles(TAL_BODY_FIXED, 1, z, &knee),
                            tal_v3(0.95 * tal_function_calc_value_1(fx, knee),
                                   tal_function_calc_value_1(fy, knee), 0.0)};
    const tal_xform X_GF = tal_xf_mul(X_GP, X_PF);
    assert_same_pose(pose_of(&model, "pelvis"), X_GP, tol);
    assert_same_pose(pose_of(&model, "femur"), X_GF, tol);
    assert_same_pose(pose_of(&model, "tibia"), tal_xf_mul(X_GF, X_FT), tol);
    tal_function_destroy(fx);
    tal_function_destroy(fy);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(the_leg_has_its_masses_markers_locks_ranges_and_forces)
{
    tal_model model = read_leg(CORPUS "leg_30000.osim");
    realize(&model, TAL_STAGE_INSTANCE);
    ck_assert_double_eq_tol(tal_matter_mass(model.matter, model.state), 22.69, 1e-14);
    const tal_mass_props tibia =
        tal_body_mass_props(model.matter, model.state, tal_matter_find_body(model.matter, "tibia"));
    // about the origin: I + m (c.c 1 - c c)
    ck_assert_double_eq_tol(tibia.inertia.zz, 0.046 + 3.6 * (0.002 * 0.002 + 0.18 * 0.18), 1e-15);
    ck_assert_int_eq(model.num_markers, 3);
    ck_assert_str_eq(model.markers[2].name, "heel");
    ck_assert_int_eq(model.markers[2].body.i, tal_matter_find_body(model.matter, "foot").i);
    int i = -1;
    const tal_body_ix foot =
        tal_matter_find_coordinate(model.matter, model.state, "ankle_angle", &i);
    ck_assert_int_eq(tal_mobility_lock_level(model.matter, model.state, (tal_mobility){foot, i}),
                     TAL_LEVEL_POSITION);
    double low, high;
    const tal_body_ix shank =
        tal_matter_find_coordinate(model.matter, model.state, "knee_angle", &i);
    ck_assert_int_eq(tal_body_range(model.matter, model.state, shank, i, &low, &high), TAL_OK);
    ck_assert(low == -2.1 && high == 0.2);
    ck_assert(tal_body_u(model.matter, model.state, shank, i) == 0.1); // of <defaults>
    static const char *const forces[] = {"hip_motor", "band", "ankle_spring", "floor_force",
                                         "ankle_bushing"};
    for (int k = 0; k < 5; ++k) {
        ck_assert_int_ge(tal_forces_find(model.forces, forces[k]).i, 0);
    }
    tal_model_destroy(&model);
}

END_TEST

// q_dep = scale (1.5 q + 0.02)
START_TEST(a_coupler_holds_after_projection)
{
    tal_model model = read_leg(CORPUS "leg_40000.osim");
    tal_error err;
    tal_assembler *assembler = NULL;
    tal_assembly found;
    const tal_assembler_def def = tal_assembler_def_default();
    ck_assert_int_eq(tal_assembler_create(model.system, &def, &assembler, &err), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(assembler, model.state, &found), TAL_OK);
    int i, k;
    const tal_body_ix knee =
        tal_matter_find_coordinate(model.matter, model.state, "knee_angle", &i);
    const tal_body_ix cap =
        tal_matter_find_coordinate(model.matter, model.state, "kneecap_angle", &k);
    const double q = tal_body_q(model.matter, model.state, knee, i);
    // the assembler's tolerance is 1e-10
    ck_assert_double_eq_tol(tal_body_q(model.matter, model.state, cap, k), 0.66 * (1.5 * q + 0.02),
                            1e-9);
    tal_assembler_destroy(assembler);
    tal_model_destroy(&model);
}

END_TEST

// A constraint takes coordinates for speeds' integrals, so balls that it names become gimbals.
START_TEST(a_coupled_coordinate_of_a_ball_has_a_rate)
{
    static const char head[] =
        "<OpenSimDocument Version='40000'><Model><BodySet><objects><Body name='b'><mass>1</mass>"
        "<inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects><BallJoint "
        "name='j'><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/b"
        "</socket_child_frame><coordinates><Coordinate name='x'/><Coordinate name='y'/><Coordinate "
        "name='z'/></coordinates></BallJoint></objects></JointSet>";
    static const char coupler[] =
        "<ConstraintSet><objects><CoordinateCouplerConstraint name='c'><LinearFunction "
        "name='coupled_coordinates_function'><coefficients>0.5 0</coefficients></LinearFunction>"
        "<independent_coordinate_names>x</independent_coordinate_names>"
        "<dependent_coordinate_name>z</dependent_coordinate_name></CoordinateCouplerConstraint>"
        "</objects></ConstraintSet>";
    for (int is_coupled = 0; is_coupled < 2; ++is_coupled) {
        char text[2000];
        (void)snprintf(text, sizeof text, "%s%s</Model></OpenSimDocument>", head,
                       is_coupled ? coupler : "");
        tal_model model = read_text(text);
        ck_assert_str_eq(tal_body_mobilizer(model.matter, (tal_body_ix){1}),
                         is_coupled ? "gimbal" : "ball");
        tal_model_destroy(&model);
    }
}

END_TEST

// --- looks ---

// Of version 4 and before: a mesh in the folder Geometry, one that is nowhere, and a sphere.
// A brick of 0.2 by 0.3 m, 0.1 m high.
static const char brick_mesh[] =
    "v 0 0 0\nv 0.2 0 0\nv 0.2 0.1 0\nv 0 0.1 0\nv 0 0 0.3\nv 0.2 0 0.3\nv 0.2 0.1 0.3\n"
    "v 0 0.1 0.3\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

// The outward normal of the floor is along y.
#define FLOOR                                                                                      \
    "<ContactHalfSpace name='floor'><socket_frame>/ground</socket_frame><orientation>0 0 "         \
    "-1.5707963267948966</orientation></ContactHalfSpace>"
#define FOUNDATION                                                                                 \
    DOC("40000",                                                                                   \
        BODIES(BODY("b", "")) "<ContactGeometrySet><objects>" FLOOR                                \
                              "<ContactMesh name='sole'><socket_frame>/bodyset/b</socket_frame>"   \
                              "<filename>brick.obj</filename></ContactMesh></objects>"             \
                              "</ContactGeometrySet>" FORCES(                                      \
                                  "<ElasticFoundationForce name='e'>"                              \
                                  "<ElasticFoundationForce::ContactParametersSet "                 \
                                  "name='contact_parameters'><objects>"                            \
                                  "<ElasticFoundationForce::ContactParameters><geometry>sole "     \
                                  "floor</geometry><stiffness>1e6</stiffness><dissipation>0.3"     \
                                  "</dissipation></ElasticFoundationForce::ContactParameters>"     \
                                  "</objects></ElasticFoundationForce::ContactParametersSet>"      \
                                  "</ElasticFoundationForce>"))

// 0.06 m^2 of 1 MPa/m, 5 mm deep, sinking at 2 m/s: k a x (1 + c v). Without its mesh it does not
// act, and the model works.
START_TEST(a_mesh_rests_on_an_elastic_foundation)
{
    char folder[] = "osim_sole_XXXXXX", model_path[64], mesh[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(mesh, sizeof mesh, "%s/brick.obj", folder);
    (void)snprintf(model_path, sizeof model_path, "%s/m.osim", folder);
    test_write_file(model_path, FOUNDATION);
    test_write_file(mesh, brick_mesh);
    tal_model model;
    ck_assert_int_eq(tal_osim_read_file(model_path, NULL, &model, NULL), TAL_OK);
    const tal_force_ix e = tal_forces_find(model.forces, "e");
    const tal_body_ix b = tal_matter_find_body(model.matter, "b");
    (void)tal_body_set_q(model.matter, model.state, b, 4, -0.005);
    (void)tal_body_set_u(model.matter, model.state, b, 4, -2.0);
    realize(&model, TAL_STAGE_VELOCITY);
    tal_spatial_vec F[2];
    double f[6];
    ck_assert_int_eq(tal_forces_calc_sum(model.forces, model.state, &e, 1, F, f), TAL_OK);
    ck_assert_double_eq_tol(F[1].v.y, 1e6 * 0.06 * 0.005 * (1.0 + 0.3 * 2.0), 1e-9);
    ck_assert_double_eq_tol(F[1].v.x, 0.0, 1e-9);
    tal_model_destroy(&model);

    (void)remove(mesh);
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_osim_read_file(model_path, NULL, &model, found), TAL_OK);
    char said[2000];
    say_all(found, said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "its mesh 'brick.obj' is not found"));
    ck_assert_ptr_nonnull(strstr(said, "does not act: a mesh of it is not there"));
    ck_assert_int_lt(tal_forces_find(model.forces, "e").i, 0);
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
    (void)remove(model_path);
    (void)rmdir(folder);
}

END_TEST

START_TEST(meshes_are_found_beside_the_model)
{
    static const char *const texts[] = {
        DOC("40000", BODIES(BODY("b", "<attached_geometry><Mesh name='m'><mesh_file>bone.obj"
                                      "</mesh_file><scale_factors>2 2 2</scale_factors><Appearance>"
                                      "<color>1 0.5 0</color><opacity>0.5</opacity></Appearance>"
                                      "</Mesh><Mesh><mesh_file>lost.vtp</mesh_file></Mesh><Sphere>"
                                      "<radius>0.1</radius></Sphere></attached_geometry>"))),
        DOC("30000", BODIES(BODY("b", "<VisibleObject><GeometrySet><objects><DisplayGeometry>"
                                      "<geometry_file>bone.obj</geometry_file><color>1 0.5 0"
                                      "</color><opacity>0.5</opacity><scale_factors>2 2 2"
                                      "</scale_factors></DisplayGeometry><DisplayGeometry>"
                                      "<geometry_file>lost.vtp</geometry_file></DisplayGeometry>"
                                      "</objects></GeometrySet></VisibleObject>")))};
    char folder[] = "osim_looks_XXXXXX", model_path[64], geometry[64], mesh[128];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(geometry, sizeof geometry, "%s/Geometry", folder);
    (void)snprintf(mesh, sizeof mesh, "%s/bone.obj", geometry);
    (void)snprintf(model_path, sizeof model_path, "%s/m.osim", folder);
    ck_assert_int_eq(mkdir(geometry, 0700), 0);
    test_write_file(mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (int i = 0; i < 2; ++i) {
        tal_model model;
        char said[2000];
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        test_write_file(model_path, texts[i]);
        ck_assert_int_eq(tal_osim_read_file(model_path, NULL, &model, found), TAL_OK);
        say_all(found, said, sizeof said);
        ck_assert_msg(strstr(said, "names a file that is not found, and is not drawn (1 of") !=
                          NULL,
                      "%s", said);
        ck_assert_int_eq(tal_matter_num_decorations(model.matter), 2 - i);
        const tal_decoration *d = tal_matter_decoration(model.matter, 0);
        ck_assert_str_eq(d->text, mesh);
        ck_assert(d->scale == 2.0 && d->opacity == 0.5 && d->color.y == 0.5);
        tal_model_destroy(&model);
        tal_diagnostics_destroy(found);
    }
    (void)remove(model_path);
    (void)remove(mesh);
    (void)rmdir(geometry);
    (void)rmdir(folder);
}

END_TEST

// --- memory ---

START_TEST(reading_a_leg_survives_every_failure_of_memory)
{
    tal_osim_options options = tal_osim_options_default();
    test_heap heap = {.calls = 0};
    options.allocator = test_heap_allocator(&heap);
    tal_model model;
    const char *path = CORPUS "leg_30000.osim";
    ck_assert_int_eq(tal_osim_read_file(path, &options, &model, NULL), TAL_OK);
    tal_model_destroy(&model);
    const int calls = heap.calls;
    // every request of the first hundred, then one in seven
    for (int n = 1; n <= calls; n += n < 100 ? 1 : 7) {
        heap = (test_heap){.refuse_at = n};
        const tal_status st = tal_osim_read_file(path, &options, &model, NULL);
        ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        ck_assert_ptr_null(model.system);
        ck_assert_int_eq(heap.live, 0);
    }
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    tal_model model;
    test_record_breaches();
    test_assert_breach(ck_assert_int_eq(tal_osim_read_file(NULL, NULL, &model, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "the name");
    test_assert_breach(ck_assert_int_eq(tal_osim_read_file("x", NULL, NULL, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "the result");
    (void)tal_contract_set_handler(NULL);
    ck_assert_int_eq(tal_osim_read_file("/no/such.osim", NULL, &model, NULL), TAL_ERR_FILE);
    ck_assert_ptr_null(model.system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/osim");
    TCase *tc = tcase_create("osim");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, the_same_leg_is_read_from_files_of_three_layouts);
    tcase_add_test(tc, a_model_that_is_written_and_read_has_the_same_state);
    tcase_add_test(tc, the_leg_stands_where_its_functions_say);
    tcase_add_test(tc, the_leg_has_its_masses_markers_locks_ranges_and_forces);
    tcase_add_test(tc, a_coupler_holds_after_projection);
    tcase_add_test(tc, a_coupled_coordinate_of_a_ball_has_a_rate);
    tcase_add_test(tc, meshes_are_found_beside_the_model);
    tcase_add_test(tc, a_mesh_rests_on_an_elastic_foundation);
    tcase_add_test(tc, reading_a_leg_survives_every_failure_of_memory);
    tcase_add_test(tc, broken_contracts_are_reported);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
