// Length of a path and its slope along coordinates, for the studies of paths.
#include "force_facts_internal.h"

#include "path/length_internal.h"
#include "problem/study_internal.h"

static tal_status check_call(const tal_system *system, const tal_forces *forces,
                             const tal_state *start, const char *where, tal_error *err)
{
    if (forces == NULL || start == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "an argument is NULL");
        return tali_fail(err, TAL_ERR_NULL, where, "an argument is NULL");
    }
    const tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    if (system == tali_force_system(forces) &&
        tal_state_structure_hash(start) == tal_system_structure_hash(system)) {
        return TAL_OK;
    }
    (void)tali_breach(TAL_ERR_WRONG_SYSTEM, where, "forces or State belong to another System");
    return tali_fail(err, TAL_ERR_WRONG_SYSTEM, where, "forces or State belong to another System");
}

tal_status tali_fit_begin(const tal_system *system, const tal_forces *forces,
                          const tal_state *start, tal_path_ix path, const char *where,
                          tali_fit_subject *out, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    *out = (tali_fit_subject){.system = system, .forces = forces, .path = path};
    tal_status st = check_call(system, forces, start, where, err);
    if (st != TAL_OK) return st;
    if (path.i < 0 || path.i >= tal_forces_num_paths(forces)) {
        return tali_fail(err, TAL_ERR_BAD_INDEX, where, "there is no path %d: there are %d", path.i,
                         tal_forces_num_paths(forces));
    }
    out->matter = tal_system_matter(system);
    st = tal_state_create(system, &out->state, err);
    if (st == TAL_OK) st = tal_state_copy(out->state, start);
    if (st == TAL_OK) st = tal_system_realize(system, out->state, TAL_STAGE_INSTANCE);
    if (st == TAL_OK || out->state == NULL) return st;
    return tali_fail(err, st, where, "%s", tali_problem_reason(out->state, st));
}

int tali_fit_slot(const tali_fit_subject *it, tal_mobility at)
{
    const int more =
        tal_body_nq(it->matter, it->state, at.body) - tal_body_nq_angles(it->matter, at.body);
    return more > 0 && at.i < 3 ? -1 : at.i + more;
}

// g = -N^T dl/dq
tal_status tali_fit_calc_slope(const tali_fit_subject *it, const double g[], tal_mobility at,
                               double *slope)
{
    double f_q[TAL_MAX_NQ] = {0.0};
    const tal_status st = tal_body_mul_N(it->matter, it->state, at.body, TAL_NPLUS_T,
                                         g + tal_body_u_start(it->matter, at.body), f_q);
    *slope = -f_q[tali_fit_slot(it, at)];
    return st;
}
