// io/src/opensim/tool_scale.c, osim_scale.c, osim_document.c: models scaled, markers placed.
#include "tool_support.h"

#include <math.h>

// A thigh on a pin in Ground, 0.4 m long, and a shank that slides along it as the knee bends; a
// muscle over a cylinder, with a point that moves; four markers, of which one is fixed.
static const char model_text[] =
    "<OpenSimDocument Version='40000'><Model name='leg'><gravity>0 -10 0</gravity><BodySet>"
    "<objects><Body name='thigh'><mass>8</mass><mass_center>0 -0.2 0.01</mass_center><inertia>0.12 "
    "0.03 0.13 0.001 0.002 0.003</inertia><WrapObjectSet><objects><WrapCylinder name='roll'>"
    "<xyz_body_rotation>0 0 0</xyz_body_rotation><translation>0 -0.4 0</translation>"
    "<radius>0.03</radius><length>0.2</length></WrapCylinder></objects></WrapObjectSet></Body>"
    "<Body name='shank'><mass>4</mass><mass_center>0 -0.2 0</mass_center><inertia>0.05 0.01 0.05 0 "
    "0 0</inertia></Body></objects></BodySet><JointSet><objects>"
    "<PinJoint name='hip'><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>"
    "/bodyset/thigh</socket_child_frame><coordinates><Coordinate name='hip_flexion'/></coordinates>"
    "</PinJoint><CustomJoint name='knee'><socket_parent_frame>thigh_offset</socket_parent_frame>"
    "<socket_child_frame>/bodyset/shank</socket_child_frame><coordinates><Coordinate name='knee'/>"
    "</coordinates><frames><PhysicalOffsetFrame name='thigh_offset'><socket_parent>/bodyset/thigh"
    "</socket_parent><translation>0 -0.4 0</translation></PhysicalOffsetFrame></frames>"
    "<SpatialTransform><TransformAxis name='rotation1'><coordinates>knee</coordinates><axis>0 0 1"
    "</axis><LinearFunction name='function'><coefficients>1 0</coefficients></LinearFunction>"
    "</TransformAxis><TransformAxis name='translation1'><coordinates>knee</coordinates><axis>1 0 0"
    "</axis><LinearFunction name='function'><coefficients>0.01 0.005</coefficients>"
    "</LinearFunction></TransformAxis></SpatialTransform></CustomJoint></objects></JointSet>"
    "<ForceSet><objects><Thelen2003Muscle name='rectus'><max_isometric_force>900"
    "</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>"
    "0.3</tendon_slack_length><GeometryPath><PathPointSet><objects><PathPoint name='a'>"
    "<socket_parent_frame>/ground</socket_parent_frame><location>0.06 0.05 0</location></PathPoint>"
    "<PathPoint name='b'><socket_parent_frame>/bodyset/shank</socket_parent_frame><location>0.05 "
    "-0.05 0</location></PathPoint></objects></PathPointSet><PathWrapSet><objects><PathWrap>"
    "<wrap_object>roll</wrap_object></PathWrap></objects></PathWrapSet></GeometryPath>"
    "</Thelen2003Muscle></objects></ForceSet><MarkerSet><objects>"
    "<Marker name='top'><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0 0 0"
    "</location></Marker></objects></MarkerSet></Model></OpenSimDocument>";

// In the words of version 3; one marker is another than in the model.
static const char marker_text[] =
    "<OpenSimDocument Version='20302'><MarkerSet><objects><Marker name='top'><body>thigh</body>"
    "<location>0 0 0.02</location><fixed>false</fixed></Marker><Marker name='bottom'><body>thigh"
    "</body><location>0 -0.4 0.02</location><fixed>true</fixed></Marker><Marker name='toe'><body>"
    "shank</body><location>0 -0.4 0</location><fixed>false</fixed></Marker></objects></MarkerSet>"
    "</OpenSimDocument>";

// The markers of a thigh that is twice as long, and bent by 0.3; 'toe' where a straight knee and a
// shank of 0.8 m with the factors below would have it, but for 5 mm.
static void write_markers(void)
{
    char text[2000] = "PathFileType\t4\t(X/Y/Z)\tm.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers"
                      "\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n100\t100\t3\t3\tm"
                      "\t100\t1\t3\nFrame#\tTime\ttop\t\t\tbottom\t\t\ttoe\t\t\n\t\tX1\tY1\tZ1\tX2"
                      "\tY2\tZ2\tX3\tY3\tZ3\n\n";
    const double c = cos(0.3), s = sin(0.3);
    for (int k = 0; k < 3; ++k) {
        const double off = 0.001 * (k - 1); // the mean counts
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used,
                       "%d\t%.17g\t0\t0\t0.04\t%.17g\t%.17g\t0.04\t%.17g\t%.17g\t%.17g\n", k + 1,
                       0.01 * k, 0.8 * s, -0.8 * c, 1.6 * s + 0.02 * c, -1.6 * c + 0.02 * s,
                       0.005 + off);
    }
    write_text("m.trc", text);
}

#define SETUP(scaler, placer)                                                                      \
    "<OpenSimDocument Version='20302'><ScaleTool name='subject'><mass>24</mass>"                   \
    "<GenericModelMaker>"                                                                          \
    "<model_file>leg.osim</model_file><marker_set_file>markers.xml</marker_set_file>"              \
    "</GenericModelMaker><ModelScaler>" scaler "<marker_file>m.trc</marker_file><time_range>0 "    \
    "0.02</time_range><output_model_file>scaled.osim</output_model_file><output_scale_file>"       \
    "scales.xml</output_scale_file></ModelScaler>" placer "</ScaleTool></OpenSimDocument>"
#define MEASURE                                                                                    \
    "<MeasurementSet><objects><Measurement name='thigh'><apply>true</apply><MarkerPairSet>"        \
    "<objects><MarkerPair><markers>top bottom</markers></MarkerPair></objects></MarkerPairSet>"    \
    "<BodyScaleSet><objects><BodyScale name='thigh'><axes>X Y Z</axes></BodyScale></objects>"      \
    "</BodyScaleSet></Measurement></objects></MeasurementSet>"
#define MANUAL                                                                                     \
    "<ScaleSet><objects><Scale><scales>1 2 3</scales><segment>shank</segment><apply>true</apply>"  \
    "</Scale></objects></ScaleSet>"
#define ORDER "<scaling_order>measurements manualScale</scaling_order>"
#define PLACER                                                                                     \
    "<MarkerPlacer><apply>true</apply><IKTaskSet><objects><IKMarkerTask name='top'/>"              \
    "<IKMarkerTask "                                                                               \
    "name='bottom'><weight>1000</weight></IKMarkerTask><IKCoordinateTask name='knee'><weight>1e6"  \
    "</weight><value_type>manual_value</value_type><value>0</value></IKCoordinateTask></objects>"  \
    "</IKTaskSet><marker_file>m.trc</marker_file><time_range>0 0.02</time_range>"                  \
    "<output_motion_file>pose.mot</output_motion_file><output_model_file>placed.osim"              \
    "</output_model_file></MarkerPlacer>"

static void write_files(void)
{
    write_text("leg.osim", model_text);
    write_text("markers.xml", marker_text);
    write_markers();
}

// A model that is a result, read again.
static tal_model read_result(const tal_osim_results *r, const char *end)
{
    tal_model model = {.system = NULL};
    for (int i = 0; i < tal_osim_results_num(r); ++i) {
        if (strstr(tal_osim_results_path(r, i), end) == NULL) continue;
        size_t size = 0;
        const char *text = tal_osim_results_text(r, i, &size);
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        const tal_status st = tal_osim_read_memory(end, text, size, NULL, &model, found);
        char line[TAL_DIAGNOSTIC_SIZE] = "";
        if (tal_diagnostics_num(found) > 0) {
            (void)tal_diagnostic_text(tal_diagnostics_at(found, 0), line);
        }
        ck_assert_msg(st == TAL_OK, "%s", line);
        tal_diagnostics_destroy(found);
        return model;
    }
    ck_abort_msg("there is no result %s", end);
    return model;
}

static tal_mass_props mass_of(const tal_model *model, const char *name)
{
    const tal_body_ix body = tal_matter_find_body(model->matter, name);
    ck_assert_int_gt(body.i, 0);
    return tal_body_mass_props(model->matter, model->state, body);
}

static double length_of(const tal_model *model, double hip, double knee)
{
    (void)tal_body_set_q(model->matter, model->state, tal_matter_find_body(model->matter, "thigh"),
                         0, hip);
    (void)tal_body_set_q(model->matter, model->state, tal_matter_find_body(model->matter, "shank"),
                         0, knee);
    ck_assert_int_eq(tal_system_realize(model->system, model->state, TAL_STAGE_VELOCITY), TAL_OK);
    return tal_path_length(model->forces, model->state,
                           tal_forces_find_path(model->forces, "rectus"));
}

// --- scaling ---

// Numbers of the file times numbers like 2 and 3: 1e-12 is far above round-off and below all that
// could be wrong.
START_TEST(a_model_is_scaled_by_measurements_and_by_hand)
{
    write_text("s.xml", SETUP(ORDER MEASURE MANUAL
                              "<preserve_mass_distribution>true</preserve_mass_distribution>",
                              ""));
    tal_osim_results *r = run_good("s.xml", NULL, 0);
    ck_assert_double_eq_tol(value(r, 0, 0, "thigh_x"), 2.0, 1e-12);
    ck_assert_double_eq_tol(value(r, 0, 0, "thigh_z"), 2.0, 1e-12);
    ck_assert_double_eq_tol(value(r, 0, 0, "shank_z"), 3.0, 1e-12);
    ck_assert_double_eq_tol(value(r, 0, 0, "ground_x"), 1.0, 1e-12);
    tal_model model = read_result(r, "scaled.osim");
    const tal_mass_props thigh = mass_of(&model, "thigh"), shank = mass_of(&model, "shank");
    ck_assert_double_eq_tol(thigh.mass, 16.0, 1e-12); // 24 kg in all, two to one
    ck_assert_double_eq_tol(shank.mass, 8.0, 1e-12);
    ck_assert_double_eq_tol(thigh.com.y, -0.4, 1e-12);
    ck_assert_double_eq_tol(thigh.com.z, 0.02, 1e-12);
    ck_assert_double_eq_tol(shank.com.y, -0.4, 1e-12);
    // about the origin: 2 I + m (y^2 + z^2)
    ck_assert_double_eq_tol(thigh.inertia.xx, 2.0 * 0.12 + 16.0 * (0.16 + 0.0004), 1e-12);
    // the joint, its translation and the point on the shank at straight legs
    const tal_body_ix body = tal_matter_find_body(model.matter, "shank");
    const double length = length_of(&model, 0.0, 0.0);
    const tal_vec3 p = tal_body_p_GB(model.matter, model.state, body);
    ck_assert_double_eq_tol(p.x, 2.0 * 0.005, 1e-12);
    ck_assert_double_eq_tol(p.y, -0.8, 1e-12);
    // from (0.06, 0.05) over a roll of radius 0.06 at (0, -0.8) to (0.01 + 0.05, -0.8 - 0.1): along
    // its side, which is straight
    ck_assert_double_eq_tol(length, 0.95, 1e-12);
    // fibers and tendon in proportion to the path, 0.05 + 0.4 + 0.05 long before but for the roll
    tal_model before;
    ck_assert_int_eq(tal_osim_read_file(in_folder("leg.osim"), NULL, &before, NULL), TAL_OK);
    const double ratio = length / length_of(&before, 0.0, 0.0);
    const tal_force_ix muscle = tal_forces_find(model.forces, "rectus");
    ck_assert_double_eq_tol(
        tal_force_param(model.forces, model.state, muscle, TAL_MUSCLE_FIBER_LENGTH), 0.1 * ratio,
        1e-12);
    ck_assert_double_eq_tol(
        tal_force_param(model.forces, model.state, muscle, TAL_MUSCLE_TENDON_LENGTH), 0.3 * ratio,
        1e-12);
    ck_assert_double_eq_tol(
        tal_force_param(model.forces, model.state, muscle, TAL_MUSCLE_MAX_FORCE), 900.0, 1e-12);
    // markers of the set-up, scaled, with paths to their bodies as OpenSim has them
    for (int i = 0; i < tal_osim_results_num(r); ++i) {
        size_t size = 0;
        const char *text = tal_osim_results_text(r, i, &size);
        if (strstr(tal_osim_results_path(r, i), ".osim") == NULL) continue;
        ck_assert_ptr_null(strstr(text, ">/thigh<"));
        ck_assert_ptr_null(strstr(text, ">/shank<"));
    }
    ck_assert_int_eq(model.num_markers, 3);
    ck_assert_double_eq_tol(model.markers[0].p_BS.z, 0.04, 1e-12);
    ck_assert_double_eq_tol(model.markers[2].p_BS.y, -0.8, 1e-12);
    tal_wrap shape;
    ck_assert_int_eq(
        tal_wrap_shape(model.forces, tal_forces_find_wrap(model.forces, "roll"), &shape, NULL),
        TAL_OK);
    ck_assert_double_eq_tol(shape.size.x, 0.06, 1e-12);
    tal_model_destroy(&before);
    tal_model_destroy(&model);
    tal_osim_results_destroy(r);
}

END_TEST

// Masses with the volume, 8 and 6 times; inertias of a cylinder about y, the axis of least inertia.
START_TEST(masses_go_with_the_volume_where_they_may)
{
    write_text("s.xml", SETUP(ORDER MEASURE MANUAL, ""));
    tal_osim_results *r = run_good("s.xml", NULL, 0);
    tal_model model = read_result(r, "scaled.osim");
    const double unit = 24.0 / (8.0 * 8.0 + 6.0 * 4.0);
    const tal_mass_props thigh = mass_of(&model, "thigh"), shank = mass_of(&model, "shank");
    ck_assert_double_eq_tol(thigh.mass, 64.0 * unit, 1e-12);
    ck_assert_double_eq_tol(shank.mass, 24.0 * unit, 1e-12);
    // thigh: s^2 and the mass
    ck_assert_double_eq_tol(thigh.inertia.yy, 0.03 * 4.0 * 8.0 * unit + thigh.mass * 0.0004, 1e-12);
    // shank: r^2 = 2 I_y / m times 1 * 3, l^2 = 12 (I_x - m r^2 / 4) / m times 4, mass 6 times
    const double r2 = 2.0 * 0.01 / 4.0, l2 = 12.0 * (0.05 - 4.0 * r2 / 4.0) / 4.0;
    const double mass = 24.0 * unit;
    ck_assert_double_eq_tol(shank.inertia.yy, 0.5 * mass * 3.0 * r2, 1e-12);
    ck_assert_double_eq_tol(shank.inertia.xx,
                            mass * (4.0 * l2 / 12.0 + 3.0 * r2 / 4.0) + mass * 0.16, 1e-12);
    tal_model_destroy(&model);
    tal_osim_results_destroy(r);
}

END_TEST

// --- placement ---

// The pose is that of the fixed marker, and the markers that may move are where they were seen.
START_TEST(markers_are_placed_where_they_were_seen)
{
    write_text("s.xml", SETUP(ORDER MEASURE MANUAL, PLACER));
    tal_osim_results *r = run_good("s.xml", NULL, 0);
    int pose = 0;
    while (strstr(tal_osim_results_path(r, pose), "pose.mot") == NULL) {
        ++pose;
    }
    ck_assert_double_eq_tol(value(r, pose, 0, "hip_flexion"), 0.3 * 180.0 / 3.14159265358979323846,
                            1e-4);
    ck_assert_double_eq_tol(value(r, pose, 0, "knee"), 0.0, 1e-4);
    const double q[] = {value(r, pose, 0, "hip_flexion") * 3.14159265358979323846 / 180.0,
                        value(r, pose, 0, "knee") * 3.14159265358979323846 / 180.0};
    tal_model model = read_result(r, "placed.osim");
    (void)length_of(&model, q[0], q[1]);
    const double c = cos(0.3), s = sin(0.3);
    const tal_vec3 seen[3] = {{0.0, 0.0, 0.04},
                              {0.8 * s, -0.8 * c, 0.04},
                              {1.6 * s + 0.02 * c, -1.6 * c + 0.02 * s, 0.005}};
    for (int k = 0; k < 3; k += 2) {
        const tal_vec3 p = tal_station_p_GS(model.matter, model.state, model.markers[k].body,
                                            model.markers[k].p_BS);
        ck_assert_double_le(tal_v3_norm(tal_v3_sub(p, seen[k])), 1e-9);
    }
    ck_assert_double_eq_tol(model.markers[1].p_BS.y, -0.8, 1e-12); // fixed
    tal_model_destroy(&model);
    tal_osim_results_destroy(r);
}

END_TEST

// --- what is wrong ---

START_TEST(set_ups_that_are_wrong_are_refused)
{
    write_text("s.xml", SETUP("<scaling_order>size</scaling_order>", ""));
    assert_says("s.xml", NULL, TAL_ERR_FILE, "neither 'measurements' nor 'manualScale'");
    write_text("s.xml", SETUP("<scaling_order>manualScale</scaling_order><ScaleSet><objects><Scale>"
                              "<scales>1 -2 1</scales><segment>shank</segment></Scale></objects>"
                              "</ScaleSet>",
                              ""));
    assert_says("s.xml", NULL, TAL_ERR_FILE, "body 'shank' has the factors 1, -2, 1");
    write_text("s.xml", "<ScaleTool name='x'/>");
    assert_says("s.xml", NULL, TAL_ERR_FILE, "<GenericModelMaker>");
    write_text("markers.xml", "<Markers/>");
    write_text("s.xml", SETUP(ORDER MEASURE, ""));
    assert_says("s.xml", NULL, TAL_ERR_FILE, "<MarkerSet>");
    write_text("markers.xml", "<OpenSimDocument Version='20302'><MarkerSet/></OpenSimDocument>");
    assert_says("s.xml", NULL, TAL_OK, "measurement 'thigh' is left out");
}

END_TEST

START_TEST(scaling_survives_every_failure_of_memory)
{
    write_text("s.xml", SETUP(ORDER MEASURE MANUAL, PLACER));
    assert_survives_failing_memory("s.xml");
}

END_TEST

int main(void)
{
    make_folder();
    Suite *suite = suite_create("io/scale");
    TCase *tc = tcase_create("scale");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, write_files, NULL);
    tcase_add_test(tc, a_model_is_scaled_by_measurements_and_by_hand);
    tcase_add_test(tc, masses_go_with_the_volume_where_they_may);
    tcase_add_test(tc, markers_are_placed_where_they_were_seen);
    tcase_add_test(tc, set_ups_that_are_wrong_are_refused);
    tcase_add_test(tc, scaling_survives_every_failure_of_memory);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
