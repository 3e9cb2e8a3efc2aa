// Convex solids: made from shapes, checked, asked for their parts.
#include "hull/hull_internal.h"

#include <math.h>

// Faces whose normals differ by less are one face.
#define FLAT 1e-9

// ---- memory

// Zero-filled, with room for so many parts; NULL when memory runs out.
static tal_hull *allocate(const tal_allocator *allocator, int vertices, int faces, int edges)
{
    tal_hull *hull;
    tal_vec3 *points;
    tali_hull_face *planes;
    tali_hull_edge *lines;
    const tali_piece pieces[] = {
        {&hull, sizeof *hull},
        {&points, (size_t)vertices * sizeof *points},
        {&planes, (size_t)faces * sizeof *planes},
        {&lines, (size_t)edges * sizeof *lines},
    };
    size_t size;
    if (tali_alloc_pieces(allocator, pieces, sizeof pieces / sizeof pieces[0], &size) == NULL) {
        return NULL;
    }
    hull->allocator = *allocator;
    hull->size = size;
    hull->vertices = points;
    hull->faces = planes;
    hull->edges = lines;
    return hull;
}

static void add_vertex(tal_hull *hull, tal_vec3 p)
{
    hull->vertices[hull->num_vertices++] = p;
}

static void add_face(tal_hull *hull, tal_vec3 normal, tal_vec3 at)
{
    hull->faces[hull->num_faces++] = (tali_hull_face){normal, tal_v3_dot(normal, at)};
}

static void add_edge(tal_hull *hull, int from, int to, tal_vec3 n1, tal_vec3 n2)
{
    hull->edges[hull->num_edges++] = (tali_hull_edge){from, to, {n1, n2}};
}

// ---- the kinds

static tal_hull *make_point(const tal_allocator *allocator, double radius)
{
    tal_hull *hull = allocate(allocator, 1, 0, 0);
    if (hull == NULL) return NULL;
    add_vertex(hull, TAL_VEC3_ZERO);
    hull->radius = radius;
    return hull;
}

static tal_hull *make_segment(const tal_allocator *allocator, double half, double radius)
{
    if (half == 0.0) return make_point(allocator, radius);
    tal_hull *hull = allocate(allocator, 2, 0, 1);
    if (hull == NULL) return NULL;
    add_vertex(hull, tal_v3(0.0, 0.0, -half));
    add_vertex(hull, tal_v3(0.0, 0.0, half));
    add_edge(hull, 0, 1, TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    hull->radius = radius;
    return hull;
}

static tal_vec3 along(int axis, double sign)
{
    return tal_v3_scale(sign, tal_v3_axis((tal_axis)axis));
}

// Corner 0 is (-, -, -), 1 is (+, -, -), 2 is (-, +, -) and so on: a bit for each axis. A core
// without any length along an axis would have faces without an inside.
static tal_hull *make_brick(const tal_allocator *allocator, tal_vec3 half, double radius)
{
    tal_hull *hull = allocate(allocator, 8, 6, 12);
    if (hull == NULL) return NULL;
    for (int i = 0; i < 8; ++i) {
        add_vertex(hull, tal_v3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                                (i & 4) != 0 ? half.z : -half.z));
    }
    for (int i = 0; i < 6; ++i) {
        const tal_vec3 n = along(i / 2, i % 2 == 0 ? -1.0 : 1.0);
        add_face(hull, n, tal_v3_mul(n, half));
        hull->faces[i].offset = fabs(tal_v3_dot(n, half));
    }
    for (int axis = 0; axis < 3; ++axis) {
        const int next = (axis + 1) % 3, last = (axis + 2) % 3;
        for (int k = 0; k < 4; ++k) {
            const int from = ((k & 1) << next) | ((k >> 1) << last);
            add_edge(hull, from, from | 1 << axis, along(next, (k & 1) != 0 ? 1.0 : -1.0),
                     along(last, (k & 2) != 0 ? 1.0 : -1.0));
        }
    }
    hull->is_brick = true;
    hull->half = half;
    hull->radius = radius;
    return hull;
}

// A prism about z, its corners on the cylinder. A core without a height is refused by the caller.
static tal_hull *make_prism(const tal_allocator *allocator, double radius, double half, double rim)
{
    const int n = TALI_HULL_SIDES;
    tal_hull *hull = allocate(allocator, 2 * n, n + 2, 3 * n);
    if (hull == NULL) return NULL;
    const double turn = 2.0 * TAL_PI / n;
    const tal_vec3 up = tal_v3(0.0, 0.0, 1.0), down = tal_v3(0.0, 0.0, -1.0);
    for (int i = 0; i < 2 * n; ++i) {
        const double angle = turn * (i % n);
        add_vertex(hull, tal_v3(radius * cos(angle), radius * sin(angle), i < n ? -half : half));
    }
    add_face(hull, down, hull->vertices[0]);
    add_face(hull, up, hull->vertices[n]);
    for (int i = 0; i < n; ++i) {
        const tal_vec3 side = tal_v3(cos(turn * (i + 0.5)), sin(turn * (i + 0.5)), 0.0);
        const tal_vec3 before = tal_v3(cos(turn * (i - 0.5)), sin(turn * (i - 0.5)), 0.0);
        const int next = (i + 1) % n;
        add_face(hull, side, hull->vertices[i]);
        add_edge(hull, i, next, down, side);
        add_edge(hull, n + i, n + next, up, side);
        add_edge(hull, i, n + i, before, side);
    }
    hull->radius = rim;
    return hull;
}

// ---- meshes

static bool is_flat(tal_vec3 n, tal_vec3 m)
{
    return tal_v3_norm(tal_v3_cross(n, m)) <= FLAT && tal_v3_dot(n, m) > 0.0;
}

// Planes of all faces, each once.
static void add_mesh_faces(tal_hull *hull, const tal_mesh *mesh, double size)
{
    for (int f = 0; f < tal_mesh_num_faces(mesh); ++f) {
        const tal_vec3 n = tal_mesh_face_normal(mesh, f);
        const double offset = tal_v3_dot(n, tal_mesh_face_centroid(mesh, f));
        bool is_new = true;
        for (int k = 0; k < hull->num_faces && is_new; ++k) {
            is_new = !is_flat(n, hull->faces[k].normal) ||
                     fabs(offset - hull->faces[k].offset) > FLAT * size;
        }
        if (is_new) hull->faces[hull->num_faces++] = (tali_hull_face){n, offset};
    }
}

// Edges between faces that are not in one plane; each is found from both sides, and taken from one.
static void add_mesh_edges(tal_hull *hull, const tal_mesh *mesh)
{
    for (int f = 0; f < tal_mesh_num_faces(mesh); ++f) {
        int corners[3], neighbors[3];
        tal_mesh_face(mesh, f, corners);
        tal_mesh_neighbors(mesh, f, neighbors);
        for (int k = 0; k < 3; ++k) {
            const tal_vec3 n = tal_mesh_face_normal(mesh, f);
            if (neighbors[k] < f) continue;
            const tal_vec3 m = tal_mesh_face_normal(mesh, neighbors[k]);
            if (!is_flat(n, m)) add_edge(hull, corners[k], corners[(k + 1) % 3], n, m);
        }
    }
}

// Drop the vertices that no edge has: those within a face.
static void drop_vertices(tal_hull *hull, const tal_mesh *mesh, int *number)
{
    const int n = tal_mesh_num_vertices(mesh);
    for (int i = 0; i < n; ++i) {
        number[i] = -1;
    }
    for (int k = 0; k < hull->num_edges; ++k) {
        number[hull->edges[k].from] = number[hull->edges[k].to] = 0;
    }
    for (int i = 0; i < n; ++i) {
        if (number[i] < 0) continue;
        number[i] = hull->num_vertices;
        add_vertex(hull, tal_mesh_vertex(mesh, i));
    }
    for (int k = 0; k < hull->num_edges; ++k) {
        hull->edges[k].from = number[hull->edges[k].from];
        hull->edges[k].to = number[hull->edges[k].to];
    }
}

// Every vertex is below every face.
static tal_status check_convex(const tal_mesh *mesh, double size, const char *name, tal_error *err)
{
    for (int f = 0; f < tal_mesh_num_faces(mesh); ++f) {
        const tal_vec3 n = tal_mesh_face_normal(mesh, f), at = tal_mesh_face_centroid(mesh, f);
        for (int i = 0; i < tal_mesh_num_vertices(mesh); ++i) {
            const double above = tal_v3_dot(n, tal_v3_sub(tal_mesh_vertex(mesh, i), at));
            if (above <= FLAT * size) continue;
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "mesh '%s' is not convex: vertex %d is %g above the plane of face %d; "
                             "split it into convex parts",
                             name, i, above, f);
        }
    }
    return TAL_OK;
}

static double mesh_size(const tal_mesh *mesh)
{
    double size = 0.0;
    const tal_vec3 first = tal_mesh_vertex(mesh, 0);
    for (int i = 1; i < tal_mesh_num_vertices(mesh); ++i) {
        size = fmax(size, tal_v3_norm(tal_v3_sub(tal_mesh_vertex(mesh, i), first)));
    }
    return size;
}

// The faces, edges and corners of a convex mesh. TAL_OK without a hull: there is no memory.
static tal_status make_mesh(const tal_allocator *allocator, const tal_mesh *mesh, const char *name,
                            tal_hull **out, tal_error *err)
{
    const int n = tal_mesh_num_vertices(mesh), num_faces = tal_mesh_num_faces(mesh);
    if (n >= TALI_HULL_NONE) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "mesh '%s' has %d vertices and may have %d: make it coarser", name, n,
                         TALI_HULL_NONE - 1);
    }
    const double size = mesh_size(mesh);
    const tal_status st = check_convex(mesh, size, name, err);
    if (st != TAL_OK) return st;
    const size_t bytes = (size_t)n * sizeof(int);
    int *number = tali_alloc(allocator, bytes);
    tal_hull *hull = allocate(allocator, n, num_faces, 3 * num_faces / 2);
    if (number != NULL && hull != NULL) {
        add_mesh_faces(hull, mesh, size);
        add_mesh_edges(hull, mesh);
        drop_vertices(hull, mesh, number);
        *out = hull;
    } else {
        tal_hull_destroy(hull);
    }
    tali_free(allocator, number, bytes);
    return TAL_OK;
}

// ---- any shape

// Center, ball and width, from the parts.
static void measure(tal_hull *hull)
{
    tal_vec3 low = hull->vertices[0], high = hull->vertices[0];
    for (int i = 1; i < hull->num_vertices; ++i) {
        const tal_vec3 p = hull->vertices[i];
        low = tal_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = tal_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    hull->center = tal_v3_scale(0.5, tal_v3_add(low, high));
    for (int i = 0; i < hull->num_vertices; ++i) {
        const double r = tal_v3_norm(tal_v3_sub(hull->vertices[i], hull->center));
        hull->extent = fmax(hull->extent, r + hull->radius);
    }
    hull->width = hull->num_faces > 0 ? (double)INFINITY : 2.0 * (hull->extent - hull->radius);
    for (int k = 0; k < hull->num_faces; ++k) {
        int vertex;
        const tali_hull_face *face = &hull->faces[k];
        const double least = tali_hull_least(hull, face->normal, &vertex);
        hull->width = fmin(hull->width, face->offset - least);
    }
}

static const double LEAST_CORE = 1e-6; // a part of the half size

// The core of a brick or a cylinder that is rounded as far as can be along some axes is flat; it
// keeps a part of its size there, so that its faces stay faces.
static double core_of(double half, double radius)
{
    return fmax(half - radius, LEAST_CORE * half);
}

static tal_hull *make_cylinder(const tal_allocator *allocator, const tal_shape *shape)
{
    const double radius = shape->size.x, half = shape->size.y, rim = shape->edge_radius;
    if (rim == radius) return make_segment(allocator, half - rim, rim);
    return make_prism(allocator, radius - rim, core_of(half, rim), rim);
}

static tal_hull *make_rounded_brick(const tal_allocator *allocator, const tal_shape *shape)
{
    const double r = shape->edge_radius;
    const tal_vec3 h = shape->size;
    if (h.x == r && h.y == r && h.z == r) return make_point(allocator, r);
    return make_brick(allocator, tal_v3(core_of(h.x, r), core_of(h.y, r), core_of(h.z, r)), r);
}

// A hull of any kind. TAL_OK without a hull: there is no memory.
static tal_status make(const tal_allocator *allocator, const tal_shape *shape, const char *name,
                       tal_hull **out, tal_error *err)
{
    switch (shape->kind) {
    case TAL_SHAPE_HALF_SPACE:
        *out = allocate(allocator, 0, 0, 0);
        if (*out != NULL) (*out)->is_half_space = true;
        return TAL_OK;
    case TAL_SHAPE_SPHERE:
        *out = make_point(allocator, shape->size.x);
        return TAL_OK;
    case TAL_SHAPE_CYLINDER:
        *out = make_cylinder(allocator, shape);
        return TAL_OK;
    case TAL_SHAPE_BRICK:
        *out = make_rounded_brick(allocator, shape);
        return TAL_OK;
    case TAL_SHAPE_MESH:
        return make_mesh(allocator, shape->mesh, name, out, err);
    case TAL_SHAPE_ELLIPSOID:
    case TAL_SHAPE_TORUS:
        break;
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "%s '%s' has no hull: use a sphere, a cylinder, a brick, a half-space or a "
                     "convex mesh",
                     tal_shape_kind_name(shape->kind), name);
}

tal_status tal_hull_create(const tal_allocator *allocator, const tal_shape *shape, const char *name,
                           tal_hull **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    *out = NULL;
    tal_allocator chosen;
    tal_status st = tali_alloc_choose(allocator, &chosen, __func__);
    if (st != TAL_OK) return st;
    st = tal_shape_check(shape, name, err);
    if (st != TAL_OK) return st;
    st = make(&chosen, shape, name != NULL ? name : "", out, err);
    if (st != TAL_OK) return st;
    if (*out == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the hull of '%s'",
                         name != NULL ? name : "");
    }
    if (!(*out)->is_half_space) measure(*out);
    return TAL_OK;
}

void tal_hull_destroy(tal_hull *hull)
{
    if (hull == NULL) return;
    const tal_allocator allocator = hull->allocator;
    tali_free(&allocator, hull, hull->size);
}

// ---- asking

double tali_hull_least(const tal_hull *hull, tal_vec3 d, int *vertex)
{
    if (hull->is_brick) {
        *vertex = (d.x < 0.0 ? 1 : 0) | (d.y < 0.0 ? 2 : 0) | (d.z < 0.0 ? 4 : 0);
        return tal_v3_dot(d, hull->vertices[*vertex]);
    }
    double least = (double)INFINITY;
    *vertex = 0;
    for (int i = 0; i < hull->num_vertices; ++i) {
        const double at = tal_v3_dot(d, hull->vertices[i]);
        if (at >= least) continue;
        least = at;
        *vertex = i;
    }
    return least;
}

int tal_hull_num_vertices(const tal_hull *hull)
{
    if (hull == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "the hull is NULL"), -1;
    return hull->num_vertices;
}

tal_vec3 tal_hull_vertex(const tal_hull *hull, int vertex)
{
    const double nan = (double)NAN;
    if (hull == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the hull is NULL");
        return tal_v3(nan, nan, nan);
    }
    if (vertex < 0 || vertex >= hull->num_vertices) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "vertex %d of %d", vertex, hull->num_vertices);
        return tal_v3(nan, nan, nan);
    }
    return hull->vertices[vertex];
}

int tal_hull_num_faces(const tal_hull *hull)
{
    if (hull == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "the hull is NULL"), -1;
    return hull->num_faces;
}

double tal_hull_radius(const tal_hull *hull)
{
    if (hull == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "the hull is NULL"), (double)NAN;
    return hull->radius;
}

bool tal_hull_can_touch(const tal_hull *a, const tal_hull *b)
{
    if (a == NULL || b == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "a hull is NULL");
        return false;
    }
    return !(a->is_half_space && b->is_half_space);
}
