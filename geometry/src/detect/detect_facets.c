// Surfaces as many small facets, for contact by an elastic foundation: ellipsoids, cylinders,
// bricks and tori. All sizes may be a State's, so that facets are made while they are visited.
//
// Each kind is a row of patches, and each patch a grid: an edge of a brick is a quarter of a
// cylinder, a corner an eighth of a sphere, a rim a quarter of a torus.
#include "detect/detect_solid_internal.h"

#include <math.h>

enum {
    AROUND = 32, // parts of a full circle
    QUARTER = 3, // parts across an edge
    FLAT = 10,   // parts along a side
    CAP = 4,     // rings of a cap
    TUBE = 16,   // parts around a tube
    BANDS = 16,  // of an ellipsoid, of equal heights
    NUM_ELLIPSOID = BANDS * AROUND,
    NUM_CYLINDER = FLAT * AROUND + 2 * (CAP + QUARTER) * AROUND,
    NUM_BRICK = 6 * FLAT * FLAT + 12 * FLAT * QUARTER + 8 * QUARTER * QUARTER,
    NUM_TORUS = TUBE * AROUND
};

int tali_detect_num_facets(tal_shape_kind kind)
{
    switch (kind) {
    case TAL_SHAPE_ELLIPSOID:
        return NUM_ELLIPSOID;
    case TAL_SHAPE_CYLINDER:
        return NUM_CYLINDER;
    case TAL_SHAPE_BRICK:
        return NUM_BRICK;
    case TAL_SHAPE_TORUS:
        return NUM_TORUS;
    case TAL_SHAPE_HALF_SPACE:
    case TAL_SHAPE_SPHERE:
    case TAL_SHAPE_MESH:
        break;
    }
    return 0;
}

// A walk along the facets of a shape.
typedef struct walk {
    void *self;
    tali_detect_wants_fn wants;
    tali_detect_visit_fn visit;
    int number;
} walk;

static void visit(walk *w, tal_vec3 p, tal_vec3 n, double area)
{
    const tali_detect_facet facet = {p, n, area};
    const int number = w->number++;
    if (area > 0.0) w->visit(w->self, number, &facet);
}

// Whether to go into the next `count` facets, which are within a ball.
static bool enter(walk *w, tal_vec3 center, double radius, int count)
{
    if (w->wants(w->self, center, radius)) return true;
    w->number += count;
    return false;
}

// The middle of part i of n between two numbers.
static double part(double from, double to, int i, int n)
{
    return from + (to - from) * (i + 0.5) / n;
}

// ---- around z

typedef struct unit {
    double c, s;
} unit;

static void fill_circle(unit circle[AROUND])
{
    for (int i = 0; i < AROUND; ++i) {
        const double angle = part(0.0, 2.0 * TAL_PI, i, AROUND);
        circle[i] = (unit){cos(angle), sin(angle)};
    }
}

// A band around z at one height; its normals rise by `up` and lean outwards by `out`.
typedef struct band {
    double rho, z, out, up;
    double area; // of all of it
} band;

static void walk_band(walk *w, const unit circle[AROUND], const band *it)
{
    for (int i = 0; i < AROUND; ++i) {
        const tal_vec3 p = tal_v3(it->rho * circle[i].c, it->rho * circle[i].s, it->z);
        const tal_vec3 n = tal_v3(it->out * circle[i].c, it->out * circle[i].s, it->up);
        visit(w, p, n, it->area / AROUND);
    }
}

// Part i of n of the surface of a tube around a ring, between two angles from outwards to up: its
// area is the way of its middle times its length (Pappus).
static band tube_band(double ring, double tube, double z, const double angles[2], int i, int n)
{
    const double width = (angles[1] - angles[0]) / n, from = angles[0] + i * width;
    const double middle = from + 0.5 * width, to = from + width;
    const band it = {.rho = ring + tube * cos(middle),
                     .z = z + tube * sin(middle),
                     .out = cos(middle),
                     .up = sin(middle)};
    const double way = ring * width + tube * (sin(to) - sin(from));
    return (band){it.rho, it.z, it.out, it.up, 2.0 * TAL_PI * tube * fabs(way)};
}

static void walk_torus(walk *w, const tal_shape *shape)
{
    unit circle[AROUND];
    fill_circle(circle);
    const double ring = shape->size.x, tube = shape->size.y, angles[2] = {-TAL_PI, TAL_PI};
    for (int i = 0; i < TUBE; ++i) {
        const band it = tube_band(ring, tube, 0.0, angles, i, TUBE);
        walk_band(w, circle, &it);
    }
}

// One end of a cylinder: the cap, then the rim.
static void walk_end(walk *w, const unit circle[AROUND], const tal_shape *shape, double side)
{
    const double rim = shape->edge_radius, flat = shape->size.x - rim;
    const double height = side * (shape->size.y - rim);
    const tal_vec3 center = tal_v3(0.0, 0.0, height);
    if (!enter(w, center, hypot(shape->size.x, rim), (CAP + QUARTER) * AROUND)) return;
    for (int i = 0; i < CAP; ++i) {
        const double inner = flat * i / CAP, outer = flat * (i + 1) / CAP;
        const band it = {.rho = 0.5 * (inner + outer),
                         .z = height + side * rim,
                         .up = side,
                         .area = TAL_PI * (outer * outer - inner * inner)};
        walk_band(w, circle, &it);
    }
    const double angles[2] = {0.0, 0.5 * TAL_PI * side};
    for (int i = 0; i < QUARTER; ++i) {
        const band it = tube_band(flat, rim, height, angles, i, QUARTER);
        walk_band(w, circle, &it);
    }
}

static void walk_cylinder(walk *w, const tal_shape *shape)
{
    unit circle[AROUND];
    fill_circle(circle);
    const double radius = shape->size.x, half = shape->size.y - shape->edge_radius;
    for (int i = 0; i < FLAT; ++i) {
        const band it = {.rho = radius,
                         .z = part(-half, half, i, FLAT),
                         .out = 1.0,
                         .area = 4.0 * TAL_PI * radius * half / FLAT};
        const tal_vec3 center = tal_v3(0.0, 0.0, it.z);
        if (enter(w, center, radius, AROUND)) walk_band(w, circle, &it);
    }
    walk_end(w, circle, shape, -1.0);
    walk_end(w, circle, shape, 1.0);
}

// The image of a sphere under a stretch along the axes: a part dA with normal u becomes
// a b c (u / semi-axes) dA.
static void walk_ellipsoid(walk *w, const tal_shape *shape)
{
    const tal_vec3 a = shape->size;
    const double product = a.x * a.y * a.z, share = 4.0 * TAL_PI / (BANDS * AROUND);
    unit circle[AROUND];
    fill_circle(circle);
    for (int i = 0; i < BANDS; ++i) {
        const double z = part(-1.0, 1.0, i, BANDS), rho = sqrt(1.0 - z * z);
        const tal_vec3 center = tal_v3(0.0, 0.0, a.z * z);
        if (!enter(w, center, fmax(a.x, a.y) * rho, AROUND)) continue;
        for (int k = 0; k < AROUND; ++k) {
            const tal_vec3 u = tal_v3(rho * circle[k].c, rho * circle[k].s, z);
            const tal_vec3 dA = tal_v3_scale(product, tal_v3(u.x / a.x, u.y / a.y, u.z / a.z));
            visit(w, tal_v3_mul(a, u), tal_v3_normalize(dA), share * tal_v3_norm(dA));
        }
    }
}

// ---- brick

// A vector with these components along three axes that follow each other.
static tal_vec3 along(int axis, double first, double second, double third)
{
    const double cyclic[3] = {first, second, third};
    return tal_v3(cyclic[(3 - axis) % 3], cyclic[(4 - axis) % 3], cyclic[(5 - axis) % 3]);
}

// A brick's core and how far it goes beyond that.
typedef struct rounded {
    double h[3], r;
} rounded;

static void walk_face(walk *w, const rounded *it, int axis, double side)
{
    const double b = it->h[(axis + 1) % 3], c = it->h[(axis + 2) % 3];
    const double height = side * (it->h[axis] + it->r);
    const tal_vec3 n = along(axis, side, 0.0, 0.0);
    if (!enter(w, tal_v3_scale(side * height, n), hypot(b, c), FLAT * FLAT)) return;
    for (int i = 0; i < FLAT; ++i) {
        for (int k = 0; k < FLAT; ++k) {
            const tal_vec3 p = along(axis, height, part(-b, b, i, FLAT), part(-c, c, k, FLAT));
            visit(w, p, n, 4.0 * b * c / (FLAT * FLAT));
        }
    }
}

// The edge along an axis between two faces.
static void walk_edge(walk *w, const rounded *it, int axis, const double side[2])
{
    const double a = it->h[axis], b = side[0] * it->h[(axis + 1) % 3];
    const double c = side[1] * it->h[(axis + 2) % 3];
    if (!enter(w, along(axis, 0.0, b, c), a + it->r, FLAT * QUARTER)) return;
    const double area = 2.0 * a * 0.5 * TAL_PI * it->r / (FLAT * QUARTER);
    for (int k = 0; k < QUARTER; ++k) {
        const double angle = part(0.0, 0.5 * TAL_PI, k, QUARTER);
        const tal_vec3 n = along(axis, 0.0, side[0] * cos(angle), side[1] * sin(angle));
        for (int i = 0; i < FLAT; ++i) {
            const tal_vec3 core = along(axis, part(-a, a, i, FLAT), b, c);
            visit(w, tal_v3_axpy(it->r, n, core), n, area);
        }
    }
}

// Parts of a corner of equal heights have equal areas.
static void walk_corner(walk *w, const rounded *it, tal_vec3 side)
{
    const tal_vec3 core = tal_v3_mul(side, tal_v3(it->h[0], it->h[1], it->h[2]));
    if (!enter(w, core, it->r, QUARTER * QUARTER)) return;
    const double area = 0.5 * TAL_PI * it->r * it->r / (QUARTER * QUARTER);
    for (int i = 0; i < QUARTER; ++i) {
        const double z = part(0.0, 1.0, i, QUARTER), rho = sqrt(1.0 - z * z);
        for (int k = 0; k < QUARTER; ++k) {
            const double angle = part(0.0, 0.5 * TAL_PI, k, QUARTER);
            const tal_vec3 n = tal_v3_mul(side, tal_v3(rho * cos(angle), rho * sin(angle), z));
            visit(w, tal_v3_axpy(it->r, n, core), n, area);
        }
    }
}

static void walk_brick(walk *w, const tal_shape *shape)
{
    const double r = shape->edge_radius;
    const rounded it = {{shape->size.x - r, shape->size.y - r, shape->size.z - r}, r};
    for (int axis = 0; axis < 3; ++axis) {
        walk_face(w, &it, axis, -1.0);
        walk_face(w, &it, axis, 1.0);
    }
    if (r == 0.0) return; // edges and corners have no area
    for (int i = 0; i < 12; ++i) {
        const double side[2] = {(i & 1) != 0 ? 1.0 : -1.0, (i & 2) != 0 ? 1.0 : -1.0};
        walk_edge(w, &it, i / 4, side);
    }
    for (int i = 0; i < 8; ++i) {
        walk_corner(w, &it,
                    tal_v3((i & 1) != 0 ? 1.0 : -1.0, (i & 2) != 0 ? 1.0 : -1.0,
                           (i & 4) != 0 ? 1.0 : -1.0));
    }
}

// ---- any

void tali_detect_walk_facets(const tal_shape *shape, void *self, tali_detect_wants_fn wants,
                             tali_detect_visit_fn visit_facet)
{
    walk w = {self, wants, visit_facet, 0};
    switch (shape->kind) {
    case TAL_SHAPE_ELLIPSOID:
        walk_ellipsoid(&w, shape);
        break;
    case TAL_SHAPE_CYLINDER:
        walk_cylinder(&w, shape);
        break;
    case TAL_SHAPE_BRICK:
        walk_brick(&w, shape);
        break;
    case TAL_SHAPE_TORUS:
        walk_torus(&w, shape);
        break;
    case TAL_SHAPE_HALF_SPACE:
    case TAL_SHAPE_SPHERE:
    case TAL_SHAPE_MESH:
        break;
    }
}
