// How the errors and the forces of a constraint change when its bodies are displaced or move
// differently: by its table, or by differences of its table.
#include "constraint/constraint_change_room_internal.h"
#include "tree/differences_internal.h"

#include <math.h>
#include <string.h>

// Nothing moves by more than this in differences. Accelerations have two derivatives in them
// already, so steps are shorter than those of tal_constraint_test(): round-off is 3e-12 of a value.
static const double STEP = 2e-4;

size_t tali_constraint_change_room_in(const tali_constraints *cs, void *block,
                                      tali_constraint_change_room *room)
{
    const size_t b = (size_t)cs->max_bodies, k = (size_t)cs->max_mobilities;
    const size_t m = (size_t)cs->max_own_rows, d = sizeof(double);
    const tali_piece pieces[] = {{&room->dX, b * sizeof *room->dX},
                                 {&room->dV, b * sizeof *room->dV},
                                 {&room->dA, b * sizeof *room->dA},
                                 {&room->dF, b * sizeof *room->dF},
                                 {&room->F, b * sizeof *room->F},
                                 {&room->X_AB, b * sizeof *room->X_AB},
                                 {&room->V, b * sizeof *room->V},
                                 {&room->A, b * sizeof *room->A},
                                 {&room->dq, k * d},
                                 {&room->du, k * d},
                                 {&room->dudot, k * d},
                                 {&room->df, k * d},
                                 {&room->f, k * d},
                                 {&room->q, k * d},
                                 {&room->u, k * d},
                                 {&room->udot, k * d},
                                 {&room->lambda, m * d},
                                 {&room->perr, m * d},
                                 {&room->verr, m * d},
                                 {&room->aerr, m * d},
                                 {&room->rows, m * d}};
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

// --- differences ---

// The largest of a change.
static double size_of(const tali_constraint *c, const tali_constraint_change_room *room)
{
    double size = 1.0;
    for (int i = 0; i < c->ops.num_bodies; ++i) {
        const tal_spatial_vec all[3] = {room->dX[i], room->dV[i], room->dA[i]};
        for (int k = 0; k < 3; ++k) {
            size = fmax(size, fmax(tal_v3_max_abs(all[k].w), tal_v3_max_abs(all[k].v)));
        }
    }
    for (int i = 0; i < c->num_mobilities; ++i) {
        size = fmax(size, fmax(fabs(room->dq[i]), fmax(fabs(room->du[i]), fabs(room->dudot[i]))));
    }
    return size;
}

// The turn by a small vector.
static tal_mat3 turn_by(tal_vec3 w)
{
    const double angle = tal_v3_norm(w);
    return angle > 0.0 ? tal_rotation_from_angle_axis(angle, w) : TAL_MAT3_IDENTITY;
}

// The arguments, moved by `by` along the change.
static tal_constraint_arg move(const tali_constraint *c, const tal_constraint_arg *arg, double by,
                               const tali_constraint_change_room *room)
{
    for (int i = 0; i < c->ops.num_bodies; ++i) {
        const tal_mat3 turn = turn_by(tal_v3_scale(by, room->dX[i].w));
        room->X_AB[i] = tal_xf(tal_m3_mul(turn, arg->X_AB[i].R),
                               tal_v3_axpy(by, room->dX[i].v, arg->X_AB[i].p));
        room->V[i] = tal_sv_axpy(by, room->dV[i], arg->V[i]);
        room->A[i] = tal_sv_axpy(by, room->dA[i], arg->a[i]);
    }
    for (int i = 0; i < c->num_mobilities; ++i) {
        room->q[i] = arg->q[i] + by * room->dq[i];
        room->u[i] = arg->u[i] + by * room->du[i];
        room->udot[i] = arg->udot[i] + by * room->dudot[i];
    }
    tal_constraint_arg moved = *arg;
    moved.X_AB = room->X_AB, moved.V = room->V, moved.a = room->A;
    moved.q = room->q, moved.u = room->u, moved.udot = room->udot;
    return moved;
}

static void add_rows(double weight, const double rows[], int n, double sum[])
{
    for (int r = 0; r < n; ++r) {
        sum[r] += weight * rows[r];
    }
}

// The arguments as far as a function may know them.
static tal_constraint_arg up_to(const tal_constraint_arg *arg, bool velocities, bool accelerations)
{
    tal_constraint_arg known = *arg;
    if (!velocities) known.V = NULL, known.u = NULL;
    if (!accelerations) known.a = NULL, known.udot = NULL;
    return known;
}

// Adds `weight` times the errors of all levels at moved arguments.
static tal_status add_errors(const tali_constraint *c, const tal_constraint_arg *moved,
                             double weight, const tali_constraint_change_room *room)
{
    const tal_constraint_ops *ops = &c->ops;
    const tal_constraint_arg at_p = up_to(moved, false, false), at_v = up_to(moved, true, false);
    const int n_v = ops->mp + ops->mv;
    tal_status st = TAL_OK;
    if (ops->mp > 0) st = ops->calc_p(c->self, &at_p, room->rows);
    if (st == TAL_OK) add_rows(weight, room->rows, ops->mp, room->perr);
    if (st == TAL_OK && n_v > 0) st = ops->calc_v(c->self, &at_v, room->rows);
    if (st == TAL_OK) add_rows(weight, room->rows, n_v, room->verr);
    if (st == TAL_OK) st = ops->calc_a(c->self, moved, room->rows);
    if (st == TAL_OK) add_rows(weight, room->rows, tali_constraint_rows(c), room->aerr);
    return st;
}

// The same of the forces.
static tal_status add_all_forces(const tali_constraint *c, const tal_constraint_arg *moved,
                                 double weight, const tali_constraint_change_room *room)
{
    const tal_constraint_arg known = up_to(moved, c->ops.forces_need_velocity, false);
    memset(room->F, 0, (size_t)c->ops.num_bodies * sizeof *room->F);
    memset(room->f, 0, (size_t)c->num_mobilities * sizeof *room->f);
    const tal_status st = c->ops.add_forces(c->self, &known, room->lambda, room->F, room->f);
    if (st != TAL_OK) return st;
    for (int i = 0; i < c->ops.num_bodies; ++i) {
        room->dF[i] = tal_sv_axpy(weight, room->F[i], room->dF[i]);
    }
    add_rows(weight, room->f, c->num_mobilities, room->df);
    return st;
}

tal_status tali_constraint_difference(const tali_constraint *c, const tal_constraint_arg *arg,
                                      const tali_constraint_change_room *room)
{
    const tali_differences_four_points at =
        tali_differences_four_points_of(STEP / size_of(c, room));
    tal_status st = TAL_OK;
    for (int k = 0; k < 4 && st == TAL_OK; ++k) {
        const tal_constraint_arg moved = move(c, arg, at.step[k], room);
        st = add_errors(c, &moved, at.weight[k], room);
        if (st == TAL_OK) st = add_all_forces(c, &moved, at.weight[k], room);
    }
    return st;
}

// --- either ---

void tali_constraint_clear_change(const tali_constraint *c, const tali_constraint_change_room *room)
{
    const size_t m = (size_t)tali_constraint_rows(c), d = sizeof(double);
    memset(room->perr, 0, m * d);
    memset(room->verr, 0, m * d);
    memset(room->aerr, 0, m * d);
    memset(room->dF, 0, (size_t)c->ops.num_bodies * sizeof *room->dF);
    memset(room->df, 0, (size_t)c->num_mobilities * d);
}

tal_status tali_constraint_calc_change(const tali_constraint *c, const tal_constraint_arg *arg,
                                       const tali_constraint_change_room *room)
{
    tali_constraint_clear_change(c, room);
    if (c->ops.calc_change == NULL) return tali_constraint_difference(c, arg, room);
    const tal_constraint_change change = {room->dX, room->dV, room->dA,
                                          room->dq, room->du, room->dudot};
    return c->ops.calc_change(c->self, arg, &change, room->lambda, room->perr, room->verr,
                              room->aerr, room->dF, room->df);
}
