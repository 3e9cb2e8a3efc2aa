// Equilibrium by Newton's method in independent coordinates, and inverse statics.
#include "array_internal.h"
#include "finite_internal.h"

#include "linearize/chart_internal.h"
#include "linearize/slope_internal.h"
#include "problem/study_internal.h"
#include "sundials/kinsol_internal.h"

#include <talus/study/equilibrium.h>

#include <math.h>
#include <string.h>

// Differences that decide about stability, as a part of those of the stiffness.
static const double SHORT_DIFFERENCE = 1e-3;

// Relative length below which a column of the stiffness depends on the others.
static const double DEPENDENT = 1e-12;

struct tal_equilibrium {
    tal_equilibrium_def def;
    tali_chart chart;
    tal_state *state; // moved about
    void *block;
    size_t block_bytes;
    double *x;                    // [2 nu + nz] a place in the chart
    double *a, *step;             // [nu] along K_a
    double *r, *r_plus, *r_minus; // [nu] forces along K_a
    double *K, *K_error, *factor; // stiffness, na x na
    double *udot, *M_udot;        // [nu]
    double difference;            // step of differences that suits K
    tali_slope slope;
    tali_sun_kinsol *kinsol;   // NULL: it is not asked for
    double *scale_x, *scale_F; // [nu] for it
    double *cod_work, *dense_work;
    int *cod_iwork, *dense_iwork;
    tal_error error_record;
};

// --- creation ---

tal_equilibrium_def tal_equilibrium_def_default(void)
{
    return (tal_equilibrium_def){.kind = TAL_EQUILIBRIUM_STABLE,
                                 .accuracy = 1e-9,
                                 .max_iterations = 100,
                                 .constraint_tolerance = 1e-8};
}

enum {
    OWN_PIECES = 17,
    PIECES = OWN_PIECES + TALI_SLOPE_PIECES
};

// One block for all arrays of a search, sized by the System.
static tal_status take_memory(tal_equilibrium *eq, tal_error *err)
{
    const tali_chart *chart = &eq->chart;
    const size_t d = sizeof(double), nu = (size_t)chart->nu;
    const size_t nx = 2 * nu + (size_t)tal_system_pool_capacity(chart->system, TAL_POOL_Z);
    const size_t dense = tal_matter_dense_work_size(chart->matter, eq->state);
    const size_t dense_ints = tal_matter_dense_iwork_size(chart->matter, eq->state);
    tali_piece pieces[PIECES] = {
        {&eq->x, nx * d},
        {&eq->a, nu * d},
        {&eq->step, nu * d},
        {&eq->r, nu * d},
        {&eq->r_plus, nu * d},
        {&eq->r_minus, nu * d},
        {&eq->K, nu * nu * d},
        {&eq->K_error, nu * nu * d},
        {&eq->factor, nu * nu * d},
        {&eq->udot, nu * d},
        {&eq->M_udot, nu * d},
        {&eq->scale_x, nu * d},
        {&eq->scale_F, nu * d},
        {&eq->cod_work, tal_cod_work_size(chart->nu, chart->nu) * d},
        {&eq->cod_iwork, tal_cod_iwork_size(chart->nu, chart->nu) * sizeof(int)},
        {&eq->dense_work, dense * d},
        {&eq->dense_iwork, dense_ints * sizeof(int)},
    };
    tali_slope_list_room(&eq->slope, nu, pieces + OWN_PIECES);
    eq->block = tali_alloc_pieces(&chart->allocator, pieces, PIECES, &eq->block_bytes);
    if (eq->def.solver == TAL_ROOT_SOLVER_KINSOL) {
        eq->kinsol = tali_sun_kinsol_create(&chart->allocator, chart->nu);
    }
    if (eq->block == NULL || (eq->def.solver == TAL_ROOT_SOLVER_KINSOL && eq->kinsol == NULL)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a search for equilibria");
    }
    return TAL_OK;
}

static tal_status set_up(tal_equilibrium *eq, const tal_system *system, tal_error *err)
{
    tal_status st = tali_chart_create(&eq->chart, system, err);
    if (st == TAL_OK) st = tal_state_create(system, &eq->state, err);
    if (st != TAL_OK) return st;
    st = tal_system_realize(system, eq->state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) return tali_chart_pass_on(&eq->chart, eq->state, st);
    st = take_memory(eq, err);
    eq->chart.err = &eq->error_record;
    return st;
}

static tal_status check_def(const tal_equilibrium_def *def, tal_error *err)
{
    if (!(def->accuracy > 0.0) || !isfinite(def->accuracy) || !(def->constraint_tolerance > 0.0) ||
        !isfinite(def->constraint_tolerance) || def->max_iterations < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "accuracy %g, constraint_tolerance %g and max_iterations %d must be "
                         "positive and finite",
                         def->accuracy, def->constraint_tolerance, def->max_iterations);
    }
    if (def->kind != TAL_EQUILIBRIUM_STABLE && def->kind != TAL_EQUILIBRIUM_ANY) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no equilibrium of kind %d",
                         (int)def->kind);
    }
    if (tal_root_solver_name((int)def->solver) != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no solver %d", (int)def->solver);
}

tal_status tal_equilibrium_create(const tal_system *system, const tal_equilibrium_def *def,
                                  tal_equilibrium **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    const tal_equilibrium_def chosen = def != NULL ? *def : tal_equilibrium_def_default();
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st == TAL_OK) st = check_def(&chosen, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_equilibrium *eq = tali_alloc(&allocator, sizeof *eq);
    if (eq == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a search for equilibria");
    }
    eq->def = chosen;
    eq->chart.allocator = allocator;
    st = set_up(eq, system, err);
    if (st != TAL_OK) {
        tal_equilibrium_destroy(eq);
        return st;
    }
    *out = eq;
    return TAL_OK;
}

void tal_equilibrium_destroy(tal_equilibrium *eq)
{
    if (eq == NULL) return;
    const tal_allocator allocator = eq->chart.allocator;
    tali_sun_kinsol_destroy(eq->kinsol);
    tali_free(&allocator, eq->block, eq->block_bytes);
    tal_state_destroy(eq->state);
    tali_chart_destroy(&eq->chart);
    tali_free(&allocator, eq, sizeof *eq);
}

const tal_error *tal_equilibrium_error(const tal_equilibrium *eq)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_equilibrium_error", "the search is NULL"};
    return eq != NULL ? &eq->error_record : &none;
}

// --- forces and stiffness ---

// Tried first for differences, as a share of a unit of motion.
static const double USUAL_STEP = 0.01;

static const double *matter_udot(const tal_equilibrium *eq)
{
    const tali_chart *chart = &eq->chart;
    return tal_state_udot(eq->state) + tal_group_start(chart->system, eq->state, chart->u_group);
}

// r = K_a^T M udot where the State is, without accelerations that are known: those are not for the
// forces to balance.
static tal_status forces_here(tal_equilibrium *eq, double r[])
{
    tali_chart *chart = &eq->chart;
    tal_status st = tal_system_realize(chart->system, eq->state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return tali_chart_pass_on(chart, eq->state, st);
    const double *udot = matter_udot(eq);
    for (int i = 0; i < chart->nu; ++i) {
        eq->udot[i] = chart->is_known[i] ? 0.0 : udot[i];
    }
    st = tal_matter_mul_M(chart->matter, eq->state, eq->udot, eq->M_udot);
    if (st != TAL_OK) return tali_chart_pass_on(chart, eq->state, st);
    tali_chart_contract_forced(chart, eq->M_udot, r);
    return tali_finite_all(r, chart->na)
               ? TAL_OK
               : TALI_FAIL(&eq->error_record, TAL_ERR_NOT_FINITE, "a force is not finite");
}

static tal_status forces_at(tal_equilibrium *eq, const double a[], double r[])
{
    tali_chart_place_forced(&eq->chart, a, eq->x);
    const tal_status st = tali_chart_put(&eq->chart, eq->state, eq->x);
    return st == TAL_OK ? forces_here(eq, r) : st;
}

static tal_status calc_forces(void *context, const double a[], double r[])
{
    return forces_at(context, a, r);
}

// Forces that have no potential lose the part of their stiffness that is not symmetric, which costs
// Newton's method some speed and nothing else.
static void make_symmetric(double *A, int n)
{
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < j; ++i) {
            double *a = &A[(size_t)j * (size_t)n + (size_t)i];
            double *b = &A[(size_t)i * (size_t)n + (size_t)j];
            *a = *b = 0.5 * (*a + *b);
        }
    }
}

// The largest coordinate in matter: round-off of a place.
static double size_of_place(const tal_equilibrium *eq)
{
    const tali_chart *chart = &eq->chart;
    double most = 0.0;
    for (int i = 0; i < chart->ns; ++i) {
        most = fmax(most, tali_chart_size(chart, eq->state, i));
    }
    return most;
}

// K = -dr/da with errors, and the step of differences that suits it: a thousandth of the least that
// served a column, since nothing is extrapolated later.
static tal_status measure_stiffness(tal_equilibrium *eq)
{
    const int n = eq->chart.na;
    tali_slope *slope = &eq->slope;
    slope->calc = calc_forces;
    slope->context = eq;
    slope->here = eq->r;
    slope->n = slope->ends[0] = n;
    slope->num_ranges = 1;
    const double size = size_of_place(eq);
    double least = (double)INFINITY;
    for (int j = 0; j < n; ++j) {
        const double *K_a = eq->chart.K_a + (size_t)j * (size_t)eq->chart.nu;
        const double H = USUAL_STEP * tali_chart_unit(&eq->chart, eq->state, K_a);
        double *column = eq->K + (size_t)j * (size_t)n, used;
        const tal_status st = tali_slope_along(slope, eq->a, j, H, size, column,
                                               eq->K_error + (size_t)j * (size_t)n, &used);
        if (st != TAL_OK) return st;
        for (int i = 0; i < n; ++i) {
            column[i] = -column[i];
        }
        least = fmin(least, used);
    }
    eq->error_record = (tal_error){TAL_OK, "", ""}; // a longer step than was needed may have failed
    eq->difference = n > 0 ? SHORT_DIFFERENCE * least : 0.0;
    make_symmetric(eq->K, n);
    make_symmetric(eq->K_error, n);
    return TAL_OK;
}

// dr/da_j at a, by central differences.
static tal_status calc_slope(tal_equilibrium *eq, double a[], int j, double slope[])
{
    const int n = eq->chart.na;
    const double h = eq->difference, here = a[j];
    a[j] = here + h;
    tal_status st = forces_at(eq, a, eq->r_plus);
    a[j] = here - h;
    if (st == TAL_OK) st = forces_at(eq, a, eq->r_minus);
    a[j] = here;
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        slope[i] = (eq->r_plus[i] - eq->r_minus[i]) / (2.0 * h);
    }
    return st;
}

// K = -dr/da where the chart lies.
static tal_status calc_stiffness(tal_equilibrium *eq)
{
    const int n = eq->chart.na;
    for (int j = 0; j < n; ++j) {
        double *column = eq->K + (size_t)j * (size_t)n;
        const tal_status st = calc_slope(eq, eq->a, j, column);
        if (st != TAL_OK) return st;
        for (int i = 0; i < n; ++i) {
            column[i] = -column[i];
        }
    }
    make_symmetric(eq->K, n);
    return TAL_OK;
}

static double largest_stiffness(const tal_equilibrium *eq)
{
    double largest = 0.0;
    for (int i = 0; i < eq->chart.na; ++i) {
        largest = fmax(largest, fabs(eq->K[(size_t)i * (size_t)(eq->chart.na + 1)]));
    }
    return largest;
}

// --- what is left ---

// The largest udot left of those that forces decide on, and the body it belongs to; the largest
// zdot.
static void judge(tal_equilibrium *eq, tal_rest *rest)
{
    const double *udot = eq->udot, *zdot = tal_state_zdot(eq->state);
    rest->zdot = 0.0;
    for (int i = 0; i < tal_state_nz(eq->state); ++i) {
        rest->zdot = fmax(rest->zdot, fabs(zdot[i]));
    }
    rest->udot = 0.0;
    rest->worst = TAL_GROUND;
    for (int i = 0; i < eq->chart.nu; ++i) {
        if (fabs(udot[i]) < rest->udot) continue;
        rest->udot = fabs(udot[i]);
        rest->worst = tal_matter_u_owner(
            eq->chart.matter, eq->state,
            tal_group_start(eq->chart.system, eq->state, eq->chart.u_group) + i, NULL);
    }
}

static tal_status fail(tal_equilibrium *eq, const char *why)
{
    tal_rest rest;
    judge(eq, &rest);
    return TALI_FAIL(&eq->error_record, TAL_ERR_NO_CONVERGENCE, "%s: body '%s' still has udot = %g",
                     why, tal_body_name(eq->chart.matter, rest.worst), rest.udot);
}

// A short step is the end of a search only where stiffness is what makes it short. Where no small
// motion changes the forces that are left, as when a body falls, there is no step to take, but no
// rest either: they are more than the stiffness makes of the accuracy, and move a unit of motion by
// far more than that in a time scale.
static bool is_at_rest(const tal_equilibrium *eq, double udot)
{
    const int n = eq->chart.na;
    const double t_c = tal_system_time_scale(eq->chart.system), accuracy = eq->def.accuracy;
    double stiffest = 0.0, force = 0.0;
    const size_t size = (size_t)n * (size_t)n;
    for (size_t i = 0; i < size; ++i) {
        stiffest = fmax(stiffest, fabs(eq->K[i]));
    }
    for (int i = 0; i < n; ++i) {
        force = fmax(force, fabs(eq->r[i]));
    }
    return force <= 100.0 * accuracy * stiffest || udot * t_c * t_c <= 1000.0 * accuracy;
}

// --- steps ---

// (K + shift) a = r. False when that is not positive definite: not downhill.
static bool solve_downhill(tal_equilibrium *eq, double shift)
{
    const int n = eq->chart.na;
    const tal_matrix K = tal_matrix_view(eq->factor, n, n);
    memcpy(eq->factor, eq->K, (size_t)n * (size_t)n * sizeof *eq->K);
    for (int i = 0; i < n; ++i) {
        eq->factor[(size_t)i * (size_t)(n + 1)] += shift;
    }
    if (tal_chol_factor(K, NULL, NULL) != TAL_OK) return false;
    memcpy(eq->step, eq->r, (size_t)n * sizeof *eq->r);
    return tal_chol_solve(K, tal_matrix_view(eq->step, n, 1), NULL) == TAL_OK;
}

// K a = r whatever K is, the shortest a.
static tal_status solve_any(tal_equilibrium *eq)
{
    const int n = eq->chart.na;
    tal_cod cod;
    memcpy(eq->factor, eq->K, (size_t)n * (size_t)n * sizeof *eq->K);
    const tal_status st = tal_cod_factor(&cod, tal_matrix_view(eq->factor, n, n), DEPENDENT,
                                         eq->cod_work, eq->cod_iwork, &eq->error_record);
    if (st != TAL_OK) return st;
    return tal_cod_solve(&cod, tal_matrix_view(eq->r, n, 1), tal_matrix_view(eq->step, n, 1),
                         &eq->error_record);
}

// RMS of W_u K_a a.
static double size_of_step(tal_equilibrium *eq)
{
    const tali_chart *chart = &eq->chart;
    const double *W = tal_state_weights(eq->state, TAL_POOL_U) +
                      tal_group_start(chart->system, eq->state, chart->u_group);
    tali_chart_expand_forced(chart, eq->step, eq->M_udot);
    double sum = 0.0;
    for (int i = 0; i < chart->nu; ++i) {
        sum += W[i] * eq->M_udot[i] * W[i] * eq->M_udot[i];
    }
    return chart->nu > 0 ? sqrt(sum / chart->nu) : 0.0;
}

// No step is longer than half a unit of motion.
static double limit_step(tal_equilibrium *eq)
{
    const double size = size_of_step(eq);
    const double factor = size > 0.5 ? 0.5 / size : 1.0;
    for (int i = 0; i < eq->chart.na; ++i) {
        eq->step[i] *= factor;
    }
    return size;
}

// Downhill: all forces together must do work along the step, by the rule of the trapezoid. The
// shift grows until they do.
static tal_status step_downhill(tal_equilibrium *eq, double *shift, double *size)
{
    const int n = eq->chart.na;
    const double push =
        sqrt(tali_array_dot(eq->r, eq->r, n)); // where nothing is stiff, a unit of motion
    const double scale = fmax(fmax(largest_stiffness(eq), push), 1e-300);
    for (int tries = 0; tries < 60; ++tries) {
        const bool solved = solve_downhill(eq, *shift);
        *size = solved ? limit_step(eq) : 0.0;
        if (solved && *size <= eq->def.accuracy) return TAL_OK;
        if (solved) {
            const tal_status st = forces_at(eq, eq->step, eq->r_plus);
            if (st != TAL_OK) return st;
            const double work =
                tali_array_dot(eq->r, eq->step, n) + tali_array_dot(eq->r_plus, eq->step, n);
            if (work > 0.0) {
                *shift = *shift > 1e-12 * scale ? 0.1 * *shift : 0.0;
                return TAL_OK;
            }
        }
        *shift = *shift > 0.0 ? 4.0 * *shift : 1e-3 * scale;
    }
    return fail(eq, "no step reduces the energy, however short");
}

// Towards r = 0: half the step until |r| is smaller.
static tal_status step_anywhere(tal_equilibrium *eq, double *size)
{
    const int n = eq->chart.na;
    tal_status st = solve_any(eq);
    if (st != TAL_OK) return st;
    *size = limit_step(eq);
    if (*size <= eq->def.accuracy) return TAL_OK;
    const double before = tali_array_dot(eq->r, eq->r, n);
    for (int tries = 0; tries < 40; ++tries) {
        st = forces_at(eq, eq->step, eq->r_plus);
        if (st != TAL_OK || tali_array_dot(eq->r_plus, eq->r_plus, n) < before) return st;
        for (int i = 0; i < n; ++i) {
            eq->step[i] *= 0.5;
        }
    }
    return fail(eq, "no step reduces the forces, however short");
}

// --- by KINSOL ---

static tal_status calc_slopes(void *context, const double a[], const double r[],
                              double *const columns[])
{
    (void)r;
    tal_equilibrium *eq = context;
    memcpy(eq->a, a, (size_t)eq->chart.na * sizeof *eq->a);
    tal_status st = TAL_OK;
    for (int j = 0; j < eq->chart.na && st == TAL_OK; ++j) {
        st = calc_slope(eq, eq->a, j, columns[j]);
    }
    memset(eq->a, 0, (size_t)eq->chart.nu * sizeof *eq->a);
    return st;
}

// A unit change of a force is what a unit of motion along K_a does; where that is nothing, what
// the stiffest does.
static void scale_for_kinsol(tal_equilibrium *eq)
{
    const int n = eq->chart.na;
    double stiffest = 0.0;
    for (int j = 0; j < n; ++j) {
        const double *K_a = eq->chart.K_a + (size_t)j * (size_t)eq->chart.nu;
        const double unit = tali_chart_unit(&eq->chart, eq->state, K_a);
        eq->scale_x[j] = 1.0 / unit;
        eq->scale_F[j] = unit * fabs(eq->K[(size_t)j * (size_t)(n + 1)]);
        stiffest = fmax(stiffest, eq->scale_F[j]);
    }
    for (int j = 0; j < n; ++j) {
        const double force = fmax(eq->scale_F[j], 1e-6 * stiffest);
        eq->scale_F[j] = force > 0.0 ? 1.0 / force : 1.0;
    }
}

// A root of r within the chart. KINSOL stops where round-off leaves no better place, so Newton's
// step from where the chart lies counts as well: charts follow until both are short.
static tal_status step_by_kinsol(tal_equilibrium *eq, double *size)
{
    tal_status st = solve_any(eq);
    if (st != TAL_OK) return st;
    const double newton = size_of_step(eq);
    memset(eq->step, 0, (size_t)eq->chart.nu * sizeof *eq->step);
    scale_for_kinsol(eq);
    const tali_sun_roots roots = {.self = eq,
                                  .n = eq->chart.na,
                                  .calc = calc_forces,
                                  .slopes = calc_slopes,
                                  .scale_x = eq->scale_x,
                                  .scale_F = eq->scale_F,
                                  .error = 1e-3 * eq->def.accuracy,
                                  .step = 1e-3 * eq->def.accuracy,
                                  .longest = 2.0 * sqrt((double)eq->chart.na + 1.0),
                                  .max_iterations = eq->def.max_iterations};
    int iterations = 0; // those of the search are charts
    st = tali_sun_kinsol_solve(eq->kinsol, &roots, eq->step, &iterations, &eq->error_record);
    if (st != TAL_OK) return st;
    eq->error_record = (tal_error){TAL_OK, "", ""}; // of steps that were too long
    const double moved = size_of_step(eq);
    *size = fmax(moved, newton);
    if (moved > 0.0 || newton <= eq->def.accuracy) return TAL_OK;
    return fail(eq, "KINSOL finds no step that reduces the forces");
}

// --- the search ---

// Speeds are zero except for those that no force decides on: prescribed ones move as prescribed,
// and where only udot is known, u continues.
static tal_status stop_motion(tal_equilibrium *eq)
{
    const tali_chart *chart = &eq->chart;
    double *u = tal_state_upd_u(eq->state);
    const int first = tal_group_start(chart->system, eq->state, chart->u_group);
    for (int i = 0; i < tal_state_nu(eq->state); ++i) {
        const bool is_ours = i >= first && i < first + chart->nu;
        if (!is_ours || !chart->is_known[i - first]) u[i] = 0.0;
    }
    tal_project_options options = tal_project_options_default();
    options.tolerance = eq->def.constraint_tolerance;
    tal_status st = tal_system_realize(chart->system, eq->state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_system_prescribe_u(chart->system, eq->state, NULL);
    if (st == TAL_OK) st = tal_system_realize(chart->system, eq->state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) {
        st = tal_system_project_u(chart->system, eq->state, &options, NULL, NULL);
    }
    return tali_chart_pass_on(&eq->chart, eq->state, st);
}

static tal_status lay(tal_equilibrium *eq)
{
    const tal_status st = tali_chart_lay(&eq->chart, eq->state);
    return st == TAL_OK ? tali_chart_lay_forced(&eq->chart, eq->state) : st;
}

static tal_status start_search(tal_equilibrium *eq, const tal_state *state)
{
    tali_chart *chart = &eq->chart;
    tal_status st = tal_state_copy(eq->state, state);
    if (st == TAL_OK) st = tal_system_realize(chart->system, eq->state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = tal_system_prescribe_q(chart->system, eq->state, NULL);
    if (st == TAL_OK) st = tal_system_realize(chart->system, eq->state, TAL_STAGE_POSITION);
    if (st != TAL_OK) return tali_chart_pass_on(chart, eq->state, st);
    st = tali_chart_check(chart, eq->state, TAL_POOL_QERR, eq->def.constraint_tolerance);
    if (st == TAL_OK) st = lay(eq); // which speeds are known
    return st == TAL_OK ? stop_motion(eq) : st;
}

// The chart where the State is, and nothing moved in it.
static tal_status begin_iteration(tal_equilibrium *eq)
{
    const tal_status st = lay(eq);
    const int nx = tali_chart_nx(&eq->chart);
    memset(eq->x, 0, (size_t)nx * sizeof *eq->x);
    memset(eq->a, 0, (size_t)eq->chart.nu * sizeof *eq->a);
    memset(eq->step, 0, (size_t)eq->chart.nu * sizeof *eq->step);
    return st == TAL_OK ? forces_here(eq, eq->r) : st;
}

// One iteration from where the State is; the State follows the step.
static tal_status iterate(tal_equilibrium *eq, double *shift, double *size)
{
    tal_status st = begin_iteration(eq);
    if (st == TAL_OK && eq->difference == 0.0) st = measure_stiffness(eq);
    if (st == TAL_OK) st = calc_stiffness(eq);
    if (st != TAL_OK) return st;
    if (eq->kinsol != NULL) {
        st = step_by_kinsol(eq, size);
    } else if (eq->def.kind == TAL_EQUILIBRIUM_STABLE) {
        st = step_downhill(eq, shift, size);
    } else {
        st = step_anywhere(eq, size);
    }
    return st == TAL_OK ? forces_at(eq, eq->step, eq->r) : st;
}

// Whether K + share times its errors is positive definite.
static bool is_stiff(tal_equilibrium *eq, double share)
{
    const int n = eq->chart.na;
    memcpy(eq->factor, eq->K, (size_t)n * (size_t)n * sizeof *eq->K);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            const double doubt = eq->K_error[(size_t)j * (size_t)n + (size_t)i];
            eq->factor[(size_t)j * (size_t)(n + 1)] += share * doubt;
        }
    }
    return tal_chol_factor(tal_matrix_view(eq->factor, n, n), NULL, NULL) == TAL_OK;
}

// Whether forces push back against every small motion. A stiffness that its error could make of
// nothing does not. KINSOL finds any root: one that no error explains as a stable one is refused
// where that is asked for.
static tal_status judge_stability(tal_equilibrium *eq, bool *is_stable)
{
    tal_status st = begin_iteration(eq);
    if (st == TAL_OK) st = measure_stiffness(eq);
    if (st != TAL_OK) return st;
    *is_stable = is_stiff(eq, -1.0);
    if (eq->kinsol != NULL && eq->def.kind == TAL_EQUILIBRIUM_STABLE && !*is_stable &&
        !is_stiff(eq, 1.0 + 1e-9)) {
        return TALI_FAIL(&eq->error_record, TAL_ERR_NO_CONVERGENCE,
                         "KINSOL found an equilibrium that is not stable: start nearer to a stable "
                         "one, use our own solver, or ask for any");
    }
    return forces_at(eq, eq->a, eq->r); // back from the differences
}

tal_status tal_equilibrium_find(tal_equilibrium *eq, tal_state *state, tal_rest *rest)
{
    if (eq == NULL) return TALI_BREACH(TAL_ERR_NULL, "the search is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    eq->error_record = (tal_error){TAL_OK, "", ""};
    tal_rest found = {.worst = TAL_GROUND};
    tal_status st = start_search(eq, state);
    double shift = 0.0, size = (double)INFINITY;
    eq->difference = 0.0;
    while (st == TAL_OK && size > eq->def.accuracy && found.iterations < eq->def.max_iterations) {
        st = iterate(eq, &shift, &size);
        ++found.iterations;
    }
    if (st != TAL_OK) return st;
    if (size > eq->def.accuracy) return fail(eq, "there were not enough iterations");
    judge(eq, &found);
    if (!is_at_rest(eq, found.udot)) return fail(eq, "no small motion reduces the forces");
    st = judge_stability(eq, &found.is_stable);
    if (st != TAL_OK) return st;
    judge(eq, &found); // of the State that is handed out
    if (rest != NULL) *rest = found;
    return tali_chart_pass_on(&eq->chart, state, tal_state_copy(state, eq->state));
}

tal_status tal_equilibrium_inverse_statics(tal_equilibrium *eq, const tal_state *state,
                                           const bool actuated[], double tau[],
                                           tal_actuation *actuation)
{
    if (eq == NULL) return TALI_BREACH(TAL_ERR_NULL, "the search is NULL");
    if (state == NULL || actuated == NULL || tau == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "a State or array is NULL");
    }
    eq->error_record = (tal_error){TAL_OK, "", ""};
    tali_chart *chart = &eq->chart;
    tal_status st = start_search(eq, state);
    if (st == TAL_OK) st = forces_here(eq, eq->r);
    if (st != TAL_OK) return st;
    // at rest, forces of the System push like -M (-udot): what gives -udot takes that away
    const double *udot = matter_udot(eq);
    for (int i = 0; i < chart->nu; ++i) {
        eq->x[i] = -udot[i];
    }
    st = tal_matter_actuator_forces(chart->matter, eq->state, eq->x, NULL, actuated, tau, actuation,
                                    eq->dense_work, eq->dense_iwork);
    return tali_chart_pass_on(chart, eq->state, st);
}
