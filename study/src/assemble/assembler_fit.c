// Fitting from far away: body by body from the base outward, then all together (manual sec. 2.6).
#include "assemble/assembler_internal.h"

#include <math.h>
#include <string.h>

// Eigenvalues that differ by less, relative to their size, are the same one.
static const double SAME_EIGENVALUE = 1e-6;

// --- where a body would be if it were free ---

// The rotation that takes points a to points b best (Horn, J. Opt. Soc. Am. A 4 (1987) 629): its
// quaternion is the eigenvector of the largest eigenvalue of a symmetric matrix made of
// S = sum w a b^T. False when the points do not say it: fewer than three, or in a line.
static bool best_rotation(tal_mat3 S, tal_mat3 *R)
{
    double N[16], w[4], work[256];
    const double xx = S.x.x, xy = S.y.x, xz = S.z.x; // S.y.x is row x, column y
    const double yx = S.x.y, yy = S.y.y, yz = S.z.y;
    const double zx = S.x.z, zy = S.y.z, zz = S.z.z;
    const double rows[16] = {xx + yy + zz, yz - zy,      zx - xz,       xy - yx,
                             yz - zy,      xx - yy - zz, xy + yx,       zx + xz,
                             zx - xz,      xy + yx,      -xx + yy - zz, yz + zy,
                             xy - yx,      zx + xz,      yz + zy,       -xx - yy + zz};
    memcpy(N, rows, sizeof N);
    const int size = tal_lapack_eig_sym_work_size(4);
    const bool is_solved = size <= 256 && tal_lapack_eig_sym(tal_matrix_view(N, 4, 4), w, true,
                                                             work, size, NULL) == TAL_OK;
    // ascending eigenvalues; the two largest agree when a turn about some line changes nothing
    if (!is_solved || !(w[3] - w[2] > SAME_EIGENVALUE * fabs(w[3]))) return false;
    *R = tal_rotation_from_qt(tal_qt(N[12], N[13], N[14], N[15]));
    return true;
}

// Mean places of a body's markers, on it and observed, by weight. How many are seen.
static int find_means(const tal_assembler *it, int b, tal_vec3 *p_BC, tal_vec3 *p_GC)
{
    double sum = 0.0;
    int count = 0;
    *p_BC = *p_GC = TAL_VEC3_ZERO;
    for (int k = 0; k < it->def.num_markers; ++k) {
        const tal_marker *marker = &it->def.markers[k];
        if (marker->body.i != b || !it->seen->markers[k] || marker->weight == 0.0) continue;
        *p_BC = tal_v3_axpy(marker->weight, marker->p_BS, *p_BC);
        *p_GC = tal_v3_axpy(marker->weight, it->seen->points[k], *p_GC);
        sum += marker->weight;
        ++count;
    }
    if (count == 0) return 0;
    *p_BC = tal_v3_scale(1.0 / sum, *p_BC);
    *p_GC = tal_v3_scale(1.0 / sum, *p_GC);
    return count;
}

// Puts the body where its own markers want it, as far as its mobilizer lets it.
static tal_status place_body(tal_assembler *it, tal_state *state, tal_body_ix body)
{
    tal_vec3 p_BC, p_GC;
    if (find_means(it, body.i, &p_BC, &p_GC) < 3) return TAL_OK;
    tal_mat3 S = {TAL_VEC3_ZERO, TAL_VEC3_ZERO, TAL_VEC3_ZERO}, R_GB;
    for (int k = 0; k < it->def.num_markers; ++k) {
        const tal_marker *marker = &it->def.markers[k];
        if (marker->body.i != body.i || !it->seen->markers[k]) continue;
        const tal_vec3 a = tal_v3_scale(marker->weight, tal_v3_sub(marker->p_BS, p_BC));
        const tal_vec3 b = tal_v3_sub(it->seen->points[k], p_GC);
        S.x = tal_v3_axpy(b.x, a, S.x), S.y = tal_v3_axpy(b.y, a, S.y);
        S.z = tal_v3_axpy(b.z, a, S.z);
    }
    if (!best_rotation(S, &R_GB)) return TAL_OK;
    const tal_xform X_GB = {R_GB, tal_v3_sub(p_GC, tal_m3_mul_v3(R_GB, p_BC))};
    const tal_xform X_GP = tal_body_X_GB(it->matter, state, tal_body_parent(it->matter, body));
    const tal_xform X_GF = tal_xf_mul(X_GP, tal_body_X_PF(it->matter, state, body));
    const tal_xform X_GM = tal_xf_mul(X_GB, tal_body_X_BM(it->matter, state, body));
    const tal_xform X_FM = tal_xf_mul(tal_xf_inverse(X_GF), X_GM);
    tal_status st = tal_body_fit_q(it->matter, state, body, &X_FM);
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tali_assembler_keep_ranges(it, state);
    return tali_assembler_pass_on(it, state, st);
}

// --- one body after the other ---

// A body that is held in part is not put anywhere, only moved.
static bool is_all_free(const tal_assembler *it, tal_body_ix body)
{
    const int u0 = tal_body_u_start(it->matter, body);
    for (int j = 0; j < tal_body_nu(it->matter, body); ++j) {
        if (!it->at.is_free[u0 + j]) return false;
    }
    return true;
}

// Lets only this body's speeds be free, and only its markers count.
static bool look_only_at(tal_assembler *it, const bool seen[], const bool is_free[], int b)
{
    const tal_body_ix body = {b};
    const int u0 = tal_body_u_start(it->matter, body), end = u0 + tal_body_nu(it->matter, body);
    bool any_free = false, any_seen = false;
    for (int i = 0; i < it->nu; ++i) {
        it->at.is_free[i] = is_free[i] && i >= u0 && i < end;
        any_free = any_free || it->at.is_free[i];
    }
    for (int k = 0; k < it->def.num_markers; ++k) {
        it->seen->markers[k] = seen[k] && it->def.markers[k].body.i == b;
        any_seen = any_seen || it->seen->markers[k];
    }
    return any_free && any_seen;
}

static tal_status place_bodies_outward(tal_assembler *it, tal_state *state, const bool seen[],
                                       const bool is_free[])
{
    tal_status st = TAL_OK;
    for (int b = 1; b < tal_matter_num_bodies(it->matter) && st == TAL_OK; ++b) {
        if (!look_only_at(it, seen, is_free, b)) continue;
        const tal_body_ix body = {b};
        if (is_all_free(it, body)) st = place_body(it, state, body);
        tali_assembler_use_observed(it, it->seen);
        tal_assembly alone = {0};
        if (st == TAL_OK) st = tali_assembler_goal(it, state, &alone.goal);
        if (st == TAL_OK) st = tali_assembler_improve(it, state, &alone);
    }
    return st;
}

// Constraints and other goals wait until all bodies are placed.
tal_status tali_assembler_place_bodies(tal_assembler *it, tal_state *state)
{
    tali_assembler_observed aside = it->of_q, markers_only = it->of_q;
    markers_only.markers = it->fit_markers;
    markers_only.sensors = it->fit_sensors; // none is ever seen
    const tal_assembler_def def = it->def;
    const int num_rows = it->num_rows, num_turns = it->num_turns;
    it->def.num_coordinates = it->def.num_goals = 0;
    it->def.stay_close = 0.0;
    it->num_rows = it->num_turns = 0;
    memcpy(it->fit_free, it->at.is_free, (size_t)it->nu * sizeof(bool));
    it->seen = &markers_only; // cppcheck-suppress autoVariables ; as long as this function lasts
    const tal_status st = place_bodies_outward(it, state, aside.markers, it->fit_free);
    memcpy(it->at.is_free, it->fit_free, (size_t)it->nu * sizeof(bool));
    it->def = def;
    it->num_rows = num_rows;
    it->num_turns = num_turns;
    tali_assembler_use_observed(it, &it->of_q);
    return st;
}
