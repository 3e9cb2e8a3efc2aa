// Whole files for programs.
#include "error_internal.h"
#include "file_internal.h"

#include <talus/io/file.h>

tal_status tal_file_write(const char *path, const void *bytes, size_t size, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (path == NULL || (bytes == NULL && size > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "%s NULL", path == NULL ? "the path is" : "the bytes are");
    }
    return tali_file_replace_by(path, bytes, size, __func__, err);
}
