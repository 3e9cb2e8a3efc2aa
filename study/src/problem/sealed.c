// Bytes that are saved begin with a seal: what they are, for whom, and a checksum.
#include "hash_internal.h"

#include "problem/sealed_internal.h"

#include <string.h>

// The checksum covers the seal, with that field zero, and all bytes after it.
static uint64_t checksum(tali_seal seal, const void *bytes, size_t size)
{
    seal.checksum = 0;
    const uint64_t hash = tali_hash(TALI_HASH_SEED, &seal, sizeof seal);
    return tali_hash(hash, (const char *)bytes + sizeof seal, size - sizeof seal);
}

void tali_seal_bytes(void *bytes, size_t size, const char magic[8], uint32_t version,
                     uint64_t identity)
{
    tali_seal seal = {
        .byte_order = 1, .version = version, .identity = identity, .size = (uint64_t)size};
    memcpy(seal.magic, magic, sizeof seal.magic);
    seal.checksum = checksum(seal, bytes, size);
    memcpy(bytes, &seal, sizeof seal);
}

tal_status tali_seal_check(const void *bytes, size_t size, const char magic[8], uint32_t version,
                           tal_error *err)
{
    tali_seal seal;
    if (size < sizeof seal) {
        return TALI_FAIL(err, TAL_ERR_FILE, "truncated: %zu bytes are less than a header", size);
    }
    memcpy(&seal, bytes, sizeof seal);
    if (memcmp(seal.magic, magic, sizeof seal.magic) != 0) {
        return TALI_FAIL(err, TAL_ERR_FILE,
                         "these bytes were not saved by the same kind of object");
    }
    if (seal.byte_order != 1 || seal.version != version) {
        return TALI_FAIL(err, TAL_ERR_FILE,
                         "saved with another byte order, or in a format version other than %u",
                         (unsigned)version);
    }
    if (seal.size != size) {
        return TALI_FAIL(err, TAL_ERR_FILE, "truncated or too long: %zu bytes instead of %llu",
                         size, (unsigned long long)seal.size);
    }
    if (seal.checksum != checksum(seal, bytes, size)) {
        return TALI_FAIL(err, TAL_ERR_FILE, "damaged: the checksum is wrong");
    }
    return TAL_OK;
}

uint64_t tali_sealed_identity(const void *bytes)
{
    tali_seal seal;
    memcpy(&seal, bytes, sizeof seal);
    return seal.identity;
}
