// A spring along a path that a clutch engages.
#include "real_internal.h"

#include "core/element_internal.h"

#include <talus/forces/clutched_spring.h>

typedef struct clutched {
    tali_force_element base;
    tal_path_ix path;
    tal_group_ix stretch; // z
} clutched;

// What the spring does at a State.
typedef struct grip {
    double tension, speed; // of the path
    double rate;           // ds/dt
} grip;

static tal_status evaluate(const clutched *it, const tal_force_context *context, grip *at)
{
    const tal_forces *forces = it->base.forces;
    const double *values = tali_force_element_values(&it->base, context);
    const int slot = tal_group_start(forces->system, context->state, it->stretch);
    const real s = tal_state_z(context->state)[slot], zero = spread(0.0);
    double control = 0.0;
    const tal_status st =
        tali_force_element_control(&it->base, context, (tal_measure_ix){-1}, &control);
    if (st != TAL_OK) return st;
    const real x = at_least(at_most(control, spread(1.0)), zero);
    const real speed = tal_path_speed(forces, context->state, it->path);
    const real share = at_least(1.0 + values[TAL_CLUTCHED_SPRING_DISSIPATION] * speed, zero);
    at->speed = speed;
    at->tension = x * values[TAL_CLUTCHED_SPRING_STIFFNESS] * at_least(s, zero) * share;
    at->rate = pick(less(zero, x), speed, -s / values[TAL_CLUTCHED_SPRING_RELAXATION]);
    return TAL_OK;
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    const clutched *it = self;
    grip at = {0.0, 0.0, 0.0};
    const tal_status st = evaluate(it, context, &at);
    if (st != TAL_OK) return st;
    return tal_path_apply_tension(it->base.forces, context->state, it->path, at.tension, F, f);
}

static tal_status realize_acceleration(const void *self, const tal_force_context *context)
{
    const clutched *it = self;
    grip at = {0.0, 0.0, 0.0};
    const tal_status st = evaluate(it, context, &at);
    *tal_group_upd_dot(context->system, context->state, it->stretch) = at.rate;
    return st;
}

static tal_status calc_dissipated_power(const void *self, const tal_force_context *context,
                                        double *power)
{
    grip at = {0.0, 0.0, 0.0};
    const tal_status st = evaluate(self, context, &at);
    *power = at.tension * at.speed;
    return st;
}

static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    clutched *it = self;
    tal_group_def group = tal_group_def_default();
    group.name = "stretch";
    group.capacity = 1;
    it->stretch = tal_force_add_group(forces, me, &group);
    return tali_force_element_declare(self, forces, me);
}

static const char *check(const double params[])
{
    const bool good = params[TAL_CLUTCHED_SPRING_LEAST] <= params[TAL_CLUTCHED_SPRING_LARGEST];
    return good ? NULL : "its least control is above its largest control";
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const clutched *it = self;
    facts->path = it->path;
}

static const tali_force_param params[] = {
    {"stiffness", TALI_NOT_NEGATIVE},   {"dissipation", TALI_NOT_NEGATIVE},
    {"relaxation time", TALI_POSITIVE}, {"control", TALI_FINITE},
    {"least control", TALI_LIMIT},      {"largest control", TALI_LIMIT}};

static const tali_force_kind kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "clutched spring",
            .apply = apply,
            .declare = declare,
            .realize_acceleration = realize_acceleration,
            .calc_dissipated_power = calc_dissipated_power,
            .destroy = tali_force_element_destroy},
    .params = params,
    .num_params = 6,
    .control = TAL_CLUTCHED_SPRING_CONTROL,
    .check = check,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_clutched_spring(tal_forces *forces, const char *name,
                                            const tal_clutched_spring *spring)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &kind, spring, "spring")) return none;
    if (forces != NULL && (spring->path.i < 0 || spring->path.i >= forces->paths.num)) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                              "clutched spring '%s': there is no path %d: there are %d",
                              name != NULL ? name : "(no name)", spring->path.i, forces->paths.num);
        return none;
    }
    clutched like = {.path = spring->path};
    const double initial[] = {
        spring->stiffness, spring->dissipation, spring->relaxation, 0.0, 0.0, 1.0};
    return tali_force_element_add(forces, name, &kind, &like, sizeof like, initial);
}
