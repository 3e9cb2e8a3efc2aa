// Data: are they fit for use, and what is beyond their ends?
#include "signal/signal_internal.h"

#include <math.h>
#include <string.h>

tal_status tali_signal_check_pointer(const void *pointer, const char *subject, const char *where,
                                     tal_error *err)
{
    if (pointer != NULL) return TAL_OK;
    (void)tali_breach(TAL_ERR_NULL, where, "%s is NULL", subject);
    return tali_fail(err, TAL_ERR_NULL, where, "%s is NULL", subject);
}

tal_status tali_signal_check_finite(const double values[], size_t count, const char *subject,
                                    const char *where, tal_error *err)
{
    for (size_t i = 0; i < count; ++i) {
        if (isfinite(values[i])) continue;
        return tali_fail(err, TAL_ERR_NOT_FINITE, where, "%s[%zu] is %g: give finite numbers",
                         subject, i, values[i]);
    }
    return TAL_OK;
}

tal_status tali_signal_check_times(const double times[], int count, int least, const char *where,
                                   tal_error *err)
{
    if (count < least) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where, "%d samples are too few: give at least %d",
                         count, least);
    }
    const tal_status st = tali_signal_check_finite(times, (size_t)count, "times", where, err);
    for (int i = 1; i < count && st == TAL_OK; ++i) {
        if (times[i] > times[i - 1]) continue;
        return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                         "times[%d] = %.15g is not after times[%d] = %.15g: sort the rows and drop "
                         "repeats",
                         i, times[i], i - 1, times[i - 1]);
    }
    return st;
}

void tali_signal_pad(const double y[], int count, int pad, double longer[])
{
    memmove(longer + pad, y, (size_t)count * sizeof *y);
    for (int i = 0; i < pad; ++i) {
        longer[i] = 2.0 * y[0] - y[pad - i];
        longer[pad + count + i] = 2.0 * y[count - 1] - y[count - 2 - i];
    }
}

tal_status tal_signal_pad(const double y[], int count, int pad, double longer[])
{
    if (y == NULL || longer == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL", y == NULL ? "y" : "longer");
    }
    if (count < 1 || pad < 0 || pad >= count) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "cannot add %d samples at each end of %d", pad,
                           count);
    }
    tali_signal_pad(y, count, pad, longer);
    return TAL_OK;
}
