// A force field as a struct: classes, types, tables of bonded parameters, mixed pairs.
#ifndef TALUS_FIELD_INTERNAL_H
#define TALUS_FIELD_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"
#include "molecule_facts_internal.h"

/// What Born radii are reduced by [nm].
#define TALI_BORN_OFFSET 0.009

typedef struct tali_field_rows {
    tali_field_row *items; ///< sorted by key when frozen
    int count, capacity;
} tali_field_rows;

typedef struct tali_field_class {
    char name[TAL_MAX_MOL_NAME + 1];
    int element, valence;
    double sigma, well_depth; // [nm, kJ/mol]
} tali_field_class;

typedef struct tali_field_type {
    char name[TAL_MAX_MOL_NAME + 1];
    int atom_class;
    double charge, mass;   // [e, Da]
    double radius, screen; // of generalized Born models [nm, -]; 0: not given
} tali_field_type;

struct tal_ff {
    tal_allocator allocator;
    tal_ff_def def;
    tal_error error; ///< the first thing that was refused while building
    bool is_frozen;
    tali_field_class *classes;
    tali_field_type *types;
    int num_classes, class_capacity;
    int num_types, type_capacity;
    tali_field_rows tables[TALI_NUM_TABLES];
    tal_ff_pair *pairs;   ///< [num_classes^2] when frozen
    tal_ff_pair *pairs14; ///< [num_classes^2] when frozen
};

/// Whether a field may be built on; refuses otherwise. `ff` may be NULL.
bool tali_field_is_open(tal_ff *ff, const char *where);

/// Keep the first failure of building, in the name of `where`, and hand the status back.
tal_status tali_field_refuse(tal_ff *ff, tal_status status, const char *where, const char *fmt, ...)
    TAL_PRINTF(4, 5) TALI_COLD;

/// Why a field cannot be built any more.
tal_status tali_field_closed(const tal_ff *ff);

/// Whether there is a class; refuses what is not one.
bool tali_field_has_class(tal_ff *ff, int atom_class, const char *where);

/// Copy a name. What is wrong with it as a sentence; NULL: nothing.
const char *tali_field_copy_name(char to[TAL_MAX_MOL_NAME + 1], const char *name);

/// Put the classes of a row into the order that tables are sorted by: as they are or reversed, the
/// smaller.
void tali_field_canonical(int key[4], int arity);

/// Room for the names of four classes.
#define TALI_CLASSES_TEXT (4 * (TAL_MAX_MOL_NAME + 1) + 1)

/// The names of classes, with "-" between them. @param[in] key  [n]
void tali_field_say_classes(const tal_ff *ff, const int key[], int n, char out[TALI_CLASSES_TEXT]);

/// Sort the tables and drop rows that say the same twice.
tal_status tali_field_sort_tables(tal_ff *ff);

/// Fill the tables of pairs.
void tali_field_mix_pairs(tal_ff *ff);

/// The row for these classes; NULL when there is none. Torsions look for wildcards at their ends.
const tali_field_row *tali_field_find(const tal_ff *ff, tali_field_table table, const int key[4]);

/// The improper for a center of class key[2] and neighbors of the other classes, in this order;
/// NULL when there is none. @param[out] wildcards  how many classes any class stands for
const tali_field_row *tali_field_find_improper(const tal_ff *ff, const int key[4], int *wildcards);

#endif // TALUS_FIELD_INTERNAL_H
