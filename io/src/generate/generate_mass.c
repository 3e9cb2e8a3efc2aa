// The mass matrix by composite bodies (RBDA tab. 6.2), and solving with its factor L^T D L, which
// has zeros where bodies are on different branches (RBDA tab. 6.3).
#include "generate/generate_internal.h"

#define add tali_generate_add
#define sub tali_generate_sub
#define mul tali_generate_mul
#define neg tali_generate_neg

typedef tali_generate_v3 v3;

// A link and what it carries, about its origin.
typedef struct composite {
    int m;
    v3 h;
    tali_generate_m3 I; ///< symmetric; only at[i][j] with i <= j is used
} composite;

static int *entry(tali_generate_m3 *I, int i, int j)
{
    return i < j ? &I->at[i][j] : &I->at[j][i];
}

static composite own_mass(tali_graph *g, const tali_generate_mass *mass)
{
    const double trace = tal_s3_trace(mass->J);
    const tal_mat3 I = tal_m3_from_s3(tal_s3_sub(tal_s3_diag(trace, trace, trace), mass->J));
    const v3 rows[3] = {tali_generate_constant_v3(g, I.x), tali_generate_constant_v3(g, I.y),
                        tali_generate_constant_v3(g, I.z)};
    composite it = {.m = tali_graph_constant(g, mass->m),
                    .h = tali_generate_constant_v3(g, mass->h)};
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            it.I.at[i][j] = rows[i].at[j];
        }
    }
    return it;
}

// About an axis: 8 multiplications and 7 additions, and s^2, c s, 1 - 2 s^2 once for each turn.
static tali_generate_m3 turn_inertia(tali_graph *g, const tali_generate_step *step,
                                     tali_generate_m3 I)
{
    const int z = step->axis, x = (z + 1) % 3, y = (z + 2) % 3;
    const int c = step->cos, s = step->sin;
    const int ss = mul(g, s, s), cs = mul(g, c, s);
    const int two_cs = add(g, cs, cs), cos_2 = sub(g, TALI_GRAPH_ONE, add(g, ss, ss));
    const int xx = I.at[x][x], yy = I.at[y][y];
    const int xy = *entry(&I, x, y), xz = *entry(&I, x, z), yz = *entry(&I, y, z);
    const int diff = sub(g, xx, yy);
    const int t = add(g, mul(g, ss, diff), mul(g, two_cs, xy));
    I.at[x][x] = sub(g, xx, t);
    I.at[y][y] = add(g, yy, t);
    *entry(&I, x, y) = add(g, mul(g, cs, diff), mul(g, cos_2, xy));
    *entry(&I, x, z) = sub(g, mul(g, c, xz), mul(g, s, yz));
    *entry(&I, y, z) = add(g, mul(g, s, xz), mul(g, c, yz));
    return I;
}

// R I R^T.
static tali_generate_m3 rotate_inertia(tali_graph *g, const tali_generate_step *step,
                                       tali_generate_m3 I)
{
    tali_generate_m3 RI, out = I;
    for (int i = 0; i < 3; ++i) {
        const v3 column = {{*entry(&I, 0, i), *entry(&I, 1, i), *entry(&I, 2, i)}};
        const v3 turned = tali_generate_inward(g, step, column);
        for (int k = 0; k < 3; ++k) {
            RI.at[k][i] = turned.at[k];
        }
    }
    for (int i = 0; i < 3; ++i) {
        const v3 row = {{RI.at[i][0], RI.at[i][1], RI.at[i][2]}};
        const v3 turned = tali_generate_inward(g, step, row);
        for (int k = i; k < 3; ++k) {
            out.at[i][k] = turned.at[k];
        }
    }
    return out;
}

// By a distance d along an axis: with h' = h + m d and the sum s = h + h',
// I_xx += d s_z, I_yy += d s_z, I_xz -= d h_x, I_yz -= d h_y.
static composite shift_composite(tali_graph *g, const tali_generate_step *step, composite it)
{
    const int z = step->axis, x = (z + 1) % 3, y = (z + 2) % 3, d = step->distance;
    const int was = it.h.at[z];
    it.h.at[z] = tali_generate_fma(g, was, it.m, d);
    const int more = mul(g, d, add(g, was, it.h.at[z]));
    it.I.at[x][x] = add(g, it.I.at[x][x], more);
    it.I.at[y][y] = add(g, it.I.at[y][y], more);
    *entry(&it.I, x, z) = sub(g, *entry(&it.I, x, z), mul(g, d, it.h.at[x]));
    *entry(&it.I, y, z) = sub(g, *entry(&it.I, y, z), mul(g, d, it.h.at[y]));
    return it;
}

static composite inward(tali_graph *g, const tali_generate_way *way, composite it)
{
    for (int k = way->num - 1; k >= 0; --k) {
        const tali_generate_step *const step = &way->steps[k];
        if (step->kind == TALI_GENERATE_SHIFT) {
            it = shift_composite(g, step, it);
        } else {
            it.h = tali_generate_inward(g, step, it.h);
            it.I = step->kind == TALI_GENERATE_TURN ? turn_inertia(g, step, it.I)
                                                    : rotate_inertia(g, step, it.I);
        }
    }
    return it;
}

static composite sum_of(tali_graph *g, composite a, const composite *b)
{
    a.m = add(g, a.m, b->m);
    a.h = tali_generate_add_v3(g, a.h, b->h);
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            a.I.at[i][j] = add(g, a.I.at[i][j], b->I.at[i][j]);
        }
    }
    return a;
}

// ---- columns ------------------------------------------------------------------------------------

// The motion along one speed of a link, in its frame: angular and linear part.
static void column_of(const tali_generate_record *it, int i, int k, v3 *w, v3 *v)
{
    tali_graph *const g = it->g;
    const tali_generate_link *const link = &it->tree->links[i];
    const tali_generate_way *const way = &it->ways[i];
    *w = *v = TALI_GENERATE_ZERO_V3;
    if (link->kind == TALI_GENERATE_BALL) {
        w->at[k] = tali_graph_constant(g, link->sign);
        if (!link->is_reversed) *w = tali_generate_outward(g, &way->steps[way->num - 1], *w);
        return;
    }
    w->at[2] = tali_graph_constant(g, link->sign * link->turn);
    v->at[2] = tali_graph_constant(g, link->sign * link->shift);
}

// n = I w + h x v, f = m v - h x w.
static void load_of(tali_graph *g, const composite *it, v3 w, v3 v, v3 *n, v3 *f)
{
    tali_generate_m3 I = it->I;
    for (int i = 0; i < 3; ++i) {
        const v3 row = {{*entry(&I, i, 0), *entry(&I, i, 1), *entry(&I, i, 2)}};
        n->at[i] = tali_generate_dot(g, row, w);
    }
    *n = tali_generate_add_v3(g, *n, tali_generate_cross(g, it->h, v));
    *f = tali_generate_sub_v3(g, tali_generate_scale_v3(g, it->m, v),
                              tali_generate_cross(g, it->h, w));
}

// Entries of a column of M: what the speeds of link i feel of a load on it.
static void feel(const tali_generate_record *it, int i, v3 n, v3 f, int column, int M[])
{
    tali_graph *const g = it->g;
    const int nu = it->tree->nu;
    for (int k = 0; k < tali_generate_link_nu(&it->tree->links[i]); ++k) {
        const int row = it->tree->links[i].u + k;
        v3 w, v;
        column_of(it, i, k, &w, &v);
        const int sum = add(g, tali_generate_dot(g, w, n), tali_generate_dot(g, v, f));
        M[row + nu * column] = M[column + nu * row] = sum;
    }
}

static void columns_of_link(const tali_generate_record *it, int i, const composite *all, int M[])
{
    const tali_generate_tree *const tree = it->tree;
    for (int k = 0; k < tali_generate_link_nu(&tree->links[i]); ++k) {
        v3 w, v, n, f;
        column_of(it, i, k, &w, &v);
        load_of(it->g, all, w, v, &n, &f);
        for (int at = i; at >= 0; at = tree->links[at].parent) {
            feel(it, at, n, f, tree->links[i].u + k, M);
            tali_generate_force_to_parent(it->g, &it->ways[at], &n, &f);
        }
    }
}

// Composites inward, and with each the columns of its speeds.
void tali_generate_mass_matrix(tali_generate_record *it, int M[])
{
    const tali_generate_tree *const tree = it->tree;
    const size_t bytes = (size_t)tree->num_links * sizeof(composite);
    composite *const all = tali_alloc(&it->allocator, bytes);
    if (all == NULL) {
        it->no_memory = true;
        return;
    }
    for (int i = 0; i < tree->nu * tree->nu; ++i) {
        M[i] = TALI_GRAPH_ZERO;
    }
    for (int i = 0; i < tree->num_links; ++i) {
        all[i] = own_mass(it->g, &tree->links[i].mass);
    }
    for (int i = tree->num_links - 1; i >= 0; --i) {
        const int parent = tree->links[i].parent;
        columns_of_link(it, i, &all[i], M);
        if (parent < 0) continue;
        const composite there = inward(it->g, &it->ways[i], all[i]);
        all[parent] = sum_of(it->g, all[parent], &there);
    }
    for (int k = 0; k < tree->nu; ++k) {
        int *const diagonal = &M[k + tree->nu * k];
        *diagonal = add(it->g, *diagonal, tali_graph_constant(it->g, tree->rotor[k]));
    }
    tali_free(&it->allocator, all, bytes);
}

// ---- solving ------------------------------------------------------------------------------------

// Speeds from tip to base, and which speed each hangs on: all of a chain of links in one order.
static void order_of(const tali_generate_tree *tree, int below[])
{
    for (int i = 0; i < tree->num_links; ++i) {
        const tali_generate_link *const link = &tree->links[i];
        const int nu = tali_generate_link_nu(link);
        int last = -1;
        if (link->parent >= 0) {
            const tali_generate_link *const parent = &tree->links[link->parent];
            last = parent->u + tali_generate_link_nu(parent) - 1;
        }
        for (int k = 0; k < nu; ++k) {
            below[link->u + k] = k == 0 ? last : link->u + k - 1;
        }
    }
}

// M = L^T D L in place, with 1/D on the diagonal; speeds in the order of links.
static void factor(const tali_generate_record *it, const int below[], const int order[], int M[])
{
    tali_graph *const g = it->g;
    const int nu = it->tree->nu;
    for (int o = nu - 1; o >= 0; --o) {
        const int k = order[o];
        const int inverse = tali_generate_div(g, TALI_GRAPH_ONE, M[k + nu * k]);
        M[k + nu * k] = inverse;
        for (int i = below[k]; i >= 0; i = below[i]) {
            const int L = mul(g, M[k + nu * i], inverse);
            for (int j = i; j >= 0; j = below[j]) {
                M[i + nu * j] = sub(g, M[i + nu * j], mul(g, L, M[k + nu * j]));
            }
            M[k + nu * i] = L;
        }
    }
}

static void solve(const tali_generate_record *it, const int below[], const int order[],
                  const int L[], int x[])
{
    tali_graph *const g = it->g;
    const int nu = it->tree->nu;
    for (int o = nu - 1; o >= 0; --o) {
        const int k = order[o];
        for (int i = below[k]; i >= 0; i = below[i]) {
            x[i] = sub(g, x[i], mul(g, L[k + nu * i], x[k]));
        }
        x[k] = mul(g, x[k], L[k + nu * k]);
    }
    for (int o = 0; o < nu; ++o) {
        const int k = order[o];
        for (int i = below[k]; i >= 0; i = below[i]) {
            x[k] = sub(g, x[k], mul(g, L[k + nu * i], x[i]));
        }
    }
}

// Factor M and solve for all columns.
void tali_generate_solve_mass(tali_generate_record *it, int columns[], int n)
{
    const tali_generate_tree *const tree = it->tree;
    const size_t nu = (size_t)tree->nu;
    int *M, *below, *order;
    size_t bytes = 0;
    const tali_piece pieces[] = {
        {&M, nu * nu * sizeof *M}, {&below, nu * sizeof *below}, {&order, nu * sizeof *order}};
    void *const block = tali_alloc_pieces(&it->allocator, pieces, 3, &bytes);
    if (block == NULL) {
        it->no_memory = true;
        return;
    }
    int count = 0;
    for (int i = 0; i < tree->num_links; ++i) {
        for (int k = 0; k < tali_generate_link_nu(&tree->links[i]); ++k) {
            order[count++] = tree->links[i].u + k;
        }
    }
    order_of(tree, below);
    tali_generate_mass_matrix(it, M);
    factor(it, below, order, M);
    for (int i = 0; i < n; ++i) {
        solve(it, below, order, M, columns + (size_t)i * nu);
    }
    tali_free(&it->allocator, block, bytes);
}

void tali_generate_forward_by_mass(tali_generate_record *it, const int f[], int udot[])
{
    tali_generate_inverse_dynamics(it, NULL, udot);
    for (int k = 0; k < it->tree->nu; ++k) {
        udot[k] = sub(it->g, f[k], udot[k]);
    }
    tali_generate_solve_mass(it, udot, 1);
}
