// Equations on coordinates whose rates are not speeds: the angles of a ball.
//
//     qdot = N u            qdotdot = N udot + Ndot u            f_u = N^T f_q
//
// Such a constraint acts on all three speeds of the orientation. What it is made of sees
// coordinates and their rates, and gives forces along coordinates.
#include "constraint/constraint_internal.h"
#include "constraint/type/constraint_builtin_internal.h"
#include "mobilizer/mobilizer_internal.h"

enum {
    ANGLES = 3 ///< and speeds of an orientation
};

// What goes with a speed of a body: a coordinate that it is the rate of, an angle, or neither.
typedef enum coordinate_kind {
    IS_RATE,
    IS_ANGLE,
    IS_NEITHER
} coordinate_kind;

static coordinate_kind kind_of(const tal_mobilizer_ops *ops, int i)
{
    if (ops->mul_N == NULL) return IS_RATE;
    if (!ops->has_quaternion || i < 0) return IS_NEITHER;
    const int translations = ops->nq_angles - ANGLES;
    if (i >= ops->nu - translations) return IS_RATE;
    return ops->nu - translations == ANGLES ? IS_ANGLE : IS_NEITHER;
}

static const tali_tree_body *body_at(const tal_matter *matter, int b)
{
    return b >= 0 && b < matter->num_bodies ? &matter->bodies[b] : NULL;
}

bool tali_constraint_have_coordinates(tal_matter *matter, const tal_constraint_def *def, int first,
                                      int end, bool takes_angles)
{
    if (matter == NULL || def == NULL) return true;
    for (int i = first; i < end && i < TAL_CONSTRAINT_MOBILITIES; ++i) {
        const tali_tree_body *const body = body_at(matter, def->mobilities[i].body.i);
        if (body == NULL) continue;
        const coordinate_kind kind = kind_of(&body->ops, def->mobilities[i].i);
        if (kind == IS_RATE || (kind == IS_ANGLE && takes_angles)) continue;
        (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                              "constraint '%s': speed %d of body '%s' (%s) is not the rate of a "
                              "coordinate: constrain speeds or frames",
                              def->name != NULL ? def->name : "(no name)", def->mobilities[i].i,
                              body->name, body->ops.name);
        return false;
    }
    return true;
}

// ---- from speeds to rates -----------------------------------------------------------------------

// Products with N of the orientation of a body; those of its translations are left zero.
static void mul_N(const tali_constraint_angles *it, const tali_constraint_coordinate *at,
                  const double angles[], const double speeds[], tal_n_op op, const double in[],
                  double out[])
{
    const tali_tree_body *const body = &it->matter->bodies[at->body];
    double q[TAL_MAX_NQ] = {0.0}, u[TAL_MAX_NQ] = {0.0}, x[TAL_MAX_NQ] = {0.0}, y[TAL_MAX_NQ];
    for (int i = 0; i < ANGLES; ++i) {
        q[i] = angles[i];
        u[i] = speeds != NULL ? speeds[i] : 0.0;
        x[i] = in[i];
    }
    const tal_mobilizer_arg arg = {.use_angles = true, .q = q, .u = u};
    const tal_status st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, op, x, y);
    for (int i = 0; i < ANGLES; ++i) {
        out[i] = st == TAL_OK ? y[i] : TALI_NAN; // which the constraint is then named for
    }
}

// One angle with its rates, from the three speeds of its orientation.
static tali_jet angle_of(const tali_constraint_angles *it, const tali_constraint_coordinate *at,
                         const tal_constraint_arg *arg)
{
    const double *const angles = arg->q + at->first;
    const int i = at->index;
    tali_jet jet = {angles[i], 0.0, 0.0};
    double rates[ANGLES], more[ANGLES];
    if (arg->u == NULL) return jet;
    const double *const u = arg->u + at->first;
    mul_N(it, at, angles, u, TAL_N, u, rates);
    jet.d = rates[i];
    if (arg->udot == NULL) return jet;
    mul_N(it, at, angles, u, TAL_N, arg->udot + at->first, rates);
    mul_N(it, at, angles, u, TAL_NDOT, u, more);
    jet.dd = rates[i] + more[i];
    return jet;
}

// The coordinates that the inner constraint sees.
typedef struct seen {
    double q[TAL_CONSTRAINT_MOBILITIES], u[TAL_CONSTRAINT_MOBILITIES],
        udot[TAL_CONSTRAINT_MOBILITIES];
    tal_constraint_arg arg;
} seen;

static void see_coordinates(const tali_constraint_angles *it, const tal_constraint_arg *arg,
                            seen *out)
{
    for (int k = 0; k < it->num; ++k) {
        const tali_constraint_coordinate *const at = &it->list[k];
        tali_jet jet = {arg->q[at->first], arg->u != NULL ? arg->u[at->first] : 0.0,
                        arg->udot != NULL ? arg->udot[at->first] : 0.0};
        if (at->is_angle) jet = angle_of(it, at, arg);
        out->q[k] = jet.x, out->u[k] = jet.d, out->udot[k] = jet.dd;
    }
    out->arg = *arg;
    out->arg.num_mobilities = it->num;
    out->arg.q = out->q;
    if (arg->u != NULL) out->arg.u = out->u;
    if (arg->udot != NULL) out->arg.udot = out->udot;
}

static void calc_rows(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[])
{
    seen coordinates;
    see_coordinates(self->angles, arg, &coordinates);
    self->angles->calc_rows(self, &coordinates.arg, row);
}

// Forces along coordinates, carried to speeds.
static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    const tali_constraint_builtin *const c = self;
    const tali_constraint_angles *const it = c->angles;
    double along[TAL_CONSTRAINT_MOBILITIES] = {0.0};
    seen coordinates;
    see_coordinates(it, arg, &coordinates);
    const tal_status st = it->add_forces(self, &coordinates.arg, lambda, F, along);
    for (int k = 0; k < it->num; ++k) {
        const tali_constraint_coordinate *const at = &it->list[k];
        double f_q[ANGLES] = {0.0}, f_u[ANGLES];
        if (!at->is_angle) {
            f[at->first] += along[k];
            continue;
        }
        f_q[at->index] = along[k];
        mul_N(it, at, arg->q + at->first, NULL, TAL_N_T, f_q, f_u);
        for (int i = 0; i < ANGLES; ++i) {
            f[at->first + i] += f_u[i];
        }
    }
    return st;
}

// ---- adding -------------------------------------------------------------------------------------

static bool has_angles(const tal_matter *matter, const tal_constraint_def *def, int n)
{
    for (int i = 0; i < n; ++i) {
        const tali_tree_body *const body = body_at(matter, def->mobilities[i].body.i);
        if (body != NULL && kind_of(&body->ops, def->mobilities[i].i) == IS_ANGLE) return true;
    }
    return false;
}

// The mobilities of a constraint on coordinates: all three speeds of an orientation.
static int spread_speeds(const tal_matter *matter, const tal_constraint_def *def, int n,
                         tali_constraint_angles *it, tal_mobility list[])
{
    int count = 0;
    for (int k = 0; k < n; ++k) {
        const tal_mobility at = def->mobilities[k];
        const tali_tree_body *const body = body_at(matter, at.body.i);
        const bool is_angle = body != NULL && kind_of(&body->ops, at.i) == IS_ANGLE;
        it->list[k] = (tali_constraint_coordinate){at.body.i, at.i, count, is_angle};
        it->bodies[k] = at.body.i;
        it->indices[k] = at.i;
        for (int i = 0; i < (is_angle ? ANGLES : 1); ++i) {
            list[count++] = is_angle ? (tal_mobility){at.body, i} : at;
        }
    }
    return count;
}

bool tali_constraint_use_angles(tal_matter *matter, const tal_constraint_def *def,
                                tali_constraint_builtin *self, tal_constraint_ops *table,
                                tal_constraint_def *wide, tal_mobility list[])
{
    const int n = table->num_mobilities >= 0 ? table->num_mobilities : def->num_mobilities;
    *wide = *def;
    if (n > TAL_CONSTRAINT_MOBILITIES || !has_angles(matter, def, n)) return true;
    tali_constraint_angles *const it = tali_alloc(&matter->allocator, sizeof *it);
    if (it == NULL) return false;
    *it = (tali_constraint_angles){.matter = matter,
                                   .num = n,
                                   .calc_rows = self->equations.calc_rows,
                                   .add_forces = table->add_forces};
    wide->num_mobilities = spread_speeds(matter, def, n, it, list);
    wide->mobility_list = list;
    table->num_mobilities = -1;
    table->add_forces = add_forces;
    table->calc_change = NULL; // N changes with q as well: by differences
    self->equations.calc_rows = calc_rows;
    self->angles = it;
    return true;
}

tal_status tali_constraint_check_angles(const tal_matter *matter, tal_state *state,
                                        const tali_constraint *c)
{
    if (!tali_constraint_is_builtin(&c->ops)) return TAL_OK;
    const tali_constraint_angles *const it = ((const tali_constraint_builtin *)c->self)->angles;
    if (it == NULL) return TAL_OK;
    const tali_matter_model model = tali_matter_model_unchecked(matter, state);
    for (int k = 0; k < it->num; ++k) {
        const tali_constraint_coordinate *const at = &it->list[k];
        if (!at->is_angle || model.use_angles[at->body]) continue;
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "constraint '%s': coordinate %d of body '%s' is an angle, but the "
                              "State describes its orientation by a quaternion: use angles, or "
                              "disable the constraint",
                              c->name, at->index, matter->bodies[at->body].name);
    }
    return TAL_OK;
}
