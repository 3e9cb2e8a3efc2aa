// A robot between its file and its System.
#ifndef TALUS_IO_URDF_INTERNAL_H
#define TALUS_IO_URDF_INTERNAL_H

#include "text/arena_internal.h"
#include "text/name_map_internal.h"
#include "text/xml_internal.h"

#include <talus/io/urdf.h>

/// Most kinds of elements that notes tell apart.
#define TALI_MAX_IGNORED 32

typedef enum tali_urdf_kind {
    TALI_URDF_FIXED,
    TALI_URDF_REVOLUTE,
    TALI_URDF_CONTINUOUS,
    TALI_URDF_PRISMATIC,
    TALI_URDF_PLANAR,
    TALI_URDF_FLOATING
} tali_urdf_kind;

typedef struct tali_urdf_link {
    const tali_xml_element *element;
    const char *name;
    tal_mass_props mass; ///< about the link's origin, in the link's frame
    bool any_inertia;    ///< it needs the permit of the options
    double carried;      ///< its mass and that of all it carries
    int joint;           ///< on which it hangs; -1: none, it is the root
    tal_body_ix body;
} tali_urdf_link;

typedef struct tali_urdf_joint {
    const tali_xml_element *element;
    const char *name;
    tali_urdf_kind kind;
    int parent, child; ///< links
    tal_xform X_PJ;    ///< the child's frame in the parent's, where the joint is at zero
    tal_vec3 axis;     ///< in J, of length one
    bool limited;
    double lower, upper; ///< [rad] or [m]
    double damping;
    const tali_xml_element *mimic; ///< NULL: none
    int leader;                    ///< the joint it follows; -1: none
    double multiplier, offset;     ///< q = multiplier q_leader + offset
    double q0;                     ///< where it begins
    bool has_q0;
} tali_urdf_joint;

/// An element that is not read: how often, and where first.
typedef struct tali_urdf_ignored {
    const tali_xml_element *first;
    int count;
} tali_urdf_ignored;

typedef struct tali_urdf {
    tal_urdf_options options;
    tali_arena arena;
    tali_xml *xml;
    tal_diagnostics *found; ///< of this file alone
    bool no_memory;
    tali_urdf_link *links;
    tali_urdf_joint *joints;
    int num_links, num_joints;
    tali_name_map link_names, joint_names;
    tali_urdf_ignored ignored[TALI_MAX_IGNORED];
    int num_ignored;
    int root; ///< link that hangs on no joint
} tali_urdf;

/// From the document to links and joints; errors are in the list.
void tali_urdf_read(tali_urdf *u);

/// From links and joints without errors to a model; errors are in the list.
void tali_urdf_build(tali_urdf *u, tal_model *model);

#endif // TALUS_IO_URDF_INTERNAL_H
