// Nothing is timed before all contestants agree.
#ifndef TALUS_BENCH_AGREE_H
#define TALUS_BENCH_AGREE_H

#include "contestant.h"

/**
 * Compare what the contestants compute for set 0 of a model's values, and print one line.
 *
 * @param[in] who    [n]
 * @param[in] selves [n] NULL for who cannot do this model
 * @return false, with a sentence on stderr, when two differ by more than round-off explains
 */
bool agree(const model *m, const contestant *const who[], void *const selves[], int n);

#endif // TALUS_BENCH_AGREE_H
