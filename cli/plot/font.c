// Letters: widths, and lines to draw them with.
#include "plot/font.h"

#include <talus/common/rotation.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A letter: its width in thousandths of an em, and its lines in hundredths.
//
//     M x y                    begin at a point
//     L x y                    straight to a point
//     C x y x y x y            a Bezier curve: two controls, then a point
//     A x y rx ry from to      part of an ellipse: center, radii, angles in degrees
//
// Capitals are 72 high, small letters 52; lines are the middle of strokes 8 wide.
typedef struct glyph {
    int width;
    const char *lines;
} glyph;

// From the blank on, in the order of ASCII.
static const glyph ascii[] = {
    /*   */ {278, ""},
    /* ! */ {278, "M14 68L14 24M14 4L14 5"},
    /* " */ {355, "M11 68L11 50M25 68L25 50"},
    /* # */ {556, "M21 68L13 4M44 68L36 4M6 47L52 47M4 25L50 25"},
    /* $ */ {556, "A28 51 18 14 25 270A28 21.5 20 15.5 90 -155M28 74L28 -3"},
    /* % */ {889, "A21 53 13 15 0 360M81 19A68 19 13 15 0 360M65 68L24 4"},
    /* & */
    {667, "M61 4L24 48C15 59 21 69 32 69C45 69 47 56 37 49L21 39C3 28 8 3 27 3C43 3 53 14 55 31"},
    /* ' */ {191, "M9.5 68L9.5 50"},
    /* ( */ {333, "M26 72C11 52 11 4 26 -17"},
    /* ) */ {333, "M7 72C22 52 22 4 7 -17"},
    /* * */ {389, "M19.5 69L19.5 46M9.5 63.5L29.5 51.5M29.5 63.5L9.5 51.5"},
    /* + */ {584, "M29 6L29 46M9 26L49 26"},
    /* , */ {278, "M14 5L11 -9"},
    /* - */ {333, "M6 27L27 27"},
    /* . */ {278, "M14 4L14 5"},
    /* / */ {278, "M3 0L25 70"},
    /* 0 */ {556, "A28 36 20 33 0 360"},
    /* 1 */ {556, "M14 56L32 68L32 4"},
    /* 2 */ {556, "A27.5 49 19 20 170 -35L9 4L48 4"},
    /* 3 */ {556, "A27 52.5 17.5 16.5 160 -90A27 19.5 20 16.5 90 -160"},
    /* 4 */ {556, "M38 4L38 68L6 21L50 21"},
    /* 5 */
    {556,
     "M45 68L15 68L11 36C16 42 22 45 28 45C40 45 47.5 36 47.5 25C47.5 12 39 3 27 3C17 3 9.5 8 8 17"},
    /* 6 */
    {556, "M45 57C43 65 37 69 29 69C15 69 8.5 54 8.5 33L8.5 24.5A28.5 24.5 20 21.5 180 540"},
    /* 7 */ {556, "M7 68L48 68C34 50 25 28 22 4"},
    /* 8 */ {556, "A28 53 17.5 16 0 360M48.5 20A28 20 20.5 17 0 360"},
    /* 9 */ {556, "M11 15C13 7 19 3 27 3C41 3 47.5 18 47.5 39L47.5 47.5A27.5 47.5 20 21.5 0 360"},
    /* : */ {278, "M14 4L14 5M14 44L14 45"},
    /* ; */ {278, "M14 5L11 -9M14 44L14 45"},
    /* < */ {584, "M50 44L9 26L50 8"},
    /* = */ {584, "M8 35L50 35M8 17L50 17"},
    /* > */ {584, "M9 44L50 26L9 8"},
    /* ? */ {556, "A28 52 18 17 170 -45C34 34 28 31 28 22M28 4L28 5"},
    /* @ */ {1015, "M66 42L62 17C63 9 84 9 88 32A50 28 41 41 8 300M62 28A46 28 16 16 0 360"},
    /* A */ {667, "M5 4L33.5 68L62 4M14 25L53 25"},
    /* B */ {667, "M12 68L38 68A38 53 18 15 90 -90L12 38M38 38A40 21 20 17 90 -90L12 4L12 68"},
    /* C */ {722, "A38 36 30 33 42 318"},
    /* D */ {722, "M12 4L12 68L34 68A34 36 31 32 90 -90L12 4"},
    /* E */ {667, "M60 4L12 4L12 68L59 68M12 37L55 37"},
    /* F */ {611, "M12 4L12 68L56 68M12 36L50 36"},
    /* G */ {778, "A40 36 32 33 42 335L69 35L43 35"},
    /* H */ {722, "M12 4L12 68M60 4L60 68M12 37L60 37"},
    /* I */ {278, "M14 4L14 68"},
    /* J */ {500, "M38 68L38 20A22 20 16 17 0 -165"},
    /* K */ {667, "M12 4L12 68M60 68L12 24M28 39L62 4"},
    /* L */ {556, "M12 68L12 4L51 4"},
    /* M */ {833, "M12 4L12 68L41.5 6L71 68L71 4"},
    /* N */ {722, "M12 4L12 68L60 4L60 68"},
    /* O */ {778, "A39 36 32 33 0 360"},
    /* P */ {667, "M12 4L12 68L41 68A41 51 19 17 90 -90L12 34"},
    /* Q */ {778, "A39 36 32 33 0 360M47 18L70 0"},
    /* R */ {722, "M12 4L12 68L43 68A43 51.5 18.5 16.5 90 -90L12 35M41 35L64 4"},
    /* S */ {667, "A33 52.5 22 16.5 25 270A33 19.5 25 16.5 90 -155"},
    /* T */ {611, "M30.5 4L30.5 68M5 68L56 68"},
    /* U */ {722, "M12 68L12 27A36 27 24 24 180 360L60 68"},
    /* V */ {667, "M5 68L33.5 4L62 68"},
    /* W */ {944, "M4 68L25 4L47 66L69 4L90 68"},
    /* X */ {667, "M7 68L60 4M60 68L7 4"},
    /* Y */ {667, "M5 68L33.5 33L62 68M33.5 33L33.5 4"},
    /* Z */ {611, "M7 68L54 68L7 4L56 4"},
    /* [ */ {278, "M23 71L11 71L11 -16L23 -16"},
    /* \ */ {278, "M3 70L25 0"},
    /* ] */ {278, "M5 71L17 71L17 -16L5 -16"},
    /* ^ */ {469, "M9 38L23.5 66L38 38"},
    /* _ */ {556, "M2 -11L53 -11"},
    /* ` */ {333, "M10 70L19 59"},
    /* a */
    {556,
     "A28 35 17.5 13.5 160 0L45.5 4M45.5 28C36 31 9 30 9 15.5C9 7 17 3 24 3C36 3 45.5 10 45.5 22"},
    /* b */ {556, "M11 68L11 4M11 26A29 26 18 22.5 180 540"},
    /* c */ {500, "A27 26 19 22.5 45 315"},
    /* d */ {556, "M45 68L45 4M45 26A27 26 18 22.5 0 360"},
    /* e */ {556, "M9 27L47 27A28 26 19 22.5 2 318"},
    /* f */ {278, "M13 4L13 56C13 66 17 69 26 68M3 48L25 48"},
    /* g */ {556, "M45 48L45 0A27.5 0 17.5 17 0 -155M45 26A27 26 18 22.5 0 360"},
    /* h */ {556, "M11 68L11 4M11 30A28 30 17 18.5 180 0L45 4"},
    /* i */ {222, "M11 48L11 4M11 66L11 67"},
    /* j */ {222, "M11 48L11 -8C11 -16 7 -18 1 -17M11 66L11 67"},
    /* k */ {500, "M11 68L11 4M43 48L11 17M22 28L46 4"},
    /* l */ {222, "M11 68L11 4"},
    /* m */
    {833, "M11 48L11 4M11 32A26.5 32 15.5 16.5 180 0L42 4M42 32A57.5 32 15.5 16.5 180 0L73 4"},
    /* n */ {556, "M11 48L11 4M11 30A28 30 17 18.5 180 0L45 4"},
    /* o */ {556, "A28 26 20 22.5 0 360"},
    /* p */ {556, "M11 48L11 -17M11 26A29 26 18 22.5 180 540"},
    /* q */ {556, "M45 48L45 -17M45 26A27 26 18 22.5 0 360"},
    /* r */ {333, "M11 48L11 4M11 28C12 42 20 49 31 47.5"},
    /* s */ {500, "A25 37 16 11.5 25 270A25 14.5 18 11 90 -155"},
    /* t */ {278, "M13 62L13 14C13 5 16 3 25 4M4 48L24 48"},
    /* u */ {556, "M11 48L11 21A28 21 17 18 180 360M45 48L45 4"},
    /* v */ {500, "M5 48L25 4L45 48"},
    /* w */ {722, "M4 48L19 4L36 47L53 4L68 48"},
    /* x */ {500, "M6 48L44 4M44 48L6 4"},
    /* y */ {500, "M5 48L25.5 5M45 48L25.5 5L21 -7C18 -16 13 -18 6 -17"},
    /* z */ {500, "M6 48L43 48L6 4L44 4"},
    /* { */
    {334,
     "M27 72C17 72 18 66 18 56L18 40C18 32 14 28 7 28C14 28 18 24 18 16L18 0C18 -10 17 -16 27 -16"},
    /* | */ {260, "M13 72L13 -17"},
    /* } */
    {334,
     "M6 72C16 72 15 66 15 56L15 40C15 32 19 28 26 28C19 28 15 24 15 16L15 0C15 -10 16 -16 6 -16"},
    /* ~ */ {584, "M8 21C14 34 24 30 29 26C34 22 44 18 50 31"},
};

// Signs beyond ASCII.
static const struct {
    unsigned letter;
    glyph glyph;
} signs[] = {
    {0xb0, {400, "A20 57 10 10 0 360"}},
    {0xb1, {584, "M29 16L29 52M9 34L49 34M9 6L49 6"}},
    {0xb2, {333, "A16 58 11 10 165 -35L6 34L28 34"}},
    {0xb3, {333, "A16 59 10 9 150 -90A16 42 11 9 90 -155"}},
    {0xb5, {556, "M11 48L11 -17M11 21A28 21 17 18 180 360M45 48L45 4"}},
    {0xb7, {278, "M14 27L14 28"}},
    {0xd7, {584, "M12 43L46 9M46 43L12 9"}},
    {0xdf,
     {611, "M11 4L11 52C11 74 45 72 43 52C42 44 30 42 31 35C32 27 50 28 48 14C46 2 34 2 26 5"}},
    {0xf7, {584, "M9 26L49 26M29 40L29 41M29 11L29 12"}},
    {FONT_MINUS, {584, "M9 26L49 26"}}};

// Letters from U+00C0 on: what they are without their accents, and these.
static const char plain[] = "AAAAAAACEEEEIIIIDNOOOOO\0OUUUUYP\0aaaaaaaceeeeiiiidnooooo\0ouuuuypy";
static const char accents[] =
    "`'^~\"o ,`'^\"`'^\" ~`'^~\"\0/`'^\"' \0`'^~\"o ,`'^\"`'^\" ~`'^~\"\0/`'^\"' \"";

// An accent over a letter that is `middle` to the right, and `up` above small letters.
static const char *accent_lines(char accent)
{
    switch (accent) {
    case '`':
        return "M-7 69L2 59";
    case '\'':
        return "M7 69L-2 59";
    case '^':
        return "M-9 59L0 69L9 59";
    case '~':
        return "M-11 61C-6 69 4 57 11 65";
    case '"':
        return "M-8 64L-8 65M8 64L8 65";
    case 'o':
        return "A0 64 6 6 0 360";
    case ',':
        return "M1 2L3 -6C3 -14 -3 -15 -8 -13";
    case '/':
        return "M-19 0L19 52";
    default:
        return "";
    }
}

unsigned font_next(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    if (*at == 0) return 0;
    const int more = *at < 0x80u ? 0 : *at >= 0xf0u ? 3 : *at >= 0xe0u ? 2 : *at >= 0xc0u ? 1 : -1;
    unsigned letter = more <= 0 ? *at : *at & (0x3fu >> more);
    for (int i = 1; i <= more; ++i) {
        if ((at[i] & 0xc0u) != 0x80u) {
            *text += i;
            return '?';
        }
        letter = letter << 6 | (at[i] & 0x3fu);
    }
    *text += more > 0 ? more + 1 : 1;
    return more < 0 || letter == 0 ? '?' : letter;
}

unsigned font_lower(unsigned letter, bool *is_raised)
{
    *is_raised = true;
    if (letter == 0xb9) return '1';
    if (letter == 0xb2 || letter == 0xb3) return '2' + (letter - 0xb2);
    if (letter == 0x2070 || (letter >= 0x2074 && letter <= 0x2079)) return '0' + (letter - 0x2070);
    if (letter == 0x207b) return FONT_MINUS;
    *is_raised = false;
    return letter;
}

// How a letter is drawn without its accent.
static glyph glyph_of(unsigned letter)
{
    const glyph box = {556, "M8 4L48 4L48 68L8 68L8 4"};
    if (letter >= ' ' && letter <= '~') return ascii[letter - ' '];
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; ++i) {
        if (signs[i].letter == letter) return signs[i].glyph;
    }
    if (letter >= 0xc0 && letter <= 0xff) return ascii[plain[letter - 0xc0] - ' '];
    return box;
}

double font_letter_width(unsigned letter, double size)
{
    bool is_raised = false;
    const unsigned lower = font_lower(letter, &is_raised);
    return 1e-3 * glyph_of(lower).width * size * (is_raised ? FONT_RAISED_SIZE : 1.0);
}

double font_width(const char *text, double size)
{
    double width = 0.0;
    for (unsigned letter; (letter = font_next(&text)) != 0;) {
        width += font_letter_width(letter, size);
    }
    return width;
}

char *font_fit(const char *text, double size, double width)
{
    if (font_width(text, size) <= width) return cli_copy(text);
    const char *end = text;
    double used = font_width("...", size);
    for (const char *next = text;; end = next) {
        used += font_letter_width(font_next(&next), size);
        if (used > width) break;
    }
    return cli_format("%.*s...", (int)(end - text), text);
}

// --- drawing ---

enum {
    MAX_POINTS = 256 // of one line of a letter
};

typedef struct tracer {
    canvas_point points[MAX_POINTS];
    int num;
    double right, up; // where to draw
    void (*line)(void *context, const canvas_point points[], int n);
    void *context;
} tracer;

static void end_line(tracer *it)
{
    if (it->num > 0) it->line(it->context, it->points, it->num);
    it->num = 0;
}

static void trace_to(tracer *it, double x, double y)
{
    if (it->num < MAX_POINTS) it->points[it->num++] = (canvas_point){x + it->right, y + it->up};
}

static void trace_curve(tracer *it, const double c[6])
{
    if (it->num < 1) return;
    const double x0 = it->points[it->num - 1].x - it->right;
    const double y0 = it->points[it->num - 1].y - it->up;
    const int parts = 12;
    for (int i = 1; i <= parts; ++i) {
        const double t = (double)i / parts, s = 1.0 - t;
        trace_to(
            it, s * s * s * x0 + 3.0 * s * s * t * c[0] + 3.0 * s * t * t * c[2] + t * t * t * c[4],
            s * s * s * y0 + 3.0 * s * s * t * c[1] + 3.0 * s * t * t * c[3] + t * t * t * c[5]);
    }
}

static void trace_arc(tracer *it, const double a[6])
{
    const int parts = 1 + (int)(fabs(a[5] - a[4]) / 9.0);
    for (int i = 0; i <= parts; ++i) {
        const double angle = TAL_DEGREE * (a[4] + (a[5] - a[4]) * i / parts);
        trace_to(it, a[0] + a[2] * cos(angle), a[1] + a[3] * sin(angle));
    }
}

// Draw what a glyph says.
static void trace(tracer *it, const char *lines)
{
    while (*lines != 0) {
        const char kind = *lines++;
        const int num_numbers = kind == 'M' || kind == 'L' ? 2 : 6;
        double numbers[6];
        for (int i = 0; i < num_numbers; ++i) {
            char *end = NULL;
            numbers[i] = strtod(lines, &end);
            lines = end;
        }
        if (kind == 'M') end_line(it);
        if (num_numbers == 2) trace_to(it, numbers[0], numbers[1]);
        if (kind == 'C') trace_curve(it, numbers);
        if (kind == 'A') trace_arc(it, numbers);
    }
    end_line(it);
}

void font_draw(unsigned letter, void (*line)(void *context, const canvas_point points[], int n),
               void *context)
{
    tracer it = {.line = line, .context = context};
    const glyph bare = glyph_of(letter);
    trace(&it, bare.lines);
    if (letter < 0xc0 || letter > 0xff || plain[letter - 0xc0] == 0) return;
    const char accent = accents[letter - 0xc0];
    it.right = 0.05 * bare.width;
    it.up = letter < 0xe0 && accent != ',' && accent != '/' ? 16.0 : 0.0;
    trace(&it, accent_lines(accent));
}
