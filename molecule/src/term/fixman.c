// Fixman's potential (FIX): U = R T/2 ln det M, less R T sum(2 ln r) over bond lengths that move.
//
// matter/ has ln det M and its slopes for hinges that do not move with their own coordinates, seen
// from the parent: those that are granted here. Roots are left out: nothing depends on where a
// molecule is.
#include "log_det_internal.h"

#include "term/instance_internal.h"

#include <talus/molecule/fixman.h>

#include <math.h>

// ---- memory: a cache entry of the State

typedef struct fixman {
    double energy; // [kJ/mol]
} fixman;

// Where the arrays of an entry are: for each body a force for each of six mobilities, the inverse
// inertia felt there, its number and its parent's.
typedef struct room {
    double *forces;
    tal_abi *felt;
    int *body, *parent;
} room;

size_t tali_term_fixman_size(int num_bodies)
{
    const size_t one = 6 * sizeof(double) + sizeof(tal_abi) + 2 * sizeof(int);
    return sizeof(fixman) + (size_t)num_bodies * one;
}

static room room_of(const fixman *it, int num_bodies)
{
    const size_t n = (size_t)num_bodies;
    room in;
    in.forces = (double *)(void *)(it + 1);
    in.felt = (tal_abi *)(void *)(in.forces + 6 * n);
    in.body = (int *)(void *)(in.felt + n);
    in.parent = in.body + n;
    return in;
}

// ---- energy and forces

// What a bond length that moves takes from the potential, in R T; its force is added.
static double measure(const tal_mol_instance *instance, const tal_state *state, int b, double RT,
                      double f[6])
{
    const tali_term_body *body = &instance->bodies[b];
    const tal_bond_mobility kind = body->joint.mobility;
    if (kind != TAL_BOND_CYLINDER && kind != TAL_BOND_SLIDER) return 0.0;
    const int slide = kind == TAL_BOND_CYLINDER ? 1 : 0;
    const tal_vec3 i = instance->mol->atoms[body->joint.atoms[0]].x;
    const tal_vec3 j = instance->mol->atoms[body->joint.atoms[1]].x;
    const double q = tal_body_q(instance->matter, state, (tal_body_ix){body->body}, slide);
    const double r = tal_v3_norm(tal_v3_sub(j, i)) + q;
    f[slide] += RT * 2.0 / r;
    return 2.0 * log(r);
}

tal_status tali_term_calc_fixman(const void *self, const tal_system *system, tal_state *state,
                                 void *value)
{
    const tal_mol_instance *instance = self;
    const int n = instance->statistics.num_bodies;
    const double *T = tal_var_value(system, state, instance->temperature);
    const double RT = TAL_MOL_R * *T;
    fixman *it = value;
    const room in = room_of(it, n);
    for (int b = 0; b < n; ++b) {
        in.body[b] = instance->bodies[b].body;
        in.parent[b] = instance->bodies[b].parent;
    }
    const tali_matter_branch branch = {in.body, in.parent, n};
    double log_det = 0.0;
    const tal_status st =
        tali_matter_calc_log_det(instance->matter, state, &branch, in.felt, &log_det, in.forces);
    it->energy = 0.5 * RT * log_det;
    for (int b = 0; b < n && st == TAL_OK; ++b) {
        double *f = in.forces + 6 * (size_t)b;
        for (int k = 0; k < 6; ++k) {
            f[k] *= 0.5 * RT;
        }
        if (in.parent[b] >= 0) it->energy -= RT * measure(instance, state, b, RT, f);
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
    const double *forces = room_of(it, instance->statistics.num_bodies).forces;
    for (int b = 0; b < instance->statistics.num_bodies; ++b) {
        const tal_body_ix body = {instance->bodies[b].body};
        const int start = tal_body_u_start(instance->matter, body);
        for (int k = 0; k < tal_body_nu(instance->matter, body); ++k) {
            f[start + k] += forces[6 * (size_t)b + (size_t)k];
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
