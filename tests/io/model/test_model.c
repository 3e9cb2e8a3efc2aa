// io/src/model_*.c: a file and a C program that say the same give the same bits.
#include "model_cases.h"
#include "model_same.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// The first thing in a file is as good as any other: nothing stands before this material.
START_TEST(a_material_may_be_the_first_thing_in_a_file)
{
    tal_model m = read_text(
        "<talus version='1'><materials><material name='mud' stiffness='77'/></materials>"
        "<forces><contact name='c'><half_space material='mud'/></contact></forces></talus>");
    const tal_contact_material mud = tal_contact_surface_material(
        m.forces, m.state, (tal_force_ix){0}, (tal_contact_surface_ix){0});
    ck_assert_double_eq(mud.stiffness, 77.0);
    tal_model_destroy(&m);
}

END_TEST

START_TEST(a_file_and_a_program_give_the_same_bits)
{
    for (int i = 0; i < NUM_MODEL_CASES; ++i) {
        char text[4000];
        built program = case_program(&model_cases[i]);
        tal_model file = read_text(case_file(&model_cases[i], text));
        assert_same_model(model_cases[i].xml, program.system, program.state, file.system,
                          file.state);
        const tal_model model = case_model(&program);
        assert_same_markers(&model, &file);
        tal_model_destroy(&file);
        case_end(&program);
    }
}

END_TEST

START_TEST(what_is_written_is_read_back_bit_for_bit)
{
    for (int i = 0; i < NUM_MODEL_CASES; ++i) {
        const model_case *c = &model_cases[i];
        built program = case_program(c);
        const tal_model model = case_model(&program);
        // somewhere, so that q and u are not round numbers
        tal_state *other = NULL;
        ck_assert_int_eq(tal_state_create(program.system, &other, NULL), TAL_OK);
        shake(program.state, other);
        tal_state_destroy(other);
        for (int k = 0; k < tal_state_nz(program.state); ++k) {
            tal_state_upd_z(program.state)[k] = 0.1 * (k + 1);
        }

        tal_error err = {TAL_OK, "", ""};
        char *text = write_text(&model, &err);
        ck_assert_msg(text != NULL, "%s: %s", c->xml, err.message);
        tal_model again = read_text(text);
        assert_same_model(text, program.system, program.state, again.system, again.state);
        assert_same_markers(&model, &again);
        tal_model_destroy(&again);
        free(text);
        case_end(&program);
    }
}

END_TEST

START_TEST(what_the_state_holds_is_written)
{
    tal_model m = read_text(
        "<talus version='1' name='a &lt;b&gt; &amp; &quot;c&quot;' time='1.5' time_scale='0.2'><bodies>"
        "<pin name='a &amp; b' mass='1' com='0 1 0' q='0.1' u='3' range='-1 inf' lock='velocity'>"
        "<coordinate name='hinge'/></pin>"
        "<free name='b' mass='1' solid='sphere 0.2' angles='yes' q='0.3 0 0 1 2 3' weightless='yes'/>"
        "<free name='c' mass='1' solid='brick 1 2 3' q='1 0 0 0 4 5 6' reverse='yes'/>"
        "<slider name='d' parent='a &amp; b' axis='y' mass='1' q='2' fast='velocity'/></bodies>"
        "<constraints><rod name='r' body1='b' length='1' enabled='no' share='2'/></constraints>"
        "<motions><steady name='m' body='c' all='yes' speed='0 0 0 0 0 0' enabled='no'/></motions>"
        "<forces><gravity g='0 -9.81 0'/><global_damper name='g' damping='1' enabled='no'/></forces>"
        "<decorations><text text='&lt;x&gt;' body='b'/></decorations></talus>");
    tal_error err = {TAL_OK, "", ""};
    char *text = write_text(&m, &err);
    ck_assert_msg(text != NULL, "%s", err.message);
    tal_model again = read_text(text);
    ck_assert_str_eq(tal_system_name(again.system), "a <b> & \"c\"");
    ck_assert(tal_system_structure_hash(m.system) == tal_system_structure_hash(again.system));
    ck_assert(tal_state_is_equal(m.state, again.state));
    assert_same_decorations(text, m.matter, again.matter);
    char *second = write_text(&again, &err);
    ck_assert_str_eq(text, second);
    int i;
    ck_assert_int_eq(tal_matter_find_coordinate(again.matter, again.state, "hinge", &i).i, 1);

    ck_assert_int_eq(tal_model_write_file(&m, NULL, "test_model_write.tmp", &err), TAL_OK);
    tal_model third;
    ck_assert_int_eq(tal_model_read_file("test_model_write.tmp", NULL, &third, NULL), TAL_OK);
    ck_assert(tal_state_is_equal(m.state, third.state));
    tal_model_destroy(&third);
    (void)remove("test_model_write.tmp");
    ck_assert_int_eq(tal_model_write_file(&m, NULL, "no/such/folder/x", &err), TAL_ERR_FILE);
    free(second);
    free(text);
    tal_model_destroy(&again);
    tal_model_destroy(&m);
}

END_TEST

static tal_status push_nothing(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)self;
    (void)context;
    (void)F;
    (void)f;
    return TAL_OK;
}

static const tal_force_ops own_ops = {.size = sizeof own_ops, .name = "rod", .apply = push_nothing};

static double own_value(const void *self, const double x[], int n)
{
    (void)self;
    (void)n;
    return x[0];
}

static const tal_function_ops own_function = {
    .size = sizeof own_function, .name = "sum", .calc_value = own_value};

static void add_own_force(built *m)
{
    tal_forces_add(m->forces, "mine", &own_ops, NULL);
}

static void add_own_function(built *m)
{
    tal_function_def def = tal_function_def_default();
    def.ops = &own_function;
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create(NULL, &def, &f, NULL), TAL_OK);
    spring_on_b(m, f);
}

static void add_result(built *m)
{
    tal_result_def def = tal_result_def_default();
    def.name = "mine";
    tal_measure_add_result(OWNER, &def);
}

static void add_time_of_forces(built *m)
{
    tal_measure_add_time(m->system, tal_forces_subsystem(m->forces), "mine");
}

static tal_status do_nothing(void *context, const tal_system *system, tal_state *state,
                             tal_event_cause cause, bool *terminate)
{
    (void)context;
    (void)system;
    (void)state;
    (void)cause;
    (void)terminate;
    return TAL_OK;
}

static void add_own_event(built *m)
{
    tal_happening mine = tal_happening_default();
    mine.name = "mine";
    mine.handle = do_nothing;
    mine.period = 1.0;
    m->events = tal_events_create(m->system);
    (void)tal_events_add(m->events, &mine);
}

static void add_own_subsystem(built *m)
{
    static const tal_subsystem_ops ops = {.size = sizeof ops, .name = "muscles"};
    (void)tal_system_add_subsystem(m->system, NULL, &ops, NULL);
}

// Its name alone does not make it what it is not.
static void add_false_events(built *m)
{
    static const tal_subsystem_ops ops = {.size = sizeof ops, .name = "clock"};
    (void)tal_system_add_subsystem(m->system, "events", &ops, NULL);
}

#define WRONG_MARKER(what, ...)                                                                    \
    static void what(built *m)                                                                     \
    {                                                                                              \
        static const tal_marker list[] = {{"m", {1}, {0.0, 0.0, 0.0}, 1.0}, __VA_ARGS__};          \
        m->markers = list;                                                                         \
        m->num_markers = 2;                                                                        \
    }
WRONG_MARKER(add_second_marker, {"m", {1}, {0.0, 0.0, 0.0}, 1.0})
WRONG_MARKER(add_nameless_marker, {NULL, {1}, {0.0, 0.0, 0.0}, 1.0})
WRONG_MARKER(add_lost_marker, {"n", {9}, {0.0, 0.0, 0.0}, 1.0})
WRONG_MARKER(add_light_marker, {"n", {1}, {0.0, 0.0, 0.0}, -1.0})

START_TEST(what_no_file_can_say_is_refused_by_name)
{
    const model_case cases[] = {
        {TALI_GROUP_FORCES,
         "force 'mine' is of kind 'rod', which cannot be written to a file unless it is registered",
         "", add_own_force, NULL},
        {TALI_GROUP_FORCES, "'x' uses the function 'sum'", "", add_own_function, NULL},
        {TALI_GROUP_MEASURES,
         "measure 'mine' is of kind 'result', which cannot be written to a file unless", "",
         add_result, NULL},
        {TALI_GROUP_MEASURES,
         "measure 'mine' is of kind 'time' and not of matter, which cannot be written to a file",
         "", add_time_of_forces, NULL},
        {TALI_GROUP_MARKERS, "marker 1 'm' has no name, or the name of another marker", "",
         add_second_marker, NULL},
        {TALI_GROUP_MARKERS, "marker 1 '' has no name, or the name of another marker", "",
         add_nameless_marker, NULL},
        {TALI_GROUP_MARKERS, "marker 'n' is on body 9", "", add_lost_marker, NULL},
        {TALI_GROUP_MARKERS, "marker 'n' is at (0, 0, 0) with weight -1", "", add_light_marker,
         NULL},
        {TALI_GROUP_STOPS, "event 'mine' calls a function", "", add_own_event, NULL},
        {TALI_GROUP_STOPS, "subsystem 'muscles' cannot be written", "", add_own_subsystem, NULL},
        {TALI_GROUP_STOPS, "subsystem 'events' cannot be written", "", add_false_events, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        built m = case_program(&cases[i]);
        const tal_model model = case_model(&m);
        tal_error err = {TAL_OK, "", ""};
        ck_assert_ptr_null(write_text(&model, &err));
        ck_assert_msg(strstr(err.message, cases[i].row) != NULL, "'%s' lacks '%s'", err.message,
                      cases[i].row);
        ck_assert_int_eq(tal_model_write_file(&model, NULL, "test_model_write.tmp", &err),
                         TAL_ERR_BAD_VALUE);
        ck_assert_ptr_null(fopen("test_model_write.tmp", "rb"));
        case_end(&m);
    }
    test_record_breaches();
    const tal_model none = {.system = NULL};
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_model_write_memory(&none, NULL, NULL, 0, NULL, NULL), TAL_ERR_NULL,
                       "NULL");
    ck_assert_int_eq(st, TAL_ERR_NULL);
}

END_TEST

// Locks of all kinds, rotors, what is dissipated, where friction holds: written and read bit for
// bit.
START_TEST(what_only_a_state_knows_is_written)
{
    tal_model m = read_text(
        "<talus version='1' units='deg'><bodies>"
        "<pin name='at' mass='1' com='0 1 0' lock='position' lock_at='90'/>"
        "<gimbal name='one' mass='1' inertia='1 1 1' q='10 20 30' u='1 2 3'>"
        "<coordinate index='1' lock='velocity' lock_at='180'/><coordinate index='2' name='g' lock='position'/>"
        "</gimbal><slider name='s' mass='1' lock='acceleration' lock_at='2.5' rotor='0.25'/>"
        "<pin name='r' mass='1' com='0 1 0' rotor='0.5'/></bodies>"
        "<forces><mobility_damper name='d' mobility='r' damping='1' track_dissipation='yes' z='0.75'/>"
        "<thermostat name='t' kT='1' chain='2' track_dissipation='yes' z='1 2 3 4 5'/>"
        "<exponential_spring name='e' body='r' anchor='0.1 0.2 1'/></forces></talus>");
    const double degree = TAL_PI / 180.0;
    const tal_body_ix at = {1}, one = {2}, s = {3}, r = {4};
    ck_assert(tal_body_q(m.matter, m.state, at, 0) == 90.0 * degree);
    ck_assert_int_eq(tal_body_lock_level(m.matter, m.state, one), TAL_LEVEL_FREE);
    ck_assert_int_eq(tal_mobility_lock_level(m.matter, m.state, (tal_mobility){one, 0}),
                     TAL_LEVEL_FREE);
    ck_assert_int_eq(tal_mobility_lock_level(m.matter, m.state, (tal_mobility){one, 1}),
                     TAL_LEVEL_VELOCITY);
    ck_assert(tal_body_u(m.matter, m.state, one, 1) == 180.0 * degree);
    ck_assert(tal_body_u(m.matter, m.state, one, 2) == 0.0);
    ck_assert(tal_body_rotor_inertia(m.matter, m.state, s) == 0.25);
    ck_assert(tal_body_rotor_inertia(m.matter, m.state, r) == 0.5);
    ck_assert_int_eq(tal_state_nz(m.state), 6);
    double sum = 0.0;
    for (int i = 0; i < 6; ++i) {
        sum += tal_state_z(m.state)[i];
    }
    ck_assert(sum == 15.75); // each has found its place
    // u of a locked body that was set later stays as it is
    (void)tal_body_set_u(m.matter, m.state, at, 0, 0.125);
    tal_error err = {TAL_OK, "", ""};
    char *text = write_text(&m, &err);
    ck_assert_msg(text != NULL, "%s", err.message);
    tal_model again = read_text(text);
    ck_assert(tal_system_structure_hash(m.system) == tal_system_structure_hash(again.system));
    ck_assert(tal_state_is_equal(m.state, again.state));
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);
    ck_assert_int_eq(tal_system_realize(again.system, again.state, TAL_STAGE_ACCELERATION), TAL_OK);
    ck_assert(tal_state_udot(m.state)[4] == 2.5);
    ck_assert_int_eq(
        memcmp(tal_state_udot(m.state), tal_state_udot(again.state), 6 * sizeof(double)), 0);
    free(text);
    tal_model_destroy(&again);
    tal_model_destroy(&m);
}

END_TEST

static bool needs_file(const char *row)
{
    return strcmp(row, "table") == 0 || strcmp(row, "table_controller") == 0 ||
           strcmp(row, "external_load") == 0;
}

START_TEST(every_row_of_the_table_has_its_case)
{
    const tali_model_group groups[] = {
        TALI_GROUP_BODIES,     TALI_GROUP_CONSTRAINTS, TALI_GROUP_MOTIONS,    TALI_GROUP_MEASURES,
        TALI_GROUP_FORCES,     TALI_GROUP_DECORATIONS, TALI_GROUP_FUNCTIONS,  TALI_GROUP_SURFACES,
        TALI_GROUP_STOPS,      TALI_GROUP_MATERIALS,   TALI_GROUP_WRAPS,      TALI_GROUP_PATHS,
        TALI_GROUP_PATH_PARTS, TALI_GROUP_CONTROLLERS, TALI_GROUP_UNILATERALS};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; ++g) {
        const tali_model_row *rows = tali_model_rows(groups[g]);
        for (int r = 0; rows[r].name != NULL; ++r) {
            if (needs_file(rows[r].name)) continue; // io/model_express, io/model_muscles
            int i = 0;
            while (i < NUM_MODEL_CASES && (model_cases[i].group != groups[g] ||
                                           strcmp(model_cases[i].row, rows[r].name) != 0)) {
                ++i;
            }
            ck_assert_msg(i < NUM_MODEL_CASES, "<%s> has no case in model_cases.h", rows[r].name);
        }
    }
}

END_TEST

// What the State gets besides: initial values, locks, what is disabled, shares, exclusions.
START_TEST(the_state_begins_where_the_file_says)
{
    tal_model m = read_text(
        "<talus version='1' units='deg' time='1.5' time_scale='0.2'><bodies>"
        "<pin name='a' mass='1' com='0 1 0' q='90' u='180' range='-90 inf' lock='velocity'>"
        "<coordinate name='hinge'/></pin>"
        "<free name='b' mass='1' solid='sphere 0.2' angles='yes' q='90 0 0 1 2 3' u='180 0 0 4 5 6' "
        "weightless='yes'/>"
        "<free name='c' mass='1' solid='brick 1 2 3' q='1 0 0 0 4 5 6' reverse='yes'/>"
        "<slider name='d' parent='a' axis='y' mass='1' q='2' fast='position'/></bodies>"
        "<constraints><rod name='r' body1='a' length='1' enabled='no' share='2'/></constraints>"
        "<motions><steady name='m' body='c' all='yes' speed='0 0 0 0 0 0' enabled='no'/></motions>"
        "<forces><gravity g='0 -9.81 0'/><global_damper name='g' damping='1' enabled='no'/>"
        "<mobility_spring mobility='a' stiffness='1' rest='90'/>"
        "<mobility_spring mobility='d' stiffness='1' rest='90'/></forces></talus>");
    const double pi = TAL_PI;
    const tal_body_ix a = tal_matter_find_body(m.matter, "a"),
                      b = tal_matter_find_body(m.matter, "b");
    const tal_body_ix c = tal_matter_find_body(m.matter, "c"),
                      d = tal_matter_find_body(m.matter, "d");
    ck_assert(tal_state_t(m.state) == 1.5);
    ck_assert(tal_system_time_scale(m.system) == 0.2);
    ck_assert(tal_body_q(m.matter, m.state, a, 0) == 90.0 * (pi / 180.0));
    ck_assert(tal_body_u(m.matter, m.state, a, 0) == 180.0 * (pi / 180.0));
    double low, high;
    ck_assert_int_eq(tal_body_range(m.matter, m.state, a, 0, &low, &high), TAL_OK);
    ck_assert(low == -90.0 * (pi / 180.0) && isinf(high));
    ck_assert_int_eq(tal_body_lock_level(m.matter, m.state, a), TAL_LEVEL_VELOCITY);
    int i;
    ck_assert_int_eq(tal_matter_find_coordinate(m.matter, m.state, "hinge", &i).i, a.i);
    ck_assert(tal_body_q(m.matter, m.state, b, 0) == 90.0 * (pi / 180.0));
    ck_assert(tal_body_q(m.matter, m.state, b, 5) == 3.0);
    ck_assert(tal_body_u(m.matter, m.state, b, 0) == 180.0 * (pi / 180.0));
    ck_assert(tal_body_u(m.matter, m.state, b, 3) == 4.0);
    ck_assert(tal_body_q(m.matter, m.state, c, 0) == 1.0); // a quaternion is not an angle
    ck_assert(tal_body_q(m.matter, m.state, d, 0) == 2.0);
    const tal_force_ix gravity = tal_forces_find(m.forces, "gravity");
    ck_assert(tal_gravity_is_excluded(m.forces, m.state, gravity, b));
    ck_assert(!tal_gravity_is_excluded(m.forces, m.state, gravity, a));
    ck_assert(!tal_force_is_enabled(m.forces, m.state, tal_forces_find(m.forces, "g")));
    const tal_constraint_ix rod = tal_matter_find_constraint(m.matter, "r");
    ck_assert(!tal_constraint_is_enabled(m.matter, m.state, rod));
    ck_assert(tal_constraint_share(m.matter, m.state, rod) == 2.0);
    const tal_motion_ix motion = tal_matter_find_motion(m.matter, "m");
    ck_assert(!tal_motion_is_enabled(m.matter, m.state, motion));
    // rest of a pin is an angle, that of a slider is not
    ck_assert(tal_force_param(m.forces, m.state, (tal_force_ix){2}, TAL_MOBILITY_SPRING_REST) ==
              90.0 * (pi / 180.0));
    ck_assert(tal_force_param(m.forces, m.state, (tal_force_ix){3}, TAL_MOBILITY_SPRING_REST) ==
              90.0);
    // y of the parent is where the slider goes
    const tal_xform X_PF = tal_body_X_PF(m.matter, m.state, d);
    test_assert_v3_near(X_PF.R.x, tal_v3(0.0, 1.0, 0.0), 1e-15);
    tal_model_destroy(&m);
}

END_TEST

// Degrees where the measure is an angle or its rate, and only there.
START_TEST(stops_know_what_is_an_angle)
{
    tal_model m = read_text(
        "<talus version='1' units='deg'><bodies><planar name='p' mass='1' inertia='1 1 1'/>"
        "<ball name='b' mass='1' inertia='1 1 1'/>"
        "<ball name='c' mass='1' inertia='1 1 1' angles='yes'/></bodies>"
        "<measures><coordinate name='angle' mobility='p'/><coordinate name='x' mobility='p:1'/>"
        "<speed name='turn' mobility='p'/><coordinate name='quat' mobility='b'/>"
        "<coordinate name='euler' mobility='c'/><speed name='w' mobility='b:2'/>"
        "<scale name='twice' of='angle' factor='2'/></measures>"
        "<stops><stop when='angle' crosses='90'/><stop when='x' crosses='90'/>"
        "<stop when='turn' rises_above='90'/><stop when='quat' falls_below='90'/>"
        "<stop when='euler' crosses='90'/><stop when='w' crosses='90'/>"
        "<stop when='twice' crosses='90'/><stop time='90'/></stops></talus>");
    const double right = 90.0 * (TAL_PI / 180.0);
    const double expected[] = {right, 90.0, right, 90.0, right, right, 90.0, 90.0};
    ck_assert_int_eq(tal_system_num_events(m.system), 8);
    for (int i = 0; i < 8; ++i) {
        ck_assert(tal_event_stop(m.system, (tal_event_ix){i})->value == expected[i]);
    }
    tal_model_destroy(&m);
}

END_TEST

START_TEST(inertia_can_be_said_in_several_ways)
{
    tal_model m = read_text(
        "<talus version='1'><bodies>"
        "<free name='point' mass='2' com='1 0 0'/>"
        "<free name='central' mass='2' com='1 0 0' inertia='1 2 2.5'/>"
        "<free name='origin' mass='2' com='1 0 0' inertia='1 4 4.5 0 0 0' about='origin'/>"
        "<free name='ball' mass='2' com='1 0 0' solid='sphere 0.5'/>"
        "<free name='ellipsoid' mass='2' solid='ellipsoid 1 2 3'/>"
        "<free name='brick' mass='2' solid='brick 1 2 3'/>"
        "<free name='rod' mass='2' solid='rod 0 1 0' structure='rigid'/>"
        "<free name='drum' mass='2' solid='cylinder 0.5 1 z'/></bodies></talus>");
    const tal_xform X = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    tal_mass_props ball = tal_mass_props_sphere(2.0, 0.5);
    ball = tal_mass_props_transform(&X, &ball);
    const tal_mass_props expected[] = {
        tal_mass_props_point(2.0, tal_v3(1.0, 0.0, 0.0)),
        {2.0, {1.0, 0.0, 0.0}, {1.0, 4.0, 4.5, 0.0, 0.0, 0.0}},
        {2.0, {1.0, 0.0, 0.0}, {1.0, 4.0, 4.5, 0.0, 0.0, 0.0}},
        ball,
        tal_mass_props_ellipsoid(2.0, tal_v3(1.0, 2.0, 3.0)),
        tal_mass_props_brick(2.0, tal_v3(1.0, 2.0, 3.0)),
        tal_mass_props_rod(2.0, tal_v3(0.0, 1.0, 0.0)),
        tal_mass_props_cylinder(2.0, 0.5, 1.0, TAL_AXIS_Z),
    };
    for (int i = 0; i < 8; ++i) {
        const tal_mass_props found = tal_body_mass_props(m.matter, m.state, (tal_body_ix){i + 1});
        // sums of a few products of numbers of size ten
        test_assert_near(&found.mass, &expected[i].mass, 10, 1e-14, "mass properties");
    }
    tal_model_destroy(&m);
}

END_TEST

// Link 3 of the Puma 560, as published: what is accepted once is accepted again.
START_TEST(an_inertia_of_no_real_body_is_read_back_with_its_permit)
{
    tal_model m = read_text(
        "<talus version='1'><bodies><pin name='link3' mass='4.8' com='0 0.07 0' any_inertia='yes' "
        "inertia='0.066 0.086 0.0125'/></bodies></talus>");
    double excess = 0.0;
    const tal_body_ix body = tal_matter_find_unphysical(m.matter, m.state, TAL_GROUND, &excess);
    ck_assert_int_eq(body.i, 1);
    // the shift to the origin and back, of moments of 0.1
    ck_assert_double_eq_tol(excess, (0.086 - 0.066 - 0.0125) / 0.086, 1e-14);
    char text[4096];
    ck_assert_int_eq(tal_model_write_memory(&m, NULL, text, sizeof text, NULL, NULL), TAL_OK);
    ck_assert_ptr_nonnull(strstr(text, "any_inertia=\"yes\""));
    tal_model again = read_text(text);
    ck_assert_int_eq(tal_matter_find_unphysical(again.matter, again.state, TAL_GROUND, NULL).i, 1);
    // and the State takes others, too
    tal_mass_props props = tal_body_mass_props(again.matter, again.state, body);
    props.inertia.yy *= 1.5;
    ck_assert_int_eq(tal_body_set_mass_props(again.matter, again.state, body, &props), TAL_OK);
    tal_model_destroy(&again);
    tal_model_destroy(&m);
}

END_TEST

// The reader's own permit ends in the file as that of the bodies that need it.
START_TEST(an_inertia_of_no_real_body_is_taken_where_the_reader_is_told_to)
{
    const char *const text =
        "<talus version='1'><bodies><pin name='link2' mass='1' inertia='1 1 1'/>"
        "<pin name='link3' mass='4.8' inertia='0.066 0.086 0.0125'/></bodies></talus>";
    tal_model_options options = tal_model_options_default();
    tal_model m;
    ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), &options, &m, NULL),
                     TAL_ERR_FILE);
    options.any_inertia = true;
    ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), &options, &m, NULL), TAL_OK);
    char written[4096];
    ck_assert_int_eq(tal_model_write_memory(&m, NULL, written, sizeof written, NULL, NULL), TAL_OK);
    const char *permit = strstr(written, "any_inertia=\"yes\"");
    ck_assert(permit != NULL && strstr(permit + 1, "any_inertia") == NULL);
    ck_assert_ptr_nonnull(strstr(written, "link2"));
    ck_assert(strstr(written, "link2") < permit);
    tal_model_destroy(&m);
}

END_TEST

START_TEST(params_are_used_and_can_be_set)
{
    const char *text = "<talus version='1'><param name='l' value='2'/>"
                       "<param name='half' value='0.5*$l'/><bodies>"
                       "<pin name='a' mass='$l' com='0 -$half 3*$l'/></bodies></talus>";
    tal_model m = read_text(text);
    tal_mass_props mass = tal_body_mass_props(m.matter, m.state, (tal_body_ix){1});
    ck_assert(mass.mass == 2.0 && mass.com.y == -1.0 && mass.com.z == 6.0);
    tal_model_destroy(&m);

    const tal_model_param given = {"l", 4.0};
    tal_model_options options = tal_model_options_default();
    options.params = &given;
    options.num_params = 1;
    ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), &options, &m, NULL), TAL_OK);
    mass = tal_body_mass_props(m.matter, m.state, (tal_body_ix){1});
    ck_assert(mass.mass == 4.0 && mass.com.y == -2.0 && mass.com.z == 12.0);
    // and told
    ck_assert_int_eq(m.num_params, 2);
    ck_assert_str_eq(m.params[0].name, "l");
    ck_assert_str_eq(m.params[1].name, "half");
    ck_assert(m.params[0].value == 4.0 && m.params[1].value == 2.0);
    tal_model_destroy(&m);
    ck_assert(m.params == NULL && m.num_params == 0);
}

END_TEST

START_TEST(bodies_may_stand_in_any_order)
{
    tal_model m = read_text("<talus version='1'><bodies><pin name='c' parent='b' mass='1'/>"
                            "<pin name='a' mass='1'/><pin name='b' parent='a' mass='1'/>"
                            "</bodies></talus>");
    ck_assert_str_eq(tal_body_name(m.matter, (tal_body_ix){1}), "a");
    ck_assert_str_eq(tal_body_name(m.matter, (tal_body_ix){2}), "b");
    ck_assert_str_eq(tal_body_name(m.matter, (tal_body_ix){3}), "c");
    tal_model_destroy(&m);
}

END_TEST

// One beside the model, and in millimeters.
START_TEST(a_mesh_can_be_a_file)
{
    test_write_file("test_model_box.obj", "v 0 0 0\nv 1000 0 0\nv 0 1000 0\nv 0 0 1000\n"
                                          "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    test_write_file("test_model_mesh.tmp",
                    "<talus version='1'><bodies><free name='b' mass='1' inertia='1 1 1'/></bodies>"
                    "<forces><contact><half_space/><mesh name='tip' body='b' scale='0.001' "
                    "file='test_model_box.obj'/></contact></forces></talus>");
    tal_model m;
    ck_assert_int_eq(tal_model_read_file("test_model_mesh.tmp", NULL, &m, NULL), TAL_OK);
    const tal_shape shape = tal_contact_surface_shape(m.forces, m.state, (tal_force_ix){0},
                                                      (tal_contact_surface_ix){1});
    ck_assert_double_eq_tol(tal_mesh_volume(shape.mesh), 1.0 / 6.0, 1e-15);
    // written, it is in the file
    tal_error err = {TAL_OK, "", ""};
    char *text = write_text(&m, &err);
    ck_assert_ptr_null(strstr(text, ".obj"));
    tal_model again = read_text(text);
    assert_same_model(text, m.system, m.state, again.system, again.state);
    tal_model_destroy(&again);
    tal_model_destroy(&m);
    free(text);
    (void)remove("test_model_box.obj");

    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_model_read_file("test_model_mesh.tmp", NULL, &m, found), TAL_ERR_FILE);
    ck_assert_int_eq(tal_diagnostics_num(found), 2);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                     "<mesh name=\"tip\">: 'test_model_box.obj' could not be read");
    ck_assert_str_eq(tal_diagnostics_at(found, 1)->message,
                     "the file cannot be opened: No such file or directory");
    tal_diagnostics_destroy(found);
    (void)remove("test_model_mesh.tmp");
}

END_TEST

START_TEST(a_mesh_in_the_file_is_scaled)
{
    tal_model m = read_text(
        "<talus version='1'><forces><contact><mesh scale='0.5'><vertices>0 0 0 1 0 0 0 1 0 0 0 1</vertices>"
        "<faces>0 2 1 0 1 3 0 3 2 1 2 3</faces></mesh></contact></forces></talus>");
    const tal_shape shape = tal_contact_surface_shape(m.forces, m.state, (tal_force_ix){0},
                                                      (tal_contact_surface_ix){0});
    ck_assert(tal_mesh_vertex(shape.mesh, 3).z == 0.5);
    tal_model_destroy(&m);
}

END_TEST

START_TEST(files_include_files_with_units_of_their_own)
{
    test_write_file("test_model_outer.tmp",
                    "<talus version='1' units='deg'><param name='m' value='3'/>"
                    "<include file='test_model_inner.tmp'/><bodies>"
                    "<pin name='b' parent='a' mass='$m' q='180'/></bodies></talus>");
    test_write_file("test_model_inner.tmp",
                    "<talus version='1'><bodies><pin name='a' mass='$m' q='1'/></bodies></talus>");
    tal_model m;
    ck_assert_int_eq(tal_model_read_file("test_model_outer.tmp", NULL, &m, NULL), TAL_OK);
    ck_assert(tal_state_q(m.state)[0] == 1.0);
    ck_assert(tal_state_q(m.state)[1] == 180.0 * (TAL_PI / 180.0));
    tal_model_destroy(&m);

    // from memory only with a folder
    const char *text = "<talus version='1'><param name='m' value='3'/>"
                       "<include file='test_model_inner.tmp'/></talus>";
    ck_assert_int_eq(tal_model_read_memory("x", text, strlen(text), NULL, &m, NULL), TAL_ERR_FILE);
    tal_model_options options = tal_model_options_default();
    options.folder = ".";
    ck_assert_int_eq(tal_model_read_memory("x", text, strlen(text), &options, &m, NULL), TAL_OK);
    ck_assert_int_eq(tal_matter_num_bodies(m.matter), 2);
    tal_model_destroy(&m);
    (void)remove("test_model_outer.tmp");
    (void)remove("test_model_inner.tmp");
}

END_TEST

// ---- models joined into one (RBDA eq. 3.10)

static const char ARM[] =
    "<talus version='1'><param name='m' value='2'/><functions>"
    "<constant name='ramp' value='2'/></functions><bodies>"
    "<pin name='upper' mass='$m' com='0.1 -0.4 0.05' inertia='0.1 0.12 0.09' u='0.5'>"
    "<coordinate name='swing'/></pin>"
    "<universal name='lower' parent='upper' mass='1' inertia='0.05 0.06 0.07' frame='0 -1 0'"
    " q='0.3 -0.2' u='1 -2'/></bodies>"
    "<forces><mobility_spring mobility='swing' stiffness='3'/>"
    "<mobility_damper mobility='lower:1' damping='0.2'/>"
    "<two_point_spring body1='ground' body2='lower' station1='0 0.5 0' stiffness='40'"
    " rest_length='0.3'/></forces></talus>";

static tal_model read_joined(const char *text)
{
    tal_model m;
    tal_model_options options = tal_model_options_default();
    options.folder = ".";
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_model_read_memory("joined", text, strlen(text), &options, &m, found);
    ck_assert_msg(st == TAL_OK, "%s", st == TAL_OK ? "" : tal_diagnostics_at(found, 0)->message);
    tal_diagnostics_destroy(found);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);
    return m;
}

// The same arm twice, side by side on Ground: M has two blocks, and each arm moves as it does
// alone, bit for bit.
// Inventory of RBDA: 3.05.
START_TEST(a_file_can_be_included_twice)
{
    test_write_file("test_model_arm.tmp", ARM);
    tal_model one = read_joined("<talus version='1'><include file='test_model_arm.tmp'/></talus>");
    tal_model two = read_joined(
        "<talus version='1'><include file='test_model_arm.tmp' prefix='left_'/>"
        "<include file='test_model_arm.tmp' prefix='right_'/>"
        "<measures><coordinate name='angle' mobility='right_swing'/></measures></talus>");
    ck_assert_int_eq(tal_matter_num_bodies(two.matter), 5);
    const double *alone = tal_state_udot(one.state), *udot = tal_state_udot(two.state);
    ck_assert_mem_eq(udot, alone, 3 * sizeof *udot);
    ck_assert_mem_eq(udot + 3, alone, 3 * sizeof *udot);
    double M1[9], M2[36];
    ck_assert_int_eq(tal_matter_calc_M(one.matter, one.state, tal_matrix_view(M1, 3, 3)), TAL_OK);
    ck_assert_int_eq(tal_matter_calc_M(two.matter, two.state, tal_matrix_view(M2, 6, 6)), TAL_OK);
    for (int i = 0; i < 36; ++i) {
        const int row = i % 6, column = i / 6;
        const bool same = row / 3 == column / 3;
        ck_assert_double_eq(M2[i], same ? M1[row % 3 + 3 * (column % 3)] : 0.0);
    }
    ck_assert_int_ge(tal_matter_find_body(two.matter, "left_lower").i, 0);
    tal_model_destroy(&one);
    tal_model_destroy(&two);

    // a param of each, set by the program
    tal_model_options options = tal_model_options_default();
    const tal_model_param heavy = {"right_m", 5.0};
    options.folder = ".";
    options.params = &heavy;
    options.num_params = 1;
    const char *text = "<talus version='1'><include file='test_model_arm.tmp' prefix='left_'/>"
                       "<include file='test_model_arm.tmp' prefix='right_'/></talus>";
    ck_assert_int_eq(tal_model_read_memory("x", text, strlen(text), &options, &two, NULL), TAL_OK);
    const tal_body_ix left = tal_matter_find_body(two.matter, "left_upper");
    const tal_body_ix right = tal_matter_find_body(two.matter, "right_upper");
    ck_assert_double_eq(tal_body_mass_props(two.matter, two.state, left).mass, 2.0);
    ck_assert_double_eq(tal_body_mass_props(two.matter, two.state, right).mass, 5.0);
    tal_model_destroy(&two);
    (void)remove("test_model_arm.tmp");
}

END_TEST

// An arm on a cart: what is ground in its file is the cart here, for forces as well. The same as
// one file with all of it.
START_TEST(a_file_can_stand_on_a_body)
{
    test_write_file("test_model_arm.tmp", ARM);
    tal_model joined =
        read_joined("<talus version='1'><bodies><slider name='cart' mass='4' u='1.5'/></bodies>"
                    "<include file='test_model_arm.tmp' prefix='arm_' on='cart'/></talus>");
    tal_model whole = read_joined(
        "<talus version='1'><bodies><slider name='cart' mass='4' u='1.5'/>"
        "<pin name='upper' parent='cart' mass='2' com='0.1 -0.4 0.05' inertia='0.1 0.12 0.09'"
        " u='0.5'/>"
        "<universal name='lower' parent='upper' mass='1' inertia='0.05 0.06 0.07' frame='0 -1 0'"
        " q='0.3 -0.2' u='1 -2'/></bodies>"
        "<forces><mobility_spring mobility='upper' stiffness='3'/>"
        "<mobility_damper mobility='lower:1' damping='0.2'/>"
        "<two_point_spring body1='cart' body2='lower' station1='0 0.5 0' stiffness='40'"
        " rest_length='0.3'/></forces></talus>");
    ck_assert_int_eq(tal_state_nu(joined.state), 4);
    ck_assert_mem_eq(tal_state_udot(joined.state), tal_state_udot(whole.state), 4 * sizeof(double));
    tal_model_destroy(&joined);
    tal_model_destroy(&whole);

    // a file in a file in a file: prefixes in a row
    test_write_file("test_model_pair.tmp",
                    "<talus version='1'><include file='test_model_arm.tmp' prefix='a_'/>"
                    "<include file='test_model_arm.tmp' prefix='b_' on='a_lower'/></talus>");
    tal_model deep = read_joined(
        "<talus version='1'><include file='test_model_pair.tmp' prefix='left_'/></talus>");
    const tal_body_ix hand = tal_matter_find_body(deep.matter, "left_a_lower");
    const tal_body_ix arm = tal_matter_find_body(deep.matter, "left_b_upper");
    ck_assert_int_eq(tal_body_parent(deep.matter, arm).i, hand.i);
    tal_model_destroy(&deep);
    (void)remove("test_model_pair.tmp");
    (void)remove("test_model_arm.tmp");
}

END_TEST

// A chain in a file, as long as it takes.
static char *chain_file(int n)
{
    char *text = malloc((size_t)n * 160 + 200), *at = text;
    at += sprintf(at, "<talus version='1'><bodies>\n");
    for (int i = 0; i < n; ++i) {
        at += sprintf(at, "<pin name='b%d' parent='", i);
        at += i > 0 ? sprintf(at, "b%d", i - 1) : sprintf(at, "ground");
        at += sprintf(at, "' mass='1' com='0 -0.5 0.01' inertia='0.1 0.012345678901234567 0.1' "
                          "frame='0 -1 0.25'/>\n");
    }
    (void)sprintf(at, "</bodies><forces><gravity g='0 -9.81 0'/></forces></talus>");
    return text;
}

static void *read_long_chain(void *context)
{
    int *num_bodies = context;
    char *text = chain_file(100000);
    tal_model m;
    if (tal_model_read_memory("chain", text, strlen(text), NULL, &m, NULL) == TAL_OK) {
        *num_bodies = tal_matter_num_bodies(m.matter);
    }
    tal_model_destroy(&m);
    free(text);
    return NULL;
}

START_TEST(a_long_chain_needs_no_more_stack_than_a_short_one)
{
    pthread_attr_t small;
    pthread_t thread;
    int num_bodies = 0;
    ck_assert_int_eq(pthread_attr_init(&small), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&small, test_small_stack()), 0);
    ck_assert_int_eq(pthread_create(&thread, &small, read_long_chain, &num_bodies), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(num_bodies, 100001);
    (void)pthread_attr_destroy(&small);
}

END_TEST

// Reported, not judged: machines differ.
START_TEST(ten_thousand_bodies_load_quickly)
{
    char *text = chain_file(10000);
    const clock_t begin = clock();
    tal_model m = read_text(text);
    const double ms = 1e3 * (double)(clock() - begin) / CLOCKS_PER_SEC;
    (void)printf("10,000 bodies, %zu bytes: %.0f ms of processor time\n", strlen(text), ms);
    ck_assert_int_eq(tal_matter_num_bodies(m.matter), 10001);
    tal_model_destroy(&m);
    free(text);
}

END_TEST

START_TEST(the_example_models_are_right)
{
    const char *names[] = {"pendulum", "four_bar", "human_body", "octane", "rimless_wheel"};
    for (int i = 0; i < 5; ++i) {
        char path[300], line[TAL_DIAGNOSTIC_SIZE] = "";
        (void)snprintf(path, sizeof path, TALUS_SOURCE_DIR "/examples/models/%s.talus", names[i]);
        tal_model m;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        const tal_status st = tal_model_read_file(path, NULL, &m, found);
        if (st != TAL_OK) (void)tal_diagnostic_text(tal_diagnostics_at(found, 0), line);
        ck_assert_msg(st == TAL_OK, "%s", line);
        ck_assert_int_eq(tal_diagnostics_num(found), 0);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);
        tal_model_destroy(&m);
        tal_diagnostics_destroy(found);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model");
    TCase *same = tcase_create("same");
    tcase_set_timeout(same, 120);
    tcase_add_test(same, a_file_and_a_program_give_the_same_bits);
    tcase_add_test(same, every_row_of_the_table_has_its_case);
    tcase_add_test(same, what_is_written_is_read_back_bit_for_bit);
    tcase_add_test(same, what_the_state_holds_is_written);
    tcase_add_test(same, what_only_a_state_knows_is_written);
    tcase_add_test(same, what_no_file_can_say_is_refused_by_name);
    tcase_add_test(same, the_state_begins_where_the_file_says);
    tcase_add_test(same, stops_know_what_is_an_angle);
    tcase_add_test(same, inertia_can_be_said_in_several_ways);
    tcase_add_test(same, an_inertia_of_no_real_body_is_read_back_with_its_permit);
    tcase_add_test(same, an_inertia_of_no_real_body_is_taken_where_the_reader_is_told_to);
    tcase_add_test(same, params_are_used_and_can_be_set);
    tcase_add_test(same, bodies_may_stand_in_any_order);
    tcase_add_test(same, a_material_may_be_the_first_thing_in_a_file);
    tcase_add_test(same, a_mesh_can_be_a_file);
    tcase_add_test(same, a_mesh_in_the_file_is_scaled);
    tcase_add_test(same, files_include_files_with_units_of_their_own);
    tcase_add_test(same, a_file_can_be_included_twice);
    tcase_add_test(same, a_file_can_stand_on_a_body);
    tcase_add_test(same, the_example_models_are_right);
    suite_add_tcase(suite, same);
    TCase *size = tcase_create("size");
    tcase_set_timeout(size, 120);
    tcase_add_test(size, a_long_chain_needs_no_more_stack_than_a_short_one);
    tcase_add_test(size, ten_thousand_bodies_load_quickly);
    suite_add_tcase(suite, size);
    return test_run(suite);
}
