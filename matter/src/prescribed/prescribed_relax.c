// Fast mobilizers: finding the q, or the u, at which the forces on what they carry are in balance.
//
// The forces along the fast mobilities, r = f + J^T F, must vanish except for those of constraints
// (manual sec. 10.4.2), and the constraints on fast bodies must be met:
//
//     r(x) - G^T lambda = 0          c(x) = 0
//
// where x is q with c the position errors, or u with c the velocity errors. With H = -d(r - G^T
// lambda)/dx by central differences at constant lambda, Newton's step d solves
//
//     [H G^T; G 0] [d; lambda] = [r; -c]      that is   d = d_c + Z w,   G d_c = -c,   G Z = 0,
//                                                       (Z^T H Z) w = Z^T (r - H d_c)
//
// Where Z^T H Z is not positive definite, Newton's method would go to an unstable balance, so a
// shift is added until it is: the step then follows the forces, and the shift vanishes near a
// stable balance.
#include "alloc_internal.h"
#include "array_internal.h"

#include "constraint/constraint_internal.h"
#include "kernel/passes_internal.h"
#include "prescribed/prescribed_internal.h"

#include <float.h>
#include <math.h>

// Forces below this part of the stiffness are in balance.
static const double BALANCED = 1e-10;

enum {
    MAX_ITERATIONS = 100
};

// The longest step, half a radian for an angle: farther away H says little.
static const double LONGEST_STEP = 0.5;

// Central differences are best at the cube root of eps.
static const double DIFFERENCE = 6e-6;

// Well above what differences make of a zero, 1e-10, and well below a stiffness.
static const double NEUTRAL = 1e-8;

/// What is sought.
typedef enum relax_phase {
    PHASE_PLACE, ///< q at which forces balance
    PHASE_CLOSE, ///< the nearest q that meets position equations, where only u is fast
    PHASE_DRIVE  ///< u at which forces balance
} relax_phase;

/// One search, and its arrays in scratch memory; n fast speeds, m rows of constraints.
typedef struct relax_room {
    relax_phase phase;
    tali_prescribed_fast_speeds fast; // what may change
    int m;                            // rows to be met
    double *r;                        // [n] forces left
    double *r_side;                   // [n] the same on one side of a difference
    double *step;                     // [n] d
    double *H;                        // [n x n]
    double *Z;                        // n x dof of [n x n]: the motions that constraints allow
    double *HZ;                       // n x dof of [n x n]
    double *reduced;                  // dof x dof of [n x n]: Z^T H Z
    double *w;                        // [n]
    double *c;                        // [m] errors
    double *G;                        // [m x n], then its factors
    double *GT;                       // the same, transposed
    double *lambda;                   // [n or m]
    double *x;                        // [n or m] d_c
    double *work;
    int *iwork;
    double *q, *u;               // where the iteration is
    double *q_before, *u_before; // where it began
    double *f;                   // [2 nu]
    tal_spatial_vec *F;
} relax_room;

// Whether u is sought, onto velocity equations, rather than q onto position equations.
static bool seeks_u(const relax_room *room)
{
    return room->phase == PHASE_DRIVE;
}

static size_t most_work(int n, int m)
{
    const size_t wide = tal_cod_work_size(m, n), tall = tal_cod_work_size(n, m);
    return tali_alloc_larger(tali_alloc_larger(wide, tall), tal_cod_work_size(n, n));
}

// Cuts the room out of `base`; returns its size, also without a base.
static size_t carve(const tal_matter *matter, void *base, relax_room *room)
{
    const int n = matter->prescribed.num_fast, m = matter->prescribed.num_fast_rows;
    const size_t N = ((size_t)n + 1) * sizeof(double), M = ((size_t)m + 1) * sizeof(double);
    const size_t square = N * ((size_t)n + 1), wide = N * ((size_t)m + 1);
    const size_t nq = ((size_t)matter->tree.max_nq + 1) * sizeof(double);
    const size_t nu = ((size_t)matter->tree.num_u + 1) * sizeof(double);
    const tali_piece pieces[] = {
        {&room->fast.speed, ((size_t)n + 1) * sizeof(int32_t)},
        {&room->fast.body, ((size_t)n + 1) * sizeof(int32_t)},
        {&room->r, N},
        {&room->r_side, N},
        {&room->step, N},
        {&room->w, N},
        {&room->H, square},
        {&room->Z, square},
        {&room->HZ, square},
        {&room->reduced, square},
        {&room->c, M},
        {&room->G, wide},
        {&room->GT, wide},
        {&room->lambda, N + M},
        {&room->x, N + M},
        {&room->work, (most_work(n, m) + 1) * sizeof(double)},
        {&room->iwork, (tal_cod_iwork_size(n + m, n + m) + 1) * sizeof(int)},
        {&room->q, nq},
        {&room->q_before, nq},
        {&room->u, nu},
        {&room->u_before, nu},
        {&room->f, 2 * nu},
        {&room->F, (size_t)matter->num_bodies * sizeof *room->F}};
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], base);
}

size_t tali_prescribed_relax_scratch(const tal_matter *matter)
{
    relax_room room;
    return matter->prescribed.num_fast > 0 ? carve(matter, NULL, &room) : 0;
}

// --- moving ---

static void normalize(double e[])
{
    const tal_quat unit = tal_qt_normalize(tal_qt(e[0], e[1], e[2], e[3]));
    e[0] = unit.w, e[1] = unit.x, e[2] = unit.y, e[3] = unit.z;
}

// q = room->q + N step for every fast body.
static tal_status displace_q(const tal_matter *matter, tal_state *state, const relax_room *room,
                             const double step[])
{
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const tali_prescribed_fast_speeds *fast = &room->fast;
    double *q = tal_state_upd_q(state);
    if (q == NULL) return tal_contract_last()->status;
    q += tal_group_start(matter->system, state, matter->q);
    for (int k = 0; k < fast->n;) {
        const int b = fast->body[k];
        const tali_tree_body *body = &matter->bodies[b];
        const tal_mobilizer_arg arg = tali_tree_mobilizer_arg_of(matter, state, b, room->q, NULL);
        double along[TAL_MAX_NU] = {0.0}, dq[TAL_MAX_NQ];
        for (; k < fast->n && fast->body[k] == b; ++k) {
            along[fast->speed[k] - matter->tree.u0[b]] = step[k];
        }
        const tal_status st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, TAL_N, along, dq);
        if (st != TAL_OK) {
            return tal_state_fail(state, st, "body '%s': N of its %s cannot be computed here (%s)",
                                  body->name, body->ops.name, tal_status_text(st));
        }
        double *to = q + model.q0[b];
        for (int i = 0; i < model.nq[b]; ++i) {
            to[i] = room->q[model.q0[b] + i] + dq[i];
        }
        if (body->ops.has_quaternion && !arg.use_angles) normalize(to);
    }
    return TAL_OK;
}

static tal_status displace(const tal_matter *matter, tal_state *state, const relax_room *room,
                           const double step[])
{
    if (!seeks_u(room)) return displace_q(matter, state, room, step);
    double *u = tal_state_upd_u(state);
    if (u == NULL) return tal_contract_last()->status;
    u += tal_group_start(matter->system, state, matter->u);
    for (int k = 0; k < room->fast.n; ++k) {
        u[room->fast.speed[k]] = room->u[room->fast.speed[k]] + step[k];
    }
    return TAL_OK;
}

// Forces along the fast mobilities after a step, less those of the constraints with room->lambda.
static tal_status forces_at(const tal_matter *matter, tal_state *state, const relax_room *room,
                            const double step[], double r[])
{
    tal_status st = step != NULL ? displace(matter, state, room, step) : TAL_OK;
    if (st == TAL_OK) st = tal_system_realize(matter->system, state, TAL_STAGE_DYNAMICS);
    tali_tree_view view;
    if (st != TAL_OK || !tali_tree_realize_view(matter, state, TALI_POSITION, &view)) {
        return tal_state_error(state)->status;
    }
    const tali_tree_applied applied = tali_tree_applied_of(matter, state);
    double *f = room->f, *along = room->f + matter->tree.num_u;
    memcpy(room->F, applied.F, (size_t)matter->num_bodies * sizeof *room->F);
    memcpy(f, applied.f, (size_t)matter->tree.num_u * sizeof *f);
    if (room->m > 0) {
        st = tali_prescribed_fast_push(matter, state, room->fast.level, seeks_u(room), room->lambda,
                                       room->F, f);
    }
    view.passes->JT(&view, room->F, along);
    for (int k = 0; k < room->fast.n; ++k) {
        r[k] = f[room->fast.speed[k]] + along[room->fast.speed[k]];
    }
    return st;
}

// --- Newton ---

// Speeds are measured by their own size, coordinates by 1.
static double unit(const relax_room *room)
{
    double size = 1.0;
    for (int k = 0; k < room->fast.n && seeks_u(room); ++k) {
        size = fmax(size, fabs(room->u[room->fast.speed[k]]));
    }
    return size;
}

static tal_status find_stiffness(const tal_matter *matter, tal_state *state, const relax_room *room)
{
    const int n = room->fast.n;
    const double h = DIFFERENCE * unit(room);
    tal_status st = TAL_OK;
    for (int k = 0; k < n; ++k) {
        room->step[k] = 0.0;
    }
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        double *column = room->H + (size_t)k * (size_t)n;
        room->step[k] = h;
        st = forces_at(matter, state, room, room->step, column);
        room->step[k] = -h;
        if (st == TAL_OK) st = forces_at(matter, state, room, room->step, room->r_side);
        room->step[k] = 0.0;
        for (int i = 0; i < n; ++i) {
            column[i] = (room->r_side[i] - column[i]) / (2.0 * h);
        }
    }
    return st;
}

static void set_identity(double A[], int n)
{
    const size_t size = (size_t)n * (size_t)n;
    for (size_t i = 0; i < size; ++i) {
        A[i] = i % ((size_t)n + 1) == 0 ? 1.0 : 0.0;
    }
}

// What the rows leave: errors, the multipliers that come nearest to the forces, d_c in x, and Z.
// `dof` is how many columns Z has.
static tal_status see_constraints(const tal_matter *matter, tal_state *state,
                                  const relax_room *room, int *dof)
{
    const int n = room->fast.n, m = room->m, most = n > m ? n : m;
    const tal_level level = room->fast.level;
    const tal_matrix G = tal_matrix_view(room->G, m, n);
    *dof = n;
    memset(room->x, 0, (size_t)n * sizeof *room->x);
    set_identity(room->Z, n);
    if (m == 0) return TAL_OK;
    tal_status st = tali_prescribed_fast_errors(matter, state, level, seeks_u(room), room->c);
    if (st == TAL_OK) {
        st = tali_prescribed_fast_G(matter, state, &room->fast, seeks_u(room), G, room->F, room->f);
    }
    if (st == TAL_OK) {
        st = tali_prescribed_fast_multipliers(state, G, room->r, room->GT, room->work, room->iwork,
                                              room->lambda);
    }
    if (st != TAL_OK) return st;
    for (int i = 0; i < m; ++i) {
        room->x[i] = -room->c[i];
    }
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    st = tal_cod_factor(&cod, G, TALI_FAST_RCOND, room->work, room->iwork, &why);
    const tal_matrix B = {room->x, m, 1, most}, X = {room->x, n, 1, most};
    if (st == TAL_OK) st = tal_cod_solve(&cod, B, X, &why);
    if (st != TAL_OK) return tal_state_fail(state, st, "fast constraints: %s", why.message);
    *dof = n - cod.rank;
    return tal_cod_calc_null_basis(&cod, tal_matrix_view(room->Z, n, *dof));
}

// HZ = H Z and reduced = Z^T H Z
static void reduce(const relax_room *room, int dof)
{
    const size_t n = (size_t)room->fast.n, d = (size_t)dof;
    for (size_t j = 0; j < d; ++j) {
        for (size_t i = 0; i < n; ++i) {
            double sum = 0.0;
            for (size_t k = 0; k < n; ++k) {
                sum += room->H[i + n * k] * room->Z[k + n * j];
            }
            room->HZ[i + n * j] = sum;
        }
        for (size_t i = 0; i < d; ++i) {
            room->reduced[i + d * j] = 0.0;
            for (size_t k = 0; k < n; ++k) {
                room->reduced[i + d * j] += room->Z[k + n * i] * room->HZ[k + n * j];
            }
        }
    }
}

// Is the symmetric part of Z^T H Z + shift 1 positive definite? `room->HZ` is not wanted any more.
static bool is_stable(const relax_room *room, int dof, double shift)
{
    const size_t d = (size_t)dof;
    double *S = room->HZ;
    for (size_t j = 0; j < d; ++j) {
        for (size_t i = 0; i < d; ++i) {
            S[i + d * j] = 0.5 * (room->reduced[i + d * j] + room->reduced[j + d * i]);
        }
        S[j + d * j] += shift;
    }
    return tal_chol_factor(tal_matrix_view(S, dof, dof), NULL, NULL) == TAL_OK;
}

// The shift that makes Z^T H Z positive definite: zero near a stable balance.
static double find_shift(const relax_room *room, int dof)
{
    const double size = tali_array_largest(room->H, room->fast.n * room->fast.n);
    double shift = 0.0;
    while (!is_stable(room, dof, shift)) {
        shift = size == 0.0 ? 1.0 : shift == 0.0 ? NEUTRAL * size : 2.0 * fmax(shift, size);
    }
    return shift;
}

// w = Z^T (r - H d_c)
static void fill_rhs(const relax_room *room, int dof)
{
    const int n = room->fast.n;
    for (int j = 0; j < dof; ++j) {
        room->w[j] = 0.0;
        for (int i = 0; i < n; ++i) {
            double left = room->r[i];
            for (int k = 0; k < n; ++k) {
                left -= room->H[i + n * k] * room->x[k];
            }
            room->w[j] += room->Z[i + n * j] * left;
        }
    }
}

// d = d_c + Z w, shortened if it is a long step in q.
static void form_step(const relax_room *room, int dof)
{
    const int n = room->fast.n;
    for (int i = 0; i < n; ++i) {
        room->step[i] = room->x[i];
        for (int j = 0; j < dof; ++j) {
            room->step[i] += room->Z[i + n * j] * room->w[j];
        }
    }
    const double length = tali_array_largest(room->step, n);
    for (int i = 0; i < n && length > LONGEST_STEP && !seeks_u(room); ++i) {
        room->step[i] *= LONGEST_STEP / length;
    }
}

// Solves (Z^T H Z + shift) w = Z^T (r - H d_c) for the step d = d_c + Z w.
static tal_status find_step(const relax_room *room, int dof, double *shift, tal_error *err)
{
    reduce(room, dof);
    *shift = find_shift(room, dof);
    for (int j = 0; j < dof; ++j) {
        room->reduced[(size_t)j * ((size_t)dof + 1)] += *shift;
    }
    fill_rhs(room, dof);
    tal_cod cod;
    tal_status st = tal_cod_factor(&cod, tal_matrix_view(room->reduced, dof, dof), DBL_EPSILON,
                                   room->work, room->iwork, err);
    const tal_matrix w = tal_matrix_view(room->w, dof, 1);
    if (st == TAL_OK) st = tal_cod_solve(&cod, w, w, err);
    form_step(room, dof);
    return st;
}

// Forces and H at room->q and room->u; closing a loop has none: the nearest q is sought.
static tal_status see_forces(const tal_matter *matter, tal_state *state, const relax_room *room,
                             int *dof)
{
    const int n = room->fast.n;
    memset(room->lambda, 0, (size_t)room->m * sizeof *room->lambda);
    if (room->phase == PHASE_CLOSE) {
        memset(room->r, 0, (size_t)n * sizeof *room->r);
        set_identity(room->H, n);
        return see_constraints(matter, state, room, dof);
    }
    tal_status st = forces_at(matter, state, room, NULL, room->r);
    if (st == TAL_OK) st = see_constraints(matter, state, room, dof);
    if (st == TAL_OK && room->m > 0) st = forces_at(matter, state, room, NULL, room->r);
    if (st == TAL_OK) st = find_stiffness(matter, state, room);
    const size_t size = (size_t)n * (size_t)n;
    for (size_t i = 0; i < size && st == TAL_OK; ++i) {
        if (isfinite(room->H[i])) continue;
        st =
            tal_state_fail(state, TAL_ERR_NOT_FINITE, "the forces on fast body '%s' are not finite",
                           matter->bodies[room->fast.body[i % (size_t)n]].name);
    }
    return st;
}

// One iteration from where it is. `done` when the step is within tolerance of a balance that
// holds.
static tal_status iterate(const tal_matter *matter, tal_state *state, const relax_room *room,
                          double tolerance, bool *done)
{
    const int n = room->fast.n;
    int dof = 0;
    tal_status st = see_forces(matter, state, room, &dof);
    if (st != TAL_OK) return st;
    double shift = 0.0;
    tal_error why = {TAL_OK, "", ""};
    st = find_step(room, dof, &shift, &why);
    if (st != TAL_OK) return tal_state_fail(state, st, "fast mobilizers: %s", why.message);
    const bool is_balanced =
        tali_array_largest(room->r, n) <= BALANCED * tali_array_largest(room->H, n * n);
    *done = tali_array_largest(room->step, n) <= tolerance * unit(room) &&
            (shift == 0.0 || is_balanced) &&
            tali_array_largest(room->c, room->m) <= tolerance * unit(room);
    return TAL_OK;
}

// Fails with the name of the constraint that is not met, or of the body that is pushed most.
static tal_status fail_unbalanced(const tal_matter *matter, tal_state *state,
                                  const relax_room *room, double tolerance)
{
    int worst = 0;
    if (tali_array_largest(room->c, room->m) > tolerance) {
        for (int i = 1; i < room->m; ++i) {
            if (fabs(room->c[i]) > fabs(room->c[worst])) worst = i;
        }
        const int owner =
            tali_prescribed_fast_row_owner(matter, state, room->fast.level, seeks_u(room), worst);
        return tal_state_fail(
            state, TAL_ERR_NO_CONVERGENCE,
            "constraint '%s' cannot be met by fast bodies: an error of %g is left",
            matter->constraints.list[owner].name, room->c[worst]);
    }
    for (int k = 1; k < room->fast.n; ++k) {
        if (fabs(room->r[k]) > fabs(room->r[worst])) worst = k;
    }
    return tal_state_fail(
        state, TAL_ERR_NO_CONVERGENCE,
        "fast body '%s' finds no equilibrium: a force of %g is left after %d steps",
        matter->bodies[room->fast.body[worst]].name, room->r[worst], MAX_ITERATIONS);
}

// Copies q and u of matter out of the State.
static void copy_q_and_u(const tal_matter *matter, const tal_state *state, double q[], double u[])
{
    const tal_system *system = matter->system;
    memcpy(q, tal_state_q(state) + tal_group_start(system, state, matter->q),
           (size_t)tal_group_size(system, state, matter->q) * sizeof *q);
    memcpy(u, tal_state_u(state) + tal_group_start(system, state, matter->u),
           (size_t)matter->tree.num_u * sizeof *u);
}

// Writes room->u into the State in the last phase, room->q in the others.
static void put_q_or_u(const tal_matter *matter, tal_state *state, relax_phase phase,
                       const relax_room *room)
{
    const tal_system *system = matter->system;
    if (phase == PHASE_DRIVE) {
        memcpy(tal_state_upd_u(state) + tal_group_start(system, state, matter->u), room->u,
               (size_t)matter->tree.num_u * sizeof(double));
        return;
    }
    memcpy(tal_state_upd_q(state) + tal_group_start(system, state, matter->q), room->q,
           (size_t)tal_group_size(system, state, matter->q) * sizeof(double));
}

// From where the State is to a balance. A State that is there already stays to the last bit.
static tal_status search(const tal_matter *matter, tal_state *state, relax_room *room,
                         double tolerance, bool *changed)
{
    copy_q_and_u(matter, state, room->q, room->u);
    for (int k = 0; k < MAX_ITERATIONS; ++k) {
        bool done = false;
        tal_status st = tal_system_realize(matter->system, state, TAL_STAGE_VELOCITY);
        if (st == TAL_OK) st = iterate(matter, state, room, tolerance, &done);
        if (st != TAL_OK) return st;
        if (done && k == 0) {
            put_q_or_u(matter, state, room->phase,
                       room); // restores what the differences have moved
            return TAL_OK;
        }
        st = displace(matter, state, room, room->step);
        if (st != TAL_OK) return st;
        copy_q_and_u(matter, state, room->q, room->u);
        *changed = true;
        if (done) return TAL_OK;
    }
    return fail_unbalanced(matter, state, room, tolerance);
}

static tal_status find_balance(const tal_matter *matter, tal_state *state, relax_room *room,
                               tal_level level, relax_phase phase, double tolerance, bool *changed)
{
    tali_prescribed_fast_find(matter, state, level, &room->fast);
    room->phase = phase;
    room->m = tali_prescribed_fast_num_rows(matter, state, level, seeks_u(room));
    if (room->fast.n == 0 || (phase == PHASE_CLOSE && room->m == 0)) return TAL_OK;
    return search(matter, state, room, tolerance, changed);
}

// Mobilities that are fast in position have no speed.
static void stop_fast(const tal_matter *matter, tal_state *state, relax_room *room, bool *changed)
{
    const int u0 = tal_group_start(matter->system, state, matter->u);
    tali_prescribed_fast_find(matter, state, TAL_LEVEL_POSITION, &room->fast);
    for (int k = 0; k < room->fast.n; ++k) {
        if (tal_state_u(state)[u0 + room->fast.speed[k]] == 0.0) continue;
        tal_state_upd_u(state)[u0 + room->fast.speed[k]] = 0.0;
        *changed = true;
    }
}

// The q of what is fast in position, and those that constraints want of what is fast in velocity.
static tal_status relax_positions(const tal_matter *matter, tal_state *state, relax_room *room,
                                  double tolerance, bool *changed)
{
    stop_fast(matter, state, room, changed);
    const tal_status st =
        find_balance(matter, state, room, TAL_LEVEL_POSITION, PHASE_PLACE, tolerance, changed);
    if (st != TAL_OK) return st;
    return find_balance(matter, state, room, TAL_LEVEL_VELOCITY, PHASE_CLOSE, tolerance, changed);
}

tal_status tali_prescribed_relax(const void *self, const tal_system *system, tal_state *state,
                                 tal_stage stage, double tolerance, bool *changed)
{
    (void)system;
    const tal_matter *matter = self;
    if (stage != TAL_STAGE_POSITION && stage != TAL_STAGE_VELOCITY) return TAL_OK;
    if (matter->prescribed.num_fast == 0) return TAL_OK;
    const size_t mark = tal_state_scratch_mark(state);
    void *base = tal_state_scratch_take(state, tali_prescribed_relax_scratch(matter));
    if (base == NULL) return TAL_ERR_CAPACITY;
    relax_room room = {.phase = PHASE_PLACE};
    (void)carve(matter, base, &room);
    copy_q_and_u(matter, state, room.q_before, room.u_before);
    bool wrote = false;
    const tal_status st = stage == TAL_STAGE_POSITION
                              ? relax_positions(matter, state, &room, tolerance, &wrote)
                              : find_balance(matter, state, &room, TAL_LEVEL_VELOCITY, PHASE_DRIVE,
                                             tolerance, &wrote);
    if (st != TAL_OK) { // as it was, to the last bit
        room.q = room.q_before;
        room.u = room.u_before;
        put_q_or_u(matter, state, PHASE_PLACE, &room);
        put_q_or_u(matter, state, PHASE_DRIVE, &room);
    } else if (wrote) {
        *changed = true;
    }
    tal_state_scratch_release(state, mark);
    return st;
}
