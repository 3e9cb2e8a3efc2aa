// Something to draw on: lines and letters, which become an SVG, PNG or PDF file.
//
// Lengths are in pixels of 1/96 inch, from the upper left corner, y downward.
#ifndef TALUS_CLI_PLOT_CANVAS_H
#define TALUS_CLI_PLOT_CANVAS_H

#include "cli.h"

typedef struct canvas canvas;

typedef struct canvas_point {
    double x, y;
} canvas_point;

// How a line looks. Its ends and corners are round.
typedef struct canvas_pen {
    unsigned color; // 0xRRGGBB
    double width;
    int dash;         // 0: none, else canvas_dash()
    const char *name; // of what is drawn, for files that can tell; NULL: none
} canvas_pen;

// Lengths of a dash and of the gap behind it, both 0 for none.
enum {
    CANVAS_NUM_DASHES = 4
};

void canvas_dash(int dash, double *on, double *off);

// Which point of a text is at its place?
typedef enum canvas_anchor {
    CANVAS_START,
    CANVAS_MIDDLE,
    CANVAS_END
} canvas_anchor;

// How letters look.
typedef struct canvas_letters {
    double size; // of an em
    unsigned color;
    canvas_anchor anchor;
    bool is_bold;
    bool goes_up; // from below to above
} canvas_letters;

// What a kind of file does with what is drawn.
typedef struct canvas_ops {
    const char *format; // as names of files end, without the dot
    canvas *(*create)(double width, double height, double scale);
    void (*line)(canvas *it, const canvas_pen *pen, const canvas_point points[], int n);
    void (*text)(canvas *it, const canvas_letters *letters, canvas_point at, const char *text);
    char *(*finish)(canvas *it, const char *title, size_t *size);
} canvas_ops;

extern const canvas_ops canvas_svg, canvas_png, canvas_pdf;

// The kind of file of a format, "svg" for example; NULL: none.
const canvas_ops *canvas_find(const char *format);

#endif // TALUS_CLI_PLOT_CANVAS_H
