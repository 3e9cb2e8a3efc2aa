// talus view: a page that shows a model and its motion, or the scene in another format.
#include "commands/commands.h"
#include "commands/scene_options.h"
#include "text/report.h"
#include "text/stream.h"
#include "viewer/live.h"
#include "viewer/page.h"
#include "viewer/scenes.h"

#include <stdlib.h>
#include <string.h>

// Where bytes go, and how many there were.
typedef struct target {
    const cli_args *args;
    const char *path; // "-": standard output
    size_t size;
    int frames, bodies; // in the file
    int code;
} target;

// All bytes come at once.
static bool take_bytes(void *context, const void *bytes, size_t size)
{
    target *const it = context;
    tal_error err = {0};
    it->size = size;
    it->code = cli_scene_check_size(it->args, size, it->frames, it->bodies);
    if (it->code != CLI_OK) return false;
    if (strcmp(it->path, "-") == 0) return fwrite(bytes, 1, size, stdout) == size;
    if (tal_file_write(it->path, bytes, size, &err) == TAL_OK) return true;
    it->code = cli_fail_with(it->args, CLI_BAD_FILE, &err);
    return false;
}

static void print_report(const cli_args *args, const target *to)
{
    report r;
    if (strcmp(to->path, "-") == 0) return;
    if (!cli_flag(args, "json")) {
        printf("%s\n", to->path);
        return;
    }
    report_begin(&r, args);
    report_text(&r, "file", to->path);
    report_count(&r, "bytes", (long)to->size);
    report_count(&r, "bodies", to->bodies);
    report_count(&r, "frames", to->frames);
    report_end(&r);
}

static int write_scene(const cli_args *args, const cli_scene *it, tal_scene_format format,
                       const char *path)
{
    const tal_scene_page page = cli_page();
    target to = {.args = args,
                 .path = path,
                 .frames = tal_scene_num_frames(it->scene),
                 .bodies = tal_matter_num_bodies(it->model.matter) - 1};
    tal_error err = {0};
    const tal_status st = tal_scene_write_to(it->scene, format, &page, take_bytes, &to, &err);
    if (to.code != CLI_OK) return to.code;
    if (st != TAL_OK) return cli_fail_with(args, CLI_FAILED, &err);
    print_report(args, &to);
    if (cli_flag(args, "open") && format == TAL_SCENE_HTML) cli_open(args, path);
    return CLI_OK;
}

// A live view, or a file in the format that its name says.
static int run(const cli_args *args)
{
    if (cli_flag(args, "live")) return live_run(args);
    const char *const name_of_format = stream_out_name(args);
    const char *const out =
        cli_is_given(args, "format") && !cli_is_given(args, "out") ? "-" : cli_text(args, "out");
    tal_scene_format format = TAL_SCENE_HTML;
    if (name_of_format != NULL && !tal_scene_format_of(name_of_format, &format)) {
        return stream_out_path(args) != NULL
                   ? cli_fail(args, CLI_USAGE, "--out '%s' should end with .html, .glb or .json.",
                              out)
                   : cli_fail(args, CLI_USAGE, "--format '%s' should be html, glb or json.",
                              cli_text(args, "format"));
    }
    if (format == TAL_SCENE_HTML && cli_page().text == NULL) return cli_fail_page(args);
    cli_scene it;
    int code = cli_scene_make(args, &it);
    if (code != CLI_OK) return code;
    char *const name = out != NULL ? cli_copy(out) : cli_scene_name(args, ".html");
    code = write_scene(args, &it, format, name);
    free(name);
    cli_scene_destroy(&it);
    return code;
}

static const cli_option options[] = {
    SCENE_OPTIONS,
    {.name = "live",
     .kind = CLI_FLAG,
     .help = "simulate the model while it is shown, with sliders for its params; Ctrl-C ends it"},
    {.name = "port",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "port of --live, on 127.0.0.1 only; default: any free port"},
    {.name = "open", .kind = CLI_FLAG, .help = "open the page in the browser"},
    {.name = "force", .kind = CLI_FLAG, .help = "write the file even if it has more than 200 MB"},
    {0}};

const cli_command cmd_view = {
    .name = "view",
    .group = CLI_RESULTS,
    .files = "MODEL [RESULT...]",
    .min_files = 1,
    .max_files = CLI_MAX_ARGS,
    .summary = "write a page that shows a model and its motion",
    .about =
        "The page is one file that opens in any browser, without a network. RESULT is a table that talus "
        "simulate, ik or another command wrote. The first file may be a result, whose header names its "
        "model. Several results are shown together. A .trc file adds measured markers to the result "
        "before it. Without a result each joint moves through its range. The name of -o ends with .html, "
        ".glb (glTF 2.0, for other drawing programs) or .json (doc/scene.md). --live writes no file: it "
        "simulates the model and prints the address of a page that shows it.",
    .common = MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus view swing.sto --open",
    .example_help = "a page, in the browser",
    .run = run};
