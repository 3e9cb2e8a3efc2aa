// The motion that constraints are given, relative to the ancestor of their bodies; and their
// errors.
#include "finite_internal.h"

#include "constraint/constraint_internal.h"
#include "prescribed/prescribed_internal.h"

#include <math.h>
#include <string.h>

/// Everything the errors of all constraints are computed from. NULL where a level is not asked for.
typedef struct all_bodies {
    const tali_tree_view *view;
    const tali_constraint_pose *poses;
    const double *q, *u, *udot;
    const tal_spatial_vec *A_GM;
} all_bodies;

// --- poses ---

static tal_vec3 p_MB_G(const tali_tree_view *view, int b)
{
    return tal_m3_mul_v3(view->pose[b].R_GM, view->constants[b].X_MB.p);
}

static tal_mat3 R_GB(const tali_tree_view *view, int b)
{
    return tal_m3_mul(view->pose[b].R_GM, view->constants[b].X_MB.R);
}

// From the origin of the ancestor a to that of b, as the sum of the steps between them: the
// difference of their places in Ground would lose the digits of the distance to Ground's origin
// (RBDA sec. 8.7).
static tal_vec3 p_from_ancestor(const tali_tree_view *view, int a, int b)
{
    tal_vec3 p = tal_v3_sub(p_MB_G(view, b), p_MB_G(view, a));
    for (int k = b; k != a; k = view->tree->parent[k]) {
        p = tal_v3_add(p, view->p_PM[k]);
    }
    return p;
}

// The ancestor as it stands in Ground; p_AB is zero.
static tali_constraint_pose pose_of_ancestor(const tali_tree_view *view, int a)
{
    const tali_constraint_pose pose = {
        {R_GB(view, a), tal_v3_add(view->pose[a].p_GM, p_MB_G(view, a))},
        p_MB_G(view, a),
        TAL_VEC3_ZERO};
    const tali_constraint_pose pose_of_ground = {.X_AB = TAL_XFORM_IDENTITY};
    return a == 0 ? pose_of_ground : pose;
}

// A body as its ancestor sees it.
static tali_constraint_pose pose_of_body(const tali_tree_view *view, int b, int a,
                                         const tali_constraint_pose *ancestor)
{
    if (b == a) {
        return (tali_constraint_pose){TAL_XFORM_IDENTITY, ancestor->p_MB, TAL_VEC3_ZERO};
    }
    tali_constraint_pose pose = {.p_MB = p_MB_G(view, b)};
    pose.X_AB = tal_xf(R_GB(view, b), tal_v3_add(view->pose[b].p_GM, pose.p_MB));
    pose.p_AB = pose.X_AB.p;
    if (a == 0) return pose;
    const tal_mat3 R_GA = ancestor->X_AB.R;
    pose.p_AB = p_from_ancestor(view, a, b);
    pose.X_AB = tal_xf(tal_m3_tmul(R_GA, pose.X_AB.R), tal_m3_tmul_v3(R_GA, pose.p_AB));
    return pose;
}

static tal_status calc_poses(const void *self, const tal_system *system, tal_state *state,
                             void *value)
{
    (void)system;
    const tal_matter *matter = self;
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_pose *poses = value;
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_POSITION, &view)) return TAL_ERR_CALLBACK;
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        tali_constraint_pose *of = poses + c->pose0, *ancestor = of + c->ops.num_bodies;
        if (c->ops.num_bodies == 0) continue;
        *ancestor = pose_of_ancestor(&view, c->ancestor);
        for (int k = 0; k < c->ops.num_bodies; ++k) {
            of[k] = pose_of_body(&view, c->bodies[k], c->ancestor, ancestor);
        }
    }
    return TAL_OK;
}

void tali_constraints_declare_poses(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    const tal_prereq needs[] = {tal_prereq_cache(matter->position)};
    tal_cache_def def = tal_cache_def_default();
    def.name = "poses of constrained bodies";
    def.size = cs->num_poses * sizeof(tali_constraint_pose);
    def.depends_on = TAL_STAGE_INSTANCE;
    def.computed_by = TAL_STAGE_INFINITY;
    def.calc = calc_poses;
    def.prereqs = needs;
    def.num_prereqs = 1;
    cs->poses = tal_system_add_cache(matter->system, matter->me, &def);
}

// --- relative to the ancestor ---

// V_AB = V_GB - V_GA as a point of A under Bo moves, seen in A.
static tal_spatial_vec relative_velocity(tal_spatial_vec V_A, tal_spatial_vec V_B, tal_vec3 p_AB)
{
    return tal_sv_sub(V_B, tal_sv_shift_motion(V_A, p_AB));
}

// The time derivative in A of that, with w = w_GA:
//
//     alpha = alpha_B - alpha_A - w x w_AB
//     a     = a_B - a_A - alpha_A x p - w x (w x p) - 2 w x v_AB
static tal_spatial_vec relative_acceleration(tal_spatial_vec A_A, tal_spatial_vec A_B, tal_vec3 w,
                                             tal_vec3 p_AB, tal_spatial_vec V_AB)
{
    const tal_spatial_vec moved = tal_sv_shift_acceleration(A_A, w, p_AB);
    const tal_spatial_vec turning =
        tal_sv(tal_v3_cross(w, V_AB.w), tal_v3_scale(2.0, tal_v3_cross(w, V_AB.v)));
    return tal_sv_sub(tal_sv_sub(A_B, moved), turning);
}

// V, and with accelerations A, of a body's user's frame in Ground.
static tal_spatial_vec velocity_of(const all_bodies *all, int b, tal_vec3 p_MB)
{
    return tal_sv_shift_motion(all->view->rates[b].V, p_MB);
}

static tal_spatial_vec acceleration_of(const all_bodies *all, int b, tal_vec3 p_MB)
{
    return tal_sv_shift_acceleration(all->A_GM[b], all->view->rates[b].V.w, p_MB);
}

// The motion of body `i`, as the ancestor sees it.
static void fill_motion(const all_bodies *all, const tali_constraint *c,
                        const tali_constraint_pose *poses, int i, tali_constraint_room *out)
{
    const int a = c->ancestor, b = c->bodies[i];
    const tali_constraint_pose *A = &poses[c->ops.num_bodies], *B = &poses[i];
    const tal_vec3 w = all->view->rates[a].V.w;
    if (b == a) {
        out->V[i] = out->A[i] = TAL_SPATIAL_VEC_ZERO;
        return;
    }
    tal_spatial_vec V = velocity_of(all, b, B->p_MB);
    if (a != 0) V = relative_velocity(velocity_of(all, a, A->p_MB), V, B->p_AB);
    out->V[i] = a != 0 ? tal_m3_tmul_sv(A->X_AB.R, V) : V;
    if (all->A_GM == NULL) return;
    out->A[i] = acceleration_of(all, b, B->p_MB);
    if (a == 0) return;
    const tal_spatial_vec A_GA = acceleration_of(all, a, A->p_MB);
    const tal_spatial_vec A_AB = relative_acceleration(A_GA, out->A[i], w, B->p_AB, V);
    out->A[i] = tal_m3_tmul_sv(A->X_AB.R, A_AB);
}

static void fill_bodies(const all_bodies *all, const tali_constraint *c, tali_constraint_room *out)
{
    const tali_constraint_pose *poses = all->poses + c->pose0;
    for (int i = 0; i < c->ops.num_bodies; ++i) {
        out->X_AB[i] = poses[i].X_AB;
        if (all->u != NULL) fill_motion(all, c, poses, i, out);
    }
}

size_t tali_constraint_room_in(const tali_constraints *cs, void *entry, tali_constraint_room *room,
                               tali_constraint_large *large)
{
    const size_t b = (size_t)cs->max_bodies, k = (size_t)cs->max_mobilities;
    const size_t m = (size_t)cs->max_own_rows, d = sizeof(double);
    const tali_piece pieces[] = {{&room->X_AB, b * sizeof *room->X_AB},
                                 {&room->V, b * sizeof *room->V},
                                 {&room->A, b * sizeof *room->A},
                                 {&room->F, b * sizeof *room->F},
                                 {&room->q, k * d},
                                 {&room->u, k * d},
                                 {&room->udot, k * d},
                                 {&room->rows, m * d},
                                 {&room->lambda, m * d},
                                 {&large->wrench, cs->max_own_wrenches * sizeof *large->wrench},
                                 {&large->coefficient, cs->max_own_coefficients * d}};
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], entry);
}

void tali_constraint_open_room(const tal_matter *matter, tal_state *state, const tali_constraint *c,
                               tali_constraint_room *room)
{
    if (!tali_constraint_is_small(c)) {
        const tali_constraints *cs = &matter->constraints;
        tali_constraint_large large;
        (void)tali_constraint_room_in(cs, tali_cache_begin(matter->system, state, cs->room), room,
                                      &large);
        return;
    }
    room->X_AB = room->small.X_AB; // cppcheck-suppress uninitvar ; an address, not a value
    room->V = room->small.V;
    room->A = room->small.A;
    room->F = room->small.F;
    room->q = room->small.q;
    room->u = room->small.u;
    room->udot = room->small.udot;
    room->rows = room->small.rows;
    room->lambda = room->small.lambda;
}

// The arguments of a constraint's functions: the motion of its bodies, then of its mobilities.
static tal_constraint_arg fill_arg(const tal_matter *matter, tal_state *state,
                                   const tali_constraint *c, const all_bodies *all,
                                   tali_constraint_room *room)
{
    tali_constraint_open_room(matter, state, c, room);
    fill_bodies(all, c, room);
    const tali_matter_model model = tali_matter_model_unchecked(matter, state);
    for (int i = 0; i < c->num_mobilities; ++i) {
        const int b = c->mobility_bodies[i];
        const int u = matter->tree.u0[b] + c->mobility_index[i];
        // a quaternion, or the angles of a line, stand before what has rates of its own
        const bool is_longer = matter->bodies[b].ops.has_quaternion;
        const int more = is_longer ? model.nq[b] - matter->tree.nu[b] : 0;
        room->q[i] = all->q[model.q0[b] + more + c->mobility_index[i]];
        room->u[i] = all->u != NULL ? all->u[u] : TALI_NAN;
        room->udot[i] = all->udot != NULL ? all->udot[u] : 0.0;
    }
    const double *params = tali_cache_var_in(matter->system, state, matter->constraints.var_params);
    return (tal_constraint_arg){.t = tal_state_t(state),
                                .num_bodies = c->ops.num_bodies,
                                .num_mobilities = c->num_mobilities,
                                .params = params + c->param0,
                                .X_AB = room->X_AB,
                                .V = all->u != NULL ? room->V : NULL,
                                .a = all->A_GM != NULL ? room->A : NULL,
                                .q = room->q,
                                .u = all->u != NULL ? room->u : NULL,
                                .udot = all->A_GM != NULL ? room->udot : NULL};
}

static tal_status constraint_failure(const tali_constraint *c, tal_state *state, tal_status st)
{
    return tal_state_fail(state, st, "constraint '%s' (%s) failed at t = %g (%s)", c->name,
                          c->ops.name, tal_state_t(state), tal_status_text(st));
}

static tal_status row_is_not_finite(const tali_constraint *c, tal_state *state, const char *subject,
                                    int r, double value)
{
    return tal_state_fail(state, TAL_ERR_NOT_FINITE,
                          "constraint '%s' (%s): %s of its row %d is %g at t = %g", c->name,
                          c->ops.name, subject, r, value, tal_state_t(state));
}

// Rows of one constraint, by what they are of it: `values` must be finite.
static tal_status check_rows(const tali_constraint *c, tal_state *state, const char *subject,
                             const double values[], int n)
{
    if (tali_finite_all(values, n)) return TAL_OK;
    int r = 0;
    while (isfinite(values[r])) {
        ++r;
    }
    return row_is_not_finite(c, state, subject, r, values[r]);
}

// The poses of a State whose view is there can be computed.
static all_bodies bodies_up_to(const tal_matter *matter, tal_state *state,
                               const tali_tree_view *view, bool velocities)
{
    const tal_system *system = matter->system;
    all_bodies all = {.view = view};
    all.poses = tal_cache_realize(system, state, matter->constraints.poses);
    all.q = tal_state_q(state) + tal_group_start(system, state, matter->q);
    if (velocities) all.u = tal_state_u(state) + tal_group_start(system, state, matter->u);
    return all;
}

tal_constraint_arg tali_constraint_arg_of(const tal_matter *matter, tal_state *state,
                                          const tali_tree_view *view, int index,
                                          const tal_spatial_vec A_GM[], const double udot[],
                                          tali_constraint_room *room)
{
    all_bodies all = bodies_up_to(matter, state, view, view->rates != NULL);
    all.A_GM = A_GM;
    all.udot = udot;
    return fill_arg(matter, state, &matter->constraints.list[index], &all, room);
}

// --- errors ---

tal_status tali_constraints_realize_position(const tal_matter *matter, tal_state *state)
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->mp == 0) return TAL_OK;
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_POSITION, &view)) {
        return tal_state_error(state)->status;
    }
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const all_bodies all = bodies_up_to(matter, state, &view, false);
    double *errors = tal_group_upd_errors(matter->system, state, cs->qerr);
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        if (map.row0[i] < 0 || c->ops.mp == 0) continue;
        tali_constraint_room room;
        const tal_constraint_arg arg = fill_arg(matter, state, c, &all, &room);
        tal_status st = c->ops.calc_p(c->self, &arg, errors + map.p0[i]);
        if (st != TAL_OK) return constraint_failure(c, state, st);
        st = check_rows(c, state, "the position error", errors + map.p0[i], c->ops.mp);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// The rows of one constraint go to the position rows and, behind all of those, the velocity rows.
tal_status tali_constraints_realize_velocity(const tal_matter *matter, tal_state *state)
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->mp + cs->mv == 0) return TAL_OK;
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_VELOCITY, &view)) {
        return tal_state_error(state)->status;
    }
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const all_bodies all = bodies_up_to(matter, state, &view, true);
    double *errors = tal_group_upd_errors(matter->system, state, cs->uerr);
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        if (map.row0[i] < 0 || c->ops.mp + c->ops.mv == 0) continue;
        tali_constraint_room room;
        const tal_constraint_arg arg = fill_arg(matter, state, c, &all, &room);
        double *const rows = room.rows;
        tal_status st = c->ops.calc_v(c->self, &arg, rows);
        if (st != TAL_OK) return constraint_failure(c, state, st);
        st = check_rows(c, state, "the velocity error", rows, c->ops.mp + c->ops.mv);
        if (st != TAL_OK) return st;
        for (int r = 0; r < c->ops.mp + c->ops.mv; ++r) {
            errors[tali_constraint_row_slot(&map, c, i, r)] = rows[r];
        }
    }
    return TAL_OK;
}

tal_status tali_constraints_aerr(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, const tal_spatial_vec A_GM[],
                                 const double udot[], double aerr[])
{
    const tali_constraints *cs = &matter->constraints;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    all_bodies all = bodies_up_to(matter, state, view, true);
    all.A_GM = A_GM;
    all.udot = udot;
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        if (map.row0[i] < 0) continue;
        tali_constraint_room room;
        const tal_constraint_arg arg = fill_arg(matter, state, c, &all, &room);
        double *const rows = room.rows;
        const tal_status st = c->ops.calc_a(c->self, &arg, rows);
        if (st != TAL_OK) return constraint_failure(c, state, st);
        for (int r = 0; r < tali_constraint_rows(c); ++r) {
            aerr[tali_constraint_row_slot(&map, c, i, r)] = rows[r];
        }
    }
    return TAL_OK;
}

// The same for rows that are among those of all constraints.
static tal_status check_slots(const tali_constraint *c, tal_state *state, const char *subject,
                              const tali_constraint_row_map *map, int i, int n,
                              const double values[])
{
    for (int r = 0; r < n; ++r) {
        const double value = values[tali_constraint_row_slot(map, c, i, r)];
        if (!isfinite(value)) return row_is_not_finite(c, state, subject, r, value);
    }
    return TAL_OK;
}

// All at once; which constraint it is matters only if a number is not finite.
static tal_status check_multipliers(const tal_matter *matter, tal_state *state,
                                    const double lambda[], const double aerr[])
{
    const tali_constraints *cs = &matter->constraints;
    const int num_rows = tal_group_size(matter->system, state, cs->udoterr);
    if (tali_finite_all(lambda, num_rows) && tali_finite_all(aerr, num_rows)) return TAL_OK;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        const int rows = map.row0[i] >= 0 ? tali_constraint_rows(c) : 0;
        tal_status st = check_slots(c, state, "the multiplier", &map, i, rows, lambda);
        if (st == TAL_OK) {
            st = check_slots(c, state, "the acceleration error", &map, i, rows, aerr);
        }
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// What the solved accelerations leave: round-off, unless constraints contradict each other.
tal_status tali_constraints_realize_acceleration(const tal_matter *matter, tal_state *state,
                                                 const tal_spatial_vec A_GM[], const double udot[],
                                                 const double lambda[])
{
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_A0, &view)) {
        return tal_state_error(state)->status;
    }
    double *errors = tal_group_upd_errors(matter->system, state, matter->constraints.udoterr);
    if (!tali_prescribed_see_known_udot(matter, state, &view)) {
        return tal_state_error(state)->status;
    }
    tal_status st = tali_constraints_aerr(matter, state, &view, A_GM, udot, errors);
    if (st == TAL_OK) st = check_multipliers(matter, state, lambda, errors);
    return st == TAL_OK ? tali_constraints_check(matter, state, &view, errors) : st;
}

// --- wrenches: the columns of G^T, as forces on bodies and mobilities ---

// The errors are relative to the ancestor and do not depend on its own motion, so the forces of a
// row are balanced by their reaction on the ancestor. Where the constraint is met that is often
// zero.
static void balance_on_ancestor(const tali_tree_view *view, const tali_constraint *c,
                                tal_spatial_vec wrench[])
{
    tal_spatial_vec sum = TAL_SPATIAL_VEC_ZERO;
    for (int i = 0; i < c->ops.num_bodies; ++i) {
        const tal_vec3 p_AM =
            tal_v3_sub(view->pose[c->bodies[i]].p_GM, view->pose[c->ancestor].p_GM);
        sum = tal_sv_add(sum, tal_sv_shift_force(wrench[i], p_AM));
    }
    if (c->ops.num_bodies > 0) wrench[c->ops.num_bodies] = tal_sv_neg(sum);
}

tal_status tali_constraint_find_wrenches(const tal_matter *matter, tal_state *state,
                                         const tali_tree_view *view, int index,
                                         const tali_constraint_wrenches *out)
{
    const tali_constraint *c = &matter->constraints.list[index];
    const bool velocities = c->ops.forces_need_velocity;
    const all_bodies all = bodies_up_to(matter, state, view, velocities);
    tali_constraint_room room;
    const tal_constraint_arg arg = fill_arg(matter, state, c, &all, &room);
    const tali_constraint_pose *poses = all.poses + c->pose0;
    const tal_mat3 R_GA = poses[c->ops.num_bodies].X_AB.R;
    memset(room.lambda, 0, (size_t)tali_constraint_rows(c) * sizeof *room.lambda);
    for (int r = 0; r < tali_constraint_rows(c); ++r) {
        room.lambda[r] = 1.0;
        memset(room.F, 0, (size_t)c->ops.num_bodies * sizeof *room.F);
        double *f = out->coefficient + r * c->num_mobilities;
        for (int i = 0; i < c->num_mobilities; ++i) {
            f[i] = 0.0;
        }
        const tal_status st = c->ops.add_forces(c->self, &arg, room.lambda, room.F, f);
        if (st != TAL_OK) return constraint_failure(c, state, st);
        tal_spatial_vec *wrench = out->wrench + r * tali_constraint_num_wrenches(c);
        for (int i = 0; i < c->ops.num_bodies; ++i) {
            // from a force about Bo in A to one about Mo in Ground
            wrench[i] = tal_sv_shift_force(tal_m3_mul_sv(R_GA, room.F[i]), poses[i].p_MB);
        }
        balance_on_ancestor(view, c, wrench);
        room.lambda[r] = 0.0;
    }
    return TAL_OK;
}
