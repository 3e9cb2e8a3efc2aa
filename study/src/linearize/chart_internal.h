// Independent coordinates of a constrained System about a State: what linearization and the search
// for an equilibrium move in.
//
// With q0, u0, z0 the State's, K_p a basis of the motions that the position constraints allow and
// K_v of those that position and velocity constraints allow, both orthonormal and of the free
// speeds only,
//
//     s = K_p^T N^+(q0) (q - q0)        v = K_v^T (u - u0)        z - z0
//
// are independent. Going back, q and u are projected onto the constraints, and what is fast is
// brought to balance.
//
// Of these motions, forces decide only on those along which no acceleration is known: K_a, a basis
// of what constraints on positions, speeds and accelerations leave of the speeds that are free. A
// hoop that turns at a given speed has its angle among s, not its speed among v, and forces can
// move it no more than one whose angle is given.
#ifndef TALUS_CHART_INTERNAL_H
#define TALUS_CHART_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/forces.h>

typedef struct tali_chart {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    tal_group_ix q_group, u_group;
    int nu, max_nq, max_ny, max_rows;
    void *block;
    size_t block_bytes;

    int ns, nv, nz;          // independent coordinates, speeds, auxiliary variables
    int na;                  // motions that forces decide on
    double *K_p, *K_v, *K_a; // nu x ns, nu x nv, nu x na
    bool *is_known;          // [nu] whether udot is known, by a lock or a motion
    double *q0, *u0;         // of matter
    double *y0;              // of the System

    double *G, *K_free; // of a null space
    double *dq, *du;    // [max_nq], [nu]
    double *lost;       // [nu]
    double *cod_work;   // room
    int *cod_iwork, *free_list;
    tal_error *err; // where failures go; the owner's
} tali_chart;

/// Take memory. On failure nothing is left behind.
tal_status tali_chart_create(tali_chart *chart, const tal_system *system, tal_error *err);
void tali_chart_destroy(tali_chart *chart);

/// Whether a State meets its constraints on positions (TAL_POOL_QERR, known from Position on) or on
/// velocities (TAL_POOL_UERR, from Velocity on), each weighted error to `tolerance`; otherwise a
/// sentence that names the constraint.
tal_status tali_chart_check(tali_chart *chart, const tal_state *state, tal_pool errors,
                            double tolerance);

/// Lay the chart at a State, which meets its constraints. Normalizes quaternions, realizes
/// Velocity.
tal_status tali_chart_lay(tali_chart *chart, tal_state *state);

/// K_a and `is_known` at a State, after tali_chart_lay().
tal_status tali_chart_lay_forced(tali_chart *chart, tal_state *state);

/// ns + nv + nz.
static inline int tali_chart_nx(const tali_chart *chart)
{
    return chart->ns + chart->nv + chart->nz;
}

/// Put the State at x = {s, v, z - z0}, prescribed and projected. v is exact; s is to second order,
/// which leaves central differences even. Realizes Velocity.
tal_status tali_chart_put(tali_chart *chart, tal_state *state, const double x[]);

/// What counts as a unit of motion along a column of K_p, K_v or K_a: 1 / |W_u K|.
double tali_chart_unit(const tali_chart *chart, const tal_state *state, const double K[]);

/// The largest number in the State that x_i is added to: how far its round-off goes.
double tali_chart_size(const tali_chart *chart, const tal_state *state, int i);

/// xdot there. Realizes Acceleration.
tal_status tali_chart_rates(tali_chart *chart, tal_state *state, double xdot[]);

/// out = K_v^T in, `in` one number per speed.
void tali_chart_reduce(const tali_chart *chart, const double in[], double out[]);

/// out = K_p s, one number per speed.
void tali_chart_expand(const tali_chart *chart, const double s[], double out[]);

/// out = K_a^T in, `in` one number per speed.
void tali_chart_contract_forced(const tali_chart *chart, const double in[], double out[]);

/// out = K_a a, one number per speed, and s of that motion.
void tali_chart_expand_forced(const tali_chart *chart, const double a[], double out[]);
void tali_chart_place_forced(tali_chart *chart, const double a[], double s[]);

/// The failure of a call on the State, in the State's words.
tal_status tali_chart_pass_on(tali_chart *chart, const tal_state *state, tal_status st);

#endif // TALUS_CHART_INTERNAL_H
