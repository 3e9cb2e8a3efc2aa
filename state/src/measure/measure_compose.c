// Measures made of others, without a memory of their own samples: sum, difference, product,
// function, scale, integrate, and the exact derivative.
#include "measure/measure_kinds.h"

#include <math.h>
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

// --- product ---

enum {
    PRODUCT_DERIVATIVES = 3 // each of two operands, and their derivatives up to the order: eight
};

static tal_status product_declare(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    if (site->num_derivatives > PRODUCT_DERIVATIVES) site->num_derivatives = PRODUCT_DERIVATIVES;
    return TAL_OK;
}

static void binary_needs(const void *self, const tal_system *system, int order,
                         tal_measure_needs *needs)
{
    const binary *me = self;
    for (int k = 0; k <= order; ++k) {
        tal_measure_needs_operand(needs, system, me->a, k);
        if (me->b.i >= 0 && me->b.i != me->a.i) {
            tal_measure_needs_operand(needs, system, me->b, k);
        }
    }
}

// Leibniz: (a b)^(n) = sum over k of C(n, k) a^(k) b^(n - k)
static tal_status product_calc(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double value[])
{
    const binary *me = self;
    double choose = 1.0; // C(order, k)
    memset(value, 0, (size_t)n * sizeof *value);
    for (int k = 0; k <= order; ++k) {
        const double *a = tal_measure_derivatives(system, state, me->a, k);
        const double *b = tal_measure_derivatives(system, state, me->b, order - k);
        if (a == NULL || b == NULL) return tal_state_error(state)->status;
        for (int i = 0; i < n; ++i) {
            value[i] += choose * a[i] * b[i];
        }
        choose = choose * (order - k) / (k + 1);
    }
    return TAL_OK;
}

static const tal_measure_ops product_ops = {
    .size = sizeof product_ops,
    .name = "product",
    .calc = product_calc,
    .declare = product_declare,
    .needs = binary_needs,
};

tal_measure_ix tal_measure_add_product(tal_system *system, tal_subsystem_ix owner, const char *name,
                                       tal_measure_ix a, tal_measure_ix b)
{
    return add_binary(system, owner, &product_ops, name, a, b);
}

// --- function ---

typedef struct applied {
    binary operands; // b.i < 0: of one measure; first, so that needs are those of two operands
    const tal_function *f;
} applied;

static tal_status function_declare(void *self, tal_system *system, tal_measure_site *site)
{
    const applied *me = self;
    (void)system;
    const int most = tal_function_max_order(me->f) < 2 ? tal_function_max_order(me->f) : 2;
    if (site->num_derivatives > most) site->num_derivatives = most;
    return TAL_OK;
}

// With x the operands: f' = sum f_i x_i', f'' = sum f_ij x_i' x_j' + sum f_i x_i''
static tal_status function_calc(const void *self, const tal_system *system, tal_state *state,
                                int order, int n, double value[])
{
    (void)n;
    const applied *me = self;
    const tal_measure_ix operands[] = {me->operands.a, me->operands.b};
    const int args = me->operands.b.i >= 0 ? 2 : 1;
    double x[3][2] = {{0.0}}; // by order of derivative
    for (int k = 0; k <= order; ++k) {
        for (int i = 0; i < args; ++i) {
            x[k][i] = tal_measure_derivative(system, state, operands[i], k);
        }
    }
    double sum = order == 0 ? tal_function_calc_value(me->f, x[0], args) : 0.0;
    for (int i = 0; i < args && order > 0; ++i) {
        sum += tal_function_calc_derivative(me->f, x[0], args, &i, 1) * x[order][i];
        for (int j = 0; j < args && order == 2; ++j) {
            const int wrt[] = {i, j};
            sum += tal_function_calc_derivative(me->f, x[0], args, wrt, 2) * x[1][i] * x[1][j];
        }
    }
    *value = sum;
    const tal_status st = tal_state_error(state)->status;
    return st == TAL_OK || isfinite(sum) ? TAL_OK : st;
}

static const tal_measure_ops function_ops = {
    .size = sizeof function_ops,
    .name = "function",
    .calc = function_calc,
    .declare = function_declare,
    .needs = binary_needs,
};

// Each operand is one number, and there are as many as the function has arguments.
static bool check_function(tal_system *system, const char *name, const tal_function *f,
                           const tal_measure_ix operands[], int count)
{
    const char *said = name != NULL ? name : "(no name)";
    const int args = tal_function_num_args(f); // a breach when there is none
    for (int i = 0; i < count; ++i) {
        const bool is_there = operands[i].i >= 0 && operands[i].i < tal_system_num_measures(system);
        if (!is_there) return true; // reported later
        const int size = tal_measure_size(system, operands[i]);
        if (size == 1) continue;
        (void)tal_system_fail(system, TAL_ERR_BAD_VALUE,
                              "function '%s': measure '%s' has %d values; it must have one", said,
                              tal_measure_name(system, operands[i]), size);
        return false;
    }
    if (args == count) return true;
    (void)tal_system_fail(system, TAL_ERR_BAD_VALUE,
                          "function '%s': a function of %d arguments is applied to %d measures",
                          said, args, count);
    return false;
}

tal_measure_ix tal_measure_add_function(tal_system *system, tal_subsystem_ix owner,
                                        const char *name, const tal_function *f, tal_measure_ix a,
                                        tal_measure_ix b)
{
    const tal_measure_ix none = {-1}, operands[] = {a, b};
    const int count = b.i >= 0 ? 2 : 1;
    tal_measure_def def = tal_measure_def_default();
    if (system == NULL) return tal_system_add_measure(system, owner, &function_ops, &def);
    if (tal_system_error(system)->status != TAL_OK ||
        !check_function(system, name, f, operands, count)) {
        return none;
    }
    const applied self = {{a, b}, f};
    def.name = name;
    def.size = 1;
    def.operands = operands;
    def.num_operands = count;
    def.self = &self;
    def.self_size = sizeof self;
    return tal_system_add_measure(system, owner, &function_ops, &def);
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
    if (table == &sum_ops || table == &difference_ops || table == &product_ops ||
        table == &function_ops) {
        const binary *me = self; // that of a function comes first
        facts->operands[0] = me->a;
        facts->operands[1] = me->b;
        if (table == &function_ops) facts->function = ((const applied *)self)->f;
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
