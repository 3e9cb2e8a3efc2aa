// A C3D file being read: its bytes, its numbers, its parameters, its frames.
#ifndef TALUS_IO_C3D_INTERNAL_H
#define TALUS_IO_C3D_INTERNAL_H

#include <talus/io/c3d.h>

/// The machine whose numbers a file has.
typedef enum tali_c3d_machine {
    TALI_C3D_INTEL = 84,
    TALI_C3D_DEC = 85,
    TALI_C3D_MIPS = 86
} tali_c3d_machine;

/// A parameter: `count` values of `width` bytes (1: bytes, 2: integers, 4: reals).
typedef struct tali_c3d_parameter {
    const unsigned char *data; ///< in the file; NULL: there is no such parameter
    int width;                 ///< -1: characters
    int num_dims;
    int dims[7];
    int count;
} tali_c3d_parameter;

/// Bytes of a file, and how its numbers are to be read. The second half is known once
/// tali_c3d_begin() has found it.
typedef struct tali_c3d {
    const char *file;
    const unsigned char *bytes;
    size_t size;
    tal_diagnostics *found;

    tali_c3d_machine machine;
    size_t parameters; ///< where they begin
    int points, channels;
    int first, frames;                  ///< number of the first frame, and how many there are
    int samples;                        ///< of a channel in each frame
    double rate;                        ///< frames in a second
    double scale;                       ///< of integers; negative: numbers are reals
    size_t data, row;                   ///< where frames begin; bytes of one
    size_t width;                       ///< bytes of a number
    bool is_unsigned;                   ///< integers of channels
    double general;                     ///< scale of all channels
    tali_c3d_parameter offsets, scales; ///< of each channel
} tali_c3d;

/// @name Numbers. What an address has must be inside the file.
/// @{
int tali_c3d_integer(const tali_c3d *it, const unsigned char *at); ///< of 16 bits, with a sign
double tali_c3d_real(const tali_c3d *it, const unsigned char *at);
/// @}

/// @name Parameters. Nothing outside the file is read, whatever the file says.
/// @{
/// The parameter of a group; its `data` is NULL when there is none.
tali_c3d_parameter tali_c3d_find(const tali_c3d *it, const char *group, const char *name);
/// A number of a parameter; `initial` where there is none.
double tali_c3d_value(const tali_c3d *it, const tali_c3d_parameter *p, int i, double initial);
/// A number of a parameter from 0 to 65535; `initial` where there is none.
int tali_c3d_count(const tali_c3d *it, const tali_c3d_parameter *p, int i, int initial);
/// A text of a parameter of characters, without blanks around it; "" where there is none.
/// @param[out] text  [128]
void tali_c3d_text(const tali_c3d_parameter *p, int i, char text[]);
/// The label of a point or a channel; its number, from 1, where there is none. They must be asked
/// for in order: `labels` keeps where they are.
/// @param[out] text  [128]
void tali_c3d_label(const tali_c3d *it, const char *group, int i, tali_c3d_parameter *labels,
                    char text[]);
/// @}

/// @name Frames
/// @{
/// Find out what a file has; false, with an error, when it is not a whole C3D file.
bool tali_c3d_begin(tali_c3d *it);
/// Where a point is; NaN when it was not seen.
void tali_c3d_point(const tali_c3d *it, int frame, int point, double xyz[3]);
/// What a channel has, scaled.
/// @param[in] k  frame * samples + sample
double tali_c3d_analog(const tali_c3d *it, int k, int channel);
/// @}

/// The table of all force plates.
tal_status tali_c3d_make_plates(const tali_c3d *it, bool at_pressure, tal_table *table);

#endif // TALUS_IO_C3D_INTERNAL_H
