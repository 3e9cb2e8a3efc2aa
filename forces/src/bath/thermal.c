// What thermostats know of the bodies: inertias and their square roots.
#include "bath/thermal_internal.h"

#include <math.h>

void tali_thermal_reserve(tali_force_element *it, tal_forces *forces)
{
    const size_t n = (size_t)tal_matter_num_bodies(tal_forces_matter(forces));
    tali_force_element_reserve_place(it, forces, n * sizeof(tali_thermal_body));
}

// A diag(sqrt(lambda)), with the axes A and the eigenvalues lambda of S; what round-off made
// negative counts as zero.
static tal_mat3 root_of(tal_sym3 S)
{
    tal_mat3 A;
    const tal_vec3 lambda = tal_s3_eigen(S, &A);
    return tal_m3(tal_v3_scale(sqrt(fmax(lambda.x, 0.0)), A.x),
                  tal_v3_scale(sqrt(fmax(lambda.y, 0.0)), A.y),
                  tal_v3_scale(sqrt(fmax(lambda.z, 0.0)), A.z));
}

tal_status tali_thermal_place(const void *self, const tal_force_context *context)
{
    tali_thermal_body *bodies = tali_force_element_upd_place(self, context);
    bodies[0] = (tali_thermal_body){.mass = 0.0};
    for (int b = 1; b < tal_matter_num_bodies(context->matter); ++b) {
        const tal_body_ix body = {b};
        const tal_xform X_MB = tal_body_X_MB(context->matter, context->state, body);
        const tal_mass_props in_B = tal_body_mass_props(context->matter, context->state, body);
        const tal_mass_props in_M = tal_mass_props_transform(&X_MB, &in_B);
        const tal_sym3 I_C_M = tal_mass_props_central_inertia(in_M);
        bodies[b] = (tali_thermal_body){
            .com_M = in_M.com,
            .I_C_M = I_C_M,
            .root = root_of(I_C_M),
            .mass = in_M.mass,
            .rotor = tal_body_rotor_inertia(context->matter, context->state, body),
            .u = tal_body_u_start(context->matter, body),
        };
    }
    return TAL_OK;
}

// Of the center of mass C: h_C = R I_C R^T w and p = m v_C; about Mo: h_C + p_MC x p.
tal_spatial_vec tali_thermal_momentum(const tali_thermal_body *body,
                                      const tal_force_context *context, int b)
{
    const tal_mat3 R_GM = tal_view_X_GM(&context->poses, b)->R;
    const tal_spatial_vec V_GM = *tal_view_V_GM(&context->velocities, b);
    const tal_vec3 p_MC_G = tal_m3_mul_v3(R_GM, body->com_M);
    const tal_vec3 v_C = tal_v3_add(V_GM.v, tal_v3_cross(V_GM.w, p_MC_G));
    const tal_vec3 p = tal_v3_scale(body->mass, v_C);
    const tal_vec3 h_M = tal_s3_mul_v3(body->I_C_M, tal_m3_tmul_v3(R_GM, V_GM.w));
    return tal_sv(tal_v3_add(tal_m3_mul_v3(R_GM, h_M), tal_v3_cross(p_MC_G, p)), p);
}

double tali_thermal_rotor_speed(const tali_thermal_body *body, const tal_force_context *context,
                                int b)
{
    if (!(body->rotor > 0.0)) return 0.0;
    return tal_body_u(context->matter, context->state, (tal_body_ix){b}, 0);
}

double tali_thermal_energy(const tali_force_element *it, const tal_force_context *context)
{
    const tali_thermal_body *bodies = tali_force_place(it, context);
    double sum = 0.0;
    for (int b = 1; b < context->poses.num_bodies; ++b) {
        const tal_spatial_vec momentum = tali_thermal_momentum(&bodies[b], context, b);
        sum += tal_sv_dot(momentum, *tal_view_V_GM(&context->velocities, b));
        const double u = tali_thermal_rotor_speed(&bodies[b], context, b);
        sum += bodies[b].rotor * u * u;
    }
    return 0.5 * sum;
}

// --- in a small motion ---

// The parts of a momentum, and of its change as the body turns by t and its velocity changes.
typedef struct parts {
    tal_vec3 h, p;          // about C, in Ground
    tal_vec3 dh, dp;        // their changes
    tal_vec3 p_MC, dp_MC;   // from Mo to C
    tal_vec3 dw_along, dvC; // changes of w as the body sees it, and of v_C
} parts;

// With I w in Ground: d(I w) = t x (I w) + I (dw - t x w).
static parts parts_of(const tali_thermal_body *body, const tal_force_context *context,
                      const tal_force_change *change, int b)
{
    const tal_mat3 R_GM = tal_view_X_GM(&context->poses, b)->R;
    const tal_spatial_vec V = *tal_view_V_GM(&context->velocities, b);
    const tal_vec3 t = change->dX[b].w, dw = change->dV[b].w;
    parts at = {.p_MC = tal_m3_mul_v3(R_GM, body->com_M)};
    at.dp_MC = tal_v3_cross(t, at.p_MC);
    at.dw_along = tal_v3_sub(dw, tal_v3_cross(t, V.w));
    const tal_vec3 vC = tal_v3_add(V.v, tal_v3_cross(V.w, at.p_MC));
    at.dvC = tal_v3_add(change->dV[b].v, tal_v3_cross(dw, at.p_MC));
    at.dvC = tal_v3_add(at.dvC, tal_v3_cross(V.w, at.dp_MC));
    const tal_vec3 w_M = tal_m3_tmul_v3(R_GM, V.w), dw_M = tal_m3_tmul_v3(R_GM, at.dw_along);
    at.h = tal_m3_mul_v3(R_GM, tal_s3_mul_v3(body->I_C_M, w_M));
    at.dh =
        tal_v3_add(tal_v3_cross(t, at.h), tal_m3_mul_v3(R_GM, tal_s3_mul_v3(body->I_C_M, dw_M)));
    at.p = tal_v3_scale(body->mass, vC);
    at.dp = tal_v3_scale(body->mass, at.dvC);
    return at;
}

tal_spatial_vec tali_thermal_momentum_change(const tali_thermal_body *body,
                                             const tal_force_context *context,
                                             const tal_force_change *change, int b)
{
    const parts at = parts_of(body, context, change, b);
    const tal_vec3 dm = tal_v3_add(tal_v3_cross(at.dp_MC, at.p), tal_v3_cross(at.p_MC, at.dp));
    return tal_sv(tal_v3_add(at.dh, dm), at.dp);
}

// dK = h . (dw - t x w) + p . dv_C, and for rotors r u du.
double tali_thermal_energy_change(const tali_force_element *it, const tal_force_context *context,
                                  const tal_force_change *change)
{
    const tali_thermal_body *bodies = tali_force_place(it, context);
    double sum = 0.0;
    for (int b = 1; b < context->poses.num_bodies; ++b) {
        const parts at = parts_of(&bodies[b], context, change, b);
        sum += tal_v3_dot(at.h, at.dw_along) + tal_v3_dot(at.p, at.dvC);
        if (!(bodies[b].rotor > 0.0)) continue;
        const double u = tali_thermal_rotor_speed(&bodies[b], context, b);
        sum += bodies[b].rotor * u * change->du[bodies[b].u];
    }
    return sum;
}

void tali_thermal_add_friction_change(const tali_force_element *it,
                                      const tal_force_context *context,
                                      const tal_force_change *change, double gamma,
                                      tal_spatial_vec dF[], double df[])
{
    const tali_thermal_body *bodies = tali_force_place(it, context);
    for (int b = 1; b < context->poses.num_bodies; ++b) {
        const tal_spatial_vec d = tali_thermal_momentum_change(&bodies[b], context, change, b);
        dF[b] = tal_sv_axpy(-gamma, d, dF[b]);
        if (!(bodies[b].rotor > 0.0)) continue;
        df[bodies[b].u] -= gamma * bodies[b].rotor * change->du[bodies[b].u];
    }
}
