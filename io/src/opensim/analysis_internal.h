// Analyses of OpenSim: what is recorded at each row of a motion.
//
// An analysis is an object of a tool's AnalysisSet. It adds tables when it begins, and fills one
// row of each at every State that the tool comes to.
#ifndef TALUS_IO_ANALYSIS_INTERNAL_H
#define TALUS_IO_ANALYSIS_INTERNAL_H

#include "opensim/tool_internal.h"

#include <stdint.h>

/// Most analyses of one tool.
#define TALI_OSIM_MAX_ANALYSES 32

/// What was wrong with rows.
typedef struct tali_osim_flags tali_osim_flags;

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
    size_t width;           ///< numbers of a row of all tables
    double *buffer;         ///< [width] that row, where the tool has no other place for it
    tali_osim_flags *flags; ///< what was wrong with rows and is not told yet
    int num_flagged;        ///< what was told
} tali_osim_analysis;

/// A class of analyses. The functions leave what is wrong in the list.
typedef struct tali_osim_analysis_kind {
    const char *name;
    /// Read the properties, and add tables with their columns.
    void (*begin)(tali_osim_analysis *a);
    /// Fill the rows, after their time. Acceleration. Runs on several threads at once, each with an
    /// analysis and a State of its own; what is wrong goes to tali_osim_analysis_flag().
    void (*record)(tali_osim_analysis *a);
    /// After the last row, also when something was wrong. NULL: nothing.
    void (*end)(tali_osim_analysis *a);
    bool needs_udot; ///< the accelerations of the motion, not those of the forces
    bool in_order;   ///< a row depends on those before it: no threads
    /// Give a lane's analysis `data` of its own; those of the analysis it was made from are only
    /// read. Memory that runs out is noted. NULL: record() only reads `data`.
    void (*fork)(tali_osim_analysis *a, const void *data);
    /// Free what fork() took and the arena does not. NULL: nothing.
    void (*release)(tali_osim_analysis *a);
    /// Forget the rows before. NULL: nothing is remembered.
    void (*restart)(tali_osim_analysis *a);
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

/// @name Rows on several threads
/// A lane has copies of all analyses, which fill rows in its own memory; the tool adds them to the
/// tables in their order.
/// @{

/// Whether no analysis depends on the order of rows.
bool tali_osim_analyses_can_fork(const tali_osim_analyses *all);
/// Numbers of a row of all tables of all analyses.
size_t tali_osim_analyses_width(const tali_osim_analyses *all);
/// Make the analyses of a lane, whose tool has a State of its own. False when memory runs out.
/// tali_osim_analyses_release() frees them, then, too.
/// @param[in] udot  [nu] of the lane
bool tali_osim_analyses_fork(const tali_osim_analyses *all, tali_osim_tool *tool,
                             const double *udot, tali_osim_analyses *lane);
void tali_osim_analyses_release(tali_osim_analyses *lane);
/// Forget the rows before, where a chunk of rows begins.
void tali_osim_analyses_restart(tali_osim_analyses *lane);
/// Which analyses record the next row, as bits.
uint32_t tali_osim_analyses_want(tali_osim_analyses *all, double t);
/// The numbers of a row. @param[out] row  [tali_osim_analyses_width()]
void tali_osim_analyses_fill(tali_osim_analyses *lane, uint32_t wanted, double t, bool failed,
                             double row[]);
/// Add such a row to the tables. @param[in] row  [tali_osim_analyses_width()]
void tali_osim_analyses_add_row(tali_osim_analyses *all, uint32_t wanted, const double row[]);
/// Tell what a lane found wrong with its rows.
void tali_osim_analyses_take_flags(tali_osim_analyses *all, tali_osim_analyses *lane);
/// @}

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

/// Say what is wrong with the row at hand: the first few are told, and how many there were.
void tali_osim_analysis_flag(tali_osim_analysis *a, const char *fmt, ...) TAL_PRINTF(2, 3);

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
