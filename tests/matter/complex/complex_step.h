// The pass kernels over complex numbers: a complex step of 1e-30 in one argument leaves its exact
// derivative in the imaginary parts (ADR 26).
//
// Forced before everything else, this header makes `double` complex in what follows: in the types
// of the layers and in the kernels, which are compiled as they are. It stands in for the headers
// whose functions compare numbers, and has only what kernels use of them.
#ifndef TALUS_COMPLEX_STEP_H
#define TALUS_COMPLEX_STEP_H

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double plain;
typedef double _Complex complex_number;

#define double complex_number
#undef isfinite
#define isfinite(x) (__real__(x) - __real__(x) == 0.0)

// --- real_internal.h and real_functions_internal.h ---

#define TALUS_REAL_INTERNAL_H
#define TALUS_REAL_FUNCTIONS_INTERNAL_H
#include <talus/common/status.h>

typedef complex_number real;
typedef bool mask;

static inline complex_number complex_of(plain re, plain im)
{
    complex_number z = re;
    __imag__ z = im;
    return z;
}

static inline real spread(real x)
{
    return x;
}

static inline mask everywhere(bool holds)
{
    return holds;
}

static inline mask both(mask a, mask b)
{
    return a && b;
}

static inline bool all(mask which)
{
    return which;
}

static inline mask less(real a, real b)
{
    return __real__ a < __real__ b;
}

static inline real pick(mask which, real yes, real no)
{
    return which ? yes : no;
}

static inline real fused(real a, real b, real c)
{
    return a * b + c;
}

typedef struct sine_cosine {
    real s, c;
} sine_cosine;

// The imaginary part is so small that its square is nothing.
static inline sine_cosine sincos_of(real x)
{
    const plain re = __real__ x, im = __imag__ x;
    return (sine_cosine){complex_of(sin(re), im * cos(re)), complex_of(cos(re), -im * sin(re))};
}

#include "kernel/number_types.h"

#endif // TALUS_COMPLEX_STEP_H
