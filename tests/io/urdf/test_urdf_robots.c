// io/src/urdf: robots of our own, of the kinds that public files describe, with what those files
// have: tags of simulators, odd inertias, mimics of fixed joints, meshes in packages, macros.
#include "talus_test.h"

#include <talus/talus.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROBOTS TALUS_SOURCE_DIR "/tests/io/urdf/robots/"

// What is known about a robot, and what is said about its file.
typedef struct robot {
    const char *file, *name;
    int num_bodies, nu, num_constraints;
    double mass; // [kg] of all links in the file
    int num_warnings, num_notes;
    const char *says[3]; // some of it
} robot;

static const robot robots[] = {
    {"quadruped.urdf",
     "hound",
     19,
     12,
     0,
     5.201 + 4.0 * (0.68 + 1.0 + 0.2 + 0.06),
     1,
     4,
     {"'FR_calf', 'FL_calf', 'RR_calf', 'RL_calf'",
      "the friction of joints is not read: 'FR_hip_joint', 'FR_thigh_joint', 'FR_calf_joint', "
      "'FL_hip_joint' and 8 more",
      "not read: <collision> (13), 'dont_collapse' of <joint> (4), <transmission> (4), <gazebo> "
      "(5)"}},
    {"humanoid.urdf",
     "walker_one",
     19,
     13,
     0,
     10.5 + 17.5 + 2.0 * (1.6 + 1.9 + 6.2 + 3.9 + 1.6 + 3.2),
     2,
     1,
     {"links have an inertia but no mass, and are taken as massless: 'head'",
      "joints are held fixed, because the links that they move have no mass: 'head_pitch'",
      "not read: <collision> (5), <calibration> (11), <safety_controller> (11), <ros2_control> "
      "(1)"}},
    {"mobile_manipulator.urdf",
     "tidy",
     19,
     12,
     1,
     28.3 + 12.3 + 2.0 * (1.82 + 0.05 + 0.08) + 7.0 * 2.2 - 0.25 * 28.0 + 0.6,
     0,
     3,
     {"<xacro:property> (1), <xacro:arg> (1)", "and 3 more", "<sensor> (1)"}},
    {"hand.urdf",
     "grasper",
     16,
     10,
     6,
     0.4154 + 3.0 * (0.0119 + 0.065 + 0.0355) + 0.0176 + 0.05,
     1,
     2,
     {"<mimic> is not used where one of the two joints is fixed or has several coordinates: "
      "'index_tip_joint', 'middle_tip_joint', 'ring_tip_joint', 'thumb_flex'",
      "'index_3', 'middle_3', 'ring_3'", "not read: <collision> (4)"}},
    {"arm.urdf",
     "reach_arm",
     7,
     5,
     0,
     2.7 + 1.38 + 2.0 * 1.16 + 0.3,
     6,
     3,
     {"links have a negative principal moment of inertia, by rounding in the file, which is taken "
      "as zero: 'link_3'",
      "links have an inertia that is not physical, by less than a thousandth of it: 'tool'",
      "'iyx' of <inertia> (1)"}},
};

enum {
    NUM_ROBOTS = sizeof robots / sizeof *robots
};

static bool is_said(const tal_diagnostics *found, const char *what)
{
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        if (strstr(tal_diagnostics_at(found, i)->message, what) != NULL) return true;
    }
    return false;
}

static int count(const tal_diagnostics *found, tal_severity severity)
{
    int n = 0;
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        if (tal_diagnostics_at(found, i)->severity == severity) ++n;
    }
    return n;
}

static tal_status read_named(const char *file, const tal_urdf_options *options, tal_model *model,
                             tal_diagnostics *found)
{
    char path[400];
    (void)snprintf(path, sizeof path, ROBOTS "%s", file);
    return tal_urdf_read_file(path, options, model, found);
}

static tal_model read_well(const char *file, const tal_urdf_options *options)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = read_named(file, options, &model, found);
    ck_assert_msg(st == TAL_OK, "%s: %s", file, tal_diagnostics_at(found, 0)->message);
    tal_diagnostics_destroy(found);
    return model;
}

static void realize(const tal_model *model, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(model->system, model->state, stage) == TAL_OK, "%s",
                  tal_state_error(model->state)->message);
}

START_TEST(robots_of_all_kinds_are_read)
{
    const robot *it = &robots[_i];
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_msg(read_named(it->file, NULL, &model, found) == TAL_OK, "%s",
                  tal_diagnostics_at(found, 0)->message);
    ck_assert_str_eq(tal_system_name(model.system), it->name);
    ck_assert_int_eq(tal_matter_num_bodies(model.matter), it->num_bodies);
    ck_assert_int_eq(tal_state_nu(model.state), it->nu);
    ck_assert_int_eq(tal_matter_num_constraints(model.matter), it->num_constraints);
    ck_assert_int_eq(count(found, TAL_WARNING), it->num_warnings);
    ck_assert_int_eq(count(found, TAL_NOTE), it->num_notes);
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(is_said(found, it->says[i]), "%s: %s", it->file, it->says[i]);
    }
    double mass = 0.0;
    for (int b = 1; b < it->num_bodies; ++b) {
        mass += tal_body_mass_props(model.matter, model.state, (tal_body_ix){b}).mass;
    }
    ck_assert_double_eq_tol(mass, it->mass, 1e-12 * it->mass); // a sum of at most 20 terms
    realize(&model, TAL_STAGE_ACCELERATION);
    tal_diagnostics_destroy(found);
    tal_model_destroy(&model);
}

END_TEST

// What is warned of because no robot has it is refused; what is only left out is not.
START_TEST(odd_data_are_refused_if_asked_for)
{
    const robot *it = &robots[_i];
    tal_urdf_options options = tal_urdf_options_default();
    options.strict = true;
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const bool is_odd = it->num_warnings > 0;
    ck_assert_int_eq(read_named(it->file, &options, &model, found), is_odd ? TAL_ERR_FILE : TAL_OK);
    ck_assert_int_eq(tal_diagnostics_num_errors(found) > 0, is_odd);
    tal_diagnostics_destroy(found);
    tal_model_destroy(&model);
}

END_TEST

// Nothing holds it: the mass center falls with g, whatever the joints do.
START_TEST(a_robot_with_a_free_base_falls)
{
    tal_urdf_options options = tal_urdf_options_default();
    options.free_base = true;
    options.dampers = false;
    tal_model model = read_well(robots[_i].file, &options);
    ck_assert_int_eq(tal_state_nu(model.state), robots[_i].nu + 6);
    realize(&model, TAL_STAGE_ACCELERATION);
    const tal_vec3 a = tal_matter_com_acceleration(model.matter, model.state);
    // sums over 20 bodies of accelerations that are up to 1e3 in light links
    test_assert_v3_near(a, options.g, 1e-9);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(a_robot_that_is_written_is_read_and_written_the_same)
{
    static char first[1 << 18], second[1 << 18];
    tal_urdf_options options = tal_urdf_options_default();
    options.free_base = options.contact = true;
    tal_model model = read_well(robots[_i].file, &options), again;
    tal_error err;
    ck_assert_msg(tal_model_write_memory(&model, NULL, first, sizeof first, NULL, &err) == TAL_OK,
                  "%s", err.message);
    ck_assert_int_eq(tal_model_read_memory("m", first, strlen(first), NULL, &again, NULL), TAL_OK);
    ck_assert_int_eq(tal_model_write_memory(&again, NULL, second, sizeof second, NULL, NULL),
                     TAL_OK);
    ck_assert_str_eq(first, second);
    tal_model_destroy(&model);
    tal_model_destroy(&again);
}

END_TEST

// --- starts ---

START_TEST(coordinates_begin_where_they_are_told_and_followers_follow)
{
    const tal_model_param starts[] = {{"index_proximal", 0.4}, {"palm_tz", 1.5}};
    tal_urdf_options options = tal_urdf_options_default();
    options.free_base = true;
    options.starts = starts;
    options.num_starts = 2;
    tal_model model = read_well("hand.urdf", &options);
    const char *names[] = {"index_proximal", "index_middle", "index_distal", "palm_tz"};
    const double middle = 1.1 * 0.4 + 0.05;
    const double wanted[] = {0.4, middle, 0.9 * middle, 1.5};
    for (int k = 0; k < 4; ++k) {
        int i;
        const tal_body_ix body =
            tal_matter_find_coordinate(model.matter, model.state, names[k], &i);
        ck_assert_int_ge(body.i, 0);
        ck_assert_double_eq_tol(tal_body_q(model.matter, model.state, body, i), wanted[k],
                                2.0 * DBL_EPSILON);
    }
    tal_model_destroy(&model);
}

END_TEST

START_TEST(starts_of_what_is_not_there_are_refused)
{
    const struct {
        tal_model_param start;
        const char *says;
    } cases[] = {
        {{"index_proximl", 0.1},
         "there is no coordinate or speed 'index_proximl' (did you mean 'index_proximal'?)"},
        {{"index_middle", 0.1},
         "<mimic>: 'index_middle' begins where 'index_proximal' lets it begin"},
        {{"ring_proximal", (double)INFINITY},
         "'ring_proximal' cannot begin at inf: give a finite number"},
        {{NULL, 0.0}, "there is no coordinate or speed ''"}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        tal_urdf_options options = tal_urdf_options_default();
        options.starts = &cases[k].start;
        options.num_starts = 1;
        tal_model model;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        ck_assert_int_eq(read_named("hand.urdf", &options, &model, found), TAL_ERR_BAD_VALUE);
        ck_assert_msg(is_said(found, cases[k].says), "%s", cases[k].says);
        tal_diagnostics_destroy(found);
    }
}

END_TEST

// --- contact ---

// A ball of radius r on a plane at depth d: 4/3 sqrt(r) E d^1.5. The floor is rigid, so all of the
// depth is the foot's.
START_TEST(feet_press_on_the_floor)
{
    const double depth = 1e-3, radius = 0.02;
    const tal_model_param starts[] = {{"trunk_tz", 0.42 + radius - depth}};
    tal_urdf_options options = tal_urdf_options_default();
    options.free_base = options.contact = true;
    options.starts = starts;
    options.num_starts = 1;
    tal_model model = read_well("quadruped.urdf", &options);
    realize(&model, TAL_STAGE_VELOCITY);
    const tal_force_ix contact = tal_forces_find(model.forces, "contact");
    ck_assert_int_eq(tal_contact_num_surfaces(model.forces, contact), 14);
    ck_assert_int_eq(tal_contact_num(model.forces, model.state, contact), 4);
    for (int i = 0; i < 4; ++i) {
        tal_contact_info info;
        ck_assert_int_eq(tal_contact_calc(model.forces, model.state, contact, i, &info), TAL_OK);
        const double wanted = 4.0 / 3.0 * sqrt(radius) * 1e6 * depth * sqrt(depth);
        // the depth is a difference of 0.42 m: its rounding over 1e-3, and three more
        ck_assert_double_eq_tol(info.normal_force, wanted, wanted * 2e-12);
        ck_assert_double_eq_tol(info.n_G.z, -1.0,
                                1e-15); // from the foot, added later, to the floor
    }
    tal_model_destroy(&model);
}

END_TEST

// A capsule touches with its ends, a box with its corners, a closed mesh with its faces; what is
// fixed to Ground does not touch.
START_TEST(collision_shapes_of_all_kinds_become_surfaces)
{
    tal_urdf_options options = tal_urdf_options_default();
    options.contact = true;
    const char *files[] = {"humanoid.urdf", "hand.urdf", "mobile_manipulator.urdf"};
    // two thighs of two ends each and two feet; three fingers of two ends; two wheels, two fingers
    const int fixed[] = {1 + 4 + 2, 1 + 6, 1 + 4};
    // the pelvis; the palm; the base of a mesh, two casters
    const int more[] = {1, 1, 3};
    for (int k = 0; k < 3; ++k) {
        for (int free_base = 0; free_base < 2; ++free_base) {
            options.free_base = free_base != 0;
            tal_model model = read_well(files[k], &options);
            const tal_force_ix contact = tal_forces_find(model.forces, "contact");
            ck_assert_int_eq(tal_contact_num_surfaces(model.forces, contact),
                             fixed[k] + (free_base ? more[k] : 0));
            tal_model_destroy(&model);
        }
    }
}

END_TEST

// --- meshes ---

static const tal_decoration *first_mesh(const tal_matter *matter)
{
    for (int i = 0; i < tal_matter_num_decorations(matter); ++i) {
        const tal_decoration *d = tal_matter_decoration(matter, i);
        if (d->kind == TAL_DECORATION_MESH) return d;
    }
    return NULL;
}

START_TEST(meshes_are_found_beside_the_file_and_in_packages)
{
    const char *names[] = {"tidy_description/meshes/block.obj",
                           "package://tidy_description/meshes/block.obj",
                           "model://tidy_description/meshes/block.obj",
                           "file://" ROBOTS "tidy_description/meshes/block.obj",
                           ROBOTS "tidy_description/meshes/block.obj"};
    const char *packages[] = {"/nowhere:" ROBOTS ":", "::" ROBOTS "tidy_description"};
    char text[1000];
    for (int k = 0; k < 5; ++k) {
        for (int way = 0; way < 3; ++way) {
            if (k == 0 && way > 0) continue; // a relative path is not searched for
            (void)snprintf(text, sizeof text,
                           "<robot name='r'><link name='a'><visual><geometry><mesh filename='%s' "
                           "scale='0.5 0.5 0.5'/></geometry></visual></link></robot>",
                           names[k]);
            tal_urdf_options options = tal_urdf_options_default();
            if (way == 0) options.folder = ROBOTS "tidy_description/../.";
            if (way > 0) options.packages = packages[way - 1];
            if (way == 0 && k == 0) options.folder = TALUS_SOURCE_DIR "/tests/io/urdf/robots";
            tal_model model;
            tal_diagnostics *found = tal_diagnostics_create(NULL);
            ck_assert_int_eq(tal_urdf_read_memory("r", text, strlen(text), &options, &model, found),
                             TAL_OK);
            ck_assert_msg(tal_diagnostics_num(found) == 0, "%s, %d", names[k], way);
            const tal_decoration *d = first_mesh(model.matter);
            FILE *file = fopen(d->text, "rb");
            ck_assert_msg(file != NULL, "%s", d->text);
            (void)fclose(file);
            ck_assert_double_eq(d->scale, 0.5);
            tal_diagnostics_destroy(found);
            tal_model_destroy(&model);
        }
    }
}

END_TEST

START_TEST(colors_are_those_of_the_first_definition)
{
    tal_model model = read_well("quadruped.urdf", NULL);
    const tal_decoration *trunk = tal_matter_decoration(model.matter, 0);
    test_assert_v3_near(trunk->color, tal_v3(1.0, 0.42, 0.04), 0.0);
    const tal_decoration *hip = tal_matter_decoration(model.matter, 1);
    test_assert_v3_near(hip->color, tal_v3(0.1, 0.1, 0.1), 0.0);
    tal_model_destroy(&model);
}

END_TEST

// --- what cannot be read ---

static void assert_error(const char *text, const char *says)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_urdf_read_memory("r", text, strlen(text), NULL, &model, found),
                     TAL_ERR_FILE);
    char line[TAL_DIAGNOSTIC_SIZE];
    ck_assert_str_eq(tal_diagnostic_text(tal_diagnostics_at(found, 0), line), says);
    tal_diagnostics_destroy(found);
}

START_TEST(macros_have_to_be_expanded_first)
{
    assert_error("<robot name='r'>\n<xacro:include filename='x'/><link name='a'/></robot>",
                 "r:2:1: error: <xacro:include>: this file has macros; expand them first: xacro "
                 "robot.urdf.xacro > robot.urdf");
    assert_error("<robot name='r'><link name='a'><inertial><mass value='${m}'/></inertial></link>"
                 "</robot>",
                 "r:1:48: error: <mass>: value=\"${m}\" is not 1 finite number: this file has "
                 "macros; expand them first: xacro robot.urdf.xacro > robot.urdf");
}

END_TEST

// 0.001 with a product of 0.0003 to a moment of 0.00001: the smallest principal moment is -7.4e-5,
// of which rounding of the fifth decimal can explain 1.5e-5.
START_TEST(moments_that_rounding_cannot_explain_are_refused)
{
    assert_error("<robot name='r'><link name='a'><inertial><mass value='1'/>"
                 "<inertia ixx='0.00100' ixy='0.00030' iyy='0.00001' izz='0.00100'/></inertial>"
                 "</link></robot>",
                 "r:1:32: error: <inertial>: a principal moment about the mass center is "
                 "-7.38134e-05, negative: is the inertia about the body origin?");
}

END_TEST

// The same inertia with exponents, small and in kg mm^2: the last digit counts with its exponent.
START_TEST(exponents_count_in_the_rounding_of_moments)
{
    assert_error("<robot name='r'><link name='a'><inertial><mass value='1'/>"
                 "<inertia ixx='1.00e-3' ixy='3.0E-4' iyy='1e-05' izz='1.00e-3'/></inertial>"
                 "</link></robot>",
                 "r:1:32: error: <inertial>: a principal moment about the mass center is "
                 "-7.38134e-05, negative: is the inertia about the body origin?");
    // 10 with a product of 3 to a moment of 0.1: -0.74, of which "1e+1" and "3e0" can explain 5.5
    static const char *const signs[] = {"+", ""};
    for (int k = 0; k < 2; ++k) {
        char text[300];
        snprintf(
            text, sizeof text,
            "<robot name='r'><link name='a'><inertial><mass value='1'/>"
            "<inertia ixx='1e%s1' ixy='3e%s0' iyy='0.1' izz='10.0'/></inertial></link></robot>",
            signs[k], signs[k]);
        tal_model model;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        ck_assert_int_eq(tal_urdf_read_memory("r", text, strlen(text), NULL, &model, found),
                         TAL_OK);
        ck_assert(is_said(found, "by rounding in the file, which is taken as zero: 'a'"));
        tal_diagnostics_destroy(found);
        tal_model_destroy(&model);
    }
}

END_TEST

START_TEST(a_base_without_mass_cannot_be_free)
{
    tal_urdf_options options = tal_urdf_options_default();
    options.free_base = true;
    const char text[] = "<robot name='r'><link name='a'/></robot>";
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_urdf_read_memory("r", text, strlen(text), &options, &model, found),
                     TAL_ERR_FILE);
    ck_assert(is_said(found, "the base cannot move freely: no link has mass"));
    tal_diagnostics_destroy(found);
}

END_TEST

START_TEST(reading_shapes_survives_every_failure_of_memory)
{
    tal_status st = TAL_ERR_NO_MEMORY;
    int n = 1;
    for (; n < 3000 && st != TAL_OK; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_urdf_options options = tal_urdf_options_default();
        options.allocator = test_heap_allocator(&heap);
        options.contact = options.free_base = true;
        tal_model model;
        st = read_named("mobile_manipulator.urdf", &options, &model, NULL);
        ck_assert((st == TAL_OK) == (model.system != NULL));
        ck_assert(st == TAL_OK || st == TAL_ERR_NO_MEMORY);
        tal_model_destroy(&model);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert_int_lt(n, 3000);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/urdf_robots");
    TCase *all = tcase_create("robots");
    tcase_add_loop_test(all, robots_of_all_kinds_are_read, 0, NUM_ROBOTS);
    tcase_add_loop_test(all, odd_data_are_refused_if_asked_for, 0, NUM_ROBOTS);
    tcase_add_loop_test(all, a_robot_with_a_free_base_falls, 0, NUM_ROBOTS);
    tcase_add_loop_test(all, a_robot_that_is_written_is_read_and_written_the_same, 0, NUM_ROBOTS);
    tcase_add_test(all, coordinates_begin_where_they_are_told_and_followers_follow);
    tcase_add_test(all, starts_of_what_is_not_there_are_refused);
    tcase_add_test(all, feet_press_on_the_floor);
    tcase_add_test(all, collision_shapes_of_all_kinds_become_surfaces);
    tcase_add_test(all, meshes_are_found_beside_the_file_and_in_packages);
    tcase_add_test(all, colors_are_those_of_the_first_definition);
    tcase_add_test(all, macros_have_to_be_expanded_first);
    tcase_add_test(all, moments_that_rounding_cannot_explain_are_refused);
    tcase_add_test(all, exponents_count_in_the_rounding_of_moments);
    tcase_add_test(all, a_base_without_mass_cannot_be_free);
    tcase_add_test(all, reading_shapes_survives_every_failure_of_memory);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
