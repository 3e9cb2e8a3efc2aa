// Baths: noise and friction, canonical rescaling, Nose-Hoover chains.
#include "md/md_internal.h"

#include <talus/common/random.h>
#include <talus/matter/operators.h>
#include <talus/matter/response.h>

#include <math.h>
#include <string.h>

double tali_md_dof(const tal_md *md)
{
    return (double)md->nu - md->def.excluded;
}

static void scale_speeds(const tal_md *md, tal_state *state, double factor)
{
    double *u = tal_state_upd_u(state);
    for (int i = 0; i < md->nu; ++i) {
        u[i] *= factor;
    }
}

// ---- Langevin

// A diag(sqrt(lambda)) with the axes A and the eigenvalues of an inertia.
static tal_mat3 root_of(tal_sym3 inertia)
{
    tal_mat3 A;
    const tal_vec3 lambda = tal_s3_eigen(inertia, &A);
    return tal_m3(tal_v3_scale(sqrt(fmax(lambda.x, 0.0)), A.x),
                  tal_v3_scale(sqrt(fmax(lambda.y, 0.0)), A.y),
                  tal_v3_scale(sqrt(fmax(lambda.z, 0.0)), A.z));
}

static tal_vec3 random_vector(tal_random *random)
{
    const double x = tal_random_normal(random), y = tal_random_normal(random);
    return tal_v3(x, y, tal_random_normal(random));
}

static bool is_same(tal_mass_props a, tal_mass_props b)
{
    const tal_sym3 I = a.inertia, J = b.inertia;
    return a.mass == b.mass && a.com.x == b.com.x && a.com.y == b.com.y && a.com.z == b.com.z &&
           I.xx == J.xx && I.yy == J.yy && I.zz == J.zz && I.xy == J.xy && I.xz == J.xz &&
           I.yz == J.yz;
}

// A random momentum of a body about Bo, of covariance its spatial inertia.
static tal_spatial_vec random_momentum(tal_md *md, const tal_state *state, tal_body_ix body,
                                       tal_random *random)
{
    tali_md_body *mine = &md->bodies[body.i];
    const tal_mass_props mass = tal_body_mass_props(md->matter, state, body);
    if (!is_same(mass, mine->mass)) {
        mine->mass = mass;
        mine->root = root_of(tal_mass_props_central_inertia(mass));
    }
    const tal_mat3 R = tal_body_X_GB(md->matter, state, body).R;
    const tal_vec3 p = tal_v3_scale(sqrt(mass.mass), random_vector(random));
    const tal_vec3 h = tal_m3_mul_v3(R, tal_m3_mul_v3(mine->root, random_vector(random)));
    return tal_sv(tal_v3_add(h, tal_v3_cross(tal_m3_mul_v3(R, mass.com), p)), p);
}

// Momenta along the speeds, of covariance M: J^T takes them there; rotors have their own.
static tal_status draw_momenta(tal_md *md, tal_state *state, double p[])
{
    md->F_GB[0] = tal_sv(TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    memset(md->g, 0, (size_t)md->nu * sizeof md->g[0]);
    for (int b = 1; b < md->num_bodies; ++b) {
        const tal_body_ix body = {b};
        tal_random random = {md->def.seed, (uint64_t)md->memory.steps, (uint64_t)b << 32};
        md->F_GB[b] = random_momentum(md, state, body, &random);
        const double rotor = tal_body_rotor_inertia(md->matter, state, body);
        if (!(rotor > 0.0)) continue;
        md->g[tal_body_u_start(md->matter, body)] = sqrt(rotor) * tal_random_normal(&random);
    }
    const tal_status st = tal_matter_mul_JT(md->matter, state, md->F_GB, p);
    for (int i = 0; i < md->nu && st == TAL_OK; ++i) {
        p[i] += md->g[i];
    }
    return st;
}

tal_status tali_md_mix_with_noise(tal_md *md, tal_state *state, double time)
{
    const double keep = exp(-md->def.friction * time);
    const double size = sqrt(md->def.kT * (1.0 - keep * keep));
    tal_status st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    const double before = tal_matter_kinetic_energy(md->matter, state);
    st = draw_momenta(md, state, md->f);
    if (st == TAL_OK) st = tal_matter_mul_Minv(md->matter, state, md->f, md->udot);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    double *u = tal_state_upd_u(state);
    for (int i = 0; i < md->nu; ++i) {
        u[i] = keep * u[i] + size * md->udot[i];
    }
    st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    md->memory.heat += tal_matter_kinetic_energy(md->matter, state) - before;
    return TAL_OK;
}

// ---- rescaling

// BDP eq. A7: with c = e^(-h/tau), R of N normal numbers, K' = N kT/2,
//     a^2 = c + K'/(N K) (1 - c) sum R_i^2 + 2 R_1 sqrt(c (1 - c) K'/(N K)),
// and a has the sign of R_1 + sqrt(c N K/((1 - c) K')).
static tal_status rescale(tal_md *md, tal_state *state)
{
    const tal_status st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    const double K = tal_matter_kinetic_energy(md->matter, state);
    const double c = exp(-md->def.step / md->def.relaxation_time);
    const double share = 0.5 * md->def.kT / K; // K'/(N K)
    if (!(K > 0.0)) return TAL_OK;             // nothing to multiply
    tal_random random = {md->def.seed, (uint64_t)md->memory.steps, 0};
    const double first = tal_random_normal(&random);
    double sum = first * first;
    for (int i = 1; i < (int)tali_md_dof(md); ++i) {
        const double r = tal_random_normal(&random);
        sum += r * r;
    }
    const double square = c + share * (1.0 - c) * sum + 2.0 * first * sqrt(c * (1.0 - c) * share);
    const double sign = first + sqrt(c / ((1.0 - c) * share)) < 0.0 ? -1.0 : 1.0;
    scale_speeds(md, state, sign * sqrt(fmax(square, 0.0)));
    md->memory.heat += (fmax(square, 0.0) - 1.0) * K;
    return TAL_OK;
}

tal_status tali_md_bathe(tal_md *md, tal_state *state)
{
    if (md->def.bath == TAL_MD_LANGEVIN) return tali_md_mix_with_noise(md, state, md->def.step);
    if (md->def.bath == TAL_MD_RESCALE) return rescale(md, state);
    return TAL_OK;
}

// ---- Nose-Hoover chains

/// Weights of Suzuki and Yoshida of order 6: seven steps in place of one.
static const double WEIGHTS[7] = {0.784513610477560,  0.235573213359357, -1.17767998417887,
                                  1.3151863206839063, -1.17767998417887, 0.235573213359357,
                                  0.784513610477560};

// What drives link i, with the kinetic energy as it is now.
static double drive(const tal_md *md, int i, double kinetic)
{
    const double per_tau2 = 1.0 / (md->def.relaxation_time * md->def.relaxation_time);
    const double *c = md->memory.c, N = tali_md_dof(md);
    if (i == 0) return (2.0 * kinetic / (N * md->def.kT) - 1.0) * per_tau2;
    return (i == 1 ? N : 1.0) * c[i - 1] * c[i - 1] - per_tau2;
}

// A link over a time d: driven, and slowed by the next one.
static void turn_link(tal_md *md, int i, double d, double kinetic)
{
    double *c = md->memory.c;
    const double slow = i + 1 < md->def.chain_length ? exp(-0.5 * d * c[i + 1]) : 1.0;
    c[i] = (c[i] * slow + d * drive(md, i, kinetic)) * slow;
}

// MTKT sec. 4.2.1: the chain from its end to its start, the speeds, and back to its end.
tal_status tali_md_turn_chain(tal_md *md, tal_state *state)
{
    const tal_status st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    const double before = tal_matter_kinetic_energy(md->matter, state);
    double factor = 1.0;
    for (int w = 0; w < 7; ++w) {
        const double d = 0.5 * md->def.step * WEIGHTS[w];
        for (int i = md->def.chain_length - 1; i >= 0; --i) {
            turn_link(md, i, 0.5 * d, factor * factor * before);
        }
        factor *= exp(-d * md->memory.c[0]);
        for (int i = 0; i < md->def.chain_length; ++i) {
            md->memory.s[i] += d * md->memory.c[i];
        }
        for (int i = 0; i < md->def.chain_length; ++i) {
            turn_link(md, i, 0.5 * d, factor * factor * before);
        }
    }
    scale_speeds(md, state, factor);
    return TAL_OK;
}

double tali_md_chain_energy(const tal_md *md)
{
    const double tau2 = md->def.relaxation_time * md->def.relaxation_time;
    const tal_md_memory *m = &md->memory;
    double sum = 0.0;
    for (int i = 0; i < md->def.chain_length; ++i) {
        sum += (i == 0 ? tali_md_dof(md) : 1.0) * (0.5 * tau2 * m->c[i] * m->c[i] + m->s[i]);
    }
    return md->def.kT * sum;
}
