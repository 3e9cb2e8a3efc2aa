// Contact at points: half-space with the smooth and the rounded shapes, sphere with sphere.
//
// Two surfaces overlap by x along n. Surface 1 reaches to p_1 and surface 2 to p_2 = p_1 + x n; the
// point reported is halfway between (manual sec. 11.2.2 has P between the two, by the stiffnesses).
#include "detect/detect_solid_internal.h"

#include <math.h>

// ---- half-space with balls
//
// The half-space is x >= 0 of its frame, so n, which points from the other shape to it, is its x
// axis.

// A ball of `radius`, possibly zero, about `center` in Ground.
static void half_space_ball(const tali_detect_placed *half_space, tal_vec3 center, double radius,
                            int feature, tali_detect_sink *sink)
{
    const tal_vec3 n = half_space->X_GS->R.x;
    const double depth = tal_v3_dot(n, tal_v3_sub(center, half_space->X_GS->p)) + radius;
    if (!(depth > 0.0)) return;
    const double curvature = radius > 0.0 ? 1.0 / radius : 0.0;
    tali_detect_sink_point(sink, (tali_detect_point){
                                     .p_G = tal_v3_axpy(radius - 0.5 * depth, n, center),
                                     .n_G = n,
                                     .depth = depth,
                                     .curvature = {curvature, curvature},
                                     .radius = radius,
                                     .axis_G = tal_v3_perp(n),
                                     .weight = 1.0,
                                     .feature = feature,
                                 });
}

void tali_detect_half_space_sphere(const tali_detect_placed *a, const tali_detect_placed *b,
                                   tali_detect_sink *sink)
{
    half_space_ball(a, b->X_GS->p, b->shape->size.x, 0, sink);
}

// Corner 0 is (-, -, -), 1 is (+, -, -), 2 is (-, +, -) and so on.
void tali_detect_half_space_brick(const tali_detect_placed *a, const tali_detect_placed *b,
                                  tali_detect_sink *sink)
{
    const double r = b->shape->edge_radius;
    const tal_vec3 h = tal_v3_sub(b->shape->size, tal_v3(r, r, r));
    for (int corner = 0; corner < 8; ++corner) {
        const tal_vec3 p_S = tal_v3((corner & 1) != 0 ? h.x : -h.x, (corner & 2) != 0 ? h.y : -h.y,
                                    (corner & 4) != 0 ? h.z : -h.z);
        half_space_ball(a, tal_xf_apply(*b->X_GS, p_S), r, corner, sink);
    }
}

// A circle about z, in S.
typedef struct ring {
    double radius, height, tube;
} ring;

// Three balls on a ring: at its deepest point, and a third of a turn to either side. To first order
// in the tilt of a ring that is nearly level they push and turn it as they would from any other
// starting point, so it does not matter that the deepest point jumps there. A ring that is exactly
// level starts at x. Though the balls wander along the ring as it moves, springs at them have a
// potential: the deepest does not get deeper by wandering, and what one of the other two gains, the
// other, which is as deep, loses.
static void half_space_ring(const tali_detect_placed *half_space, const tali_detect_placed *b,
                            ring it, int feature, tali_detect_sink *sink)
{
    const tal_vec3 n_S = tal_m3_tmul_v3(b->X_GS->R, half_space->X_GS->R.x);
    const double tilt = hypot(n_S.x, n_S.y);
    const double c = tilt > 0.0 ? n_S.x / tilt : 1.0, s = tilt > 0.0 ? n_S.y / tilt : 0.0;
    const double third_cos[3] = {1.0, -0.5, -0.5};
    const double third_sin[3] = {0.0, 0.5 * sqrt(3.0), -0.5 * sqrt(3.0)};
    for (int k = 0; k < 3; ++k) {
        const double x = c * third_cos[k] - s * third_sin[k];
        const double y = s * third_cos[k] + c * third_sin[k];
        const tal_vec3 p_S = tal_v3(it.radius * x, it.radius * y, it.height);
        half_space_ball(half_space, tal_xf_apply(*b->X_GS, p_S), it.tube, feature + k, sink);
    }
}

void tali_detect_half_space_cylinder(const tali_detect_placed *a, const tali_detect_placed *b,
                                     tali_detect_sink *sink)
{
    const double r = b->shape->edge_radius, radius = b->shape->size.x - r;
    const double height = b->shape->size.y - r;
    half_space_ring(a, b, (ring){radius, -height, r}, 0, sink);
    half_space_ring(a, b, (ring){radius, height, r}, 3, sink);
}

void tali_detect_half_space_torus(const tali_detect_placed *a, const tali_detect_placed *b,
                                  tali_detect_sink *sink)
{
    half_space_ring(a, b, (ring){b->shape->size.x, 0.0, b->shape->size.y}, 0, sink);
}

// ---- half-space with ellipsoid

void tali_detect_half_space_ellipsoid(const tali_detect_placed *a, const tali_detect_placed *b,
                                      tali_detect_sink *sink)
{
    const tal_vec3 n = a->X_GS->R.x, semi_axes = b->shape->size;
    const tal_vec3 d = tal_m3_tmul_v3(b->X_GS->R, n);
    const tal_vec3 scaled = tal_v3_mul(semi_axes, d);
    const double h = tal_v3_norm(scaled);
    const double depth = tal_v3_dot(n, tal_v3_sub(b->X_GS->p, a->X_GS->p)) + h;
    if (!(depth > 0.0)) return;
    const tal_vec3 deepest_S = tal_v3_scale(1.0 / h, tal_v3_mul(semi_axes, scaled));
    tali_detect_point at = {.n_G = n, .depth = depth, .weight = 1.0};
    at.p_G = tal_v3_axpy(-0.5 * depth, n, tal_xf_apply(*b->X_GS, deepest_S));
    tal_vec3 axis_S;
    tali_detect_ellipsoid_curvatures(semi_axes, d, h, at.curvature, &axis_S);
    at.radius = semi_axes.x / h * semi_axes.y / h * semi_axes.z;
    at.axis_G = tal_m3_mul_v3(b->X_GS->R, axis_S);
    tali_detect_sink_point(sink, at);
}

// ---- spheres

// Spheres about the same center touch along the x axis of the first.
void tali_detect_sphere_sphere(const tali_detect_placed *a, const tali_detect_placed *b,
                               tali_detect_sink *sink)
{
    const double r1 = a->shape->size.x, r2 = b->shape->size.x;
    const tal_vec3 apart = tal_v3_sub(a->X_GS->p, b->X_GS->p);
    const double distance = tal_v3_norm(apart), depth = r1 + r2 - distance;
    if (!(depth > 0.0)) return;
    const tal_vec3 n = tal_v3_max_abs(apart) > 0.0 ? tal_v3_normalize(apart) : a->X_GS->R.x;
    // R = R_1 R_2 / (R_1 + R_2) (manual sec. 11.2.2), safe from overflow
    const double curvature = 1.0 / r1 + 1.0 / r2;
    tali_detect_sink_point(sink, (tali_detect_point){
                                     .p_G = tal_v3_axpy(r2 - 0.5 * depth, n, b->X_GS->p),
                                     .n_G = n,
                                     .depth = depth,
                                     .curvature = {curvature, curvature},
                                     .radius = 1.0 / curvature,
                                     .axis_G = tal_v3_perp(n),
                                     .weight = 1.0,
                                 });
}
