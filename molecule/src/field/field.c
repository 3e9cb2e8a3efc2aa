// Building a force field: classes and types; freezing it.
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

tal_status tali_field_closed(const tal_ff *ff)
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

bool tali_field_has_class(tal_ff *ff, int atom_class, const char *where)
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
    if (!tali_field_has_class(ff, atom_class, __func__)) return -1;
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
    if (!tali_field_is_open(ff, __func__)) return tali_field_closed(ff);
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
    if (!tali_field_is_open(ff, __func__)) return tali_field_closed(ff);
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
        return TALI_FAIL(err, tali_field_closed(ff), "the force field is NULL or frozen already");
    }
    const tal_status st = build(ff);
    if (st != TAL_OK && err != NULL) *err = ff->error;
    return st;
}

bool tal_ff_is_frozen(const tal_ff *ff)
{
    return ff != NULL && ff->is_frozen;
}
