// talus show: columns of a table, to look at.
#include "commands/commands.h"
#include "table/result.h"
#include "text/report.h"

#include <stdlib.h>

// Some rows, evenly chosen, the first and the last among them.
static void show(const cli_args *args, const tal_table *table, const int columns[], int n)
{
    const int rows = tal_table_num_rows(table), most = cli_count(args, "rows");
    const int shown = most > 0 && most < rows ? most : rows;
    const char **const names = cli_alloc((size_t)n, sizeof *names);
    for (int c = 0; c < n; ++c) {
        names[c] = tal_table_column_name(table, columns[c]);
    }
    report r;
    report_begin(&r, args);
    report_table(&r, args->files[0], names, n);
    for (int k = 0; k < shown; ++k) {
        const int row = shown > 1 ? (int)((long)k * (rows - 1) / (shown - 1)) : 0;
        for (int c = 0; c < n; ++c) {
            report_cell_number(&r, tal_table_value(table, row, columns[c]));
        }
    }
    report_end_table(&r);
    report_end(&r);
    free(names);
}

static int run(const cli_args *args)
{
    tal_table *table = NULL;
    const int code = result_read(args, args->files[0], &table);
    if (code != CLI_OK) return code;
    int *const columns = cli_alloc((size_t)tal_table_num_columns(table), sizeof *columns);
    const int n = result_choose_columns(args, table, -1, columns);
    if (n > 0) show(args, table, columns, n);
    free(columns);
    tal_table_destroy(table);
    return n >= 0 ? CLI_OK : CLI_USAGE;
}

static const cli_option options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns to print, separated by commas; default: all"},
    {.name = "rows",
     .letter = 'n',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "largest number of rows, evenly chosen; 0: all"},
    {0}};

const cli_command cmd_show = {.name = "show",
                              .group = CLI_RESULTS,
                              .files = "TABLE",
                              .min_files = 1,
                              .max_files = 1,
                              .summary = "print columns of a table",
                              .about = "",
                              .common = CLI_JSON | CLI_QUIET,
                              .options = options,
                              .example = "talus show swing.sto -c time,total_energy -n 5",
                              .example_help = "five rows of two columns",
                              .run = run};
