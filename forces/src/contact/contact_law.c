// The laws of compliant contact.
//
//     quantity              manual 11.2   RBDA 11.8   here
//     depth, its rate       x, xdot       -p, -pdot   x, xdot
//     normal force          f             f_n         force
//     tangential patch      -             x           z
#include "contact/contact_law_internal.h"

// Means that differ by less have converged to round-off: the next difference is its square.
static const double MEANS_AGREE = 1e-17;

// An error of a logarithm that round-off leaves.
static const double LOG_ROUND_OFF = 4e-16;

// Below this the slope of the circle is exact enough.
static const double ALMOST_CIRCLE = 1e-3;

// --- normal laws ---

// f = F (1 + 3/2 c xdot) bounces with e = 1 - c v whatever the elastic force F(x) is:
// doc/contact.md.
static tali_contact_press press(real elastic, real energy, double c, real xdot)
{
    const real force = at_least(elastic * (1.0 + 1.5 * c * xdot), spread(0.0));
    return (tali_contact_press){force, energy, (force - elastic) * xdot};
}

tali_contact_press tali_contact_hunt_crossley(double k, double n, double c, real x, real xdot)
{
    if (all(less(x, spread(0.0)))) return (tali_contact_press){0.0, 0.0, 0.0};
    const real depth = at_least(x, spread(0.0));
    const real elastic = k * tali_contact_power(depth, n);
    return press(elastic, elastic * depth / (n + 1.0), c, xdot);
}

tali_contact_press tali_contact_foundation(double k, double c, double area, real x, real xdot)
{
    const real depth = at_least(x, spread(0.0));
    const real elastic = k * area * depth;
    return press(elastic, 0.5 * elastic * depth, c, xdot);
}

// While a surface is touched its deflection z follows the depth x, and stays behind by this part of
// it: that is more than steps are wrong by, and tells a surface that is touched from one that is
// not.
static const double BEHIND = 1e-4;

// The time in which z follows, as a part of that of the surface.
static const double FOLLOWS = 0.1;

// Only what is let go is followed at once: a body that comes is ahead of z in any case.
tali_contact_layer tali_contact_relaxing(double k, double n, double T, double x, double xdot,
                                         double z)
{
    const double free_rate = -z / (n * T);
    if (x <= z || x <= 0.0) {
        const double deep = fmax(z, 0.0), elastic = k * tali_contact_power(deep, n);
        return (tali_contact_layer){{0.0, elastic * deep / (n + 1.0), -elastic * free_rate},
                                    free_rate};
    }
    const double elastic = k * tali_contact_power(x, n);
    const double force = fmax(0.0, elastic + T * n * elastic / x * xdot);
    const tali_contact_press press = {force, elastic * x / (n + 1.0), (force - elastic) * xdot};
    if (force == 0.0) return (tali_contact_layer){press, free_rate};
    const double follows = ((1.0 - BEHIND) * x - z) / (FOLLOWS * T);
    return (tali_contact_layer){press, follows + (1.0 - BEHIND) * fmin(xdot, 0.0)};
}

// The complete elliptic integrals B = (E - m1 K) / m and D = (K - E) / m with m1 = (b/a)^2 = 1 - m,
// by the arithmetic-geometric mean. Their sum is K. Dividing by m before summing leaves no
// cancellation at the circle:
//
//     (K - E) / K = sum 2^(i-1) c_i^2,   c_0^2 = m,   c_i = (a_(i-1) - g_(i-1)) / 2
static void integrals(double m1, double *B, double *D)
{
    double a = 1.0, g = sqrt(m1);
    double t = 0.5 * (1.0 - g) / (1.0 + g); // 2^(i-1) c_i^2 / m, here for i = 1 and twice too large
    double c = 0.5 * (1.0 - g);
    double sum = 0.5, weight = 0.5;
    for (int i = 0; i < 12 && c > MEANS_AGREE * a; ++i) {
        const double next = 0.5 * (a + g);
        sum += weight * t;
        g = sqrt(a * g);
        a = next;
        const double c_next = 0.25 * c * c / (0.5 * (a + g));
        t *= (c > 0.0) ? (c_next / c) * (c_next / c) : 0.0;
        weight *= 2.0;
        c = c_next;
    }
    const double K = 0.5 * TAL_PI / a;
    *D = K * sum;
    *B = K - *D;
}

// Solves rho = m1 D / B for m1 = (b/a)^2, with rho the ratio of the curvatures (Johnson ch. 4),
// where (a/b)^2 E - K = m B / m1 and K - E = m D. Newton's method in the logarithms, from
// b/a = rho^(2/3); d rho / d m1 from dK/dm = B / (2 m1), dE/dm = -D / 2.
static double solve_m1(double rho, double *B, double *D)
{
    double m1 = cbrt(rho * rho) * cbrt(rho * rho);
    for (int i = 0; i < 20; ++i) {
        integrals(m1, B, D);
        const double off = real_log(m1 * *D / (*B * rho));
        if (fabs(off) < LOG_ROUND_OFF) break;
        const double m = 1.0 - m1;
        double slope = 0.75; // at the circle
        if (m > ALMOST_CIRCLE) {
            const double dD = 0.5 * (*B / m1 - *D) / m, dB = 0.5 * *B / m1 - dD;
            slope = 1.0 - m1 * (dD / *D - dB / *B);
        }
        m1 = fmin(1.0, m1 * real_exp(-off / slope));
    }
    return m1;
}

// With c = sqrt(a b): c^3 = 3 P R / (4 E*) F1^3 and x = (9 P^2 / (16 R E*^2))^(1/3) F2,
//     F1^3 = 4/pi (b/a)^(1/2) sqrt(B D),   F2 = 2/pi (b/a)^(1/2) K / F1
tali_contact_ellipse tali_contact_hertz_ellipse(double k1, double k2)
{
    const double flat = fmin(k1, k2), curved = fmax(k1, k2);
    tali_contact_ellipse it = {.radius = 1.0 / (sqrt(flat) * sqrt(curved)), 1.0, 1.0, 1.0};
    if (flat == curved) return it;
    double B, D;
    const double m1 = solve_m1(flat / curved, &B, &D);
    it.ratio = sqrt(m1);
    it.spread = cbrt(4.0 / TAL_PI * sqrt(it.ratio) * sqrt(B * D));
    it.soften = 2.0 / TAL_PI * sqrt(it.ratio) * (B + D) / it.spread;
    return it;
}

// --- friction without memory ---

// s^2 (10 - 15 s + 6 s^2): the quintic step from 0 to 1, divided by s.
static real step_over_s(real s)
{
    return s * s * (10.0 + s * (6.0 * s - 15.0));
}

real tali_contact_stribeck(const tal_contact_pair_material *pair, double vt, real speed)
{
    const double mu_s = pair->static_friction, mu_d = pair->dynamic_friction;
    const real s = speed / vt, r = 0.5 * (s - 1.0);
    const mask rises = less(s, spread(1.0)), falls = less(s, spread(3.0));
    if (all(rises)) return mu_s * step_over_s(s) / vt + pair->viscous_friction;
    const real falling = mu_s - (mu_s - mu_d) * r * step_over_s(r);
    const real mu = pick(rises, mu_s * step_over_s(s), pick(falls, falling, spread(mu_d)));
    return mu / pick(rises, spread(vt), speed) + pair->viscous_friction;
}

real tali_contact_hollars(const tal_contact_pair_material *pair, double vt, real speed)
{
    const double mu_s = pair->static_friction, mu_d = pair->dynamic_friction;
    const real s = speed / vt;
    const real mu = mu_d + 2.0 * (mu_s - mu_d) / (1.0 + s * s);
    return mu / at_least(speed, spread(vt)) + pair->viscous_friction;
}

// Of step_over_s().
static double step_slope(double s)
{
    return s * (20.0 + s * (24.0 * s - 45.0));
}

double tali_contact_stribeck_slope(const tal_contact_pair_material *pair, double vt, double speed)
{
    const double mu_s = pair->static_friction, mu_d = pair->dynamic_friction, s = speed / vt;
    if (s < 1.0) return mu_s * step_slope(s) / (vt * vt);
    if (s >= 3.0) return -mu_d / (speed * speed);
    const double r = 0.5 * (s - 1.0), less_mu = mu_s - mu_d;
    const double mu = mu_s - less_mu * r * step_over_s(r);
    const double dmu = -less_mu * (step_over_s(r) + r * step_slope(r)) * 0.5 / vt;
    return (dmu - mu / speed) / speed;
}

double tali_contact_hollars_slope(const tal_contact_pair_material *pair, double vt, double speed)
{
    const double mu_s = pair->static_friction, mu_d = pair->dynamic_friction, s = speed / vt;
    const double more = 2.0 * (mu_s - mu_d) / (1.0 + s * s);
    const double dmu = -2.0 * s * more / ((1.0 + s * s) * vt);
    return speed < vt ? dmu / vt : (dmu - (mu_d + more) / speed) / speed;
}

// --- friction with memory ---

static tal_vec3 pick_v3(mask which, tal_vec3 yes, tal_vec3 no)
{
    return tal_v3(pick(which, yes.x, no.x), pick(which, yes.y, no.y), pick(which, yes.z, no.z));
}

// The patch pulls with p = K z + D zdot, and what surface 1 feels is -p; it is inside the cone, or
// the patch slides. Stored: K z^2 / 2. Of the power p . v that goes in, K z . zdot is stored.
static tali_contact_grip grip(const tal_contact_grip *it, real limit, tal_vec3 v, tal_vec3 z,
                              tal_vec3 zdot)
{
    const double K = it->stiffness, D = it->damping;
    tal_vec3 p = tal_v3_add(tal_v3_scale(K, z), tal_v3_scale(D, zdot));
    const real pp = tal_v3_dot(p, p);
    const mask slides = less(limit * limit, pp);
    if (any(slides)) {
        p = tal_v3_scale(pick(slides, limit / real_sqrt(pp), spread(1.0)), p);
        const tal_vec3 sliding =
            tal_v3_scale(1.0 / D, tal_v3_sub(p, tal_v3_scale(K, z))); // RBDA eq. 11.77
        zdot = pick_v3(slides, sliding, zdot);
    }
    return (tali_contact_grip){.force = tal_v3_neg(p),
                               .zdot = zdot,
                               .energy = 0.5 * K * tal_v3_dot(z, z),
                               .power = tal_v3_dot(p, v) - K * tal_v3_dot(z, zdot)};
}

static tali_contact_grip with_viscous(tali_contact_grip it, double coefficient, tal_vec3 v)
{
    it.force = tal_v3_axpy(-coefficient, v, it.force);
    it.power += coefficient * tal_v3_dot(v, v);
    return it;
}

// mu_d + (mu_s - mu_d) exp(-(v/vt)^2), given v^2
static real steady_mu(const tal_contact_grip *it, const tal_contact_pair_material *pair, real vv)
{
    const double vt = it->transition_speed; // its square may be 0
    const double more = pair->static_friction - pair->dynamic_friction;
    return pair->dynamic_friction + more * real_exp(-vv / vt / vt);
}

// Sticking, the patch follows: zdot = v and p = K z + D v (RBDA eq. 11.78).
tali_contact_grip tali_contact_soft_coulomb(const tal_contact_grip *it,
                                            const tal_contact_pair_material *pair,
                                            double normal_force, tal_vec3 v, tal_vec3 z)
{
    const double limit = steady_mu(it, pair, tal_v3_dot(v, v)) * normal_force;
    return with_viscous(grip(it, limit, v, z, v), pair->viscous_friction * normal_force, v);
}

// alpha(|z|): 0 below z_ba, 1 from z_max on, between them half a sine, (1 + sin(pi s - pi/2)) / 2
// = sin(pi s/2)^2 with s from 0 to 1. Above 1/2 it is 1 - sin(pi (1 - s)/2)^2.
static real plasticity(real z, real z_ba, real z_max)
{
    const real zero = spread(0.0), one = spread(1.0);
    if (all(less(z, z_ba))) return zero;
    if (all(less(z_max, z))) return one;
    const real s = at_least(at_most((z - z_ba) / (z_max - z_ba), one), zero);
    const mask is_low = less(s, spread(0.5));
    const real sine = sin_reduced(0.5 * TAL_PI * pick(is_low, s, 1.0 - s), zero);
    return pick(is_low, sine * sine, 1.0 - sine * sine);
}

// Part of z_ss over which alpha rises, at least. A breakaway of 1 leaves none where mu(v) is mu_d:
// zdot would jump from v to 0 at z_ss, where a sliding patch stays, and steps of implicit methods
// would not get on.
static const double LEAST_RISE = 0.1;

// zdot = v (1 - alpha z / z_ss) along z when v stretches the patch further, zdot = v otherwise, so
// that z never leaves z_ss(v) = mu(v) f_n / K. What is across z turns it. Where the normal force
// falls faster than z can follow, the cone limits the force as in RBDA sec. 11.8.
tali_contact_grip tali_contact_elastoplastic(const tal_contact_grip *it,
                                             const tal_contact_pair_material *pair,
                                             double normal_force, tal_vec3 v, tal_vec3 z)
{
    const double K = it->stiffness;
    const real zero = spread(0.0), one = spread(1.0), size = tal_v3_norm(z);
    const real limit = pair->static_friction * normal_force;
    const real z_ss = steady_mu(it, pair, tal_v3_dot(v, v)) * normal_force / K;
    const mask is_stretched = less(zero, size) && less(zero, z_ss); // otherwise zdot = v
    const real length = pick(is_stretched, size, one), most = pick(is_stretched, z_ss, one);
    const real elastic = it->breakaway * pair->dynamic_friction * normal_force / K;
    const real z_ba = at_most(elastic, (1.0 - LEAST_RISE) * most);
    const real alpha = plasticity(length, z_ba, most);
    const real outward = at_least(tal_v3_dot(v, z) / length, zero);
    const real part = pick(is_stretched, -alpha * outward / most, zero);
    const tal_vec3 zdot = tal_v3_axpy(part, z, v);
    return with_viscous(grip(it, limit, v, z, zdot), pair->viscous_friction * normal_force, v);
}

// --- smooth sphere on half-space ---

// 0 below zero, 1 above, through 1/2.
static real rise(real t)
{
    return 0.5 + 0.5 * real_tanh(t);
}

real tali_contact_smooth_elastic(const tali_contact_smooth *it, double R, double E, real x)
{
    // k = E^(2/3) / 2: E* of two equal materials is k^(3/2)
    const double k = 0.5 * cbrt(E * E);
    const real y = real_sqrt(x * x + it->cf); // |x|, smoothly
    return 4.0 / 3.0 * k * sqrt(R * k) * y * real_sqrt(y) * rise(it->bd * x);
}

real tali_contact_smooth_force(const tali_contact_smooth *it, real elastic, double c, real xdot)
{
    const real push = c > 0.0 ? rise(it->bv * (xdot + 2.0 / (3.0 * c))) : spread(1.0);
    return elastic * (1.0 + 1.5 * c * xdot) * push;
}

// Of rise().
static double rise_slope(double t)
{
    const double h = tanh(t);
    return 0.5 * (1.0 - h) * (1.0 + h);
}

double tali_contact_smooth_elastic_slope(const tali_contact_smooth *it, double R, double E,
                                         double x)
{
    const double k = 0.5 * cbrt(E * E), y = sqrt(x * x + it->cf);
    const double up = 1.5 * sqrt(y) * x / y * rise(it->bd * x);
    return 4.0 / 3.0 * k * sqrt(R * k) * (up + y * sqrt(y) * it->bd * rise_slope(it->bd * x));
}

double tali_contact_smooth_rate_slope(const tali_contact_smooth *it, double c, double xdot)
{
    if (!(c > 0.0)) return 0.0;
    const double at = it->bv * (xdot + 2.0 / (3.0 * c));
    return 1.5 * c * rise(at) + (1.0 + 1.5 * c * xdot) * it->bv * rise_slope(at);
}

// The integral of the elastic force, which has no closed form, from where it is below round-off:
// Gauss-Legendre with 8 points on panels half as wide as the force's nearest singularity in the
// complex plane is away (i sqrt(cf), i pi / (2 bd)), and wider ones where tanh is 1.
double tali_contact_smooth_energy(const tali_contact_smooth *it, double R, double E, double x)
{
    static const double node[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                  0.9602898564975363};
    static const double weight[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                    0.1012285362903763};
    const double tail = fmin(20.0 / it->bd, 1e300);
    const double width = fmax(0.05 / it->bd, 0.5 * fmin(sqrt(it->cf), 1.0 / it->bd));
    double low = -tail, sum = 0.0;
    while (low < x) {
        const double span = fmax(width, 0.25 * (low - tail));
        const double high = fmin(x, low + span);
        const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
        for (int i = 0; i < 4; ++i) {
            const double left = tali_contact_smooth_elastic(it, R, E, middle - half * node[i]);
            const double right = tali_contact_smooth_elastic(it, R, E, middle + half * node[i]);
            sum += half * weight[i] * (left + right);
        }
        low = high;
    }
    return sum;
}
