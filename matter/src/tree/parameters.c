// Instance parameters of bodies in a State: masses, frames, mobilizer parameters.
#include "tree/matter_internal.h"

tal_xform tali_tree_nan_xform(void)
{
    const tal_vec3 v = {TALI_NAN, TALI_NAN, TALI_NAN};
    return (tal_xform){{v, v, v}, v};
}

// One body's element in a variable that is an array over the bodies; NULL after a breach.
static const void *element(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                           tal_var_ix var, size_t size, const char *where)
{
    if (tali_tree_body_at(matter, body, where) == NULL) return NULL;
    const char *values = tali_cache_var_read(matter->system, state, var, where);
    return values != NULL ? values + (size_t)body.i * size : NULL;
}

tal_mass_props tal_body_mass_props(const tal_matter *matter, const tal_state *state,
                                   tal_body_ix body)
{
    const tal_var_ix var = matter != NULL ? matter->mass : (tal_var_ix){-1};
    const tal_mass_props *props =
        element(matter, state, body, var, sizeof(tal_mass_props), __func__);
    if (props != NULL) return *props;
    const tal_vec3 com = {TALI_NAN, TALI_NAN, TALI_NAN};
    return (tal_mass_props){
        TALI_NAN, com, {TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN}};
}

tal_xform tal_body_X_PF(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    const tal_var_ix var = matter != NULL ? matter->X_PF : (tal_var_ix){-1};
    const tal_xform *X = element(matter, state, body, var, sizeof(tal_xform), __func__);
    return X != NULL ? *X : tali_tree_nan_xform();
}

tal_xform tal_body_X_BM(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    const tal_var_ix var = matter != NULL ? matter->X_BM : (tal_var_ix){-1};
    const tal_xform *X = element(matter, state, body, var, sizeof(tal_xform), __func__);
    return X != NULL ? *X : tali_tree_nan_xform();
}

const double *tal_body_params(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                              int *n)
{
    const tali_tree_body *declared = tali_tree_body_at(matter, body, __func__);
    if (n != NULL) *n = declared != NULL ? declared->ops.num_params : 0;
    if (declared == NULL) return NULL;
    const double *params = tali_cache_var_read(matter->system, state, matter->var_params, __func__);
    return params != NULL ? params + declared->param0 : NULL;
}

// The body as it would be with the State's present values, for checking a change before making it.
static bool present(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                    tali_tree_body *copy, const char *where)
{
    const tali_tree_body *declared = tali_tree_body_at(matter, body, where);
    if (declared == NULL) return false;
    const tal_mass_props *mass =
        element(matter, state, body, matter->mass, sizeof(tal_mass_props), where);
    if (mass == NULL) return false;
    *copy = *declared;
    copy->mass = *mass;
    copy->X_PF = tal_body_X_PF(matter, state, body);
    copy->X_BM = tal_body_X_BM(matter, state, body);
    return true;
}

// Writes one element of an array variable once the changed body has been found physical.
static tal_status change(const tal_matter *matter, tal_state *state, tal_body_ix body,
                         const tali_tree_body *changed, tal_var_ix var, const void *value,
                         size_t size)
{
    if (body.i == 0) {
        return tal_state_refuse(state, TAL_ERR_BAD_INDEX,
                                "Ground has no mass and no frames to set");
    }
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_tree_body_check(changed, &why);
    if (st != TAL_OK) return tal_state_refuse(state, st, "%s", why.message);
    char *values = tal_var_upd(matter->system, state, var);
    if (values == NULL) return tal_contract_last()->status;
    memcpy(values + (size_t)body.i * size, value, size);
    return TAL_OK;
}

tal_status tal_body_set_mass_props(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                   const tal_mass_props *props)
{
    tali_tree_body changed;
    if (props == NULL) return TALI_BREACH(TAL_ERR_NULL, "the mass properties are NULL");
    if (!present(matter, state, body, &changed, __func__)) return tal_contract_last()->status;
    changed.mass = *props;
    return change(matter, state, body, &changed, matter->mass, props, sizeof *props);
}

tal_body_ix tal_matter_find_unphysical(const tal_matter *matter, const tal_state *state,
                                       tal_body_ix after, double *excess)
{
    tal_body_ix body = {-1};
    if (tali_tree_body_at(matter, after, __func__) == NULL) return body;
    for (int b = after.i + 1; b < matter->num_bodies; ++b) {
        const tal_mass_props *mass =
            element(matter, state, (tal_body_ix){b}, matter->mass, sizeof *mass, __func__);
        if (mass == NULL) return body;
        const double found = tal_mass_props_excess(mass);
        if (found == 0.0) continue;
        if (excess != NULL) *excess = found;
        body.i = b;
        return body;
    }
    return body;
}

tal_status tal_body_set_X_PF(const tal_matter *matter, tal_state *state, tal_body_ix body,
                             const tal_xform *X_PF)
{
    tali_tree_body changed;
    if (X_PF == NULL) return TALI_BREACH(TAL_ERR_NULL, "X_PF is NULL");
    if (!present(matter, state, body, &changed, __func__)) return tal_contract_last()->status;
    changed.X_PF = *X_PF;
    return change(matter, state, body, &changed, matter->X_PF, X_PF, sizeof *X_PF);
}

tal_status tal_body_set_X_BM(const tal_matter *matter, tal_state *state, tal_body_ix body,
                             const tal_xform *X_BM)
{
    tali_tree_body changed;
    if (X_BM == NULL) return TALI_BREACH(TAL_ERR_NULL, "X_BM is NULL");
    if (!present(matter, state, body, &changed, __func__)) return tal_contract_last()->status;
    changed.X_BM = *X_BM;
    return change(matter, state, body, &changed, matter->X_BM, X_BM, sizeof *X_BM);
}

tal_status tal_body_set_params(const tal_matter *matter, tal_state *state, tal_body_ix body,
                               const double params[], int n)
{
    const tali_tree_body *declared = tali_tree_body_at(matter, body, __func__);
    if (declared == NULL) return tal_contract_last()->status;
    if (n != declared->ops.num_params || (params == NULL && n > 0)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s': its %s has %d parameters, not %d", declared->name,
                                declared->ops.name, declared->ops.num_params, n);
    }
    if (n == 0) return TAL_OK;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_mobilizer_check_params(&declared->ops, declared->self, params, &why);
    if (st != TAL_OK) {
        return tal_state_refuse(state, st, "body '%s': %s", declared->name, why.message);
    }
    double *values = tali_cache_var_write(matter->system, state, matter->var_params, __func__);
    if (values == NULL) return tal_contract_last()->status;
    for (int i = 0; i < n; ++i) {
        values[declared->param0 + i] = params[i];
    }
    return TAL_OK;
}
