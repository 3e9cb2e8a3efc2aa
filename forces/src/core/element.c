// Built-in elements: adding them, and their parameters in a State.
#include "core/element_internal.h"

#include <math.h>
#include <string.h>

// --- rules ---

static bool obeys(tali_force_rule rule, double value)
{
    if (rule == TALI_LIMIT) return !isnan(value);
    if (!isfinite(value)) return false;
    return rule == TALI_FINITE || value > 0.0 || (rule == TALI_NOT_NEGATIVE && value == 0.0);
}

static const char *demand(tali_force_rule rule)
{
    switch (rule) {
    case TALI_NOT_NEGATIVE:
        return "finite and not negative";
    case TALI_POSITIVE:
        return "finite and positive";
    case TALI_LIMIT:
        return "a number";
    case TALI_FINITE:
        break;
    }
    return "finite";
}

static tal_status check_params(const tali_force_kind *kind, const char *name, const double params[],
                               tal_error *err)
{
    for (int i = 0; i < kind->num_params; ++i) {
        const tali_force_param *param = &kind->params[i];
        if (obeys(param->rule, params[i])) continue;
        const tal_status st = isfinite(params[i]) ? TAL_ERR_BAD_VALUE : TAL_ERR_NOT_FINITE;
        return TALI_FAIL(err, st, "%s '%s': %s is %g: it must be %s", kind->ops.name, name,
                         param->name, params[i], demand(param->rule));
    }
    const char *wrong = kind->check != NULL ? kind->check(params) : NULL;
    if (wrong == NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s '%s': %s", kind->ops.name, name, wrong);
}

// --- building ---

static const char *said(const char *name)
{
    return name != NULL ? name : "(no name)";
}

bool tali_force_element_given(tal_forces *forces, const char *name, const tali_force_kind *kind,
                              const void *argument, const char *subject)
{
    if (argument != NULL) return true;
    (void)tali_breach(TAL_ERR_NULL, kind->ops.name, "%s '%s': the %s is NULL", kind->ops.name,
                      said(name), subject);
    if (forces != NULL) tali_system_keep_breach(forces->system);
    return false;
}

bool tali_force_element_has(tal_forces *forces, const char *name, const tali_force_kind *kind,
                            tal_body_ix body)
{
    if (forces == NULL) return true; // tali_force_element_add() tells
    const int num_bodies = tal_matter_num_bodies(forces->matter);
    if (body.i >= 0 && body.i < num_bodies) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                          "%s '%s': there is no body %d: there are %d", kind->ops.name, said(name),
                          body.i, num_bodies);
    return false;
}

bool tali_force_element_has_mobility(tal_forces *forces, const char *name,
                                     const tali_force_kind *kind, tal_mobility at,
                                     tali_force_count_fn count)
{
    if (forces == NULL) return true;
    if (!tali_force_element_has(forces, name, kind, at.body)) return false;
    const int n = count(forces->matter, at.body);
    if (at.i >= 0 && at.i < n) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                          "%s '%s': body '%s' has no %s %d: it has %d", kind->ops.name, said(name),
                          tal_body_name(forces->matter, at.body),
                          count == tal_body_nu ? "speed" : "coordinate", at.i, n);
    return false;
}

bool tali_force_element_can_drive_by(const tal_forces *forces, const char *name,
                                     const tali_force_kind *kind, tal_measure_ix control,
                                     int num_controls)
{
    if (forces == NULL || control.i < 0) return true;
    const tal_system *system = forces->system;
    if (control.i >= tal_system_num_measures(system)) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                              "%s '%s': there is no measure %d: there are %d", kind->ops.name,
                              said(name), control.i, tal_system_num_measures(system));
        return false;
    }
    const tal_stage stage = tal_measure_stage(system, control, 0);
    const int size = tal_measure_size(system, control);
    if (size == num_controls && stage <= TAL_STAGE_VELOCITY) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                          "%s '%s': measure '%s' has %d values at stage %s: %s needed, at Velocity "
                          "or before",
                          kind->ops.name, said(name), tal_measure_name(system, control), size,
                          tal_stage_name(stage), num_controls == 1 ? "one is" : "six are");
    return false;
}

// Frees what an element owns that could not be created.
static tal_force_ix drop(const tali_force_kind *kind, void *like)
{
    if (kind->release != NULL) kind->release(like);
    return (tal_force_ix){-1};
}

tal_force_ix tali_force_element_add(tal_forces *forces, const char *name,
                                    const tali_force_kind *kind, void *like, size_t size,
                                    const double params[])
{
    if (forces == NULL) {
        (void)tali_breach(TAL_ERR_NULL, kind->ops.name, "forces is NULL");
        return drop(kind, like);
    }
    tal_error why = {TAL_OK, "", ""};
    if (check_params(kind, said(name), params, &why) != TAL_OK) {
        (void)tal_system_fail(forces->system, why.status, "%s", why.message);
        return drop(kind, like);
    }
    tali_force_element *it;
    double *initial;
    const tali_piece pieces[] = {{&it, size},
                                 {&initial, (size_t)kind->num_params * sizeof *initial}};
    size_t bytes;
    if (tali_alloc_pieces(&forces->allocator, pieces, 2, &bytes) == NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for %s '%s'",
                              kind->ops.name, said(name));
        return drop(kind, like);
    }
    memcpy(it, like, size);
    it->kind = kind;
    it->allocator = forces->allocator;
    it->size = bytes;
    it->needs = kind->ops.needs;
    for (int i = 0; i < kind->num_params; ++i) {
        initial[i] = params[i];
    }
    it->initial = initial;
    return tal_forces_add(forces, name, &kind->ops, it);
}

static tal_var_ix declare_geometry(const tali_force_element *it, tal_forces *forces)
{
    if (it->kind->num_instance == 0) return (tal_var_ix){-1};
    tal_var_def var = tal_var_def_default();
    var.name = "geometry";
    var.size = (size_t)it->kind->num_instance * sizeof(double);
    var.initial = it->initial;
    return tal_force_add_var(forces, it->me, &var);
}

tal_status tali_force_element_declare(void *self, tal_forces *forces, tal_force_ix me)
{
    tali_force_element *it = self;
    tali_force_values *all = &forces->values[it->kind->ops.needs];
    it->forces = forces;
    it->me = me;
    it->geometry = declare_geometry(it, forces);
    it->first_value = all->count;
    for (int i = it->kind->num_instance; i < it->kind->num_params; ++i) {
        if (!tali_grow(&forces->allocator, (void **)&all->initial, all->count, &all->capacity,
                       sizeof *all->initial)) {
            return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for %s '%s'",
                                   it->kind->ops.name, tal_force_name(forces, me));
        }
        all->initial[all->count++] = it->initial[i];
    }
    return TAL_OK;
}

void tali_force_element_reserve_place(tali_force_element *it, tal_forces *forces, size_t size)
{
    it->place = forces->placed_size;
    forces->placed_size += tali_align(size);
}

// The subsystem marks the entry valid when all elements have written their parts.
void *tali_force_element_upd_place(const tali_force_element *it, const tal_force_context *context)
{
    char *all = tal_cache_upd(context->system, context->state, it->forces->placed);
    return all + it->place;
}

void tali_force_element_declare_placed(tali_force_element *it, tal_forces *forces, size_t size)
{
    tal_cache_def cache = tal_cache_def_default();
    cache.name = "placed";
    cache.size = size;
    cache.computed_by = TAL_STAGE_INSTANCE;
    it->placed = tal_force_add_cache(forces, it->me, &cache);
}

void tali_force_element_destroy(void *self)
{
    tali_force_element *it = self;
    const tal_allocator allocator = it->allocator;
    if (it->kind->release != NULL) it->kind->release(it);
    tali_free(&allocator, it, it->size);
}

// --- in a State ---

// A kind is known by the name its table points to.
const void *tali_force_element_of(const tal_forces *forces, tal_force_ix force,
                                  const tali_force_kind *kind, const char *where)
{
    const tali_force *element = tali_force_at(forces, force, where);
    if (element == NULL) return NULL;
    if (element->ops.name == kind->ops.name) return element->self;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "force '%s' is of kind '%s', not %s", element->name,
                      element->ops.name, kind->ops.name);
    return NULL;
}

// A built-in element and the parameters first ... first + n - 1 of it; NULL and a breach otherwise.
static const tali_force_element *element_with(const tal_forces *forces, tal_force_ix force,
                                              int first, int n, const char *where)
{
    const tali_force *element = tali_force_at(forces, force, where);
    if (element == NULL) return NULL;
    const int num = tal_force_num_params(forces, force);
    if (first >= 0 && n >= 1 && first <= num - n) return element->self;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where,
                      "force '%s' (%s) has no %d parameters from %d on: it has %d", element->name,
                      element->ops.name, n, first, num);
    return NULL;
}

int tal_force_num_params(const tal_forces *forces, tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    if (element == NULL) return -1;
    const bool is_ours = element->ops.destroy == tali_force_element_destroy;
    return is_ours ? ((const tali_force_element *)element->self)->kind->num_params : 0;
}

const char *tal_force_param_name(const tal_forces *forces, tal_force_ix force, int i)
{
    const tali_force_element *it = element_with(forces, force, i, 1, __func__);
    return it != NULL ? it->kind->params[i].name : "(no parameter)";
}

tal_stage tal_force_param_stage(const tal_forces *forces, tal_force_ix force, int i)
{
    const tali_force_element *it = element_with(forces, force, i, 1, __func__);
    if (it == NULL) return TAL_STAGE_EMPTY;
    return i < it->kind->num_instance ? TAL_STAGE_INSTANCE : TAL_STAGE_DYNAMICS;
}

// The same, once parameters have a place in States: from the topology on.
static const tali_force_element *stored_element(const tal_forces *forces, tal_force_ix force,
                                                int first, int n, const char *where)
{
    const tali_force_element *it = element_with(forces, force, first, n, where);
    if (it == NULL || tal_system_has_topology(forces->system)) return it;
    (void)tali_breach(TAL_ERR_TOPOLOGY, where, "the topology of System '%s' is not realized",
                      tal_system_name(forces->system));
    return NULL;
}

// Parameter `i` of an element that has it; NaN after telling the breach.
static double param_of(const tali_force_element *it, const tal_state *state, int i,
                       const char *where)
{
    const tal_forces *forces = it->forces;
    const int n = it->kind->num_instance;
    const tal_var_ix var = i < n ? it->geometry : forces->values[it->kind->ops.needs].var;
    const double *params = tali_cache_var_read(forces->system, state, var, where);
    return params != NULL ? params[i < n ? i : it->first_value + i - n] : TALI_NAN;
}

double tal_force_param(const tal_forces *forces, const tal_state *state, tal_force_ix force, int i)
{
    const tali_force_element *it = stored_element(forces, force, i, 1, __func__);
    return it != NULL ? param_of(it, state, i, __func__) : TALI_NAN;
}

// All parameters, geometry first.
static bool read_params(const tali_force_element *it, const tal_state *state, double params[],
                        const char *where)
{
    for (int i = 0; i < it->kind->num_params; ++i) {
        params[i] = param_of(it, state, i, where);
        if (isnan(params[i])) return false; // not stored: a breach has been reported
    }
    return true;
}

static tal_status set_params(const tali_force_element *it, tal_state *state, int first,
                             const double values[], int n, const char *where)
{
    const tal_forces *forces = it->forces;
    double params[TALI_MAX_FORCE_PARAMS] = {0.0};
    if (!read_params(it, state, params, where)) return tal_contract_last()->status;
    memcpy(params + first, values, (size_t)n * sizeof *values);
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = check_params(it->kind, tal_force_name(forces, it->me), params, &why);
    if (st != TAL_OK) return tal_state_refuse(state, st, "%s", why.message);
    const int split = it->kind->num_instance, num = it->kind->num_params;
    if (first < split) (void)tal_var_set(forces->system, state, it->geometry, params);
    if (first + n <= split) return TAL_OK;
    double *all =
        tali_cache_var_write(forces->system, state, forces->values[it->kind->ops.needs].var, where);
    if (all == NULL) return tal_contract_last()->status;
    memcpy(all + it->first_value, params + split, (size_t)(num - split) * sizeof *all);
    return TAL_OK;
}

tal_status tal_force_set_params(const tal_forces *forces, tal_state *state, tal_force_ix force,
                                int first, const double values[], int n)
{
    const tali_force_element *it = stored_element(forces, force, first, n, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (values == NULL) return TALI_BREACH(TAL_ERR_NULL, "values is NULL");
    return set_params(it, state, first, values, n, __func__);
}

tal_status tal_force_set_param(const tal_forces *forces, tal_state *state, tal_force_ix force,
                               int i, double value)
{
    const tali_force_element *it = stored_element(forces, force, i, 1, __func__);
    return it != NULL ? set_params(it, state, i, &value, 1, __func__) : tal_contract_last()->status;
}

const tal_system *tali_force_system(const tal_forces *forces)
{
    return forces != NULL ? forces->system : NULL;
}

bool tali_force_facts_of(const tal_forces *forces, tal_force_ix force, tali_force_facts *facts)
{
    const tali_force *element = &forces->elements[force.i];
    *facts = (tali_force_facts){.mobility = {{-1}, 0}, .measure = {-1}, .path = {-1}};
    if (element->ops.destroy != tali_force_element_destroy) return false;
    const tali_force_element *it = element->self;
    if (it->kind->fill_facts != NULL) it->kind->fill_facts(it, facts);
    return true;
}

const tal_force_ops *tali_force_ops_of(const tal_forces *forces, tal_force_ix force,
                                       const void **self)
{
    const tali_force *element = &forces->elements[force.i];
    *self = element->self;
    return &element->ops;
}

int tali_force_z(const tal_forces *forces, const tal_state *state, tal_force_ix force, int i,
                 int *slot)
{
    int num = 0;
    for (int k = 0; k < forces->num_groups; ++k) {
        if (forces->groups[k].element != force.i) continue;
        const tal_group_ix group = forces->groups[k].group;
        const int size = tal_group_size(forces->system, state, group);
        if (slot != NULL && i >= num && i < num + size) {
            *slot = tal_group_start(forces->system, state, group) + i - num;
        }
        num += size;
    }
    return num;
}

bool tali_force_is_tracked(const tal_forces *forces, tal_force_ix force)
{
    return forces->elements[force.i].is_tracked;
}

bool tali_force_element_is_driven(const tal_forces *forces, tal_force_ix me, tal_measure_ix measure)
{
    const int *first = forces->controls.first;
    return measure.i >= 0 || (first != NULL && first[me.i] != first[me.i + 1]);
}
