// Line plots as SVG.
#ifndef TALUS_CLI_SVG_H
#define TALUS_CLI_SVG_H

#include "cli.h"

// A line: [num] points; a NaN breaks it.
typedef struct svg_series {
    const char *name;
    const double *y;
} svg_series;

// What to draw.
typedef struct svg_plot {
    const char *title;
    const char *x_label;
    const double *x; // [num]
    int num;
    const svg_series *series;
    int num_series;
    int width, height; // pixels
} svg_plot;

void svg_write(FILE *out, const svg_plot *plot);

// Ticks at 1, 2 or 5 times a power of ten: the distance that gives about `wanted` of them.
double svg_tick_distance(double low, double high, int wanted);

#endif // TALUS_CLI_SVG_H
