// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_MD_H
#define TALUS_STUDY_MD_H

/**
 * @file talus/study/md.h
 * @brief Molecular dynamics: millions of short steps of a fixed length, by themselves or in a bath
 * of constant temperature, in any coordinates.
 *
 *     tal_md_def def = tal_md_def_default();
 *     def.bath = TAL_MD_LANGEVIN;
 *     def.kT = TAL_MOL_R * 300.0;
 *     def.step = 0.004;                                    // ps
 *     tal_md_create(system, &def, &md, &err);
 *     st = tal_md_run(md, state, 1000000);
 *
 * A step is made of parts that are exact, or symmetric in time:
 *
 *     kick, h/2    u += h/2 M^-1 f(q)
 *     drift, h/2   q and u without forces, by the implicit midpoint rule,
 *                      q1 = q0 + h/2 N(q^) u^,   u1 = u0 - h/2 M(q^)^-1 C(q^, u^),
 *                      q^ = (q0 + q1)/2,   u^ = (u0 + u1)/2
 *     bath         below
 *     drift, kick  the same once more
 *
 * That is Verlet's method in generalized coordinates. It can be run backwards, and unit quaternions
 * stay unit ones. For bodies that only translate the drift is q1 = q0 + h/2 u. TAL_MD_SYMPLECTIC is
 * another drift: with p = M u,
 *
 *     p_m = p0 + h/4 d(v0^T M(q0) v0)/2dq,   M(q0) v0 = M(q1) v1 = p_m
 *     q1 = q0 + h/4 (v0 + v1),   p1 = p_m + h/4 d(v1^T M(q1) v1)/2dq
 *
 * which also keeps volumes of (q, p) (HLW). It costs more. The bath is, with h
 * the step, N the degrees of freedom and K the kinetic energy,
 *
 *     TAL_MD_ISOLATED  nothing: energy is conserved
 *     TAL_MD_LANGEVIN  u = e^(-gamma h) u + sqrt(kT (1 - e^(-2 gamma h))) xi,  covariance of xi
 *                      M^-1, in O(n): the method BAOAB (LM)
 *     TAL_MD_CHAIN     half a step of a Nose-Hoover chain (talus/forces/thermostat.h, of the same
 *                      c and s) before the first kick, and half behind the last (MTKT)
 *     TAL_MD_RESCALE   u times a number, drawn so that K becomes that of a canonical ensemble with
 *                      relaxation time tau (BDP); between the drifts
 *     TAL_MD_SAMPLE    generalized hybrid Monte Carlo (HOR): friction and noise over the time of a
 *                      trajectory, then its steps by the symplectic drift; they count with
 *                      probability min(1, exp(-dE/kT)), else q goes back and u is turned around.
 *                      Averages are exact whatever the step. A "step" of a run is one trajectory
 *
 * Forces must depend on q and t alone, and the tree must be free: Systems with constraints, locked
 * or prescribed mobilities and baths as force elements are refused. Noise is a function of the
 * seed, the number of the step and the body. Nothing is allocated after creation.
 */

#include <talus/forces.h>
#include <talus/forces/thermostat.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup md Molecular dynamics
/// @{

/// What keeps the temperature.
typedef enum tal_md_bath {
    TAL_MD_ISOLATED,
    TAL_MD_LANGEVIN,
    TAL_MD_CHAIN,
    TAL_MD_RESCALE,
    TAL_MD_SAMPLE
} tal_md_bath;

/// How q and u move without forces.
typedef enum tal_md_drift {
    TAL_MD_MIDPOINT,  ///< the implicit midpoint rule
    TAL_MD_SYMPLECTIC ///< the generalized leapfrog
} tal_md_drift;

/// What a run is made from. Obtain it from tal_md_def_default(), then edit.
typedef struct tal_md_def {
    tal_md_bath bath;
    tal_md_drift drift;     ///< TAL_MD_SAMPLE always has the symplectic one
    double step;            ///< h [s] > 0
    double kT;              ///< [J], not negative; positive for a chain and for sampling
    double friction;        ///< gamma [1/s] of Langevin and of sampling, not negative
    double relaxation_time; ///< tau [s] > 0 of a chain or of rescaling
    int chain_length;       ///< links, 1 ... TAL_MAX_CHAIN
    int trajectory;         ///< steps of a trajectory of TAL_MD_SAMPLE, > 0
    double excluded;        ///< degrees of freedom that are not at temperature
    uint64_t seed;          ///< of the noise
    int still_every; ///< remove the momentum of the whole every so many steps; 0: never. Every body
                     ///< on Ground must be able to follow, which 3 mobilities of a point are, or 6
    bool still_turning; ///< angular momentum about the mass center, too; not for points or in boxes
    double tolerance;   ///< of the drift, as a part of how far it goes, >= 0
    int most_rounds;    ///< of the drift, > 0
} tal_md_def;

/// Isolated, midpoint rule; no step and no temperature, which must be set; friction 1/s, relaxation
/// in 0.1 s, three links, trajectories of 10 steps, seed 0, momentum is left alone, a tolerance of
/// 1e-13 in at most 50 rounds.
TAL_API tal_md_def tal_md_def_default(void);

/// Runs of one System. Opaque. Use from one thread at a time.
typedef struct tal_md tal_md;

/**
 * Create it. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized and it must have matter; must outlive it
 * @param[in]  def     copied; NULL means the default, which lacks a step
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a number of `def`, and for what a drift cannot follow;
 *         TAL_ERR_TOPOLOGY, TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_md_create(const tal_system *system, const tal_md_def *def,
                                               tal_md **out, tal_error *err);

/// Free it. NULL is allowed.
TAL_API void tal_md_destroy(tal_md *md);

/**
 * Make steps.
 *
 * @param[in,out] state  at t afterwards, realized to TAL_STAGE_VELOCITY; on failure in the middle
 *                       of the step that failed
 * @param[in]     steps  not negative; of TAL_MD_SAMPLE trajectories
 * @return TAL_OK; TAL_ERR_NO_CONVERGENCE where a drift is too long; TAL_ERR_BAD_VALUE for locked
 *         mobilities; or what realizing returned
 */
TAL_API TAL_NODISCARD tal_status tal_md_run(tal_md *md, tal_state *state, int steps);

/// What a bath remembers besides the State. A run continues bit for bit where another ended if the
/// State and this are handed over.
typedef struct tal_md_memory {
    int64_t steps;           ///< made so far: noise is a function of it
    double heat;             ///< energy given by noise and by the removal of momentum [J]
    double c[TAL_MAX_CHAIN]; ///< frictions of a chain [1/s]
    double s[TAL_MAX_CHAIN]; ///< their integrals
    int64_t accepted;        ///< trajectories that counted
} tal_md_memory;

/// Zeros on a breach.
TAL_API tal_md_memory tal_md_memory_of(const tal_md *md);

/// Set it. What is not finite or negative steps are refused with TAL_ERR_BAD_VALUE.
TAL_API tal_status tal_md_set_memory(tal_md *md, const tal_md_memory *memory);

/// What a State says of a run.
typedef struct tal_md_report {
    double t;         ///< [s]
    double kinetic;   ///< [J]
    double potential; ///< [J]
    double kT;        ///< 2 K/N [J]
    double conserved; ///< energy less what the bath gave: constant but for the error of steps [J]
    double dof;       ///< N
    int rounds;       ///< of the last drift
    double accepted;  ///< part of the trajectories that counted; 1 of other baths
} tal_md_report;

/// Needs TAL_STAGE_INSTANCE; realizes the State to TAL_STAGE_DYNAMICS. NaN on failure.
TAL_API tal_md_report tal_md_report_of(tal_md *md, tal_state *state);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_md_error(const tal_md *md);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_MD_H
