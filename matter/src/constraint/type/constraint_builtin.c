// What the tables of all built-in constraints share: errors, forces and changes
// from equations, adding, checks of parameters.
#include "constraint/type/constraint_builtin_internal.h"

#include <math.h>

// --- errors and forces from equations ---

static tal_status calc_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    const tali_constraint_builtin *c = self;
    tali_jet row[TALI_CONSTRAINT_SMALL_ROWS];
    c->equations.calc_rows(c, arg, row);
    for (int r = 0; r < c->mp; ++r) {
        perr[r] = row[r].x;
    }
    return TAL_OK;
}

static tal_status calc_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    const tali_constraint_builtin *c = self;
    tali_jet row[TALI_CONSTRAINT_SMALL_ROWS];
    c->equations.calc_rows(c, arg, row);
    for (int r = 0; r < c->mp + c->mv; ++r) {
        verr[r] = row[r].d;
    }
    return TAL_OK;
}

static tal_status calc_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    const tali_constraint_builtin *c = self;
    tali_jet row[TALI_CONSTRAINT_SMALL_ROWS];
    c->equations.calc_rows(c, arg, row);
    for (int r = 0; r < c->mp + c->mv + c->ma; ++r) {
        aerr[r] = row[r].dd;
    }
    return TAL_OK;
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    const tali_constraint_builtin *c = self;
    c->equations.add_forces(c, arg, lambda, F, f);
    return TAL_OK;
}

static tal_status calc_change(const void *self, const tal_constraint_arg *arg,
                              const tal_constraint_change *change, const double lambda[],
                              double perr[], double verr[], double aerr[], tal_spatial_vec F[],
                              double f[])
{
    const tali_constraint_builtin *c = self;
    const tali_constraint_changing_arg in = {arg, change, arg->params};
    tali_jet_changing row[TALI_CONSTRAINT_SMALL_ROWS];
    c->equations.calc_rows_change(c, &in, row);
    for (int r = 0; r < c->mp; ++r) {
        perr[r] = row[r].by.x;
    }
    for (int r = 0; r < c->mp + c->mv; ++r) {
        verr[r] = row[r].by.d;
    }
    for (int r = 0; r < c->mp + c->mv + c->ma; ++r) {
        aerr[r] = row[r].by.dd;
    }
    c->equations.add_forces_change(c, &in, lambda, F, f);
    return TAL_OK;
}

// --- adding ---

static void destroy(void *self)
{
    tali_constraint_builtin *c = self;
    if (c == NULL) return;
    const tal_allocator memory = c->allocator;
    tal_function_destroy(c->f);
    tali_free(&memory, c, sizeof *c);
}

bool tali_constraint_is_builtin(const tal_constraint_ops *ops)
{
    return ops->destroy == destroy;
}

tal_constraint_ix tali_constraint_add_builtin(tal_matter *matter, const tal_constraint_def *def,
                                              const tal_constraint_ops *ops,
                                              const tali_constraint_builtin *like,
                                              const double params[])
{
    tali_constraint_builtin *self = NULL;
    const bool has_list = def != NULL && (def->body_list != NULL || def->mobility_list != NULL);
    if (matter != NULL && has_list) {
        (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                              "constraint '%s': a %s takes `bodies` and `mobilities` of its def, "
                              "not lists",
                              def->name != NULL ? def->name : "(no name)", ops->name);
    } else if (matter != NULL) {
        self = tali_alloc(&matter->allocator, sizeof *self);
        if (self == NULL) {
            (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for a %s",
                                  ops->name);
        } else {
            *self = *like;
            self->allocator = matter->allocator;
            self->mp = ops->mp, self->mv = ops->mv, self->ma = ops->ma;
        }
    }
    if (self == NULL) tal_function_destroy(like->f);
    tal_constraint_ops table = *ops;
    table.size = sizeof table;
    table.calc_p = calc_p;
    table.calc_v = calc_v;
    table.calc_a = calc_a;
    table.add_forces = add_forces;
    table.calc_change = like->equations.calc_rows_change != NULL ? calc_change : NULL;
    table.destroy = destroy;
    return tal_matter_add_constraint(matter, def, &table, self, params);
}

tal_constraint_def tal_constraint_between(tal_body_ix body1, tal_body_ix body2)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.bodies[0] = body1;
    def.bodies[1] = body2;
    return def;
}

tal_constraint_def tal_constraint_on(tal_body_ix body, int i)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0] = (tal_mobility){body, i};
    def.num_mobilities = 1;
    return def;
}

// --- checks ---

bool tali_constraint_have_coordinates(tal_matter *matter, const tal_constraint_def *def, int first,
                                      int end)
{
    if (matter == NULL || def == NULL) return true;
    for (int i = first; i < end && i < TAL_CONSTRAINT_MOBILITIES; ++i) {
        const int b = def->mobilities[i].body.i;
        if (b < 0 || b >= matter->num_bodies || matter->bodies[b].ops.mul_N == NULL) continue;
        (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                              "constraint '%s': the mobilizer of body '%s' (%s) has no coordinates "
                              "that change with its speeds one by one: constrain speeds or frames",
                              def->name != NULL ? def->name : "(no name)", matter->bodies[b].name,
                              matter->bodies[b].ops.name);
        return false;
    }
    return true;
}

tal_status tali_constraint_check_direction(const double v[3], const char *subject, tal_error *err)
{
    if (tal_v3_max_abs(tali_constraint_v3_from(v)) > 0.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "its %s (%g, %g, %g) is not a direction", subject,
                     v[0], v[1], v[2]);
}

tal_status tali_constraint_check_positive(double value, const char *subject, tal_error *err)
{
    if (value > 0.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "its %s must be positive, not %g", subject, value);
}

tal_status tali_constraint_check_rotation(const double R[9], const char *subject, tal_error *err)
{
    const tal_mat3 axes = tali_constraint_rotation_from(R);
    if (tal_rotation_is_valid(&axes, TALI_ROTATION_TOLERANCE)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "its %s is not a right-handed set of unit vectors: x is (%g, %g, %g)", subject,
                     R[0], R[1], R[2]);
}

tal_status tali_constraint_check_two_frames(const double params[24], tal_error *err)
{
    const tal_status st = tali_constraint_check_rotation(params, "frame on body 1", err);
    return st != TAL_OK ? st : tali_constraint_check_rotation(params + 12, "frame on body 2", err);
}

tal_constraint_ix tali_constraint_refuse_null(tal_matter *matter, const char *kind)
{
    if (matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    } else {
        (void)tal_system_fail(matter->system, TAL_ERR_NULL, "an argument of a %s is NULL", kind);
    }
    return (tal_constraint_ix){-1};
}
