// The directory of a batch: its manifest, names of files, and taking all of it away.
//
// The macro is for mkdir and opendir.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "ensemble/batch_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_MANIFEST = 1 << 24, // bytes
    MODE = 0777              // of a directory, less the umask
};

void tali_batch_file_name(const char *path, int index, char out[TALI_PATH_SIZE])
{
    (void)snprintf(out, TALI_PATH_SIZE, "%s/chunk-%07d", path, index);
}

static bool is_ours(const char *name)
{
    return strncmp(name, "chunk-", 6) == 0 || strncmp(name, "manifest", 8) == 0;
}

// A name of the directory that no batch has, in `out`; false when there is none.
static bool find_stranger(DIR *folder, char out[], size_t size)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): of a stream of its own
    for (const struct dirent *it = readdir(folder); it != NULL; it = readdir(folder)) {
        if (strcmp(it->d_name, ".") == 0 || strcmp(it->d_name, "..") == 0) continue;
        if (is_ours(it->d_name)) continue;
        (void)snprintf(out, size, "%.80s", it->d_name);
        return true;
    }
    return false;
}

static tal_status refuse_strangers(const char *path, tal_error *err)
{
    DIR *const folder = opendir(path);
    if (folder == NULL) {
        return TALI_FAIL(err, TAL_ERR_FILE, "'%.120s' cannot be used as a directory: %s", path,
                         strerror(errno));
    }
    char name[96];
    const bool found = find_stranger(folder, name, sizeof name);
    (void)closedir(folder);
    if (!found) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_FILE,
                     "'%.80s' has '%s' and no manifest: it is not the directory of a batch", path,
                     name);
}

// The line that `at` is in, with its length.
static const char *line_at(const char *text, const char *at, int *length)
{
    while (at > text && at[-1] != '\n') {
        --at;
    }
    *length = (int)strcspn(at, "\n");
    return at;
}

static tal_status tell_difference(const tal_batch *batch, const char *path, const char *theirs,
                                  size_t size, tal_error *err)
{
    size_t i = 0;
    while (i < size && i < batch->manifest_size && theirs[i] == batch->manifest[i]) {
        ++i;
    }
    int has = 0, wants = 0;
    const char *const their_line = line_at(theirs, theirs + i, &has);
    const char *const our_line = line_at(batch->manifest, batch->manifest + i, &wants);
    return TALI_FAIL(err, TAL_ERR_FILE,
                     "'%.60s' is of another batch: it has '%.*s' instead of '%.*s'; use another "
                     "directory or remove it",
                     path, has < 60 ? has : 60, their_line, wants < 60 ? wants : 60, our_line);
}

tal_status tali_batch_compare(const tal_batch *batch, const char *path, tal_error *err)
{
    char name[TALI_PATH_SIZE];
    (void)snprintf(name, sizeof name, "%s/manifest", path);
    tali_file_bytes theirs;
    tal_status st = TAL_OK;
    const char *const wrong =
        tali_file_load_text(name, MOST_MANIFEST, &batch->allocator, &theirs, &st);
    if (wrong != NULL) {
        st = TALI_FAIL(err, st, "'%.120s': %.100s", name, wrong);
    } else if (theirs.size != batch->manifest_size ||
               memcmp(theirs.block, batch->manifest, theirs.size) != 0) {
        st = tell_difference(batch, path, theirs.block, theirs.size, err);
    }
    tali_file_bytes_free(&batch->allocator, &theirs);
    return st;
}

tal_status tali_batch_open(tal_batch *batch, tal_error *err)
{
    char name[TALI_PATH_SIZE];
    (void)snprintf(name, sizeof name, "%s/manifest", batch->path);
    if (access(name, F_OK) == 0) return tali_batch_compare(batch, batch->path, err);
    if (mkdir(batch->path, MODE) != 0 && errno != EEXIST) {
        return TALI_FAIL(err, TAL_ERR_FILE, "the directory '%.120s' cannot be made: %s",
                         batch->path, strerror(errno));
    }
    const tal_status st = refuse_strangers(batch->path, err);
    if (st != TAL_OK) return st;
    return tali_file_replace_by(name, batch->manifest, batch->manifest_size, __func__, err);
}

// The manifest last: what is there without it is no batch.
static void remove_files(const char *path, DIR *folder)
{
    char name[TALI_PATH_SIZE];
    // NOLINTNEXTLINE(concurrency-mt-unsafe): of a stream of its own
    for (const struct dirent *it = readdir(folder); it != NULL; it = readdir(folder)) {
        if (!is_ours(it->d_name) || strcmp(it->d_name, "manifest") == 0) continue;
        if (strlen(it->d_name) > 64) continue; // no name of ours
        (void)snprintf(name, sizeof name, "%s/%.64s", path, it->d_name);
        (void)remove(name);
    }
    (void)snprintf(name, sizeof name, "%s/manifest", path);
    (void)remove(name);
}

tal_status tali_batch_remove_files(const tal_batch *batch, tal_error *err)
{
    DIR *const folder = opendir(batch->path);
    if (folder != NULL) {
        remove_files(batch->path, folder);
        (void)closedir(folder);
    }
    if (folder != NULL && rmdir(batch->path) == 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_FILE, "the directory '%.120s' cannot be removed: %s", batch->path,
                     strerror(errno));
}
