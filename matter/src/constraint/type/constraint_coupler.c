// Coordinates or speeds coupled by a function, and a coordinate that follows a function of time.
//
//     perr = f(q)          verr = sum f_i u_i     aerr = sum f_i udot_i + sum f_ij u_i u_j
//                          verr = f(u, q)         aerr = sum f_ui udot_i + sum f_qj u_j
//     perr = q - f(t)      verr = u - f'(t)       aerr = udot - f''(t)
//
//     force along each mobility: lambda times the factor of its udot
#include "constraint/type/constraint_builtin_internal.h"

static double derivative(const tali_constraint_builtin *c, const double x[], int i)
{
    return tal_function_calc_derivative(c->f, x, tal_function_num_args(c->f), &i, 1);
}

static double second_derivative(const tali_constraint_builtin *c, const double x[], int i, int j)
{
    const int wrt[2] = {i, j};
    return tal_function_calc_derivative(c->f, x, tal_function_num_args(c->f), wrt, 2);
}

// --- coordinates ---

static void calc_rows_of_coordinates(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    const int n = tal_function_num_args(self->f);
    row[0] = (tali_jet){tal_function_calc_value(self->f, arg->q, n), 0.0, 0.0};
    if (arg->u == NULL) return;
    for (int i = 0; i < n; ++i) {
        const double f_i = derivative(self, arg->q, i);
        row[0].d += f_i * arg->u[i];
        if (arg->udot == NULL) continue;
        row[0].dd += f_i * arg->udot[i];
        for (int j = 0; j <= i; ++j) { // mixed derivatives count twice
            const double times = j < i ? 2.0 : 1.0;
            row[0].dd += times * second_derivative(self, arg->q, i, j) * arg->u[i] * arg->u[j];
        }
    }
}

static tal_status add_forces_of_coordinates(const void *self, const tal_constraint_arg *arg,
                                            const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)F;
    const tali_constraint_builtin *c = self;
    for (int i = 0; i < tal_function_num_args(c->f); ++i) {
        f[i] += lambda[0] * derivative(c, arg->q, i);
    }
    return TAL_OK;
}

static const tal_constraint_ops coordinate_ops = {
    .name = "coordinate coupler",
    .tag = TALI_TAG_COORDINATE_COUPLER,
    .mp = 1,
    .num_mobilities = -1,
    .add_forces = add_forces_of_coordinates,
};

// --- speeds ---

// The arguments of the function: speeds first, then coordinates.
static void gather_arguments(const tali_constraint_builtin *c, const tal_constraint_arg *arg,
                             double x[])
{
    for (int i = 0; i < tal_function_num_args(c->f); ++i) {
        x[i] = i >= c->num_speeds ? arg->q[i] : arg->u != NULL ? arg->u[i] : 0.0;
    }
}

static void calc_rows_of_speeds(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                                tali_jet row[])
{
    const int n = tal_function_num_args(self->f);
    double x[TAL_CONSTRAINT_MOBILITIES];
    gather_arguments(self, arg, x);
    row[0] = (tali_jet){0.0, tal_function_calc_value(self->f, x, n), 0.0};
    if (arg->udot == NULL) return;
    for (int i = 0; i < n; ++i) {
        const double rate = i < self->num_speeds ? arg->udot[i] : arg->u[i];
        row[0].dd += derivative(self, x, i) * rate;
    }
}

static tal_status add_forces_of_speeds(const void *self, const tal_constraint_arg *arg,
                                       const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)F;
    const tali_constraint_builtin *c = self;
    double x[TAL_CONSTRAINT_MOBILITIES];
    gather_arguments(c, arg, x);
    for (int i = 0; i < c->num_speeds; ++i) {
        f[i] += lambda[0] * derivative(c, x, i);
    }
    return TAL_OK;
}

static const tal_constraint_ops speed_ops = {
    .name = "speed coupler",
    .tag = TALI_TAG_SPEED_COUPLER,
    .mv = 1,
    .num_mobilities = -1,
    .forces_need_velocity = true,
    .add_forces = add_forces_of_speeds,
};

// --- time ---

static void calc_rows_of_motion(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                                tali_jet row[])
{
    row[0] = (tali_jet){arg->q[0] - tal_function_calc_value_1(self->f, arg->t), 0.0, 0.0};
    if (arg->u == NULL) return;
    row[0].d = arg->u[0] - tal_function_calc_derivative_1(self->f, arg->t, 1);
    if (arg->udot == NULL) return;
    row[0].dd = arg->udot[0] - tal_function_calc_derivative_1(self->f, arg->t, 2);
}

static tal_status add_forces_of_motion(const void *self, const tal_constraint_arg *arg,
                                       const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
    return TAL_OK;
}

static const tal_constraint_ops motion_ops = {
    .name = "prescribed motion",
    .tag = TALI_TAG_PRESCRIBED_MOTION,
    .mp = 1,
    .num_mobilities = 1,
    .add_forces = add_forces_of_motion,
};

// --- adding ---

// A function that owns f: a sum of one term adopts it. A function that has an owner already is left
// alone.
static tal_function *adopt(tal_matter *matter, const char *kind, tal_function *f)
{
    tal_function *own = NULL;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tal_function_create_sum(&matter->allocator, &f, 1, &own, &why);
    if (st == TAL_OK) return own;
    if (st == TAL_ERR_NO_MEMORY) tal_function_destroy(f);
    (void)tal_system_fail(matter->system, st, "a %s: %s", kind, why.message);
    return NULL;
}

static bool has_arguments(tal_matter *matter, const char *kind, const tal_function *f, int num_args,
                          int order)
{
    if (tal_function_num_args(f) == num_args && tal_function_max_order(f) >= order) return true;
    (void)tal_system_fail(
        matter->system, TAL_ERR_BAD_VALUE,
        "a %s needs a function of %d arguments with %d derivatives, but was given "
        "one of %d with %d",
        kind, num_args, order, tal_function_num_args(f), tal_function_max_order(f));
    return false;
}

// `order` derivatives by `num_args` arguments; those from `first` to `end` are coordinates.
static tal_constraint_ix add_coupler(tal_matter *matter, const tal_constraint_def *def,
                                     const tal_constraint_ops *ops, tali_constraint_builtin *like,
                                     int num_args, int order, int first, int end)
{
    const tal_constraint_ix none = {-1};
    if (matter == NULL || like->f == NULL) {
        tal_function_destroy(like->f);
        return tali_constraint_refuse_null(matter, ops->name);
    }
    like->f = adopt(matter, ops->name, like->f);
    if (like->f == NULL) return none;
    if (!has_arguments(matter, ops->name, like->f, num_args, order) ||
        !tali_constraint_have_coordinates(matter, def, first, end, like->on_coordinates)) {
        tal_function_destroy(like->f);
        return none;
    }
    return tali_constraint_add_builtin(matter, def, ops, like, NULL);
}

tal_constraint_ix tal_constraint_add_coordinate_coupler(tal_matter *matter,
                                                        const tal_constraint_def *def,
                                                        tal_function *f)
{
    const int n = def != NULL ? def->num_mobilities : 0;
    tali_constraint_builtin like = {
        .calc_rows = calc_rows_of_coordinates, .f = f, .on_coordinates = true};
    return add_coupler(matter, def, &coordinate_ops, &like, n, 2, 0, n);
}

tal_constraint_ix tal_constraint_add_speed_coupler(tal_matter *matter,
                                                   const tal_constraint_def *def, int num_speeds,
                                                   tal_function *f)
{
    const int n = def != NULL ? def->num_mobilities : 0;
    tali_constraint_builtin like = {
        .calc_rows = calc_rows_of_speeds, .f = f, .num_speeds = num_speeds};
    if (matter != NULL && (num_speeds < 1 || num_speeds > n)) {
        (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                              "a speed coupler of %d mobilities cannot have %d speeds", n,
                              num_speeds);
        num_speeds = n;
    }
    return add_coupler(matter, def, &speed_ops, &like, n, 1, num_speeds, n);
}

tal_constraint_ix tal_constraint_add_prescribed_motion(tal_matter *matter,
                                                       const tal_constraint_def *def,
                                                       tal_function *f)
{
    tali_constraint_builtin like = {
        .calc_rows = calc_rows_of_motion, .f = f, .on_coordinates = true};
    return add_coupler(matter, def, &motion_ops, &like, 1, 2, 0, 1);
}
