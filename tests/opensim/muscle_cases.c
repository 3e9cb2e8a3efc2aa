// Muscles of OpenSim's models against what OpenSim found of them: lengths, moment arms, forces.
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = TAL_PI / 180.0;

// ---- poses

// To round-off.
static tal_status meet_constraints(const tal_model *model)
{
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-13;
    return tal_system_prescribe_and_project(model->system, model->state, &options, NULL);
}

// A coordinate by the name of a column, "/jointset/hip_r/hip_flexion_r/value" or "hip_flexion_r";
// `i` < 0 of the body when it is none.
static tal_mobility coordinate_of(const tal_model *model, const char *column)
{
    char name[200];
    (void)snprintf(name, sizeof name, "%s", column);
    char *end = strrchr(name, '/');
    if (end != NULL && strcmp(end, "/value") == 0) *end = '\0';
    const char *slash = strrchr(name, '/');
    tal_mobility at = {{-1}, -1};
    at.body = tal_matter_find_coordinate(model->matter, model->state,
                                         slash != NULL ? slash + 1 : name, &at.i);
    return at;
}

// Give all coordinates of a row the values of the table, and the others those that the constraints
// require.
static tal_status pose(const tal_model *model, const tal_table *motion, int row)
{
    const bool in_degrees = tal_table_in_degrees(motion);
    tal_status st = tal_system_realize(model->system, model->state, TAL_STAGE_POSITION);
    for (int c = 0; c < tal_table_num_columns(motion) && st == TAL_OK; ++c) {
        const tal_mobility at = coordinate_of(model, tal_table_column_name(motion, c));
        const bool follows = strstr(tal_table_column_name(motion, c), "_beta") != NULL; // the knee
        if (at.body.i < 0 || follows) continue;
        const bool turns = tal_coordinate_is_angle(model->matter, model->state, at.body, at.i);
        const double value = tal_table_value(motion, row, c) * (in_degrees && turns ? DEGREE : 1.0);
        st = tal_mobility_lock_at(model->matter, model->state, at, TAL_LEVEL_POSITION, value);
        if (st == TAL_OK) st = tal_system_realize(model->system, model->state, TAL_STAGE_MODEL);
        if (st == TAL_OK) st = tal_body_set_q(model->matter, model->state, at.body, at.i, value);
        if (st == TAL_OK) st = tal_system_realize(model->system, model->state, TAL_STAGE_POSITION);
    }
    if (st == TAL_OK) {
        st = meet_constraints(model);
    }
    return st == TAL_OK ? tal_system_realize(model->system, model->state, TAL_STAGE_VELOCITY) : st;
}

// ---- lengths

typedef struct length_case {
    const char *name, *quantity;
    const char *folder;
    int rows;            // 0: all
    const char *only;    // ending of the names; "": all
    const char *without; // beginning of names that are left out; NULL: none
    double tolerance;
} length_case;

static const length_case lengths[] = {
    {"05 gait10dof", "lengths of 18 muscles [m]", "05_gait10dof_muscle_lengths", 0, "", NULL, 1e-6},
    {"06 Rajagopal", "lengths over cylinders, right leg [m]",
     "06_rajagopal18_muscle_lengths_wrapping", 119, "_r", "med_gas", 2e-6}};

static bool counts(const length_case *it, const char *muscle)
{
    const size_t n = strlen(muscle), m = strlen(it->only);
    if (n < m || strcmp(muscle + n - m, it->only) != 0) return false;
    return it->without == NULL || strstr(muscle, it->without) == NULL;
}

// The largest difference of a row.
static double compare_lengths(const length_case *it, const tal_model *model,
                              const tal_table *expected, int row)
{
    double worst = 0.0;
    int num = 0;
    for (int p = 0; p < tal_forces_num_paths(model->forces); ++p) {
        const tal_path_ix path = {p};
        char column[200];
        const char *name = tal_path_name(model->forces, path);
        (void)snprintf(column, sizeof column, "/forceset/%s|length", name);
        const int c = tal_table_find_column(expected, column);
        if (c < 0 || !counts(it, name)) continue;
        const double length = tal_path_length(model->forces, model->state, path);
        worst = fmax(worst, fabs(length - tal_table_value(expected, row, c)));
        ++num;
    }
    return num > 0 ? worst : (double)INFINITY;
}

static void run_lengths(const length_case *it)
{
    char file[200];
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    (void)snprintf(file, sizeof file, "%s/model_v30000.osim", it->folder);
    tal_status st = tal_osim_read_file(cases_path(file), NULL, &model, found);
    (void)snprintf(file, sizeof file, "%s/coordinates.mot", it->folder);
    tal_table *motion = cases_read_table(file, found);
    (void)snprintf(file, sizeof file, "%s/expected_lengths.sto", it->folder);
    tal_table *expected = cases_read_table(file, found);
    double worst = 0.0;
    const int rows = expected != NULL && it->rows == 0 ? tal_table_num_rows(expected) : it->rows;
    for (int r = 0; r < rows && st == TAL_OK && motion != NULL && expected != NULL; ++r) {
        st = pose(&model, motion, r);
        if (st == TAL_OK) worst = fmax(worst, compare_lengths(it, &model, expected, r));
        if (st != TAL_OK) fprintf(stderr, "%s\n", tal_state_error(model.state)->message);
    }
    if (st == TAL_OK && motion != NULL && expected != NULL) {
        cases_print_row(it->name, it->quantity, worst, it->tolerance);
    } else {
        cases_print_failure(it->name, it->quantity, found);
    }
    tal_table_destroy(expected);
    tal_table_destroy(motion);
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
}

// ---- forces and positions

static const char forward[] = "07_gait2354_thelen_forward/";

static tal_table *read_forward(const char *file, tal_diagnostics *found)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s%s", forward, file);
    return cases_read_table(path, found);
}

// The row of a time; -1 when there is none.
static int row_at(const tal_table *table, double time)
{
    for (int r = 0; r < tal_table_num_rows(table); ++r) {
        if (fabs(tal_table_value(table, r, 0) - time) < 1e-9) return r;
    }
    return -1;
}

static tal_status set_states(const tal_model *model, const tal_table *states, int row)
{
    tal_status st = pose(model, states, row);
    for (int i = 0; i < tal_forces_num(model->forces) && st == TAL_OK; ++i) {
        const tal_force_ix muscle = {i};
        if (!tal_force_is_muscle(model->forces, muscle)) continue;
        char column[200];
        const char *name = tal_force_name(model->forces, muscle);
        (void)snprintf(column, sizeof column, "%s.activation", name);
        int a = tal_table_find_column(states, column);
        (void)snprintf(column, sizeof column, "/forceset/%s/activation", name);
        if (a < 0) a = tal_table_find_column(states, column);
        (void)snprintf(column, sizeof column, "%s.fiber_length", name);
        int l = tal_table_find_column(states, column);
        (void)snprintf(column, sizeof column, "/forceset/%s/fiber_length", name);
        if (l < 0) l = tal_table_find_column(states, column);
        if (a < 0 || l < 0) return TAL_ERR_FILE;
        st = tal_muscle_set_activation(model->forces, model->state, muscle,
                                       tal_table_value(states, row, a));
        if (st == TAL_OK) {
            st = tal_muscle_set_fiber(model->forces, model->state, muscle,
                                      tal_table_value(states, row, l));
        }
    }
    return st == TAL_OK ? tal_system_realize(model->system, model->state, TAL_STAGE_VELOCITY) : st;
}

// Tensions of a row, relative to the largest isometric force.
static double compare_forces(const tal_model *model, const tal_table *expected, int row)
{
    double worst = 0.0;
    int num = 0;
    for (int i = 0; i < tal_forces_num(model->forces); ++i) {
        const tal_force_ix muscle = {i};
        if (!tal_force_is_muscle(model->forces, muscle)) continue;
        const int c = tal_table_find_column(expected, tal_force_name(model->forces, muscle));
        const double F0 =
            tal_force_param(model->forces, model->state, muscle, TAL_MUSCLE_MAX_FORCE);
        const double force =
            tal_muscle_calc_output(model->forces, model->state, muscle, TAL_MUSCLE_TENDON_FORCE);
        worst = fmax(worst, fabs(force - tal_table_value(expected, row, c)) / F0);
        ++num;
    }
    return num == 54 ? worst : (double)INFINITY;
}

// Mass centers of a row; the torso of the file is that of another version.
static double compare_centers(const tal_model *model, const tal_table *expected, int row)
{
    double worst = 0.0;
    int num = 0;
    for (int b = 1; b < tal_matter_num_bodies(model->matter); ++b) {
        const tal_body_ix body = {b};
        const char *name = tal_body_name(model->matter, body);
        char column[200];
        (void)snprintf(column, sizeof column, "%s_X", name);
        const int c = tal_table_find_column(expected, column);
        if (c < 0 || strcmp(name, "torso") == 0) continue;
        const tal_vec3 com = tal_body_mass_props(model->matter, model->state, body).com;
        const tal_vec3 p = tal_station_p_GS(model->matter, model->state, body, com);
        const tal_vec3 q =
            tal_v3(tal_table_value(expected, row, c), tal_table_value(expected, row, c + 1),
                   tal_table_value(expected, row, c + 2));
        worst = fmax(worst, tal_v3_norm(tal_v3_sub(p, q)));
        ++num;
    }
    return num == 11 ? worst : (double)INFINITY;
}

static void run_forward(void)
{
    tal_model model;
    char file[200];
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    (void)snprintf(file, sizeof file, "%smodel.osim", forward);
    tal_status st = tal_osim_read_file(cases_path(file), NULL, &model, found);
    tal_table *states = read_forward("expected_states.sto", found);
    tal_table *forces = read_forward("expected_Actuation_force.sto", found);
    tal_table *centers = read_forward("expected_BodyKinematics_pos_global.sto", found);
    const bool all = states != NULL && forces != NULL && centers != NULL;
    double force = 0.0, center = 0.0;
    int num = 0;
    for (int r = 0; all && st == TAL_OK && r < tal_table_num_rows(forces); ++r) {
        const int row = row_at(states, tal_table_value(forces, r, 0));
        if (row < 0) continue;
        st = set_states(&model, states, row);
        if (st != TAL_OK) break;
        force = fmax(force, compare_forces(&model, forces, r));
        center = fmax(center, compare_centers(&model, centers, r));
        ++num;
    }
    if (st == TAL_OK && all && num > 1) {
        cases_print_row("07 gait2354", "tensions of 54 Thelen muscles [max force]", force, 5e-4);
        cases_print_row("07 gait2354", "mass centers of 11 bodies [m]", center, 1e-6);
    } else {
        if (model.state != NULL) fprintf(stderr, "%s\n", tal_state_error(model.state)->message);
        cases_print_failure("07 gait2354", "tensions of 54 Thelen muscles", found);
    }
    tal_table_destroy(states);
    tal_table_destroy(forces);
    tal_table_destroy(centers);
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
}

// ---- equilibrium

// How far fibers and tendons are from carrying the same force along the states of a run of CMC: the
// speed of the fibers follows from it, so that nothing is left over.
static void run_equilibrium(void)
{
    static const char what[] = "equilibrium of 18 muscles along states [max force]";
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tal_status st = tal_osim_read_file(cases_path("13_cmc/gait10dof18musc_subject01.osim"), NULL,
                                       &model, found);
    tal_table *states =
        cases_read_table("13_cmc/gait10dof18musc_std_walk_subject_states_unix.sto", found);
    double worst = 0.0;
    int num = 0;
    for (int r = 0; st == TAL_OK && states != NULL && r < tal_table_num_rows(states); ++r) {
        st = set_states(&model, states, r);
        for (int i = 0; i < tal_forces_num(model.forces) && st == TAL_OK; ++i) {
            const tal_force_ix muscle = {i};
            if (!tal_force_is_muscle(model.forces, muscle)) continue;
            worst = fmax(worst, fabs(tal_muscle_calc_output(model.forces, model.state, muscle,
                                                            TAL_MUSCLE_RESIDUAL)));
            ++num;
        }
    }
    if (st == TAL_OK && states != NULL && num == 18 * tal_table_num_rows(states)) {
        cases_print_row("13 gait10dof", what, worst, 1e-9);
    } else {
        if (model.state != NULL) fprintf(stderr, "%s\n", tal_state_error(model.state)->message);
        cases_print_failure("13 gait10dof", what, found);
    }
    tal_table_destroy(states);
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
}

// ---- moment arms

static const char *const arm_models[] = {
    "P2PBallJointMomentArmTest", "P2PCustomJointMomentArmTest", "MovingPathPointMomentArmTest",
    "WrapPathCustomJointMomentArmTest", "CoupledCoordinatesMPPsMomentArmTest"};

enum {
    MOST = 4096 // numbers that moment arms need
};

// The length of the first path after a small motion along a speed; where constraints bind others to
// it, they follow.
static tal_status length_after(const tal_model *model, const double q[], int speed, double h,
                               double *length)
{
    const int nq = tal_state_nq(model->state);
    double u[64] = {0.0}, qdot[64];
    tal_mobility at = {{-1}, -1};
    at.body = tal_matter_u_owner(model->matter, model->state, speed, &at.i);
    u[speed] = h;
    tal_status st = tal_state_set_q(model->state, q, nq);
    if (st == TAL_OK) st = tal_system_realize(model->system, model->state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_matter_mul_N(model->matter, model->state, TAL_N, u, qdot);
    for (int k = 0; k < nq && st == TAL_OK; ++k) {
        tal_state_upd_q(model->state)[k] = q[k] + qdot[k];
    }
    if (st == TAL_OK && tal_matter_num_constraints(model->matter) > 0) {
        st = tal_mobility_lock(model->matter, model->state, at, TAL_LEVEL_POSITION);
        if (st == TAL_OK) {
            st = meet_constraints(model);
        }
        (void)tal_mobility_unlock(model->matter, model->state, at);
    }
    if (st == TAL_OK) st = tal_system_realize(model->system, model->state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) *length = tal_path_length(model->forces, model->state, (tal_path_ix){0});
    return st;
}

// Moment arms against -dl along each speed. Differences over h are off by h^2 / 6 times the third
// derivative of the length, which is 5e5 where a patella hardly moves with its knee: 1e-7.
static tal_status compare_arms(const tal_model *model, double *worst)
{
    static double work[MOST];
    static int iwork[MOST];
    const double h = 1e-6;
    double q[64], arms[64];
    memcpy(q, tal_state_q(model->state), (size_t)tal_state_nq(model->state) * sizeof *q);
    tal_status st =
        tal_path_calc_moment_arms(model->forces, model->state, (tal_path_ix){0}, arms, work, iwork);
    for (int k = 0; k < tal_state_nu(model->state) && st == TAL_OK; ++k) {
        double low = 0.0, high = 0.0;
        if (isnan(arms[k])) continue; // the constraints hold it
        st = length_after(model, q, k, -h, &low);
        if (st == TAL_OK) st = length_after(model, q, k, h, &high);
        if (st == TAL_OK) *worst = fmax(*worst, fabs(arms[k] + (high - low) / (2.0 * h)));
    }
    return st;
}

// Poses with coordinates between -1 and 0, as far as constraints let them.
static tal_status sweep_arms(const tal_model *model, double *worst)
{
    tal_status st = tal_system_realize(model->system, model->state, TAL_STAGE_VELOCITY);
    const bool fits = st == TAL_OK && tal_state_nq(model->state) <= 64 &&
                      tal_forces_moment_arms_work_size(model->forces, model->state) <= MOST &&
                      tal_forces_moment_arms_iwork_size(model->forces, model->state) <= MOST;
    if (!fits) return TAL_ERR_NO_MEMORY;
    for (int number = 0; number < 11 && st == TAL_OK; ++number) {
        const double value = -0.1 * number;
        for (int k = 0; k < tal_state_nq(model->state); ++k) {
            tal_state_upd_q(model->state)[k] = value + 0.013 * k;
        }
        (void)tal_matter_normalize_quaternions(model->matter, model->state);
        st = meet_constraints(model);
        if (st == TAL_OK) st = tal_system_realize(model->system, model->state, TAL_STAGE_VELOCITY);
        if (st == TAL_OK) st = compare_arms(model, worst);
    }
    return st;
}

static void run_arms(const char *name)
{
    char file[200];
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    (void)snprintf(file, sizeof file, "14_moment_arm_models/%s.osim", name);
    tal_status st = tal_osim_read_file(cases_path(file), NULL, &model, found);
    double worst = 0.0;
    if (st == TAL_OK) st = sweep_arms(&model, &worst);
    if (st == TAL_OK) {
        cases_print_row(name, "moment arm against -dl/dq [m]", worst, 1e-6);
    } else {
        if (model.state != NULL) fprintf(stderr, "%s\n", tal_state_error(model.state)->message);
        cases_print_failure(name, "moment arm against -dl/dq", found);
    }
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
}

void cases_run_muscles(void)
{
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        run_lengths(&lengths[i]);
    }
    run_forward();
    run_equilibrium();
    for (size_t i = 0; i < sizeof arm_models / sizeof *arm_models; ++i) {
        run_arms(arm_models[i]);
    }
}
