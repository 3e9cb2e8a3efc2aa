// Files in a zip archive: stored or deflated, below 4 GiB, not encrypted.
#include "table/table_zip_internal.h"

#include <string.h>
#include <zlib.h>

enum {
    END_SIZE = 22,   // the record at the end, without its comment
    ENTRY_SIZE = 46, // an entry of the directory, without name, extra field and comment
    LOCAL_SIZE = 30, // what stands before a file, without name and extra field
    MAX_COMMENT = 65535,
    MAX_RATIO = 1032, // of deflate
    STORED = 0,
    DEFLATED = 8
};

uint64_t tali_table_little(const unsigned char at[], int num_bytes)
{
    uint64_t value = 0;
    for (int i = num_bytes - 1; i >= 0; --i) {
        value = value << 8 | at[i];
    }
    return value;
}

// --- the directory ---

typedef struct archive {
    const unsigned char *begin;
    size_t size;
    size_t directory, directory_end; // where its entries are
} archive;

// Where the directory is, from the record at the end.
static bool find_directory(tali_table_reader *r, archive *it)
{
    *it = (archive){.begin = (const unsigned char *)r->at, .size = (size_t)(r->end - r->at)};
    for (size_t back = END_SIZE; back <= it->size && back <= END_SIZE + MAX_COMMENT; ++back) {
        const unsigned char *end = it->begin + it->size - back;
        if (memcmp(end, "PK\5\6", 4) != 0) continue;
        it->directory = (size_t)tali_table_little(end + 16, 4);
        it->directory_end = it->directory + (size_t)tali_table_little(end + 12, 4);
        if (it->directory_end <= it->size - back) return true;
    }
    tali_table_file_error(r, "this is not a whole .npz file: the directory of the archive is not "
                             "at its end");
    return false;
}

// An entry of the directory, and what it says.
typedef struct entry {
    const char *name; // not ended by a zero
    size_t name_size;
    int flags, method;
    uint32_t crc;
    size_t packed_size, size, place;
} entry;

// The entry at `*at`, which moves behind it. False at the end.
static bool next_entry(const archive *it, size_t *at, entry *out)
{
    const unsigned char *e = it->begin + *at;
    if (*at + ENTRY_SIZE > it->directory_end || memcmp(e, "PK\1\2", 4) != 0) return false;
    *out = (entry){.name = (const char *)e + ENTRY_SIZE,
                   .name_size = (size_t)tali_table_little(e + 28, 2),
                   .flags = (int)tali_table_little(e + 8, 2),
                   .method = (int)tali_table_little(e + 10, 2),
                   .crc = (uint32_t)tali_table_little(e + 16, 4),
                   .packed_size = (size_t)tali_table_little(e + 20, 4),
                   .size = (size_t)tali_table_little(e + 24, 4),
                   .place = (size_t)tali_table_little(e + 42, 4)};
    *at += ENTRY_SIZE + out->name_size;
    const size_t behind_name = *at; // the name must be inside
    *at += (size_t)tali_table_little(e + 30, 2) + (size_t)tali_table_little(e + 32, 2);
    return behind_name <= it->directory_end;
}

// --- its files ---

// Where the bytes of a file begin, behind its local header; NULL when they are not all there.
static const unsigned char *find_bytes(const archive *it, const entry *e)
{
    if (e->place + LOCAL_SIZE > it->size) return NULL;
    const unsigned char *local = it->begin + e->place;
    const size_t begin = e->place + LOCAL_SIZE + (size_t)tali_table_little(local + 26, 2) +
                         (size_t)tali_table_little(local + 28, 2);
    const bool fits =
        memcmp(local, "PK\3\4", 4) == 0 && begin <= it->size && e->packed_size <= it->size - begin;
    return fits ? it->begin + begin : NULL;
}

static void *take(void *arena, unsigned count, unsigned size)
{
    return tali_arena_take(arena, (size_t)count * size);
}

static void give_back(void *arena, void *memory)
{
    (void)arena; // all at once, at the end
    (void)memory;
}

// Inflate into memory of the arena. NULL when the bytes are damaged or memory runs out.
static const unsigned char *inflate_bytes(tali_table_reader *r, const unsigned char *packed,
                                          const entry *e)
{
    unsigned char *out = tali_arena_take(&r->arena, e->size + 1);
    z_stream stream = {.zalloc = take, .zfree = give_back, .opaque = &r->arena};
    if (out == NULL || inflateInit2(&stream, -15) != Z_OK) { // -15: no header of zlib
        r->no_memory = true;
        return NULL;
    }
    stream.next_in = (z_const Bytef *)packed;
    stream.avail_in = (uInt)e->packed_size;
    stream.next_out = out;
    stream.avail_out = (uInt)e->size;
    const int code = inflate(&stream, Z_FINISH);
    const bool is_whole = code == Z_STREAM_END && stream.total_out == e->size;
    r->no_memory = r->no_memory || code == Z_MEM_ERROR;
    (void)inflateEnd(&stream);
    return is_whole ? out : NULL;
}

// What is wrong with an entry before its bytes are looked at; NULL: nothing.
static const char *refuse_entry(const tali_table_reader *r, const entry *e)
{
    if ((e->flags & 1) != 0) return "is encrypted";
    if (e->method != STORED && e->method != DEFLATED) {
        return "is packed in a way that is not read: use numpy.savez or savez_compressed";
    }
    if (e->size > r->max_bytes || e->packed_size > r->max_bytes) return "is too large";
    const bool fits =
        e->method == STORED ? e->size == e->packed_size : e->size / MAX_RATIO <= e->packed_size;
    return fits ? NULL : "is damaged";
}

static bool unpack(tali_table_reader *r, const archive *it, const entry *e, const char *name,
                   tali_table_bytes *out)
{
    const char *wrong = refuse_entry(r, e);
    const unsigned char *bytes = wrong == NULL ? find_bytes(it, e) : NULL;
    if (bytes != NULL && e->method == DEFLATED) bytes = inflate_bytes(r, bytes, e);
    if (r->no_memory) return false;
    if (wrong == NULL && (bytes == NULL || crc32(0, bytes, (uInt)e->size) != e->crc)) {
        wrong = "is damaged";
    }
    if (wrong != NULL) {
        tali_table_file_error(r, "'%s' in the archive %s", name, wrong);
        return false;
    }
    *out = (tali_table_bytes){bytes, e->size};
    return true;
}

bool tali_table_unzip(tali_table_reader *r, const char *name, tali_table_bytes *out)
{
    archive it;
    *out = (tali_table_bytes){.at = NULL};
    if (!find_directory(r, &it)) return false;
    entry e;
    for (size_t at = it.directory; next_entry(&it, &at, &e);) {
        if (e.name_size == strlen(name) && memcmp(e.name, name, e.name_size) == 0) {
            return unpack(r, &it, &e, name, out);
        }
    }
    return true;
}
