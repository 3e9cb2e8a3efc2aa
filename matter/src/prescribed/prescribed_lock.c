// Locks: mobilities that a State holds still, or at a speed or an acceleration.
#include "prescribed/prescribed_internal.h"

#include <math.h>

const uint8_t *tali_prescribed_lock_levels(const tal_matter *matter, const tal_state *state)
{
    return tal_var_value(matter->system, state, matter->prescribed.levels);
}

// --- what a call names ---

// Mobilities first ... first + n - 1 of a body, and how many values they have at a level.
typedef struct lock_target {
    const tali_tree_body *body;
    int b, first, n, num_values;
} lock_target;

static bool find_body(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                      tal_level level, lock_target *to, const char *where)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, where);
    if (found == NULL || tali_cache_read(matter->system, state, matter->model, where) == NULL) {
        return false;
    }
    const int nq = tali_matter_model_of(matter, state).nq[body.i];
    *to = (lock_target){found, body.i, 0, found->ops.nu,
                        level == TAL_LEVEL_POSITION ? nq : found->ops.nu};
    return true;
}

static bool find_mobility(const tal_matter *matter, const tal_state *state, tal_mobility mobility,
                          lock_target *to, const char *where)
{
    if (!find_body(matter, state, mobility.body, TAL_LEVEL_FREE, to, where)) return false;
    if (mobility.i < 0 || mobility.i >= to->n) {
        (void)tali_breach(TAL_ERR_BAD_INDEX, where, "body '%s' has no speed %d: it has %d",
                          to->body->name, mobility.i, to->n);
        return false;
    }
    to->first = mobility.i;
    to->n = to->num_values = 1;
    return true;
}

// --- writing q and u so that they agree ---

static tal_status write_q(const tal_matter *matter, tal_state *state, const lock_target *to,
                          const double values[])
{
    const int q0 = tal_group_start(matter->system, state, matter->q) +
                   tali_matter_model_of(matter, state).q0[to->b] + to->first;
    if (memcmp(tal_state_q(state) + q0, values, (size_t)to->num_values * sizeof *values) == 0) {
        return TAL_OK;
    }
    double *q = tal_state_upd_q(state);
    if (q == NULL) return tal_contract_last()->status;
    memcpy(q + q0, values, (size_t)to->num_values * sizeof *values);
    return TAL_OK;
}

// NULL means zeros.
static tal_status write_u(const tal_matter *matter, tal_state *state, const lock_target *to,
                          const double values[])
{
    const int u0 =
        tal_group_start(matter->system, state, matter->u) + matter->tree.u0[to->b] + to->first;
    for (int j = 0; j < to->n; ++j) {
        const double value = values != NULL ? values[j] : 0.0;
        if (tal_state_u(state)[u0 + j] == value) continue;
        double *u = tal_state_upd_u(state);
        if (u == NULL) return tal_contract_last()->status;
        u[u0 + j] = value;
    }
    return TAL_OK;
}

// --- setting ---

static tal_status check_values(tal_state *state, const lock_target *to, tal_level level,
                               const double values[])
{
    if (level < TAL_LEVEL_FREE || level > TAL_LEVEL_POSITION) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE, "body '%s': %d is not a level to lock at",
                                to->body->name, (int)level);
    }
    if (to->n < to->body->ops.nu && to->body->ops.mul_N != NULL) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s': the qdot of a %s are not its u, so only all of its "
                                "mobilities can be locked",
                                to->body->name, to->body->ops.name);
    }
    for (int i = 0; level != TAL_LEVEL_FREE && i < to->num_values; ++i) {
        if (isfinite(values[i])) continue;
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE, "body '%s': it cannot be locked at %g",
                                to->body->name, values[i]);
    }
    return TAL_OK;
}

// Writes the two variables where they differ from what they hold.
static tal_status store(const tal_matter *matter, tal_state *state, const lock_target *to,
                        tal_level level, const double values[])
{
    const tal_system *system = matter->system;
    const tali_prescribed *all = &matter->prescribed;
    const int at = all->value0[to->b] + to->first;
    const size_t bytes = (size_t)to->num_values * sizeof *values;
    const double *present = tal_var_value(system, state, all->values);
    if (level != TAL_LEVEL_FREE && memcmp(present + at, values, bytes) != 0) {
        double *stored = tal_var_upd(system, state, all->values);
        if (stored == NULL) return tal_contract_last()->status;
        memcpy(stored + at, values, bytes);
    }
    const int u0 = matter->tree.u0[to->b] + to->first;
    const int mode = matter->tree.num_u + to->b;
    const uint8_t use_angles = tali_matter_model_of(matter, state).use_angles[to->b] != 0;
    const uint8_t *levels = tali_prescribed_lock_levels(matter, state);
    bool same = levels[mode] == use_angles;
    for (int j = 0; j < to->n; ++j) {
        same = same && levels[u0 + j] == (uint8_t)level;
    }
    if (same) return TAL_OK;
    uint8_t *to_levels = tal_var_upd(system, state, all->levels);
    if (to_levels == NULL) return tal_contract_last()->status;
    memset(to_levels + u0, (int)level, (size_t)to->n);
    to_levels[mode] = use_angles;
    return TAL_OK;
}

static tal_status lock_at(const tal_matter *matter, tal_state *state, const lock_target *to,
                          tal_level level, const double values[])
{
    tal_status st = check_values(state, to, level, values);
    if (st != TAL_OK || to->n == 0 || values == NULL) return st; // nothing to lock
    st = store(matter, state, to, level, values);
    if (st == TAL_OK && level == TAL_LEVEL_POSITION) {
        st = write_q(matter, state, to, values);
        if (st == TAL_OK) st = write_u(matter, state, to, NULL);
    }
    if (st == TAL_OK && level == TAL_LEVEL_VELOCITY) st = write_u(matter, state, to, values);
    return st;
}

// Where it is, as fast as it is, or not accelerating.
static tal_status lock_here(const tal_matter *matter, tal_state *state, const lock_target *to,
                            tal_level level)
{
    double values[TAL_MAX_NQ] = {0.0};
    const tal_system *system = matter->system;
    for (int i = 0; i < to->num_values; ++i) {
        if (level == TAL_LEVEL_POSITION) {
            const int q0 = tali_matter_model_of(matter, state).q0[to->b] + to->first;
            values[i] = tal_state_q(state)[tal_group_start(system, state, matter->q) + q0 + i];
        } else if (level == TAL_LEVEL_VELOCITY) {
            const int u0 = matter->tree.u0[to->b] + to->first;
            values[i] = tal_state_u(state)[tal_group_start(system, state, matter->u) + u0 + i];
        }
    }
    return lock_at(matter, state, to, level, values);
}

// --- calls ---

tal_status tal_body_lock(const tal_matter *matter, tal_state *state, tal_body_ix body,
                         tal_level level)
{
    lock_target to;
    if (!find_body(matter, state, body, level, &to, __func__)) return tal_contract_last()->status;
    return lock_here(matter, state, &to, level);
}

tal_status tal_body_lock_at(const tal_matter *matter, tal_state *state, tal_body_ix body,
                            tal_level level, const double values[], int n)
{
    lock_target to;
    if (!find_body(matter, state, body, level, &to, __func__)) return tal_contract_last()->status;
    if (n != to.num_values || (values == NULL && n > 0)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s' is locked by %d values, not %d", to.body->name,
                                to.num_values, values != NULL ? n : 0);
    }
    return lock_at(matter, state, &to, level, values);
}

tal_status tal_body_unlock(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    return tal_body_lock(matter, state, body, TAL_LEVEL_FREE);
}

tal_level tal_body_lock_level(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    lock_target to;
    if (!find_body(matter, state, body, TAL_LEVEL_FREE, &to, __func__) || to.n == 0) {
        return TAL_LEVEL_FREE;
    }
    const uint8_t *levels = tali_prescribed_lock_levels(matter, state) + matter->tree.u0[body.i];
    for (int j = 1; j < to.n; ++j) {
        if (levels[j] != levels[0]) return TAL_LEVEL_FREE;
    }
    return (tal_level)levels[0];
}

tal_status tal_mobility_lock(const tal_matter *matter, tal_state *state, tal_mobility mobility,
                             tal_level level)
{
    lock_target to;
    if (!find_mobility(matter, state, mobility, &to, __func__)) return tal_contract_last()->status;
    return lock_here(matter, state, &to, level);
}

tal_status tal_mobility_lock_at(const tal_matter *matter, tal_state *state, tal_mobility mobility,
                                tal_level level, double value)
{
    lock_target to;
    if (!find_mobility(matter, state, mobility, &to, __func__)) return tal_contract_last()->status;
    return lock_at(matter, state, &to, level, &value);
}

tal_status tal_mobility_unlock(const tal_matter *matter, tal_state *state, tal_mobility mobility)
{
    return tal_mobility_lock(matter, state, mobility, TAL_LEVEL_FREE);
}

tal_level tal_mobility_lock_level(const tal_matter *matter, const tal_state *state,
                                  tal_mobility mobility)
{
    lock_target to;
    if (!find_mobility(matter, state, mobility, &to, __func__)) return TAL_LEVEL_FREE;
    return (tal_level)tali_prescribed_lock_levels(matter, state)[matter->tree.u0[to.b] + to.first];
}
