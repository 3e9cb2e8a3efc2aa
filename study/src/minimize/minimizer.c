// Minimizing energy: creation, a line search, and the search as a whole.
#include "array_internal.h"

#include "minimize/minimizer_internal.h"
#include "problem/study_internal.h"

#include <talus/matter/operators.h>
#include <talus/matter/prescribed.h>

#include <math.h>
#include <string.h>

// The conditions of Wolfe: how much of the slope a step must gain, and how much of it may be left.
static const double GAIN = 1e-4, LEFT = 0.9;

// Steps that are tried in one direction.
enum {
    MOST_TRIALS = 40
};

// Round-off of an energy that is a sum of many terms, as a part of it: smaller differences are
// noise.
static const double NOISE = 1e-10;

tal_minimizer_def tal_minimizer_def_default(void)
{
    return (tal_minimizer_def){.tolerance = 1e-6, .longest_move = 0.02, .memory = 10};
}

// ---- creation

static tal_status check_def(const tal_minimizer_def *def, tal_error *err)
{
    if (isfinite(def->tolerance) && def->tolerance > 0.0 && isfinite(def->longest_move) &&
        def->longest_move > 0.0 && def->memory >= 1 && def->memory <= TAL_MAX_MINIMIZER_MEMORY) {
        return TAL_OK;
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "minimizer: tolerance %g and longest_move %g must be positive and finite, and "
                     "memory %d from 1 to %d",
                     def->tolerance, def->longest_move, def->memory, TAL_MAX_MINIMIZER_MEMORY);
}

static tal_status check_system(const tal_system *system, tal_error *err)
{
    const tal_matter *matter = tal_system_matter(system);
    const char *flaw = NULL;
    if (tal_system_pool_capacity(system, TAL_POOL_UDOTERR) > 0) flaw = "constraints";
    if (tal_matter_num_motions(matter) > 0) flaw = "prescribed motions";
    if (flaw == NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "a minimizer does not know %s, which System '%s' has: use tal_equilibrium",
                     flaw, tal_system_name(system));
}

// One block for the struct and all arrays.
static tal_minimizer *make(const tal_system *system, const tal_minimizer_def *def)
{
    const tal_matter *matter = tal_system_matter(system);
    const int nb = tal_matter_num_bodies(matter);
    tal_minimizer it = {.allocator = tal_system_allocator(system),
                        .system = system,
                        .matter = matter,
                        .def = *def,
                        .nq = tal_system_pool_capacity(system, TAL_POOL_Q),
                        .nu = tal_system_pool_capacity(system, TAL_POOL_U),
                        .num_bodies = nb};
    it.past.n = it.nu;
    it.past.memory = def->memory;
    tal_minimizer *m = NULL;
    const size_t d = sizeof(double), nq = (size_t)it.nq * d, nu = (size_t)it.nu * d;
    const size_t memory = (size_t)def->memory;
    const tali_piece pieces[] = {{&m, sizeof *m},
                                 {&it.radius, (size_t)nb * d},
                                 {&it.com, (size_t)nb * sizeof *it.com},
                                 {&it.F_GB, (size_t)nb * sizeof *it.F_GB},
                                 {&it.V_GB, (size_t)nb * sizeof *it.V_GB},
                                 {&it.f, nu},
                                 {&it.d, nu},
                                 {&it.work, nu},
                                 {&it.dq, nq},
                                 {&it.here.q, nq},
                                 {&it.here.g, nu},
                                 {&it.next.q, nq},
                                 {&it.next.g, nu},
                                 {&it.past.s, memory * nu},
                                 {&it.past.y, memory * nu},
                                 {&it.past.rho, memory * d},
                                 {&it.past.alpha, memory * d}};
    if (tali_alloc_pieces(&it.allocator, pieces, sizeof pieces / sizeof pieces[0], &it.size) ==
        NULL) {
        return NULL;
    }
    *m = it;
    return m;
}

tal_status tal_minimizer_create(const tal_system *system, const tal_minimizer_def *def,
                                tal_minimizer **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    const tal_minimizer_def chosen = def != NULL ? *def : tal_minimizer_def_default();
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st == TAL_OK) st = check_def(&chosen, err);
    if (st == TAL_OK) st = check_system(system, err);
    if (st != TAL_OK) return st;
    *out = make(system, &chosen);
    if (*out != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a minimizer");
}

void tal_minimizer_destroy(tal_minimizer *minimizer)
{
    if (minimizer == NULL) return;
    const tal_allocator allocator = minimizer->allocator;
    tali_free(&allocator, minimizer, minimizer->size);
}

const tal_error *tal_minimizer_error(const tal_minimizer *minimizer)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_minimizer_error", "the minimizer is NULL"};
    return minimizer != NULL ? &minimizer->error : &none;
}

// ---- a step

// q of the place a step of alpha along d leads to, in m->dq; the State must be where it begins.
static tal_status find_place(tal_minimizer *m, tal_state *state, double alpha)
{
    const tal_status st = tal_matter_mul_N(m->matter, state, TAL_N, m->d, m->dq);
    if (st != TAL_OK) return st;
    for (int i = 0; i < m->nq; ++i) {
        m->dq[i] = m->here.q[i] + alpha * m->dq[i];
    }
    return TAL_OK;
}

// Put the State where the search is.
static tal_status go_back(tal_minimizer *m, tal_state *state)
{
    memcpy(tal_state_upd_q(state), m->here.q, (size_t)m->nq * sizeof m->here.q[0]);
    return tal_system_realize(m->system, state, TAL_STAGE_DYNAMICS);
}

// A step along d that meets the conditions of Wolfe, by bisection; `next` is where it leads, and
// the State is there. Differences of the energy below its noise count as none: the slope decides
// then. 0: there is no such step.
static tal_status search_line(tal_minimizer *m, tal_state *state, double *alpha)
{
    const double slope = tali_array_dot(m->d, m->here.g, m->nu);
    double low = 0.0, high = (double)INFINITY, most, trial = 1.0;
    tal_status st = tali_minimizer_reach(m, state, &most);
    if (m->past.num == 0 || trial > most) trial = most;
    *alpha = 0.0;
    for (int k = 0; k < MOST_TRIALS && st == TAL_OK; ++k) {
        st = find_place(m, state, trial);
        if (st != TAL_OK) return st;
        const bool is_there = tali_minimizer_evaluate(m, state, m->dq, &m->next);
        const double noise = NOISE * (fabs(m->here.energy) + 1.0);
        const double after = is_there ? tali_array_dot(m->d, m->next.g, m->nu) : 0.0;
        if (!is_there || m->next.energy > m->here.energy + GAIN * trial * slope + noise ||
            after > -LEFT * slope) {
            high = trial; // too far
        } else if (after < LEFT * slope && trial < most) {
            low = trial; // not far enough
        } else {
            *alpha = trial;
            return TAL_OK;
        }
        trial = isfinite(high) ? 0.5 * (low + high) : fmin(2.0 * trial, most);
        st = go_back(m, state);
    }
    return st;
}

static void move_on(tal_minimizer *m)
{
    const tali_minimizer_place before = m->here;
    m->here = m->next;
    m->next = before;
}

// ---- the search

static double rms(const double g[], int n)
{
    return n > 0 ? sqrt(tali_array_dot(g, g, n) / n) : 0.0;
}

// One iteration; `*has_moved` tells whether there was a lower place. A line that leads nowhere is
// tried again without what was learned.
static tal_status iterate(tal_minimizer *m, tal_state *state, bool *has_moved)
{
    double alpha = 0.0;
    tal_status st = tali_minimizer_direct(m, state);
    if (st == TAL_OK) st = search_line(m, state, &alpha);
    if (st == TAL_OK && alpha == 0.0 && m->past.num > 0) {
        m->past.num = 0;
        st = tali_minimizer_direct(m, state);
        if (st == TAL_OK) st = search_line(m, state, &alpha);
    }
    *has_moved = st == TAL_OK && alpha > 0.0;
    if (!*has_moved) return st;
    st = tali_minimizer_learn(m, state, alpha);
    move_on(m);
    return st;
}

// Whether the State is one that the search can move.
static tal_status check_state(tal_minimizer *m, const tal_state *state)
{
    for (int b = 1; b < m->num_bodies; ++b) {
        const tal_body_ix body = {b};
        for (int k = 0; k < tal_body_nu(m->matter, body); ++k) {
            const tal_mobility mobility = {body, k};
            if (tal_mobility_lock_level(m->matter, state, mobility) == TAL_LEVEL_FREE) continue;
            return TALI_FAIL(&m->error, TAL_ERR_BAD_VALUE,
                             "a minimizer does not know locks: unlock body '%s'",
                             tal_body_name(m->matter, body));
        }
    }
    if (tal_state_nq(state) == m->nq && tal_state_nu(state) == m->nu) return TAL_OK;
    return TALI_FAIL(&m->error, TAL_ERR_BAD_VALUE,
                     "a minimizer does not know orientations as angles in place of quaternions: "
                     "the State has %d coordinates, %d are expected",
                     tal_state_nq(state), m->nq);
}

// Sizes of bodies, by which steps are bounded.
static void measure_bodies(tal_minimizer *m, const tal_state *state)
{
    for (int b = 1; b < m->num_bodies; ++b) {
        const tal_mass_props mass = tal_body_mass_props(m->matter, state, (tal_body_ix){b});
        const tal_sym3 about = tal_mass_props_central_inertia(mass);
        const double spread = 0.5 * (about.xx + about.yy + about.zz); // sum of m r^2
        m->com[b] = mass.com;
        m->radius[b] = mass.mass > 0.0 ? sqrt(fmax(spread, 0.0) / mass.mass) : 0.0;
    }
}

// Where the State is: the place where the last run ended, if all is as it was there, or another
// one, which forgets that run.
static tal_status begin(tal_minimizer *m, tal_state *state)
{
    const size_t bytes = (size_t)m->nq * sizeof m->here.q[0];
    measure_bodies(m, state);
    memcpy(m->dq, tal_state_q(state), bytes);
    bool continues = m->has_begun && memcmp(m->dq, m->here.q, bytes) == 0;
    m->has_begun = tali_minimizer_evaluate(m, state, m->dq, &m->next);
    if (!m->has_begun) return m->error.status;
    continues = continues && m->next.energy == m->here.energy &&
                memcmp(m->next.g, m->here.g, (size_t)m->nu * sizeof m->here.g[0]) == 0;
    if (continues) return go_back(m, state);
    m->past.num = 0;
    move_on(m);
    return TAL_OK;
}

// Iterations until forces are small, nothing is gained, or there were enough.
static tal_status search(tal_minimizer *m, tal_state *state, int iterations, tal_minimum *found)
{
    const double before = m->here.energy;
    bool has_moved = true;
    tal_status st = TAL_OK;
    found->end = TAL_MINIMIZER_ITERATIONS;
    while (st == TAL_OK && has_moved && rms(m->here.g, m->nu) > m->def.tolerance &&
           found->iterations < iterations) {
        st = iterate(m, state, &has_moved);
        if (has_moved) found->iterations += 1;
    }
    if (st == TAL_OK) st = go_back(m, state);
    if (st != TAL_OK) return TALI_FAIL(&m->error, st, "%s", tali_problem_reason(state, st));
    found->energy = m->here.energy;
    found->gained = fmax(before - m->here.energy, 0.0);
    found->force = rms(m->here.g, m->nu);
    found->largest = tali_array_largest(m->here.g, m->nu);
    found->evaluations = m->evaluations;
    if (!has_moved) found->end = TAL_MINIMIZER_STALLED;
    if (found->force <= m->def.tolerance) found->end = TAL_MINIMIZER_CONVERGED;
    m->error = (tal_error){TAL_OK, "", ""}; // of steps that were too long
    return TAL_OK;
}

tal_status tal_minimizer_run(tal_minimizer *minimizer, tal_state *state, int iterations,
                             tal_minimum *found)
{
    if (minimizer == NULL || state == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL",
                           minimizer == NULL ? "minimizer" : "State");
    }
    if (tal_state_structure_hash(state) != tal_system_structure_hash(minimizer->system)) {
        return TALI_BREACH(TAL_ERR_WRONG_SYSTEM, "the State is of another System");
    }
    minimizer->error = (tal_error){TAL_OK, "", ""};
    if (iterations < 0) {
        return TALI_FAIL(&minimizer->error, TAL_ERR_BAD_VALUE,
                         "%d iterations: there are none below zero", iterations);
    }
    tal_status st = tal_system_realize(minimizer->system, state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) {
        return TALI_FAIL(&minimizer->error, st, "%s", tali_problem_reason(state, st));
    }
    tal_minimum made = {0};
    minimizer->evaluations = 0;
    st = check_state(minimizer, state);
    if (st == TAL_OK) st = begin(minimizer, state);
    if (st == TAL_OK) st = search(minimizer, state, iterations, &made);
    if (st == TAL_OK && found != NULL) *found = made;
    return st;
}
