// A small web server for one page: on the loopback address only, behind a secret in its address.
#ifndef TALUS_CLI_SERVER_H
#define TALUS_CLI_SERVER_H

#include "cli.h"
#include "viewer/http.h"

// What is answered. The body is borrowed until the call that gave it is over.
typedef struct server_answer {
    int status;
    const char *type; // of the body
    const void *body;
    size_t size;
    bool is_stream; // the answer stays open, and server_send() adds to it
} server_answer;

// Who answers: `path` is what follows the secret, "" for the page itself. Only requests that know
// the secret come here.
typedef server_answer (*server_answer_fn)(void *context, const char *path,
                                          const http_request *request);

typedef struct server server;

// Begin to listen, at `port` or at any free one when it is 0; NULL, and a sentence, on failure.
server *server_open(const cli_args *args, int port, server_answer_fn answer, void *context);
void server_close(server *it);

// The address to open, with the secret in it; borrowed.
const char *server_address(const server *it);

// Answer requests until a time on cli_clock(), or until the user wants to end.
void server_serve(server *it, double until);

// Add bytes to every open stream. A stream whose reader is behind gets none: no call waits.
void server_send(server *it, const void *bytes, size_t size);
bool server_has_streams(const server *it);

#endif // TALUS_CLI_SERVER_H
