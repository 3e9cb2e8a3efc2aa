// Tests for geometry/src/detect/detect_patch.c: contact by the faces of a mesh.
#include "alloc_guard.h"
#include "detect_scene.h"

#include <float.h>

// Sizes are about 1 and a result takes some tens of operations.
#define ROUND 1e-13

// Depth of the point p_G in the other surface, below zero outside, and the way out (unit, in
// Ground).
typedef double (*depth_fn)(const tal_shape *other, const tal_xform *X, tal_vec3 p_G, tal_vec3 *out);

static double depth_in_half_space(const tal_shape *other, const tal_xform *X, tal_vec3 p_G,
                                  tal_vec3 *out)
{
    (void)other;
    *out = tal_v3_neg(X->R.x);
    return tal_xf_inv_apply(*X, p_G).x;
}

static double depth_in_sphere(const tal_shape *other, const tal_xform *X, tal_vec3 p_G,
                              tal_vec3 *out)
{
    *out = tal_v3_normalize(tal_v3_sub(p_G, X->p));
    return other->size.x - tal_v3_norm(tal_v3_sub(p_G, X->p));
}

static double depth_in_mesh(const tal_shape *other, const tal_xform *X, tal_vec3 p_G, tal_vec3 *out)
{
    const tal_vec3 p = tal_xf_inv_apply(*X, p_G);
    const tal_mesh_point at = tal_mesh_calc_nearest(other->mesh, p);
    *out = tal_m3_mul_v3(X->R, tal_v3_normalize(tal_v3_sub(at.p_S, p)));
    return at.is_inside ? at.distance : -at.distance;
}

// Every face of surface `side` whose centroid is inside the other is listed, and no other, with the
// depth and the direction that the definition says. Returns how many of them were seen.
static int assert_faces(const scene *s, int side, depth_fn depth_in, double share)
{
    const tal_mesh *mesh = s->surfaces[side].shape.mesh;
    const tal_xform *X = &s->X_GS[side], *X_other = &s->X_GS[1 - side];
    int listed = 0;
    for (int i = 0; i < s->store.num_faces; ++i) {
        listed += s->store.faces[i].surface == side;
    }
    int inside = 0;
    for (int f = 0; f < tal_mesh_num_faces(mesh); ++f) {
        const tal_vec3 p_G = tal_xf_apply(*X, tal_mesh_face_centroid(mesh, f));
        tal_vec3 out;
        const double depth = depth_in(&s->surfaces[1 - side].shape, X_other, p_G, &out);
        ck_assert_double_gt(fabs(depth), ROUND); // no face of these scenes is in doubt
        if (depth < 0.0) continue;
        ++inside;
        const tali_detect_face *found = NULL;
        for (int i = 0; i < s->store.num_faces; ++i) {
            const tali_detect_face *it = &s->store.faces[i];
            if (it->surface == side && it->face == f) found = it;
        }
        ck_assert_ptr_nonnull(found);
        ck_assert_double_eq_tol(found->depth, depth, ROUND);
        test_assert_v3_near(found->p_G, p_G, ROUND);
        ck_assert_double_eq_tol(found->area, share * tal_mesh_face_area(mesh, f), ROUND);
        // n pushes surface 1: the way out for its own faces, the opposite for those of surface 2
        const tal_vec3 n = tal_v3_scale(side == 0 ? 1.0 : -1.0, out);
        test_assert_v3_near(found->n_G, n, 10.0 * ROUND / depth);
    }
    ck_assert_int_eq(inside, listed);
    return inside;
}

// ---- what is listed

START_TEST(the_faces_listed_are_those_with_their_centroid_inside)
{
    test_rng rng = test_rng_seed(1);
    tal_mesh *ball = mesh_of_sphere(1.0, 2), *box = mesh_of_brick(tal_v3(0.6, 0.8, 1.0), 4, 5, 6);
    int count[3] = {0, 0, 0};
    for (int trial = 0; trial < 60; ++trial) {
        scene s = scene_begin();
        const int kind = trial % 3;
        scene_add(&s, tal_shape_mesh(trial % 2 == 0 ? ball : box), test_random_xform(&rng));
        scene_add(&s,
                  kind == 0   ? tal_shape_half_space()
                  : kind == 1 ? tal_shape_sphere(0.7)
                              : tal_shape_mesh(box),
                  test_random_xform(&rng));
        const bool is_swapped = trial % 4 < 2;
        if (is_swapped) scene_exchange(&s, 0, 1);
        const int side = is_swapped ? 1 : 0;

        const tali_detect_contact *contact = scene_detect(&s);

        if (kind == 0) count[0] += assert_faces(&s, side, depth_in_half_space, 1.0);
        if (kind == 1) count[1] += assert_faces(&s, side, depth_in_sphere, 1.0);
        if (kind == 2) {
            const int mine = assert_faces(&s, 0, depth_in_mesh, 0.5);
            const int others = assert_faces(&s, 1, depth_in_mesh, 0.5);
            count[2] += mine + others;
            // those of surface 1 come first
            for (int i = 0; i < mine + others; ++i) {
                ck_assert_int_eq(s.store.faces[i].surface, i >= mine);
            }
        }
        ck_assert((contact != NULL) == (s.store.num_faces > 0));
        if (contact != NULL) {
            ck_assert(contact->is_patch && contact->first == 0);
            ck_assert_int_eq(contact->count, s.store.num_faces);
        }
        scene_end(&s);
    }
    ck_assert(count[0] > 100 && count[1] > 100 && count[2] > 100);
    tal_mesh_destroy(ball);
    tal_mesh_destroy(box);
}

END_TEST

// The faces of a common motion are the same, but for those that round-off decides about.
START_TEST(a_common_motion_moves_patches_along)
{
    test_rng rng = test_rng_seed(2);
    tal_mesh *ball = mesh_of_sphere(1.0, 2);
    for (int trial = 0; trial < 30; ++trial) {
        scene s = scene_begin(), t = scene_begin();
        const tal_shape others[] = {tal_shape_half_space(), tal_shape_sphere(0.8),
                                    tal_shape_mesh(ball)};
        scene_add(&s, others[trial % 3], test_random_xform(&rng));
        scene_add(&s, tal_shape_mesh(ball), test_random_xform(&rng));
        const tal_xform X = test_random_xform(&rng);
        for (int i = 0; i < 2; ++i) {
            scene_add(&t, s.surfaces[i].shape, tal_xf_mul(X, s.X_GS[i]));
        }
        (void)scene_detect(&s);
        (void)scene_detect(&t);
        ck_assert_int_eq(s.store.num_faces, t.store.num_faces);
        for (int i = 0; i < s.store.num_faces; ++i) {
            const tali_detect_face *a = &s.store.faces[i], *b = &t.store.faces[i];
            ck_assert(a->face == b->face && a->surface == b->surface);
            ck_assert_double_eq_tol(a->depth, b->depth, ROUND);
            test_assert_v3_near(tal_xf_apply(X, a->p_G), b->p_G, ROUND);
            test_assert_v3_near(tal_m3_mul_v3(X.R, a->n_G), b->n_G, 10.0 * ROUND / a->depth);
        }
        scene_end(&s);
        scene_end(&t);
    }
    tal_mesh_destroy(ball);
}

END_TEST

// ---- sums over patches

// A mesh that is wholly inside: the divergence theorem for the field (depth) n gives the volume,
// exactly, since depth is linear over each face.
START_TEST(a_sunken_mesh_displaces_its_volume)
{
    test_rng rng = test_rng_seed(3);
    tal_mesh *ball = mesh_of_sphere(1.0, 3);
    scene s = scene_begin();
    const tal_xform X = test_random_xform(&rng);
    scene_add(&s, tal_shape_mesh(ball), X);
    const tal_vec3 m = test_random_unit(&rng);
    scene_add(&s, tal_shape_half_space(), scene_plane(&rng, tal_v3_axpy(1.5, m, X.p), m));
    (void)scene_detect(&s);
    ck_assert_int_eq(s.store.num_faces, tal_mesh_num_faces(ball));
    double volume = 0.0;
    for (int i = 0; i < s.store.num_faces; ++i) {
        const tali_detect_face *it = &s.store.faces[i];
        const tal_vec3 normal = tal_m3_mul_v3(X.R, tal_mesh_face_normal(ball, it->face));
        volume -= it->area * it->depth * tal_v3_dot(normal, it->n_G);
    }
    ck_assert_double_eq_tol(volume, tal_mesh_volume(ball), ROUND);
    scene_end(&s);
    tal_mesh_destroy(ball);
}

END_TEST

// A brick pressed flat onto a half-space by less than its lowest row of cells: its base only, and
// what the base displaces, exactly.
START_TEST(a_brick_pressed_flat_touches_with_its_base)
{
    tal_mesh *box = mesh_of_brick(tal_v3(0.6, 0.8, 1.0), 6, 8, 10);
    scene s = scene_begin();
    const double x = 0.01;
    test_rng rng = test_rng_seed(4);
    scene_add(&s, tal_shape_half_space(), scene_plane(&rng, TAL_VEC3_ZERO, tal_v3(0.0, 0.0, 1.0)));
    scene_add(&s, tal_shape_mesh(box), tal_xf_from_p(tal_v3(3.0, -2.0, 1.0 - x)));
    (void)scene_detect(&s);
    ck_assert_int_eq(s.store.num_faces, 2 * 6 * 8);
    double area = 0.0, volume = 0.0;
    for (int i = 0; i < s.store.num_faces; ++i) {
        area += s.store.faces[i].area;
        volume += s.store.faces[i].area * s.store.faces[i].depth;
    }
    ck_assert_double_eq_tol(area, 4.0 * 0.6 * 0.8, ROUND);
    ck_assert_double_eq_tol(volume, 4.0 * 0.6 * 0.8 * x, ROUND);
    scene_end(&s);
    tal_mesh_destroy(box);
}

END_TEST

// The area of faces of a mesh that a surface cuts: an upper bound for how wrong it can be that each
// of them counts as a whole or not at all.
static double area_cut(const tal_mesh *mesh, const tal_xform *X, const tal_shape *other,
                       const tal_xform *X_other, depth_fn depth_in)
{
    double area = 0.0;
    for (int f = 0; f < tal_mesh_num_faces(mesh); ++f) {
        int v[3], inside = 0;
        tal_mesh_face(mesh, f, v);
        for (int k = 0; k < 3; ++k) {
            tal_vec3 out;
            const tal_vec3 p = tal_xf_apply(*X, tal_mesh_vertex(mesh, v[k]));
            inside += depth_in(other, X_other, p, &out) > 0.0;
        }
        if (inside == 1 || inside == 2) area += tal_mesh_face_area(mesh, f);
    }
    return area;
}

// A cap of height d of a sphere of radius R: area 2 pi R d, volume pi d^2 (3 R - d) / 3. The mesh
// lacks of each what it lacks of the whole sphere, at most; cut faces count by area and edge.
START_TEST(a_mesh_sphere_on_a_half_space_is_a_spherical_cap)
{
    const double R = 1.0, d = 0.4;
    double last_error = (double)INFINITY;
    for (int level = 2; level <= 5; ++level) {
        tal_mesh *ball = mesh_of_sphere(R, level);
        scene s = scene_begin();
        test_rng rng = test_rng_seed(5);
        scene_add(&s, tal_shape_half_space(),
                  scene_plane(&rng, TAL_VEC3_ZERO, tal_v3(0.0, 0.0, 1.0)));
        scene_add(&s, tal_shape_mesh(ball),
                  tal_xf(test_random_rotation(&rng), tal_v3(0.3, 0.2, R - d)));
        (void)scene_detect(&s);
        double area = 0.0, volume = 0.0;
        for (int i = 0; i < s.store.num_faces; ++i) {
            const tali_detect_face *it = &s.store.faces[i];
            const tal_vec3 normal =
                tal_m3_mul_v3(s.X_GS[1].R, tal_mesh_face_normal(ball, it->face));
            area += it->area;
            volume += it->area * it->depth * tal_v3_dot(normal, it->n_G);
        }
        const double cut =
            area_cut(ball, &s.X_GS[1], &s.surfaces[0].shape, &s.X_GS[0], depth_in_half_space);
        const double lacks_area = 4.0 * TAL_PI * R * R - tal_mesh_area(ball);
        const double lacks_volume = 4.0 / 3.0 * TAL_PI * R * R * R - tal_mesh_volume(ball);
        ck_assert_double_eq_tol(area, 2.0 * TAL_PI * R * d, cut + lacks_area);
        const double edge = 1.2 * pow(0.5, level),
                     error = fabs(volume - TAL_PI * d * d * (3.0 * R - d) / 3.0);
        ck_assert_double_lt(error, edge * cut + lacks_volume);
        // all of that is of second order: by 4 per level, and 2.5 leaves room for how cells fall
        ck_assert_double_lt(error, last_error / 2.5);
        last_error = error;
        scene_end(&s);
        tal_mesh_destroy(ball);
    }
    ck_assert_double_lt(last_error, 2e-3 * TAL_PI * d * d * (3.0 * R - d) / 3.0);
}

END_TEST

// A sphere pressed by d into a plate: the disc of radius a with a^2 = 2 R d - d^2, and the integral
// of R - sqrt(h^2 + r^2) over it, h = R - d: pi R a^2 - 2/3 pi (R^3 - h^3).
START_TEST(a_sphere_in_a_plate_makes_the_dent_of_a_sphere_in_a_half_space)
{
    const double R = 0.5, d = 0.1, h = R - d, a2 = 2.0 * R * d - d * d;
    const double dent = TAL_PI * R * a2 - 2.0 / 3.0 * TAL_PI * (R * R * R - h * h * h);
    test_rng rng = test_rng_seed(6);
    for (int n = 20; n <= 80; n *= 2) {
        tal_mesh *plate = mesh_of_brick(tal_v3(0.5, 0.5, 0.5), n, n, 1);
        scene s = scene_begin();
        const tal_xform X = test_random_xform(&rng);
        scene_add(
            &s, tal_shape_sphere(R),
            tal_xf(test_random_rotation(&rng), tal_xf_apply(X, tal_v3(0.013, 0.007, 0.5 + h))));
        scene_add(&s, tal_shape_mesh(plate), X);
        (void)scene_detect(&s);
        double area = 0.0, sum = 0.0;
        tal_vec3 push = TAL_VEC3_ZERO;
        for (int i = 0; i < s.store.num_faces; ++i) {
            const tali_detect_face *it = &s.store.faces[i];
            area += it->area;
            sum += it->area * it->depth;
            push = tal_v3_axpy(it->area * it->depth, it->n_G, push);
        }
        const double cut =
            area_cut(plate, &s.X_GS[1], &s.surfaces[0].shape, &s.X_GS[0], depth_in_sphere);
        ck_assert_double_eq_tol(area, TAL_PI * a2, cut);
        // a cut face has depth below its longest side; inside, the midpoint rule is wrong by a
        // third of side^2 times the curvature 1/h, which is generous
        const double side = sqrt(2.0) / n;
        ck_assert_double_eq_tol(sum, dent, cut * side + TAL_PI * a2 * side * side / (3.0 * h));
        // the sphere is pushed straight out of the plate
        const tal_vec3 direction = tal_m3_tmul_v3(X.R, tal_v3_normalize(push));
        test_assert_v3_near(direction, tal_v3(0.0, 0.0, 1.0), 2.0 * side);
        scene_end(&s);
        tal_mesh_destroy(plate);
    }
}

END_TEST

// Two spheres of radius R whose centers are 2 R - d apart: each has a cap of height d / 2 in the
// other, so the patch has area 2 pi R (d / 2). The depth of a point of one at angle t from the axis
// is R - sqrt(R^2 - 2 R D cos t + D^2).
START_TEST(mesh_spheres_meet_in_a_lens)
{
    const double R = 1.0, d = 0.5, D = 2.0 * R - d;
    test_rng rng = test_rng_seed(7);
    double last_error = (double)INFINITY;
    for (int level = 2; level <= 4; ++level) {
        tal_mesh *ball = mesh_of_sphere(R, level);
        scene s = scene_begin();
        const tal_vec3 axis = test_random_unit(&rng), at = test_random_vec3(&rng);
        scene_add(&s, tal_shape_mesh(ball), tal_xf(test_random_rotation(&rng), at));
        scene_add(&s, tal_shape_mesh(ball),
                  tal_xf(test_random_rotation(&rng), tal_v3_axpy(D, axis, at)));
        (void)scene_detect(&s);
        double area = 0.0, worst = 0.0;
        tal_vec3 push = TAL_VEC3_ZERO;
        for (int i = 0; i < s.store.num_faces; ++i) {
            const tali_detect_face *it = &s.store.faces[i];
            area += it->area;
            push = tal_v3_axpy(it->area * it->depth, it->n_G, push);
            const tal_vec3 other = s.X_GS[1 - it->surface].p;
            const double depth = R - tal_v3_norm(tal_v3_sub(it->p_G, other));
            worst = fmax(worst, fabs(depth - it->depth));
        }
        double cut = 0.0;
        for (int side = 0; side < 2; ++side) {
            cut += 0.5 * area_cut(ball, &s.X_GS[side], &s.surfaces[1 - side].shape,
                                  &s.X_GS[1 - side], depth_in_mesh);
        }
        const double lacks = 4.0 * TAL_PI * R * R - tal_mesh_area(ball);
        ck_assert_double_eq_tol(area, TAL_PI * R * d, cut + lacks);
        // the other mesh is a sphere but for the height of its faces below it, of second order
        ck_assert_double_lt(worst, last_error / 3.0);
        last_error = worst;
        // surface 1 is pushed away from surface 2
        test_assert_v3_near(tal_v3_normalize(push), tal_v3_neg(axis), 0.2 * pow(0.5, level));
        scene_end(&s);
        tal_mesh_destroy(ball);
    }
}

END_TEST

// ---- special places

START_TEST(a_sphere_about_a_centroid_pushes_the_face_inwards)
{
    tal_mesh *box = mesh_of_brick(tal_v3(1.0, 1.0, 1.0), 2, 2, 2);
    test_rng rng = test_rng_seed(8);
    scene s = scene_begin();
    const int f = 7;
    scene_add(&s, tal_shape_sphere(0.1),
              tal_xf(test_random_rotation(&rng), tal_mesh_face_centroid(box, f)));
    scene_add(&s, tal_shape_mesh(box), TAL_XFORM_IDENTITY);
    (void)scene_detect(&s);
    ck_assert_int_eq(s.store.num_faces, 1);
    ck_assert_int_eq(s.store.faces[0].face, f);
    ck_assert_double_eq(s.store.faces[0].depth, 0.1);
    test_assert_v3_near(s.store.faces[0].n_G, tal_mesh_face_normal(box, f), 0.0);
    scene_end(&s);
    tal_mesh_destroy(box);
}

END_TEST

// The same mesh twice in the same place: every centroid is on the other's surface, at depth zero,
// which is not contact. Pushed along x by h, the four triangles at either end are inside the other
// by h, and no others.
START_TEST(a_mesh_in_its_own_place_has_no_depth)
{
    tal_mesh *box = mesh_of_brick(tal_v3(1.0, 0.5, 0.25), 4, 2, 1);
    const double h = 0.0078125;
    for (int k = 0; k < 2; ++k) {
        scene s = scene_begin();
        scene_add(&s, tal_shape_mesh(box), TAL_XFORM_IDENTITY);
        scene_add(&s, tal_shape_mesh(box), tal_xf_from_p(tal_v3(k * h, 0.0, 0.0)));
        (void)scene_detect(&s);
        ck_assert_int_eq(s.store.num_faces, 8 * k);
        for (int i = 0; i < s.store.num_faces; ++i) {
            ck_assert_double_eq_tol(s.store.faces[i].depth, h, 4.0 * DBL_EPSILON);
            ck_assert_double_eq_tol(fabs(s.store.faces[i].n_G.x), 1.0, 4.0 * DBL_EPSILON);
        }
        scene_end(&s);
    }
    tal_mesh_destroy(box);
}

END_TEST

START_TEST(finding_patches_leaves_the_heap_alone)
{
    tal_mesh *ball = mesh_of_sphere(1.0, 3);
    scene s = scene_begin();
    scene_add(&s, tal_shape_half_space(), TAL_XFORM_IDENTITY);
    scene_add(&s, tal_shape_mesh(ball), TAL_XFORM_IDENTITY);
    scene_add(&s, tal_shape_mesh(ball), tal_xf_from_p(tal_v3(0.1, 1.5, 0.0)));
    scene_add(&s, tal_shape_sphere(0.5), tal_xf_from_p(tal_v3(0.1, 0.5, 0.0)));
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tali_detect_contacts(s.surfaces, s.n, s.X_GS, &s.store, NULL));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_eq(s.store.num_contacts, 6);
    scene_end(&s);
    tal_mesh_destroy(ball);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("contact patches");
    TCase *listed = tcase_create("what is listed");
    tcase_add_test(listed, the_faces_listed_are_those_with_their_centroid_inside);
    tcase_add_test(listed, a_common_motion_moves_patches_along);
    suite_add_tcase(suite, listed);
    TCase *sums = tcase_create("sums");
    tcase_add_test(sums, a_sunken_mesh_displaces_its_volume);
    tcase_add_test(sums, a_brick_pressed_flat_touches_with_its_base);
    tcase_add_test(sums, a_mesh_sphere_on_a_half_space_is_a_spherical_cap);
    tcase_add_test(sums, a_sphere_in_a_plate_makes_the_dent_of_a_sphere_in_a_half_space);
    tcase_add_test(sums, mesh_spheres_meet_in_a_lens);
    suite_add_tcase(suite, sums);
    TCase *special = tcase_create("special");
    tcase_add_test(special, a_sphere_about_a_centroid_pushes_the_face_inwards);
    tcase_add_test(special, a_mesh_in_its_own_place_has_no_depth);
    tcase_add_test(special, finding_patches_leaves_the_heap_alone);
    suite_add_tcase(suite, special);
    return test_run(suite);
}
