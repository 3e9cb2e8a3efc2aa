// io/src/model/model_muscles.c, model_controllers.c, model_prescribed.c: what files say of muscles
// is what C says, in which order measures and forces are built, where fibers begin, tables.
#include "force_facts_internal.h"

#include "model/model_internal.h"
#include "model_same.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

// A forearm that a muscle in front of the elbow flexes and one behind it extends.
#define ARM                                                                                        \
    "<bodies><pin name='elbow' mass='1.5' com='0 -0.15 0' inertia='0.01 0.001 0.01' q='40'>"       \
    "<coordinate name='flexion' index='0'/></pin></bodies>"                                        \
    "<paths><path name='front'><point station='0.02 0.3 0'/>"                                      \
    "<point body='elbow' station='0.01 -0.05 0'/></path>"                                          \
    "<path name='back'><point station='-0.02 0.3 0'/>"                                             \
    "<point body='elbow' station='-0.02 0.01 0'/></path></paths>"
#define FLEXOR                                                                                     \
    "<millard name='flexor' path='front' max_force='800' fiber_length='0.12' "                     \
    "tendon_length='0.2'"
#define EXTENSOR                                                                                   \
    "<thelen name='extensor' path='back' max_force='600' fiber_length='0.1' tendon_length='0.18'"
#define BEGIN "<talus version='1' units='deg'>" ARM

static tal_force_ix force_of(const tal_model *model, const char *name)
{
    const tal_force_ix force = tal_forces_find(model->forces, name);
    ck_assert_int_ge(force.i, 0);
    return force;
}

static double output_of(const tal_model *model, const char *muscle, tal_muscle_output which)
{
    const tal_status st = tal_system_realize(model->system, model->state, TAL_STAGE_ACCELERATION);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(model->state)->message);
    return tal_muscle_calc_output(model->forces, model->state, force_of(model, muscle), which);
}

static void assert_refused(const char *text, const char *why)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_model_read_memory("m", text, strlen(text), NULL, &model, found);
    ck_assert_int_eq(st, TAL_ERR_FILE);
    ck_assert_int_ge(tal_diagnostics_num(found), 1);
    const char *message = tal_diagnostics_at(found, 0)->message;
    ck_assert_msg(strstr(message, why) != NULL, "%s\ninstead of\n%s", message, why);
    tal_diagnostics_destroy(found);
}

// --- muscles ---

START_TEST(a_file_that_says_no_more_than_it_must_has_the_defaults_of_c)
{
    static const struct {
        const char *text;
        tal_muscle_model model;
    } cases[] = {{"<thelen", TAL_MUSCLE_THELEN},
                 {"<millard", TAL_MUSCLE_MILLARD},
                 {"<degroote", TAL_MUSCLE_DEGROOTE}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[2000];
        (void)snprintf(text, sizeof text,
                       BEGIN "<forces>%s name='m' path='front' max_force='800' "
                             "fiber_length='0.12' tendon_length='0.2'/></forces></talus>",
                       cases[k].text);
        tal_model model = read_text(text);
        tali_force_facts facts;
        ck_assert(tali_force_facts_of(model.forces, force_of(&model, "m"), &facts));
        tal_muscle_def def = tal_muscle_def_default(cases[k].model);
        def.path = facts.path;
        def.max_force = 800.0;
        def.fiber_length = 0.12;
        def.tendon_length = 0.2;
        // all are plain numbers: what a file leaves out is not changed by the file's degrees
        ck_assert_int_eq(facts.muscle->activation, def.activation);
        ck_assert_int_eq(facts.muscle->rigid_tendon, def.rigid_tendon);
        ck_assert_mem_eq(&facts.muscle->max_force, &def.max_force, 7 * sizeof(double));
        ck_assert_mem_eq(&facts.muscle->activation_time, &def.activation_time, 6 * sizeof(double));
        ck_assert_mem_eq(&facts.muscle->initial_activation, &def.initial_activation,
                         3 * sizeof(double) + sizeof def.thelen + sizeof def.millard +
                             sizeof def.degroote);
        tal_model_destroy(&model);
    }
}

END_TEST

START_TEST(angles_are_in_the_units_of_the_file)
{
    tal_model model =
        read_text(BEGIN "<forces>" FLEXOR " pennation='10' max_pennation='60'/></forces></talus>");
    const tal_force_ix flexor = force_of(&model, "flexor");
    // one product with pi / 180
    ck_assert_double_eq_tol(
        tal_force_param(model.forces, model.state, flexor, TAL_MUSCLE_PENNATION),
        10.0 * TAL_PI / 180.0, DBL_EPSILON);
    ck_assert_double_eq_tol(
        tal_force_param(model.forces, model.state, flexor, TAL_MUSCLE_MAX_PENNATION), TAL_PI / 3.0,
        2.0 * DBL_EPSILON);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(fibers_begin_in_equilibrium_unless_the_file_says_how_long_they_are)
{
    tal_model model = read_text(BEGIN "<forces>" FLEXOR " initial_activation='0.4'/>" EXTENSOR
                                      "/><degroote name='slow' path='back' max_force='50' "
                                      "fiber_length='0.1' tendon_length='0.18'/></forces></talus>");
    const char *names[] = {"flexor", "extensor", "slow"};
    for (int i = 0; i < 3; ++i) {
        // the path is at rest, and so are fibers that carry what the tendon does; 1e-12 of the
        // largest speed is what tal_muscle_equilibrate() promises
        ck_assert_double_eq_tol(output_of(&model, names[i], TAL_MUSCLE_NORM_FIBER_SPEED), 0.0,
                                1e-10);
    }
    ck_assert_double_gt(output_of(&model, "flexor", TAL_MUSCLE_TENDON_FORCE), 1.0);
    tal_model_destroy(&model);

    model = read_text(BEGIN "<forces>" FLEXOR " initial_fiber_length='0.13'/>" EXTENSOR
                            " z='0.3 0.09'/></forces></talus>");
    ck_assert_double_eq(output_of(&model, "flexor", TAL_MUSCLE_FIBER), 0.13);
    ck_assert_double_eq(output_of(&model, "extensor", TAL_MUSCLE_FIBER), 0.09);
    ck_assert_double_eq(output_of(&model, "extensor", TAL_MUSCLE_ACTIVATION), 0.3);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(a_muscle_can_be_overridden_in_a_file)
{
    tal_model model = read_text(BEGIN "<forces>" FLEXOR " override='-3'/></forces></talus>");
    ck_assert_double_eq(output_of(&model, "flexor", TAL_MUSCLE_TENSION), -3.0);
    tal_model_destroy(&model);
    assert_refused(BEGIN "<forces>" FLEXOR " override='1 2'/></forces></talus>",
                   "'override' has 2 numbers; 1 is needed");
}

END_TEST

START_TEST(mistakes_are_named)
{
    assert_refused(BEGIN "<forces>" FLEXOR " max_force='5'/></forces></talus>",
                   "duplicate attribute");
    assert_refused(BEGIN "<forces><thelen name='m' path='front' max_force='1' fiber_length='1' "
                         "tendon_length='1' pennation='20' max_pennation='5'/></forces></talus>",
                   "its pennation is above its max pennation");
    assert_refused(BEGIN "<forces><thelen name='m' path='side' max_force='1' fiber_length='1' "
                         "tendon_length='1'/></forces></talus>",
                   "there is no path 'side'");
    assert_refused(BEGIN "<forces>" FLEXOR "/></forces><controllers><reflex muscle='flex' "
                         "gain='1'/></controllers></talus>",
                   "there is no force 'flex' (did you mean 'flexor'?)");
    assert_refused(BEGIN "<forces><path_spring name='s' path='front' stiffness='1' "
                         "rest_length='0.1'/></forces><controllers><reflex muscle='s' "
                         "gain='1'/></controllers></talus>",
                   "a reflex needs a muscle");
    assert_refused(BEGIN "<forces><prescribed_force body='elbow'><force axis='x'><constant "
                         "value='1'/></force><force axis='x'><constant value='2'/></force>"
                         "</prescribed_force></forces></talus>",
                   "this component is given twice");
}

END_TEST

// --- measures and forces ---

START_TEST(outputs_have_the_same_names_in_files_and_in_c)
{
    const char *words = tali_model_muscle_output_attributes[1].words;
    for (int i = 0; i < TAL_NUM_MUSCLE_OUTPUTS; ++i) {
        const char *name = tal_muscle_output_name((tal_muscle_output)i);
        const size_t length = strcspn(words, "|");
        ck_assert_uint_eq(length, strlen(name));
        ck_assert_int_eq(strncmp(words, name, length), 0);
        words += length + (words[length] == '|');
    }
    ck_assert_str_eq(words, "");
}

END_TEST

// The extensor is driven by the fiber length of the flexor, sampled: measure, force, measure,
// measure, force.
#define CROSSED                                                                                    \
    BEGIN "<measures><constant name='half' values='0.5'/>"                                         \
          "<muscle_output name='length' muscle='flexor' output='fiber_length'/>"                   \
          "<hold name='seen' of='length' period='0.01'/>"                                          \
          "<muscle_output name='pull' muscle='extensor'/>"                                         \
          "<metabolics name='burn' muscle='flexor' model='bhargava'/>"                             \
          "<integrate name='burnt' of='burn'/></measures>"                                         \
          "<forces>" FLEXOR " measure='half'/>" EXTENSOR " measure='seen'/></forces></talus>"

START_TEST(measures_of_forces_can_drive_other_forces)
{
    tal_model model = read_text(CROSSED), again;
    tal_error err;
    char *text = write_text(&model, &err);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(tal_model_read_memory("again", text, strlen(text), NULL, &again, NULL),
                     TAL_OK);
    ck_assert(tal_state_is_equal(model.state, again.state));
    free(text);
    tal_model_destroy(&again);

    tal_integrator *integ = NULL;
    const tal_integrator_def def = tal_integrator_def_default();
    ck_assert_int_eq(tal_integrator_create(model.system, &def, &integ, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_step_to(integ, model.state, 0.2), TAL_OK);
    tal_integrator_destroy(integ);
    // the hold sees what the fibers were like 10 ms ago or less: they are 8 to 14 cm long
    const double x = output_of(&model, "extensor", TAL_MUSCLE_EXCITATION);
    ck_assert_double_gt(x, 0.05);
    ck_assert_double_lt(x, 0.16);
    ck_assert_double_gt(output_of(&model, "flexor", TAL_MUSCLE_ACTIVATION), 0.4);
    // 0.2 s with at least 1 W/kg, of a muscle of 1059.7 * 0.12 * 800 / 0.25e6 kg
    const tal_measure_ix burnt =
        tal_system_find_measure(model.system, tal_matter_subsystem(model.matter), "burnt");
    ck_assert_double_gt(tal_measure_value(model.system, model.state, burnt), 0.2 * 0.4);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(circles_of_measures_and_forces_are_refused)
{
    assert_refused(BEGIN "<measures><muscle_output name='a' muscle='flexor'/></measures>"
                         "<forces>" FLEXOR " measure='a'/></forces></talus>",
                   "needs an element that comes later");
}

END_TEST

// --- controllers and loads ---

START_TEST(controllers_of_a_file_add_up)
{
    tal_model model = read_text(
        "<talus version='1' time='0.5'>" ARM "<measures><time name='t'/></measures>"
        "<forces>" FLEXOR " control='0.1'/>" EXTENSOR " control_range='0 0.3'/></forces>"
        "<controllers><function_controller name='open loop'>"
        "<drive force='flexor'><linear slopes='0.2'/></drive>"
        "<drive force='extensor'><nodes x='0 1' y='0 2'/></drive></function_controller>"
        "<measure_controller force='flexor' measure='t' gain='0.4'/>"
        "<feedback force='flexor' mobility='flexion' stiffness='0.01' damping='0.1'>"
        "<constant value='50'/></feedback>"
        "<measure_controller name='off' enabled='no' force='flexor' measure='t' gain='9'/>"
        "</controllers></talus>");
    // 0.1 + 0.2 t + 0.4 t + 0.01 (50 - 40): four roundings of numbers below one
    ck_assert_double_eq_tol(output_of(&model, "flexor", TAL_MUSCLE_EXCITATION), 0.5,
                            4.0 * DBL_EPSILON);
    ck_assert_double_eq(output_of(&model, "extensor", TAL_MUSCLE_EXCITATION), 0.3);
    tal_model_destroy(&model);
}

END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_int_ge(fputs(text, out), 0);
    ck_assert_int_eq(fclose(out), 0);
}

static tal_model read_here(const char *name, const char *text)
{
    tal_model model;
    write_file(name, text);
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_model_read_file(name, NULL, &model, found);
    ck_assert_msg(st == TAL_OK, "%s", st == TAL_OK ? "" : tal_diagnostics_at(found, 0)->message);
    tal_diagnostics_destroy(found);
    (void)remove(name);
    return model;
}

START_TEST(controls_and_loads_are_read_from_tables)
{
    write_file("muscles_table.csv", "time,flexor,extensor.excitation,other\n"
                                    "0,0.1,0.9,7\n1,0.3,0.5,7\n2,0.3,0.5,7\n");
    write_file("muscles_load.csv", "time,fx,fy,fz,px,py,pz\n"
                                   "0,1,0,0,0,0.1,0\n1,3,0,0,0,0.1,0\n2,3,0,0,0,0.1,0\n");
    tal_model model = read_here(
        "muscles_table.talus",
        "<talus version='1' time='0.5'>" ARM "<forces>" FLEXOR "/>" EXTENSOR "/>"
        "<external_load name='push' body='elbow' file='muscles_load.csv' force='f' point='p'/>"
        "</forces><controllers><table_controller name='emg' file='muscles_table.csv'/>"
        "</controllers></talus>");
    ck_assert_double_eq_tol(output_of(&model, "flexor", TAL_MUSCLE_EXCITATION), 0.2, DBL_EPSILON);
    ck_assert_double_eq_tol(output_of(&model, "extensor", TAL_MUSCLE_EXCITATION), 0.7, DBL_EPSILON);
    const tal_prescribed_force_value push =
        tal_prescribed_force_at(model.forces, model.state, force_of(&model, "push"));
    ck_assert_double_eq_tol(push.force.x, 2.0, 2.0 * DBL_EPSILON); // three rows: straight lines
    ck_assert_double_eq_tol(push.point.y, 0.1, DBL_EPSILON);

    // both are written without their files
    tal_error err;
    tal_model again;
    char *text = write_text(&model, &err);
    ck_assert_int_eq(tal_model_read_memory("again", text, strlen(text), NULL, &again, NULL),
                     TAL_OK);
    ck_assert_double_eq(output_of(&again, "flexor", TAL_MUSCLE_EXCITATION),
                        output_of(&model, "flexor", TAL_MUSCLE_EXCITATION));
    free(text);
    tal_model_destroy(&again);
    tal_model_destroy(&model);
    (void)remove("muscles_table.csv");
    (void)remove("muscles_load.csv");
}

END_TEST

// --- everything at once ---

START_TEST(memory_that_runs_out_leaves_nothing_behind)
{
    static const char text[] =
        BEGIN "<measures><metabolics name='burn' muscle='flexor'/></measures>"
              "<forces>" FLEXOR "/><prescribed_force body='elbow'><force axis='y'>"
              "<constant value='1'/></force></prescribed_force></forces><controllers>"
              "<function_controller><drive force='flexor'><linear slopes='1'/></drive>"
              "</function_controller><feedback force='flexor' mobility='elbow' stiffness='1'>"
              "<linear slopes='1'/></feedback></controllers></talus>";
    tal_status st = TAL_ERR_NO_MEMORY;
    int n = 1;
    for (; st == TAL_ERR_NO_MEMORY; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_model_options options = tal_model_options_default();
        options.allocator = test_heap_allocator(&heap);
        tal_model model;
        st = tal_model_read_memory("m", text, strlen(text), &options, &model, NULL);
        tal_model_destroy(&model);
        ck_assert_msg(heap.bytes == 0, "%zu bytes lost when request %d fails", heap.bytes, n);
    }
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_gt(n, 30);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_muscles");
    TCase *all = tcase_create("muscles");
    tcase_add_test(all, a_file_that_says_no_more_than_it_must_has_the_defaults_of_c);
    tcase_add_test(all, angles_are_in_the_units_of_the_file);
    tcase_add_test(all, fibers_begin_in_equilibrium_unless_the_file_says_how_long_they_are);
    tcase_add_test(all, a_muscle_can_be_overridden_in_a_file);
    tcase_add_test(all, mistakes_are_named);
    tcase_add_test(all, outputs_have_the_same_names_in_files_and_in_c);
    tcase_add_test(all, measures_of_forces_can_drive_other_forces);
    tcase_add_test(all, circles_of_measures_and_forces_are_refused);
    tcase_add_test(all, controllers_of_a_file_add_up);
    tcase_add_test(all, controls_and_loads_are_read_from_tables);
    tcase_add_test(all, memory_that_runs_out_leaves_nothing_behind);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
