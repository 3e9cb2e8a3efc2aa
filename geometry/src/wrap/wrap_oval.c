// Geodesics of an ellipsoid by power series in their length.
//
// With D = diag(1/a^2) the surface is x . D x = 1 and its normal D x. Along a geodesic of unit
// speed J = (x' . D x') |D x|^2 keeps its value (Joachimsthal), so that the velocity is not needed
// for the acceleration, and the curvature K of the surface comes from the same series w:
//
//     x'' = -w D x,   w = J / |D x|^4,   y'' = -K y,   K = det D / |D x|^4 = (det D / J) w
//
// A series is summed as far as its last coefficients are negligible, then started again: about one
// radian of a round surface in either direction.
#include "wrap/wrap_internal.h"
#include "wrap/wrap_oval_internal.h"

#include <math.h>

// What grows besides x and y.
typedef struct growth {
    double J, K;             // K / w
    tali_wrap_series e[3];   // D x
    tali_wrap_series rho;    // |D x|^2
    tali_wrap_series by_rho; // one over it
    tali_wrap_series w;
} growth;

void tali_wrap_oval_init(tali_wrap_oval *it, tal_vec3 semi_axes)
{
    const double a[3] = {semi_axes.x, semi_axes.y, semi_axes.z};
    for (int i = 0; i < 3; ++i) {
        it->d[i] = 1.0 / (a[i] * a[i]);
    }
}

static void begin(tali_wrap_oval *it, const tali_wrap_bundle *at, growth *g)
{
    const double x[3] = {at->p.x, at->p.y, at->p.z}, v[3] = {at->t.x, at->t.y, at->t.z};
    const double *d = it->d;
    double rho = 0.0, along = 0.0;
    for (int i = 0; i < 3; ++i) {
        it->x[i][0] = x[i];
        it->x[i][1] = v[i];
        rho += d[i] * d[i] * x[i] * x[i];
        along += d[i] * v[i] * v[i];
    }
    for (int f = 0; f < 2; ++f) {
        it->y[f][0] = at->y[f];
        it->y[f][1] = at->dy[f];
    }
    g->J = along * rho;
    g->K = d[0] * d[1] * d[2] / g->J;
}

// Coefficient k + 2 of a field. They only tell Newton's method where to go.
static void grow_fields(tali_wrap_oval *it, const growth *g, double by, int k)
{
    for (int f = 0; f < 2; ++f) {
        it->y[f][k + 2] = by * g->K * tali_wrap_product(g->w, it->y[f], k);
    }
}

// Coefficients k + 2 of x and y.
static void grow(tali_wrap_oval *it, growth *g, int k)
{
    for (int i = 0; i < 3; ++i) {
        g->e[i][k] = it->d[i] * it->x[i][k];
    }
    g->rho[k] =
        tali_wrap_square(g->e[0], k) + tali_wrap_square(g->e[1], k) + tali_wrap_square(g->e[2], k);
    g->by_rho[k] =
        k == 0 ? 1.0 / g->rho[0] : -g->by_rho[0] * tali_wrap_product(g->by_rho, g->rho + 1, k - 1);
    g->w[k] = g->J * tali_wrap_square(g->by_rho, k);
    const double by = -1.0 / ((k + 1) * (k + 2));
    double x = 0.0, y = 0.0, z = 0.0;
    for (int j = 0; j <= k; ++j) {
        x += g->w[j] * g->e[0][k - j];
        y += g->w[j] * g->e[1][k - j];
        z += g->w[j] * g->e[2][k - j];
    }
    it->x[0][k + 2] = by * x;
    it->x[1][k + 2] = by * y;
    it->x[2][k + 2] = by * z;
    if (k + 2 <= TALI_WRAP_ORDER_Y) grow_fields(it, g, by, k);
}

// Size of a coefficient of the direction.
static double size_of(const tali_wrap_oval *it, int k)
{
    return (k + 1) * (fabs(it->x[0][k + 1]) + fabs(it->x[1][k + 1]) + fabs(it->x[2][k + 1]));
}

void tali_wrap_oval_expand(tali_wrap_oval *it, const tali_wrap_bundle *at, double s,
                           double tolerance)
{
    growth g;
    begin(it, at, &g);
    it->tolerance = tolerance;
    it->reach = s;
    double power = s, last = INFINITY; // two terms, because every other one of a sphere may vanish
    for (int k = 0; k <= TALI_WRAP_ORDER - 2; ++k) {
        grow(it, &g, k);
        const double term = size_of(it, k + 1) * power;
        it->order = k + 2;
        if (term + last < tolerance) return;
        power *= s;
        last = term;
    }
    const int n = TALI_WRAP_ORDER - 1;
    const double ends[2] = {size_of(it, n - 1), size_of(it, n)};
    it->reach = fmin(s, tali_wrap_reach(ends, n, tolerance));
}

// A series and its derivative.
static double sum_both(const double *a, int n, double s, double *slope)
{
    double sum = a[n], d = 0.0;
    for (int k = n - 1; k >= 0; --k) {
        d = d * s + sum;
        sum = sum * s + a[k];
    }
    *slope = d;
    return sum;
}

static void sum_within(const tali_wrap_oval *it, double s, tali_wrap_bundle *at)
{
    const int n = it->order, num_y = n < TALI_WRAP_ORDER_Y ? n : TALI_WRAP_ORDER_Y;
    at->p.x = sum_both(it->x[0], n, s, &at->t.x);
    at->p.y = sum_both(it->x[1], n, s, &at->t.y);
    at->p.z = sum_both(it->x[2], n, s, &at->t.z);
    for (int f = 0; f < 2; ++f) {
        at->y[f] = sum_both(it->y[f], num_y, s, &at->dy[f]);
    }
}

void tali_wrap_oval_restore(const tali_wrap_oval *it, tali_wrap_bundle *at)
{
    const tal_vec3 d = {it->d[0], it->d[1], it->d[2]};
    at->p = tal_v3_scale(1.0 / sqrt(tal_v3_dot(tal_v3_mul(d, at->p), at->p)), at->p);
    const tal_vec3 g = tal_v3_mul(d, at->p);
    const double along = tal_v3_dot(g, at->t) / tal_v3_dot(g, g);
    at->t = tal_v3_normalize(tal_v3_axpy(-along, g, at->t));
}

void tali_wrap_oval_sum(const tali_wrap_oval *it, double s, tali_wrap_bundle *at)
{
    tali_wrap_oval more;
    const tali_wrap_oval *here = it;
    double left = s;
    while (fabs(left) > here->reach) {
        // not finite, or as thin as a blade
        if (!(here->reach > TALI_WRAP_LEAST_PIECE * fabs(s))) break;
        const double h = copysign(here->reach, left);
        sum_within(here, h, at);
        tali_wrap_oval_restore(it, at);
        left -= h;
        for (int i = 0; i < 3; ++i) {
            more.d[i] = it->d[i];
        }
        tali_wrap_oval_expand(&more, at, fabs(left), it->tolerance);
        here = &more;
    }
    sum_within(here, left, at);
}

void tali_wrap_follow_ellipsoid(tal_vec3 semi_axes, double s, tali_wrap_ray *ray)
{
    tali_wrap_oval it;
    tali_wrap_bundle at = {ray->p, ray->t, {ray->y, 0.0}, {ray->dy, 0.0}};
    tali_wrap_oval_init(&it, semi_axes);
    tali_wrap_oval_expand(&it, &at, fabs(s), TALI_WRAP_EXACT);
    tali_wrap_oval_sum(&it, s, &at);
    tali_wrap_oval_restore(&it, &at);
    ray->p = at.p;
    ray->t = at.t;
    ray->y = at.y[0];
    ray->dy = at.dy[0];
}
