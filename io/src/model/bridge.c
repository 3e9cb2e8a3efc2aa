// Between tables and studies: runs to files, markers from files.
#include "alloc_internal.h"
#include "error_internal.h"

#include "table/table_internal.h"

#include <talus/common/version.h>
#include <talus/io/bridge.h>
#include <talus/io/number.h>
#include <talus/matter/units.h>

#include <string.h>

// --- what columns measure ---

bool tal_coordinate_is_of_quaternion(const tal_matter *matter, const tal_state *state,
                                     tal_body_ix body, int i)
{
    return i >= 0 && i < 4 && tal_body_nq(matter, state, body) > tal_body_nq_angles(matter, body);
}

bool tal_speed_is_turning(const tal_matter *matter, const tal_state *state, tal_body_ix body, int i)
{
    return strcmp(tal_body_u_unit(matter, state, body, i), "rad/s") == 0;
}

bool tal_coordinate_is_angle(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                             int i)
{
    return strcmp(tal_body_q_unit(matter, state, body, i), "rad") == 0;
}

// --- from a recorder ---

static tal_status copy_columns(const tal_recorder *recorder, tal_table *table, tal_error *err)
{
    const int n = tal_recorder_num_columns(recorder);
    for (int i = 0; i < n; ++i) {
        const char *name = tal_recorder_column_name(recorder, i);
        if (tal_table_find_column(table, name) >= 0) {
            return TALI_FAIL(err, TAL_ERR_BAD_NAME, "two columns are named '%s'", name);
        }
        const tal_status st = tal_table_add_column(table, name);
        if (st != TAL_OK) {
            return TALI_FAIL(err, st, "column '%s' cannot be added to the table", name);
        }
    }
    return TAL_OK;
}

static tal_status copy_rows(const tal_recorder *recorder, tal_table *table, tal_error *err)
{
    tal_status st = tal_table_set_header(table, "talus_version", tal_version_string());
    if (st == TAL_OK) st = tal_table_set_header(table, "git_hash", tal_git_hash());
    if (st == TAL_OK) st = tal_table_set_header(table, "kernels", tal_matter_kernel_set());
    for (int i = 0; i < tal_recorder_num_rows(recorder) && st == TAL_OK; ++i) {
        st = tal_table_add_row(table, tal_recorder_row(recorder, i));
    }
    return st == TAL_OK ? st : TALI_FAIL(err, st, "no memory for a table");
}

tal_status tal_table_from_recorder(const tal_recorder *recorder, const tal_allocator *allocator,
                                   tal_table **out, tal_error *err)
{
    if (out != NULL) *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (recorder == NULL || out == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL", out == NULL ? "'out'" : "the recorder");
    }
    tal_allocator from;
    tal_status st = tali_alloc_choose(allocator, &from, __func__);
    if (st != TAL_OK) return TALI_FAIL(err, st, "the allocator has no alloc or no free");
    tal_table *table = tal_table_create(&from);
    if (table == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a table");
    st = copy_columns(recorder, table, err);
    if (st == TAL_OK) st = copy_rows(recorder, table, err);
    if (st == TAL_OK) {
        *out = table;
    } else {
        tal_table_destroy(table);
    }
    return st;
}

// --- settings ---

static void record_number(tal_table *table, const char *key, double value, tal_status *st)
{
    char text[TAL_NUMBER_SIZE];
    (void)tal_number_write(value, text);
    if (*st == TAL_OK) *st = tal_table_set_header(table, key, text);
}

static void record_text(tal_table *table, const char *key, const char *value, tal_status *st)
{
    if (*st == TAL_OK) *st = tal_table_set_header(table, key, value);
}

static const char *method_name(const tal_integrator_def *def)
{
    switch (def->method) {
    case TAL_METHOD_RUNGE_KUTTA:
        return def->tableau != NULL ? def->tableau->name : "Merson 4(3)";
    case TAL_METHOD_SEMI_EXPLICIT_EULER:
        return "semi-explicit Euler";
    case TAL_METHOD_VERLET:
        return "Verlet";
    default:
        return "other";
    }
}

tal_status tal_table_record_integrator(tal_table *table, const tal_integrator_def *def)
{
    if (table == NULL || def == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", table == NULL ? "table" : "definition");
    }
    tal_status st = TAL_OK;
    record_text(table, "integrator.method", method_name(def), &st);
    record_number(table, "integrator.accuracy", def->accuracy, &st);
    record_number(table, "integrator.fixed_step", def->fixed_step, &st);
    record_number(table, "integrator.initial_step", def->initial_step, &st);
    record_number(table, "integrator.min_step", def->min_step, &st);
    record_number(table, "integrator.max_step", def->max_step, &st);
    record_number(table, "integrator.max_steps", (double)def->max_steps, &st);
    record_text(table, "integrator.infinity_norm", def->infinity_norm ? "yes" : "no", &st);
    record_text(table, "integrator.absolute_u", def->absolute_u ? "yes" : "no", &st);
    record_text(table, "integrator.absolute_z", def->absolute_z ? "yes" : "no", &st);
    record_number(table, "integrator.constraint_tolerance", def->constraint_tolerance, &st);
    record_text(table, "integrator.project_every_step", def->project_every_step ? "yes" : "no",
                &st);
    return st;
}

// --- markers ---

// Meters in one of the table's units; 0 when they are not known.
static double unit_of(const tal_table *table)
{
    const char *units = tal_table_header(table, "Units");
    if (units == NULL || tali_table_same_word(units, "m")) return 1.0;
    if (tali_table_same_word(units, "cm")) return 0.01;
    return tali_table_same_word(units, "mm") ? 0.001 : 0.0;
}

// The three columns of a marker, -1 for those that are not there.
static void find_marker(const tal_table *table, const char *name, int columns[3])
{
    for (int k = 0; k < 3; ++k) {
        char label[256];
        const int n = snprintf(label, sizeof label, "%s.%c", name, "xyz"[k]);
        columns[k] = n < (int)sizeof label ? tal_table_find_column(table, label) : -1;
    }
}

static void report_missing(const char *name, tal_diagnostics *found)
{
    tal_diagnostics_add(found, TAL_WARNING, NULL, 0, 0,
                        "marker '%.60s' is not in the table; it is ignored", name);
}

// Division rounds once; 0.001 has no exact double, so 1.0 mm would not be the double nearest to
// 0.001 m.
static double to_meters(double value, double unit)
{
    return unit == 1.0 ? value : value / (unit == 0.01 ? 100.0 : 1000.0);
}

static void copy_marker(const tal_table *table, const int columns[3], double unit, int marker,
                        int num_markers, tal_vec3 points[])
{
    const bool there = columns[0] >= 0 && columns[1] >= 0 && columns[2] >= 0;
    for (int i = 0; i < tal_table_num_rows(table); ++i) {
        const double *row = tal_table_row(table, i);
        tal_vec3 *p = &points[(size_t)i * (size_t)num_markers + (size_t)marker];
        *p = tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
        if (!there) continue;
        *p = tal_v3(to_meters(row[columns[0]], unit), to_meters(row[columns[1]], unit),
                    to_meters(row[columns[2]], unit));
    }
}

// Markers of the table that are not wanted.
static void report_unknown(const tal_table *table, const bool wanted[], tal_diagnostics *found)
{
    for (int c = 1; c < tal_table_num_columns(table); ++c) {
        const char *label = tal_table_column_name(table, c);
        const size_t length = strlen(label);
        if (wanted[c] || length < 3 || strcmp(label + length - 2, ".x") != 0) continue;
        tal_diagnostics_add(found, TAL_WARNING, NULL, 0, 0, "marker '%.*s' of the table is unused",
                            (int)(length < 62 ? length - 2 : 60), label);
    }
}

// Copy the times and the points of the markers, in meters, into one block.
static tal_status fill_frames(const tal_table *table, const char *const names[], int n, double unit,
                              tal_marker_frames *out, tal_diagnostics *found)
{
    const int rows = tal_table_num_rows(table), columns = tal_table_num_columns(table);
    double *times = NULL;
    tal_vec3 *points = NULL;
    bool *wanted = NULL;
    const tali_piece pieces[] = {{&times, (size_t)rows * sizeof *times},
                                 {&points, (size_t)rows * (size_t)n * sizeof *points},
                                 {&wanted, (size_t)columns * sizeof *wanted}};
    out->size = tali_pieces_place(pieces, 3, NULL);
    out->block = tali_alloc(&out->allocator, out->size);
    if (out->block == NULL) return TAL_ERR_NO_MEMORY;
    (void)tali_pieces_place(pieces, 3, out->block);
    const int time = tal_table_find_column(table, "time");
    for (int i = 0; i < rows; ++i) {
        times[i] = tal_table_value(table, i, time);
    }
    for (int m = 0; m < n; ++m) {
        int where[3];
        find_marker(table, names[m], where);
        if (where[0] < 0 || where[1] < 0 || where[2] < 0) report_missing(names[m], found);
        if (where[0] >= 0) wanted[where[0]] = true;
        copy_marker(table, where, unit, m, n, points);
    }
    report_unknown(table, wanted, found);
    out->num_markers = n;
    out->frames.num_frames = rows;
    out->frames.times = times;
    out->frames.points = n > 0 ? points : NULL;
    return TAL_OK;
}

static tal_status check_names(const char *const names[], int n)
{
    if (n < 0) return TALI_BREACH(TAL_ERR_BAD_VALUE, "there cannot be %d markers", n);
    if (names == NULL && n > 0) return TALI_BREACH(TAL_ERR_NULL, "the names are NULL");
    for (int i = 0; i < n; ++i) {
        if (names[i] == NULL) return TALI_BREACH(TAL_ERR_NULL, "the name of marker %d is NULL", i);
    }
    return TAL_OK;
}

tal_status tal_marker_frames_create(const tal_table *table, const char *const names[], int n,
                                    const tal_allocator *allocator, tal_marker_frames *out,
                                    tal_diagnostics *found)
{
    if (out != NULL) *out = (tal_marker_frames){.num_markers = 0};
    if (table == NULL || out == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL", out == NULL ? "'out'" : "the table");
    }
    tal_status st = check_names(names, n);
    if (st != TAL_OK) return st;
    const double unit = unit_of(table);
    if (unit == 0.0) {
        tal_diagnostics_add(found, TAL_ERROR, NULL, 0, 0,
                            "Units are '%.40s'; they must be m, cm or mm",
                            tal_table_header(table, "Units"));
        return TAL_ERR_BAD_VALUE;
    }
    if (tal_table_find_column(table, "time") < 0) {
        tal_diagnostics_add(found, TAL_ERROR, NULL, 0, 0, "the table has no column 'time'");
        return TAL_ERR_BAD_VALUE;
    }
    st = tali_alloc_choose(allocator, &out->allocator, __func__);
    if (st == TAL_OK) st = fill_frames(table, names, n, unit, out, found);
    if (st != TAL_OK) *out = (tal_marker_frames){.num_markers = 0};
    return st;
}

void tal_marker_frames_destroy(tal_marker_frames *frames)
{
    if (frames == NULL) return;
    if (frames->block != NULL) tali_free(&frames->allocator, frames->block, frames->size);
    *frames = (tal_marker_frames){.num_markers = 0};
}
