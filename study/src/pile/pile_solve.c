// Impulses: small groups exactly, large ones by iteration; rebound; moving apart what penetrates.
#include "pile/pile_internal.h"

#include <math.h>
#include <string.h>

// A step without one before it begins with no impulses, and may take so many times as many passes.
enum {
    COLD = 10
};

// --- one problem, all groups ---

static void add_column(const tal_contact_stepper *s, int row, double impulse, double u[])
{
    for (int k = s->start[row]; k < s->start[row + 1]; ++k) {
        u[s->index[k]] += s->row_K[k] * impulse;
    }
}

// Iterate over the rows from `row` on.
static tal_status iterate(tal_contact_stepper *s, int row, int num_rows,
                          const tal_friction_contact contacts[], int num_contacts, double pi[],
                          double u[])
{
    const tal_friction_rows rows = {
        .num_rows = num_rows,
        .num_speeds = s->nu,
        .J_start = s->start + row,
        .J_index = s->index,
        .J = s->row_J,
        .K_start = s->start + row,
        .K_index = s->index,
        .K = s->row_K,
        .b = s->b + row,
        .contacts = contacts,
        .num_contacts = num_contacts,
        .most_passes = s->is_warm ? s->def.most_passes : COLD * s->def.most_passes,
        .tolerance = s->def.tolerance,
    };
    tal_friction_passes passes;
    const tal_status st =
        tal_friction_iterate(&rows, pi + row, u, s->w, s->iwork, &passes, &s->error_record);
    if (passes.passes > s->report.passes) s->report.passes = passes.passes;
    s->report.residual = fmax(s->report.residual, passes.residual);
    return st;
}

// A = J K of a group, and b with the speeds it begins with.
static void form_matrix(tal_contact_stepper *s, const tali_pile_group *g, const double u[])
{
    const int n = g->num_rows;
    for (int j = 0; j < n; ++j) {
        const int row = g->row + j;
        s->exact_b[j] = s->b[row] + tali_pile_row(s, row, u);
        add_column(s, row, 1.0, s->column);
        for (int i = 0; i < n; ++i) {
            s->A[i + j * n] = tali_pile_row(s, g->row + i, s->column);
        }
        for (int k = s->start[row]; k < s->start[row + 1]; ++k) {
            s->column[s->index[k]] = 0.0;
        }
    }
}

// One small group; false when no answer passes its check.
static bool solve_exactly(tal_contact_stepper *s, const tali_pile_group *g, bool guess, double pi[],
                          double u[])
{
    form_matrix(s, g, u);
    for (int k = 0; k < g->count; ++k) {
        s->exact_modes[k] = s->contacts[s->order[g->first + k]].mode;
    }
    memcpy(s->exact_pi, pi + g->row, (size_t)g->num_rows * sizeof *pi);
    const tal_friction_problem problem = {.A = tal_matrix_view(s->A, g->num_rows, g->num_rows),
                                          .b = s->exact_b,
                                          .contacts = s->frictions + g->first,
                                          .num_contacts = g->count,
                                          .guess = guess};
    const tal_status st = tal_friction_solve(&problem, s->exact_pi, s->exact_a, s->exact_modes,
                                             s->exact_work, s->exact_iwork, NULL, NULL);
    if (st != TAL_OK) return false;
    for (int i = 0; i < g->num_rows; ++i) {
        pi[g->row + i] = s->exact_pi[i];
        add_column(s, g->row + i, s->exact_pi[i], u);
    }
    for (int k = 0; k < g->count; ++k) {
        s->contacts[s->order[g->first + k]].mode = s->exact_modes[k];
    }
    return true;
}

// u becomes u + K pi with impulses that solve all groups; pi is a guess.
static tal_status solve_all(tal_contact_stepper *s, bool guess, double pi[], double u[])
{
    tal_status st = TAL_OK;
    if (s->num_iterated > 0) {
        st = iterate(s, 0, s->num_iterated_rows, s->frictions, s->num_iterated, pi, u);
    }
    for (int i = 0; i < s->num_groups && st == TAL_OK; ++i) {
        const tali_pile_group *g = &s->groups[i];
        if (solve_exactly(s, g, guess, pi, u)) continue;
        ++s->report.num_unsolved;
        st = iterate(s, g->row, g->num_rows, s->frictions + g->first, g->count, pi, u);
    }
    return st;
}

// --- rebound ---

// Work of impulses that take rows from speeds u0 to u1.
static double work_of(const tal_contact_stepper *s, int row, double impulse, const double u0[],
                      const double u1[])
{
    return 0.5 * impulse * (tali_pile_row(s, row, u0) + tali_pile_row(s, row, u1));
}

// The largest share, at most 1, of an expansion after which kinetic energy is not larger than it
// was before the impact: `lost` was lost in compression, and the expansion brings share linear +
// share^2 square.
static double largest_share(double lost, double linear, double square)
{
    if (linear + square <= lost || !(square > 0.0)) return 1.0;
    const double root = sqrt(linear * linear + 4.0 * square * fmax(lost, 0.0));
    return fmin(1.0, fmax(0.0, 0.5 * (root - linear) / square));
}

// Contacts with restitution that close in this step: stop them, then give back their share.
static tal_status rebound(tal_contact_stepper *s, const double u0[])
{
    double *u = s->u_apart, *pi = s->pi_apart; // free until solids are moved apart
    memcpy(u, u0, (size_t)s->nu * sizeof *u);
    memset(pi, 0, (size_t)s->num_rows * sizeof *pi);
    for (int i = 0; i < s->num_contacts; ++i) {
        const tali_pile_contact *c = &s->contacts[i];
        if (c->restitution > 0.0) s->b[c->row] = 0.0;
    }
    const tal_status st = solve_all(s, false, pi, u);
    if (st != TAL_OK) return st;
    double lost = 0.0, linear = 0.0, square = 0.0;
    for (int row = 0; row < s->num_rows; ++row) {
        lost -= work_of(s, row, pi[row], u0, u);
        s->w[row] = 0.0;
    }
    memset(s->column, 0, (size_t)s->nu * sizeof *s->column);
    for (int i = 0; i < s->num_contacts; ++i) {
        const tali_pile_contact *c = &s->contacts[i];
        if (!(c->restitution > 0.0)) continue;
        s->w[c->row] = c->restitution * pi[c->row];
        linear += s->w[c->row] * tali_pile_row(s, c->row, u);
        add_column(s, c->row, s->w[c->row], s->column);
    }
    for (int row = 0; row < s->num_rows; ++row) {
        if (s->w[row] != 0.0) square += 0.5 * s->w[row] * tali_pile_row(s, row, s->column);
    }
    const double share = largest_share(lost, linear, square);
    s->report.restitution = share;
    s->report.normal_work += share * (linear + share * square) - lost;
    for (int k = 0; k < s->nu; ++k) {
        s->u_star[k] += u[k] - u0[k] + share * s->column[k];
        s->column[k] = 0.0;
    }
    return TAL_OK;
}

// --- all of a step ---

// Impulses as vectors, what each contact does, and the work of all.
static void keep_impulses(tal_contact_stepper *s)
{
    for (int i = 0; i < s->num_contacts; ++i) {
        tali_pile_contact *c = &s->contacts[i];
        const double *pi = s->pi + c->row;
        c->impulse = tal_v3_scale(pi[0], c->n);
        s->report.normal_work += work_of(s, c->row, pi[0], s->u_star, s->u);
        double side = 0.0;
        if (c->num_tangents > 0) {
            c->impulse = tal_v3_axpy(pi[1], c->t1, tal_v3_axpy(pi[2], c->t2, c->impulse));
            s->report.friction_work += work_of(s, c->row + 1, pi[1], s->u_star, s->u) +
                                       work_of(s, c->row + 2, pi[2], s->u_star, s->u);
            side = hypot(pi[1], pi[2]);
        }
        const bool is_on_cone = side >= c->limit + c->mu * pi[0] * (1.0 - 1e-9) && side > 0.0;
        c->mode = !(pi[0] > 0.0) ? TAL_FRICTION_OFF
                  : is_on_cone   ? TAL_FRICTION_SLIP
                                 : TAL_FRICTION_STICK;
    }
    for (int i = 0; i < s->num_bilateral; ++i) {
        const int row = s->bilateral[i].row;
        if (row < 0) continue;
        s->report.constraint_work += work_of(s, row, s->pi[row], s->u_star, s->u);
    }
}

tal_status tali_pile_solve(tal_contact_stepper *s, const double u0[], double h)
{
    bool rebounds = false;
    for (int i = 0; i < s->num_contacts && !rebounds; ++i) {
        rebounds = s->contacts[i].restitution > 0.0;
    }
    if (rebounds) {
        const tal_status st = rebound(s, u0);
        if (st != TAL_OK) return st;
        for (int i = 0; i < s->num_contacts; ++i) {
            s->b[s->contacts[i].row] = fmax(s->contacts[i].gap, 0.0) / h;
        }
    }
    memcpy(s->u, s->u_star, (size_t)s->nu * sizeof *s->u);
    const tal_status st = solve_all(s, true, s->pi, s->u);
    s->report.num_exact = s->num_contacts - s->num_iterated;
    if (st == TAL_OK) keep_impulses(s);
    return st;
}

bool tali_pile_part(tal_contact_stepper *s, double h, tal_status *st)
{
    *st = TAL_OK;
    if (s->report.penetration <= s->def.slop) return false;
    memset(s->u_apart, 0, (size_t)s->nu * sizeof *s->u_apart);
    memset(s->pi_apart, 0, (size_t)s->num_rows * sizeof *s->pi_apart);
    for (int row = 0; row < s->num_rows; ++row) {
        s->b[row] = 0.0;
    }
    for (int place = 0; place < s->num_contacts; ++place) {
        const tali_pile_contact *c = &s->contacts[s->order[place]];
        s->b[c->row] = c->gap + h * tali_pile_row(s, c->row, s->u) + s->def.slop;
        s->frictions[place] = (tal_friction_contact){
            .normal = c->row, .tangent = c->row + 1, .num_tangents = c->num_tangents};
    }
    const tal_contact_step kept = s->report;
    *st = iterate(s, 0, s->num_rows, s->frictions, s->num_contacts, s->pi_apart, s->u_apart);
    s->report = kept; // the passes and the residual are those of impulses
    return *st == TAL_OK;
}
