// A force and a torque on a body as functions of time, and external loads from samples.
#include "core/element_internal.h"

#include <talus/forces/prescribed_force.h>

enum {
    NUM_FUNCTIONS = 9 // force, point, torque
};

typedef struct prescribed {
    tali_force_element base;
    int body, force_frame, point_frame;
    tal_function *functions[NUM_FUNCTIONS]; // owned; NULL: zero
} prescribed;

// Three of the functions at a time.
static tal_vec3 at_time(tal_function *const functions[3], double t)
{
    double x[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3; ++i) {
        if (functions[i] != NULL) x[i] = tal_function_calc_value_1(functions[i], t);
    }
    return tal_v3(x[0], x[1], x[2]);
}

static tal_prescribed_force_value evaluate(const prescribed *it, const tal_force_context *context)
{
    const double t = tal_state_t(context->state);
    const tal_xform X_GA =
        tal_body_X_GB(context->matter, context->state, (tal_body_ix){it->force_frame});
    const tal_xform X_GP =
        tal_body_X_GB(context->matter, context->state, (tal_body_ix){it->point_frame});
    return (tal_prescribed_force_value){.force = tal_m3_mul_v3(X_GA.R, at_time(it->functions, t)),
                                        .point = tal_xf_apply(X_GP, at_time(it->functions + 3, t)),
                                        .torque =
                                            tal_m3_mul_v3(X_GA.R, at_time(it->functions + 6, t))};
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)f;
    const prescribed *it = self;
    const tal_prescribed_force_value at = evaluate(it, context);
    const tal_vec3 arm = tal_v3_sub(at.point, tal_view_X_GM(&context->poses, it->body)->p);
    const tal_vec3 moment = tal_v3_add(at.torque, tal_v3_cross(arm, at.force));
    F[it->body] = tal_sv_add(F[it->body], tal_sv(moment, at.force));
    if (tal_v3_is_finite(moment) && tal_v3_is_finite(at.force)) return TAL_OK;
    return tal_state_fail(
        context->state, TAL_ERR_NOT_FINITE, "prescribed force '%s' is not finite at t = %g",
        tal_force_name(it->base.forces, it->base.me), tal_state_t(context->state));
}

// Force and torque turn with their frame, the point moves with its own.
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const prescribed *it = self;
    const tal_prescribed_force_value at = evaluate(it, context);
    const tal_spatial_vec P = change->dX[it->point_frame];
    const tal_vec3 a = change->dX[it->force_frame].w, df_G = tal_v3_cross(a, at.force);
    const tal_vec3 arm = tal_v3_sub(at.point, tal_view_X_GM(&context->poses, it->body)->p);
    const tal_vec3 from = tal_v3_sub(at.point, tal_view_X_GM(&context->poses, it->point_frame)->p);
    const tal_vec3 moved = tal_v3_add(P.v, tal_v3_cross(P.w, from));
    const tal_vec3 darm = tal_v3_sub(moved, change->dX[it->body].v);
    const tal_vec3 dm = tal_v3_add(tal_v3_cross(darm, at.force), tal_v3_cross(arm, df_G));
    dF[it->body] =
        tal_sv_add(dF[it->body], tal_sv(tal_v3_add(dm, tal_v3_cross(a, at.torque)), df_G));
    return TAL_OK;
}

static void release(void *self)
{
    prescribed *it = self;
    for (int i = 0; i < NUM_FUNCTIONS; ++i) {
        tal_function_destroy(it->functions[i]);
    }
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const prescribed *it = self;
    facts->bodies[0].i = it->body;
    facts->bodies[1].i = it->force_frame;
    facts->count = it->point_frame;
    facts->functions = it->functions;
}

static const tali_force_kind kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "prescribed force",
            .apply = apply,
            .apply_change = apply_change,
            .declare = tali_force_element_declare,
            .destroy = tali_force_element_destroy,
            .is_concurrent = true},
    .release = release,
    .fill_facts = fill_facts,
};

tal_prescribed_force_def tal_prescribed_force_def_default(void)
{
    return (tal_prescribed_force_def){.point_frame = {-1}};
}

// What is wrong with the functions, as a sentence; NULL if nothing is. Repeated ones are dropped:
// a function has one owner.
static const char *check_functions(tal_function *functions[NUM_FUNCTIONS])
{
    const char *wrong = NULL;
    for (int i = 0; i < NUM_FUNCTIONS; ++i) {
        if (functions[i] == NULL) continue;
        if (tal_function_num_args(functions[i]) != 1) {
            wrong = "a function must have one argument: time";
        }
        for (int k = 0; k < i; ++k) {
            if (functions[k] != functions[i]) continue;
            functions[i] = NULL;
            wrong = "one function is given twice";
            break;
        }
    }
    return wrong;
}

tal_force_ix tal_forces_add_prescribed_force(tal_forces *forces, const char *name,
                                             const tal_prescribed_force_def *def)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &kind, def, "def")) return none;
    const bool has_point_frame = def->point_frame.i >= 0;
    const tal_body_ix point_frame = has_point_frame ? def->point_frame : def->body;
    prescribed like = {
        .body = def->body.i, .force_frame = def->force_frame.i, .point_frame = point_frame.i};
    for (int i = 0; i < 3; ++i) {
        like.functions[i] = def->force[i];
        like.functions[3 + i] = def->point[i];
        like.functions[6 + i] = def->torque[i];
    }
    const char *wrong = check_functions(like.functions);
    const bool has_bodies = tali_force_element_has(forces, name, &kind, def->body) &&
                            tali_force_element_has(forces, name, &kind, def->force_frame) &&
                            tali_force_element_has(forces, name, &kind, point_frame);
    if (wrong != NULL && forces != NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE, "prescribed force '%s': %s",
                              name != NULL ? name : "(no name)", wrong);
    }
    if (wrong != NULL || !has_bodies) {
        release(&like);
        return none;
    }
    return tali_force_element_add(forces, name, &kind, &like, sizeof like, NULL);
}

tal_prescribed_force_value tal_prescribed_force_at(const tal_forces *forces, tal_state *state,
                                                   tal_force_ix force)
{
    const tal_vec3 nan = {TALI_NAN, TALI_NAN, TALI_NAN};
    const tal_prescribed_force_value none = {nan, nan, nan};
    const prescribed *it = tali_force_element_of(forces, force, &kind, __func__);
    if (it == NULL) return none;
    if (tal_state_stage(state) < TAL_STAGE_POSITION) {
        (void)TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Position",
                          tal_stage_name(tal_state_stage(state)));
        return none;
    }
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_POSITION);
    return context.poses.bytes != NULL ? evaluate(it, &context) : none;
}

// --- external loads ---

tal_external_load_def tal_external_load_def_default(void)
{
    return (tal_external_load_def){.count = 0};
}

// The curve through one component of the samples, rows of three.
static tal_status create_curve(const tal_forces *forces, const tal_external_load_def *def,
                               const double rows[], int component, tal_function **out,
                               tal_error *err)
{
    const size_t bytes = (size_t)def->count * sizeof(double);
    double *y = tali_alloc(&forces->allocator, bytes);
    if (y == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory");
    for (int i = 0; i < def->count; ++i) {
        y[i] = rows[3 * i + component];
    }
    tal_status st;
    if (def->count > 3) {
        st = tal_function_create_spline(&forces->allocator, def->times, y, def->count,
                                        TAL_SPLINE_NATURAL, out, err);
    } else if (def->count > 1) {
        st = tal_function_create_piecewise_linear(&forces->allocator, def->times, y, def->count,
                                                  out, err);
    } else {
        st = tal_function_create_constant(&forces->allocator, y[0], 1, out, err);
    }
    tali_free(&forces->allocator, y, bytes);
    return st;
}

tal_force_ix tal_forces_add_external_load(tal_forces *forces, const char *name,
                                          const tal_external_load_def *def)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &kind, def, "def") ||
        !tali_force_element_given(forces, name, &kind, def->times, "times") ||
        !tali_force_element_given(forces, name, &kind, def->force, "force")) {
        return none;
    }
    if (forces == NULL) return tali_force_element_add(NULL, name, &kind, &(prescribed){0}, 0, NULL);
    if (def->count < 1) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "external load '%s' has %d samples: give one or more",
                              name != NULL ? name : "(no name)", def->count);
        return none;
    }
    tal_prescribed_force_def to = tal_prescribed_force_def_default();
    to.body = def->body;
    to.force_frame = def->force_frame;
    to.point_frame = def->point_frame;
    if (def->point == NULL) to.point_frame = def->body;
    const double *rows[] = {def->force, def->point, def->torque};
    tal_function **functions[] = {to.force, to.point, to.torque};
    tal_error why = {TAL_OK, "", ""};
    tal_status st = TAL_OK;
    for (int i = 0; i < NUM_FUNCTIONS && st == TAL_OK; ++i) {
        if (rows[i / 3] == NULL) continue;
        st = create_curve(forces, def, rows[i / 3], i % 3, &functions[i / 3][i % 3], &why);
    }
    if (st == TAL_OK) return tal_forces_add_prescribed_force(forces, name, &to);
    for (int i = 0; i < NUM_FUNCTIONS; ++i) {
        tal_function_destroy(functions[i / 3][i % 3]);
    }
    (void)tal_system_fail(forces->system, st, "external load '%s': %s",
                          name != NULL ? name : "(no name)", why.message);
    return none;
}
