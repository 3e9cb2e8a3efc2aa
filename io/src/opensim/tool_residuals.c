// Residuals: what the root of a model needs besides its loads, and the mass center that makes them
// small.
//
// A torso whose mass center is d too far forward needs a moment m g d about z, of the mean over a
// stride; so does one that is too far to the side, about x (ThelenCMC sec. 2). How much mass is
// missing is told by the mean force along y.
#include "opensim/scale_internal.h"
#include "opensim/tool_track_internal.h"

#include <talus/study/static_optimizer.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double most_shift = 0.1; // of a mass center in one direction [m]

static const char *const residual_names[TALI_OSIM_NUM_RESIDUALS] = {"FX", "FY", "FZ",
                                                                    "MX", "MY", "MZ"};

// --- means ---

int tali_osim_residual_of(const tali_osim_tool *tool, tal_force_ix force)
{
    for (int k = 0; k < TALI_OSIM_NUM_RESIDUALS; ++k) {
        if (strcmp(tal_force_name(tool->model.forces, force), residual_names[k]) == 0) return k;
    }
    return -1;
}

void tali_osim_residuals_add(tali_osim_residuals *it, double t,
                             const double values[TALI_OSIM_NUM_RESIDUALS])
{
    if (it->num_rows++ == 0) it->begin = it->end = t;
    for (int k = 0; k < TALI_OSIM_NUM_RESIDUALS; ++k) {
        it->sum[k] += 0.5 * (t - it->end) * (it->last[k] + values[k]);
        it->last[k] = values[k];
    }
    it->end = t;
}

double tali_osim_residuals_mean(const tali_osim_residuals *it, int which)
{
    return it->end > it->begin ? it->sum[which] / (it->end - it->begin) : it->last[which];
}

void tali_osim_residuals_put(const tali_osim_residuals *it, tali_scene_bytes *out)
{
    for (int k = 0; k < TALI_OSIM_NUM_RESIDUALS; ++k) {
        char line[80];
        (void)snprintf(line, sizeof line, "%s=%.8g\n", residual_names[k],
                       tali_osim_residuals_mean(it, k));
        tali_scene_put_text(out, line);
    }
}

// --- residuals of the wanted motion ---

// Inverse dynamics with the least effort. Arrays are in the arena.
typedef struct inverse {
    tali_osim_tool *tool;
    tali_osim_desired *desired;
    tal_static_optimizer *optimizer;
    int n;
    double *q, *u, *udot;
    double *x, *force;
} inverse;

static bool make_optimizer(inverse *it)
{
    tali_osim_tool *tool = it->tool;
    const tal_model *model = &tool->model;
    tal_static_optimizer_def def = tal_static_optimizer_def_default();
    tal_force_ix *which =
        tali_osim_take(&tool->setup, tal_forces_num(model->forces), sizeof *which);
    bool *dependent = tali_osim_take(&tool->setup, tal_matter_nu(model->matter), sizeof *dependent);
    if (which == NULL || dependent == NULL) return false;
    tali_osim_tool_list_dependent(tool, dependent);
    def.actuators = which;
    def.num_actuators = tali_osim_tool_list_actuators(tool, which);
    def.dependent = dependent;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st =
        tal_static_optimizer_create(model->system, model->forces, &def, &it->optimizer, &err);
    tali_osim_tool_fail(tool, st, &err);
    if (st != TAL_OK) return false;
    it->n = tal_static_optimizer_num(it->optimizer);
    it->q = tali_osim_take(&tool->setup, tal_state_nq(model->state), sizeof *it->q);
    it->u = tali_osim_take(&tool->setup, tal_matter_nu(model->matter), sizeof *it->u);
    it->udot = tali_osim_take(&tool->setup, tal_matter_nu(model->matter), sizeof *it->udot);
    it->x = tali_osim_take(&tool->setup, it->n, sizeof *it->x);
    it->force = tali_osim_take(&tool->setup, it->n, sizeof *it->force);
    return tali_osim_tool_is_good(tool);
}

static tal_status solve_row(inverse *it, double t, tali_osim_residuals *sum)
{
    const tal_model *model = &it->tool->model;
    double values[TALI_OSIM_NUM_RESIDUALS] = {0.0};
    tal_status st = tali_osim_desired_calc(it->desired, t, it->q, it->u, it->udot);
    if (st == TAL_OK) st = tal_state_set_t(model->state, t);
    if (st == TAL_OK) st = tal_state_set_q(model->state, it->q, tal_state_nq(model->state));
    if (st == TAL_OK) st = tal_state_set_u(model->state, it->u, tal_matter_nu(model->matter));
    if (st == TAL_OK) {
        st = tal_static_optimizer_solve(it->optimizer, model->state, it->udot, it->x, it->force,
                                        NULL, NULL);
    }
    if (st != TAL_OK && st != TAL_ERR_INFEASIBLE) return st;
    for (int j = 0; j < it->n; ++j) {
        const tal_force_ix force = tal_static_optimizer_actuator(it->optimizer, j, NULL);
        const int k = tali_osim_residual_of(it->tool, force);
        if (k >= 0) values[k] += it->force[j];
    }
    tali_osim_residuals_add(sum, t, values);
    return TAL_OK;
}

// Over the times for the adjustment, or those of the tool, at the samples of the data.
static void find_residuals(inverse *it, tali_osim_residuals *sum)
{
    tali_osim_tool *tool = it->tool;
    double range[2];
    tali_osim_tool_time_range(tool, range);
    const double first =
        tali_osim_number(&tool->setup, tool->root, "initial_time_for_com_adjustment", -1.0);
    const double last =
        tali_osim_number(&tool->setup, tool->root, "final_time_for_com_adjustment", -1.0);
    if (first >= 0.0) range[0] = first;
    if (last >= 0.0) range[1] = last;
    const double *times = tal_signal_times(it->desired->q);
    range[0] = fmax(range[0], it->desired->first);
    range[1] = fmin(range[1], it->desired->last);
    for (int i = 0; i < tal_signal_num_samples(it->desired->q); ++i) {
        if (times[i] < range[0] - 1e-9 || times[i] > range[1] + 1e-9) continue;
        const tal_status st = solve_row(it, times[i], sum);
        tali_osim_tool_fail(tool, st, tal_static_optimizer_error(it->optimizer));
        if (st != TAL_OK) return;
    }
    if (sum->num_rows == 0) {
        tali_osim_tool_error(tool, "initial_time_for_com_adjustment",
                             "the motion has no row from %g s to %g s", range[0], range[1]);
    }
}

// --- the model ---

static double clamp(double x)
{
    return fmin(fmax(x, -most_shift), most_shift);
}

// Move the mass center, in the State and in the document.
static void move_center(tali_osim_tool *tool, int b, tal_vec3 shift)
{
    const tal_model *model = &tool->model;
    const tali_osim_body *body = &tool->o.bodies[b];
    const tal_mass_props old = tal_body_mass_props(model->matter, model->state, body->body);
    const tal_xform X_BN = tal_xf_from_p(shift);
    const tal_mass_props moved = tal_mass_props_transform(&X_BN, &old);
    const tal_status st = tal_body_set_mass_props(model->matter, model->state, body->body, &moved);
    tali_osim_tool_fail(tool, st, tal_state_error(model->state));
    const tal_vec3 center = tal_v3_add(body->mass.com, shift);
    const double numbers[] = {center.x, center.y, center.z};
    if (body->element == NULL) return;
    const bool good =
        tali_osim_set_property(&tool->o.arena, body->element, "mass_center", numbers, 3);
    tool->setup.no_memory = tool->setup.no_memory || !good;
}

// The masses that the mean force along y asks for; into the document if <apply_mass> says so.
static void tell_masses(tali_osim_tool *tool, double change, double total, tali_scene_bytes *out)
{
    const bool applies = tali_osim_bool(&tool->setup, tool->root, "apply_mass", false);
    char line[200];
    (void)snprintf(line, sizeof line, "\nMass change: %.8g%s\n", change,
                   applies ? ", written to the model" : ", not written to the model");
    tali_scene_put_text(out, line);
    for (int b = 0; b < tool->o.num_bodies; ++b) {
        const tali_osim_body *body = &tool->o.bodies[b];
        if (body->body.i < 1 || body->element == NULL) continue;
        const double mass = body->mass.mass, ratio = 1.0 + change / total;
        (void)snprintf(line, sizeof line, "%.100s: mass %.8g, recommended %.8g\n", body->name, mass,
                       ratio * mass);
        tali_scene_put_text(out, line);
        if (applies) tali_osim_multiply_mass(&tool->o, body->element, ratio);
    }
    tool->setup.no_memory = tool->setup.no_memory || tool->o.no_memory;
}

static double total_mass(const tali_osim_tool *tool)
{
    double total = 0.0;
    for (int b = 0; b < tool->o.num_bodies; ++b) {
        if (tool->o.bodies[b].body.i >= 1) total += tool->o.bodies[b].mass.mass;
    }
    return total;
}

// Without residuals the center would be elsewhere: by how much?
static void adjust(tali_osim_tool *tool, int b, const tali_osim_residuals *means,
                   tali_scene_bytes *out)
{
    const tali_osim_body *body = &tool->o.bodies[b];
    const double weight = body->mass.mass * fabs(tool->o.gravity.y);
    if (!(weight > 0.0)) {
        tali_osim_tool_error(tool, "adjusted_com_body", "'%.60s' has no weight", body->name);
        return;
    }
    const double dx = clamp(tali_osim_residuals_mean(means, TALI_OSIM_MZ) / weight);
    const double dz = clamp(-tali_osim_residuals_mean(means, TALI_OSIM_MX) / weight);
    char line[200];
    (void)snprintf(line, sizeof line, "\nMass center of %.100s moved by: %.8g 0 %.8g\n", body->name,
                   -dx, -dz);
    tali_scene_put_text(out, line);
    move_center(tool, b, tal_v3(-dx, 0.0, -dz));
    const double missing = tali_osim_residuals_mean(means, TALI_OSIM_FY) / tool->o.gravity.y;
    tell_masses(tool, missing, total_mass(tool), out);
    if (fabs(dx) == most_shift || fabs(dz) == most_shift) {
        tali_osim_tool_warn(tool, "adjusted_com_body",
                            "the mass center of '%.60s' moves by %g m at most: look at the loads "
                            "and at the motion",
                            body->name, most_shift);
    }
}

static void write_model(tali_osim_tool *tool)
{
    const char *file = tali_osim_text(tool->root, "output_model_file");
    tali_scene_bytes text = {.allocator = tool->options.allocator};
    tali_osim_write_document(tool->o.xml->root, &text);
    tali_osim_tool_add_text(tool, file != NULL ? file : "adjusted_model.osim", &text);
}

static int find_body(tali_osim_tool *tool)
{
    const char *name = tali_osim_text(tool->root, "adjusted_com_body");
    if (name == NULL) {
        tali_osim_tool_error(tool, NULL, "<adjusted_com_body> is missing");
        return -1;
    }
    const int b = tali_name_map_find(&tool->o.body_names, name);
    if (b < 0) {
        tali_osim_tool_error(tool, "adjusted_com_body", "the model has no body '%.60s'", name);
    }
    return b;
}

void tali_osim_tool_adjust_mass_center(tali_osim_tool *tool, tali_osim_desired *desired,
                                       tali_scene_bytes *out)
{
    inverse it = {.tool = tool, .desired = desired};
    tali_osim_residuals means = {.num_rows = 0};
    const int b = find_body(tool);
    if (b >= 0 && make_optimizer(&it)) find_residuals(&it, &means);
    tal_static_optimizer_destroy(it.optimizer);
    if (!tali_osim_tool_is_good(tool)) return;
    tali_scene_put_text(out, "Residuals before the mass center moved:\n");
    tali_osim_residuals_put(&means, out);
    adjust(tool, b, &means, out);
    if (tali_osim_tool_is_good(tool)) write_model(tool);
}
