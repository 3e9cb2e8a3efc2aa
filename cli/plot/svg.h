// Line plots as SVG.
#ifndef TALUS_CLI_SVG_H
#define TALUS_CLI_SVG_H

#include "cli.h"

// A line: [num] points; a NaN breaks it.
typedef struct svg_series {
    const char *name;
    const double *y;
} svg_series;

// Lines that share an axis.
typedef struct svg_panel {
    const char *label; // of the axis; "": none
    const svg_series *series;
    int num_series;
} svg_panel;

// What to draw: panels below each other, over the same x.
typedef struct svg_plot {
    const char *title;
    const char *x_label;
    const double *x; // [num]
    int num;
    const svg_panel *panels;
    int num_panels;
    int width, height; // pixels
} svg_plot;

// A picture, owned by the caller: [size] bytes, and a zero behind them.
char *svg_draw(const svg_plot *plot, size_t *size);

// Ticks at 1, 2 or 5 times a power of ten: the distance that gives about `wanted` of them.
double svg_tick_distance(double low, double high, int wanted);

#endif // TALUS_CLI_SVG_H
