// Files of atoms: which format, lines, words, numbers; frames as they are read.
#include "file_internal.h"

#include "atoms/atoms_internal.h"
#include "text/reading_internal.h"
#include "text/text_internal.h"

#include <talus/common/rotation.h>
#include <talus/io/number.h>
#include <talus/molecule/units.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --- reports ---

static void report(tali_atoms_reader *r, tal_severity severity, int line, int column,
                   const char *fmt, va_list args)
{
    char text[300];
    tali_error_print(text, sizeof text, fmt, args);
    tal_diagnostics_add(r->found, severity, r->file, line, column, "%s", text);
    if (severity == TAL_ERROR) r->errors += 1;
}

void tali_atoms_error(tali_atoms_reader *r, int column, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, TAL_ERROR, r->line, column, fmt, args);
    va_end(args);
}

void tali_atoms_warn(tali_atoms_reader *r, int column, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, TAL_WARNING, r->line, column, fmt, args);
    va_end(args);
}

void tali_atoms_file_error(tali_atoms_reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, TAL_ERROR, 0, 0, fmt, args);
    va_end(args);
}

bool tali_atoms_goes_on(const tali_atoms_reader *r)
{
    return !r->no_memory && r->errors < TALI_ATOMS_MOST_ERRORS;
}

bool tali_atoms_good(tali_atoms_reader *r, tal_status st)
{
    if (st == TAL_OK) return true;
    if (st == TAL_ERR_NO_MEMORY) {
        r->no_memory = true;
    } else {
        tali_atoms_error(r, 0, "%s", tal_status_text(st));
    }
    return false;
}

// --- lines and words ---

bool tali_atoms_next_line(tali_atoms_reader *r)
{
    if (r->at >= r->end || !tali_atoms_goes_on(r)) return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->text = r->at;
    r->stop = newline != NULL ? newline : r->end;
    r->at = newline != NULL ? newline + 1 : r->end;
    if (r->stop > r->text && r->stop[-1] == '\r') --r->stop;
    r->line += 1;
    return true;
}

bool tali_atoms_next_word(const tali_atoms_reader *r, const char **at, tali_table_span *word)
{
    while (*at < r->stop && tali_text_is_blank(**at)) {
        ++*at;
    }
    word->begin = *at;
    while (*at < r->stop && !tali_text_is_blank(**at)) {
        ++*at;
    }
    word->end = *at;
    return word->begin < word->end;
}

bool tali_atoms_number(tali_atoms_reader *r, tali_table_span word, const char *what, double *value)
{
    char shown[44];
    if (word.begin < word.end && tal_number_read(word.begin, word.end, value) == word.end &&
        isfinite(*value)) {
        return true;
    }
    const bool is_here = r->stop != NULL && word.begin >= r->text && word.begin <= r->stop;
    tali_atoms_error(r, is_here ? (int)(word.begin - r->text) + 1 : 0,
                     "%s: '%s' is not a finite number", what, tali_table_show(word, shown));
    return false;
}

void tali_atoms_name(tali_table_span span, char name[])
{
    const size_t length = (size_t)(span.end - span.begin);
    const size_t kept = length < TAL_MAX_ATOM_NAME ? length : TAL_MAX_ATOM_NAME;
    if (kept > 0) memcpy(name, span.begin, kept);
    name[kept] = '\0';
}

// --- frames ---

bool tali_atoms_push(tali_atoms_reader *r, tal_vec3 x)
{
    if (!tali_grow(&r->how.allocator, (void **)&r->x, r->num, &r->capacity, sizeof *r->x)) {
        r->no_memory = true;
        return false;
    }
    r->x[r->num++] = x;
    return true;
}

bool tali_atoms_end_frame(tali_atoms_reader *r, const tal_vec3 v[], const tal_atoms_frame *frame)
{
    const int n = r->num;
    r->num = 0;
    if (r->errors > 0) return true; // the file is refused: what follows is only looked at
    return tali_atoms_good(r, tal_atoms_add_frame(r->atoms, r->x, v, n, frame));
}

bool tali_atoms_need(tali_atoms_reader *r, int num)
{
    const tal_atoms *names = r->how.names;
    if (names != NULL && names->num != num) {
        tali_atoms_error(r, 0, "there are %d atoms, but %d in the file that names them", num,
                         names->num);
        return false;
    }
    if (num > TALI_ATOMS_MOST) {
        tali_atoms_error(r, 0, "there are %d atoms; at most %d can be read", num, TALI_ATOMS_MOST);
        return false;
    }
    const tal_atom nameless = tal_atom_default();
    for (int i = 0; i < num; ++i) {
        const tal_atom atom = names != NULL ? tal_atoms_at(names, i) : nameless;
        if (!tali_atoms_good(r, tal_atoms_add(r->atoms, &atom))) return false;
    }
    for (int i = 0; names != NULL && i < names->num_bonds; ++i) {
        const tali_atoms_bond *bond = &names->bonds[i];
        if (!tali_atoms_good(r, tal_atoms_add_bond(r->atoms, bond->a, bond->b, bond->order))) {
            return false;
        }
    }
    return true;
}

bool tali_atoms_box(tali_atoms_reader *r, const double edges[3], const double angles[3],
                    tal_atoms_frame *frame)
{
    frame->edges = tal_v3(0.0, 0.0, 0.0);
    frame->angles = frame->edges;
    const bool is_unit = edges[0] == 1.0 && edges[1] == 1.0 && edges[2] == 1.0;
    const bool is_none = edges[0] == 0.0 && edges[1] == 0.0 && edges[2] == 0.0;
    if (is_unit || is_none) return true;
    frame->edges = tal_v3(edges[0] / TALI_ATOMS_PER_NM, edges[1] / TALI_ATOMS_PER_NM,
                          edges[2] / TALI_ATOMS_PER_NM);
    frame->angles =
        tal_v3(angles[0] * TAL_MOL_DEGREE, angles[1] * TAL_MOL_DEGREE, angles[2] * TAL_MOL_DEGREE);
    const char *flaw = tali_atoms_box_flaw(frame);
    if (flaw == NULL) return true;
    tali_atoms_error(r, 0, "%s", flaw);
    return false;
}

// --- entry points ---

tal_atoms_options tal_atoms_options_default(void)
{
    const tal_atoms_options options = {.allocator = tal_allocator_default(),
                                       .max_bytes = (size_t)1 << 31};
    return options;
}

bool tal_atoms_format_of(const char *path, tal_atoms_format *format)
{
    if (path == NULL || format == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", path == NULL ? "path" : "format");
        return false;
    }

    static const struct {
        const char *end;
        tal_atoms_format format;
    } formats[] = {{".pdb", TAL_ATOMS_PDB},       {".ent", TAL_ATOMS_PDB},
                   {".cif", TAL_ATOMS_CIF},       {".mmcif", TAL_ATOMS_CIF},
                   {".xyz", TAL_ATOMS_XYZ},       {".inpcrd", TAL_ATOMS_INPCRD},
                   {".rst7", TAL_ATOMS_INPCRD},   {".dcd", TAL_ATOMS_DCD},
                   {".prmtop", TAL_ATOMS_PRMTOP}, {".parm7", TAL_ATOMS_PRMTOP}};

    const char *point = strrchr(path, '.');
    for (size_t i = 0; point != NULL && i < sizeof formats / sizeof *formats; ++i) {
        if (!tali_table_same_word(point, formats[i].end)) continue;
        *format = formats[i].format;
        return true;
    }
    return false;
}

// Read the whole file as one of a format.
static void read_format(tali_atoms_reader *r, tal_atoms_format format)
{
    switch (format) {
    case TAL_ATOMS_PDB:
        tali_atoms_read_pdb(r);
        break;
    case TAL_ATOMS_CIF:
        tali_atoms_read_cif(r);
        break;
    case TAL_ATOMS_XYZ:
        tali_atoms_read_xyz(r);
        break;
    case TAL_ATOMS_INPCRD:
        tali_atoms_read_inpcrd(r);
        break;
    case TAL_ATOMS_DCD:
        tali_atoms_read_dcd(r);
        break;
    case TAL_ATOMS_PRMTOP:
        tali_atoms_read_prmtop(r);
        break;
    }
}

tal_status tal_atoms_read_memory(tal_atoms_format format, const char *name, const char bytes[],
                                 size_t size, const tal_atoms_options *options, tal_atoms **out,
                                 tal_diagnostics *found)
{
    if (out != NULL) *out = NULL;
    const tal_status st = tali_reading_check(
        name, bytes, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st != TAL_OK) return st;
    if ((int)format < TAL_ATOMS_PDB || (int)format > TAL_ATOMS_PRMTOP) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "there is no format %d", (int)format);
    }
    tali_atoms_reader r = {.how = options != NULL ? *options : tal_atoms_options_default(),
                           .file = name,
                           .at = bytes,
                           .end = bytes + size,
                           .found = found};
    r.atoms = tal_atoms_create(&r.how.allocator);
    r.no_memory = r.atoms == NULL;
    if (size > r.how.max_bytes) {
        tali_atoms_file_error(&r, "the file has more than %zu bytes", r.how.max_bytes);
    } else if (format != TAL_ATOMS_DCD && memchr(bytes, '\0', size) != NULL) {
        tali_atoms_file_error(&r, "%s", TALI_NO_TEXT);
    } else if (!r.no_memory) {
        read_format(&r, format);
    }
    if (r.no_memory) tali_atoms_file_error(&r, "memory ran out");
    tali_free(&r.how.allocator, r.x, (size_t)r.capacity * sizeof *r.x);
    if (r.errors == 0) {
        *out = r.atoms;
        return TAL_OK;
    }
    tal_atoms_destroy(r.atoms);
    return r.no_memory ? TAL_ERR_NO_MEMORY : TAL_ERR_FILE;
}

tal_status tal_atoms_read_file(const char *path, const tal_atoms_options *options, tal_atoms **out,
                               tal_diagnostics *found)
{
    if (out != NULL) *out = NULL;
    tal_status st =
        tali_reading_check(path, path, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st != TAL_OK) return st;
    const tal_atoms_options how = options != NULL ? *options : tal_atoms_options_default();
    tal_atoms_format format = TAL_ATOMS_PDB;
    if (!tal_atoms_format_of(path, &format)) {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0,
                            "the name does not end with .pdb, .ent, .cif, .mmcif, .xyz, .inpcrd, "
                            ".rst7, .dcd, .prmtop or .parm7");
        return TAL_ERR_FILE;
    }
    tali_file_bytes file;
    const char *wrong = tali_file_load(path, how.max_bytes, &how.allocator, &file, &st);
    if (wrong == NULL) {
        st = tal_atoms_read_memory(format, path, file.block, file.size, &how, out, found);
    } else {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", wrong);
    }
    tali_file_bytes_free(&how.allocator, &file);
    return st;
}
