// An actuator along a speed that follows its control with a delay: adot = (x - a) / tau.
#include "cache_internal.h"

#include "core/element_internal.h"

#include <talus/forces/actuator.h>

#include <math.h>

typedef struct activation_actuator {
    tali_force_element base;
    tal_mobility at;
    tal_measure_ix control; // `i` < 0: a parameter
    tal_group_ix activation;
} activation_actuator;

static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    activation_actuator *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "activation";
    def.capacity = 1;
    it->activation = tal_force_add_group(forces, me, &def);
    if (tali_force_element_is_driven(forces, me, it->control)) {
        forces->elements[me.i].ops.add_rate_change = NULL;
    }
    return tali_force_element_declare(self, forces, me);
}

static double gain_of(const activation_actuator *it, const tal_force_context *context)
{
    return tali_force_element_values(&it->base, context)[TAL_ACTIVATION_ACTUATOR_GAIN];
}

static double activation_of(const activation_actuator *it, const tal_force_context *context)
{
    return *tali_cache_group_y(context->system, context->state, it->activation);
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)F;
    const activation_actuator *it = self;
    const int slot = tal_body_u_start(context->matter, it->at.body) + it->at.i;
    f[slot] += gain_of(it, context) * activation_of(it, context);
    return TAL_OK;
}

static double dz_of(const activation_actuator *it, const tal_force_context *context,
                    const tal_force_change *change)
{
    if (change->dz == NULL) return 0.0;
    return change->dz[tal_group_start(context->system, context->state, it->activation)];
}

static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)dF;
    const activation_actuator *it = self;
    const int slot = tal_body_u_start(context->matter, it->at.body) + it->at.i;
    df[slot] += gain_of(it, context) * dz_of(it, context, change);
    return TAL_OK;
}

static tal_status write_rate(const void *self, const tal_force_context *context)
{
    const activation_actuator *it = self;
    double control = 0.0;
    const tal_status st = tali_force_element_control(&it->base, context, it->control, &control);
    const double tau = tali_force_element_values(&it->base, context)[TAL_ACTIVATION_ACTUATOR_TIME];
    double *rate = tal_group_upd_dot(context->system, context->state, it->activation);
    *rate = (control - activation_of(it, context)) / tau;
    return st;
}

// Its control is only set: see declare().
static tal_status add_rate_change(const void *self, const tal_force_context *context,
                                  const tal_force_change *change, double dzdot[])
{
    const activation_actuator *it = self;
    const double tau = tali_force_element_values(&it->base, context)[TAL_ACTIVATION_ACTUATOR_TIME];
    dzdot[tal_group_start(context->system, context->state, it->activation)] -=
        dz_of(it, context, change) / tau;
    return TAL_OK;
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const activation_actuator *it = self;
    facts->mobility = it->at;
    facts->measure = it->control;
}

static const char *check(const double params[])
{
    const double *control = params + TAL_ACTIVATION_ACTUATOR_CONTROL;
    return control[1] <= control[2] ? NULL : "its least control is above its largest control";
}

static const tali_force_param params[] = {{"time", TALI_POSITIVE},
                                          {"gain", TALI_FINITE},
                                          {"control", TALI_FINITE},
                                          {"least control", TALI_LIMIT},
                                          {"largest control", TALI_LIMIT}};

static const tali_force_kind activation_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "activation actuator",
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare,
            .realize_acceleration = write_rate,
            .add_rate_change = add_rate_change,
            .destroy = tali_force_element_destroy},
    .params = params,
    .num_params = 5,
    .control = TAL_ACTIVATION_ACTUATOR_CONTROL,
    .check = check,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_activation_actuator(tal_forces *forces, const char *name,
                                                tal_mobility mobility, double gain, double time,
                                                tal_measure_ix control)
{
    if (!tali_force_element_has_mobility(forces, name, &activation_kind, mobility, tal_body_nu) ||
        !tali_force_element_can_drive(forces, name, &activation_kind, control)) {
        return (tal_force_ix){-1};
    }
    activation_actuator like = {.at = mobility, .control = control};
    const double initial[] = {time, gain, 0.0, (double)-INFINITY, (double)INFINITY};
    return tali_force_element_add(forces, name, &activation_kind, &like, sizeof like, initial);
}
