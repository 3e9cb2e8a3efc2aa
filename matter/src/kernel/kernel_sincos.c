// Sines and cosines of many angles at a time: the one kernel whose lanes are angles, so here wide
// registers pay.
//
// Given    n angles
// Compute  their sines and cosines
//
// Source: real_functions_internal.h.
#include "real_functions_internal.h"

#include "kernel/kernel_begin.h"
#include "kernel/kernel_set.h"

// The sign bit of what is left to SINCOS_MAX shows angles beyond it, which are rare.
static void sines_and_cosines(int n, const double angle[], double s[], double c[])
{
    const int whole = tali_kernel_whole_lanes(n);
    real_bits left = 0;
    INDEPENDENT
    for (int i = 0; i < whole; ++i) {
        const sine_cosine t = sincos_below_max(angle[i]);
        s[i] = t.s, c[i] = t.c;
        left |= bits_of(SINCOS_MAX - fabs(angle[i]));
    }
    for (int i = 0; i < n && left >> 63 != 0; ++i) {
        const sine_cosine t = sincos_of(angle[i]);
        s[i] = t.s, c[i] = t.c;
    }
}

void TALI_KERNEL(sincos)(tali_passes *out)
{
    out->sincos = sines_and_cosines;
}
