// No slip in one direction: two bodies have the same velocity along n at a point P of a third, the
// case.
//
//     verr = n . (v2 - v1)            vi = v_Bi + wi x (P - Boi)
//     aerr = n . (v2dot - v1dot) + ndot . (v2 - v1)
//     vidot = a_Bi + alphai x (P - Boi) + wi x (Pdot - v_Bi)
//
// P is fixed in the case, so it moves over the material of the two bodies: vidot is not the
// acceleration of a material point, and n turns with the case. Force lambda n on body 2 at P, and
// its opposite on body 1; the case feels none.
#include "constraint/type/constraint_builtin_internal.h"

enum {
    CASE_BODY,
    MOVING_1,
    MOVING_2
};

static void calc_rows(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[])
{
    (void)self;
    const double *params = arg->params;
    const tali_jet3 P = tali_constraint_station(
        arg, CASE_BODY, tali_constraint_v3_from(params + TAL_NO_SLIP_1D_POINT));
    const tali_jet3 n = tali_constraint_axis(
        arg, CASE_BODY, tali_constraint_unit_from(params + TAL_NO_SLIP_1D_DIRECTION));
    row[0] = tali_constraint_velocity_row(
        tali_jet3_dot(n, tali_constraint_slip(arg, MOVING_1, MOVING_2, P)));
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const double *params = arg->params;
    const tali_jet3 P = tali_constraint_station(
        arg, CASE_BODY, tali_constraint_v3_from(params + TAL_NO_SLIP_1D_POINT));
    const tali_jet3 n = tali_constraint_axis(
        arg, CASE_BODY, tali_constraint_unit_from(params + TAL_NO_SLIP_1D_DIRECTION));
    tali_constraint_push_apart(arg, MOVING_1, MOVING_2, P.x, tal_v3_scale(lambda[0], n.x), F);
    return TAL_OK;
}

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params + TAL_NO_SLIP_1D_DIRECTION, "direction", err);
}

static const tal_constraint_ops ops = {
    .name = "no slip 1D",
    .tag = TALI_TAG_NO_SLIP_1D,
    .mv = 1,
    .num_bodies = 3,
    .num_params = TAL_NO_SLIP_1D_NUM_PARAMS,
    .add_forces = add_forces,
    .check_params = check_params,
};

tal_constraint_ix tal_constraint_add_no_slip_1d(tal_matter *matter, const tal_constraint_def *def,
                                                tal_vec3 point, tal_vec3 direction)
{
    double params[TAL_NO_SLIP_1D_NUM_PARAMS];
    tali_constraint_v3_to(point, params + TAL_NO_SLIP_1D_POINT);
    tali_constraint_v3_to(direction, params + TAL_NO_SLIP_1D_DIRECTION);
    const tali_constraint_builtin like = {.calc_rows = calc_rows};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
