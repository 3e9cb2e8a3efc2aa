// Which mass hangs on the spring, and how much does the oil resist? Ten positions were measured,
// with errors of 2 mm. A Latin hypercube of what is possible is run, and each sample counts by how
// well it explains what was measured: that gives the answer, and how sure it is.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLES = 20000,
    TIMES = 10
};

static const double ERROR = 0.002; // m

static tal_status read_place(void *context, const tal_system *system, tal_state *state,
                             double results[])
{
    (void)context, (void)system;
    results[0] = tal_state_q(state)[0];
    return TAL_OK;
}

// The logarithm of the probability of what was measured.
static double judge(const double places[TIMES], const double measured[TIMES])
{
    double sum = 0.0;
    for (int i = 0; i < TIMES; ++i) {
        const double off = (places[i] - measured[i]) / ERROR;
        sum -= 0.5 * off * off;
    }
    return sum;
}

// Mean and deviation of each parameter under these weights.
static void print_answer(const tal_design *design, const double results[], const double measured[])
{
    static const char *const names[] = {"mass      ", "resistance"}, *const units[] = {"kg",
                                                                                       "N s/m"};
    double sum = 0.0, mean[2] = {0.0}, square[2] = {0.0};
    for (int k = 0; k < SAMPLES; ++k) {
        double values[2];
        (void)tal_design_sample(design, k, values);
        const double weight = exp(judge(results + (size_t)k * TIMES, measured));
        sum += weight;
        for (int i = 0; i < 2; ++i) {
            mean[i] += weight * values[i];
            square[i] += weight * values[i] * values[i];
        }
    }
    for (int i = 0; i < 2; ++i) {
        const double m = mean[i] / sum;
        (void)printf("%s %.3f +- %.3f %s\n", names[i], m, sqrt(square[i] / sum - m * m), units[i]);
    }
}

// The truth, 2.3 kg and 1.7 N s/m, and errors of measuring.
static tal_status measure(tal_ensemble *ensemble, const tal_state *start, double measured[])
{
    const double truth[] = {2.3, 1.7};
    const tal_design one = tal_design_table(truth, 2, 1);
    const tal_status st = tal_ensemble_run(ensemble, start, &one, measured, NULL, NULL);
    tal_random random = {.seed = 5};
    for (int i = 0; i < TIMES; ++i) {
        measured[i] += ERROR * tal_random_normal(&random);
    }
    return st;
}

static tal_status run(tal_ensemble *ensemble, const tal_state *start)
{
    const tal_distribution possible[] = {{TAL_UNIFORM, 1.0, 4.0}, {TAL_UNIFORM, 0.0, 5.0}};
    const tal_design design = tal_design_latin(possible, 2, 1, SAMPLES);
    double measured[TIMES];
    double *const results = malloc(sizeof(double) * SAMPLES * TIMES);
    if (results == NULL) return TAL_ERR_NO_MEMORY;
    tal_status st = measure(ensemble, start, measured);
    if (st == TAL_OK) st = tal_ensemble_run(ensemble, start, &design, results, NULL, NULL);
    if (st == TAL_OK) print_answer(&design, results, measured);
    free(results);
    return st;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(matter, TAL_GROUND, &def);
    const tal_mobility along = {body, 0};
    tal_forces_add_mobility_spring(forces, NULL, along, 80.0, 0.0); // N/m
    const tal_force_ix oil = tal_forces_add_mobility_damper(forces, NULL, along, 1.0);

    const tal_parameter parameters[] = {tal_parameter_mass("mass", matter, body),
                                        tal_parameter_force("oil", forces, oil, 0)};
    double times[TIMES];
    for (int i = 0; i < TIMES; ++i) {
        times[i] = 0.3 * (i + 1);
    }
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-6;
    tal_ensemble_def wanted = tal_ensemble_def_default();
    wanted.parameters = parameters;
    wanted.num_parameters = 2;
    wanted.read = read_place;
    wanted.num_outputs = 1;
    wanted.task = TAL_TASK_INTEGRATE;
    wanted.times = times;
    wanted.num_times = TIMES;
    wanted.integrator = &fine;

    tal_error err;
    tal_state *start = NULL;
    tal_ensemble *ensemble = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &start, &err);
    if (st == TAL_OK) st = tal_body_set_q(matter, start, body, 0, 0.1); // m
    if (st == TAL_OK) st = tal_ensemble_create(system, &wanted, &ensemble, &err);
    if (st == TAL_OK) st = run(ensemble, start);
    if (st != TAL_OK) puts(ensemble != NULL ? tal_ensemble_error(ensemble)->message : err.message);
    tal_ensemble_destroy(ensemble);
    tal_state_destroy(start);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
