// From decimal to binary: 128 bits decide almost always, exact arithmetic does the rest.
//
// 10^q = 5^q 2^q, and 5^q is a product of two table entries: 5^(28 k), cut off after 128 bits, and
// 5^r with 0 <= r < 28, exact. Each cut takes less than one unit of the last bit, so does each
// product, and one shift doubles what was lost: the error stays below TALI_BINARY_ERROR.
#include "text/number_internal.h"

#include <assert.h>
#include <stddef.h>

enum {
    COARSE_STEP = 28,
    COARSE_FIRST = -15 // the first entry is 5^(COARSE_FIRST COARSE_STEP)
};

typedef struct power {
    uint64_t high, low;
    int exponent; // 5^q is not less than (high 2^64 + low) 2^exponent, by less than one unit
} power;

// clang-format off
static const power COARSE[] = {
    {UINT64_C(0xdd5a2c3eab3097cb), UINT64_C(0xbd54467eec6dd2bb), -1103}, // 5^-420
    {UINT64_C(0xdf82365c497b5453), UINT64_C(0xcb285ceb2fed040d), -1038}, // 5^-392
    {UINT64_C(0xe1afa13afbd14d6d), UINT64_C(0x82189c09a3a1ec21), -973}, // 5^-364
    {UINT64_C(0xe3e27a444d8d98b7), UINT64_C(0xfd1b1b2308169b25), -908}, // 5^-336
    {UINT64_C(0xe61acf033d1a45df), UINT64_C(0x6fb92487298e33bd), -843}, // 5^-308
    {UINT64_C(0xe858ad248f5c22c9), UINT64_C(0xd1b3400f8f9cff68), -778}, // 5^-280
    {UINT64_C(0xea9c227723ee8bcb), UINT64_C(0x465e15a979c1cadc), -713}, // 5^-252
    {UINT64_C(0xece53cec4a314ebd), UINT64_C(0xa4f8bf5635246428), -648}, // 5^-224
    {UINT64_C(0xef340a98172aace4), UINT64_C(0x86fb897116c87c34), -583}, // 5^-196
    {UINT64_C(0xf18899b1bc3f8ca1), UINT64_C(0xdc44e6c3cb279ac1), -518}, // 5^-168
    {UINT64_C(0xf3e2f893dec3f126), UINT64_C(0x5a89dba3c3efccfa), -453}, // 5^-140
    {UINT64_C(0xf64335bcf065d37d), UINT64_C(0x4d4617b5ff4a16d5), -388}, // 5^-112
    {UINT64_C(0xf8a95fcf88747d94), UINT64_C(0x75a44c6397ce912a), -323}, // 5^-84
    {UINT64_C(0xfb158592be068d2e), UINT64_C(0xeed6e2f0f0d56712), -258}, // 5^-56
    {UINT64_C(0xfd87b5f28300ca0d), UINT64_C(0x8bca9d6e188853fc), -193}, // 5^-28
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000), -127}, // 5^0
    {UINT64_C(0x813f3978f8940984), UINT64_C(0x4000000000000000), -62}, // 5^28
    {UINT64_C(0x82818f1281ed449f), UINT64_C(0xbff8f10e7a8921a4), 3}, // 5^56
    {UINT64_C(0x83c7088e1aab65db), UINT64_C(0x792667c6da79e0fa), 68}, // 5^84
    {UINT64_C(0x850fadc09923329e), UINT64_C(0x03e2cf6bc604ddb0), 133}, // 5^112
    {UINT64_C(0x865b86925b9bc5c2), UINT64_C(0x0b8a2392ba45a9b2), 198}, // 5^140
    {UINT64_C(0x87aa9aff79042286), UINT64_C(0x90fb44d2f05d0842), 263}, // 5^168
    {UINT64_C(0x88fcf317f22241e2), UINT64_C(0x441fece3bdf81f03), 328}, // 5^196
    {UINT64_C(0x8a5296ffe33cc92f), UINT64_C(0x82bd6b70d99aaa6f), 393}, // 5^224
    {UINT64_C(0x8bab8eefb6409c1a), UINT64_C(0x1ad089b6c2f7548e), 458}, // 5^252
    {UINT64_C(0x8d07e33455637eb2), UINT64_C(0xdb0b487b6423e1e8), 523}, // 5^280
    {UINT64_C(0x8e679c2f5e44ff8f), UINT64_C(0x570f09eaa7ea7648), 588}, // 5^308
    {UINT64_C(0x8fcac257558ee4e6), UINT64_C(0x213a4f0aa5e8a7b1), 653}, // 5^336
};

static const uint64_t FINE[COARSE_STEP] = {
    UINT64_C(1), UINT64_C(5), UINT64_C(25), UINT64_C(125), UINT64_C(625), UINT64_C(3125),
    UINT64_C(15625), UINT64_C(78125), UINT64_C(390625), UINT64_C(1953125), UINT64_C(9765625),
    UINT64_C(48828125), UINT64_C(244140625), UINT64_C(1220703125), UINT64_C(6103515625),
    UINT64_C(30517578125), UINT64_C(152587890625), UINT64_C(762939453125),
    UINT64_C(3814697265625), UINT64_C(19073486328125), UINT64_C(95367431640625),
    UINT64_C(476837158203125), UINT64_C(2384185791015625), UINT64_C(11920928955078125),
    UINT64_C(59604644775390625), UINT64_C(298023223876953125), UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

// clang-format on

static int leading_zeros(uint64_t x)
{
    int n = 0;
    for (int step = 32; step > 0; step /= 2) {
        if (x >> (64 - step) == 0) {
            n += step;
            x <<= step;
        }
    }
    return n;
}

// The first 128 bits of a * b, with the first of them 1; `bits` of the product were dropped.
static tali_number_u128 multiply(tali_number_u128 a, uint64_t b, int *bits)
{
    const tali_number_u128 low = (tali_number_u128)(uint64_t)a * b;
    const tali_number_u128 high = (a >> 64) * b + (low >> 64);
    const uint64_t top = (uint64_t)(high >> 64);
    const int shift = top != 0 ? leading_zeros(top) : 64;
    *bits = 64 - shift;
    if (shift == 0) return high;
    return high << shift | (uint64_t)low >> (64 - shift);
}

tali_number_binary tali_number_binary_product(uint64_t w, int q)
{
    const int k = q >= 0 ? q / COARSE_STEP : -((COARSE_STEP - 1 - q) / COARSE_STEP);
    assert(w > 0 && k >= COARSE_FIRST && k - COARSE_FIRST < (int)(sizeof COARSE / sizeof *COARSE));
    const power *coarse = &COARSE[k - COARSE_FIRST];

    tali_number_binary x = {(tali_number_u128)coarse->high << 64 | coarse->low,
                            coarse->exponent + q};
    int bits;
    x.significand = multiply(x.significand, FINE[q - k * COARSE_STEP], &bits);
    x.exponent += bits;

    const int shift = leading_zeros(w);
    x.significand = multiply(x.significand, w << shift, &bits);
    x.exponent += bits - shift;
    return x;
}

// ---- natural numbers

void tali_number_natural_extend(tali_number_natural *n, uint32_t factor, uint32_t term)
{
    uint64_t carry = term;
    for (int i = 0; i < n->count; ++i) {
        carry += (uint64_t)n->words[i] * factor;
        n->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry == 0) return;
    assert(n->count < (int)(sizeof n->words / sizeof *n->words));
    n->words[n->count++] = (uint32_t)carry;
}

static void multiply_power_of_5(tali_number_natural *n, int q)
{
    const int most = 13; // the largest power that fits a word
    for (; q >= most; q -= most) {
        tali_number_natural_extend(n, UINT32_C(1220703125), 0);
    }
    for (; q > 0; --q) {
        tali_number_natural_extend(n, 5, 0);
    }
}

static void multiply_power_of_2(tali_number_natural *n, int e)
{
    tali_number_natural_extend(n, UINT32_C(1) << (e % 32), 0);
    const int words = e / 32;
    assert(n->count + words <= (int)(sizeof n->words / sizeof *n->words));
    for (int i = n->count - 1; i >= 0; --i) {
        n->words[i + words] = n->words[i];
    }
    for (int i = 0; i < words; ++i) {
        n->words[i] = 0;
    }
    n->count += words;
}

static tali_number_natural natural_from(uint64_t m)
{
    tali_number_natural n = {.count = 0};
    for (; m != 0; m >>= 32) {
        n.words[n.count++] = (uint32_t)m;
    }
    return n;
}

int tali_number_natural_compare(const tali_number_natural *n, int q, uint64_t m, int e)
{
    tali_number_natural a = *n, b = natural_from(m);
    multiply_power_of_5(q > 0 ? &a : &b, q > 0 ? q : -q);
    const int shift = e - q;
    multiply_power_of_2(shift < 0 ? &a : &b, shift < 0 ? -shift : shift);

    if (a.count != b.count) return a.count < b.count ? -1 : 1;
    for (int i = a.count - 1; i >= 0; --i) {
        if (a.words[i] != b.words[i]) return a.words[i] < b.words[i] ? -1 : 1;
    }
    return 0;
}

// ---- the nearest double

// The decimal number w 10^q, or `exact` 10^exact_q where w is cut off.
typedef struct decimal {
    uint64_t w;
    int q;
    const tali_number_natural *exact; // NULL: w is all there is
    int exact_q;
} decimal;

// Whether the number rounds up from m 2^e, where it lies between m 2^e and (m + 1) 2^e.
static bool rounds_up(const decimal *number, uint64_t m, int e)
{
    const tali_number_natural all =
        number->exact != NULL ? *number->exact : natural_from(number->w);
    const int q = number->exact != NULL ? number->exact_q : number->q;
    const int sign = tali_number_natural_compare(&all, q, 2 * m + 1, e - 1);
    return sign > 0 || (sign == 0 && m % 2 == 1);
}

uint64_t tali_number_nearest_double(uint64_t w, int q, const tali_number_natural *exact,
                                    int exact_q)
{
    const uint64_t infinity = UINT64_C(0x7ff) << 52;
    const decimal number = {w, q, exact, exact_q};
    if (q > 310) return infinity;
    if (q < -400) return 0; // w has 20 digits at most, and the least double is 5e-324
    const tali_number_binary x = tali_number_binary_product(w, q);

    // the last of 53 bits, or the last bit that a small double has, is worth 2^e
    const int e = x.exponent + 75 > -1074 ? x.exponent + 75 : -1074;
    const int shift = e - x.exponent;
    if (e > 971) return infinity;
    if (shift > 129) return 0;
    // below the midpoint of zero and the least double; what was cut off may lift it above
    if (shift == 129) return rounds_up(&number, 0, e) ? 1 : 0;

    uint64_t m = shift < 128 ? (uint64_t)(x.significand >> shift) : 0;
    const tali_number_u128 rest =
        shift < 128 ? x.significand - ((tali_number_u128)m << shift) : x.significand;
    const tali_number_u128 half = (tali_number_u128)1 << (shift - 1);
    // w may be cut off by one unit in its last place, which is 19 digits away from the first
    const tali_number_u128 cut = exact != NULL ? (tali_number_u128)1 << 71 : 0;
    const bool above = rest > half + TALI_BINARY_ERROR;
    const bool near = rest + TALI_BINARY_ERROR + cut >= half;
    if (above || (near && rounds_up(&number, m, e))) m += 1;
    // a carry out of m goes where it belongs, into the exponent
    const uint64_t bits = ((uint64_t)(e + 1074) << 52) + m;
    return bits < infinity ? bits : infinity;
}
