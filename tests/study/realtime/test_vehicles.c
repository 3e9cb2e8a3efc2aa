// examples/vehicles/ against numbers that another program found from the same tables, and the
// formulations on them.
#include "vehicle_support.h"

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

// Differences over steps of 1e-3 leave 1e-12 / 480 of the fifth derivative, relative to the force.
// Those of the shock absorber are powers of its length over some cm: 1e4 / 0.03^5 of the force.
START_TEST(forces_of_the_vehicles_know_their_change)
{
    vehicle all[] = {make_vehicle(car_add), make_vehicle(truck_add), make_iltis(false, true)};
    for (int i = 0; i < 3; ++i) {
        put_sine_speeds(&all[i]);
        for (int k = 0; k < tal_forces_num(all[i].w.forces); ++k) {
            tal_force_report report;
            tal_error err = {.status = TAL_OK};
            const tal_force_ix force = {k};
            const tal_status st =
                tal_force_test(all[i].w.forces, all[i].w.state, force, &report, &err);
            ck_assert_msg(st == TAL_OK, "%s", err.message);
            ck_assert_msg(report.worst < 1e-6, "model %d, %s: change %g, worst %g", i,
                          tal_force_name(all[i].w.forces, force), report.change, report.worst);
        }
        ck_assert(tal_forces_differenced(all[i].w.forces, NULL, 0) == 0);
        end_realtime(&all[i].w);
    }
}

END_TEST

// --- Formulation B ---

static tal_velocity_map_counts count_operations(vehicle_add_fn add)
{
    vehicle it = make_vehicle(add);
    put_sine_speeds(&it);
    ck_assert_int_eq(tal_system_realize(it.w.system, it.w.state, TAL_STAGE_VELOCITY), TAL_OK);
    tal_velocity_map *map = NULL;
    ck_assert_int_eq(tal_velocity_map_create(it.w.matter, NULL, &map, NULL), TAL_OK);
    ck_assert_int_eq(tal_velocity_map_calc(map, it.w.state), TAL_OK);
    const tal_velocity_map_counts counts = tal_velocity_map_operations(map);
    tal_velocity_map_destroy(map);
    end_realtime(&it.w);
    return counts;
}

// GJB tab. 8.3 for the human body: R; M and c; R^T M R; R^T M Sc and R^T (Q - c), which are one sum
// here. The book counts neither the additions for the arms nor M_b Sc.
START_TEST(formulation_B_takes_no_more_operations_than_the_book)
{
    const tal_velocity_map_counts human = count_operations(human_add);
    ck_assert_int_eq(human.R.multiplications, 1050);
    ck_assert_int_eq(human.R.additions, 525 + 3 * 175 + 3 * 175);
    ck_assert_int_le(human.inertia.multiplications, (1080 + 600) * 11 / 10);
    ck_assert_int_le(human.M.multiplications, 7482 * 11 / 10);
    ck_assert_int_le(human.Q.multiplications, (1050 + 1050) * 11 / 10);
    ck_assert_int_le(human.M.additions, 2 * 5285);
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

// Half a second after all of it moved up at 0.5 m/s, by steps of 1 ms, whose errors are below
// 1e-6 m (a quarter of those of 2 ms, from which they differ by 2.5e-7 m). Global does not cover
// the coupling of the car, and on the truck it ends with an error (doc/formulations.md).
static void check_jump(vehicle_add_fn add, tal_formulation formulation, const double expected[3])
{
    vehicle it = make_vehicle(add);
    double speeds[48] = {0.0}, rate;
    speeds[2] = 0.5;
    put_speeds(&it, speeds);
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = formulation;
    def.scheme = tal_formulation_usual_scheme(formulation);
    def.step = 0.001;
    choose_stepper(&it.w, &def);
    run_realtime(&it.w, 0.5);
    ck_assert_double_eq_tol(rise_of(&it, &rate), expected[0], 1e-5);
    ck_assert_double_eq_tol(rate, expected[1], 1e-4);
    CHECK_RELATIVE(kinetic_energy(&it), expected[2], 1e-3);
    end_realtime(&it.w);
}

START_TEST(the_car_and_the_truck_jump)
{
    const double car[] = {-0.01394, -0.0689, 3.647}, truck[] = {-0.00612, 0.1175, 47.99};
    check_jump(car_add, TAL_FORMULATION_HYBRID, car);
    check_jump(car_add, TAL_FORMULATION_WELCH, car);
    check_jump(truck_add, TAL_FORMULATION_HYBRID, truck);
    if (getenv("TALUS_SOAK") == NULL) return; // they take seconds
    check_jump(car_add, TAL_FORMULATION_SEMI_RECURSIVE, car);
    check_jump(car_add, TAL_FORMULATION_FULLY_RECURSIVE, car);
    check_jump(truck_add, TAL_FORMULATION_SEMI_RECURSIVE, truck);
}

END_TEST

// --- the Iltis ---

// The vertical force of element `i` on body `b` [N].
static double push_of(vehicle *it, int i, const char *name)
{
    const tal_body_ix body = tal_matter_find_body(it->w.matter, name);
    tal_spatial_vec F[20] = {{TAL_VEC3_ZERO, TAL_VEC3_ZERO}};
    double f[26] = {0.0};
    ck_assert_int_eq(tal_force_apply(it->w.forces, it->w.state, (tal_force_ix){i}, F, f), TAL_OK);
    return F[body.i].v.z;
}

// The size of the force of element `i` on body `b` [N].
static double size_of(vehicle *it, int i, const char *name)
{
    const tal_body_ix body = tal_matter_find_body(it->w.matter, name);
    tal_spatial_vec F[20] = {{TAL_VEC3_ZERO, TAL_VEC3_ZERO}};
    double f[26] = {0.0};
    ck_assert_int_eq(tal_force_apply(it->w.forces, it->w.state, (tal_force_ix){i}, F, f), TAL_OK);
    return tal_v3_norm(F[body.i].v);
}

// As drawn: the wheels 0.35603 m high. The published numbers are for 0.356 m and more digits of the
// spring, whose polynomial turns a rounding of 1e-5 m into 1 N.
START_TEST(the_forces_of_the_iltis_are_those_of_the_benchmark)
{
    vehicle it = make_iltis(false, false);
    realize_accelerations(&it);
    ck_assert_int_eq(tal_matter_nu(it.w.matter), 22);
    ck_assert_int_eq(tal_matter_constraint_rows(it.w.matter, it.w.state).mp, 12);
    CHECK_RELATIVE(tal_matter_mass(it.w.matter, it.w.state), 1513.4, 1e-12);
    CHECK_RELATIVE(push_of(&it, 1, "carrier_l"), -2728.9, 2e-5);
    ck_assert_double_eq_tol(size_of(&it, 2, "arm_l"), 128.0, 1.5);
    CHECK_RELATIVE(push_of(&it, 3, "carrier_l"), 3829.5 - 460000.0 * 0.00003, 2e-5);
    CHECK_RELATIVE(push_of(&it, 12, "rear_carrier_r"), 3593.5 - 460000.0 * 0.00003, 2e-5);
    end_realtime(&it.w);
}

END_TEST

// At rest after ten seconds, with and without the arms of the leaf springs, as the repository has
// it that the numbers are from. Loads of tyres follow from balance alone; those of springs are
// rounded as above, and 0.03 mm of the height, too.
START_TEST(the_iltis_comes_to_rest_as_published)
{
    static const struct {
        int force;
        const char *body;
        double load;
    } loads[] = {{3, "carrier_l", 3831.31}, {9, "rear_carrier_l", 3591.91},
                 {2, "arm_l", 335.29},      {8, "rear_arm_l", 241.64},
                 {1, "carrier_l", 3068.62}, {7, "rear_carrier_l", 2885.51}};

    for (int i = 0; i < 2; ++i) {
        vehicle it = make_iltis(i == 1, false);
        ck_assert_int_eq(tal_matter_nu(it.w.matter), i == 1 ? 26 : 22);
        tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
        choose_stepper(&it.w, &def);
        run_realtime(&it.w, 10.0);
        double z[3];
        iltis_read_heights(&it.drawn, it.w.state, z);
        ck_assert_double_eq_tol(z[0] - 0.57, -0.007083, 5e-5);
        for (size_t k = 0; k < sizeof loads / sizeof loads[0]; ++k) {
            ck_assert_double_eq_tol(size_of(&it, loads[k].force, loads[k].body), loads[k].load,
                                    k < 2 ? 0.01 : 1.0);
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
    tcase_add_test(all, forces_of_the_vehicles_know_their_change);
    tcase_add_test(all, formulation_B_takes_no_more_operations_than_the_book);
    tcase_add_test(all, the_human_body_falls_and_waves);
    tcase_add_test(all, the_car_and_the_truck_jump);
    tcase_add_test(all, the_forces_of_the_iltis_are_those_of_the_benchmark);
    tcase_add_test(all, the_iltis_comes_to_rest_as_published);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
