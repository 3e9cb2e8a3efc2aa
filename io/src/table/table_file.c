// Tables to and from files: which format, bytes in and out.
#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"

#include "table/table_internal.h"
#include "text/reading_internal.h"
#include "text/xml_internal.h"

#include <talus/io/c3d.h>

#include <string.h>

tal_table_options tal_table_options_default(void)
{
    const tal_table_options options = {
        .allocator = tal_allocator_default(), .max_bytes = (size_t)1 << 30, .max_errors = 50};
    return options;
}

bool tal_table_format_of(const char *path, tal_table_format *format)
{
    if (path == NULL || format == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", path == NULL ? "path" : "format");
        return false;
    }

    static const struct {
        const char *end;
        tal_table_format format;
    } formats[] = {{".sto", TAL_TABLE_STO}, {".mot", TAL_TABLE_STO}, {".trc", TAL_TABLE_TRC},
                   {".csv", TAL_TABLE_CSV}, {".npz", TAL_TABLE_NPZ}, {".c3d", TAL_TABLE_C3D}};

    const char *point = strrchr(path, '.');
    for (size_t i = 0; point != NULL && i < sizeof formats / sizeof *formats; ++i) {
        if (!tali_table_same_word(point, formats[i].end)) continue;
        *format = formats[i].format;
        return true;
    }
    return false;
}

// --- reading ---

static tal_status finish(tali_table_reader *r, tal_table **out)
{
    if (r->no_memory) tali_table_file_error(r, "memory ran out");
    const bool good = r->errors == 0;
    tali_free(&r->allocator, r->fields, (size_t)r->fields_capacity * sizeof *r->fields);
    if (r->row != NULL) {
        tali_free(&r->allocator, r->row, (size_t)tal_table_num_columns(r->table) * sizeof *r->row);
    }
    tali_arena_free(&r->arena);
    if (good) {
        *out = r->table;
        return TAL_OK;
    }
    tal_table_destroy(r->table);
    return r->no_memory ? TAL_ERR_NO_MEMORY : TAL_ERR_FILE;
}

// A table from the bytes of a file; NULL when there is an error.
static tal_status parse_table(tal_table_format format, const char *name, tali_table_span text,
                              const tal_table_options *options, tal_table **out,
                              tal_diagnostics *found)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (text.end - text.begin >= 3 && memcmp(text.begin, mark, 3) == 0) text.begin += 3;
    tali_table_reader r = {.allocator = options->allocator,
                           .arena = tali_arena_make(&options->allocator),
                           .file = name,
                           .at = text.begin,
                           .end = text.end,
                           .found = found,
                           .max_bytes = options->max_bytes,
                           .max_errors = options->max_errors > 0 ? options->max_errors : 1};
    r.table = tal_table_create(&options->allocator);
    r.no_memory = r.table == NULL;
    const char *kind = tali_xml_kind_of_text(text.begin, (size_t)(text.end - text.begin));
    if (kind != NULL) {
        tali_table_file_error(&r, "this is %s, not a table", kind);
    } else if (format != TAL_TABLE_NPZ && tali_table_span_has(text, '\0')) {
        tali_table_file_error(&r, "%s", TALI_NO_TEXT);
    } else if (!r.no_memory) {
        switch (format) {
        case TAL_TABLE_STO:
            tali_table_read_sto(&r);
            break;
        case TAL_TABLE_TRC:
            tali_table_read_trc(&r);
            break;
        case TAL_TABLE_CSV:
            tali_table_read_csv(&r);
            break;
        case TAL_TABLE_NPZ:
            tali_table_read_npz(&r);
            break;
        case TAL_TABLE_C3D: // has a reader of its own
            break;
        }
    }
    return finish(&r, out);
}

tal_status tal_table_read_memory(tal_table_format format, const char *name, const char *text,
                                 size_t size, const tal_table_options *options, tal_table **out,
                                 tal_diagnostics *found)
{
    if (out != NULL) *out = NULL;
    const tal_status st =
        tali_reading_check(name, text, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st != TAL_OK) return st;
    const tal_table_options how = options != NULL ? *options : tal_table_options_default();
    if (size > how.max_bytes) {
        tal_diagnostics_add(found, TAL_ERROR, name, 0, 0, "the file has more than %zu bytes",
                            how.max_bytes);
        return TAL_ERR_FILE;
    }
    if (format == TAL_TABLE_C3D) {
        return tal_c3d_read_memory(name, text, size, TAL_C3D_MARKERS, &how, out, found);
    }
    return parse_table(format, name, (tali_table_span){text, text + size}, &how, out, found);
}

// A name that is not one of a table: what may the file be?
static tal_status refuse_name(const char *path, tal_diagnostics *found)
{
    char beginning[4096];
    FILE *file = fopen(path, "rb");
    const size_t size = file != NULL ? fread(beginning, 1, sizeof beginning, file) : 0;
    if (file != NULL) (void)fclose(file);
    const char *kind = tali_xml_kind_of_text(beginning, size);
    if (kind != NULL) {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "this is %s, not a table", kind);
    } else {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0,
                            "the name does not end with .sto, .mot, .trc, .csv, .npz or .c3d");
    }
    return TAL_ERR_FILE;
}

tal_status tal_table_read_file(const char *path, const tal_table_options *options, tal_table **out,
                               tal_diagnostics *found)
{
    if (out != NULL) *out = NULL;
    tal_status st =
        tali_reading_check(path, path, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st != TAL_OK) return st;
    const tal_table_options how = options != NULL ? *options : tal_table_options_default();
    tal_table_format format = TAL_TABLE_STO;
    if (!tal_table_format_of(path, &format)) return refuse_name(path, found);
    if (format == TAL_TABLE_C3D) {
        return tal_c3d_read_file(path, TAL_C3D_MARKERS, &how, out, found);
    }
    tali_file_bytes file;
    const char *wrong = format == TAL_TABLE_NPZ
                            ? tali_file_load(path, how.max_bytes, &how.allocator, &file, &st)
                            : tali_file_load_text(path, how.max_bytes, &how.allocator, &file, &st);
    if (wrong == NULL) {
        st = parse_table(format, path, (tali_table_span){file.block, file.block + file.size}, &how,
                         out, found);
    } else {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", wrong);
    }
    tali_file_bytes_free(&how.allocator, &file);
    return st;
}
