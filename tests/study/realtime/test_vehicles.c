// examples/vehicles/ against numbers that another program found from the same tables, and the
// formulations on them.
#include "vehicle_support.h"
#include <stdio.h>

#define CHECK_RELATIVE(value, expected, tolerance)                                                 \
    ck_assert_msg(fabs((value) - (expected)) <= (tolerance)*fabs(expected),                        \
                  "%s = %.13g, not %.13g", #value, (double)(value), (double)(expected))

static double acceleration_norm_without_forces(vehicle *it)
{
    for (int i = 1; i < tal_forces_num(it->w.forces); ++i) {
        ck_assert_int_eq(tal_force_set_enabled(it->w.forces, it->w.state, (tal_force_ix){i}, false),
                         TAL_OK);
    }
    realize_accelerations(it);
    return norm_of_accelerations(it);
}

// --- the models ---

START_TEST(the_human_body_has_its_inertia_and_accelerations)
{
    vehicle it = make_vehicle(human_add);
    ck_assert_int_eq(tal_matter_num_bodies(it.w.matter) - 1, 40);
    ck_assert_int_eq(tal_matter_nu(it.w.matter), 45);
    put_sine_speeds(&it);
    realize_accelerations(&it);
    CHECK_RELATIVE(tal_matter_mass(it.w.matter, it.w.state), 79.6, 1e-14);
    CHECK_RELATIVE(kinetic_energy(&it), 93.5999261221, 1e-9);
    CHECK_RELATIVE(norm_of_accelerations(&it), 30.4391202700, 1e-9);
    const tal_vec3 a = tal_body_A_GB(it.w.matter, it.w.state, (tal_body_ix){1}).v;
    ck_assert_double_eq_tol(a.x, -0.00927836877, 1e-9);
    ck_assert_double_eq_tol(a.y, 0.0533502096, 1e-9);
    CHECK_RELATIVE(a.z, -10.2070784, 1e-8);
    end_realtime(&it.w);
}

END_TEST

START_TEST(the_car_stands_in_equilibrium)
{
    vehicle it = make_vehicle(car_add);
    ck_assert_int_eq(tal_matter_num_bodies(it.w.matter) - 1, 25);
    ck_assert_int_eq(tal_matter_nu(it.w.matter), 48);
    realize_accelerations(&it);
    ck_assert_int_eq(tal_matter_constraint_rows(it.w.matter, it.w.state).mp, 33);
    CHECK_RELATIVE(tal_matter_mass(it.w.matter, it.w.state), 1322.0, 1e-14);
    // lengths are rounded to 1e-8 m, which at 200 kN/m is 1 mN on 53 kg, and on rods of 0.4 m
    ck_assert_double_lt(norm_of_accelerations(&it), 2e-4);
    put_sine_speeds(&it);
    realize_accelerations(&it);
    CHECK_RELATIVE(kinetic_energy(&it), 2119.3553650316, 1e-9);
    CHECK_RELATIVE(norm_of_accelerations(&it), 150.4030267, 1e-9);
    CHECK_RELATIVE(acceleration_norm_without_forces(&it), 10.9272468622, 1e-9);
    end_realtime(&it.w);
}

END_TEST

START_TEST(the_truck_has_six_rows_too_many)
{
    vehicle it = make_vehicle(truck_add);
    ck_assert_int_eq(tal_matter_num_bodies(it.w.matter) - 1, 31);
    ck_assert_int_eq(tal_matter_nu(it.w.matter), 48);
    realize_accelerations(&it);
    ck_assert_int_eq(tal_matter_constraint_rows(it.w.matter, it.w.state).mp, 36);
    CHECK_RELATIVE(tal_matter_mass(it.w.matter, it.w.state), 6789.0, 1e-14);
    put_sine_speeds(&it);
    realize_accelerations(&it);
    CHECK_RELATIVE(kinetic_energy(&it), 16404.4709242525, 1e-9);
    CHECK_RELATIVE(norm_of_accelerations(&it), 179.284389719, 1e-9);
    CHECK_RELATIVE(acceleration_norm_without_forces(&it), 27.9611911019, 1e-9);
    end_realtime(&it.w);
}

END_TEST

// --- runs ---

static void integrate(vehicle *it, double t, double accuracy)
{
    tal_integrator *integ = NULL;
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = accuracy;
    ck_assert_int_eq(tal_integrator_create(it->w.system, &def, &integ, NULL), TAL_OK);
    const tal_status st = tal_integrator_step_to(integ, it->w.state, t);
    ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(integ)->message);
    tal_integrator_destroy(integ);
    realize_accelerations(it);
}

// The change of a height by a run, and how fast it changes then.
static double rise_of(const vehicle *it, double *rate)
{
    const tal_body_ix chest = {1};
    *rate = tal_body_V_GB(it->w.matter, it->w.state, chest).v.z;
    return tal_body_X_GB(it->w.matter, it->w.state, chest).p.z - it->drawn.origin[1].z;
}

START_TEST(the_human_body_falls_and_waves)
{
    vehicle it = make_vehicle(human_add);
    double zdot[45] = {0.0}, rate;
    for (int k = 6; k < 45; ++k) {
        zdot[k] = sin(k - 5.0);
    }
    put_speeds(&it, zdot);
    integrate(&it, 0.2, 1e-10);
    ck_assert_double_eq_tol(rise_of(&it, &rate), -0.202776905, 1e-8);
    CHECK_RELATIVE(kinetic_energy(&it), 161.98801, 1e-7);
    end_realtime(&it.w);
}

END_TEST

// Half a second after all of it moved up at 0.5 m/s.
static void check_jump(vehicle_add_fn add, double z, double zdot, double T)
{
    vehicle it = make_vehicle(add);
    double speeds[48] = {0.0}, rate;
    speeds[2] = 0.5;
    put_speeds(&it, speeds);
    integrate(&it, 0.5, 1e-5);
    ck_assert_double_eq_tol(rise_of(&it, &rate), z, 1e-5);
    ck_assert_double_eq_tol(rate, zdot, 1e-4);
    CHECK_RELATIVE(kinetic_energy(&it), T, 2e-3);
    end_realtime(&it.w);
}

START_TEST(the_car_and_the_truck_jump)
{
    check_jump(car_add, -0.01394, -0.0689, 3.647);
    check_jump(truck_add, -0.00612, 0.1175, 47.99);
}

END_TEST

START_TEST(the_iltis_stands_as_published)
{
    for (int i = 0; i < 2; ++i) {
        vehicle it = make_iltis(i == 1, false);
        ck_assert_int_eq(tal_matter_nu(it.w.matter), i == 1 ? 26 : 22);
        realize_accelerations(&it);
        ck_assert_int_eq(tal_matter_constraint_rows(it.w.matter, it.w.state).mp, i == 1 ? 16 : 12);
        CHECK_RELATIVE(tal_matter_mass(it.w.matter, it.w.state), 1513.4, 1e-12);
        for (int k = 0; k < tal_forces_num(it.w.forces); ++k) {
            tal_spatial_vec F[20] = {0};
            double f[26] = {0};
            tal_status st = tal_force_apply(it.w.forces, it.w.state, (tal_force_ix){k}, F, f);
            if (st != TAL_OK) printf("?");
            for (int b = 1; b < tal_matter_num_bodies(it.w.matter); ++b)
                if (tal_v3_norm(F[b].v) > 0) printf("%d %s: %g %g %g\n", k, tal_body_name(it.w.matter, (tal_body_ix){b}), F[b].v.x, F[b].v.y, F[b].v.z);
        }
        end_realtime(&it.w);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("vehicles");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600.0);
    tcase_add_test(all, the_human_body_has_its_inertia_and_accelerations);
    tcase_add_test(all, the_car_stands_in_equilibrium);
    tcase_add_test(all, the_truck_has_six_rows_too_many);
    tcase_add_test(all, the_human_body_falls_and_waves);
    tcase_add_test(all, the_car_and_the_truck_jump);
    tcase_add_test(all, the_iltis_stands_as_published);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
