// Columns of results: choosing and reading them.
#include "columns.h"

#include "angles.h"
#include "result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A group of columns that can be asked for by one word.
typedef struct group {
    const char *name;
    column_kind first, last;
} group;

static const group groups[] = {{"q", COLUMN_Q, COLUMN_Q},
                               {"u", COLUMN_U, COLUMN_U},
                               {"measures", COLUMN_MEASURE, COLUMN_MEASURE},
                               {"energy", COLUMN_KINETIC_ENERGY, COLUMN_TOTAL_ENERGY},
                               {"errors", COLUMN_POSITION_ERROR, COLUMN_VELOCITY_ERROR}};

enum {
    NUM_GROUPS = sizeof groups / sizeof groups[0]
};

static column *add_column(cli_columns *it, column_kind kind, int i, int j)
{
    it->list = cli_resize(it->list, (size_t)(it->num + 1), sizeof *it->list);
    column *const c = &it->list[it->num++];
    *c = (column){.kind = kind, .i = i, .j = j, .unit = ""};
    return c;
}

static void add_named(cli_columns *it, column_kind kind, const char *name)
{
    column *const c = add_column(it, kind, 0, 0);
    snprintf(c->name, sizeof c->name, "%s", name);
}

static void add_coordinates(cli_columns *it, const cli_model *model)
{
    for (int slot = 0; slot < tal_state_nq(model->state); ++slot) {
        int local = -1;
        const tal_body_ix body = tal_matter_q_owner(model->matter, model->state, slot, &local);
        column *const c = add_column(it, COLUMN_Q, slot, 0);
        snprintf(c->name, sizeof c->name, "q%d", slot);
        if (body.i < 0) continue;
        (void)tal_body_coordinate_name(model->matter, model->state, body, local, c->name);
    }
}

// A speed is named after its body: "<body>.u<i>".
static void add_speeds(cli_columns *it, const cli_model *model)
{
    for (int slot = 0; slot < tal_state_nu(model->state); ++slot) {
        int local = -1;
        const tal_body_ix body = tal_matter_u_owner(model->matter, model->state, slot, &local);
        column *const c = add_column(it, COLUMN_U, slot, 0);
        if (body.i < 0) {
            snprintf(c->name, sizeof c->name, "u%d", slot);
        } else {
            snprintf(c->name, sizeof c->name, "%s.u%d", tal_body_name(model->matter, body), local);
        }
    }
}

static void add_measures(cli_columns *it, const cli_model *model)
{
    for (int i = 0; i < tal_system_num_measures(model->system); ++i) {
        const tal_measure_ix measure = {i};
        const int size = tal_measure_size(model->system, measure);
        const char *const name = tal_measure_name(model->system, measure);
        for (int j = 0; j < size; ++j) {
            column *const c = add_column(it, COLUMN_MEASURE, i, j);
            if (size == 1) {
                snprintf(c->name, sizeof c->name, "%s", name);
            } else {
                snprintf(c->name, sizeof c->name, "%s[%d]", name, j);
            }
        }
    }
}

// Everything that a State can be asked for, in the order of results.
static cli_columns all_columns(const cli_model *model)
{
    cli_columns all = {0};
    add_coordinates(&all, model);
    add_speeds(&all, model);
    add_measures(&all, model);
    add_named(&all, COLUMN_KINETIC_ENERGY, "kinetic_energy");
    add_named(&all, COLUMN_POTENTIAL_ENERGY, "potential_energy");
    add_named(&all, COLUMN_TOTAL_ENERGY, "total_energy");
    add_named(&all, COLUMN_POSITION_ERROR, "position_error");
    add_named(&all, COLUMN_VELOCITY_ERROR, "velocity_error");
    return all;
}

static tal_stage stage_of(const cli_model *model, const column *c)
{
    switch (c->kind) {
    case COLUMN_TIME:
    case COLUMN_Q:
    case COLUMN_U:
        return TAL_STAGE_MODEL;
    case COLUMN_MEASURE:
        return tal_measure_stage(model->system, (tal_measure_ix){c->i}, 0);
    case COLUMN_POTENTIAL_ENERGY:
    case COLUMN_POSITION_ERROR:
        return TAL_STAGE_POSITION;
    default:
        return TAL_STAGE_VELOCITY;
    }
}

bool columns_find(const cli_columns *it, const char *name)
{
    for (int k = 0; k < it->num; ++k) {
        if (strcmp(it->list[k].name, name) == 0) return true;
    }
    return false;
}

// Of two columns with one name a table holds the first; that is said, unless they are the same.
static void take_column(const cli_args *args, cli_columns *it, const cli_model *model,
                        const column *c)
{
    for (int k = 0; k < it->num; ++k) {
        const column *const other = &it->list[k];
        if (strcmp(other->name, c->name) != 0) continue;
        if (other->kind == c->kind && other->i == c->i && other->j == c->j) return;
        cli_warn(args, "two columns would be named '%s'; the second one is left out.", c->name);
        return;
    }
    column *const copy = add_column(it, c->kind, c->i, c->j);
    *copy = *c;
    const tal_stage stage = stage_of(model, c);
    if (stage > it->stage) it->stage = stage;
}

// Take what a word of the list asks for: a group, which may be empty, or a column. Is there any?
static bool take_word(const cli_args *args, cli_columns *it, const cli_model *model,
                      const cli_columns *all, const char *word)
{
    const group *asked = NULL;
    for (int g = 0; g < NUM_GROUPS; ++g) {
        if (strcmp(groups[g].name, word) == 0) asked = &groups[g];
    }
    bool found = asked != NULL;
    for (int k = 0; k < all->num; ++k) {
        const column *const c = &all->list[k];
        const bool is_meant = asked != NULL ? c->kind >= asked->first && c->kind <= asked->last
                                            : strcmp(c->name, word) == 0;
        if (!is_meant) continue;
        take_column(args, it, model, c);
        found = true;
    }
    return found;
}

static const char *name_at(const void *context, int i)
{
    const cli_columns *const all = context;
    if (i < NUM_GROUPS) return groups[i].name;
    return i - NUM_GROUPS < all->num ? all->list[i - NUM_GROUPS].name : NULL;
}

static int refuse_word(const cli_args *args, const cli_columns *all, const char *word)
{
    const char *const meant = tal_did_you_mean(word, name_at, all);
    if (meant == NULL) return cli_fail(args, CLI_USAGE, "there is no column '%s'.", word);
    return cli_fail(args, CLI_USAGE, "there is no column '%s' (did you mean '%s'?).", word, meant);
}

// Of a coordinate or a speed; the State is realized to Position.
static const char *unit_of(const column *c, const cli_model *model, const tal_state *state)
{
    int i = -1;
    if (c->kind == COLUMN_Q) {
        const tal_body_ix body = tal_matter_q_owner(model->matter, state, c->i, &i);
        if (body.i < 0) return "";
        if (cli_is_angle(model, state, body, i)) return "rad";
        return cli_is_of_quaternion(model, state, body, i) ? "1" : "m";
    }
    const tal_body_ix body = tal_matter_u_owner(model->matter, state, c->i, &i);
    if (body.i < 0) return "";
    return cli_is_turning(model, state, body, i) ? "rad/s" : "m/s";
}

// An exit code. A model without a pose has no units of coordinates; commands that need the pose
// report why.
static int find_units(const cli_args *args, const cli_model *model, cli_columns *it)
{
    tal_state *const state = cli_state_copy(args, model);
    if (state == NULL) return CLI_FAILED;
    const bool has_pose = tal_system_realize(model->system, state, TAL_STAGE_POSITION) == TAL_OK;
    for (int k = 0; k < it->num; ++k) {
        column *const c = &it->list[k];
        if (c->kind == COLUMN_TIME) c->unit = "s";
        if (c->kind == COLUMN_POSITION_ERROR) c->unit = "m or rad";
        if (c->kind == COLUMN_VELOCITY_ERROR) c->unit = "m/s or rad/s";
        if (c->kind >= COLUMN_KINETIC_ENERGY && c->kind <= COLUMN_TOTAL_ENERGY) c->unit = "J";
        if (has_pose && (c->kind == COLUMN_Q || c->kind == COLUMN_U)) {
            c->unit = unit_of(c, model, state);
        }
    }
    tal_state_destroy(state);
    return CLI_OK;
}

int columns_choose(const cli_args *args, const cli_model *model, const char *list, bool with_time,
                   cli_columns *out)
{
    memset(out, 0, sizeof *out);
    out->stage = TAL_STAGE_MODEL;
    if (with_time) add_named(out, COLUMN_TIME, "time");
    cli_columns all = all_columns(model);
    char *const words = cli_copy(list);
    int code = CLI_OK;
    for (char *word = words; word != NULL && code == CLI_OK;) {
        char *const comma = strchr(word, ',');
        if (comma != NULL) *comma = 0;
        if (!take_word(args, out, model, &all, word)) code = refuse_word(args, &all, word);
        word = comma != NULL ? comma + 1 : NULL;
    }
    free(words);
    columns_destroy(&all);
    return code == CLI_OK ? find_units(args, model, out) : code;
}

void columns_destroy(cli_columns *it)
{
    free(it->list);
    it->list = NULL;
    it->num = 0;
}

tal_status columns_name(const cli_columns *it, tal_table *table)
{
    tal_status st = TAL_OK;
    const int first = tal_table_num_columns(table);
    const char **const units = cli_alloc((size_t)it->num, sizeof *units);
    for (int k = 0; k < it->num && st == TAL_OK; ++k) {
        st = tal_table_add_column(table, it->list[k].name);
        units[k] = it->list[k].unit;
    }
    if (st == TAL_OK) st = result_set_units(table, first, units, it->num);
    free(units);
    return st;
}

double cli_largest(const double values[], int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        if (!(fabs(values[i]) <= largest)) largest = fabs(values[i]);
    }
    return largest;
}

// Energies of a row, found once, for several columns may want them; NaN: not yet.
typedef struct energies {
    double kinetic, potential;
} energies;

static double kinetic_energy(energies *it, const cli_model *model, const tal_state *state)
{
    if (isnan(it->kinetic)) it->kinetic = tal_matter_kinetic_energy(model->matter, state);
    return it->kinetic;
}

static double potential_energy(energies *it, const cli_model *model, tal_state *state)
{
    if (isnan(it->potential)) it->potential = tal_forces_potential_energy(model->forces, state);
    return it->potential;
}

// The value of one column. NaN when it cannot be computed.
static double read_one(const column *c, const cli_model *model, tal_state *state, energies *energy)
{
    const double *values;
    switch (c->kind) {
    case COLUMN_TIME:
        return tal_state_t(state);
    case COLUMN_Q:
        return tal_state_q(state)[c->i];
    case COLUMN_U:
        return tal_state_u(state)[c->i];
    case COLUMN_MEASURE:
        values = tal_measure_values(model->system, state, (tal_measure_ix){c->i});
        return values != NULL ? values[c->j] : (double)NAN;
    case COLUMN_KINETIC_ENERGY:
        return kinetic_energy(energy, model, state);
    case COLUMN_POTENTIAL_ENERGY:
        return potential_energy(energy, model, state);
    case COLUMN_TOTAL_ENERGY:
        return kinetic_energy(energy, model, state) + potential_energy(energy, model, state);
    case COLUMN_POSITION_ERROR:
        return cli_largest(tal_state_qerr(state), tal_state_pool_size(state, TAL_POOL_QERR));
    case COLUMN_VELOCITY_ERROR:
        return cli_largest(tal_state_uerr(state), tal_state_pool_size(state, TAL_POOL_UERR));
    }
    return (double)NAN;
}

tal_status columns_read(const cli_columns *it, const cli_model *model, tal_state *state,
                        double row[])
{
    const tal_status st = tal_system_realize(model->system, state, it->stage);
    energies energy = {(double)NAN, (double)NAN};
    for (int k = 0; k < it->num && st == TAL_OK; ++k) {
        row[k] = read_one(&it->list[k], model, state, &energy);
        if (!isnan(row[k])) continue;
        const tal_status why = tal_state_error(state)->status; // a measure that failed is a NaN
        if (why != TAL_OK) return why;
    }
    return st;
}
