// Poses that meet the constraints, for fits of paths along what these allow: the arguments are
// locked, and an assembler finds the other coordinates from one start.
//
// Arguments are independent if their rows of K are, where the columns of K are the motions that the
// constraints allow.
#include "alloc_internal.h"
#include "array_internal.h"

#include "path/bound_internal.h"
#include "problem/study_internal.h"

#include <math.h>
#include <string.h>

// The part of a row of K that must be left after those before are taken off, so that it counts.
static const double INDEPENDENT = 1e-6;

// One block for the matrices and for the work of all calls.
static bool take_memory(tali_fit_bound *it, const tali_fit_subject *subject)
{
    const tal_matter *matter = subject->matter;
    const tal_state *state = it->start;
    const size_t nu = (size_t)tal_matter_nu(matter);
    const size_t doubles =
        tali_alloc_larger(tal_matter_dense_work_size(matter, state),
                          tal_forces_moment_arms_work_size(subject->forces, state));
    const size_t ints =
        tali_alloc_larger(tal_matter_dense_iwork_size(matter, state),
                          tal_forces_moment_arms_iwork_size(subject->forces, state));
    it->K = tal_matrix_view(NULL, (int)nu, (int)nu);
    const tali_piece pieces[] = {
        {&it->K.data, (nu * nu + 1) * sizeof(double)},
        {&it->basis, (TAL_FUNCTION_MAX_ARGS * nu + 1) * sizeof(double)},
        {&it->arms, (nu + 1) * sizeof(double)},
        {&it->work, (doubles + 1) * sizeof(double)},
        {&it->iwork, (ints + 1) * sizeof(int)},
    };
    const tal_allocator allocator = tal_system_allocator(subject->system);
    it->block = tali_alloc_pieces(&allocator, pieces, sizeof pieces / sizeof *pieces, &it->bytes);
    return it->block != NULL;
}

// The State of the subject, assembled.
static tal_status assemble_start(tali_fit_bound *it, const tali_fit_subject *subject,
                                 tal_error *err)
{
    tal_assembler_def def = tal_assembler_def_default();
    def.ignore_ranges = true; // those of the arguments are kept anyway
    tal_status st = tal_assembler_create(subject->system, &def, &it->assembler, err);
    if (st == TAL_OK) st = tal_state_create(subject->system, &it->start, err);
    if (st == TAL_OK) st = tal_state_copy(it->start, subject->state);
    if (st != TAL_OK) return st;
    st = tal_assembler_assemble(it->assembler, it->start, NULL);
    if (st != TAL_OK) {
        return TALI_FAIL(err, st, "path '%s': %s", tal_path_name(subject->forces, subject->path),
                         tal_assembler_error(it->assembler)->message);
    }
    return tal_system_realize(subject->system, it->start, TAL_STAGE_VELOCITY);
}

tal_status tali_fit_bound_begin(tali_fit_bound *it, const tali_fit_subject *subject, tal_error *err)
{
    *it = (tali_fit_bound){.assembler = NULL};
    tal_status st = assemble_start(it, subject, err);
    if (st != TAL_OK) return st;
    if (!take_memory(it, subject)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a fit to path '%s'",
                         tal_path_name(subject->forces, subject->path));
    }
    st = tal_matter_calc_null_basis(subject->matter, it->start, it->K, &it->dof, it->work,
                                    it->iwork);
    if (st == TAL_OK) return st;
    return TALI_FAIL(err, st, "path '%s': %s", tal_path_name(subject->forces, subject->path),
                     tali_problem_reason(it->start, st));
}

void tali_fit_bound_end(tali_fit_bound *it, const tal_system *system)
{
    if (it->assembler == NULL) return;
    const tal_allocator allocator = tal_system_allocator(system);
    tali_free(&allocator, it->block, it->bytes);
    tal_state_destroy(it->start);
    tal_assembler_destroy(it->assembler);
}

tal_status tali_fit_bound_check(const tali_fit_bound *it, const tali_fit_subject *subject,
                                tal_mobility at, tal_error *err)
{
    const bool is_speed = tal_body_qdot_is_u(subject->matter, at.body);
    if (is_speed && tal_mobility_level(subject->matter, it->start, at) == TAL_LEVEL_FREE) {
        return TAL_OK;
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "path '%s': coordinate %d of body '%s' cannot be held at values of a fit: %s",
                     tal_path_name(subject->forces, subject->path), at.i,
                     tal_body_name(subject->matter, at.body),
                     is_speed ? "it is locked or prescribed" : "its rate is not a speed");
}

static int speed_of(const tali_fit_subject *subject, tal_mobility at)
{
    return tal_body_u_start(subject->matter, at.body) + at.i;
}

bool tali_fit_bound_add(tali_fit_bound *it, const tali_fit_subject *subject, tal_mobility at)
{
    const int dof = it->dof, row = speed_of(subject, at);
    if (it->num_basis == TAL_FUNCTION_MAX_ARGS) return true; // one too many: told by the caller
    double *rest = it->basis + (size_t)it->num_basis * (size_t)it->K.rows;
    for (int j = 0; j < dof; ++j) {
        rest[j] = it->K.data[(size_t)row + (size_t)j * (size_t)it->K.ld];
    }
    for (int k = 0; k < it->num_basis; ++k) {
        const double *known = it->basis + (size_t)k * (size_t)it->K.rows;
        const double along = tali_array_dot(known, rest, dof);
        for (int j = 0; j < dof; ++j) {
            rest[j] -= along * known[j];
        }
    }
    const double size = sqrt(tali_array_dot(rest, rest, dof));
    if (!(size > INDEPENDENT)) return false;
    for (int j = 0; j < dof; ++j) {
        rest[j] /= size;
    }
    ++it->num_basis;
    return true;
}

tal_status tali_fit_bound_move(const tali_fit_bound *it, const tali_fit_subject *subject,
                               const tal_mobility at[], const double q[], int n)
{
    tal_status st = tal_state_copy(subject->state, it->start);
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        st = tal_mobility_lock_at(subject->matter, subject->state, at[i], TAL_LEVEL_POSITION, q[i]);
    }
    if (st != TAL_OK) return st;
    st = tal_assembler_assemble(it->assembler, subject->state, NULL);
    if (st != TAL_OK) {
        return tal_state_fail(subject->state, st, "%s",
                              tal_assembler_error(it->assembler)->message);
    }
    return tal_system_realize(subject->system, subject->state, TAL_STAGE_VELOCITY);
}

tal_status tali_fit_bound_slopes(const tali_fit_bound *it, const tali_fit_subject *subject,
                                 const tal_mobility at[], double slopes[], int n)
{
    const tal_status st = tal_path_calc_moment_arms(subject->forces, subject->state, subject->path,
                                                    it->arms, it->work, it->iwork);
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        slopes[i] = -it->arms[speed_of(subject, at[i])];
    }
    return st;
}
