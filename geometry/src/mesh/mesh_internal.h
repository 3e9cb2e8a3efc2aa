// A triangle mesh as a struct, and its tree of boxes.
#ifndef TALUS_GEOMETRY_MESH_INTERNAL_H
#define TALUS_GEOMETRY_MESH_INTERNAL_H

#include "alloc_internal.h"
#include "detect_internal.h"
#include "error_internal.h"

/// Most faces in a leaf of the tree.
#define TALI_MESH_LEAF  4
/// Enough for a walk through any tree: its halves differ by one face at most, so that 2^31 faces
/// would be 31 levels deep, and a walk keeps one node per level, two at the last.
#define TALI_MESH_STACK 64

/// A triangle and what is asked of it often.
typedef struct tali_mesh_face {
    int vertex[3];
    int neighbor[3]; ///< across the edge from vertex[k] to vertex[k + 1]
    tal_vec3 normal; ///< outward
    tal_vec3 centroid;
    double area;
} tali_mesh_face;

/// A node of the tree. Nodes are in preorder: the left child of node i is node i + 1.
typedef struct tali_mesh_node {
    tali_detect_box box; ///< around its faces, in S
    int right;           ///< the right child; 0 in a leaf
    int first;           ///< its faces are order[first] to order[first + count - 1]
    int count;
} tali_mesh_node;

struct tal_mesh {
    tal_allocator allocator;
    size_t size; ///< of the block that begins with this struct
    int num_vertices, num_faces, num_nodes;
    double area, volume;
    tal_vec3 *vertices;
    tal_vec3 *vertex_normals; ///< sums of face normals weighed by their angles; of any length
    tali_mesh_face *faces;
    tali_mesh_node *nodes;
    int *order; ///< [num_faces] the faces in the order of the leaves
};

/// How many nodes the tree of this number of faces has.
int tali_mesh_count_nodes(int num_faces);

/// Fill `nodes` and `order` of a mesh whose faces are known.
void tali_mesh_build_tree(tal_mesh *mesh);

static inline tal_vec3 tali_mesh_box_center(const tali_detect_box *box)
{
    return tal_v3_scale(0.5, tal_v3_add(box->low, box->high));
}

static inline tal_vec3 tali_mesh_box_half(const tali_detect_box *box)
{
    return tal_v3_scale(0.5, tal_v3_sub(box->high, box->low));
}

/// The larger of two numbers; unlike fmax() it is inlined, and makes no promise about NaN.
static inline double tali_mesh_larger(double a, double b)
{
    return a > b ? a : b;
}

/// Square of the distance from a point to a box; zero inside.
static inline double tali_mesh_box_distance2(const tali_detect_box *box, tal_vec3 p)
{
    const double x = tali_mesh_larger(tali_mesh_larger(box->low.x - p.x, p.x - box->high.x), 0.0);
    const double y = tali_mesh_larger(tali_mesh_larger(box->low.y - p.y, p.y - box->high.y), 0.0);
    const double z = tali_mesh_larger(tali_mesh_larger(box->low.z - p.z, p.z - box->high.z), 0.0);
    return x * x + y * y + z * z;
}

/// Whether a node of the tree, or what is below it, is worth a visit.
typedef bool (*tali_mesh_wants_fn)(void *self, const tali_mesh_node *node);
/// Visits a face.
typedef void (*tali_mesh_visit_fn)(void *self, int face);

/// Visit the faces of the leaves that are wanted and whose ancestors are, in the order of the
/// leaves.
void tali_mesh_walk(const tal_mesh *mesh, void *self, tali_mesh_wants_fn wants,
                    tali_mesh_visit_fn visit);

/**
 * tal_mesh_calc_nearest() for many points.
 *
 * @param[in] hint    a face that may be near, such as that of the point before; -1: none. It saves
 *                    time; of points that are equally near it may decide which is returned
 * @param[in] enough  a point as near as this is as good as the nearest, and ends the search [m]
 */
tal_mesh_point tali_mesh_nearest(const tal_mesh *mesh, tal_vec3 p_SQ, int hint, double enough);

#endif // TALUS_GEOMETRY_MESH_INTERNAL_H
