// The bare generator, for tests against published answers.
#ifndef TALUS_RANDOM_INTERNAL_H
#define TALUS_RANDOM_INTERNAL_H

#include <stdint.h>

/// Philox4x32-10: four random words, a function of counter and key.
void tali_random_philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif // TALUS_RANDOM_INTERNAL_H
