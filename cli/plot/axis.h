// An axis: what it shows, where its ticks are, and how they are written.
#ifndef TALUS_CLI_PLOT_AXIS_H
#define TALUS_CLI_PLOT_AXIS_H

#include "cli.h"

// A number on the axis is (value - offset) / 10^exponent, with `digits` digits behind the point.
typedef struct axis {
    double low, high; // what is shown
    double step;      // from tick to tick
    double first;     // the lowest tick
    int num;          // of ticks
    double offset;
    int exponent;
    int digits;
} axis;

// A range of values that grows; empty at first.
typedef struct axis_range {
    double low, high; // NaN: empty
} axis_range;

axis_range axis_no_range(void);
// Numbers that are not finite, or so large that differences overflow, are left out.
void axis_include(axis_range *range, const double values[], int n);
bool axis_can_show(double value);

// Give a range that is empty, or as narrow as round-off, a width. Then add `margin` of its width at
// either end, unless it was that narrow.
void axis_widen(axis_range *range, double margin);

// An axis with about `wanted` ticks, at round numbers; of degrees at parts of a circle.
axis axis_make(axis_range range, int wanted, bool in_degrees);
// An axis along which numbers stand side by side: as many ticks as have room in `length` pixels.
axis axis_make_level(axis_range range, double length, double size, bool in_degrees);

double axis_tick(const axis *it, int i);
// The number at a tick; owned by the caller.
char *axis_tick_text(const axis *it, int i);
// What the numbers have to be multiplied with and added to, for people; NULL: nothing. Owned by the
// caller.
char *axis_rest_text(const axis *it);
// The width of the widest number.
double axis_text_width(const axis *it, double size);

// A value from 0 at the low end to 1 at the high one.
double axis_share(const axis *it, double value);

#endif // TALUS_CLI_PLOT_AXIS_H
