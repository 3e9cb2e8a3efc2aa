// What a command found, as text for people or as JSON for programs, by the same calls.
#ifndef TALUS_CLI_REPORT_H
#define TALUS_CLI_REPORT_H

#include "cli.h"

// A report being printed. Keys are words with blanks; JSON has underscores instead.
typedef struct report {
    FILE *out;
    bool json;
    int num_entries;            // of the whole
    const char *const *columns; // of the table that is open
    int num_columns;
    char **cells; // [num_cells] of that table, as JSON or text; owned
    int num_cells, capacity;
} report;

// Is a report to be printed besides the result? Yes with --json, else unless --quiet.
bool report_is_wanted(const cli_args *args);

// Begin and end. Everything goes to standard output.
void report_begin(report *r, const cli_args *args);
void report_end(report *r);

void report_text(report *r, const char *key, const char *value);
void report_number(report *r, const char *key, double value, const char *unit);
void report_count(report *r, const char *key, long value);

// A table: begin it, give the cells row by row, end it. Columns are borrowed until then.
void report_table(report *r, const char *key, const char *const columns[], int n);
void report_cell_text(report *r, const char *value);
void report_cell_number(report *r, double value);
void report_cell_count(report *r, long value);
void report_end_table(report *r);

// Write a text or a number as JSON.
void json_text(FILE *out, const char *text);
void json_number(FILE *out, double value); // null for what is not finite

#endif // TALUS_CLI_REPORT_H
