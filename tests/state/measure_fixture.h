// What the tests of measures share: a System with one idle subsystem, and a polynomial kind of
// measure that is written against the public table alone.
#ifndef MEASURE_FIXTURE_H
#define MEASURE_FIXTURE_H

#include "talus_test.h"

#include <talus/state.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEST_NAN      ((double)NAN)
#define TEST_INFINITY ((double)INFINITY)

static const tal_subsystem_ops idle_ops = {.size = sizeof idle_ops, .name = "idle"};

typedef struct fixture {
    tal_system *system;
    tal_subsystem_ix owner;
    tal_state *state;
} fixture;

static inline fixture begin_fixture(void)
{
    fixture f = {.system = tal_system_create(NULL)};
    f.owner = tal_system_add_subsystem(f.system, "idle", &idle_ops, NULL);
    return f;
}

static inline void finish_fixture(fixture *f)
{
    tal_error err;
    const tal_status built = tal_system_realize_topology(f->system, &err);
    ck_assert_msg(built == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(f->system, &f->state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(f->system, f->state, TAL_STAGE_REPORT), TAL_OK);
}

static inline void end_fixture(fixture *f)
{
    tal_state_destroy(f->state);
    tal_system_destroy(f->system);
}

/// The building must fail with this status, and the sentence must contain `part`.
static inline void assert_refused(fixture *f, tal_status status, const char *part)
{
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(f->system, &err), status);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    end_fixture(f);
}

/// Set the time and realize Report again.
static inline void go_to(const fixture *f, double t)
{
    ck_assert_int_eq(tal_state_set_t(f->state, t), TAL_OK);
    ck_assert_int_eq(tal_system_realize(f->system, f->state, TAL_STAGE_REPORT), TAL_OK);
}

/// Set the time, begin a step there, and realize what it lowered.
static inline void step_to(const fixture *f, double t)
{
    go_to(f, t);
    ck_assert_int_eq(tal_system_begin_step(f->system, f->state), TAL_OK);
    ck_assert_int_eq(tal_system_realize(f->system, f->state, TAL_STAGE_REPORT), TAL_OK);
}

/// Component i is shift[i] + c0 + c1 t + c2 t^2 + c3 t^3.
typedef struct polynomial {
    double c[4];
    double step; ///< shift[i] = i step
    int derivatives;
} polynomial;

static inline tal_status polynomial_declare(void *self, tal_system *system, tal_measure_site *site)
{
    (void)system;
    site->num_derivatives = ((const polynomial *)self)->derivatives;
    return TAL_OK;
}

static inline void polynomial_needs(const void *self, const tal_system *system, int order,
                                    tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_TIME);
}

static inline tal_status polynomial_calc(const void *self, const tal_system *system,
                                         tal_state *state, int order, int n, double value[])
{
    (void)system;
    const polynomial *p = self;
    const double t = tal_state_t(state);
    double sum = 0.0;
    for (int k = 3; k >= order; --k) {
        double factor = 1.0;
        for (int j = 0; j < order; ++j) {
            factor *= k - j;
        }
        sum = sum * t + factor * p->c[k];
    }
    for (int i = 0; i < n; ++i) {
        value[i] = sum + (order == 0 ? i * p->step : 0.0);
    }
    return TAL_OK;
}

static const tal_measure_ops polynomial_ops = {
    .size = sizeof polynomial_ops,
    .name = "polynomial",
    .calc = polynomial_calc,
    .declare = polynomial_declare,
    .needs = polynomial_needs,
};

static inline tal_measure_ix add_polynomial(const fixture *f, const char *name, int n,
                                            polynomial self)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.size = n;
    def.self = &self;
    def.self_size = sizeof self;
    return tal_system_add_measure(f->system, f->owner, &polynomial_ops, &def);
}

/// Passes its operand on without derivatives.
static inline tal_status blunt_calc(const void *self, const tal_system *system, tal_state *state,
                                    int order, int n, double value[])
{
    (void)order;
    const double *values = tal_measure_values(system, state, *(const tal_measure_ix *)self);
    if (values == NULL) return tal_state_error(state)->status;
    memcpy(value, values, (size_t)n * sizeof(double));
    return TAL_OK;
}

static inline tal_status blunt_declare(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    site->num_derivatives = 0;
    return TAL_OK;
}

static const tal_measure_ops blunt_ops = {
    .size = sizeof blunt_ops,
    .name = "blunt",
    .calc = blunt_calc,
    .declare = blunt_declare,
};

static inline tal_measure_ix add_blunt(const fixture *f, const char *name, tal_measure_ix operand)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.operands = &operand;
    def.num_operands = 1;
    def.self = &operand;
    def.self_size = sizeof operand;
    return tal_system_add_measure(f->system, f->owner, &blunt_ops, &def);
}

static inline double value(const fixture *f, tal_measure_ix m)
{
    return tal_measure_value(f->system, f->state, m);
}

#endif // MEASURE_FIXTURE_H
