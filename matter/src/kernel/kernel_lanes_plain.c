// Sines and cosines for the kernels over lanes, by the functions of width 1: all lanes of many
// angles are many angles.
//
// Given    n angles
// Compute  their sines and cosines
//
// Source: kernel_sincos.c
#include "real_functions_internal.h"

#include "kernel/kernel_set.h"
#include "kernel/passes_internal.h"

#ifdef TALI_LANES_SET // lanes4 and lanes8, compiled with the features of avx2 and avx512

#define JOIN(file, set)   tali_kernel_##file##_##set
#define EXPAND(file, set) JOIN(file, set)

void EXPAND(plain_sines, TALI_LANES_SET)(int n, const double angle[], double s[], double c[]);
void EXPAND(plain_sine, TALI_LANES_SET)(const double angle[], double s[], double c[], int n);

void EXPAND(plain_sines, TALI_LANES_SET)(int n, const double angle[], double s[], double c[])
{
    tali_passes passes;
    TALI_KERNEL(sincos)(&passes);
    passes.sincos(n, angle, s, c);
}

void EXPAND(plain_sine, TALI_LANES_SET)(const double angle[], double s[], double c[], int n)
{
    for (int i = 0; i < n; ++i) {
        const sine_cosine turn = sincos_of(angle[i]);
        s[i] = turn.s, c[i] = turn.c;
    }
}

#endif
