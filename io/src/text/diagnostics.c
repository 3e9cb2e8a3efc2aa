// The list of what is wrong with a file.
#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/io/diagnostics.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct tal_diagnostics {
    tal_allocator allocator;
    tal_diagnostic *items;
    int num, capacity;
    int num_errors;
};

tal_diagnostics *tal_diagnostics_create(const tal_allocator *allocator)
{
    tal_allocator from;
    if (tali_alloc_choose(allocator, &from, __func__) != TAL_OK) return NULL;
    tal_diagnostics *list = tali_alloc(&from, sizeof *list);
    if (list != NULL) list->allocator = from;
    return list;
}

void tal_diagnostics_destroy(tal_diagnostics *list)
{
    if (list == NULL) return;
    const tal_allocator allocator = list->allocator;
    tali_free(&allocator, list->items, (size_t)list->capacity * sizeof *list->items);
    tali_free(&allocator, list, sizeof *list);
}

void tal_diagnostics_clear(tal_diagnostics *list)
{
    if (list == NULL) return;
    list->num = list->num_errors = 0;
}

int tal_diagnostics_num(const tal_diagnostics *list)
{
    if (list != NULL) return list->num;
    (void)TALI_BREACH(TAL_ERR_NULL, "the list is NULL");
    return -1;
}

int tal_diagnostics_num_errors(const tal_diagnostics *list)
{
    if (list != NULL) return list->num_errors;
    (void)TALI_BREACH(TAL_ERR_NULL, "the list is NULL");
    return -1;
}

const tal_diagnostic *tal_diagnostics_at(const tal_diagnostics *list, int i)
{
    if (list != NULL && i >= 0 && i < list->num) return &list->items[i];
    (void)TALI_BREACH(list == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX,
                      "there is no diagnostic %d of %d", i, list != NULL ? list->num : 0);
    return NULL;
}

// A file name; if it is too long, its end is kept.
static void copy_name(const char *name, char out[], size_t size)
{
    const size_t length = strlen(name);
    if (length < size) {
        memcpy(out, name, length + 1);
        return;
    }
    memcpy(out, "...", 3);
    memcpy(out + 3, name + length - (size - 4), size - 4);
    out[size - 1] = '\0';
}

void tal_diagnostics_add(tal_diagnostics *list, tal_severity severity, const char *file, int line,
                         int column, const char *fmt, ...)
{
    if (list == NULL) return;
    if (severity == TAL_ERROR) list->num_errors += 1;
    if (list->num >= TAL_MAX_DIAGNOSTICS) return;
    // without memory for the sentence the error still counts
    if (!tali_grow(&list->allocator, (void **)&list->items, list->num, &list->capacity,
                   sizeof *list->items)) {
        return;
    }
    tal_diagnostic *it = &list->items[list->num++];
    it->severity = severity;
    it->line = line;
    it->column = column;
    copy_name(file != NULL ? file : "", it->file, sizeof it->file);
    va_list args;
    va_start(args, fmt);
    tali_error_print(it->message, sizeof it->message, fmt, args);
    va_end(args);
}

const char *tal_diagnostic_text(const tal_diagnostic *diagnostic, char text[])
{
    if (diagnostic == NULL || text == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "%s is NULL", text == NULL ? "text" : "diagnostic");
        return text;
    }
    char place[32] = "";
    if (diagnostic->line > 0 && diagnostic->column > 0) {
        (void)snprintf(place, sizeof place, ":%d:%d", diagnostic->line, diagnostic->column);
    } else if (diagnostic->line > 0) {
        (void)snprintf(place, sizeof place, ":%d", diagnostic->line);
    }
    (void)snprintf(text, TAL_DIAGNOSTIC_SIZE, "%s%s%s%s: %s", diagnostic->file, place,
                   diagnostic->file[0] != '\0' ? ": " : "",
                   diagnostic->severity == TAL_ERROR  ? "error"
                   : diagnostic->severity == TAL_NOTE ? "note"
                                                      : "warning",
                   diagnostic->message);
    return text;
}
