// All pairs of a molecule: those near by bonds by their lists, the others by a list of neighbors
// (list/), by looking at neighboring cells, or at every pair where neither would do.
//
// The sums are exact, so it does not matter in which order pairs come, or which way they are found.
#include "term/evaluation_internal.h"

// ---- one pair

typedef enum reach {
    FAR,  // with cutoffs and images
    NEAR, // up to four bonds apart, scaled
} reach;

// The vector from j to the nearest image of i.
static tal_vec3 nearest_image(const tali_term_pairs *pairs, tal_vec3 d)
{
    const tal_vec3 box = pairs->set.box, per = pairs->per_box;
    return tal_v3(d.x - box.x * tali_term_rint(d.x * per.x),
                  d.y - box.y * tali_term_rint(d.y * per.y),
                  d.z - box.z * tali_term_rint(d.z * per.z));
}

static void add_pair(tali_term_evaluation *it, const tali_term_pair *pair, reach how,
                     const int rows[2])
{
    const tal_mol *mol = it->instance->mol;
    tal_vec3 d = tal_v3_sub(it->x[pair->i], it->x[pair->j]);
    if (how == FAR && it->pairs.has_box) d = nearest_image(&it->pairs, d);
    const double r2 = tal_v3_dot(d, d);
    if (how == FAR && r2 >= it->pairs.end * it->pairs.end) return;
    const double A = it->scale[TAL_MOL_SCALE_VDW] * pair->A;
    const double B = it->scale[TAL_MOL_SCALE_VDW] * pair->B;
    const double qq = mol->atoms[pair->i].charge * mol->atoms[pair->j].charge;
    const double C =
        it->scale[TAL_MOL_SCALE_COULOMB] * mol->ff->def.coulomb_constant * qq * pair->charge;
    const tali_term_pull at = how == FAR ? tali_term_pull_of(&it->pairs, r2, A, B, C)
                                         : tali_term_pull_near(&it->pairs, r2, A, B, C);
    const tal_vec3 f = tal_v3_scale(at.pull, d);
    tali_term_push_both(&it->grid, &it->f[3 * pair->i], &it->f[3 * pair->j], f);
    tali_term_add_energy(it, rows[0], at.vdw);
    tali_term_add_energy(it, rows[1], at.coulomb);
    if (it->everything) tali_term_add_virial(it, d, f);
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

// ---- a pair that may act, i < j

bool tali_term_is_skipped(const tal_mol_instance *instance, int i, int j)
{
    int low = instance->skip_start[i], high = instance->skip_start[i + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (instance->skip[middle] == j) return true;
        if (instance->skip[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

static void visit_moving(tali_term_evaluation *it, int i, int j)
{
    const tal_mol_instance *instance = it->instance;
    if (instance->body[i] == instance->body[j] || tali_term_is_skipped(instance, i, j)) return;
    const tali_term_pair pair = plain_pair(instance, i, j);
    add_pair(it, &pair, FAR, PLAIN);
}

static void visit_any(tali_term_evaluation *it, int i, int j)
{
    const tal_mol_instance *instance = it->instance;
    const int bonds = tali_mol_separation(instance->mol, i, j);
    tali_term_pair pair;
    if (tali_term_special_pair(instance->mol, i, j, bonds, &pair)) return;
    pair = plain_pair(instance, i, j);
    const bool is_frozen = tali_term_is_pair_frozen(instance, i, j, bonds);
    add_pair(it, &pair, FAR, is_frozen ? FROZEN : PLAIN);
}

static void visit(tali_term_evaluation *it, int i, int j)
{
    if (it->everything) {
        visit_any(it, i, j);
    } else {
        visit_moving(it, i, j);
    }
}

static void visit_all(tali_term_evaluation *it)
{
    const int n = it->instance->mol->num_atoms;
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
            visit(it, i, j);
        }
    }
}

// ---- cells: boxes at least as long as the cutoff, at most as many as atoms

typedef struct cells {
    int count[3];
    tal_vec3 low, side; // of the first cell, of each
    bool is_periodic;
    int *cell;  // [num_atoms] of each atom
    int *start; // [cells + 1] of its atoms
    int *atoms; // [num_atoms] by cell, ascending in each
} cells;

size_t tali_term_cells_size(int num_atoms)
{
    return (3 * (size_t)num_atoms + 2) * sizeof(int);
}

static double component(tal_vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

// How many cells fit along each axis; false when all pairs are as good.
static bool choose_cells(const tali_term_evaluation *it, cells *c)
{
    const int n = it->instance->mol->num_atoms;
    tal_vec3 low = it->x[0], high = it->x[0];
    for (int a = 1; a < n; ++a) {
        const tal_vec3 p = it->x[a];
        low = tal_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = tal_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    c->is_periodic = it->pairs.has_box;
    c->low = c->is_periodic ? tal_v3(0.0, 0.0, 0.0) : low;
    const tal_vec3 size = c->is_periodic ? it->pairs.set.box : tal_v3_sub(high, low);
    double side[3], least = it->pairs.end * (1.0 + 1e-12); // nobody is lost by round-off
    long total = 0;
    do { // larger ones until there are not more than atoms
        total = 1;
        for (int k = 0; k < 3; ++k) {
            const double fit = floor(component(size, k) / least);
            c->count[k] = fit < 1.0 ? 1 : fit > 1024.0 ? 1024 : (int)fit;
            side[k] = component(size, k) / c->count[k];
            total *= c->count[k];
        }
        least *= 1.26;
    } while (total > n);
    c->side = tal_v3(side[0], side[1], side[2]);
    const int most = c->count[0] * c->count[1] * c->count[2];
    const bool is_wide = c->count[0] > 2 && c->count[1] > 2 && c->count[2] > 2;
    return c->is_periodic ? is_wide : most > 8;
}

// Which of n cells along an axis.
static int place_in(double x, double low, double side, int n, bool is_periodic)
{
    if (!(side > 0.0)) return 0;
    double place = floor((x - low) / side);
    if (is_periodic) place -= n * floor(place / n);
    return place < 0.0 ? 0 : place >= n ? n - 1 : (int)place;
}

// Count, add up, put each atom into its cell.
static void sort_atoms(const tali_term_evaluation *it, cells *c)
{
    const int n = it->instance->mol->num_atoms;
    const int total = c->count[0] * c->count[1] * c->count[2];
    memset(c->start, 0, (size_t)(total + 1) * sizeof c->start[0]);
    for (int a = 0; a < n; ++a) {
        int place[3];
        for (int k = 0; k < 3; ++k) {
            place[k] = place_in(component(it->x[a], k), component(c->low, k), component(c->side, k),
                                c->count[k], c->is_periodic);
        }
        c->cell[a] = (place[0] * c->count[1] + place[1]) * c->count[2] + place[2];
        ++c->start[c->cell[a] + 1];
    }
    for (int i = 0; i < total; ++i) {
        c->start[i + 1] += c->start[i];
    }
    for (int a = n - 1; a >= 0; --a) { // from behind: starts end where they should
        c->atoms[--c->start[c->cell[a] + 1]] = a;
    }
    for (int i = 0; i < total; ++i) { // each start was moved to that of its own cell
        c->start[i] = c->start[i + 1];
    }
    c->start[total] = n;
}

// One atom with those behind it in one cell.
static void visit_cell(tali_term_evaluation *it, const cells *c, int i, const int place[3])
{
    int at[3];
    for (int k = 0; k < 3; ++k) {
        const int n = c->count[k];
        at[k] = c->is_periodic ? (place[k] + n) % n : place[k];
        if (at[k] < 0 || at[k] >= n) return;
    }
    const int cell = (at[0] * c->count[1] + at[1]) * c->count[2] + at[2];
    for (int k = c->start[cell]; k < c->start[cell + 1]; ++k) {
        if (c->atoms[k] > i) visit(it, i, c->atoms[k]);
    }
}

static void visit_neighbors(tali_term_evaluation *it, const cells *c, int i)
{
    const int z = c->cell[i] % c->count[2], rest = c->cell[i] / c->count[2];
    const int y = rest % c->count[1], x = rest / c->count[1];
    for (int k = 0; k < 27; ++k) {
        const int place[3] = {x + k / 9 - 1, y + k / 3 % 3 - 1, z + k % 3 - 1};
        visit_cell(it, c, i, place);
    }
}

static bool visit_cells(tali_term_evaluation *it)
{
    const int n = it->instance->mol->num_atoms;
    cells c = {.cell = it->cells, .start = it->cells + n, .atoms = it->cells + 2 * n + 2};
    if (it->pairs.set.all_pairs || !isfinite(it->pairs.end)) return false;
    if (!choose_cells(it, &c)) return false;
    sort_atoms(it, &c);
    for (int i = 0; i < n; ++i) {
        visit_neighbors(it, &c, i);
    }
    return true;
}

// ---- all of it

// Pairs up to four bonds apart that are scaled; frozen ones too, if everything counts.
static void add_near_pairs(tali_term_evaluation *it)
{
    const tal_mol_instance *instance = it->instance;
    const tal_mol *mol = instance->mol;
    if (!it->everything) {
        for (int k = 0; k < instance->num_pairs; ++k) {
            add_pair(it, &instance->pairs[k], NEAR, SCALED);
        }
        return;
    }
    for (int i = 0; i < mol->num_atoms; ++i) {
        for (int k = mol->near_start[i]; k < mol->near_start[i + 1]; ++k) {
            const int j = mol->near[k].atom, bonds = mol->near[k].bonds;
            tali_term_pair pair;
            if (!tali_term_special_pair(mol, i, j, bonds, &pair)) continue;
            if (pair.A == 0.0 && pair.B == 0.0 && pair.charge == 0.0) continue;
            const bool is_frozen = tali_term_is_pair_frozen(instance, i, j, bonds);
            add_pair(it, &pair, NEAR, is_frozen ? FROZEN : SCALED);
        }
    }
}

void tali_term_add_pairs(tali_term_evaluation *it)
{
    add_near_pairs(it);
    if (!it->everything && !it->pairs.set.all_pairs && tali_term_add_listed(it)) return;
    if (!visit_cells(it)) visit_all(it);
}
