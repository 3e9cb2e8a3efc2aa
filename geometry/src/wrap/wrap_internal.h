// What the kinds of obstacles share: which way round, and strings found by Newton's method.
#ifndef TALUS_WRAP_INTERNAL_H
#define TALUS_WRAP_INTERNAL_H

#include <talus/geometry/wrap.h>

/// An end counts as inside when it is deeper than this share of the radius; closer it counts as on
/// the surface.
#define TALI_WRAP_SKIN 1e-9

/// Series whose pieces are shorter than this share of a geodesic do not get to its end.
#define TALI_WRAP_LEAST_PIECE 1e-9

/// The axis of a side: 0, 1, 2, and its sign; {-1, 0} for any side.
typedef struct tali_wrap_axis {
    int axis;
    double sign;
} tali_wrap_axis;

tali_wrap_axis tali_wrap_axis_of(tal_wrap_side side);

/// A point in the plane of a circle.
typedef struct tali_wrap_flat {
    double x, y;
} tali_wrap_flat;

/// A string round a circle in a plane.
typedef struct tali_wrap_turn {
    tal_wrap_contact contact;
    double way;          ///< 1: counterclockwise; -1: clockwise
    tali_wrap_flat e[2]; ///< from the center to where it touches, of length one
    double lift[2];      ///< lengths of the straight pieces
    double angle;        ///< of the arc, not negative
} tali_wrap_turn;

/**
 * A string from a to b round the circle of a radius about the origin.
 *
 * @param[in] side  the direction in which the string passes the center; zero: the shorter way
 */
tali_wrap_turn tali_wrap_turn_round(tali_wrap_flat a, tali_wrap_flat b, double radius,
                                    tali_wrap_flat side);

/// @name The kinds
/// @{
tal_wrap_contact tali_wrap_on_cylinder(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                       tal_wrap_arc *arc);
tal_wrap_contact tali_wrap_on_sphere(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                     tal_wrap_arc *arc);
tal_wrap_contact tali_wrap_on_ellipsoid(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                        tal_wrap_arc *arc);
tal_wrap_contact tali_wrap_on_torus(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                    tal_wrap_arc *arc);

/// Whether a string through a torus lies on a cylinder beside it (tal_wrap_find()).
bool tali_wrap_is_beside(const tal_wrap *wrap, const tal_wrap_arc *arc);

/// A point of a string over the cylinder that is tangent to the ring of a torus.
tal_vec3 tali_wrap_along_ring(const tal_wrap *wrap, const tal_wrap_arc *arc, double s);

/// @}

/// A point on a geodesic: where it is and where it goes; and how geodesics from a common point P1,
/// `lift` before its beginning, spread: y'' = -K y with y = lift and y' = 1 at the beginning.
typedef struct tali_wrap_ray {
    tal_vec3 p, t;
    double y, dy;
} tali_wrap_ray;

/// @name Following a geodesic for a length s
/// @{
void tali_wrap_follow_ellipsoid(tal_vec3 semi_axes, double s, tali_wrap_ray *ray);
void tali_wrap_follow_torus(double ring, double tube, double s, tali_wrap_ray *ray);

/// Either of them.
void tali_wrap_follow(const tal_wrap *wrap, double s, tali_wrap_ray *ray);

/// @}

/// The plane of two points and the center, as axes: x towards p1, y across, z its normal.
typedef struct tali_wrap_plane {
    tal_vec3 x, y, z;
    tali_wrap_flat a, b, side; ///< the points and the side in it
    bool is_straight;          ///< both points lie in one direction from the center
} tali_wrap_plane;

tali_wrap_plane tali_wrap_plane_of(tal_vec3 p1, tal_vec3 p2, tal_wrap_side side);

/// A string that leaves P1 in a direction given by one number and arrives at P2 likewise, for
/// Newton's method.
typedef struct tali_wrap_end {
    tal_vec3 p, t, n; ///< where it touches, its direction from P1 towards P2, the normal
    double lift;      ///< length of the straight piece
    double turn;      ///< how fast the direction turns about the normal with the number
    double slide;     ///< how fast the point moves along the direction
} tali_wrap_end;

typedef struct tali_wrap_problem tali_wrap_problem;

/// What Newton's method asks of a kind of surface.
struct tali_wrap_problem {
    /// The string at end 0 or 1 for the number u. False where there is none.
    bool (*end_at)(const tali_wrap_problem *problem, int which, double u, tali_wrap_end *end);
    void (*follow)(const tali_wrap_problem *problem, double s, tali_wrap_ray *ray);
    double scale; ///< a length of the surface
};

/// A guess, and the answer.
typedef struct tali_wrap_string {
    double u[2]; ///< the numbers at both ends
    double s;    ///< length on the surface
} tali_wrap_string;

/// Newton's method. False when it does not converge.
bool tali_wrap_solve(const tali_wrap_problem *problem, tali_wrap_string *string, tal_wrap_arc *arc);

#endif // TALUS_WRAP_INTERNAL_H
