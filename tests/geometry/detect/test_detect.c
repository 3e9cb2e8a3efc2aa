// Tests for geometry/src/shape/shape.c and contact_narrow.c: shapes, and contact at points.
#include "detect_scene.h"

#include <float.h>

enum {
    TRIALS = 200
};

// Sizes and positions are about 1 and a result takes some ten operations: a few hundred eps.
#define ROUND 1e-13

// The point of surface 1 (share 0) or 2 (share 1) on the line through the contact: P of the manual
// is p_1 + s1 x n, so with all of the deformation in surface 2 it is p_1.
static tal_vec3 reach_of_1(const tali_detect_point *c)
{
    return tali_detect_point_P(c, 0.0);
}

static tal_vec3 reach_of_2(const tali_detect_point *c)
{
    return tali_detect_point_P(c, 1.0);
}

// ---- closed forms

// A ball whose center is r - x above a plane overlaps it by x, at the foot of the center.
START_TEST(a_sphere_sinks_into_a_half_space_below_its_center)
{
    test_rng rng = test_rng_seed(1);
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = scene_begin();
        const double r = test_random_uniform(&rng, 0.1, 2.0);
        const double x = test_random_uniform(&rng, 0.001, 1.5) * r;
        const tal_vec3 foot = test_random_vec3(&rng), m = test_random_unit(&rng);
        scene_add(&s, tal_shape_half_space(), scene_plane(&rng, foot, m));
        scene_add(&s, tal_shape_sphere(r),
                  tal_xf(test_random_rotation(&rng), tal_v3_axpy(r - x, m, foot)));
        const bool is_swapped = trial % 2 == 1;
        if (is_swapped) scene_exchange(&s, 0, 1);

        const tali_detect_contact *contact = scene_detect(&s);

        ck_assert_ptr_nonnull(contact);
        ck_assert(contact->count == 1 && !contact->is_patch && s.store.num_contacts == 1);
        const tali_detect_point *c = &s.store.points[contact->first];
        // from surface 2 towards surface 1: down if the half-space is the first, else up
        test_assert_v3_near(c->n_G, is_swapped ? m : tal_v3_neg(m), ROUND);
        ck_assert_double_eq_tol(c->depth, x, ROUND);
        test_assert_v3_near(c->p_G, tal_v3_axpy(-0.5 * x, m, foot), ROUND);
        ck_assert_double_eq_tol(c->radius, r, ROUND);
        ck_assert_double_eq_tol(c->curvature[0] * r, 1.0, ROUND);
        ck_assert_double_eq_tol(c->curvature[1] * r, 1.0, ROUND);
        // the half-space reaches to its surface, the ball x deeper
        const tal_vec3 surface = is_swapped ? reach_of_2(c) : reach_of_1(c);
        test_assert_v3_near(surface, foot, ROUND);
        scene_end(&s);
    }
}

END_TEST

// R = R_1 R_2 / (R_1 + R_2) (manual sec. 11.2.2).
START_TEST(spheres_touch_on_the_line_of_their_centers)
{
    test_rng rng = test_rng_seed(2);
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = scene_begin();
        const double r1 = test_random_uniform(&rng, 0.1, 2.0);
        const double r2 = test_random_uniform(&rng, 0.1, 2.0);
        const double x = test_random_uniform(&rng, 0.001, 0.9) * (r1 + r2);
        const tal_vec3 at = test_random_vec3(&rng), n = test_random_unit(&rng);
        // sphere 2 reaches to `at` along n; sphere 1 begins x before
        scene_add(&s, tal_shape_sphere(r1),
                  tal_xf(test_random_rotation(&rng), tal_v3_axpy(r1 - x, n, at)));
        scene_add(&s, tal_shape_sphere(r2),
                  tal_xf(test_random_rotation(&rng), tal_v3_axpy(-r2, n, at)));

        const tali_detect_contact *contact = scene_detect(&s);

        ck_assert_ptr_nonnull(contact);
        const tali_detect_point *c = &s.store.points[contact->first];
        ck_assert_double_eq_tol(c->depth, x, 10.0 * ROUND);
        // a direction between centers d apart is good to eps / d
        const double tol = 10.0 * ROUND / (r1 + r2 - x);
        test_assert_v3_near(c->n_G, n, tol);
        test_assert_v3_near(reach_of_2(c), at, tol);
        test_assert_v3_near(reach_of_1(c), tal_v3_axpy(-x, n, at), tol);
        ck_assert_double_eq_tol(c->radius, r1 * r2 / (r1 + r2), ROUND);
        scene_end(&s);
    }
}

END_TEST

START_TEST(spheres_about_one_center_touch_along_the_axis_of_the_first)
{
    test_rng rng = test_rng_seed(3);
    scene s = scene_begin();
    const tal_xform X = test_random_xform(&rng);
    scene_add(&s, tal_shape_sphere(1.0), X);
    scene_add(&s, tal_shape_sphere(0.25), tal_xf(test_random_rotation(&rng), X.p));

    const tali_detect_contact *contact = scene_detect(&s);

    ck_assert_ptr_nonnull(contact);
    const tali_detect_point *c = &s.store.points[0];
    ck_assert_double_eq(c->depth, 1.25);
    test_assert_v3_near(c->n_G, X.R.x, 0.0);
    ck_assert(tal_v3_is_finite(c->p_G) && tal_v3_is_finite(c->axis_G));
    // and a distance whose square underflows still gives a direction
    s.X_GS[0].p = TAL_VEC3_ZERO;
    s.X_GS[1].p = tal_v3(0.0, 1e-200, 0.0);
    ck_assert_ptr_nonnull(scene_detect(&s));
    test_assert_v3_near(s.store.points[0].n_G, tal_v3(0.0, -1.0, 0.0), 0.0);
    scene_end(&s);
}

END_TEST

START_TEST(what_only_just_touches_is_no_contact)
{
    scene s = scene_begin();
    scene_add(&s, tal_shape_sphere(1.0), TAL_XFORM_IDENTITY);
    scene_add(&s, tal_shape_sphere(1.0), tal_xf_from_p(tal_v3(2.0, 0.0, 0.0)));
    scene_add(&s, tal_shape_half_space(), tal_xf_from_p(tal_v3(3.0, 0.0, 0.0)));
    ck_assert_ptr_null(scene_detect(&s));
    ck_assert_int_eq(s.store.num_pairs, 2); // their boxes touch
    s.X_GS[1].p.x = 2.0 - DBL_EPSILON;
    ck_assert_ptr_nonnull(scene_detect(&s));
    scene_end(&s);
}

END_TEST

// ---- ellipsoid

// Height of an ellipsoid's surface below its tangent plane at s (outward normal d), a step e
// away: the smaller root z of |D (s + e - z d)|^2 = 1 with D = diag(1 / a).
static double drop(tal_vec3 semi_axes, tal_vec3 s, tal_vec3 d, tal_vec3 e)
{
    const tal_vec3 D = tal_v3(1.0 / semi_axes.x, 1.0 / semi_axes.y, 1.0 / semi_axes.z);
    const tal_vec3 De = tal_v3_mul(D, e), Dd = tal_v3_mul(D, d), Ds = tal_v3_mul(D, s);
    // |Ds| = 1 and Ds . De = 0: a z^2 - 2 b z + c = 0
    const double a = tal_v3_dot(Dd, Dd), b = tal_v3_dot(Dd, tal_v3_add(Ds, De));
    const double c = tal_v3_dot(De, De);
    return c / (b + sqrt(b * b - a * c));
}

static double curvature_along(tal_vec3 semi_axes, tal_vec3 s, tal_vec3 d, tal_vec3 e)
{
    const double step = 1e-4;
    const tal_vec3 there = tal_v3_scale(step, e), back = tal_v3_neg(there);
    return (drop(semi_axes, s, d, there) + drop(semi_axes, s, d, back)) / (step * step);
}

START_TEST(an_ellipsoid_touches_at_its_support_point_with_its_curvatures_there)
{
    test_rng rng = test_rng_seed(4);
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = scene_begin();
        const tal_vec3 a =
            tal_v3(test_random_uniform(&rng, 0.3, 1.5), test_random_uniform(&rng, 0.3, 1.5),
                   test_random_uniform(&rng, 0.3, 1.5));
        const tal_xform X_GE = test_random_xform(&rng);
        const tal_vec3 m = test_random_unit(&rng);
        scene_add(&s, tal_shape_ellipsoid(a), X_GE);
        scene_add(&s, tal_shape_half_space(), scene_plane(&rng, X_GE.p, m));

        const tali_detect_contact *contact = scene_detect(&s);

        ck_assert_ptr_nonnull(contact); // the center is on the plane
        const tali_detect_point *c = &s.store.points[contact->first];
        test_assert_v3_near(c->n_G, m, ROUND);
        // the deepest point is on the surface, and the gradient there is along -m
        const tal_vec3 p = tal_xf_inv_apply(X_GE, reach_of_1(c));
        const tal_vec3 d = tal_m3_tmul_v3(X_GE.R, tal_v3_neg(m));
        const tal_vec3 Dp = tal_v3(p.x / a.x, p.y / a.y, p.z / a.z);
        ck_assert_double_eq_tol(tal_v3_dot(Dp, Dp), 1.0, 10.0 * ROUND);
        const tal_vec3 gradient = tal_v3(Dp.x / a.x, Dp.y / a.y, Dp.z / a.z);
        test_assert_v3_near(tal_v3_normalize(gradient), d, 10.0 * ROUND);
        ck_assert_double_eq_tol(c->depth, tal_v3_dot(p, d), ROUND);
        test_assert_v3_near(reach_of_2(c), tal_v3_axpy(c->depth, m, reach_of_1(c)), ROUND);
        // principal curvatures: with K the sharpest that an ellipsoid of such axes can be anywhere,
        // series expansion of the root shows differences to be wrong by 5/4 (K step)^2, relatively
        const double least = fmin(a.x, fmin(a.y, a.z)), K = tal_v3_max_abs(a) / (least * least);
        const double tol = 1.25e-8 * K * K * c->curvature[0] + 1e-12;
        const tal_vec3 e = tal_m3_tmul_v3(X_GE.R, c->axis_G), f = tal_v3_cross(d, e);
        ck_assert_double_eq_tol(tal_v3_dot(e, d), 0.0, ROUND);
        ck_assert_double_eq_tol(c->curvature[0], curvature_along(a, p, d, e), tol);
        ck_assert_double_eq_tol(c->curvature[1], curvature_along(a, p, d, f), tol);
        ck_assert_double_ge(c->curvature[0], c->curvature[1]);
        const double product = c->curvature[0] * c->curvature[1];
        ck_assert_double_eq_tol(c->radius * c->radius * product, 1.0, ROUND);
        scene_end(&s);
    }
}

END_TEST

START_TEST(a_round_ellipsoid_is_a_sphere)
{
    test_rng rng = test_rng_seed(5);
    scene s = scene_begin();
    const tal_xform X_GH = test_random_xform(&rng), X_GS = test_random_xform(&rng);
    scene_add(&s, tal_shape_half_space(), X_GH);
    scene_add(&s, tal_shape_sphere(3.0), X_GS);
    scene_add(&s, tal_shape_ellipsoid(tal_v3(3.0, 3.0, 3.0)), X_GS);
    s.surfaces[1].cliques = s.surfaces[2].cliques = 1;
    (void)scene_detect(&s);
    ck_assert_int_eq(s.store.num_contacts, 2);
    const tali_detect_point *a = &s.store.points[0], *b = &s.store.points[1];
    ck_assert_double_eq_tol(a->depth, b->depth, ROUND);
    test_assert_v3_near(a->p_G, b->p_G, 10.0 * ROUND);
    ck_assert_double_eq_tol(a->radius, b->radius, ROUND);
    test_assert_near(a->curvature, b->curvature, 2, ROUND, "curvatures");
    scene_end(&s);
}

END_TEST

// The sharpest of needles keeps its digits: on its tip the curvatures are a / b^2 and a / c^2, on
// its flank b / a^2 and b / c^2.
START_TEST(curvatures_of_a_needle_do_not_cancel)
{
    const double a = 1.0, b = 1e-4, c = 2e-4;
    scene s = scene_begin();
    scene_add(&s, tal_shape_half_space(), TAL_XFORM_IDENTITY);
    scene_add(&s, tal_shape_ellipsoid(tal_v3(a, b, c)), TAL_XFORM_IDENTITY);
    (void)scene_detect(&s);
    ck_assert_double_eq_tol(s.store.points[0].curvature[0], a / (b * b),
                            8.0 * DBL_EPSILON * a / (b * b));
    ck_assert_double_eq_tol(s.store.points[0].curvature[1], a / (c * c),
                            8.0 * DBL_EPSILON * a / (c * c));
    ck_assert_double_eq_tol(fabs(s.store.points[0].axis_G.y), 1.0, ROUND);
    test_rng rng = test_rng_seed(6);
    s.X_GS[0] = scene_plane(&rng, TAL_VEC3_ZERO, tal_v3(0.0, 1.0, 0.0));
    (void)scene_detect(&s);
    ck_assert_double_eq_tol(s.store.points[0].curvature[0], b / (c * c),
                            64.0 * DBL_EPSILON * b / (c * c));
    ck_assert_double_eq_tol(s.store.points[0].curvature[1], b / (a * a), 1e-4 * ROUND);
    scene_end(&s);
}

END_TEST

// ---- brick, cylinder, torus

// How far a solid reaches along a unit vector d of its frame.
static double support(const tal_shape *shape, tal_vec3 d)
{
    const tal_vec3 s = shape->size;
    const double r = shape->edge_radius, around = hypot(d.x, d.y);
    switch (shape->kind) {
    case TAL_SHAPE_BRICK:
        return (s.x - r) * fabs(d.x) + (s.y - r) * fabs(d.y) + (s.z - r) * fabs(d.z) + r;
    case TAL_SHAPE_CYLINDER:
        return (s.x - r) * around + (s.y - r) * fabs(d.z) + r;
    case TAL_SHAPE_TORUS:
        return s.x * around + s.y;
    default:
        return (double)NAN;
    }
}

static tal_shape random_rounded(test_rng *rng, int kind, bool is_sharp)
{
    const double a = test_random_uniform(rng, 0.5, 1.0), b = test_random_uniform(rng, 0.5, 1.0);
    const double r = is_sharp ? 0.0 : test_random_uniform(rng, 0.01, 0.4);
    if (kind == 0) return tal_shape_brick(tal_v3(a, b, 0.5 * (a + b)), r);
    if (kind == 1) return tal_shape_cylinder(a, b, r);
    return tal_shape_torus(a, 0.9 * b * a);
}

START_TEST(the_deepest_point_of_a_rounded_solid_is_where_its_support_is)
{
    test_rng rng = test_rng_seed(7);
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = scene_begin();
        const tal_shape shape = random_rounded(&rng, trial % 3, trial % 2 == 0);
        const tal_xform X_GS = test_random_xform(&rng), X_GH = test_random_xform(&rng);
        scene_add(&s, tal_shape_half_space(), X_GH);
        scene_add(&s, shape, X_GS);
        const tal_vec3 d = tal_m3_tmul_v3(X_GS.R, X_GH.R.x);
        const double depth = support(&shape, d) + tal_v3_dot(X_GH.R.x, tal_v3_sub(X_GS.p, X_GH.p));

        const tali_detect_contact *contact = scene_detect(&s);

        ck_assert((contact != NULL) == (depth > 0.0));
        double deepest = 0.0;
        int last = -1;
        for (int i = 0; contact != NULL && i < contact->count; ++i) {
            const tali_detect_point *c = &s.store.points[contact->first + i];
            deepest = fmax(deepest, c->depth);
            ck_assert_int_gt(c->feature, last);
            last = c->feature;
            ck_assert_int_lt(last, tali_detect_pair_max_points(TAL_SHAPE_HALF_SPACE, shape.kind));
            // every point is within the solid, at its own depth
            const tal_vec3 p = tal_xf_inv_apply(X_GS, reach_of_2(c));
            ck_assert_double_le(tal_v3_dot(p, d), support(&shape, d) + ROUND);
            const double x = tal_v3_dot(X_GH.R.x, tal_v3_sub(reach_of_2(c), X_GH.p));
            ck_assert_double_eq_tol(x, c->depth, ROUND);
            const double r = shape.kind == TAL_SHAPE_TORUS ? shape.size.y : shape.edge_radius;
            ck_assert_double_eq(c->radius, r);
            ck_assert_double_eq_tol(c->curvature[0], r > 0.0 ? 1.0 / r : 0.0, 1e-12);
        }
        if (contact != NULL) ck_assert_double_eq_tol(deepest, depth, ROUND);
        scene_end(&s);
    }
}

END_TEST

// One point per corner that is below the plane, exactly there, whatever is round about it.
START_TEST(a_sharp_brick_touches_at_its_corners)
{
    test_rng rng = test_rng_seed(8);
    const tal_vec3 h = tal_v3(0.5, 0.7, 0.9);
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = scene_begin();
        const tal_xform X_GS = test_random_xform(&rng), X_GH = test_random_xform(&rng);
        scene_add(&s, tal_shape_half_space(), X_GH);
        scene_add(&s, tal_shape_brick(h, 0.0), X_GS);
        (void)scene_detect(&s);
        int count = 0;
        for (int corner = 0; corner < 8; ++corner) {
            const tal_vec3 p_S = tal_v3((corner & 1 ? 1 : -1) * h.x, (corner & 2 ? 1 : -1) * h.y,
                                        (corner & 4 ? 1 : -1) * h.z);
            const tal_vec3 p_G = tal_xf_apply(X_GS, p_S);
            const double x = tal_xf_inv_apply(X_GH, p_G).x;
            if (x <= 0.0) continue;
            const tali_detect_point *c = &s.store.points[count++];
            ck_assert_int_eq(c->feature, corner);
            ck_assert_double_eq_tol(c->depth, x, ROUND);
            test_assert_v3_near(reach_of_2(c), p_G, ROUND);
        }
        ck_assert_int_eq(s.store.num_points, count);
        scene_end(&s);
    }
}

END_TEST

// Moment about the shape's origin of unit springs at the points, and their force.
static tal_vec3 moment_of_springs(const scene *s, tal_vec3 origin, double *force)
{
    tal_vec3 moment = TAL_VEC3_ZERO;
    *force = 0.0;
    for (int i = 0; i < s->store.num_points; ++i) {
        const tali_detect_point *c = &s->store.points[i];
        const tal_vec3 push = tal_v3_scale(-c->depth, c->n_G); // the shape is surface 2
        moment = tal_v3_add(moment, tal_v3_cross(tal_v3_sub(c->p_G, origin), push));
        *force += c->depth;
    }
    return moment;
}

// A ring of radius R that is tilted by a small angle about any level axis e feels three equal
// springs: force 3 x, moment -3/2 R^2 angle e. Tilts in every direction give the same numbers,
// though the three points stand elsewhere each time.
START_TEST(a_ring_that_is_nearly_level_feels_no_jump)
{
    const double x = 0.1, angle = 1e-7, ring = 0.75, tube = 0.25;
    for (int i = 0; i <= 24; ++i) {
        scene s = scene_begin();
        const double way = 0.2618 * i;
        const tal_vec3 e = tal_v3(cos(way), sin(way), 0.0);
        const double turn = i == 24 ? 0.0 : angle;
        test_rng rng = test_rng_seed(9);
        scene_add(&s, tal_shape_half_space(),
                  scene_plane(&rng, TAL_VEC3_ZERO, tal_v3(0.0, 0.0, 1.0)));
        scene_add(&s, tal_shape_torus(ring, tube),
                  tal_xf(tal_rotation_from_angle_axis(turn, e), tal_v3(0.0, 0.0, tube - x)));
        (void)scene_detect(&s);
        ck_assert_int_eq(s.store.num_points, 3);
        double force = 0.0;
        const tal_vec3 moment = moment_of_springs(&s, s.X_GS[1].p, &force);
        // terms of second order are about angle^2 = 1e-14; the contact point is tube - x / 2 below
        // the ring, but on the same vertical, so only the radius counts
        ck_assert_double_eq_tol(force, 3.0 * x, ROUND);
        test_assert_v3_near(moment, tal_v3_scale(-1.5 * ring * ring * turn, e), ROUND);
        scene_end(&s);
    }
}

END_TEST

// ---- all pairs

static tal_shape example(int kind)
{
    switch (kind) {
    case TAL_SHAPE_SPHERE:
        return tal_shape_sphere(0.8);
    case TAL_SHAPE_ELLIPSOID:
        return tal_shape_ellipsoid(tal_v3(0.5, 0.7, 0.9));
    case TAL_SHAPE_CYLINDER:
        return tal_shape_cylinder(0.5, 0.9, 0.1);
    case TAL_SHAPE_BRICK:
        return tal_shape_brick(tal_v3(0.5, 0.7, 0.9), 0.05);
    case TAL_SHAPE_TORUS:
        return tal_shape_torus(0.8, 0.2);
    default:
        return tal_shape_half_space();
    }
}

// The partner of a kind: a half-space, and for spheres every other time a sphere.
static scene random_pair(test_rng *rng, int trial)
{
    scene s = scene_begin();
    const int kind = 1 + trial % 5;
    const bool are_spheres = kind == TAL_SHAPE_SPHERE && trial % 2 == 0;
    scene_add(&s, example(are_spheres ? TAL_SHAPE_SPHERE : TAL_SHAPE_HALF_SPACE),
              test_random_xform(rng));
    scene_add(&s, example(kind), test_random_xform(rng));
    return s;
}

START_TEST(a_common_motion_moves_contacts_along)
{
    test_rng rng = test_rng_seed(10);
    int num_points = 0;
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = random_pair(&rng, trial), t = scene_begin();
        const tal_xform X = test_random_xform(&rng);
        for (int i = 0; i < 2; ++i) {
            scene_add(&t, s.surfaces[i].shape, tal_xf_mul(X, s.X_GS[i]));
        }
        (void)scene_detect(&s);
        (void)scene_detect(&t);
        ck_assert_int_eq(s.store.num_points, t.store.num_points);
        num_points += t.store.num_points;
        for (int i = 0; i < s.store.num_points; ++i) {
            const tali_detect_point *a = &s.store.points[i], *b = &t.store.points[i];
            ck_assert_int_eq(a->feature, b->feature);
            ck_assert_double_eq_tol(a->depth, b->depth, ROUND);
            // the starting point of a ring is as good as the tilt of the ring: seldom below 0.01
            test_assert_v3_near(tal_xf_apply(X, a->p_G), b->p_G, 10.0 * ROUND);
            test_assert_v3_near(tal_m3_mul_v3(X.R, a->n_G), b->n_G, 10.0 * ROUND);
            test_assert_near(a->curvature, b->curvature, 2, 10.0 * ROUND, "curvatures");
        }
        scene_end(&s);
        scene_end(&t);
    }
    ck_assert_int_gt(num_points, TRIALS);
}

END_TEST

START_TEST(exchanging_the_surfaces_turns_the_normal_round_and_nothing_else)
{
    test_rng rng = test_rng_seed(11);
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = random_pair(&rng, trial), t = s;
        scene_alloc(&t, s.store.limits);
        scene_exchange(&t, 0, 1);
        (void)scene_detect(&s);
        (void)scene_detect(&t);
        ck_assert_int_eq(s.store.num_points, t.store.num_points);
        for (int i = 0; i < s.store.num_points; ++i) {
            const tali_detect_point *a = &s.store.points[i], *b = &t.store.points[i];
            ck_assert_int_eq(a->feature, b->feature);
            ck_assert_double_eq_tol(a->depth, b->depth, ROUND);
            test_assert_v3_near(a->p_G, b->p_G, ROUND);
            test_assert_v3_near(a->n_G, tal_v3_neg(b->n_G), ROUND);
            ck_assert_double_eq(a->radius, b->radius);
            ck_assert_double_eq_tol(tal_v3_norm(a->n_G), 1.0, ROUND);
            ck_assert_double_eq_tol(tal_v3_norm(a->axis_G), 1.0, ROUND);
            ck_assert_double_eq_tol(tal_v3_dot(a->n_G, a->axis_G), 0.0, ROUND);
        }
        scene_end(&s);
        scene_end(&t);
    }
}

END_TEST

// Energy of unit springs at the points, sum of depth^2 / 2.
static double energy_of_springs(scene *s)
{
    (void)scene_detect(s);
    double energy = 0.0;
    for (int i = 0; i < s->store.num_points; ++i) {
        energy += 0.5 * s->store.points[i].depth * s->store.points[i].depth;
    }
    return energy;
}

// Normals, points and depths belong together: along any motion of surface 2, springs of unit
// stiffness give the power that their energy loses. So forces along n have a potential, for the
// points that wander along a ring too.
START_TEST(springs_along_the_normals_lose_the_energy_they_give)
{
    test_rng rng = test_rng_seed(12);
    const double step = 1e-6;
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = random_pair(&rng, trial);
        const tal_xform X = s.X_GS[1];
        const tal_vec3 w = test_random_unit(&rng), v = test_random_vec3(&rng);
        (void)scene_detect(&s);
        double power = 0.0;
        for (int i = 0; i < s.store.num_points; ++i) {
            const tali_detect_point *c = &s.store.points[i];
            const tal_vec3 v_P = tal_v3_add(v, tal_v3_cross(w, tal_v3_sub(c->p_G, X.p)));
            power -= c->depth * tal_v3_dot(c->n_G, v_P);
        }
        double energy[2];
        for (int side = 0; side < 2; ++side) {
            const double t = side == 0 ? -step : step;
            const tal_mat3 R = tal_m3_mul(tal_rotation_from_angle_axis(t, w), X.R);
            s.X_GS[1] = tal_xf(R, tal_v3_axpy(t, v, X.p));
            energy[side] = energy_of_springs(&s);
        }
        // a point that appears within the step makes an error of the step times speed^2; third
        // derivatives are about 1 / tilt^2 times step^2, round-off eps / step
        ck_assert_double_eq_tol((energy[1] - energy[0]) / (2.0 * step), -power, 1e-5);
        scene_end(&s);
    }
}

END_TEST

// ---- shapes

START_TEST(shapes_with_bad_sizes_are_refused_by_name)
{
    const double nan = (double)NAN, inf = (double)INFINITY;

    const struct {
        tal_shape shape;
        tal_status status;
        const char *part;
    } cases[] = {
        {tal_shape_sphere(0.0), TAL_ERR_BAD_VALUE, "sphere 'ball': the radius is 0"},
        {tal_shape_sphere(-1.0), TAL_ERR_BAD_VALUE, "must be positive"},
        {tal_shape_sphere(nan), TAL_ERR_NOT_FINITE, "the radius is"},
        {tal_shape_ellipsoid(tal_v3(1.0, inf, 1.0)), TAL_ERR_NOT_FINITE, "semi-axis y is inf"},
        {tal_shape_cylinder(1.0, -2.0, 0.0), TAL_ERR_BAD_VALUE, "half length is -2"},
        {tal_shape_cylinder(1.0, 0.5, 0.6), TAL_ERR_BAD_VALUE, "rim radius is 0.6"},
        {tal_shape_brick(tal_v3(1.0, 1.0, 0.0), 0.0), TAL_ERR_BAD_VALUE, "half length z is 0"},
        {tal_shape_brick(tal_v3(1.0, 1.0, 1.0), -0.1), TAL_ERR_BAD_VALUE, "corner radius is -0.1"},
        {tal_shape_brick(tal_v3(1.0, 1.0, 1.0), nan), TAL_ERR_NOT_FINITE, "corner radius is NaN"},
        {tal_shape_torus(1.0, 1.0), TAL_ERR_BAD_VALUE, "less than the ring radius 1"},
        {tal_shape_mesh(NULL), TAL_ERR_NULL, "the mesh is NULL"},
        {{.kind = (tal_shape_kind)77}, TAL_ERR_BAD_VALUE, "no kind 77"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tal_error err;
        ck_assert_int_eq(tal_shape_check(&cases[i].shape, "ball", &err), cases[i].status);
        ck_assert_msg(strstr(err.message, cases[i].part) != NULL, "'%s' lacks '%s'", err.message,
                      cases[i].part);
        ck_assert(strstr(err.message, "'ball'") != NULL);
        ck_assert_int_eq(tal_shape_check(&cases[i].shape, NULL, NULL), cases[i].status);
    }
    for (int kind = 0; kind < TAL_SHAPE_MESH; ++kind) {
        const tal_shape good = example(kind);
        tal_error err;
        ck_assert_int_eq(tal_shape_check(&good, "good", &err), TAL_OK);
        ck_assert_int_eq(err.status, TAL_OK);
    }
    // as round as can be: a brick that is a ball, a cylinder without a rim
    const tal_shape round[] = {tal_shape_brick(tal_v3(1.0, 1.0, 1.0), 1.0),
                               tal_shape_cylinder(1.0, 0.5, 0.5)};
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(tal_shape_check(&round[i], "round", NULL), TAL_OK);
    }
    test_assert_breach((void)tal_shape_check(NULL, "x", NULL), TAL_ERR_NULL, "NULL");
}

END_TEST

START_TEST(kinds_have_names_and_know_their_partners)
{
    ck_assert_str_eq(tal_shape_kind_name(TAL_SHAPE_HALF_SPACE), "half-space");
    ck_assert_str_eq(tal_shape_kind_name(TAL_SHAPE_MESH), "mesh");
    ck_assert_str_eq(tal_shape_kind_name((tal_shape_kind)-1), "unknown");
    int count = 0;
    for (int a = 0; a < TAL_NUM_SHAPE_KINDS; ++a) {
        for (int b = 0; b < TAL_NUM_SHAPE_KINDS; ++b) {
            const bool can = tal_shape_can_touch((tal_shape_kind)a, (tal_shape_kind)b);
            ck_assert(can == tal_shape_can_touch((tal_shape_kind)b, (tal_shape_kind)a));
            count += can && a <= b;
        }
    }
    ck_assert_int_eq(count, TAL_NUM_SHAPE_KINDS * (TAL_NUM_SHAPE_KINDS + 1) / 2 - 1);
    ck_assert(!tal_shape_can_touch(TAL_SHAPE_HALF_SPACE, TAL_SHAPE_HALF_SPACE));
    ck_assert(!tal_shape_can_touch((tal_shape_kind)9, TAL_SHAPE_BRICK));
    ck_assert_int_eq(tali_detect_pair_max_points(TAL_SHAPE_BRICK, TAL_SHAPE_HALF_SPACE), 8);
    ck_assert_int_eq(tali_detect_pair_max_points(TAL_SHAPE_MESH, TAL_SHAPE_HALF_SPACE), 0);
    ck_assert(tali_detect_pair_has_faces(TAL_SHAPE_BRICK, TAL_SHAPE_BRICK));
    ck_assert(!tali_detect_pair_has_faces(TAL_SHAPE_BRICK, TAL_SHAPE_SPHERE));
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("contact geometry");
    TCase *closed = tcase_create("closed forms");
    tcase_add_test(closed, a_sphere_sinks_into_a_half_space_below_its_center);
    tcase_add_test(closed, spheres_touch_on_the_line_of_their_centers);
    tcase_add_test(closed, spheres_about_one_center_touch_along_the_axis_of_the_first);
    tcase_add_test(closed, what_only_just_touches_is_no_contact);
    tcase_add_test(closed, an_ellipsoid_touches_at_its_support_point_with_its_curvatures_there);
    tcase_add_test(closed, a_round_ellipsoid_is_a_sphere);
    tcase_add_test(closed, curvatures_of_a_needle_do_not_cancel);
    tcase_add_test(closed, the_deepest_point_of_a_rounded_solid_is_where_its_support_is);
    tcase_add_test(closed, a_sharp_brick_touches_at_its_corners);
    tcase_add_test(closed, a_ring_that_is_nearly_level_feels_no_jump);
    suite_add_tcase(suite, closed);
    TCase *all = tcase_create("all pairs");
    tcase_add_test(all, a_common_motion_moves_contacts_along);
    tcase_add_test(all, springs_along_the_normals_lose_the_energy_they_give);
    tcase_add_test(all, exchanging_the_surfaces_turns_the_normal_round_and_nothing_else);
    suite_add_tcase(suite, all);
    TCase *shapes = tcase_create("shapes");
    tcase_add_test(shapes, shapes_with_bad_sizes_are_refused_by_name);
    tcase_add_test(shapes, kinds_have_names_and_know_their_partners);
    suite_add_tcase(suite, shapes);
    return test_run(suite);
}
