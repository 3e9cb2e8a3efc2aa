// What are the masses and springs of two carts whose motion was recorded? Parameters by least
// squares, with derivatives of the whole trajectory.
//
//     wall --k1-- cart 1 --k2-- cart 2        x is the stretch of each spring
//
// The record is made here, with known values and an error of 0.2 mm, so that the answer can be
// compared with the truth. Only ratios of masses and springs show in free motion: the mass of
// cart 1 was weighed.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    NUM_PARAMETERS = 4,
    NUM_SAMPLES = 60,
    NUM_RESIDUALS = 2 * NUM_SAMPLES
};

typedef struct carts {
    tal_system *system;
    tal_state *start, *state;
    tal_sensitivity *study;
    double record[NUM_RESIDUALS]; // x of both carts, sample by sample
} carts;

static const double interval = 0.05; // s

// Differences between the run and the record, and how they change with the parameters.
static tal_status compare(void *self, const double values[], double r[], tal_matrix J)
{
    carts *it = self;
    tal_status st = tal_state_copy(it->state, it->start);
    if (st == TAL_OK) st = tal_sensitivity_run(it->study, it->state, values, 0.0);
    for (int k = 0; k < NUM_SAMPLES && st == TAL_OK; ++k) {
        st = tal_sensitivity_continue(it->study, it->state, (k + 1) * interval);
        if (st != TAL_OK) break;
        const tal_matrix S = tal_sensitivity_matrix(it->study); // of x1, x2 and their speeds
        for (int i = 0; i < 2; ++i) {
            const int row = 2 * k + i;
            r[row] = tal_state_q(it->state)[i] - it->record[row];
            for (int p = 0; p < J.cols && J.rows > 0; ++p) {
                J.data[p * J.ld + row] = S.data[p * S.ld + i];
            }
        }
    }
    return st;
}

// Runs with the true values, and writes down what a camera would have seen.
static tal_status make_record(carts *it, const double truth[])
{
    static const tal_matrix none = {NULL, 0, 0, 1};
    double seen[NUM_RESIDUALS];
    const tal_status st = compare(it, truth, seen, none); // the record is zero still
    for (int i = 0; i < NUM_RESIDUALS; ++i) {
        it->record[i] = seen[i] + 2e-4 * sin(37.0 * i * i);
    }
    return st;
}

static tal_status find_parameters(carts *it)
{
    static const char *const names[NUM_PARAMETERS] = {"mass of cart 2 [kg]", "k1 [N/m]", "k2 [N/m]",
                                                      "start of cart 2 [m]"};
    static const double truth[NUM_PARAMETERS] = {1.7, 40.0, 25.0, 0.2};
    static const double lower[NUM_PARAMETERS] = {0.1, 1.0, 1.0, -1.0};
    static const double upper[NUM_PARAMETERS] = {10.0, 200.0, 200.0, 1.0};
    double x[NUM_PARAMETERS] = {1.0, 30.0, 30.0, 0.1}, errors[NUM_PARAMETERS];
    const tal_least_squares problem = {.num_unknowns = NUM_PARAMETERS,
                                       .num_residuals = NUM_RESIDUALS,
                                       .lower = lower,
                                       .upper = upper,
                                       .scale = truth,
                                       .self = it,
                                       .calc = compare};
    static double work[2000];
    if (tal_least_squares_work_size(NUM_PARAMETERS, NUM_RESIDUALS) > 2000) return TAL_ERR_CAPACITY;
    tal_least_squares_report report;
    tal_error err;
    tal_status st = make_record(it, truth);
    if (st == TAL_OK) {
        st = tal_least_squares_solve(&problem, NULL, x, errors, work, &report, &err);
        if (st != TAL_OK) puts(err.message);
    }
    if (st != TAL_OK) return st;
    (void)printf("%-20s %8s %8s\n", "", "found", "true");
    for (int p = 0; p < NUM_PARAMETERS; ++p) {
        const bool is_near = fabs(x[p] - truth[p]) < 3.0 * errors[p];
        (void)printf("%-20s %8.3f %8.3f  %s\n", names[p], x[p], truth[p],
                     is_near ? "within three standard errors" : "too far off");
    }
    const double rms = sqrt(2.0 * report.cost / NUM_RESIDUALS);
    (void)printf("what is left of the record: %.2f mm\n", 1e3 * rms);
    return TAL_OK;
}

int main(void)
{
    carts it = {.system = tal_system_create(NULL)};
    tal_matter *matter = tal_matter_create(it.system);
    tal_forces *forces = tal_forces_create(it.system, matter);
    tal_mobod_def cart = tal_mobod_def_default();
    cart.mass.mass = 2.0; // kg, weighed
    const tal_body_ix cart1 = tal_matter_add_slider(matter, TAL_GROUND, &cart);
    const tal_body_ix cart2 = tal_matter_add_slider(matter, cart1, &cart);
    const tal_mobility along[2] = {{cart1, 0}, {cart2, 0}};
    const tal_force_ix k1 = tal_forces_add_mobility_spring(forces, "k1", along[0], 1.0, 0.0);
    const tal_force_ix k2 = tal_forces_add_mobility_spring(forces, "k2", along[1], 1.0, 0.0);
    const tal_parameter parameters[NUM_PARAMETERS] = {
        tal_parameter_mass("m2", matter, cart2), tal_parameter_force("k1", forces, k1, 0),
        tal_parameter_force("k2", forces, k2, 0), tal_parameter_q("x2", matter, cart2, 0)};
    tal_sensitivity_def def = tal_sensitivity_def_default();
    def.parameters = parameters;
    def.num_parameters = NUM_PARAMETERS;
    def.accuracy = 1e-8;
    def.step = interval;

    tal_error err;
    tal_status st = tal_system_realize_topology(it.system, &err);
    if (st == TAL_OK) st = tal_state_create(it.system, &it.start, &err);
    if (st == TAL_OK) st = tal_state_create(it.system, &it.state, &err);
    if (st == TAL_OK) st = tal_sensitivity_create(it.system, &def, &it.study, &err);
    if (st != TAL_OK) puts(err.message);
    if (st == TAL_OK) st = find_parameters(&it);
    tal_sensitivity_destroy(it.study);
    tal_state_destroy(it.state);
    tal_state_destroy(it.start);
    tal_system_destroy(it.system);
    return st == TAL_OK ? 0 : 1;
}
