// forces/src/muscle/metabolics.c against numbers worked by hand, to eight digits.
//
// F0 = 1000 N, lo = 0.1 m, vmax = 10, r = 0.5: a mass of 0.42388 kg, and four states.
#include "talus_test.h"

#include <talus/forces.h>

static const tal_metabolic_state states[4] = {
    {0.6, 0.4, 0.9, -0.2, 0.95, 250.0, 0.0, 1000.0, 0.1, 10.0},
    {0.3, 0.5, 1.2, -0.5, 0.80, 150.0, 30.0, 1000.0, 0.1, 10.0},
    {0.2, 0.4, 1.1, 0.3, 0.90, 450.0, 10.0, 1000.0, 0.1, 10.0},
    {0.2, 0.4, 1.1, 0.01, 0.90, 450.0, 10.0, 1000.0, 0.1, 10.0}};

static const double MASS = 0.42388;

// Given to eight significant digits; the mass that W/kg are multiplied with has five, exactly.
static void check(double found, double expected)
{
    ck_assert_double_eq_tol(found, expected, 1e-7 * fmax(1.0, fabs(expected)));
}

START_TEST(umbergers_heat_rates_are_those_computed_by_hand)
{
    const double heat[] = {75.300717, 37.920264, 29.100058, 29.100058}; // W/kg
    const double shortening[] = {23.463929, 18.326479, 289.38631, 4.05};
    const double work[] = {117.95791, 176.93687, -318.48636, -10.616212};
    const double total[] = {91.864358, 98.841869, 0.0, 9.5516467}; // W
    const tal_metabolics def = tal_metabolics_default(TAL_METABOLICS_UMBERGER);
    for (int i = 0; i < 4; ++i) {
        const tal_metabolic_rates rates = tal_metabolics_calc(&def, &states[i]);
        check(rates.mass, MASS);
        check(rates.activation / MASS, heat[i]);
        check(rates.shortening / MASS, shortening[i]);
        check(rates.work / MASS, work[i]);
        check(rates.total, total[i]);
        ck_assert_double_eq(rates.maintenance, 0.0);
    }
}

START_TEST(bhargavas_heat_rates_are_those_computed_by_hand)
{
    const double activation[] = {18.478040, 6.9210601, 3.9993424, 3.9993424};
    const double maintenance[] = {20.147183, 5.8105775, 4.7983189, 4.7983189};
    const double shortening[] = {12.5, 22.5, 126.20234, 0.0};
    const double work[] = {50.0, 75.0, -135.0, -4.5};
    const double total[] = {101.12522, 110.23164, 0.0, 4.2976613};
    const double by_force[] = {21.16, 48.2, 126.20234, -0.7222};
    const double total_by_force[] = {109.78522, 135.93164, 0.0, 3.5754613};
    for (int i = 0; i < 4; ++i) {
        tal_metabolics def = tal_metabolics_default(TAL_METABOLICS_BHARGAVA);
        tal_metabolic_rates rates = tal_metabolics_calc(&def, &states[i]);
        check(rates.activation, activation[i]);
        check(rates.maintenance, maintenance[i]);
        check(rates.shortening, shortening[i]);
        check(rates.work, work[i]);
        check(rates.total, total[i]);
        def.uses_force_shortening = true;
        rates = tal_metabolics_calc(&def, &states[i]);
        check(rates.shortening, by_force[i]);
        check(rates.total, total_by_force[i]);
    }
}

START_TEST(options_change_what_they_say)
{
    tal_metabolics def = tal_metabolics_default(TAL_METABOLICS_UMBERGER);
    def.has_negative_work = false;
    tal_metabolic_rates rates = tal_metabolics_calc(&def, &states[2]);
    check(rates.shortening / MASS, 9.1125);
    check(rates.total, 16.197539);

    def = tal_metabolics_default(TAL_METABOLICS_UMBERGER);
    def.uses_recruitment = false;
    rates = tal_metabolics_calc(&def, &states[1]);
    check(rates.activation / MASS, 67.795354);
    check(rates.shortening / MASS, 16.944);
    check(rates.total, 110.91932);

    // a muscle at rest still needs 1 W/kg
    tal_metabolic_state rest = states[0];
    rest.excitation = rest.activation = rest.fiber_speed = rest.active_force = 0.0;
    def = tal_metabolics_default(TAL_METABOLICS_UMBERGER);
    check(tal_metabolics_calc(&def, &rest).total, MASS);
    def.has_least_heat = false;
    check(tal_metabolics_calc(&def, &rest).total, 0.0);
    def.mass = 2.0;
    def.has_least_heat = true;
    check(tal_metabolics_calc(&def, &rest).total, 2.0);
    check(tal_metabolics_basal(70.0), 84.0);
}

START_TEST(a_nan_is_not_lost)
{
    for (int model = 0; model < 2; ++model) {
        const tal_metabolics def = tal_metabolics_default((tal_metabolic_model)model);
        tal_metabolic_state at = states[0];
        at.fiber_speed = (double)NAN;
        ck_assert(isnan(tal_metabolics_calc(&def, &at).total));
        at = states[0];
        at.active_force = (double)NAN;
        ck_assert(isnan(tal_metabolics_calc(&def, &at).total));
    }
}

int main(void)
{
    Suite *suite = suite_create("forces/metabolics");
    TCase *tc = tcase_create("all");
    tcase_add_test(tc, umbergers_heat_rates_are_those_computed_by_hand);
    tcase_add_test(tc, bhargavas_heat_rates_are_those_computed_by_hand);
    tcase_add_test(tc, options_change_what_they_say);
    tcase_add_test(tc, a_nan_is_not_lost);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
