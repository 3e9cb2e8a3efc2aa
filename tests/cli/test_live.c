// talus view --live without a browser: requests, who may ask, clients that stall or lie, orders,
// and the model behind it.
#include "text/progress.h"
#include "viewer/http.h"
#include "viewer/live_model.h"
#include "viewer/orders.h"
#include "viewer/server.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- requests

static int parse(const char *text, http_request *out)
{
    return http_parse(text, strlen(text), out);
}

START_TEST(a_request_is_read_when_it_is_complete)
{
    static const char text[] = "POST /a/do HTTP/1.1\r\nHost: localhost:1\r\nX-Other:\r\n"
                               "content-TYPE:  application/json \r\nContent-Length: 3\r\n\r\nabc";
    http_request r;
    for (size_t n = 0; n < strlen(text); ++n) {
        ck_assert_int_eq(http_parse(text, n, &r), HTTP_UNFINISHED);
    }
    ck_assert_int_eq(parse(text, &r), HTTP_OK);
    ck_assert(http_is(r.method, "POST") && http_is(r.target, "/a/do"));
    ck_assert(http_is(r.host, "localhost:1") && http_is(r.type, "application/json"));
    ck_assert(http_is(r.body, "abc") && r.origin.at == NULL);
}

END_TEST

START_TEST(what_is_no_request_is_refused)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"\r\n\r\n", HTTP_BAD},
        {"GET\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/2.0\r\n\r\n", HTTP_BAD},
        {"GET  / HTTP/1.1\r\n\r\n", HTTP_BAD},
        {"GET http://a/ HTTP/1.1\r\n\r\n", HTTP_BAD},
        {"GET /\x01 HTTP/1.1\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\nHost: a\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\r\n folded: a\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\r\nContent-Length: 3, 3\r\n\r\n", HTTP_BAD},
        {"GET / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", HTTP_LARGE_BODY},
        {"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", HTTP_LARGE_BODY},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", HTTP_UNKNOWN}};

    http_request r;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_msg(parse(cases[i].text, &r) == cases[i].status, "case %zu", i);
    }
    static char large[HTTP_MAX_HEADER];
    memset(large, 'a', sizeof large);
    ck_assert_int_eq(http_parse(large, sizeof large - 1, &r), HTTP_UNFINISHED);
    ck_assert_int_eq(http_parse(large, sizeof large, &r), HTTP_LARGE_HEADER);
}

END_TEST

// ---- orders

START_TEST(orders_are_read)
{
    order o;
    const char *const set = " { \"value\" : -2.5e1 ,\"index\":7, \"do\":\"set\"} \n";
    ck_assert(order_read(set, strlen(set), &o));
    ck_assert_int_eq(o.kind, ORDER_SET);
    ck_assert_int_eq(o.index, 7);
    ck_assert_double_eq(o.value, -25.0);
    ck_assert(order_read("{\"do\":\"reset\"}", 14, &o) && o.kind == ORDER_RESET);
    static const char *const wrong[] = {"",
                                        "{",
                                        "{}",
                                        "[]",
                                        "{\"do\":\"fly\"}",
                                        "{\"do\":\"\"}",
                                        "{\"do\":3}",
                                        "{\"do\":\"set\"}",
                                        "{\"do\":\"set\",\"value\":1}",
                                        "{\"do\":\"set\",\"index\":-1,\"value\":1}",
                                        "{\"do\":\"set\",\"index\":0.5,\"value\":1}",
                                        "{\"do\":\"set\",\"index\":1e9,\"value\":1}",
                                        "{\"do\":\"set\",\"index\":0,\"value\":nan}",
                                        "{\"do\":\"set\",\"index\":0,\"value\":1e999}",
                                        "{\"do\":\"speed\"}",
                                        "{\"do\":\"pause\"",
                                        "{\"do\":\"pause\"}x",
                                        "{\"do\":\"pause\",}",
                                        "{\"other\":1,\"do\":\"pause\"}",
                                        "{\"do\\u0000\":\"pause\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        ck_assert_msg(!order_read(wrong[i], strlen(wrong[i]), &o), "%s", wrong[i]);
    }
    for (size_t n = 0; n + 3 < strlen(set); ++n) {
        ck_assert(!order_read(set, n, &o));
    }
}

END_TEST

// ---- the server

static const char *const view_line[] = {"view", "--live", "-q", "elbow.talus"};

static cli_args arguments(int argc, const char *const argv[])
{
    cli_args args;
    ck_assert_int_eq(cli_parse(argc, argv, &args), CLI_OK);
    return args;
}

enum {
    PAGE_SIZE = 3000000 // more than a socket takes at once
};

static char page[PAGE_SIZE];
static int orders_seen;

static server_answer answer(void *context, const char *path, const http_request *request)
{
    (void)context;
    if (strcmp(path, "stream") == 0) return (server_answer){HTTP_OK, "text/plain", "hi", 2, true};
    if (strcmp(path, "do") == 0) {
        ++orders_seen;
        return (server_answer){.status = request->body.size > 0 ? HTTP_DONE : HTTP_BAD,
                               .type = "text/plain"};
    }
    if (path[0] != 0) return (server_answer){.status = HTTP_NOT_FOUND};
    return (server_answer){HTTP_OK, "text/plain", page, sizeof page, false};
}

static int port_of(const server *it)
{
    return atoi(strrchr(server_address(it), ':') + 1);
}

static const char *secret_of(const server *it)
{
    return strchr(server_address(it) + 7, '/'); // with both slashes
}

static int connect_at(const char *ip, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    ck_assert_int_eq(inet_pton(AF_INET, ip, &at.sin_addr), 1);
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(client, 0);
    if (connect(client, (struct sockaddr *)&at, sizeof at) != 0) {
        (void)close(client);
        return -1;
    }
    ck_assert_int_eq(fcntl(client, F_SETFL, O_NONBLOCK), 0);
    return client;
}

static void serve_a_little(server *it)
{
    server_serve(it, cli_clock() + 0.01);
}

// All that comes until the server closes, or `most` bytes; owned by the caller.
static char *receive(server *it, int client, size_t most)
{
    char *const text = calloc(most + 1, 1);
    size_t size = 0;
    while (size < most) {
        const ssize_t n = recv(client, text + size, most - size, 0);
        if (n > 0) size += (size_t)n;
        if (n == 0) break;
        if (n < 0 && errno != EAGAIN) break;
        if (n < 0) serve_a_little(it);
    }
    return text;
}

// A request from a client of its own; the status.
static int ask(server *it, const char *fmt, ...)
{
    char text[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    const int client = connect_at("127.0.0.1", port_of(it));
    ck_assert_int_eq(send(client, text, strlen(text), 0), (ssize_t)strlen(text));
    char *const said = receive(it, client, 4000);
    int status = -1;
    ck_assert_int_eq(sscanf(said, "HTTP/1.1 %d", &status), 1);
    ck_assert_ptr_nonnull(strstr(said, "X-Content-Type-Options: nosniff"));
    ck_assert_ptr_nonnull(strstr(said, "Cache-Control: no-store"));
    ck_assert_ptr_nonnull(strstr(said, "Referrer-Policy: no-referrer"));
    ck_assert_ptr_nonnull(strstr(said, "X-Frame-Options: DENY"));
    free(said);
    (void)close(client);
    return status;
}

START_TEST(only_who_knows_the_secret_is_answered)
{
    const cli_args args = arguments(4, view_line);
    server *const it = server_open(&args, 0, answer, NULL);
    const int port = port_of(it);
    char other[64];
    snprintf(other, sizeof other, "%s", secret_of(it));
    other[5] = other[5] == 'a' ? 'b' : 'a';
    const char *const right = secret_of(it);
    ck_assert_uint_eq(strlen(right), 34); // 128 bits
#define HOST "Host: 127.0.0.1:%d\r\n\r\n"
    ck_assert_int_eq(ask(it, "GET %s HTTP/1.1\r\n" HOST, right, port), HTTP_OK);
    ck_assert_int_eq(ask(it, "GET %s HTTP/1.1\r\nHost: localhost:%d\r\n\r\n", right, port),
                     HTTP_OK);
    ck_assert_int_eq(ask(it, "GET %s HTTP/1.1\r\n" HOST, other, port), HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, "GET / HTTP/1.1\r\n" HOST, port), HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, "GET %.33s HTTP/1.1\r\n" HOST, right, port), HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, "GET %snothing HTTP/1.1\r\n" HOST, right, port), HTTP_NOT_FOUND);
    ck_assert_int_eq(ask(it, "GET %s../../etc/passwd HTTP/1.1\r\n" HOST, right, port),
                     HTTP_NOT_FOUND);
    ck_assert_int_eq(
        ask(it, "GET %s0123456789012345678901234567890123456789 HTTP/1.1\r\n" HOST, right, port),
        HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, "DELETE %s HTTP/1.1\r\n" HOST, right, port), HTTP_NOT_ALLOWED);
    ck_assert_int_eq(ask(it, "nonsense\r\n\r\n"), HTTP_BAD);

    // a foreign page that calls itself 127.0.0.1 sends its own name as Host
    ck_assert_int_eq(ask(it, "GET %s HTTP/1.1\r\nHost: evil.example:%d\r\n\r\n", right, port),
                     HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", right, port + 1),
                     HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, "GET %s HTTP/1.1\r\n\r\n", right), HTTP_FORBIDDEN);
    server_close(it);
}

END_TEST

START_TEST(orders_need_the_right_origin_and_type)
{
    const cli_args args = arguments(4, view_line);
    server *const it = server_open(&args, 0, answer, NULL);
    const int port = port_of(it);
    const char *const right = secret_of(it);
#define POST                                                                                       \
    "POST %sdo HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 2\r\nOrigin: %s:%d\r\n"           \
    "Content-Type: %s\r\n\r\n{}"
    const char *const own = "http://127.0.0.1", *const json = "application/json";
    orders_seen = 0;
    ck_assert_int_eq(ask(it, POST, right, port, own, port, json), HTTP_DONE);
    ck_assert_int_eq(ask(it, POST, right, port, "http://localhost", port, json), HTTP_DONE);
    ck_assert_int_eq(orders_seen, 2);
    ck_assert_int_eq(ask(it, POST, right, port, "http://evil.example", port, json), HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, POST, right, port, "https://127.0.0.1", port, json), HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, POST, right, port, own, port + 1, json), HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, POST, right, port, own, port, "text/plain"), HTTP_FORBIDDEN);
    ck_assert_int_eq(ask(it, "POST %sdo HTTP/1.1\r\n" HOST, right, port), HTTP_FORBIDDEN);
    ck_assert_int_eq(orders_seen, 2);
    server_close(it);
}

END_TEST

START_TEST(large_answers_arrive_whole)
{
    const cli_args args = arguments(4, view_line);
    server *const it = server_open(&args, 0, answer, NULL);
    for (size_t i = 0; i < sizeof page; ++i) {
        page[i] = (char)('a' + i * 7 % 26);
    }
    char text[256];
    const int client = connect_at("127.0.0.1", port_of(it));
    const int size = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                              secret_of(it), port_of(it));
    for (int i = 0; i < size; ++i) { // byte by byte
        ck_assert_int_eq(send(client, text + i, 1, 0), 1);
        if (i % 16 == 0) serve_a_little(it);
    }
    char *const said = receive(it, client, sizeof page + 2000);
    const char *const body = strstr(said, "\r\n\r\n") + 4;
    ck_assert_uint_eq(strlen(body), sizeof page);
    ck_assert_int_eq(memcmp(body, page, sizeof page), 0);
    free(said);
    (void)close(client);
    server_close(it);
}

END_TEST

// Clients that say nothing, half a request, or never read, as many as there are places and more:
// who comes after them is answered.
START_TEST(clients_that_stall_keep_nobody_out)
{
    const cli_args args = arguments(4, view_line);
    server *const it = server_open(&args, 0, answer, NULL);
    const int port = port_of(it);
    char text[256];
    const int size = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                              secret_of(it), port);
    int stalled[40];
    for (int i = 0; i < 40; ++i) {
        stalled[i] = connect_at("127.0.0.1", port);
        const int part = i % 3 == 0 ? 0 : i % 3 == 1 ? size / 2 : size;
        if (part > 0) ck_assert_int_eq(send(stalled[i], text, (size_t)part, 0), part);
        serve_a_little(it);
    }
    ck_assert_int_eq(
        ask(it, "GET %snothing HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", secret_of(it), port),
        HTTP_NOT_FOUND);
    for (int i = 0; i < 40; ++i) {
        (void)close(stalled[i]);
    }
    serve_a_little(it);
    server_close(it);
}

END_TEST

START_TEST(a_stream_that_is_not_read_is_left_out)
{
    const cli_args args = arguments(4, view_line);
    server *const it = server_open(&args, 0, answer, NULL);
    const int lazy = connect_at("127.0.0.1", port_of(it));
    const int good = connect_at("127.0.0.1", port_of(it));
    char text[256];
    const int size =
        snprintf(text, sizeof text, "GET %sstream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                 secret_of(it), port_of(it));
    ck_assert_int_eq(send(lazy, text, (size_t)size, 0), size);
    ck_assert_int_eq(send(good, text, (size_t)size, 0), size);
    while (!server_has_streams(it)) {
        serve_a_little(it);
    }
    for (int i = 0; i < 5; ++i) {
        serve_a_little(it);
    }
    // far more than sockets hold; no call waits, and what is kept is one message for each stream
    size_t received = 0;
    bool has_begun = false;
    char bytes[65536];
    for (int i = 0; i < 200; ++i) {
        server_send(it, page, 100000);
        for (ssize_t n = 1; n > 0;) {
            n = recv(good, bytes, sizeof bytes, 0);
            if (n > 0) received += (size_t)n;
            if (n > 0 && !has_begun) has_begun = memcmp(bytes, "HTTP/1.1 200", 12) == 0;
        }
        if (i % 4 == 0) serve_a_little(it);
    }
    ck_assert(has_begun);
    ck_assert_uint_gt(received, 2000000); // the other reader did not hold it up
    size_t kept = 0; // of 20 MB: what sockets hold, 10 MB at most, and a message
    for (int i = 0; i < 50; ++i) {
        for (ssize_t n = 1; n > 0;) {
            n = recv(lazy, bytes, sizeof bytes, 0);
            if (n > 0) kept += (size_t)n;
        }
        serve_a_little(it);
    }
    ck_assert_uint_lt(kept, 15000000);
    (void)close(lazy);
    (void)close(good);
    while (server_has_streams(it)) { // a closed tab is noticed
        serve_a_little(it);
        server_send(it, page, 100);
    }
    server_close(it);
}

END_TEST

// A page whose stream only breaks off reports an error of the network.
START_TEST(a_server_that_closes_ends_its_streams)
{
    const cli_args args = arguments(4, view_line);
    server *const it = server_open(&args, 0, answer, NULL);
    const int client = connect_at("127.0.0.1", port_of(it));
    char text[1024];
    const int size =
        snprintf(text, sizeof text, "GET %sstream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                 secret_of(it), port_of(it));
    ck_assert_int_eq(send(client, text, (size_t)size, 0), size);
    while (!server_has_streams(it)) {
        serve_a_little(it);
    }
    serve_a_little(it);
    server_close(it);
    size_t received = 0;
    for (ssize_t n = 1; n > 0; received += (size_t)(n > 0 ? n : 0)) {
        n = recv(client, text + received, sizeof text - 1 - received, 0);
    }
    text[received] = '\0';
    static const char end[] = "2\r\nhi\r\n0\r\n\r\n";
    ck_assert_uint_gt(received, sizeof end);
    ck_assert_str_eq(text + received - (sizeof end - 1), end);
    (void)close(client);
}

END_TEST

START_TEST(nothing_listens_at_other_addresses)
{
    const cli_args args = arguments(4, view_line);
    server *const it = server_open(&args, 0, answer, NULL);
    struct ifaddrs *all = NULL;
    ck_assert_int_eq(getifaddrs(&all), 0);
    for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next) {
        char ip[INET_ADDRSTRLEN] = "";
        if (a->ifa_addr == NULL || a->ifa_addr->sa_family != AF_INET) continue;
        const struct sockaddr_in *const at = (const struct sockaddr_in *)(const void *)a->ifa_addr;
        (void)inet_ntop(AF_INET, &at->sin_addr, ip, sizeof ip);
        if (strcmp(ip, "127.0.0.1") != 0) ck_assert_int_eq(connect_at(ip, port_of(it)), -1);
    }
    freeifaddrs(all);
    ck_assert_int_eq(connect_at("127.0.0.2", port_of(it)), -1);

    // two runs have two secrets; a port that is taken is refused
    server *const second = server_open(&args, 0, answer, NULL);
    ck_assert_str_ne(secret_of(it), secret_of(second));
    ck_assert_ptr_null(server_open(&args, port_of(it), answer, NULL));
    server_close(second);
    server_close(it);
}

END_TEST

// ---- the model

static int find_slider(const live_model *it, const char *name)
{
    for (int i = 0; i < it->num_sliders; ++i) {
        if (strcmp(it->sliders[i].name, name) == 0) return i;
    }
    ck_abort_msg("there is no slider '%s'", name);
    return -1;
}

static live_model *read_elbow(const cli_args *args)
{
    live_model *it = NULL;
    ck_assert_int_eq(live_model_read(args, NULL, &it), CLI_OK);
    return it;
}

static const char elbow_path[] = TALUS_SOURCE_DIR "/examples/models/elbow.talus";
static const char *const elbow_line[] = {"view", "--live", "-q", elbow_path, "-s", "load=2"};

START_TEST(params_read_the_model_again_and_go_on_where_it_was)
{
    const cli_args args = arguments(6, elbow_line);
    live_model *const it = read_elbow(&args);
    const int load = find_slider(it, "load");
    ck_assert_double_eq(live_model_value(it, load), 2.0);
    ck_assert_double_eq(it->sliders[load].low, 0.0);
    ck_assert_double_eq(it->sliders[load].high, 4.0);
    ck_assert_int_eq(cli_run_go(&it->run, 0.25), TAL_OK);
    it->sliders[load].is_changed = true;
    it->sliders[load].value = 3.5;
    live_model *later = NULL;
    ck_assert_int_eq(live_model_read(&args, it, &later), CLI_OK);
    ck_assert_double_eq(live_model_value(later, load), 3.5);
    ck_assert_double_eq(later->sliders[load].high, 4.0); // sliders stay as long as they were
    ck_assert_double_eq(tal_state_t(later->run.state), 0.25);
    ck_assert_int_eq(memcmp(tal_state_q(it->run.shown), tal_state_q(later->run.state),
                            (size_t)tal_state_nq(it->run.shown) * sizeof(double)),
                     0);
    live_model_destroy(it);
    live_model_destroy(later);
}

END_TEST

START_TEST(coordinates_and_forces_are_set_in_the_state)
{
    const cli_args args = arguments(6, elbow_line);
    live_model *const it = read_elbow(&args);
    char why[256] = "";
    const int flexion = find_slider(it, "flexion");
    const double begin = live_model_value(it, flexion);
    ck_assert_int_eq(cli_run_go(&it->run, 0.1), TAL_OK);
    ck_assert(live_model_set(it, flexion, 0.75, why, sizeof why));
    ck_assert_double_eq_tol(live_model_value(it, flexion), 0.75, 1e-12);
    ck_assert_double_eq(tal_state_t(it->run.shown), 0.1); // time goes on
    const int stiffness = find_slider(it, "biceps.stiffness");
    ck_assert(live_model_set(it, stiffness, 123.0, why, sizeof why));
    ck_assert_double_eq(live_model_value(it, stiffness), 123.0);
    ck_assert(!live_model_set(it, stiffness, -1.0, why, sizeof why)); // the element refuses it
    ck_assert_ptr_nonnull(strstr(why, "biceps"));
    ck_assert_double_eq(live_model_value(it, stiffness), 123.0);
    ck_assert_int_eq(live_model_reset(it), TAL_OK);
    ck_assert_double_eq_tol(live_model_value(it, flexion), begin, 1e-12);
    ck_assert_double_eq(live_model_value(it, stiffness), 123.0); // what was set stays
    ck_assert_double_eq(tal_state_t(it->run.shown), 0.0);
    live_model_destroy(it);
}

END_TEST

START_TEST(what_is_shown_is_where_the_bodies_are)
{
    const cli_args args = arguments(6, elbow_line);
    live_model *const it = read_elbow(&args);
    ck_assert_int_eq(cli_run_go(&it->run, 0.2), TAL_OK);
    ck_assert_int_eq(live_model_look(it), TAL_OK);
    const tal_matter *const matter = it->shown.model.matter;
    ck_assert_int_ge(it->num_numbers, 7 * (tal_matter_num_bodies(matter) - 1));
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const double *const n = it->numbers + (size_t)7 * (size_t)(b - 1);
        const tal_quat h = {n[3], n[4], n[5], n[6]};
        const tal_xform X_PB = {tal_rotation_from_qt(h), {n[0], n[1], n[2]}};
        const tal_xform X_GP = tal_body_X_GB(matter, it->run.shown, tal_body_parent(matter, body));
        const tal_vec3 p = tal_xf_mul(X_GP, X_PB).p;
        const tal_vec3 wanted = tal_body_X_GB(matter, it->run.shown, body).p;
        ck_assert_double_le(tal_v3_norm(tal_v3_sub(p, wanted)), 1e-14);
    }
    ck_assert_double_eq(it->row[0], 0.2);
    live_model_destroy(it);
}

END_TEST

int main(void)
{
    TCase *const all = tcase_create("live");
    tcase_set_timeout(all, 120.0);
    tcase_add_test(all, a_request_is_read_when_it_is_complete);
    tcase_add_test(all, what_is_no_request_is_refused);
    tcase_add_test(all, orders_are_read);
    tcase_add_test(all, only_who_knows_the_secret_is_answered);
    tcase_add_test(all, orders_need_the_right_origin_and_type);
    tcase_add_test(all, large_answers_arrive_whole);
    tcase_add_test(all, clients_that_stall_keep_nobody_out);
    tcase_add_test(all, a_stream_that_is_not_read_is_left_out);
    tcase_add_test(all, a_server_that_closes_ends_its_streams);
    tcase_add_test(all, nothing_listens_at_other_addresses);
    tcase_add_test(all, params_read_the_model_again_and_go_on_where_it_was);
    tcase_add_test(all, coordinates_and_forces_are_set_in_the_state);
    tcase_add_test(all, what_is_shown_is_where_the_bodies_are);
    Suite *const suite = suite_create("live");
    suite_add_tcase(suite, all);
    SRunner *const runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
