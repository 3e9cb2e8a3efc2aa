// Contact by faces: a mesh with a half-space, a sphere or another mesh.
//
// A face is in contact when its centroid is inside the other solid, by the distance from there to
// the nearest point of that solid's surface. Faces come in the order of the mesh's tree.
#include "detect/detect_narrow_internal.h"
#include "mesh/mesh_internal.h"

// A mesh that is compared with something.
typedef struct probe {
    const tal_mesh *mesh;
    const tal_xform *X_GS;
    int side; // which shape of the two it is: 0 for a, 1 for b
    tali_detect_sink *sink;
} probe;

static probe probe_of(const tali_detect_placed *it, int side, tali_detect_sink *sink)
{
    return (probe){it->shape->mesh, it->X_GS, side, sink};
}

// `share`: how much of the face's area this spring represents.
static void add_face(const probe *it, int f, tal_vec3 n_G, tal_vec3 bend_G, double depth,
                     double share)
{
    const tali_mesh_face *face = &it->mesh->faces[f];
    tali_detect_sink_face(it->sink, (tali_detect_face){
                                        .surface = it->side,
                                        .face = f,
                                        .p_G = tal_xf_apply(*it->X_GS, face->centroid),
                                        .n_G = n_G,
                                        .out_G = tal_m3_mul_v3(it->X_GS->R, face->normal),
                                        .bend_G = bend_G,
                                        .depth = depth,
                                        .area = share * face->area,
                                    });
}

// ---- half-space

// The half-space x_S . p >= offset, in the mesh's frame S.
typedef struct half_space_probe {
    probe it;
    tal_vec3 x_S;
    double offset;
    tal_vec3 n_G;
} half_space_probe;

static bool half_space_wants(void *self, const tali_mesh_node *node)
{
    const half_space_probe *h = self;
    const tal_vec3 half = tali_mesh_box_half(&node->box), x = h->x_S;
    const double reach = fabs(x.x) * half.x + fabs(x.y) * half.y + fabs(x.z) * half.z;
    return tal_v3_dot(x, tali_mesh_box_center(&node->box)) + reach >= h->offset;
}

static void half_space_visit(void *self, int f)
{
    const half_space_probe *h = self;
    const double depth = tal_v3_dot(h->x_S, h->it.mesh->faces[f].centroid) - h->offset;
    if (depth > 0.0) add_face(&h->it, f, h->n_G, TAL_VEC3_ZERO, depth, 1.0);
}

void tali_detect_half_space_mesh(const tali_detect_placed *a, const tali_detect_placed *b,
                                 tali_detect_sink *sink)
{
    const tal_vec3 n = a->X_GS->R.x;
    half_space_probe h = {.it = probe_of(b, 1, sink),
                          .x_S = tal_m3_tmul_v3(b->X_GS->R, n),
                          .offset = tal_v3_dot(n, tal_v3_sub(a->X_GS->p, b->X_GS->p)),
                          .n_G = n};
    tali_mesh_walk(b->shape->mesh, &h, half_space_wants, half_space_visit);
}

// ---- sphere

typedef struct sphere_probe {
    probe it;
    tal_vec3 center_S;
    double radius;
} sphere_probe;

static bool sphere_wants(void *self, const tali_mesh_node *node)
{
    const sphere_probe *s = self;
    return tali_mesh_box_distance2(&node->box, s->center_S) < s->radius * s->radius;
}

// The sphere pushes a face straight away from its center; a face with its centroid there, into the
// mesh.
static void sphere_visit(void *self, int f)
{
    const sphere_probe *s = self;
    const tali_mesh_face *face = &s->it.mesh->faces[f];
    const tal_vec3 to_center = tal_v3_sub(s->center_S, face->centroid);
    const double depth = s->radius - tal_v3_norm(to_center);
    if (!(depth > 0.0)) return;
    const bool has_direction = tal_v3_max_abs(to_center) > 0.0;
    const tal_vec3 n_S = has_direction ? tal_v3_normalize(to_center) : face->normal;
    // the normal n of the sphere where the face is nearest is -n_S: it turns by what of a way is
    // across it, over the distance from the center
    const double distance = s->radius - depth;
    const tal_vec3 across = tal_v3_axpy(-tal_v3_dot(n_S, face->normal), n_S, face->normal);
    const tal_vec3 bend = has_direction ? tal_v3_scale(1.0 / distance, across) : TAL_VEC3_ZERO;
    const tal_mat3 *R_GS = &s->it.X_GS->R;
    add_face(&s->it, f, tal_m3_mul_v3(*R_GS, n_S), tal_m3_mul_v3(*R_GS, bend), depth, 1.0);
}

void tali_detect_sphere_mesh(const tali_detect_placed *a, const tali_detect_placed *b,
                             tali_detect_sink *sink)
{
    sphere_probe s = {.it = probe_of(b, 1, sink),
                      .center_S = tal_xf_inv_apply(*b->X_GS, a->X_GS->p),
                      .radius = a->shape->size.x};
    tali_mesh_walk(b->shape->mesh, &s, sphere_wants, sphere_visit);
}

// ---- two meshes

// The faces of one mesh in another mesh, T.
typedef struct mesh_probe {
    probe it;
    const tal_mesh *other;
    tal_xform X_TS;
    tal_mat3 R_GT;
    int hint; // face of the other mesh that was nearest last; -1: none yet
} mesh_probe;

// A node can be left out when the ball around its box is outside the other mesh: when its center
// is, and the surface is farther away than the ball's radius. Round-off in that comparison does not
// matter: a face that it decides about would be in contact by no more than round-off.
static bool mesh_wants(void *self, const tali_mesh_node *node)
{
    mesh_probe *m = self;
    const tal_vec3 center = tal_xf_apply(m->X_TS, tali_mesh_box_center(&node->box));
    const double radius = tal_v3_norm(tali_mesh_box_half(&node->box));
    if (tali_mesh_box_distance2(&m->other->nodes[0].box, center) > radius * radius) return false;
    const tal_mesh_point at = tali_mesh_nearest(m->other, center, m->hint, radius);
    m->hint = at.face;
    return at.is_inside || at.distance <= radius;
}

static void mesh_visit(void *self, int f)
{
    mesh_probe *m = self;
    const tal_vec3 p_T = tal_xf_apply(m->X_TS, m->it.mesh->faces[f].centroid);
    const tal_mesh_point at = tali_mesh_nearest(m->other, p_T, m->hint, 0.0);
    m->hint = at.face;
    const tal_vec3 way_out = tal_v3_sub(at.p_S, p_T);
    if (!at.is_inside || !(tal_v3_max_abs(way_out) > 0.0)) return;
    // the face is pushed out: along n if it is a's, against n if it is b's
    const tal_vec3 n_T = tal_v3_scale(m->it.side == 0 ? 1.0 : -1.0, tal_v3_normalize(way_out));
    add_face(&m->it, f, tal_m3_mul_v3(m->R_GT, n_T), TAL_VEC3_ZERO, at.distance, 0.5);
}

static void probe_mesh(const tali_detect_placed *own, int side, const tali_detect_placed *in,
                       tali_detect_sink *sink)
{
    mesh_probe m = {.it = probe_of(own, side, sink),
                    .hint = -1,
                    .other = in->shape->mesh,
                    .X_TS = tal_xf_inv_mul(*in->X_GS, *own->X_GS),
                    .R_GT = in->X_GS->R};
    tali_mesh_walk(own->shape->mesh, &m, mesh_wants, mesh_visit);
}

void tali_detect_mesh_mesh(const tali_detect_placed *a, const tali_detect_placed *b,
                           tali_detect_sink *sink)
{
    probe_mesh(a, 0, b, sink);
    probe_mesh(b, 1, a, sink);
}
