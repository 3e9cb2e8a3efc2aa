// What all analyses share: which there are, their tables, messages and frames, one row.
#include "error_internal.h"

#include "opensim/analysis_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const tali_osim_analysis_kind *const kinds[] = {
    &tali_osim_kinematics,          &tali_osim_body_kinematics,       &tali_osim_point_kinematics,
    &tali_osim_actuation,           &tali_osim_muscle_analysis,       &tali_osim_joint_reaction,
    &tali_osim_static_optimization, &tali_osim_induced_accelerations, &tali_osim_force_reporter,
    &tali_osim_probe_reporter};

enum {
    NUM_KINDS = sizeof kinds / sizeof *kinds,
    MAX_FLAGGED = 5 // rows with trouble that are named
};

// What was wrong with rows since it was last told.
struct tali_osim_flags {
    int num; // all of them
    char first[MAX_FLAGGED][320];
};

// --- messages and memory ---

static void say(tali_osim_analysis *a, tal_severity severity, const char *property, const char *fmt,
                va_list args) TAL_PRINTF(4, 0);

static void say(tali_osim_analysis *a, tal_severity severity, const char *property, const char *fmt,
                va_list args)
{
    const tali_xml_element *at = tali_xml_child(a->element, property);
    if (at == NULL) at = a->element;
    char rest[320];
    tali_error_print(rest, sizeof rest, fmt, args);
    tal_diagnostics_add(a->tool->setup.found, severity, a->tool->setup.xml->file, at->line,
                        at->column, "<%s>: %s", property, rest);
}

void tali_osim_analysis_error(tali_osim_analysis *a, const char *property, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(a, TAL_ERROR, property, fmt, args);
    va_end(args);
}

void tali_osim_analysis_warn(tali_osim_analysis *a, const char *property, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(a, TAL_WARNING, property, fmt, args);
    va_end(args);
}

void tali_osim_analysis_flag(tali_osim_analysis *a, const char *fmt, ...)
{
    tali_osim_flags *flags = a->flags;
    const int i = flags->num++;
    if (i >= MAX_FLAGGED) return;
    va_list args;
    va_start(args, fmt);
    tali_error_print(flags->first[i], sizeof flags->first[i], fmt, args);
    va_end(args);
}

// Tell what a lane found, the first few of the whole run by themselves.
static void tell_flags(tali_osim_analysis *a, tali_osim_flags *found)
{
    for (int i = 0; i < found->num && i < MAX_FLAGGED; ++i) {
        if (a->num_flagged + i < MAX_FLAGGED) {
            tali_osim_analysis_warn(a, a->kind->name, "%s", found->first[i]);
        }
    }
    a->num_flagged += found->num;
    found->num = 0;
}

void *tali_osim_analysis_take(tali_osim_analysis *a, size_t size)
{
    void *memory = tali_arena_take(&a->tool->setup.arena, size);
    a->tool->setup.no_memory = a->tool->setup.no_memory || memory == NULL;
    return memory;
}

// For one more table.
static bool make_room(tali_osim_analysis *a)
{
    if (a->num_tables < a->tables_capacity) return true;
    const size_t n = 2 * (size_t)a->tables_capacity + 3;
    tal_table **tables = tali_osim_analysis_take(a, n * sizeof(tal_table *));
    double **rows = tali_osim_analysis_take(a, n * sizeof(double *));
    if (tables == NULL || rows == NULL) return false;
    if (a->num_tables > 0) {
        memcpy(tables, a->tables, (size_t)a->num_tables * sizeof(tal_table *));
    }
    a->tables = tables;
    a->rows = rows; // they are filled when all tables are there
    a->tables_capacity = (int)n;
    return true;
}

tal_table *tali_osim_analysis_add_table(tali_osim_analysis *a, const char *end, const char *title)
{
    char file[300];
    (void)snprintf(file, sizeof file, "%.100s_%.60s%.120s", a->tool->name, a->name, end);
    tal_table *table = tali_osim_tool_add_result(a->tool, file, title);
    if (table == NULL || !make_room(a)) return NULL;
    a->tables[a->num_tables++] = table;
    return table;
}

void tali_osim_analysis_add_triple(tali_osim_analysis *a, tal_table *table, const char *name,
                                   const char *const ends[3])
{
    for (int k = 0; k < 3; ++k) {
        tali_osim_tool_add_column(a->tool, table, name, ends[k]);
    }
}

double *tali_osim_analysis_put(double *at, tal_vec3 v)
{
    at[0] = v.x;
    at[1] = v.y;
    at[2] = v.z;
    return at + 3;
}

// Whether a path ends with these names.
static bool ends_with(const char *path, const char *name)
{
    const size_t n = strlen(path), length = strlen(name);
    if (n < length || strcmp(path + n - length, name) != 0) return false;
    return n == length || name[0] == '/' || path[n - length - 1] == '/';
}

static bool find_frame(const tali_osim *o, const char *name, tali_osim_place_on *place)
{
    int found = -1;
    for (int i = 0; i < o->num_frames; ++i) {
        const tali_osim_frame *f = &o->frames[i];
        if (f->body < 0 || !ends_with(f->path, name)) continue;
        if (found < 0 || f->socket == NULL) found = i; // a body before frames of its name
    }
    if (found < 0) return false;
    const tali_osim_frame *f = &o->frames[found];
    *place = (tali_osim_place_on){f->body, f->X_BF, tali_osim_last_name(f->path)};
    return true;
}

// Files before version 4 have frames of joints without names.
static bool find_joint_frame(tali_osim_analysis *a, const char *name, tali_osim_place_on *place)
{
    const tali_osim *o = &a->tool->o;
    for (int i = 0; i < 2 * o->num_joints; ++i) {
        const tali_osim_joint *joint = &o->joints[i / 2];
        const bool is_child = i % 2 == 0;
        const int body = is_child ? joint->child : joint->parent;
        char path[300];
        (void)snprintf(path, sizeof path, "/jointset/%.120s/%.120s_offset", joint->name,
                       o->bodies[body].name);
        if (!ends_with(path, name)) continue;
        const char *last = tali_osim_last_name(path);
        last = tali_arena_copy(&a->tool->setup.arena, last, strlen(last));
        a->tool->setup.no_memory = a->tool->setup.no_memory || last == NULL;
        *place = (tali_osim_place_on){body, is_child ? joint->X_CM : joint->X_PF, last};
        return last != NULL;
    }
    return false;
}

bool tali_osim_analysis_frame(tali_osim_analysis *a, const char *property, const char *name,
                              tali_osim_place_on *place)
{
    if (find_frame(&a->tool->o, name, place) || find_joint_frame(a, name, place)) return true;
    tali_osim_analysis_error(a, property, "the model has no body or frame '%.80s'", name);
    return false;
}

tal_xform tali_osim_analysis_pose(const tali_osim_analysis *a, const tali_osim_place_on *place)
{
    const tal_model *model = &a->tool->model;
    const tal_body_ix body = a->tool->o.bodies[place->body].body;
    return tal_xf_mul(tal_body_X_GB(model->matter, model->state, body), place->X_BF);
}

// --- which analyses ---

static const char *kind_at(const void *context, int i)
{
    (void)context;
    return i < NUM_KINDS ? kinds[i]->name : NULL;
}

static const tali_osim_analysis_kind *find_kind(tali_osim_tool *tool, const tali_xml_element *e)
{
    for (int i = 0; i < NUM_KINDS; ++i) {
        if (strcmp(kinds[i]->name, e->name) == 0) return kinds[i];
    }
    const char *meant = tali_text_did_you_mean(e->name, kind_at, NULL);
    tali_osim_error(&tool->setup, e, " is not an analysis that Talus has%s%s%s",
                    meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
    return NULL;
}

// Let the rows of all tables be these numbers.
static void aim(tali_osim_analysis *a, double *buffer)
{
    for (int k = 0; k < a->num_tables; ++k) {
        a->rows[k] = buffer;
        buffer += tal_table_num_columns(a->tables[k]);
    }
}

// Tables first, then rows for them: columns are all there then.
static void begin_analysis(tali_osim_tool *tool, tali_osim_analyses *all, const tali_xml_element *e)
{
    tali_osim *setup = &tool->setup;
    const tali_osim_analysis_kind *kind = find_kind(tool, e);
    if (kind == NULL) return;
    if (all->num == TALI_OSIM_MAX_ANALYSES) {
        tali_osim_error(setup, e, ": there are more than %d analyses", TALI_OSIM_MAX_ANALYSES);
        return;
    }
    tali_osim_analysis *a = &all->items[all->num];
    const char *name = tali_osim_name(e);
    const double interval = tali_osim_number(setup, e, "step_interval", 1.0);
    *a = (tali_osim_analysis){.kind = kind,
                              .tool = tool,
                              .element = e,
                              .name = name[0] != '\0' ? name : kind->name,
                              .start = tali_osim_number(setup, e, "start_time", -INFINITY),
                              .end = tali_osim_number(setup, e, "end_time", INFINITY),
                              .interval = interval >= 1.0 && interval < 1e6 ? (int)interval : 1,
                              .in_degrees = tali_osim_bool(setup, e, "in_degrees", true)};
    a->flags = tali_osim_analysis_take(a, sizeof *a->flags);
    if (a->flags == NULL) return;
    a->flags->num = 0;
    kind->begin(a);
    a->width = 0;
    for (int k = 0; k < a->num_tables; ++k) {
        a->width += (size_t)tal_table_num_columns(a->tables[k]);
    }
    a->buffer = tali_osim_analysis_take(a, a->width * sizeof *a->buffer);
    if (a->buffer != NULL) aim(a, a->buffer);
    all->num += 1;
}

void tali_osim_analyses_begin(tali_osim_tool *tool, tali_osim_analyses *all)
{
    const tali_xml_element *e = tali_osim_first_of(tool->root, "AnalysisSet");
    for (; e != NULL; e = e->next) {
        if (tali_osim_bool(&tool->setup, e, "on", true)) begin_analysis(tool, all, e);
    }
}

void tali_osim_analyses_add(tali_osim_tool *tool, tali_osim_analyses *all,
                            const tali_osim_analysis_kind *kind)
{
    for (int k = 0; k < all->num; ++k) {
        if (all->items[k].kind == kind) return;
    }
    tali_xml_element *e = tali_osim_take(&tool->setup, 1, sizeof *e);
    if (e == NULL) return;
    *e = *tool->root;
    e->name = kind->name;
    e->first = NULL;
    e->num_attributes = 0;
    begin_analysis(tool, all, e);
}

// --- one row ---

// Whether an analysis records this row, the next one that it sees.
static bool wants(tali_osim_analysis *a, double t)
{
    const double slack = 1e-6; // a filter leaves times that are off by their last digits [s]
    if (t < a->start - slack || t > a->end + slack) return false;
    return a->count++ % a->interval == 0;
}

// The numbers of a row, for all tables.
static void fill(tali_osim_analysis *a, double t, bool failed)
{
    for (int k = 0; k < a->num_tables; ++k) {
        const int n = tal_table_num_columns(a->tables[k]);
        for (int c = 0; c < n; ++c) {
            a->rows[k][c] = c == 0 ? t : (double)NAN;
        }
    }
    if (!failed) a->kind->record(a);
}

static void add_row(tali_osim_analysis *a, const double *row)
{
    for (int k = 0; k < a->num_tables; ++k) {
        const tal_status st = tal_table_add_row(a->tables[k], row);
        a->tool->setup.no_memory = a->tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
        row += tal_table_num_columns(a->tables[k]);
    }
}

void tali_osim_analyses_record(tali_osim_analyses *all, double t, bool failed)
{
    for (int k = 0; k < all->num; ++k) {
        tali_osim_analysis *a = &all->items[k];
        if (!wants(a, t)) continue;
        fill(a, t, failed);
        add_row(a, a->buffer);
        tell_flags(a, a->flags);
    }
}

void tali_osim_analyses_end(tali_osim_analyses *all)
{
    for (int k = 0; k < all->num; ++k) {
        tali_osim_analysis *a = &all->items[k];
        if (a->kind->end != NULL) a->kind->end(a);
        if (a->num_flagged > MAX_FLAGGED) {
            tali_osim_analysis_warn(a, a->kind->name, "it is so at %d times in all",
                                    a->num_flagged);
        }
    }
}

// --- rows on several threads ---

bool tali_osim_analyses_can_fork(const tali_osim_analyses *all)
{
    bool can = true;
    for (int k = 0; k < all->num; ++k) {
        can = can && !all->items[k].kind->in_order;
    }
    return can;
}

size_t tali_osim_analyses_width(const tali_osim_analyses *all)
{
    size_t width = 0;
    for (int k = 0; k < all->num; ++k) {
        width += all->items[k].width;
    }
    return width;
}

bool tali_osim_analyses_fork(const tali_osim_analyses *all, tali_osim_tool *tool,
                             const double *udot, tali_osim_analyses *lane)
{
    *lane = *all;
    for (int k = 0; k < lane->num; ++k) {
        tali_osim_analysis *a = &lane->items[k];
        a->tool = tool;
        a->udot = udot;
        a->flags = tali_osim_analysis_take(a, sizeof *a->flags);
        a->rows = tali_osim_analysis_take(a, ((size_t)a->num_tables + 1) * sizeof *a->rows);
        if (a->flags == NULL || a->rows == NULL) {
            lane->num = k; // the others have nothing to release
            return false;
        }
        a->flags->num = 0;
        if (a->kind->fork == NULL) continue;
        a->data = NULL;
        a->kind->fork(a, all->items[k].data);
    }
    return !tool->setup.no_memory;
}

void tali_osim_analyses_release(tali_osim_analyses *lane)
{
    for (int k = 0; k < lane->num; ++k) {
        tali_osim_analysis *a = &lane->items[k];
        if (a->kind->release != NULL && a->data != NULL) a->kind->release(a);
    }
}

void tali_osim_analyses_restart(tali_osim_analyses *lane)
{
    for (int k = 0; k < lane->num; ++k) {
        tali_osim_analysis *a = &lane->items[k];
        if (a->kind->restart != NULL) a->kind->restart(a);
    }
}

uint32_t tali_osim_analyses_want(tali_osim_analyses *all, double t)
{
    uint32_t wanted = 0;
    for (int k = 0; k < all->num; ++k) {
        if (wants(&all->items[k], t)) wanted |= (uint32_t)1 << k;
    }
    return wanted;
}

void tali_osim_analyses_fill(tali_osim_analyses *lane, uint32_t wanted, double t, bool failed,
                             double row[])
{
    for (int k = 0; k < lane->num; ++k) {
        tali_osim_analysis *a = &lane->items[k];
        if ((wanted >> k & 1) != 0) {
            aim(a, row);
            fill(a, t, failed);
        }
        row += a->width;
    }
}

void tali_osim_analyses_add_row(tali_osim_analyses *all, uint32_t wanted, const double row[])
{
    for (int k = 0; k < all->num; ++k) {
        if ((wanted >> k & 1) != 0) add_row(&all->items[k], row);
        row += all->items[k].width;
    }
}

void tali_osim_analyses_take_flags(tali_osim_analyses *all, tali_osim_analyses *lane)
{
    for (int k = 0; k < all->num; ++k) {
        tell_flags(&all->items[k], lane->items[k].flags);
    }
}
