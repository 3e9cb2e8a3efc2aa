// Energies and forces of a molecule at its positions: of what moves, for dynamics, and of
// everything on atoms alone, for reports.
#include "list/list_internal.h"
#include "term/evaluation_internal.h"

// ---- memory of the sums

static size_t forces_at(const tal_mol_instance *instance)
{
    return sizeof(tali_term_sums) + (size_t)instance->mol->num_atoms * sizeof(tal_vec3);
}

static size_t slopes_at(const tal_mol_instance *instance)
{
    return forces_at(instance) + 3 * (size_t)instance->mol->num_atoms * sizeof(int64_t);
}

static size_t born_at(const tal_mol_instance *instance)
{
    return slopes_at(instance) + (size_t)instance->num_mapped * sizeof(double);
}

static size_t cells_at(const tal_mol_instance *instance)
{
    return born_at(instance) + tali_term_born_size(instance->mol->num_atoms);
}

static size_t lanes_at(const tal_mol_instance *instance)
{
    return tali_align(cells_at(instance) + tali_term_cells_size(instance->mol->num_atoms));
}

size_t tali_term_sums_size(const tal_mol_instance *instance)
{
    return lanes_at(instance) + tali_list_work_size(instance);
}

const tal_vec3 *tali_term_positions(const tali_term_sums *sums)
{
    return (const tal_vec3 *)(const void *)(sums + 1);
}

const int64_t *tali_term_forces(const tal_mol_instance *instance, const tali_term_sums *sums)
{
    return (const int64_t *)(const void *)((const char *)sums + forces_at(instance));
}

const double *tali_term_slopes(const tal_mol_instance *instance, const tali_term_sums *sums)
{
    return (const double *)(const void *)((const char *)sums + slopes_at(instance));
}

// ---- one evaluation

// A bonded term. Those of Urey and Bradley are stretches of the ends. The last atom gets the
// opposite of what the others get, so that nothing is left over.
static void add_term(tali_term_evaluation *it, tal_mol_family family, const tali_mol_term *term,
                     int row)
{
    int atoms[4], n = tali_mol_arity(family);
    memcpy(atoms, term->atoms, sizeof atoms);
    if (family == TAL_MOL_UREY_BRADLEY) {
        atoms[1] = atoms[2];
        n = 2;
    }
    tal_vec3 x[4];
    for (int i = 0; i < n; ++i) {
        x[i] = it->x[atoms[i]];
    }
    const tali_term_result result = tali_term_evaluate(&term->law, x);
    const double scale = it->scale[TAL_MOL_SCALE_BONDED];
    for (int i = 0; i < n - 1; ++i) {
        const tal_vec3 f = tal_v3_scale(scale, result.f[i]);
        tali_term_push_both(&it->grid, &it->f[3 * atoms[i]], &it->f[3 * atoms[n - 1]], f);
        if (it->everything) tali_term_add_virial(it, tal_v3_sub(x[i], x[n - 1]), f);
    }
    tali_term_add_energy(it, row, scale * result.energy);
}

// ---- what moves

static void add_moving_terms(tali_term_evaluation *it)
{
    const tal_mol_instance *instance = it->instance;
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        const tali_mol_term *terms = instance->mol->terms[f].items;
        for (int t = 0; t < instance->num_moving[f]; ++t) {
            add_term(it, (tal_mol_family)f, &terms[instance->moving[f][t]], f);
        }
    }
}

static void add_mapped(tali_term_evaluation *it, const tal_state *state, double slopes[])
{
    const tal_mol_instance *instance = it->instance;
    const double scale = it->scale[TAL_MOL_SCALE_BONDED];
    for (int m = 0; m < instance->num_mapped; ++m) {
        const tali_term_mapped *mapped = &instance->mapped[m];
        const tal_body_ix body = {instance->bodies[mapped->body].body};
        const double q = tal_body_q(instance->matter, state, body, 0);
        double slope;
        const double energy = tali_term_series(&mapped->series, cos(q), sin(q), &slope);
        slopes[m] = scale * slope;
        tali_term_add_energy(it, TAL_MOL_TORSION, scale * energy);
    }
}

// ---- everything

static void add_all_terms(tali_term_evaluation *it)
{
    const tal_mol_instance *instance = it->instance;
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        const tali_mol_terms *terms = &instance->mol->terms[f];
        for (int t = 0; t < terms->count; ++t) {
            const bool is_frozen = instance->fate[f][t] == TALI_TERM_FROZEN;
            add_term(it, (tal_mol_family)f, &terms->items[t], is_frozen ? TALI_ROW_FROZEN : f);
        }
    }
}

// ---- failing

// Name the two atoms that are closest: what is too large is between them, nearly always.
static tal_status fail_range(const tali_term_evaluation *it, tal_state *state)
{
    const tal_mol *mol = it->instance->mol;
    int closest[2] = {0, 0};
    double least = INFINITY;
    for (int i = 0; i < mol->num_atoms; ++i) {
        for (int j = i + 1; j < mol->num_atoms; ++j) {
            const double r = tal_v3_norm(tal_v3_sub(it->x[i], it->x[j]));
            if (r >= least || it->instance->body[i] == it->instance->body[j]) continue;
            least = r;
            closest[0] = i;
            closest[1] = j;
        }
    }
    return tal_state_fail(state, TAL_ERR_NOT_FINITE,
                          "a force or energy of molecule '%s' is beyond 1e13 kJ/mol/nm: atoms %d "
                          "and %d are %g nm apart; move them, or lower the step",
                          tal_force_name(it->instance->forces, it->instance->me), closest[0],
                          closest[1], least);
}

// ---- the calc functions of the cache entries

static tal_status find_positions(const tal_mol_instance *instance, tal_state *state, tal_vec3 x[])
{
    const tal_vec3 *p_MS = tal_cache_realize(instance->system, state, instance->stations);
    if (p_MS == NULL) return tal_state_error(state)->status;
    const tal_bodies_view poses = tal_matter_poses(instance->matter, state);
    for (int b = 0; b < instance->statistics.num_bodies; ++b) {
        const tali_term_body *body = &instance->bodies[b];
        const tal_xform *X_GM = tal_view_X_GM(&poses, body->body);
        for (int i = body->first; i < body->first + body->num_atoms; ++i) {
            x[instance->order[i]] = tal_xf_apply(*X_GM, p_MS[instance->order[i]]);
        }
    }
    return TAL_OK;
}

// Evaluate on the fine grid, and once more on the coarse one if something does not fit it.
static tal_status calc(const tal_mol_instance *instance, tal_state *state, char *value,
                       bool everything)
{
    static const double per_unit[2] = {68719476736.0, 4096.0}; // 2^36, 2^12
    tali_term_sums *sums = (tali_term_sums *)(void *)value;
    tal_vec3 *x = (tal_vec3 *)(void *)(sums + 1);
    double *slopes = (double *)(void *)(value + slopes_at(instance));
    const tal_status st = find_positions(instance, state, x);
    if (st != TAL_OK) return st;
    const double *scale = tal_var_value(instance->system, state, instance->scales);
    tali_term_evaluation it = {
        .instance = instance, .x = x, .f = (int64_t *)(void *)(value + forces_at(instance))};
    memcpy(it.scale, scale, sizeof it.scale);
    it.everything = everything;
    it.pairs = tali_term_prepare(tal_var_value(instance->system, state, instance->nonbonded));
    it.cells = (int *)(void *)(value + cells_at(instance));
    it.lanes = (double *)(void *)(value + lanes_at(instance));
    it.state = state;
    it.born = (double *)(void *)(value + born_at(instance));
    for (int g = 0; g < 2; ++g) {
        it.grid = (tali_term_grid){per_unit[g], false};
        memset(it.energy, 0, sizeof it.energy);
        memset(it.virial, 0, sizeof it.virial);
        memset(it.f, 0, 3 * (size_t)instance->mol->num_atoms * sizeof it.f[0]);
        if (everything) {
            add_all_terms(&it);
        } else {
            add_moving_terms(&it);
            add_mapped(&it, state, slopes);
        }
        tali_term_add_pairs(&it);
        if (it.pairs.set.born) tali_term_add_born(&it);
        if (!it.grid.is_over) break;
    }
    if (it.grid.is_over) return fail_range(&it, state);
    sums->unit = 1.0 / it.grid.per_unit;
    for (int r = 0; r < TALI_NUM_ROWS; ++r) {
        sums->energy[r] = (double)it.energy[r] * sums->unit;
    }
    for (int k = 0; k < 9; ++k) {
        sums->virial[k] = (double)it.virial[k] * sums->unit;
    }
    return TAL_OK;
}

tal_status tali_term_calc_moving(const void *self, const tal_system *system, tal_state *state,
                                 void *value)
{
    (void)system;
    return calc(self, state, value, false);
}

tal_status tali_term_calc_all(const void *self, const tal_system *system, tal_state *state,
                              void *value)
{
    (void)system;
    return calc(self, state, value, true);
}
