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

static tali_jet3 TALI_EQUATION(point)(const tal_constraint_arg *arg)
{
    return tali_constraint_station(arg, CASE_BODY,
                                   tali_constraint_v3_from(arg->params + TAL_NO_SLIP_1D_POINT));
}

static tali_jet3 TALI_EQUATION(direction)(const tal_constraint_arg *arg)
{
    return tali_constraint_axis(arg, CASE_BODY,
                                tali_constraint_unit_from(arg->params + TAL_NO_SLIP_1D_DIRECTION));
}

static void TALI_EQUATION(calc_rows)(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    const tali_jet3 slip = tali_constraint_slip(arg, MOVING_1, MOVING_2, TALI_EQUATION(point)(arg));
    row[0] = tali_constraint_velocity_row(tali_jet3_dot(TALI_EQUATION(direction)(arg), slip));
}

static void TALI_EQUATION(add_forces)(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    tali_constraint_push_apart(arg, MOVING_1, MOVING_2, TALI_EQUATION(point)(arg),
                               tali_jet3_scale(lambda[0], TALI_EQUATION(direction)(arg)), F);
}
