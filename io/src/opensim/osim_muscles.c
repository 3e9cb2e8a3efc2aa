// Muscles of all kinds.
#include "error_internal.h"

#include "opensim/osim_internal.h"
#include "table/table_internal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// --- numbers ---

// A property and the place of its number.
typedef struct number_row {
    const char *name;
    size_t offset;
} number_row;

static double *number_at(tal_muscle_def *def, size_t offset)
{
    return (double *)(void *)((char *)def + offset);
}

#define NUMBER(property, field)                                                                    \
    {                                                                                              \
        (property), offsetof(tal_muscle_def, field)                                                \
    }

// What is there replaces the usual numbers.
static void read_numbers(tali_osim *o, const tali_xml_element *e, tal_muscle_def *def,
                         const number_row rows[], int n)
{
    for (int i = 0; i < n && e != NULL; ++i) {
        double *value = number_at(def, rows[i].offset);
        *value = tali_osim_number(o, e, rows[i].name, *value);
    }
}

#define READ_NUMBERS(o, e, def, rows)                                                              \
    read_numbers((o), (e), (def), (rows), (int)(sizeof(rows) / sizeof *(rows)))

// --- what all muscles have ---

static const number_row activation_rows[] = {
    NUMBER("activation_time_constant", activation_time),
    NUMBER("deactivation_time_constant", deactivation_time),
    NUMBER("minimum_activation", min_activation)};

static const number_row common_rows[] = {NUMBER("max_isometric_force", max_force),
                                         NUMBER("optimal_fiber_length", fiber_length),
                                         NUMBER("tendon_slack_length", tendon_length),
                                         NUMBER("pennation_angle", pennation), // before 2.0
                                         NUMBER("pennation_angle_at_optimal", pennation),
                                         NUMBER("maximum_pennation_angle", max_pennation),
                                         NUMBER("max_contraction_velocity", max_speed),
                                         NUMBER("default_activation", initial_activation),
                                         NUMBER("default_fiber_length", initial_fiber_length)};

static const number_row maximum_rows[] = {NUMBER("maximum_pennation_angle", max_pennation)};

// Elastic fibers without damping need some activation; a file may say zero.
static void raise_activation(tali_osim *o, const tali_osim_force *f)
{
    tal_muscle_def *def = f->muscle;
    const bool damped = def->model != TAL_MUSCLE_THELEN && def->damping >= 1e-3;
    if (def->rigid_tendon || damped || def->min_activation > 0.0) return;
    def->min_activation = 0.01;
    tali_osim_ignore(o, f->element, TAL_NOTE, "has 0.01 for its minimum_activation of zero");
}

static void check_sizes(tali_osim *o, const tali_osim_force *f)
{
    static const number_row rows[] = {NUMBER("max_isometric_force", max_force),
                                      NUMBER("optimal_fiber_length", fiber_length),
                                      NUMBER("max_contraction_velocity", max_speed),
                                      NUMBER("tendon_slack_length", tendon_length)};
    for (int i = 0; i < 4; ++i) {
        const double value = *number_at(f->muscle, rows[i].offset);
        const bool zero_too = i == 3 && f->muscle->rigid_tendon;
        if (isfinite(value) && (value > 0.0 || (zero_too && value == 0.0))) continue;
        tali_osim_error(o, f->element, ": its %s, %g, must be above zero", rows[i].name, value);
    }
    raise_activation(o, f);
    const tal_muscle_def *def = f->muscle;
    if (!(def->pennation >= 0.0 && def->pennation <= def->max_pennation)) {
        tali_osim_error(o, f->element, ": its pennation angle, %g, is not between 0 and %g",
                        def->pennation, def->max_pennation);
    }
}

// Sub-models of version 3 may hold what stands in the muscle itself otherwise, which counts more.
static void read_common(tali_osim *o, const tali_xml_element *e, tal_muscle_def *def)
{
    def->max_force = 1000.0;
    def->fiber_length = 0.1;
    def->tendon_length = 0.2;
    READ_NUMBERS(o, tali_osim_property(e, "MuscleFirstOrderActivationDynamicModel"), def,
                 activation_rows);
    READ_NUMBERS(o, tali_osim_property(e, "MuscleFixedWidthPennationModel"), def, maximum_rows);
    READ_NUMBERS(o, e, def, activation_rows);
    READ_NUMBERS(o, e, def, common_rows);
    def->rigid_tendon = tali_osim_bool(o, e, "ignore_tendon_compliance", false);
    if (tali_osim_bool(o, e, "ignore_activation_dynamics", false)) {
        def->activation = TAL_ACTIVATION_NONE;
    }
}

// A muscle of a kind with its path and what all kinds have. NULL when memory runs out.
static tal_muscle_def *begin(tali_osim *o, tali_osim_force *f, tal_muscle_model model)
{
    tal_muscle_def *def = tali_osim_take(o, 1, sizeof *def);
    if (def == NULL) return NULL;
    *def = tal_muscle_def_default(model);
    f->muscle = def;
    def->min_control = f->least = tali_osim_number(o, f->element, "min_control", 0.0);
    def->max_control = f->largest = tali_osim_number(o, f->element, "max_control", 1.0);
    tali_osim_read_path(o, f);
    read_common(o, f->element, def);
    return def;
}

// --- Thelen ---

static const number_row thelen_rows[] = {NUMBER("FmaxTendonStrain", thelen.tendon_strain),
                                         NUMBER("FmaxMuscleStrain", thelen.passive_strain),
                                         NUMBER("KshapeActive", thelen.active_width),
                                         NUMBER("KshapePassive", thelen.passive_shape),
                                         NUMBER("Af", thelen.velocity_shape),
                                         NUMBER("Flen", thelen.eccentric),
                                         NUMBER("fv_linear_extrap_threshold", thelen.threshold)};

void tali_osim_read_thelen(tali_osim *o, tali_osim_force *f)
{
    tal_muscle_def *def = begin(o, f, TAL_MUSCLE_THELEN);
    if (def == NULL) return;
    READ_NUMBERS(o, f->element, def, thelen_rows);
    check_sizes(o, f);
}

// Muscles of Schutte and of Delp have curves that are not known here. The path is kept; as a
// muscle they act only if the caller takes Thelen's curves for theirs.
void tali_osim_read_old_muscle(tali_osim *o, tali_osim_force *f)
{
    if (o->options.approximate) {
        tali_osim_ignore(o, f->element, TAL_WARNING, "has the curves of Thelen2003Muscle here");
        tali_osim_read_thelen(o, f);
        return;
    }
    tali_osim_read_path(o, f);
    tali_osim_ignore(o, f->element, f->applies ? TAL_WARNING : TAL_NOTE,
                     "has a path but no force: its curves are not known; the option "
                     "'approximate' gives it those of Thelen2003Muscle");
}

// --- Millard ---

static const number_row damping_rows[] = {NUMBER("fiber_damping", damping)};

static const number_row active_rows[] = {
    NUMBER("min_norm_active_fiber_length", millard.active_from),
    NUMBER("transition_norm_fiber_length", millard.active_steep),
    NUMBER("max_norm_active_fiber_length", millard.active_to),
    NUMBER("shallow_ascending_slope", millard.active_slope),
    NUMBER("minimum_value", millard.active_minimum)};

static const number_row velocity_rows[] = {
    NUMBER("concentric_slope_at_vmax", millard.concentric_slope_end),
    NUMBER("concentric_slope_near_vmax", millard.concentric_slope),
    NUMBER("isometric_slope", millard.isometric_slope),
    NUMBER("eccentric_slope_at_vmax", millard.eccentric_slope_end),
    NUMBER("eccentric_slope_near_vmax", millard.eccentric_slope),
    NUMBER("max_eccentric_velocity_force_multiplier", millard.eccentric),
    NUMBER("concentric_curviness", millard.concentric_curviness),
    NUMBER("eccentric_curviness", millard.eccentric_curviness)};

static const number_row passive_rows[] = {
    NUMBER("strain_at_zero_force", millard.passive_strain_at_zero),
    NUMBER("strain_at_one_norm_force", millard.passive_strain_at_one),
    NUMBER("stiffness_at_low_force", millard.passive_stiffness_low),
    NUMBER("stiffness_at_one_norm_force", millard.passive_stiffness),
    NUMBER("curviness", millard.passive_curviness)};

static const number_row tendon_rows[] = {
    NUMBER("strain_at_one_norm_force", millard.tendon_strain),
    NUMBER("stiffness_at_one_norm_force", millard.tendon_stiffness),
    NUMBER("norm_force_at_toe_end", millard.tendon_toe),
    NUMBER("curviness", millard.tendon_curviness)};

// The last three properties of a curve stand together or not at all.
static void read_curve(tali_osim *o, const tali_osim_force *f, const char *name,
                       const number_row rows[], int n, bool all_or_none)
{
    const tali_xml_element *e = tali_osim_property(f->element, name);
    if (e == NULL) return;
    tali_osim_check_class(o, e);
    read_numbers(o, e, f->muscle, rows, n);
    int num = 0;
    for (int i = n - 3; i < n && all_or_none; ++i) {
        const tali_xml_element *property = tali_osim_property(e, rows[i].name);
        if (property != NULL && property->text[0] != '\0') ++num;
    }
    if (num == 1 || num == 2) {
        tali_osim_error(o, e, " needs all of %s, %s and %s, or none of them", rows[n - 3].name,
                        rows[n - 2].name, rows[n - 1].name);
    }
}

#define READ_CURVE(o, f, name, rows, all_or_none)                                                  \
    read_curve((o), (f), (name), (rows), (int)(sizeof(rows) / sizeof *(rows)), (all_or_none))

void tali_osim_read_millard(tali_osim *o, tali_osim_force *f)
{
    tal_muscle_def *def = begin(o, f, TAL_MUSCLE_MILLARD);
    if (def == NULL) return;
    READ_NUMBERS(o, f->element, def, damping_rows);
    READ_CURVE(o, f, "ActiveForceLengthCurve", active_rows, false);
    READ_CURVE(o, f, "ForceVelocityCurve", velocity_rows, false);
    READ_CURVE(o, f, "FiberForceLengthCurve", passive_rows, true);
    READ_CURVE(o, f, "TendonForceLengthCurve", tendon_rows, true);
    check_sizes(o, f);
}

// --- De Groote and Fregly ---

static const number_row degroote_rows[] = {
    NUMBER("fiber_damping", damping),
    NUMBER("activation_dynamics_smoothing", smoothing),
    NUMBER("default_normalized_tendon_force", initial_tendon_force),
    NUMBER("active_force_width_scale", degroote.active_width),
    NUMBER("passive_fiber_strain_at_one_norm_force", degroote.passive_strain),
    NUMBER("tendon_strain_at_one_norm_force", degroote.tendon_strain)};

void tali_osim_read_degroote(tali_osim *o, tali_osim_force *f)
{
    const tali_xml_element *e = f->element;
    tal_muscle_def *def = begin(o, f, TAL_MUSCLE_DEGROOTE);
    if (def == NULL) return;
    if (tali_osim_property(e, "default_activation") == NULL) def->initial_activation = 0.5;
    READ_NUMBERS(o, e, def, degroote_rows);
    if (tali_osim_bool(o, e, "ignore_passive_fiber_force", false)) {
        tali_osim_error(o, e, ": a muscle without passive force is not read");
    }
    const char *mode = tali_osim_text(e, "tendon_compliance_dynamics_mode");
    def->implicit = mode != NULL && tali_table_same_word(mode, "implicit") && !def->rigid_tendon;
    check_sizes(o, f);
}

// --- a rigid tendon and curves of the file ---

void tali_osim_read_rigid_tendon(tali_osim *o, tali_osim_force *f)
{
    static const char *const names[] = {"active_force_length_curve", "force_velocity_curve",
                                        "passive_force_length_curve"};
    tal_muscle_def *def = begin(o, f, TAL_MUSCLE_CURVES);
    if (def == NULL) return;
    def->rigid_tendon = true;
    def->activation = TAL_ACTIVATION_NONE;
    for (int k = 0; k < 3; ++k) {
        const tali_xml_element *curve = tali_osim_object(f->element, names[k]);
        if (curve == NULL) {
            tali_osim_error(o, f->element, " needs <%s>", names[k]);
        } else {
            f->functions[k] = tali_osim_read_function(o, curve, 1);
        }
    }
    check_sizes(o, f);
}

// --- the System ---

tal_force_ix tali_osim_add_muscle(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_path_ix path = tali_osim_add_path(o, model, f);
    if (f->muscle == NULL) return (tal_force_ix){-1};
    tal_muscle_def *def = f->muscle;
    def->path = path;
    def->active = f->functions[0];
    def->velocity = f->functions[1];
    def->passive = f->functions[2];
    memset(f->functions, 0, sizeof f->functions); // adopted
    return tal_forces_add_muscle(model->forces, f->name, def);
}

// A State that cannot be realized tells why when a study does.
void tali_osim_equilibrate(const tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_forces; ++i) {
        const tali_osim_force *f = &o->forces[i];
        if (f->muscle == NULL || f->force.i < 0) continue;
        if (tal_system_realize(model->system, model->state, TAL_STAGE_VELOCITY) != TAL_OK) return;
        (void)tal_muscle_equilibrate(model->forces, model->state, f->force, false, NULL);
    }
}
