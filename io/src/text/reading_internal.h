// What every reader asks of its caller.
#ifndef TALUS_IO_READING_INTERNAL_H
#define TALUS_IO_READING_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <stddef.h>

/// A name, a text, a place for the result, and an allocator with functions (NULL: no options were
/// given); a breach in the name of `where` when one is missing.
static inline tal_status tali_reading_check(const char *name, const void *text, const void *result,
                                            const tal_allocator *allocator, const char *where)
{
    tal_allocator from;
    if (name != NULL && text != NULL && result != NULL) {
        return tali_alloc_choose(allocator, &from, where);
    }
    return tali_breach(TAL_ERR_NULL, where, "%s is NULL",
                       name == NULL   ? "the name"
                       : text == NULL ? "the text"
                                      : "the result");
}

#endif // TALUS_IO_READING_INTERNAL_H
