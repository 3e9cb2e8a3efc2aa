// Reading a force field.
#include "field/field_internal.h"

#include <string.h>

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

static bool is_name(const tal_ff *ff, const char *name, const char *where)
{
    if (!is_given(ff, where)) return false;
    if (name == NULL) (void)tali_breach(TAL_ERR_NULL, where, "the name is NULL");
    return name != NULL;
}

int tal_ff_find_class(const tal_ff *ff, const char *name)
{
    if (!is_name(ff, name, __func__)) return -1;
    int i = ff->num_classes - 1;
    while (i >= 0 && strcmp(ff->classes[i].name, name) != 0) {
        --i;
    }
    return i;
}

int tal_ff_find_type(const tal_ff *ff, const char *name)
{
    if (!is_name(ff, name, __func__)) return -1;
    int i = ff->num_types - 1;
    while (i >= 0 && strcmp(ff->types[i].name, name) != 0) {
        --i;
    }
    return i;
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

int tal_ff_class_element(const tal_ff *ff, int atom_class)
{
    const int n = ff != NULL ? ff->num_classes : 0;
    return is_there(ff, atom_class, n, "class", __func__) ? ff->classes[atom_class].element : -1;
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
