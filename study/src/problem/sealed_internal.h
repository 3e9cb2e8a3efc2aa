// Bytes that are saved begin with a seal: what they are, for whom, and a checksum.
#ifndef TALUS_SEALED_INTERNAL_H
#define TALUS_SEALED_INTERNAL_H

#include "error_internal.h"

#include <stddef.h>
#include <stdint.h>

typedef struct tali_seal {
    char magic[8];       // what it is
    uint32_t byte_order; // reads 1 on a machine of the same byte order
    uint32_t version;    // of the format
    uint64_t identity;   // whose it is
    uint64_t size;       // of all, this seal included
    uint64_t checksum;
} tali_seal;

/// Write the seal at the start of bytes that are complete except for it.
void tali_seal_bytes(void *bytes, size_t size, const char magic[8], uint32_t version,
                     uint64_t identity);

/// Are they what they should be, whole and undamaged? Otherwise TAL_ERR_FILE.
tal_status tali_seal_check(const void *bytes, size_t size, const char magic[8], uint32_t version,
                           tal_error *err);

/// Whose bytes they are, once the seal is checked.
uint64_t tali_sealed_identity(const void *bytes);

#endif // TALUS_SEALED_INTERNAL_H
