// Line plots as SVG: axes with ticks at round numbers, a light grid, lines in colors that most
// people can tell apart, and a legend beside them.
#include "plot/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A picture under construction, in memory.
typedef struct picture {
    char *text; // owned
    size_t size, capacity;
} picture;

static void print(picture *out, const char *fmt, ...) TAL_PRINTF(2, 3);

static void print(picture *out, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    char *const piece = cli_format_list(fmt, list);
    va_end(list);
    const size_t length = strlen(piece), needed = out->size + length + 1;
    if (needed > out->capacity) {
        out->capacity = 2 * needed;
        out->text = cli_resize(out->text, out->capacity, 1);
    }
    memcpy(out->text + out->size, piece, length + 1);
    out->size += length;
    free(piece);
}

// Where things are.
typedef struct frame {
    double left, right, top, bottom;     // of the drawing area [pixels]
    double x_low, x_high, y_low, y_high; // what it shows
    double x_tick, y_tick;               // distances of ticks
} frame;

// After Okabe and Ito: distinct also for the color-blind, and in gray.
static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#222222", "#999933"};
// When the colors are used again, lines are dashed, then dotted.
static const char *const dashes[] = {"", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 3\""};

enum {
    NUM_COLORS = sizeof colors / sizeof colors[0],
    NUM_DASHES = sizeof dashes / sizeof dashes[0]
};

// Letters of 13 pixels are about this wide.
#define LETTER 7.2

double svg_tick_distance(double low, double high, int wanted)
{
    const double rough = (high - low) / wanted;
    const double power = pow(10.0, floor(log10(rough)));
    const double share = rough / power;
    return power * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

static void escape(picture *out, const char *text)
{
    for (; *text != 0; ++text) {
        switch (*text) {
        case '<':
            print(out, "&lt;");
            break;
        case '>':
            print(out, "&gt;");
            break;
        case '&':
            print(out, "&amp;");
            break;
        default:
            print(out, "%c", *text);
        }
    }
}

// Differences of larger numbers may overflow; for a smaller range the distance of ticks may
// underflow.
#define LARGEST 1e300

static bool can_be_drawn(double value)
{
    return fabs(value) < LARGEST;
}

// Widen a range that has no width or no values.
static void widen(double *low, double *high)
{
    if (!(*low <= *high)) {
        *low = 0.0;
        *high = 1.0;
    }
    const double size = fmax(fabs(*low), fabs(*high));
    if (*high - *low > fmax(1e-12 * size, 1.0 / LARGEST)) return;
    const double half = size > 1.0 / LARGEST ? 0.1 * size : 1.0;
    *low -= half;
    *high += half;
}

static void include(const double values[], int n, double *low, double *high)
{
    for (int i = 0; i < n; ++i) {
        if (!can_be_drawn(values[i])) continue;
        if (!(values[i] >= *low)) *low = values[i];
        if (!(values[i] <= *high)) *high = values[i];
    }
}

// What the x axis shows, the same in all panels.
static frame make_frame(const svg_plot *plot, double legend)
{
    frame f = {.left = 76.0, .x_low = (double)NAN, .x_high = (double)NAN};
    f.right = plot->width - legend - 16.0;
    include(plot->x, plot->num, &f.x_low, &f.x_high);
    widen(&f.x_low, &f.x_high);
    f.x_tick = svg_tick_distance(f.x_low, f.x_high, (int)fmax(3.0, (f.right - f.left) / 90.0));
    return f;
}

// Where a panel is, and what its y axis shows.
static void place_panel(frame *f, const svg_plot *plot, int p)
{
    const double gap = 18.0, above = 40.0, below = 48.0;
    const double height = (plot->height - above - below + gap) / plot->num_panels - gap;
    const svg_panel *const panel = &plot->panels[p];
    f->top = above + p * (height + gap);
    f->bottom = f->top + height;
    f->y_low = f->y_high = (double)NAN;
    for (int s = 0; s < panel->num_series; ++s) {
        include(panel->series[s].y, plot->num, &f->y_low, &f->y_high);
    }
    widen(&f->y_low, &f->y_high);
    f->y_tick = svg_tick_distance(f->y_low, f->y_high, (int)fmax(2.0, height / 50.0));
    // the axis of y begins and ends at ticks
    f->y_low = f->y_tick * floor(f->y_low / f->y_tick + 1e-9);
    f->y_high = f->y_tick * ceil(f->y_high / f->y_tick - 1e-9);
}

static double x_of(const frame *f, double x)
{
    return f->left + (x - f->x_low) / (f->x_high - f->x_low) * (f->right - f->left);
}

static double y_of(const frame *f, double y)
{
    return f->bottom - (y - f->y_low) / (f->y_high - f->y_low) * (f->bottom - f->top);
}

// A number at a tick, with as many digits as all of the axis, up to `largest`, need.
static void print_tick(picture *out, double value, double tick, double largest)
{
    const int digits = (int)ceil(-log10(tick) - 1e-9);
    if (value == 0.0) {
        print(out, "0");
    } else if (largest >= 1e6 || digits > 4) {
        const int more = (int)ceil(log10(largest / tick) - 1e-9);
        print(out, "%.*e", more < 0 ? 0 : more > 12 ? 12 : more, value);
    } else {
        print(out, "%.*f", digits > 0 ? digits : 0, value);
    }
}

// Ticks of x: lines of the grid, or numbers.
static void draw_x_ticks(picture *out, const frame *f, bool as_numbers)
{
    const long first = lround(ceil(f->x_low / f->x_tick - 1e-9));
    const long last = lround(floor(f->x_high / f->x_tick + 1e-9));
    for (long k = first; k <= last; ++k) {
        const double value = (double)k * f->x_tick, x = x_of(f, value);
        if (!as_numbers) {
            print(out, "<path d=\"M%.2f %.2fV%.2f\"/>\n", x, f->top, f->bottom);
            continue;
        }
        print(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">", x, f->bottom + 18.0);
        print_tick(out, value, f->x_tick, fmax(fabs(f->x_low), fabs(f->x_high)));
        print(out, "</text>\n");
    }
}

static void draw_y_ticks(picture *out, const frame *f, bool as_numbers)
{
    const long first = lround(f->y_low / f->y_tick), last = lround(f->y_high / f->y_tick);
    for (long k = first; k <= last; ++k) {
        const double value = (double)k * f->y_tick, y = y_of(f, value);
        if (!as_numbers) {
            print(out, "<path d=\"M%.2f %.2fH%.2f\"/>\n", f->left, y, f->right);
            continue;
        }
        print(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">", f->left - 8.0, y + 4.0);
        print_tick(out, value, f->y_tick, fmax(fabs(f->y_low), fabs(f->y_high)));
        print(out, "</text>\n");
    }
}

// Only the lowest panel has numbers below it.
static void draw_axes(picture *out, const frame *f, const char *label, bool is_lowest)
{
    print(out, "<g stroke=\"#dddddd\" stroke-width=\"1\">\n");
    draw_x_ticks(out, f, false);
    draw_y_ticks(out, f, false);
    print(out, "</g>\n<g fill=\"#333333\">\n");
    if (is_lowest) draw_x_ticks(out, f, true);
    draw_y_ticks(out, f, true);
    if (label[0] != 0) {
        print(out, "<text transform=\"translate(16 %.2f) rotate(-90)\" text-anchor=\"middle\">",
              0.5 * (f->top + f->bottom));
        escape(out, label);
        print(out, "</text>\n");
    }
    print(out, "</g>\n");
    print(out, "<path d=\"M%.2f %.2fV%.2fH%.2f\" fill=\"none\" stroke=\"#333333\"/>\n", f->left,
          f->top, f->bottom, f->right);
}

static void draw_line(picture *out, const frame *f, const svg_plot *plot, const svg_panel *panel,
                      int s)
{
    print(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s d=\"",
          colors[s % NUM_COLORS], dashes[s / NUM_COLORS % NUM_DASHES]);
    bool is_down = false;
    for (int i = 0; i < plot->num; ++i) {
        const double x = plot->x[i], y = panel->series[s].y[i];
        if (!can_be_drawn(x) || !can_be_drawn(y)) {
            is_down = false;
            continue;
        }
        print(out, "%c%.2f %.2f", is_down ? 'L' : 'M', x_of(f, x), y_of(f, y));
        is_down = true;
    }
    print(out, "\" stroke-linejoin=\"round\"/>\n");
}

// A name, cut where it would leave the picture, but never inside a character: the file must stay
// UTF-8.
static void print_name(picture *out, const char *name, int most)
{
    char cut[64];
    if ((int)strlen(name) <= most) {
        escape(out, name);
        return;
    }
    int kept = most > 60 ? 60 : most < 4 ? 1 : most - 3;
    while (kept > 0 && ((unsigned char)name[kept] & 0xC0u) == 0x80u) {
        --kept;
    }
    snprintf(cut, sizeof cut, "%.*s...", kept, name);
    escape(out, cut);
}

static void draw_legend(picture *out, const frame *f, const svg_plot *plot, const svg_panel *panel)
{
    const double step = 18.0;
    const int room = (int)((f->bottom - f->top) / step);
    const int n = panel->num_series;
    const int shown = n <= room ? n : room - 1 > 0 ? room - 1 : 1;
    const int most = (int)((plot->width - f->right - 44.0) / LETTER);
    for (int s = 0; s < shown; ++s) {
        const double y = f->top + 8.0 + step * s;
        print(out, "<path d=\"M%.2f %.2fh24\" stroke=\"%s\" stroke-width=\"2.5\"%s/>\n",
              f->right + 14.0, y, colors[s % NUM_COLORS], dashes[s / NUM_COLORS % NUM_DASHES]);
        print(out, "<text x=\"%.2f\" y=\"%.2f\" fill=\"#333333\">", f->right + 44.0, y + 4.0);
        print_name(out, panel->series[s].name, most);
        print(out, "</text>\n");
    }
    if (shown < n) {
        print(out, "<text x=\"%.2f\" y=\"%.2f\" fill=\"#777777\">and %d more</text>\n",
              f->right + 44.0, f->top + 12.0 + step * shown, n - shown);
    }
}

// Names take two fifths of the picture at most.
static double legend_width(const svg_plot *plot)
{
    size_t longest = 0;
    for (int p = 0; p < plot->num_panels; ++p) {
        // room for "and 99 more", which may be needed then
        if (plot->panels[p].num_series > NUM_COLORS && longest < 11) longest = 11;
        for (int s = 0; s < plot->panels[p].num_series; ++s) {
            const size_t length = strlen(plot->panels[p].series[s].name);
            if (length > longest) longest = length;
        }
    }
    return fmin(48.0 + LETTER * (double)longest, 0.4 * plot->width);
}

char *svg_draw(const svg_plot *plot, size_t *size)
{
    picture it = {NULL, 0, 0};
    picture *const out = &it;
    frame f = make_frame(plot, legend_width(plot));
    print(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
          plot->width, plot->height, plot->width, plot->height);
    print(out, "<text x=\"%.2f\" y=\"24\" font-size=\"15\" font-weight=\"bold\">", f.left);
    escape(out, plot->title);
    print(out, "</text>\n");
    for (int p = 0; p < plot->num_panels; ++p) {
        const svg_panel *const panel = &plot->panels[p];
        place_panel(&f, plot, p);
        draw_axes(out, &f, panel->label, p == plot->num_panels - 1);
        for (int s = 0; s < panel->num_series; ++s) {
            draw_line(out, &f, plot, panel, s);
        }
        draw_legend(out, &f, plot, panel);
    }
    print(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\" fill=\"#333333\">",
          0.5 * (f.left + f.right), plot->height - 10.0);
    escape(out, plot->x_label);
    print(out, "</text>\n</svg>\n");
    *size = it.size;
    return it.text;
}
