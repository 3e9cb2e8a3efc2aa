// A human body of 40 bodies and 45 degrees of freedom falls while all its joints turn: four
// formulations beside each other, in steps of 2 ms.
//
// Run it:  build/dev/examples/47_waving_human        Expected output: 47_waving_human.out
#include "garage.h"

#include <math.h>
#include <stdio.h>

static sketch add_human(tal_matter *matter, tal_forces *forces, const void *options)
{
    (void)options;
    return human_add(matter, forces);
}

// Joint i turns at sin(i) rad/s; the chest is at rest.
static void wave(garage *it)
{
    for (int b = 2; b < tal_matter_num_bodies(it->drawn.matter); ++b) {
        (void)tal_body_set_u(it->drawn.matter, it->state, (tal_body_ix){b}, 0, sin(b - 1.0));
    }
}

// One line: the height of the chest every 50 ms, and how far it fell less than a stone would.
static tal_status fall(tal_formulation formulation)
{
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = formulation;
    def.scheme = tal_formulation_usual_scheme(formulation);
    def.step = 0.002;
    def.uses_stiffness = false; // no springs
    garage human;
    tal_status st = garage_open(&human, add_human, NULL, &def);
    if (st == TAL_OK) wave(&human);
    (void)printf("%-16s", tal_formulation_name(formulation));
    for (int i = 1; i <= 4 && st == TAL_OK; ++i) {
        st = garage_run_to(&human, 0.05 * i);
        (void)printf(" %9.5f", garage_place(&human).z);
    }
    const double stone = 0.5 * 9.81 * 0.2 * 0.2;
    if (st == TAL_OK) (void)printf("   %.2f mm\n", 1e3 * (garage_place(&human).z - 1.28 + stone));
    if (st != TAL_OK) (void)puts(human.err.message);
    garage_close(&human);
    return st;
}

int main(void)
{
    const tal_formulation all[] = {TAL_FORMULATION_HYBRID, TAL_FORMULATION_SEMI_RECURSIVE,
                                   TAL_FORMULATION_FULLY_RECURSIVE, TAL_FORMULATION_WELCH};
    (void)printf("height of the chest at 0.05    0.10      0.15      0.20   above a stone\n");
    tal_status st = TAL_OK;
    for (int i = 0; i < 4 && st == TAL_OK; ++i) {
        st = fall(all[i]);
    }
    return st == TAL_OK ? 0 : 1;
}
