// Tests for geometry/src/detect/detect_broad.c and contact_detect.c: which pairs, in which order,
// and how many.
#include "alloc_guard.h"
#include "detect_scene.h"

#include <float.h>

enum {
    MANY = 400,
    MAX_PAIRS = MANY * MANY / 2
};

// More surfaces than a scene holds.
typedef struct crowd {
    tali_detect_surface surfaces[MANY];
    tal_xform X_GS[MANY];
    int n;
    tali_detect_store store;
    void *block;
} crowd;

static crowd *crowd_begin(int n, tali_detect_limits limits)
{
    crowd *c = calloc(1, sizeof *c);
    c->n = n;
    const size_t size = tali_detect_store_size(n, &limits);
    c->block = aligned_alloc(TAL_ALIGNMENT, (size + TAL_ALIGNMENT) / TAL_ALIGNMENT * TAL_ALIGNMENT);
    c->store = tali_detect_store_at(c->block, n, &limits);
    return c;
}

static void crowd_end(crowd *c)
{
    free(c->block);
    free(c);
}

static tal_shape random_shape(test_rng *rng, int kind)
{
    const double a = test_random_uniform(rng, 0.02, 0.1), b = test_random_uniform(rng, 0.02, 0.1);
    switch (kind) {
    case 0:
        return tal_shape_half_space();
    case 1:
        return tal_shape_sphere(a);
    case 2:
        return tal_shape_ellipsoid(tal_v3(a, b, 0.05));
    case 3:
        return tal_shape_cylinder(a, b, 0.01);
    case 4:
        return tal_shape_brick(tal_v3(a, b, 0.05), 0.01);
    default:
        return tal_shape_torus(a, 0.5 * a);
    }
}

// Shapes of all kinds in a region of these sides, one in 16 of them large; some share bodies and
// cliques; a few are so far away that no strip counts them.
static void fill(crowd *c, test_rng *rng, tal_vec3 sides)
{
    for (int i = 0; i < c->n; ++i) {
        const uint64_t bits = test_random_bits(rng);
        const int kind = bits % 64 == 0 ? 0 : 1 + (int)(bits / 64 % 5);
        tal_shape shape = random_shape(rng, kind);
        if ((bits >> 16) % 16 == 0) shape.size = tal_v3_scale(20.0, shape.size);
        c->surfaces[i] = (tali_detect_surface){"s", shape, (int)(bits >> 20) % c->n,
                                               bits >> 40 & bits >> 44 & bits >> 50};
        const double far = (bits >> 30) % 50 == 0 ? 1e30 : 1.0;
        c->X_GS[i] = tal_xf(test_random_rotation(rng),
                            tal_v3_scale(far, tal_v3_mul(sides, test_random_vec3(rng))));
    }
}

// By definition: different bodies, no common clique, boxes that overlap; for a half-space, a corner
// of the box in it.
static bool are_near(const crowd *c, int i, int j)
{
    const tali_detect_surface *a = &c->surfaces[i], *b = &c->surfaces[j];
    if (a->body == b->body || (a->cliques & b->cliques) != 0) return false;
    const bool is_a = a->shape.kind == TAL_SHAPE_HALF_SPACE;
    const bool is_b = b->shape.kind == TAL_SHAPE_HALF_SPACE;
    if (is_a && is_b) return false;
    const tali_detect_box p = tali_detect_shape_box(&a->shape, &c->X_GS[i]);
    const tali_detect_box q = tali_detect_shape_box(&b->shape, &c->X_GS[j]);
    if (!is_a && !is_b) {
        return p.low.x <= q.high.x && q.low.x <= p.high.x && p.low.y <= q.high.y &&
               q.low.y <= p.high.y && p.low.z <= q.high.z && q.low.z <= p.high.z;
    }
    const tali_detect_box *box = is_a ? &q : &p;
    double deepest = -(double)INFINITY;
    for (int k = 0; k < 8; ++k) {
        const tal_vec3 corner =
            tal_v3(k & 1 ? box->high.x : box->low.x, k & 2 ? box->high.y : box->low.y,
                   k & 4 ? box->high.z : box->low.z);
        deepest = fmax(deepest, tal_xf_inv_apply(c->X_GS[is_a ? i : j], corner).x);
    }
    ck_assert_double_gt(fabs(deepest), 1e-13); // no pair of these scenes is in doubt
    return deepest >= 0.0;
}

START_TEST(the_pass_finds_what_comparing_all_pairs_finds_in_the_same_order)
{
    test_rng rng = test_rng_seed(1);
    static const tal_vec3 sides[] = {{1.0, 1.0, 1.0}, {2.0, 0.1, 0.1}, {0.1, 2.0, 0.5},
                                     {0.1, 0.1, 3.0}, {0.1, 0.1, 0.1}, {0.0, 0.0, 0.0}};
    for (int trial = 0; trial < 600; ++trial) {
        // few at a time, where strips share their places, and many
        const int n = trial % 50 == 0 ? 33 * (trial / 50) % MANY : trial % 7;
        crowd *c = crowd_begin(n, (tali_detect_limits){MAX_PAIRS, 1, 1});
        fill(c, &rng, sides[trial % 6]);

        const int count = tali_detect_find_pairs(c->surfaces, n, c->X_GS, &c->store);

        int expected = 0;
        for (int i = 0; i < n; ++i) {
            for (int j = i + 1; j < n; ++j) {
                if (!are_near(c, i, j)) continue;
                ck_assert_int_lt(expected, count);
                ck_assert_int_eq(c->store.pairs[expected].a, i);
                ck_assert_int_eq(c->store.pairs[expected].b, j);
                ++expected;
            }
        }
        ck_assert_int_eq(count, expected);
        crowd_end(c);
    }
}

END_TEST

// Boxes that begin at the same place, that touch at zero, and that are far away.
START_TEST(boxes_that_only_touch_are_near)
{
    crowd *c = crowd_begin(6, (tali_detect_limits){100, 100, 1});
    const double at[] = {-1.0, 1.0, 1.0, 3.0, 1e12, -1e12};
    for (int i = 0; i < 6; ++i) {
        c->surfaces[i] = (tali_detect_surface){"ball", tal_shape_sphere(1.0), i, 0};
        c->X_GS[i] = tal_xf_from_p(tal_v3(at[i], 0.0, 0.0));
    }
    // [-2, 0], [0, 2] twice, [2, 4]: 01 02 12 13 23
    ck_assert_int_eq(tali_detect_find_pairs(c->surfaces, 6, c->X_GS, &c->store), 5);
    c->X_GS[0].p.x = -1.0 - 2.0 * DBL_EPSILON;
    ck_assert_int_eq(tali_detect_find_pairs(c->surfaces, 6, c->X_GS, &c->store), 3);
    crowd_end(c);
}

END_TEST

// A half-space that begins d before the side of a box has the shape d deep in it: so boxes are
// tight.
START_TEST(boxes_are_as_small_as_they_can_be)
{
    test_rng rng = test_rng_seed(2);
    tal_mesh *mesh = NULL;
    const int n[3] = {1, 2, 1};
    ck_assert_int_eq(tal_mesh_create_brick(NULL, tal_v3(0.3, 0.4, 0.5), n, &mesh, NULL), TAL_OK);
    for (int trial = 0; trial < 120; ++trial) {
        const int kind = 1 + trial % 5;
        tal_shape shape = random_shape(&rng, kind);
        shape.edge_radius = 0.0;
        const tal_xform X = test_random_xform(&rng);
        const tali_detect_box box = tali_detect_shape_box(&shape, &X);
        for (int k = 0; k < 6; ++k) {
            scene s = scene_begin();
            const tal_axis axis = (tal_axis)(k / 2);
            const double sign = k % 2 == 0 ? 1.0 : -1.0;
            const tal_vec3 out = tal_v3_scale(sign, tal_v3_axis(axis));
            const double at = tal_v3_at(k % 2 == 0 ? box.high : box.low, axis);
            // the half-space faces the shape: its outward normal is -out
            const tal_vec3 p = tal_v3_scale(sign * at - 0.001, out);
            scene_add(&s, tal_shape_half_space(), scene_plane(&rng, p, tal_v3_neg(out)));
            scene_add(&s, shape, X);
            ck_assert_ptr_nonnull(scene_detect(&s));
            double deepest = 0.0;
            for (int i = 0; i < s.store.num_points; ++i) {
                deepest = fmax(deepest, s.store.points[i].depth);
            }
            ck_assert_double_eq_tol(deepest, 0.001, 1e-14);
            scene_end(&s);
        }
        // the box of a mesh holds its vertices, and for a brick they touch it
        const tal_shape solid = tal_shape_mesh(mesh);
        const tali_detect_box around = tali_detect_shape_box(&solid, &X);
        tal_vec3 high = X.p;
        for (int v = 0; v < tal_mesh_num_vertices(mesh); ++v) {
            const tal_vec3 p = tal_xf_apply(X, tal_mesh_vertex(mesh, v));
            high = tal_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
        }
        test_assert_v3_near(high, around.high, 1e-14);
    }
    const tal_shape half_space = tal_shape_half_space();
    const tal_xform X = test_random_xform(&rng);
    const tali_detect_box all = tali_detect_shape_box(&half_space, &X);
    ck_assert(isinf(all.low.x) && isinf(all.high.z));
    tal_mesh_destroy(mesh);
}

END_TEST

// ---- limits

// Everything overlaps everything, and there is room for that and no more: the block ends where its
// size says.
START_TEST(a_store_that_is_full_ends_where_its_size_says)
{
    enum {
        N = 30,
        PAIRS = N * (N - 1) / 2
    };

    const tali_detect_limits limits = {PAIRS, PAIRS, 0};
    crowd *c = crowd_begin(N, limits);
    free(c->block);
    const size_t size = tali_detect_store_size(N, &limits);
    unsigned char *block = aligned_alloc(TAL_ALIGNMENT, size + 64 * TAL_ALIGNMENT);
    memset(block, 0xA5, size + 64 * TAL_ALIGNMENT);
    c->block = block;
    c->store = tali_detect_store_at(block, N, &limits);
    for (int i = 0; i < N; ++i) {
        c->surfaces[i] = (tali_detect_surface){"ball", tal_shape_sphere(1.0), i, 0};
        c->X_GS[i] = tal_xf_from_p(tal_v3(0.01 * (i * 7 % N), 0.01 * i, 0.0));
    }
    ck_assert_int_eq(tali_detect_contacts(c->surfaces, N, c->X_GS, &c->store, NULL), TAL_OK);
    ck_assert_int_eq(c->store.num_points, PAIRS);
    for (size_t i = size; i < size + 64 * TAL_ALIGNMENT; ++i) {
        ck_assert_int_eq(block[i], 0xA5);
    }
    crowd_end(c);
}

END_TEST

static tal_status detect(crowd *c, tal_error *err)
{
    return tali_detect_contacts(c->surfaces, c->n, c->X_GS, &c->store, err);
}

// Five balls on a floor, each touching the floor and no other, and one brick that lies on it.
static crowd *floor_scene(tali_detect_limits limits)
{
    crowd *c = crowd_begin(7, limits);
    test_rng rng = test_rng_seed(3);
    c->surfaces[0] = (tali_detect_surface){"floor", tal_shape_half_space(), 0, 0};
    c->X_GS[0] = scene_plane(&rng, TAL_VEC3_ZERO, tal_v3(0.0, 0.0, 1.0));
    for (int i = 1; i < 6; ++i) {
        c->surfaces[i] = (tali_detect_surface){"ball", tal_shape_sphere(1.0), i, 1};
        c->X_GS[i] = tal_xf_from_p(tal_v3(3.0 * i, 0.0, 0.9));
    }
    c->surfaces[6] =
        (tali_detect_surface){"brick", tal_shape_brick(tal_v3(1.0, 1.0, 1.0), 0.1), 6, 1};
    c->X_GS[6] = tal_xf_from_p(tal_v3(0.0, 9.0, 0.9));
    return c;
}

START_TEST(limits_that_are_reached_hold_and_one_less_is_an_error_that_names_it)
{
    tal_error err;
    crowd *c = floor_scene((tali_detect_limits){6, 9, 0});
    ck_assert_int_eq(detect(c, &err), TAL_OK);
    ck_assert_int_eq(c->store.num_contacts, 6);
    ck_assert_int_eq(c->store.num_points, 9); // four corners of the brick
    ck_assert_int_eq(c->store.contacts[5].count, 4);
    ck_assert_int_eq(c->store.contacts[5].first, 5);
    crowd_end(c);

    c = floor_scene((tali_detect_limits){5, 9, 0});
    ck_assert_int_eq(detect(c, &err), TAL_ERR_CAPACITY);
    ck_assert(strstr(err.message, "room for 6 pairs but has room for 5") != NULL);
    ck_assert_int_eq(c->store.num_contacts, 0);
    crowd_end(c);

    c = floor_scene((tali_detect_limits){6, 8, 0});
    ck_assert_int_eq(detect(c, &err), TAL_ERR_CAPACITY);
    ck_assert(strstr(err.message, "room for 9 points but has room for 8") != NULL);
    ck_assert_int_eq(detect(c, NULL), TAL_ERR_CAPACITY);
    crowd_end(c);

    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, 1, &mesh, NULL), TAL_OK);
    c = floor_scene((tali_detect_limits){6, 9, 79});
    c->surfaces[6].shape = tal_shape_mesh(mesh);
    c->X_GS[6].p.z = -2.0;
    ck_assert_int_eq(detect(c, &err), TAL_ERR_CAPACITY);
    ck_assert(strstr(err.message, "room for 80 faces but has room for 79") != NULL);
    crowd_end(c);
    tal_mesh_destroy(mesh);
}

END_TEST

START_TEST(a_pose_that_is_not_finite_is_named)
{
    tal_error err;
    crowd *c = floor_scene((tali_detect_limits){6, 9, 0});
    c->X_GS[6].R.y.z = (double)NAN;
    ck_assert_int_eq(detect(c, &err), TAL_ERR_NOT_FINITE);
    ck_assert(strstr(err.message, "'brick'") != NULL);
    crowd_end(c);
}

END_TEST

START_TEST(half_spaces_that_may_meet_are_refused_by_both_names)
{
    tal_error err;
    crowd *c = floor_scene((tali_detect_limits){6, 9, 0});
    ck_assert_int_eq(tali_detect_check(c->surfaces, c->n, &err), TAL_OK);
    c->surfaces[6] = (tali_detect_surface){"wall", tal_shape_half_space(), 6, 2};
    ck_assert_int_eq(tali_detect_check(c->surfaces, c->n, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "half-space 'floor' cannot touch half-space 'wall'") != NULL);
    c->surfaces[0].cliques = 2;
    ck_assert_int_eq(tali_detect_check(c->surfaces, c->n, &err), TAL_OK);
    c->surfaces[0].cliques = 0;
    c->surfaces[6].body = 0;
    ck_assert_int_eq(tali_detect_check(c->surfaces, c->n, &err), TAL_OK);
    c->surfaces[2].shape.size.x = -1.0;
    ck_assert_int_eq(tali_detect_check(c->surfaces, c->n, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "sphere 'ball': the radius is -1") != NULL);
    crowd_end(c);
}

END_TEST

// ---- the same again

// Contacts come in order of pairs, twice the same bytes, and the heap is left alone.
START_TEST(detection_repeats_itself_bit_for_bit_in_order_of_pairs)
{
    test_rng rng = test_rng_seed(4);
    crowd *c = crowd_begin(200, (tali_detect_limits){MAX_PAIRS, MAX_PAIRS, 1});
    for (int i = 0; i < c->n; ++i) {
        const bool is_floor = i == 77;
        c->surfaces[i] = (tali_detect_surface){
            "s", is_floor ? tal_shape_half_space() : tal_shape_sphere(0.3), i, 0};
        c->X_GS[i] = test_random_xform(&rng);
    }
    tal_status st = TAL_OK;
    test_assert_no_heap(st = detect(c, NULL));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_gt(c->store.num_contacts, 300);
    for (int i = 1; i < c->store.num_contacts; ++i) {
        const tali_detect_contact *a = &c->store.contacts[i - 1], *b = &c->store.contacts[i];
        ck_assert(a->surface[0] < b->surface[0] ||
                  (a->surface[0] == b->surface[0] && a->surface[1] < b->surface[1]));
        ck_assert_int_eq(b->first, a->first + a->count);
    }
    const int n = c->store.num_points;
    tali_detect_point *before = malloc((size_t)n * sizeof *before);
    ck_assert_ptr_nonnull(before);
    memcpy(before, c->store.points, (size_t)n * sizeof *before);
    ck_assert_int_eq(detect(c, NULL), TAL_OK);
    ck_assert_int_eq(c->store.num_points, n);
    for (int i = 0; i < n; ++i) {
        const tali_detect_point *a = &before[i], *b = &c->store.points[i];
        ck_assert_mem_eq(a, b, offsetof(tali_detect_point, feature)); // padding follows
        ck_assert_int_eq(a->feature, b->feature);
    }
    free(before);
    crowd_end(c);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("contact broad phase");
    TCase *pairs = tcase_create("pairs");
    tcase_add_test(pairs, the_pass_finds_what_comparing_all_pairs_finds_in_the_same_order);
    tcase_add_test(pairs, boxes_that_only_touch_are_near);
    tcase_add_test(pairs, boxes_are_as_small_as_they_can_be);
    suite_add_tcase(suite, pairs);
    TCase *limits = tcase_create("limits");
    tcase_add_test(limits, a_store_that_is_full_ends_where_its_size_says);
    tcase_add_test(limits, limits_that_are_reached_hold_and_one_less_is_an_error_that_names_it);
    tcase_add_test(limits, a_pose_that_is_not_finite_is_named);
    tcase_add_test(limits, half_spaces_that_may_meet_are_refused_by_both_names);
    suite_add_tcase(suite, limits);
    TCase *again = tcase_create("again");
    tcase_add_test(again, detection_repeats_itself_bit_for_bit_in_order_of_pairs);
    suite_add_tcase(suite, again);
    return test_run(suite);
}
