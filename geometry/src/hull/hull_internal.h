// A convex solid as a struct, two of them in one frame, and the steps from there to where they
// touch.
//
// All steps work in a frame with the axes of Ground and its origin at that of hull a. The normal n
// points from b to a, so that a is above b.
#ifndef TALUS_GEOMETRY_HULL_INTERNAL_H
#define TALUS_GEOMETRY_HULL_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/geometry/hull.h>

/// Sides of the prism that stands for a cylinder.
#define TALI_HULL_SIDES 24
/// What a feature says where it names no vertex. Meshes have fewer vertices. Larger numbers would
/// look like a NaN to who reads the work array as doubles.
#define TALI_HULL_NONE  0x7fe0
/// Lengths below this part of the size of the two hulls are round-off.
#define TALI_HULL_EPS   1e-12
/// Points nearer to each other than this part count as one.
#define TALI_HULL_MERGE 1e-5

/// A face: n . p <= offset for all p of the core.
typedef struct tali_hull_face {
    tal_vec3 normal;
    double offset;
} tali_hull_face;

/// An edge of the core, and the normals of the faces at it. A segment has one edge and no faces.
typedef struct tali_hull_edge {
    int from, to;
    tal_vec3 normal[2];
} tali_hull_edge;

struct tal_hull {
    tal_allocator allocator;
    size_t size; ///< of the block that begins with this struct
    bool is_half_space, is_brick;
    double radius;   ///< beyond the core
    double extent;   ///< of a ball about `center` that holds the solid; of a half-space 0
    double width;    ///< the least width of a polyhedron, the length of a segment
    tal_vec3 center; ///< of its box
    tal_vec3 half;   ///< half lengths of a brick's core
    int num_vertices, num_faces, num_edges;
    tal_vec3 *vertices;
    tali_hull_face *faces;
    tali_hull_edge *edges;
};

/// One hull in the common frame.
typedef struct tali_hull_placed {
    const tal_hull *hull;
    tal_mat3 R;       ///< from S to the frame
    tal_vec3 p;       ///< its origin
    tal_vec3 *points; ///< [num_vertices] the vertices
    // memory for the footprint: the vertices near the other solid, as a polygon seen along n
    int num_corners;
    int *corner;    ///< [num_vertices] its corners, counterclockwise
    int *spare;     ///< [2 num_vertices] scratch
    double *x, *y;  ///< [num_vertices] places of vertices near the other solid across n
    double *height; ///< [num_vertices] along `up`
    tal_vec3 up;    ///< away from the other solid: n for a, -n for b
} tali_hull_placed;

/// Two hulls that are neither half-spaces.
typedef struct tali_hull_pair {
    tali_hull_placed a, b;
    double size;    ///< of the larger one: what lengths are compared with
    double radii;   ///< of both
    tal_vec3 n;     ///< unit, from b to a; zero: none yet
    double between; ///< of the cores along n
} tali_hull_pair;

/// A point where footprints meet.
typedef struct tali_hull_meeting {
    double x, y;
    double height_a, height_b; ///< of the cores
    uint64_t feature;
} tali_hull_meeting;

/// Name of a point: vertices or edges of a and b. An edge is named by its vertices, a vertex twice.
uint64_t tali_hull_feature(int a1, int a2, int b1, int b2);

/// The least of d . p over the core, in S, and which vertex it is at.
double tali_hull_least(const tal_hull *hull, tal_vec3 d, int *vertex);

/// The axis along which the cores are farthest apart, or overlap least, among normals of faces and
/// of pairs of edges: sets n and `between`. A lower bound of the distance; false when there is no
/// such axis.
bool tali_hull_find_axis(tali_hull_pair *pair);

/// The nearest points of the cores by Gilbert, Johnson and Keerthi's method.
typedef struct tali_hull_nearest {
    tal_vec3 on_a, on_b;
    double distance; ///< 0 when the cores overlap, or nearly so
    uint64_t feature;
} tali_hull_nearest;

tali_hull_nearest tali_hull_find_nearest(const tali_hull_pair *pair);

/// The footprints of the two along n, and the places where these meet; `view` has n as z, and
/// vertices up to `most` farther from the other solid than the nearest one count.
/// @return how many
int tali_hull_meet(tali_hull_pair *pair, const tal_mat3 *view, double most,
                   tali_hull_meeting meetings[], int capacity);

/// One footprint: the vertices near the other solid as a polygon about n = view.z. `sign` is 1 if
/// n points away from the other solid, else -1.
void tali_hull_footprint(tali_hull_placed *it, const tal_mat3 *view, double sign, double most,
                         double size);

/// Room for the meetings of two footprints.
int tali_hull_most_meetings(int num_a, int num_b);

#endif // TALUS_GEOMETRY_HULL_INTERNAL_H
