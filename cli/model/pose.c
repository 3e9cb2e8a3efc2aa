// Commands whose answer is a pose.
#include "model/pose.h"

#include "table/columns.h"
#include "table/result.h"
#include "text/stream.h"

#include <stdlib.h>

int pose_run(const cli_args *args,
             int (*find)(const cli_args *args, const cli_model *model, tal_state *state))
{
    cli_model model;
    tal_state *state = NULL;
    int code = result_check_out(args, true);
    if (code != CLI_OK) return code;
    code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) {
        state = cli_state_copy(args, &model);
        code = state != NULL ? find(args, &model, state) : CLI_FAILED;
    }
    tal_state_destroy(state);
    cli_model_destroy(&model);
    return code;
}

void pose_report(report *r, const cli_args *args, const cli_model *model, const tal_state *state)
{
    const char *const path = stream_out_path(args);
    if (r->json && path != NULL) report_text(r, "result", path);
    static const char *const heads[] = {"coordinate", "value", "at start"};
    report_table(r, "coordinates", heads, 3);
    for (int slot = 0; slot < tal_state_nq(state); ++slot) {
        int i = -1;
        char name[TAL_COORDINATE_NAME_SIZE] = "";
        const tal_body_ix body = tal_matter_q_owner(model->matter, state, slot, &i);
        if (body.i >= 0) (void)tal_body_coordinate_name(model->matter, state, body, i, name);
        report_cell_text(r, name);
        report_cell_number(r, tal_state_q(state)[slot]);
        report_cell_number(r, tal_state_q(model->state)[slot]);
    }
    report_end_table(r);
}

static int write_model(const cli_args *args, const cli_model *model, tal_state *state)
{
    tal_model posed = model->file;
    posed.state = state;
    return cli_model_write(args, &posed, stream_out_path(args));
}

// One row.
static int write_row(const cli_args *args, const cli_model *model, tal_state *state,
                     const cli_columns *columns, tal_table *table)
{
    double *const row = cli_alloc((size_t)columns->num, sizeof *row);
    tal_status st = columns_read(columns, model, state, row);
    int code = st == TAL_OK ? CLI_OK : cli_fail_with(args, CLI_FAILED, tal_state_error(state));
    if (st == TAL_OK) {
        st = columns_name(columns, table);
        if (st == TAL_OK) st = tal_table_add_row(table, row);
        code = st == TAL_OK ? result_write(args, table) : cli_fail_status(args, CLI_FAILED, st);
    }
    free(row);
    return code;
}

int pose_write(const cli_args *args, const cli_model *model, tal_state *state)
{
    if (!result_is_wanted(args)) return CLI_OK;
    const char *const name = stream_out_name(args);
    if (name != NULL && tal_file_kind_of(name, NULL, 0) == TAL_FILE_TALUS) {
        return write_model(args, model, state);
    }
    cli_columns columns = {0};
    int code = columns_choose(args, model, "q,u", true, &columns);
    if (code == CLI_OK) {
        tal_table *const table = result_create(args, model);
        code = table != NULL ? write_row(args, model, state, &columns, table) : CLI_FAILED;
        tal_table_destroy(table);
    }
    columns_destroy(&columns);
    return code;
}
