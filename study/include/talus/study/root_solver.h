// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_ROOT_SOLVER_H
#define TALUS_STUDY_ROOT_SOLVER_H

/**
 * @file talus/study/root_solver.h
 * @brief What solves the nonlinear equations of equilibria and of constraints, by name.
 *
 *     tal_equilibrium_def def = tal_equilibrium_def_default();
 *     const int solver = tal_root_solver_find("kinsol");
 *     if (solver >= 0) def.solver = (tal_root_solver)solver;
 */

#include <talus/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup root_solver Solvers of nonlinear equations
/// @{

/// What solves them. Both end at the same place where there is one only.
typedef enum tal_root_solver {
    TAL_ROOT_SOLVER_OWN,   ///< ours: made for each search; goes downhill, starts again from afar
    TAL_ROOT_SOLVER_KINSOL ///< KINSOL of SUNDIALS: Newton's method with a line search, to compare
} tal_root_solver;

/// How many there are.
TAL_API int tal_num_root_solvers(void);

/// Name of a solver, `solver` from 0 to tal_num_root_solvers() - 1: "own", "kinsol". Static; NULL
/// elsewhere.
TAL_API const char *tal_root_solver_name(int solver);

/// The solver of that name; -1 when there is none (that is not a breach).
TAL_API int tal_root_solver_find(const char *name);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_ROOT_SOLVER_H
