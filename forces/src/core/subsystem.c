// Forces as a subsystem: what the elements do at each stage, their energy and power.
#include "applied_internal.h"
#include "hash_internal.h"

#include "core/derivative_internal.h"
#include "core/forces_internal.h"
#include "muscle/muscle_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const tal_bodies_view nothing = {NULL, 0, 0};

tal_force_context tali_force_context(const tal_forces *forces, tal_state *state, tal_stage reached)
{
    const bool posed = reached >= TAL_STAGE_POSITION, moving = reached >= TAL_STAGE_VELOCITY;
    tal_force_context context = {.system = forces->system,
                                 .matter = forces->matter,
                                 .state = state,
                                 .poses = posed ? tal_matter_poses(forces->matter, state) : nothing,
                                 .velocities = moving ? tal_matter_velocities(forces->matter, state)
                                                      : nothing};
    for (int i = 0; i < TAL_NUM_FORCE_NEEDS; ++i) {
        const tali_force_values *values = &forces->values[i];
        if (values->count == 0) continue;
        context.params[i] = tal_var_value(forces->system, state, values->var);
    }
    const bool is_placed = forces->placed_size > 0 && reached > TAL_STAGE_INSTANCE;
    if (is_placed) context.placed = tal_cache_value(forces->system, state, forces->placed);
    return context;
}

tal_force_context tali_force_context_for(const tal_force_context *all, tal_force_needs needs)
{
    tal_force_context context = *all;
    if (needs != TAL_FORCE_NEEDS_ALL) context.velocities = nothing;
    if (needs == TAL_FORCE_NEEDS_T) context.poses = nothing;
    return context;
}

const uint8_t *tali_forces_enabled(const tal_forces *forces, const tal_state *state)
{
    return tal_var_value(forces->system, state, forces->enabled);
}

tal_status tali_force_explain(tal_state *state, const tali_force *element, tal_status st)
{
    if (st == TAL_OK || tal_state_error(state)->status == st) return st;
    return tal_state_fail(state, st, "force '%s' failed at t = %g (%s)", element->name,
                          tal_state_t(state), tal_status_text(st));
}

// --- Topology ---

static bool declare_enabled(tal_forces *forces)
{
    const size_t n = (size_t)forces->num_elements + 1;
    uint8_t *all = tali_alloc(&forces->allocator, n);
    if (all == NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for %zu forces", n - 1);
        return false;
    }
    memset(all, 1, n);
    tal_var_def def = tal_var_def_default();
    def.name = "enabled";
    def.size = n;
    def.initial = all;
    forces->enabled = tal_system_add_var(forces->system, forces->me, &def);
    tali_free(&forces->allocator, all, n);
    return forces->enabled.i >= 0;
}

// The System's structure hash covers the names of what is declared. The elements (name, kind, tag,
// order) enter it through the name of an entry that holds nothing.
static bool declare_identity(const tal_forces *forces)
{
    uint64_t hash = TALI_HASH_SEED;
    for (int i = 0; i < forces->num_elements; ++i) {
        const tali_force *element = &forces->elements[i];
        char text[2 * TAL_MAX_NAME + 32];
        (void)snprintf(text, sizeof text, "%s|%.63s|%" PRIu64, element->name, element->ops.name,
                       element->ops.tag);
        hash = tali_hash(hash, text, strlen(text));
    }
    hash = tali_paths_hash(forces, hash);
    hash = tali_controls_hash(forces, hash);
    char name[TAL_MAX_NAME + 1];
    (void)snprintf(name, sizeof name, "elements %016" PRIx64, hash);
    tal_cache_def def = tal_cache_def_default();
    def.name = name;
    def.size = 1;
    return tal_system_add_cache(forces->system, forces->me, &def).i >= 0;
}

static int num_speeds(const tal_matter *matter)
{
    int nu = 0;
    for (int b = 0; b < tal_matter_num_bodies(matter); ++b) {
        nu += tal_body_nu(matter, (tal_body_ix){b});
    }
    return nu;
}

// The z that tracks the energy that an element dissipates.
static tal_status declare_dissipated(tal_forces *forces, int i)
{
    tal_group_def def = tal_group_def_default();
    def.name = "dissipated";
    def.capacity = 1;
    forces->elements[i].dissipated = tal_force_add_group(forces, (tal_force_ix){i}, &def);
    return tal_system_error(forces->system)->status;
}

// Let all elements declare what they need, then what keeps track of their dissipated energy.
static tal_status realize_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    tal_forces *forces = self;
    forces->me = me;
    forces->num_bodies = tal_matter_num_bodies(forces->matter);
    forces->nu = num_speeds(forces->matter);
    if (!declare_enabled(forces) || !tali_paths_declare(forces) || !declare_identity(forces) ||
        !tali_controls_declare(forces) || !tali_muscle_declare_limits(forces)) {
        return tal_system_error(system)->status;
    }
    forces->declaring = true;
    tal_status st = TAL_OK;
    for (int i = 0; i < forces->num_elements && st == TAL_OK; ++i) {
        const tali_force *element = &forces->elements[i];
        if (element->is_tracked) st = declare_dissipated(forces, i);
        if (element->ops.declare == NULL || st != TAL_OK) continue;
        st = element->ops.declare(element->self, forces, (tal_force_ix){i});
        if (st != TAL_OK) {
            (void)tal_system_fail(system, st, "force '%s' could not declare what it needs (%s)",
                                  element->name, tal_status_text(st));
        }
        st = tal_system_error(system)->status;
    }
    forces->declaring = false;
    forces->has_rates = forces->num_groups > 0;
    for (int i = 0; i < forces->num_elements; ++i) {
        if (forces->elements[i].ops.realize_acceleration != NULL) forces->has_rates = true;
    }
    if (st == TAL_OK && !tali_forces_declare_classes(forces)) st = tal_system_error(system)->status;
    return st;
}

// --- the stages ---

static tal_status realize_instance(const void *self, const tal_system *system, tal_state *state)
{
    const tal_forces *forces = self;
    const tal_status placed = tali_paths_realize_instance(forces, state);
    if (placed != TAL_OK) return placed;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_INSTANCE);
    for (int i = 0; i < forces->num_elements; ++i) {
        const tali_force *element = &forces->elements[i];
        if (element->ops.realize_instance == NULL) continue;
        const tal_status st = element->ops.realize_instance(element->self, &context);
        if (st != TAL_OK) return tali_force_explain(state, element, st);
    }
    const bool has_placed = forces->placed_size > 0;
    return has_placed ? tal_cache_mark_valid(system, state, forces->placed) : TAL_OK;
}

static tal_status realize_dynamics(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const tal_forces *forces = self;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    const tal_applied_forces applied = tal_matter_upd_forces(forces->matter, state);
    if (applied.F_GM == NULL || context.velocities.bytes == NULL) return TAL_ERR_STAGE;
    const tal_status st = tali_paths_realize(forces, state, true);
    if (st != TAL_OK) return st;
    return tali_forces_apply(forces, &context, &applied);
}

// zdot of one element: its own, and that of the energy it dissipates.
static tal_status write_rates(const tali_force *element, const tal_force_context *context)
{
    const tal_force_ops *ops = &element->ops;
    tal_status st = TAL_OK;
    if (element->is_tracked) {
        double power = 0.0;
        if (ops->calc_dissipated_power != NULL) {
            st = ops->calc_dissipated_power(element->self, context, &power);
        }
        double *zdot = tal_group_upd_dot(context->system, context->state, element->dissipated);
        *zdot = power;
    }
    if (st != TAL_OK || ops->realize_acceleration == NULL) return st;
    return ops->realize_acceleration(element->self, context);
}

// Write the rates of all z; those of disabled elements are zero.
static tal_status realize_acceleration(const void *self, const tal_system *system, tal_state *state)
{
    const tal_forces *forces = self;
    if (!forces->has_rates) return TAL_OK;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    for (int i = 0; i < forces->num_elements; ++i) {
        const tali_force *element = &forces->elements[i];
        if (!enabled[i]) continue;
        const tal_status st = write_rates(element, &context);
        if (st != TAL_OK) return tali_force_explain(state, element, st);
    }
    // the z of disabled elements do not change
    for (int k = 0; k < forces->num_groups; ++k) {
        const tal_group_ix group = forces->groups[k].group;
        if (enabled[forces->groups[k].element]) continue;
        double *zdot = tal_group_upd_dot(system, state, group);
        for (int j = 0; j < tal_group_size(system, state, group); ++j) {
            zdot[j] = 0.0;
        }
    }
    tali_muscle_write_limits(forces, &context);
    return TAL_OK;
}

static void destroy(void *self)
{
    tal_forces *forces = self;
    const tal_allocator allocator = forces->allocator;
    for (int i = 0; i < forces->num_elements; ++i) {
        const tali_force *element = &forces->elements[i];
        if (element->ops.destroy != NULL) element->ops.destroy(element->self);
    }
    tali_paths_free(forces);
    tali_controls_free(forces);
    tali_free(&allocator, forces->elements, (size_t)forces->capacity * sizeof *forces->elements);
    tali_names_free(&forces->names, &allocator);
    tali_free(&allocator, forces->groups, (size_t)forces->groups_capacity * sizeof *forces->groups);
    tali_free(&allocator, forces->vars, (size_t)forces->vars_capacity * sizeof *forces->vars);
    for (int i = 0; i < TAL_NUM_FORCE_NEEDS; ++i) {
        const tali_force_values *values = &forces->values[i];
        tali_free(&allocator, values->initial, (size_t)values->capacity * sizeof(double));
    }
    const size_t n = (size_t)forces->num_elements + 1;
    tali_free(&allocator, forces->order, n * sizeof *forces->order);
    tali_free(&allocator, forces, sizeof *forces);
}

const tal_subsystem_ops tali_forces_ops = {
    .size = sizeof tali_forces_ops,
    .name = "forces",
    .realize_topology = realize_topology,
    .realize_instance = realize_instance,
    .realize_dynamics = realize_dynamics,
    .realize_acceleration = realize_acceleration,
    .destroy = destroy,
};

// --- asking and setting ---

bool tal_force_is_enabled(const tal_forces *forces, const tal_state *state, tal_force_ix force)
{
    if (tali_force_at(forces, force, __func__) == NULL) return false;
    const uint8_t *enabled = tali_cache_var_read(forces->system, state, forces->enabled, __func__);
    return enabled != NULL && enabled[force.i] != 0;
}

tal_status tal_force_set_enabled(const tal_forces *forces, tal_state *state, tal_force_ix force,
                                 bool enabled)
{
    if (tali_force_at(forces, force, __func__) == NULL) return tal_contract_last()->status;
    if (tali_cache_var_read(forces->system, state, forces->enabled, __func__) == NULL) {
        return tal_contract_last()->status;
    }
    uint8_t *all = tali_cache_var_write(forces->system, state, forces->enabled, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[force.i] = enabled;
    return TAL_OK;
}

// True when the State is where an element can be asked; otherwise a breach has been reported.
static bool can_ask(const tal_state *state, tal_stage needed, const char *where)
{
    if (tal_state_stage(state) >= needed) return true;
    (void)tali_breach(TAL_ERR_STAGE, where, "the State is at %s and must be at %s",
                      tal_stage_name(tal_state_stage(state)), tal_stage_name(needed));
    return false;
}

// The element, when it and the State are such that it can apply its forces; NULL after a breach.
static const tali_force *ready_to_apply(const tal_forces *forces, const tal_state *state,
                                        tal_force_ix force, const char *where)
{
    const tali_force *element = tali_force_at(forces, force, where);
    if (element == NULL || !can_ask(state, TAL_STAGE_VELOCITY, where)) return NULL;
    return tal_matter_velocities(forces->matter, state).bytes != NULL ? element : NULL;
}

// For an element that is ready to apply.
static tal_status apply_about_Mo(const tal_forces *forces, tal_state *state,
                                 const tali_force *element, tal_spatial_vec F_GM[], double f[])
{
    const tal_force_context all = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    const tal_force_context context = tali_force_context_for(&all, element->ops.needs);
    return tali_force_explain(state, element, element->ops.apply(element->self, &context, F_GM, f));
}

tal_status tali_force_apply_about_Mo(const tal_forces *forces, tal_state *state, tal_force_ix force,
                                     tal_spatial_vec F_GM[], double f[])
{
    const tali_force *element = ready_to_apply(forces, state, force, __func__);
    if (element == NULL) return tal_contract_last()->status;
    return apply_about_Mo(forces, state, element, F_GM, f);
}

tal_status tal_force_apply(const tal_forces *forces, tal_state *state, tal_force_ix force,
                           tal_spatial_vec F_GB[], double f[])
{
    const tali_force *element = ready_to_apply(forces, state, force, __func__);
    if (element == NULL) return tal_contract_last()->status;
    if (F_GB == NULL || f == NULL) return TALI_BREACH(TAL_ERR_NULL, "an output is NULL");
    if (tali_matter_is_every_Bo_Mo(forces->matter, state)) {
        return apply_about_Mo(forces, state, element, F_GB, f);
    }
    const size_t mark = tal_state_scratch_mark(state);
    const size_t bytes = (size_t)forces->num_bodies * sizeof *F_GB;
    tal_spatial_vec *F = tal_state_scratch_take(state, bytes);
    if (F == NULL) return tal_contract_last()->status;
    memset(F, 0, bytes);
    const tal_status st = apply_about_Mo(forces, state, element, F, f);
    if (st == TAL_OK) {
        tali_matter_shift_to_Bo(forces->matter, state, F);
        for (int b = 0; b < forces->num_bodies; ++b) {
            F_GB[b] = tal_sv_add(F_GB[b], F[b]);
        }
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// Chosen elements, and where their sum about Mo is to be.
typedef struct sum_task {
    const tal_force_ix *which;
    int n;
    tal_applied_forces to;
} sum_task;

static void clear_sum(const tal_forces *forces, const sum_task *task)
{
    memset(task->to.F_GM, 0, (size_t)forces->num_bodies * sizeof *task->to.F_GM);
    memset(task->to.f, 0, (size_t)forces->nu * sizeof *task->to.f);
}

// The sum is not finite: apply the elements one at a time to find the one that causes it.
static tal_status name_culprit(const tal_forces *forces, tal_state *state, const sum_task *task)
{
    for (int i = 0; i < task->n; ++i) {
        clear_sum(forces, task);
        const tal_status st =
            tali_force_apply_about_Mo(forces, state, task->which[i], task->to.F_GM, task->to.f);
        if (st != TAL_OK) return st;
        if (tali_force_are_finite(forces, &task->to)) continue;
        return tali_force_blame(state, &forces->elements[task->which[i].i]);
    }
    return tali_force_blame_sum(state);
}

static tal_status sum_about_Mo(const tal_forces *forces, tal_state *state, const sum_task *task)
{
    clear_sum(forces, task);
    for (int i = 0; i < task->n; ++i) {
        const tal_status st =
            tali_force_apply_about_Mo(forces, state, task->which[i], task->to.F_GM, task->to.f);
        if (st != TAL_OK) return st;
    }
    const bool is_finite = tali_force_are_finite(forces, &task->to);
    return is_finite ? TAL_OK : name_culprit(forces, state, task);
}

// TAL_OK when there is something to sum, and a State at which it can be.
static tal_status check_sum(const tal_forces *forces, const tal_state *state,
                            const tal_force_ix which[], int n, const char *where)
{
    if (which == NULL && n != 0) return tali_breach(TAL_ERR_NULL, where, "`which` is NULL");
    for (int i = 0; i < n; ++i) {
        if (tali_force_at(forces, which[i], where) == NULL) return tal_contract_last()->status;
    }
    const bool is_known = tal_matter_velocities(forces->matter, state).bytes != NULL;
    return is_known ? TAL_OK : tal_contract_last()->status;
}

tal_status tal_forces_calc_sum(const tal_forces *forces, tal_state *state,
                               const tal_force_ix which[], int n, tal_spatial_vec F_GB[],
                               double f[])
{
    if (forces == NULL || F_GB == NULL || f == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    tal_status st = check_sum(forces, state, which, n, __func__);
    const sum_task task = {which, n, {F_GB, f}};
    if (st == TAL_OK) st = sum_about_Mo(forces, state, &task);
    if (st == TAL_OK) tali_matter_shift_to_Bo(forces->matter, state, F_GB);
    return st;
}

tal_status tal_forces_calc_generalized(const tal_forces *forces, tal_state *state,
                                       const tal_force_ix which[], int n, double g[])
{
    if (forces == NULL || g == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    tal_status st = check_sum(forces, state, which, n, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F =
        tal_state_scratch_take(state, (size_t)forces->num_bodies * sizeof(tal_spatial_vec));
    double *f = tal_state_scratch_take(state, (size_t)forces->nu * sizeof(double));
    st = TAL_ERR_CAPACITY;
    const sum_task task = {which, n, {F, f}};
    if (F != NULL && f != NULL) st = sum_about_Mo(forces, state, &task);
    if (st == TAL_OK) st = tali_force_generalized(forces->matter, state, F, f, g);
    tal_state_scratch_release(state, mark);
    return st;
}

typedef tal_status (*scalar_fn)(const void *self, const tal_force_context *context, double *value);

// A scalar of one element; NaN when its function fails.
static double ask_scalar(const tali_force *element, const tal_force_context *context, scalar_fn fn)
{
    double value = 0.0;
    if (fn == NULL) return 0.0;
    const tal_status st =
        tali_force_explain(context->state, element, fn(element->self, context, &value));
    return st == TAL_OK ? value : TALI_NAN;
}

double tal_force_potential_energy(const tal_forces *forces, tal_state *state, tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    if (element == NULL || !can_ask(state, TAL_STAGE_POSITION, __func__)) return TALI_NAN;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_POSITION);
    if (context.poses.bytes == NULL) return TALI_NAN;
    return ask_scalar(element, &context, element->ops.calc_potential_energy);
}

double tal_force_dissipated_power(const tal_forces *forces, tal_state *state, tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    if (element == NULL || !can_ask(state, TAL_STAGE_VELOCITY, __func__)) return TALI_NAN;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    if (context.velocities.bytes == NULL) return TALI_NAN;
    return ask_scalar(element, &context, element->ops.calc_dissipated_power);
}

double tal_forces_potential_energy(const tal_forces *forces, tal_state *state)
{
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        return TALI_NAN;
    }
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    if (enabled == NULL || !can_ask(state, TAL_STAGE_POSITION, __func__)) return TALI_NAN;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_POSITION);
    if (context.poses.bytes == NULL) return TALI_NAN;
    double sum = 0.0;
    for (int i = 0; i < forces->num_elements; ++i) {
        const tali_force *element = &forces->elements[i];
        if (enabled[i]) sum += ask_scalar(element, &context, element->ops.calc_potential_energy);
    }
    return sum;
}

double tal_forces_dissipated_power(const tal_forces *forces, tal_state *state)
{
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        return TALI_NAN;
    }
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    if (enabled == NULL || !can_ask(state, TAL_STAGE_VELOCITY, __func__)) return TALI_NAN;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    if (context.velocities.bytes == NULL) return TALI_NAN;
    double sum = 0.0;
    for (int i = 0; i < forces->num_elements; ++i) {
        const tali_force *element = &forces->elements[i];
        if (enabled[i]) sum += ask_scalar(element, &context, element->ops.calc_dissipated_power);
    }
    return sum;
}

double tal_force_dissipated_energy(const tal_forces *forces, const tal_state *state,
                                   tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    if (element == NULL) return TALI_NAN;
    if (!element->is_tracked) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX,
                          "the dissipated energy of force '%s' is not tracked: start that with "
                          "tal_force_track_dissipation()",
                          element->name);
        return TALI_NAN;
    }
    const double *z = tal_state_z(state);
    const int slot = tal_group_start(forces->system, state, element->dissipated);
    return z != NULL && slot >= 0 ? z[slot] : TALI_NAN;
}

double tal_forces_dissipated_energy(const tal_forces *forces, const tal_state *state)
{
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        return TALI_NAN;
    }
    double sum = 0.0;
    for (int i = 0; i < forces->num_elements; ++i) {
        const bool counts = forces->elements[i].is_tracked;
        if (counts) sum += tal_force_dissipated_energy(forces, state, (tal_force_ix){i});
    }
    return sum;
}

double tal_system_potential_energy(const tal_system *system, tal_state *state)
{
    if (system == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
        return TALI_NAN;
    }
    double sum = 0.0;
    for (int i = 0; i < tal_system_num_subsystems(system); ++i) {
        const tal_subsystem_ix ix = {i};
        const tal_forces *forces = tal_subsystem_self_as(system, ix, &tali_forces_ops);
        if (forces != NULL) sum += tal_forces_potential_energy(forces, state);
    }
    return sum;
}

double tal_system_energy(const tal_system *system, tal_state *state)
{
    const double potential = tal_system_potential_energy(system, state);
    const tal_matter *matter = tal_system_matter(system);
    if (isnan(potential) || matter == NULL) return potential;
    return tal_matter_kinetic_energy(matter, state) + potential;
}
