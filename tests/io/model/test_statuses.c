// Promise P20: every status of the list can be reached through the public API, and says what is
// wrong with whom.
#include "stepper_model.h"
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

// What goes wrong is done to an arm on a pin, in a System named "plant".
typedef struct plant {
    stepper_model m;
    tal_body_ix arm;
    tal_assembler *assembler;
    tal_status then; // of its events
} plant;

static plant *begin(plant *p)
{
    memset(p, 0, sizeof *p);
    tal_system_def def = tal_system_def_default();
    def.name = "plant";
    p->m.system = tal_system_create(&def);
    p->m.matter = tal_matter_create(p->m.system);
    p->m.forces = tal_forces_create(p->m.system, p->m.matter);
    p->m.events = tal_events_create(p->m.system);
    (void)tal_forces_add_gravity(p->m.forces, tal_v3(0.0, -9.81, 0.0));
    return p;
}

static void add_arm(plant *p, double mass)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "arm";
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.5, 0.1));
    def.mass.mass = mass;
    if (mass == 0.0) def.mass = tal_mass_props_point(0.0, tal_v3(0.0, 0.0, 0.0));
    p->arm = tal_matter_add_pin(p->m.matter, TAL_GROUND, &def);
}

static void end(plant *p)
{
    tal_assembler_destroy(p->assembler);
    end_stepper_model(&p->m);
}

// Each does one thing wrong and gives the record that the failed call left.
typedef tal_error (*fault)(plant *p);

static tal_error topology_of(const plant *p)
{
    tal_error err = {0};
    ck_assert_int_lt(tal_system_realize_topology(p->m.system, &err), 0);
    return err;
}

static void no_events(plant *p, const tal_integrator_def *def)
{
    add_arm(p, 1.0);
    finish_stepper_model(&p->m, def, NULL);
}

static tal_error run_out_of_memory(plant *p)
{
    (void)p;
    test_heap heap = {0};
    tal_system_def def = tal_system_def_default();
    def.name = "poor";
    def.allocator = test_heap_allocator(&heap);
    tal_system *poor = tal_system_create(&def);
    tal_state *state = NULL;
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(poor, &err), TAL_OK);
    heap.refuse_at = heap.calls + 1;
    ck_assert_int_lt(tal_state_create(poor, &state, &err), 0);
    tal_system_destroy(poor);
    return err;
}

static tal_error weigh_less_than_nothing(plant *p)
{
    add_arm(p, -1.0);
    return topology_of(p);
}

static tal_error hang_on_nobody(plant *p)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "hand";
    (void)tal_matter_add_pin(p->m.matter, (tal_body_ix){99}, &def);
    return topology_of(p);
}

static tal_error name_two_alike(plant *p)
{
    add_arm(p, 1.0);
    add_arm(p, 1.0);
    return topology_of(p);
}

static tal_error integrate_nothing(plant *p)
{
    (void)p;
    tal_integrator *integ = NULL;
    tal_error err = {0};
    ck_assert_int_lt(tal_integrator_create(NULL, NULL, &integ, &err), 0);
    return err.status != TAL_OK ? err : *tal_contract_last();
}

static tal_error begin_before_the_topology(plant *p)
{
    tal_state *state = NULL;
    tal_error err = {0};
    ck_assert_int_lt(tal_state_create(p->m.system, &state, &err), 0);
    return err.status != TAL_OK ? err : *tal_contract_last();
}

static tal_error read_too_early(plant *p)
{
    no_events(p, NULL);
    ck_assert(isnan(tal_matter_kinetic_energy(p->m.matter, p->m.state)));
    return *tal_contract_last();
}

static tal_error mix_systems(plant *p)
{
    plant other;
    no_events(begin(&other), NULL);
    add_arm(p, 1.0);
    tal_mobod_def def = tal_mobod_def_default();
    (void)tal_matter_add_pin(p->m.matter, p->arm, &def);
    finish_stepper_model(&p->m, NULL, NULL);
    ck_assert_int_lt(tal_system_realize(p->m.system, other.m.state, TAL_STAGE_POSITION), 0);
    const tal_error err = tal_state_error(other.m.state)->status != TAL_OK
                              ? *tal_state_error(other.m.state)
                              : *tal_contract_last();
    end(&other);
    return err;
}

static tal_error turn_by_nan(plant *p)
{
    no_events(p, NULL);
    (void)tal_body_set_q(p->m.matter, p->m.state, p->arm, 0, (double)NAN);
    ck_assert_int_lt(tal_system_realize(p->m.system, p->m.state, TAL_STAGE_POSITION), 0);
    return *tal_state_error(p->m.state);
}

static tal_error move_what_has_no_mass(plant *p)
{
    add_arm(p, 0.0);
    finish_stepper_model(&p->m, NULL, NULL);
    ck_assert_int_lt(tal_system_realize(p->m.system, p->m.state, TAL_STAGE_ACCELERATION), 0);
    return *tal_state_error(p->m.state);
}

static tal_error reach_too_far(plant *p)
{
    add_arm(p, 1.0);
    tal_constraint_def rod = tal_constraint_between(TAL_GROUND, p->arm);
    rod.name = "tie";
    (void)tal_constraint_add_rod(p->m.matter, &rod, tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, -1.0, 0.0),
                                 20.0);
    finish_stepper_model(&p->m, NULL, NULL);
    ck_assert_int_eq(tal_assembler_create(p->m.system, NULL, &p->assembler, NULL), TAL_OK);
    tal_assembly found;
    ck_assert_int_lt(tal_assembler_assemble(p->assembler, p->m.state, &found), 0);
    return *tal_assembler_error(p->assembler);
}

static tal_error save_into_a_byte(plant *p)
{
    char byte;
    no_events(p, NULL);
    ck_assert_int_lt(tal_state_save(p->m.state, &byte, 1), 0);
    return *tal_state_error(p->m.state);
}

// A handler that does nothing but return what its context says.
static tal_status answer(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)state;
    (void)cause;
    (void)terminate;
    return *(const tal_status *)context;
}

static tal_error happen_often(plant *p, const char *name, tal_status then)
{
    add_arm(p, 1.0);
    tal_happening def = tal_happening_default();
    def.name = name;
    def.handle = answer;
    def.context = &p->then;
    p->then = then;
    def.period = 0.01;
    (void)tal_events_add(p->m.events, &def);
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.max_events = 10;
    finish_stepper_model(&p->m, NULL, &run);
    ck_assert_int_lt(tal_time_stepper_step_to(p->m.stepper, p->m.state, 1.0, NULL), 0);
    return *tal_time_stepper_error(p->m.stepper);
}

static tal_error refuse_an_event(plant *p)
{
    return happen_often(p, "valve", TAL_ERR_CALLBACK);
}

static tal_error have_too_many_events(plant *p)
{
    return happen_often(p, "tick", TAL_OK);
}

static tal_error write_to_nowhere(plant *p)
{
    (void)p;
    tal_error err = {0};
    tal_table *table = tal_table_create(NULL);
    ck_assert_int_eq(tal_table_add_column(table, "time"), TAL_OK);
    ck_assert_int_lt(tal_table_write_file(table, "no/such/folder/a.sto", &err), 0);
    tal_table_destroy(table);
    return err;
}

static tal_error want_too_much(plant *p)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-12;
    def.min_step = 0.5;
    (void)tal_forces_add_global_damper(p->m.forces, "honey", 1.0);
    no_events(p, &def);
    (void)tal_body_set_u(p->m.matter, p->m.state, p->arm, 0, 1.0);
    ck_assert_int_lt(tal_integrator_step_to(p->m.integ, p->m.state, 1.0), 0);
    return *tal_integrator_error(p->m.integ);
}

static tal_error step_too_often(plant *p)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.fixed_step = 1e-3;
    def.max_steps = 10;
    no_events(p, &def);
    ck_assert_int_lt(tal_integrator_step_to(p->m.integ, p->m.state, 1.0), 0);
    return *tal_integrator_error(p->m.integ);
}

// A body in a slot, both walls of which are asked to give way.
static tal_error squeeze_from_both_sides(plant *p)
{
    (void)p;
    double A[4] = {1.0, -1.0, -1.0, 1.0}, work[64], z[2] = {0.0, 0.0}, w[2];
    const double b[2] = {-1.0, -1.0}, lower[2] = {0.0, 0.0}, upper[2] = {HUGE_VAL, HUGE_VAL};
    int iwork[8];
    const tal_bounded_problem problem = {tal_matrix_view(A, 2, 2), b, lower, upper, false};
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_lt(tal_bounded_solve(&problem, z, w, work, iwork, NULL, &err), 0);
    return err;
}

// A status, how to get it, and the two things that its sentence must name: whom it is about, and
// what was wrong.
static const struct {
    tal_status status;
    fault commit;
    const char *whom, *what;
} faults[] = {
    {TAL_ERR_NO_MEMORY, run_out_of_memory, "State", "memory"},
    {TAL_ERR_BAD_VALUE, weigh_less_than_nothing, "'arm'", "-1"},
    {TAL_ERR_BAD_INDEX, hang_on_nobody, "99", "body"},
    {TAL_ERR_BAD_NAME, name_two_alike, "'arm'", "already"},
    {TAL_ERR_NULL, integrate_nothing, "System", "NULL"},
    {TAL_ERR_TOPOLOGY, begin_before_the_topology, "'plant'", "topology"},
    {TAL_ERR_STAGE, read_too_early, "Model", "Velocity"},
    {TAL_ERR_WRONG_SYSTEM, mix_systems, "'plant'", "System"},
    {TAL_ERR_NOT_FINITE, turn_by_nan, "'arm'", "nan"},
    {TAL_ERR_SINGULAR, move_what_has_no_mass, "'arm'", "mass"},
    {TAL_ERR_NO_CONVERGENCE, reach_too_far, "'tie'", "constraint"},
    {TAL_ERR_CAPACITY, save_into_a_byte, "State", "1 bytes"},
    {TAL_ERR_CALLBACK, refuse_an_event, "'valve'", "t = "},
    {TAL_ERR_FILE, write_to_nowhere, "no/such/folder/a.sto", "No such file"},
    {TAL_ERR_STEP_TOO_SMALL, want_too_much, "'arm'", "t = "},
    {TAL_ERR_STEP_LIMIT, step_too_often, "10 steps", "t = "},
    {TAL_ERR_EVENT_LIMIT, have_too_many_events, "'tick'", "10"},
    {TAL_ERR_INFEASIBLE, squeeze_from_both_sides, "row 1", "contradict"},
};

enum {
    NUM_FAULTS = sizeof faults / sizeof faults[0]
};

START_TEST(every_status_can_be_reached_and_says_whom_it_is_about_and_what_was_wrong)
{
    for (int i = 0; i < NUM_FAULTS; ++i) {
        plant p;
        tal_contract_clear();
        const tal_error err = faults[i].commit(begin(&p));
        const char *name = tal_status_name(faults[i].status);
        ck_assert_msg(err.status == faults[i].status, "%s instead of %s: %s",
                      tal_status_name(err.status), name, err.message);
        ck_assert_msg(strstr(err.message, faults[i].whom) != NULL, "%s: '%s' does not name %s",
                      name, err.message, faults[i].whom);
        ck_assert_msg(strstr(err.message, faults[i].what) != NULL, "%s: '%s' does not say %s", name,
                      err.message, faults[i].what);
        ck_assert_msg(err.where[0] != '\0', "%s does not say where", name);
        ck_assert_ptr_null(strchr(err.message, '\n'));
        end(&p);
    }
}

END_TEST

START_TEST(no_status_is_left_out)
{
#define X(name, value, text)                                                                       \
    if ((value) < 0) {                                                                             \
        int found = 0;                                                                             \
        for (int i = 0; i < NUM_FAULTS; ++i) {                                                     \
            found += faults[i].status == (name);                                                   \
        }                                                                                          \
        ck_assert_msg(found == 1, "%s is reached %d times", #name, found);                         \
    }
    TAL_STATUS_LIST(X)
#undef X
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("io/statuses");
    TCase *tc = tcase_create("statuses");
    tcase_add_test(tc, every_status_can_be_reached_and_says_whom_it_is_about_and_what_was_wrong);
    tcase_add_test(tc, no_status_is_left_out);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
