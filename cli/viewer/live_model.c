// The model of a live run.
#include "viewer/live_model.h"

#include "model/integrators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SLIDERS = 400
};

static const double no_end = 1e12; // [s]
static const char usual_columns[] = "q,u,z,measures,energy,bath,errors";

// ---- sliders

static slider *add_slider(live_model *it, slider_kind kind, int element, int i)
{
    if (it->num_sliders >= MAX_SLIDERS) return NULL;
    slider *const s = &it->sliders[it->num_sliders++];
    *s = (slider){.kind = kind, .element = element, .i = i};
    return s;
}

// From 0 to twice the value; to 1 where that is nothing.
static void span_value(slider *s, double value)
{
    s->low = fmin(0.0, 2.0 * value);
    s->high = fmax(0.0, 2.0 * value);
    if (value == 0.0) s->high = 1.0;
}

static void add_params(live_model *it)
{
    const tal_model *const file = &it->shown.model.file;
    for (int i = 0; i < file->num_params; ++i) {
        slider *const s = add_slider(it, SLIDER_PARAM, -1, i);
        if (s == NULL) return;
        snprintf(s->name, sizeof s->name, "%s", file->params[i].name);
        span_value(s, file->params[i].value);
    }
}

// Coordinates of quaternions mean nothing one by one.
static void add_coordinate(live_model *it, tal_body_ix body, int i)
{
    const cli_model *const model = &it->shown.model;
    const tal_matter *const matter = model->matter;
    char name[TAL_COORDINATE_NAME_SIZE];
    if (tal_coordinate_is_of_quaternion(matter, it->start, body, i) ||
        tal_body_coordinate_name(matter, it->start, body, i, name) != TAL_OK) {
        return;
    }
    slider *const s = add_slider(it, SLIDER_COORDINATE, body.i, i);
    if (s == NULL) return;
    snprintf(s->name, sizeof s->name, "%s", name);
    const double q = tal_body_q(matter, it->start, body, i);
    const double half = tal_coordinate_is_angle(matter, it->start, body, i) ? 3.2 : 1.0;
    (void)tal_body_range(matter, it->start, body, i, &s->low, &s->high);
    if (!isfinite(s->low)) s->low = q - half;
    if (!isfinite(s->high)) s->high = q + half;
}

static void add_coordinates(live_model *it)
{
    for (int slot = 0; slot < tal_state_nq(it->start); ++slot) {
        int i = -1;
        const tal_body_ix body = tal_matter_q_owner(it->shown.model.matter, it->start, slot, &i);
        if (body.i >= 0) add_coordinate(it, body, i);
    }
}

static void add_forces(live_model *it)
{
    const tal_forces *const forces = it->shown.model.forces;
    for (int f = 0; f < tal_forces_num(forces); ++f) {
        const tal_force_ix force = {f};
        for (int i = 0; i < tal_force_num_params(forces, force); ++i) {
            const double value = tal_force_param(forces, it->start, force, i);
            slider *const s = isfinite(value) ? add_slider(it, SLIDER_FORCE, f, i) : NULL;
            if (s == NULL) continue;
            snprintf(s->name, sizeof s->name, "%.60s.%.60s", tal_force_name(forces, force),
                     tal_force_param_name(forces, force, i));
            span_value(s, value);
        }
    }
}

double live_model_value(const live_model *it, int index)
{
    const slider *const s = &it->sliders[index];
    const cli_model *const model = &it->shown.model;
    if (s->kind == SLIDER_PARAM) return model->file.params[s->i].value;
    if (s->kind == SLIDER_FORCE) {
        return tal_force_param(model->forces, it->run.state, (tal_force_ix){s->element}, s->i);
    }
    return tal_body_q(model->matter, it->run.shown, (tal_body_ix){s->element}, s->i);
}

static tal_status set_in(const live_model *it, const slider *s, tal_state *state, double value)
{
    const cli_model *const model = &it->shown.model;
    if (s->kind == SLIDER_COORDINATE) {
        return tal_body_set_q(model->matter, state, (tal_body_ix){s->element}, s->i, value);
    }
    return tal_force_set_param(model->forces, state, (tal_force_ix){s->element}, s->i, value);
}

// Go on from `state`, which meets the constraints again after a step without length.
static tal_status continue_from(live_model *it, const tal_state *state)
{
    const double t = tal_state_t(state);
    tal_status st = cli_run_restart(&it->run, state);
    if (st == TAL_OK) st = cli_run_go(&it->run, t);
    return st;
}

bool live_model_set(live_model *it, int index, double value, char why[], size_t size)
{
    slider *const s = &it->sliders[index];
    tal_state *const changed = cli_state_copy(it->args, &it->shown.model);
    if (changed == NULL) return false;
    tal_status st = tal_state_copy(changed, it->run.shown);
    if (st == TAL_OK) st = set_in(it, s, changed, value);
    if (st != TAL_OK) {
        snprintf(why, size, "%s", tal_state_error(changed)->message);
    } else {
        if (s->kind == SLIDER_FORCE) (void)set_in(it, s, it->start, value);
        s->is_changed = true;
        s->value = value;
        st = continue_from(it, changed);
        if (st != TAL_OK) snprintf(why, size, "%s", it->run.error.message);
    }
    tal_state_destroy(changed);
    return st == TAL_OK;
}

tal_status live_model_reset(live_model *it)
{
    return continue_from(it, it->start);
}

// ---- reading

// Values of params that the user has changed; returns how many.
static int changed_params(const live_model *before, tal_model_param params[MAX_SLIDERS])
{
    int n = 0;
    for (int i = 0; before != NULL && i < before->num_sliders; ++i) {
        const slider *const s = &before->sliders[i];
        if (s->kind != SLIDER_PARAM || !s->is_changed) continue;
        params[n++] = (tal_model_param){before->shown.model.file.params[s->i].name, s->value};
    }
    return n;
}

// A table with one row: how the model begins. Its columns are those of charts.
static int add_first_frame(live_model *it)
{
    tal_error err = {0};
    tal_table *const table = cli_need(tal_table_create(NULL));
    tal_status st = columns_name(&it->columns, table);
    if (st == TAL_OK) st = columns_read(&it->columns, &it->shown.model, it->run.shown, it->row);
    if (st == TAL_OK) st = tal_table_add_row(table, it->row);
    if (st == TAL_OK) {
        st = tal_scene_add_run(it->shown.scene, "live", table, &err);
    } else {
        err = *tal_state_error(it->run.shown);
    }
    tal_table_destroy(table);
    return st == TAL_OK ? CLI_OK : cli_fail_with(it->args, CLI_FAILED, &err);
}

// What sliders had set before the model was read again, as far as it is still there: parameters of
// forces, time, coordinates and speeds.
static void carry_over(live_model *it, const live_model *before)
{
    const tal_state *const old = before->run.shown;
    for (int i = 0; i < before->num_sliders && i < it->num_sliders; ++i) {
        const slider *const s = &before->sliders[i];
        slider *const to = &it->sliders[i];
        if (s->kind != to->kind || strcmp(s->name, to->name) != 0) continue;
        *to = (slider){s->kind, to->element, to->i, "", s->low, s->high, s->is_changed, s->value};
        memcpy(to->name, s->name, sizeof to->name);
        if (s->kind == SLIDER_FORCE && s->is_changed) (void)set_in(it, to, it->start, s->value);
    }
    tal_state *const state = it->run.state;
    const size_t nq = (size_t)tal_state_nq(old), nu = (size_t)tal_state_nu(old);
    const size_t nz = (size_t)tal_state_nz(old);
    (void)tal_state_copy(state, it->start);
    if (nq != (size_t)tal_state_nq(state) || nu != (size_t)tal_state_nu(state) ||
        nz != (size_t)tal_state_nz(state)) {
        return;
    }
    (void)tal_state_set_t(state, tal_state_t(old));
    if (nq > 0) memcpy(tal_state_upd_q(state), tal_state_q(old), nq * sizeof(double));
    if (nu > 0) memcpy(tal_state_upd_u(state), tal_state_u(old), nu * sizeof(double));
    if (nz > 0) memcpy(tal_state_upd_z(state), tal_state_z(old), nz * sizeof(double));
}

// Begin the run, where the one before was.
static int begin_run(live_model *it, const live_model *before)
{
    const cli_model *const model = &it->shown.model;
    tal_integrator_def def;
    int code = cli_integrator_def(it->args, &def);
    if (code == CLI_OK) code = cli_run_create(it->args, model, &def, &it->run);
    if (code != CLI_OK) return code;
    cli_run_warn_of_colliders(it->args, model);
    it->run.end = no_end;
    it->start = cli_state_copy(it->args, model);
    if (it->start == NULL) return CLI_FAILED;
    it->sliders = cli_alloc(MAX_SLIDERS, sizeof *it->sliders);
    code = cli_realize(it->args, model, it->start, TAL_STAGE_POSITION); // sliders need a pose
    if (code != CLI_OK) return code;
    add_params(it);
    add_coordinates(it);
    add_forces(it);
    tal_status st = tal_state_copy(it->run.state, it->start);
    if (before != NULL) carry_over(it, before);
    if (st == TAL_OK) st = cli_run_go(&it->run, tal_state_t(it->run.state));
    return st == TAL_OK ? CLI_OK : cli_fail_with(it->args, CLI_FAILED, &it->run.error);
}

static int read_all(live_model *it, const live_model *before)
{
    tal_model_param params[MAX_SLIDERS];
    const int n = changed_params(before, params);
    const char *const list =
        cli_is_given(it->args, "columns") ? cli_text(it->args, "columns") : usual_columns;
    int code = cli_scene_begin(it->args, it->args->files[0], params, n, &it->shown);
    if (code != CLI_OK) return code;
    code = columns_choose(it->args, &it->shown.model, list, true, &it->columns);
    if (code == CLI_OK) code = begin_run(it, before);
    if (code != CLI_OK) return code;
    it->num_numbers = tal_scene_frame_size(it->shown.scene);
    it->numbers = cli_alloc((size_t)it->num_numbers + 1, sizeof *it->numbers);
    it->row = cli_alloc((size_t)it->columns.num + 1, sizeof *it->row);
    return add_first_frame(it);
}

int live_model_read(const cli_args *args, const live_model *before, live_model **out)
{
    *out = NULL;
    live_model *const it = cli_alloc(1, sizeof *it);
    memset(it, 0, sizeof *it);
    it->args = args;
    const int code = read_all(it, before);
    if (code == CLI_OK) {
        *out = it;
    } else {
        live_model_destroy(it);
    }
    return code;
}

void live_model_destroy(live_model *it)
{
    if (it == NULL) return;
    tal_state_destroy(it->start);
    cli_run_destroy(&it->run);
    columns_destroy(&it->columns);
    cli_scene_destroy(&it->shown);
    free(it->sliders);
    free(it->numbers);
    free(it->row);
    free(it);
}

tal_status live_model_look(live_model *it)
{
    tal_state *const shown = it->run.shown;
    tal_status st = columns_read(&it->columns, &it->shown.model, shown, it->row);
    if (st == TAL_OK) st = tal_scene_calc_frame(it->shown.scene, shown, it->numbers);
    if (st != TAL_OK) it->run.error = *tal_state_error(shown);
    return st;
}
