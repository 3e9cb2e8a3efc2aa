// Tasks of computed muscle control, and which actuators work for them.
#include "opensim/tool_track_internal.h"
#include "table/table_internal.h"

#include <math.h>
#include <string.h>

// The first number of a list; tasks of points had three.
static double first_number(tali_osim_tool *tool, const tali_xml_element *e, const char *name,
                           double initial)
{
    double *numbers = NULL;
    const int n = tali_osim_all_numbers(&tool->setup, e, name, &numbers);
    if (n == 0) return initial;
    if (isfinite(numbers[0]) && numbers[0] >= 0.0) return numbers[0];
    tali_osim_error(&tool->setup, e, ": <%s> is %g; it must be finite and not negative", name,
                    numbers[0]);
    return initial;
}

// <active> has three flags, of which a coordinate has one.
static bool is_active(tali_osim_tool *tool, const tali_xml_element *e)
{
    const char *flags[3] = {""};
    const int n = tali_osim_words(&tool->setup, e, "active", flags, 3);
    return n > 0 && tali_table_same_word(flags[0], "true") &&
           tali_osim_bool(&tool->setup, e, "on", true);
}

// A task of a coordinate that is active; others are errors, or left out.
static void read_task(tali_osim_tool *tool, tali_osim_tasks *out, const tali_xml_element *e)
{
    const char *name = tali_osim_text(e, "coordinate");
    if (name == NULL) name = tali_osim_name(e);
    if (strcmp(e->name, "CMC_Joint") != 0) {
        tali_osim_error(&tool->setup, e, ": tasks of this kind are not followed, coordinates are");
        return;
    }
    if (!is_active(tool, e)) return;
    const int c = tali_name_map_find(&tool->o.coordinate_names, name);
    if (c < 0) {
        tali_osim_error(&tool->setup, e, ": the model has no coordinate '%.60s'", name);
        return;
    }
    tal_follower_task *task = &out->tasks[out->num];
    *task = tal_follower_task_default();
    task->mobility = tool->o.coordinates[c].mobility;
    task->weight = first_number(tool, e, "weight", 1.0);
    task->kp = first_number(tool, e, "kp", 1.0);
    task->kv = first_number(tool, e, "kv", 0.5);
    task->ka = first_number(tool, e, "ka", 1.0);
    task->limit = first_number(tool, e, "limit", 0.0);
    if (task->weight == 0.0) return; // nobody asks for it
    out->names[out->num++] = tool->o.coordinates[c].name;
}

// Without a file: all coordinates that are free, with the gains that are usual.
static void follow_all(tali_osim_tool *tool, tali_osim_tasks *out)
{
    const int n = tool->o.num_coordinates;
    out->tasks = tali_osim_take(&tool->setup, n, sizeof *out->tasks);
    out->names = tali_osim_take(&tool->setup, n, sizeof *out->names);
    const size_t nu = (size_t)tal_matter_nu(tool->model.matter);
    bool *dependent = tali_arena_take(&tool->setup.arena, nu * sizeof *dependent);
    tool->setup.no_memory = tool->setup.no_memory || dependent == NULL;
    if (tool->setup.no_memory) return;
    tali_osim_tool_list_dependent(tool, dependent);
    for (int c = 0; c < n; ++c) {
        const tali_osim_coordinate *q = &tool->o.coordinates[c];
        if (q->locked || dependent[tali_osim_tool_u_slot(tool, c)]) continue;
        out->names[out->num] = q->name;
        out->tasks[out->num] = tal_follower_task_default();
        out->tasks[out->num++].mobility = q->mobility;
    }
    tali_osim_tool_warn(tool, NULL,
                        "there is no <task_set_file>: all %d free coordinates are followed, with "
                        "kp 100 and kv 20",
                        out->num);
}

// The file is read, and given back: names are those of the model.
void tali_osim_tool_read_tasks(tali_osim_tool *tool, tali_osim_tasks *out)
{
    *out = (tali_osim_tasks){.tasks = NULL};
    const char *file = tali_osim_text(tool->root, "task_set_file");
    if (file == NULL) {
        follow_all(tool, out);
        return;
    }
    tali_xml *xml = NULL;
    const tal_status st = tali_xml_read_file(tali_osim_tool_path(tool, tool->folder, file), NULL,
                                             &tool->options.allocator, &xml, tool->setup.found);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) return;
    const tali_xml *setup = tool->setup.xml;
    tool->setup.xml = xml; // messages name this file
    const tali_xml_element *set = xml->root;
    if (strcmp(set->name, "OpenSimDocument") == 0 && set->first != NULL) set = set->first;
    tali_osim_check_tree(&tool->setup, set);
    int n = 1;
    for (const tali_xml_element *e = tali_osim_first(set); e != NULL; e = e->next) {
        ++n;
    }
    out->tasks = tali_osim_take(&tool->setup, n, sizeof *out->tasks);
    out->names = tali_osim_take(&tool->setup, n, sizeof *out->names);
    const tali_xml_element *e = tool->setup.no_memory ? NULL : tali_osim_first(set);
    for (; e != NULL; e = e->next) {
        read_task(tool, out, e);
    }
    tool->setup.xml = (tali_xml *)setup;
    tali_xml_destroy(xml);
    if (out->num == 0 && tali_osim_tool_is_good(tool)) {
        tali_osim_tool_error(tool, "task_set_file", "no task in it is active");
    }
}

int tali_osim_tool_list_actuators(tali_osim_tool *tool, tal_force_ix which[])
{
    const char *names[TALI_OSIM_MAX_LIST];
    const tal_forces *forces = tool->model.forces;
    const int n = tali_osim_words(&tool->setup, tool->root, "actuators_to_exclude", names,
                                  TALI_OSIM_MAX_LIST);
    int num = 0;
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix force = {i};
        const bool works = tal_force_has_control(forces, force) ||
                           strcmp(tal_force_kind(forces, force), "body actuator") == 0;
        if (!works || !tal_force_is_enabled(forces, tool->model.state, force)) continue;
        if (!tali_osim_tool_is_named(tool, i, names, n)) which[num++] = force;
    }
    return num;
}
