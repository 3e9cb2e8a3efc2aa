// Obstacles of paths as they are built: names, bodies, which paths go over them.
#include "core/forces_internal.h"

#include <string.h>

// --- asking ---

const tali_path_wrap *tali_path_wrap_at(const tal_forces *forces, tal_wrap_ix wrap,
                                        const char *where)
{
    if (forces == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "forces is NULL");
        return NULL;
    }
    if (wrap.i >= 0 && wrap.i < forces->paths.num_wraps) return &forces->paths.wraps[wrap.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no obstacle %d: there are %d", wrap.i,
                      forces->paths.num_wraps);
    return NULL;
}

int tal_forces_num_wraps(const tal_forces *forces)
{
    return forces != NULL ? forces->paths.num_wraps : -1;
}

tal_wrap_ix tal_forces_find_wrap(const tal_forces *forces, const char *name)
{
    if (forces == NULL || name == NULL) return (tal_wrap_ix){-1};
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i = tali_names_next(&forces->paths.wrap_names, hash, &probe);
    while (i >= 0 && strcmp(forces->paths.wraps[i].name, name) != 0) {
        i = tali_names_next(&forces->paths.wrap_names, hash, &probe);
    }
    return (tal_wrap_ix){i};
}

const char *tal_wrap_name(const tal_forces *forces, tal_wrap_ix wrap)
{
    const tali_path_wrap *it = tali_path_wrap_at(forces, wrap, __func__);
    return it != NULL ? it->name : "(no obstacle)";
}

tal_body_ix tal_wrap_body(const tal_forces *forces, tal_wrap_ix wrap)
{
    const tali_path_wrap *it = tali_path_wrap_at(forces, wrap, __func__);
    return (tal_body_ix){it != NULL ? it->body : -1};
}

tal_status tal_wrap_shape(const tal_forces *forces, tal_wrap_ix wrap, tal_wrap *shape,
                          tal_xform *X_BW)
{
    const tali_path_wrap *it = tali_path_wrap_at(forces, wrap, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (shape != NULL) *shape = it->shape;
    if (X_BW != NULL) *X_BW = it->X_BW;
    return TAL_OK;
}

int tal_path_num_wraps(const tal_forces *forces, tal_path_ix path)
{
    const tali_path *it = tali_path_at(forces, path, __func__);
    return it != NULL ? it->num_over : -1;
}

tal_wrap_ix tal_path_wrap(const tal_forces *forces, tal_path_ix path, int k)
{
    const tali_path *it = tali_path_at(forces, path, __func__);
    if (it != NULL && k >= 0 && k < it->num_over) return (tal_wrap_ix){it->over[k].wrap};
    if (it != NULL) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "path '%s' has no obstacle %d: it has %d", it->name, k,
                          it->num_over);
    }
    return (tal_wrap_ix){-1};
}

// --- adding ---

static tal_status check_wrap(const tal_forces *forces, const tali_path_wrap *it)
{
    const int num_bodies = tal_matter_num_bodies(forces->matter);
    if (it->body < 0 || it->body >= num_bodies) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                               "obstacle '%s': there is no body %d: there are %d", it->name,
                               it->body, num_bodies);
    }
    if (!tal_xf_is_finite(it->X_BW)) {
        return tal_system_fail(forces->system, TAL_ERR_NOT_FINITE,
                               "obstacle '%s': its frame is not finite", it->name);
    }
    tal_error why = {TAL_OK, "", ""};
    if (tal_wrap_check(&it->shape, it->name, &why) == TAL_OK) return TAL_OK;
    return tal_system_fail(forces->system, why.status, "%s", why.message);
}

tal_wrap_ix tal_forces_add_wrap(tal_forces *forces, const char *name, tal_body_ix body,
                                const tal_xform *X_BW, const tal_wrap *wrap)
{
    const tal_wrap_ix none = {-1};
    if (!tali_path_can_build(forces, __func__)) return none;
    if (X_BW == NULL || wrap == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the %s of an obstacle is NULL",
                          X_BW == NULL ? "frame" : "shape");
        tali_system_keep_breach(forces->system);
        return none;
    }
    tali_paths *all = &forces->paths;
    tali_path_wrap it = {.body = body.i, .X_BW = *X_BW, .shape = *wrap};
    const bool is_taken = tal_forces_find_wrap(forces, name).i >= 0;
    if (tali_path_take_name(forces, "wrap", all->num_wraps, name, is_taken, it.name) != TAL_OK ||
        check_wrap(forces, &it) != TAL_OK) {
        return none;
    }
    if (!tali_names_reserve(&all->wrap_names, &forces->allocator) ||
        !tali_grow(&forces->allocator, (void **)&all->wraps, all->num_wraps, &all->wraps_capacity,
                   sizeof *all->wraps)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "obstacle '%s': no memory",
                              it.name);
        return none;
    }
    tali_names_add(&all->wrap_names, tali_names_hash(it.name), all->num_wraps);
    all->wraps[all->num_wraps] = it;
    return (tal_wrap_ix){all->num_wraps++};
}

// Whether these can be the first and last point; which are checked again with the topology, when
// all points are known.
static tal_status check_over(const tal_forces *forces, const tali_path *path, int first, int last)
{
    if (path->length != NULL) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                               "path '%s' is a function of coordinates: it goes over no obstacles",
                               path->name);
    }
    if (path->num_over == TAL_MAX_PATH_WRAPS) {
        return tal_system_fail(forces->system, TAL_ERR_CAPACITY,
                               "path '%s' cannot go over more than %d obstacles", path->name,
                               TAL_MAX_PATH_WRAPS);
    }
    if (first >= -1 && last >= -1) return TAL_OK;
    return tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                           "path '%s': an obstacle between its points %d and %d: there are none "
                           "below zero but -1, which means the end",
                           path->name, first, last);
}

tal_status tal_path_add_wrap(tal_forces *forces, tal_path_ix path, tal_wrap_ix wrap, int first,
                             int last)
{
    tali_path *it = tali_path_to_change(forces, path, __func__);
    if (it == NULL) {
        const bool failed = forces != NULL && tal_system_error(forces->system)->status != TAL_OK;
        return failed ? tal_system_error(forces->system)->status : tal_contract_last()->status;
    }
    if (tali_path_wrap_at(forces, wrap, __func__) == NULL) {
        tali_system_keep_breach(forces->system);
        return tal_contract_last()->status;
    }
    const tal_status st = check_over(forces, it, first, last);
    if (st != TAL_OK) return st;
    if (!tali_grow(&forces->allocator, (void **)&it->over, it->num_over, &it->over_capacity,
                   sizeof *it->over)) {
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "path '%s': no memory", it->name);
    }
    it->over[it->num_over++] = (tali_path_over){wrap.i, first, last};
    return TAL_OK;
}
