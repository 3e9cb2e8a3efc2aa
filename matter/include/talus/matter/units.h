// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_UNITS_H
#define TALUS_MATTER_UNITS_H

/**
 * @file talus/matter/units.h
 * @brief Which units coordinates, speeds and measures have, for tables and plots.
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup units Units
/// @{

/// Room for a unit and its terminating zero.
#define TAL_UNIT_SIZE 32

/// Unit of coordinate `i` of a body: "rad", "m", or "1" for a part of a quaternion. A coordinate
/// whose rate is a speed that turns the body is an angle. Needs TAL_STAGE_POSITION; "" on a breach.
TAL_API const char *tal_body_q_unit(const tal_matter *matter, const tal_state *state,
                                    tal_body_ix body, int i);

/// Unit of speed `i` of a body: "rad/s" if it turns the body, else "m/s". Needs TAL_STAGE_POSITION;
/// "" on a breach.
TAL_API const char *tal_body_u_unit(const tal_matter *matter, const tal_state *state,
                                    tal_body_ix body, int i);

/**
 * Unit of a measure.
 *
 * Known for what matter measures, for time, and for what is made of these: sums, extremes, delays
 * and the like have the unit of their operand, the rate of a "m" is a "m/s", the integral of a "N"
 * is a "N s". It is "" where it is not known: for constants, variables, multipliers, factors and
 * measures of your own.
 *
 * @param[in]  state  realized to TAL_STAGE_POSITION
 * @param[out] unit   [TAL_UNIT_SIZE]
 * @return TAL_OK, or the status of the breach; `unit` is "" then
 */
TAL_API tal_status tal_matter_measure_unit(const tal_matter *matter, const tal_state *state,
                                           tal_measure_ix measure, char unit[]);

/// @}

#ifdef __cplusplus
}
#endif

#endif // TALUS_MATTER_UNITS_H
