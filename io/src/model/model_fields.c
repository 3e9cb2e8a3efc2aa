// The table: force fields of molecules.
#include "model/model_write_internal.h"

#include <stdio.h>
#include <string.h>

// ---- attributes

#define CLASSES(text)                                                                              \
    {                                                                                              \
        "classes", TALI_TYPE_TEXT, .doc = (text)                                                   \
    }

static const tali_model_attribute field_attributes[] = {
    {"name", TALI_TYPE_NAME, .doc = "of the force field"},
    {"mixing", TALI_TYPE_WORD, .initial = "waldman_hagler",
     .words = "waldman_hagler|halgren|jorgensen|lorentz_berthelot|kong",
     .doc = "how sizes and depths of two classes give those of a pair"},
    {"coulomb_scale", TALI_TYPE_REAL, 4, "0 0 1 1", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of pairs of charges 1, 2, 3 and 4 bonds apart"},
    {"vdw_scale", TALI_TYPE_REAL, 4, "0 0 1 1", TALI_NO_NEGATIVE_NUMBER,
     .doc = "the same for van der Waals"},
    {"coulomb_constant", TALI_TYPE_REAL, 1, "138.93545764438", TALI_POSITIVE_NUMBER,
     .doc = "[kJ nm/mol/e^2]"},
    {"atom_radius_scale", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "in inertias, atoms are solid spheres of so many van der Waals radii; 0: points"},
    {.name = NULL}};

enum {
    FIELD_MIXING = 0, // ref
    FIELD_COULOMB = 0,
    FIELD_VDW = 4,
    FIELD_CONSTANT = 8,
    FIELD_RADIUS = 9
};

static const tali_model_attribute class_attributes[] = {
    {"name", TALI_TYPE_TEXT, .doc = "of the class"},
    {"element", TALI_TYPE_TEXT, .initial = "",
     .doc = "symbol of its element; without one it is a bead, or a site without mass"},
    {"valence", TALI_TYPE_INTEGER, .initial = "0",
     .doc = "number of bonds that its atoms have; 0: any"},
    {"size", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "as `kind` says [nm]"},
    {"kind", TALI_TYPE_WORD, .initial = "sigma", .words = "sigma|rmin|radius",
     .doc = "what the size is: the distance of zero energy, of least energy, or half of that"},
    {"depth", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "of the well [kJ/mol]"},
    {.name = NULL}};

static const tali_model_attribute type_attributes[] = {
    {"name", TALI_TYPE_TEXT, .doc = "of the type"},
    {"class", TALI_TYPE_TEXT, .doc = "its class"},
    {"charge", TALI_TYPE_REAL, 1, "0", .doc = "[e]"},
    {"mass", TALI_TYPE_REALS, .initial = "", .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "[Da]; that of the element if it is not given"},
    {"born", TALI_TYPE_REALS, .initial = "", .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "radius [nm] and screening factor for generalized Born models"},
    {.name = NULL}};

static const tali_model_attribute length_attributes[] = {
    CLASSES("the ends of the term"), TALI_STRETCH_ATTRIBUTES, {.name = NULL}};

static const tali_model_attribute urey_bradley_attributes[] = {
    CLASSES("three classes, the vertex in the middle"), TALI_STRETCH_ATTRIBUTES, {.name = NULL}};

static const tali_model_attribute bend_attributes[] = {
    CLASSES("three classes, the vertex in the middle"), TALI_BEND_ATTRIBUTES, {.name = NULL}};

static const tali_model_attribute torsion_attributes[] = {
    CLASSES("four classes along the bonds; `*` at the ends is any class"),
    TALI_WAVE_ATTRIBUTES,
    {.name = NULL}};

static const tali_model_attribute improper_attributes[] = {
    CLASSES("four classes, the center is the third; `*` is any other class"),
    TALI_WAVE_ATTRIBUTES,
    TALI_HARMONIC_ATTRIBUTE,
    {.name = NULL}};

static const tali_model_attribute pair_attributes[] = {
    CLASSES("two classes"),
    {"well", TALI_TYPE_REALS, .initial = "", .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "sigma [nm] and depth [kJ/mol]"},
    {"AB", TALI_TYPE_REALS, .initial = "",
     .doc = "in its place A [kJ/mol nm^12] and B [kJ/mol nm^6] of A/r^12 - B/r^6"},
    {.name = NULL}};

// ---- building

// What was refused last, at the element that said it.
static void tell(tali_model *m, const tali_model_item *item, tal_ff *ff, tal_status st)
{
    tal_error err = {TAL_OK, "", ""};
    if (st == TAL_OK) return;
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    const tal_status first = tal_ff_freeze(ff, &err); // says what was refused
    tali_model_item_error(m, item, NULL, ": %s", first != TAL_OK ? err.message : "");
}

// The classes of an element by name. False, and an error, when they are not `count` known ones.
static bool find_classes(tali_model *m, const tali_model_item *item, const tal_ff *ff, int count,
                         int out[4])
{
    tali_model_token at = {item->text[0], 0};
    int n = 0;
    for (int i = 0; i < 4; ++i) {
        out[i] = 0;
    }
    while (tali_model_next_token(&at)) {
        char name[TAL_MAX_MOL_NAME + 1];
        (void)snprintf(name, sizeof name, "%.*s", at.length, at.text);
        const int c = strcmp(name, "*") == 0 ? TAL_FF_ANY : tal_ff_find_class(ff, name);
        if (c < 0 && strcmp(name, "*") != 0) {
            tali_model_item_error(m, item, "classes", ": there is no <class> '%s' before it", name);
            return false;
        }
        if (n < 4) out[n] = c;
        ++n;
    }
    if (n == count) return true;
    tali_model_item_error(m, item, "classes", ": 'classes' has %d names; %d are needed", n, count);
    return false;
}

static tal_status add_class(tali_model *m, const tali_model_item *item, tal_ff *ff)
{
    tal_ff_class_def def = tal_ff_class_def_default();
    def.name = item->text[0];
    def.valence = item->ref[0];
    def.size = item->p[0];
    def.size_kind = (tal_ff_size)item->ref[1];
    def.well_depth = item->p[1];
    if (item->text[1][0] != '\0') {
        def.element = tal_element_find(item->text[1]);
        if (def.element <= 0) {
            tali_model_item_error(m, item, "element", ": there is no element '%.20s'",
                                  item->text[1]);
            return TAL_OK;
        }
    }
    return tal_ff_add_class(ff, &def) >= 0 ? TAL_OK : TAL_ERR_BAD_VALUE;
}

static tal_status add_type(tali_model *m, const tali_model_item *item, tal_ff *ff)
{
    const tali_model_list *mass = &item->lists[0], *born = &item->lists[1];
    const int c = tal_ff_find_class(ff, item->text[1]);
    if (c < 0) {
        tali_model_item_error(m, item, "class", ": there is no <class> '%.40s' before it",
                              item->text[1]);
        return TAL_OK;
    }
    if (mass->count > 1 || (born->count != 0 && born->count != 2)) {
        tali_model_item_error(m, item, NULL, ": 'mass' is one number and 'born' two, not %d and %d",
                              mass->count, born->count);
        return TAL_OK;
    }
    const int type = tal_ff_add_type(ff, item->text[0], c, item->p[0]);
    tal_status st = type >= 0 ? TAL_OK : TAL_ERR_BAD_VALUE;
    if (st == TAL_OK && mass->count > 0) st = tal_ff_set_type_mass(ff, type, mass->values[0]);
    if (st == TAL_OK && born->count > 0) {
        st = tal_ff_set_type_born(ff, type, born->values[0], born->values[1]);
    }
    return st;
}

bool tali_model_wave_law(tali_model *m, const tali_model_item *item, bool has_harmonic,
                         tali_field_law *law)
{
    const tali_model_list *waves = &item->lists[0], *powers = &item->lists[1],
                          *series = &item->lists[2];
    static const tali_model_list none = {.values = NULL};
    const tali_model_list *harmonic = has_harmonic ? &item->lists[3] : &none;
    const int given =
        (waves->count > 0) + (powers->count > 0) + (series->count > 0) + (harmonic->count > 0);
    if (given != 1 || waves->count % 3 != 0 || (powers->count > 0 && powers->count != 6) ||
        (series->count > 0 && series->count != 1 + 2 * TALI_WAVES) ||
        (harmonic->count > 0 && harmonic->count != 2)) {
        tali_model_item_error(m, item, NULL,
                              " needs one of: waves (three numbers each), powers (six numbers), "
                              "series (%d numbers)%s",
                              1 + 2 * TALI_WAVES, has_harmonic ? ", harmonic (two numbers)" : "");
        return false;
    }
    *law = (tali_field_law){.kind = TALI_TORSION};
    if (harmonic->count > 0) {
        law->kind = TALI_HARMONIC_IMPROPER;
        law->k = harmonic->values[0];
        law->x0 = harmonic->values[1] * item->unit;
    }
    if (series->count > 0) memcpy(&law->series.a0, series->values, sizeof law->series);
    if (powers->count > 0) law->series = tali_field_series_of_powers(powers->values);
    for (int i = 0; i < waves->count; i += 3) {
        const double *w = waves->values + i;
        const tal_ff_wave wave = {w[0] >= 1.0 && w[0] <= TALI_WAVES ? (int)w[0] : 0, w[1],
                                  w[2] * item->unit};
        tali_field_series one;
        if (wave.n != w[0] || !tali_field_series_of_waves(&wave, 1, &one)) {
            tali_model_item_error(m, item, "waves", ": n is %g; it must be 1 to %d", w[0],
                                  TALI_WAVES);
            return false;
        }
        law->series.a0 += one.a0;
        for (int k = 0; k < TALI_WAVES; ++k) {
            law->series.a[k] += one.a[k];
            law->series.b[k] += one.b[k];
        }
    }
    return true;
}

static tal_status add_wave_row(tali_model *m, const tali_model_item *item, tal_ff *ff,
                               const int classes[4], bool is_improper)
{
    tali_field_law law;
    if (!tali_model_wave_law(m, item, is_improper, &law)) return TAL_OK;
    return tali_field_add_row(ff, is_improper ? TALI_TABLE_IMPROPER : TALI_TABLE_TORSION, classes,
                              &law);
}

// Pairs of classes: by a well, or by A and B.
static tal_status add_pair_row(tali_model *m, const tali_model_item *item, tal_ff *ff,
                               const int c[4], bool is_14)
{
    const tali_model_list *well = &item->lists[0], *AB = &item->lists[1];
    if (well->count + AB->count != 2 || well->count == 1) {
        tali_model_item_error(m, item, NULL, " needs two numbers: either 'well' or 'AB'");
        return TAL_OK;
    }
    if (AB->count > 0) {
        const tali_field_law law = {.k = AB->values[0], .x0 = AB->values[1]};
        return tali_field_add_row(ff, is_14 ? TALI_TABLE_PAIR14 : TALI_TABLE_PAIR, c, &law);
    }
    return (is_14 ? tal_ff_add_pair14 : tal_ff_add_pair)(ff, c[0], c[1], well->values[0],
                                                         well->values[1]);
}

// One element of a force field.
static tal_status add_part(tali_model *m, const tali_model_item *item, tal_ff *ff)
{
    const char *what = item->row->name;
    const double *p = item->p;
    int c[4];
    if (strcmp(what, "class") == 0) return add_class(m, item, ff);
    if (strcmp(what, "type") == 0) return add_type(m, item, ff);
    const bool is_torsion = strcmp(what, "torsion") == 0,
               is_improper = strcmp(what, "improper") == 0;
    const bool is_bend = strcmp(what, "bend") == 0, is_urey = strcmp(what, "urey_bradley") == 0;
    if (!find_classes(m, item, ff, is_torsion || is_improper ? 4 : is_bend || is_urey ? 3 : 2, c)) {
        return TAL_OK;
    }
    if (is_torsion || is_improper) return add_wave_row(m, item, ff, c, is_improper);
    if (is_urey) return tal_ff_add_urey_bradley(ff, c[0], c[1], c[2], p[0], p[1]);
    if (is_bend && item->ref[0]) return tal_ff_add_cosine_bend(ff, c[0], c[1], c[2], p[0], p[1]);
    if (is_bend) return tal_ff_add_bend(ff, c[0], c[1], c[2], p[0], p[1]);
    if (strcmp(what, "stretch") == 0) return tal_ff_add_stretch(ff, c[0], c[1], p[0], p[1]);
    return add_pair_row(m, item, ff, c, strcmp(what, "pair14") == 0);
}

static bool is_sound(const tali_model *m)
{
    return !m->no_memory && tal_diagnostics_num_errors(m->found) == 0;
}

// Made when it is checked, so that molecules can be made of it. Nothing is made of a file that has
// an error already.
static void check_field(tali_model *m, tali_model_item *item)
{
    tal_ff_def def = tal_ff_def_default();
    def.mixing = (tal_ff_mixing)item->ref[FIELD_MIXING];
    memcpy(def.coulomb_scale, item->p + FIELD_COULOMB, sizeof def.coulomb_scale);
    memcpy(def.vdw_scale, item->p + FIELD_VDW, sizeof def.vdw_scale);
    def.coulomb_constant = item->p[FIELD_CONSTANT];
    def.atom_radius_scale = item->p[FIELD_RADIUS];
    tal_error err = {TAL_OK, "", ""};
    if (!is_sound(m)) return;
    tal_status st = tal_ff_create(&def, &m->options.allocator, &item->field, &err);
    for (int c = item->first; c >= 0 && st == TAL_OK; c = m->items[c].next) {
        const tal_status part = add_part(m, &m->items[c], item->field);
        tell(m, &m->items[c], item->field, part);
        if (!is_sound(m)) return;
    }
    if (st == TAL_OK) st = tal_ff_freeze(item->field, &err);
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    if (st != TAL_OK) tali_model_item_error(m, item, NULL, ": %s", err.message);
}

// The model keeps it as long as the System.
static void build_field(tali_model *m, tali_model_item *item)
{
    if (!tali_model_kept_field(m->kept, item->field)) m->no_memory = true;
    item->field = NULL;
}

// ---- writing

static const tal_ff *field_at(const tali_model_description *d, int i)
{
    const tal_forces *forces = d->w->model.forces;
    for (int f = 0; f < tal_forces_num(forces); ++f) {
        const tal_mol_instance *it = tali_term_instance_at(forces, (tal_force_ix){f});
        if (it == NULL) continue;
        const tal_ff *ff = tal_mol_field(tal_mol_instance_mol(it));
        if (tali_model_field_number(d->w, ff) == i) return ff;
    }
    return NULL;
}

int tali_model_field_number(const tali_model_writer *w, const tal_ff *ff)
{
    const tal_forces *forces = w->model.forces;
    int number = 0;
    for (int f = 0; f < tal_forces_num(forces); ++f) {
        const tal_mol_instance *it = tali_term_instance_at(forces, (tal_force_ix){f});
        const tal_ff *other = it != NULL ? tal_mol_field(tal_mol_instance_mol(it)) : NULL;
        if (other == ff) return number;
        bool is_new = other != NULL;
        for (int g = 0; g < f && is_new; ++g) {
            const tal_mol_instance *old = tali_term_instance_at(forces, (tal_force_ix){g});
            is_new = old == NULL || tal_mol_field(tal_mol_instance_mol(old)) != other;
        }
        number += is_new;
    }
    return -1;
}

void tali_model_field_name(int number, char out[TALI_FIELD_NAME_SIZE])
{
    (void)snprintf(out, TALI_FIELD_NAME_SIZE, "field%d", number + 1);
}

bool tali_model_find_field(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    if (field_at(d, d->index) == NULL) return false;
    tali_model_field_name(d->index, d->digits);
    d->name = d->digits;
    d->row = &tali_model_field_rows[0];
    return true;
}

static void describe_field(tali_model_description *d)
{
    const tal_ff_def def = tal_ff_options(field_at(d, d->index));
    tali_model_say_index(d, (int)def.mixing);
    tali_model_say_numbers(d, def.coulomb_scale, 4);
    tali_model_say_numbers(d, def.vdw_scale, 4);
    tali_model_say_number(d, def.coulomb_constant);
    tali_model_say_number(d, def.atom_radius_scale);
}

static tali_model_description part_of(tali_model_writer *w, const char *name)
{
    const tali_model_row *row = tali_model_field_part_rows;
    while (strcmp(row->name, name) != 0) {
        ++row;
    }
    return (tali_model_description){.w = w, .row = row};
}

// Classes and types, with the numbers that the field keeps.
static void write_classes(tali_model_writer *w, const tal_ff *ff)
{
    for (int c = 0; c < tal_ff_num_classes(ff); ++c) {
        const tali_field_class_facts facts = tali_field_class_facts_of(ff, c);
        const int element = tal_ff_class_element(ff, c);
        tali_model_description d = part_of(w, "class");
        tali_model_say_text(&d, tal_ff_class_name(ff, c));
        tali_model_say_text(&d, element > 0 ? tal_element_symbol(element) : "");
        tali_model_say_index(&d, facts.valence);
        tali_model_say_number(&d, facts.sigma);
        tali_model_say_index(&d, (int)TAL_FF_SIGMA);
        tali_model_say_number(&d, facts.well_depth);
        tali_model_write_element(&d, "      ", "\n");
    }
    for (int t = 0; t < tal_ff_num_types(ff); ++t) {
        tali_model_description d = part_of(w, "type");
        double *mass = tali_model_keep_values(&d, 1), *born = tali_model_keep_values(&d, 2);
        *mass = tal_ff_type_mass(ff, t);
        tali_field_born_of(ff, t, born);
        tali_model_say_text(&d, tal_ff_type_name(ff, t));
        tali_model_say_text(&d, tal_ff_class_name(ff, tal_ff_type_class(ff, t)));
        tali_model_say_number(&d, tal_ff_type_charge(ff, t));
        tali_model_say_values(&d, mass, 1);
        tali_model_say_values(&d, born, born[0] > 0.0 ? 2 : 0);
        tali_model_write_element(&d, "      ", "\n");
    }
}

void tali_model_say_waves(tali_model_description *d, const tali_field_law *law, bool has_harmonic)
{
    const bool is_harmonic = law->kind == TALI_HARMONIC_IMPROPER;
    double *harmonic = tali_model_keep_values(d, 2);
    harmonic[0] = law->k;
    harmonic[1] = law->x0;
    tali_model_say_values(d, NULL, 0);
    tali_model_say_values(d, NULL, 0);
    tali_model_say_values(d, &law->series.a0, is_harmonic ? 0 : 1 + 2 * TALI_WAVES);
    if (has_harmonic) tali_model_say_values(d, harmonic, is_harmonic ? 2 : 0);
}

// A row of a table, in the order of the attributes of its element.
static void write_row(tali_model_writer *w, const tal_ff *ff, tali_field_table table,
                      const tali_field_row *row)
{
    static const char *const names[TALI_NUM_TABLES] = {
        "stretch", "bend", "urey_bradley", "torsion", "improper", "pair", "pair14"};
    char classes[4 * (TAL_MAX_MOL_NAME + 1) + 1] = "";
    tali_model_description d = part_of(w, names[table]);
    for (int i = 0, n = 0; i < tali_field_arity(table); ++i) {
        const int c = row->key[i];
        n += snprintf(classes + n, sizeof classes - (size_t)n, "%s%s", i > 0 ? " " : "",
                      c == TAL_FF_ANY ? "*" : tal_ff_class_name(ff, c));
    }
    tali_model_say_text(&d, classes);
    if (table == TALI_TABLE_TORSION || table == TALI_TABLE_IMPROPER) {
        tali_model_say_waves(&d, &row->law, table == TALI_TABLE_IMPROPER);
    } else if (table >= TALI_TABLE_PAIR) {
        tali_model_say_values(&d, NULL, 0);
        tali_model_say_values(&d, &row->law.k, 2); // A and B
    } else {
        tali_model_say_number(&d, row->law.k);
        tali_model_say_number(&d, row->law.x0);
        tali_model_say_index(&d, row->law.kind == TALI_COSINE_BEND);
    }
    tali_model_write_element(&d, "      ", "\n");
}

// Rows of one table. Where classes may stand for any, those added first count first.
static void write_rows(tali_model_writer *w, const tal_ff *ff, tali_field_table table)
{
    const int n = tali_field_num_rows(ff, table);
    const bool is_ordered = table == TALI_TABLE_TORSION || table == TALI_TABLE_IMPROPER;
    int last = -1;
    for (int i = 0; i < n; ++i) {
        const tali_field_row *row = is_ordered ? NULL : tali_field_row_at(ff, table, i);
        for (int k = 0; k < n && is_ordered; ++k) {
            const tali_field_row *it = tali_field_row_at(ff, table, k);
            if (it->defined > last && (row == NULL || it->defined < row->defined)) row = it;
        }
        last = row->defined;
        write_row(w, ff, table, row);
    }
}

static void write_field(tali_model_description *d)
{
    const tal_ff *ff = field_at(d, d->index);
    tali_model_sink_put(&d->w->out, "\n");
    write_classes(d->w, ff);
    for (int table = 0; table < TALI_NUM_TABLES; ++table) {
        write_rows(d->w, ff, (tali_field_table)table);
    }
    tali_model_sink_put(&d->w->out, "    ");
}

// ---- the rows

const tali_model_row tali_model_field_rows[] = {
    {.name = "force_field",
     .doc = "A force field: classes and types of atoms, and parameters between classes "
            "(talus/molecule/force_field.h). Lengths are in nm, masses in Da, energies in kJ/mol.",
     .own = field_attributes,
     .children = TALI_GROUP_FIELD_PARTS,
     .max_children = -1,
     .check = check_field,
     .build = build_field,
     .describe = describe_field,
     .write_children = write_field},
    {.name = NULL}};

const tali_model_row tali_model_field_part_rows[] = {
    {.name = "class",
     .doc =
         "A class of atoms: what van der Waals and bonded parameters go by. Names have no blanks.",
     .own = class_attributes},
    {.name = "type", .doc = "A class with a charge and a mass.", .own = type_attributes},
    {.name = "stretch", .doc = "k (r - r0)^2 of bonded atoms.", .own = length_attributes},
    {.name = "bend", .doc = "k (theta - theta0)^2.", .own = bend_attributes},
    {.name = "urey_bradley",
     .doc = "k (r - r0)^2 between the ends of a bend.",
     .own = urey_bradley_attributes},
    {.name = "torsion", .doc = "A function of a dihedral.", .own = torsion_attributes},
    {.name = "improper",
     .doc = "The same of the neighbors of a center that has three.",
     .own = improper_attributes},
    {.name = "pair",
     .doc = "Van der Waals between two classes, in place of what mixing gives.",
     .own = pair_attributes},
    {.name = "pair14",
     .doc = "The same where atoms are three bonds apart.",
     .own = pair_attributes},
    {.name = NULL}};
