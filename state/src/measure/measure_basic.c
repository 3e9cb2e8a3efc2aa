// Measures without operands: constant, time, variable, sinusoid, result.
#include "measure/measure_kinds.h"

#include <math.h>
#include <string.h>

bool tali_measure_check_values(tal_system *system, const char *kind, const char *name,
                               const double values[], int n)
{
    const bool already_failed = system == NULL || tal_system_error(system)->status != TAL_OK;
    if (already_failed || tal_system_has_topology(system)) return true;
    for (int i = 0; i < n; ++i) {
        if (isfinite(values[i])) continue;
        (void)tal_system_fail(system, TAL_ERR_NOT_FINITE, "%s '%s': value %d is %g", kind,
                              name != NULL ? name : "", i, values[i]);
        return false;
    }
    return true;
}

// --- constant: self is the values ---

static tal_status constant_calc(const void *self, const tal_system *system, tal_state *state,
                                int order, int n, double value[])
{
    (void)system;
    (void)state;
    const double *values = self;
    for (int i = 0; i < n; ++i) {
        value[i] = order == 0 ? values[i] : 0.0;
    }
    return TAL_OK;
}

static tal_status all_derivatives(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    site->num_derivatives = TAL_MEASURE_MAX_DERIVATIVES;
    return TAL_OK;
}

static const tal_measure_ops constant_ops = {
    .size = sizeof constant_ops,
    .name = "constant",
    .calc = constant_calc,
    .declare = all_derivatives,
};

tal_measure_ix tal_measure_add_constant(tal_system *system, tal_subsystem_ix owner,
                                        const char *name, const double values[], int n)
{
    const tal_measure_ix none = {-1};
    if (values != NULL && !tali_measure_check_values(system, "constant", name, values, n)) {
        return none;
    }
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.size = n;
    def.self = values;
    def.self_size = n > 0 ? (size_t)n * sizeof(double) : 0;
    return tal_system_add_measure(system, owner, &constant_ops, &def);
}

// --- time ---

static void needs_time(const void *self, const tal_system *system, int order,
                       tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_TIME);
}

static tal_status time_calc(const void *self, const tal_system *system, tal_state *state, int order,
                            int n, double value[])
{
    (void)self;
    (void)system;
    (void)n;
    value[0] = order == 0 ? tal_state_t(state) : order == 1 ? 1.0 : 0.0;
    return TAL_OK;
}

static const tal_measure_ops time_ops = {
    .size = sizeof time_ops,
    .name = "time",
    .calc = time_calc,
    .declare = all_derivatives,
    .needs = needs_time,
};

tal_measure_ix tal_measure_add_time(tal_system *system, tal_subsystem_ix owner, const char *name)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.size = 1;
    return tal_system_add_measure(system, owner, &time_ops, &def);
}

// --- sinusoid ---

typedef struct sinusoid {
    double amplitude, frequency, phase;
} sinusoid;

// d^k/dt^k a sin(w t + p) = a w^k sin(w t + p + k pi/2); the quarter turns are exact.
static tal_status sinusoid_calc(const void *self, const tal_system *system, tal_state *state,
                                int order, int n, double value[])
{
    (void)system;
    (void)n;
    const sinusoid *me = self;
    const double angle = me->frequency * tal_state_t(state) + me->phase;
    double factor = me->amplitude;
    for (int k = 0; k < order; ++k) {
        factor *= me->frequency;
    }
    const double wave = order % 2 == 0 ? sin(angle) : cos(angle);
    value[0] = order % 4 < 2 ? factor * wave : -factor * wave;
    return TAL_OK;
}

static const tal_measure_ops sinusoid_ops = {
    .size = sizeof sinusoid_ops,
    .name = "sinusoid",
    .calc = sinusoid_calc,
    .declare = all_derivatives,
    .needs = needs_time,
};

tal_measure_ix tal_measure_add_sinusoid(tal_system *system, tal_subsystem_ix owner,
                                        const char *name, double amplitude, double frequency,
                                        double phase)
{
    const tal_measure_ix none = {-1};
    const double numbers[] = {amplitude, frequency, phase};
    if (!tali_measure_check_values(system, "sinusoid", name, numbers, 3)) return none;
    const sinusoid self = {amplitude, frequency, phase};
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.size = 1;
    def.self = &self;
    def.self_size = sizeof self;
    return tal_system_add_measure(system, owner, &sinusoid_ops, &def);
}

// --- variable ---

typedef struct variable {
    const double *initial; // only until it is declared
    tal_stage invalidates;
    tal_var_ix var;
} variable;

static tal_status variable_declare(void *self, tal_system *system, tal_measure_site *site)
{
    variable *me = self;
    char name[TAL_MAX_NAME + 1];
    tal_var_def var = tal_var_def_default();
    var.name = tali_measure_part(name, site, "stored");
    var.size = (size_t)site->size * sizeof(double);
    var.invalidates = me->invalidates;
    var.initial = me->initial;
    me->var = tal_system_add_var(system, site->owner, &var);
    me->initial = NULL;
    return TAL_OK;
}

static void variable_needs(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)system;
    (void)order;
    tal_measure_needs_prereq(needs, tal_prereq_var(((const variable *)self)->var));
}

static tal_status variable_calc(const void *self, const tal_system *system, tal_state *state,
                                int order, int n, double value[])
{
    (void)order;
    const variable *me = self;
    memcpy(value, tal_var_value(system, state, me->var), (size_t)n * sizeof(double));
    return TAL_OK;
}

static tal_status variable_set(const void *self, const tal_system *system, tal_state *state,
                               const double values[], int n)
{
    (void)n;
    return tal_var_set(system, state, ((const variable *)self)->var, values);
}

static const tal_measure_ops variable_ops = {
    .size = sizeof variable_ops,
    .name = "variable",
    .calc = variable_calc,
    .declare = variable_declare,
    .needs = variable_needs,
    .set = variable_set,
};

tal_measure_ix tal_measure_add_variable(tal_system *system, tal_subsystem_ix owner,
                                        const char *name, const double initial[], int n,
                                        tal_stage invalidates)
{
    const tal_measure_ix none = {-1};
    if (initial != NULL && !tali_measure_check_values(system, "variable", name, initial, n)) {
        return none;
    }
    const variable self = {.initial = initial, .invalidates = invalidates};
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.size = n;
    def.self = &self;
    def.self_size = sizeof self;
    return tal_system_add_measure(system, owner, &variable_ops, &def);
}

// --- result: the values are in an entry that only others write ---

typedef struct result {
    tal_result_def def; // its pointers only until it is declared
    tal_cache_ix entry;
} result;

tal_result_def tal_result_def_default(void)
{
    return (tal_result_def){.size = 1, .depends_on = TAL_STAGE_INSTANCE};
}

static tal_status result_declare(void *self, tal_system *system, tal_measure_site *site)
{
    result *me = self;
    char name[TAL_MAX_NAME + 1];
    tal_cache_def entry = tal_cache_def_default();
    entry.name = tali_measure_part(name, site, "result");
    entry.size = (size_t)site->size * sizeof(double);
    entry.depends_on = me->def.depends_on;
    entry.prereqs = me->def.prereqs;
    entry.num_prereqs = me->def.num_prereqs;
    me->entry = tal_system_add_cache(system, site->owner, &entry);
    me->def.name = NULL;
    me->def.prereqs = NULL;
    return TAL_OK;
}

static void result_needs(const void *self, const tal_system *system, int order,
                         tal_measure_needs *needs)
{
    (void)system;
    (void)order;
    const result *me = self;
    tal_measure_needs_stage(needs, me->def.depends_on);
    tal_measure_needs_prereq(needs, tal_prereq_cache(me->entry));
}

static tal_status result_calc(const void *self, const tal_system *system, tal_state *state,
                              int order, int n, double value[])
{
    (void)order;
    const result *me = self;
    memcpy(value, tal_cache_value(system, state, me->entry), (size_t)n * sizeof(double));
    return TAL_OK;
}

static const tal_measure_ops result_ops = {
    .size = sizeof result_ops,
    .name = "result",
    .calc = result_calc,
    .declare = result_declare,
    .needs = result_needs,
};

tal_measure_ix tal_measure_add_result(tal_system *system, tal_subsystem_ix owner,
                                      const tal_result_def *def)
{
    if (def == NULL) return tal_system_add_measure(system, owner, &result_ops, NULL);
    const result self = {.def = *def};
    tal_measure_def measure = tal_measure_def_default();
    measure.name = def->name;
    measure.size = def->size;
    measure.self = &self;
    measure.self_size = sizeof self;
    return tal_system_add_measure(system, owner, &result_ops, &measure);
}

double *tal_measure_upd_result(const tal_system *system, tal_state *state, tal_measure_ix measure)
{
    const result *me = tal_measure_self(system, measure, &result_ops);
    return me != NULL ? tal_cache_upd(system, state, me->entry) : NULL;
}

tal_status tal_measure_mark_result_valid(const tal_system *system, tal_state *state,
                                         tal_measure_ix measure)
{
    const result *me = tal_measure_self(system, measure, &result_ops);
    if (me == NULL) return tal_contract_last()->status;
    return tal_cache_mark_valid(system, state, me->entry);
}

// --- facts ---

bool tali_measure_basic_facts(const tal_measure_ops *table, const void *self,
                              tali_measure_facts *facts)
{
    if (table == &constant_ops) {
        facts->values = self;
    } else if (table == &sinusoid_ops) {
        const sinusoid *me = self;
        facts->numbers[0] = me->amplitude;
        facts->numbers[1] = me->frequency;
        facts->numbers[2] = me->phase;
    } else if (table == &variable_ops) {
        const variable *me = self;
        facts->variable = me->var;
        facts->invalidates = me->invalidates;
    } else {
        return table == &time_ops;
    }
    return true;
}
