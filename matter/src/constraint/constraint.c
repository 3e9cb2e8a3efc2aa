// Constraints as they are built: adding, names, parameters, enabling.
#include "names_internal.h"

#include "constraint/constraint_internal.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

tal_constraint_def tal_constraint_def_default(void)
{
    return (tal_constraint_def){.name = NULL};
}

// --- adding ---

static tal_status check_table(const tal_constraint_ops *ops, const char *name, tal_error *err)
{
    const double rows = (double)ops->mp + (double)ops->mv + (double)ops->ma;
    const bool counts_fit = ops->mp >= 0 && ops->mv >= 0 && ops->ma >= 0 && rows > 0.0 &&
                            rows <= INT_MAX && ops->num_bodies >= -1 && ops->num_mobilities >= -1 &&
                            ops->num_params >= 0;
    if (!counts_fit) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "constraint '%s': its table has %d + %d + %d equations, %d bodies, %d "
                         "mobilities and %d parameters",
                         name, ops->mp, ops->mv, ops->ma, ops->num_bodies, ops->num_mobilities,
                         ops->num_params);
    }
    const bool complete = (ops->mp == 0 || ops->calc_p != NULL) &&
                          (ops->mp + ops->mv == 0 || ops->calc_v != NULL) && ops->calc_a != NULL &&
                          ops->add_forces != NULL;
    if (complete) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NULL,
                     "constraint '%s': its table must have calc_p, calc_v, calc_a and add_forces",
                     name);
}

static tal_status copy_table(tali_constraint *c, const tal_constraint_ops *ops, tal_error *err)
{
    if (ops == NULL || ops->size > sizeof *ops ||
        ops->size < offsetof(tal_constraint_ops, calc_p) || ops->name == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "constraint '%s': it needs a table with its size and name", c->name);
    }
    memcpy(&c->ops, ops, ops->size);
    return check_table(&c->ops, c->name, err);
}

// What the def must have so that all can be taken from it.
static tal_status check_counts(const tali_constraint *c, const tal_constraint_def *def,
                               tal_error *err)
{
    const int bodies = c->ops.num_bodies, mobilities = c->num_mobilities;
    if (bodies < 0 || mobilities < 0 || (bodies == 0 && mobilities == 0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "constraint '%s' acts on %d mobilities and %d bodies", c->name, mobilities,
                         bodies);
    }
    if (bodies > TAL_CONSTRAINT_BODIES && def->body_list == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "constraint '%s' acts on %d bodies: more than %d are given as body_list",
                         c->name, bodies, TAL_CONSTRAINT_BODIES);
    }
    if (mobilities > TAL_CONSTRAINT_MOBILITIES && def->mobility_list == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "constraint '%s' acts on %d mobilities: more than %d are given as "
                         "mobility_list",
                         c->name, mobilities, TAL_CONSTRAINT_MOBILITIES);
    }
    const double coefficients = tali_constraint_rows(c) * (6.0 * (bodies + 1.0) + mobilities);
    if (coefficients <= INT_MAX) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_CAPACITY,
                     "constraint '%s': %d equations on %d bodies and %d mobilities are too many",
                     c->name, tali_constraint_rows(c), bodies, mobilities);
}

// Cuts the arrays out of a block that `bodies` begins; returns their bytes, also without a block.
static size_t place_arrays(tali_constraint *c, void *block)
{
    const size_t num_bodies = (size_t)c->ops.num_bodies;
    const size_t num_mobilities = (size_t)c->num_mobilities;
    const tali_piece pieces[] = {
        {&c->bodies, num_bodies * sizeof *c->bodies},
        {&c->mobility_bodies, num_mobilities * sizeof *c->mobility_bodies},
        {&c->mobility_index, num_mobilities * sizeof *c->mobility_index},
        {&c->wrench_places, (num_bodies + 1) * sizeof *c->wrench_places},
        {&c->speed_places, num_mobilities * sizeof *c->speed_places},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

// How many bodies and mobilities there are, and memory for them.
static tal_status make_block(const tal_matter *matter, tali_constraint *c,
                             const tal_constraint_def *def, tal_error *err)
{
    if (c->ops.num_bodies < 0) c->ops.num_bodies = def->num_bodies;
    c->num_mobilities = c->ops.num_mobilities >= 0 ? c->ops.num_mobilities : def->num_mobilities;
    const tal_status st = check_counts(c, def, err);
    if (st != TAL_OK) return st;
    void *block = tali_alloc(&matter->allocator, place_arrays(c, NULL));
    if (block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "constraint '%s': no memory", c->name);
    }
    (void)place_arrays(c, block);
    return TAL_OK;
}

static void free_block(const tal_matter *matter, const tali_constraint *c)
{
    if (c->bodies == NULL) return;
    tali_constraint same_size = *c;
    tali_free(&matter->allocator, c->bodies, place_arrays(&same_size, NULL));
}

static tal_status take_bodies(const tal_matter *matter, tali_constraint *c,
                              const tal_constraint_def *def, tal_error *err)
{
    const tal_body_ix *from = def->body_list != NULL ? def->body_list : def->bodies;
    for (int i = 0; i < c->ops.num_bodies; ++i) {
        const int b = from[i].i;
        if (b < 0 || b >= matter->num_bodies) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "constraint '%s': there is no body %d",
                             c->name, b);
        }
        c->bodies[i] = b;
    }
    return TAL_OK;
}

static tal_status take_mobilities(const tal_matter *matter, tali_constraint *c,
                                  const tal_constraint_def *def, tal_error *err)
{
    const tal_mobility *from = def->mobility_list != NULL ? def->mobility_list : def->mobilities;
    for (int i = 0; i < c->num_mobilities; ++i) {
        const tal_mobility at = from[i];
        const bool exists = at.body.i > 0 && at.body.i < matter->num_bodies && at.i >= 0 &&
                            at.i < matter->bodies[at.body.i].ops.nu;
        if (!exists) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "constraint '%s': body %d has no speed %d",
                             c->name, at.body.i, at.i);
        }
        c->mobility_bodies[i] = at.body.i;
        c->mobility_index[i] = at.i;
    }
    return TAL_OK;
}

static tal_status check_params(const tali_constraint *c, const double params[], tal_error *err)
{
    for (int i = 0; i < c->ops.num_params; ++i) {
        if (isfinite(params[i])) continue;
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE,
                         "constraint '%s': parameter %d is %g: give a finite number", c->name, i,
                         params[i]);
    }
    if (c->ops.check_params == NULL) return TAL_OK;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = c->ops.check_params(c->self, params, &why);
    return st == TAL_OK ? st : TALI_FAIL(err, st, "constraint '%s': %s", c->name, why.message);
}

static tal_status add_params(tal_matter *matter, tali_constraint *c, const double params[],
                             tal_error *err)
{
    tali_constraints *all = &matter->constraints;
    c->param0 = all->num_params;
    for (int i = 0; i < c->ops.num_params; ++i) {
        if (!tali_grow(&matter->allocator, (void **)&all->params, all->num_params,
                       &all->params_capacity, sizeof *all->params)) {
            return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "constraint '%s': no memory", c->name);
        }
        all->params[all->num_params++] = params != NULL ? params[i] : 0.0;
    }
    return check_params(c, c->ops.num_params > 0 ? all->params + c->param0 : NULL, err);
}

static tal_status take_name(const tal_matter *matter, tali_constraint *c, const char *name,
                            tal_error *err)
{
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "constraint%d", matter->constraints.count);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME ||
        tal_matter_find_constraint(matter, chosen).i >= 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "constraint %d: the name '%.80s' is empty, too long or used already",
                         matter->constraints.count, chosen);
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) return TALI_FAIL(err, TAL_ERR_BAD_NAME, "constraint '%s': %s", chosen, flaw);
    (void)snprintf(c->name, sizeof c->name, "%s", chosen);
    return TAL_OK;
}

// Check a constraint and append it, with copies of its table, parameters and lists.
static tal_status add_constraint(tal_matter *matter, const tal_constraint_def *def,
                                 const tal_constraint_ops *ops, void *self, const double params[],
                                 tal_error *err)
{
    tali_constraints *all = &matter->constraints;
    if (def == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "constraint %d: its def is NULL", all->count);
    }
    tali_constraint c = {.self = self, .disabled = def->disabled};
    tal_status st = take_name(matter, &c, def->name, err);
    if (st == TAL_OK) st = copy_table(&c, ops, err);
    if (st == TAL_OK) st = make_block(matter, &c, def, err);
    if (st == TAL_OK) st = take_bodies(matter, &c, def, err);
    if (st == TAL_OK) st = take_mobilities(matter, &c, def, err);
    if (st == TAL_OK) st = add_params(matter, &c, params, err);
    if (st != TAL_OK) {
        free_block(matter, &c);
        return st;
    }
    if (!tali_names_reserve(&all->names, &matter->allocator) ||
        !tali_grow(&matter->allocator, (void **)&all->list, all->count, &all->capacity,
                   sizeof *all->list)) {
        free_block(matter, &c);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "constraint '%s': no memory", c.name);
    }
    tali_names_add(&all->names, tali_names_hash(c.name), all->count);
    all->list[all->count++] = c;
    return TAL_OK;
}

tal_constraint_ix tal_matter_add_constraint(tal_matter *matter, const tal_constraint_def *def,
                                            const tal_constraint_ops *ops, void *self,
                                            const double params[])
{
    tal_error why = {TAL_OK, "", ""};
    if (matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    } else if (tal_system_has_topology(matter->system)) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY, "System '%s' is realized: add constraints before that",
                          tal_system_name(matter->system));
    } else if (tal_system_error(matter->system)->status == TAL_OK) {
        const tal_status st = add_constraint(matter, def, ops, self, params, &why);
        if (st == TAL_OK) return (tal_constraint_ix){matter->constraints.count - 1};
        (void)tal_system_fail(matter->system, st, "%s", why.message);
    }
    const bool can_destroy = ops != NULL && ops->size == sizeof *ops && ops->destroy != NULL;
    if (can_destroy) ops->destroy(self);
    return (tal_constraint_ix){-1};
}

// --- asking ---

const tali_constraint *tali_constraint_at(const tal_matter *matter, tal_constraint_ix constraint,
                                          const char *where)
{
    if (matter == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "matter is NULL");
        return NULL;
    }
    const int count = matter->constraints.count;
    if (constraint.i >= 0 && constraint.i < count) return &matter->constraints.list[constraint.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no constraint %d: there are %d",
                      constraint.i, count);
    return NULL;
}

int tal_matter_num_constraints(const tal_matter *matter)
{
    return matter != NULL ? matter->constraints.count : -1;
}

tal_constraint_ix tal_matter_find_constraint(const tal_matter *matter, const char *name)
{
    if (matter == NULL || name == NULL) return (tal_constraint_ix){-1};
    const tali_constraints *all = &matter->constraints;
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i = tali_names_next(&all->names, hash, &probe);
    while (i >= 0 && strcmp(all->list[i].name, name) != 0) {
        i = tali_names_next(&all->names, hash, &probe);
    }
    return (tal_constraint_ix){i};
}

const char *tal_constraint_name(const tal_matter *matter, tal_constraint_ix constraint)
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    return c != NULL ? c->name : "(no constraint)";
}

tal_body_ix tal_constraint_ancestor(const tal_matter *matter, tal_constraint_ix constraint)
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) return (tal_body_ix){-1};
    if (tal_system_has_topology(matter->system)) return (tal_body_ix){c->ancestor};
    (void)TALI_BREACH(TAL_ERR_TOPOLOGY,
                      "the ancestor of '%s' is not known before the topology is realized", c->name);
    return (tal_body_ix){-1};
}

bool tal_constraint_is_enabled(const tal_matter *matter, const tal_state *state,
                               tal_constraint_ix constraint)
{
    if (tali_constraint_at(matter, constraint, __func__) == NULL) return false;
    const uint8_t *enabled =
        tali_cache_var_read(matter->system, state, matter->constraints.enabled, __func__);
    return enabled != NULL && enabled[constraint.i] != 0;
}

tal_status tal_constraint_set_enabled(const tal_matter *matter, tal_state *state,
                                      tal_constraint_ix constraint, bool enabled)
{
    if (tali_constraint_at(matter, constraint, __func__) == NULL) {
        return tal_contract_last()->status;
    }
    const uint8_t *present =
        tali_cache_var_read(matter->system, state, matter->constraints.enabled, __func__);
    if (present == NULL) return tal_contract_last()->status;
    if ((present[constraint.i] != 0) == enabled) return TAL_OK;
    uint8_t *flags =
        tali_cache_var_write(matter->system, state, matter->constraints.enabled, __func__);
    if (flags == NULL) return tal_contract_last()->status;
    flags[constraint.i] = enabled;
    return TAL_OK;
}

double tal_constraint_share(const tal_matter *matter, const tal_state *state,
                            tal_constraint_ix constraint)
{
    if (tali_constraint_at(matter, constraint, __func__) == NULL) return TALI_NAN;
    const double *shares =
        tali_cache_var_read(matter->system, state, matter->constraints.shares, __func__);
    return shares != NULL ? shares[constraint.i] : TALI_NAN;
}

tal_status tal_constraint_set_share(const tal_matter *matter, tal_state *state,
                                    tal_constraint_ix constraint, double share)
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) return tal_contract_last()->status;
    if (!(share > 0.0) || !isfinite(share)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "constraint '%s': its share %g must be positive and finite",
                                c->name, share);
    }
    double *shares =
        tali_cache_var_write(matter->system, state, matter->constraints.shares, __func__);
    if (shares == NULL) return tal_contract_last()->status;
    shares[constraint.i] = share;
    return TAL_OK;
}

const double *tal_constraint_params(const tal_matter *matter, const tal_state *state,
                                    tal_constraint_ix constraint, int *n)
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (n != NULL) *n = c != NULL ? c->ops.num_params : 0;
    if (c == NULL) return NULL;
    const double *params =
        tali_cache_var_read(matter->system, state, matter->constraints.var_params, __func__);
    return params != NULL ? params + c->param0 : NULL;
}

tal_status tal_constraint_set_params(const tal_matter *matter, tal_state *state,
                                     tal_constraint_ix constraint, const double params[], int n)
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) return tal_contract_last()->status;
    if (n != c->ops.num_params || (params == NULL && n > 0)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "constraint '%s' has %d parameters, not %d", c->name,
                                c->ops.num_params, n);
    }
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = check_params(c, params, &why);
    if (st != TAL_OK) return tal_state_refuse(state, st, "%s", why.message);
    double *values =
        tali_cache_var_write(matter->system, state, matter->constraints.var_params, __func__);
    if (values == NULL) return tal_contract_last()->status;
    for (int i = 0; i < n; ++i) {
        values[c->param0 + i] = params[i];
    }
    return TAL_OK;
}

void tali_constraints_destroy(tal_matter *matter)
{
    tali_constraints *all = &matter->constraints;
    for (int i = 0; i < all->count; ++i) {
        const tali_constraint *c = &all->list[i];
        if (c->ops.destroy != NULL) c->ops.destroy(c->self);
        free_block(matter, c);
    }
    tali_free(&matter->allocator, all->list, (size_t)all->capacity * sizeof *all->list);
    tali_free(&matter->allocator, all->params, (size_t)all->params_capacity * sizeof(double));
    const size_t n = (size_t)all->count;
    tali_free(&matter->allocator, all->path, (size_t)all->path_total * sizeof *all->path);
    tali_free(&matter->allocator, all->by_block, n * sizeof(int32_t));
    tali_free(&matter->allocator, all->block_begin, (n + 1) * sizeof(int32_t));
    tali_names_free(&all->names, &matter->allocator);
    tali_free(&matter->allocator, all->blocks, n * sizeof *all->blocks);
}
