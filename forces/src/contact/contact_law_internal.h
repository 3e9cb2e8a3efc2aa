// The laws of compliant contact as pure functions: depths, speeds and states in, forces out. What
// comes from a State is `real`, what comes from the model is `double` (ADR 26).
//
// Signs: n points from surface 2 to surface 1 (manual sec. 11.2.2), so that a positive normal force
// pushes them apart: f n acts on surface 1. x is the depth, positive inside, and xdot its rate. v
// is the velocity of the point of surface 1 relative to that of surface 2, in the tangent plane;
// friction is what acts on surface 1.
#ifndef TALUS_FORCES_CONTACT_LAW_INTERNAL_H
#define TALUS_FORCES_CONTACT_LAW_INTERNAL_H

#include "real_functions_internal.h"

#include <talus/common.h>
#include <talus/forces/contact.h>

#include <math.h>

/// x^n for x >= 0, by a root where n is Hertz's. Other exponents go to libm as long as `real` is
/// one double: with a table and fused multiply-adds it is three times as fast as real_pow().
static inline real tali_contact_power(real x, double n)
{
    return n == 1.5 ? x * real_sqrt(x) : (n == 1.0 ? x : pow(x, n));
}

// --- normal laws ---

/// A normal force.
typedef struct tali_contact_press {
    real force;  ///< on surface 1 along n, never negative [N]
    real energy; ///< stored [J]
    real power;  ///< dissipated [W]
} tali_contact_press;

/// Hunt and Crossley: f = max(0, k x^n (1 + 3/2 c xdot)) (manual sec. 11.2.2), energy
/// k x^(n+1) / (n+1). When the surfaces are torn apart faster than they can follow, the energy they
/// let go is dissipated.
tali_contact_press tali_contact_hunt_crossley(double k, double n, double c, real x, real xdot);

/// Elastic foundation: a spring for each face, f = max(0, k a x (1 + 3/2 c xdot)) on an area a
/// across it.
tali_contact_press tali_contact_foundation(double k, double c, double area, real x, real xdot);

/// A normal force of a surface that relaxes, and the rate of its deflection.
typedef struct tali_contact_layer {
    tali_contact_press press;
    double zdot; ///< [m/s]
} tali_contact_layer;

/// A surface without mass on a spring k w^n and a damper, pressed in by z (RBDA eq. 11.73, 11.74
/// with depths for heights, and any n): touched by a body at depth x it is as deep as that, and
/// f = max(0, k x^n + T d/dt(k x^n)); left alone it comes back, zdot = -z / (n T).
tali_contact_layer tali_contact_relaxing(double k, double n, double T, double x, double xdot,
                                         double z);

/// An elliptical Hertz contact.
typedef struct tali_contact_ellipse {
    double radius; ///< sqrt(R' R'') [m], of the relative curvatures
    double ratio;  ///< b / a of the patch, at most 1
    double spread; ///< F1: geometric mean sqrt(a b) of the semi-axes over that of a circle's
    double soften; ///< F2: depth over that of a circle's under the same force
} tali_contact_ellipse;

/// The patch where the surfaces' relative principal curvatures are `k1` and `k2` [1/m], both
/// positive, in any order: Johnson ch. 4, solved to round-off.
tali_contact_ellipse tali_contact_hertz_ellipse(double k1, double k2);

/// k of f = k x^(3/2): 4/3 sqrt(R) E* for a circle (manual sec. 11.2.2, errata applied), less for
/// an ellipse.
static inline double tali_contact_hertz_stiffness(const tali_contact_ellipse *it, double E)
{
    return 4.0 / 3.0 * sqrt(it->radius) * E / tali_contact_power(it->soften, 1.5);
}

/// Semi-axes a >= b of the patch at depth x: for a circle a = sqrt(R x).
static inline void tali_contact_patch(const tali_contact_ellipse *it, double x, double *a,
                                      double *b)
{
    const double c = sqrt(it->radius * x / it->soften) * it->spread;
    *a = c / sqrt(it->ratio);
    *b = c * sqrt(it->ratio);
}

// --- friction without memory: mu(v) / v, finite at v = 0 ---

/// Stribeck's curve, twice continuously differentiable: quintics from 0 at rest to mu_s at the
/// transition speed vt and down to mu_d at 3 vt, and mu_v v on top.
real tali_contact_stribeck(const tal_contact_pair_material *pair, double vt, real speed);

/// Hollars' curve: min(v/vt, 1) (mu_d + 2 (mu_s - mu_d) / (1 + (v/vt)^2)) + mu_v v.
real tali_contact_hollars(const tal_contact_pair_material *pair, double vt, real speed);

/// @name Slopes of both by the speed
/// @{
double tali_contact_stribeck_slope(const tal_contact_pair_material *pair, double vt, double speed);
double tali_contact_hollars_slope(const tal_contact_pair_material *pair, double vt, double speed);

/// @}

// --- friction with memory: a massless patch that sticks to one surface by springs ---

/// A friction force with memory.
typedef struct tali_contact_grip {
    tal_vec3 force; ///< on surface 1 [N]
    tal_vec3 zdot;  ///< rate of the deflection [m/s]
    double energy;  ///< stored [J]
    double power;   ///< dissipated [W]
} tali_contact_grip;

/// Soft Coulomb friction, RBDA eq. 11.77 to 11.79 with a vector for the scalar x.
tali_contact_grip tali_contact_soft_coulomb(const tal_contact_grip *it,
                                            const tal_contact_pair_material *pair,
                                            double normal_force, tal_vec3 v, tal_vec3 z);

/// The single-state elastoplastic model (manual sec. 11.2.3, ref. 15): presliding without creep.
tali_contact_grip tali_contact_elastoplastic(const tal_contact_grip *it,
                                             const tal_contact_pair_material *pair,
                                             double normal_force, tal_vec3 v, tal_vec3 z);

// --- smooth sphere on half-space ---

typedef struct tali_contact_smooth {
    double cf; ///< added under the roots [m^2], [m^2/s^2]
    double bd; ///< steepness of the way into contact [1/m]
    double bv; ///< steepness of the way out of being torn apart [s/m]
} tali_contact_smooth;

/// Hertz's force on a sphere of radius R, both surfaces of plane-strain modulus E, with tanh for
/// the edge at x = 0.
real tali_contact_smooth_elastic(const tali_contact_smooth *it, double R, double E, real x);

/// The same with Hunt and Crossley's dissipation, and tanh for the edge where it would pull.
real tali_contact_smooth_force(const tali_contact_smooth *it, real elastic, double c, real xdot);

/// @name Their slopes
/// @{
double tali_contact_smooth_elastic_slope(const tali_contact_smooth *it, double R, double E,
                                         double x);
/// Of the force over the elastic one, by xdot.
double tali_contact_smooth_rate_slope(const tali_contact_smooth *it, double c, double xdot);
/// @}

/// The integral of the elastic force from minus infinity to x, to round-off.
double tali_contact_smooth_energy(const tali_contact_smooth *it, double R, double E, double x);

#endif // TALUS_FORCES_CONTACT_LAW_INTERNAL_H
