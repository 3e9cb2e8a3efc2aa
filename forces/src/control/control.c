// Controls of actuators, and the controllers that add to them.
#include "hash_internal.h"

#include "control/control_internal.h"
#include "core/element_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- the sum ---

// What a controller adds, as its table says; a value that is not finite is its failure.
static tal_status ask(const tali_controller *controller, const tal_force_context *context,
                      int which, double *control)
{
    *control = 0.0;
    const tal_status st = controller->ops.calc_control(controller->self, context, which, control);
    if (st == TAL_OK && isfinite(*control)) return TAL_OK;
    if (st != TAL_OK && tal_state_error(context->state)->status == st) return st;
    return tal_state_fail(context->state, st != TAL_OK ? st : TAL_ERR_NOT_FINITE,
                          "controller '%s' (%s) gives %g at t = %g", controller->name,
                          controller->ops.name, *control, tal_state_t(context->state));
}

// The sum of the enabled controllers of an element.
static tal_status add_controllers(const tal_forces *forces, tal_force_ix me,
                                  const tal_force_context *context, double *sum)
{
    const tali_controls *all = &forces->controls;
    const uint8_t *enabled = tal_var_value(forces->system, context->state, all->enabled);
    for (int k = all->first[me.i]; k < all->first[me.i + 1]; ++k) {
        const tali_control_link *link = &all->links[k];
        if (!enabled[link->controller]) continue;
        double control = 0.0;
        const tal_status st = ask(&all->items[link->controller], context, link->which, &control);
        if (st != TAL_OK) return st;
        *sum += control;
    }
    return TAL_OK;
}

tal_status tali_force_element_control(const tali_force_element *it,
                                      const tal_force_context *context, tal_measure_ix measure,
                                      double *control)
{
    const double *values =
        tali_force_element_values(it, context) + (it->kind->control - it->kind->num_instance);
    double sum = values[0];
    if (measure.i >= 0) {
        const double value = tal_measure_value(context->system, context->state, measure);
        const tal_status st = tal_state_error(context->state)->status;
        if (isnan(value)) return st != TAL_OK ? st : TAL_ERR_NOT_FINITE;
        sum += value;
    }
    if (it->forces->controls.num > 0) {
        const tal_status st = add_controllers(it->forces, it->me, context, &sum);
        if (st != TAL_OK) return st;
    }
    *control = fmin(fmax(sum, values[1]), values[2]);
    return TAL_OK;
}

// --- controls of elements ---

// A built-in element that has a control; NULL, without a breach, where it has none.
static const tali_force_element *with_control(const tal_forces *forces, tal_force_ix force)
{
    if (forces == NULL || force.i < 0 || force.i >= forces->num_elements) return NULL;
    const tali_force *element = &forces->elements[force.i];
    if (element->ops.destroy != tali_force_element_destroy) return NULL;
    const tali_force_element *it = element->self;
    return it->kind->control > 0 ? it : NULL;
}

bool tal_force_has_control(const tal_forces *forces, tal_force_ix force)
{
    return with_control(forces, force) != NULL;
}

// The same, with a breach.
static const tali_force_element *controlled(const tal_forces *forces, tal_force_ix force,
                                            const char *where)
{
    const tali_force *element = tali_force_at(forces, force, where);
    if (element == NULL) return NULL;
    const tali_force_element *it = with_control(forces, force);
    if (it != NULL) return it;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "force '%s' (%s) has no control", element->name,
                      element->ops.name);
    return NULL;
}

// A context at Velocity; its velocities are missing after a breach.
static tal_force_context context_at_velocity(const tal_forces *forces, tal_state *state,
                                             const char *where)
{
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        (void)tali_breach(TAL_ERR_STAGE, where, "the State is at %s and must be at Velocity",
                          tal_stage_name(tal_state_stage(state)));
        return (tal_force_context){.state = state};
    }
    return tali_force_context(forces, state, TAL_STAGE_VELOCITY);
}

double tal_actuator_control(const tal_forces *forces, tal_state *state, tal_force_ix actuator)
{
    const tali_force_element *it = controlled(forces, actuator, __func__);
    if (it == NULL) return TALI_NAN;
    const tal_force_context context = context_at_velocity(forces, state, __func__);
    if (context.velocities.bytes == NULL) return TALI_NAN;
    tali_force_facts facts = {.measure = {-1}};
    if (it->kind->fill_facts != NULL) it->kind->fill_facts(it, &facts);
    double control = TALI_NAN;
    const tal_status st = tali_force_element_control(it, &context, facts.measure, &control);
    return st == TAL_OK ? control : TALI_NAN;
}

tal_status tal_actuator_set_control(const tal_forces *forces, tal_state *state,
                                    tal_force_ix actuator, double control)
{
    const tali_force_element *it = controlled(forces, actuator, __func__);
    if (it == NULL) return tal_contract_last()->status;
    return tal_force_set_param(forces, state, actuator, it->kind->control, control);
}

tal_status tal_actuator_control_range(const tal_forces *forces, const tal_state *state,
                                      tal_force_ix actuator, double *least, double *largest)
{
    if (least == NULL || largest == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    *least = *largest = TALI_NAN;
    const tali_force_element *it = controlled(forces, actuator, __func__);
    if (it == NULL) return tal_contract_last()->status;
    const double low = tal_force_param(forces, state, actuator, it->kind->control + 1);
    if (isnan(low)) return tal_contract_last()->status;
    *least = low;
    *largest = tal_force_param(forces, state, actuator, it->kind->control + 2);
    return TAL_OK;
}

tal_status tal_actuator_set_control_range(const tal_forces *forces, tal_state *state,
                                          tal_force_ix actuator, double least, double largest)
{
    const tali_force_element *it = controlled(forces, actuator, __func__);
    if (it == NULL) return tal_contract_last()->status;
    const double range[] = {least, largest};
    return tal_force_set_params(forces, state, actuator, it->kind->control + 1, range, 2);
}

// --- adding controllers ---

static tal_status take_name(const tal_forces *forces, tali_controller *it, const char *name)
{
    char by_index[TAL_MAX_FORCE_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "controller%d", forces->controls.num);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_FORCE_NAME) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME,
                               "controller %d: a name has 1 to %d characters, this one has %zu",
                               forces->controls.num, TAL_MAX_FORCE_NAME, strlen(chosen));
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME, "controller '%s': %s", chosen,
                               flaw);
    }
    if (tal_forces_find_controller(forces, chosen).i >= 0) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME,
                               "there is a controller '%s' already", chosen);
    }
    (void)snprintf(it->name, sizeof it->name, "%s", chosen);
    return TAL_OK;
}

static tal_status check_table(const tal_forces *forces, tali_controller *it,
                              const tal_controller_ops *ops)
{
    if (ops == NULL || ops->size < offsetof(tal_controller_ops, destroy) ||
        ops->size > sizeof *ops || ops->name == NULL || ops->calc_control == NULL) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                               "controller '%s' needs a table with its size, name and calc_control",
                               it->name);
    }
    memcpy(&it->ops, ops, ops->size);
    return TAL_OK;
}

// Each actuator must have a control; their list is copied.
static tal_status take_actuators(const tal_forces *forces, tali_controller *it,
                                 const tal_force_ix actuators[], int n)
{
    if (n < 1 || actuators == NULL) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                               "controller '%s' drives no actuator: give one or more", it->name);
    }
    for (int i = 0; i < n; ++i) {
        if (tal_force_has_control(forces, actuators[i])) continue;
        const bool exists = actuators[i].i >= 0 && actuators[i].i < forces->num_elements;
        return tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                               "controller '%s' cannot drive force %d (%s): it has no control",
                               it->name, actuators[i].i,
                               exists ? forces->elements[actuators[i].i].name : "there is none");
    }
    it->actuators = tali_alloc(&forces->allocator, (size_t)n * sizeof *actuators);
    if (it->actuators == NULL) {
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "controller '%s': no memory",
                               it->name);
    }
    memcpy(it->actuators, actuators, (size_t)n * sizeof *actuators);
    it->num_actuators = n;
    return TAL_OK;
}

static tal_status add_controller(tal_forces *forces, tali_controller *it)
{
    tali_controls *all = &forces->controls;
    if (!tali_names_reserve(&all->names, &forces->allocator) ||
        !tali_grow(&forces->allocator, (void **)&all->items, all->num, &all->capacity,
                   sizeof *all->items)) {
        tali_free(&forces->allocator, it->actuators,
                  (size_t)it->num_actuators * sizeof *it->actuators);
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "controller '%s': no memory",
                               it->name);
    }
    tali_names_add(&all->names, tali_names_hash(it->name), all->num);
    all->items[all->num++] = *it;
    return TAL_OK;
}

tal_controller_ix tal_forces_add_controller(tal_forces *forces, const char *name,
                                            const tal_force_ix actuators[], int n,
                                            const tal_controller_ops *ops, void *self)
{
    tali_controller it = {.self = self};
    tal_status st = TAL_ERR_NULL;
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
    } else if (tal_system_has_topology(forces->system) || forces->declaring) {
        st = TALI_BREACH(TAL_ERR_TOPOLOGY, "System '%s' is realized: call this before that",
                         tal_system_name(forces->system));
    } else {
        st = tal_system_error(forces->system)->status;
        if (st == TAL_OK) st = take_name(forces, &it, name);
        if (st == TAL_OK) st = check_table(forces, &it, ops);
        if (st == TAL_OK) st = take_actuators(forces, &it, actuators, n);
        if (st == TAL_OK) st = add_controller(forces, &it);
    }
    if (st == TAL_OK) return (tal_controller_ix){forces->controls.num - 1};
    const bool can_destroy =
        ops != NULL && ops->size >= sizeof(tal_controller_ops) && ops->destroy != NULL;
    if (can_destroy) ops->destroy(self);
    return (tal_controller_ix){-1};
}

// --- the topology ---

// Count the links of each element, then fill them in the order of the controllers.
static bool link_all(tal_forces *forces)
{
    tali_controls *all = &forces->controls;
    int num_links = 0;
    for (int c = 0; c < all->num; ++c) {
        num_links += all->items[c].num_actuators;
    }
    all->num_first = forces->num_elements + 2; // one more, to count in
    all->num_links = num_links;
    all->first = tali_alloc(&forces->allocator, (size_t)all->num_first * sizeof *all->first);
    all->links = tali_alloc(&forces->allocator, (size_t)num_links * sizeof *all->links);
    if (all->first == NULL || all->links == NULL) return false;
    int *count = all->first + 1;
    for (int c = 0; c < all->num; ++c) {
        for (int k = 0; k < all->items[c].num_actuators; ++k) {
            ++count[all->items[c].actuators[k].i + 1];
        }
    }
    for (int i = 1; i <= forces->num_elements; ++i) {
        count[i] += count[i - 1];
    }
    for (int c = 0; c < all->num; ++c) {
        for (int k = 0; k < all->items[c].num_actuators; ++k) {
            all->links[count[all->items[c].actuators[k].i]++] = (tali_control_link){c, k};
        }
    }
    return true; // what was counted has moved by one: first[i] is where element i begins
}

bool tali_controls_declare(tal_forces *forces)
{
    tali_controls *all = &forces->controls;
    if (all->num == 0) return true;
    const size_t n = (size_t)all->num;
    uint8_t *ones = tali_alloc(&forces->allocator, n);
    if (ones == NULL || !link_all(forces)) {
        tali_free(&forces->allocator, ones, n);
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for %zu controllers",
                              n);
        return false;
    }
    memset(ones, 1, n);
    tal_var_def def = tal_var_def_default();
    def.name = "controllers enabled";
    def.size = n;
    def.initial = ones;
    def.invalidates = TAL_STAGE_DYNAMICS;
    all->enabled = tal_system_add_var(forces->system, forces->me, &def);
    tali_free(&forces->allocator, ones, n);
    return all->enabled.i >= 0;
}

uint64_t tali_controls_hash(const tal_forces *forces, uint64_t hash)
{
    for (int c = 0; c < forces->controls.num; ++c) {
        const tali_controller *it = &forces->controls.items[c];
        hash = tali_hash(hash, it->name, strlen(it->name));
        hash = tali_hash(hash, it->ops.name, strlen(it->ops.name));
        hash = tali_hash(hash, it->actuators, (size_t)it->num_actuators * sizeof *it->actuators);
    }
    return hash;
}

void tali_controls_free(tal_forces *forces)
{
    tali_controls *all = &forces->controls;
    for (int c = 0; c < all->num; ++c) {
        tali_controller *it = &all->items[c];
        if (it->ops.destroy != NULL) it->ops.destroy(it->self);
        tali_free(&forces->allocator, it->actuators,
                  (size_t)it->num_actuators * sizeof *it->actuators);
    }
    tali_free(&forces->allocator, all->items, (size_t)all->capacity * sizeof *all->items);
    tali_names_free(&all->names, &forces->allocator);
    tali_free(&forces->allocator, all->first, (size_t)all->num_first * sizeof *all->first);
    tali_free(&forces->allocator, all->links, (size_t)all->num_links * sizeof *all->links);
}

// --- asking ---

static const tali_controller *controller_at(const tal_forces *forces, tal_controller_ix controller,
                                            const char *where)
{
    if (forces == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "forces is NULL");
        return NULL;
    }
    const tali_controls *all = &forces->controls;
    if (controller.i >= 0 && controller.i < all->num) return &all->items[controller.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no controller %d: there are %d",
                      controller.i, all->num);
    return NULL;
}

int tal_forces_num_controllers(const tal_forces *forces)
{
    return forces != NULL ? forces->controls.num : -1;
}

tal_controller_ix tal_forces_find_controller(const tal_forces *forces, const char *name)
{
    if (forces == NULL || name == NULL) return (tal_controller_ix){-1};
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i = tali_names_next(&forces->controls.names, hash, &probe);
    while (i >= 0 && strcmp(forces->controls.items[i].name, name) != 0) {
        i = tali_names_next(&forces->controls.names, hash, &probe);
    }
    return (tal_controller_ix){i};
}

const char *tal_controller_name(const tal_forces *forces, tal_controller_ix controller)
{
    const tali_controller *it = controller_at(forces, controller, __func__);
    return it != NULL ? it->name : "(no controller)";
}

const char *tal_controller_kind(const tal_forces *forces, tal_controller_ix controller)
{
    const tali_controller *it = controller_at(forces, controller, __func__);
    return it != NULL ? it->ops.name : "(no controller)";
}

int tal_controller_num_actuators(const tal_forces *forces, tal_controller_ix controller)
{
    const tali_controller *it = controller_at(forces, controller, __func__);
    return it != NULL ? it->num_actuators : -1;
}

// The controller, if it has so many actuators; NULL after a breach.
static const tali_controller *with_actuator(const tal_forces *forces, tal_controller_ix controller,
                                            int which, const char *where)
{
    const tali_controller *it = controller_at(forces, controller, where);
    if (it == NULL || (which >= 0 && which < it->num_actuators)) return it;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "controller '%s' has no actuator %d: it has %d",
                      it->name, which, it->num_actuators);
    return NULL;
}

tal_force_ix tal_controller_actuator(const tal_forces *forces, tal_controller_ix controller,
                                     int which)
{
    const tali_controller *it = with_actuator(forces, controller, which, __func__);
    return it != NULL ? it->actuators[which] : (tal_force_ix){-1};
}

double tal_controller_output(const tal_forces *forces, tal_state *state,
                             tal_controller_ix controller, int which)
{
    const tali_controller *it = with_actuator(forces, controller, which, __func__);
    if (it == NULL) return TALI_NAN;
    const tal_force_context context = context_at_velocity(forces, state, __func__);
    if (context.velocities.bytes == NULL) return TALI_NAN;
    double control = TALI_NAN;
    return ask(it, &context, which, &control) == TAL_OK ? control : TALI_NAN;
}

bool tal_controller_is_enabled(const tal_forces *forces, const tal_state *state,
                               tal_controller_ix controller)
{
    if (controller_at(forces, controller, __func__) == NULL) return false;
    const uint8_t *enabled =
        tali_cache_var_read(forces->system, state, forces->controls.enabled, __func__);
    return enabled != NULL && enabled[controller.i] != 0;
}

tal_status tal_controller_set_enabled(const tal_forces *forces, tal_state *state,
                                      tal_controller_ix controller, bool enabled)
{
    if (controller_at(forces, controller, __func__) == NULL) return tal_contract_last()->status;
    const tal_var_ix var = forces->controls.enabled;
    if (tali_cache_var_read(forces->system, state, var, __func__) == NULL) {
        return tal_contract_last()->status;
    }
    uint8_t *all = tali_cache_var_write(forces->system, state, var, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[controller.i] = enabled;
    return TAL_OK;
}
