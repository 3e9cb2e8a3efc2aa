// Energy along trajectories with every kind of force: what is lost is what was dissipated.
#include "force_model.h"

#include <talus/study.h>

// Along a trajectory of 0.4 s, energy lost = integral of the dissipated power by Simpson's rule.
static void check_trajectory(model *m, double tol)
{
    enum {
        N = 80
    };

    const double h = 0.005;
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-10;
    def.absolute_u = true;
    tal_integrator *integ = NULL;
    ck_assert_int_eq(tal_integrator_create(m->system, &def, &integ, NULL), TAL_OK);
    model_shake(m, 500);
    double energy = 0.0, lost = 0.0;
    for (int k = 0; k <= N; ++k) {
        ck_assert_msg(tal_integrator_step_to(integ, m->state, k * h) == TAL_OK, "%s",
                      tal_integrator_error(integ)->message);
        if (k == 0) energy = tal_system_energy(m->system, m->state);
        const double weight = k == 0 || k == N ? 1.0 : (k % 2 == 1 ? 4.0 : 2.0);
        lost += weight * h / 3.0 * tal_forces_dissipated_power(m->forces, m->state);
    }
    ck_assert_double_eq_tol(tal_system_energy(m->system, m->state) + lost, energy, tol);
    tal_integrator_destroy(integ);
}

static tal_two_points between(const model *m)
{
    const tal_two_points points = {
        m->body[GIMBAL], {0.3, -0.2, 0.5}, m->body[BALL], {2.0, 0.1, 0.7}};
    return points;
}

// Accuracy 1e-10 for each of some hundred steps, energies of size 10, and Simpson's rule with
// h^4 = 6e-10: 1e-7 leaves room.
START_TEST(conservative_forces_conserve_energy)
{
    model m = model_begin();
    const tal_two_points points = between(&m);
    const tal_mobility pin = {m.body[PIN], 0}, ball = {m.body[BALL], 1},
                       slider = {m.body[SLIDER], 0};
    const double quartic[] = {1.5, 0.0, 0.0, 0.2, 3.0};
    tal_function *energy = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, quartic, 5, &energy, NULL), TAL_OK);
    (void)tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.81, 0.0));
    (void)tal_forces_add_two_point_spring(m.forces, "spring", &points, 5.0, 0.5);
    (void)tal_forces_add_mobility_spring(m.forces, "pin", pin, 3.0, 0.2);
    (void)tal_forces_add_mobility_spring(m.forces, "ball", ball, 3.0, 0.2);
    (void)tal_forces_add_mobility_nonlinear_spring(m.forces, "slider", slider, energy);
    model_finish(&m);
    check_trajectory(&m, 1e-7);
    ck_assert_double_eq(tal_forces_dissipated_power(m.forces, m.state), 0.0);
    model_end(&m);
}

END_TEST

START_TEST(what_is_lost_was_dissipated)
{
    model m = model_begin();
    const tal_two_points points = between(&m);
    const tal_mobility pin = {m.body[PIN], 0}, ball = {m.body[BALL], 1};
    const tal_mobility slider = {m.body[SLIDER], 0};
    const tal_friction friction = {3.0, 2.0, 0.5, 1.0};
    const tal_stop stop = {4.0, 0.1, 3.0, 3.0}; // pushes all the time: smooth
    (void)tal_forces_add_two_point_spring(m.forces, "spring", &points, 5.0, 0.5);
    (void)tal_forces_add_two_point_damper(m.forces, "damper", &points, 1.0);
    (void)tal_forces_add_mobility_damper(m.forces, "pin", pin, 0.5);
    (void)tal_forces_add_mobility_friction(m.forces, "slider", slider, &friction);
    (void)tal_forces_add_mobility_stop(m.forces, "ball", ball, &stop);
    (void)tal_forces_add_global_damper(m.forces, "air", 0.1);
    tal_bushing_def bushing = tal_bushing_def_default();
    bushing.body1 = m.body[PIN];
    bushing.body2 = m.body[GIMBAL];
    for (int i = 0; i < 6; ++i) {
        bushing.stiffness[i] = 1.0;
        bushing.damping[i] = 0.2;
    }
    bushing.X_B1F = test_random_xform(&(test_rng){3});
    (void)tal_forces_add_bushing(m.forces, "mount", &bushing);
    model_finish(&m);
    check_trajectory(&m, 1e-7);
    ck_assert_double_gt(tal_forces_dissipated_power(m.forces, m.state), 0.1);
    model_end(&m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/force_energy");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60);
    tcase_add_test(theory, conservative_forces_conserve_energy);
    tcase_add_test(theory, what_is_lost_was_dissipated);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
