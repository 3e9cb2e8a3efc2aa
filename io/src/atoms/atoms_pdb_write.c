// Protein Data Bank files, written: a MODEL for each frame.
#include "atoms/atoms_internal.h"

#include <talus/molecule/units.h>

#include <stdio.h>
#include <string.h>

// --- fields ---

// A number in hybrid-36; false when it does not fit.
static bool put_hybrid(tali_table_sink *sink, int value, int width)
{
    long long tens = 1, power = 1;
    for (int i = 0; i < width; ++i) {
        tens *= 10;
        if (i > 0) power *= 36;
    }
    char text[16];
    if (value < tens && value > -tens / 10) {
        (void)snprintf(text, sizeof text, "%*d", width, value);
        tali_table_put(sink, text, (size_t)width);
        return true;
    }
    if (value < 0) return false;
    long long n = value - tens;
    const bool upper = n < 26 * power;
    if (!upper) n -= 26 * power;
    if (n >= 26 * power) return false;
    n += 10 * power;
    for (int i = width - 1; i >= 0; --i) {
        const int digit = (int)(n % 36);
        text[i] = (char)(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
        n /= 36;
    }
    tali_table_put(sink, text, (size_t)width);
    return true;
}

// The four columns of a name: the symbol of the element ends in the second one, if there is room.
static void put_name(tali_table_sink *sink, const char *name, int element)
{
    const bool shift = strlen(name) < 4 && strlen(tal_element_symbol(element)) < 2;
    char text[8];
    (void)snprintf(text, sizeof text, "%s%-*.4s", shift ? " " : "", shift ? 3 : 4, name);
    tali_table_put(sink, text, 4);
}

// A symbol as these files have it: CA is calcium.
static void upper(const char *symbol, char out[4])
{
    int n = 0;
    for (; n < 3 && symbol[n] != '\0'; ++n) {
        out[n] = (char)(symbol[n] >= 'a' && symbol[n] <= 'z' ? symbol[n] - 'a' + 'A' : symbol[n]);
    }
    out[n] = '\0';
}

static tal_status refuse(const tal_atoms *atoms, int i, const char *what, tal_error *err)
{
    return TALI_FAIL(
        err, TAL_ERR_BAD_VALUE, "atom %d, %s of residue %s %d: a .pdb file has no room for %s", i,
        atoms->list[i].name, atoms->list[i].residue, atoms->list[i].atom.residue_number, what);
}

static bool put_place(tali_table_sink *sink, const tal_vec3 *x)
{
    return tali_atoms_put_fixed(sink, x->x * TALI_ATOMS_PER_NM, 8, 3) &&
           tali_atoms_put_fixed(sink, x->y * TALI_ATOMS_PER_NM, 8, 3) &&
           tali_atoms_put_fixed(sink, x->z * TALI_ATOMS_PER_NM, 8, 3);
}

// --- records ---

// One line, ATOM or HETATM.
static tal_status put_atom(const tal_atoms *atoms, int i, int serial, const tal_vec3 *x,
                           tali_table_sink *sink, tal_error *err)
{
    const tali_atoms_one *one = &atoms->list[i];
    if (one->name[0] == '\0') return refuse(atoms, i, "an atom without a name", err);
    if (strlen(one->name) > 4) return refuse(atoms, i, "more than 4 letters of a name", err);
    if (strlen(one->residue) > 4) return refuse(atoms, i, "more than 4 letters of a residue", err);
    if (strlen(one->chain) > 1) return refuse(atoms, i, "more than 1 letter of a chain", err);
    tali_table_put_text(sink, one->atom.is_hetero ? "HETATM" : "ATOM  ");
    if (!put_hybrid(sink, serial, 5)) return refuse(atoms, i, "so many atoms", err);
    tali_table_put(sink, " ", 1);
    put_name(sink, one->name, one->atom.element);
    char text[16];
    (void)snprintf(text, sizeof text, " %3.4s%s%1.1s", one->residue,
                   strlen(one->residue) < 4 ? " " : "", one->chain);
    tali_table_put_text(sink, text);
    if (!put_hybrid(sink, one->atom.residue_number, 4)) {
        return refuse(atoms, i, "the number of the residue", err);
    }
    (void)snprintf(text, sizeof text, "%1.1s   ", one->insertion);
    tali_table_put_text(sink, text);
    if (!put_place(sink, x)) return refuse(atoms, i, "its position: 8 columns, 3 decimals", err);
    const double b = one->atom.b_factor * TALI_ATOMS_PER_NM * TALI_ATOMS_PER_NM;
    if (!tali_atoms_put_fixed(sink, one->atom.occupancy, 6, 2) ||
        !tali_atoms_put_fixed(sink, b, 6, 2)) {
        return refuse(atoms, i, "its occupancy or B factor: 6 columns, 2 decimals", err);
    }
    char symbol[4];
    upper(tal_element_symbol(one->atom.element), symbol);
    (void)snprintf(text, sizeof text, "          %2.2s\n", symbol);
    tali_table_put_text(sink, text);
    return TAL_OK;
}

// Whether a polymer ends with this atom: the next one is of another chain, or of none.
static bool ends_chain(const tal_atoms *atoms, int i)
{
    if (atoms->list[i].atom.is_hetero) return false;
    if (i + 1 == atoms->num) return true;
    const tali_atoms_one *next = &atoms->list[i + 1];
    return next->atom.is_hetero || strcmp(next->chain, atoms->list[i].chain) != 0;
}

static tal_status put_atoms(const tal_atoms *atoms, const tali_atoms_frame *frame,
                            tali_table_sink *sink, tal_error *err)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < atoms->num && st == TAL_OK; ++i) {
        st = put_atom(atoms, i, i + 1, &frame->x[i], sink, err);
        if (st == TAL_OK && ends_chain(atoms, i)) tali_table_put_text(sink, "TER\n");
    }
    return st;
}

static bool is_same_box(const tal_atoms_frame *a, const tal_atoms_frame *b)
{
    const tal_vec3 edges = tal_v3_sub(a->edges, b->edges);
    const tal_vec3 angles = tal_v3_sub(a->angles, b->angles);
    return tal_v3_dot(edges, edges) == 0.0 && tal_v3_dot(angles, angles) == 0.0;
}

// A frame has the box that was said last. One of 1 Angstrom stands for none.
static tal_status put_box(const tal_atoms_frame *frame, tali_table_sink *sink, tal_error *err)
{
    const bool is_box = frame->edges.x > 0.0;
    const double unit = 1.0 / TALI_ATOMS_PER_NM, right = 90.0 * TAL_MOL_DEGREE;
    const double edges[] = {is_box ? frame->edges.x : unit, is_box ? frame->edges.y : unit,
                            is_box ? frame->edges.z : unit};
    const double angles[] = {is_box ? frame->angles.x : right, is_box ? frame->angles.y : right,
                             is_box ? frame->angles.z : right};
    tali_table_put_text(sink, "CRYST1");
    bool fits = true;
    for (int k = 0; k < 3; ++k) {
        fits = fits && tali_atoms_put_fixed(sink, edges[k] * TALI_ATOMS_PER_NM, 9, 3);
    }
    for (int k = 0; k < 3; ++k) {
        fits = fits && tali_atoms_put_fixed(sink, angles[k] / TAL_MOL_DEGREE, 7, 2);
    }
    tali_table_put_text(sink, " P 1           1\n");
    if (fits) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a .pdb file has no room for the edges of the box");
}

// CONECT of both atoms of a bond, as often as its order says.
static tal_status put_bonds(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err)
{
    for (int i = 0; i < atoms->num_bonds; ++i) {
        const int ends[] = {atoms->bonds[i].a + 1, atoms->bonds[i].b + 1};
        for (int k = 0; k < 2; ++k) {
            tali_table_put_text(sink, "CONECT");
            bool fits = put_hybrid(sink, ends[k], 5);
            for (int n = 0; n < atoms->bonds[i].order; ++n) {
                fits = fits && put_hybrid(sink, ends[1 - k], 5);
            }
            if (!fits) return refuse(atoms, ends[k] - 1, "so many atoms", err);
            tali_table_put_text(sink, "\n");
        }
    }
    return TAL_OK;
}

tal_status tali_atoms_write_pdb(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err)
{
    tal_status st = TAL_OK;
    tal_atoms_frame before = {.time = 0.0};
    for (int f = 0; f < atoms->num_frames && st == TAL_OK; ++f) {
        const tali_atoms_frame *frame = &atoms->frames[f];
        char text[24];
        if (!is_same_box(&before, &frame->frame)) st = put_box(&frame->frame, sink, err);
        before = frame->frame;
        (void)snprintf(text, sizeof text, "MODEL %8d\n", f + 1);
        if (atoms->num_frames > 1) tali_table_put_text(sink, text);
        if (st == TAL_OK) st = put_atoms(atoms, frame, sink, err);
        if (atoms->num_frames > 1) tali_table_put_text(sink, "ENDMDL\n");
    }
    if (st == TAL_OK) st = put_bonds(atoms, sink, err);
    tali_table_put_text(sink, "END\n");
    return st;
}
