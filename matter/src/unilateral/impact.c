// Impacts: impulses in compression and expansion, in rounds, with a guard against gaining energy.
#include "array_internal.h"

#include "unilateral/impact_internal.h"

#include <talus/common/linalg.h>

#include <float.h>
#include <math.h>

enum {
    MOST_ROUNDS = 100,
    HALVINGS = 40
};

tal_impact_options tal_impact_options_default(void)
{
    return (tal_impact_options){.gap_tolerance = 1e-6, .speed_tolerance = 1e-6};
}

// --- velocities in, velocities out ---

tal_status tali_impact_fill_velocities(tali_impact_problem *p)
{
    const tal_system *system = p->matter->system;
    const double *uerr =
        tal_state_uerr(p->state) + tal_group_start(system, p->state, p->matter->constraints.uerr);
    for (int r = 0; r < p->m; ++r) {
        p->v[r] = 0.0;
    }
    for (int k = 0; k < p->num; ++k) {
        const tali_impact_part *part = &p->parts[k];
        if (part->normal >= 0) p->v[part->normal] = p->sign[part->normal] * uerr[part->normal];
        for (int r = 0; r < part->num_slips && part->grip >= 0; ++r) {
            p->v[part->grip + r] = uerr[part->grip + r];
        }
    }
    return TAL_OK;
}

tal_status tali_impact_apply(tali_impact_problem *p, const double pi[])
{
    const size_t nu = (size_t)p->matter->tree.num_u + 1;
    const size_t mark = tal_state_scratch_mark(p->state);
    double *f = tal_state_scratch_take(p->state, nu * sizeof *f);
    if (f == NULL) return TAL_ERR_CAPACITY;
    for (int r = 0; r < p->m; ++r) {
        p->v_round[r] = p->sign[r] * pi[r];
    }
    tal_status st = tal_matter_mul_GT(p->matter, p->state, TAL_G, p->v_round, f);
    if (st == TAL_OK) st = tal_matter_mul_Minv(p->matter, p->state, f, p->udot);
    double *u = NULL;
    if (st == TAL_OK) u = tal_state_upd_u(p->state);
    const int first = tal_group_start(p->matter->system, p->state, p->matter->u);
    for (int j = 0; u != NULL && j < p->matter->tree.num_u; ++j) {
        u[first + j] += p->udot[j];
    }
    tal_state_scratch_release(p->state, mark);
    return st;
}

// Impulses z of the component that was gathered become part of pi, and velocities follow.
static void take_impulses(tali_impact_problem *p)
{
    for (int j = 0; j < p->n; ++j) {
        p->pi[p->rows[j]] += p->z[j];
        for (int i = 0; i < p->m; ++i) {
            p->v[i] += p->W.data[i + p->rows[j] * p->m] * p->z[j];
        }
    }
}

// --- one contact with friction: its path ---

// A less what bilateral rows E take from it: A_cc - A_cE X with X = A_EE^+ A_Ec, kept in `work`.
static bool reduce(tali_impact_problem *p, const int rows[3], int n, double A[3][3], double X[])
{
    const int num = p->n - n;
    double *E = X + 3 * (ptrdiff_t)p->n, *work = E + (ptrdiff_t)num * num;
    for (int k = 0; k < n; ++k) {
        for (int l = 0; l < n; ++l) {
            A[k][l] = p->A.data[rows[k] + rows[l] * p->n];
        }
    }
    if (num == 0) return true;
    int *other = p->iwork, count = 0;
    for (int i = 0; i < p->n; ++i) {
        const bool is_own = i == rows[0] || (n > 1 && i == rows[1]) || (n > 2 && i == rows[2]);
        if (!is_own) other[count++] = i;
    }
    for (int j = 0; j < num; ++j) {
        for (int i = 0; i < num; ++i) {
            E[i + j * num] = p->A.data[other[i] + other[j] * p->n];
        }
        for (int k = 0; k < n; ++k) {
            X[j + k * num] = p->A.data[other[j] + rows[k] * p->n];
        }
    }
    tal_pchol f;
    tal_error why = {TAL_OK, "", ""};
    tal_status st = tal_pchol_factor(&f, tal_matrix_view(E, num, num), num * DBL_EPSILON, work,
                                     other + num, &why);
    if (st == TAL_OK) st = tal_pchol_solve_min_norm(&f, tal_matrix_view(X, num, n), &why);
    if (st != TAL_OK) return false;
    for (int k = 0; k < n; ++k) {
        for (int l = 0; l < n; ++l) {
            for (int j = 0; j < num; ++j) {
                A[k][l] -= p->A.data[other[j] + rows[k] * p->n] * X[j + l * num];
            }
        }
    }
    return true;
}

// The whole impact of the one part of the component, into z. False where the path is not the way.
static bool follow(tali_impact_problem *p, double restitution)
{
    const tal_friction_contact *c = &p->contacts[0];
    const tali_impact_part *part = &p->parts[p->in[0]];
    const bool is_alone = p->num_in == 1 && c->normal >= 0 && c->num_tangents > 0;
    if (!is_alone || !isfinite(c->static_mu) || !part->is_contact || c->limit > 0.0) return false;
    const int n = c->num_tangents > 1 ? 3 : 2;
    const int rows[3] = {c->normal, c->tangent, c->tangent + 1};
    tali_impact_path path = {
        .static_mu = c->static_mu, .sliding_mu = c->sliding_mu, .restitution = restitution};
    if (!reduce(p, rows, n, path.A, p->work)) return false;
    for (int k = 0; k < n; ++k) {
        path.v[k] = p->b[rows[k]];
    }
    if (!tali_impact_follow_path(&path)) return false;
    const int num = p->n - n;
    for (int j = 0; j < num; ++j) {
        double sum = 0.0;
        for (int k = 0; k < n; ++k) {
            sum -= p->work[j + k * num] * path.pi[k];
        }
        p->z[p->iwork[j]] = sum;
    }
    for (int k = 0; k < n; ++k) {
        p->z[rows[k]] = path.pi[k];
    }
    return true;
}

bool tali_impact_jam(tali_impact_problem *p)
{
    return follow(p, 0.0);
}

// --- phases ---

// A component as impulses see it: bilateral rows hold, velocities at the end decide on friction.
static bool gather_for_impact(tali_impact_problem *p, int c)
{
    const bool any = tali_impact_gather(p, c, true);
    for (int k = 0; k < p->num_in; ++k) {
        p->contacts[k].slides = false;
    }
    return any;
}

// Where bodies that are driven against each other give way by round-off only, impulses are found
// that leave nothing of the velocities they should make.
static tal_status check_size(const tali_impact_problem *p, tal_error *why)
{
    const double A = tali_array_largest(p->A.data, p->n * p->n);
    const double z = tali_array_largest(p->z, p->n), b = tali_array_largest(p->b, p->n);
    const double least = fmax(b, p->options.speed_tolerance);
    if (A * z * DBL_EPSILON <= 1e-6 * least) return TAL_OK;
    return TALI_FAIL(why, TAL_ERR_INFEASIBLE, "rows contradict each other: impulses grow to %g", z);
}

// Impulses with friction exist wherever those without it do, so that only the last way can tell
// that there are none.
static bool is_open_question(tal_status st)
{
    return st == TAL_ERR_NO_CONVERGENCE || st == TAL_ERR_INFEASIBLE;
}

// With all friction; without that in joints where it does not settle; without any where no impulses
// pass their check. Both are counted.
static tal_status solve_phase(tali_impact_problem *p, int c, tal_error *why)
{
    static tal_status (*const ways[])(tali_impact_problem *, tal_error *) = {
        tali_impact_solve_loaded, tali_impact_solve, tali_impact_solve_smooth};
    tal_status st = TAL_ERR_NO_CONVERGENCE;
    for (int k = 0; k < 3 && is_open_question(st); ++k) {
        gather_for_impact(p, c);
        *why = (tal_error){TAL_OK, "", ""};
        memcpy(p->floors, p->given, (size_t)p->num_in * sizeof *p->floors);
        if (k == 1 && !tali_impact_any_load(p)) continue;
        if (k > 0) ++p->num_smooth;
        st = ways[k](p, why);
    }
    return st == TAL_OK ? check_size(p, why) : st;
}

// Compression until nothing approaches, then expansion with a share of each normal impulse.
static tal_status compress_and_expand(tali_impact_problem *p, int c, double share)
{
    tal_error why = {TAL_OK, "", ""};
    memset(p->given, 0, (size_t)p->num_in * sizeof *p->given);
    tal_status st = solve_phase(p, c, &why);
    if (st != TAL_OK) return tali_impact_fail(p, st, why.message);
    take_impulses(p);
    bool any = false;
    for (int k = 0; k < p->num_in; ++k) {
        const tali_impact_part *part = &p->parts[p->in[k]];
        const double e = part->is_contact ? share * part->restitution : 0.0;
        const int normal = p->contacts[k].normal;
        p->given[k] = normal >= 0 ? fmax(0.0, e * p->z[normal]) : 0.0;
        any = any || p->given[k] > 0.0;
    }
    if (!any) return TAL_OK;
    st = solve_phase(p, c, &why);
    if (st != TAL_OK) return tali_impact_fail(p, st, why.message);
    take_impulses(p);
    return TAL_OK;
}

// All components, once; `share` of the coefficients of restitution.
static tal_status run_round(tali_impact_problem *p, double share)
{
    const int count = tali_impact_find_components(p);
    for (int c = 0; c < count; ++c) {
        if (!gather_for_impact(p, c)) continue;
        const double e = share * p->parts[p->in[0]].restitution;
        if (follow(p, e)) {
            take_impulses(p);
            continue;
        }
        const tal_status st = compress_and_expand(p, c, share);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// --- energy ---

// pi . (v- + v+) / 2, the change of kinetic energy; and the size of what is added up.
static double energy_of(const tali_impact_problem *p, const double before[], double *size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int r = 0; r < p->m; ++r) {
        const double power = 0.5 * p->pi[r] * (before[r] + p->v[r]);
        sum += power;
        *size += 0.5 * fabs(p->pi[r]) * (fabs(before[r]) + fabs(p->v[r]));
    }
    return sum;
}

static tal_status round_from_here(tali_impact_problem *p, double share, bool *gains)
{
    const size_t bytes = (size_t)p->m * sizeof *p->v;
    memcpy(p->v, p->v_round, bytes);
    memcpy(p->pi, p->pi_round, bytes);
    const tal_status st = run_round(p, share);
    double size = 0.0;
    const double energy = energy_of(p, p->v_first, &size);
    *gains = energy > 1e-13 * size;
    return st;
}

// A round that gains no energy: with the largest share of all coefficients of restitution that does
// not. With none of them it cannot.
static tal_status guarded_round(tali_impact_problem *p, double *share)
{
    const size_t bytes = (size_t)p->m * sizeof *p->v;
    memcpy(p->v_round, p->v, bytes);
    memcpy(p->pi_round, p->pi, bytes);
    bool gains = false;
    tal_status st = round_from_here(p, *share, &gains);
    if (st != TAL_OK || !gains || *share == 0.0) return st;
    double low = 0.0, high = *share;
    for (int i = 0; i < HALVINGS && st == TAL_OK; ++i) {
        const double middle = 0.5 * (low + high);
        st = round_from_here(p, middle, &gains);
        if (gains) {
            high = middle;
        } else {
            low = middle;
        }
    }
    *share = low;
    return st == TAL_OK ? round_from_here(p, low, &gains) : st;
}

// --- rounds ---

static bool approaches(const tali_impact_problem *p, const tali_impact_part *part)
{
    return part->normal >= 0 && p->v[part->normal] < -p->options.speed_tolerance;
}

// Who takes part in the next round: all, or those that approach and friction in joints; how many
// approach.
static int choose_parts(tali_impact_problem *p, bool only_approaching)
{
    int n = 0;
    for (int k = 0; k < p->num; ++k) {
        tali_impact_part *part = &p->parts[k];
        const bool comes = approaches(p, part);
        if (comes) ++n;
        part->is_in = comes || !only_approaching || part->normal < 0;
    }
    return n;
}

// Restitution by the speeds of this round.
static void renew_restitution(tali_impact_problem *p)
{
    for (int k = 0; k < p->num; ++k) {
        tali_impact_part *part = &p->parts[k];
        if (!part->is_in || part->normal < 0) continue;
        const double speed = -p->v[part->normal];
        const tal_unilateral_material *m =
            tali_unilateral_material_at(p->matter, p->state, part->element);
        part->restitution =
            speed > p->options.capture_speed ? tal_unilateral_restitution(m, speed) : 0.0;
    }
}

static tal_status run_rounds(tali_impact_problem *p, tal_impact_report *report)
{
    report->restitution = 1.0;
    tal_status st = TAL_OK;
    for (int k = 0; k < MOST_ROUNDS && st == TAL_OK; ++k) {
        const bool is_first = k == 0, is_last = k == MOST_ROUNDS - 1;
        const bool together = !p->options.sequential || is_last;
        if (choose_parts(p, !together) == 0 && !(is_first && together)) break;
        if (p->options.sequential) renew_restitution(p);
        // all at once: what approaches after expansion is stopped
        double share = together && !is_first ? 0.0 : 1.0;
        st = guarded_round(p, &share);
        if (is_first || p->options.sequential) {
            report->restitution = fmin(report->restitution, share);
        }
        ++report->rounds;
    }
    for (int k = 0; k < p->num; ++k) {
        p->parts[k].is_in = true;
    }
    return st;
}

// --- the record of each element ---

// Impulses that are no more than round-off of the largest are none.
static double least_impulse(const tali_impact_problem *p)
{
    double most = 0.0;
    for (int k = 0; k < p->num; ++k) {
        if (p->parts[k].normal >= 0) most = fmax(most, p->pi[p->parts[k].normal]);
    }
    return 1e-10 * most;
}

static void record(tali_impact_problem *p)
{
    const double least = least_impulse(p);
    tal_unilateral_impact *all =
        tal_var_upd(p->matter->system, p->state, p->matter->unilaterals.impacts);
    for (int k = 0; k < p->num && all != NULL; ++k) {
        const tali_impact_part *part = &p->parts[k];
        if (part->normal < 0 || !(p->pi[part->normal] > least)) continue;
        tal_unilateral_impact *it = &all[part->element];
        it->t = tal_state_t(p->state);
        it->speed = -p->v_first[part->normal];
        it->after = p->v[part->normal];
        it->normal = p->pi[part->normal];
        for (int r = 0; r < 2; ++r) {
            it->friction[r] = part->grip >= 0 && r < part->num_slips ? p->pi[part->grip + r] : 0.0;
        }
        ++it->count;
    }
}

tal_unilateral_impact tal_unilateral_impact_of(const tal_matter *matter, const tal_state *state,
                                               tal_unilateral_ix element)
{
    const tal_unilateral_impact nan = {TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, {TALI_NAN, TALI_NAN},
                                       0};
    if (tali_unilateral_at(matter, element, __func__) == NULL) return nan;
    const tal_unilateral_impact *all =
        tali_cache_var_read(matter->system, state, matter->unilaterals.impacts, __func__);
    return all != NULL ? all[element.i] : nan;
}

// --- the impact ---

static int count_impacting(const tali_impact_problem *p)
{
    int n = 0;
    for (int k = 0; k < p->num; ++k) {
        const tali_impact_part *part = &p->parts[k];
        if (part->is_contact && part->speed < -p->options.speed_tolerance) ++n;
    }
    return n;
}

// Dry friction has no impulses: its force is limited. Friction by a load has, as the load does.
static void drop_dry_friction(tali_impact_problem *p)
{
    for (int k = 0; k < p->num; ++k) {
        const tali_unilateral *it = &p->matter->unilaterals.list[p->parts[k].element];
        p->parts[k].is_in = it->normal >= 0 || it->load.constraint.i >= 0;
        p->parts[k].limit = 0.0;
        if (!(p->parts[k].static_mu > 0.0)) p->parts[k].num_slips = 0;
    }
}

static tal_status solve_impact(tali_impact_problem *p, tal_impact_report *report)
{
    drop_dry_friction(p);
    tal_status st = tali_impact_assemble(p);
    if (st == TAL_OK) st = tali_impact_fill_velocities(p);
    if (st != TAL_OK) return st;
    memcpy(p->v_first, p->v, (size_t)p->m * sizeof *p->v);
    st = run_rounds(p, report);
    if (st != TAL_OK) return st;
    double size = 0.0;
    report->energy = energy_of(p, p->v_first, &size);
    report->num_smooth = p->num_smooth;
    record(p);
    return tali_impact_apply(p, p->pi);
}

static tal_status check_options(tal_state *state, const tal_impact_options *options)
{
    if (options->gap_tolerance >= 0.0 && options->speed_tolerance >= 0.0 &&
        options->capture_speed >= 0.0) {
        return TAL_OK;
    }
    return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                          "tolerances of an impact are %g and %g, and its capture speed is %g: "
                          "they must not be negative",
                          options->gap_tolerance, options->speed_tolerance, options->capture_speed);
}

tal_status tali_impact_enter(const tal_matter *matter, tal_state *state,
                             const tal_impact_options *options, const char *where)
{
    if (matter == NULL) return tali_breach(TAL_ERR_NULL, where, "matter is NULL");
    if (matter->unilaterals.count > 0 &&
        tali_cache_var_read(matter->system, state, matter->unilaterals.enabled, where) == NULL) {
        return tal_contract_last()->status;
    }
    if (state == NULL) return tali_breach(TAL_ERR_NULL, where, "the State is NULL");
    return check_options(state, options);
}

tal_status tal_matter_solve_impact(const tal_matter *matter, tal_state *state,
                                   const tal_impact_options *options, tal_impact_report *report)
{
    const tal_impact_options chosen = options != NULL ? *options : tal_impact_options_default();
    tal_impact_report own;
    if (report == NULL) report = &own;
    *report = (tal_impact_report){.restitution = 1.0};
    tal_status st = tali_impact_enter(matter, state, &chosen, __func__);
    if (st != TAL_OK || matter->unilaterals.count == 0) return st;
    tali_impact_problem p;
    st = tali_impact_begin(matter, state, &chosen, &p);
    if (st == TAL_OK) {
        report->num_touching = p.num;
        report->num_impacting = count_impacting(&p);
    }
    if (st == TAL_OK && report->num_impacting > 0) {
        st = solve_impact(&p, report);
        const tal_status back = tali_impact_restore(&p);
        if (st == TAL_OK) st = back;
    }
    tali_impact_end(&p);
    if (st != TAL_OK) return st;
    return tal_system_realize(matter->system, state, TAL_STAGE_VELOCITY);
}
