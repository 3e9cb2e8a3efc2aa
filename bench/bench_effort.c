// What the least effort costs: 92 muscles, 23 equations, frames of a motion one after the other.
//
// Aim: 150 us for a frame that begins with the multipliers of the frame before.
#include "bench.h"

#include <talus/common.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    M = 23,
    N = 92,
    FRAMES = 100
};

typedef struct work {
    double A[M * N], b[FRAMES][M], lower[N], upper[N];
    double lambda[M], x[N], room[M * N + M * M + 8 * M + 7 * N];
    double exponent;
    int warm;
    long iterations, frames;
} work;

// Each muscle spans three joints; its moments follow an activation that rises and falls.
static void prepare(work *w, double exponent, int warm)
{
    tal_random rng = {1, 2, 0};
    *w = (work){.exponent = exponent, .warm = warm};
    for (int j = 0; j < N; ++j) {
        const double phase = 6.28 * tal_random_uniform(&rng), most = 0.6 * tal_random_uniform(&rng);
        w->lower[j] = 0.01;
        w->upper[j] = 1.0;
        for (int k = 0; k < 3; ++k) {
            const int i = (int)(tal_random_uniform(&rng) * M);
            w->A[i + M * j] += 60.0 * tal_random_normal(&rng);
        }
        for (int f = 0; f < FRAMES; ++f) {
            const double x = fmax(0.01, most * sin(phase + 6.28 * f / FRAMES));
            for (int i = 0; i < M; ++i) {
                w->b[f][i] += w->A[i + M * j] * x;
            }
        }
    }
}

static void run(void *context, long count)
{
    work *w = context;
    tal_effort_problem problem = {
        tal_matrix_view(w->A, M, N), NULL, NULL, w->lower, w->upper, w->exponent};
    for (long k = 0; k < count; ++k) {
        problem.b = w->b[w->frames++ % FRAMES];
        if (!w->warm) memset(w->lambda, 0, sizeof w->lambda);
        tal_effort_report report;
        tal_error err;
        if (tal_effort_solve(&problem, w->lambda, w->x, NULL, w->room, &report, &err) != TAL_OK) {
            (void)fprintf(stderr, "%s\n", err.message);
            exit(EXIT_FAILURE);
        }
        w->iterations += report.iterations;
    }
}

int main(void)
{
    static work w[4];
    static const char *const names[] = {"p = 2, from the frame before", "p = 2, from nothing",
                                        "p = 3, from the frame before", "p = 3, from nothing"};
    bench rows[4];
    for (int i = 0; i < 4; ++i) {
        prepare(&w[i], i < 2 ? 2.0 : 3.0, i % 2 == 0);
        rows[i] = (bench){.name = names[i], .run = run, .context = &w[i]};
    }
    bench_measure(rows, 4, 51, 2e6);
    bench_print("least effort, 92 muscles and 23 equations", rows, 4);
    for (int i = 0; i < 4; ++i) {
        printf("%s: %.1f iterations\n", names[i], (double)w[i].iterations / (double)w[i].frames);
    }
    return EXIT_SUCCESS;
}
