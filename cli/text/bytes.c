// Bytes that grow.
#include "text/bytes.h"

#include <stdlib.h>
#include <string.h>

void bytes_add(cli_bytes *it, const void *data, size_t size)
{
    const size_t needed = it->size + size + 1;
    if (needed > it->capacity) {
        it->capacity = 2 * needed;
        it->data = cli_resize(it->data, it->capacity, 1);
    }
    if (size > 0) memcpy(it->data + it->size, data, size);
    it->size += size;
    it->data[it->size] = 0;
}

void bytes_print(cli_bytes *it, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    char *const text = cli_format_list(fmt, list);
    va_end(list);
    bytes_add(it, text, strlen(text));
    free(text);
}
