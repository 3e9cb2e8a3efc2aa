// Motion without forces by a symplectic rule, which keeps volumes of q and of the momenta p = M u.
//
// The rule is the generalized leapfrog of H(q, p) = p^T M(q)^-1 p/2 (HLW sec. VI.3),
//
//     p_m = p_0 - h/2 dH/dq(q_0, p_m)
//     q_1 = q_0 + h/2 (dH/dp(q_0, p_m) + dH/dp(q_1, p_m))
//     p_1 = p_m - h/2 dH/dq(q_1, p_m),
//
// written with speeds v = dH/dp = M^-1 p, since dH/dq = -d(v^T M v/2)/dq at fixed v. It is a step
// of h/2 with the discrete Lagrangian h/2 v^T M(q_0) v/2, then one with that of its end; each makes
// momenta of two slopes (MW sec. 1.3), so both are symplectic whatever h v does to q. Of rotations
// h v is Cayley's vector theta: the quaternion is multiplied by (1, theta/2), normalized, and
//
//     d theta = (1 - [theta x]/2 + theta theta^T/4) delta
//
// for a turn delta of the end in F, of the start the same with -theta and -delta
// (HLW sec. IV.8.3).
#include "matter_facts_internal.h"

#include "md/md_internal.h"
#include "problem/study_internal.h"

#include <talus/matter/derivatives.h>
#include <talus/matter/response.h>

#include <math.h>
#include <string.h>

// ---- what it can move

tal_status tali_md_check_symplectic(const tal_matter *matter, tal_error *err)
{
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const tal_mobilizer_ops *ops = tali_matter_body_facts_of(matter, body).ops;
        const bool turns = ops->has_quaternion && ops->nu >= 3 && ops->nq == ops->nu + 1;
        if (turns || ops->mul_N == NULL || ops->nu == 0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the symplectic drift needs speeds that are rates of coordinates, or "
                         "angular velocities of quaternions in F, which those of body '%s' "
                         "(mobilizer '%s') are not",
                         tal_body_name(matter, body), ops->name);
    }
    return TAL_OK;
}

// ---- moving along speeds

// q = from moved along a theta, which has nu numbers.
static void move(const tal_md *md, const tal_state *state, const double from[],
                 const double theta[], double q[])
{
    for (int b = 1; b < md->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const int nu = tal_body_nu(md->matter, body);
        const int nq = tal_body_nq(md->matter, state, body);
        const double *t = theta + tal_body_u_start(md->matter, body);
        const int at = tal_body_q_start(md->matter, state, body);
        const int turned = nq > nu ? 3 : 0;
        if (turned > 0) { // (1, theta/2) times the quaternion
            const double *e = from + at;
            const double x = 0.5 * t[0], y = 0.5 * t[1], z = 0.5 * t[2];
            const double scale = 1.0 / sqrt(1.0 + (x * x + y * y + z * z));
            q[at] = scale * (e[0] - (x * e[1] + y * e[2] + z * e[3]));
            q[at + 1] = scale * (e[1] + x * e[0] + (y * e[3] - z * e[2]));
            q[at + 2] = scale * (e[2] + y * e[0] + (z * e[1] - x * e[3]));
            q[at + 3] = scale * (e[3] + z * e[0] + (x * e[2] - y * e[1]));
        }
        for (int i = turned; i < nu; ++i) {
            q[at + (nq - nu) + i] = from[at + (nq - nu) + i] + t[i];
        }
    }
}

// Momenta at one end of a step, from p = M v: (1 + sign [theta x]/2 + theta theta^T/4) p of what
// turns, sign 1 at the end and -1 at the start.
static void pull_back(const tal_md *md, const tal_state *state, const double theta[], double sign,
                      double p[])
{
    for (int b = 1; b < md->num_bodies; ++b) {
        const tal_body_ix body = {b};
        if (tal_body_nq(md->matter, state, body) <= tal_body_nu(md->matter, body)) continue;
        const int at = tal_body_u_start(md->matter, body);
        const tal_vec3 t = tal_v3(theta[at], theta[at + 1], theta[at + 2]);
        const tal_vec3 m = tal_v3(p[at], p[at + 1], p[at + 2]);
        tal_vec3 out = tal_v3_axpy(0.5 * sign, tal_v3_cross(t, m), m);
        out = tal_v3_axpy(0.25 * tal_v3_dot(t, m), t, out);
        p[at] = out.x;
        p[at + 1] = out.y;
        p[at + 2] = out.z;
    }
}

// ---- products at rest

// At rest at q: p = M v, and the slopes of v^T M v/2 along the directions of motion.
static tal_status find_slopes(tal_md *md, tal_state *state, const double v[], double p[],
                              double slopes[])
{
    tal_status st = tal_matter_mul_ID_derivatives_T(md->matter, state, v, NULL, v, slopes, NULL, p);
    for (int i = 0; i < md->nu; ++i) {
        slopes[i] *= 0.5;
    }
    return tali_md_pass_on(md, state, st);
}

// The State at q and at rest, which is where slopes and products with M are taken.
static tal_status go_to(tal_md *md, tal_state *state, const double q[])
{
    memcpy(tal_state_upd_q(state), q, (size_t)md->nq * sizeof q[0]);
    memset(tal_state_upd_u(state), 0, (size_t)md->nu * sizeof(double));
    const tal_status st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    return tali_md_pass_on(md, state, st);
}

// ---- the iteration
//
// v += g with g = M^-1 residual would need steps in which M changes little against its least
// eigenvalue. So what rounds did to g is used (WN): with changes dg of g and dv of v in a few
// rounds, made orthogonal, the next change is g - sum (dg . g)(dv + dg)/(dg . dg).

// What is left of a change where steps of the iteration are round-off: M^-1 makes eps of a residual
// as large as its condition. They do not get smaller then (HLW sec. VIII.6.2).
static const double ROUND_OFF = 1e-10;

// A change whose part orthogonal to the others is less than this of it says nothing new.
static const double OLD_NEWS = 1e-6;

typedef struct iteration {
    int kept;    // pairs of vectors
    bool begun;  // there was a round before
    double last; // largest element of its g
} iteration;

static double dot(const double a[], const double b[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void subtract(double to[], double factor, const double from[], int n)
{
    for (int i = 0; i < n; ++i) {
        to[i] -= factor * from[i];
    }
}

// Learn from the last round: g was `before`, and v changed by `step`. Both are overwritten.
static void learn(const tal_md *md, iteration *it, const double g[], double before[], double step[])
{
    const int n = md->nu;
    // anew: the old ones are of another place, or all directions are there
    if (it->kept == TALI_MD_KEPT || it->kept == n) it->kept = 0;
    double *dg = md->history + (ptrdiff_t)2 * it->kept * n, *dw = dg + n;
    for (int i = 0; i < n; ++i) {
        dg[i] = g[i] - before[i];
        dw[i] = step[i] + dg[i];
    }
    const double whole = sqrt(dot(dg, dg, n));
    for (int k = 0; k < it->kept; ++k) {
        const double *q = md->history + (ptrdiff_t)2 * k * n;
        const double c = dot(q, dg, n);
        subtract(dg, c, q, n);
        subtract(dw, c, q + n, n);
    }
    const double size = sqrt(dot(dg, dg, n));
    if (!(size > OLD_NEWS * whole)) return;
    for (int i = 0; i < n; ++i) {
        dg[i] /= size;
        dw[i] /= size;
    }
    ++it->kept;
}

// A round: v changes by what M^-1 residual says. True when that was not more than the tolerance, or
// than round-off.
static bool improve(tal_md *md, tal_state *state, double v[], iteration *it, tal_status *st)
{
    const int n = md->nu;
    double *g = md->udot, *before = md->history + (ptrdiff_t)2 * TALI_MD_KEPT * n,
           *step = before + n;
    *st = tali_md_pass_on(md, state, tal_matter_mul_Minv(md->matter, state, md->residual, g));
    if (*st != TAL_OK) return true;
    double most = 0.0, size = 0.0, poison = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(g[i]));
        size = fmax(size, fabs(v[i]));
        poison += 0.0 * g[i];
    }
    most += poison;
    const bool is_done = most <= md->def.tolerance * size ||
                         (it->begun && most >= it->last && most <= ROUND_OFF * size);
    if (it->begun) learn(md, it, g, before, step);
    memcpy(before, g, (size_t)n * sizeof g[0]);
    memcpy(step, g, (size_t)n * sizeof g[0]);
    for (int k = 0; k < it->kept; ++k) {
        const double *q = md->history + (ptrdiff_t)2 * k * n;
        subtract(step, dot(q, g, n), q + n, n);
    }
    subtract(v, -1.0, step, n);
    it->begun = true;
    it->last = most;
    return is_done;
}

// ---- the rule

// p_m from p_0 = md->p, and the speeds v at its start: h/2 with the mass matrix of q_0.
static tal_status leave(tal_md *md, tal_state *state, double half, double v[], bool *has_changed)
{
    double *theta = md->theta, *product = md->f, *slopes = md->g;
    iteration it = {.kept = 0};
    tal_status st = TAL_OK;
    *has_changed = true;
    for (int round = 0; *has_changed && round < md->def.most_rounds && st == TAL_OK; ++round) {
        st = find_slopes(md, state, v, product, slopes);
        for (int i = 0; i < md->nu; ++i) {
            theta[i] = half * v[i];
            md->residual[i] = product[i];
        }
        pull_back(md, state, theta, -1.0, md->residual);
        for (int i = 0; i < md->nu; ++i) {
            md->residual[i] = md->p[i] + half * slopes[i] - md->residual[i];
        }
        if (st == TAL_OK) *has_changed = !improve(md, state, v, &it, &st);
        ++md->rounds;
    }
    if (st == TAL_OK) st = tal_matter_mul_M(md->matter, state, v, md->p);
    for (int i = 0; i < md->nu; ++i) {
        theta[i] = half * v[i];
    }
    pull_back(md, state, theta, 1.0, md->p);
    return st;
}

// q_1 and p_1 from q_m = md->q0 and p_m = md->p: h/2 with the mass matrix of q_1.
static tal_status arrive(tal_md *md, tal_state *state, double half, double v[], bool *has_changed)
{
    double *theta = md->theta;
    iteration it = {.kept = 0};
    tal_status st = TAL_OK;
    *has_changed = true;
    for (int round = 0; *has_changed && round < md->def.most_rounds && st == TAL_OK; ++round) {
        for (int i = 0; i < md->nu; ++i) {
            theta[i] = half * v[i];
        }
        move(md, state, md->q0, theta, md->q1);
        st = go_to(md, state, md->q1);
        if (st == TAL_OK) st = tal_matter_mul_M(md->matter, state, v, md->residual);
        pull_back(md, state, theta, -1.0, md->residual);
        for (int i = 0; i < md->nu; ++i) {
            md->residual[i] = md->p[i] - md->residual[i];
        }
        if (st == TAL_OK) *has_changed = !improve(md, state, v, &it, &st);
        ++md->rounds;
    }
    for (int i = 0; i < md->nu; ++i) {
        theta[i] = half * v[i];
    }
    move(md, state, md->q0, theta, md->q1);
    if (st == TAL_OK) st = go_to(md, state, md->q1);
    if (st == TAL_OK) st = find_slopes(md, state, v, md->p, md->g);
    pull_back(md, state, theta, 1.0, md->p);
    for (int i = 0; i < md->nu; ++i) {
        md->p[i] += half * md->g[i];
    }
    return st;
}

tal_status tali_md_drift_symplectic(tal_md *md, tal_state *state, double h)
{
    bool has_left = true, has_arrived = true;
    memcpy(md->q0, tal_state_q(state), (size_t)md->nq * sizeof md->q0[0]);
    memcpy(md->u1, tal_state_u(state), (size_t)md->nu * sizeof md->u1[0]);
    md->rounds = 0;
    tal_status st = go_to(md, state, md->q0);
    if (st == TAL_OK) st = tal_matter_mul_M(md->matter, state, md->u1, md->p);
    if (st == TAL_OK) st = leave(md, state, 0.5 * h, md->u1, &has_left);
    if (st == TAL_OK) {
        move(md, state, md->q0, md->theta, md->q1);
        memcpy(md->q0, md->q1, (size_t)md->nq * sizeof md->q0[0]);
        st = arrive(md, state, 0.5 * h, md->u1, &has_arrived);
    }
    if (st == TAL_OK) st = tal_matter_mul_Minv(md->matter, state, md->p, md->u1);
    if (st != TAL_OK && md->rounds == 0) return tali_md_pass_on(md, state, st);
    if (st != TAL_OK || has_left || has_arrived) return tali_md_fail_drift(md, state);
    memcpy(tal_state_upd_u(state), md->u1, (size_t)md->nu * sizeof md->u1[0]);
    return TAL_OK;
}
