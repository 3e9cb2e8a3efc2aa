// Protein Data Bank files as mmCIF: the loop of atoms, the cell, covalent connections.
#include "atoms/atoms_internal.h"
#include "text/text_internal.h"

#include <talus/io/number.h>
#include <talus/molecule/units.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// A word of the file, or what is in quotes or between semicolons.
typedef struct token {
    tali_table_span text;
    bool quoted;
    int line;
    const char *line_begin;
} token;

// The categories that are read.
typedef enum category {
    OTHER,
    ATOM,
    CELL,
    LINK
} category;

// Items of the category of atoms.
enum {
    GROUP,
    SYMBOL,
    NAME,
    AUTH_NAME,
    ALTERNATE,
    RESIDUE,
    AUTH_RESIDUE,
    CHAIN,
    AUTH_CHAIN,
    NUMBER,
    AUTH_NUMBER,
    INSERTION,
    X,
    Y,
    Z,
    OCCUPANCY,
    B_FACTOR,
    MODEL
};

// Items of the category of connections: those of the first partner, then those of the second.
enum {
    PARTNER_CHAIN,
    PARTNER_NUMBER,
    PARTNER_INSERTION,
    PARTNER_ATOM,
    PARTNER_SYMMETRY,
    PER_PARTNER,
    LINK_KIND = 2 * PER_PARTNER,
    LINK_ORDER
};

enum {
    MOST_ITEMS = 18,   // of a category that is read
    MOST_COLUMNS = 256 // of a loop
};

static const char *const atom_items[MOST_ITEMS + 1] = {
    "group_PDB",     "type_symbol",       "label_atom_id",     "auth_atom_id", "label_alt_id",
    "label_comp_id", "auth_comp_id",      "label_asym_id",     "auth_asym_id", "label_seq_id",
    "auth_seq_id",   "pdbx_PDB_ins_code", "Cartn_x",           "Cartn_y",      "Cartn_z",
    "occupancy",     "B_iso_or_equiv",    "pdbx_PDB_model_num"};

static const char *const cell_items[MOST_ITEMS + 1] = {"length_a",    "length_b",   "length_c",
                                                       "angle_alpha", "angle_beta", "angle_gamma"};

static const char *const link_items[MOST_ITEMS + 1] = {"ptnr1_auth_asym_id",
                                                       "ptnr1_auth_seq_id",
                                                       "pdbx_ptnr1_PDB_ins_code",
                                                       "ptnr1_label_atom_id",
                                                       "ptnr1_symmetry",
                                                       "ptnr2_auth_asym_id",
                                                       "ptnr2_auth_seq_id",
                                                       "pdbx_ptnr2_PDB_ins_code",
                                                       "ptnr2_label_atom_id",
                                                       "ptnr2_symmetry",
                                                       "conn_type_id",
                                                       "pdbx_value_order"};

static const struct {
    const char *name;
    const char *const *items;
} categories[] = {[OTHER] = {"", NULL},
                  [ATOM] = {"_atom_site.", atom_items},
                  [CELL] = {"_cell.", cell_items},
                  [LINK] = {"_struct_conn.", link_items}};

// An atom that a connection names.
typedef struct partner {
    char chain[TAL_MAX_ATOM_NAME + 1];
    char name[TAL_MAX_ATOM_NAME + 1];
    char insertion[TAL_MAX_ATOM_NAME + 1];
    int number;
} partner;

typedef struct connection {
    partner ends[2];
    int order;
} connection;

typedef struct cif {
    tali_atoms_reader *r;
    tali_atoms_models models;
    token ahead;                     // the next one
    bool has_ahead;                  // false: the file has ended
    category category;               // of the row
    tali_table_span row[MOST_ITEMS]; // values; empty: not known, or not there
    bool has_row;
    int row_line; // where it begins
    int model;    // number of the model that is being read
    connection *links;
    int num_links, links_capacity;
} cif;

// --- tokens ---

// Go on by one character, counting lines.
static void step(tali_atoms_reader *r)
{
    if (*r->at++ == '\n') {
        r->line += 1;
        r->text = r->at;
    }
}

static void skip_blanks(tali_atoms_reader *r)
{
    while (r->at < r->end && (tali_text_is_blank(*r->at) || *r->at == '#')) {
        if (*r->at == '#') {
            while (r->at < r->end && *r->at != '\n') {
                ++r->at;
            }
        } else {
            step(r);
        }
    }
}

// Lines from one that begins with a semicolon to the next one that does.
static void take_text(cif *it)
{
    tali_atoms_reader *r = it->r;
    it->ahead.quoted = true;
    it->ahead.text.begin = ++r->at;
    while (r->at < r->end && !(*r->at == ';' && r->at[-1] == '\n')) {
        step(r);
    }
    it->ahead.text.end = r->at;
    if (r->at < r->end) {
        ++r->at;
    } else {
        r->line = it->ahead.line;
        tali_atoms_error(r, 1, "the text that begins here with a semicolon does not end");
    }
}

// A quote ends where it is followed by a blank.
static void take_quoted(cif *it)
{
    tali_atoms_reader *r = it->r;
    const char quote = *r->at++;
    it->ahead.quoted = true;
    it->ahead.text.begin = r->at;
    while (r->at < r->end && *r->at != '\n' &&
           !(*r->at == quote && (r->at + 1 == r->end || tali_text_is_blank(r->at[1])))) {
        ++r->at;
    }
    it->ahead.text.end = r->at;
    if (r->at < r->end && *r->at == quote) {
        ++r->at;
    } else {
        tali_atoms_error(r, (int)(it->ahead.text.begin - r->text),
                         "the quote that begins here does not end in its line");
    }
}

// Read the token that comes next.
static void advance(cif *it)
{
    tali_atoms_reader *r = it->r;
    skip_blanks(r);
    it->has_ahead = r->at < r->end && tali_atoms_goes_on(r);
    if (!it->has_ahead) return;
    it->ahead = (token){.text.begin = r->at, .line = r->line, .line_begin = r->text};
    if (*r->at == ';' && r->at == r->text) {
        take_text(it);
    } else if (*r->at == '\'' || *r->at == '"') {
        take_quoted(it);
    } else {
        while (r->at < r->end && !tali_text_is_blank(*r->at)) {
            ++r->at;
        }
        it->ahead.text.end = r->at;
    }
}

// Whether a text begins with a word, in upper or lower case.
static bool begins_with(tali_table_span span, const char *word)
{
    char text[32] = "";
    const size_t length = strlen(word);
    if ((size_t)(span.end - span.begin) < length || length >= sizeof text) return false;
    memcpy(text, span.begin, length);
    return tali_table_same_word(text, word);
}

static bool is_same(tali_table_span span, const char *word)
{
    return (size_t)(span.end - span.begin) == strlen(word) && begins_with(span, word);
}

static bool is_tag(const cif *it)
{
    return it->has_ahead && !it->ahead.quoted && *it->ahead.text.begin == '_';
}

static bool is_value(const cif *it)
{
    return it->has_ahead &&
           (it->ahead.quoted ||
            !(is_tag(it) || begins_with(it->ahead.text, "loop_") ||
              begins_with(it->ahead.text, "data_") || begins_with(it->ahead.text, "save_")));
}

// The value that comes next; empty for those that are not known, '.' and '?'.
static tali_table_span take_value(cif *it)
{
    tali_table_span value = it->ahead.text;
    const bool is_null = !it->ahead.quoted && value.end - value.begin == 1 &&
                         (*value.begin == '.' || *value.begin == '?');
    if (is_null) value.end = value.begin;
    advance(it);
    return value;
}

// The category of a tag, and which of its items it is; -1 for one that is not read.
static category category_of(tali_table_span tag, int *item)
{
    *item = -1;
    for (category c = ATOM; c <= LINK; ++c) {
        const size_t length = strlen(categories[c].name);
        if (!begins_with(tag, categories[c].name)) continue;
        const tali_table_span rest = {tag.begin + length, tag.end};
        for (int k = 0; categories[c].items[k] != NULL; ++k) {
            if (is_same(rest, categories[c].items[k])) *item = k;
        }
        return c;
    }
    return OTHER;
}

// --- rows ---

static bool is_there(const cif *it, int item)
{
    return it->row[item].begin < it->row[item].end;
}

// The first of two items that is there.
static tali_table_span either(const cif *it, int first, int second)
{
    return is_there(it, first) ? it->row[first] : it->row[second];
}

// A number of the row; `initial` where there is none and that is not NaN.
static bool number(cif *it, int item, double initial, double *value)
{
    *value = initial;
    const char *what = categories[it->category].items[item];
    if (is_there(it, item)) return tali_atoms_number(it->r, it->row[item], what, value);
    if (!isnan(initial)) return true;
    tali_atoms_error(it->r, 0, "%s%s is missing", categories[it->category].name, what);
    return false;
}

static bool whole(cif *it, tali_table_span text, const char *what, int initial, int *value)
{
    char shown[44];
    *value = initial;
    if (text.begin == text.end) return true;
    if (tal_integer_read(text.begin, text.end, value) == text.end) return true;
    tali_atoms_error(it->r, 0, "%s: '%s' is not a whole number", what,
                     tali_table_show(text, shown));
    return false;
}

// A name of the row, which may not be longer than names are.
static bool name(cif *it, tali_table_span text, const char *what, char out[])
{
    char shown[44];
    tali_atoms_name(text, out);
    if (text.end - text.begin <= TAL_MAX_ATOM_NAME) return true;
    tali_atoms_error(it->r, 0, "%s: '%s' is longer than %d characters", what,
                     tali_table_show(text, shown), TAL_MAX_ATOM_NAME);
    return false;
}

static int element_of(const cif *it)
{
    char symbol[TAL_MAX_ATOM_NAME + 1];
    tali_atoms_name(it->row[SYMBOL], symbol);
    if (symbol[0] == '\0') return 0;
    const int element = strcmp(symbol, "D") == 0 ? 1 : tal_element_find(symbol);
    if (element >= 0) return element;
    tali_atoms_warn(it->r, 0, "'%s' is not an element: the atom is read without one", symbol);
    return 0;
}

// An atom of a row: what authors call it, where there are two names.
static bool describe_atom(cif *it, tali_atoms_record *record)
{
    tali_atoms_one *one = &record->one;
    char insertion[TAL_MAX_ATOM_NAME + 1];
    double x, y, z, b;
    const bool good =
        name(it, either(it, NAME, AUTH_NAME), "label_atom_id", one->name) &&
        name(it, either(it, AUTH_RESIDUE, RESIDUE), "auth_comp_id", one->residue) &&
        name(it, either(it, AUTH_CHAIN, CHAIN), "auth_asym_id", one->chain) &&
        name(it, it->row[ALTERNATE], "label_alt_id", record->alternate) &&
        name(it, it->row[INSERTION], "pdbx_PDB_ins_code", insertion) &&
        whole(it, either(it, AUTH_NUMBER, NUMBER), "auth_seq_id", 1, &one->atom.residue_number) &&
        number(it, X, TALI_NAN, &x) && number(it, Y, TALI_NAN, &y) && number(it, Z, TALI_NAN, &z) &&
        number(it, OCCUPANCY, 1.0, &one->atom.occupancy) && number(it, B_FACTOR, 0.0, &b);
    if (!good) return false;
    if (one->name[0] == '\0') {
        tali_atoms_error(it->r, 0, "_atom_site.label_atom_id is missing");
        return false;
    }
    one->insertion[0] = insertion[0];
    one->atom.element = element_of(it);
    one->atom.is_hetero = is_same(it->row[GROUP], "HETATM");
    one->atom.b_factor = b / (TALI_ATOMS_PER_NM * TALI_ATOMS_PER_NM);
    record->x = tal_v3(x / TALI_ATOMS_PER_NM, y / TALI_ATOMS_PER_NM, z / TALI_ATOMS_PER_NM);
    return true;
}

static void end_atom(cif *it)
{
    tali_atoms_record record = {.one.atom = tal_atom_default()};
    int model = 0;
    if (!whole(it, it->row[MODEL], "pdbx_PDB_model_num", 1, &model)) return;
    if (it->r->num > 0 && model != it->model) {
        if (!tali_atoms_end_model(it->r, &it->models)) return;
    }
    it->model = model;
    if (describe_atom(it, &record)) (void)tali_atoms_take(it->r, &it->models, &record);
}

static void end_cell(cif *it)
{
    double values[6];
    for (int k = 0; k < 6; ++k) {
        if (!is_there(it, k)) return; // of structures without a crystal
        if (!number(it, k, TALI_NAN, &values[k])) return;
    }
    (void)tali_atoms_box(it->r, values, values + 3, &it->models.frame);
}

// Bonds between residues that are not implied by their order: those of disulfides, and others that
// are covalent. Both atoms must be in this copy of the asymmetric unit.
static void end_link(cif *it)
{
    connection link = {.order = 1};
    const tali_table_span *second = it->row + PER_PARTNER;
    char here[TAL_MAX_ATOM_NAME + 1], there[TAL_MAX_ATOM_NAME + 1];
    if (!begins_with(it->row[LINK_KIND], "disulf") && !begins_with(it->row[LINK_KIND], "covale")) {
        return;
    }
    tali_atoms_name(it->row[PARTNER_SYMMETRY], here);
    tali_atoms_name(second[PARTNER_SYMMETRY], there);
    if (strcmp(here, there) != 0) return;
    if (begins_with(it->row[LINK_ORDER], "doub")) link.order = 2;
    if (begins_with(it->row[LINK_ORDER], "trip")) link.order = 3;
    for (int k = 0; k < 2; ++k) {
        const tali_table_span *of = it->row + (ptrdiff_t)k * PER_PARTNER;
        partner *end = &link.ends[k];
        tali_atoms_name(of[PARTNER_CHAIN], end->chain);
        tali_atoms_name(of[PARTNER_ATOM], end->name);
        tali_atoms_name(of[PARTNER_INSERTION], end->insertion);
        if (!whole(it, of[PARTNER_NUMBER], "auth_seq_id of a connection", 1, &end->number)) return;
    }
    if (!tali_grow(&it->r->how.allocator, (void **)&it->links, it->num_links, &it->links_capacity,
                   sizeof *it->links)) {
        it->r->no_memory = true;
        return;
    }
    it->links[it->num_links++] = link;
}

// What the row says, said at its end; the next one is empty. Mistakes are in the line where the
// row begins.
static void end_row(cif *it)
{
    const int line = it->r->line;
    it->r->line = it->row_line;
    if (it->has_row) {
        switch (it->category) {
        case ATOM:
            end_atom(it);
            break;
        case CELL:
            end_cell(it);
            break;
        case LINK:
            end_link(it);
            break;
        case OTHER:
            break;
        }
    }
    it->r->line = line;
    it->has_row = false;
    memset(it->row, 0, sizeof it->row);
}

static void put_value(cif *it, category c, int item, tali_table_span value, int line)
{
    if (item < 0) return;
    if (!it->has_row) it->row_line = line;
    it->category = c;
    it->row[item] = value;
    it->has_row = true;
}

// --- blocks ---

// loop_, its tags, and rows of values.
static void read_loop(cif *it)
{
    int items[MOST_COLUMNS], num = 0;
    category c = OTHER;
    advance(it);
    end_row(it);
    for (; is_tag(it); ++num) {
        if (num == MOST_COLUMNS) {
            tali_atoms_error(it->r, 0, "a loop has more than %d columns", MOST_COLUMNS);
            return;
        }
        c = category_of(it->ahead.text, &items[num]);
        advance(it);
    }
    if (num == 0) {
        tali_atoms_error(it->r, 0, "a loop has no columns");
        return;
    }
    while (is_value(it)) {
        for (int k = 0; k < num; ++k) {
            if (!is_value(it)) {
                if (it->has_row) it->r->line = it->row_line;
                tali_atoms_error(it->r, 0, "the last row of a loop has %d values for %d columns", k,
                                 num);
                return;
            }
            const int line = it->ahead.line;
            put_value(it, c, items[k], take_value(it), line);
        }
        end_row(it);
    }
}

static void read_pair(cif *it)
{
    int item = -1;
    const category c = category_of(it->ahead.text, &item);
    if (c != it->category) end_row(it);
    advance(it);
    if (!is_value(it)) {
        tali_atoms_error(it->r, 0, "an item has no value");
        return;
    }
    const int line = it->ahead.line;
    put_value(it, c, item, take_value(it), line);
}

// All of the first block of data.
static void read_block(cif *it)
{
    bool began = false;
    while (it->has_ahead && it->r->errors == 0) {
        if (is_tag(it)) {
            read_pair(it);
        } else if (it->ahead.quoted || is_value(it)) {
            tali_atoms_error(it->r, (int)(it->ahead.text.begin - it->ahead.line_begin) + 1,
                             "there is a value that belongs to no item");
        } else if (is_same(it->ahead.text, "loop_")) {
            read_loop(it);
        } else if (begins_with(it->ahead.text, "data_")) {
            if (began) {
                tali_atoms_warn(it->r, 0, "there is a second block of data, which is not read");
                break;
            }
            began = true;
            advance(it);
        } else {
            advance(it); // frames of dictionaries
        }
    }
    end_row(it);
}

// --- bonds ---

static int find_partner(const tal_atoms *atoms, const partner *end)
{
    for (int i = 0; i < atoms->num; ++i) {
        const tali_atoms_one *one = &atoms->list[i];
        if (one->atom.residue_number == end->number && strcmp(one->name, end->name) == 0 &&
            strcmp(one->chain, end->chain) == 0 && strcmp(one->insertion, end->insertion) == 0) {
            return i;
        }
    }
    return -1;
}

static void add_bonds(cif *it)
{
    tali_atoms_reader *r = it->r;
    for (int k = 0; k < it->num_links && tali_atoms_goes_on(r); ++k) {
        const connection *link = &it->links[k];
        const int a = find_partner(r->atoms, &link->ends[0]);
        const int b = find_partner(r->atoms, &link->ends[1]);
        if (a >= 0 && b >= 0 && a != b) {
            (void)tali_atoms_good(r, tal_atoms_add_bond(r->atoms, a, b, link->order));
            continue;
        }
        const partner *end = &link->ends[a < 0 ? 0 : 1];
        tal_diagnostics_add(r->found, TAL_WARNING, r->file, 0, 0,
                            "a connection names %s of residue %d, which is not there: its bond is "
                            "left out",
                            end->name, end->number);
    }
}

void tali_atoms_read_cif(tali_atoms_reader *r)
{
    cif it = {.r = r, .models.frame.time = TALI_NAN};
    r->line = 1;
    r->text = r->at;
    advance(&it);
    read_block(&it);
    if (r->errors == 0 && !r->no_memory && r->num > 0) {
        (void)tali_atoms_end_model(r, &it.models);
    }
    if (r->errors == 0 && !r->no_memory && r->atoms->num_frames == 0) {
        tali_atoms_file_error(r, "there are no atoms: no category _atom_site");
    }
    // the cell may stand behind the atoms
    for (int f = 0; f < r->atoms->num_frames; ++f) {
        r->atoms->frames[f].frame = it.models.frame;
    }
    if (r->errors == 0 && !r->no_memory) add_bonds(&it);
    const tal_allocator *heap = &r->how.allocator;
    tali_free(heap, it.links, (size_t)it.links_capacity * sizeof *it.links);
    tali_atoms_models_free(r, &it.models);
}
