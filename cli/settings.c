// --set: params of a model, and where its coordinates and speeds start.
#include "settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int settings_read(const cli_args *args, settings *out)
{
    const char *const *sets = NULL;
    const int n = cli_list(args, "set", &sets);
    *out = (settings){.list = cli_alloc((size_t)n, sizeof *out->list)};
    for (; out->num < n; ++out->num) {
        tal_model_param *const it = &out->list[out->num];
        const char *rest = NULL;
        it->name = cli_split(sets[out->num], &rest);
        const char *const end = it->name != NULL ? tal_number_read(rest, NULL, &it->value) : NULL;
        if (end != NULL && *end == 0) continue;
        free((char *)it->name);
        return cli_fail(args, CLI_USAGE, "--set needs NAME=VALUE, not '%s'.", sets[out->num]);
    }
    return CLI_OK;
}

void settings_destroy(settings *it)
{
    for (int i = 0; i < it->num; ++i) {
        free((char *)it->list[i].name);
    }
    free(it->list);
}

// --- which names there are ---

static bool is_param(const cli_model *model, const char *name)
{
    for (int i = 0; i < model->file.num_params; ++i) {
        if (strcmp(model->file.params[i].name, name) == 0) return true;
    }
    return false;
}

static void name_of_q(const cli_model *model, int slot, char name[])
{
    int i = -1;
    const tal_body_ix body = tal_matter_q_owner(model->matter, model->state, slot, &i);
    name[0] = 0;
    if (body.i >= 0) (void)tal_body_coordinate_name(model->matter, model->state, body, i, name);
}

static void name_of_u(const cli_model *model, int slot, char name[])
{
    int i = -1;
    const tal_body_ix body = tal_matter_u_owner(model->matter, model->state, slot, &i);
    name[0] = 0;
    if (body.i < 0) return;
    snprintf(name, TAL_COORDINATE_NAME_SIZE, "%s.u%d", tal_body_name(model->matter, body), i);
}

// A coordinate by name; -1: none.
static int find_q(const cli_model *model, const char *wanted)
{
    char name[TAL_COORDINATE_NAME_SIZE];
    for (int slot = 0; slot < tal_state_nq(model->state); ++slot) {
        name_of_q(model, slot, name);
        if (strcmp(name, wanted) == 0) return slot;
    }
    return -1;
}

static int find_u(const cli_model *model, const char *wanted)
{
    char name[TAL_COORDINATE_NAME_SIZE];
    for (int slot = 0; slot < tal_state_nu(model->state); ++slot) {
        name_of_u(model, slot, name);
        if (strcmp(name, wanted) == 0) return slot;
    }
    return -1;
}

// All names that can be set.
typedef struct known {
    char (*names)[TAL_COORDINATE_NAME_SIZE]; // owned
    int num;
} known;

static known list_known(const cli_model *model)
{
    const int np = model->file.num_params, nq = tal_state_nq(model->state),
              nu = tal_state_nu(model->state);
    known it = {cli_alloc((size_t)(np + nq + nu), sizeof *it.names), np + nq + nu};
    for (int i = 0; i < np; ++i) {
        snprintf(it.names[i], sizeof it.names[i], "%s", model->file.params[i].name);
    }
    for (int i = 0; i < nq; ++i) {
        name_of_q(model, i, it.names[np + i]);
    }
    for (int i = 0; i < nu; ++i) {
        name_of_u(model, i, it.names[np + nq + i]);
    }
    return it;
}

static const char *known_at(const void *context, int i)
{
    const known *const it = context;
    return i < it->num ? it->names[i] : NULL;
}

static int refuse_name(const cli_args *args, const cli_model *model, const char *name)
{
    known all = list_known(model);
    const char *const meant = tal_did_you_mean(name, known_at, &all);
    int code = CLI_USAGE;
    if (meant != NULL) {
        (void)cli_fail(args, code, "--set: there is no '%s' (did you mean '%s'?).", name, meant);
    } else {
        char *const names = cli_join(known_at, &all, 40);
        (void)cli_fail(args, code,
                       "--set: the model has no param, coordinate or speed '%s'; it has %s.", name,
                       names[0] != 0 ? names : "none");
        free(names);
    }
    free(all.names);
    return code;
}

// --- sorting and setting ---

int settings_sort(const cli_args *args, const cli_model *model, settings *it)
{
    for (int k = 0; k < it->num; ++k) {
        const tal_model_param given = it->list[k];
        if (is_param(model, given.name)) {
            memmove(it->list + it->num_params + 1, it->list + it->num_params,
                    (size_t)(k - it->num_params) * sizeof *it->list);
            it->list[it->num_params++] = given;
        } else if (find_q(model, given.name) < 0 && find_u(model, given.name) < 0) {
            return refuse_name(args, model, given.name);
        }
    }
    return CLI_OK;
}

int settings_apply(const cli_args *args, cli_model *model, const settings *it)
{
    if (it->num == it->num_params) return CLI_OK;
    for (int k = it->num_params; k < it->num; ++k) {
        const tal_model_param *const given = &it->list[k];
        const int q = find_q(model, given->name), u = find_u(model, given->name);
        if (q < 0 && u < 0) return refuse_name(args, model, given->name);
        if (!isfinite(given->value)) {
            return cli_fail(args, CLI_USAGE, "--set %s needs a finite number.", given->name);
        }
        double *const y = q >= 0 ? tal_state_upd_q(model->state) : tal_state_upd_u(model->state);
        y[q >= 0 ? q : u] = given->value;
    }
    const tal_status st = tal_matter_normalize_quaternions(model->matter, model->state);
    return st == TAL_OK ? CLI_OK : cli_fail_with(args, CLI_FAILED, tal_state_error(model->state));
}
