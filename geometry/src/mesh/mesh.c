// Triangle meshes: creating one, and everything that can be wrong with what it is created from.
#include "mesh/mesh_internal.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/// The most faces: half-edges are counted in int.
#define MAX_FACES (INT_MAX / 4)

// ---- memory: one block for the mesh

// One block for a mesh and its arrays, with their addresses set.
static tal_mesh *mesh_alloc(const tal_allocator *allocator, int num_vertices, int num_faces)
{
    tal_mesh made = {.allocator = *allocator,
                     .num_vertices = num_vertices,
                     .num_faces = num_faces,
                     .num_nodes = tali_mesh_count_nodes(num_faces)};
    tal_mesh *mesh = NULL;
    const tali_piece pieces[] = {
        {&mesh, sizeof *mesh},
        {&made.vertices, (size_t)num_vertices * sizeof *made.vertices},
        {&made.vertex_normals, (size_t)num_vertices * sizeof *made.vertex_normals},
        {&made.faces, (size_t)num_faces * sizeof *made.faces},
        {&made.nodes, (size_t)made.num_nodes * sizeof *made.nodes},
        {&made.order, (size_t)num_faces * sizeof *made.order},
    };
    if (tali_alloc_pieces(allocator, pieces, sizeof pieces / sizeof pieces[0], &made.size) ==
        NULL) {
        return NULL;
    }
    *mesh = made;
    return mesh;
}

void tal_mesh_destroy(tal_mesh *mesh)
{
    if (mesh == NULL) return;
    const tal_allocator allocator = mesh->allocator;
    tali_free(&allocator, mesh, mesh->size);
}

// ---- vertices and faces, one by one

static tal_status take_vertices(tal_mesh *mesh, const tal_vec3 vertices[], tal_error *err)
{
    for (int v = 0; v < mesh->num_vertices; ++v) {
        const tal_vec3 p = vertices[v];
        if (!tal_v3_is_finite(p)) {
            return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "vertex %d of the mesh is (%g, %g, %g)", v,
                             p.x, p.y, p.z);
        }
    }
    memcpy(mesh->vertices, vertices, (size_t)mesh->num_vertices * sizeof vertices[0]);
    return TAL_OK;
}

// A face without area: its corners are on a line to within the round-off of the cross product,
// which is 2 eps times the product of the two edges; one digit more, so that the normal has some
// meaning.
static const double FLAT = 1e-14;

static tal_status measure(const tal_mesh *mesh, int f, tali_mesh_face *face, tal_error *err)
{
    const tal_vec3 a = mesh->vertices[face->vertex[0]];
    const tal_vec3 ab = tal_v3_sub(mesh->vertices[face->vertex[1]], a);
    const tal_vec3 ac = tal_v3_sub(mesh->vertices[face->vertex[2]], a);
    const tal_vec3 cross = tal_v3_cross(ab, ac);
    const double twice = tal_v3_norm(cross);
    if (!(twice > FLAT * tal_v3_norm(ab) * tal_v3_norm(ac)) || !isfinite(twice)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "face %d of the mesh (vertices %d, %d, %d) has no area", f,
                         face->vertex[0], face->vertex[1], face->vertex[2]);
    }
    face->normal = tal_v3_normalize(cross);
    face->centroid = tal_v3_axpy(1.0 / 3.0, tal_v3_add(ab, ac), a);
    face->area = 0.5 * twice;
    return TAL_OK;
}

static tal_status take_faces(tal_mesh *mesh, const int faces[], tal_error *err)
{
    for (int f = 0; f < mesh->num_faces; ++f) {
        tali_mesh_face *face = &mesh->faces[f];
        for (int k = 0; k < 3; ++k) {
            const int v = faces[3 * f + k];
            if (v < 0 || v >= mesh->num_vertices) {
                return TALI_FAIL(err, TAL_ERR_BAD_INDEX,
                                 "face %d of the mesh uses vertex %d, but there are %d", f, v,
                                 mesh->num_vertices);
            }
            face->vertex[k] = v;
        }
        const tal_status st = measure(mesh, f, face, err);
        if (st != TAL_OK) return st;
        mesh->area += face->area;
    }
    return TAL_OK;
}

// ---- edges
//
// Half-edge 3 f + k runs from vertex k of face f to the next. Sorted by their two vertices, the
// lower first, the half-edges of one edge are together: there must be two, of opposite direction.

typedef struct half_edge {
    int low, high, id;
    bool is_downward; // from high to low
} half_edge;

static half_edge half_edge_of(const tal_mesh *mesh, int id)
{
    const int *v = mesh->faces[id / 3].vertex;
    const int from = v[id % 3], to = v[(id % 3 + 1) % 3];
    const bool is_downward = from > to;
    return (half_edge){is_downward ? to : from, is_downward ? from : to, id, is_downward};
}

// Stable counting sort by `low` or `high`; `counts` has a place for every vertex and one more.
static void sort_by_vertex(const half_edge in[], half_edge out[], int n, bool by_low, int counts[],
                           int num_vertices)
{
    memset(counts, 0, (size_t)(num_vertices + 1) * sizeof counts[0]);
    for (int i = 0; i < n; ++i) {
        ++counts[(by_low ? in[i].low : in[i].high) + 1];
    }
    for (int v = 0; v < num_vertices; ++v) {
        counts[v + 1] += counts[v];
    }
    for (int i = 0; i < n; ++i) {
        out[counts[by_low ? in[i].low : in[i].high]++] = in[i];
    }
}

static tal_status fail_edge(const half_edge *edge, int count, tal_error *err)
{
    const int f = edge[0].id / 3;
    if (count == 1) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "the mesh is open: the edge of vertices %d and %d belongs to face %d alone", edge->low,
            edge->high, f);
    }
    if (count > 2) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "the edge of vertices %d and %d belongs to %d faces of the mesh, the first "
            "of them %d, %d and %d; it may belong to two",
            edge->low, edge->high, count, f, edge[1].id / 3, edge[2].id / 3);
    }
    return TALI_FAIL(
        err, TAL_ERR_BAD_VALUE,
        "faces %d and %d of the mesh run along their edge of vertices %d and %d in the "
        "same direction: one of them is inside out",
        f, edge[1].id / 3, edge->low, edge->high);
}

// Pair up sorted half-edges.
static tal_status join(tal_mesh *mesh, const half_edge edges[], int n, tal_error *err)
{
    for (int i = 0; i < n;) {
        const half_edge *first = &edges[i];
        int count = 1;
        while (i + count < n && first[count].low == first->low &&
               first[count].high == first->high) {
            ++count;
        }
        if (count != 2 || first[0].is_downward == first[1].is_downward) {
            return fail_edge(first, count, err);
        }
        mesh->faces[first[0].id / 3].neighbor[first[0].id % 3] = first[1].id / 3;
        mesh->faces[first[1].id / 3].neighbor[first[1].id % 3] = first[0].id / 3;
        i += count;
    }
    return TAL_OK;
}

// Finds the neighbor of each face across each of its edges: half-edges, sorted so that the two of
// an edge are side by side.
static tal_status connect(tal_mesh *mesh, tal_error *err)
{
    const int n = 3 * mesh->num_faces;
    half_edge *edges = NULL, *sorted = NULL;
    int *counts = NULL;
    const tali_piece pieces[] = {
        {&edges, (size_t)n * sizeof *edges},
        {&sorted, (size_t)n * sizeof *sorted},
        {&counts, ((size_t)mesh->num_vertices + 1) * sizeof *counts},
    };
    size_t size;
    void *block =
        tali_alloc_pieces(&mesh->allocator, pieces, sizeof pieces / sizeof pieces[0], &size);
    if (block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the mesh's edges");
    for (int id = 0; id < n; ++id) {
        edges[id] = half_edge_of(mesh, id);
    }
    sort_by_vertex(edges, sorted, n, false, counts, mesh->num_vertices);
    sort_by_vertex(sorted, edges, n, true, counts, mesh->num_vertices);
    const tal_status st = join(mesh, edges, n, err);
    tali_free(&mesh->allocator, block, size);
    return st;
}

// ---- vertices again: each must be the center of one fan of faces

// The corner of a face at a vertex.
static int corner_of(const tali_mesh_face *face, int v)
{
    return face->vertex[0] == v ? 0 : face->vertex[1] == v ? 1 : 2;
}

static double angle_at(const tal_mesh *mesh, const tali_mesh_face *face, int k)
{
    const tal_vec3 at = mesh->vertices[face->vertex[k]];
    const tal_vec3 a = tal_v3_sub(mesh->vertices[face->vertex[(k + 1) % 3]], at);
    const tal_vec3 b = tal_v3_sub(mesh->vertices[face->vertex[(k + 2) % 3]], at);
    return atan2(tal_v3_norm(tal_v3_cross(a, b)), tal_v3_dot(a, b));
}

// Faces around vertex v, from face `start` across the edge that leaves v, until `start` is
// reached again: the edges pair up, so it is.
static int walk_fan(tal_mesh *mesh, int v, int start)
{
    int count = 0;
    int f = start;
    tal_vec3 sum = TAL_VEC3_ZERO;
    do {
        const tali_mesh_face *face = &mesh->faces[f];
        const int k = corner_of(face, v);
        sum = tal_v3_axpy(angle_at(mesh, face, k), face->normal, sum);
        f = face->neighbor[k];
        ++count;
    } while (f != start);
    mesh->vertex_normals[v] = sum;
    return count;
}

static tal_status check_fans(tal_mesh *mesh, int first[], int count[], tal_error *err)
{
    for (int i = 0; i < 3 * mesh->num_faces; ++i) {
        const int v = mesh->faces[i / 3].vertex[i % 3];
        if (count[v]++ == 0) first[v] = i / 3;
    }
    for (int v = 0; v < mesh->num_vertices; ++v) {
        if (count[v] == 0) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "vertex %d of the mesh belongs to no face", v);
        }
        const int around = walk_fan(mesh, v, first[v]);
        if (around != count[v]) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "the mesh pinches at vertex %d: of its %d faces, %d make a fan by "
                             "themselves; give each fan a vertex of its own",
                             v, count[v], around);
        }
    }
    return TAL_OK;
}

static tal_status find_vertex_normals(tal_mesh *mesh, tal_error *err)
{
    const size_t size = 2 * (size_t)mesh->num_vertices * sizeof(int);
    int *first = tali_alloc(&mesh->allocator, size);
    if (first == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the mesh's fans");
    const tal_status st = check_fans(mesh, first, first + mesh->num_vertices, err);
    tali_free(&mesh->allocator, first, size);
    return st;
}

// ---- inside and outside

// The divergence theorem: the volume is the sum over faces of (c . n) A / 3. Taken about a vertex,
// so that a mesh far from the origin loses no digits.
static tal_status find_volume(tal_mesh *mesh, tal_error *err)
{
    const tal_vec3 origin = mesh->vertices[0];
    double sum = 0.0;
    for (int f = 0; f < mesh->num_faces; ++f) {
        const tali_mesh_face *face = &mesh->faces[f];
        sum += tal_v3_dot(tal_v3_sub(face->centroid, origin), face->normal) * face->area;
    }
    mesh->volume = sum / 3.0;
    if (mesh->volume > 0.0) return TAL_OK;
    return TALI_FAIL(
        err, TAL_ERR_BAD_VALUE,
        "the mesh is flat or inside out: it encloses %g m^3; reverse the vertices of its faces",
        mesh->volume);
}

// ---- creating

static tal_status build(tal_mesh *mesh, const tal_vec3 vertices[], const int faces[],
                        tal_error *err)
{
    tal_status st = take_vertices(mesh, vertices, err);
    if (st == TAL_OK) st = take_faces(mesh, faces, err);
    if (st == TAL_OK) st = connect(mesh, err);
    if (st == TAL_OK) st = find_vertex_normals(mesh, err);
    if (st == TAL_OK) st = find_volume(mesh, err);
    if (st == TAL_OK) tali_mesh_build_tree(mesh);
    return st;
}

tal_status tal_mesh_create(const tal_allocator *allocator, const tal_vec3 vertices[],
                           int num_vertices, const int faces[], int num_faces, tal_mesh **out,
                           tal_error *err)
{
    if (err != NULL) *err = (tal_error){.status = TAL_OK};
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    *out = NULL;
    if (vertices == NULL || faces == NULL) {
        (void)TALI_FAIL(err, TAL_ERR_NULL, "the mesh has no vertices or no faces: NULL");
        return TALI_BREACH(TAL_ERR_NULL, "vertices or faces are NULL");
    }
    if (num_vertices < 4 || num_faces < 4 || num_faces > MAX_FACES) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "the mesh has %d vertices and %d faces; at least 4 of each enclose a volume, "
            "and there can be %d faces",
            num_vertices, num_faces, MAX_FACES);
    }
    tal_allocator from;
    if (tali_alloc_choose(allocator, &from, __func__) != TAL_OK) return TAL_ERR_NULL;
    tal_mesh *mesh = mesh_alloc(&from, num_vertices, num_faces);
    if (mesh == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the mesh");
    const tal_status st = build(mesh, vertices, faces, err);
    if (st == TAL_OK) {
        *out = mesh;
    } else {
        tal_mesh_destroy(mesh);
    }
    return st;
}

// ---- reading

// Whether there is such a mesh and such a part of it; else a breach in the name of `where`.
static bool has(const tal_mesh *mesh, const char *subject, int i, int count, const char *where)
{
    if (mesh == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the mesh is NULL");
        return false;
    }
    if (i >= 0 && i < count) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "%s %d of a mesh that has %d", subject, i, count);
    return false;
}

static const tali_mesh_face *face_at(const tal_mesh *mesh, int face, const char *where)
{
    const bool is_there = has(mesh, "face", face, mesh != NULL ? mesh->num_faces : 0, where);
    return is_there ? &mesh->faces[face] : NULL;
}

static tal_vec3 nowhere(void)
{
    return tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
}

int tal_mesh_num_vertices(const tal_mesh *mesh)
{
    return has(mesh, "mesh", 0, 1, __func__) ? mesh->num_vertices : -1;
}

int tal_mesh_num_faces(const tal_mesh *mesh)
{
    return has(mesh, "mesh", 0, 1, __func__) ? mesh->num_faces : -1;
}

tal_vec3 tal_mesh_vertex(const tal_mesh *mesh, int vertex)
{
    const int count = mesh != NULL ? mesh->num_vertices : 0;
    return has(mesh, "vertex", vertex, count, __func__) ? mesh->vertices[vertex] : nowhere();
}

void tal_mesh_face(const tal_mesh *mesh, int face, int vertices[3])
{
    const tali_mesh_face *it = face_at(mesh, face, __func__);
    if (vertices == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "vertices is NULL");
        return;
    }
    for (int k = 0; k < 3; ++k) {
        vertices[k] = it != NULL ? it->vertex[k] : -1;
    }
}

void tal_mesh_neighbors(const tal_mesh *mesh, int face, int neighbors[3])
{
    const tali_mesh_face *it = face_at(mesh, face, __func__);
    if (neighbors == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "neighbors is NULL");
        return;
    }
    for (int k = 0; k < 3; ++k) {
        neighbors[k] = it != NULL ? it->neighbor[k] : -1;
    }
}

tal_vec3 tal_mesh_face_normal(const tal_mesh *mesh, int face)
{
    const tali_mesh_face *it = face_at(mesh, face, __func__);
    return it != NULL ? it->normal : nowhere();
}

tal_vec3 tal_mesh_face_centroid(const tal_mesh *mesh, int face)
{
    const tali_mesh_face *it = face_at(mesh, face, __func__);
    return it != NULL ? it->centroid : nowhere();
}

double tal_mesh_face_area(const tal_mesh *mesh, int face)
{
    const tali_mesh_face *it = face_at(mesh, face, __func__);
    return it != NULL ? it->area : TALI_NAN;
}

double tal_mesh_area(const tal_mesh *mesh)
{
    return has(mesh, "mesh", 0, 1, __func__) ? mesh->area : TALI_NAN;
}

double tal_mesh_volume(const tal_mesh *mesh)
{
    return has(mesh, "mesh", 0, 1, __func__) ? mesh->volume : TALI_NAN;
}
