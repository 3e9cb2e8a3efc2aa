// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_REPLICAS_H
#define TALUS_STUDY_REPLICAS_H

/**
 * @file talus/study/replicas.h
 * @brief Replica exchange: molecular dynamics of one System at several temperatures, which exchange
 * their places. What is hot crosses barriers, what is cold gathers statistics.
 *
 *     tal_replicas_def def = tal_replicas_def_default();
 *     def.md.bath = TAL_MD_LANGEVIN;
 *     def.md.step = 0.004;                     // ps
 *     def.kT = kT;                             // of each rung, say from 300 K to 600 K
 *     def.num = 8;
 *     st = tal_replicas_create(system, &def, start, &replicas, &err);
 *     if (st == TAL_OK) st = tal_replicas_run(replicas, 1000);
 *     const tal_state *cold = tal_replicas_state(replicas, 0);
 *
 * A round is `steps` steps of each rung, then neighbors i and i + 1 exchange their States with the
 * probability (SO)
 *
 *     min(1, exp(-D)),   D = (U_i(x_j) - U_i(x_i))/kT_i + (U_j(x_i) - U_j(x_j))/kT_j
 *
 * for even i in even rounds and odd i in odd ones. Speeds are scaled by the roots of the
 * temperatures. U_i is the potential energy with what `set` sets for the rung i, such as the
 * temperature of Fixman's potential. Every rung keeps the distribution of its temperature.
 *
 * Rungs are independent between exchanges: results do not depend on the number of threads, to the
 * bit. A run continues bit for bit where another ended if the States, the memory of each rung
 * (tal_replicas_md()) and the number of rounds are handed over.
 */

#include <talus/common/executor.h>
#include <talus/study/md.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup replicas Replica exchange
/// @{

/// What is run. Obtain it from tal_replicas_def_default(), then edit.
typedef struct tal_replicas_def {
    tal_md_def md;    ///< of all rungs; kT is theirs, and each has a seed of its own
    const double *kT; ///< [num] of the rungs, positive [J]; copied
    int num;          ///< > 0
    int steps;        ///< of a round, > 0; of TAL_MD_SAMPLE trajectories
    uint64_t seed;    ///< of the exchanges, and with the number of the rung that of its noise
    /// Set in a State what depends on the temperature of its rung; NULL: nothing does.
    tal_status (*set)(void *context, tal_state *state, int rung, double kT);
    void *context;
    const tal_executor *executor; ///< runs the rungs; copied; NULL: the calling thread does
} tal_replicas_def;

/// tal_md_def_default(), no rungs, 100 steps, seed 0, one thread.
TAL_API tal_replicas_def tal_replicas_def_default(void);

/// Rungs with their States. Opaque. Use from one thread at a time.
typedef struct tal_replicas tal_replicas;

/**
 * Create it. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized; must outlive it
 * @param[in]  start   copied for each rung, with its speeds scaled as if they were of rung 0
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a number of `def`; TAL_ERR_NULL, TAL_ERR_WRONG_SYSTEM,
 *         TAL_ERR_NO_MEMORY, or what tal_md_create() returned
 */
TAL_API TAL_NODISCARD tal_status tal_replicas_create(const tal_system *system,
                                                     const tal_replicas_def *def,
                                                     const tal_state *start, tal_replicas **out,
                                                     tal_error *err);

/// Free it. NULL is allowed.
TAL_API void tal_replicas_destroy(tal_replicas *replicas);

/// Make rounds: steps of all rungs, then exchanges.
/// @param[in] rounds  not negative
/// @return TAL_OK, or why the lowest rung that failed did
TAL_API TAL_NODISCARD tal_status tal_replicas_run(tal_replicas *replicas, int rounds);

/// The State that is at a rung now, for reading and for handing one over. Borrowed; exchanges move
/// it. NULL on a breach.
TAL_API tal_state *tal_replicas_state(tal_replicas *replicas, int rung);

/// The dynamics of a rung, for its memory and its report. Borrowed; NULL on a breach.
TAL_API tal_md *tal_replicas_md(tal_replicas *replicas, int rung);

/// Which of the States of the start is at a rung now: how walks go through the temperatures. -1 on
/// a breach.
TAL_API int tal_replicas_walker(const tal_replicas *replicas, int rung);

/// Rounds so far; 0 on a breach.
TAL_API uint64_t tal_replicas_rounds(const tal_replicas *replicas);

/// Say how many rounds there were before, for a run that continues.
TAL_API tal_status tal_replicas_set_rounds(tal_replicas *replicas, uint64_t rounds);

/// Part of the exchanges of a rung and the next one that were made; NaN where none was tried, which
/// is no breach.
TAL_API double tal_replicas_accepted(const tal_replicas *replicas, int rung);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_replicas_error(const tal_replicas *replicas);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_REPLICAS_H
