// talus check: everything suspicious in a model.
#include "columns.h"
#include "commands.h"
#include "model.h"
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

// What was found so far.
typedef struct findings {
    report *out;
    int num, num_warnings;
} findings;

// A remark is about what may well be meant, as equations out of the plane of a planar loop.
typedef enum weight {
    REMARK,
    WARNING
} weight;

TAL_PRINTF(4, 5)

static void add(findings *it, weight how_bad, const char *where, const char *fmt, ...)
{
    char text[240];
    const bool is_warning = how_bad == WARNING;
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    report_cell_text(it->out, is_warning ? "warning" : "remark");
    report_cell_text(it->out, where);
    report_cell_text(it->out, text);
    ++it->num;
    if (is_warning) ++it->num_warnings;
}

// A body at the end of a branch must be able to resist every motion of its mobilizer.
static void check_masses(findings *it, const cli_model *model)
{
    const int n = tal_matter_num_bodies(model->matter);
    bool *const has_children = cli_alloc((size_t)n, sizeof *has_children);
    for (int b = 1; b < n; ++b) {
        has_children[tal_body_parent(model->matter, (tal_body_ix){b}).i] = true;
    }
    for (int b = 1; b < n; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props props = tal_body_mass_props(model->matter, model->state, body);
        const char *const name = tal_body_name(model->matter, body);
        tal_error err = {0};
        if (tal_mass_props_check(&props, &err) != TAL_OK) add(it, WARNING, name, "%s", err.message);
        if (props.mass == 0.0 && !has_children[b] && tal_body_nu(model->matter, body) > 0) {
            add(it, WARNING, name, "it moves, has no mass and carries nothing.");
        }
    }
    free(has_children);
}

static void check_ranges(findings *it, const cli_model *model)
{
    for (int slot = 0; slot < tal_state_nq(model->state); ++slot) {
        int i = -1;
        const tal_body_ix body = tal_matter_q_owner(model->matter, model->state, slot, &i);
        double low, high;
        char name[TAL_COORDINATE_NAME_SIZE];
        if (body.i < 0 || tal_body_is_in_range(model->matter, model->state, body, i)) continue;
        if (tal_body_range(model->matter, model->state, body, i, &low, &high) != TAL_OK) continue;
        (void)tal_body_coordinate_name(model->matter, model->state, body, i, name);
        add(it, WARNING, name, "it begins at %g, outside of its range, %g to %g.",
            tal_body_q(model->matter, model->state, body, i), low, high);
    }
}

static void check_rows(findings *it, const cli_model *model)
{
    const int m = tal_state_pool_size(model->state, TAL_POOL_UDOTERR);
    tal_constraint_row *const rows = cli_alloc((size_t)m, sizeof *rows);
    tal_rows_report all = {0};
    if (tal_matter_calc_constraint_report(model->matter, model->state, &all, rows) != TAL_OK) {
        add(it, WARNING, "constraints", "%s", tal_state_error(model->state)->message);
        all.num_rows = 0;
    }
    for (int k = 0; k < all.num_rows; ++k) {
        const char *const name = tal_constraint_name(model->matter, rows[k].constraint);
        if (rows[k].fate == TAL_ROW_REDUNDANT) {
            add(it, WARNING, name, "its equation %d repeats others.", rows[k].i);
        } else if (rows[k].fate == TAL_ROW_WITHOUT_EFFECT) {
            add(it, REMARK, name, "no motion changes its equation %d.", rows[k].i);
        }
        if (rows[k].inconsistent) {
            add(it, WARNING, name, "its equation %d contradicts others.", rows[k].i);
        }
    }
    free(rows);
}

static void check_errors(findings *it, const cli_model *model)
{
    const double q =
        cli_largest(tal_state_qerr(model->state), tal_state_pool_size(model->state, TAL_POOL_QERR));
    const double u =
        cli_largest(tal_state_uerr(model->state), tal_state_pool_size(model->state, TAL_POOL_UERR));
    if (!(q <= 1e-6)) {
        add(it, WARNING, "coordinates", "they miss constraints by %g; talus assemble.", q);
    }
    if (!(u <= 1e-6)) add(it, WARNING, "speeds", "they miss constraints by %g.", u);
}

static int check(const cli_args *args, const cli_model *model)
{
    static const char *const columns[] = {"severity", "where", "what"};
    const int code = cli_realize(args, model, model->state, TAL_STAGE_VELOCITY);
    if (code != CLI_OK) return code;
    report r;
    findings it = {&r, 0, 0};
    report_begin(&r, args);
    report_text(&r, "model", tal_system_name(model->system));
    report_table(&r, "findings", columns, 3);
    check_masses(&it, model);
    check_ranges(&it, model);
    check_errors(&it, model);
    check_rows(&it, model);
    if (tal_system_realize(model->system, model->state, TAL_STAGE_ACCELERATION) != TAL_OK) {
        add(&it, WARNING, "accelerations", "%s", tal_state_error(model->state)->message);
    }
    report_end_table(&r);
    if (it.num == 0 && !r.json) puts("  nothing is suspicious");
    report_end(&r);
    return it.num_warnings == 0 ? CLI_OK : CLI_FAILED;
}

int cmd_check(const cli_args *args)
{
    cli_model model;
    int code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = check(args, &model);
    cli_model_destroy(&model);
    return code;
}
