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

static double third_derivative(const tali_constraint_builtin *c, const double x[], int i, int j,
                               int k)
{
    const int wrt[3] = {i, j, k};
    return tal_function_calc_derivative(c->f, x, tal_function_num_args(c->f), wrt, 3);
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

static void add_forces_of_coordinates(const tali_constraint_builtin *c,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)F;
    for (int i = 0; i < tal_function_num_args(c->f); ++i) {
        f[i] += lambda[0] * derivative(c, arg->q, i);
    }
}

// perr: f_i dq_i; verr: f_ij u_i dq_j + f_i du_i; and
//
//     f_i dudot_i + f_ij (udot_i dq_j + 2 u_i du_j) + f_ijk u_i u_j dq_k
static void calc_change_of_coordinates(const tali_constraint_builtin *c,
                                       const tali_constraint_changing_arg *in,
                                       tali_jet_changing row[])
{
    const tal_constraint_arg *arg = in->arg;
    const tal_constraint_change *to = in->to;
    const int n = tal_function_num_args(c->f);
    tali_jet by = {0.0, 0.0, 0.0};
    for (int i = 0; i < n; ++i) {
        const double f_i = derivative(c, arg->q, i);
        by.x += f_i * to->dq[i], by.d += f_i * to->du[i], by.dd += f_i * to->dudot[i];
        for (int j = 0; j < n; ++j) {
            const double f_ij = second_derivative(c, arg->q, i, j);
            by.d += f_ij * arg->u[i] * to->dq[j];
            by.dd += f_ij * (arg->udot[i] * to->dq[j] + 2.0 * arg->u[i] * to->du[j]);
            for (int k = 0; k < n; ++k) {
                by.dd += third_derivative(c, arg->q, i, j, k) * arg->u[i] * arg->u[j] * to->dq[k];
            }
        }
    }
    row[0].by = by;
}

static void add_change_of_coordinates(const tali_constraint_builtin *c,
                                      const tali_constraint_changing_arg *in, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)F;
    const int n = tal_function_num_args(c->f);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            f[i] += lambda[0] * second_derivative(c, in->arg->q, i, j) * in->to->dq[j];
        }
    }
}

static const tal_constraint_ops coordinate_ops = {
    .name = "coordinate coupler",
    .tag = TALI_TAG_COORDINATE_COUPLER,
    .mp = 1,
    .num_mobilities = -1,
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

static void add_forces_of_speeds(const tali_constraint_builtin *c, const tal_constraint_arg *arg,
                                 const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)F;
    double x[TAL_CONSTRAINT_MOBILITIES];
    gather_arguments(c, arg, x);
    for (int i = 0; i < c->num_speeds; ++i) {
        f[i] += lambda[0] * derivative(c, x, i);
    }
}

// How argument i of the function changes.
static double argument_change(const tali_constraint_builtin *c, const tal_constraint_change *to,
                              int i)
{
    return i < c->num_speeds ? to->du[i] : to->dq[i];
}

// verr: f_i dx_i; aerr: f_ij xdot_i dx_j + f_i dxdot_i
static void calc_change_of_speeds(const tali_constraint_builtin *c,
                                  const tali_constraint_changing_arg *in, tali_jet_changing row[])
{
    const int n = tal_function_num_args(c->f);
    double x[TAL_CONSTRAINT_MOBILITIES];
    gather_arguments(c, in->arg, x);
    tali_jet by = {0.0, 0.0, 0.0};
    for (int i = 0; i < n; ++i) {
        const bool is_speed = i < c->num_speeds;
        const double rate = is_speed ? in->arg->udot[i] : in->arg->u[i];
        const double f_i = derivative(c, x, i);
        by.d += f_i * argument_change(c, in->to, i);
        by.dd += f_i * (is_speed ? in->to->dudot[i] : in->to->du[i]);
        for (int j = 0; j < n; ++j) {
            by.dd += second_derivative(c, x, i, j) * rate * argument_change(c, in->to, j);
        }
    }
    row[0].by = by;
}

static void add_change_of_speeds(const tali_constraint_builtin *c,
                                 const tali_constraint_changing_arg *in, const double lambda[],
                                 tal_spatial_vec F[], double f[])
{
    (void)F;
    double x[TAL_CONSTRAINT_MOBILITIES];
    gather_arguments(c, in->arg, x);
    for (int i = 0; i < c->num_speeds; ++i) {
        for (int j = 0; j < tal_function_num_args(c->f); ++j) {
            f[i] += lambda[0] * second_derivative(c, x, i, j) * argument_change(c, in->to, j);
        }
    }
}

static const tal_constraint_ops speed_ops = {
    .name = "speed coupler",
    .tag = TALI_TAG_SPEED_COUPLER,
    .mv = 1,
    .num_mobilities = -1,
    .forces_need_velocity = true,
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

static void add_forces_of_motion(const tali_constraint_builtin *c, const tal_constraint_arg *arg,
                                 const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)c, (void)arg, (void)F;
    f[0] += lambda[0];
}

static void calc_change_of_motion(const tali_constraint_builtin *c,
                                  const tali_constraint_changing_arg *in, tali_jet_changing row[])
{
    (void)c;
    row[0].by = (tali_jet){in->to->dq[0], in->to->du[0], in->to->dudot[0]};
}

static void add_change_of_motion(const tali_constraint_builtin *c,
                                 const tali_constraint_changing_arg *in, const double lambda[],
                                 tal_spatial_vec F[], double f[])
{
    (void)c, (void)in, (void)lambda, (void)F, (void)f;
}

static const tal_constraint_ops motion_ops = {
    .name = "prescribed motion",
    .tag = TALI_TAG_PRESCRIBED_MOTION,
    .mp = 1,
    .num_mobilities = 1,
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

// `order` derivatives by `num_args` arguments; those from `first` to `end` are coordinates. Changes
// take one derivative more; without it they are found by differences.
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
        !tali_constraint_have_coordinates(matter, def, first, end)) {
        tal_function_destroy(like->f);
        return none;
    }
    if (tal_function_max_order(like->f) < order + (ops != &motion_ops)) {
        like->equations.calc_rows_change = NULL;
    }
    return tali_constraint_add_builtin(matter, def, ops, like, NULL);
}

tal_constraint_ix tal_constraint_add_coordinate_coupler(tal_matter *matter,
                                                        const tal_constraint_def *def,
                                                        tal_function *f)
{
    const int n = def != NULL ? def->num_mobilities : 0;
    tali_constraint_builtin like = {
        .equations = {calc_rows_of_coordinates, add_forces_of_coordinates,
                      calc_change_of_coordinates, add_change_of_coordinates},
        .f = f};
    return add_coupler(matter, def, &coordinate_ops, &like, n, 2, 0, n);
}

tal_constraint_ix tal_constraint_add_speed_coupler(tal_matter *matter,
                                                   const tal_constraint_def *def, int num_speeds,
                                                   tal_function *f)
{
    const int n = def != NULL ? def->num_mobilities : 0;
    tali_constraint_builtin like = {.equations = {calc_rows_of_speeds, add_forces_of_speeds,
                                                  calc_change_of_speeds, add_change_of_speeds},
                                    .f = f,
                                    .num_speeds = num_speeds};
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
    tali_constraint_builtin like = {.equations = {calc_rows_of_motion, add_forces_of_motion,
                                                  calc_change_of_motion, add_change_of_motion},
                                    .f = f};
    return add_coupler(matter, def, &motion_ops, &like, 1, 2, 0, 1);
}
