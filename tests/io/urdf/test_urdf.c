// io/src/urdf/urdf_read.c, urdf_build.c: robots become Systems.
#include "talus_test.h"

#include <talus/talus.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// --- refs:kuka_iiwa14: 7 joints, 80-digit differences of poses and projected Newton-Euler ---

static const double rest_q[] = {1.0471975511965979, 0.5235987755982989, 1.0471975511965979,
                                0.5235987755982989, 1.0471975511965979, 0.5235987755982989,
                                1.0471975511965979};
static const double rest_R[] = {
    -0.5939002959880222, 0.8043869080239556,   -0.015625, -0.8043869080239556,
    -0.5932991120359334, 0.030949408023955616, 0.015625,  0.030949408023955616,
    0.9993988160479113};
static const double rest_p[] = {0.29703564518922193, 0.17276969646622867, 1.154681973689345};
static const double rest_tau[] = {0.0,
                                  -33.929397602386345,
                                  -4.858966393519993,
                                  -4.40625212606322,
                                  0.3623270740342902,
                                  -0.02278034162384739,
                                  0.0};
static const double moving_q[] = {0.3, -0.7, 1.1, -1.3, 0.5, 0.9, -0.2};
static const double moving_u[] = {0.4, -0.6, 0.8, 1.0, -1.2, 0.7, 0.9};
static const double moving_bias[] = {1.9025803286290603,   30.147634376605613,  -13.393434548517163,
                                     15.57101446758594,    -0.8007632695347116, -0.9518921287066995,
                                     0.0012121117455240358};
// rows of the upper triangle
static const double moving_M[] = {1.3744161223895075,     -0.9888083474693725,
                                  0.2716335147392583,     0.5996287308508506,
                                  0.027930591047526883,   0.004598166491829135,
                                  -0.0003662948282897862, 2.893536813643836,
                                  -1.0210295613136555,    -0.47824885852665733,
                                  -0.040396622653779427,  -0.014417102187578695,
                                  0.000868024008355505,   0.8162700016910186,
                                  -0.0023000648304398364, 0.05133693386689459,
                                  0.02182572805548859,    -0.0004961027540915493,
                                  0.8247638566523687,     0.004679636309294907,
                                  -0.041462133994639265,  -0.0003755469255513221,
                                  0.019368153963726497,   -2.68535506292927e-07,
                                  0.0006216099682706645,  0.016841848,
                                  -8.13553624224613e-66,  0.001};

static tal_model read_robot(const char *text, const tal_urdf_options *options, int notes)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_urdf_read_memory("r", text, strlen(text), options, &model, found);
    char line[TAL_DIAGNOSTIC_SIZE] = "";
    if (tal_diagnostics_num(found) > 0) {
        (void)tal_diagnostic_text(tal_diagnostics_at(found, 0), line);
    }
    ck_assert_msg(st == TAL_OK, "%s", line);
    ck_assert_msg(tal_diagnostics_num(found) == notes, "%s", line);
    tal_diagnostics_destroy(found);
    return model;
}

static tal_model read_arm(void)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_urdf_read_file(TALUS_SOURCE_DIR "/tests/fuzz/corpus_urdf/iiwa14.urdf",
                                        NULL, &model, found),
                     TAL_OK);
    ck_assert_int_eq(tal_diagnostics_num(found), 2);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                     "mesh files are not found: 'link1.obj', 'link2.obj', 'link3.obj', 'link4.obj' "
                     "and 3 more");
    ck_assert_int_eq(tal_diagnostics_at(found, 0)->severity, TAL_NOTE);
    ck_assert_str_eq(tal_diagnostics_at(found, 1)->message, "not read: <transmission> (1)");
    tal_diagnostics_destroy(found);
    return model;
}

static void realize(const tal_model *model, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(model->system, model->state, stage) == TAL_OK, "%s",
                  tal_state_error(model->state)->message);
}

START_TEST(the_kuka_arm_has_the_poses_of_the_reference)
{
    tal_model model = read_arm();
    ck_assert_int_eq(tal_matter_num_bodies(model.matter), 8);
    ck_assert_int_eq(tal_state_set_q(model.state, rest_q, 7), TAL_OK);
    realize(&model, TAL_STAGE_POSITION);
    // entries of at most 1.2, seven products of rotations, each of three terms: 50 roundings
    const double tol = 50.0 * DBL_EPSILON * 1.2;
    const double *R = rest_R;
    const tal_mat3 R_G7 = {{R[0], R[3], R[6]}, {R[1], R[4], R[7]}, {R[2], R[5], R[8]}};
    const tal_xform X =
        tal_body_X_GB(model.matter, model.state, tal_matter_find_body(model.matter, "link7"));
    test_assert_m3_near(X.R, R_G7, tol);
    test_assert_near(&X.p.x, rest_p, 3, tol, "p_G7");
    tal_model_destroy(&model);
}

END_TEST

// M udot + bias = 0, with the M and the bias of the reference and the udot of the file.
START_TEST(the_kuka_arm_has_the_mass_matrix_and_accelerations_of_the_reference)
{
    tal_model model = read_arm();
    ck_assert_int_eq(tal_state_set_q(model.state, moving_q, 7), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(model.state, moving_u, 7), TAL_OK);
    realize(&model, TAL_STAGE_ACCELERATION);
    double entries[49], wanted[49];
    const tal_matrix M = {entries, 7, 7, 7};
    ck_assert_int_eq(tal_matter_calc_M(model.matter, model.state, M), TAL_OK);
    for (int i = 0, k = 0; i < 7; ++i) {
        for (int j = i; j < 7; ++j, ++k) {
            wanted[7 * i + j] = wanted[7 * j + i] = moving_M[k];
        }
    }
    // composite inertias of at most 3 kg m^2, summed over 7 bodies through 7 shifts
    test_assert_near(entries, wanted, 49, 100.0 * DBL_EPSILON * 3.0, "M");
    const double *udot = tal_state_udot(model.state);
    double largest = 0.0;
    for (int i = 0; i < 7; ++i) {
        largest = fmax(largest, fabs(udot[i]));
    }
    for (int i = 0; i < 7; ++i) {
        double residual = moving_bias[i];
        for (int j = 0; j < 7; ++j) {
            residual += wanted[7 * i + j] * udot[j];
        }
        // the sweeps are backward stable: a change of M by 100 eps, times udot, and of the bias
        ck_assert_double_le(fabs(residual), 100.0 * DBL_EPSILON * (3.0 * 7.0 * largest + 30.0));
    }
    tal_model_destroy(&model);
}

END_TEST

START_TEST(the_kuka_arm_at_rest_feels_its_weight)
{
    tal_model model = read_arm();
    ck_assert_int_eq(tal_state_set_q(model.state, rest_q, 7), TAL_OK);
    realize(&model, TAL_STAGE_ACCELERATION);
    double pull[7];
    ck_assert_int_eq(tal_matter_mul_M(model.matter, model.state, tal_state_udot(model.state), pull),
                     TAL_OK);
    for (int i = 0; i < 7; ++i) {
        // udot is as large as 34 N m over an inertia of 1e-3; M times its rounding
        ck_assert_double_le(fabs(pull[i] + rest_tau[i]), 100.0 * DBL_EPSILON * 34.0 / 1e-3);
    }
    tal_model_destroy(&model);
}

END_TEST

#define MASS      "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define TWO_LINKS "<robot><link name='a'/><link name='b'>" MASS "</link>\n"

// X_PB(q) = X_PJ Rot(axis, q), whatever the axis: the mobilizer's own z or x must not show.
START_TEST(joints_turn_and_slide_along_any_axis)
{
    const char *axes[] = {"0 0 1", "0 0 -1", "1 0 0", "0 1 0", "-2 0 0", "1 2 -2", "0.1 0 5"};
    const tal_vec3 directions[] = {{0, 0, 1},  {0, 0, -1}, {1, 0, 0},  {0, 1, 0},
                                   {-1, 0, 0}, {1, 2, -2}, {0.1, 0, 5}};
    for (int k = 0; k < 14; ++k) {
        const bool turns = k < 7;
        char text[1000];
        (void)snprintf(text, sizeof text,
                       TWO_LINKS "<joint name='j' type='%s'><parent link='a'/><child link='b'/>"
                                 "<origin xyz='1 2 3' rpy='0.3 -0.4 0.5'/><axis xyz='%s'/>"
                                 "<limit lower='-3' upper='3'/></joint></robot>",
                       turns ? "continuous" : "prismatic", axes[k % 7]);
        tal_model model = read_robot(text, NULL, 0);
        const double q = 0.7, u = -1.3;
        ck_assert_int_eq(tal_state_set_q(model.state, &q, 1), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(model.state, &u, 1), TAL_OK);
        realize(&model, TAL_STAGE_VELOCITY);
        // yaw, pitch, roll about axes that turn along: the same as roll, pitch, yaw about fixed
        // ones
        const tal_mat3 R_PJ = tal_m3_mul(
            tal_rotation_about(TAL_AXIS_Z, 0.5),
            tal_m3_mul(tal_rotation_about(TAL_AXIS_Y, -0.4), tal_rotation_about(TAL_AXIS_X, 0.3)));
        const tal_vec3 axis = tal_v3_normalize(directions[k % 7]);
        const tal_vec3 axis_G = tal_m3_mul_v3(R_PJ, axis), p = tal_v3(1.0, 2.0, 3.0);
        const tal_body_ix b = tal_matter_find_body(model.matter, "b");
        const tal_xform X = tal_body_X_GB(model.matter, model.state, b);
        const tal_spatial_vec V = tal_body_V_GB(model.matter, model.state, b);
        const tal_vec3 none = tal_v3(0.0, 0.0, 0.0), moving = tal_v3_scale(u, axis_G);
        const tal_mat3 turned = tal_m3_mul(R_PJ, tal_rotation_from_angle_axis(q, axis));
        // rotations of a few products each: 20 roundings of entries of at most one, positions of 4
        test_assert_m3_near(X.R, turns ? turned : R_PJ, 20.0 * DBL_EPSILON);
        test_assert_v3_near(X.p, turns ? p : tal_v3_add(p, tal_v3_scale(q, axis_G)),
                            40.0 * DBL_EPSILON);
        test_assert_v3_near(V.w, turns ? moving : none, 20.0 * DBL_EPSILON);
        test_assert_v3_near(V.v, turns ? none : moving, 20.0 * DBL_EPSILON);
        tal_model_destroy(&model);
    }
}

END_TEST

// I_B = R I R^T about the mass center.
START_TEST(inertia_may_be_given_in_a_turned_frame)
{
    const char text[] =
        "<robot><link name='b'><inertial><mass value='2'/><origin xyz='0.1 -0.2 0.3' "
        "rpy='0.3 0.5 -0.7'/><inertia ixx='1' iyy='2' izz='2.5' ixy='0.1' ixz='0.2' iyz='-0.1'/>"
        "</inertial></link></robot>";
    tal_model model = read_robot(text, NULL, 0);
    const tal_mass_props props =
        tal_body_mass_props(model.matter, model.state, tal_matter_find_body(model.matter, "b"));
    const tal_mat3 R = tal_m3_mul(
        tal_rotation_about(TAL_AXIS_Z, -0.7),
        tal_m3_mul(tal_rotation_about(TAL_AXIS_Y, 0.5), tal_rotation_about(TAL_AXIS_X, 0.3)));
    const tal_mat3 I = {{1.0, 0.1, 0.2}, {0.1, 2.0, -0.1}, {0.2, -0.1, 2.5}};
    const tal_mat3 wanted = tal_m3_mul(R, tal_m3_mul(I, tal_m3_transpose(R)));
    const tal_sym3 central = tal_mass_props_central_inertia(props);
    const double got[] = {central.xx, central.yy, central.zz, central.xy, central.xz, central.yz};
    const double want[] = {wanted.x.x, wanted.y.y, wanted.z.z, wanted.x.y, wanted.x.z, wanted.y.z};
    // 20 roundings of 2.5, and the shift to the origin and back
    test_assert_near(got, want, 6, 50.0 * DBL_EPSILON, "central inertia");
    test_assert_v3_near(props.com, tal_v3(0.1, -0.2, 0.3), DBL_EPSILON);
    ck_assert_double_eq(props.mass, 2.0);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(every_kind_of_joint_becomes_its_mobilizer)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_urdf_read_file(TALUS_SOURCE_DIR "/tests/fuzz/corpus_urdf/kinds.urdf", NULL,
                                        &model, found),
                     TAL_OK);
    ck_assert_int_eq(tal_diagnostics_num(found), 1);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                     "the friction of joints is not read: 'j2'");
    tal_diagnostics_destroy(found);
    const char *links[] = {"base", "a", "b", "c", "d", "tool", "e"};
    const char *kinds[] = {"weld", "free", "pin", "slider", "planar", "weld", "pin"};
    for (int i = 0; i < 7; ++i) {
        const tal_body_ix body = tal_matter_find_body(model.matter, links[i]);
        ck_assert_str_eq(tal_body_mobilizer(model.matter, body), kinds[i]);
    }
    const tal_body_ix c = tal_matter_find_body(model.matter, "c");
    double low = 0.0, high = 0.0;
    ck_assert_int_eq(tal_body_range(model.matter, model.state, c, 0, &low, &high), TAL_OK);
    ck_assert_double_eq(low, -1.0);
    ck_assert_double_eq(high, 2.0);
    tal_model_destroy(&model);
}

END_TEST

// q6 = -2 q2 + 1/4: at the start, and udot6 = -2 udot2 when everything moves.
START_TEST(a_joint_follows_the_one_it_mimics)
{
    const char text[] =
        "<robot><link name='g'/><link name='a'><inertial><origin xyz='0 1 0'/><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><link name='b'>" MASS
        "</link><link name='c'>" MASS "</link>"
        "<joint name='z' type='continuous'><parent link='b'/><child link='c'/><axis xyz='0 1 0'/>"
        "<mimic joint='y' multiplier='3'/></joint>"
        "<joint name='x' type='continuous'><parent link='g'/><child link='a'/></joint>"
        "<joint name='y' type='continuous'><parent link='a'/><child link='b'/>"
        "<origin xyz='0 0 1'/><mimic joint='x' multiplier='-2' offset='0.25'/></joint></robot>";
    tal_model model = read_robot(text, NULL, 0);
    ck_assert_int_eq(tal_matter_num_constraints(model.matter), 2);
    const tal_body_ix a = tal_matter_find_body(model.matter, "a");
    const tal_body_ix b = tal_matter_find_body(model.matter, "b");
    const tal_body_ix c = tal_matter_find_body(model.matter, "c");
    ck_assert_double_eq(tal_body_q(model.matter, model.state, b, 0), 0.25);
    ck_assert_double_eq(tal_body_q(model.matter, model.state, c, 0), 0.75);
    realize(&model, TAL_STAGE_ACCELERATION);
    for (int i = 0; i < 2; ++i) {
        ck_assert_double_eq(tal_state_qerr(model.state)[i], 0.0);
    }
    const double *udot = tal_state_udot(model.state);
    const double leader = udot[tal_body_u_start(model.matter, a)];
    ck_assert_double_gt(fabs(leader), 0.01);
    // three accelerations of order ten from a solve of condition below 100
    ck_assert_double_eq_tol(udot[tal_body_u_start(model.matter, b)], -2.0 * leader, 1e-12);
    ck_assert_double_eq_tol(udot[tal_body_u_start(model.matter, c)], -6.0 * leader, 1e-12);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(the_base_is_fixed_or_free_and_world_is_ground)
{
    const char text[] = "<robot><link name='world'/><link name='b'>" MASS
                        "</link><joint name='j' type='fixed'><parent link='world'/>"
                        "<child link='b'/></joint></robot>";
    tal_model model = read_robot(text, NULL, 0);
    ck_assert_int_eq(tal_matter_num_bodies(model.matter), 2);
    tal_model_destroy(&model);

    tal_urdf_options options = tal_urdf_options_default();
    options.free_base = true;
    options.g = tal_v3(0.0, -2.0, 0.0);
    model = read_robot("<robot><link name='b'>" MASS "</link></robot>", &options, 0);
    realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_matter_nu(model.matter), 6);
    ck_assert_double_eq_tol(tal_state_udot(model.state)[4], -2.0, 4.0 * DBL_EPSILON);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(damping_becomes_dampers_when_wanted)
{
    const char text[] = TWO_LINKS "<joint name='j' type='continuous'><parent link='a'/>"
                                  "<child link='b'/><dynamics damping='0.5'/></joint></robot>";
    tal_urdf_options options = tal_urdf_options_default();
    options.g = tal_v3(0.0, 0.0, 0.0);
    for (int k = 0; k < 2; ++k) {
        options.dampers = k == 0;
        tal_model model = read_robot(text, &options, 0);
        const double u = 2.0;
        ck_assert_int_eq(tal_state_set_u(model.state, &u, 1), TAL_OK);
        realize(&model, TAL_STAGE_ACCELERATION);
        // inertia 1, torque -c u
        ck_assert_double_eq_tol(tal_state_udot(model.state)[0], k == 0 ? -1.0 : 0.0,
                                4.0 * DBL_EPSILON);
        tal_model_destroy(&model);
    }
}

END_TEST

// --- what is wrong ---

static void assert_says_with(const char *text, const tal_urdf_options *options,
                             const char *expected)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_urdf_read_memory("r", text, strlen(text), options, &model, found);
    char said[8000] = "";
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char line[TAL_DIAGNOSTIC_SIZE];
        const size_t used = strlen(said);
        (void)snprintf(said + used, sizeof said - used, "%s\n",
                       tal_diagnostic_text(tal_diagnostics_at(found, i), line));
    }
    ck_assert_str_eq(said, expected);
    ck_assert((st == TAL_OK) == (tal_diagnostics_num_errors(found) == 0));
    ck_assert((st == TAL_OK) == (model.system != NULL));
    tal_diagnostics_destroy(found);
    tal_model_destroy(&model);
}

static void assert_says(const char *text, const char *expected)
{
    assert_says_with(text, NULL, expected);
}

#define JOIN(type, rest)                                                                           \
    "<joint name='j' type='" type "'><parent link='a'/><child link='b'/>" rest "</joint></robot>"

START_TEST(links_are_refused_with_line_and_column)
{
    assert_says("<model/>", "r:1:1: error: <model> is not <robot>: this is not a URDF file\n");
    assert_says("<robot/>", "r:1:1: error: there is no <link>\n");
    assert_says("<robot>\n <link/>\n <link name='a'/><link\n  name='a'/></robot>",
                "r:2:2: error: <link> needs the attribute 'name'\n"
                "r:4:3: error: <link name=\"a\">: the name is used already\n");
    assert_says("<robot><link name='a2345678901234567890123456789012345678901234567890123456789012"
                "345'/></robot>",
                "r:1:14: error: <link name=\"a23456789012345678901234567890123456789012345678\">: "
                "a name has 1 to 63 characters\n");
    assert_says("<robot><link name='a'><inertial/><inertial/></link></robot>",
                "r:1:34: error: <inertial> is given twice in <link>\n"
                "r:1:23: error: <inertial> needs <mass>\n");
    assert_says("<robot><link name='a'><inertial><mass valu='1'/><origin xyz='1 2' rpy='a'/>"
                "<inertia ixx='1' iyy='nan'/></inertial></link></robot>",
                "r:1:57: error: <origin>: xyz=\"1 2\" is not 3 finite numbers\n"
                "r:1:67: error: <origin>: rpy=\"a\" is not 3 finite numbers\n"
                "r:1:39: error: <mass> has no attribute 'valu' (did you mean 'value'?)\n"
                "r:1:33: error: <mass> needs the attribute 'value'\n"
                "r:1:93: error: <inertia>: iyy=\"nan\" is not 1 finite number\n"
                "r:1:76: error: <inertia> needs the attribute 'izz'\n");
    assert_says(
        "<robot><link name='a'><inertial><mass value='-1'/></inertial></link><link name='b'>"
        "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='3'/></inertial></link>"
        "</robot>",
        "r:1:23: error: <inertial>: mass is -1: it must not be negative\n"
        "r:1:84: warning: links have an inertia that is not physical (a principal moment exceeds "
        "the sum of the others): 'b'\n");
}

END_TEST

// Link 3 of the Puma 560, as published, and one rounded to three digits.
START_TEST(inertias_of_no_real_body_are_warned_of_or_refused)
{
    const char puma[] =
        "<robot><link name='link2'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
        "<link name='link3'><inertial><mass value='4.8'/>"
        "<inertia ixx='0.066' iyy='0.086' izz='0.0125'/></inertial></link>"
        "<joint name='j' type='continuous'><parent link='link2'/><child link='link3'/></joint>"
        "</robot>";
    const char rounded[] = "<robot><link name='rod'><inertial><mass value='1'/>"
                           "<inertia ixx='1' iyy='1.001' izz='0.0005'/></inertial></link></robot>";
    const char far_off[] = "links have an inertia that is not physical (a principal moment "
                           "exceeds the sum of the others): 'link3'\n";
    char text[4096];
    (void)snprintf(text, sizeof text, "r:1:125: warning: %s", far_off);
    assert_says(puma, text);
    (void)snprintf(text, sizeof text, "r:1:125: error: %s", far_off);
    tal_urdf_options options = tal_urdf_options_default();
    options.strict = true;
    assert_says_with(puma, &options, text);
    assert_says(rounded, "r:1:25: warning: links have an inertia that is not physical, by less "
                         "than a thousandth of it: 'rod'\n");
    assert_says_with(rounded, &options,
                     "r:1:25: error: links have an inertia that is not physical, by less than a "
                     "thousandth of it: 'rod'\n");
    options.strict = false;
    options.any_inertia = true;
    tal_model model;
    ck_assert_int_eq(tal_urdf_read_memory("r", puma, sizeof puma - 1, &options, &model, NULL),
                     TAL_OK);
    double excess = 0.0;
    const tal_body_ix body =
        tal_matter_find_unphysical(model.matter, model.state, TAL_GROUND, &excess);
    ck_assert_str_eq(tal_body_name(model.matter, body), "link3");
    ck_assert_double_eq_tol(excess, (0.086 - 0.066 - 0.0125) / 0.086, 1e-14);
    ck_assert_int_lt(tal_matter_find_unphysical(model.matter, model.state, body, NULL).i, 0);
    // only the bodies that need the permission have it in the model file
    ck_assert_int_eq(tal_model_write_memory(&model, NULL, text, sizeof text, NULL, NULL), TAL_OK);
    const char *permit = strstr(text, "any_inertia=\"yes\"");
    ck_assert(permit != NULL && strstr(permit + 1, "any_inertia") == NULL);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(joints_are_refused_with_line_and_column)
{
    assert_says(TWO_LINKS JOIN("revolut", ""),
                "r:2:17: error: <joint name=\"j\">: there is no type 'revolut' (did you mean "
                "'revolute'?)\n");
    assert_says(TWO_LINKS "<joint name='j'><axis/></joint></robot>",
                "r:2:1: error: <joint name=\"j\"> needs the attribute 'type'\n"
                "r:2:1: error: <joint name=\"j\"> needs <parent>\n"
                "r:2:1: error: <joint name=\"j\"> needs <child>\n");
    assert_says(TWO_LINKS JOIN("continuous", "<axis/>"),
                "r:2:70: error: <axis> needs the attribute 'xyz'\n");
    assert_says(TWO_LINKS JOIN("fixed", "<axis/><axis xyz='0 0 0'/>"),
                "r:2:72: error: <axis> is given twice in <joint>\n");
    assert_says(TWO_LINKS "<joint name='j' type='magic'><parent link='x'/><child/></joint></robot>",
                "r:2:17: error: <joint name=\"j\">: there is no type 'magic'\n"
                "r:2:38: error: <parent>: there is no link 'x'\n"
                "r:2:48: error: <child> needs the attribute 'link'\n");
    assert_says(TWO_LINKS JOIN("revolute", "<axis xyz='0 0 0'/><limit lower='2' upper='1'/>"
                                           "<dynamics damping='-1'/>"),
                "r:2:68: error: <axis> has no direction: xyz is zero\n"
                "r:2:87: error: <limit>: lower 2 is above upper 1\n"
                "r:2:125: error: <dynamics>: damping -1 is negative\n");
    assert_says(TWO_LINKS JOIN("revolute", "<mimic joint='k'/>"),
                "r:2:75: error: <mimic>: there is no joint 'k'\n"
                "r:2:1: warning: joints have no <limit>: their ranges are not limited: 'j'\n");
    assert_says(TWO_LINKS JOIN("fixed", "<mimic/>"),
                "r:2:65: error: <mimic> needs the attribute 'joint'\n");
    assert_says(TWO_LINKS JOIN("planar", "<mimic joint='j'/>"),
                "r:2:66: note: <mimic> is not used where one of the two joints is fixed or has "
                "several coordinates: 'j'\n");
    assert_says(TWO_LINKS JOIN("continuous", "<mimic joint='j'/>"),
                "r:2:70: error: <mimic>: joints mimic each other in a circle\n");
    assert_says(TWO_LINKS JOIN("fixed", "<origin foreign='1' wide='2'/>"),
                "r:2:73: note: not read: 'foreign' of <origin> (1), 'wide' of <origin> (1)\n");
}

END_TEST

START_TEST(what_is_no_tree_is_refused)
{
    assert_says(
        "<robot><link name='a'/><link name='b'/></robot>",
        "r:1:24: error: <link name=\"b\"> is the child of no joint, and neither is link 'a': "
        "there must be one root\n");
    assert_says(TWO_LINKS
                "<joint name='k' type='fixed'><parent link='a'/><child link='a'/></joint>" JOIN(
                    "fixed", ""),
                "r:2:1: error: <joint name=\"k\"> connects link 'a' with itself\n");
    assert_says(TWO_LINKS
                "<joint name='k' type='fixed'><parent link='a'/><child link='b'/></joint>" JOIN(
                    "fixed", ""),
                "r:2:73: error: <joint name=\"j\">: link 'b' is the child of another joint "
                "already\n");
    assert_says(TWO_LINKS
                "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>" JOIN(
                    "fixed", ""),
                "r:1:1: error: every link is the child of a joint: no root\n");
    assert_says("<robot><link name='r'/><link name='a'/><link name='b'/>"
                "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>" JOIN(
                    "fixed", ""),
                "r:1:24: error: link 'a' is not connected to the root 'r': joints form a loop\n");
    assert_says("<robot><link name='a'/><link name='b'/>" JOIN("continuous", ""),
                "r:1:40: warning: joints are held fixed, because the links that they move have "
                "no mass: 'j'\n");
    assert_says("<robot><link name='a'/><link name='ground'>" MASS "</link>"
                "<joint name='a.q0' type='continuous'><parent link='a'/><child link='ground'/>"
                "</joint></robot>",
                "r: error: there is a body 'ground' already\n");
    assert_says("<robot><link name='a'/><link name='b'>" MASS "</link>"
                "<joint name='a.q0' type='continuous'><parent link='a'/><child link='b'/>"
                "</joint></robot>",
                "r: error: body 'b', coordinate 0: 'a.q0' ends like a default name, .q<number>\n");
}

END_TEST

START_TEST(reading_a_robot_survives_every_failure_of_memory)
{
    const char text[] = TWO_LINKS
        "<link name='c'>" MASS "</link><joint name='k' type='continuous'>"
        "<parent link='b'/><child link='c'/><mimic joint='j'/></joint>" JOIN("continuous", "");
    tal_status st = TAL_ERR_NO_MEMORY;
    int n = 1;
    for (; n < 1000 && st != TAL_OK; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_urdf_options options = tal_urdf_options_default();
        options.allocator = test_heap_allocator(&heap);
        tal_model model;
        st = tal_urdf_read_memory("r", text, sizeof text - 1, &options, &model, NULL);
        ck_assert((st == TAL_OK) == (model.system != NULL));
        ck_assert(st == TAL_OK || st == TAL_ERR_NO_MEMORY);
        if (st == TAL_OK) test_assert_never_refused(&heap);
        tal_model_destroy(&model);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert_int_lt(n, 1000);
}

END_TEST

START_TEST(broken_contracts_of_robots_are_reported)
{
    tal_model model;
    test_record_breaches();
    test_assert_breach(ck_assert_int_eq(tal_urdf_read_file(NULL, NULL, &model, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "name");
    test_assert_breach(
        ck_assert_int_eq(tal_urdf_read_memory("r", NULL, 0, NULL, &model, NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "text");
    test_assert_breach(
        ck_assert_int_eq(tal_urdf_read_memory("r", "", 0, NULL, NULL, NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "result");
    (void)tal_contract_set_handler(NULL);
    ck_assert_int_eq(tal_urdf_read_file("does/not/exist.urdf", NULL, &model, NULL), TAL_ERR_FILE);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/urdf");
    TCase *textbook = tcase_create("textbook");
    tcase_add_test(textbook, the_kuka_arm_has_the_poses_of_the_reference);
    tcase_add_test(textbook, the_kuka_arm_has_the_mass_matrix_and_accelerations_of_the_reference);
    tcase_add_test(textbook, the_kuka_arm_at_rest_feels_its_weight);
    suite_add_tcase(suite, textbook);
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, joints_turn_and_slide_along_any_axis);
    tcase_add_test(theory, inertia_may_be_given_in_a_turned_frame);
    tcase_add_test(theory, every_kind_of_joint_becomes_its_mobilizer);
    tcase_add_test(theory, a_joint_follows_the_one_it_mimics);
    tcase_add_test(theory, the_base_is_fixed_or_free_and_world_is_ground);
    tcase_add_test(theory, damping_becomes_dampers_when_wanted);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, links_are_refused_with_line_and_column);
    tcase_add_test(errors, inertias_of_no_real_body_are_warned_of_or_refused);
    tcase_add_test(errors, joints_are_refused_with_line_and_column);
    tcase_add_test(errors, what_is_no_tree_is_refused);
    tcase_add_test(errors, reading_a_robot_survives_every_failure_of_memory);
    tcase_add_test(errors, broken_contracts_of_robots_are_reported);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
