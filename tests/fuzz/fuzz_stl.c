// What libFuzzer calls: any bytes as an .stl file, binary or text.
#include "fuzz_soup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_soup(tali_soup_read_stl, data, size);
}
