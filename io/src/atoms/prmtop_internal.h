// A topology of AMBER being read: its sections, and their values.
#ifndef TALUS_IO_PRMTOP_INTERNAL_H
#define TALUS_IO_PRMTOP_INTERNAL_H

#include "atoms/atoms_internal.h"
#include "text/arena_internal.h"

#include <talus/io/prmtop.h>

/// The most sections of a file, and the longest name of one.
#define TALI_PRMTOP_MOST_SECTIONS 200
#define TALI_PRMTOP_NAME          79

/// The first numbers of a file: how many there are of what.
typedef enum tali_prmtop_pointer {
    TALI_PRMTOP_ATOMS = 0,
    TALI_PRMTOP_TYPES = 1,
    TALI_PRMTOP_BONDS_H = 2,
    TALI_PRMTOP_ANGLES_H = 4,
    TALI_PRMTOP_DIHEDRALS_H = 6,
    TALI_PRMTOP_EXCLUDED = 10,
    TALI_PRMTOP_RESIDUES = 11,
    TALI_PRMTOP_BONDS = 12,
    TALI_PRMTOP_ANGLES = 13,
    TALI_PRMTOP_DIHEDRALS = 14,
    TALI_PRMTOP_BOND_KINDS = 15,
    TALI_PRMTOP_ANGLE_KINDS = 16,
    TALI_PRMTOP_DIHEDRAL_KINDS = 17,
    TALI_PRMTOP_HBONDS = 19,
    TALI_PRMTOP_PERTURBED = 20,
    TALI_PRMTOP_BOX = 27,
    TALI_PRMTOP_CAP = 29,
    TALI_PRMTOP_NUM = 30
} tali_prmtop_pointer;

/// A section: values in columns of one width, several to a line.
typedef struct tali_prmtop_section {
    char name[TALI_PRMTOP_NAME + 1];
    int per_line, width;
    const char *begin, *end; ///< its lines
    int line;                ///< number of the first of them
} tali_prmtop_section;

typedef struct tali_prmtop {
    tali_atoms_reader *r;
    tali_arena arena; ///< of values
    tali_prmtop_section sections[TALI_PRMTOP_MOST_SECTIONS];
    int num_sections;
    int num[TALI_PRMTOP_NUM]; ///< tali_prmtop_pointer
} tali_prmtop;

/// Find the sections, and read how many there are of what. False with an error.
bool tali_prmtop_begin(tali_prmtop *it, tali_atoms_reader *r);

void tali_prmtop_end(tali_prmtop *it);

/// The section of a name; NULL when there is none.
const tali_prmtop_section *tali_prmtop_find(const tali_prmtop *it, const char *name);

/// @name Values of a section, in the arena. NULL, with an error, when there are not that many, or
/// one is none; when there is no such section an error, or, if it is `optional`, none.
/// @{
const int *tali_prmtop_integers(tali_prmtop *it, const char *name, long count, bool optional);
const double *tali_prmtop_numbers(tali_prmtop *it, const char *name, long count, bool optional);
/// Texts without blanks around them.
const tali_table_span *tali_prmtop_words(tali_prmtop *it, const char *name, long count,
                                         bool optional);
/// @}

/// An error in a section. @param[in] i  which of its values, from 0; -1: all of it
void tali_prmtop_error(tali_prmtop *it, const char *name, long i, const char *fmt, ...)
    TAL_PRINTF(4, 5);

/// Names, residues, elements and bonds.
bool tali_prmtop_make_atoms(tali_prmtop *it);

/// Bonds, three numbers each: the atoms, from 0, and which kind of bond, from 0.
const int *tali_prmtop_bonds(tali_prmtop *it, bool of_hydrogen, int *count);

/// Terms of `arity` atoms, with the kind behind them; what is negative is left as it is. NULL with
/// an error for atoms and kinds that are not there.
const int *tali_prmtop_terms(tali_prmtop *it, const char *name, int count, int arity, int kinds);

#endif // TALUS_IO_PRMTOP_INTERNAL_H
