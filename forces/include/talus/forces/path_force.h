// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_PATH_FORCE_H
#define TALUS_FORCES_PATH_FORCE_H

/**
 * @file talus/forces/path_force.h
 * @brief What pulls along a path: springs, ligaments, actuators.
 *
 * With the length l of a path, its speed v = dl/dt, and e = max(l - l0, 0):
 *
 *                       tension                                potential energy   dissipated power
 *     path spring       max(k e (1 + d v), 0)                  k e^2 / 2          (t - k e) v
 *     ligament          f curve(l / l0) where l > l0           its integral       0
 *     path actuator     gain * control                         0                  0
 *     clutched spring   max(x k s (1 + d v), 0)                0                  0
 *     ligament with a   k e^2 / (2 e1) up to e1, then          its integral       v c edot s(e)
 *     toe (Blankevoort) k (e - e1 / 2); c edot s(e) more
 *                       while it lengthens; e = l / l0 - 1
 *     pneumatic         x (3 (l - l1)^2 - b^2) / (4 pi n^2)    0                  0
 *
 * A clutched spring has its own stretch s, a z: where its control is above zero the clutch holds
 * and ds/dt = v; otherwise it is released, and ds/dt = -s / tau. x is the control between 0 and 1.
 * The work of an actuator and of a clutched spring counts as external.
 *
 * Several elements may pull along one path (talus/forces/path.h): their tensions add up.
 */

#include <talus/forces/params.h>
#include <talus/forces/path.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup pathforce Forces along paths
/// @{

/// Parameters of a path spring.
enum {
    TAL_PATH_SPRING_STIFFNESS = 0,   ///< k [N/m], not negative
    TAL_PATH_SPRING_REST_LENGTH = 1, ///< l0 [m], not negative
    TAL_PATH_SPRING_DISSIPATION = 2  ///< d [s/m], not negative
};

/// Add a spring that pulls along a path, and never pushes.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_path_spring(tal_forces *forces, const char *name,
                                                tal_path_ix path, double stiffness,
                                                double rest_length, double dissipation);

/// Parameters of a ligament.
enum {
    TAL_LIGAMENT_FORCE = 0,      ///< f [N], not negative
    TAL_LIGAMENT_REST_LENGTH = 1 ///< l0 [m], positive
};

/**
 * Add a ligament.
 *
 * @param[in] curve  tension over f as a function of l / l0, used above 1 only, with a derivative;
 *                   adopted by this call whether it succeeds or not. NULL: that of SIMM and
 *                   OpenSim, a spline: 0.035 at 1.1, 0.55 at 1.4, 2 at 1.6 and nearly so beyond
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_force_ix tal_forces_add_ligament(tal_forces *forces, const char *name, tal_path_ix path,
                                             double force, double rest_length, tal_function *curve);

/// Parameters of a path actuator.
enum {
    TAL_PATH_ACTUATOR_GAIN = 0,    ///< tension per control [N]
    TAL_PATH_ACTUATOR_CONTROL = 1, ///< what the program sets (talus/forces/control.h); zero
    TAL_PATH_ACTUATOR_LEAST = 2,   ///< the control is kept in this range; infinite
    TAL_PATH_ACTUATOR_LARGEST = 3
};

/// Add an actuator along a path; negative outputs push.
/// @param[in] control  a measure that adds to its control; `i` < 0: none
TAL_API tal_force_ix tal_forces_add_path_actuator(tal_forces *forces, const char *name,
                                                  tal_path_ix path, double gain,
                                                  tal_measure_ix control);

/// Parameters of a clutched spring.
enum {
    TAL_CLUTCHED_SPRING_STIFFNESS = 0,   ///< k [N/m], not negative
    TAL_CLUTCHED_SPRING_DISSIPATION = 1, ///< d [s/m], not negative
    TAL_CLUTCHED_SPRING_TIME = 2,        ///< tau [s], positive
    TAL_CLUTCHED_SPRING_CONTROL = 3,     ///< as TAL_PATH_ACTUATOR_CONTROL
    TAL_CLUTCHED_SPRING_LEAST = 4,       ///< 0
    TAL_CLUTCHED_SPRING_LARGEST = 5      ///< 1
};

/// Add a spring with a clutch. Its stretch s is the z "<element>.stretch", initially zero.
TAL_API tal_force_ix tal_forces_add_clutched_spring(tal_forces *forces, const char *name,
                                                    tal_path_ix path, double stiffness,
                                                    double dissipation, double time,
                                                    tal_measure_ix control);

/// Parameters of a ligament with a toe.
enum {
    TAL_BLANKEVOORT_STIFFNESS = 0,    ///< k [N per strain], not negative
    TAL_BLANKEVOORT_SLACK_LENGTH = 1, ///< l0 [m], positive
    TAL_BLANKEVOORT_TRANSITION = 2,   ///< e1, the strain where the toe ends, not negative
    TAL_BLANKEVOORT_DAMPING = 3       ///< c [N s per strain], not negative
};

/// What a ligament with a toe is made of.
typedef struct tal_blankevoort {
    double stiffness, slack_length, transition, damping;
} tal_blankevoort;

/// Add a ligament with a quadratic toe, as OpenSim's Blankevoort1991Ligament. It is damped while it
/// lengthens; the share s of the damping grows as a quintic step up to a strain of 0.01.
TAL_API tal_force_ix tal_forces_add_blankevoort_ligament(tal_forces *forces, const char *name,
                                                         tal_path_ix path,
                                                         const tal_blankevoort *ligament);

/// Parameters of a pneumatic actuator.
enum {
    TAL_PNEUMATIC_TURNS = 0,         ///< n, positive
    TAL_PNEUMATIC_THREAD_LENGTH = 1, ///< b [m], positive
    TAL_PNEUMATIC_CORD_LENGTH = 2,   ///< l1 [m], not negative
    TAL_PNEUMATIC_CONTROL = 3,       ///< pressure x [Pa]; otherwise as TAL_PATH_ACTUATOR_CONTROL
    TAL_PNEUMATIC_LEAST = 4,
    TAL_PNEUMATIC_LARGEST = 5
};

/// What a pneumatic actuator is made of.
typedef struct tal_pneumatic {
    double turns, thread_length, cord_length;
} tal_pneumatic;

/// Add a tube in a braid, which shortens under pressure (McKibben). Its control is the pressure;
/// where the tube is shorter than b / sqrt(3) it pushes.
TAL_API tal_force_ix tal_forces_add_pneumatic_actuator(tal_forces *forces, const char *name,
                                                       tal_path_ix path, const tal_pneumatic *tube,
                                                       tal_measure_ix control);

/// Tension of one of these elements, enabled or not [N]. Needs TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_path_force_tension(const tal_forces *forces, tal_state *state,
                                      tal_force_ix force);

/// The path that one of these elements pulls along; `i` < 0 for another element (that is not a
/// breach).
TAL_API tal_path_ix tal_path_force_path(const tal_forces *forces, tal_force_ix force);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_PATH_FORCE_H
