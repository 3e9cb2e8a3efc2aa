// Writing a model file: what its parts share.
#ifndef TALUS_IO_MODEL_WRITE_INTERNAL_H
#define TALUS_IO_MODEL_WRITE_INTERNAL_H

#include "model_internal.h"

/// A model on its way to a text.
typedef struct tali_writer {
    tal_model model;
    tali_sink out;
    tal_error *err;
    tal_status status;
} tali_writer;

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

/// The row of what the API calls `kind`; NULL when there is none.
const tali_row *tali_row_of_kind(tali_group group, const char *kind);

const char *tali_write_body_name(const tali_writer *w, int body);

#endif // TALUS_IO_MODEL_WRITE_INTERNAL_H
