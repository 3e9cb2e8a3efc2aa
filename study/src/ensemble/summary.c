// What rows of results have in common.
#include "error_internal.h"

#include <talus/study/summary.h>

#include <string.h>

// --- means and covariances ---

tal_status tal_moments_begin(tal_moments *moments)
{
    if (moments == NULL || moments->mean == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the moments or their 'mean' are NULL");
    }
    if (moments->num_columns < 1) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "there cannot be %d columns", moments->num_columns);
    }
    const int n = moments->num_columns;
    moments->num_rows = 0;
    moments->num_left_out = 0;
    for (int i = 0; i < n; ++i) {
        moments->mean[i] = 0.0;
        if (moments->least != NULL) moments->least[i] = (double)INFINITY;
        if (moments->most != NULL) moments->most[i] = -(double)INFINITY;
    }
    if (moments->scatter != NULL) {
        memset(moments->scatter, 0, (size_t)n * (size_t)n * sizeof *moments->scatter);
    }
    return TAL_OK;
}

static bool has_nan(const double row[], int n)
{
    for (int i = 0; i < n; ++i) {
        if (isnan(row[i])) return true;
    }
    return false;
}

// scatter += (k - 1) / k (x - mean) (x - mean)^T, then mean += (x - mean) / k, where this is row k:
// Welford 1962, Technometrics 4, p. 419.
static void add_row(tal_moments *it, const double x[])
{
    const int n = it->num_columns;
    const double k = ++it->num_rows;
    for (int i = 0; i < n && it->scatter != NULL; ++i) {
        double *const row = it->scatter + (size_t)i * (size_t)n;
        const double off = (k - 1.0) / k * (x[i] - it->mean[i]);
        for (int j = 0; j < n; ++j) {
            row[j] += off * (x[j] - it->mean[j]);
        }
    }
    for (int i = 0; i < n; ++i) {
        it->mean[i] += (x[i] - it->mean[i]) / k;
        if (it->least != NULL) it->least[i] = fmin(it->least[i], x[i]);
        if (it->most != NULL) it->most[i] = fmax(it->most[i], x[i]);
    }
}

tal_status tal_moments_add(tal_moments *moments, const double rows[], int n)
{
    if (moments == NULL || moments->mean == NULL || (rows == NULL && n > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    if (moments->num_columns < 1 || n < 0) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "there cannot be %d rows of %d columns", n,
                           moments->num_columns);
    }
    const size_t columns = (size_t)moments->num_columns;
    for (int k = 0; k < n; ++k) {
        const double *const row = rows + (size_t)k * columns;
        if (has_nan(row, moments->num_columns)) {
            ++moments->num_left_out;
        } else {
            add_row(moments, row);
        }
    }
    return TAL_OK;
}

double tal_moments_covariance(const tal_moments *moments, int i, int j)
{
    if (moments == NULL || moments->scatter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the moments or their 'scatter' are NULL");
        return TALI_NAN;
    }
    const int n = moments->num_columns;
    if (i < 0 || j < 0 || i >= n || j >= n) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there are no columns %d and %d among %d", i, j, n);
        return TALI_NAN;
    }
    if (moments->num_rows < 2) return TALI_NAN;
    return moments->scatter[(size_t)i * (size_t)n + (size_t)j] / (moments->num_rows - 1);
}

double tal_moments_deviation(const tal_moments *moments, int i)
{
    return sqrt(tal_moments_covariance(moments, i, i));
}

// --- quantiles ---

// Put values[at] where it belongs below itself in a heap of n, whose parents come last.
static void sift_down(double values[], int at, int n)
{
    const double value = values[at];
    while (at < n / 2) {
        int child = 2 * at + 1;
        if (child + 1 < n && values[child] < values[child + 1]) ++child;
        if (!(value < values[child])) break;
        values[at] = values[child];
        at = child;
    }
    values[at] = value;
}

// Heapsort: qsort() may allocate, and its order of equal zeros is its own.
static void sort_values(double values[], int n)
{
    for (int at = n / 2 - 1; at >= 0; --at) {
        sift_down(values, at, n);
    }
    for (int last = n - 1; last > 0; --last) {
        const double most = values[0];
        values[0] = values[last];
        values[last] = most;
        sift_down(values, 0, last);
    }
}

static double quantile_of(const double sorted[], int n, double p)
{
    const double place = p * (n - 1);
    const int below = (int)place;
    const double share = place - below;
    if (below + 1 >= n || !(share > 0.0)) return sorted[below < n ? below : n - 1];
    return (1.0 - share) * sorted[below] + share * sorted[below + 1];
}

static tal_status check_shares(const double p[], int num)
{
    for (int i = 0; i < num; ++i) {
        if (p[i] >= 0.0 && p[i] <= 1.0) continue;
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "quantile %d is of %g, which is not in 0 ... 1", i,
                           p[i]);
    }
    return TAL_OK;
}

// The values that are not NaN, one behind the other: how many.
static int gather_known(const double values[], int n, int stride, double known[])
{
    int num = 0;
    for (int k = 0; k < n; ++k) {
        const double x = values[(size_t)k * (size_t)stride];
        if (!isnan(x)) known[num++] = x;
    }
    return num;
}

tal_status tal_quantiles_calc(const double values[], int n, int stride, const double p[], int num,
                              double work[], double out[])
{
    if (((values == NULL || work == NULL) && n > 0) || ((p == NULL || out == NULL) && num > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "an array is NULL");
    }
    if (n < 0 || num < 0 || stride < 1) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE,
                           "there cannot be %d quantiles of %d values with a stride of %d", num, n,
                           stride);
    }
    const tal_status st = check_shares(p, num);
    if (st != TAL_OK) return st;
    const int known = gather_known(values, n, stride, work);
    sort_values(work, known);
    for (int i = 0; i < num; ++i) {
        out[i] = known > 0 ? quantile_of(work, known, p[i]) : TALI_NAN;
    }
    return known > 0 ? TAL_OK : TAL_ERR_NOT_FINITE;
}

// --- histograms ---

static tal_status check_histogram(const tal_histogram *it)
{
    if (it == NULL || it->counts == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the histogram or its 'counts' are NULL");
    }
    if (it->num_bins < 1 || !isfinite(it->high - it->low) || !(it->low < it->high)) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "there cannot be %d intervals from %g to %g",
                           it->num_bins, it->low, it->high);
    }
    return TAL_OK;
}

tal_status tal_histogram_begin(tal_histogram *histogram)
{
    const tal_status st = check_histogram(histogram);
    if (st != TAL_OK) return st;
    memset(histogram->counts, 0, (size_t)histogram->num_bins * sizeof *histogram->counts);
    histogram->num_below = 0;
    histogram->num_above = 0;
    histogram->num_left_out = 0;
    return TAL_OK;
}

static void count_value(tal_histogram *it, double x)
{
    if (isnan(x)) {
        ++it->num_left_out;
    } else if (x < it->low) {
        ++it->num_below;
    } else if (x >= it->high) {
        ++it->num_above;
    } else {
        const int bin = (int)((x - it->low) / (it->high - it->low) * it->num_bins);
        ++it->counts[bin < it->num_bins ? bin : it->num_bins - 1]; // rounded up
    }
}

tal_status tal_histogram_add(tal_histogram *histogram, const double values[], int n, int stride)
{
    const tal_status st = check_histogram(histogram);
    if (st != TAL_OK) return st;
    if (values == NULL && n > 0) return TALI_BREACH(TAL_ERR_NULL, "'values' is NULL");
    if (n < 0 || stride < 1) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "there cannot be %d values with a stride of %d", n,
                           stride);
    }
    for (int k = 0; k < n; ++k) {
        count_value(histogram, values[(size_t)k * (size_t)stride]);
    }
    return TAL_OK;
}
