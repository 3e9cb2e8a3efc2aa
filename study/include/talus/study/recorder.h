// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_RECORDER_H
#define TALUS_STUDY_RECORDER_H

/**
 * @file talus/study/recorder.h
 * @brief A table in memory: chosen quantities at chosen times.
 *
 *     tal_column_def columns[] = {{"energy", TAL_STAGE_DYNAMICS, energy, NULL}};
 *     st = tal_recorder_create(system, columns, 1, 101, &recorder, &err);
 *     if (st == TAL_OK) st = tal_recorder_run(recorder, integ, state, times, 101);
 *     double last = tal_recorder_value(recorder, 100, 1);
 *
 * Column 0 is the time. Rows at times within a step come from tal_integrator_interpolate(), so that
 * recording changes no step.
 */

#include <talus/study/integrator.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup recorder Recorder
/// @{

/// One number from a State that is private to the recorder and realized to the column's stage.
typedef double (*tal_quantity_fn)(const void *context, const tal_system *system, tal_state *state);

/// A column of the table.
typedef struct tal_column_def {
    const char *name;     ///< copied
    tal_stage stage;      ///< that `calc` needs, TAL_STAGE_MODEL ... TAL_STAGE_REPORT
    tal_quantity_fn calc; ///< must not allocate
    const void *context;  ///< handed to `calc`; must outlive the recorder
} tal_column_def;

/// A table being filled. Opaque. Use from one thread at a time.
typedef struct tal_recorder tal_recorder;

/**
 * Create an empty table. All memory it will ever use is taken here.
 *
 * @param[in]  system    its topology must be realized; must outlive the recorder
 * @param[in]  columns   [n] copied
 * @param[in]  n         number of columns besides the time
 * @param[in]  max_rows  most rows
 * @param[out] out       the recorder, owned by the caller; NULL on failure
 * @param[out] err       why it failed; may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_TOPOLOGY, TAL_ERR_BAD_VALUE, TAL_ERR_NO_MEMORY, or what
 *         creating a State returned
 */
TAL_API TAL_NODISCARD tal_status tal_recorder_create(const tal_system *system,
                                                     const tal_column_def columns[], int n,
                                                     int max_rows, tal_recorder **out,
                                                     tal_error *err);

/// Free a recorder. NULL is allowed.
TAL_API void tal_recorder_destroy(tal_recorder *recorder);

/**
 * Step a State through times and add a row at each.
 *
 * @param[in,out] state  ends at the last of the times; on failure at the end of the last good step
 * @param[in]     times  [s] `n` of them, ascending, none before the State's time
 * @return TAL_OK; TAL_ERR_BAD_VALUE for times that are not ascending, TAL_ERR_NULL, or
 *         TAL_ERR_CAPACITY when the rows would not fit: nothing is done then; or what the
 *         integrator or a realization returned. Rows before a failure stay. tal_recorder_error()
 *         has the sentence.
 */
TAL_API TAL_NODISCARD tal_status tal_recorder_run(tal_recorder *recorder, tal_integrator *integ,
                                                  tal_state *state, const double times[], int n);

/// Add one row, from a State as it is. TAL_ERR_CAPACITY when the table is full.
TAL_API TAL_NODISCARD tal_status tal_recorder_add_row(tal_recorder *recorder,
                                                      const tal_state *state);

/// Forget all rows.
TAL_API void tal_recorder_clear(tal_recorder *recorder);

/// Rows so far. 0 for NULL.
TAL_API int tal_recorder_num_rows(const tal_recorder *recorder);

/// Columns, the time included. 0 for NULL.
TAL_API int tal_recorder_num_columns(const tal_recorder *recorder);

/// Name of a column, "time" for column 0; never NULL; borrowed.
TAL_API const char *tal_recorder_column_name(const tal_recorder *recorder, int column);

/// A row: tal_recorder_num_columns() values. Borrowed until the recorder is cleared or destroyed.
TAL_API const double *tal_recorder_row(const tal_recorder *recorder, int row);

/// One value of the table; NaN, and a breach, outside of it.
TAL_API double tal_recorder_value(const tal_recorder *recorder, int row, int column);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_recorder_error(const tal_recorder *recorder);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_RECORDER_H
