// Where coordinates begin, by their names: what a caller says instead of a file.
#include "alloc_internal.h"

#include "model/model_internal.h"

#include <talus/io/suggest.h>

#include <math.h>
#include <stdio.h>

// The names of all coordinates.
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
    for (int i = 0; i < list->num; ++i) {
        int local = -1;
        const tal_body_ix body = tal_matter_q_owner(matter, state, i, &local);
        if (body.i < 0) continue;
        (void)tal_body_coordinate_name(matter, state, body, local, list->names[i]);
    }
}

// A name that does not exist, and what may have been meant.
static void refuse_name(const tal_matter *matter, const tal_state *state, const char *name,
                        const char *file, tal_diagnostics *found)
{
    const tal_allocator allocator = tal_system_allocator(tal_matter_system(matter));
    name_list list = {.num = tal_state_nq(state)};
    const size_t size = ((size_t)list.num + 1) * sizeof *list.names;
    list.names = tali_alloc(&allocator, size);
    if (list.names == NULL) list.num = 0;
    fill_names(matter, state, &list);
    const char *meant = tal_did_you_mean(name, name_at, &list);
    char hint[TAL_COORDINATE_NAME_SIZE + 32] = "";
    if (meant != NULL) (void)snprintf(hint, sizeof hint, " (did you mean '%s'?)", meant);
    tal_diagnostics_add(found, TAL_ERROR, file, 0, 0, "there is no coordinate '%.60s'%s", name,
                        hint);
    tali_free(&allocator, list.names, size);
}

void tali_model_set_starts(const tal_matter *matter, tal_state *state,
                           const tal_model_param starts[], int num, const char *file,
                           tal_diagnostics *found)
{
    for (int k = 0; k < num; ++k) {
        const char *name = starts[k].name != NULL ? starts[k].name : "";
        int i = -1;
        const tal_body_ix body = tal_matter_find_coordinate(matter, state, name, &i);
        if (body.i < 0) {
            refuse_name(matter, state, name, file, found);
        } else if (!isfinite(starts[k].value)) {
            tal_diagnostics_add(found, TAL_ERROR, file, 0, 0,
                                "coordinate '%.60s' cannot begin at %g: give a finite number", name,
                                starts[k].value);
        } else {
            (void)tal_body_set_q(matter, state, body, i, starts[k].value);
        }
    }
}
