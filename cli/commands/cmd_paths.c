// talus paths: polynomials of coordinates in place of paths of points.
#include "commands/commands.h"
#include "model/model.h"
#include "text/report.h"
#include "text/stream.h"

#include <stdlib.h>
#include <string.h>

// What was fitted.
typedef struct fits {
    tal_path_fit *items; // [num]
    int num, num_bad;
} fits;

static tal_path_fit_def def_of(const cli_args *args)
{
    tal_path_fit_def def = tal_path_fit_def_default();
    def.length_tolerance = cli_number(args, "tolerance");
    def.arm_tolerance = cli_number(args, "arm-tolerance");
    def.max_degree = cli_count(args, "degree");
    def.seed = (uint64_t)cli_count(args, "seed");
    def.along_constraints = cli_flag(args, "along-constraints");
    return def;
}

static bool is_wanted(const cli_args *args, const char *name)
{
    const char *const *names;
    const int n = cli_list(args, "path", &names);
    for (int k = 0; k < n; ++k) {
        if (strcmp(names[k], name) == 0) return true;
    }
    return n == 0;
}

// Every --path must be one of the model.
static int check_names(const cli_args *args, const cli_model *model)
{
    const char *const *names;
    const int n = cli_list(args, "path", &names);
    for (int k = 0; k < n; ++k) {
        if (tal_forces_find_path(model->forces, names[k]).i >= 0) continue;
        return cli_fail(args, CLI_USAGE, "there is no path '%s' in %s.", names[k], model->path);
    }
    return CLI_OK;
}

// A path without points is a function already; one that no coordinate moves needs none.
static bool can_fit(const cli_model *model, tal_path_ix path)
{
    return tal_path_num_points(model->forces, path) > 0 &&
           tal_path_coordinates(model->forces, path, NULL, 0) > 0;
}

// One path after the other. One that cannot be fitted stays as it is; only lack of memory ends it.
static int fit_all(const cli_args *args, const cli_model *model, fits *to)
{
    const tal_path_fit_def def = def_of(args);
    const int num = tal_forces_num_paths(model->forces);
    to->items = cli_alloc((size_t)num, sizeof *to->items);
    for (int i = 0; i < num; ++i) {
        const tal_path_ix path = {i};
        tal_error err = {0};
        if (!is_wanted(args, tal_path_name(model->forces, path)) || !can_fit(model, path)) continue;
        tal_path_fit fit;
        const tal_status st =
            tal_path_find_fit(model->system, model->forces, model->state, path, &def, &fit, &err);
        if (st == TAL_ERR_NO_MEMORY) return cli_fail_with(args, CLI_FAILED, &err);
        if (st == TAL_OK) {
            to->items[to->num++] = fit;
            if (!fit.is_within) ++to->num_bad;
        } else {
            cli_warn(args, "%s: it stays as it is.", err.message);
            ++to->num_bad;
        }
    }
    return CLI_OK;
}

static void name_arguments(report *r, const cli_model *model, const tal_path_fit *fit)
{
    char *names = cli_copy("");
    for (int k = 0; k < fit->num_at; ++k) {
        char name[TAL_COORDINATE_NAME_SIZE] = "";
        (void)tal_body_coordinate_name(model->matter, model->state, fit->at[k].body, fit->at[k].i,
                                       name);
        char *const more = cli_format("%s%s%s", names, k > 0 ? ", " : "", name);
        free(names);
        names = more;
    }
    report_cell_text(r, names);
    free(names);
}

// A row for each path: its polynomial, and how far that is off.
static void report_fits(const cli_args *args, const cli_model *model, const fits *found)
{
    static const char *const heads[] = {"path",    "coordinates", "degree",
                                        "terms",   "length rms",  "length max",
                                        "arm rms", "arm max",     "good"};
    report r;
    report_begin(&r, args);
    if (r.json && stream_out_path(args) != NULL) report_text(&r, "result", stream_out_path(args));
    report_table(&r, "paths", heads, 9);
    for (int i = 0; i < found->num; ++i) {
        const tal_path_fit *fit = &found->items[i];
        report_cell_text(&r, tal_path_name(model->forces, fit->path));
        name_arguments(&r, model, fit);
        report_cell_count(&r, fit->degree);
        report_cell_count(&r, fit->num_terms);
        report_cell_number(&r, fit->length_rms);
        report_cell_number(&r, fit->length_max);
        report_cell_number(&r, fit->arm_rms);
        report_cell_number(&r, fit->arm_max);
        report_cell_text(&r, fit->is_within ? "yes" : "no");
    }
    report_end_table(&r);
    report_end(&r);
}

// The model with the fits that are good enough; the other paths stay as they are.
static int write_fitted(const cli_args *args, const cli_model *model, const fits *found)
{
    tal_path_fit *const good = cli_alloc((size_t)found->num, sizeof *good);
    tal_model file = model->file;
    file.fits = good;
    for (int i = 0; i < found->num; ++i) {
        if (found->items[i].is_within) good[file.num_fits++] = found->items[i];
    }
    if (found->num_bad > 0) {
        cli_warn(args, "%d of the paths are not within the tolerances: they stay as they are.",
                 found->num_bad);
    }
    const int code = cli_model_write(args, &file, stream_out_path(args));
    free(good);
    return code;
}

static int fit_paths(const cli_args *args, const cli_model *model)
{
    int code = check_names(args, model);
    if (code == CLI_OK) code = cli_realize(args, model, model->state, TAL_STAGE_POSITION);
    if (code != CLI_OK) return code;
    fits found = {0};
    code = fit_all(args, model, &found);
    // -o - or --format alone: the model is what is printed
    const bool to_output = stream_out_path(args) == NULL && stream_out_name(args) != NULL;
    if (code == CLI_OK && !to_output && !stream_is_output(args) && report_is_wanted(args)) {
        report_fits(args, model, &found);
    }
    if (code == CLI_OK && (to_output || cli_is_given(args, "out"))) {
        code = write_fitted(args, model, &found);
    }
    for (int i = 0; i < found.num; ++i) {
        tal_function_destroy(found.items[i].length);
    }
    free(found.items);
    return code == CLI_OK && found.num_bad > 0 ? CLI_FAILED : code;
}

static int check_out(const cli_args *args)
{
    const char *const path = stream_out_path(args), *const name = stream_out_name(args);
    if (name == NULL || tal_file_kind_of(name, NULL, 0) == TAL_FILE_TALUS) return CLI_OK;
    if (path != NULL) {
        return cli_fail(args, CLI_USAGE, "-o %s should end with .talus: a model is written.", path);
    }
    return cli_fail(args, CLI_USAGE, "--format '%s' should be talus: a model is written.",
                    cli_text(args, "format"));
}

static int run(const cli_args *args)
{
    int code = check_out(args);
    if (code != CLI_OK) return code;
    cli_model model;
    code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = fit_paths(args, &model);
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {{.name = "tolerance",
                                      .kind = CLI_POSITIVE,
                                      .value = "METERS",
                                      .initial = "5e-4",
                                      .help = "largest RMS error of lengths"},
                                     {.name = "arm-tolerance",
                                      .kind = CLI_POSITIVE,
                                      .value = "METERS",
                                      .initial = "1e-3",
                                      .help = "largest RMS error of moment arms"},
                                     {.name = "degree",
                                      .kind = CLI_COUNT,
                                      .value = "NUMBER",
                                      .initial = "6",
                                      .help = "highest degree of the polynomials"},
                                     {.name = "path",
                                      .letter = 'p',
                                      .kind = CLI_LIST,
                                      .value = "NAME",
                                      .help = "only this path; can be repeated"},
                                     {.name = "along-constraints",
                                      .kind = CLI_FLAG,
                                      .help = "fit along what the constraints allow, to "
                                              "independent coordinates only"},
                                     {0}};

const cli_command cmd_paths = {
    .name = "paths",
    .group = CLI_MODELS,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "fit polynomials of coordinates to paths",
    .about =
        "Fits lengths and moment arms together, within the ranges of the coordinates, and prints the "
        "errors at other poses. The degree is the lowest within the tolerances. -o writes the model with "
        "polynomials in place of those paths. Paths without a good fit stay as they are, and the exit "
        "code is 1.",
    .common = MODEL_OPTIONS | CLI_SEED | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus paths leg.talus -o fast_leg.talus",
    .example_help = "a leg without obstacles",
    .run = run};
