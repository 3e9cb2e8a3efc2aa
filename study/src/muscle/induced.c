// Induced accelerations: the equations of motion, solved for one force at a time.
//
// udot = P f with P = M^-1 - M^-1 G^T W^+ G M^-1 and W = G M^-1 G^T (manual eq. 8.43). M^-1 is that
// of the speeds that are free.
#include "muscle/drive_internal.h"
#include "problem/study_internal.h"

#include <talus/study/induced.h>

#include <math.h>
#include <string.h>

// Behind the actuators.
enum {
    GRAVITY,
    VELOCITY,
    MOTION,
    OTHER,
    NUM_MORE
};

struct tal_induced {
    const tal_system *system;
    const tal_matter *matter;
    const tal_forces *forces;
    tal_allocator allocator;
    bool potentials;
    tali_drives drives;
    int nu, max_rows, num_bodies;
    tal_state *state; // a copy of the caller's
    void *block;
    size_t block_bytes;
    int *first; // [drives.n + 1] the first column of each actuator
    int num_actuators;
    tal_force_ix *which;   // [num_forces]
    double *f, *a, *back;  // [nu]
    double *aerr, *lambda; // [max_rows]
    double *known;         // [nu] prescribed udot, zero where it is free
    tal_spatial_vec *bias; // [num_bodies]
    tal_error error_record;
};

tal_induced_def tal_induced_def_default(void)
{
    const tal_induced_def def = {.potentials = false};
    return def;
}

// --- creation ---

// A body actuator has six columns, and is one contributor.
static void group_columns(tal_induced *it)
{
    for (int j = 0; j < it->drives.n; ++j) {
        if (it->drives.columns[j].part == 0) it->first[it->num_actuators++] = j;
    }
    it->first[it->num_actuators] = it->drives.n;
}

static tal_status take_memory(tal_induced *it, tal_error *err)
{
    const size_t nu = (size_t)it->nu, m = (size_t)it->max_rows, d = sizeof(double);
    const tali_piece pieces[] = {
        {&it->first, ((size_t)it->drives.n + 1) * sizeof *it->first},
        {&it->which, (size_t)tal_forces_num(it->forces) * sizeof *it->which},
        {&it->f, nu * d},
        {&it->a, nu * d},
        {&it->back, nu * d},
        {&it->aerr, m * d},
        {&it->lambda, m * d},
        {&it->known, nu * d},
        {&it->bias, (size_t)it->num_bodies * sizeof *it->bias},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for induced accelerations");
    }
    group_columns(it);
    return tal_state_create(it->system, &it->state, err);
}

static tal_status check(const tal_system *system, const tal_forces *forces, tal_error *err)
{
    const tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    if (forces == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the forces are NULL");
    if (tal_forces_matter(forces) == tal_system_matter(system)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the forces belong to another System");
}

tal_status tal_induced_create(const tal_system *system, const tal_forces *forces,
                              const tal_induced_def *def, tal_induced **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    *out = NULL;
    tal_status st = check(system, forces, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_induced *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the study");
    it->system = system;
    it->matter = tal_system_matter(system);
    it->forces = forces;
    it->allocator = allocator;
    it->potentials = def != NULL && def->potentials;
    it->nu = tal_matter_nu(it->matter);
    it->num_bodies = tal_matter_num_bodies(it->matter);
    it->max_rows = tal_system_pool_capacity(system, TAL_POOL_UDOTERR);
    st = tali_drives_create(&it->drives, system, forces, NULL, 0, err);
    if (st == TAL_OK) st = take_memory(it, err);
    if (st != TAL_OK) {
        tal_induced_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

void tal_induced_destroy(tal_induced *induced)
{
    if (induced == NULL) return;
    const tal_allocator allocator = induced->allocator;
    tal_state_destroy(induced->state);
    tali_drives_destroy(&induced->drives);
    tali_free(&allocator, induced->block, induced->block_bytes);
    tali_free(&allocator, induced, sizeof *induced);
}

int tal_induced_num(const tal_induced *induced)
{
    if (induced != NULL) return induced->num_actuators + NUM_MORE;
    (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    return -1;
}

static bool has(const tal_induced *it, int i, const char *where)
{
    if (it != NULL && i >= 0 && i < it->num_actuators + NUM_MORE) return true;
    (void)tali_breach(it == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX, where,
                      "there is no contributor %d", i);
    return false;
}

const char *tal_induced_name(const tal_induced *induced, int i)
{
    static const char *const names[NUM_MORE] = {"gravity", "velocity", "motion", "other"};
    if (!has(induced, i, __func__)) return "";
    if (i >= induced->num_actuators) return names[i - induced->num_actuators];
    return tal_force_name(induced->forces, induced->drives.columns[induced->first[i]].force);
}

const tal_error *tal_induced_error(const tal_induced *induced)
{
    static const tal_error none = {TAL_ERR_NULL, "", "the study is NULL"};
    return induced != NULL ? &induced->error_record : &none;
}

// --- forces ---

static bool is_gravity(const tal_forces *forces, int i)
{
    return strcmp(tal_force_kind(forces, (tal_force_ix){i}), "gravity") == 0;
}

// Generalized forces of all enabled elements that are gravity, or of all that are neither gravity
// nor actuators.
static tal_status sum_elements(tal_induced *it, bool gravity)
{
    int n = 0;
    for (int i = 0; i < tal_forces_num(it->forces); ++i) {
        const tal_force_ix force = {i};
        if (it->drives.is_drive[i] || is_gravity(it->forces, i) != gravity) continue;
        if (tal_force_is_enabled(it->forces, it->state, force)) it->which[n++] = force;
    }
    return tal_forces_calc_generalized(it->forces, it->state, it->which, n, it->f);
}

// The force of an actuator as it is; or one unit of it.
static tal_status find_actuator(tal_induced *it, int i)
{
    const tal_force_ix force = it->drives.columns[it->first[i]].force;
    memset(it->f, 0, (size_t)it->nu * sizeof *it->f);
    if (!tal_force_is_enabled(it->forces, it->state, force)) return TAL_OK;
    if (!it->potentials) {
        return tal_forces_calc_generalized(it->forces, it->state, &force, 1, it->f);
    }
    for (int j = it->first[i]; j < it->first[i + 1]; ++j) {
        const double *unit = it->drives.unit + (size_t)j * (size_t)it->nu;
        for (int k = 0; k < it->nu; ++k) {
            it->f[k] += unit[k];
        }
    }
    return TAL_OK;
}

// f of a contributor. Moving bodies take -C, known accelerations -M udot.
static tal_status find_force(tal_induced *it, int i)
{
    if (i < it->num_actuators) return find_actuator(it, i);
    const int more = i - it->num_actuators;
    if (more == GRAVITY || more == OTHER) return sum_elements(it, more == GRAVITY);
    const tal_status st =
        more == VELOCITY
            ? tal_matter_inverse_dynamics(it->matter, it->state, NULL, NULL, NULL, it->f)
            : tal_matter_mul_M(it->matter, it->state, it->known, it->f);
    for (int k = 0; k < it->nu; ++k) {
        it->f[k] = -it->f[k];
    }
    return st;
}

// --- accelerations ---

// What constraints take away of a, which they must not allow; `moving`: they move themselves.
static tal_status constrain(tal_induced *it, int m, bool moving, double a[], double lambda[])
{
    tal_status st = moving ? tal_matter_calc_constraint_aerr(it->matter, it->state, a, it->aerr)
                           : tal_matter_mul_G(it->matter, it->state, TAL_G, a, it->aerr);
    if (st == TAL_OK) st = tal_matter_calc_multipliers(it->matter, it->state, it->aerr, it->lambda);
    if (st == TAL_OK) st = tal_matter_mul_GT(it->matter, it->state, TAL_G, it->lambda, it->f);
    if (st == TAL_OK) st = tal_matter_mul_Minv(it->matter, it->state, it->f, it->back);
    for (int k = 0; k < it->nu && st == TAL_OK; ++k) {
        a[k] -= it->back[k];
    }
    if (lambda != NULL) memcpy(lambda, it->lambda, (size_t)m * sizeof *lambda);
    return st;
}

static tal_status solve(tal_induced *it, int i, int m, double a[], double lambda[])
{
    tal_status st = find_force(it, i);
    if (st == TAL_OK) st = tal_matter_mul_Minv(it->matter, it->state, it->f, a);
    for (int k = 0; k < it->nu && st == TAL_OK && i == it->num_actuators + MOTION; ++k) {
        a[k] += it->known[k];
    }
    if (st != TAL_OK || m == 0) return st;
    return constrain(it, m, i == it->num_actuators + VELOCITY, a, lambda);
}

// Accelerations that are known, from those of the State.
static void find_known(tal_induced *it)
{
    const tal_group_ix group =
        tal_system_find_group(it->system, tal_matter_subsystem(it->matter), TAL_POOL_U, "u");
    const double *udot = tal_state_udot(it->state) + tal_group_start(it->system, it->state, group);
    for (tal_body_ix body = {1}; body.i < it->num_bodies; ++body.i) {
        const int first = tal_body_u_start(it->matter, body);
        for (int k = 0; k < tal_body_nu(it->matter, body); ++k) {
            const tal_mobility at = {body, k};
            const bool is_free = tal_mobility_level(it->matter, it->state, at) == TAL_LEVEL_FREE;
            it->known[first + k] = is_free ? 0.0 : udot[first + k];
        }
    }
}

static tal_status pass_on(tal_induced *it, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(&it->error_record, st, "%s", tali_problem_reason(it->state, st));
}

tal_status tal_induced_calc(tal_induced *induced, const tal_state *state, double udot[],
                            double lambda[])
{
    tal_induced *it = induced;
    if (it == NULL) return TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    if (state == NULL || (udot == NULL && it->nu > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "a State or an array is NULL");
    }
    it->error_record = (tal_error){TAL_OK, "", ""};
    tal_status st = tal_state_copy(it->state, state);
    if (st != TAL_OK) return TALI_FAIL(&it->error_record, st, "the State is of another System");
    st = tal_system_realize(it->system, it->state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return pass_on(it, st);
    find_known(it);
    if (it->potentials) st = tali_drives_find(&it->drives, it->state);
    const tal_constraint_rows rows = tal_matter_constraint_rows(it->matter, it->state);
    const int m = rows.mp + rows.mv + rows.ma;
    for (int i = 0; i < it->num_actuators + NUM_MORE && st == TAL_OK; ++i) {
        st = solve(it, i, m, udot + (size_t)i * (size_t)it->nu,
                   lambda != NULL ? lambda + (size_t)i * (size_t)m : NULL);
    }
    return pass_on(it, st);
}

tal_status tal_induced_calc_bodies(tal_induced *induced, int i, const double udot[],
                                   tal_spatial_vec A_GB[])
{
    tal_induced *it = induced;
    if (!has(it, i, __func__)) return tal_contract_last()->status;
    if (A_GB == NULL || (udot == NULL && it->nu > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "an array is NULL");
    }
    if (tal_state_stage(it->state) < TAL_STAGE_VELOCITY) {
        return TALI_BREACH(TAL_ERR_STAGE, "call tal_induced_calc() first");
    }
    if (i == it->num_actuators + VELOCITY) {
        return tal_matter_calc_accelerations(it->matter, it->state, udot, A_GB);
    }
    return tal_matter_mul_J(it->matter, it->state, udot, A_GB);
}
