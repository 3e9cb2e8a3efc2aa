// Fast mobilizers: finding the q at which the forces on what they carry are in balance.
//
// The forces along the fast mobilities, r = f + J^T F, must vanish (manual sec. 10.4.2). With the stiffness
// K = -dr/dq by central differences, Newton's step solves K d = r. Where K is not positive definite the
// balance sought would be one that nothing stays in, so K is shifted until it is: the step then follows the
// forces, and the shift goes away as a stable balance comes near.
#include "constraint_internal.h"
#include "prescribed_internal.h"
#include "sweeps_internal.h"

#include <talus/common/linalg.h>

#include <float.h>
#include <math.h>

enum {
    MAX_ITERATIONS = 100
};

// Half the curvature of a turn: beyond it K says little.
static const double LONGEST_STEP = 0.5;

// Central differences are best at the cube root of eps.
static const double DIFFERENCE = 6e-6;

// Well above what differences make of a zero, 1e-10, and well below a stiffness.
static const double NEUTRAL = 1e-8;

typedef struct relax_room {
    int n;          // speeds to relax
    int32_t *speed; // [n] which
    int32_t *body;  // [n] of which body
    double *r;      // [n] forces left
    double *r_side; // [n] the same on one side of a difference
    double *step;   // [n]
    double *K;      // [n x n]
    double *shifted;
    double *work;
    int *iwork;
    double *q;       // where the iteration stands
    double *q_found; // where it began
    double *f;
    tal_spatial_vec *F;
} relax_room;

static size_t doubles(int n)
{
    return tali_align(((size_t)n + 1) * sizeof(double));
}

size_t tali_relax_scratch(const tal_matter *matter)
{
    const int n = matter->prescribed.num_fast;
    if (n == 0) return 0;
    return 2 * tali_align(((size_t)n + 1) * sizeof(int32_t)) + 3 * doubles(n) + 2 * doubles(n * n) +
           tali_align((tal_cod_work_size(n, n) + 1) * sizeof(double)) +
           tali_align((tal_cod_iwork_size(n, n) + 1) * sizeof(int)) + doubles(matter->tree.max_nq) +
           doubles(matter->tree.num_u) +
           tali_align((size_t)matter->num_bodies * sizeof(tal_spatial_vec));
}

static bool take_room(const tal_matter *matter, tal_state *state, relax_room *room)
{
    const int n = matter->prescribed.num_fast;
    const tali_known known = tali_known_of(matter, state);
    *room = (relax_room){.speed = tal_state_scratch_take(state, ((size_t)n + 1) * sizeof(int32_t)),
                         .body = tal_state_scratch_take(state, ((size_t)n + 1) * sizeof(int32_t)),
                         .r = tal_state_scratch_take(state, doubles(n)),
                         .r_side = tal_state_scratch_take(state, doubles(n)),
                         .step = tal_state_scratch_take(state, doubles(n)),
                         .K = tal_state_scratch_take(state, doubles(n * n)),
                         .shifted = tal_state_scratch_take(state, doubles(n * n))};
    room->work = tal_state_scratch_take(state, (tal_cod_work_size(n, n) + 1) * sizeof(double));
    room->iwork = tal_state_scratch_take(state, (tal_cod_iwork_size(n, n) + 1) * sizeof(int));
    room->q = tal_state_scratch_take(state, doubles(matter->tree.max_nq));
    room->q_found = tal_state_scratch_take(state, doubles(matter->tree.max_nq));
    room->f = tal_state_scratch_take(state, doubles(matter->tree.num_u));
    room->F = tal_state_scratch_take(state, (size_t)matter->num_bodies * sizeof *room->F);
    if (room->F == NULL) return false;
    for (int b = 1; b < matter->num_bodies; ++b) {
        for (int j = 0; j < matter->tree.nu[b]; ++j) {
            const int u = matter->tree.u0[b] + j;
            if (known.source[u] != TALI_FROM_RELAX) continue;
            room->speed[room->n] = u;
            room->body[room->n++] = b;
        }
    }
    return true;
}

// --- moving ---

static void normalize(double e[])
{
    const tal_quat unit = tal_qt_normalize(tal_qt(e[0], e[1], e[2], e[3]));
    e[0] = unit.w, e[1] = unit.x, e[2] = unit.y, e[3] = unit.z;
}

// q = room->q + N step for every fast body.
static tal_status displace(const tal_matter *matter, tal_state *state, const relax_room *room,
                           const double step[])
{
    const tali_model model = tali_model_of(matter, state);
    double *q = tal_state_upd_q(state);
    if (q == NULL) return tal_contract_last()->status;
    q += tal_group_start(matter->system, state, matter->q);
    for (int k = 0; k < room->n;) {
        const int b = room->body[k];
        const tali_body *body = &matter->bodies[b];
        const tal_mobilizer_arg arg = tali_mobilizer_arg_of(matter, state, b, room->q, NULL);
        double along[TAL_MAX_NU] = {0.0}, dq[TAL_MAX_NQ];
        for (; k < room->n && room->body[k] == b; ++k) {
            along[room->speed[k] - matter->tree.u0[b]] = step[k];
        }
        const tal_status st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, TAL_N, along, dq);
        if (st != TAL_OK) {
            return tal_state_fail(state, st, "body '%s': its %s has no N here (%s)", body->name,
                                  body->ops.name, tal_status_text(st));
        }
        double *to = q + model.q0[b];
        for (int i = 0; i < model.nq[b]; ++i) {
            to[i] = room->q[model.q0[b] + i] + dq[i];
        }
        if (body->ops.has_quaternion && !arg.use_angles) normalize(to);
    }
    return TAL_OK;
}

// Forces along the fast mobilities after a step.
static tal_status forces_at(const tal_matter *matter, tal_state *state, const relax_room *room,
                            const double step[], double r[])
{
    tal_status st = step != NULL ? displace(matter, state, room, step) : TAL_OK;
    if (st == TAL_OK) st = tal_system_realize(matter->system, state, TAL_STAGE_DYNAMICS);
    tali_view view;
    if (st != TAL_OK || !tali_view_at(matter, state, TALI_POSITION, &view)) {
        return tal_state_error(state)->status;
    }
    const tali_applied applied = tali_applied_of(matter, state);
    memcpy(room->F, applied.F, (size_t)matter->num_bodies * sizeof *room->F);
    tali_sweep_JT(&view, room->F, room->f);
    for (int k = 0; k < room->n; ++k) {
        r[k] = applied.f[room->speed[k]] + room->f[room->speed[k]];
    }
    return TAL_OK;
}

// --- Newton ---

static tal_status find_stiffness(const tal_matter *matter, tal_state *state, const relax_room *room)
{
    const int n = room->n;
    tal_status st = TAL_OK;
    for (int k = 0; k < n; ++k) {
        room->step[k] = 0.0;
    }
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        double *column = room->K + (size_t)k * (size_t)n;
        room->step[k] = DIFFERENCE;
        st = forces_at(matter, state, room, room->step, column);
        room->step[k] = -DIFFERENCE;
        if (st == TAL_OK) st = forces_at(matter, state, room, room->step, room->r_side);
        room->step[k] = 0.0;
        for (int i = 0; i < n; ++i) {
            column[i] = (room->r_side[i] - column[i]) / (2.0 * DIFFERENCE);
        }
    }
    return st;
}

static double largest(const double x[], int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// Is the symmetric part of K + shift 1 positive definite?
static bool is_stable(const relax_room *room, double shift)
{
    const size_t n = (size_t)room->n;
    for (size_t j = 0; j < n; ++j) {
        for (size_t i = 0; i < n; ++i) {
            room->shifted[i + n * j] = 0.5 * (room->K[i + n * j] + room->K[j + n * i]);
        }
        room->shifted[j + n * j] += shift;
    }
    return tal_chol_factor(tal_matrix_view(room->shifted, room->n, room->n), NULL, NULL) == TAL_OK;
}

// (K + shift 1) step = r: no shift if K is stable, next to none if it is neutral up to the noise of its
// differences, else one of the size of K, which doubles the distance from an unstable balance.
static tal_status find_step(const relax_room *room, double *shift, tal_error *err)
{
    const int n = room->n;
    const double size = largest(room->K, n * n);
    *shift = 0.0;
    while (!is_stable(room, *shift)) {
        *shift = size == 0.0 ? 1.0 : *shift == 0.0 ? NEUTRAL * size : 2.0 * fmax(*shift, size);
    }
    memcpy(room->shifted, room->K, (size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        room->shifted[(size_t)i * ((size_t)n + 1)] += *shift;
    }
    tal_cod cod;
    tal_status st = tal_cod_factor(&cod, tal_matrix_view(room->shifted, n, n), DBL_EPSILON,
                                   room->work, room->iwork, err);
    if (st == TAL_OK) {
        st = tal_cod_solve(&cod, tal_matrix_view(room->r, n, 1), tal_matrix_view(room->step, n, 1),
                           err);
    }
    const double length = largest(room->step, n);
    for (int i = 0; i < n && length > LONGEST_STEP; ++i) {
        room->step[i] *= LONGEST_STEP / length;
    }
    return st;
}

// One iteration from room->q. `done` when the step is within tolerance of a balance that holds.
static tal_status iterate(const tal_matter *matter, tal_state *state, const relax_room *room,
                          double tolerance, bool *done)
{
    tal_status st = forces_at(matter, state, room, NULL, room->r);
    if (st == TAL_OK) st = find_stiffness(matter, state, room);
    if (st != TAL_OK) return st;
    for (int i = 0; i < room->n * room->n; ++i) {
        if (isfinite(room->K[i])) continue;
        return tal_state_fail(state, TAL_ERR_NOT_FINITE,
                              "the forces on fast body '%s' are not finite",
                              matter->bodies[room->body[i % room->n]].name);
    }
    double shift = 0.0;
    tal_error why = {TAL_OK, "", ""};
    st = find_step(room, &shift, &why);
    if (st != TAL_OK) return tal_state_fail(state, st, "fast mobilizers: %s", why.message);
    const bool is_balanced =
        largest(room->r, room->n) <= 1e-10 * largest(room->K, room->n * room->n);
    *done = largest(room->step, room->n) <= tolerance && (shift == 0.0 || is_balanced);
    return TAL_OK;
}

static tal_status no_balance(const tal_matter *matter, tal_state *state, const relax_room *room)
{
    int worst = 0;
    for (int k = 1; k < room->n; ++k) {
        if (fabs(room->r[k]) > fabs(room->r[worst])) worst = k;
    }
    return tal_state_fail(state, TAL_ERR_NO_CONVERGENCE,
                          "fast body '%s' finds no balance: a force of %g is left after %d steps",
                          matter->bodies[room->body[worst]].name, room->r[worst], MAX_ITERATIONS);
}

// From room->q to a balance. On failure room->q is where the search stopped.
static tal_status search(const tal_matter *matter, tal_state *state, const relax_room *room,
                         double tolerance, bool *changed)
{
    const size_t bytes = (size_t)tal_group_size(matter->system, state, matter->q) * sizeof(double);
    const int q0 = tal_group_start(matter->system, state, matter->q);
    for (int k = 0; k < MAX_ITERATIONS; ++k) {
        bool done = false;
        tal_status st = iterate(matter, state, room, tolerance, &done);
        if (st != TAL_OK || (done && k == 0)) return st; // in balance already
        st = displace(matter, state, room, room->step);
        if (st != TAL_OK) return st;
        memcpy(room->q, tal_state_q(state) + q0, bytes);
        *changed = true;
        if (done) return TAL_OK;
    }
    return no_balance(matter, state, room);
}

static tal_status relax(const tal_matter *matter, tal_state *state, const relax_room *room,
                        double tolerance, bool *changed)
{
    const size_t bytes = (size_t)tal_group_size(matter->system, state, matter->q) * sizeof(double);
    const int q0 = tal_group_start(matter->system, state, matter->q);
    memcpy(room->q, tal_state_q(state) + q0, bytes);
    memcpy(room->q_found, room->q, bytes);
    bool moved = false;
    const tal_status st = search(matter, state, room, tolerance, &moved);
    if (st != TAL_OK || !moved) { // as it was, to the last bit
        memcpy(tal_state_upd_q(state) + q0, room->q_found, bytes);
        return st;
    }
    *changed = true;
    return TAL_OK;
}

tal_status tali_relax(const void *self, const tal_system *system, tal_state *state,
                      double tolerance, bool *changed)
{
    const tal_matter *matter = self;
    if (matter->prescribed.num_fast == 0) return TAL_OK;
    const size_t mark = tal_state_scratch_mark(state);
    relax_room room;
    tal_status st = take_room(matter, state, &room) ? TAL_OK : TAL_ERR_CAPACITY;
    const int u0 = tal_group_start(system, state, matter->u);
    for (int k = 0; k < room.n && st == TAL_OK; ++k) {
        if (tal_state_u(state)[u0 + room.speed[k]] == 0.0) continue;
        tal_state_upd_u(state)[u0 + room.speed[k]] = 0.0; // fast mobilities stand still
        *changed = true;
    }
    if (st == TAL_OK && room.n > 0) st = relax(matter, state, &room, tolerance, changed);
    tal_state_scratch_release(state, mark);
    return st;
}
