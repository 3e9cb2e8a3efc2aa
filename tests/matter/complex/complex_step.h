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

// --- vec.h, rotation.h, spatial.h, inertia.h ---

#define TALUS_COMMON_VEC_H
#define TALUS_COMMON_ROTATION_H
#define TALUS_COMMON_SPATIAL_H
#define TALUS_COMMON_INERTIA_H

typedef struct tal_vec3 {
    real x, y, z;
} tal_vec3;

typedef struct tal_mat3 {
    tal_vec3 x, y, z;
} tal_mat3;

typedef struct tal_sym3 {
    real xx, yy, zz, xy, xz, yz;
} tal_sym3;

typedef struct tal_quat {
    real w, x, y, z;
} tal_quat;

typedef struct tal_xform {
    tal_mat3 R;
    tal_vec3 p;
} tal_xform;

typedef struct tal_spatial_vec {
    tal_vec3 w, v;
} tal_spatial_vec;

typedef struct tal_mass_props {
    real mass;
    tal_vec3 com;
    tal_sym3 inertia;
} tal_mass_props;

typedef struct tal_abi {
    tal_sym3 J;
    tal_mat3 F;
    tal_sym3 M;
} tal_abi;

typedef enum tal_axis {
    TAL_AXIS_X,
    TAL_AXIS_Y,
    TAL_AXIS_Z
} tal_axis;

static const tal_vec3 TAL_VEC3_ZERO = {0.0, 0.0, 0.0};
static const tal_mat3 TAL_MAT3_ZERO = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
#define TAL_MAT3_IDENTITY                                                                          \
    {                                                                                              \
        {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0},                                                          \
        {                                                                                          \
            0.0, 0.0, 1.0                                                                          \
        }                                                                                          \
    }
static const tal_sym3 TAL_SYM3_ZERO = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
#define TAL_SPATIAL_VEC_ZERO                                                                       \
    {                                                                                              \
        {0.0, 0.0, 0.0},                                                                           \
        {                                                                                          \
            0.0, 0.0, 0.0                                                                          \
        }                                                                                          \
    }

static inline tal_mat3 tal_m3_cross(tal_vec3 v)
{
    return (tal_mat3){{0.0, v.z, -v.y}, {-v.z, 0.0, v.x}, {v.y, -v.x, 0.0}};
}

static inline tal_mat3 tal_m3_transpose(tal_mat3 A)
{
    return (tal_mat3){{A.x.x, A.y.x, A.z.x}, {A.x.y, A.y.y, A.z.y}, {A.x.z, A.y.z, A.z.z}};
}

static inline tal_mat3 tal_m3_from_s3(tal_sym3 S)
{
    return (tal_mat3){{S.xx, S.xy, S.xz}, {S.xy, S.yy, S.yz}, {S.xz, S.yz, S.zz}};
}

static inline tal_sym3 tal_s3_from_m3(tal_mat3 A)
{
    return (tal_sym3){A.x.x, A.y.y, A.z.z, A.y.x, A.z.x, A.z.y};
}

static inline tal_vec3 tal_v3_add(tal_vec3 a, tal_vec3 b)
{
    return (tal_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline tal_vec3 tal_v3_scale(real s, tal_vec3 a)
{
    return (tal_vec3){s * a.x, s * a.y, s * a.z};
}

static inline tal_vec3 tal_v3_cross(tal_vec3 a, tal_vec3 b)
{
    return (tal_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline tal_vec3 tal_m3_mul_v3(tal_mat3 A, tal_vec3 v)
{
    return tal_v3_add(tal_v3_scale(v.x, A.x),
                      tal_v3_add(tal_v3_scale(v.y, A.y), tal_v3_scale(v.z, A.z)));
}

static inline tal_spatial_vec tal_sv_neg(tal_spatial_vec V)
{
    return (tal_spatial_vec){tal_v3_scale(-1.0, V.w), tal_v3_scale(-1.0, V.v)};
}

static inline tal_sym3 tal_s3_add(tal_sym3 S, tal_sym3 T)
{
    return (tal_sym3){S.xx + T.xx, S.yy + T.yy, S.zz + T.zz, S.xy + T.xy, S.xz + T.xz, S.yz + T.yz};
}

static inline tal_mat3 tal_m3_outer(tal_vec3 a, tal_vec3 b)
{
    return (tal_mat3){tal_v3_scale(b.x, a), tal_v3_scale(b.y, a), tal_v3_scale(b.z, a)};
}

static inline tal_abi tal_abi_outer(tal_spatial_vec g, tal_spatial_vec u)
{
    return (tal_abi){tal_s3_from_m3(tal_m3_outer(g.w, u.w)), tal_m3_outer(g.w, u.v),
                     tal_s3_from_m3(tal_m3_outer(g.v, u.v))};
}

// All of the 21 numbers.
static inline tal_abi tal_abi_sub(tal_abi P, tal_abi Q)
{
    real *p = &P.J.xx, *q = &Q.J.xx;
    for (size_t i = 0; i < sizeof P / sizeof *p; ++i) {
        p[i] -= q[i];
    }
    return P;
}

#endif // TALUS_COMPLEX_STEP_H
