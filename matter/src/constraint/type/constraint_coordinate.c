// One coordinate, speed or acceleration that keeps a value.
//
//     perr = q - value    verr = u           aerr = udot          constant coordinate
//                         verr = u - value   aerr = udot          constant speed
//                                            aerr = udot - value  constant acceleration
//     force lambda along the mobility
#include "constraint/type/constraint_builtin_internal.h"

static double level(const double *values)
{
    return values != NULL ? values[0] : 0.0;
}

static void calc_rows_of_coordinate(const tali_constraint_builtin *self,
                                    const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    row[0] = (tali_jet){arg->q[0] - arg->params[0], level(arg->u), level(arg->udot)};
}

static void calc_rows_of_speed(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                               tali_jet row[])
{
    (void)self;
    row[0] = (tali_jet){0.0, level(arg->u) - arg->params[0], level(arg->udot)};
}

static void calc_rows_of_acceleration(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    row[0] = (tali_jet){0.0, 0.0, level(arg->udot) - arg->params[0]};
}

static void add_forces(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                       const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
}

// Rows are linear, and forces constant.
static void calc_rows_change(const tali_constraint_builtin *self,
                             const tali_constraint_changing_arg *arg, tali_jet_changing row[])
{
    (void)self;
    row[0].by = (tali_jet){arg->to->dq[0], arg->to->du[0], arg->to->dudot[0]};
}

static void add_forces_change(const tali_constraint_builtin *self,
                              const tali_constraint_changing_arg *arg, const double lambda[],
                              tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)lambda, (void)F, (void)f;
}

static const tal_constraint_ops coordinate_ops = {
    .name = "constant coordinate",
    .tag = TALI_TAG_CONSTANT_COORDINATE,
    .mp = 1,
    .num_mobilities = 1,
    .num_params = 1,
};

static const tal_constraint_ops speed_ops = {
    .name = "constant speed",
    .tag = TALI_TAG_CONSTANT_SPEED,
    .mv = 1,
    .num_mobilities = 1,
    .num_params = 1,
};

static const tal_constraint_ops acceleration_ops = {
    .name = "constant acceleration",
    .tag = TALI_TAG_CONSTANT_ACCELERATION,
    .ma = 1,
    .num_mobilities = 1,
    .num_params = 1,
};

tal_constraint_ix tal_constraint_add_constant_coordinate(tal_matter *matter,
                                                         const tal_constraint_def *def,
                                                         double value)
{
    if (!tali_constraint_have_coordinates(matter, def, 0, 1)) return (tal_constraint_ix){-1};
    const tali_constraint_builtin like = {
        .equations = {calc_rows_of_coordinate, add_forces, calc_rows_change, add_forces_change}};
    return tali_constraint_add_builtin(matter, def, &coordinate_ops, &like, &value);
}

tal_constraint_ix tal_constraint_add_constant_speed(tal_matter *matter,
                                                    const tal_constraint_def *def, double value)
{
    const tali_constraint_builtin like = {
        .equations = {calc_rows_of_speed, add_forces, calc_rows_change, add_forces_change}};
    return tali_constraint_add_builtin(matter, def, &speed_ops, &like, &value);
}

tal_constraint_ix tal_constraint_add_constant_acceleration(tal_matter *matter,
                                                           const tal_constraint_def *def,
                                                           double value)
{
    const tali_constraint_builtin like = {
        .equations = {calc_rows_of_acceleration, add_forces, calc_rows_change, add_forces_change}};
    return tali_constraint_add_builtin(matter, def, &acceleration_ops, &like, &value);
}
