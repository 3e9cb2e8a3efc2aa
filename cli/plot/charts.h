// From tables to figures: which columns are drawn, in which panels.
#ifndef TALUS_CLI_PLOT_CHARTS_H
#define TALUS_CLI_PLOT_CHARTS_H

#include "plot/figure.h"

enum {
    CHARTS_DOZEN = 12 // columns, if none are asked for
};

// A table to draw.
typedef struct charts_source {
    const char *path; // borrowed
    char *name;       // in legends; owned
    tal_table *table; // owned
    double *x;        // [rows] owned
} charts_source;

// A column, which one or more of the tables have.
typedef struct charts_column {
    char *name;       // owned
    char *unit;       // owned; "": unknown
    double factor;    // from what the tables have to what is drawn
    int *at;          // [num_sources] in each table; -1: it has none. Owned
    double low, high; // of all tables, as drawn; NaN: no values
    bool is_drawn;
} charts_column;

typedef struct charts {
    charts_source *sources; // [num_sources] owned
    int num_sources;
    charts_column *columns; // [num_columns] owned: all that there are, in the order of the tables
    int num_columns;
    int x;            // which of them is the horizontal one
    int num_left_out; // of those that could be drawn
    figure figure;
    figure_panel *panels; // owned, as all of these
    figure_line *lines;
    figure_key *keys;
    char **labels;   // [num_panels + 1] of the panels, and of x
    double **values; // [num_lines]
    int num_lines;
} charts;

// Read the tables of a command line, and choose what to draw by its options. An exit code.
int charts_make(const cli_args *args, charts *out);
void charts_destroy(charts *it);

#endif // TALUS_CLI_PLOT_CHARTS_H
