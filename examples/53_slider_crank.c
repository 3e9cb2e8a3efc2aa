// An engine's slider-crank, turned by gravity: how well do fixed steps keep its equations?
//
// Welch's predictor-corrector solves two linear systems in each step; there is nothing to iterate
// and nothing to choose. Baumgarte's method does the same work, and needs two numbers that fit the
// step. Errors of constraints are means over 5 s, as in Welch's second table.
//
// Run it:  build/dev/examples/53_slider_crank        Expected output: 53_slider_crank.out
#include "garage.h"

#include <math.h>
#include <stdio.h>

static const double CRANK = 0.3, ROD = 0.8; // m

// A bar of 1 kg along x, pinned along z at `at` of its parent.
static tal_body_ix add_bar(tal_matter *matter, tal_body_ix parent, double at, double length)
{
    tal_mobod_def def = tal_mobod_def_default();
    const double second = length * length / 3.0;
    def.mass.mass = 1.0;
    def.mass.com = tal_v3(0.5 * length, 0.0, 0.0);
    def.mass.inertia = tal_s3_diag(0.0, second, second);
    def.X_PF.p = tal_v3(at, 0.0, 0.0);
    return tal_matter_add_pin(matter, parent, &def);
}

// The end of the rod is held by a piston, which slides along x of Ground.
static sketch add_engine(tal_matter *matter, tal_forces *forces, const void *options)
{
    (void)options;
    const tal_body_ix crank = add_bar(matter, TAL_GROUND, 0.0, CRANK);
    const tal_body_ix rod = add_bar(matter, crank, CRANK, ROD);
    tal_mobod_def piston = tal_mobod_def_default();
    piston.mass.mass = 0.5;
    const tal_body_ix body = tal_matter_add_slider(matter, TAL_GROUND, &piston);
    const tal_constraint_def pin = tal_constraint_between(rod, body);
    (void)tal_constraint_add_ball(matter, &pin, tal_v3(ROD, 0.0, 0.0), TAL_VEC3_ZERO);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -10.0, 0.0));
    return sketch_begin(matter, forces);
}

// Mean |Phi| of 5 s. Negative: it did not get there.
static double mean_error(const tal_fixed_stepper_def *def)
{
    garage it;
    double mean = -1.0;
    tal_status st = garage_open(&it, add_engine, NULL, def);
    if (st == TAL_OK) {
        const double angle = 1.0, back = asin(CRANK * sin(angle) / ROD);
        const double q[] = {angle, -angle - back, CRANK * cos(angle) + ROD * cos(back)};
        (void)tal_state_set_q(it.state, q, 3);
        st = garage_run_to(&it, 5.0);
    }
    if (st == TAL_OK) {
        const tal_fixed_stats stats = tal_fixed_stepper_statistics(it.stepper);
        mean = stats.sum_position_error / (double)stats.steps;
    } else {
        (void)puts(it.err.message);
    }
    garage_close(&it);
    return mean;
}

int main(void)
{
    static const struct {
        const char *name;
        tal_formulation formulation;
        tal_scheme scheme;
    } ways[] = {{"Welch", TAL_FORMULATION_WELCH, TAL_SCHEME_PREDICTOR_CORRECTOR},
                {"Welch, predictor", TAL_FORMULATION_WELCH, TAL_SCHEME_PREDICTOR},
                {"Baumgarte, Heun", TAL_FORMULATION_BAUMGARTE, TAL_SCHEME_EXPLICIT}};

    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    (void)printf("mean error of the pin, mm   10 ms     5 ms  order\n");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
        def.formulation = ways[i].formulation;
        def.scheme = ways[i].scheme;
        def.projects = false; // as published
        def.step = 0.01;
        const double coarse = mean_error(&def);
        def.step = 0.005;
        const double fine = mean_error(&def);
        if (coarse < 0.0 || fine < 0.0) return 1;
        (void)printf("%-22s %10.5f %8.5f  %.1f\n", ways[i].name, 1e3 * coarse, 1e3 * fine,
                     log2(coarse / fine));
    }
    def = tal_fixed_stepper_def_default();
    def.uses_stiffness = false;
    const double kept = mean_error(&def);
    (void)printf("hybrid, by iteration   %s\n", kept >= 0.0 && kept < 1e-8 ? "below 1e-5" : "MORE");
    return 0;
}
