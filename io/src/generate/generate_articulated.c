// Forward dynamics by articulated bodies (RBDA tab. 7.1), without velocities: what they contribute
// comes with the bias of inverse dynamics.
//
//     n = I w + H v,  f = H^T w + M v      a body and all that it carries, about its origin
//     U = column of a joint,  D = S . U,  I^a = I - U U^T / D
//     p^a = p + U e / D,  e = force - S . p          udot = (e - U . a) / D
#include "generate/generate_internal.h"

#define add tali_generate_add
#define sub tali_generate_sub
#define mul tali_generate_mul

typedef tali_generate_v3 v3;
typedef tali_generate_m3 m3;

typedef tali_generate_body articulated;

// One speed as its link feels it.
typedef struct joint {
    v3 U_n, U_f;   ///< load for a unit acceleration
    int inverse_D; ///< 1/D
    int gain;      ///< e / D
} joint;

typedef struct work {
    articulated *bodies; ///< [num_links]
    v3 *n, *f;           ///< [num_links] p
    v3 *alpha, *a;       ///< [num_links] accelerations
    joint *joints;       ///< [nu]
} work;

static m3 constant_m3(tali_graph *g, tal_mat3 A)
{
    const v3 x = tali_generate_constant_v3(g, A.x), y = tali_generate_constant_v3(g, A.y),
             z = tali_generate_constant_v3(g, A.z);
    return (m3){
        {{x.at[0], y.at[0], z.at[0]}, {x.at[1], y.at[1], z.at[1]}, {x.at[2], y.at[2], z.at[2]}}};
}

static articulated own_mass(tali_graph *g, const tali_generate_mass *mass)
{
    const double trace = tal_s3_trace(mass->J);
    const tal_sym3 I = tal_s3_sub(tal_s3_diag(trace, trace, trace), mass->J);
    return (articulated){
        .I = constant_m3(g, tal_m3_from_s3(I)),
        .H = constant_m3(g, tal_m3_cross(mass->h)),
        .M = constant_m3(g, tal_m3_from_s3(tal_s3_diag(mass->m, mass->m, mass->m)))};
}

// ---- inward -------------------------------------------------------------------------------------

// Row `k` of I and H, or of H^T and M: the load for a unit of one component of the acceleration.
static v3 column_at(const m3 *A, int k)
{
    return (v3){{A->at[0][k], A->at[1][k], A->at[2][k]}};
}

static v3 row_at(const m3 *A, int k)
{
    return (v3){{A->at[k][0], A->at[k][1], A->at[k][2]}};
}

// A -= u w^T / D; entries that vanish exactly are known to.
static void project(tali_graph *g, m3 *A, v3 u, v3 w, int inverse_D, bool is_symmetric)
{
    const v3 u_D = tali_generate_scale_v3(g, inverse_D, u);
    for (int i = 0; i < 3; ++i) {
        for (int k = is_symmetric ? i : 0; k < 3; ++k) {
            A->at[i][k] = sub(g, A->at[i][k], mul(g, u_D.at[i], w.at[k]));
            if (is_symmetric) A->at[k][i] = A->at[i][k];
        }
    }
}

static void clear(m3 *A, int row, int column)
{
    for (int k = 0; k < 3; ++k) {
        if (row >= 0) A->at[row][k] = TALI_GRAPH_ZERO;
        if (column >= 0) A->at[k][column] = TALI_GRAPH_ZERO;
    }
}

// S = (turn, slide) along an axis of the link, and the inertia of a rotor that it turns.
typedef struct direction {
    int axis;
    double turn, slide, rotor;
} direction;

// One direction, found free: the joint is filled and the body projected.
static joint free_direction(tali_graph *g, articulated *it, v3 *n, v3 *f, const direction *S,
                            int force)
{
    const int axis = S->axis;
    const double turn = S->turn, slide = S->slide, rotor = S->rotor;
    const int t = tali_graph_constant(g, turn), s = tali_graph_constant(g, slide);
    joint j;
    j.U_n = tali_generate_add_v3(g, tali_generate_scale_v3(g, t, column_at(&it->I, axis)),
                                 tali_generate_scale_v3(g, s, column_at(&it->H, axis)));
    j.U_f = tali_generate_add_v3(g, tali_generate_scale_v3(g, t, row_at(&it->H, axis)),
                                 tali_generate_scale_v3(g, s, column_at(&it->M, axis)));
    const int felt = add(g, mul(g, t, j.U_n.at[axis]), mul(g, s, j.U_f.at[axis]));
    const int D = add(g, felt, tali_graph_constant(g, rotor));
    const int load = add(g, mul(g, t, n->at[axis]), mul(g, s, f->at[axis]));
    j.inverse_D = tali_generate_div(g, TALI_GRAPH_ONE, D);
    j.gain = mul(g, sub(g, force, load), j.inverse_D);
    project(g, &it->I, j.U_n, j.U_n, j.inverse_D, true);
    project(g, &it->H, j.U_n, j.U_f, j.inverse_D, false);
    project(g, &it->M, j.U_f, j.U_f, j.inverse_D, true);
    if (rotor == 0.0 && slide == 0.0) clear(&it->I, axis, axis), clear(&it->H, axis, -1);
    if (rotor == 0.0 && turn == 0.0) clear(&it->M, axis, axis), clear(&it->H, -1, axis);
    *n = tali_generate_add_v3(g, *n, tali_generate_scale_v3(g, j.gain, j.U_n));
    *f = tali_generate_add_v3(g, *f, tali_generate_scale_v3(g, j.gain, j.U_f));
    if (rotor == 0.0 && slide == 0.0) n->at[axis] = mul(g, t, force);
    if (rotor == 0.0 && turn == 0.0) f->at[axis] = mul(g, s, force);
    return j;
}

// Forces along the speeds of a ball, in the frame of its link.
static v3 ball_forces(const tali_generate_record *it, int i, const int f[])
{
    const tali_generate_link *const link = &it->tree->links[i];
    const tali_generate_way *const way = &it->ways[i];
    v3 out;
    for (int k = 0; k < 3; ++k) {
        const int sign = tali_graph_constant(it->g, link->sign);
        out.at[k] = mul(it->g, sign, f[link->u + k]);
    }
    if (link->is_reversed) return out;
    return tali_generate_outward(it->g, &way->steps[way->num - 1], out);
}

// Free the speeds of a link, the last one first. Turns are counted with their sign.
static void free_link(const tali_generate_record *it, work *at, int i, const int f[])
{
    tali_graph *const g = it->g;
    const tali_generate_link *const link = &it->tree->links[i];
    if (link->kind == TALI_GENERATE_AXIAL) {
        const direction S = {2, link->sign * link->turn, link->sign * link->shift,
                             it->tree->rotor[link->u]};
        at->joints[link->u] =
            free_direction(g, &at->bodies[i], &at->n[i], &at->f[i], &S, f[link->u]);
        return;
    }
    const v3 forces = ball_forces(it, i, f);
    for (int k = 2; k >= 0; --k) {
        const direction S = {k, 1.0, 0.0, 0.0};
        at->joints[link->u + k] =
            free_direction(g, &at->bodies[i], &at->n[i], &at->f[i], &S, forces.at[k]);
    }
}

static void sum_bodies(tali_graph *g, articulated *to, const articulated *more)
{
    m3 *const sums[3] = {&to->I, &to->H, &to->M};
    const m3 *const parts[3] = {&more->I, &more->H, &more->M};
    for (int p = 0; p < 3; ++p) {
        for (int i = 0; i < 9; ++i) {
            sums[p]->at[i / 3][i % 3] =
                add(g, sums[p]->at[i / 3][i % 3], parts[p]->at[i / 3][i % 3]);
        }
    }
}

static void inward(const tali_generate_record *it, work *at, const int f[])
{
    tali_graph *const g = it->g;
    const tali_generate_tree *const tree = it->tree;
    for (int i = 0; i < tree->num_links; ++i) {
        at->bodies[i] = own_mass(g, &tree->links[i].mass);
    }
    for (int i = tree->num_links - 1; i >= 0; --i) {
        const int parent = tree->links[i].parent;
        free_link(it, at, i, f);
        if (parent < 0) continue;
        const articulated there = tali_generate_body_to_parent(g, &it->ways[i], at->bodies[i]);
        sum_bodies(g, &at->bodies[parent], &there);
        tali_generate_force_to_parent(g, &it->ways[i], &at->n[i], &at->f[i]);
        at->n[parent] = tali_generate_add_v3(g, at->n[parent], at->n[i]);
        at->f[parent] = tali_generate_add_v3(g, at->f[parent], at->f[i]);
    }
}

// ---- outward ------------------------------------------------------------------------------------

// The acceleration along one direction, and what the link gains by it.
static int accelerate(tali_graph *g, const joint *j, int axis, double turn, double slide, v3 *alpha,
                      v3 *a)
{
    const int felt = add(g, tali_generate_dot(g, j->U_n, *alpha), tali_generate_dot(g, j->U_f, *a));
    const int udot = sub(g, j->gain, mul(g, felt, j->inverse_D));
    alpha->at[axis] = add(g, alpha->at[axis], mul(g, tali_graph_constant(g, turn), udot));
    a->at[axis] = add(g, a->at[axis], mul(g, tali_graph_constant(g, slide), udot));
    return udot;
}

static void ball_outward(const tali_generate_record *it, work *at, int i, int udot[])
{
    tali_graph *const g = it->g;
    const tali_generate_link *const link = &it->tree->links[i];
    const tali_generate_way *const way = &it->ways[i];
    v3 own;
    for (int k = 0; k < 3; ++k) {
        own.at[k] = accelerate(g, &at->joints[link->u + k], k, 1.0, 0.0, &at->alpha[i], &at->a[i]);
    }
    if (!link->is_reversed) own = tali_generate_inward(g, &way->steps[way->num - 1], own);
    for (int k = 0; k < 3; ++k) {
        udot[link->u + k] = mul(g, tali_graph_constant(g, link->sign), own.at[k]);
    }
}

// Accelerations from base to tip: across the way of each link, then its own.
static void outward(const tali_generate_record *it, work *at, int udot[])
{
    tali_graph *const g = it->g;
    const tali_generate_tree *const tree = it->tree;
    for (int i = 0; i < tree->num_links; ++i) {
        const tali_generate_link *const link = &tree->links[i];
        const tali_generate_way *const way = &it->ways[i];
        const bool is_base = link->parent < 0;
        v3 *const alpha = &at->alpha[i], *const a = &at->a[i];
        *alpha = is_base ? TALI_GENERATE_ZERO_V3 : at->alpha[link->parent];
        *a = is_base ? TALI_GENERATE_ZERO_V3 : at->a[link->parent];
        for (int k = 0; k < way->num; ++k) {
            const tali_generate_step *const step = &way->steps[k];
            if (step->kind == TALI_GENERATE_SHIFT) { // a += alpha x d
                const int x = (step->axis + 1) % 3, y = (step->axis + 2) % 3, d = step->distance;
                a->at[x] = add(g, a->at[x], mul(g, d, alpha->at[y]));
                a->at[y] = sub(g, a->at[y], mul(g, d, alpha->at[x]));
            }
            *alpha = tali_generate_outward(g, step, *alpha);
            *a = tali_generate_outward(g, step, *a);
        }
        if (link->kind == TALI_GENERATE_BALL) {
            ball_outward(it, at, i, udot);
        } else {
            udot[link->u] = accelerate(g, &at->joints[link->u], 2, link->sign * link->turn,
                                       link->sign * link->shift, alpha, a);
        }
    }
}

void tali_generate_forward_by_bodies(tali_generate_record *it, const int f[], int udot[])
{
    const tali_generate_tree *const tree = it->tree;
    const size_t n = (size_t)tree->num_links, nu = (size_t)tree->nu;
    work at;
    size_t bytes = 0;
    const tali_piece pieces[] = {
        {&at.bodies, n * sizeof *at.bodies}, {&at.n, n * sizeof *at.n},
        {&at.f, n * sizeof *at.f},           {&at.alpha, n * sizeof *at.alpha},
        {&at.a, n * sizeof *at.a},           {&at.joints, nu * sizeof *at.joints}};
    void *const block =
        tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof *pieces, &bytes);
    if (block == NULL) {
        it->no_memory = true;
        return;
    }
    tali_generate_inverse_dynamics(it, NULL, udot);
    for (int k = 0; k < tree->nu; ++k) {
        udot[k] = sub(it->g, f[k], udot[k]);
    }
    inward(it, &at, udot);
    outward(it, &at, udot);
    tali_free(&it->allocator, block, bytes);
}
