// How many times memory was asked for.
#ifndef TALUS_BENCH_COUNT_ALLOC_H
#define TALUS_BENCH_COUNT_ALLOC_H

/// Allocations so far in this process; always 0 where they cannot be counted.
long allocations(void);

#endif // TALUS_BENCH_COUNT_ALLOC_H
