// What every reader asks of its caller.
#ifndef TALUS_IO_READING_INTERNAL_H
#define TALUS_IO_READING_INTERNAL_H

#include "error_internal.h"

#include <stddef.h>

/// A name, a text and a place for the result; a breach in the name of `where` when one is NULL.
static inline tal_status tali_check_reading(const char *name, const void *text, const void *result,
                                            const char *where)
{
    if (name != NULL && text != NULL && result != NULL) return TAL_OK;
    return tali_breach(TAL_ERR_NULL, where, "%s is NULL",
                       name == NULL   ? "the name"
                       : text == NULL ? "the text"
                                      : "the result");
}

#endif // TALUS_IO_READING_INTERNAL_H
