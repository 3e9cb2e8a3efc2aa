// Tests for geometry/src/mesh/mesh.c, mesh_tree.c and mesh_generate.c: triangle meshes.
#include "detect_scene.h"
#include "mesh/mesh_internal.h"
#include "talus_test.h"

#include <stdlib.h>

// Sizes are about 1 and a result takes some ten operations.
#define ROUND 1e-13

static tal_mesh *cylinder(double radius, double half_length, int around)
{
    tal_mesh *mesh = NULL;
    tal_error err;
    const tal_status st = tal_mesh_create_cylinder(NULL, radius, half_length, around, &mesh, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return mesh;
}

// A sphere whose vertices are moved in and out at random: star-shaped, with sharp edges of both
// kinds.
static tal_mesh *star(int level, uint64_t seed)
{
    tal_mesh *round = mesh_of_sphere(1.0, level), *mesh = NULL;
    test_rng rng = test_rng_seed(seed);
    tal_vec3 *vertices = malloc((size_t)round->num_vertices * sizeof vertices[0]);
    int *faces = malloc(3 * (size_t)round->num_faces * sizeof faces[0]);
    for (int v = 0; v < round->num_vertices; ++v) {
        const double r = test_random_uniform(&rng, 0.5, 1.5);
        vertices[v] = tal_v3_scale(r, tal_mesh_vertex(round, v));
    }
    for (int f = 0; f < round->num_faces; ++f) {
        tal_mesh_face(round, f, faces + 3 * f);
    }
    ck_assert_int_eq(
        tal_mesh_create(NULL, vertices, round->num_vertices, faces, round->num_faces, &mesh, NULL),
        TAL_OK);
    free(vertices);
    free(faces);
    tal_mesh_destroy(round);
    return mesh;
}

// ---- what every mesh obeys

// V - E + F = 2 for a surface without handles; sum of n A = 0; neighbors know each other; the tree
// holds every face once, in boxes that hold it.
static void assert_sound(const tal_mesh *mesh)
{
    const int nf = tal_mesh_num_faces(mesh);
    ck_assert_int_eq(nf % 2, 0);
    ck_assert_int_eq(tal_mesh_num_vertices(mesh) - 3 * nf / 2 + nf, 2);
    tal_vec3 closed = TAL_VEC3_ZERO;
    double area = 0.0;
    for (int f = 0; f < nf; ++f) {
        const double a = tal_mesh_face_area(mesh, f);
        area += a;
        closed = tal_v3_axpy(a, tal_mesh_face_normal(mesh, f), closed);
        int v[3], n[3];
        tal_mesh_face(mesh, f, v);
        tal_mesh_neighbors(mesh, f, n);
        tal_vec3 mean = TAL_VEC3_ZERO;
        for (int k = 0; k < 3; ++k) {
            int back[3], w[3];
            mean = tal_v3_axpy(1.0 / 3.0, tal_mesh_vertex(mesh, v[k]), mean);
            tal_mesh_neighbors(mesh, n[k], back);
            tal_mesh_face(mesh, n[k], w);
            bool is_there = false;
            for (int j = 0; j < 3; ++j) {
                is_there |= back[j] == f && w[j] == v[(k + 1) % 3] && w[(j + 1) % 3] == v[k];
            }
            ck_assert(is_there);
        }
        test_assert_v3_near(mean, tal_mesh_face_centroid(mesh, f), ROUND);
    }
    ck_assert_double_eq_tol(area, tal_mesh_area(mesh), ROUND * area);
    test_assert_v3_near(closed, TAL_VEC3_ZERO, ROUND * area);
    char *seen = calloc((size_t)nf, 1);
    for (int i = 0; i < mesh->num_nodes; ++i) {
        const tali_mesh_node *node = &mesh->nodes[i];
        if (node->right != 0) {
            ck_assert_int_eq(node->count,
                             mesh->nodes[i + 1].count + mesh->nodes[node->right].count);
            continue;
        }
        for (int j = node->first; j < node->first + node->count; ++j) {
            seen[mesh->order[j]] += 1;
            for (int k = 0; k < 3; ++k) {
                const int v = mesh->faces[mesh->order[j]].vertex[k];
                ck_assert_double_eq(tali_mesh_box_distance2(&node->box, mesh->vertices[v]), 0.0);
            }
        }
    }
    for (int f = 0; f < nf; ++f) {
        ck_assert_int_eq(seen[f], 1);
    }
    free(seen);
}

START_TEST(a_brick_has_the_area_and_volume_of_a_brick)
{
    test_rng rng = test_rng_seed(1);
    for (int trial = 0; trial < 30; ++trial) {
        const int n[3] = {1 + (int)(test_random_bits(&rng) % 6),
                          1 + (int)(test_random_bits(&rng) % 6),
                          1 + (int)(test_random_bits(&rng) % 6)};
        const tal_vec3 h =
            tal_v3(test_random_uniform(&rng, 0.2, 2.0), test_random_uniform(&rng, 0.2, 2.0),
                   test_random_uniform(&rng, 0.2, 2.0));
        tal_mesh *mesh = mesh_of_brick(h, n[0], n[1], n[2]);
        assert_sound(mesh);
        ck_assert_int_eq(tal_mesh_num_faces(mesh), 4 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]));
        ck_assert_double_eq_tol(tal_mesh_volume(mesh), 8.0 * h.x * h.y * h.z, 100.0 * ROUND);
        ck_assert_double_eq_tol(tal_mesh_area(mesh), 8.0 * (h.x * h.y + h.y * h.z + h.z * h.x),
                                100.0 * ROUND);
        tal_mesh_destroy(mesh);
    }
}

END_TEST

// Diagonals change from cell to cell: where cells pair up, a side has no xy moment.
START_TEST(the_sides_of_a_brick_prefer_no_diagonal)
{
    tal_mesh *mesh = mesh_of_brick(tal_v3(1.0, 1.0, 1.0), 2, 2, 2);
    double moment = 0.0;
    for (int f = 0; f < tal_mesh_num_faces(mesh); ++f) {
        const tal_vec3 c = tal_mesh_face_centroid(mesh, f);
        if (tal_mesh_face_normal(mesh, f).z > 0.5) {
            moment += tal_mesh_face_area(mesh, f) * c.x * c.y;
        }
    }
    ck_assert_double_eq_tol(moment, 0.0, ROUND);
    tal_mesh_destroy(mesh);
}

END_TEST

// A prism over a regular polygon of m corners on the circle: base area m/2 r^2 sin(2 pi / m), side
// m times 2 r sin(pi / m) times the length.
START_TEST(a_cylinder_is_a_prism)
{
    for (int m = 3; m < 40; ++m) {
        const double r = 0.7, h = 0.9;
        tal_mesh *mesh = cylinder(r, h, m);
        assert_sound(mesh);
        const double base = 0.5 * m * r * r * sin(2.0 * TAL_PI / m);
        const double side = 4.0 * m * r * h * sin(TAL_PI / m);
        ck_assert_double_eq_tol(tal_mesh_volume(mesh), 2.0 * h * base, 100.0 * ROUND);
        ck_assert_double_eq_tol(tal_mesh_area(mesh), 2.0 * base + side, 100.0 * ROUND);
        tal_mesh_destroy(mesh);
    }
    // flat and slender ones
    tal_mesh *coin = cylinder(1.0, 1e-3, 12), *needle = cylinder(1e-2, 1.0, 4);
    assert_sound(coin);
    assert_sound(needle);
    ck_assert_int_gt(tal_mesh_num_faces(needle), 500);
    tal_mesh_destroy(coin);
    tal_mesh_destroy(needle);
}

END_TEST

// Vertices are on the sphere, so the mesh is inside, and what is missing falls by 4 when edges are
// halved; the icosahedron itself has volume 5/12 (3 + sqrt 5) a^3 at edge a.
START_TEST(finer_spheres_approach_the_sphere_from_inside_at_second_order)
{
    const double r = 2.0, volume = 4.0 / 3.0 * TAL_PI * r * r * r, area = 4.0 * TAL_PI * r * r;
    double missing_volume = 0.0, missing_area = 0.0;
    for (int level = 0; level <= 4; ++level) {
        tal_mesh *mesh = mesh_of_sphere(r, level);
        assert_sound(mesh);
        ck_assert_int_eq(tal_mesh_num_faces(mesh), 20 << (2 * level));
        for (int v = 0; v < tal_mesh_num_vertices(mesh); ++v) {
            ck_assert_double_eq_tol(tal_v3_norm(tal_mesh_vertex(mesh, v)), r, ROUND);
        }
        const double dv = volume - tal_mesh_volume(mesh), da = area - tal_mesh_area(mesh);
        if (level == 0) {
            const double edge = r * 4.0 / sqrt(10.0 + 2.0 * sqrt(5.0));
            ck_assert_double_eq_tol(tal_mesh_volume(mesh),
                                    5.0 / 12.0 * (3.0 + sqrt(5.0)) * edge * edge * edge,
                                    100.0 * ROUND);
        } else {
            // the quotient is 4 + O(edge^2), and what it lacks falls by 4 as well
            const double tol = 1.2 * pow(4.0, 1 - level);
            ck_assert_double_eq_tol(missing_volume / dv, 4.0, tol);
            ck_assert_double_eq_tol(missing_area / da, 4.0, tol);
        }
        missing_volume = dv;
        missing_area = da;
        tal_mesh_destroy(mesh);
    }
}

END_TEST

// Far from the origin no digits of the volume are lost but those of the vertices themselves.
START_TEST(the_volume_does_not_depend_on_where_the_mesh_is)
{
    tal_mesh *mesh = star(2, 3), *moved = NULL;
    const tal_vec3 far = tal_v3(1e4, -2e4, 3e4);
    tal_vec3 vertices[200];
    int faces[3 * 400];
    ck_assert_int_le(mesh->num_faces, 400);
    for (int v = 0; v < mesh->num_vertices; ++v) {
        vertices[v] = tal_v3_add(mesh->vertices[v], far);
    }
    for (int f = 0; f < mesh->num_faces; ++f) {
        tal_mesh_face(mesh, f, faces + 3 * f);
    }
    ck_assert_int_eq(
        tal_mesh_create(NULL, vertices, mesh->num_vertices, faces, mesh->num_faces, &moved, NULL),
        TAL_OK);
    // vertices are rounded to 3e4 eps = 7e-12, over an area of about 20
    ck_assert_double_eq_tol(tal_mesh_volume(moved), tal_mesh_volume(mesh), 1e-10);
    tal_mesh_destroy(mesh);
    tal_mesh_destroy(moved);
}

END_TEST

// ---- nearest points

// The nearest point of a triangle by coordinates along its edges, or else on one of the edges.
static double distance_to_face(const tal_mesh *mesh, int f, tal_vec3 q)
{
    int v[3];
    tal_mesh_face(mesh, f, v);
    const tal_vec3 a = tal_mesh_vertex(mesh, v[0]);
    const tal_vec3 e = tal_v3_sub(tal_mesh_vertex(mesh, v[1]), a);
    const tal_vec3 g = tal_v3_sub(tal_mesh_vertex(mesh, v[2]), a), d = tal_v3_sub(q, a);
    const double ee = tal_v3_dot(e, e), gg = tal_v3_dot(g, g), eg = tal_v3_dot(e, g);
    const double de = tal_v3_dot(d, e), dg = tal_v3_dot(d, g), det = ee * gg - eg * eg;
    const double s = (de * gg - dg * eg) / det, t = (dg * ee - de * eg) / det;
    double best = (double)INFINITY;
    if (s >= 0.0 && t >= 0.0 && s + t <= 1.0) {
        const tal_vec3 p = tal_v3_axpy(s, e, tal_v3_axpy(t, g, a));
        best = tal_v3_norm(tal_v3_sub(q, p));
    }
    for (int k = 0; k < 3; ++k) {
        const tal_vec3 from = tal_mesh_vertex(mesh, v[k]),
                       to = tal_mesh_vertex(mesh, v[(k + 1) % 3]);
        const tal_vec3 way = tal_v3_sub(to, from);
        const double along = tal_v3_dot(tal_v3_sub(q, from), way) / tal_v3_dot(way, way);
        const tal_vec3 p = tal_v3_axpy(fmin(1.0, fmax(0.0, along)), way, from);
        best = fmin(best, tal_v3_norm(tal_v3_sub(q, p)));
    }
    return best;
}

START_TEST(the_tree_finds_what_looking_at_every_face_finds)
{
    test_rng rng = test_rng_seed(4);
    for (int trial = 0; trial < 20; ++trial) {
        tal_mesh *mesh = star(1 + trial % 2, 100 + (uint64_t)trial);
        for (int i = 0; i < 50; ++i) {
            const tal_vec3 q = tal_v3_scale(2.0, test_random_vec3(&rng));
            const tal_mesh_point at = tal_mesh_calc_nearest(mesh, q);
            double best = (double)INFINITY;
            for (int f = 0; f < tal_mesh_num_faces(mesh); ++f) {
                best = fmin(best, distance_to_face(mesh, f, q));
            }
            ck_assert_double_eq_tol(at.distance, best, ROUND);
            ck_assert_double_eq_tol(tal_v3_norm(tal_v3_sub(at.p_S, q)), at.distance, ROUND);
            ck_assert_double_eq_tol(distance_to_face(mesh, at.face, at.p_S), 0.0, ROUND);
        }
        tal_mesh_destroy(mesh);
    }
}

END_TEST

// A star is entered or left once by every ray from its center, so where that is tells which points
// are inside; the nearest points here are on faces, ridges, valleys, peaks and pits.
START_TEST(inside_and_outside_are_told_apart_at_peaks_and_ridges)
{
    test_rng rng = test_rng_seed(5);
    int count[2] = {0, 0};
    for (int trial = 0; trial < 20; ++trial) {
        tal_mesh *mesh = star(1 + trial % 2, 200 + (uint64_t)trial);
        for (int i = 0; i < 100; ++i) {
            const tal_vec3 q = tal_v3_scale(1.5, test_random_vec3(&rng));
            const tal_mesh_point hit = tal_mesh_calc_ray(mesh, TAL_VEC3_ZERO, q);
            ck_assert(hit.face >= 0 && hit.is_inside);
            const bool is_inside = tal_v3_norm(q) < hit.distance;
            ck_assert(tal_mesh_calc_nearest(mesh, q).is_inside == is_inside);
            ++count[is_inside];
        }
        // straight out of a peak, nearest to the peak itself or not, is outside; just in is inside
        for (int v = 0; v < tal_mesh_num_vertices(mesh); ++v) {
            const tal_vec3 p = tal_mesh_vertex(mesh, v);
            ck_assert(!tal_mesh_calc_nearest(mesh, tal_v3_scale(1.0 + 1e-9, p)).is_inside);
            ck_assert(tal_mesh_calc_nearest(mesh, tal_v3_scale(1.0 - 1e-9, p)).is_inside);
        }
        tal_mesh_destroy(mesh);
    }
    ck_assert(count[0] > 100 && count[1] > 100);
}

END_TEST

// A tetrahedron is what is behind all four of its faces; from far out most nearest points are its
// corners, whose normals point every way.
START_TEST(around_a_convex_solid_outside_is_in_front_of_a_face)
{
    test_rng rng = test_rng_seed(8);
    const tal_vec3 corner[] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const int face[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create(NULL, corner, 4, face, 4, &mesh, NULL), TAL_OK);
    for (int i = 0; i < 2000; ++i) {
        const tal_vec3 q = tal_v3_scale(i % 2 == 0 ? 1.0 : 4.0, test_random_vec3(&rng));
        bool is_inside = true;
        for (int f = 0; f < 4; ++f) {
            const tal_vec3 from = tal_mesh_face_centroid(mesh, f);
            is_inside &= tal_v3_dot(tal_mesh_face_normal(mesh, f), tal_v3_sub(q, from)) <= 0.0;
        }
        ck_assert(tal_mesh_calc_nearest(mesh, q).is_inside == is_inside);
    }
    tal_mesh_destroy(mesh);
}

END_TEST

START_TEST(a_point_on_the_surface_is_inside_at_distance_zero)
{
    tal_mesh *mesh = mesh_of_brick(tal_v3(1.0, 1.0, 1.0), 2, 2, 2);
    const tal_vec3 on[] = {tal_v3(1.0, 0.3, 0.1), tal_v3(1.0, 1.0, 0.25), tal_v3(-1.0, 1.0, 1.0)};
    for (int i = 0; i < 3; ++i) {
        const tal_mesh_point at = tal_mesh_calc_nearest(mesh, on[i]);
        ck_assert(at.is_inside && at.face >= 0);
        ck_assert_double_eq(at.distance, 0.0);
        test_assert_v3_near(at.p_S, on[i], 0.0);
    }
    const double nan = (double)NAN;
    ck_assert_int_eq(tal_mesh_calc_nearest(mesh, tal_v3(nan, 0.0, 0.0)).face, -1);
    ck_assert_int_eq(tal_mesh_calc_nearest(mesh, tal_v3((double)INFINITY, 0.0, 0.0)).face, -1);
    tal_mesh_destroy(mesh);
}

END_TEST

// ---- rays

// A ray into a box leaves it where the first of its coordinates reaches a side.
START_TEST(rays_meet_a_brick_where_its_sides_are)
{
    test_rng rng = test_rng_seed(6);
    const tal_vec3 h = tal_v3(0.5, 1.0, 1.5);
    tal_mesh *mesh = mesh_of_brick(h, 3, 4, 5);
    for (int i = 0; i < 500; ++i) {
        const tal_vec3 o = tal_v3_mul(h, tal_v3_scale(0.99, test_random_vec3(&rng)));
        const tal_vec3 d = test_random_unit(&rng);
        const double out =
            fmin((copysign(h.x, d.x) - o.x) / d.x,
                 fmin((copysign(h.y, d.y) - o.y) / d.y, (copysign(h.z, d.z) - o.z) / d.z));
        const tal_mesh_point hit = tal_mesh_calc_ray(mesh, o, tal_v3_scale(3.0, d));
        ck_assert(hit.is_inside && hit.face >= 0);
        ck_assert_double_eq_tol(hit.distance, out, ROUND);
        test_assert_v3_near(hit.p_S, tal_v3_axpy(out, d, o), ROUND);
        // the same way back from outside enters there, and the way on meets nothing
        const tal_vec3 beyond = tal_v3_axpy(out + 1.0, d, o);
        const tal_mesh_point back = tal_mesh_calc_ray(mesh, beyond, tal_v3_neg(d));
        ck_assert(!back.is_inside);
        ck_assert_double_eq_tol(back.distance, 1.0, 10.0 * ROUND);
        ck_assert_int_eq(tal_mesh_calc_ray(mesh, beyond, d).face, -1);
    }
    tal_mesh_destroy(mesh);
}

END_TEST

START_TEST(no_ray_slips_through_an_edge_or_a_corner)
{
    tal_mesh *mesh = star(2, 7);
    test_rng rng = test_rng_seed(7);
    for (int f = 0; f < tal_mesh_num_faces(mesh); ++f) {
        int v[3];
        tal_mesh_face(mesh, f, v);
        const tal_vec3 a = tal_mesh_vertex(mesh, v[0]), b = tal_mesh_vertex(mesh, v[1]);
        const double t = test_random_uniform(&rng, 0.0, 1.0);
        const tal_vec3 on_edge = tal_v3_axpy(t, tal_v3_sub(b, a), a);
        ck_assert_double_eq_tol(tal_mesh_calc_ray(mesh, TAL_VEC3_ZERO, a).distance, tal_v3_norm(a),
                                1e-12);
        ck_assert_double_eq_tol(tal_mesh_calc_ray(mesh, TAL_VEC3_ZERO, on_edge).distance,
                                tal_v3_norm(on_edge), 1e-12);
    }
    tal_mesh_destroy(mesh);
    // along the axes through the middle of a brick's sides, where four cells meet, and along a side
    tal_mesh *cube = mesh_of_brick(tal_v3(1.0, 1.0, 1.0), 2, 2, 2);
    for (int k = 0; k < 6; ++k) {
        const tal_vec3 d = tal_v3_scale(k % 2 == 0 ? 1.0 : -1.0, tal_v3_axis((tal_axis)(k / 2)));
        ck_assert_double_eq(tal_mesh_calc_ray(cube, TAL_VEC3_ZERO, d).distance, 1.0);
        ck_assert_double_eq(tal_mesh_calc_ray(cube, tal_v3_scale(3.0, d), tal_v3_neg(d)).distance,
                            2.0);
        ck_assert_int_eq(tal_mesh_calc_ray(cube, tal_v3(1.5, 1.5, 1.5), d).face, -1);
    }
    tal_mesh_destroy(cube);
}

END_TEST

// ---- bad meshes

// A tetrahedron that faces outwards.
static const tal_vec3 corners[] = {
    {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {2.0, 0.0, 0.0},
};
static const int tetrahedron[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static void assert_refused(const tal_vec3 vertices[], int nv, const int faces[], int nf,
                           tal_status status, const char *part)
{
    tal_mesh *mesh = (tal_mesh *)(void *)&status;
    tal_error err;
    ck_assert_int_eq(tal_mesh_create(NULL, vertices, nv, faces, nf, &mesh, &err), status);
    ck_assert_ptr_null(mesh);
    ck_assert_int_eq(err.status, status);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    ck_assert_int_eq(tal_mesh_create(NULL, vertices, nv, faces, nf, &mesh, NULL), status);
}

START_TEST(bad_meshes_are_refused_with_face_and_vertex)
{
    tal_mesh *mesh = NULL;
    tal_error err;
    ck_assert_int_eq(tal_mesh_create(NULL, corners, 4, tetrahedron, 4, &mesh, &err), TAL_OK);
    ck_assert_int_eq(err.status, TAL_OK);
    ck_assert_double_eq_tol(tal_mesh_volume(mesh), 1.0 / 6.0, ROUND);
    tal_mesh_destroy(mesh);

    assert_refused(corners, 3, tetrahedron, 4, TAL_ERR_BAD_VALUE, "3 vertices and 4 faces");
    assert_refused(corners, 4, tetrahedron, 3, TAL_ERR_BAD_VALUE, "4 vertices and 3 faces");
    assert_refused(corners, 5, tetrahedron, 4, TAL_ERR_BAD_VALUE,
                   "vertex 4 of the mesh belongs to");

    tal_vec3 bad[4];
    memcpy(bad, corners, sizeof bad);
    bad[2].y = (double)NAN;
    assert_refused(bad, 4, tetrahedron, 4, TAL_ERR_NOT_FINITE, "vertex 2 of the mesh");
    memcpy(bad, corners, sizeof bad);
    bad[3] = tal_v3(0.5, 0.5, 0.0); // between 1 and 2
    assert_refused(bad, 4, tetrahedron, 4, TAL_ERR_BAD_VALUE,
                   "face 3 of the mesh (vertices 1, 2, 3)");
    bad[3] = tal_v3(0.25, 0.25, 0.0); // flat, but every face has area
    assert_refused(bad, 4, tetrahedron, 4, TAL_ERR_BAD_VALUE, "flat or inside out");

    const int out_of_range[] = {0, 2, 1, 0, 1, 3, 0, 4, 2, 1, 2, 3};
    assert_refused(corners, 4, out_of_range, 4, TAL_ERR_BAD_INDEX,
                   "face 2 of the mesh uses vertex 4");
    const int negative[] = {0, 2, 1, 0, 1, -3, 0, 3, 2, 1, 2, 3};
    assert_refused(corners, 4, negative, 4, TAL_ERR_BAD_INDEX, "face 1 of the mesh uses vertex -3");
    const int twice[] = {0, 2, 1, 0, 1, 3, 0, 3, 3, 1, 2, 3};
    assert_refused(corners, 4, twice, 4, TAL_ERR_BAD_VALUE,
                   "face 2 of the mesh (vertices 0, 3, 3)");
    const int turned[] = {0, 1, 2, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    assert_refused(corners, 4, turned, 4, TAL_ERR_BAD_VALUE,
                   "same direction: one of them is inside out");
    const int inverted[] = {0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2};
    assert_refused(corners, 4, inverted, 4, TAL_ERR_BAD_VALUE, "encloses -0.166667 m^3");
    const int open[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 4, 2, 3};
    assert_refused(corners, 5, open, 4, TAL_ERR_BAD_VALUE,
                   "the mesh is open: the edge of vertices 1 and 2");
    const int fin[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3, 0, 1, 4};
    tal_vec3 with_fin[5];
    memcpy(with_fin, corners, sizeof with_fin);
    with_fin[4] = tal_v3(1.0, -1.0, -1.0);
    assert_refused(with_fin, 5, fin, 5, TAL_ERR_BAD_VALUE, "belongs to 3 faces");
}

END_TEST

// Two tetrahedra with one vertex in common: every edge is right, the vertex is not.
START_TEST(two_solids_may_not_share_a_vertex)
{
    const tal_vec3 vertices[] = {corners[0],       corners[1],       corners[2],      corners[3],
                                 {-1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}};
    // mirrored at the origin, which turns a tetrahedron inside out, and turned round again
    const int faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3, 0, 4, 5, 0, 6, 4, 0, 5, 6, 4, 6, 5};
    assert_refused(vertices, 7, faces, 8, TAL_ERR_BAD_VALUE,
                   "the mesh pinches at vertex 0: of its 6 faces, 3 make a fan");
    // each with its own: two solids in one mesh
    tal_vec3 apart[8];
    memcpy(apart, vertices, sizeof vertices);
    apart[7] = corners[0];
    int two[24];
    for (int i = 0; i < 24; ++i) {
        two[i] = i >= 12 && faces[i] == 0 ? 7 : faces[i];
    }
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create(NULL, apart, 8, two, 8, &mesh, NULL), TAL_OK);
    ck_assert_double_eq_tol(tal_mesh_volume(mesh), 1.0 / 3.0, ROUND);
    tal_mesh_destroy(mesh);
}

END_TEST

START_TEST(generators_refuse_bad_sizes_and_counts)
{
    tal_mesh *mesh = NULL;
    tal_error err;
    const int one[3] = {1, 1, 1}, none[3] = {1, 0, 1}, many[3] = {1, 1, 501};
    const tal_vec3 h = {1.0, 1.0, 1.0};
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, -1.0, 2, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "radius is -1") != NULL);
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, -1, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, 9, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "9") != NULL);
    // so small that squares underflow: refused, not made flat
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1e-170, 1, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_mesh_create_brick(NULL, tal_v3(1.0, (double)NAN, 1.0), one, &mesh, &err),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_mesh_create_brick(NULL, h, none, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_mesh_create_brick(NULL, h, many, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_mesh_create_cylinder(NULL, 0.0, 1.0, 8, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_mesh_create_cylinder(NULL, 1.0, 1.0, 2, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_mesh_create_cylinder(NULL, 1e-6, 1.0, 8, &mesh, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "too slender") != NULL);
    ck_assert_ptr_null(mesh);
}

END_TEST

START_TEST(broken_contracts_are_reported_and_change_nothing)
{
    tal_mesh *mesh = mesh_of_brick(tal_v3(1.0, 1.0, 1.0), 1, 1, 1), *none = mesh;
    const int one[3] = {1, 1, 1};
    int v[3];
    test_assert_refused(tal_mesh_create(NULL, NULL, 4, tetrahedron, 4, &none, NULL), TAL_ERR_NULL,
                        "NULL");
    ck_assert_ptr_null(none);
    test_assert_refused(tal_mesh_create(NULL, corners, 4, NULL, 4, &none, NULL), TAL_ERR_NULL,
                        "NULL");
    test_assert_refused(tal_mesh_create(NULL, corners, 4, tetrahedron, 4, NULL, NULL), TAL_ERR_NULL,
                        "out");
    test_assert_refused(tal_mesh_create_sphere(NULL, 1.0, 1, NULL, NULL), TAL_ERR_NULL, "out");
    test_assert_refused(tal_mesh_create_brick(NULL, tal_v3(1.0, 1.0, 1.0), NULL, &none, NULL),
                        TAL_ERR_NULL, "divisions");
    test_assert_refused(tal_mesh_create_brick(NULL, tal_v3(1.0, 1.0, 1.0), one, NULL, NULL),
                        TAL_ERR_NULL, "out");
    test_assert_breach(ck_assert_int_eq(tal_mesh_num_faces(NULL), -1), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_mesh_num_vertices(NULL), -1), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(isnan(tal_mesh_area(NULL))), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(isnan(tal_mesh_volume(NULL))), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(isnan(tal_mesh_vertex(mesh, 8).x)), TAL_ERR_BAD_INDEX, "vertex 8");
    test_assert_breach(ck_assert(isnan(tal_mesh_vertex(NULL, 0).x)), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(isnan(tal_mesh_face_area(mesh, 12))), TAL_ERR_BAD_INDEX,
                       "face 12");
    test_assert_breach(ck_assert(isnan(tal_mesh_face_normal(mesh, -1).x)), TAL_ERR_BAD_INDEX,
                       "face -1");
    test_assert_breach(ck_assert(isnan(tal_mesh_face_centroid(NULL, 0).x)), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_mesh_face(mesh, 99, v), TAL_ERR_BAD_INDEX, "face 99");
    ck_assert_int_eq(v[2], -1);
    test_assert_breach(tal_mesh_neighbors(mesh, 99, v), TAL_ERR_BAD_INDEX, "face 99");
    ck_assert_int_eq(v[0], -1);
    test_assert_breach(ck_assert_int_eq(tal_mesh_calc_nearest(NULL, corners[1]).face, -1),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_mesh_calc_ray(NULL, corners[0], corners[1]).face, -1),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_mesh_calc_ray(mesh, corners[0], corners[0]).face, -1),
                       TAL_ERR_BAD_VALUE, "has no direction");
    tal_mesh_destroy(mesh);
    tal_mesh_destroy(NULL);
}

END_TEST

// ---- memory

static tal_status create_one(int which, const tal_allocator *allocator, tal_mesh **mesh)
{
    const int n[3] = {2, 3, 4};
    switch (which) {
    case 0:
        return tal_mesh_create_sphere(allocator, 1.0, 2, mesh, NULL);
    case 1:
        return tal_mesh_create_brick(allocator, tal_v3(1.0, 1.0, 1.0), n, mesh, NULL);
    case 2:
        return tal_mesh_create_cylinder(allocator, 1.0, 1.0, 7, mesh, NULL);
    default:
        return tal_mesh_create(allocator, corners, 4, tetrahedron, 4, mesh, NULL);
    }
}

START_TEST(when_any_allocation_fails_nothing_is_left_behind)
{
    for (int which = 0; which < 4; ++which) {
        tal_status st = TAL_ERR_NO_MEMORY;
        for (int n = 1; st != TAL_OK; ++n) {
            ck_assert_int_lt(n, 100);
            test_heap heap = {.refuse_at = n};
            const tal_allocator allocator = test_heap_allocator(&heap);
            tal_mesh *mesh = NULL;
            st = create_one(which, &allocator, &mesh);
            ck_assert(st == TAL_OK || st == TAL_ERR_NO_MEMORY);
            ck_assert_int_eq(heap.live, st == TAL_OK);
            if (st == TAL_OK) test_assert_never_refused(&heap);
            ck_assert((mesh != NULL) == (st == TAL_OK));
            tal_mesh_destroy(mesh);
            ck_assert_int_eq(heap.live, 0);
        }
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("mesh");
    TCase *solids = tcase_create("solids");
    tcase_add_test(solids, a_brick_has_the_area_and_volume_of_a_brick);
    tcase_add_test(solids, the_sides_of_a_brick_prefer_no_diagonal);
    tcase_add_test(solids, a_cylinder_is_a_prism);
    tcase_add_test(solids, finer_spheres_approach_the_sphere_from_inside_at_second_order);
    tcase_add_test(solids, the_volume_does_not_depend_on_where_the_mesh_is);
    suite_add_tcase(suite, solids);
    TCase *queries = tcase_create("queries");
    tcase_add_test(queries, the_tree_finds_what_looking_at_every_face_finds);
    tcase_add_test(queries, inside_and_outside_are_told_apart_at_peaks_and_ridges);
    tcase_add_test(queries, around_a_convex_solid_outside_is_in_front_of_a_face);
    tcase_add_test(queries, a_point_on_the_surface_is_inside_at_distance_zero);
    tcase_add_test(queries, rays_meet_a_brick_where_its_sides_are);
    tcase_add_test(queries, no_ray_slips_through_an_edge_or_a_corner);
    suite_add_tcase(suite, queries);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_meshes_are_refused_with_face_and_vertex);
    tcase_add_test(errors, two_solids_may_not_share_a_vertex);
    tcase_add_test(errors, generators_refuse_bad_sizes_and_counts);
    tcase_add_test(errors, broken_contracts_are_reported_and_change_nothing);
    tcase_add_test(errors, when_any_allocation_fails_nothing_is_left_behind);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
