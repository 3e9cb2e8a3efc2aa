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

bool tali_passes_for(tali_processor processor, tali_passes *out)
{
    fill_any(out);
    if (processor == TALI_PROCESSOR_ANY) return true;
    if (!tali_processor_is_here(processor)) return false;
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
    if (width == 4 && tali_processor_is_here(TALI_PROCESSOR_AVX2)) tali_kernel_lanes_lanes4(out);
    if (width == 8 && tali_processor_is_here(TALI_PROCESSOR_AVX512)) tali_kernel_lanes_lanes8(out);
    return out->width == width;
}

#else

bool tali_passes_for(tali_processor processor, tali_passes *out)
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
static tali_processor choose(tali_passes *out)
{
    int p = TALI_NUM_PROCESSORS - 1;
    while (!tali_passes_for((tali_processor)p, out)) {
        --p; // the set for any processor always exists
    }
    return (tali_processor)p;
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
