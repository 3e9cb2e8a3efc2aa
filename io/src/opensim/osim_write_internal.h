// A System and a State on their way to an .osim file.
//
// Everything that such a file cannot say is reported, by name, in one pass; the text that is
// written meanwhile is thrown away then.
#ifndef TALUS_IO_OSIM_WRITE_INTERNAL_H
#define TALUS_IO_OSIM_WRITE_INTERNAL_H

#include "model/model_internal.h"
#include "text/name_map_internal.h"

#include <talus/io/opensim.h>

typedef struct tali_osim_writer {
    const tal_model *model;
    tali_model_sink out;
    int depth;              ///< of elements that are open
    tal_diagnostics *found; ///< gets what cannot be said
} tali_osim_writer;

/// Room for the name of a coordinate, or of anything else.
#define TALI_OSIM_NAME (TAL_COORDINATE_NAME_SIZE + 32)

// --- text (osim_write.c) ---

/// What a file cannot say: an error; what is left out and does not act: a warning.
void tali_osim_refuse(tali_osim_writer *w, const char *fmt, ...) TAL_PRINTF(2, 3);
void tali_osim_leave_out(tali_osim_writer *w, const char *fmt, ...) TAL_PRINTF(2, 3);

/// `<tag name="name">` and `</tag>`; a NULL name is none.
void tali_osim_open_tag(tali_osim_writer *w, const char *tag, const char *name);
void tali_osim_close_tag(tali_osim_writer *w, const char *tag);
/// `<tag>value</tag>`, by what the value is.
void tali_osim_put_text(tali_osim_writer *w, const char *tag, const char *text);
void tali_osim_put_bool(tali_osim_writer *w, const char *tag, bool value);
void tali_osim_put_numbers(tali_osim_writer *w, const char *tag, const double values[], int count);
void tali_osim_put_number(tali_osim_writer *w, const char *tag, double value);
void tali_osim_put_vec3(tali_osim_writer *w, const char *tag, tal_vec3 v);
/// A body's frame in a socket: "/bodyset/tibia_r", "/ground".
void tali_osim_put_body(tali_osim_writer *w, const char *tag, int body);
/// Angles and translation of a frame.
void tali_osim_put_frame(tali_osim_writer *w, const char *angles, const char *p, tal_xform X);
tal_vec3 tali_osim_angles_of(tal_mat3 R);
bool tali_osim_is_identity(const tal_xform *X);

// --- functions (osim_write_functions.c) ---

/// A function as an element, named `name`; `whose` stands in what is refused.
void tali_osim_put_function(tali_osim_writer *w, const tal_function *f, const char *name,
                            const char *whose);

// --- bodies (osim_write_bodies.c) ---

void tali_osim_write_bodies(tali_osim_writer *w);
void tali_osim_write_joints(tali_osim_writer *w);
/// The name of a coordinate, counted as with angles.
/// @param[out] name  [TALI_OSIM_NAME]
void tali_osim_coordinate_name(const tali_osim_writer *w, tal_mobility at, char name[]);
/// The path of a coordinate: "/jointset/knee_r/knee_angle_r".
/// @param[out] path  [3 * TALI_OSIM_NAME]
void tali_osim_coordinate_path(const tali_osim_writer *w, tal_mobility at, char path[]);
/// Whether a coordinate turns its body by a linear function of slope one: angles are in degrees
/// then where OpenSim wants that.
bool tali_osim_is_rotational(const tali_osim_writer *w, tal_mobility at);

// --- the rest ---

void tali_osim_write_constraints(tali_osim_writer *w);
void tali_osim_write_forces(tali_osim_writer *w);
void tali_osim_write_controllers(tali_osim_writer *w);
void tali_osim_write_geometries(tali_osim_writer *w);
/// The obstacles on a body.
void tali_osim_write_wraps(tali_osim_writer *w, int body);
/// The frames of points that move on a body.
void tali_osim_write_point_frames(tali_osim_writer *w, int body);
void tali_osim_write_path(tali_osim_writer *w, tal_path_ix path);
void tali_osim_write_muscle(tali_osim_writer *w, tal_force_ix muscle);
/// The tag that a muscle is written with.
const char *tali_osim_muscle_tag(const tal_forces *forces, tal_force_ix muscle);
/// A contact element and its surfaces, and a smooth contact.
void tali_osim_write_contact(tali_osim_writer *w, tal_force_ix contact);
void tali_osim_write_smooth_contact(tali_osim_writer *w, tal_force_ix contact);

#endif // TALUS_IO_OSIM_WRITE_INTERNAL_H
