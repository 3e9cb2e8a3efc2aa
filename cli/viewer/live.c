// talus view --live: one loop steps the model and answers the browser. The run never waits for a
// browser: what a browser cannot take is left out.
#include "viewer/live.h"

#include "text/progress.h"
#include "text/report.h"
#include "viewer/live_model.h"
#include "viewer/orders.h"
#include "viewer/page.h"
#include "viewer/server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double frame_time = 1.0 / 60.0; // [s] from picture to picture
static const double slice = 1.0 / 30.0;      // [s] of stepping before the browser is looked after
static const double news = 0.25;             // [s] from one report to the next

// Kinds of messages in a stream.
enum {
    MESSAGE_FRAME = 1, // time, numbers of the scene, columns
    MESSAGE_NEWS = 2   // JSON
};

// Bytes that are kept for an answer or a message.
typedef struct bytes {
    char *at; // owned
    size_t size;
} bytes;

typedef struct live {
    const cli_args *args;
    server *server;
    live_model *model;
    bool is_paused;
    double speed;                 // simulated against real time
    double t0, clock0;            // simulated and real time where the speed counts from
    double t1, clock1;            // the same, for the factor that is reached
    double factor;                // that
    double slice_end;             // on cli_clock()
    int scene_number;             // counts what the model looked like
    bool has_frame;               // since the last one was sent
    double reported;              // on cli_clock()
    char why[256];                // why it stands still, or was refused; "": no reason
    bytes answer, frame, message; // until the next one
} live;

// ---- messages

static void put_message(FILE *out, int kind, const void *body, size_t size)
{
    const unsigned long length = (unsigned long)size;
    const unsigned char head[5] = {length & 0xff, length >> 8 & 0xff, length >> 16 & 0xff,
                                   length >> 24 & 0xff, (unsigned char)kind};
    (void)fwrite(head, 1, sizeof head, out);
    (void)fwrite(body, 1, size, out);
}

static FILE *begin_bytes(bytes *it)
{
    free(it->at);
    *it = (bytes){NULL, 0};
    return cli_need(open_memstream(&it->at, &it->size));
}

static void put_floats(FILE *out, const double values[], int n)
{
    for (int i = 0; i < n; ++i) {
        const float value = (float)values[i];
        (void)fwrite(&value, sizeof value, 1, out);
    }
}

// f64 time, f32 numbers, f32 columns but the time.
static bytes make_frame(live *it)
{
    const live_model *const model = it->model;
    bytes body = {NULL, 0};
    FILE *const out = begin_bytes(&body);
    const double t = tal_state_t(model->run.shown);
    (void)fwrite(&t, sizeof t, 1, out);
    put_floats(out, model->numbers, model->num_numbers);
    put_floats(out, model->row + 1, model->columns.num - 1);
    (void)fclose(out);
    FILE *const message = begin_bytes(&it->frame);
    put_message(message, MESSAGE_FRAME, body.at, body.size);
    (void)fclose(message);
    free(body.at);
    return it->frame;
}

static void put_slider(FILE *out, const slider *s)
{
    static const char *const groups[] = {"Parameters", "Coordinates", "Forces"};
    fputs("{\"name\":", out);
    json_text(out, s->name);
    fprintf(out, ",\"group\":\"%s\",\"low\":", groups[s->kind]);
    json_number(out, s->low);
    fputs(",\"high\":", out);
    json_number(out, s->high);
    fputs("}", out);
}

static void put_sliders(FILE *out, const live_model *model)
{
    fputs(",\"sliders\":[", out);
    for (int i = 0; i < model->num_sliders; ++i) {
        if (i > 0) fputs(",", out);
        put_slider(out, &model->sliders[i]);
    }
    fputs("]", out);
}

static void put_values(FILE *out, const live_model *model)
{
    fputs(",\"values\":[", out);
    for (int i = 0; i < model->num_sliders; ++i) {
        if (i > 0) fputs(",", out);
        json_number(out, live_model_value(model, i));
    }
    fputs("]", out);
}

// How the run is getting on; with the sliders to whom does not know them.
static bytes make_news(live *it, bool with_sliders)
{
    bytes body = {NULL, 0};
    FILE *const out = begin_bytes(&body);
    fprintf(out, "{\"paused\":%s,\"scene\":%d,\"speed\":", it->is_paused ? "true" : "false",
            it->scene_number);
    json_number(out, it->speed);
    fputs(",\"factor\":", out);
    json_number(out, it->factor);
    fputs(",\"why\":", out);
    json_text(out, it->why);
    if (with_sliders) put_sliders(out, it->model);
    put_values(out, it->model);
    fputs("}", out);
    (void)fclose(out);
    FILE *const message = begin_bytes(&it->message);
    put_message(message, MESSAGE_NEWS, body.at, body.size);
    (void)fclose(message);
    free(body.at);
    return it->message;
}

static void tell(live *it)
{
    const bytes message = make_news(it, false);
    server_send(it->server, message.at, message.size);
    it->reported = cli_clock();
}

// ---- the run

// Count the speed from here on.
static void begin_counting(live *it)
{
    it->t0 = it->t1 = tal_state_t(it->model->run.shown);
    it->clock0 = it->clock1 = cli_clock();
    it->factor = (double)NAN; // not known yet
}

static void stand_still(live *it, const char *why)
{
    it->is_paused = true;
    snprintf(it->why, sizeof it->why, "%s", why);
}

// A step may be followed by another one as long as the slice lasts.
static bool may_continue(void *context, double t)
{
    const live *const it = context;
    (void)t;
    return cli_clock() < it->slice_end && !cli_is_interrupted();
}

static void measure_factor(live *it)
{
    const double now = cli_clock(), t = tal_state_t(it->model->run.shown);
    if (now - it->clock1 < 0.5) return;
    it->factor = (t - it->t1) / (now - it->clock1);
    it->t1 = t;
    it->clock1 = now;
}

static void advance_to(live *it, double t)
{
    cli_run *const run = &it->model->run;
    it->slice_end = cli_clock() + slice;
    run->proceed = may_continue;
    run->context = it;
    tal_status st = cli_run_go(run, t);
    run->was_stopped = false;
    if (st == TAL_OK) st = live_model_look(it->model);
    if (st != TAL_OK) stand_still(it, run->error.message);
    if (run->has_ended) stand_still(it, "An event of the model has ended the run.");
    it->has_frame = true;
}

// To where the clock says; as far as the time allows.
static void follow_clock(live *it)
{
    const double wanted = it->t0 + it->speed * (cli_clock() - it->clock0);
    advance_to(it, wanted);
    if (tal_state_t(it->model->run.shown) < wanted) { // it is slower than that
        it->t0 = tal_state_t(it->model->run.shown);
        it->clock0 = cli_clock();
    }
    measure_factor(it);
}

static void look_again(live *it)
{
    if (live_model_look(it->model) != TAL_OK) stand_still(it, it->model->run.error.message);
    it->has_frame = true;
    begin_counting(it);
}

// ---- orders

// Another value of a <param>: the model is read again, and goes on where it was.
static void set_param(live *it, int index, double value)
{
    slider *const s = &it->model->sliders[index];
    const slider before = *s;
    live_model *fresh = NULL;
    s->is_changed = true;
    s->value = value;
    if (live_model_read(it->args, it->model, &fresh) == CLI_OK) {
        live_model_destroy(it->model);
        it->model = fresh;
        ++it->scene_number;
        return;
    }
    *s = before;
    snprintf(it->why, sizeof it->why, "%.60s cannot be %g: see the terminal.", before.name, value);
}

static void set_slider(live *it, int index, double value)
{
    if (it->model->sliders[index].kind == SLIDER_PARAM) {
        set_param(it, index, value);
    } else if (!live_model_set(it->model, index, value, it->why, sizeof it->why)) {
        it->is_paused = it->is_paused || it->model->run.error.status != TAL_OK;
    }
}

// False: it makes no sense.
static bool obey(live *it, const order *o)
{
    it->why[0] = 0;
    switch (o->kind) {
    case ORDER_PAUSE:
        it->is_paused = true;
        break;
    case ORDER_RESUME:
        it->is_paused = it->model->run.has_ended;
        break;
    case ORDER_STEP:
        it->is_paused = true;
        advance_to(it, tal_state_t(it->model->run.shown) + frame_time * it->speed);
        break;
    case ORDER_RESET:
        if (live_model_reset(it->model) != TAL_OK) stand_still(it, it->model->run.error.message);
        break;
    case ORDER_SPEED:
        it->speed = fmin(1e6, fmax(1e-6, o->value));
        break;
    case ORDER_SET:
        if (o->index >= it->model->num_sliders) return false;
        set_slider(it, o->index, o->value);
        break;
    }
    look_again(it);
    tell(it);
    return true;
}

// ---- answers

static bool take_bytes(void *context, const void *from, size_t size)
{
    return fwrite(from, 1, size, context) == size;
}

static bool write_scene(live *it, tal_scene_format format)
{
    const tal_scene_page page = cli_page();
    tal_error err = {0};
    FILE *const out = begin_bytes(&it->answer);
    const tal_status st =
        tal_scene_write_to(it->model->shown.scene, format, format == TAL_SCENE_HTML ? &page : NULL,
                           take_bytes, out, &err);
    (void)fclose(out);
    if (st != TAL_OK) (void)cli_fail_with(it->args, CLI_FAILED, &err);
    return st == TAL_OK;
}

// Put text in front of what the page has once.
static bool insert(bytes *page, const char *before, const char *text)
{
    char *const at = strstr(page->at, before);
    if (at == NULL) return false;
    char *const longer = cli_format("%.*s%s%s", (int)(at - page->at), page->at, text, at);
    free(page->at);
    *page = (bytes){longer, strlen(longer)};
    return true;
}

// The page of the viewer, which may send requests to this server only, and knows that it is live.
static server_answer answer_page(live *it)
{
    if (!write_scene(it, TAL_SCENE_HTML) ||
        !insert(&it->answer, "base-uri 'none'", "connect-src 'self'; ") ||
        !insert(&it->answer, "<noscript>", "<meta name=\"talus-live\">")) {
        return (server_answer){.status = HTTP_UNKNOWN};
    }
    return (server_answer){HTTP_OK, "text/html; charset=utf-8", it->answer.at, it->answer.size,
                           false};
}

static server_answer answer_scene(live *it)
{
    if (!write_scene(it, TAL_SCENE_JSON)) return (server_answer){.status = HTTP_UNKNOWN};
    return (server_answer){HTTP_OK, "application/json", it->answer.at, it->answer.size, false};
}

static server_answer answer_stream(live *it)
{
    FILE *const out = begin_bytes(&it->answer);
    const bytes first = make_news(it, true), frame = make_frame(it);
    (void)fwrite(first.at, 1, first.size, out);
    (void)fwrite(frame.at, 1, frame.size, out);
    (void)fclose(out);
    return (server_answer){HTTP_OK, "application/octet-stream", it->answer.at, it->answer.size,
                           true};
}

static server_answer answer_order(live *it, const http_request *request)
{
    order o;
    const bool good = order_read(request->body.at, request->body.size, &o) && obey(it, &o);
    return (server_answer){.status = good ? HTTP_DONE : HTTP_BAD, .type = "text/plain"};
}

static server_answer answer(void *context, const char *path, const http_request *request)
{
    live *const it = context;
    const bool is_post = http_is(request->method, "POST");
    const bool is_order = strcmp(path, "do") == 0;
    const bool is_known =
        is_order || path[0] == 0 || strcmp(path, "scene") == 0 || strcmp(path, "stream") == 0;
    if (!is_known) return (server_answer){.status = HTTP_NOT_FOUND};
    if (is_post != is_order) return (server_answer){.status = HTTP_NOT_ALLOWED};
    if (is_order) return answer_order(it, request);
    if (path[0] == 0) return answer_page(it);
    return strcmp(path, "scene") == 0 ? answer_scene(it) : answer_stream(it);
}

// ---- all of it

static void send_frame(live *it)
{
    if (it->has_frame && server_has_streams(it->server)) {
        const bytes message = make_frame(it);
        server_send(it->server, message.at, message.size);
    }
    it->has_frame = false;
    if (cli_clock() - it->reported > news) tell(it);
}

static void serve(live *it)
{
    begin_counting(it);
    while (!cli_is_interrupted()) {
        const double next = cli_clock() + frame_time;
        if (!it->is_paused) follow_clock(it);
        send_frame(it);
        server_serve(it->server, next);
    }
}

static int check_files(const cli_args *args)
{
    const char *const path = args->files[0];
    if (args->num_files != 1 || strcmp(path, "-") == 0 ||
        tal_file_kind_of(path, NULL, 0) == TAL_FILE_TABLE) {
        return cli_fail(args, CLI_USAGE, "--live takes one model file, and no results.");
    }
    if (cli_count(args, "port") > 65535) {
        return cli_fail(args, CLI_USAGE, "--port is at most 65535.");
    }
    return cli_page().text != NULL ? CLI_OK : cli_fail_page(args);
}

int live_run(const cli_args *args)
{
    live it = {.args = args, .speed = 1.0, .factor = (double)NAN};
    int code = check_files(args);
    if (code != CLI_OK) return code;
    code = live_model_read(args, NULL, &it.model);
    if (code == CLI_OK && live_model_look(it.model) != TAL_OK) {
        code = cli_fail_with(args, CLI_FAILED, &it.model->run.error);
    }
    if (code == CLI_OK) {
        it.server = server_open(args, cli_count(args, "port"), answer, &it);
        if (it.server == NULL) code = CLI_FAILED;
    }
    if (code == CLI_OK) {
        cli_catch_interrupts();
        printf("%s\n", server_address(it.server));
        (void)fflush(stdout);
        if (!cli_flag(args, "quiet")) fputs("Open it in a browser; Ctrl-C ends it.\n", stderr);
        if (cli_flag(args, "open")) cli_open(args, server_address(it.server));
        serve(&it);
    }
    server_close(it.server);
    live_model_destroy(it.model);
    free(it.answer.at);
    free(it.frame.at);
    free(it.message.at);
    return code;
}
