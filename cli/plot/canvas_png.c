// A canvas that becomes a PNG file [PNG, ISO 15948].
//
// A line covers a pixel as far as the pixel's middle is inside it, which makes smooth edges. A line
// that crosses itself covers a pixel once.
#include "plot/canvas.h"
#include "plot/font.h"
#include "plot/packed.h"
#include "text/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct canvas {
    int width, height;   // in dots
    double scale;        // dots in a pixel
    unsigned char *rgb;  // [height][width][3] owned
    unsigned char *mask; // [height][width] owned: how far a line covers a dot; 0 between lines
    int x0, x1, y0, y1;  // where the mask may differ from 0
    double pen;          // half the width of the line [dots]
    canvas_point at;     // of the letter being drawn [dots]
    double letter;       // hundredths of an em in dots
    bool goes_up;        // so do letters
};

static canvas *create(double width, double height, double scale)
{
    canvas *const it = cli_alloc(1, sizeof *it);
    it->width = (int)lround(width * scale);
    it->height = (int)lround(height * scale);
    it->scale = scale;
    const size_t dots = (size_t)it->width * (size_t)it->height;
    it->rgb = cli_alloc(dots, 3);
    it->mask = cli_alloc(dots, 1);
    memset(it->rgb, 0xff, 3 * dots);
    it->x0 = it->width;
    it->y0 = it->height;
    return it;
}

// --- lines ---

static int clamp(double value, int most)
{
    return value <= 0.0 ? 0 : value >= most ? most : (int)value;
}

static double share(double value)
{
    return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value;
}

// The part of the segment from a to b that is at least as near to row y as `reach`: its x, from
// `*low` to `*high`.
static void part_near_row(canvas_point a, canvas_point b, double y, double reach, double *low,
                          double *high)
{
    double s = 0.0, t = 1.0;
    if (a.y != b.y) {
        const double one = (y - reach - a.y) / (b.y - a.y), two = (y + reach - a.y) / (b.y - a.y);
        s = share(fmin(one, two));
        t = share(fmax(one, two));
    }
    const double xs = a.x + s * (b.x - a.x), xt = a.x + t * (b.x - a.x);
    *low = fmin(xs, xt) - reach;
    *high = fmax(xs, xt) + reach;
}

static double distance_to(canvas_point a, canvas_point b, double x, double y)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    const double t = length2 > 0.0 ? share(((x - a.x) * dx + (y - a.y) * dy) / length2) : 0.0;
    return hypot(x - a.x - t * dx, y - a.y - t * dy);
}

// Cover what is nearer to a segment than half the width of the pen.
static void cover(canvas *it, canvas_point a, canvas_point b)
{
    const double reach = it->pen + 1.0;
    const int y0 = clamp(fmin(a.y, b.y) - reach, it->height);
    const int y1 = clamp(fmax(a.y, b.y) + reach + 1.0, it->height);
    for (int y = y0; y < y1; ++y) {
        double low = 0.0, high = 0.0;
        part_near_row(a, b, y + 0.5, reach, &low, &high);
        const int x0 = clamp(low, it->width), x1 = clamp(high + 1.0, it->width);
        for (int x = x0; x < x1; ++x) {
            const double inside = it->pen + 0.5 - distance_to(a, b, x + 0.5, y + 0.5);
            const unsigned char part = (unsigned char)lround(255.0 * share(inside));
            unsigned char *const mask = &it->mask[(size_t)y * (size_t)it->width + (size_t)x];
            if (part > *mask) *mask = part;
        }
        if (x0 < it->x0) it->x0 = x0;
        if (x1 > it->x1) it->x1 = x1;
    }
    if (y0 < it->y0) it->y0 = y0;
    if (y1 > it->y1) it->y1 = y1;
}

// Give what is covered a color; then nothing is covered.
static void paint(canvas *it, unsigned color)
{
    const int ink[3] = {(int)(color >> 16 & 0xffu), (int)(color >> 8 & 0xffu),
                        (int)(color & 0xffu)};
    for (int y = it->y0; y < it->y1; ++y) {
        for (int x = it->x0; x < it->x1; ++x) {
            const size_t dot = (size_t)y * (size_t)it->width + (size_t)x;
            const int part = it->mask[dot];
            for (int c = 0; part > 0 && c < 3; ++c) {
                const int old = it->rgb[3 * dot + (size_t)c];
                it->rgb[3 * dot + (size_t)c] =
                    (unsigned char)(old +
                                    ((ink[c] - old) * part + (ink[c] > old ? 127 : -127)) / 255);
            }
            it->mask[dot] = 0;
        }
    }
    it->x0 = it->width, it->y0 = it->height;
    it->x1 = it->y1 = 0;
}

// A segment in dashes; `*gone` is how far they have come.
static void cover_dashes(canvas *it, canvas_point a, canvas_point b, double on, double off,
                         double *gone)
{
    const double length = hypot(b.x - a.x, b.y - a.y), period = on + off;
    double from = 0.0;
    while (from < length) {
        const double phase = fmod(*gone + from, period);
        const double to = fmin(length, from + (phase < on ? on - phase : period - phase) + 1e-9);
        if (phase < on) {
            const double s = from / length, t = to / length;
            cover(it, (canvas_point){a.x + s * (b.x - a.x), a.y + s * (b.y - a.y)},
                  (canvas_point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
        }
        from = to;
    }
    *gone += length;
}

static void draw_line(canvas *it, const canvas_pen *pen, const canvas_point points[], int n)
{
    double on = 0.0, off = 0.0, gone = 0.0;
    canvas_dash(pen->dash, &on, &off);
    it->pen = 0.5 * pen->width * it->scale;
    for (int i = 0; i < n; ++i) {
        const canvas_point p = points[i > 0 ? i - 1 : 0], q = points[i];
        const canvas_point a = {p.x * it->scale, p.y * it->scale};
        const canvas_point b = {q.x * it->scale, q.y * it->scale};
        if (off > 0.0) {
            cover_dashes(it, a, b, on * it->scale, off * it->scale, &gone);
        } else if (i > 0 || n == 1) {
            cover(it, a, b);
        }
    }
    paint(it, pen->color);
}

// --- letters ---

static canvas_point place(const canvas *it, canvas_point p)
{
    const double along = p.x * it->letter, above = p.y * it->letter;
    const canvas_point up = {it->at.x - above, it->at.y - along};
    const canvas_point level = {it->at.x + along, it->at.y - above};
    return it->goes_up ? up : level;
}

static void cover_letter(void *context, const canvas_point points[], int n)
{
    canvas *const it = context;
    for (int i = n > 1 ? 1 : 0; i < n; ++i) {
        cover(it, place(it, points[i > 0 ? i - 1 : 0]), place(it, points[i]));
    }
}

// Letter after letter; those of an exponent smaller and higher.
static void draw_text(canvas *it, const canvas_letters *letters, canvas_point at, const char *text)
{
    static const double shares[] = {0.0, 0.5, 1.0};
    const double back = shares[letters->anchor] * font_width(text, letters->size);
    canvas_point next = {letters->goes_up ? at.x : at.x - back,
                         letters->goes_up ? at.y + back : at.y};
    it->goes_up = letters->goes_up;
    for (unsigned letter; (letter = font_next(&text)) != 0;) {
        bool is_raised = false;
        const unsigned lower = font_lower(letter, &is_raised);
        const double size = letters->size * (is_raised ? FONT_RAISED_SIZE : 1.0);
        const double above = is_raised ? FONT_RAISED_BY * letters->size : 0.0;
        it->letter = 0.01 * size * it->scale;
        it->pen = (letters->is_bold ? 0.066 : 0.042) * size * it->scale;
        it->at = (canvas_point){(next.x - (it->goes_up ? above : 0.0)) * it->scale,
                                (next.y - (it->goes_up ? 0.0 : above)) * it->scale};
        font_draw(lower, cover_letter, it);
        const double width = font_letter_width(letter, letters->size);
        if (it->goes_up) {
            next.y -= width;
        } else {
            next.x += width;
        }
    }
    paint(it, letters->color);
}

// --- the file ---

static void add_number(cli_bytes *out, unsigned long value)
{
    const unsigned char big_end_first[] = {
        (unsigned char)(value >> 24 & 0xffu), (unsigned char)(value >> 16 & 0xffu),
        (unsigned char)(value >> 8 & 0xffu), (unsigned char)(value & 0xffu)};
    bytes_add(out, big_end_first, 4);
}

static void add_chunk(cli_bytes *out, const char *type, const cli_bytes *data)
{
    add_number(out, data->size);
    bytes_add(out, type, 4);
    if (data->size > 0) bytes_add(out, data->data, data->size);
    const unsigned long sum = packed_checksum(0, type, 4);
    add_number(out, data->size > 0 ? packed_checksum(sum, data->data, data->size) : sum);
}

// Rows, each behind a byte that says how it is written: as the difference from the row above it,
// which packs well.
static cli_bytes rows_of(const canvas *it)
{
    const size_t length = 3 * (size_t)it->width;
    cli_bytes rows = {.capacity = (length + 1) * (size_t)it->height + 1};
    rows.data = cli_alloc(rows.capacity, 1);
    for (int y = 0; y < it->height; ++y) {
        const unsigned char *const row = it->rgb + length * (size_t)y;
        char *const out = rows.data + (length + 1) * (size_t)y;
        out[0] = 2; // PNG 9.2: up
        for (size_t i = 0; i < length; ++i) {
            out[i + 1] = (char)(row[i] - (y > 0 ? row[i - length] : 0));
        }
    }
    rows.size = rows.capacity - 1;
    return rows;
}

// The chunks of the file: size, resolution, rows, end.
static char *finish(canvas *it, const char *title, size_t *size)
{
    (void)title;
    cli_bytes file = {0}, head = {0}, density = {0};
    const cli_bytes nothing = {0};
    bytes_add(&file, "\x89PNG\r\n\x1a\n", 8);
    add_number(&head, (unsigned long)it->width);
    add_number(&head, (unsigned long)it->height);
    bytes_add(&head, "\x08\x02\0\0",
              5); // 8 bits, RGB; the usual packing and filters, not interlaced
    add_chunk(&file, "IHDR", &head);
    const unsigned long per_meter = (unsigned long)lround(96.0 * it->scale / 0.0254);
    add_number(&density, per_meter);
    add_number(&density, per_meter);
    bytes_add(&density, "\x01", 1);
    add_chunk(&file, "pHYs", &density);
    cli_bytes rows = rows_of(it), packed = packed_bytes(rows.data, rows.size);
    add_chunk(&file, "IDAT", &packed);
    add_chunk(&file, "IEND", &nothing);
    free(head.data);
    free(density.data);
    free(rows.data);
    free(packed.data);
    free(it->rgb);
    free(it->mask);
    free(it);
    *size = file.size;
    return file.data;
}

const canvas_ops canvas_png = {"png", create, draw_line, draw_text, finish};
