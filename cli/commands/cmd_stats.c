// talus stats: what columns of a table are like on average.
#include "commands/commands.h"
#include "table/result.h"
#include "text/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A column, from the first row that counts.
typedef struct sample {
    const char *name;
    double *y; // [num] owned
    int num;
} sample;

static sample take_sample(const tal_table *table, int column, int first)
{
    const int rows = tal_table_num_rows(table) - first;
    sample it = {tal_table_column_name(table, column), cli_alloc((size_t)rows, sizeof *it.y), 0};
    for (int r = 0; r < rows; ++r) {
        const double value = tal_table_value(table, first + r, column);
        if (isfinite(value)) it.y[it.num++] = value;
    }
    return it;
}

static double mean_of(const double y[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += y[i];
    }
    return sum / n;
}

// Of values that are independent: divided by n - 1.
static double variance_of(const double y[], int n)
{
    const double mean = mean_of(y, n);
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += (y[i] - mean) * (y[i] - mean);
    }
    return n > 1 ? sum / (n - 1) : (double)NAN;
}

// The standard error of the mean of values that depend on those before them: pairs are averaged
// again and again, until what is left is independent; the largest of the errors that this gives,
// down to 8 blocks (H. Flyvbjerg and H. G. Petersen, J. Chem. Phys. 91 (1989), pp. 461-466).
static double block_error(const sample *it)
{
    double *const y = cli_alloc((size_t)it->num, sizeof *y);
    memcpy(y, it->y, (size_t)it->num * sizeof *y);
    double error = 0.0;
    for (int n = it->num; n >= 8; n /= 2) {
        error = fmax(error, sqrt(variance_of(y, n) / n));
        for (int i = 0; i < n / 2; ++i) {
            y[i] = 0.5 * (y[2 * i] + y[2 * i + 1]);
        }
    }
    free(y);
    return it->num >= 8 ? error : (double)NAN;
}

// Correlation of values that are `lag` rows apart; 1 at lag 0.
static double correlation(const sample *it, int lag)
{
    const double mean = mean_of(it->y, it->num);
    double with = 0.0, alone = 0.0;
    for (int i = 0; i < it->num; ++i) {
        const double d = it->y[i] - mean;
        alone += d * d;
        if (i + lag < it->num) with += d * (it->y[i + lag] - mean);
    }
    return alone > 0.0 ? with / alone : (double)NAN;
}

// Rows for which a value is remembered: one half and the correlations up to the first that is not
// positive.
static double correlation_rows(const sample *it)
{
    double sum = 0.5;
    for (int lag = 1; lag < it->num / 2; ++lag) {
        const double c = correlation(it, lag);
        if (!(c > 0.0)) break;
        sum += c;
    }
    return sum;
}

// One line for each column.
static void report_means(report *r, const sample samples[], int n)
{
    static const char *const columns[] = {"column",    "rows",  "mean", "block error",
                                          "deviation", "least", "most", "correlation rows"};
    report_table(r, "statistics", columns, 8);
    for (int k = 0; k < n; ++k) {
        const sample *const it = &samples[k];
        double least = (double)NAN, most = (double)NAN;
        for (int i = 0; i < it->num; ++i) {
            least = fmin(least, it->y[i]);
            most = fmax(most, it->y[i]);
        }
        report_cell_text(r, it->name);
        report_cell_count(r, it->num);
        report_cell_number(r, it->num > 0 ? mean_of(it->y, it->num) : (double)NAN);
        report_cell_number(r, block_error(it));
        report_cell_number(r, sqrt(variance_of(it->y, it->num)));
        report_cell_number(r, least);
        report_cell_number(r, most);
        report_cell_number(r, correlation_rows(it));
    }
    report_end_table(r);
}

// How many values are in each of `bins` intervals between the least and the largest.
static void report_histogram(report *r, const sample samples[], int n, int bins)
{
    static const char *const columns[] = {"column", "from", "to", "count", "share"};
    int *const counts = cli_alloc((size_t)bins, sizeof *counts);
    report_table(r, "histogram", columns, 5);
    for (int k = 0; k < n; ++k) {
        const sample *const it = &samples[k];
        double least = (double)INFINITY, most = -(double)INFINITY;
        memset(counts, 0, (size_t)bins * sizeof *counts);
        for (int i = 0; i < it->num; ++i) {
            least = fmin(least, it->y[i]);
            most = fmax(most, it->y[i]);
        }
        const double width = (most - least) / bins;
        for (int i = 0; i < it->num; ++i) {
            const int bin = width > 0.0 ? (int)((it->y[i] - least) / width) : 0;
            ++counts[bin < bins ? bin : bins - 1];
        }
        for (int b = 0; b < bins && it->num > 0; ++b) {
            report_cell_text(r, it->name);
            report_cell_number(r, least + b * width);
            report_cell_number(r, b == bins - 1 ? most : least + (b + 1) * width);
            report_cell_count(r, counts[b]);
            report_cell_number(r, (double)counts[b] / it->num);
        }
    }
    report_end_table(r);
    free(counts);
}

// `lags` correlations of each column, from 0 on.
static void report_correlations(report *r, const sample samples[], int n, int lags, double step)
{
    static const char *const columns[] = {"column", "rows apart", "apart", "correlation"};
    report_table(r, "autocorrelation", columns, 4);
    for (int k = 0; k < n; ++k) {
        for (int lag = 0; lag <= lags && lag < samples[k].num; ++lag) {
            report_cell_text(r, samples[k].name);
            report_cell_count(r, lag);
            report_cell_number(r, lag * step);
            report_cell_number(r, correlation(&samples[k], lag));
        }
    }
    report_end_table(r);
}

// The first row whose first column is not below --from.
static int first_row(const cli_args *args, const tal_table *table)
{
    int first = 0;
    while (cli_is_given(args, "from") && first < tal_table_num_rows(table) &&
           tal_table_value(table, first, 0) < cli_number(args, "from")) {
        ++first;
    }
    return first;
}

// All that was asked for, of the columns chosen.
static int report_all(const cli_args *args, const tal_table *table, const int columns[], int n)
{
    const int first = first_row(args, table), rows = tal_table_num_rows(table) - first;
    if (rows < 2) {
        return cli_fail(args, CLI_BAD_FILE, "%s has %d rows to average; two are needed.",
                        args->files[0], rows);
    }
    sample *const samples = cli_alloc((size_t)n, sizeof *samples);
    for (int k = 0; k < n; ++k) {
        samples[k] = take_sample(table, columns[k], first);
    }
    const int bins = cli_count(args, "histogram"), lags = cli_count(args, "autocorrelation");
    const double span =
        tal_table_value(table, first + rows - 1, 0) - tal_table_value(table, first, 0);
    report r;
    report_begin(&r, args);
    report_means(&r, samples, n);
    if (bins > 0) report_histogram(&r, samples, n, bins);
    if (lags > 0) report_correlations(&r, samples, n, lags, span / (rows - 1));
    report_end(&r);
    for (int k = 0; k < n; ++k) {
        free(samples[k].y);
    }
    free(samples);
    return CLI_OK;
}

static int run(const cli_args *args)
{
    tal_table *table = NULL;
    int code = result_read(args, args->files[0], &table);
    if (code != CLI_OK) return code;
    int *const columns = cli_alloc((size_t)tal_table_num_columns(table), sizeof *columns);
    const int n = result_choose_columns(args, table, 0, columns);
    code = n >= 0 ? report_all(args, table, columns, n) : CLI_USAGE;
    free(columns);
    tal_table_destroy(table);
    return code;
}

static const cli_option options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns to average, separated by commas; default: all but the first"},
    {.name = "from",
     .kind = CLI_NUMBER,
     .value = "TIME",
     .help = "leave out rows whose first column is below this"},
    {.name = "histogram",
     .kind = CLI_COUNT,
     .value = "BINS",
     .initial = "0",
     .help = "also count values in this many intervals; 0: off"},
    {.name = "autocorrelation",
     .kind = CLI_COUNT,
     .value = "ROWS",
     .initial = "0",
     .help = "also correlate values up to this many rows apart; 0: off"},
    {0}};

const cli_command cmd_stats = {
    .name = "stats",
    .group = CLI_RESULTS,
    .files = "TABLE",
    .min_files = 1,
    .max_files = 1,
    .summary = "average columns of a table",
    .about =
        "Prints mean, standard deviation and range of each column, for how many rows its values are "
        "correlated, and the error of the mean: the block error, which takes account of correlations. "
        "Rows must be evenly spaced in time (talus simulate --every).",
    .common = CLI_JSON | CLI_QUIET,
    .options = options,
    .example = "talus stats bath.sto -c temperature --from 10",
    .example_help = "the temperature after 10 s, and its error",
    .run = run};
