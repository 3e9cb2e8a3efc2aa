// Geodesics of a torus by power series in their length.
//
// A series is summed as far as its last coefficients are negligible, then started again: about one
// radian of a round surface at a time.
#include "wrap/wrap_internal.h"
#include "wrap/wrap_series_internal.h"

#include <math.h>

double tali_wrap_reach(const double last[2], int n, double tolerance)
{
    // two coefficients, because every other one of a sphere may vanish
    const double a = last[0] > 0.0 ? pow(tolerance / last[0], 1.0 / (n - 1)) : (double)INFINITY;
    const double b = last[1] > 0.0 ? pow(tolerance / last[1], 1.0 / n) : (double)INFINITY;
    return fmin(a, b);
}

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
        const double reach = tali_wrap_reach(ends, n, 1e-16);
        const double h = fabs(left) <= reach ? left : copysign(reach, left);
        sum_ring(&it, h, ray);
        left -= h;
        if (!(fabs(h) > TALI_WRAP_LEAST_PIECE * fabs(s))) break;
    }
}
