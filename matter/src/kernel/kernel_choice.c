// Which sets of kernels a machine can run, and which is best (ADR 20).
#include "kernel/kernel_begin.h"
#include "kernel/kernel_set.h"
#include "kernel/lanes_internal.h"

#include <talus/matter/model.h>

#define FILL(file, set) tali_kernel_##file##_##set(out);

static void fill_any(tali_passes *out)
{
    TALI_FOR_KERNELS(FILL, any)
}

#ifdef TALUS_DISPATCH

static void fill_avx2(tali_passes *out)
{
    TALI_FOR_KERNELS(FILL, avx2)
}

static void fill_avx512(tali_passes *out)
{
    TALI_FOR_KERNELS(FILL, avx512)
}

// The features that cmake/TalusKernels.cmake names for each set, as far as the system lets them be
// used.
static bool can_run(tali_kernel_processor processor)
{
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool has_avx512 = __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512dq");
    return processor == TALI_PROCESSOR_AVX512 ? has_avx2 && has_avx512 : has_avx2;
}

bool tali_passes_for(tali_kernel_processor processor, tali_passes *out)
{
    fill_any(out);
    if (processor == TALI_PROCESSOR_ANY) return true;
    if (!can_run(processor)) return false;
    if (processor == TALI_PROCESSOR_AVX2) {
        fill_avx2(out);
    } else {
        fill_avx512(out);
    }
    return true;
}

void tali_kernel_lanes_lanes4(tali_kernel_lanes *out);
void tali_kernel_lanes_lanes8(tali_kernel_lanes *out);

bool tali_kernel_lanes_of(int width, tali_kernel_lanes *out)
{
    *out = (tali_kernel_lanes){.width = 1};
    if (width == 4 && can_run(TALI_PROCESSOR_AVX2)) tali_kernel_lanes_lanes4(out);
    if (width == 8 && can_run(TALI_PROCESSOR_AVX512)) tali_kernel_lanes_lanes8(out);
    return out->width == width;
}

#else

bool tali_passes_for(tali_kernel_processor processor, tali_passes *out)
{
    fill_any(out);
    return processor == TALI_PROCESSOR_ANY;
}

bool tali_kernel_lanes_of(int width, tali_kernel_lanes *out)
{
    *out = (tali_kernel_lanes){.width = 1};
    return width == 1;
}

#endif

tali_kernel_lanes tali_kernel_lanes_best(void)
{
    tali_kernel_lanes lanes;
    if (!tali_kernel_lanes_of(8, &lanes)) (void)tali_kernel_lanes_of(4, &lanes);
    return lanes;
}

// The passes for this machine, and which they are.
static tali_kernel_processor choose(tali_passes *out)
{
    int p = TALI_NUM_PROCESSORS - 1;
    while (!tali_passes_for((tali_kernel_processor)p, out)) {
        --p; // the set for any processor always exists
    }
    return (tali_kernel_processor)p;
}

tali_passes tali_passes_best(void)
{
    tali_passes passes;
    (void)choose(&passes);
    return passes;
}

// The instructions that this file is compiled with are those of the set for any processor.
#ifdef HAS_FMA
#define BARE "fma"
#else
#define BARE "any"
#endif

const char *tal_matter_kernel_set(void)
{
    static const char *const names[TALI_NUM_PROCESSORS] = {BARE, "avx2", "avx512"};
    tali_passes passes;
    return names[choose(&passes)];
}
