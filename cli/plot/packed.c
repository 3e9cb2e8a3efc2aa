// Bytes in fewer bytes, by zlib.
#include "plot/packed.h"

#include <zlib.h>

cli_bytes packed_bytes(const void *data, size_t size)
{
    uLongf length = compressBound((uLong)size);
    cli_bytes out = {.data = cli_alloc(length, 1), .capacity = length};
    const int st = compress2((Bytef *)out.data, &length, data, (uLong)size, 9);
    if (st != Z_OK) (void)cli_need(NULL); // the only way to fail here: no memory
    out.size = length;
    return out;
}

unsigned long packed_checksum(unsigned long before, const void *data, size_t size)
{
    return crc32(before, data, (uInt)size);
}
