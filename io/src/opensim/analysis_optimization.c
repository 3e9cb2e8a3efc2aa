// Static optimization along a motion: activations and forces of muscles and actuators.
#include "opensim/analysis_internal.h"

#include <talus/study/static_optimizer.h>

#include <math.h>
#include <stdio.h>

typedef struct optimization {
    tal_static_optimizer_def def;
    tal_static_optimizer *optimizer;
    int n;
    double *x, *force; // [n]
    double *lower, *upper;
} optimization;

// The name of a column: that of the force, with the part of a body actuator.
static void name_of(const tali_osim_analysis *a, const optimization *it, int j, char name[200])
{
    static const char *const parts[] = {"_Mx", "_My", "_Mz", "_Fx", "_Fy", "_Fz"};
    const tal_forces *forces = a->tool->model.forces;
    int part = 0;
    const tal_force_ix force = tal_static_optimizer_actuator(it->optimizer, j, &part);
    const bool is_single = tal_force_has_control(forces, force);
    (void)snprintf(name, 200, "%.150s%s", tal_force_name(forces, force),
                   is_single ? "" : parts[part]);
}

static void add_tables(tali_osim_analysis *a, const optimization *it)
{
    static const char *const ends[] = {"_activation.sto", "_force.sto"};
    for (int k = 0; k < 2; ++k) {
        tal_table *table = tali_osim_analysis_add_table(a, ends[k], "Static Optimization");
        for (int j = 0; j < it->n && table != NULL; ++j) {
            char name[200];
            name_of(a, it, j, name);
            tali_osim_tool_add_column(a->tool, table, name, "");
        }
    }
}

static bool take_memory(tali_osim_analysis *a, optimization *it)
{
    double **const arrays[] = {&it->x, &it->force, &it->lower, &it->upper};
    bool good = true;
    for (int k = 0; k < 4; ++k) {
        *arrays[k] = tali_osim_analysis_take(a, (size_t)it->n * sizeof **arrays[k]);
        good = good && *arrays[k] != NULL;
    }
    return good;
}

// Bounds of the controls, for the set of controls.
static void find_bounds(const tali_osim_analysis *a, optimization *it)
{
    const tal_model *model = &a->tool->model;
    for (int j = 0; j < it->n; ++j) {
        const tal_force_ix force = tal_static_optimizer_actuator(it->optimizer, j, NULL);
        it->lower[j] = (double)-INFINITY;
        it->upper[j] = (double)INFINITY;
        if (!tal_force_has_control(model->forces, force)) continue;
        (void)tal_actuator_control_range(model->forces, model->state, force, &it->lower[j],
                                         &it->upper[j]);
    }
}

static bool create(tali_osim_analysis *a, optimization *it)
{
    const tal_model *model = &a->tool->model;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st =
        tal_static_optimizer_create(model->system, model->forces, &it->def, &it->optimizer, &err);
    a->tool->setup.no_memory = a->tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) tali_osim_analysis_error(a, "StaticOptimization", "%s", err.message);
    return st == TAL_OK;
}

// The study with the properties of the set-up, and its tables.
static void begin(tali_osim_analysis *a)
{
    tali_osim *setup = &a->tool->setup;
    const tal_model *model = &a->tool->model;
    optimization *it = tali_osim_analysis_take(a, sizeof *it);
    const size_t nu = (size_t)tal_matter_nu(model->matter);
    bool *dependent = tali_osim_analysis_take(a, nu * sizeof *dependent);
    a->data = it;
    if (it == NULL || dependent == NULL) return;
    *it = (optimization){.def = tal_static_optimizer_def_default()};
    if (!tali_osim_bool(setup, a->element, "use_model_force_set", true)) {
        tali_osim_analysis_error(a, "use_model_force_set",
                                 "actuators of coordinates alone are what InverseDynamicsTool "
                                 "finds: use that");
        return;
    }
    tali_osim_tool_list_dependent(a->tool, dependent);
    it->def.exponent = tali_osim_number(setup, a->element, "activation_exponent", 2.0);
    it->def.no_physiology = !tali_osim_bool(setup, a->element, "use_muscle_physiology", true);
    it->def.dependent = dependent;
    if (!create(a, it)) return;
    it->n = tal_static_optimizer_num(it->optimizer);
    if (!take_memory(a, it)) return;
    find_bounds(a, it);
    add_tables(a, it);
}

// A frame that the muscles are too weak for keeps the nearest answer.
static void record(tali_osim_analysis *a)
{
    optimization *it = a->data;
    const tal_status st = tal_static_optimizer_solve(it->optimizer, a->tool->model.state, a->udot,
                                                     it->x, it->force, NULL, NULL);
    if (st != TAL_OK) {
        tali_osim_analysis_flag(a, "%s", tal_static_optimizer_error(it->optimizer)->message);
    }
    const bool has_answer = st == TAL_OK || st == TAL_ERR_INFEASIBLE;
    for (int j = 0; j < it->n && has_answer; ++j) {
        a->rows[0][1 + j] = it->x[j];
        a->rows[1][1 + j] = it->force[j];
    }
}

static void end(tali_osim_analysis *a)
{
    optimization *it = a->data;
    if (it == NULL) return;
    if (tali_osim_tool_is_good(a->tool) && a->num_tables == 2) {
        char file[300];
        (void)snprintf(file, sizeof file, "%.100s_%.60s_controls.xml", a->tool->name, a->name);
        tali_osim_tool_add_controls(a->tool, file, a->tables[0], it->lower, it->upper, NULL);
    }
    tal_static_optimizer_destroy(it->optimizer);
}

// --- lanes ---

static void release(tali_osim_analysis *a)
{
    const optimization *it = a->data;
    tal_static_optimizer_destroy(it->optimizer);
}

static void fork_study(tali_osim_analysis *a, const void *data)
{
    optimization *it = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    *it = *(const optimization *)data;
    it->optimizer = NULL;
    if (create(a, it)) a->data = it;
    if (a->data != NULL) (void)take_memory(a, it);
}

static void restart(tali_osim_analysis *a)
{
    const optimization *it = a->data;
    tal_static_optimizer_restart(it->optimizer);
}

const tali_osim_analysis_kind tali_osim_static_optimization = {.name = "StaticOptimization",
                                                               .begin = begin,
                                                               .record = record,
                                                               .end = end,
                                                               .needs_udot = true,
                                                               .fork = fork_study,
                                                               .release = release,
                                                               .restart = restart};
