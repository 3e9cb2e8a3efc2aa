// Jacobians of stations and frames.
#include "operator/operators_internal.h"

#include <limits.h>

tal_status tali_op_num_rows(int n, int each, const char *where)
{
    if (n < 0) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "%d stations: the number must not be negative",
                           n);
    }
    if (n <= INT_MAX / each) return TAL_OK;
    return tali_breach(TAL_ERR_BAD_VALUE, where, "%d stations are too many: %d rows each", n, each);
}

tal_status tali_op_stations(const tal_matter *matter, tal_state *state,
                            const tal_station stations[], int n, const char *where)
{
    const tal_status st = tali_op_num_rows(n, 6, where);
    if (st != TAL_OK) return st;
    if (stations == NULL && n > 0) return tali_breach(TAL_ERR_NULL, where, "stations are NULL");
    for (int k = 0; k < n; ++k) {
        if (tali_tree_body_at(matter, stations[k].body, where) == NULL) {
            return tal_contract_last()->status;
        }
        if (tal_v3_is_finite(stations[k].p_BS)) continue;
        return tal_state_fail(state, TAL_ERR_NOT_FINITE,
                              "station %d on body '%s' is at (%g, %g, %g): give finite numbers", k,
                              matter->bodies[stations[k].body.i].name, stations[k].p_BS.x,
                              stations[k].p_BS.y, stations[k].p_BS.z);
    }
    return TAL_OK;
}

static tal_spatial_vec *take_bodies(const tali_tree_view *view, tal_state *state)
{
    return tal_state_scratch_take(state, (size_t)view->tree->num_bodies * sizeof(tal_spatial_vec));
}

// From Mo to a station, in Ground.
static tal_vec3 reach(const tali_tree_view *view, const tal_station *station)
{
    return tali_op_p_MS_G(view, station->body.i, station->p_BS);
}

// --- explicit, along the path ---

tal_status tal_matter_calc_frame_J(const tal_matter *matter, tal_state *state,
                                   const tal_station frames[], int n, tal_matrix J)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, frames, n, __func__);
    if (st == TAL_OK) st = tali_op_matrix("J", J, 6 * n, view.tree->num_u, __func__);
    if (st != TAL_OK) return st;
    for (int k = 0; k < n; ++k) {
        view.passes->frame_rows(&view, frames[k].body.i, reach(&view, &frames[k]), J.data + 6 * k,
                                J.ld);
    }
    return TAL_OK;
}

tal_status tal_matter_calc_station_J(const tal_matter *matter, tal_state *state,
                                     const tal_station stations[], int n, tal_matrix J)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, stations, n, __func__);
    if (st == TAL_OK) st = tali_op_matrix("J", J, 3 * n, view.tree->num_u, __func__);
    if (st != TAL_OK) return st;
    for (int k = 0; k < n; ++k) {
        view.passes->station_rows(&view, stations[k].body.i, reach(&view, &stations[k]),
                                  J.data + 3 * k, J.ld);
    }
    return TAL_OK;
}

// --- J u ---

// V_GM of all bodies for the speeds u, in scratch memory; NULL with the status when u is bad.
static tal_status move_bodies(const tali_tree_view *view, tal_state *state, const double u[],
                              tal_spatial_vec **V_GM)
{
    const tal_status st = tali_op_finite(state, "u", u, view->tree->num_u);
    if (st != TAL_OK) return st;
    *V_GM = take_bodies(view, state);
    view->passes->J(view, u, *V_GM);
    return TAL_OK;
}

tal_status tal_matter_mul_frame_J(const tal_matter *matter, tal_state *state,
                                  const tal_station frames[], int n, const double u[],
                                  tal_spatial_vec V_GA[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, frames, n, __func__);
    if (st == TAL_OK) st = tali_op_array("u", u, __func__);
    if (st == TAL_OK) st = tali_op_array("V_GA", V_GA, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *V_GM = NULL;
    st = move_bodies(&view, state, u, &V_GM);
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        V_GA[k] = tal_sv_shift_motion(V_GM[frames[k].body.i], reach(&view, &frames[k]));
    }
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? tali_op_result(state, "V_GA", (const double *)V_GA, 6 * n) : st;
}

tal_status tal_matter_mul_station_J(const tal_matter *matter, tal_state *state,
                                    const tal_station stations[], int n, const double u[],
                                    tal_vec3 v_GS[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, stations, n, __func__);
    if (st == TAL_OK) st = tali_op_array("u", u, __func__);
    if (st == TAL_OK) st = tali_op_array("v_GS", v_GS, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *V_GM = NULL;
    st = move_bodies(&view, state, u, &V_GM);
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        v_GS[k] = tal_sv_shift_motion(V_GM[stations[k].body.i], reach(&view, &stations[k])).v;
    }
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? tali_op_result(state, "v_GS", (const double *)v_GS, 3 * n) : st;
}

// --- J^T F ---

tal_status tal_matter_mul_frame_JT(const tal_matter *matter, tal_state *state,
                                   const tal_station frames[], int n, const tal_spatial_vec F_GA[],
                                   double f[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, frames, n, __func__);
    if (st == TAL_OK) st = tali_op_array("F_GA", F_GA, __func__);
    if (st == TAL_OK) st = tali_op_array("f", f, __func__);
    if (st == TAL_OK) st = tali_op_finite_bodies(state, "F_GA", F_GA, n);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = take_bodies(&view, state);
    memset(F, 0, (size_t)view.tree->num_bodies * sizeof *F);
    for (int k = 0; k < n; ++k) {
        tal_spatial_vec *on_body = &F[frames[k].body.i];
        *on_body = tal_sv_add(*on_body, tal_sv_shift_force(F_GA[k], reach(&view, &frames[k])));
    }
    view.passes->JT(&view, F, f);
    tal_state_scratch_release(state, mark);
    return tali_op_result(state, "f", f, view.tree->num_u);
}

tal_status tal_matter_mul_station_JT(const tal_matter *matter, tal_state *state,
                                     const tal_station stations[], int n, const tal_vec3 f_GS[],
                                     double f[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, stations, n, __func__);
    if (st == TAL_OK) st = tali_op_array("f_GS", f_GS, __func__);
    if (st == TAL_OK) st = tali_op_array("f", f, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "f_GS", &f_GS[0].x, 3 * n);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = take_bodies(&view, state);
    memset(F, 0, (size_t)view.tree->num_bodies * sizeof *F);
    for (int k = 0; k < n; ++k) {
        tal_spatial_vec *on_body = &F[stations[k].body.i];
        const tal_spatial_vec at_S = {TAL_VEC3_ZERO, f_GS[k]};
        *on_body = tal_sv_add(*on_body, tal_sv_shift_force(at_S, reach(&view, &stations[k])));
    }
    view.passes->JT(&view, F, f);
    tal_state_scratch_release(state, mark);
    return tali_op_result(state, "f", f, view.tree->num_u);
}

// --- Jdot u ---

tal_status tal_matter_calc_frame_bias(const tal_matter *matter, tal_state *state,
                                      const tal_station frames[], int n, tal_spatial_vec A_GA[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_A0, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, frames, n, __func__);
    if (st == TAL_OK) st = tali_op_array("A_GA", A_GA, __func__);
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        const tali_tree_rates *rates = &view.rates[frames[k].body.i];
        A_GA[k] = tal_sv_shift_acceleration(rates->A0, rates->V.w, reach(&view, &frames[k]));
    }
    return st == TAL_OK ? tali_op_result(state, "A_GA", (const double *)A_GA, 6 * n) : st;
}

tal_status tal_matter_calc_station_bias(const tal_matter *matter, tal_state *state,
                                        const tal_station stations[], int n, tal_vec3 a_GS[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_A0, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, stations, n, __func__);
    if (st == TAL_OK) st = tali_op_array("a_GS", a_GS, __func__);
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        const tali_tree_rates *rates = &view.rates[stations[k].body.i];
        a_GS[k] = tal_sv_shift_acceleration(rates->A0, rates->V.w, reach(&view, &stations[k])).v;
    }
    return st == TAL_OK ? tali_op_result(state, "a_GS", (const double *)a_GS, 3 * n) : st;
}

// --- column by column ---

// Number of speeds, once State and stations are found good.
static tal_status count_speeds(const tal_matter *matter, tal_state *state,
                               const tal_station stations[], int n, int *nu, const char *where)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, where);
    if (st == TAL_OK) st = tali_op_stations(matter, state, stations, n, where);
    *nu = st == TAL_OK ? view.tree->num_u : 0;
    return st;
}

static tal_vec3 *vec3_column(tal_matrix A, int j)
{
    return (tal_vec3 *)(void *)tali_op_column(A, j);
}

tal_status tal_matter_mul_station_J_columns(const tal_matter *matter, tal_state *state,
                                            const tal_station stations[], int n, tal_matrix U,
                                            tal_matrix v_GS)
{
    int nu;
    tal_status st = count_speeds(matter, state, stations, n, &nu, __func__);
    if (st == TAL_OK) st = tali_op_columns(state, "U", U, nu, "v_GS", v_GS, 3 * n, __func__);
    for (int j = 0; j < U.cols && st == TAL_OK; ++j) {
        st = tal_matter_mul_station_J(matter, state, stations, n, tali_op_column(U, j),
                                      vec3_column(v_GS, j));
    }
    return st;
}

tal_status tal_matter_mul_station_JT_columns(const tal_matter *matter, tal_state *state,
                                             const tal_station stations[], int n, tal_matrix f_GS,
                                             tal_matrix f)
{
    int nu;
    tal_status st = count_speeds(matter, state, stations, n, &nu, __func__);
    if (st == TAL_OK) st = tali_op_columns(state, "f_GS", f_GS, 3 * n, "f", f, nu, __func__);
    for (int j = 0; j < f.cols && st == TAL_OK; ++j) {
        st = tal_matter_mul_station_JT(matter, state, stations, n, vec3_column(f_GS, j),
                                       tali_op_column(f, j));
    }
    return st;
}

tal_status tal_matter_mul_frame_J_columns(const tal_matter *matter, tal_state *state,
                                          const tal_station frames[], int n, tal_matrix U,
                                          tal_matrix V_GA)
{
    int nu;
    tal_status st = count_speeds(matter, state, frames, n, &nu, __func__);
    if (st == TAL_OK) st = tali_op_columns(state, "U", U, nu, "V_GA", V_GA, 6 * n, __func__);
    for (int j = 0; j < U.cols && st == TAL_OK; ++j) {
        st = tal_matter_mul_frame_J(matter, state, frames, n, tali_op_column(U, j),
                                    tali_op_spatial_column(V_GA, j));
    }
    return st;
}

tal_status tal_matter_mul_frame_JT_columns(const tal_matter *matter, tal_state *state,
                                           const tal_station frames[], int n, tal_matrix F_GA,
                                           tal_matrix f)
{
    int nu;
    tal_status st = count_speeds(matter, state, frames, n, &nu, __func__);
    if (st == TAL_OK) st = tali_op_columns(state, "F_GA", F_GA, 6 * n, "f", f, nu, __func__);
    for (int j = 0; j < f.cols && st == TAL_OK; ++j) {
        st = tal_matter_mul_frame_JT(matter, state, frames, n, tali_op_spatial_column(F_GA, j),
                                     tali_op_column(f, j));
    }
    return st;
}
