// A model from a table of its parts, all drawn in Ground axes in one reference configuration, where
// every coordinate is zero and every loop is closed. The origin of a body is the point of its
// joint; its axes are those of Ground there.
#ifndef SKETCH_H
#define SKETCH_H

#include <talus/study.h>

/// Directions in tables.
// clang-format off
#define SKETCH_NONE {0.0, 0.0, 0.0}
#define SKETCH_X {1.0, 0.0, 0.0}
#define SKETCH_Y {0.0, 1.0, 0.0}
#define SKETCH_Z {0.0, 0.0, 1.0}

// clang-format on

/// How a part moves on its parent.
typedef enum sketch_joint {
    SKETCH_FREE,  ///< all six; `at` is its mass center
    SKETCH_PIN,   ///< about `axis`
    SKETCH_SLIDE, ///< along `axis`
    SKETCH_CROSS, ///< about `axis`, then about the turned `axis2`
    SKETCH_BALL
} sketch_joint;

/// One row of a table.
typedef struct sketch_part {
    const char *name, *parent; ///< without the side; the parent may be on no side
    sketch_joint joint;
    tal_vec3 at, axis, axis2; ///< a point of the joint [m], directions
    double mass;              ///< [kg]
    tal_vec3 com, inertia;    ///< [m], and about it: xx, yy, zz [kg m^2]
} sketch_part;

/// Of parts that are drawn for y > 0 and have a mirror image.
typedef enum sketch_side {
    SKETCH_MIDDLE,
    SKETCH_LEFT, ///< as drawn
    SKETCH_RIGHT ///< y changes its sign in points; axes stay
} sketch_side;

enum {
    SKETCH_MAX_BODIES = 64
};

/// A model that is being drawn.
typedef struct sketch {
    tal_matter *matter;
    tal_forces *forces;
    tal_vec3 origin[SKETCH_MAX_BODIES]; ///< of the bodies in Ground, as drawn
} sketch;

/// Begin with nothing but Ground.
sketch sketch_begin(tal_matter *matter, tal_forces *forces);

/// A point on its side.
tal_vec3 sketch_point(tal_vec3 p, sketch_side side);

/// Add one part; its name gets "_l" or "_r".
tal_body_ix sketch_add(sketch *it, const sketch_part *part, sketch_side side);

/// Add `n` parts, in order.
void sketch_add_all(sketch *it, const sketch_part parts[], int n, sketch_side side);

/// A part on this side, or in the middle.
tal_body_ix sketch_find(const sketch *it, const char *name, sketch_side side);

/// A station on a body, from a point as drawn on that side.
tal_vec3 sketch_station(const sketch *it, tal_body_ix body, tal_vec3 p, sketch_side side);

/// Close a loop: two bodies share a point.
void sketch_close_ball(sketch *it, tal_body_ix a, tal_body_ix b, tal_vec3 p, sketch_side side);

/// Close a loop: two bodies share a pin.
void sketch_close_pin(sketch *it, tal_body_ix a, tal_body_ix b, tal_vec3 p, tal_vec3 axis,
                      sketch_side side);

/// A rod without mass: two points keep their distance, as drawn. The points are on their sides.
void sketch_close_rod(sketch *it, tal_body_ix a, tal_vec3 p_a, tal_body_ix b, tal_vec3 p_b);

/// A spring with a damper between two points.
/// @param[in] rest  its length without force [m]
void sketch_add_spring(sketch *it, tal_body_ix a, tal_vec3 p_a, tal_body_ix b, tal_vec3 p_b,
                       sketch_side side, const double stiffness_damping_rest[3]);

#endif // SKETCH_H
