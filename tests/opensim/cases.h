// What the cases against OpenSim share.
#ifndef TALUS_OPENSIM_CASES_H
#define TALUS_OPENSIM_CASES_H

#include <talus/talus.h>

/// A row of the table: case, quantity, error, tolerance, verdict.
void cases_print_row(const char *name, const char *quantity, double error, double tolerance);
/// The same for what could not be run, and why on stderr.
void cases_print_failure(const char *name, const char *quantity, tal_diagnostics *found);

/// A file of a case; until the next call.
const char *cases_path(const char *file);
/// A table of a case; NULL when it cannot be read.
tal_table *cases_read_table(const char *file, tal_diagnostics *found);

/// The largest root mean square of a column's differences. All columns of the reference must be
/// there, and as many rows.
double cases_rms_difference(const tal_table *ours, const tal_table *reference);
/// The largest difference of the columns that `wants` takes, in the first part of the reference's
/// rows, found by their times.
double cases_largest_difference(const tal_table *ours, const tal_table *reference, double part,
                                bool (*wants)(const char *column));
bool cases_every(const char *column); ///< true
/// The result whose path ends so; NULL: none.
tal_table *cases_find_result(const tal_osim_results *results, const char *end);
bool cases_ends_with(const char *text, const char *end);

/// Inverse kinematics and dynamics, analyses.
void cases_run_tools(void);
/// Static optimization, scaling, marker placement.
void cases_run_optimizers(void);
/// Tables, and a C3D file.
void cases_run_tables(void);
/// Models that are read, written and read again.
void cases_run_models(void);
/// Lengths, moment arms and forces of muscles.
void cases_run_muscles(void);
/// Forward dynamics.
void cases_run_forward(void);

#endif // TALUS_OPENSIM_CASES_H
