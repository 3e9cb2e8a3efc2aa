// What a pass kernel is written in (ADR 26): `real` and the small types on it.
//
// At width 1 the small types are the public ones, so the caches that the passes fill can be read as
// they are.
#ifndef TALUS_KERNEL_BEGIN_H
#define TALUS_KERNEL_BEGIN_H

#include "real_internal.h"

#include <talus/common/inertia.h>

typedef tal_vec3 v3;
typedef tal_mat3 m3;
typedef tal_sym3 s3;
typedef tal_spatial_vec sv;
typedef tal_abi abi;

/// Before a loop whose iterations touch no number of each other, so that it can be vectorized where
/// the compiler cannot see it. Clang's word for this is an order, with a warning where it is not
/// obeyed, and it checks for overlap by itself.
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#endif // TALUS_KERNEL_BEGIN_H
