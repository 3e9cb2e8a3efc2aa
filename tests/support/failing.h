// Functions of the user's that fail on demand, at the n-th call of any of them. Include in one file
// of a test.
#ifndef TALUS_FAILING_H
#define TALUS_FAILING_H

#include <talus/common.h>

static struct {
    long calls;
    long fails_at;     ///< which call, from 1 on; 0: none
    bool stays;        ///< later calls fail, too
    const char *first; ///< the function that failed
} fault;

/// Count calls from here, and let the n-th fail.
static inline void fault_begin(long n, bool stays)
{
    fault.calls = 0;
    fault.fails_at = n;
    fault.stays = stays;
    fault.first = "nobody";
}

/// What such a function returns.
static inline tal_status may_fail(const char *function)
{
    ++fault.calls;
    if (fault.fails_at == 0) return TAL_OK;
    if (fault.calls == fault.fails_at) fault.first = function;
    const bool fails = fault.stays ? fault.calls >= fault.fails_at : fault.calls == fault.fails_at;
    return fails ? TAL_ERR_CALLBACK : TAL_OK;
}

#endif // TALUS_FAILING_H
