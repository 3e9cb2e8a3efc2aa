// What pulls along a path: springs, ligaments, actuators.
#include "cache_internal.h"

#include "core/element_internal.h"

#include <talus/forces/path_force.h>

#include <math.h>

typedef struct path_force path_force;

// Slopes of a tension by the length and speed of its path, and by its z.
typedef struct slopes {
    double l, ldot, z;
} slopes;

struct path_force {
    tali_force_element base;
    tal_path_ix path;
    tal_measure_ix control; // `i` < 0: a parameter
    tal_function *curve;    // owned; of a ligament
    tal_group_ix stretch;   // of a clutched spring
    tal_status (*calc_tension)(const path_force *it, const tal_force_context *context, double *t);
    tal_status (*calc_slopes)(const path_force *it, const tal_force_context *context, slopes *by);
};

// --- what all do ---

static tal_status length_of(const path_force *it, const tal_force_context *context, double *length)
{
    *length = tal_path_length(it->base.forces, context->state, it->path);
    return isnan(*length) ? tal_state_error(context->state)->status : TAL_OK;
}

static tal_status speed_of(const path_force *it, const tal_force_context *context, double *speed)
{
    *speed = tal_path_speed(it->base.forces, context->state, it->path);
    return isnan(*speed) ? tal_state_error(context->state)->status : TAL_OK;
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    const path_force *it = self;
    double tension = 0.0;
    const tal_status st = it->calc_tension(it, context, &tension);
    if (st != TAL_OK || tension == 0.0) return st;
    return tal_path_apply_tension(it->base.forces, context->state, it->path, tension, F, f);
}

// How much the z of a clutched spring changes.
static double dz_of(const path_force *it, const tal_force_context *context,
                    const tal_force_change *change)
{
    if (change->dz == NULL || it->stretch.i < 0) return 0.0;
    return change->dz[tal_group_start(context->system, context->state, it->stretch)];
}

static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    const path_force *it = self;
    const tal_forces *forces = it->base.forces;
    const size_t mark = tal_state_scratch_mark(context->state);
    tali_path_change by;
    slopes slope = {0.0, 0.0, 0.0};
    double t = 0.0;
    tal_status st = tali_path_calc_change(forces, context, it->path.i, change, &by);
    if (st == TAL_OK) st = it->calc_tension(it, context, &t);
    if (st == TAL_OK) st = it->calc_slopes(it, context, &slope);
    if (st == TAL_OK) {
        const double dt =
            slope.l * by.l + slope.ldot * by.ldot + slope.z * dz_of(it, context, change);
        tali_path_add_change(forces, context->state, &by, t, dt, dF, df);
    }
    tal_state_scratch_release(context->state, mark);
    return st;
}

// An element knows its change where its path does and its control is only set. Topology.
static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    const path_force *it = self;
    tal_force_ops *ops = &forces->elements[me.i].ops;
    const bool knows_path = forces->paths.items[it->path.i].knows_change;
    if (!knows_path || tali_force_element_is_driven(forces, me, it->control)) {
        ops->apply_change = NULL;
        ops->add_rate_change = NULL;
    }
    return tali_force_element_declare(self, forces, me);
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const path_force *it = self;
    facts->path = it->path;
    facts->measure = it->control;
    facts->function = it->curve;
}

// Whether there is such a path. False after the failure has been reported. `forces` may be NULL.
static bool has_path(tal_forces *forces, const char *name, const tali_force_kind *kind,
                     tal_path_ix path)
{
    if (forces == NULL) return true; // tali_force_element_add() tells
    const int num = tal_forces_num_paths(forces);
    if (path.i >= 0 && path.i < num) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                          "%s '%s': there is no path %d: there are %d", kind->ops.name,
                          name != NULL ? name : "(no name)", path.i, num);
    return false;
}

// --- spring ---

enum {
    STIFFNESS = TAL_PATH_SPRING_STIFFNESS,
    REST_LENGTH = TAL_PATH_SPRING_REST_LENGTH,
    DISSIPATION = TAL_PATH_SPRING_DISSIPATION
};

static tal_status calc_stretch(const path_force *it, const tal_force_context *context,
                               double *stretch)
{
    const double *values = tali_force_element_values(&it->base, context);
    double length = 0.0;
    const tal_status st = length_of(it, context, &length);
    *stretch = fmax(length - values[REST_LENGTH], 0.0);
    return st;
}

static tal_status tension_of_spring(const path_force *it, const tal_force_context *context,
                                    double *t)
{
    const double *values = tali_force_element_values(&it->base, context);
    double e = 0.0, v = 0.0;
    tal_status st = calc_stretch(it, context, &e);
    if (st == TAL_OK && e > 0.0) st = speed_of(it, context, &v);
    *t = values[STIFFNESS] * e * fmax(1.0 + values[DISSIPATION] * v, 0.0);
    return st;
}

static tal_status slopes_of_spring(const path_force *it, const tal_force_context *context,
                                   slopes *by)
{
    const double *values = tali_force_element_values(&it->base, context);
    double e = 0.0, v = 0.0;
    tal_status st = calc_stretch(it, context, &e);
    if (st == TAL_OK) st = speed_of(it, context, &v);
    const double rate = 1.0 + values[DISSIPATION] * v;
    if (!(e > 0.0) || !(rate > 0.0)) return st;
    *by = (slopes){.l = values[STIFFNESS] * rate,
                   .ldot = values[STIFFNESS] * e * values[DISSIPATION]};
    return st;
}

static tal_status energy_of_spring(const void *self, const tal_force_context *context,
                                   double *energy)
{
    const path_force *it = self;
    double e = 0.0;
    const tal_status st = calc_stretch(it, context, &e);
    *energy = 0.5 * tali_force_element_values(&it->base, context)[STIFFNESS] * e * e;
    return st;
}

static tal_status power_of_spring(const void *self, const tal_force_context *context, double *power)
{
    const path_force *it = self;
    double e = 0.0, v = 0.0, t = 0.0;
    tal_status st = calc_stretch(it, context, &e);
    if (st == TAL_OK) st = speed_of(it, context, &v);
    if (st == TAL_OK) st = tension_of_spring(it, context, &t);
    *power = (t - tali_force_element_values(&it->base, context)[STIFFNESS] * e) * v;
    return st;
}

static const tali_force_param spring_params[] = {{"stiffness", TALI_NOT_NEGATIVE},
                                                 {"rest length", TALI_NOT_NEGATIVE},
                                                 {"dissipation", TALI_NOT_NEGATIVE}};

static const tali_force_kind spring_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "path spring",
            .is_concurrent = true,
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare,
            .calc_potential_energy = energy_of_spring,
            .calc_dissipated_power = power_of_spring,
            .destroy = tali_force_element_destroy},
    .params = spring_params,
    .num_params = 3,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_path_spring(tal_forces *forces, const char *name, tal_path_ix path,
                                        double stiffness, double rest_length, double dissipation)
{
    if (!has_path(forces, name, &spring_kind, path)) return (tal_force_ix){-1};
    path_force like = {.path = path,
                       .control = {-1},
                       .stretch = {-1},
                       .calc_tension = tension_of_spring,
                       .calc_slopes = slopes_of_spring};
    const double params[] = {stiffness, rest_length, dissipation};
    return tali_force_element_add(forces, name, &spring_kind, &like, sizeof like, params);
}

// --- ligament ---

static tal_status tension_of_ligament(const path_force *it, const tal_force_context *context,
                                      double *t)
{
    const double *values = tali_force_element_values(&it->base, context);
    double length = 0.0;
    const tal_status st = length_of(it, context, &length);
    const double x = length / values[TAL_LIGAMENT_REST_LENGTH];
    *t = 0.0;
    if (st != TAL_OK || !(x > 1.0)) return st;
    *t = values[TAL_LIGAMENT_FORCE] * tal_function_calc_value_1(it->curve, x);
    return isfinite(*t) ? TAL_OK : TAL_ERR_NOT_FINITE;
}

static tal_status slopes_of_ligament(const path_force *it, const tal_force_context *context,
                                     slopes *by)
{
    const double *values = tali_force_element_values(&it->base, context);
    const double rest = values[TAL_LIGAMENT_REST_LENGTH];
    double length = 0.0;
    const tal_status st = length_of(it, context, &length);
    if (st != TAL_OK || !(length > rest)) return st;
    const double slope = tal_function_calc_derivative_1(it->curve, length / rest, 1);
    by->l = values[TAL_LIGAMENT_FORCE] * slope / rest;
    return TAL_OK;
}

// f l0 times the integral of the curve from 1 to l / l0.
static tal_status energy_of_ligament(const void *self, const tal_force_context *context,
                                     double *energy)
{
    const path_force *it = self;
    const double *values = tali_force_element_values(&it->base, context);
    const double force = values[TAL_LIGAMENT_FORCE], rest = values[TAL_LIGAMENT_REST_LENGTH];
    double length = 0.0;
    const tal_status st = length_of(it, context, &length);
    const double area = tal_function_calc_integral_1(it->curve, 1.0, fmax(length / rest, 1.0));
    *energy = force * rest * area;
    return st;
}

static void release_curve(void *self)
{
    path_force *it = self;
    tal_function_destroy(it->curve);
}

static const tali_force_param ligament_params[] = {{"force", TALI_NOT_NEGATIVE},
                                                   {"rest length", TALI_POSITIVE}};

static const tali_force_kind ligament_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "ligament",
            .needs = TAL_FORCE_NEEDS_Q,
            .is_concurrent = true,
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare,
            .calc_potential_energy = energy_of_ligament,
            .destroy = tali_force_element_destroy},
    .params = ligament_params,
    .num_params = 2,
    .release = release_curve,
    .fill_facts = fill_facts,
};

static bool is_curve(tal_forces *forces, const char *name, const tal_function *curve)
{
    if (tal_function_num_args(curve) == 1 && tal_function_max_order(curve) >= 1) return true;
    if (forces == NULL) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                          "ligament '%s': its curve must be a function of one argument with a "
                          "derivative: it has %d arguments and %d derivatives",
                          name != NULL ? name : "(no name)", tal_function_num_args(curve),
                          tal_function_max_order(curve));
    return false;
}

// The curve of SIMM and OpenSim: it begins slowly. Its last points, from 1.6 on, are 2; the spline
// between the points before passes 2 by 0.003.
static tal_function *create_usual_curve(const tal_forces *forces)
{
    static const double x[] = {-5.0, 0.998, 0.999, 1.0,   1.1,   1.2, 1.3,
                               1.4,  1.5,   1.6,   1.601, 1.602, 5.0};
    static const double y[] = {0.0,  0.0,  0.0, 0.0, 0.035, 0.12, 0.26,
                               0.55, 1.17, 2.0, 2.0, 2.0,   2.0};
    tal_function *curve = NULL;
    tal_error err;
    const tal_status st = tal_function_create_spline(
        &forces->allocator, x, y, (int)(sizeof x / sizeof *x), TAL_SPLINE_SIMM, &curve, &err);
    if (st != TAL_OK) (void)tal_system_fail(forces->system, st, "%s", err.message);
    return curve;
}

tal_force_ix tal_forces_add_ligament(tal_forces *forces, const char *name, tal_path_ix path,
                                     double force, double rest_length, tal_function *curve)
{
    const tal_force_ix none = {-1};
    if (curve == NULL && forces != NULL) {
        curve = create_usual_curve(forces);
        if (curve == NULL) return none;
    }
    if (!tali_force_element_given(forces, name, &ligament_kind, curve, "curve")) return none;
    if (!has_path(forces, name, &ligament_kind, path) || !is_curve(forces, name, curve)) {
        tal_function_destroy(curve);
        return none;
    }
    path_force like = {.path = path,
                       .control = {-1},
                       .curve = curve,
                       .stretch = {-1},
                       .calc_tension = tension_of_ligament,
                       .calc_slopes = slopes_of_ligament};
    const double params[] = {force, rest_length};
    return tali_force_element_add(forces, name, &ligament_kind, &like, sizeof like, params);
}

// --- actuator ---

static tal_status calc_control(const path_force *it, const tal_force_context *context,
                               double *control)
{
    return tali_force_element_control(&it->base, context, it->control, control);
}

// Least and largest control stand behind the control.
static const char *check_range(const double control[3])
{
    return control[1] <= control[2] ? NULL : "its least control is above its largest control";
}

#define CONTROL_PARAMS                                                                             \
    {"control", TALI_FINITE}, {"least control", TALI_LIMIT},                                       \
    {                                                                                              \
        "largest control", TALI_LIMIT                                                              \
    }

static tal_status tension_of_actuator(const path_force *it, const tal_force_context *context,
                                      double *t)
{
    double control = 0.0;
    const tal_status st = calc_control(it, context, &control);
    *t = tali_force_element_values(&it->base, context)[TAL_PATH_ACTUATOR_GAIN] * control;
    return st;
}

// Its control is only set: see declare().
static tal_status slopes_of_actuator(const path_force *it, const tal_force_context *context,
                                     slopes *by)
{
    (void)it, (void)context, (void)by;
    return TAL_OK;
}

static const char *check_actuator(const double params[])
{
    return check_range(params + TAL_PATH_ACTUATOR_CONTROL);
}

static const tali_force_param actuator_params[] = {{"gain", TALI_FINITE}, CONTROL_PARAMS};

static const tali_force_kind actuator_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "path actuator",
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare,
            .destroy = tali_force_element_destroy},
    .params = actuator_params,
    .num_params = 4,
    .control = TAL_PATH_ACTUATOR_CONTROL,
    .check = check_actuator,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_path_actuator(tal_forces *forces, const char *name, tal_path_ix path,
                                          double gain, tal_measure_ix control)
{
    if (!has_path(forces, name, &actuator_kind, path) ||
        !tali_force_element_can_drive(forces, name, &actuator_kind, control)) {
        return (tal_force_ix){-1};
    }
    path_force like = {.path = path,
                       .control = control,
                       .stretch = {-1},
                       .calc_tension = tension_of_actuator,
                       .calc_slopes = slopes_of_actuator};
    const double params[] = {gain, 0.0, (double)-INFINITY, (double)INFINITY};
    return tali_force_element_add(forces, name, &actuator_kind, &like, sizeof like, params);
}

// --- clutched spring ---

static tal_status declare_clutched(void *self, tal_forces *forces, tal_force_ix me)
{
    path_force *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "stretch";
    def.capacity = 1;
    it->stretch = tal_force_add_group(forces, me, &def);
    return declare(self, forces, me);
}

static double stretch_of(const path_force *it, const tal_force_context *context)
{
    return *tali_cache_group_y(context->system, context->state, it->stretch);
}

static tal_status tension_of_clutched(const path_force *it, const tal_force_context *context,
                                      double *t)
{
    const double *values = tali_force_element_values(&it->base, context);
    double control = 0.0, v = 0.0;
    tal_status st = calc_control(it, context, &control);
    if (st == TAL_OK) st = speed_of(it, context, &v);
    const double rate = 1.0 + values[TAL_CLUTCHED_SPRING_DISSIPATION] * v;
    *t =
        fmax(control * values[TAL_CLUTCHED_SPRING_STIFFNESS] * stretch_of(it, context) * rate, 0.0);
    return st;
}

// With the tension u k z (1 + c v), while it is positive.
static tal_status slopes_of_clutched(const path_force *it, const tal_force_context *context,
                                     slopes *by)
{
    const double *values = tali_force_element_values(&it->base, context);
    double control = 0.0, v = 0.0;
    tal_status st = calc_control(it, context, &control);
    if (st == TAL_OK) st = speed_of(it, context, &v);
    const double c = values[TAL_CLUTCHED_SPRING_DISSIPATION], rate = 1.0 + c * v;
    const double k = control * values[TAL_CLUTCHED_SPRING_STIFFNESS];
    const double z = stretch_of(it, context);
    if (!(k * z * rate > 0.0)) return st;
    *by = (slopes){.ldot = k * z * c, .z = k * rate};
    return st;
}

static tal_status write_stretch_rate(const void *self, const tal_force_context *context)
{
    const path_force *it = self;
    double control = 0.0, v = 0.0;
    tal_status st = calc_control(it, context, &control);
    if (st == TAL_OK) st = speed_of(it, context, &v);
    const double tau = tali_force_element_values(&it->base, context)[TAL_CLUTCHED_SPRING_TIME];
    double *rate = tal_group_upd_dot(context->system, context->state, it->stretch);
    *rate = control > 0.0 ? v : -stretch_of(it, context) / tau;
    return st;
}

static tal_status add_stretch_rate_change(const void *self, const tal_force_context *context,
                                          const tal_force_change *change, double dzdot[])
{
    const path_force *it = self;
    const size_t mark = tal_state_scratch_mark(context->state);
    const double tau = tali_force_element_values(&it->base, context)[TAL_CLUTCHED_SPRING_TIME];
    double control = 0.0;
    tali_path_change by;
    tal_status st = calc_control(it, context, &control);
    if (st == TAL_OK) {
        st = tali_path_calc_change(it->base.forces, context, it->path.i, change, &by);
    }
    if (st == TAL_OK) {
        const int slot = tal_group_start(context->system, context->state, it->stretch);
        dzdot[slot] += control > 0.0 ? by.ldot : -dz_of(it, context, change) / tau;
    }
    tal_state_scratch_release(context->state, mark);
    return st;
}

static const tali_force_param clutched_params[] = {{"stiffness", TALI_NOT_NEGATIVE},
                                                   {"dissipation", TALI_NOT_NEGATIVE},
                                                   {"time", TALI_POSITIVE},
                                                   CONTROL_PARAMS};

static const char *check_clutched(const double params[])
{
    const double *control = params + TAL_CLUTCHED_SPRING_CONTROL;
    if (control[1] < 0.0 || control[2] > 1.0) return "its control has a range outside 0 to 1";
    return check_range(control);
}

static const tali_force_kind clutched_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "clutched spring",
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare_clutched,
            .realize_acceleration = write_stretch_rate,
            .add_rate_change = add_stretch_rate_change,
            .destroy = tali_force_element_destroy},
    .params = clutched_params,
    .num_params = 6,
    .control = TAL_CLUTCHED_SPRING_CONTROL,
    .check = check_clutched,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_clutched_spring(tal_forces *forces, const char *name, tal_path_ix path,
                                            double stiffness, double dissipation, double time,
                                            tal_measure_ix control)
{
    if (!has_path(forces, name, &clutched_kind, path) ||
        !tali_force_element_can_drive(forces, name, &clutched_kind, control)) {
        return (tal_force_ix){-1};
    }
    path_force like = {.path = path,
                       .control = control,
                       .stretch = {-1},
                       .calc_tension = tension_of_clutched,
                       .calc_slopes = slopes_of_clutched};
    const double params[] = {stiffness, dissipation, time, 0.0, 0.0, 1.0};
    return tali_force_element_add(forces, name, &clutched_kind, &like, sizeof like, params);
}

// --- ligament with a toe ---

// Where damping has grown to its full value, as a strain: that of OpenSim.
static const double full_damping = 0.01;

static tal_status strain_of(const path_force *it, const tal_force_context *context, double *strain)
{
    double length = 0.0;
    const tal_status st = length_of(it, context, &length);
    *strain =
        length / tali_force_element_values(&it->base, context)[TAL_BLANKEVOORT_SLACK_LENGTH] - 1.0;
    return st;
}

// k e^2 / (2 e1) up to the strain e1, and a line with the slope k from there on.
static double elastic_tension(const double values[], double e)
{
    const double k = values[TAL_BLANKEVOORT_STIFFNESS], e1 = values[TAL_BLANKEVOORT_TRANSITION];
    if (!(e > 0.0)) return 0.0;
    return e < e1 ? 0.5 * k * e * e / e1 : k * (e - 0.5 * e1);
}

// A quintic step from 0 to 1, and its slope, as the strain grows to `full_damping`.
static double damping_share(double e, double *slope)
{
    const double t = fmin(fmax(e / full_damping, 0.0), 1.0);
    *slope = 30.0 * t * t * (1.0 - t) * (1.0 - t) / full_damping;
    return t * t * t * (10.0 + t * (6.0 * t - 15.0));
}

// What lengthening adds: c edot s(e).
static double viscous_tension(const double values[], double e, double v)
{
    double slope = 0.0;
    if (!(e > 0.0) || !(v > 0.0)) return 0.0;
    const double rate = v / values[TAL_BLANKEVOORT_SLACK_LENGTH];
    return values[TAL_BLANKEVOORT_DAMPING] * rate * damping_share(e, &slope);
}

static tal_status tension_of_blankevoort(const path_force *it, const tal_force_context *context,
                                         double *t)
{
    const double *values = tali_force_element_values(&it->base, context);
    double e = 0.0, v = 0.0;
    tal_status st = strain_of(it, context, &e);
    if (st == TAL_OK && e > 0.0) st = speed_of(it, context, &v);
    *t = elastic_tension(values, e) + viscous_tension(values, e, v);
    return st;
}

static tal_status slopes_of_blankevoort(const path_force *it, const tal_force_context *context,
                                        slopes *by)
{
    const double *values = tali_force_element_values(&it->base, context);
    const double k = values[TAL_BLANKEVOORT_STIFFNESS], e1 = values[TAL_BLANKEVOORT_TRANSITION];
    const double l0 = values[TAL_BLANKEVOORT_SLACK_LENGTH], c = values[TAL_BLANKEVOORT_DAMPING];
    double e = 0.0, v = 0.0, slope = 0.0;
    tal_status st = strain_of(it, context, &e);
    if (st == TAL_OK) st = speed_of(it, context, &v);
    if (!(e > 0.0)) return st;
    const double share = damping_share(e, &slope), rate = fmax(v, 0.0) / l0;
    *by = (slopes){.l = ((e < e1 ? k * e / e1 : k) + c * rate * slope) / l0,
                   .ldot = v > 0.0 ? c * share / l0 : 0.0};
    return st;
}

// l0 times the integral of the tension over the strain.
static tal_status energy_of_blankevoort(const void *self, const tal_force_context *context,
                                        double *energy)
{
    const path_force *it = self;
    const double *values = tali_force_element_values(&it->base, context);
    const double k = values[TAL_BLANKEVOORT_STIFFNESS], e1 = values[TAL_BLANKEVOORT_TRANSITION];
    double e = 0.0;
    const tal_status st = strain_of(it, context, &e);
    const double line = 0.5 * e * (e - e1) + e1 * e1 / 6.0;
    const double area = !(e > 0.0) ? 0.0 : e < e1 ? e * e * e / (6.0 * e1) : line;
    *energy = k * values[TAL_BLANKEVOORT_SLACK_LENGTH] * area;
    return st;
}

static tal_status power_of_blankevoort(const void *self, const tal_force_context *context,
                                       double *power)
{
    const path_force *it = self;
    double e = 0.0, v = 0.0;
    tal_status st = strain_of(it, context, &e);
    if (st == TAL_OK) st = speed_of(it, context, &v);
    *power = v * viscous_tension(tali_force_element_values(&it->base, context), e, v);
    return st;
}

static const tali_force_param blankevoort_params[] = {{"stiffness", TALI_NOT_NEGATIVE},
                                                      {"slack length", TALI_POSITIVE},
                                                      {"transition strain", TALI_NOT_NEGATIVE},
                                                      {"damping", TALI_NOT_NEGATIVE}};

static const tali_force_kind blankevoort_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "blankevoort ligament",
            .is_concurrent = true,
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare,
            .calc_potential_energy = energy_of_blankevoort,
            .calc_dissipated_power = power_of_blankevoort,
            .destroy = tali_force_element_destroy},
    .params = blankevoort_params,
    .num_params = 4,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_blankevoort_ligament(tal_forces *forces, const char *name,
                                                 tal_path_ix path, const tal_blankevoort *ligament)
{
    if (!tali_force_element_given(forces, name, &blankevoort_kind, ligament, "ligament") ||
        !has_path(forces, name, &blankevoort_kind, path)) {
        return (tal_force_ix){-1};
    }
    path_force like = {.path = path,
                       .control = {-1},
                       .stretch = {-1},
                       .calc_tension = tension_of_blankevoort,
                       .calc_slopes = slopes_of_blankevoort};
    const double params[] = {ligament->stiffness, ligament->slack_length, ligament->transition,
                             ligament->damping};
    return tali_force_element_add(forces, name, &blankevoort_kind, &like, sizeof like, params);
}

// --- pneumatic actuator ---

// A tube in a braid of threads of length b with n turns shortens under the pressure p:
// t = p (3 l^2 - b^2) / (4 pi n^2), where l is the length of the path less the cord.
static tal_status reach_of_tube(const path_force *it, const tal_force_context *context,
                                double *length, double *per_area)
{
    static const double pi = 3.14159265358979323846;
    const double *values = tali_force_element_values(&it->base, context);
    const double turns = values[TAL_PNEUMATIC_TURNS];
    double control = 0.0;
    tal_status st = calc_control(it, context, &control);
    if (st == TAL_OK) st = length_of(it, context, length);
    *length -= values[TAL_PNEUMATIC_CORD_LENGTH];
    *per_area = control / (4.0 * pi * turns * turns);
    return st;
}

static tal_status tension_of_pneumatic(const path_force *it, const tal_force_context *context,
                                       double *t)
{
    const double b = tali_force_element_values(&it->base, context)[TAL_PNEUMATIC_THREAD_LENGTH];
    double l = 0.0, per_area = 0.0;
    const tal_status st = reach_of_tube(it, context, &l, &per_area);
    *t = per_area * (3.0 * l * l - b * b);
    return st;
}

static tal_status slopes_of_pneumatic(const path_force *it, const tal_force_context *context,
                                      slopes *by)
{
    double l = 0.0, per_area = 0.0;
    const tal_status st = reach_of_tube(it, context, &l, &per_area);
    by->l = 6.0 * per_area * l;
    return st;
}

static const char *check_pneumatic(const double params[])
{
    return check_range(params + TAL_PNEUMATIC_CONTROL);
}

static const tali_force_param pneumatic_params[] = {{"turns", TALI_POSITIVE},
                                                    {"thread length", TALI_POSITIVE},
                                                    {"cord length", TALI_NOT_NEGATIVE},
                                                    CONTROL_PARAMS};

static const tali_force_kind pneumatic_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "pneumatic actuator",
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare,
            .destroy = tali_force_element_destroy},
    .params = pneumatic_params,
    .num_params = 6,
    .control = TAL_PNEUMATIC_CONTROL,
    .check = check_pneumatic,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_pneumatic_actuator(tal_forces *forces, const char *name,
                                               tal_path_ix path, const tal_pneumatic *tube,
                                               tal_measure_ix control)
{
    if (!tali_force_element_given(forces, name, &pneumatic_kind, tube, "tube") ||
        !has_path(forces, name, &pneumatic_kind, path) ||
        !tali_force_element_can_drive(forces, name, &pneumatic_kind, control)) {
        return (tal_force_ix){-1};
    }
    path_force like = {.path = path,
                       .control = control,
                       .stretch = {-1},
                       .calc_tension = tension_of_pneumatic,
                       .calc_slopes = slopes_of_pneumatic};
    const double params[] = {tube->turns, tube->thread_length, tube->cord_length,
                             0.0,         (double)-INFINITY,   (double)INFINITY};
    return tali_force_element_add(forces, name, &pneumatic_kind, &like, sizeof like, params);
}

// --- asking ---

// The element, if it is one of these; NULL otherwise.
static const path_force *path_force_of(const tali_force *element)
{
    if (element == NULL || element->ops.destroy != tali_force_element_destroy) return NULL;
    const tali_force_element *it = element->self;
    return it->kind->fill_facts == fill_facts ? element->self : NULL;
}

tal_path_ix tal_path_force_path(const tal_forces *forces, tal_force_ix force)
{
    const path_force *it = path_force_of(tali_force_at(forces, force, __func__));
    return it != NULL ? it->path : (tal_path_ix){-1};
}

double tal_path_force_tension(const tal_forces *forces, tal_state *state, tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    const path_force *it = path_force_of(element);
    if (it == NULL) {
        if (element == NULL) return TALI_NAN;
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "force '%s' is of kind '%s': it has no path",
                          element->name, element->ops.name);
        return TALI_NAN;
    }
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        (void)TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at %s",
                          tal_stage_name(tal_state_stage(state)),
                          tal_stage_name(TAL_STAGE_VELOCITY));
        return TALI_NAN;
    }
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    double tension = TALI_NAN;
    const tal_status st = it->calc_tension(it, &context, &tension);
    return tali_force_explain(state, element, st) == TAL_OK ? tension : TALI_NAN;
}
