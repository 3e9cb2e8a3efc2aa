// Counter-based random numbers: Philox4x32-10 and the distributions drawn from it.
#include "error_internal.h"
#include "random_internal.h"

#include <talus/common/random.h>

#include <math.h>
#include <string.h>

// One round maps (x0, x1, x2, x3) to
//
//     (hi(M1 x2) ^ x1 ^ k0,  lo(M1 x2),  hi(M0 x0) ^ x3 ^ k1,  lo(M0 x0))
//
// and the key grows by the Weyl constants between rounds (Salmon et al., SC 2011, and their
// library Random123).
void tali_random_philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    static const uint32_t M0 = 0xD2511F53U;
    static const uint32_t M1 = 0xCD9E8D57U;
    static const uint32_t W0 = 0x9E3779B9U; // golden ratio
    static const uint32_t W1 = 0xBB67AE85U; // sqrt(3) - 1

    uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k0 = key[0];
    uint32_t k1 = key[1];
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = (uint64_t)M0 * x[0];
        const uint64_t b = (uint64_t)M1 * x[2];
        const uint32_t y[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k0, (uint32_t)b,
                               (uint32_t)(a >> 32) ^ x[3] ^ k1, (uint32_t)a};
        memcpy(x, y, sizeof x);
        k0 += W0;
        k1 += W1;
    }
    memcpy(out, x, sizeof x);
}

// The draw at the generator's counter, as two words of 64 bits; the counter moves on. False, and
// the contract broken, when there is no generator.
static bool draw_bits(tal_random *random, uint64_t bits[2], const char *where)
{
    bits[0] = 0;
    bits[1] = 0;
    if (random == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the generator is NULL");
        return false;
    }
    const uint32_t counter[4] = {(uint32_t)random->counter, (uint32_t)(random->counter >> 32),
                                 (uint32_t)random->stream, (uint32_t)(random->stream >> 32)};
    const uint32_t key[2] = {(uint32_t)random->seed, (uint32_t)(random->seed >> 32)};
    uint32_t x[4];
    tali_random_philox4x32_10(counter, key, x);
    bits[0] = x[0] | (uint64_t)x[1] << 32;
    bits[1] = x[2] | (uint64_t)x[3] << 32;
    ++random->counter;
    return true;
}

static double closed_open(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

static double open_open(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

uint64_t tal_random_bits(tal_random *random)
{
    uint64_t bits[2];
    (void)draw_bits(random, bits, __func__);
    return bits[0];
}

double tal_random_uniform(tal_random *random)
{
    uint64_t bits[2];
    return draw_bits(random, bits, __func__) ? closed_open(bits[0]) : (double)NAN;
}

double tal_random_uniform_open(tal_random *random)
{
    uint64_t bits[2];
    return draw_bits(random, bits, __func__) ? open_open(bits[0]) : (double)NAN;
}

double tal_random_range(tal_random *random, double low, double high)
{
    uint64_t bits[2];
    if (!draw_bits(random, bits, __func__)) return (double)NAN;
    if (!isfinite(low) || !isfinite(high)) return (double)NAN;
    const double u = closed_open(bits[0]);
    return (1.0 - u) * low + u * high; // never overflows, unlike low + u (high - low)
}

int tal_random_index(tal_random *random, int n)
{
    uint64_t bits[2];
    if (n < 1) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "n is %d; it must be positive", n);
        return -1;
    }
    if (!draw_bits(random, bits, __func__)) return -1;
    // floor(n bits / 2^64) without a 128-bit product: n has 31 bits
    const uint64_t low = (uint64_t)n * (bits[0] & 0xFFFFFFFFU);
    const uint64_t high = (uint64_t)n * (bits[0] >> 32);
    return (int)((high + (low >> 32)) >> 32);
}

// Box and Muller 1958: sqrt(-2 ln u) cos(2 pi v). The second normal of the pair is not used, so
// that one draw is one number.
double tal_random_normal(tal_random *random)
{
    static const double TWO_PI = 6.28318530717958647692;
    uint64_t bits[2];
    if (!draw_bits(random, bits, __func__)) return (double)NAN;
    return sqrt(-2.0 * log(open_open(bits[0]))) * cos(TWO_PI * closed_open(bits[1]));
}
