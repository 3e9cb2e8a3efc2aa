// Contact of a ball, and of the facets of solids, with the nearest points of solids.
//
// A ball touches at one point. Solids that have flat sides or hollows meet in patches: there each
// facet of one whose middle is inside the other is a spring of an elastic foundation, along the way
// to the nearest point of the other's surface.
#include "detect/detect_solid_internal.h"
#include "mesh/mesh_internal.h"

#include <math.h>

// ---- balls

static double curvature_of(double radius)
{
    return radius != 0.0 ? 1.0 / radius : 0.0; // no curvature stands for a sharp edge
}

// The larger relative curvature first; none where an edge is sharp.
static void curve(tali_detect_point *at, double r, const tali_detect_nearest *near, tal_vec3 e_G)
{
    if (near->radius[0] == 0.0 || near->radius[1] == 0.0) return;
    const double k[2] = {1.0 / r + curvature_of(near->radius[0]),
                         1.0 / r + curvature_of(near->radius[1])};
    const int larger = k[0] >= k[1] ? 0 : 1;
    at->curvature[0] = k[larger];
    at->curvature[1] = k[1 - larger];
    at->radius = 1.0 / sqrt(k[0] * k[1]);
    at->axis_G = larger == 0 ? e_G : tal_v3_cross(at->n_G, e_G);
}

void tali_detect_sphere_solid(const tali_detect_placed *a, const tali_detect_placed *b,
                              tali_detect_sink *sink)
{
    const double r = a->shape->size.x;
    const tal_vec3 center = a->X_GS->p;
    const tali_detect_nearest near =
        tali_detect_find_nearest(b->shape, tal_xf_inv_apply(*b->X_GS, center));
    const double depth = r - near.distance;
    if (!(depth > 0.0)) return;
    const tal_vec3 n = tal_m3_mul_v3(b->X_GS->R, near.n);
    tali_detect_point at = {.p_G = tal_v3_axpy(0.5 * depth - r, n, center),
                            .n_G = n,
                            .depth = depth,
                            .axis_G = tal_v3_perp(n),
                            .weight = 1.0};
    curve(&at, r, &near, tal_m3_mul_v3(b->X_GS->R, near.e));
    tali_detect_sink_point(sink, at);
}

// A ball and one ball of a torus, at a place of its ring.
static void ball_and_tube(const tali_detect_placed *ball, tal_vec3 on_ring, double tube,
                          int feature, tali_detect_sink *sink)
{
    const double r = ball->shape->size.x;
    const tal_vec3 apart = tal_v3_sub(ball->X_GS->p, on_ring);
    const double depth = r + tube - tal_v3_norm(apart);
    if (!(depth > 0.0) || !(tal_v3_max_abs(apart) > 0.0)) return;
    const tal_vec3 n = tal_v3_normalize(apart);
    const double curvature = 1.0 / r + 1.0 / tube;
    tali_detect_sink_point(sink, (tali_detect_point){
                                     .p_G = tal_v3_axpy(tube - 0.5 * depth, n, on_ring),
                                     .n_G = n,
                                     .depth = depth,
                                     .curvature = {curvature, curvature},
                                     .radius = 1.0 / curvature,
                                     .axis_G = tal_v3_perp(n),
                                     .weight = 1.0,
                                     .feature = feature,
                                 });
}

// Three balls of the torus, at the nearest place of its ring and a third of a turn to either side:
// a ball that lies in the hole is held on all sides. They have a potential for the reason that is
// given for rings on half-spaces.
void tali_detect_sphere_torus(const tali_detect_placed *a, const tali_detect_placed *b,
                              tali_detect_sink *sink)
{
    const double ring = b->shape->size.x, tube = b->shape->size.y;
    const tal_vec3 p = tal_xf_inv_apply(*b->X_GS, a->X_GS->p);
    const double rho = hypot(p.x, p.y);
    const double c = rho > 0.0 ? p.x / rho : 1.0, s = rho > 0.0 ? p.y / rho : 0.0;
    const double third_cos[3] = {1.0, -0.5, -0.5};
    const double third_sin[3] = {0.0, 0.5 * sqrt(3.0), -0.5 * sqrt(3.0)};
    for (int k = 0; k < 3; ++k) {
        const tal_vec3 on = tal_v3(ring * (c * third_cos[k] - s * third_sin[k]),
                                   ring * (s * third_cos[k] + c * third_sin[k]), 0.0);
        ball_and_tube(a, tal_xf_apply(*b->X_GS, on), tube, k, sink);
    }
}

// ---- facets

// What is compared with a solid, whose frame is T.
typedef struct probe {
    const tali_detect_placed *own, *other;
    tal_xform X_TS;
    int side; // which of the two has the facets: 0 for a, 1 for b
    double share;
    tali_detect_sink *sink;
} probe;

static probe probe_of(const tali_detect_placed *own, int side, const tali_detect_placed *other,
                      double share, tali_detect_sink *sink)
{
    return (probe){own, other, tal_xf_inv_mul(*other->X_GS, *own->X_GS), side, share, sink};
}

// Distances grow no faster than ways: within a ball that is outside nothing is inside.
static bool wants_ball(void *self, tal_vec3 center, double radius)
{
    const probe *it = self;
    const tal_vec3 at = tal_xf_apply(it->X_TS, center);
    return tali_detect_find_nearest(it->other->shape, at).distance < radius;
}

static void visit_facet(void *self, int number, const tali_detect_facet *facet)
{
    const probe *it = self;
    const tali_detect_nearest near =
        tali_detect_find_nearest(it->other->shape, tal_xf_apply(it->X_TS, facet->p));
    if (!(near.distance < 0.0)) return;
    const tal_mat3 *R_GT = &it->other->X_GS->R;
    const tal_vec3 out_T = tal_m3_mul_v3(it->X_TS.R, facet->n);
    const tal_vec3 n_G = tal_m3_mul_v3(*R_GT, near.n);
    tali_detect_sink_face(
        it->sink, (tali_detect_face){
                      .surface = it->side,
                      .face = number,
                      .p_G = tal_xf_apply(*it->own->X_GS, facet->p),
                      .n_G = it->side == 0 ? n_G : tal_v3_neg(n_G),
                      .out_G = tal_m3_mul_v3(*R_GT, out_T),
                      .bend_G = tal_m3_mul_v3(*R_GT, tali_detect_nearest_bend(&near, out_T)),
                      .depth = -near.distance,
                      .area = it->share * facet->area,
                  });
}

void tali_detect_solids(const tali_detect_placed *a, const tali_detect_placed *b,
                        tali_detect_sink *sink)
{
    probe first = probe_of(a, 0, b, 0.5, sink), second = probe_of(b, 1, a, 0.5, sink);
    tali_detect_walk_facets(a->shape, &first, wants_ball, visit_facet);
    tali_detect_walk_facets(b->shape, &second, wants_ball, visit_facet);
}

// ---- faces of a mesh

static bool wants_node(void *self, const tali_mesh_node *node)
{
    return wants_ball(self, tali_mesh_box_center(&node->box),
                      tal_v3_norm(tali_mesh_box_half(&node->box)));
}

static void visit_mesh_face(void *self, int f)
{
    const probe *it = self;
    const tali_mesh_face *face = &it->own->shape->mesh->faces[f];
    const tali_detect_facet facet = {face->centroid, face->normal, face->area};
    visit_facet(self, f, &facet);
}

void tali_detect_solid_mesh(const tali_detect_placed *a, const tali_detect_placed *b,
                            tali_detect_sink *sink)
{
    probe it = probe_of(b, 1, a, 1.0, sink);
    tali_mesh_walk(b->shape->mesh, &it, wants_node, visit_mesh_face);
}
