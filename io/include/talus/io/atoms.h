// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_ATOMS_H
#define TALUS_IO_ATOMS_H

/**
 * @file talus/io/atoms.h
 * @brief Atoms in files: their names and bonds, and frames of their positions: `.pdb`, `.cif`,
 * `.xyz`, `.inpcrd`, `.dcd`, and the atoms of `.prmtop`.
 *
 *     tal_atoms *atoms = NULL;
 *     tal_diagnostics *found = tal_diagnostics_create(NULL);
 *     if (tal_atoms_read_file("1ubq.pdb", NULL, &atoms, found) == TAL_OK) {
 *         st = tal_atoms_write_file(atoms, "1ubq.xyz", &err);
 *     }
 *     tal_atoms_destroy(atoms);
 *     tal_diagnostics_destroy(found);
 *
 * Lengths are in nm, times in ps, velocities in nm/ps and angles in rad, whatever the file has. All
 * frames are of the same atoms in the same order. doc/molecule_files.md says what is read of each
 * format, and what is refused.
 */

#include <talus/common/vec.h>
#include <talus/io/diagnostics.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup atoms Atoms in files
/// @{

/// The most characters of names of atoms, residues and chains.
#define TAL_MAX_ATOM_NAME 23

/// Atoms, bonds and frames. Opaque. Use from one thread at a time.
typedef struct tal_atoms tal_atoms;

/// An atom as files name it. Obtain it from tal_atom_default(), then edit.
typedef struct tal_atom {
    const char *name;      ///< "CA"
    const char *residue;   ///< "ALA"; may be ""
    const char *chain;     ///< "A"; may be ""
    const char *insertion; ///< the letter behind the number of the residue; "": none
    int residue_number;
    int element;      ///< atomic number; 0: not known, or a site that is no atom
    double occupancy; ///< 1 where a file does not say it
    double b_factor;  ///< [nm^2]; 0 where a file does not say it
    bool is_hetero;   ///< not of a polymer: water, ions, ligands
} tal_atom;

/// No names, residue 1, element 0, occupancy 1, B factor 0.
TAL_API tal_atom tal_atom_default(void);

/// What a frame says besides positions and velocities. All zero: a frame at time 0, without a box.
typedef struct tal_atoms_frame {
    double time;     ///< [ps]; NaN: not known
    tal_vec3 edges;  ///< lengths a, b, c of a periodic box [nm]; zeros: none
    tal_vec3 angles; ///< between b and c, a and c, a and b [rad]; pi/2 each in a rectangular one
} tal_atoms_frame;

/// Nothing yet, owned by the caller; NULL when there is no memory.
/// @param[in] allocator  NULL means the C heap
TAL_API TAL_NODISCARD tal_atoms *tal_atoms_create(const tal_allocator *allocator);

/// Free atoms; NULL is allowed.
TAL_API void tal_atoms_destroy(tal_atoms *atoms);

/// @name Building
/// @{

/**
 * Add an atom behind the others. There may be no frame yet.
 *
 * @param[in] atom  copied, names included
 * @return TAL_OK; TAL_ERR_BAD_NAME for a name that is too long or has blanks or control characters,
 *         TAL_ERR_BAD_VALUE, TAL_ERR_CAPACITY once there is a frame, TAL_ERR_NULL,
 *         TAL_ERR_NO_MEMORY
 */
TAL_API tal_status tal_atoms_add(tal_atoms *atoms, const tal_atom *atom);

/// Add a bond. @param[in] order  1, 2 or 3
/// @return TAL_OK; TAL_ERR_BAD_INDEX, TAL_ERR_BAD_VALUE for another order or an atom bonded to
///         itself; TAL_ERR_NULL, TAL_ERR_NO_MEMORY
TAL_API tal_status tal_atoms_add_bond(tal_atoms *atoms, int a, int b, int order);

/**
 * Add a frame behind the others.
 *
 * @param[in] x      [n] positions [nm], finite; copied
 * @param[in] v      [n] velocities [nm/ps]; NULL: none are known
 * @param[in] n      the number of atoms
 * @param[in] frame  time and box; NULL: all zero
 * @return TAL_OK; TAL_ERR_BAD_VALUE for another number of atoms, what is not finite, or a box that
 *         none is; TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API tal_status tal_atoms_add_frame(tal_atoms *atoms, const tal_vec3 x[], const tal_vec3 v[],
                                       int n, const tal_atoms_frame *frame);
/// @}

/// @name Reading
/// @{
/// Number of atoms; -1 for NULL.
TAL_API int tal_atoms_num(const tal_atoms *atoms);
/// One of them, its names borrowed; tal_atom_default() on a breach.
TAL_API tal_atom tal_atoms_at(const tal_atoms *atoms, int i);
/// Number of bonds; -1 for NULL.
TAL_API int tal_atoms_num_bonds(const tal_atoms *atoms);
/// The order of a bond, and its atoms; -1 on a breach.
/// @param[out] a  its first atom
/// @param[out] b  its second
TAL_API int tal_atoms_bond(const tal_atoms *atoms, int i, int *a, int *b);
/// Number of frames; -1 for NULL.
TAL_API int tal_atoms_num_frames(const tal_atoms *atoms);
/// Time and box of a frame; NaN on a breach.
TAL_API tal_atoms_frame tal_atoms_frame_at(const tal_atoms *atoms, int frame);
/// Whether a frame has velocities; false on a breach.
TAL_API bool tal_atoms_has_velocities(const tal_atoms *atoms, int frame);
/// Positions of a frame.
/// @param[out] x  [n] [nm]
/// @param[in]  n  the number of atoms
/// @return TAL_OK, TAL_ERR_BAD_INDEX, TAL_ERR_BAD_VALUE for another number, TAL_ERR_NULL
TAL_API tal_status tal_atoms_get_positions(const tal_atoms *atoms, int frame, tal_vec3 x[], int n);
/// Velocities of a frame that has them.
/// @param[out] v  [n] [nm/ps]
/// @param[in]  n  the number of atoms
/// @return as tal_atoms_get_positions(); TAL_ERR_BAD_VALUE also where there are none
TAL_API tal_status tal_atoms_get_velocities(const tal_atoms *atoms, int frame, tal_vec3 v[], int n);

/// @}

/// @name Files
/// @{

/// The formats.
typedef enum tal_atoms_format {
    TAL_ATOMS_PDB,    ///< `.pdb`, `.ent`: Protein Data Bank, version 3.3
    TAL_ATOMS_CIF,    ///< `.cif`, `.mmcif`: the same as mmCIF; on read
    TAL_ATOMS_XYZ,    ///< `.xyz`: elements and positions, also extended XYZ
    TAL_ATOMS_INPCRD, ///< `.inpcrd`, `.rst7`: coordinates of AMBER; no names
    TAL_ATOMS_DCD,    ///< `.dcd`: frames of CHARMM, NAMD or X-PLOR; no names
    TAL_ATOMS_PRMTOP  ///< `.prmtop`, `.parm7`: topology of AMBER; no frames; on read
} tal_atoms_format;

/// The format of a file by the end of its name, in upper or lower case; false when it is none of
/// these.
/// @param[out] format  unchanged when false
TAL_API bool tal_atoms_format_of(const char *path, tal_atoms_format *format);

/// How to read. Obtain it from tal_atoms_options_default(), then edit.
typedef struct tal_atoms_options {
    tal_allocator allocator; ///< of the atoms, and of reading
    size_t max_bytes;        ///< a longer file is refused
    bool highest_occupancy;  ///< of an atom with alternate places the likeliest one is read; false:
                             ///< the first one
    const tal_atoms *names;  ///< the atoms of a file that does not name its own, which must be as
                             ///< many; NULL: they get no names
} tal_atoms_options;

/// The C heap, 2 GiB, the first place, no names.
TAL_API tal_atoms_options tal_atoms_options_default(void);

/**
 * Read a file. Its format goes by the end of its name.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    out      owned by the caller; NULL on failure
 * @param[in,out] found    gets what is wrong, with lines and columns, and warnings; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when the file cannot be read or has errors, TAL_ERR_NO_MEMORY,
 *         TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_atoms_read_file(const char *path,
                                                     const tal_atoms_options *options,
                                                     tal_atoms **out, tal_diagnostics *found);

/// The same from memory. `name` stands for the file in diagnostics.
/// @param[in] bytes  [size] the file
TAL_API TAL_NODISCARD tal_status tal_atoms_read_memory(tal_atoms_format format, const char *name,
                                                       const char bytes[], size_t size,
                                                       const tal_atoms_options *options,
                                                       tal_atoms **out, tal_diagnostics *found);

/**
 * Write a file: as a whole, or not at all. Its format goes by the end of its name.
 *
 * @param[out] err  why it failed; may be NULL
 * @return TAL_OK; TAL_ERR_FILE; TAL_ERR_BAD_VALUE for what the format cannot say, as a position
 *         with too many digits for its columns; TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_atoms_write_file(const tal_atoms *atoms, const char *path,
                                                      tal_error *err);

/**
 * The same into memory.
 *
 * @param[out] bytes     [capacity] the beginning of the file
 * @param[in]  capacity  may be less than the file has
 * @param[out] length    bytes of the whole file
 * @param[out] err       why it failed; may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_atoms_write_memory(const tal_atoms *atoms,
                                                        tal_atoms_format format, char bytes[],
                                                        size_t capacity, size_t *length,
                                                        tal_error *err);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_ATOMS_H
