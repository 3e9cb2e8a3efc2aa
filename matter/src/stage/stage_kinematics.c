// What matter computes at Position and Velocity: poses, motion, and the rates of q.
#include "finite_internal.h"

#include "constraint/constraint_internal.h"
#include "kernel/passes_internal.h"
#include "stage/stages_internal.h"

#include <math.h>

// --- Position ---

// The arguments of all mobilizers, looked up once for a loop over bodies.
typedef struct mobilizer_values {
    tali_matter_model model;
    const double *params;
    const double *q;
    const double *u; ///< NULL where not asked for
} mobilizer_values;

static mobilizer_values values_of(const tal_matter *matter, const tal_state *state,
                                  const double q[], const double u[])
{
    return (mobilizer_values){tali_matter_model_of(matter, state),
                              tal_var_value(matter->system, state, matter->var_params), q, u};
}

static tal_mobilizer_arg arg_of(const tal_matter *matter, const mobilizer_values *values, int b)
{
    const tali_matter_model *model = &values->model;
    return (tal_mobilizer_arg){.use_angles = model->use_angles[b] != 0,
                               .params = values->params + matter->bodies[b].param0,
                               .q = values->q != NULL ? values->q + model->q0[b] : NULL,
                               .u = values->u != NULL ? values->u + matter->tree.u0[b] : NULL};
}

tal_mobilizer_arg tali_tree_mobilizer_arg_of(const tal_matter *matter, const tal_state *state,
                                             int b, const double q[], const double u[])
{
    const mobilizer_values values = values_of(matter, state, q, u);
    return arg_of(matter, &values, b);
}

// A q that is not finite is reported here, with the name of its body, before it becomes a pose full
// of NaN.
static tal_status check_q(const tal_matter *matter, const tali_matter_model *model,
                          tal_state *state, const double q[])
{
    const int last = matter->num_bodies - 1;
    if (tali_finite_all(q, model->q0[last] + model->nq[last])) return TAL_OK;
    for (int b = 1; b < matter->num_bodies; ++b) {
        for (int i = 0; i < model->nq[b]; ++i) {
            const double value = q[model->q0[b] + i];
            if (isfinite(value)) continue;
            return tal_state_fail(state, TAL_ERR_NOT_FINITE, "body '%s': its coordinate %d is %g",
                                  matter->bodies[b].name, i, value);
        }
    }
    return TAL_OK;
}

bool tali_tree_has_direction(const double e[])
{
    // below this square, the normalized components begin to lose digits
    static const double least = 1e-280;
    const double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3];
    return square > least && isfinite(square);
}

static tal_status check_quaternions(const tal_matter *matter, const tali_matter_model *model,
                                    tal_state *state, const double q[])
{
    for (int i = 0; i < matter->tree.num_quaternions; ++i) {
        const int b = matter->tree.quaternions[i];
        if (model->use_angles[b]) continue;
        const double *e = q + model->q0[b];
        if (tali_tree_has_direction(e)) continue;
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "body '%s': its quaternion (%g, %g, %g, %g) has no direction",
                              matter->bodies[b].name, e[0], e[1], e[2], e[3]);
    }
    return TAL_OK;
}

static tal_status mobilizer_failure(const tal_matter *matter, tal_state *state, int b,
                                    tal_status st)
{
    return tal_state_fail(state, st, "body '%s': its mobilizer, '%s', failed (%s)",
                          matter->bodies[b].name, matter->bodies[b].ops.name, tal_status_text(st));
}

// X_FM and H_FM of the mobilizers that have no kernel of their own.
tal_status tali_stage_ask_tables(const tal_matter *matter, tal_state *state, const double q[],
                                 const tali_tree_position *at)
{
    if (matter->tree.num_general == 0) return TAL_OK;
    const mobilizer_values values = values_of(matter, state, q, NULL);
    for (int g = 0; g < matter->tree.num_general; ++g) {
        const int b = matter->tree.general[g];
        const tali_tree_body *body = &matter->bodies[b];
        const tal_mobilizer_arg arg = arg_of(matter, &values, b);
        tal_status st =
            tali_mobilizer_X_FM(&body->ops, body->self, &arg, body->direction, &at->X_FM[g]);
        if (st == TAL_OK) {
            st = tali_mobilizer_H_FM(&body->ops, body->self, &arg, body->direction, &at->X_FM[g],
                                     at->H_FM + matter->tree.u0[b]);
        }
        if (st != TAL_OK) return mobilizer_failure(matter, state, b, st);
    }
    return TAL_OK;
}

tal_status tali_stage_calc_position(const void *self, const tal_system *system, tal_state *state,
                                    void *value)
{
    const tal_matter *matter = self;
    const tali_tree_constants *constants = tali_cache_at(system, state, matter->constants);
    const tali_matter_model model = tali_matter_model_unchecked(matter, state);
    const tali_tree_position at = tali_stage_position_in(&matter->tree, value);
    const double *q = tali_tree_q_of(matter, state);
    tal_status st = check_q(matter, &model, state, q);
    if (st == TAL_OK) st = check_quaternions(matter, &model, state, q);
    if (st == TAL_OK) st = tali_stage_ask_tables(matter, state, q, &at);
    if (st != TAL_OK) return st;
    matter->tree.passes->position(&matter->tree, constants, &model, q, &at);
    return TAL_OK;
}

// The error of a quaternion is its length minus one (manual sec. 10.1).
tal_status tali_stage_realize_position(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    const tal_status st = tali_constraints_realize_position(matter, state);
    if (st != TAL_OK || tal_group_size(system, state, matter->quaternion_errors) == 0) return st;
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const double *q = tali_tree_q_of(matter, state);
    double *error = tal_group_upd_errors(system, state, matter->quaternion_errors);
    for (int i = 0; i < matter->tree.num_quaternions; ++i) {
        const int b = matter->tree.quaternions[i];
        if (model.use_angles[b]) continue;
        const double *e = q + model.q0[b];
        *error++ = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]) - 1.0;
    }
    return TAL_OK;
}

// --- Velocity ---

// Hdot_FM u of the mobilizers that have no kernel of their own.
tal_status tali_stage_ask_tables_for_Hdot(const tal_matter *matter, tal_state *state,
                                          const tali_tree_view *view, const double q[],
                                          const double u[], tal_spatial_vec Hdot_u[])
{
    if (matter->tree.num_general == 0) return TAL_OK;
    const mobilizer_values values = values_of(matter, state, q, u);
    for (int g = 0; g < matter->tree.num_general; ++g) {
        const int b = matter->tree.general[g];
        const int nu = matter->tree.nu[b];
        const tali_tree_body *body = &matter->bodies[b];
        const tal_mobilizer_arg arg = arg_of(matter, &values, b);
        const tal_spatial_vec *H_FM = view->H_FM + matter->tree.u0[b];
        tal_spatial_vec V_FM = TAL_SPATIAL_VEC_ZERO;
        for (int j = 0; j < nu; ++j) {
            V_FM = tal_sv_axpy(arg.u[j], H_FM[j], V_FM);
        }
        tal_spatial_vec Hdot[TAL_MAX_NU];
        const tal_status st = tali_mobilizer_Hdot_FM(&body->ops, body->self, &arg, body->direction,
                                                     &view->X_FM[g], H_FM, V_FM, Hdot);
        if (st != TAL_OK) return mobilizer_failure(matter, state, b, st);
        Hdot_u[g] = TAL_SPATIAL_VEC_ZERO;
        for (int j = 0; j < nu; ++j) {
            Hdot_u[g] = tal_sv_axpy(arg.u[j], Hdot[j], Hdot_u[g]);
        }
    }
    return TAL_OK;
}

static tal_status check_u(const tal_matter *matter, tal_state *state, const double u[])
{
    const tali_tree *tree = &matter->tree;
    for (int b = 1; b < tree->num_bodies; ++b) {
        for (int j = 0; j < tree->nu[b]; ++j) {
            const double value = u[tree->u0[b] + j];
            if (isfinite(value)) continue;
            return tal_state_fail(state, TAL_ERR_NOT_FINITE, "body '%s': its speed %d is %g",
                                  matter->bodies[b].name, j, value);
        }
    }
    return TAL_OK;
}

// Speeds that are finite can give velocities that are not, if they are very large.
static tal_status check_V(const tal_matter *matter, tal_state *state, const tali_tree_rates rates[])
{
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (tal_sv_is_finite(rates[b].V)) continue;
        return tal_state_fail(
            state, TAL_ERR_NOT_FINITE,
            "body '%s': its velocity is not finite at t = %g: speeds are too large "
            "for double precision",
            matter->bodies[b].name, tal_state_t(state));
    }
    return TAL_OK;
}

tal_status tali_stage_calc_velocity(const void *self, const tal_system *system, tal_state *state,
                                    void *value)
{
    (void)system;
    const tal_matter *matter = self;
    tali_tree_view view;
    tali_tree_view_of(matter, state, TALI_POSITION, &view);
    const tali_tree_velocity at = tali_stage_velocity_in(view.tree, value);
    const double *u = tali_tree_u_of(matter, state);
    const bool is_tame = tali_finite_squares(u, view.tree->num_u);
    tal_status st = is_tame ? TAL_OK : check_u(matter, state, u);
    const double *q = tali_tree_q_of(matter, state);
    if (st == TAL_OK) {
        st = tali_stage_ask_tables_for_Hdot(matter, state, &view, q, u, at.Hdot_u);
    }
    if (st != TAL_OK) return st;
    // on the way to accelerations A0 is needed, and cheaper together with velocities
    *at.has_A0 = tali_state_goal(state) >= TAL_STAGE_DYNAMICS || view.tree->num_particles > 0;
    view.passes->velocity(&view, u, *at.has_A0, &at);
    return is_tame ? TAL_OK : check_V(matter, state, at.rates);
}

void tali_stage_fill_A0(const tal_matter *matter, tal_state *state, const tali_tree_view *view)
{
    const tal_system *system = matter->system;
    const tali_tree_velocity at =
        tali_stage_velocity_in(view->tree, tali_cache_upd_at(system, state, matter->velocity));
    if (*at.has_A0) return;
    view->passes->A0(view, tali_tree_u_of(matter, state), at.rates);
    *at.has_A0 = true;
}

// out = N v, and Ndot u besides when it is a second derivative, of one mobilizer.
static tal_status write_rate(const tal_matter *matter, const mobilizer_values *values, int b,
                             const double v[], bool second, double out[])
{
    const tali_tree_body *body = &matter->bodies[b];
    const tal_mobilizer_arg arg = arg_of(matter, values, b);
    tal_status st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, TAL_N, v, out);
    if (st != TAL_OK || !second) return st;
    double Ndot_u[TAL_MAX_NQ];
    st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, TAL_NDOT, arg.u, Ndot_u);
    for (int i = 0; i < values->model.nq[b]; ++i) {
        out[i] += Ndot_u[i];
    }
    return st;
}

// Ball and free hinges with a quaternion are common enough not to go through their table.
static bool has_plain_quaternion(const tali_tree *tree, const tali_matter_model *model, int b)
{
    const bool turns = tree->hinge[b] == TALI_HINGE_BALL || tree->hinge[b] == TALI_HINGE_FREE;
    return turns && !model->use_angles[b];
}

// The same for such a hinge: v and u begin with an angular velocity in F, q and out with a
// quaternion.
static void write_quaternion_rate(const double q[], const double u[], const double v[], bool second,
                                  int nu, double out[])
{
    const tal_quat e = {q[0], q[1], q[2], q[3]};
    const tal_vec3 w = {u[0], u[1], u[2]};
    const tal_quat N_v = tal_qt_mul_N_F(e, tal_v3(v[0], v[1], v[2]));
    const tal_quat Ndot_w = second ? tal_qt_mul_Ndot_F(e, w, w) : tal_qt(0.0, 0.0, 0.0, 0.0);
    out[0] = N_v.w + Ndot_w.w;
    out[1] = N_v.x + Ndot_w.x;
    out[2] = N_v.y + Ndot_w.y;
    out[3] = N_v.z + Ndot_w.z;
    for (int j = 3; j < nu; ++j) {
        out[j + 1] = v[j];
    }
}

// qdot = N u, or qdotdot = N udot + Ndot u.
tal_status tali_stage_write_rates_of(const tal_matter *matter, tal_state *state, const double q[],
                                     const double u[], const double v[], bool second, double out[])
{
    const tali_tree *tree = &matter->tree;
    if (tree->num_N == 0) { // then q and u are packed alike
        memcpy(out, v, (size_t)tree->num_u * sizeof(double));
        return TAL_OK;
    }
    const mobilizer_values values = values_of(matter, state, q, u);
    for (int b = 1; b < tree->num_bodies; ++b) {
        const double *from = v + tree->u0[b];
        double *to = out + values.model.q0[b];
        if (has_plain_quaternion(tree, &values.model, b)) {
            write_quaternion_rate(q + values.model.q0[b], u + tree->u0[b], from, second,
                                  tree->nu[b], to);
            continue;
        }
        if (tree->has_N[b]) {
            const tal_status st = write_rate(matter, &values, b, from, second, to);
            if (st != TAL_OK) return mobilizer_failure(matter, state, b, st);
            continue;
        }
        for (int j = 0; j < tree->nu[b]; ++j) {
            to[j] = from[j];
        }
    }
    return TAL_OK;
}

tal_status tali_stage_write_rates(const tal_matter *matter, tal_state *state, const double v[],
                                  bool second, double out[])
{
    return tali_stage_write_rates_of(matter, state, tali_tree_q_of(matter, state),
                                     tali_tree_u_of(matter, state), v, second, out);
}

tal_status tali_stage_realize_velocity(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    const double *u = tali_tree_u_of(matter, state);
    const tal_status st = tali_stage_write_rates(matter, state, u, false,
                                                 tali_cache_group_ydot(system, state, matter->q));
    return st == TAL_OK ? tali_constraints_realize_velocity(matter, state) : st;
}
