// A C3D file being read: its bytes, its numbers, its parameters.
#ifndef TALUS_IO_C3D_INTERNAL_H
#define TALUS_IO_C3D_INTERNAL_H

#include <talus/io/c3d.h>

/// The machine whose numbers a file has.
typedef enum tali_table_machine {
    TALI_TABLE_INTEL = 84,
    TALI_TABLE_DEC = 85,
    TALI_TABLE_MIPS = 86
} tali_table_machine;

/// A parameter: `count` values of `width` bytes (1: characters or bytes, 2: integers, 4: reals).
typedef struct tali_table_parameter {
    const unsigned char *data; ///< in the file; NULL: there is no such parameter
    int width;                 ///< -1: characters
    int num_dims;
    int dims[7];
    int count;
} tali_table_parameter;

/// Bytes of a file, and how its numbers are to be read.
typedef struct tali_table_c3d {
    const char *file;
    const unsigned char *bytes;
    size_t size;
    size_t parameters; ///< where they begin
    tali_table_machine machine;
    tal_diagnostics *found;
} tali_table_c3d;

/// A 16-bit integer or a 32-bit real at an address, which must be inside the file.
int tali_table_c3d_integer(const tali_table_c3d *it, const unsigned char *at);
double tali_table_c3d_real(const tali_table_c3d *it, const unsigned char *at);

/// The parameter of a group; its `data` is NULL when there is none. Nothing outside the file is
/// read, whatever the file says.
tali_table_parameter tali_table_c3d_find(const tali_table_c3d *it, const char *group,
                                         const char *name);
/// A number of a parameter; `initial` where there is none.
double tali_table_c3d_value(const tali_table_c3d *it, const tali_table_parameter *p, int i,
                            double initial);
/// A label of a parameter of characters, without blanks around it; "" where there is none.
/// @param[out] text  [128]
void tali_table_c3d_label(const tali_table_parameter *p, int i, char text[]);

#endif // TALUS_IO_C3D_INTERNAL_H
