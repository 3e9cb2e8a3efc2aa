// The table: measures.
#include "force_facts_internal.h"
#include "matter_facts_internal.h"
#include "measure_facts_internal.h"
#include "path_facts_internal.h"

#include "model/model_write_internal.h"

#include <string.h>

static const tali_model_attribute measure_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the measure"}, {.name = NULL}};

static tal_subsystem_ix owner(const tali_model *m)
{
    return tal_matter_subsystem(m->matter);
}

// Operands are before those that use them, so their sizes are known. Lists must fit them.
static void check_operands(tali_model *m, tali_model_item *item)
{
    const char *names[] = {"of", "with"};
    for (int i = 0, k = 0; k < 2; ++k) {
        if (!tali_model_item_has(item, names[k])) continue;
        const int operand = item->ref[i++];
        if (operand < 0 || operand < (int)(item - m->items)) continue;
        tali_model_item_error(m, item, names[k],
                              ": the measure '%s' must come before the measure that uses it",
                              m->items[operand].name);
    }
}

static tal_measure_ix operand(const tali_model *m, const tali_model_item *item, int i)
{
    return tali_model_measure_at(m, item->ref[i]);
}

// The initial values, if there are as many as the operand has; NULL otherwise, which may be a
// failure.
static const double *initial_of(tali_model *m, const tali_model_item *item, tal_measure_ix measure)
{
    const tali_model_list *list = &item->lists[0];
    if (list->count == 0) return NULL;
    const int size = tal_measure_size(m->system, measure);
    if (list->count == size) return list->values;
    (void)tal_system_fail(m->system, TAL_ERR_BAD_VALUE,
                          "'initial' has %d numbers; the operand has %d", list->count, size);
    return NULL;
}

static const tali_model_attribute values_attributes[] = {
    {"values", TALI_TYPE_REALS, .doc = "one or more numbers"}, {.name = NULL}};

static void build_constant(tali_model *m, tali_model_item *item)
{
    const tali_model_list *v = &item->lists[0];
    item->built = tal_measure_add_constant(m->system, owner(m), item->name, v->values, v->count).i;
}

static void check_values(tali_model *m, tali_model_item *item)
{
    if (item->lists[0].count > 0 || !tali_model_item_has(item, "values")) return;
    tali_model_item_error(m, item, "values", ": 'values' has no numbers");
}

static void build_time(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_time(m->system, owner(m), item->name).i;
}

#define STAGES "model|instance|time|position|velocity|dynamics|acceleration|report"

static const tali_model_attribute variable_attributes[] = {
    {"values", TALI_TYPE_REALS, .doc = "initial values"},
    {"invalidates", TALI_TYPE_WORD, .initial = "dynamics", .words = STAGES,
     .doc = "the lowest stage that uses it"},
    {.name = NULL}};

static void build_variable(tali_model *m, tali_model_item *item)
{
    const tali_model_list *v = &item->lists[0];
    const tal_stage stage = (tal_stage)((int)TAL_STAGE_MODEL + item->ref[0]);
    item->built =
        tal_measure_add_variable(m->system, owner(m), item->name, v->values, v->count, stage).i;
}

static void build_sinusoid(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_sinusoid(m->system, owner(m), item->name, item->p[0], item->p[1],
                                           item->p[2])
                      .i;
}

static const tali_model_attribute two_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the first operand"},
    {"with", TALI_TYPE_MEASURE, .doc = "the second operand"},
    {.name = NULL}};

static void build_sum(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_sum(m->system, owner(m), item->name, operand(m, item, 0),
                                      operand(m, item, 1))
                      .i;
}

static void build_difference(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_difference(m->system, owner(m), item->name, operand(m, item, 0),
                                             operand(m, item, 1))
                      .i;
}

static void build_product(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_product(m->system, owner(m), item->name, operand(m, item, 0),
                                          operand(m, item, 1))
                      .i;
}

static const tali_model_attribute function_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the first argument, one number"},
    {"with", TALI_TYPE_MEASURE, .initial = "",
     .doc = "the second argument, one number; not given: the function has one"},
    {.name = NULL}};

static void build_function(tali_model *m, tali_model_item *item)
{
    const tal_function *f = tali_model_kept_function(m->kept, tali_model_take_function(m, item, 0));
    if (f == NULL) {
        m->no_memory = true;
        return;
    }
    item->built = tal_measure_add_function(m->system, owner(m), item->name, f, operand(m, item, 0),
                                           operand(m, item, 1))
                      .i;
}

static const tali_model_attribute scale_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the operand"},
    {"factor", TALI_TYPE_REAL, 1, .doc = "factor"},
    {.name = NULL}};

static void build_scale(tali_model *m, tali_model_item *item)
{
    item->built =
        tal_measure_add_scale(m->system, owner(m), item->name, item->p[0], operand(m, item, 0)).i;
}

static const tali_model_attribute integrate_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the measure that is integrated over time"},
    {"initial", TALI_TYPE_REALS, .initial = "", .doc = "initial values; default: zeros"},
    {.name = NULL}};

static void build_integrate(tali_model *m, tali_model_item *item)
{
    const tal_measure_ix integrand = operand(m, item, 0);
    const double *initial = initial_of(m, item, integrand);
    item->built = tal_measure_add_integrate(m->system, owner(m), item->name, integrand, initial).i;
}

static const tali_model_attribute of_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the operand"}, {.name = NULL}};

static void build_differentiate(tali_model *m, tali_model_item *item)
{
    item->built =
        tal_measure_add_differentiate(m->system, owner(m), item->name, operand(m, item, 0)).i;
}

static const tali_model_attribute extreme_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the operand"},
    {"which", TALI_TYPE_WORD, .initial = "maximum",
     .words = "minimum|maximum|minimum_abs|maximum_abs",
     .doc = "of the signal, or of its absolute value"},
    {.name = NULL}};

static void build_extreme(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_extreme(m->system, owner(m), item->name,
                                          (tal_extreme)item->ref[1], operand(m, item, 0))
                      .i;
}

static const tali_model_attribute delay_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the measure that is delayed"},
    {"capacity", TALI_TYPE_INTEGER, .initial = "256",
     .doc = "number of samples kept; more than the steps within a delay"},
    {"delay", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[s]"},
    {.name = NULL}};

static void build_delay(tali_model *m, tali_model_item *item)
{
    tal_delay_def def = tal_delay_def_default();
    def.name = item->name;
    def.operand = operand(m, item, 0);
    def.capacity = item->ref[1];
    def.delay = item->p[0];
    item->built = tal_measure_add_delay(m->system, owner(m), &def).i;
}

static void check_delay(tali_model *m, tali_model_item *item)
{
    const int most = 1000000; // a typing error could ask for all memory
    check_operands(m, item);
    if (item->ref[1] <= most) return;
    tali_model_item_error(m, item, "capacity", ": 'capacity' is %d; at most %d is possible",
                          item->ref[1], most);
}

static const tali_model_attribute hold_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the measure that is sampled"},
    {"invalidates", TALI_TYPE_WORD, .initial = "position", .words = STAGES,
     .doc = "the lowest stage that uses it, later than time"},
    {"period", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[s]"},
    {"first", TALI_TYPE_REAL, 1, "0", .doc = "first sampling time [s]"},
    {"initial", TALI_TYPE_REALS, .initial = "",
     .doc = "values before the first sample; default: zeros"},
    {.name = NULL}};

static void build_hold(tali_model *m, tali_model_item *item)
{
    tal_hold_def def = tal_hold_def_default();
    def.name = item->name;
    def.operand = operand(m, item, 0);
    def.invalidates = (tal_stage)((int)TAL_STAGE_MODEL + item->ref[1]);
    def.period = item->p[0];
    def.t0 = item->p[1];
    def.initial = initial_of(m, item, def.operand);
    item->built = tal_measure_add_hold(m->system, owner(m), &def).i;
}

// ---- mechanical quantities

static const tali_model_attribute coordinate_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .flags = TALI_COUNTED_AS_GIVEN,
     .doc = "body and number, as `knee` or `pelvis:2`; or the name of the coordinate"},
    {.name = NULL}};

static const tali_model_attribute speed_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY,
     .doc =
         "body and number, as `knee` or `pelvis:2`; or the name of the coordinate of which it is the rate"},
    {.name = NULL}};

static tal_mobility mobility_of(const tali_model *m, const tali_model_item *item)
{
    return tali_model_mobility_at(m, item->ref[0], item->ref[1]);
}

// The body has coordinates as it begins, and speeds: not always as many.
static void check_mobility(tali_model *m, tali_model_item *item)
{
    if (item->ref[0] < 0) return; // reported
    const tali_model_item *body = &m->items[item->ref[0]];
    const bool speed = strcmp(item->row->name, "speed") == 0;
    const int n = speed ? tali_model_item_nu(body) : tali_model_item_nq(body);
    if (item->ref[1] < n) return;
    tali_model_item_error(m, item, "mobility", ": the body has %d %s%s", n,
                          speed ? "speed" : "coordinate", n == 1 ? "" : "s");
}

static void build_coordinate(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_coordinate(m->matter, item->name, mobility_of(m, item)).i;
}

static void build_speed(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_speed(m->matter, item->name, mobility_of(m, item)).i;
}

static const tali_model_attribute station_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "the body that the station is on"},
    {"from", TALI_TYPE_BODY, .initial = "ground",
     .doc = "the body from whose origin it is measured, and on which the direction is fixed"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"along", TALI_TYPE_REAL, 3, .doc = "direction, of any length except zero"},
    {.name = NULL}};

static void build_station(tali_model *m, tali_model_item *item)
{
    const tal_body_ix body = tali_model_body_at(m, item->ref[0]),
                      from = tali_model_body_at(m, item->ref[1]);
    item->built = tal_measure_add_station(m->matter, item->name, body, tali_model_vec3_at(item->p),
                                          from, tali_model_vec3_at(item->p + 3))
                      .i;
}

static const tali_model_attribute distance_attributes[] = {
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},
    {"body2", TALI_TYPE_BODY, .initial = "ground", .doc = "body 2"},
    {"station1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},
    {"station2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {.name = NULL}};

static void build_distance(tali_model *m, tali_model_item *item)
{
    const tal_body_ix one = tali_model_body_at(m, item->ref[0]),
                      two = tali_model_body_at(m, item->ref[1]);
    item->built = tal_measure_add_distance(m->matter, item->name, one, tali_model_vec3_at(item->p),
                                           two, tali_model_vec3_at(item->p + 3))
                      .i;
}

static const tali_model_attribute multiplier_attributes[] = {
    {"constraint", TALI_TYPE_CONSTRAINT, .doc = "the constraint"},
    {"row", TALI_TYPE_INTEGER, .initial = "0", .doc = "which of its equations, counted from 0"},
    {.name = NULL}};

static void build_multiplier(tali_model *m, tali_model_item *item)
{
    const tal_constraint_ix constraint = {m->items[item->ref[0]].built};
    item->built = tal_measure_add_multiplier(m->matter, item->name, constraint, item->ref[1]).i;
}

static const tali_model_attribute loop_coordinate_attributes[] = {
    {"constraint", TALI_TYPE_CONSTRAINT, .doc = "the joint that closes a loop"},
    {"coordinate", TALI_TYPE_INTEGER, .initial = "0",
     .doc = "which of its coordinates, counted from 0"},
    {.name = NULL}};

static void build_loop_coordinate(tali_model *m, tali_model_item *item)
{
    const tal_constraint_ix constraint = {m->items[item->ref[0]].built};
    item->built =
        tal_measure_add_loop_coordinate(m->matter, item->name, constraint, item->ref[1]).i;
}

static const tali_model_attribute unilateral_attributes[] = {
    {"element", TALI_TYPE_UNILATERAL, .doc = "whose"},
    {"what", TALI_TYPE_WORD, .initial = "gap", .words = "gap|speed|force|friction|impulse|mode",
     .doc = "its gap, the rate of that, the force by which it pushes, its friction, the normal "
            "impulse of its last impact, or its mode: 0 off, 1 on, 2 sticks, 3 slides"},
    {.name = NULL}};

static void build_unilateral(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_ix element = {m->items[item->ref[0]].built};
    item->built = tal_measure_add_unilateral(m->matter, item->name, element,
                                             (tal_unilateral_quantity)item->ref[1])
                      .i;
}

static void build_kinetic_energy(tali_model *m, tali_model_item *item)
{
    item->built = tal_measure_add_kinetic_energy(m->matter, item->name).i;
}

// ---- writing

// Values that a State holds.
static tali_model_list values_of(const tal_model *model, tal_measure_ix measure,
                                 const tali_measure_facts *facts, bool behind_one)
{
    tali_model_list list = {
        .shown = facts->values, .stride = 1, .count = tal_measure_size(model->system, measure)};
    if (facts->variable.i >= 0) {
        const double *stored = tal_var_value(model->system, model->state, facts->variable);
        list.shown = stored + (behind_one ? 1 : 0);
    } else if (facts->z.i >= 0) {
        list.shown =
            tal_state_z(model->state) + tal_group_start(model->system, model->state, facts->z);
    } else if (facts->values == NULL) {
        list.count = 0;
    }
    return list;
}

static void describe_measure(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_measure_ix measure = {d->index};
    tali_measure_facts facts;
    (void)tali_measure_facts_of(model->system, measure, &facts);
    const bool is_extreme = strcmp(d->row->name, "extreme") == 0;
    const bool is_hold = strcmp(d->row->name, "hold") == 0;
    const tali_model_targets targets = {
        .measures = {facts.operands[0], facts.operands[1]},
        .integer = facts.capacity,
        .word = is_extreme ? (int)facts.which : (int)facts.invalidates - (int)TAL_STAGE_MODEL};
    tali_model_say_targets(d, &targets);
    tali_model_say_numbers(d, facts.numbers, 3);
    tali_model_say_list(d, values_of(model, measure, &facts, is_hold));
    tali_model_say_function(d, facts.function);
}

static void describe_mechanical(tali_model_description *d)
{
    tali_matter_measure_facts facts;
    (void)tali_matter_measure_facts_of(d->w->model.system, (tal_measure_ix){d->index}, &facts);
    const tali_model_targets targets = {.bodies = {facts.bodies[0].i, facts.bodies[1].i},
                                        .mobility = {facts.bodies[0], facts.i},
                                        .constraint = facts.constraint.i,
                                        .integer = facts.i,
                                        .unilateral = facts.element.i,
                                        .word = (int)facts.quantity};
    tali_model_say_targets(d, &targets);
    tali_model_say_vec3(d, facts.points[0]);
    tali_model_say_vec3(d, facts.points[1]);
}

// Of a path, of a force along it, or of a muscle.
static bool is_of_forces(const tal_system *system, tal_measure_ix measure)
{
    int i;
    tal_force_ix muscle;
    tal_muscle_output which;
    tal_metabolics def;
    return tali_path_measure_facts_of(system, measure, &i) ||
           tali_muscle_measure_facts(system, measure, &muscle, &which) ||
           tali_muscle_metabolics_facts(system, measure, &muscle, &def);
}

bool tali_model_find_measure(tali_model_description *d, tali_model_own_row *own)
{
    const tal_system *system = d->w->model.system;
    const tal_measure_ix measure = {d->index};
    if (measure.i >= tal_system_num_measures(system)) return false;
    const char *kind = tal_measure_kind(system, measure);
    tali_measure_facts facts;
    tali_matter_measure_facts mechanical;
    const bool is_mechanical = tali_matter_measure_facts_of(system, measure, &mechanical);
    const bool is_known = is_mechanical || tali_measure_facts_of(system, measure, &facts);
    const bool of_matter =
        tal_measure_owner(system, measure).i == tal_matter_subsystem(d->w->model.matter).i;
    d->name = tal_measure_name(system, measure);
    if (of_matter && !is_mechanical) d->row = tali_model_registered_measure(d->w, measure, own);
    if (d->row == NULL && is_known && (of_matter || is_mechanical)) {
        d->row = tali_model_row_of_kind(TALI_GROUP_MEASURES, kind);
    }
    if (is_of_forces(system, measure)) d->row = tali_model_row_of_kind(TALI_GROUP_MEASURES, kind);
    if (d->row == NULL && of_matter) tali_model_refuse_table(d, "measure", kind);
    if (d->row == NULL) {
        tali_model_write_refuse(
            d->w,
            "measure '%s' is of kind '%s' and not of matter, which cannot be written to a file",
            d->name, kind);
    }
    return true;
}

#define MEASURE_OF(element, api, attributes, checker, builder, describer, text)                    \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = measure_attributes,             \
        .own = (attributes), .check = (checker), .build = (builder), .describe = (describer)       \
    }
#define MEASURE(element, attributes, checker, builder, text)                                       \
    MEASURE_OF(element, element, attributes, checker, builder, describe_measure, text)
#define MECHANICAL(element, attributes, checker, builder, text)                                    \
    MEASURE_OF(element, element, attributes, checker, builder, describe_mechanical, text)

const tali_model_row tali_model_measure_rows[] = {
    MEASURE("constant", values_attributes, check_values, build_constant,
            "Numbers that never change."),
    MEASURE("time", NULL, NULL, build_time, "t."),
    MEASURE("variable", variable_attributes, check_values, build_variable,
            "Numbers that a program sets in the State."),
    MEASURE("sinusoid", tali_model_sinusoid_attributes, NULL, build_sinusoid, "a sin(w t + p)."),
    MEASURE("sum", two_attributes, check_operands, build_sum, "The sum of two measures."),
    MEASURE("difference", two_attributes, check_operands, build_difference,
            "The difference of two measures."),
    MEASURE("product", two_attributes, check_operands, build_product,
            "The product of two measures, component by component."),
    {.name = "function",
     .kind = "function",
     .doc = "A function of one or two measures, given inside; of more, by functions of functions.",
     .shared = measure_attributes,
     .own = function_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .check = check_operands,
     .build = build_function,
     .describe = describe_measure},
    MEASURE("scale", scale_attributes, check_operands, build_scale, "A factor times a measure."),
    MEASURE("integrate", integrate_attributes, check_operands, build_integrate,
            "The time integral of a measure."),
    MEASURE("differentiate", of_attributes, check_operands, build_differentiate,
            "The time derivative of a measure."),
    MEASURE("extreme", extreme_attributes, check_operands, build_extreme,
            "The smallest or largest value so far."),
    MEASURE("delay", delay_attributes, check_delay, build_delay, "The value some time ago."),
    MEASURE("hold", hold_attributes, check_operands, build_hold,
            "The value at the latest of regular sampling times."),
    MECHANICAL("coordinate", coordinate_attributes, check_mobility, build_coordinate,
               "A coordinate of a body [rad or m]."),
    MECHANICAL("speed", speed_attributes, check_mobility, build_speed,
               "A speed of a body [rad/s or m/s]."),
    MECHANICAL("station", station_attributes, NULL, build_station,
               "How far a station is along a direction, a height for example [m]."),
    MECHANICAL("distance", distance_attributes, NULL, build_distance,
               "The distance between two stations [m]."),
    MECHANICAL("multiplier", multiplier_attributes, NULL, build_multiplier,
               "A multiplier of a constraint: the load that it carries."),
    MEASURE_OF("loop_coordinate", "loop coordinate", loop_coordinate_attributes, NULL,
               build_loop_coordinate, describe_mechanical,
               "A coordinate of a joint that closes a loop [rad or m]."),
    MECHANICAL("unilateral", unilateral_attributes, NULL, build_unilateral,
               "A quantity of a unilateral element."),
    MEASURE_OF("path_length", "path length", tali_model_path_measure_attributes, NULL,
               tali_model_build_path_length, tali_model_describe_path_measure,
               "The length of a path [m]."),
    MEASURE_OF("path_speed", "path speed", tali_model_path_measure_attributes, NULL,
               tali_model_build_path_speed, tali_model_describe_path_measure,
               "The rate of the length of a path [m/s]."),
    MEASURE_OF("path_tension", "path tension", tali_model_tension_attributes, NULL,
               tali_model_build_path_tension, tali_model_describe_path_measure,
               "The tension of a force along a path, not of a muscle [N]."),
    MEASURE_OF("muscle_output", "muscle output", tali_model_muscle_output_attributes, NULL,
               tali_model_build_muscle_output, tali_model_describe_muscle_output,
               "An output of a muscle: a length, a force, a power."),
    MEASURE_OF("metabolics", "metabolics", tali_model_metabolics_attributes, NULL,
               tali_model_build_metabolics, tali_model_describe_metabolics,
               "The metabolic power of a muscle [W] (talus/forces/metabolics.h)."),
    MEASURE_OF("kinetic_energy", "kinetic energy", NULL, NULL, build_kinetic_energy,
               describe_mechanical, "The kinetic energy of all bodies [J]."),
    {.name = NULL}};
