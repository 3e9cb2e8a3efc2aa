// A ball dropped from 1 m bounces on a floor, with 80 % of its speed each time, until it lies
// still.
//
// The bounces pile up at t1 (1 + e)/(1 - e): without the last handler the run would end with
// TAL_ERR_EVENT_LIMIT and a sentence that names the event, never with a ball below the floor.
//
// Run it:  build/dev/examples/13_bouncing_ball        Expected output: 13_bouncing_ball.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double G = 9.81, E = 0.8, REST = 0.05; // m/s, slower is still

typedef struct ball {
    const tal_matter *matter;
    tal_body_ix body;
    double expected, gap; // time of the next bounce, and from there to the one after it
    int bounces;
} ball;

// Position decides, so the witness is one of stage Position.
static tal_status height(void *context, const tal_system *system, tal_state *state, double *value)
{
    const ball *it = context;
    (void)system;
    *value = tal_body_p_GB(it->matter, state, it->body).y;
    return TAL_OK;
}

static tal_status bounce(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    ball *it = context;
    (void)system;
    (void)cause;
    const double t = tal_state_t(state), v = -E * tal_body_u(it->matter, state, it->body, 1);
    (void)printf("%4d %12.8f %12.8f %10.6f\n", ++it->bounces, t, it->expected, v);
    it->expected += it->gap;
    it->gap *= E;
    *terminate = v < REST;
    return tal_body_set_u(it->matter, state, it->body, 1, v);
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_events *events = tal_events_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    ball it = {.matter = matter, .body = tal_matter_add_translation(matter, TAL_GROUND, &def)};
    it.expected = sqrt(2.0 / G);
    it.gap = 2.0 * E * it.expected;
    tal_forces_add_gravity(forces, tal_v3(0.0, -G, 0.0));
    tal_happening hit = tal_happening_default();
    hit.name = "bounce";
    hit.context = &it;
    hit.witness = height;
    hit.crossing = TAL_CROSSING_FALLING;
    hit.handle = bounce;
    tal_events_add(events, &hit);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_time_stepper *stepper = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-10;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &fine, &integ, &err);
    if (st == TAL_OK) st = tal_time_stepper_create(integ, NULL, &stepper, &err);

    tal_outcome why = TAL_OUTCOME_FAILED;
    (void)printf("   n            t     expected  speed after\n");
    if (st == TAL_OK) st = tal_body_set_q(matter, state, it.body, 1, 1.0);
    if (st == TAL_OK) st = tal_time_stepper_step_to(stepper, state, 10.0, &why);
    if (st == TAL_OK) {
        (void)printf("at rest: %s. It would pile up at %.6f s\n", tal_outcome_name(why),
                     sqrt(2.0 / G) * (1.0 + E) / (1.0 - E));
    } else {
        (void)fprintf(stderr, "%s\n",
                      stepper ? tal_time_stepper_error(stepper)->message : err.message);
    }
    tal_time_stepper_destroy(stepper);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
