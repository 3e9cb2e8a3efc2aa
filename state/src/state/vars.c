// Discrete variables in a State.
#include "state/state_internal.h"

#include <math.h>

// The declared variable if it can be used in this State; NULL after reporting the breach.
TAL_ALWAYS_INLINE const tali_system_var *usable(const tal_system *system, const tal_state *state,
                                                tal_var_ix var, const char *where)
{
    if (system == NULL || state == NULL || !system->has_topology || system->hash != state->hash) {
        (void)tali_state_breach_system(system, state, where);
        return NULL;
    }
    if (!tali_system_has_element(system, &system->vars, var.i, "variable", where)) return NULL;
    const tali_system_var *declared = tali_system_var_at(system, var.i);
    if (tali_state_level(state) >= declared->allocated) return declared;
    (void)tali_breach(TAL_ERR_STAGE, where,
                      "variable '%s' exists from stage %s on, but the State has reached only %s",
                      declared->element.name, tal_stage_name(declared->allocated),
                      tal_stage_name(tali_state_level(state)));
    return NULL;
}

const void *tali_cache_var_read(const tal_system *system, const tal_state *state, tal_var_ix var,
                                const char *where)
{
    const tali_system_var *declared = usable(system, state, var, where);
    return declared != NULL ? tali_state_cpart(state, state->at.vars + declared->offset) : NULL;
}

const void *tal_var_value(const tal_system *system, const tal_state *state, tal_var_ix var)
{
    return tali_cache_var_read(system, state, var, __func__);
}

const void *tal_var_prev(const tal_system *system, const tal_state *state, tal_var_ix var)
{
    const tali_system_var *declared = usable(system, state, var, __func__);
    return declared != NULL ? tali_state_cpart(state, state->at.vars_prev + declared->offset)
                            : NULL;
}

// Keeps a setter's breach for the next realize, unless the State belongs to another System.
static void keep_if_ours(tal_state *state)
{
    const tal_status st = tali_state_breach_status();
    if (st == TAL_ERR_STAGE || st == TAL_ERR_BAD_INDEX || st == TAL_ERR_BAD_VALUE) {
        tali_state_keep_breach(state);
    }
}

void *tali_cache_var_write(const tal_system *system, tal_state *state, tal_var_ix var,
                           const char *where)
{
    const tali_system_var *declared = usable(system, state, var, where);
    if (declared == NULL) {
        keep_if_ours(state);
        return NULL;
    }
    if (!tali_state_can_write(state, where)) return NULL;
    ((uint64_t *)tali_state_part(state, state->at.var_stamps))[var.i] = tali_state_tick(state);
    // an explicit value replaces the pending update value
    if (declared->update >= 0) tali_state_entry_stamps(state)[declared->update] = 0;
    tali_state_invalidate(state, declared->invalidates);
    return tali_state_part(state, state->at.vars + declared->offset);
}

void *tal_var_upd(const tal_system *system, tal_state *state, tal_var_ix var)
{
    return tali_cache_var_write(system, state, var, __func__);
}

tal_status tal_var_set(const tal_system *system, tal_state *state, tal_var_ix var,
                       const void *value)
{
    if (value == NULL) return TALI_BREACH(TAL_ERR_NULL, "the value is NULL");
    void *bytes = tali_cache_var_write(system, state, var, __func__);
    if (bytes == NULL) return tali_state_breach_status();
    memmove(bytes, value, tali_system_var_at(system, var.i)->size);
    return TAL_OK;
}

// True when the variable is one double; otherwise a breach has been reported.
static bool is_double(const tali_system_var *declared, const char *where)
{
    if (declared->size == sizeof(double)) return true;
    (void)tali_breach(TAL_ERR_BAD_VALUE, where, "variable '%s' has %zu bytes: it is not one double",
                      declared->element.name, declared->size);
    return false;
}

double tal_var_double(const tal_system *system, const tal_state *state, tal_var_ix var)
{
    const tali_system_var *declared = usable(system, state, var, __func__);
    if (declared == NULL || !is_double(declared, __func__)) return TALI_NAN;
    double value;
    memcpy(&value, tali_state_cpart(state, state->at.vars + declared->offset), sizeof value);
    return value;
}

tal_status tal_var_set_double(const tal_system *system, tal_state *state, tal_var_ix var,
                              double value)
{
    const tali_system_var *declared = usable(system, state, var, __func__);
    if (declared == NULL || !is_double(declared, __func__)) {
        keep_if_ours(state);
        return tali_state_breach_status();
    }
    if (!isfinite(value)) {
        return tali_state_set_fail(
            state, TAL_ERR_NOT_FINITE, __func__, "variable '%s' of subsystem '%s' cannot be %g",
            declared->element.name,
            tali_system_subsystem_at(system, declared->element.owner)->element.name, value);
    }
    double *bytes = tali_cache_var_write(system, state, var, __func__);
    if (bytes == NULL) return tali_state_breach_status();
    *bytes = value;
    return TAL_OK;
}
