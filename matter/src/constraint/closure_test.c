// Do loop-closure functions agree with each other, and with the constraints?
#include "array_internal.h"

#include "constraint/closure_internal.h"
#include "constraint/constraint_internal.h"
#include "tree/differences_internal.h"

#include <math.h>

// See differences_internal.h for what is left at this step.
static const double STEP = 1e-3;

// The closure under test, a State of our own at q = gamma(y), and room.
typedef struct subject {
    const tal_matter *matter;
    const tal_closure *closure;
    tal_state *state;
    int nq, nu, m, num_y;
    double *y;          // [num_y] moved about
    double *at, *rate;  // [most of nq and nu] a function, and its derivative
    double *stated;     // [most of nq, nu and m] what the functions under test say it is
    double *k;          // [nu]
    tal_matrix K, at_y; // [nu x num_y] where the test is, and where it has moved to
    double *work;       // of tal_closure_set_state()
} subject;

// What is differentiated: its value at s->y.
typedef tal_status (*function)(subject *s, double out[]);

static tal_status calc_q(subject *s, double out[])
{
    return tali_closure_q(s->closure, s->state, s->y, s->nq, out);
}

// K ydot with a constant ydot
static tal_status calc_u(subject *s, double out[])
{
    const tal_status st = tali_closure_K(s->closure, s->state, s->y, s->at_y);
    if (st != TAL_OK) return st;
    memset(out, 0, (size_t)s->nu * sizeof *out);
    tali_op_dense_add_product(1.0, s->at_y, false, s->closure->yd, out);
    return TAL_OK;
}

// The derivative of f along `direction`; s->y is y again afterwards.
static tal_status differentiate(subject *s, function f, int n, const double direction[], double h)
{
    const tali_differences_four_points at = tali_differences_four_points_of(h);
    memset(s->rate, 0, (size_t)n * sizeof *s->rate);
    tal_status st = TAL_OK;
    for (int i = 0; i < 4 && st == TAL_OK; ++i) {
        for (int c = 0; c < s->num_y; ++c) {
            s->y[c] = s->closure->y[c] + at.step[i] * direction[c];
        }
        st = f(s, s->at);
        for (int j = 0; j < n && st == TAL_OK; ++j) {
            s->rate[j] += at.weight[i] * s->at[j];
        }
    }
    memcpy(s->y, s->closure->y, (size_t)s->num_y * sizeof *s->y);
    return st;
}

// N K e_c = d gamma / d y_c, with N where the State is
static tal_status test_K(subject *s, tal_closure_report *report)
{
    tal_status st = TAL_OK;
    double *e = s->k; // not in use yet; num_y <= nu
    for (int c = 0; c < s->num_y && st == TAL_OK; ++c) {
        memset(e, 0, (size_t)s->num_y * sizeof *e);
        e[c] = 1.0;
        const double h = STEP / fmax(1.0, tali_array_largest(tali_op_column(s->K, c), s->nu));
        st = differentiate(s, calc_q, s->nq, e, h);
        if (st == TAL_OK) {
            st = tal_matter_calc_qdot(s->matter, s->state, tali_op_column(s->K, c), s->stated);
        }
        if (st == TAL_OK) {
            report->K = fmax(report->K, tali_differences_slope(s->stated, s->rate, s->nq));
        }
    }
    return st;
}

static tal_status test_k(subject *s, tal_closure_report *report)
{
    tal_status st = tali_closure_k(s->closure, s->state, s->nu, s->k);
    if (st != TAL_OK || s->closure->yd == NULL) return st;
    st = calc_u(s, s->stated);
    if (st != TAL_OK) return st;
    const double speed =
        fmax(tali_array_largest(s->stated, s->nu), tali_array_largest(s->closure->yd, s->num_y));
    st = differentiate(s, calc_u, s->nu, s->closure->yd, STEP / fmax(1.0, speed));
    if (st == TAL_OK) report->k = tali_differences_slope(s->k, s->rate, s->nu);
    return st;
}

// perr = 0, G K = 0 and G k = b
static tal_status test_constraints(subject *s, tal_closure_report *report)
{
    if (s->m == 0) return TAL_OK;
    const int first = tal_group_start(s->matter->system, s->state, s->matter->constraints.qerr);
    const int mp = tal_matter_constraint_rows(s->matter, s->state).mp;
    if (mp > 0) report->closed = tali_array_largest(tal_state_qerr(s->state) + first, mp);
    tal_status st = TAL_OK;
    for (int c = 0; c < s->num_y && st == TAL_OK; ++c) {
        st = tal_matter_mul_G(s->matter, s->state, TAL_G, tali_op_column(s->K, c), s->stated);
        const double size = fmax(1.0, tali_array_largest(tali_op_column(s->K, c), s->nu));
        if (st == TAL_OK) {
            report->allowed = fmax(report->allowed, tali_array_largest(s->stated, s->m) / size);
        }
    }
    if (st == TAL_OK) st = tal_matter_calc_constraint_aerr(s->matter, s->state, s->k, s->stated);
    const double size = fmax(1.0, tali_array_largest(s->k, s->nu));
    if (st == TAL_OK) {
        report->allowed = fmax(report->allowed, tali_array_largest(s->stated, s->m) / size);
    }
    return st;
}

// The arrays of a test, in one block.
static void *alloc_arrays(subject *s, size_t *bytes)
{
    const tal_matter *matter = s->matter;
    const size_t nq = (size_t)matter->tree.max_nq, nu = (size_t)s->nu;
    const size_t most = (nq + nu + (size_t)matter->constraints.max_rows) * sizeof(double);
    const size_t matrix = nu * (size_t)s->num_y * sizeof(double);
    s->K = tal_matrix_view(NULL, s->nu, s->num_y);
    s->at_y = s->K;
    const tali_piece pieces[] = {
        {&s->y, most},           {&s->at, most},
        {&s->rate, most},        {&s->stated, most},
        {&s->k, most},           {&s->K.data, matrix},
        {&s->at_y.data, matrix}, {&s->work, matrix + (nq + nu) * sizeof(double)},
    };
    return tali_alloc_pieces(&matter->allocator, pieces, sizeof pieces / sizeof pieces[0], bytes);
}

// All checks at a State.
static tal_status run_checks(subject *s, const tal_state *state, tal_closure_report *report)
{
    tal_status st = tal_state_copy(s->state, state);
    if (st == TAL_OK) st = tal_system_realize(s->matter->system, s->state, TAL_STAGE_MODEL);
    if (st == TAL_OK) st = tal_closure_set_state(s->matter, s->state, s->closure, s->work);
    if (st == TAL_OK) st = tal_system_realize(s->matter->system, s->state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return st;
    s->nq = tal_matter_nq(s->matter, s->state);
    s->m = tali_constraint_num_rows(s->matter, s->state);
    memcpy(s->y, s->closure->y, (size_t)s->num_y * sizeof *s->y);
    st = tali_closure_K(s->closure, s->state, s->y, s->K);
    if (st == TAL_OK) st = test_K(s, report);
    if (st == TAL_OK) st = test_k(s, report);
    if (st == TAL_OK) st = test_constraints(s, report);
    report->worst = fmax(fmax(report->K, report->k), fmax(report->closed, report->allowed));
    return st;
}

tal_status tal_closure_test(const tal_matter *matter, const tal_state *state,
                            const tal_closure *closure, tal_closure_report *report, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_closure_check(matter, closure, __func__);
    if (st == TAL_OK) st = tali_op_array("state", state, __func__);
    if (st == TAL_OK) st = tali_op_array("report", report, __func__);
    if (st != TAL_OK) return TALI_FAIL(err, st, "%s", tal_contract_last()->message);
    subject s = {.matter = matter, .closure = closure, .num_y = closure->ops->num_y};
    st = tal_state_create(matter->system, &s.state, err);
    if (st != TAL_OK) return st;
    s.nu = matter->tree.num_u;
    size_t bytes = 0;
    void *room = alloc_arrays(&s, &bytes);
    tal_closure_report found = {0.0, 0.0, 0.0, 0.0, 0.0};
    if (room == NULL) {
        st =
            TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory to test closure '%s'", closure->ops->name);
    } else {
        st = run_checks(&s, state, &found);
        if (st == TAL_OK) {
            *report = found;
        } else {
            (void)TALI_FAIL(err, st, "closure '%s' cannot be tested: %s", closure->ops->name,
                            tal_state_error(s.state)->message);
        }
    }
    tali_free(&matter->allocator, room, bytes);
    tal_state_destroy(s.state);
    return st;
}
