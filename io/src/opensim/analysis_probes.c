// ProbeReporter: what the probes of a model measure: metabolic power, forces, powers, energy; as
// values, integrals, rates, and extremes over time.
#include "opensim/analysis_internal.h"

#include <talus/forces/metabolics.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// What becomes of what a probe measures.
typedef enum probe_operation {
    VALUE,
    INTEGRATE,
    DIFFERENTIATE,
    MINIMUM,
    MINABS,
    MAXIMUM,
    MAXABS,
    NUM_OPERATIONS
} probe_operation;

static const char *const operations[NUM_OPERATIONS] = {
    "value", "integrate", "differentiate", "minimum", "minabs", "maximum", "maxabs"};

// A probe at work. Arrays are in the arena.
typedef struct probe {
    const tali_xml_element *element;
    const struct probe_kind *kind;
    probe_operation operation;
    double gain, start; // start: where an integral begins
    bool sums;          // one column for all items
    double exponent;    // of each item
    int *items;         // [num_items] forces of the model's file; joints of JointInternalPower
    int num_items;
    tal_metabolics *metabolics; // [num_items]
    double basal;               // [W]
    bool only_total;
    int num_columns;
    double *now, *before, *result; // [num_columns]
    double t;
    int num_rows;
} probe;

typedef struct probes {
    probe *items; // [num]
    int num;
} probes;

/// A class of probes.
typedef struct probe_kind {
    const char *name;
    const char *list, *sum; // properties: which items, and whether they are summed
    void (*read)(tali_osim_analysis *a, probe *it);
    // [num_items] one number of each item; NULL: the probe has one number of its own
    double (*measure)(const tali_osim_tool *tool, const probe *it, int k);
} probe_kind;

// --- what items give ---

static double force_of(const tali_osim_tool *tool, const probe *it, int k)
{
    double force, speed;
    tali_osim_measure_actuator(tool, &tool->o.forces[it->items[k]], &force, &speed);
    return force;
}

// Positive where it drives the model; a muscle does so while it gets shorter.
static double power_of(const tali_osim_tool *tool, const probe *it, int k)
{
    double force, speed;
    const tali_osim_force *f = &tool->o.forces[it->items[k]];
    tali_osim_measure_actuator(tool, f, &force, &speed);
    return f->path != NULL ? -force * speed : force * speed;
}

static double fiber_power_of(const tali_osim_tool *tool, const probe *it, int k)
{
    const tali_osim_force *f = &tool->o.forces[it->items[k]];
    if (f->muscle == NULL) return 0.0;
    return tal_muscle_calc_output(tool->model.forces, tool->model.state, f->force,
                                  TAL_MUSCLE_FIBER_ACTIVE_POWER);
}

static double metabolic_power_of(const tali_osim_tool *tool, const probe *it, int k)
{
    tal_metabolic_rates rates;
    const tal_status st =
        tal_muscle_calc_metabolics(tool->model.forces, tool->model.state,
                                   tool->o.forces[it->items[k]].force, &it->metabolics[k], &rates);
    return st == TAL_OK ? rates.total : (double)NAN;
}

// What a mobilizer gives to its two bodies: forces that act along its coordinates, such as those of
// motors and springs there. The reactions of its bearings do no work.
static double mobilizer_power(const tal_model *model, tal_body_ix b)
{
    const tal_body_ix parent = tal_body_parent(model->matter, b);
    const tal_vec3 p_M = tal_body_X_BM(model->matter, model->state, b).p;
    const tal_vec3 p_F = tal_body_X_PF(model->matter, model->state, b).p;
    const tal_spatial_vec F_M = tal_body_reaction_M(model->matter, model->state, b);
    const tal_spatial_vec F_F = tal_body_reaction_F(model->matter, model->state, b);
    const tal_vec3 v_M = tal_station_v_GS(model->matter, model->state, b, p_M);
    const tal_vec3 v_F = tal_station_v_GS(model->matter, model->state, parent, p_F);
    const tal_vec3 w_M = tal_body_V_GB(model->matter, model->state, b).w;
    const tal_vec3 w_F = tal_body_V_GB(model->matter, model->state, parent).w;
    return tal_v3_dot(F_M.v, v_M) + tal_v3_dot(F_M.w, w_M) + tal_v3_dot(F_F.v, v_F) +
           tal_v3_dot(F_F.w, w_F);
}

static double joint_power_of(const tali_osim_tool *tool, const probe *it, int k)
{
    const tali_osim_joint *joint = &tool->o.joints[it->items[k]];
    const double power = mobilizer_power(&tool->model, joint->body);
    return joint->kind == TALI_OSIM_SCAPULOTHORACIC
               ? power + mobilizer_power(&tool->model, joint->between)
               : power;
}

static double energy_of(const tali_osim_tool *tool, const probe *it, int k)
{
    (void)k;
    const tal_model *model = &tool->model;
    tali_osim *setup = (tali_osim *)&tool->setup;
    double energy = 0.0;
    if (tali_osim_bool(setup, it->element, "compute_kinetic_energy", true)) {
        energy += tal_matter_kinetic_energy(model->matter, model->state);
    }
    if (tali_osim_bool(setup, it->element, "compute_potential_energy", true)) {
        energy += tal_system_potential_energy(model->system, model->state);
    }
    return energy;
}

// --- reading ---

// Force i; there is room for each once. `e` is what names it.
static void add_item(tali_osim_analysis *a, probe *it, int i, const tali_xml_element *e)
{
    const tali_osim_force *f = &a->tool->o.forces[i];
    if (!f->applies || f->force.i < 0) return;
    if (!tal_force_has_control(a->tool->model.forces, f->force)) return;
    for (int k = 0; k < it->num_items; ++k) {
        if (it->items[k] != i) continue;
        tali_osim_error(&a->tool->setup, e, ": '%.60s' is listed twice", f->name);
        return;
    }
    it->items[it->num_items++] = i;
}

// Names of joints, or "all"; those that close loops as welds have no coordinates.
static void read_joints(tali_osim_analysis *a, probe *it)
{
    const char *words[TALI_OSIM_MAX_LIST];
    tali_osim *setup = &a->tool->setup;
    const tali_osim *o = &a->tool->o;
    const int n = tali_osim_words(setup, it->element, "joint_names", words, TALI_OSIM_MAX_LIST);
    const bool all = n == 1 && (strcmp(words[0], "all") == 0 || strcmp(words[0], "ALL") == 0);
    it->items = tali_osim_analysis_take(a, (size_t)(o->num_joints + n) * sizeof *it->items);
    for (int i = 0; i < o->num_joints && it->items != NULL && all; ++i) {
        if (o->joints[i].kind != TALI_OSIM_WELD) it->items[it->num_items++] = i;
    }
    for (int k = 0; k < n && it->items != NULL && !all; ++k) {
        int i = o->num_joints - 1;
        while (i >= 0 && strcmp(o->joints[i].name, tali_osim_last_name(words[k])) != 0) {
            --i;
        }
        if (i < 0 || o->joints[i].kind == TALI_OSIM_WELD) {
            tali_osim_error(setup, it->element, ": the model has no joint '%.60s' with coordinates",
                            words[k]);
        } else {
            it->items[it->num_items++] = i;
        }
    }
}

// Names of forces, or "all".
static void read_items(tali_osim_analysis *a, probe *it)
{
    const char *words[TALI_OSIM_MAX_LIST];
    tali_osim *setup = &a->tool->setup;
    const tali_osim *o = &a->tool->o;
    it->items = tali_osim_analysis_take(a, (size_t)o->num_forces * sizeof *it->items);
    if (it->items == NULL || it->kind->list == NULL) return;
    const int n = tali_osim_words(setup, it->element, it->kind->list, words, TALI_OSIM_MAX_LIST);
    const bool all = n == 1 && (strcmp(words[0], "all") == 0 || strcmp(words[0], "ALL") == 0);
    for (int i = 0; i < o->num_forces && all; ++i) {
        if (it->kind->measure != fiber_power_of || o->forces[i].muscle != NULL) {
            add_item(a, it, i, it->element);
        }
    }
    for (int k = 0; k < n && !all; ++k) {
        const int i = tali_osim_find_force(o, words[k]);
        if (i < 0) {
            tali_osim_error(setup, it->element, ": the model has no actuator '%.60s'", words[k]);
        } else {
            add_item(a, it, i, it->element);
        }
    }
}

// Flags and numbers of metabolic probes that all muscles share.
static tal_metabolics read_shared(tali_osim_analysis *a, const probe *it)
{
    tali_osim *setup = &a->tool->setup;
    const tali_xml_element *e = it->element;
    const bool is_bhargava = strncmp(e->name, "Bhargava", 8) == 0;
    tal_metabolics def =
        tal_metabolics_default(is_bhargava ? TAL_METABOLICS_BHARGAVA : TAL_METABOLICS_UMBERGER);
    def.has_heat = is_bhargava ? tali_osim_bool(setup, e, "activation_rate_on", true) &&
                                     tali_osim_bool(setup, e, "maintenance_rate_on", true)
                               : tali_osim_bool(setup, e, "activation_maintenance_rate_on", true);
    def.has_shortening = tali_osim_bool(setup, e, "shortening_rate_on", true);
    def.has_work = tali_osim_bool(setup, e, "mechanical_work_rate_on", true);
    def.has_negative_work = tali_osim_bool(setup, e, "include_negative_mechanical_work", true);
    def.uses_recruitment = tali_osim_bool(setup, e, "use_Bhargava_recruitment_model", true);
    def.uses_force_shortening =
        tali_osim_bool(setup, e, "use_force_dependent_shortening_prop_constant", false);
    def.forbids_negative = tali_osim_bool(setup, e, "forbid_negative_total_power", true);
    def.has_least_heat = tali_osim_bool(setup, e, "enforce_minimum_heat_rate_per_muscle", true);
    def.aerobic_factor = tali_osim_number(setup, e, "aerobic_factor", def.aerobic_factor);
    def.effort_scale = tali_osim_number(setup, e, "muscle_effort_scaling_factor", 1.0);
    return def;
}

// The first element below a probe that lists muscles.
static const tali_xml_element *muscle_list(const tali_xml_element *probe_element)
{
    const tali_xml_element *e = probe_element->first;
    while (e != NULL && strstr(e->name, "MetabolicMuscleParameterSet") == NULL) {
        e = e->next;
    }
    return e != NULL ? tali_osim_first(e) : NULL;
}

static void read_muscle(tali_osim_analysis *a, probe *it, const tali_xml_element *e,
                        const tal_metabolics *shared)
{
    tali_osim *setup = &a->tool->setup;
    const int i = tali_osim_find_force(&a->tool->o, tali_osim_name(e));
    if (i < 0 || a->tool->o.forces[i].muscle == NULL) {
        tali_osim_error(setup, e, ": the model has no muscle '%.60s'", tali_osim_name(e));
        return;
    }
    const int before = it->num_items;
    add_item(a, it, i, e);
    if (it->num_items == before) return;
    tal_metabolics *def = &it->metabolics[before];
    *def = *shared;
    def->slow_fraction = tali_osim_number(setup, e, "ratio_slow_twitch_fibers", 0.5);
    def->density = tali_osim_number(setup, e, "density", def->density);
    def->specific_tension = tali_osim_number(setup, e, "specific_tension", def->specific_tension);
    if (tali_osim_bool(setup, e, "use_provided_muscle_mass", false)) {
        def->mass = tali_osim_number(setup, e, "provided_muscle_mass", 0.0);
    }
}

static void read_metabolics(tali_osim_analysis *a, probe *it)
{
    tali_osim *setup = &a->tool->setup;
    const tal_metabolics shared = read_shared(a, it);
    const size_t n = (size_t)a->tool->o.num_forces;
    it->metabolics = tali_osim_analysis_take(a, n * sizeof *it->metabolics);
    const tali_xml_element *e = it->metabolics != NULL ? muscle_list(it->element) : NULL;
    for (; e != NULL; e = e->next) {
        read_muscle(a, it, e, &shared);
    }
    double mass = 0.0;
    for (int b = 1; b < a->tool->o.num_bodies; ++b) {
        mass += a->tool->o.bodies[b].mass.mass;
    }
    const double per_mass = tali_osim_number(setup, it->element, "basal_coefficient", 1.2);
    const double power = tali_osim_number(setup, it->element, "basal_exponent", 1.0);
    it->basal = tali_osim_bool(setup, it->element, "basal_rate_on", true)
                    ? per_mass * pow(mass, power)
                    : 0.0;
    it->only_total = tali_osim_bool(setup, it->element, "report_total_metabolics_only", true);
}

static const probe_kind kinds[] = {
    {"ActuatorForceProbe", "actuator_names", "sum_forces_together", NULL, force_of},
    {"ActuatorPowerProbe", "actuator_names", "sum_powers_together", NULL, power_of},
    {"MuscleActiveFiberPowerProbe", "muscle_names", "sum_powers_together", NULL, fiber_power_of},
    {"JointInternalPowerProbe", NULL, "sum_powers_together", read_joints, joint_power_of},
    {"SystemEnergyProbe", NULL, NULL, NULL, energy_of},
    {"Umberger2010MuscleMetabolicsProbe", NULL, NULL, read_metabolics, metabolic_power_of},
    {"Bhargava2004MuscleMetabolicsProbe", NULL, NULL, read_metabolics, metabolic_power_of}};

enum {
    NUM_KINDS = sizeof kinds / sizeof *kinds
};

static const probe_kind *find_kind(const tali_xml_element *e)
{
    for (int i = 0; i < NUM_KINDS; ++i) {
        if (strcmp(kinds[i].name, e->name) == 0) return &kinds[i];
    }
    return NULL;
}

static probe_operation read_operation(tali_osim_analysis *a, const tali_xml_element *e)
{
    const char *text = tali_osim_text(e, "probe_operation");
    for (int i = 0; i < NUM_OPERATIONS; ++i) {
        if (text == NULL || strcmp(text, operations[i]) == 0) return (probe_operation)i;
    }
    tali_osim_error(&a->tool->setup, e,
                    ": probe_operation '%.40s' is none of value, integrate, "
                    "differentiate, minimum, minabs, maximum, maxabs",
                    text);
    return VALUE;
}

// The first number of a list that has one for each column.
static double first_number(tali_osim_analysis *a, const tali_xml_element *e, const char *name,
                           double initial)
{
    double *numbers = NULL;
    return tali_osim_all_numbers(&a->tool->setup, e, name, &numbers) > 0 ? numbers[0] : initial;
}

// --- columns ---

static bool is_metabolic(const probe *it)
{
    return it->kind->read == read_metabolics;
}

static bool is_single(const probe *it)
{
    return it->kind->measure == energy_of;
}

static int count_columns(const probe *it)
{
    if (is_single(it)) return 1;
    if (is_metabolic(it)) return it->only_total ? 1 : 2 + it->num_items;
    return it->sums ? 1 : it->num_items;
}

static void add_columns(tali_osim_analysis *a, const probe *it, tal_table *table)
{
    const char *name = tali_osim_name(it->element);
    const tali_osim *o = &a->tool->o;
    if (is_single(it)) {
        tali_osim_tool_add_column(a->tool, table, name, "");
        return;
    }
    if (is_metabolic(it)) tali_osim_tool_add_column(a->tool, table, name, "_TOTAL");
    if (is_metabolic(it) && !it->only_total) {
        tali_osim_tool_add_column(a->tool, table, name, "_BASAL");
    }
    if (!is_metabolic(it) && it->sums) tali_osim_tool_add_column(a->tool, table, name, "_Summed");
    const bool each = is_metabolic(it) ? !it->only_total : !it->sums;
    for (int k = 0; k < it->num_items && each; ++k) {
        char label[300];
        const char *item = it->kind->measure == joint_power_of ? o->joints[it->items[k]].name
                                                               : o->forces[it->items[k]].name;
        (void)snprintf(label, sizeof label, "%.70s_%.70s", name, item);
        tali_osim_tool_add_column(a->tool, table, label, "");
    }
}

static void begin_probe(tali_osim_analysis *a, probe *it, const tali_xml_element *e,
                        const probe_kind *kind)
{
    tali_osim *setup = &a->tool->setup;
    *it = (probe){.element = e, .kind = kind, .operation = read_operation(a, e)};
    it->gain = first_number(a, e, "gain", first_number(a, e, "scale_factor", 1.0));
    it->start = first_number(a, e, "initial_conditions_for_integration", 0.0);
    it->exponent = tali_osim_number(setup, e, "exponent", 1.0);
    it->sums = kind->sum != NULL && tali_osim_bool(setup, e, kind->sum, false);
    read_items(a, it);
    if (kind->read != NULL) kind->read(a, it);
    it->num_columns = count_columns(it);
    const size_t n = (size_t)it->num_columns;
    it->now = tali_osim_analysis_take(a, n * sizeof *it->now);
    it->before = tali_osim_analysis_take(a, n * sizeof *it->before);
    it->result = tali_osim_analysis_take(a, n * sizeof *it->result);
}

// The probes of the model that are enabled, and one table for all.
static void begin(tali_osim_analysis *a)
{
    tali_osim *setup = &a->tool->setup;
    const tali_xml_element *first = tali_osim_first_of(a->tool->o.model, "ProbeSet");
    size_t n = 1;
    for (const tali_xml_element *e = first; e != NULL; e = e->next) {
        ++n;
    }
    probes *it = a->data = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    *it = (probes){.items = tali_osim_analysis_take(a, n * sizeof *it->items)};
    if (it->items == NULL) return;
    tal_table *table = tali_osim_analysis_add_table(a, "_probes.sto", "Probes");
    for (const tali_xml_element *e = first; e != NULL && table != NULL; e = e->next) {
        const probe_kind *kind = find_kind(e);
        const bool is_off = tali_osim_bool(setup, e, "isDisabled", false);
        if (is_off || !tali_osim_bool(setup, e, "enabled", true)) continue;
        if (kind == NULL) {
            tali_osim_analysis_warn(a, "ProbeReporter",
                                    "<%.60s> '%.60s' is not a probe that Talus "
                                    "has; it is not recorded",
                                    e->name, tali_osim_name(e));
            continue;
        }
        begin_probe(a, &it->items[it->num], e, kind);
        if (tali_osim_tool_is_good(a->tool)) add_columns(a, &it->items[it->num++], table);
    }
    if (it->num == 0 && tali_osim_tool_is_good(a->tool)) {
        tali_osim_analysis_warn(a, "ProbeReporter", "the model has no probe that is enabled");
    }
}

// --- a row ---

// What the probe measures now, before its operation.
static void measure(const tali_osim_tool *tool, probe *it)
{
    const bool each = !is_single(it) && (is_metabolic(it) ? !it->only_total : !it->sums);
    double *items = it->now + (is_metabolic(it) && each ? 2 : 0);
    double sum = 0.0;
    for (int k = 0; k < it->num_items; ++k) {
        const double x = it->kind->measure(tool, it, k);
        const double y = it->exponent == 1.0 ? x : pow(x, it->exponent);
        if (each) items[k] = y;
        sum += y;
    }
    if (is_single(it)) it->now[0] = it->kind->measure(tool, it, 0);
    if (is_metabolic(it)) it->now[0] = sum + it->basal;
    if (is_metabolic(it) && each) it->now[1] = it->basal;
    if (!is_metabolic(it) && !is_single(it) && !each) it->now[0] = sum;
}

// One column after its operation. Integrals are by trapezoids between rows.
static double operate(const probe *it, int c, double t)
{
    const double x = it->now[c], old = it->result[c], h = t - it->t;
    const bool is_first = it->num_rows == 0;
    switch (it->operation) {
    case INTEGRATE:
        return is_first ? it->start : old + 0.5 * h * (x + it->before[c]);
    case DIFFERENTIATE:
        return is_first || !(h > 0.0) ? 0.0 : (x - it->before[c]) / h;
    case MINIMUM:
        return is_first ? x : fmin(x, old);
    case MINABS:
        return is_first || fabs(x) < fabs(old) ? x : old;
    case MAXIMUM:
        return is_first ? x : fmax(x, old);
    case MAXABS:
        return is_first || fabs(x) > fabs(old) ? x : old;
    case VALUE:
    case NUM_OPERATIONS:
    default:
        return x;
    }
}

static void record(tali_osim_analysis *a)
{
    probes *all = a->data;
    const double t = tal_state_t(a->tool->model.state);
    double *at = a->rows[0] + 1;
    for (int i = 0; i < all->num; ++i) {
        probe *it = &all->items[i];
        measure(a->tool, it);
        for (int c = 0; c < it->num_columns; ++c) {
            it->result[c] = operate(it, c, t);
            it->before[c] = it->now[c];
            *at++ = it->gain * it->result[c];
        }
        it->t = t;
        it->num_rows += 1;
    }
}

const tali_osim_analysis_kind tali_osim_probe_reporter = {
    .name = "ProbeReporter", .begin = begin, .record = record, .in_order = true};
