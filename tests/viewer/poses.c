// poses MODEL TABLE: where bodies are at every row of a table, by the library alone: for the tests
// of the viewer. A line for each row and body: row, time, body, p_GB, quaternion.
#include <talus/talus.h>

#include <stdio.h>

static int fail(const char *what)
{
    fprintf(stderr, "poses: %s\n", what);
    return 1;
}

// Coordinates from the columns of their names; all are there, in radians.
static tal_status set_row(const tal_model *model, const tal_table *table, int row)
{
    for (int slot = 0; slot < tal_state_nq(model->state); ++slot) {
        char name[TAL_COORDINATE_NAME_SIZE];
        int i = -1;
        const tal_body_ix body = tal_matter_q_owner(model->matter, model->state, slot, &i);
        tal_status st = tal_body_coordinate_name(model->matter, model->state, body, i, name);
        if (st != TAL_OK) return st;
        const int column = tal_table_find_column(table, name);
        st = tal_body_set_q(model->matter, model->state, body, i,
                            tal_table_value(table, row, column));
        if (st != TAL_OK) return st;
    }
    return tal_system_realize(model->system, model->state, TAL_STAGE_POSITION);
}

static void print_row(const tal_model *model, const tal_table *table, int row)
{
    for (int b = 1; b < tal_matter_num_bodies(model->matter); ++b) {
        const tal_xform X = tal_body_X_GB(model->matter, model->state, (tal_body_ix){b});
        const tal_quat h = tal_rotation_to_qt(&X.R);
        printf("%d %.17g %d %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", row,
               tal_table_value(table, row, 0), b, X.p.x, X.p.y, X.p.z, h.w, h.x, h.y, h.z);
    }
}

int main(int argc, char *argv[])
{
    tal_model model;
    tal_table *table = NULL;
    if (argc != 3) return fail("usage: poses MODEL TABLE");
    if (tal_model_read_any(argv[1], NULL, &model, NULL) != TAL_OK) return fail(argv[1]);
    if (tal_table_read_file(argv[2], NULL, &table, NULL) != TAL_OK) return fail(argv[2]);
    int code = 0;
    for (int row = 0; row < tal_table_num_rows(table) && code == 0; ++row) {
        if (set_row(&model, table, row) != TAL_OK) code = fail("a row cannot be set");
        if (code == 0) print_row(&model, table, row);
    }
    tal_table_destroy(table);
    tal_model_destroy(&model);
    return code;
}
