// Generalized hybrid Monte Carlo: some steps by a rule that keeps volumes and can be turned around,
// then they count or do not, by Metropolis' rule (HOR). Where they do not, speeds are turned
// around.
#include "md/md_internal.h"

#include <talus/common/random.h>

#include <math.h>
#include <string.h>

// Potential and kinetic energy; the State is at stage Dynamics for its q.
static tal_status find_energy(tal_md *md, tal_state *state, double *energy)
{
    const tal_status st = tal_system_realize(md->system, state, TAL_STAGE_DYNAMICS);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    *energy = tal_matter_kinetic_energy(md->matter, state) +
              tal_system_potential_energy(md->system, state);
    return TAL_OK;
}

// A number between 0 and 1 of this proposal: its stream is that behind all bodies.
static double draw(const tal_md *md)
{
    tal_random random = {md->def.seed, (uint64_t)md->memory.steps, (uint64_t)md->num_bodies << 32};
    return tal_random_uniform(&random);
}

static void turn_around(tal_md *md, tal_state *state)
{
    memcpy(tal_state_upd_q(state), md->kept_q, (size_t)md->nq * sizeof md->kept_q[0]);
    memcpy(md->a, md->kept_a, (size_t)md->nu * sizeof md->kept_a[0]);
    double *u = tal_state_upd_u(state);
    for (int i = 0; i < md->nu; ++i) {
        u[i] = -md->kept_u[i];
    }
}

tal_status tali_md_propose(tal_md *md, tal_state *state)
{
    const double h = md->def.step;
    double before = 0.0, after = 0.0;
    tal_status st = tali_md_mix_with_noise(md, state, h * md->def.trajectory);
    if (st == TAL_OK) st = find_energy(md, state, &before);
    if (st != TAL_OK) return st;
    memcpy(md->kept_q, tal_state_q(state), (size_t)md->nq * sizeof md->kept_q[0]);
    memcpy(md->kept_u, tal_state_u(state), (size_t)md->nu * sizeof md->kept_u[0]);
    memcpy(md->kept_a, md->a, (size_t)md->nu * sizeof md->kept_a[0]);
    for (int i = 0; i < md->def.trajectory && st == TAL_OK; ++i) {
        st = tali_md_leap(md, state, h);
    }
    if (st == TAL_OK) st = find_energy(md, state, &after);
    if (st != TAL_OK) return st;
    // min(1, e^-x) > r; NaN and infinity do not count
    if (draw(md) < exp((before - after) / md->def.kT)) {
        ++md->memory.accepted;
    } else {
        turn_around(md, state);
    }
    ++md->memory.steps;
    return TAL_OK;
}
