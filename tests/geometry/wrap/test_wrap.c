// Tests for geometry/src/wrap/: closed forms, sides, lift-off, mistakes.
#include "wrap/wrap_strings.h"

#include <stdlib.h>

// --- closed forms against polylines ---

enum {
    SEGMENTS = 1000000
};

// Length of a polyline of a million segments from P1 over a curve x(0) ... x(1) to P2. Chords of an
// arc of angle 1e-6 are short of it by 4e-14 of their length, and adding up a million numbers
// leaves some 1e-13.
typedef tal_vec3 (*curve_fn)(const double c[4], double radius, double x);

static double polyline(curve_fn curve, const double c[4], double radius, const tal_vec3 p[2])
{
    tal_vec3 at = p[0];
    double length = 0.0;
    for (int i = 0; i <= SEGMENTS; ++i) {
        const tal_vec3 next = curve(c, radius, (double)i / SEGMENTS);
        length += tal_v3_norm(tal_v3_sub(next, at));
        at = next;
    }
    return length + tal_v3_norm(tal_v3_sub(p[1], at));
}

// From the angle c0 and height c1 to the angle c2 and height c3.
static tal_vec3 on_cylinder(const double c[4], double radius, double x)
{
    const double angle = c[0] + x * (c[2] - c[0]);
    return tal_v3(radius * cos(angle), radius * sin(angle), c[1] + x * (c[3] - c[1]));
}

// The same with latitudes: a meridian circle tilted so that angle and latitude move together. With
// c1 = c3 = 0 it is the equator.
static tal_vec3 on_sphere(const double c[4], double radius, double x)
{
    const double angle = c[0] + x * (c[2] - c[0]), lift = c[1] + x * (c[3] - c[1]);
    return tal_v3(radius * cos(lift) * cos(angle), radius * cos(lift) * sin(angle),
                  radius * sin(lift));
}

// The closed form must be the polyline through its own contacts, and every other polyline longer.
static void check_shortest(const tal_wrap *wrap, curve_fn curve, const tal_vec3 p[2])
{
    tal_wrap_arc arc;
    ck_assert_int_eq(tal_wrap_find(wrap, p[0], p[1], &arc), TAL_WRAP_BENT);
    const double r = wrap->size.x;
    const bool is_sphere = wrap->kind == TAL_WRAP_SPHERE;
    double c[4];
    for (int k = 0; k < 2; ++k) {
        const tal_vec3 at = arc.p[k];
        c[2 * k] = atan2(at.y, at.x);
        c[2 * k + 1] = is_sphere ? asin(at.z / r) : at.z;
    }
    const double found = wrap_total(&arc), shortest = polyline(curve, c, r, p);
    ck_assert_double_eq_tol(found, shortest, 1e-10);
    for (int i = 0; i < 4; ++i) {
        for (int sign = -1; sign <= 1; sign += 2) {
            // the other way the line to P would cut through the surface
            if ((i == 0 && sign > 0) || (i == 2 && sign < 0)) continue;
            double moved[4] = {c[0], c[1], c[2], c[3]};
            moved[i] += 1e-3 * sign;
            ck_assert_double_gt(polyline(curve, moved, r, p), shortest);
        }
    }
}

START_TEST(a_helix_is_the_shortest_polyline_over_a_cylinder)
{
    const tal_wrap wrap = tal_wrap_cylinder(0.6, 5.0);
    const tal_vec3 p[2] = {{1.0, -0.3, -0.4}, {-0.7, 0.9, 0.7}};
    check_shortest(&wrap, on_cylinder, p);
}

END_TEST

START_TEST(a_great_circle_is_the_shortest_polyline_over_a_sphere)
{
    const tal_wrap wrap = tal_wrap_sphere(0.6);
    const tal_vec3 p[2] = {{1.0, -0.3, 0.0}, {-0.7, 0.9, 0.0}};
    check_shortest(&wrap, on_sphere, p);
}

END_TEST

// P at distance d from the center: sqrt(d1^2 - r^2) + r (angle - acos(r/d1) - acos(r/d2)) + ...
START_TEST(a_sphere_has_its_closed_form_in_any_plane)
{
    test_rng rng = test_rng_seed(1);
    for (int i = 0; i < 100; ++i) {
        const tal_wrap wrap = wrap_random(&rng, TAL_WRAP_SPHERE);
        tal_vec3 p[2];
        const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
        const double r = wrap.size.x, d1 = tal_v3_norm(p[0]), d2 = tal_v3_norm(p[1]);
        const double angle = acos(tal_v3_dot(p[0], p[1]) / (d1 * d2));
        const double length = sqrt(d1 * d1 - r * r) + sqrt(d2 * d2 - r * r) +
                              r * (angle - acos(r / d1) - acos(r / d2));
        // acos near a half turn loses half the digits of what is left: 1e-16 / 1e-2
        ck_assert_double_eq_tol(wrap_total(&arc), length, 1e-13);
    }
}

END_TEST

START_TEST(a_round_ellipsoid_is_a_sphere)
{
    test_rng rng = test_rng_seed(2);
    for (int side = 0; side < TAL_NUM_WRAP_SIDES; ++side) {
        for (int i = 0; i < 100; ++i) {
            tal_wrap ball = tal_wrap_sphere(0.7);
            tal_wrap oval = tal_wrap_ellipsoid(tal_v3(0.7, 0.7, 0.7));
            ball.side = oval.side = (tal_wrap_side)side;
            const tal_vec3 p1 = tal_v3_scale(2.0, test_random_vec3(&rng));
            const tal_vec3 p2 = tal_v3_scale(2.0, test_random_vec3(&rng));
            tal_wrap_arc a, b;
            const tal_wrap_contact contact = tal_wrap_find(&ball, p1, p2, &a);
            ck_assert_int_eq(tal_wrap_find(&oval, p1, p2, &b), contact);
            if (!wrap_touches(contact)) continue;
            ck_assert_double_eq_tol(wrap_total(&a), wrap_total(&b), 1e-13);
            test_assert_v3_near(a.t[1], b.t[1], 1e-10);
        }
    }
}

END_TEST

// --- sides ---

static tal_wrap_contact find_flat(tal_wrap_side side, const double at[4], tal_wrap_arc *arc)
{
    tal_wrap wrap = tal_wrap_cylinder(1.0, 10.0);
    wrap.side = side;
    return tal_wrap_find(&wrap, tal_v3(at[0], at[1], 0.0), tal_v3(at[2], at[3], 0.0), arc);
}

START_TEST(a_string_stays_on_its_side)
{
    static const struct {
        tal_wrap_side side;
        double at[4]; // x, y of both ends
        tal_wrap_contact contact;
        double middle[2]; // direction of the middle of the arc
    } cases[] = {
        // past the cylinder
        {TAL_WRAP_ANY_SIDE, {2, -3, 2, 3}, TAL_WRAP_FREE, {0, 0}},
        {TAL_WRAP_ANY_SIDE, {-2, -3, -2, 3}, TAL_WRAP_FREE, {0, 0}},
        {TAL_WRAP_ANY_SIDE, {0.5, -3, 0.5, 3}, TAL_WRAP_BENT, {1, 0}},
        {TAL_WRAP_ANY_SIDE, {-0.5, -3, -0.5, 3}, TAL_WRAP_BENT, {-1, 0}},
        // on the side of x
        {TAL_WRAP_PLUS_X, {2, -3, 2, 3}, TAL_WRAP_FREE, {0, 0}},
        {TAL_WRAP_PLUS_X, {0.5, -3, 0.5, 3}, TAL_WRAP_BENT, {1, 0}},
        {TAL_WRAP_PLUS_X, {-0.5, -3, -0.5, 3}, TAL_WRAP_BENT, {1, 0}},
        {TAL_WRAP_PLUS_X, {-2, -3, -2, 3}, TAL_WRAP_FORCED, {1, 0}},
        {TAL_WRAP_MINUS_X, {2, -3, 2, 3}, TAL_WRAP_FORCED, {-1, 0}},
        {TAL_WRAP_MINUS_X, {-2, -3, -2, 3}, TAL_WRAP_FREE, {0, 0}},
        {TAL_WRAP_PLUS_Y, {-3, -2, 3, -2}, TAL_WRAP_FORCED, {0, 1}},
        {TAL_WRAP_MINUS_Y, {-3, -0.5, 3, -0.5}, TAL_WRAP_BENT, {0, -1}},
        // both ends behind, on the same hand: the string need not go round
        {TAL_WRAP_PLUS_X, {-2, -3, -3, -2}, TAL_WRAP_FREE, {0, 0}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tal_wrap_arc arc;
        ck_assert_int_eq(find_flat(cases[i].side, cases[i].at, &arc), cases[i].contact);
        if (!wrap_touches(cases[i].contact)) continue;
        tal_vec3 points[3];
        const tal_wrap wrap = tal_wrap_cylinder(1.0, 10.0);
        ck_assert_int_eq(tal_wrap_calc_points(&wrap, &arc, 3, points), TAL_OK);
        const tal_vec3 middle = {cases[i].middle[0], cases[i].middle[1], 0.0};
        test_assert_v3_near(points[1], middle, 1e-14);
    }
}

END_TEST

// The line goes through the cylinder from one side to the other: with a side the string stays where
// it is, and neither length nor direction jumps.
START_TEST(a_string_on_a_side_does_not_jump_when_the_line_changes_sides)
{
    tal_wrap_arc last = {.length = -1.0};
    for (int i = 0; i <= 4000; ++i) {
        const double x = 2.0 - 0.001 * i;
        const double at[4] = {x, -3.0, x, 3.0};
        tal_wrap_arc arc = {.t = {{0.0, 1.0, 0.0}, {0.0, 1.0, 0.0}}, .lift = {3.0, 3.0}};
        (void)find_flat(TAL_WRAP_PLUS_X, at, &arc);
        if (last.length >= 0.0) {
            // slopes are below one for the length, and below 1 / (lift) for the direction
            ck_assert_double_lt(fabs(wrap_total(&arc) - wrap_total(&last)), 2.1e-3);
            ck_assert_double_lt(tal_v3_norm(tal_v3_sub(arc.t[0], last.t[0])), 1e-3);
        }
        last = arc;
    }
}

END_TEST

// --- lift-off ---

// The line moves off the obstacle: length and direction arrive at those of the line. With a
// distance e below the surface the arc has the length sqrt(8 R e), about.
START_TEST(strings_lift_off_without_a_jump)
{
    const tal_wrap wraps[4] = {tal_wrap_cylinder(0.6, 9.0), tal_wrap_sphere(0.6),
                               tal_wrap_ellipsoid(tal_v3(0.6, 0.4, 0.9)), tal_wrap_torus(1.0, 0.4)};
    for (int k = 0; k < 4; ++k) {
        for (double e = 1e-3; e > 1e-13; e *= 0.1) {
            // lines along y, tangent at x = 0.6
            const double x = 0.6 + (wraps[k].kind == TAL_WRAP_TORUS ? e : -e);
            tal_vec3 p1 = {x, -1.0, 0.0}, p2 = {x, 1.2, 0.0};
            if (wraps[k].kind == TAL_WRAP_TORUS) p1 = tal_v3(x, 0.0, 1.0);
            if (wraps[k].kind == TAL_WRAP_TORUS) p2 = tal_v3(x, 0.0, -1.2);
            tal_wrap_arc arc;
            ck_assert_int_eq(tal_wrap_find(&wraps[k], p1, p2, &arc), TAL_WRAP_BENT);
            const tal_vec3 line = tal_v3_sub(p2, p1);
            ck_assert_double_lt(wrap_total(&arc) - tal_v3_norm(line), 10.0 * e * e + 1e-15);
            ck_assert_double_ge(wrap_total(&arc) - tal_v3_norm(line), -1e-15);
            const tal_vec3 d = tal_v3_normalize(line);
            ck_assert_double_lt(tal_v3_norm(tal_v3_sub(arc.t[0], d)), 2.0 * e + 1e-14);
            ck_assert_double_lt(tal_v3_norm(tal_v3_sub(arc.t[1], d)), 2.0 * e + 1e-14);
        }
    }
}

END_TEST

// The line moves through where it is tangent, to either side, by steps of 1e-9: length and
// direction change by no more than the ends move, so that there is no jump above 1e-9 anywhere.
START_TEST(strings_engage_and_lift_off_within_steps_of_a_nanometer)
{
    const tal_wrap wraps[4] = {tal_wrap_cylinder(0.6, 9.0), tal_wrap_sphere(0.6),
                               tal_wrap_ellipsoid(tal_v3(0.6, 0.4, 0.9)), tal_wrap_torus(1.0, 0.4)};
    for (int k = 0; k < 4; ++k) {
        const bool is_torus = wraps[k].kind == TAL_WRAP_TORUS;
        double last = 0.0;
        tal_vec3 last_t = TAL_VEC3_ZERO;
        int num_changes = 0;
        tal_wrap_contact before = TAL_WRAP_FAILED;
        for (int i = -500; i <= 500; ++i) {
            const double x = 0.6 + 1e-9 * (i + 0.5);
            const tal_vec3 p1 = is_torus ? tal_v3(x, 0.0, 1.0) : tal_v3(x, -1.0, 0.0);
            const tal_vec3 p2 = is_torus ? tal_v3(x, 0.0, -1.2) : tal_v3(x, 1.2, 0.0);
            const tal_vec3 line = tal_v3_sub(p2, p1);
            tal_wrap_arc arc;
            const tal_wrap_contact contact = tal_wrap_find(&wraps[k], p1, p2, &arc);
            const bool is_bent = contact == TAL_WRAP_BENT;
            const double length = is_bent ? wrap_total(&arc) : tal_v3_norm(line);
            const tal_vec3 t = is_bent ? arc.t[0] : tal_v3_normalize(line);
            if (i > -500) {
                // ends one away and more: a direction turns by less than twice what they move
                ck_assert_double_lt(fabs(length - last), 1e-12);
                ck_assert_double_lt(tal_v3_norm(tal_v3_sub(t, last_t)), 2e-9);
                num_changes += contact != before;
            }
            last = length;
            last_t = t;
            before = contact;
        }
        ck_assert_int_eq(num_changes, 1);
    }
}

END_TEST

// --- degenerate input ---

START_TEST(an_end_may_be_inside_on_the_surface_or_nowhere)
{
    const tal_wrap wraps[4] = {tal_wrap_cylinder(0.6, 9.0), tal_wrap_sphere(0.6),
                               tal_wrap_ellipsoid(tal_v3(0.6, 0.4, 0.9)), tal_wrap_torus(0.4, 0.2)};
    for (int k = 0; k < 4; ++k) {
        tal_wrap_arc arc;
        const tal_vec3 in = {0.5, 0.0, 0.0}, out = {-1.0, 0.3, 0.1}, none = {NAN, 0.0, 0.0};
        ck_assert_int_eq(tal_wrap_find(&wraps[k], in, out, &arc), TAL_WRAP_INSIDE);
        ck_assert_int_eq(tal_wrap_find(&wraps[k], out, in, &arc), TAL_WRAP_INSIDE);
        ck_assert_int_eq(tal_wrap_find(&wraps[k], out, none, &arc), TAL_WRAP_FAILED);
        ck_assert_int_eq(tal_wrap_find(&wraps[k], out, out, &arc), TAL_WRAP_FREE);
        ck_assert_double_lt(tal_wrap_clearance(&wraps[k], in), 0.0);
        ck_assert_double_gt(tal_wrap_clearance(&wraps[k], out), 0.0);
        if (wraps[k].kind == TAL_WRAP_TORUS) continue;
        const tal_vec3 on = {0.6, 0.0, 0.0};
        ck_assert_int_eq(tal_wrap_find(&wraps[k], on, out, &arc), TAL_WRAP_BENT);
        test_assert_v3_near(arc.p[0], on, 1e-15);
        ck_assert_double_eq_tol(arc.lift[0], 0.0, 1e-15);
        ck_assert(isfinite(wrap_total(&arc)));
    }
}

END_TEST

START_TEST(points_in_line_with_the_center_have_a_string_too)
{
    for (int side = 0; side < TAL_NUM_WRAP_SIDES; ++side) {
        tal_wrap ball = tal_wrap_sphere(0.5), oval = tal_wrap_ellipsoid(tal_v3(0.5, 0.5, 0.5));
        ball.side = oval.side = (tal_wrap_side)side;
        const tal_vec3 p1 = {0.0, 1.0, 0.0}, p2 = {0.0, -2.0, 0.0};
        tal_wrap_arc a, b;
        ck_assert_int_eq(tal_wrap_find(&ball, p1, p2, &a), TAL_WRAP_BENT);
        ck_assert_int_eq(tal_wrap_find(&oval, p1, p2, &b), TAL_WRAP_BENT);
        const double length = sqrt(0.75) + sqrt(3.75) + 0.5 * (acos(-1.0) - acos(0.5) - acos(0.25));
        ck_assert_double_eq_tol(wrap_total(&a), length, 1e-14);
        ck_assert_double_eq_tol(wrap_total(&b), length, 1e-14);
        // the string is on the side where that says something
        if (side == TAL_WRAP_MINUS_Z) ck_assert_double_lt(a.p[0].z, -0.1);
        if (side == TAL_WRAP_PLUS_X) ck_assert_double_gt(a.p[0].x, 0.1);
    }
}

END_TEST

START_TEST(sizes_of_any_scale_give_the_same_string)
{
    test_rng rng = test_rng_seed(5);
    for (int kind = 0; kind < TAL_NUM_WRAP_KINDS; ++kind) {
        for (int i = 0; i < 20; ++i) {
            const tal_wrap wrap = wrap_random(&rng, (tal_wrap_kind)kind);
            tal_vec3 p[2];
            const tal_wrap_arc arc = wrap_next_bent(&rng, &wrap, p);
            for (double scale = 1e-9; scale < 1e10; scale *= 1e6) {
                tal_wrap other = wrap;
                other.size = tal_v3_scale(scale, wrap.size);
                tal_wrap_arc scaled;
                ck_assert_int_eq(tal_wrap_find(&other, tal_v3_scale(scale, p[0]),
                                               tal_v3_scale(scale, p[1]), &scaled),
                                 TAL_WRAP_BENT);
                ck_assert_double_eq_tol(wrap_total(&scaled) / scale, wrap_total(&arc), 1e-12);
            }
        }
    }
}

END_TEST

START_TEST(beyond_its_end_faces_a_cylinder_does_not_hold_a_string)
{
    const tal_wrap wrap = tal_wrap_cylinder(1.0, 2.0);
    tal_wrap_arc arc;
    const tal_vec3 p1 = {0.5, -3.0, 1.5}, p2 = {0.5, 3.0, 1.5};
    ck_assert_int_eq(tal_wrap_find(&wrap, p1, p2, &arc), TAL_WRAP_FREE);
    ck_assert_int_eq(tal_wrap_find(&wrap, p1, tal_v3(0.5, 3.0, -1.5), &arc), TAL_WRAP_BENT);
}

END_TEST

// --- mistakes ---

START_TEST(bad_obstacles_are_refused_with_their_name)
{
    const struct {
        tal_wrap wrap;
        tal_wrap_side side;
        tal_status status;
        const char *says;
    } bad[] = {
        {tal_wrap_cylinder(0.0, 1.0), 0, TAL_ERR_BAD_VALUE, "cylinder 'knee': the radius is 0"},
        {tal_wrap_cylinder(1.0, -1.0), 0, TAL_ERR_BAD_VALUE, "the length is -1"},
        {tal_wrap_sphere(NAN), 0, TAL_ERR_NOT_FINITE, "sphere 'knee': the radius is nan"},
        {tal_wrap_ellipsoid(tal_v3(1.0, 0.0, 1.0)), 0, TAL_ERR_BAD_VALUE, "the semi-axis y is 0"},
        {tal_wrap_torus(1.0, 1.0), 0, TAL_ERR_BAD_VALUE, "the tube radius 1 must be below"},
        {tal_wrap_torus(INFINITY, 1.0), 0, TAL_ERR_NOT_FINITE, "the ring radius is inf"},
        {tal_wrap_cylinder(1.0, 1.0), TAL_WRAP_MINUS_Z, TAL_ERR_BAD_VALUE, "no side -z along"},
        {tal_wrap_torus(1.0, 0.5), TAL_WRAP_PLUS_X, TAL_ERR_BAD_VALUE, "it has no side +x"},
        {tal_wrap_sphere(1.0), (tal_wrap_side)9, TAL_ERR_BAD_VALUE, "there is no side 9"},
        {{(tal_wrap_kind)TAL_NUM_WRAP_KINDS, {1.0, 1.0, 1.0}, 0},
         0,
         TAL_ERR_BAD_VALUE,
         "there is no kind 4"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        tal_wrap wrap = bad[i].wrap;
        wrap.side = bad[i].side;
        tal_error err = {0};
        tal_wrap_arc arc;
        ck_assert_int_eq(tal_wrap_check(&wrap, "knee", &err), bad[i].status);
        ck_assert_msg(strstr(err.message, bad[i].says) != NULL, "%s", err.message);
        ck_assert_int_eq(tal_wrap_find(&wrap, tal_v3(3.0, 0.0, 0.0), tal_v3(-3.0, 0.0, 0.0), &arc),
                         TAL_WRAP_FAILED);
        ck_assert(isnan(tal_wrap_clearance(&wrap, tal_v3(3.0, 0.0, 0.0))));
    }
    ck_assert_int_eq(tal_wrap_check(NULL, NULL, NULL), TAL_ERR_NULL);
    ck_assert_int_eq(tal_wrap_find(NULL, TAL_VEC3_ZERO, TAL_VEC3_ZERO, NULL), TAL_WRAP_FAILED);
    ck_assert_str_eq(tal_wrap_kind_name(TAL_WRAP_TORUS), "torus");
    ck_assert_str_eq(tal_wrap_kind_name((tal_wrap_kind)-1), "unknown");
    ck_assert_str_eq(tal_wrap_side_name(TAL_WRAP_MINUS_Y), "-y");
    ck_assert_str_eq(tal_wrap_side_name((tal_wrap_side)7), "unknown");
}

END_TEST

START_TEST(points_are_asked_for_with_a_sound_arc)
{
    const tal_wrap wrap = tal_wrap_sphere(1.0);
    const tal_wrap_arc arc = {.p = {{1.0, 0.0, 0.0}}, .t = {{0.0, 1.0, 0.0}}, .length = 1.0};
    tal_wrap_arc bad = arc;
    bad.length = NAN;
    tal_vec3 points[2];
    ck_assert_int_eq(tal_wrap_calc_points(&wrap, &arc, 2, points), TAL_OK);
    ck_assert_int_eq(tal_wrap_calc_points(&wrap, &arc, 1, points), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_wrap_calc_points(&wrap, &bad, 2, points), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_wrap_calc_points(&wrap, &arc, 2, NULL), TAL_ERR_NULL);
    ck_assert_int_eq(tal_wrap_calc_points(NULL, &arc, 2, points), TAL_ERR_NULL);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("geometry/wrap");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_helix_is_the_shortest_polyline_over_a_cylinder);
    tcase_add_test(theory, a_great_circle_is_the_shortest_polyline_over_a_sphere);
    tcase_add_test(theory, a_sphere_has_its_closed_form_in_any_plane);
    tcase_add_test(theory, a_round_ellipsoid_is_a_sphere);
    tcase_add_test(theory, a_string_stays_on_its_side);
    tcase_add_test(theory, a_string_on_a_side_does_not_jump_when_the_line_changes_sides);
    tcase_add_test(theory, strings_lift_off_without_a_jump);
    tcase_add_test(theory, strings_engage_and_lift_off_within_steps_of_a_nanometer);
    suite_add_tcase(suite, theory);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, an_end_may_be_inside_on_the_surface_or_nowhere);
    tcase_add_test(edges, points_in_line_with_the_center_have_a_string_too);
    tcase_add_test(edges, sizes_of_any_scale_give_the_same_string);
    tcase_add_test(edges, beyond_its_end_faces_a_cylinder_does_not_hold_a_string);
    tcase_add_test(edges, bad_obstacles_are_refused_with_their_name);
    tcase_add_test(edges, points_are_asked_for_with_a_sound_arc);
    suite_add_tcase(suite, edges);
    return test_run(suite);
}
