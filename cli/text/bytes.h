// Bytes that grow: files under construction.
#ifndef TALUS_CLI_TEXT_BYTES_H
#define TALUS_CLI_TEXT_BYTES_H

#include "cli.h"

// Empty when it is zero-filled. There is always a zero behind the last byte.
typedef struct cli_bytes {
    char *data; // [size] owned; NULL: none yet
    size_t size, capacity;
} cli_bytes;

void bytes_add(cli_bytes *it, const void *data, size_t size);
void bytes_print(cli_bytes *it, const char *fmt, ...) TAL_PRINTF(2, 3);

#endif // TALUS_CLI_TEXT_BYTES_H
