// A tree as seen from its floating base.
//
//     [ I_0^c  F ] [ A_GB ]   [ p_0^c ]   [  0  ]
//     [ F^T    H ] [ udot ] + [  C    ] = [ tau ]            RBDA eq. 9.13
//
// with A_GB the acceleration of the base and udot those of the speeds it carries. Here the base may
// be any body: what it carries is treated as if the base's own mobilizer were not there. RBDA's
// a_0 is a spatial acceleration in base coordinates; ours is that of the point Bo, in Ground.
#include "kernel/kernel_inertia.h"
#include "operator/operators_internal.h"

// Room for passes over what the base carries.
typedef struct float_room {
    tal_spatial_vec *A; ///< [num_bodies] accelerations, then forces, about Mo
    tal_spatial_vec *F; ///< [num_bodies] applied forces, about Mo
    uint8_t *carried;   ///< [num_bodies] whether the body is the base or carried by it
    double *f;          ///< [num_u]
    double *udot;       ///< [num_u]
} float_room;

static float_room take_room(const tali_tree *tree, tal_state *state, int base)
{
    const size_t n = (size_t)tree->num_bodies, nu = (size_t)tree->num_u + 1;
    float_room room;
    room.A = tal_state_scratch_take(state, n * sizeof *room.A);
    room.F = tal_state_scratch_take(state, n * sizeof *room.F);
    room.carried = tal_state_scratch_take(state, n);
    room.f = tal_state_scratch_take(state, nu * sizeof *room.f);
    room.udot = tal_state_scratch_take(state, nu * sizeof *room.udot);
    memset(room.carried, 0, n);
    memset(room.F, 0, n * sizeof *room.F);
    memset(room.udot, 0, nu * sizeof *room.udot);
    room.carried[base] = 1;
    for (int b = base + 1; b < tree->num_bodies; ++b) {
        room.carried[b] = room.carried[tree->parent[b]];
    }
    return room;
}

static tal_spatial_vec inertia_mul(const tali_tree_view *view, int b, tal_spatial_vec A)
{
    return inertia_times(&view->rigid[b], A);
}

// The same on top of what velocities alone give, less what the applied forces do.
static tal_spatial_vec moving_force(const tali_tree_view *view, int b, tal_spatial_vec A,
                                    tal_spatial_vec F)
{
    const tali_tree_rates *rates = &view->rates[b];
    const tal_spatial_vec all = tal_sv_add(rates->A0, A);
    return tal_sv_sub(newton_euler(&view->rigid[b], all, rates->V.w), F);
}

static tal_spatial_vec hinge_mul(const tali_tree_view *view, int b, const double udot[])
{
    const int u0 = view->tree->u0[b];
    tal_spatial_vec A = TAL_SPATIAL_VEC_ZERO;
    for (int j = u0; j < u0 + view->tree->nu[b]; ++j) {
        A = tal_sv_axpy(udot[j], view->H[j], A);
    }
    return A;
}

// Newton and Euler over what the base carries: the base has the acceleration A_M of its Mo, the
// speeds have room->udot. With `moving`, both come on top of what velocities alone give, and the
// applied forces help. Writes room->f and returns the force that the base needs, about its Mo.
static tal_spatial_vec carry(const tali_tree_view *view, int base, tal_spatial_vec A_M, bool moving,
                             const float_room *room)
{
    const tali_tree *tree = view->tree;
    room->A[base] = A_M;
    for (int b = base + 1; b < tree->num_bodies; ++b) {
        if (!room->carried[b]) continue;
        const tal_spatial_vec A = tal_sv_shift_motion(room->A[tree->parent[b]], view->p_PM[b]);
        room->A[b] = tal_sv_add(A, hinge_mul(view, b, room->udot));
    }
    for (int b = base; b < tree->num_bodies; ++b) {
        if (!room->carried[b]) continue;
        const tal_spatial_vec A = room->A[b];
        room->A[b] = moving ? moving_force(view, b, A, room->F[b]) : inertia_mul(view, b, A);
    }
    for (int b = tree->num_bodies - 1; b > base; --b) {
        if (!room->carried[b]) continue;
        const int u0 = tree->u0[b];
        for (int j = u0; j < u0 + tree->nu[b]; ++j) {
            room->f[j] =
                tal_sv_dot(view->H[j], room->A[b]) + view->constants[b].rotor * room->udot[j];
        }
        tal_spatial_vec *parent = &room->A[tree->parent[b]];
        *parent = tal_sv_add(*parent, tal_sv_shift_force(room->A[b], view->p_PM[b]));
    }
    return room->A[base];
}

// A force about Mo, taken about Bo.
static tal_spatial_vec force_at_B(const tali_tree_view *view, int base, tal_spatial_vec F_M)
{
    return tal_sv_shift_force(F_M, tal_v3_neg(tali_op_p_MB_G(view, base)));
}

// What Mo of the base needs on top of its A0 so that A_GB becomes the wanted one.
static tal_spatial_vec extra_at_M(const tali_tree_view *view, int base, tal_spatial_vec A_GB)
{
    const tali_tree_rates *rates = &view->rates[base];
    const tal_vec3 p_BM = tal_v3_neg(tali_op_p_MB_G(view, base));
    return tal_sv_sub(tal_sv_shift_acceleration(A_GB, rates->V.w, p_BM), rates->A0);
}

static void apply_forces(const tali_tree_view *view, const tal_spatial_vec F_GB[], int base,
                         const float_room *room)
{
    for (int b = base; b < view->tree->num_bodies && F_GB != NULL; ++b) {
        room->F[b] = tal_sv_shift_force(F_GB[b], tali_op_p_MB_G(view, b));
    }
}

// The speeds that the base carries, in ascending order: calls of next_speed() start with -1.
static int next_speed(const tali_tree *tree, const float_room *room, int base, int *body, int speed)
{
    if (speed >= 0 && speed + 1 < tree->u0[*body] + tree->nu[*body]) return speed + 1;
    do {
        ++*body;
    } while (*body < tree->num_bodies &&
             (*body <= base || !room->carried[*body] || tree->nu[*body] == 0));
    return *body < tree->num_bodies ? tree->u0[*body] : -1;
}

// Copies room->f to the caller's n values, or the caller's to room->udot.
static void gather_carried(const tali_tree *tree, const float_room *room, int base, double out[])
{
    int body = base, i = 0;
    for (int u = next_speed(tree, room, base, &body, -1); u >= 0;
         u = next_speed(tree, room, base, &body, u)) {
        out[i++] = room->f[u];
    }
}

static void scatter(const tali_tree *tree, const float_room *room, int base, const double in[])
{
    int body = base, i = 0;
    for (int u = next_speed(tree, room, base, &body, -1); u >= 0;
         u = next_speed(tree, room, base, &body, u)) {
        room->udot[u] = in[i++];
    }
}

static tal_spatial_vec unit_vector(int i)
{
    double e[6] = {0.0};
    e[i] = 1.0;
    return (tal_spatial_vec){{e[0], e[1], e[2]}, {e[3], e[4], e[5]}};
}

// I_0^c about Bo, column by column: the base and all it carries move as one.
static void fill_composite(const tali_tree_view *view, int base, const float_room *room,
                           tal_matrix I)
{
    const tal_vec3 p_BM = tal_v3_neg(tali_op_p_MB_G(view, base));
    for (int c = 0; c < 6; ++c) {
        const tal_spatial_vec A_M = tal_sv_shift_motion(unit_vector(c), p_BM);
        const tal_spatial_vec F = force_at_B(view, base, carry(view, base, A_M, false, room));
        memcpy(tali_op_column(I, c), &F, sizeof F);
    }
}

// H and F, column by column: one speed accelerates, the base does not move.
static void fill_joints(const tali_tree_view *view, int base, const float_room *room,
                        const tal_floating *form)
{
    const tali_tree *tree = view->tree;
    int body = base, c = 0;
    for (int u = next_speed(tree, room, base, &body, -1); u >= 0;
         u = next_speed(tree, room, base, &body, u), ++c) {
        room->udot[u] = 1.0;
        const tal_spatial_vec F =
            force_at_B(view, base, carry(view, base, TAL_SPATIAL_VEC_ZERO, false, room));
        room->udot[u] = 0.0;
        memcpy(tali_op_column(form->F, c), &F, sizeof F);
        gather_carried(tree, room, base, tali_op_column(form->H, c));
        for (int i = 0; i < c; ++i) {
            tali_op_column(form->H, c)[i] = tali_op_column(form->H, i)[c];
        }
    }
}

int tal_matter_floating_n(const tal_matter *matter, tal_body_ix base)
{
    if (tali_tree_body_at(matter, base, __func__) == NULL) return -1;
    if (!tal_system_has_topology(matter->system)) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY, "realize the topology first");
        return -1;
    }
    return matter->tree.span[base.i] - matter->tree.nu[base.i];
}

// Checks on entry: a body that can float, forces that are finite.
static tal_status check_base(const tal_matter *matter, tal_state *state, tal_body_ix base,
                             const tal_spatial_vec F_GB[], tali_tree_view *view, const char *where)
{
    const tal_status st = tali_op_view(matter, state, TALI_BIAS, view, where);
    if (st != TAL_OK) return st;
    if (tali_tree_body_at(matter, base, where) == NULL) return tal_contract_last()->status;
    if (base.i == 0) return tali_breach(TAL_ERR_BAD_INDEX, where, "Ground cannot float");
    return tali_op_finite_bodies(state, "F_GB", F_GB, view->tree->num_bodies);
}

tal_status tal_matter_calc_floating(const tal_matter *matter, tal_state *state, tal_body_ix base,
                                    const tal_spatial_vec F_GB[], tal_floating *form)
{
    tali_tree_view view;
    tal_status st = check_base(matter, state, base, F_GB, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("form", form, __func__);
    if (st != TAL_OK) return st;
    const int n = tal_matter_floating_n(matter, base);
    st = tali_op_matrix("form->I", form->I, 6, 6, __func__);
    if (st == TAL_OK) st = tali_op_matrix("form->F", form->F, 6, n, __func__);
    if (st == TAL_OK) st = tali_op_matrix("form->H", form->H, n, n, __func__);
    if (st == TAL_OK && n > 0) st = tali_op_array("form->C", form->C, __func__);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    const float_room room = take_room(view.tree, state, base.i);
    fill_composite(&view, base.i, &room, form->I);
    fill_joints(&view, base.i, &room, form);
    apply_forces(&view, F_GB, base.i, &room);
    const tal_spatial_vec still = extra_at_M(&view, base.i, TAL_SPATIAL_VEC_ZERO);
    form->p = force_at_B(&view, base.i, carry(&view, base.i, still, true, &room));
    gather_carried(view.tree, &room, base.i, form->C);
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

// A = -I^-1 p
static tal_status solve_base(tal_state *state, tal_matrix I, tal_spatial_vec p, tal_spatial_vec *A)
{
    tal_spatial_vec answer = tal_sv_neg(p);
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_chol_factor(I, NULL, &err);
    if (st == TAL_OK) st = tal_chol_solve(I, tal_matrix_view(&answer.w.x, 6, 1), &err);
    if (st != TAL_OK) {
        return tal_state_fail(state, st, "the base and the bodies it carries: %s", err.message);
    }
    *A = answer;
    return TAL_OK;
}

tal_status tal_matter_floating_inverse_dynamics(const tal_matter *matter, tal_state *state,
                                                tal_body_ix base, const double udot[],
                                                const tal_spatial_vec F_GB[], tal_spatial_vec *A_GB,
                                                double tau[])
{
    tali_tree_view view;
    tal_status st = check_base(matter, state, base, F_GB, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("A_GB", A_GB, __func__);
    if (st != TAL_OK) return st;
    const int n = tal_matter_floating_n(matter, base);
    if (n > 0) st = tali_op_array("udot", udot, __func__);
    if (n > 0 && st == TAL_OK) st = tali_op_array("tau", tau, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "udot", udot, n);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    const float_room room = take_room(view.tree, state, base.i);
    double I[36];
    fill_composite(&view, base.i, &room, tal_matrix_view(I, 6, 6));
    apply_forces(&view, F_GB, base.i, &room);
    scatter(view.tree, &room, base.i, udot);
    const tal_spatial_vec still = extra_at_M(&view, base.i, TAL_SPATIAL_VEC_ZERO);
    const tal_spatial_vec p = force_at_B(&view, base.i, carry(&view, base.i, still, true, &room));
    st = solve_base(state, tal_matrix_view(I, 6, 6), p, A_GB);
    if (st == TAL_OK) {
        (void)carry(&view, base.i, extra_at_M(&view, base.i, *A_GB), true, &room);
        gather_carried(view.tree, &room, base.i, tau);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// H - F^T I^-1 F and C - F^T I^-1 p
tal_status tal_floating_eliminate_base(tal_floating *form, tal_error *err)
{
    tal_status st = tali_op_array("form", form, __func__);
    if (st == TAL_OK) st = tali_op_matrix("form->I", form->I, 6, 6, __func__);
    if (st != TAL_OK) return st;
    const int n = form->H.rows;
    st = tali_op_matrix("form->F", form->F, 6, n, __func__);
    if (st == TAL_OK) st = tali_op_matrix("form->H", form->H, n, n, __func__);
    if (st == TAL_OK && n > 0) st = tali_op_array("form->C", form->C, __func__);
    if (st == TAL_OK) st = tal_chol_factor(form->I, NULL, err);
    for (int j = 0; j < n && st == TAL_OK; ++j) {
        double G[6]; // I^-1 F_j
        memcpy(G, tali_op_column(form->F, j), sizeof G);
        st = tal_chol_solve(form->I, tal_matrix_view(G, 6, 1), err);
        const double p[6] = {form->p.w.x, form->p.w.y, form->p.w.z,
                             form->p.v.x, form->p.v.y, form->p.v.z};
        for (int k = 0; k < 6; ++k) {
            form->C[j] -= G[k] * p[k];
            for (int i = 0; i < n; ++i) {
                tali_op_column(form->H, j)[i] -= tali_op_column(form->F, i)[k] * G[k];
            }
        }
    }
    return st;
}
