// The rotation by which the bodies of a constraint are away from where they should be, for
// assembly.
#include "constraint/constraint_internal.h"
#include "constraint/type/constraint_builtin_internal.h"
#include "operator/operators_internal.h"

#include <talus/matter/constraint_operators.h>

#include <math.h>

// --- turns ---

tal_vec3 tali_constraint_turn_of_frames(const tal_constraint_arg *arg, tal_mat3 R_1, tal_mat3 R_2)
{
    const tal_mat3 should = tal_m3_mul(arg->X_AB[0].R, R_1), is = tal_m3_mul(arg->X_AB[1].R, R_2);
    const tal_mat3 turn = tal_m3_mul(is, tal_m3_transpose(should));
    const tal_angle_axis found = tal_rotation_to_angle_axis(&turn);
    return tal_v3_scale(found.angle, found.axis);
}

// Directions that are opposite can be turned back about any axis across them.
tal_vec3 tali_constraint_turn_of_axes(tal_vec3 should, tal_vec3 is)
{
    const tal_vec3 across = tal_v3_cross(should, is);
    const double s = tal_v3_norm(across), c = tal_v3_dot(should, is);
    if (s > 0.0) return tal_v3_scale(atan2(s, c) / s, across);
    if (c > 0.0) return TAL_VEC3_ZERO;
    const tal_vec3 any = fabs(should.x) < 0.5 ? tal_v3(1.0, 0.0, 0.0) : tal_v3(0.0, 1.0, 0.0);
    return tal_v3_scale(TAL_PI, tal_v3_normalize(tal_v3_cross(should, any)));
}

// --- the operator ---

// v without its part along a unit vector; all of it when that is zero.
static tal_vec3 without(tal_vec3 v, tal_vec3 unit)
{
    return tal_v3_axpy(-tal_v3_dot(v, unit), unit, v);
}

// J += sign w_GB, column by column along the path to Ground.
static void add_angular_J(const tali_tree_view *view, int body, double sign, tal_vec3 free_axis,
                          tal_matrix J)
{
    const tali_tree *tree = view->tree;
    for (int b = body; b > 0; b = tree->parent[b]) {
        for (int j = tree->u0[b]; j < tree->u0[b] + tree->nu[b]; ++j) {
            const tal_vec3 w = without(tal_v3_scale(sign, view->H[j].w), free_axis);
            double *column = tali_op_column(J, j);
            column[0] += w.x, column[1] += w.y, column[2] += w.z;
        }
    }
}

bool tal_constraint_has_turn(const tal_matter *matter, tal_constraint_ix constraint)
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    return c != NULL && c->ops.calc_turn != NULL;
}

tal_status tal_matter_calc_constraint_turn(const tal_matter *matter, tal_state *state,
                                           tal_constraint_ix constraint, tal_vec3 *turn,
                                           tal_matrix J)
{
    tali_tree_view view;
    const tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st != TAL_OK) return st;
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) return TAL_ERR_BAD_INDEX;
    if (turn == NULL) return TALI_BREACH(TAL_ERR_NULL, "'turn' is NULL");
    if (c->ops.calc_turn == NULL) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "constraint '%s' has no rotation to report", c->name);
    }
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(matter, state, &view, constraint.i, NULL, NULL, &room);
    tal_vec3 turn_A, axis_A;
    c->ops.calc_turn(c->self, &arg, &turn_A, &axis_A);
    const tal_mat3 R_GA =
        tal_m3_mul(view.pose[c->ancestor].R_GM, view.constants[c->ancestor].X_MB.R);
    *turn = tal_m3_mul_v3(R_GA, turn_A);
    if (J.data == NULL) return TAL_OK;

    const tal_status size = tali_op_matrix("J", J, 3, view.tree->num_u, __func__);
    if (size != TAL_OK) return size;
    const tal_vec3 axis = tal_m3_mul_v3(R_GA, axis_A);
    for (int j = 0; j < J.cols; ++j) {
        double *column = tali_op_column(J, j);
        column[0] = column[1] = column[2] = 0.0;
    }
    add_angular_J(&view, c->bodies[1], 1.0, axis, J);
    add_angular_J(&view, c->bodies[0], -1.0, axis, J);
    return TAL_OK;
}
