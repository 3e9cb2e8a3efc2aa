// What derivatives of dynamics cost, against inverse and forward dynamics of the same tree.
//
// Aims: derivatives of inverse dynamics with M 1.8, 2.5 and 5 times bare forward dynamics for 10,
// 30 and 100 pins; those of forward dynamics with M^-1 7 times forward dynamics for a humanoid; a
// product 3 times inverse dynamics. "Fresh" begins with new q and u, so it counts kinematics.
#include "bare.h"
#include "bench.h"
#include "build_talus.h"
#include "contestant.h"

#include <talus/matter/derivatives.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct work {
    const model *m;
    talus_model t;
    void *bare;         ///< NULL: not only pins
    tal_spatial_vec *F; ///< [num_bodies] gravity
    double *zero;       ///< [nu]
    double *out;        ///< [3 nu^2]
} work;

static tal_matrix part(const work *w, int i)
{
    const int nu = w->m->nu;
    return tal_matrix_view(w->out + (size_t)i * (size_t)nu * (size_t)nu, nu, nu);
}

static void load(work *w)
{
    memset(w->F, 0, (size_t)w->m->num_bodies * sizeof *w->F);
    talus_require(&w->t, tal_force_apply(w->t.forces, w->t.state, w->t.gravity, w->F, w->zero));
}

// New q and u, kinematics, gravity.
static void begin(work *w, long i)
{
    talus_set_values(&w->t, w->m, (int)(i % MODEL_SETS));
    talus_realize(&w->t, TAL_STAGE_VELOCITY);
    load(w);
}

static void run_bare(void *context, long count)
{
    work *w = context;
    contestant_bare.run(w->bare, FORWARD, true, count);
}

static void run_forward(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        talus_set_values(&w->t, w->m, (int)(i % MODEL_SETS));
        talus_realize(&w->t, TAL_STAGE_ACCELERATION);
    }
}

static void run_ID_derivatives(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        begin(w, i);
        talus_require(&w->t,
                      tal_matter_calc_ID_derivatives(w->t.matter, w->t.state, w->m->v[0], w->F,
                                                     part(w, 0), part(w, 1), part(w, 2)));
    }
}

static void run_FD_derivatives(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        begin(w, i);
        talus_require(&w->t,
                      tal_matter_calc_FD_derivatives(w->t.matter, w->t.state, w->F, w->m->v[0],
                                                     NULL, part(w, 0), part(w, 1), part(w, 2)));
    }
}

static void run_inverse(void *context, long count)
{
    work *w = context;
    begin(w, 0);
    for (long i = 0; i < count; ++i) {
        talus_require(&w->t, tal_matter_inverse_dynamics(w->t.matter, w->t.state, w->m->v[0], w->F,
                                                         NULL, w->out));
    }
}

static void run_product(void *context, long count)
{
    work *w = context;
    begin(w, 0);
    for (long i = 0; i < count; ++i) {
        talus_require(&w->t,
                      tal_matter_mul_ID_derivatives(w->t.matter, w->t.state, w->m->v[0], w->F,
                                                    w->m->v[1], w->m->v[0], w->m->v[1], w->out));
    }
}

static void run_transpose(void *context, long count)
{
    work *w = context;
    const size_t nu = (size_t)w->m->nu;
    begin(w, 0);
    for (long i = 0; i < count; ++i) {
        talus_require(&w->t, tal_matter_mul_ID_derivatives_T(w->t.matter, w->t.state, w->m->v[0],
                                                             w->F, w->m->v[1], w->out, w->out + nu,
                                                             w->out + 2 * nu));
    }
}

enum {
    BARE,
    ALL_OF_FORWARD,
    ID_DERIVATIVES,
    FD_DERIVATIVES,
    INVERSE_ALONE,
    PRODUCT,
    TRANSPOSE,
    NUM_ROWS
};

static void measure(model m)
{
    const size_t nu = (size_t)m.nu;
    work w = {.m = &m, .t = talus_build(&m), .bare = contestant_bare.create(&m)};
    w.F = calloc((size_t)m.num_bodies, sizeof *w.F);
    w.zero = calloc(nu + 1, sizeof *w.zero);
    w.out = calloc(3 * nu * nu + 3 * nu, sizeof *w.out);
    if (w.F == NULL || w.zero == NULL || w.out == NULL) exit(EXIT_FAILURE);
    bench rows[NUM_ROWS] = {
        {.name = "bare forward dynamics", .run = w.bare != NULL ? run_bare : run_forward},
        {.name = "forward dynamics", .run = run_forward},
        {.name = "derivatives of inverse dynamics, and M", .run = run_ID_derivatives},
        {.name = "derivatives of forward dynamics, and M^-1", .run = run_FD_derivatives},
        {.name = "inverse dynamics alone", .run = run_inverse},
        {.name = "product with its derivatives", .run = run_product},
        {.name = "transposed product", .run = run_transpose},
    };
    for (int i = 0; i < NUM_ROWS; ++i) {
        rows[i].context = &w;
    }
    bench_measure(rows, NUM_ROWS, 101, 1e5);
    bench_print(m.name, rows, NUM_ROWS);
    (void)printf("  ID derivatives %.2f bare, FD derivatives %.2f forward, products %.2f and %.2f "
                 "inverse\n",
                 rows[ID_DERIVATIVES].median / rows[BARE].median,
                 rows[FD_DERIVATIVES].median / rows[ALL_OF_FORWARD].median,
                 rows[PRODUCT].median / rows[INVERSE_ALONE].median,
                 rows[TRANSPOSE].median / rows[INVERSE_ALONE].median);
    if (w.bare != NULL) contestant_bare.destroy(w.bare);
    talus_free(&w.t);
    free(w.F), free(w.zero), free(w.out);
    model_free(&m);
}

int main(void)
{
    measure(model_pin_chain(10));
    measure(model_pin_chain(30));
    measure(model_pin_chain(100));
    measure(model_pin_tree(63));
    measure(model_humanoid(0));
    measure(model_ball_chain(50));
    return EXIT_SUCCESS;
}
