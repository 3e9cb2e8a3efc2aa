// Dzhanibekov's wing nut: a free body that spins about its middle axis turns over and over.
//
// Inertias 1, 2, 3 kg m^2, 5 rad/s about the middle axis and a hundredth of a turn beside it. The
// spin changes sign every half period of the Jacobi functions that solve Euler's equations (Landau
// and Lifshitz I, sec. 37), 10.05185827631494 s.
//
// Run it:  build/dev/examples/14_dzhanibekov        Expected output: 14_dzhanibekov.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PERIOD = 10.05185827631494;

typedef struct nut {
    const tal_matter *matter;
    tal_body_ix body;
    double last; // time of the last flip; 0: none yet
} nut;

// The spin about the middle axis. A speed, so the witness is one of stage Velocity.
static tal_status spin(void *context, const tal_system *system, tal_state *state, double *value)
{
    const nut *it = context;
    (void)system;
    const tal_vec3 w_G = tal_body_V_GB(it->matter, state, it->body).w;
    *value = tal_m3_tmul_v3(tal_body_X_GB(it->matter, state, it->body).R, w_G).y;
    return TAL_OK;
}

// Looks at a State of its own: the run does not notice.
static tal_status flip(void *context, const tal_system *system, tal_state *state,
                       tal_event_cause cause)
{
    nut *it = context;
    (void)cause;
    const double t = tal_state_t(state);
    if (it->last == 0.0) {
        (void)printf("%10.6f   turns over\n", t);
    } else {
        (void)printf("%10.6f   turns over after %.5f s, expected %.5f s\n", t, t - it->last,
                     0.5 * PERIOD);
    }
    it->last = t;
    return tal_system_realize(system, state, TAL_STAGE_DYNAMICS);
}

static tal_status print(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause)
{
    const nut *it = context;
    (void)cause;
    double w = 0.0;
    const tal_status st = spin(context, system, state, &w);
    (void)printf("%10.6f %10.5f %14.9f\n", tal_state_t(state), w,
                 tal_matter_kinetic_energy(it->matter, state));
    return st;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_events *events = tal_events_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia.xx = 1.0;
    def.mass.inertia.yy = 2.0;
    def.mass.inertia.zz = 3.0;
    nut it = {.matter = matter, .body = tal_matter_add_ball(matter, TAL_GROUND, &def)};
    tal_happening over = tal_happening_default();
    over.context = &it;
    over.witness = spin;
    over.stage = TAL_STAGE_VELOCITY;
    over.report = flip;
    tal_events_add(events, &over);
    tal_happening table = tal_happening_default();
    table.context = &it;
    table.period = 2.5;
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

    const double w[] = {0.01, 5.0, 0.01};
    (void)printf("         t       spin         energy\n");
    if (st == TAL_OK) st = tal_state_set_u(state, w, 3);
    if (st == TAL_OK) st = tal_time_stepper_step_to(stepper, state, 20.0, NULL);

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
