// A robot between its file and its System.
#ifndef TALUS_IO_URDF_INTERNAL_H
#define TALUS_IO_URDF_INTERNAL_H

#include "text/arena_internal.h"
#include "text/name_map_internal.h"
#include "text/xml_internal.h"

#include <talus/io/urdf.h>

enum {
    TALI_URDF_MAX_UNREAD = 32,  ///< most kinds of elements and attributes that a note lists
    TALI_URDF_MAX_REMARKS = 16, ///< most kinds of remarks on links and joints
    TALI_URDF_MAX_PATH = 1000
};

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
    bool any_inertia;    ///< it needs a permit to be built
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

/// Elements or attributes of one name that are not read: how often, and where first.
typedef struct tali_urdf_unread {
    char what[72]; ///< "<gazebo>", "'type' of <link>"
    int line, column;
    int count;
} tali_urdf_unread;

/// What is said of several links or joints, once.
typedef struct tali_urdf_remark {
    tal_severity severity;
    const char *sentence; ///< the names come behind it
    int line, column;     ///< of the first
    int count;
    char names[160]; ///< of the first ones
    int num_names;
} tali_urdf_remark;

/// The color of a `<material>`.
typedef struct tali_urdf_color {
    double rgba[4];
} tali_urdf_color;

typedef struct tali_urdf {
    tal_urdf_options options;
    tali_arena arena;
    tali_xml *xml;
    tal_diagnostics *found; ///< of this file alone
    bool no_memory;
    int num_refused; ///< starts that the caller gave, and that are not there
    tali_urdf_link *links;
    tali_urdf_joint *joints;
    int num_links, num_joints;
    tali_name_map link_names, joint_names;
    tali_name_map color_names;
    tali_urdf_color *colors; ///< [color_names.num] of materials that have a name
    tali_urdf_unread unread[TALI_URDF_MAX_UNREAD];
    int num_unread;
    tali_urdf_remark remarks[TALI_URDF_MAX_REMARKS];
    int num_remarks;
    int root;           ///< link that hangs on no joint
    const char *folder; ///< of the file; NULL: it is in memory
} tali_urdf;

// ---- what is said about a file

/// An error; the tag of the element begins the sentence.
void tali_urdf_error(tali_urdf *u, const tali_xml_element *element,
                     const tali_xml_attribute *attribute, const char *fmt, ...) TAL_PRINTF(4, 5);

/// Something about a link or a joint that others may have too: reported once, with their names.
/// @param[in] sentence  a string literal; ": 'a', 'b' and 3 more" comes behind it
void tali_urdf_remark_on(tali_urdf *u, tal_severity severity, const char *sentence,
                         const tali_xml_element *element, const char *name);

/// The same; with `strict` of the options it is an error of this element.
void tali_urdf_object_to(tali_urdf *u, const char *sentence, const tali_xml_element *element,
                         const char *name);

/// An element, or an attribute of one, that is not read.
void tali_urdf_leave(tali_urdf *u, const tali_xml_element *e);
void tali_urdf_leave_attribute(tali_urdf *u, const tali_xml_element *e,
                               const tali_xml_attribute *a);

/// Tell all remarks, and in one note what was not read.
void tali_urdf_tell(tali_urdf *u);

// ---- elements and attributes

/// What a file with macros needs.
#define TALI_URDF_TO_EXPAND                                                                        \
    "this file has macros; expand them first: xacro robot.urdf.xacro > robot.urdf"

/// Which of some words was meant; NULL when none is near.
const char *tali_urdf_meant(const char *wrong, const char *const words[]);

/// A misspelled attribute would silently leave a default: an error. Others are not read.
/// @param[in] allowed  names, then NULL
void tali_urdf_check_attributes(tali_urdf *u, const tali_xml_element *e,
                                const char *const allowed[]);

/// The numbers of an attribute. False when it is not there, or wrong: then there is an error.
/// @param[out] out  [n], n at most 6
bool tali_urdf_numbers(tali_urdf *u, const tali_xml_element *e, const char *name, int n,
                       double out[]);

/// A number, or a text, that must be there; an error otherwise, and NULL for a text.
void tali_urdf_need_number(tali_urdf *u, const tali_xml_element *e, const char *name, double *out);
const char *tali_urdf_need_text(tali_urdf *u, const tali_xml_element *e, const char *name);

/// The one child of each name; a second one is an error, a child of another name is not read.
/// @param[out] children  one for each name
void tali_urdf_children(tali_urdf *u, const tali_xml_element *e, const char *const names[],
                        const tali_xml_element *children[]);

/// `<origin>`, or the identity for NULL.
tal_xform tali_urdf_origin(tali_urdf *u, const tali_xml_element *e);

// ---- parts of robots

/// `<inertial>` of a link: about the link's origin, in its frame.
void tali_urdf_inertial(tali_urdf *u, const tali_xml_element *e, tali_urdf_link *link);

/// Colors of the materials at the top of the file.
void tali_urdf_read_colors(tali_urdf *u);

/// Visuals and collisions of all links, once these are bodies. The contact element is there when
/// the options ask for it.
void tali_urdf_add_shapes(tali_urdf *u, tal_model *model);

/// The file that a mesh is in: `filename` as the URDF has it. False when there is none; then `path`
/// is what was looked for.
bool tali_urdf_find_file(const tali_urdf *u, const char *filename, char path[TALI_URDF_MAX_PATH]);

// ---- from file to System

/// From the document to links and joints; errors are in the list.
void tali_urdf_read(tali_urdf *u);

/// Whether joints of a kind have one coordinate.
bool tali_urdf_has_coordinate(tali_urdf_kind kind);

/// From links and joints without errors to a model; errors are in the list.
void tali_urdf_build(tali_urdf *u, tal_model *model);

#endif // TALUS_IO_URDF_INTERNAL_H
