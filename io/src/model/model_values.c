// From the text of attributes to values, by the types in the table.
#include "error_internal.h"

#include "model/model_internal.h"
#include "text/name_map_internal.h"
#include "text/text_internal.h"

#include <talus/io/number.h>

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// How far axes in a file may be from perpendicular unit vectors: files have few digits.
static const double AXES_TOLERANCE = 1e-6;

enum {
    MAX_TAG = 128,
    MAX_ATTRIBUTES = 48 // of one row
};

void tali_model_item_error(tali_model *m, const tali_model_item *item, const char *attribute,
                           const char *fmt, ...)
{
    char tag[MAX_TAG], message[300];
    va_list args;
    va_start(args, fmt);
    tali_error_print(message, sizeof message, fmt, args);
    va_end(args);
    const tali_xml_attribute *at =
        attribute != NULL ? tali_xml_find(item->element, attribute) : NULL;
    tali_xml_error(item->xml, item->element, at, m->found, "%s%s",
                   tali_xml_tag(item->element, tag, sizeof tag), message);
}

bool tali_model_item_has(const tali_model_item *item, const char *attribute)
{
    return tali_xml_find(item->element, attribute) != NULL;
}

const tali_model_attribute *tali_model_row_attribute(const tali_model_row *row, int i)
{
    int shared = 0;
    while (row->shared != NULL && row->shared[shared].name != NULL) {
        if (i == shared) return &row->shared[shared];
        ++shared;
    }
    if (row->own == NULL) return NULL;
    for (int k = 0; row->own[k].name != NULL; ++k) {
        if (i == shared + k) return &row->own[k];
    }
    return NULL;
}

// ---- numbers

// A number, "$name", "-$name" or "2.5*$name", ended by a blank or the end of the text. NULL, and an
// error, when it is not one.
static const char *read_token(tali_model *m, const tali_model_item *item, const char *attribute,
                              const char *at, double *value)
{
    const char *end = at;
    while (*end != '\0' && !tali_text_is_blank(*end)) {
        ++end;
    }
    const char *dollar = memchr(at, '$', (size_t)(end - at));
    const int shown = end - at < 60 ? (int)(end - at) : 60;
    if (dollar == NULL) {
        if (tal_number_read(at, end, value) == end) return end;
        tali_model_item_error(m, item, attribute,
                              ": '%s' has '%.*s', which is not a number that a double can hold",
                              attribute, shown, at);
        return NULL;
    }
    double factor = 1.0;
    const char *behind = at;
    if (dollar > at && dollar[-1] == '*') {
        behind = tal_number_read(at, dollar - 1, &factor);
        if (behind == dollar - 1) behind = dollar;
    } else if (dollar == at + 1 && (*at == '-' || *at == '+')) {
        factor = *at == '-' ? -1.0 : 1.0;
        behind = dollar;
    }
    const tali_model_named_value *named =
        tali_model_find_param(m, item, dollar + 1, (size_t)(end - dollar - 1));
    if (behind != dollar) {
        tali_model_item_error(m, item, attribute,
                              ": '%s' has '%.*s'; write a number, '$name' or '2*$name'", attribute,
                              shown, at);
        return NULL;
    }
    if (named == NULL) {
        tali_model_item_error(m, item, attribute,
                              ": '%s' uses '%.*s', but no <param> above has that name", attribute,
                              shown, at);
        return NULL;
    }
    *value = factor * named->value;
    return end;
}

// The most numbers that are not lists: a frame.
enum {
    MAX_FIXED = 36
};

// Read numbers. -1, and an error, when something is not a number. Those beyond `capacity` are
// counted.
static int read_numbers(tali_model *m, const tali_model_item *item, const char *attribute,
                        const char *text, double values[], int capacity)
{
    int count = 0;
    for (const char *at = text;;) {
        while (tali_text_is_blank(*at)) {
            ++at;
        }
        if (*at == '\0') return count;
        double value = 0.0;
        at = read_token(m, item, attribute, at, &value);
        if (at == NULL) return -1;
        if (count < capacity) values[count] = value;
        ++count;
    }
}

// Finite, positive, not negative: as the table asks.
static void check_numbers(tali_model *m, const tali_model_item *item, const tali_model_attribute *a,
                          const double values[], int count)
{
    for (int i = 0; i < count; ++i) {
        const double x = values[i];
        const char *subject = NULL;
        if (isnan(x) || (isinf(x) && (a->flags & TALI_MAYBE_INFINITE) == 0)) {
            subject = "finite";
        } else if ((a->flags & TALI_POSITIVE_NUMBER) != 0 && !(x > 0.0)) {
            subject = "positive";
        } else if ((a->flags & TALI_NO_NEGATIVE_NUMBER) != 0 && x < 0.0) {
            subject = "zero or positive";
        }
        if (subject == NULL) continue;
        tali_model_item_error(m, item, a->name, ": '%s' is %g; it must be %s", a->name, x, subject);
        return;
    }
}

static void to_angles(const tali_model_item *item, const tali_model_attribute *a, double values[],
                      int count)
{
    if ((a->flags & TALI_IS_ANGLE) == 0 || item->unit == 1.0) return;
    for (int i = 0; i < count; ++i) {
        values[i] *= item->unit;
    }
}

static void parse_reals(tali_model *m, tali_model_item *item, const tali_model_attribute *a,
                        const char *text, double *p)
{
    if (text == a->initial && strcmp(text, "0") == 0) return; // all zeros are there
    const int count = read_numbers(m, item, a->name, text, p, a->count);
    if (count < 0) return;
    if (count != a->count) {
        tali_model_item_error(m, item, a->name, ": '%s' has %d number%s; %d %s needed", a->name,
                              count, count == 1 ? "" : "s", a->count, a->count == 1 ? "is" : "are");
        return;
    }
    check_numbers(m, item, a, p, count);
    if (text != a->initial) to_angles(item, a, p, count); // defaults are in rad
}

// Numbers of any count, into the arena.
static void parse_list(tali_model *m, tali_model_item *item, const tali_model_attribute *a,
                       const char *text, tali_model_list *list)
{
    enum {
        FEW = 32 // as most lists have
    };

    double few[FEW];
    const int count = read_numbers(m, item, a->name, text, few, FEW);
    if (count <= 0) return;
    list->values = tali_arena_take(&m->arena, (size_t)count * sizeof *list->values);
    if (list->values == NULL) {
        m->no_memory = true;
        return;
    }
    list->count = count;
    if (count <= FEW) {
        memcpy(list->values, few, (size_t)count * sizeof *few);
    } else {
        (void)read_numbers(m, item, a->name, text, list->values, count);
    }
    check_numbers(m, item, a, list->values, count);
    to_angles(item, a, list->values, count);
}

static tal_mat3 turned(const tali_model_item *item, const double angles[3])
{
    const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const double rad[] = {angles[0] * item->unit, angles[1] * item->unit, angles[2] * item->unit};
    return tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, rad);
}

// Origin, or origin and angles, or origin and axes; kept as axes and origin, as in the API.
static void parse_frame(tali_model *m, tali_model_item *item, const tali_model_attribute *a,
                        const char *text, double *p)
{
    static const double identity[12] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    if (text == a->initial) {
        memcpy(p, identity, (size_t)(a->type == TALI_TYPE_FRAME ? 12 : 9) * sizeof *p);
        return; // the only default a frame has
    }
    double given[12];
    const bool rotation = a->type == TALI_TYPE_ROTATION;
    const int origin = rotation ? 0 : 3;
    const int count = read_numbers(m, item, a->name, text, given, 12);
    if (count < 0) return;
    if (count != origin + 3 && count != origin + 9 && (rotation || count != 3)) {
        tali_model_item_error(
            m, item, a->name,
            rotation ? ": '%s' has %d numbers; a rotation has 3 (angles) or 9 (axes)"
                     : ": '%s' has %d numbers; a frame has 3 (origin), 6 (and angles) or 12 "
                       "(and axes)",
            a->name, count);
        return;
    }
    check_numbers(m, item, a, given, count);
    tal_mat3 R = TAL_MAT3_IDENTITY;
    if (count == origin + 3) R = turned(item, given + origin);
    memcpy(p, &R, 9 * sizeof *p);
    if (count == origin + 9) memcpy(p, given + origin, 9 * sizeof *p);
    if (!rotation) memcpy(p + 9, given, 3 * sizeof *p);

    memcpy(&R, p, sizeof R);
    if (count == origin + 9 && !tal_rotation_is_valid(&R, AXES_TOLERANCE)) {
        tali_model_item_error(m, item, a->name,
                              ": '%s' has axes that are not at right angles and of length one",
                              a->name);
    }
}

tal_xform tali_model_frame_at(const double *p)
{
    tal_xform X;
    memcpy(&X.R, p, sizeof X.R);
    X.p = tali_model_vec3_at(p + 9);
    return X;
}

tal_mat3 tali_model_rotation_at(const double *p)
{
    tal_mat3 R;
    memcpy(&R, p, sizeof R);
    return R;
}

// ---- words

// The i-th of "this|that", with its length; NULL behind the last one.
static const char *word_at(const char *words, int i, size_t *length)
{
    const char *at = words;
    for (; i > 0 && at != NULL; --i) {
        at = strchr(at, '|');
        if (at != NULL) ++at;
    }
    if (at != NULL) *length = strcspn(at, "|");
    return at;
}

static void parse_word(tali_model *m, const tali_model_item *item, const tali_model_attribute *a,
                       const char *text, int *ref)
{
    const char *words = a->type == TALI_TYPE_BOOL ? "no|yes" : a->words;
    size_t length;
    const char *word;
    for (int i = 0; (word = word_at(words, i, &length)) != NULL; ++i) {
        if (strlen(text) == length && strncmp(text, word, length) == 0) {
            *ref = i;
            return;
        }
    }
    tali_model_item_error(m, item, a->name, ": '%s' is '%.40s'; it must be one of %s", a->name,
                          text, words);
}

static void parse_integer(tali_model *m, const tali_model_item *item, const tali_model_attribute *a,
                          const char *text, int *ref)
{
    const char *end = tal_integer_read(text, NULL, ref);
    if (end != NULL && *end == '\0' && *ref >= 0) return;
    tali_model_item_error(m, item, a->name,
                          ": '%s' is '%.40s'; it must be a whole number, not negative", a->name,
                          text);
}

static void parse_name(tali_model *m, tali_model_item *item, const tali_model_attribute *a,
                       const char *text)
{
    if (*text == '\0' && text == a->initial) return;
    text = tali_model_full_name(m, item, text);
    if (text == NULL) return;
    const char *flaw = tali_text_name_flaw(text);
    if (flaw == NULL) {
        item->name = text;
    } else {
        tali_model_item_error(m, item, a->name, ": %s", flaw);
    }
}

// ---- the whole element

// Room that a value takes.
tali_model_room tali_model_room_of(const tali_model_attribute *a)
{
    switch (a->type) {
    case TALI_TYPE_REAL:
        return (tali_model_room){.p = a->count};
    case TALI_TYPE_FRAME:
        return (tali_model_room){.p = 12};
    case TALI_TYPE_ROTATION:
        return (tali_model_room){.p = 9};
    case TALI_TYPE_REALS:
        return (tali_model_room){.lists = 1};
    case TALI_TYPE_TEXT:
        return (tali_model_room){.text = 1};
    case TALI_TYPE_MOBILITY:
        return (tali_model_room){.ref = 2};
    case TALI_TYPE_INTEGER:
    case TALI_TYPE_BOOL:
    case TALI_TYPE_WORD:
    case TALI_TYPE_BODY:
    case TALI_TYPE_MEASURE:
    case TALI_TYPE_CONSTRAINT:
    case TALI_TYPE_FUNCTION:
    case TALI_TYPE_MATERIAL:
    case TALI_TYPE_WRAP:
    case TALI_TYPE_PATH:
    case TALI_TYPE_UNILATERAL:
    case TALI_TYPE_FORCE:
        return (tali_model_room){.ref = 1};
    case TALI_TYPE_NAME:
    case TALI_TYPE_MOBILITIES:
    case TALI_TYPE_BODIES:
        break;
    }
    return (tali_model_room){.p = 0};
}

static tali_model_room room_after(tali_model_room used, const tali_model_attribute *a)
{
    const tali_model_room more = tali_model_room_of(a);
    return (tali_model_room){used.p + more.p, used.ref + more.ref, used.text + more.text,
                             used.lists + more.lists};
}

static const char *attribute_name_at(const void *context, int i)
{
    const tali_model_attribute *a = tali_model_row_attribute(context, i);
    return a != NULL ? a->name : NULL;
}

// All attributes of a row; their number.
static int attributes_of(const tali_model_row *row, const tali_model_attribute *all[MAX_ATTRIBUTES])
{
    int n = 0;
    for (const tali_model_attribute *a = row->shared; a != NULL && a->name != NULL; ++a) {
        all[n++] = a;
    }
    for (const tali_model_attribute *a = row->own; a != NULL && a->name != NULL; ++a) {
        all[n++] = a;
    }
    assert(n <= MAX_ATTRIBUTES);
    return n;
}

// What the file gives for each attribute of a row, NULL where it gives nothing; others are
// reported.
static void match_attributes(tali_model *m, const tali_model_item *item,
                             const tali_model_attribute *const all[], int n,
                             const tali_xml_attribute *given[])
{
    for (int k = 0; k < n; ++k) {
        given[k] = NULL;
    }
    for (int i = 0; i < item->element->num_attributes; ++i) {
        const tali_xml_attribute *it = &item->element->attributes[i];
        const char *name = it->name;
        int k = 0;
        while (k < n && (all[k]->name[0] != name[0] || strcmp(all[k]->name, name) != 0)) {
            ++k;
        }
        if (k < n) {
            given[k] = it;
            continue;
        }
        const char *guess = tali_text_did_you_mean(name, attribute_name_at, item->row);
        tali_model_item_error(m, item, name, " has no attribute '%.60s'%s%s%s", name,
                              guess != NULL ? " (did you mean '" : "", guess != NULL ? guess : "",
                              guess != NULL ? "'?)" : "");
    }
}

// The value of an attribute by its type; the default when the file does not give it.
static void parse_attribute(tali_model *m, tali_model_item *item, const tali_model_attribute *a,
                            const tali_xml_attribute *given, tali_model_room at)
{
    const char *text = given != NULL ? given->value : a->initial;
    if (text == NULL) {
        tali_model_item_error(m, item, NULL, " needs the attribute '%s'", a->name);
        return;
    }
    switch (a->type) {
    case TALI_TYPE_NAME:
        parse_name(m, item, a, text);
        break;
    case TALI_TYPE_TEXT:
        item->text[at.text] = text;
        break;
    case TALI_TYPE_REAL:
        parse_reals(m, item, a, text, item->p + at.p);
        break;
    case TALI_TYPE_REALS:
        parse_list(m, item, a, text, &item->lists[at.lists]);
        break;
    case TALI_TYPE_FRAME:
    case TALI_TYPE_ROTATION:
        parse_frame(m, item, a, text, item->p + at.p);
        break;
    case TALI_TYPE_INTEGER:
        parse_integer(m, item, a, text, item->ref + at.ref);
        break;
    case TALI_TYPE_BOOL:
    case TALI_TYPE_WORD:
        parse_word(m, item, a, text, item->ref + at.ref);
        break;
    case TALI_TYPE_BODY:
    case TALI_TYPE_MEASURE:
    case TALI_TYPE_CONSTRAINT:
    case TALI_TYPE_FUNCTION:
    case TALI_TYPE_MATERIAL:
    case TALI_TYPE_WRAP:
    case TALI_TYPE_PATH:
    case TALI_TYPE_UNILATERAL:
    case TALI_TYPE_FORCE:
    case TALI_TYPE_MOBILITY:
    case TALI_TYPE_MOBILITIES:
    case TALI_TYPE_BODIES:
        break; // names may be of things further down
    }
}

// Memory for all values of an item, the most aligned first.
static bool take_room(tali_model *m, tali_model_item *item, const tali_model_room *needed)
{
    const size_t lists = (size_t)needed->lists * sizeof *item->lists;
    const size_t text = (size_t)needed->text * sizeof *item->text;
    const size_t p = (size_t)needed->p * sizeof *item->p;
    const size_t ref = (size_t)needed->ref * sizeof *item->ref;
    char *block = tali_arena_take(&m->arena, lists + text + p + ref);
    if (block == NULL) {
        m->no_memory = true;
        return false;
    }
    item->p = (double *)(void *)block;
    item->lists = (tali_model_list *)(block + p);
    item->text = (const char **)(block + p + lists);
    item->ref = (int *)(block + p + lists + text);
    return true;
}

void tali_model_item_parse(tali_model *m, tali_model_item *item)
{
    const tali_model_attribute *all[MAX_ATTRIBUTES];
    const tali_xml_attribute *given[MAX_ATTRIBUTES];
    const int n = attributes_of(item->row, all);
    match_attributes(m, item, all, n, given);
    tali_model_room needed = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) {
        needed = room_after(needed, all[i]);
    }
    if (item->row->has_numbers) needed.lists = 1;
    if (!take_room(m, item, &needed)) return;
    tali_model_room at = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) {
        parse_attribute(m, item, all[i], given[i], at);
        at = room_after(at, all[i]);
    }
    if (!item->row->has_numbers) return;
    const tali_model_attribute numbers = {item->row->name, TALI_TYPE_REALS, .initial = ""};
    parse_list(m, item, &numbers, item->element->text, &item->lists[0]);
}

// ---- references

typedef struct in_group {
    const tali_model *m;
    tali_model_group group, also;
} in_group;

// Names of a group for guessing; those without a name are passed over as "".
static const char *item_name_at(const void *context, int i)
{
    const in_group *in = context;
    const int behind = i - in->m->num_items;
    if (behind >= 0) {
        return in->group == TALI_GROUP_MATERIALS ? tali_model_common_material_at(behind) : NULL;
    }
    const tali_model_item *item = &in->m->items[i];
    const bool fits = item->group == in->group || item->group == in->also;
    return fits && item->name != NULL ? item->name : "";
}

// What a group has, for messages.
static const char *word_of(tali_model_group group)
{
    return group == TALI_GROUP_BODIES            ? "body"
           : group == TALI_GROUP_MEASURES        ? "measure"
           : group == TALI_GROUP_NAMED_FUNCTIONS ? "function"
           : group == TALI_GROUP_MATERIALS       ? "material"
           : group == TALI_GROUP_WRAPS           ? "obstacle"
           : group == TALI_GROUP_PATHS           ? "path"
           : group == TALI_GROUP_FORCES          ? "force"
                                                 : "constraint";
}

// Something of another kind with that name; NULL when there is none.
static const tali_model_item *namesake_of(const tali_model *m, const char *name)
{
    int other = -1;
    for (int group = 0; group < TALI_NUM_GROUPS && other < 0; ++group) {
        other = tali_model_find_name(m, (tali_model_group)group, name);
    }
    return other >= 0 ? &m->items[other] : NULL;
}

// What may have been meant by a name; NULL when nothing comes near.
static const char *guess_name(const tali_model *m, tali_model_group group, tali_model_group also,
                              const char *name)
{
    const in_group in = {m, group, also};
    // guessing looks at every name: not when it would take long
    if (tal_diagnostics_num_errors(m->found) >= 50 || m->num_items >= 10000) return NULL;
    const char *guess = tali_text_did_you_mean(name, item_name_at, &in);
    return guess != NULL && *guess != '\0' ? guess : NULL;
}

// What a name means. False, and an error, when there is no such name.
static bool resolve_name(tali_model *m, const tali_model_item *item, const tali_model_attribute *a,
                         tali_model_group group, const char *name, int *ref)
{
    *ref = -1;
    if (group == TALI_GROUP_BODIES && strcmp(name, "ground") == 0) {
        if (item->include >= 0) *ref = m->items[item->include].ref[0];
        return true;
    }
    *ref = tali_model_find_from(m, item, group, name);
    if (*ref >= 0) {
        m->items[*ref].used = true;
        return true;
    }
    const tali_model_item *namesake = namesake_of(m, name);
    if (namesake != NULL) {
        tali_model_item_error(
            m, item, a->name, ": '%.60s' is not a %s but the <%s> in line %d of %.80s", name,
            word_of(group), namesake->row->name, namesake->element->line, namesake->xml->file);
        return false;
    }
    const char *guess = guess_name(m, group, group, name);
    tali_model_item_error(m, item, a->name, ": there is no %s '%.60s'%s%s%s", word_of(group), name,
                          guess != NULL ? " (did you mean '" : "", guess != NULL ? guess : "",
                          guess != NULL ? "'?)" : "");
    return false;
}

// The same for what is made in the order of the files.
static void resolve_earlier(tali_model *m, const tali_model_item *item,
                            const tali_model_attribute *a, tali_model_group group, const char *name,
                            int *ref)
{
    if (!resolve_name(m, item, a, group, name, ref) || *ref < (int)(item - m->items)) return;
    tali_model_item_error(m, item, a->name,
                          ": the %s '%s' must come before the element that uses it", word_of(group),
                          name);
    *ref = -1;
}

static void resolve_material(tali_model *m, const tali_model_item *item,
                             const tali_model_attribute *a, const char *name, int *ref)
{
    const char *common;
    for (int i = 0; (common = tali_model_common_material_at(i)) != NULL; ++i) {
        *ref = -1 - i;
        if (strcmp(common, name) == 0) return;
    }
    resolve_earlier(m, item, a, TALI_GROUP_MATERIALS, name, ref);
}

// A coordinate that a file names, as the number of a mobility of its body.
static bool resolve_coordinate(tali_model *m, const tali_model_item *item,
                               const tali_model_attribute *a, int coordinate,
                               tali_model_mobility_ref *out)
{
    const tali_model_item *found = &m->items[coordinate];
    out->body = found->parent;
    out->index = tali_model_coordinate_number(m, found, a->flags);
    m->items[out->body].used = true;
    if (out->index >= 0) return true;
    tali_model_item_error(
        m, item, a->name,
        (a->flags & TALI_COUNTED_WITH_ANGLES) != 0
            ? ": '%.60s' is part of a quaternion; forces cannot act on it"
            : ": the rate of '%.60s' is not a speed of its body, whose speeds are "
              "'BODY:NUMBER'",
        found->name);
    return false;
}

// "body:index" in two, unless it is the name of a body as a whole. False when there is no index
// behind ':'.
static bool split_index(const tali_model *m, const tali_model_item *item, char *name, int *index)
{
    char *colon = strrchr(name, ':');
    *index = 0;
    if (colon == NULL || tali_model_is_body(m, item, name)) return true;
    const char *end = tal_integer_read(colon + 1, NULL, index);
    if (end == NULL || *end != '\0' || *index < 0) return false;
    *colon = '\0';
    return true;
}

// A name without blanks around it. False when there is none, or it is too long.
static bool trim(const char *text, size_t length, char name[], size_t size)
{
    while (length > 0 && tali_text_is_blank(*text)) {
        ++text;
        --length;
    }
    while (length > 0 && tali_text_is_blank(text[length - 1])) {
        --length;
    }
    if (length == 0 || length >= size) return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return true;
}

static void report_mobility(tali_model *m, const tali_model_item *item,
                            const tali_model_attribute *a, const char *name)
{
    const char *guess = guess_name(m, TALI_GROUP_BODIES, TALI_GROUP_BODY_PARTS, name);
    if (a->type == TALI_TYPE_MOBILITIES && strpbrk(name, ", ") != NULL) {
        tali_model_item_error(m, item, a->name, ": the mobilities '%.60s' must be separated by ';'",
                              name);
        return;
    }
    tali_model_item_error(
        m, item, a->name,
        ": '%.60s' must be a coordinate, a body with one mobility, or BODY:NUMBER%s%s%s", name,
        guess != NULL ? " (did you mean '" : "", guess != NULL ? guess : "",
        guess != NULL ? "'?)" : "");
}

// "body", "body:index" or the name of a coordinate, in this order; a body whose own name looks like
// the second goes first.
static bool resolve_mobility(tali_model *m, const tali_model_item *item,
                             const tali_model_attribute *a, const char *text, size_t length,
                             tali_model_mobility_ref *out)
{
    char whole[TAL_MAX_NAME + 16], name[sizeof whole];
    const bool only_bodies = a->type == TALI_TYPE_BODIES;
    if (!trim(text, length, whole, sizeof whole)) {
        tali_model_item_error(m, item, a->name,
                              ": '%s' must name a body, as in 'knee' or 'pelvis:2'", a->name);
        return false;
    }
    memcpy(name, whole, strlen(whole) + 1);
    const bool split = split_index(m, item, name, &out->index);
    if (!only_bodies && !(split && tali_model_is_body(m, item, name))) {
        const int coordinate = tali_model_find_from(m, item, TALI_GROUP_BODY_PARTS, whole);
        if (coordinate >= 0) return resolve_coordinate(m, item, a, coordinate, out);
    }
    if (!split) {
        tali_model_item_error(m, item, a->name, ": '%s' has no index after ':'", a->name);
        return false;
    }
    if (!only_bodies && !tali_model_is_body(m, item, name) && namesake_of(m, name) == NULL) {
        report_mobility(m, item, a, a->type == TALI_TYPE_MOBILITIES ? whole : name);
        return false;
    }
    if (!resolve_name(m, item, a, TALI_GROUP_BODIES, name, &out->body)) return false;
    if (only_bodies) return true;

    const int nu = out->body >= 0 ? tali_model_item_nu(&m->items[out->body]) : 0;
    const int nq = out->body >= 0 ? tali_model_item_nq(&m->items[out->body]) : 0;
    const int most = nu > nq ? nu : nq;
    if (out->index < most) return true;
    tali_model_item_error(m, item, a->name, ": '%s' has %d mobilities, so there is no '%s:%d'",
                          name, nu, name, out->index);
    return false;
}

// Names separated by ';' as mobilities, or as bodies.
static void resolve_mobilities(tali_model *m, tali_model_item *item, const tali_model_attribute *a,
                               const char *text)
{
    int count = *text != '\0';
    for (const char *at = text; (at = strchr(at, ';')) != NULL; ++at) {
        ++count;
    }
    const int most = TAL_CONSTRAINT_MOBILITIES;
    if (a->type == TALI_TYPE_MOBILITIES && (count < 1 || count > most)) {
        tali_model_item_error(m, item, a->name, ": '%s' has %d mobilities; 1 to %d are possible",
                              a->name, count, most);
        return;
    }
    item->mobilities = tali_arena_take(&m->arena, (size_t)count * sizeof *item->mobilities);
    if (item->mobilities == NULL) {
        m->no_memory = true;
        return;
    }
    item->num_mobilities = count;
    for (int i = 0; i < count; ++i) {
        const size_t length = strcspn(text, ";");
        if (!resolve_mobility(m, item, a, text, length, &item->mobilities[i])) return;
        text += length + 1;
    }
}

// Numbers that are angles if the mobility is.
static void convert_of_mobility(const tali_model *m, tali_model_item *item,
                                const tali_model_attribute *a, tali_model_room at)
{
    if ((a->flags & TALI_OF_MOBILITY) == 0 || item->unit == 1.0) return;
    const tali_model_row *row = item->row;
    tali_model_room r = {0, 0, 0, 0};
    const tali_model_attribute *other;
    for (int i = 0; (other = tali_model_row_attribute(row, i)) != NULL; ++i) {
        if (other->type == TALI_TYPE_MOBILITY) break;
        r = room_after(r, other);
    }
    if (other == NULL || !tali_model_is_angle(m, item->ref[r.ref], item->ref[r.ref + 1], false)) {
        return;
    }
    for (int k = 0; k < a->count; ++k) {
        item->p[at.p + k] *= item->unit;
    }
}

void tali_model_item_resolve(tali_model *m, tali_model_item *item)
{
    const tali_model_attribute *all[MAX_ATTRIBUTES], *a;
    const int n = attributes_of(item->row, all);
    tali_model_room at = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) {
        a = all[i];
        const bool refers = a->type >= TALI_TYPE_BODY;
        const tali_xml_attribute *given = refers ? tali_xml_find(item->element, a->name) : NULL;
        const char *text = given != NULL ? given->value : a->initial;
        int *ref = item->ref + at.ref;
        if (!refers || text == NULL) {
            // a value, or missing, with an error
        } else if (a->type == TALI_TYPE_BODY && text == a->initial && *text == '\0') {
            *ref = TALI_NO_BODY;
        } else if (a->type == TALI_TYPE_BODY) {
            (void)resolve_name(m, item, a, TALI_GROUP_BODIES, text, ref);
        } else if (a->type == TALI_TYPE_MEASURE) {
            *ref = -1;
            if (*text != '\0') (void)resolve_name(m, item, a, TALI_GROUP_MEASURES, text, ref);
        } else if (a->type == TALI_TYPE_CONSTRAINT) {
            *ref = -1;
            if (*text != '\0') (void)resolve_name(m, item, a, TALI_GROUP_CONSTRAINTS, text, ref);
        } else if (a->type == TALI_TYPE_WRAP) {
            (void)resolve_name(m, item, a, TALI_GROUP_WRAPS, text, ref);
        } else if (a->type == TALI_TYPE_PATH) {
            (void)resolve_name(m, item, a, TALI_GROUP_PATHS, text, ref);
        } else if (a->type == TALI_TYPE_UNILATERAL) {
            (void)resolve_name(m, item, a, TALI_GROUP_UNILATERALS, text, ref);
        } else if (a->type == TALI_TYPE_FORCE) {
            (void)resolve_name(m, item, a, TALI_GROUP_FORCES, text, ref);
        } else if (a->type == TALI_TYPE_FUNCTION) {
            resolve_earlier(m, item, a, TALI_GROUP_NAMED_FUNCTIONS, text, ref);
        } else if (a->type == TALI_TYPE_MATERIAL) {
            resolve_material(m, item, a, text, ref);
        } else if (a->type == TALI_TYPE_MOBILITY) {
            tali_model_mobility_ref mobility = {-1, 0};
            const bool good = resolve_mobility(m, item, a, text, strlen(text), &mobility);
            ref[0] = good ? mobility.body : -1;
            ref[1] = mobility.index;
        } else if (a->type == TALI_TYPE_MOBILITIES || a->type == TALI_TYPE_BODIES) {
            resolve_mobilities(m, item, a, text);
        }
        convert_of_mobility(m, item, a, at);
        at = room_after(at, a);
    }
}
