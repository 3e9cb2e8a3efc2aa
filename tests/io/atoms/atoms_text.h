// What the tests of files of atoms share: reading and writing texts, and what is wrong with them.
#ifndef TALUS_TEST_ATOMS_TEXT_H
#define TALUS_TEST_ATOMS_TEXT_H

#include "talus_test.h"

#include <talus/io.h>

#include <stdio.h>
#include <string.h>

/// Atoms of a text without anything wrong with it.
static inline tal_atoms *atoms_of(tal_atoms_format format, const char *text, size_t size,
                                  const tal_atoms_options *options)
{
    tal_atoms *atoms = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_atoms_read_memory(format, "m", text, size, options, &atoms, found);
    ck_assert_msg(st == TAL_OK && tal_diagnostics_num(found) == 0, "%d: %s", (int)st,
                  tal_diagnostics_num(found) > 0 ? tal_diagnostics_at(found, 0)->message : "");
    tal_diagnostics_destroy(found);
    return atoms;
}

/// The first thing that is found in a text: a part of its sentence, its line and its column (-1:
/// any), and whether the text is refused.
static inline void assert_found(tal_atoms_format format, const char *text, size_t size,
                                tal_status expected, int line, int column, const char *part)
{
    tal_atoms *atoms = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_atoms_read_memory(format, "m", text, size, NULL, &atoms, found);
    ck_assert_int_eq(st, expected);
    ck_assert_int_ge(tal_diagnostics_num(found), 1);
    const tal_diagnostic *first = tal_diagnostics_at(found, 0);
    ck_assert_msg(strstr(first->message, part) != NULL, "'%s' lacks '%s'", first->message, part);
    ck_assert_msg(line < 0 || first->line == line, "line %d: %s", first->line, first->message);
    ck_assert_msg(column < 0 || first->column == column, "column %d: %s", first->column,
                  first->message);
    ck_assert_int_eq(atoms != NULL, st == TAL_OK);
    tal_atoms_destroy(atoms);
    tal_diagnostics_destroy(found);
}

#define assert_refused(format, text, line, column, part)                                           \
    assert_found(format, text, strlen(text), TAL_ERR_FILE, line, column, part)

enum {
    TEXT_ROOM = 1 << 16
};

/// A file in memory; its length.
static inline size_t text_of(const tal_atoms *atoms, tal_atoms_format format, char text[TEXT_ROOM])
{
    size_t length = 0;
    tal_error err;
    const tal_status st = tal_atoms_write_memory(atoms, format, text, TEXT_ROOM - 1, &length, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    ck_assert_uint_lt(length, TEXT_ROOM);
    text[length] = '\0';
    return length;
}

/// Positions of all atoms in a frame are those of others.
static inline void assert_same_places(const tal_atoms *a, const tal_atoms *b, int frame, double tol)
{
    tal_vec3 x[64], y[64];
    const int n = tal_atoms_num(a);
    ck_assert_int_le(n, 64);
    ck_assert_int_eq(n, tal_atoms_num(b));
    ck_assert_int_eq(tal_atoms_get_positions(a, frame, x, n), TAL_OK);
    ck_assert_int_eq(tal_atoms_get_positions(b, frame, y, n), TAL_OK);
    test_assert_near(&x[0].x, &y[0].x, 3 * n, tol, "positions");
}

/// No request of memory that is refused goes unnoticed, and none is kept.
static inline void try_all_failures(tal_atoms_format format, const char *text, size_t size)
{
    for (int n = 1;; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_atoms_options options = tal_atoms_options_default();
        options.allocator = test_heap_allocator(&heap);
        tal_atoms *atoms = NULL;
        const tal_status st =
            tal_atoms_read_memory(format, "m", text, size, &options, &atoms, NULL);
        if (st == TAL_OK) test_assert_never_refused(&heap);
        if (st != TAL_OK) ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        tal_atoms_destroy(atoms);
        ck_assert_int_eq(heap.live, 0);
        if (st == TAL_OK) break;
    }
}

#endif // TALUS_TEST_ATOMS_TEXT_H
