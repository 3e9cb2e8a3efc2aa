// Line plots as SVG: axes with ticks at round numbers, a light grid, lines in colors that most people
// can tell apart, and a legend beside them.
#include "svg.h"

#include <math.h>
#include <string.h>

// Where things are.
typedef struct frame {
    double left, right, top, bottom;     // of the drawing area [pixels]
    double x_low, x_high, y_low, y_high; // what it shows
    double x_tick, y_tick;               // distances of ticks
} frame;

// After Okabe and Ito: distinct also for the color-blind, and in gray.
static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#222222", "#999933"};
// A second round of the same colors is dashed, a third one dotted.
static const char *const dashes[] = {"", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 3\""};

enum {
    NUM_COLORS = sizeof colors / sizeof colors[0],
    NUM_DASHES = sizeof dashes / sizeof dashes[0]
};

double svg_tick_distance(double low, double high, int wanted)
{
    const double rough = (high - low) / wanted;
    const double power = pow(10.0, floor(log10(rough)));
    const double share = rough / power;
    return power * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

static void escape(FILE *out, const char *text)
{
    for (; *text != 0; ++text) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

// Make a range a little wider when it has no width, and unequal to nothing at all.
static void widen(double *low, double *high)
{
    if (!(*low <= *high)) {
        *low = 0.0;
        *high = 1.0;
    }
    const double size = fmax(fabs(*low), fabs(*high));
    if (*high - *low > 1e-12 * size) return;
    const double half = size > 0.0 ? 0.1 * size : 1.0;
    *low -= half;
    *high += half;
}

static void include(const double values[], int n, double *low, double *high)
{
    for (int i = 0; i < n; ++i) {
        if (!isfinite(values[i])) continue;
        if (!(values[i] >= *low)) *low = values[i];
        if (!(values[i] <= *high)) *high = values[i];
    }
}

static frame make_frame(const svg_plot *plot, double legend)
{
    frame f = {.left = 72.0,
               .top = 40.0,
               .x_low = (double)NAN,
               .x_high = (double)NAN,
               .y_low = (double)NAN,
               .y_high = (double)NAN};
    f.right = plot->width - legend - 16.0;
    f.bottom = plot->height - 48.0;
    include(plot->x, plot->num, &f.x_low, &f.x_high);
    for (int s = 0; s < plot->num_series; ++s) {
        include(plot->series[s].y, plot->num, &f.y_low, &f.y_high);
    }
    widen(&f.x_low, &f.x_high);
    widen(&f.y_low, &f.y_high);
    f.x_tick = svg_tick_distance(f.x_low, f.x_high, (int)fmax(2.0, (f.right - f.left) / 90.0));
    f.y_tick = svg_tick_distance(f.y_low, f.y_high, (int)fmax(2.0, (f.bottom - f.top) / 50.0));
    // the axis of y begins and ends at ticks
    f.y_low = f.y_tick * floor(f.y_low / f.y_tick + 1e-9);
    f.y_high = f.y_tick * ceil(f.y_high / f.y_tick - 1e-9);
    return f;
}

static double x_of(const frame *f, double x)
{
    return f->left + (x - f->x_low) / (f->x_high - f->x_low) * (f->right - f->left);
}

static double y_of(const frame *f, double y)
{
    return f->bottom - (y - f->y_low) / (f->y_high - f->y_low) * (f->bottom - f->top);
}

// Ticks of x: lines of the grid, or numbers.
static void draw_x_ticks(FILE *out, const frame *f, bool as_numbers)
{
    const long first = lround(ceil(f->x_low / f->x_tick - 1e-9));
    const long last = lround(floor(f->x_high / f->x_tick + 1e-9));
    for (long k = first; k <= last; ++k) {
        const double value = (double)k * f->x_tick, x = x_of(f, value);
        if (as_numbers) {
            fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%.6g</text>\n", x,
                    f->bottom + 18.0, value);
        } else {
            fprintf(out, "<path d=\"M%.2f %.2fV%.2f\"/>\n", x, f->top, f->bottom);
        }
    }
}

static void draw_y_ticks(FILE *out, const frame *f, bool as_numbers)
{
    const long first = lround(f->y_low / f->y_tick), last = lround(f->y_high / f->y_tick);
    for (long k = first; k <= last; ++k) {
        const double value = (double)k * f->y_tick, y = y_of(f, value);
        if (as_numbers) {
            fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">%.6g</text>\n",
                    f->left - 8.0, y + 4.0, value);
        } else {
            fprintf(out, "<path d=\"M%.2f %.2fH%.2f\"/>\n", f->left, y, f->right);
        }
    }
}

static void draw_axes(FILE *out, const frame *f)
{
    fputs("<g stroke=\"#dddddd\" stroke-width=\"1\">\n", out);
    draw_x_ticks(out, f, false);
    draw_y_ticks(out, f, false);
    fputs("</g>\n<g fill=\"#333333\">\n", out);
    draw_x_ticks(out, f, true);
    draw_y_ticks(out, f, true);
    fputs("</g>\n", out);
    fprintf(out, "<path d=\"M%.2f %.2fV%.2fH%.2f\" fill=\"none\" stroke=\"#333333\"/>\n", f->left,
            f->top, f->bottom, f->right);
}

static void draw_line(FILE *out, const frame *f, const svg_plot *plot, int s)
{
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s d=\"",
            colors[s % NUM_COLORS], dashes[s / NUM_COLORS % NUM_DASHES]);
    bool is_down = false;
    for (int i = 0; i < plot->num; ++i) {
        const double x = plot->x[i], y = plot->series[s].y[i];
        if (!isfinite(x) || !isfinite(y)) {
            is_down = false;
            continue;
        }
        fprintf(out, "%c%.2f %.2f", is_down ? 'L' : 'M', x_of(f, x), y_of(f, y));
        is_down = true;
    }
    fputs("\" stroke-linejoin=\"round\"/>\n", out);
}

static void draw_legend(FILE *out, const frame *f, const svg_plot *plot)
{
    for (int s = 0; s < plot->num_series; ++s) {
        const double y = f->top + 10.0 + 20.0 * s;
        if (y > f->bottom) break;
        fprintf(out, "<path d=\"M%.2f %.2fh24\" stroke=\"%s\" stroke-width=\"2.5\"%s/>\n",
                f->right + 14.0, y, colors[s % NUM_COLORS], dashes[s / NUM_COLORS % NUM_DASHES]);
        fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" fill=\"#333333\">", f->right + 44.0, y + 4.0);
        escape(out, plot->series[s].name);
        fputs("</text>\n", out);
    }
}

void svg_write(FILE *out, const svg_plot *plot)
{
    size_t longest = 0;
    for (int s = 0; s < plot->num_series; ++s) {
        const size_t length = strlen(plot->series[s].name);
        if (length > longest) longest = length;
    }
    // letters of 13 pixels are about 7 wide; names take two fifths of the picture at most
    const double legend = fmin(52.0 + 7.0 * (double)longest, 0.4 * plot->width);
    const frame f = make_frame(plot, legend);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            plot->width, plot->height, plot->width, plot->height);
    fprintf(out, "<text x=\"%.2f\" y=\"24\" font-size=\"15\" font-weight=\"bold\">", f.left);
    escape(out, plot->title);
    fputs("</text>\n", out);
    draw_axes(out, &f);
    for (int s = 0; s < plot->num_series; ++s) {
        draw_line(out, &f, plot, s);
    }
    draw_legend(out, &f, plot);
    fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\" fill=\"#333333\">",
            0.5 * (f.left + f.right), plot->height - 10.0);
    escape(out, plot->x_label);
    fputs("</text>\n</svg>\n", out);
}
