// Colliders: convex solids on bodies. Adding and asking; what touches is found elsewhere.
#include "collider_memory_internal.h"

#include "collider/collider_internal.h"
#include "unilateral/unilateral_internal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

tal_collider_def tal_collider_def_default(void)
{
    return (tal_collider_def){.body = TAL_GROUND,
                              .X_BS = TAL_XFORM_IDENTITY,
                              .shape = tal_shape_half_space(),
                              .material = tal_unilateral_material_default()};
}

// --- adding ---

static tal_status take_name(const tal_matter *matter, tali_collider *it, const char *name,
                            tal_error *err)
{
    const int index = matter->colliders.count;
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "collider%d", index);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME ||
        tal_matter_find_collider(matter, chosen).i >= 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "collider %d: the name '%.80s' is empty, too long or used already", index,
                         chosen);
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) return TALI_FAIL(err, TAL_ERR_BAD_NAME, "collider '%s': %s", chosen, flaw);
    (void)snprintf(it->name, sizeof it->name, "%s", chosen);
    return TAL_OK;
}

static tal_status check_def(const tal_matter *matter, const tali_collider *it, tal_error *err)
{
    const tal_collider_def *def = &it->def;
    if (def->body.i < 0 || def->body.i >= matter->num_bodies) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "collider '%s': there is no body %d", it->name,
                         def->body.i);
    }
    if (!tal_xf_is_finite(def->X_BS)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "collider '%s': its frame is not finite",
                         it->name);
    }
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_unilateral_check_material(&def->material, &why);
    return st == TAL_OK ? st : TALI_FAIL(err, st, "collider '%s': %s", it->name, why.message);
}

// Check a collider, make its solid and append it. Not once they are unilateral elements.
static tal_status add_collider(tal_matter *matter, const tal_collider_def *def, tal_error *err)
{
    tali_colliders *all = &matter->colliders;
    if (def == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "collider %d: its def is NULL", all->count);
    }
    if (all->are_elements) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "collider %d is added after the others were made unilateral elements: add "
                         "it before",
                         all->count);
    }
    tali_collider it = {.def = *def};
    tal_status st = take_name(matter, &it, def->name, err);
    it.def.name = NULL;
    if (st == TAL_OK) st = check_def(matter, &it, err);
    if (st == TAL_OK) {
        st = tal_hull_create(&matter->allocator, &def->shape, it.name, &it.hull, err);
    }
    if (st != TAL_OK) return st;
    if (!tali_names_reserve(&all->names, &matter->allocator) ||
        !tali_grow(&matter->allocator, (void **)&all->list, all->count, &all->capacity,
                   sizeof *all->list)) {
        tal_hull_destroy(it.hull);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "collider '%s': no memory", it.name);
    }
    tali_names_add(&all->names, tali_names_hash(it.name), all->count);
    all->list[all->count++] = it;
    return TAL_OK;
}

tal_collider_ix tal_matter_add_collider(tal_matter *matter, const tal_collider_def *def)
{
    const tal_collider_ix none = {-1};
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = add_collider(matter, def, &why);
    if (st == TAL_OK) return (tal_collider_ix){matter->colliders.count - 1};
    (void)tal_system_fail(matter->system, st, "%s", why.message);
    return none;
}

void tali_colliders_destroy(tal_matter *matter)
{
    tali_colliders *all = &matter->colliders;
    for (int i = 0; i < all->count; ++i) {
        tal_hull_destroy(all->list[i].hull);
    }
    tali_names_free(&all->names, &matter->allocator);
    tali_free(&matter->allocator, all->list, (size_t)all->capacity * sizeof *all->list);
}

// --- what the last step left ---

// For each collider: a brick in a pile pushes with four corners on each of its neighbors.
enum {
    IMPULSES_EACH = 16,
    IMPULSES_MORE = 64
};

int tali_collider_memory_room(const tal_matter *matter)
{
    const long long wanted = (long long)IMPULSES_EACH * matter->colliders.count + IMPULSES_MORE;
    return wanted < INT_MAX ? (int)wanted : INT_MAX;
}

void tali_colliders_declare(tal_matter *matter)
{
    if (matter->colliders.count == 0) return;
    const size_t room = (size_t)tali_collider_memory_room(matter);
    tal_var_def def = tal_var_def_default();
    def.name = "impulses of colliders";
    def.size = sizeof(tali_collider_memory) + room * sizeof(tali_collider_impulse);
    def.invalidates = TAL_STAGE_REPORT;
    matter->colliders.memory = tal_system_add_var(matter->system, matter->me, &def);
}

const tali_collider_memory *tali_collider_memory_of(const tal_matter *matter,
                                                    const tal_state *state)
{
    if (matter->colliders.count == 0) return NULL;
    return tal_var_value(matter->system, state, matter->colliders.memory);
}

tali_collider_memory *tali_collider_memory_upd(const tal_matter *matter, tal_state *state)
{
    if (matter->colliders.count == 0) return NULL;
    return tal_var_upd(matter->system, state, matter->colliders.memory);
}

// --- asking ---

int tal_matter_num_colliders(const tal_matter *matter)
{
    if (matter != NULL) return matter->colliders.count;
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return -1;
}

tal_collider_ix tal_matter_find_collider(const tal_matter *matter, const char *name)
{
    if (matter == NULL || name == NULL) return (tal_collider_ix){-1};
    const tali_colliders *all = &matter->colliders;
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i = tali_names_next(&all->names, hash, &probe);
    while (i >= 0 && strcmp(all->list[i].name, name) != 0) {
        i = tali_names_next(&all->names, hash, &probe);
    }
    return (tal_collider_ix){i};
}

static const tali_collider *collider_at(const tal_matter *matter, tal_collider_ix collider,
                                        const char *where)
{
    if (matter == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "matter is NULL");
        return NULL;
    }
    if (collider.i < 0 || collider.i >= matter->colliders.count) {
        (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no collider %d: matter has %d",
                          collider.i, matter->colliders.count);
        return NULL;
    }
    return &matter->colliders.list[collider.i];
}

const char *tal_collider_name(const tal_matter *matter, tal_collider_ix collider)
{
    const tali_collider *it = collider_at(matter, collider, __func__);
    return it != NULL ? it->name : "(no collider)";
}

tal_collider_def tal_collider_def_of(const tal_matter *matter, tal_collider_ix collider)
{
    const tali_collider *it = collider_at(matter, collider, __func__);
    tal_collider_def def = it != NULL ? it->def : tal_collider_def_default();
    if (it != NULL) def.name = it->name;
    return def;
}

const tal_hull *tal_collider_hull(const tal_matter *matter, tal_collider_ix collider)
{
    const tali_collider *it = collider_at(matter, collider, __func__);
    return it != NULL ? it->hull : NULL;
}

tal_unilateral_material tal_collider_material(const tal_unilateral_material *a,
                                              const tal_unilateral_material *b)
{
    if (a == NULL || b == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "a material is NULL");
        return tal_unilateral_material_default();
    }
    return (tal_unilateral_material){
        .static_mu = fmin(a->static_mu, b->static_mu),
        .sliding_mu = fmin(a->sliding_mu, b->sliding_mu),
        .viscous_mu = fmin(a->viscous_mu, b->viscous_mu),
        .limit = fmin(a->limit, b->limit),
        .restitution = fmin(a->restitution, b->restitution),
        .slow_speed = fmax(a->slow_speed, b->slow_speed),
        .capture_speed = fmax(a->capture_speed, b->capture_speed),
        .transition_speed = fmax(a->transition_speed, b->transition_speed),
    };
}
