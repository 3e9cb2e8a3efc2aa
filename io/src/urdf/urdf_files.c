// Where the meshes of a robot are: beside its file, in a package, or at an absolute path.
//
// The macro is for realpath.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _XOPEN_SOURCE 700

#include "urdf/urdf_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A folder as a part of a text.
typedef struct folder {
    const char *at;
    size_t length;
} folder;

static bool exists(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file != NULL) (void)fclose(file);
    return file != NULL;
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

// folder/rest; false when it is too long, or there is no such file.
static bool is_in(folder in, const char *rest, char path[TALI_URDF_MAX_PATH])
{
    char joined[TALI_URDF_MAX_PATH];
    const int length = snprintf(joined, sizeof joined, "%.*s/%s", (int)in.length, in.at, rest);
    if (length >= TALI_URDF_MAX_PATH || !exists(joined)) return false;
    memcpy(path, joined, (size_t)length + 1);
    return true;
}

static bool is_named(folder in, const char *name, size_t length)
{
    if (in.length < length || memcmp(in.at + in.length - length, name, length) != 0) return false;
    return in.length == length || in.at[in.length - length - 1] == '/';
}

// "package/rest" in a folder that holds packages, or that is this package.
static bool is_package_in(folder in, const char *rest, char path[TALI_URDF_MAX_PATH])
{
    const char *slash = strchr(rest, '/');
    if (is_in(in, rest, path)) return true;
    return slash != NULL && is_named(in, rest, (size_t)(slash - rest)) &&
           is_in(in, slash + 1, path);
}

// The folders of the search path, "one:two".
static bool is_on_search_path(const char *packages, const char *rest, char path[TALI_URDF_MAX_PATH])
{
    for (const char *at = packages; at != NULL && *at != '\0';) {
        const folder in = {at, strcspn(at, ":")};
        if (in.length > 0 && is_package_in(in, rest, path)) return true;
        at += in.length + (at[in.length] == ':' ? 1 : 0);
    }
    return false;
}

// The folder of the file, and all folders that it is in: packages have their robots in them.
static bool is_above(const char *from, const char *rest, char path[TALI_URDF_MAX_PATH])
{
    char whole[PATH_MAX];
    if (from == NULL || realpath(from, whole) == NULL) return false;
    folder in = {whole, strlen(whole)};
    while (in.length > 0) {
        if (is_package_in(in, rest, path)) return true;
        do {
            --in.length;
        } while (in.length > 0 && in.at[in.length] != '/');
    }
    return false;
}

bool tali_urdf_find_file(const tali_urdf *u, const char *filename, char path[TALI_URDF_MAX_PATH])
{
    static const char *const in_packages[] = {"package://", "model://"};
    (void)snprintf(path, TALI_URDF_MAX_PATH, "%s", filename);
    for (size_t i = 0; i < sizeof in_packages / sizeof *in_packages; ++i) {
        if (!begins_with(filename, in_packages[i])) continue;
        const char *rest = filename + strlen(in_packages[i]);
        return is_on_search_path(u->options.packages, rest, path) ||
               is_above(u->folder, rest, path);
    }
    const char *plain = begins_with(filename, "file://") ? filename + strlen("file://") : filename;
    if (*plain == '/') {
        (void)snprintf(path, TALI_URDF_MAX_PATH, "%s", plain);
        return exists(path);
    }
    return u->folder != NULL && is_in((folder){u->folder, strlen(u->folder)}, plain, path);
}
