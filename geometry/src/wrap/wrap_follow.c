// Geodesics of an ellipsoid and of a torus by power series in their length.
//
// A series is summed as far as its last coefficients are negligible, then started again: about one
// radian of a round surface at a time.
#include "wrap/wrap_internal.h"
#include "wrap/wrap_series_internal.h"

#include <math.h>

double tali_wrap_reach(const double last[2], int n)
{
    // two coefficients, because every other one of a sphere may vanish
    const double a = last[0] > 0.0 ? pow(1e-16 / last[0], 1.0 / (n - 1)) : (double)INFINITY;
    const double b = last[1] > 0.0 ? pow(1e-16 / last[1], 1.0 / n) : (double)INFINITY;
    return fmin(a, b);
}

// --- ellipsoid ---

// Series of a geodesic. With D = diag(1/a^2), the surface is x . D x = 1, its normal D x, and
//
//     x' = v,   v' = -(v . D v / |D x|^2) D x,   y'' = -K y,   K = det D / |D x|^4
typedef struct oval {
    double d[3];
    tali_wrap_series x[3], v[3], g[3]; // g = D x
    tali_wrap_series num, den, ratio;
    tali_wrap_series den2, K, y, dy;
} oval;

static void begin_oval(oval *it, const tali_wrap_ray *ray)
{
    const double x[3] = {ray->p.x, ray->p.y, ray->p.z}, v[3] = {ray->t.x, ray->t.y, ray->t.z};
    for (int i = 0; i < 3; ++i) {
        it->x[i][0] = x[i];
        it->v[i][0] = v[i];
    }
    it->y[0] = ray->y;
    it->dy[0] = ray->dy;
}

// Coefficients k + 1 of x and v.
static void grow_oval(oval *it, int k)
{
    double num = 0.0, den = 0.0;
    for (int i = 0; i < 3; ++i) {
        it->g[i][k] = it->d[i] * it->x[i][k];
        num += it->d[i] * tali_wrap_square(it->v[i], k);
        den += tali_wrap_square(it->g[i], k);
    }
    it->num[k] = num;
    it->den[k] = den;
    it->ratio[k] = tali_wrap_quotient(num, it->den, it->ratio, k);
    const double by = 1.0 / (k + 1);
    for (int i = 0; i < 3; ++i) {
        it->x[i][k + 1] = it->v[i][k] * by;
        it->v[i][k + 1] = -tali_wrap_product(it->ratio, it->g[i], k) * by;
    }
}

static void grow_spread(oval *it, int k)
{
    const double det = it->d[0] * it->d[1] * it->d[2];
    it->den2[k] = tali_wrap_square(it->den, k);
    it->K[k] = tali_wrap_quotient(k == 0 ? det : 0.0, it->den2, it->K, k);
    it->y[k + 1] = it->dy[k] / (k + 1);
    it->dy[k + 1] = -tali_wrap_product(it->K, it->y, k) / (k + 1);
}

static double size_of_v(const oval *it, int k)
{
    return fabs(it->v[0][k]) + fabs(it->v[1][k]) + fabs(it->v[2][k]);
}

// Grow the series until what remains is negligible at s, or to the full; how far it reaches.
static double expand_oval(oval *it, double s, int *order)
{
    double power = 1.0, last = INFINITY;
    for (int k = 0; k < TALI_WRAP_ORDER; ++k) {
        grow_oval(it, k);
        if (k < TALI_WRAP_ORDER_Y) grow_spread(it, k);
        power *= s;
        const double term = size_of_v(it, k + 1) * power;
        *order = k + 1;
        if (k >= TALI_WRAP_ORDER_Y - 1 && term + last < 1e-17) return s;
        last = term;
    }
    const double ends[2] = {size_of_v(it, *order - 1), size_of_v(it, *order)};
    return tali_wrap_reach(ends, *order);
}

// Back onto the surface, and along it.
static void restore(const double d[3], tali_wrap_ray *ray)
{
    const tal_vec3 g = {d[0] * ray->p.x, d[1] * ray->p.y, d[2] * ray->p.z};
    ray->p = tal_v3_scale(1.0 / sqrt(tal_v3_dot(g, ray->p)), ray->p);
    const double along = tal_v3_dot(g, ray->t) / tal_v3_dot(g, g);
    ray->t = tal_v3_normalize(tal_v3_axpy(-along, g, ray->t));
}

void tali_wrap_follow_ellipsoid(tal_vec3 semi_axes, double s, tali_wrap_ray *ray)
{
    oval it;
    const double a[3] = {semi_axes.x, semi_axes.y, semi_axes.z};
    for (int i = 0; i < 3; ++i) {
        it.d[i] = 1.0 / (a[i] * a[i]);
    }
    double left = s;
    while (left != 0.0) {
        int n = 0;
        begin_oval(&it, ray);
        const double reach = expand_oval(&it, fabs(left), &n);
        const double h = fabs(left) <= reach ? left : copysign(reach, left);
        ray->p = tal_v3(tali_wrap_sum(it.x[0], n, h), tali_wrap_sum(it.x[1], n, h),
                        tali_wrap_sum(it.x[2], n, h));
        ray->t = tal_v3(tali_wrap_sum(it.v[0], n, h), tali_wrap_sum(it.v[1], n, h),
                        tali_wrap_sum(it.v[2], n, h));
        ray->y = tali_wrap_sum(it.y, TALI_WRAP_ORDER_Y, h);
        ray->dy = tali_wrap_sum(it.dy, TALI_WRAP_ORDER_Y, h);
        restore(it.d, ray);
        left -= h;
        if (!(fabs(h) > 1e-9 * fabs(s))) break; // not finite, or as thin as a blade
    }
}

// --- torus ---

// Series of a geodesic in the angles u about z and w round the tube, with rho = R + r cos w and
// Clairaut's constant c = rho^2 u' (DoCarmo sec. 4-4):
//
//     u' = c / rho^2,   w'' = -c^2 sin w / (r rho^3),   y'' = -K y,   K = cos w / (r rho)
typedef struct ring {
    double R, r, c;
    tali_wrap_series u, w, dw, cos_w, sin_w;
    tali_wrap_series rho, q, q2, q3; // powers of 1 / rho
    tali_wrap_series K, y, dy;
} ring;

static void begin_ring(ring *it, const tali_wrap_ray *ray)
{
    const tal_vec3 p = ray->p, t = ray->t;
    const double rho = hypot(p.x, p.y);
    const double cu = p.x / rho, su = p.y / rho;
    it->u[0] = atan2(p.y, p.x);
    it->w[0] = atan2(p.z, rho - it->R);
    it->cos_w[0] = cos(it->w[0]);
    it->sin_w[0] = sin(it->w[0]);
    it->c = rho * (t.y * cu - t.x * su);
    it->dw[0] = (t.z * it->cos_w[0] - (t.x * cu + t.y * su) * it->sin_w[0]) / it->r;
    it->y[0] = ray->y;
    it->dy[0] = ray->dy;
}

static void grow_ring(ring *it, int k)
{
    it->rho[k] = (k == 0 ? it->R : 0.0) + it->r * it->cos_w[k];
    it->q[k] = tali_wrap_quotient(k == 0 ? 1.0 : 0.0, it->rho, it->q, k);
    it->q2[k] = tali_wrap_square(it->q, k);
    it->q3[k] = tali_wrap_product(it->q, it->q2, k);
    it->K[k] = tali_wrap_product(it->cos_w, it->q, k) / it->r;
    const double by = 1.0 / (k + 1);
    it->u[k + 1] = it->c * it->q2[k] * by;
    it->w[k + 1] = it->dw[k] * by;
    it->dw[k + 1] = -it->c * it->c / it->r * tali_wrap_product(it->sin_w, it->q3, k) * by;
    it->cos_w[k + 1] = -tali_wrap_product(it->sin_w, it->dw, k) * by;
    it->sin_w[k + 1] = tali_wrap_product(it->cos_w, it->dw, k) * by;
    it->y[k + 1] = it->dy[k] * by;
    it->dy[k + 1] = -tali_wrap_product(it->K, it->y, k) * by;
}

// The point and direction at a distance within the reach of the series.
static void sum_ring(const ring *it, double h, tali_wrap_ray *ray)
{
    const int n = TALI_WRAP_ORDER;
    const double u = tali_wrap_sum(it->u, n, h), w = tali_wrap_sum(it->w, n, h);
    const double cu = cos(u), su = sin(u), cw = cos(w), sw = sin(w);
    const double rho = it->R + it->r * cw;
    const double along = it->c / rho, up = it->r * tali_wrap_sum(it->dw, n, h);
    ray->p = tal_v3(rho * cu, rho * su, it->r * sw);
    ray->t =
        tal_v3_normalize(tal_v3(-along * su - up * sw * cu, along * cu - up * sw * su, up * cw));
    ray->y = tali_wrap_sum(it->y, n, h);
    ray->dy = tali_wrap_sum(it->dy, n, h);
}

void tali_wrap_follow_torus(double ring_radius, double tube_radius, double s, tali_wrap_ray *ray)
{
    ring it = {.R = ring_radius, .r = tube_radius};
    double left = s;
    while (left != 0.0) {
        begin_ring(&it, ray);
        for (int k = 0; k < TALI_WRAP_ORDER; ++k) {
            grow_ring(&it, k);
        }
        const int n = TALI_WRAP_ORDER;
        const double ends[2] = {fabs(it.u[n - 1]) + fabs(it.w[n - 1]),
                                fabs(it.u[n]) + fabs(it.w[n])};
        const double reach = tali_wrap_reach(ends, n);
        const double h = fabs(left) <= reach ? left : copysign(reach, left);
        sum_ring(&it, h, ray);
        left -= h;
        if (!(fabs(h) > 1e-9 * fabs(s))) break;
    }
}
