// Protein Data Bank files, version 3.3: fixed columns, numbers beyond their width in hybrid-36.
#include "atoms/atoms_internal.h"

#include <talus/io/number.h>
#include <talus/molecule/units.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// What a file calls an atom, for CONECT.
typedef struct serial {
    int number, atom;
} serial;

// A bond as CONECT says it, once for each time it is said.
typedef struct link {
    int lo, hi;
    bool forward; // said by the lower atom
} link;

typedef struct pdb {
    tali_atoms_reader *r;
    tali_atoms_models models;
    serial *serials;
    int num_serials, serials_capacity;
    link *links;
    int num_links, links_capacity;
    bool sorted;     // the serials are
    bool has_models; // there was a MODEL
    bool in_model;   // between MODEL and ENDMDL
} pdb;

// --- columns ---

// Columns `first` to `last` of the line, counted from 1, without blanks around.
static tali_table_span columns(const tali_atoms_reader *r, int first, int last)
{
    const ptrdiff_t length = r->stop - r->text;
    const ptrdiff_t begin = first - 1 < length ? first - 1 : length;
    const ptrdiff_t end = last < length ? last : length;
    return tali_table_span_trim((tali_table_span){r->text + begin, r->text + end});
}

static bool is_record(const tali_atoms_reader *r, const char *name)
{
    return tali_table_span_is(columns(r, 1, 6), name);
}

// A number of columns; `initial` where they are blank and that is not NaN.
static bool number(tali_atoms_reader *r, int first, int last, const char *what, double initial,
                   double *value)
{
    const tali_table_span field = columns(r, first, last);
    *value = initial;
    if (field.begin == field.end && !isnan(initial)) return true;
    if (field.begin == field.end) {
        tali_atoms_error(r, first, "%s is missing: columns %d to %d are blank", what, first, last);
        return false;
    }
    return tali_atoms_number(r, field, what, value);
}

static int digit_of(char c, char first_letter)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= first_letter && c < first_letter + 26 ? c - first_letter + 10 : -1;
}

// A number in hybrid-36: decimal as long as that fits the width, then A000 to ZZZZ, then a000 to
// zzzz, to the base of 36. False when it is none.
static bool hybrid(tali_table_span field, int width, int *value)
{
    if (field.begin == field.end) return false;
    const char head = *field.begin;
    const bool upper = head >= 'A' && head <= 'Z', lower = head >= 'a' && head <= 'z';
    if (!upper && !lower) return tal_integer_read(field.begin, field.end, value) == field.end;
    if (field.end - field.begin != width) return false;
    long long n = 0, tens = 1, power = 1;
    for (int i = 0; i < width; ++i) {
        const int digit = digit_of(field.begin[i], upper ? 'A' : 'a');
        if (digit < 0) return false;
        n = 36 * n + digit;
        tens *= 10;
        if (i > 0) power *= 36;
    }
    n += tens - 10 * power + (lower ? 26 * power : 0);
    *value = (int)n;
    return n <= INT_MAX;
}

// --- atoms ---

// The element of an atom whose columns 77 and 78 are blank, by its name: in columns 13 and 14,
// right-justified, unless it is a hydrogen whose name has four letters.
static int element_by_name(const tali_atoms_reader *r)
{
    char symbol[3] = "";
    const char *at = r->text + 12;
    if (at + 2 > r->stop) return 0;
    if (*at == ' ' || (*at >= '0' && *at <= '9')) {
        symbol[0] = at[1];
    } else if (*at == 'H' && at + 4 <= r->stop && at[3] != ' ') {
        symbol[0] = 'H';
    } else {
        memcpy(symbol, at, 2);
    }
    const int element = tal_element_find(symbol);
    return element > 0 ? element : 0;
}

static bool read_element(tali_atoms_reader *r, int *element)
{
    const tali_table_span field = columns(r, 77, 78);
    char symbol[TAL_MAX_ATOM_NAME + 1];
    tali_atoms_name(field, symbol);
    *element = symbol[0] == '\0' ? element_by_name(r) : tal_element_find(symbol);
    if (*element >= 0) return true;
    if (strcmp(symbol, "D") == 0) { // deuterium is a hydrogen
        *element = 1;
        return true;
    }
    *element = 0;
    tali_atoms_warn(r, 77, "'%s' is not an element: the atom is read without one", symbol);
    return true;
}

static bool read_place(tali_atoms_reader *r, tali_atoms_record *record)
{
    double x, y, z, b;
    if (!number(r, 31, 38, "x", TALI_NAN, &x) || !number(r, 39, 46, "y", TALI_NAN, &y) ||
        !number(r, 47, 54, "z", TALI_NAN, &z) ||
        !number(r, 55, 60, "the occupancy", 1.0, &record->one.atom.occupancy) ||
        !number(r, 61, 66, "the B factor", 0.0, &b)) {
        return false;
    }
    record->x = tal_v3(x / TALI_ATOMS_PER_NM, y / TALI_ATOMS_PER_NM, z / TALI_ATOMS_PER_NM);
    record->one.atom.b_factor = b / (TALI_ATOMS_PER_NM * TALI_ATOMS_PER_NM);
    return true;
}

static bool read_names(tali_atoms_reader *r, tali_atoms_record *record)
{
    tali_atoms_name(columns(r, 13, 16), record->one.name);
    tali_atoms_name(columns(r, 17, 17), record->alternate);
    tali_atoms_name(columns(r, 18, 21), record->one.residue);
    tali_atoms_name(columns(r, 22, 22), record->one.chain);
    const tali_table_span insertion = columns(r, 27, 27);
    if (insertion.begin < insertion.end) record->one.insertion[0] = *insertion.begin;
    const tali_table_span residue = columns(r, 23, 26);
    char shown[44];
    if (record->one.name[0] == '\0') {
        tali_atoms_error(r, 13, "the name of the atom is missing: columns 13 to 16 are blank");
        return false;
    }
    if (hybrid(residue, 4, &record->one.atom.residue_number)) return true;
    tali_atoms_error(r, 23, "'%s' is not the number of a residue", tali_table_show(residue, shown));
    return false;
}

static void keep_serial(pdb *it, int atom)
{
    tali_atoms_reader *r = it->r;
    int n = 0;
    // what has run out of numbers is stars in many files; only CONECT needs it
    if (it->models.num > 0 || !hybrid(columns(r, 7, 11), 5, &n)) return;
    if (!tali_grow(&r->how.allocator, (void **)&it->serials, it->num_serials, &it->serials_capacity,
                   sizeof *it->serials)) {
        r->no_memory = true;
        return;
    }
    it->serials[it->num_serials++] = (serial){n, atom};
}

static void read_atom(pdb *it)
{
    tali_atoms_record record = {.one.atom = tal_atom_default()};
    record.one.atom.is_hetero = is_record(it->r, "HETATM");
    if (!read_names(it->r, &record) || !read_place(it->r, &record) ||
        !read_element(it->r, &record.one.atom.element)) {
        return;
    }
    const int atom = tali_atoms_take(it->r, &it->models, &record);
    if (atom >= 0) keep_serial(it, atom);
}

static void read_box(pdb *it)
{
    static const char *const names[] = {"a", "b", "c", "alpha", "beta", "gamma"};
    static const int ends[] = {6, 15, 24, 33, 40, 47, 54};
    double values[6];
    for (int k = 0; k < 6; ++k) {
        if (!number(it->r, ends[k] + 1, ends[k + 1], names[k], TALI_NAN, &values[k])) return;
    }
    (void)tali_atoms_box(it->r, values, values + 3, &it->models.frame);
}

// --- bonds ---

static int by_number(const void *a, const void *b)
{
    const serial *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

static int by_atoms(const void *a, const void *b)
{
    const link *p = a, *q = b;
    if (p->lo != q->lo) return p->lo < q->lo ? -1 : 1;
    return (p->hi > q->hi) - (p->hi < q->hi);
}

// The atom of a serial number in columns; -1 where they are blank, or, with a warning, where there
// is none.
static int linked_atom(pdb *it, int first)
{
    tali_atoms_reader *r = it->r;
    const tali_table_span field = columns(r, first, first + 4);
    char shown[44];
    serial key = {0, 0};
    if (field.begin == field.end) return -1;
    if (!hybrid(field, 5, &key.number)) {
        tali_atoms_error(r, first, "'%s' is not the number of an atom",
                         tali_table_show(field, shown));
        return -1;
    }
    const serial *found = it->num_serials > 0 ? bsearch(&key, it->serials, (size_t)it->num_serials,
                                                        sizeof *it->serials, by_number)
                                              : NULL;
    if (found != NULL) return found->atom;
    tali_atoms_warn(r, first, "there is no atom %s: its bond is left out",
                    tali_table_show(field, shown));
    return -1;
}

// CONECT: an atom and up to four that are bonded to it, one of them twice for a double bond.
static void read_links(pdb *it)
{
    if (!it->sorted && it->num_serials > 0) {
        qsort(it->serials, (size_t)it->num_serials, sizeof *it->serials, by_number);
    }
    it->sorted = true;
    const int a = linked_atom(it, 7);
    for (int k = 0; k < 4 && a >= 0 && tali_atoms_goes_on(it->r); ++k) {
        const int b = linked_atom(it, 12 + 5 * k);
        if (b < 0 || b == a) continue;
        if (!tali_grow(&it->r->how.allocator, (void **)&it->links, it->num_links,
                       &it->links_capacity, sizeof *it->links)) {
            it->r->no_memory = true;
            return;
        }
        it->links[it->num_links++] = (link){a < b ? a : b, a < b ? b : a, a < b};
    }
}

// A bond is said by both of its atoms, or by one; the order is how often one of them says it.
static void add_bonds(pdb *it)
{
    tali_atoms_reader *r = it->r;
    if (it->num_links > 0) {
        qsort(it->links, (size_t)it->num_links, sizeof *it->links, by_atoms);
    }
    for (int i = 0; i < it->num_links && tali_atoms_goes_on(r);) {
        const link *first = &it->links[i];
        int said[2] = {0, 0};
        for (; i < it->num_links && by_atoms(first, &it->links[i]) == 0; ++i) {
            said[it->links[i].forward ? 1 : 0] += 1;
        }
        const int most = said[0] > said[1] ? said[0] : said[1];
        const int order = most < 3 ? most : 3;
        (void)tali_atoms_good(r, tal_atoms_add_bond(r->atoms, first->lo, first->hi, order));
    }
}

// --- the whole file ---

static void end_model(pdb *it)
{
    it->in_model = false;
    (void)tali_atoms_end_model(it->r, &it->models);
}

// One line. Records that are not named here say nothing of atoms.
static void read_record(pdb *it)
{
    if (is_record(it->r, "ATOM") || is_record(it->r, "HETATM")) {
        if (!it->in_model && it->has_models) {
            tali_atoms_error(it->r, 0, "there is an atom outside of all models");
        } else {
            read_atom(it);
        }
    } else if (is_record(it->r, "MODEL")) {
        if (it->r->num > 0) {
            tali_atoms_error(it->r, 0, "a model begins, but there is no ENDMDL before it");
        }
        it->in_model = true;
        it->has_models = true;
    } else if (is_record(it->r, "ENDMDL")) {
        end_model(it);
    } else if (is_record(it->r, "END")) { // between frames of trajectories, too
        if (it->r->num > 0) end_model(it);
    } else if (is_record(it->r, "CRYST1")) {
        read_box(it);
    } else if (is_record(it->r, "CONECT")) {
        read_links(it);
    }
}

void tali_atoms_read_pdb(tali_atoms_reader *r)
{
    pdb it = {.r = r, .models.frame.time = TALI_NAN};
    while (tali_atoms_next_line(r)) {
        read_record(&it);
    }
    if (r->errors == 0 && !r->no_memory) {
        if (it.in_model) {
            tali_atoms_file_error(r, "the file ends in a model: there is no ENDMDL");
        } else if (it.models.num == 0 && r->num == 0) {
            tali_atoms_file_error(r, "there are no atoms: no line begins with ATOM or HETATM");
        } else if (r->num > 0) {
            end_model(&it);
        }
    }
    if (r->errors == 0 && !r->no_memory) add_bonds(&it);
    const tal_allocator *heap = &r->how.allocator;
    tali_free(heap, it.serials, (size_t)it.serials_capacity * sizeof *it.serials);
    tali_free(heap, it.links, (size_t)it.links_capacity * sizeof *it.links);
    tali_atoms_models_free(r, &it.models);
}
