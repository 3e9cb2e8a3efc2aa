// A planetary gear train: couplers between coordinates, and a clutch that an event opens.
//
// A sun (20 teeth), a planet (20) on a carrier, and a ring (60) that is fixed.
// With angles s, c of sun and carrier and p of the planet relative to the carrier the teeth mesh
// when
//
//     20 (s - c) + 20 p = 0        60 c + 20 p = 0
//
// so the carrier turns a quarter as fast as the sun. A torque of 2 N m drives the sun for one turn.
//
// Run it:  build/dev/examples/12_gears        Expected output: 12_gears.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double SUN = 20.0, PLANET = 20.0, RING = 60.0; // teeth
static const double ARM = 0.08;                             // m, from the axis to the planet's
static const double TORQUE = 2.0;                           // N m

typedef struct train {
    const tal_matter *matter;
    const tal_forces *forces;
    tal_body_ix sun, carrier, planet;
    tal_force_ix motor;
    double stopped; // when the clutch opened
} train;

// A disk on a pin about z.
static tal_mobod_def wheel(double mass, double radius, double x_P)
{
    tal_mobod_def def = tal_mobod_def_default();
    const double axial = 0.5 * mass * radius * radius;
    def.mass.mass = mass;
    def.mass.inertia.xx = def.mass.inertia.yy = 0.5 * axial;
    def.mass.inertia.zz = axial;
    def.X_PF = tal_xf_from_p(tal_v3(x_P, 0.0, 0.0));
    return def;
}

static tal_status couple(tal_matter *matter, tal_body_ix a, tal_body_ix b, tal_body_ix c,
                         const double teeth[3], tal_error *err)
{
    tal_function *f = NULL;
    const tal_status st = tal_function_create_linear(NULL, teeth, 3, 0.0, &f, err);
    if (st != TAL_OK) return st;
    tal_constraint_def mesh = tal_constraint_def_default();
    mesh.num_mobilities = 3;
    mesh.mobilities[0].body = a;
    mesh.mobilities[1].body = b;
    mesh.mobilities[2].body = c;
    (void)tal_constraint_add_coordinate_coupler(matter, &mesh, f);
    return TAL_OK;
}

static tal_status turn_left(void *context, const tal_system *system, tal_state *state,
                            double *value)
{
    const train *it = context;
    (void)system;
    *value = 2.0 * TAL_PI - tal_body_q(it->matter, state, it->sun, 0);
    return TAL_OK;
}

static tal_status open_clutch(void *context, const tal_system *system, tal_state *state,
                              tal_event_cause cause, bool *terminate)
{
    train *it = context;
    (void)system;
    (void)cause;
    (void)terminate;
    it->stopped = tal_state_t(state);
    (void)printf("%6.3f   the clutch opens\n", it->stopped);
    return tal_force_set_enabled(it->forces, state, it->motor, false);
}

static tal_status print(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause)
{
    const train *it = context;
    (void)system;
    (void)cause;
    const double sun = tal_body_u(it->matter, state, it->sun, 0);
    const double carrier = tal_body_u(it->matter, state, it->carrier, 0);
    const double planet = carrier + tal_body_u(it->matter, state, it->planet, 0);
    (void)printf("%6.3f %10.6f %10.6f %10.6f\n", tal_state_t(state), sun, carrier, planet);
    return TAL_OK;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_events *events = tal_events_create(system);
    tal_error err = {TAL_OK, "", ""};
    train it = {.matter = matter, .forces = forces};
    tal_mobod_def def = wheel(1.0, 0.04, 0.0);
    it.sun = tal_matter_add_pin(matter, TAL_GROUND, &def);
    def = wheel(2.0, ARM, 0.0);
    it.carrier = tal_matter_add_pin(matter, TAL_GROUND, &def);
    def = wheel(1.0, 0.04, ARM);
    it.planet = tal_matter_add_pin(matter, it.carrier, &def);
    const double with_sun[] = {SUN, -SUN, PLANET}, with_ring[] = {0.0, RING, PLANET};
    tal_status st = couple(matter, it.sun, it.carrier, it.planet, with_sun, &err);
    if (st == TAL_OK) st = couple(matter, it.sun, it.carrier, it.planet, with_ring, &err);
    const tal_mobility on_sun = {it.sun, 0};
    it.motor = tal_forces_add_mobility_force(forces, "motor", on_sun, TORQUE);
    tal_happening clutch = tal_happening_default();
    clutch.context = &it;
    clutch.witness = turn_left;
    clutch.crossing = TAL_CROSSING_FALLING;
    clutch.handle = open_clutch;
    tal_events_add(events, &clutch);
    tal_happening table = tal_happening_default();
    table.context = &it;
    table.period = 0.05;
    table.report = print;
    tal_events_add(events, &table);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_time_stepper *stepper = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-9;
    if (st == TAL_OK) st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &fine, &integ, &err);
    if (st == TAL_OK) st = tal_time_stepper_create(integ, NULL, &stepper, &err);
    (void)printf("     t        sun    carrier     planet   [rad/s]\n");
    if (st == TAL_OK) st = tal_time_stepper_step_to(stepper, state, 0.3, NULL);

    // all wheels seen from the sun: inertia I_s + I_c / 16 + m ARM^2 / 16 + I_p / 4
    const double inertia =
        0.5 * 1.0 * 0.0016 + (0.5 * 2.0 * 0.0064 + 1.0 * 0.0064) / 16.0 + 0.5 * 1.0 * 0.0016 / 4.0;
    const double expected = sqrt(4.0 * TAL_PI * inertia / TORQUE);
    if (st == TAL_OK) {
        (void)printf("one turn of the sun took %.8f s, expected %.8f s\n", it.stopped, expected);
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
