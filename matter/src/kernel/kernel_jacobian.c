// Explicit Jacobians: columns along the path from a body to Ground, zeros elsewhere.
//
// Given    view->H, p_PM    hinge columns, and the parent's Mo to Mo, in Ground          Position
//          p                from Mo to a point S of body b
// Compute  rows       w_GB = sum H.w u,   v_GS = sum (H.v + H.w x r) u,  with r from the Mo of each
//                     body on the path to S: (3.2) taken along the path        theory eq. 3.2
//          path_JT    f = H^T F,  F_P += Phi F on the path alone               theory eq. 3.4
//
// Source: manual sec. 12.8 for the operators. r is summed on the way down, so nothing is lost far
// from Ground's origin (RBDA sec. 10.1).
#include "kernel/kernel_math.h"
#include "kernel/kernel_set.h"

// The rows of one point: six of a frame or three of a station.
TAL_ALWAYS_INLINE void write_rows(const int rows, double *at, sv V)
{
    if (rows == 6) store_v3(at, V.w);
    store_v3(at + (rows - 3), V.v);
}

TAL_ALWAYS_INLINE void zero_columns(const int rows, double *J, int ld, int first, int last)
{
    const v3 none = {0.0, 0.0, 0.0};
    for (int j = first; j < last; ++j) {
        write_rows(rows, J + (size_t)j * (size_t)ld, (sv){none, none});
    }
}

// The columns along the path from body b to Ground; zeros elsewhere.
TAL_ALWAYS_INLINE void fill_path(const tali_tree_view *view, const int rows, int b, v3 r, double *J,
                                 int ld)
{
    const tali_tree *tree = view->tree;
    const v3 none = {0.0, 0.0, 0.0};
    int done = tree->num_u;
    for (int a = b; a > 0; a = tree->parent[a]) {
        const int u0 = tree->u0[a], nu = tree->nu[a];
        zero_columns(rows, J, ld, u0 + nu, done);
        done = u0;
        if (tree->hinge[a] == TALI_HINGE_PIN) {
            const v3 w = view->H[u0].w;
            write_rows(rows, J + (size_t)u0 * (size_t)ld, (sv){w, v3_cross(w, r)});
        } else if (tree->hinge[a] == TALI_HINGE_SLIDER) {
            write_rows(rows, J + (size_t)u0 * (size_t)ld, (sv){none, view->H[u0].v});
        } else {
            for (int j = u0; j < u0 + nu; ++j) {
                write_rows(rows, J + (size_t)j * (size_t)ld, sv_shift_motion(view->H[j], r));
            }
        }
        r = v3_add(r, view->p_PM[a]);
    }
    zero_columns(rows, J, ld, 0, done);
}

static void fill_frame_rows(const tali_tree_view *view, int b, tal_vec3 p_MA_G, double *J, int ld)
{
    fill_path(view, 6, b, p_MA_G, J, ld);
}

static void fill_station_rows(const tali_tree_view *view, int b, tal_vec3 p_MS_G, double *J, int ld)
{
    fill_path(view, 3, b, p_MS_G, J, ld);
}

static void pass_path_JT(const tali_tree_view *view, const tali_constraint_path_entry path[],
                         int len, tal_spatial_vec F[], double f[])
{
    const tali_tree *tree = view->tree;
    for (int k = 0; k < len; ++k) {
        const int b = path[k].body;
        const sv *H = view->H + tree->u0[b];
        for (int j = 0; j < tree->nu[b]; ++j) {
            f[path[k].e0 + j] = sv_dot(H[j], F[k]);
        }
        if (path[k].parent < 0) continue;
        sv *parent = &F[path[k].parent];
        *parent = sv_add(*parent, sv_shift_force(F[k], view->p_PM[b]));
    }
}

void TALI_KERNEL(jacobian)(tali_passes *out)
{
    out->frame_rows = fill_frame_rows;
    out->station_rows = fill_station_rows;
    out->path_JT = pass_path_JT;
}
