// Doubles and integers as text.
#include "error_internal.h"

#include "text/number_internal.h"
#include "text/text_internal.h"

#include <talus/io/number.h>

#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

enum {
    W_DIGITS = 19,      // decimal digits that always fit 64 bits
    EXACT_DIGITS = 768, // no double, and no midpoint of two, has more
    MAX_EXPONENT = 100000
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// ---- reading

// A decimal number as it is in the text.
typedef struct decimal {
    const char *first;  // first digit that is not zero; NULL when all are
    const char *last;   // behind the last digit
    const char *end;    // behind the exponent
    int64_t num_digits; // from the first to the last
    int64_t exponent;   // of the last digit
    bool negative;
} decimal;

// Digits with an optional point. False when there is no digit.
static bool scan_digits(const char *at, const char *end, decimal *number)
{
    bool any = false, fraction = false;
    for (; at < end && (is_digit(*at) || (*at == '.' && !fraction)); ++at) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        any = true;
        if (*at != '0' && number->first == NULL) number->first = at;
        if (number->first != NULL) number->num_digits += 1;
        if (fraction) number->exponent -= 1;
    }
    number->last = number->end = at;
    return any;
}

// "e-12", or nothing.
static void scan_exponent(const char *at, const char *end, decimal *number)
{
    if (at >= end || (*at != 'e' && *at != 'E')) return;
    ++at;
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) ++at;
    if (at >= end || !is_digit(*at)) return;

    int64_t exponent = 0;
    for (; at < end && is_digit(*at); ++at) {
        if (exponent < MAX_EXPONENT) exponent = 10 * exponent + (*at - '0');
    }
    number->exponent += negative ? -exponent : exponent;
    number->end = at;
}

// The first `limit` digits, and whether there is one that is not zero after them.
static tali_number_natural all_digits(const decimal *number, int limit, bool *more)
{
    tali_number_natural n = {.count = 0};
    *more = false;
    int taken = 0;
    for (const char *at = number->first; at < number->last; ++at) {
        if (*at == '.') continue;
        if (taken < limit) {
            tali_number_natural_extend(&n, 10, (uint32_t)(*at - '0'));
            ++taken;
        } else if (*at != '0') {
            *more = true;
            break;
        }
    }
    return n;
}

// Most numbers that people write: w and the power of ten are doubles, so that one operation, which
// rounds to nearest, gives the nearest double.
static bool convert_short(uint64_t w, int q, uint64_t *bits)
{
#if FLT_EVAL_METHOD == 0
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (w > UINT64_C(1) << 53 || q < -22 || q > 22) return false;
    const double x = q < 0 ? (double)w / powers[-q] : (double)w * powers[q];
    memcpy(bits, &x, sizeof x);
    return true;
#else
    (void)w, (void)q, (void)bits;
    return false;
#endif
}

// Bits of the nearest double, without the sign.
static uint64_t convert(const decimal *number)
{
    if (number->first == NULL) return 0;
    // far out of range, whatever the digits are
    const int64_t magnitude = number->num_digits + number->exponent;
    if (magnitude > 400) return UINT64_C(0x7ff) << 52;
    if (magnitude < -400) return 0;

    uint64_t w = 0;
    int taken = 0;
    for (const char *at = number->first; at < number->last && taken < W_DIGITS; ++at) {
        if (*at == '.') continue;
        w = 10 * w + (uint64_t)(*at - '0');
        ++taken;
    }
    const int q = (int)(magnitude - taken);
    if (taken == number->num_digits) {
        uint64_t bits;
        return convert_short(w, q, &bits) ? bits : tali_number_nearest_double(w, q, NULL, 0);
    }

    // a digit that is not zero behind all that count: a one does as well
    bool more;
    const int kept = number->num_digits < EXACT_DIGITS ? (int)number->num_digits : EXACT_DIGITS;
    tali_number_natural exact = all_digits(number, kept, &more);
    int exact_q = (int)(magnitude - kept);
    if (more) {
        tali_number_natural_extend(&exact, 10, 1);
        exact_q -= 1;
    }
    return tali_number_nearest_double(w, q, &exact, exact_q);
}

// Behind `word`, which is in lower case, if the text begins with it in any case; NULL otherwise.
static const char *skip_word(const char *at, const char *end, const char *word)
{
    for (; *word != '\0'; ++word, ++at) {
        if (at >= end) return NULL;
        const char c = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
        if (c != *word) return NULL;
    }
    return at;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// "inf", "infinity" or "nan"; NULL when it is none of them.
static const char *read_word(const char *at, const char *end, uint64_t *bits)
{
    const char *behind = skip_word(at, end, "nan");
    *bits = UINT64_C(0x7ff8) << 48;
    if (behind != NULL) return behind;
    *bits = UINT64_C(0x7ff) << 52;
    behind = skip_word(at, end, "infinity");
    return behind != NULL ? behind : skip_word(at, end, "inf");
}

const char *tal_number_read(const char *begin, const char *end, double *value)
{
    if (begin == NULL || value == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "%s is NULL", begin == NULL ? "begin" : "value");
        return NULL;
    }
    if (end == NULL) end = begin + strlen(begin);

    decimal number = {.first = NULL};
    const char *at = begin;
    if (at < end && (*at == '-' || *at == '+')) number.negative = *at++ == '-';

    uint64_t bits;
    if (scan_digits(at, end, &number)) {
        scan_exponent(number.last, end, &number);
        bits = convert(&number);
        if (bits == UINT64_C(0x7ff) << 52) return NULL;
    } else {
        number.end = read_word(at, end, &bits);
        if (number.end == NULL) return NULL;
    }
    *value = from_bits(bits | (uint64_t)number.negative << 63);
    return number.end;
}

int tal_numbers_read(const char *text, double values[], int capacity, const char **wrong)
{
    if (wrong != NULL) *wrong = NULL;
    if (text == NULL || (values == NULL && capacity > 0)) {
        (void)TALI_BREACH(TAL_ERR_NULL, "%s is NULL", text == NULL ? "text" : "values");
        return -1;
    }
    const char *end = text + strlen(text);
    int count = 0;
    for (const char *at = text; count < INT_MAX; ++count) {
        while (tali_text_is_blank(*at)) {
            ++at;
        }
        if (at == end) return count;
        double value;
        const char *behind = tal_number_read(at, end, &value);
        if (behind == NULL || !(tali_text_is_blank(*behind) || behind == end)) {
            if (wrong != NULL) *wrong = at;
            return -1;
        }
        if (count < capacity) values[count] = value;
        at = behind;
    }
    return count;
}

const char *tal_integer_read(const char *begin, const char *end, int *value)
{
    if (begin == NULL || value == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "%s is NULL", begin == NULL ? "begin" : "value");
        return NULL;
    }
    if (end == NULL) end = begin + strlen(begin);
    const char *at = begin;
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    if (at >= end || !is_digit(*at)) return NULL;

    int64_t n = 0;
    for (; at < end && is_digit(*at); ++at) {
        n = 10 * n + (*at - '0');
        if (n > (int64_t)INT_MAX + 1) return NULL;
    }
    if (negative) n = -n;
    if (n > INT_MAX) return NULL;
    *value = (int)n;
    return at;
}

// ---- writing

// The digits of x > 0, given as bits, rounded to n of them: x is near digits * 10^*q.
static uint64_t round_digits(uint64_t bits, int n, int *q)
{
    const int biased = (int)(bits >> 52);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const uint64_t m = biased > 0 ? fraction | UINT64_C(1) << 52 : fraction;
    const int e = (biased > 0 ? biased : 1) - 1075;

    int top = e; // 2^top <= x < 2^(top + 1)
    for (uint64_t rest = m >> 1; rest != 0; rest >>= 1) {
        ++top;
    }
    // the decimal exponent, or one less: 78913 / 2^18 is log10(2) from below
    const int scaled = top * 78913;
    int k = scaled >= 0 ? scaled >> 18 : -((-scaled + (1 << 18) - 1) >> 18);

    uint64_t limit = 1;
    for (int i = 0; i < n; ++i) {
        limit *= 10;
    }
    for (;; ++k) {
        *q = k + 1 - n;
        tali_number_binary x = tali_number_binary_product(m, -*q);
        x.exponent += e;
        // n digits fit 64 bits, so at least 64 bits are after the point; all are where the digit
        // is a one that the cut took a little from
        const int shift = -x.exponent;
        const tali_number_u128 half = (tali_number_u128)1 << (shift - 1);
        const uint64_t whole = shift < 128 ? (uint64_t)(x.significand >> shift) : 0;
        const uint64_t digits = whole + ((x.significand & half) != 0 ? 1 : 0);
        if (digits < limit) return digits;
    }
}

// As few digits as it takes to come back. With 17 every double does.
static uint64_t shortest_digits(uint64_t bits, int *q)
{
    const bool subnormal = bits >> 52 == 0;
    for (int n = subnormal ? 1 : 15; n < 17; ++n) {
        const uint64_t digits = round_digits(bits, n, q);
        if (tali_number_nearest_double(digits, *q, NULL, 0) == bits) return digits;
    }
    return round_digits(bits, 17, q);
}

static int write_exponent(int exponent, char *at)
{
    char *const begin = at;
    *at++ = 'e';
    if (exponent < 0) *at++ = '-';
    const int size = exponent < 0 ? -exponent : exponent;
    if (size >= 100) *at++ = (char)('0' + size / 100);
    if (size >= 10) *at++ = (char)('0' + size / 10 % 10);
    *at++ = (char)('0' + size % 10);
    return (int)(at - begin);
}

// `count` digits, the last of which is worth 10^q: with a point among them, or before, or an
// exponent.
static int place_point(const char digits[], int count, int q, char *at)
{
    char *const begin = at;
    const int point = count + q; // digits before the point
    if (point > 17 || point < -4) {
        *at++ = digits[0];
        if (count > 1) *at++ = '.';
        memcpy(at, digits + 1, (size_t)(count - 1));
        at += count - 1;
        return (int)(at - begin) + write_exponent(point - 1, at);
    }
    if (point <= 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = point; i < 0; ++i) {
            *at++ = '0';
        }
    }
    for (int i = 0; i < count; ++i) {
        if (i == point && i > 0) *at++ = '.';
        *at++ = digits[i];
    }
    for (int i = count; i < point; ++i) {
        *at++ = '0';
    }
    return (int)(at - begin);
}

static int write_word(const char *word, char text[])
{
    const size_t length = strlen(word);
    memcpy(text, word, length + 1);
    return (int)length;
}

int tal_number_write(double value, char text[])
{
    if (text == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "text is NULL");
        return -1;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const bool negative = bits >> 63 != 0;
    bits &= ~(UINT64_C(1) << 63);
    if (bits > UINT64_C(0x7ff) << 52) return write_word("nan", text);
    if (bits == UINT64_C(0x7ff) << 52) return write_word(negative ? "-inf" : "inf", text);
    if (bits == 0) return write_word(negative ? "-0" : "0", text);

    int q;
    uint64_t left = shortest_digits(bits, &q);
    for (; left % 10 == 0; left /= 10) {
        ++q;
    }
    char digits[20];
    int first = (int)sizeof digits;
    for (; left != 0; left /= 10) {
        digits[--first] = (char)('0' + left % 10);
    }
    int length = 0;
    if (negative) text[length++] = '-';
    length += place_point(digits + first, (int)sizeof digits - first, q, text + length);
    text[length] = '\0';
    return length;
}
