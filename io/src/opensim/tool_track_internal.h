// Tools that follow a motion, computed muscle control and residual reduction: what their files
// share.
#ifndef TALUS_IO_TOOL_TRACK_INTERNAL_H
#define TALUS_IO_TOOL_TRACK_INTERNAL_H

#include "opensim/tool_internal.h"

#include <talus/study/follower.h>

/// The motion that is wanted, as curves of all q, u and udot of matter.
typedef struct tali_osim_desired {
    tal_signal *q, *u, *udot; ///< owned
    double first, last;       ///< times of the data
} tali_osim_desired;

/// The motion in <desired_kinematics_file>: smoothed if the set-up says so, on the constraints at
/// each sample. False, and errors, on failure. tali_osim_tool_free_desired() is needed in any case.
bool tali_osim_tool_read_desired(tali_osim_tool *tool, tali_osim_desired *out);
void tali_osim_tool_free_desired(tali_osim_desired *desired);
/// As tal_follower_def.calc_desired: `context` is the tali_osim_desired.
tal_status tali_osim_desired_calc(void *context, double t, double q[], double u[], double udot[]);

/// Tasks of <task_set_file>, in the arena.
typedef struct tali_osim_tasks {
    tal_follower_task *tasks; ///< [num]
    const char **names;       ///< [num] of coordinates
    int num;
} tali_osim_tasks;

void tali_osim_tool_read_tasks(tali_osim_tool *tool, tali_osim_tasks *out);

/// Muscles and actuators that work: all but <actuators_to_exclude>; their count.
/// @param[out] which  [num_forces of the model]
int tali_osim_tool_list_actuators(tali_osim_tool *tool, tal_force_ix which[]);

/// The six forces at the root of the model, by the names that OpenSim gives them.
enum {
    TALI_OSIM_FX,
    TALI_OSIM_FY,
    TALI_OSIM_FZ,
    TALI_OSIM_MX,
    TALI_OSIM_MY,
    TALI_OSIM_MZ,
    TALI_OSIM_NUM_RESIDUALS
};

/// Means of the residuals over time, by trapezoids. A force that the model does not have stays
/// zero.
typedef struct tali_osim_residuals {
    double sum[TALI_OSIM_NUM_RESIDUALS], last[TALI_OSIM_NUM_RESIDUALS];
    double begin, end; ///< times
    int num_rows;
} tali_osim_residuals;

/// Which residual a force is; -1: none.
int tali_osim_residual_of(const tali_osim_tool *tool, tal_force_ix force);
/// Add a row.
void tali_osim_residuals_add(tali_osim_residuals *it, double t,
                             const double values[TALI_OSIM_NUM_RESIDUALS]);
double tali_osim_residuals_mean(const tali_osim_residuals *it, int which);
/// The means as a text, "FX=..." and so on.
void tali_osim_residuals_put(const tali_osim_residuals *it, tali_scene_bytes *out);

/// Move the mass center of <adjusted_com_body> where residuals vanish; the model becomes a result.
/// What was found is added to `out`.
void tali_osim_tool_adjust_mass_center(tali_osim_tool *tool, tali_osim_desired *desired,
                                       tali_scene_bytes *out);

#endif // TALUS_IO_TOOL_TRACK_INTERNAL_H
