// A small web server for one page. It trusts nobody who can reach the loopback address: a request
// needs the secret of the address, the right Host (a foreign page that renames itself to 127.0.0.1
// has another one) and, to change something, the right Origin. Requests, connections and the time
// for each are bounded, and no call waits for a client.
#include "viewer/server.h"

#include "text/progress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_CONNECTIONS = 16,
    SECRET_BYTES = 16,
    MAX_REQUEST = HTTP_MAX_HEADER + HTTP_MAX_BODY
};

static const double patience = 10.0; // [s] for a request to come, and for bytes to be taken
static const double farewell = 1.0;  // [s] for the client to close after the last byte

// What a connection is doing.
typedef enum phase {
    FREE,
    READING, // a request
    WRITING, // an answer
    STREAMING,
    LEAVING // all is said; what still comes is thrown away
} phase;

typedef struct connection {
    phase phase;
    int socket;
    double deadline; // on cli_clock(); of streams while bytes wait
    double began;    // when it was accepted
    char *in;        // [MAX_REQUEST]
    size_t in_size;  // bytes of it
    char *out;       // [out_capacity] bytes to send, from out_at to out_size
    size_t out_at, out_size, out_capacity;
    bool is_stream; // what is being written begins a stream
} connection;

struct server {
    const cli_args *args;
    server_answer_fn answer;
    void *context;
    int socket;
    char hosts[2][32];   // 127.0.0.1:PORT and localhost:PORT
    char origins[2][40]; // the same with http://
    char secret[2 * SECRET_BYTES + 1];
    char address[96];
    connection list[MAX_CONNECTIONS];
};

// ---- opening

static bool make_secret(char secret[2 * SECRET_BYTES + 1])
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (int i = 0; i < SECRET_BYTES; ++i) {
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

static bool set_nonblocking(int socket)
{
    const int flags = fcntl(socket, F_GETFL, 0);
    return flags >= 0 && fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

// A socket that listens on 127.0.0.1, and its port; -1 on failure.
static int listen_at(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    const int one = 1, it = socket(AF_INET, SOCK_STREAM, 0);
    if (it < 0) return -1;
    (void)setsockopt(it, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(it, (struct sockaddr *)&at, sizeof at) != 0 || listen(it, MAX_CONNECTIONS) != 0 ||
        getsockname(it, (struct sockaddr *)&at, &size) != 0 || !set_nonblocking(it)) {
        (void)close(it);
        return -1;
    }
    *port = ntohs(at.sin_port);
    return it;
}

static void name_hosts(server *it, int port)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (int i = 0; i < 2; ++i) {
        snprintf(it->hosts[i], sizeof it->hosts[i], "%s:%d", names[i], port);
        snprintf(it->origins[i], sizeof it->origins[i], "http://%s", it->hosts[i]);
    }
    snprintf(it->address, sizeof it->address, "%s/%s/", it->origins[0], it->secret);
}

server *server_open(const cli_args *args, int port, server_answer_fn answer, void *context)
{
    server *const it = cli_alloc(1, sizeof *it);
    memset(it, 0, sizeof *it);
    it->args = args;
    it->answer = answer;
    it->context = context;
    const bool has_secret = make_secret(it->secret);
    it->socket = has_secret ? listen_at(&port) : -1;
    if (it->socket >= 0) {
        name_hosts(it, port);
        return it;
    }
    (void)cli_fail(args, CLI_FAILED,
                   has_secret ? "port %d of 127.0.0.1 cannot be listened at: %s."
                              : "there are no random numbers for a secret address (%d): %s.",
                   port, strerror(errno));
    free(it);
    return NULL;
}

const char *server_address(const server *it)
{
    return it->address;
}

// The empty chunk that ends a stream, so that the page does not take the end for a failure. Bytes
// that still wait would come before it: then there is no such end.
static void end_stream(connection *c)
{
    static const char end[] = "0\r\n\r\n";
    if (c->phase != STREAMING || c->out_at < c->out_size) return;
    (void)send(c->socket, end, sizeof end - 1, MSG_NOSIGNAL);
}

static void hang_up(connection *c)
{
    if (c->phase == FREE) return;
    (void)close(c->socket);
    free(c->in);
    free(c->out);
    *c = (connection){.phase = FREE};
}

void server_close(server *it)
{
    if (it == NULL) return;
    for (int i = 0; i < MAX_CONNECTIONS; ++i) {
        end_stream(&it->list[i]);
        hang_up(&it->list[i]);
    }
    (void)close(it->socket);
    free(it);
}

// ---- who may come in

// In a time that does not tell how many bytes are right.
static bool is_same_secret(const char *a, const char *b, size_t size)
{
    unsigned char differs = 0;
    for (size_t i = 0; i < size; ++i) {
        differs |= (unsigned char)(a[i] ^ b[i]);
    }
    return differs == 0;
}

static bool is_one_of(http_text text, const char *first, const char *second)
{
    return http_is(text, first) || http_is(text, second);
}

// What follows "/SECRET/" in the target, as text that ends with a zero; false: no secret, or more
// than a name.
static bool find_path(const server *it, http_text target, char path[32])
{
    const size_t before = 2 * SECRET_BYTES + 2;
    if (target.size < before || target.size - before >= 32 ||
        !is_same_secret(target.at + 1, it->secret, before - 2) || target.at[before - 1] != '/') {
        return false;
    }
    memcpy(path, target.at + before, target.size - before);
    path[target.size - before] = 0;
    return true;
}

static int check_request(const server *it, const http_request *r, char path[32])
{
    const bool is_post = http_is(r->method, "POST");
    if (!is_one_of(r->host, it->hosts[0], it->hosts[1])) return HTTP_FORBIDDEN;
    if (!find_path(it, r->target, path)) return HTTP_FORBIDDEN;
    if (!is_post && !http_is(r->method, "GET")) return HTTP_NOT_ALLOWED;
    if (is_post && (!is_one_of(r->origin, it->origins[0], it->origins[1]) ||
                    !http_is(r->type, "application/json"))) {
        return HTTP_FORBIDDEN;
    }
    return HTTP_OK;
}

// ---- answers

static void put(connection *c, const void *bytes, size_t size)
{
    if (c->out_at == c->out_size) c->out_at = c->out_size = 0;
    if (c->out_size + size > c->out_capacity) {
        c->out_capacity = 2 * (c->out_size + size);
        c->out = cli_resize(c->out, c->out_capacity, 1);
    }
    if (size > 0) memcpy(c->out + c->out_size, bytes, size);
    c->out_size += size;
}

static void put_chunk(connection *c, const void *bytes, size_t size)
{
    char head[32];
    if (size == 0) return; // an empty one would end the stream
    put(c, head, (size_t)snprintf(head, sizeof head, "%zx\r\n", size));
    put(c, bytes, size);
    put(c, "\r\n", 2);
}

// Nothing is kept, framed, guessed or passed on.
static void put_head(connection *c, const server_answer *a)
{
    char text[512], length[64];
    snprintf(length, sizeof length, "Content-Length: %zu", a->size);
    const int size = snprintf(text, sizeof text,
                              "HTTP/1.1 %d %s\r\n"
                              "Content-Type: %s\r\n"
                              "%s\r\n"
                              "Connection: close\r\n"
                              "Cache-Control: no-store\r\n"
                              "X-Content-Type-Options: nosniff\r\n"
                              "X-Frame-Options: DENY\r\n"
                              "Referrer-Policy: no-referrer\r\n"
                              "Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
                              a->status, http_reason(a->status), a->type,
                              a->is_stream ? "Transfer-Encoding: chunked" : length);
    put(c, text, (size_t)size);
}

static void put_answer(connection *c, const server_answer *a)
{
    put_head(c, a);
    if (a->is_stream) {
        put_chunk(c, a->body, a->size);
    } else {
        put(c, a->body, a->size);
    }
    c->is_stream = a->is_stream;
    c->phase = WRITING;
    c->deadline = cli_clock() + patience;
    free(c->in);
    c->in = NULL;
}

static void refuse(connection *c, int status)
{
    const char *const reason = http_reason(status);
    const server_answer a = {status, "text/plain", reason, strlen(reason), false};
    put_answer(c, &a);
}

static void answer_request(server *it, connection *c)
{
    http_request request;
    char path[32];
    int status = http_parse(c->in, c->in_size, &request);
    if (status == HTTP_UNFINISHED) return;
    if (status == HTTP_OK) status = check_request(it, &request, path);
    if (status != HTTP_OK) {
        refuse(c, status);
        return;
    }
    const server_answer a = it->answer(it->context, path, &request);
    if (a.status == HTTP_OK || a.status == HTTP_DONE) {
        put_answer(c, &a);
    } else {
        refuse(c, a.status);
    }
}

// ---- bytes in and out

static bool would_block(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static void read_request(server *it, connection *c)
{
    const ssize_t n = recv(c->socket, c->in + c->in_size, MAX_REQUEST - c->in_size, 0);
    if (would_block(n)) return;
    if (n <= 0) {
        hang_up(c);
        return;
    }
    c->in_size += (size_t)n;
    answer_request(it, c);
}

// What comes behind a request is of no interest, but its end is.
static void throw_away(connection *c)
{
    char bytes[4096];
    const ssize_t n = recv(c->socket, bytes, sizeof bytes, 0);
    if (n == 0 || (n < 0 && !would_block(n))) hang_up(c);
}

static void write_more(connection *c)
{
    const ssize_t n = send(c->socket, c->out + c->out_at, c->out_size - c->out_at, MSG_NOSIGNAL);
    if (would_block(n)) return;
    if (n <= 0) {
        hang_up(c);
        return;
    }
    c->out_at += (size_t)n;
    c->deadline = cli_clock() + patience;
    if (c->out_at < c->out_size) return;
    if (c->is_stream) {
        c->phase = STREAMING;
        return;
    }
    (void)shutdown(c->socket, SHUT_WR);
    c->phase = LEAVING;
    c->deadline = cli_clock() + farewell;
}

static bool has_bytes(const connection *c)
{
    return c->out_at < c->out_size;
}

// ---- connections

// A free place. When there is none, that of the client that has not shown a request for longest.
static connection *find_place(server *it)
{
    connection *oldest = NULL;
    for (int i = 0; i < MAX_CONNECTIONS; ++i) {
        connection *const c = &it->list[i];
        if (c->phase == FREE) return c;
        if (c->phase == STREAMING || c->is_stream) continue;
        if (oldest == NULL || c->began < oldest->began) oldest = c;
    }
    if (oldest != NULL) hang_up(oldest);
    return oldest;
}

static void accept_client(server *it)
{
    const int one = 1, client = accept(it->socket, NULL, NULL);
    if (client < 0) return;
    connection *const c = find_place(it);
    if (c == NULL || !set_nonblocking(client)) {
        (void)close(client);
        return;
    }
    (void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const double now = cli_clock();
    *c = (connection){.phase = READING,
                      .socket = client,
                      .deadline = now + patience,
                      .began = now,
                      .in = cli_alloc(MAX_REQUEST, 1)};
}

static short events_of(const connection *c)
{
    if (c->phase == READING || c->phase == LEAVING) return POLLIN;
    if (c->phase == WRITING || has_bytes(c)) return POLLOUT;
    return POLLIN; // a stream: its end
}

static void handle(server *it, connection *c, short found)
{
    if (c->phase == READING) {
        read_request(it, c);
    } else if (found & POLLOUT) {
        write_more(c);
    } else {
        throw_away(c);
    }
}

static void drop_late(server *it)
{
    const double now = cli_clock();
    for (int i = 0; i < MAX_CONNECTIONS; ++i) {
        connection *const c = &it->list[i];
        const bool waits = c->phase != FREE && (c->phase != STREAMING || has_bytes(c));
        if (waits && now > c->deadline) hang_up(c);
    }
}

// Wait for at most so long, and do what can be done.
static void serve_once(server *it, double seconds)
{
    struct pollfd polled[MAX_CONNECTIONS + 1];
    connection *clients[MAX_CONNECTIONS + 1];
    nfds_t n = 1;
    polled[0] = (struct pollfd){.fd = it->socket, .events = POLLIN};
    for (int i = 0; i < MAX_CONNECTIONS; ++i) {
        connection *const c = &it->list[i];
        if (c->phase == FREE) continue;
        clients[n] = c;
        polled[n++] = (struct pollfd){.fd = c->socket, .events = events_of(c)};
    }
    if (poll(polled, n, (int)(1000.0 * seconds + 0.5)) > 0) {
        for (nfds_t i = 1; i < n; ++i) {
            if (polled[i].revents != 0) handle(it, clients[i], polled[i].revents);
        }
        if (polled[0].revents != 0) accept_client(it);
    }
    drop_late(it);
}

void server_serve(server *it, double until)
{
    do {
        const double left = until - cli_clock();
        serve_once(it, left < 0.0 ? 0.0 : left < 0.2 ? left : 0.2);
    } while (cli_clock() < until && !cli_is_interrupted());
}

void server_send(server *it, const void *bytes, size_t size)
{
    for (int i = 0; i < MAX_CONNECTIONS; ++i) {
        connection *const c = &it->list[i];
        if (c->phase != STREAMING || has_bytes(c)) continue;
        put_chunk(c, bytes, size);
        c->deadline = cli_clock() + patience;
        write_more(c);
    }
}

bool server_has_streams(const server *it)
{
    for (int i = 0; i < MAX_CONNECTIONS; ++i) {
        if (it->list[i].phase == STREAMING || it->list[i].is_stream) return true;
    }
    return false;
}
