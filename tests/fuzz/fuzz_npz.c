// What libFuzzer calls: any bytes as a .npz archive.
#include "fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_table(TAL_TABLE_NPZ, data, size);
}
