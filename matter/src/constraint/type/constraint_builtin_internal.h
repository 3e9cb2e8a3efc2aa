// Built-in constraints inside: an equation is written once, as a number with its time derivatives.
//
// Every position equation is a sum of products of stations and axes fixed in the constrained
// bodies. These come with their first and second time derivatives in A, and sums, products and
// lengths carry them along, so that perr, verr and aerr are one expression and agree by
// construction. What is left to each constraint is that expression, and the force: the transpose of
// its first derivative.
#ifndef TALUS_CONSTRAINT_BUILTIN_INTERNAL_H
#define TALUS_CONSTRAINT_BUILTIN_INTERNAL_H

#include "constraint/type/constraint_change_internal.h"
#include "tree/matter_internal.h"

#include <talus/matter/constraints.h>

/// Tags of the built-in tables, from "TAC" in ASCII upwards.
enum {
    TALI_TAG_ROD = 0x54414300,
    TALI_TAG_BALL_CONSTRAINT,
    TALI_TAG_WELD_CONSTRAINT,
    TALI_TAG_CONSTANT_ORIENTATION,
    TALI_TAG_POINT_IN_PLANE,
    TALI_TAG_POINT_ON_LINE,
    TALI_TAG_CONSTANT_ANGLE,
    TALI_TAG_NO_SLIP_1D,
    TALI_TAG_CONSTANT_COORDINATE,
    TALI_TAG_CONSTANT_SPEED,
    TALI_TAG_CONSTANT_ACCELERATION,
    TALI_TAG_COORDINATE_COUPLER,
    TALI_TAG_SPEED_COUPLER,
    TALI_TAG_PRESCRIBED_MOTION,
    TALI_TAG_POINT_ON_PLANE_CONTACT,
    TALI_TAG_SPHERE_ON_PLANE_CONTACT,
    TALI_TAG_SPHERE_ON_PLANE_ROLLING,
    TALI_TAG_SPHERE_ON_SPHERE_CONTACT,
    TALI_TAG_SPHERE_ON_SPHERE_ROLLING,
    TALI_TAG_LINE_ON_LINE_CONTACT,
    TALI_TAG_LINE_ON_LINE_ROLLING,
    TALI_TAG_LOOP_PIN,
    TALI_TAG_LOOP_SLIDER,
    TALI_TAG_LOOP_CYLINDER,
    TALI_TAG_LOOP_UNIVERSAL,
    TALI_TAG_LOOP_PLANAR,
    TALI_TAG_LOOP_SCREW,
    TALI_TAG_DISK_ON_PLANE_CONTACT,
    TALI_TAG_DISK_ON_PLANE_ROLLING,
    TALI_TAG_POINT_ON_PLANE_GRIP,
    TALI_TAG_SPHERE_ON_PLANE_GRIP,
    TALI_TAG_SPHERE_ON_SPHERE_GRIP,
    TALI_TAG_LINE_ON_LINE_GRIP,
    TALI_TAG_POINT_OVER_PLANE,
    TALI_TAG_GRIP_ABOUT_AXIS,
    TALI_TAG_GRIP_ALONG_LINE,
    TALI_TAG_SPHERE_IN_SPHERE_CONTACT,
    TALI_TAG_SPHERE_IN_SPHERE_GRIP
};

typedef struct tali_constraint_builtin tali_constraint_builtin;

/// The equations: of a position row x, d and dd are perr, verr and aerr; of a velocity row d and dd
/// are verr and aerr; of an acceleration row dd is aerr. Forces as in tal_constraint_ops. Then the
/// same for changes: of a row `by` counts, forces are changes of forces.
typedef struct tali_constraint_equations {
    void (*calc_rows)(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[]);
    void (*add_forces)(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                       const double lambda[], tal_spatial_vec F[], double f[]);
    /// NULL: changes are found by differences.
    void (*calc_rows_change)(const tali_constraint_builtin *self,
                             const tali_constraint_changing_arg *arg, tali_jet_changing row[]);
    void (*add_forces_change)(const tali_constraint_builtin *self,
                              const tali_constraint_changing_arg *arg, const double lambda[],
                              tal_spatial_vec F[], double f[]);
} tali_constraint_equations;

/// The name of a function among the equations of a kind of constraint, which are compiled twice:
/// for errors and forces, and for their changes (constraint_equations.h).
#define TALI_EQUATION(name) name

/// Both sets.
#define TALI_EQUATION_SET(rows, forces)                                                            \
    {                                                                                              \
        rows, forces, rows##_change, forces##_change                                               \
    }

/// The `self` of a built-in constraint.
struct tali_constraint_builtin {
    tal_allocator allocator;
    tali_constraint_equations equations;
    int mp, mv, ma;
    const void *kind; ///< what a family of constraints needs to tell its members apart
    tal_function *f;  ///< of a coupler; owned
    int num_speeds;   ///< how many of its arguments are speeds
};

/// Add a constraint with a `self` like this one: equations, kind, f and num_speeds count. f is
/// adopted. Of the table what comes from the equations is filled in: errors on all levels,
/// forces, changes, and how `self` is destroyed.
tal_constraint_ix tali_constraint_add_builtin(tal_matter *matter, const tal_constraint_def *def,
                                              const tal_constraint_ops *ops,
                                              const tali_constraint_builtin *like,
                                              const double params[]);

/// The normal of a point on a plane: a contact without friction, which knows the whole frame of the
/// plane.
tal_constraint_ix tali_constraint_add_point_over_plane(tal_matter *matter,
                                                       const tal_constraint_def *def,
                                                       const tal_xform *plane, tal_vec3 station);

/// Sphere 2 inside sphere 1: the distance of the centers less the difference of the radii, or the
/// slip as of two spheres.
tal_constraint_ix tali_constraint_add_sphere_in_sphere(tal_matter *matter,
                                                       const tal_constraint_def *def, bool is_grip,
                                                       tal_vec3 center1, double radius1,
                                                       tal_vec3 center2, double radius2);

/// @name Grips of unilateral elements: contacts without their normal row, two equations along which
/// body 2 slips over body 1. That of a point is on positions: they are zero where the two
/// parameters from TALI_CONSTRAINT_POINT_GRIP_ANCHOR on say.
/// @{
enum {
    TALI_CONSTRAINT_POINT_GRIP_ANCHOR = TAL_POINT_ON_PLANE_NUM_PARAMS,
    TALI_CONSTRAINT_LINE_GRIP_ANCHOR = 9
};

tal_constraint_ix tali_constraint_add_point_on_plane_grip(tal_matter *matter,
                                                          const tal_constraint_def *def,
                                                          const tal_xform *plane, tal_vec3 station);
tal_constraint_ix tali_constraint_add_sphere_on_plane_grip(tal_matter *matter,
                                                           const tal_constraint_def *def,
                                                           const tal_xform *plane, tal_vec3 center,
                                                           double radius);
tal_constraint_ix tali_constraint_add_sphere_on_sphere_grip(tal_matter *matter,
                                                            const tal_constraint_def *def,
                                                            tal_vec3 center1, double radius1,
                                                            tal_vec3 center2, double radius2);
tal_constraint_ix tali_constraint_add_line_on_line_grip(tal_matter *matter,
                                                        const tal_constraint_def *def,
                                                        const tal_xform *edge1,
                                                        const tal_xform *edge2);
/// One equation on velocities: how fast body 2 turns about an axis of body 1, relative to it.
tal_constraint_ix tali_constraint_add_grip_about_axis(tal_matter *matter,
                                                      const tal_constraint_def *def, tal_vec3 axis);
/// One equation on positions: how far a station of body 2 is along a line of body 1, less the
/// parameter TALI_CONSTRAINT_LINE_GRIP_ANCHOR.
tal_constraint_ix tali_constraint_add_grip_along_line(tal_matter *matter,
                                                      const tal_constraint_def *def,
                                                      tal_vec3 direction, tal_vec3 point,
                                                      tal_vec3 station);
/// @}

/// Is this the table of a built-in constraint, and its `self` a tali_constraint_builtin?
bool tali_constraint_is_builtin(const tal_constraint_ops *ops);

/// Refuse a constraint that was given a NULL where a frame or a function belongs.
tal_constraint_ix tali_constraint_refuse_null(tal_matter *matter, const char *kind);

/// Whether the constrained mobilities from `first` to before `end` have coordinates with qdot = u.
/// If not, the System remembers the failure; indices that name nothing are left to
/// tal_matter_add_constraint().
bool tali_constraint_have_coordinates(tal_matter *matter, const tal_constraint_def *def, int first,
                                      int end);

/// @name Turns, in A: rotation vectors that take what should be to what is
/// @{
tal_vec3 tali_constraint_turn_of_frames(const tal_constraint_arg *arg, tal_mat3 R_1, tal_mat3 R_2);
tal_vec3 tali_constraint_turn_of_axes(tal_vec3 should, tal_vec3 is);
/// @}

/// @name Checks of parameters. The sentence has the number that is wrong.
/// @{
tal_status tali_constraint_check_direction(const double v[3], const char *subject, tal_error *err);
tal_status tali_constraint_check_positive(double value, const char *subject, tal_error *err);
tal_status tali_constraint_check_rotation(const double R[9], const char *subject, tal_error *err);
tal_status tali_constraint_check_two_frames(const double params[24], tal_error *err);

/// @}

/// @name Vectors and frames among the parameters
/// @{
static inline tal_vec3 tali_constraint_v3_from(const double v[3])
{
    return tal_v3(v[0], v[1], v[2]);
}

static inline tal_vec3 tali_constraint_unit_from(const double v[3])
{
    return tal_v3_normalize(tali_constraint_v3_from(v));
}

static inline void tali_constraint_v3_to(tal_vec3 v, double out[3])
{
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

static inline tal_mat3 tali_constraint_rotation_from(const double R[9])
{
    return tal_m3(tali_constraint_v3_from(R), tali_constraint_v3_from(R + 3),
                  tali_constraint_v3_from(R + 6));
}

static inline void tali_constraint_rotation_to(tal_mat3 R, double out[9])
{
    tali_constraint_v3_to(R.x, out), tali_constraint_v3_to(R.y, out + 3),
        tali_constraint_v3_to(R.z, out + 6);
}

static inline tal_xform tali_constraint_frame_from(const double X[12])
{
    return tal_xf(tali_constraint_rotation_from(X), tali_constraint_v3_from(X + 9));
}

static inline void tali_constraint_frame_to(const tal_xform *X, double out[12])
{
    tali_constraint_rotation_to(X->R, out), tali_constraint_v3_to(X->p, out + 9);
}

/// @}

#endif // TALUS_CONSTRAINT_BUILTIN_INTERNAL_H
