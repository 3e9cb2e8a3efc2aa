// Which surfaces touch, and where: pure functions of shapes and poses. No State here.
//
// Surfaces 1 and 2 of a pair are in the order of their indices. The normal n points from surface 2
// towards surface 1, as in manual sec. 11.2.2: a force f n with f > 0 pushes surface 1, and -f n
// surface 2.
#ifndef TALUS_GEOMETRY_DETECT_INTERNAL_H
#define TALUS_GEOMETRY_DETECT_INTERNAL_H

#include <talus/geometry.h>

#include <stdint.h>

/// A shape on a body, as the detector sees it.
typedef struct tali_detect_surface {
    const char *name; ///< for messages
    tal_shape shape;
    int body;         ///< surfaces of one body do not touch
    uint64_t cliques; ///< one bit each: surfaces with a clique in common do not touch
} tali_detect_surface;

/// Contact at a point.
typedef struct tali_detect_point {
    tal_vec3 p_G; ///< halfway between the undeformed surfaces, along n
    tal_vec3 n_G; ///< unit normal, from surface 2 towards surface 1
    double depth; ///< x > 0: how far the undeformed surfaces overlap along n [m]
    /// Relative principal curvatures, larger first: sums over both surfaces where the principal
    /// directions agree, 1/R_1 + 1/R_2 for two spheres [1/m]. Zero at a sharp corner or rim.
    double curvature[2];
    /// 1 / sqrt(curvature[0] * curvature[1]): R of manual sec. 11.2.2. Zero at a sharp corner or
    /// rim.
    double radius;
    tal_vec3 axis_G; ///< unit vector perpendicular to n along which the curvature is the larger
    /// What the energy of this contact, a function of its depth, is multiplied by: 1 for most.
    /// Where it depends on how the surfaces are turned to each other, `turn_G` is its rate as
    /// surface 1 turns about each axis.
    double weight;
    tal_vec3 turn_G;
    /// Which of the pair's points this is: a corner, a place on a rim. From 0 to
    /// tali_detect_pair_max_points() - 1; increases within a contact.
    int feature;
} tali_detect_point;

/// A face of a mesh whose centroid is inside the other surface, or a small part of a solid's
/// surface whose middle is: a spring of an elastic foundation.
typedef struct tali_detect_face {
    int surface;    ///< whose face: 0 for surface 1, 1 for surface 2
    int face;       ///< of its mesh, or which part
    tal_vec3 p_G;   ///< centroid of the face: where the spring is fixed to its surface
    tal_vec3 n_G;   ///< unit vector from surface 2 towards surface 1, along the spring
    tal_vec3 out_G; ///< outward unit normal of the face
    /// How the other surface's outward normal at its nearest point changes as the centroid moves
    /// along out_G, per meter: zero where that is flat, and among meshes, where it jumps instead.
    tal_vec3 bend_G;
    double depth; ///< distance from the centroid to the nearest point of the other surface [m]
    /// Area the spring represents: that of the face; half of it where both surfaces are meshes,
    /// since then the faces of each cover the patch [m^2].
    double area;
} tali_detect_face;

/// Two surfaces that touch.
typedef struct tali_detect_contact {
    int surface[2]; ///< surface[0] < surface[1]
    bool is_patch;  ///< made of faces; else of points
    int first;      ///< its first point or face
    int count;      ///< how many it has, at least 1
} tali_detect_contact;

/// Two surfaces whose boxes overlap, a < b.
typedef struct tali_detect_pair {
    int a, b;
} tali_detect_pair;

/// A box with edges along the axes of Ground.
typedef struct tali_detect_box {
    tal_vec3 low, high;
} tali_detect_box;

/// The box of a surface, ready to be sorted.
typedef struct tali_detect_entry {
    tali_detect_box box;
    uint64_t key;   ///< where it begins along the axis, and whose it is
    int64_t strip;  ///< the first strip it is in
    int num_strips; ///< 1 or 2; 0: it is large, and in none
} tali_detect_entry;

/// A box in one of its strips.
typedef struct tali_detect_strip {
    int box;  ///< which
    int part; ///< 0 in its first strip, 1 in its second
} tali_detect_strip;

/// How much there can be at once.
typedef struct tali_detect_limits {
    int pairs;  ///< pairs of surfaces whose boxes overlap; contacts too
    int points; ///< over all contacts
    int faces;  ///< over all contacts
} tali_detect_limits;

/// What was found, and room to find it in. The arrays are in a block of the caller's, e.g. in a
/// State: place them by tali_detect_store_at() whenever the block is looked at.
typedef struct tali_detect_store {
    tali_detect_limits limits;
    const double *reach; ///< [n] by how much the box of each surface grows [m]; NULL: not at all
    int num_pairs, num_contacts, num_points, num_faces;
    tali_detect_contact *contacts; ///< by increasing (surface[0], surface[1])
    tali_detect_point *points;     ///< those of a contact by increasing feature
    tali_detect_face *faces;       ///< those of a contact in an order that does not depend on poses
    tali_detect_pair *pairs;       ///< what the broad phase found, by increasing (a, b)
    // scratch of the broad phase, with room for n surfaces
    tali_detect_entry *entries; ///< [2 n]
    tali_detect_strip *strips;  ///< [2 n]
    int *starts;                ///< [2 n + 3]
    uint64_t *keys;             ///< [2 max(n, limits.pairs)]
} tali_detect_store;

/// Bytes of the block for this number of surfaces and these limits.
size_t tali_detect_store_size(int num_surfaces, const tali_detect_limits *limits);

/// A store whose arrays are in `block`, aligned to TAL_ALIGNMENT and as large as
/// tali_detect_store_size() says. The counts are zero: keep them beside the block.
tali_detect_store tali_detect_store_at(void *block, int num_surfaces,
                                       const tali_detect_limits *limits);

/**
 * Find all contacts: broad phase, then each pair. Allocates nothing; the result depends on surfaces
 * and poses only.
 *
 * @param[in]     surfaces  [num_surfaces] checked by tali_detect_check()
 * @param[in]     X_GS      [num_surfaces] pose of each shape's frame in Ground
 * @param[in,out] store     limits and arrays in, contents out
 * @param[out]    err       what was too small and how much is needed; may be NULL
 * @return TAL_OK; TAL_ERR_CAPACITY naming "pairs", "points" or "faces", with undefined contents of
 *         `store`; TAL_ERR_NOT_FINITE naming the surface whose pose is not finite
 */
tal_status tali_detect_contacts(const tali_detect_surface surfaces[], int num_surfaces,
                                const tal_xform X_GS[], tali_detect_store *store, tal_error *err);

/// Check shapes, and that all surfaces that may meet can touch. For building: names both surfaces
/// of a pair that is not supported.
tal_status tali_detect_check(const tali_detect_surface surfaces[], int num_surfaces,
                             tal_error *err);

/// Whether the two are on different bodies and in no common clique.
static inline bool tali_detect_may_meet(const tali_detect_surface *a, const tali_detect_surface *b)
{
    return a->body != b->body && (a->cliques & b->cliques) == 0;
}

/// The most points a contact of these kinds can have: 0 when it is always made of faces, or not
/// supported.
int tali_detect_pair_max_points(tal_shape_kind a, tal_shape_kind b);

/// Whether a contact of these kinds can be made of faces.
bool tali_detect_pair_has_faces(tal_shape_kind a, tal_shape_kind b);

/// How many faces a shape has in contacts that are made of them; 0 for those that have none.
int tali_detect_num_faces(const tal_shape *shape);

/// Where the force of a point contact acts when surface 1 takes the share s1 of the deformation:
/// P of manual sec. 11.2.2.
static inline tal_vec3 tali_detect_point_P(const tali_detect_point *c, double s1)
{
    return tal_v3_axpy((s1 - 0.5) * c->depth, c->n_G, c->p_G);
}

/// A box around a shape, the smallest except for a mesh; unbounded for a half-space.
tali_detect_box tali_detect_shape_box(const tal_shape *shape, const tal_xform *X_GS);

/**
 * The broad phase alone: the pairs that may meet and whose boxes overlap, touching ones included,
 * in order, into store->pairs. Overlap with a half-space is tested against the half-space itself,
 * which has no box.
 *
 * @return how many there are; when that is more than the limit, store->pairs is undefined
 */
int tali_detect_find_pairs(const tali_detect_surface surfaces[], int num_surfaces,
                           const tal_xform X_GS[], tali_detect_store *store);

#endif // TALUS_GEOMETRY_DETECT_INTERNAL_H
