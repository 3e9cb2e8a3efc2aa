// What was measured, as a table, CSV, JSON and a plot.
#ifndef TALUS_BENCH_REPORT_H
#define TALUS_BENCH_REPORT_H

#include "contestant.h"

#include <stdio.h>

enum {
    REPORT_MAX_FIGURES = 5
};

/// Who took a row's time when it is Talus, on the tree that the row's model has without loops and
/// springs.
#define FIGURE_TREE "(tree)"

/// One contestant's figures for one row.
typedef struct figure {
    const char *who;
    double least;             ///< ns per call: the best batch
    double low, median, high; ///< ns per call: quartiles
    double allocations;       ///< per call
} figure;

/// One quantity of one model. The first figure is Talus's, if it has one.
typedef struct row {
    char model[32];
    int nu;
    int num_loops;
    quantity what;
    bool fresh;
    int num_figures;
    figure figures[REPORT_MAX_FIGURES];
} row;

/// A short name, e.g. "M v".
const char *quantity_name(quantity what);

/// What one contestant took; NULL when it took no part.
const figure *row_figure(const row *r, const char *who);

/// The heading of the table on stdout. Ratios are those of the best batches: they hold on a machine
/// that others use.
void report_heading(void);
void report_row(const row *r);

/// @name Write all rows to a file. False, with a message, when it cannot be written.
/// @{
bool report_csv(const char *path, const row rows[], int n);
bool report_json(const char *path, const row rows[], int n);
/// Cost against nu, log-log: forward dynamics (solid) and inverse dynamics (dashed) of the chains,
/// forward dynamics of four-bars (dotted).
bool report_svg(const char *path, const row rows[], int n);
/// Open a file for writing; NULL, with a message, when that fails.
FILE *report_open(const char *path);
/// @}

#endif // TALUS_BENCH_REPORT_H
