// Which rows of the constraints repeat others: the scale on which that is decided.
#include "constraint/constraint_rank_internal.h"

#include <float.h>
#include <math.h>

// A pivot that has lost all except this much of its diagonal entry was the difference of equal
// numbers.
static double round_off(int rows)
{
    return 64.0 * (double)rows * DBL_EPSILON;
}

double tali_constraint_redundant_share(int rows, double error)
{
    const double sigma = TALI_RANK_MARGIN * error;
    return fmax(round_off(rows), fmin(sigma * sigma, TALI_LARGEST_REDUNDANT_SHARE));
}

double tali_constraint_row_length(const tal_matter *matter, const tali_tree_view *view,
                                  const tali_constraint *c, const double g[], double reach)
{
    double most = 0.0;
    for (int k = 0; k < c->path_len; ++k) {
        const tali_constraint_path_entry at = matter->constraints.path[c->path0 + k];
        const tal_spatial_vec *H = view->H + matter->tree.u0[at.body];
        for (int j = 0; j < matter->tree.nu[at.body]; ++j) {
            const bool turns = tal_v3_dot(H[j].w, H[j].w) > 0.0;
            most = fmax(most, fabs(g[at.e0 + j]) * (turns ? 1.0 : reach));
        }
    }
    return most;
}

// Of one constraint. F and g are room for its path.
static tal_status see_constraint(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, const double *wrenches, int i,
                                 tal_spatial_vec F[], double g[], double *turn)
{
    const tali_constraint *c = &matter->constraints.list[i];
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(matter, state, view, i, NULL, NULL, &room);
    const tal_status st = c->ops.calc_p(c->self, &arg, room.rows);
    if (st != TAL_OK) return st;
    const double reach = tali_constraint_reach(matter, view, c);
    for (int r = 0; r < c->ops.mp; ++r) {
        tali_constraint_row(matter, view, c, tali_constraint_wrenches_in(c, wrenches), r, reach, F,
                            g);
        const double length = tali_constraint_row_length(matter, view, c, g, reach);
        *turn = fmax(*turn, tali_constraint_turn(room.rows[r], length));
    }
    return TAL_OK;
}

tal_status tali_constraint_block_turn(const tal_matter *matter, tal_state *state,
                                      const tali_tree_view *view,
                                      const tali_constraint_row_map *map, const double *wrenches,
                                      int block, double *turn)
{
    const tali_constraints *cs = &matter->constraints;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = tal_state_scratch_take(state, (size_t)cs->max_path_len * sizeof *F + 1);
    double *g = tal_state_scratch_take(state, ((size_t)matter->tree.num_u + 1) * sizeof *g);
    tal_status st = F != NULL && g != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    *turn = 0.0;
    for (int n = cs->block_begin[block]; n < cs->block_begin[block + 1] && st == TAL_OK; ++n) {
        const int i = cs->by_block[n];
        if (map->row0[i] < 0 || cs->list[i].ops.mp == 0) continue;
        st = see_constraint(matter, state, view, wrenches, i, F, g, turn);
    }
    tal_state_scratch_release(state, mark);
    return st;
}
