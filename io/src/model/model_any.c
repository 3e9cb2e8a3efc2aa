// What is in a file, and models of any format.
#include "file_internal.h"

#include "model/model_internal.h"
#include "table/table_internal.h"
#include "text/reading_internal.h"

#include <talus/io/format.h>
#include <talus/io/opensim.h>
#include <talus/io/urdf.h>

#include <string.h>

static const struct {
    tal_file_kind kind;
    const char *end;  // of a name
    const char *root; // the first element of a text
} kinds[] = {{TAL_FILE_TALUS, ".talus", "talus"},
             {TAL_FILE_URDF, ".urdf", "robot"},
             {TAL_FILE_OSIM, ".osim", "OpenSimDocument"}};

enum {
    NUM_KINDS = sizeof kinds / sizeof *kinds
};

static tal_file_kind kind_of_name(const char *path)
{
    tal_table_format format;
    if (tal_table_format_of(path, &format)) return TAL_FILE_TABLE;
    const char *point = strrchr(path, '.');
    for (int i = 0; point != NULL && i < NUM_KINDS; ++i) {
        if (tali_table_same_word(point, kinds[i].end)) return kinds[i].kind;
    }
    return TAL_FILE_UNKNOWN;
}

static tal_file_kind kind_of_text(const char *text, size_t size)
{
    const char *root;
    const size_t length = tali_xml_find_root(text, size, &root);
    for (int i = 0; i < NUM_KINDS; ++i) {
        if (strlen(kinds[i].root) == length && memcmp(kinds[i].root, root, length) == 0) {
            return kinds[i].kind;
        }
    }
    return TAL_FILE_UNKNOWN;
}

tal_file_kind tal_file_kind_of(const char *path, const char text[], size_t size)
{
    if (path == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the path is NULL");
        return TAL_FILE_UNKNOWN;
    }
    const tal_file_kind kind = kind_of_name(path);
    return kind == TAL_FILE_UNKNOWN && text != NULL ? kind_of_text(text, size) : kind;
}

static tal_status refuse_params(const char *path, const tal_model_options *how, const char *subject,
                                tal_diagnostics *found)
{
    if (how->num_params == 0) return TAL_OK;
    tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s has no params", subject);
    return TAL_ERR_BAD_VALUE;
}

// `text` is NULL when the file has not been read yet.
static tal_status read_urdf(const char *path, const char *text, size_t size,
                            const tal_model_options *how, tal_model *model, tal_diagnostics *found)
{
    const tal_status st = refuse_params(path, how, "a URDF", found);
    if (st != TAL_OK) return st;
    tal_urdf_options options = how->urdf != NULL ? *how->urdf : tal_urdf_options_default();
    options.allocator = how->allocator;
    options.any_inertia = how->any_inertia;
    options.strict = how->strict;
    options.fixed_memory = how->fixed_memory;
    options.starts = how->starts;
    options.num_starts = how->num_starts;
    return text == NULL ? tal_urdf_read_file(path, &options, model, found)
                        : tal_urdf_read_memory(path, text, size, &options, model, found);
}

// Coordinates begin where the caller says, or the model is refused.
static tal_status set_starts(const char *path, const tal_model_options *how, tal_model *model,
                             tal_diagnostics *found)
{
    tal_diagnostics *wrong = tal_diagnostics_create(&how->allocator);
    if (wrong != NULL) {
        (void)tali_model_set_starts(model->matter, model->state, how->starts, how->num_starts, path,
                                    wrong);
    }
    const bool good = wrong != NULL && tal_diagnostics_num_errors(wrong) == 0;
    for (int i = 0; found != NULL && wrong != NULL && i < tal_diagnostics_num(wrong); ++i) {
        const tal_diagnostic *d = tal_diagnostics_at(wrong, i);
        tal_diagnostics_add(found, d->severity, d->file, d->line, d->column, "%s", d->message);
    }
    const tal_status st = good ? TAL_OK : wrong == NULL ? TAL_ERR_NO_MEMORY : TAL_ERR_BAD_VALUE;
    tal_diagnostics_destroy(wrong);
    if (!good) tal_model_destroy(model);
    return st;
}

// The same for a model of OpenSim.
static tal_status read_osim(const char *path, const char *text, size_t size,
                            const tal_model_options *how, tal_model *model, tal_diagnostics *found)
{
    tal_status st = refuse_params(path, how, "an .osim file", found);
    if (st != TAL_OK) return st;
    tal_osim_options options = tal_osim_options_default();
    options.allocator = how->allocator;
    options.any_inertia = !how->strict;
    options.strict = how->strict;
    options.approximate = how->approximate;
    options.fixed_memory = how->fixed_memory;
    st = text == NULL ? tal_osim_read_file(path, &options, model, found)
                      : tal_osim_read_memory(path, text, size, &options, model, found);
    if (st == TAL_OK) st = set_starts(path, how, model, found);
    // at another pose the fibers have other lengths; a failure tells why when a study has it
    if (st == TAL_OK && how->num_starts > 0) {
        (void)tal_forces_equilibrate_muscles(model->forces, model->state);
    }
    return st;
}

// Of a kind that only its text can tell, which is read once: it may come from a pipe.
static tal_status read_unknown(const char *path, const tal_model_options *how, tal_model *model,
                               tal_diagnostics *found)
{
    tali_file_bytes file;
    tal_status st = TAL_OK;
    const char *wrong = tali_file_load_text(path, tali_xml_limits_default().file_bytes,
                                            &how->allocator, &file, &st);
    const tal_file_kind kind =
        wrong == NULL ? tal_file_kind_of(path, file.block, file.size) : TAL_FILE_UNKNOWN;
    if (wrong != NULL) {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", wrong);
    } else if (kind == TAL_FILE_URDF) {
        st = read_urdf(path, file.block, file.size, how, model, found);
    } else if (kind == TAL_FILE_OSIM) {
        st = read_osim(path, file.block, file.size, how, model, found);
    } else {
        st = tali_model_read_loaded(path, file.block, file.size, how, model, found);
    }
    tali_file_bytes_free(&how->allocator, &file);
    return st;
}

tal_status tal_model_read_any(const char *path, const tal_model_options *options, tal_model *model,
                              tal_diagnostics *found)
{
    if (model != NULL) *model = (tal_model){.system = NULL};
    tal_status st = tali_model_check_reading(path, path, options, model, __func__);
    if (st != TAL_OK) return st;
    const tal_model_options how = options != NULL ? *options : tal_model_options_default();
    switch (tal_file_kind_of(path, NULL, 0)) {
    case TAL_FILE_TALUS:
        return tal_model_read_file(path, &how, model, found);
    case TAL_FILE_URDF:
        return read_urdf(path, NULL, 0, &how, model, found);
    case TAL_FILE_OSIM:
        return read_osim(path, NULL, 0, &how, model, found);
    case TAL_FILE_TABLE:
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "this is a table, not a model");
        return TAL_ERR_FILE;
    case TAL_FILE_UNKNOWN:
        break;
    }
    return read_unknown(path, &how, model, found);
}
