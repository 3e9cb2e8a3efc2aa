// Bytes in fewer bytes.
#ifndef TALUS_CLI_PLOT_PACKED_H
#define TALUS_CLI_PLOT_PACKED_H

#include "text/bytes.h"

// In the format of zlib, which PNG and PDF have inside; owned by the caller.
cli_bytes packed_bytes(const void *data, size_t size);

// The checksum of PNG over bytes that follow those of `before`; 0 at first.
unsigned long packed_checksum(unsigned long before, const void *data, size_t size);

#endif // TALUS_CLI_PLOT_PACKED_H
