// What objects of each class may contain, and what of it is not read.
#include "opensim/osim_internal.h"

#include <stdio.h>
#include <string.h>

// Properties that several classes have. A '~' stands before what is not read.
#define LOOKS                                                                                      \
    "~VisibleObject ~attached_geometry ~Appearance ~FrameGeometry ~frame_geometry ~geometry "      \
    "~display_preference ~color ~visible "
#define FRAME                                                                                      \
    "VisibleObject attached_geometry ~Appearance ~FrameGeometry ~frame_geometry ~geometry "        \
    "~display_preference ~color ~visible components WrapObjectSet socket_parent connectors translation orientation "
#define FORCE LOOKS "isDisabled appliesForce "
#define ACT   FORCE "min_control max_control optimal_force "
#define WITH_PATH                                                                                  \
    ACT "GeometryPath path MusclePointSet MuscleWrapSet PathPointSet PathWrapSet ~display "
#define MUSCLE                                                                                     \
    WITH_PATH "max_isometric_force optimal_fiber_length tendon_slack_length "                      \
              "pennation_angle_at_optimal pennation_angle max_contraction_velocity "               \
              "ignore_tendon_compliance ignore_activation_dynamics activation_time_constant "      \
              "deactivation_time_constant default_activation default_fiber_length "                \
              "minimum_activation maximum_pennation_angle damping Vmax Vmax0 FmaxTendonStrain "    \
              "FmaxMuscleStrain KshapeActive KshapePassive Af Flen fv_linear_extrap_threshold "    \
              "activation1 activation2 "                                                           \
              "activation_dynamics_model MuscleFirstOrderActivationDynamicModel "                  \
              "MuscleFixedWidthPennationModel pennation_model "
#define JOINT                                                                                      \
    LOOKS                                                                                          \
    "use_euler_angles parent_body location_in_parent orientation_in_parent location "              \
    "orientation reverse "                                                                         \
    "CoordinateSet coordinates frames socket_parent_frame socket_child_frame connectors "          \
    "socket_parent_frame_connectee_name socket_child_frame_connectee_name "
#define POINT LOOKS "body location socket_parent_frame connectors "
#define VIA   "coordinate socket_coordinate range "
#define MOVING                                                                                     \
    "x_location y_location z_location x_coordinate y_coordinate z_coordinate "                     \
    "socket_x_coordinate socket_y_coordinate socket_z_coordinate XAttachment YAttachment "         \
    "ZAttachment "
#define WRAP       LOOKS "xyz_body_rotation translation active quadrant ~display "
#define CONTROLLER LOOKS "actuator_list socket_actuators isDisabled isEnabled enabled "
#define MILLARD                                                                                    \
    "fiber_damping ActiveForceLengthCurve ForceVelocityCurve FiberForceLengthCurve "               \
    "TendonForceLengthCurve "
#define BUSHING                                                                                    \
    "body_1 body_2 location_body_1 orientation_body_1 location_body_2 orientation_body_2 "         \
    "socket_frame1 socket_frame2 frames connectors "
#define BUSHING_LOOKS "~moment_visual_scale ~force_visual_scale ~visual_aspect_ratio "
#define CONSTRAINT    LOOKS "isDisabled isEnforced connectors "

static const tali_osim_class classes[] = {
    {"Model",
     "Ground ground gravity BodySet JointSet ConstraintSet ForceSet ActuatorSet MarkerSet "
     "ContactGeometrySet ControllerSet ComponentSet components ProbeSet defaults assembly_accuracy "
     "CoordinateSet credits publications length_units force_units ~ModelVisualPreferences "
     "~ModelDisplayHints DynamicsEngine "},
    {"Ground", FRAME},
    {"Body", FRAME
     "mass mass_center inertia inertia_xx inertia_yy inertia_zz inertia_xy inertia_xz inertia_yz "
     "Joint joint "},
    {"PhysicalOffsetFrame", FRAME},
    {"WeldJoint", JOINT},
    {"PinJoint", JOINT},
    {"SliderJoint", JOINT},
    {"UniversalJoint", JOINT},
    {"GimbalJoint", JOINT},
    {"BallJoint", JOINT},
    {"PlanarJoint", JOINT},
    {"FreeJoint", JOINT},
    {"EllipsoidJoint", JOINT "radii_x_y_z "},
    {"ScapulothoracicJoint", JOINT "thoracic_ellipsoid_radii_x_y_z scapula_winging_axis_origin "
                                   "scapula_winging_axis_direction "},
    {"CustomJoint", JOINT "SpatialTransform spatial_transform TransformAxisSet "},
    {"SpatialTransform", "TransformAxis "},
    {"TransformAxis", "function coordinate coordinates axis is_rotation "},
    {"Coordinate",
     "motion_type default_value default_speed_value range clamped locked prescribed "
     "prescribed_function is_free_to_satisfy_constraints ~initial_value ~tolerance ~stiffness "
     "~restraint_function ~restraint_active ~min_restraint_function ~max_restraint_function "
     "~constraint_function ~keys "},
    {"Marker", LOOKS "body parent_frame socket_parent_frame connectors location offset fixed "
                     "socket_parent_frame_connectee_name "},
    {"CoordinateCouplerConstraint", CONSTRAINT
     "coupled_coordinates_function independent_coordinate_names dependent_coordinate_name "
     "scale_factor "},
    {"WeldConstraint", CONSTRAINT
     "body_1 body_2 location_body_1 orientation_body_1 location_body_2 orientation_body_2 "
     "socket_frame1 socket_frame2 frames "},
    {"PointConstraint", CONSTRAINT
     "body_1 body_2 location_body_1 location_body_2 socket_body_1 socket_body_2 frames "},
    {"PointOnLineConstraint",
     CONSTRAINT "line_body line_direction_vec point_on_line follower_body point_on_follower "
                "socket_line_body socket_follower_body "},
    {"ConstantDistanceConstraint",
     CONSTRAINT "body_1 body_2 location_body_1 location_body_2 constant_distance socket_body_1 "
                "socket_body_2 "},
    {"RollingOnSurfaceConstraint",
     CONSTRAINT "rolling_body surface_body socket_rolling_body socket_surface_body surface_normal "
                "surface_height ~friction_coefficient ~contact_radius "},
    {"CoordinateActuator", ACT "coordinate "},
    {"ActivationCoordinateActuator", ACT "coordinate activation_time_constant default_activation "},
    {"PointActuator",
     ACT "body socket_body point point_is_global direction force_is_global connectors "},
    {"TorqueActuator",
     ACT "bodyA bodyB axis torque_is_global socket_bodyA socket_bodyB connectors "},
    {"BodyActuator",
     ACT "body socket_body point point_is_global spatial_force_is_global connectors "},
    {"PrescribedForce",
     FORCE "body socket_frame connectors forceIsGlobal pointIsGlobal FunctionSet forceFunctions "
           "pointFunctions torqueFunctions "},
    {"SpringGeneralizedForce", FORCE "coordinate stiffness rest_length viscosity "},
    {"PointToPointSpring",
     FORCE "body1 body2 socket_body1 socket_body2 point1 point2 stiffness rest_length connectors "},
    {"BushingForce", FORCE BUSHING "rotational_stiffness translational_stiffness "
                                   "rotational_damping translational_damping "},
    {"ExpressionBasedCoordinateForce", FORCE "coordinate expression "},
    {"ExpressionBasedPointToPointForce",
     FORCE "body1 body2 socket_body1 socket_body2 point1 point2 expression connectors "},
    {"FunctionBasedBushingForce",
     FORCE BUSHING "m_x_theta_x_function m_y_theta_y_function m_z_theta_z_function "
                   "f_x_delta_x_function f_y_delta_y_function f_z_delta_z_function "
                   "rotational_damping translational_damping " BUSHING_LOOKS},
    {"ExpressionBasedBushingForce",
     FORCE BUSHING "Mx_expression My_expression Mz_expression Fx_expression Fy_expression "
                   "Fz_expression rotational_damping translational_damping " BUSHING_LOOKS},
    {"CoordinateLimitForce",
     FORCE "coordinate upper_stiffness upper_limit lower_stiffness lower_limit damping transition "
           "compute_dissipation_energy "},
    {"HuntCrossleyForce",
     FORCE "HuntCrossleyForce::ContactParametersSet contact_parameters transition_velocity "},
    {"HuntCrossleyForce::ContactParameters",
     "geometry stiffness dissipation static_friction dynamic_friction viscous_friction "},
    {"ElasticFoundationForce",
     FORCE "ElasticFoundationForce::ContactParametersSet contact_parameters transition_velocity "},
    {"ElasticFoundationForce::ContactParameters",
     "geometry stiffness dissipation static_friction dynamic_friction viscous_friction "},
    {"SmoothSphereHalfSpaceForce", FORCE
     "socket_sphere socket_half_space stiffness dissipation static_friction dynamic_friction "
     "viscous_friction transition_velocity constant_contact_force hertz_smoothing "
     "hunt_crossley_smoothing ~force_visualization_radius ~force_visualization_scale_factor "},
    {"ContactSphere", LOOKS "socket_frame body_name location orientation radius connectors "},
    {"ContactMesh", LOOKS "socket_frame body_name location orientation filename connectors "},
    {"ContactHalfSpace", LOOKS "socket_frame body_name location orientation connectors "},
    {"GeometryPath", LOOKS "PathPointSet PathWrapSet MusclePointSet MuscleWrapSet ~display "},
    {"FunctionBasedPath", LOOKS "coordinate_paths length_function ~moment_arm_functions "
                                "~lengthening_speed_function "},
    {"PathPoint", POINT},
    {"MusclePoint", POINT "~attachment "},
    {"ConditionalPathPoint", POINT VIA},
    {"MuscleViaPoint", POINT VIA "~attachment "},
    {"MovingPathPoint", POINT MOVING},
    {"MovingMusclePoint", POINT MOVING "~attachment "},
    {"PathWrap", "wrap_object ~method range connectors "},
    {"MuscleWrap", "wrap_object ~method range "},
    {"WrapCylinder", WRAP "radius length "},
    {"WrapSphere", WRAP "radius "},
    {"WrapEllipsoid", WRAP "dimensions "},
    {"WrapTorus", WRAP "inner_radius outer_radius "},
    {"Thelen2003Muscle", MUSCLE},
    {"Millard2012EquilibriumMuscle", MUSCLE MILLARD},
    {"Millard2012AccelerationMuscle",
     MUSCLE MILLARD "default_fiber_velocity ~mass "
                    "~fiber_force_length_multiplier ~fiber_compressive_force_length_multiplier "
                    "~fiber_compressive_force_cos_pennation_multiplier "
                    "~tendon_force_length_multiplier "},
    {"ActiveForceLengthCurve",
     "min_norm_active_fiber_length transition_norm_fiber_length max_norm_active_fiber_length "
     "shallow_ascending_slope minimum_value "},
    {"ForceVelocityCurve",
     "concentric_slope_at_vmax concentric_slope_near_vmax isometric_slope eccentric_slope_at_vmax "
     "eccentric_slope_near_vmax max_eccentric_velocity_force_multiplier concentric_curviness "
     "eccentric_curviness "},
    {"FiberForceLengthCurve",
     "strain_at_zero_force strain_at_one_norm_force stiffness_at_low_force "
     "stiffness_at_one_norm_force curviness "},
    {"TendonForceLengthCurve",
     "strain_at_one_norm_force stiffness_at_one_norm_force norm_force_at_toe_end curviness "},
    {"DeGrooteFregly2016Muscle", MUSCLE
     "default_normalized_tendon_force activation_dynamics_smoothing active_force_width_scale "
     "fiber_damping "
     "passive_fiber_strain_at_one_norm_force tendon_strain_at_one_norm_force "
     "ignore_passive_fiber_force tendon_compliance_dynamics_mode "},
    {"RigidTendonMuscle",
     MUSCLE "active_force_length_curve passive_force_length_curve force_velocity_curve "},
    {"PathActuator", WITH_PATH},
    {"PathSpring", WITH_PATH "resting_length stiffness dissipation "},
    {"ClutchedPathSpring",
     WITH_PATH "stiffness dissipation relaxation_time_constant initial_stretch "},
    {"PrescribedController", CONTROLLER "ControlFunctions controls_file interpolation_method "},
    {"ControlSetController", CONTROLLER "controls_file ControlSet "},
    {"ToyReflexController", CONTROLLER "gain "},
    {"CorrectionController", CONTROLLER "kp kv "},
    {"Blankevoort1991Ligament",
     WITH_PATH "linear_stiffness transition_strain damping_coefficient slack_length "},
    {"McKibbenActuator", WITH_PATH "number_of_turns thread_length cord_length "},
    {"Ligament", WITH_PATH "resting_length pcsa_force force_length_curve "},
};

enum {
    NUM_CLASSES = sizeof classes / sizeof *classes
};

static const tali_osim_class *find_class(const char *name)
{
    for (int i = 0; i < NUM_CLASSES; ++i) {
        if (strcmp(classes[i].name, name) == 0) return &classes[i];
    }
    return NULL;
}

// The word of a list that a name is, with its '~'; NULL: none.
static const char *find_word(const char *words, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = words; *at != '\0';) {
        const char *word = at + (*at == '~' ? 1 : 0);
        const char *end = strchr(at, ' '); // each list ends with a blank
        if ((size_t)(end - word) == length && memcmp(word, name, length) == 0) return at;
        at = end + 1;
    }
    return NULL;
}

enum {
    MAX_WORDS = 96 // properties of one class
};

static const char *word_at(const void *context, int i)
{
    return ((const char *const *)context)[i];
}

// The words of a list, without their '~', and NULL behind them.
static void split_words(tali_osim *o, const char *list, const char *words[MAX_WORDS + 1])
{
    int n = 0;
    for (const char *at = list; *at != '\0' && n < MAX_WORDS; ++at) {
        if (*at == '~') ++at;
        const char *end = strchr(at, ' ');
        words[n] = tali_arena_copy(&o->arena, at, (size_t)(end - at));
        if (words[n] == NULL) break;
        ++n;
        at = end;
    }
    words[n] = NULL;
}

// Once for each class and property: a file has the same slip many times.
static void report_unknown(tali_osim *o, const tali_xml_element *object, const tali_osim_class *row,
                           const tali_xml_element *child)
{
    char key[160];
    (void)snprintf(key, sizeof key, "%.70s.%.80s", object->name, child->name);
    if (tali_name_map_find(&o->unknown, key) >= 0) return;
    const char *kept = tali_arena_copy(&o->arena, key, strlen(key));
    if (kept == NULL || !tali_name_map_add(&o->unknown, kept, 0)) o->no_memory = true;
    const char *words[MAX_WORDS + 1];
    split_words(o, row->properties, words);
    const char *meant = tali_text_did_you_mean(child->name, word_at, (const void *)words);
    tal_diagnostics_add(o->found, o->options.strict ? TAL_ERROR : TAL_WARNING,
                        tali_osim_file_of(o, child), child->line, child->column,
                        "<%.60s> has no property '%.60s'%s%s%s", object->name, child->name,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "");
}

void tali_osim_check_class(tali_osim *o, const tali_xml_element *object)
{
    const tali_osim_class *row = find_class(object->name);
    if (row != NULL) tali_osim_check_properties(o, object, row, true);
}

// `<file/>` and `<file>Unassigned</file>` do not.
static bool says_something(const tali_xml_element *e)
{
    return e->first != NULL || e->num_attributes > 0 ||
           (e->text[0] != '\0' && strcmp(e->text, "Unassigned") != 0);
}

void tali_osim_check_properties(tali_osim *o, const tali_xml_element *object,
                                const tali_osim_class *row, bool even_empty)
{
    for (const tali_xml_element *c = object->first; c != NULL; c = c->next) {
        const char *word = find_word(row->properties, c->name);
        // <Class name="property"> of version 4
        if (word == NULL) word = find_word(row->properties, tali_osim_name(c));
        if (word == NULL) {
            report_unknown(o, object, row, c);
        } else if (*word == '~' && (even_empty || says_something(c))) {
            tali_osim_ignore(o, c, TAL_NOTE, "is not read");
        }
    }
}

void tali_osim_ignore(tali_osim *o, const tali_xml_element *element, tal_severity severity,
                      const char *why)
{
    int i = 0;
    while (i < o->num_ignored && strcmp(o->ignored[i].first->name, element->name) != 0) {
        ++i;
    }
    if (i == TALI_OSIM_MAX_IGNORED) return;
    if (i == o->num_ignored) {
        o->ignored[i] = (tali_osim_ignored){element, why, severity, 0};
        o->num_ignored += 1;
    }
    o->ignored[i].count += 1;
}

void tali_osim_report_ignored(tali_osim *o)
{
    for (int i = 0; i < o->num_ignored; ++i) {
        const tali_osim_ignored *it = &o->ignored[i];
        tal_diagnostics_add(o->found, it->severity, tali_osim_file_of(o, it->first),
                            it->first->line, it->first->column, "<%.60s> %s (%d of them)",
                            it->first->name, it->why, it->count);
    }
}
