// A mobilizer of your own: a cart on a track.
//
//     p_FM = r (q + sin q, 1 - cos q, 0)          a cycloid; the cart points along it:
//     R_FM = Rz(q / 2)
//
// On this curve, said Huygens, a body is down after pi sqrt(r / g), from however far up it is let
// go. doc/howto/mobilizer.md explains this program.
//
// Run it:  build/dev/examples/19_own_mobilizer        Expected output: 19_own_mobilizer.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double RADIUS = 0.5, GRAVITY = 9.81; // m, m/s^2

// --- the mobilizer ---

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    const double r = arg->params[0], q = arg->q[0];
    X_FM->R = tal_rotation_about(TAL_AXIS_Z, 0.5 * q);
    X_FM->p = tal_v3(r * (q + sin(q)), r * (1.0 - cos(q)), 0.0);
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    const double r = arg->params[0], q = arg->q[0];
    H_FM[0] = tal_sv(tal_v3(0.0, 0.0, 0.5), tal_v3(r * (1.0 + cos(q)), r * sin(q), 0.0));
    return TAL_OK;
}

static tal_status calc_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    (void)self;
    const double r = arg->params[0], q = arg->q[0], u = arg->u[0];
    Hdot_FM[0] = tal_sv(TAL_VEC3_ZERO, tal_v3(-r * sin(q) * u, r * cos(q) * u, 0.0));
    return TAL_OK;
}

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    if (params[0] > 0.0) return TAL_OK;
    err->status = TAL_ERR_BAD_VALUE;
    (void)snprintf(err->message, sizeof err->message, "the radius of the track is %g.", params[0]);
    return TAL_ERR_BAD_VALUE;
}

static const tal_mobilizer_ops track = {
    .size = sizeof track,
    .name = "track",
    .nu = 1,
    .nq = 1,
    .nq_angles = 1,
    .num_params = 1, // the radius; it lives in the State
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .calc_Hdot_FM = calc_Hdot_FM,
    .check_params = check_params,
};

// --- do its functions agree with each other? ---

static tal_status test_track(tal_error *err)
{
    tal_status st = TAL_OK;
    double worst = 0.0;
    for (int k = 0; k < 10 && st == TAL_OK; ++k) {
        const double q = -2.0 + 0.4 * k, u = 1.5;
        const tal_mobilizer_arg arg = {false, &RADIUS, &q, &u};
        tal_mobilizer_report report;
        st =
            tal_mobilizer_test(&track, NULL, &arg, k % 2 ? TAL_REVERSE : TAL_FORWARD, &report, err);
        if (st == TAL_OK) worst = fmax(worst, report.worst);
    }
    if (st == TAL_OK) (void)printf("the functions agree: %s\n", worst < 1e-9 ? "yes" : "no");
    return st;
}

// --- use it as any other ---

static tal_status roll(const tal_matter *matter, tal_state *state, tal_integrator *integ,
                       tal_body_ix cart)
{
    const double starts[] = {0.5, 1.5, 2.5};
    (void)printf("let go at [m]   after pi sqrt(r / g) at [m]\n");
    for (int k = 0; k < 3; ++k) {
        tal_state_set_t(state, 0.0);
        tal_body_set_q(matter, state, cart, 0, starts[k]);
        tal_body_set_u(matter, state, cart, 0, 0.0);
        tal_integrator_reset(integ);
        tal_status st = tal_integrator_step_to(integ, state, 0.0);
        if (st != TAL_OK) return st;
        const double height = tal_body_X_GB(matter, state, cart).p.y;
        st = tal_integrator_step_to(integ, state, TAL_PI * sqrt(RADIUS / GRAVITY));
        if (st != TAL_OK) return st;
        (void)printf("%13.4f %20.4f\n", height, tal_body_X_GB(matter, state, cart).p.y);
    }
    return TAL_OK;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -GRAVITY, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "cart";
    def.mass.mass = 2.0; // kg, at Bo
    const tal_body_ix cart =
        tal_matter_add_mobilizer(matter, TAL_GROUND, &def, &track, NULL, &RADIUS);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-8;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = test_track(&err);
    if (st == TAL_OK) st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &fine, &integ, &err);
    if (st == TAL_OK) st = roll(matter, state, integ, cart);
    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", integ ? tal_integrator_error(integ)->message : err.message);
    }
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
