// The harness of all benchmarks.
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double bench_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

// The first run is not timed: it finds the cache full of what another contestant left there.
static double time_batch(const bench *b, long count)
{
    b->run(b->context, 1);
    const double start = bench_now();
    b->run(b->context, count);
    return (bench_now() - start) / (double)count;
}

// How many repetitions fill a batch; warms the caches up on the way.
static long calibrate(const bench *b, double batch_ns)
{
    long count = 1;
    while (time_batch(b, count) * (double)count < batch_ns && count < 1000000000L) {
        count *= 2;
    }
    return count;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_sort(double values[], int n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
}

void bench_measure(bench *benches, int n, int batches, double batch_ns)
{
    double *times = malloc((size_t)n * BENCH_MAX_BATCHES * sizeof *times);
    long *counts = malloc((size_t)n * sizeof *counts);
    if (times == NULL || counts == NULL) exit(EXIT_FAILURE);
    if (batches > BENCH_MAX_BATCHES) batches = BENCH_MAX_BATCHES;
    for (int i = 0; i < n; ++i) {
        counts[i] = calibrate(&benches[i], batch_ns);
    }
    for (int k = 0; k < batches; ++k) {
        for (int i = 0; i < n; ++i) {
            times[i * BENCH_MAX_BATCHES + k] = time_batch(&benches[i], counts[i]);
        }
    }
    for (int i = 0; i < n; ++i) {
        double *mine = times + (size_t)i * BENCH_MAX_BATCHES;
        bench_sort(mine, batches);
        benches[i].least = mine[0];
        benches[i].low = mine[batches / 4];
        benches[i].median = mine[batches / 2];
        benches[i].high = mine[3 * batches / 4];
    }
    free(times);
    free(counts);
}

bench_line bench_fit(const double x[], const double y[], const double weights[], int n)
{
    double w = 0.0, wx = 0.0, wxx = 0.0, wy = 0.0, wxy = 0.0;
    for (int i = 0; i < n; ++i) {
        w += weights[i], wx += weights[i] * x[i], wxx += weights[i] * x[i] * x[i];
        wy += weights[i] * y[i], wxy += weights[i] * x[i] * y[i];
    }
    const double d = w * wxx - wx * wx;
    return (bench_line){(wxx * wy - wx * wxy) / d, (w * wxy - wx * wy) / d};
}

void bench_print(const char *title, const bench *benches, int n)
{
    (void)printf("\n%-52s %10s   %s\n", title, "ns", "quartiles");
    for (int i = 0; i < n; ++i) {
        (void)printf("  %-50s %10.1f   %.1f ... %.1f\n", benches[i].name, benches[i].median,
                     benches[i].low, benches[i].high);
    }
}
