// A tool of OpenSim between its set-up file and its tables.
//
// A tool reads its properties from the set-up file, the model and the tables that these name, and
// leaves tables. All of it is checked before the work begins: what is wrong is in one list.
#ifndef TALUS_IO_TOOL_INTERNAL_H
#define TALUS_IO_TOOL_INTERNAL_H

#include "opensim/osim_internal.h"
#include "scene/scene_internal.h"

#include <talus/common/signal.h>
#include <talus/io/table.h>
#include <talus/study/tracker.h>

#include <stdatomic.h>

/// An external load that acts: as a force of the System, or row by row.
typedef struct tali_osim_applied {
    const char *name;
    int body;                    ///< of the model's file
    tal_force_ix force;          ///< `i` < 0: it is set row by row
    struct tali_osim_load *load; ///< then this one
} tali_osim_applied;

/// A tool at work.
typedef struct tali_osim_tool {
    tal_osim_run_options options;
    tali_osim setup;              ///< the set-up file; its list gets everything that is found
    const tali_xml_element *root; ///< the tool, with the settings of the options
    const char *name;             ///< of the tool; begins the names of its results
    const char *folder;           ///< of the set-up file
    const char *results_folder;   ///< where the results belong
    tali_osim o;                  ///< the model's file
    tal_model model;
    tal_osim_results *results;
    tali_osim_applied *applied; ///< [num_applied] external loads, in the arena
    int num_applied;
    int num_refused;         ///< starts of the options that the model does not have
    atomic_bool interrupted; ///< the user wants it to end
} tali_osim_tool;

/// Whether nothing is wrong so far.
bool tali_osim_tool_is_good(const tali_osim_tool *tool);

/// An error about a property of the tool, or about the tool.
void tali_osim_tool_error(tali_osim_tool *tool, const char *property, const char *fmt, ...)
    TAL_PRINTF(3, 4);
void tali_osim_tool_warn(tali_osim_tool *tool, const char *property, const char *fmt, ...)
    TAL_PRINTF(3, 4);
/// The failure of a library call; memory that ran out counts as such.
void tali_osim_tool_fail(tali_osim_tool *tool, tal_status st, const tal_error *err);

/// A path as the file in `folder` means it, in the arena.
const char *tali_osim_tool_path(tali_osim_tool *tool, const char *folder, const char *path);
/// The folder of a path, "." for none, in the arena.
const char *tali_osim_tool_folder(tali_osim_tool *tool, const char *path);

/// Read the table that a property names. NULL, and errors, when there is none.
tal_table *tali_osim_tool_read_table(tali_osim_tool *tool, const char *property);
/// The same for a property of another object, which need not be there: then NULL and no error.
tal_table *tali_osim_tool_read_table_of(tali_osim_tool *tool, const tali_xml_element *object,
                                        const char *property);
/// The two numbers of <time_range>, or <initial_time> and <final_time>; infinite where there are
/// none.
void tali_osim_tool_time_range(tali_osim_tool *tool, double range[2]);

/// A new table for the results, with column "time" and this title. NULL when memory runs out.
tal_table *tali_osim_tool_add_result(tali_osim_tool *tool, const char *file, const char *title);
/// Add a text to the results, which adopt it whether this succeeds or not; it is empty afterwards.
void tali_osim_tool_add_text(tali_osim_tool *tool, const char *file, tali_scene_bytes *text);
/// The model's file, as the results name it.
void tali_osim_tool_name_model(tali_osim_tool *tool, const char *path);
/// Add a column; failures are in the list.
void tali_osim_tool_add_column(tali_osim_tool *tool, tal_table *table, const char *name,
                               const char *end);
/// Tell how far it is. False: the user wants it to end.
bool tali_osim_tool_tell(tali_osim_tool *tool, int done, int total);

/// Report what objects of a set-up, and of the files that it names, do not have and what of them is
/// not read (tool_classes.c).
void tali_osim_check_tree(tali_osim *o, const tali_xml_element *root);

// --- coordinates over time (tool_coordinates.c) ---

/// Rows of a coordinate's value over time. All of it is in the arena.
typedef struct tali_osim_coordinate_rows {
    int num_rows;
    double *times;  ///< [num_rows]
    double *values; ///< [num_coordinates of the model][num_rows] in radians and meters
    bool *given;    ///< [num_coordinates] whether the table has it; else it is its default
} tali_osim_coordinate_rows;

/// Coordinates of the model from a table, by their names or paths; warnings about what is missing,
/// and about columns that are probably in other units. False, and errors, on failure.
bool tali_osim_tool_read_coordinates(tali_osim_tool *tool, const tal_table *table,
                                     const char *property, tali_osim_coordinate_rows *rows);

/// The same of their speeds.
bool tali_osim_tool_read_speeds(tali_osim_tool *tool, const tal_table *table, const char *property,
                                tali_osim_coordinate_rows *rows);

/// The property of most tools that says how motions are smoothed.
#define TALI_OSIM_CUTOFF "lowpass_cutoff_frequency_for_coordinates"

/// Curves through the rows of all coordinates, smoothed if that property of the set-up has a
/// frequency. NULL, and an error, on failure; owned by the caller.
tal_signal *tali_osim_tool_make_curves(tali_osim_tool *tool, const tali_osim_coordinate_rows *rows,
                                       const char *property, tal_signal_filter filter);

/// Put q of the State, and u where `speeds`, onto the constraints: coordinates that follow others
/// move first, then, where that is not enough, all. Realizes Position, or Velocity.
TAL_NODISCARD tal_status tali_osim_tool_meet(const tali_osim_tool *tool, bool speeds);
/// Which of matter's speeds follow others, [nu]. They belong to dependent coordinates of couplers.
void tali_osim_tool_list_dependent(const tali_osim_tool *tool, bool dependent[]);

/// Fit the mean of the frames of a marker file, as inverse kinematics would: the State gets that
/// pose. False, and errors, on failure.
bool tali_osim_tool_fit_mean(tali_osim_tool *tool);

/// The slot in q of a coordinate.
int tali_osim_tool_q_slot(const tali_osim_tool *tool, int coordinate);
/// The slot in matter's u of a coordinate.
int tali_osim_tool_u_slot(const tali_osim_tool *tool, int coordinate);

// --- external loads (tool_loads.c) ---

/// A force that data give: three columns each of force, point and torque. NULL: none.
typedef struct tali_osim_load {
    const char *name;
    int body, force_body, point_body;              ///< of the model's file
    tal_function *force[3], *point[3], *torque[3]; ///< of time; owned
} tali_osim_load;

typedef struct tali_osim_loads {
    tali_osim_load *loads; ///< [num] in the arena
    int num;
    double first, last; ///< times of the data
} tali_osim_loads;

/// The loads that a property names a file of. None when it is not there; errors on failure.
void tali_osim_tool_read_loads(tali_osim_tool *tool, const char *property, tali_osim_loads *loads);
void tali_osim_tool_free_loads(tali_osim_loads *loads);
/// Force of a load, and where it acts, in Ground. Position.
tal_vec3 tali_osim_tool_load_force(const tali_osim_tool *tool, const tali_osim_load *load,
                                   double t);
tal_vec3 tali_osim_tool_load_point(const tali_osim_tool *tool, const tali_osim_load *load,
                                   double t);
/// Add the loads at a time to forces on bodies, about their origins. Position.
void tali_osim_tool_apply_loads(const tali_osim_tool *tool, const tali_osim_loads *loads, double t,
                                tal_spatial_vec F_GB[]);

/// Before the model is opened: let the loads of <external_loads_file> become forces of the System.
void tali_osim_tool_extend_loads(tali_osim_tool *tool);
/// Add them: external loads as forces that are functions of time. `context` is the tool.
void tali_osim_tool_add_loads(tali_osim *o, tal_model *model, void *context);
/// Note loads that a tool sets row by row.
void tali_osim_tool_note_loads(tali_osim_tool *tool, tali_osim_loads *loads);

// --- forces at joints (tool_body_forces.c) ---

/// What a table of forces along coordinates is as forces on bodies. All of it is in the arena.
typedef struct tali_osim_body_forces {
    int *joints; ///< [num] of the model's file
    int num;
    tal_table *table;      ///< among the results; NULL: none is wanted
    double *u;             ///< [nu] zero
    tal_spatial_vec *V_GB; ///< [num_bodies]
    double *row, *work;
    int *iwork;
} tali_osim_body_forces;

/// The joints of <joints_to_report_body_forces>, and their table.
void tali_osim_tool_begin_body_forces(tali_osim_tool *tool, tali_osim_body_forces *it);
/// Add a row. Position. @param[in] tau  [nu] forces along speeds; NULL: the row has failed
void tali_osim_tool_add_body_forces(tali_osim_tool *tool, tali_osim_body_forces *it, double t,
                                    const double tau[]);

// --- names of forces (tool_forces.c) ---

/// Whether a force of the System is one of these: by name, by a group of the force set, as
/// "Muscles", or as "ALL".
bool tali_osim_tool_is_named(const tali_osim_tool *tool, int force, const char *const names[],
                             int n);

// --- motions (tool_ik.c) ---

/// A table of coordinates over time among the results, rotational ones in degrees. Frames with
/// status TAL_RETRY are left out.
/// @param[in] times  [num_frames]
/// @param[in] q      [num_frames][nq]
/// @param[in] fits   [num_frames]
void tali_osim_tool_write_coordinates(tali_osim_tool *tool, const char *file, const double times[],
                                      const double q[], const tal_fit fits[], int num_frames);
/// A warning about frames that did not converge.
void tali_osim_tool_warn_of_frames(tali_osim_tool *tool, const double times[], const tal_fit fits[],
                                   int num_frames);

// --- controls (tool_controls.c) ---

/// Add the columns of a table, after the first, to the results as a set of controls: an .xml file
/// of straight lines between nodes.
/// @param[in] lower, upper  [columns of the table - 1] bounds
/// @param[in] steps         [columns of the table - 1] those that are constant up to each node
///                          instead; NULL: none
void tali_osim_tool_add_controls(tali_osim_tool *tool, const char *file, const tal_table *table,
                                 const double lower[], const double upper[], const bool steps[]);

// --- the tools; what is wrong is in the list ---

void tali_osim_tool_ik(tali_osim_tool *tool);
void tali_osim_tool_id(tali_osim_tool *tool);
void tali_osim_tool_analyze(tali_osim_tool *tool);
/// Before the model is opened: constraints of an analysis of induced accelerations become part of
/// the System, switched off.
void tali_osim_tool_extend_induced(tali_osim_tool *tool);
void tali_osim_tool_forward(tali_osim_tool *tool);
/// Before the model is opened: controllers and loads of the set-up file become part of the System.
void tali_osim_tool_extend_forward(tali_osim_tool *tool);
void tali_osim_tool_scale(tali_osim_tool *tool);
void tali_osim_tool_imu(tali_osim_tool *tool);
void tali_osim_tool_place_imu(tali_osim_tool *tool);
void tali_osim_tool_cmc(tali_osim_tool *tool);
void tali_osim_tool_rra(tali_osim_tool *tool);

#endif // TALUS_IO_TOOL_INTERNAL_H
