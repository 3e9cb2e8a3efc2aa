// Gaps of elements, all at once: those of points and spheres over planes, and of spheres, straight
// from the poses of two bodies, the others by their constraints.
//
//     gap = n . (S - P) - radius             rate = n . (v2 - v1) at S    n and P of the plane
//     gap = |C2 - C1| - radius1 - radius2    rate = n . (v2 - v1)         n from center to center
//     gap = radius1 - radius2 - |C2 - C1|    rate = n . (v1 - v2)         of one within the other
#include "constraint/type/constraint_builtin_internal.h"
#include "unilateral/unilateral_internal.h"

#include <talus/matter/impact.h>

#include <math.h>

/// A body as it moves, kept from element to element.
typedef struct seen_body {
    int b; ///< -1: none yet
    tal_xform X;
    tal_spatial_vec V;
} seen_body;

tali_unilateral_quick tali_unilateral_quick_of(const tal_matter *matter, int i)
{
    const tali_unilateral *it = &matter->unilaterals.list[i];
    tali_unilateral_quick quick = {.kind = TALI_UNILATERAL_NO_GAP};
    if (it->normal < 0 || it->is_ratchet) return quick;
    const tali_constraint *c = &matter->constraints.list[it->normal];

    static const struct {
        uint64_t tag;
        int sign;
        tali_unilateral_gap_kind kind;
    } known[] = {{TALI_TAG_POINT_OVER_PLANE, 1, TALI_UNILATERAL_POINT_GAP},
                 {TALI_TAG_SPHERE_ON_PLANE_CONTACT, 1, TALI_UNILATERAL_SPHERE_GAP},
                 {TALI_TAG_SPHERE_ON_SPHERE_CONTACT, 1, TALI_UNILATERAL_SPHERES_GAP},
                 {TALI_TAG_SPHERE_IN_SPHERE_CONTACT, -1, TALI_UNILATERAL_INSIDE_GAP}};

    quick.kind = TALI_UNILATERAL_ANY_GAP;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
        const bool is_it = c->ops.tag == known[k].tag && it->sign == known[k].sign;
        if (is_it && tali_constraint_is_builtin(&c->ops)) quick.kind = known[k].kind;
    }
    const bool is_quick = quick.kind != TALI_UNILATERAL_ANY_GAP;
    quick.normal = it->normal;
    quick.param0 = c->param0;
    if (is_quick) quick.bodies[0] = c->bodies[0], quick.bodies[1] = c->bodies[1];
    return quick;
}

static void see(const tali_tree_view *view, int b, bool moves, seen_body *at)
{
    if (at->b == b) return;
    *at = (seen_body){.b = b, .X = TAL_XFORM_IDENTITY, .V = TAL_SPATIAL_VEC_ZERO};
    if (b == 0) return;
    const tal_mat3 R_GM = view->pose[b].R_GM;
    const tal_vec3 p_MB = tal_m3_mul_v3(R_GM, view->constants[b].X_MB.p);
    at->X =
        tal_xf(tal_m3_mul(R_GM, view->constants[b].X_MB.R), tal_v3_add(view->pose[b].p_GM, p_MB));
    if (moves) at->V = tal_sv_shift_motion(view->rates[b].V, p_MB);
}

// Of two spheres, or its rate. Centers that coincide are apart along z, as for their constraint.
static double spheres_value(const tali_unilateral_quick *quick, const double params[], bool is_rate,
                            const seen_body at[2])
{
    const tal_vec3 c1 = tali_constraint_v3_from(params + TAL_SPHERE_ON_SPHERE_CENTER_1);
    const tal_vec3 c2 = tali_constraint_v3_from(params + TAL_SPHERE_ON_SPHERE_CENTER_2);
    const double radius1 = params[TAL_SPHERE_ON_SPHERE_RADIUS_1];
    const double radius2 = params[TAL_SPHERE_ON_SPHERE_RADIUS_2];
    const tal_vec3 r1 = tal_m3_mul_v3(at[0].X.R, c1), r2 = tal_m3_mul_v3(at[1].X.R, c2);
    const tal_vec3 d = tal_v3_sub(tal_v3_add(at[1].X.p, r2), tal_v3_add(at[0].X.p, r1));
    const double distance = tal_v3_norm(d);
    const bool is_inside = quick->kind == TALI_UNILATERAL_INSIDE_GAP;
    if (!is_rate) return is_inside ? radius1 - radius2 - distance : distance - radius1 - radius2;
    const tal_vec3 n = distance > 0.0 ? tal_v3_scale(1.0 / distance, d) : tal_v3(0.0, 0.0, 1.0);
    const tal_vec3 v =
        tal_v3_sub(tal_sv_shift_motion(at[1].V, r2).v, tal_sv_shift_motion(at[0].V, r1).v);
    return is_inside ? -tal_v3_dot(n, v) : tal_v3_dot(n, v);
}

// The gap, or its rate. Most planes are Ground's.
static double quick_value(const tali_unilateral_quick *quick, const double all_params[],
                          const tali_tree_view *view, bool is_rate, seen_body at[2])
{
    const double *params = all_params + quick->param0;
    const bool is_fixed = quick->bodies[0] == 0,
               is_plane = quick->kind < TALI_UNILATERAL_SPHERES_GAP;
    if (!is_fixed || !is_plane) see(view, quick->bodies[0], is_rate, &at[0]);
    see(view, quick->bodies[1], is_rate, &at[1]);
    if (!is_plane) return spheres_value(quick, params, is_rate, at);
    const tal_vec3 n_1 = tali_constraint_v3_from(params + 6);
    const tal_vec3 n = is_fixed ? n_1 : tal_m3_mul_v3(at[0].X.R, n_1);
    const tal_vec3 r =
        tal_m3_mul_v3(at[1].X.R, tali_constraint_v3_from(params + TAL_POINT_ON_PLANE_STATION));
    const tal_vec3 S = tal_v3_add(at[1].X.p, r);
    if (is_rate) {
        const tal_vec3 v2 = tal_sv_shift_motion(at[1].V, r).v;
        if (is_fixed) return tal_v3_dot(n, v2);
        const tal_vec3 v1 = tal_sv_shift_motion(at[0].V, tal_v3_sub(S, at[0].X.p)).v;
        return tal_v3_dot(n, tal_v3_sub(v2, v1));
    }
    const tal_vec3 P_1 = tali_constraint_v3_from(params + 9);
    const tal_vec3 P = is_fixed ? P_1 : tal_xf_apply(at[0].X, P_1);
    const double height = tal_v3_dot(n, tal_v3_sub(S, P));
    return quick->kind == TALI_UNILATERAL_SPHERE_GAP ? height - params[TAL_SPHERE_ON_PLANE_RADIUS]
                                                     : height;
}

bool tali_unilateral_quick_gap(const tal_matter *matter, tal_state *state,
                               const tali_tree_view *view, int i, bool is_rate, double *value)
{
    const tali_unilateral_quick *quick = &matter->unilaterals.quick[i];
    if (quick->kind < TALI_UNILATERAL_POINT_GAP) return false;
    const double *params = tali_cache_var_in(matter->system, state, matter->constraints.var_params);
    seen_body at[2] = {{.b = -1}, {.b = -1}};
    *value = quick_value(quick, params, view, is_rate, at);
    return true;
}

tal_status tal_matter_calc_gaps(const tal_matter *matter, tal_state *state, bool rates,
                                double values[])
{
    if (matter == NULL || values == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "matter or 'values' is NULL");
    }
    const tali_unilaterals *all = &matter->unilaterals;
    if (all->count == 0) return TAL_OK;
    if (tali_cache_var_read(matter->system, state, all->enabled, __func__) == NULL) {
        return tal_contract_last()->status;
    }
    const tal_system *system = matter->system;
    const uint8_t *parts = tali_cache_var_in(system, state, matter->constraints.enabled);
    const uint8_t *enabled = tali_cache_var_in(system, state, all->enabled);
    const double *params = tali_cache_var_in(system, state, matter->constraints.var_params);
    seen_body at[2] = {{.b = -1}, {.b = -1}};
    tali_tree_view view;
    const tal_stage stage = rates ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION;
    bool has_view = false; // where nothing is open none is needed
    for (int i = 0; i < all->count; ++i) {
        const tali_unilateral_quick *quick = &all->quick[i];
        values[i] = (double)INFINITY;
        if (quick->kind == TALI_UNILATERAL_NO_GAP || !enabled[i] || parts[quick->normal]) continue;
        has_view = has_view || tali_unilateral_view(matter, state, stage, &view);
        if (!has_view) return tal_state_error(state)->status;
        const tal_unilateral_ix element = {i};
        values[i] = quick->kind >= TALI_UNILATERAL_POINT_GAP
                        ? quick_value(quick, params, &view, rates, at)
                    : rates ? tal_unilateral_speed(matter, state, element)
                            : tal_unilateral_gap(matter, state, element);
    }
    return TAL_OK;
}
