// Velocities at a temperature: random momenta of atoms, taken along the speeds.
#include "term/instance_internal.h"

#include <talus/common/random.h>
#include <talus/matter/operators.h>
#include <talus/molecule/velocity.h>

#include <math.h>

// Called while the topology is realized, when matter does not know its speeds yet; its bodies do.
size_t tali_term_speeds_size(const tal_matter *matter)
{
    const int nb = tal_matter_num_bodies(matter);
    size_t nu = 0;
    for (int b = 1; b < nb; ++b) {
        nu += (size_t)tal_body_nu(matter, (tal_body_ix){b});
    }
    return (size_t)nb * sizeof(tal_spatial_vec) + 2 * nu * sizeof(double);
}

static tal_vec3 random_vector(tal_random *random)
{
    const double x = tal_random_normal(random), y = tal_random_normal(random);
    return tal_v3(x, y, tal_random_normal(random));
}

// A random momentum of every atom, about the origin of its body: covariance R T times its spatial
// inertia. An atom that is a sphere has angular momentum of its own.
static void draw_momenta(const tal_mol_instance *instance, const tal_state *state, double kT,
                         uint64_t seed, tal_spatial_vec p_GB[])
{
    const tal_mol *mol = instance->mol;
    const tal_vec3 zero = {0.0, 0.0, 0.0};
    for (int a = 0; a < mol->num_atoms; ++a) {
        const int body = instance->bodies[instance->body[a]].body;
        const tal_xform X_GB = tal_body_X_GB(instance->matter, state, (tal_body_ix){body});
        const tal_vec3 arm = tal_m3_mul_v3(X_GB.R, instance->station[a]);
        const double own = tali_mol_atom_mass_props(mol, a, zero).inertia.xx;
        tal_random random = {seed, (uint64_t)a, 0};
        const tal_vec3 p = tal_v3_scale(sqrt(kT * mol->atoms[a].mass), random_vector(&random));
        tal_vec3 L = tal_v3_cross(arm, p);
        if (own > 0.0) L = tal_v3_axpy(sqrt(kT * own), random_vector(&random), L);
        p_GB[body] = tal_sv_add(p_GB[body], tal_sv(L, p));
    }
}

// Write the speeds of the bodies of a molecule; others stay.
static tal_status take_speeds(const tal_mol_instance *instance, tal_state *state, const double u[])
{
    tal_status st = TAL_OK;
    for (int b = 0; b < instance->statistics.num_bodies && st == TAL_OK; ++b) {
        const tal_body_ix body = {instance->bodies[b].body};
        const int nu = tal_body_nu(instance->matter, body);
        st = tal_body_set_all_u(instance->matter, state, body,
                                u + tal_body_u_start(instance->matter, body), nu);
    }
    return st;
}

tal_status tal_mol_set_random_velocities(const tal_mol_instance *instance, tal_state *state,
                                         double temperature, uint64_t seed)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_POSITION, __func__, &st)) return st;
    if (!(isfinite(temperature) && temperature >= 0.0)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "molecule '%s': the temperature is %g K; it may not be negative",
                                tal_force_name(instance->forces, instance->me), temperature);
    }
    const int nb = tal_matter_num_bodies(instance->matter), nu = tal_matter_nu(instance->matter);
    tal_spatial_vec *p_GB = tal_cache_upd(instance->system, state, instance->speeds);
    if (p_GB == NULL) return tal_contract_last()->status;
    double *p = (double *)(void *)(p_GB + nb), *u = p + nu;
    memset(p_GB, 0, (size_t)nb * sizeof p_GB[0]);
    draw_momenta(instance, state, TAL_MOL_R * temperature, seed, p_GB);
    st = tal_matter_mul_JT(instance->matter, state, p_GB, p);
    if (st == TAL_OK) st = tal_matter_mul_Minv(instance->matter, state, p, u);
    return st == TAL_OK ? take_speeds(instance, state, u) : st;
}

double tal_mol_calc_temperature(const tal_mol_instance *instance, tal_state *state, int removed)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_VELOCITY, __func__, &st)) return TALI_NAN;
    const double N = (double)instance->statistics.nu - removed;
    if (!(N > 0.0)) return TALI_NAN;
    double twice = 0.0;
    for (int b = 0; b < instance->statistics.num_bodies; ++b) {
        const tal_body_ix body = {instance->bodies[b].body};
        const tal_spatial_inertia M = tal_body_spatial_inertia(instance->matter, state, body);
        const tal_spatial_vec V = tal_body_V_GB(instance->matter, state, body);
        twice += 2.0 * tal_spatial_inertia_energy(M, V);
    }
    return twice / (N * TAL_MOL_R);
}
