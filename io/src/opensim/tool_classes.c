// What the objects of set-up files may contain, and what of it is not read.
#include "opensim/tool_internal.h"

#include <string.h>

// A '~' stands before what is not read. Precision and printing are not in question: numbers are
// written with all their digits.
#define BASE "results_directory input_directory output_precision model_file time_range notes "
#define RUN                                                                                        \
    BASE "replace_force_set force_set_files initial_time final_time "                              \
         "solve_for_equilibrium_for_auxiliary_states maximum_number_of_integrator_steps "          \
         "maximum_integrator_step_size ~minimum_integrator_step_size integrator_error_tolerance "  \
         "~integrator_fine_tolerance AnalysisSet ControllerSet external_loads_file "               \
         "external_loads_model_kinematics_file ~lowpass_cutoff_frequency_for_load_kinematics "
#define TRACK                                                                                      \
    RUN "task_set_file constraints_file rra_controls_file desired_kinematics_file "                \
        "~desired_points_file lowpass_cutoff_frequency cmc_time_window "                           \
        "use_fast_optimization_target actuators_to_exclude ~use_curvature_filter "                 \
        "~optimizer_algorithm ~numerical_derivative_step_size "                                    \
        "~optimization_convergence_tolerance ~optimizer_derivative_dx "                            \
        "~optimizer_convergence_criterion ~optimizer_max_iterations ~optimizer_print_level "       \
        "use_verbose_printing adjust_com_to_reduce_residuals adjusted_com_body "                   \
        "initial_time_for_com_adjustment final_time_for_com_adjustment output_model_file "         \
        "apply_mass ~compute_average_residuals ~adjust_kinematics_to_reduce_residuals "
#define FIT                                                                                        \
    BASE "constraint_weight ~accuracy output_motion_file report_errors ~optimizer_algorithm "
#define ANALYSIS "on start_time end_time step_interval in_degrees "
#define SIZES    "apply time_range "

static const tali_osim_class classes[] = {
    {"InverseKinematicsTool", FIT "IKTaskSet marker_file coordinate_file report_marker_locations "},
    {"IMUInverseKinematicsTool",
     FIT "orientations_file sensor_to_opensim_rotations orientation_weights OrientationWeightSet "},
    {"IMUPlacer", BASE "base_imu_label base_heading_axis sensor_to_opensim_rotations "
                       "orientation_file_for_calibration output_model_file "},
    {"InverseDynamicsTool",
     BASE "initial_time final_time forces_to_exclude external_loads_file coordinates_file "
          "lowpass_cutoff_frequency_for_coordinates output_gen_force_file "
          "external_loads_model_kinematics_file ~lowpass_cutoff_frequency_for_load_kinematics "
          "joints_to_report_body_forces output_body_forces_file "},
    {"AnalyzeTool", RUN "states_file coordinates_file speeds_file "
                        "lowpass_cutoff_frequency_for_coordinates ~load_model_and_input "
                        "~print_results_files "},
    {"ForwardTool", RUN "states_file use_specified_dt "},
    {"CMCTool", TRACK},
    {"RRATool", TRACK},
    {"ScaleTool", BASE "mass ~height ~age GenericModelMaker ModelScaler MarkerPlacer "},
    {"GenericModelMaker", "model_file marker_set_file "},
    {"ModelScaler", SIZES "scaling_order MeasurementSet ScaleSet marker_file "
                          "preserve_mass_distribution output_model_file output_scale_file "
                          "~output_joint_file ~output_muscle_file "},
    {"MarkerPlacer", SIZES "IKTaskSet marker_file coordinate_file output_motion_file "
                           "output_model_file ~output_marker_file ~max_marker_movement "
                           "~move_model_markers ~optimizer_algorithm "},
    {"Measurement", "apply MarkerPairSet BodyScaleSet "},
    {"MarkerPair", "markers "},
    {"BodyScale", "axes "},
    {"Scale", "apply scales segment "},
    {"IKMarkerTask", "apply weight "},
    {"IKCoordinateTask", "apply weight value_type value "},
    {"CMC_Joint", "on active weight wrt_body express_body kp kv ka limit coordinate r0 r1 r2 "},
    {"ExternalLoads", "objects groups datafile external_loads_model_kinematics_file "
                      "~lowpass_cutoff_frequency_for_load_kinematics "},
    {"ExternalForce", "isDisabled appliesForce applied_to_body force_expressed_in_body "
                      "point_expressed_in_body force_identifier point_identifier "
                      "torque_identifier data_source_name "},
    {"Kinematics", ANALYSIS "coordinates "},
    {"BodyKinematics", ANALYSIS "bodies express_results_in_body_local_frame "},
    {"PointKinematics", ANALYSIS "body_name relative_to_body_name point_name point "},
    {"Actuation", ANALYSIS},
    {"MuscleAnalysis", ANALYSIS "muscle_list moment_arm_coordinate_list compute_moments "},
    {"JointReaction", ANALYSIS "forces_file joint_names apply_on_bodies express_in_frame "},
    {"StaticOptimization", ANALYSIS "use_model_force_set activation_exponent use_muscle_physiology "
                                    "~optimizer_convergence_criterion ~optimizer_max_iterations "},
    {"InducedAccelerations",
     ANALYSIS "coordinate_names body_names ConstraintSet compute_potentials_only "
              "force_threshold report_constraint_reactions "},
    {"ForceReporter", ANALYSIS "include_constraint_forces "},
    {"ProbeReporter", ANALYSIS},
};

static const tali_osim_class *find_class(const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; ++i) {
        if (strcmp(classes[i].name, name) == 0) return &classes[i];
    }
    return NULL;
}

// The next element of a tree in the order of the document; NULL after the last.
static const tali_xml_element *next_of(const tali_xml_element *root, const tali_xml_element *e)
{
    if (e->first != NULL) return e->first;
    while (e != root && e->next == NULL) {
        e = e->parent;
    }
    return e != root ? e->next : NULL;
}

static void check(tali_osim *o, const tali_xml_element *e)
{
    const tali_osim_class *row = find_class(e->name);
    if (row != NULL) tali_osim_check_properties(o, e, row, false);
}

void tali_osim_check_tree(tali_osim *o, const tali_xml_element *root)
{
    check(o, root);
    for (const tali_xml_element *c = root->first; c != NULL; c = c->next) {
        for (const tali_xml_element *e = c; e != NULL; e = next_of(c, e)) {
            check(o, e);
        }
    }
}
