// A bushing between two frames: f_i = -(k_i q_i + g_i(q) + c_i qdot_i).
#include "core/element_internal.h"

#include <talus/forces/bushing.h>

#include <string.h>

typedef struct bushing {
    tali_force_element base;
    int body[2];
    tal_function *law[6]; // owned; NULL: none
} bushing;

// The two frames on the bodies' M frames; here A is body 1's and B body 2's.
typedef struct frames {
    tal_xform X_AF;
    tal_xform X_BM;
} frames;

// Where the frames are, and what the bushing feels.
typedef struct deformation {
    tal_mat3 R_GF;
    tal_vec3 p_AM_G; // from body 1's Mo to the point where the force acts
    tal_vec3 p_BM_G; // the same from body 2's
    tal_vec3 angles, p_FM_F;
    tal_vec3 angles_dot, v_FM_F; // zero below Velocity
} deformation;

static tal_status declare_bushing(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)tali_force_element_declare(self, forces, me);
    tali_force_element_declare_placed(self, forces, sizeof(frames));
    return TAL_OK;
}

static tal_xform frame_from(const double numbers[12])
{
    tal_xform X;
    memcpy(&X, numbers, sizeof X);
    return X;
}

static tal_status realize_instance(const void *self, const tal_force_context *context)
{
    const bushing *it = self;
    const double *geometry = tali_force_geometry(&it->base, context);
    tal_xform X_MB[2];
    for (int k = 0; k < 2; ++k) {
        X_MB[k] = tal_body_X_MB(context->matter, context->state, (tal_body_ix){it->body[k]});
    }
    frames *placed = tal_cache_upd(context->system, context->state, it->base.placed);
    placed->X_AF = tal_xf_mul(X_MB[0], frame_from(geometry + TAL_BUSHING_FRAME_1));
    placed->X_BM = tal_xf_mul(X_MB[1], frame_from(geometry + TAL_BUSHING_FRAME_2));
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

static tal_status fail_singular(const bushing *it, const tal_force_context *context, double angle)
{
    if (context->concurrent) return TAL_ERR_SINGULAR;
    return tal_state_fail(context->state, TAL_ERR_SINGULAR,
                          "bushing '%s' is rotated by %g rad about y: near pi/2 it has no "
                          "rates",
                          tal_force_name(it->base.forces, it->base.me), angle);
}

static deformation posed(const bushing *it, const tal_force_context *context)
{
    static const tal_axis xyz[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const frames *placed = tali_force_placed(&it->base, context);
    const tal_xform *X_GA = tal_view_X_GM(&context->poses, it->body[0]);
    const tal_xform *X_GB = tal_view_X_GM(&context->poses, it->body[1]);
    const tal_xform X_GF = tal_xf_mul(*X_GA, placed->X_AF), X_GM = tal_xf_mul(*X_GB, placed->X_BM);
    const tal_xform X_FM = tal_xf_inv_mul(X_GF, X_GM);
    deformation at = {.R_GF = X_GF.R, .p_FM_F = X_FM.p};
    (void)tal_rotation_to_angles(&X_FM.R, TAL_BODY_FIXED, 3, xyz, &at.angles.x);
    at.p_AM_G = tal_v3_sub(X_GM.p, X_GA->p);
    at.p_BM_G = tal_v3_sub(X_GM.p, X_GB->p);
    return at;
}

// Rates are those seen from F: of the point Mo, less that of the point of body 1 which is there.
static tal_status moving(const bushing *it, const tal_force_context *context, deformation *at)
{
    *at = posed(it, context);
    if (tal_xyz_is_singular(at->angles)) return fail_singular(it, context, at->angles.y);
    const tal_vec3 w_A = tal_view_V_GM(&context->velocities, it->body[0])->w;
    const tal_vec3 w_B = tal_view_V_GM(&context->velocities, it->body[1])->w;
    const tal_vec3 v_A = tali_force_station_velocity(context, it->body[0], at->p_AM_G);
    const tal_vec3 v_B = tali_force_station_velocity(context, it->body[1], at->p_BM_G);
    const tal_vec3 w_FM_F = tal_m3_tmul_v3(at->R_GF, tal_v3_sub(w_B, w_A));
    at->angles_dot = tal_xyz_mul_N_F(at->angles, w_FM_F);
    at->v_FM_F = tal_m3_tmul_v3(at->R_GF, tal_v3_sub(v_B, v_A));
    return TAL_OK;
}

// -(k q + c qdot), for three at a time.
static tal_vec3 resist(const double k[], tal_vec3 q, const double c[], tal_vec3 qdot)
{
    const tal_vec3 elastic = tal_v3_mul(tal_v3(k[0], k[1], k[2]), q);
    const tal_vec3 viscous = tal_v3_mul(tal_v3(c[0], c[1], c[2]), qdot);
    return tal_v3_neg(tal_v3_add(elastic, viscous));
}

// All six in one array: angles, then shifts.
static void as_six(tal_vec3 angles, tal_vec3 shifts, double q[6])
{
    memcpy(q, &angles, sizeof angles);
    memcpy(q + 3, &shifts, sizeof shifts);
}

// What the laws add, -g_i.
static void add_laws(const bushing *it, const deformation *at, tal_vec3 *f_angles, tal_vec3 *f_F)
{
    double q[6], g[6] = {0.0};
    as_six(at->angles, at->p_FM_F, q);
    for (int i = 0; i < 6; ++i) {
        if (it->law[i] == NULL) continue;
        const int n = tal_function_num_args(it->law[i]);
        g[i] = tal_function_calc_value(it->law[i], n == 1 ? &q[i] : q, n);
    }
    *f_angles = tal_v3_sub(*f_angles, tal_v3(g[0], g[1], g[2]));
    *f_F = tal_v3_sub(*f_F, tal_v3(g[3], g[4], g[5]));
}

// How that changes with a change of the six.
static void add_law_changes(const bushing *it, const deformation *at, tal_vec3 d_angles,
                            tal_vec3 d_shifts, tal_vec3 *df_angles, tal_vec3 *df_F)
{
    double q[6], dq[6], dg[6] = {0.0};
    as_six(at->angles, at->p_FM_F, q);
    as_six(d_angles, d_shifts, dq);
    for (int i = 0; i < 6; ++i) {
        if (it->law[i] == NULL) continue;
        const int n = tal_function_num_args(it->law[i]);
        for (int k = 0; k < n; ++k) {
            const double *x = n == 1 ? &q[i] : q;
            const double slope = tal_function_calc_derivative(it->law[i], x, n, &k, 1);
            dg[i] += slope * dq[n == 1 ? i : k];
        }
    }
    *df_angles = tal_v3_sub(*df_angles, tal_v3(dg[0], dg[1], dg[2]));
    *df_F = tal_v3_sub(*df_F, tal_v3(dg[3], dg[4], dg[5]));
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)f;
    const bushing *it = self;
    deformation at;
    const tal_status st = moving(it, context, &at);
    if (st != TAL_OK) return st;
    const double *k = tali_force_element_values(&it->base, context), *c = k + 6;
    tal_vec3 f_angles = resist(k, at.angles, c, at.angles_dot);
    tal_vec3 f_F = resist(k + 3, at.p_FM_F, c + 3, at.v_FM_F);
    add_laws(it, &at, &f_angles, &f_F);
    const tal_vec3 m_F = tal_xyz_tmul_N_F(at.angles, f_angles);
    // moment and force at Mo, where both bodies feel them
    const tal_spatial_vec F_M = tal_m3_mul_sv(at.R_GF, tal_sv(m_F, f_F));
    tal_spatial_vec *F1 = &F[it->body[0]], *F2 = &F[it->body[1]];
    *F1 = tal_sv_sub(*F1, tal_sv_shift_force(F_M, at.p_AM_G));
    *F2 = tal_sv_add(*F2, tal_sv_shift_force(F_M, at.p_BM_G));
    return TAL_OK;
}

// How two things of three numbers change, in F: (d angles, d p_FM) and their rates.
typedef struct deformation_change {
    tal_vec3 turn_F; // small rotation of M in F
    tal_vec3 angles, p_FM_F, angles_dot, v_FM_F;
    tal_vec3 p_AM_G, p_BM_G;
} deformation_change;

// d(R^T x) = R^T (dx - a x x), where F turns by a with body 1.
static tal_vec3 seen_from(const deformation *at, tal_vec3 a, tal_vec3 x_G, tal_vec3 dx_G)
{
    return tal_m3_tmul_v3(at->R_GF, tal_v3_sub(dx_G, tal_v3_cross(a, x_G)));
}

// Both points of M's origin, one on each body, move with their bodies; the arm on body 1 changes
// with where the point is.
static deformation_change change_of(const bushing *it, const tal_force_context *context,
                                    const tal_force_change *change, const deformation *at)
{
    const tal_spatial_vec A = change->dX[it->body[0]], B = change->dX[it->body[1]];
    const tal_spatial_vec dV_A = change->dV[it->body[0]], dV_B = change->dV[it->body[1]];
    const tal_spatial_vec V_A = *tal_view_V_GM(&context->velocities, it->body[0]);
    const tal_spatial_vec V_B = *tal_view_V_GM(&context->velocities, it->body[1]);
    deformation_change d = {.p_BM_G = tal_v3_cross(B.w, at->p_BM_G)};
    const tal_vec3 moved = tal_v3_add(B.v, d.p_BM_G); // of the point of body 2
    d.p_AM_G = tal_v3_sub(moved, A.v);
    d.p_FM_F = tal_m3_tmul_v3(at->R_GF, tal_v3_sub(d.p_AM_G, tal_v3_cross(A.w, at->p_AM_G)));
    d.turn_F = tal_m3_tmul_v3(at->R_GF, tal_v3_sub(B.w, A.w));
    d.angles = tal_xyz_mul_N_F(at->angles, d.turn_F);
    const tal_vec3 w = tal_v3_sub(V_B.w, V_A.w), w_F = tal_m3_tmul_v3(at->R_GF, w);
    const tal_vec3 dw_F = seen_from(at, A.w, w, tal_v3_sub(dV_B.w, dV_A.w));
    d.angles_dot = tal_v3_add(tal_xyz_mul_Ndot_F(at->angles, d.turn_F, w_F),
                              tal_xyz_mul_N_F(at->angles, dw_F));
    const tal_vec3 v_B = tal_v3_add(V_B.v, tal_v3_cross(V_B.w, at->p_BM_G));
    const tal_vec3 v_A = tal_v3_add(V_A.v, tal_v3_cross(V_A.w, at->p_AM_G));
    const tal_vec3 dv_B = tal_v3_add(tal_v3_add(dV_B.v, tal_v3_cross(dV_B.w, at->p_BM_G)),
                                     tal_v3_cross(V_B.w, d.p_BM_G));
    const tal_vec3 dv_A = tal_v3_add(tal_v3_add(dV_A.v, tal_v3_cross(dV_A.w, at->p_AM_G)),
                                     tal_v3_cross(V_A.w, d.p_AM_G));
    d.v_FM_F = seen_from(at, A.w, tal_v3_sub(v_B, v_A), tal_v3_sub(dv_B, dv_A));
    return d;
}

// dN^T f, as M turns by `turn_F` in F: (dN e_j) . f for each j.
static tal_vec3 change_of_NT(const deformation *at, tal_vec3 turn_F, tal_vec3 f)
{
    const tal_vec3 x = tal_xyz_mul_Ndot_F(at->angles, turn_F, tal_v3(1.0, 0.0, 0.0));
    const tal_vec3 y = tal_xyz_mul_Ndot_F(at->angles, turn_F, tal_v3(0.0, 1.0, 0.0));
    const tal_vec3 z = tal_xyz_mul_Ndot_F(at->angles, turn_F, tal_v3(0.0, 0.0, 1.0));
    return tal_v3(tal_v3_dot(x, f), tal_v3_dot(y, f), tal_v3_dot(z, f));
}

// Moment and force at M's origin turn with F, and change in it as the deformation does.
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const bushing *it = self;
    deformation at;
    const tal_status st = moving(it, context, &at);
    if (st != TAL_OK) return st;
    const deformation_change d = change_of(it, context, change, &at);
    const double *k = tali_force_element_values(&it->base, context), *c = k + 6;
    tal_vec3 f_angles = resist(k, at.angles, c, at.angles_dot);
    tal_vec3 f_F = resist(k + 3, at.p_FM_F, c + 3, at.v_FM_F);
    add_laws(it, &at, &f_angles, &f_F);
    const tal_spatial_vec F_M =
        tal_m3_mul_sv(at.R_GF, tal_sv(tal_xyz_tmul_N_F(at.angles, f_angles), f_F));
    tal_vec3 df_angles = resist(k, d.angles, c, d.angles_dot);
    tal_vec3 df_F = resist(k + 3, d.p_FM_F, c + 3, d.v_FM_F);
    add_law_changes(it, &at, d.angles, d.p_FM_F, &df_angles, &df_F);
    const tal_vec3 dm_F =
        tal_v3_add(change_of_NT(&at, d.turn_F, f_angles), tal_xyz_tmul_N_F(at.angles, df_angles));
    const tal_vec3 a = change->dX[it->body[0]].w;
    tal_spatial_vec dF_M = tal_m3_mul_sv(at.R_GF, tal_sv(dm_F, df_F));
    dF_M = tal_sv_add(dF_M, tal_sv(tal_v3_cross(a, F_M.w), tal_v3_cross(a, F_M.v)));
    const tal_vec3 more_1 = tal_v3_cross(d.p_AM_G, F_M.v), more_2 = tal_v3_cross(d.p_BM_G, F_M.v);
    tal_spatial_vec *dF1 = &dF[it->body[0]], *dF2 = &dF[it->body[1]];
    *dF1 = tal_sv_sub(*dF1, tal_sv_shift_force(dF_M, at.p_AM_G));
    *dF2 = tal_sv_add(*dF2, tal_sv_shift_force(dF_M, at.p_BM_G));
    dF1->w = tal_v3_sub(dF1->w, more_1);
    dF2->w = tal_v3_add(dF2->w, more_2);
    return TAL_OK;
}

// sum a_i x_i^2, for three at a time.
static double weighted_square(const double a[], tal_vec3 x)
{
    return tal_v3_dot(tal_v3(a[0], a[1], a[2]), tal_v3_mul(x, x));
}

static tal_status calc_potential_energy(const void *self, const tal_force_context *context,
                                        double *energy)
{
    const bushing *it = self;
    const deformation at = posed(it, context);
    const double *k = tali_force_element_values(&it->base, context);
    *energy = 0.5 * (weighted_square(k, at.angles) + weighted_square(k + 3, at.p_FM_F));
    double q[6];
    as_six(at.angles, at.p_FM_F, q);
    for (int i = 0; i < 6; ++i) {
        const bool stores = it->law[i] != NULL && tal_function_num_args(it->law[i]) == 1;
        if (stores) *energy += tal_function_calc_integral_1(it->law[i], 0.0, q[i]);
    }
    return TAL_OK;
}

static tal_status calc_dissipated_power(const void *self, const tal_force_context *context,
                                        double *power)
{
    const bushing *it = self;
    deformation at;
    const tal_status st = moving(it, context, &at);
    if (st != TAL_OK) return st;
    const double *c = tali_force_element_values(&it->base, context) + 6;
    *power = weighted_square(c, at.angles_dot) + weighted_square(c + 3, at.v_FM_F);
    return TAL_OK;
}

// --- the kind ---

static const char *check(const double params[])
{
    const tal_mat3 R1 = frame_from(params + TAL_BUSHING_FRAME_1).R;
    const tal_mat3 R2 = frame_from(params + TAL_BUSHING_FRAME_2).R;
    const bool good = tal_rotation_is_valid(&R1, TALI_ROTATION_TOLERANCE) &&
                      tal_rotation_is_valid(&R2, TALI_ROTATION_TOLERANCE);
    return good ? NULL : "the axes of a frame are not perpendicular, right-handed and of length 1";
}

// clang-format off
#define THREE(name, rule) {name, rule}, {name, rule}, {name, rule}
#define FRAME(name) THREE(name, TALI_FINITE), THREE(name, TALI_FINITE),                            \
                    THREE(name, TALI_FINITE), THREE(name, TALI_FINITE)

static const tali_force_param params[] = {
    FRAME("frame 1"),
    FRAME("frame 2"),
    THREE("stiffness of a turn", TALI_NOT_NEGATIVE),
    THREE("stiffness of a shift", TALI_NOT_NEGATIVE),
    THREE("damping of a turn", TALI_NOT_NEGATIVE),
    THREE("damping of a shift", TALI_NOT_NEGATIVE),
};

// clang-format on

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const bushing *it = self;
    facts->bodies[0].i = it->body[0];
    facts->bodies[1].i = it->body[1];
    facts->functions = it->law;
}

static void release_laws(void *self)
{
    bushing *it = self;
    for (int i = 0; i < 6; ++i) {
        tal_function_destroy(it->law[i]);
    }
}

static const tali_force_kind bushing_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "bushing",
            .is_concurrent = true,
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare_bushing,
            .realize_instance = realize_instance,
            .calc_potential_energy = calc_potential_energy,
            .calc_dissipated_power = calc_dissipated_power,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_BODIES,
    .params = params,
    .num_params = 36,
    .num_instance = 24,
    .check = check,
    .release = release_laws,
    .fill_facts = fill_facts,
};

tal_bushing_def tal_bushing_def_default(void)
{
    return (tal_bushing_def){.X_B1F = TAL_XFORM_IDENTITY, .X_B2M = TAL_XFORM_IDENTITY};
}

// Whether each law has one argument or six, and slopes.
static bool has_laws(tal_forces *forces, const char *name, const bushing *like)
{
    for (int i = 0; i < 6 && forces != NULL; ++i) {
        if (like->law[i] == NULL) continue;
        const int n = tal_function_num_args(like->law[i]);
        const int order = tal_function_max_order(like->law[i]);
        if ((n == 1 || n == 6) && order >= 1) continue;
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "bushing '%s': its law %d has %d arguments and %d derivatives: it "
                              "needs one or six, and at least one",
                              name != NULL ? name : "(no name)", i, n, order);
        return false;
    }
    return true;
}

tal_force_ix tal_forces_add_bushing(tal_forces *forces, const char *name,
                                    const tal_bushing_def *def)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &bushing_kind, def, "def")) return none;
    bushing like = {.body = {def->body1.i, def->body2.i}};
    memcpy(like.law, def->law, sizeof like.law);
    if (!tali_force_element_has(forces, name, &bushing_kind, def->body1) ||
        !tali_force_element_has(forces, name, &bushing_kind, def->body2) ||
        !has_laws(forces, name, &like)) {
        release_laws(&like);
        return none;
    }
    double initial[36];
    memcpy(initial + TAL_BUSHING_FRAME_1, &def->X_B1F, sizeof def->X_B1F);
    memcpy(initial + TAL_BUSHING_FRAME_2, &def->X_B2M, sizeof def->X_B2M);
    memcpy(initial + TAL_BUSHING_STIFFNESS, def->stiffness, sizeof def->stiffness);
    memcpy(initial + TAL_BUSHING_DAMPING, def->damping, sizeof def->damping);
    return tali_force_element_add(forces, name, &bushing_kind, &like, sizeof like, initial);
}

tal_status tal_bushing_calc_deformation(const tal_forces *forces, tal_state *state,
                                        tal_force_ix force, double q[6], double qdot[6])
{
    const bushing *it = tali_force_element_of(forces, force, &bushing_kind, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (q == NULL || qdot == NULL) return TALI_BREACH(TAL_ERR_NULL, "an output is NULL");
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        return TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Velocity",
                           tal_stage_name(tal_state_stage(state)));
    }
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    if (context.velocities.bytes == NULL) return tal_contract_last()->status;
    deformation at;
    const tal_status st = moving(it, &context, &at);
    if (st != TAL_OK) return st;
    as_six(at.angles, at.p_FM_F, q);
    as_six(at.angles_dot, at.v_FM_F, qdot);
    return TAL_OK;
}
