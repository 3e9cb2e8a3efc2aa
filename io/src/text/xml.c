// The tree of an XML document, built from what expat reports.
#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"

#include "text/arena_internal.h"
#include "text/text_internal.h"
#include "text/xml_internal.h"

#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CHUNK = 65536 // bytes of text handed to expat at a time
};

// A document and what it is built with.
typedef struct document {
    tali_xml xml; // first: what the outside sees
    tali_arena arena;
} document;

// Reading a document.
typedef struct reader {
    document *doc;
    tali_xml_limits limits;
    tal_diagnostics *found;
    XML_Parser parser;
    tali_xml_element *open;    // the innermost element that is not closed
    tali_xml_element **closed; // [depth] last child of each open element, outermost first
    int depth;
    char *text; // since the last tag
    int text_length, text_capacity;
    size_t fed; // bytes given to expat
    tal_status status;
} reader;

tali_xml_limits tali_xml_limits_default(void)
{
    return (tali_xml_limits){.file_bytes = (size_t)256 << 20,
                             .tag_bytes = (size_t)1 << 20,
                             .memory_bytes = (size_t)1 << 30,
                             .depth = 64};
}

void tali_xml_destroy(tali_xml *xml)
{
    if (xml == NULL) return;
    document *doc = (document *)xml;
    const tal_allocator allocator = doc->arena.allocator;
    tali_arena_free(&doc->arena);
    tali_free(&allocator, doc, sizeof *doc);
}

// ---- failures

// Refuse the document here. The first failure wins.
static void refuse_document(reader *r, tal_status status, const char *fmt, ...) TAL_PRINTF(3, 4);

static void refuse_document(reader *r, tal_status status, const char *fmt, ...)
{
    if (r->status != TAL_OK) return;
    r->status = status;
    char message[300];
    va_list args;
    va_start(args, fmt);
    tali_error_print(message, sizeof message, fmt, args);
    va_end(args);
    tal_diagnostics_add(r->found, TAL_ERROR, r->doc->xml.file,
                        (int)XML_GetCurrentLineNumber(r->parser),
                        (int)XML_GetCurrentColumnNumber(r->parser) + 1, "%s", message);
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static void refuse_memory(reader *r)
{
    refuse_document(r, TAL_ERR_NO_MEMORY, "memory ran out after %d elements",
                    r->doc->xml.num_elements);
}

// ---- what expat reports

// The text since the last tag belongs to the open element.
static void settle_text(reader *r)
{
    int begin = 0, end = r->text_length;
    while (begin < end && tali_text_is_blank(r->text[begin])) {
        ++begin;
    }
    while (begin < end && tali_text_is_blank(r->text[end - 1])) {
        --end;
    }
    r->text_length = 0;
    if (begin == end || r->open == NULL) return;
    if (r->open->first != NULL) {
        r->open->mixed = true;
        return;
    }
    r->open->text = tali_arena_copy(&r->doc->arena, r->text + begin, (size_t)(end - begin));
    if (r->open->text == NULL) refuse_memory(r);
}

// Where the attributes of a tag begin. Their names are in the order in which expat gives them;
// values are skipped by their quotes. The tag is whole and well-formed: expat has said so.
static void locate(reader *r, tali_xml_attribute attributes[], int count)
{
    int offset, size;
    const char *text = XML_GetInputContext(r->parser, &offset, &size);
    if (text == NULL) return;
    int line = (int)XML_GetCurrentLineNumber(r->parser);
    int column = (int)XML_GetCurrentColumnNumber(r->parser) + 1;
    char quote = '\0';
    bool in_name = true; // of the element, to begin with
    int found = 0;
    for (int i = offset; i < size && found < count; ++i) {
        const char c = text[i];
        const bool between = quote == '\0' && (tali_text_is_blank(c) || c == '=');
        if (quote == '\0' && !between && !in_name && c != '"' && c != '\'') {
            attributes[found].line = line;
            attributes[found].column = column;
            ++found;
            in_name = true;
        }
        if (between) in_name = false;
        if (quote != '\0') {
            if (c == quote) quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        }
        column = c == '\n' ? 1 : column + 1;
        if (c == '\n') ++line;
    }
}

static tali_xml_attribute *take_attributes(reader *r, const char **given, int count)
{
    tali_xml_attribute *attributes =
        tali_arena_take(&r->doc->arena, (size_t)count * sizeof *attributes);
    if (attributes == NULL) return NULL;
    for (int i = 0; i < count; ++i) {
        attributes[i].name = tali_arena_copy(&r->doc->arena, given[2 * i], strlen(given[2 * i]));
        attributes[i].value =
            tali_arena_copy(&r->doc->arena, given[2 * i + 1], strlen(given[2 * i + 1]));
        if (attributes[i].name == NULL || attributes[i].value == NULL) return NULL;
    }
    locate(r, attributes, count);
    return attributes;
}

// expat has read a start tag: append the element with its attributes, within the limits.
static void XMLCALL start_element(void *context, const char *name, const char **given)
{
    reader *r = context;
    if (r->status != TAL_OK) return;
    settle_text(r);
    if (r->depth >= r->limits.depth) {
        refuse_document(r, TAL_ERR_CAPACITY, "elements are nested deeper than %d levels",
                        r->limits.depth);
        return;
    }
    if (r->doc->arena.taken > r->limits.memory_bytes || r->doc->xml.num_elements == INT_MAX) {
        refuse_document(r, TAL_ERR_CAPACITY, "the document takes more than %zu bytes of memory",
                        r->limits.memory_bytes);
        return;
    }
    int count = 0;
    while (given[2 * count] != NULL) {
        ++count;
    }
    tali_xml_element *element = tali_arena_take(&r->doc->arena, sizeof *element);
    const char *copy = tali_arena_copy(&r->doc->arena, name, strlen(name));
    const tali_xml_attribute *attributes = take_attributes(r, given, count);
    if (element == NULL || copy == NULL || attributes == NULL) {
        refuse_memory(r);
        return;
    }
    *element = (tali_xml_element){.name = copy,
                                  .text = "",
                                  .parent = r->open,
                                  .attributes = attributes,
                                  .num_attributes = count,
                                  .line = (int)XML_GetCurrentLineNumber(r->parser),
                                  .column = (int)XML_GetCurrentColumnNumber(r->parser) + 1};
    if (r->open == NULL) {
        r->doc->xml.root = element;
    } else if (r->open->first == NULL) {
        r->open->first = element;
    } else {
        r->closed[r->depth]->next = element;
    }
    // a child of the same parent that comes after this one is to be linked to it
    r->closed[r->depth] = element;
    r->depth += 1;
    r->open = element;
    r->doc->xml.num_elements += 1;
}

static void XMLCALL end_element(void *context, const char *name)
{
    (void)name;
    reader *r = context;
    if (r->status != TAL_OK) return;
    settle_text(r);
    r->depth -= 1;
    r->open = r->depth > 0 ? r->closed[r->depth - 1] : NULL;
}

// expat has read some text: append it to the text of the open element.
static void XMLCALL character_data(void *context, const char *text, int length)
{
    reader *r = context;
    if (r->status != TAL_OK) return;
    // blanks at the beginning are dropped at once: most text is indentation
    while (r->text_length == 0 && length > 0 && tali_text_is_blank(*text)) {
        ++text;
        --length;
    }
    if (length == 0) return;
    const size_t together = r->doc->arena.taken + (size_t)r->text_length + (size_t)length;
    if (together > r->limits.memory_bytes) {
        refuse_document(r, TAL_ERR_CAPACITY, "the document takes more than %zu bytes of memory",
                        r->limits.memory_bytes);
        return;
    }
    const int wanted = r->text_length + length;
    while (r->text_capacity < wanted) {
        if (!tali_grow(&r->doc->arena.allocator, (void **)&r->text, r->text_capacity,
                       &r->text_capacity, 1)) {
            refuse_memory(r);
            return;
        }
    }
    memcpy(r->text + r->text_length, text, (size_t)length);
    r->text_length = wanted;
}

static void XMLCALL start_doctype(void *context, const char *name, const char *system_id,
                                  const char *public_id, int has_internal_subset)
{
    (void)name;
    // one that says nothing but the name of the root is harmless
    if (system_id == NULL && public_id == NULL && !has_internal_subset) return;
    refuse_document(context, TAL_ERR_FILE, "DOCTYPE and entities are not allowed");
}

// ---- reading

static void report_syntax(reader *r)
{
    if (r->status != TAL_OK) return;
    const enum XML_Error code = XML_GetErrorCode(r->parser);
    if (code == XML_ERROR_NO_MEMORY) {
        refuse_memory(r);
        return;
    }
    refuse_document(r, TAL_ERR_FILE, "this is not XML: %s", XML_ErrorString(code));
}

// Give expat some text. False when the document is refused.
static bool feed(reader *r, const char *text, size_t size, bool last)
{
    r->fed += size;
    if (r->fed > r->limits.file_bytes) {
        refuse_document(r, TAL_ERR_CAPACITY, "the file is larger than %zu bytes",
                        r->limits.file_bytes);
        return false;
    }
    if (XML_Parse(r->parser, text, (int)size, last) != XML_STATUS_OK) {
        report_syntax(r);
        return false;
    }
    const XML_Index at = XML_GetCurrentByteIndex(r->parser);
    if (!last && at >= 0 && r->fed > (size_t)at && r->fed - (size_t)at > r->limits.tag_bytes) {
        refuse_document(r, TAL_ERR_CAPACITY, "a tag or comment is longer than %zu bytes",
                        r->limits.tag_bytes);
        return false;
    }
    return r->status == TAL_OK;
}

// Make everything a reader needs. What was made is freed by end_reading().
static tal_status begin_reading(reader *r, const char *name, const tali_xml_limits *limits,
                                const tal_allocator *allocator, tal_diagnostics *found)
{
    *r = (reader){.found = found};
    r->limits = limits != NULL ? *limits : tali_xml_limits_default();
    const tal_allocator from = allocator != NULL ? *allocator : tal_allocator_default();
    r->doc = tali_alloc(&from, sizeof *r->doc);
    if (r->doc == NULL) return TAL_ERR_NO_MEMORY;
    r->doc->arena = tali_arena_make(&from);
    r->doc->xml.file = tali_arena_copy(&r->doc->arena, name, strlen(name));
    r->closed = tali_arena_take(&r->doc->arena, ((size_t)r->limits.depth + 1) * sizeof *r->closed);
    if (r->doc->xml.file == NULL || r->closed == NULL) return TAL_ERR_NO_MEMORY;

    r->parser = XML_ParserCreate("UTF-8");
    if (r->parser == NULL) return TAL_ERR_NO_MEMORY;
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, start_element, end_element);
    XML_SetCharacterDataHandler(r->parser, character_data);
    XML_SetStartDoctypeDeclHandler(r->parser, start_doctype);
    return TAL_OK;
}

// Hand the document over, or free it.
static tal_status end_reading(reader *r, tal_status st, tali_xml **out)
{
    if (st == TAL_ERR_NO_MEMORY) {
        tal_diagnostics_add(r->found, TAL_ERROR, NULL, 0, 0, "memory ran out");
    }
    if (st == TAL_OK) st = r->status;
    if (r->parser != NULL) XML_ParserFree(r->parser);
    if (r->doc != NULL) tali_free(&r->doc->arena.allocator, r->text, (size_t)r->text_capacity);
    if (st == TAL_OK) {
        *out = &r->doc->xml;
    } else if (r->doc != NULL) {
        tali_xml_destroy(&r->doc->xml);
    }
    return st;
}

tal_status tali_xml_read_memory(const char *name, const char *text, size_t size,
                                const tali_xml_limits *limits, const tal_allocator *allocator,
                                tali_xml **out, tal_diagnostics *found)
{
    *out = NULL;
    reader r;
    const tal_status st = begin_reading(&r, name, limits, allocator, found);
    if (st == TAL_OK) {
        size_t at = 0;
        while (size - at > CHUNK && feed(&r, text + at, CHUNK, false)) {
            at += CHUNK;
        }
        if (r.status == TAL_OK) (void)feed(&r, text + at, size - at, true);
    }
    return end_reading(&r, st, out);
}

// Whether a file is too large, where that is known before it is read.
static bool is_too_large(const reader *r, FILE *stream)
{
    if (fseek(stream, 0, SEEK_END) != 0) return false;
    const long size = ftell(stream);
    return fseek(stream, 0, SEEK_SET) == 0 && size >= 0 && size < LONG_MAX &&
           (size_t)size > r->limits.file_bytes; // a folder says LONG_MAX
}

// Hand a file to expat, piece by piece.
static tal_status read_stream(reader *r, FILE *stream)
{
    if (is_too_large(r, stream)) {
        refuse_document(r, TAL_ERR_CAPACITY, "the file is larger than %zu bytes",
                        r->limits.file_bytes);
        return TAL_OK;
    }
    char *chunk = tali_alloc(&r->doc->arena.allocator, CHUNK);
    if (chunk == NULL) return TAL_ERR_NO_MEMORY;
    bool more = true;
    char why[160];
    while (more) {
        errno = 0;
        const size_t size = fread(chunk, 1, CHUNK, stream);
        const bool last = size < CHUNK;
        if (last && ferror(stream)) {
            refuse_document(r, TAL_ERR_FILE, "%s",
                            tali_file_reason("the file cannot be read", why, sizeof why));
            break;
        }
        more = feed(r, chunk, size, last) && !last;
    }
    tali_free(&r->doc->arena.allocator, chunk, CHUNK);
    return TAL_OK;
}

tal_status tali_xml_read_file(const char *path, const tali_xml_limits *limits,
                              const tal_allocator *allocator, tali_xml **out,
                              tal_diagnostics *found)
{
    *out = NULL;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        const bool no_memory = errno == ENOMEM;
        char why[160];
        (void)tali_file_reason("the file cannot be opened", why, sizeof why);
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", no_memory ? "memory ran out" : why);
        return no_memory ? TAL_ERR_NO_MEMORY : TAL_ERR_FILE;
    }
    reader r;
    tal_status st = begin_reading(&r, path, limits, allocator, found);
    if (st == TAL_OK) st = read_stream(&r, stream);
    (void)fclose(stream);
    return end_reading(&r, st, out);
}

// ---- looking around

const tali_xml_attribute *tali_xml_find(const tali_xml_element *element, const char *name)
{
    for (int i = 0; i < element->num_attributes; ++i) {
        if (strcmp(element->attributes[i].name, name) == 0) return &element->attributes[i];
    }
    return NULL;
}

const tali_xml_element *tali_xml_child(const tali_xml_element *element, const char *name)
{
    const tali_xml_element *child = element->first;
    while (child != NULL && strcmp(child->name, name) != 0) {
        child = child->next;
    }
    return child;
}

const tali_xml_element *tali_xml_next(const tali_xml_element *element, const char *name)
{
    const tali_xml_element *other = element->next;
    while (other != NULL && strcmp(other->name, name) != 0) {
        other = other->next;
    }
    return other;
}

void tali_xml_error(const tali_xml *xml, const tali_xml_element *element,
                    const tali_xml_attribute *attribute, tal_diagnostics *found, const char *fmt,
                    ...)
{
    char message[360];
    va_list args;
    va_start(args, fmt);
    tali_error_print(message, sizeof message, fmt, args);
    va_end(args);
    tal_diagnostics_add(found, TAL_ERROR, xml->file,
                        attribute != NULL ? attribute->line : element->line,
                        attribute != NULL ? attribute->column : element->column, "%s", message);
}

const char *tali_xml_tag(const tali_xml_element *element, char text[], size_t size)
{
    const tali_xml_attribute *name = tali_xml_find(element, "name");
    if (name != NULL) {
        (void)snprintf(text, size, "<%.48s name=\"%.48s\">", element->name, name->value);
    } else {
        (void)snprintf(text, size, "<%.48s>", element->name);
    }
    return text;
}
