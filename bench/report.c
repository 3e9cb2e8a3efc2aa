// What was measured, as a table, CSV, JSON and a plot.
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *quantity_name(quantity what)
{
    static const char *const names[NUM_QUANTITIES] = {
        "kinematics", "inverse dynamics", "forward dynamics", "M v", "M^-1 v",
        "M",          "Jacobian",         "copy of a State"};
    return names[what];
}

// --- the table ---

void report_heading(void)
{
    (void)printf("\n%-16s %-17s %-7s %-8s %11s   %-23s %8s %6s\n", "model", "quantity", "from",
                 "who", "ns", "quartiles", "ratio", "allocs");
}

void report_row(const row *r)
{
    for (int i = 0; i < r->num_figures; ++i) {
        const figure *f = &r->figures[i];
        const char *from = r->fresh ? "q,u" : "cache";
        (void)printf("%-16s %-17s %-7s %-8s %11.1f   %9.1f ... %9.1f %8.2f %6.2f\n",
                     i == 0 ? r->model : "", i == 0 ? quantity_name(r->what) : "",
                     i == 0 ? from : "", f->who, f->median, f->low, f->high,
                     f->median / r->figures[0].median, f->allocations);
    }
    (void)fflush(stdout);
}

// --- files ---

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) (void)fprintf(stderr, "bench: cannot write '%s'\n", path);
    return file;
}

bool report_csv(const char *path, const row rows[], int n)
{
    FILE *file = open_file(path);
    if (file == NULL) return false;
    (void)fprintf(file, "model,nu,quantity,from,who,ns_low,ns_median,ns_high,allocations\n");
    for (int i = 0; i < n; ++i) {
        const row *r = &rows[i];
        for (int k = 0; k < r->num_figures; ++k) {
            const figure *f = &r->figures[k];
            (void)fprintf(file, "%s,%d,%s,%s,%s,%.2f,%.2f,%.2f,%.3f\n", r->model, r->nu,
                          quantity_name(r->what), r->fresh ? "qu" : "cache", f->who, f->low,
                          f->median, f->high, f->allocations);
        }
    }
    return fclose(file) == 0;
}

bool report_json(const char *path, const row rows[], int n)
{
    FILE *file = open_file(path);
    if (file == NULL) return false;
    (void)fprintf(file, "[");
    for (int i = 0; i < n; ++i) {
        const row *r = &rows[i];
        (void)fprintf(file,
                      "%s\n  {\"model\": \"%s\", \"nu\": %d, \"quantity\": \"%s\", \"from\": "
                      "\"%s\", \"figures\": [",
                      i > 0 ? "," : "", r->model, r->nu, quantity_name(r->what),
                      r->fresh ? "qu" : "cache");
        for (int k = 0; k < r->num_figures; ++k) {
            const figure *f = &r->figures[k];
            (void)fprintf(file,
                          "%s\n    {\"who\": \"%s\", \"ns_low\": %.2f, \"ns_median\": %.2f, "
                          "\"ns_high\": %.2f, \"allocations\": %.3f}",
                          k > 0 ? "," : "", f->who, f->low, f->median, f->high, f->allocations);
        }
        (void)fprintf(file, "]}");
    }
    (void)fprintf(file, "\n]\n");
    return fclose(file) == 0;
}

// --- the plot ---

enum {
    LEFT = 70,
    TOP = 30,
    PLOT_WIDTH = 640,
    PLOT_HEIGHT = 420
};

// Decades shown: 1 to 1e4 mobilities, 0.1 us to 0.1 s.
static double x_of(double nu)
{
    return LEFT + PLOT_WIDTH * log10(nu) / 4.0;
}

static double y_of(double ns)
{
    return TOP + PLOT_HEIGHT * (1.0 - (log10(ns) - 2.0) / 6.0);
}

static void draw_grid(FILE *file)
{
    static const char *const times[] = {"0.1 us", "1 us",  "10 us", "0.1 ms",
                                        "1 ms",   "10 ms", "0.1 s"};
    for (int k = 0; k <= 4; ++k) {
        const double x = x_of(pow(10.0, k));
        (void)fprintf(file,
                      "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#ddd'/>"
                      "<text x='%.1f' y='%d' text-anchor='middle'>%.0f</text>\n",
                      x, TOP, x, TOP + PLOT_HEIGHT, x, TOP + PLOT_HEIGHT + 18, pow(10.0, k));
    }
    for (int k = 0; k <= 6; ++k) {
        const double y = y_of(pow(10.0, k + 2));
        (void)fprintf(file,
                      "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#ddd'/>"
                      "<text x='%d' y='%.1f' text-anchor='end'>%s</text>\n",
                      LEFT, y, LEFT + PLOT_WIDTH, y, LEFT - 8, y + 4.0, times[k]);
    }
    (void)fprintf(file,
                  "<text x='%d' y='%d' text-anchor='middle'>mobilities of a chain of pins; solid: "
                  "forward dynamics, dashed: inverse dynamics</text>\n",
                  LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 40);
}

static const figure *figure_of(const row *r, const char *who)
{
    for (int i = 0; i < r->num_figures; ++i) {
        if (strcmp(r->figures[i].who, who) == 0) return &r->figures[i];
    }
    return NULL;
}

static void draw_line(FILE *file, const row rows[], int n, const char *who, quantity what,
                      const char *color)
{
    double x = 0.0, y = 0.0;
    (void)fprintf(file, "<polyline fill='none' stroke='%s' stroke-width='2'%s points='", color,
                  what == INVERSE ? " stroke-dasharray='5 4'" : "");
    for (int i = 0; i < n; ++i) {
        const row *r = &rows[i];
        if (r->what != what || !r->fresh || strncmp(r->model, "chain", 5) != 0) continue;
        const figure *f = figure_of(r, who);
        if (f == NULL) continue;
        x = x_of(r->nu), y = y_of(f->median);
        (void)fprintf(file, "%.1f,%.1f ", x, y);
    }
    (void)fprintf(file, "'/>\n");
    if (what == FORWARD && x > 0.0) {
        (void)fprintf(file, "<text x='%.1f' y='%.1f' fill='%s'>%s</text>\n", x + 6.0, y + 4.0,
                      color, who);
    }
}

bool report_svg(const char *path, const row rows[], int n)
{
    static const char *const who[] = {"Talus", "bare C", "Simbody", "MuJoCo"};
    static const char *const color[] = {"#c0392b", "#555555", "#2471a3", "#1e8449"};
    FILE *file = open_file(path);
    if (file == NULL) return false;
    (void)fprintf(file,
                  "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
                  "font-family='sans-serif' font-size='12'>\n<rect width='100%%' height='100%%' "
                  "fill='white'/>\n",
                  LEFT + PLOT_WIDTH + 90, TOP + PLOT_HEIGHT + 60);
    draw_grid(file);
    for (int k = 0; k < 4; ++k) {
        draw_line(file, rows, n, who[k], FORWARD, color[k]);
        draw_line(file, rows, n, who[k], INVERSE, color[k]);
    }
    (void)fprintf(file, "</svg>\n");
    return fclose(file) == 0;
}
