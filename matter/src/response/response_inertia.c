// Inertias of bodies, alone and with what they carry, and the forces that their velocities need.
#include "kernel/kernel_inertia.h"
#include "kernel/passes_internal.h"
#include "response/response_internal.h"
#include "stage/stages_internal.h"

#include <math.h>

// --- lazy entries ---

tal_status tali_tree_calc_composites(const void *self, const tal_system *system, tal_state *state,
                                     void *value)
{
    (void)system;
    tali_tree_view view;
    tali_tree_view_of(self, state, TALI_INERTIA, &view);
    view.passes->composite(&view, value);
    return TAL_OK;
}

// A second run of the pass that fills "articulated inertias", this time keeping every P. It has
// succeeded once, so it does again; Ground, which no pass reaches, cannot be moved.
tal_status tali_tree_calc_inertias(const void *self, const tal_system *system, tal_state *state,
                                   void *value)
{
    (void)system;
    tali_tree_view view;
    if (!tali_tree_realize_view(self, state, TALI_INERTIA, &view)) {
        return tal_state_error(state)->status;
    }
    const size_t mark = tal_state_scratch_mark(state);
    const size_t slots = (size_t)view.tree->num_slots + 1;
    tali_kernel_open_inertia *open = tal_state_scratch_take(state, slots * sizeof *open);
    const tali_tree_articulated at = {
        tal_state_scratch_take(state, ((size_t)view.tree->num_u + 1) * sizeof(tal_spatial_vec)),
        tal_state_scratch_take(state, ((size_t)view.tree->num_d + 1) * sizeof(double)), value};
    const double inf = (double)INFINITY;
    const tal_sym3 infinite = tal_s3_diag(inf, inf, inf);
    at.P[0] = (tal_abi){infinite, TAL_MAT3_ZERO, infinite};
    const bool ok = view.passes->articulated(&view, &at, open);
    tal_state_scratch_release(state, mark);
    return ok ? TAL_OK : TAL_ERR_SINGULAR;
}

// --- rigid and composite ---

// From Mo to Bo.
static tali_tree_composite about_B(const tali_tree_composite *about_M, tal_vec3 p_MB_G)
{
    const tal_vec3 p_BM_G = tal_v3_neg(p_MB_G);
    return (tali_tree_composite){about_M->mass, tal_v3_axpy(about_M->mass, p_BM_G, about_M->mc),
                                 shift_moments(about_M->I, about_M->mass, about_M->mc, p_BM_G)};
}

static tal_spatial_inertia spatial_inertia(const tali_tree_composite *rigid)
{
    if (rigid->mass == 0.0) return (tal_spatial_inertia){0.0, TAL_VEC3_ZERO, TAL_SYM3_ZERO};
    const double per_mass = 1.0 / rigid->mass;
    return (tal_spatial_inertia){rigid->mass, tal_v3_scale(per_mass, rigid->mc),
                                 tal_s3_scale(per_mass, rigid->I)};
}

// One body alone, about its Bo in Ground.
static tali_tree_composite alone(const tali_response_seen *seen, int b)
{
    const tali_tree_composite about_M = place_rigid(&seen->pose[b], &seen->constants[b]);
    return about_B(&about_M, tali_response_p_MB_G(seen, b));
}

static bool see_body(const tali_response_question *ask, tal_body_ix body, tali_response_seen *seen)
{
    return tali_tree_body_at(ask->matter, body, ask->where) != NULL && tali_response_see(ask, seen);
}

static const tal_spatial_inertia NAN_INERTIA = {
    TALI_NAN,
    {TALI_NAN, TALI_NAN, TALI_NAN},
    {TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN}};

tal_spatial_inertia tal_body_spatial_inertia(const tal_matter *matter, const tal_state *state,
                                             tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    tali_response_seen seen;
    if (!see_body(&ask, body, &seen)) return NAN_INERTIA;
    const tali_tree_composite rigid = alone(&seen, body.i);
    return spatial_inertia(&rigid);
}

// A lazy entry, and p_MB of a body in Ground; NULL after reporting why not.
static const void *realize_for(const tal_matter *matter, tal_state *state, tal_body_ix body,
                               tal_cache_ix entry, tal_vec3 *p_MB_G)
{
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_POSITION, &view)) return NULL;
    *p_MB_G = tal_m3_mul_v3(view.pose[body.i].R_GM, view.constants[body.i].X_MB.p);
    return tal_cache_realize(matter->system, state, entry);
}

tal_spatial_inertia tal_body_composite_inertia(const tal_matter *matter, tal_state *state,
                                               tal_body_ix body)
{
    if (tali_tree_body_at(matter, body, __func__) == NULL) return NAN_INERTIA;
    tal_vec3 p_MB_G;
    const tali_tree_composite *all = realize_for(matter, state, body, matter->composites, &p_MB_G);
    if (all == NULL) return NAN_INERTIA;
    const tali_tree_composite rigid = about_B(&all[body.i], p_MB_G);
    return spatial_inertia(&rigid);
}

tal_abi tal_body_articulated_inertia(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    const tal_mat3 nan3 = {TALI_NAN_V3, TALI_NAN_V3, TALI_NAN_V3};
    const tal_abi none = {TALI_NAN_S3, nan3, TALI_NAN_S3};
    if (tali_tree_body_at(matter, body, __func__) == NULL) return none;
    tal_vec3 p_MB_G;
    const tal_abi *P = realize_for(matter, state, body, matter->inertias, &p_MB_G);
    if (P == NULL) return none;
    // shifting Ground's would make NaN of infinite minus infinite
    return body.i == 0 ? P[0] : tal_abi_shift(P[body.i], tal_v3_neg(p_MB_G));
}

// --- forces due to velocities ---

tal_spatial_vec tal_body_gyroscopic_force(const tal_matter *matter, const tal_state *state,
                                          tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    tali_response_seen seen;
    if (!see_body(&ask, body, &seen)) return TALI_NAN_SV;
    const tali_tree_composite rigid = alone(&seen, body.i);
    const tal_vec3 w = seen.rates[body.i].V.w;
    return tal_sv(tal_v3_cross(w, tal_s3_mul_v3(rigid.I, w)),
                  tal_v3_cross(w, tal_v3_cross(w, rigid.mc)));
}

// A State that has reached Velocity, with the accelerations at udot = 0.
static bool see_A0(const tali_response_question *ask, tal_state *state, tal_body_ix body,
                   tali_response_seen *seen)
{
    if (!see_body(ask, body, seen)) return false;
    tali_tree_view view;
    tali_tree_view_of(ask->matter, state, TALI_VELOCITY, &view);
    tali_stage_fill_A0(ask->matter, state, &view);
    return true;
}

// A_GB at udot = 0.
static tal_spatial_vec total_coriolis(const tali_response_seen *seen, int b)
{
    const tali_tree_rates *rates = &seen->rates[b];
    return tal_sv_shift_acceleration(rates->A0, rates->V.w, tali_response_p_MB_G(seen, b));
}

tal_spatial_vec tal_body_total_coriolis(const tal_matter *matter, tal_state *state,
                                        tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    tali_response_seen seen;
    return see_A0(&ask, state, body, &seen) ? total_coriolis(&seen, body.i) : TALI_NAN_SV;
}

tal_spatial_vec tal_body_mobilizer_coriolis(const tal_matter *matter, tal_state *state,
                                            tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    tali_response_seen seen;
    if (!see_A0(&ask, state, body, &seen)) return TALI_NAN_SV;
    if (body.i == 0) return TAL_SPATIAL_VEC_ZERO;
    const int b = body.i, p = matter->tree.parent[b];
    const tal_vec3 p_PB_G =
        tal_v3_sub(tal_v3_add(seen.p_PM[b], tali_response_p_MB_G(&seen, b)),
                   tali_response_p_MB_G(&seen, p)); // from the parent's Bo to this Bo
    return tal_sv_sub(total_coriolis(&seen, b),
                      tal_sv_shift_motion(total_coriolis(&seen, p), p_PB_G));
}

tal_spatial_vec tal_body_centrifugal_force(const tal_matter *matter, tal_state *state,
                                           tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    tali_response_seen seen;
    if (!see_A0(&ask, state, body, &seen)) return TALI_NAN_SV;
    const tal_vec3 p_BM_G = tal_v3_neg(tali_response_p_MB_G(&seen, body.i));
    const tali_tree_composite rigid = place_rigid(&seen.pose[body.i], &seen.constants[body.i]);
    const tali_tree_rates *rates = &seen.rates[body.i];
    return tal_sv_shift_force(newton_euler(&rigid, rates->A0, rates->V.w), p_BM_G);
}
