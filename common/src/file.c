// Whole files: read into memory, and written completely or not at all.
//
// The macro is for fsync, fchmod and readlink.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"
#include "hash_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- reading

const char *tali_file_reason(const char *subject, char text[], size_t size)
{
    const int why = errno;
    (void)snprintf(text, size, "%s%s%s", subject, why != 0 ? ": " : "",
                   why != 0 ? strerror(why) : "");
    return text;
}

// Enlarge the block, keeping its bytes. False, and nothing changed, when memory runs out.
static bool make_room(const tal_allocator *allocator, size_t capacity, tali_file_bytes *it)
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

// A file that is too long is not read at all, and reading of a text stops at a zero byte. The
// beginning has to be text before memory is taken for all of it.
static const char *load(FILE *stream, size_t most, bool is_text, const tal_allocator *allocator,
                        tali_file_bytes *out, tal_status *status)
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
        errno = 0;
        const size_t got = fread(out->block + out->size, 1, wanted, stream);
        if (is_text && memchr(out->block + out->size, '\0', got) != NULL) return TALI_NO_TEXT;
        out->size += got;
        if (out->size > most) return "the file is too long";
        if (got < wanted) break;
    }
    if (ferror(stream)) {
        return tali_file_reason("the file cannot be read", out->wrong, sizeof out->wrong);
    }
    *status = TAL_OK;
    return NULL;
}

static const char *open_and_load(const char *path, size_t most, bool is_text,
                                 const tal_allocator *allocator, tali_file_bytes *out,
                                 tal_status *status)
{
    *out = (tali_file_bytes){.block = NULL};
    *status = TAL_ERR_FILE;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL && errno == ENOMEM) {
        *status = TAL_ERR_NO_MEMORY;
        return "memory ran out";
    }
    if (stream == NULL) {
        return tali_file_reason("the file cannot be opened", out->wrong, sizeof out->wrong);
    }
    const char *wrong = load(stream, most, is_text, allocator, out, status);
    (void)fclose(stream);
    return wrong;
}

const char *tali_file_load_text(const char *path, size_t most, const tal_allocator *allocator,
                                tali_file_bytes *out, tal_status *status)
{
    return open_and_load(path, most, true, allocator, out, status);
}

const char *tali_file_load(const char *path, size_t most, const tal_allocator *allocator,
                           tali_file_bytes *out, tal_status *status)
{
    return open_and_load(path, most, false, allocator, out, status);
}

void tali_file_bytes_free(const tal_allocator *allocator, tali_file_bytes *bytes)
{
    tali_free(allocator, bytes->block, bytes->capacity);
    *bytes = (tali_file_bytes){.block = NULL};
}

// ---- writing

// What a path leads to, through symbolic links, whether that exists or not. False, and errno, when
// it leads nowhere.
static bool follow_links(const char *path, char target[TALI_PATH_SIZE])
{
    enum {
        MOST = 40 // as Linux allows
    };

    char link[TALI_PATH_SIZE];
    (void)snprintf(target, TALI_PATH_SIZE, "%s", path);
    for (int i = 0; i <= MOST; ++i) { // the last turn finds the file
        const ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0) return true; // it is not a link, or does not exist
        link[length] = '\0';
        char *slash = strrchr(target, '/');
        const size_t folder = link[0] != '/' && slash != NULL ? (size_t)(slash - target) + 1 : 0;
        if (folder + (size_t)length >= TALI_PATH_SIZE) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(target + folder, link, (size_t)length + 1);
    }
    errno = ELOOP;
    return false;
}

// Standard output or standard error where it goes to this file, as after "-o /dev/stdout >file"; -1
// otherwise.
static int stream_of(const struct stat *file)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; ++fd) {
        struct stat other;
        if (fstat(fd, &other) != 0) continue;
        if (other.st_dev == file->st_dev && other.st_ino == file->st_ino) return fd;
    }
    return -1;
}

// A file with a unique name, in the same folder, so that it can be renamed. `mode` is what it may
// have at most. -1, and errno, on failure.
static int create_beside(tali_file_replacement *it, mode_t mode)
{
    enum {
        TRIES = 100,
        NAME = 200 // bytes of the name that are kept: with those behind it 255 at most
    };

    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &time);
    const pid_t process = getpid();
    const void *const thread = it;
    uint64_t hash = tali_hash(TALI_HASH_SEED, &process, sizeof process);
    hash = tali_hash(hash, &thread, sizeof thread);
    hash = tali_hash(hash, &time.tv_nsec, sizeof time.tv_nsec);
    const char *slash = strrchr(it->target, '/');
    const int folder = slash != NULL ? (int)(slash - it->target) + 1 : 0;
    for (int i = 0; i < TRIES; ++i) {
        hash = tali_hash(hash, &i, sizeof i);
        (void)snprintf(it->beside, sizeof it->beside, "%.*s%.*s.%08" PRIx32 ".part", folder,
                       it->target, NAME, it->target + folder, (uint32_t)(hash >> 32));
        const int fd = open(it->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

// Open what is to be written. -1, and errno, on failure.
static int open_for(tali_file_replacement *it)
{
    struct stat present;
    const bool exists = stat(it->path, &present) == 0;
    const int stream = exists ? stream_of(&present) : -1;
    it->in_place = exists && (!S_ISREG(present.st_mode) || stream >= 0);
    if (stream >= 0) return dup(stream); // its earlier content stays
    if (it->in_place) return open(it->path, O_WRONLY | O_CLOEXEC);
    if (!follow_links(it->path, it->target)) return -1;
    const mode_t mode = exists ? present.st_mode & 0777u : 0666u;
    const int fd = create_beside(it, mode);
    // the new file keeps the permissions of the old one, if the file system has any
    if (fd >= 0 && exists) (void)fchmod(fd, mode);
    return fd;
}

tal_status tali_file_replace_begin(tali_file_replacement *it, const char *path, const char *where,
                                   tal_error *err)
{
    it->path = path;
    if (strlen(path) >= sizeof it->target) {
        return tali_fail(err, TAL_ERR_FILE, where, "the path is too long");
    }
    const int fd = open_for(it);
    it->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (it->file != NULL) return TAL_OK;
    const int why = errno;
    if (fd >= 0) (void)close(fd);
    if (fd >= 0 && !it->in_place) (void)remove(it->beside);
    return tali_fail(err, TAL_ERR_FILE, where, "cannot write '%.200s': %s", path, strerror(why));
}

tal_status tali_file_replace_finish(tali_file_replacement *it, bool good, const char *where,
                                    tal_error *err)
{
    errno = 0;
    bool whole = good && ferror(it->file) == 0 && fflush(it->file) == 0;
    if (whole && !it->in_place) whole = fsync(fileno(it->file)) == 0;
    int why = errno;
    const bool closed = fclose(it->file) == 0;
    if (whole && !closed) why = errno;
    whole = whole && closed;
    if (whole && !it->in_place && rename(it->beside, it->target) != 0) {
        why = errno;
        whole = false;
    }
    if (whole) return TAL_OK;
    if (!it->in_place) (void)remove(it->beside);
    if (!good) return TAL_OK;
    return tali_fail(err, TAL_ERR_FILE, where, "cannot write '%.200s': %s", it->path,
                     why != 0 ? strerror(why) : "not all bytes were written");
}

tal_status tali_file_replace_by(const char *path, const void *bytes, size_t size, const char *where,
                                tal_error *err)
{
    tali_file_replacement out;
    const tal_status st = tali_file_replace_begin(&out, path, where, err);
    if (st != TAL_OK) return st;
    if (size > 0) (void)fwrite(bytes, 1, size, out.file); // a failure stays with the file
    return tali_file_replace_finish(&out, true, where, err);
}
