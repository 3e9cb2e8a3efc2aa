// Writing a model file: elements described by the functions in their rows, and made into text.
#ifndef TALUS_IO_MODEL_WRITE_INTERNAL_H
#define TALUS_IO_MODEL_WRITE_INTERNAL_H

#include "function_facts_internal.h"

#include "model/model_internal.h"
#include "text/name_map_internal.h"

#include <string.h>

/// A model being written as text.
struct tali_model_writer {
    tal_model model;
    const tal_model_registry *registry; ///< may be NULL
    tal_force_ix gravity;               ///< `i` < 0: there is none
    tali_name_map markers;              ///< names of those that are written
    tali_model_sink out;
    tal_error *err;
    tal_status status;
};

/// An element as a file says it. Values are in the order of its row's attributes, as those of an
/// item are, but references are indices of bodies and measures: room for all that any has.
struct tali_model_description {
    tali_model_writer *w;
    const tali_model_row *row;
    const char *name;  ///< NULL: none
    const char *whose; ///< where it has none: name of what it is in
    int index;         ///< of the body, constraint, ... force; or its number in what it is in
    int owner;         ///< index of what it is in
    int part;          ///< of a load: mobility of the body `index`
    const tali_function_facts *function; ///< instead of all these, of a function

    double p[TALI_BODY_NUMBERS + TAL_MODEL_MAX_ATTRIBUTES * TAL_MODEL_MAX_NUMBERS];
    int ref[TALI_BODY_REFS + 2 * TAL_MODEL_MAX_ATTRIBUTES];
    const char *text[3 + TAL_MODEL_MAX_ATTRIBUTES];
    tali_model_list lists[TALI_BODY_LISTS + TAL_MODEL_MAX_ATTRIBUTES];
    tali_model_room at; ///< how much of these is said
    tali_model_mobility_ref mobilities[TAL_CONSTRAINT_MOBILITIES];
    int num_mobilities;
    const tal_function *functions[TAL_MAX_NQ]; ///< that are in it
    int num_functions;

    double kept[64]; ///< numbers of lists that are nowhere else
    int num_kept;
    char digits[24]; ///< the same for a text
};

/// @name Say the next value of a type
/// @{
static inline void tali_model_say_numbers(tali_model_description *d, const double values[],
                                          int count)
{
    if (count > 0) memcpy(d->p + d->at.p, values, (size_t)count * sizeof *values);
    d->at.p += count;
}

static inline void tali_model_say_vec3(tali_model_description *d, tal_vec3 v)
{
    tali_model_say_numbers(d, &v.x, 3);
}

static inline void tali_model_say_number(tali_model_description *d, double value)
{
    d->p[d->at.p++] = value;
}

/// A frame as twelve numbers.
static inline void tali_model_say_frame(tali_model_description *d, const tal_xform *X)
{
    memcpy(d->p + d->at.p, &X->R, 9 * sizeof *d->p);
    memcpy(d->p + d->at.p + 9, &X->p, 3 * sizeof *d->p);
    d->at.p += 12;
}

/// A whole number, a yes or no, a word by its number, or an index.
static inline void tali_model_say_index(tali_model_description *d, int value)
{
    d->ref[d->at.ref++] = value;
}

static inline void tali_model_say_text(tali_model_description *d, const char *text)
{
    d->text[d->at.text++] = text != NULL ? text : "";
}

static inline void tali_model_say_list(tali_model_description *d, tali_model_list list)
{
    d->lists[d->at.lists++] = list;
}

/// Numbers in a row, which stay where they are until the element is written.
static inline void tali_model_say_values(tali_model_description *d, const double values[],
                                         int count)
{
    tali_model_say_list(d, (tali_model_list){.shown = values, .count = count, .stride = 1});
}

/// Room for numbers of lists.
static inline double *tali_model_keep_values(tali_model_description *d, int count)
{
    double *values = d->kept + d->num_kept;
    d->num_kept += count;
    return values;
}

static inline void tali_model_say_function(tali_model_description *d, const tal_function *f)
{
    if (f != NULL) d->functions[d->num_functions++] = f;
}

/// What an element is about, whatever its row calls it.
typedef struct tali_model_targets {
    int bodies[3];
    tal_measure_ix measures[2];
    tal_mobility mobility;
    int constraint, integer, word, path, unilateral;
    bool flags[2];
} tali_model_targets;

/// Say the references of the row's own attributes by their types: the first body, the second, ...
void tali_model_say_targets(tali_model_description *d, const tali_model_targets *from);
/// @}

/// Refuse to write something. The first failure wins.
void tali_model_write_refuse(tali_model_writer *w, const char *fmt, ...) TAL_PRINTF(2, 3);

/// Refuse an element of a kind that no file knows.
void tali_model_refuse_table(const tali_model_description *d, const char *subject,
                             const char *kind);

/// Text as the value of an attribute.
void tali_model_write_text(tali_model_writer *w, const char *text);

/// Describe an element and write it between `before` and `after`, with all that is in it.
void tali_model_write_element(tali_model_description *d, const char *before, const char *after);

/// Why an element is refused that is a table of a user's.
#define TALI_NOT_REGISTERED                                                                        \
    "which cannot be written to a file unless it is registered (talus/io/registry.h)"

/// The row of what the API calls `kind`; NULL when there is none.
const tali_model_row *tali_model_row_of_kind(tali_model_group group, const char *kind);

/// @name Molecules
/// @{

/// Which of the force fields of a System it is, by the molecules that use it first.
int tali_model_field_number(const tali_model_writer *w, const tal_ff *ff);

#define TALI_FIELD_NAME_SIZE 24

/// Its name in the file.
void tali_model_field_name(int number, char out[TALI_FIELD_NAME_SIZE]);

/// The law of a function of a dihedral, for its attributes. It stays where it is.
void tali_model_say_waves(tali_model_description *d, const tali_field_law *law, bool has_harmonic);

/// Whether a body, or a decoration, is part of a molecule.
bool tali_model_is_of_molecule(const tali_model_writer *w, tal_body_ix body);
bool tali_model_is_of_picture(const tali_model_writer *w, int decoration);
/// @}

/// @name Elements of a user's own
/// @{

/// The row of what is registered for a table, in `own`; NULL when nothing is.
const tali_model_row *tali_model_registered(const tali_model_writer *w, tal_model_place place,
                                            const void *ops, tali_model_own_row *own);
const tali_model_row *tali_model_registered_measure(const tali_model_writer *w,
                                                    tal_measure_ix measure,
                                                    tali_model_own_row *own);
/// @}

#endif // TALUS_IO_MODEL_WRITE_INTERNAL_H
