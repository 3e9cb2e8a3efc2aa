// Which of the kernels a machine can run, and which is best (ADR 20).
#include "kernel/kernel_internal.h"

void tali_lanes_pairs_any(tali_lanes_kernels *out);
void tali_lanes_pairs_avx2(tali_lanes_kernels *out);
void tali_lanes_pairs_avx512(tali_lanes_kernels *out);

bool tali_lanes_for(tali_processor processor, tali_lanes_kernels *out)
{
    if (!tali_processor_is_here(processor)) return false;
    tali_lanes_pairs_any(out);
#ifdef TALUS_DISPATCH
    if (processor == TALI_PROCESSOR_AVX512) tali_lanes_pairs_avx512(out);
    if (processor == TALI_PROCESSOR_AVX2) tali_lanes_pairs_avx2(out);
#endif
    return true;
}

tali_lanes_kernels tali_lanes_best(void)
{
    tali_lanes_kernels kernels;
    int p = TALI_NUM_PROCESSORS - 1;
    while (!tali_lanes_for((tali_processor)p, &kernels)) {
        --p; // those for any processor always exist
    }
    return kernels;
}

bool tali_lanes_knows(const tali_term_pairs *pairs)
{
    return pairs->set.dielectric != TAL_DIELECTRIC_DEBYE;
}
