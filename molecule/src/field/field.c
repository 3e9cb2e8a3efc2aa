// Building a force field: classes, types, rows of its tables; freezing and reading it.
#include "finite_internal.h"
#include "names_internal.h"

#include "field/field_internal.h"

#include <math.h>

/// The most classes: their square is counted in int.
#define MAX_CLASSES 30000

tal_ff_def tal_ff_def_default(void)
{
    const tal_ff_def def = {.mixing = TAL_FF_WALDMAN_HAGLER,
                            .coulomb_scale = {0.0, 0.0, 1.0, 1.0},
                            .vdw_scale = {0.0, 0.0, 1.0, 1.0},
                            .coulomb_constant = TAL_MOL_COULOMB};
    return def;
}

tal_ff_class_def tal_ff_class_def_default(void)
{
    const tal_ff_class_def def = {.size_kind = TAL_FF_SIGMA};
    return def;
}

// ---- creating

// Every field of the options within its range.
static tal_status check_def(const tal_ff_def *def, tal_error *err)
{
    if ((int)def->mixing < 0 || def->mixing > TAL_FF_KONG) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "mixing is %d, which is no rule",
                         (int)def->mixing);
    }
    for (int i = 0; i < 4; ++i) {
        const double c = def->coulomb_scale[i], v = def->vdw_scale[i];
        if (!(isfinite(c) && c >= 0.0 && isfinite(v) && v >= 0.0)) {
            return TALI_FAIL(
                err, TAL_ERR_BAD_VALUE,
                "pairs %d bonds apart are scaled by %g and %g; neither may be negative", i + 1, c,
                v);
        }
    }
    if (!(isfinite(def->coulomb_constant) && def->coulomb_constant > 0.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "coulomb_constant is %g; it must be positive",
                         def->coulomb_constant);
    }
    if (!(isfinite(def->atom_radius_scale) && def->atom_radius_scale >= 0.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "atom_radius_scale is %g; it may not be negative",
                         def->atom_radius_scale);
    }
    return TAL_OK;
}

tal_status tal_ff_create(const tal_ff_def *def, const tal_allocator *allocator, tal_ff **out,
                         tal_error *err)
{
    if (err != NULL) *err = (tal_error){0};
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "where the force field is to go is NULL");
    *out = NULL;
    tal_allocator chosen;
    tal_status st = tali_alloc_choose(allocator, &chosen, __func__);
    if (st != TAL_OK) return TALI_FAIL(err, st, "the allocator lacks a function");
    const tal_ff_def wanted = def != NULL ? *def : tal_ff_def_default();
    if ((st = check_def(&wanted, err)) != TAL_OK) return st;
    tal_ff *ff = tali_alloc(&chosen, sizeof *ff);
    if (ff == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a force field");
    ff->allocator = chosen;
    ff->def = wanted;
    *out = ff;
    return TAL_OK;
}

void tal_ff_destroy(tal_ff *ff)
{
    if (ff == NULL) return;
    const tal_allocator allocator = ff->allocator;
    const size_t n = (size_t)ff->num_classes, pair_bytes = n * n * sizeof(tal_ff_pair);
    tali_free(&allocator, ff->classes, (size_t)ff->class_capacity * sizeof *ff->classes);
    tali_free(&allocator, ff->types, (size_t)ff->type_capacity * sizeof *ff->types);
    for (int t = 0; t < TALI_NUM_TABLES; ++t) {
        const tali_field_rows *rows = &ff->tables[t];
        tali_free(&allocator, rows->items, (size_t)rows->capacity * sizeof *rows->items);
    }
    tali_free(&allocator, ff->pairs, pair_bytes);
    tali_free(&allocator, ff->pairs14, pair_bytes);
    tali_free(&allocator, ff, sizeof *ff);
}

// ---- building

tal_status tali_field_refuse(tal_ff *ff, tal_status status, const char *where, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)tali_vfail(&ff->error, status, where, fmt, args);
    va_end(args);
    return status;
}

bool tali_field_is_open(tal_ff *ff, const char *where)
{
    if (ff == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the force field is NULL");
        return false;
    }
    if (ff->is_frozen) {
        (void)tali_breach(TAL_ERR_TOPOLOGY, where, "the force field is frozen: add to it before");
        return false;
    }
    return true;
}

static tal_status closed_status(const tal_ff *ff)
{
    return ff == NULL ? TAL_ERR_NULL : TAL_ERR_TOPOLOGY;
}

const char *tali_field_copy_name(char to[TAL_MAX_MOL_NAME + 1], const char *name)
{
    if (name == NULL) return "it is NULL";
    if (name[0] == '\0') return "it is empty";
    const size_t length = strlen(name);
    if (length > TAL_MAX_MOL_NAME) return "it is longer than 23 characters";
    const char *flaw = tali_names_flaw(name);
    if (flaw == NULL) memcpy(to, name, length + 1);
    return flaw;
}

// sigma of a size that may be given in other ways.
static double sigma_of(const tal_ff_class_def *def, double unit)
{
    const double size = unit * def->size;
    if (def->size_kind == TAL_FF_RMIN) return size / TAL_MOL_RMIN_PER_SIGMA;
    if (def->size_kind == TAL_FF_RADIUS) return 2.0 * size / TAL_MOL_RMIN_PER_SIGMA;
    return size;
}

// Everything but the name.
static tal_status check_class(tal_ff *ff, const tal_ff_class_def *def, const char *where)
{
    if (!(isfinite(def->size) && def->size >= 0.0)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "class '%s' has size %g; it may not be negative", def->name,
                                 def->size);
    }
    if (!(isfinite(def->well_depth) && def->well_depth >= 0.0)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "class '%s' has well depth %g; it may not be negative", def->name,
                                 def->well_depth);
    }
    if ((int)def->size_kind < 0 || def->size_kind > TAL_FF_RADIUS) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where, "class '%s' has size kind %d",
                                 def->name, (int)def->size_kind);
    }
    if (def->element < 0 || def->element > TAL_MAX_ELEMENT || def->valence < 0) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "class '%s' has element %d and valence %d; elements are 0 to %d, "
                                 "valences not negative",
                                 def->name, def->element, def->valence, TAL_MAX_ELEMENT);
    }
    return TAL_OK;
}

// Add a class whose size and depth are in these units.
static int add_class(tal_ff *ff, const tal_ff_class_def *def, double length, double energy,
                     const char *where)
{
    if (!tali_field_is_open(ff, where)) return -1;
    if (def == NULL) {
        (void)tali_field_refuse(ff, TAL_ERR_NULL, where, "the class is NULL");
        return -1;
    }
    tali_field_class made = {.element = def->element,
                             .valence = def->valence,
                             .sigma = sigma_of(def, length),
                             .well_depth = energy * def->well_depth};
    const char *flaw = tali_field_copy_name(made.name, def->name);
    if (flaw != NULL) {
        (void)tali_field_refuse(ff, TAL_ERR_BAD_NAME, where, "the name of class %d: %s",
                                ff->num_classes, flaw);
        return -1;
    }
    if (check_class(ff, def, where) != TAL_OK) return -1;
    if (tal_ff_find_class(ff, made.name) >= 0) {
        (void)tali_field_refuse(ff, TAL_ERR_BAD_NAME, where, "there is a class '%s' already",
                                made.name);
        return -1;
    }
    if (ff->num_classes >= MAX_CLASSES ||
        !tali_grow(&ff->allocator, (void **)&ff->classes, ff->num_classes, &ff->class_capacity,
                   sizeof made)) {
        (void)tali_field_refuse(ff, TAL_ERR_NO_MEMORY, where, "no room for class '%s'", made.name);
        return -1;
    }
    ff->classes[ff->num_classes] = made;
    return ff->num_classes++;
}

int tal_ff_add_class(tal_ff *ff, const tal_ff_class_def *def)
{
    return add_class(ff, def, 1.0, 1.0, __func__);
}

int tal_ff_add_class_ka(tal_ff *ff, const tal_ff_class_def *def)
{
    return add_class(ff, def, TAL_MOL_ANGSTROM, TAL_MOL_KCAL, __func__);
}

static bool has_class(tal_ff *ff, int atom_class, const char *where)
{
    if (atom_class >= 0 && atom_class < ff->num_classes) return true;
    (void)tali_field_refuse(ff, TAL_ERR_BAD_INDEX, where, "class %d: there are %d", atom_class,
                            ff->num_classes);
    return false;
}

// A type whose element has no mass of its own gets NaN, which freezing refuses.
int tal_ff_add_type(tal_ff *ff, const char *name, int atom_class, double charge)
{
    if (!tali_field_is_open(ff, __func__)) return -1;
    if (!has_class(ff, atom_class, __func__)) return -1;
    tali_field_type made = {.atom_class = atom_class,
                            .charge = charge,
                            .mass = tal_element_mass(ff->classes[atom_class].element)};
    const char *flaw = tali_field_copy_name(made.name, name);
    if (flaw == NULL && tal_ff_find_type(ff, name) >= 0) flaw = "there is such a type already";
    if (flaw != NULL) {
        (void)tali_field_refuse(ff, TAL_ERR_BAD_NAME, __func__, "the name of type %d: %s",
                                ff->num_types, flaw);
        return -1;
    }
    if (!isfinite(charge)) {
        (void)tali_field_refuse(ff, TAL_ERR_NOT_FINITE, __func__, "type '%s' has charge %g", name,
                                charge);
        return -1;
    }
    if (!tali_grow(&ff->allocator, (void **)&ff->types, ff->num_types, &ff->type_capacity,
                   sizeof made)) {
        (void)tali_field_refuse(ff, TAL_ERR_NO_MEMORY, __func__, "no room for type '%s'", name);
        return -1;
    }
    ff->types[ff->num_types] = made;
    return ff->num_types++;
}

tal_status tal_ff_set_type_mass(tal_ff *ff, int type, double mass)
{
    if (!tali_field_is_open(ff, __func__)) return closed_status(ff);
    if (type < 0 || type >= ff->num_types) {
        return tali_field_refuse(ff, TAL_ERR_BAD_INDEX, __func__, "type %d: there are %d", type,
                                 ff->num_types);
    }
    if (!(isfinite(mass) && mass >= 0.0)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, __func__,
                                 "type '%s' is given mass %g; it may not be negative",
                                 ff->types[type].name, mass);
    }
    ff->types[type].mass = mass;
    return TAL_OK;
}

tal_status tal_ff_set_type_born(tal_ff *ff, int type, double radius, double screen)
{
    if (!tali_field_is_open(ff, __func__)) return closed_status(ff);
    if (type < 0 || type >= ff->num_types) {
        return tali_field_refuse(ff, TAL_ERR_BAD_INDEX, __func__, "type %d: there are %d", type,
                                 ff->num_types);
    }
    if (!(isfinite(radius) && radius > TALI_BORN_OFFSET && isfinite(screen) && screen >= 0.0)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, __func__,
                                 "type '%s' is given Born radius %g nm and screen %g; the radius "
                                 "must be above 0.009, the screen not negative",
                                 ff->types[type].name, radius, screen);
    }
    ff->types[type].radius = radius;
    ff->types[type].screen = screen;
    return TAL_OK;
}

// ---- rows of the tables

// Which classes of a table may be any class.
static bool may_be_any(tali_field_table table, int place)
{
    if (table == TALI_TABLE_TORSION) return place == 0 || place == 3;
    return table == TALI_TABLE_IMPROPER && place != 2;
}

// Add a row: check its classes, put them into order (impropers keep theirs), copy.
static tal_status add_row(tal_ff *ff, tali_field_table table, const int classes[4],
                          const tali_field_law *law, const char *where)
{
    const int arity = tali_field_arity(table);
    tali_field_row row = {.law = *law};
    for (int i = 0; i < arity; ++i) {
        const bool is_any = classes[i] == TAL_FF_ANY && may_be_any(table, i);
        if (!is_any && !has_class(ff, classes[i], where)) return TAL_ERR_BAD_INDEX;
        row.key[i] = classes[i];
    }
    if (table != TALI_TABLE_IMPROPER) tali_field_canonical(row.key, arity);
    tali_field_rows *rows = &ff->tables[table];
    if (!tali_grow(&ff->allocator, (void **)&rows->items, rows->count, &rows->capacity,
                   sizeof row)) {
        return tali_field_refuse(ff, TAL_ERR_NO_MEMORY, where, "no memory for a row of a table");
    }
    row.defined = rows->count;
    rows->items[rows->count++] = row;
    return TAL_OK;
}

// A row of two numbers: k, not negative, and a rest value within bounds.
static tal_status add_spring(tal_ff *ff, tali_field_table table, const int classes[4],
                             const tali_field_law *law, double most, const char *where)
{
    if (!tali_field_is_open(ff, where)) return closed_status(ff);
    if (!(isfinite(law->k) && law->k >= 0.0)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where, "k is %g; it may not be negative",
                                 law->k);
    }
    if (!(isfinite(law->x0) && law->x0 >= 0.0 && law->x0 <= most)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "the value at rest is %g; it must be between 0 and %g", law->x0,
                                 most);
    }
    return add_row(ff, table, classes, law, where);
}

static const double LONGEST = 1e6; // nm
static const double STRAIGHT = 180.0 * TAL_MOL_DEGREE;

tal_status tal_ff_add_stretch(tal_ff *ff, int c1, int c2, double k, double r0)
{
    const int classes[4] = {c1, c2, 0, 0};
    const tali_field_law law = {.kind = TALI_STRETCH, .k = k, .x0 = r0};
    return add_spring(ff, TALI_TABLE_STRETCH, classes, &law, LONGEST, __func__);
}

tal_status tal_ff_add_stretch_ka(tal_ff *ff, int c1, int c2, double k, double r0)
{
    const int classes[4] = {c1, c2, 0, 0};
    const tali_field_law law = {
        .kind = TALI_STRETCH, .k = TAL_MOL_KCAL_PER_ANGSTROM2 * k, .x0 = TAL_MOL_ANGSTROM * r0};
    return add_spring(ff, TALI_TABLE_STRETCH, classes, &law, LONGEST, __func__);
}

tal_status tal_ff_add_bend(tal_ff *ff, int c1, int c2, int c3, double k, double theta0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {.kind = TALI_BEND, .k = k, .x0 = theta0};
    return add_spring(ff, TALI_TABLE_BEND, classes, &law, STRAIGHT, __func__);
}

tal_status tal_ff_add_bend_ka(tal_ff *ff, int c1, int c2, int c3, double k, double theta0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {
        .kind = TALI_BEND, .k = TAL_MOL_KCAL * k, .x0 = TAL_MOL_DEGREE * theta0};
    return add_spring(ff, TALI_TABLE_BEND, classes, &law, STRAIGHT, __func__);
}

tal_status tal_ff_add_cosine_bend(tal_ff *ff, int c1, int c2, int c3, double k, double theta0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {.kind = TALI_COSINE_BEND, .k = k, .x0 = theta0};
    return add_spring(ff, TALI_TABLE_BEND, classes, &law, STRAIGHT, __func__);
}

tal_status tal_ff_add_urey_bradley(tal_ff *ff, int c1, int c2, int c3, double k, double r0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {.kind = TALI_STRETCH, .k = k, .x0 = r0};
    return add_spring(ff, TALI_TABLE_UREY_BRADLEY, classes, &law, LONGEST, __func__);
}

tal_status tal_ff_add_urey_bradley_ka(tal_ff *ff, int c1, int c2, int c3, double k, double r0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {
        .kind = TALI_STRETCH, .k = TAL_MOL_KCAL_PER_ANGSTROM2 * k, .x0 = TAL_MOL_ANGSTROM * r0};
    return add_spring(ff, TALI_TABLE_UREY_BRADLEY, classes, &law, LONGEST, __func__);
}

// A row of waves whose heights and phases are in these units.
static tal_status add_waves(tal_ff *ff, tali_field_table table, const int classes[4],
                            const tal_ff_wave waves[], int num_waves, bool is_ka, const char *where)
{
    if (!tali_field_is_open(ff, where)) return closed_status(ff);
    if (num_waves < 0 || (num_waves > 0 && waves == NULL)) {
        return tali_field_refuse(ff, TAL_ERR_NULL, where, "there are %d waves at NULL", num_waves);
    }
    tali_field_law law = {.kind = TALI_TORSION};
    for (int i = 0; i < num_waves; ++i) {
        tal_ff_wave wave = waves[i];
        if (is_ka) wave.V *= TAL_MOL_KCAL;
        if (is_ka) wave.gamma *= TAL_MOL_DEGREE;
        tali_field_series one;
        if (!tali_field_series_of_waves(&wave, 1, &one)) {
            return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                     "wave %d has n = %d, V = %g, gamma = %g; n must be 1 to %d", i,
                                     waves[i].n, waves[i].V, waves[i].gamma, TALI_WAVES);
        }
        law.series.a0 += one.a0;
        for (int n = 0; n < TALI_WAVES; ++n) {
            law.series.a[n] += one.a[n];
            law.series.b[n] += one.b[n];
        }
    }
    return add_row(ff, table, classes, &law, where);
}

tal_status tal_ff_add_torsion(tal_ff *ff, int c1, int c2, int c3, int c4, const tal_ff_wave waves[],
                              int num_waves)
{
    const int classes[4] = {c1, c2, c3, c4};
    return add_waves(ff, TALI_TABLE_TORSION, classes, waves, num_waves, false, __func__);
}

tal_status tal_ff_add_torsion_ka(tal_ff *ff, int c1, int c2, int c3, int c4,
                                 const tal_ff_wave waves[], int num_waves)
{
    const int classes[4] = {c1, c2, c3, c4};
    return add_waves(ff, TALI_TABLE_TORSION, classes, waves, num_waves, true, __func__);
}

tal_status tal_ff_add_rb_torsion(tal_ff *ff, int c1, int c2, int c3, int c4, const double C[6])
{
    if (!tali_field_is_open(ff, __func__)) return closed_status(ff);
    if (C == NULL) return tali_field_refuse(ff, TAL_ERR_NULL, __func__, "C is NULL");
    if (!tali_finite_all(C, 6)) {
        return tali_field_refuse(ff, TAL_ERR_NOT_FINITE, __func__, "a coefficient is not finite");
    }
    const int classes[4] = {c1, c2, c3, c4};
    const tali_field_law law = {.kind = TALI_TORSION, .series = tali_field_series_of_powers(C)};
    return add_row(ff, TALI_TABLE_TORSION, classes, &law, __func__);
}

tal_status tal_ff_add_improper(tal_ff *ff, int c1, int c2, int c3, int c4,
                               const tal_ff_wave waves[], int num_waves)
{
    const int classes[4] = {c1, c2, c3, c4};
    return add_waves(ff, TALI_TABLE_IMPROPER, classes, waves, num_waves, false, __func__);
}

tal_status tal_ff_add_improper_ka(tal_ff *ff, int c1, int c2, int c3, int c4,
                                  const tal_ff_wave waves[], int num_waves)
{
    const int classes[4] = {c1, c2, c3, c4};
    return add_waves(ff, TALI_TABLE_IMPROPER, classes, waves, num_waves, true, __func__);
}

tal_status tal_ff_add_harmonic_improper(tal_ff *ff, int c1, int c2, int c3, int c4, double k,
                                        double phi0)
{
    if (!tali_field_is_open(ff, __func__)) return closed_status(ff);
    const int classes[4] = {c1, c2, c3, c4};
    const tali_field_law law = {.kind = TALI_HARMONIC_IMPROPER, .k = k, .x0 = phi0};
    if (!(isfinite(k) && k >= 0.0 && fabs(phi0) <= STRAIGHT)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, __func__,
                                 "k is %g and phi0 %g; k may not be negative, phi0 is within pi", k,
                                 phi0);
    }
    return add_row(ff, TALI_TABLE_IMPROPER, classes, &law, __func__);
}

// A row A/r^12 - B/r^6.
static tal_status add_pair(tal_ff *ff, tali_field_table table, int c1, int c2, double A, double B,
                           const char *where)
{
    if (!(isfinite(A) && A >= 0.0 && isfinite(B))) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "A is %g and B is %g; both must be finite, A not negative", A, B);
    }
    const int classes[4] = {c1, c2, 0, 0};
    const tali_field_law law = {.k = A, .x0 = B};
    return add_row(ff, table, classes, &law, where);
}

static tal_status add_well(tal_ff *ff, tali_field_table table, const int classes[2], double sigma,
                           double depth, const char *where)
{
    if (!tali_field_is_open(ff, where)) return closed_status(ff);
    if (!(isfinite(sigma) && sigma >= 0.0 && isfinite(depth) && depth >= 0.0)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "sigma is %g and the well depth %g; neither may be negative",
                                 sigma, depth);
    }
    const double s3 = sigma * sigma * sigma, B = 4.0 * depth * s3 * s3;
    return add_pair(ff, table, classes[0], classes[1], B * s3 * s3, B, where);
}

tal_status tal_ff_add_pair(tal_ff *ff, int c1, int c2, double sigma, double well_depth)
{
    const int classes[2] = {c1, c2};
    return add_well(ff, TALI_TABLE_PAIR, classes, sigma, well_depth, __func__);
}

tal_status tal_ff_add_pair_ka(tal_ff *ff, int c1, int c2, double sigma, double well_depth)
{
    const int classes[2] = {c1, c2};
    return add_well(ff, TALI_TABLE_PAIR, classes, TAL_MOL_ANGSTROM * sigma,
                    TAL_MOL_KCAL * well_depth, __func__);
}

tal_status tal_ff_add_pair14(tal_ff *ff, int c1, int c2, double sigma, double well_depth)
{
    const int classes[2] = {c1, c2};
    return add_well(ff, TALI_TABLE_PAIR14, classes, sigma, well_depth, __func__);
}

tal_status tal_ff_add_pair_AB(tal_ff *ff, int c1, int c2, double A, double B)
{
    if (!tali_field_is_open(ff, __func__)) return closed_status(ff);
    return add_pair(ff, TALI_TABLE_PAIR, c1, c2, A, B, __func__);
}

// ---- freezing

static tal_status check_masses(tal_ff *ff)
{
    for (int t = 0; t < ff->num_types; ++t) {
        const tali_field_type *type = &ff->types[t];
        if (isnan(type->mass)) {
            return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, "tal_ff_freeze",
                                     "type '%s': element %s has no standard mass; give one by "
                                     "tal_ff_set_type_mass()",
                                     type->name,
                                     tal_element_symbol(ff->classes[type->atom_class].element));
        }
    }
    return TAL_OK;
}

static tal_status build(tal_ff *ff)
{
    tal_status st = ff->error.status;
    if (st == TAL_OK) st = check_masses(ff);
    if (st == TAL_OK) st = tali_field_sort_tables(ff);
    if (st != TAL_OK) return st;
    const size_t n = (size_t)ff->num_classes, bytes = n * n * sizeof(tal_ff_pair);
    tal_ff_pair *pairs = tali_alloc(&ff->allocator, bytes);
    tal_ff_pair *pairs14 = tali_alloc(&ff->allocator, bytes);
    if (pairs == NULL || pairs14 == NULL) {
        tali_free(&ff->allocator, pairs, bytes);
        tali_free(&ff->allocator, pairs14, bytes);
        return tali_field_refuse(ff, TAL_ERR_NO_MEMORY, "tal_ff_freeze",
                                 "no memory for the pairs of %d classes", ff->num_classes);
    }
    ff->pairs = pairs;
    ff->pairs14 = pairs14;
    tali_field_mix_pairs(ff);
    ff->is_frozen = true;
    return TAL_OK;
}

tal_status tal_ff_freeze(tal_ff *ff, tal_error *err)
{
    if (err != NULL) *err = (tal_error){0};
    if (!tali_field_is_open(ff, __func__)) {
        return TALI_FAIL(err, closed_status(ff), "the force field is NULL or frozen already");
    }
    const tal_status st = build(ff);
    if (st != TAL_OK && err != NULL) *err = ff->error;
    return st;
}

bool tal_ff_is_frozen(const tal_ff *ff)
{
    return ff != NULL && ff->is_frozen;
}

// ---- reading

static bool is_given(const tal_ff *ff, const char *where)
{
    if (ff == NULL) (void)tali_breach(TAL_ERR_NULL, where, "the force field is NULL");
    return ff != NULL;
}

int tal_ff_num_classes(const tal_ff *ff)
{
    return is_given(ff, __func__) ? ff->num_classes : -1;
}

int tal_ff_num_types(const tal_ff *ff)
{
    return is_given(ff, __func__) ? ff->num_types : -1;
}

int tal_ff_find_class(const tal_ff *ff, const char *name)
{
    if (!is_given(ff, __func__)) return -1;
    if (name == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the name is NULL");
        return -1;
    }
    for (int i = 0; i < ff->num_classes; ++i) {
        if (strcmp(ff->classes[i].name, name) == 0) return i;
    }
    return -1;
}

int tal_ff_find_type(const tal_ff *ff, const char *name)
{
    if (!is_given(ff, __func__)) return -1;
    if (name == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the name is NULL");
        return -1;
    }
    for (int i = 0; i < ff->num_types; ++i) {
        if (strcmp(ff->types[i].name, name) == 0) return i;
    }
    return -1;
}

// Whether there is class or type number i of n.
static bool is_there(const tal_ff *ff, int i, int n, const char *what, const char *where)
{
    if (!is_given(ff, where)) return false;
    if (i >= 0 && i < n) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "%s %d: there are %d", what, i, n);
    return false;
}

static const tali_field_type *type_at(const tal_ff *ff, int type, const char *where)
{
    const bool is_type = is_there(ff, type, ff != NULL ? ff->num_types : 0, "type", where);
    return is_type ? &ff->types[type] : NULL;
}

const char *tal_ff_class_name(const tal_ff *ff, int atom_class)
{
    const int n = ff != NULL ? ff->num_classes : 0;
    return is_there(ff, atom_class, n, "class", __func__) ? ff->classes[atom_class].name : "";
}

const char *tal_ff_type_name(const tal_ff *ff, int type)
{
    const tali_field_type *it = type_at(ff, type, __func__);
    return it != NULL ? it->name : "";
}

int tal_ff_type_class(const tal_ff *ff, int type)
{
    const tali_field_type *it = type_at(ff, type, __func__);
    return it != NULL ? it->atom_class : -1;
}

double tal_ff_type_mass(const tal_ff *ff, int type)
{
    const tali_field_type *it = type_at(ff, type, __func__);
    return it != NULL ? it->mass : TALI_NAN;
}

double tal_ff_type_charge(const tal_ff *ff, int type)
{
    const tali_field_type *it = type_at(ff, type, __func__);
    return it != NULL ? it->charge : TALI_NAN;
}

tal_ff_def tal_ff_options(const tal_ff *ff)
{
    const tal_ff_def none = {.mixing = TAL_FF_WALDMAN_HAGLER};
    return is_given(ff, __func__) ? ff->def : none;
}

tal_ff_pair tal_ff_pair_of(const tal_ff *ff, int c1, int c2, bool is_14)
{
    const tal_ff_pair none = {TALI_NAN, TALI_NAN};
    const int n = ff != NULL ? ff->num_classes : 0;
    if (!is_there(ff, c1, n, "class", __func__) || !is_there(ff, c2, n, "class", __func__)) {
        return none;
    }
    if (!ff->is_frozen) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY, "pairs are mixed by tal_ff_freeze(): call it first");
        return none;
    }
    return (is_14 ? ff->pairs14 : ff->pairs)[c1 * n + c2];
}
