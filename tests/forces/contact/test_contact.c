// Tests for forces/src/contact/contact.c, contact_find.c and contact_force.c.
#include "contact_model.h"

// The laws of manual sec. 11.2.2 from matter's own kinematics: two dozen operations on numbers of
// size 10, 1e-13.
START_TEST(two_balls_obey_hunt_crossley_and_stribeck)
{
    const tal_contact_def def = quiet(TAL_CONTACT_STRIBECK);
    scene s = balls(&def);
    model *m = &s.m;
    for (uint64_t seed = 1; seed < 15; ++seed) {
        model_shake(m, seed);
        const tal_contact_info info = info_of(&s, 1, 2);
        const tal_vec3 p1 = center(&s, 1), p2 = center(&s, 2);
        const tal_vec3 n = tal_v3_normalize(tal_v3_sub(p1, p2));
        const double x = 13.0 - tal_v3_norm(tal_v3_sub(p1, p2));
        test_assert_v3_near(info.n_G, n, 1e-14);
        ck_assert_double_eq_tol(info.depth, x, 1e-13);

        // s1 = E2^(2/3) / (E1^(2/3) + E2^(2/3)), P from the surface of ball 1
        const double r1 = 1.0, r2 = pow(0.5, 2.0 / 3.0), s1 = r2 / (r1 + r2);
        const double E = pow(r1 * r2 / (r1 + r2), 1.5), R = 6.0 * 7.0 / 13.0;
        const tal_vec3 P = tal_v3_axpy(s1 * x - 6.0, n, p1);
        test_assert_v3_near(info.p_G, P, 1e-13);
        const tal_body_ix b1 = m->body[GIMBAL], b2 = m->body[BALL];
        const tal_vec3 on1 = tal_station_p_AS(m->matter, m->state, b1, TAL_GROUND, P);
        const tal_vec3 on2 = tal_station_p_AS(m->matter, m->state, b2, TAL_GROUND, P);
        const tal_vec3 v = tal_v3_sub(tal_station_v_GS(m->matter, m->state, b1, on1),
                                      tal_station_v_GS(m->matter, m->state, b2, on2));
        const double xdot = -tal_v3_dot(n, v);
        const tal_vec3 slip = tal_v3_axpy(xdot, n, v);
        ck_assert_double_eq_tol(info.depth_rate, xdot, 1e-13);
        test_assert_v3_near(info.slip_G, slip, 1e-13);
        const double elastic = 4.0 / 3.0 * sqrt(R) * E * pow(x, 1.5);
        const double f = fmax(0.0, elastic * (1.0 + 1.5 * 0.05 * xdot));
        ck_assert_double_eq_tol(info.normal_force, f, 1e-11);
        ck_assert_double_eq_tol(info.potential_energy, 0.4 * elastic * x, 2e-12);
        ck_assert_double_eq_tol(info.semi_axis[0], sqrt(R * x), 1e-12);
        ck_assert_double_eq_tol(info.semi_axis[1], sqrt(R * x), 1e-12);

        // beyond three times the transition speed the curve is flat
        const double speed = tal_v3_norm(slip);
        if (speed < 1.5) continue;
        const double mu = 0.4 + 0.02 * speed;
        const tal_vec3 expected = tal_v3_axpy(-f * mu / speed, slip, tal_v3_scale(f, n));
        test_assert_v3_near(info.f_G, expected, 1e-11);
        ck_assert_double_eq_tol(info.dissipated_power, (f - elastic) * xdot + f * mu * speed,
                                1e-10);
    }
    model_end(m);
}

END_TEST

// What is applied to the bodies is what the contacts say, at the points they say.
START_TEST(what_is_read_is_what_is_applied)
{
    const tal_contact_def def = quiet(TAL_CONTACT_HOLLARS);
    scene s = balls(&def);
    model *m = &s.m;
    for (uint64_t seed = 1; seed < 10; ++seed) {
        model_shake(m, seed);
        const tal_bodies_view poses = tal_matter_poses(m->matter, m->state);
        load expected;
        memset(&expected, 0, sizeof expected);
        double energy = 0.0, power = 0.0;
        int before = -1;
        const int n = tal_contact_num(m->forces, m->state, s.contact);
        ck_assert_int_ge(n, 1);
        for (int i = 0; i < n; ++i) {
            tal_contact_info info;
            ck_assert_int_eq(tal_contact_calc(m->forces, m->state, s.contact, i, &info), TAL_OK);
            const int order = 10 * info.surface[0].i + info.surface[1].i;
            ck_assert_int_gt(order, before); // in the order of surfaces
            before = order;
            for (int k = 0; k < 2; ++k) {
                const int b = info.body[k].i;
                ck_assert_str_eq(info.body_name[k], tal_body_name(m->matter, info.body[k]));
                const tal_vec3 p = tal_v3_sub(info.p_G, tal_view_X_GM(&poses, b)->p);
                const tal_vec3 f = k == 0 ? info.f_G : tal_v3_neg(info.f_G);
                expected.F[b] = tal_sv_add(expected.F[b], tal_sv(tal_v3_cross(p, f), f));
            }
            energy += info.potential_energy;
            power += info.dissipated_power;
        }
        const load on = model_load(m, s.contact);
        for (int b = 0; b < MODEL_BODIES; ++b) {
            test_assert_sv_near(on.F[b], expected.F[b], 1e-13);
        }
        ck_assert_double_eq_tol(tal_force_potential_energy(m->forces, m->state, s.contact), energy,
                                1e-13);
        ck_assert_double_eq_tol(tal_force_dissipated_power(m->forces, m->state, s.contact), power,
                                1e-13);
    }
    model_end(m);
}

END_TEST

// Energies are of size 100, so that what model_energy_rate() computes is right to 1e-9.
START_TEST(action_is_reaction_and_energy_is_accounted_for)
{
    const tal_contact_friction frictions[] = {TAL_CONTACT_STRIBECK, TAL_CONTACT_HOLLARS};
    for (int i = 0; i < 2; ++i) {
        tal_contact_def def = quiet(frictions[i]);
        scene s = balls(&def);
        model_check_reaction(&s.m, s.contact, 1e-10);
        model_check_balance(&s.m, s.contact, 1e-7);
        model_check_heap_and_switch(&s.m, s.contact);
        model_check_by_tester(&s.m, s.contact, 1e-7);
        model_end(&s.m);
    }
    tal_contact_def def = quiet(TAL_CONTACT_STRIBECK);
    def.law = TAL_CONTACT_POWER;
    def.exponent = 2.2;
    scene s = balls(&def);
    model_check_reaction(&s.m, s.contact, 1e-10);
    model_check_balance(&s.m, s.contact, 1e-7);
    model_end(&s.m);
}

END_TEST

// With memory the energy also changes by K z . zdot: what the bodies receive, what the bristles
// store and what is lost add up to nothing. K is 3.
static void check_books(scene *s, double tol)
{
    model *m = &s->m;
    const int nz = tal_state_nz(m->state);
    for (uint64_t seed = 1; seed < 10; ++seed) {
        test_rng rng = test_rng_seed(seed);
        double *z = tal_state_upd_z(m->state);
        for (int k = 0; k < nz; ++k) {
            z[k] = test_random_uniform(&rng, -2.0, 2.0);
        }
        model_shake(m, seed);
        const load on = model_load(m, s->contact);
        test_assert_sv_near(model_total(m, &on), TAL_SPATIAL_VEC_ZERO, 1e-12);
        const double in = model_power(m, &on), rate = model_energy_rate(m, s->contact);
        const double lost = tal_force_dissipated_power(m->forces, m->state, s->contact);
        model_realize(m, TAL_STAGE_ACCELERATION);
        double stored = 0.0;
        for (int k = 0; k < nz; ++k) {
            stored += 3.0 * tal_state_z(m->state)[k] * tal_state_zdot(m->state)[k];
        }
        ck_assert_double_eq_tol(in + lost + stored, -rate, tol);
    }
}

START_TEST(friction_with_memory_keeps_books)
{
    const tal_contact_friction frictions[] = {TAL_CONTACT_SOFT_COULOMB, TAL_CONTACT_ELASTOPLASTIC};
    for (int i = 0; i < 4; ++i) {
        const tal_contact_def def = quiet(frictions[i / 2]);
        // with small balls most of the three pairs do not touch, and their bristles relax
        scene s = balls_of(&def, i % 2 == 0 ? 6.0 : 0.5, i % 2 == 0 ? 7.0 : 3.0);
        ck_assert_int_eq(tal_state_nz(s.m.state), 9);
        check_books(&s, 1e-8); // differences of the energy: some 1e-10
        model_check_heap_and_switch(&s.m, s.contact);
        model_end(&s.m);
    }
}

END_TEST

// Every shape on the floor, deep enough to touch all the time.
START_TEST(all_shapes_push_and_are_pushed)
{
    scene s = {.m = model_begin()};
    tal_contact_def def = quiet(TAL_CONTACT_STRIBECK);
    s.contact = tal_forces_add_contact(s.m.forces, "contact", &def);
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 5.0, 2, &mesh, NULL), TAL_OK);
    const tal_shape shapes[] = {tal_shape_half_space(),
                                tal_shape_ellipsoid(tal_v3(4.0, 5.0, 6.0)),
                                tal_shape_brick(tal_v3(3.0, 4.0, 5.0), 0.5),
                                tal_shape_torus(5.0, 1.0),
                                tal_shape_cylinder(4.0, 3.0, 0.5),
                                tal_shape_mesh(mesh)};
    for (int b = 0; b < MODEL_BODIES; ++b) {
        tal_contact_surface_def surface = tal_contact_surface_def_default();
        surface.body = s.m.body[b];
        surface.shape = shapes[b];
        surface.material = jelly(1.0);
        surface.cliques = b > 0 ? 1 : 0; // the floor only
        s.surface[b] = tal_contact_add_surface(s.m.forces, s.contact, &surface);
    }
    model_finish(&s.m);
    ck_assert_int_eq(tal_contact_num_surfaces(s.m.forces, s.contact), MODEL_BODIES);
    model_check_reaction(&s.m, s.contact, 1e-9);
    model_check_heap_and_switch(&s.m, s.contact);
    const tal_contact_info patch = info_of(&s, 0, 5);
    ck_assert_int_gt(patch.num_faces, 10);
    ck_assert_double_gt(patch.semi_axis[0], 1.0);
    ck_assert_double_gt(patch.normal_force, 0.0);
    (void)info_of(&s, 0, 1);
    model_end(&s.m);
    tal_mesh_destroy(mesh);
}

END_TEST

// A mesh and a floor only: the couples of its faces make the energy exact, however coarse it is.
// Within the differences of model_energy_rate() few faces come into contact, each with x^2 =
// (1e-3)^2: 1e-5.
START_TEST(a_mesh_on_the_floor_accounts_for_its_energy)
{
    for (int i = 0; i < 4; ++i) {
        const int k = i % 2;
        scene s = {.m = model_begin()};
        tal_contact_def def = quiet(i < 2 ? TAL_CONTACT_STRIBECK : TAL_CONTACT_ELASTOPLASTIC);
        s.contact = tal_forces_add_contact(s.m.forces, "contact", &def);
        const int divisions[3] = {2, 2, 2};
        tal_mesh *mesh = NULL;
        ck_assert_int_eq(tal_mesh_create_brick(NULL, tal_v3(4.0, 5.0, 6.0), divisions, &mesh, NULL),
                         TAL_OK);
        // the order of the two decides which of them has the faces
        s.surface[0] = add(&s, k == 0 ? 0 : BALL,
                           k == 0 ? tal_shape_half_space() : tal_shape_mesh(mesh), 0.01);
        s.surface[1] = add(&s, k == 0 ? BALL : 0,
                           k == 0 ? tal_shape_mesh(mesh) : tal_shape_half_space(), 0.01);
        model_finish(&s.m);
        model_check_reaction(&s.m, s.contact, 1e-11);
        if (i < 2) model_check_balance(&s.m, s.contact, 1e-5);
        if (i >= 2) check_books(&s, 1e-5); // one bristle for the patch, at the center of pressure
        ck_assert_double_gt(info_of(&s, 0, 1).normal_force, 0.01);
        model_end(&s.m);
        tal_mesh_destroy(mesh);
    }
}

END_TEST

// Every pressure on a sphere passes through its center: without friction no mesh turns it, however
// coarse, and whichever of them comes first. Sums over 48 faces of forces and arms below 10: 1e-12.
START_TEST(a_mesh_does_not_turn_a_smooth_sphere)
{
    for (int first = 0; first < 2; ++first) {
        scene s = {.m = model_begin()};
        s.contact = tal_forces_add_contact(s.m.forces, "contact", NULL);
        const int divisions[3] = {2, 2, 2};
        tal_mesh *mesh = NULL;
        ck_assert_int_eq(tal_mesh_create_brick(NULL, tal_v3(2.0, 2.5, 3.0), divisions, &mesh, NULL),
                         TAL_OK);
        const tal_shape ball = tal_shape_sphere(4.0), brick = tal_shape_mesh(mesh);
        // surface[0] is the sphere
        s.surface[first] = add(&s, GIMBAL, first == 0 ? ball : brick, 0.01);
        s.surface[1 - first] = add(&s, BALL, first == 0 ? brick : ball, 0.01);
        model_finish(&s.m);
        for (int k = 0; k < 2; ++k) {
            tal_contact_material smooth = jelly(0.01);
            smooth.static_friction = smooth.dynamic_friction = smooth.viscous_friction = 0.0;
            ck_assert_int_eq(tal_contact_surface_set_material(s.m.forces, s.m.state, s.contact,
                                                              s.surface[k], &smooth),
                             TAL_OK);
        }
        double most = 0.0;
        for (uint64_t seed = 1; seed < 10; ++seed) {
            model_shake(&s.m, seed);
            tal_contact_info info;
            if (tal_contact_num(s.m.forces, s.m.state, s.contact) == 0) continue;
            ck_assert_int_eq(tal_contact_calc(s.m.forces, s.m.state, s.contact, 0, &info), TAL_OK);
            const tal_vec3 arm = tal_v3_sub(info.p_G, center(&s, 0));
            const tal_vec3 m_G = tal_v3_add(info.m_G, tal_v3_cross(arm, info.f_G));
            test_assert_v3_near(m_G, TAL_VEC3_ZERO, 1e-12);
            most = fmax(most, tal_v3_norm(info.f_G));
        }
        ck_assert_double_gt(most, 0.1);
        model_end(&s.m);
        tal_mesh_destroy(mesh);
    }
}

END_TEST

// Which surface comes first decides the signs of the normal and of a bristle's deflection, and
// nothing else: that is kept in the frame of the half-space in any case.
START_TEST(the_order_of_surfaces_makes_no_difference)
{
    const tal_contact_friction frictions[] = {TAL_CONTACT_STRIBECK, TAL_CONTACT_ELASTOPLASTIC};
    for (int i = 0; i < 2; ++i) {
        const tal_contact_def def = quiet(frictions[i]);
        scene s[2] = {{.m = model_begin()}, {.m = model_begin()}};
        load on[2];
        double energy[2], power[2];
        for (int k = 0; k < 2; ++k) {
            s[k].contact = tal_forces_add_contact(s[k].m.forces, "contact", &def);
            if (k == 0) (void)add(&s[k], 0, tal_shape_half_space(), 2.0);
            (void)add(&s[k], GIMBAL, tal_shape_sphere(6.0), 1.0);
            if (k == 1) (void)add(&s[k], 0, tal_shape_half_space(), 2.0);
            model_finish(&s[k].m);
            double *z = tal_state_upd_z(s[k].m.state);
            for (int j = 0; j < tal_state_nz(s[k].m.state); ++j) {
                z[j] = (k == 0 ? 0.1 : -0.1) * (j + 1); // of surface 1 against surface 2
            }
            model_shake(&s[k].m, 5);
            on[k] = model_load(&s[k].m, s[k].contact);
            energy[k] = tal_force_potential_energy(s[k].m.forces, s[k].m.state, s[k].contact);
            power[k] = tal_force_dissipated_power(s[k].m.forces, s[k].m.state, s[k].contact);
        }
        ck_assert_int_eq(tal_contact_num(s[0].m.forces, s[0].m.state, s[0].contact), 1);
        ck_assert_double_gt(tal_v3_norm(on[0].F[GIMBAL].v), 1.0);
        for (int b = 0; b < MODEL_BODIES; ++b) {
            test_assert_sv_near(on[0].F[b], on[1].F[b], 1e-13);
        }
        ck_assert_double_eq_tol(energy[0], energy[1], 1e-13);
        ck_assert_double_eq_tol(power[0], power[1], 1e-13);
        model_end(&s[0].m);
        model_end(&s[1].m);
    }
}

END_TEST

// --- one ball on rails, for what needs a plain setting ---

// An elastic foundation of pressure k x carries k times the volume it displaces. For a sphere of
// radius R at depth x that is the cap, pi x^2 (3 R - x) / 3. The middle of a face with edges h lies
// inside the sphere by h^2 / (6 R), which the depth loses over an area 2 pi R x: h^2 / (3 R x) of
// the force, and h^2 / (2 R x) of the energy. At the rim, where the depth rises with slope sqrt(2 x
// / R), faces count as a whole: at most half as much again. The longest edges are within 1.26 R /
// 2^level.
START_TEST(a_mesh_sphere_carries_the_volume_of_its_cap)
{
    const double R = 0.5, x = 0.15, pi = TAL_PI;
    for (int level = 4; level <= 6; ++level) {
        rail r = rail_begin(NULL);
        tal_mesh *mesh = NULL;
        ck_assert_int_eq(tal_mesh_create_sphere(NULL, R, level, &mesh, NULL), TAL_OK);
        (void)rail_add(&r, "ball", tal_shape_mesh(mesh));
        rail_finish(&r, x - R);
        tal_contact_info info;
        ck_assert_int_eq(tal_contact_num(r.m.forces, r.m.state, r.contact), 1);
        ck_assert_int_eq(tal_contact_calc(r.m.forces, r.m.state, r.contact, 0, &info), TAL_OK);
        const double k = 0.5e8; // two layers of 1e8 in series
        const double cap = pi * x * x * (3.0 * R - x) / 3.0;
        const double h = 1.26 * R / pow(2.0, level);
        const double bound = h * h / (2.0 * R * x);
        ck_assert_double_eq_tol(info.normal_force, k * cap, bound * k * cap);
        test_assert_v3_near(info.n_G, tal_v3(1.0, 0.0, 0.0), 1e-15); // floor is surface 1
        ck_assert_double_eq_tol(info.p_G.y, 0.0, 0.02 * R);
        // each spring acts half way in, so that the mean of x/2 weighted by k a x is energy over
        // force
        ck_assert_double_eq_tol(info.p_G.x, info.potential_energy / info.normal_force, 1e-14);
        // energy: k times the integral of the cap over the depth, pi (R x^3 / 3 - x^4 / 12)
        const double energy = k * pi * (R * x * x * x / 3.0 - x * x * x * x / 12.0);
        ck_assert_double_eq_tol(info.potential_energy, energy, bound * energy);

        // on a rigid floor the layer of the mesh is alone, twice as stiff, and ends at the floor
        const tal_contact_info soft = info;
        const tal_contact_material rigid = tal_contact_material_of(TAL_RIGID);
        const tal_contact_surface_ix floor = {0};
        ck_assert_int_eq(
            tal_contact_surface_set_material(r.m.forces, r.m.state, r.contact, floor, &rigid),
            TAL_OK);
        model_realize(&r.m, TAL_STAGE_VELOCITY);
        ck_assert_int_eq(tal_contact_calc(r.m.forces, r.m.state, r.contact, 0, &info), TAL_OK);
        ck_assert_double_eq_tol(info.normal_force, 2.0 * soft.normal_force, 1e-13 * k * cap);
        ck_assert_double_eq_tol(info.potential_energy, 2.0 * soft.potential_energy, 1e-13 * energy);
        ck_assert_double_eq_tol(info.p_G.x, 0.0, 1e-15);
        model_end(&r.m);
        tal_mesh_destroy(mesh);
    }
}

END_TEST

// Contacts side by side, of other materials and other laws, are what each is by itself: points, and
// patches whose faces follow each other in one list. Energies add up: sums of a few numbers, each
// rounded.
START_TEST(neighbors_do_not_share_what_they_are_made_of)
{
    enum {
        SURFACES = 5,
        ALL = SURFACES
    };

    tal_mesh *mesh = NULL, *fine = NULL;
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, 3, &mesh, NULL), TAL_OK);
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.02, 4, &fine, NULL), TAL_OK);
    const tal_shape shapes[SURFACES] = {tal_shape_sphere(1.0), tal_shape_sphere(1.0),
                                        tal_shape_mesh(mesh), tal_shape_mesh(fine),
                                        tal_shape_mesh(mesh)};
    double alone[SURFACES], together[SURFACES], energy[ALL + 1];
    for (int k = 0; k <= ALL; ++k) { // one at a time, then all
        rail r = rail_begin(NULL);
        for (int i = 0; i < SURFACES; ++i) {
            if (k < ALL && i != k) continue;
            tal_contact_surface_def surface = tal_contact_surface_def_default();
            surface.body = r.body;
            surface.shape = shapes[i];
            surface.material.stiffness = i == 0 ? 1e6 : 4e6; // a mesh is made as the second ball
            if (i == 4) surface.material.foundation = 3e7;
            (void)tal_contact_add_surface(r.m.forces, r.contact, &surface);
        }
        rail_finish(&r, -0.9);
        for (int i = 0; i < (k < ALL ? 1 : SURFACES); ++i) {
            tal_contact_info info;
            ck_assert_int_eq(tal_contact_calc(r.m.forces, r.m.state, r.contact, i, &info), TAL_OK);
            if (k < ALL) alone[k] = info.normal_force;
            if (k == ALL) together[i] = info.normal_force;
        }
        energy[k] = tal_force_potential_energy(r.m.forces, r.m.state, r.contact);
        model_end(&r.m);
    }
    test_assert_near(together, alone, SURFACES, 0.0, "normal forces");
    ck_assert_double_gt(alone[1], 1.1 * alone[0]);
    ck_assert_double_gt(alone[3], 1.1 * alone[2]);
    double sum = 0.0;
    for (int i = 0; i < SURFACES; ++i) {
        ck_assert_double_gt(energy[i], 0.0);
        sum += energy[i];
    }
    ck_assert_double_eq_tol(energy[ALL], sum, 2.0 * SURFACES * DBL_EPSILON * sum);
    tal_mesh_destroy(mesh);
    tal_mesh_destroy(fine);
}

END_TEST

START_TEST(an_ellipsoid_is_softer_where_it_is_sharper)
{
    rail r = rail_begin(NULL);
    r.ball = rail_add(&r, "egg", tal_shape_ellipsoid(tal_v3(0.1, 0.2, 0.3)));
    rail_finish(&r, -0.099);
    tal_contact_info info;
    ck_assert_int_eq(tal_contact_calc(r.m.forces, r.m.state, r.contact, 0, &info), TAL_OK);
    // at the end of x: curvatures a / b^2 and a / c^2
    const double Re = 0.2 * 0.3 / 0.1;
    const double circle = 4.0 / 3.0 * sqrt(Re) * 1e6 / pow(2.0, 1.5) * pow(1e-3, 1.5);
    ck_assert_double_gt(info.normal_force, circle); // F2 < 1
    ck_assert_double_lt(info.normal_force, 1.05 * circle);
    ck_assert_double_gt(info.semi_axis[0], 1.2 * info.semi_axis[1]);
    ck_assert_int_eq(info.num_faces, 0);
    model_end(&r.m);
}

END_TEST

START_TEST(surfaces_of_a_clique_or_a_body_do_not_meet)
{
    rail r = rail_begin(NULL);
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.body = r.body;
    surface.shape = tal_shape_sphere(1.0);
    (void)tal_contact_add_surface(r.m.forces, r.contact, &surface);
    (void)tal_contact_add_surface(r.m.forces, r.contact, &surface);
    surface.body = TAL_GROUND;
    surface.shape = tal_shape_sphere(5.0);
    (void)tal_contact_add_surface(r.m.forces, r.contact, &surface);
    rail_finish(&r, -0.9);
    ck_assert_int_eq(tal_contact_num(r.m.forces, r.m.state, r.contact), 4);
    ck_assert_str_eq(tal_contact_surface_name(r.m.forces, r.contact, (tal_contact_surface_ix){2}),
                     "surface2");
    model_end(&r.m);
}

END_TEST

// Centers that coincide leave the normal open: whatever it is, all is finite.
START_TEST(coincident_centers_are_finite)
{
    rail r = rail_begin(NULL);
    r.ball = rail_add(&r, "ball", tal_shape_sphere(0.1));
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.shape = tal_shape_sphere(0.2);
    (void)tal_contact_add_surface(r.m.forces, r.contact, &surface);
    rail_finish(&r, 0.0);
    ck_assert_int_eq(tal_contact_num(r.m.forces, r.m.state, r.contact), 2);
    model_realize(&r.m, TAL_STAGE_ACCELERATION);
    ck_assert(isfinite(tal_state_udot(r.m.state)[0]));
    ck_assert(isfinite(tal_system_energy(r.m.system, r.m.state)));
    model_end(&r.m);
}

END_TEST

START_TEST(a_contact_without_surfaces_does_nothing)
{
    model m = model_begin();
    const tal_force_ix contact = tal_forces_add_contact(m.forces, "contact", NULL);
    model_finish(&m);
    ck_assert_int_eq(tal_contact_num(m.forces, m.state, contact), 0);
    const load on = model_load(&m, contact);
    test_assert_sv_near(on.F[FREE], TAL_SPATIAL_VEC_ZERO, 0.0);
    ck_assert_double_eq(tal_force_potential_energy(m.forces, m.state, contact), 0.0);
    model_end(&m);
}

END_TEST

// A State of one System is not mistaken for that of another whose surfaces differ in kind alone.
START_TEST(shapes_are_part_of_the_structure)
{
    const tal_shape shapes[] = {tal_shape_sphere(1.0), tal_shape_ellipsoid(tal_v3(1.0, 1.0, 1.0)),
                                tal_shape_sphere(2.0)};
    uint64_t hash[3];
    for (int i = 0; i < 3; ++i) {
        rail r = rail_begin(NULL);
        (void)rail_add(&r, "ball", shapes[i]);
        rail_finish(&r, 0.0);
        hash[i] = tal_system_structure_hash(r.m.system);
        model_end(&r.m);
    }
    ck_assert(hash[0] != hash[1]);
    ck_assert(hash[0] == hash[2]); // a radius is a value
}

END_TEST

// Simbody 3.7's HuntCrossleyForce and SmoothSphereHalfSpaceForce on the same ball, floor and
// motion, moments about its center: 15 digits, printed by a program that links it.
START_TEST(simbody_finds_the_same_forces)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    tal_mobod_def mobod = tal_mobod_def_default();
    mobod.mass = tal_mass_props_sphere(1.0, 1.0);
    const tal_body_ix body = tal_matter_add_free(m.matter, TAL_GROUND, &mobod);
    tal_contact_def def = tal_contact_def_default();
    def.friction = TAL_CONTACT_HOLLARS;
    const tal_force_ix contact = tal_forces_add_contact(m.forces, "contact", &def);
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.X_BS.R = tal_rotation_about(TAL_AXIS_Z, -0.5 * TAL_PI);
    surface.material = (tal_contact_material){2e6, 1.0, 0.3, 0.8, 0.5, 0.1};
    (void)tal_contact_add_surface(m.forces, contact, &surface);
    tal_smooth_contact_def smooth = tal_smooth_contact_def_default();
    smooth.sphere_body = body;
    smooth.radius = 0.8;
    smooth.X_BF = surface.X_BS;
    smooth.material = (tal_contact_material){1e6, 1.0, 2.0, 0.8, 0.5, 0.1};
    smooth.has_kink = true;
    const tal_force_ix smoothed = tal_forces_add_smooth_contact(m.forces, "smooth", &smooth);
    surface.body = body;
    surface.X_BS = TAL_XFORM_IDENTITY;
    surface.shape = tal_shape_sphere(0.8);
    surface.material = (tal_contact_material){1e6, 1.0, 0.7, 0.9, 0.6, 0.2};
    (void)tal_contact_add_surface(m.forces, contact, &surface);
    ck_assert_int_eq(tal_system_realize_topology(m.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(m.system, &m.state, NULL), TAL_OK);
    const double p[] = {0.1, 0.75, 0.2}, u[] = {0.3, 0.2, -0.4, 0.05, -0.2, 0.02};
    memcpy(tal_state_upd_q(m.state) + 4, p, sizeof p);
    memcpy(tal_state_upd_u(m.state), u, sizeof u);
    model_realize(&m, TAL_STAGE_VELOCITY);

    const tal_spatial_vec found[] = {{{-2143.93914263139, 0.0, 2621.27109315708},
                                      {3407.23764572567, 7455.63797855814, 2786.78164039889}},
                                     {{-1981.60755155425, 0.0, 2424.55512190167},
                                      {3128.45822180861, 7565.08845475914, 2556.91296974742}}};
    const load hertz = model_load(&m, contact), rounded = model_load(&m, smoothed);
    test_assert_sv_near(hertz.F[1], found[0], 2e-11); // two units of the last digit
    test_assert_sv_near(rounded.F[1], found[1], 2e-11);
    model_end(&m);
}

END_TEST

// --- the State ---

START_TEST(parameters_live_in_the_state)
{
    const tal_contact_def def = quiet(TAL_CONTACT_STRIBECK);
    scene s = balls(&def);
    model *m = &s.m;
    const load before = model_load(m, s.contact);
    tal_contact_grip grip = tal_contact_grip_of(m->forces, m->state, s.contact);
    ck_assert_double_eq(grip.transition_speed, 0.5);
    grip.transition_speed = 5.0;
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_contact_set_grip(m->forces, m->state, s.contact, &grip), TAL_OK);
    ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_VELOCITY);
    load after = model_load(m, s.contact);
    ck_assert_int_ne(memcmp(&before, &after, sizeof after), 0);
    grip.transition_speed = 0.5;
    tal_contact_set_grip(m->forces, m->state, s.contact, &grip);

    tal_contact_material material =
        tal_contact_surface_material(m->forces, m->state, s.contact, s.surface[1]);
    material.stiffness *= 2.0;
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(
        tal_contact_surface_set_material(m->forces, m->state, s.contact, s.surface[1], &material),
        TAL_OK);
    ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_VELOCITY);
    after = model_load(m, s.contact);
    ck_assert_int_ne(memcmp(&before, &after, sizeof after), 0);
    material.stiffness /= 2.0;
    tal_contact_surface_set_material(m->forces, m->state, s.contact, s.surface[1], &material);
    after = model_load(m, s.contact);
    ck_assert_int_eq(memcmp(&before, &after, sizeof after), 0);

    tal_shape shape = tal_contact_surface_shape(m->forces, m->state, s.contact, s.surface[1]);
    ck_assert_double_eq(shape.size.x, 6.0);
    shape.size.x = 6.5;
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(
        tal_contact_surface_set_shape(m->forces, m->state, s.contact, s.surface[1], &shape),
        TAL_OK);
    ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_TIME);
    model_realize(m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(
        tal_contact_surface_shape(m->forces, m->state, s.contact, s.surface[1]).size.x, 6.5);
    const double d = tal_v3_norm(tal_v3_sub(center(&s, 1), center(&s, 2)));
    ck_assert_double_eq_tol(info_of(&s, 1, 2).depth, 13.5 - d, 1e-13);

    tal_xform X_BS = tal_contact_surface_X_BS(m->forces, m->state, s.contact, s.surface[1]);
    X_BS.p.x += 0.25;
    ck_assert_int_eq(
        tal_contact_surface_set_X_BS(m->forces, m->state, s.contact, s.surface[1], &X_BS), TAL_OK);
    ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_TIME);
    model_realize(m, TAL_STAGE_VELOCITY);
    const double moved = tal_v3_norm(tal_v3_sub(center(&s, 1), center(&s, 2)));
    ck_assert_double_eq_tol(info_of(&s, 1, 2).depth, 13.5 - moved, 1e-13);
    model_end(m);
}

END_TEST
int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/contact");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60);
    tcase_add_test(theory, two_balls_obey_hunt_crossley_and_stribeck);
    tcase_add_test(theory, what_is_read_is_what_is_applied);
    tcase_add_test(theory, action_is_reaction_and_energy_is_accounted_for);
    tcase_add_test(theory, friction_with_memory_keeps_books);
    tcase_add_test(theory, all_shapes_push_and_are_pushed);
    tcase_add_test(theory, a_mesh_on_the_floor_accounts_for_its_energy);
    tcase_add_test(theory, a_mesh_does_not_turn_a_smooth_sphere);
    tcase_add_test(theory, the_order_of_surfaces_makes_no_difference);
    tcase_add_test(theory, a_mesh_sphere_carries_the_volume_of_its_cap);
    tcase_add_test(theory, neighbors_do_not_share_what_they_are_made_of);
    tcase_add_test(theory, an_ellipsoid_is_softer_where_it_is_sharper);
    tcase_add_test(theory, surfaces_of_a_clique_or_a_body_do_not_meet);
    tcase_add_test(theory, coincident_centers_are_finite);
    tcase_add_test(theory, a_contact_without_surfaces_does_nothing);
    tcase_add_test(theory, shapes_are_part_of_the_structure);
    tcase_add_test(theory, parameters_live_in_the_state);
    suite_add_tcase(suite, theory);
    TCase *textbook = tcase_create("textbook");
    tcase_add_test(textbook, simbody_finds_the_same_forces);
    suite_add_tcase(suite, textbook);
    return test_run(suite);
}
