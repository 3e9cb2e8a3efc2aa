// Scenes from the files of a command line.
#include "viewer/scenes.h"

#include "table/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_table(const char *path)
{
    return tal_file_kind_of(path, NULL, 0) == TAL_FILE_TABLE;
}

static bool is_markers(const char *path)
{
    tal_table_format format = TAL_TABLE_STO;
    return tal_table_format_of(path, &format) && format == TAL_TABLE_TRC;
}

// What stands before the last slash; "" without one. Owned by the caller.
static char *folder_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL ? cli_format("%.*s", (int)(slash - path), path) : cli_copy("");
}

// ---- the model

// The model that a result names: as it was named, or from the folder of the result.
static int find_model(const cli_args *args, const char *path, const tal_table *result, char **out)
{
    char *const named = result_value(result, RESULT_FILE "_1");
    if (named == NULL) {
        return cli_fail(args, CLI_USAGE,
                        "%s does not say which model it is of: name the model first.", path);
    }
    *out = named;
    if (named[0] == '/' || access(named, R_OK) == 0) return CLI_OK;
    char *const folder = folder_of(path);
    char *const beside = cli_format("%s%s%s", folder, folder[0] != 0 ? "/" : "", named);
    free(folder);
    if (access(beside, R_OK) == 0) {
        *out = beside;
        free(named);
        return CLI_OK;
    }
    free(beside);
    *out = NULL;
    (void)cli_fail(args, CLI_BAD_FILE,
                   "%s was made from the model %s, which is not found: name the model first.", path,
                   named);
    free(named);
    return CLI_BAD_FILE;
}

// The values of <param>s that a result was made with. Names are owned by the caller.
static int result_params(const tal_table *result, tal_model_param params[CLI_MAX_OPTIONS])
{
    int n = 0;
    for (int k = 1; result != NULL && k <= CLI_MAX_OPTIONS; ++k) {
        char key[64];
        const char *rest = NULL;
        snprintf(key, sizeof key, RESULT_OPTION "_set_%d", k);
        char *const text = result_value(result, key);
        if (text == NULL) break;
        params[n].name = cli_split(text, &rest);
        if (params[n].name != NULL && tal_number_read(rest, NULL, &params[n].value) != NULL) ++n;
        free(text);
    }
    return n;
}

static int read_model(const cli_args *args, const tal_table *result, cli_scene *it)
{
    tal_model_param params[CLI_MAX_OPTIONS] = {{0}};
    const int n = result_params(result, params);
    const int code = cli_model_read(args, it->model_path, params, n, &it->model);
    for (int i = 0; i < n; ++i) {
        free((char *)params[i].name);
    }
    return code;
}

static void warn_of_change(const cli_args *args, const cli_scene *it, const char *path,
                           const tal_table *result)
{
    const char *const hash = tal_table_header(result, RESULT_MODEL_HASH);
    if (hash == NULL || strcmp(hash, it->model.hash) == 0) return;
    cli_warn(args, "%s was made with another version of %s.", path, it->model_path);
}

// ---- the scene

static int choose_up(const cli_args *args, tal_vec3 *up)
{
    const char *const text = cli_text(args, "up");
    if (text == NULL) return CLI_OK;
    static const char *const names[] = {"x", "y", "z"};
    for (int k = 0; k < 3; ++k) {
        if (strcmp(text, names[k]) == 0) *up = tal_v3_axis((tal_axis)k);
    }
    return tal_v3_norm(*up) > 0.0 ? CLI_OK
                                  : cli_fail(args, CLI_USAGE, "--up is x, y or z, not '%s'.", text);
}

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') ++at;
        if (strncmp(at, word, length) == 0 && (at[length] == 0 || at[length] == ',')) return true;
    }
    return false;
}

// Names that --show takes: a mistake in one is not overlooked.
static int check_show(const cli_args *args, const char *list)
{
    static const char layers[] = "forces,reactions,centers,inertia,frames,names,trails,surfaces";
    for (const char *at = list; at != NULL && *at != 0;) {
        const size_t length = strcspn(at, ",");
        char *const word = cli_format("%.*s", (int)length, at);
        const bool is_layer = has_word(layers, word);
        const int code =
            is_layer ? CLI_OK
                     : cli_fail(args, CLI_USAGE, "--show: there is no layer '%s'; choose from %s.",
                                word, layers);
        free(word);
        if (!is_layer) return code;
        at += at[length] == ',' ? length + 1 : length;
    }
    return CLI_OK;
}

// A scene of the model with the options of the command line, without any run.
static int begin_scene(const cli_args *args, tal_diagnostics *found, cli_scene *it)
{
    tal_scene_options options = tal_scene_options_default();
    tal_error err = {0};
    int code = choose_up(args, &options.up);
    if (code == CLI_OK) code = check_show(args, cli_text(args, "show"));
    if (code != CLI_OK) return code;
    char *const folder = folder_of(it->model_path);
    options.title = cli_text(args, "title");
    options.max_frames = cli_count(args, "frames");
    // a live run chooses the columns of its table
    options.columns = cli_flag(args, "live") ? NULL : cli_text(args, "columns");
    options.show = cli_text(args, "show");
    options.reactions = has_word(options.show, "reactions");
    options.folder = folder;
    options.found = found;
    if (options.max_frames < 2) {
        code = cli_fail(args, CLI_USAGE, "--frames is at least 2.");
    } else if (tal_scene_create(&it->model.file, &options, &it->scene, &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_FAILED, &err);
    }
    free(folder);
    return code;
}

// What a run is called: its file without folder and extension. Owned by the caller.
static char *run_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    char *const name = cli_copy(slash != NULL ? slash + 1 : path);
    char *const dot = strrchr(name, '.');
    if (dot != NULL && dot > name) *dot = 0;
    return name;
}

static int add_result(const cli_args *args, cli_scene *it, const char *path, const tal_table *table)
{
    tal_error err = {0};
    char *const name = run_name(path);
    const tal_status st = is_markers(path) ? tal_scene_add_markers(it->scene, table, &err)
                                           : tal_scene_add_run(it->scene, name, table, &err);
    free(name);
    return st == TAL_OK ? CLI_OK : cli_fail(args, CLI_BAD_FILE, "%s: %s.", path, err.message);
}

static int add_results(const cli_args *args, cli_scene *it, int first, const tal_table *begun)
{
    tal_error err = {0};
    const bool has_run = first < args->num_files && !is_markers(args->files[first]);
    if (!has_run && tal_scene_add_ranges(it->scene, &err) != TAL_OK) {
        return cli_fail_with(args, CLI_FAILED, &err);
    }
    int code = CLI_OK;
    for (int i = first; i < args->num_files && code == CLI_OK; ++i) {
        tal_table *table = NULL;
        if (i > first) code = result_read(args, args->files[i], &table);
        const tal_table *const given = i > first ? table : begun;
        if (code == CLI_OK && !is_markers(args->files[i])) {
            warn_of_change(args, it, args->files[i], given);
        }
        if (code == CLI_OK) code = add_result(args, it, args->files[i], given);
        tal_table_destroy(table);
    }
    return code;
}

int cli_scene_make(const cli_args *args, cli_scene *out)
{
    memset(out, 0, sizeof *out);
    const int first = is_table(args->files[0]) ? 0 : 1;
    tal_table *begun = NULL;
    int code = CLI_OK;
    if (first < args->num_files) code = result_read(args, args->files[first], &begun);
    if (code == CLI_OK && first == 1) out->model_path = cli_copy(args->files[0]);
    if (code == CLI_OK && first == 0) {
        code = find_model(args, args->files[0], begun, &out->model_path);
    }
    if (code == CLI_OK) code = read_model(args, begun, out);
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    if (code == CLI_OK) code = begin_scene(args, found, out);
    if (code == CLI_OK) code = add_results(args, out, first, begun);
    cli_print_diagnostics(args, found);
    tal_table_destroy(begun);
    if (code != CLI_OK) cli_scene_destroy(out);
    return code;
}

int cli_scene_begin(const cli_args *args, const char *path, const tal_model_param params[],
                    int num_params, cli_scene *out)
{
    memset(out, 0, sizeof *out);
    out->model_path = cli_copy(path);
    int code = cli_model_read(args, path, params, num_params, &out->model);
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    if (code == CLI_OK) code = begin_scene(args, found, out);
    cli_print_diagnostics(args, found);
    if (code != CLI_OK) cli_scene_destroy(out);
    return code;
}

int cli_scene_check_size(const cli_args *args, size_t bytes, int frames, int bodies)
{
    static const size_t large = 20000000, too_large = 200000000;
    const size_t MB = bytes / 1000000;
    if (bytes > too_large && !cli_flag(args, "force")) {
        return cli_fail(args, CLI_FAILED,
                        "the file would have %zu MB, for %d frames of %d bodies: choose fewer "
                        "--frames or --columns, or take it with --force.",
                        MB, frames, bodies);
    }
    if (bytes > large) {
        cli_warn(args,
                 "the file has %zu MB, for %d frames of %d bodies; fewer --frames or --columns "
                 "make it smaller.",
                 MB, frames, bodies);
    }
    return CLI_OK;
}

void cli_scene_destroy(cli_scene *it)
{
    tal_scene_destroy(it->scene);
    cli_model_destroy(&it->model);
    free(it->model_path);
    memset(it, 0, sizeof *it);
}

char *cli_scene_name(const cli_args *args, const char *extension)
{
    const int first = args->num_files > 1 && !is_table(args->files[0]) ? 1 : 0;
    char *const name = run_name(args->files[first]);
    char *const with = cli_format("%s%s", name, extension);
    free(name);
    return with;
}

void cli_open(const cli_args *args, const char *what)
{
    const pid_t child = fork();
    if (child == 0) {
        // twice, so that no one waits for the browser
        if (fork() == 0) {
            (void)execlp("xdg-open", "xdg-open", what, (char *)NULL);
            (void)execlp("open", "open", what, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0) (void)waitpid(child, NULL, 0);
    if (child < 0) cli_warn(args, "the browser cannot be started; open %s yourself.", what);
}
