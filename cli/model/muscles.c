// Muscles of a model, and poses along one of its coordinates.
#include "model/muscles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANGE_POSES = 25 // through the range of a coordinate
};

cli_muscles muscles_all(const cli_model *model)
{
    const int n = tal_forces_num(model->forces);
    cli_muscles it = {.list = cli_alloc((size_t)n, sizeof *it.list)};
    for (int i = 0; i < n; ++i) {
        const tal_force_ix force = {i};
        if (tal_force_is_muscle(model->forces, force)) it.list[it.num++] = force;
    }
    return it;
}

int muscles_choose(const cli_args *args, const cli_model *model, const char *names,
                   cli_muscles *out)
{
    *out = muscles_all(model);
    if (names == NULL) return CLI_OK;
    out->num = 0;
    char *const copy = cli_copy(names);
    int code = CLI_OK;
    char *rest = NULL;
    for (char *name = strtok_r(copy, ",", &rest); name != NULL && code == CLI_OK;
         name = strtok_r(NULL, ",", &rest)) {
        const tal_force_ix force = tal_forces_find(model->forces, name);
        if (tal_force_is_muscle(model->forces, force)) {
            out->list[out->num++] = force;
        } else {
            code = cli_fail(args, CLI_USAGE, "%s has no muscle '%s'; talus info lists them.",
                            model->path, name);
        }
    }
    free(copy);
    return code;
}

void muscles_destroy(cli_muscles *it)
{
    free(it->list);
    *it = (cli_muscles){.num = 0};
}

bool muscles_slide_at(const cli_model *model, int slot, cli_slide *out)
{
    int i = -1;
    const tal_body_ix body = tal_matter_q_owner(model->matter, model->state, slot, &i);
    if (body.i < 0 || !tal_body_qdot_is_u(model->matter, body)) return false;
    *out = (cli_slide){.at = {body, i}, .low = (double)-INFINITY, .high = (double)INFINITY};
    out->unit = tal_body_q_unit(model->matter, model->state, body, i);
    (void)tal_body_range(model->matter, model->state, body, i, &out->low, &out->high);
    return tal_body_coordinate_name(model->matter, model->state, body, i, out->name) == TAL_OK;
}

int muscles_slide_of(const cli_args *args, const cli_model *model, const char *name, cli_slide *out)
{
    int i = -1;
    const tal_body_ix body = tal_matter_find_coordinate(model->matter, model->state, name, &i);
    if (body.i < 0) {
        return cli_fail(args, CLI_USAGE, "%s has no coordinate '%s'; talus info lists them.",
                        model->path, name);
    }
    const int code = cli_realize(args, model, model->state, TAL_STAGE_POSITION); // for its unit
    if (code != CLI_OK) return code;
    const int slot = tal_body_q_start(model->matter, model->state, body) + i;
    if (muscles_slide_at(model, slot, out)) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "the rate of coordinate '%s' is not a speed of its body.",
                    name);
}

// It is locked while the constraints are met, so that the others follow and not it.
tal_status muscles_slide_to(const cli_model *model, tal_state *state, const cli_slide *slide,
                            double value)
{
    const tal_matter *const matter = model->matter;
    const tal_level before = tal_mobility_lock_level(matter, state, slide->at);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-10;
    tal_status st = tal_mobility_lock_at(matter, state, slide->at, TAL_LEVEL_POSITION, value);
    if (st == TAL_OK) st = tal_system_prescribe_and_project(model->system, state, &options, NULL);
    if (before == TAL_LEVEL_FREE) (void)tal_mobility_unlock(matter, state, slide->at);
    return st == TAL_OK ? tal_system_realize(model->system, state, TAL_STAGE_VELOCITY) : st;
}

// Widen the ranges by the lengths in a State.
static void include_lengths(const cli_model *model, const cli_muscles *muscles, tal_state *state,
                            double low[], double high[])
{
    for (int k = 0; k < muscles->num; ++k) {
        const tal_path_ix path = tal_muscle_path(model->forces, muscles->list[k]);
        const double length = tal_path_length(model->forces, state, path);
        low[k] = fmin(low[k], length);
        high[k] = fmax(high[k], length);
    }
}

int muscles_length_ranges(const cli_args *args, const cli_model *model, const cli_muscles *muscles,
                          double low[], double high[])
{
    for (int k = 0; k < muscles->num; ++k) {
        low[k] = (double)INFINITY;
        high[k] = (double)-INFINITY;
    }
    for (int slot = -1; slot < tal_state_nq(model->state); ++slot) {
        cli_slide slide = {.low = 0.0, .high = 0.0};
        if (slot >= 0 && !muscles_slide_at(model, slot, &slide)) continue;
        if (slot >= 0 && !isfinite(slide.high - slide.low)) continue;
        tal_state *const state = cli_state_copy(args, model);
        if (state == NULL) return CLI_FAILED;
        tal_status st = tal_system_realize(model->system, state, TAL_STAGE_VELOCITY);
        for (int i = 0; i < RANGE_POSES && st == TAL_OK; ++i) {
            const double share = (double)i / (RANGE_POSES - 1);
            if (slot >= 0) {
                st = muscles_slide_to(model, state, &slide,
                                      slide.low + share * (slide.high - slide.low));
            }
            if (st == TAL_OK) include_lengths(model, muscles, state, low, high);
            if (slot < 0) break; // where the model begins
        }
        tal_state_destroy(state);
    }
    return CLI_OK;
}
