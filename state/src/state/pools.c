// The System-wide arrays in a State: t, y and its derivatives, errors, triggers, weights.
#include "solve_internal.h"

#include "state/state_internal.h"

#include <math.h>

// --- sizes ---

static tal_stage sized_at(tal_pool pool)
{
    return pool <= TAL_POOL_Z ? TAL_STAGE_MODEL : TAL_STAGE_INSTANCE;
}

size_t tali_state_pool_base(const tal_state *state, tal_pool pool)
{
    const int32_t *size = tali_state_ccore(state)->size;
    int before = 0;
    if (pool >= TAL_POOL_U) before += size[TAL_POOL_Q];
    if (pool >= TAL_POOL_Z) before += size[TAL_POOL_U];
    return (size_t)before * sizeof(double);
}

int tal_state_pool_size(const tal_state *state, tal_pool pool)
{
    const int p = (int)pool;
    if (p < 0 || p >= TALI_NUM_POOLS) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "there is no pool %d", p);
        return -1;
    }
    if (!TALI_IS_SIZED(state, sized_at(pool))) return -1;
    return tali_state_ccore(state)->size[p];
}

int tal_state_nq(const tal_state *state)
{
    return TALI_IS_SIZED(state, TAL_STAGE_MODEL) ? tali_state_ccore(state)->size[TAL_POOL_Q] : -1;
}

int tal_state_nu(const tal_state *state)
{
    return TALI_IS_SIZED(state, TAL_STAGE_MODEL) ? tali_state_ccore(state)->size[TAL_POOL_U] : -1;
}

int tal_state_nz(const tal_state *state)
{
    return TALI_IS_SIZED(state, TAL_STAGE_MODEL) ? tali_state_ccore(state)->size[TAL_POOL_Z] : -1;
}

static int size_y(const tal_state *state)
{
    const int32_t *size = tali_state_ccore(state)->size;
    return size[TAL_POOL_Q] + size[TAL_POOL_U] + size[TAL_POOL_Z];
}

int tal_state_ny(const tal_state *state)
{
    return TALI_IS_SIZED(state, TAL_STAGE_MODEL) ? size_y(state) : -1;
}

// --- reading ---

// What a read before its stage returns. A NULL State has no array to return.
static const double *nans(const tal_state *state)
{
    return state != NULL ? tali_state_cpart(state, state->at.nans) : NULL;
}

const double *tal_state_q(const tal_state *state)
{
    if (!TALI_IS_SIZED(state, TAL_STAGE_MODEL)) return nans(state);
    return tali_state_cpart(state, state->at.y);
}

const double *tal_state_u(const tal_state *state)
{
    if (!TALI_IS_SIZED(state, TAL_STAGE_MODEL)) return nans(state);
    return tali_state_cpart(state, state->at.y + tali_state_pool_base(state, TAL_POOL_U));
}

const double *tal_state_z(const tal_state *state)
{
    if (!TALI_IS_SIZED(state, TAL_STAGE_MODEL)) return nans(state);
    return tali_state_cpart(state, state->at.y + tali_state_pool_base(state, TAL_POOL_Z));
}

const double *tal_state_y(const tal_state *state)
{
    if (!TALI_IS_SIZED(state, TAL_STAGE_MODEL)) return nans(state);
    return tali_state_cpart(state, state->at.y);
}

const double *tal_state_qdot(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_VELOCITY)) return nans(state);
    return tali_state_cpart(state, state->at.ydot);
}

const double *tal_state_udot(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_ACCELERATION)) return nans(state);
    return tali_state_cpart(state, state->at.ydot + tali_state_pool_base(state, TAL_POOL_U));
}

const double *tal_state_zdot(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_ACCELERATION)) return nans(state);
    return tali_state_cpart(state, state->at.ydot + tali_state_pool_base(state, TAL_POOL_Z));
}

const double *tal_state_ydot(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_ACCELERATION)) return nans(state);
    return tali_state_cpart(state, state->at.ydot);
}

const double *tal_state_qdotdot(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_ACCELERATION)) return nans(state);
    return tali_state_cpart(state, state->at.qdotdot);
}

const double *tal_state_qerr(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_POSITION)) return nans(state);
    return tali_state_cpart(state, state->at.errors[TAL_POOL_QERR]);
}

const double *tal_state_uerr(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_VELOCITY)) return nans(state);
    return tali_state_cpart(state, state->at.errors[TAL_POOL_UERR]);
}

const double *tal_state_udoterr(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_ACCELERATION)) return nans(state);
    return tali_state_cpart(state, state->at.errors[TAL_POOL_UDOTERR]);
}

const double *tal_state_multipliers(const tal_state *state)
{
    if (!TALI_HAS_STAGE(state, TAL_STAGE_ACCELERATION)) return nans(state);
    return tali_state_cpart(state, state->at.multipliers);
}

// --- writing ---

double tal_state_t(const tal_state *state)
{
    if (state != NULL) return tali_state_ctimes(state)->t;
    (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return TALI_NAN;
}

static tal_status set_t(tal_state *state, double t, const char *where)
{
    if (!isfinite(t)) {
        return tali_state_set_fail(state, TAL_ERR_NOT_FINITE, where, "t is %g: time must be finite",
                                   t);
    }
    tali_state_times_of(state)->t = t;
    tali_state_core_of(state)->t_stamp = tali_state_tick(state);
    tali_state_invalidate(state, TAL_STAGE_TIME);
    return TAL_OK;
}

tal_status tal_state_set_t(tal_state *state, double t)
{
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    if (!tali_state_can_write(state, __func__)) return TAL_ERR_STAGE;
    return set_t(state, t, __func__);
}

// One part of y, or all of it.
typedef enum part_of_y {
    PART_Q,
    PART_U,
    PART_Z,
    PART_Y
} part_of_y;

static void touch(tal_state *state, part_of_y part)
{
    static const tal_stage stage[] = {TAL_STAGE_POSITION, TAL_STAGE_VELOCITY, TAL_STAGE_DYNAMICS,
                                      TAL_STAGE_POSITION};
    tali_state_core *core = tali_state_core_of(state);
    const uint64_t stamp = tali_state_tick(state);
    if (part == PART_Q || part == PART_Y) core->q_stamp = stamp;
    if (part == PART_U || part == PART_Y) core->u_stamp = stamp;
    if (part == PART_Z || part == PART_Y) core->z_stamp = stamp;
    tali_state_invalidate(state, stage[part]);
}

static double *writable(tal_state *state, part_of_y part, const char *where)
{
    if (state == NULL || tali_state_ccore(state)->stage < TAL_STAGE_MODEL) {
        (void)tali_state_breach_stage(state, TAL_STAGE_MODEL, where);
        if (state != NULL) tali_state_keep_breach(state);
        return NULL;
    }
    if (!tali_state_can_write(state, where)) return NULL;
    const size_t base = part == PART_Y ? 0 : tali_state_pool_base(state, (tal_pool)part);
    return tali_state_part(state, state->at.y + base);
}

static double *upd_part(tal_state *state, part_of_y part, const char *where)
{
    double *values = writable(state, part, where);
    if (values != NULL) touch(state, part);
    return values;
}

// Set q, u, z or all of y, after a check that all values are finite.
static tal_status set_part(tal_state *state, part_of_y part, const double values[], int n,
                           const char *where)
{
    static const char name[] = {'q', 'u', 'z', 'y'};
    double *slots = writable(state, part, where);
    if (slots == NULL) return tali_state_breach_status();
    if (values == NULL && n != 0) {
        return tali_state_set_fail(state, TAL_ERR_NULL, where, "the values of %c are NULL",
                                   name[part]);
    }
    const int size = part == PART_Y ? size_y(state) : tali_state_ccore(state)->size[part];
    if (n != size) {
        return tali_state_set_fail(state, TAL_ERR_BAD_VALUE, where,
                                   "%d values were given, but %c has %d", n, name[part], size);
    }
    for (int i = 0; i < n; ++i) {
        if (isfinite(values[i])) continue;
        return tali_state_set_fail(state, TAL_ERR_NOT_FINITE, where,
                                   "%c[%d] is %g: it must be finite", name[part], i, values[i]);
    }
    if (n > 0) memmove(slots, values, (size_t)n * sizeof(double));
    touch(state, part);
    return TAL_OK;
}

tal_status tal_state_set_q(tal_state *state, const double q[], int n)
{
    return set_part(state, PART_Q, q, n, __func__);
}

tal_status tal_state_set_u(tal_state *state, const double u[], int n)
{
    return set_part(state, PART_U, u, n, __func__);
}

tal_status tal_state_set_z(tal_state *state, const double z[], int n)
{
    return set_part(state, PART_Z, z, n, __func__);
}

tal_status tal_state_set_y(tal_state *state, const double y[], int n)
{
    return set_part(state, PART_Y, y, n, __func__);
}

double *tal_state_upd_q(tal_state *state)
{
    return upd_part(state, PART_Q, __func__);
}

double *tal_state_upd_u(tal_state *state)
{
    return upd_part(state, PART_U, __func__);
}

double *tal_state_upd_z(tal_state *state)
{
    return upd_part(state, PART_Z, __func__);
}

double *tal_state_upd_y(tal_state *state)
{
    return upd_part(state, PART_Y, __func__);
}

double *tali_state_upd_ty(tal_state *state, double t)
{
    double *y = writable(state, PART_Y, __func__);
    if (y == NULL || set_t(state, t, __func__) != TAL_OK) return NULL;
    tali_state_core *core = tali_state_core_of(state);
    core->q_stamp = core->u_stamp = core->z_stamp = core->t_stamp;
    return y;
}

// --- triggers ---

// True when triggers of that stage can exist.
static bool is_trigger_stage(tal_stage stage, const char *where)
{
    if (stage >= TAL_STAGE_TIME && stage <= TAL_STAGE_REPORT) return true;
    (void)tali_breach(TAL_ERR_BAD_VALUE, where,
                      "triggers belong to the stages Time to Report, not %s",
                      tal_stage_name(stage));
    return false;
}

int tal_state_num_triggers(const tal_state *state, tal_stage stage)
{
    if (!is_trigger_stage(stage, __func__) || !TALI_IS_SIZED(state, TAL_STAGE_INSTANCE)) return -1;
    const int32_t *start = tali_state_ccore(state)->trigger_start;
    return start[stage + 1] - start[stage];
}

static const double *triggers_of(const tal_state *state, tal_stage stage, size_t array)
{
    return (const double *)tali_state_cpart(state, array) +
           tali_state_ccore(state)->trigger_start[stage];
}

const double *tal_state_triggers(const tal_state *state, tal_stage stage)
{
    if (!is_trigger_stage(stage, __func__) || !TALI_HAS_STAGE(state, stage)) return nans(state);
    return triggers_of(state, stage, state->at.errors[TAL_POOL_TRIGGER]);
}

const double *tal_state_triggers_prev(const tal_state *state, tal_stage stage)
{
    if (!is_trigger_stage(stage, __func__) || !TALI_IS_SIZED(state, TAL_STAGE_INSTANCE)) {
        return nans(state);
    }
    return triggers_of(state, stage, state->at.triggers_prev);
}

double tal_state_t_prev(const tal_state *state)
{
    if (state != NULL) return tali_state_ctimes(state)->t_prev;
    (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return TALI_NAN;
}

const double *tal_state_y_prev(const tal_state *state)
{
    if (!TALI_IS_SIZED(state, TAL_STAGE_MODEL)) return nans(state);
    return tali_state_cpart(state, state->at.y_prev);
}

// --- weights ---

static bool has_weights(tal_pool pool, const char *where)
{
    if (pool == TAL_POOL_U || pool == TAL_POOL_Z || pool == TAL_POOL_QERR ||
        pool == TAL_POOL_UERR) {
        return true;
    }
    (void)tali_breach(TAL_ERR_BAD_VALUE, where,
                      "only u, z, qerr and uerr have weights, not pool %d", (int)pool);
    return false;
}

const double *tal_state_weights(const tal_state *state, tal_pool pool)
{
    if (!has_weights(pool, __func__) || !TALI_IS_SIZED(state, sized_at(pool))) return nans(state);
    return tali_state_cpart(state, state->at.weights[pool]);
}

tal_status tal_state_set_weights(tal_state *state, tal_pool pool, const double w[], int n)
{
    if (!has_weights(pool, __func__) || !TALI_IS_SIZED(state, sized_at(pool))) {
        if (state != NULL) tali_state_keep_breach(state);
        return tali_state_breach_status();
    }
    if (!tali_state_can_write(state, __func__)) return TAL_ERR_STAGE;
    const int size = tali_state_ccore(state)->size[pool];
    if (n != size || (w == NULL && n > 0)) {
        return tali_state_set_fail(state, TAL_ERR_BAD_VALUE, __func__,
                                   "%d weights were given at %p, not %d", n, (const void *)w, size);
    }
    for (int i = 0; i < n; ++i) {
        if (w[i] > 0.0 && isfinite(w[i])) continue;
        return tali_state_set_fail(state, TAL_ERR_BAD_VALUE, __func__,
                                   "weight[%d] is %g: it must be positive and finite", i, w[i]);
    }
    if (n > 0) {
        memmove(tali_state_part(state, state->at.weights[pool]), w, (size_t)n * sizeof(double));
    }
    const tal_stage stage = pool == TAL_POOL_QERR   ? TAL_STAGE_POSITION
                            : pool == TAL_POOL_UERR ? TAL_STAGE_VELOCITY
                                                    : TAL_STAGE_REPORT;
    tali_state_invalidate(state, stage);
    return TAL_OK;
}
