// What a C3D file has, and its frames.
//
// The order of a file: a header of 512 bytes, parameters, then for each frame four numbers of each
// point (x, y, z, and how well it was seen) and some samples of each analog channel.
#include "c3d/c3d_internal.h"
#include "table/table_internal.h"

#include <math.h>

enum {
    BLOCK = 512,
    UNTOLD = 65535 // the number of a last frame that is too large for the header
};

// --- what there is ---

static bool refuse(const tali_c3d *it, const char *why)
{
    tal_diagnostics_add(it->found, TAL_ERROR, it->file, 0, 0, "%s", why);
    return false;
}

static bool find_parameters(tali_c3d *it)
{
    const bool is_c3d = it->size >= 2 * BLOCK && it->bytes[1] == 0x50 && it->bytes[0] >= 2;
    it->parameters = is_c3d ? ((size_t)it->bytes[0] - 1) * BLOCK : 0;
    if (!is_c3d || it->parameters + 4 > it->size) {
        return refuse(it, "this is not a C3D file: its second byte is not 80, or it is too short");
    }
    const int machine = it->bytes[it->parameters + 3];
    if (machine < TALI_C3D_INTEL || machine > TALI_C3D_MIPS) {
        return refuse(it, "the file does not say whose numbers it has: the byte for that is not "
                          "84 (Intel), 85 (DEC) or 86 (MIPS)");
    }
    it->machine = (tali_c3d_machine)machine;
    return true;
}

static int header_count(const tali_c3d *it, size_t word)
{
    return tali_c3d_integer(it, it->bytes + 2 * word) & 0xffff;
}

static double first_value(const tali_c3d *it, const char *group, const char *name, double initial)
{
    const tali_c3d_parameter p = tali_c3d_find(it, group, name);
    return tali_c3d_value(it, &p, 0, initial);
}

// The number of a frame in two words of a parameter, the lower one first; -1: there is none.
static long long long_count(const tali_c3d *it, const char *name)
{
    const tali_c3d_parameter p = tali_c3d_find(it, "TRIAL", name);
    if (p.data == NULL || p.width != 2 || p.count < 2) return -1;
    return tali_c3d_count(it, &p, 0, 0) + 65536LL * tali_c3d_count(it, &p, 1, 0);
}

// Frames are counted by the header, or by parameters when there are too many for it.
static void count_frames(tali_c3d *it)
{
    long long first = header_count(it, 3), last = header_count(it, 4);
    const long long start = long_count(it, "ACTUAL_START_FIELD");
    const long long end = long_count(it, "ACTUAL_END_FIELD");
    if (last == UNTOLD && start >= 0 && end >= start) {
        first = start;
        last = end;
    }
    const long long frames = last - first + 1;
    it->first = first < TALI_MAX_COUNT ? (int)first : 0;
    it->frames = frames > 0 && frames < TALI_MAX_COUNT ? (int)frames : 0;
}

// Points and channels are counted in the header and again in parameters, which count when both are
// there.
static void count_numbers(tali_c3d *it)
{
    const tali_c3d_parameter used = tali_c3d_find(it, "POINT", "USED");
    it->points = tali_c3d_count(it, &used, 0, header_count(it, 1));
    it->samples = header_count(it, 9);
    it->channels = it->samples > 0 ? header_count(it, 2) / it->samples : 0;
    if (it->channels == 0) it->samples = 0;
    it->scale = first_value(it, "POINT", "SCALE", tali_c3d_real(it, it->bytes + 12));
    it->rate = first_value(it, "POINT", "RATE", tali_c3d_real(it, it->bytes + 20));
    it->width = it->scale < 0.0 ? 4 : 2;
    it->row = it->width * (4 * (size_t)it->points + (size_t)it->channels * (size_t)it->samples);
}

static void find_scales(tali_c3d *it)
{
    const tali_c3d_parameter format = tali_c3d_find(it, "ANALOG", "FORMAT");
    char text[128];
    tali_c3d_text(&format, 0, text);
    it->is_unsigned = tali_table_same_word(text, "UNSIGNED");
    it->general = first_value(it, "ANALOG", "GEN_SCALE", 1.0);
    it->offsets = tali_c3d_find(it, "ANALOG", "OFFSET");
    it->scales = tali_c3d_find(it, "ANALOG", "SCALE");
}

bool tali_c3d_begin(tali_c3d *it)
{
    if (!find_parameters(it)) return false;
    count_frames(it);
    count_numbers(it);
    find_scales(it);
    const int start = header_count(it, 8);
    if (it->row == 0) return refuse(it, "the file has neither points nor channels");
    if (it->frames < 1) return refuse(it, "the header counts no frames, or too many");
    if (start < 2) return refuse(it, "the header does not say where frames begin");
    if (!(it->rate > 0.0) || !isfinite(it->rate)) {
        return refuse(it, "POINT:RATE, the number of frames in a second, is not above 0");
    }
    if (!isfinite(it->scale)) return refuse(it, "POINT:SCALE is not a number");
    it->data = ((size_t)start - 1) * BLOCK;
    const size_t there = it->data < it->size ? (it->size - it->data) / it->row : 0;
    if (there >= (size_t)it->frames) return true;
    tal_diagnostics_add(it->found, TAL_ERROR, it->file, 0, 0,
                        "the file is cut off: it has %zu of %d frames", there, it->frames);
    return false;
}

// --- data ---

// Number k of a frame, not scaled.
static double number_at(const tali_c3d *it, int frame, size_t k)
{
    const unsigned char *at = it->bytes + it->data + (size_t)frame * it->row + k * it->width;
    return it->width == 4 ? tali_c3d_real(it, at) : tali_c3d_integer(it, at);
}

void tali_c3d_point(const tali_c3d *it, int frame, int point, double xyz[3])
{
    const double unit = it->scale < 0.0 ? 1.0 : it->scale;
    const size_t k = 4 * (size_t)point;
    const bool seen = number_at(it, frame, k + 3) >= 0.0;
    for (size_t i = 0; i < 3; ++i) {
        xyz[i] = seen ? unit * number_at(it, frame, k + i) : (double)NAN;
    }
}

// Integers without a sign go to 65535; so do their offsets.
static double unsign(const tali_c3d *it, double value)
{
    return it->is_unsigned && value < 0.0 ? value + 65536.0 : value;
}

double tali_c3d_analog(const tali_c3d *it, int k, int channel)
{
    const size_t sample = (size_t)(k % it->samples) * (size_t)it->channels + (size_t)channel;
    const double raw = number_at(it, k / it->samples, 4 * (size_t)it->points + sample);
    const double scale = it->general * tali_c3d_value(it, &it->scales, channel, 1.0);
    const double offset = unsign(it, tali_c3d_value(it, &it->offsets, channel, 0.0));
    return ((it->width == 2 ? unsign(it, raw) : raw) - offset) * scale;
}
