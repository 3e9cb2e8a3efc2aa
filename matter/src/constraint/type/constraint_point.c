// A station of body 2 in a plane, or on a line, of body 1.
//
//     p = S - P, with P on body 1; e a direction of body 1
//     perr = e . p - height        verr = e . pdot + edot . p        aerr: once more
//     force lambda e on body 2 at S, and its opposite on body 1 at the same point, because
//     verr = e . (v_S - v_B1 - w_B1 x p_B1S)
#include "constraint/type/constraint_builtin_internal.h"

// --- in a plane ---

static void calc_rows_in_plane(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                               tali_jet row[])
{
    (void)self;
    const double *params = arg->params;
    const tali_jet3 n =
        tali_constraint_axis(arg, 0, tali_constraint_unit_from(params + TAL_POINT_IN_PLANE_NORMAL));
    const tali_jet3 S = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(params + TAL_POINT_IN_PLANE_STATION));
    row[0] = tali_jet3_dot(n, tali_jet3_sub(S, tali_constraint_station(arg, 0, TAL_VEC3_ZERO)));
    row[0].x -= params[TAL_POINT_IN_PLANE_HEIGHT];
}

static tal_status add_forces_in_plane(const void *self, const tal_constraint_arg *arg,
                                      const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const double *params = arg->params;
    const tali_jet3 n =
        tali_constraint_axis(arg, 0, tali_constraint_unit_from(params + TAL_POINT_IN_PLANE_NORMAL));
    const tali_jet3 S = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(params + TAL_POINT_IN_PLANE_STATION));
    tali_constraint_push_apart(arg, 0, 1, S.x, tal_v3_scale(lambda[0], n.x), F);
    return TAL_OK;
}

static tal_status check_plane(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params + TAL_POINT_IN_PLANE_NORMAL, "normal", err);
}

static const tal_constraint_ops plane_ops = {
    .name = "point in plane",
    .tag = TALI_TAG_POINT_IN_PLANE,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_POINT_IN_PLANE_NUM_PARAMS,
    .add_forces = add_forces_in_plane,
    .check_params = check_plane,
};

tal_constraint_ix tal_constraint_add_point_in_plane(tal_matter *matter,
                                                    const tal_constraint_def *def, tal_vec3 normal,
                                                    double height, tal_vec3 station)
{
    double params[TAL_POINT_IN_PLANE_NUM_PARAMS];
    tali_constraint_v3_to(normal, params + TAL_POINT_IN_PLANE_NORMAL);
    params[TAL_POINT_IN_PLANE_HEIGHT] = height;
    tali_constraint_v3_to(station, params + TAL_POINT_IN_PLANE_STATION);
    const tali_constraint_builtin like = {.calc_rows = calc_rows_in_plane};
    return tali_constraint_add_builtin(matter, def, &plane_ops, &like, params);
}

// --- on a line ---

// The two directions across the line, in body 1.
static void across(const double params[], tal_vec3 e[2])
{
    const double *direction = params + TAL_POINT_ON_LINE_DIRECTION;
    e[0] = tal_v3_perp(tali_constraint_v3_from(direction));
    e[1] = tal_v3_cross(tali_constraint_unit_from(direction), e[0]);
}

static void calc_rows_on_line(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                              tali_jet row[])
{
    (void)self;
    const double *params = arg->params;
    tal_vec3 e[2];
    across(params, e);
    const tali_jet3 P =
        tali_constraint_station(arg, 0, tali_constraint_v3_from(params + TAL_POINT_ON_LINE_POINT));
    const tali_jet3 S = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(params + TAL_POINT_ON_LINE_STATION));
    for (int r = 0; r < 2; ++r) {
        row[r] = tali_jet3_dot(tali_constraint_axis(arg, 0, e[r]), tali_jet3_sub(S, P));
    }
}

static tal_status add_forces_on_line(const void *self, const tal_constraint_arg *arg,
                                     const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    tal_vec3 e[2];
    across(arg->params, e);
    const tal_vec3 push_B = tal_v3_axpy(lambda[0], e[0], tal_v3_scale(lambda[1], e[1]));
    const tal_vec3 S = tal_xf_apply(
        arg->X_AB[1], tali_constraint_v3_from(arg->params + TAL_POINT_ON_LINE_STATION));
    tali_constraint_push_apart(arg, 0, 1, S, tal_m3_mul_v3(arg->X_AB[0].R, push_B), F);
    return TAL_OK;
}

static tal_status check_line(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params + TAL_POINT_ON_LINE_DIRECTION, "direction", err);
}

static const tal_constraint_ops line_ops = {
    .name = "point on line",
    .tag = TALI_TAG_POINT_ON_LINE,
    .mp = 2,
    .num_bodies = 2,
    .num_params = TAL_POINT_ON_LINE_NUM_PARAMS,
    .add_forces = add_forces_on_line,
    .check_params = check_line,
};

tal_constraint_ix tal_constraint_add_point_on_line(tal_matter *matter,
                                                   const tal_constraint_def *def,
                                                   tal_vec3 direction, tal_vec3 point,
                                                   tal_vec3 station)
{
    double params[TAL_POINT_ON_LINE_NUM_PARAMS];
    tali_constraint_v3_to(direction, params + TAL_POINT_ON_LINE_DIRECTION);
    tali_constraint_v3_to(point, params + TAL_POINT_ON_LINE_POINT);
    tali_constraint_v3_to(station, params + TAL_POINT_ON_LINE_STATION);
    const tali_constraint_builtin like = {.calc_rows = calc_rows_on_line};
    return tali_constraint_add_builtin(matter, def, &line_ops, &like, params);
}
