// geometry/src/hull/: distances of convex solids against an independent minimizer; degenerate poses
// and bad input.
#include "alloc_guard.h"
#include "hull/hull_pair.h"

#include <stdlib.h>

// ---- an independent minimizer: all that vertices span

static double point_triangle(tal_vec3 p, tal_vec3 a, tal_vec3 b, tal_vec3 c)
{
    const tal_vec3 e = tal_v3_sub(b, a), f = tal_v3_sub(c, a), n = tal_v3_cross(e, f);
    const double nn = tal_v3_dot(n, n);
    if (nn < 1e-20) return (double)INFINITY;
    const tal_vec3 d = tal_v3_sub(p, a);
    const double v = tal_v3_dot(tal_v3_cross(d, f), n) / nn;
    const double w = tal_v3_dot(tal_v3_cross(e, d), n) / nn;
    if (v < 0.0 || w < 0.0 || v + w > 1.0) return (double)INFINITY; // an edge is nearer
    return fabs(tal_v3_dot(d, n)) / sqrt(nn);
}

static double clamp(double x)
{
    return fmin(fmax(x, 0.0), 1.0);
}

static double point_segment(tal_vec3 p, tal_vec3 a, tal_vec3 b)
{
    const tal_vec3 e = tal_v3_sub(b, a);
    const double ee = tal_v3_dot(e, e);
    const double s = ee > 0.0 ? clamp(tal_v3_dot(tal_v3_sub(p, a), e) / ee) : 0.0;
    return tal_v3_norm(tal_v3_sub(p, tal_v3_axpy(s, e, a)));
}

// Within both, or at an end of one.
static double segment_segment(tal_vec3 a, tal_vec3 b, tal_vec3 c, tal_vec3 d)
{
    double least = fmin(fmin(point_segment(a, c, d), point_segment(b, c, d)),
                        fmin(point_segment(c, a, b), point_segment(d, a, b)));
    const tal_vec3 e = tal_v3_sub(b, a), f = tal_v3_sub(d, c), r = tal_v3_sub(a, c);
    const double ee = tal_v3_dot(e, e), ff = tal_v3_dot(f, f), ef = tal_v3_dot(e, f);
    const double det = ee * ff - ef * ef;
    if (det < 1e-14 * ee * ff) return least;
    const double s = (ef * tal_v3_dot(f, r) - ff * tal_v3_dot(e, r)) / det;
    const double t = (ee * tal_v3_dot(f, r) - ef * tal_v3_dot(e, r)) / det;
    if (s < 0.0 || s > 1.0 || t < 0.0 || t > 1.0) return least;
    const tal_vec3 gap = tal_v3_sub(tal_v3_axpy(s, e, a), tal_v3_axpy(t, f, c));
    return fmin(least, tal_v3_norm(gap));
}

static int vertices_of(const tal_hull *hull, const tal_xform *X, tal_vec3 out[])
{
    const int n = tal_hull_num_vertices(hull);
    for (int i = 0; i < n; ++i) {
        out[i] = tal_xf_apply(*X, tal_hull_vertex(hull, i));
    }
    return n;
}

static double triangles(const tal_vec3 p[], int n, const tal_vec3 q[], int m)
{
    double least = (double)INFINITY;
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
            for (int k = j + 1; k < n; ++k) {
                for (int l = 0; l < m; ++l) {
                    least = fmin(least, point_triangle(q[l], p[i], p[j], p[k]));
                }
            }
        }
    }
    return least;
}

// Of cores that do not overlap.
static double least_distance(const two *t)
{
    tal_vec3 p[12], q[12];
    const int n = vertices_of(t->a, &t->X_GA, p), m = vertices_of(t->b, &t->X_GB, q);
    double least = fmin(triangles(p, n, q, m), triangles(q, m, p, n));
    for (int i = 0; i < n; ++i) {
        for (int j = i; j < n; ++j) {
            for (int k = 0; k < m; ++k) {
                for (int l = k; l < m; ++l) {
                    least = fmin(least, segment_segment(p[i], p[j], q[k], q[l]));
                }
            }
        }
    }
    return least;
}

static double between_along(const tal_vec3 p[], int n, const tal_vec3 q[], int m, tal_vec3 d)
{
    double low_p = (double)INFINITY, high_p = -low_p, low_q = low_p, high_q = high_p;
    const double length = tal_v3_norm(d);
    if (length < 1e-9) return -(double)INFINITY;
    for (int i = 0; i < n; ++i) {
        low_p = fmin(low_p, tal_v3_dot(d, p[i]));
        high_p = fmax(high_p, tal_v3_dot(d, p[i]));
    }
    for (int i = 0; i < m; ++i) {
        low_q = fmin(low_q, tal_v3_dot(d, q[i]));
        high_q = fmax(high_q, tal_v3_dot(d, q[i]));
    }
    return fmax(low_p - high_q, low_q - high_p) / length;
}

// The most that cores are apart along any axis that their vertices span; negative: they overlap.
static double most_apart(const two *t)
{
    tal_vec3 p[12], q[12], e[200];
    const int n = vertices_of(t->a, &t->X_GA, p), m = vertices_of(t->b, &t->X_GB, q);
    int k = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
            e[k++] = tal_v3_sub(p[j], p[i]);
        }
    }
    for (int i = 0; i < m; ++i) {
        for (int j = i + 1; j < m; ++j) {
            e[k++] = tal_v3_sub(q[j], q[i]);
        }
    }
    double most = -(double)INFINITY;
    for (int i = 0; i < k; ++i) {
        for (int j = i + 1; j < k; ++j) {
            most = fmax(most, between_along(p, n, q, m, tal_v3_cross(e[i], e[j])));
        }
    }
    return most;
}

// ---- distance

// What is asked is a few hundred operations on numbers of about 1, the distance a root of a sum of
// squares: 1e-10 is the promise, of which round-off takes far less.
START_TEST(the_distance_is_that_of_an_independent_minimizer)
{
    test_rng rng = test_rng_seed(1);
    const int trials = getenv("TALUS_SOAK") != NULL ? 20000 : 600;
    int near = 0, overlapping = 0;
    for (int trial = 0; trial < trials; ++trial) {
        two t;
        random_two(&rng, trial, test_random_uniform(&rng, 0.0, 4.0), &t);
        ask(&t, 10.0);
        const double radii = tal_hull_radius(t.a) + tal_hull_radius(t.b);
        const bool has_faces = tal_hull_num_faces(t.a) + tal_hull_num_faces(t.b) > 0;
        const double apart = has_faces ? most_apart(&t) : 1.0;
        if (apart > 0.0) {
            ck_assert_double_eq_tol(t.touch.distance, least_distance(&t) - radii, 1e-10);
            ++near;
        } else {
            ck_assert_double_eq_tol(t.touch.distance, apart - radii, 1e-10);
            ++overlapping;
        }
        // one of the points is as near, none is nearer, and the normal is one
        double least = (double)INFINITY;
        ck_assert_int_gt(t.touch.num_points, 0);
        for (int i = 0; i < t.touch.num_points; ++i) {
            least = fmin(least, t.points[i].gap);
        }
        ck_assert_double_eq_tol(tal_v3_norm(t.touch.n_G), 1.0, ROUND);
        if (apart > 0.0) ck_assert_double_eq_tol(least, t.touch.distance, 1e-9);
        end(&t);
    }
    ck_assert_int_gt(near, trials / 4);
    ck_assert_int_gt(overlapping, trials / 20);
}

END_TEST

// Whether each point of one answer is one of the other, with the gap it has there.
static void check_same_points(const two *t, const two *u, const tal_xform *X)
{
    ck_assert_int_eq(t->touch.num_points, u->touch.num_points);
    for (int i = 0; i < t->touch.num_points; ++i) {
        const tal_vec3 p = tal_xf_apply(*X, t->points[i].p_G);
        bool found = false;
        for (int j = 0; j < u->touch.num_points && !found; ++j) {
            found = tal_v3_norm(tal_v3_sub(p, u->points[j].p_G)) < 1e-6 &&
                    fabs(t->points[i].gap - u->points[j].gap) < 1e-9;
        }
        ck_assert_msg(found, "point %d of %d", i, t->touch.num_points);
    }
}

START_TEST(exchanging_the_two_reverses_the_normal_and_leaves_all_else)
{
    test_rng rng = test_rng_seed(2);
    for (int trial = 0; trial < 500; ++trial) {
        two t;
        random_two(&rng, trial, test_random_uniform(&rng, 0.5, 2.5), &t);
        ask(&t, 0.3);
        two u = t;
        exchange(&u);
        ask(&u, 0.3);
        ck_assert_double_eq_tol(t.touch.distance, u.touch.distance, 1e-10);
        if (t.touch.num_points > 0) {
            test_assert_v3_near(t.touch.n_G, tal_v3_neg(u.touch.n_G), 1e-7);
            const tal_xform nowhere = TAL_XFORM_IDENTITY;
            check_same_points(&t, &u, &nowhere);
        }
        end(&t);
    }
}

END_TEST

START_TEST(a_common_motion_moves_points_along)
{
    test_rng rng = test_rng_seed(3);
    for (int trial = 0; trial < 300; ++trial) {
        two t;
        random_two(&rng, trial, test_random_uniform(&rng, 0.5, 2.0), &t);
        ask(&t, 0.3);
        const tal_xform X =
            tal_xf(test_random_rotation(&rng), tal_v3_scale(100.0, test_random_vec3(&rng)));
        two u = t;
        u.X_GA = tal_xf_mul(X, t.X_GA);
        u.X_GB = tal_xf_mul(X, t.X_GB);
        ask(&u, 0.3);
        ck_assert_double_eq_tol(t.touch.distance, u.touch.distance, 1e-10);
        if (t.touch.num_points > 0) check_same_points(&t, &u, &X);
        end(&t);
    }
}

END_TEST

// No point of a moves farther than the step plus its distance from the origin times the angle.
START_TEST(the_distance_is_continuous)
{
    test_rng rng = test_rng_seed(4);
    for (int trial = 0; trial < 200; ++trial) {
        two t;
        random_two(&rng, trial, 2.0, &t);
        const tal_vec3 step = tal_v3_scale(-0.0213, tal_v3_sub(t.X_GA.p, t.X_GB.p));
        const tal_mat3 turn = tal_rotation_about(TAL_AXIS_Z, 0.01);
        double last = (double)NAN;
        for (int i = 0; i < 60; ++i) {
            ask(&t, 10.0);
            const double most = 0.0426 + 0.01 * 2.0 + 1e-9;
            if (i > 0) ck_assert_double_le(fabs(t.touch.distance - last), most);
            last = t.touch.distance;
            t.X_GA.p = tal_v3_add(t.X_GA.p, step);
            t.X_GA.R = tal_m3_mul(turn, t.X_GA.R);
        }
        end(&t);
    }
}

END_TEST

// ---- degenerate poses, bad input

START_TEST(a_normal_that_is_not_defined_is_a_status)
{
    const tal_shape shapes[] = {tal_shape_sphere(0.5), tal_shape_capsule(0.2, 1.0)};
    for (int i = 0; i < 4; ++i) {
        two t = begin(shapes[i / 2], shapes[i % 2]);
        ck_assert_int_eq(tal_hull_calc_touch(t.a, &t.X_GA, t.b, &t.X_GB, 0.1, t.points, MOST_POINTS,
                                             t.work, &t.touch),
                         TAL_ERR_SINGULAR);
        end(&t);
    }
    // capsules that cross have one
    two t = begin(shapes[1], shapes[1]);
    t.X_GA.R = tal_rotation_about(TAL_AXIS_X, 0.5 * TAL_PI);
    ask(&t, 0.1);
    ck_assert_double_eq_tol(t.touch.distance, -0.4, ROUND);
    ck_assert_double_eq_tol(fabs(t.touch.n_G.x), 1.0, ROUND);
    end(&t);
}

END_TEST

// Whatever the pose, numbers are finite and there is a point.
START_TEST(poses_that_fall_together_give_finite_points)
{
    test_rng rng = test_rng_seed(7);
    for (int trial = 0; trial < 500; ++trial) {
        two t;
        random_two(&rng, trial, 0.0, &t);
        const double steps[] = {0.0, 1.0, 2.0, 1e-9, 1e-15};
        const tal_vec3 shift =
            tal_v3(steps[trial % 5], steps[trial / 5 % 5], steps[trial / 25 % 5]);
        t.X_GA = TAL_XFORM_IDENTITY;
        t.X_GB = tal_xf_from_p(shift);
        const tal_status st = tal_hull_calc_touch(t.a, &t.X_GA, t.b, &t.X_GB, 10.0, t.points,
                                                  MOST_POINTS, t.work, &t.touch);
        ck_assert(st == TAL_OK || st == TAL_ERR_SINGULAR);
        if (st == TAL_OK) {
            ck_assert_int_gt(t.touch.num_points, 0);
            ck_assert(isfinite(t.touch.distance));
        }
        for (int i = 0; st == TAL_OK && i < t.touch.num_points; ++i) {
            ck_assert(tal_v3_is_finite(t.points[i].p_G) && isfinite(t.points[i].gap));
        }
        end(&t);
    }
}

END_TEST

START_TEST(more_points_than_fit_are_counted)
{
    two t = begin(tal_shape_brick(tal_v3(1.0, 1.0, 1.0), 0.0), tal_shape_half_space());
    t.X_GB = floor_at(-1.0);
    ck_assert_int_eq(
        tal_hull_calc_touch(t.a, &t.X_GA, t.b, &t.X_GB, 0.1, t.points, 3, t.work, &t.touch),
        TAL_ERR_CAPACITY);
    ck_assert_int_eq(t.touch.num_points, 4);
    t.X_GA.p.x = (double)NAN;
    ck_assert_int_eq(
        tal_hull_calc_touch(t.a, &t.X_GA, t.b, &t.X_GB, 0.1, t.points, 3, t.work, &t.touch),
        TAL_ERR_NOT_FINITE);
    test_assert_refused(
        tal_hull_calc_touch(t.b, &t.X_GB, t.b, &t.X_GB, 0.1, t.points, 3, t.work, &t.touch),
        TAL_ERR_BAD_VALUE, "half-spaces");
    ck_assert(!tal_hull_can_touch(t.b, t.b) && tal_hull_can_touch(t.a, t.b));
    end(&t);
}

END_TEST

static void check_refused(tal_shape shape, const char *part)
{
    tal_hull *hull = NULL;
    tal_error err;
    ck_assert_int_eq(tal_hull_create(NULL, &shape, "shoe", &hull, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(hull);
    ck_assert_msg(strstr(err.message, part) != NULL && strstr(err.message, "'shoe'") != NULL, "%s",
                  err.message);
}

START_TEST(shapes_that_are_not_convex_are_refused_by_name)
{
    check_refused(tal_shape_torus(1.0, 0.2), "torus");
    check_refused(tal_shape_ellipsoid(tal_v3(1.0, 2.0, 3.0)), "ellipsoid");
    check_refused(tal_shape_sphere(-1.0), "radius");
    // a tetrahedron with a dent: its top is below the middle of its base
    const tal_vec3 vertices[] = {
        {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {-1.0, -1.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, 0.0, 0.5}};
    const int faces[] = {0, 1, 3, 1, 2, 3, 2, 0, 3, 1, 0, 4, 2, 1, 4, 0, 2, 4};
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create(NULL, vertices, 5, faces, 6, &mesh, NULL), TAL_OK);
    check_refused(tal_shape_mesh(mesh), "not convex");
    tal_mesh_destroy(mesh);
}

END_TEST

START_TEST(asking_allocates_nothing_and_gives_the_same_bytes)
{
    test_rng rng = test_rng_seed(8);
    for (int trial = 0; trial < 50; ++trial) {
        two t;
        random_two(&rng, trial, 1.2, &t);
        ask(&t, 0.1);
        tal_status st = TAL_OK;
        test_assert_no_heap(st = tal_hull_calc_touch(t.a, &t.X_GA, t.b, &t.X_GB, 0.1, t.points,
                                                     MOST_POINTS, t.work, &t.touch));
        ck_assert_int_eq(st, TAL_OK);
        const two once = t;
        ask(&t, 0.1);
        ck_assert_mem_eq(&once.touch, &t.touch, sizeof t.touch);
        ck_assert_mem_eq(once.points, t.points, sizeof t.points);
        end(&t);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("hull");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600.0);
    tcase_add_test(all, the_distance_is_that_of_an_independent_minimizer);
    tcase_add_test(all, exchanging_the_two_reverses_the_normal_and_leaves_all_else);
    tcase_add_test(all, a_common_motion_moves_points_along);
    tcase_add_test(all, the_distance_is_continuous);
    tcase_add_test(all, a_normal_that_is_not_defined_is_a_status);
    tcase_add_test(all, poses_that_fall_together_give_finite_points);
    tcase_add_test(all, more_points_than_fit_are_counted);
    tcase_add_test(all, shapes_that_are_not_convex_are_refused_by_name);
    tcase_add_test(all, asking_allocates_nothing_and_gives_the_same_bytes);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
