// How far does a throw go, for which payload? A hundred masses on as many cores as there are, then
// the mass that reaches a wanted distance.
//
//     Ground --pin--> arm, driven by a spring; the payload sits at its end. How far it would fly is
//     a measure of the State when the arm is let go.
//
// Run it:  build/dev/examples/18_mass_sweep        Expected output: 18_mass_sweep.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLES = 100
};

static const double ARM = 1.0, G = 9.81; // m, m/s^2

// --- a measure: the range of a stone that leaves the arm now, for level ground at the pin ---

typedef struct thrower {
    const tal_matter *matter;
    tal_body_ix arm;
} thrower;

static tal_status calc_range(const void *self, const tal_system *system, tal_state *state,
                             int order, int n, double value[])
{
    (void)system, (void)order, (void)n;
    const thrower *it = self;
    const tal_vec3 tip = {ARM, 0.0, 0.0};
    const tal_vec3 p = tal_station_p_GS(it->matter, state, it->arm, tip);
    const tal_vec3 v = tal_station_v_GS(it->matter, state, it->arm, tip);
    const double time = (v.y + sqrt(v.y * v.y + 2.0 * G * p.y)) / G;
    value[0] = p.x + v.x * time;
    return TAL_OK;
}

static void needs_velocity(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)self, (void)system, (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_VELOCITY);
}

static const tal_measure_ops range_ops = {
    .size = sizeof range_ops, .name = "range", .calc = calc_range, .needs = needs_velocity};

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -G, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(0.5 * ARM, 0.0, 0.0));
    const tal_body_ix arm = tal_matter_add_pin(matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_point(1.0, tal_v3(0.0, 0.0, 0.0));
    def.X_PF = tal_xf_from_p(tal_v3(ARM, 0.0, 0.0));
    const tal_body_ix payload = tal_matter_add_weld(matter, arm, &def);
    // from below, on the left, up and over: the torsion spring relaxes at 45 degrees to the right
    tal_forces_add_mobility_spring(forces, "spring", (tal_mobility){arm, 0}, 60.0, 0.785);
    const thrower self = {matter, arm};
    tal_measure_def measure = tal_measure_def_default();
    measure.name = "range";
    measure.size = 1;
    measure.self = &self;
    measure.self_size = sizeof self;
    const tal_measure_ix range =
        tal_system_add_measure(system, tal_matter_subsystem(matter), &range_ops, &measure);

    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL;
    tal_threads *threads = NULL;
    tal_ensemble *ensemble = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_threads_create(2, &threads, &err);
    if (st == TAL_OK) {
        tal_body_set_q(matter, state, arm, 0, 3.6);
        const tal_executor executor = tal_threads_executor(threads);
        const tal_parameter mass = tal_parameter_mass("payload", matter, payload);
        tal_integrator_def fine = tal_integrator_def_default();
        fine.accuracy = 1e-9;
        tal_ensemble_def study = tal_ensemble_def_default();
        study.parameters = &mass;
        study.num_parameters = 1;
        study.outputs = &range;
        study.num_outputs = 1;
        study.task = TAL_TASK_INTEGRATE;
        study.end_time = 0.25; // let go after a quarter of a second
        study.integrator = &fine;
        study.lanes = 2;
        study.executor = &executor;
        st = tal_ensemble_create(system, &study, &ensemble, &err);
    }

    double masses[SAMPLES] = {0.0}, ranges[SAMPLES] = {0.0}, wanted_mass = 2.0;
    const int levels = SAMPLES;
    const double lightest = 0.5, heaviest = 5.0, wanted_range = 4.0;
    const tal_design design = tal_design_grid(&levels, &lightest, &heaviest, 1);
    if (st == TAL_OK) st = tal_design_fill(&design, masses); // to print them
    if (st == TAL_OK) st = tal_ensemble_run(ensemble, state, &design, ranges, NULL, NULL);
    (void)printf("   mass    range\n");
    for (int k = 0; k < SAMPLES && st == TAL_OK; k += 11) {
        (void)printf("%7.3f %8.4f\n", masses[k], ranges[k]);
    }
    if (st == TAL_OK) {
        st = tal_ensemble_fit(ensemble, state, &wanted_range, NULL, &wanted_mass, NULL);
    }
    if (st == TAL_OK) (void)printf("%7.4f kg fly %.1f m\n", wanted_mass, wanted_range);

    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n",
                      ensemble ? tal_ensemble_error(ensemble)->message : err.message);
    }
    tal_ensemble_destroy(ensemble);
    tal_threads_destroy(threads);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
