// Which of the kernels a machine can run, and which is best (ADR 20).
#include "kernel/kernel_internal.h"

void tali_kernel_pairs_any(tali_kernels *out);
void tali_kernel_pairs_avx2(tali_kernels *out);
void tali_kernel_pairs_avx512(tali_kernels *out);

bool tali_kernels_for(tali_processor processor, tali_kernels *out)
{
    if (!tali_processor_is_here(processor)) return false;
    tali_kernel_pairs_any(out);
#ifdef TALUS_DISPATCH
    if (processor == TALI_PROCESSOR_AVX512) tali_kernel_pairs_avx512(out);
    if (processor == TALI_PROCESSOR_AVX2) tali_kernel_pairs_avx2(out);
#endif
    return true;
}

tali_kernels tali_kernels_best(void)
{
    tali_kernels kernels;
    int p = TALI_NUM_PROCESSORS - 1;
    while (!tali_kernels_for((tali_processor)p, &kernels)) {
        --p; // those for any processor always exist
    }
    return kernels;
}

bool tali_kernel_knows(const tali_term_pairs *pairs)
{
    return pairs->set.dielectric != TAL_DIELECTRIC_DEBYE;
}
