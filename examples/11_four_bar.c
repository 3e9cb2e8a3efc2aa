// A four-bar linkage turned by its crank: a closed loop, prescribed motion, an event per turn.
//
//     O2 = (0, 0) --crank 1 m--> A --coupler 3 m--> B <--rocker 2.5 m-- O4 = (3.2, 0)
//
// The loop is cut at B and closed by a ball constraint. The crank turns at 10 rad/s; the angles of
// coupler and rocker are compared with the closed form: B is where two circles meet.
//
// Run it:  build/dev/examples/11_four_bar        Expected output: 11_four_bar.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double CRANK = 1.0, COUPLER = 3.0, ROCKER = 2.5, GROUND = 3.2, RATE = 10.0;

typedef struct linkage {
    const tal_matter *matter;
    tal_body_ix crank, coupler, rocker;
    int turns;
} linkage;

// A bar along x from its pin, 1 kg per meter.
static tal_mobod_def bar(double length, double x_P)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_rod(length, tal_v3(0.5 * length, 0.0, 0.0));
    def.X_BM = tal_xf_from_p(tal_v3(-0.5 * length, 0.0, 0.0));
    def.X_PF = tal_xf_from_p(tal_v3(x_P, 0.0, 0.0));
    return def;
}

// The rocker's angle in closed form: the triangle A, B, O4 with the crank at `angle`.
static double rocker_angle(double angle)
{
    const double x = GROUND - CRANK * cos(angle), y = -CRANK * sin(angle);
    const double d = hypot(x, y);
    const double beta = acos((d * d + ROCKER * ROCKER - COUPLER * COUPLER) / (2.0 * d * ROCKER));
    return atan2(-y, -x) - beta;
}

static tal_status print(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause)
{
    const linkage *it = context;
    (void)cause;
    const double crank = tal_body_q(it->matter, state, it->crank, 0);
    const double rocker = tal_body_q(it->matter, state, it->rocker, 0);
    const tal_status st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    const double off = remainder(rocker - rocker_angle(crank), 2.0 * TAL_PI);
    (void)printf("%8.4f %10.4f %12.6f   %s\n", tal_state_t(state), crank, rocker,
                 fabs(off) < 1e-8 ? "as it should be" : "WRONG");
    return st;
}

// The crank has made a whole turn more.
static tal_status turn(void *context, const tal_system *system, tal_state *state, double *value)
{
    const linkage *it = context;
    (void)system;
    *value = sin(0.5 * tal_body_q(it->matter, state, it->crank, 0));
    return TAL_OK;
}

static tal_status count(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause, bool *terminate)
{
    linkage *it = context;
    (void)system;
    (void)cause;
    (void)printf("%8.4f            turn %d\n", tal_state_t(state), ++it->turns);
    *terminate = it->turns == 2;
    return TAL_OK;
}

static void build(tal_matter *matter, linkage *it)
{
    tal_mobod_def def = bar(CRANK, 0.0);
    it->crank = tal_matter_add_pin(matter, TAL_GROUND, &def);
    def = bar(COUPLER, 0.5 * CRANK);
    it->coupler = tal_matter_add_pin(matter, it->crank, &def);
    def = bar(ROCKER, GROUND);
    it->rocker = tal_matter_add_pin(matter, TAL_GROUND, &def);
    const tal_constraint_def joint = tal_constraint_between(it->coupler, it->rocker);
    tal_constraint_add_ball(matter, &joint, tal_v3(0.5 * COUPLER, 0.0, 0.0),
                            tal_v3(0.5 * ROCKER, 0.0, 0.0));
    tal_motion_def motor = tal_motion_def_default();
    motor.body = it->crank;
    tal_matter_add_motion_steady(matter, &motor, &RATE, 1);
}

int main(void)
{
    linkage it = {.turns = 0};
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_events *events = tal_events_create(system);
    it.matter = matter;
    build(matter, &it);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    tal_happening table = tal_happening_default();
    table.context = &it;
    table.period = 2.0 * TAL_PI / RATE / 12.0; // every 30 degrees
    table.report = print;
    tal_events_add(events, &table);
    tal_happening turns = tal_happening_default();
    turns.context = &it;
    turns.witness = turn;
    turns.handle = count;
    tal_events_add(events, &turns);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_time_stepper *stepper = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-9;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &fine, &integ, &err);
    if (st == TAL_OK) st = tal_time_stepper_create(integ, NULL, &stepper, &err);

    // a guess is enough: the run begins with a step of length zero, which closes the loop
    tal_outcome why = TAL_OUTCOME_FAILED;
    (void)printf("       t      crank       rocker\n");
    if (st == TAL_OK) st = tal_body_set_q(matter, state, it.crank, 0, 0.1);
    if (st == TAL_OK) st = tal_body_set_q(matter, state, it.coupler, 0, 0.85);
    if (st == TAL_OK) st = tal_body_set_q(matter, state, it.rocker, 0, 1.7);
    if (st == TAL_OK) st = tal_time_stepper_step_to(stepper, state, 10.0, &why);
    if (st == TAL_OK) (void)printf("the run ended: %s\n", tal_outcome_name(why));

    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n",
                      stepper ? tal_time_stepper_error(stepper)->message : err.message);
    }
    tal_time_stepper_destroy(stepper);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
