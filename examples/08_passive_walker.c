// A passive walker goes down a slope: no motor, no control, eight stiff legs with round feet.
//
//          \ | /          McGeer's rimless wheel (T. McGeer, Passive dynamic walking, Int. J. of
//        ---- o ----      Robotics Research 9, 1990): a body of mass m at the hub o, n legs of
//          / | \          length l. It falls forward over one foot, until the next foot hits the
//     ----------------    slope and, without a bounce, takes over. Every step loses and gains
//                         speed.
//
// With J = I + m l^2, legs 2 a apart, a slope s and the part of the speed that an impact leaves,
// e = (I + m l^2 cos(2 a)) / J, the speed after each impact tends to
//
//     w = sqrt(e^2 / (1 - e^2) 4 m g l sin(a) sin(s) / J)
//
// That is for legs that end in points and impacts that take no time. These end in small spheres,
// which sink in, and roll a little: it walks a little faster.
//
// Run it:  build/dev/examples/08_passive_walker        Expected output: 08_passive_walker.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEGS = 8
};

static const double MASS = 10.0, INERTIA = 0.5, LEG = 0.5, FOOT = 0.005; // kg, kg m^2, m, m
static const double SLOPE = 0.1, GRAVITY = 9.81;                         // rad, m/s^2

static tal_force_ix build(tal_matter *matter, tal_forces *forces)
{
    tal_mobod_def hub = tal_mobod_def_default();
    hub.name = "hub";
    hub.mass.mass = MASS;
    hub.mass.inertia = tal_s3_diag(0.5 * INERTIA, 0.5 * INERTIA, INERTIA);
    const tal_body_ix wheel = tal_matter_add_planar(matter, TAL_GROUND, &hub); // angle, x, y

    tal_contact_def def = tal_contact_def_default();
    def.friction = TAL_CONTACT_SOFT_COULOMB;
    def.grip.stiffness = 1e6;
    def.grip.damping = 1e3;
    const tal_force_ix contact = tal_forces_add_contact(forces, "contact", &def);
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.name = "slope";
    surface.X_BS.R = tal_rotation_about(TAL_AXIS_Z, -0.5 * TAL_PI); // its inside is below y = 0
    surface.material.stiffness = 1e9;
    surface.material.dissipation = 30.0; // hardly a bounce
    surface.material.static_friction = 1.0;
    surface.material.dynamic_friction = 1.0;
    (void)tal_contact_add_surface(forces, contact, &surface);
    surface.name = NULL;
    surface.body = wheel;
    surface.shape = tal_shape_sphere(FOOT);
    for (int i = 0; i < LEGS; ++i) {
        const double angle = 2.0 * TAL_PI * (i + 0.5) / LEGS - 0.5 * TAL_PI;
        const double reach = LEG - FOOT;
        surface.X_BS = tal_xf_from_p(tal_v3(reach * cos(angle), reach * sin(angle), 0.0));
        (void)tal_contact_add_surface(forces, contact, &surface);
    }
    // x runs down the slope, y out of it
    const tal_vec3 g = tal_v3(GRAVITY * sin(SLOPE), -GRAVITY * cos(SLOPE), 0.0);
    (void)tal_forces_add_gravity(forces, g);
    tal_forces_track_dissipation(forces);
    return contact;
}

// What the speed tends to in the middle of a step, when the leg is perpendicular to the slope:
// after an impact it is w, and from there the hub rises by l (1 - cos a) and goes down the slope by
// l sin a.
static double mcgeer(void)
{
    const double a = TAL_PI / LEGS, J = INERTIA + MASS * LEG * LEG, weight = MASS * GRAVITY;
    const double e = (INERTIA + MASS * LEG * LEG * cos(2.0 * a)) / J;
    const double w2 = e * e / (1.0 - e * e) * 4.0 * weight * LEG * sin(a) * sin(SLOPE) / J;
    const double work = weight * LEG * (sin(a) * sin(SLOPE) - (1.0 - cos(a)) * cos(SLOPE));
    return sqrt(w2 + 2.0 * work / J);
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    const tal_force_ix contact = build(matter, forces);
    const tal_body_ix wheel = {1};

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-6;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &def, &integ, &err);

    // standing on two feet, pushed
    if (st == TAL_OK) {
        tal_body_set_q(matter, state, wheel, 2, (LEG - FOOT) * cos(TAL_PI / LEGS) + FOOT);
        tal_body_set_u(matter, state, wheel, 0, -3.0); // forward is clockwise
        tal_body_set_u(matter, state, wheel, 1, 3.0 * LEG);
    }
    // the middle of a step is where a leg is perpendicular to the slope
    (void)printf("  step   time [s]   speed [rad/s]   way [m]   feet   dissipated [J]\n");
    double t = 0.0;
    for (int step = 1; step <= 12 && st == TAL_OK; ++step) {
        const double upright = -2.0 * TAL_PI * (step - 0.5) / LEGS;
        while (st == TAL_OK && tal_body_q(matter, state, wheel, 0) > upright && t < 20.0) {
            st = tal_integrator_step_to(integ, state, t += 0.002);
        }
        if (st != TAL_OK) break;
        (void)printf("%6d %9.2f %13.2f %12.2f %5d %14.1f\n", step, tal_state_t(state),
                     -tal_body_u(matter, state, wheel, 0), tal_body_q(matter, state, wheel, 1),
                     tal_contact_num(forces, state, contact),
                     tal_forces_dissipated_energy(forces, state));
    }
    if (st == TAL_OK) (void)printf("McGeer: %.2f rad/s\n", mcgeer());

    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", integ ? tal_integrator_error(integ)->message : err.message);
    }
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
