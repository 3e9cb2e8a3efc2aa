// Composite rigid bodies: the mass matrix, block by block along the paths to Ground.
//
//   quantity                     RBDA              here
//   composite inertia            I^c   eq. 6.17    composite: mass, m c, inertia about Mo
//   I^c S                        F     eq. 6.19    F, about the Mo of the body reached so far
//   S_j^T F                      H_ij  eq. 6.20    M
//
// Given    view->rigid, H, p_PM   each body's inertia about Mo, hinge columns, Mo to Mo, in Ground
// Compute  C_i  = M_i + sum over children of Phi C Phi^T                         theory eq. 5.1
//          M_ji = H_j^T Phi ... Phi C_i H_i                                      theory eq. 5.2
//
// Everything is about some Mo and in Ground, so a step towards Ground costs one cross product.
//
// Source: RBDA tab. 6.2.
#include "kernel/kernel_inertia.h"
#include "kernel/kernel_set.h"

// --- composite inertias ---

// The inertia of `child`, taken about a point from which its own point is at p, added to `at`.
static inline void add_composite(tali_tree_composite *at, const tali_tree_composite *child, v3 p)
{
    at->mass += child->mass;
    at->mc = v3_add(at->mc, v3_axpy(child->mass, p, child->mc));
    at->I = s3_add(at->I, shift_moments(child->I, child->mass, child->mc, p));
}

static inline tali_tree_composite own_inertia(const tali_tree_view *view, int b)
{
    return view->rigid[b];
}

// I^c of body b, given what its children handed down.
static inline tali_tree_composite close_composite(const tali_tree_view *view, int b,
                                                  const tali_tree_composite open[])
{
    const tali_tree *tree = view->tree;
    tali_tree_composite C = own_inertia(view, b);
    if (!tree->is_leaf[b]) {
        const tali_tree_composite *sum = &open[tree->slot[b]];
        C.mass += sum->mass;
        C.mc = v3_add(C.mc, sum->mc);
        C.I = s3_add(C.I, sum->I);
    }
    return C;
}

static inline void hand_down(const tali_tree_view *view, int b, const tali_tree_composite *C,
                             tali_tree_composite open[])
{
    const tali_tree *tree = view->tree;
    tali_tree_composite *sum = &open[tree->slot[tree->parent[b]]];
    if (tree->is_last[b]) *sum = (tali_tree_composite){.mass = 0.0};
    add_composite(sum, C, view->p_PM[b]);
}

static inline sv composite_mul(const tali_tree_composite *C, sv V)
{
    return (sv){v3_add_cross(s3_mul_v3(C->I, V.w), C->mc, V.v),
                v3_add_cross(v3_scale(C->mass, V.v), V.w, C->mc)};
}

// --- M ---

// I^c H of the speeds met so far, one number after the other over the speeds, in depth-first order:
// those of a subtree are then neighbors, and one step towards Ground serves them all.
typedef struct columns {
    double *wx, *wy, *wz; ///< moments about the Mo reached so far
    double *vx, *vy, *vz; ///< forces
} columns;

static inline columns cut_columns(double *room, int n)
{
    const size_t step = (size_t)n;
    return (columns){room,           room + step, room + 2 * step, room + 3 * step, room + 4 * step,
                     room + 5 * step};
}

static inline void put_column(const columns *F, int k, sv V)
{
    F->wx[k] = V.w.x, F->wy[k] = V.w.y, F->wz[k] = V.w.z;
    F->vx[k] = V.v.x, F->vy[k] = V.v.y, F->vz[k] = V.v.z;
}

// The body's own columns, and its block of M: lower triangle.
static inline void start_columns(const tali_tree_view *view, int b, const tali_tree_composite *C,
                                 const columns *F, double *M, int ld, bool without_rotors)
{
    const int nu = view->tree->nu[b], u0 = view->tree->u0[b], k0 = view->tree->place[b];
    const sv *H = view->H + u0;
    for (int j = 0; j < nu; ++j) {
        const sv I_H = composite_mul(C, H[j]);
        double *column = M + (size_t)(u0 + j) * (size_t)ld + (size_t)u0;
        put_column(F, k0 + j, I_H);
        for (int i = j; i < nu; ++i) {
            column[i] = sv_dot(H[i], I_H);
        }
    }
    if (nu == 1 && !without_rotors) {
        M[(size_t)u0 * (size_t)ld + (size_t)u0] += view->constants[b].rotor;
    }
}

// One step towards Ground: the moments about the parent's Mo, p_PM away.
static void shift_columns(const columns *F, int first, int last, v3 p)
{
    double *wx = F->wx, *wy = F->wy, *wz = F->wz;
    const double *vx = F->vx, *vy = F->vy, *vz = F->vz;
    INDEPENDENT
    for (int k = first; k < last; ++k) {
        wx[k] += fused(p.y, vz[k], -(p.z * vy[k]));
        wy[k] += fused(p.z, vx[k], -(p.x * vz[k]));
        wz[k] += fused(p.x, vy[k], -(p.y * vx[k]));
    }
}

// The same, and the product with the parent's pin: H = [w; 0].
static void shift_columns_to_pin(const columns *F, int first, int last, v3 p, v3 w, double *row)
{
    double *wx = F->wx, *wy = F->wy, *wz = F->wz;
    const double *vx = F->vx, *vy = F->vy, *vz = F->vz;
    INDEPENDENT
    for (int k = first; k < last; ++k) {
        const real nx = wx[k] + fused(p.y, vz[k], -(p.z * vy[k]));
        const real ny = wy[k] + fused(p.z, vx[k], -(p.x * vz[k]));
        const real nz = wz[k] + fused(p.x, vy[k], -(p.y * vx[k]));
        wx[k] = nx, wy[k] = ny, wz[k] = nz;
        row[k] = fused(w.x, nx, fused(w.y, ny, w.z * nz));
    }
}

static void dot_columns(const columns *F, int first, int last, sv H, double *row)
{
    INDEPENDENT
    for (int k = first; k < last; ++k) {
        const sv V = {{F->wx[k], F->wy[k], F->wz[k]}, {F->vx[k], F->vy[k], F->vz[k]}};
        row[k] = sv_dot(H, V);
    }
}

// Column `j` of M below the diagonal gets the entries of one subtree. `row` is M's own memory if
// the bodies are numbered depth first; otherwise its values go to the speeds they belong to.
static inline void scatter(const tali_kernel_mass_matrix_room *room, int first, int last,
                           double *column)
{
    for (int k = first; k < last && room->speed_at != NULL; ++k) {
        column[room->speed_at[k]] = room->row[k];
    }
}

// Takes all that body b carries, and b, to its parent, and couples them with the parent's speeds.
static void step_to_parent(const tali_tree_view *view, int b, const columns *F, double *M, int ld,
                           const tali_kernel_mass_matrix_room *room)
{
    const tali_tree *tree = view->tree;
    const int parent = tree->parent[b], u0 = tree->u0[parent];
    const int first = tree->place[b], last = first + tree->span[b];
    const sv *H = view->H + u0;
    double *column = M + (size_t)u0 * (size_t)ld;
    const bool direct = room->speed_at == NULL;
    if (tree->hinge[parent] == TALI_HINGE_PIN) {
        shift_columns_to_pin(F, first, last, view->p_PM[b], H[0].w, direct ? column : room->row);
        scatter(room, first, last, column);
        return;
    }
    shift_columns(F, first, last, view->p_PM[b]);
    for (int j = 0; j < tree->nu[parent]; ++j, column += ld) {
        dot_columns(F, first, last, H[j], direct ? column : room->row);
        scatter(room, first, last, column);
    }
}

// Speeds of which neither is outboard of the other are not coupled (RBDA sec. 6.4). Returns at once
// if there are none.
static void zero_uncoupled(const tali_tree *tree, double *M, int ld)
{
    int64_t coupled = 0;
    for (int b = 1; b < tree->num_bodies; ++b) {
        coupled += (int64_t)tree->nu[b] * (2 * tree->span[b] - tree->nu[b]);
    }
    const size_t n = (size_t)tree->num_u;
    for (size_t j = 0; j < n && coupled < (int64_t)(n * n); ++j) {
        memset(M + j * (size_t)ld, 0, n * sizeof *M);
    }
}

static void pass_mass_matrix(const tali_tree_view *view, double *M, int ld,
                             const tali_kernel_mass_matrix_room *room)
{
    const tali_tree *tree = view->tree;
    const columns F = cut_columns(room->F, tree->num_u);
    for (int b = 1; b < tree->num_bodies && room->speed_at != NULL; ++b) {
        for (int j = 0; j < tree->nu[b]; ++j) {
            room->speed_at[tree->place[b] + j] = tree->u0[b] + j;
        }
    }
    zero_uncoupled(tree, M, ld);
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const tali_tree_composite C = close_composite(view, b, room->open);
        start_columns(view, b, &C, &F, M, ld, room->without_rotors);
        if (tree->parent[b] == 0) continue;
        step_to_parent(view, b, &F, M, ld, room);
        hand_down(view, b, &C, room->open);
    }
}

// --- M along the paths to Ground ---

// H^T F of speed j of body b.
static inline real along_speed(const tali_tree_view *view, int b, int j, sv F)
{
    const sv *H = view->H + view->tree->u0[b] + j;
    return view->tree->hinge[b] == TALI_HINGE_PIN ? v3_dot(H->w, F.w) : sv_dot(*H, F);
}

// The row of speed j of body b; where the next one begins.
static inline real *mass_row(const tali_tree_view *view, const tali_tree_composite *composite,
                             int b, int j, real *row)
{
    const tali_tree *tree = view->tree;
    sv F = composite_mul(composite, view->H[tree->u0[b] + j]);
    real *diagonal = row;
    for (int i = j; i >= 0; --i) {
        *row++ = along_speed(view, b, i, F);
    }
    *diagonal += tree->nu[b] == 1 ? view->constants[b].rotor : 0.0;
    for (int a = b, p = tree->parent[b]; p > 0; a = p, p = tree->parent[p]) {
        F = sv_shift_force(F, view->p_PM[a]);
        for (int i = tree->nu[p] - 1; i >= 0; --i) {
            *row++ = along_speed(view, p, i, F);
        }
    }
    return row;
}

static void pass_mass_rows(const tali_tree_view *view, const tali_tree_composite composite[],
                           double rows[])
{
    const tali_tree *tree = view->tree;
    for (int b = 1; b < tree->num_bodies; ++b) {
        for (int j = 0; j < tree->nu[b]; ++j) {
            rows = mass_row(view, &composite[b], b, j, rows);
        }
    }
}

void TALI_KERNEL(composite)(tali_passes *out)
{
    out->mass_matrix = pass_mass_matrix;
    out->mass_rows = pass_mass_rows;
}
