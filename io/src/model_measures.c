// The table: measures.
#include "model_internal.h"

#include <string.h>

static const tali_attribute measure_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the measure"}, {.name = NULL}};

static tal_subsystem_ix owner(const tali_model *m)
{
    return tal_matter_subsystem(m->matter);
}

// Operands stand before those that use them, so their sizes are known. Lists must fit them.
static void check_operands(tali_model *m, tali_item *item)
{
    const char *names[] = {"of", "with"};
    for (int i = 0, k = 0; k < 2; ++k) {
        if (!tali_item_has(item, names[k])) continue;
        const int operand = item->ref[i++];
        if (operand < 0 || operand < (int)(item - m->items)) continue;
        tali_item_error(m, item, names[k],
                        ": the measure '%s' must stand before the one that uses it",
                        m->items[operand].name);
    }
}

static tal_measure_ix operand(const tali_model *m, const tali_item *item, int i)
{
    return tali_measure_at(m, item->ref[i]);
}

// The initial values, if there are as many as the operand has; NULL otherwise, which may be a failure.
static const double *initial_of(tali_model *m, const tali_item *item, tal_measure_ix of)
{
    const tali_list *list = &item->lists[0];
    if (list->count == 0) return NULL;
    const int size = tal_measure_size(m->system, of);
    if (list->count == size) return list->values;
    (void)tal_system_fail(m->system, TAL_ERR_BAD_VALUE,
                          "'initial' has %d numbers; the operand has %d", list->count, size);
    return NULL;
}

static const tali_attribute values_attributes[] = {
    {"values", TALI_TYPE_REALS, .doc = "one or more numbers"}, {.name = NULL}};

static void build_constant(tali_model *m, tali_item *item)
{
    const tali_list *v = &item->lists[0];
    item->built = tal_measure_add_constant(m->system, owner(m), item->name, v->values, v->count).i;
}

static void check_values(tali_model *m, tali_item *item)
{
    if (item->lists[0].count > 0 || !tali_item_has(item, "values")) return;
    tali_item_error(m, item, "values", ": 'values' has no numbers");
}

static void build_time(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_time(m->system, owner(m), item->name).i;
}

#define STAGES "model|instance|time|position|velocity|dynamics|acceleration|report"

static const tali_attribute variable_attributes[] = {
    {"values", TALI_TYPE_REALS, .doc = "in the beginning"},
    {"invalidates", TALI_TYPE_WORD, .initial = "dynamics", .words = STAGES,
     .doc = "the lowest stage that uses it"},
    {.name = NULL}};

static void build_variable(tali_model *m, tali_item *item)
{
    const tali_list *v = &item->lists[0];
    const tal_stage stage = (tal_stage)((int)TAL_STAGE_MODEL + item->ref[0]);
    item->built =
        tal_measure_add_variable(m->system, owner(m), item->name, v->values, v->count, stage).i;
}

static void build_sinusoid(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_sinusoid(m->system, owner(m), item->name, item->p[0], item->p[1],
                                           item->p[2])
                      .i;
}

static const tali_attribute two_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the first operand"},
    {"with", TALI_TYPE_MEASURE, .doc = "the second operand"},
    {.name = NULL}};

static void build_sum(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_sum(m->system, owner(m), item->name, operand(m, item, 0),
                                      operand(m, item, 1))
                      .i;
}

static void build_difference(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_difference(m->system, owner(m), item->name, operand(m, item, 0),
                                             operand(m, item, 1))
                      .i;
}

static const tali_attribute scale_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the operand"},
    {"factor", TALI_TYPE_REAL, 1, .doc = "what it is multiplied by"},
    {.name = NULL}};

static void build_scale(tali_model *m, tali_item *item)
{
    item->built =
        tal_measure_add_scale(m->system, owner(m), item->name, item->p[0], operand(m, item, 0)).i;
}

static const tali_attribute integrate_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "what is integrated over time"},
    {"initial", TALI_TYPE_REALS, .initial = "", .doc = "values in the beginning; zeros"},
    {.name = NULL}};

static void build_integrate(tali_model *m, tali_item *item)
{
    const tal_measure_ix of = operand(m, item, 0);
    const double *initial = initial_of(m, item, of);
    item->built = tal_measure_add_integrate(m->system, owner(m), item->name, of, initial).i;
}

static const tali_attribute of_attributes[] = {{"of", TALI_TYPE_MEASURE, .doc = "the operand"},
                                               {.name = NULL}};

static void build_differentiate(tali_model *m, tali_item *item)
{
    item->built =
        tal_measure_add_differentiate(m->system, owner(m), item->name, operand(m, item, 0)).i;
}

static const tali_attribute extreme_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "the operand"},
    {"which", TALI_TYPE_WORD, .initial = "maximum",
     .words = "minimum|maximum|minimum_abs|maximum_abs", .doc = "of f, or of its size"},
    {.name = NULL}};

static void build_extreme(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_extreme(m->system, owner(m), item->name,
                                          (tal_extreme)item->ref[1], operand(m, item, 0))
                      .i;
}

static const tali_attribute delay_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "what is delayed"},
    {"capacity", TALI_TYPE_INTEGER, .initial = "256",
     .doc = "samples kept: more than steps in a delay"},
    {"delay", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[s]"},
    {.name = NULL}};

static void build_delay(tali_model *m, tali_item *item)
{
    tal_delay_def def = tal_delay_def_default();
    def.name = item->name;
    def.operand = operand(m, item, 0);
    def.capacity = item->ref[1];
    def.delay = item->p[0];
    item->built = tal_measure_add_delay(m->system, owner(m), &def).i;
}

static void check_delay(tali_model *m, tali_item *item)
{
    const int most = 1000000; // what a slip of the finger could ask for takes all memory
    check_operands(m, item);
    if (item->ref[1] <= most) return;
    tali_item_error(m, item, "capacity", ": 'capacity' is %d; at most %d is possible", item->ref[1],
                    most);
}

static const tali_attribute hold_attributes[] = {
    {"of", TALI_TYPE_MEASURE, .doc = "what is sampled"},
    {"invalidates", TALI_TYPE_WORD, .initial = "position", .words = STAGES,
     .doc = "the lowest stage that uses it, later than time"},
    {"period", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[s]"},
    {"first", TALI_TYPE_REAL, 1, "0", .doc = "first sampling time [s]"},
    {"initial", TALI_TYPE_REALS, .initial = "", .doc = "values before the first sample; zeros"},
    {.name = NULL}};

static void build_hold(tali_model *m, tali_item *item)
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

static const tali_attribute coordinate_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .flags = TALI_COUNTED_AS_GIVEN,
     .doc = "whose, as `knee` or `pelvis:2`; or its name"},
    {.name = NULL}};

static const tali_attribute speed_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY,
     .doc = "whose, as `knee` or `pelvis:2`; or the name of a coordinate, whose rate it is"},
    {.name = NULL}};

static tal_mobility mobility_of(const tali_model *m, const tali_item *item)
{
    return tali_mobility_at(m, item->ref[0], item->ref[1]);
}

// The body has coordinates as it begins, and speeds: not always as many.
static void check_mobility(tali_model *m, tali_item *item)
{
    if (item->ref[0] < 0) return; // told
    const tali_item *body = &m->items[item->ref[0]];
    const bool speed = strcmp(item->row->name, "speed") == 0;
    const int n = speed ? tali_item_nu(body) : tali_item_nq(body);
    if (item->ref[1] < n) return;
    tali_item_error(m, item, "mobility", ": the body has %d %s%s", n,
                    speed ? "speed" : "coordinate", n == 1 ? "" : "s");
}

static void build_coordinate(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_coordinate(m->matter, item->name, mobility_of(m, item)).i;
}

static void build_speed(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_speed(m->matter, item->name, mobility_of(m, item)).i;
}

static const tali_attribute station_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "the body that the station is on"},
    {"from", TALI_TYPE_BODY, .initial = "ground",
     .doc = "the body from whose origin it is seen, and which the direction turns with"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"along", TALI_TYPE_REAL, 3, .doc = "direction, of any length but zero"},
    {.name = NULL}};

static void build_station(tali_model *m, tali_item *item)
{
    const tal_body_ix body = tali_body_at(m, item->ref[0]), from = tali_body_at(m, item->ref[1]);
    item->built = tal_measure_add_station(m->matter, item->name, body, tali_vec3_at(item->p), from,
                                          tali_vec3_at(item->p + 3))
                      .i;
}

static const tali_attribute distance_attributes[] = {
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},
    {"body2", TALI_TYPE_BODY, .initial = "ground", .doc = "body 2"},
    {"station1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},
    {"station2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {.name = NULL}};

static void build_distance(tali_model *m, tali_item *item)
{
    const tal_body_ix one = tali_body_at(m, item->ref[0]), two = tali_body_at(m, item->ref[1]);
    item->built = tal_measure_add_distance(m->matter, item->name, one, tali_vec3_at(item->p), two,
                                           tali_vec3_at(item->p + 3))
                      .i;
}

static const tali_attribute multiplier_attributes[] = {
    {"constraint", TALI_TYPE_CONSTRAINT, .doc = "whose"},
    {"row", TALI_TYPE_INTEGER, .initial = "0", .doc = "which of its equations"},
    {.name = NULL}};

static void build_multiplier(tali_model *m, tali_item *item)
{
    const tal_constraint_ix constraint = {m->items[item->ref[0]].built};
    item->built = tal_measure_add_multiplier(m->matter, item->name, constraint, item->ref[1]).i;
}

static void build_kinetic_energy(tali_model *m, tali_item *item)
{
    item->built = tal_measure_add_kinetic_energy(m->matter, item->name).i;
}

#define MEASURE_OF(element, api, attributes, checker, builder, text)                               \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = measure_attributes,             \
        .own = (attributes), .check = (checker), .build = (builder)                                \
    }
#define MEASURE(element, attributes, checker, builder, text)                                       \
    MEASURE_OF(element, element, attributes, checker, builder, text)

const tali_row tali_measure_rows[] = {
    MEASURE("constant", values_attributes, check_values, build_constant,
            "Numbers that never change."),
    MEASURE("time", NULL, NULL, build_time, "t."),
    MEASURE("variable", variable_attributes, check_values, build_variable,
            "Numbers that somebody sets in the State."),
    MEASURE("sinusoid", tali_sinusoid_attributes, NULL, build_sinusoid, "a sin(w t + p)."),
    MEASURE("sum", two_attributes, check_operands, build_sum, "The sum of two measures."),
    MEASURE("difference", two_attributes, check_operands, build_difference,
            "The difference of two measures."),
    MEASURE("scale", scale_attributes, check_operands, build_scale, "A factor times a measure."),
    MEASURE("integrate", integrate_attributes, check_operands, build_integrate,
            "The time integral of a measure."),
    MEASURE("differentiate", of_attributes, check_operands, build_differentiate,
            "The time derivative of a measure."),
    MEASURE("extreme", extreme_attributes, check_operands, build_extreme,
            "The least or largest value so far."),
    MEASURE("delay", delay_attributes, check_delay, build_delay, "The value some time ago."),
    MEASURE("hold", hold_attributes, check_operands, build_hold,
            "The value at the last of regular times."),
    MEASURE("coordinate", coordinate_attributes, check_mobility, build_coordinate,
            "A coordinate of a body [rad or m]."),
    MEASURE("speed", speed_attributes, check_mobility, build_speed,
            "A speed of a body [rad/s or m/s]."),
    MEASURE("station", station_attributes, NULL, build_station,
            "How far a station is along a direction: a height, say [m]."),
    MEASURE("distance", distance_attributes, NULL, build_distance,
            "The distance of two stations [m]."),
    MEASURE("multiplier", multiplier_attributes, NULL, build_multiplier,
            "A multiplier of a constraint: what it bears."),
    MEASURE_OF("kinetic_energy", "kinetic energy", NULL, NULL, build_kinetic_energy,
               "The kinetic energy of all bodies [J]."),
    {.name = NULL}};
