// A chain falls on a table, clatters, and comes to rest: what it loses is counted.
//
//     o--o--o--o--o--o--o--o--o--o      ten links, ball joints between them, let go 30 cm above the
//                                       table and slanted, so that one end lands first
//     ============================
//
// Each link carries a sphere at its outer end. The spheres touch the table, and each other where
// the chain folds.
//
// Run it:  build/dev/examples/06_chain_on_table        Expected output: 06_chain_on_table.out
#include <talus/talus.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    LINKS = 10
};

static const double HALF = 0.05, RADIUS = 0.02; // of a link's length, of its sphere [m]

static tal_contact_material brass(void)
{
    tal_contact_material material = tal_contact_material_default();
    material.stiffness = 1e7; // Pa: softer than brass, so that steps are longer
    material.dissipation = 0.5;
    material.static_friction = 0.5;
    material.dynamic_friction = 0.4;
    return material;
}

static tal_force_ix build(tal_matter *matter, tal_forces *forces)
{
    const tal_force_ix contact = tal_forces_add_contact(forces, "contact", NULL);
    tal_contact_surface_def table = tal_contact_surface_def_default();
    table.name = "table";
    table.X_BS.R = tal_rotation_about(TAL_AXIS_Z, -1.5707963267948966); // its inside is below y = 0
    table.material = brass();
    (void)tal_contact_add_surface(forces, contact, &table);

    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_cylinder(0.02, 0.5 * RADIUS, HALF, TAL_AXIS_X);
    link.X_BM = tal_xf_from_p(tal_v3(-HALF, 0.0, 0.0));
    tal_contact_surface_def ball = tal_contact_surface_def_default();
    ball.shape = tal_shape_sphere(RADIUS);
    ball.material = brass();
    tal_body_ix parent = TAL_GROUND;
    for (int i = 0; i < LINKS; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : HALF, 0.0, 0.0));
        parent = i == 0 ? tal_matter_add_free(matter, parent, &link)
                        : tal_matter_add_ball(matter, parent, &link);
        ball.body = parent;
        ball.X_BS = tal_xf_from_p(tal_v3(HALF, 0.0, 0.0));
        (void)tal_contact_add_surface(forces, contact, &ball);
    }
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    (void)tal_forces_add_global_damper(forces, "joints", 2e-5); // they rub a little
    tal_forces_track_dissipation(forces);
    return contact;
}

// Turns a link from its parent. The first four coordinates are a quaternion.
static void turn(const tal_matter *matter, tal_state *state, tal_body_ix link, tal_axis axis,
                 double angle)
{
    const tal_mat3 R = tal_rotation_about(axis, angle);
    const tal_quat to = tal_rotation_to_qt(&R);
    const double q[4] = {to.w, to.x, to.y, to.z};
    for (int i = 0; i < 4; ++i) {
        tal_body_set_q(matter, state, link, i, q[i]);
    }
}

static void hang(const tal_matter *matter, tal_state *state)
{
    const tal_body_ix first = {1};
    turn(matter, state, first, TAL_AXIS_Z, 0.3);
    tal_body_set_q(matter, state, first, 5, 0.3);
    for (int b = 2; b <= LINKS; ++b) {
        const tal_body_ix link = {b};
        turn(matter, state, link, TAL_AXIS_Y, 0.4);
    }
}

// What the table carries, in newtons. While the links rattle it changes all the time.
static double load_on_table(const tal_forces *forces, tal_state *state, tal_force_ix contact)
{
    double load = 0.0;
    for (int i = 0; i < tal_contact_num(forces, state, contact); ++i) {
        tal_contact_info info;
        if (tal_contact_calc(forces, state, contact, i, &info) != TAL_OK) continue;
        if (info.surface[0].i == 0) load -= info.f_G.y; // the table is surface 0
    }
    return load;
}

static void report(const tal_system *system, const tal_matter *matter, const tal_forces *forces,
                   tal_state *state, tal_force_ix contact)
{
    const int n = tal_contact_num(forces, state, contact);
    const double kinetic = tal_matter_kinetic_energy(matter, state);
    const double potential = tal_system_potential_energy(system, state);
    const double lost = tal_forces_dissipated_energy(forces, state);
    (void)printf("%6.2f %8d %12.4f %12.4f %12.4f %12.4f\n", tal_state_t(state), n, kinetic,
                 potential, lost, kinetic + potential + lost);
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    const tal_force_ix contact = build(matter, forces);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-8;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &def, &integ, &err);

    if (st == TAL_OK) hang(matter, state);
    (void)printf("     t contacts      kinetic    potential   dissipated      sum [J]\n");
    for (int k = 0; k <= 8 && st == TAL_OK; ++k) {
        st = tal_integrator_step_to(integ, state, 0.2 * k);
        if (st == TAL_OK) report(system, matter, forces, state, contact);
    }
    if (st == TAL_OK) {
        (void)printf("the table carries %.0f N, the chain weighs %.0f N\n",
                     load_on_table(forces, state, contact), LINKS * 0.02 * 9.81);
    }

    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", integ ? tal_integrator_error(integ)->message : err.message);
    }
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
