// The controllers that are built in: functions of time, measures, reflexes, feedback.
#include "control_facts_internal.h"

#include "control/control_internal.h"
#include "core/element_internal.h"
#include "muscle/muscle_internal.h"

#include <math.h>
#include <string.h>

// What all kinds are made of; fields that a kind does not have are zero.
typedef struct builtin {
    tal_allocator allocator;
    const tal_forces *forces;
    tali_controller_facts facts;
    tal_force_ix muscle;       // of a reflex
    tal_function *functions[]; // owned
} builtin;

// Functions that may be listed twice, once each.
static void destroy_functions(tal_function *const functions[], int n)
{
    for (int i = 0; i < n; ++i) {
        bool is_repeated = false;
        for (int k = 0; k < i; ++k) {
            is_repeated = is_repeated || functions[k] == functions[i];
        }
        if (!is_repeated) tal_function_destroy(functions[i]);
    }
}

static void destroy(void *self)
{
    builtin *it = self;
    const tal_allocator allocator = it->allocator;
    destroy_functions(it->functions, it->facts.num_functions);
    const size_t bytes = sizeof *it + (size_t)it->facts.num_functions * sizeof(tal_function *);
    tali_free(&allocator, it, bytes);
}

// A controller with room for functions, which it owns from then on. NULL after the failure has been
// told; the functions are destroyed then.
static builtin *create(tal_forces *forces, const char *name, const char *kind,
                       tal_function *const functions[], int n)
{
    builtin *it = NULL;
    const size_t bytes = sizeof *it + (size_t)n * sizeof(tal_function *);
    if (forces == NULL) {
        (void)tali_breach(TAL_ERR_NULL, kind, "forces is NULL");
    } else {
        it = tali_alloc(&forces->allocator, bytes);
    }
    if (it == NULL) {
        destroy_functions(functions, n);
        if (forces == NULL) return NULL;
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for %s '%s'", kind,
                              name != NULL ? name : "(no name)");
        return NULL;
    }
    it->allocator = forces->allocator;
    it->forces = forces;
    it->facts.measure.i = -1;
    it->facts.functions = it->functions;
    it->facts.num_functions = n;
    for (int i = 0; i < n; ++i) {
        it->functions[i] = functions[i];
    }
    return it;
}

// Refuse what was created, with a sentence for the System.
static tal_controller_ix refuse(tal_forces *forces, const char *name, builtin *it, const char *why)
{
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE, "controller '%s': %s",
                          name != NULL ? name : "(no name)", why);
    destroy(it);
    return (tal_controller_ix){-1};
}

// --- functions of time ---

static tal_status calc_function(const void *self, const tal_force_context *context, int which,
                                double *control)
{
    const builtin *it = self;
    *control = tal_function_calc_value_1(it->functions[which], tal_state_t(context->state));
    return TAL_OK;
}

static const tal_controller_ops function_ops = {.size = sizeof function_ops,
                                                .name = "function controller",
                                                .calc_control = calc_function,
                                                .destroy = destroy};

tal_controller_ix tal_forces_add_function_controller(tal_forces *forces, const char *name,
                                                     const tal_force_ix actuators[],
                                                     tal_function *const functions[], int n)
{
    const int count = functions != NULL && n > 0 ? n : 0;
    builtin *it = create(forces, name, function_ops.name, functions, count);
    if (it == NULL) return (tal_controller_ix){-1};
    for (int i = 0; i < count; ++i) {
        if (functions[i] == NULL || tal_function_num_args(functions[i]) != 1) {
            return refuse(forces, name, it,
                          "a function is NULL or does not have exactly one argument: time");
        }
    }
    if (count == 0) return refuse(forces, name, it, "it has no functions");
    return tal_forces_add_controller(forces, name, actuators, n, &function_ops, it);
}

// --- tables ---

// The nodes of one column of a table of n columns.
static tal_status create_nodes(const tal_allocator *allocator, const double times[],
                               const double values[], int count, int n, tal_nodes kind,
                               tal_function **out, tal_error *err)
{
    const size_t bytes = (size_t)count * sizeof *values;
    double *column = tali_alloc(allocator, bytes);
    if (column == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory");
    for (int i = 0; i < count; ++i) {
        column[i] = values[(size_t)i * (size_t)n];
    }
    const tal_status st =
        tal_function_create_nodes(allocator, times, column, count, kind, out, err);
    tali_free(allocator, column, bytes);
    return st;
}

static tal_controller_ix refuse_table(tal_forces *forces, const char *name, tal_status st,
                                      const char *why)
{
    (void)tal_system_fail(forces->system, st, "controller '%s': %s",
                          name != NULL ? name : "(no name)", why);
    return (tal_controller_ix){-1};
}

tal_controller_ix tal_forces_add_table_controller(tal_forces *forces, const char *name,
                                                  const tal_force_ix actuators[], int n,
                                                  const double times[], const double values[],
                                                  int count, tal_nodes kind)
{
    if (forces == NULL || actuators == NULL || times == NULL || values == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
        if (forces != NULL) tali_system_keep_breach(forces->system);
        return (tal_controller_ix){-1};
    }
    if (n < 1 || count < 1) {
        return refuse_table(forces, name, TAL_ERR_BAD_VALUE,
                            "its table needs one row or more, and one column or more");
    }
    const size_t bytes = (size_t)n * sizeof(tal_function *);
    tal_function **columns = tali_alloc(&forces->allocator, bytes);
    if (columns == NULL) return refuse_table(forces, name, TAL_ERR_NO_MEMORY, "no memory");
    tal_error why = {TAL_OK, "", ""};
    tal_status st = TAL_OK;
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        st = create_nodes(&forces->allocator, times, values + i, count, n, kind, &columns[i], &why);
    }
    tal_controller_ix added = {-1};
    if (st == TAL_OK) {
        added = tal_forces_add_function_controller(forces, name, actuators, columns, n);
    } else {
        destroy_functions(columns, n);
        (void)refuse_table(forces, name, st, why.message);
    }
    tali_free(&forces->allocator, (void *)columns, bytes);
    return added;
}

// --- measures ---

static tal_status calc_measure(const void *self, const tal_force_context *context, int which,
                               double *control)
{
    (void)which;
    const builtin *it = self;
    const double value = tal_measure_value(context->system, context->state, it->facts.measure);
    const tal_status st = tal_state_error(context->state)->status;
    if (isnan(value)) return st != TAL_OK ? st : TAL_ERR_NOT_FINITE;
    *control = it->facts.gain * value;
    return TAL_OK;
}

static const tal_controller_ops measure_ops = {.size = sizeof measure_ops,
                                               .name = "measure controller",
                                               .calc_control = calc_measure,
                                               .destroy = destroy};

tal_controller_ix tal_forces_add_measure_controller(tal_forces *forces, const char *name,
                                                    tal_force_ix actuator, double gain,
                                                    tal_measure_ix measure)
{
    builtin *it = create(forces, name, measure_ops.name, NULL, 0);
    if (it == NULL) return (tal_controller_ix){-1};
    const tal_system *system = forces->system;
    if (measure.i < 0 || measure.i >= tal_system_num_measures(system)) {
        return refuse(forces, name, it, "there is no such measure");
    }
    if (tal_measure_size(system, measure) != 1 ||
        tal_measure_stage(system, measure, 0) > TAL_STAGE_VELOCITY) {
        return refuse(forces, name, it, "its measure must have one value, at Velocity or before");
    }
    if (!isfinite(gain)) return refuse(forces, name, it, "its gain is not finite");
    it->facts.gain = gain;
    it->facts.measure = measure;
    return tal_forces_add_controller(forces, name, &actuator, 1, &measure_ops, it);
}

// --- reflexes ---

static tal_status calc_reflex(const void *self, const tal_force_context *context, int which,
                              double *control)
{
    (void)which;
    const builtin *it = self;
    const tali_muscle *muscle = tali_muscle_at(it->forces, it->muscle, __func__);
    const double speed = tal_path_speed(it->forces, context->state, muscle->path);
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(muscle, context);
    *control = it->facts.gain * fmax(speed, 0.0) / sizes->vmax;
    return TAL_OK;
}

static const tal_controller_ops reflex_ops = {
    .size = sizeof reflex_ops, .name = "reflex", .calc_control = calc_reflex, .destroy = destroy};

tal_controller_ix tal_forces_add_reflex(tal_forces *forces, const char *name, tal_force_ix muscle,
                                        double gain)
{
    builtin *it = create(forces, name, reflex_ops.name, NULL, 0);
    if (it == NULL) return (tal_controller_ix){-1};
    if (!tal_force_is_muscle(forces, muscle)) {
        return refuse(forces, name, it, "a reflex needs a muscle");
    }
    if (!isfinite(gain)) return refuse(forces, name, it, "its gain is not finite");
    it->facts.gain = gain;
    it->muscle = muscle;
    return tal_forces_add_controller(forces, name, &muscle, 1, &reflex_ops, it);
}

// --- feedback ---

// kp (target - q) + kd (target' - qdot); a coordinate that is part of a quaternion is refused.
static tal_status calc_feedback(const void *self, const tal_force_context *context, int which,
                                double *control)
{
    (void)which;
    const builtin *it = self;
    const tal_mobility at = it->facts.mobility;
    const int nq = tal_body_nq(context->matter, context->state, at.body);
    const bool has_quaternion = nq != tal_body_nq_angles(context->matter, at.body);
    if (has_quaternion && at.i < 3) {
        return tal_state_fail(context->state, TAL_ERR_BAD_VALUE,
                              "feedback on coordinate %d of body '%s': it is part of a quaternion "
                              "in this State: use angles",
                              at.i, tal_body_name(context->matter, at.body));
    }
    const int slot = tal_body_q_start(context->matter, context->state, at.body) + at.i +
                     (has_quaternion ? 1 : 0);
    const double q = tal_state_q(context->state)[slot];
    const double qdot = tal_state_qdot(context->state)[slot];
    double target = 0.0, rate = 0.0;
    if (it->facts.num_functions > 0) {
        const double t = tal_state_t(context->state);
        target = tal_function_calc_value_1(it->functions[0], t);
        rate = tal_function_calc_derivative_1(it->functions[0], t, 1);
    }
    *control = it->facts.stiffness * (target - q) + it->facts.damping * (rate - qdot);
    return TAL_OK;
}

static const tal_controller_ops feedback_ops = {.size = sizeof feedback_ops,
                                                .name = "feedback",
                                                .calc_control = calc_feedback,
                                                .destroy = destroy};

tal_controller_ix tal_forces_add_feedback(tal_forces *forces, const char *name,
                                          tal_force_ix actuator, const tal_feedback *feedback)
{
    if (feedback == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "feedback is NULL");
        if (forces != NULL) tali_system_keep_breach(forces->system);
        return (tal_controller_ix){-1};
    }
    const int num_functions = feedback->target != NULL ? 1 : 0;
    builtin *it = create(forces, name, feedback_ops.name, &feedback->target, num_functions);
    if (it == NULL) return (tal_controller_ix){-1};
    const tal_mobility at = feedback->mobility;
    const int num_bodies = tal_matter_num_bodies(forces->matter);
    if (at.body.i < 0 || at.body.i >= num_bodies || at.i < 0 ||
        at.i >= tal_body_nq_angles(forces->matter, at.body)) {
        return refuse(forces, name, it, "there is no such body or coordinate");
    }
    if (num_functions > 0 && (tal_function_num_args(feedback->target) != 1 ||
                              tal_function_max_order(feedback->target) < 1)) {
        return refuse(forces, name, it, "its target must have one argument and a derivative");
    }
    if (!isfinite(feedback->stiffness) || !isfinite(feedback->damping)) {
        return refuse(forces, name, it, "its stiffness or damping is not finite");
    }
    it->facts.mobility = at;
    it->facts.stiffness = feedback->stiffness;
    it->facts.damping = feedback->damping;
    return tal_forces_add_controller(forces, name, &actuator, 1, &feedback_ops, it);
}

// --- facts ---

const tali_controller_facts *tali_controller_facts_of(const tal_forces *forces,
                                                      tal_controller_ix controller)
{
    const tali_controller *it = &forces->controls.items[controller.i];
    return it->ops.destroy == destroy ? &((const builtin *)it->self)->facts : NULL;
}
