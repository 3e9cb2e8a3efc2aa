// A sphere on a half-space whose force has two continuous derivatives.
#include "contact/contact_law_internal.h"
#include "contact/on_plane_internal.h"

#include <talus/forces/smooth_contact.h>

typedef struct smooth_contact {
    tali_on_plane base;
    bool has_kink;
} smooth_contact;

// The values, by their numbers less the geometry before them.
enum {
    FIRST = TAL_SMOOTH_STIFFNESS
};

static double value(const double values[], int which)
{
    return values[which - FIRST];
}

static tali_contact_smooth edges(const double values[])
{
    return (tali_contact_smooth){.cf = value(values, TAL_SMOOTH_CF),
                                 .bd = value(values, TAL_SMOOTH_BD),
                                 .bv = value(values, TAL_SMOOTH_BV)};
}

// The numbers of the law besides its edges.
typedef struct law {
    double E, c, vt;
    tal_contact_pair_material pair;
} law;

static law law_of(const double values[])
{
    return (law){.E = value(values, TAL_SMOOTH_STIFFNESS),
                 .c = value(values, TAL_SMOOTH_DISSIPATION),
                 .vt = value(values, TAL_SMOOTH_TRANSITION_SPEED),
                 .pair = {.static_friction = value(values, TAL_SMOOTH_STATIC_FRICTION),
                          .dynamic_friction = value(values, TAL_SMOOTH_DYNAMIC_FRICTION),
                          .viscous_friction = value(values, TAL_SMOOTH_VISCOUS_FRICTION)}};
}

// mu(v) / v, and its slope.
static double friction_at(const smooth_contact *it, const law *at, double speed)
{
    return it->has_kink ? tali_contact_hollars(&at->pair, at->vt, speed)
                        : tali_contact_stribeck(&at->pair, at->vt, speed);
}

static double friction_slope_at(const smooth_contact *it, const law *at, double speed)
{
    return it->has_kink ? tali_contact_hollars_slope(&at->pair, at->vt, speed)
                        : tali_contact_stribeck_slope(&at->pair, at->vt, speed);
}

// The contact at one instant.
typedef struct touch {
    tal_vec3 p_G, f_G;
    double power;
} touch;

static double radius_of(const smooth_contact *it, const tal_force_context *context)
{
    return tali_force_geometry(&it->base.base, context)[TAL_SMOOTH_RADIUS];
}

// f along the plane's outward normal -x, friction along -slip, both at the middle of the overlap.
static touch touch_at(const smooth_contact *it, const tal_force_context *context)
{
    const double *values = tali_force_element_values(&it->base.base, context);
    const tali_contact_smooth edge = edges(values);
    const tali_on_plane_view view = tali_on_plane_look(&it->base, context);
    const tal_vec3 n = tal_v3_neg(view.R_GF.x);
    const double R = radius_of(it, context), x = R + view.p_FS_F.x;
    touch at = {.p_G = tal_v3_axpy(0.5 * x - R, n, view.p_GS)};
    const tal_vec3 v = tali_on_plane_relative_velocity(&context->poses, &context->velocities,
                                                       it->base.body, at.p_G);
    const double xdot = -tal_v3_dot(n, v);
    const tal_vec3 slip = tal_v3_axpy(xdot, n, v);
    const double speed = sqrt(tal_v3_dot(slip, slip) + edge.cf);
    const law of = law_of(values);
    const double elastic = tali_contact_smooth_elastic(&edge, R, of.E, x);
    const double f = tali_contact_smooth_force(&edge, elastic, of.c, xdot);
    const double over_v = friction_at(it, &of, speed);
    at.f_G = tal_v3_axpy(-f * over_v, slip, tal_v3_scale(f, n));
    at.power = (f - elastic) * xdot + f * over_v * tal_v3_dot(slip, slip);
    return at;
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)f;
    const smooth_contact *it = self;
    const touch at = touch_at(it, context);
    tali_on_plane_push_apart(&context->poses, it->base.body, at.p_G, tal_sv(TAL_VEC3_ZERO, at.f_G),
                             F);
    return TAL_OK;
}

// With the normal n, which turns with the plane, and the depth x = R - n . (p_S - p_F):
//
//     dn = w2 x n,   dx = -n . (dp_S - dp_2),   dp = dp_S + dx / 2 n + (x / 2 - R) dn
//     df = d(elastic) push + elastic d(push),   slip = v + xdot n,   f_G = f (n - slip mu / v)
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const smooth_contact *it = self;
    const int *body = it->base.body;
    const double *values = tali_force_element_values(&it->base.base, context);
    const tali_contact_smooth edge = edges(values);
    const law at = law_of(values);
    const tali_on_plane_view view = tali_on_plane_look(&it->base, context);
    const tal_vec3 n = tal_v3_neg(view.R_GF.x), dn = tal_v3_cross(change->dX[body[1]].w, n);
    const double R = radius_of(it, context), x = R + view.p_FS_F.x;
    const tal_vec3 dp_S = tali_on_plane_shift(&context->poses, change, body[0], view.p_GS);
    const tal_vec3 dp_2 = tali_on_plane_shift(&context->poses, change, body[1], view.p_GS);
    const double dx = -tal_v3_dot(n, tal_v3_sub(dp_S, dp_2));
    const tal_vec3 p = tal_v3_axpy(0.5 * x - R, n, view.p_GS);
    const tal_vec3 dp = tal_v3_add(tal_v3_axpy(0.5 * dx, n, dp_S), tal_v3_scale(0.5 * x - R, dn));
    const tali_on_plane_drift by = tali_on_plane_drift_at(context, change, body, p, dp);
    const double xdot = -tal_v3_dot(n, by.v);
    const double dxdot = -tal_v3_dot(dn, by.v) - tal_v3_dot(n, by.dv);
    const tal_vec3 slip = tal_v3_axpy(xdot, n, by.v);
    const tal_vec3 dslip = tal_v3_add(tal_v3_axpy(dxdot, n, by.dv), tal_v3_scale(xdot, dn));
    const double elastic = tali_contact_smooth_elastic(&edge, R, at.E, x);
    const double delastic = tali_contact_smooth_elastic_slope(&edge, R, at.E, x) * dx;
    const double f = tali_contact_smooth_force(&edge, elastic, at.c, xdot);
    const double push = tali_contact_smooth_force(&edge, 1.0, at.c, xdot);
    const double df_n =
        delastic * push + elastic * tali_contact_smooth_rate_slope(&edge, at.c, xdot) * dxdot;
    const double speed = sqrt(tal_v3_dot(slip, slip) + edge.cf);
    const double over_v = friction_at(it, &at, speed);
    const double dover_v = friction_slope_at(it, &at, speed) * tal_v3_dot(slip, dslip) / speed;
    const tal_vec3 along = tal_v3_axpy(-over_v, slip, n);
    const tal_vec3 dalong =
        tal_v3_sub(tal_v3_axpy(-over_v, dslip, dn), tal_v3_scale(dover_v, slip));
    const tal_vec3 df_G = tal_v3_axpy(df_n, along, tal_v3_scale(f, dalong));
    tali_on_plane_change_push(&context->poses, change, body, p, dp, tal_v3_scale(f, along),
                              tal_sv(TAL_VEC3_ZERO, df_G), dF);
    return TAL_OK;
}

static tal_status calc_potential_energy(const void *self, const tal_force_context *context,
                                        double *energy)
{
    const smooth_contact *it = self;
    const double *values = tali_force_element_values(&it->base.base, context);
    const tali_contact_smooth edge = edges(values);
    const double R = radius_of(it, context);
    const double x = R + tali_on_plane_look(&it->base, context).p_FS_F.x;
    *energy = tali_contact_smooth_energy(&edge, R, value(values, TAL_SMOOTH_STIFFNESS), x);
    return TAL_OK;
}

static tal_status calc_dissipated_power(const void *self, const tal_force_context *context,
                                        double *power)
{
    *power = touch_at(self, context).power;
    return TAL_OK;
}

// --- the kind ---

static const char *check(const double params[])
{
    const char *wrong = tali_on_plane_check(params);
    if (wrong != NULL) return wrong;
    const bool good = params[TAL_SMOOTH_STATIC_FRICTION] >= params[TAL_SMOOTH_DYNAMIC_FRICTION];
    return good ? NULL : "static friction is less than dynamic friction";
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const smooth_contact *it = self;
    tali_on_plane_fill_facts(&it->base, facts);
    facts->flags[0] = it->has_kink;
}

static const tali_force_param params[] = {TALI_ON_PLANE_PARAMS,
                                          {"radius", TALI_POSITIVE},
                                          {"stiffness", TALI_POSITIVE},
                                          {"dissipation", TALI_NOT_NEGATIVE},
                                          {"static friction", TALI_NOT_NEGATIVE},
                                          {"dynamic friction", TALI_NOT_NEGATIVE},
                                          {"viscous friction", TALI_NOT_NEGATIVE},
                                          {"transition speed", TALI_POSITIVE},
                                          {"cf", TALI_POSITIVE},
                                          {"bd", TALI_POSITIVE},
                                          {"bv", TALI_POSITIVE}};

static const tali_force_kind smooth_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "smooth contact",
            .apply = apply,
            .apply_change = apply_change,
            .declare = tali_on_plane_declare,
            .realize_instance = tali_on_plane_realize_instance,
            .calc_potential_energy = calc_potential_energy,
            .calc_dissipated_power = calc_dissipated_power,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_BODIES,
    .params = params,
    .num_params = 25,
    .num_instance = FIRST,
    .check = check,
    .fill_facts = fill_facts,
};

tal_smooth_contact_def tal_smooth_contact_def_default(void)
{
    const tal_smooth_contact_def def = {.X_BF = TAL_XFORM_IDENTITY,
                                        .radius = 1.0,
                                        .material = tal_contact_material_default(),
                                        .transition_speed = 0.01,
                                        .cf = 1e-5,
                                        .bd = 300.0,
                                        .bv = 50.0};
    return def;
}

tal_force_ix tal_forces_add_smooth_contact(tal_forces *forces, const char *name,
                                           const tal_smooth_contact_def *def)
{
    if (!tali_force_element_given(forces, name, &smooth_kind, def, "def")) {
        return (tal_force_ix){-1};
    }
    const tal_contact_material *m = &def->material;
    double initial[25] = {[TAL_SMOOTH_RADIUS] = def->radius,
                          [TAL_SMOOTH_STIFFNESS] = m->stiffness,
                          [TAL_SMOOTH_DISSIPATION] = m->dissipation,
                          [TAL_SMOOTH_STATIC_FRICTION] = m->static_friction,
                          [TAL_SMOOTH_DYNAMIC_FRICTION] = m->dynamic_friction,
                          [TAL_SMOOTH_VISCOUS_FRICTION] = m->viscous_friction,
                          [TAL_SMOOTH_TRANSITION_SPEED] = def->transition_speed,
                          [TAL_SMOOTH_CF] = def->cf,
                          [TAL_SMOOTH_BD] = def->bd,
                          [TAL_SMOOTH_BV] = def->bv};
    smooth_contact like = {.base.body = {def->sphere_body.i, def->plane_body.i},
                           .has_kink = def->has_kink};
    return tali_on_plane_add(forces, name, &smooth_kind, &like.base, sizeof like, def->center,
                             &def->X_BF, initial);
}
