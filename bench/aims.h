// What the rows say together: how long chains fare, allocations.
#ifndef TALUS_BENCH_AIMS_H
#define TALUS_BENCH_AIMS_H

#include "report.h"

/// Print what can be said from these rows, next to what is aimed at.
void aims_print(const row rows[], int n);

#endif // TALUS_BENCH_AIMS_H
