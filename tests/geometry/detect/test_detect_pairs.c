// Depths of every pair of shapes that touch at points, and of the facets of those that touch in
// patches, against a search that knows the points of surfaces only.
#include "detect/detect_solid_internal.h"
#include "detect_scene.h"

#include <math.h>

enum {
    TRIALS = 10
};

// ---- least values by trying

typedef double (*two_args_fn)(const void *self, double u, double v);

// A search for the least value of a function of two numbers.
typedef struct descent {
    two_args_fn f;
    const void *self;
    bool is_round; // u goes around; else from 0 to 1, as v does
    double u, v, least;
} descent;

static double limited(double x)
{
    return fmin(1.0, fmax(0.0, x));
}

static bool try_at(descent *it, double any_u, double any_v)
{
    const double u = it->is_round ? any_u : limited(any_u), v = limited(any_v);
    const double value = it->f(it->self, u, v);
    if (value >= it->least) return false;
    it->least = value;
    it->u = u;
    it->v = v;
    return true;
}

// To the best of eight neighbors, or of places in other directions a step nearer to or farther from
// a pole, where all u are one point.
static bool descend(descent *it, double step)
{
    const double u = it->u, v = it->v;
    bool falls = false;
    for (int k = 0; k < 9; ++k) {
        const int right = k % 3 - 1, up = k / 3 - 1;
        falls = try_at(it, u + step * right, v + step * up) || falls;
    }
    for (int k = -8; k <= 8 && !falls; ++k) {
        falls = try_at(it, u + 0.125 * k, v + step) || falls;
        falls = try_at(it, u + 0.125 * k, v - step) || falls;
    }
    return falls;
}

// The least value of a function of two numbers, from 0 to 1 or around: the best of a grid, then
// steps downwards, halved where there is none. Next to a smooth minimum the error is of the order
// of the square of the last step; at a side it is none.
static double least_of(two_args_fn f, const void *self, bool is_round, int grid)
{
    descent it = {f, self, is_round, 0.0, 0.0, 1e300};
    for (int i = 0; i <= grid; ++i) {
        for (int k = 0; k <= grid; ++k) {
            (void)try_at(&it, (double)i / grid, (double)k / grid);
        }
    }
    double step = 1.0 / grid;
    while (step > 1e-9) {
        if (!descend(&it, step)) step *= 0.5;
    }
    return it.least;
}

// ---- the distance of a point from a surface, patch by patch

static const double pi = 3.14159265358979323846;

typedef struct search {
    const tal_shape *shape;
    int patch;
    tal_vec3 p;
} search;

static int num_patches(const tal_shape *shape)
{
    switch (shape->kind) {
    case TAL_SHAPE_CYLINDER:
        return 5; // side, caps, rims
    case TAL_SHAPE_BRICK:
        return 27; // a center that is none, faces, edges and corners
    default:
        return 1;
    }
}

static double around(double u)
{
    return 2.0 * pi * u;
}

static tal_vec3 direction(double u, double v)
{
    const double a = around(u), b = pi * (v - 0.5);
    return tal_v3(cos(a) * cos(b), sin(a) * cos(b), sin(b));
}

static tal_vec3 on_cylinder(const tal_shape *shape, int patch, double u, double v)
{
    const double rim = shape->edge_radius, flat = shape->size.x - rim, half = shape->size.y - rim;
    const double side = patch % 2 == 0 ? 1.0 : -1.0, lean = 0.5 * pi * v;
    double rho = shape->size.x, z = (2.0 * v - 1.0) * half;
    if (patch == 1 || patch == 2) rho = v * flat, z = side * shape->size.y;
    if (patch > 2) rho = flat + rim * cos(lean), z = side * (half + rim * sin(lean));
    return tal_v3(rho * cos(around(u)), rho * sin(around(u)), z);
}

// A patch is -1, 0 or 1 along each axis: which corner of the core, or along an edge or a face.
static tal_vec3 on_brick(const tal_shape *shape, int patch, double u, double v)
{
    const double r = shape->edge_radius, size[3] = {shape->size.x, shape->size.y, shape->size.z};
    const double place[2] = {u, v};
    double n[3] = {0.0, 0.0, 0.0}, p[3];
    int used = 0, beyond = 0;
    for (int i = 0, rest = patch; i < 3; ++i, rest /= 3) {
        const int side = rest % 3 - 1;
        p[i] = (size[i] - r) * (side == 0 ? 2.0 * place[used] - 1.0 : side);
        used += side == 0;
        beyond += side != 0;
        n[i] = side;
    }
    const double a = 0.5 * pi * u, b = 0.5 * pi * v, c = 0.5 * pi * place[1];
    const double three[3] = {cos(a) * cos(b), sin(a) * cos(b), sin(b)};
    const double two[2] = {cos(c), sin(c)};
    for (int i = 0, k = 0; i < 3; ++i) {
        if (n[i] == 0.0) continue;
        p[i] += r * n[i] * (beyond == 3 ? three[k] : (beyond == 2 ? two[k] : 1.0));
        ++k;
    }
    return tal_v3(p[0], p[1], p[2]);
}

static double distance_at(const void *self, double u, double v)
{
    const search *it = self;
    tal_vec3 on;
    if (it->shape->kind == TAL_SHAPE_CYLINDER) {
        on = on_cylinder(it->shape, it->patch, u, v);
    } else if (it->shape->kind == TAL_SHAPE_BRICK) {
        on = on_brick(it->shape, it->patch, u, v);
    } else {
        on = tal_v3_mul(it->shape->size, direction(u, v));
    }
    return tal_v3_norm(tal_v3_sub(it->p, on));
}

static double distance_of(const tal_shape *shape, tal_vec3 p)
{
    double least = 1e300;
    for (int patch = 0; patch < num_patches(shape); ++patch) {
        if (shape->kind == TAL_SHAPE_BRICK && patch == 13) continue; // the center
        const search it = {shape, patch, p};
        least = fmin(least, least_of(distance_at, &it, shape->kind != TAL_SHAPE_BRICK, 24));
    }
    return least;
}

// ---- pairs of which neither is a sphere

typedef struct two {
    tal_shape a, b;
    tal_xform X_GA, X_GB;
} two;

static double reach_of_ellipsoid(const tal_shape *shape, tal_vec3 n)
{
    return tal_v3_norm(tal_v3_mul(shape->size, n));
}

// How far two ellipsoids overlap along a direction.
static double overlap_along(const void *self, double u, double v)
{
    const two *it = self;
    const tal_vec3 n = direction(u, v);
    return reach_of_ellipsoid(&it->a, tal_m3_tmul_v3(it->X_GA.R, n)) +
           reach_of_ellipsoid(&it->b, tal_m3_tmul_v3(it->X_GB.R, n)) -
           tal_v3_dot(n, tal_v3_sub(it->X_GA.p, it->X_GB.p));
}

static tal_vec3 on_axis(const tal_shape *capsule, const tal_xform *X, double u)
{
    const double half = capsule->size.y - capsule->size.x;
    return tal_v3_axpy((2.0 * u - 1.0) * half, X->R.z, X->p);
}

static double between_axes(const void *self, double u, double v)
{
    const two *it = self;
    return tal_v3_norm(tal_v3_sub(on_axis(&it->a, &it->X_GA, u), on_axis(&it->b, &it->X_GB, v)));
}

// Of an ellipsoid and a place on a capsule's axis; the second argument is not used.
static double to_axis(const void *self, double u, double v)
{
    (void)v;
    const two *it = self;
    return distance_of(&it->a, tal_xf_inv_apply(it->X_GA, on_axis(&it->b, &it->X_GB, u)));
}

// A circle about z; the second argument is not used.
static double distance_on_ring(const void *self, double u, double v)
{
    (void)v;
    const search *it = self;
    const double ring = it->shape->size.x;
    const tal_vec3 on = tal_v3(ring * cos(around(u)), ring * sin(around(u)), 0.0);
    return tal_v3_norm(tal_v3_sub(it->p, on));
}

static double distance_of_ring(const tal_shape *torus, tal_vec3 p)
{
    const search it = {torus, 0, p};
    return least_of(distance_on_ring, &it, true, 100);
}

// ---- pairs

static tal_shape any_shape(test_rng *rng, int kind)
{
    const double a = test_random_uniform(rng, 0.3, 1.0), b = test_random_uniform(rng, 0.3, 1.0);
    const double c = test_random_uniform(rng, 0.3, 1.0), part = test_random_uniform(rng, 0.1, 0.9);
    switch (kind) {
    case 0:
        return tal_shape_sphere(a);
    case 1:
        return tal_shape_ellipsoid(tal_v3(a, b, c));
    case 2:
        return tal_shape_capsule(0.5 * a, 0.5 * a + b);
    case 3:
        return tal_shape_cylinder(a, b, part * fmin(a, b));
    case 4:
        return tal_shape_brick(tal_v3(a, b, c), part * fmin(a, fmin(b, c)));
    default:
        return tal_shape_torus(a, 0.8 * part * a);
    }
}

enum {
    KINDS = 6
};

// Two shapes that overlap by some part of their sizes.
static void place_pair(test_rng *rng, scene *s, int a, int b)
{
    const tal_shape one = any_shape(rng, a), other = any_shape(rng, b);
    const tal_vec3 way = test_random_unit(rng);
    const tal_xform X = tal_xf(test_random_rotation(rng), TAL_VEC3_ZERO);
    scene_add(s, one, X);
    scene_add(s, other, X);
    double near = 0.0, far = 4.0;
    s->X_GS[1].R = test_random_rotation(rng);
    for (int i = 0; i < 30; ++i) {
        const double middle = 0.5 * (near + far);
        s->X_GS[1].p = tal_v3_scale(middle, way);
        *(scene_detect(s) != NULL ? &near : &far) = middle;
    }
    s->X_GS[1].p = tal_v3_scale(far - test_random_uniform(rng, 0.005, 0.05), way);
}

// The depth of two that touch at points, the simpler one first.
static double depth_of_pair(const scene *s)
{
    const bool is_swapped = s->surfaces[0].shape.kind > s->surfaces[1].shape.kind;
    const int first = is_swapped ? 1 : 0, second = 1 - first;
    const two it = {s->surfaces[first].shape, s->surfaces[second].shape, s->X_GS[first],
                    s->X_GS[second]};
    const tal_vec3 center = tal_xf_inv_apply(it.X_GB, it.X_GA.p);
    if (it.a.kind == TAL_SHAPE_SPHERE) {
        const double r = it.a.size.x;
        if (it.b.kind == TAL_SHAPE_SPHERE) return r + it.b.size.x - tal_v3_norm(center);
        if (it.b.kind == TAL_SHAPE_TORUS) {
            return r + it.b.size.y - distance_of_ring(&it.b, center);
        }
        return r - distance_of(&it.b, center);
    }
    if (it.a.kind == TAL_SHAPE_ELLIPSOID && it.b.kind == TAL_SHAPE_ELLIPSOID) {
        return least_of(overlap_along, &it, true, 60);
    }
    if (it.a.kind == TAL_SHAPE_ELLIPSOID) return it.b.size.x - least_of(to_axis, &it, false, 20);
    return it.a.size.x + it.b.size.x - least_of(between_axes, &it, false, 20);
}

// How far inside the other shape the middle of a face is.
static double depth_of_face(const scene *s, const tali_detect_face *face)
{
    const tal_shape *other = &s->surfaces[1 - face->surface].shape;
    const tal_vec3 p = tal_xf_inv_apply(s->X_GS[1 - face->surface], face->p_G);
    if (other->kind == TAL_SHAPE_TORUS) {
        return other->size.y - distance_of_ring(other, p);
    }
    return distance_of(other, p);
}

// The search is good to 1e-15 or so, Talus to some hundred eps.
static void check_contact(const scene *s, const tali_detect_contact *contact)
{
    if (contact->is_patch) {
        const int skip = 1 + contact->count / 3; // three of them
        for (int i = 0; i < contact->count; i += skip) {
            const tali_detect_face *face = &s->store.faces[contact->first + i];
            ck_assert_double_gt(face->depth, 0.0);
            ck_assert_double_eq_tol(face->depth, depth_of_face(s, face), 1e-10);
        }
        return;
    }
    double most = 0.0;
    for (int i = 0; i < contact->count; ++i) {
        most = fmax(most, s->store.points[contact->first + i].depth);
    }
    ck_assert_double_eq_tol(most, depth_of_pair(s), 1e-10);
}

static void check_pair(int a, int b)
{
    test_rng rng = test_rng_seed(7 + 10 * (uint64_t)a + (uint64_t)b);
    int touched = 0;
    for (int trial = 0; trial < TRIALS; ++trial) {
        scene s = scene_begin();
        place_pair(&rng, &s, a, b);
        const tali_detect_contact *contact = scene_detect(&s);
        touched += contact != NULL;
        if (contact != NULL) check_contact(&s, contact);
        scene_end(&s);
    }
    ck_assert_msg(touched >= TRIALS / 2, "kinds %d and %d: %d contacts", a, b, touched);
}

START_TEST(depths_are_those_of_an_independent_minimizer)
{
    check_pair(_i / KINDS, _i % KINDS);
}

END_TEST

// ---- facets

typedef struct sum {
    tal_vec3 area_vector;
    double area, volume;
    int count, last;
} sum;

static bool want_all(void *self, tal_vec3 center, double radius)
{
    (void)self;
    return tal_v3_is_finite(center) && radius >= 0.0;
}

static void add_facet(void *self, int number, const tali_detect_facet *facet)
{
    sum *s = self;
    ck_assert_int_gt(number, s->last);
    s->last = number;
    ++s->count;
    s->area += facet->area;
    s->area_vector = tal_v3_axpy(facet->area, facet->n, s->area_vector);
    s->volume += facet->area * tal_v3_dot(facet->n, facet->p) / 3.0;
}

// Facets close, lie on the surface, and have its area and volume as far as their number allows.
START_TEST(facets_make_the_whole_surface)
{
    const struct {
        tal_shape shape;
        double area, volume;
    } cases[] = {
        {tal_shape_ellipsoid(tal_v3(1.0, 1.0, 1.0)), 4.0 * pi, 4.0 / 3.0 * pi},
        {tal_shape_cylinder(1.0, 0.5, 0.0), 4.0 * pi, pi},
        {tal_shape_capsule(0.5, 1.0), 2.0 * pi, pi * 0.25 + pi / 6.0},
        {tal_shape_brick(tal_v3(0.5, 1.0, 1.5), 0.0), 22.0, 6.0},
        {tal_shape_brick(tal_v3(1.0, 1.0, 1.0), 1.0), 4.0 * pi, 4.0 / 3.0 * pi},
        {tal_shape_torus(1.0, 0.5), 2.0 * pi * pi, 0.5 * pi * pi},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const tal_shape *shape = &cases[i].shape;
        sum s = {.last = -1};
        tali_detect_walk_facets(shape, &s, want_all, add_facet);
        ck_assert_int_lt(s.last, tali_detect_num_facets(shape->kind));
        test_assert_v3_near(s.area_vector, TAL_VEC3_ZERO, 1e-12);
        // parts of a circle are 32 at least, of a quarter 3: (pi/12)^2 / 6 = 0.011
        ck_assert_double_eq_tol(s.area / cases[i].area, 1.0, 0.012);
        ck_assert_double_eq_tol(s.volume / cases[i].volume, 1.0, 0.025);
    }
    ck_assert_int_eq(tali_detect_num_facets(TAL_SHAPE_SPHERE), 0);
}

END_TEST

// Points whose nearest is not plain: the center, the axis, the middle of a disk, the surface.
START_TEST(nearest_points_of_places_without_a_plain_answer_are_finite_and_right)
{
    const struct {
        tal_shape shape;
        tal_vec3 p;
        double distance;
    } cases[] = {
        {tal_shape_sphere(2.0), TAL_VEC3_ZERO, -2.0},
        {tal_shape_ellipsoid(tal_v3(3.0, 2.0, 1.0)), TAL_VEC3_ZERO, -1.0},
        {tal_shape_ellipsoid(tal_v3(3.0, 2.0, 1.0)), tal_v3(0.0, 0.0, 5.0), 4.0},
        {tal_shape_ellipsoid(tal_v3(3.0, 2.0, 1.0)), tal_v3(3.0, 0.0, 0.0), 0.0},
        {tal_shape_ellipsoid(tal_v3(2.0, 2.0, 2.0)), tal_v3(0.5, 0.0, 0.0), -1.5},
        {tal_shape_ellipsoid(tal_v3(1.0, 1e-3, 1.0)), tal_v3(0.5, 0.0, 0.0),
         -1e-3 * 0.8660254}, // as good as a disk
        {tal_shape_capsule(0.5, 1.0), tal_v3(0.0, 0.0, 1.25), 0.25},
        {tal_shape_capsule(0.5, 1.0), TAL_VEC3_ZERO, -0.5},
        {tal_shape_cylinder(1.0, 0.5, 0.1), TAL_VEC3_ZERO, -0.5},
        {tal_shape_brick(tal_v3(1.0, 2.0, 3.0), 0.2), TAL_VEC3_ZERO, -1.0},
        {tal_shape_brick(tal_v3(1.0, 2.0, 3.0), 0.0), tal_v3(4.0, 6.0, 3.0), 5.0},
        {tal_shape_torus(2.0, 0.5), TAL_VEC3_ZERO, 1.5},
        {tal_shape_torus(2.0, 0.5), tal_v3(2.0, 0.0, 0.0), -0.5},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const tali_detect_nearest at = tali_detect_find_nearest(&cases[i].shape, cases[i].p);
        ck_assert_double_eq_tol(at.distance, cases[i].distance, 1e-9);
        ck_assert_double_eq_tol(tal_v3_norm(at.n), 1.0, 1e-14);
        const tal_vec3 bend = tali_detect_nearest_bend(&at, tal_v3(0.3, 0.4, 0.5));
        ck_assert(tal_v3_is_finite(bend));
    }
}

END_TEST

// The normal is the gradient of the distance, and its bend the second derivative.
START_TEST(normals_and_bends_are_derivatives_of_the_distance)
{
    test_rng rng = test_rng_seed(3);
    const double h = 1e-5;
    for (int trial = 0; trial < 300; ++trial) {
        const tal_shape shape = any_shape(&rng, trial % KINDS);
        const tal_vec3 p =
            tal_v3_scale(test_random_uniform(&rng, 0.6, 1.6), test_random_unit(&rng));
        const tal_vec3 v = test_random_unit(&rng);
        const tali_detect_nearest at = tali_detect_find_nearest(&shape, p);
        const tali_detect_nearest on = tali_detect_find_nearest(&shape, tal_v3_axpy(h, v, p));
        const tali_detect_nearest off = tali_detect_find_nearest(&shape, tal_v3_axpy(-h, v, p));
        // a kink of the normal may be within h: then its bend is not the same on both sides
        const tal_vec3 before = tali_detect_nearest_bend(&off, v);
        const tal_vec3 after = tali_detect_nearest_bend(&on, v);
        if (tal_v3_norm(tal_v3_sub(before, after)) > 0.01) continue;
        // differences: h^2 times derivatives of the third order, below 500
        const double slope = (on.distance - off.distance) / (2.0 * h);
        ck_assert_double_eq_tol(slope, tal_v3_dot(at.n, v), 1e-7);
        const tal_vec3 turn = tal_v3_scale(0.5 / h, tal_v3_sub(on.n, off.n));
        test_assert_v3_near(turn, tali_detect_nearest_bend(&at, v), 1e-5);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("contact of all pairs");
    TCase *all = tcase_create("pairs");
    tcase_set_timeout(all, 60.0);
    tcase_add_loop_test(all, depths_are_those_of_an_independent_minimizer, 0, KINDS * KINDS);
    tcase_add_test(all, facets_make_the_whole_surface);
    tcase_add_test(all, nearest_points_of_places_without_a_plain_answer_are_finite_and_right);
    tcase_add_test(all, normals_and_bends_are_derivatives_of_the_distance);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
