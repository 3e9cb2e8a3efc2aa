// Energies and forces of a molecule at its positions: of what moves, for dynamics, and of
// everything on atoms alone, for reports.
#include "term/grid_internal.h"
#include "term/instance_internal.h"

// ---- memory of the sums

static size_t forces_at(const tal_mol_instance *instance)
{
    return sizeof(tali_term_sums) + (size_t)instance->mol->num_atoms * sizeof(tal_vec3);
}

static size_t slopes_at(const tal_mol_instance *instance)
{
    return forces_at(instance) + 3 * (size_t)instance->mol->num_atoms * sizeof(int64_t);
}

size_t tali_term_sums_size(const tal_mol_instance *instance)
{
    return slopes_at(instance) + (size_t)instance->num_mapped * sizeof(double);
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

typedef struct evaluation {
    const tal_mol_instance *instance;
    const tal_vec3 *x; // positions
    int64_t *f;        // forces
    double scale[TAL_NUM_MOL_SCALES];
    tali_term_grid grid;
    int64_t energy[TALI_NUM_ROWS];
} evaluation;

static void add_energy(evaluation *it, int row, double energy)
{
    tali_term_add(&it->energy[row], tali_term_on_grid(&it->grid, energy));
}

// A bonded term. Those of Urey and Bradley are stretches of the ends. The last atom gets the
// opposite of what the others get, so that nothing is left over.
static void add_term(evaluation *it, tal_mol_family family, const tali_mol_term *term, int row)
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
        tali_term_push_both(&it->grid, &it->f[3 * atoms[i]], &it->f[3 * atoms[n - 1]],
                            tal_v3_scale(scale, result.f[i]));
    }
    add_energy(it, row, scale * result.energy);
}

// A pair: A/r^12 - B/r^6 and C/r.
static void add_pair(evaluation *it, const tali_term_pair *pair, const int rows[2])
{
    const tal_mol *mol = it->instance->mol;
    const tal_vec3 d = tal_v3_sub(it->x[pair->i], it->x[pair->j]);
    const double r2 = tal_v3_dot(d, d), s2 = 1.0 / r2, s6 = s2 * s2 * s2, s1 = sqrt(s2);
    const double A = it->scale[TAL_MOL_SCALE_VDW] * pair->A;
    const double B = it->scale[TAL_MOL_SCALE_VDW] * pair->B;
    const double C = it->scale[TAL_MOL_SCALE_COULOMB] * mol->ff->def.coulomb_constant *
                     pair->charge * mol->atoms[pair->i].charge * mol->atoms[pair->j].charge;
    const double vdw = (A * s6 - B) * s6, coulomb = C * s1;
    const double pull = ((12.0 * A * s6 - 6.0 * B) * s6 + coulomb) * s2;
    tali_term_push_both(&it->grid, &it->f[3 * pair->i], &it->f[3 * pair->j], tal_v3_scale(pull, d));
    add_energy(it, rows[0], vdw);
    add_energy(it, rows[1], coulomb);
}

static const int PLAIN[2] = {TALI_ROW_VDW, TALI_ROW_COULOMB};
static const int SCALED[2] = {TALI_ROW_VDW14, TALI_ROW_COULOMB14};
static const int FROZEN[2] = {TALI_ROW_FROZEN, TALI_ROW_FROZEN};

static tali_term_pair plain_pair(const tal_mol_instance *instance, int i, int j)
{
    const tal_ff *ff = instance->mol->ff;
    const tal_ff_pair own =
        ff->pairs[instance->class_of[i] * ff->num_classes + instance->class_of[j]];
    return (tali_term_pair){i, j, own.A, own.B, 1.0};
}

// ---- what moves

static void add_moving_terms(evaluation *it)
{
    const tal_mol_instance *instance = it->instance;
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        const tali_mol_term *terms = instance->mol->terms[f].items;
        for (int t = 0; t < instance->num_moving[f]; ++t) {
            add_term(it, (tal_mol_family)f, &terms[instance->moving[f][t]], f);
        }
    }
}

// Each atom with those behind it, except those of its body and those its row leaves out.
static void add_moving_pairs(evaluation *it)
{
    const tal_mol_instance *instance = it->instance;
    const int n = instance->mol->num_atoms;
    for (int i = 0; i < n; ++i) {
        const int *skip = &instance->skip[instance->skip_start[i]];
        const int *end = &instance->skip[instance->skip_start[i + 1]];
        for (int j = i + 1; j < n; ++j) {
            if (skip < end && *skip == j) {
                ++skip;
                continue;
            }
            if (instance->body[i] == instance->body[j]) continue;
            const tali_term_pair pair = plain_pair(instance, i, j);
            add_pair(it, &pair, PLAIN);
        }
    }
    for (int k = 0; k < instance->num_pairs; ++k) {
        add_pair(it, &instance->pairs[k], SCALED);
    }
}

static void add_mapped(evaluation *it, const tal_state *state, double slopes[])
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
        add_energy(it, TAL_MOL_TORSION, scale * energy);
    }
}

// ---- everything

static void add_all_terms(evaluation *it)
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

static void add_all_pairs(evaluation *it)
{
    const tal_mol_instance *instance = it->instance;
    const int n = instance->mol->num_atoms;
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
            const int bonds = tali_mol_separation(instance->mol, i, j);
            tali_term_pair pair;
            const bool is_special = tali_term_special_pair(instance->mol, i, j, bonds, &pair);
            if (!is_special) pair = plain_pair(instance, i, j);
            if (pair.A == 0.0 && pair.B == 0.0 && pair.charge == 0.0) continue;
            const bool is_frozen = tali_term_is_pair_frozen(instance, i, j, bonds);
            add_pair(it, &pair, is_frozen ? FROZEN : is_special ? SCALED : PLAIN);
        }
    }
}

// ---- failing

// Name the two atoms that are closest: what is too large is between them, nearly always.
static tal_status fail_range(const evaluation *it, tal_state *state)
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
    evaluation it = {
        .instance = instance, .x = x, .f = (int64_t *)(void *)(value + forces_at(instance))};
    memcpy(it.scale, scale, sizeof it.scale);
    for (int g = 0; g < 2; ++g) {
        it.grid = (tali_term_grid){per_unit[g], false};
        memset(it.energy, 0, sizeof it.energy);
        memset(it.f, 0, 3 * (size_t)instance->mol->num_atoms * sizeof it.f[0]);
        if (everything) {
            add_all_terms(&it);
            add_all_pairs(&it);
        } else {
            add_moving_terms(&it);
            add_moving_pairs(&it);
            add_mapped(&it, state, slopes);
        }
        if (!it.grid.is_over) break;
    }
    if (it.grid.is_over) return fail_range(&it, state);
    sums->unit = 1.0 / it.grid.per_unit;
    for (int r = 0; r < TALI_NUM_ROWS; ++r) {
        sums->energy[r] = (double)it.energy[r] * sums->unit;
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
