// Polynomials in place of paths: poses are measured, and least squares does the rest.
//
// The argument q_i is scaled to x_i in [-1, 1]. Poses are drawn as cos(pi w) with w uniform, dense
// at both ends, where polynomials err most. Each pose gives one equation for the length and one for
// each slope dl/dx_i = half_i dl/dq_i, divided by the tolerances, so that both count alike.
#include "alloc_internal.h"

#include "path/bound_internal.h"
#include "path/terms_internal.h"
#include "problem/study_internal.h"

#include <talus/common/lapack.h>
#include <talus/study/path_fit.h>

#include <math.h>
#include <string.h>

enum {
    MAX_ARGS = TAL_FUNCTION_MAX_ARGS,
    MAX_TERMS = 1000,
    NUM_TESTS = 400
};

// A path and the range of poses.
typedef struct range {
    tali_fit_subject subject;
    tali_fit_bound *bound; // NULL: constraints are ignored
    tal_mobility at[MAX_ARGS];
    int n;
    double center[MAX_ARGS], half[MAX_ARGS];
} range;

// What was measured at poses: x, length, slopes along q; one row for each.
typedef struct poses {
    double *rows;
    int num, width;
} poses;

tal_path_fit_def tal_path_fit_def_default(void)
{
    const tal_path_fit_def def = {
        .length_tolerance = 0.5e-3, .arm_tolerance = 1e-3, .max_degree = 6, .max_terms = 500};
    return def;
}

static tal_status check_def(const tal_path_fit_def *def, tal_error *err)
{
    const bool is_close = def->length_tolerance > 0.0 && def->arm_tolerance > 0.0;
    if (!is_close) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the tolerances are %g and %g: they must be positive",
                         def->length_tolerance, def->arm_tolerance);
    }
    if (def->max_degree < 1 || def->max_degree > TAL_FUNCTION_MAX_POWER || def->max_terms < 2 ||
        def->max_terms > MAX_TERMS) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "the highest degree is %d with %d terms at most: there must be 1 to %d and "
            "2 to %d",
            def->max_degree, def->max_terms, TAL_FUNCTION_MAX_POWER, MAX_TERMS);
    }
    if (def->num_at >= 0 && (def->at != NULL || def->num_at == 0)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there are %d coordinates, and the list is %s",
                     def->num_at, def->at == NULL ? "NULL" : "given");
}

// --- arguments ---

static bool stands_still(const range *it, tal_mobility at, double low, double high)
{
    const bool is_speed = at.i < tal_body_nu(it->subject.matter, at.body);
    const tal_level level = is_speed
                                ? tal_mobility_lock_level(it->subject.matter, it->subject.state, at)
                                : TAL_LEVEL_FREE;
    return low == high || level == TAL_LEVEL_POSITION;
}

// Along constraints: whether a coordinate is to be an argument. One that the arguments before it
// determine is left out, or refused if it was asked for.
static tal_status take_if_independent(range *it, tal_mobility at, bool is_asked, bool *is_taken,
                                      tal_error *err)
{
    *is_taken = true;
    if (it->bound == NULL) return TAL_OK;
    const tal_status st = tali_fit_bound_check(it->bound, &it->subject, at, err);
    if (st != TAL_OK) return st;
    *is_taken = tali_fit_bound_add(it->bound, &it->subject, at);
    if (*is_taken || !is_asked) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "path '%s': coordinate %d of body '%s' follows from those before it by the "
                     "constraints: leave it out",
                     tal_path_name(it->subject.forces, it->subject.path), at.i,
                     tal_body_name(it->subject.matter, at.body));
}

// Take a coordinate as the next argument. With `is_asked` it must be able to move.
static tal_status take(range *it, tal_mobility at, bool is_asked, tal_error *err)
{
    const char *path = tal_path_name(it->subject.forces, it->subject.path);
    const char *body = tal_body_name(it->subject.matter, at.body);
    const int slot = tali_fit_slot(&it->subject, at);
    if (slot < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "path '%s': coordinate %d of body '%s' is part of a quaternion: use "
                         "angles",
                         path, at.i, body);
    }
    double low = 0.0, high = 0.0;
    (void)tal_body_range(it->subject.matter, it->subject.state, at.body, slot, &low, &high);
    if (!is_asked && stands_still(it, at, low, high)) return TAL_OK;
    bool is_taken = true;
    const tal_status st = take_if_independent(it, at, is_asked, &is_taken, err);
    if (st != TAL_OK || !is_taken) return st;
    if (!(isfinite(low) && isfinite(high) && low < high)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "path '%s': coordinate %d of body '%s' has the range %g to %g: give it a "
                         "finite one",
                         path, at.i, body, low, high);
    }
    if (it->n == MAX_ARGS) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "path '%s' depends on more than %d coordinates: name those that count",
                         path, MAX_ARGS);
    }
    it->at[it->n] = at;
    it->center[it->n] = 0.5 * (low + high);
    it->half[it->n++] = 0.5 * (high - low);
    return TAL_OK;
}

// Those that are asked for, or all that the path depends on and that move.
static tal_status choose_arguments(range *it, const tal_path_fit_def *def, tal_error *err)
{
    tal_mobility own[4 * MAX_ARGS];
    const int most = (int)(sizeof own / sizeof *own);
    const bool is_asked = def->num_at > 0;
    int n = is_asked ? def->num_at
                     : tal_path_coordinates(it->subject.forces, it->subject.path, own, most);
    if (n < 0) return tal_contract_last()->status;
    if (!is_asked && n > most) n = most;
    tal_status st = TAL_OK;
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        const tal_mobility at = is_asked ? def->at[k] : own[k];
        const bool is_there = at.body.i > 0 &&
                              at.body.i < tal_matter_num_bodies(it->subject.matter) && at.i >= 0 &&
                              at.i < tal_body_nq_angles(it->subject.matter, at.body);
        if (!is_there) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "there is no coordinate %d of body %d", at.i,
                             at.body.i);
        }
        st = take(it, at, is_asked, err);
    }
    if (st != TAL_OK || it->n > 0) return st;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "path '%s' depends on no coordinate that moves: its length is a number",
                     tal_path_name(it->subject.forces, it->subject.path));
}

// --- poses ---

// Put the arguments where x says; along constraints the other coordinates follow.
static tal_status move_to(const range *it, const double x[])
{
    double q[MAX_ARGS];
    tal_status st = TAL_OK;
    for (int i = 0; i < it->n; ++i) {
        q[i] = it->center[i] + it->half[i] * x[i];
    }
    if (it->bound != NULL) {
        return tali_fit_bound_move(it->bound, &it->subject, it->at, q, it->n);
    }
    for (int i = 0; i < it->n && st == TAL_OK; ++i) {
        st = tal_body_set_q(it->subject.matter, it->subject.state, it->at[i].body,
                            tali_fit_slot(&it->subject, it->at[i]), q[i]);
    }
    return st == TAL_OK
               ? tal_system_realize(it->subject.system, it->subject.state, TAL_STAGE_POSITION)
               : st;
}

// Length and slopes at the pose of the row's x.
static tal_status measure(const range *it, double row[], double g[])
{
    tal_status st = move_to(it, row);
    if (st != TAL_OK) return st;
    double *slopes = row + it->n + 1;
    row[it->n] = tal_path_length(it->subject.forces, it->subject.state, it->subject.path);
    if (it->bound != NULL) {
        return tali_fit_bound_slopes(it->bound, &it->subject, it->at, slopes, it->n);
    }
    st = tal_path_calc_generalized(it->subject.forces, it->subject.state, it->subject.path, g);
    for (int i = 0; i < it->n && st == TAL_OK; ++i) {
        st = tali_fit_calc_slope(&it->subject, g, it->at[i], &slopes[i]);
    }
    return st;
}

// Draw and measure poses: dense at the ends of the ranges, or evenly.
static tal_status draw(const range *it, const poses *to, tal_random *random, bool evenly,
                       double g[])
{
    tal_status st = TAL_OK;
    for (int k = 0; k < to->num && st == TAL_OK; ++k) {
        double *row = to->rows + (size_t)k * (size_t)to->width;
        for (int i = 0; i < it->n; ++i) {
            const double w = tal_random_uniform(random);
            row[i] = evenly ? 2.0 * w - 1.0 : -cos(TAL_PI * w);
        }
        st = measure(it, row, g);
    }
    return st;
}

// --- least squares ---

// Memory of a fit, for the highest degree.
typedef struct desk {
    poses given, tests;
    int *powers;
    double *A, *b, *c, *room, *g;
    int room_size;
    void *block;
    size_t bytes;
} desk;

static int num_poses_for(int terms)
{
    return 2 * terms + 50;
}

static bool set_up(desk *it, const range *over, int terms, const tal_allocator *allocator)
{
    const size_t n = (size_t)over->n, width = 2 * n + 1, num = (size_t)num_poses_for(terms);
    const size_t rows = num * (n + 1), nu = (size_t)tal_matter_nu(over->subject.matter);
    it->room_size = tal_lapack_least_squares_work_size((int)rows, terms, 1);
    it->given = (poses){.num = (int)num, .width = (int)width};
    it->tests = (poses){.num = NUM_TESTS, .width = (int)width};
    const tali_piece pieces[] = {
        {&it->given.rows, num * width * sizeof(double)},
        {&it->tests.rows, NUM_TESTS * width * sizeof(double)},
        {&it->powers, (size_t)terms * n * sizeof(int)},
        {&it->A, rows * (size_t)terms * sizeof(double)},
        {&it->b, rows * sizeof(double)},
        {&it->c, (size_t)terms * sizeof(double)},
        {&it->room, (size_t)(it->room_size + terms) * sizeof(double)},
        {&it->g, (nu + 1) * sizeof(double)},
    };
    it->block = tali_alloc_pieces(allocator, pieces, sizeof pieces / sizeof *pieces, &it->bytes);
    return it->block != NULL;
}

// The equations of one pose.
static void put_equations(const desk *it, const range *over, const tal_path_fit_def *def, int terms,
                          int pose, int rows)
{
    const int n = over->n;
    const double *row = it->given.rows + (size_t)pose * (size_t)it->given.width;
    for (int k = 0; k <= n; ++k) {
        const int at = pose * (n + 1) + k, by = k - 1;
        // dl/dx = half dl/dq, and a slope counts along q
        const double weight =
            k == 0 ? 1.0 / def->length_tolerance : 1.0 / (def->arm_tolerance * over->half[by]);
        tali_fit_calc_terms(it->powers, terms, n, row, by, it->A + at, rows);
        for (int j = 0; j < terms; ++j) {
            it->A[(size_t)at + (size_t)j * (size_t)rows] *= weight;
        }
        it->b[at] = weight * (k == 0 ? row[n] : over->half[by] * row[n + k]);
    }
}

// The polynomial of one degree.
static tal_status solve(desk *it, const range *over, const tal_path_fit_def *def, int degree,
                        tal_function **out, tal_error *err)
{
    const int n = over->n, terms = tali_fit_num_terms(n, degree);
    const int num = num_poses_for(terms), rows = num * (n + 1);
    tali_fit_list_terms(n, degree, it->powers);
    for (int pose = 0; pose < num; ++pose) {
        put_equations(it, over, def, terms, pose, rows);
    }
    const tal_status st =
        tal_lapack_least_squares(tal_matrix_view(it->A, rows, terms),
                                 tal_matrix_view(it->b, rows, 1), it->room, it->room_size, err);
    if (st != TAL_OK) return st;
    memcpy(it->c, it->b, (size_t)terms * sizeof *it->c);
    tali_fit_unscale(it->powers, terms, n, over->center, over->half, it->c, it->room);
    const tal_allocator allocator = tal_system_allocator(over->subject.system);
    return tal_function_create_multivariate_polynomial(&allocator, it->c, it->powers, terms, n, out,
                                                       err);
}

// --- errors ---

// Errors of a fit at the poses that took no part in it.
static void judge(const desk *it, const range *over, const tal_path_fit_def *def, tal_path_fit *fit)
{
    const int n = over->n;
    double length2 = 0.0, arm2 = 0.0;
    for (int k = 0; k < it->tests.num; ++k) {
        const double *row = it->tests.rows + (size_t)k * (size_t)it->tests.width;
        double q[MAX_ARGS];
        for (int i = 0; i < n; ++i) {
            q[i] = over->center[i] + over->half[i] * row[i];
        }
        const double off = fabs(tal_function_calc_value(fit->length, q, n) - row[n]);
        length2 += off * off;
        fit->length_max = fmax(fit->length_max, off);
        for (int i = 0; i < n; ++i) {
            const double slope = tal_function_calc_derivative(fit->length, q, n, &i, 1);
            const double by = fabs(slope - row[n + 1 + i]);
            arm2 += by * by;
            fit->arm_max = fmax(fit->arm_max, by);
        }
    }
    fit->length_rms = sqrt(length2 / it->tests.num);
    fit->arm_rms = sqrt(arm2 / ((double)it->tests.num * n));
    fit->is_within = fit->length_rms <= def->length_tolerance && fit->arm_rms <= def->arm_tolerance;
}

// How bad a fit is: 1 where the worse of both errors is at its tolerance.
static double badness(const tal_path_fit *fit, const tal_path_fit_def *def)
{
    return fmax(fit->length_rms / def->length_tolerance, fit->arm_rms / def->arm_tolerance);
}

// Raise the degree until the fit is good enough; keep the best.
static tal_status climb(desk *it, const range *over, const tal_path_fit_def *def, int highest,
                        tal_path_fit *fit, tal_error *err)
{
    for (int degree = 1; degree <= highest && !fit->is_within; ++degree) {
        tal_path_fit next = {.path = over->subject.path,
                             .num_at = over->n,
                             .degree = degree,
                             .num_terms = tali_fit_num_terms(over->n, degree)};
        next.num_poses = num_poses_for(next.num_terms);
        memcpy(next.at, over->at, sizeof next.at);
        const tal_status st = solve(it, over, def, degree, &next.length, err);
        if (st != TAL_OK) return st;
        judge(it, over, def, &next);
        const bool is_better =
            fit->length == NULL || next.is_within || badness(&next, def) < badness(fit, def);
        tal_function_destroy(is_better ? fit->length : next.length);
        if (is_better) *fit = next;
    }
    return TAL_OK;
}

static int highest_degree(int n, const tal_path_fit_def *def)
{
    int degree = def->max_degree;
    while (degree > 1 && tali_fit_num_terms(n, degree) > def->max_terms) {
        --degree;
    }
    return degree;
}

static tal_status fit_over(const range *over, const tal_path_fit_def *def, tal_path_fit *fit,
                           tal_error *err)
{
    const tal_allocator allocator = tal_system_allocator(over->subject.system);
    const int highest = highest_degree(over->n, def);
    desk it = {.block = NULL};
    if (!set_up(&it, over, tali_fit_num_terms(over->n, highest), &allocator)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a fit to path '%s'",
                         tal_path_name(over->subject.forces, over->subject.path));
    }
    tal_random random = {.seed = def->seed};
    tal_status st = draw(over, &it.given, &random, false, it.g);
    if (st == TAL_OK) st = draw(over, &it.tests, &random, true, it.g);
    if (st != TAL_OK) {
        (void)TALI_FAIL(err, st, "path '%s' at a pose within the ranges: %s",
                        tal_path_name(over->subject.forces, over->subject.path),
                        tali_problem_reason(over->subject.state, st));
    }
    if (st == TAL_OK) st = climb(&it, over, def, highest, fit, err);
    tali_free(&allocator, it.block, it.bytes);
    return st;
}

// --- all together ---

tal_status tal_path_find_fit(const tal_system *system, const tal_forces *forces,
                             const tal_state *start, tal_path_ix path, const tal_path_fit_def *def,
                             tal_path_fit *fit, tal_error *err)
{
    const tal_path_fit_def usual = tal_path_fit_def_default();
    const tal_path_fit_def *how = def != NULL ? def : &usual;
    if (fit == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "fit is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "fit is NULL");
    }
    *fit = (tal_path_fit){.path = path};
    range it = {.n = 0};
    tali_fit_bound bound = {.assembler = NULL};
    if (how->along_constraints) it.bound = &bound;
    tal_status st = tali_fit_begin(system, forces, start, path, __func__, &it.subject, err);
    if (st == TAL_OK) st = check_def(how, err);
    if (st == TAL_OK && it.bound != NULL) st = tali_fit_bound_begin(&bound, &it.subject, err);
    if (st == TAL_OK) st = choose_arguments(&it, how, err);
    if (st == TAL_OK) st = fit_over(&it, how, fit, err);
    if (st != TAL_OK) {
        tal_function_destroy(fit->length);
        fit->length = NULL;
    }
    tali_fit_bound_end(&bound, system);
    tal_state_destroy(it.subject.state);
    return st;
}
