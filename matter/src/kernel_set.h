// The kernel files fill a table with their sweeps. Each file is compiled for several processors, and
// the functions that fill the table are named for them.
#ifndef TALUS_KERNEL_SET_H
#define TALUS_KERNEL_SET_H

#include "sweeps_internal.h"

/// One declaration for each kernel file.
#define TALI_DECLARE_KERNELS(set)                                                                  \
    void tali_kernel_sincos_##set(tali_sweeps *out);                                               \
    void tali_kernel_kinematics_##set(tali_sweeps *out);                                           \
    void tali_kernel_dynamics_##set(tali_sweeps *out);                                             \
    void tali_kernel_particle_##set(tali_sweeps *out);                                             \
    void tali_kernel_inverse_##set(tali_sweeps *out);                                              \
    void tali_kernel_composite_##set(tali_sweeps *out);                                            \
    void tali_kernel_jacobian_##set(tali_sweeps *out);                                             \
    void tali_kernel_outboard_##set(tali_sweeps *out)

TALI_DECLARE_KERNELS(any);
TALI_DECLARE_KERNELS(avx2);
TALI_DECLARE_KERNELS(avx512);

/// The set that a kernel file is being compiled for. The build says which, if not for any processor.
#ifndef TALI_KERNEL_SET
#define TALI_KERNEL_SET any
#endif

#define TALI_KERNEL_JOIN(file, set)   tali_kernel_##file##_##set
#define TALI_KERNEL_EXPAND(file, set) TALI_KERNEL_JOIN(file, set)

/// The name of the function by which a kernel file fills its part of the table.
#define TALI_KERNEL(file) TALI_KERNEL_EXPAND(file, TALI_KERNEL_SET)

#endif // TALUS_KERNEL_SET_H
