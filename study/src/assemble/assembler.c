// Assemblers: creation, workspace, observations.
#include "names_internal.h"

#include "assemble/assembler_internal.h"
#include "problem/study_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// How far an observed orientation may be from a rotation: sensors have few digits.
static const double OBSERVED_TOLERANCE = 1e-6;

tal_assembler_def tal_assembler_def_default(void)
{
    return (tal_assembler_def){
        .tolerance = 1e-10, .accuracy = 1e-8, .max_iterations = 100, .max_restarts = 50};
}

// --- checks ---

static tal_status check_weight(double weight, const char *kind, int k, double *sum, tal_error *err)
{
    if (isfinite(weight) && weight >= 0.0) {
        *sum += weight;
        return TAL_OK;
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the weight of %s %d is %g: it must be finite and not negative", kind, k,
                     weight);
}

static tal_status check_body(const tal_matter *matter, tal_body_ix body, const char *kind, int k,
                             tal_error *err)
{
    if (body.i >= 0 && body.i < tal_matter_num_bodies(matter)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "%s %d is on body %d, which does not exist", kind, k,
                     body.i);
}

static tal_status check_markers(const tal_matter *matter, const tal_assembler_def *def,
                                double *weights, tal_error *err)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < def->num_markers && st == TAL_OK; ++k) {
        const tal_marker *marker = &def->markers[k];
        st = check_body(matter, marker->body, "marker", k, err);
        if (st == TAL_OK) st = check_weight(marker->weight, "marker", k, weights, err);
        if (st == TAL_OK && !tal_v3_is_finite(marker->p_BS)) {
            st = TALI_FAIL(err, TAL_ERR_NOT_FINITE, "the station of marker %d is (%g, %g, %g)", k,
                           marker->p_BS.x, marker->p_BS.y, marker->p_BS.z);
        }
        if (st == TAL_OK && marker->name != NULL && strlen(marker->name) > TAL_MAX_NAME) {
            st = TALI_FAIL(err, TAL_ERR_BAD_NAME, "the name of marker %d is too long", k);
        }
        const char *flaw = marker->name != NULL ? tali_names_flaw(marker->name) : NULL;
        if (st == TAL_OK && flaw != NULL) {
            st = TALI_FAIL(err, TAL_ERR_BAD_NAME, "marker '%s': %s", marker->name, flaw);
        }
    }
    return st;
}

static tal_status check_sensors(const tal_matter *matter, const tal_assembler_def *def,
                                double *weights, tal_error *err)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < def->num_sensors && st == TAL_OK; ++k) {
        const tal_orientation_sensor *sensor = &def->sensors[k];
        st = check_body(matter, sensor->body, "sensor", k, err);
        if (st == TAL_OK) st = check_weight(sensor->weight, "sensor", k, weights, err);
        if (st == TAL_OK && !tal_rotation_is_valid(&sensor->R_BS, TALI_ROTATION_TOLERANCE)) {
            st = TALI_FAIL(err, TAL_ERR_BAD_VALUE, "R_BS of sensor %d is not a rotation", k);
        }
    }
    return st;
}

static tal_status check_coordinates(const tal_matter *matter, const tal_assembler_def *def,
                                    double *weights, tal_error *err)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < def->num_coordinates && st == TAL_OK; ++k) {
        const tal_coordinate_goal *goal = &def->coordinates[k];
        st = check_body(matter, goal->body, "coordinate goal", k, err);
        if (st == TAL_OK) st = check_weight(goal->weight, "coordinate goal", k, weights, err);
        if (st == TAL_OK && (goal->i < 0 || goal->i >= TAL_MAX_NQ)) {
            st = TALI_FAIL(err, TAL_ERR_BAD_INDEX, "coordinate goal %d is for coordinate %d", k,
                           goal->i);
        }
        if (st == TAL_OK && !isfinite(goal->value)) {
            st = TALI_FAIL(err, TAL_ERR_NOT_FINITE, "the value of coordinate goal %d is %g", k,
                           goal->value);
        }
    }
    return st;
}

static tal_status check_ranges(const tal_matter *matter, const tal_assembler_def *def,
                               tal_error *err)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < def->num_ranges && st == TAL_OK; ++k) {
        const tal_coordinate_range *range = &def->ranges[k];
        st = check_body(matter, range->body, "range", k, err);
        if (st == TAL_OK && (range->i < 0 || range->i >= TAL_MAX_NQ)) {
            st = TALI_FAIL(err, TAL_ERR_BAD_INDEX, "range %d is for coordinate %d", k, range->i);
        }
        if (st == TAL_OK && !(range->low <= range->high)) { // a NaN is neither
            st = TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                           "range %d goes from %g to %g: the first must not be the larger", k,
                           range->low, range->high);
        }
    }
    return st;
}

static tal_status check_others(const tal_matter *matter, const tal_assembler_def *def,
                               double *weights, tal_error *err)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < def->num_soft && st == TAL_OK; ++k) {
        const int i = def->soft[k].constraint.i;
        if (i < 0 || i >= tal_matter_num_constraints(matter)) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX,
                             "soft constraint %d is constraint %d, which does not exist", k, i);
        }
        st = check_weight(def->soft[k].weight, "soft constraint", k, weights, err);
    }
    for (int k = 0; k < def->num_goals && st == TAL_OK; ++k) {
        const tal_goal *goal = &def->goals[k];
        if (goal->calc == NULL || goal->name == NULL || goal->num_rows < 0) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "goal %d needs a name, a function and a number of residuals", k);
        }
        st = check_weight(goal->weight, "goal", k, weights, err);
    }
    return st;
}

static tal_status check_numbers(const tal_assembler_def *def, tal_error *err)
{
    const double positive[] = {def->tolerance, def->accuracy};
    const char *const names[] = {"tolerance", "accuracy"};
    for (int i = 0; i < 2; ++i) {
        if (isfinite(positive[i]) && positive[i] > 0.0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s is %g: it must be positive and finite",
                         names[i], positive[i]);
    }
    if (def->max_iterations < 1 || def->max_restarts < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "max_iterations is %d, max_restarts %d",
                         def->max_iterations, def->max_restarts);
    }
    if (tal_root_solver_name((int)def->solver) == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no solver %d", (int)def->solver);
    }
    return TAL_OK;
}

static tal_status check_arrays(const tal_assembler_def *def, tal_error *err)
{
    const struct {
        const void *array;
        int n;
        const char *name;
    } all[] = {{def->markers, def->num_markers, "markers"},
               {def->sensors, def->num_sensors, "sensors"},
               {def->coordinates, def->num_coordinates, "coordinates"},
               {def->soft, def->num_soft, "soft constraints"},
               {def->goals, def->num_goals, "goals"},
               {def->ranges, def->num_ranges, "ranges"}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        if (all[i].n < 0 || (all[i].n > 0 && all[i].array == NULL)) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "%d %s: the number is negative or the array is NULL", all[i].n,
                             all[i].name);
        }
    }
    return TAL_OK;
}

static tal_status check_def(const tal_matter *matter, const tal_assembler_def *def, tal_error *err)
{
    double weights = 0.0;
    tal_status st = check_numbers(def, err);
    if (st == TAL_OK) st = check_arrays(def, err);
    if (st == TAL_OK) st = check_markers(matter, def, &weights, err);
    if (st == TAL_OK) st = check_sensors(matter, def, &weights, err);
    if (st == TAL_OK) st = check_coordinates(matter, def, &weights, err);
    if (st == TAL_OK) st = check_ranges(matter, def, err);
    if (st == TAL_OK) st = check_others(matter, def, &weights, err);
    if (st == TAL_OK) st = check_weight(def->stay_close, "staying close, goal", 0, &weights, err);
    const int count =
        def->num_markers + def->num_sensors + def->num_coordinates + def->num_soft + def->num_goals;
    if (st == TAL_OK && count > 0 && weights == 0.0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the weights of all %d goals are zero", count);
    }
    return st;
}

// --- memory ---

// Room of the factorizations, of equations by speeds or the other way round.
static size_t work_doubles(const tal_assembler *it)
{
    const int m = it->max_rows, n = it->nu;
    const size_t cod = tali_alloc_larger(tal_cod_work_size(m, n), tal_cod_work_size(n, m));
    return tali_alloc_larger(tali_alloc_larger(cod, tal_pchol_work_size(n)), (size_t)n);
}

static size_t work_ints(const tal_assembler *it)
{
    const int m = it->max_rows, n = it->nu;
    const size_t cod = tali_alloc_larger(tal_cod_iwork_size(m, n), tal_cod_iwork_size(n, m));
    return tali_alloc_larger(cod, tal_pchol_iwork_size(n));
}

// Place all arrays in a block, or count its bytes when `block` is NULL.
static size_t lay_out(tal_assembler *it, char *block)
{
    const tal_assembler_def *def = &it->def;
    const size_t n = (size_t)it->nu, nq = (size_t)it->max_nq, rows = (size_t)it->max_rows;
    const size_t side = tali_alloc_larger(n, rows),
                 bodies = (size_t)tal_matter_num_bodies(it->matter);
    const size_t markers = (size_t)def->num_markers, sensors = (size_t)def->num_sensors;
    const size_t goal_rows = (size_t)it->max_goal_rows, d = sizeof(double);
    const tali_piece pieces[] = {
        {&it->markers, markers * sizeof *it->markers},
        {&it->marker_names, markers * sizeof *it->marker_names},
        {&it->sensors, sensors * sizeof *it->sensors},
        {&it->coordinates, (size_t)def->num_coordinates * sizeof *it->coordinates},
        {&it->soft, (size_t)def->num_soft * sizeof *it->soft},
        {&it->goals, (size_t)def->num_goals * sizeof *it->goals},
        {&it->ranges, (size_t)def->num_ranges * sizeof *it->ranges},
        {&it->of_q.points, markers * sizeof(tal_vec3)},
        {&it->of_q.markers, markers * sizeof(bool)},
        {&it->of_q.rotations, sensors * sizeof(tal_mat3)},
        {&it->of_q.sensors, sensors * sizeof(bool)},
        {&it->of_u.points, markers * sizeof(tal_vec3)},
        {&it->of_u.markers, markers * sizeof(bool)},
        {&it->of_u.rates, sensors * sizeof(tal_vec3)},
        {&it->of_u.sensors, sensors * sizeof(bool)},
        {&it->p_MS, markers * sizeof *it->p_MS},
        {&it->p_BS_M, markers * sizeof *it->p_BS_M},
        {&it->marker_r, markers * sizeof *it->marker_r},
        {&it->sensor_r, sensors * sizeof *it->sensor_r},
        {&it->weights, bodies * sizeof *it->weights},
        {&it->F, bodies * sizeof *it->F},
        {&it->at.H, n * n * d},
        {&it->at.g, n * d},
        {&it->at.C, rows * n * d},
        {&it->at.c, rows * d},
        {&it->at.is_free, n * sizeof *it->at.is_free},
        {&it->at.known, n * d},
        {&it->row_weight, rows * d},
        {&it->turns, (size_t)tal_matter_num_constraints(it->matter) * sizeof *it->turns},
        {&it->e, rows * d},
        {&it->T, rows * d},
        {&it->W_u, n * d},
        {&it->bounds, nq * sizeof *it->bounds},
        {&it->q_given, nq * d},
        {&it->u_given, n * d},
        {&it->q_start, nq * d},
        {&it->N_start, nq * TAL_MAX_NU * d},
        {&it->q_base, nq * d},
        {&it->q_best, nq * d},
        {&it->q_keep, nq * d},
        {&it->q_goal, nq * d},
        {&it->q_least, nq * d},
        {&it->q_curved, nq * d},
        {&it->full, n * d},
        {&it->mu, (rows + nq) * d},
        {&it->L, n * d},
        {&it->curved, n * n * d},
        {&it->dq, nq * d},
        {&it->x, n * d},
        {&it->target, rows * d},
        {&it->pieces, rows * d},
        {&it->P, rows * n * d},
        {&it->A, n * n * d},
        {&it->Z, n * n * d},
        {&it->work_nn, side * n * d},
        {&it->rhs, n * d},
        {&it->part, side * d},
        {&it->goal_r, goal_rows * d},
        {&it->goal_J, goal_rows * n * d},
        {&it->work, work_doubles(it) * d},
        {&it->iwork, work_ints(it) * sizeof(int)},
        {&it->free_list, n * sizeof(int)},
        {&it->parents, n * sizeof(int)},
        {&it->was_free, n * sizeof(bool)},
        {&it->fit_free, n * sizeof(bool)},
        {&it->fit_markers, markers * sizeof(bool)},
        {&it->fit_sensors, sensors * sizeof(bool)},
        {&it->active, nq},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

static void copy_array(void *to, const void *from, int n, size_t size)
{
    if (n > 0) memcpy(to, from, (size_t)n * size);
}

// Copy the arrays of the def into the assembler's own, names included.
static void copy_def(tal_assembler *it)
{
    tal_assembler_def *def = &it->def;
    copy_array(it->markers, def->markers, def->num_markers, sizeof *def->markers);
    copy_array(it->sensors, def->sensors, def->num_sensors, sizeof *def->sensors);
    copy_array(it->coordinates, def->coordinates, def->num_coordinates, sizeof *def->coordinates);
    copy_array(it->soft, def->soft, def->num_soft, sizeof *def->soft);
    copy_array(it->goals, def->goals, def->num_goals, sizeof *def->goals);
    copy_array(it->ranges, def->ranges, def->num_ranges, sizeof *def->ranges);
    for (int k = 0; k < def->num_markers; ++k) {
        char *name = it->marker_names[k];
        if (def->markers[k].name != NULL) {
            (void)snprintf(name, sizeof it->marker_names[k], "%s", def->markers[k].name);
        } else {
            (void)snprintf(name, sizeof it->marker_names[k], "marker%d", k);
        }
        it->markers[k].name = name;
    }
    def->markers = it->markers;
    def->sensors = it->sensors;
    def->coordinates = it->coordinates;
    def->soft = it->soft;
    def->goals = it->goals;
    def->ranges = it->ranges;
}

// --- creation ---

static void find_sizes(tal_assembler *it)
{
    const tal_system *system = it->system;
    const tal_subsystem_ix owner = tal_matter_subsystem(it->matter);
    it->q_group = tal_system_find_group(system, owner, TAL_POOL_Q, "q");
    it->u_group = tal_system_find_group(system, owner, TAL_POOL_U, "u");
    it->qerr_group = tal_system_find_group(system, owner, TAL_POOL_QERR, "constraints");
    it->uerr_group = tal_system_find_group(system, owner, TAL_POOL_UERR, "constraints");
    it->nu = tal_matter_nu(it->matter);
    it->max_nq = tal_system_pool_capacity(system, TAL_POOL_Q);
    it->max_rows = tal_system_pool_capacity(system, TAL_POOL_UERR) + it->max_nq +
                   3 * tal_matter_num_constraints(it->matter);
    for (int k = 0; k < it->def.num_goals; ++k) {
        if (it->def.goals[k].num_rows > it->max_goal_rows) {
            it->max_goal_rows = it->def.goals[k].num_rows;
        }
    }
    it->at.n = it->nu;
    it->at.ld = it->max_rows;
}

tal_status tal_assembler_create(const tal_system *system, const tal_assembler_def *def,
                                tal_assembler **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    const tal_matter *matter = tal_system_matter(system);
    const tal_assembler_def chosen = def != NULL ? *def : tal_assembler_def_default();
    st = check_def(matter, &chosen, err);
    if (st != TAL_OK) return st;

    const tal_allocator allocator = tal_system_allocator(system);
    tal_assembler *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an assembler");
    *it =
        (tal_assembler){.system = system, .matter = matter, .allocator = allocator, .def = chosen};
    find_sizes(it);
    it->block_bytes = lay_out(it, NULL);
    it->block = tali_alloc(&allocator, it->block_bytes);
    if (it->block == NULL) {
        tali_free(&allocator, it, sizeof *it);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an assembler's workspace");
    }
    (void)lay_out(it, it->block);
    (void)tal_matter_calc_lambda(matter, it->parents);
    copy_def(it);
    if (chosen.solver == TAL_ROOT_SOLVER_KINSOL && !tali_assembler_kinsol_create(it)) {
        tal_assembler_destroy(it);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for KINSOL");
    }
    *out = it;
    return TAL_OK;
}

void tal_assembler_destroy(tal_assembler *assembler)
{
    if (assembler == NULL) return;
    const tal_allocator allocator = assembler->allocator;
    tali_assembler_kinsol_destroy(assembler);
    tali_free(&allocator, assembler->block, assembler->block_bytes);
    tali_free(&allocator, assembler, sizeof *assembler);
}

const tal_error *tal_assembler_error(const tal_assembler *assembler)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_assembler_error", "the assembler is NULL"};
    return assembler != NULL ? &assembler->error_record : &none;
}

int tal_assembler_find_marker(const tal_assembler *assembler, const char *name)
{
    if (assembler == NULL || name == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the assembler or the name is NULL");
        return -1;
    }
    for (int k = 0; k < assembler->def.num_markers; ++k) {
        if (strcmp(assembler->marker_names[k], name) == 0) return k;
    }
    return -1;
}

const char *tal_assembler_marker_name(const tal_assembler *assembler, int marker)
{
    if (assembler != NULL && marker >= 0 && marker < assembler->def.num_markers) {
        return assembler->marker_names[marker];
    }
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "marker %d does not exist", marker);
    return "(no marker)";
}

// --- how far markers are ---

tal_status tali_assembler_calc_marker_errors(const tal_assembler *it, const tal_state *state,
                                             const tal_vec3 points[], const bool seen[],
                                             tal_vec3 errors[])
{
    if (tal_matter_poses(it->matter, state).bytes == NULL) return tal_contract_last()->status;
    for (int k = 0; k < it->def.num_markers; ++k) {
        const tal_marker *marker = &it->def.markers[k];
        const tal_xform X_GB = tal_body_X_GB(it->matter, state, marker->body);
        const tal_vec3 p_GS = tal_xf_apply(X_GB, marker->p_BS);
        const bool is_seen = seen == NULL || seen[k];
        errors[k] = is_seen ? tal_v3_sub(p_GS, points[k]) : tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
    }
    return TAL_OK;
}

tal_status tal_assembler_calc_marker_errors(const tal_assembler *assembler, const tal_state *state,
                                            tal_vec3 errors[])
{
    if (assembler == NULL || errors == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tali_assembler_observed *seen = &assembler->of_q;
    return tali_assembler_calc_marker_errors(assembler, state, seen->points, seen->markers, errors);
}

// --- observations ---

static bool has_nan(const double values[], int n)
{
    bool any = false;
    for (int i = 0; i < n; ++i) {
        any = any || isnan(values[i]);
    }
    return any;
}

// What the weights of markers are multiplied by.
static double marker_scale(const tal_assembler *it, const tali_assembler_observed *seen)
{
    double sum = 0.0;
    for (int k = 0; k < it->def.num_markers && it->def.mean_markers; ++k) {
        if (seen->markers[k]) sum += it->def.markers[k].weight;
    }
    return sum > 0.0 ? 1.0 / sum : 1.0;
}

// A point of weight w counts as a mass, an orientation of weight w as an inertia about every axis.
void tali_assembler_use_observed(tal_assembler *it, tali_assembler_observed *seen)
{
    it->seen = seen;
    const tal_assembler_def *def = &it->def;
    memset(it->weights, 0, (size_t)tal_matter_num_bodies(it->matter) * sizeof *it->weights);
    it->num_seen = 0;
    it->marker_scale = marker_scale(it, seen);
    for (int k = 0; k < def->num_markers; ++k) {
        const tal_marker *marker = &def->markers[k];
        tal_mass_props *sum = &it->weights[marker->body.i];
        if (!seen->markers[k]) continue;
        ++it->num_seen;
        const double w = it->marker_scale * marker->weight;
        sum->mass += w;
        sum->com = tal_v3_axpy(w, marker->p_BS, sum->com); // mass times com, so far
        sum->inertia = tal_s3_add(sum->inertia, tal_s3_scale(w, tal_s3_cross_square(marker->p_BS)));
    }
    for (int b = 0; b < tal_matter_num_bodies(it->matter); ++b) {
        tal_mass_props *sum = &it->weights[b];
        if (sum->mass > 0.0) sum->com = tal_v3_scale(1.0 / sum->mass, sum->com);
    }
    for (int k = 0; k < def->num_sensors; ++k) {
        const double w = def->sensors[k].weight;
        tal_sym3 *sum = &it->weights[def->sensors[k].body.i].inertia;
        if (!seen->sensors[k]) continue;
        ++it->num_seen;
        *sum = tal_s3_add(*sum, tal_s3_diag(w, w, w));
    }
}

static tal_status check_vectors(tal_assembler *it, const tal_vec3 v[], int n, const char *subject)
{
    for (int k = 0; k < n && v != NULL; ++k) {
        if (!isinf(v[k].x) && !isinf(v[k].y) && !isinf(v[k].z)) continue;
        return TALI_FAIL(&it->error_record, TAL_ERR_NOT_FINITE,
                         "%s %d is (%g, %g, %g): give finite numbers, or NaN for not seen", subject,
                         k, v[k].x, v[k].y, v[k].z);
    }
    return TAL_OK;
}

// Those without a NaN are seen.
static void take_vectors(const tal_vec3 from[], int n, tal_vec3 to[], bool seen[])
{
    for (int k = 0; k < n; ++k) {
        seen[k] = from != NULL && !has_nan(&from[k].x, 3);
        if (seen[k]) to[k] = from[k];
    }
}

tal_status tal_assembler_observe(tal_assembler *assembler, const tal_vec3 points[],
                                 const tal_mat3 rotations[])
{
    if (assembler == NULL) return TALI_BREACH(TAL_ERR_NULL, "the assembler is NULL");
    tal_assembler *it = assembler;
    it->error_record = (tal_error){TAL_OK, "", ""};
    const tal_status st = check_vectors(it, points, it->def.num_markers, "observed point");
    if (st != TAL_OK) return st;
    for (int k = 0; k < it->def.num_sensors && rotations != NULL; ++k) {
        const bool is_absent = has_nan(&rotations[k].x.x, 9);
        if (is_absent || tal_rotation_is_valid(&rotations[k], OBSERVED_TOLERANCE)) continue;
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "observed orientation %d is not a rotation", k);
    }
    take_vectors(points, it->def.num_markers, it->of_q.points, it->of_q.markers);
    for (int k = 0; k < it->def.num_sensors; ++k) {
        it->of_q.sensors[k] = rotations != NULL && !has_nan(&rotations[k].x.x, 9);
        if (it->of_q.sensors[k]) it->of_q.rotations[k] = rotations[k];
    }
    it->is_observed = true;
    return TAL_OK;
}

tal_status tali_assembler_observe_rates(tal_assembler *it, const tal_vec3 velocities[],
                                        const tal_vec3 rates[])
{
    tal_status st = check_vectors(it, velocities, it->def.num_markers, "observed velocity");
    if (st == TAL_OK) st = check_vectors(it, rates, it->def.num_sensors, "observed rate");
    if (st != TAL_OK) return st;
    take_vectors(velocities, it->def.num_markers, it->of_u.points, it->of_u.markers);
    take_vectors(rates, it->def.num_sensors, it->of_u.rates, it->of_u.sensors);
    return TAL_OK;
}

tal_status tal_assembler_set_coordinate(tal_assembler *assembler, int goal, double value)
{
    if (assembler == NULL) return TALI_BREACH(TAL_ERR_NULL, "the assembler is NULL");
    if (goal < 0 || goal >= assembler->def.num_coordinates) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "coordinate goal %d does not exist", goal);
    }
    if (!isfinite(value)) {
        return TALI_FAIL(&assembler->error_record, TAL_ERR_NOT_FINITE,
                         "the value of coordinate goal %d is %g", goal, value);
    }
    assembler->coordinates[goal].value = value;
    return TAL_OK;
}
