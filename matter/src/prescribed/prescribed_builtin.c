// Built-in motions: steady, sinusoid, functions of time.
#include "matter_facts_internal.h"

#include "prescribed/prescribed_internal.h"

#include <math.h>

// --- steady ---

static tal_status calc_steady(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    for (int i = 0; i < arg->n; ++i) {
        out[i] = order == 0 ? arg->params[i] : 0.0;
    }
    return TAL_OK;
}

static const tal_motion_ops steady = {
    .size = sizeof steady, .name = "steady", .num_params = -1, .calc = calc_steady};

tal_motion_ix tal_matter_add_motion_steady(tal_matter *matter, const tal_motion_def *def,
                                           const double u[], int n)
{
    tal_motion_def at_velocity = def != NULL ? *def : tal_motion_def_default();
    at_velocity.level = TAL_LEVEL_VELOCITY;
    const int b = at_velocity.body.i;
    const bool has_body = matter != NULL && b > 0 && b < matter->num_bodies;
    const int wanted = !has_body ? n : at_velocity.mobility >= 0 ? 1 : matter->bodies[b].ops.nu;
    if (matter != NULL && (u == NULL || n != wanted)) {
        (void)tal_system_fail(matter->system, u == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE,
                              "a steady motion needs %d speeds, not %d", wanted, u == NULL ? 0 : n);
    }
    return tal_matter_add_motion(matter, def != NULL ? &at_velocity : NULL, &steady, NULL, u);
}

// --- sinusoid ---

enum {
    AMPLITUDE,
    OMEGA,
    PHASE,
    NUM_SINUSOID_PARAMS
};

// d^k/dt^k a sin(x) = a omega^k sin(x + k pi/2), x = omega t + phase
static tal_status calc_sinusoid(const void *self, const tal_motion_arg *arg, int order,
                                double out[])
{
    (void)self;
    const double a = arg->params[AMPLITUDE], omega = arg->params[OMEGA];
    const double x = omega * arg->t + arg->params[PHASE];
    const double value = order == 0   ? a * sin(x)
                         : order == 1 ? a * omega * cos(x)
                                      : -a * omega * omega * sin(x);
    for (int i = 0; i < arg->n; ++i) {
        out[i] = value;
    }
    return TAL_OK;
}

static const tal_motion_ops sinusoid = {.size = sizeof sinusoid,
                                        .name = "sinusoid",
                                        .num_params = NUM_SINUSOID_PARAMS,
                                        .calc = calc_sinusoid};

tal_motion_ix tal_matter_add_motion_sinusoid(tal_matter *matter, const tal_motion_def *def,
                                             double amplitude, double omega, double phase)
{
    const double params[NUM_SINUSOID_PARAMS] = {amplitude, omega, phase};
    const int b = def != NULL ? def->body.i : -1;
    if (matter != NULL && b > 0 && b < matter->num_bodies && def->level == TAL_LEVEL_POSITION &&
        matter->bodies[b].ops.has_quaternion) {
        (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                              "the quaternion of body '%s' cannot follow a sinusoid",
                              matter->bodies[b].name);
    }
    return tal_matter_add_motion(matter, def, &sinusoid, NULL, params);
}

// --- functions of time ---

typedef struct time_functions {
    tal_allocator allocator;
    int n;
    tal_function *f[TAL_MAX_NQ];
} time_functions;

static tal_status calc_functions(const void *self, const tal_motion_arg *arg, int order,
                                 double out[])
{
    const time_functions *all = self;
    for (int i = 0; i < arg->n; ++i) {
        out[i] = tal_function_calc_derivative_1(all->f[i], arg->t, order);
    }
    return TAL_OK;
}

static void destroy_each(tal_function *const functions[], int n)
{
    for (int i = 0; functions != NULL && i < n; ++i) {
        bool again = false; // one function may serve several coordinates
        for (int j = 0; j < i; ++j) {
            again = again || functions[j] == functions[i];
        }
        if (!again) tal_function_destroy(functions[i]);
    }
}

static void destroy_functions(void *self)
{
    time_functions *all = self;
    const tal_allocator allocator = all->allocator;
    destroy_each(all->f, all->n);
    tali_free(&allocator, all, sizeof *all);
}

static const tal_motion_ops functions_of_time = {.size = sizeof functions_of_time,
                                                 .name = "function of time",
                                                 .calc = calc_functions,
                                                 .destroy = destroy_functions};

// Are there as many as can be asked for, each of one argument and smooth enough?
static tal_status check_functions(const tal_matter *matter, const tal_motion_def *def,
                                  tal_function *const functions[], int n, tal_error *err)
{
    const bool has_body = def != NULL && def->body.i > 0 && def->body.i < matter->num_bodies;
    if (!has_body) return TAL_OK; // refused with all other motions
    const tali_tree_body *body = &matter->bodies[def->body.i];
    const bool at_position = def->level == TAL_LEVEL_POSITION;
    const bool fits = def->mobility >= 0 ? n == 1
                      : at_position      ? n == body->ops.nq || n == body->ops.nq_angles
                                         : n == body->ops.nu;
    if (!fits || n > TAL_MAX_NQ || (functions == NULL && n > 0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a motion of body '%s' was given %d functions of time", body->name,
                         functions != NULL ? n : 0);
    }
    const int order = (int)def->level - TAL_LEVEL_ACCELERATION;
    for (int i = 0; i < n; ++i) {
        if (functions[i] != NULL && tal_function_num_args(functions[i]) == 1 &&
            tal_function_max_order(functions[i]) >= order) {
            continue;
        }
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a motion of body '%s' needs functions of one argument with derivatives "
                         "up to order %d; function %d is not one",
                         body->name, order, i);
    }
    return TAL_OK;
}

tal_motion_ix tal_matter_add_motion_functions(tal_matter *matter, const tal_motion_def *def,
                                              tal_function *const functions[], int n)
{
    if (matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
        destroy_each(functions, n);
        return (tal_motion_ix){-1};
    }
    tal_error why = {TAL_OK, "", ""};
    tal_status st = check_functions(matter, def, functions, n, &why);
    time_functions *all = st == TAL_OK ? tali_alloc(&matter->allocator, sizeof *all) : NULL;
    if (st == TAL_OK && all == NULL) {
        st = TALI_FAIL(&why, TAL_ERR_NO_MEMORY, "no memory for %d functions of time", n);
    }
    if (all == NULL) {
        (void)tal_system_fail(matter->system, st, "%s", why.message);
        destroy_each(functions, n);
        return (tal_motion_ix){-1};
    }
    all->allocator = matter->allocator;
    for (int i = 0; functions != NULL && i < n && i < TAL_MAX_NQ; ++i) {
        all->f[all->n++] = functions[i];
    }
    const tal_motion_ix motion = tal_matter_add_motion(matter, def, &functions_of_time, all, NULL);
    if (motion.i >= 0) matter->prescribed.list[motion.i].num_values = n;
    return motion;
}

// --- facts ---

tali_matter_motion_facts tali_matter_motion_facts_of(const tal_matter *matter, tal_motion_ix motion)
{
    const tali_prescribed_drive *d = &matter->prescribed.list[motion.i];
    tali_matter_motion_facts facts = {NULL, {d->body}, d->mobility, d->level,
                                      NULL, 0,         &d->ops,     d->self};
    if (d->ops.calc == calc_steady || d->ops.calc == calc_sinusoid) facts.kind = d->ops.name;
    if (d->ops.calc == calc_functions) {
        const time_functions *all = d->self;
        facts.kind = d->ops.name;
        facts.functions = all->f;
        facts.num_functions = all->n;
    }
    return facts;
}

bool tali_prescribed_is_of_time(const tali_prescribed_drive *drive)
{
    return drive->level == TAL_LEVEL_POSITION || drive->ops.calc == calc_steady ||
           drive->ops.calc == calc_sinusoid || drive->ops.calc == calc_functions;
}
