// C3D files as tables: markers, channels; the entry points.
#include "file_internal.h"

#include "c3d/c3d_internal.h"
#include "table/table_internal.h"
#include "text/reading_internal.h"

#include <talus/io/number.h>

#include <stdio.h>
#include <string.h>

// --- columns ---

// A label that is there already, or is "time", gets "_2" behind it, or "_3" and so on, and a
// warning. `end` is what the first column of a label ends with.
static void find_free(const tali_c3d *it, const tal_table *table, const char *end, char label[])
{
    char name[160], again[128];
    (void)snprintf(name, sizeof name, "%s%s", label, end);
    if (tal_table_find_column(table, name) < 0) return;
    for (int k = 2; tal_table_find_column(table, name) >= 0; ++k) {
        (void)snprintf(again, sizeof again, "%.110s_%d", label, k);
        (void)snprintf(name, sizeof name, "%s%s", again, end);
    }
    tal_diagnostics_add(it->found, TAL_WARNING, it->file, 0, 0,
                        "the label '%s' is there twice: the second one becomes '%s'", label, again);
    memcpy(label, again, sizeof again);
}

// Lengths without a unit are millimeters, as they are in nearly all files.
static tal_status set_units(const tali_c3d *it, tal_table *table)
{
    const tali_c3d_parameter units = tali_c3d_find(it, "POINT", "UNITS");
    char text[128];
    tali_c3d_text(&units, 0, text);
    if (text[0] == '\0') {
        tal_diagnostics_add(it->found, TAL_WARNING, it->file, 0, 0,
                            "the file has no POINT:UNITS: lengths are taken as mm");
    }
    return tal_table_set_header(table, "Units", text[0] != '\0' ? text : "mm");
}

static tal_status set_number(tal_table *table, const char *key, double value)
{
    char text[TAL_NUMBER_SIZE];
    (void)tal_number_write(value, text);
    return tal_table_set_header(table, key, text);
}

// --- parts ---

static tal_status add_marker_columns(const tali_c3d *it, tal_table *table)
{
    static const char *const ends[] = {".x", ".y", ".z"};
    tali_c3d_parameter labels = {.data = NULL};
    tal_status st = tal_table_add_column(table, "time");
    for (int i = 0; i < it->points && st == TAL_OK; ++i) {
        char label[128], name[160];
        tali_c3d_label(it, "POINT", i, &labels, label);
        find_free(it, table, ends[0], label);
        for (int k = 0; k < 3 && st == TAL_OK; ++k) {
            (void)snprintf(name, sizeof name, "%s%s", label, ends[k]);
            st = tal_table_add_column(table, name);
        }
    }
    return st;
}

static tal_status make_markers(const tali_c3d *it, double row[], tal_table *table)
{
    tal_status st = set_number(table, "DataRate", it->rate);
    if (st == TAL_OK) st = set_number(table, "OrigDataStartFrame", it->first);
    if (st == TAL_OK) st = add_marker_columns(it, table);
    for (int f = 0; f < it->frames && st == TAL_OK; ++f) {
        row[0] = f / it->rate;
        for (int i = 0; i < it->points; ++i) {
            tali_c3d_point(it, f, i, row + 1 + 3 * (ptrdiff_t)i);
        }
        st = tal_table_add_row(table, row);
    }
    return st;
}

static tal_status make_analog(const tali_c3d *it, double row[], tal_table *table)
{
    tali_c3d_parameter labels = {.data = NULL};
    tal_status st = tal_table_add_column(table, "time");
    for (int i = 0; i < it->channels && st == TAL_OK; ++i) {
        char label[128];
        tali_c3d_label(it, "ANALOG", i, &labels, label);
        find_free(it, table, "", label);
        st = tal_table_add_column(table, label);
    }
    for (int k = 0; k < it->frames * it->samples && st == TAL_OK; ++k) {
        row[0] = k / (it->rate * it->samples);
        for (int i = 0; i < it->channels; ++i) {
            row[i + 1] = tali_c3d_analog(it, k, i);
        }
        st = tal_table_add_row(table, row);
    }
    return st;
}

static tal_status make_part(const tali_c3d *it, tal_c3d_part part, double row[], tal_table *table)
{
    tal_status st = part == TAL_C3D_ANALOG ? TAL_OK : set_units(it, table);
    if (st != TAL_OK) return st;
    switch (part) {
    case TAL_C3D_MARKERS:
        return make_markers(it, row, table);
    case TAL_C3D_ANALOG:
        return make_analog(it, row, table);
    case TAL_C3D_PLATES:
    case TAL_C3D_FORCES:
        break;
    }
    return tali_c3d_make_plates(it, part == TAL_C3D_FORCES, table);
}

// --- entry points ---

static tal_status check_call(const char *name, const void *bytes, tal_c3d_part part,
                             const tal_table_options *options, tal_table **out, const char *where)
{
    if (out != NULL) *out = NULL;
    const tal_status st =
        tali_reading_check(name, bytes, out, options != NULL ? &options->allocator : NULL, where);
    if (st != TAL_OK) return st;
    if ((int)part >= TAL_C3D_MARKERS && (int)part <= TAL_C3D_FORCES) return TAL_OK;
    return tali_breach(TAL_ERR_BAD_VALUE, where, "there is no part %d of a C3D file", (int)part);
}

// A table of rows whose numbers fit into `row`.
static tal_status make_table(const tali_c3d *it, tal_c3d_part part, const tal_allocator *allocator,
                             tal_table **out)
{
    tali_arena arena = tali_arena_make(allocator);
    const size_t most = 1 + 3 * (size_t)it->points + (size_t)it->channels;
    double *row = tali_arena_take(&arena, most * sizeof *row);
    tal_table *table = tal_table_create(allocator);
    tal_status st =
        row != NULL && table != NULL ? make_part(it, part, row, table) : TAL_ERR_NO_MEMORY;
    tali_arena_free(&arena);
    if (st == TAL_OK) {
        *out = table;
        return TAL_OK;
    }
    tal_table_destroy(table);
    tal_diagnostics_add(it->found, TAL_ERROR, it->file, 0, 0, "%s", tal_status_text(st));
    return st;
}

tal_status tal_c3d_read_memory(const char *name, const char bytes[], size_t size, tal_c3d_part part,
                               const tal_table_options *options, tal_table **out,
                               tal_diagnostics *found)
{
    const tal_status st = check_call(name, bytes, part, options, out, __func__);
    if (st != TAL_OK) return st;
    const tal_table_options how = options != NULL ? *options : tal_table_options_default();
    tali_c3d it = {
        .file = name, .bytes = (const unsigned char *)bytes, .size = size, .found = found};
    if (size > how.max_bytes) {
        tal_diagnostics_add(found, TAL_ERROR, name, 0, 0, "the file has more than %zu bytes",
                            how.max_bytes);
        return TAL_ERR_FILE;
    }
    return tali_c3d_begin(&it) ? make_table(&it, part, &how.allocator, out) : TAL_ERR_FILE;
}

tal_status tal_c3d_read_file(const char *path, tal_c3d_part part, const tal_table_options *options,
                             tal_table **out, tal_diagnostics *found)
{
    tal_status st = check_call(path, path, part, options, out, __func__);
    if (st != TAL_OK) return st;
    const tal_table_options how = options != NULL ? *options : tal_table_options_default();
    tali_file_bytes file;
    const char *wrong = tali_file_load(path, how.max_bytes, &how.allocator, &file, &st);
    if (wrong == NULL) {
        st = tal_c3d_read_memory(path, file.block, file.size, part, &how, out, found);
    } else {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", wrong);
    }
    tali_file_bytes_free(&how.allocator, &file);
    return st;
}
