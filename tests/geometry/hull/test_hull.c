// Tests for geometry/src/hull/: convex solids, how far apart they are, where they touch.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/geometry.h>

#include <float.h>
#include <stdlib.h>

enum {
    MOST_POINTS = 64,
    WORK = 4000
};

// Sizes and positions are about 1 and a distance takes some hundred operations.
#define ROUND 1e-12

typedef struct two {
    tal_hull *a, *b;
    tal_xform X_GA, X_GB;
    tal_touch touch;
    tal_touch_point points[MOST_POINTS];
    double work[WORK];
} two;

static tal_hull *make(tal_shape shape)
{
    tal_hull *hull = NULL;
    tal_error err = {.status = TAL_OK};
    const tal_status st = tal_hull_create(NULL, &shape, "it", &hull, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return hull;
}

static two begin(tal_shape a, tal_shape b)
{
    return (two){
        .a = make(a), .b = make(b), .X_GA = TAL_XFORM_IDENTITY, .X_GB = TAL_XFORM_IDENTITY};
}

static void end(two *t)
{
    tal_hull_destroy(t->a);
    tal_hull_destroy(t->b);
}

// No more work memory is touched than was asked for.
static void ask(two *t, double reach)
{
    bool is_kept = true;
    const size_t size = tal_touch_work_size(t->a, t->b);
    ck_assert_uint_le(size, WORK);
    for (size_t i = size; i < WORK; ++i) {
        t->work[i] = -7.0;
    }
    ck_assert_int_eq(tal_hull_calc_touch(t->a, &t->X_GA, t->b, &t->X_GB, reach, t->points,
                                         MOST_POINTS, t->work, &t->touch),
                     TAL_OK);
    for (size_t i = size; i < WORK; ++i) {
        is_kept = is_kept && t->work[i] == -7.0;
    }
    ck_assert(is_kept);
}

// ---- random solids

static tal_mesh *random_mesh(test_rng *rng)
{
    tal_mesh *sphere = NULL, *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, 0, &sphere, NULL), TAL_OK);
    tal_vec3 vertices[12];
    int faces[60];
    const tal_vec3 stretch =
        tal_v3(test_random_uniform(rng, 0.3, 1.0), test_random_uniform(rng, 0.3, 1.0),
               test_random_uniform(rng, 0.3, 1.0));
    for (int i = 0; i < 12; ++i) {
        vertices[i] =
            tal_v3_add(tal_v3_mul(stretch, tal_mesh_vertex(sphere, i)), tal_v3(0.1, -0.2, 0.3));
    }
    for (int f = 0; f < 20; ++f) {
        tal_mesh_face(sphere, f, faces + 3 * f);
    }
    ck_assert_int_eq(tal_mesh_create(NULL, vertices, 12, faces, 20, &mesh, NULL), TAL_OK);
    tal_mesh_destroy(sphere);
    return mesh;
}

// A sphere, a capsule, a brick, a rounded brick or a mesh.
static tal_hull *random_hull(test_rng *rng, int kind)
{
    const double a = test_random_uniform(rng, 0.2, 1.0), b = test_random_uniform(rng, 0.2, 1.0);
    const double c = test_random_uniform(rng, 0.2, 1.0);
    if (kind == 0) return make(tal_shape_sphere(a));
    if (kind == 1) return make(tal_shape_capsule(0.5 * a, 0.5 * a + b));
    if (kind == 2) return make(tal_shape_brick(tal_v3(a, b, c), 0.0));
    if (kind == 3) return make(tal_shape_brick(tal_v3(a, b, c), 0.1));
    tal_mesh *mesh = random_mesh(rng);
    tal_hull *hull = make(tal_shape_mesh(mesh));
    tal_mesh_destroy(mesh);
    return hull;
}

enum {
    NUM_KINDS = 5
};

static void random_two(test_rng *rng, int trial, double spread, two *t)
{
    *t = (two){.a = random_hull(rng, trial % NUM_KINDS),
               .b = random_hull(rng, trial / NUM_KINDS % NUM_KINDS)};
    t->X_GA = tal_xf(test_random_rotation(rng), test_random_vec3(rng));
    t->X_GB =
        tal_xf(test_random_rotation(rng), tal_v3_axpy(spread, test_random_unit(rng), t->X_GA.p));
}

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

static void exchange(two *t)
{
    tal_hull *hull = t->a;
    const tal_xform X = t->X_GA;
    t->a = t->b;
    t->X_GA = t->X_GB;
    t->b = hull;
    t->X_GB = X;
}

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

// ---- points: closed forms

static const double half_turn = 3.14159265358979323846;

// A half-space whose outward normal is z, as b.
static tal_xform floor_at(double z)
{
    return tal_xf(tal_rotation_about(TAL_AXIS_Y, 0.5 * half_turn), tal_v3(0.0, 0.0, z));
}

START_TEST(a_brick_touches_a_plane_at_four_corners_an_edge_at_two_a_corner_at_one)
{
    two t = begin(tal_shape_brick(tal_v3(0.5, 0.3, 0.2), 0.0), tal_shape_half_space());
    t.X_GB = floor_at(-0.25);
    ask(&t, 0.1);
    ck_assert_double_eq_tol(t.touch.distance, 0.05, ROUND);
    test_assert_v3_near(t.touch.n_G, tal_v3(0.0, 0.0, 1.0), ROUND);
    ck_assert_int_eq(t.touch.num_points, 4);
    for (int i = 0; i < 4; ++i) {
        ck_assert_double_eq_tol(fabs(t.points[i].p_G.x), 0.5, ROUND);
        ck_assert_double_eq_tol(fabs(t.points[i].p_G.y), 0.3, ROUND);
        ck_assert_double_eq_tol(t.points[i].p_G.z, -0.225, ROUND);
        ck_assert_double_eq_tol(t.points[i].gap, 0.05, ROUND);
    }
    t.X_GA.R = tal_rotation_about(TAL_AXIS_Y, 0.3);
    ask(&t, 0.1);
    ck_assert_int_eq(t.touch.num_points, 2);
    ck_assert_double_eq_tol(t.touch.distance, 0.25 - 0.5 * sin(0.3) - 0.2 * cos(0.3), ROUND);
    t.X_GA.R = tal_m3_mul(t.X_GA.R, tal_rotation_about(TAL_AXIS_X, 0.3));
    ask(&t, 0.1);
    ck_assert_int_eq(t.touch.num_points, 1);
    // the same from below
    exchange(&t);
    ask(&t, 0.1);
    ck_assert_int_eq(t.touch.num_points, 1);
    test_assert_v3_near(t.touch.n_G, tal_v3(0.0, 0.0, -1.0), ROUND);
    end(&t);
}

END_TEST

// A prism over a polygon of `n` corners, half a meter high, with a vertex within each end.
static tal_hull *prism(int n)
{
    tal_vec3 vertices[2 * 12 + 2];
    int faces[12 * 12];
    int count = 0;
    for (int i = 0; i < n; ++i) {
        const double angle = 2.0 * half_turn * i / n;
        vertices[i] = tal_v3(cos(angle), sin(angle), 0.0);
        vertices[n + i] = tal_v3(cos(angle), sin(angle), 0.5);
        const int j = (i + 1) % n;
        const int of[12] = {2 * n, j, i, 2 * n + 1, n + i, n + j, i, j, n + i, j, n + j, n + i};
        memcpy(faces + 12 * i, of, sizeof of);
        count += 4;
    }
    vertices[2 * n] = tal_v3(0.0, 0.1, 0.0);
    vertices[2 * n + 1] = tal_v3(0.1, 0.0, 0.5);
    tal_mesh *mesh = NULL;
    tal_error err;
    const tal_status st = tal_mesh_create(NULL, vertices, 2 * n + 2, faces, count, &mesh, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    tal_hull *hull = make(tal_shape_mesh(mesh));
    tal_mesh_destroy(mesh);
    return hull;
}

START_TEST(a_pentagon_touches_at_five_points_and_none_within)
{
    for (int n = 3; n <= 12; ++n) {
        two t = {.a = prism(n), .b = make(tal_shape_half_space())};
        ck_assert_int_eq(tal_hull_num_vertices(t.a), 2 * n);
        ck_assert_int_eq(tal_hull_num_faces(t.a), n + 2);
        t.X_GA = tal_xf_from_p(tal_v3(3.0, -2.0, 0.01));
        t.X_GB = floor_at(0.0);
        ask(&t, 0.02);
        ck_assert_int_eq(t.touch.num_points, n);
        ck_assert_double_eq_tol(t.touch.distance, 0.01, ROUND);
        // on a brick that is larger, and on one that is smaller
        tal_hull_destroy(t.b);
        t.b = make(tal_shape_brick(tal_v3(9.0, 9.0, 1.0), 0.0));
        t.X_GB = tal_xf_from_p(tal_v3(0.0, 0.0, -1.0));
        ask(&t, 0.02);
        ck_assert_int_eq(t.touch.num_points, n);
        tal_hull_destroy(t.b);
        t.b = make(tal_shape_brick(tal_v3(0.2, 0.2, 1.0), 0.0));
        t.X_GB = tal_xf_from_p(tal_v3(3.0, -2.0, -1.0));
        ask(&t, 0.02);
        ck_assert_int_eq(t.touch.num_points, 4);
        ck_assert_double_eq_tol(t.touch.distance, 0.01, ROUND);
        end(&t);
    }
}

END_TEST

// Brick over brick: two squares turned by an eighth of a turn overlap in an octagon; bricks side by
// side overlap in a strip.
START_TEST(faces_touch_at_the_corners_of_what_they_have_in_common)
{
    two t = begin(tal_shape_brick(tal_v3(1.0, 1.0, 0.5), 0.0),
                  tal_shape_brick(tal_v3(1.0, 1.0, 0.5), 0.0));
    t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_Z, 0.25 * half_turn), tal_v3(0.0, 0.0, 1.001));
    ask(&t, 0.01);
    ck_assert_int_eq(t.touch.num_points, 8);
    for (int i = 0; i < 8; ++i) {
        // an octagon about a circle of radius 1
        const tal_vec3 p = t.points[i].p_G;
        ck_assert_double_eq_tol(hypot(p.x, p.y), 1.0 / cos(half_turn / 8.0), ROUND);
        ck_assert_double_eq_tol(p.z, 0.5005, ROUND);
        ck_assert_double_eq_tol(t.points[i].gap, 0.001, ROUND);
    }
    t.X_GA = tal_xf_from_p(tal_v3(0.5, 0.25, 0.999));
    ask(&t, 0.01);
    ck_assert_int_eq(t.touch.num_points, 4);
    ck_assert_double_eq_tol(t.touch.distance, -0.001, ROUND);
    for (int i = 0; i < 4; ++i) {
        const tal_vec3 p = t.points[i].p_G;
        ck_assert(fabs(p.x + 0.5) < ROUND || fabs(p.x - 1.0) < ROUND);
        ck_assert(fabs(p.y + 0.75) < ROUND || fabs(p.y - 1.0) < ROUND);
    }
    // exactly on top: the corners are where both have one, and there is one point for each
    t.X_GA = tal_xf_from_p(tal_v3(0.0, 0.0, 1.0));
    ask(&t, 0.01);
    ck_assert_int_eq(t.touch.num_points, 4);
    ck_assert_double_eq_tol(t.touch.distance, 0.0, ROUND);
    end(&t);
}

END_TEST

START_TEST(edges_cross_at_one_point_and_lie_on_each_other_at_two)
{
    two t = begin(tal_shape_brick(tal_v3(1.0, 1.0, 1.0), 0.0),
                  tal_shape_brick(tal_v3(1.0, 1.0, 1.0), 0.0));
    // edges up and down: a turned about x, b about y
    t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_X, 0.25 * half_turn),
                    tal_v3(0.1, 0.2, 2.0 * sqrt(2.0) + 0.01));
    t.X_GB.R = tal_rotation_about(TAL_AXIS_Y, 0.25 * half_turn);
    ask(&t, 0.05);
    ck_assert_int_eq(t.touch.num_points, 1);
    ck_assert_double_eq_tol(t.touch.distance, 0.01, ROUND);
    test_assert_v3_near(t.touch.n_G, tal_v3(0.0, 0.0, 1.0), ROUND);
    test_assert_v3_near(t.points[0].p_G, tal_v3(0.0, 0.2, sqrt(2.0) + 0.005), ROUND);
    t.X_GA.p.z -= 0.02;
    ask(&t, 0.05);
    ck_assert_int_eq(t.touch.num_points, 1);
    ck_assert_double_eq_tol(t.touch.distance, -0.01, ROUND);
    // parallel edges, tip on tip, overlapping along half their length
    t.X_GA = tal_xf(t.X_GB.R, tal_v3(0.0, 1.0, 2.0 * sqrt(2.0) + 0.01));
    ask(&t, 0.05);
    ck_assert_int_eq(t.touch.num_points, 2);
    ck_assert_double_eq_tol(t.touch.distance, 0.01, 1e-10);
    ck_assert_double_eq_tol(fabs(t.points[0].p_G.y - t.points[1].p_G.y), 1.0, 1e-9);
    end(&t);
}

END_TEST

START_TEST(round_solids_touch_where_their_cores_are_nearest)
{
    two t = begin(tal_shape_sphere(0.5), tal_shape_sphere(0.25));
    t.X_GB.p = tal_v3(0.0, 0.8, 0.0);
    ask(&t, 0.1);
    ck_assert_int_eq(t.touch.num_points, 1);
    ck_assert_double_eq_tol(t.touch.distance, 0.05, ROUND);
    test_assert_v3_near(t.touch.n_G, tal_v3(0.0, -1.0, 0.0), ROUND);
    test_assert_v3_near(t.points[0].p_G, tal_v3(0.0, 0.525, 0.0), ROUND);
    end(&t);
    // a capsule lies on a brick on two points; standing, on one; its core is 1 long either way
    t = begin(tal_shape_capsule(0.1, 1.1), tal_shape_brick(tal_v3(2.0, 2.0, 1.0), 0.0));
    t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_Y, 0.5 * half_turn), tal_v3(0.0, 0.0, 1.1));
    ask(&t, 0.05);
    ck_assert_int_eq(t.touch.num_points, 2);
    ck_assert_double_eq_tol(t.touch.distance, 0.0, ROUND);
    ck_assert_double_eq_tol(fabs(t.points[0].p_G.x), 1.0, ROUND);
    t.X_GA = tal_xf_from_p(tal_v3(0.0, 0.0, 2.09));
    ask(&t, 0.05);
    ck_assert_int_eq(t.touch.num_points, 1);
    ck_assert_double_eq_tol(t.touch.distance, -0.01, ROUND);
    end(&t);
    // a ball beside an edge of a brick
    t = begin(tal_shape_sphere(0.5), tal_shape_brick(tal_v3(1.0, 1.0, 1.0), 0.0));
    t.X_GA.p = tal_v3(1.3, 0.2, 1.4);
    ask(&t, 0.1);
    ck_assert_double_eq_tol(t.touch.distance, 0.0, ROUND);
    test_assert_v3_near(t.touch.n_G, tal_v3(0.6, 0.0, 0.8), ROUND);
    end(&t);
    // a standing cylinder: the corners of its prism
    t = begin(tal_shape_cylinder(0.3, 0.5, 0.0), tal_shape_half_space());
    t.X_GB = floor_at(-0.5);
    ask(&t, 0.1);
    ck_assert_int_eq(t.touch.num_points, 24);
    end(&t);
}

END_TEST

// ---- the cone of wrenches

// Whether a place is within the points, seen along z, up to a slack.
static bool is_within(const two *t, double x, double y, double slack)
{
    // within a convex polygon if no line through it has all corners on one side: try the lines
    // along all pairs of corners
    const int n = t->touch.num_points;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            const tal_vec3 a = t->points[i].p_G, b = t->points[j].p_G;
            const double length = hypot(b.x - a.x, b.y - a.y);
            if (i == j) continue;
            double most = -(double)INFINITY;
            for (int k = 0; k < n; ++k) {
                const tal_vec3 c = t->points[k].p_G;
                const double d = ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / length;
                most = fmax(most, d);
            }
            const double at = ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) / length;
            if (most < slack && at > slack) return false;
        }
    }
    return true;
}

// A push along the normal at any place that both faces have is a sum of pushes at the points, and
// no point can be left out.
START_TEST(points_have_the_same_cone_of_wrenches_as_the_faces)
{
    test_rng rng = test_rng_seed(5);
    for (int trial = 0; trial < 300; ++trial) {
        const tal_vec3 ha =
            tal_v3(test_random_uniform(&rng, 0.2, 1.0), test_random_uniform(&rng, 0.2, 1.0), 0.5);
        const tal_vec3 hb =
            tal_v3(test_random_uniform(&rng, 0.2, 1.0), test_random_uniform(&rng, 0.2, 1.0), 0.5);
        two t = begin(tal_shape_brick(ha, 0.0), tal_shape_brick(hb, 0.0));
        const double angle = test_random_uniform(&rng, 0.0, 3.0);
        t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_Z, angle),
                        tal_v3(test_random_uniform(&rng, -0.5, 0.5),
                               test_random_uniform(&rng, -0.5, 0.5), 1.0));
        ask(&t, 1e-3);
        for (int k = 0; k < 100 && t.touch.num_points > 0; ++k) {
            const tal_vec3 p = tal_v3(test_random_uniform(&rng, -hb.x, hb.x),
                                      test_random_uniform(&rng, -hb.y, hb.y), 0.5);
            const tal_vec3 in_a = tal_xf_inv_apply(t.X_GA, p);
            const bool is_common = fabs(in_a.x) <= ha.x && fabs(in_a.y) <= ha.y;
            const bool is_near_border =
                fabs(fabs(in_a.x) - ha.x) < 1e-4 || fabs(fabs(in_a.y) - ha.y) < 1e-4;
            if (!is_near_border) ck_assert(is_common == is_within(&t, p.x, p.y, 1e-9));
        }
        for (int i = 0; i < t.touch.num_points && t.touch.num_points > 3; ++i) {
            two without = t;
            without.points[i] = without.points[--without.touch.num_points];
            ck_assert(!is_within(&without, t.points[i].p_G.x, t.points[i].p_G.y, 1e-10));
        }
        end(&t);
    }
}

END_TEST

// ---- features

static bool has_feature(const two *t, uint64_t feature)
{
    for (int i = 0; i < t->touch.num_points; ++i) {
        if (t->points[i].feature == feature) return true;
    }
    return false;
}

START_TEST(features_are_distinct_and_stay_while_solids_move_a_little)
{
    test_rng rng = test_rng_seed(6);
    for (int trial = 0; trial < 100; ++trial) {
        two t = begin(tal_shape_brick(tal_v3(1.0, 0.8, 0.5), 0.0),
                      tal_shape_brick(tal_v3(0.9, 1.0, 0.5), 0.0));
        t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_Z, 0.3), tal_v3(0.11, 0.22, 1.0));
        ask(&t, 0.01);
        ck_assert_int_ge(t.touch.num_points, 4);
        for (int i = 0; i < t.touch.num_points; ++i) {
            for (int j = 0; j < i; ++j) {
                ck_assert(t.points[i].feature != t.points[j].feature);
            }
        }
        two u = t;
        u.X_GA.p = tal_v3_axpy(1e-4, test_random_vec3(&rng), t.X_GA.p);
        u.X_GA.R = tal_m3_mul(tal_rotation_about(TAL_AXIS_X, 1e-4 * (trial % 3 - 1)), t.X_GA.R);
        ask(&u, 0.01);
        ck_assert_int_eq(u.touch.num_points, t.touch.num_points);
        for (int i = 0; i < u.touch.num_points; ++i) {
            ck_assert(has_feature(&t, u.points[i].feature));
        }
        end(&t);
    }
}

END_TEST

// Two hulls that are nearest at edges that cross are named by both edges: a bar that lies across
// another one, each on an edge. The feature holds the four numbers of vertices, 16 bits each, none
// of them the number for "no vertex", and both of each edge.
START_TEST(edges_that_are_nearest_are_named_by_both_their_ends)
{
    const double quarter = 0.25 * 3.14159265358979324, half = sqrt(0.5) * 0.2;
    const double height = 2.0 * sqrt(2.0) * half + 0.1; // 0.1 is left between the edges
    two t = begin(tal_shape_brick(tal_v3(1.0, half, half), 0.05),
                  tal_shape_brick(tal_v3(half, 1.0, half), 0.05));
    t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_X, quarter), tal_v3(0.1, 0.05, height));
    t.X_GB = tal_xf(tal_rotation_about(TAL_AXIS_Y, quarter), TAL_VEC3_ZERO);
    ask(&t, 0.2);
    ck_assert_int_eq(t.touch.num_points, 1);
    const uint64_t feature = t.points[0].feature;
    int vertex[4];
    for (int k = 0; k < 4; ++k) {
        vertex[k] = (int)(feature >> (48 - 16 * k) & 0xffff);
        ck_assert_int_lt(vertex[k], 8); // a brick has eight
    }
    ck_assert_int_lt(vertex[0], vertex[1]);
    ck_assert_int_lt(vertex[2], vertex[3]);
    end(&t);
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
    t.X_GA.R = tal_rotation_about(TAL_AXIS_X, 0.5 * half_turn);
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
    tcase_add_test(all, a_brick_touches_a_plane_at_four_corners_an_edge_at_two_a_corner_at_one);
    tcase_add_test(all, a_pentagon_touches_at_five_points_and_none_within);
    tcase_add_test(all, faces_touch_at_the_corners_of_what_they_have_in_common);
    tcase_add_test(all, edges_cross_at_one_point_and_lie_on_each_other_at_two);
    tcase_add_test(all, round_solids_touch_where_their_cores_are_nearest);
    tcase_add_test(all, points_have_the_same_cone_of_wrenches_as_the_faces);
    tcase_add_test(all, features_are_distinct_and_stay_while_solids_move_a_little);
    tcase_add_test(all, edges_that_are_nearest_are_named_by_both_their_ends);
    tcase_add_test(all, a_normal_that_is_not_defined_is_a_status);
    tcase_add_test(all, poses_that_fall_together_give_finite_points);
    tcase_add_test(all, more_points_than_fit_are_counted);
    tcase_add_test(all, shapes_that_are_not_convex_are_refused_by_name);
    tcase_add_test(all, asking_allocates_nothing_and_gives_the_same_bytes);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
