// The point of a solid's surface that is nearest to a point, with its normal and curvatures.
//
// A brick and a cylinder are all that is within the radius of their edges of a core, a torus all
// that is within that of its tube of a circle: there the nearest point of the core or the circle
// tells everything.
#include "detect/detect_solid_internal.h"

#include <math.h>

static double infinity(void)
{
    return (double)INFINITY;
}

static tali_detect_nearest flat(double distance, tal_vec3 n)
{
    return (tali_detect_nearest){distance, n, {infinity(), infinity()}, tal_v3_perp(n)};
}

// ---- sphere

static tali_detect_nearest nearest_of_sphere(double r, tal_vec3 p)
{
    const bool has_direction = tal_v3_max_abs(p) > 0.0;
    const tal_vec3 n = has_direction ? tal_v3_normalize(p) : tal_v3(1.0, 0.0, 0.0);
    return (tali_detect_nearest){tal_v3_norm(p) - r, n, {r, r}, tal_v3_perp(n)};
}

// ---- brick

static double outside(double x, double half)
{
    return x > half ? x - half : (x < -half ? x + half : 0.0);
}

// Within the core the way out is through the nearest face.
static tali_detect_nearest within_brick(tal_vec3 p, tal_vec3 h, double r)
{
    tal_axis axis = TAL_AXIS_X;
    for (int i = 1; i < 3; ++i) {
        const tal_axis it = (tal_axis)i;
        const double way = tal_v3_at(h, it) - fabs(tal_v3_at(p, it));
        if (way < tal_v3_at(h, axis) - fabs(tal_v3_at(p, axis))) axis = it;
    }
    const double at = tal_v3_at(p, axis);
    const tal_vec3 unit = tal_v3_axis(axis);
    return flat(fabs(at) - tal_v3_at(h, axis) - r, at < 0.0 ? tal_v3_neg(unit) : unit);
}

static tali_detect_nearest nearest_of_brick(const tal_shape *shape, tal_vec3 p)
{
    const double r = shape->edge_radius;
    const tal_vec3 h = tal_v3_sub(shape->size, tal_v3(r, r, r));
    const tal_vec3 v = tal_v3(outside(p.x, h.x), outside(p.y, h.y), outside(p.z, h.z));
    const int beyond = (v.x != 0.0) + (v.y != 0.0) + (v.z != 0.0);
    if (beyond == 0) return within_brick(p, h, r);
    const tal_vec3 n = tal_v3_normalize(v);
    const double distance = tal_v3_norm(v) - r;
    if (beyond == 1) return flat(distance, n);
    tali_detect_nearest at = {distance, n, {r, r}, tal_v3_perp(n)};
    if (beyond == 2) { // along the edge
        at.e = tal_v3(v.x == 0.0 ? 1.0 : 0.0, v.y == 0.0 ? 1.0 : 0.0, v.z == 0.0 ? 1.0 : 0.0);
        at.radius[0] = infinity();
    }
    return at;
}

// ---- around z

// Where a point is around z.
typedef struct turned {
    double rho;
    tal_vec3 out, along; // unit vectors away from z, and around it
} turned;

static turned turn_of(tal_vec3 p)
{
    const double rho = hypot(p.x, p.y);
    const tal_vec3 out = rho > 0.0 ? tal_v3(p.x / rho, p.y / rho, 0.0) : tal_v3(1.0, 0.0, 0.0);
    return (turned){rho, out, tal_v3(-out.y, out.x, 0.0)};
}

// On a tube of radius r around a ring: `v` is P as seen from the ring's nearest point.
static tali_detect_nearest nearest_of_tube(double ring, double r, const turned *at, tal_vec3 v)
{
    const bool has_direction = tal_v3_max_abs(v) > 0.0;
    const tal_vec3 n = has_direction ? tal_v3_normalize(v) : at->out;
    const double c = tal_v3_dot(n, at->out);
    double around = r;
    if (ring > 0.0) around = c != 0.0 ? ring / c + r : infinity();
    return (tali_detect_nearest){tal_v3_norm(v) - r, n, {around, r}, at->along};
}

static tali_detect_nearest nearest_of_torus(const tal_shape *shape, tal_vec3 p)
{
    const turned at = turn_of(p);
    const tal_vec3 v = tal_v3_axpy(at.rho - shape->size.x, at.out, tal_v3(0.0, 0.0, p.z));
    return nearest_of_tube(shape->size.x, shape->size.y, &at, v);
}

static tali_detect_nearest nearest_of_cylinder(const tal_shape *shape, tal_vec3 p)
{
    const double r = shape->edge_radius, radius = shape->size.x - r, half = shape->size.y - r;
    const turned at = turn_of(p);
    const double beside = at.rho - radius, beyond = fabs(p.z) - half;
    const tal_vec3 up = tal_v3(0.0, 0.0, p.z < 0.0 ? -1.0 : 1.0);
    if ((beside > 0.0 || radius == 0.0) && beyond > 0.0) {
        const tal_vec3 v = tal_v3_axpy(beside, at.out, tal_v3_scale(beyond, up));
        return nearest_of_tube(radius, r, &at, v);
    }
    if (beyond > beside) return flat(beyond - r, up);
    return (tali_detect_nearest){beside - r, at.out, {shape->size.x, infinity()}, at.along};
}

// ---- ellipsoid

// h^2 = n^T A n for an ellipsoid x^T A^-1 x = 1 with A = diag(a^2), point s = A n / h, curvature
// along a unit tangent e: h e^T A^-1 e, the last because the gradient of x^T A^-1 x / 2 there has
// length 1 / h. The product of the two is h^4 / (a b c)^2, which gives the smaller without
// cancellation.
void tali_detect_ellipsoid_curvatures(tal_vec3 semi_axes, tal_vec3 n, double h, double k[2],
                                      tal_vec3 *axis)
{
    const tal_vec3 u = tal_v3_perp(n), v = tal_v3_cross(n, u);
    const tal_vec3 inverse = tal_v3(1.0 / semi_axes.x, 1.0 / semi_axes.y, 1.0 / semi_axes.z);
    const tal_vec3 Du = tal_v3_mul(inverse, u), Dv = tal_v3_mul(inverse, v);
    const double uu = h * tal_v3_dot(Du, Du), vv = h * tal_v3_dot(Dv, Dv);
    const double uv = h * tal_v3_dot(Du, Dv);
    const double mean_radius = semi_axes.x / h * semi_axes.y / h * semi_axes.z;
    k[0] = 0.5 * (uu + vv) + hypot(0.5 * (uu - vv), uv);
    k[1] = 1.0 / (k[0] * mean_radius * mean_radius);
    const double angle = 0.5 * atan2(2.0 * uv, uu - vv);
    *axis = tal_v3_axpy(cos(angle), u, tal_v3_scale(sin(angle), v));
}

enum {
    MOST_STEPS = 200
};

// The surface point x of the nearest line through P has x_i = a_i^2 p_i / (t + a_i^2), and t such
// that it is on the surface. With t in units of the square of the shortest semi-axis, r = a^2 in
// these, and z = p / a, all of them not negative, the root s of
//
//     sum (r_i z_i / (s + r_i))^2 = 1,   s > -1
//
// is approached from below by Newton's method, since the sum falls and is convex. It is above each
// r_i (z_i - 1). A point within the disk of the two longer axes near its middle has its root at the
// pole s = -1, and its nearest point above it.
static double ellipsoid_root(const double r[3], const double z[3], bool *is_pole)
{
    double at_pole = 0.0, low = -1.0;
    bool may_be_pole = true;
    for (int i = 0; i < 3; ++i) {
        low = fmax(low, r[i] * (z[i] - 1.0));
        if (r[i] > 1.0) {
            const double x = r[i] * z[i] / (r[i] - 1.0);
            at_pole += x * x;
        } else if (z[i] > 0.0) {
            may_be_pole = false;
        }
    }
    *is_pole = may_be_pole && at_pole < 1.0;
    if (*is_pole) return -1.0;
    double s = low;
    for (int step = 0; step < MOST_STEPS; ++step) {
        double g = -1.0, slope = 0.0;
        for (int i = 0; i < 3; ++i) {
            if (z[i] == 0.0) continue;
            const double x = r[i] * z[i] / (s + r[i]);
            g += x * x;
            slope += 2.0 * x * x / (s + r[i]);
        }
        const double next = s + g / slope;
        if (!(next > s)) break;
        s = next;
    }
    return s;
}

// From the root to the surface point, its normal n ~ x / a^2, and the distance along it.
static tali_detect_nearest nearest_of_ellipsoid(tal_vec3 a, tal_vec3 p)
{
    const double least = fmin(a.x, fmin(a.y, a.z));
    const double axes[3] = {a.x, a.y, a.z}, at[3] = {p.x, p.y, p.z};
    double r[3], z[3], x[3];
    int shortest = 0;
    for (int i = 2; i >= 0; --i) {
        r[i] = (axes[i] / least) * (axes[i] / least);
        z[i] = fabs(at[i]) / axes[i];
        if (axes[i] == least) shortest = i;
    }
    bool is_pole;
    const double s = ellipsoid_root(r, z, &is_pole);
    double rest = 1.0; // of the sum of (x_i / a_i)^2
    for (int i = 0; i < 3; ++i) {
        x[i] = s + r[i] > 0.0 ? r[i] * at[i] / (s + r[i]) : 0.0;
        rest -= x[i] / axes[i] * (x[i] / axes[i]);
    }
    if (is_pole) x[shortest] = least * sqrt(fmax(rest, 0.0));
    const tal_vec3 on = tal_v3(x[0], x[1], x[2]);
    const tal_vec3 inverse = tal_v3(least / a.x, least / a.y, least / a.z);
    const tal_vec3 n = tal_v3_normalize(tal_v3_mul(inverse, tal_v3_mul(inverse, on)));
    tali_detect_nearest out = {.distance = tal_v3_dot(n, tal_v3_sub(p, on)), .n = n};
    double k[2];
    tali_detect_ellipsoid_curvatures(a, n, tal_v3_norm(tal_v3_mul(a, n)), k, &out.e);
    out.radius[0] = 1.0 / k[0];
    out.radius[1] = 1.0 / k[1];
    return out;
}

// ---- any

tali_detect_nearest tali_detect_find_nearest(const tal_shape *shape, tal_vec3 p_S)
{
    switch (shape->kind) {
    case TAL_SHAPE_ELLIPSOID:
        return nearest_of_ellipsoid(shape->size, p_S);
    case TAL_SHAPE_CYLINDER:
        return nearest_of_cylinder(shape, p_S);
    case TAL_SHAPE_BRICK:
        return nearest_of_brick(shape, p_S);
    case TAL_SHAPE_TORUS:
        return nearest_of_torus(shape, p_S);
    case TAL_SHAPE_SPHERE:
    case TAL_SHAPE_HALF_SPACE:
    case TAL_SHAPE_MESH:
        break;
    }
    return nearest_of_sphere(shape->size.x, p_S);
}

// Along a principal direction the normal turns by 1 / (distance from P to the center of curvature).
tal_vec3 tali_detect_nearest_bend(const tali_detect_nearest *at, tal_vec3 v)
{
    const tal_vec3 e[2] = {at->e, tal_v3_cross(at->n, at->e)};
    tal_vec3 sum = TAL_VEC3_ZERO;
    for (int i = 0; i < 2; ++i) {
        const double from_center = at->radius[i] + at->distance;
        if (from_center == 0.0) continue;
        sum = tal_v3_axpy(tal_v3_dot(e[i], v) / from_center, e[i], sum);
    }
    return sum;
}
