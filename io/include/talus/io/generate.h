// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_GENERATE_H
#define TALUS_IO_GENERATE_H

/**
 * @file talus/io/generate.h
 * @brief Straight-line C for the dynamics of one model.
 *
 *     tal_generator_def def = tal_generator_def_default();
 *     def.prefix = "arm_";
 *     def.functions = TAL_GENERATE_FORWARD_DYNAMICS | TAL_GENERATE_MASS_MATRIX;
 *     tal_generator *gen = NULL;
 *     st = tal_generator_create(matter, forces, state, &def, &gen, &err);
 *     if (st == TAL_OK) st = tal_generator_write(gen, "arm.c", "arm.h", &err);
 *     tal_generator_destroy(gen);
 *
 * The code needs sin, cos and sqrt, and nothing else: no Talus, no allocation, no branch, no loop,
 * no global. It is C99, C17 and C++. It holds the masses, frames and stiffnesses of one State; q
 * and u are arguments. doc/generate.md says what models it takes, and how the code comes about.
 */

#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup generate Generated code
/// @{

/// Functions that can be generated, as bits. Arrays are in the order of the State; matrices are
/// column-major, nu x nu with both triangles.
enum {
    TAL_GENERATE_FORWARD_DYNAMICS = 1 << 0, ///< udot of q, u and forces f along u
    TAL_GENERATE_INVERSE_DYNAMICS = 1 << 1, ///< f of q, u, udot
    TAL_GENERATE_MASS_MATRIX = 1 << 2,      ///< M of q
    TAL_GENERATE_JACOBIAN = 1 << 3,         ///< of each station: 6 x nu, as tal_matter_calc_frame_J
    /// of f by directions of motion and by u
    TAL_GENERATE_INVERSE_DYNAMICS_DERIVATIVES = 1 << 4,
    /// of udot by directions of motion, by u and by f (M^-1)
    TAL_GENERATE_FORWARD_DYNAMICS_DERIVATIVES = 1 << 5,
    TAL_GENERATE_ALL = (1 << 6) - 1
};

/// A point fixed on a body, with the name of its function.
typedef struct tal_generator_station {
    const char *name; ///< a C identifier
    tal_station station;
} tal_generator_station;

/// What to generate. Obtain it from tal_generator_def_default(), then edit.
typedef struct tal_generator_def {
    tal_allocator allocator;
    const char *prefix;    ///< of all names, a C identifier; NULL: "model_"; copied
    int functions;         ///< bits: TAL_GENERATE_FORWARD_DYNAMICS and so on
    bool single_precision; ///< float instead of double
    /// Statements of one part, 50 to 100,000: longer functions are cut, because compilers take more
    /// than linear time for one function.
    int max_statements;
    const tal_generator_station *stations; ///< [num_stations] of Jacobians; copied
    int num_stations;
    bool no_transfer; ///< leave masses on their own links, and do not choose the cheapest
    bool no_simplify; ///< no common factors are looked for; for comparison
} tal_generator_def;

/// The C heap, "model_", forward and inverse dynamics and the mass matrix, double, 400 statements.
TAL_API tal_generator_def tal_generator_def_default(void);

/// Operations of a function. A sign that no sum takes up counts as an addition.
typedef struct tal_operation_count {
    int mul, add, div, sqrt, sin, cos;
    int statements; ///< of C
    int stack;      ///< numbers kept in memory between parts
} tal_operation_count;

/// Functions of a model, recorded and simplified. Opaque; use from one thread at a time.
typedef struct tal_generator tal_generator;

/**
 * Record the functions of a model.
 *
 * Forces of the enabled elements act: gravity, springs, dampers and constant forces along
 * mobilities, the global damper, springs, dampers and constant forces between two points.
 * Parameters are those of the State, as is the choice between quaternions and angles.
 *
 * @param[in]  forces  what acts; NULL: nothing
 * @param[in]  state   of the matter's System; is realized to TAL_STAGE_POSITION
 * @param[in]  def     NULL: the defaults
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE naming what cannot be generated: constraints, unilateral
 *         elements, motions, locks, mobilizers that bend or follow functions, force elements with
 *         branches or functions; TAL_ERR_BAD_INDEX, TAL_ERR_NO_MEMORY, TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_generator_create(const tal_matter *matter,
                                                      const tal_forces *forces, tal_state *state,
                                                      const tal_generator_def *def,
                                                      tal_generator **out, tal_error *err);

/// Free it; NULL is allowed.
TAL_API void tal_generator_destroy(tal_generator *gen);

/// Number of functions: one for each bit, but one for each station of the Jacobians. -1 for NULL.
TAL_API int tal_generator_num(const tal_generator *gen);

/// Name of a function, with the prefix; "" on a breach. Borrowed.
TAL_API const char *tal_generator_name(const tal_generator *gen, int function);

/// What a function costs; all -1 on a breach.
TAL_API tal_operation_count tal_generator_count(const tal_generator *gen, int function);

/// How a function was found, in words: the cheapest of several ways. "" on a breach. Borrowed.
TAL_API const char *tal_generator_method(const tal_generator *gen, int function);

/// Number of entries of all outputs of a function; -1 on a breach.
TAL_API int tal_generator_num_results(const tal_generator *gen, int function);

/// Number of coordinates and of speeds that the functions take; -1 for NULL.
TAL_API int tal_generator_nq(const tal_generator *gen);
TAL_API int tal_generator_nu(const tal_generator *gen);

/**
 * Do what a function does, from its record: slowly, for comparison. What a function does not take
 * may be NULL.
 *
 * @param[in]  q        [tal_generator_nq(gen)]
 * @param[in]  u        [tal_generator_nu(gen)]
 * @param[in]  x        [tal_generator_nu(gen)] udot of inverse dynamics, f of forward dynamics
 * @param[out] results  [tal_generator_num_results(gen, function)] its outputs, one after the other
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_BAD_INDEX, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_generator_evaluate(const tal_generator *gen, int function,
                                                        const double q[], const double u[],
                                                        const double x[], double results[]);

/**
 * Write the code and its header; each file completely or not at all. The same generator gives the
 * same bytes.
 *
 * @param[in]  c_path, h_path  the code includes the header by the last part of its path
 * @param[out] err             may be NULL
 * @return TAL_OK, TAL_ERR_FILE, TAL_ERR_NO_MEMORY, TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_generator_write(const tal_generator *gen, const char *c_path,
                                                     const char *h_path, tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_GENERATE_H
