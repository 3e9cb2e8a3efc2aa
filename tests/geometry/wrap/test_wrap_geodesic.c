// Tests for geometry/src/wrap/: strings over any surface are tangent geodesics, shortest, and
// their length changes as it must.
#include "wrap/wrap_strings.h"

#include <stdlib.h>

// --- an independent program that shoots ---

// Acceleration of a geodesic: -n times the curvature of the surface along v, by differences of the
// normal, -n (n(x + h v) - n(x - h v)) . v / 2h.
static tal_vec3 accelerate(const tal_wrap *wrap, tal_vec3 x, tal_vec3 v)
{
    const double h = 1e-3;
    double curvature = 0.0;
    // sixth-order differences: error h^6
    static const double weights[3] = {3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0};
    for (int k = 0; k < 3; ++k) {
        const double by = h * (k + 1);
        const tal_vec3 d = tal_v3_sub(wrap_normal(wrap, tal_v3_axpy(by, v, x)),
                                      wrap_normal(wrap, tal_v3_axpy(-by, v, x)));
        curvature += weights[k] * tal_v3_dot(d, v) / h;
    }
    return tal_v3_scale(-curvature, wrap_normal(wrap, x));
}

// The classical Runge-Kutta method, 400 steps: an error of (s / 400)^4, some 1e-12.
static void shoot(const tal_wrap *wrap, double s, tal_vec3 *x, tal_vec3 *v)
{
    const int steps = 400;
    const double h = s / steps;
    for (int i = 0; i < steps; ++i) {
        tal_vec3 dx[4], dv[4];
        const double at[4] = {0.0, 0.5 * h, 0.5 * h, h};
        for (int k = 0; k < 4; ++k) {
            const tal_vec3 y = k == 0 ? *x : tal_v3_axpy(at[k], dx[k - 1], *x);
            const tal_vec3 w = k == 0 ? *v : tal_v3_axpy(at[k], dv[k - 1], *v);
            dx[k] = w;
            dv[k] = accelerate(wrap, y, w);
        }
        for (int k = 0; k < 4; ++k) {
            const double weight = h * (k == 0 || k == 3 ? 1.0 / 6.0 : 1.0 / 3.0);
            *x = tal_v3_axpy(weight, dx[k], *x);
            *v = tal_v3_axpy(weight, dv[k], *v);
        }
    }
}

START_TEST(a_string_is_two_tangents_and_a_geodesic)
{
    test_rng rng = test_rng_seed(1);
    for (int i = 0; i < 25; ++i) {
        const tal_wrap wrap = wrap_random(&rng, (tal_wrap_kind)_i);
        tal_vec3 p[2];
        const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
        for (int k = 0; k < 2; ++k) {
            const tal_vec3 n = wrap_normal(&wrap, arc.p[k]);
            ck_assert_double_eq_tol(tal_wrap_clearance(&wrap, arc.p[k]), 0.0, 1e-14);
            ck_assert_double_eq_tol(tal_v3_dot(arc.t[k], n), 0.0, 1e-13);
            const tal_vec3 away = tal_v3_scale(k == 0 ? -arc.lift[k] : arc.lift[k], arc.t[k]);
            test_assert_v3_near(tal_v3_add(arc.p[k], away), p[k], 1e-13);
        }
        tal_vec3 x = arc.p[0], v = arc.t[0];
        shoot(&wrap, arc.length, &x, &v);
        test_assert_v3_near(x, arc.p[1], 1e-10);
        test_assert_v3_near(v, arc.t[1], 1e-10);
    }
}

END_TEST

START_TEST(the_string_back_is_the_same)
{
    test_rng rng = test_rng_seed(2);
    for (int i = 0; i < 50; ++i) {
        const tal_wrap wrap = wrap_random(&rng, (tal_wrap_kind)_i);
        tal_vec3 p[2];
        const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
        tal_wrap_arc back;
        ck_assert_int_eq(tal_wrap_find(&wrap, p[1], p[0], &back), TAL_WRAP_BENT);
        ck_assert_double_eq_tol(wrap_total(&back), wrap_total(&arc), 1e-13);
        test_assert_v3_near(back.p[0], arc.p[1], 1e-11);
        test_assert_v3_near(tal_v3_neg(back.t[1]), arc.t[0], 1e-11);
    }
}

END_TEST

// First variation: an end that moves by d changes the length by -t . d (DoCarmo sec. 5-4). By
// central differences of fourth order: an error of h^4 = 1e-12 and eps / h = 1e-12, times the fifth
// derivative, which an end at 0.1 from the surface makes large: 1e-9 with h = 2e-4.
START_TEST(the_length_changes_by_the_directions_at_the_ends)
{
    test_rng rng = test_rng_seed(3);
    for (int i = 0; i < 50; ++i) {
        const tal_wrap wrap = wrap_random(&rng, (tal_wrap_kind)_i);
        tal_vec3 p[2];
        const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
        const tal_vec3 d1 = test_random_unit(&rng), d2 = test_random_unit(&rng);
        const double expected = tal_v3_dot(arc.t[1], d2) - tal_v3_dot(arc.t[0], d1);
        double change = 0.0;
        bool is_one_string = true;
        static const double at[4] = {-2.0, -1.0, 1.0, 2.0}, weight[4] = {1.0, -8.0, 8.0, -1.0};
        for (int k = 0; k < 4; ++k) {
            const double h = 2e-4 * at[k];
            tal_wrap_arc moved;
            const tal_wrap_contact contact =
                tal_wrap_find(&wrap, tal_v3_axpy(h, d1, p[0]), tal_v3_axpy(h, d2, p[1]), &moved);
            ck_assert_int_eq(contact, TAL_WRAP_BENT);
            // close to the opposite of an end two strings of one length take turns
            const tal_vec3 off = tal_v3_sub(moved.p[0], arc.p[0]);
            if (tal_v3_norm(off) > 0.1) is_one_string = false;
            change += weight[k] * wrap_total(&moved) / (12.0 * 2e-4);
        }
        if (is_one_string) ck_assert_double_eq_tol(change, expected, 1e-9);
    }
}

END_TEST

// --- known integrals ---

// Joachimsthal: |D x|^2 (v . D v), with D = diag(1/a^2), is the same all along a geodesic of an
// ellipsoid.
START_TEST(geodesics_of_an_ellipsoid_keep_their_first_integral)
{
    test_rng rng = test_rng_seed(4);
    for (int i = 0; i < 200; ++i) {
        const tal_wrap wrap = wrap_random(&rng, TAL_WRAP_ELLIPSOID);
        tal_vec3 p[2];
        const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
        const tal_vec3 a = wrap.size, d = {1.0 / (a.x * a.x), 1.0 / (a.y * a.y), 1.0 / (a.z * a.z)};
        double kept[2];
        for (int k = 0; k < 2; ++k) {
            const tal_vec3 g = tal_v3_mul(d, arc.p[k]);
            kept[k] = tal_v3_dot(g, g) * tal_v3_dot(arc.t[k], tal_v3_mul(d, arc.t[k]));
        }
        ck_assert_double_eq_tol(kept[1] / kept[0], 1.0, 1e-11);
    }
}

END_TEST

// Clairaut: rho times the sine of the angle to the meridian is kept on a surface of revolution. Of
// a spheroid of semi-axes a, a, c, with the reduced latitude b, sin b = sin b0 sin x, the constant
// k = a cos b0, and g = a^2 sin^2 b + c^2 cos^2 b (DoCarmo sec. 4-4, ex. 5)
//
//     ds = sqrt(g) dx,   dlongitude = k sqrt(g) / (a^2 cos^2 b) dx
typedef struct spheroid {
    double a, c, k, sin_b0;
} spheroid;

static void integrate(const spheroid *it, double x0, double x1, double *length, double *longitude)
{
    // Simpson's rule with 2000 intervals: an error of (1e-3)^4 times what is of size ten
    const int n = 2000;
    *length = *longitude = 0.0;
    for (int i = 0; i <= n; ++i) {
        const double x = x0 + (x1 - x0) * i / n, sin_b = it->sin_b0 * sin(x);
        const double cos2 = 1.0 - sin_b * sin_b;
        const double g = sqrt(it->a * it->a * sin_b * sin_b + it->c * it->c * cos2);
        const double weight = (x1 - x0) / n / 3.0 *
                              (i == 0 || i == n ? 1.0
                               : i % 2 == 0     ? 2.0
                                                : 4.0);
        *length += weight * g;
        *longitude += weight * it->k * g / (it->a * it->a * cos2);
    }
}

START_TEST(geodesics_of_spheroids_obey_clairaut)
{
    test_rng rng = test_rng_seed(5);
    for (int i = 0; i < 100; ++i) {
        const double a = test_random_uniform(&rng, 0.4, 0.9), c = i % 2 == 0 ? 1.4 * a : 0.6 * a;
        const tal_wrap wrap = tal_wrap_ellipsoid(tal_v3(a, a, c));
        tal_vec3 p[2];
        const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
        double k[2], x[2], angle[2], sin_b[2];
        for (int e = 0; e < 2; ++e) {
            const tal_vec3 at = arc.p[e], t = arc.t[e];
            k[e] = at.x * t.y - at.y * t.x;
            sin_b[e] = at.z / c;
            angle[e] = atan2(at.y, at.x);
        }
        ck_assert_double_eq_tol(k[0], k[1], 1e-12);
        const double cos_b0 = fabs(k[0]) / a;
        const spheroid it = {a, c, k[0], sqrt((1.0 - cos_b0) * (1.0 + cos_b0))};
        if (it.sin_b0 < 0.05) continue; // along the equator x says little
        // x of both ends: on the rising branch where the string goes up
        for (int e = 0; e < 2; ++e) {
            const double up = asin(fmin(1.0, fmax(-1.0, sin_b[e] / it.sin_b0)));
            x[e] = arc.t[e].z >= 0.0 ? up : acos(-1.0) - up;
        }
        const double turn = 2.0 * acos(-1.0);
        while (x[1] < x[0]) {
            x[1] += turn;
        }
        double length, longitude;
        integrate(&it, x[0], x[1], &length, &longitude);
        const double around = remainder(angle[1] - angle[0] - longitude, turn);
        // close to the vertex asin loses half the digits, but errors of x at both ends shift both
        // integrals together: compare where that is not so
        const bool is_near_vertex = fabs(cos(x[0])) < 0.1 || fabs(cos(x[1])) < 0.1;
        const double tol = is_near_vertex ? 1e-6 : 1e-10;
        ck_assert_double_eq_tol(arc.length, length, tol);
        ck_assert_double_eq_tol(around, 0.0, 10.0 * tol);
    }
}

END_TEST

START_TEST(points_along_an_arc_lie_on_the_surface_at_equal_distances)
{
    test_rng rng = test_rng_seed(6);
    for (int i = 0; i < 20; ++i) {
        const tal_wrap wrap = wrap_random(&rng, (tal_wrap_kind)_i);
        tal_vec3 p[2], points[101];
        const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
        ck_assert_int_eq(tal_wrap_calc_points(&wrap, &arc, 101, points), TAL_OK);
        test_assert_v3_near(points[0], arc.p[0], 1e-15);
        test_assert_v3_near(points[100], arc.p[1], 1e-11);
        double length = 0.0;
        for (int k = 0; k < 101; ++k) {
            ck_assert_double_eq_tol(tal_wrap_clearance(&wrap, points[k]), 0.0, 1e-12);
            if (k > 0) length += tal_v3_norm(tal_v3_sub(points[k], points[k - 1]));
        }
        // chords are short by (s/100)^2 curvature^2 / 24
        ck_assert_double_eq_tol(length / arc.length, 1.0, 1e-4);
    }
}

END_TEST

// Where the line passes close to the center of a flat ellipsoid, there are several strings: the
// one found is not longer than any other, and the length has no jump as the line moves.
START_TEST(the_shortest_of_several_strings_is_found)
{
    const tal_wrap wrap = tal_wrap_ellipsoid(tal_v3(0.3, 0.6, 0.9));
    double last = 0.0;
    for (int i = 0; i <= 720; ++i) {
        const double angle = 2.0 * acos(-1.0) * i / 720.0, off = 0.1;
        const tal_vec3 p1 = {off * cos(angle), off * sin(angle), -1.5};
        const tal_vec3 p2 = {off * cos(angle), off * sin(angle), 1.4};
        tal_wrap_arc arc;
        ck_assert_int_eq(tal_wrap_find(&wrap, p1, p2, &arc), TAL_WRAP_BENT);
        ck_assert_double_gt(arc.stability, 0.0);
        // the way over y is longer than the way over x by far
        ck_assert_double_gt(fabs(arc.p[0].x), fabs(arc.p[0].y));
        // an end moves by 0.1 / 115 each step
        if (i > 0) ck_assert_double_lt(fabs(wrap_total(&arc) - last), 1e-3);
        last = wrap_total(&arc);
    }
}

END_TEST

// Ends anywhere, tubes of any width: there is a string, no shorter than the line. Whether it lies
// on the torus or on the cylinder beside it, its length changes by the directions at its ends.
START_TEST(a_string_through_a_torus_is_always_found)
{
    test_rng rng = test_rng_seed(7);
    const int trials = getenv("TALUS_SOAK") != NULL ? 100000 : 2000;
    int num_beside = 0, num_off = 0, num_tested = 0;
    for (int i = 0; i < trials; ++i) {
        const tal_wrap wrap = tal_wrap_torus(1.0, test_random_uniform(&rng, 0.05, 0.95));
        const tal_vec3 p1 = tal_v3_scale(2.5, test_random_vec3(&rng));
        const tal_vec3 p2 = tal_v3_scale(2.5, test_random_vec3(&rng)), d = test_random_unit(&rng);
        tal_wrap_arc arc, up, down;
        const tal_wrap_contact contact = tal_wrap_find(&wrap, p1, p2, &arc);
        ck_assert_int_ne(contact, TAL_WRAP_FAILED);
        if (!wrap_touches(contact)) continue;
        ck_assert_double_ge(wrap_total(&arc), tal_v3_norm(tal_v3_sub(p2, p1)) - 1e-12);
        num_beside += arc.stability == 0.0;
        if (tal_wrap_clearance(&wrap, p1) < 0.1 || tal_wrap_clearance(&wrap, p2) < 0.1) continue;
        const double h = 1e-5; // an error of h^2 times third derivatives below 1e3
        const bool is_same = tal_wrap_find(&wrap, tal_v3_axpy(h, d, p1), p2, &up) == contact &&
                             tal_wrap_find(&wrap, tal_v3_axpy(-h, d, p1), p2, &down) == contact &&
                             (up.stability == 0.0) == (arc.stability == 0.0) &&
                             (down.stability == 0.0) == (arc.stability == 0.0);
        if (!is_same) continue;
        const double rate = (wrap_total(&up) - wrap_total(&down)) / (2.0 * h);
        num_off += fabs(rate + tal_v3_dot(arc.t[0], d)) > 1e-6;
        ++num_tested;
    }
    ck_assert_int_gt(num_beside, 0);
    // two strings of one length take turns: some of a thousand
    ck_assert_int_lt(num_off, 1 + num_tested / 200);
}

END_TEST

// Ellipsoids up to ten times as long as thick, lines at any depth: there is a string, it is a
// minimum, and from the other end it is the same. Where two are of one length, either is found.
START_TEST(a_string_over_a_thin_ellipsoid_is_always_found)
{
    test_rng rng = test_rng_seed(8);
    int num_bent = 0, num_other = 0;
    for (int i = 0; i < 1000; ++i) {
        const tal_wrap wrap = tal_wrap_ellipsoid(
            tal_v3(0.1, test_random_uniform(&rng, 0.1, 1.0), test_random_uniform(&rng, 0.1, 1.0)));
        const tal_vec3 p1 = tal_v3_scale(1.5, test_random_vec3(&rng));
        const tal_vec3 p2 = tal_v3_scale(1.5, test_random_vec3(&rng));
        tal_wrap_arc arc, back;
        const tal_wrap_contact contact = tal_wrap_find(&wrap, p1, p2, &arc);
        ck_assert_int_ne(contact, TAL_WRAP_FAILED);
        ck_assert_int_eq(tal_wrap_find(&wrap, p2, p1, &back), contact);
        if (contact != TAL_WRAP_BENT) continue;
        ck_assert_double_gt(arc.stability, 0.0);
        ck_assert_double_ge(wrap_total(&arc), tal_v3_norm(tal_v3_sub(p2, p1)) - 1e-12);
        tal_vec3 points[2];
        ck_assert_int_eq(tal_wrap_calc_points(&wrap, &arc, 2, points), TAL_OK);
        // round-off grows with the curvature of a thin rim, 1 / 0.01, twice
        test_assert_v3_near(points[1], arc.p[1], 1e-10);
        num_other += fabs(wrap_total(&back) - wrap_total(&arc)) > 1e-12;
        ++num_bent;
    }
    ck_assert_int_gt(num_bent, 100);
    ck_assert_int_le(num_other, num_bent / 50);
}

END_TEST

// How the directions of a string change with its ends P1 and P2: with the left b and the normal n,
// y = l1 a + r and y' = l1 da + dr, its beginning turns about P1 by
//
//     g = (dp2 . b2 - (a + l2 da) dp1 . b1) / (y + l2 y')
//
// and is moved to the left by s = dp1 . b1 + l1 g.
static void turn_string(const tal_wrap_arc *arc, const tal_wrap_spread *by, const tal_vec3 dp[2],
                        tal_vec3 dt[2])
{
    const double l1 = arc->lift[0], l2 = arc->lift[1];
    const double y = l1 * by->a + by->r, dy = l1 * by->da + by->dr;
    const double s1 = tal_v3_dot(dp[0], by->left[0]), s2 = tal_v3_dot(dp[1], by->left[1]);
    const double g = (s2 - (by->a + l2 * by->da) * s1) / (y + l2 * dy), s = s1 + l1 * g;
    const tal_vec3 n1 = tal_v3_cross(arc->t[0], by->left[0]);
    const tal_vec3 n2 = tal_v3_cross(arc->t[1], by->left[1]);
    dt[0] = tal_v3_axpy(g, by->left[0], tal_v3_scale(-tal_v3_dot(dp[0], n1) / l1, n1));
    dt[1] = tal_v3_axpy(s * by->da + g * by->dr, by->left[1],
                        tal_v3_scale(tal_v3_dot(dp[1], n2) / l2, n2));
}

// Differences of sixth order over 2e-4 of directions that change over lengths of 0.02 at the least,
// where strings are about to jump: (6e-4 / 0.02)^6 = 7e-10; and 1e-13, to which strings are found,
// over the step.
START_TEST(directions_change_by_the_spread)
{
    static const double weight[3] = {1.5, -0.6, 0.1};
    test_rng rng = test_rng_seed(61);
    int num_done = 0;
    for (int i = 0; i < 60; ++i) {
        const tal_wrap wrap = wrap_random(&rng, (tal_wrap_kind)_i);
        tal_vec3 p[2], dt[2], wanted[2] = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
        const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
        const tal_vec3 dp[2] = {test_random_vec3(&rng), test_random_vec3(&rng)};
        if (!(arc.stability > 0.1)) continue; // beside a torus, or about to jump
        tal_wrap_spread by;
        ck_assert_int_eq(tal_wrap_calc_spread(&wrap, &arc, &by), TAL_OK);
        ck_assert_double_eq_tol(by.a * by.dr - by.da * by.r, 1.0, 1e-12);
        turn_string(&arc, &by, dp, dt);
        for (int k = 0; k < 6; ++k) {
            const double h = (k % 2 == 0 ? 2e-4 : -2e-4) * (k / 2 + 1);
            tal_wrap_arc moved;
            ck_assert(wrap_touches(tal_wrap_find(&wrap, tal_v3_axpy(h, dp[0], p[0]),
                                                 tal_v3_axpy(h, dp[1], p[1]), &moved)));
            for (int j = 0; j < 2; ++j) {
                wanted[j] = tal_v3_axpy(weight[k / 2] / (2.0 * h), moved.t[j], wanted[j]);
            }
        }
        for (int j = 0; j < 2; ++j) {
            test_assert_v3_near(dt[j], wanted[j], 3e-9 * fmax(1.0, tal_v3_norm(wanted[j])));
        }
        ++num_done;
    }
    ck_assert_int_gt(num_done, 30);
}

END_TEST

START_TEST(an_arc_beside_a_torus_has_no_spread)
{
    const tal_wrap wrap = tal_wrap_torus(1.0, 0.2);
    const tal_wrap_arc beside = {.p = {{1.0, 0.3, 0.2}, {1.0, 0.3, 0.2}}, .length = 0.1};
    tal_wrap_spread by;
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_wrap_calc_spread(&wrap, &beside, &by), TAL_ERR_BAD_VALUE, "beside");
    test_assert_breach(st = tal_wrap_calc_spread(&wrap, NULL, &by), TAL_ERR_NULL, "NULL");
    const tal_wrap_arc lost = {.length = (double)NAN};
    test_assert_breach(st = tal_wrap_calc_spread(&wrap, &lost, &by), TAL_ERR_NOT_FINITE, "finite");
    const tal_wrap none = tal_wrap_sphere(-1.0);
    test_assert_breach(st = tal_wrap_calc_spread(&none, &beside, &by), TAL_ERR_BAD_VALUE, "radius");
    ck_assert_int_ne(st, TAL_OK);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("geometry/wrap_geodesic");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, a_string_is_two_tangents_and_a_geodesic, 0, TAL_NUM_WRAP_KINDS);
    tcase_add_loop_test(all, the_string_back_is_the_same, 0, TAL_NUM_WRAP_KINDS);
    tcase_add_loop_test(all, the_length_changes_by_the_directions_at_the_ends, 0,
                        TAL_NUM_WRAP_KINDS);
    tcase_add_loop_test(all, directions_change_by_the_spread, 0, TAL_NUM_WRAP_KINDS);
    tcase_add_test(all, an_arc_beside_a_torus_has_no_spread);
    tcase_add_test(all, geodesics_of_an_ellipsoid_keep_their_first_integral);
    tcase_add_test(all, geodesics_of_spheroids_obey_clairaut);
    tcase_add_loop_test(all, points_along_an_arc_lie_on_the_surface_at_equal_distances, 0,
                        TAL_NUM_WRAP_KINDS);
    tcase_add_test(all, the_shortest_of_several_strings_is_found);
    tcase_add_test(all, a_string_over_a_thin_ellipsoid_is_always_found);
    tcase_add_test(all, a_string_through_a_torus_is_always_found);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
