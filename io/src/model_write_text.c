// Tags, attributes and functions as text, by the table.
#include "error_internal.h"
#include "function_facts_internal.h"
#include "model_write_internal.h"

#include <talus/io/number.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Refuse to write something. The first failure wins.
void tali_write_refuse(tali_writer *w, const char *fmt, ...)
{
    if (w->status != TAL_OK) return;
    va_list args;
    va_start(args, fmt);
    w->status = tali_vfail(w->err, TAL_ERR_BAD_VALUE, "tal_model_write", fmt, args);
    va_end(args);
}

// ---- values

// Numbers that stand `stride` apart.
static void put_apart(tali_writer *w, const double values[], int count, int stride)
{
    char text[TAL_NUMBER_SIZE];
    for (int i = 0; i < count; ++i) {
        const int length = tal_number_write(values[(ptrdiff_t)i * stride], text);
        if (i > 0) tali_sink_text(&w->out, " ", 1);
        tali_sink_text(&w->out, text, (size_t)length);
    }
}

void tali_write_numbers(tali_writer *w, const double values[], int count)
{
    put_apart(w, values, count, 1);
}

// Text as the value of an attribute.
void tali_write_text(tali_writer *w, const char *text)
{
    for (const char *at = text; *at != '\0'; ++at) {
        size_t plain = 0; // what stands for itself
        while ((unsigned char)at[plain] >= ' ' && strchr("&<\"", at[plain]) == NULL) {
            ++plain;
        }
        tali_sink_text(&w->out, at, plain);
        at += plain;
        if (*at == '\0') return;
        const unsigned char c = (unsigned char)*at;
        if (c == '&') {
            tali_sink_put(&w->out, "&amp;");
        } else if (c == '<') {
            tali_sink_put(&w->out, "&lt;");
        } else if (c == '"') {
            tali_sink_put(&w->out, "&quot;");
        } else if (c == '\t' || c == '\n' || c == '\r') {
            tali_sink_put(&w->out, "&#%d;", c);
        } else {
            tali_write_refuse(w, "'%.60s' has the character %d, which no XML file can hold", text,
                              c);
        }
    }
}

const char *tali_write_body_name(const tali_writer *w, int body)
{
    return body == 0 ? "ground" : tal_body_name(w->model.matter, (tal_body_ix){body});
}

// "name:index". A name that would be read as something else is refused.
static void put_mobility(tali_writer *w, int body, int index)
{
    const char *name = tali_write_body_name(w, body);
    char whole[TAL_MAX_NAME + 16];
    (void)snprintf(whole, sizeof whole, "%s:%d", name, index);
    const size_t length = strlen(name);
    if (tal_matter_find_body(w->model.matter, whole).i >= 0 || strchr(name, ';') != NULL ||
        strchr(" \t\n\r", name[0]) != NULL || strchr(" \t\n\r", name[length - 1]) != NULL) {
        tali_write_refuse(w, "body '%s' has a name that cannot stand for a mobility in a file",
                          name);
    }
    tali_write_text(w, whole);
}

static void put_word(tali_writer *w, const char *words, int i)
{
    for (; i > 0; --i) {
        words += strcspn(words, "|") + 1;
    }
    tali_sink_put(&w->out, "%.*s", (int)strcspn(words, "|"), words);
}

// Where the values of an attribute are in an item; advanced from one to the next.
typedef struct cursor {
    const double *p;
    const int *ref;
    const tali_list *list;
    const char *const *text;
} cursor;

static bool is_word(const char *words, int i, const char *word)
{
    for (; i > 0; --i) {
        words += strcspn(words, "|") + 1;
    }
    const size_t length = strcspn(words, "|");
    return strlen(word) == length && strncmp(words, word, length) == 0;
}

// Whether a file that does not give the attribute says the same.
static bool is_default(const tali_attribute *a, const cursor *at)
{
    if (a->initial == NULL) return false;
    double values[TAL_MODEL_MAX_NUMBERS];
    switch (a->type) {
    case TALI_TYPE_REAL: {
        int n = tal_numbers_read(a->initial, values, TAL_MODEL_MAX_NUMBERS, NULL);
        for (; n < a->count && strcmp(a->initial, "0") == 0; ++n) {
            values[n] = 0.0;
        }
        return n == a->count && memcmp(values, at->p, (size_t)n * sizeof *values) == 0;
    }
    case TALI_TYPE_REALS:
        return at->list->count == 0;
    case TALI_TYPE_BOOL:
        return at->ref[0] == (strcmp(a->initial, "yes") == 0);
    case TALI_TYPE_WORD:
        return is_word(a->words, at->ref[0], a->initial);
    case TALI_TYPE_BODY:
        return at->ref[0] == 0 && strcmp(a->initial, "ground") == 0;
    case TALI_TYPE_MEASURE:
        return at->ref[0] < 0;
    case TALI_TYPE_MATERIAL:
        return true; // all its numbers are written
    case TALI_TYPE_TEXT:
        return strcmp(*at->text, a->initial) == 0;
    case TALI_TYPE_FRAME:
    case TALI_TYPE_ROTATION:
    case TALI_TYPE_INTEGER:
    case TALI_TYPE_NAME:
    case TALI_TYPE_CONSTRAINT:
    case TALI_TYPE_FUNCTION:
    case TALI_TYPE_MOBILITY:
    case TALI_TYPE_MOBILITIES:
    case TALI_TYPE_BODIES:
        break;
    }
    return false;
}

static void put_value(tali_writer *w, const tali_item *item, const tali_attribute *a,
                      const cursor *at)
{
    switch (a->type) {
    case TALI_TYPE_NAME:
        tali_write_text(w, item->name);
        break;
    case TALI_TYPE_TEXT:
        tali_write_text(w, *at->text);
        break;
    case TALI_TYPE_REAL:
        tali_write_numbers(w, at->p, a->count);
        break;
    case TALI_TYPE_REALS:
        tali_write_numbers(w, at->list->shown != NULL ? at->list->shown : at->list->values,
                           at->list->count);
        break;
    case TALI_TYPE_FRAME:
        tali_write_numbers(w, at->p + 9, 3);
        tali_sink_put(&w->out, " ");
        tali_write_numbers(w, at->p, 9);
        break;
    case TALI_TYPE_ROTATION:
        tali_write_numbers(w, at->p, 9);
        break;
    case TALI_TYPE_INTEGER:
        tali_sink_put(&w->out, "%d", at->ref[0]);
        break;
    case TALI_TYPE_BOOL:
        tali_sink_put(&w->out, at->ref[0] ? "yes" : "no");
        break;
    case TALI_TYPE_WORD:
        put_word(w, a->words, at->ref[0]);
        break;
    case TALI_TYPE_BODY:
        tali_write_text(w, tali_write_body_name(w, at->ref[0]));
        break;
    case TALI_TYPE_MEASURE:
        tali_write_text(w, tal_measure_name(w->model.system, (tal_measure_ix){at->ref[0]}));
        break;
    case TALI_TYPE_CONSTRAINT:
        tali_write_text(w, tal_constraint_name(w->model.matter, (tal_constraint_ix){at->ref[0]}));
        break;
    case TALI_TYPE_FUNCTION:
    case TALI_TYPE_MATERIAL:
        break; // what has them is written without names
    case TALI_TYPE_MOBILITY:
        put_mobility(w, at->ref[0], at->ref[1]);
        break;
    case TALI_TYPE_MOBILITIES:
    case TALI_TYPE_BODIES:
        for (int i = 0; i < item->num_mobilities; ++i) {
            if (i > 0) tali_sink_put(&w->out, "; ");
            put_mobility(w, item->mobilities[i].body, item->mobilities[i].index);
        }
        break;
    }
}

// A tag with all its attributes but the end: " />" or ">" is left to the caller. References are indices of
// bodies and measures here.
void tali_write_tag(tali_writer *w, const tali_item *item)
{
    cursor at = {item->p, item->ref, item->lists, item->text};
    const tali_attribute *a;
    tali_sink_put(&w->out, "    <%s", item->row->name);
    for (int i = 0; (a = tali_row_attribute(item->row, i)) != NULL; ++i) {
        const bool unnamed = a->type == TALI_TYPE_NAME && item->name == NULL;
        if (!unnamed && !is_default(a, &at)) {
            tali_sink_text(&w->out, " ", 1);
            tali_sink_text(&w->out, a->name, strlen(a->name));
            tali_sink_text(&w->out, "=\"", 2);
            put_value(w, item, a, &at);
            tali_sink_text(&w->out, "\"", 1);
        }
        const tali_room room = tali_room_of(a);
        // an item has no more arrays than it needs
        if (room.p > 0) at.p += room.p;
        if (room.ref > 0) at.ref += room.ref;
        if (room.lists > 0) at.list += room.lists;
        if (room.text > 0) at.text += room.text;
    }
}

// ---- functions

const tali_row *tali_row_of_kind(tali_group group, const char *kind)
{
    const tali_row *rows = tali_rows(group);
    for (int i = 0; rows[i].name != NULL; ++i) {
        if (rows[i].kind != NULL && strcmp(rows[i].kind, kind) == 0) return &rows[i];
    }
    return NULL;
}

void tali_write_list(tali_writer *w, const char *name, const double *values, int count, int stride)
{
    tali_sink_put(&w->out, " %s=\"", name);
    put_apart(w, values, count, stride);
    tali_sink_put(&w->out, "\"");
}

// The attributes of a function that is not made of functions.
static void put_function_values(tali_writer *w, const tali_function_facts *f, const char *element)
{
    if (strcmp(element, "constant") == 0) {
        tali_write_list(w, "value", f->numbers, 1, 1);
        tali_sink_put(&w->out, " arguments=\"%d\"", f->count);
    } else if (strcmp(element, "linear") == 0) {
        tali_write_list(w, "slopes", f->list, f->count, 1);
        tali_write_list(w, "offset", f->numbers, 1, 1);
    } else if (strcmp(element, "polynomial") == 0) {
        tali_write_list(w, "coefficients", f->list + f->count - 1, f->count, -1);
    } else if (strcmp(element, "sinusoid") == 0) {
        tali_write_list(w, "amplitude", f->numbers, 1, 1);
        tali_write_list(w, "frequency", f->numbers + 1, 1, 1);
        tali_write_list(w, "phase", f->numbers + 2, 1, 1);
    } else if (strcmp(element, "step") == 0) {
        tali_write_list(w, "from", f->numbers, 2, 1);
        tali_write_list(w, "to", f->numbers + 2, 2, 1);
    } else {
        tali_write_list(w, "x", f->list, f->count, 1);
        tali_write_list(w, "y", f->y, f->count, f->stride);
        if (strcmp(element, "spline") == 0) {
            tali_sink_put(&w->out, " end=\"%s\"", f->end == TAL_SPLINE_SIMM ? "simm" : "natural");
        }
    }
}

// A function and those it is made of, which are TAL_FUNCTION_MAX_DEPTH deep at most.
void tali_write_function(tali_writer *w, const tal_function *root, const char *whose)
{
    struct {
        tali_function_facts facts;
        const char *element;
        int next; // part
    } stack[TAL_FUNCTION_MAX_DEPTH];

    int depth = 0;
    const tal_function *f = root;
    while (w->status == TAL_OK) {
        if (f != NULL) {
            tali_function_facts facts;
            const bool known = tali_function_facts_of(f, &facts);
            const tali_row *row = known ? tali_row_of_kind(TALI_GROUP_FUNCTIONS, facts.kind) : NULL;
            if (row == NULL) {
                tali_write_refuse(w, "'%s' uses the function '%s', which no file can describe",
                                  whose, facts.kind);
                return;
            }
            tali_sink_put(&w->out, "<%s", row->name);
            if (facts.num_parts == 0) {
                put_function_values(w, &facts, row->name);
                tali_sink_put(&w->out, "/>");
            } else {
                tali_sink_put(&w->out, ">");
                stack[depth].facts = facts;
                stack[depth].element = row->name;
                stack[depth++].next = 0;
            }
        }
        if (depth == 0) return;
        const int top = depth - 1;
        f = NULL;
        if (stack[top].next < stack[top].facts.num_parts) {
            f = stack[top].facts.parts[stack[top].next++];
        } else {
            tali_sink_put(&w->out, "</%s>", stack[top].element);
            --depth;
        }
    }
}
