// Tests of plots: numbers on axes, letters, and the three kinds of files.
#include "plot/axis.h"
#include "plot/canvas.h"
#include "plot/figure.h"
#include "plot/font.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// --- axes ---

// A number as the axis writes it, with its sign as a hyphen.
static double read_back(const char *text)
{
    const size_t length = strlen(FONT_MINUS_TEXT);
    const bool is_negative = strncmp(text, FONT_MINUS_TEXT, length) == 0;
    char *end = NULL;
    const double value = strtod(text + (is_negative ? length : 0), &end);
    ck_assert_int_eq(*end, 0);
    return is_negative ? -value : value;
}

// Ranges of all sizes and places: from 1e-30 to 1e30 wide, up to 1e9 times as far from zero.
static axis_range random_range(tal_random *rng)
{
    const double width = pow(10.0, -30.0 + 60.0 * tal_random_uniform(rng));
    const double far = pow(10.0, -3.0 + 12.0 * tal_random_uniform(rng));
    const double middle = (tal_random_uniform(rng) < 0.5 ? -1.0 : 1.0) * far * width;
    const axis_range range = {middle - 0.5 * width, middle + 0.5 * width};
    return range;
}

START_TEST(ticks_are_round_and_inside_and_their_numbers_mean_what_they_say)
{
    tal_random rng = {17, 0, 0};
    for (int trial = 0; trial < 2000; ++trial) {
        const axis_range range = random_range(&rng);
        const axis it = axis_make(range, 2 + (int)(8.0 * tal_random_uniform(&rng)), trial % 3 == 0);
        const double width = range.high - range.low;
        ck_assert_int_ge(it.num, 1);
        ck_assert_int_le(it.num, 40);
        for (int i = 0; i < it.num; ++i) {
            const double value = axis_tick(&it, i);
            // 1e9 widths from zero a number has digits down to 1e-7 of the width
            ck_assert_double_ge(value, range.low - 1e-6 * width);
            ck_assert_double_le(value, range.high + 1e-6 * width);
            char *const text = axis_tick_text(&it, i);
            const double said = read_back(text) * pow(10.0, it.exponent) + it.offset;
            ck_assert_double_le(fabs(said - value), 1e-6 * width);
            ck_assert_uint_le(strlen(text), 3 + 8); // a sign of three bytes, and few digits
            free(text);
        }
    }
}

END_TEST

START_TEST(numbers_that_have_much_in_common_get_an_offset)
{
    const axis_range range = {1e6, 1e6 + 2e-3};
    const axis it = axis_make(range, 4, false);
    ck_assert_double_eq(it.offset, 1e6);
    char *const rest = axis_rest_text(&it), *const first = axis_tick_text(&it, 0);
    ck_assert_str_eq(rest, "\xc3\x97"
                           "10\xe2\x81\xbb\xc2\xb3 + 1000000");
    ck_assert_str_eq(first, "0.0");
    free(rest);
    free(first);
}

END_TEST

START_TEST(usual_numbers_are_written_as_they_are)
{
    const axis_range range = {-1.0, 1.0};
    const axis it = axis_make(range, 4, false);
    char *const rest = axis_rest_text(&it), *const first = axis_tick_text(&it, 0);
    ck_assert_ptr_null(rest);
    ck_assert_str_eq(first, FONT_MINUS_TEXT "1.0");
    free(first);
}

END_TEST

START_TEST(degrees_have_ticks_at_parts_of_a_circle)
{
    const axis_range range = {0.0, 360.0};
    ck_assert_double_eq(axis_make(range, 4, true).step, 90.0);
    ck_assert_double_eq(axis_make(range, 8, true).step, 45.0);
    const axis_range little = {0.0, 3.0};
    ck_assert_double_eq(axis_make(little, 3, true).step, 1.0);
}

END_TEST

START_TEST(round_off_is_not_blown_up_to_a_curve)
{
    axis_range range = {-73.4, -73.4 + 1e-13};
    axis_widen(&range, 0.0);
    ck_assert_double_gt(range.high - range.low, 1.0);
    axis_range nothing = axis_no_range();
    axis_widen(&nothing, 0.0);
    ck_assert_double_eq(nothing.low, 0.0);
    ck_assert_double_eq(nothing.high, 1.0);
}

END_TEST

START_TEST(numbers_side_by_side_do_not_touch)
{
    tal_random rng = {18, 0, 0};
    for (int trial = 0; trial < 500; ++trial) {
        const double length = 100.0 + 900.0 * tal_random_uniform(&rng);
        const axis it = axis_make_level(random_range(&rng), length, 12.0, false);
        const double room = length * it.step / (it.high - it.low);
        if (it.num > 2) ck_assert_double_le(axis_text_width(&it, 12.0), room);
    }
}

END_TEST

// --- letters ---

static void widen_box(void *context, const canvas_point points[], int n)
{
    double *const box = context; // left, right, low, high
    for (int i = 0; i < n; ++i) {
        box[0] = fmin(box[0], points[i].x);
        box[1] = fmax(box[1], points[i].x);
        box[2] = fmin(box[2], points[i].y);
        box[3] = fmax(box[3], points[i].y);
    }
}

START_TEST(each_letter_is_drawn_within_its_width)
{
    for (unsigned letter = '!'; letter <= 0xff; ++letter) {
        if (letter > '~' && letter < 0xc0 && letter != 0xb0 && letter != 0xb5) continue;
        double box[] = {1e9, -1e9, 1e9, -1e9};
        font_draw(letter, widen_box, box);
        // the middle of a line 8 hundredths wide; j and / lean a little over the edge
        ck_assert_msg(box[0] >= -3.0, "letter %u begins at %g", letter, box[0]);
        ck_assert_msg(box[1] <= 100.0 * font_letter_width(letter, 1.0) + 3.0,
                      "letter %u ends at %g", letter, box[1]);
        ck_assert_double_ge(box[2], -19.0);
        ck_assert_double_le(box[3], 90.0);
    }
}

END_TEST

START_TEST(texts_are_cut_between_letters)
{
    const char *const long_name =
        "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";
    char *const cut = font_fit(long_name, 10.0, 30.0);
    ck_assert_str_eq(cut, "\xc3\xa9\xc3\xa9\xc3\xa9...");
    ck_assert_double_le(font_width(cut, 10.0), 30.0);
    char *const whole = font_fit("short", 10.0, 100.0);
    ck_assert_str_eq(whole, "short");
    free(cut);
    free(whole);
}

END_TEST

START_TEST(what_is_no_utf8_is_a_question_mark)
{
    const char *text = "\xff\xc3(a";
    ck_assert_uint_eq(font_next(&text), '?');
    ck_assert_uint_eq(font_next(&text), '?');
    ck_assert_uint_eq(font_next(&text), '(');
    ck_assert_uint_eq(font_next(&text), 'a');
    ck_assert_uint_eq(font_next(&text), 0);
    ck_assert_uint_eq(font_next(&text), 0);
}

END_TEST

// --- PNG ---

// A picture read from a file, by PNG (ISO 15948) alone.
typedef struct image {
    unsigned width, height;
    unsigned char *rgb; // owned
} image;

static unsigned number_at(const unsigned char *bytes)
{
    return (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 | (unsigned)bytes[2] << 8 | bytes[3];
}

// Undo the difference to the row above.
static void undo_filters(const unsigned char *rows, image *it)
{
    const size_t length = 3 * (size_t)it->width;
    for (size_t y = 0; y < it->height; ++y) {
        const unsigned char *const row = rows + y * (length + 1);
        ck_assert_int_eq(row[0], 2);
        for (size_t i = 0; i < length; ++i) {
            const int above = y > 0 ? it->rgb[(y - 1) * length + i] : 0;
            it->rgb[y * length + i] = (unsigned char)(row[i + 1] + above);
        }
    }
}

// Check signature, chunks and checksums, and unpack the rows.
static image read_png(const char *file, size_t size)
{
    const unsigned char *const bytes = (const unsigned char *)file;
    image it = {0};
    bool has_ended = false;
    ck_assert_mem_eq(bytes, "\x89PNG\r\n\x1a\n", 8);
    for (size_t at = 8; at < size; at += 12 + number_at(bytes + at)) {
        const unsigned length = number_at(bytes + at);
        const unsigned char *const type = bytes + at + 4, *const data = type + 4;
        ck_assert_uint_le(at + 12 + length, size);
        ck_assert_uint_eq(number_at(data + length), crc32(0, type, length + 4));
        has_ended = memcmp(type, "IEND", 4) == 0;
        if (memcmp(type, "IHDR", 4) == 0) {
            it.width = number_at(data), it.height = number_at(data + 4);
            ck_assert_mem_eq(data + 8, "\x08\x02\0\0\0", 5);
        }
        if (memcmp(type, "IDAT", 4) != 0) continue;
        uLongf room = (uLongf)(3 * (size_t)it.width + 1) * it.height;
        unsigned char *const rows = malloc(room);
        it.rgb = malloc(3 * (size_t)it.width * it.height);
        ck_assert_int_eq(uncompress(rows, &room, data, length), Z_OK);
        ck_assert_uint_eq(room, (3 * (size_t)it.width + 1) * it.height);
        undo_filters(rows, &it);
        free(rows);
    }
    ck_assert(has_ended);
    return it;
}

// How much ink there is, in dots: of black on white.
static double ink_of(const image *it)
{
    double ink = 0.0;
    for (size_t i = 0; i < (size_t)it->width * it->height; ++i) {
        ink += (255 - it->rgb[3 * i]) / 255.0;
    }
    return ink;
}

static image draw_one_line(canvas_point a, canvas_point b, double width, int dash)
{
    const canvas_pen pen = {.color = 0, .width = width, .dash = dash};
    const canvas_point points[] = {a, b};
    canvas *const on = canvas_png.create(100.0, 80.0, 2.0);
    size_t size = 0;
    canvas_png.line(on, &pen, points, 2);
    char *const file = canvas_png.finish(on, "", &size);
    const image it = read_png(file, size);
    free(file);
    return it;
}

START_TEST(a_line_of_a_png_has_its_length_and_width)
{
    for (int k = 0; k < 12; ++k) {
        const double angle = 0.3 * k, width = 0.5 + 0.4 * k;
        const canvas_point a = {50.0, 40.0};
        const canvas_point b = {50.0 + 30.0 * cos(angle), 40.0 + 30.0 * sin(angle)};
        image it = draw_one_line(a, b, width, 0);
        ck_assert_uint_eq(it.width, 200);
        ck_assert_uint_eq(it.height, 160);
        // a strip and two half circles, in dots; smooth edges are right on average
        const double area = 4.0 * (30.0 * width + 0.25 * acos(-1.0) * width * width);
        ck_assert_double_le(fabs(ink_of(&it) - area), 0.03 * area + 1.0);
        free(it.rgb);
    }
}

END_TEST

START_TEST(dashes_have_gaps)
{
    const canvas_point a = {5.0, 40.0}, b = {93.0, 40.0};
    image whole = draw_one_line(a, b, 2.0, 0), dashed = draw_one_line(a, b, 2.0, 1);
    double on = 0.0, off = 0.0;
    canvas_dash(1, &on, &off);
    // each dash has round ends, half a width long
    const double share = (on + 0.5 * acos(-1.0)) / (on + off);
    ck_assert_double_le(fabs(ink_of(&dashed) / ink_of(&whole) - share), 0.05);
    free(whole.rgb);
    free(dashed.rgb);
}

END_TEST

// The distance of a point from a segment.
static double distance_of(canvas_point a, canvas_point b, double x, double y)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    const double along = length2 > 0.0 ? ((x - a.x) * dx + (y - a.y) * dy) / length2 : 0.0;
    const double t = fmin(1.0, fmax(0.0, along));
    return hypot(x - a.x - t * dx, y - a.y - t * dy);
}

// Each dot of a picture of segments in a color is as far from white as the nearest of them is near:
// whole within the pen, half on its edge.
static void check_dots(const image *it, const canvas_point ends[], int num, double pen,
                       unsigned color)
{
    for (unsigned y = 0; y < it->height; ++y) {
        for (unsigned x = 0; x < it->width; ++x) {
            double nearest = 1e300;
            for (int k = 0; k < num; ++k) {
                nearest =
                    fmin(nearest, distance_of(ends[2 * k], ends[2 * k + 1], x + 0.5, y + 0.5));
            }
            const double part = fmin(1.0, fmax(0.0, pen + 0.5 - nearest));
            for (int c = 0; c < 3; ++c) {
                const double ink = color >> (16 - 8 * c) & 0xffu;
                const double dot = it->rgb[3 * ((size_t)y * it->width + x) + (size_t)c];
                // the part and the color are rounded
                ck_assert_msg(fabs(dot - (255.0 + part * (ink - 255.0))) <= 1.1,
                              "dot %u, %u, color %d is %g, part %g", x, y, c, dot, part);
            }
        }
    }
}

START_TEST(each_dot_of_a_png_is_as_dark_as_it_is_near)
{
    tal_random rng = {23, 0, 0};
    for (int k = 0; k < 12; ++k) {
        const canvas_pen pen = {.color = 0x40a0e0u >> k, .width = 0.5 + 0.5 * k};
        canvas_point points[3], ends[4];
        for (int i = 0; i < 3; ++i) {
            points[i] = (canvas_point){60.0 * tal_random_uniform(&rng) - 5.0,
                                       40.0 * tal_random_uniform(&rng) - 5.0};
        }
        if (k == 1) points[1].y = points[0].y; // level
        if (k == 2) points[1].x = points[0].x; // upright
        const double scale = 1.0 + 0.5 * (k % 3);
        for (int i = 0; i < 4; ++i) {
            const canvas_point p = points[(i + 1) / 2];
            ends[i] = (canvas_point){scale * p.x, scale * p.y};
        }
        const int n = k == 3 ? 1 : 3; // one point is a dot
        canvas *const on = canvas_png.create(50.0, 30.0, scale);
        size_t size = 0;
        canvas_png.line(on, &pen, points, n);
        char *const file = canvas_png.finish(on, "", &size);
        image it = read_png(file, size);
        ck_assert_uint_eq(it.width, (unsigned)(50.0 * scale));
        ck_assert_uint_eq(it.height, (unsigned)(30.0 * scale));
        if (n == 1) ends[1] = ends[0];
        check_dots(&it, ends, n == 1 ? 1 : 2, 0.5 * pen.width * scale, pen.color);
        free(it.rgb);
        free(file);
    }
}

END_TEST

START_TEST(dashes_go_on_around_corners)
{
    // 7 on, 4 off: the corner is 10 from the start, in a gap; the rest of the gap is behind it
    const canvas_pen pen = {.color = 0x203040u, .width = 2.0, .dash = 1};
    const canvas_point points[] = {{5.0, 5.0}, {15.0, 5.0}, {15.0, 25.0}};
    const canvas_point ends[] = {{5.0, 5.0},   {12.0, 5.0},  {15.0, 6.0},
                                 {15.0, 13.0}, {15.0, 17.0}, {15.0, 24.0}};
    canvas *const on = canvas_png.create(30.0, 30.0, 1.0);
    size_t size = 0;
    canvas_png.line(on, &pen, points, 3);
    char *const file = canvas_png.finish(on, "", &size);
    image it = read_png(file, size);
    check_dots(&it, ends, 3, 1.0, pen.color);
    free(it.rgb);
    free(file);
}

END_TEST

// A picture of one text.
static image draw_letters(const canvas_letters *letters, canvas_point at, const char *text)
{
    canvas *const on = canvas_png.create(120.0, 120.0, 1.0);
    size_t size = 0;
    canvas_png.text(on, letters, at, text);
    char *const file = canvas_png.finish(on, "", &size);
    const image it = read_png(file, size);
    free(file);
    return it;
}

// Widths that are whole: 100 times Helvetica's are. A text that goes up is one that is level,
// turned; one that ends or is centered somewhere is one that starts so much earlier.
START_TEST(letters_are_turned_and_placed)
{
    static const char text[] = "aR7\xc2\xb2g";
    canvas_letters letters = {.size = 20.0, .color = 0x102030u, .anchor = CANVAS_START};
    const double width = font_width(text, letters.size);
    image level = draw_letters(&letters, (canvas_point){30.0, 60.0}, text);
    ck_assert_double_gt(ink_of(&level), 50.0);
    letters.goes_up = true;
    image up = draw_letters(&letters, (canvas_point){60.0, 90.0}, text);
    for (unsigned y = 0; y < 120; ++y) {
        for (unsigned x = 0; x < 120; ++x) {
            const int one = level.rgb[3 * ((size_t)y * 120 + x)];
            ck_assert_int_le(abs(one - up.rgb[3 * ((size_t)(119 - x) * 120 + y)]), 1);
        }
    }
    letters.goes_up = false;
    for (int k = 1; k < 3; ++k) {
        letters.anchor = k == 1 ? CANVAS_MIDDLE : CANVAS_END;
        image same = draw_letters(&letters, (canvas_point){30.0 + 0.5 * k * width, 60.0}, text);
        ck_assert_mem_eq(same.rgb, level.rgb, (size_t)3 * 120 * 120);
        free(same.rgb);
        letters.goes_up = true;
        same = draw_letters(&letters, (canvas_point){60.0, 90.0 - 0.5 * k * width}, text);
        for (size_t i = 0; i < (size_t)3 * 120 * 120; ++i) {
            ck_assert_int_le(abs(same.rgb[i] - up.rgb[i]), 1);
        }
        free(same.rgb);
        letters.goes_up = false;
    }
    letters.anchor = CANVAS_START;
    letters.is_bold = true;
    image bold = draw_letters(&letters, (canvas_point){30.0, 60.0}, text);
    ck_assert_double_gt(ink_of(&bold), 1.3 * ink_of(&level));
    ck_assert_double_lt(ink_of(&bold), 1.7 * ink_of(&level));
    free(bold.rgb);
    free(level.rgb);
    free(up.rgb);
}

END_TEST

START_TEST(letters_of_a_png_stay_within_their_place)
{
    canvas *const on = canvas_png.create(200.0, 60.0, 2.0);
    const canvas_letters letters = {.size = 14.0, .color = 0, .anchor = CANVAS_END};
    size_t size = 0;
    canvas_png.text(on, &letters, (canvas_point){150.0, 40.0}, "W10\xe2\x81\xbb\xc2\xb3");
    char *const file = canvas_png.finish(on, "", &size);
    image it = read_png(file, size);
    const double left = 2.0 * (150.0 - font_width("W10\xe2\x81\xbb\xc2\xb3", 14.0));
    double ink = 0.0;
    for (unsigned y = 0; y < it.height; ++y) {
        for (unsigned x = 0; x < it.width; ++x) {
            const bool is_inside = x >= left - 2.0 && x <= 302.0 && y >= 50 && y <= 84;
            const int dot = it.rgb[3 * ((size_t)y * it.width + x)];
            if (!is_inside) ck_assert_int_eq(dot, 255);
            ink += (255 - dot) / 255.0;
        }
    }
    ck_assert_double_gt(ink, 300.0);
    free(it.rgb);
    free(file);
}

END_TEST

START_TEST(what_is_outside_a_png_is_not_drawn)
{
    const canvas_point a = {-1e6, -1e6}, b = {1e6, 1e6};
    image it = draw_one_line(a, b, 2.0, 0);
    ck_assert_double_gt(ink_of(&it), 100.0);
    free(it.rgb);
}

END_TEST

// --- PDF ---

// A file whose table of objects says where they are.
static void check_objects(const char *file, size_t size)
{
    ck_assert_mem_eq(file, "%PDF-1.4\n", 9);
    ck_assert_str_eq(file + size - 6, "%%EOF\n");
    const char *end = file + size;
    while (strncmp(end, "startxref", 9) != 0) {
        --end;
    }
    const long table = strtol(end + 9, NULL, 10);
    ck_assert(strncmp(file + table, "xref\n0 8\n", 9) == 0);
    const char *row = file + table + 9;
    for (int i = 1; i <= 7; ++i) {
        row += 20; // each row has 20 bytes
        const long at = strtol(row, NULL, 10);
        char head[16];
        (void)snprintf(head, sizeof head, "%d 0 obj\n", i);
        ck_assert_msg(strncmp(file + at, head, strlen(head)) == 0, "object %d", i);
    }
}

// Is a text somewhere among bytes, of which some are zero?
static bool has_text(const char *file, size_t size, const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i + length <= size; ++i) {
        if (memcmp(file + i, text, length) == 0) return true;
    }
    return false;
}

// What a PDF draws: the stream of its fourth object, unpacked.
static void read_page(const char *file, size_t size, char page[], size_t room)
{
    const char *at = file;
    while (strncmp(at, "4 0 obj\n", 8) != 0) {
        ck_assert_uint_lt((size_t)(at - file) + 8, size);
        ++at;
    }
    const char *const length = strstr(at, "/Length "), *const begin = strstr(at, "stream\n") + 7;
    uLongf unpacked = (uLongf)room - 1;
    ck_assert_int_eq(uncompress((unsigned char *)page, &unpacked, (const unsigned char *)begin,
                                strtoul(length + 8, NULL, 10)),
                     Z_OK);
    page[unpacked] = 0;
}

START_TEST(a_pdf_draws_what_it_was_told)
{
    canvas *const on = canvas_pdf.create(400.0, 300.0, 1.0);
    const canvas_pen dashed = {.color = 0x0033ffu, .width = 1.5, .dash = 1};
    const canvas_pen whole = {.color = 0xff6600u, .width = 2.0};
    const canvas_point points[] = {{10.0, 11.0}, {390.5, 290.25}, {12.0, 13.0}};
    const canvas_letters up = {.size = 10.0, .is_bold = true, .goes_up = true};
    const canvas_letters level = {.size = 20.0, .color = 0x33ff00u, .anchor = CANVAS_END};
    const double width = font_width("a(\xe2\x88\x92", 20.0);
    char *file = NULL, page[2000], expected[2000];
    size_t size = 0;
    canvas_pdf.line(on, &dashed, points, 3);
    canvas_pdf.line(on, &whole, points, 1);
    canvas_pdf.text(on, &up, (canvas_point){20.0, 150.0}, "m\xc2\xb2x");
    canvas_pdf.text(on, &level, (canvas_point){200.0, 100.0}, "a(\xe2\x88\x92");
    file = canvas_pdf.finish(on, "", &size);
    read_page(file, size, page, sizeof page);
    (void)snprintf(expected, sizeof expected,
                   "0.75 0 0 -0.75 0 225 cm 1 J 1 j\n"
                   "0 0.2 1 RG\n1.5 w [7 4] 0 d\n10.00 11.00 m\n390.50 290.25 l\n12.00 13.00 l\n"
                   "S\n1 0.4 0 RG\n2 w [] 0 d\n10.00 11.00 m\n10.00 11.00 l\nS\n"
                   "0 0 0 rg\nBT 0 -1 -1 0 20.00 150.00 Tm\n/B 10.00 Tf 0.00 Ts <6d> Tj\n"
                   "/B %.2f Tf %.2f Ts <32> Tj\n/B 10.00 Tf 0.00 Ts <78> Tj\nET\n"
                   "0.2 1 0 rg\nBT 1 0 0 -1 %.2f 100.00 Tm\n/F 20.00 Tf 0.00 Ts <612801> Tj\nET\n",
                   10.0 * FONT_RAISED_SIZE, 10.0 * FONT_RAISED_BY, 200.0 - width);
    ck_assert_str_eq(page, expected);
    free(file);
}

END_TEST

START_TEST(a_pdf_has_its_objects_where_it_says)
{
    canvas *const on = canvas_pdf.create(400.0, 300.0, 1.0);
    const canvas_pen pen = {.color = 0x0072b2, .width = 1.5, .dash = 1};
    const canvas_point points[] = {{10.0, 10.0}, {390.0, 290.0}};
    const canvas_letters letters = {.size = 12.0, .is_bold = true, .goes_up = true};
    size_t size = 0;
    canvas_pdf.line(on, &pen, points, 2);
    canvas_pdf.text(on, &letters, (canvas_point){20.0, 150.0}, "m/s\xc2\xb2 (a) \\ \xe4\xb8\xad");
    char *const file = canvas_pdf.finish(on, "A \xc3\xa9 title", &size);
    check_objects(file, size);
    ck_assert(has_text(file, size, "/MediaBox [0 0 300 225]"));
    ck_assert(has_text(file, size, "/Title <feff0041002000e90020007400690074006c0065>"));
    free(file);
}

END_TEST

// --- figures ---

// Values of text elements of an SVG: where they begin and end, by the widths of Helvetica.
static int check_texts(const char *svg, double width, double height)
{
    int n = 0;
    for (const char *at = svg; (at = strstr(at, "<text x=")) != NULL; ++at, ++n) {
        const double x = strtod(at + 9, NULL), y = strtod(strstr(at, " y=") + 4, NULL);
        const double size = strtod(strstr(at, "font-size=") + 11, NULL);
        const char *const open = strchr(at, '>') + 1, *const close = strstr(open, "</text>");
        char text[256];
        (void)snprintf(text, sizeof text, "%.*s", (int)(close - open), open);
        if (strchr(text, '<') != NULL) continue; // with an exponent in it
        const char *const anchor = strstr(at, "text-anchor=\"");
        const bool has_anchor = anchor != NULL && anchor < open;
        const double back = !has_anchor ? 0.0 : anchor[13] == 'm' ? 0.5 : 1.0;
        const double w = font_width(text, size);
        ck_assert_msg(x - back * w >= 0.0, "'%s' is cut on the left", text);
        ck_assert_msg(x + (1.0 - back) * w <= width, "'%s' is cut on the right", text);
        ck_assert_msg(y - 0.72 * size >= 0.0 && y + 0.21 * size <= height, "'%s' is cut", text);
    }
    return n;
}

// A figure of one line over two numbers far from zero and from each other.
static char *draw_range(axis_range x, axis_range y, int width, int *height)
{
    const double xs[] = {x.low, x.high}, ys[] = {y.low, y.high};
    const figure_line lines[] = {{.name = "a", .x = xs, .y = ys, .num = 2},
                                 {.name = "b", .x = xs, .y = ys, .num = 2}};
    const figure_key keys[] = {{"a", {0, 0}},
                               {"a long name that may not fit beside the picture", {1, 0}}};
    const figure_panel panel = {
        .label = "position [m]", .lines = lines, .num_lines = 2, .keys = keys, .num_keys = 2};
    const figure it = {.title = "a title that is rather long for a small picture",
                       .x_label = "time [s]",
                       .panels = &panel,
                       .num_panels = 1,
                       .width = width};
    size_t size = 0;
    return figure_draw(&it, &canvas_svg, 1.0, height, &size);
}

START_TEST(no_label_leaves_the_picture)
{
    tal_random rng = {19, 0, 0};
    for (int trial = 0; trial < 300; ++trial) {
        const int width = 200 + (int)(1000.0 * tal_random_uniform(&rng));
        int height = 0;
        char *const svg = draw_range(random_range(&rng), random_range(&rng), width, &height);
        ck_assert_int_ge(check_texts(svg, width, height), 6);
        ck_assert_ptr_null(strstr(svg, "nan"));
        ck_assert_ptr_null(strstr(svg, "inf"));
        free(svg);
    }
}

END_TEST

START_TEST(axes_are_tight)
{
    const axis_range x = {0.3, 9.7}, y = {-1.3, 8.9};
    int height = 0;
    char *const svg = draw_range(x, y, 800, &height);
    // the line begins at the left end of the axis and ends at its right end
    const char *const line = strstr(svg, "stroke-width=\"1.6\"");
    const char *const frame = strstr(svg, "stroke=\"#333333\"");
    double x0 = 0.0, y0 = 0.0, x1 = 0.0, y1 = 0.0, left = 0.0, top = 0.0, bottom = 0.0;
    ck_assert_int_eq(sscanf(strstr(line, " d=") + 4, "M%lf %lfL%lf %lf", &x0, &y0, &x1, &y1), 4);
    ck_assert_int_eq(sscanf(strstr(frame, " d=") + 4, "M%lf %lfV%lf", &left, &top, &bottom), 3);
    ck_assert_double_le(fabs(x0 - left), 0.01);
    // 4 % of the range above and below
    const double margin = 0.04 / 1.08 * (bottom - top);
    ck_assert_double_le(fabs(bottom - y0 - margin), 0.02);
    ck_assert_double_le(fabs(y1 - top - margin), 0.02);
    free(svg);
}

END_TEST

START_TEST(many_points_become_few_without_losing_peaks)
{
    enum {
        NUM = 100000
    };

    double *const x = malloc(NUM * sizeof *x), *const y = malloc(NUM * sizeof *y);
    for (int i = 0; i < NUM; ++i) {
        x[i] = i;
        y[i] = i == 54321 ? 1.0 : i == 65432 ? -1.0 : 0.1 * sin(i);
    }
    const figure_line line = {.name = "a", .x = x, .y = y, .num = NUM};
    const figure_panel panel = {.label = "", .lines = &line, .num_lines = 1};
    const figure it = {
        .title = "", .x_label = "", .panels = &panel, .num_panels = 1, .width = 800, .height = 400};
    size_t size = 0;
    int height = 0;
    char *const svg = figure_draw(&it, &canvas_svg, 1.0, &height, &size);
    ck_assert_uint_le(size, 250000);
    double low = 1e9, high = -1e9;
    const char *at = strstr(strstr(svg, "stroke-width=\"1.6\""), " d=\"") + 4;
    for (char *end = NULL; *at != '"'; at = end) {
        if (strchr("MLHV ", *at) != NULL) ++at;
        const bool is_level = at[-1] == 'H';
        const double one = strtod(at, &end);
        ck_assert_ptr_ne(at, end);
        if (is_level) continue;
        const double value = at[-1] == 'V' ? one : strtod(end, &end);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    // 2 of 2.16 of the height: 4 % of the range are above and below
    const double whole = high - low;
    ck_assert_double_ge(whole, 0.9 * (400.0 - 14.0 - 46.0));
    free(svg);
    free(x);
    free(y);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("cli/plot");
    TCase *const tcase = tcase_create("plot");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_test(tcase, ticks_are_round_and_inside_and_their_numbers_mean_what_they_say);
    tcase_add_test(tcase, numbers_that_have_much_in_common_get_an_offset);
    tcase_add_test(tcase, usual_numbers_are_written_as_they_are);
    tcase_add_test(tcase, degrees_have_ticks_at_parts_of_a_circle);
    tcase_add_test(tcase, round_off_is_not_blown_up_to_a_curve);
    tcase_add_test(tcase, numbers_side_by_side_do_not_touch);
    tcase_add_test(tcase, each_letter_is_drawn_within_its_width);
    tcase_add_test(tcase, texts_are_cut_between_letters);
    tcase_add_test(tcase, what_is_no_utf8_is_a_question_mark);
    tcase_add_test(tcase, a_line_of_a_png_has_its_length_and_width);
    tcase_add_test(tcase, dashes_have_gaps);
    tcase_add_test(tcase, each_dot_of_a_png_is_as_dark_as_it_is_near);
    tcase_add_test(tcase, dashes_go_on_around_corners);
    tcase_add_test(tcase, letters_are_turned_and_placed);
    tcase_add_test(tcase, letters_of_a_png_stay_within_their_place);
    tcase_add_test(tcase, what_is_outside_a_png_is_not_drawn);
    tcase_add_test(tcase, a_pdf_draws_what_it_was_told);
    tcase_add_test(tcase, a_pdf_has_its_objects_where_it_says);
    tcase_add_test(tcase, no_label_leaves_the_picture);
    tcase_add_test(tcase, axes_are_tight);
    tcase_add_test(tcase, many_points_become_few_without_losing_peaks);
    suite_add_tcase(suite, tcase);
    SRunner *const runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
