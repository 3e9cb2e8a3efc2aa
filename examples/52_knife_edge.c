// A skate on a slope: it moves along its blade only, which is an equation between speeds that no
// equation between coordinates stands for.
//
// The slope pulls along x, the skate turns at 3 rad/s, and so it does not slide down but along
// cycloids across the slope: x = 5/18 sin^2 3t, y = 5/18 (3t - sin(6t) / 2).
//
// Run it:  build/dev/examples/52_knife_edge        Expected output: 52_knife_edge.out
#include "garage.h"

#include <math.h>
#include <stdio.h>

static const double PULL = 5.0, RATE = 3.0; // m/s^2, rad/s

// sin(th) xdot - cos(th) ydot, of arguments xdot, ydot, th
static double across(const void *self, const double v[], int n)
{
    (void)self, (void)n;
    return sin(v[2]) * v[0] - cos(v[2]) * v[1];
}

static double across_slope(const void *self, const double v[], int n, const int by[], int order)
{
    (void)self, (void)n;
    const double s = sin(v[2]), c = cos(v[2]);
    const double first[3] = {s, -c, c * v[0] + s * v[1]};
    const double with_angle[3] = {c, s, c * v[1] - s * v[0]};
    if (order == 1) return first[by[0]];
    if (by[0] == 2) return with_angle[by[1]];
    return by[1] == 2 ? with_angle[by[0]] : 0.0;
}

static sketch add_skate(tal_matter *matter, tal_forces *forces, const void *options)
{
    static const tal_function_ops ops = {.size = sizeof ops,
                                         .name = "across the blade",
                                         .calc_value = across,
                                         .calc_derivative = across_slope};
    (void)options;
    tal_mobod_def skate = tal_mobod_def_default();
    skate.mass.mass = 1.0;
    skate.mass.inertia = tal_s3_diag(0.5, 0.5, 0.5);
    const tal_body_ix body = tal_matter_add_planar(matter, TAL_GROUND, &skate); // th, x, y
    tal_function_def function = tal_function_def_default();
    tal_function *blade = NULL;
    function.ops = &ops;
    function.num_args = 3;
    tal_constraint_def edge = tal_constraint_def_default();
    edge.mobilities[0] = (tal_mobility){body, 1}; // speeds first,
    edge.mobilities[1] = (tal_mobility){body, 2};
    edge.mobilities[2] = (tal_mobility){body, 0}; // then coordinates
    edge.num_mobilities = 3;
    if (tal_function_create(NULL, &function, &blade, NULL) == TAL_OK) {
        (void)tal_constraint_add_speed_coupler(matter, &edge, 2, blade);
    }
    (void)tal_forces_add_gravity(forces, tal_v3(PULL, 0.0, 0.0));
    return sketch_begin(matter, forces);
}

// How far from its curve it is after 2 s. Negative: it did not get there.
static double error_of(tal_formulation formulation, double step)
{
    const double t = 2.0, c = PULL / (2.0 * RATE * RATE);
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = formulation;
    def.scheme = tal_formulation_usual_scheme(formulation);
    def.step = step;
    def.tolerance = 1e-12; // so that what is printed does not depend on how iterations end
    garage it;
    double error = -1.0;
    tal_status st = garage_open(&it, add_skate, NULL, &def);
    if (st == TAL_OK) {
        const tal_body_ix skate = {1};
        (void)tal_body_set_u(it.drawn.matter, it.state, skate, 0, RATE);
        st = garage_run_to(&it, t);
    }
    if (st == TAL_OK) {
        const double *q = tal_state_q(it.state), s = sin(RATE * t);
        error = hypot(q[1] - c * s * s, q[2] - c * (RATE * t - 0.5 * sin(2.0 * RATE * t)));
    } else {
        (void)puts(it.err.message);
    }
    garage_close(&it);
    return error;
}

int main(void)
{
    static const tal_formulation all[] = {TAL_FORMULATION_HYBRID, TAL_FORMULATION_FULLY_RECURSIVE,
                                          TAL_FORMULATION_WELCH, TAL_FORMULATION_BAUMGARTE};

    (void)printf("distance from the curve after 2 s, mm\n");
    (void)printf("step            20 ms   10 ms    5 ms  order\n");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        const double e[] = {error_of(all[i], 0.02), error_of(all[i], 0.01),
                            error_of(all[i], 0.005)};
        if (e[0] < 0.0 || e[1] < 0.0 || e[2] < 0.0) return 1;
        (void)printf("%-16s %.4f  %.4f  %.4f  %.1f\n", tal_formulation_name(all[i]), 1e3 * e[0],
                     1e3 * e[1], 1e3 * e[2], log2(e[1] / e[2]));
    }
    return 0;
}
