// OpenSim's own files and results against ours: a table of case, quantity, error, tolerance and
// verdict. The files are not part of Talus: the folder comes from the command line, or from
// TALUS_OPENSIM_CASES; without it nothing is run, and the program says so.
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SKIPPED = 77 // what ctest shows as such
};

static const char *folder; // with all cases
static int failures;

// --- the table ---

void cases_print_row(const char *name, const char *quantity, double error, double tolerance)
{
    const bool good = error <= tolerance;
    printf("| %s | %s | %.2g | %.2g | %s |\n", name, quantity, error, tolerance,
           good ? "pass" : "FAIL");
    failures += !good;
}

void cases_print_failure(const char *name, const char *quantity, tal_diagnostics *found)
{
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char text[TAL_DIAGNOSTIC_SIZE];
        const tal_diagnostic *it = tal_diagnostics_at(found, i);
        if (it->severity == TAL_ERROR) fprintf(stderr, "%s\n", tal_diagnostic_text(it, text));
    }
    cases_print_row(name, quantity, INFINITY, 0.0);
}

// --- files ---

const char *cases_path(const char *file)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

tal_table *cases_read_table(const char *file, tal_diagnostics *found)
{
    tal_table *table = NULL;
    (void)!tal_table_read_file(cases_path(file), NULL, &table, found);
    return table;
}

// --- comparing ---

double cases_rms_difference(const tal_table *ours, const tal_table *reference)
{
    const int rows = tal_table_num_rows(reference);
    double worst = 0.0;
    if (tal_table_num_rows(ours) != rows) return INFINITY;
    for (int c = 0; c < tal_table_num_columns(reference); ++c) {
        const int mine = tal_table_find_column(ours, tal_table_column_name(reference, c));
        if (mine < 0) return INFINITY;
        double sum = 0.0;
        for (int r = 0; r < rows; ++r) {
            const double d = tal_table_value(ours, r, mine) - tal_table_value(reference, r, c);
            sum += d * d;
        }
        worst = fmax(worst, sqrt(sum / rows));
    }
    return worst;
}

// The row of a table at a time; -1: none.
static int row_at(const tal_table *table, double t)
{
    for (int r = 0; r < tal_table_num_rows(table); ++r) {
        if (fabs(tal_table_value(table, r, 0) - t) <= 1e-9) return r;
    }
    return -1;
}

bool cases_ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), length = strlen(end);
    return n >= length && strcmp(text + n - length, end) == 0;
}

tal_table *cases_find_result(const tal_osim_results *results, const char *end)
{
    for (int i = 0; i < tal_osim_results_num(results); ++i) {
        if (cases_ends_with(tal_osim_results_path(results, i), end)) {
            return tal_osim_results_table(results, i);
        }
    }
    return NULL;
}

double cases_largest_difference(const tal_table *ours, const tal_table *reference, double part,
                                bool (*wants)(const char *column))
{
    const int rows = (int)(part * tal_table_num_rows(reference));
    double worst = ours != NULL && rows > 0 ? 0.0 : (double)INFINITY;
    for (int c = 1; c < tal_table_num_columns(reference) && ours != NULL; ++c) {
        const char *name = tal_table_column_name(reference, c);
        if (!wants(name)) continue;
        const int mine = tal_table_find_column(ours, name);
        for (int r = 0; r < rows; ++r) {
            const int row = row_at(ours, tal_table_value(reference, r, 0));
            if (mine < 0 || row < 0) return INFINITY;
            const double d = tal_table_value(ours, row, mine) - tal_table_value(reference, r, c);
            const bool both_missing =
                isnan(tal_table_value(ours, row, mine)) && isnan(tal_table_value(reference, r, c));
            if (!both_missing) worst = isfinite(d) ? fmax(worst, fabs(d)) : (double)INFINITY;
        }
    }
    return worst;
}

bool cases_every(const char *column)
{
    (void)column;
    return true;
}

int main(int argc, char *argv[])
{
    folder = argc > 1 ? argv[1] : getenv("TALUS_OPENSIM_CASES");
    if (folder == NULL) {
        puts("skipped: TALUS_OPENSIM_CASES does not name the folder with OpenSim's files");
        return SKIPPED;
    }
    puts("| case | quantity | error | tolerance | verdict |");
    puts("|---|---|---|---|---|");
    cases_run_tools();
    cases_run_optimizers();
    cases_run_tables();
    cases_run_models();
    cases_run_muscles();
    cases_run_forward();
    return failures == 0 ? 0 : 1;
}
