// talus render: pictures and films of a model and its motion, drawn by a headless Chromium.
#include "commands/commands.h"
#include "commands/scene_options.h"
#include "text/progress.h"
#include "text/report.h"
#include "text/stream.h"
#include "viewer/apng.h"
#include "viewer/chromium.h"
#include "viewer/page.h"
#include "viewer/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What is wanted.
typedef struct wish {
    const cli_args *args;
    const char *path; // or a name that ends as the format does, for standard output
    int width, height;
    double at, fps, speed;
} wish;

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int read_size(const cli_args *args, wish *it)
{
    const char *const text = cli_text(args, "size");
    const char *const x = strchr(text, 'x');
    const bool good = x != NULL && tal_integer_read(text, x, &it->width) == x &&
                      tal_integer_read(x + 1, NULL, &it->height) != NULL && it->width >= 16 &&
                      it->height >= 16 && it->width <= 7680 && it->height <= 4320;
    if (!good) {
        return cli_fail(args, CLI_USAGE,
                        "--size is WIDTHxHEIGHT, from 16x16 to 7680x4320, not '%s'.", text);
    }
    it->width -= it->width % 2; // films need even numbers
    it->height -= it->height % 2;
    return CLI_OK;
}

// ---- bytes

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Bytes of a file.
typedef struct content {
    unsigned char *at; // owned
    size_t size;
} content;

// What base64 stands for.
static content read_base64(const char *text)
{
    content it = {cli_alloc(strlen(text) / 4 * 3 + 3, 1), 0};
    unsigned group = 0;
    int bits = 0;
    for (; *text != 0 && digit_of(*text) >= 0; ++text) {
        group = group << 6 | (unsigned)digit_of(*text);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        it.at[it.size++] = (unsigned char)(group >> bits & 0xff);
    }
    return it;
}

// Write bytes to a file, or to standard output if -o says so; an exit code.
static int write_content(const wish *it, const char *path, const void *bytes, size_t size)
{
    return stream_write(it->args, stream_out_path(it->args) != NULL ? path : NULL, bytes, size);
}

// ---- pictures and films

// A PNG file of a time; an exit code.
static int ask_picture(const wish *it, chromium *browser, double time, content *out)
{
    char number[TAL_NUMBER_SIZE];
    (void)tal_number_write(time, number);
    char *const ask =
        cli_format("(talusView.setTime(%s), talusView.png(%d, %d))", number, it->width, it->height);
    char *const url = chromium_ask(browser, ask);
    free(ask);
    if (url == NULL) return CLI_FAILED;
    const char *const comma = strchr(url, ',');
    if (comma != NULL) *out = read_base64(comma + 1);
    free(url);
    return comma != NULL ? CLI_OK : cli_fail(it->args, CLI_FAILED, "no picture came back.");
}

static int draw_picture(const wish *it, chromium *browser, double time, const char *path)
{
    content picture = {NULL, 0};
    int code = ask_picture(it, browser, time, &picture);
    if (code == CLI_OK) code = write_content(it, path, picture.at, picture.size);
    free(picture.at);
    return code;
}

// A number that the page knows.
static double page_number(chromium *browser, const char *expression)
{
    double value = (double)NAN;
    char *const text = chromium_ask(browser, expression);
    if (text != NULL) (void)tal_number_read(text, NULL, &value);
    free(text);
    return value;
}

// What to do with the picture of a frame; an exit code.
typedef int (*frame_fn)(const wish *it, chromium *browser, int frame, double time, void *context);

// All frames of the run, at the speed and the rate that are wanted.
static int draw_frames(const wish *it, chromium *browser, frame_fn draw, void *context)
{
    const double first = page_number(browser, "talusView.span.first");
    const double last = page_number(browser, "talusView.span.last");
    if (!isfinite(first) || !isfinite(last)) return CLI_FAILED;
    const int count = (int)fmin(1e6, fmax(1.0, round((last - first) / it->speed * it->fps)));
    progress bar;
    progress_begin(&bar, it->args, "pictures", false, 0.0, count);
    int code = CLI_OK;
    for (int i = 0; i < count && code == CLI_OK; ++i) {
        code = draw(it, browser, i, first + i * it->speed / it->fps, context);
        if (code == CLI_OK && !progress_tell(&bar, i + 1)) {
            code = cli_fail(it->args, CLI_FAILED, "interrupted after %d pictures.", i + 1);
        }
    }
    progress_end(&bar, count);
    return code;
}

// A file with a number in its name, %04d or alike.
static int draw_numbered(const wish *it, chromium *browser, int frame, double time, void *context)
{
    (void)context;
    const char *const mark = strchr(it->path, '%'), *const end = strchr(mark, 'd');
    const int digits = mark[1] == '0' && end == mark + 3 ? mark[2] - '0' : 1;
    char *const name =
        cli_format("%.*s%0*d%s", (int)(mark - it->path), it->path, digits, frame, end + 1);
    const int code = draw_picture(it, browser, time, name);
    free(name);
    return code;
}

static int add_to_apng(const wish *it, chromium *browser, int frame, double time, void *context)
{
    (void)frame;
    content picture = {NULL, 0};
    int code = ask_picture(it, browser, time, &picture);
    if (code == CLI_OK && !apng_add(context, picture.at, picture.size)) {
        code = cli_fail(it->args, CLI_FAILED, "a picture is not a PNG file, or has another size.");
    }
    free(picture.at);
    return code;
}

static int draw_apng(const wish *it, chromium *browser)
{
    apng film = apng_begin(it->fps);
    int code = draw_frames(it, browser, add_to_apng, &film);
    apng_end(&film);
    if (code == CLI_OK) code = write_content(it, it->path, film.at, film.size);
    apng_free(&film);
    return code;
}

static int draw_film(const wish *it, chromium *browser)
{
    char fps[TAL_NUMBER_SIZE], speed[TAL_NUMBER_SIZE];
    (void)tal_number_write(it->fps, fps);
    (void)tal_number_write(it->speed, speed);
    char *const ask =
        cli_format("talusView.mp4(%s, %s, %d, %d)", fps, speed, it->width, it->height);
    char *const base64 = chromium_ask(browser, ask);
    free(ask);
    if (base64 == NULL) return CLI_FAILED;
    const content film = read_base64(base64);
    free(base64);
    const int code = write_content(it, it->path, film.at, film.size);
    free(film.at);
    return code;
}

static int draw(const wish *it, chromium *browser)
{
    if (ends_with(it->path, ".mp4")) return draw_film(it, browser);
    if (ends_with(it->path, ".apng")) return draw_apng(it, browser);
    if (strchr(it->path, '%') != NULL) return draw_frames(it, browser, draw_numbered, NULL);
    double time = it->at;
    if (!isfinite(time)) time = page_number(browser, "talusView.span.first");
    return isfinite(time) ? draw_picture(it, browser, time, it->path) : CLI_FAILED;
}

// The page as a file, for as long as the browser needs it.
static int draw_page(const wish *it, const cli_scene *scene)
{
    const tal_scene_page page = cli_page();
    char path[] = "/tmp/talus-page-XXXXXX.html";
    tal_error err = {0};
    const int file = mkstemps(path, 5);
    if (file < 0) return cli_fail(it->args, CLI_FAILED, "there is no place for the page in /tmp.");
    (void)close(file);
    int code = CLI_OK;
    if (tal_scene_write_file(scene->scene, TAL_SCENE_HTML, &page, path, &err) != TAL_OK) {
        code = cli_fail_with(it->args, CLI_FAILED, &err);
    }
    chromium *const browser = code == CLI_OK ? chromium_start(it->args) : NULL;
    if (browser == NULL) code = CLI_FAILED;
    if (code == CLI_OK) code = chromium_open(browser, path);
    if (code == CLI_OK) code = draw(it, browser);
    if (browser != NULL) chromium_stop(browser);
    (void)unlink(path);
    return code;
}

static int check_wish(const cli_args *args, const char *path)
{
    const char *const mark = path != NULL ? strchr(path, '%') : NULL;
    const bool has_number =
        mark != NULL &&
        (mark[1] == 'd' || (mark[1] == '0' && mark[2] >= '1' && mark[2] <= '9' && mark[3] == 'd'));
    const bool is_known = path != NULL && (ends_with(path, ".png") || ends_with(path, ".apng") ||
                                           ends_with(path, ".mp4"));
    if (!is_known && stream_out_path(args) == NULL && cli_is_given(args, "format")) {
        return cli_fail(args, CLI_USAGE, "--format '%s' should be png, apng or mp4.",
                        cli_text(args, "format"));
    }
    if (!is_known || (mark != NULL && !has_number)) {
        return cli_fail(args, CLI_USAGE,
                        "--out is a .png, many of them (frames/%%04d.png), an .apng or an .mp4; "
                        "--format for standard output is png, apng or mp4.");
    }
    const double fps = cli_number(args, "fps");
    if (fps >= 0.02 && fps <= 1000.0) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "--fps is from 0.02 to 1000, not %g.", fps);
}

static void say_where(const wish *it)
{
    if (!cli_flag(it->args, "json")) {
        if (!cli_flag(it->args, "quiet")) printf("%s\n", it->path);
        return;
    }
    report r;
    report_begin(&r, it->args);
    report_text(&r, "result", it->path);
    report_count(&r, "width", it->width);
    report_count(&r, "height", it->height);
    report_end(&r);
}

static int run(const cli_args *args)
{
    wish it = {.args = args,
               .path = stream_out_name(args),
               .at = cli_number(args, "at"),
               .fps = cli_number(args, "fps"),
               .speed = cli_number(args, "speed")};
    int code = check_wish(args, it.path);
    if (code == CLI_OK) code = read_size(args, &it);
    if (code != CLI_OK) return code;
    if (cli_page().text == NULL) return cli_fail_page(args);
    cli_catch_interrupts();
    cli_scene scene;
    code = cli_scene_make(args, &scene);
    if (code != CLI_OK) return code;
    code = draw_page(&it, &scene);
    cli_scene_destroy(&scene);
    if (code == CLI_OK && stream_out_path(args) != NULL) say_where(&it);
    return code;
}

static const cli_option options[] = {{.name = "at",
                                      .kind = CLI_NUMBER,
                                      .value = "SECONDS",
                                      .help = "time of a picture; default: the start of the run"},
                                     {.name = "fps",
                                      .kind = CLI_POSITIVE,
                                      .value = "NUMBER",
                                      .initial = "30",
                                      .help = "pictures for each second of a film"},
                                     {.name = "speed",
                                      .kind = CLI_POSITIVE,
                                      .value = "NUMBER",
                                      .initial = "1",
                                      .help = "seconds of the run in each second of a film"},
                                     {.name = "size",
                                      .kind = CLI_TEXT,
                                      .value = "WIDTHxHEIGHT",
                                      .initial = "1280x720",
                                      .help = "pixels"},
                                     SCENE_OPTIONS,
                                     {0}};

const cli_command cmd_render = {
    .name = "render",
    .group = CLI_RESULTS,
    .files = "MODEL [RESULT...]",
    .min_files = 1,
    .max_files = CLI_MAX_ARGS,
    .summary = "draw pictures or a film of a model",
    .about =
        "Takes the same files as talus view. The name of -o ends with .png, .apng or .mp4. With a number "
        "in it (frames/%04d.png) there is a file for each picture of the film. Chromium draws them at exact "
        "times, without a window: Debian's package chromium-headless-shell is enough.",
    .common = MODEL_OPTIONS | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus render swing.sto --at 0.8 -o swing.png",
    .example_help = "one moment",
    .run = run};
