// Curves made of quintic Bezier corners, as plain data: what curves of muscles are evaluated with.
#ifndef TALUS_BEZIER_INTERNAL_H
#define TALUS_BEZIER_INTERNAL_H

#include <talus/common/function.h>

#include <stdbool.h>

/// The most corners of a curve.
#define TALI_BEZIER_MAX_CORNERS 8

/// Into how many parts the range of a corner is cut for first guesses.
#define TALI_BEZIER_PARTS 16

/// One corner: two polynomials of u in [0, 1], of which x(u) increases.
typedef struct tali_bezier_corner {
    double x0, x1;                       ///< where it begins and ends
    double x[6], y[6];                   ///< x - x0 and y, lowest power first
    double guess[TALI_BEZIER_PARTS + 1]; ///< u where x is at a boundary of a part
    double area;                         ///< integral of y from the first node to x0
} tali_bezier_corner;

/// A curve y(x): corner after corner, straight beyond the first and the last node.
typedef struct tali_bezier {
    int num_corners;
    tal_bezier_node first, last;
    tali_bezier_corner corner[TALI_BEZIER_MAX_CORNERS];
} tali_bezier;

/// A value of a curve and its first two derivatives by x.
typedef struct tali_bezier_value {
    double y, dy, ddy;
} tali_bezier_value;

/// Check the nodes and build the curve. Arrays as in tal_function_create_bezier(). The failure goes
/// to `err` in the name of `where`.
tal_status tali_bezier_build(const tal_bezier_node nodes[], const double curviness[], int count,
                             tali_bezier *curve, const char *where, tal_error *err);

/// y(x), y'(x), y''(x). A NaN gives NaN.
tali_bezier_value tali_bezier_calc(const tali_bezier *curve, double x);

/// A value of a curve and its slope.
typedef struct tali_bezier_point {
    double y, dy;
} tali_bezier_point;

/// y(x) and y'(x): the same without what muscles do not ask for.
tali_bezier_point tali_bezier_calc_point(const tali_bezier *curve, double x);

/// Integral of y from the first node to x.
double tali_bezier_integral(const tali_bezier *curve, double x);

/// A point of a curve.
typedef struct tali_bezier_place {
    double x, y;
} tali_bezier_place;

/**
 * Where  a y(x) + b x = c,  for a curve that does not fall, a >= 0 and b >= 0.
 *
 * Where the left side is flat, x is +-infinity. It always converges: within a corner the left side
 * is an increasing polynomial of u, and beyond the ends it is a line.
 */
tali_bezier_place tali_bezier_solve(const tali_bezier *curve, double a, double b, double c);

#endif // TALUS_BEZIER_INTERNAL_H
