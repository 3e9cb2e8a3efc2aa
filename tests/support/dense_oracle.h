// The equations of motion of a mechanism, built densely in long double from poses that are
// functions of time, and solved as one system: what Talus finds by passes must agree. Also how far
// round-off lets the two differ.
#ifndef TALUS_DENSE_ORACLE_H
#define TALUS_DENSE_ORACLE_H

#include "dense_mechanism.h"
#include "dense_solve.h"

/// Sizes without signs, of which round-off is a fraction eps: angular and linear.
typedef struct dense_size {
    real w, v;
} dense_size;

typedef struct dense_oracle {
    int nb, nu, m, mp, mv;
    // kinematics; spatial vectors about Bo in Ground
    jet_pose X[DENSE_BODIES]; // along u, with udot = 0
    real V[DENSE_BODIES][6], A0[DENSE_BODIES][6];
    real J[DENSE_BODIES][6][DENSE_SPEEDS];
    // one body
    real mass[DENSE_BODIES], com[DENSE_BODIES][3], I[DENSE_BODIES][3][3]; // in Ground
    real F[DENSE_BODIES][6], f[DENSE_SPEEDS];                             // applied
    real F0[DENSE_BODIES][6];
    // the whole
    real M[DENSE_SPEEDS][DENSE_SPEEDS], G[DENSE_ROWS][DENSE_SPEEDS], b[DENSE_ROWS];
    real G_max[DENSE_ROWS][DENSE_BODIES][6], G_mob[DENSE_ROWS][DENSE_SPEEDS];
    real err[DENSE_ROWS], rate[DENSE_ROWS]; // perr or verr; d perr / dt
    real rhs[DENSE_SPEEDS];                 // f - J^T (F0 - F)
    bool is_known[DENSE_SPEEDS];
    real udot[DENSE_SPEEDS], lambda[DENSE_ROWS], tau[DENSE_SPEEDS];
    real A[DENSE_BODIES][6], R[DENSE_BODIES][6]; // accelerations, reactions about Bo
    // what round-off is a fraction of
    dense_size j[DENSE_BODIES][DENSE_SPEEDS]; // J
    dense_size a[DENSE_BODIES], v[DENSE_BODIES];
    real reach[DENSE_BODIES];
    real bound_udot[DENSE_SPEEDS], bound_lambda[DENSE_ROWS];
    int redundant;      // rows
    real contradiction; // of the rows that repeat others
    real margin; // of the decision which do: the smallest pivot, over the largest that is none
    real smallest_pivot;
    real rows_apart; // the largest row of G M^-1/2 over the smallest
} dense_oracle;

// --- small sums ---

static inline real norm3(const real x[3])
{
    return sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static inline void cross3(const real a[3], const real b[3], real out[3])
{
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

// --- one body ---

static inline void take_mass(dense_oracle *o, int b, const tal_mass_props *props)
{
    const double *const s = &props->inertia.xx; // xx yy zz xy xz yz
    const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    const tal_vec3 c = props->com;
    o->mass[b] = (real)props->mass;
    for (int i = 0; i < 3; ++i) {
        const jet *const R = o->X[b].R.e[i];
        o->com[b][i] = R[0].x * (real)c.x + R[1].x * (real)c.y + R[2].x * (real)c.z;
        for (int k = 0; k < 3; ++k) {
            o->I[b][i][k] = 0.0L;
            for (int r = 0; r < 9; ++r) {
                o->I[b][i][k] += R[r / 3].x * (real)s[at[r / 3][r % 3]] * o->X[b].R.e[k][r % 3].x;
            }
        }
    }
}

// F = M_B A: moment about Bo, and force.
static inline void mul_inertia(const dense_oracle *o, int b, const real A[6], real F[6])
{
    real turn[3], push[3];
    cross3(o->com[b], A + 3, turn);
    cross3(A, o->com[b], push);
    for (int i = 0; i < 3; ++i) {
        F[i] = o->mass[b] * turn[i];
        for (int k = 0; k < 3; ++k) {
            F[i] += o->I[b][i][k] * A[k];
        }
        F[3 + i] = o->mass[b] * (A[3 + i] + push[i]);
    }
}

// What a body needs besides M_B A because it turns: (w x I w, m w x (w x c)).
static inline void gyroscopic(const dense_oracle *o, int b, real F[6])
{
    real Iw[3], wc[3];
    const real *const w = o->V[b];
    for (int i = 0; i < 3; ++i) {
        Iw[i] = 0.0L;
        for (int k = 0; k < 3; ++k) {
            Iw[i] += o->I[b][i][k] * w[k];
        }
    }
    cross3(w, Iw, F);
    cross3(w, o->com[b], wc);
    cross3(w, wc, F + 3);
    for (int i = 0; i < 3; ++i) {
        F[3 + i] *= o->mass[b];
    }
}

// --- rows ---

// Value, and what udot has a part in, of all rows along given poses.
static inline void all_rows(const dense_mechanism *m, const tal_matter *matter,
                            const tal_state *state, const jet_pose X[], const real u[],
                            const real udot[], jet rows[], real aerr[])
{
    int p = 0, v = 0, a = 0, mp = 0, mv = 0;
    for (int i = 0; i < m->num_items; ++i) {
        mp += m->item[i].mp, mv += m->item[i].mv;
    }
    v = mp, a = mp + mv;
    for (int i = 0; i < m->num_items; ++i) {
        const dense_item *const c = &m->item[i];
        jet row[6] = {{0.0L, 0.0L, 0.0L}};
        if (acts_on_mobilities(c))
            row[0] = mobility_row(m, matter, state, c, u, udot);
        else
            body_rows(m, c, X, row);
        for (int k = 0; k < c->mp; ++k) {
            aerr[p] = row[k].dd, rows[p++] = row[k];
        }
        for (int k = 0; k < c->mv; ++k) {
            aerr[v] = row[c->mp + k].d, rows[v++] = row[c->mp + k];
        }
        for (int k = 0; k < c->ma; ++k) {
            aerr[a] = row[k].x, rows[a++] = row[k];
        }
    }
}

static inline void build_rows(dense_oracle *o, const dense_mechanism *m, const tal_matter *matter,
                              const tal_state *state, const real u[])
{
    static jet_pose X[DENSE_BODIES];
    real aerr[DENSE_ROWS], udot[DENSE_SPEEDS] = {0.0L};
    jet rows[DENSE_ROWS];
    all_rows(m, matter, state, o->X, u, udot, rows, aerr);
    for (int r = 0; r < o->m; ++r) {
        o->b[r] = -aerr[r];
        o->err[r] = rows[r].x, o->rate[r] = rows[r].d;
    }
    for (int j = 0; j < o->nu; ++j) {
        udot[j] = 1.0L;
        dense_poses(m, matter, state, u, udot, X);
        all_rows(m, matter, state, X, u, udot, rows, aerr);
        udot[j] = 0.0L;
        for (int r = 0; r < o->m; ++r) {
            o->G[r][j] = aerr[r] + o->b[r];
        }
    }
}

// The same rows where every body is free to move by itself, and along speeds: what constraints do
// to bodies.
static inline void build_free_rows(dense_oracle *o, const dense_mechanism *m,
                                   const tal_matter *matter, const tal_state *state)
{
    static jet_pose X[DENSE_BODIES];
    real aerr[DENSE_ROWS], still[DENSE_ROWS], zero[DENSE_SPEEDS] = {0.0L}, at_rest[6] = {0.0L};
    jet rows[DENSE_ROWS];
    for (int b = 0; b < o->nb; ++b) {
        X[b] = jet_pose_moving(&o->X[b], at_rest, at_rest);
    }
    all_rows(m, matter, state, X, zero, zero, rows, still);
    for (int b = 1; b < o->nb; ++b) {
        const jet_pose stands = X[b];
        for (int k = 0; k < 6; ++k) {
            real A[6] = {0.0L};
            A[k] = 1.0L;
            X[b] = jet_pose_moving(&o->X[b], at_rest, A);
            all_rows(m, matter, state, X, zero, zero, rows, aerr);
            for (int r = 0; r < o->m; ++r) {
                o->G_max[r][b][k] = aerr[r] - still[r];
            }
        }
        X[b] = stands;
    }
    real one[DENSE_SPEEDS] = {0.0L};
    for (int j = 0; j < o->nu; ++j) {
        one[j] = 1.0L;
        all_rows(m, matter, state, X, zero, one, rows, aerr);
        one[j] = 0.0L;
        for (int r = 0; r < o->m; ++r) {
            o->G_mob[r][j] = aerr[r] - still[r];
        }
    }
}

// --- the whole ---

static inline void build_kinematics(dense_oracle *o, const dense_mechanism *m,
                                    const tal_matter *matter, const tal_state *state,
                                    const real u[])
{
    static jet_pose X[DENSE_BODIES];
    real one[DENSE_SPEEDS] = {0.0L}, zero[DENSE_SPEEDS] = {0.0L}, unused[6];
    dense_poses(m, matter, state, u, zero, o->X);
    for (int b = 0; b < o->nb; ++b) {
        jet_pose_motion(&o->X[b], o->V[b], o->A0[b]);
    }
    for (int j = 0; j < o->nu; ++j) {
        one[j] = 1.0L;
        dense_poses(m, matter, state, one, zero, X);
        one[j] = 0.0L;
        for (int b = 0; b < o->nb; ++b) {
            real V[6];
            jet_pose_motion(&X[b], V, unused);
            for (int k = 0; k < 6; ++k) {
                o->J[b][k][j] = V[k];
            }
        }
    }
}

static inline void build_dynamics(dense_oracle *o, const dense_mechanism *m)
{
    for (int j = 0; j < o->nu; ++j) {
        o->rhs[j] = o->f[j];
        memset(o->M[j], 0, sizeof o->M[j]);
    }
    for (int b = 1; b < o->nb; ++b) {
        real turning[6];
        take_mass(o, b, &m->body[b].def.mass);
        mul_inertia(o, b, o->A0[b], o->F0[b]);
        gyroscopic(o, b, turning);
        for (int k = 0; k < 6; ++k) {
            o->F0[b][k] += turning[k];
        }
        for (int j = 0; j < o->nu; ++j) {
            real A[6], F[6];
            for (int k = 0; k < 6; ++k) {
                A[k] = o->J[b][k][j];
                o->rhs[j] -= A[k] * (o->F0[b][k] - o->F[b][k]);
            }
            mul_inertia(o, b, A, F);
            for (int i = 0; i < o->nu; ++i) {
                for (int k = 0; k < 6; ++k) {
                    o->M[i][j] += o->J[b][k][i] * F[k];
                }
            }
        }
        if (m->body[b].nu == 1) o->M[m->body[b].u0][m->body[b].u0] += (real)m->body[b].rotor;
    }
}

// Unknowns: udot where it is free, then the multipliers. Which row of the system is which.
static inline int unknowns(const dense_oracle *o, int of[])
{
    int n = 0;
    for (int j = 0; j < o->nu; ++j) {
        if (!o->is_known[j]) of[n++] = j;
    }
    for (int r = 0; r < o->m; ++r) {
        of[n++] = o->nu + r;
    }
    return n;
}

static inline real kkt_entry(const dense_oracle *o, int i, int k)
{
    if (i < o->nu && k < o->nu) return o->M[i][k];
    if (i >= o->nu && k >= o->nu) return 0.0L;
    return i < o->nu ? o->G[k - o->nu][i] : o->G[i - o->nu][k];
}

// The scale at which diagonal entries of M, and the largest entry of a row of G, are 1.
static inline void scale_kkt(const dense_oracle *o, const int of[], dense *K)
{
    for (int i = 0; i < K->n; ++i) {
        if (of[i] < o->nu) {
            K->scale[i] = 1.0L / sqrtl(o->M[of[i]][of[i]]);
            continue;
        }
        const real *const G = o->G[of[i] - o->nu];
        real largest = 0.0L, free = 0.0L, any = 0.0L;
        for (int k = 0; k < K->n && of[k] < o->nu; ++k) {
            free = fmaxl(free, fabsl(G[of[k]]));
            largest = fmaxl(largest, fabsl(G[of[k]]) * K->scale[k]);
        }
        for (int j = 0; j < o->nu; ++j) {
            any = fmaxl(any, fabsl(G[j]));
        }
        K->scale[i] = free > 1e-12L * any ? 1.0L / largest : 1.0L;
        // rotations are orthogonal to 53 bits: what is left of a row because of that does not count
        for (int k = 0; k < K->n && free <= 1e-12L * any; ++k) {
            K->a[i][k] = K->a[k][i] = 0.0L;
        }
    }
}

static inline void fill_kkt(const dense_oracle *o, const int of[], dense *K, real b[])
{
    for (int i = 0; i < K->n; ++i) {
        b[i] = of[i] < o->nu ? o->rhs[of[i]] : o->b[of[i] - o->nu];
        for (int k = 0; k < K->n; ++k) {
            K->a[i][k] = kkt_entry(o, of[i], of[k]);
        }
        for (int j = 0; j < o->nu; ++j) {
            if (o->is_known[j]) b[i] -= kkt_entry(o, of[i], j) * o->udot[j];
        }
    }
    scale_kkt(o, of, K);
}

// --- what round-off may do ---

// J without signs: of speed i of body b, what reaches the bodies it carries.
static inline void size_of_tree(dense_oracle *o, const dense_mechanism *m, const tal_matter *matter,
                                const tal_state *state, const real u[])
{
    memset(o->j, 0, sizeof o->j);
    o->a[0] = o->v[0] = (dense_size){0.0L, 0.0L};
    o->reach[0] = 0.0L;
    for (int b = 1; b < o->nb; ++b) {
        const dense_body *const it = &m->body[b];
        const tal_body_ix ix = {b};
        const double *const q = tal_state_q(state) + tal_body_q_start(matter, state, ix);
        const bool has_angles = tal_body_uses_angles(matter, state, ix);
        const real zero[6] = {0.0L};
        real V[6], A[6];
        const jet_pose X = mobilizer_pose(it, has_angles, q, u + it->u0, zero);
        jet_pose_motion(&X, V, A);
        const real p[3] = {X.p.e[0].x, X.p.e[1].x, X.p.e[2].x};
        const real L =
            norm3(p) + (real)tal_v3_norm(it->def.X_PF.p) + (real)tal_v3_norm(it->def.X_BM.p);
        const dense_size in = o->v[it->parent], by = o->a[it->parent];
        const real w = in.w + norm3(V);
        o->reach[b] = o->reach[it->parent] + L;
        o->v[b] = (dense_size){w, in.v + norm3(V + 3) + w * L};
        o->a[b].w = by.w + w * w + norm3(A);
        o->a[b].v = by.v + (o->a[b].w + w * w) * L + 2.0L * w * norm3(V + 3) + norm3(A + 3);
        for (int j = 0; j < o->nu; ++j) {
            o->j[b][j] = o->j[it->parent][j];
            o->j[b][j].v += o->j[b][j].w * L;
        }
        for (int i = 0; i < it->nu; ++i) {
            real one[6] = {0.0L};
            one[i] = 1.0L;
            const jet_pose along = mobilizer_pose(it, has_angles, q, one, zero);
            jet_pose_motion(&along, V, A);
            o->j[b][it->u0 + i] = (dense_size){norm3(V), norm3(V + 3) + norm3(V) * L};
        }
    }
}

// M_B times an acceleration, without signs.
static inline dense_size size_of_force(const dense_oracle *o, int b, dense_size a)
{
    real I = 0.0L;
    const real mc = o->mass[b] * norm3(o->com[b]);
    for (int i = 0; i < 3; ++i) {
        I += norm3(o->I[b][i]);
    }
    return (dense_size){I * a.w + mc * a.v, mc * a.w + o->mass[b] * a.v};
}

// An entry of M, of G, or of the right-hand side (k < 0), without signs.
static inline real kkt_size(const dense_oracle *o, const dense_mechanism *m, const dense_size row[],
                            const real row_length[], int i, int k)
{
    real sum = 0.0L;
    if (i >= o->nu && k >= o->nu) return 0.0L;
    if (i >= o->nu && k >= 0) return kkt_size(o, m, row, row_length, k, i);
    for (int b = 1; b < o->nb; ++b) {
        if (i >= o->nu) { // b of G udot = b
            const dense_size g = row[(i - o->nu) * DENSE_BODIES + b];
            const real turn = o->v[b].w * o->v[b].w, v = g.v * o->v[b].v + g.w * o->v[b].w;
            sum += g.w * (o->a[b].w + turn) + g.v * (o->a[b].v + 2.0L * o->v[b].w * o->v[b].v) +
                   v * v / row_length[i - o->nu];
        } else if (k >= o->nu) {
            const dense_size g = row[(k - o->nu) * DENSE_BODIES + b];
            sum += g.w * o->j[b][i].w + g.v * o->j[b][i].v;
        } else {
            const dense_size turn = {o->v[b].w * o->v[b].w, 0.0L};
            const dense_size of = k < 0 ? (dense_size){o->a[b].w + turn.w, o->a[b].v} : o->j[b][k];
            dense_size F = size_of_force(o, b, of);
            if (k < 0) F.w += norm3(o->F[b]), F.v += norm3(o->F[b] + 3);
            sum += o->j[b][i].w * F.w + o->j[b][i].v * F.v;
        }
    }
    if (i < o->nu && k < 0) sum += fabsl(o->f[i]);
    if (i >= o->nu && k < 0) sum += fabsl(o->b[i - o->nu]);
    if (i < o->nu && k >= o->nu) sum += fabsl(o->G_mob[k - o->nu][i]);
    if (i == k) sum += fabsl(o->M[i][i]);
    return sum;
}

// An entry of M as elimination sees it: no smaller than what its row and its column leave it to be.
static inline real mass_size(const dense_oracle *o, const dense_mechanism *m, int i, int k)
{
    const real entry = kkt_size(o, m, NULL, NULL, i, k);
    const real largest = sqrtl(kkt_size(o, m, NULL, NULL, i, i) * kkt_size(o, m, NULL, NULL, k, k));
    return entry > 0.0L ? fmaxl(entry, largest) : 0.0L;
}

// Rows without signs: directions of length 1, at levers as long as the bodies are apart.
static inline void size_of_rows(const dense_oracle *o, const dense_mechanism *m, dense_size row[],
                                real row_length[])
{
    int first[3] = {0, o->mp, o->mp + o->mv};
    memset(row, 0, sizeof(dense_size) * (size_t)(DENSE_ROWS * DENSE_BODIES));
    for (int i = 0; i < m->num_items; ++i) {
        const dense_item *const c = &m->item[i];
        const int count[3] = {c->mp, c->mv, c->ma};
        real d[3];
        for (int k = 0; k < 3; ++k) {
            d[k] = o->X[c->body[1]].p.e[k].x - o->X[c->body[0]].p.e[k].x;
        }
        const bool is_short = c->kind == ITEM_ROD || c->kind == ITEM_SPHERE_ON_SPHERE;
        for (int level = 0; level < 3; ++level) {
            for (int k = 0; k < count[level]; ++k) {
                const int r = first[level]++;
                row_length[r] = 1.0L;
                if (is_short) row_length[r] = 0.1L; // shorter ones are not taken
                for (int e = 0; e < 3 && !acts_on_mobilities(c); ++e) {
                    row[r * DENSE_BODIES + c->body[e]] = (dense_size){4.0L + norm3(d), 1.0L};
                }
            }
        }
    }
}

// Entry i, k of the inverse of what was eliminated.
static inline real inverse_entry(const dense *K, int r, int k)
{
    return K->scale[K->pivot_column[r]] * K->inverse[K->pivot_row[r]][k] * K->scale[k];
}

// M of the free speeds, eliminated.
static inline void eliminate_mass(const dense_oracle *o, const int of[], int n, dense *M)
{
    M->n = n;
    for (int i = 0; i < n; ++i) {
        M->scale[i] = 1.0L / sqrtl(o->M[of[i]][of[i]]);
        for (int k = 0; k < n; ++k) {
            M->a[i][k] = o->M[of[i]][of[k]];
        }
    }
    dense_eliminate(M, 0.0L);
}

// How large accelerations are on the way, which is the sum of those without constraints and those
// that the constraints make, |udot0| + |M^-1| |G|^T |lambda|; and with what round-off, |M^-1| (|M|
// that + |b|). The rows see it.
static inline void size_on_the_way(const dense_oracle *o, const dense_mechanism *m,
                                   const dense_size row[], const int of[], const dense *K,
                                   const real b[], const real x[], real way[], real off[])
{
    static dense M;
    static real u0[DENSE_MAX], push[DENSE_MAX];
    eliminate_mass(o, of, K->n - o->m, &M);
    (void)dense_solve(&M, b, u0);
    for (int i = 0; i < M.n; ++i) {
        push[i] = 0.0L;
        for (int k = M.n; k < K->n; ++k) {
            push[i] += kkt_size(o, m, row, NULL, of[i], of[k]) * fabsl(x[k]);
        }
    }
    for (int r = 0; r < M.n; ++r) {
        const int at = M.pivot_column[r];
        way[at] = fabsl(u0[at]);
        for (int k = 0; k < M.n; ++k) {
            way[at] += fabsl(inverse_entry(&M, r, k)) * push[k];
        }
    }
    for (int i = 0; i < M.n; ++i) {
        push[i] += kkt_size(o, m, row, NULL, of[i], -1);
        for (int k = 0; k < M.n; ++k) {
            push[i] += mass_size(o, m, of[i], of[k]) * way[k];
        }
    }
    for (int r = 0; r < M.n; ++r) {
        const int at = M.pivot_column[r];
        off[at] = way[at];
        for (int k = 0; k < M.n; ++k) {
            off[at] += fabsl(inverse_entry(&M, r, k)) * push[k];
        }
    }
}

// |K^-1| (|K| |x| + |b|) of the equations that are independent: each entry is off by a fraction of
// its size.
static inline void bound_solution(dense_oracle *o, const dense_mechanism *m, const dense *K,
                                  const int of[], const real b[], const real x[])
{
    static dense_size row[DENSE_ROWS * DENSE_BODIES];
    static real row_length[DENSE_ROWS], size[DENSE_MAX], way[DENSE_MAX], off[DENSE_MAX];
    size_of_rows(o, m, row, row_length);
    size_on_the_way(o, m, row, of, K, b, x, way, off);
    for (int i = 0; i < K->n; ++i) {
        size[i] = kkt_size(o, m, row, row_length, of[i], -1);
        for (int k = 0; k < K->n; ++k) {
            const bool is_mass = of[i] < o->nu && of[k] < o->nu;
            const real entry = is_mass ? mass_size(o, m, of[i], of[k])
                                       : kkt_size(o, m, row, row_length, of[i], of[k]);
            size[i] += entry * fabsl(x[k]);
            if (of[k] < o->nu) size[i] += entry * (is_mass ? way[k] : off[k]);
        }
        for (int j = 0; j < o->nu; ++j) {
            if (!o->is_known[j]) continue;
            size[i] += kkt_size(o, m, row, row_length, of[i], j) * fabsl(o->udot[j]);
        }
    }
    memset(o->bound_udot, 0, sizeof o->bound_udot);
    memset(o->bound_lambda, 0, sizeof o->bound_lambda);
    for (int r = 0; r < K->rank; ++r) {
        const int at = of[K->pivot_column[r]];
        real sum = 0.0L;
        for (int k = 0; k < K->n; ++k) {
            if (!K->row_is_used[k]) continue;
            sum += fabsl(inverse_entry(K, r, k)) * size[k];
        }
        if (at < o->nu)
            o->bound_udot[at] = sum;
        else
            o->bound_lambda[at - o->nu] = sum;
    }
}

// --- solving ---

// Forces that hold the tree together: what a body needs, less what acts on it, with all that it
// carries.
static inline void find_reactions(dense_oracle *o, const dense_mechanism *m)
{
    for (int b = o->nb - 1; b > 0; --b) {
        real F[6];
        for (int k = 0; k < 6; ++k) {
            o->A[b][k] = 0.0L;
            for (int j = 0; j < o->nu; ++j) {
                o->A[b][k] += o->J[b][k][j] * o->udot[j];
            }
        }
        mul_inertia(o, b, o->A[b], F);
        for (int k = 0; k < 6; ++k) {
            o->A[b][k] += o->A0[b][k];
            o->R[b][k] += F[k] + o->F0[b][k] - o->F[b][k];
            for (int r = 0; r < o->m; ++r) {
                o->R[b][k] += o->G_max[r][b][k] * o->lambda[r];
            }
        }
        const int parent = m->body[b].parent;
        real arm[3], turn[3];
        for (int k = 0; k < 3; ++k) {
            arm[k] = o->X[b].p.e[k].x - o->X[parent].p.e[k].x;
        }
        cross3(arm, o->R[b] + 3, turn);
        for (int k = 0; k < 3; ++k) {
            o->R[parent][k] += o->R[b][k] + turn[k];
            o->R[parent][3 + k] += o->R[b][3 + k];
        }
    }
}

static inline void solve_kkt(dense_oracle *o, const dense_mechanism *m)
{
    static dense K;
    static real b[DENSE_MAX], x[DENSE_MAX];
    const real zero = 1e-10L; // rows are held for dependent below this; see `margin`
    int of[DENSE_MAX];
    K.n = unknowns(o, of);
    fill_kkt(o, of, &K, b);
    real small = INFINITY, large = 0.0L;
    for (int i = K.n - o->m; i < K.n; ++i) {
        small = fminl(small, K.scale[i]), large = fmaxl(large, K.scale[i]);
    }
    o->rows_apart = large / small;
    dense_eliminate(&K, zero);
    o->redundant = K.n - K.rank;
    o->contradiction = dense_solve(&K, b, x);
    // rows that contradict each other are met in the mean: what no motion can change is taken out
    if (o->redundant > 0) dense_shorten(&K, b);
    (void)dense_solve(&K, b, x);
    o->smallest_pivot = K.last_pivot;
    o->margin = K.last_pivot / fmaxl(K.first_zero, 1e-18L);
    bound_solution(o, m, &K, of, b, x);
    dense_shorten(&K, x);
    for (int i = 0; i < K.n; ++i) {
        if (of[i] < o->nu)
            o->udot[of[i]] = x[i];
        else
            o->lambda[of[i] - o->nu] = x[i];
    }
    for (int j = 0; j < o->nu; ++j) {
        o->tau[j] = 0.0L;
        if (!o->is_known[j]) continue;
        o->tau[j] = o->rhs[j];
        for (int k = 0; k < o->nu; ++k) {
            o->tau[j] -= o->M[j][k] * o->udot[k];
        }
        for (int r = 0; r < o->m; ++r) {
            o->tau[j] -= o->G[r][j] * o->lambda[r];
        }
    }
}

/// All of it for a State; `F` and `f` are applied, about Bo, and udot is filled in where it is
/// known.
static inline void dense_find(dense_oracle *o, const dense_mechanism *m, const tal_matter *matter,
                              const tal_state *state)
{
    real u[DENSE_SPEEDS];
    for (int j = 0; j < m->nu; ++j) {
        u[j] = (real)tal_state_u(state)[j];
    }
    o->nb = m->num_bodies, o->nu = m->nu, o->m = o->mp = o->mv = 0;
    for (int i = 0; i < m->num_items; ++i) {
        o->mp += m->item[i].mp, o->mv += m->item[i].mv;
        o->m += m->item[i].mp + m->item[i].mv + m->item[i].ma;
    }
    build_kinematics(o, m, matter, state, u);
    build_rows(o, m, matter, state, u);
    build_free_rows(o, m, matter, state);
    build_dynamics(o, m);
    size_of_tree(o, m, matter, state, u);
    solve_kkt(o, m);
    memset(o->R, 0, sizeof o->R);
    find_reactions(o, m);
}

#endif // TALUS_DENSE_ORACLE_H
