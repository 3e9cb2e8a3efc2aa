// talus mol run: dynamics of a molecule, a table of what it does, and frames of its atoms.
#include "model/molecule.h"
#include "table/columns.h"
#include "table/result.h"
#include "text/checkpoint.h"
#include "text/progress.h"
#include "text/report.h"
#include "text/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A run between two rows.
typedef struct dynamics {
    const cli_args *args;
    cli_molecule *molecule;
    tal_md *md;
    tal_table *table;
    tal_atoms *frames;       // NULL: none are wanted
    cli_columns coordinates; // behind the energies; none unless --coordinates
    double *row;             // [width]
    int width;
    int stride; // steps between rows; of ghmc trajectories
    int rows;   // behind the first one
    checkpoint save;
} dynamics;

static const char *const columns[] = {
    "time",     "temperature", "conserved", "kinetic", "total",  "stretch",  "bend",    "torsion",
    "improper", "vdw",         "coulomb",   "born",    "fixman", "momentum", "angular", "lists"};
static const char *const units[] = {
    "ps",     "K",      "kJ/mol", "kJ/mol", "kJ/mol", "kJ/mol",   "kJ/mol",     "kJ/mol",
    "kJ/mol", "kJ/mol", "kJ/mol", "kJ/mol", "kJ/mol", "Da nm/ps", "Da nm^2/ps", ""};

enum {
    NUM_COLUMNS = sizeof columns / sizeof *columns
};

// --- what is asked for ---

static int choose_bath(const cli_args *args, tal_md_bath *bath)
{
    static const char *const names[] = {"none", "langevin", "chain", "rescale", "ghmc"};
    const char *const name = cli_text(args, "bath");
    for (int i = 0; i < 5; ++i) {
        if (strcmp(names[i], name) != 0) continue;
        *bath = (tal_md_bath)i;
        return CLI_OK;
    }
    return cli_fail(args, CLI_USAGE, "--bath is none, langevin, chain, rescale or ghmc, not '%s'.",
                    name);
}

// Steps, and how many of them are between rows: whole numbers of both.
static int choose_steps(const cli_args *args, dynamics *it, tal_md_def *def)
{
    const double time = cli_number(args, "time"), every = cli_number(args, "every");
    def->step = cli_number(args, "step");
    const double stride = rint(every / def->step), rows = rint(time / every);
    if (!(stride >= 1.0 && stride <= 1e9) || fabs(stride * def->step - every) > 1e-9 * every) {
        return cli_fail(args, CLI_USAGE, "--every %g ps is not a whole number of steps of %g ps.",
                        every, def->step);
    }
    if (!(rows >= 1.0 && rows <= 1e8) || fabs(rows * every - time) > 1e-9 * time) {
        return cli_fail(args, CLI_USAGE, "--time %g ps is not a whole number of --every %g ps.",
                        time, every);
    }
    it->stride = (int)stride;
    it->rows = (int)rows;
    if (def->bath != TAL_MD_SAMPLE) return CLI_OK;
    def->trajectory = cli_count(args, "leaps");
    if (def->trajectory < 1 || it->stride % def->trajectory != 0) {
        return cli_fail(args, CLI_USAGE,
                        "--every %g ps is not a whole number of trajectories of %d steps of %g ps: "
                        "see --leaps.",
                        every, def->trajectory, def->step);
    }
    it->stride /= def->trajectory;
    return CLI_OK;
}

static int make_md(const cli_args *args, dynamics *it)
{
    tal_md_def def = tal_md_def_default();
    int code = choose_bath(args, &def.bath);
    if (code == CLI_OK) code = choose_steps(args, it, &def);
    if (code != CLI_OK) return code;
    def.kT = TAL_MOL_R * cli_number(args, "temperature");
    def.friction = cli_number(args, "friction");
    def.relaxation_time = cli_number(args, "relaxation");
    def.seed = (uint64_t)cli_count(args, "seed");
    tal_error err = {0};
    if (tal_md_create(it->molecule->model.system, &def, &it->md, &err) == TAL_OK) return CLI_OK;
    return cli_fail_with(args, CLI_FAILED, &err);
}

// --- rows ---

static int fail_state(const dynamics *it)
{
    return cli_fail_with(it->args, CLI_FAILED, tal_state_error(it->molecule->model.state));
}

// Energies and temperatures where the run is, coordinates behind them; and a frame.
static int add_row(dynamics *it)
{
    tal_state *const state = it->molecule->model.state;
    tal_mol_energy e;
    const tal_md_report now = tal_md_report_of(it->md, state);
    const tal_spatial_vec P = tal_matter_central_momentum(it->molecule->matter, state);
    const tal_mol_list list = tal_mol_list_of(it->molecule->instance, state);
    if (tal_mol_calc_energy(it->molecule->instance, state, &e) != TAL_OK) return fail_state(it);
    const double energies[NUM_COLUMNS] = {now.t,
                                          now.kT / TAL_MOL_R,
                                          now.conserved,
                                          now.kinetic,
                                          now.kinetic + e.total,
                                          e.stretch,
                                          e.bend + e.urey_bradley,
                                          e.torsion,
                                          e.improper,
                                          e.vdw + e.vdw14,
                                          e.coulomb + e.coulomb14,
                                          e.born + e.surface,
                                          e.fixman,
                                          tal_v3_norm(P.v),
                                          tal_v3_norm(P.w),
                                          (double)list.num_builds};
    memcpy(it->row, energies, sizeof energies);
    tal_status st = TAL_OK;
    if (it->coordinates.num > 0) {
        st = columns_read(&it->coordinates, &it->molecule->model, state, it->row + NUM_COLUMNS);
    }
    if (st != TAL_OK) return fail_state(it);
    st = tal_table_add_row(it->table, it->row);
    if (st != TAL_OK) return cli_fail_status(it->args, CLI_FAILED, st);
    if (it->frames == NULL) return CLI_OK;
    return molecule_add_frame(it->args, it->molecule, state, it->frames);
}

static int make_table(dynamics *it)
{
    it->table = result_create(it->args, &it->molecule->model);
    if (it->table == NULL) return CLI_FAILED;
    tal_status st = TAL_OK;
    for (int c = 0; c < NUM_COLUMNS && st == TAL_OK; ++c) {
        st = result_add_column(it->table, columns[c], units[c]);
    }
    int code = CLI_OK;
    if (cli_flag(it->args, "coordinates")) {
        code = columns_choose(it->args, &it->molecule->model, "q", false, &it->coordinates);
        if (code == CLI_OK && st == TAL_OK) st = columns_name(&it->coordinates, it->table);
    }
    it->width = NUM_COLUMNS + it->coordinates.num;
    it->row = cli_alloc((size_t)it->width, sizeof *it->row);
    if (code != CLI_OK) return code;
    return st == TAL_OK ? CLI_OK : cli_fail_status(it->args, CLI_FAILED, st);
}

// --- checkpoints ---

// Keep all that a run needs to go on: State, bath, rows, frames.
static void save(dynamics *it)
{
    cli_bytes all = {0};
    tal_state *const state = it->molecule->model.state;
    const tal_md_memory memory = tal_md_memory_of(it->md);
    const size_t size = tal_state_save_size(state);
    void *const block = cli_alloc(size, 1);
    if (tal_state_save(state, block, size) == TAL_OK) {
        const int rows = tal_table_num_rows(it->table);
        checkpoint_put_block(&all, block, size);
        bytes_add(&all, &memory, sizeof memory);
        bytes_add(&all, &rows, sizeof rows);
        for (int r = 0; r < rows; ++r) {
            bytes_add(&all, tal_table_row(it->table, r), (size_t)it->width * sizeof(double));
        }
        for (int f = 0; it->frames != NULL && f < rows; ++f) {
            const tal_atoms_frame frame = tal_atoms_frame_at(it->frames, f);
            (void)tal_atoms_get_positions(it->frames, f, it->molecule->x, it->molecule->num);
            bytes_add(&all, &frame, sizeof frame);
            bytes_add(&all, it->molecule->x, (size_t)it->molecule->num * sizeof *it->molecule->x);
        }
        checkpoint_save(&it->save, it->args, &all);
    }
    free(block);
    free(all.data);
}

// Rows and frames that were kept.
static tal_status load_rows(dynamics *it, checkpoint_reader *from)
{
    int rows = 0;
    tal_status st = TAL_OK;
    checkpoint_take(from, &rows, sizeof rows);
    for (int r = 0; r < rows && st == TAL_OK && !from->is_short; ++r) {
        checkpoint_take(from, it->row, (size_t)it->width * sizeof *it->row);
        st = tal_table_add_row(it->table, it->row);
    }
    for (int f = 0; it->frames != NULL && f < rows && st == TAL_OK && !from->is_short; ++f) {
        tal_atoms_frame frame;
        checkpoint_take(from, &frame, sizeof frame);
        checkpoint_take(from, it->molecule->x, (size_t)it->molecule->num * sizeof *it->molecule->x);
        st = tal_atoms_add_frame(it->frames, it->molecule->x, NULL, it->molecule->num, &frame);
    }
    return st == TAL_OK && from->is_short ? TAL_ERR_FILE : st;
}

static int resume(dynamics *it)
{
    tal_md_memory memory;
    size_t size = 0;
    const cli_model *const model = &it->molecule->model;
    checkpoint_reader from = checkpoint_read(&it->save);
    const void *const block = checkpoint_take_block(&from, &size);
    tal_status st = block != NULL ? TAL_OK : TAL_ERR_FILE;
    if (st == TAL_OK) st = tal_state_load(model->system, model->state, block, size);
    checkpoint_take(&from, &memory, sizeof memory);
    if (st == TAL_OK && !from.is_short) st = tal_md_set_memory(it->md, &memory);
    if (st == TAL_OK) st = load_rows(it, &from);
    if (st == TAL_OK) return CLI_OK;
    return cli_fail(it->args, CLI_BAD_FILE,
                    "'%s' does not fit this run (%s): remove it to begin again.", it->save.path,
                    tal_status_text(st));
}

// --- the run ---

static int begin(dynamics *it)
{
    char *const manifest = result_manifest(it->args, it->table);
    int code = checkpoint_begin(&it->save, it->args, manifest);
    free(manifest);
    if (code != CLI_OK) return code;
    if (it->save.found.size > 0) return resume(it);
    const tal_status st = tal_mol_set_random_velocities(
        it->molecule->instance, it->molecule->model.state, cli_number(it->args, "temperature"),
        (uint64_t)cli_count(it->args, "seed"));
    return st == TAL_OK ? add_row(it) : fail_state(it);
}

// All rows that are left; `*is_stopped` when the user ended it.
static int go(dynamics *it, bool *is_stopped)
{
    const tal_state *const state = it->molecule->model.state;
    const double every = cli_number(it->args, "every");
    const int wanted = it->args->only_rows > 0 && it->args->only_rows - 1 < it->rows
                           ? it->args->only_rows - 1
                           : it->rows;
    int code = CLI_OK;
    progress told;
    progress_begin(&told, it->args, "ps", false, tal_state_t(state), wanted * every);
    *is_stopped = false;
    for (int r = tal_table_num_rows(it->table) - 1; r < wanted && code == CLI_OK; ++r) {
        if (tal_md_run(it->md, it->molecule->model.state, it->stride) != TAL_OK) {
            code = cli_fail_with(it->args, CLI_FAILED, tal_md_error(it->md));
        } else {
            code = add_row(it);
        }
        *is_stopped = code == CLI_OK && !progress_tell(&told, tal_state_t(state));
        if (code == CLI_OK && (*is_stopped || checkpoint_is_due(&it->save)) &&
            it->save.path != NULL) {
            save(it);
        }
        if (*is_stopped) break;
    }
    progress_end(&told, tal_state_t(state));
    return code;
}

static void report_run(const dynamics *it)
{
    const int rows = tal_table_num_rows(it->table);
    double sum = 0.0;
    for (int r = 0; r < rows; ++r) {
        sum += tal_table_value(it->table, r, 1);
    }
    report r;
    report_begin(&r, it->args);
    report_text(&r, "result", cli_text(it->args, "out"));
    report_count(&r, "rows", rows);
    report_count(&r, "steps", (long)tal_md_memory_of(it->md).steps);
    const tal_md_report now = tal_md_report_of(it->md, it->molecule->model.state);
    if (strcmp(cli_text(it->args, "bath"), "ghmc") == 0) {
        report_number(&r, "accepted part", now.accepted, "");
    }
    report_number(&r, "mean temperature", sum / rows, "K");
    report_number(&r, "conserved at start", tal_table_value(it->table, 0, 2), "kJ/mol");
    report_number(&r, "conserved at end", tal_table_value(it->table, rows - 1, 2), "kJ/mol");
    report_end(&r);
}

static int finish(dynamics *it, bool is_stopped)
{
    if (is_stopped && it->save.path != NULL) {
        return cli_fail(it->args, CLI_FAILED, "interrupted; the same command goes on.");
    }
    int code = is_stopped ? result_write_part(it->args, it->table, "interrupted")
                          : result_write(it->args, it->table);
    if (code == CLI_OK && it->frames != NULL) {
        code = molecule_write(it->args, it->frames, cli_text(it->args, "trajectory"));
    }
    if (code == CLI_OK && stream_out_path(it->args) != NULL && report_is_wanted(it->args)) {
        report_run(it);
    }
    checkpoint_end(&it->save, code == CLI_OK);
    return code;
}

int molecule_run(const cli_args *args, cli_molecule *molecule)
{
    dynamics it = {.args = args, .molecule = molecule};
    bool is_stopped = false;
    int code = make_md(args, &it);
    if (code == CLI_OK) code = make_table(&it);
    if (code == CLI_OK && cli_text(args, "trajectory") != NULL && args->take == NULL) {
        it.frames = molecule_copy_atoms(args, molecule->made.atoms);
        if (it.frames == NULL) code = CLI_FAILED;
    }
    if (code == CLI_OK) code = begin(&it);
    if (code == CLI_OK) code = go(&it, &is_stopped);
    if (code == CLI_OK) code = finish(&it, is_stopped);
    checkpoint_end(&it.save, false);
    columns_destroy(&it.coordinates);
    free(it.row);
    tal_atoms_destroy(it.frames);
    tal_table_destroy(it.table);
    tal_md_destroy(it.md);
    return code;
}
