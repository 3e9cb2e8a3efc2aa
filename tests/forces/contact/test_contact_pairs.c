// Every pair of shapes with every normal law: forces are the gradient of the potential energy, with
// one sign on the one surface and the other on the other.
#include "talus_test.h"

#include <talus/forces.h>

#include <math.h>

// ---- shapes

enum {
    NUM_SHAPES = 10,
    POSES = 3
};

typedef struct solids {
    tal_shape shape[NUM_SHAPES];
    tal_mesh *round, *square, *field;
} solids;

static const char *const names[NUM_SHAPES] = {"half-space",  "sphere",      "ellipsoid", "cylinder",
                                              "capsule",     "brick",       "torus",     "mesh",
                                              "convex mesh", "height field"};

static double hill(double x, double y)
{
    return 0.15 * sin(3.0 * x) * cos(2.0 * y);
}

static tal_mesh *make_field(void)
{
    enum {
        NX = 13,
        NY = 11
    };

    double heights[NX * NY];
    for (int i = 0; i < NX * NY; ++i) {
        const int row = i / NX;
        heights[i] = hill(0.15 * (i % NX) - 0.9, 0.15 * row - 0.75);
    }
    const double step[2] = {0.15, 0.15};
    tal_mesh *mesh = NULL;
    tal_error err;
    const tal_status st = tal_mesh_create_field(NULL, heights, NX, NY, step, -0.8, &mesh, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return mesh;
}

static solids make_solids(void)
{
    solids s = {.field = make_field()};
    const int parts[3] = {9, 9, 9};
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 0.6, 3, &s.round, NULL), TAL_OK);
    ck_assert_int_eq(tal_mesh_create_brick(NULL, tal_v3(0.5, 0.6, 0.4), parts, &s.square, NULL),
                     TAL_OK);
    const tal_shape all[NUM_SHAPES] = {tal_shape_half_space(),
                                       tal_shape_sphere(0.6),
                                       tal_shape_ellipsoid(tal_v3(0.9, 0.6, 0.4)),
                                       tal_shape_cylinder(0.5, 0.6, 0.1),
                                       tal_shape_capsule(0.3, 0.9),
                                       tal_shape_brick(tal_v3(0.5, 0.6, 0.7), 0.15),
                                       tal_shape_torus(0.7, 0.25),
                                       tal_shape_mesh(s.round),
                                       tal_shape_mesh(s.square),
                                       tal_shape_mesh(s.field)};
    memcpy(s.shape, all, sizeof all);
    return s;
}

static void destroy_solids(solids *s)
{
    tal_mesh_destroy(s->round);
    tal_mesh_destroy(s->square);
    tal_mesh_destroy(s->field);
}

// ---- two bodies

typedef struct pair {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_body_ix body[2];
    tal_force_ix contact;
} pair;

typedef struct law {
    const char *name;
    tal_contact_law law;
    double exponent;
} law;

static const law laws[] = {{"hertz", TAL_CONTACT_HERTZ, 1.5},
                           {"linear", TAL_CONTACT_POWER, 1.0},
                           {"power 1.5", TAL_CONTACT_POWER, 1.5},
                           {"square", TAL_CONTACT_POWER, 2.0}};

static pair make_pair(const tal_shape *a, const tal_shape *b, const law *by)
{
    pair p = {.system = tal_system_create(NULL)};
    p.matter = tal_matter_create(p.system);
    p.forces = tal_forces_create(p.system, p.matter);
    tal_contact_def how = tal_contact_def_default();
    how.law = by->law;
    how.exponent = by->exponent;
    p.contact = tal_forces_add_contact(p.forces, "contact", &how);
    for (int k = 0; k < 2; ++k) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_sphere(1.0, 0.5);
        p.body[k] = tal_matter_add_free(p.matter, TAL_GROUND, &def);
        tal_contact_surface_def surface = tal_contact_surface_def_default();
        surface.body = p.body[k];
        surface.shape = k == 0 ? *a : *b;
        surface.material.stiffness = k == 0 ? 3.0 : 5.0;
        surface.material.foundation = k == 0 ? 7.0 : 4.0;
        ck_assert_int_eq(tal_contact_add_surface(p.forces, p.contact, &surface).i, k);
    }
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(p.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(p.system, &p.state, &err) == TAL_OK, "%s", err.message);
    return p;
}

static void destroy_pair(pair *p)
{
    tal_state_destroy(p->state);
    tal_system_destroy(p->system);
}

static void place(const pair *p, int k, tal_xform X)
{
    const tal_quat r = tal_rotation_to_qt(&X.R);
    const double q[7] = {r.w, r.x, r.y, r.z, X.p.x, X.p.y, X.p.z};
    for (int i = 0; i < 7; ++i) {
        ck_assert_int_eq(tal_body_set_q(p->matter, p->state, p->body[k], i, q[i]), TAL_OK);
    }
}

static double energy_of(const pair *p)
{
    const tal_status st = tal_system_realize(p->system, p->state, TAL_STAGE_VELOCITY);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(p->state)->message);
    return tal_force_potential_energy(p->forces, p->state, p->contact);
}

static double deepest_of(const pair *p)
{
    (void)energy_of(p);
    double most = 0.0;
    for (int i = 0; i < tal_contact_num(p->forces, p->state, p->contact); ++i) {
        tal_contact_info info;
        ck_assert_int_eq(tal_contact_calc(p->forces, p->state, p->contact, i, &info), TAL_OK);
        most = fmax(most, info.depth);
    }
    return most;
}

// Turned at random, and so near along a random way that they overlap by some 0.05. A half-space
// faces the other, as the top of a field of heights does. False when they do not meet, as a capsule
// does not that goes through the hole of a torus.
static bool approach(const pair *p, bool is_half_space, bool is_field, test_rng *rng,
                     tal_xform X[2])
{
    const tal_vec3 way = test_random_unit(rng);
    X[0] = tal_xf(test_random_rotation(rng), TAL_VEC3_ZERO);
    X[1] = tal_xf(test_random_rotation(rng), TAL_VEC3_ZERO);
    if (is_half_space) {
        const tal_vec3 x = tal_v3_neg(way), y = tal_v3_perp(x);
        X[0].R = tal_m3(x, y, tal_v3_cross(x, y));
    }
    if (is_field) {
        const tal_vec3 z = tal_v3_neg(way), x = tal_v3_perp(z);
        X[1].R = tal_m3(x, tal_v3_cross(z, x), z);
    }
    const double wanted = test_random_uniform(rng, 0.03, 0.06);
    double near = -1.0, far = 4.0;
    for (int i = 0; i < 40; ++i) {
        const double middle = 0.5 * (near + far);
        X[1].p = tal_v3_scale(middle, way);
        place(p, 0, X[0]);
        place(p, 1, X[1]);
        *(deepest_of(p) > wanted ? &near : &far) = middle;
    }
    X[1].p = tal_v3_scale(near, way); // what changes by jumps is at its larger value here
    return near > -1.0;
}

// X moved along for a time h: turned by h w, shifted by h v.
static tal_xform moved(tal_xform X, tal_spatial_vec V, double h)
{
    const double angle = h * tal_v3_norm(V.w);
    const tal_vec3 axis = tal_v3_normalize(V.w);
    const tal_mat3 W =
        tal_m3(tal_v3_cross(axis, tal_v3(1.0, 0.0, 0.0)), tal_v3_cross(axis, tal_v3(0.0, 1.0, 0.0)),
               tal_v3_cross(axis, tal_v3(0.0, 0.0, 1.0)));
    const tal_mat3 WW = tal_m3_mul(W, W);
    tal_mat3 R = TAL_MAT3_IDENTITY;
    R = tal_m3_add(R, tal_m3_scale(sin(angle), W));
    R = tal_m3_add(R, tal_m3_scale(1.0 - cos(angle), WW));
    return tal_xf(tal_m3_mul(R, X.R), tal_v3_axpy(h, V.v, X.p));
}

static double energy_at(const pair *p, const tal_xform X[2], const tal_spatial_vec V[2], double h)
{
    for (int k = 0; k < 2; ++k) {
        place(p, k, moved(X[k], V[k], h));
    }
    return energy_of(p);
}

// The rate of the energy, by differences of fourth order.
static double rate_of_energy(const pair *p, const tal_xform X[2], const tal_spatial_vec V[2])
{
    const double h = 4e-6;
    return (8.0 * (energy_at(p, X, V, h) - energy_at(p, X, V, -h)) -
            (energy_at(p, X, V, 2.0 * h) - energy_at(p, X, V, -2.0 * h))) /
           (12.0 * h);
}

// The power of all contact forces in a motion, and what it is made of.
static double power_of(const pair *p, const tal_xform X[2], const tal_spatial_vec V[2],
                       double *size)
{
    double power = 0.0;
    *size = 0.0;
    for (int i = 0; i < tal_contact_num(p->forces, p->state, p->contact); ++i) {
        tal_contact_info it;
        ck_assert_int_eq(tal_contact_calc(p->forces, p->state, p->contact, i, &it), TAL_OK);
        tal_vec3 v[2];
        for (int k = 0; k < 2; ++k) {
            const tal_vec3 arm = tal_v3_sub(it.p_G, X[k].p);
            v[k] = tal_v3_add(V[k].v, tal_v3_cross(V[k].w, arm));
        }
        power += tal_v3_dot(it.f_G, tal_v3_sub(v[0], v[1]));
        power += tal_v3_dot(it.m_G, tal_v3_sub(V[0].w, V[1].w));
        *size += tal_v3_norm(it.f_G);
    }
    return power;
}

// ---- the table

// Hertz's force has a potential where curvatures do not change as surfaces roll.
static bool has_potential(int a, int b, tal_contact_law by)
{
    const bool is_mesh[2] = {a >= 7, b >= 7};
    if (is_mesh[0] && is_mesh[1]) return false; // directions of springs jump from face to face
    if (by == TAL_CONTACT_POWER) return true;
    const bool meets_in_faces =
        is_mesh[1] || (a > 1 && b > 4) || (a == 3 && b >= 3) || (a == 2 && b == 3);
    return meets_in_faces || (a <= 1 && (b == 1 || b >= 4));
}

// Speeds are of size one, and so are forces over their sum: what differences leave is below 1e-9
// (eps x energy / (h x force) = eps x depth / h; h^4 is less), and a facet that comes into contact
// within h shares some 1e-3 of the force and gives h times that.
static void check_pair(const solids *s, int a, int b, const law *by, test_rng *rng)
{
    pair p = make_pair(&s->shape[a], &s->shape[b], by);
    int touched = 0;
    for (int pose = 0; pose < POSES; ++pose) {
        tal_xform X[2];
        while (!approach(&p, a == 0, b == 9, rng, X)) {}
        const tal_spatial_vec V[2] = {test_random_spatial_vec(rng), test_random_spatial_vec(rng)};
        const double rate = rate_of_energy(&p, X, V);
        const double energy = energy_at(&p, X, V, 0.0);
        double size;
        const double power = power_of(&p, X, V, &size);
        touched += energy > 0.0 && size > 0.0;
        if (!has_potential(a, b, by->law)) continue;
        ck_assert_msg(fabs(power + rate) <= 1e-8 * (1.0 + size),
                      "%s on %s, %s: power %.12g, rate of the energy %.12g", names[a], names[b],
                      by->name, power, rate);
    }
    ck_assert_msg(touched == POSES, "%s on %s: %d poses of contact", names[a], names[b], touched);
    destroy_pair(&p);
}

START_TEST(forces_are_the_gradient_of_the_energy)
{
    solids s = make_solids();
    const law *by = &laws[_i];
    test_rng rng = test_rng_seed(100 + (uint64_t)_i);
    int count = 0;
    for (int a = 0; a < NUM_SHAPES; ++a) {
        for (int b = a > 0 ? a : 1; b < NUM_SHAPES; ++b) {
            check_pair(&s, a, b, by, &rng);
            ++count;
        }
    }
    ck_assert_int_eq(count, NUM_SHAPES * (NUM_SHAPES + 1) / 2 - 1);
    destroy_solids(&s);
}

END_TEST

// A brick on a brick of the same size, level: half of the foundations of both carry k times the
// volume that overlaps.
START_TEST(a_brick_on_a_brick_carries_what_it_displaces)
{
    const tal_shape brick = tal_shape_brick(tal_v3(0.5, 0.6, 0.4), 0.0);
    pair p = make_pair(&brick, &brick, &laws[1]);
    const double x = 0.01, k = 7.0 * 4.0 / (7.0 + 4.0); // one behind the other
    place(&p, 0, TAL_XFORM_IDENTITY);
    place(&p, 1, tal_xf_from_p(tal_v3(0.0, 0.0, 0.8 - x)));
    (void)energy_of(&p);
    ck_assert_int_eq(tal_contact_num(p.forces, p.state, p.contact), 1);
    tal_contact_info it;
    ck_assert_int_eq(tal_contact_calc(p.forces, p.state, p.contact, 0, &it), TAL_OK);
    test_assert_v3_near(it.f_G, tal_v3(0.0, 0.0, -k * 1.2 * x), 1e-13);
    test_assert_v3_near(it.m_G, TAL_VEC3_ZERO, 1e-13);
    ck_assert_double_eq_tol(it.p_G.x, 0.0, 1e-13);
    ck_assert_double_eq_tol(it.p_G.y, 0.0, 1e-13);
    destroy_pair(&p);
}

END_TEST

// Capsules that turn through the position in which they lie along each other: nearest points jump
// there from one end to the other, forces and moments do not.
START_TEST(capsules_that_come_to_lie_along_each_other_feel_no_jump)
{
    const tal_shape capsule = tal_shape_capsule(0.3, 0.9);
    pair p = make_pair(&capsule, &capsule, &laws[2]);
    tal_vec3 f[2] = {TAL_VEC3_ZERO, TAL_VEC3_ZERO}, m[2] = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    const double tilt = 1e-7;
    for (int side = 0; side < 2; ++side) {
        place(&p, 0, TAL_XFORM_IDENTITY);
        const double angle = side == 0 ? tilt : -tilt;
        place(&p, 1, tal_xf(tal_rotation_about(TAL_AXIS_Y, angle), tal_v3(0.55, 0.1, 0.2)));
        (void)energy_of(&p);
        ck_assert_int_ge(tal_contact_num(p.forces, p.state, p.contact), 2);
        for (int i = 0; i < tal_contact_num(p.forces, p.state, p.contact); ++i) {
            tal_contact_info it;
            ck_assert_int_eq(tal_contact_calc(p.forces, p.state, p.contact, i, &it), TAL_OK);
            f[side] = tal_v3_add(f[side], it.f_G);
            m[side] = tal_v3_add(m[side], tal_v3_add(it.m_G, tal_v3_cross(it.p_G, it.f_G)));
        }
    }
    // forces are of size 0.1 and change by the tilt times a few units
    ck_assert_double_gt(tal_v3_norm(f[0]), 0.01);
    test_assert_v3_near(f[0], f[1], 1e-5);
    test_assert_v3_near(m[0], m[1], 1e-5);
    destroy_pair(&p);
}

END_TEST

// Simbody's BrickHalfSpacePenalty: springs k x at the corners of a sharp brick. A power law with
// n = 1 and no corner radius is that law.
START_TEST(a_sharp_brick_obeys_brick_half_space_penalty)
{
    const tal_shape plane = tal_shape_half_space();
    const tal_shape brick = tal_shape_brick(tal_v3(0.5, 0.6, 0.4), 0.0);
    pair p = make_pair(&plane, &brick, &laws[1]);
    const double k = 3.0 * 5.0 / (3.0 + 5.0), x = 0.02;
    place(&p, 0, TAL_XFORM_IDENTITY); // x >= 0 is inside
    place(&p, 1, tal_xf_from_p(tal_v3(x - 0.5, 0.0, 0.0)));
    (void)energy_of(&p);
    ck_assert_int_eq(tal_contact_num(p.forces, p.state, p.contact), 4);
    for (int i = 0; i < 4; ++i) {
        tal_contact_info it;
        ck_assert_int_eq(tal_contact_calc(p.forces, p.state, p.contact, i, &it), TAL_OK);
        ck_assert_double_eq_tol(it.normal_force, k * x, 1e-14);
        ck_assert_double_eq_tol(it.potential_energy, 0.5 * k * x * x, 1e-15);
    }
    destroy_pair(&p);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("contact_pairs");
    TCase *all = tcase_create("all pairs");
    tcase_set_timeout(all, 120.0);
    tcase_add_loop_test(all, forces_are_the_gradient_of_the_energy, 0,
                        (int)(sizeof laws / sizeof laws[0]));
    suite_add_tcase(suite, all);
    TCase *some = tcase_create("some pairs");
    tcase_add_test(some, a_brick_on_a_brick_carries_what_it_displaces);
    tcase_add_test(some, capsules_that_come_to_lie_along_each_other_feel_no_jump);
    tcase_add_test(some, a_sharp_brick_obeys_brick_half_space_penalty);
    suite_add_tcase(suite, some);
    return test_run(suite);
}
