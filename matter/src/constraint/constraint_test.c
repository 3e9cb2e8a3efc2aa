// Does a constraint's table agree with itself? Derivatives are compared with differences of what
// they are derivatives of, forces with the transpose of the acceleration equations.
//
// They are taken along t + s, q + s qdot, u + s udot, with a udot drawn at random and a step short
// enough that nothing moves by more than STEP.
#include "constraint/constraint_change_room_internal.h"
#include "kernel/passes_internal.h"
#include "tree/differences_internal.h"

#include <talus/common/random.h>

#include <math.h>
#include <string.h>

static const double STEP = 1e-3;

enum {
    NUM_TRIALS = 3 // directions in which G is tried
};

// How the constrained bodies and mobilities accelerate.
typedef struct acceleration {
    tal_spatial_vec *A; // [num_bodies] of the constraint
    double *udot;       // [num_mobilities]
} acceleration;

// The constraint under test, a State of our own to move about, and the motion it is tested along.
typedef struct subject {
    const tal_matter *matter;
    const tali_constraint *c;
    int index;
    tal_state *state;
    int nq, nu; // of matter
    int q0, u0; // where they begin in the State
    double t;
    double *q, *qdot;   // [nq]
    double *u, *udot;   // [nu]
    double *v;          // [nu] another direction for udot
    tal_spatial_vec *A; // [num_bodies] of matter
    void *block;        // all memory
    size_t block_bytes;

    // [rows]
    double *verr, *aerr, *rate, *moved;
    double *at_0, *at_v, *at_2v; // aerr at udot = 0, v, 2 v
    double *lambda, *unit;
    acceleration none, some; // at udot = 0 and v
    tal_spatial_vec *F;      // [num_bodies] of the constraint
    double *f;               // [num_mobilities]
} subject;

// One level of errors at the subject's State.
typedef tal_status (*level)(subject *s, double rows[]);

static tal_status look_at_state(subject *s, tali_tree_what what, tali_tree_view *view)
{
    const bool is_there = tali_tree_realize_view(s->matter, s->state, what, view);
    return is_there ? TAL_OK : tal_state_error(s->state)->status;
}

static tal_status calc_p(subject *s, double rows[])
{
    tali_tree_view view;
    const tal_status st = look_at_state(s, TALI_POSITION, &view);
    if (st != TAL_OK) return st;
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(s->matter, s->state, &view, s->index, NULL, NULL, &room);
    return s->c->ops.calc_p(s->c->self, &arg, rows);
}

static tal_status calc_v(subject *s, double rows[])
{
    tali_tree_view view;
    const tal_status st = look_at_state(s, TALI_VELOCITY, &view);
    if (st != TAL_OK) return st;
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(s->matter, s->state, &view, s->index, NULL, NULL, &room);
    return s->c->ops.calc_v(s->c->self, &arg, rows);
}

// aerr for a given udot; the arguments that the constraint was given stay in `room`.
static tal_status calc_a(subject *s, const double udot[], tali_constraint_room *room, double rows[])
{
    tali_tree_view view;
    const tal_status st = look_at_state(s, TALI_A0, &view);
    if (st != TAL_OK) return st;
    view.passes->J(&view, udot, s->A);
    for (int b = 0; b < s->matter->num_bodies; ++b) {
        s->A[b] = tal_sv_add(s->A[b], view.rates[b].A0);
    }
    const tal_constraint_arg arg =
        tali_constraint_arg_of(s->matter, s->state, &view, s->index, s->A, udot, room);
    return s->c->ops.calc_a(s->c->self, &arg, rows);
}

// --- derivatives ---

// The largest rate of anything that moves: coordinates, speeds, constrained bodies.
static double fastest(subject *s)
{
    tali_constraint_room room;
    double speed = 1.0;
    (void)calc_a(s, s->udot, &room, s->aerr);
    for (int i = 0; i < s->nq; ++i) {
        speed = fmax(speed, fabs(s->qdot[i]));
    }
    for (int j = 0; j < s->nu; ++j) {
        speed = fmax(speed, fabs(s->udot[j]));
    }
    for (int i = 0; i < s->c->ops.num_bodies; ++i) {
        speed = fmax(speed, fmax(tal_v3_norm(room.V[i].w), tal_v3_norm(room.V[i].v)));
    }
    return speed;
}

static tal_status move_state(subject *s, double by)
{
    (void)tal_state_set_t(s->state, s->t + by);
    double *q = tal_state_upd_q(s->state) + s->q0;
    for (int i = 0; i < s->nq; ++i) {
        q[i] = s->q[i] + by * s->qdot[i];
    }
    double *u = tal_state_upd_u(s->state) + s->u0;
    for (int j = 0; j < s->nu; ++j) {
        u[j] = s->u[j] + by * s->udot[j];
    }
    return tal_system_realize(s->matter->system, s->state, TAL_STAGE_TIME);
}

static tal_status differentiate(subject *s, level f, int n, double h, double rate[])
{
    const tali_differences_four_points at = tali_differences_four_points_of(h);
    for (int r = 0; r < n; ++r) {
        rate[r] = 0.0;
    }
    for (int k = 0; k < 4; ++k) {
        tal_status st = move_state(s, at.step[k]);
        if (st == TAL_OK) st = f(s, s->moved);
        if (st != TAL_OK) return st;
        for (int r = 0; r < n; ++r) {
            rate[r] += at.weight[k] * s->moved[r];
        }
    }
    return move_state(s, 0.0);
}

static tal_status test_derivatives(subject *s, tal_constraint_report *report)
{
    const tal_constraint_ops *ops = &s->c->ops;
    const int n_v = ops->mp + ops->mv;
    const double h = STEP / fastest(s);
    double *const verr = s->verr, *const aerr = s->aerr, *const rate = s->rate;
    tali_constraint_room room;
    tal_status st = n_v > 0 ? calc_v(s, verr) : TAL_OK;
    if (st == TAL_OK) st = calc_a(s, s->udot, &room, aerr);
    if (st == TAL_OK && ops->mp > 0) {
        st = differentiate(s, calc_p, ops->mp, h, rate);
        report->verr = tali_differences_slope(verr, rate, ops->mp);
    }
    if (st == TAL_OK && n_v > 0) {
        st = differentiate(s, calc_v, n_v, h, rate);
        report->aerr = tali_differences_slope(aerr, rate, n_v);
    }
    return st;
}

// --- forces ---

// Power of the forces that `lambda` makes, while the constrained bodies and mobilities move with
// `some` less `none`. They are added to what is there: ones, which must stay.
static tal_status calc_power(subject *s, const double lambda[], double *power, double *size)
{
    tali_tree_view view;
    const bool moving = s->c->ops.forces_need_velocity; // as the solver does
    tal_status st = look_at_state(s, moving ? TALI_VELOCITY : TALI_POSITION, &view);
    if (st != TAL_OK) return st;
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(s->matter, s->state, &view, s->index, NULL, NULL, &room);
    const tal_spatial_vec ones = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
    const acceleration *from = &s->none, *to = &s->some;
    tal_spatial_vec *const F = s->F;
    double *const f = s->f;
    for (int i = 0; i < s->c->ops.num_bodies; ++i) {
        F[i] = ones;
    }
    for (int i = 0; i < s->c->num_mobilities; ++i) {
        f[i] = 1.0;
    }
    st = s->c->ops.add_forces(s->c->self, &arg, lambda, F, f);
    *power = *size = 0.0;
    for (int i = 0; i < s->c->ops.num_bodies; ++i) {
        const double part = tal_sv_dot(tal_sv_sub(to->A[i], from->A[i]), tal_sv_sub(F[i], ones));
        *power += part;
        *size += fabs(part);
    }
    for (int i = 0; i < s->c->num_mobilities; ++i) {
        const double part = (to->udot[i] - from->udot[i]) * (f[i] - 1.0);
        *power += part;
        *size += fabs(part);
    }
    return st;
}

// |a - b| relative to `size` or to 1. A NaN counts as infinitely wrong.
static double relative(double a, double b, double size)
{
    const double off = fabs(a - b) / fmax(1.0, size);
    return off <= HUGE_VAL ? off : HUGE_VAL;
}

static void fill_with(double v[], int n, double value)
{
    for (int j = 0; j < n; ++j) {
        v[j] = value;
    }
}

// aerr for a given udot, and how that moves what is constrained.
static tal_status calc_a_and_keep(subject *s, const double udot[], double rows[],
                                  const acceleration *kept)
{
    tali_constraint_room room;
    const tal_status st = calc_a(s, udot, &room, rows);
    for (int i = 0; i < s->c->ops.num_bodies && st == TAL_OK; ++i) {
        kept->A[i] = room.A[i];
    }
    for (int i = 0; i < s->c->num_mobilities && st == TAL_OK; ++i) {
        kept->udot[i] = room.udot[i];
    }
    return st;
}

// lambda . G v must be the power of the forces in the motion v, for each row and for all together.
// G v is aerr at udot = v less aerr at udot = 0, because aerr is linear in udot; at 2 v it doubles.
static tal_status test_forces(subject *s, tal_random *random, tal_constraint_report *report)
{
    const double *const at_0 = s->at_0, *const at_v = s->at_v, *const at_2v = s->at_2v;
    fill_with(s->v, s->nu, 0.0);
    tal_status st = calc_a_and_keep(s, s->v, s->at_0, &s->none);
    for (int j = 0; j < s->nu; ++j) {
        s->v[j] = tal_random_range(random, -1.0, 1.0);
    }
    if (st == TAL_OK) st = calc_a_and_keep(s, s->v, s->at_v, &s->some);
    for (int j = 0; j < s->nu; ++j) {
        s->v[j] *= 2.0;
    }
    tali_constraint_room room;
    if (st == TAL_OK) st = calc_a(s, s->v, &room, s->at_2v);

    double *const lambda = s->lambda;
    double all = 0.0, power = 0.0, size = 0.0;
    for (int r = 0; r < tali_constraint_rows(s->c) && st == TAL_OK; ++r) {
        fill_with(s->unit, tali_constraint_rows(s->c), 0.0);
        s->unit[r] = 1.0;
        const double Gv = at_v[r] - at_0[r];
        st = calc_power(s, s->unit, &power, &size);
        size = fmax(size, fmax(fabs(at_v[r]), fabs(at_0[r])));
        report->forces = fmax(report->forces, relative(power, Gv, size));
        report->linear = fmax(report->linear, relative(at_2v[r] - at_0[r], 2.0 * Gv, size));
        lambda[r] = tal_random_range(random, -1.0, 1.0);
        all += lambda[r] * power;
    }
    if (st == TAL_OK) st = calc_power(s, lambda, &power, &size);
    report->forces = fmax(report->forces, relative(power, all, size));
    return st;
}

// --- changes ---

static tal_spatial_vec random_vector(tal_random *random)
{
    double v[6];
    for (int i = 0; i < 6; ++i) {
        v[i] = tal_random_range(random, -1.0, 1.0);
    }
    return tal_sv(tal_v3(v[0], v[1], v[2]), tal_v3(v[3], v[4], v[5]));
}

static void draw_change(const subject *s, tal_random *random, const tali_constraint_change_room *to)
{
    for (int i = 0; i < s->c->ops.num_bodies; ++i) {
        to->dX[i] = random_vector(random);
        to->dV[i] = random_vector(random);
        to->dA[i] = random_vector(random);
    }
    for (int i = 0; i < s->c->num_mobilities; ++i) {
        to->dq[i] = tal_random_range(random, -1.0, 1.0);
        to->du[i] = tal_random_range(random, -1.0, 1.0);
        to->dudot[i] = tal_random_range(random, -1.0, 1.0);
    }
    for (int r = 0; r < tali_constraint_rows(s->c); ++r) {
        to->lambda[r] = tal_random_range(random, -1.0, 1.0);
    }
}

// What two ways found for one change: `a` by the table, `b` by differences.
static double compare_changes(const tali_constraint *c, const tali_constraint_change_room *a,
                              const tali_constraint_change_room *b)
{
    const int m = tali_constraint_rows(c), n_v = c->ops.mp + c->ops.mv;
    double worst = tali_differences_slope(a->perr, b->perr, c->ops.mp);
    worst = fmax(worst, tali_differences_slope(a->verr, b->verr, n_v));
    worst = fmax(worst, tali_differences_slope(a->aerr, b->aerr, m));
    worst = fmax(worst, tali_differences_slope(a->df, b->df, c->num_mobilities));
    return c->ops.num_bodies == 0 ? worst
                                  : fmax(worst, tali_differences_slope(&a->dF[0].w.x, &b->dF[0].w.x,
                                                                       6 * c->ops.num_bodies));
}

// A random change, by calc_change and by differences, at the subject's State and udot.
static tal_status test_change(subject *s, tal_random *random, tal_constraint_report *report)
{
    const tali_constraints *cs = &s->matter->constraints;
    tali_constraint_change_room table, differences;
    const size_t bytes = tali_constraint_change_room_in(cs, NULL, &table);
    char *block = tali_alloc(&s->matter->allocator, 2 * tali_align(bytes));
    if (block == NULL) return TAL_ERR_NO_MEMORY;
    (void)tali_constraint_change_room_in(cs, block, &table);
    (void)tali_constraint_change_room_in(cs, block + tali_align(bytes), &differences);
    tali_constraint_room room;
    tal_status st = calc_a(s, s->udot, &room, s->aerr);
    tali_tree_view view;
    if (st == TAL_OK) st = look_at_state(s, TALI_A0, &view);
    if (st == TAL_OK) {
        const tal_constraint_arg arg =
            tali_constraint_arg_of(s->matter, s->state, &view, s->index, s->A, s->udot, &room);
        draw_change(s, random, &table);
        tali_alloc_copy(block + tali_align(bytes), block, bytes);
        st = tali_constraint_calc_change(s->c, &arg, &table);
        tali_constraint_clear_change(s->c, &differences);
        if (st == TAL_OK) st = tali_constraint_difference(s->c, &arg, &differences);
        const double off = compare_changes(s->c, &table, &differences);
        if (st == TAL_OK) report->change = fmax(report->change, off);
    }
    tali_free(&s->matter->allocator, block, 2 * tali_align(bytes));
    return st;
}

// --- setting up ---

// A State of our own at the given one, and a random udot to move it along.
static tal_status copy_state(subject *s, const tal_state *from, tal_random *random)
{
    tal_status st = tal_state_copy(s->state, from);
    if (st == TAL_OK) st = tal_system_realize(s->matter->system, s->state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return st;
    s->nq = tal_matter_nq(s->matter, s->state);
    s->nu = tal_matter_nu(s->matter);
    s->q0 = tal_group_start(s->matter->system, s->state, s->matter->q);
    s->u0 = tal_group_start(s->matter->system, s->state, s->matter->u);
    s->t = tal_state_t(s->state);
    for (int i = 0; i < s->nq; ++i) {
        s->q[i] = tal_state_q(s->state)[s->q0 + i];
        s->qdot[i] = tal_state_qdot(s->state)[s->q0 + i];
    }
    for (int j = 0; j < s->nu; ++j) {
        s->u[j] = tal_state_u(s->state)[s->u0 + j];
        s->udot[j] = tal_random_range(random, -1.0, 1.0);
    }
    return TAL_OK;
}

// All memory of the subject; false when there is none.
static bool take_memory(subject *s, const tal_state *state)
{
    const tali_constraint *c = s->c;
    const size_t nq = (size_t)tal_state_nq(state), nu = (size_t)tal_state_nu(state);
    const size_t rows = (size_t)tali_constraint_rows(c), d = sizeof(double);
    const size_t b = (size_t)c->ops.num_bodies, m = (size_t)c->num_mobilities;
    const tali_piece pieces[] = {{&s->q, nq * d},
                                 {&s->qdot, nq * d},
                                 {&s->u, nu * d},
                                 {&s->udot, nu * d},
                                 {&s->v, nu * d},
                                 {&s->A, (size_t)s->matter->num_bodies * sizeof *s->A},
                                 {&s->verr, rows * d},
                                 {&s->aerr, rows * d},
                                 {&s->rate, rows * d},
                                 {&s->moved, rows * d},
                                 {&s->at_0, rows * d},
                                 {&s->at_v, rows * d},
                                 {&s->at_2v, rows * d},
                                 {&s->lambda, rows * d},
                                 {&s->unit, rows * d},
                                 {&s->none.A, b * sizeof *s->none.A},
                                 {&s->some.A, b * sizeof *s->some.A},
                                 {&s->none.udot, m * d},
                                 {&s->some.udot, m * d},
                                 {&s->F, b * sizeof *s->F},
                                 {&s->f, m * d}};
    s->block = tali_alloc_pieces(&s->matter->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                 &s->block_bytes);
    return s->block != NULL;
}

static tal_status run_tests(subject *s, const tal_state *state, tal_constraint_report *report)
{
    tal_random random = {1, (uint64_t)s->index, 0};
    tal_status st = copy_state(s, state, &random);
    if (st == TAL_OK) st = test_derivatives(s, report);
    for (int k = 0; k < NUM_TRIALS && st == TAL_OK; ++k) {
        st = test_forces(s, &random, report);
    }
    for (int k = 0; k < NUM_TRIALS && st == TAL_OK && s->c->ops.calc_change != NULL; ++k) {
        st = test_change(s, &random, report);
    }
    report->worst = fmax(fmax(report->verr, report->aerr), fmax(report->linear, report->forces));
    report->worst = fmax(report->worst, report->change);
    return st;
}

tal_status tal_constraint_test(const tal_matter *matter, const tal_state *state,
                               tal_constraint_ix constraint, tal_constraint_report *report,
                               tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) {
        return TALI_FAIL(err, tal_contract_last()->status, "%s", tal_contract_last()->message);
    }
    if (state == NULL || report == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "state or report is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "state or report is NULL");
    }
    subject s = {.matter = matter, .c = c, .index = constraint.i};
    tal_status st = tal_state_create(matter->system, &s.state, err);
    if (st != TAL_OK) return st;
    tal_constraint_report found = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (!take_memory(&s, state)) {
        st = TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory to test constraint '%s'", c->name);
    } else {
        st = run_tests(&s, state, &found);
        if (st == TAL_OK) {
            *report = found;
        } else {
            const char *why = tal_state_error(s.state)->message;
            (void)TALI_FAIL(err, st, "constraint '%s' (%s) cannot be tested: %s", c->name,
                            c->ops.name, why[0] != '\0' ? why : tal_status_text(st));
        }
    }
    tali_free(&matter->allocator, s.block, s.block_bytes);
    tal_state_destroy(s.state);
    return st;
}
