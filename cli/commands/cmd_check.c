// talus check: look for mistakes in a model.
#include "commands/commands.h"
#include "model/model.h"
#include "table/columns.h"
#include "text/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// What was found so far.
typedef struct findings {
    report *out;
    int num, num_warnings;
} findings;

// A remark is about something that may be intended, such as equations out of the plane of a planar
// loop.
typedef enum weight {
    REMARK,
    WARNING
} weight;

TAL_PRINTF(4, 5)

static void add_finding(findings *it, weight how_bad, const char *where, const char *fmt, ...)
{
    const bool is_warning = how_bad == WARNING;
    va_list list;
    va_start(list, fmt);
    char *const text = cli_format_list(fmt, list);
    va_end(list);
    report_cell_text(it->out, is_warning ? "warning" : "remark");
    report_cell_text(it->out, where);
    report_cell_text(it->out, text);
    free(text);
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
        const double excess = tal_mass_props_excess(&props);
        if (excess > 0.0) {
            add_finding(
                it, WARNING, name,
                "its inertia is not physical: a principal moment exceeds the sum of the others "
                "by %.2g of itself.",
                excess);
        }
        if (props.mass == 0.0 && !has_children[b] && tal_body_nu(model->matter, body) > 0) {
            const bool by_kkt = tal_matter_solve_way(model->matter) == TAL_SOLVE_KKT;
            add_finding(it, by_kkt ? REMARK : WARNING, name,
                        "it moves, has no mass and carries nothing%s",
                        by_kkt ? ": only constraints hold it." : ".");
        }
    }
    free(has_children);
}

// The sum of the moments of inertia about the mass center, twice the mass times the square of the
// body's size.
static double sum_of_moments(const tal_mass_props *props)
{
    const tal_sym3 I = tal_mass_props_central_inertia(*props);
    return I.xx + I.yy + I.zz;
}

// Bodies that are possible, but look like a mistake in units.
static void check_sizes(findings *it, const cli_model *model)
{
    const double LARGE = 100.0, FAR_AWAY = 1e5; // m
    for (int b = 1; b < tal_matter_num_bodies(model->matter); ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props props = tal_body_mass_props(model->matter, model->state, body);
        const char *const name = tal_body_name(model->matter, body);
        const double far = tal_v3_norm(props.com), trace = sum_of_moments(&props);
        const double size = props.mass > 0.0 ? sqrt(0.5 * trace / props.mass) : 0.0;
        if (far > LARGE) {
            add_finding(it, REMARK, name, "its mass center is %.3g m from its origin.", far);
        }
        if (size > LARGE) {
            add_finding(it, REMARK, name,
                        "its inertia is that of a body of %.3g m; is it in kg m^2?", size);
        }
        const double away = tal_v3_norm(tal_body_p_GB(model->matter, model->state, body));
        if (away > FAR_AWAY) {
            add_finding(it, REMARK, name, "it starts %.3g m from the origin of ground.", away);
        }
    }
}

// What costs digits.
static void check_digits(findings *it, const cli_model *model)
{
    enum {
        MOST = 50
    };

    tal_lint *const lints = cli_alloc(MOST, sizeof *lints);
    tal_error err = {0};
    int num = 0;
    if (tal_lint_find(model->system, model->state, NULL, lints, MOST, &num, &err) != TAL_OK) {
        add_finding(it, WARNING, "digits", "%s", err.message);
        num = 0;
    }
    for (int k = 0; k < num && k < MOST; ++k) {
        const bool has_body = lints[k].body.i >= 0;
        add_finding(it, REMARK,
                    has_body ? tal_body_name(model->matter, lints[k].body) : "constraints", "%s",
                    lints[k].message);
    }
    if (num > MOST) add_finding(it, REMARK, "digits", "%d more of this kind.", num - MOST);
    free(lints);
}

// The most that accelerations may be off, for a relative error of one in each of the forces that
// they take, over the largest of them. NaN: everything is at rest, or some motion moves no mass.
static double error_gain(const cli_model *model)
{
    const int n = tal_matter_nu(model->matter);
    double *const reach = cli_alloc((size_t)n + 1, sizeof *reach);
    double gain = (double)NAN;
    if (tal_conditioning_calc_reach(model->system, model->state, NULL, reach, NULL) == TAL_OK) {
        const double most = cli_largest(tal_state_udot(model->state), tal_state_nu(model->state));
        if (most > 0.0) gain = cli_largest(reach, n) / most;
    }
    free(reach);
    return gain;
}

// How far accelerations can be trusted. Its work is that of dense matrices: not for huge models.
static void report_conditioning(report *r, const cli_model *model)
{
    const int HUGE = 1000; // speeds: two seconds
    tal_conditioning how;
    const int nu = tal_matter_nu(model->matter);
    if (nu == 0 || nu > HUGE ||
        tal_conditioning_calc(model->system, model->state, &how, NULL) != TAL_OK) {
        return;
    }
    const double gain = error_gain(model);
    report_number(r, "condition", how.condition, NULL);
    report_number(r, "condition without units", how.scaled, NULL);
    if (gain > 0.0) report_number(r, "gain of force errors", gain, NULL);
}

static void check_angles(findings *it, const cli_model *model)
{
    const double MANY = 4.0 * TAL_PI; // two turns
    for (int slot = 0; slot < tal_state_nq(model->state); ++slot) {
        int i = -1;
        char name[TAL_COORDINATE_NAME_SIZE];
        const tal_body_ix body = tal_matter_q_owner(model->matter, model->state, slot, &i);
        const double q = tal_state_q(model->state)[slot];
        if (body.i < 0 || !(fabs(q) > MANY)) continue;
        if (strcmp(tal_body_q_unit(model->matter, model->state, body, i), "rad") != 0) continue;
        (void)tal_body_coordinate_name(model->matter, model->state, body, i, name);
        add_finding(it, WARNING, name,
                    "it starts at %.3g rad, %.1f turns; is it in degrees? (units=\"deg\")", q,
                    fabs(q) / (0.5 * MANY));
    }
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
        add_finding(it, WARNING, name, "it starts at %g, outside its range, %g to %g.",
                    tal_body_q(model->matter, model->state, body, i), low, high);
    }
}

// How a row is related to the rows before it, and by how much that is so. A good row with a share
// this close to the limit may be one in exact geometry that is not quite exact.
static void check_row(findings *it, const char *name, const tal_constraint_row *row)
{
    const double NEAR = 100.0;
    if (row->fate == TAL_ROW_REDUNDANT) {
        add_finding(it, WARNING, name,
                    "its equation %d repeats others: only %.1e of it is independent (limit %.1e).",
                    row->i, row->share, row->limit);
    } else if (row->fate == TAL_ROW_WITHOUT_EFFECT) {
        add_finding(it, REMARK, name, "no motion changes its equation %d.", row->i);
    } else if (row->share < NEAR * row->limit) {
        add_finding(
            it, WARNING, name,
            "its equation %d nearly repeats others: only %.1e of it is independent (limit %.1e).",
            row->i, row->share, row->limit);
    }
    if (row->inconsistent) {
        add_finding(it, WARNING, name, "its equation %d contradicts others.", row->i);
    }
}

// Moves q as close to the constraints as it can be. What is left there is not the fault of q.
// `name` is a constraint with rows that repeat others.
static void check_geometry(findings *it, const cli_model *model, const char *name)
{
    const double EXACT =
        1e-9; // equations that repeat others and are off by less cannot be told apart
    const int m = tal_state_pool_size(model->state, TAL_POOL_UERR);
    bool *const redundant = cli_alloc((size_t)m, sizeof *redundant);
    tal_project_options options = tal_project_options_default();
    memset(redundant, true, (size_t)m * sizeof *redundant);
    options.redundant = redundant;
    options.even_if_met = true;
    if (tal_system_project_q(model->system, model->state, &options, NULL, NULL) == TAL_OK) {
        const double off = cli_largest(tal_state_qerr(model->state),
                                       tal_state_pool_size(model->state, TAL_POOL_QERR));
        if (off > EXACT) {
            add_finding(
                it, REMARK, name,
                "its geometry is off by %.1e: equations that would repeat others are taken as "
                "such.",
                off);
        }
    }
    free(redundant);
}

// The name of a constraint with rows that repeat others; NULL when there is none.
static const char *check_rows(findings *it, const cli_model *model)
{
    const int m = tal_state_pool_size(model->state, TAL_POOL_UDOTERR);
    tal_constraint_row *const rows = cli_alloc((size_t)m, sizeof *rows);
    tal_rows_report all = {0};
    if (tal_matter_calc_constraint_report(model->matter, model->state, &all, rows) != TAL_OK) {
        add_finding(it, WARNING, "constraints", "%s", tal_state_error(model->state)->message);
        all.num_rows = 0;
    }
    const char *redundant = NULL;
    for (int k = 0; k < all.num_rows; ++k) {
        const char *name = tal_constraint_name(model->matter, rows[k].constraint);
        check_row(it, name, &rows[k]);
        if (rows[k].fate == TAL_ROW_REDUNDANT) redundant = name;
    }
    free(rows);
    return redundant;
}

static void check_errors(findings *it, const cli_model *model)
{
    const double MET = 1e-6; // as models are written, with some seven digits
    const double q =
        cli_largest(tal_state_qerr(model->state), tal_state_pool_size(model->state, TAL_POOL_QERR));
    const double u =
        cli_largest(tal_state_uerr(model->state), tal_state_pool_size(model->state, TAL_POOL_UERR));
    if (!(q <= MET)) {
        add_finding(it, WARNING, "coordinates",
                    "they violate constraints by %g; run talus assemble.", q);
    }
    if (!(u <= MET)) add_finding(it, WARNING, "speeds", "they violate constraints by %g.", u);
}

// What is wrong with a path, as a sentence.
static void tell_flaw(findings *it, const cli_model *model, tal_path_ix path,
                      const tal_path_flaw *flaw)
{
    char name[TAL_COORDINATE_NAME_SIZE] = "";
    const char *const where = tal_path_name(model->forces, path);
    (void)tal_body_coordinate_name(model->matter, model->state, flaw->at.body, flaw->at.i, name);
    switch (flaw->kind) {
    case TAL_PATH_JUMP:
        add_finding(it, WARNING, where, "its length jumps by %.2g m at %s = %.4g.", flaw->size,
                    name, flaw->q);
        break;
    case TAL_PATH_KINK:
        add_finding(it, REMARK, where, "its moment arm jumps by %.2g at %s = %.4g.", flaw->size,
                    name, flaw->q);
        break;
    case TAL_PATH_INSIDE:
        add_finding(
            it, WARNING, where,
            "a point of it is inside obstacle '%s' from %s = %.4g to %.4g: it goes straight "
            "through.",
            tal_wrap_name(model->forces, flaw->wrap), name, flaw->q, flaw->q + flaw->size);
        break;
    case TAL_PATH_LOST:
        add_finding(it, WARNING, where, "it cannot be drawn from %s = %.4g to %.4g.", name, flaw->q,
                    flaw->q + flaw->size);
        break;
    }
}

// Each path over the ranges of its coordinates.
static void check_paths(findings *it, const cli_model *model)
{
    enum {
        MOST = 20
    };

    for (int i = 0; i < tal_forces_num_paths(model->forces); ++i) {
        const tal_path_ix path = {i};
        tal_path_flaw flaws[MOST];
        int num = 0;
        tal_error err = {0};
        if (tal_path_find_flaws(model->system, model->forces, model->state, path, flaws, MOST, &num,
                                &err) != TAL_OK) {
            add_finding(it, WARNING, tal_path_name(model->forces, path), "%s", err.message);
            continue;
        }
        for (int k = 0; k < num && k < MOST; ++k) {
            tell_flaw(it, model, path, &flaws[k]);
        }
        if (num > MOST) {
            add_finding(it, REMARK, tal_path_name(model->forces, path), "%d more of this kind.",
                        num - MOST);
        }
    }
}

// Run all checks at the State of the model, and report what they found.
static int check_model(const cli_args *args, const cli_model *model)
{
    static const char *const columns[] = {"severity", "where", "what"};
    const int code = cli_realize(args, model, model->state, TAL_STAGE_VELOCITY);
    if (code != CLI_OK) return code;
    report r;
    findings it = {&r, 0, 0};
    report_begin(&r, args);
    report_text(&r, "model", tal_system_name(model->system));
    report_conditioning(&r, model);
    report_table(&r, "findings", columns, 3);
    check_masses(&it, model);
    check_ranges(&it, model);
    check_sizes(&it, model);
    check_digits(&it, model);
    check_angles(&it, model);
    check_errors(&it, model);
    check_paths(&it, model);
    const char *redundant = check_rows(&it, model);
    if (tal_system_realize(model->system, model->state, TAL_STAGE_ACCELERATION) != TAL_OK) {
        add_finding(&it, WARNING, "accelerations", "%s", tal_state_error(model->state)->message);
    }
    if (redundant != NULL) check_geometry(&it, model, redundant); // last: it moves q
    report_end_table(&r);
    if (it.num == 0 && !r.json) puts("  no problems found");
    report_end(&r);
    return it.num_warnings == 0 ? CLI_OK : CLI_FAILED;
}

static int run(const cli_args *args)
{
    cli_model model;
    int code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = check_model(args, &model);
    cli_model_destroy(&model);
    return code;
}

const cli_command cmd_check = {
    .name = "check",
    .group = CLI_MODELS,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "look for mistakes in a model",
    .about =
        "Checks masses and inertias, ranges of coordinates, constraints that are violated or "
        "redundant, and accelerations that are not finite. The exit code is 1 if something is found.",
    .common = MODEL_OPTIONS,
    .example = "talus check four_bar.talus",
    .example_help = "warnings and remarks",
    .run = run};
