// Measures: declaring them, reading them, and the table they are made of. The kinds themselves are
// in measure_*.c and see only the public headers.
//
// A measure is a row of lazy cache entries, one for its value and one for each derivative. What
// they rest on is declared as stage and prerequisites, so the State alone knows when one is out of
// date.
#include "measure/measure_kinds.h"
#include "state/state_internal.h"

#include <talus/state/measure.h>

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

// --- declaring ---

tal_measure_def tal_measure_def_default(void)
{
    return (tal_measure_def){.name = NULL};
}

// False, and a breach, when there is nothing to add to.
static bool has_needs(const tal_measure_needs *needs, const char *where)
{
    if (needs != NULL) return true;
    (void)tali_breach(TAL_ERR_NULL, where, "needs is NULL");
    return false;
}

void tal_measure_needs_stage(tal_measure_needs *needs, tal_stage stage)
{
    if (!has_needs(needs, __func__)) return;
    if (stage > needs->stage) needs->stage = stage;
}

void tal_measure_needs_prereq(tal_measure_needs *needs, tal_prereq prereq)
{
    if (!has_needs(needs, __func__)) return;
    if (needs->num_prereqs < 0) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "there cannot be %d prerequisites",
                          needs->num_prereqs);
        return;
    }
    if (needs->num_prereqs < TAL_MEASURE_MAX_NEEDS) needs->prereqs[needs->num_prereqs] = prereq;
    if (needs->num_prereqs < INT_MAX) ++needs->num_prereqs;
}

void tal_measure_needs_operand(tal_measure_needs *needs, const tal_system *system,
                               tal_measure_ix operand, int order)
{
    if (!has_needs(needs, __func__)) return;
    tal_measure_needs_stage(needs, tal_measure_stage(system, operand, order));
    tal_measure_needs_prereq(needs, tal_prereq_cache(tal_measure_entry(system, operand, order)));
}

// Copies the caller's table, which may be older and shorter than ours.
static bool copy_ops(tal_system *system, const tal_measure_ops *ops, tal_measure_ops *copy)
{
    const size_t required = offsetof(tal_measure_ops, declare);
    if (ops != NULL && ops->size >= required && ops->size <= sizeof *copy && ops->name != NULL &&
        ops->calc != NULL) {
        memcpy(copy, ops, ops->size);
        return true;
    }
    (void)tali_system_build_fail(
        system, TAL_ERR_BAD_VALUE, "tal_system_add_measure",
        "System '%s': a measure needs a table with its size (%zu), name and calc", system->name,
        sizeof *copy);
    return false;
}

static bool check_name(tal_system *system, tal_subsystem_ix owner, const char *name,
                       tali_system_element *element)
{
    if (!tali_system_name_element(system, &system->measures, owner, "measure", name, element)) {
        return false;
    }
    if (strlen(element->name) > TAL_MAX_MEASURE_NAME) {
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_NAME, "tal_system_add_measure",
            "measure '%s': a name has at most %d characters, this one has %zu", element->name,
            TAL_MAX_MEASURE_NAME, strlen(element->name));
        return false;
    }
    if (tali_system_find_element(&system->measures, owner.i, element->name) < 0) return true;
    (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add_measure",
                                 "measure '%s' exists already in subsystem '%s'", element->name,
                                 tali_system_subsystem_at(system, owner.i)->element.name);
    return false;
}

// Operands exist, and agree on the size where the measure takes theirs.
static bool check_operands(tal_system *system, const tal_measure_def *def,
                           tali_system_measure *measure)
{
    static const char where[] = "tal_system_add_measure";
    const char *name = measure->element.name;
    if (def->num_operands < 0 || (def->num_operands > 0 && def->operands == NULL)) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "measure '%s' has %d operands: "
                                     "the number is negative or the array is NULL",
                                     name, def->num_operands);
        return false;
    }
    measure->num_derivatives = def->num_operands > 0 ? TAL_MEASURE_MAX_DERIVATIVES : 0;
    for (int k = 0; k < def->num_operands; ++k) {
        const int i = def->operands[k].i;
        if (i < 0 || i >= system->measures.count) {
            (void)tali_system_build_fail(
                system, TAL_ERR_BAD_INDEX, where,
                "measure '%s': operand %d is measure %d, which does not exist "
                "before it",
                name, k, i);
            return false;
        }
        const tali_system_measure *operand = tali_system_measure_at(system, i);
        if (def->size == 0 && k == 0) measure->size = operand->size;
        if (def->size == 0 && measure->size != operand->size) {
            (void)tali_system_build_fail(
                system, TAL_ERR_BAD_VALUE, where,
                "measure '%s': its operand '%s' has size %d, the others have %d", name,
                operand->element.name, operand->size, measure->size);
            return false;
        }
        if (operand->num_derivatives < measure->num_derivatives) {
            measure->num_derivatives = operand->num_derivatives;
        }
    }
    return true;
}

static bool check_def(tal_system *system, tal_subsystem_ix owner, const tal_measure_def *def,
                      tali_system_measure *measure)
{
    static const char where[] = "tal_system_add_measure";
    if (!check_name(system, owner, def->name, &measure->element)) return false;
    measure->size = def->size;
    if (!check_operands(system, def, measure)) return false;
    if (measure->size < 1 || measure->size > INT32_MAX / 64) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "measure '%s' has size %d, but must have 1 to %d doubles",
                                     measure->element.name, measure->size, INT32_MAX / 64);
        return false;
    }
    if (def->self_size > 0 && def->self == NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_NULL, where, "measure '%s': its self is NULL",
                                     measure->element.name);
        return false;
    }
    return true;
}

// Calls the measure's calc from its cache entry.
static tal_status calc_order(const void *context, const tal_system *system, tal_state *state,
                             void *value)
{
    const tali_system_measure_order *order = context;
    return order->calc(order->self, system, state, order->order, order->n, value);
}

static void default_needs(const tal_system *system, const tali_system_measure *measure, int order,
                          tal_measure_needs *needs)
{
    for (int k = 0; k < measure->num_operands; ++k) {
        const tal_measure_ix operand = {measure->operands[k]};
        tal_measure_needs_operand(needs, system, operand, order);
    }
}

// The cache entry of a value or derivative, with what it depends on.
static void add_entry(tal_system *system, int i, int order)
{
    const tali_system_measure *measure = tali_system_measure_at(system, i);
    tali_system_measure_order *context = &measure->orders[order];
    *context =
        (tali_system_measure_order){measure->ops.calc, measure->self, order, measure->size, -1};

    tal_measure_needs needs = {.stage = TAL_STAGE_TOPOLOGY};
    if (measure->ops.needs != NULL) {
        measure->ops.needs(measure->self, system, order, &needs);
    } else {
        default_needs(system, measure, order, &needs);
    }
    if (needs.num_prereqs > TAL_MEASURE_MAX_NEEDS) {
        (void)tali_system_build_fail(
            system, TAL_ERR_CAPACITY, "tal_system_add_measure",
            "measure '%s' has %d direct prerequisites, but at most %d are possible",
            measure->element.name, needs.num_prereqs, TAL_MEASURE_MAX_NEEDS);
        return;
    }

    char name[TAL_MAX_NAME + 1];
    (void)snprintf(name, sizeof name, "%.*s.dot%d", TAL_MAX_MEASURE_NAME, measure->element.name,
                   order);
    tal_cache_def entry = tal_cache_def_default();
    entry.name = name;
    entry.size = (size_t)measure->size * sizeof(double);
    entry.depends_on = needs.stage;
    entry.calc = calc_order;
    entry.context = context;
    entry.prereqs = needs.prereqs;
    entry.num_prereqs = needs.num_prereqs;
    const tal_subsystem_ix owner = {measure->element.owner};
    context->entry = tal_system_add_cache(system, owner, &entry).i;
}

// Lets measure `i` declare what is its own. It may add measures, so pointers into the list die.
static void let_declare(tal_system *system, int i)
{
    const tali_system_measure *measure = tali_system_measure_at(system, i);
    char name[TAL_MAX_NAME + 1];
    (void)snprintf(name, sizeof name, "%s", measure->element.name);
    tal_measure_site site = {.measure = {i},
                             .owner = {measure->element.owner},
                             .name = name,
                             .size = measure->size,
                             .num_derivatives = measure->num_derivatives};
    if (measure->ops.declare != NULL) {
        const tal_status st = measure->ops.declare(measure->self, system, &site);
        if (st != TAL_OK) {
            (void)tali_system_build_fail(system, st, "tal_system_add_measure",
                                         "measure '%s' could not be declared (%s)", name,
                                         tal_status_text(st));
        }
    }
    const int most = TAL_MEASURE_MAX_DERIVATIVES;
    const int offered = site.num_derivatives < most ? site.num_derivatives : most;
    tali_system_measure_at(system, i)->num_derivatives = offered > 0 ? offered : 0;
}

static void add_orders(tal_system *system, int i)
{
    const int num_orders = tali_system_measure_at(system, i)->num_derivatives + 1;
    tali_system_measure_order *orders =
        tali_system_build_copy(system, NULL, (size_t)num_orders * sizeof *orders);
    if (orders == NULL) return;
    tali_system_measure_at(system, i)->orders = orders;
    for (int order = 0; order < num_orders && system->error.status == TAL_OK; ++order) {
        add_entry(system, i, order);
    }
}

// Takes copies of what the def points to.
static bool adopt(tal_system *system, const tal_measure_def *def, tali_system_measure *slot)
{
    slot->self_size = def->self_size;
    slot->self = tali_system_build_copy(system, def->self, def->self_size);
    if (slot->self == NULL) return false;
    slot->num_operands = def->num_operands;
    slot->operands = tali_system_build_copy(system, NULL, (size_t)def->num_operands * sizeof(int));
    if (slot->operands == NULL) return false;
    for (int k = 0; k < def->num_operands; ++k) {
        slot->operands[k] = def->operands[k].i;
    }
    return true;
}

tal_measure_ix tal_system_add_measure(tal_system *system, tal_subsystem_ix owner,
                                      const tal_measure_ops *ops, const tal_measure_def *def)
{
    const tal_measure_ix none = {-1};
    if (!tali_system_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_NULL, __func__, "the measure's def is NULL");
        return none;
    }

    tali_system_measure measure = {.table = ops};
    if (!copy_ops(system, ops, &measure.ops) || !check_def(system, owner, def, &measure)) {
        return none;
    }
    tali_system_measure *slot =
        tali_system_list_add_element(system, &system->measures, &measure.element);
    if (slot == NULL) return none;
    *slot = measure;
    const int i = system->measures.count - 1;
    if (adopt(system, def, slot)) let_declare(system, i);
    if (system->error.status == TAL_OK) add_orders(system, i);
    if (system->error.status != TAL_OK) return none;
    return (tal_measure_ix){i};
}

void tali_system_measures_destroy(tal_system *system)
{
    for (int i = 0; i < system->measures.count; ++i) {
        const tali_system_measure *measure = tali_system_measure_at(system, i);
        tali_free(&system->allocator, measure->self, measure->self_size);
        tali_free(&system->allocator, measure->operands,
                  (size_t)measure->num_operands * sizeof(int));
        tali_free(&system->allocator, measure->orders,
                  ((size_t)measure->num_derivatives + 1) * sizeof *measure->orders);
    }
}

// What the entries and variables of a measure do not tell: its name, its kind, its operands.
uint64_t tali_system_measures_hash(const tal_system *system, uint64_t hash)
{
    for (int i = 0; i < system->measures.count; ++i) {
        const tali_system_measure *measure = tali_system_measure_at(system, i);
        const int32_t numbers[] = {measure->element.owner, measure->size, measure->num_derivatives,
                                   measure->num_operands};
        const char *kind = measure->ops.name;
        hash = tali_hash(hash, measure->element.name, strlen(measure->element.name) + 1);
        hash = tali_hash(hash, kind, strlen(kind) + 1);
        hash = tali_hash(hash, numbers, sizeof numbers);
        hash = tali_hash(hash, measure->operands, (size_t)measure->num_operands * sizeof(int));
    }
    return hash;
}

// --- asking ---

// The measure, or NULL after reporting the breach.
static const tali_system_measure *checked(const tal_system *system, tal_measure_ix measure,
                                          const char *where)
{
    if (system == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the System is NULL");
        return NULL;
    }
    if (!tali_system_has_element(system, &system->measures, measure.i, "measure", where)) {
        return NULL;
    }
    return tali_system_measure_at(system, measure.i);
}

// One order of a measure, or NULL after reporting the breach.
static const tali_system_measure_order *
checked_order(const tal_system *system, tal_measure_ix measure, int order, const char *where)
{
    const tali_system_measure *declared = checked(system, measure, where);
    if (declared == NULL) return NULL;
    if (order >= 0 && order <= declared->num_derivatives && declared->orders != NULL) {
        return &declared->orders[order];
    }
    (void)tali_breach(TAL_ERR_BAD_VALUE, where,
                      "measure '%s' has %d derivatives, so there is none of order %d",
                      declared->element.name, declared->num_derivatives, order);
    return NULL;
}

int tal_system_num_measures(const tal_system *system)
{
    return system != NULL ? system->measures.count : -1;
}

tal_measure_ix tal_system_find_measure(const tal_system *system, tal_subsystem_ix owner,
                                       const char *name)
{
    if (system == NULL || name == NULL || owner.i < 0) return (tal_measure_ix){-1};
    return (tal_measure_ix){tali_system_find_element(&system->measures, owner.i, name)};
}

const char *tal_measure_name(const tal_system *system, tal_measure_ix measure)
{
    const tali_system_measure *declared = checked(system, measure, __func__);
    return declared != NULL ? declared->element.name : "(no measure)";
}

const char *tal_measure_kind(const tal_system *system, tal_measure_ix measure)
{
    const tali_system_measure *declared = checked(system, measure, __func__);
    return declared != NULL ? declared->ops.name : "(no measure)";
}

tal_subsystem_ix tal_measure_owner(const tal_system *system, tal_measure_ix measure)
{
    const tali_system_measure *declared = checked(system, measure, __func__);
    return (tal_subsystem_ix){declared != NULL ? declared->element.owner : -1};
}

int tal_measure_size(const tal_system *system, tal_measure_ix measure)
{
    const tali_system_measure *declared = checked(system, measure, __func__);
    return declared != NULL ? declared->size : -1;
}

int tal_measure_num_derivatives(const tal_system *system, tal_measure_ix measure)
{
    const tali_system_measure *declared = checked(system, measure, __func__);
    return declared != NULL ? declared->num_derivatives : -1;
}

tal_cache_ix tal_measure_entry(const tal_system *system, tal_measure_ix measure, int order)
{
    const tali_system_measure_order *declared = checked_order(system, measure, order, __func__);
    return (tal_cache_ix){declared != NULL ? declared->entry : -1};
}

tal_stage tal_measure_stage(const tal_system *system, tal_measure_ix measure, int order)
{
    const tali_system_measure_order *declared = checked_order(system, measure, order, __func__);
    if (declared == NULL || declared->entry < 0) return TAL_STAGE_INFINITY;
    return tali_system_entry_at(system, declared->entry)->depends_on;
}

const void *tal_measure_self(const tal_system *system, tal_measure_ix measure,
                             const tal_measure_ops *ops)
{
    const tali_system_measure *declared = checked(system, measure, __func__);
    if (declared == NULL) return NULL;
    if (ops != NULL && declared->table == ops) return declared->self;
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "measure '%s' is of kind '%s', not '%s'",
                      declared->element.name, declared->ops.name,
                      ops != NULL ? ops->name : "(NULL)");
    return NULL;
}

const void *tali_measure_self_as(const tal_system *system, tal_measure_ix measure,
                                 const tal_measure_ops *ops)
{
    const tali_system_measure *declared = tali_system_measure_at(system, measure.i);
    return declared->table == ops ? declared->self : NULL;
}

bool tali_measure_facts_of(const tal_system *system, tal_measure_ix measure,
                           tali_measure_facts *facts)
{
    const tali_system_measure *declared = tali_system_measure_at(system, measure.i);
    const tal_measure_ops *table = declared->table;
    const void *self = declared->self;
    *facts = (tali_measure_facts){.operands = {{-1}, {-1}}, .variable = {-1}, .z = {-1}};
    return tali_measure_basic_facts(table, self, facts) ||
           tali_measure_composed_facts(table, self, facts) ||
           tali_measure_differentiate_facts(table, self, facts) ||
           tali_measure_extreme_facts(table, self, facts) ||
           tali_measure_delay_facts(table, self, facts) ||
           tali_measure_hold_facts(table, self, facts);
}

// --- in a State ---

static const double *values_of(const tal_system *system, tal_state *state, tal_measure_ix measure,
                               int order, const char *where)
{
    if (system == NULL || state == NULL || !system->has_topology || system->hash != state->hash) {
        (void)tali_state_breach_system(system, state, where);
        return NULL;
    }
    const tali_system_measure_order *declared = checked_order(system, measure, order, where);
    if (declared == NULL) return NULL;
    return tal_cache_realize(system, state, (tal_cache_ix){declared->entry});
}

// One double, where the measure has no more.
static double value_of(const tal_system *system, tal_state *state, tal_measure_ix measure,
                       int order, const char *where)
{
    const double *values = values_of(system, state, measure, order, where);
    if (values == NULL) return TALI_NAN;
    const tali_system_measure *declared = tali_system_measure_at(system, measure.i);
    if (declared->size == 1) return values[0];
    (void)tali_breach(TAL_ERR_BAD_VALUE, where, "measure '%s' has size %d: it is not one double",
                      declared->element.name, declared->size);
    return TALI_NAN;
}

double tal_measure_value(const tal_system *system, tal_state *state, tal_measure_ix measure)
{
    return value_of(system, state, measure, 0, __func__);
}

const double *tal_measure_values(const tal_system *system, tal_state *state, tal_measure_ix measure)
{
    return values_of(system, state, measure, 0, __func__);
}

double tal_measure_derivative(const tal_system *system, tal_state *state, tal_measure_ix measure,
                              int order)
{
    return value_of(system, state, measure, order, __func__);
}

const double *tal_measure_derivatives(const tal_system *system, tal_state *state,
                                      tal_measure_ix measure, int order)
{
    return values_of(system, state, measure, order, __func__);
}

tal_status tal_measure_set(const tal_system *system, tal_state *state, tal_measure_ix measure,
                           const double values[], int n)
{
    if (!TALI_BELONGS(system, state)) return tali_state_breach_status();
    const tali_system_measure *declared = checked(system, measure, __func__);
    if (declared == NULL) return tali_state_breach_status();
    const char *name = declared->element.name;
    if (declared->ops.set == NULL) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "measure '%s' is of kind '%s', which cannot be set",
                           name, declared->ops.name);
    }
    if (values == NULL) return TALI_BREACH(TAL_ERR_NULL, "the values are NULL");
    if (n != declared->size) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "measure '%s' has size %d, not %d", name,
                           declared->size, n);
    }
    if (!tali_state_can_write(state, __func__)) return TAL_ERR_STAGE;
    for (int i = 0; i < n; ++i) {
        if (isfinite(values[i])) continue;
        return tali_state_set_fail(state, TAL_ERR_NOT_FINITE, __func__,
                                   "measure '%s' cannot be set: values[%d] is %g", name, i,
                                   values[i]);
    }
    return declared->ops.set(declared->self, system, state, values, n);
}

tal_status tal_measure_restart(const tal_system *system, tal_state *state, tal_measure_ix measure)
{
    if (!TALI_BELONGS(system, state)) return tali_state_breach_status();
    const tali_system_measure *declared = checked(system, measure, __func__);
    if (declared == NULL) return tali_state_breach_status();
    if (declared->ops.restart == NULL) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "measure '%s' is of kind '%s', which has no history",
                           declared->element.name, declared->ops.name);
    }
    if (!tali_state_can_write(state, __func__)) return TAL_ERR_STAGE;
    const tal_status st = declared->ops.restart(declared->self, system, state);
    const tal_stage stage = tal_measure_stage(system, measure, 0);
    if (stage >= TAL_STAGE_MODEL) (void)tal_state_invalidate(state, stage);
    return st;
}

tal_status tali_state_measures_realize_acceleration(const tal_system *system, tal_state *state)
{
    for (int i = 0; i < system->measures.count; ++i) {
        const tali_system_measure *measure = tali_system_measure_at(system, i);
        if (measure->ops.realize_acceleration == NULL) continue;
        const tal_status st = measure->ops.realize_acceleration(measure->self, system, state);
        if (st == TAL_OK) continue;
        return tali_fail(&state->error, st, "tal_system_realize",
                         "measure '%s' could not realize Acceleration at t = %g (%s)",
                         measure->element.name, tali_state_ctimes(state)->t, tal_status_text(st));
    }
    return TAL_OK;
}
