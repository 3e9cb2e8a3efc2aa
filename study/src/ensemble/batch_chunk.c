// Chunks of a batch as bytes: a seal, a header, rows, statuses, and why samples failed.
#include "hash_internal.h"

#include "ensemble/batch_internal.h"
#include "problem/sealed_internal.h"

#include <string.h>

static const char MAGIC[8] = "TALCHNK";

enum {
    VERSION = 1
};

typedef struct header {
    tali_seal seal;
    int32_t index, first, n, row_size;
} header;

void tali_batch_place(const tal_batch *batch, int index, tali_batch_chunk *chunk)
{
    chunk->index = index;
    chunk->first = index * batch->chunk;
    const int left = batch->def.num_samples - chunk->first;
    chunk->n = left < batch->chunk ? left : batch->chunk;
}

static size_t size_of_rows(const tal_batch *batch, int n)
{
    return (size_t)n * (size_t)batch->def.row_size * sizeof(double);
}

// Bytes of a chunk of n samples, all of which fail with long sentences.
static size_t most_bytes(const tal_batch *batch, int n)
{
    const size_t sample = sizeof(int32_t) + sizeof(uint32_t) + sizeof((tal_error *)0)->message;
    return sizeof(header) + size_of_rows(batch, n) + (size_t)n * sample;
}

bool tali_batch_chunk_create(const tal_batch *batch, tali_batch_chunk *chunk)
{
    const size_t n = (size_t)batch->chunk;
    const tali_piece pieces[] = {
        {&chunk->results, size_of_rows(batch, batch->chunk)},
        {&chunk->status, n * sizeof *chunk->status},
        {&chunk->why, n * sizeof *chunk->why},
        {&chunk->bytes, most_bytes(batch, batch->chunk)},
    };
    chunk->block = tali_alloc_pieces(&batch->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                     &chunk->block_bytes);
    return chunk->block != NULL;
}

void tali_batch_chunk_destroy(const tal_batch *batch, tali_batch_chunk *chunk)
{
    tali_free(&batch->allocator, chunk->block, chunk->block_bytes);
}

static char *put(char *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

size_t tali_batch_encode(const tal_batch *batch, const tali_batch_chunk *chunk)
{
    header head;
    memset(&head, 0, sizeof head);
    head.index = chunk->index;
    head.first = chunk->first;
    head.n = chunk->n;
    head.row_size = batch->def.row_size;
    char *at = put(chunk->bytes, &head, sizeof head);
    at = put(at, chunk->results, size_of_rows(batch, chunk->n));
    for (int k = 0; k < chunk->n; ++k) {
        const int32_t status = (int32_t)chunk->status[k];
        at = put(at, &status, sizeof status);
    }
    for (int k = 0; k < chunk->n; ++k) {
        if (chunk->status[k] == TAL_OK) continue;
        const uint32_t length = (uint32_t)strlen(chunk->why[k].message);
        at = put(at, &length, sizeof length);
        at = put(at, chunk->why[k].message, length);
    }
    const size_t size = (size_t)(at - (char *)chunk->bytes);
    tali_seal_bytes(chunk->bytes, size, MAGIC, VERSION, batch->identity);
    return size;
}

// Bytes that are read one piece after the other; `left` is enough, or the piece is refused.
typedef struct reader {
    const char *at;
    size_t left;
} reader;

static bool take(reader *it, void *out, size_t size)
{
    if (size > it->left) return false;
    memcpy(out, it->at, size);
    it->at += size;
    it->left -= size;
    return true;
}

static bool take_reason(reader *it, tal_status status, tal_error *why)
{
    *why = (tal_error){status, "", ""};
    uint32_t length = 0;
    if (status == TAL_OK) return true;
    return take(it, &length, sizeof length) && length < sizeof why->message &&
           take(it, why->message, length);
}

// The samples behind the header.
static bool take_samples(const tal_batch *batch, reader *it, tali_batch_chunk *chunk)
{
    bool good = take(it, chunk->results, size_of_rows(batch, chunk->n));
    for (int k = 0; k < chunk->n && good; ++k) {
        int32_t status = 0;
        good = take(it, &status, sizeof status);
        chunk->status[k] = (tal_status)status;
    }
    for (int k = 0; k < chunk->n && good; ++k) {
        good = take_reason(it, chunk->status[k], &chunk->why[k]);
    }
    return good && it->left == 0;
}

tal_status tali_batch_decode(const tal_batch *batch, const void *bytes, size_t size,
                             tali_batch_chunk *chunk, tal_error *err)
{
    const tal_status st = tali_seal_check(bytes, size, MAGIC, VERSION, err);
    if (st != TAL_OK) return st;
    if (tali_sealed_identity(bytes) != batch->identity) {
        return TALI_FAIL(err, TAL_ERR_FILE, "this is a chunk of another batch");
    }
    reader it = {bytes, size};
    header head;
    const bool is_ours = take(&it, &head, sizeof head) && head.index == chunk->index &&
                         head.first == chunk->first && head.n == chunk->n &&
                         head.row_size == batch->def.row_size;
    if (is_ours && take_samples(batch, &it, chunk)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_FILE, "this is another chunk than its name says");
}
