// Atoms as a struct, and what the readers and writers of their formats share.
#ifndef TALUS_IO_ATOMS_INTERNAL_H
#define TALUS_IO_ATOMS_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include "table/table_internal.h"

#include <talus/io/atoms.h>

#include <stdint.h>

/// The most atoms of a file.
#define TALI_ATOMS_MOST 50000000

/// Errors after which a reader gives up.
#define TALI_ATOMS_MOST_ERRORS 20

/// Lengths of files in Angstrom are this times nm.
#define TALI_ATOMS_PER_NM 10.0

/// An atom with its names.
typedef struct tali_atoms_one {
    char name[TAL_MAX_ATOM_NAME + 1];
    char residue[TAL_MAX_ATOM_NAME + 1];
    char chain[TAL_MAX_ATOM_NAME + 1];
    char insertion[4];
    tal_atom atom; ///< its pointers are not used: this struct moves
} tali_atoms_one;

typedef struct tali_atoms_bond {
    int a, b, order;
} tali_atoms_bond;

typedef struct tali_atoms_frame {
    tal_atoms_frame frame;
    tal_vec3 *x; ///< [num]
    tal_vec3 *v; ///< [num]; NULL: none
} tali_atoms_frame;

struct tal_atoms {
    tal_allocator allocator;
    tali_atoms_one *list;
    int num, capacity;
    tali_atoms_bond *bonds;
    int num_bonds, bonds_capacity;
    tali_atoms_frame *frames;
    int num_frames, frames_capacity;
};

/// What is wrong with a name, as the end of a sentence; NULL: nothing.
/// @param[in] most  characters that it may have
const char *tali_atoms_name_flaw(const char *name, size_t most);

// ---- reading (atoms_read.c)

/// A file being read.
typedef struct tali_atoms_reader {
    tal_atoms *atoms;
    tal_atoms_options how;
    const char *file; ///< as it was named
    const char *at, *end;
    tal_diagnostics *found;
    int errors;
    bool no_memory;

    int line;          ///< counted from 1
    const char *text;  ///< the line,
    const char *stop;  ///< and one past its last character
    tal_vec3 *x;       ///< [capacity] of the frame that is being read
    int num, capacity; ///< positions in it
} tali_atoms_reader;

/// @name Reports
/// @{
/// Of the line that was read last. @param[in] column  from 1; 0: the line as a whole
void tali_atoms_error(tali_atoms_reader *r, int column, const char *fmt, ...) TAL_PRINTF(3, 4);
void tali_atoms_warn(tali_atoms_reader *r, int column, const char *fmt, ...) TAL_PRINTF(3, 4);
/// Of the file as a whole.
void tali_atoms_file_error(tali_atoms_reader *r, const char *fmt, ...) TAL_PRINTF(2, 3);
/// Whether reading should continue.
bool tali_atoms_goes_on(const tali_atoms_reader *r);
/// Note a status of a call; an error with its text unless it is TAL_OK.
bool tali_atoms_good(tali_atoms_reader *r, tal_status st);
/// @}

/// The next line, without its end; false at the end of the file, and when reading should stop.
bool tali_atoms_next_line(tali_atoms_reader *r);

/// The next word of the line; false at its end. @param[in,out] at  where to look
bool tali_atoms_next_word(const tali_atoms_reader *r, const char **at, tali_table_span *word);

/// A word as a finite number; false, with an error that calls it `what`, when it is none.
bool tali_atoms_number(tali_atoms_reader *r, tali_table_span word, const char *what, double *value);

/// Characters of a span as a string, cut at the longest name.
/// @param[out] name  [TAL_MAX_ATOM_NAME + 1]
void tali_atoms_name(tali_table_span span, char name[]);

/// Add a position to the frame [nm].
bool tali_atoms_push(tali_atoms_reader *r, tal_vec3 x);

/// End the frame: its positions are `x`, and it is empty then.
bool tali_atoms_end_frame(tali_atoms_reader *r, const tal_vec3 v[], const tal_atoms_frame *frame);

/// Atoms for a format without names: those of the options, or atoms without names. False, with an
/// error, when there are not as many.
bool tali_atoms_need(tali_atoms_reader *r, int num);

/// The box of three lengths [Angstrom] and angles [degree]; false, with an error, when it is none.
/// Zeros, and a box of one Angstrom, which structures without a crystal have, are no box.
bool tali_atoms_box(tali_atoms_reader *r, const double edges[3], const double angles[3],
                    tal_atoms_frame *frame);

/// What is wrong with the edges and angles of a box, as a sentence; NULL: nothing.
const char *tali_atoms_box_flaw(const tal_atoms_frame *frame);

/// @name The formats
/// @{
void tali_atoms_read_pdb(tali_atoms_reader *r);
void tali_atoms_read_cif(tali_atoms_reader *r);
void tali_atoms_read_xyz(tali_atoms_reader *r);
void tali_atoms_read_inpcrd(tali_atoms_reader *r);
void tali_atoms_read_dcd(tali_atoms_reader *r);
void tali_atoms_read_prmtop(tali_atoms_reader *r);

tal_status tali_atoms_write_pdb(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err);
tal_status tali_atoms_write_xyz(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err);
tal_status tali_atoms_write_inpcrd(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err);
tal_status tali_atoms_write_dcd(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err);

/// @}

// ---- models of alternate places (atoms_model.c): PDB and mmCIF

/// An atom of a model, as a file has it.
typedef struct tali_atoms_record {
    tali_atoms_one one;
    char alternate[TAL_MAX_ATOM_NAME + 1]; ///< which of its places; "": the only one
    tal_vec3 x;                            ///< [nm]
} tali_atoms_record;

/// What is known of the places of an atom of the model that is being read.
typedef struct tali_atoms_place {
    char alternate[TAL_MAX_ATOM_NAME + 1];
    double occupancy;
} tali_atoms_place;

/// Models of a file: the first one makes the atoms, the others must have the same.
typedef struct tali_atoms_models {
    tali_atoms_place *places; ///< [capacity] of the atoms of this model
    int capacity;
    int residue;           ///< first atom of the residue that is being read
    int num;               ///< models that have ended
    tal_atoms_frame frame; ///< the box of all models
} tali_atoms_models;

/// Take an atom: a new one, or another place of one of the same residue. The index of the atom; -1
/// on failure.
int tali_atoms_take(tali_atoms_reader *r, tali_atoms_models *m, const tali_atoms_record *record);

/// End a model. One without atoms is an error.
bool tali_atoms_end_model(tali_atoms_reader *r, tali_atoms_models *m);

void tali_atoms_models_free(const tali_atoms_reader *r, tali_atoms_models *m);

// ---- writing (atoms_write.c)

/// A number with so many decimals, right-justified in a field; false when it does not fit.
bool tali_atoms_put_fixed(tali_table_sink *sink, double value, int width, int decimals);

#endif // TALUS_IO_ATOMS_INTERNAL_H
