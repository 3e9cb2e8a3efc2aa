// talus info: what is in a model.
#include "commands/commands.h"
#include "model/muscles.h"
#include "table/columns.h"
#include "text/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void report_bodies(report *r, const cli_model *model)
{
    static const char *const columns[] = {"body", "parent", "mobilizer", "speeds", "mass"};
    report_table(r, "bodies", columns, 5);
    for (int b = 1; b < tal_matter_num_bodies(model->matter); ++b) {
        const tal_body_ix body = {b};
        const tal_body_ix parent = tal_body_parent(model->matter, body);
        report_cell_text(r, tal_body_name(model->matter, body));
        report_cell_text(r, tal_body_name(model->matter, parent));
        report_cell_text(r, tal_body_mobilizer(model->matter, body));
        report_cell_count(r, tal_body_nu(model->matter, body));
        report_cell_number(r, tal_body_mass_props(model->matter, model->state, body).mass);
    }
    report_end_table(r);
}

// Where a coordinate starts, and its range; no cell for one without.
static void report_coordinates(report *r, const cli_model *model)
{
    static const char *const columns[] = {"coordinate", "start", "unit", "least", "most"};
    if (tal_state_nq(model->state) == 0) return;
    report_table(r, "coordinates and their ranges", columns, 5);
    for (int slot = 0; slot < tal_state_nq(model->state); ++slot) {
        int i = -1;
        double low = (double)-INFINITY, high = (double)INFINITY;
        char name[TAL_COORDINATE_NAME_SIZE];
        const tal_body_ix body = tal_matter_q_owner(model->matter, model->state, slot, &i);
        if (body.i < 0) continue;
        (void)tal_body_coordinate_name(model->matter, model->state, body, i, name);
        (void)tal_body_range(model->matter, model->state, body, i, &low, &high);
        report_cell_text(r, name);
        report_cell_number(r, tal_state_q(model->state)[slot]);
        report_cell_text(r, tal_body_q_unit(model->matter, model->state, body, i));
        report_cell_number(r, low);
        report_cell_number(r, high);
    }
    report_end_table(r);
}

static void report_markers(report *r, const cli_model *model)
{
    static const char *const columns[] = {"marker", "body", "x", "y", "z", "weight"};
    if (model->file.num_markers == 0) return;
    report_table(r, "markers", columns, 6);
    for (int k = 0; k < model->file.num_markers; ++k) {
        const tal_marker *const marker = &model->file.markers[k];
        report_cell_text(r, marker->name);
        report_cell_text(r, tal_body_name(model->matter, marker->body));
        report_cell_number(r, marker->p_BS.x);
        report_cell_number(r, marker->p_BS.y);
        report_cell_number(r, marker->p_BS.z);
        report_cell_number(r, marker->weight);
    }
    report_end_table(r);
}

static void report_params(report *r, const cli_model *model)
{
    static const char *const columns[] = {"param", "value"};
    if (model->file.num_params == 0) return;
    report_table(r, "params", columns, 2);
    for (int k = 0; k < model->file.num_params; ++k) {
        report_cell_text(r, model->file.params[k].name);
        report_cell_number(r, model->file.params[k].value);
    }
    report_end_table(r);
}

// Names of one group, with commas between them; owned by the caller. NULL: none.
static char *join_group(const cli_columns *all, const char *group)
{
    char *text = NULL;
    for (int k = 0; k < all->num; ++k) {
        if (strcmp(columns_group(all->list[k].kind), group) != 0) continue;
        char *const longer = cli_format("%s%s%s", text != NULL ? text : "",
                                        text != NULL ? ", " : "", all->list[k].name);
        free(text);
        text = longer;
    }
    return text;
}

// Every name that can be a column: one line for each group; in JSON one entry for each column.
static void report_columns(report *r, const cli_columns *all)
{
    static const char *const lines[] = {"group", "columns"};
    static const char *const entries[] = {"column", "group", "unit"};
    report_table(r, "columns of results", r->json ? entries : lines, r->json ? 3 : 2);
    for (int k = 0; k < all->num && r->json; ++k) {
        report_cell_text(r, all->list[k].name);
        report_cell_text(r, columns_group(all->list[k].kind));
        report_cell_text(r, all->list[k].unit);
    }
    for (int g = 0; columns_group_name(g) != NULL && !r->json; ++g) {
        char *const names = join_group(all, columns_group_name(g));
        if (names == NULL) continue;
        report_cell_text(r, columns_group_name(g));
        report_cell_text(r, names);
        free(names);
    }
    report_end_table(r);
}

static void report_constraints(report *r, const cli_model *model)
{
    static const char *const columns[] = {"constraint", "rows", "enabled"};
    const int n = tal_matter_num_constraints(model->matter);
    if (n == 0) return;
    report_table(r, "constraints", columns, 3);
    for (int i = 0; i < n; ++i) {
        const tal_constraint_ix c = {i};
        const tal_constraint_rows rows = tal_constraint_rows_of(model->matter, model->state, c);
        report_cell_text(r, tal_constraint_name(model->matter, c));
        report_cell_count(r, rows.mp + rows.mv + rows.ma);
        report_cell_text(r,
                         tal_constraint_is_enabled(model->matter, model->state, c) ? "yes" : "no");
    }
    report_end_table(r);
}

// Constraints that say what others say as well, and what may take their place.
static void report_repeated(report *r, const cli_model *model, const tal_loops *loops)
{
    static const char *const columns[] = {"constraint", "equations", "needed", "advice"};
    bool has_any = false;
    for (int i = 0; i < tal_matter_num_constraints(model->matter); ++i) {
        char text[TAL_LOOPS_TEXT];
        const tal_constraint_ix c = {i};
        const tal_loop_share share = tal_loops_share(loops, c);
        if (!tal_loops_advice(loops, c, text)) continue;
        if (!has_any) report_table(r, "equations too many", columns, 4);
        has_any = true;
        report_cell_text(r, tal_constraint_name(model->matter, c));
        report_cell_count(r, share.rows);
        report_cell_count(r, share.needed);
        report_cell_text(r, text);
    }
    if (has_any) report_end_table(r);
}

// How deep the tree is and how full its mass matrix.
static void report_shape(report *r, const cli_model *model)
{
    const int n = tal_matter_nu(model->matter);
    int *lambda = cli_alloc((size_t)n + 1, sizeof *lambda);
    if (tal_matter_calc_lambda(model->matter, lambda) == TAL_OK && n > 0) {
        const tal_tree_cost cost = tal_tree_cost_of(lambda, n);
        report_count(r, "longest branch", cost.depth);
        report_number(r, "density of M", cost.density, NULL);
    }
    free(lambda);
}

// What dynamics costs by the shape of the tree, in operations of the best algorithms known.
static void report_costs(report *r, const cli_model *model)
{
    static const char *const columns[] = {"dynamics", "multiplications", "additions"};
    static const char *const rows[] = {"inverse dynamics", "mass matrix", "factor and solve",
                                       "articulated bodies"};
    const int n = tal_matter_nu(model->matter);
    int *lambda = cli_alloc((size_t)n + 1, sizeof *lambda);
    if (tal_matter_calc_lambda(model->matter, lambda) == TAL_OK && n > 1) {
        const tal_tree_cost cost = tal_tree_cost_of(lambda, n);
        const tal_operations all[] = {cost.inverse_dynamics, cost.mass_matrix, cost.solve,
                                      cost.articulated};
        report_table(r, "operations in theory", columns, 3);
        for (int k = 0; k < 4; ++k) {
            report_cell_text(r, rows[k]);
            report_cell_number(r, all[k].multiplications);
            report_cell_number(r, all[k].additions);
        }
        report_end_table(r);
    }
    free(lambda);
}

// The loops where the constraints are met to round-off: what a file leaves of their errors would
// count as independent. Where they cannot be met, as the file has them.
static tal_loops *loops_of(const cli_model *model)
{
    tal_assembler_def def = tal_assembler_def_default();
    def.tolerance = 1e-13;
    def.max_restarts = 0;
    tal_assembler *assembler = NULL;
    tal_loops *loops = NULL;
    tal_state *state = NULL;
    tal_status st = tal_state_create(model->system, &state, NULL);
    if (st == TAL_OK) st = tal_state_copy(state, model->state);
    if (st == TAL_OK) st = tal_assembler_create(model->system, &def, &assembler, NULL);
    if (st == TAL_OK) {
        st = tal_assembler_assemble(assembler, state, NULL); // comes as near as it can
        if (st == TAL_ERR_NO_CONVERGENCE) st = TAL_OK;
    }
    if (st == TAL_OK) st = tal_loops_create(model->system, state, &loops, NULL);
    tal_assembler_destroy(assembler);
    tal_state_destroy(state);
    return st == TAL_OK ? loops : NULL;
}

// Loops that share joints, by the first constraint of each set.
static void report_loops(report *r, const cli_model *model)
{
    static const char *const columns[] = {"loops",     "constraints", "speeds",
                                          "equations", "independent", "mobility"};
    tal_loops *loops = loops_of(model);
    if (loops == NULL) return;
    const int num = tal_loops_num_clusters(loops);
    if (num > 0) report_table(r, "loops that share joints", columns, 6);
    for (int k = 0; k < num; ++k) {
        const tal_loop_cluster cluster = tal_loops_cluster(loops, k);
        int first = 0;
        while (tal_loops_share(loops, (tal_constraint_ix){first}).cluster != k) {
            ++first;
        }
        report_cell_text(r, tal_constraint_name(model->matter, (tal_constraint_ix){first}));
        report_cell_count(r, cluster.num_constraints);
        report_cell_count(r, cluster.num_speeds);
        report_cell_count(r, cluster.rows);
        report_cell_count(r, cluster.rank);
        report_cell_count(r, cluster.mobility);
    }
    if (num > 0) report_end_table(r);
    report_repeated(r, model, loops);
    tal_loops_destroy(loops);
}

// Mode, gap, material and load of each element, as the model begins.
static void report_unilaterals(report *r, const cli_model *model)
{
    static const char *const columns[] = {"unilateral element", "mode", "gap",    "friction",
                                          "restitution",        "load", "enabled"};
    static const char *const modes[] = {"off", "on", "sticks", "slides"};
    const tal_matter *const matter = model->matter;
    const int n = tal_matter_num_unilaterals(matter);
    if (n == 0) return;
    report_table(r, "unilateral elements", columns, 7);
    for (int i = 0; i < n; ++i) {
        const tal_unilateral_ix e = {i};
        const tal_unilateral_material m = tal_unilateral_material_of(matter, model->state, e);
        const bool has_gap = tal_unilateral_level_of(matter, e) == TAL_UNILATERAL_POSITION;
        const tal_constraint_ix load = tal_unilateral_load_of(matter, e).constraint;
        report_cell_text(r, tal_unilateral_name(matter, e));
        report_cell_text(r, modes[tal_unilateral_mode_of(matter, model->state, e)]);
        report_cell_number(r, has_gap ? tal_unilateral_gap(matter, model->state, e) : (double)NAN);
        report_cell_number(r, m.sliding_mu);
        report_cell_number(r, m.restitution);
        report_cell_text(r, load.i >= 0 ? tal_constraint_name(matter, load) : "");
        report_cell_text(r, tal_unilateral_is_enabled(matter, model->state, e) ? "yes" : "no");
    }
    report_end_table(r);
}

static void report_forces(report *r, const cli_model *model)
{
    static const char *const columns[] = {"force", "kind", "enabled"};
    const int n = tal_forces_num(model->forces);
    if (n == 0) return;
    report_table(r, "forces", columns, 3);
    for (int i = 0; i < n; ++i) {
        const tal_force_ix f = {i};
        report_cell_text(r, tal_force_name(model->forces, f));
        report_cell_text(r, tal_force_kind(model->forces, f));
        report_cell_text(r, tal_force_is_enabled(model->forces, model->state, f) ? "yes" : "no");
    }
    report_end_table(r);
}

// Lengths are those of the whole path, while one coordinate after the other moves. An exit code.
static int report_muscles(report *r, const cli_args *args, const cli_model *model)
{
    static const char *const columns[] = {
        "muscle",          "kind",     "max force", "optimal fiber length", "tendon slack length",
        "length at start", "shortest", "longest"};
    cli_muscles muscles = muscles_all(model);
    const size_t n = (size_t)muscles.num;
    double *const low = cli_alloc(n + 1, sizeof *low), *const high = cli_alloc(n + 1, sizeof *high);
    const int code = muscles_length_ranges(args, model, &muscles, low, high);
    const bool is_shown = code == CLI_OK && n > 0;
    if (is_shown) report_table(r, "muscles and the lengths of their paths", columns, 8);
    for (int k = 0; k < muscles.num && is_shown; ++k) {
        const tal_force_ix muscle = muscles.list[k];
        const tal_path_ix path = tal_muscle_path(model->forces, muscle);
        report_cell_text(r, tal_force_name(model->forces, muscle));
        report_cell_text(r, tal_force_kind(model->forces, muscle));
        for (int i = TAL_MUSCLE_MAX_FORCE; i <= TAL_MUSCLE_TENDON_LENGTH; ++i) {
            report_cell_number(r, tal_force_param(model->forces, model->state, muscle, i));
        }
        report_cell_number(r, tal_path_length(model->forces, model->state, path));
        report_cell_number(r, low[k]);
        report_cell_number(r, high[k]);
    }
    if (is_shown) report_end_table(r);
    muscles_destroy(&muscles);
    free(low);
    free(high);
    return code;
}

static void report_measures(report *r, const cli_model *model)
{
    static const char *const columns[] = {"measure", "kind", "values", "unit"};
    const int n = tal_system_num_measures(model->system);
    if (n == 0) return;
    report_table(r, "measures", columns, 4);
    for (int i = 0; i < n; ++i) {
        const tal_measure_ix m = {i};
        report_cell_text(r, tal_measure_name(model->system, m));
        report_cell_text(r, tal_measure_kind(model->system, m));
        report_cell_count(r, tal_measure_size(model->system, m));
        char unit[TAL_UNIT_SIZE] = "";
        (void)tal_matter_measure_unit(model->matter, model->state, m, unit);
        report_cell_text(r, unit);
    }
    report_end_table(r);
}

// Report mass, sizes and degrees of freedom of a model, then its elements.
static int report_model(const cli_args *args, const cli_model *model)
{
    int code = cli_realize(args, model, model->state, TAL_STAGE_VELOCITY);
    tal_rows_report rows = {0};
    cli_columns all;
    if (code == CLI_OK) code = columns_all(args, model, &all);
    if (code != CLI_OK) return code;
    if (tal_matter_calc_constraint_report(model->matter, model->state, &rows, NULL) != TAL_OK) {
        columns_destroy(&all);
        return cli_fail_with(args, CLI_FAILED, tal_state_error(model->state));
    }
    const tal_vec3 com = tal_matter_com(model->matter, model->state);
    report r;
    report_begin(&r, args);
    report_text(&r, "model", tal_system_name(model->system));
    report_text(&r, "hash", model->hash);
    report_count(&r, "bodies besides ground", tal_matter_num_bodies(model->matter) - 1);
    report_number(&r, "mass", tal_matter_mass(model->matter, model->state), "kg");
    report_number(&r, "mass center x", com.x, "m");
    report_number(&r, "mass center y", com.y, "m");
    report_number(&r, "mass center z", com.z, "m");
    report_count(&r, "coordinates", tal_state_nq(model->state));
    report_count(&r, "speeds", tal_state_nu(model->state));
    report_count(&r, "other variables", tal_state_nz(model->state));
    report_count(&r, "constraint equations", rows.num_rows);
    report_count(&r, "degrees of freedom", rows.dof);
    report_shape(&r, model);
    report_bodies(&r, model);
    report_coordinates(&r, model);
    report_params(&r, model);
    report_markers(&r, model);
    report_constraints(&r, model);
    report_loops(&r, model);
    report_costs(&r, model);
    report_unilaterals(&r, model);
    report_forces(&r, model);
    code = report_muscles(&r, args, model);
    report_measures(&r, model);
    report_columns(&r, &all);
    report_end(&r);
    columns_destroy(&all);
    return code;
}

static int run(const cli_args *args)
{
    cli_model model;
    int code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = report_model(args, &model);
    cli_model_destroy(&model);
    return code;
}

const cli_command cmd_info = {
    .name = "info",
    .group = CLI_MODELS,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "list what a model contains",
    .about =
        "Bodies with their mobilizers and masses, constraints, forces, measures, degrees of freedom.",
    .common = MODEL_OPTIONS,
    .example = "talus info pendulum.talus",
    .example_help = "bodies, mass, degrees of freedom",
    .run = run};
