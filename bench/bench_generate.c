// What generated code costs, against bare sweeps over the same pins and against Talus.
//
// Aims: forward dynamics 1.8 times as fast as the bare sweep for an arm of 7 pins, and 1.4 times for
// a chain of 10.
#include "arm.h"
#include "bare.h"
#include "bench.h"
#include "build_talus.h"
#include "chain.h"
#include "contestant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*with_speeds)(const double q[], const double u[], const double x[], double out[]);
typedef void (*of_pose)(const double q[], double M[]);

// A model, and the code that was written for it.
typedef struct work {
    const model *m;
    talus_model t;
    void *bare;
    with_speeds forward, inverse;
    of_pose mass;
    double *zero; ///< [nu]
    double *out;  ///< [nu^2]
} work;

static void run_generated_forward(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        const int k = (int)(i % MODEL_SETS);
        w->forward(w->m->q[k], w->m->u[k], w->zero, w->out);
    }
}

static void run_generated_inverse(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        const int k = (int)(i % MODEL_SETS);
        w->inverse(w->m->q[k], w->m->u[k], w->m->v[k], w->out);
    }
}

static void run_generated_mass(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        w->mass(w->m->q[i % MODEL_SETS], w->out);
    }
}

static void run_bare_forward(void *context, long count)
{
    work *w = context;
    contestant_bare.run(w->bare, FORWARD, true, count);
}

static void run_bare_inverse(void *context, long count)
{
    work *w = context;
    contestant_bare.run(w->bare, INVERSE, true, count);
}

static void run_talus_forward(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        talus_set_values(&w->t, w->m, (int)(i % MODEL_SETS));
        talus_realize(&w->t, TAL_STAGE_ACCELERATION);
    }
}

// Nothing is timed before all agree.
static void require_agreement(work *w)
{
    double expected[32];
    contestant_bare.answer(w->bare, FORWARD, true, expected);
    w->forward(w->m->q[0], w->m->u[0], w->zero, w->out);
    for (int i = 0; i < w->m->nu; ++i) {
        if (fabs(w->out[i] - expected[i]) <= 1e-9 * (1.0 + fabs(expected[i]))) continue;
        (void)fprintf(stderr, "%s: udot %d is %g, not %g\n", w->m->name, i, w->out[i], expected[i]);
        exit(EXIT_FAILURE);
    }
}

enum {
    GENERATED_FORWARD,
    BARE_FORWARD,
    TALUS_FORWARD,
    GENERATED_INVERSE,
    BARE_INVERSE,
    GENERATED_MASS,
    NUM_ROWS
};

static void measure(model m, with_speeds forward, with_speeds inverse, of_pose mass)
{
    const size_t nu = (size_t)m.nu;
    work w = {.m = &m,
              .t = talus_build(&m),
              .bare = contestant_bare.create(&m),
              .forward = forward,
              .inverse = inverse,
              .mass = mass};
    w.zero = calloc(nu, sizeof *w.zero);
    w.out = calloc(nu * nu, sizeof *w.out);
    if (w.bare == NULL || w.zero == NULL || w.out == NULL) exit(EXIT_FAILURE);
    require_agreement(&w);
    bench rows[NUM_ROWS] = {
        {.name = "generated forward dynamics", .run = run_generated_forward},
        {.name = "bare forward dynamics", .run = run_bare_forward},
        {.name = "forward dynamics of Talus", .run = run_talus_forward},
        {.name = "generated inverse dynamics", .run = run_generated_inverse},
        {.name = "bare inverse dynamics", .run = run_bare_inverse},
        {.name = "generated mass matrix", .run = run_generated_mass},
    };
    for (int i = 0; i < NUM_ROWS; ++i) {
        rows[i].context = &w;
    }
    bench_measure(rows, NUM_ROWS, 101, 1e5);
    bench_print(m.name, rows, NUM_ROWS);
    (void)printf("  forward dynamics %.2f times as fast as bare, %.2f times as fast as Talus; "
                 "inverse dynamics %.2f bare\n",
                 rows[BARE_FORWARD].median / rows[GENERATED_FORWARD].median,
                 rows[TALUS_FORWARD].median / rows[GENERATED_FORWARD].median,
                 rows[BARE_INVERSE].median / rows[GENERATED_INVERSE].median);
    contestant_bare.destroy(w.bare);
    talus_free(&w.t);
    free(w.zero), free(w.out);
    model_free(&m);
}

int main(void)
{
    measure(model_arm(7), arm_forward_dynamics, arm_inverse_dynamics, arm_mass_matrix);
    measure(model_pin_chain(10), chain_forward_dynamics, chain_inverse_dynamics, chain_mass_matrix);
    return EXIT_SUCCESS;
}
