// Orders of a page: a flat object of JSON with words and numbers, and nothing else of JSON.
#include "viewer/orders.h"

#include <talus/talus.h>

#include <math.h>
#include <string.h>

static const char *const order_names[] = {"pause", "resume", "step", "reset", "speed", "set"};

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_blanks(cursor *it)
{
    while (it->at < it->end && strchr(" \t\r\n", *it->at) != NULL && *it->at != 0) {
        ++it->at;
    }
}

// A character, blanks before it passed over.
static bool skip(cursor *it, char c)
{
    skip_blanks(it);
    if (it->at >= it->end || *it->at != c) return false;
    ++it->at;
    return true;
}

// "word": small letters only; its length, 0: none.
static size_t read_word(cursor *it, const char **word)
{
    if (!skip(it, '"')) return 0;
    *word = it->at;
    while (it->at < it->end && *it->at >= 'a' && *it->at <= 'z') {
        ++it->at;
    }
    const size_t size = (size_t)(it->at - *word);
    return it->at < it->end && *it->at++ == '"' ? size : 0;
}

static bool is_word(const char *word, size_t size, const char *wanted)
{
    return size == strlen(wanted) && memcmp(word, wanted, size) == 0;
}

static bool read_kind(cursor *it, order *out)
{
    const char *word = NULL;
    const size_t size = read_word(it, &word);
    for (size_t i = 0; i < sizeof order_names / sizeof *order_names && size > 0; ++i) {
        if (!is_word(word, size, order_names[i])) continue;
        out->kind = (order_kind)i;
        return true;
    }
    return false;
}

static bool read_number(cursor *it, double *value)
{
    skip_blanks(it);
    const char *const end = tal_number_read(it->at, it->end, value);
    if (end == NULL || !isfinite(*value)) return false;
    it->at = end;
    return true;
}

static bool read_member(cursor *it, order *out, bool *has_kind)
{
    const char *key = NULL;
    const size_t size = read_word(it, &key);
    double index = -1.0;
    if (size == 0 || !skip(it, ':')) return false;
    if (is_word(key, size, "value")) return read_number(it, &out->value);
    if (is_word(key, size, "do")) return *has_kind = read_kind(it, out);
    if (!is_word(key, size, "index") || !read_number(it, &index)) return false;
    if (!(index >= 0.0 && index < 1e6) || index != floor(index)) return false;
    out->index = (int)index;
    return true;
}

bool order_read(const char text[], size_t size, order *out)
{
    cursor it = {text, text + size};
    bool has_kind = false;
    *out = (order){.index = -1, .value = (double)NAN};
    if (!skip(&it, '{')) return false;
    do {
        if (!read_member(&it, out, &has_kind)) return false;
    } while (skip(&it, ','));
    if (!has_kind || !skip(&it, '}')) return false;
    skip_blanks(&it);
    const bool needs_value = out->kind == ORDER_SPEED || out->kind == ORDER_SET;
    if (needs_value && isnan(out->value)) return false;
    return it.at == it.end && (out->kind != ORDER_SET || out->index >= 0);
}
