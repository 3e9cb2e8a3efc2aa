// A headless Chromium: started as a child, asked through a pipe by messages of JSON that end with a
// zero byte (Chrome DevTools Protocol, --remote-debugging-pipe). No port is opened.
#include "viewer/chromium.h"

#include "text/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct chromium {
    const cli_args *args;
    pid_t child;
    int to, from; // ends of the pipes
    char *buffer; // [capacity] bytes that came and were not looked at yet
    size_t size, capacity;
    int next_id;
    char *session;
    char profile[64];
};

enum {
    PATIENCE = 120 // [s] for an answer
};

// ---- starting and ending

static const char *find_program(void)
{
    static const char *const places[] = {"/usr/bin/chromium-headless-shell", "/usr/bin/chromium",
                                         "/usr/bin/chromium-browser", "/usr/bin/google-chrome"};
    const char *const named = getenv("TALUS_CHROMIUM");
    if (named != NULL) return access(named, X_OK) == 0 ? named : NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        if (access(places[i], X_OK) == 0) return places[i];
    }
    return NULL;
}

// In the child: descriptors 3 and 4 are the pipes. SwiftShader draws without a graphics card.
static void become_browser(const char *program, int in, int out, const char *profile)
{
    char folder[96];
    snprintf(folder, sizeof folder, "--user-data-dir=%s", profile);
    const char *const argv[] = {program,
                                "--headless",
                                "--disable-gpu",
                                "--disable-quic",
                                "--no-first-run",
                                "--disable-background-networking",
                                "--disable-component-update",
                                "--disable-sync",
                                "--hide-scrollbars",
                                "--mute-audio",
                                "--use-gl=angle",
                                "--use-angle=swiftshader",
                                "--enable-unsafe-swiftshader",
                                "--remote-debugging-pipe",
                                folder,
                                geteuid() == 0 ? "--no-sandbox" : "about:blank",
                                "about:blank",
                                NULL};
    // away from 3 and 4 first, so that neither overwrites the other
    const int safe_in = fcntl(in, F_DUPFD, 10), safe_out = fcntl(out, F_DUPFD, 10);
    const int nothing = open("/dev/null", O_RDWR);
    if (safe_in < 0 || safe_out < 0 || nothing < 0 || dup2(nothing, 1) < 0 ||
        dup2(nothing, 2) < 0 || dup2(safe_in, 3) < 0 || dup2(safe_out, 4) < 0) {
        _exit(127);
    }
    (void)execv(program, (char *const *)argv);
    _exit(127);
}

static bool spawn(chromium *it, const char *program)
{
    int to[2], from[2];
    if (pipe(to) != 0) return false;
    if (pipe(from) != 0) {
        (void)close(to[0]);
        (void)close(to[1]);
        return false;
    }
    it->child = fork();
    if (it->child == 0) {
        (void)close(to[1]);
        (void)close(from[0]);
        become_browser(program, to[0], from[1], it->profile);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    it->to = to[1];
    it->from = from[0];
    return it->child > 0;
}

// ---- messages

static bool send_text(chromium *it, const char *text)
{
    size_t left = strlen(text) + 1; // with the zero
    while (left > 0) {
        const ssize_t n = write(it->to, text, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        left -= (size_t)n;
    }
    return true;
}

// Read what there is, within a time; false at the end.
static bool receive(chromium *it, double until)
{
    struct pollfd ready = {.fd = it->from, .events = POLLIN};
    while (cli_clock() < until && !cli_is_interrupted()) {
        if (poll(&ready, 1, 200) <= 0) continue;
        if (it->capacity - it->size < 65536) {
            it->capacity = 2 * it->capacity + 65536;
            it->buffer = cli_resize(it->buffer, it->capacity, 1);
        }
        const ssize_t n = read(it->from, it->buffer + it->size, it->capacity - it->size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        it->size += (size_t)n;
        return true;
    }
    return false;
}

// The next whole message; owned by the caller. NULL when none comes in time.
static char *next_message(chromium *it, double until)
{
    size_t looked = 0;
    while (true) {
        const char *const end =
            it->size > looked ? memchr(it->buffer + looked, 0, it->size - looked) : NULL;
        if (end != NULL) {
            char *const message = cli_copy(it->buffer);
            const size_t length = (size_t)(end - it->buffer) + 1;
            it->size -= length;
            memmove(it->buffer, it->buffer + length, it->size);
            return message;
        }
        looked = it->size;
        if (!receive(it, until)) return NULL;
    }
}

// The text behind "key":" up to the closing quote, escapes as they are; owned by the caller.
static char *text_behind(const char *message, const char *key)
{
    char *const mark = cli_format("\"%s\":\"", key);
    const char *const at = strstr(message, mark);
    const size_t skip = strlen(mark);
    free(mark);
    if (at == NULL) return NULL;
    const char *end = at + skip;
    while (*end != 0 && *end != '"') {
        end += *end == '\\' && end[1] != 0 ? 2 : 1;
    }
    return cli_format("%.*s", (int)(end - at - (ptrdiff_t)skip), at + skip);
}

// Call a method and wait for its answer; owned by the caller. NULL on failure.
static char *call(chromium *it, const char *method, const char *params)
{
    const int id = ++it->next_id;
    char *const text =
        it->session != NULL
            ? cli_format("{\"id\":%d,\"sessionId\":\"%s\",\"method\":\"%s\",\"params\":%s}", id,
                         it->session, method, params)
            : cli_format("{\"id\":%d,\"method\":\"%s\",\"params\":%s}", id, method, params);
    const bool sent = send_text(it, text);
    free(text);
    char mark[32];
    snprintf(mark, sizeof mark, "{\"id\":%d,", id);
    const double until = cli_clock() + PATIENCE;
    while (sent) {
        char *const message = next_message(it, until);
        if (message == NULL || strncmp(message, mark, strlen(mark)) == 0) return message;
        free(message); // an event
    }
    return NULL;
}

// The session of the one page that there is.
static bool attach(chromium *it)
{
    char *const targets = call(it, "Target.getTargets", "{}");
    const char *const page = targets != NULL ? strstr(targets, "\"type\":\"page\"") : NULL;
    const char *begin = page; // the name of a target stands before its type
    while (begin != NULL && begin > targets && strncmp(begin, "\"targetId\"", 10) != 0) {
        --begin;
    }
    char *const target = begin != NULL ? text_behind(begin, "targetId") : NULL;
    if (target != NULL) {
        char *const params = cli_format("{\"targetId\":\"%s\",\"flatten\":true}", target);
        char *const answer = call(it, "Target.attachToTarget", params);
        if (answer != NULL) it->session = text_behind(answer, "sessionId");
        free(answer);
        free(params);
    }
    free(target);
    free(targets);
    return it->session != NULL;
}

chromium *chromium_start(const cli_args *args)
{
    const char *const program = find_program();
    if (program == NULL) {
        (void)cli_fail(args, CLI_FAILED,
                       "pictures are drawn by Chromium, which is not here: install "
                       "chromium-headless-shell or chromium, or name one in TALUS_CHROMIUM.");
        return NULL;
    }
    chromium *const it = cli_alloc(1, sizeof *it);
    it->args = args;
    it->to = it->from = -1;
    snprintf(it->profile, sizeof it->profile, "/tmp/talus-chromium-XXXXXX");
    (void)signal(SIGPIPE, SIG_IGN);
    if (mkdtemp(it->profile) == NULL || !spawn(it, program) || !attach(it)) {
        (void)cli_fail(args, CLI_FAILED, "%s does not start.", program);
        chromium_stop(it);
        return NULL;
    }
    return it;
}

static void remove_folder(const char *path)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
        _exit(127);
    }
    if (child > 0) (void)waitpid(child, NULL, 0);
}

void chromium_stop(chromium *it)
{
    if (it->to >= 0) (void)close(it->to); // it ends by itself when its pipe is closed
    if (it->from >= 0) (void)close(it->from);
    for (int tries = 0; it->child > 0 && tries < 100; ++tries) {
        const pid_t ended = waitpid(it->child, NULL, WNOHANG);
        if (ended != 0) it->child = 0;
        if (tries == 60 && it->child > 0) (void)kill(it->child, SIGKILL);
        if (it->child > 0) (void)poll(NULL, 0, 50);
    }
    if (it->profile[0] != 0) remove_folder(it->profile);
    free(it->session);
    free(it->buffer);
    free(it);
}

// ---- pages

// Characters that JSON and addresses have to escape are in no expression of ours but quotes.
static char *quoted(const char *text)
{
    char *const out = cli_alloc(2 * strlen(text) + 1, 1);
    char *at = out;
    for (; *text != 0; ++text) {
        if (*text == '"' || *text == '\\') *at++ = '\\';
        *at++ = *text;
    }
    return out;
}

char *chromium_ask(chromium *it, const char *expression)
{
    char *const safe = quoted(expression);
    char *const wrapped =
        cli_format("{\"expression\":\"(async () => String(await (%s)))()\",\"returnByValue\":true,"
                   "\"awaitPromise\":true}",
                   safe);
    char *const answer = call(it, "Runtime.evaluate", wrapped);
    char *value = NULL;
    if (answer != NULL && strstr(answer, "\"exceptionDetails\"") == NULL) {
        value = text_behind(answer, "value");
    }
    if (value == NULL) {
        char *const why = answer != NULL ? text_behind(answer, "description") : NULL;
        (void)cli_fail(it->args, CLI_FAILED, "the browser does not answer%s%.200s",
                       why != NULL ? ": " : ".", why != NULL ? why : "");
        free(why);
    }
    free(answer);
    free(wrapped);
    free(safe);
    return value;
}

int chromium_open(chromium *it, const char *path)
{
    char *const params = cli_format("{\"url\":\"file://%s\"}", path);
    char *const answer = call(it, "Page.navigate", params);
    free(params);
    free(answer);
    for (int tries = 0; tries < 600 && !cli_is_interrupted(); ++tries) {
        char *const is_ready =
            chromium_ask(it, "Boolean(window.talusView && window.talusView.isReady)");
        const bool done = is_ready != NULL && strcmp(is_ready, "true") == 0;
        const bool broken = is_ready == NULL;
        free(is_ready);
        if (done) return CLI_OK;
        if (broken) return CLI_FAILED;
        (void)poll(NULL, 0, 50);
    }
    return cli_fail(it->args, CLI_FAILED, "the page does not become ready.");
}
