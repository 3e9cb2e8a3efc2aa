// Analyses of OpenSim: what is recorded at each row of a motion.
//
// An analysis is an object of a tool's AnalysisSet. It adds tables when it begins, and fills one
// row of each at every State that the tool comes to.
#ifndef TALUS_IO_ANALYSIS_INTERNAL_H
#define TALUS_IO_ANALYSIS_INTERNAL_H

#include "opensim/tool_internal.h"

/// Most analyses of one tool.
#define TALI_OSIM_MAX_ANALYSES 32

/// An analysis at work; all of it is in the arena of the tool.
typedef struct tali_osim_analysis {
    const struct tali_osim_analysis_kind *kind;
    tali_osim_tool *tool;
    const tali_xml_element *element;
    const char *name;
    double start, end; ///< times
    int interval;      ///< every how many rows it records
    int count;         ///< rows seen
    bool in_degrees;
    const double *udot; ///< [nu] of the motion, where the kind asks for it
    void *data;         ///< what the kind needs besides
    tal_table **tables; ///< [num_tables] of the results
    double **rows;      ///< [num_tables][num_columns] the row being filled; time first
    int num_tables, tables_capacity;
} tali_osim_analysis;

/// A class of analyses. The functions leave what is wrong in the list.
typedef struct tali_osim_analysis_kind {
    const char *name;
    /// Read the properties, and add tables with their columns.
    void (*begin)(tali_osim_analysis *a);
    /// Fill the rows, after their time. Acceleration.
    void (*record)(tali_osim_analysis *a);
    /// After the last row, also when something was wrong. NULL: nothing.
    void (*end)(tali_osim_analysis *a);
    bool needs_udot; ///< the accelerations of the motion, not those of the forces
} tali_osim_analysis_kind;

/// The analyses of a tool.
typedef struct tali_osim_analyses {
    tali_osim_analysis items[TALI_OSIM_MAX_ANALYSES];
    int num;
} tali_osim_analyses;

/// Begin those of the tool's AnalysisSet that are on; errors are in the list.
void tali_osim_analyses_begin(tali_osim_tool *tool, tali_osim_analyses *all);
/// Add one that the AnalysisSet does not have, with its usual properties.
void tali_osim_analyses_add(tali_osim_tool *tool, tali_osim_analyses *all,
                            const tali_osim_analysis_kind *kind);
/// Fill a row of each at a time. Acceleration, unless the row has failed and is NaN.
void tali_osim_analyses_record(tali_osim_analyses *all, double t, bool failed);
/// After the last row, also when something was wrong.
void tali_osim_analyses_end(tali_osim_analyses *all);

/// Add a table "<tool>_<analysis><end>"; columns are added to it with tali_osim_tool_add_column().
/// NULL when memory runs out.
tal_table *tali_osim_analysis_add_table(tali_osim_analysis *a, const char *end, const char *title);

/// Add three columns: a name with each of three ends.
void tali_osim_analysis_add_triple(tali_osim_analysis *a, tal_table *table, const char *name,
                                   const char *const ends[3]);

/// Put a vector into a row; where the next number goes.
double *tali_osim_analysis_put(double *at, tal_vec3 v);

/// An error or a warning about a property of an analysis.
void tali_osim_analysis_error(tali_osim_analysis *a, const char *property, const char *fmt, ...)
    TAL_PRINTF(3, 4);
void tali_osim_analysis_warn(tali_osim_analysis *a, const char *property, const char *fmt, ...)
    TAL_PRINTF(3, 4);

/// Memory from the arena of the tool; NULL, and noted, when it runs out.
void *tali_osim_analysis_take(tali_osim_analysis *a, size_t size);

/// A frame on a body of the model's file.
typedef struct tali_osim_place_on {
    int body;
    tal_xform X_BF;
    const char *name; ///< as columns have it
} tali_osim_place_on;

/// The frame that a property names: a body, a frame of the file by its path, or, whatever the
/// version of the file, a frame of a joint as version 4 calls it, "<joint>/<body>_offset". False,
/// and an error, when there is none.
bool tali_osim_analysis_frame(tali_osim_analysis *a, const char *property, const char *name,
                              tali_osim_place_on *place);

/// Force and speed of an actuator; of muscles, the speed at which they get longer. Velocity.
void tali_osim_measure_actuator(const tali_osim_tool *tool, const tali_osim_force *f, double *force,
                                double *speed);

/// A frame in Ground. Position.
tal_xform tali_osim_analysis_pose(const tali_osim_analysis *a, const tali_osim_place_on *place);

extern const tali_osim_analysis_kind tali_osim_kinematics;
extern const tali_osim_analysis_kind tali_osim_body_kinematics;
extern const tali_osim_analysis_kind tali_osim_point_kinematics;
extern const tali_osim_analysis_kind tali_osim_joint_reaction;
extern const tali_osim_analysis_kind tali_osim_actuation;
extern const tali_osim_analysis_kind tali_osim_muscle_analysis;
extern const tali_osim_analysis_kind tali_osim_static_optimization;
extern const tali_osim_analysis_kind tali_osim_induced_accelerations;
extern const tali_osim_analysis_kind tali_osim_force_reporter;
extern const tali_osim_analysis_kind tali_osim_probe_reporter;

#endif // TALUS_IO_ANALYSIS_INTERNAL_H
