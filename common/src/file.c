// Whole files: read into memory, and written so that a file is never half there.
//
// The macro is for fsync and fchmod.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- reading

// Enlarge the block, keeping its bytes. False, and nothing changed, when memory runs out.
static bool make_room(const tal_allocator *allocator, size_t capacity, tali_bytes *it)
{
    char *larger = tali_alloc(allocator, capacity);
    if (larger == NULL) return false;
    if (it->size > 0) memcpy(larger, it->block, it->size);
    tali_free(allocator, it->block, it->capacity);
    it->block = larger;
    it->capacity = capacity;
    return true;
}

// Length of a file in bytes; 0 where that is not known.
static size_t length_of(FILE *stream)
{
    if (fseek(stream, 0, SEEK_END) != 0) return 0;
    const long length = ftell(stream);
    if (fseek(stream, 0, SEEK_SET) != 0 || length < 0 || length == LONG_MAX) return 0;
    return (size_t)length;
}

// A file that is too long is not read at all, and reading stops at a zero byte. The beginning has
// to be text before memory is taken for all of it.
static const char *load(FILE *stream, size_t most, const tal_allocator *allocator, tali_bytes *out,
                        tal_status *status)
{
    const size_t at_once = (size_t)1 << 20, length = length_of(stream);
    size_t room = (size_t)1 << 16;
    if (length > most) return "the file is too long";
    while (true) {
        if (out->size == out->capacity && !make_room(allocator, room, out)) {
            *status = TAL_ERR_NO_MEMORY;
            return "memory ran out";
        }
        room = length >= 2 * out->capacity ? length + 1 : 2 * out->capacity;
        const size_t free = out->capacity - out->size, wanted = free < at_once ? free : at_once;
        const size_t got = fread(out->block + out->size, 1, wanted, stream);
        if (memchr(out->block + out->size, '\0', got) != NULL) return TALI_NO_TEXT;
        out->size += got;
        if (out->size > most) return "the file is too long";
        if (got < wanted) break;
    }
    if (ferror(stream)) return "the file cannot be read";
    *status = TAL_OK;
    return NULL;
}

const char *tali_text_load(const char *path, size_t most, const tal_allocator *allocator,
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
    const bool exists = stat(path, &there) == 0;
    it->in_place = exists && !S_ISREG(there.st_mode);
    const char *end = it->in_place ? "" : ".part";
    if (snprintf(it->beside, sizeof it->beside, "%s%s", path, end) >= (int)sizeof it->beside) {
        return tali_fail(err, TAL_ERR_FILE, where, "the path is too long");
    }
    it->file = fopen(it->beside, "wb");
    if (it->file == NULL) {
        return tali_fail(err, TAL_ERR_FILE, where, "cannot write '%.200s': %s", it->beside,
                         strerror(errno));
    }
    // keep the permissions of the old file; a file system without permissions has none to keep
    if (exists && !it->in_place) (void)fchmod(fileno(it->file), there.st_mode & 0777u);
    return TAL_OK;
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
