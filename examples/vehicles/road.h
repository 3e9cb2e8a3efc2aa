// A road with a ramp and stairs, and tyres that touch it: pieces whose edges are rounded, each of
// which pushes along the line to its nearest point.
#ifndef ROAD_H
#define ROAD_H

#include "point_law.h"

/// Parameters of the law of a tyre on the road.
enum {
    ROAD_TYRE_STIFFNESS, ///< [N/m]
    ROAD_TYRE_RADIUS,    ///< [m]
    ROAD_TYRE_HAS_ROAD   ///< 0: flat
};

/// The force on the center of a wheel whose plane is vertical and along x.
point_force road_tyre(const double params[], tal_vec3 p, tal_vec3 v);

/// The height of the road [m].
double road_height(double x);

#endif // ROAD_H
