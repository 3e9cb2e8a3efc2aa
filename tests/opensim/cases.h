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

/// Lengths, moment arms and forces of muscles.
void cases_run_muscles(void);

#endif // TALUS_OPENSIM_CASES_H
