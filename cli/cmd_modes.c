// talus modes: frequencies and damping of small motions.
#include "commands.h"
#include "pose.h"
#include "rest.h"
#include "result.h"

static void report_modes(const cli_args *args, const tal_linearizer *lin)
{
    static const char *const columns[] = {"mode", "frequency", "damping", "re", "im"};
    report r;
    report_begin(&r, args);
    report_table(&r, "modes", columns, 5);
    long number = 0;
    for (int i = 0; i < tal_linearizer_num_modes(lin); ++i) {
        const tal_mode mode = tal_linearizer_mode(lin, i);
        if (mode.im < 0.0) continue; // the other of a pair
        report_cell_count(&r, ++number);
        report_cell_number(&r, mode.frequency);
        report_cell_number(&r, mode.damping);
        report_cell_number(&r, mode.re);
        report_cell_number(&r, mode.im);
    }
    report_end_table(&r);
    report_end(&r);
}

static int write_modes(const cli_args *args, const cli_model *model, const tal_linearizer *lin)
{
    static const char *const columns[] = {"mode", "frequency", "damping", "re", "im"};
    tal_table *const table = result_create(args, model);
    if (table == NULL) return CLI_FAILED;
    tal_status st = TAL_OK;
    for (int c = 0; c < 5 && st == TAL_OK; ++c) {
        st = tal_table_add_column(table, columns[c]);
    }
    for (int i = 0; i < tal_linearizer_num_modes(lin) && st == TAL_OK; ++i) {
        const tal_mode mode = tal_linearizer_mode(lin, i);
        const double row[] = {(double)i, mode.frequency, mode.damping, mode.re, mode.im};
        st = tal_table_add_row(table, row);
    }
    const int code = st == TAL_OK ? result_write(args, table) : CLI_FAILED;
    tal_table_destroy(table);
    return code;
}

static int find(const cli_args *args, const cli_model *model, tal_state *state)
{
    int code = CLI_OK;
    if (cli_flag(args, "at-rest")) code = cli_find_rest(args, model, state, false, 0.0, NULL);
    if (code != CLI_OK) return code;
    tal_linearizer *lin = NULL;
    tal_error err = {0};
    tal_status st = tal_linearizer_create(model->system, NULL, &lin, &err);
    if (st == TAL_OK) {
        st = tal_linearizer_run(lin, state);
        if (st == TAL_OK) st = tal_linearizer_find_modes(lin);
        err = *tal_linearizer_error(lin);
    }
    if (st != TAL_OK) {
        code = cli_fail_with(args, CLI_FAILED, &err);
    } else if (cli_is_given(args, "out")) {
        code = write_modes(args, model, lin);
    } else {
        report_modes(args, lin);
    }
    tal_linearizer_destroy(lin);
    return code;
}

int cmd_modes(const cli_args *args)
{
    return pose_run(args, find);
}
