// Sensitivities of a trajectory: the steps of a Runge-Kutta method, differentiated.
//
// A parameter p is moved in units of its size, so that one direction is (Y', 1) in (y, p) and no
// part of it is far larger than the others.
#include "problem/problem_internal.h"
#include "problem/study_internal.h"

#include <talus/study/sensitivity.h>

#include <math.h>
#include <string.h>

struct tal_sensitivity {
    tali_problem problem;
    tali_problem_slopes slopes;
    tal_parameter *parameters; // [np]
    int np, ny;
    const tal_rk_tableau *tableau;
    double step;
    bool has_run;
    bool needs_projection; // constraints, quaternions, or what is prescribed
    uint64_t realizations;
    tal_state *moved;

    void *block;
    size_t block_bytes;
    double *values, *scales;             // [np]
    bool *is_start;                      // [np] rates do not depend on it
    bool *known_u;                       // [nu]
    double *e;                           // [ny] for tali_problem_scale, not used
    double *y0, *Y, *room, *sum, *along; // [ny]
    double *k;                           // [stages][ny]
    double *S;                           // [np][ny] scaled
    double *kS;                          // [stages][np][ny]
    double *J;                           // [ny][ny]
    double **columns;                    // [ny] of J
};

// --- creation ---

tal_sensitivity_def tal_sensitivity_def_default(void)
{
    return (tal_sensitivity_def){.step = 0.01};
}

static tal_status check_def(const tal_sensitivity_def *def, tal_error *err)
{
    if (def->num_parameters < 1 || def->parameters == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "there are %d parameters: at least one is needed, and their array",
                         def->num_parameters);
    }
    for (int i = 0; i < def->num_parameters; ++i) {
        if (def->parameters[i].set != NULL) continue;
        return TALI_FAIL(err, TAL_ERR_NULL, "parameter %d has no `set`", i);
    }
    if (!(def->step > 0.0 && isfinite(def->step))) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "step is %g: it must be positive and finite",
                         def->step);
    }
    return def->tableau == NULL ? TAL_OK : tal_rk_check(def->tableau, err);
}

// One block for all arrays, and what exact Jacobians need.
static bool take_memory(tal_sensitivity *it)
{
    const tal_system *system = it->problem.system;
    const size_t np = (size_t)it->np, s = (size_t)it->tableau->stages, d = sizeof(double);
    const size_t nu = (size_t)tal_system_pool_capacity(system, TAL_POOL_U);
    const size_t ny = (size_t)tal_system_pool_capacity(system, TAL_POOL_Q) + nu +
                      (size_t)tal_system_pool_capacity(system, TAL_POOL_Z);
    const tali_piece pieces[] = {{&it->parameters, np * sizeof *it->parameters},
                                 {&it->values, np * d},
                                 {&it->scales, np * d},
                                 {&it->is_start, np * sizeof *it->is_start},
                                 {&it->known_u, nu * sizeof *it->known_u},
                                 {&it->e, ny * d},
                                 {&it->y0, ny * d},
                                 {&it->Y, ny * d},
                                 {&it->room, ny * d},
                                 {&it->sum, ny * d},
                                 {&it->along, ny * d},
                                 {&it->k, s * ny * d},
                                 {&it->S, np * ny * d},
                                 {&it->kS, s * np * ny * d},
                                 {&it->J, ny * ny * d},
                                 {&it->columns, ny * sizeof *it->columns}};
    it->block = tali_alloc_pieces(&it->problem.allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL && tali_problem_slopes_create(&it->slopes, &it->problem);
}

static void copy_parameters(tal_sensitivity *it, const tal_sensitivity_def *def)
{
    const tal_parameter q = tal_parameter_q("", NULL, TAL_GROUND, 0);
    const tal_parameter u = tal_parameter_u("", NULL, TAL_GROUND, 0);
    for (int i = 0; i < it->np; ++i) {
        it->parameters[i] = def->parameters[i];
        it->is_start[i] = def->parameters[i].set == q.set || def->parameters[i].set == u.set;
    }
}

tal_status tal_sensitivity_create(const tal_system *system, const tal_sensitivity_def *def,
                                  tal_sensitivity **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    const tal_sensitivity_def chosen = def != NULL ? *def : tal_sensitivity_def_default();
    st = check_def(&chosen, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_sensitivity *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for sensitivities");
    const tal_integrator_def integrator = tal_integrator_def_default();
    *it = (tal_sensitivity){.problem = tali_problem_of(system, &integrator)};
    it->problem.realizations = &it->realizations;
    it->np = chosen.num_parameters;
    it->tableau = chosen.tableau != NULL ? chosen.tableau : tal_rk_dormand_prince();
    it->step = chosen.step;
    st = tal_state_create(system, &it->moved, err);
    if (st == TAL_OK && !take_memory(it)) {
        st = TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for sensitivities");
    }
    if (st != TAL_OK) {
        tal_sensitivity_destroy(it);
        return st;
    }
    copy_parameters(it, &chosen);
    *out = it;
    return TAL_OK;
}

void tal_sensitivity_destroy(tal_sensitivity *it)
{
    if (it == NULL) return;
    const tal_allocator allocator = it->problem.allocator;
    tali_problem_slopes_destroy(&it->slopes, &allocator);
    tali_free(&allocator, it->block, it->block_bytes);
    tal_state_destroy(it->moved);
    tali_free(&allocator, it, sizeof *it);
}

const tal_error *tal_sensitivity_error(const tal_sensitivity *it)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_sensitivity_error", "the study is NULL"};
    return it != NULL ? &it->problem.error_record : &none;
}

// --- moving a State along (y, p) ---

static tal_status set_parameter(tal_sensitivity *it, tal_state *state, int p, double value)
{
    const tal_parameter *parameter = &it->parameters[p];
    const tal_status st = parameter->set(parameter, it->problem.system, state, value);
    return tali_problem_pass_on(&it->problem, state, st);
}

// As near to the constraints as round-off lets it come: one more step of Newton's method than is
// needed for 1e-8 squares that.
static tal_status project_closely(tal_sensitivity *it, tal_state *state)
{
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-8;
    tal_status st = TAL_OK;
    for (int pass = 0; pass < 2 && st == TAL_OK; ++pass) {
        options.even_if_met = pass == 1;
        st = tali_problem_project_by(&it->problem, state, &options, NULL);
    }
    return st;
}

enum {
    NUM_POINTS = 4
};

// Differences (4 D(h/2) - D(h)) / 3 with the central difference D, off by h^4 and by 3 eps / h.
static const double STEP = 1e-3;
static const double AT[NUM_POINTS] = {-1.0, -0.5, 0.5, 1.0};
static const double WEIGHT[NUM_POINTS] = {1.0 / 6.0, -4.0 / 3.0, 4.0 / 3.0, -1.0 / 6.0};

static double step_along(const double along[], int n)
{
    double size = 1.0;
    for (int i = 0; i < n; ++i) {
        size = fmax(size, fabs(along[i]));
    }
    return STEP / size;
}

/// What is found at a moved State: [ny] numbers.
typedef tal_status (*value_fn)(tal_sensitivity *it, tal_state *state, double t, const double y[],
                               double out[]);

static tal_status rates_at(tal_sensitivity *it, tal_state *state, double t, const double y[],
                           double out[])
{
    return tali_problem_rates(&it->problem, state, t, y, out);
}

static tal_status projected_at(tal_sensitivity *it, tal_state *state, double t, const double y[],
                               double out[])
{
    tal_status st = tali_problem_put(&it->problem, state, t, y);
    if (st == TAL_OK) st = project_closely(it, state);
    if (st == TAL_OK) memcpy(out, tal_state_y(state), (size_t)it->ny * sizeof *out);
    return st;
}

// The change of a value at (t, y) along y' = `along` (NULL: y stays) and, unless `y_only`, along p.
static tal_status difference(tal_sensitivity *it, const tal_state *state, double t,
                             const double y[], const double along[], int p, bool y_only,
                             value_fn value, double out[])
{
    const double h = along != NULL ? step_along(along, it->ny) : STEP;
    tal_status st = TAL_OK;
    memset(out, 0, (size_t)it->ny * sizeof *out);
    for (int k = 0; k < NUM_POINTS && st == TAL_OK; ++k) {
        const double by = h * AT[k];
        st = tal_state_copy(it->moved, state);
        if (st == TAL_OK && !y_only) {
            st = set_parameter(it, it->moved, p, it->values[p] + by * it->scales[p]);
        }
        for (int i = 0; i < it->ny; ++i) {
            it->along[i] = along != NULL ? y[i] + by * along[i] : y[i];
        }
        if (st == TAL_OK) st = value(it, it->moved, t, it->along, it->room);
        for (int i = 0; i < it->ny; ++i) {
            out[i] += WEIGHT[k] / h * it->room[i];
        }
    }
    return st;
}

// --- stages ---

// y0 + h sum_j w_j k_j over the first n stages, whose numbers are `stride` apart.
static void combine(const double y0[], double h, const double w[], int n, const double k[],
                    size_t stride, int ny, double out[])
{
    memcpy(out, y0, (size_t)ny * sizeof *out);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < ny && w[j] != 0.0; ++i) {
            out[i] += h * w[j] * k[(size_t)j * stride + (size_t)i];
        }
    }
}

static tali_problem_scale scale_of(const tal_sensitivity *it, const tal_state *state)
{
    return (tali_problem_scale){.nq = tal_state_nq(state),
                                .nu = tal_state_nu(state),
                                .nz = tal_state_nz(state),
                                .e = it->e,
                                .known_u = it->known_u,
                                .accuracy = 1.0};
}

// out += J along
static void add_product(const tal_sensitivity *it, const double along[], double out[])
{
    for (int j = 0; j < it->ny; ++j) {
        for (int i = 0; i < it->ny; ++i) {
            out[i] += it->columns[j][i] * along[j];
        }
    }
}

// k_i' of all parameters, at Y and t. The State has the rates there; J may leave it elsewhere.
static tal_status find_tangents(tal_sensitivity *it, tal_state *state, double t, double h,
                                const double a[], int i)
{
    const size_t ny = (size_t)it->ny, stride = (size_t)it->np * ny;
    const tali_problem_scale scale = scale_of(it, state);
    memset(it->J, 0, ny * ny * sizeof *it->J);
    const bool is_exact =
        tali_problem_exact_jacobian(&it->problem, state, &scale, t, it->Y, it->room, it->columns);
    tal_status st = TAL_OK;
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        double *out = it->kS + (size_t)i * stride + (size_t)p * ny;
        combine(it->S + (size_t)p * ny, h, a, i, it->kS + (size_t)p * ny, stride, it->ny, it->sum);
        if (!is_exact) {
            st = difference(it, state, t, it->Y, it->sum, p, it->is_start[p], rates_at, out);
            continue;
        }
        memset(out, 0, ny * sizeof *out);
        if (!it->is_start[p]) {
            st = difference(it, state, t, it->Y, NULL, p, false, rates_at, out);
        }
        add_product(it, it->sum, out);
    }
    return st;
}

// One step of y and of S, and the projection of both.
static tal_status take_step(tal_sensitivity *it, tal_state *state, double t, double h)
{
    const tal_rk_tableau *tableau = it->tableau;
    const size_t ny = (size_t)it->ny, stride = (size_t)it->np * ny;
    memcpy(it->y0, tal_state_y(state), ny * sizeof *it->y0);
    tal_status st = TAL_OK;
    for (int i = 0; i < tableau->stages && st == TAL_OK; ++i) {
        const double *a = tableau->a + (ptrdiff_t)i * tableau->stages;
        const double t_i = t + tableau->c[i] * h;
        combine(it->y0, h, a, i, it->k, ny, it->ny, it->Y);
        st = tali_problem_rates(&it->problem, state, t_i, it->Y, it->k + (size_t)i * ny);
        if (st == TAL_OK) st = find_tangents(it, state, t_i, h, a, i);
    }
    if (st != TAL_OK) return st;
    combine(it->y0, h, tableau->b, tableau->stages, it->k, ny, it->ny, it->Y);
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        double *S = it->S + (size_t)p * ny;
        combine(S, h, tableau->b, tableau->stages, it->kS + (size_t)p * ny, stride, it->ny,
                it->sum);
        memcpy(S, it->sum, ny * sizeof *S);
        if (!it->needs_projection) continue;
        st = difference(it, state, t + h, it->Y, it->sum, p, it->is_start[p], projected_at, S);
    }
    return st == TAL_OK ? projected_at(it, state, t + h, it->Y, it->room) : st;
}

// --- runs ---

// Whether a run has to project, and which speeds are known.
static void look_at(tal_sensitivity *it, const tal_state *state)
{
    const tal_matter *matter = it->problem.matter;
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    it->needs_projection = rows.mp + rows.mv > 0;
    memset(it->known_u, 0, (size_t)tal_state_nu(state) * sizeof *it->known_u);
    bool has_known = false;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const bool has_quaternion =
            tal_body_nq(matter, state, body) != tal_body_nq_angles(matter, body);
        it->needs_projection = it->needs_projection || has_quaternion;
        for (int j = 0; j < tal_body_nu(matter, body); ++j) {
            const tal_mobility mobility = {body, j};
            has_known = has_known || tal_mobility_level(matter, state, mobility) != TAL_LEVEL_FREE;
        }
    }
    it->needs_projection = it->needs_projection || has_known;
    it->problem.slopes = has_known ? NULL : &it->slopes;
}

// Sets the parameters and the start, and how that changes with them.
static tal_status start(tal_sensitivity *it, tal_state *state, const double values[])
{
    tal_status st = TAL_OK;
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        it->values[p] = values[p];
        it->scales[p] = values[p] != 0.0 ? fabs(values[p]) : 1.0;
        st = set_parameter(it, state, p, values[p]);
    }
    if (st == TAL_OK) st = project_closely(it, state);
    if (st != TAL_OK) return st;
    look_at(it, state);
    it->ny = tal_state_ny(state);
    for (int j = 0; j < it->ny; ++j) {
        it->columns[j] = it->J + (size_t)j * (size_t)it->ny;
    }
    const double t = tal_state_t(state);
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        double *S = it->S + (size_t)p * (size_t)it->ny;
        memset(S, 0, (size_t)it->ny * sizeof *S);
        for (int k = 0; k < NUM_POINTS && st == TAL_OK; ++k) {
            st = tal_state_copy(it->moved, state);
            const double value = values[p] + STEP * AT[k] * it->scales[p];
            if (st == TAL_OK) st = set_parameter(it, it->moved, p, value);
            memcpy(it->Y, tal_state_y(it->moved), (size_t)it->ny * sizeof *it->Y);
            if (st == TAL_OK) st = projected_at(it, it->moved, t, it->Y, it->room);
            for (int i = 0; i < it->ny; ++i) {
                S[i] += WEIGHT[k] / STEP * it->room[i];
            }
        }
    }
    return st;
}

static tal_status check_run(tal_sensitivity *it, const tal_state *state, const double values[],
                            double end_time)
{
    tal_error *err = &it->problem.error_record;
    for (int p = 0; p < it->np; ++p) {
        if (isfinite(values[p])) continue;
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "parameter '%s' is %g",
                         it->parameters[p].name != NULL ? it->parameters[p].name : "", values[p]);
    }
    const double t = tal_state_t(state);
    if (end_time >= t && isfinite(end_time)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "end_time is %g, and the State is at %g", end_time, t);
}

tal_status tal_sensitivity_run(tal_sensitivity *it, tal_state *state, const double values[],
                               double end_time)
{
    if (it == NULL || state == NULL || values == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the study, state or values is NULL");
    }
    it->problem.error_record = (tal_error){TAL_OK, "", ""};
    it->has_run = false;
    tal_status st = check_run(it, state, values, end_time);
    if (st == TAL_OK) st = tal_system_realize(it->problem.system, state, TAL_STAGE_TIME);
    if (st != TAL_OK) return tali_problem_pass_on(&it->problem, state, st);
    st = start(it, state, values);
    const double t0 = tal_state_t(state), length = end_time - t0;
    const double count = ceil(length / it->step - 1e-9);
    for (double n = 0.0; n < count && st == TAL_OK; n += 1.0) {
        st = take_step(it, state, t0 + length * (n / count), length / count);
    }
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        for (int i = 0; i < it->ny; ++i) {
            it->S[(size_t)p * (size_t)it->ny + (size_t)i] /= it->scales[p];
        }
    }
    it->has_run = st == TAL_OK;
    return st;
}

tal_matrix tal_sensitivity_matrix(const tal_sensitivity *it)
{
    if (it == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
        return (tal_matrix){NULL, 0, 0, 1};
    }
    return it->has_run ? tal_matrix_view(it->S, it->ny, it->np) : (tal_matrix){NULL, 0, 0, 1};
}

// --- measures ---

tal_status tal_sensitivity_of_measure(tal_sensitivity *it, const tal_state *state,
                                      tal_measure_ix measure, double gradient[])
{
    if (it == NULL || state == NULL || gradient == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the study, state or gradient is NULL");
    }
    const tal_system *system = it->problem.system;
    if (measure.i < 0 || measure.i >= tal_system_num_measures(system) ||
        tal_measure_size(system, measure) != 1) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no measure %d of one number", measure.i);
    }
    if (!it->has_run) return TALI_BREACH(TAL_ERR_STAGE, "there was no run");
    tal_status st = TAL_OK;
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        for (int i = 0; i < it->ny; ++i) {
            it->sum[i] = it->scales[p] * it->S[(size_t)p * (size_t)it->ny + (size_t)i];
        }
        const double h = step_along(it->sum, it->ny);
        gradient[p] = 0.0;
        for (int k = 0; k < NUM_POINTS && st == TAL_OK; ++k) {
            const double by = h * AT[k];
            st = tal_state_copy(it->moved, state);
            if (st == TAL_OK) {
                st = set_parameter(it, it->moved, p, it->values[p] + by * it->scales[p]);
            }
            if (st != TAL_OK) break;
            double *y = tal_state_upd_y(it->moved);
            for (int i = 0; i < it->ny; ++i) {
                y[i] = tal_state_y(state)[i] + by * it->sum[i];
            }
            st = tal_system_realize(system, it->moved, TAL_STAGE_ACCELERATION);
            if (st == TAL_OK) {
                gradient[p] +=
                    WEIGHT[k] / (h * it->scales[p]) * tal_measure_value(system, it->moved, measure);
            }
            st = tali_problem_pass_on(&it->problem, it->moved, st);
        }
    }
    return st;
}
