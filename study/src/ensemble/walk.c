// Metropolis walk over configurations.
//
// Given    q on the constraints c(q) = 0, p(q), a standard deviation sigma
// Compute  the next q
//
//   1  motion   s = v + A^T a along the scaled speeds, A = P S: v normal and along the constraints,
//               a such that c = 0 at the end                       Zappa et al. 2018, alg. 1
//   2  move     q1 = q moved along S s: q' = N S s for a unit of time, exactly
//   3  return   the same from q1 along -s must end at q
//   4  take     with probability min(1, p1 / p exp(-(|v1|^2 - |v|^2) / (2 sigma^2)))
//
// A motion along constant speeds is undone by the opposite one, so that v1 is the part of -s along
// the constraints at q1. Between rotations about v and those about -v the density of a motion's end
// does not change: the derivative of one exponential is the transpose of the other's, if the three
// speeds of a rotation have the same scale.
#include "alloc_internal.h"
#include "finite_internal.h"

#include "problem/study_internal.h"

#include <talus/common/linalg.h>
#include <talus/common/random.h>
#include <talus/matter/constraint_operators.h>
#include <talus/matter/operators.h>
#include <talus/matter/prescribed.h>
#include <talus/study/walk.h>

#include <math.h>
#include <string.h>

enum {
    QUATERNION = 4
};

// A configuration and what a step needs to know of it.
typedef struct place {
    double *q;    // [nq]
    double *v;    // [nu] a motion along the constraints from here
    double *A;    // [m][nu] P S, by columns
    tal_cod cod;  // of A
    double *copy; // [m][nu] factored
    double *work;
    int *iwork;
    double log_p;
} place;

struct tal_walk {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    tal_walk_def def;
    int nq, nu, m; // of matter, at most; m: rows of position constraints
    int q0;        // where its q begin in the State
    tal_group_ix q_group, errors;
    double *scale; // [nu]
    place from, to;
    double *q_back; // [nq] where the way back leads
    double *N;      // [num_bodies] blocks of 7 x 6 of those with a quaternion
    double *s;      // [nu] scaled motion
    double *x;      // [nu] along the speeds
    double *a;      // [m]
    double *c;      // [m]
    double *D;      // [m][m]
    double *row;    // [nu]
    double *D_work;
    int *D_iwork;
    uint64_t count;
    tal_walk_report report;
    void *block;
    size_t block_bytes;
    tal_error error_record;
};

// --- creation ---

tal_walk_def tal_walk_def_default(void)
{
    return (tal_walk_def){
        .kT = (double)INFINITY, .step = 0.1, .tolerance = 1e-10, .max_iterations = 30};
}

static tal_status check_def(const tal_walk_def *def, int nu, tal_error *err)
{
    const char *flaw = NULL;
    if (!(def->kT > 0.0)) flaw = "kT must be positive";
    if (!(isfinite(def->step) && def->step > 0.0)) flaw = "the step must be positive and finite";
    if (!(isfinite(def->tolerance) && def->tolerance > 0.0)) flaw = "tolerance is not positive";
    if (def->max_iterations < 1) flaw = "max_iterations must be positive";
    if (def->num_scale != (def->scale != NULL ? nu : 0)) flaw = "scale must have nu numbers";
    for (int i = 0; i < def->num_scale && flaw == NULL; ++i) {
        const double scale = def->scale[i];
        if (!(isfinite(scale) && scale > 0.0)) flaw = "scales must be positive and finite";
    }
    if (flaw == NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "walk: %s (kT %g, step %g, tolerance %g, max_iterations %d, num_scale %d, nu "
                     "%d)",
                     flaw, def->kT, def->step, def->tolerance, def->max_iterations, def->num_scale,
                     nu);
}

// One block for all arrays.
static tal_status take_memory(tal_walk *it, tal_error *err)
{
    const size_t nq = (size_t)it->nq + 1, nu = (size_t)it->nu + 1, m = (size_t)it->m + 1;
    const size_t bodies = (size_t)tal_matter_num_bodies(it->matter), d = sizeof(double);
    const size_t work = tal_cod_work_size(it->m, it->nu) + 1;
    const size_t iwork = tal_cod_iwork_size(it->m, it->nu) + 1;
    const tali_piece pieces[] = {
        {&it->scale, nu * d},
        {&it->from.q, nq * d},
        {&it->to.q, nq * d},
        {&it->from.v, nu * d},
        {&it->to.v, nu * d},
        {&it->from.A, m * nu * d},
        {&it->to.A, m * nu * d},
        {&it->from.copy, m * nu * d},
        {&it->to.copy, m * nu * d},
        {&it->from.work, work * d},
        {&it->to.work, work * d},
        {&it->from.iwork, iwork * sizeof(int)},
        {&it->to.iwork, iwork * sizeof(int)},
        {&it->q_back, nq * d},
        {&it->N, bodies * TAL_MAX_NQ * TAL_MAX_NU * d},
        {&it->s, nu * d},
        {&it->x, nu * d},
        {&it->a, m * d},
        {&it->c, m * d},
        {&it->D, m * m * d},
        {&it->row, nu * d},
        {&it->D_work, (tal_cod_work_size(it->m, it->m) + 1) * d},
        {&it->D_iwork, (tal_cod_iwork_size(it->m, it->m) + 1) * sizeof(int)},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL ? TAL_OK : TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a walk");
}

tal_status tal_walk_create(const tal_system *system, const tal_walk_def *def, tal_walk **out,
                           tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    const tal_walk_def chosen = def != NULL ? *def : tal_walk_def_default();
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    const int nu = tal_system_pool_capacity(system, TAL_POOL_U);
    st = check_def(&chosen, nu, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_walk *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a walk");
    it->system = system;
    it->matter = tal_system_matter(system);
    it->allocator = allocator;
    it->def = chosen;
    it->nq = tal_system_pool_capacity(system, TAL_POOL_Q);
    it->nu = nu;
    it->m = tal_system_pool_capacity(system, TAL_POOL_QERR);
    const tal_subsystem_ix owner = tal_matter_subsystem(it->matter);
    it->q_group = tal_system_find_group(system, owner, TAL_POOL_Q, "q");
    it->errors = tal_system_find_group(system, owner, TAL_POOL_QERR, "constraints");
    st = take_memory(it, err);
    if (st != TAL_OK) {
        tal_walk_destroy(it);
        return st;
    }
    for (int i = 0; i < nu; ++i) {
        it->scale[i] = chosen.scale != NULL ? chosen.scale[i] : 1.0;
    }
    it->def.scale = it->scale;
    *out = it;
    return TAL_OK;
}

void tal_walk_destroy(tal_walk *walk)
{
    if (walk == NULL) return;
    const tal_allocator allocator = walk->allocator;
    tali_free(&allocator, walk->block, walk->block_bytes);
    tali_free(&allocator, walk, sizeof *walk);
}

// --- the State ---

static tal_status fail(tal_walk *it, tal_status st, const char *what, const char *name)
{
    return TALI_FAIL(&it->error_record, st, "a walk cannot move body '%s': %s", name, what);
}

static bool has_quaternion(const tal_walk *it, const tal_state *state, tal_body_ix body)
{
    return tal_body_nq(it->matter, state, body) != tal_body_nq_angles(it->matter, body);
}

static tal_status check_body(tal_walk *it, const tal_state *state, tal_body_ix body)
{
    const char *const name = tal_body_name(it->matter, body);
    if (!has_quaternion(it, state, body)) {
        if (tal_body_qdot_is_u(it->matter, body)) return TAL_OK;
        return fail(it, TAL_ERR_BAD_VALUE, "its rates are not its speeds: use a quaternion", name);
    }
    const double *const scale = it->scale + tal_body_u_start(it->matter, body);
    const int nu = tal_body_nu(it->matter, body);
    for (int j = 1; j < nu && j < 3; ++j) {
        if (scale[j] == scale[0]) continue;
        return fail(it, TAL_ERR_BAD_VALUE, "the speeds of its rotation have different scales",
                    name);
    }
    return TAL_OK;
}

// Can the walk move all there is? Also sizes: q, u and rows of this State.
static tal_status check_state(tal_walk *it, tal_state *state)
{
    const tal_matter *const matter = it->matter;
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    if (tal_state_nq(state) != tal_matter_nq(matter, state) || tal_state_nu(state) != it->nu) {
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "a walk moves bodies alone: another subsystem has coordinates or speeds");
    }
    if (tal_matter_num_free(matter, state) != it->nu) {
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "a walk cannot obey locks or prescribed motion: set them free");
    }
    if (rows.mv > 0 || rows.ma > 0) {
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "a walk cannot obey constraint '%s', which is not on positions: disable "
                         "it",
                         tal_constraint_name(matter, tal_matter_row_owner(matter, state, rows.mp)));
    }
    it->m = rows.mp;
    it->nq = tal_state_nq(state);
    it->q0 = tal_group_start(it->system, state, it->q_group);
    tal_status st = TAL_OK;
    for (int b = 1; b < tal_matter_num_bodies(matter) && st == TAL_OK; ++b) {
        if (tal_body_nu(matter, (tal_body_ix){b}) > 0) {
            st = check_body(it, state, (tal_body_ix){b});
        }
    }
    return st;
}

static tal_status pass_on(tal_walk *it, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(&it->error_record, st, "%s", tali_problem_reason(state, st));
}

static bool put(const tal_walk *it, tal_state *state, const double q[])
{
    memcpy(tal_state_upd_q(state), q, (size_t)it->nq * sizeof *q);
    return tal_system_realize(it->system, state, TAL_STAGE_POSITION) == TAL_OK;
}

// The logarithm of p; NaN on failure.
static double log_p_at(const tal_walk *it, tal_state *state)
{
    double log_p = 0.0;
    if (isfinite(it->def.kT)) {
        log_p = -tal_system_potential_energy(it->system, state) / it->def.kT;
    }
    if (it->def.log_density != NULL) {
        log_p += it->def.log_density(it->def.context, it->system, state);
    }
    return log_p;
}

// --- 2: moving ---

// N of the bodies with a quaternion, whose columns are its products with unit speeds.
static bool look_at_N(tal_walk *it, tal_state *state)
{
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        if (!has_quaternion(it, state, body)) continue;
        double *const N = it->N + (size_t)b * TAL_MAX_NQ * TAL_MAX_NU;
        for (int j = 0; j < tal_body_nu(it->matter, body); ++j) {
            double unit[TAL_MAX_NU] = {0.0};
            unit[j] = 1.0;
            if (tal_body_mul_N(it->matter, state, body, TAL_N, unit, N + (size_t)j * TAL_MAX_NQ) !=
                TAL_OK) {
                return false;
            }
        }
    }
    return true;
}

// A quaternion e at constant speeds has e'' = -|e'|^2 e.
static void turn(const double e[QUATERNION], const double edot[], double out[QUATERNION])
{
    double square = 0.0, length = 0.0;
    for (int i = 0; i < QUATERNION; ++i) {
        square += edot[i] * edot[i];
    }
    const double angle = sqrt(square);
    const double along = angle > 0.0 ? sin(angle) / angle : 1.0;
    for (int i = 0; i < QUATERNION; ++i) {
        out[i] = cos(angle) * e[i] + along * edot[i];
        length += out[i] * out[i];
    }
    for (int i = 0; i < QUATERNION; ++i) {
        out[i] /= sqrt(length);
    }
}

// q1 = q moved along the scaled motion s, given N at q.
static void move(tal_walk *it, const tal_state *state, const double q[], const double s[],
                 double q1[])
{
    for (int i = 0; i < it->nu; ++i) {
        it->x[i] = it->scale[i] * s[i];
    }
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const int nu = tal_body_nu(it->matter, body), nq = tal_body_nq(it->matter, state, body);
        if (nu == 0) continue;
        const int at = tal_body_q_start(it->matter, state, body) - it->q0;
        const double *const x = it->x + tal_body_u_start(it->matter, body);
        const double *const N = it->N + (size_t)b * TAL_MAX_NQ * TAL_MAX_NU;
        const bool is_quaternion = has_quaternion(it, state, body);
        double qdot[TAL_MAX_NQ] = {0.0};
        for (int j = 0; j < nu; ++j) {
            if (!is_quaternion) qdot[j] = x[j];
            for (int i = 0; i < nq && is_quaternion; ++i) {
                qdot[i] += N[j * TAL_MAX_NQ + i] * x[j];
            }
        }
        if (is_quaternion) turn(q + at, qdot, q1 + at);
        for (int i = is_quaternion ? QUATERNION : 0; i < nq; ++i) {
            q1[at + i] = q[at + i] + qdot[i];
        }
    }
}

// --- 1: motions along the constraints ---

// A at where the State is, and its decomposition.
static bool look_at_A(tal_walk *it, tal_state *state, place *at)
{
    if (it->m == 0) return true;
    const tal_matrix A = tal_matrix_view(at->A, it->m, it->nu);
    if (tal_matter_calc_G(it->matter, state, TAL_G_P, A) != TAL_OK) return false;
    for (int j = 0; j < it->nu; ++j) {
        for (int i = 0; i < it->m; ++i) {
            at->A[j * it->m + i] *= it->scale[j];
        }
    }
    memcpy(at->copy, at->A, (size_t)it->m * (size_t)it->nu * sizeof *at->A);
    return tal_cod_factor(&at->cod, tal_matrix_view(at->copy, it->m, it->nu), 1e-10, at->work,
                          at->iwork, NULL) == TAL_OK;
}

// v loses what is normal to the constraints: A^+ A v.
static bool keep_along(tal_walk *it, place *at, double v[])
{
    if (it->m == 0) return true;
    for (int i = 0; i < it->m; ++i) {
        it->c[i] = 0.0;
        for (int j = 0; j < it->nu; ++j) {
            it->c[i] += at->A[j * it->m + i] * v[j];
        }
    }
    if (tal_cod_solve(&at->cod, tal_matrix_view(it->c, it->m, 1),
                      tal_matrix_view(it->row, it->nu, 1), NULL) != TAL_OK) {
        return false;
    }
    for (int j = 0; j < it->nu; ++j) {
        v[j] -= it->row[j];
    }
    return true;
}

static double worst_error(tal_walk *it, const tal_state *state)
{
    double worst = 0.0;
    const double *const errors =
        it->m > 0 ? tal_state_qerr(state) + tal_group_start(it->system, state, it->errors) : NULL;
    for (int i = 0; i < it->m; ++i) {
        it->c[i] = errors[i];
        worst = fmax(worst, fabs(errors[i]));
        if (isnan(errors[i])) return (double)INFINITY;
    }
    return worst;
}

// a -= (B A^T)^+ c, with B = P S at where the State is.
static bool improve(tal_walk *it, tal_state *state, const place *from, double B[])
{
    const int m = it->m, nu = it->nu;
    if (tal_matter_calc_G(it->matter, state, TAL_G_P, tal_matrix_view(B, m, nu)) != TAL_OK) {
        return false;
    }
    for (int i = 0; i < m; ++i) {
        for (int k = 0; k < m; ++k) {
            double sum = 0.0;
            for (int j = 0; j < nu; ++j) {
                sum += B[j * m + i] * it->scale[j] * from->A[j * m + k];
            }
            it->D[k * m + i] = sum;
        }
    }
    tal_cod cod;
    if (tal_cod_factor(&cod, tal_matrix_view(it->D, m, m), 1e-10, it->D_work, it->D_iwork, NULL) !=
            TAL_OK ||
        tal_cod_solve(&cod, tal_matrix_view(it->c, m, 1), tal_matrix_view(it->c, m, 1), NULL) !=
            TAL_OK) {
        return false;
    }
    for (int i = 0; i < m; ++i) {
        it->a[i] -= it->c[i];
    }
    return true;
}

// The motion s = v + A^T a from a place to the constraints again, and where it ends. N is that of
// the place. The State is there when it succeeds.
static bool reach(tal_walk *it, tal_state *state, const place *from, double B[], double q1[])
{
    memset(it->a, 0, (size_t)it->m * sizeof *it->a);
    for (int k = 0; k <= it->def.max_iterations; ++k) {
        for (int j = 0; j < it->nu; ++j) {
            it->s[j] = from->v[j];
            for (int i = 0; i < it->m; ++i) {
                it->s[j] += from->A[j * it->m + i] * it->a[i];
            }
        }
        move(it, state, from->q, it->s, q1);
        if (!tali_finite_all(q1, it->nq) || !put(it, state, q1)) return false;
        if (worst_error(it, state) <= it->def.tolerance) return true;
        if (!improve(it, state, from, B)) return false;
    }
    return false;
}

// --- 3: the way back ---

// Errors of constraints are good to the tolerance, and two ends that the same motion leads to
// differ by some times that; others by a step.
static bool is_same(const tal_walk *it, const double q[], const double q1[])
{
    const double near = fmax(1e3 * it->def.tolerance, 1e-3 * it->def.step);
    for (int i = 0; i < it->nq; ++i) {
        if (!(fabs(q[i] - q1[i]) <= near)) return false;
    }
    return true;
}

// Does the motion back from `to` lead to `from`? The State is moved.
static bool leads_back(tal_walk *it, tal_state *state)
{
    if (it->m == 0) return true;
    return look_at_N(it, state) && reach(it, state, &it->to, it->to.copy, it->q_back) &&
           is_same(it, it->from.q, it->q_back);
}

// --- steps ---

static double square_of(const double v[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += v[i] * v[i];
    }
    return sum;
}

// Where the State is becomes where the step begins.
static bool stand(tal_walk *it, tal_state *state)
{
    memcpy(it->from.q, tal_state_q(state), (size_t)it->nq * sizeof *it->from.q);
    return look_at_N(it, state) && look_at_A(it, state, &it->from);
}

// A motion from where the State is, its end, and the motion back. A counter is added to when there
// is none.
static bool propose(tal_walk *it, tal_state *state, tal_random *random)
{
    place *const from = &it->from, *const to = &it->to;
    for (int j = 0; j < it->nu; ++j) {
        from->v[j] = it->def.step * tal_random_normal(random);
    }
    if (!keep_along(it, from, from->v) || !reach(it, state, from, to->copy, to->q)) {
        ++it->report.off;
        return false;
    }
    for (int j = 0; j < it->nu; ++j) {
        to->v[j] = -it->s[j];
    }
    to->log_p = log_p_at(it, state);
    const bool has_p = !isnan(to->log_p) && to->log_p < (double)INFINITY;
    if (!has_p || !look_at_A(it, state, to) || !keep_along(it, to, to->v)) {
        ++it->report.not_evaluated;
        return false;
    }
    return true;
}

// Step 4, before the way back, which costs more.
static bool is_likely(tal_walk *it, tal_random *random)
{
    const double sigma = it->def.step, n = 2.0 * sigma * sigma;
    const double back = square_of(it->to.v, it->nu), there = square_of(it->from.v, it->nu);
    const double ratio = it->to.log_p - it->from.log_p - (it->m > 0 ? (back - there) / n : 0.0);
    if (log(tal_random_uniform_open(random)) < ratio) return true;
    ++it->report.unlikely;
    return false;
}

static tal_status take_step(tal_walk *it, tal_state *state)
{
    tal_random random = {it->def.seed, it->count, 0};
    bool is_taken = propose(it, state, &random) && is_likely(it, &random);
    if (is_taken && !leads_back(it, state)) {
        ++it->report.one_way;
        is_taken = false;
    }
    ++it->report.proposed;
    ++it->count;
    const place *const at = is_taken ? &it->to : &it->from;
    const bool is_there = is_taken && it->m == 0;
    if (!is_there && !put(it, state, at->q)) {
        return pass_on(it, state, tal_state_error(state)->status);
    }
    it->report.taken += is_taken;
    if (is_taken) it->from.log_p = it->to.log_p;
    if (!is_taken && it->m == 0) return TAL_OK;
    return stand(it, state) ? TAL_OK : pass_on(it, state, tal_state_error(state)->status);
}

// A State that can be walked from: on the constraints, where p is finite.
static tal_status begin(tal_walk *it, tal_state *state)
{
    tal_status st = tal_system_realize(it->system, state, TAL_STAGE_POSITION);
    if (st != TAL_OK) return pass_on(it, state, st);
    st = check_state(it, state);
    if (st != TAL_OK) return st;
    // a quaternion that steps leave alone must be what steps would make of it
    st = tal_matter_normalize_quaternions(it->matter, state);
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_POSITION);
    if (st != TAL_OK) return pass_on(it, state, st);
    const double worst = worst_error(it, state);
    if (!(worst <= it->def.tolerance)) {
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "the walk begins with a constraint error of %g, above the tolerance %g: "
                         "assemble or project the State first",
                         worst, it->def.tolerance);
    }
    it->from.log_p = log_p_at(it, state);
    if (!isfinite(it->from.log_p)) {
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "the walk begins where the logarithm of p is %g", it->from.log_p);
    }
    return stand(it, state) ? TAL_OK : pass_on(it, state, tal_state_error(state)->status);
}

tal_status tal_walk_run(tal_walk *walk, tal_state *state, int n)
{
    if (walk == NULL || state == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    walk->error_record = (tal_error){TAL_OK, "", ""};
    if (tal_state_structure_hash(state) != tal_system_structure_hash(walk->system)) {
        return TALI_BREACH(TAL_ERR_WRONG_SYSTEM, "the State belongs to another System");
    }
    if (n < 0) {
        return TALI_FAIL(&walk->error_record, TAL_ERR_BAD_VALUE, "a walk cannot take %d steps", n);
    }
    tal_status st = begin(walk, state);
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        st = take_step(walk, state);
    }
    return st;
}

// --- asking ---

tal_walk_report tal_walk_statistics(const tal_walk *walk)
{
    if (walk != NULL) return walk->report;
    (void)TALI_BREACH(TAL_ERR_NULL, "the walk is NULL");
    return (tal_walk_report){.proposed = 0};
}

uint64_t tal_walk_count(const tal_walk *walk)
{
    return walk != NULL ? walk->count : 0;
}

void tal_walk_set_count(tal_walk *walk, uint64_t count)
{
    if (walk != NULL) walk->count = count;
}

const tal_error *tal_walk_error(const tal_walk *walk)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_walk_error", "the walk is NULL"};
    return walk != NULL ? &walk->error_record : &none;
}
