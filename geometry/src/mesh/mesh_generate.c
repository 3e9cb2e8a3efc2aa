// Meshes of simple solids: sphere, brick, cylinder, and of what is below a field of heights.
#include "mesh/mesh_internal.h"

#include <math.h>

#define TWO_PI (2.0 * TAL_PI)

enum {
    MOST_IN_FIELD = 5000 // heights along an axis
};

// ---- lists of vertices and faces on their way to tal_mesh_create()

typedef struct draft {
    tal_allocator allocator;
    tal_vec3 *vertices;
    int *faces;
    int num_vertices, num_faces; // so far
    int vertex_capacity, face_capacity;
} draft;

static void draft_free(draft *d)
{
    tali_free(&d->allocator, d->vertices, (size_t)d->vertex_capacity * sizeof d->vertices[0]);
    tali_free(&d->allocator, d->faces, 3 * (size_t)d->face_capacity * sizeof d->faces[0]);
}

// On failure there is nothing to free.
static tal_status draft_begin(draft *d, const tal_allocator *allocator, int num_vertices,
                              int num_faces, tal_error *err)
{
    *d = (draft){.vertex_capacity = num_vertices, .face_capacity = num_faces};
    if (tali_alloc_choose(allocator, &d->allocator, "tal_mesh_create") != TAL_OK) {
        return TAL_ERR_NULL;
    }
    d->vertices = tali_alloc(&d->allocator, (size_t)num_vertices * sizeof d->vertices[0]);
    d->faces = tali_alloc(&d->allocator, 3 * (size_t)num_faces * sizeof d->faces[0]);
    if (d->vertices != NULL && d->faces != NULL) return TAL_OK;
    draft_free(d);
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the vertices and faces of a mesh");
}

// Make the mesh; the draft is undefined afterwards.
static tal_status draft_finish(draft *d, tal_mesh **out, tal_error *err)
{
    const tal_status st = tal_mesh_create(&d->allocator, d->vertices, d->num_vertices, d->faces,
                                          d->num_faces, out, err);
    draft_free(d);
    return st;
}

static void add_vertex(draft *d, tal_vec3 p)
{
    d->vertices[d->num_vertices++] = p;
}

static void add_triangle(draft *d, int a, int b, int c)
{
    int *face = d->faces + 3 * (size_t)d->num_faces++;
    face[0] = a;
    face[1] = b;
    face[2] = c;
}

// What every generator begins with: nothing has failed and there is no mesh.
static tal_status begin_mesh(const tal_shape *solid, tal_mesh **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    *out = NULL;
    return tal_shape_check(solid, "", err);
}

// ---- sphere: an icosahedron, its faces split in four repeatedly

// The corners of an icosahedron with edges of length 2 are the corners of three golden rectangles.
static void draft_icosahedron(draft *d, double radius)
{
    const double golden = 0.5 * (1.0 + sqrt(5.0));
    for (int i = 0; i < 12; ++i) {
        const double one = (i & 1) != 0 ? 1.0 : -1.0, phi = (i & 2) != 0 ? golden : -golden;
        const double xyz[5] = {0.0, one, phi, 0.0, one};
        const double *turned = xyz + i / 4;
        add_vertex(d, tal_v3(turned[0], turned[1], turned[2]));
    }
    // three corners make a face when all three distances are 2, and the next distance is 2 golden
    for (int i = 0; i < 12 * 12 * 12; ++i) {
        const int a = i % 12, b = i / 12 % 12, c = i / 144;
        const tal_vec3 p = d->vertices[a], q = d->vertices[b], r = d->vertices[c];
        const double longest =
            fmax(tal_v3_norm(tal_v3_sub(p, q)),
                 fmax(tal_v3_norm(tal_v3_sub(q, r)), tal_v3_norm(tal_v3_sub(r, p))));
        const bool is_outward = tal_v3_dot(p, tal_v3_cross(q, r)) > 0.0;
        if (a < b && a < c && longest < 2.5 && is_outward) add_triangle(d, a, b, c);
    }
    for (int i = 0; i < 12; ++i) {
        d->vertices[i] = tal_v3_scale(radius, tal_v3_normalize(d->vertices[i]));
    }
}

// Which edge of a face has `neighbor` across it. Faces of these meshes share one edge at most.
static int edge_to(const tali_mesh_face *face, int neighbor)
{
    return face->neighbor[0] == neighbor ? 0 : face->neighbor[1] == neighbor ? 1 : 2;
}

// Number the middle of edge k of face f, or find the number that the face across has given it.
static int middle_of(const tal_mesh *mesh, int f, int k, double radius, int middles[], draft *d)
{
    const tali_mesh_face *face = &mesh->faces[f];
    const int across = face->neighbor[k];
    if (across < f) return middles[3 * across + edge_to(&mesh->faces[across], f)];
    const tal_vec3 a = mesh->vertices[face->vertex[k]];
    const tal_vec3 b = mesh->vertices[face->vertex[(k + 1) % 3]];
    add_vertex(d, tal_v3_scale(radius, tal_v3_normalize(tal_v3_add(a, b))));
    return d->num_vertices - 1;
}

static void draft_split(const tal_mesh *mesh, double radius, int middles[], draft *d)
{
    for (int v = 0; v < mesh->num_vertices; ++v) {
        add_vertex(d, mesh->vertices[v]);
    }
    for (int f = 0; f < mesh->num_faces; ++f) {
        const int *v = mesh->faces[f].vertex;
        int *m = middles + 3 * (size_t)f;
        for (int k = 0; k < 3; ++k) {
            m[k] = middle_of(mesh, f, k, radius, middles, d);
        }
        for (int k = 0; k < 3; ++k) {
            add_triangle(d, v[k], m[k], m[(k + 2) % 3]);
        }
        add_triangle(d, m[0], m[1], m[2]);
    }
}

// The mesh with each face split in four. Edges are 3/2 as many as faces.
static tal_status split(const tal_mesh *mesh, double radius, tal_mesh **out, tal_error *err)
{
    const int nf = mesh->num_faces;
    const size_t size = 3 * (size_t)nf * sizeof(int);
    int *middles = tali_alloc(&mesh->allocator, size);
    if (middles == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory to split a mesh");
    draft d;
    tal_status st = draft_begin(&d, &mesh->allocator, mesh->num_vertices + 3 * nf / 2, 4 * nf, err);
    if (st == TAL_OK) {
        draft_split(mesh, radius, middles, &d);
        st = draft_finish(&d, out, err);
    }
    tali_free(&mesh->allocator, middles, size);
    return st;
}

tal_status tal_mesh_create_sphere(const tal_allocator *allocator, double radius, int level,
                                  tal_mesh **out, tal_error *err)
{
    const tal_shape solid = tal_shape_sphere(radius);
    tal_status st = begin_mesh(&solid, out, err);
    if (st != TAL_OK) return st;
    if (level < 0 || level > 8) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the level of a sphere's mesh is %d, not 0 to 8",
                         level);
    }
    draft d;
    st = draft_begin(&d, allocator, 12, 20, err);
    if (st != TAL_OK) return st;
    draft_icosahedron(&d, radius);
    tal_mesh *mesh = NULL;
    st = draft_finish(&d, &mesh, err);
    for (int i = 0; i < level && st == TAL_OK; ++i) {
        tal_mesh *finer = NULL;
        st = split(mesh, radius, &finer, err);
        tal_mesh_destroy(mesh);
        mesh = finer;
    }
    *out = mesh;
    return st;
}

// ---- brick: a lattice on its surface

// The number of a lattice point on the surface, layer by layer in z: the lowest and the highest are
// full, of the others there is the rim: the rows at the ends of y, then what is left at the ends of
// x.
static int lattice_number(const int n[3], const int at[3])
{
    const int full = (n[0] + 1) * (n[1] + 1), rim = 2 * (n[0] + n[1]);
    const int in_full = at[1] * (n[0] + 1) + at[0];
    if (at[2] == 0) return in_full;
    const int start = full + (at[2] - 1) * rim;
    if (at[2] == n[2]) return start + in_full;
    if (at[1] == 0) return start + at[0];
    if (at[1] == n[1]) return start + n[0] + 1 + at[0];
    return start + 2 * (n[0] + 1) + 2 * (at[1] - 1) + (at[0] > 0);
}

static double lattice_place(double half, int n, int i)
{
    return half * (2.0 * i / n - 1.0);
}

// One cell of a side: axis `a` is normal to it, u and v run along it.
static void draft_cell(draft *d, tal_vec3 half, const int n[3], int a, const int cell[3])
{
    const int u = (a + 1) % 3, v = (a + 2) % 3;
    int corner[4];
    for (int k = 0; k < 4; ++k) {
        int at[3] = {cell[0], cell[1], cell[2]};
        at[u] += k == 1 || k == 2;
        at[v] += k >= 2;
        corner[k] = lattice_number(n, at);
        d->vertices[corner[k]] =
            tal_v3(lattice_place(half.x, n[0], at[0]), lattice_place(half.y, n[1], at[1]),
                   lattice_place(half.z, n[2], at[2]));
    }
    // counterclockwise from outside; the diagonal changes from cell to cell, so that no direction
    // is preferred
    const bool is_high = cell[a] > 0;
    const int from = (cell[u] + cell[v]) % 2;
    const int p = corner[from], q = corner[from + 1], r = corner[from + 2],
              s = corner[(from + 3) % 4];
    add_triangle(d, p, is_high ? q : r, is_high ? r : q);
    add_triangle(d, p, is_high ? r : s, is_high ? s : r);
}

static void draft_brick(draft *d, tal_vec3 half, const int n[3])
{
    d->num_vertices = d->vertex_capacity;
    for (int side = 0; side < 6; ++side) {
        const int a = side / 2, u = (a + 1) % 3, v = (a + 2) % 3;
        int cell[3];
        cell[a] = side % 2 == 0 ? 0 : n[a];
        for (cell[v] = 0; cell[v] < n[v]; ++cell[v]) {
            for (cell[u] = 0; cell[u] < n[u]; ++cell[u]) {
                draft_cell(d, half, n, a, cell);
            }
        }
    }
}

tal_status tal_mesh_create_brick(const tal_allocator *allocator, tal_vec3 half_lengths,
                                 const int divisions[3], tal_mesh **out, tal_error *err)
{
    const tal_shape solid = tal_shape_brick(half_lengths, 0.0);
    tal_status st = begin_mesh(&solid, out, err);
    if (st != TAL_OK) return st;
    if (divisions == NULL) return TALI_BREACH(TAL_ERR_NULL, "the divisions are NULL");
    const int *n = divisions;
    for (int i = 0; i < 3; ++i) {
        if (n[i] >= 1 && n[i] <= 500) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "an edge of a brick's mesh has %d divisions, not 1 to 500", n[i]);
    }
    const int cells = n[0] * n[1] + n[1] * n[2] + n[2] * n[0]; // on three of the six sides
    draft d;
    st = draft_begin(&d, allocator, 2 * cells + 2, 4 * cells, err);
    if (st != TAL_OK) return st;
    draft_brick(&d, half_lengths, n);
    return draft_finish(&d, out, err);
}

// ---- cylinder: rings from the middle of the bottom out, up, and in to the middle of the top

typedef struct lathe {
    double radius, half_length;
    int around, across, along; // sides, parts of a cap's radius, parts of the length
} lathe;

// Rings between the two middles.
static int num_rings(const lathe *l)
{
    return 2 * l->across + l->along - 1;
}

static void draft_ring(draft *d, const lathe *l, int ring)
{
    const int out = ring + 1 < l->across ? ring + 1 : l->across;
    const int left = num_rings(l) - ring, in = left < l->across ? left : l->across;
    const int up = ring + 1 - l->across;
    const int clamped = up < 0 ? 0 : up > l->along ? l->along : up;
    const double radius = l->radius * (out < in ? out : in) / l->across;
    for (int j = 0; j < l->around; ++j) {
        const double angle = TWO_PI * j / l->around;
        add_vertex(d, tal_v3(radius * cos(angle), radius * sin(angle),
                             lattice_place(l->half_length, l->along, clamped)));
    }
}

static void draft_cylinder(draft *d, const lathe *l)
{
    const int m = l->around, rings = num_rings(l), bottom = m * rings, top = bottom + 1;
    for (int ring = 0; ring < rings; ++ring) {
        draft_ring(d, l, ring);
    }
    add_vertex(d, tal_v3(0.0, 0.0, -l->half_length));
    add_vertex(d, tal_v3(0.0, 0.0, l->half_length));
    for (int j = 0; j < m; ++j) {
        const int next = (j + 1) % m, last = m * (rings - 1);
        add_triangle(d, bottom, next, j);
        for (int at = 0; at < last; at += m) {
            add_triangle(d, at + j, at + next, at + m + next);
            add_triangle(d, at + j, at + m + next, at + m + j);
        }
        add_triangle(d, top, last + j, last + next);
    }
}

tal_status tal_mesh_create_cylinder(const tal_allocator *allocator, double radius,
                                    double half_length, int around, tal_mesh **out, tal_error *err)
{
    const tal_shape solid = tal_shape_cylinder(radius, half_length, 0.0);
    tal_status st = begin_mesh(&solid, out, err);
    if (st != TAL_OK) return st;
    if (around < 3 || around > 1000) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a cylinder's mesh has %d sides, not 3 to 1000",
                         around);
    }
    const double along = fmax(1.0, round(2.0 * half_length * around / (TWO_PI * radius)));
    if (along > 10000.0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a cylinder of radius %g and half length %g is too slender for %d sides",
                         radius, half_length, around);
    }
    const lathe l = {radius, half_length, around, (int)fmax(1.0, round(around / TWO_PI)),
                     (int)along};
    const int rings = num_rings(&l);
    draft d;
    st = draft_begin(&d, allocator, around * rings + 2, 2 * around * rings, err);
    if (st != TAL_OK) return st;
    draft_cylinder(&d, &l);
    return draft_finish(&d, out, err);
}

// ---- field of heights: the grid on top, its border again at the bottom, and a middle there

typedef struct field {
    const double *heights;
    int nx, ny;
    const double *step;
    double bottom;
} field;

static tal_vec3 field_point(const field *it, int i, int k)
{
    const double x = (i - 0.5 * (it->nx - 1)) * it->step[0];
    const double y = (k - 0.5 * (it->ny - 1)) * it->step[1];
    return tal_v3(x, y, it->heights[(size_t)k * (size_t)it->nx + (size_t)i]);
}

static int border_length(const field *it)
{
    return 2 * (it->nx - 1) + 2 * (it->ny - 1);
}

// The number of a place on the border among the points of the grid, counterclockwise from above.
static int border_point(const field *it, int place)
{
    const int nx = it->nx, ny = it->ny;
    if (place < nx - 1) return place;
    place -= nx - 1;
    if (place < ny - 1) return place * nx + nx - 1;
    place -= ny - 1;
    if (place < nx - 1) return nx * ny - 1 - place;
    return nx * (ny - 1 - (place - (nx - 1)));
}

// Vertices: the grid, its border at the bottom, the middle there. Faces: two for each cell, and for
// each part of the border two of the wall and one of the bottom.
static void draft_field(draft *d, const field *it)
{
    const int nx = it->nx, ny = it->ny, border = border_length(it), first = nx * ny;
    for (int k = 0; k < ny; ++k) {
        for (int i = 0; i < nx; ++i) {
            add_vertex(d, field_point(it, i, k));
        }
    }
    for (int place = 0; place < border; ++place) {
        const tal_vec3 above = d->vertices[border_point(it, place)];
        add_vertex(d, tal_v3(above.x, above.y, it->bottom));
    }
    add_vertex(d, tal_v3(0.0, 0.0, it->bottom));
    for (int k = 0; k + 1 < ny; ++k) {
        for (int i = 0; i + 1 < nx; ++i) {
            const int a = k * nx + i, b = a + nx;
            add_triangle(d, a, a + 1, b + 1);
            add_triangle(d, a, b + 1, b);
        }
    }
    for (int place = 0; place < border; ++place) {
        const int next = (place + 1) % border;
        const int a = border_point(it, place), b = border_point(it, next);
        add_triangle(d, first + place, first + next, b);
        add_triangle(d, first + place, b, a);
        add_triangle(d, first + border, first + next, first + place);
    }
}

// Numbers of heights, steps between them, and all heights above the bottom.
static tal_status check_field(const field *it, tal_error *err)
{
    if (it->nx < 2 || it->ny < 2 || it->nx > MOST_IN_FIELD || it->ny > MOST_IN_FIELD) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a field of %d times %d heights: there must be 2 to %d along each axis",
                         it->nx, it->ny, MOST_IN_FIELD);
    }
    for (int i = 0; i < 2; ++i) {
        if (it->step[i] > 0.0 && isfinite(it->step[i])) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the heights of a field are %g apart: that must be positive and finite",
                         it->step[i]);
    }
    for (int i = 0; i < it->nx * it->ny; ++i) {
        if (isfinite(it->heights[i]) && it->heights[i] > it->bottom) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "height %d of a field is %g: it must be finite and above the bottom, %g",
                         i, it->heights[i], it->bottom);
    }
    return isfinite(it->bottom)
               ? TAL_OK
               : TALI_FAIL(err, TAL_ERR_NOT_FINITE, "the bottom of a field is %g", it->bottom);
}

tal_status tal_mesh_create_field(const tal_allocator *allocator, const double heights[], int num_x,
                                 int num_y, const double step[2], double bottom, tal_mesh **out,
                                 tal_error *err)
{
    if (err != NULL) *err = (tal_error){.status = TAL_OK};
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    *out = NULL;
    if (heights == NULL || step == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the heights of a field or their step are NULL");
    }
    const field it = {heights, num_x, num_y, step, bottom};
    tal_status st = check_field(&it, err);
    if (st != TAL_OK) return st;
    const int border = border_length(&it), cells = (num_x - 1) * (num_y - 1);
    draft d;
    st = draft_begin(&d, allocator, num_x * num_y + border + 1, 2 * cells + 3 * border, err);
    if (st != TAL_OK) return st;
    draft_field(&d, &it);
    return draft_finish(&d, out, err);
}
