// Bytes that grow, and JSON in them.
#include "alloc_internal.h"

#include "scene/scene_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool make_room(tali_scene_bytes *out, size_t size)
{
    if (out->failed) return false;
    if (size <= out->capacity - out->size) return true;
    size_t capacity = out->capacity < 512 ? 1024 : out->capacity;
    while (capacity - out->size < size && capacity <= SIZE_MAX / 2) {
        capacity *= 2;
    }
    unsigned char *const at =
        capacity - out->size < size ? NULL : tali_alloc(&out->allocator, capacity);
    if (at == NULL) {
        out->failed = true;
        return false;
    }
    if (out->size > 0) memcpy(at, out->at, out->size);
    tali_free(&out->allocator, out->at, out->capacity);
    out->at = at;
    out->capacity = capacity;
    return true;
}

void tali_scene_bytes_free(tali_scene_bytes *out)
{
    tali_free(&out->allocator, out->at, out->capacity);
    *out = (tali_scene_bytes){.allocator = out->allocator};
}

void tali_scene_put(tali_scene_bytes *out, const void *bytes, size_t size)
{
    if (size == 0 || !make_room(out, size)) return;
    memcpy(out->at + out->size, bytes, size);
    out->size += size;
}

void tali_scene_pad(tali_scene_bytes *out, unsigned char with)
{
    while (!out->failed && out->size % 4 != 0) {
        tali_scene_put(out, &with, 1);
    }
}

void tali_scene_put_text(tali_scene_bytes *out, const char *text)
{
    tali_scene_put(out, text, strlen(text));
}

// How many bytes of a text can stand in a JSON string of a page as they are.
static size_t plain_length(const char *text)
{
    size_t n = 0;
    while ((unsigned char)text[n] >= ' ' && strchr("\"\\<>&\x7f\xe2", text[n]) == NULL) {
        ++n;
    }
    return n;
}

// What cannot: as an escape, or as it is where 0xe2 begins another letter than U+2028 and U+2029,
// which end lines of scripts. Returns its length.
static size_t put_special(tali_scene_bytes *out, const char *text)
{
    char escape[8];
    const unsigned char *const at = (const unsigned char *)text;
    if (at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9)) {
        tali_scene_put_text(out, at[2] == 0xa8 ? "\\u2028" : "\\u2029");
        return 3;
    }
    if (at[0] == 0xe2) {
        tali_scene_put(out, text, 1);
        return 1;
    }
    (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)at[0]);
    tali_scene_put_text(out, escape);
    return 1;
}

void tali_scene_put_string(tali_scene_bytes *out, const char *text)
{
    tali_scene_put_text(out, "\"");
    while (*text != 0) {
        const size_t n = plain_length(text);
        tali_scene_put(out, text, n);
        text += n;
        if (*text != 0) text += put_special(out, text);
    }
    tali_scene_put_text(out, "\"");
}

void tali_scene_put_number(tali_scene_bytes *out, double value)
{
    char text[TAL_NUMBER_SIZE];
    if (!isfinite(value)) {
        tali_scene_put_text(out, "null");
        return;
    }
    (void)tal_number_write(value == 0.0 ? 0.0 : value, text); // no -0
    tali_scene_put_text(out, text);
}

void tali_scene_put_integer(tali_scene_bytes *out, long long value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", value);
    tali_scene_put_text(out, text);
}

void tali_scene_put_numbers(tali_scene_bytes *out, const double values[], int n)
{
    tali_scene_put_text(out, "[");
    for (int i = 0; i < n; ++i) {
        if (i > 0) tali_scene_put_text(out, ",");
        tali_scene_put_number(out, values[i]);
    }
    tali_scene_put_text(out, "]");
}

void tali_scene_put_comma(tali_scene_bytes *out)
{
    const bool is_first = out->size == 0 || strchr("{[:,", out->at[out->size - 1]) != NULL;
    if (!is_first) tali_scene_put_text(out, ",");
}

void tali_scene_put_key(tali_scene_bytes *out, const char *key)
{
    tali_scene_put_comma(out);
    tali_scene_put_string(out, key);
    tali_scene_put_text(out, ":");
}

void tali_scene_put_vec3(tali_scene_bytes *out, tal_vec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    tali_scene_put_numbers(out, values, 3);
}

void tali_scene_put_xform(tali_scene_bytes *out, const tal_xform *X)
{
    const tal_quat h = tal_rotation_to_qt(&X->R);
    const double values[7] = {X->p.x, X->p.y, X->p.z, h.w, h.x, h.y, h.z};
    tali_scene_put_numbers(out, values, 7);
}

void tali_scene_put_base64(tali_scene_bytes *out, const unsigned char bytes[], size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!make_room(out, (size + 2) / 3 * 4)) return;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned b1 = left > 1 ? bytes[i + 1] : 0, b2 = left > 2 ? bytes[i + 2] : 0;
        const unsigned group = (unsigned)bytes[i] << 16 | b1 << 8 | b2;
        unsigned char *const at = out->at + out->size;
        at[0] = (unsigned char)digits[group >> 18];
        at[1] = (unsigned char)digits[group >> 12 & 63];
        at[2] = (unsigned char)(left > 1 ? digits[group >> 6 & 63] : '=');
        at[3] = (unsigned char)(left > 2 ? digits[group & 63] : '=');
        out->size += 4;
    }
}
