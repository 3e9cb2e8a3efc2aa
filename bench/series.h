// Cost against size as a straight line: models of all sizes take turns in one measurement.
#ifndef TALUS_BENCH_SERIES_H
#define TALUS_BENCH_SERIES_H

#include <stdbool.h>

/// Measure cost per joint of chains, Talus and bare C, cost per loop of four-bars, and what loops
/// and springs add to a tree; print slopes, fixed costs, ratios and what is aimed at.
void series_print(bool quick);

#endif // TALUS_BENCH_SERIES_H
