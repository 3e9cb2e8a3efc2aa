// Reading models: diagnostics, params, hash.
#include "model/model.h"

#include "text/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cli_print_diagnostics(const cli_args *args, tal_diagnostics *found)
{
    const int kept = tal_diagnostics_num(found);
    int errors = 0;
    for (int i = 0; i < kept; ++i) {
        char text[TAL_DIAGNOSTIC_SIZE];
        const tal_diagnostic *const it = tal_diagnostics_at(found, i);
        const bool is_error = it->severity == TAL_ERROR;
        if (is_error) ++errors;
        if (!is_error && cli_flag(args, "quiet")) continue;
        fprintf(stderr, "%s\n", tal_diagnostic_text(it, text));
    }
    const int more = tal_diagnostics_num_errors(found) - errors;
    if (more > 0 && kept < TAL_MAX_DIAGNOSTICS) {
        (void)cli_fail_status(args, CLI_BAD_FILE, TAL_ERR_NO_MEMORY); // there was none to keep them
    } else if (more > 0) {
        fprintf(stderr, "and %d more errors.\n", more);
    }
    tal_diagnostics_destroy(found);
}

char *cli_split(const char *text, const char **rest)
{
    const char *const equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == 0) return NULL;
    char *const name = cli_copy(text);
    name[equals - text] = 0;
    *rest = equals + 1;
    return name;
}

// FNV-1a of bytes, on top of a hash.
static uint64_t add_to_hash(uint64_t hash, const unsigned char bytes[], size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

// Of the model as it would be written, includes and meshes in it, and of all that the State holds.
// Where comments and blanks are makes no difference.
static tal_status find_hash(cli_model *model, tal_error *err)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t length = 0, room = 65536 + (size_t)512 * (size_t)tal_matter_num_bodies(model->matter);
    char *text = cli_alloc(room, 1);
    tal_status st = tal_model_write_memory(&model->file, NULL, text, room, &length, err);
    if (st == TAL_OK && length >= room) { // more than most models need
        room = length + 1;
        text = cli_resize(text, room, 1);
        st = tal_model_write_memory(&model->file, NULL, text, room, &length, err);
    }
    if (st == TAL_OK) hash = add_to_hash(hash, (const unsigned char *)text, length);
    free(text);
    if (st != TAL_OK) return st;
    const size_t size = tal_state_save_size(model->state);
    unsigned char *const bytes = cli_alloc(size, 1);
    st = tal_state_save(model->state, bytes, size);
    if (st == TAL_OK) hash = add_to_hash(hash, bytes, size);
    free(bytes);
    snprintf(model->hash, sizeof model->hash, "%016" PRIx64, hash);
    if (st != TAL_OK) *err = *tal_state_error(model->state);
    return st;
}

// NAME=VALUE of --set or --start; the name is owned by the caller.
static int read_param(const cli_args *args, const char *option, const char *text,
                      tal_model_param *param)
{
    const char *rest = NULL;
    param->name = cli_split(text, &rest);
    const char *const end = param->name != NULL ? tal_number_read(rest, NULL, &param->value) : NULL;
    if (end == NULL || *end != 0) {
        return cli_fail(args, CLI_USAGE, "--%s needs NAME=VALUE, not '%s'.", option, text);
    }
    return CLI_OK;
}

int cli_params_read(const cli_args *args, const char *option, const tal_model_param more[],
                    int num_more, cli_params *it)
{
    const char *const *texts = NULL;
    const int num = cli_list(args, option, &texts);
    it->list = cli_alloc((size_t)(num + num_more), sizeof *it->list);
    it->num = it->num_owned = 0;
    int code = CLI_OK;
    for (; it->num < num && code == CLI_OK; ++it->num) {
        code = read_param(args, option, texts[it->num], &it->list[it->num]);
    }
    it->num_owned = it->num;
    for (int i = 0; i < num_more; ++i) {
        it->list[it->num++] = more[i];
    }
    return code;
}

void cli_params_free(const cli_params *it)
{
    for (int i = 0; i < it->num_owned; ++i) {
        free((char *)it->list[i].name);
    }
    free(it->list);
}

// How a robot is read.
static tal_urdf_options robot_options(const cli_args *args)
{
    tal_urdf_options how = tal_urdf_options_default();
    how.free_base = cli_flag(args, "free-base");
    how.contact = cli_flag(args, "contact");
    how.colliders = cli_flag(args, "colliders");
    how.packages = cli_text(args, "packages");
    if (how.packages == NULL) how.packages = getenv("TALUS_PACKAGE_PATH");
    if (how.packages == NULL) how.packages = getenv("ROS_PACKAGE_PATH");
    return how;
}

// Read a .talus or .urdf file with these params and starts, and print what is wrong with it.
static int read_with(const cli_args *args, const char *path, const cli_params *params,
                     const cli_params *starts, cli_model *model)
{
    if (tal_file_kind_of(path, NULL, 0) == TAL_FILE_TABLE) {
        return cli_fail(
            args, CLI_BAD_FILE,
            "%s is a table, not a model; talus show, plot, convert and rerun take tables.", path);
    }
    const char *const real = stream_input(args, path);
    if (real == NULL) return CLI_BAD_FILE;
    tal_model_options options = tal_model_options_default();
    const tal_urdf_options robot = robot_options(args);
    options.params = params->list;
    options.num_params = params->num;
    options.starts = starts->list;
    options.num_starts = starts->num;
    options.any_inertia = cli_flag(args, "any-inertia");
    options.strict = cli_flag(args, "strict");
    options.approximate = cli_flag(args, "approximate");
    options.urdf = &robot;
    options.fixed_memory = cli_text(args, "formulation") != NULL;
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    const tal_status st = tal_model_read_any(real, &options, &model->file, found);
    model->status = st;
    if (st != TAL_OK && tal_diagnostics_num(found) < 1) {
        (void)cli_fail_file(args, path, st);
    }
    cli_print_diagnostics(args, found);
    if (st != TAL_OK) return st == TAL_ERR_BAD_VALUE ? CLI_USAGE : CLI_BAD_FILE; // of --set
    model->system = model->file.system;
    model->state = model->file.state;
    model->matter = model->file.matter;
    model->forces = model->file.forces;
    return CLI_OK;
}

int cli_model_read(const cli_args *args, const char *path, const tal_model_param more[],
                   int num_more, cli_model *model)
{
    memset(model, 0, sizeof *model);
    model->path = path;
    cli_params params, starts;
    int code = cli_params_read(args, "set", more, num_more, &params);
    const int start_code = cli_params_read(args, "start", NULL, 0, &starts);
    if (code == CLI_OK) code = start_code;
    if (code == CLI_OK) code = read_with(args, path, &params, &starts, model);
    tal_error err = {0};
    if (code == CLI_OK) model->status = find_hash(model, &err);
    if (code == CLI_OK && model->status != TAL_OK) {
        code = cli_fail_with(args, CLI_FAILED, &err);
    }
    cli_params_free(&params);
    cli_params_free(&starts);
    return code;
}

// As .osim: everything that it cannot say is listed.
static int write_osim(const cli_args *args, const tal_model *model, const char *path)
{
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    size_t size = 0;
    tal_status st = path != NULL ? tal_osim_write_file(model, path, found)
                                 : tal_osim_write_memory(model, NULL, 0, &size, found);
    cli_print_diagnostics(args, found);
    if (st != TAL_OK || path != NULL) return st == TAL_OK ? CLI_OK : CLI_FAILED;
    char *const text = cli_alloc(size + 1, 1);
    st = tal_osim_write_memory(model, text, size + 1, &size, NULL);
    const int code = st == TAL_OK ? stream_write(args, NULL, text, size) : CLI_FAILED;
    free(text);
    return code;
}

int cli_model_write(const cli_args *args, const tal_model *model, const char *path)
{
    const char *const name = path != NULL ? path : stream_out_name(args);
    if (name != NULL && tal_file_kind_of(name, NULL, 0) == TAL_FILE_OSIM) {
        return write_osim(args, model, path);
    }
    tal_error err = {0};
    size_t size = 0;
    if (path != NULL) {
        if (tal_model_write_file(model, NULL, path, &err) == TAL_OK) return CLI_OK;
        return cli_fail_with(args, CLI_FAILED, &err);
    }
    tal_status st = tal_model_write_memory(model, NULL, NULL, 0, &size, &err);
    char *const text = cli_alloc(size + 1, 1);
    if (st == TAL_OK) st = tal_model_write_memory(model, NULL, text, size + 1, &size, &err);
    const int code =
        st == TAL_OK ? stream_write(args, NULL, text, size) : cli_fail_with(args, CLI_FAILED, &err);
    free(text);
    return code;
}

void cli_model_destroy(cli_model *model)
{
    tal_model_destroy(&model->file);
}

int cli_realize(const cli_args *args, const cli_model *model, tal_state *state, tal_stage stage)
{
    if (tal_system_realize(model->system, state, stage) == TAL_OK) return CLI_OK;
    return cli_fail_with(args, CLI_FAILED, tal_state_error(state));
}

tal_state *cli_state_copy(const cli_args *args, const cli_model *model)
{
    tal_error err = {0};
    tal_state *state = NULL;
    tal_status st = tal_state_create(model->system, &state, &err);
    if (st == TAL_OK) {
        st = tal_state_copy(state, model->state);
        err = *tal_state_error(state);
    }
    if (st == TAL_OK) return state;
    (void)cli_fail_with(args, CLI_FAILED, &err);
    tal_state_destroy(state);
    return NULL;
}
