// Status names and the one place where an error message is written.
// For uselocale. NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "error_internal.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tal_status_name(tal_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case name:                                                                                     \
        return #name;
        TAL_STATUS_LIST(X)
#undef X
    }
    return "TAL_ERR_UNKNOWN";
}

const char *tal_status_text(tal_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case name:                                                                                     \
        return text;
        TAL_STATUS_LIST(X)
#undef X
    }
    return "not a Talus status code";
}

// "-nan" is "nan": the sign of a NaN says nothing, and depends on the processor.
static void drop_signs_of_nan(char text[])
{
    for (char *at = strstr(text, "-nan"); at != NULL; at = strstr(at, "-nan")) {
        memmove(at, at + 1, strlen(at));
    }
}

// A number at `at` as a person writes it: 0.005, not 0.0050000000000000001. As few digits as give
// the same double; the text becomes shorter, or stays. Returns what is behind it.
static char *shorten_number(char *at)
{
    char *end = at, shorter[32];
    const double value = strtod(at, &end);
    const size_t length = (size_t)(end - at);
    for (int digits = 15; digits < 17; ++digits) {
        const int size = snprintf(shorter, sizeof shorter, "%.*g", digits, value);
        if (strtod(shorter, NULL) != value || (size_t)size >= length) continue;
        memmove(at + size, end, strlen(end) + 1);
        memcpy(at, shorter, (size_t)size);
        return at + size;
    }
    return end;
}

// Numbers of 17 digits stand behind blanks.
static void shorten_numbers(char text[])
{
    for (char *at = strchr(text, ' '); at != NULL; at = strchr(at, ' ')) {
        ++at;
        const char first = at[*at == '-' ? 1 : 0];
        if (first >= '0' && first <= '9') at = shorten_number(at);
    }
}

void tali_error_print(char text[], size_t size, const char *fmt, va_list args)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); // glibc has it ready
    const locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    (void)vsnprintf(text, size, fmt != NULL ? fmt : "no reason was given", args);
    if (size > 0) drop_signs_of_nan(text);
    if (size > 0 && fmt != NULL && strstr(fmt, "%.17g") != NULL) shorten_numbers(text);
    if (plain == (locale_t)0) return;
    (void)uselocale(before);
    freelocale(plain);
}

// The message buffer lives in the object, so failing never allocates, and two threads failing on
// two States never meet.
tal_status tali_vfail(tal_error *err, tal_status status, const char *where, const char *fmt,
                      va_list args)
{
    if (err == NULL || err->status != TAL_OK) return status;

    err->status = status;
    (void)snprintf(err->where, sizeof err->where, "%s", where);
    tali_error_print(err->message, sizeof err->message, fmt, args);
    return status;
}

tal_status tali_fail(tal_error *err, tal_status status, const char *where, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)tali_vfail(err, status, where, fmt, args);
    va_end(args);
    return status;
}
