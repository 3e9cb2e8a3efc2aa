// A station above a plane, held off by an exponential, with friction that remembers an anchor.
#include "real_functions_internal.h"

#include "contact/on_plane_internal.h"

#include <talus/forces/exponential_spring.h>

typedef struct spring {
    tali_on_plane base;
    tal_var_ix anchor; // struct memory, brought up to date at the start of every step
} spring;

// What friction remembers.
typedef struct memory {
    double p0[2];
    double sliding;
} memory;

enum {
    FIRST = TAL_EXPONENTIAL_D0
};

static double value(const double values[], int which)
{
    return values[which - FIRST];
}

// --- the law, in the plane's frame ---

typedef struct normal {
    real elastic, force, energy;
} normal;

static normal press(const double values[], real pz, real vz)
{
    const double d2 = value(values, TAL_EXPONENTIAL_D2);
    const double max = value(values, TAL_EXPONENTIAL_MAX_FZ);
    const real zero = spread(0.0), most = spread(max);
    const real exponent = -d2 * (pz - value(values, TAL_EXPONENTIAL_D0));
    const real grown = value(values, TAL_EXPONENTIAL_D1) * real_exp(exponent);
    // where the force is at its limit the energy continues with that slope
    const real beyond = exponent + real_log(spread(value(values, TAL_EXPONENTIAL_D1) / max));
    normal on = {.elastic = at_most(grown, most)};
    on.energy = on.elastic / d2 + pick(less(most, grown), max * beyond / d2, zero);
    const real wanted = on.elastic * (1.0 - value(values, TAL_EXPONENTIAL_CZ) * vz);
    on.force = at_most(at_least(wanted, zero), most);
    return on;
}

typedef struct plane_vec {
    double x, y;
} plane_vec;

static real size_of(plane_vec v)
{
    return real_sqrt(v.x * v.x + v.y * v.y);
}

static plane_vec mix(double a, plane_vec v, double b, plane_vec w)
{
    return (plane_vec){a * v.x + b * w.x, a * v.y + b * w.y};
}

// How much of a vector is within a limit: 1 when all of it is.
static real part_within(plane_vec v, real limit)
{
    const real size = size_of(v);
    return pick(less(limit, size), limit / size, spread(1.0));
}

typedef struct friction {
    plane_vec elastic, viscous; // their sum acts
    plane_vec anchor;           // where the elastic part says that it is
    double mu;
    memory next;
} friction;

// The spring's elastic and viscous parts shrink together to the limit; the damper alone has it to
// itself; `sliding` goes from one to the other. While it slides, the anchor is under the station
// wherever it was left: what is remembered changes when sticking and sliding do, not from step to
// step, since a change of it makes multistep methods restart.
static friction rub(const double values[], double fz, plane_vec p, plane_vec v, const memory *was)
{
    const double k = value(values, TAL_EXPONENTIAL_KXY), c = value(values, TAL_EXPONENTIAL_CXY);
    const double mus = value(values, TAL_EXPONENTIAL_MUS), muk = value(values, TAL_EXPONENTIAL_MUK);
    const double s = was->sliding;
    friction on = {.mu = mus - s * (mus - muk)};
    const double limit = on.mu * fz;
    const plane_vec p0 = s == 1.0 ? p : (plane_vec){was->p0[0], was->p0[1]};
    const plane_vec elastic = mix(-k, p, k, p0), viscous = mix(-c, v, 0.0, v);
    const double kept = part_within(mix(1.0, elastic, 1.0, viscous), limit);
    on.elastic = mix(kept * (1.0 - s), elastic, 0.0, p);
    on.viscous = mix(kept * (1.0 - s) + part_within(viscous, limit) * s, viscous, 0.0, v);
    // The anchor is where the elastic part says. Sliding starts at the limit. It ends where the
    // damper alone stays within it: the anchor is under the station then, so that the force does
    // not jump.
    const double settle = fmax(value(values, TAL_EXPONENTIAL_V_SETTLE), c > 0.0 ? limit / c : 0.0);
    const double if_kept = size_of(v) < settle ? 0.0 : s, sliding = kept < 1.0 ? 1.0 : if_kept;
    const bool sticks_on = s == 0.0 && sliding == 0.0, slides_on = s == 1.0 && sliding == 1.0;
    on.anchor = sticks_on ? p0 : mix(1.0, p, 1.0 / k, on.elastic);
    on.next = (memory){{on.anchor.x, on.anchor.y}, sliding};
    if (slides_on) on.next = *was;
    return on;
}

// --- at one instant ---

typedef struct instant {
    tali_on_plane_view view;
    tal_vec3 v_F;
    normal normal;
    friction friction;
} instant;

static instant look_at_station(const spring *it, const tal_force_context *context)
{
    const double *values = tali_force_element_values(&it->base.base, context);
    const memory *was = tal_var_value(context->system, context->state, it->anchor);
    instant at = {.view = tali_on_plane_look(&it->base, context), .v_F = TAL_VEC3_ZERO};
    if (context->velocities.bytes != NULL) {
        const tal_vec3 v_G = tali_on_plane_relative_velocity(&context->poses, &context->velocities,
                                                             it->base.body, at.view.p_GS);
        at.v_F = tal_m3_tmul_v3(at.view.R_GF, v_G);
    }
    const tal_vec3 p = at.view.p_FS_F, v = at.v_F;
    at.normal = press(values, p.z, v.z);
    at.friction = rub(values, at.normal.force, (plane_vec){p.x, p.y}, (plane_vec){v.x, v.y}, was);
    return at;
}

static tal_vec3 force_of(const instant *at)
{
    const friction *on = &at->friction;
    return tal_v3(on->elastic.x + on->viscous.x, on->elastic.y + on->viscous.y, at->normal.force);
}

// While the spring is off its anchor stays: a step that continues from where the last one ended
// must not restart because of a change without effect.
static tal_status update_anchor(const void *self, const tal_system *system, tal_state *state,
                                void *next)
{
    const spring *it = self;
    if (!tal_force_is_enabled(it->base.base.forces, state, it->base.base.me)) {
        *(memory *)next = *(const memory *)tal_var_value(system, state, it->anchor);
        return TAL_OK;
    }
    const tal_force_context context =
        tali_force_context(it->base.base.forces, state, TAL_STAGE_VELOCITY);
    *(memory *)next = look_at_station(it, &context).friction.next;
    return TAL_OK;
}

static tal_status declare_anchor(void *self, tal_forces *forces, tal_force_ix me)
{
    spring *it = self;
    (void)tali_on_plane_declare(self, forces, me);
    tal_var_def var = tal_var_def_default();
    var.name = "anchor";
    var.size = sizeof(memory);
    var.invalidates = TAL_STAGE_DYNAMICS;
    var.update = update_anchor;
    var.update_depends_on = TAL_STAGE_DYNAMICS; // so that parameters count
    var.sampled = true;                         // forces are computed from where it was
    it->anchor = tal_force_add_var(forces, me, &var);
    return TAL_OK;
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)f;
    const spring *it = self;
    const instant at = look_at_station(it, context);
    const tal_vec3 f_G = tal_m3_mul_v3(at.view.R_GF, force_of(&at));
    tali_on_plane_push_apart(&context->poses, it->base.body, at.view.p_GS,
                             tal_sv(TAL_VEC3_ZERO, f_G), F);
    return TAL_OK;
}

// --- in a small motion ---

// The plane's frame sees the station move by dp and its velocity change by dv.
typedef struct step {
    tal_vec3 dp, dv;
} step;

static double change_of_press(const double values[], const instant *at, const step *by)
{
    const double d2 = value(values, TAL_EXPONENTIAL_D2), cz = value(values, TAL_EXPONENTIAL_CZ);
    const double most = value(values, TAL_EXPONENTIAL_MAX_FZ), vz = at->v_F.z;
    const double elastic = at->normal.elastic;
    const double delastic = elastic < most ? -d2 * elastic * by->dp.z : 0.0;
    const double wanted = elastic * (1.0 - cz * vz);
    if (!(wanted > 0.0) || !(wanted < most)) return 0.0;
    return delastic * (1.0 - cz * vz) - elastic * cz * by->dv.z;
}

// The change of part_within() as the vector and the limit change.
static double change_of_part(plane_vec v, double limit, plane_vec dv, double dlimit)
{
    const double size = size_of(v);
    if (!(size > limit)) return 0.0;
    return (dlimit - limit * (v.x * dv.x + v.y * dv.y) / (size * size)) / size;
}

// The change of the sum of rub(): kept (1 - s) (e + d) + part s d, line by line.
static plane_vec change_of_rub(const double values[], const instant *at, const memory *was,
                               double dfz, const step *by)
{
    const double k = value(values, TAL_EXPONENTIAL_KXY), c = value(values, TAL_EXPONENTIAL_CXY);
    const double s = was->sliding, mu = at->friction.mu, limit = mu * at->normal.force;
    const tal_vec3 p_F = at->view.p_FS_F, v_F = at->v_F;
    const plane_vec p = {p_F.x, p_F.y}, v = {v_F.x, v_F.y};
    const plane_vec p0 = s == 1.0 ? p : (plane_vec){was->p0[0], was->p0[1]};
    const plane_vec d = mix(-c, v, 0.0, v), both = mix(1.0, mix(-k, p, k, p0), 1.0, d);
    const plane_vec dp = {by->dp.x, by->dp.y}, dd = {-c * by->dv.x, -c * by->dv.y};
    const plane_vec dboth = mix(s == 1.0 ? 0.0 : -k, dp, 1.0, dd);
    const double kept = part_within(both, limit), alone = part_within(d, limit);
    const double dkept = change_of_part(both, limit, dboth, mu * dfz);
    const double dalone = change_of_part(d, limit, dd, mu * dfz);
    const plane_vec sticking = mix(dkept, both, kept, dboth), sliding = mix(dalone, d, alone, dd);
    return mix(1.0 - s, sticking, s, sliding);
}

// Of the force in the plane's frame, which turns with the body 2.
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const spring *it = self;
    const int *body = it->base.body;
    const double *values = tali_force_element_values(&it->base.base, context);
    const memory *was = tal_var_value(context->system, context->state, it->anchor);
    const instant at = look_at_station(it, context);
    const tal_vec3 p = at.view.p_GS, w2 = change->dX[body[1]].w;
    const tal_vec3 dp = tali_on_plane_shift(&context->poses, change, body[0], p);
    const tali_on_plane_drift by = tali_on_plane_drift_at(context, change, body, p, dp);
    const step seen = {tal_m3_tmul_v3(at.view.R_GF, tal_v3_sub(dp, by.dp[1])),
                       tal_m3_tmul_v3(at.view.R_GF, tal_v3_sub(by.dv, tal_v3_cross(w2, by.v)))};
    const double dfz = change_of_press(values, &at, &seen);
    const plane_vec drub = change_of_rub(values, &at, was, dfz, &seen);
    const tal_vec3 f_G = tal_m3_mul_v3(at.view.R_GF, force_of(&at));
    const tal_vec3 df_F = tal_v3(drub.x, drub.y, dfz);
    const tal_vec3 df_G = tal_v3_add(tal_v3_cross(w2, f_G), tal_m3_mul_v3(at.view.R_GF, df_F));
    tali_on_plane_change_push(&context->poses, change, body, p, dp, f_G,
                              tal_sv(TAL_VEC3_ZERO, df_G), dF);
    return TAL_OK;
}

static tal_status calc_potential_energy(const void *self, const tal_force_context *context,
                                        double *energy)
{
    const spring *it = self;
    const double k = value(tali_force_element_values(&it->base.base, context), TAL_EXPONENTIAL_KXY);
    const instant at = look_at_station(it, context);
    const double pull = size_of(at.friction.elastic);
    *energy = at.normal.energy + 0.5 * pull * pull / k;
    return TAL_OK;
}

static tal_status calc_dissipated_power(const void *self, const tal_force_context *context,
                                        double *power)
{
    const instant at = look_at_station(self, context);
    const plane_vec viscous = at.friction.viscous;
    *power = (at.normal.elastic - at.normal.force) * at.v_F.z -
             (viscous.x * at.v_F.x + viscous.y * at.v_F.y);
    return TAL_OK;
}

// --- the kind ---

static const char *check(const double params[])
{
    const char *wrong = tali_on_plane_check(params);
    if (wrong != NULL) return wrong;
    const bool good = params[TAL_EXPONENTIAL_MUS] >= params[TAL_EXPONENTIAL_MUK];
    return good ? NULL : "mus is less than muk";
}

static const tali_force_param params[] = {
    TALI_ON_PLANE_PARAMS,       {"d0", TALI_FINITE},        {"d1", TALI_POSITIVE},
    {"d2", TALI_POSITIVE},      {"cz", TALI_NOT_NEGATIVE},  {"max_fz", TALI_POSITIVE},
    {"kxy", TALI_POSITIVE},     {"cxy", TALI_NOT_NEGATIVE}, {"v_settle", TALI_POSITIVE},
    {"mus", TALI_NOT_NEGATIVE}, {"muk", TALI_NOT_NEGATIVE}};

static const tali_force_kind exponential_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "exponential spring",
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare_anchor,
            .realize_instance = tali_on_plane_realize_instance,
            .calc_potential_energy = calc_potential_energy,
            .calc_dissipated_power = calc_dissipated_power,
            .destroy = tali_force_element_destroy},
    .params = params,
    .num_params = 25,
    .num_instance = FIRST,
    .check = check,
    .fill_facts = tali_on_plane_fill_facts,
};

tal_exponential_spring_def tal_exponential_spring_def_default(void)
{
    const tal_exponential_spring_def def = {.X_BF = TAL_XFORM_IDENTITY,
                                            .d0 = 0.0065905,
                                            .d1 = 0.5336,
                                            .d2 = 1150.0,
                                            .cz = 0.5,
                                            .max_fz = 1e5,
                                            .kxy = 2e4,
                                            .cxy = 282.842712474619,
                                            .v_settle = 0.01,
                                            .mus = 0.7,
                                            .muk = 0.5};
    return def;
}

tal_force_ix tal_forces_add_exponential_spring(tal_forces *forces, const char *name,
                                               const tal_exponential_spring_def *def)
{
    if (!tali_force_element_given(forces, name, &exponential_kind, def, "def")) {
        return (tal_force_ix){-1};
    }
    double initial[25] = {
        [TAL_EXPONENTIAL_D0] = def->d0,         [TAL_EXPONENTIAL_D1] = def->d1,
        [TAL_EXPONENTIAL_D2] = def->d2,         [TAL_EXPONENTIAL_CZ] = def->cz,
        [TAL_EXPONENTIAL_MAX_FZ] = def->max_fz, [TAL_EXPONENTIAL_KXY] = def->kxy,
        [TAL_EXPONENTIAL_CXY] = def->cxy,       [TAL_EXPONENTIAL_V_SETTLE] = def->v_settle,
        [TAL_EXPONENTIAL_MUS] = def->mus,       [TAL_EXPONENTIAL_MUK] = def->muk};
    spring like = {.base.body = {def->body.i, def->plane_body.i}};
    return tali_on_plane_add(forces, name, &exponential_kind, &like.base, sizeof like, def->p_BS,
                             &def->X_BF, initial);
}

// --- in a State ---

tal_status tal_exponential_spring_calc(const tal_forces *forces, tal_state *state,
                                       tal_force_ix force, tal_exponential_spring_info *out)
{
    const spring *it = tali_force_element_of(forces, force, &exponential_kind, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        return TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at %s",
                           tal_stage_name(tal_state_stage(state)),
                           tal_stage_name(TAL_STAGE_VELOCITY));
    }
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    if (context.velocities.bytes == NULL) return tal_contract_last()->status;
    const instant at = look_at_station(it, &context);
    *out = (tal_exponential_spring_info){.p_F = at.view.p_FS_F,
                                         .v_F = at.v_F,
                                         .f_F = force_of(&at),
                                         .p0_F = {at.friction.anchor.x, at.friction.anchor.y},
                                         .sliding = at.friction.next.sliding,
                                         .mu = at.friction.mu};
    return TAL_OK;
}

tal_status tal_exponential_spring_reset(const tal_forces *forces, tal_state *state,
                                        tal_force_ix force, double sliding)
{
    const spring *it = tali_force_element_of(forces, force, &exponential_kind, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (!(sliding >= 0.0 && sliding <= 1.0)) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "sliding is %g: it must be between 0 and 1", sliding);
    }
    if (tal_state_stage(state) < TAL_STAGE_POSITION) {
        return TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at %s",
                           tal_stage_name(tal_state_stage(state)),
                           tal_stage_name(TAL_STAGE_POSITION));
    }
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_POSITION);
    if (context.poses.bytes == NULL) return tal_contract_last()->status;
    const tal_vec3 p = tali_on_plane_look(&it->base, &context).p_FS_F;
    const memory wanted = {{p.x, p.y}, sliding};
    return tal_var_set(forces->system, state, it->anchor, &wanted);
}

// --- for files ---

void tali_exponential_spring_anchor(const tal_forces *forces, const tal_state *state,
                                    tal_force_ix force, double anchor[3])
{
    const spring *it = forces->elements[force.i].self;
    const memory *was = tal_var_value(forces->system, state, it->anchor);
    anchor[0] = was->p0[0];
    anchor[1] = was->p0[1];
    anchor[2] = was->sliding;
}

void tali_exponential_spring_set_anchor(const tal_forces *forces, tal_state *state,
                                        tal_force_ix force, const double anchor[3])
{
    const spring *it = forces->elements[force.i].self;
    memory *to = tal_var_upd(forces->system, state, it->anchor);
    if (to != NULL) *to = (memory){{anchor[0], anchor[1]}, anchor[2]};
}
