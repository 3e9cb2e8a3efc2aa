// The kernel files fill a table with their passes. Each file is compiled for several processors,
// and the functions that fill the table are named for them.
#ifndef TALUS_KERNEL_SET_H
#define TALUS_KERNEL_SET_H

#include "kernel/passes_internal.h"

/// Every kernel file, in turn.
// clang-format off
#define TALI_FOR_KERNELS(do_for, set) \
    do_for(sincos, set)               \
    do_for(kinematics, set)           \
    do_for(articulated, set)          \
    do_for(dynamics, set)             \
    do_for(particle, set)             \
    do_for(inverse, set)              \
    do_for(composite, set)            \
    do_for(jacobian, set)             \
    do_for(outboard, set)             \
    do_for(slopes, set)               \
    do_for(slope_matrices, set)       \
    do_for(slope_steps, set)          \
    do_for(inverse_columns, set)
// clang-format on

/// Those that are compiled over lanes, too.
// clang-format off
#define TALI_FOR_LANES(do_for, argument) \
    do_for(sincos, argument)             \
    do_for(kinematics, argument)         \
    do_for(articulated, argument)        \
    do_for(dynamics, argument)           \
    do_for(particle, argument)           \
    do_for(outboard, argument)
// clang-format on

#define TALI_DECLARE_KERNEL(file, set) void tali_kernel_##file##_##set(tali_passes *out);

TALI_FOR_KERNELS(TALI_DECLARE_KERNEL, any)
TALI_FOR_KERNELS(TALI_DECLARE_KERNEL, avx2)
TALI_FOR_KERNELS(TALI_DECLARE_KERNEL, avx512)
TALI_FOR_LANES(TALI_DECLARE_KERNEL, lanes4)
TALI_FOR_LANES(TALI_DECLARE_KERNEL, lanes8)

/// The set that a kernel file is being compiled for. The build says which, if not for any
/// processor.
#ifndef TALI_KERNEL_SET
#define TALI_KERNEL_SET any
#endif

#define TALI_KERNEL_JOIN(file, set)   tali_kernel_##file##_##set
#define TALI_KERNEL_EXPAND(file, set) TALI_KERNEL_JOIN(file, set)

/// The name of the function by which a kernel file fills its part of the table.
#define TALI_KERNEL(file) TALI_KERNEL_EXPAND(file, TALI_KERNEL_SET)

#endif // TALUS_KERNEL_SET_H
