// Water as a continuum: the generalized Born model OBC II with a surface term (Onufriev, Bashford,
// Case, Proteins 55, 2004).
//
// Three passes over pairs: I and B; energies and dE/dB; forces by dE/dI dI/dr. I and dE/dB are sums
// on the grid as well. With spheres of radii s = S rho~, L = max(rho~_i, |r - s|) and U = r + s:
//
//     I_i += 1/L - 1/U + (r - s^2/r)(1/U^2 - 1/L^2)/4 + ln(L/U)/(2 r)  + 2 (1/rho~_i - 1/L) if
//            rho~_i < s - r,  nothing if rho~_i >= r + s
#include "term/evaluation_internal.h"

typedef struct work {
    int64_t *sum;  // [num_atoms] I, then dE/dB, in units of the grid
    double *B;     // [num_atoms] effective radii
    double *dB_dI; // [num_atoms]
    double *dE_dI; // [num_atoms]
} work;

size_t tali_term_born_size(int num_atoms)
{
    return 4 * (size_t)num_atoms * sizeof(double);
}

static work work_of(const tali_term_evaluation *it)
{
    const int n = it->instance->mol->num_atoms;
    return (work){(int64_t *)(void *)it->born, it->born + n, it->born + 2 * n, it->born + 3 * n};
}

static const tali_field_type *type_of(const tali_term_evaluation *it, int atom)
{
    const tal_mol *mol = it->instance->mol;
    return &mol->ff->types[mol->atoms[atom].type];
}

// rho~
static double own_radius(const tali_field_type *type)
{
    return type->radius - TALI_BORN_OFFSET;
}

static double distance(const tali_term_evaluation *it, int i, int j)
{
    return tal_v3_norm(tal_v3_sub(it->x[i], it->x[j]));
}

double tali_term_cover(double rho, double s, double r, double *slope)
{
    *slope = 0.0;
    if (rho >= r + s || s == 0.0) return 0.0;
    const double gap = fabs(r - s), L = fmax(rho, gap), U = r + s, w = r - s * s / r;
    const double log_LU = log(L / U), spread = 1.0 / (U * U) - 1.0 / (L * L);
    const bool is_inside = rho < s - r;
    double I = 1.0 / L - 1.0 / U + 0.25 * w * spread + 0.5 * log_LU / r;
    double by_L = -1.0 / (L * L) + 0.5 * w / (L * L * L) + 0.5 / (r * L);
    const double by_U = 1.0 / (U * U) - 0.5 * w / (U * U * U) - 0.5 / (r * U);
    if (is_inside) {
        I += 2.0 * (1.0 / rho - 1.0 / L);
        by_L += 2.0 / (L * L);
    }
    const double L_rate = rho >= gap ? 0.0 : r > s ? 1.0 : -1.0;
    *slope =
        by_L * L_rate + by_U + 0.25 * (1.0 + s * s / (r * r)) * spread - 0.5 * log_LU / (r * r);
    return I;
}

// ---- first pass: how much each atom is covered, its radius, and how that changes

static void find_covers(tali_term_evaluation *it, const work *w)
{
    const int n = it->instance->mol->num_atoms;
    memset(w->sum, 0, (size_t)n * sizeof w->sum[0]);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            if (i == j) continue;
            const tali_field_type *other = type_of(it, j);
            double slope;
            const double I =
                tali_term_cover(own_radius(type_of(it, i)), other->screen * own_radius(other),
                                distance(it, i, j), &slope);
            tali_term_add(&w->sum[i], tali_term_on_grid(&it->grid, I));
        }
    }
}

static void find_radii(tali_term_evaluation *it, const work *w)
{
    for (int i = 0; i < it->instance->mol->num_atoms; ++i) {
        const tali_field_type *type = type_of(it, i);
        const double rho = own_radius(type),
                     psi = 0.5 * rho * (double)w->sum[i] / it->grid.per_unit;
        const double t = tanh(psi * (1.0 - psi * (0.8 - 4.85 * psi)));
        const double rate = 1.0 - psi * (1.6 - 14.55 * psi);
        const double B = 1.0 / (1.0 / rho - t / type->radius);
        w->B[i] = B;
        w->dB_dI[i] = B * B * (1.0 - t * t) * rate * rho / (2.0 * type->radius);
    }
}

// ---- second pass: energies, forces at given radii, and dE/dB

static void push_slope(tali_term_evaluation *it, const work *w, int i, double slope)
{
    tali_term_add(&w->sum[i], tali_term_on_grid(&it->grid, slope));
}

static void add_force(tali_term_evaluation *it, int i, int j, tal_vec3 f)
{
    tali_term_push_both(&it->grid, &it->f[3 * i], &it->f[3 * j], f);
    if (it->everything) tali_term_add_virial(it, tal_v3_sub(it->x[i], it->x[j]), f);
}

// -k q_i q_j/f of a pair.
static void add_screened(tali_term_evaluation *it, const work *w, int i, int j, double k)
{
    const tali_mol_atom *atoms = it->instance->mol->atoms;
    const tal_vec3 d = tal_v3_sub(it->x[i], it->x[j]);
    const double r2 = tal_v3_dot(d, d), P = w->B[i] * w->B[j], D = 0.25 * r2 / P, e = exp(-D);
    const double f2 = r2 + P * e, f1 = sqrt(f2),
                 energy = -k * atoms[i].charge * atoms[j].charge / f1;
    tali_term_add_energy(it, TALI_ROW_BORN, energy);
    add_force(it, i, j, tal_v3_scale(energy * (1.0 - 0.25 * e) / f2, d));
    const double by_P = -0.5 * energy / f2 * e * (1.0 + D);
    push_slope(it, w, i, by_P * w->B[j]);
    push_slope(it, w, j, by_P * w->B[i]);
}

// The Born energy of an atom by itself, and its surface.
static void add_self(tali_term_evaluation *it, const work *w, int i, double k)
{
    const double q = it->instance->mol->atoms[i].charge, B = w->B[i];
    const double rho = type_of(it, i)->radius, ratio = rho / B, cube = ratio * ratio * ratio;
    const double born = -0.5 * k * q * q / B;
    const double surface = it->scale[TAL_MOL_SCALE_BORN] * it->pairs.set.surface * (rho + 0.14) *
                           (rho + 0.14) * cube * cube;
    tali_term_add_energy(it, TALI_ROW_BORN, born);
    tali_term_add_energy(it, TALI_ROW_SURFACE, surface);
    push_slope(it, w, i, -born / B - 6.0 * surface / B);
}

static void add_energies(tali_term_evaluation *it, const work *w)
{
    const tal_mol *mol = it->instance->mol;
    const tal_mol_nonbonded *set = &it->pairs.set;
    const double k = it->scale[TAL_MOL_SCALE_BORN] * mol->ff->def.coulomb_constant *
                     (1.0 / set->solute - 1.0 / set->solvent);
    memset(w->sum, 0, (size_t)mol->num_atoms * sizeof w->sum[0]);
    for (int i = 0; i < mol->num_atoms; ++i) {
        add_self(it, w, i, k);
        for (int j = i + 1; j < mol->num_atoms; ++j) {
            add_screened(it, w, i, j, k);
        }
    }
    for (int i = 0; i < mol->num_atoms; ++i) {
        w->dE_dI[i] = (double)w->sum[i] / it->grid.per_unit * w->dB_dI[i];
    }
}

// ---- third pass: forces because radii change

static void add_cover_forces(tali_term_evaluation *it, const work *w)
{
    const int n = it->instance->mol->num_atoms;
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
            const tali_field_type *a = type_of(it, i), *b = type_of(it, j);
            const double ra = own_radius(a), rb = own_radius(b), r = distance(it, i, j);
            double of_i, of_j;
            (void)tali_term_cover(ra, b->screen * rb, r, &of_i);
            (void)tali_term_cover(rb, a->screen * ra, r, &of_j);
            const double slope = w->dE_dI[i] * of_i + w->dE_dI[j] * of_j;
            if (slope == 0.0) continue;
            add_force(it, i, j, tal_v3_scale(-slope / r, tal_v3_sub(it->x[i], it->x[j])));
        }
    }
}

void tali_term_add_born(tali_term_evaluation *it)
{
    const work w = work_of(it);
    find_covers(it, &w);
    find_radii(it, &w);
    add_energies(it, &w);
    add_cover_forces(it, &w);
}
