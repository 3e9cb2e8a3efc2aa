// A stiff chain by an implicit integrator, with and without exact Jacobians: an element that does
// not tell how its force changes makes them a matter of differences.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    NUM_LINKS = 50
};

static tal_status apply_nothing(const void *self, const tal_force_context *context,
                                tal_spatial_vec F[], double f[])
{
    (void)self, (void)context, (void)F, (void)f;
    return TAL_OK;
}

// No apply_change: Talus has to find out by itself that this force never changes.
static const tal_force_ops silent = {
    .size = sizeof silent, .name = "nothing", .apply = apply_nothing};

static tal_system *build_chain(bool is_silent)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < NUM_LINKS; ++i) {
        tal_mobod_def link = tal_mobod_def_default();
        link.mass = tal_mass_props_rod(0.1, tal_v3(0.05, 0.0, 0.0));
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 0.05, 0.0, 0.0));
        link.X_BM = tal_xf_from_p(tal_v3(-0.05, 0.0, 0.0));
        body = tal_matter_add_pin(matter, body, &link);
        const tal_mobility joint = {body, 0};
        tal_forces_add_mobility_spring(forces, NULL, joint, 2000.0, 0.0); // N m/rad
        tal_forces_add_mobility_damper(forces, NULL, joint, 200.0);       // N m s/rad
    }
    if (is_silent) tal_forces_add(forces, "nothing", &silent, NULL);
    return system;
}

// What the integrator has done after 2 s; the angle of the first link.
static tal_status run(bool is_silent, tal_integrator_stats *stats, double *angle, tal_error *err)
{
    tal_system *system = build_chain(is_silent);
    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def def = tal_integrator_def_default();
    def.method = TAL_METHOD_CVODE_BDF;
    def.accuracy = 1e-5;
    tal_status st = tal_system_realize_topology(system, err);
    if (st == TAL_OK) st = tal_state_create(system, &state, err);
    if (st == TAL_OK) st = tal_integrator_create(system, &def, &integ, err);
    if (st == TAL_OK) st = tal_integrator_step_to(integ, state, 2.0);
    if (st == TAL_OK) {
        *stats = tal_integrator_statistics(integ);
        *angle = tal_state_q(state)[0];
    } else if (integ != NULL) {
        *err = *tal_integrator_error(integ);
    }
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st;
}

int main(void)
{
    tal_integrator_stats exact, differences;
    double angle = 0.0, other = 0.0;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = run(false, &exact, &angle, &err);
    if (st == TAL_OK) st = run(true, &differences, &other, &err);
    if (st != TAL_OK) {
        puts(err.message);
        return 1;
    }
    const double saved = (double)differences.realizations / (double)exact.realizations;
    (void)printf("the first link hangs at %.3f rad after 2 s\n", angle);
    (void)printf("the same with differences: %s\n", fabs(angle - other) < 1e-5 ? "yes" : "no");
    (void)printf("more than twice the evaluations then: %s\n", saved > 2.0 ? "yes" : "no");
    (void)printf("less than two for each step with exact Jacobians: %s\n",
                 exact.realizations < 2 * exact.steps_taken ? "yes" : "no");
    return 0;
}
