// The constant angle between a direction of body 1 and one of body 2.
//
//     perr = e1 . e2 - cos(angle)        derivatives of the product
//     moment lambda e2 x e1 on body 2, its opposite on body 1

static tali_jet3 TALI_EQUATION(axis)(const tal_constraint_arg *arg, int b)
{
    const int first = b == 0 ? TAL_CONSTANT_ANGLE_AXIS_1 : TAL_CONSTANT_ANGLE_AXIS_2;
    return tali_constraint_axis(arg, b, tali_constraint_unit_from(arg->params + first));
}

static void TALI_EQUATION(calc_rows)(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    row[0] = tali_jet_plus(tali_jet3_dot(TALI_EQUATION(axis)(arg, 0), TALI_EQUATION(axis)(arg, 1)),
                           -cos(arg->params[TAL_CONSTANT_ANGLE_ANGLE]));
}

static void TALI_EQUATION(add_forces)(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    tali_constraint_turn_axes(0, TALI_EQUATION(axis)(arg, 0), 1, TALI_EQUATION(axis)(arg, 1),
                              lambda[0], F);
}
