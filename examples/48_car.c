// A car with McPherson struts in front and five rods at each rear wheel: 25 bodies, 48 coordinates,
// 33 equations, 15 degrees of freedom. It jumps at 0.5 m/s and comes to rest on its springs.
//
// Steps of 10 ms with always the same work: three iterations, two projections.
//
// Run it:  build/dev/examples/48_car        Expected output: 48_car.out
#include "garage.h"

#include <stdio.h>

static sketch add_car(tal_matter *matter, tal_forces *forces, const void *options)
{
    (void)options;
    return car_add(matter, forces);
}

int main(void)
{
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.same_work = true;
    def.iterations = 3;
    def.projections = 2;
    garage car;
    tal_status st = garage_open(&car, add_car, NULL, &def);
    if (st == TAL_OK) garage_push(&car, tal_v3(0.0, 0.0, 0.5));
    (void)printf("  t    rise of the chassis [mm]\n");
    for (int i = 1; i <= 12 && st == TAL_OK; ++i) {
        st = garage_run_to(&car, 0.25 * i);
        if (st == TAL_OK) {
            (void)printf("%5.2f %8.2f\n", 0.25 * i, 1e3 * (garage_place(&car).z - 0.55));
        }
    }
    if (st != TAL_OK) (void)puts(car.err.message);
    if (st == TAL_OK) {
        const tal_fixed_stats stats = tal_fixed_stepper_statistics(car.stepper);
        (void)printf("%d steps, constraints %s\n", (int)stats.steps,
                     stats.worst_position_error < 1e-6 ? "met to 1 um" : "NOT met");
    }
    garage_close(&car);
    return st == TAL_OK ? 0 : 1;
}
