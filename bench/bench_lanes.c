// What forward dynamics costs without a State, alone and in lanes, against the bare code.
#include "bench.h"
#include "build_talus.h"
#include "contestant.h"
#include "operator/operators_internal.h"

#include <talus/matter/direct.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 64 // States, computed together
};

typedef struct work {
    const model *m;
    talus_model t;
    tal_direct *direct;
    tal_direct *four;     // the same with four lanes
    void *bare, *state;   // contestants
    double *q, *u, *udot; // [ROWS][...]
} work;

static void run_bare(void *context, long count)
{
    const work *w = context;
    contestant_bare.run(w->bare, FORWARD, true, count);
}

static void run_state(void *context, long count)
{
    const work *w = context;
    contestant_talus.run(w->state, FORWARD, true, count);
}

static void run_alone(void *context, long count)
{
    const work *w = context;
    const size_t nq = (size_t)tal_direct_nq(w->direct), nu = (size_t)w->m->nu;
    for (long i = 0; i < count; ++i) {
        const size_t k = (size_t)(i % ROWS);
        if (tal_direct_forward_dynamics(w->direct, w->q + k * nq, w->u + k * nu, NULL, NULL,
                                        w->udot) != TAL_OK) {
            talus_stop(tal_direct_error(w->direct));
        }
    }
}

// One piece of work is a State, so `count` of them are as many rows.
static void run_rows(const work *w, tal_direct *direct, long count)
{
    for (long i = 0; i < count; i += ROWS) {
        if (tal_direct_forward_dynamics_many(direct, ROWS, w->q, w->u, NULL, w->udot, NULL) !=
            TAL_OK) {
            talus_stop(tal_direct_error(direct));
        }
    }
}

static void run_many(void *context, long count)
{
    const work *w = context;
    run_rows(w, w->direct, count);
}

static void run_four(void *context, long count)
{
    const work *w = context;
    run_rows(w, w->four, count);
}

static void *need(size_t n)
{
    void *const block = calloc(n, sizeof(double));
    if (block == NULL) exit(EXIT_FAILURE);
    return block;
}

static void begin(work *w)
{
    const model *const m = w->m;
    tal_error err;
    w->t = talus_build(m);
    if (tal_direct_create(w->t.matter, w->t.state, &w->direct, &err) != TAL_OK) talus_stop(&err);
    if (tal_direct_create(w->t.matter, w->t.state, &w->four, &err) != TAL_OK) talus_stop(&err);
    (void)tali_op_direct_use_lanes(w->four, 4);
    (void)tal_direct_set_gravity(w->direct, MODEL_GRAVITY);
    (void)tal_direct_set_gravity(w->four, MODEL_GRAVITY);
    const size_t nq = (size_t)tal_direct_nq(w->direct), nu = (size_t)m->nu;
    w->q = need(ROWS * nq), w->u = need(ROWS * nu), w->udot = need(ROWS * nu);
    for (size_t k = 0; k < ROWS; ++k) {
        memcpy(w->q + k * nq, m->q[k % MODEL_SETS], nq * sizeof(double));
        memcpy(w->u + k * nu, m->u[k % MODEL_SETS], nu * sizeof(double));
    }
    w->bare = contestant_bare.create(m);
    w->state = contestant_talus.create(m);
}

static void end(work *w)
{
    if (w->bare != NULL) contestant_bare.destroy(w->bare);
    contestant_talus.destroy(w->state);
    tal_direct_destroy(w->direct);
    tal_direct_destroy(w->four);
    talus_free(&w->t);
    free(w->q), free(w->u), free(w->udot);
}

static void measure(model m)
{
    enum {
        THROUGH_STATE,
        DIRECT,
        MANY,
        FOUR,
        BARE,
        NUM_ROWS
    };

    work w = {.m = &m};
    begin(&w);
    bench rows[NUM_ROWS] = {{.name = "through the State", .run = run_state},
                            {.name = "direct", .run = run_alone},
                            {.name = "direct, many", .run = run_many},
                            {.name = "direct, many, by four", .run = run_four},
                            {.name = "bare", .run = run_bare}};
    const int n = w.bare != NULL ? NUM_ROWS : BARE;
    for (int i = 0; i < n; ++i) {
        rows[i].context = &w;
    }
    bench_measure(rows, n, 101, 2e5);
    bench_print(m.name, rows, n);
    (void)printf("  %d lanes: %.1f ns for a speed, %.2f of one by one; %d lanes: %.1f ns",
                 tal_direct_lanes(w.direct), rows[MANY].median / m.nu,
                 rows[MANY].median / rows[DIRECT].median, tal_direct_lanes(w.four),
                 rows[FOUR].median / m.nu);
    if (w.bare != NULL) {
        (void)printf("; direct is %.2f of bare and %.0f ns over 1.25 times it",
                     rows[DIRECT].median / rows[BARE].median,
                     rows[DIRECT].median - 1.25 * rows[BARE].median);
    }
    (void)printf("\n");
    end(&w);
    model_free(&m);
}

int main(void)
{
    static const int lengths[] = {2, 6, 10, 30, 100};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
        measure(model_pin_chain(lengths[i]));
    }
    measure(model_humanoid(0));
    measure(model_ball_chain(50));
    return EXIT_SUCCESS;
}
