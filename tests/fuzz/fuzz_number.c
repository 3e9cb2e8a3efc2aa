// What libFuzzer calls: any bytes as numbers. What is read is what the C library reads, and reads
// again when written.
#include <talus/talus.h>

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    LONGEST = 4096
};

static void check_same(double x, double y)
{
    if (memcmp(&x, &y, sizeof x) != 0 && (!isnan(x) || !isnan(y))) __builtin_trap();
}

// strtod() takes more: blanks, hexadecimal digits, a NaN with a payload.
static bool is_plain(const char *text)
{
    return text[strcspn(text, "xX(")] == '\0' && strchr(" \t\n\v\f\r", text[0]) == NULL;
}

static void check_number(const char *text)
{
    double value = 0.5;
    char *end = NULL;
    const char *const behind = tal_number_read(text, NULL, &value);
    if (behind == NULL) check_same(value, 0.5); // unchanged
    if (!is_plain(text)) return;
    const double wanted = strtod(text, &end);
    const bool is_one = end != text && (!isinf(wanted) || strpbrk(text, "nN") != NULL);
    if (is_one != (behind != NULL) && !isinf(wanted)) __builtin_trap();
    if (behind == NULL) return;
    if (behind != end) __builtin_trap();
    check_same(value, wanted);
}

static void check_written(const char *text)
{
    double values[8];
    const char *wrong = text;
    const int n = tal_numbers_read(text, values, 8, &wrong);
    if ((n < 0) != (wrong != NULL)) __builtin_trap();
    for (int i = 0; i < n && i < 8; ++i) {
        char written[TAL_NUMBER_SIZE];
        double again = 0.0;
        const int length = tal_number_write(values[i], written);
        if (length < 1 || length >= TAL_NUMBER_SIZE || written[length] != '\0') __builtin_trap();
        if (tal_number_read(written, NULL, &again) != written + length) __builtin_trap();
        check_same(values[i], again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[LONGEST + 1];
    int whole = 0;
    (void)tal_contract_set_handler(tal_contract_silent);
    const size_t n = size < LONGEST ? size : LONGEST;
    if (n > 0) memcpy(text, data, n);
    text[n] = '\0';
    check_number(text);
    check_written(text);
    double value = 0.0;
    const char *const behind = tal_number_read(text, text + n / 2, &value); // ends where it is told
    if (behind != NULL && (behind <= text || behind > text + n / 2)) __builtin_trap();
    (void)tal_integer_read(text, NULL, &whole);
    return 0;
}
