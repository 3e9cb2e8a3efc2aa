// Whole files: read into memory, and written so that nothing is ever half there.
#define _POSIX_C_SOURCE                                                                            \
    200809L // fsync. NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- reading

// Twice the room, with the same bytes; false, and nothing changed, when memory runs out.
static bool grow(const tal_allocator *allocator, tali_bytes *it)
{
    const size_t capacity = it->capacity > 0 ? 2 * it->capacity : (size_t)1 << 16;
    char *larger = tali_alloc(allocator, capacity);
    if (larger == NULL) return false;
    if (it->size > 0) memcpy(larger, it->block, it->size);
    tali_bytes_free(allocator, &(tali_bytes){it->block, it->capacity, 0});
    it->block = larger;
    it->capacity = capacity;
    return true;
}

static const char *load(FILE *stream, size_t most, const tal_allocator *allocator, tali_bytes *out,
                        tal_status *status)
{
    *status = TAL_ERR_FILE;
    while (out->size == out->capacity) {
        if (!grow(allocator, out)) {
            *status = TAL_ERR_NO_MEMORY;
            return "memory ran out";
        }
        out->size += fread(out->block + out->size, 1, out->capacity - out->size, stream);
        if (out->size > most) return "the file is too long";
    }
    if (ferror(stream)) return "the file cannot be read";
    *status = TAL_OK;
    return NULL;
}

const char *tali_file_load(const char *path, size_t most, const tal_allocator *allocator,
                           tali_bytes *out, tal_status *status)
{
    *out = (tali_bytes){NULL, 0, 0};
    *status = TAL_ERR_FILE;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return "the file cannot be opened";
    const char *wrong = load(stream, most, allocator, out, status);
    (void)fclose(stream);
    return wrong;
}

void tali_bytes_free(const tal_allocator *allocator, tali_bytes *bytes)
{
    tali_free(allocator, bytes->block, bytes->capacity);
    *bytes = (tali_bytes){NULL, 0, 0};
}

// ---- writing

tal_status tali_replace_begin(tali_replacement *it, const char *path, const char *where,
                              tal_error *err)
{
    struct stat there;
    it->path = path;
    it->in_place = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
    const char *end = it->in_place ? "" : ".part";
    if (snprintf(it->beside, sizeof it->beside, "%s%s", path, end) >= (int)sizeof it->beside) {
        return tali_fail(err, TAL_ERR_FILE, where, "the path is too long");
    }
    it->file = fopen(it->beside, "wb");
    if (it->file != NULL) return TAL_OK;
    return tali_fail(err, TAL_ERR_FILE, where, "cannot write '%.200s': %s", it->beside,
                     strerror(errno));
}

tal_status tali_replace_finish(tali_replacement *it, bool good, const char *where, tal_error *err)
{
    errno = 0;
    bool whole = good && ferror(it->file) == 0 && fflush(it->file) == 0;
    if (whole && !it->in_place) whole = fsync(fileno(it->file)) == 0;
    int why = errno;
    const bool closed = fclose(it->file) == 0;
    if (whole && !closed) why = errno;
    whole = whole && closed;
    if (whole && !it->in_place && rename(it->beside, it->path) != 0) {
        why = errno;
        whole = false;
    }
    if (whole) return TAL_OK;
    if (!it->in_place) (void)remove(it->beside);
    if (!good) return TAL_OK;
    return tali_fail(err, TAL_ERR_FILE, where, "cannot write '%.200s': %s", it->path,
                     why != 0 ? strerror(why) : "the bytes did not all arrive");
}
