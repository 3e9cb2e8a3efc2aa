// A rattleback: an ellipsoid that dislikes one way of spinning, rattles, and turns the other way.
//
//         .-----------------.       half-axes a = 20 cm, b = 3 cm, c = 2 cm; the mass is 1 cm
//        (        o          )      below the center o, and its long axis is turned a little from
//     ----`-.___________.--'----    the ellipsoid's: that couples spinning with rattling.
//
// The numbers are those of T. R. Kane and D. A. Levinson, Realistic mathematical modeling of the
// rattleback, Int. J. Non-Linear Mechanics 17 (1982). Here the stone is not said to roll: it
// touches the table by Hertz's law at an elliptical patch, and friction with memory keeps it from
// slipping.
//
// Run it:  build/dev/examples/07_rattleback        Expected output: 07_rattleback.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double A = 0.20, B = 0.03, C = 0.02; // m

static tal_force_ix add_contact(tal_forces *forces, tal_body_ix stone)
{
    tal_contact_def def = tal_contact_def_default();
    def.friction = TAL_CONTACT_ELASTOPLASTIC;
    def.grip.stiffness = 5e4; // N/m
    def.grip.damping = 50.0;  // N s/m
    const tal_force_ix contact = tal_forces_add_contact(forces, "contact", &def);

    tal_contact_surface_def table = tal_contact_surface_def_default();
    table.name = "table";
    table.X_BS.R =
        tal_rotation_about(TAL_AXIS_Y, 1.5707963267948966); // its inside, +x, points down
    table.material.stiffness = 1e9;                         // Pa
    table.material.dissipation = 1.0;                       // s/m
    table.material.static_friction = 0.8;
    table.material.dynamic_friction = 0.6;
    (void)tal_contact_add_surface(forces, contact, &table);

    tal_contact_surface_def surface = table;
    surface.name = "stone";
    surface.body = stone;
    surface.X_BS = TAL_XFORM_IDENTITY;
    surface.shape = tal_shape_ellipsoid(tal_v3(A, B, C));
    (void)tal_contact_add_surface(forces, contact, &surface);
    return contact;
}

// Spins the stone, tipped by half a degree about y, and puts it on the table, sunk in by a micron
// or so: its lowest point is sqrt(a^2 sin^2 + c^2 cos^2) below the center.
static void start(const tal_matter *matter, tal_state *state, tal_body_ix stone, double spin)
{
    const double tip = 0.5 * TAL_DEGREE;
    const double low = sqrt(pow(A * sin(tip), 2.0) + pow(C * cos(tip), 2.0));
    tal_body_set_q(matter, state, stone, 0, cos(0.5 * tip)); // a quaternion, then a position
    tal_body_set_q(matter, state, stone, 2, sin(0.5 * tip));
    tal_body_set_q(matter, state, stone, 6, low - 9e-6);
    tal_body_set_u(matter, state, stone, 2, spin);
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "stone";
    // 1 kg; about the center of mass 2, 16, 17 kg cm^2, and -0.2 kg cm^2 between x and y
    const tal_mass_props at_com = {1.0, TAL_VEC3_ZERO, {2e-4, 16e-4, 17e-4, -2e-5, 0.0, 0.0}};
    const tal_xform X_BC = tal_xf_from_p(tal_v3(0.0, 0.0, -0.01));
    def.mass = tal_mass_props_transform(&X_BC, &at_com);
    const tal_body_ix stone = tal_matter_add_free(matter, TAL_GROUND, &def);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -9.81));
    const tal_force_ix contact = add_contact(forces, stone);
    tal_forces_track_dissipation(forces);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.tableau = tal_rk_dormand_prince();
    fine.accuracy = 1e-7;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &fine, &integ, &err);

    if (st == TAL_OK) start(matter, state, stone, -5.0);
    (void)printf("     t   spin [rad/s]   rattle [rad/s]   patch [mm]   energy   dissipated [J]\n");
    for (int k = 0; k <= 16 && st == TAL_OK; ++k) {
        st = tal_integrator_step_to(integ, state, 0.5 * k);
        if (st != TAL_OK) break;
        const tal_vec3 w = tal_body_V_GB(matter, state, stone).w;
        tal_contact_info info;
        if (tal_contact_num(forces, state, contact) != 1) break; // it never leaves the table
        st = tal_contact_calc(forces, state, contact, 0, &info);
        (void)printf("%6.2f %12.1f %16.1f %8.1f x %.1f %8.3f %12.3f\n", tal_state_t(state), w.z,
                     tal_v3_norm(tal_v3(w.x, w.y, 0.0)), 2e3 * info.semi_axis[0],
                     2e3 * info.semi_axis[1], tal_system_energy(system, state),
                     tal_forces_dissipated_energy(forces, state));
    }

    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", integ ? tal_integrator_error(integ)->message : err.message);
    }
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
