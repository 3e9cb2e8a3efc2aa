// What our own exp, log, tanh, pow and atan2 cost, next to libm in the same run.
//
// Aim: no more than twice libm for those that force laws call often (exp, tanh). libm has tables,
// which lanes would have to gather; ours have none.
#include "real_functions_internal.h"

#include "bench.h"

#include <math.h>
#include <stdio.h>

enum {
    NUM = 1024
};

typedef struct work {
    double x[NUM], y[NUM];
} work;

// clang-format off
#define TIMED(name, call)                                                                          \
    static void name(void *context, long count)                                                    \
    {                                                                                              \
        work *w = context;                                                                         \
        for (long i = 0; i < count; ++i) {                                                         \
            const double x = w->x[i % NUM];                                                        \
            w->y[i % NUM] = call;                                                                  \
        }                                                                                          \
    }
// clang-format on

TIMED(libm_exp, exp(x))
TIMED(ours_exp, real_exp(x))
TIMED(libm_log, log(x))
TIMED(ours_log, real_log(x))
TIMED(libm_tanh, tanh(x))
TIMED(ours_tanh, real_tanh(x))
TIMED(libm_pow, pow(x, 1.7))
TIMED(ours_pow, real_pow(x, 1.7))
TIMED(libm_atan2, atan2(x, 0.7))
TIMED(ours_atan2, real_atan2(x, 0.7))

int main(void)
{
    static work w;
    for (int i = 0; i < NUM; ++i) {
        w.x[i] = 0.01 + 3.0 * i / NUM;
    }
    bench rows[] = {
        {.name = "exp", .run = libm_exp},     {.name = "exp", .run = ours_exp},
        {.name = "log", .run = libm_log},     {.name = "log", .run = ours_log},
        {.name = "tanh", .run = libm_tanh},   {.name = "tanh", .run = ours_tanh},
        {.name = "pow", .run = libm_pow},     {.name = "pow", .run = ours_pow},
        {.name = "atan2", .run = libm_atan2}, {.name = "atan2", .run = ours_atan2},
    };
    const int n = (int)(sizeof rows / sizeof *rows);
    for (int i = 0; i < n; ++i) {
        rows[i].context = &w;
    }
    bench_measure(rows, n, 101, 1e5);
    (void)printf("function     libm ns    ours ns   ratio\n");
    for (int i = 0; i < n; i += 2) {
        (void)printf("%-8s %11.2f %10.2f %7.2f\n", rows[i].name, rows[i].median, rows[i + 1].median,
                     rows[i + 1].median / rows[i].median);
    }
    return 0;
}
