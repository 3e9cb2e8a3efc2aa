// The norm that SUNDIALS' error tests use (manual sec. 9.1 to 9.3). As in error_norm.c, but with
// the weights of the start of the step, kept in numbers: SUNDIALS asks for norms while the State is
// elsewhere.
#include "sundials/sundials_internal.h"

#include <math.h>
#include <string.h>

// Least weight of a coordinate, as a part of the largest.
static const double LEAST_WEIGHT = 1e-3;

// --- creation ---

bool tali_sun_weights_create(tali_sun_weights *it, const tal_integrator *integ)
{
    *it = (tali_sun_weights){.integ = integ};
    const size_t nq = (size_t)tal_system_pool_capacity(integ->problem.system, TAL_POOL_Q);
    const size_t nu = (size_t)tal_system_pool_capacity(integ->problem.system, TAL_POOL_U);
    const size_t nz = (size_t)tal_system_pool_capacity(integ->problem.system, TAL_POOL_Z);
    const size_t bodies =
        integ->problem.matter != NULL ? (size_t)tal_matter_num_bodies(integ->problem.matter) : 0;
    const tali_piece pieces[] = {{&it->blocks, bodies * sizeof *it->blocks},
                                 {&it->coefs, nq * TAL_MAX_NU * sizeof *it->coefs},
                                 {&it->e, (nq + nu + nz) * sizeof *it->e},
                                 {&it->units, nq * sizeof *it->units},
                                 {&it->columns, nu * sizeof *it->columns},
                                 {&it->known_q, nu * sizeof *it->known_q},
                                 {&it->known_u, nu * sizeof *it->known_u}};
    it->block = tali_alloc_pieces(&integ->problem.allocator, pieces,
                                  sizeof pieces / sizeof pieces[0], &it->block_bytes);
    return it->block != NULL;
}

void tali_sun_weights_destroy(tali_sun_weights *it)
{
    if (it->block != NULL) tali_free(&it->integ->problem.allocator, it->block, it->block_bytes);
    it->block = NULL;
}

// --- setting them ---

// One block for each body with speeds, and which of these are known. Both stay until the State is
// changed from outside.
static void lay_out_blocks(tali_sun_weights *it, const tal_state *state)
{
    const tal_matter *matter = it->integ->problem.matter;
    const int u0 = tal_group_start(it->integ->problem.system, state, it->integ->problem.u_group);
    int first = 0;
    for (int i = 1; i < tal_matter_num_bodies(matter); ++i) {
        const tal_body_ix body = {i};
        const int nu = tal_body_nu(matter, body);
        if (nu == 0) continue;
        tali_sun_weight_block *b = &it->blocks[it->num_blocks++];
        *b = (tali_sun_weight_block){.q0 = tal_body_q_start(matter, state, body),
                                     .u0 = u0 + tal_body_u_start(matter, body),
                                     .nq = tal_body_nq(matter, state, body),
                                     .nu = nu,
                                     .first = first};
        first += b->nq * b->nu;
        if (b->nq > it->widest) it->widest = b->nq;
        for (int k = 0; k < nu; ++k) {
            const tal_level level = tal_mobility_level(matter, state, (tal_mobility){body, k});
            it->known_q[b->u0 + k] = level >= TAL_LEVEL_POSITION;
            it->known_u[b->u0 + k] = level >= TAL_LEVEL_VELOCITY;
        }
    }
}

// Column j of W_u N^+ over the accuracy for every body that has as many: N^+ is made of blocks, so
// that one product with the sum of their unit vectors gives all.
static tal_status set_columns(tali_sun_weights *it, tal_state *state, int j)
{
    const tal_integrator *integ = it->integ;
    const int q0 = tal_group_start(integ->problem.system, state, integ->problem.q_group);
    const int u0 = tal_group_start(integ->problem.system, state, integ->problem.u_group);
    const double *weights = tal_state_weights(state, TAL_POOL_U), scale = 1.0 / integ->tolerance;
    memset(it->units, 0, (size_t)tal_matter_nq(integ->problem.matter, state) * sizeof *it->units);
    for (int k = 0; k < it->num_blocks; ++k) {
        const tali_sun_weight_block *b = &it->blocks[k];
        if (j < b->nq) it->units[b->q0 - q0 + j] = 1.0;
    }
    const tal_status st =
        tal_matter_mul_N(integ->problem.matter, state, TAL_NPLUS, it->units, it->columns);
    for (int k = 0; k < it->num_blocks && st == TAL_OK; ++k) {
        const tali_sun_weight_block *b = &it->blocks[k];
        double sum = 0.0;
        for (int i = 0; i < b->nu && j < b->nq; ++i) {
            const double coef = scale * weights[b->u0 + i] * it->columns[b->u0 - u0 + i];
            it->coefs[b->first + i * b->nq + j] = coef;
            sum += coef * coef;
        }
        // a change of a quaternion's length alone counts for nothing; its weight may not be zero
        if (j < b->nq) it->e[b->q0 + j] = fmax(sqrt(sum), LEAST_WEIGHT * scale);
    }
    return st;
}

// tali_problem_weight() over the accuracy.
static void set_relative(const double weights[], const double y[], int n,
                         tali_problem_absolute absolute, double scale, double e[])
{
    for (int i = 0; i < n; ++i) {
        e[i] = scale * tali_problem_weight(weights[i], y[i], absolute, i);
    }
}

// Everything that does not change from step to step.
static void restart_weights(tali_sun_weights *it, const tal_state *state)
{
    it->nq = tal_state_nq(state);
    it->nu = tal_state_nu(state);
    it->nz = tal_state_nz(state);
    it->num_blocks = it->widest = 0;
    for (int i = 0; i < it->nq; ++i) {
        it->e[i] = 1.0 / it->integ->tolerance; // of coordinates that are not matter's
    }
    memset(it->known_q, 0, (size_t)it->nu * sizeof *it->known_q);
    memset(it->known_u, 0, (size_t)it->nu * sizeof *it->known_u);
    if (it->integ->problem.matter != NULL) lay_out_blocks(it, state);
}

tal_status tali_sun_weights_set(tali_sun_weights *it, tal_state *state, bool restart)
{
    const tali_problem *problem = &it->integ->problem;
    const double scale = 1.0 / it->integ->tolerance, *y = tal_state_y(state);
    if (restart) restart_weights(it, state);
    set_relative(tal_state_weights(state, TAL_POOL_U), y + it->nq, it->nu, problem->absolute_u,
                 scale, it->e + it->nq);
    set_relative(tal_state_weights(state, TAL_POOL_Z), y + it->nq + it->nu, it->nz,
                 problem->absolute_z, scale, it->e + it->nq + it->nu);
    tal_status st = TAL_OK;
    for (int j = 0; j < it->widest && st == TAL_OK; ++j) {
        st = set_columns(it, state, j);
    }
    return st;
}

// --- the norm ---

// Coordinates of other subsystems are before and after matter's.
static tali_problem_norm norm_of_q(const tali_sun_weights *it, const double y[], const double id[])
{
    tali_problem_norm sum = {0.0, 0.0, 0, 0};
    int next = 0;
    for (int k = 0; k < it->num_blocks; ++k) {
        const tali_sun_weight_block *b = &it->blocks[k];
        for (; next < b->q0; ++next) {
            if (id == NULL || id[next] != 0.0) {
                tali_problem_norm_add(&sum, next, it->e[next] * y[next]);
            }
        }
        next = b->q0 + b->nq;
        if (id != NULL && id[b->q0] == 0.0) continue;
        const double *coef = it->coefs + b->first;
        for (int i = 0; i < b->nu; ++i, coef += b->nq) {
            double motion = 0.0;
            for (int j = 0; j < b->nq; ++j) {
                motion += coef[j] * y[b->q0 + j];
            }
            if (!it->known_q[b->u0 + i]) tali_problem_norm_add(&sum, b->u0 + i, motion);
        }
    }
    for (; next < it->nq; ++next) {
        if (id == NULL || id[next] != 0.0) tali_problem_norm_add(&sum, next, it->e[next] * y[next]);
    }
    return sum;
}

static tali_problem_norm norm_of(const double e[], const double y[], const double *id,
                                 const bool *known, int n)
{
    tali_problem_norm sum = {0.0, 0.0, 0, 0};
    for (int i = 0; i < n; ++i) {
        if ((known != NULL && known[i]) || (id != NULL && id[i] == 0.0)) continue;
        tali_problem_norm_add(&sum, i, e[i] * y[i]);
    }
    return sum;
}

double tali_sun_weights_norm(const tali_sun_weights *it, const double y[], const double id[])
{
    const int nq = it->nq, nu = it->nu, nz = it->nz;
    const bool infinity_norm = it->integ->def.infinity_norm;
    const tali_problem_norm q = norm_of_q(it, y, id);
    const tali_problem_norm u =
        norm_of(it->e + nq, y + nq, id != NULL ? id + nq : NULL, it->known_u, nu);
    const tali_problem_norm z =
        norm_of(it->e + nq + nu, y + nq + nu, id != NULL ? id + nq + nu : NULL, NULL, nz);
    return fmax(fmax(tali_problem_norm_value(&q, infinity_norm),
                     tali_problem_norm_value(&u, infinity_norm)),
                tali_problem_norm_value(&z, infinity_norm));
}
