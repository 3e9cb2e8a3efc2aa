// The Iltis, the road vehicle benchmark of the IAVSD, drives up a ramp and down stairs, without an
// engine: 8 s in steps of a fixed length.
//
// Three runs: short steps as a reference, steps of 10 ms, and steps of 50 ms with Newmark's
// damping. Their errors are those of the heights of three points (CD eq. 43); CD accept 5 mm. At
// 4 m/s a step of 50 ms is 0.2 m long, a fifth of a stair.
//
// Run it:  build/dev/examples/46_iltis        Expected output: 46_iltis.out
#include "garage.h"

#include <math.h>
#include <stdio.h>

enum {
    SAMPLES = 160 // every 50 ms
};

// Heights of three points over time, and the largest acceleration of the chassis.
typedef struct ride {
    double z[SAMPLES + 1][3], x[SAMPLES + 1];
    double peak; // [g]
} ride;

static sketch add_iltis(tal_matter *matter, tal_forces *forces, const void *options)
{
    return iltis_add(matter, forces, options);
}

// One step, watching the acceleration of the chassis.
static tal_status step(garage *car, ride *out)
{
    enum {
        UP = 5 // speeds of a free body: three turns, then x, y, z
    };

    const tal_status st = tal_fixed_stepper_step(car->stepper, car->state);
    if (st != TAL_OK) {
        car->err = *tal_fixed_stepper_error(car->stepper);
        return st;
    }
    const tal_fixed_memory *memory = tal_system_fixed_memory(car->system);
    const double *udot = tal_fixed_memory_udot(memory, car->state);
    out->peak = fmax(out->peak, fabs(udot[UP]) / 9.81);
    return TAL_OK;
}

static tal_status drive(const tal_fixed_stepper_def *def, ride *out)
{
    const iltis_options options = {.has_road = true};
    garage car;
    tal_status st = garage_open(&car, add_iltis, &options, def);
    if (st == TAL_OK) garage_push(&car, tal_v3(5.0, 0.0, 0.0));
    out->peak = 0.0;
    const int steps = (int)lround(0.05 / def->step);
    for (int i = 1; i <= SAMPLES && st == TAL_OK; ++i) {
        for (int k = 0; k < steps && st == TAL_OK; ++k) {
            st = step(&car, out);
        }
        if (st == TAL_OK) iltis_read_heights(&car.drawn, car.state, out->z[i]);
        out->x[i] = garage_place(&car).x;
    }
    if (st != TAL_OK) (void)puts(car.err.message);
    garage_close(&car);
    return st;
}

// CD eq. 43
static double error_of(const ride *it, const ride *reference)
{
    double sum = 0.0;
    for (int i = 1; i <= SAMPLES; ++i) {
        double square = 0.0;
        for (int j = 0; j < 3; ++j) {
            const double d = it->z[i][j] - reference->z[i][j];
            square += d * d;
        }
        sum += sqrt(square);
    }
    return sum / (3.0 * (SAMPLES + 1));
}

static void print_ride(const ride *it)
{
    (void)printf("   t      x    chassis  left front  right rear\n");
    for (int i = 20; i <= SAMPLES; i += 20) {
        (void)printf("%4.1f %6.2f %10.3f %11.3f %11.3f\n", 0.05 * i, it->x[i], it->z[i][0],
                     it->z[i][1], it->z[i][2]);
    }
}

int main(void)
{
    static ride reference, short_steps, long_steps;
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.step = 0.001;
    tal_status st = drive(&def, &reference);
    def.step = 0.01;
    if (st == TAL_OK) st = drive(&def, &short_steps);
    def.step = 0.05;
    def.scheme = TAL_SCHEME_NEWMARK;
    def.xi = -0.52;
    if (st == TAL_OK) st = drive(&def, &long_steps);
    if (st != TAL_OK) return 1;
    print_ride(&reference);
    (void)printf("largest acceleration of the chassis %.1f g\n", reference.peak);
    (void)printf("mean error of heights, steps of 10 ms: %.1f mm\n",
                 1e3 * error_of(&short_steps, &reference));
    (void)printf("mean error of heights, steps of 50 ms: %.1f mm\n",
                 1e3 * error_of(&long_steps, &reference));
    return 0;
}
