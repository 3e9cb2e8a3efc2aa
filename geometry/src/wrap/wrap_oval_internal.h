// Geodesics of an ellipsoid as power series, about any of their points.
#ifndef TALUS_WRAP_OVAL_INTERNAL_H
#define TALUS_WRAP_OVAL_INTERNAL_H

#include "wrap/wrap_internal.h"
#include "wrap/wrap_series_internal.h"

#include <talus/geometry/wrap.h>

/// A point on a geodesic, its direction, and two fields of geodesics beside it, y'' = -K y: how far
/// to the left a neighbor is, and how fast that grows (DoCarmo sec. 5-5).
typedef struct tali_wrap_bundle {
    tal_vec3 p, t;
    double y[2], dy[2];
} tali_wrap_bundle;

/// The series about one point.
typedef struct tali_wrap_oval {
    double d[3];           ///< 1 / a^2
    int order;             ///< highest power of x and y
    double reach;          ///< they may be summed within this distance
    double tolerance;      ///< what is left out of a direction there
    tali_wrap_series x[3]; ///< point
    tali_wrap_series y[2]; ///< fields
} tali_wrap_oval;

/// Begin with an ellipsoid of these semi-axes.
void tali_wrap_oval_init(tali_wrap_oval *it, tal_vec3 semi_axes);

/// The series about a point, for distances up to s if they reach so far.
void tali_wrap_oval_expand(tali_wrap_oval *it, const tali_wrap_bundle *at, double s,
                           double tolerance);

/// What is at the distance s; beyond the reach of the series, by more of them.
void tali_wrap_oval_sum(const tali_wrap_oval *it, double s, tali_wrap_bundle *at);

/// Move a point onto the surface, and its direction along it.
void tali_wrap_oval_restore(const tali_wrap_oval *it, tali_wrap_bundle *at);

/// A point P as seen on the unit sphere. Strings that leave it touch the sphere at cos q^ + sin c,
/// with the angle's cos = 1 / |q| and a direction c of length one across q^.
typedef struct tali_wrap_source {
    tal_vec3 along; ///< q^
    double cosine, sine, distance;
} tali_wrap_source;

/// An ellipsoid and the ends of a string.
typedef struct tali_wrap_oval_ends {
    tal_vec3 a, by_a; ///< semi-axes, and one over them
    tali_wrap_source from[2];
} tali_wrap_oval_ends;

/// @param[in] q  [2] the ends divided by the semi-axes
tali_wrap_oval_ends tali_wrap_oval_ends_of(tal_vec3 semi_axes, const tal_vec3 q[]);

/// The straight piece at end 0 or 1 with the direction c.
tali_wrap_end tali_wrap_oval_end(const tali_wrap_oval_ends *it, int which, tal_vec3 c);

/// The direction c of a string that goes along t where it touches.
tal_vec3 tali_wrap_oval_leave(const tali_wrap_oval_ends *it, int which, tal_vec3 t);

/// The middle of a string on the surface, and how far from there it lifts off: a guess, and the
/// answer.
typedef struct tali_wrap_middle {
    tal_vec3 p, t; ///< t of length one
    double s[2];   ///< below and above zero
    tal_vec3 c[2]; ///< directions in which it leaves its ends; zero: not known
} tali_wrap_middle;

/// The string of which a guess is given, by Newton's method from its middle, or else from its ends.
/// False when neither converges.
bool tali_wrap_oval_solve(const tali_wrap_oval_ends *ends, tali_wrap_middle *middle,
                          tal_wrap_arc *arc);

/// From its ends: several times slower, and surer where an ellipsoid is thin.
bool tali_wrap_oval_solve_by_ends(const tali_wrap_oval_ends *ends, tali_wrap_middle *middle,
                                  tal_wrap_arc *arc);

#endif // TALUS_WRAP_OVAL_INTERNAL_H
