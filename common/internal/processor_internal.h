// Which of the processors that kernels are compiled for a machine is (ADR 20).
#ifndef TALUS_PROCESSOR_INTERNAL_H
#define TALUS_PROCESSOR_INTERNAL_H

#include <stdbool.h>

typedef enum tali_processor {
    TALI_PROCESSOR_ANY,    ///< what the build is for
    TALI_PROCESSOR_AVX2,   ///< with fused multiply-adds
    TALI_PROCESSOR_AVX512, ///< and twice as many registers
    TALI_NUM_PROCESSORS
} tali_processor;

/// Whether this machine runs what is compiled for a processor: the features that
/// cmake/TalusKernels.cmake names for each, as far as the system lets them be used. Only the first
/// in builds for one machine.
static inline bool tali_processor_is_here(tali_processor processor)
{
    if (processor == TALI_PROCESSOR_ANY) return true;
#ifdef TALUS_DISPATCH
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool has_avx512 = __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512dq");
    return processor == TALI_PROCESSOR_AVX512 ? has_avx2 && has_avx512 : has_avx2;
#else
    return false;
#endif
}

#endif // TALUS_PROCESSOR_INTERNAL_H
