// From a System and a State to a model file: section by section, each element as its row describes
// it.
#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"

#include "model/model_write_internal.h"

#include <talus/io/number.h>

#include <string.h>

// Subsystems that a file has no word for: besides matter and forces there may be events.
static void check_subsystems(tali_model_writer *w)
{
    const tal_system *system = w->model.system;
    for (int i = 0; i < tal_system_num_subsystems(system); ++i) {
        const tal_subsystem_ix subsystem = {i};
        if (i == tal_matter_subsystem(w->model.matter).i ||
            i == tal_forces_subsystem(w->model.forces).i ||
            i == tal_contacts_subsystem(tal_system_contacts(system)).i ||
            i == tal_fixed_memory_subsystem(tal_system_fixed_memory(system)).i ||
            tal_subsystem_events(system, subsystem) != NULL) {
            continue;
        }
        tali_model_write_refuse(w, "subsystem '%s' cannot be written to a file",
                                tal_subsystem_name(system, subsystem));
    }
    tali_model_own_row none;
    tali_model_description d = {.w = w};
    while (tali_model_find_event(&d, &none)) { // refuses what is a function, by name
        d.index += 1;
    }
}

// ---- the whole

// A section with all that is in it.
static void put_section(tali_model_writer *w, const tali_model_row *section)
{
    bool is_open = false;
    for (int i = 0; w->status == TAL_OK; ++i) {
        tali_model_own_row own;
        tali_model_description d = {.w = w, .index = i};
        if (!section->find(&d, &own)) break;
        if (d.row == NULL) continue; // refused, or part of something else
        if (!is_open) tali_model_sink_put(&w->out, "  <%s>\n", section->name);
        is_open = true;
        tali_model_write_element(&d, "    ", "\n");
    }
    if (is_open) tali_model_sink_put(&w->out, "  </%s>\n", section->name);
}

static void put_number(tali_model_writer *w, const char *name, double value)
{
    char text[TAL_NUMBER_SIZE];
    (void)tal_number_write(value, text);
    tali_model_sink_put(&w->out, " %s=\"%s\"", name, text);
}

// The whole file, section by section in the order of the reader.
static void put_model(tali_model_writer *w)
{
    const tal_system *system = w->model.system;
    check_subsystems(w);
    tali_model_sink_put(&w->out, "<talus version=\"1\" name=\"");
    tali_model_write_text(w, tal_system_name(system));
    tali_model_sink_put(&w->out, "\"");
    put_number(w, "time", tal_state_t(w->model.state));
    put_number(w, "time_scale", tal_system_time_scale(system));
    const bool by_kkt = tal_matter_solve_way(w->model.matter) == TAL_SOLVE_KKT;
    if (by_kkt) tali_model_sink_put(&w->out, " solve=\"kkt\"");
    const bool has_memory = tal_system_fixed_memory(system) != NULL;
    if (has_memory) tali_model_sink_put(&w->out, " fixed_steps=\"yes\"");
    if (tal_matter_has_collider_elements(w->model.matter)) {
        tali_model_sink_put(&w->out, " collider_elements=\"yes\"");
    }
    tali_model_sink_put(&w->out, ">\n");
    const tali_model_row *sections = tali_model_rows(TALI_GROUP_SECTIONS);
    for (int i = 0; sections[i].name != NULL; ++i) {
        if (sections[i].find != NULL) put_section(w, &sections[i]);
    }
    tali_model_sink_put(&w->out, "</talus>\n");
}

static tal_status check_model(const tal_model *model, const char *where, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    const bool whole = model != NULL && model->system != NULL && model->state != NULL &&
                       model->matter != NULL && model->forces != NULL;
    if (whole &&
        tal_state_structure_hash(model->state) == tal_system_structure_hash(model->system)) {
        return TAL_OK;
    }
    const tal_status st = whole ? TAL_ERR_WRONG_SYSTEM : TAL_ERR_NULL;
    const char *sentence =
        whole ? "the State belongs to another System" : "the model has a NULL in it";
    (void)tali_breach(st, where, "%s", sentence);
    return tali_fail(err, st, where, "%s", sentence);
}

static tal_status check_registry(const tal_model_registry *registry, const char *where,
                                 tal_error *err)
{
    const tal_status st = tali_model_check_registry(registry, where);
    if (st == TAL_OK) return st;
    return tali_fail(err, st, where, "%s", tal_contract_last()->message);
}

// There is one at most.
static tal_force_ix gravity_of(const tal_forces *forces)
{
    int i = tal_forces_num(forces) - 1;
    while (i >= 0 && strcmp(tal_force_kind(forces, (tal_force_ix){i}), "gravity") != 0) {
        --i;
    }
    return (tal_force_ix){i};
}

tal_status tal_model_write_memory(const tal_model *model, const tal_model_registry *registry,
                                  char text[], size_t size, size_t *length, tal_error *err)
{
    tal_status st = check_model(model, __func__, err);
    if (st == TAL_OK) st = check_registry(registry, __func__, err);
    if (st != TAL_OK) return st;
    tali_model_writer w = {.model = *model,
                           .registry = registry,
                           .gravity = gravity_of(model->forces),
                           .out = {text, text != NULL ? size : 0, 0},
                           .err = err};
    w.markers.allocator = tal_system_allocator(model->system);
    put_model(&w);
    tali_name_map_free(&w.markers);
    if (length != NULL) *length = w.out.length;
    return w.status;
}

tal_status tal_model_write_file(const tal_model *model, const tal_model_registry *registry,
                                const char *path, tal_error *err)
{
    size_t length = 0;
    tal_status st = tal_model_write_memory(model, registry, NULL, 0, &length, err);
    if (st != TAL_OK) return st;
    if (path == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "path is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "path is NULL");
    }
    const tal_allocator allocator = tal_system_allocator(model->system);
    char *text = tali_alloc(&allocator, length + 1);
    if (text == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %zu bytes", length);
    st = tal_model_write_memory(model, registry, text, length + 1, NULL, err);
    if (st == TAL_OK) st = tali_file_replace_by(path, text, length, __func__, err);
    tali_free(&allocator, text, length + 1);
    return st;
}
