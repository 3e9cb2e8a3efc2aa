// Sines and cosines of many angles at a time: the one kernel whose lanes are angles, so here wide
// registers pay.
#include "kernel_set.h"
#include "sincos.h"

// The sign bit of what is left to SINCOS_MAX tells of angles beyond it, which are rare.
static void sines_and_cosines(int n, const double angle[], double s[], double c[])
{
    const int whole = tali_whole_lanes(n);
    uint64_t left = 0;
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

void TALI_KERNEL(sincos)(tali_sweeps *out)
{
    out->sincos = sines_and_cosines;
}
