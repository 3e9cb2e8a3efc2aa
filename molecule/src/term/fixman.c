// Fixman's potential (FIX): U = R T/2 ln det M, less R T sum(2 ln r) over bond lengths that move.
//
// Given    P, H, p_GB         articulated inertias and hinges of all bodies, about Bo in Ground
// Compute  D = H^T P H,   K = P H D^-1                                    JAIN alg. 6.1
//          Y+ = shift Y_parent shift^T
//          Y  = psi Y+ psi^T + H D^-1 H^T,   psi = 1 - H K^T              base to tip
//          ln det M = sum of ln det D
//          -dU/dq_k = R T tr(P [S_k x] Y),   S_k = H_k                    (FIX; derived)
//
// The last line is for hinges that do not move with their own coordinates, seen from the parent:
// those that are granted here. Roots are left out: nothing depends on where a molecule is.
#include "term/instance_internal.h"

#include <talus/matter/response.h>
#include <talus/molecule/fixman.h>

#include <math.h>

// ---- memory: a cache entry of the State

typedef struct fixman {
    double energy; // [kJ/mol]
} fixman;

size_t tali_term_fixman_size(int num_bodies)
{
    // for each body a force for each of six mobilities, and Y
    return sizeof(fixman) + (size_t)num_bodies * (6 + 36) * sizeof(double);
}

static double *forces_of(const fixman *it)
{
    return (double *)(void *)(it + 1);
}

// ---- 6 x 6 matrices, by rows: angular parts first

typedef struct square {
    double a[6][6];
} square;

static void put_vector(double to[6], tal_spatial_vec V)
{
    const double numbers[6] = {V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z};
    memcpy(to, numbers, sizeof numbers);
}

static double dot6(const double x[6], const double y[6])
{
    double sum = 0.0;
    for (int i = 0; i < 6; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

static square square_of(const tal_abi *P)
{
    square out;
    for (int j = 0; j < 6; ++j) { // column j of a symmetric matrix
        const tal_vec3 e = tal_v3_axis((tal_axis)(j % 3));
        const tal_spatial_vec unit = j < 3 ? tal_sv(e, TAL_VEC3_ZERO) : tal_sv(TAL_VEC3_ZERO, e);
        // cppcheck-suppress uninitvar ; an address, not a value
        put_vector(out.a[j], tal_abi_mul(*P, unit));
    }
    return out;
}

// l x of the three numbers at `x`, taken from those at `y`: v - l x w.
static void shift_vector(tal_vec3 l, const double w[3], double v[3])
{
    v[0] -= l.y * w[2] - l.z * w[1];
    v[1] -= l.z * w[0] - l.x * w[2];
    v[2] -= l.x * w[1] - l.y * w[0];
}

// Y at a point that is l away: rows, then columns, are motions that are shifted.
static square shifted(const square *Y, tal_vec3 l)
{
    square half, out;
    for (int i = 0; i < 6; ++i) {
        // cppcheck-suppress uninitvar ; an address, not a value
        memcpy(half.a[i], Y->a[i], sizeof half.a[i]);
        shift_vector(l, half.a[i], half.a[i] + 3);
    }
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            out.a[j][i] = half.a[i][j];
        }
    }
    for (int j = 0; j < 6; ++j) {
        shift_vector(l, out.a[j], out.a[j] + 3);
    }
    return out;
}

// ---- one body

// A hinge: columns of H, and of P H.
typedef struct hinge {
    int n;
    double H[6][6], U[6][6];
    double L[6][6]; // D = L L^T
} hinge;

// ln det D; L is its factor.
static double factor(hinge *h)
{
    double log_det = 0.0;
    for (int i = 0; i < h->n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = dot6(h->H[i], h->U[j]);
            for (int k = 0; k < j; ++k) {
                sum -= h->L[i][k] * h->L[j][k];
            }
            h->L[i][j] = i == j ? sqrt(sum) : sum / h->L[j][j];
        }
        log_det += 2.0 * log(h->L[i][i]);
    }
    return log_det;
}

// D^-1 times columns that are rows here: L^-1 from the left.
static void divide(const hinge *h, double x[6][6])
{
    for (int i = 0; i < h->n; ++i) {
        for (int c = 0; c < 6; ++c) {
            double sum = x[i][c];
            for (int k = 0; k < i; ++k) {
                sum -= h->L[i][k] * x[k][c];
            }
            x[i][c] = sum / h->L[i][i];
        }
    }
}

// Y from Y+. With orthonormal columns, H' = H L^-T and K' = P H', for which D is one,
//     Y = Y+ - H' Z^T - Z H'^T + H' (K'^T Z + 1) H'^T,   Z = Y+ K'.
// One column after the other is the same: each is a hinge of its own.
static void pass_hinge(const hinge *h, square *Y)
{
    double H[6][6], K[6][6];
    memcpy(H, h->H, sizeof H);
    memcpy(K, h->U, sizeof K);
    divide(h, H);
    divide(h, K);
    for (int c = 0; c < h->n; ++c) {
        double z[6];
        for (int i = 0; i < 6; ++i) {
            z[i] = dot6(Y->a[i], K[c]);
        }
        const double inner = dot6(K[c], z) + 1.0;
        for (int i = 0; i < 6; ++i) {
            for (int j = 0; j < 6; ++j) {
                Y->a[i][j] += H[c][i] * (inner * H[c][j] - z[j]) - z[i] * H[c][j];
            }
        }
    }
}

// B_jk - B_kj of B = Y P, from rows and columns with these offsets: an axial part.
static double axial(const square *Y, int row, const square *P, int column, int j, int k)
{
    return dot6(Y->a[row + j], P->a[column + k]) - dot6(Y->a[row + k], P->a[column + j]);
}

// tr(P [S x] Y) = tr([S x] Y P), S = (w, v): w . axial(B_ww + B_vv) + v . axial(B_wv) of B = Y P.
static double trace_with(const square *P, const square *Y, const double S[6])
{
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        sum += S[i] * (axial(Y, 0, P, 0, j, k) + axial(Y, 3, P, 3, j, k));
        sum += S[i + 3] * axial(Y, 0, P, 3, j, k);
    }
    return sum;
}

static tal_status read_hinge(const tal_mol_instance *instance, const tal_state *state,
                             tal_body_ix body, const square *P, hinge *h)
{
    tal_spatial_vec H[6];
    const tal_status st = tal_body_H(instance->matter, state, body, TAL_H_PB_G, H);
    h->n = tal_body_nu(instance->matter, body);
    for (int k = 0; k < h->n && st == TAL_OK; ++k) {
        put_vector(h->H[k], H[k]);
        for (int i = 0; i < 6; ++i) {
            h->U[k][i] = dot6(P->a[i], h->H[k]);
        }
    }
    return st;
}

// What a bond length that moves takes from the potential, in R T, and from the force.
static double measure(const tal_mol_instance *instance, const tal_state *state,
                      const tali_term_body *body, double f[6])
{
    const tal_bond_mobility kind = body->joint.mobility;
    const int slide = kind == TAL_BOND_CYLINDER ? 1 : 0;
    const tal_vec3 i = instance->mol->atoms[body->joint.atoms[0]].x;
    const tal_vec3 j = instance->mol->atoms[body->joint.atoms[1]].x;
    const tal_body_ix at = {body->body};
    if (kind == TAL_BOND_CYLINDER || kind == TAL_BOND_SLIDER) {
        const double r =
            tal_v3_norm(tal_v3_sub(j, i)) + tal_body_q(instance->matter, state, at, slide);
        f[slide] += 2.0 / r;
        return 2.0 * log(r);
    }
    return 0.0;
}

// ---- all bodies

// One body, its parent done: ln det D, Y, and the forces along its speeds.
static tal_status add_body(const tal_mol_instance *instance, tal_state *state, int b, double RT,
                           fixman *it)
{
    const tali_term_body *body = &instance->bodies[b];
    const tal_body_ix at = {body->body};
    double *f = forces_of(it) + 6 * (size_t)b;
    square *Y = (square *)(void *)(forces_of(it) + 6 * (size_t)instance->statistics.num_bodies);
    const tal_abi inertia = tal_body_articulated_inertia(instance->matter, state, at);
    const square P = square_of(&inertia);
    hinge h;
    const tal_status st = read_hinge(instance, state, at, &P, &h);
    if (st != TAL_OK) return st;
    it->energy += 0.5 * RT * factor(&h);
    memset(&Y[b], 0, sizeof Y[b]);
    memset(f, 0, 6 * sizeof f[0]);
    if (body->parent >= 0) {
        const tal_body_ix parent = {instance->bodies[body->parent].body};
        const tal_vec3 here = tal_body_p_GB(instance->matter, state, at);
        const tal_vec3 there = tal_body_p_GB(instance->matter, state, parent);
        Y[b] = shifted(&Y[body->parent], tal_v3_sub(here, there));
    }
    pass_hinge(&h, &Y[b]);
    if (body->parent < 0) return TAL_OK;
    for (int k = 0; k < h.n; ++k) {
        f[k] = trace_with(&P, &Y[b], h.H[k]);
    }
    it->energy -= RT * measure(instance, state, body, f);
    for (int k = 0; k < h.n; ++k) {
        f[k] *= RT;
    }
    return TAL_OK;
}

tal_status tali_term_calc_fixman(const void *self, const tal_system *system, tal_state *state,
                                 void *value)
{
    const tal_mol_instance *instance = self;
    fixman *it = value;
    const double *T = tal_var_value(system, state, instance->temperature);
    tal_status st = TAL_OK;
    it->energy = 0.0;
    for (int b = 0; b < instance->statistics.num_bodies && st == TAL_OK; ++b) {
        st = add_body(instance, state, b, TAL_MOL_R * *T, it);
    }
    return st;
}

// ---- for the force element

static bool is_on(const tal_mol_instance *instance, const tal_state *state)
{
    const double *T = tal_var_value(instance->system, state, instance->temperature);
    return *T > 0.0;
}

tal_status tali_term_add_fixman(const tal_mol_instance *instance, tal_state *state, double f[])
{
    if (!is_on(instance, state)) return TAL_OK;
    const fixman *it = tal_cache_realize(instance->system, state, instance->fixman);
    if (it == NULL) return tal_state_error(state)->status;
    for (int b = 0; b < instance->statistics.num_bodies; ++b) {
        const tal_body_ix body = {instance->bodies[b].body};
        const int start = tal_body_u_start(instance->matter, body);
        for (int k = 0; k < tal_body_nu(instance->matter, body); ++k) {
            f[start + k] += forces_of(it)[6 * (size_t)b + (size_t)k];
        }
    }
    return TAL_OK;
}

double tali_term_fixman_energy(const tal_mol_instance *instance, tal_state *state)
{
    if (!is_on(instance, state)) return 0.0;
    const fixman *it = tal_cache_realize(instance->system, state, instance->fixman);
    return it != NULL ? it->energy : TALI_NAN;
}

// ---- setting

static bool is_known(tal_bond_mobility mobility)
{
    return mobility == TAL_BOND_TORSION || mobility == TAL_BOND_CYLINDER ||
           mobility == TAL_BOND_SLIDER || mobility == TAL_BOND_BALL;
}

double tal_mol_fixman_temperature(const tal_mol_instance *instance, const tal_state *state)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_MODEL, __func__, &st)) return TALI_NAN;
    const double *T = tal_var_value(instance->system, state, instance->temperature);
    return *T;
}

tal_status tal_mol_set_fixman_temperature(const tal_mol_instance *instance, tal_state *state,
                                          double temperature)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_MODEL, __func__, &st)) return st;
    const char *name = tal_force_name(instance->forces, instance->me);
    if (!(isfinite(temperature) && temperature >= 0.0)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "molecule '%s': the temperature of Fixman's potential is %g K; it "
                                "may not be negative",
                                name, temperature);
    }
    for (int b = 0; b < instance->statistics.num_bodies; ++b) {
        const tali_term_body *body = &instance->bodies[b];
        if (body->parent < 0 || is_known(body->joint.mobility)) continue;
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "molecule '%s': Fixman's potential knows torsions, cylinders, "
                                "sliders and balls, but the bond of atoms %d and %d moves "
                                "otherwise; choose another level or mobility",
                                name, body->joint.atoms[0], body->joint.atoms[1]);
    }
    return tal_var_set(instance->system, state, instance->temperature, &temperature);
}
