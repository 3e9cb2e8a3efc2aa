// geometry/src/hull/: the points at which solids touch, against closed forms; the cone of wrenches
// that they span; features.
#include "hull/hull_pair.h"

// ---- points: closed forms

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
        const double angle = 2.0 * TAL_PI * i / n;
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
    t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_Z, 0.25 * TAL_PI), tal_v3(0.0, 0.0, 1.001));
    ask(&t, 0.01);
    ck_assert_int_eq(t.touch.num_points, 8);
    for (int i = 0; i < 8; ++i) {
        // an octagon about a circle of radius 1
        const tal_vec3 p = t.points[i].p_G;
        ck_assert_double_eq_tol(hypot(p.x, p.y), 1.0 / cos(TAL_PI / 8.0), ROUND);
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
    t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_X, 0.25 * TAL_PI),
                    tal_v3(0.1, 0.2, 2.0 * sqrt(2.0) + 0.01));
    t.X_GB.R = tal_rotation_about(TAL_AXIS_Y, 0.25 * TAL_PI);
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
    t.X_GA = tal_xf(tal_rotation_about(TAL_AXIS_Y, 0.5 * TAL_PI), tal_v3(0.0, 0.0, 1.1));
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

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("hull");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600.0);
    tcase_add_test(all, a_brick_touches_a_plane_at_four_corners_an_edge_at_two_a_corner_at_one);
    tcase_add_test(all, a_pentagon_touches_at_five_points_and_none_within);
    tcase_add_test(all, faces_touch_at_the_corners_of_what_they_have_in_common);
    tcase_add_test(all, edges_cross_at_one_point_and_lie_on_each_other_at_two);
    tcase_add_test(all, round_solids_touch_where_their_cores_are_nearest);
    tcase_add_test(all, points_have_the_same_cone_of_wrenches_as_the_faces);
    tcase_add_test(all, features_are_distinct_and_stay_while_solids_move_a_little);
    tcase_add_test(all, edges_that_are_nearest_are_named_by_both_their_ends);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
