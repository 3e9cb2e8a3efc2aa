// .xyz files: the number of atoms, a comment, and a line for each atom, once for every frame. The
// comment of extended files says which columns there are, the box and the time.
#include "atoms/atoms_internal.h"

#include <talus/common/rotation.h>
#include <talus/io/number.h>
#include <talus/molecule/units.h>

#include <stdio.h>
#include <string.h>

// Where in a line things are, counted in words; -1: they are not there.
typedef struct columns {
    int species, x, v, num;
} columns;

enum {
    MOST_COLUMNS = 64
};

// --- the comment ---

// The value of a key, key=value or key="some values", whatever the case of the key; empty when it
// is not there.
static tali_table_span value_of(const tali_atoms_reader *r, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = r->text; at + length + 1 < r->stop; ++at) {
        const bool begins = at == r->text || at[-1] == ' ' || at[-1] == '\t';
        if (!begins || at[length] != '=') continue;
        char word[16] = "";
        memcpy(word, at, length);
        if (!tali_table_same_word(word, key)) continue;
        const char *begin = at + length + 1;
        const char end = *begin == '"' ? '"' : ' ';
        if (end == '"') ++begin;
        const char *stop = begin;
        while (stop < r->stop && *stop != end) {
            ++stop;
        }
        return (tali_table_span){begin, stop};
    }
    return (tali_table_span){r->stop, r->stop};
}

// The box of three edges, of which the first must be along x, the second in the plane of x and y.
static void box_of(tali_atoms_reader *r, tali_table_span lattice, tal_atoms_frame *frame)
{
    double e[9];
    const char *const stop = r->stop, *at = lattice.begin;
    r->stop = lattice.end; // words of the value alone
    for (int k = 0; k < 9; ++k) {
        tali_table_span word;
        (void)tali_atoms_next_word(r, &at, &word);
        if (!tali_atoms_number(r, word, "Lattice", &e[k])) {
            r->stop = stop;
            return;
        }
    }
    r->stop = stop;
    if (e[1] != 0.0 || e[2] != 0.0 || e[5] != 0.0) {
        tali_atoms_error(r, (int)(lattice.begin - r->text) + 1,
                         "Lattice: its first edge must be along x and its second one in the plane "
                         "of x and y");
        return;
    }
    const double b = hypot(e[3], e[4]), c = hypot(hypot(e[6], e[7]), e[8]);
    const double edges[] = {e[0], b, c};
    const double bc = e[3] * e[6] + e[4] * e[7];
    const double angles[] = {acos(bc / (b * c)) / TAL_MOL_DEGREE, acos(e[6] / c) / TAL_MOL_DEGREE,
                             acos(e[3] / b) / TAL_MOL_DEGREE};
    (void)tali_atoms_box(r, edges, angles, frame);
}

// Properties=species:S:1:pos:R:3:vel:R:3, in the order of the columns.
static void columns_of(tali_atoms_reader *r, tali_table_span said, columns *where)
{
    *where = (columns){.species = -1, .x = -1, .v = -1};
    const char *at = said.begin;
    while (at < said.end) {
        tali_table_span part[3];
        for (int k = 0; k < 3; ++k) {
            part[k].begin = at;
            while (at < said.end && *at != ':') {
                ++at;
            }
            part[k].end = at;
            if (at < said.end) ++at;
        }
        int count = 0;
        if (tal_integer_read(part[2].begin, part[2].end, &count) != part[2].end || count < 1 ||
            count > MOST_COLUMNS - where->num) {
            tali_atoms_error(r, (int)(part[0].begin - r->text) + 1,
                             "Properties: name, type and number of columns are expected here");
            return;
        }
        if (tali_table_span_is(part[0], "species")) where->species = where->num;
        if (tali_table_span_is(part[0], "pos") && count == 3) where->x = where->num;
        if (tali_table_span_is(part[0], "vel") && count == 3) where->v = where->num;
        where->num += count;
    }
    if (where->species < 0 || where->x < 0) {
        tali_atoms_error(r, 0, "Properties: there must be species:S:1 and pos:R:3");
    }
}

static void read_comment(tali_atoms_reader *r, columns *where, tal_atoms_frame *frame)
{
    *frame = (tal_atoms_frame){.time = TALI_NAN};
    *where = (columns){.species = 0, .x = 1, .v = -1, .num = 4};
    const tali_table_span lattice = value_of(r, "Lattice"), said = value_of(r, "Properties");
    const tali_table_span time = value_of(r, "Time");
    if (lattice.begin < lattice.end) box_of(r, lattice, frame);
    if (said.begin < said.end) columns_of(r, said, where);
    if (time.begin < time.end) (void)tali_atoms_number(r, time, "Time", &frame->time);
}

// --- atoms ---

// The first word of a line: a symbol, the number of an element, or a name.
static bool add_atom(tali_atoms_reader *r, tali_table_span word)
{
    char name[TAL_MAX_ATOM_NAME + 1], shown[44];
    tal_atom atom = tal_atom_default();
    tali_atoms_name(word, name);
    atom.name = name;
    const char *flaw = tali_atoms_name_flaw(name, TAL_MAX_ATOM_NAME);
    if (flaw != NULL || word.end - word.begin > TAL_MAX_ATOM_NAME) {
        tali_atoms_error(r, (int)(word.begin - r->text) + 1, "'%s' is not the name of an atom",
                         tali_table_show(word, shown));
        return false;
    }
    int number = 0;
    if (tal_integer_read(word.begin, word.end, &number) == word.end && number > 0 &&
        number <= TAL_MAX_ELEMENT) {
        atom.element = number;
        atom.name = tal_element_symbol(number);
    } else {
        atom.element = tal_element_find(name);
        if (atom.element < 0) atom.element = 0;
    }
    return tali_atoms_good(r, tal_atoms_add(r->atoms, &atom));
}

static bool check_atom(tali_atoms_reader *r, tali_table_span word)
{
    char shown[44];
    const tali_atoms_one *first = &r->atoms->list[r->num];
    int number = 0;
    if (tali_table_span_is(word, first->name)) return true;
    if (tal_integer_read(word.begin, word.end, &number) == word.end &&
        number == first->atom.element) {
        return true;
    }
    tali_atoms_error(r, (int)(word.begin - r->text) + 1,
                     "atom %d is '%s', but %s in the first frame: frames must have the same atoms "
                     "in the same order",
                     r->num + 1, tali_table_show(word, shown), first->name);
    return false;
}

static bool three(tali_atoms_reader *r, const tali_table_span words[], const char *const names[3],
                  tal_vec3 *out)
{
    double v[3];
    for (int k = 0; k < 3; ++k) {
        if (!tali_atoms_number(r, words[k], names[k], &v[k])) return false;
    }
    *out = tal_v3(v[0] / TALI_ATOMS_PER_NM, v[1] / TALI_ATOMS_PER_NM, v[2] / TALI_ATOMS_PER_NM);
    return true;
}

// One line: what the columns say of an atom. What stands behind them is passed over.
static bool read_atom(tali_atoms_reader *r, const columns *where, tal_vec3 *v)
{
    static const char *const places[] = {"x", "y", "z"}, *const rates[] = {"vx", "vy", "vz"};
    tali_table_span words[MOST_COLUMNS] = {{NULL, NULL}};
    const char *at = r->text;
    for (int k = 0; k < where->num; ++k) {
        if (tali_atoms_next_word(r, &at, &words[k])) continue;
        tali_atoms_error(r, 0, "atom %d has %d columns; there must be %d", r->num + 1, k,
                         where->num);
        return false;
    }
    const tali_table_span word = words[where->species];
    if (r->atoms->num_frames == 0 ? !add_atom(r, word) : !check_atom(r, word)) return false;
    tal_vec3 x;
    return three(r, words + where->x, places, &x) &&
           (where->v < 0 || three(r, words + where->v, rates, v)) && tali_atoms_push(r, x);
}

static bool is_blank(const tali_atoms_reader *r)
{
    tali_table_span word;
    const char *at = r->text;
    return !tali_atoms_next_word(r, &at, &word);
}

static bool read_count(tali_atoms_reader *r, int *count)
{
    tali_table_span word;
    const char *at = r->text;
    char shown[44];
    (void)tali_atoms_next_word(r, &at, &word);
    if (tal_integer_read(word.begin, word.end, count) != word.end || *count < 1 ||
        *count > TALI_ATOMS_MOST) {
        tali_atoms_error(r, 1, "'%s' is not a number of atoms", tali_table_show(word, shown));
        return false;
    }
    if (r->atoms->num_frames > 0 && *count != r->atoms->num) {
        tali_atoms_error(r, 1, "there are %d atoms, but %d in the first frame", *count,
                         r->atoms->num);
        return false;
    }
    return true;
}

// A frame; its velocities are collected in `v`, which has room for `room` atoms.
static bool read_frame(tali_atoms_reader *r, tal_vec3 **v, size_t *room)
{
    int count = 0;
    columns where;
    tal_atoms_frame frame;
    if (!read_count(r, &count)) return false;
    if (!tali_atoms_next_line(r)) {
        tali_atoms_file_error(r, "the file ends before the comment of a frame");
        return false;
    }
    read_comment(r, &where, &frame);
    if (r->errors > 0) return false;
    // a line has two characters at least: more atoms than that are not there
    if (where.v >= 0 && *v == NULL && (r->end - r->at) / 2 >= count) {
        *room = (size_t)count * sizeof **v;
        *v = tali_alloc(&r->how.allocator, *room);
        r->no_memory = *v == NULL;
    }
    for (int i = 0; i < count; ++i) {
        if (!tali_atoms_next_line(r)) {
            tali_atoms_file_error(r, "the file ends at atom %d of %d of frame %d", i + 1, count,
                                  r->atoms->num_frames + 1);
            return false;
        }
        tal_vec3 rate = tal_v3(0.0, 0.0, 0.0);
        if (!read_atom(r, &where, &rate)) return false;
        if (where.v >= 0 && *v != NULL) (*v)[i] = rate;
    }
    return tali_atoms_end_frame(r, where.v >= 0 ? *v : NULL, &frame);
}

void tali_atoms_read_xyz(tali_atoms_reader *r)
{
    tal_vec3 *v = NULL;
    size_t room = 0;
    bool good = true;
    while (good && tali_atoms_next_line(r)) {
        if (!is_blank(r)) good = read_frame(r, &v, &room);
    }
    tali_free(&r->how.allocator, v, room);
    if (good && r->atoms->num_frames == 0) tali_atoms_file_error(r, "there are no atoms");
}

// --- writing ---

static void put_three(tali_table_sink *sink, const tal_vec3 *x)
{
    const double v[] = {x->x, x->y, x->z};
    for (int k = 0; k < 3; ++k) {
        tali_table_put(sink, " ", 1);
        tali_table_put_number(sink, v[k] * TALI_ATOMS_PER_NM);
    }
}

// Lattice="...": the edges as columns of an upper triangle.
static void put_lattice(tali_table_sink *sink, const tal_atoms_frame *frame)
{
    const tal_vec3 e = frame->edges, angle = frame->angles;
    // cosines that should be zero are: a box of right angles has no round-off in it
    const double ca = angle.x == TAL_PI / 2.0 ? 0.0 : cos(angle.x);
    const double cb = angle.y == TAL_PI / 2.0 ? 0.0 : cos(angle.y);
    const double cg = angle.z == TAL_PI / 2.0 ? 0.0 : cos(angle.z);
    const double sg = cg == 0.0 ? 1.0 : sin(angle.z);
    const double cy = (ca - cb * cg) / sg, cz = sqrt(fmax(1.0 - cb * cb - cy * cy, 0.0));
    const tal_vec3 rows[] = {tal_v3(e.x, 0.0, 0.0), tal_v3(e.y * cg, e.y * sg, 0.0),
                             tal_v3(e.z * cb, e.z * cy, e.z * cz)};
    tali_table_put_text(sink, "Lattice=\"");
    for (int k = 0; k < 3; ++k) {
        put_three(sink, &rows[k]);
    }
    tali_table_put_text(sink, "\" ");
}

// Extended XYZ: every frame with its columns, its box and its time.
tal_status tali_atoms_write_xyz(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err)
{
    for (int i = 0; i < atoms->num; ++i) {
        if (atoms->list[i].name[0] != '\0' || atoms->list[i].atom.element > 0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "atom %d has neither a name nor an element: a .xyz file needs one", i);
    }
    for (int f = 0; f < atoms->num_frames; ++f) {
        const tali_atoms_frame *frame = &atoms->frames[f];
        char text[24];
        (void)snprintf(text, sizeof text, "%d\n", atoms->num);
        tali_table_put_text(sink, text);
        if (frame->frame.edges.x > 0.0) put_lattice(sink, &frame->frame);
        tali_table_put_text(sink, "Properties=species:S:1:pos:R:3");
        if (frame->v != NULL) tali_table_put_text(sink, ":vel:R:3");
        if (!isnan(frame->frame.time)) {
            tali_table_put_text(sink, " Time=");
            tali_table_put_number(sink, frame->frame.time);
        }
        tali_table_put_text(sink, "\n");
        for (int i = 0; i < atoms->num; ++i) {
            const tali_atoms_one *one = &atoms->list[i];
            tali_table_put_text(sink, one->atom.element > 0 ? tal_element_symbol(one->atom.element)
                                                            : one->name);
            put_three(sink, &frame->x[i]);
            if (frame->v != NULL) put_three(sink, &frame->v[i]);
            tali_table_put_text(sink, "\n");
        }
    }
    return TAL_OK;
}
