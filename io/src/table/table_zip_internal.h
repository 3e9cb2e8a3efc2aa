// Files in a zip archive, as NumPy writes one.
#ifndef TALUS_IO_TABLE_ZIP_INTERNAL_H
#define TALUS_IO_TABLE_ZIP_INTERNAL_H

#include "table/table_internal.h"

/// Bytes of a file in the archive.
typedef struct tali_table_bytes {
    const unsigned char *at; ///< in the archive, or in the arena; NULL: there is no such file
    size_t size;
} tali_table_bytes;

/// A number of up to eight bytes, the lowest first.
uint64_t tali_table_little(const unsigned char at[], int num_bytes);

/// Find a file of the archive and unpack it; its checksum is right. False, and an error, when the
/// archive is not one or the file is damaged; without such a file, true and NULL.
bool tali_table_unzip(tali_table_reader *r, const char *name, tali_table_bytes *out);

#endif // TALUS_IO_TABLE_ZIP_INTERNAL_H
