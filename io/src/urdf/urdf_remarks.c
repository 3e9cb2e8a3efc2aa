// What is said about a URDF: errors one by one, everything else once for all that it is true of.
#include "error_internal.h"

#include "urdf/urdf_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_NAMES = 4 // of links or joints in a remark
};

void tali_urdf_error(tali_urdf *u, const tali_xml_element *element,
                     const tali_xml_attribute *attribute, const char *fmt, ...)
{
    char tag[128], rest[300];
    (void)tali_xml_tag(element, tag, sizeof tag);
    va_list args;
    va_start(args, fmt);
    tali_error_print(rest, sizeof rest, fmt, args);
    va_end(args);
    tali_xml_error(u->xml, element, attribute, u->found, "%s%s", tag, rest);
}

// --- remarks ---

// The remark of a sentence, a new one if need be; NULL when there are too many.
static tali_urdf_remark *find_remark(tali_urdf *u, tal_severity severity, const char *sentence,
                                     const tali_xml_element *e)
{
    for (int i = 0; i < u->num_remarks; ++i) {
        if (strcmp(u->remarks[i].sentence, sentence) == 0) return &u->remarks[i];
    }
    if (u->num_remarks == TALI_URDF_MAX_REMARKS) return NULL;
    tali_urdf_remark *it = &u->remarks[u->num_remarks++];
    *it = (tali_urdf_remark){severity, sentence, e->line, e->column, .count = 0};
    return it;
}

void tali_urdf_remark_on(tali_urdf *u, tal_severity severity, const char *sentence,
                         const tali_xml_element *element, const char *name)
{
    tali_urdf_remark *it = find_remark(u, severity, sentence, element);
    if (it == NULL) return;
    char quoted[120];
    (void)snprintf(quoted, sizeof quoted, "'%.100s'", name);
    if (strstr(it->names, quoted) != NULL) return; // reported
    it->count += 1;
    const size_t used = strlen(it->names), length = strlen(quoted);
    if (it->num_names == MOST_NAMES || used + length + 3 > sizeof it->names) return;
    (void)snprintf(it->names + used, sizeof it->names - used, "%s%s", used > 0 ? ", " : "", quoted);
    it->num_names += 1;
}

void tali_urdf_object_to(tali_urdf *u, const char *sentence, const tali_xml_element *element,
                         const char *name)
{
    if (u->options.strict) {
        tali_xml_error(u->xml, element, NULL, u->found, "%s: '%.60s'", sentence, name);
    } else {
        tali_urdf_remark_on(u, TAL_WARNING, sentence, element, name);
    }
}

static void tell_remarks(tali_urdf *u)
{
    for (int i = 0; i < u->num_remarks; ++i) {
        const tali_urdf_remark *it = &u->remarks[i];
        char more[32] = "";
        const int left = it->count - it->num_names;
        if (left > 0) (void)snprintf(more, sizeof more, " and %d more", left);
        tal_diagnostics_add(u->found, it->severity, u->xml->file, it->line, it->column, "%s: %s%s",
                            it->sentence, it->names, more);
    }
}

// --- what is not read ---

static void leave(tali_urdf *u, const char *subject, int line, int column)
{
    int i = 0;
    while (i < u->num_unread && strcmp(u->unread[i].what, subject) != 0) {
        ++i;
    }
    if (i == TALI_URDF_MAX_UNREAD) return;
    tali_urdf_unread *it = &u->unread[i];
    if (i == u->num_unread) {
        *it = (tali_urdf_unread){.line = line, .column = column};
        (void)snprintf(it->what, sizeof it->what, "%s", subject);
        u->num_unread += 1;
    }
    it->count += 1;
}

void tali_urdf_leave(tali_urdf *u, const tali_xml_element *e)
{
    char what[72];
    (void)snprintf(what, sizeof what, "<%.60s>", e->name);
    leave(u, what, e->line, e->column);
}

void tali_urdf_leave_attribute(tali_urdf *u, const tali_xml_element *e, const tali_xml_attribute *a)
{
    char what[72];
    (void)snprintf(what, sizeof what, "'%.30s' of <%.30s>", a->name, e->name);
    leave(u, what, a->line, a->column);
}

static void tell_unread(tali_urdf *u)
{
    char list[300] = "";
    size_t used = 0;
    int shown = 0;
    for (; shown < u->num_unread; ++shown) {
        const tali_urdf_unread *it = &u->unread[shown];
        char item[100];
        const int length =
            snprintf(item, sizeof item, "%s%s (%d)", shown > 0 ? ", " : "", it->what, it->count);
        if (used + (size_t)length + 20 > sizeof list) break;
        memcpy(list + used, item, (size_t)length + 1);
        used += (size_t)length;
    }
    if (u->num_unread == 0) return;
    tal_diagnostics_add(u->found, TAL_NOTE, u->xml->file, u->unread[0].line, u->unread[0].column,
                        "not read: %s%s", list, shown < u->num_unread ? " and others" : "");
}

void tali_urdf_tell(tali_urdf *u)
{
    tell_remarks(u);
    tell_unread(u);
}
