// A pendulum and a muscle: kinetic, potential and dissipated energy add up to a constant while the
// muscle is excited, for every model.
#include "talus_test.h"

#include <talus/study.h>

typedef struct swing {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_force_ix muscle;
    tal_state *state;
} swing;

static void begin(swing *it, tal_muscle_model model, bool rigid)
{
    it->system = tal_system_create(NULL);
    it->matter = tal_matter_create(it->system);
    it->forces = tal_forces_create(it->system, it->matter);
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass.mass = 2.0;
    bob.X_BM = tal_xf_from_p(tal_v3(0.0, 0.4, 0.0));
    const tal_body_ix body = tal_matter_add_pin(it->matter, TAL_GROUND, &bob);
    (void)tal_forces_add_gravity(it->forces, tal_v3(0.0, -9.81, 0.0));
    const tal_path_ix path = tal_forces_add_path(it->forces, "path");
    (void)tal_path_add_point(it->forces, path, TAL_GROUND, tal_v3(0.05, 0.1, 0.0));
    (void)tal_path_add_point(it->forces, path, body, tal_v3(0.02, 0.15, 0.0));
    tal_muscle_def def = tal_muscle_def_default(model);
    def.path = path;
    def.max_force = 300.0;
    def.fiber_length = 0.12;
    def.tendon_length = 0.23;
    def.pennation = 0.2;
    def.rigid_tendon = rigid;
    if (model == TAL_MUSCLE_DEGROOTE) def.damping = 0.02;
    it->muscle = tal_forces_add_muscle(it->forces, "muscle", &def);
    tal_function *pulse = NULL;
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, 0.6, 9.0, 0.0, &pulse, NULL), TAL_OK);
    (void)tal_forces_add_function_controller(it->forces, "pulse", &it->muscle, &pulse, 1);
    tal_forces_track_dissipation(it->forces);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_system_realize_topology(it->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(it->system, &it->state, &err), TAL_OK);
    (void)tal_body_set_q(it->matter, it->state, body, 0, 0.3);
    ck_assert_int_eq(tal_forces_equilibrate_muscles(it->forces, it->state), TAL_OK);
}

static double total(swing *it)
{
    ck_assert_int_eq(tal_system_realize(it->system, it->state, TAL_STAGE_VELOCITY), TAL_OK);
    return tal_system_energy(it->system, it->state) +
           tal_forces_dissipated_energy(it->forces, it->state);
}

// Energies are of the order of 10 J; the integrator works to 1e-10 of each variable.
START_TEST(energy_is_accounted_for)
{
    for (int k = 0; k < 6; ++k) {
        swing it;
        begin(&it, (tal_muscle_model)(k / 2), k % 2 == 1);
        const double before = total(&it);
        tal_integrator_def def = tal_integrator_def_default();
        def.accuracy = 1e-10;
        tal_integrator *integ = NULL;
        ck_assert_int_eq(tal_integrator_create(it.system, &def, &integ, NULL), TAL_OK);
        ck_assert_msg(tal_integrator_step_to(integ, it.state, 1.0) == TAL_OK, "%s",
                      tal_integrator_error(integ)->message);
        ck_assert_msg(fabs(total(&it) - before) < 1e-7 * fmax(1.0, fabs(before)),
                      "kind %d: %.12g J, then %.12g J", k, before, total(&it));
        // the muscle has done something
        ck_assert_double_gt(fabs(tal_forces_dissipated_energy(it.forces, it.state)), 1e-3);
        tal_integrator_destroy(integ);
        tal_state_destroy(it.state);
        tal_system_destroy(it.system);
    }
}

int main(void)
{
    Suite *suite = suite_create("theory/muscle_energy");
    TCase *tc = tcase_create("all");
    tcase_add_test(tc, energy_is_accounted_for);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
