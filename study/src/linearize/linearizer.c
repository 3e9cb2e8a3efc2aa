// Linearization about a State, exactly or by extrapolated differences, and its modes.
#include "finite_internal.h"

#include "linearize/chart_internal.h"
#include "linearize/exact_slopes_internal.h"
#include "linearize/slope_internal.h"
#include "problem/study_internal.h"

#include <talus/study/linearizer.h>

#include <float.h>
#include <math.h>
#include <string.h>

// Eigenvalues are useless if their error is above this part of the fastest one,
static const double LARGEST_PART = 0.4;
// unless it changes nothing in the time scale of the System: times that, this is nothing.
static const double NO_CHANGE = 1e-3;

struct tal_linearizer {
    tal_linearizer_def def;
    tali_chart chart;
    tali_slope_exact exact;
    tal_state *state; // moved about
    int max_nx;
    bool has_run;
    int num_modes;

    void *block;
    size_t block_bytes;
    double *A, *B, *rates;
    double *A_error; // how far each entry of A may be off
    double *x;
    tali_slope slope; // a column of A
    double *eig_A, *wr, *wi, *vectors, *work, *imaginary;
    double *left;                  // left eigenvectors
    double *mode_error;            // [nx] how far each eigenvalue may be off
    double *forces, *udot, *udot0; // of B
    double *dense_work;
    int *dense_iwork;
    int *order; // modes by |lambda|
    tal_error error_record;
};

// --- creation ---

// Differences of a hundredth of it would vanish beside coordinates of size one.
static const double LEAST_STEP = 1e-12;

tal_linearizer_def tal_linearizer_def_default(void)
{
    return (tal_linearizer_def){.step = 0.01};
}

enum {
    OWN_PIECES = 19,
    PIECES = OWN_PIECES + TALI_SLOPE_PIECES
};

// One block for all arrays of a linearizer, sized by the System.
static tal_status take_memory(tal_linearizer *lin, tal_error *err)
{
    const tal_matter *matter = lin->chart.matter;
    const size_t d = sizeof(double), nx = (size_t)lin->max_nx, nu = (size_t)lin->chart.nu;
    const size_t dense = tal_matter_dense_work_size(matter, lin->state);
    const size_t dense_ints = tal_matter_dense_iwork_size(matter, lin->state);
    tali_piece pieces[PIECES] = {
        {&lin->A, nx * nx * d},
        {&lin->A_error, nx * nx * d},
        {&lin->B, nx * nu * d},
        {&lin->rates, nx * d},
        {&lin->x, nx * d},
        {&lin->left, nx * nx * d},
        {&lin->mode_error, nx * d},
        {&lin->eig_A, nx * nx * d},
        {&lin->wr, nx * d},
        {&lin->wi, nx * d},
        {&lin->vectors, nx * nx * d},
        {&lin->imaginary, nx * nx * d},
        {&lin->work, (size_t)tal_lapack_eig_work_size(lin->max_nx) * d},
        {&lin->forces, nu * d},
        {&lin->udot, nu * d},
        {&lin->udot0, nu * d},
        {&lin->dense_work, dense * d},
        {&lin->dense_iwork, dense_ints * sizeof(int)},
        {&lin->order, nx * sizeof(int)},
    };
    tali_slope_list_room(&lin->slope, nx, pieces + OWN_PIECES);
    lin->block = tali_alloc_pieces(&lin->chart.allocator, pieces, PIECES, &lin->block_bytes);
    if (lin->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a linearizer's workspace");
    }
    return TAL_OK;
}

static tal_status set_up(tal_linearizer *lin, const tal_system *system, tal_error *err)
{
    tal_status st = tali_chart_create(&lin->chart, system, err);
    if (st == TAL_OK) st = tal_state_create(system, &lin->state, err);
    if (st != TAL_OK) return st;
    st = tal_system_realize(system, lin->state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) return tali_chart_pass_on(&lin->chart, lin->state, st);
    lin->max_nx = 2 * lin->chart.nu + tal_system_pool_capacity(system, TAL_POOL_Z);
    st = take_memory(lin, err);
    if (st == TAL_OK) st = tali_slope_exact_create(&lin->exact, &lin->chart, err);
    lin->chart.err = &lin->error_record;
    return st;
}

tal_status tal_linearizer_create(const tal_system *system, const tal_linearizer_def *def,
                                 tal_linearizer **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    const tal_linearizer_def chosen = def != NULL ? *def : tal_linearizer_def_default();
    if (!(chosen.step >= LEAST_STEP && chosen.step < 1.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "step is %g: it must be between %g and 1",
                         chosen.step, LEAST_STEP);
    }
    const tal_allocator allocator = tal_system_allocator(system);
    tal_linearizer *lin = tali_alloc(&allocator, sizeof *lin);
    if (lin == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a linearizer");
    lin->def = chosen;
    lin->chart.allocator = allocator;
    st = set_up(lin, system, err);
    if (st != TAL_OK) {
        tal_linearizer_destroy(lin);
        return st;
    }
    *out = lin;
    return TAL_OK;
}

void tal_linearizer_destroy(tal_linearizer *lin)
{
    if (lin == NULL) return;
    const tal_allocator allocator = lin->chart.allocator;
    tali_free(&allocator, lin->block, lin->block_bytes);
    tali_slope_exact_destroy(&lin->exact);
    tal_state_destroy(lin->state);
    tali_chart_destroy(&lin->chart);
    tali_free(&allocator, lin, sizeof *lin);
}

const tal_error *tal_linearizer_error(const tal_linearizer *lin)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_linearizer_error", "the linearizer is NULL"};
    return lin != NULL ? &lin->error_record : &none;
}

// --- A ---

// What counts as a unit of x_i: 1 / W_u along a basis vector, 1 / W_z.
static double unit_of(const tal_linearizer *lin, const tal_state *state, int i)
{
    const tali_chart *chart = &lin->chart;
    const int motions = chart->ns + chart->nv;
    if (i >= motions) return 1.0 / tal_state_weights(state, TAL_POOL_Z)[i - motions];
    return tali_chart_unit(chart, state,
                           i < chart->ns
                               ? chart->K_p + (size_t)i * (size_t)chart->nu
                               : chart->K_v + (size_t)(i - chart->ns) * (size_t)chart->nu);
}

static tal_status calc_rates(void *context, const double x[], double rates[])
{
    tal_linearizer *lin = context;
    tal_status st = tali_chart_put(&lin->chart, lin->state, x);
    if (st == TAL_OK) st = tali_chart_rates(&lin->chart, lin->state, rates);
    if (st == TAL_OK && !tali_finite_all(rates, tali_chart_nx(&lin->chart))) {
        return TALI_FAIL(&lin->error_record, TAL_ERR_NOT_FINITE,
                         "an acceleration near the State is not finite");
    }
    return st;
}

// A by exact derivatives; false where it has to be found by differences.
static bool calc_exact_A(tal_linearizer *lin)
{
    tali_chart *chart = &lin->chart;
    tal_status st = tali_chart_put(chart, lin->state, lin->x);
    if (st == TAL_OK) st = tal_system_realize(chart->system, lin->state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK || !tali_slope_exact_apply(&lin->exact, lin->state)) return false;
    st = tali_slope_exact_find(&lin->exact, lin->state, lin->A, lin->A_error);
    if (st != TAL_OK) tal_state_clear_error(lin->state);
    return st == TAL_OK;
}

// Columns of A: slopes of the rates along each coordinate.
static tal_status calc_A(tal_linearizer *lin)
{
    tali_chart *chart = &lin->chart;
    const int nx = tali_chart_nx(chart);
    tali_slope *slope = &lin->slope;
    slope->calc = calc_rates;
    slope->context = lin;
    slope->here = lin->rates;
    slope->n = nx;
    slope->num_ranges = 3;
    slope->ends[0] = chart->ns;
    slope->ends[1] = chart->ns + chart->nv;
    slope->ends[2] = nx;
    tal_status st = TAL_OK;
    for (int i = 0; i < nx && st == TAL_OK; ++i) {
        const double H = lin->def.step * unit_of(lin, lin->state, i);
        const double size = tali_chart_size(chart, lin->state, i);
        const size_t column = (size_t)i * (size_t)nx;
        st = tali_slope_along(slope, lin->x, i, H, size, lin->A + column, lin->A_error + column,
                              NULL);
    }
    // a longer step than was needed may have failed
    if (st == TAL_OK) lin->error_record = (tal_error){TAL_OK, "", ""};
    return st;
}

// --- B ---

// udot is linear in the forces: what a unit force adds.
static tal_status calc_B(tal_linearizer *lin)
{
    tali_chart *chart = &lin->chart;
    const int nx = tali_chart_nx(chart), nu = chart->nu;
    memset(lin->B, 0, (size_t)nx * (size_t)nu * sizeof *lin->B);
    memset(lin->forces, 0, (size_t)nu * sizeof *lin->forces);
    const tal_solve_way way = tal_matter_solve_way(chart->matter);
    tal_status st =
        tal_matter_solve_constrained(chart->matter, lin->state, way, NULL, lin->forces, lin->udot0,
                                     NULL, lin->dense_work, lin->dense_iwork);
    for (int j = 0; j < nu && st == TAL_OK; ++j) {
        lin->forces[j] = 1.0;
        st = tal_matter_solve_constrained(chart->matter, lin->state, way, NULL, lin->forces,
                                          lin->udot, NULL, lin->dense_work, lin->dense_iwork);
        lin->forces[j] = 0.0;
        for (int i = 0; i < nu; ++i) {
            lin->udot[i] -= lin->udot0[i];
        }
        tali_chart_reduce(chart, lin->udot, lin->B + (size_t)j * (size_t)nx + chart->ns);
    }
    return tali_chart_pass_on(chart, lin->state, st);
}

// What is off by more than this was never assembled; an integrator leaves a hundredth of its
// accuracy.
static const double CONSTRAINT_TOLERANCE = 1e-3;

static tal_status check_constraints(tal_linearizer *lin)
{
    tali_chart *chart = &lin->chart;
    const tal_status st = tal_system_realize(chart->system, lin->state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_chart_pass_on(chart, lin->state, st);
    const tal_status at = tali_chart_check(chart, lin->state, TAL_POOL_QERR, CONSTRAINT_TOLERANCE);
    return at != TAL_OK ? at
                        : tali_chart_check(chart, lin->state, TAL_POOL_UERR, CONSTRAINT_TOLERANCE);
}

tal_status tal_linearizer_run(tal_linearizer *lin, const tal_state *state)
{
    if (lin == NULL) return TALI_BREACH(TAL_ERR_NULL, "the linearizer is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    lin->error_record = (tal_error){TAL_OK, "", ""};
    lin->has_run = false;
    lin->num_modes = 0;
    tal_status st = tal_state_copy(lin->state, state);
    if (st != TAL_OK) return tali_chart_pass_on(&lin->chart, lin->state, st);
    st = check_constraints(lin);
    if (st == TAL_OK) st = tali_chart_lay(&lin->chart, lin->state);
    const int nx = st == TAL_OK ? tali_chart_nx(&lin->chart) : 0;
    memset(lin->x, 0, (size_t)nx * sizeof *lin->x);
    if (st == TAL_OK) st = calc_rates(lin, lin->x, lin->rates);
    if (st == TAL_OK && !calc_exact_A(lin)) st = calc_A(lin);
    if (st == TAL_OK) st = tali_chart_put(&lin->chart, lin->state, lin->x);
    if (st == TAL_OK) st = calc_B(lin);
    lin->has_run = st == TAL_OK;
    return st;
}

// --- modes ---

static double size_of(const tal_linearizer *lin, int i)
{
    return hypot(lin->wr[i], lin->wi[i]);
}

// Ascending by |lambda|; neighbors stay in order, so that pairs stay together.
static void sort_modes(tal_linearizer *lin, int nx)
{
    for (int i = 0; i < nx; ++i) {
        int at = i;
        while (at > 0 && size_of(lin, lin->order[at - 1]) > size_of(lin, i)) {
            lin->order[at] = lin->order[at - 1];
            --at;
        }
        lin->order[at] = i;
    }
}

// Columns j and j + 1 of a pair are real and imaginary part (::tal_eig).
static void split_shapes(tal_linearizer *lin, int nx)
{
    const size_t n = (size_t)nx, bytes = n * sizeof(double);
    for (size_t j = 0; j < n; ++j) {
        double *re = lin->vectors + j * n, *im = lin->imaginary + j * n;
        if (lin->wi[j] == 0.0) {
            memset(im, 0, bytes);
            continue;
        }
        memcpy(im, re + n, bytes);
        memcpy(re + n, re, bytes);
        for (size_t i = 0; i < n; ++i) {
            im[n + i] = -im[i];
        }
        ++j;
    }
}

// sum |y_k| (E |x| + |A x - lambda x|)_k: the errors of A, and what LAPACK leaves.
static double error_along(const tal_linearizer *lin, size_t j, const double y_re[],
                          const double y_im[])
{
    const size_t n = (size_t)tali_chart_nx(&lin->chart);
    const double *re = lin->vectors + j * n, *im = lin->imaginary + j * n;
    double sum = 0.0;
    for (size_t k = 0; k < n; ++k) {
        double r_re = lin->wi[j] * im[k] - lin->wr[j] * re[k];
        double r_im = -lin->wi[j] * re[k] - lin->wr[j] * im[k];
        double error = 0.0;
        for (size_t l = 0; l < n; ++l) {
            r_re += lin->A[l * n + k] * re[l];
            r_im += lin->A[l * n + k] * im[l];
            error += lin->A_error[l * n + k] * hypot(re[l], im[l]);
        }
        sum += hypot(y_re[k], y_im != NULL ? y_im[k] : 0.0) * (error + hypot(r_re, r_im));
    }
    return sum;
}

// To first order y^H dA x / y^H x. Where that is larger than the eigenvalue, it is one of two that
// were equal and have parted, as those of a body that nothing holds: lambda^2 = e, and y^H x goes
// with lambda. Then they part with the root of the error.
static double mode_error(double size, double along, double yx)
{
    if (along == 0.0) return 0.0;
    const double first = yx > 0.0 ? along / yx : (double)INFINITY;
    if (first <= size) return first;
    const double second = size > 0.0 ? sqrt(2.0 * size) * sqrt(first) : 0.0;
    return fmin(first, fmax(fmax(size, second), sqrt(along)));
}

// How far each eigenvalue may be off. The second of a pair has the error of the first.
static void calc_mode_errors(tal_linearizer *lin)
{
    const size_t n = (size_t)tali_chart_nx(&lin->chart);
    for (size_t j = 0; j < n; ++j) {
        const bool is_pair = lin->wi[j] != 0.0;
        const double *y_re = lin->left + j * n, *y_im = is_pair ? y_re + n : NULL;
        const double *re = lin->vectors + j * n, *im = lin->imaginary + j * n;
        double yx_re = 0.0, yx_im = 0.0;
        for (size_t k = 0; k < n; ++k) {
            yx_re += y_re[k] * re[k] + (is_pair ? y_im[k] * im[k] : 0.0);
            yx_im += y_re[k] * im[k] - (is_pair ? y_im[k] * re[k] : 0.0);
        }
        lin->mode_error[j] =
            mode_error(size_of(lin, (int)j), error_along(lin, j, y_re, y_im), hypot(yx_re, yx_im));
        if (is_pair) lin->mode_error[j + 1] = lin->mode_error[j];
        j += is_pair;
    }
}

// When not even the fastest mode is known, no number here means anything: an entry of A that may be
// zero or twice as large, as a stiffness where a contact sets in, moves it by half. Modes that are
// slow on the scale of the System may well be round-off.
static tal_status check_fastest(tal_linearizer *lin, int nx)
{
    double fastest = 0.0, error = 0.0;
    for (int j = 0; j < nx; ++j) {
        if (size_of(lin, j) + lin->mode_error[j] < fastest) continue;
        fastest = size_of(lin, j) + lin->mode_error[j];
        error = lin->mode_error[j];
    }
    const double t_c = tal_system_time_scale(lin->chart.system);
    if (error <= LARGEST_PART * (fastest - error) || error * t_c < NO_CHANGE) return TAL_OK;
    return TALI_FAIL(&lin->error_record, TAL_ERR_NO_CONVERGENCE,
                     "the eigenvalues have an error of %g, and the largest is %g: accelerations "
                     "jump, or change too fast for differences, near this State",
                     error, fastest - error);
}

tal_status tal_linearizer_find_modes(tal_linearizer *lin)
{
    if (lin == NULL) return TALI_BREACH(TAL_ERR_NULL, "the linearizer is NULL");
    lin->error_record = (tal_error){TAL_OK, "", ""};
    if (!lin->has_run) {
        return TALI_FAIL(&lin->error_record, TAL_ERR_BAD_VALUE,
                         "call tal_linearizer_run() before tal_linearizer_find_modes()");
    }
    const int nx = tali_chart_nx(&lin->chart);
    lin->num_modes = 0;
    if (nx == 0) return TAL_OK;
    memcpy(lin->eig_A, lin->A, (size_t)nx * (size_t)nx * sizeof(double));
    const tal_eig eig = {lin->wr, lin->wi, tal_matrix_view(lin->left, nx, nx),
                         tal_matrix_view(lin->vectors, nx, nx)};
    const tal_status st = tal_lapack_eig(tal_matrix_view(lin->eig_A, nx, nx), &eig, lin->work,
                                         tal_lapack_eig_work_size(lin->max_nx), &lin->error_record);
    if (st != TAL_OK) return st;
    split_shapes(lin, nx);
    calc_mode_errors(lin);
    const tal_status known = check_fastest(lin, nx);
    if (known != TAL_OK) return known;
    sort_modes(lin, nx);
    lin->num_modes = nx;
    return TAL_OK;
}

// --- answers ---

tal_linear_sizes tal_linearizer_sizes(const tal_linearizer *lin)
{
    if (lin == NULL || !lin->has_run) return (tal_linear_sizes){0, 0, 0};
    return (tal_linear_sizes){lin->chart.ns, lin->chart.nv, lin->chart.nz};
}

static int nx_of(const tal_linearizer *lin)
{
    return lin != NULL && lin->has_run ? tali_chart_nx(&lin->chart) : 0;
}

tal_matrix tal_linearizer_A(const tal_linearizer *lin)
{
    const int nx = nx_of(lin);
    return tal_matrix_view(nx > 0 ? lin->A : NULL, nx, nx);
}

tal_matrix tal_linearizer_A_error(const tal_linearizer *lin)
{
    const int nx = nx_of(lin);
    return tal_matrix_view(nx > 0 ? lin->A_error : NULL, nx, nx);
}

tal_matrix tal_linearizer_B(const tal_linearizer *lin)
{
    const int nx = nx_of(lin);
    return tal_matrix_view(nx > 0 ? lin->B : NULL, nx, nx > 0 ? lin->chart.nu : 0);
}

const double *tal_linearizer_rates(const tal_linearizer *lin)
{
    return nx_of(lin) > 0 ? lin->rates : NULL;
}

tal_matrix tal_linearizer_K_p(const tal_linearizer *lin)
{
    const tal_linear_sizes sizes = tal_linearizer_sizes(lin);
    if (sizes.ns == 0) return tal_matrix_view(NULL, 0, 0);
    return tal_matrix_view(lin->chart.K_p, lin->chart.nu, sizes.ns);
}

tal_matrix tal_linearizer_K_v(const tal_linearizer *lin)
{
    const tal_linear_sizes sizes = tal_linearizer_sizes(lin);
    if (sizes.nv == 0) return tal_matrix_view(NULL, 0, 0);
    return tal_matrix_view(lin->chart.K_v, lin->chart.nu, sizes.nv);
}

int tal_linearizer_num_modes(const tal_linearizer *lin)
{
    return lin != NULL ? lin->num_modes : 0;
}

tal_mode tal_linearizer_mode(const tal_linearizer *lin, int i)
{
    if (lin == NULL || i < 0 || i >= lin->num_modes) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "mode %d does not exist", i);
        return (tal_mode){TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, NULL, NULL};
    }
    const int j = lin->order[i];
    const size_t column = (size_t)j * (size_t)tali_chart_nx(&lin->chart);
    const double size = size_of(lin, j), two_pi = 2.0 * TAL_PI;
    return (tal_mode){lin->wr[j],
                      lin->wi[j],
                      fabs(lin->wi[j]) / two_pi,
                      size > 0.0 ? -lin->wr[j] / size : 0.0,
                      lin->mode_error[j],
                      lin->vectors + column,
                      lin->imaginary + column};
}

tal_status tal_linearizer_mode_shape(const tal_linearizer *lin, int i, double re[], double im[])
{
    if (lin == NULL || re == NULL || im == NULL) return TALI_BREACH(TAL_ERR_NULL, "a NULL");
    if (i < 0 || i >= lin->num_modes) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "mode %d does not exist", i);
    }
    const tal_mode mode = tal_linearizer_mode(lin, i);
    tali_chart_expand(&lin->chart, mode.shape_re, re);
    tali_chart_expand(&lin->chart, mode.shape_im, im);
    return TAL_OK;
}
