// Inverse dynamics, by Newton and Euler in frames of the links (RBDA tab. 5.1).
//
//     outward   w, wdot of each link; a: acceleration of its origin, -g at the base
//     U = wdot~ + w~ w~, so that a point r of the link has the acceleration a + U r
//     f = m a + U h          n = h x a + sum m r x U r, from the second moments J
//     inward    the forces of children, less what acts on the link
#include "generate/generate_internal.h"

#define add tali_generate_add
#define sub tali_generate_sub
#define mul tali_generate_mul
#define neg tali_generate_neg

typedef tali_generate_v3 v3;

typedef struct motion {
    v3 w, wdot, a;
} motion;

typedef struct work {
    motion *motions; ///< [num_links]
    tali_generate_loads loads;
    v3 *n, *f; ///< [num_links] what the link needs, and all that it carries
} work;

// Column `k` of U.
static v3 column_of_U(tali_graph *g, const motion *at, int k)
{
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const int *const w = at->w.at, *const d = at->wdot.at;
    v3 out;
    out.at[k] = neg(g, add(g, mul(g, w[i], w[i]), mul(g, w[j], w[j])));
    out.at[i] = add(g, mul(g, w[k], w[i]), d[j]);
    out.at[j] = sub(g, mul(g, w[k], w[j]), d[i]);
    return out;
}

static motion outward(tali_graph *g, const tali_generate_step *step, motion at)
{
    if (step->kind == TALI_GENERATE_SHIFT) {
        const v3 U_k = column_of_U(g, &at, step->axis);
        at.a = tali_generate_add_v3(g, at.a, tali_generate_scale_v3(g, step->distance, U_k));
        return at;
    }
    return (motion){.w = tali_generate_outward(g, step, at.w),
                    .wdot = tali_generate_outward(g, step, at.wdot),
                    .a = tali_generate_outward(g, step, at.a)};
}

// A joint about and along z. U along z is the same for both links, so the shift may use either.
static motion move_along_z(tali_graph *g, const tali_generate_link *link, motion at, int u,
                           int udot)
{
    const int turn = tali_graph_constant(g, link->sign * link->turn);
    const int slide = tali_graph_constant(g, link->sign * link->shift);
    const int wz = mul(g, turn, u), vz = mul(g, slide, u);
    const v3 w = at.w;
    // wdot += w x z wz + z wdot_z           a += 2 w x z vz + z vdot_z
    const int two_vz = mul(g, tali_graph_constant(g, 2.0), vz);
    at.a.at[0] = tali_generate_fma(g, at.a.at[0], w.at[1], two_vz);
    at.a.at[1] = sub(g, at.a.at[1], mul(g, w.at[0], two_vz));
    at.a.at[2] = add(g, at.a.at[2], mul(g, slide, udot));
    at.wdot.at[0] = tali_generate_fma(g, at.wdot.at[0], w.at[1], wz);
    at.wdot.at[1] = sub(g, at.wdot.at[1], mul(g, w.at[0], wz));
    at.wdot.at[2] = add(g, at.wdot.at[2], mul(g, turn, udot));
    at.w.at[2] = add(g, w.at[2], wz);
    return at;
}

// w and wdot across a ball; u is in the parent, or in the link if the mobilizer is reversed.
static motion turn_ball(tali_graph *g, const tali_generate_link *link, motion at, v3 u, v3 udot)
{
    const v3 more = tali_generate_cross(g, at.w, u);
    at.wdot = tali_generate_add_v3(g, at.wdot, tali_generate_add_v3(g, more, udot));
    at.w = tali_generate_add_v3(g, at.w, u);
    (void)link;
    return at;
}

static v3 ball_speeds(tali_graph *g, const tali_generate_link *link, const int u[])
{
    const int sign = tali_graph_constant(g, link->sign);
    v3 out;
    for (int i = 0; i < 3; ++i) {
        out.at[i] = u == NULL ? TALI_GRAPH_ZERO : mul(g, sign, u[link->u + i]);
    }
    return out;
}

// The motion of a link from that of its parent: across the fixed steps, the joint, its shift.
static motion motion_of(const tali_generate_record *it, int i, motion at, const int udot[])
{
    tali_graph *const g = it->g;
    const tali_generate_link *const link = &it->tree->links[i];
    const tali_generate_way *const way = &it->ways[i];
    const bool is_ball = link->kind == TALI_GENERATE_BALL;
    const v3 u = is_ball ? ball_speeds(g, link, it->u) : TALI_GENERATE_ZERO_V3;
    const v3 u_dot = is_ball ? ball_speeds(g, link, udot) : TALI_GENERATE_ZERO_V3;
    for (int k = 0; k < way->num_fixed; ++k) {
        at = outward(g, &way->steps[k], at);
    }
    if (is_ball && !link->is_reversed) at = turn_ball(g, link, at, u, u_dot);
    int k = way->num_fixed;
    if (k < way->num && way->steps[k].kind != TALI_GENERATE_SHIFT) {
        at = outward(g, &way->steps[k++], at);
    }
    if (is_ball && link->is_reversed) at = turn_ball(g, link, at, u, u_dot);
    if (!is_ball) {
        at = move_along_z(g, link, at, it->u[link->u],
                          udot == NULL ? TALI_GRAPH_ZERO : udot[link->u]);
    }
    if (k < way->num) at = outward(g, &way->steps[k], at);
    return at;
}

// The moment of the masses about the origin of their link, by cyclic components:
// U_zx J_xy - U_yx J_xz + (w_z^2 - w_y^2) J_yz + U_zy J_yy - U_yz J_zz + (h x a)_x.
static v3 moment_of(tali_graph *g, const tali_generate_mass *mass, const motion *at)
{
    const tal_mat3 J = tal_m3_from_s3(mass->J);
    const tal_vec3 *const rows[3] = {&J.x, &J.y, &J.z};
    const v3 U[3] = {column_of_U(g, at, 0), column_of_U(g, at, 1), column_of_U(g, at, 2)};
    v3 n = tali_generate_cross(g, tali_generate_constant_v3(g, mass->h), at->a);
    for (int x = 0; x < 3; ++x) {
        const int y = (x + 1) % 3, z = (x + 2) % 3;
        const v3 Jy = tali_generate_constant_v3(g, *rows[y]);
        const v3 Jz = tali_generate_constant_v3(g, *rows[z]);
        const int *const w = at->w.at;
        const int squares = sub(g, mul(g, w[z], w[z]), mul(g, w[y], w[y]));
        int sum = sub(g, mul(g, U[y].at[z], Jy.at[y]), mul(g, U[z].at[y], Jz.at[z]));
        sum = tali_generate_fma(g, sum, squares, Jy.at[z]);
        sum = tali_generate_fma(g, sum, U[x].at[z], Jy.at[x]);
        sum = sub(g, sum, mul(g, U[x].at[y], Jz.at[x]));
        n.at[x] = add(g, n.at[x], sum);
    }
    return n;
}

static v3 force_of(tali_graph *g, const tali_generate_mass *mass, const motion *at)
{
    const v3 h = tali_generate_constant_v3(g, mass->h);
    v3 f = tali_generate_scale_v3(g, tali_graph_constant(g, mass->m), at->a);
    for (int k = 0; k < 3; ++k) {
        const v3 U_k = tali_generate_scale_v3(g, h.at[k], column_of_U(g, at, k));
        f = tali_generate_add_v3(g, f, U_k);
    }
    return f;
}

// The part of a link's load that its joint's speeds feel.
static void take_along(const tali_generate_record *it, int i, v3 n, v3 f, int along[])
{
    tali_graph *const g = it->g;
    const tali_generate_link *const link = &it->tree->links[i];
    if (link->kind == TALI_GENERATE_BALL) {
        const tali_generate_way *const way = &it->ways[i];
        if (!link->is_reversed) n = tali_generate_inward(g, &way->steps[way->num - 1], n);
        for (int k = 0; k < 3; ++k) {
            along[link->u + k] = mul(g, tali_graph_constant(g, link->sign), n.at[k]);
        }
        return;
    }
    const int turn = tali_graph_constant(g, link->sign * link->turn);
    const int slide = tali_graph_constant(g, link->sign * link->shift);
    along[link->u] = add(g, mul(g, turn, n.at[2]), mul(g, slide, f.at[2]));
}

static void inward(const tali_generate_record *it, work *at, int f[])
{
    tali_graph *const g = it->g;
    const tali_generate_tree *const tree = it->tree;
    for (int i = tree->num_links - 1; i >= 0; --i) {
        const int parent = tree->links[i].parent;
        take_along(it, i, at->n[i], at->f[i], f);
        if (parent < 0) continue;
        tali_generate_force_to_parent(g, &it->ways[i], &at->n[i], &at->f[i]);
        at->n[parent] = tali_generate_add_v3(g, at->n[parent], at->n[i]);
        at->f[parent] = tali_generate_add_v3(g, at->f[parent], at->f[i]);
    }
}

static void outward_all(const tali_generate_record *it, work *at, const int udot[])
{
    tali_graph *const g = it->g;
    const tali_generate_tree *const tree = it->tree;
    const motion base = {.a = tali_generate_constant_v3(g, tal_v3_neg(at->loads.g))};
    for (int i = 0; i < tree->num_links; ++i) {
        const int parent = tree->links[i].parent;
        motion *const own = &at->motions[i];
        *own = motion_of(it, i, parent < 0 ? base : at->motions[parent], udot);
        at->n[i] = moment_of(g, &tree->links[i].mass, own);
        at->n[i] = tali_generate_sub_v3(g, at->n[i], at->loads.n[i]);
        at->f[i] = force_of(g, &tree->links[i].mass, own);
        at->f[i] = tali_generate_sub_v3(g, at->f[i], at->loads.f[i]);
    }
}

// Outward, inward, and what acts along speeds besides.
void tali_generate_inverse_dynamics(tali_generate_record *it, const int udot[], int f[])
{
    const tali_generate_tree *const tree = it->tree;
    const size_t n = (size_t)tree->num_links, nu = (size_t)tree->nu;
    work at;
    size_t bytes = 0;
    const tali_piece pieces[] = {{&at.motions, n * sizeof *at.motions},
                                 {&at.n, n * sizeof *at.n},
                                 {&at.f, n * sizeof *at.f},
                                 {&at.loads.n, n * sizeof *at.loads.n},
                                 {&at.loads.f, n * sizeof *at.loads.f},
                                 {&at.loads.along, nu * sizeof *at.loads.along}};
    void *const block =
        tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof *pieces, &bytes);
    if (block == NULL) {
        it->no_memory = true;
        return;
    }
    at.loads.g = TAL_VEC3_ZERO;
    tali_generate_forces(it, &at.loads);
    outward_all(it, &at, udot);
    inward(it, &at, f);
    for (int k = 0; k < tree->nu; ++k) {
        const int rotor = tali_graph_constant(it->g, tree->rotor[k]);
        if (udot != NULL) f[k] = tali_generate_fma(it->g, f[k], rotor, udot[k]);
        f[k] = sub(it->g, f[k], at.loads.along[k]);
    }
    tali_free(&it->allocator, block, bytes);
}
