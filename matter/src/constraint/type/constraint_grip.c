// Grips of friction in joints: one equation along which body 2 slips on body 1.
//
//     about an axis e of body 1:       verr = e . (w2 - w1)         moment lambda e on body 2
//     along a line (P, d) of body 1:   perr = d . (S - P) - anchor  force lambda d on body 2 at S
//
// and the opposite on body 1.
#include "constraint/type/constraint_builtin_internal.h"

// --- about an axis ---

// w2 - w1 and its rate; dd is not known, and zero.
static tali_jet3 relative_turning(const tal_constraint_arg *arg)
{
    tali_jet3 w = {TAL_VEC3_ZERO, TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    if (arg->V != NULL) w.x = tal_v3_sub(arg->V[1].w, arg->V[0].w);
    if (arg->a != NULL) w.d = tal_v3_sub(arg->a[1].w, arg->a[0].w);
    return w;
}

static void calc_rows_about(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                            tali_jet row[])
{
    (void)self;
    const tali_jet3 e = tali_constraint_axis(arg, 0, tali_constraint_unit_from(arg->params));
    row[0] = tali_constraint_velocity_row(tali_jet3_dot(e, relative_turning(arg)));
}

static tal_status add_forces_about(const void *self, const tal_constraint_arg *arg,
                                   const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tali_jet3 e = tali_constraint_axis(arg, 0, tali_constraint_unit_from(arg->params));
    tali_constraint_turn_apart(0, 1, tal_v3_scale(lambda[0], e.x), F);
    return TAL_OK;
}

static tal_status check_axis(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params, "axis", err);
}

static const tal_constraint_ops about_ops = {
    .name = "grip about an axis",
    .tag = TALI_TAG_GRIP_ABOUT_AXIS,
    .mv = 1,
    .num_bodies = 2,
    .num_params = 3,
    .add_forces = add_forces_about,
    .check_params = check_axis,
};

tal_constraint_ix tali_constraint_add_grip_about_axis(tal_matter *matter,
                                                      const tal_constraint_def *def, tal_vec3 axis)
{
    double params[3];
    tali_constraint_v3_to(axis, params);
    const tali_constraint_builtin like = {.calc_rows = calc_rows_about};
    return tali_constraint_add_builtin(matter, def, &about_ops, &like, params);
}

// --- along a line ---

enum {
    LINE_DIRECTION = 0,
    LINE_POINT = 3,
    LINE_STATION = 6,
    LINE_ANCHOR = TALI_CONSTRAINT_LINE_GRIP_ANCHOR,
    LINE_NUM_PARAMS = LINE_ANCHOR + 1
};

static void calc_rows_along(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                            tali_jet row[])
{
    (void)self;
    const double *params = arg->params;
    const tali_jet3 d =
        tali_constraint_axis(arg, 0, tali_constraint_unit_from(params + LINE_DIRECTION));
    const tali_jet3 P =
        tali_constraint_station(arg, 0, tali_constraint_v3_from(params + LINE_POINT));
    const tali_jet3 S =
        tali_constraint_station(arg, 1, tali_constraint_v3_from(params + LINE_STATION));
    row[0] = tali_jet3_dot(d, tali_jet3_sub(S, P));
    row[0].x -= params[LINE_ANCHOR];
}

static tal_status add_forces_along(const void *self, const tal_constraint_arg *arg,
                                   const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const double *params = arg->params;
    const tali_jet3 d =
        tali_constraint_axis(arg, 0, tali_constraint_unit_from(params + LINE_DIRECTION));
    const tal_vec3 S = tal_xf_apply(arg->X_AB[1], tali_constraint_v3_from(params + LINE_STATION));
    tali_constraint_push_apart(arg, 0, 1, S, tal_v3_scale(lambda[0], d.x), F);
    return TAL_OK;
}

static tal_status check_line(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params + LINE_DIRECTION, "direction", err);
}

static const tal_constraint_ops along_ops = {
    .name = "grip along a line",
    .tag = TALI_TAG_GRIP_ALONG_LINE,
    .mp = 1,
    .num_bodies = 2,
    .num_params = LINE_NUM_PARAMS,
    .add_forces = add_forces_along,
    .check_params = check_line,
};

tal_constraint_ix tali_constraint_add_grip_along_line(tal_matter *matter,
                                                      const tal_constraint_def *def,
                                                      tal_vec3 direction, tal_vec3 point,
                                                      tal_vec3 station)
{
    double params[LINE_NUM_PARAMS] = {0.0};
    tali_constraint_v3_to(direction, params + LINE_DIRECTION);
    tali_constraint_v3_to(point, params + LINE_POINT);
    tali_constraint_v3_to(station, params + LINE_STATION);
    const tali_constraint_builtin like = {.calc_rows = calc_rows_along};
    return tali_constraint_add_builtin(matter, def, &along_ops, &like, params);
}
