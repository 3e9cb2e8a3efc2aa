// From a System and a State to a model file. Every element is laid out as the reader lays it out, and
// printed by the same table.
#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"
#include "matter_facts_internal.h"
#include "measure_facts_internal.h"
#include "model_write_internal.h"
#include "name_map_internal.h"

#include <math.h>
#include <string.h>

// ---- measures

// Values that a State holds.
static tali_list values_of(const tali_writer *w, tal_measure_ix measure,
                           const tali_measure_facts *facts, bool behind_one)
{
    tali_list list = {.shown = facts->values, .count = tal_measure_size(w->model.system, measure)};
    if (facts->variable.i >= 0) {
        const double *stored = tal_var_value(w->model.system, w->model.state, facts->variable);
        list.shown = stored + (behind_one ? 1 : 0);
    } else if (facts->z.i >= 0) {
        list.shown = tal_state_z(w->model.state) +
                     tal_group_start(w->model.system, w->model.state, facts->z);
    } else if (facts->values == NULL) {
        list.count = 0;
    }
    return list;
}

static void put_mechanical(tali_writer *w, tal_measure_ix measure, const tali_row *row,
                           const tali_matter_measure_facts *facts)
{
    double p[6];
    memcpy(p, facts->points, sizeof p);
    int ref[2], n = 0, body = 0;
    for (const tali_attribute *a = row->own; a != NULL && a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_BODY) ref[n++] = facts->bodies[body++].i;
        if (a->type == TALI_TYPE_CONSTRAINT) ref[n++] = facts->constraint.i;
        if (a->type == TALI_TYPE_INTEGER) ref[n++] = facts->i;
        if (a->type != TALI_TYPE_MOBILITY) continue;
        ref[n++] = facts->bodies[0].i;
        ref[n++] = facts->i;
    }
    const tali_item item = {
        .row = row, .name = tal_measure_name(w->model.system, measure), .p = p, .ref = ref};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

static void put_measure(tali_writer *w, tal_measure_ix measure)
{
    const tal_system *system = w->model.system;
    const char *name = tal_measure_name(system, measure), *kind = tal_measure_kind(system, measure);
    tali_measure_facts facts;
    tali_matter_measure_facts mechanical;
    const void *self = NULL;
    const tal_model_element *element = tali_registered_measure(w, measure, &self);
    tali_slots slots = {.p = {0.0}};
    const bool is_mechanical = tali_matter_measure_facts_of(system, measure, &mechanical);
    const bool known = is_mechanical || tali_measure_facts_of(system, measure, &facts);
    const tali_row *row = known ? tali_row_of_kind(TALI_GROUP_MEASURES, kind) : NULL;
    if (is_mechanical && row != NULL) {
        put_mechanical(w, measure, row, &mechanical);
        return;
    }
    const bool of_matter =
        tal_measure_owner(system, measure).i == tal_matter_subsystem(w->model.matter).i;
    if (element != NULL && of_matter) {
        if (tali_write_own(w, element, measure.i, self, name, &slots)) {
            tali_sink_put(&w->out, "/>\n");
        }
        return;
    }
    if (row == NULL || !of_matter) {
        tali_write_refuse(w, "measure '%s' is of kind '%s'%s", name, kind,
                          of_matter ? ", " TALI_NOT_REGISTERED
                                    : " and not of matter, which no file can describe");
        return;
    }
    int *ref = slots.ref, n = 0, operand = 0;
    for (const tali_attribute *a = row->own; a != NULL && a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_MEASURE) ref[n++] = facts.operands[operand++].i;
        if (a->type == TALI_TYPE_INTEGER) ref[n++] = facts.capacity;
        if (a->type != TALI_TYPE_WORD) continue;
        ref[n++] = strcmp(kind, "extreme") == 0 ? (int)facts.which
                                                : (int)facts.invalidates - (int)TAL_STAGE_MODEL;
    }
    memcpy(slots.p, facts.numbers, sizeof facts.numbers);
    slots.lists[0] = values_of(w, measure, &facts, strcmp(kind, "hold") == 0);
    const tali_item item = tali_slots_item(&slots, row, name);
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

// ---- stops

static void put_stop(tali_writer *w, tal_event_ix event)
{
    const tal_run_stop *stop = tal_event_stop(w->model.system, event);
    if (stop == NULL) {
        tali_write_refuse(w, "event '%s' calls a function, which no file can describe",
                          tal_event_name(w->model.system, event));
        return;
    }
    double value = stop->value, p[] = {stop->window, stop->separation};
    int ref[] = {tal_event_is_active(w->model.system, w->model.state, event), stop->measure.i};
    const int which = stop->measure.i < 0                      ? 3
                      : stop->crossing == TAL_CROSSING_FALLING ? 0
                      : stop->crossing == TAL_CROSSING_RISING  ? 1
                                                               : 2;
    const char *message = stop->message != NULL ? stop->message : "";
    tali_list lists[4] = {{.count = 0}};
    lists[which] = (tali_list){.values = &value, .count = 1};
    const tali_item item = {.row = &tali_stop_rows[0],
                            .name = tal_event_name(w->model.system, event),
                            .p = p,
                            .ref = ref,
                            .text = &message,
                            .lists = lists};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

// Subsystems that a file has no word for: besides matter and forces there may be events.
static void check_subsystems(tali_writer *w)
{
    const tal_system *system = w->model.system;
    for (int i = 0; i < tal_system_num_subsystems(system); ++i) {
        const tal_subsystem_ix subsystem = {i};
        if (i == tal_matter_subsystem(w->model.matter).i ||
            i == tal_forces_subsystem(w->model.forces).i ||
            tal_subsystem_events(system, subsystem) != NULL) {
            continue;
        }
        tali_write_refuse(w, "subsystem '%s' is one that no file can describe",
                          tal_subsystem_name(system, subsystem));
    }
    for (int i = 0; i < tal_system_num_events(system); ++i) {
        const tal_event_ix event = {i};
        if (tal_event_stop(system, event) == NULL) put_stop(w, event); // refuses it by name
    }
}

// ---- markers

static void put_markers(tali_writer *w)
{
    const tal_allocator allocator = tal_system_allocator(w->model.system);
    tali_name_map names = {.allocator = allocator};
    for (int i = 0; i < w->model.num_markers && w->status == TAL_OK; ++i) {
        const tal_marker *marker = &w->model.markers[i];
        const char *name = marker->name != NULL ? marker->name : "";
        double p[] = {marker->p_BS.x, marker->p_BS.y, marker->p_BS.z, marker->weight};
        int ref[] = {marker->body.i};
        if (*name == '\0' || strlen(name) > TAL_MAX_NAME || tali_name_map_find(&names, name) >= 0) {
            tali_write_refuse(w, "marker %d '%.60s' has no name of its own", i, name);
        } else if (ref[0] < 0 || ref[0] >= tal_matter_num_bodies(w->model.matter)) {
            tali_write_refuse(w, "marker '%s' is on body %d, which does not exist", name, ref[0]);
        } else if (!tal_v3_is_finite(marker->p_BS) || !(marker->weight >= 0.0) ||
                   isinf(marker->weight)) {
            tali_write_refuse(w, "marker '%s' is at (%g, %g, %g) with weight %g", name, p[0], p[1],
                              p[2], p[3]);
        } else if (!tali_name_map_add(&names, name, i)) {
            w->status = tali_fail(w->err, TAL_ERR_NO_MEMORY, "tal_model_write", "no memory");
        }
        const tali_item item = {.row = &tali_marker_rows[0], .name = name, .p = p, .ref = ref};
        if (w->status == TAL_OK) tali_write_tag(w, &item);
        tali_sink_put(&w->out, "/>\n");
    }
    tali_name_map_free(&names);
}

// ---- decorations

static void put_decoration(tali_writer *w, const tal_decoration *d)
{
    double p[20] = {0.0};
    tali_frame_to(&d->X_BD, p);
    memcpy(p + 12, &d->color, sizeof d->color);
    p[15] = d->opacity;
    p[16] = d->scale;
    const tal_vec3 *numbers = d->kind == TAL_DECORATION_LINE ? &d->end : &d->size;
    memcpy(p + 17, numbers, sizeof *numbers);
    int ref[] = {d->body.i};
    const char *text = d->text != NULL ? d->text : "";
    // rows stand in the order of tal_decoration_kind
    const tali_item item = {
        .row = &tali_decoration_rows[(int)d->kind], .p = p, .ref = ref, .text = &text};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

// ---- the whole

static void open_section(tali_writer *w, const char *name, int count)
{
    if (count > 0) tali_sink_put(&w->out, "  <%s>\n", name);
}

static void close_section(tali_writer *w, const char *name, int count)
{
    if (count > 0) tali_sink_put(&w->out, "  </%s>\n", name);
}

static void put_matter(tali_writer *w)
{
    const tal_matter *matter = w->model.matter;
    const int num_bodies = tal_matter_num_bodies(matter) - 1;
    const int num_constraints = tal_matter_num_constraints(matter);
    const int num_motions = tal_matter_num_motions(matter);
    open_section(w, "bodies", num_bodies);
    for (int i = 1; i <= num_bodies; ++i) {
        tali_write_body(w, (tal_body_ix){i});
    }
    close_section(w, "bodies", num_bodies);
    open_section(w, "constraints", num_constraints);
    for (int i = 0; i < num_constraints; ++i) {
        tali_write_constraint(w, (tal_constraint_ix){i});
    }
    close_section(w, "constraints", num_constraints);
    open_section(w, "motions", num_motions);
    for (int i = 0; i < num_motions; ++i) {
        tali_write_motion(w, (tal_motion_ix){i});
    }
    close_section(w, "motions", num_motions);
}

static void put_model(tali_writer *w)
{
    const tal_system *system = w->model.system;
    check_subsystems(w);
    const double numbers[] = {tal_state_t(w->model.state), tal_system_time_scale(system)};
    tali_sink_put(&w->out, "<talus version=\"1\" name=\"");
    tali_write_text(w, tal_system_name(system));
    tali_sink_put(&w->out, "\"");
    tali_write_list(w, "time", numbers, 1, 1);
    tali_write_list(w, "time_scale", numbers + 1, 1, 1);
    tali_sink_put(&w->out, ">\n");
    put_matter(w);

    const int num_measures = tal_system_num_measures(system);
    open_section(w, "measures", num_measures);
    for (int i = 0; i < num_measures; ++i) {
        put_measure(w, (tal_measure_ix){i});
    }
    close_section(w, "measures", num_measures);
    const int num_forces = tal_forces_num(w->model.forces);
    open_section(w, "forces", num_forces);
    for (int i = 0; i < num_forces; ++i) {
        tali_write_force(w, (tal_force_ix){i});
    }
    close_section(w, "forces", num_forces);
    const int num_stops = tal_system_num_events(system);
    open_section(w, "stops", num_stops);
    for (int i = 0; i < num_stops; ++i) {
        put_stop(w, (tal_event_ix){i});
    }
    close_section(w, "stops", num_stops);
    open_section(w, "markers", w->model.num_markers);
    put_markers(w);
    close_section(w, "markers", w->model.num_markers);
    const int num_decorations = tal_matter_num_decorations(w->model.matter);
    open_section(w, "decorations", num_decorations);
    for (int i = 0; i < num_decorations; ++i) {
        put_decoration(w, tal_matter_decoration(w->model.matter, i));
    }
    close_section(w, "decorations", num_decorations);
    tali_sink_put(&w->out, "</talus>\n");
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
    const tal_status st = tali_check_registry(registry, where);
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
    tali_writer w = {.model = *model,
                     .registry = registry,
                     .gravity = gravity_of(model->forces),
                     .out = {text, text != NULL ? size : 0, 0},
                     .err = err};
    put_model(&w);
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
    if (st == TAL_OK) st = tali_replace_by(path, text, length, __func__, err);
    tali_free(&allocator, text, length + 1);
    return st;
}
