// Writing a model file: what its parts share.
#ifndef TALUS_IO_MODEL_WRITE_INTERNAL_H
#define TALUS_IO_MODEL_WRITE_INTERNAL_H

#include "model_internal.h"

#include <string.h>

/// A model on its way to a text.
typedef struct tali_writer {
    tal_model model;
    const tal_model_registry *registry; ///< may be NULL
    tal_force_ix gravity;               ///< `i` < 0: there is none
    tali_sink out;
    tal_error *err;
    tal_status status;
} tali_writer;

/// Values of one element, in the order of its row: room for all that any has.
typedef struct tali_slots {
    double p[TALI_BODY_NUMBERS + TAL_MODEL_MAX_ATTRIBUTES * TAL_MODEL_MAX_NUMBERS];
    int ref[TALI_BODY_REFS + 2 * TAL_MODEL_MAX_ATTRIBUTES];
    const char *text[3 + TAL_MODEL_MAX_ATTRIBUTES];
    tali_list lists[TALI_BODY_LISTS + TAL_MODEL_MAX_ATTRIBUTES];
    tali_room at; ///< how much of it is used, where values of a user's own are added
} tali_slots;

static inline tali_item tali_slots_item(tali_slots *slots, const tali_row *row, const char *name)
{
    return (tali_item){.row = row,
                       .name = name,
                       .p = slots->p,
                       .ref = slots->ref,
                       .text = slots->text,
                       .lists = slots->lists};
}

/// A frame as twelve numbers.
static inline void tali_frame_to(const tal_xform *X, double p[12])
{
    memcpy(p, &X->R, 9 * sizeof *p);
    memcpy(p + 9, &X->p, 3 * sizeof *p);
}

/// Refuse to write something. The first failure wins.
void tali_write_refuse(tali_writer *w, const char *fmt, ...) TAL_PRINTF(2, 3);

/// Text as the value of an attribute.
void tali_write_text(tali_writer *w, const char *text);

/// Numbers with blanks between them.
void tali_write_numbers(tali_writer *w, const double values[], int count);

/// An attribute with numbers that stand `stride` apart.
void tali_write_list(tali_writer *w, const char *name, const double *values, int count, int stride);

/// A tag with all its attributes; its end is left to the caller. References are indices of bodies and
/// measures here.
void tali_write_tag(tali_writer *w, const tali_item *item);

/// A function and those it is made of.
void tali_write_function(tali_writer *w, const tal_function *root, const char *whose);

/// Why an element is refused that is a table of a user's.
#define TALI_NOT_REGISTERED                                                                        \
    "which no file can describe unless it is registered (talus/io/registry.h)"

/// The row of what the API calls `kind`; NULL when there is none.
const tali_row *tali_row_of_kind(tali_group group, const char *kind);

const char *tali_write_body_name(const tali_writer *w, int body);

/// @name One element each
/// @{
void tali_write_body(tali_writer *w, tal_body_ix body);
void tali_write_constraint(tali_writer *w, tal_constraint_ix constraint);
void tali_write_motion(tali_writer *w, tal_motion_ix motion);
void tali_write_force(tali_writer *w, tal_force_ix force);
/// @}

/// The end of a tag, with a function in it where there is one.
void tali_write_end(tali_writer *w, const tali_row *row, const tal_function *f, const char *whose);

/// @name Elements of a user's own
/// @{

/// What is registered for a table; NULL when nothing is.
const tal_model_element *tali_registered(const tali_writer *w, tal_model_place place,
                                         const void *ops);
const tal_model_element *tali_registered_measure(const tali_writer *w, tal_measure_ix measure,
                                                 const void **self);

/// Ask for the values of an element, which come behind those in `to`. False, and refused, on failure.
bool tali_describe(tali_writer *w, const tal_model_element *element, int index, const void *self,
                   const char *name, const tali_own_row *own, tali_slots *to);

/// Write its tag, but for the end; `to` has what all elements of its place have. False, and refused, on failure.
bool tali_write_own(tali_writer *w, const tal_model_element *element, int index, const void *self,
                    const char *name, tali_slots *to);
/// @}

#endif // TALUS_IO_MODEL_WRITE_INTERNAL_H
