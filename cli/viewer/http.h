// Requests of browsers: HTTP/1.1, as little of it as a page of the viewer needs.
#ifndef TALUS_CLI_HTTP_H
#define TALUS_CLI_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HTTP_MAX_HEADER = 8192, // bytes of a request before its body
    HTTP_MAX_BODY = 65536
};

// Status codes.
enum {
    HTTP_UNFINISHED = 0, // none: more bytes are needed
    HTTP_OK = 200,
    HTTP_DONE = 204, // nothing to say
    HTTP_BAD = 400,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_NOT_ALLOWED = 405,
    HTTP_LARGE_BODY = 413,
    HTTP_LARGE_HEADER = 431,
    HTTP_UNKNOWN = 501
};

// Bytes of a request, borrowed from it.
typedef struct http_text {
    const char *at; // NULL: not there
    size_t size;
} http_text;

typedef struct http_request {
    http_text method, target, host, origin, type, length; // `type` is that of the body
    http_text body;
} http_request;

// Understand a request: [size] bytes that came so far. HTTP_OK when it is complete,
// HTTP_UNFINISHED when more bytes are needed, or else the status that refuses it. Whatever RFC 9112
// does not allow is refused, and so is every encoding of the body.
int http_parse(const char bytes[], size_t size, http_request *out);

// Is it this text, byte by byte?
bool http_is(http_text text, const char *other);

// What a status is called.
const char *http_reason(int status);

#endif // TALUS_CLI_HTTP_H
