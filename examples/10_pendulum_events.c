// A pendulum that is pushed: reports at fixed times, a handler at the lowest point, a measured
// period.
//
// Every time the bob passes the lowest point from the left a handler takes 10 % of its speed away.
// The time from one passage to the next is compared with the period of a pendulum of that energy,
// T = 2 pi / agm(1, cos(a/2)) sqrt(L/g), a the amplitude (Gauss).
//
// Run it:  build/dev/examples/10_pendulum_events        Expected output: 10_pendulum_events.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double G = 9.81, LENGTH = 1.0;

typedef struct bob {
    const tal_matter *matter;
    tal_body_ix body;
    double last;  // time of the last passage
    double speed; // after it
    int passages;
} bob;

static tal_status angle(void *context, const tal_system *system, tal_state *state, double *value)
{
    const bob *it = context;
    (void)system;
    *value = tal_body_q(it->matter, state, it->body, 0);
    return TAL_OK;
}

// The witness's rate: where two crossings might hide in one step, this shows them.
static tal_status angle_rate(void *context, const tal_system *system, tal_state *state,
                             double *value)
{
    const bob *it = context;
    (void)system;
    *value = tal_body_u(it->matter, state, it->body, 0);
    return TAL_OK;
}

// From speed v at the bottom the bob rises to the amplitude a with sin(a/2) = v / (2 sqrt(g L)).
static double period(double v)
{
    double a = 1.0, b = sqrt(1.0 - v * v / (4.0 * G * LENGTH));
    while (fabs(a - b) > 1e-15) {
        const double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 2.0 * TAL_PI * sqrt(LENGTH / G) / a;
}

static tal_status brake(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause, bool *terminate)
{
    bob *it = context;
    const double t = tal_state_t(state), u = tal_body_u(it->matter, state, it->body, 0);
    (void)system;
    (void)cause;
    if (it->passages > 0) {
        (void)printf("%6.3f   passage %d after %.8f s, expected %.8f s\n", t, it->passages,
                     t - it->last, period(it->speed));
    }
    it->last = t;
    it->speed = 0.9 * u;
    *terminate = ++it->passages == 6;
    return tal_body_set_u(it->matter, state, it->body, 0, it->speed);
}

static tal_status print(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause)
{
    const bob *it = context;
    (void)system;
    (void)cause;
    (void)printf("%6.3f %10.6f %10.6f\n", tal_state_t(state),
                 tal_body_q(it->matter, state, it->body, 0),
                 tal_body_u(it->matter, state, it->body, 0));
    return TAL_OK;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_events *events = tal_events_create(system);

    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.X_BM = tal_xf_from_p(tal_v3(0.0, LENGTH, 0.0));
    bob it = {.matter = matter, .body = tal_matter_add_pin(matter, TAL_GROUND, &def)};
    tal_forces_add_gravity(forces, tal_v3(0.0, -G, 0.0));

    tal_happening lowest = tal_happening_default();
    lowest.name = "lowest point";
    lowest.context = &it;
    lowest.witness = angle;
    lowest.rate = angle_rate;
    lowest.crossing = TAL_CROSSING_RISING;
    lowest.handle = brake;
    tal_events_add(events, &lowest);
    tal_happening table = tal_happening_default();
    table.name = "table";
    table.context = &it;
    table.period = 1.0;
    table.report = print;
    tal_events_add(events, &table);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_time_stepper *stepper = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.tableau = tal_rk_dormand_prince();
    fine.accuracy = 1e-11;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &fine, &integ, &err);
    if (st == TAL_OK) st = tal_time_stepper_create(integ, NULL, &stepper, &err);

    tal_outcome why = TAL_OUTCOME_FAILED;
    (void)printf("     t      angle      speed\n");
    if (st == TAL_OK) st = tal_body_set_q(matter, state, it.body, 0, 2.0);
    if (st == TAL_OK) st = tal_time_stepper_step_to(stepper, state, 100.0, &why);
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
