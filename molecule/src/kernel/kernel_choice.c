// Which of the kernels a machine can run, and which is best (ADR 20).
#include "kernel/kernel_internal.h"

void tali_kernel_rows_any(tali_kernel_atoms *atoms, const tali_kernel_row rows[], int n);
void tali_kernel_rows_avx2(tali_kernel_atoms *atoms, const tali_kernel_row rows[], int n);
void tali_kernel_rows_avx512(tali_kernel_atoms *atoms, const tali_kernel_row rows[], int n);

tali_kernel_rows_fn tali_kernel_rows_for(tali_processor processor)
{
    if (!tali_processor_is_here(processor)) return NULL;
#ifdef TALUS_DISPATCH
    if (processor == TALI_PROCESSOR_AVX512) return tali_kernel_rows_avx512;
    if (processor == TALI_PROCESSOR_AVX2) return tali_kernel_rows_avx2;
#endif
    return tali_kernel_rows_any;
}

tali_kernel_rows_fn tali_kernel_rows_best(void)
{
    int p = TALI_NUM_PROCESSORS - 1;
    while (tali_kernel_rows_for((tali_processor)p) == NULL) {
        --p; // that for any processor always exists
    }
    return tali_kernel_rows_for((tali_processor)p);
}

bool tali_kernel_knows(const tali_term_pairs *pairs)
{
    return pairs->set.dielectric != TAL_DIELECTRIC_DEBYE;
}
