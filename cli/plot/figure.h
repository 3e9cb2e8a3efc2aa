// A figure of lines: panels below each other, over the same x.
#ifndef TALUS_CLI_PLOT_FIGURE_H
#define TALUS_CLI_PLOT_FIGURE_H

#include "plot/canvas.h"

// How lines are told apart: a color, and dashes. Any number is allowed.
typedef struct figure_style {
    int color, dash;
} figure_style;

// A line: [num] points; a NaN breaks it.
typedef struct figure_line {
    const char *name;
    const double *x, *y;
    int num;
    figure_style style;
} figure_line;

// A row of a legend.
typedef struct figure_key {
    const char *name;
    figure_style style;
} figure_key;

// Lines that share an axis.
typedef struct figure_panel {
    const char *label; // of the axis; "": none
    bool in_degrees;
    bool is_equal; // a unit is as long upward as to the right
    const figure_line *lines;
    int num_lines;
    const figure_key *keys;
    int num_keys;
} figure_panel;

typedef struct figure {
    const char *title; // "": none
    const char *x_label;
    bool x_in_degrees;
    const figure_panel *panels;
    int num_panels;
    int width, height; // pixels; height 0: as high as the panels like
} figure;

// The least height that has room for the panels.
int figure_least_height(const figure *it);

// A picture, owned by the caller: [size] bytes. `scale`: dots of a PNG in a pixel.
// `*height` is set to how high it is.
char *figure_draw(const figure *it, const canvas_ops *kind, double scale, int *height,
                  size_t *size);

// How many colors there are before they come again.
int figure_num_colors(void);

#endif // TALUS_CLI_PLOT_FIGURE_H
