// talus generate: straight-line C for the dynamics of a model.
#include "commands/commands.h"
#include "model/model.h"
#include "text/report.h"
#include "text/stream.h"

#include <stdlib.h>
#include <string.h>

// What --function may name.
typedef struct function_name {
    const char *name;
    int bits;
} function_name;

static const function_name names[] = {
    {"forward_dynamics", TAL_GENERATE_FORWARD_DYNAMICS},
    {"inverse_dynamics", TAL_GENERATE_INVERSE_DYNAMICS},
    {"mass_matrix", TAL_GENERATE_MASS_MATRIX},
    {"jacobian", TAL_GENERATE_JACOBIAN},
    {"derivatives",
     TAL_GENERATE_INVERSE_DYNAMICS_DERIVATIVES | TAL_GENERATE_FORWARD_DYNAMICS_DERIVATIVES},
    {"all", TAL_GENERATE_ALL}};

// What is to be generated, and the texts it borrows.
typedef struct request {
    tal_generator_def def;
    char *prefix;
    tal_generator_station *stations;
    char **station_names;
} request;

static int read_functions(const cli_args *args, int *functions)
{
    *functions = 0;
    for (const char *at = cli_text(args, "function"); *at != 0;) {
        const size_t length = strcspn(at, ",");
        size_t i = 0;
        while (i < sizeof names / sizeof *names &&
               (strlen(names[i].name) != length || strncmp(names[i].name, at, length) != 0)) {
            ++i;
        }
        if (i == sizeof names / sizeof *names) {
            return cli_fail(args, CLI_USAGE,
                            "--function '%.*s' should be forward_dynamics, inverse_dynamics, "
                            "mass_matrix, jacobian, derivatives or all.",
                            (int)length, at);
        }
        *functions |= names[i].bits;
        at += length + (at[length] == ',' ? 1 : 0);
    }
    return CLI_OK;
}

// A name as C has it: letters, digits and _.
static char *identifier(const char *name, const char *end)
{
    char *const text = cli_format("%s%s", name, end);
    for (size_t i = 0; text[i] != 0; ++i) {
        const char c = text[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) text[i] = '_';
    }
    return text;
}

// BODY=X,Y,Z
static int read_station(const cli_args *args, const cli_model *model, const char *text,
                        tal_generator_station *station, char **owned)
{
    const char *place = NULL;
    char *const name = cli_split(text, &place);
    double p[3] = {0};
    const tal_body_ix body =
        name != NULL ? tal_matter_find_body(model->matter, name) : (tal_body_ix){-1};
    for (int i = 0; place != NULL && i < 3; ++i) {
        place = tal_number_read(place, NULL, &p[i]);
        if (place != NULL && *place == (i < 2 ? ',' : 0)) {
            ++place;
        } else {
            place = NULL;
        }
    }
    if (place == NULL || body.i < 0) {
        const int code = cli_fail(
            args, CLI_USAGE, "--station '%s' should be BODY=X,Y,Z%s, such as hand=0,0,0.1.", text,
            body.i < 0 && name != NULL ? " with a body of the model" : "");
        free(name);
        return code;
    }
    *owned = identifier(name, "");
    station->name = *owned;
    station->station = (tal_station){body, tal_v3(p[0], p[1], p[2])};
    free(name);
    return CLI_OK;
}

static int read_stations(const cli_args *args, const cli_model *model, request *it)
{
    const char *const *texts = NULL;
    const int n = cli_list(args, "station", &texts);
    it->stations = cli_alloc((size_t)n + 1, sizeof *it->stations);
    it->station_names = cli_alloc((size_t)n + 1, sizeof *it->station_names);
    it->def.stations = it->stations;
    int code = CLI_OK;
    for (int i = 0; i < n && code == CLI_OK; ++i) {
        code = read_station(args, model, texts[i], &it->stations[i], &it->station_names[i]);
        if (code == CLI_OK) ++it->def.num_stations;
    }
    const bool lacks_one = (it->def.functions & TAL_GENERATE_JACOBIAN) != 0 && n == 0 &&
                           it->def.functions != TAL_GENERATE_ALL;
    if (code == CLI_OK && lacks_one) {
        code = cli_fail(args, CLI_USAGE, "say by --station BODY=X,Y,Z whose Jacobian it is.");
    }
    if (code == CLI_OK && n > 0) it->def.functions |= TAL_GENERATE_JACOBIAN;
    return code;
}

static int read_request(const cli_args *args, const cli_model *model, request *it)
{
    *it = (request){.def = tal_generator_def_default()};
    int code = read_functions(args, &it->def.functions);
    if (code == CLI_OK) code = read_stations(args, model, it);
    const char *const prefix = cli_text(args, "prefix");
    char *const name = cli_format("%.30s", tal_system_name(model->system));
    it->prefix = prefix != NULL ? cli_copy(prefix) : identifier(name, "_");
    free(name);
    it->def.prefix = it->prefix;
    it->def.single_precision = cli_flag(args, "float");
    it->def.max_statements = cli_count(args, "part");
    return code;
}

static void free_request(request *it)
{
    for (int i = 0; i < it->def.num_stations; ++i) {
        free(it->station_names[i]);
    }
    free(it->station_names);
    free(it->stations);
    free(it->prefix);
}

// A row for each function: what it costs.
static void print_report(const cli_args *args, const tal_generator *gen, const char *path)
{
    static const char *const columns[] = {"function", "mul", "add", "div",
                                          "sqrt",     "sin", "cos", "stack"};
    report r;
    if (!report_is_wanted(args) && path != NULL) return;
    report_begin(&r, args);
    report_table(&r, "functions", columns, 8);
    for (int i = 0; i < tal_generator_num(gen); ++i) {
        const tal_operation_count n = tal_generator_count(gen, i);
        report_cell_text(&r, tal_generator_name(gen, i));
        report_cell_count(&r, n.mul);
        report_cell_count(&r, n.add);
        report_cell_count(&r, n.div);
        report_cell_count(&r, n.sqrt);
        report_cell_count(&r, n.sin);
        report_cell_count(&r, n.cos);
        report_cell_count(&r, n.stack);
    }
    report_end_table(&r);
    if (path != NULL) report_text(&r, "result", path);
    report_end(&r);
}

static bool is_c_file(const char *path)
{
    const size_t length = strlen(path);
    return length > 2 && strcmp(path + length - 2, ".c") == 0;
}

static int write_code(const cli_args *args, const tal_generator *gen, const char *path)
{
    char *const header = cli_format("%.*sh", (int)strlen(path) - 1, path);
    tal_error err = {0};
    int code = CLI_OK;
    if (tal_generator_write(gen, path, header, &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_BAD_FILE, &err);
    }
    free(header);
    return code;
}

static int generate(const cli_args *args, const cli_model *model, const char *path)
{
    request it;
    int code = read_request(args, model, &it);
    tal_generator *gen = NULL;
    tal_error err = {0};
    if (code == CLI_OK && tal_generator_create(model->matter, model->forces, model->state, &it.def,
                                               &gen, &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_FAILED, &err);
    }
    if (code == CLI_OK && path != NULL) code = write_code(args, gen, path);
    if (code == CLI_OK) print_report(args, gen, path);
    tal_generator_destroy(gen);
    free_request(&it);
    return code;
}

static int run(const cli_args *args)
{
    const char *const path = cli_text(args, "out");
    if (path != NULL && !is_c_file(path)) {
        return cli_fail(args, CLI_USAGE, "the name of -o should end with .c, which '%s' does not.",
                        path);
    }
    cli_model model;
    int code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = generate(args, &model, path);
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {
    {.name = "function",
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "forward_dynamics,inverse_dynamics,mass_matrix",
     .help = "what to generate, separated by commas: forward_dynamics, inverse_dynamics, "
             "mass_matrix, jacobian, derivatives, all"},
    {.name = "station",
     .kind = CLI_LIST,
     .value = "BODY=X,Y,Z",
     .help = "also generate the Jacobian of this point of a body [m]; can be repeated"},
    {.name = "prefix",
     .kind = CLI_TEXT,
     .value = "NAME",
     .help = "what the names of all functions begin with; default: the name of the model"},
    {.name = "float", .kind = CLI_FLAG, .help = "compute with float instead of double"},
    {.name = "part",
     .kind = CLI_COUNT,
     .value = "STATEMENTS",
     .initial = "400",
     .help = "cut functions into parts of so many statements, which compilers can cope with"},
    {0}};

const cli_command cmd_generate = {
    .name = "generate",
    .group = CLI_MODELS,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "write C code for the dynamics of one model",
    .about =
        "The code needs sin, cos and sqrt of libm, and nothing else: no Talus, no memory, no branches, "
        "no loops. It holds the values of the model, with those of --set; q, u and forces are "
        "arguments. The name of -o ends with .c, and a header is written beside it. Without -o it only "
        "says what the functions cost. Constraints, locks, contact, muscles and functions cannot be "
        "generated, and are refused by name.",
    .common = MODEL_OPTIONS | CLI_OUT | CLI_AGAIN,
    .options = options,
    .example = "talus generate pendulum.talus -o pendulum.c",
    .example_help = "forward and inverse dynamics, and the mass matrix",
    .run = run};
