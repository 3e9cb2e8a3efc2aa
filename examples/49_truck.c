// A heavy truck on leaf springs of three bars each: 31 bodies and two rods, 48 coordinates, 36
// equations, 18 degrees of freedom. Six equations repeat others: each leaf spring is a plane loop.
// It jumps at 0.5 m/s and comes to rest on its springs.
//
// Steps of 10 ms with always the same work: three iterations, two projections.
//
// Run it:  build/dev/examples/49_truck        Expected output: 49_truck.out
#include "garage.h"

#include <stdio.h>

static sketch add_truck(tal_matter *matter, tal_forces *forces, const void *options)
{
    (void)options;
    return truck_add(matter, forces);
}

int main(void)
{
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.same_work = true;
    def.iterations = 3;
    def.projections = 2;
    garage truck;
    tal_status st = garage_open(&truck, add_truck, NULL, &def);
    if (st == TAL_OK) garage_push(&truck, tal_v3(0.0, 0.0, 0.5));
    (void)printf("  t    rise of the chassis [mm]\n");
    for (int i = 1; i <= 12 && st == TAL_OK; ++i) {
        st = garage_run_to(&truck, 0.25 * i);
        if (st == TAL_OK) {
            (void)printf("%5.2f %8.2f\n", 0.25 * i, 1e3 * (garage_place(&truck).z - 1.1));
        }
    }
    if (st != TAL_OK) (void)puts(truck.err.message);
    if (st == TAL_OK) {
        const tal_fixed_stats stats = tal_fixed_stepper_statistics(truck.stepper);
        (void)printf("%d steps, constraints %s\n", (int)stats.steps,
                     stats.worst_position_error < 1e-6 ? "met to 1 um" : "NOT met");
    }
    garage_close(&truck);
    return st == TAL_OK ? 0 : 1;
}
