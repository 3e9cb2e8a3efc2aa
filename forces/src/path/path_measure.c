// Measures of paths: length, speed, tension.
#include "measure_facts_internal.h"
#include "path_facts_internal.h"

#include "core/forces_internal.h"

#include <talus/forces/path_measure.h>

#include <math.h>

typedef struct target {
    const tal_forces *forces;
    int i; // of the path, or of the element
} target;

static tal_status one_derivative(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    site->num_derivatives = 1;
    return TAL_OK;
}

static void needs_position(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    tal_measure_needs_stage(needs, order == 0 ? TAL_STAGE_POSITION : TAL_STAGE_VELOCITY);
}

static void needs_velocity(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_VELOCITY);
}

static void needs_dynamics(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_DYNAMICS);
}

// What a number that could not be computed means.
static tal_status status_of(const tal_state *state, double value)
{
    if (!isnan(value)) return TAL_OK;
    const tal_status st = tal_state_error(state)->status;
    return st != TAL_OK ? st : TAL_ERR_NOT_FINITE;
}

// Called while a stage is realized, before the State says that it has reached it.
static tal_status calc_length(const void *self, const tal_system *system, tal_state *state,
                              int order, int n, double value[])
{
    (void)system;
    (void)n;
    const target *it = self;
    const tal_status st = tali_paths_realize(it->forces, state, order == 1);
    if (st != TAL_OK) return st;
    value[0] = order == 0 ? tali_path_pulls_of(it->forces, state).lengths[it->i]
                          : tali_paths_speeds(it->forces, state)[it->i];
    return TAL_OK;
}

static tal_status calc_speed(const void *self, const tal_system *system, tal_state *state,
                             int order, int n, double value[])
{
    (void)order;
    return calc_length(self, system, state, 1, n, value);
}

static tal_status calc_tension(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double value[])
{
    (void)system;
    (void)order;
    (void)n;
    const target *it = self;
    value[0] = tal_path_force_tension(it->forces, state, (tal_force_ix){it->i});
    return status_of(state, value[0]);
}

static const tal_measure_ops length_ops = {.size = sizeof length_ops,
                                           .name = "path length",
                                           .calc = calc_length,
                                           .declare = one_derivative,
                                           .needs = needs_position};
static const tal_measure_ops speed_ops = {
    .size = sizeof speed_ops, .name = "path speed", .calc = calc_speed, .needs = needs_velocity};
static const tal_measure_ops tension_ops = {.size = sizeof tension_ops,
                                            .name = "path tension",
                                            .calc = calc_tension,
                                            .needs = needs_dynamics};

static tal_measure_ix add_measure(tal_forces *forces, const char *name, const tal_measure_ops *ops,
                                  int i, int num)
{
    if (i < 0 || i >= num) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                              "%s '%s': there is no path or element %d with one: there are %d",
                              ops->name, name != NULL ? name : "(no name)", i, num);
        return (tal_measure_ix){-1};
    }
    const target self = {forces, i};
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.size = 1;
    def.self = &self;
    def.self_size = sizeof self;
    return tal_system_add_measure(forces->system, forces->me, ops, &def);
}

tal_measure_ix tal_measure_add_path_length(tal_forces *forces, const char *name, tal_path_ix path)
{
    if (!tali_path_can_build(forces, __func__)) return (tal_measure_ix){-1};
    return add_measure(forces, name, &length_ops, path.i, forces->paths.num);
}

tal_measure_ix tal_measure_add_path_speed(tal_forces *forces, const char *name, tal_path_ix path)
{
    if (!tali_path_can_build(forces, __func__)) return (tal_measure_ix){-1};
    return add_measure(forces, name, &speed_ops, path.i, forces->paths.num);
}

tal_measure_ix tal_measure_add_path_tension(tal_forces *forces, const char *name,
                                            tal_force_ix force)
{
    if (!tali_path_can_build(forces, __func__)) return (tal_measure_ix){-1};
    const bool is_there = force.i >= 0 && force.i < forces->num_elements;
    const bool pulls = is_there && tal_path_force_path(forces, force).i >= 0;
    return add_measure(forces, name, &tension_ops, pulls ? force.i : -1, forces->num_elements);
}

// --- facts ---

bool tali_path_measure_facts_of(const tal_system *system, tal_measure_ix measure, int *i)
{
    const tal_measure_ops *const kinds[] = {&length_ops, &speed_ops, &tension_ops};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        const target *it = tali_measure_self_as(system, measure, kinds[k]);
        if (it == NULL) continue;
        *i = it->i;
        return true;
    }
    return false;
}
