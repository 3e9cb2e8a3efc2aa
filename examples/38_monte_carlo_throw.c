// A hundred thousand throws of a ball, with errors in speed, direction and drag: how high is it
// where the wall is? Mean, deviation, quantiles and a histogram. Samples are stepped side by side
// in the lanes of the processor's registers where it has them, with the same bits.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLES = 100000,
    BINS = 16
};

// The ball flies 1.2 s; what is asked is its distance and its height then.
static tal_status read_place(void *context, const tal_system *system, tal_state *state,
                             double results[])
{
    (void)context, (void)system;
    results[0] = tal_state_q(state)[0];
    results[1] = tal_state_q(state)[1];
    return TAL_OK;
}

static void print_histogram(const double results[])
{
    int counts[BINS] = {0};
    tal_histogram heights = {.low = -2.0, .high = 6.0, .num_bins = BINS, .counts = counts};
    (void)tal_histogram_begin(&heights);
    (void)tal_histogram_add(&heights, results + 1, SAMPLES, 2);
    for (int i = 0; i < BINS; ++i) {
        (void)printf("%5.1f m |", -2.0 + 0.5 * i);
        for (int k = 0; k < counts[i] / 500; ++k) {
            (void)putchar('#');
        }
        (void)putchar('\n');
    }
}

static void print_statistics(const double results[], double work[])
{
    double mean[2], scatter[4], least[2], most[2];
    tal_moments moments = {
        .num_columns = 2, .mean = mean, .scatter = scatter, .least = least, .most = most};
    const double p[] = {0.05, 0.5, 0.95};
    double quantiles[3];
    (void)tal_moments_begin(&moments);
    (void)tal_moments_add(&moments, results, SAMPLES);
    (void)tal_quantiles_calc(results + 1, SAMPLES, 2, p, 3, work, quantiles);
    (void)printf("distance %.3f m, deviation %.3f m\n", mean[0],
                 tal_moments_deviation(&moments, 0));
    (void)printf("height   %.3f m, deviation %.3f m; 5, 50, 95 %%: %.3f, %.3f, %.3f m\n", mean[1],
                 tal_moments_deviation(&moments, 1), quantiles[0], quantiles[1], quantiles[2]);
    const double r = tal_moments_covariance(&moments, 0, 1) / tal_moments_deviation(&moments, 0) /
                     tal_moments_deviation(&moments, 1);
    (void)printf("correlation of both: %.3f\n", r);
}

static tal_status run(tal_ensemble *ensemble, const tal_state *start)
{
    const tal_distribution errors[] = {{TAL_NORMAL, 12.0, 0.4}, // m/s
                                       {TAL_NORMAL, 8.0, 0.9},  // m/s
                                       {TAL_LOGNORMAL, 0.05, 0.3}};
    const tal_design design = tal_design_random(errors, 3, 7, SAMPLES);
    double *const results = malloc(2 * SAMPLES * sizeof *results);
    double *const work = malloc(SAMPLES * sizeof *work);
    tal_status st = TAL_ERR_NO_MEMORY;
    if (results != NULL && work != NULL) {
        st = tal_ensemble_run(ensemble, start, &design, results, NULL, NULL);
    }
    if (st == TAL_OK) {
        print_statistics(results, work);
        print_histogram(results);
    }
    free(work);
    free(results);
    return st;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    const tal_force_ix drag = tal_forces_add_global_damper(forces, "drag", 0.05);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(0.4, TAL_VEC3_ZERO); // kg
    const tal_body_ix ball = tal_matter_add_translation(matter, TAL_GROUND, &def);

    const tal_parameter parameters[] = {tal_parameter_u("forward", matter, ball, 0),
                                        tal_parameter_u("upward", matter, ball, 1),
                                        tal_parameter_force("drag", forces, drag, 0)};
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-6;
    tal_ensemble_def wanted = tal_ensemble_def_default();
    wanted.parameters = parameters;
    wanted.num_parameters = 3;
    wanted.read = read_place;
    wanted.num_outputs = 2;
    wanted.task = TAL_TASK_INTEGRATE;
    wanted.end_time = 1.2; // s
    wanted.integrator = &fine;

    tal_error err;
    tal_state *start = NULL;
    tal_ensemble *ensemble = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &start, &err);
    if (st == TAL_OK) st = tal_ensemble_create(system, &wanted, &ensemble, &err);
    if (st == TAL_OK) st = run(ensemble, start);
    if (st != TAL_OK) puts(ensemble != NULL ? tal_ensemble_error(ensemble)->message : err.message);
    tal_ensemble_destroy(ensemble);
    tal_state_destroy(start);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
