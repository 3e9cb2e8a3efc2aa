// Motions as they are built: adding, names, parameters, enabling; what starts locked or is fast.
#include "names_internal.h"

#include "prescribed/prescribed_internal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

tal_motion_def tal_motion_def_default(void)
{
    return (tal_motion_def){.body = {-1}, .mobility = -1, .level = TAL_LEVEL_POSITION};
}

// --- adding ---

static tal_status take_name(const tal_matter *matter, tali_prescribed_drive *drive,
                            const char *name, tal_error *err)
{
    const int index = matter->prescribed.count;
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "motion%d", index);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME ||
        tal_matter_find_motion(matter, chosen).i >= 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "motion %d: the name '%.80s' is empty, too long or used already", index,
                         chosen);
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) return TALI_FAIL(err, TAL_ERR_BAD_NAME, "motion '%s': %s", chosen, flaw);
    (void)snprintf(drive->name, sizeof drive->name, "%s", chosen);
    return TAL_OK;
}

static tal_status copy_table(tali_prescribed_drive *drive, const tal_motion_ops *ops,
                             tal_error *err)
{
    if (ops == NULL || ops->size > sizeof *ops || ops->size < offsetof(tal_motion_ops, destroy) ||
        ops->name == NULL || ops->calc == NULL || ops->num_params < -1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "motion '%s': it needs a table with its size, name, number of parameters "
                         "and calc",
                         drive->name);
    }
    memcpy(&drive->ops, ops, ops->size);
    return TAL_OK;
}

static bool overlap(const tali_prescribed_drive *a, const tali_prescribed_drive *b)
{
    return a->body == b->body && (a->mobility < 0 || b->mobility < 0 || a->mobility == b->mobility);
}

// Does the motion name mobilities that exist and have no other motion?
static tal_status take_mobilities(const tal_matter *matter, tali_prescribed_drive *drive,
                                  const tal_motion_def *def, tal_error *err)
{
    if (def->body.i <= 0 || def->body.i >= matter->num_bodies) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "motion '%s': there is no body %d to move",
                         drive->name, def->body.i);
    }
    const tali_tree_body *body = &matter->bodies[def->body.i];
    drive->body = def->body.i;
    drive->mobility = def->mobility < 0 ? -1 : def->mobility;
    drive->level = def->level;
    if (def->mobility >= body->ops.nu || body->ops.nu == 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "motion '%s': body '%s' has %d mobilities",
                         drive->name, body->name, body->ops.nu);
    }
    if (def->level <= TAL_LEVEL_FREE || def->level > TAL_LEVEL_POSITION) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "motion '%s': %d is not a level to prescribe at",
                         drive->name, (int)def->level);
    }
    if (drive->mobility >= 0 && body->ops.mul_N != NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "motion '%s': the qdot of body '%s', a %s, are not its u, so only all of "
                         "its mobilities can be prescribed",
                         drive->name, body->name, body->ops.name);
    }
    for (int i = 0; i < matter->prescribed.count; ++i) {
        const tali_prescribed_drive *other = &matter->prescribed.list[i];
        if (!overlap(drive, other)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "motion '%s': body '%s' is moved by '%s' already",
                         drive->name, body->name, other->name);
    }
    return TAL_OK;
}

static tal_status check_params(const tali_prescribed_drive *drive, const double params[],
                               tal_error *err)
{
    for (int i = 0; i < drive->num_params; ++i) {
        if (isfinite(params[i])) continue;
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE,
                         "motion '%s': parameter %d is %g: give a finite number", drive->name, i,
                         params[i]);
    }
    return TAL_OK;
}

static tal_status add_params(tal_matter *matter, tali_prescribed_drive *drive,
                             const double params[], tal_error *err)
{
    tali_prescribed *all = &matter->prescribed;
    const tal_mobilizer_ops *ops = &matter->bodies[drive->body].ops;
    const int num_values = drive->mobility >= 0                 ? 1
                           : drive->level == TAL_LEVEL_POSITION ? ops->nq
                                                                : ops->nu;
    drive->num_params = drive->ops.num_params < 0 ? num_values : drive->ops.num_params;
    drive->param0 = all->num_params;
    for (int i = 0; i < drive->num_params; ++i) {
        if (!tali_grow(&matter->allocator, (void **)&all->params, all->num_params,
                       &all->params_capacity, sizeof *all->params)) {
            return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "motion '%s': no memory", drive->name);
        }
        all->params[all->num_params++] = params != NULL ? params[i] : 0.0;
    }
    if (drive->num_params == 0) return TAL_OK;
    return check_params(drive, all->params + drive->param0, err);
}

static tal_status add_motion(tal_matter *matter, const tal_motion_def *def,
                             const tal_motion_ops *ops, void *self, const double params[],
                             tal_error *err)
{
    tali_prescribed *all = &matter->prescribed;
    if (def == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "motion %d: its def is NULL", all->count);
    }
    tali_prescribed_drive drive = {.self = self, .num_values = -1, .disabled = def->disabled};
    tal_status st = take_name(matter, &drive, def->name, err);
    if (st == TAL_OK) st = copy_table(&drive, ops, err);
    if (st == TAL_OK) st = take_mobilities(matter, &drive, def, err);
    if (st == TAL_OK) st = add_params(matter, &drive, params, err);
    if (st != TAL_OK) return st;
    if (!tali_grow(&matter->allocator, (void **)&all->list, all->count, &all->capacity,
                   sizeof *all->list)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "motion '%s': no memory", drive.name);
    }
    all->list[all->count++] = drive;
    return TAL_OK;
}

// True when the System can still be built on; otherwise a breach has been reported, or there has
// been a failure before.
static bool can_build(const tal_matter *matter, const char *where)
{
    if (matter == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "matter is NULL");
        return false;
    }
    if (tal_system_has_topology(matter->system)) {
        (void)tali_breach(TAL_ERR_TOPOLOGY, where, "System '%s' is realized: call this before that",
                          tal_system_name(matter->system));
        return false;
    }
    return tal_system_error(matter->system)->status == TAL_OK;
}

tal_motion_ix tal_matter_add_motion(tal_matter *matter, const tal_motion_def *def,
                                    const tal_motion_ops *ops, void *self, const double params[])
{
    if (can_build(matter, __func__)) {
        tal_error why = {TAL_OK, "", ""};
        const tal_status st = add_motion(matter, def, ops, self, params, &why);
        if (st == TAL_OK) return (tal_motion_ix){matter->prescribed.count - 1};
        (void)tal_system_fail(matter->system, st, "%s", why.message);
    }
    const bool can_destroy = ops != NULL && ops->size == sizeof *ops && ops->destroy != NULL;
    if (can_destroy) ops->destroy(self);
    return (tal_motion_ix){-1};
}

// --- initially locked, and fast ---

// The body, if building is still possible; NULL otherwise, with the reason reported or remembered.
static tali_tree_body *body_to_build(tal_matter *matter, tal_body_ix body, const char *where)
{
    if (!can_build(matter, where)) return NULL;
    if (body.i > 0 && body.i < matter->num_bodies) return &matter->bodies[body.i];
    (void)tal_system_fail(matter->system, TAL_ERR_BAD_INDEX, "there is no mobilizer of a body %d",
                          body.i);
    return NULL;
}

static tal_status building_status(const tal_matter *matter)
{
    if (matter == NULL || tal_system_has_topology(matter->system)) {
        return tal_contract_last()->status;
    }
    return tal_system_error(matter->system)->status;
}

tal_status tal_matter_lock_by_default(tal_matter *matter, tal_body_ix body, tal_level level)
{
    tali_tree_body *found = body_to_build(matter, body, __func__);
    if (found == NULL) return building_status(matter);
    if (level < TAL_LEVEL_FREE || level > TAL_LEVEL_POSITION) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "body '%s': %d is not a level to lock at", found->name, (int)level);
    }
    found->lock_level = (uint8_t)level;
    return TAL_OK;
}

tal_status tal_matter_make_fast(tal_matter *matter, tal_body_ix body, tal_level level)
{
    tali_tree_body *found = body_to_build(matter, body, __func__);
    if (found == NULL) return building_status(matter);
    if (level != TAL_LEVEL_POSITION && level != TAL_LEVEL_VELOCITY) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "body '%s' can be fast in position or velocity, not at level %d",
                               found->name, (int)level);
    }
    found->fast_level = (uint8_t)level;
    found->may_be_fast = true;
    return TAL_OK;
}

tal_status tal_matter_allow_fast(tal_matter *matter, tal_body_ix body)
{
    tali_tree_body *found = body_to_build(matter, body, __func__);
    if (found == NULL) return building_status(matter);
    found->may_be_fast = true;
    return TAL_OK;
}

// --- asking ---

static const tali_prescribed_drive *drive_at(const tal_matter *matter, tal_motion_ix motion,
                                             const char *where)
{
    if (matter == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "matter is NULL");
        return NULL;
    }
    const int count = matter->prescribed.count;
    if (motion.i >= 0 && motion.i < count) return &matter->prescribed.list[motion.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no motion %d: there are %d", motion.i,
                      count);
    return NULL;
}

int tal_matter_num_motions(const tal_matter *matter)
{
    return matter != NULL ? matter->prescribed.count : -1;
}

tal_motion_ix tal_matter_find_motion(const tal_matter *matter, const char *name)
{
    for (int i = 0; matter != NULL && name != NULL && i < matter->prescribed.count; ++i) {
        if (strcmp(matter->prescribed.list[i].name, name) == 0) return (tal_motion_ix){i};
    }
    return (tal_motion_ix){-1};
}

const char *tal_motion_name(const tal_matter *matter, tal_motion_ix motion)
{
    const tali_prescribed_drive *drive = drive_at(matter, motion, __func__);
    return drive != NULL ? drive->name : "(no motion)";
}

bool tal_motion_is_enabled(const tal_matter *matter, const tal_state *state, tal_motion_ix motion)
{
    if (drive_at(matter, motion, __func__) == NULL) return false;
    const uint8_t *enabled =
        tali_cache_var_read(matter->system, state, matter->prescribed.enabled, __func__);
    return enabled != NULL && enabled[motion.i] != 0;
}

tal_status tal_motion_set_enabled(const tal_matter *matter, tal_state *state, tal_motion_ix motion,
                                  bool enabled)
{
    if (drive_at(matter, motion, __func__) == NULL) return tal_contract_last()->status;
    const uint8_t *present =
        tali_cache_var_read(matter->system, state, matter->prescribed.enabled, __func__);
    if (present == NULL) return tal_contract_last()->status;
    if ((present[motion.i] != 0) == enabled) return TAL_OK;
    uint8_t *flags =
        tali_cache_var_write(matter->system, state, matter->prescribed.enabled, __func__);
    if (flags == NULL) return tal_contract_last()->status;
    flags[motion.i] = enabled;
    return TAL_OK;
}

const double *tal_motion_params(const tal_matter *matter, const tal_state *state,
                                tal_motion_ix motion, int *n)
{
    const tali_prescribed_drive *drive = drive_at(matter, motion, __func__);
    if (n != NULL) *n = drive != NULL ? drive->num_params : 0;
    if (drive == NULL) return NULL;
    const double *params =
        tali_cache_var_read(matter->system, state, matter->prescribed.var_params, __func__);
    return params != NULL ? params + drive->param0 : NULL;
}

tal_status tal_motion_set_params(const tal_matter *matter, tal_state *state, tal_motion_ix motion,
                                 const double params[], int n)
{
    const tali_prescribed_drive *drive = drive_at(matter, motion, __func__);
    if (drive == NULL) return tal_contract_last()->status;
    if (n != drive->num_params || (params == NULL && n > 0)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE, "motion '%s' has %d parameters, not %d",
                                drive->name, drive->num_params, n);
    }
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = check_params(drive, params, &why);
    if (st != TAL_OK) return tal_state_refuse(state, st, "%s", why.message);
    double *values =
        tali_cache_var_write(matter->system, state, matter->prescribed.var_params, __func__);
    if (values == NULL) return tal_contract_last()->status;
    for (int i = 0; i < n; ++i) {
        values[drive->param0 + i] = params[i];
    }
    return TAL_OK;
}

void tali_prescribed_destroy(tal_matter *matter)
{
    tali_prescribed *all = &matter->prescribed;
    for (int i = 0; i < all->count; ++i) {
        const tali_prescribed_drive *drive = &all->list[i];
        if (drive->ops.destroy != NULL) drive->ops.destroy(drive->self);
    }
    const size_t n = (size_t)matter->num_bodies;
    tali_free(&matter->allocator, all->list, (size_t)all->capacity * sizeof *all->list);
    tali_free(&matter->allocator, all->params, (size_t)all->params_capacity * sizeof(double));
    tali_free(&matter->allocator, all->value0, n * sizeof *all->value0);
    tali_free(&matter->allocator, all->may, n);
}
