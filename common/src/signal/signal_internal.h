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

/// The low-pass filter of OpenSim's computed muscle control: each sample becomes the mean of those
/// within 50 steps, weighted by sinc(2 pi f k / rate) (0.54 + 0.46 cos(pi k / 50)). Beyond the ends
/// samples go on by their image through the end point.
/// @param[out] work  [count] scratch
void tali_signal_fir(double rate, double cutoff, double y[], int count, double work[]);

#endif // TALUS_SIGNAL_INTERNAL_H
