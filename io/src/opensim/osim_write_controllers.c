// Controllers as elements of .osim files.
#include "control_facts_internal.h"
#include "function_facts_internal.h"

#include "opensim/osim_write_internal.h"

#include <stdio.h>
#include <string.h>

static const char *driven_name(const tali_osim_writer *w, tal_controller_ix controller, int i)
{
    const tal_forces *forces = w->model->forces;
    return tal_force_name(forces, tal_controller_actuator(forces, controller, i));
}

// The names of what it drives, one after the other.
static void put_driven(tali_osim_writer *w, tal_controller_ix controller)
{
    const int n = tal_controller_num_actuators(w->model->forces, controller);
    for (int i = 0; i < w->depth; ++i) {
        tali_model_sink_text(&w->out, "\t", 1);
    }
    tali_model_sink_put(&w->out, "<actuator_list>");
    for (int i = 0; i < n; ++i) {
        const char *name = driven_name(w, controller, i);
        if (strpbrk(name, " \t,()&<>") != NULL) {
            tali_osim_refuse(w, "the name of actuator '%s' cannot stand in a list", name);
        }
        tali_model_sink_put(&w->out, "%s%s", i > 0 ? " " : "", name);
    }
    tali_model_sink_put(&w->out, "</actuator_list>\n");
}

static bool is_nodes(const tal_function *f, tali_function_facts *facts)
{
    return tali_function_facts_of(f, facts) && strcmp(facts->kind, "nodes") == 0;
}

static void put_control(tali_osim_writer *w, const char *name, const tali_function_facts *f)
{
    tali_osim_open_tag(w, "ControlLinear", name);
    tali_osim_put_bool(w, "extrapolate", false);
    tali_osim_put_bool(w, "use_steps", (int)f->end == (int)TAL_NODES_STEPS);
    tali_osim_open_tag(w, "x_nodes", NULL);
    for (int i = 0; i < f->count; ++i) {
        tali_osim_open_tag(w, "ControlLinearNode", NULL);
        tali_osim_put_number(w, "t", f->list[i]);
        tali_osim_put_number(w, "value", f->y[(ptrdiff_t)i * f->stride]);
        tali_osim_close_tag(w, "ControlLinearNode");
    }
    tali_osim_close_tag(w, "x_nodes");
    tali_osim_close_tag(w, "ControlLinear");
}

// Nodes are a set of controls, other functions of time are functions.
static void write_functions(tali_osim_writer *w, tal_controller_ix controller,
                            const tali_controller_facts *facts)
{
    tali_function_facts f;
    bool nodes = true;
    for (int i = 0; i < facts->num_functions; ++i) {
        nodes = nodes && is_nodes(facts->functions[i], &f);
    }
    const char *tag = nodes ? "ControlSetController" : "PrescribedController";
    const char *set = nodes ? "ControlSet" : "ControlFunctions";
    tali_osim_open_tag(w, tag, tal_controller_name(w->model->forces, controller));
    tali_osim_put_bool(w, "enabled",
                       tal_controller_is_enabled(w->model->forces, w->model->state, controller));
    put_driven(w, controller);
    tali_osim_open_tag(w, set, NULL);
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 0; i < facts->num_functions; ++i) {
        const char *name = driven_name(w, controller, i);
        if (nodes && is_nodes(facts->functions[i], &f)) {
            put_control(w, name, &f);
        } else {
            tali_osim_put_function(w, facts->functions[i], name, name);
        }
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, set);
    tali_osim_close_tag(w, tag);
}

static void write_reflex(tali_osim_writer *w, tal_controller_ix controller,
                         const tali_controller_facts *facts)
{
    tali_osim_open_tag(w, "ToyReflexController", tal_controller_name(w->model->forces, controller));
    tali_osim_put_bool(w, "enabled",
                       tal_controller_is_enabled(w->model->forces, w->model->state, controller));
    put_driven(w, controller);
    tali_osim_put_number(w, "gain", facts->gain);
    tali_osim_close_tag(w, "ToyReflexController");
}

// Functions of time and reflexes; others are refused.
void tali_osim_write_controllers(tali_osim_writer *w)
{
    const tal_forces *forces = w->model->forces;
    tali_osim_open_tag(w, "ControllerSet", "controllerset");
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 0; i < tal_forces_num_controllers(forces); ++i) {
        const tal_controller_ix controller = {i};
        const char *kind = tal_controller_kind(forces, controller);
        const tali_controller_facts *facts = tali_controller_facts_of(forces, controller);
        if (facts != NULL && strcmp(kind, "function controller") == 0) {
            write_functions(w, controller, facts);
        } else if (facts != NULL && strcmp(kind, "reflex") == 0) {
            write_reflex(w, controller, facts);
        } else {
            tali_osim_refuse(w,
                             "controller '%s' is of kind '%s', which cannot be said in an .osim "
                             "file",
                             tal_controller_name(forces, controller), kind);
        }
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "ControllerSet");
}
