// C3D files: markers, analog channels and force plates as tables.
//
// The order of a file: a header of 512 bytes, parameters, then for each frame four numbers of each
// point (x, y, z, and how well it was seen) and some samples of each analog channel.
#include "file_internal.h"

#include "table/c3d_internal.h"
#include "table/table_internal.h"
#include "text/reading_internal.h"

#include <talus/common/rotation.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCK = 512,
    MAX_PLATES = 64,
    MAX_CHANNELS = 8 // of one plate
};

// What the parameters say about the data.
typedef struct contents {
    const tali_table_c3d *it;
    int points, channels, frames, samples; // samples of a channel in each frame
    double rate;                           // frames in a second
    double scale;                          // of integers; negative: numbers are reals
    double general;                        // scale of all channels
    size_t data, frame;                    // where it begins; bytes of a frame
    size_t width;                          // bytes of a number
    bool is_unsigned;                      // of integers of channels
} contents;

static void refuse(const tali_table_c3d *it, const char *why)
{
    tal_diagnostics_add(it->found, TAL_ERROR, it->file, 0, 0, "%s", why);
}

// --- what there is ---

static double parameter(const tali_table_c3d *it, const char *group, const char *name,
                        double initial)
{
    const tali_table_parameter p = tali_table_c3d_find(it, group, name);
    return tali_table_c3d_value(it, &p, 0, initial);
}

// Counts are in the header and again in the parameters, which count when both are there. Frames
// are counted by the header: in the parameters they may be a real, or too many for an integer.
static bool read_contents(const tali_table_c3d *it, contents *c)
{
    const unsigned char *h = it->bytes;
    const int first = tali_table_c3d_integer(it, h + 6) & 0xffff;
    const int last = tali_table_c3d_integer(it, h + 8) & 0xffff;
    const int start = tali_table_c3d_integer(it, h + 16);
    *c = (contents){.it = it, .frames = last - first + 1};
    c->points = (int)parameter(it, "POINT", "USED", tali_table_c3d_integer(it, h + 2));
    c->scale = parameter(it, "POINT", "SCALE", tali_table_c3d_real(it, h + 12));
    c->rate = parameter(it, "POINT", "RATE", tali_table_c3d_real(it, h + 20));
    c->samples = tali_table_c3d_integer(it, h + 18);
    c->channels = c->samples > 0 ? (tali_table_c3d_integer(it, h + 4) & 0xffff) / c->samples : 0;
    c->general = parameter(it, "ANALOG", "GEN_SCALE", 1.0);
    c->width = c->scale < 0.0 ? 4 : 2;
    const tali_table_parameter format = tali_table_c3d_find(it, "ANALOG", "FORMAT");
    char text[128];
    tali_table_c3d_label(&format, 0, text);
    c->is_unsigned = tali_table_same_word(text, "UNSIGNED");
    if (c->points < 0 || c->channels < 0 || c->frames < 1 || start < 2 || !(c->rate > 0.0)) {
        refuse(it, "its header has no frames, no rate, or no data");
        return false;
    }
    if (c->channels == 0) c->samples = 0;
    const size_t numbers = 4 * (size_t)c->points + (size_t)c->channels * (size_t)c->samples;
    c->data = ((size_t)start - 1) * BLOCK;
    c->frame = numbers * c->width;
    if (c->frame > 0 &&
        (c->data > it->size || (it->size - c->data) / c->frame < (size_t)c->frames)) {
        refuse(it, "it ends before its last frame: it is not complete");
        return false;
    }
    return true;
}

// --- data ---

// Number k of a frame, not scaled.
static double number_at(const contents *c, int frame, size_t k)
{
    const unsigned char *at = c->it->bytes + c->data + (size_t)frame * c->frame + k * c->width;
    return c->scale < 0.0 ? tali_table_c3d_real(c->it, at) : tali_table_c3d_integer(c->it, at);
}

static void read_point(const contents *c, int frame, int point, double xyz[3])
{
    const double unit = c->scale < 0.0 ? 1.0 : c->scale;
    const size_t k = 4 * (size_t)point;
    const bool seen = number_at(c, frame, k + 3) >= 0.0;
    for (size_t i = 0; i < 3; ++i) {
        xyz[i] = seen ? unit * number_at(c, frame, k + i) : (double)NAN;
    }
}

// How a channel is scaled.
typedef struct channel {
    double offset, scale;
} channel;

static channel channel_at(const contents *c, int i)
{
    const tali_table_parameter offset = tali_table_c3d_find(c->it, "ANALOG", "OFFSET");
    const tali_table_parameter scale = tali_table_c3d_find(c->it, "ANALOG", "SCALE");
    return (channel){tali_table_c3d_value(c->it, &offset, i, 0.0),
                     c->general * tali_table_c3d_value(c->it, &scale, i, 1.0)};
}

static double analog_at(const contents *c, int frame, int sample, int i, const channel *how)
{
    const size_t k = 4 * (size_t)c->points + (size_t)sample * (size_t)c->channels + (size_t)i;
    double raw = number_at(c, frame, k);
    if (c->is_unsigned && c->scale >= 0.0 && raw < 0.0) raw += 65536.0;
    return (raw - how->offset) * how->scale;
}

// --- tables ---

static tal_status add_named(tal_table *table, const char *label, int i, const char *end)
{
    char name[160];
    if (label[0] != '\0') {
        (void)snprintf(name, sizeof name, "%s%s", label, end);
    } else {
        (void)snprintf(name, sizeof name, "%d%s", i + 1, end);
    }
    return tal_table_add_column(table, name);
}

static tal_status make_markers(const contents *c, double row[], tal_table *table)
{
    static const char *const ends[] = {".x", ".y", ".z"};
    const tali_table_parameter labels = tali_table_c3d_find(c->it, "POINT", "LABELS");
    const tali_table_parameter units = tali_table_c3d_find(c->it, "POINT", "UNITS");
    char text[128];
    tali_table_c3d_label(&units, 0, text);
    tal_status st = tal_table_add_column(table, "time");
    if (st == TAL_OK && text[0] != '\0') st = tal_table_set_header(table, "Units", text);
    for (int i = 0; i < 3 * c->points && st == TAL_OK; ++i) {
        tali_table_c3d_label(&labels, i / 3, text);
        st = add_named(table, text, i / 3, ends[i % 3]);
    }
    for (int f = 0; f < c->frames && st == TAL_OK; ++f) {
        row[0] = f / c->rate;
        for (int i = 0; i < c->points; ++i) {
            read_point(c, f, i, row + 1 + 3 * (ptrdiff_t)i);
        }
        st = tal_table_add_row(table, row);
    }
    return st;
}

static tal_status make_analog(const contents *c, double row[], channel how[], tal_table *table)
{
    const tali_table_parameter labels = tali_table_c3d_find(c->it, "ANALOG", "LABELS");
    tal_status st = tal_table_add_column(table, "time");
    for (int i = 0; i < c->channels && st == TAL_OK; ++i) {
        char text[128];
        tali_table_c3d_label(&labels, i, text);
        how[i] = channel_at(c, i);
        st = add_named(table, text, i, "");
    }
    for (int k = 0; k < c->frames * c->samples && st == TAL_OK; ++k) {
        row[0] = k / (c->rate * c->samples);
        for (int i = 0; i < c->channels; ++i) {
            row[i + 1] = analog_at(c, k / c->samples, k % c->samples, i, &how[i]);
        }
        st = tal_table_add_row(table, row);
    }
    return st;
}

// --- force plates ---

// A plate: a rectangle, and the channels that it fills.
typedef struct plate {
    int type;
    int channels[MAX_CHANNELS]; // counted from 0; -1: none
    tal_vec3 center;            // of its surface, in the axes of the file
    tal_mat3 R;                 // axes of the plate in those of the file
    tal_vec3 origin;            // of its moments, from the center, in its own axes
} plate;

// Force and moment about the center, in the axes of the plate.
typedef struct load {
    tal_vec3 f, m;
} load;

static tal_vec3 vector_at(const tali_table_c3d *it, const tali_table_parameter *p, int i)
{
    return tal_v3(tali_table_c3d_value(it, p, 3 * i, 0.0),
                  tali_table_c3d_value(it, p, 3 * i + 1, 0.0),
                  tali_table_c3d_value(it, p, 3 * i + 2, 0.0));
}

// Corners are those at (+x, +y), (-x, +y), (-x, -y), (+x, -y) of the plate.
static void read_corners(const tali_table_c3d *it, int k, plate *p)
{
    const tali_table_parameter corners = tali_table_c3d_find(it, "FORCE_PLATFORM", "CORNERS");
    tal_vec3 c[4], sum = TAL_VEC3_ZERO;
    for (int i = 0; i < 4; ++i) {
        c[i] = vector_at(it, &corners, 4 * k + i);
        sum = tal_v3_add(sum, c[i]);
    }
    p->center = tal_v3_scale(0.25, sum);
    const tal_vec3 x = tal_v3_sub(tal_v3_add(c[0], c[3]), tal_v3_add(c[1], c[2]));
    const tal_vec3 y = tal_v3_sub(tal_v3_add(c[0], c[1]), tal_v3_add(c[2], c[3]));
    p->R = tal_rotation_from_two_axes(TAL_AXIS_X, x, TAL_AXIS_Y, y);
}

// False for a plate that is not understood, with a warning.
static bool read_plate(const contents *c, int k, plate *p)
{
    const tali_table_c3d *it = c->it;
    const tali_table_parameter type = tali_table_c3d_find(it, "FORCE_PLATFORM", "TYPE");
    const tali_table_parameter channels = tali_table_c3d_find(it, "FORCE_PLATFORM", "CHANNEL");
    const tali_table_parameter origin = tali_table_c3d_find(it, "FORCE_PLATFORM", "ORIGIN");
    const int row = channels.num_dims > 0 ? channels.dims[0] : 0;
    *p = (plate){.type = (int)tali_table_c3d_value(it, &type, k, 0.0)};
    const int needed = p->type == 3 ? 8 : 6;
    bool good = p->type >= 1 && p->type <= 3 && row >= needed;
    for (int i = 0; i < needed && good; ++i) {
        p->channels[i] = (int)tali_table_c3d_value(it, &channels, row * k + i, 0.0) - 1;
        good = p->channels[i] >= 0 && p->channels[i] < c->channels;
    }
    p->origin = vector_at(it, &origin, k);
    read_corners(it, k, p);
    if (!good || !isfinite(p->R.x.x)) {
        tal_diagnostics_add(it->found, TAL_WARNING, it->file, 0, 0,
                            "force plate %d, of type %d, is left out: types 1 to 3 with their "
                            "channels and corners are read",
                            k + 1, p->type);
        return false;
    }
    return true;
}

// Force and moment of a plate from its channels. Type 1 has the center of pressure; type 2 moments
// about its origin; type 3 the forces of four sensors, at (a, b), (-a, b), (-a, -b) and (a, -b).
static load load_of(const plate *p, const double v[MAX_CHANNELS])
{
    if (p->type == 1) {
        const tal_vec3 f = tal_v3(v[0], v[1], v[2]), at = tal_v3(v[3], v[4], 0.0);
        return (load){f, tal_v3_add(tal_v3_cross(at, f), tal_v3(0.0, 0.0, v[5]))};
    }
    if (p->type == 2) {
        const tal_vec3 f = tal_v3(v[0], v[1], v[2]), m = tal_v3(v[3], v[4], v[5]);
        return (load){f, tal_v3_add(m, tal_v3_cross(p->origin, f))};
    }
    const double a = p->origin.x, b = p->origin.y;
    const tal_vec3 f = tal_v3(v[0] + v[1], v[2] + v[3], v[4] + v[5] + v[6] + v[7]);
    const tal_vec3 m = tal_v3(b * (v[4] + v[5] - v[6] - v[7]), a * (-v[4] + v[5] + v[6] - v[7]),
                              b * (-v[0] + v[1]) + a * (v[2] - v[3]));
    return (load){f, tal_v3_add(m, tal_v3_cross(tal_v3(0.0, 0.0, p->origin.z), f))};
}

// Move a load from the center to the center of pressure; the point is there. Without a force along
// the normal there is none.
static tal_vec3 find_pressure(load *l)
{
    if (l->f.z == 0.0) return TAL_VEC3_ZERO;
    const tal_vec3 p = tal_v3(-l->m.y / l->f.z, l->m.x / l->f.z, 0.0);
    l->m = tal_v3(0.0, 0.0, l->m.z - p.x * l->f.y + p.y * l->f.x);
    return p;
}

static double *put(double *at, tal_vec3 v)
{
    at[0] = v.x;
    at[1] = v.y;
    at[2] = v.z;
    return at + 3;
}

// The nine columns of one plate at a row of the analog table.
static double *put_plate(const plate *p, tal_c3d_point point, const double analog[], double *at)
{
    double v[MAX_CHANNELS] = {0.0};
    for (int i = 0; i < (p->type == 3 ? 8 : 6); ++i) {
        v[i] = analog[p->channels[i] + 1];
    }
    load l = load_of(p, v);
    const tal_vec3 place = point == TAL_C3D_PRESSURE ? find_pressure(&l) : TAL_VEC3_ZERO;
    at = put(at, tal_m3_mul_v3(p->R, l.f));
    at = put(at, tal_v3_add(p->center, tal_m3_mul_v3(p->R, place)));
    return put(at, tal_m3_mul_v3(p->R, l.m));
}

static tal_status make_plates(const contents *c, tal_c3d_point point, const tal_table *analog,
                              tal_table *table)
{
    const int used = (int)parameter(c->it, "FORCE_PLATFORM", "USED", 0.0);
    plate plates[MAX_PLATES];
    double row[1 + 9 * MAX_PLATES];
    int num = 0;
    tal_status st = tal_table_add_column(table, "time");
    for (int k = 0; k < used && k < MAX_PLATES && st == TAL_OK; ++k) {
        if (!read_plate(c, k, &plates[num])) continue;
        num += 1;
        for (int i = 0; i < 9 && st == TAL_OK; ++i) {
            char name[24];
            (void)snprintf(name, sizeof name, "%c%d_%d", "fpm"[i / 3], k + 1, i % 3 + 1);
            st = tal_table_add_column(table, name);
        }
    }
    for (int r = 0; r < tal_table_num_rows(analog) && num > 0 && st == TAL_OK; ++r) {
        const double *values = tal_table_row(analog, r);
        double *at = row + 1;
        row[0] = values[0];
        for (int k = 0; k < num; ++k) {
            at = put_plate(&plates[k], point, values, at);
        }
        st = tal_table_add_row(table, row);
    }
    return st;
}

// --- the whole ---

void tal_c3d_destroy(tal_c3d *c3d)
{
    if (c3d == NULL) return;
    tal_table_destroy(c3d->markers);
    tal_table_destroy(c3d->analog);
    tal_table_destroy(c3d->plates);
    *c3d = (tal_c3d){.markers = NULL};
}

static bool begin(tali_table_c3d *it)
{
    const bool is_c3d = it->size >= 2 * BLOCK && it->bytes[1] == 0x50 && it->bytes[0] >= 2;
    it->parameters = is_c3d ? ((size_t)it->bytes[0] - 1) * BLOCK : 0;
    if (!is_c3d || it->parameters + 4 > it->size) {
        refuse(it, "it is not a C3D file: its second byte is not 80, or it is too short");
        return false;
    }
    const int machine = it->bytes[it->parameters + 3];
    if (machine < TALI_TABLE_INTEL || machine > TALI_TABLE_MIPS) {
        refuse(it, "its numbers are of a machine that is not known: neither Intel, DEC nor MIPS");
        return false;
    }
    it->machine = (tali_table_machine)machine;
    return true;
}

static tal_status make_all(const contents *c, const tal_allocator *from, tal_c3d_point point,
                           tal_c3d *out)
{
    tali_arena arena = tali_arena_make(from);
    const size_t most = 1 + 3 * (size_t)c->points + (size_t)c->channels;
    double *row = tali_arena_take(&arena, most * sizeof *row);
    channel *how = tali_arena_take(&arena, ((size_t)c->channels + 1) * sizeof *how);
    out->markers = tal_table_create(from);
    out->analog = tal_table_create(from);
    out->plates = tal_table_create(from);
    const bool good = row != NULL && how != NULL && out->markers != NULL && out->analog != NULL &&
                      out->plates != NULL;
    tal_status st = good ? make_markers(c, row, out->markers) : TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) st = make_analog(c, row, how, out->analog);
    if (st == TAL_OK) st = make_plates(c, point, out->analog, out->plates);
    if (st != TAL_OK && st != TAL_ERR_NO_MEMORY) {
        refuse(c->it, "two of its columns have the same name, or there are too many rows");
        st = TAL_ERR_FILE;
    }
    tali_arena_free(&arena);
    if (st != TAL_OK) tal_c3d_destroy(out);
    return st;
}

tal_status tal_c3d_read_memory(const char *name, const char *bytes, size_t size,
                               const tal_table_options *options, tal_c3d_point point, tal_c3d *out,
                               tal_diagnostics *found)
{
    if (out != NULL) *out = (tal_c3d){.markers = NULL};
    const tal_status st = tali_reading_check(
        name, bytes, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st != TAL_OK) return st;
    const tal_table_options how = options != NULL ? *options : tal_table_options_default();
    tali_table_c3d it = {
        .file = name, .bytes = (const unsigned char *)bytes, .size = size, .found = found};
    contents c;
    if (!begin(&it) || !read_contents(&it, &c)) return TAL_ERR_FILE;
    return make_all(&c, &how.allocator, point, out);
}

tal_status tal_c3d_read_file(const char *path, const tal_table_options *options,
                             tal_c3d_point point, tal_c3d *out, tal_diagnostics *found)
{
    if (out != NULL) *out = (tal_c3d){.markers = NULL};
    tal_status st =
        tali_reading_check(path, path, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st != TAL_OK) return st;
    const tal_table_options how = options != NULL ? *options : tal_table_options_default();
    tali_file_bytes file;
    const char *wrong = tali_file_load(path, how.max_bytes, &how.allocator, &file, &st);
    if (wrong == NULL) {
        st = tal_c3d_read_memory(path, file.block, file.size, &how, point, out, found);
    } else {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", wrong);
    }
    tali_file_bytes_free(&how.allocator, &file);
    return st;
}
