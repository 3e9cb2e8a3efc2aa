// How a muscle changes in a small motion: its forces, and the rates of activation and fibers.
#include "muscle/muscle_internal.h"

static double change_of_z(const tali_muscle *it, const tal_force_context *context,
                          const tal_force_change *change, tal_group_ix group)
{
    (void)it;
    if (group.i < 0 || change->dz == NULL) return 0.0;
    return change->dz[tal_group_start(context->system, context->state, group)];
}

// The activation is kept in its range, and stands still at the ends of it. Without a z it is the
// control, which is only set.
static double change_of_activation(const tali_muscle *it, const tal_force_context *context,
                                   const tal_force_change *change)
{
    if (it->activation_z.i < 0) return 0.0;
    const double least = tali_muscle_sizes_of(it, context)->activation.least;
    const int slot = tal_group_start(context->system, context->state, it->activation_z);
    const double a = tal_state_z(context->state)[slot];
    return a > least && a < 1.0 ? change_of_z(it, context, change, it->activation_z) : 0.0;
}

// What a muscle is given, and how that changes with the path.
static tal_status find_change(const tali_muscle *it, const tal_force_context *context,
                              const tal_force_change *change, const tali_path_change *path,
                              tali_muscle_given *given, tali_muscle_change *found)
{
    const tal_status st = tali_muscle_read(it, context, true, given);
    if (st != TAL_OK) return st;
    const tali_muscle_given by = {.l = path->l,
                                  .ldot = path->ldot,
                                  .a = change_of_activation(it, context, change),
                                  .z = change_of_z(it, context, change, it->fiber_z)};
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, context);
    *found = tali_muscle_find_change(&it->curves, sizes, it->kind, given, &by);
    return TAL_OK;
}

tal_status tali_muscle_apply_change(const void *self, const tal_force_context *context,
                                    const tal_force_change *change, tal_spatial_vec dF[],
                                    double df[])
{
    const tali_muscle *it = self;
    const tal_forces *forces = it->base.forces;
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, context);
    const size_t mark = tal_state_scratch_mark(context->state);
    tali_path_change path;
    tali_muscle_given given;
    tali_muscle_change found = {0.0, 0.0};
    double t = 0.0;
    tal_status st = tali_path_calc_change(forces, context, it->path.i, change, &path);
    if (st == TAL_OK && tali_muscle_is_overridden(it, context)) {
        t = tali_muscle_value(it, context, TAL_MUSCLE_OVERRIDE);
    } else if (st == TAL_OK) {
        st = find_change(it, context, change, &path, &given, &found);
        if (st == TAL_OK) t = sizes->F0 * tali_muscle_tension(&it->curves, sizes, it->kind, &given);
    }
    if (st == TAL_OK) {
        tali_path_add_change(forces, context->state, &path, t, sizes->F0 * found.tension, dF, df);
    }
    tal_state_scratch_release(context->state, mark);
    return st;
}

static tal_status add_activation_rate(const tali_muscle *it, const tal_force_context *context,
                                      const tal_force_change *change, double dzdot[])
{
    const tali_muscle_activation *law = &tali_muscle_sizes_of(it, context)->activation;
    const int slot = tal_group_start(context->system, context->state, it->activation_z);
    const double a = tal_state_z(context->state)[slot];
    double x = 0.0;
    const tal_status st = tali_muscle_control(it, context, &x);
    const double slope = it->activation == TAL_ACTIVATION_SMOOTH
                             ? tali_muscle_smooth_activation_slope(law, x, a)
                             : tali_muscle_activation_slope(law, x, a);
    dzdot[slot] += slope * change_of_z(it, context, change, it->activation_z);
    return st;
}

static tal_status add_fiber_rate(const tali_muscle *it, const tal_force_context *context,
                                 const tal_force_change *change, double dzdot[])
{
    const size_t mark = tal_state_scratch_mark(context->state);
    tali_path_change path;
    tali_muscle_given given;
    tali_muscle_change found = {0.0, 0.0};
    tal_status st = tali_path_calc_change(it->base.forces, context, it->path.i, change, &path);
    if (st == TAL_OK) st = find_change(it, context, change, &path, &given, &found);
    tal_state_scratch_release(context->state, mark);
    dzdot[tal_group_start(context->system, context->state, it->fiber_z)] += found.rate;
    return st;
}

tal_status tali_muscle_add_rate_change(const void *self, const tal_force_context *context,
                                       const tal_force_change *change, double dzdot[])
{
    const tali_muscle *it = self;
    if (tali_muscle_is_overridden(it, context)) return TAL_OK;
    tal_status st = TAL_OK;
    if (it->activation_z.i >= 0) st = add_activation_rate(it, context, change, dzdot);
    if (st == TAL_OK && it->fiber_z.i >= 0) st = add_fiber_rate(it, context, change, dzdot);
    return st;
}
