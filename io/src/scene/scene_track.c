// Tracks: numbers through time as few bytes.
//
// value = base + quantum n with integers n. What changes smoothly has small differences; the order
// of differences, 0 to 3, is what needs the fewest bits. All arithmetic is modulo 2^32, so that no
// difference overflows and summing up gives n back.
#include "alloc_internal.h"

#include "scene/scene_internal.h"

#include <math.h>

enum {
    MAX_ORDER = 3
};

double tali_scene_quantum(double limit)
{
    int exponent = 0;
    (void)frexp(limit, &exponent); // limit = m 2^exponent, 1/2 <= m < 1
    return ldexp(1.0, exponent - 1);
}

// 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
static uint32_t zigzag(uint32_t difference)
{
    return difference << 1 ^ (difference >> 31 != 0 ? UINT32_MAX : 0);
}

static uint32_t unzigzag(uint32_t code)
{
    return code >> 1 ^ ((code & 1) != 0 ? UINT32_MAX : 0);
}

static int bits_of(uint32_t x)
{
    int bits = 0;
    for (; x >= 256; x >>= 8) {
        bits += 8;
    }
    for (; x > 0; x >>= 1) {
        ++bits;
    }
    return bits;
}

// The differences of one channel, in place of them; the first ones are against zeros.
static void difference(uint32_t n[], int frames)
{
    for (int i = frames - 1; i > 0; --i) {
        n[i] -= n[i - 1];
    }
}

static long count_bits(const uint32_t n[], int frames)
{
    long bits = 0;
    for (int i = 0; i < frames; ++i) {
        bits += bits_of(zigzag(n[i]));
    }
    return bits;
}

// Difference a channel as often as makes it shortest, and make it unsigned. Returns the order.
static unsigned char shorten(const int32_t n[], uint32_t codes[], int frames)
{
    int best = 0;
    long least = -1;
    for (int i = 0; i < frames; ++i) {
        codes[i] = (uint32_t)n[i];
    }
    for (int order = 0; order <= MAX_ORDER; ++order) {
        const long bits = count_bits(codes, frames);
        if (least < 0 || bits < least) {
            least = bits;
            best = order;
        }
        difference(codes, frames);
    }
    for (int i = 0; i < frames; ++i) {
        codes[i] = (uint32_t)n[i];
    }
    for (int order = 0; order < best; ++order) {
        difference(codes, frames);
    }
    for (int i = 0; i < frames; ++i) {
        codes[i] = zigzag(codes[i]);
    }
    return (unsigned char)best;
}

static int count_planes(const uint32_t codes[], size_t n)
{
    uint32_t all = 0;
    for (size_t i = 0; i < n; ++i) {
        all |= codes[i];
    }
    return (bits_of(all) + 7) / 8;
}

static void put_plane(tali_scene_bytes *data, const uint32_t codes[], size_t n, int plane)
{
    unsigned char part[256];
    for (size_t i = 0; i < n; i += sizeof part) {
        const size_t end = n - i < sizeof part ? n - i : sizeof part;
        for (size_t k = 0; k < end; ++k) {
            part[k] = (unsigned char)(codes[i + k] >> (8 * plane) & 0xff);
        }
        tali_scene_put(data, part, end);
    }
}

// One number where all channels have the same.
static void put_list(tali_scene_bytes *json, const char *key, const double values[], int n)
{
    bool same = true;
    for (int i = 1; i < n; ++i) {
        same = same && values[i] == values[0];
    }
    tali_scene_put_key(json, key);
    if (same && n > 0) {
        tali_scene_put_number(json, values[0]);
    } else {
        tali_scene_put_numbers(json, values, n);
    }
}

// A track as JSON.
static void describe(tali_scene_bytes *json, const tali_scene_track *track)
{
    tali_scene_put_text(json, "{");
    tali_scene_put_key(json, "at");
    tali_scene_put_integer(json, (long long)track->at);
    tali_scene_put_key(json, "channels");
    tali_scene_put_integer(json, track->channels);
    tali_scene_put_key(json, "planes");
    tali_scene_put_integer(json, track->planes);
    tali_scene_put_key(json, "order");
    tali_scene_put_text(json, "\"");
    for (int c = 0; c < track->channels; ++c) {
        const unsigned char digit = (unsigned char)('0' + track->order[c]);
        tali_scene_put(json, &digit, 1);
    }
    tali_scene_put_text(json, "\"");
    put_list(json, "base", track->base, track->channels);
    put_list(json, "quantum", track->quantum, track->channels);
    if (track->has_mask) {
        tali_scene_put_key(json, "mask");
        tali_scene_put_text(json, "true");
    }
    tali_scene_put_text(json, "}");
}

static bool take_arrays(tal_scene *scene, tali_scene_track *track)
{
    const size_t n = (size_t)track->channels + 1;
    track->order = tali_arena_take(&scene->arena, n);
    track->base = tali_arena_take(&scene->arena, n * sizeof *track->base);
    track->quantum = tali_arena_take(&scene->arena, n * sizeof *track->quantum);
    return track->order != NULL && track->base != NULL && track->quantum != NULL;
}

// Fill the planes of a track from the integers; false when memory runs out.
static bool put_integers(tal_scene *scene, const int32_t n[], const double base[],
                         const double quantum[], tali_scene_track *track)
{
    const tal_allocator *const allocator = &scene->options.allocator;
    const size_t frames = (size_t)track->frames, total = frames * (size_t)track->channels;
    uint32_t *const codes = tali_alloc(allocator, (total + 1) * sizeof *codes);
    if (codes == NULL || !take_arrays(scene, track)) {
        tali_free(allocator, codes, (total + 1) * sizeof *codes);
        return false;
    }
    for (int c = 0; c < track->channels; ++c) {
        const size_t first = (size_t)c * frames;
        track->base[c] = base != NULL ? base[c] : 0.0;
        track->quantum[c] = quantum[c];
        track->order[c] = shorten(n + first, codes + first, track->frames);
    }
    track->planes = count_planes(codes, total);
    for (int p = 0; p < track->planes; ++p) {
        put_plane(&scene->data, codes, total, p);
    }
    tali_free(allocator, codes, (total + 1) * sizeof *codes);
    return !scene->data.failed;
}

bool tali_scene_add_integers(tal_scene *scene, tali_scene_bytes *json, const int32_t n[],
                             const double base[], const double quantum[], int channels, int frames,
                             tali_scene_track *track)
{
    *track = (tali_scene_track){.at = scene->data.size, .frames = frames, .channels = channels};
    if (!put_integers(scene, n, base, quantum, track)) return false;
    describe(json, track);
    return true;
}

// A channel as integers above its smallest value. What is not finite repeats the value before it,
// which costs nothing.
static bool quantize(const double values[], int frames, double precision, int32_t n[], double *base,
                     double *quantum)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < frames; ++i) {
        if (isfinite(values[i]) && values[i] < low) low = values[i];
        if (isfinite(values[i]) && values[i] > high) high = values[i];
    }
    const bool any = low <= high;
    // halves: the range itself may be too large for a double
    const double limit = any ? 2.0 * precision * (0.5 * high - 0.5 * low) : 0.0;
    *base = any ? low : 0.0;
    *quantum = limit > 0.0 && isfinite(limit) ? tali_scene_quantum(limit) : 1.0;
    bool all = true;
    for (int i = 0; i < frames; ++i) {
        const bool good = isfinite(values[i]);
        const double steps =
            good && limit > 0.0 ? round((0.5 * values[i] - 0.5 * low) / (0.5 * *quantum)) : 0.0;
        n[i] = good ? (int32_t)fmin(steps, 2147483647.0) : i > 0 ? n[i - 1] : 0;
        all = all && good;
    }
    return all;
}

static void put_mask(tali_scene_bytes *data, const double values[], size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const unsigned char is_there = isfinite(values[i]) ? 1 : 0;
        tali_scene_put(data, &is_there, 1);
    }
}

bool tali_scene_add_values(tal_scene *scene, tali_scene_bytes *json, const double values[],
                           int channels, int frames, double precision, tali_scene_track *track)
{
    const tal_allocator *const allocator = &scene->options.allocator;
    *track = (tali_scene_track){.at = scene->data.size, .frames = frames, .channels = channels};
    const size_t total = (size_t)channels * (size_t)frames;
    int32_t *n = NULL;
    double *base = NULL, *quantum = NULL;
    const tali_piece pieces[] = {{&n, (total + 1) * sizeof *n},
                                 {&base, ((size_t)channels + 1) * sizeof *base},
                                 {&quantum, ((size_t)channels + 1) * sizeof *quantum}};
    size_t bytes = 0;
    void *const block = tali_alloc_pieces(allocator, pieces, 3, &bytes);
    if (block == NULL) return false;
    for (int c = 0; c < channels; ++c) {
        const size_t first = (size_t)c * (size_t)frames;
        const bool all =
            quantize(values + first, frames, precision, n + first, &base[c], &quantum[c]);
        track->has_mask = track->has_mask || !all;
    }
    bool good = put_integers(scene, n, base, quantum, track);
    if (good && track->has_mask) put_mask(&scene->data, values, total);
    good = good && !scene->data.failed;
    tali_free(allocator, block, bytes);
    if (good) describe(json, track);
    return good;
}

// ---- back again

static uint32_t code_at(const unsigned char data[], const tali_scene_track *track, size_t i)
{
    const size_t total = (size_t)track->frames * (size_t)track->channels;
    uint32_t code = 0;
    for (int p = 0; p < track->planes; ++p) {
        code |= (uint32_t)data[track->at + (size_t)p * total + i] << (8 * p);
    }
    return code;
}

static void decode_channel(const unsigned char data[], const tali_scene_track *track, int channel,
                           double values[])
{
    uint32_t sums[MAX_ORDER + 1] = {0};
    const int order = track->order[channel];
    for (int i = 0; i < track->frames; ++i) {
        const size_t at = (size_t)channel * (size_t)track->frames + (size_t)i;
        uint32_t n = unzigzag(code_at(data, track, at));
        for (int k = order; k > 0; --k) {
            n = sums[k] += n;
        }
        // the difference of two's complements is a signed number
        const double steps = n <= INT32_MAX ? (double)n : (double)n - 4294967296.0;
        values[i] = track->base[channel] + track->quantum[channel] * steps;
    }
}

void tali_scene_decode(const unsigned char data[], const tali_scene_track *track, double values[])
{
    const size_t total = (size_t)track->frames * (size_t)track->channels;
    for (int c = 0; c < track->channels; ++c) {
        decode_channel(data, track, c, values + (size_t)c * (size_t)track->frames);
    }
    if (!track->has_mask) return;
    const unsigned char *const mask = data + track->at + (size_t)track->planes * total;
    for (size_t i = 0; i < total; ++i) {
        if (mask[i] == 0) values[i] = (double)NAN;
    }
}
