// Tables of OpenSim, and a C3D file with the tables that OpenSim makes of it.
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- tables ---

// What another program, of ten lines, finds in the tables of OpenSim's tests.
static const struct {
    const char *file;
    int rows, columns; // with time
    int missing;       // numbers that are NaN or blank
    double sum;        // of the others
} tables[] = {
    {"11_c3d_and_tables/dataWithEformat.trc", 5, 43, 0, -109.9803549999999},
    {"11_c3d_and_tables/dataWithNaNsOfDifferentCases.trc", 5, 43, 15, 32106.836669999993},
    {"11_c3d_and_tables/exampleFormat.trc", 5, 10, 6, -20.625499999999999},
    {"11_c3d_and_tables/gait10dof18musc_ik_CRLF_line_ending.mot", 15, 11, 0, -991.83243860999994},
    {"11_c3d_and_tables/gait10dof18musc_walk_CRLF_line_ending.trc", 10, 124, 0, 543298.33620999975},
    {"11_c3d_and_tables/orientation_quats.sto", 6, 29, 0, 14.50504252873046},
    {"11_c3d_and_tables/sampleOutputs.sto", 471, 3, 0, 289561.75967711437},
    {"11_c3d_and_tables/sampleOutputsSpatialVec.sto", 471, 13, 0, 37986.873775835593},
    {"11_c3d_and_tables/sampleOutputsVec3.sto", 471, 7, 0, 2.6115872855721176},
    {"11_c3d_and_tables/std_cop_walking2_grfs.sto", 101, 19, 0, 59910.693159169896},
    {"11_c3d_and_tables/std_walking2_analog.sto", 11, 13, 0, 130342.45007604528},
    {"11_c3d_and_tables/std_walking2_grfs.sto", 101, 19, 0, 625194.06440406758},
    {"11_c3d_and_tables/std_walking2_markers.trc", 126, 133, 8427, 4596423.9981399989},
};

enum {
    NUM_TABLES = sizeof tables / sizeof *tables
};

// Numbers, missing ones and their sum; infinite when rows or columns differ.
static double compare_table(const tal_table *table, int i)
{
    const int rows = tal_table_num_rows(table), columns = tal_table_num_columns(table);
    if (rows != tables[i].rows || columns != tables[i].columns) return INFINITY;
    double sum = 0.0, size = 0.0;
    int missing = 0;
    for (int k = 0; k < rows * columns; ++k) {
        const double value = tal_table_value(table, k / columns, k % columns);
        missing += !isfinite(value);
        sum += isfinite(value) ? value : 0.0;
        size += isfinite(value) ? fabs(value) : 0.0;
    }
    return missing == tables[i].missing ? fabs(sum - tables[i].sum) / size : (double)INFINITY;
}

// Sums of thousands of numbers in two orders: 1e-13 of the sum of their sizes.
static void read_tables(void)
{
    for (int i = 0; i < NUM_TABLES; ++i) {
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        tal_table *table = cases_read_table(tables[i].file, found);
        if (table != NULL) {
            cases_print_row(tables[i].file, "read: rows, columns, gaps, sum of numbers",
                            compare_table(table, i), 1e-13);
        } else {
            cases_print_failure(tables[i].file, "read", found);
        }
        tal_table_destroy(table);
        tal_diagnostics_destroy(found);
    }
}

// --- a C3D file ---

// The reference has five digits of markers, half a unit of which is 0.05 mm for those that are
// meters away; eight decimals of plates, ten digits of centers of pressure, and channels in full.
static const struct {
    tal_c3d_part part;
    const char *expected, *quantity;
    double tolerance;
} parts[] = {{TAL_C3D_MARKERS, "11_c3d_and_tables/std_walking2_markers.trc",
              "C3D: 44 markers, five digits [mm]", 0.0500001},
             {TAL_C3D_ANALOG, "11_c3d_and_tables/std_walking2_analog.sto",
              "C3D: 12 channels [N, N mm]", 1e-9},
             {TAL_C3D_PLATES, "11_c3d_and_tables/std_walking2_grfs.sto",
              "C3D: 2 plates [N, mm, N mm]", 1.5e-8},
             {TAL_C3D_FORCES, "11_c3d_and_tables/std_cop_walking2_grfs.sto",
              "C3D: centers of pressure [N, mm, N mm]", 1e-6}};

static void read_c3d(void)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        tal_table *ours = NULL;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        const tal_status st = tal_c3d_read_file(cases_path("11_c3d_and_tables/walking2.c3d"),
                                                parts[i].part, NULL, &ours, found);
        tal_table *reference = st == TAL_OK ? cases_read_table(parts[i].expected, found) : NULL;
        if (reference != NULL) {
            cases_print_row("11 walking2", parts[i].quantity,
                            cases_largest_difference(ours, reference, 1.0, cases_every),
                            parts[i].tolerance);
        } else {
            cases_print_failure("11 walking2", parts[i].quantity, found);
        }
        tal_table_destroy(reference);
        tal_table_destroy(ours);
        tal_diagnostics_destroy(found);
    }
}

void cases_run_tables(void)
{
    read_tables();
    read_c3d();
}
