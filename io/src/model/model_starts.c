// Where coordinates and speeds begin, by their names: what a caller says instead of a file.
#include "alloc_internal.h"

#include "model/model_internal.h"

#include <talus/io/suggest.h>

#include <math.h>
#include <stdio.h>

// The names of all coordinates and speeds.
typedef struct name_list {
    char (*names)[TAL_COORDINATE_NAME_SIZE];
    int num;
} name_list;

static const char *name_at(const void *context, int i)
{
    const name_list *list = context;
    return i < list->num ? list->names[i] : NULL;
}

static void fill_names(const tal_matter *matter, const tal_state *state, name_list *list)
{
    const int nq = tal_state_nq(state);
    for (int i = 0; i < list->num; ++i) {
        int local = -1;
        const tal_body_ix body = i < nq ? tal_matter_q_owner(matter, state, i, &local)
                                        : tal_matter_u_owner(matter, state, i - nq, &local);
        if (body.i < 0) continue;
        if (i < nq) {
            (void)tal_body_coordinate_name(matter, state, body, local, list->names[i]);
        } else {
            (void)tal_body_speed_name(matter, state, body, local, list->names[i]);
        }
    }
}

// A name that does not exist, and what may have been meant.
static void refuse_name(const tal_matter *matter, const tal_state *state, const char *name,
                        const char *file, tal_diagnostics *found)
{
    const tal_allocator allocator = tal_system_allocator(tal_matter_system(matter));
    name_list list = {.num = tal_state_nq(state) + tal_state_nu(state)};
    const size_t size = ((size_t)list.num + 1) * sizeof *list.names;
    list.names = tali_alloc(&allocator, size);
    if (list.names == NULL) list.num = 0;
    fill_names(matter, state, &list);
    const char *meant = tal_did_you_mean(name, name_at, &list);
    char hint[TAL_COORDINATE_NAME_SIZE + 32] = "";
    if (meant != NULL) (void)snprintf(hint, sizeof hint, " (did you mean '%s'?)", meant);
    tal_diagnostics_add(found, TAL_ERROR, file, 0, 0, "there is no coordinate or speed '%.60s'%s",
                        name, hint);
    tali_free(&allocator, list.names, size);
}

// What is locked where it begins, is locked where it begins now.
static void lock_again(const tal_matter *matter, tal_state *state, tal_body_ix body, int i,
                       tal_level level)
{
    if (tal_body_lock_level(matter, state, body) == level) {
        (void)tal_body_lock(matter, state, body, level);
    } else if (i < tal_body_nu(matter, body)) {
        const tal_mobility mobility = {body, i};
        if (tal_mobility_lock_level(matter, state, mobility) == level) {
            (void)tal_mobility_lock(matter, state, mobility, level);
        }
    }
}

// Set one of them; false, and a sentence, when that is not possible.
static bool set_start(const tal_matter *matter, tal_state *state, const tal_model_param *start,
                      const char *file, tal_diagnostics *found)
{
    const char *name = start->name != NULL ? start->name : "";
    int i = -1, k = -1;
    const tal_body_ix turned = tal_matter_find_coordinate(matter, state, name, &i);
    const tal_body_ix moving = tal_matter_find_speed(matter, state, name, &k);
    if (turned.i < 0 && moving.i < 0) {
        refuse_name(matter, state, name, file, found);
        return false;
    }
    if (!isfinite(start->value)) {
        tal_diagnostics_add(found, TAL_ERROR, file, 0, 0,
                            "'%.60s' cannot begin at %g: give a finite number", name, start->value);
        return false;
    }
    if (turned.i >= 0) {
        (void)tal_body_set_q(matter, state, turned, i, start->value);
        lock_again(matter, state, turned, i, TAL_LEVEL_POSITION);
    } else {
        (void)tal_body_set_u(matter, state, moving, k, start->value);
        lock_again(matter, state, moving, k, TAL_LEVEL_VELOCITY);
    }
    return true;
}

int tali_model_set_starts(const tal_matter *matter, tal_state *state,
                          const tal_model_param starts[], int num, const char *file,
                          tal_diagnostics *found)
{
    int refused = 0;
    for (int k = 0; k < num; ++k) {
        if (!set_start(matter, state, &starts[k], file, found)) ++refused;
    }
    return refused;
}
