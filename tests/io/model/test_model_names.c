// io/src/model/model_reference.c, model_functions.c, model_contact.c: what stands in a file once,
// by name.
#include "model_same.h"

#include <stdio.h>

// Everything that a warning says about a text.
static char *warnings(const char *text)
{
    tal_model m;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), NULL, &m, found), TAL_OK);
    char *all = calloc(2, TAL_DIAGNOSTIC_SIZE);
    ck_assert_int_le(tal_diagnostics_num(found), 2);
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char line[TAL_DIAGNOSTIC_SIZE];
        (void)strcat(all, tal_diagnostic_text(tal_diagnostics_at(found, i), line));
        (void)strcat(all, "\n");
    }
    tal_diagnostics_destroy(found);
    tal_model_destroy(&m);
    return all;
}

START_TEST(a_function_by_name_is_the_same_as_in_its_place)
{
    // in every place that takes functions, and several times
    const char *pattern =
        "<talus version='1' units='deg'>%s<bodies><pin name='a' mass='1'/><pin name='b' parent='a' "
        "mass='1' frame='0 1 0'/><function_based name='c' parent='b' coordinates='1' mass='1'>"
        "<rotation index='0' coordinates='0'>%s</rotation><translation index='1' coordinates='0'>%s"
        "</translation></function_based></bodies><constraints><coordinate_coupler mobilities='b'>%s"
        "</coordinate_coupler></constraints><motions><functions body='a'>%s</functions></motions>"
        "<forces><mobility_nonlinear_spring mobility='b'><sum>%s%s</sum>"
        "</mobility_nonlinear_spring></forces></talus>";
    const char *functions =
        "<functions><sinusoid name='wave' amplitude='2' frequency='3' phase='60'/>"
        "<composition name='twice'><polynomial coefficients='1 0.5 0'/><function named='wave'/>"
        "</composition></functions>";
    const char *wave = "<sinusoid amplitude='2' frequency='3' phase='60'/>";
    const char *twice = "<composition><polynomial coefficients='1 0.5 0'/>"
                        "<sinusoid amplitude='2' frequency='3' phase='60'/></composition>";
    const char *by = "<function named='wave'/>", *also = "<function named='twice'/>";
    char with[3000], without[3000];
    (void)snprintf(with, sizeof with, pattern, functions, by, also, also, by, also, by);
    (void)snprintf(without, sizeof without, pattern, "", wave, twice, twice, wave, twice, wave);
    tal_model named = read_text(with), plain = read_text(without);
    assert_same_model("by name", plain.system, plain.state, named.system, named.state);

    // what is written has no names, and is the same again
    tal_error err = {TAL_OK, "", ""};
    char *one = write_text(&named, &err), *other = write_text(&plain, &err);
    ck_assert_str_eq(one, other);
    tal_model again = read_text(one);
    assert_same_model("written", named.system, named.state, again.system, again.state);
    tal_model_destroy(&again);
    tal_model_destroy(&named);
    tal_model_destroy(&plain);
    free(one);
    free(other);
}

END_TEST

// Names of coordinates where numbers of mobilities could stand. Numbers differ with what is meant:
// a distance of a free body is coordinate 4, 3 when springs count, and speed 3; of a free line 4, 3
// and 2.
START_TEST(a_mobility_can_be_a_coordinate_with_a_name)
{
    const char *pattern =
        "<talus version='1' units='deg'><bodies><pin name='a' mass='1' inertia='1 1 1'>"
        "<coordinate name='knee'/></pin><slider name='b' parent='a' mass='1'>"
        "<coordinate name='a'/></slider><slider name='s' mass='1'><coordinate name='a:flexion'/></slider>"
        "<free name='f' mass='1' inertia='1 1 1'><coordinate index='4' name='x'/></free>"
        "<free_line name='l' mass='1' structure='line' solid='rod 0 0 1'>"
        "<coordinate index='4' name='y'/></free_line>"
        "<free name='g' mass='1' inertia='1 1 1' angles='yes'><coordinate index='1' name='tilt'/>"
        "<coordinate index='3' name='z'/></free></bodies>"
        "<constraints><coordinate_coupler mobilities='%s'><linear slopes='1 2 3'/>"
        "</coordinate_coupler></constraints>"
        "<measures><coordinate mobility='%s'/><coordinate mobility='%s'/><speed mobility='%s'/>"
        "<speed mobility='%s'/></measures>"
        "<forces><mobility_spring mobility='%s' stiffness='1' rest='90'/>"
        "<mobility_spring mobility='%s' stiffness='1' rest='90'/>"
        "<mobility_spring mobility='%s' stiffness='1' rest='90'/>"
        "<mobility_spring mobility='%s' stiffness='1' rest='90'/>"
        "<mobility_damper mobility='%s' damping='1'/><mobility_damper mobility='%s' damping='1'/>"
        "<mobility_damper mobility='%s' damping='1'/></forces></talus>";
    char with[3000], without[3000];
    // 'a' is a body first
    (void)snprintf(with, sizeof with, pattern, "knee; a ;a:flexion", "x", "tilt", "y", "x", "knee",
                   "x", "y", "tilt", "x", "y", "z");
    (void)snprintf(without, sizeof without, pattern, "a:0;a:0;s:0", "f:4", "g:1", "l:2", "f:3",
                   "a:0", "f:3", "l:3", "g:1", "f:3", "l:2", "g:3");
    tal_model named = read_text(with), plain = read_text(without);
    assert_same_model("by name", plain.system, plain.state, named.system, named.state);
    tal_error err = {TAL_OK, "", ""};
    char *one = write_text(&named, &err), *other = write_text(&plain, &err);
    ck_assert_ptr_nonnull(one);
    ck_assert_str_eq(one, other);
    free(one);
    free(other);
    tal_model_destroy(&named);
    tal_model_destroy(&plain);
}

END_TEST

START_TEST(a_material_by_name_is_the_same_as_its_numbers)
{
    const char *pattern =
        "<talus version='1'>%s<bodies><free name='a' mass='1' inertia='1 1 1' q='1 0 0 0 0 0.45 0'/>"
        "</bodies><forces><contact name='c'><half_space frame='0 0 0 0 0 -1.5' %s/>"
        "<sphere body='a' radius='0.5' %s stiffness='3e6'/></contact>"
        "<smooth_contact sphere_body='a' radius='0.5' plane='0 0 0 0 0 -1.5' %s dissipation='2'/>"
        "</forces></talus>";
    const char *materials =
        "<materials><material name='rough' material='rubber' static_friction='0.9' "
        "dynamic_friction='0.7'/><material name='wet' material='rough' viscous_friction='0.2' "
        "dynamic_friction='0.1'/></materials>";
    const char *rough = "material='rubber' static_friction='0.9' dynamic_friction='0.7'";
    const char *wet = "material='rubber' static_friction='0.9' dynamic_friction='0.1' "
                      "viscous_friction='0.2'";
    char with[2000], without[2000];
    (void)snprintf(with, sizeof with, pattern, materials, "material='rough'", "material='wet'",
                   "material='wet'");
    (void)snprintf(without, sizeof without, pattern, "", rough, wet, wet);
    tal_model named = read_text(with), plain = read_text(without);
    assert_same_model("by name", plain.system, plain.state, named.system, named.state);
    tal_error err = {TAL_OK, "", ""};
    char *one = write_text(&named, &err);
    tal_model again = read_text(one);
    assert_same_model("written", named.system, named.state, again.system, again.state);
    tal_model_destroy(&again);
    tal_model_destroy(&named);
    tal_model_destroy(&plain);
    free(one);
}

END_TEST

// What rests holds no less than what slides: dynamic friction alone is both, static friction alone
// is itself.
START_TEST(static_friction_is_no_less_than_dynamic_friction)
{
    const char *pattern =
        "<talus version='1'>%s<bodies><free name='a' mass='1' inertia='1 1 1' q='1 0 0 0 0 0.45 0'/>"
        "</bodies><forces><contact name='c'><half_space frame='0 0 0 0 0 -1.5' %s/>"
        "<sphere body='a' radius='0.5' %s/></contact>"
        "<smooth_contact sphere_body='a' radius='0.5' plane='0 0 0 0 0 -1.5' %s/></forces></talus>";
    const char *rough = "<materials><material name='rough' static_friction='0.5' "
                        "dynamic_friction='0.2'/></materials>";
    char with[2000], without[2000];
    (void)snprintf(with, sizeof with, pattern, rough, "dynamic_friction='0.7'",
                   "material='rough' dynamic_friction='0.6'",
                   "material='rough' dynamic_friction='0.4'");
    (void)snprintf(without, sizeof without, pattern, "",
                   "static_friction='0.7' dynamic_friction='0.7'",
                   "static_friction='0.6' dynamic_friction='0.6'",
                   "static_friction='0.5' dynamic_friction='0.4'");
    tal_model alone = read_text(with), both = read_text(without);
    assert_same_model("dynamic alone", both.system, both.state, alone.system, alone.state);
    tal_error err = {TAL_OK, "", ""};
    char *one = write_text(&alone, &err), *other = write_text(&both, &err);
    ck_assert_str_eq(one, other);
    free(one);
    free(other);
    tal_model_destroy(&alone);
    tal_model_destroy(&both);
}

END_TEST

START_TEST(names_that_nobody_uses_are_suspicious)
{
    char *all = warnings("<talus version='1'><functions>\n<constant name='one' value='1'/>\n"
                         "</functions><materials><material name='mud'/></materials></talus>");
    ck_assert_str_eq(all, "m:2:1: warning: <constant name=\"one\"> is not used\n"
                          "m:3:24: warning: <material name=\"mud\"> is not used\n");
    free(all);

    // but not in a file that others include
    test_write_file("test_model_names_inner.tmp",
                    "<talus version='1'><materials><material name='mud'/>"
                    "<material name='clay'/></materials></talus>");
    test_write_file(
        "test_model_names_outer.tmp",
        "<talus version='1'><include file='test_model_names_inner.tmp'/><forces><contact>"
        "<half_space material='mud'/></contact></forces></talus>");
    tal_model m;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_model_read_file("test_model_names_outer.tmp", NULL, &m, found), TAL_OK);
    ck_assert_int_eq(tal_diagnostics_num(found), 0);
    tal_diagnostics_destroy(found);
    tal_model_destroy(&m);
    (void)remove("test_model_names_outer.tmp");
    (void)remove("test_model_names_inner.tmp");
}

END_TEST

// A mobility is written as "body:index", and several with a semicolon between them. A body whose
// name would be read as something else there is refused.
START_TEST(a_body_whose_name_cannot_stand_for_a_mobility_is_refused)
{
    const struct {
        const char *name, *other;
        bool is_good;
    } cases[] = {
        {"a b", "c", true}, {"arm", "arm:1", true}, {"arm", "arm:0", false}, {"ar;m", "c", false}};

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        tal_model m = {.system = tal_system_create(NULL)};
        tal_matter *matter = tal_matter_create(m.system);
        tal_forces *forces = tal_forces_create(m.system, matter);
        tal_mobod_def def = tal_mobod_def_default();
        def.name = cases[k].name;
        def.mass.mass = 1.0;
        const tal_mobility slide = {tal_matter_add_slider(matter, TAL_GROUND, &def), 0};
        def.name = cases[k].other;
        (void)tal_matter_add_slider(matter, TAL_GROUND, &def);
        (void)tal_forces_add_mobility_damper(forces, "damper", slide, 1.0);
        tal_error why = {TAL_OK, "", ""};
        ck_assert_msg(tal_system_realize_topology(m.system, &why) == TAL_OK, "%s", why.message);
        ck_assert_int_eq(tal_state_create(m.system, &m.state, NULL), TAL_OK);
        m.matter = matter;
        m.forces = forces;
        char text[4000];
        tal_error err = {TAL_OK, "", ""};
        const tal_status st = tal_model_write_memory(&m, NULL, text, sizeof text, NULL, &err);
        ck_assert_msg((st == TAL_OK) == cases[k].is_good, "'%s': %s", cases[k].name, err.message);
        if (st != TAL_OK) {
            ck_assert_ptr_nonnull(strstr(err.message, "cannot be used for a mobility"));
        }
        tal_state_destroy(m.state);
        tal_system_destroy(m.system);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_names");
    TCase *tests = tcase_create("names");
    tcase_add_test(tests, a_function_by_name_is_the_same_as_in_its_place);
    tcase_add_test(tests, a_body_whose_name_cannot_stand_for_a_mobility_is_refused);
    tcase_add_test(tests, a_mobility_can_be_a_coordinate_with_a_name);
    tcase_add_test(tests, a_material_by_name_is_the_same_as_its_numbers);
    tcase_add_test(tests, static_friction_is_no_less_than_dynamic_friction);
    tcase_add_test(tests, names_that_nobody_uses_are_suspicious);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
