// From items to a System and a State, and the public entry points.
#include "alloc_internal.h"
#include "error_internal.h"

#include "model/model_internal.h"
#include "text/reading_internal.h"

#include <string.h>

// ---- functions

tal_function *tali_model_take_function(tali_model *m, const tali_model_item *item, int n)
{
    int child = item->first;
    for (; child >= 0 && n > 0; --n) {
        child = m->items[child].next;
    }
    if (child < 0) return NULL;
    tal_function *f = m->items[child].function;
    m->items[child].function = NULL;
    return f;
}

// ---- checks across items

// Every body must hang on Ground in the end. Bodies are marked by the search that met them first;
// to meet one's own mark again is a cycle.
static void check_cycles(tali_model *m)
{
    int *mark = tali_alloc(&m->arena.allocator, (size_t)m->num_items * sizeof *mark);
    if (mark == NULL) {
        m->no_memory = true;
        return;
    }
    for (int i = 0; i < m->num_items; ++i) {
        if (m->items[i].group != TALI_GROUP_BODIES) continue;
        int at = i;
        while (at >= 0 && mark[at] == 0) {
            mark[at] = i + 1;
            at = m->items[at].ref[TALI_BODY_PARENT];
        }
        if (at < 0 || mark[at] != i + 1) continue;
        tali_model_item_error(m, &m->items[at], "parent",
                              ": its parents form a loop and do not lead to ground");
    }
    tali_free(&m->arena.allocator, mark, (size_t)m->num_items * sizeof *mark);
}

static bool has_errors(const tali_model *m)
{
    return m->no_memory || tal_diagnostics_num_errors(m->found) > 0;
}

static void check_item(tali_model *m, int i)
{
    if (m->items[i].row->check != NULL) m->items[i].row->check(m, &m->items[i]);
}

// Children before their parents, so that functions of functions find theirs; otherwise in the order
// of the files, so that what has a name is made before what uses it.
static void check_items(tali_model *m)
{
    for (int i = 0; i < m->num_items; ++i) {
        if (m->items[i].first >= 0) continue;
        int at = i;
        check_item(m, at);
        while (m->items[at].next < 0 && m->items[at].parent >= 0) { // the last child of its parent
            at = m->items[at].parent;
            check_item(m, at);
        }
    }
}

// What has a name and is never asked for is suspicious, unless a file has it for others to use.
static void warn_of_unused(tali_model *m)
{
    for (int i = 0; i < m->num_items; ++i) {
        const tali_model_item *item = &m->items[i];
        const bool of_use =
            item->group != TALI_GROUP_NAMED_FUNCTIONS && item->group != TALI_GROUP_MATERIALS;
        if (of_use || item->used || item->name == NULL || item->xml != m->documents[0]) continue;
        char tag[TAL_MAX_NAME + 64];
        tal_diagnostics_add(m->found, TAL_WARNING, item->xml->file, item->element->line,
                            item->element->column, "%s is not used",
                            tali_xml_tag(item->element, tag, sizeof tag));
    }
}

static void check_all(tali_model *m)
{
    for (int i = 0; i < m->num_items && !m->no_memory; ++i) {
        tali_model_item_resolve(m, &m->items[i]);
    }
    if (m->no_memory) return;
    check_cycles(m);
    check_items(m);
    if (!has_errors(m)) warn_of_unused(m);
}

// ---- building

// A System refuses the first thing that it does not like; the file has the place of it.
static bool build_item(tali_model *m, tali_model_item *item)
{
    if (item->row->build == NULL) return true;
    item->row->build(m, item);
    if (item->group == TALI_GROUP_FORCES && item->row->shared != NULL &&
        item->ref[TALI_FORCE_TRACKED]) {
        tal_force_track_dissipation(m->forces, (tal_force_ix){item->built});
    }
    const tal_error *err = tal_system_error(m->system);
    if (err->status == TAL_OK) return true;
    if (err->status == TAL_ERR_NO_MEMORY) m->no_memory = true;
    tali_model_item_error(m, item, NULL, ": %s", err->message);
    return false;
}

static bool build_group(tali_model *m, tali_model_group group)
{
    for (int i = 0; i < m->num_items; ++i) {
        if (m->items[i].group == group && !build_item(m, &m->items[i])) return false;
    }
    return true;
}

static bool build_groups(tali_model *m, const tali_model_group groups[], size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if (!build_group(m, groups[i])) return false;
    }
    return true;
}

// The next item of a group from `at` on; behind the last one the number of items.
static int next_of_group(const tali_model *m, tali_model_group group, int at)
{
    while (at < m->num_items && m->items[at].group != group) {
        ++at;
    }
    return at;
}

// Whether all measures and forces that an item refers to are built.
static bool can_be_built(const tali_model *m, const tali_model_item *item)
{
    const tali_model_attribute *a;
    for (int i = 0, ref = 0; (a = tali_model_row_attribute(item->row, i)) != NULL; ++i) {
        const bool refers = a->type == TALI_TYPE_MEASURE || a->type == TALI_TYPE_FORCE;
        const int other = refers ? item->ref[ref] : -1;
        if (other >= 0 && m->items[other].built < 0) return false;
        ref += tali_model_room_of(a).ref;
    }
    return true;
}

// Measures use forces and forces use measures. Each are built in the order of the file: measures
// as far as they can, then the next force.
static bool build_measures_and_forces(tali_model *m)
{
    int measure = next_of_group(m, TALI_GROUP_MEASURES, 0);
    int force = next_of_group(m, TALI_GROUP_FORCES, 0);
    while (measure < m->num_items || force < m->num_items) {
        if (measure < m->num_items && can_be_built(m, &m->items[measure])) {
            if (!build_item(m, &m->items[measure])) return false;
            measure = next_of_group(m, TALI_GROUP_MEASURES, measure + 1);
        } else if (force < m->num_items && can_be_built(m, &m->items[force])) {
            if (!build_item(m, &m->items[force])) return false;
            force = next_of_group(m, TALI_GROUP_FORCES, force + 1);
        } else {
            const int stuck = measure < m->num_items ? measure : force;
            tali_model_item_error(m, &m->items[stuck], NULL,
                                  " needs an element that comes later, or that needs this one: "
                                  "change the order of measures or forces");
            return false;
        }
    }
    return true;
}

// Bodies in the order of the file, but each after its parent.
static bool build_bodies(tali_model *m)
{
    int *waiting = tali_alloc(&m->arena.allocator, ((size_t)m->num_items + 1) * sizeof *waiting);
    if (waiting == NULL) {
        m->no_memory = true;
        return false;
    }
    bool good = true;
    for (int i = 0; i < m->num_items && good; ++i) {
        if (m->items[i].group != TALI_GROUP_BODIES) continue;
        int count = 0;
        for (int at = i; at >= 0 && m->items[at].built < 0; at = m->items[at].ref[0]) {
            waiting[count++] = at;
        }
        while (count > 0 && good) {
            good = build_item(m, &m->items[waiting[--count]]);
        }
    }
    tali_free(&m->arena.allocator, waiting, ((size_t)m->num_items + 1) * sizeof *waiting);
    return good;
}

static void report_system(tali_model *m, const tal_error *err)
{
    if (err->status == TAL_ERR_NO_MEMORY) m->no_memory = true;
    tal_diagnostics_add(m->found, TAL_ERROR, m->documents[0]->file, 0, 0, "%s", err->message);
}

static bool add_collider_elements(tali_model *m)
{
    if (!m->has_collider_elements) return true;
    if (tal_matter_add_collider_elements(m->matter) == TAL_OK) return true;
    report_system(m, tal_system_error(m->system));
    return false;
}

// What the State holds besides what the System says.
static void start_state(tali_model *m)
{
    if (m->time != 0.0) (void)tal_state_set_t(m->state, m->time);
    for (int i = 0; i < m->num_items; ++i) {
        tali_model_item *item = &m->items[i];
        if (item->row->start == NULL) continue;
        item->row->start(m, item);
        const tal_error *err = tal_state_error(m->state);
        if (err->status == TAL_OK) continue;
        tali_model_item_error(m, item, NULL, ": %s", err->message);
        return;
    }
}

// The params, for programs that set them.
static bool keep_params(tali_model *m)
{
    m->params = tali_arena_take(&m->kept->arena, (size_t)m->num_values * sizeof *m->params);
    if (m->params == NULL) return false;
    for (int i = 0; i < m->num_values; ++i) {
        const tali_model_named_value *from = &m->values[i];
        const char *name = tali_arena_copy(&m->kept->arena, from->name, strlen(from->name));
        if (name == NULL) return false;
        m->params[i] = (tal_model_param){name, from->value};
    }
    return true;
}

struct tal_model_kept *tali_model_kept_create(const tal_allocator *allocator)
{
    struct tal_model_kept *kept = tali_alloc(allocator, sizeof *kept);
    if (kept != NULL) kept->arena = tali_arena_make(allocator);
    return kept;
}

const tal_mesh *tali_model_kept_mesh(struct tal_model_kept *kept, tal_mesh *mesh)
{
    if (!tali_grow(&kept->arena.allocator, (void **)&kept->meshes, kept->num_meshes,
                   &kept->meshes_capacity, sizeof *kept->meshes)) {
        tal_mesh_destroy(mesh);
        return NULL;
    }
    kept->meshes[kept->num_meshes++] = mesh;
    return mesh;
}

const tal_function *tali_model_kept_function(struct tal_model_kept *kept, tal_function *f)
{
    if (!tali_grow(&kept->arena.allocator, (void **)&kept->functions, kept->num_functions,
                   &kept->functions_capacity, sizeof *kept->functions)) {
        tal_function_destroy(f);
        return NULL;
    }
    kept->functions[kept->num_functions++] = f;
    return f;
}

bool tali_model_kept_field(struct tal_model_kept *kept, tal_ff *ff)
{
    if (!tali_grow(&kept->arena.allocator, (void **)&kept->fields, kept->num_fields,
                   &kept->fields_capacity, sizeof *kept->fields)) {
        tal_ff_destroy(ff);
        return false;
    }
    kept->fields[kept->num_fields++] = ff;
    return true;
}

bool tali_model_kept_mol(struct tal_model_kept *kept, tal_mol *mol)
{
    if (!tali_grow(&kept->arena.allocator, (void **)&kept->mols, kept->num_mols,
                   &kept->mols_capacity, sizeof *kept->mols)) {
        tal_mol_destroy(mol);
        return false;
    }
    kept->mols[kept->num_mols++] = mol;
    return true;
}

// What the model will own, and room for its markers.
static bool keep_owned(tali_model *m)
{
    size_t num_markers = 0;
    for (int i = 0; i < m->num_items; ++i) {
        if (m->items[i].group == TALI_GROUP_MARKERS) ++num_markers;
    }
    m->kept = tali_model_kept_create(&m->arena.allocator);
    if (m->kept == NULL) return false;
    m->markers = tali_arena_take(&m->kept->arena, num_markers * sizeof *m->markers);
    return m->markers != NULL && keep_params(m);
}

void tali_model_kept_destroy(struct tal_model_kept *kept)
{
    if (kept == NULL) return;
    const tal_allocator allocator = kept->arena.allocator;
    for (int i = 0; i < kept->num_meshes; ++i) {
        tal_mesh_destroy(kept->meshes[i]);
    }
    for (int i = 0; i < kept->num_functions; ++i) {
        tal_function_destroy(kept->functions[i]);
    }
    for (int i = 0; i < kept->num_mols; ++i) {
        tal_mol_destroy(kept->mols[i]);
    }
    for (int i = 0; i < kept->num_fields; ++i) {
        tal_ff_destroy(kept->fields[i]);
    }
    tali_free(&allocator, (void *)kept->mols, (size_t)kept->mols_capacity * sizeof *kept->mols);
    tali_free(&allocator, (void *)kept->fields,
              (size_t)kept->fields_capacity * sizeof *kept->fields);
    tali_free(&allocator, (void *)kept->meshes,
              (size_t)kept->meshes_capacity * sizeof *kept->meshes);
    tali_free(&allocator, (void *)kept->functions,
              (size_t)kept->functions_capacity * sizeof *kept->functions);
    tali_arena_free(&kept->arena);
    tali_free(&allocator, kept, sizeof *kept);
}

void tali_model_build(tali_model *m)
{
    tal_system_def def = tal_system_def_default();
    def.allocator = m->options.allocator;
    def.time_scale = m->time_scale;
    if (m->name != NULL) def.name = m->name;
    m->system = tal_system_create(&def);
    if (m->system == NULL || !keep_owned(m)) {
        m->no_memory = true;
        return;
    }
    m->matter = tal_matter_create(m->system);
    m->forces = tal_forces_create(m->system, m->matter);
    if (m->solves_kkt) (void)tal_matter_set_solve_way(m->matter, TAL_SOLVE_KKT);
    if (tal_system_error(m->system)->status != TAL_OK) {
        report_system(m, tal_system_error(m->system));
        return;
    }
    if (!build_bodies(m)) return;
    const tali_model_group before[] = {
        TALI_GROUP_BODY_PARTS,  TALI_GROUP_FIELDS,    TALI_GROUP_MOLECULES, TALI_GROUP_CONSTRAINTS,
        TALI_GROUP_UNILATERALS, TALI_GROUP_COLLIDERS, TALI_GROUP_MOTIONS,   TALI_GROUP_WRAPS,
        TALI_GROUP_PATHS,       TALI_GROUP_PATH_PARTS};
    const tali_model_group after[] = {TALI_GROUP_SURFACES, TALI_GROUP_CONTROLLERS, TALI_GROUP_STOPS,
                                      TALI_GROUP_MARKERS, TALI_GROUP_DECORATIONS};
    if (!build_groups(m, before, sizeof before / sizeof *before) || !add_collider_elements(m) ||
        !build_measures_and_forces(m) || !build_groups(m, after, sizeof after / sizeof *after)) {
        return;
    }
    tali_model_handle_unilaterals(m);
    if (m->options.fixed_memory) (void)tal_fixed_memory_create(m->system);
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(m->system, &err);
    if (st == TAL_OK) st = tal_state_create(m->system, &m->state, &err);
    if (st != TAL_OK) {
        report_system(m, &err);
        return;
    }
    start_state(m);
    m->num_refused += tali_model_set_starts(m->matter, m->state, m->options.starts,
                                            m->options.num_starts, m->documents[0]->file, m->found);
    tali_model_equilibrate(m);
}

// ---- entry points

tal_model_options tal_model_options_default(void)
{
    return (tal_model_options){.allocator = tal_allocator_default()};
}

void tal_model_destroy(tal_model *model)
{
    if (model == NULL) return;
    tal_state_destroy(model->state);
    tal_system_destroy(model->system);
    tali_model_kept_destroy(model->kept);
    *model = (tal_model){.system = NULL};
}

static void free_reading(tali_model *m)
{
    for (int i = 0; i < m->num_items; ++i) {
        tal_function_destroy(m->items[i].function);
        tal_mesh_destroy(m->items[i].mesh);
        tal_table_destroy(m->items[i].table);
        tal_mol_destroy(m->items[i].mol);
    }
    for (int i = 0; i < m->num_items; ++i) { // molecules, which used them, are gone
        tal_ff_destroy(m->items[i].field);
    }
    const tal_allocator *allocator = &m->arena.allocator;
    tali_free(allocator, m->items, (size_t)m->items_capacity * sizeof *m->items);
    tali_free(allocator, m->values, (size_t)m->values_capacity * sizeof *m->values);
    tali_names_free(&m->names, allocator);
    for (int i = 0; i < m->num_documents; ++i) {
        tali_xml_destroy(m->documents[i]);
    }
    tali_free(allocator, m->documents, (size_t)m->documents_capacity * sizeof *m->documents);
    tali_arena_free(&m->arena);
}

// Where a model comes from.
typedef struct source {
    const char *name; // path of a file
    const char *text; // NULL: it is in the file
    size_t size;
    bool in_memory; // there is no file
} source;

// Which of a model's files a diagnostic is of; behind all of them when it is of none.
static int file_of(const tali_model *m, const tal_diagnostic *d)
{
    int i = 0;
    while (i < m->num_documents && strcmp(m->documents[i]->file, d->file) != 0) {
        ++i;
    }
    return i;
}

static bool comes_before(const tali_model *m, const tal_diagnostic *a, const tal_diagnostic *b)
{
    const int file_a = file_of(m, a), file_b = file_of(m, b);
    if (file_a != file_b) return file_a < file_b;
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

// Pass on what was found, in the order in which it is in the files.
static void hand_on(const tali_model *m, tal_diagnostics *found)
{
    int order[TAL_MAX_DIAGNOSTICS];
    const int n = tal_diagnostics_num(m->found);
    for (int i = 0; i < n; ++i) {
        const tal_diagnostic *d = tal_diagnostics_at(m->found, i);
        int k = i;
        for (; k > 0 && comes_before(m, d, tal_diagnostics_at(m->found, order[k - 1])); --k) {
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
    for (int i = 0; i < n; ++i) {
        const tal_diagnostic *d = tal_diagnostics_at(m->found, order[i]);
        tal_diagnostics_add(found, d->severity, d->file, d->line, d->column, "%s", d->message);
    }
}

// From a file or a text to a model: items, checks, System, State. Frees everything else.
static tal_status read_model(const source *from, const tal_model_options *options, tal_model *model,
                             tal_diagnostics *found)
{
    tali_model m = {.options = options != NULL ? *options : tal_model_options_default()};
    m.arena = tali_arena_make(&m.options.allocator);
    // errors already in the list are of other files
    m.found = tal_diagnostics_create(&m.options.allocator);
    if (m.found == NULL) return TAL_ERR_NO_MEMORY;

    if (from->text == NULL) {
        tali_model_load_file(&m, from->name);
    } else {
        m.in_memory = from->in_memory;
        tali_model_load_memory(&m, from->name, from->text, from->size);
    }
    if (!m.no_memory && m.num_documents > 0) check_all(&m);
    if (!has_errors(&m)) tali_model_build(&m);

    const bool good = !has_errors(&m);
    const bool is_misused = m.num_refused == tal_diagnostics_num_errors(m.found);
    *model = (tal_model){m.system, m.state,      m.matter, m.forces, m.markers, m.num_markers,
                         m.params, m.num_values, m.kept,   NULL,     0};
    if (!good) tal_model_destroy(model);
    if (m.no_memory) tal_diagnostics_add(m.found, TAL_ERROR, from->name, 0, 0, "memory ran out");
    if (found != NULL) hand_on(&m, found);
    free_reading(&m);
    tal_diagnostics_destroy(m.found);
    if (good) return TAL_OK;
    return m.no_memory ? TAL_ERR_NO_MEMORY : is_misused ? TAL_ERR_BAD_VALUE : TAL_ERR_FILE;
}

tal_status tali_model_check_reading(const char *name, const void *text,
                                    const tal_model_options *options, const tal_model *model,
                                    const char *where)
{
    const tal_status st =
        tali_reading_check(name, text, model, options != NULL ? &options->allocator : NULL, where);
    return st != TAL_OK || options == NULL ? st
                                           : tali_model_check_registry(options->registry, where);
}

tal_status tal_model_read_file(const char *path, const tal_model_options *options, tal_model *model,
                               tal_diagnostics *found)
{
    if (model != NULL) *model = (tal_model){.system = NULL};
    const tal_status st = tali_model_check_reading(path, path, options, model, __func__);
    if (st != TAL_OK) return st;
    const source from = {.name = path};
    return read_model(&from, options, model, found);
}

tal_status tal_model_read_memory(const char *name, const char *text, size_t size,
                                 const tal_model_options *options, tal_model *model,
                                 tal_diagnostics *found)
{
    if (model != NULL) *model = (tal_model){.system = NULL};
    const tal_status st = tali_model_check_reading(name, text, options, model, __func__);
    if (st != TAL_OK) return st;
    const source from = {name, text, size, .in_memory = true};
    return read_model(&from, options, model, found);
}

tal_status tali_model_read_loaded(const char *path, const char *text, size_t size,
                                  const tal_model_options *options, tal_model *model,
                                  tal_diagnostics *found)
{
    const source from = {path, text, size, .in_memory = false};
    return read_model(&from, options, model, found);
}
