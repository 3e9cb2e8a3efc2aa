// Tags, attributes and functions as text, by the table.
#include "error_internal.h"

#include "model/model_write_internal.h"
#include "text/name_map_internal.h"

#include <talus/io/number.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Refuse to write something. The first failure wins.
void tali_model_write_refuse(tali_model_writer *w, const char *fmt, ...)
{
    if (w->status != TAL_OK) return;
    va_list args;
    va_start(args, fmt);
    w->status = tali_vfail(w->err, TAL_ERR_BAD_VALUE, "tal_model_write", fmt, args);
    va_end(args);
}

void tali_model_refuse_table(const tali_model_description *d, const char *subject, const char *kind)
{
    tali_model_write_refuse(d->w, "%s '%s' is of kind '%s', " TALI_NOT_REGISTERED, subject, d->name,
                            kind);
}

// ---- values

static void put_numbers(tali_model_writer *w, const double values[], int count)
{
    char text[TAL_NUMBER_SIZE];
    for (int i = 0; i < count; ++i) {
        const int length = tal_number_write(values[i], text);
        if (i > 0) tali_model_sink_text(&w->out, " ", 1);
        tali_model_sink_text(&w->out, text, (size_t)length);
    }
}

static double number_at(const tali_model_list *list, int i)
{
    return list->number != NULL ? list->number(list->from, i)
                                : list->shown[(ptrdiff_t)i * list->stride];
}

// Some numbers of a list.
static void put_some(tali_model_writer *w, const tali_model_list *list, int first, int count)
{
    for (int i = 0; i < count; ++i) {
        const double value = number_at(list, first + i);
        if (i > 0) tali_model_sink_text(&w->out, " ", 1);
        put_numbers(w, &value, 1);
    }
}

// Text as the value of an attribute.
void tali_model_write_text(tali_model_writer *w, const char *text)
{
    for (const char *at = text; *at != '\0'; ++at) {
        size_t plain = 0; // characters that need no escape
        while ((unsigned char)at[plain] >= ' ' && strchr("&<\"", at[plain]) == NULL) {
            ++plain;
        }
        tali_model_sink_text(&w->out, at, plain);
        at += plain;
        if (*at == '\0') return;
        const unsigned char c = (unsigned char)*at;
        if (c == '&') {
            tali_model_sink_put(&w->out, "&amp;");
        } else if (c == '<') {
            tali_model_sink_put(&w->out, "&lt;");
        } else if (c == '"') {
            tali_model_sink_put(&w->out, "&quot;");
        } else if (c == '\t' || c == '\n' || c == '\r') {
            tali_model_sink_put(&w->out, "&#%d;", c);
        } else {
            tali_model_write_refuse(w, "'%.60s' has the character %d, which XML does not allow",
                                    text, c);
        }
    }
}

// A body of a molecule has no element of its own.
static const char *body_name(tali_model_writer *w, int body)
{
    if (body > 0 && tali_model_is_of_molecule(w, (tal_body_ix){body})) {
        tali_model_write_refuse(w,
                                "something is attached to body '%s' of a molecule, which a file "
                                "cannot say",
                                tal_body_name(w->model.matter, (tal_body_ix){body}));
    }
    return body == 0 ? "ground" : tal_body_name(w->model.matter, (tal_body_ix){body});
}

// "name:index". A name that would be read as something else is refused.
static void put_mobility(tali_model_writer *w, int body, int index)
{
    const char *name = body_name(w, body);
    char whole[TAL_MAX_NAME + 16];
    (void)snprintf(whole, sizeof whole, "%s:%d", name, index);
    if (tal_matter_find_body(w->model.matter, whole).i >= 0 || strchr(name, ';') != NULL) {
        tali_model_write_refuse(w, "the name of body '%s' cannot be used for a mobility in a file",
                                name);
    }
    tali_model_write_text(w, whole);
}

static void put_word(tali_model_writer *w, const char *words, int i)
{
    for (; i > 0; --i) {
        words += strcspn(words, "|") + 1;
    }
    tali_model_sink_put(&w->out, "%.*s", (int)strcspn(words, "|"), words);
}

// Where the values of an attribute are in an item; advanced from one to the next.
typedef struct cursor {
    const double *p;
    const int *ref;
    const tali_model_list *list;
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
static bool is_default(const tali_model_attribute *a, const cursor *at)
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
    case TALI_TYPE_CONSTRAINT:
        return at->ref[0] < 0;
    case TALI_TYPE_MATERIAL:
        return true; // all its numbers are written
    case TALI_TYPE_TEXT:
        return strcmp(*at->text, a->initial) == 0;
    case TALI_TYPE_FRAME:
    case TALI_TYPE_ROTATION:
    case TALI_TYPE_INTEGER:
    case TALI_TYPE_NAME:
    case TALI_TYPE_FUNCTION:
    case TALI_TYPE_WRAP:
    case TALI_TYPE_PATH:
    case TALI_TYPE_UNILATERAL:
    case TALI_TYPE_FORCE:
    case TALI_TYPE_MOBILITY:
    case TALI_TYPE_MOBILITIES:
    case TALI_TYPE_BODIES:
        break;
    }
    return false;
}

// A name that would not be read again is refused.
static void put_name(tali_model_writer *w, const char *name)
{
    const char *flaw = tali_text_name_flaw(name);
    if (flaw != NULL) {
        tali_model_write_refuse(w, "'%.60s' cannot be written to a file: %s", name, flaw);
    }
    tali_model_write_text(w, name);
}

// The value of an attribute by its type, as the reader expects it.
static void put_value(const tali_model_description *d, const tali_model_attribute *a,
                      const cursor *at)
{
    tali_model_writer *w = d->w;
    switch (a->type) {
    case TALI_TYPE_NAME:
        put_name(w, d->name);
        break;
    case TALI_TYPE_TEXT:
        tali_model_write_text(w, *at->text);
        break;
    case TALI_TYPE_REAL:
        put_numbers(w, at->p, a->count);
        break;
    case TALI_TYPE_REALS:
        put_some(w, at->list, 0, at->list->count);
        break;
    case TALI_TYPE_FRAME:
        put_numbers(w, at->p + 9, 3);
        tali_model_sink_put(&w->out, " ");
        put_numbers(w, at->p, 9);
        break;
    case TALI_TYPE_ROTATION:
        put_numbers(w, at->p, 9);
        break;
    case TALI_TYPE_INTEGER:
        tali_model_sink_put(&w->out, "%d", at->ref[0]);
        break;
    case TALI_TYPE_BOOL:
        tali_model_sink_put(&w->out, at->ref[0] ? "yes" : "no");
        break;
    case TALI_TYPE_WORD:
        put_word(w, a->words, at->ref[0]);
        break;
    case TALI_TYPE_BODY:
        tali_model_write_text(w, body_name(w, at->ref[0]));
        break;
    case TALI_TYPE_MEASURE:
        tali_model_write_text(w, tal_measure_name(w->model.system, (tal_measure_ix){at->ref[0]}));
        break;
    case TALI_TYPE_CONSTRAINT:
        tali_model_write_text(
            w, tal_constraint_name(w->model.matter, (tal_constraint_ix){at->ref[0]}));
        break;
    case TALI_TYPE_WRAP:
        tali_model_write_text(w, tal_wrap_name(w->model.forces, (tal_wrap_ix){at->ref[0]}));
        break;
    case TALI_TYPE_UNILATERAL:
        tali_model_write_text(
            w, tal_unilateral_name(w->model.matter, (tal_unilateral_ix){at->ref[0]}));
        break;
    case TALI_TYPE_PATH:
        tali_model_write_text(w, tal_path_name(w->model.forces, (tal_path_ix){at->ref[0]}));
        break;
    case TALI_TYPE_FORCE:
        tali_model_write_text(w, tal_force_name(w->model.forces, (tal_force_ix){at->ref[0]}));
        break;
    case TALI_TYPE_FUNCTION:
    case TALI_TYPE_MATERIAL:
        break; // what has them is written without names
    case TALI_TYPE_MOBILITY:
        put_mobility(w, at->ref[0], at->ref[1]);
        break;
    case TALI_TYPE_MOBILITIES:
    case TALI_TYPE_BODIES:
        for (int i = 0; i < d->num_mobilities; ++i) {
            if (i > 0) tali_model_sink_put(&w->out, "; ");
            put_mobility(w, d->mobilities[i].body, d->mobilities[i].index);
        }
        break;
    }
}

// An attribute with its value.
static void put_attribute(const tali_model_description *d, const tali_model_attribute *a,
                          const cursor *at)
{
    tali_model_sink *out = &d->w->out;
    tali_model_sink_text(out, " ", 1);
    tali_model_sink_text(out, a->name, strlen(a->name));
    tali_model_sink_text(out, "=\"", 2);
    put_value(d, a, at);
    tali_model_sink_text(out, "\"", 1);
}

// A tag with its attributes; its end is left to the caller. Without `all`, defaults are left out.
static void put_tag(const tali_model_description *d, const char *before, bool all)
{
    cursor at = {d->p, d->ref, d->lists, d->text}, last = at;
    const tali_model_attribute *a, *late = NULL;
    tali_model_sink_put(&d->w->out, "%s<%s", before, d->row->name);
    for (int i = 0; (a = tali_model_row_attribute(d->row, i)) != NULL; ++i) {
        const bool unnamed = a->type == TALI_TYPE_NAME && d->name == NULL;
        const bool shown = !unnamed && (all || !is_default(a, &at));
        if (shown && (a->flags & TALI_WRITTEN_LAST) != 0) {
            late = a;
            last = at;
        } else if (shown) {
            put_attribute(d, a, &at);
        }
        const tali_model_room room = tali_model_room_of(a);
        at = (cursor){at.p + room.p, at.ref + room.ref, at.list + room.lists, at.text + room.text};
    }
    if (late != NULL) put_attribute(d, late, &last);
}

// ---- functions

const tali_model_row *tali_model_row_of_kind(tali_model_group group, const char *kind)
{
    const tali_model_row *rows = tali_model_rows(group);
    for (int i = 0; rows[i].name != NULL; ++i) {
        if (rows[i].kind != NULL && strcmp(rows[i].kind, kind) == 0) return &rows[i];
    }
    return NULL;
}

// The tag of a function; NULL, and refused, when no file can say it.
static const tali_model_row *begin_function(tali_model_writer *w, const tal_function *f,
                                            const char *whose, tali_function_facts *facts)
{
    const bool known = tali_function_facts_of(f, facts);
    const tali_model_row *row =
        known ? tali_model_row_of_kind(TALI_GROUP_FUNCTIONS, facts->kind) : NULL;
    if (row == NULL) {
        tali_model_write_refuse(w, "'%s' uses the function '%s', which cannot be written to a file",
                                whose, facts->kind);
        return NULL;
    }
    tali_model_description d = {.w = w, .row = row, .function = facts};
    if (row->describe != NULL) row->describe(&d);
    put_tag(&d, "", true);
    tali_model_sink_put(&w->out, facts->num_parts == 0 ? "/>" : ">");
    return row;
}

// A function and those it is made of, which are TAL_FUNCTION_MAX_DEPTH deep at most.
static void put_function(tali_model_writer *w, const tal_function *root, const char *whose)
{
    struct {
        tali_function_facts facts;
        const tali_model_row *row;
        int next; // part
    } stack[TAL_FUNCTION_MAX_DEPTH];

    int depth = 0;
    const tal_function *f = root;
    while (w->status == TAL_OK) {
        if (f != NULL) {
            tali_function_facts facts;
            const tali_model_row *row = begin_function(w, f, whose, &facts);
            if (row == NULL) return;
            if (facts.num_parts > 0) {
                stack[depth].facts = facts;
                stack[depth].row = row;
                stack[depth++].next = 0;
            }
        }
        if (depth == 0) return;
        const int top = depth - 1;
        f = NULL;
        if (stack[top].next < stack[top].facts.num_parts) {
            f = stack[top].facts.parts[stack[top].next++];
        } else {
            tali_model_sink_put(&w->out, "</%s>", stack[top].row->name);
            --depth;
        }
    }
}

// ---- elements

void tali_model_say_targets(tali_model_description *d, const tali_model_targets *from)
{
    const int *body = from->bodies;
    const tal_measure_ix *measure = from->measures;
    const bool *flag = from->flags;
    for (const tali_model_attribute *a = d->row->own; a != NULL && a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_BODY) tali_model_say_index(d, *body++);
        if (a->type == TALI_TYPE_MEASURE) tali_model_say_index(d, (measure++)->i);
        if (a->type == TALI_TYPE_CONSTRAINT) tali_model_say_index(d, from->constraint);
        if (a->type == TALI_TYPE_PATH) tali_model_say_index(d, from->path);
        if (a->type == TALI_TYPE_UNILATERAL) tali_model_say_index(d, from->unilateral);
        if (a->type == TALI_TYPE_INTEGER) tali_model_say_index(d, from->integer);
        if (a->type == TALI_TYPE_BOOL) tali_model_say_index(d, *flag++);
        if (a->type == TALI_TYPE_WORD) tali_model_say_index(d, from->word);
        if (a->type == TALI_TYPE_MATERIAL) tali_model_say_index(d, -1); // its numbers are written
        if (a->type != TALI_TYPE_MOBILITY) continue;
        tali_model_say_index(d, from->mobility.body.i);
        tali_model_say_index(d, from->mobility.i);
    }
}

// Three numbers to a line: only meshes have them.
static void put_body_of_numbers(const tali_model_description *d, const char *before)
{
    tali_model_writer *w = d->w;
    tali_model_sink_put(&w->out, "%s<%s>\n", before, d->row->name);
    for (int i = 0; i < d->lists[0].count; i += 3) {
        put_some(w, &d->lists[0], i, 3);
        tali_model_sink_put(&w->out, "\n");
    }
    tali_model_sink_put(&w->out, "%s</%s>", before, d->row->name);
}

void tali_model_write_element(tali_model_description *d, const char *before, const char *after)
{
    tali_model_writer *w = d->w;
    const tali_model_row *row = d->row;
    if (row->describe_shared != NULL) row->describe_shared(d);
    if (row->describe != NULL) row->describe(d);
    if (w->status != TAL_OK) return;
    if (row->has_numbers) {
        put_body_of_numbers(d, before);
    } else {
        put_tag(d, before, false);
        const bool is_empty = d->num_functions == 0 && row->write_children == NULL;
        tali_model_sink_put(&w->out, is_empty ? "/>" : ">");
        for (int i = 0; i < d->num_functions; ++i) {
            put_function(w, d->functions[i], d->name != NULL ? d->name : d->whose);
        }
        if (row->write_children != NULL) row->write_children(d);
        if (!is_empty) tali_model_sink_put(&w->out, "</%s>", row->name);
    }
    tali_model_sink_put(&w->out, "%s", after);
}
