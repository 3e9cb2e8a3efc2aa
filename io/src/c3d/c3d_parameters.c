// Numbers and parameters of C3D files.
#include "c3d/c3d_internal.h"
#include "table/table_internal.h"

#include <stdio.h>
#include <string.h>

// --- numbers ---

int tali_c3d_integer(const tali_c3d *it, const unsigned char *at)
{
    const int value = it->machine == TALI_C3D_MIPS ? at[0] << 8 | at[1] : at[1] << 8 | at[0];
    return value < 0x8000 ? value : value - 0x10000;
}

// Reals of DEC have their words in the other order, and are four times as large.
double tali_c3d_real(const tali_c3d *it, const unsigned char *at)
{
    static const int orders[3][4] = {{3, 2, 1, 0}, {1, 0, 3, 2}, {0, 1, 2, 3}};
    const int *order = orders[it->machine - TALI_C3D_INTEL];
    uint32_t bits = 0;
    for (int k = 0; k < 4; ++k) {
        bits = bits << 8 | at[order[k]];
    }
    float value;
    if (it->machine == TALI_C3D_DEC && (bits & 0x7f800000U) == 0) return 0.0;
    memcpy(&value, &bits, sizeof value);
    return it->machine == TALI_C3D_DEC ? 0.25 * (double)value : (double)value;
}

// --- parameters ---

// One entry of the list: a group (its number is negative) or a parameter of a group.
typedef struct entry {
    int group;
    const unsigned char *name;
    int length;
    const unsigned char *body, *end; // behind its offset; the end of the file
    const unsigned char *next;       // NULL: it is the last
} entry;

// False at the end of the list, and where the file ends within an entry.
static bool read_entry(const tali_c3d *it, const unsigned char *at, entry *e)
{
    const unsigned char *end = it->bytes + it->size;
    if (at == NULL || end - at < 4) return false;
    const int length = at[0] < 128 ? at[0] : 256 - at[0]; // negative: it is locked
    if (length == 0 || end - at < 4 + length) return false;
    *e = (entry){.group = at[1] < 128 ? at[1] : at[1] - 256, .name = at + 2, .length = length};
    e->body = at + 4 + length;
    e->end = end;
    const int offset = tali_c3d_integer(it, at + 2 + length) & 0xffff;
    if (offset > 2 && offset < end - (at + 2 + length)) e->next = at + 2 + length + offset;
    return true;
}

static bool has_name(const entry *e, const char *name)
{
    char text[128];
    memcpy(text, e->name, (size_t)e->length);
    text[e->length < 127 ? e->length : 127] = '\0';
    return tali_table_same_word(text, name);
}

static tali_c3d_parameter read_parameter(const entry *e)
{
    const tali_c3d_parameter none = {.data = NULL};
    const unsigned char *at = e->body;
    if (e->end - at < 2) return none;
    tali_c3d_parameter p = {.width = at[0] < 128 ? at[0] : at[0] - 256, .num_dims = at[1]};
    const bool is_known = p.width == -1 || p.width == 1 || p.width == 2 || p.width == 4;
    if (!is_known || p.num_dims > 7 || e->end - at < 2 + p.num_dims) return none;
    long long count = 1;
    for (int k = 0; k < p.num_dims; ++k) {
        p.dims[k] = at[2 + k];
        count *= p.dims[k];
        if (count > TALI_MAX_COUNT) return none;
    }
    p.data = at + 2 + p.num_dims;
    p.count = (int)count;
    const long long width = p.width < 0 ? 1 : p.width;
    return count * width <= e->end - p.data ? p : none;
}

tali_c3d_parameter tali_c3d_find(const tali_c3d *it, const char *group, const char *name)
{
    const tali_c3d_parameter none = {.data = NULL};
    const unsigned char *first = it->bytes + it->parameters + 4;
    entry e;
    int number = 0;
    for (const unsigned char *at = first; read_entry(it, at, &e); at = e.next) {
        if (e.group < 0 && has_name(&e, group)) number = -e.group;
    }
    if (number == 0) return none;
    for (const unsigned char *at = first; read_entry(it, at, &e); at = e.next) {
        if (e.group == number && has_name(&e, name)) return read_parameter(&e);
    }
    return none;
}

double tali_c3d_value(const tali_c3d *it, const tali_c3d_parameter *p, int i, double initial)
{
    if (p->data == NULL || i >= p->count || p->width < 0) return initial;
    const unsigned char *at = p->data + (size_t)i * (size_t)p->width;
    if (p->width == 4) return tali_c3d_real(it, at);
    return p->width == 2 ? tali_c3d_integer(it, at) : at[0];
}

// Integers above 32767 look negative. NaN is below nothing, and becomes 0.
int tali_c3d_count(const tali_c3d *it, const tali_c3d_parameter *p, int i, int initial)
{
    double value = tali_c3d_value(it, p, i, initial);
    if (p->width == 2 && value < 0.0) value += 65536.0;
    return value >= 65535.0 ? 65535 : value > 0.0 ? (int)value : 0;
}

void tali_c3d_text(const tali_c3d_parameter *p, int i, char text[])
{
    text[0] = '\0';
    if (p->data == NULL || p->width != -1 || p->num_dims == 0) return;
    int length = p->dims[0];
    if (length == 0 || i >= p->count / length) return;
    const unsigned char *at = p->data + (size_t)i * (size_t)length;
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\0')) {
        --length;
    }
    for (; length > 0 && *at == ' '; --length) {
        ++at;
    }
    const size_t n = length < 127 ? (size_t)length : 127;
    for (size_t k = 0; k < n; ++k) { // what no name may have
        const bool is_plain = at[k] > ' ' && at[k] < 127;
        text[k] = '_';
        if (is_plain) text[k] = (char)at[k];
    }
    text[n] = '\0';
}

// A parameter has at most 255 labels: LABELS, then LABELS2, LABELS3 and so on.
void tali_c3d_label(const tali_c3d *it, const char *group, int i, tali_c3d_parameter *labels,
                    char text[])
{
    if (i % 255 == 0) {
        char name[16] = "LABELS";
        if (i > 0) (void)snprintf(name, sizeof name, "LABELS%d", 1 + i / 255);
        *labels = tali_c3d_find(it, group, name);
    }
    tali_c3d_text(labels, i % 255, text);
    if (text[0] == '\0') (void)snprintf(text, 16, "%d", i + 1);
}
