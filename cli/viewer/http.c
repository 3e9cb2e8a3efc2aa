// Requests of browsers. The bytes are not trusted: each is looked at, none twice, and nothing is
// copied.
#include "viewer/http.h"

#include <string.h>

// Bytes being read.
typedef struct cursor {
    const char *at, *end;
} cursor;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// RFC 9110, 5.6.2: what names of methods and fields are made of.
static bool is_token(char c)
{
    return c != 0 && (is_letter(c) || is_digit(c) || strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_visible(char c)
{
    return c > 0x20 && c < 0x7f;
}

// In the value of a field.
static bool is_text(char c)
{
    return (unsigned char)c >= 0x20 ? c != 0x7f : c == '\t';
}

// The bytes from here on that are of a kind.
static http_text take(cursor *it, bool (*is_kind)(char c))
{
    http_text text = {it->at, 0};
    while (it->at < it->end && is_kind(*it->at)) {
        ++it->at;
    }
    text.size = (size_t)(it->at - text.at);
    return text;
}

static bool skip(cursor *it, const char *text)
{
    const size_t size = strlen(text);
    if ((size_t)(it->end - it->at) < size || memcmp(it->at, text, size) != 0) return false;
    it->at += size;
    return true;
}

// METHOD /target HTTP/1.1
static bool read_first_line(cursor *it, http_request *out)
{
    out->method = take(it, is_token);
    if (out->method.size == 0 || !skip(it, " ")) return false;
    out->target = take(it, is_visible);
    if (out->target.size == 0 || out->target.at[0] != '/') return false;
    return (skip(it, " HTTP/1.1\r\n") || skip(it, " HTTP/1.0\r\n"));
}

static http_text trimmed(http_text text)
{
    while (text.size > 0 && (text.at[0] == ' ' || text.at[0] == '\t')) {
        ++text.at;
        --text.size;
    }
    while (text.size > 0 && (text.at[text.size - 1] == ' ' || text.at[text.size - 1] == '\t')) {
        --text.size;
    }
    return text;
}

static char small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static bool is_named(http_text name, const char *wanted)
{
    if (name.size != strlen(wanted)) return false;
    for (size_t i = 0; i < name.size; ++i) {
        if (small(name.at[i]) != wanted[i]) return false;
    }
    return true;
}

// Keep a field that matters. None of them may come twice.
static int keep_field(http_request *out, http_text name, http_text value)
{
    const struct {
        const char *name;
        http_text *to;
    } kept[] = {{"host", &out->host},
                {"origin", &out->origin},
                {"content-type", &out->type},
                {"content-length", &out->length}};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
        if (!is_named(name, kept[i].name)) continue;
        if (kept[i].to->at != NULL) return HTTP_BAD;
        *kept[i].to = value;
    }
    return is_named(name, "transfer-encoding") ? HTTP_UNKNOWN : HTTP_OK;
}

static int read_fields(cursor *it, http_request *out)
{
    while (!skip(it, "\r\n")) {
        const http_text name = take(it, is_token);
        if (name.size == 0 || !skip(it, ":")) return HTTP_BAD;
        const http_text value = trimmed(take(it, is_text));
        if (!skip(it, "\r\n")) return HTTP_BAD;
        const int status = keep_field(out, name, value);
        if (status != HTTP_OK) return status;
    }
    return HTTP_OK;
}

// The number of bytes of the body, none without a length; a status.
static int read_length(http_text text, size_t *length)
{
    *length = 0;
    if (text.at == NULL) return HTTP_OK;
    if (text.size == 0) return HTTP_BAD;
    for (size_t i = 0; i < text.size; ++i) {
        if (!is_digit(text.at[i])) return HTTP_BAD;
        *length = 10 * *length + (size_t)(text.at[i] - '0');
        if (*length > HTTP_MAX_BODY) return HTTP_LARGE_BODY;
    }
    return HTTP_OK;
}

// Where the header ends, an empty line included; NULL: not yet.
static const char *find_end(const char bytes[], size_t size)
{
    for (size_t i = 3; i < size; ++i) {
        if (memcmp(bytes + i - 3, "\r\n\r\n", 4) == 0) return bytes + i + 1;
    }
    return NULL;
}

int http_parse(const char bytes[], size_t size, http_request *out)
{
    *out = (http_request){.body = {NULL, 0}};
    const size_t looked = size < HTTP_MAX_HEADER ? size : HTTP_MAX_HEADER;
    const char *const end = find_end(bytes, looked);
    if (end == NULL) return size >= HTTP_MAX_HEADER ? HTTP_LARGE_HEADER : HTTP_UNFINISHED;
    cursor it = {bytes, end};
    if (!read_first_line(&it, out)) return HTTP_BAD;
    int status = read_fields(&it, out);
    if (status != HTTP_OK) return status;
    if (it.at != end) return HTTP_BAD; // an empty line before the end of the header
    size_t length = 0;
    status = read_length(out->length, &length);
    if (status != HTTP_OK) return status;
    out->body = (http_text){end, length};
    return (size_t)(bytes + size - end) < length ? HTTP_UNFINISHED : HTTP_OK;
}

bool http_is(http_text text, const char *other)
{
    return text.at != NULL && text.size == strlen(other) && memcmp(text.at, other, text.size) == 0;
}

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } all[] = {{HTTP_OK, "OK"},
               {HTTP_DONE, "No Content"},
               {HTTP_BAD, "Bad Request"},
               {HTTP_FORBIDDEN, "Forbidden"},
               {HTTP_NOT_FOUND, "Not Found"},
               {HTTP_NOT_ALLOWED, "Method Not Allowed"},
               {HTTP_LARGE_BODY, "Content Too Large"},
               {HTTP_LARGE_HEADER, "Request Header Fields Too Large"},
               {HTTP_UNKNOWN, "Not Implemented"}}; // the phrase of RFC 9110 for 501

    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (all[i].status == status) return all[i].reason;
    }
    return "";
}
