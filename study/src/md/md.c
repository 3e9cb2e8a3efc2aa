// Molecular dynamics: creation, one step from its parts, what a State says of a run.
#include "md/md_internal.h"
#include "problem/study_internal.h"

#include <talus/matter/operators.h>
#include <talus/matter/prescribed.h>
#include <talus/matter/response.h>

#include <math.h>
#include <string.h>

tal_md_def tal_md_def_default(void)
{
    return (tal_md_def){.friction = 1.0,
                        .relaxation_time = 0.1,
                        .chain_length = 3,
                        .trajectory = 10,
                        .tolerance = 1e-13,
                        .most_rounds = 50};
}

// ---- creation

// What is wrong with the numbers of a bath; the last flaw is told.
static tal_status check_bath(const tal_md_def *def, tal_error *err)
{
    const bool has_time = def->bath == TAL_MD_CHAIN || def->bath == TAL_MD_RESCALE;
    const char *flaw = NULL;
    if ((int)def->bath < 0 || def->bath > TAL_MD_SAMPLE) flaw = "there is no such bath";
    if (!(isfinite(def->kT) && def->kT >= 0.0)) flaw = "kT must be finite and not negative";
    if (!(isfinite(def->friction) && def->friction >= 0.0)) flaw = "friction is negative";
    if (has_time && !(isfinite(def->relaxation_time) && def->relaxation_time > 0.0)) {
        flaw = "relaxation_time must be positive";
    }
    if (def->bath == TAL_MD_CHAIN && !(def->kT > 0.0)) flaw = "a chain needs a positive kT";
    if (def->bath == TAL_MD_SAMPLE && !(def->kT > 0.0)) flaw = "sampling needs a positive kT";
    if (def->bath == TAL_MD_SAMPLE && def->still_every > 0) {
        flaw = "sampling keeps no momentum zero";
    }
    if (def->trajectory < 1) flaw = "trajectory must be positive";
    if ((int)def->drift < 0 || def->drift > TAL_MD_SYMPLECTIC) flaw = "there is no such drift";
    if (def->chain_length < 1 || def->chain_length > TAL_MAX_CHAIN) flaw = "chain_length is off";
    if (flaw == NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "molecular dynamics: %s (bath %d, kT %g, friction %g, relaxation_time %g, "
                     "chain_length %d of at most %d, trajectory %d)",
                     flaw, (int)def->bath, def->kT, def->friction, def->relaxation_time,
                     def->chain_length, TAL_MAX_CHAIN, def->trajectory);
}

static tal_status check_def(const tal_md_def *def, tal_error *err)
{
    if (!(isfinite(def->step) && def->step > 0.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "step of molecular dynamics is %g: it must be positive and finite",
                         def->step);
    }
    if (def->still_every < 0 || def->most_rounds < 1 ||
        !(isfinite(def->tolerance) && def->tolerance >= 0.0) ||
        !(isfinite(def->excluded) && def->excluded >= 0.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "molecular dynamics: still_every %d, excluded %g and tolerance %g may not "
                         "be negative, and most_rounds %d must be positive",
                         def->still_every, def->excluded, def->tolerance, def->most_rounds);
    }
    return check_bath(def, err);
}

// A drift knows q and u of matter and nothing else.
static tal_status check_system(const tal_system *system, tal_error *err)
{
    const tal_matter *matter = tal_system_matter(system);
    const char *flaw = NULL;
    if (tal_system_pool_capacity(system, TAL_POOL_UDOTERR) > 0) flaw = "constraints";
    if (tal_matter_num_motions(matter) > 0) flaw = "prescribed motions";
    if (tal_system_pool_capacity(system, TAL_POOL_Z) > 0) flaw = "variables z, as baths have";
    if (tal_matter_num_colliders(matter) > 0) flaw = "colliders";
    if (flaw == NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "molecular dynamics does not know %s, which System '%s' has: use an "
                     "integrator",
                     flaw, tal_system_name(system));
}

// Whether every body on Ground can follow a rigid motion.
static tal_status check_roots(const tal_matter *matter, const tal_md_def *def, tal_error *err)
{
    for (int b = 1; def->still_every > 0 && b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        if (tal_body_parent(matter, body).i != 0) continue;
        const int nu = tal_body_nu(matter, body), needed = def->still_turning ? 5 : 3;
        if (nu >= needed) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the momentum of the whole cannot be removed: body '%s' on Ground has %d "
                         "mobilities, %d are needed; set still_every or still_turning to zero",
                         tal_body_name(matter, body), nu, needed);
    }
    return TAL_OK;
}

// One block for the struct and all arrays.
static tal_md *make(const tal_system *system, const tal_md_def *def)
{
    const tal_matter *matter = tal_system_matter(system);
    const int nb = tal_matter_num_bodies(matter);
    tal_md it = {.allocator = tal_system_allocator(system),
                 .system = system,
                 .matter = matter,
                 .def = *def,
                 .nq = tal_system_pool_capacity(system, TAL_POOL_Q),
                 .nu = tal_system_pool_capacity(system, TAL_POOL_U),
                 .num_bodies = nb};
    tal_md *md = NULL;
    const size_t nq = (size_t)it.nq, nu = (size_t)it.nu, d = sizeof(double);
    const tali_piece pieces[] = {{&md, sizeof *md},
                                 {&it.bodies, (size_t)nb * sizeof *it.bodies},
                                 {&it.F_GB, (size_t)nb * sizeof *it.F_GB},
                                 {&it.f, nu * d},
                                 {&it.g, nu * d},
                                 {&it.udot, nu * d},
                                 {&it.a, nu * d},
                                 {&it.q0, nq * d},
                                 {&it.q1, nq * d},
                                 {&it.u0, nu * d},
                                 {&it.u1, nu * d},
                                 {&it.p, nu * d},
                                 {&it.theta, nu * d},
                                 {&it.residual, nu * d},
                                 {&it.history, TALI_MD_ROUNDS * nu * d},
                                 {&it.kept_q, nq * d},
                                 {&it.kept_u, nu * d},
                                 {&it.kept_a, nu * d}};
    if (tali_alloc_pieces(&it.allocator, pieces, sizeof pieces / sizeof pieces[0], &it.size) ==
        NULL) {
        return NULL;
    }
    *md = it;
    return md;
}

tal_status tal_md_create(const tal_system *system, const tal_md_def *def, tal_md **out,
                         tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    tal_md_def chosen = def != NULL ? *def : tal_md_def_default();
    if (chosen.bath == TAL_MD_SAMPLE) chosen.drift = TAL_MD_SYMPLECTIC;
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st == TAL_OK) st = check_def(&chosen, err);
    if (st == TAL_OK) st = check_system(system, err);
    if (st == TAL_OK) st = check_roots(tal_system_matter(system), &chosen, err);
    if (st == TAL_OK && chosen.drift == TAL_MD_SYMPLECTIC) {
        st = tali_md_check_symplectic(tal_system_matter(system), err);
    }
    if (st != TAL_OK) return st;
    *out = make(system, &chosen);
    if (*out != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for molecular dynamics");
}

void tal_md_destroy(tal_md *md)
{
    if (md == NULL) return;
    const tal_allocator allocator = md->allocator;
    tali_free(&allocator, md, md->size);
}

const tal_error *tal_md_error(const tal_md *md)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_md_error", "molecular dynamics is NULL"};
    return md != NULL ? &md->error : &none;
}

// ---- a step

tal_status tali_md_pass_on(tal_md *md, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return st;
    return TALI_FAIL(&md->error, st, "%s", tali_problem_reason(state, st));
}

// a = M^-1 f(q): what forces do without what speeds do.
static tal_status find_accelerations(tal_md *md, tal_state *state)
{
    tal_status st = tal_system_realize(md->system, state, TAL_STAGE_DYNAMICS);
    if (st == TAL_OK) st = tal_matter_calc_applied_forces(md->matter, state, md->F_GB, md->f);
    if (st == TAL_OK) st = tal_matter_mul_JT(md->matter, state, md->F_GB, md->g);
    for (int i = 0; i < md->nu && st == TAL_OK; ++i) {
        md->g[i] += md->f[i];
    }
    if (st == TAL_OK) st = tal_matter_mul_Minv(md->matter, state, md->g, md->a);
    return tali_md_pass_on(md, state, st);
}

static void kick(tal_md *md, tal_state *state)
{
    double *u = tal_state_upd_u(state);
    for (int i = 0; i < md->nu; ++i) {
        u[i] += 0.5 * md->def.step * md->a[i];
    }
}

static tal_status drift(tal_md *md, tal_state *state, double h)
{
    return md->def.drift == TAL_MD_SYMPLECTIC ? tali_md_drift_symplectic(md, state, h)
                                              : tali_md_drift(md, state, h);
}

tal_status tali_md_leap(tal_md *md, tal_state *state, double h)
{
    kick(md, state);
    tal_status st = drift(md, state, h);
    if (st == TAL_OK) st = tal_state_set_t(state, tal_state_t(state) + h);
    if (st == TAL_OK) st = find_accelerations(md, state);
    if (st == TAL_OK) kick(md, state);
    return st;
}

// The accelerations are those of q when it begins, and when it ends.
static tal_status step(tal_md *md, tal_state *state)
{
    if (md->def.bath == TAL_MD_SAMPLE) return tali_md_propose(md, state);
    const double h = md->def.step;
    const bool has_middle = md->def.bath == TAL_MD_LANGEVIN || md->def.bath == TAL_MD_RESCALE;
    tal_status st = TAL_OK;
    if (md->def.still_every > 0 && md->memory.steps % md->def.still_every == 0) {
        st = tali_md_still(md, state);
    }
    if (st == TAL_OK && md->def.bath == TAL_MD_CHAIN) st = tali_md_turn_chain(md, state);
    if (st == TAL_OK && has_middle) {
        kick(md, state);
        st = drift(md, state, 0.5 * h);
        if (st == TAL_OK) st = tali_md_bathe(md, state);
        if (st == TAL_OK) st = drift(md, state, 0.5 * h);
        if (st == TAL_OK) st = tal_state_set_t(state, tal_state_t(state) + h);
        if (st == TAL_OK) st = find_accelerations(md, state);
        if (st == TAL_OK) kick(md, state);
    } else if (st == TAL_OK) {
        st = tali_md_leap(md, state, h);
    }
    if (st == TAL_OK && md->def.bath == TAL_MD_CHAIN) st = tali_md_turn_chain(md, state);
    if (st == TAL_OK) ++md->memory.steps;
    return st;
}

static tal_status check_state(tal_md *md, const tal_state *state)
{
    for (int b = 1; b < md->num_bodies; ++b) {
        const tal_body_ix body = {b};
        bool is_locked = false;
        for (int k = 0; k < tal_body_nu(md->matter, body); ++k) {
            const tal_mobility mobility = {body, k};
            const tal_level level = tal_mobility_lock_level(md->matter, state, mobility);
            is_locked = is_locked || level != TAL_LEVEL_FREE;
        }
        if (!is_locked) continue;
        return TALI_FAIL(&md->error, TAL_ERR_BAD_VALUE,
                         "molecular dynamics does not know locks: unlock body '%s'",
                         tal_body_name(md->matter, body));
    }
    if (tal_state_nq(state) == md->nq && tal_state_nu(state) == md->nu) return TAL_OK;
    return TALI_FAIL(&md->error, TAL_ERR_BAD_VALUE,
                     "molecular dynamics does not know orientations as angles in place of "
                     "quaternions: the State has %d coordinates, %d are expected",
                     tal_state_nq(state), md->nq);
}

tal_status tal_md_run(tal_md *md, tal_state *state, int steps)
{
    if (md == NULL) return TALI_BREACH(TAL_ERR_NULL, "molecular dynamics is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    if (tal_state_structure_hash(state) != tal_system_structure_hash(md->system)) {
        return TALI_BREACH(TAL_ERR_WRONG_SYSTEM, "the State is of another System");
    }
    md->error = (tal_error){TAL_OK, "", ""};
    if (steps < 0) {
        return TALI_FAIL(&md->error, TAL_ERR_BAD_VALUE, "%d steps: there are none below zero",
                         steps);
    }
    tal_status st = tal_system_realize(md->system, state, TAL_STAGE_INSTANCE);
    st = st == TAL_OK ? check_state(md, state) : tali_md_pass_on(md, state, st);
    if (st == TAL_OK && steps > 0) st = find_accelerations(md, state);
    for (int i = 0; i < steps && st == TAL_OK; ++i) {
        st = step(md, state);
    }
    if (st != TAL_OK) return st;
    return tali_md_pass_on(md, state, tal_system_realize(md->system, state, TAL_STAGE_VELOCITY));
}

// ---- reading

tal_md_memory tal_md_memory_of(const tal_md *md)
{
    const tal_md_memory none = {0};
    if (md != NULL) return md->memory;
    (void)TALI_BREACH(TAL_ERR_NULL, "molecular dynamics is NULL");
    return none;
}

tal_status tal_md_set_memory(tal_md *md, const tal_md_memory *memory)
{
    if (md == NULL || memory == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "molecular dynamics or its memory is NULL");
    }
    bool is_good = memory->steps >= 0 && isfinite(memory->heat) && memory->accepted >= 0 &&
                   memory->accepted <= memory->steps;
    for (int i = 0; i < TAL_MAX_CHAIN; ++i) {
        is_good = is_good && isfinite(memory->c[i]) && isfinite(memory->s[i]);
    }
    if (!is_good) {
        return TALI_FAIL(&md->error, TAL_ERR_BAD_VALUE,
                         "memory of a bath: %lld steps may not be negative, nor %lld accepted ones "
                         "be more, and heat and chain must be finite",
                         (long long)memory->steps, (long long)memory->accepted);
    }
    md->memory = *memory;
    return TAL_OK;
}

tal_md_report tal_md_report_of(tal_md *md, tal_state *state)
{
    tal_md_report out = {TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, 0, TALI_NAN};
    if (md == NULL || state == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "molecular dynamics or the State is NULL");
        return out;
    }
    if (tal_system_realize(md->system, state, TAL_STAGE_DYNAMICS) != TAL_OK) return out;
    out.t = tal_state_t(state);
    out.kinetic = tal_matter_kinetic_energy(md->matter, state);
    out.potential = tal_system_potential_energy(md->system, state);
    out.dof = tali_md_dof(md);
    out.kT = 2.0 * out.kinetic / out.dof;
    out.rounds = md->rounds;
    out.accepted = md->def.bath == TAL_MD_SAMPLE && md->memory.steps > 0
                       ? (double)md->memory.accepted / (double)md->memory.steps
                       : 1.0;
    out.conserved = out.kinetic + out.potential - md->memory.heat;
    if (md->def.bath == TAL_MD_CHAIN) out.conserved += tali_md_chain_energy(md);
    return out;
}
