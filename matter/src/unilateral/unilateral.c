// Unilateral elements as they are built: adding, names, materials, enabling, modes.
#include "unilateral/unilateral_internal.h"

#include <math.h>
#include <stdio.h>

tal_unilateral_material tal_unilateral_material_default(void)
{
    return (tal_unilateral_material){.transition_speed = 1e-9};
}

tal_unilateral_def tal_unilateral_def_default(void)
{
    return (tal_unilateral_def){.normal = {-1},
                                .sign = 1,
                                .grip = {-1},
                                .anchor = -1,
                                .load = {{-1}, 0, 1, {1.0, 1.0, 1.0, 1.0, 1.0}},
                                .material = tal_unilateral_material_default()};
}

// --- checks ---

static tal_status refuse_field(const char *subject, double value, const char *rule, tal_error *err)
{
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "its %s is %g: it must be %s", subject, value, rule);
}

tal_status tali_unilateral_check_material(const tal_unilateral_material *m, tal_error *err)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {{"sliding_mu", m->sliding_mu},
                  {"viscous_mu", m->viscous_mu},
                  {"limit", m->limit},
                  {"restitution", m->restitution},
                  {"slow_speed", m->slow_speed},
                  {"capture_speed", m->capture_speed},
                  {"transition_speed", m->transition_speed}};

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        if (fields[i].value >= 0.0 && isfinite(fields[i].value)) continue;
        return refuse_field(fields[i].name, fields[i].value, "finite and not negative", err);
    }
    if (!(m->static_mu >= m->sliding_mu)) {
        return refuse_field("static_mu", m->static_mu, "at least sliding_mu, or INFINITY", err);
    }
    if (m->restitution > 1.0) {
        return refuse_field("restitution", m->restitution, "at most 1", err);
    }
    return TAL_OK;
}

static tal_status take_name(const tal_matter *matter, tali_unilateral *it, const char *name,
                            tal_error *err)
{
    const int index = matter->unilaterals.count;
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "unilateral%d", index);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME ||
        tal_matter_find_unilateral(matter, chosen).i >= 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "unilateral %d: the name '%.80s' is empty, too long or used already",
                         index, chosen);
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) return TALI_FAIL(err, TAL_ERR_BAD_NAME, "unilateral '%s': %s", chosen, flaw);
    (void)snprintf(it->name, sizeof it->name, "%s", chosen);
    return TAL_OK;
}

// A constraint that exists and is not part of another element.
static tal_status check_part(const tal_matter *matter, const tali_unilateral *it, int part,
                             const char *subject, tal_error *err)
{
    if (part >= matter->constraints.count) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX,
                         "unilateral '%s': its %s, constraint %d, does not exist", it->name,
                         subject, part);
    }
    for (int i = 0; i < matter->unilaterals.count; ++i) {
        const tali_unilateral *other = &matter->unilaterals.list[i];
        if (other->normal != part && other->grip != part) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "unilateral '%s': constraint '%s' belongs to '%s' already", it->name,
                         matter->constraints.list[part].name, other->name);
    }
    return TAL_OK;
}

static tal_status take_normal(const tal_matter *matter, tali_unilateral *it, tal_error *err)
{
    if (it->normal < 0) return TAL_OK;
    const tal_status st = check_part(matter, it, it->normal, "normal", err);
    if (st != TAL_OK) return st;
    const tal_constraint_ops *ops = &matter->constraints.list[it->normal].ops;
    it->is_ratchet = ops->mv == 1;
    if (ops->mp + ops->mv == 1 && ops->ma == 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "unilateral '%s': its normal, a %s, has %d + %d + %d equations: it must have "
                     "one, on positions or velocities",
                     it->name, ops->name, ops->mp, ops->mv, ops->ma);
}

static tal_status take_grip(const tal_matter *matter, tali_unilateral *it, tal_error *err)
{
    if (it->grip < 0) return TAL_OK;
    const tal_status st = check_part(matter, it, it->grip, "grip", err);
    if (st != TAL_OK) return st;
    const tal_constraint_ops *ops = &matter->constraints.list[it->grip].ops;
    const bool of_one_level = ops->ma == 0 && (ops->mp == 0 || ops->mv == 0);
    it->num_slips = ops->mp + ops->mv;
    if (!of_one_level || it->num_slips > 2 || it->grip == it->normal) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "unilateral '%s': its grip, a %s, has %d + %d + %d equations: it must be "
                         "another constraint with one or two, on positions or velocities",
                         it->name, ops->name, ops->mp, ops->mv, ops->ma);
    }
    const bool fits =
        ops->mp == 0 ? it->anchor < 0 : it->anchor >= 0 && it->anchor <= ops->num_params - ops->mp;
    if (fits) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "unilateral '%s': its anchor is %d, and its grip has %d position equations "
                     "and %d parameters",
                     it->name, it->anchor, ops->mp, ops->num_params);
}

// Rows of a constraint that presses on the grip of an element without a normal.
static tal_status check_load(const tal_matter *matter, const tali_unilateral *it, tal_error *err)
{
    const tal_unilateral_load *load = &it->load;
    if (load->constraint.i < 0) return TAL_OK;
    if (it->grip < 0 || it->normal >= 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "unilateral '%s': a load needs a grip and no normal", it->name);
    }
    if (load->constraint.i >= matter->constraints.count || load->constraint.i == it->grip) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX,
                         "unilateral '%s': its load, constraint %d, does not exist, or is its grip",
                         it->name, load->constraint.i);
    }
    const tali_constraint *c = &matter->constraints.list[load->constraint.i];
    const int rows = tali_constraint_rows(c), count = load->count;
    if (load->first < 0 || count < 1 || count > TAL_UNILATERAL_LOAD_ROWS || count > rows ||
        load->first > rows - count) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "unilateral '%s': its load is %d rows of '%s' from row %d on: that has %d, "
            "and 1 to %d can be taken",
            it->name, count, c->name, load->first, rows, TAL_UNILATERAL_LOAD_ROWS);
    }
    for (int r = 0; r < count; ++r) {
        if (load->weight[r] >= 0.0 && isfinite(load->weight[r])) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "unilateral '%s': weight %d of its load is %g: it must be finite and not "
                         "negative",
                         it->name, r, load->weight[r]);
    }
    return TAL_OK;
}

static tal_status check_def(const tal_matter *matter, tali_unilateral *it, tal_error *err)
{
    tal_status st = take_normal(matter, it, err);
    if (st == TAL_OK) st = take_grip(matter, it, err);
    if (st == TAL_OK) st = check_load(matter, it, err);
    if (st != TAL_OK) return st;
    if (it->normal < 0 && it->grip < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "unilateral '%s' has neither a normal nor a grip",
                         it->name);
    }
    if (it->sign != 1 && it->sign != -1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "unilateral '%s': its sign is %d, not +1 or -1",
                         it->name, it->sign);
    }
    tal_error why = {TAL_OK, "", ""};
    st = tali_unilateral_check_material(&it->material, &why);
    return st == TAL_OK ? st : TALI_FAIL(err, st, "unilateral '%s': %s", it->name, why.message);
}

// --- adding ---

// Check an element and append it; its constraints start disabled.
static tal_status add_unilateral(tal_matter *matter, const tal_unilateral_def *def, tal_error *err)
{
    tali_unilaterals *all = &matter->unilaterals;
    if (def == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "unilateral %d: its def is NULL", all->count);
    }
    tali_unilateral it = {.normal = def->normal.i < 0 ? -1 : def->normal.i,
                          .grip = def->grip.i < 0 ? -1 : def->grip.i,
                          .sign = def->sign,
                          .anchor = def->anchor,
                          .load = def->load,
                          .margin = def->margin,
                          .margin_context = def->margin_context,
                          .disabled = def->disabled,
                          .material = def->material};
    tal_status st = take_name(matter, &it, def->name, err);
    if (st == TAL_OK) st = check_def(matter, &it, err);
    if (st != TAL_OK) return st;
    if (!tali_names_reserve(&all->names, &matter->allocator) ||
        !tali_grow(&matter->allocator, (void **)&all->list, all->count, &all->capacity,
                   sizeof *all->list)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "unilateral '%s': no memory", it.name);
    }
    if (it.normal >= 0) matter->constraints.list[it.normal].disabled = true;
    if (it.grip >= 0) matter->constraints.list[it.grip].disabled = true;
    if (it.grip >= 0) ++all->num_grips;
    tali_names_add(&all->names, tali_names_hash(it.name), all->count);
    all->list[all->count++] = it;
    return TAL_OK;
}

tal_unilateral_ix tal_matter_add_unilateral(tal_matter *matter, const tal_unilateral_def *def)
{
    const tal_unilateral_ix none = {-1};
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = add_unilateral(matter, def, &why);
    if (st == TAL_OK) return (tal_unilateral_ix){matter->unilaterals.count - 1};
    (void)tal_system_fail(matter->system, st, "%s", why.message);
    return none;
}

tal_status tal_matter_set_most_sliding(tal_matter *matter, int most)
{
    const tal_status st = tali_matter_can_build(matter, __func__);
    if (st != TAL_OK) return st;
    if (most < 1) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "%d elements may slide at a time: that must be positive", most);
    }
    matter->unilaterals.most_sliding = most;
    return TAL_OK;
}

int tal_matter_most_sliding(const tal_matter *matter)
{
    if (matter != NULL) return matter->unilaterals.most_sliding;
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return 0;
}

void tali_unilaterals_destroy(tal_matter *matter)
{
    tali_unilaterals *all = &matter->unilaterals;
    for (int i = 0; i < all->count; ++i) {
        const size_t corners = (size_t)all->list[i].num_corners;
        tali_free(&matter->allocator, all->list[i].polygon, 2 * corners * sizeof(double));
    }
    tali_free(&matter->allocator, all->quick, (size_t)all->num_quick * sizeof *all->quick);
    tali_names_free(&all->names, &matter->allocator);
    tali_free(&matter->allocator, all->list, (size_t)all->capacity * sizeof *all->list);
}

// --- asking ---

const tali_unilateral *tali_unilateral_at(const tal_matter *matter, tal_unilateral_ix element,
                                          const char *where)
{
    if (matter == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "matter is NULL");
        return NULL;
    }
    const int count = matter->unilaterals.count;
    if (element.i >= 0 && element.i < count) return &matter->unilaterals.list[element.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no unilateral %d: there are %d",
                      element.i, count);
    return NULL;
}

int tal_matter_num_unilaterals(const tal_matter *matter)
{
    return matter != NULL ? matter->unilaterals.count : -1;
}

tal_unilateral_ix tal_matter_find_unilateral(const tal_matter *matter, const char *name)
{
    if (matter == NULL || name == NULL) return (tal_unilateral_ix){-1};
    const tali_unilaterals *all = &matter->unilaterals;
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i = tali_names_next(&all->names, hash, &probe);
    while (i >= 0 && strcmp(all->list[i].name, name) != 0) {
        i = tali_names_next(&all->names, hash, &probe);
    }
    return (tal_unilateral_ix){i};
}

const char *tal_unilateral_name(const tal_matter *matter, tal_unilateral_ix element)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    return it != NULL ? it->name : "(no unilateral)";
}

tal_constraint_ix tal_unilateral_normal(const tal_matter *matter, tal_unilateral_ix element)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    return (tal_constraint_ix){it != NULL ? it->normal : -1};
}

tal_constraint_ix tal_unilateral_grip(const tal_matter *matter, tal_unilateral_ix element)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    return (tal_constraint_ix){it != NULL ? it->grip : -1};
}

tal_unilateral_load tal_unilateral_load_of(const tal_matter *matter, tal_unilateral_ix element)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    return it != NULL ? it->load : tal_unilateral_def_default().load;
}

tal_unilateral_ix tal_constraint_unilateral(const tal_matter *matter, tal_constraint_ix constraint)
{
    const tal_unilateral_ix none = {-1};
    if (tali_constraint_at(matter, constraint, __func__) == NULL) return none;
    for (int i = 0; i < matter->unilaterals.count; ++i) {
        const tali_unilateral *it = &matter->unilaterals.list[i];
        if (it->normal == constraint.i || it->grip == constraint.i) return (tal_unilateral_ix){i};
    }
    return none;
}

int tal_unilateral_sign(const tal_matter *matter, tal_unilateral_ix element)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    return it != NULL ? it->sign : 0;
}

tal_unilateral_level tal_unilateral_level_of(const tal_matter *matter, tal_unilateral_ix element)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    if (it == NULL || it->normal < 0) return TAL_UNILATERAL_ACCELERATION;
    return it->is_ratchet ? TAL_UNILATERAL_VELOCITY : TAL_UNILATERAL_POSITION;
}

int tal_unilateral_num_slips(const tal_matter *matter, tal_unilateral_ix element)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    return it != NULL ? it->num_slips : -1;
}

// --- materials ---

tal_unilateral_material tal_unilateral_material_of(const tal_matter *matter, const tal_state *state,
                                                   tal_unilateral_ix element)
{
    const tal_unilateral_material nan = {TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN,
                                         TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN};
    if (tali_unilateral_at(matter, element, __func__) == NULL) return nan;
    const tal_unilateral_material *all =
        tali_cache_var_read(matter->system, state, matter->unilaterals.materials, __func__);
    return all != NULL ? all[element.i] : nan;
}

tal_status tal_unilateral_set_material(const tal_matter *matter, tal_state *state,
                                       tal_unilateral_ix element,
                                       const tal_unilateral_material *material)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (material == NULL) return TALI_BREACH(TAL_ERR_NULL, "the material is NULL");
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_unilateral_check_material(material, &why);
    if (st != TAL_OK) {
        return tal_state_refuse(state, st, "unilateral '%s': %s", it->name, why.message);
    }
    tal_unilateral_material *all =
        tali_cache_var_write(matter->system, state, matter->unilaterals.materials, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[element.i] = *material;
    return TAL_OK;
}

// --- modes ---

bool tal_unilateral_is_enabled(const tal_matter *matter, const tal_state *state,
                               tal_unilateral_ix element)
{
    if (tali_unilateral_at(matter, element, __func__) == NULL) return false;
    const uint8_t *enabled =
        tali_cache_var_read(matter->system, state, matter->unilaterals.enabled, __func__);
    return enabled != NULL && enabled[element.i] != 0;
}

tal_status tali_unilateral_switch(const tal_matter *matter, tal_state *state, int i, bool normal,
                                  bool grip)
{
    const tali_unilateral *it = &matter->unilaterals.list[i];
    tal_status st = TAL_OK;
    if (it->normal >= 0) {
        st = tal_constraint_set_enabled(matter, state, (tal_constraint_ix){it->normal}, normal);
    }
    if (st == TAL_OK && it->grip >= 0) {
        st = tal_constraint_set_enabled(matter, state, (tal_constraint_ix){it->grip}, grip);
    }
    return st;
}

tal_status tal_unilateral_set_enabled(const tal_matter *matter, tal_state *state,
                                      tal_unilateral_ix element, bool enabled)
{
    if (tali_unilateral_at(matter, element, __func__) == NULL) {
        return tal_contract_last()->status;
    }
    const tal_var_ix var = matter->unilaterals.enabled;
    const uint8_t *present = tali_cache_var_read(matter->system, state, var, __func__);
    if (present == NULL) return tal_contract_last()->status;
    if ((present[element.i] != 0) == enabled) return TAL_OK;
    uint8_t *flags = tali_cache_var_write(matter->system, state, var, __func__);
    if (flags == NULL) return tal_contract_last()->status;
    flags[element.i] = enabled;
    return enabled ? TAL_OK : tali_unilateral_switch(matter, state, element.i, false, false);
}

// The constraints tell the mode: there is nothing else that could contradict them.
tal_unilateral_mode tali_unilateral_mode_at(const tal_matter *matter, const tal_state *state, int i)
{
    const uint8_t *parts = tali_cache_var_in(matter->system, state, matter->constraints.enabled);
    const uint8_t *takes_part =
        tali_cache_var_in(matter->system, state, matter->unilaterals.enabled);
    return tali_unilateral_mode_by(&matter->unilaterals.list[i], parts, takes_part[i] != 0);
}

tal_unilateral_mode tal_unilateral_mode_of(const tal_matter *matter, const tal_state *state,
                                           tal_unilateral_ix element)
{
    if (tali_unilateral_at(matter, element, __func__) == NULL) return TAL_UNILATERAL_OFF;
    const void *vars =
        tali_cache_var_read(matter->system, state, matter->unilaterals.enabled, __func__);
    return vars != NULL ? tali_unilateral_mode_at(matter, state, element.i) : TAL_UNILATERAL_OFF;
}

// Put the anchor where the grip is, so that its position errors are zero.
static tal_status drop_anchor(const tal_matter *matter, tal_state *state, const tali_unilateral *it)
{
    const tali_constraint *c = &matter->constraints.list[it->grip];
    tali_tree_view view;
    tal_status st = tal_system_realize(matter->system, state, TAL_STAGE_POSITION);
    if (st != TAL_OK) return st;
    if (!tali_tree_realize_view(matter, state, TALI_POSITION, &view)) {
        return tal_state_error(state)->status;
    }
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(matter, state, &view, it->grip, NULL, NULL, &room);
    double perr[2] = {0.0, 0.0};
    st = c->ops.calc_p(c->self, &arg, perr);
    if (st != TAL_OK || !isfinite(perr[0]) || !isfinite(perr[1])) {
        return tal_state_fail(state, st != TAL_OK ? st : TAL_ERR_NOT_FINITE,
                              "unilateral '%s': where its grip sticks cannot be told at t = %g",
                              it->name, tal_state_t(state));
    }
    double *params =
        tali_cache_var_write(matter->system, state, matter->constraints.var_params, __func__);
    if (params == NULL) return tal_contract_last()->status;
    for (int r = 0; r < it->num_slips; ++r) {
        params[c->param0 + it->anchor + r] += perr[r];
    }
    return TAL_OK;
}

static bool can_have(const tali_unilateral *it, tal_unilateral_mode mode, bool is_enabled)
{
    switch (mode) {
    case TAL_UNILATERAL_OFF:
        return it->normal >= 0 || !is_enabled;
    case TAL_UNILATERAL_ON:
        return it->grip < 0 && is_enabled;
    case TAL_UNILATERAL_STICK:
    case TAL_UNILATERAL_SLIDE:
        return it->grip >= 0 && is_enabled;
    }
    return false;
}

static tal_status set_direction(const tal_matter *matter, tal_state *state, int i,
                                const double direction[])
{
    double *all =
        tali_cache_var_write(matter->system, state, matter->unilaterals.directions, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[2 * i] = direction != NULL ? direction[0] : 0.0;
    all[2 * i + 1] = direction != NULL ? direction[1] : 0.0;
    return TAL_OK;
}

tal_status tali_unilateral_enter(const tal_matter *matter, tal_state *state, int i,
                                 tal_unilateral_mode was, tal_unilateral_mode mode,
                                 const double direction[])
{
    const tali_unilateral *it = &matter->unilaterals.list[i];
    const bool begins_to_stick = mode == TAL_UNILATERAL_STICK && mode != was;
    tal_status st = TAL_OK;
    if (mode == TAL_UNILATERAL_SLIDE) st = set_direction(matter, state, i, direction);
    if (st == TAL_OK && begins_to_stick && it->anchor >= 0) st = drop_anchor(matter, state, it);
    if (st != TAL_OK) return st;
    return tali_unilateral_switch(matter, state, i, mode != TAL_UNILATERAL_OFF,
                                  mode == TAL_UNILATERAL_STICK);
}

tal_status tal_unilateral_set_mode(const tal_matter *matter, tal_state *state,
                                   tal_unilateral_ix element, tal_unilateral_mode mode,
                                   const double direction[])
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    if (it == NULL) return tal_contract_last()->status;
    const uint8_t *enabled =
        tali_cache_var_read(matter->system, state, matter->unilaterals.enabled, __func__);
    if (enabled == NULL) return tal_contract_last()->status;
    if (!can_have(it, mode, enabled[element.i] != 0)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "unilateral '%s' cannot be in mode %d: it has %s normal and %s "
                                "grip, and is %s",
                                it->name, (int)mode, it->normal >= 0 ? "a" : "no",
                                it->grip >= 0 ? "a" : "no",
                                enabled[element.i] != 0 ? "enabled" : "disabled");
    }
    const tal_unilateral_mode was = tali_unilateral_mode_at(matter, state, element.i);
    return tali_unilateral_enter(matter, state, element.i, was, mode, direction);
}
