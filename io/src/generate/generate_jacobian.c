// Jacobians of stations, in Ground: for each speed the angular velocity of the body and the
// velocity of the station, as tal_matter_calc_frame_J().
#include "generate/generate_internal.h"

typedef tali_generate_v3 v3;

// One column: a turn about an axis through the origin of a link, and a shift along it.
static void put_column(tali_graph *g, v3 turn, v3 shift, v3 p_LS, int column[6])
{
    const v3 v = tali_generate_add_v3(g, tali_generate_cross(g, turn, p_LS), shift);
    for (int k = 0; k < 3; ++k) {
        column[k] = turn.at[k];
        column[3 + k] = v.at[k];
    }
}

static v3 axis_of(tali_graph *g, const tali_generate_m3 *R, int k, double scale)
{
    const v3 axis = {{R->at[0][k], R->at[1][k], R->at[2][k]}};
    return tali_generate_scale_v3(g, tali_graph_constant(g, scale), axis);
}

// The columns of the speeds of one link on the path to Ground.
static void columns_of(const tali_generate_record *it, const tali_generate_pose poses[], int i,
                       v3 p_GS, int J[])
{
    tali_graph *const g = it->g;
    const tali_generate_link *const link = &it->tree->links[i];
    const v3 p_LS = tali_generate_sub_v3(g, p_GS, poses[i].p);
    if (link->kind == TALI_GENERATE_AXIAL) {
        const v3 turn = axis_of(g, &poses[i].R, 2, link->sign * link->turn);
        const v3 shift = axis_of(g, &poses[i].R, 2, link->sign * link->shift);
        put_column(g, turn, shift, p_LS, &J[(ptrdiff_t)6 * link->u]);
        return;
    }
    // the speeds of a ball are in the frame before its rotation, or behind it if it is reversed
    tali_generate_m3 R = poses[i].R;
    const tali_generate_way *const way = &it->ways[i];
    for (int row = 0; row < 3 && !link->is_reversed; ++row) {
        const v3 back = tali_generate_inward(g, &way->steps[way->num - 1],
                                             (v3){{R.at[row][0], R.at[row][1], R.at[row][2]}});
        for (int k = 0; k < 3; ++k) {
            R.at[row][k] = back.at[k];
        }
    }
    for (int k = 0; k < 3; ++k) {
        put_column(g, axis_of(g, &R, k, link->sign), TALI_GENERATE_ZERO_V3, p_LS,
                   &J[(ptrdiff_t)6 * (link->u + k)]);
    }
}

void tali_generate_jacobian(tali_generate_record *it, int body, tal_vec3 p_BS, int J[])
{
    const tali_generate_tree *const tree = it->tree;
    const size_t bytes = (size_t)tree->num_links * sizeof(tali_generate_pose);
    tali_generate_pose *const poses = tali_alloc(&it->allocator, bytes);
    for (int i = 0; i < 6 * tree->nu; ++i) {
        J[i] = TALI_GRAPH_ZERO;
    }
    if (poses == NULL) {
        it->no_memory = true;
        return;
    }
    tali_generate_poses(it, poses);
    const int own = tree->link_of[body];
    const tal_vec3 p = tal_xf_apply(tree->X_LB[body], p_BS);
    v3 p_GS = TALI_GENERATE_ZERO_V3;
    if (own >= 0) {
        const v3 p_LS = tali_generate_constant_v3(it->g, p);
        p_GS = tali_generate_add_v3(it->g, poses[own].p,
                                    tali_generate_mul_m3(it->g, &poses[own].R, p_LS));
    }
    for (int i = own; i >= 0; i = tree->links[i].parent) {
        columns_of(it, poses, i, p_GS, J);
    }
    tali_free(&it->allocator, poses, bytes);
}
