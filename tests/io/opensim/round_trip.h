// Two models that should be the same: one written as .osim, and one read from that.
#ifndef TALUS_OSIM_ROUND_TRIP_H
#define TALUS_OSIM_ROUND_TRIP_H

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND_TRIP_MOST = 128 // speeds
};

// Numbers of a pose to be compared: inertia, lengths and speeds of paths, what forces and motion
// leave over, errors of constraints; and accelerations, which constraints may make sensitive.
typedef struct round_trip_pose {
    double M[ROUND_TRIP_MOST * ROUND_TRIP_MOST];
    double lengths[1024], speeds[1024];
    double udot[ROUND_TRIP_MOST], residual[ROUND_TRIP_MOST], qerr[ROUND_TRIP_MOST];
} round_trip_pose;

// A reproducible number between -1 and 1.
static double round_trip_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int32_t)(uint32_t)(*seed >> 33) / 1073741824.0 - 1.0;
}

// The largest difference over the largest number, or over one.
static double round_trip_compare(const double a[], const double b[], int n)
{
    double most = 1.0, worst = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(a[i]));
        const bool same = isnan(a[i]) && isnan(b[i]);
        const double d = isfinite(a[i]) && isfinite(b[i]) ? fabs(a[i] - b[i]) : (double)INFINITY;
        worst = same ? worst : fmax(worst, d);
    }
    return worst / most;
}

static tal_status round_trip_calc(const tal_model *model, const double q[], const double u[],
                                  const double z[], round_trip_pose *pose)
{
    tal_state *s = model->state;
    const int nu = tal_state_nu(s);
    tal_status st = tal_state_set_q(s, q, tal_state_nq(s));
    if (st == TAL_OK) st = tal_state_set_u(s, u, nu);
    if (st == TAL_OK) st = tal_state_set_z(s, z, tal_state_nz(s));
    if (st == TAL_OK) st = tal_system_realize(model->system, s, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) {
        st = tal_matter_calc_M(model->matter, s, (tal_matrix){pose->M, nu, nu, nu});
    }
    if (st == TAL_OK) st = tal_forces_calc_path_lengths(model->forces, s, pose->lengths);
    if (st == TAL_OK) st = tal_forces_calc_path_speeds(model->forces, s, pose->speeds);
    if (st == TAL_OK) {
        st = tal_matter_calc_residual(model->matter, s, u, NULL, pose->residual);
    }
    if (st == TAL_OK) {
        memcpy(pose->qerr, tal_state_qerr(s),
               (size_t)tal_state_pool_size(s, TAL_POOL_QERR) * sizeof *pose->qerr);
    }
    if (st == TAL_OK) memcpy(pose->udot, tal_state_udot(s), (size_t)nu * sizeof *pose->udot);
    return st;
}

// Where the coordinates and speeds of a model are in another one, whose bodies may stand in another
// order. False when it has not the same bodies.
static bool round_trip_map(const tal_model *a, const tal_model *b, int q[], int u[])
{
    bool good = tal_matter_num_bodies(a->matter) == tal_matter_num_bodies(b->matter);
    for (int i = 1; good && i < tal_matter_num_bodies(a->matter); ++i) {
        const tal_body_ix x = {i}, y = tal_matter_find_body(b->matter, tal_body_name(a->matter, x));
        if (y.i < 0) return false;
        const int nq = tal_body_nq(a->matter, a->state, x), nu = tal_body_nu(a->matter, x);
        good = nq == tal_body_nq(b->matter, b->state, y) && nu == tal_body_nu(b->matter, y);
        for (int k = 0; k < nq && good; ++k) {
            q[tal_body_q_start(a->matter, a->state, x) + k] =
                tal_body_q_start(b->matter, b->state, y) + k;
        }
        for (int k = 0; k < nu && good; ++k) {
            u[tal_body_u_start(a->matter, x) + k] = tal_body_u_start(b->matter, y) + k;
        }
    }
    return good;
}

// What differs most of all over some random poses near the one in which a model begins. Infinite
// when the models have not the same sizes.
static double round_trip_difference(const tal_model *a, const tal_model *b, int poses)
{
    static round_trip_pose pa, pb;
    if (tal_system_realize(a->system, a->state, TAL_STAGE_INSTANCE) != TAL_OK) return INFINITY;
    if (tal_system_realize(b->system, b->state, TAL_STAGE_INSTANCE) != TAL_OK) return INFINITY;
    static double M[ROUND_TRIP_MOST * ROUND_TRIP_MOST], udot[ROUND_TRIP_MOST],
        residual[ROUND_TRIP_MOST];
    const int nq = tal_state_nq(a->state), nu = tal_state_nu(a->state), nz = tal_state_nz(a->state);
    const int np = tal_forces_num_paths(a->forces),
              nc = tal_state_pool_size(a->state, TAL_POOL_QERR);
    const bool is_free = tal_matter_num_constraints(a->matter) == 0;
    if (nq != tal_state_nq(b->state) || nu != tal_state_nu(b->state) || nu > ROUND_TRIP_MOST ||
        nz != tal_state_nz(b->state) || nc > ROUND_TRIP_MOST ||
        nc != tal_state_pool_size(b->state, TAL_POOL_QERR) || np > 1024 ||
        np != tal_forces_num_paths(b->forces) ||
        tal_forces_num_controllers(a->forces) != tal_forces_num_controllers(b->forces)) {
        return INFINITY;
    }
    uint64_t seed = 7;
    int num = 0; // poses that can be compared
    double worst = 0.0, q0[ROUND_TRIP_MOST], q[2][ROUND_TRIP_MOST], u[2][ROUND_TRIP_MOST];
    int to_q[ROUND_TRIP_MOST], to_u[ROUND_TRIP_MOST];
    if (!round_trip_map(a, b, to_q, to_u)) return INFINITY;
    memcpy(q0, tal_state_q(a->state), (size_t)nq * sizeof *q0);
    double *z = malloc((size_t)(nz + 1) * sizeof *z);
    if (z == NULL) return INFINITY;
    memcpy(z, tal_state_z(a->state), (size_t)nz * sizeof *z);
    for (int k = 0; k < poses; ++k) {
        for (int i = 0; i < nq; ++i) {
            q[0][i] = q[1][to_q[i]] = q0[i] + 0.3 * round_trip_random(&seed);
        }
        for (int i = 0; i < nu; ++i) {
            u[0][i] = u[1][to_u[i]] = round_trip_random(&seed);
        }
        const tal_status sa = round_trip_calc(a, q[0], u[0], z, &pa);
        const tal_status sb = round_trip_calc(b, q[1], u[1], z, &pb);
        if (sa != sb) worst = INFINITY;
        if (sa != TAL_OK || sb != TAL_OK) continue;
        ++num;
        for (int i = 0; i < nu * nu; ++i) {
            M[i] = pb.M[to_u[i / nu] * nu + to_u[i % nu]];
        }
        for (int i = 0; i < nu; ++i) {
            udot[i] = pb.udot[to_u[i]];
            residual[i] = pb.residual[to_u[i]];
        }
        worst = fmax(worst, round_trip_compare(pa.M, M, nu * nu));
        worst = fmax(worst, round_trip_compare(pa.lengths, pb.lengths, np));
        worst = fmax(worst, round_trip_compare(pa.speeds, pb.speeds, np));
        worst = fmax(worst, round_trip_compare(pa.qerr, pb.qerr, nc));
        worst = fmax(worst, round_trip_compare(pa.residual, residual, nu));
        if (is_free) worst = fmax(worst, round_trip_compare(pa.udot, udot, nu));
    }
    free(z);
    return num > 0 ? worst : (double)INFINITY;
}

// Write a model as .osim and read it; errors are in the list.
static tal_status round_trip(const tal_model *model, tal_model *again, tal_diagnostics *found)
{
    size_t length = 0;
    *again = (tal_model){.system = NULL};
    tal_status st = tal_osim_write_memory(model, NULL, 0, &length, found);
    if (st != TAL_OK) return st;
    char *text = malloc(length + 1);
    if (text == NULL) return TAL_ERR_NO_MEMORY;
    st = tal_osim_write_memory(model, text, length + 1, &length, NULL);
    if (st == TAL_OK) st = tal_osim_read_memory("again", text, length, NULL, again, found);
    free(text);
    return st;
}

#endif // TALUS_OSIM_ROUND_TRIP_H
