// A figure of lines: axes as tight as the data, a light grid, colors that most people can tell
// apart, and a legend beside each panel.
#include "plot/figure.h"

#include "plot/axis.h"
#include "plot/font.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// After Okabe and Ito: distinct also for the color-blind, and in gray.
static const unsigned colors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                  0xe69f00, 0x56b4e9, 0x222222, 0x999933};

enum {
    NUM_COLORS = sizeof colors / sizeof colors[0]
};

// Sizes [pixels].
#define TEXT       12.5
#define TITLE_TEXT 15.0
#define KEY_HEIGHT 18.0
#define KEY_LINE   26.0 // the sample of a line in a legend, with the gap behind it
#define EDGE       14.0 // around everything
#define LINE_WIDTH 1.6

// A browser may have no font like Helvetica; those that it takes then are up to this much wider.
#define WIDER 1.15

enum {
    INK = 0x333333,
    PALE_INK = 0x777777,
    GRID = 0xe4e4e4
};

// A figure being drawn.
typedef struct drawing {
    const figure *it;
    const canvas_ops *kind;
    canvas *on;
    double width, height;
    double left, right;   // of all panels
    axis x;               // of all panels
    axis *y;              // [num_panels] owned
    double *top, *bottom; // [num_panels] owned
} drawing;

int figure_num_colors(void)
{
    return NUM_COLORS;
}

static void write_at(const drawing *d, double x, double y, const char *text, canvas_anchor anchor)
{
    const canvas_letters letters = {.size = TEXT, .color = INK, .anchor = anchor};
    d->kind->text(d->on, &letters, (canvas_point){x, y}, text);
}

static void draw_straight(const drawing *d, unsigned color, double x0, double y0, double x1,
                          double y1)
{
    const canvas_pen pen = {.color = color, .width = 1.0};
    const canvas_point points[] = {{x0, y0}, {x1, y1}};
    d->kind->line(d->on, &pen, points, 2);
}

// --- where things are ---

static axis_range x_range_of(const figure *it)
{
    axis_range range = axis_no_range();
    for (int p = 0; p < it->num_panels; ++p) {
        for (int s = 0; s < it->panels[p].num_lines; ++s) {
            axis_include(&range, it->panels[p].lines[s].x, it->panels[p].lines[s].num);
        }
    }
    axis_widen(&range, 0.0);
    return range;
}

static axis_range y_range_of(const figure_panel *panel)
{
    axis_range range = axis_no_range();
    for (int s = 0; s < panel->num_lines; ++s) {
        axis_include(&range, panel->lines[s].y, panel->lines[s].num);
    }
    axis_widen(&range, 0.04);
    return range;
}

// Names take two fifths of the picture at most.
static double legend_width(const figure *it)
{
    double widest = 0.0;
    for (int p = 0; p < it->num_panels; ++p) {
        // room for "and 99 more", which may be needed then
        if (it->panels[p].num_keys > NUM_COLORS) {
            widest = fmax(widest, font_width("and 99 more", TEXT));
        }
        for (int k = 0; k < it->panels[p].num_keys; ++k) {
            widest = fmax(widest, font_width(it->panels[p].keys[k].name, TEXT));
        }
    }
    return widest > 0.0 ? fmin(EDGE + KEY_LINE + WIDER * widest + 6.0, 0.4 * it->width) : 0.0;
}

static double height_of_title(const figure *it)
{
    return it->title[0] != 0 ? 36.0 : EDGE;
}

// How high a panel likes to be: for its legend, and for its equal scales.
static double natural_height(const figure *it, const figure_panel *panel, axis_range x,
                             double width)
{
    const double usual = it->num_panels == 1 ? 340.0 : 180.0;
    if (panel->is_equal) {
        const axis_range y = y_range_of(panel);
        const double height = width * (y.high - y.low) / (x.high - x.low);
        return fmin(fmax(height, 60.0), 1.1 * width);
    }
    return fmax(usual, KEY_HEIGHT * panel->num_keys + 8.0);
}

static bool has_rest(const axis *it)
{
    return it->exponent != 0 || it->offset != 0.0;
}

#define BELOW 46.0 // the lowest panel: numbers and a label

static double gap_above(const drawing *d, int p)
{
    const double rest = has_rest(&d->y[p]) ? 18.0 : 0.0;
    return rest + (p > 0 ? 16.0 : 0.0);
}

static double sum_of_gaps(const drawing *d)
{
    double sum = height_of_title(d->it) + BELOW;
    for (int p = 0; p < d->it->num_panels; ++p) {
        sum += gap_above(d, p);
    }
    return sum;
}

int figure_least_height(const figure *it)
{
    const double each = 38.0, gap = 16.0;
    return (int)(height_of_title(it) + BELOW + it->num_panels * (each + gap) - gap);
}

static void make_y_axes(drawing *d, double height)
{
    for (int p = 0; p < d->it->num_panels; ++p) {
        const figure_panel *const panel = &d->it->panels[p];
        d->y[p] = axis_make(y_range_of(panel), (int)fmax(2.0, height / 42.0), panel->in_degrees);
    }
}

// The left end of all panels: room for the numbers and the labels beside them.
static double left_of(const drawing *d)
{
    double widest = 0.0;
    bool has_label = false;
    for (int p = 0; p < d->it->num_panels; ++p) {
        widest = fmax(widest, axis_text_width(&d->y[p], TEXT));
        has_label = has_label || d->it->panels[p].label[0] != 0;
    }
    return EDGE + (has_label ? 20.0 : 0.0) + WIDER * widest + 8.0;
}

// Equal scales shrink what is too wide or too high for them: the width of all panels, then the
// height of those.
static double shrink(drawing *d, axis_range x, double heights[])
{
    double width = d->right - d->left;
    for (int p = 0; p < d->it->num_panels; ++p) {
        if (!d->it->panels[p].is_equal) continue;
        const axis *const y = &d->y[p];
        width = fmin(width, heights[p] * (x.high - x.low) / (y->high - y->low));
    }
    for (int p = 0; p < d->it->num_panels; ++p) {
        const axis *const y = &d->y[p];
        if (d->it->panels[p].is_equal) heights[p] = width * (y->high - y->low) / (x.high - x.low);
    }
    return width;
}

// Find out where everything is, before anything is drawn.
static void lay_out(drawing *d)
{
    const figure *const it = d->it;
    const axis_range x = x_range_of(it);
    const int n = it->num_panels;
    double *const heights = cli_alloc((size_t)n, sizeof *heights);
    make_y_axes(d, it->height > 0 ? (it->height - 100.0) / n : it->num_panels == 1 ? 340.0 : 180.0);
    d->left = left_of(d);
    d->right = it->width - fmax(legend_width(it), EDGE);
    d->x = axis_make_level(x, d->right - d->left, TEXT, it->x_in_degrees);
    // the last number is as far to the right as the axis, and half of it further
    const double half = 0.5 * WIDER * axis_text_width(&d->x, TEXT) + 4.0;
    d->right = fmin(d->right, it->width - half);
    const double each = it->height > 0 ? (it->height - sum_of_gaps(d)) / n : 0.0;
    for (int p = 0; p < n; ++p) {
        heights[p] = each > 0.0 ? each : natural_height(it, &it->panels[p], x, d->right - d->left);
    }
    d->right = d->left + shrink(d, x, heights);
    d->x = axis_make_level(x, d->right - d->left, TEXT, it->x_in_degrees);
    double y = height_of_title(it);
    for (int p = 0; p < n; ++p) {
        const figure_panel *const panel = &it->panels[p];
        const int wanted = (int)fmax(2.0, heights[p] / 42.0);
        d->y[p] = axis_make((axis_range){d->y[p].low, d->y[p].high}, wanted, panel->in_degrees);
        d->top[p] = y + gap_above(d, p);
        d->bottom[p] = d->top[p] + heights[p];
        // a legend may be higher than a panel of equal scales
        y = it->height > 0 ? d->bottom[p]
                           : fmax(d->bottom[p], d->top[p] + KEY_HEIGHT * panel->num_keys);
    }
    d->width = it->width;
    d->height = it->height > 0 ? it->height : ceil(y + BELOW);
    free(heights);
}

// --- axes ---

static double x_of(const drawing *d, double value)
{
    return d->left + axis_share(&d->x, value) * (d->right - d->left);
}

static double y_of(const drawing *d, int p, double value)
{
    return d->bottom[p] - axis_share(&d->y[p], value) * (d->bottom[p] - d->top[p]);
}

static void draw_grid(const drawing *d, int p)
{
    for (int i = 0; i < d->x.num; ++i) {
        const double x = x_of(d, axis_tick(&d->x, i));
        draw_straight(d, GRID, x, d->top[p], x, d->bottom[p]);
    }
    for (int i = 0; i < d->y[p].num; ++i) {
        const double y = y_of(d, p, axis_tick(&d->y[p], i));
        draw_straight(d, GRID, d->left, y, d->right, y);
    }
    draw_straight(d, INK, d->left, d->top[p], d->left, d->bottom[p]);
    draw_straight(d, INK, d->left, d->bottom[p], d->right, d->bottom[p]);
}

static void draw_y_numbers(const drawing *d, int p)
{
    const axis *const y = &d->y[p];
    for (int i = 0; i < y->num; ++i) {
        char *const text = axis_tick_text(y, i);
        write_at(d, d->left - 7.0, y_of(d, p, axis_tick(y, i)) + 0.36 * TEXT, text, CANVAS_END);
        free(text);
    }
    char *const rest = axis_rest_text(y);
    if (rest != NULL) write_at(d, d->left, d->top[p] - 7.0, rest, CANVAS_START);
    free(rest);
}

static void draw_label(const drawing *d, int p)
{
    const double middle = 0.5 * (d->top[p] + d->bottom[p]);
    const double room = d->bottom[p] - d->top[p] + 12.0;
    const canvas_letters letters = {
        .size = TEXT, .color = INK, .anchor = CANVAS_MIDDLE, .goes_up = true};
    char *const text = font_fit(d->it->panels[p].label, TEXT, room / WIDER);
    d->kind->text(d->on, &letters, (canvas_point){EDGE + 10.0, middle}, text);
    free(text);
}

// Below the lowest panel: numbers, what they have in common, and the name.
static void draw_x_axis(const drawing *d)
{
    const double bottom = d->bottom[d->it->num_panels - 1];
    for (int i = 0; i < d->x.num; ++i) {
        char *const text = axis_tick_text(&d->x, i);
        write_at(d, x_of(d, axis_tick(&d->x, i)), bottom + 17.0, text, CANVAS_MIDDLE);
        free(text);
    }
    char *const rest = axis_rest_text(&d->x);
    const double taken = rest != NULL ? 2.0 * (WIDER * font_width(rest, TEXT) + EDGE) : 0.0;
    const double width = d->right - d->left;
    char *const label = font_fit(d->it->x_label, TEXT, fmax(width - taken, 60.0) / WIDER);
    write_at(d, 0.5 * (d->left + d->right), bottom + 36.0, label, CANVAS_MIDDLE);
    if (rest != NULL) write_at(d, d->right, bottom + 36.0, rest, CANVAS_END);
    free(label);
    free(rest);
}

// --- lines ---

static canvas_pen pen_of(figure_style style, double width)
{
    const canvas_pen pen = {.color = colors[style.color % NUM_COLORS],
                            .width = width,
                            .dash = style.dash + style.color / NUM_COLORS};
    return pen;
}

// Of points that are above each other more densely than can be seen, the first, the last, the
// highest and the lowest: [n] in place; how many are left.
static int leave_out_points(canvas_point points[], int n)
{
    const double near = 0.25;
    int kept = 0;
    for (int i = 0; i < n;) {
        int end = i + 1, low = i, high = i;
        for (; end < n && fabs(points[end].x - points[i].x) < near; ++end) {
            if (points[end].y < points[low].y) low = end;
            if (points[end].y > points[high].y) high = end;
        }
        const int order[] = {i, low < high ? low : high, low < high ? high : low, end - 1};
        int last = -1;
        for (int k = 0; k < 4; ++k) {
            if (order[k] > last) points[kept++] = points[order[k]];
            if (order[k] > last) last = order[k];
        }
        i = end;
    }
    return kept;
}

// A part of a line without gaps.
static void draw_part(const drawing *d, const figure_line *line, canvas_point points[], int n)
{
    if (n < 1) return;
    canvas_pen pen = pen_of(line->style, n > 1 ? LINE_WIDTH : 3.0 * LINE_WIDTH);
    pen.name = line->name;
    if (n == 1) pen.dash = 0; // a dot
    d->kind->line(d->on, &pen, points, leave_out_points(points, n));
}

static void draw_line(const drawing *d, int p, const figure_line *line)
{
    canvas_point *const points = cli_alloc((size_t)line->num, sizeof *points);
    int n = 0;
    for (int i = 0; i < line->num; ++i) {
        const bool is_there = axis_can_show(line->x[i]) && axis_can_show(line->y[i]);
        if (is_there) points[n++] = (canvas_point){x_of(d, line->x[i]), y_of(d, p, line->y[i])};
        if (is_there && i + 1 < line->num) continue;
        draw_part(d, line, points, n);
        n = 0;
    }
    free(points);
}

static void draw_key(const drawing *d, const figure_key *key, double x, double y)
{
    const canvas_pen pen = pen_of(key->style, 2.0);
    const canvas_point points[] = {{x, y}, {x + KEY_LINE - 8.0, y}};
    char *const name = font_fit(key->name, TEXT, (d->width - x - KEY_LINE) / WIDER);
    d->kind->line(d->on, &pen, points, 2);
    write_at(d, x + KEY_LINE, y + 0.36 * TEXT, name, CANVAS_START);
    free(name);
}

static void draw_legend(const drawing *d, int p)
{
    const figure_panel *const panel = &d->it->panels[p];
    const double x = d->right + EDGE;
    const double below = p + 1 < d->it->num_panels ? d->top[p + 1] : d->height - BELOW;
    const int n = panel->num_keys, room = (int)((below - d->top[p]) / KEY_HEIGHT);
    const int shown = n <= room ? n : room - 1 > 0 ? room - 1 : 1;
    for (int k = 0; k < shown; ++k) {
        draw_key(d, &panel->keys[k], x, d->top[p] + 7.0 + KEY_HEIGHT * k);
    }
    if (shown >= n) return;
    const canvas_letters letters = {.size = TEXT, .color = PALE_INK};
    const canvas_point at = {x + KEY_LINE, d->top[p] + 11.5 + KEY_HEIGHT * shown};
    char *const more = cli_format("and %d more", n - shown);
    d->kind->text(d->on, &letters, at, more);
    free(more);
}

static void draw_title(const drawing *d)
{
    const canvas_letters letters = {.size = TITLE_TEXT, .color = INK, .is_bold = true};
    // bold letters are wider than others
    const double room = (d->width - d->left - EDGE) / (1.08 * WIDER);
    char *const title = font_fit(d->it->title, TITLE_TEXT, room);
    d->kind->text(d->on, &letters, (canvas_point){d->left, 23.0}, title);
    free(title);
}

char *figure_draw(const figure *it, const canvas_ops *kind, double scale, int *height, size_t *size)
{
    const size_t n = (size_t)it->num_panels;
    drawing d = {.it = it, .kind = kind};
    d.y = cli_alloc(n, sizeof *d.y);
    d.top = cli_alloc(n, sizeof *d.top);
    d.bottom = cli_alloc(n, sizeof *d.bottom);
    lay_out(&d);
    d.on = kind->create(d.width, d.height, scale);
    if (it->title[0] != 0) draw_title(&d);
    for (int p = 0; p < it->num_panels; ++p) {
        draw_grid(&d, p);
        draw_y_numbers(&d, p);
        draw_label(&d, p);
        for (int s = 0; s < it->panels[p].num_lines; ++s) {
            draw_line(&d, p, &it->panels[p].lines[s]);
        }
        draw_legend(&d, p);
    }
    draw_x_axis(&d);
    *height = (int)d.height;
    free(d.y);
    free(d.top);
    free(d.bottom);
    return kind->finish(d.on, it->title, size);
}
