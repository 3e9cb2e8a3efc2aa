// Topologies of AMBER as sections: %FLAG, %FORMAT, and values in columns.
#include "atoms/prmtop_internal.h"
#include "text/text_internal.h"

#include <talus/io/number.h>
#include <talus/molecule/units.h>

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// --- sections ---

static bool line_is(const tali_atoms_reader *r, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(r->stop - r->text) >= length && memcmp(r->text, word, length) == 0;
}

// A whole number at the beginning of a text, at most 1000; 0 when there is none.
static int small_number(const char **at, const char *stop)
{
    int n = 0;
    while (*at < stop && **at >= '0' && **at <= '9') {
        if (n < 1000) n = 10 * n + (**at - '0');
        ++*at;
    }
    return n;
}

// %FORMAT(10I8), (5E16.8), (20a4), (1a80): how many to a line, and how wide.
static bool read_format(tali_atoms_reader *r, tali_prmtop_section *section)
{
    const char *at = memchr(r->text, '(', (size_t)(r->stop - r->text));
    if (at != NULL) {
        ++at;
        section->per_line = small_number(&at, r->stop);
        if (section->per_line == 0) section->per_line = 1;
        const char kind = (char)(at < r->stop ? *at++ : ' ');
        section->width = small_number(&at, r->stop);
        if (strchr("aAiIeEfF", kind) != NULL && section->width > 0) return true;
    }
    tali_atoms_error(r, 1, "section %s: this is not a format like (10I8), (5E16.8) or (20a4)",
                     section->name);
    return false;
}

// %FLAG, comments, %FORMAT, and lines of values up to the next %FLAG.
static bool read_section(tali_atoms_reader *r, tali_prmtop_section *section)
{
    const tali_table_span name = tali_table_span_trim((tali_table_span){r->text + 5, r->stop});
    const size_t length = (size_t)(name.end - name.begin);
    memset(section, 0, sizeof *section);
    const size_t kept = length < TALI_PRMTOP_NAME ? length : TALI_PRMTOP_NAME;
    if (kept > 0) memcpy(section->name, name.begin, kept);
    while (tali_atoms_next_line(r) && !line_is(r, "%FORMAT")) {
        if (!line_is(r, "%COMMENT")) {
            tali_atoms_error(r, 1, "section %s: its %%FORMAT is missing", section->name);
            return false;
        }
    }
    if (!line_is(r, "%FORMAT")) {
        tali_atoms_error(r, 1, "section %s: the file ends before its %%FORMAT", section->name);
        return false;
    }
    if (!read_format(r, section)) return false;
    section->begin = r->at;
    section->end = r->at;
    section->line = r->line + 1;
    while (r->at < r->end && *r->at != '%' && tali_atoms_next_line(r)) {
        section->end = r->stop;
    }
    return true;
}

// All sections, from the first line to the last.
static bool find_sections(tali_prmtop *it)
{
    tali_atoms_reader *r = it->r;
    if (!tali_atoms_next_line(r) || !line_is(r, "%VERSION")) {
        tali_atoms_file_error(r, "this is not a .prmtop file: it does not begin with %%VERSION; "
                                 "files of AMBER 6 and before are not read");
        return false;
    }
    while (tali_atoms_next_line(r)) {
        if (line_is(r, "%COMMENT")) continue;
        if (!line_is(r, "%FLAG")) {
            tali_atoms_error(r, 1, "a section begins with %%FLAG");
            return false;
        }
        if (it->num_sections == TALI_PRMTOP_MOST_SECTIONS) {
            tali_atoms_error(r, 1, "there are more than %d sections", TALI_PRMTOP_MOST_SECTIONS);
            return false;
        }
        if (!read_section(r, &it->sections[it->num_sections])) return false;
        it->num_sections += 1;
    }
    return tali_atoms_goes_on(r);
}

const tali_prmtop_section *tali_prmtop_find(const tali_prmtop *it, const char *name)
{
    for (int i = 0; i < it->num_sections; ++i) {
        if (strcmp(it->sections[i].name, name) == 0) return &it->sections[i];
    }
    return NULL;
}

void tali_prmtop_error(tali_prmtop *it, const char *name, long i, const char *fmt, ...)
{
    char text[240], where[40] = "";
    va_list args;
    va_start(args, fmt);
    tali_error_print(text, sizeof text, fmt, args);
    va_end(args);
    const tali_prmtop_section *section = tali_prmtop_find(it, name);
    int line = 0, column = 0;
    if (section != NULL && i >= 0) {
        line = section->line + (int)(i / section->per_line);
        column = 1 + (int)(i % section->per_line) * section->width;
        (void)snprintf(where, sizeof where, ", value %ld", i + 1);
    } else if (section != NULL) {
        line = section->line - 1;
    }
    it->r->errors += 1;
    tal_diagnostics_add(it->r->found, TAL_ERROR, it->r->file, line, column, "section %s%s: %s",
                        name, where, text);
}

// --- values ---

// Goes over the values of a section.
typedef struct walk {
    const tali_prmtop_section *section;
    const char *line, *stop; // the line
    int in_line;
} walk;

static void find_stop(walk *w)
{
    const char *newline = memchr(w->line, '\n', (size_t)(w->section->end - w->line));
    w->stop = newline != NULL ? newline : w->section->end;
}

// The next value, blanks included; false when the section ends.
static bool next_value(walk *w, tali_table_span *value)
{
    if (w->in_line == w->section->per_line) {
        if (w->stop >= w->section->end) return false;
        w->line = w->stop + 1;
        w->in_line = 0;
        find_stop(w);
    }
    const ptrdiff_t at = (ptrdiff_t)w->in_line * w->section->width, length = w->stop - w->line;
    if (at >= length) return false;
    const ptrdiff_t end = at + w->section->width < length ? at + w->section->width : length;
    *value = (tali_table_span){w->line + at, w->line + end};
    w->in_line += 1;
    return true;
}

// Room for the values of a section, with a walk over them. NULL, and an error unless it is
// optional, when there is none.
static void *begin_values(tali_prmtop *it, const char *name, long count, size_t size, bool optional,
                          walk *w)
{
    const tali_prmtop_section *section = tali_prmtop_find(it, name);
    if (section == NULL) {
        if (!optional) tali_prmtop_error(it, name, -1, "it is missing");
        return NULL;
    }
    // every value has a character: where there are fewer, nothing is allocated
    if (section->end - section->begin < count) {
        tali_prmtop_error(it, name, -1, "there must be %ld values, and there are fewer", count);
        return NULL;
    }
    void *values = tali_arena_take(&it->arena, ((size_t)count + 1) * size);
    if (values == NULL) it->r->no_memory = true;
    *w = (walk){.section = section, .line = section->begin};
    find_stop(w);
    return values;
}

static bool take_value(tali_prmtop *it, walk *w, long i, long count, tali_table_span *value)
{
    if (next_value(w, value)) {
        *value = tali_table_span_trim(*value);
        return true;
    }
    tali_prmtop_error(it, w->section->name, i, "there must be %ld values, and there are %ld", count,
                      i);
    return false;
}

const int *tali_prmtop_integers(tali_prmtop *it, const char *name, long count, bool optional)
{
    walk w;
    int *values = begin_values(it, name, count, sizeof *values, optional, &w);
    for (long i = 0; values != NULL && i < count; ++i) {
        tali_table_span value;
        char shown[44];
        if (!take_value(it, &w, i, count, &value)) return NULL;
        if (value.begin < value.end &&
            tal_integer_read(value.begin, value.end, &values[i]) == value.end) {
            continue;
        }
        tali_prmtop_error(it, name, i, "'%s' is not a whole number", tali_table_show(value, shown));
        return NULL;
    }
    return values;
}

const double *tali_prmtop_numbers(tali_prmtop *it, const char *name, long count, bool optional)
{
    walk w;
    double *values = begin_values(it, name, count, sizeof *values, optional, &w);
    for (long i = 0; values != NULL && i < count; ++i) {
        tali_table_span value;
        char shown[44];
        if (!take_value(it, &w, i, count, &value)) return NULL;
        if (value.begin < value.end &&
            tal_number_read(value.begin, value.end, &values[i]) == value.end &&
            isfinite(values[i])) {
            continue;
        }
        tali_prmtop_error(it, name, i, "'%s' is not a finite number",
                          tali_table_show(value, shown));
        return NULL;
    }
    return values;
}

const tali_table_span *tali_prmtop_words(tali_prmtop *it, const char *name, long count,
                                         bool optional)
{
    walk w;
    tali_table_span *values = begin_values(it, name, count, sizeof *values, optional, &w);
    for (long i = 0; values != NULL && i < count; ++i) {
        if (!take_value(it, &w, i, count, &values[i])) return NULL;
    }
    return values;
}

// --- how many there are ---

// What a topology may have that is not computed: sections, by name.
static bool refuse_sections(tali_prmtop *it)
{
    static const struct {
        const char *section, *why;
    } refused[] = {
        {"CTITLE", "this is a topology of CHAMBER, with terms of CHARMM, which are not read"},
        {"FORCE_FIELD_TYPE", "this is a topology of CHAMBER, with terms of CHARMM, which are not "
                             "read"},
        {"CMAP_COUNT", "CMAP terms are not computed"},
        {"CHARMM_CMAP_COUNT", "CMAP terms are not computed"},
        {"POLARIZABILITY", "polarizabilities are not computed"},
        {"AMOEBA_FORCEFIELD", "terms of AMOEBA are not computed"}};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        if (tali_prmtop_find(it, refused[i].section) == NULL) continue;
        tali_prmtop_error(it, refused[i].section, -1, "%s", refused[i].why);
        return false;
    }
    return true;
}

// Numbers of other things than these are not looked at.
static bool check_numbers(tali_prmtop *it)
{
    static const struct {
        const char *name;
        tali_prmtop_pointer which;
        int most;
    } limits[] = {{"NATOM", TALI_PRMTOP_ATOMS, TALI_ATOMS_MOST},
                  {"NTYPES", TALI_PRMTOP_TYPES, 10000},
                  {"NBONH", TALI_PRMTOP_BONDS_H, INT_MAX / 8},
                  {"NBONA", TALI_PRMTOP_BONDS, INT_MAX / 8},
                  {"NTHETH", TALI_PRMTOP_ANGLES_H, INT_MAX / 8},
                  {"NTHETA", TALI_PRMTOP_ANGLES, INT_MAX / 8},
                  {"NPHIH", TALI_PRMTOP_DIHEDRALS_H, INT_MAX / 8},
                  {"NPHIA", TALI_PRMTOP_DIHEDRALS, INT_MAX / 8},
                  {"NNB", TALI_PRMTOP_EXCLUDED, INT_MAX / 8},
                  {"NRES", TALI_PRMTOP_RESIDUES, TALI_ATOMS_MOST},
                  {"NUMBND", TALI_PRMTOP_BOND_KINDS, 1000000},
                  {"NUMANG", TALI_PRMTOP_ANGLE_KINDS, 1000000},
                  {"NPTRA", TALI_PRMTOP_DIHEDRAL_KINDS, 1000000},
                  {"NPHB", TALI_PRMTOP_HBONDS, 1000000}};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
        const int n = it->num[limits[i].which];
        if (n >= 0 && n <= limits[i].most) continue;
        tali_prmtop_error(it, "POINTERS", (long)limits[i].which, "%s is %d; it is 0 to %d",
                          limits[i].name, n, limits[i].most);
        return false;
    }

    static const struct {
        tali_prmtop_pointer which;
        const char *why;
    } absent[] = {{TALI_PRMTOP_PERTURBED, "perturbed topologies are not read"},
                  {TALI_PRMTOP_CAP, "caps of water are not computed"}};

    for (size_t i = 0; i < sizeof absent / sizeof *absent; ++i) {
        if (it->num[absent[i].which] == 0) continue;
        tali_prmtop_error(it, "POINTERS", (long)absent[i].which, "%s", absent[i].why);
        return false;
    }
    if (it->num[TALI_PRMTOP_ATOMS] > 0) return true;
    tali_prmtop_error(it, "POINTERS", 0, "there are no atoms");
    return false;
}

bool tali_prmtop_begin(tali_prmtop *it, tali_atoms_reader *r)
{
    memset(it, 0, sizeof *it);
    it->r = r;
    it->arena = tali_arena_make(&r->how.allocator);
    if (!find_sections(it) || !refuse_sections(it)) return false;
    const int *num = tali_prmtop_integers(it, "POINTERS", TALI_PRMTOP_NUM, false);
    if (num == NULL) return false;
    memcpy(it->num, num, sizeof it->num);
    return check_numbers(it);
}

void tali_prmtop_end(tali_prmtop *it)
{
    tali_arena_free(&it->arena);
}

// --- atoms ---

// Numbers of elements; files of old programs do not have them.
static const int *elements_of(tali_prmtop *it)
{
    const int n = it->num[TALI_PRMTOP_ATOMS];
    const int *elements = tali_prmtop_integers(it, "ATOMIC_NUMBER", n, true);
    for (int i = 0; elements != NULL && i < n; ++i) {
        if (elements[i] >= -1 && elements[i] <= TAL_MAX_ELEMENT) continue;
        tali_prmtop_error(it, "ATOMIC_NUMBER", i, "%d is not an element", elements[i]);
        return NULL;
    }
    return elements;
}

// Atoms with their names; a residue goes on until the next one begins.
static bool add_names(tali_prmtop *it, const tali_table_span names[],
                      const tali_table_span residues[], const int first[], const int elements[])
{
    tali_atoms_reader *r = it->r;
    const int num_residues = it->num[TALI_PRMTOP_RESIDUES];
    char name[TAL_MAX_ATOM_NAME + 1], residue[TAL_MAX_ATOM_NAME + 1];
    for (int i = 0, k = -1; i < it->num[TALI_PRMTOP_ATOMS]; ++i) {
        while (k + 1 < num_residues && first[k + 1] <= i + 1) {
            ++k;
        }
        tal_atom atom = tal_atom_default();
        tali_atoms_name(names[i], name);
        residue[0] = '\0';
        if (k >= 0) tali_atoms_name(residues[k], residue);
        if (tali_atoms_name_flaw(name, TAL_MAX_ATOM_NAME) != NULL || name[0] == '\0') {
            tali_prmtop_error(it, "ATOM_NAME", i, "'%s' is not the name of an atom", name);
            return false;
        }
        if (tali_atoms_name_flaw(residue, TAL_MAX_ATOM_NAME) != NULL) {
            tali_prmtop_error(it, "RESIDUE_LABEL", k, "'%s' is not the name of a residue", residue);
            return false;
        }
        atom.name = name;
        atom.residue = residue;
        atom.residue_number = k + 1;
        atom.element = elements != NULL && elements[i] > 0 ? elements[i] : 0;
        if (!tali_atoms_good(r, tal_atoms_add(r->atoms, &atom))) return false;
    }
    return true;
}

const int *tali_prmtop_terms(tali_prmtop *it, const char *name, int count, int arity, int kinds)
{
    const int width = arity + 1;
    const int *values = tali_prmtop_integers(it, name, (long)count * width, false);
    for (long i = 0; values != NULL && i < (long)count * width; ++i) {
        const int column = (int)(i % width), value = values[i];
        if (column == arity) {
            if (value >= 1 && value <= kinds) continue;
            tali_prmtop_error(it, name, i, "there is no kind %d of these terms, there are %d",
                              value, kinds);
            return NULL;
        }
        // atoms are given as three times their number; the third and fourth of a dihedral may be
        // negative
        const bool may_be_negative = arity == 4 && column >= 2;
        const int atom = may_be_negative && value != INT_MIN ? abs(value) : value;
        if (atom >= 0 && atom % 3 == 0 && atom / 3 < it->num[TALI_PRMTOP_ATOMS]) continue;
        tali_prmtop_error(it, name, i, "%d is not three times the number of an atom", value);
        return NULL;
    }
    return values;
}

const int *tali_prmtop_bonds(tali_prmtop *it, bool of_hydrogen, int *count)
{
    *count = it->num[of_hydrogen ? TALI_PRMTOP_BONDS_H : TALI_PRMTOP_BONDS];
    return tali_prmtop_terms(it, of_hydrogen ? "BONDS_INC_HYDROGEN" : "BONDS_WITHOUT_HYDROGEN",
                             *count, 2, it->num[TALI_PRMTOP_BOND_KINDS]);
}

static bool add_bonds(tali_prmtop *it, bool of_hydrogen)
{
    int count;
    const int *bonds = tali_prmtop_bonds(it, of_hydrogen, &count);
    if (bonds == NULL) return false;
    for (int i = 0; i < count; ++i) {
        const int a = bonds[3 * (ptrdiff_t)i] / 3, b = bonds[3 * (ptrdiff_t)i + 1] / 3;
        if (a == b) {
            tali_prmtop_error(it, of_hydrogen ? "BONDS_INC_HYDROGEN" : "BONDS_WITHOUT_HYDROGEN",
                              3L * i, "atom %d is bonded to itself", a + 1);
            return false;
        }
        if (!tali_atoms_good(it->r, tal_atoms_add_bond(it->r->atoms, a, b, 1))) return false;
    }
    return true;
}

bool tali_prmtop_make_atoms(tali_prmtop *it)
{
    const int n = it->num[TALI_PRMTOP_ATOMS], num_residues = it->num[TALI_PRMTOP_RESIDUES];
    const tali_table_span *names = tali_prmtop_words(it, "ATOM_NAME", n, false);
    const tali_table_span *residues = tali_prmtop_words(it, "RESIDUE_LABEL", num_residues, false);
    const int *first = tali_prmtop_integers(it, "RESIDUE_POINTER", num_residues, false);
    const int *elements = elements_of(it);
    if (names == NULL || residues == NULL || first == NULL || it->r->errors > 0) return false;
    return add_names(it, names, residues, first, elements) && add_bonds(it, true) &&
           add_bonds(it, false);
}

void tali_atoms_read_prmtop(tali_atoms_reader *r)
{
    tali_prmtop it;
    if (tali_prmtop_begin(&it, r)) (void)tali_prmtop_make_atoms(&it);
    tali_prmtop_end(&it);
}
