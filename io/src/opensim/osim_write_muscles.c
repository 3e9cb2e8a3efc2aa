// Muscles as elements of .osim files.
#include "force_facts_internal.h"

#include "opensim/osim_write_internal.h"

#include <string.h>

const char *tali_osim_muscle_tag(const tal_forces *forces, tal_force_ix muscle)
{
    static const char *const tags[] = {"Thelen2003Muscle", "Millard2012EquilibriumMuscle",
                                       "DeGrooteFregly2016Muscle", "RigidTendonMuscle"};
    return tags[(int)tal_muscle_get_model(forces, muscle)];
}

typedef struct number_row {
    const char *tag;
    double value;
} number_row;

static void put_rows(tali_osim_writer *w, const number_row rows[], int n)
{
    for (int i = 0; i < n; ++i) {
        tali_osim_put_number(w, rows[i].tag, rows[i].value);
    }
}

#define PUT_ROWS(w, rows) put_rows((w), (rows), (int)(sizeof(rows) / sizeof *(rows)))

static void write_thelen(tali_osim_writer *w, const tal_thelen_curves *c)
{
    const number_row rows[] = {{"FmaxTendonStrain", c->tendon_strain},
                               {"FmaxMuscleStrain", c->passive_strain},
                               {"KshapeActive", c->active_width},
                               {"KshapePassive", c->passive_shape},
                               {"Af", c->velocity_shape},
                               {"Flen", c->eccentric},
                               {"fv_linear_extrap_threshold", c->threshold}};
    PUT_ROWS(w, rows);
}

static void write_passive(tali_osim_writer *w, const tal_millard_curves *c)
{
    const double low = c->passive_stiffness_low, high = c->passive_stiffness;
    tali_osim_open_tag(w, "FiberForceLengthCurve", "FiberForceLengthCurve");
    tali_osim_put_number(w, "strain_at_zero_force", c->passive_strain_at_zero);
    tali_osim_put_number(w, "strain_at_one_norm_force", c->passive_strain_at_one);
    const bool usual = low == 0.0 && high == 0.0 && c->passive_curviness == 0.75;
    if (!usual) { // all three or none
        const double span = c->passive_strain_at_one - c->passive_strain_at_zero;
        tali_osim_put_number(w, "stiffness_at_low_force", low != 0.0 ? low : 0.2);
        tali_osim_put_number(w, "stiffness_at_one_norm_force", high != 0.0 ? high : 2.0 / span);
        tali_osim_put_number(w, "curviness", c->passive_curviness);
    }
    tali_osim_close_tag(w, "FiberForceLengthCurve");
}

static void write_tendon(tali_osim_writer *w, const tal_millard_curves *c)
{
    const double k = c->tendon_stiffness;
    tali_osim_open_tag(w, "TendonForceLengthCurve", "TendonForceLengthCurve");
    tali_osim_put_number(w, "strain_at_one_norm_force", c->tendon_strain);
    const bool usual = k == 0.0 && c->tendon_toe == 2.0 / 3.0 && c->tendon_curviness == 0.5;
    if (!usual) {
        tali_osim_put_number(w, "stiffness_at_one_norm_force",
                             k != 0.0 ? k : 1.375 / c->tendon_strain);
        tali_osim_put_number(w, "norm_force_at_toe_end", c->tendon_toe);
        tali_osim_put_number(w, "curviness", c->tendon_curviness);
    }
    tali_osim_close_tag(w, "TendonForceLengthCurve");
}

// Four curves, each an element.
static void write_millard(tali_osim_writer *w, const tal_millard_curves *c)
{
    const number_row active[] = {{"min_norm_active_fiber_length", c->active_from},
                                 {"transition_norm_fiber_length", c->active_steep},
                                 {"max_norm_active_fiber_length", c->active_to},
                                 {"shallow_ascending_slope", c->active_slope},
                                 {"minimum_value", c->active_minimum}};
    const number_row velocity[] = {{"concentric_slope_at_vmax", c->concentric_slope_end},
                                   {"concentric_slope_near_vmax", c->concentric_slope},
                                   {"isometric_slope", c->isometric_slope},
                                   {"eccentric_slope_at_vmax", c->eccentric_slope_end},
                                   {"eccentric_slope_near_vmax", c->eccentric_slope},
                                   {"max_eccentric_velocity_force_multiplier", c->eccentric},
                                   {"concentric_curviness", c->concentric_curviness},
                                   {"eccentric_curviness", c->eccentric_curviness}};
    tali_osim_open_tag(w, "ActiveForceLengthCurve", "ActiveForceLengthCurve");
    PUT_ROWS(w, active);
    tali_osim_close_tag(w, "ActiveForceLengthCurve");
    tali_osim_open_tag(w, "ForceVelocityCurve", "ForceVelocityCurve");
    PUT_ROWS(w, velocity);
    tali_osim_close_tag(w, "ForceVelocityCurve");
    write_passive(w, c);
    write_tendon(w, c);
}

static void write_degroote(tali_osim_writer *w, const tal_muscle_def *def, double smoothing)
{
    const number_row rows[] = {
        {"activation_dynamics_smoothing", smoothing},
        {"default_normalized_tendon_force", def->initial_tendon_force},
        {"active_force_width_scale", def->degroote.active_width},
        {"passive_fiber_strain_at_one_norm_force", def->degroote.passive_strain},
        {"tendon_strain_at_one_norm_force", def->degroote.tendon_strain}};
    PUT_ROWS(w, rows);
    tali_osim_put_text(w, "tendon_compliance_dynamics_mode",
                       def->implicit ? "implicit" : "explicit");
}

static void write_curves(tali_osim_writer *w, const tal_muscle_def *def, const char *name)
{
    const struct {
        const char *tag;
        const tal_function *function;
    } rows[] = {{"active_force_length_curve", def->active},
                {"passive_force_length_curve", def->passive},
                {"force_velocity_curve", def->velocity}};

    for (int i = 0; i < 3; ++i) {
        tali_osim_open_tag(w, rows[i].tag, NULL);
        tali_osim_put_function(w, rows[i].function, NULL, name);
        tali_osim_close_tag(w, rows[i].tag);
    }
}

// What a muscle of ours has and OpenSim's has not.
static void check_muscle(tali_osim_writer *w, const tal_muscle_def *def, const double p[],
                         const char *name)
{
    const tal_activation usual =
        def->model == TAL_MUSCLE_DEGROOTE ? TAL_ACTIVATION_SMOOTH : TAL_ACTIVATION_FIRST_ORDER;
    const bool has_other = def->activation != TAL_ACTIVATION_NONE && def->activation != usual;
    const bool has_curves = def->model == TAL_MUSCLE_CURVES;
    if (has_other || (has_curves && def->activation != TAL_ACTIVATION_NONE)) {
        tali_osim_refuse(w, "muscle '%s' has an activation that OpenSim's has not", name);
    }
    if (p[TAL_MUSCLE_IS_OVERRIDDEN] != 0.0) {
        tali_osim_refuse(w, "muscle '%s' is overridden, which cannot be said in an .osim file",
                         name);
    }
    if (has_curves && p[TAL_MUSCLE_DAMPING] != 0.0) {
        tali_osim_refuse(w, "muscle '%s' has damping, which a RigidTendonMuscle has not", name);
    }
    if (p[TAL_MUSCLE_CONTROL] != 0.0) {
        tali_osim_refuse(w,
                         "muscle '%s' has a control of %g that a program has set; use a "
                         "controller",
                         name, p[TAL_MUSCLE_CONTROL]);
    }
}

// The present activation and fiber length are the default ones of the file.
static void write_start(tali_osim_writer *w, tal_force_ix muscle, const tal_muscle_def *def)
{
    int slot;
    const double *z = tal_state_z(w->model->state);
    const int n = tali_force_z(w->model->forces, w->model->state, muscle, 0, &slot);
    double activation = def->initial_activation, fiber = def->initial_fiber_length;
    const bool elastic = !def->rigid_tendon && def->model != TAL_MUSCLE_CURVES;
    const bool active = def->activation != TAL_ACTIVATION_NONE;
    if (active && n > 0) activation = z[slot];
    if (elastic && def->model != TAL_MUSCLE_DEGROOTE && n > (active ? 1 : 0)) {
        (void)tali_force_z(w->model->forces, w->model->state, muscle, active ? 1 : 0, &slot);
        fiber = z[slot];
    }
    if (def->model != TAL_MUSCLE_CURVES) tali_osim_put_number(w, "default_activation", activation);
    if (elastic && def->model != TAL_MUSCLE_DEGROOTE) {
        tali_osim_put_number(w, "default_fiber_length", fiber);
    }
}

void tali_osim_write_muscle(tali_osim_writer *w, tal_force_ix muscle)
{
    tali_force_facts facts;
    (void)tali_force_facts_of(w->model->forces, muscle, &facts);
    const tal_muscle_def *def = facts.muscle;
    const char *name = tal_force_name(w->model->forces, muscle);
    double p[TAL_NUM_MUSCLE_PARAMS];
    for (int i = 0; i < TAL_NUM_MUSCLE_PARAMS; ++i) {
        p[i] = tal_force_param(w->model->forces, w->model->state, muscle, i);
    }
    check_muscle(w, def, p, name);
    const number_row common[] = {{"min_control", p[TAL_MUSCLE_MIN_CONTROL]},
                                 {"max_control", p[TAL_MUSCLE_MAX_CONTROL]},
                                 {"max_isometric_force", p[TAL_MUSCLE_MAX_FORCE]},
                                 {"optimal_fiber_length", p[TAL_MUSCLE_FIBER_LENGTH]},
                                 {"tendon_slack_length", p[TAL_MUSCLE_TENDON_LENGTH]},
                                 {"pennation_angle_at_optimal", p[TAL_MUSCLE_PENNATION]},
                                 {"max_contraction_velocity", p[TAL_MUSCLE_MAX_SPEED]}};
    PUT_ROWS(w, common);
    tali_osim_put_bool(w, "ignore_tendon_compliance", def->rigid_tendon);
    tali_osim_put_bool(w, "ignore_activation_dynamics", def->activation == TAL_ACTIVATION_NONE);
    const number_row times[] = {{"activation_time_constant", p[TAL_MUSCLE_ACTIVATION_TIME]},
                                {"deactivation_time_constant", p[TAL_MUSCLE_DEACTIVATION_TIME]},
                                {"minimum_activation", p[TAL_MUSCLE_MIN_ACTIVATION]},
                                {"maximum_pennation_angle", p[TAL_MUSCLE_MAX_PENNATION]}};
    PUT_ROWS(w, times);
    write_start(w, muscle, def);
    if (def->model == TAL_MUSCLE_MILLARD || def->model == TAL_MUSCLE_DEGROOTE) {
        tali_osim_put_number(w, "fiber_damping", p[TAL_MUSCLE_DAMPING]);
    }
    switch (def->model) {
    case TAL_MUSCLE_THELEN:
        write_thelen(w, &def->thelen);
        break;
    case TAL_MUSCLE_MILLARD:
        write_millard(w, &def->millard);
        break;
    case TAL_MUSCLE_DEGROOTE:
        write_degroote(w, def, p[TAL_MUSCLE_SMOOTHING]);
        break;
    case TAL_MUSCLE_CURVES:
        write_curves(w, def, name);
        break;
    }
}
