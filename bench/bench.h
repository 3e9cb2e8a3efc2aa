// Timing small pieces of work: many short batches, interleaved, medians.
//
// The candidates take turns, batch by batch, so that whatever slows the machine down for a while
// slows all of them. The median forgets interrupted batches; the spread tells how far to trust it.
#ifndef TALUS_BENCH_H
#define TALUS_BENCH_H

/// One thing to time.
typedef struct bench {
    const char *name;
    void (*run)(void *context, long count); ///< does the work `count` times
    void *context;
    double least;  ///< the best batch [ns]: what is left when nothing else runs
    double median; ///< ns for one piece of work
    double low;    ///< first quartile [ns]
    double high;   ///< third quartile [ns]
} bench;

enum {
    BENCH_MAX_BATCHES = 501
};

/// Nanoseconds that this process has computed. What is timed runs in one thread and waits for
/// nothing, so this is its wall time on a machine of its own; turns that others get do not count.
double bench_now(void);

/// Time all candidates: `batches` (at most BENCH_MAX_BATCHES) of about `batch_ns` each.
void bench_measure(bench *benches, int n, int batches, double batch_ns);

/// Sort n numbers, least first.
void bench_sort(double values[], int n);

/// y = at_zero + slope x
typedef struct bench_line {
    double at_zero, slope;
} bench_line;

/// The line through n points (two at least, of different x) by least squares with these weights.
bench_line bench_fit(const double x[], const double y[], const double weights[], int n);

/// Print one row for each candidate: name, median, quartiles.
void bench_print(const char *title, const bench *benches, int n);

#endif // TALUS_BENCH_H
