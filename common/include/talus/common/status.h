// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_STATUS_H
#define TALUS_COMMON_STATUS_H

/**
 * @file talus/common/status.h
 * @brief How Talus says that something went wrong.
 *
 * Three kinds of failure, never mixed:
 *
 * 1. **A runtime failure** (no memory, a singular matrix, a bad model) is returned as a
 *    ::tal_status; the sentence that explains it stays in the object the call worked on
 *    (`tal_system_error()`, `tal_state_error()`), or in the ::tal_error that a `create` call takes.
 * 2. **A broken contract** (a result read before its stage, an index out of range, a State of
 *    another System, NULL) is never fatal and never silent. The call returns the specific status,
 *    or NaN, or an index below zero, or NULL, and the contract handler is given one sentence.
 * 3. **Impossible inside Talus**: `assert`, in debug builds.
 */

#include <stdbool.h>

#if defined(__GNUC__)
/// Marks what the shared library exports; everything else is hidden.
#define TAL_API                __attribute__((visibility("default")))
/// The compiler warns when this result is thrown away.
#define TAL_NODISCARD          __attribute__((warn_unused_result))
/// Lets the compiler check printf-like arguments.
#define TAL_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
/// For kernels that must unroll around a literal argument.
#define TAL_ALWAYS_INLINE      static inline __attribute__((always_inline))
#else
#define TAL_API
#define TAL_NODISCARD
#define TAL_PRINTF(fmt, first)
#define TAL_ALWAYS_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Every status code and its one-line meaning; expanded into the enum and into the name tables.
#define TAL_STATUS_LIST(X)                                                                         \
    X(TAL_RETRY, 1, "a callback asks for a retry with a smaller step")                             \
    X(TAL_OK, 0, "success")                                                                        \
    X(TAL_ERR_NO_MEMORY, -1, "the allocator returned NULL")                                        \
    X(TAL_ERR_BAD_VALUE, -2, "a value is out of range or contradicts another")                     \
    X(TAL_ERR_BAD_INDEX, -3, "an index does not exist, or is one of another kind")                 \
    X(TAL_ERR_BAD_NAME, -4, "a name is used already, too long, or does not exist")                 \
    X(TAL_ERR_NULL, -5, "a required pointer is NULL")                                              \
    X(TAL_ERR_TOPOLOGY, -6, "the topology is not realized yet, or is realized already")            \
    X(TAL_ERR_STAGE, -7, "the State has not been realized far enough, or too far")                 \
    X(TAL_ERR_WRONG_SYSTEM, -8, "the State belongs to a System of another structure")              \
    X(TAL_ERR_NOT_FINITE, -9, "a NaN or an infinity appeared")                                     \
    X(TAL_ERR_SINGULAR, -10, "a matrix is singular")                                               \
    X(TAL_ERR_NO_CONVERGENCE, -11, "an iteration did not converge")                                \
    X(TAL_ERR_CAPACITY, -12, "a declared capacity is too small")                                   \
    X(TAL_ERR_CALLBACK, -13, "a user callback failed")                                             \
    X(TAL_ERR_FILE, -14, "a file cannot be read, written, or understood")                          \
    X(TAL_ERR_STEP_TOO_SMALL, -15, "the accuracy cannot be met with steps of a useful size")       \
    X(TAL_ERR_STEP_LIMIT, -16, "the allowed number of steps does not reach the end")               \
    X(TAL_ERR_EVENT_LIMIT, -17, "more events than allowed, or events that accumulate at one time") \
    X(TAL_ERR_INFEASIBLE, -18, "conditions contradict each other: no solution exists")

/// Result of every function that can fail. Zero is success, negative is failure; the one
/// positive value is for callbacks only.
typedef enum tal_status {
#define X(name, value, text) name = (value),
    TAL_STATUS_LIST(X)
#undef X
} tal_status;

/// Constant name of a code, e.g. "TAL_ERR_SINGULAR"; never NULL.
TAL_API const char *tal_status_name(tal_status status);

/// One-line English meaning of a code; never NULL.
TAL_API const char *tal_status_text(tal_status status);

/// What went wrong, and where. Plain data, which can be copied, compared and printed.
typedef struct tal_error {
    tal_status status; ///< TAL_OK when nothing has failed since the last success
    char where[48];    ///< function that noticed first; "" when none
    char message[256]; ///< one English sentence, no newline
} tal_error;

/**
 * Receives one sentence for every broken contract.
 *
 * May be called from any thread that uses Talus; must not call back into Talus. The library goes
 * on afterwards: what the handler does (print, count, abort in a test) is the program's choice.
 *
 * @param[in] breach  status, function and sentence; valid during the call
 */
typedef void (*tal_contract_handler)(const tal_error *breach);

/**
 * Replace the contract handler of the process; the default one writes the sentence to stderr.
 *
 * Set it before threads start working with Talus.
 *
 * @param[in] handler  the new handler; NULL restores the default
 * @return the handler that was there before
 */
TAL_API tal_contract_handler tal_contract_set_handler(tal_contract_handler handler);

/// A handler that does nothing. tal_contract_last() still has the breach.
TAL_API void tal_contract_silent(const tal_error *breach);

/// The last broken contract of the calling thread; status TAL_OK when there was none. Never NULL;
/// borrowed, and overwritten by the thread's next breach.
TAL_API const tal_error *tal_contract_last(void);

/// Forget the calling thread's last broken contract.
TAL_API void tal_contract_clear(void);

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_STATUS_H
