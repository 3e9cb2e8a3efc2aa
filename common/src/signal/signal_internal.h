// What the files of this room share: checks of data, and what is beyond their ends.
#ifndef TALUS_SIGNAL_INTERNAL_H
#define TALUS_SIGNAL_INTERNAL_H

#include "error_internal.h"

#include <talus/common/signal.h>

/// TAL_OK, or TAL_ERR_NULL and a broken contract of `where` saying that `subject` is NULL.
tal_status tali_signal_check_pointer(const void *pointer, const char *subject, const char *where,
                                     tal_error *err);

/// TAL_OK, or TAL_ERR_NOT_FINITE naming `subject`, the index and the value.
tal_status tali_signal_check_finite(const double values[], size_t count, const char *subject,
                                    const char *where, tal_error *err);

/// TAL_OK when there are `least` times or more, all finite and increasing.
tal_status tali_signal_check_times(const double times[], int count, int least, const char *where,
                                   tal_error *err);

/// tal_signal_pad() with arguments that are known to be right.
void tali_signal_pad(const double y[], int count, int pad, double longer[]);

#endif // TALUS_SIGNAL_INTERNAL_H
