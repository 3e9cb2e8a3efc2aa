// What was measured, as a plot of cost against size.
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LEFT = 70,
    TOP = 30,
    PLOT_WIDTH = 640,
    PLOT_HEIGHT = 420
};

// Decades shown: 1 to 1e4 mobilities, 10 ns to 0.1 s.
static double x_of(double nu)
{
    return LEFT + PLOT_WIDTH * log10(nu) / 4.0;
}

static double y_of(double ns)
{
    return TOP + PLOT_HEIGHT * (1.0 - (log10(ns) - 1.0) / 7.0);
}

static void draw_grid(FILE *file)
{
    static const char *const times[] = {"10 ns",  "0.1 us", "1 us",  "10 us",
                                        "0.1 ms", "1 ms",   "10 ms", "0.1 s"};
    for (int k = 0; k <= 4; ++k) {
        const double x = x_of(pow(10.0, k));
        (void)fprintf(file,
                      "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#ddd'/>"
                      "<text x='%.1f' y='%d' text-anchor='middle'>%.0f</text>\n",
                      x, TOP, x, TOP + PLOT_HEIGHT, x, TOP + PLOT_HEIGHT + 18, pow(10.0, k));
    }
    for (int k = 0; k <= 7; ++k) {
        const double y = y_of(pow(10.0, k + 1));
        (void)fprintf(file,
                      "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#ddd'/>"
                      "<text x='%d' y='%.1f' text-anchor='end'>%s</text>\n",
                      LEFT, y, LEFT + PLOT_WIDTH, y, LEFT - 8, y + 4.0, times[k]);
    }
    (void)fprintf(
        file,
        "<text x='%d' y='18' font-weight='bold'>time per call, from new values</text>\n"
        "<text x='%d' y='%d' text-anchor='middle'>mobilities</text>\n"
        "<text x='%d' y='%d' text-anchor='middle' fill='#555555'>chain of pins: forward dynamics "
        "(solid), inverse dynamics (dashed); four-bars: forward dynamics (dotted)</text>\n",
        LEFT, LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 36, LEFT + PLOT_WIDTH / 2,
        TOP + PLOT_HEIGHT + 56);
}

/// One kind of line.
typedef struct line {
    const char *models; ///< what their names begin with
    quantity what;
    const char *dashes;
} line;

static bool is_on(const line *l, const row *r)
{
    return r->what == l->what && r->fresh && strncmp(r->model, l->models, strlen(l->models)) == 0;
}

// The name stands at the end of the chains' forward dynamics.
static void draw_line(FILE *file, const row rows[], int n, const char *who, const char *color,
                      const line *l)
{
    double x = 0.0, y = 0.0;
    (void)fprintf(file,
                  "<polyline fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' "
                  "points='",
                  color, l->dashes);
    for (int i = 0; i < n; ++i) {
        const figure *f = is_on(l, &rows[i]) ? row_figure(&rows[i], who) : NULL;
        if (f == NULL) continue;
        x = x_of(rows[i].nu), y = y_of(f->least);
        (void)fprintf(file, "%.1f,%.1f ", x, y);
    }
    (void)fprintf(file, "'/>\n");
    if (l->what == FORWARD && strcmp(l->dashes, "none") == 0 && x > 0.0) {
        (void)fprintf(file, "<text x='%.1f' y='%.1f' fill='%s'>%s</text>\n", x + 6.0, y + 4.0,
                      color, who);
    }
}

bool report_svg(const char *path, const row rows[], int n)
{
    static const char *const who[] = {"Talus", "bare C", "Simbody", "MuJoCo"};
    static const char *const color[] = {"#c0392b", "#555555", "#2471a3", "#1e8449"};
    static const line lines[] = {
        {"chain", FORWARD, "none"}, {"chain", INVERSE, "5 4"}, {"four-bars", FORWARD, "1 4"}};
    FILE *file = report_open(path);
    if (file == NULL) return false;
    (void)fprintf(file,
                  "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
                  "font-family='sans-serif' font-size='12'>\n<rect width='100%%' height='100%%' "
                  "fill='white'/>\n",
                  LEFT + PLOT_WIDTH + 90, TOP + PLOT_HEIGHT + 72);
    draw_grid(file);
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < 3; ++i) {
            draw_line(file, rows, n, who[k], color[k], &lines[i]);
        }
    }
    (void)fprintf(file, "</svg>\n");
    return fclose(file) == 0;
}
