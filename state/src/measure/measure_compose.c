// Measures made of others, without a memory of their own samples: sum, difference, scale,
// integrate, and the exact derivative.
#include "measure/measure_kinds.h"

#include <string.h>

// Copies an operand's value or derivative.
static tal_status copy_operand(const tal_system *system, tal_state *state, tal_measure_ix operand,
                               int order, int n, double value[])
{
    const double *values = tal_measure_derivatives(system, state, operand, order);
    if (values == NULL) return tal_state_error(state)->status;
    memcpy(value, values, (size_t)n * sizeof(double));
    return TAL_OK;
}

// --- sum and difference ---

typedef struct binary {
    tal_measure_ix a, b;
} binary;

static tal_status sum_calc(const void *self, const tal_system *system, tal_state *state, int order,
                           int n, double value[])
{
    const binary *me = self;
    const double *a = tal_measure_derivatives(system, state, me->a, order);
    const double *b = tal_measure_derivatives(system, state, me->b, order);
    if (a == NULL || b == NULL) return tal_state_error(state)->status;
    for (int i = 0; i < n; ++i) {
        value[i] = a[i] + b[i];
    }
    return TAL_OK;
}

static tal_status difference_calc(const void *self, const tal_system *system, tal_state *state,
                                  int order, int n, double value[])
{
    const binary *me = self;
    const double *a = tal_measure_derivatives(system, state, me->a, order);
    const double *b = tal_measure_derivatives(system, state, me->b, order);
    if (a == NULL || b == NULL) return tal_state_error(state)->status;
    for (int i = 0; i < n; ++i) {
        value[i] = a[i] - b[i];
    }
    return TAL_OK;
}

static const tal_measure_ops sum_ops = {
    .size = sizeof sum_ops,
    .name = "sum",
    .calc = sum_calc,
};

static const tal_measure_ops difference_ops = {
    .size = sizeof difference_ops,
    .name = "difference",
    .calc = difference_calc,
};

static tal_measure_ix add_binary(tal_system *system, tal_subsystem_ix owner,
                                 const tal_measure_ops *ops, const char *name, tal_measure_ix a,
                                 tal_measure_ix b)
{
    const binary self = {a, b};
    const tal_measure_ix operands[] = {a, b};
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.operands = operands;
    def.num_operands = 2;
    def.self = &self;
    def.self_size = sizeof self;
    return tal_system_add_measure(system, owner, ops, &def);
}

tal_measure_ix tal_measure_add_sum(tal_system *system, tal_subsystem_ix owner, const char *name,
                                   tal_measure_ix a, tal_measure_ix b)
{
    return add_binary(system, owner, &sum_ops, name, a, b);
}

tal_measure_ix tal_measure_add_difference(tal_system *system, tal_subsystem_ix owner,
                                          const char *name, tal_measure_ix a, tal_measure_ix b)
{
    return add_binary(system, owner, &difference_ops, name, a, b);
}

// --- scale ---

typedef struct scale {
    double factor;
    tal_measure_ix a;
} scale;

static tal_status scale_calc(const void *self, const tal_system *system, tal_state *state,
                             int order, int n, double value[])
{
    const scale *me = self;
    const double *a = tal_measure_derivatives(system, state, me->a, order);
    if (a == NULL) return tal_state_error(state)->status;
    for (int i = 0; i < n; ++i) {
        value[i] = me->factor * a[i];
    }
    return TAL_OK;
}

static const tal_measure_ops scale_ops = {
    .size = sizeof scale_ops,
    .name = "scale",
    .calc = scale_calc,
};

tal_measure_ix tal_measure_add_scale(tal_system *system, tal_subsystem_ix owner, const char *name,
                                     double factor, tal_measure_ix a)
{
    const tal_measure_ix none = {-1};
    if (!tali_measure_check_values(system, "scale", name, &factor, 1)) return none;
    const scale self = {factor, a};
    return tali_measure_add_unary(system, owner, &scale_ops, name, a, &self, sizeof self);
}

// --- integrate ---

typedef struct integrate {
    tal_measure_ix derivative;
    const double *initial; // only until it is declared
    tal_group_ix z;
    int n;
} integrate;

// The integral is a group of z; its derivatives are those of the operand.
static tal_status integrate_declare(void *self, tal_system *system, tal_measure_site *site)
{
    integrate *me = self;
    const double *initial = me->initial;
    me->initial = NULL;
    me->n = site->size;
    if (tal_measure_stage(system, me->derivative, 0) > TAL_STAGE_ACCELERATION) {
        return tal_system_fail(
            system, TAL_ERR_BAD_VALUE,
            "integrate '%s': the derivative '%s' needs stage Report, but zdot is "
            "computed at Acceleration",
            site->name, tal_measure_name(system, me->derivative));
    }
    if (initial != NULL &&
        !tali_measure_check_values(system, "integrate", site->name, initial, site->size)) {
        return TAL_ERR_NOT_FINITE;
    }
    char name[TAL_MAX_NAME + 1];
    tal_group_def group = tal_group_def_default();
    group.name = tali_measure_part(name, site, "z");
    group.capacity = site->size;
    group.initial = initial;
    me->z = tal_system_add_group(system, site->owner, &group);
    ++site->num_derivatives;
    return TAL_OK;
}

static void integrate_needs(const void *self, const tal_system *system, int order,
                            tal_measure_needs *needs)
{
    const integrate *me = self;
    if (order > 0) {
        tal_measure_needs_operand(needs, system, me->derivative, order - 1);
        return;
    }
    const tal_prereq z = {TAL_PREREQ_Z, 0};
    tal_measure_needs_stage(needs, TAL_STAGE_INSTANCE);
    tal_measure_needs_prereq(needs, z);
}

static tal_status integrate_calc(const void *self, const tal_system *system, tal_state *state,
                                 int order, int n, double value[])
{
    const integrate *me = self;
    if (order > 0) return copy_operand(system, state, me->derivative, order - 1, n, value);
    const double *z = tal_state_z(state) + tal_group_start(system, state, me->z);
    memcpy(value, z, (size_t)n * sizeof(double));
    return TAL_OK;
}

static tal_status integrate_realize_acceleration(const void *self, const tal_system *system,
                                                 tal_state *state)
{
    const integrate *me = self;
    double *zdot = tal_group_upd_dot(system, state, me->z);
    return copy_operand(system, state, me->derivative, 0, me->n, zdot);
}

static tal_status integrate_set(const void *self, const tal_system *system, tal_state *state,
                                const double values[], int n)
{
    const integrate *me = self;
    double *z = tal_state_upd_z(state);
    if (z == NULL) return tal_contract_last()->status;
    memcpy(z + tal_group_start(system, state, me->z), values, (size_t)n * sizeof(double));
    return TAL_OK;
}

static const tal_measure_ops integrate_ops = {
    .size = sizeof integrate_ops,
    .name = "integrate",
    .calc = integrate_calc,
    .declare = integrate_declare,
    .needs = integrate_needs,
    .realize_acceleration = integrate_realize_acceleration,
    .set = integrate_set,
};

tal_measure_ix tal_measure_add_integrate(tal_system *system, tal_subsystem_ix owner,
                                         const char *name, tal_measure_ix derivative,
                                         const double initial[])
{
    const integrate self = {.derivative = derivative, .initial = initial};
    return tali_measure_add_unary(system, owner, &integrate_ops, name, derivative, &self,
                                  sizeof self);
}

// --- facts ---

bool tali_measure_composed_facts(const tal_measure_ops *table, const void *self,
                                 tali_measure_facts *facts)
{
    if (table == &sum_ops || table == &difference_ops) {
        const binary *me = self;
        facts->operands[0] = me->a;
        facts->operands[1] = me->b;
    } else if (table == &scale_ops) {
        const scale *me = self;
        facts->operands[0] = me->a;
        facts->numbers[0] = me->factor;
    } else if (table == &integrate_ops) {
        const integrate *me = self;
        facts->operands[0] = me->derivative;
        facts->z = me->z;
    } else {
        return false;
    }
    return true;
}
