// The table: muscles, and measures of them.
#include "force_facts_internal.h"

#include "model/model_write_internal.h"

#include <string.h>

// ---- muscles

// Refs behind those that all forces have: path, measure, kind of activation; then the tendon's.
// Numbers: those of tal_muscle_def in its order, then what a model adds, then what shapes its
// curves. Lists: z, override.
enum {
    ALONG = TALI_FORCE_REFS,
    DRIVER,
    ACTIVATION,
    RIGID,
    IMPLICIT,
    OVERRIDE = 1, // list
    // numbers
    SIZES = 0,
    TIMES = 6,
    CONTROL = 10,
    RANGE = 11,
    INITIAL = 13,
    COMMON_NUMBERS = 14
};

#define MUSCLE_TARGETS(kind_of_activation)                                                         \
    {"path", TALI_TYPE_PATH, .doc = "the path that it pulls along"},                               \
        {"measure", TALI_TYPE_MEASURE, .initial = "",                                              \
         .doc = "a measure that adds to its control, one number"},                                 \
    {                                                                                              \
        "activation", TALI_TYPE_WORD,                                                              \
            .initial = (kind_of_activation), .words = "first_order|smooth|none",                   \
            .doc = "how activation follows the control; `none`: it is the control"                 \
    }

#define MUSCLE_NUMBERS(rise, fall, least)                                                          \
    {"max_force", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER,                                \
     .doc = "isometric, at the optimal fiber length [N]"},                                         \
        {"fiber_length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "optimal [m]"},  \
        {"tendon_length", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,                     \
         .doc = "slack [m]"},                                                                      \
        {"pennation",                                                                              \
         TALI_TYPE_REAL,                                                                           \
         1,                                                                                        \
         "0",                                                                                      \
         TALI_IS_ANGLE | TALI_NO_NEGATIVE_NUMBER,                                                  \
         .doc = "between fibers and tendon at the optimal fiber length"},                          \
        {"max_pennation",                                                                          \
         TALI_TYPE_REAL,                                                                           \
         1,                                                                                        \
         "1.4706289056333368",                                                                     \
         TALI_IS_ANGLE | TALI_NO_NEGATIVE_NUMBER,                                                  \
         .doc = "its largest value; the default is acos(0.1), in rad"},                            \
        {"max_speed",                                                                              \
         TALI_TYPE_REAL,                                                                           \
         1,                                                                                        \
         "10",                                                                                     \
         TALI_POSITIVE_NUMBER,                                                                     \
         .doc = "largest speed of shortening, without load [optimal fiber lengths per second]"},   \
        {"activation_time",                                                                        \
         TALI_TYPE_REAL,                                                                           \
         1,                                                                                        \
         (rise),                                                                                   \
         TALI_POSITIVE_NUMBER,                                                                     \
         .doc = "time constant of rising activation [s]"},                                         \
        {"deactivation_time",                                                                      \
         TALI_TYPE_REAL,                                                                           \
         1,                                                                                        \
         (fall),                                                                                   \
         TALI_POSITIVE_NUMBER,                                                                     \
         .doc = "time constant of falling activation [s]"},                                        \
        {"min_activation", TALI_TYPE_REAL,          1,                                             \
         (least),          TALI_NO_NEGATIVE_NUMBER, .doc = "its smallest value"},                  \
        {"smoothing",                                                                              \
         TALI_TYPE_REAL,                                                                           \
         1,                                                                                        \
         "0.1",                                                                                    \
         TALI_NO_NEGATIVE_NUMBER,                                                                  \
         .doc = "of `smooth` activation: how sharply rising changes to falling"},                  \
        {"control", TALI_TYPE_REAL, 1, "0",                                                        \
         .doc = "number that is added to measure and controllers"},                                \
        {"control_range", TALI_TYPE_REAL,      2,                                                  \
         "0 1",           TALI_MAYBE_INFINITE, .doc = "range of the control"},                     \
        {"override", TALI_TYPE_REALS, .initial = "",                                               \
         .doc = "a tension to use instead of that of the muscle [N]; default: none"},              \
    {                                                                                              \
        "initial_activation", TALI_TYPE_REAL, 1, "0.05", .doc = "where `z` does not give it"       \
    }

#define RIGID_TENDON                                                                               \
    {                                                                                              \
        "rigid_tendon", TALI_TYPE_BOOL, .initial = "no", .doc = "the tendon does not stretch"      \
    }
#define INITIAL_FIBER                                                                              \
    {                                                                                              \
        "initial_fiber_length", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,                   \
            .doc = "[m]; where neither this nor `z` is given the fibers begin in equilibrium"      \
    }
#define DAMPING(value)                                                                             \
    {                                                                                              \
        "damping", TALI_TYPE_REAL, 1, (value), TALI_NO_NEGATIVE_NUMBER,                            \
            .doc = "of the fibers: force over max_force, per speed over the largest one"           \
    }
#define CURVE(attribute, value, text)                                                              \
    {                                                                                              \
        (attribute), TALI_TYPE_REAL, 1, (value), .doc = (text)                                     \
    }

const tali_model_attribute tali_model_thelen_attributes[] = {
    MUSCLE_TARGETS("first_order"),
    RIGID_TENDON,
    MUSCLE_NUMBERS("0.015", "0.05", "0.01"),
    INITIAL_FIBER,
    CURVE("tendon_strain", "0.04", "of the tendon at max_force"),
    CURVE("passive_strain", "0.6", "of passive fibers at max_force"),
    CURVE("active_width", "0.45", "gamma of the active curve"),
    CURVE("passive_shape", "5", "exponent of the passive curve"),
    CURVE("velocity_shape", "0.25", "Af of the velocity curve"),
    CURVE("eccentric", "1.4", "largest force of lengthening fibers, over max_force"),
    CURVE("threshold", "0.95", "part of it up to which the velocity curve is curved"),
    {.name = NULL}};

const tali_model_attribute tali_model_millard_attributes[] = {
    MUSCLE_TARGETS("first_order"),
    RIGID_TENDON,
    MUSCLE_NUMBERS("0.01", "0.04", "0.01"),
    INITIAL_FIBER,
    DAMPING("0.1"),
    CURVE("tendon_strain", "0.049", "of the tendon at max_force"),
    CURVE("tendon_stiffness", "0", "there, per strain; 0: 1.375 / tendon_strain"),
    CURVE("tendon_toe", "0.6666666666666666", "force where its curve becomes a line"),
    CURVE("tendon_curviness", "0.5", "of its curve"),
    CURVE("passive_strain_at_zero", "0", "of the fibers where their passive force begins"),
    CURVE("passive_strain_at_one", "0.7", "of passive fibers at max_force"),
    CURVE("passive_stiffness_low", "0", "just after it begins, per strain; 0: 0.2"),
    CURVE("passive_stiffness", "0", "at max_force, per strain; 0: 2 / the strains' difference"),
    CURVE("passive_curviness", "0.75", "of the passive curve"),
    CURVE("active_from", "0.4441", "fiber length where the active curve begins"),
    CURVE("active_steep", "0.73", "where it turns from steep to shallow"),
    CURVE("active_to", "1.8123", "where it ends"),
    CURVE("active_slope", "0.8616", "of its shallow part"),
    CURVE("active_minimum", "0.1", "its least value; 0 where damping allows that"),
    CURVE("concentric_slope_end", "0", "of the velocity curve at the largest speed"),
    CURVE("concentric_slope", "0.25", "near it"),
    CURVE("isometric_slope", "5", "at rest"),
    CURVE("eccentric_slope_end", "0", "at the largest speed of lengthening"),
    CURVE("eccentric_slope", "0.15", "near it"),
    CURVE("eccentric", "1.4", "force there, over max_force"),
    CURVE("concentric_curviness", "0.6", "of the velocity curve when shortening"),
    CURVE("eccentric_curviness", "0.9", "when lengthening"),
    {.name = NULL}};

const tali_model_attribute tali_model_degroote_attributes[] = {
    MUSCLE_TARGETS("smooth"),
    RIGID_TENDON,
    {"implicit", TALI_TYPE_BOOL, .initial = "no",
     .doc = "`tendon_force_rate` is given, and the residual of equilibrium is an output"},
    MUSCLE_NUMBERS("0.015", "0.06", "0.01"),
    CURVE("initial_tendon_force", "0.5",
          "over max_force; where neither this nor `z` is given the fibers begin in equilibrium"),
    DAMPING("0"),
    CURVE("tendon_force_rate", "0", "of an implicit muscle, over max_force [1/s]"),
    CURVE("tendon_strain", "0.049", "of the tendon at max_force"),
    CURVE("passive_strain", "0.6", "of passive fibers at max_force"),
    CURVE("active_width", "1", "scale of the active curve"),
    {.name = NULL}};

const tali_model_attribute tali_model_muscle_attributes[] = {
    MUSCLE_TARGETS("none"), MUSCLE_NUMBERS("0.01", "0.04", "0"), DAMPING("0"), {.name = NULL}};

// The model of a row.
static tal_muscle_model model_of(const tali_model_row *row)
{
    return row->own == tali_model_thelen_attributes     ? TAL_MUSCLE_THELEN
           : row->own == tali_model_millard_attributes  ? TAL_MUSCLE_MILLARD
           : row->own == tali_model_degroote_attributes ? TAL_MUSCLE_DEGROOTE
                                                        : TAL_MUSCLE_CURVES;
}

// What shapes the curves, in the order of the attributes; how many numbers it is.
static double *shape_of(tal_muscle_def *def, int *count)
{
    switch (def->model) {
    case TAL_MUSCLE_THELEN:
        *count = (int)(sizeof def->thelen / sizeof(double));
        return &def->thelen.tendon_strain;
    case TAL_MUSCLE_MILLARD:
        *count = (int)(sizeof def->millard / sizeof(double));
        return &def->millard.tendon_strain;
    case TAL_MUSCLE_DEGROOTE:
        *count = (int)(sizeof def->degroote / sizeof(double));
        return &def->degroote.tendon_strain;
    case TAL_MUSCLE_CURVES:
        break;
    }
    *count = 0;
    return NULL;
}

// What a model adds to the numbers that all have; where its curves begin.
static const double *take_own_numbers(tal_muscle_def *def, const double *p)
{
    if (def->model == TAL_MUSCLE_DEGROOTE) def->initial_tendon_force = *p++;
    if (def->model == TAL_MUSCLE_THELEN || def->model == TAL_MUSCLE_MILLARD) {
        def->initial_fiber_length = *p++;
    }
    if (def->model != TAL_MUSCLE_THELEN) def->damping = *p++;
    if (def->model == TAL_MUSCLE_DEGROOTE) p++; // the rate is of the State
    return p;
}

static void take_numbers(tal_muscle_def *def, const double *p)
{
    memcpy(&def->max_force, p + SIZES, 6 * sizeof *p); // to max_speed
    memcpy(&def->activation_time, p + TIMES, 4 * sizeof *p);
    memcpy(&def->min_control, p + RANGE, 2 * sizeof *p);
    def->initial_activation = p[INITIAL];
    int count;
    double *shape = shape_of(def, &count);
    const double *curves = take_own_numbers(def, p + COMMON_NUMBERS);
    if (count > 0) memcpy(shape, curves, (size_t)count * sizeof *p);
}

void tali_model_build_muscle(tali_model *m, tali_model_item *item)
{
    const tal_muscle_model model = model_of(item->row);
    tal_muscle_def def = tal_muscle_def_default(model);
    def.path.i = m->items[item->ref[ALONG]].built;
    def.control = tali_model_measure_at(m, item->ref[DRIVER]);
    def.activation = (tal_activation)item->ref[ACTIVATION];
    if (model != TAL_MUSCLE_CURVES) def.rigid_tendon = item->ref[RIGID] != 0;
    if (model == TAL_MUSCLE_DEGROOTE) def.implicit = item->ref[IMPLICIT] != 0;
    take_numbers(&def, item->p);
    if (model == TAL_MUSCLE_CURVES) {
        def.active = tali_model_take_function(m, item, 0);
        def.velocity = tali_model_take_function(m, item, 1);
        def.passive = tali_model_take_function(m, item, 2);
    }
    item->built = tal_forces_add_muscle(m->forces, item->name, &def).i;
}

void tali_model_start_muscle(tali_model *m, const tali_model_item *item)
{
    const tal_force_ix muscle = {item->built};
    const tali_model_list *tension = &item->lists[OVERRIDE];
    const bool is_implicit = model_of(item->row) == TAL_MUSCLE_DEGROOTE && item->ref[IMPLICIT];
    if (tension->count > 1) {
        tali_model_item_error(m, item, "override", ": 'override' has %d numbers; 1 is needed",
                              tension->count);
        return;
    }
    const double values[] = {item->p[CONTROL],
                             item->p[RANGE],
                             item->p[RANGE + 1],
                             tension->count,
                             tension->count > 0 ? tension->values[0] : 0.0,
                             is_implicit ? item->p[COMMON_NUMBERS + 2] : 0.0};
    (void)tal_force_set_params(m->forces, m->state, muscle, TAL_MUSCLE_CONTROL, values, 6);
}

// Of an elastic muscle: whether the file leaves the length of its fibers open.
static bool wants_equilibrium(const tali_model *m, const tali_model_item *item)
{
    if (item->group != TALI_GROUP_FORCES) return false;
    return tal_force_is_muscle(m->forces, (tal_force_ix){item->built}) &&
           item->lists[0].count == 0 && !tali_model_item_has(item, "initial_fiber_length") &&
           !tali_model_item_has(item, "initial_tendon_force");
}

// A State that cannot be realized tells why when a study does.
void tali_model_equilibrate(tali_model *m)
{
    for (int i = 0; i < m->num_items; ++i) {
        const tali_model_item *item = &m->items[i];
        if (!wants_equilibrium(m, item)) continue;
        if (tal_system_realize(m->system, m->state, TAL_STAGE_VELOCITY) != TAL_OK) return;
        (void)tal_muscle_equilibrate(m->forces, m->state, (tal_force_ix){item->built}, false, NULL);
    }
}

static void say_shape(tali_model_description *d, tal_muscle_def def)
{
    int count;
    const double *shape = shape_of(&def, &count);
    if (count > 0) tali_model_say_numbers(d, shape, count);
}

void tali_model_describe_muscle(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_force_ix muscle = {d->index};
    tali_force_facts facts;
    (void)tali_force_facts_of(model->forces, muscle, &facts);
    const tal_muscle_def *def = facts.muscle;
    double values[TAL_NUM_MUSCLE_PARAMS];
    for (int i = 0; i < TAL_NUM_MUSCLE_PARAMS; ++i) {
        values[i] = tal_force_param(model->forces, model->state, muscle, i);
    }
    tali_model_say_index(d, facts.path.i);
    tali_model_say_index(d, facts.measure.i);
    tali_model_say_index(d, (int)def->activation);
    tali_model_say_index(d, def->rigid_tendon);
    tali_model_say_index(d, def->implicit);

    tali_model_say_numbers(d, values + TAL_MUSCLE_MAX_FORCE, 6);
    tali_model_say_numbers(d, values + TAL_MUSCLE_ACTIVATION_TIME, 4);
    tali_model_say_numbers(d, values + TAL_MUSCLE_CONTROL, 3);
    tali_model_say_number(d, def->initial_activation);
    if (def->model == TAL_MUSCLE_DEGROOTE) tali_model_say_number(d, def->initial_tendon_force);
    if (def->model == TAL_MUSCLE_THELEN || def->model == TAL_MUSCLE_MILLARD) {
        tali_model_say_number(d, def->initial_fiber_length);
    }
    if (def->model != TAL_MUSCLE_THELEN) tali_model_say_number(d, values[TAL_MUSCLE_DAMPING]);
    if (def->model == TAL_MUSCLE_DEGROOTE) {
        tali_model_say_number(d, values[TAL_MUSCLE_TENDON_FORCE_RATE]);
    }
    say_shape(d, *def);

    double *tension = tali_model_keep_values(d, 1);
    *tension = values[TAL_MUSCLE_OVERRIDE];
    tali_model_say_values(d, tension, values[TAL_MUSCLE_IS_OVERRIDDEN] != 0.0);
    tali_model_say_function(d, def->active);
    tali_model_say_function(d, def->velocity);
    tali_model_say_function(d, def->passive);
}

// ---- measures

const tali_model_attribute tali_model_muscle_output_attributes[] = {
    {"muscle", TALI_TYPE_FORCE, .doc = "the muscle"},
    {"output", TALI_TYPE_WORD, .initial = "actuation",
     .words = "length|speed|excitation|activation|fiber_length|normalized_fiber_length|"
              "fiber_length_along_tendon|pennation_angle|cos_pennation_angle|tendon_length|"
              "normalized_tendon_length|tendon_strain|fiber_velocity|normalized_fiber_velocity|"
              "fiber_velocity_along_tendon|pennation_angular_velocity|tendon_velocity|"
              "active_force_length_multiplier|force_velocity_multiplier|passive_force_multiplier|"
              "normalized_tendon_force|fiber_force|active_fiber_force|passive_fiber_force|"
              "damping_force|fiber_force_along_tendon|active_fiber_force_along_tendon|"
              "passive_fiber_force_along_tendon|tendon_force|actuation|fiber_stiffness|"
              "fiber_stiffness_along_tendon|tendon_stiffness|muscle_stiffness|fiber_active_power|"
              "fiber_passive_power|tendon_power|muscle_power|fiber_potential_energy|"
              "tendon_potential_energy|equilibrium_residual",
     .doc =
         "which output (talus/forces/muscle.h has units and formulas); `actuation` is the tension"},
    {.name = NULL}};

void tali_model_build_muscle_output(tali_model *m, tali_model_item *item)
{
    item->built =
        tal_measure_add_muscle_output(m->forces, item->name, tali_model_force_at(m, item->ref[0]),
                                      (tal_muscle_output)item->ref[1])
            .i;
}

void tali_model_describe_muscle_output(tali_model_description *d)
{
    tal_force_ix muscle = {-1};
    tal_muscle_output which = TAL_MUSCLE_LENGTH;
    (void)tali_muscle_measure_facts(d->w->model.system, (tal_measure_ix){d->index}, &muscle,
                                    &which);
    tali_model_say_index(d, muscle.i);
    tali_model_say_index(d, (int)which);
}

#define FLAG(attribute, value, text)                                                               \
    {                                                                                              \
        (attribute), TALI_TYPE_BOOL, .initial = (value), .doc = (text)                             \
    }

const tali_model_attribute tali_model_metabolics_attributes[] = {
    {"muscle", TALI_TYPE_FORCE, .doc = "the muscle"},
    {"model", TALI_TYPE_WORD, .initial = "umberger", .words = "umberger|bhargava",
     .doc = "of 2010, or of 2004"},
    FLAG("heat", "yes", "include heat of activation and maintenance"),
    FLAG("shortening", "yes", "include heat of shortening and lengthening"),
    FLAG("work", "yes", "include mechanical work"),
    FLAG("negative_work", "yes", "Umberger: also the work of lengthening fibers"),
    FLAG("recruitment", "yes", "Umberger: the fraction of slow fibers depends on the excitation"),
    FLAG("force_shortening", "no", "Bhargava: heat of shortening depends on the force"),
    FLAG("forbid_negative", "yes", "heat is raised until heat and work are not negative"),
    FLAG("least_heat", "yes", "heat is at least 1 W/kg"),
    {"slow_fraction", TALI_TYPE_REAL, 1, "0.5", TALI_NO_NEGATIVE_NUMBER,
     .doc = "part of slow-twitch fibers, 0 to 1"},
    {"density", TALI_TYPE_REAL, 1, "1059.7", TALI_POSITIVE_NUMBER, .doc = "[kg/m^3]"},
    {"specific_tension", TALI_TYPE_REAL, 1, "250000", TALI_POSITIVE_NUMBER, .doc = "[Pa]"},
    {"mass", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of the muscle [kg]; 0: from density and specific tension"},
    {"effort_scale", TALI_TYPE_REAL, 1, "1",
     .doc = "multiplies excitation, activation and active force"},
    {"aerobic_factor", TALI_TYPE_REAL, 1, "1.5", .doc = "of Umberger's model"},
    {.name = NULL}};

void tali_model_build_metabolics(tali_model *m, tali_model_item *item)
{
    const int *is = item->ref + 2;
    tal_metabolics def = tal_metabolics_default((tal_metabolic_model)item->ref[1]);
    def.has_heat = is[0];
    def.has_shortening = is[1];
    def.has_work = is[2];
    def.has_negative_work = is[3];
    def.uses_recruitment = is[4];
    def.uses_force_shortening = is[5];
    def.forbids_negative = is[6];
    def.has_least_heat = is[7];
    memcpy(&def.slow_fraction, item->p, 6 * sizeof *item->p); // to aerobic_factor
    item->built = tal_measure_add_metabolics(m->forces, item->name,
                                             tali_model_force_at(m, item->ref[0]), &def)
                      .i;
}

void tali_model_describe_metabolics(tali_model_description *d)
{
    tal_force_ix muscle = {-1};
    tal_metabolics def;
    (void)tali_muscle_metabolics_facts(d->w->model.system, (tal_measure_ix){d->index}, &muscle,
                                       &def);
    const bool is[] = {def.has_heat,          def.has_shortening,   def.has_work,
                       def.has_negative_work, def.uses_recruitment, def.uses_force_shortening,
                       def.forbids_negative,  def.has_least_heat};
    tali_model_say_index(d, muscle.i);
    tali_model_say_index(d, (int)def.model);
    for (size_t i = 0; i < sizeof is / sizeof *is; ++i) {
        tali_model_say_index(d, is[i]);
    }
    tali_model_say_numbers(d, &def.slow_fraction, 6);
}
