// Columns of results: choosing and reading them.
#include "table/columns.h"

#include "table/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A group of columns that can be asked for by one word.
typedef struct group {
    const char *name;
    column_kind first, last;
} group;

static const group groups[] = {{"time", COLUMN_TIME, COLUMN_TIME},
                               {"q", COLUMN_Q, COLUMN_Q},
                               {"u", COLUMN_U, COLUMN_U},
                               {"udot", COLUMN_UDOT, COLUMN_UDOT},
                               {"z", COLUMN_Z, COLUMN_Z},
                               {"measures", COLUMN_MEASURE, COLUMN_MEASURE},
                               {"energy", COLUMN_KINETIC_ENERGY, COLUMN_TOTAL_ENERGY},
                               {"bath", COLUMN_TEMPERATURE, COLUMN_CONSERVED_ENERGY},
                               {"errors", COLUMN_POSITION_ERROR, COLUMN_VELOCITY_ERROR},
                               {"poses", COLUMN_POSE, COLUMN_POSE},
                               {"reactions", COLUMN_REACTION, COLUMN_REACTION},
                               {"contacts", COLUMN_CONTACT, COLUMN_CONTACT}};

enum {
    NUM_GROUPS = sizeof groups / sizeof groups[0]
};

const char *columns_group_name(int i)
{
    return i >= 0 && i < NUM_GROUPS ? groups[i].name : NULL;
}

const char *columns_group(column_kind kind)
{
    for (int g = 0; g < NUM_GROUPS; ++g) {
        if (kind >= groups[g].first && kind <= groups[g].last) return groups[g].name;
    }
    return "";
}

static tal_stage stage_of(const cli_model *model, const column *c)
{
    switch (c->kind) {
    case COLUMN_TIME:
    case COLUMN_Q:
    case COLUMN_U:
    case COLUMN_Z:
        return TAL_STAGE_MODEL;
    case COLUMN_MEASURE:
        return tal_measure_stage(model->system, (tal_measure_ix){c->i}, 0);
    case COLUMN_POTENTIAL_ENERGY:
    case COLUMN_POSITION_ERROR:
    case COLUMN_POSE:
        return TAL_STAGE_POSITION;
    case COLUMN_UDOT:
    case COLUMN_REACTION:
        return TAL_STAGE_ACCELERATION;
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

// Columns being chosen. A model can have a million, so names are found by their hashes.
typedef struct choice {
    const cli_args *args;
    const cli_model *model;
    cli_columns *out;
    int *slots; // column + 1; 0: free; never more than half full
    size_t num_slots;
} choice;

static void begin_choice(choice *it, int most)
{
    it->num_slots = 16;
    while (it->num_slots < 2 * (size_t)most) {
        it->num_slots *= 2;
    }
    it->slots = cli_alloc(it->num_slots, sizeof *it->slots);
}

// Where a name is, or will be.
static int *slot_of(const choice *it, const char *name)
{
    size_t at = 5381;
    for (const char *c = name; *c != '\0'; ++c) {
        at = 33 * at + (unsigned char)*c;
    }
    for (;; ++at) {
        int *const slot = &it->slots[at & (it->num_slots - 1)];
        if (*slot == 0 || strcmp(it->out->list[*slot - 1].name, name) == 0) return slot;
    }
}

// Of two columns with one name a table holds the first; that is said, unless they are the same.
static void take_column(choice *it, const column *c)
{
    cli_columns *const out = it->out;
    int *const slot = slot_of(it, c->name);
    if (*slot != 0) {
        const column *const other = &out->list[*slot - 1];
        if (other->kind == c->kind && other->i == c->i && other->j == c->j) return;
        cli_warn(it->args, "two columns would be named '%s'; the second one is left out.", c->name);
        return;
    }
    out->list = cli_resize(out->list, (size_t)(out->num + 1), sizeof *out->list);
    out->list[out->num++] = *c;
    *slot = out->num;
    const tal_stage stage = stage_of(it->model, c);
    if (stage > out->stage) out->stage = stage;
}

// Take what a word of the list asks for: a group, which may be empty, or a column. Is there any?
static bool take_word(choice *it, const cli_columns *all, const char *word)
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
        take_column(it, c);
        found = true;
    }
    return found;
}

static const char *name_at(const void *context, int i)
{
    const cli_columns *const all = context;
    if (i < NUM_GROUPS) return groups[i].name;
    // the first of all is the time, which is a group as well
    return i + 1 - NUM_GROUPS < all->num ? all->list[i + 1 - NUM_GROUPS].name : NULL;
}

static int refuse_word(const cli_args *args, const cli_columns *all, const char *word)
{
    const char *const meant = tal_did_you_mean(word, name_at, all);
    if (meant != NULL) {
        return cli_fail(args, CLI_USAGE, "there is no column '%s' (did you mean '%s'?).", word,
                        meant);
    }
    char *const names = cli_join(name_at, all, 60);
    const int code =
        cli_fail(args, CLI_USAGE, "there is no column '%s'; there are %s.", word, names);
    free(names);
    return code;
}

int columns_choose(const cli_args *args, const cli_model *model, const char *list, bool with_time,
                   cli_columns *out)
{
    memset(out, 0, sizeof *out);
    out->stage = TAL_STAGE_MODEL;
    cli_columns all;
    int code = columns_all(args, model, &all);
    if (code != CLI_OK) return code;
    choice it = {.args = args, .model = model, .out = out};
    begin_choice(&it, all.num);
    if (with_time) take_column(&it, &all.list[0]); // the time comes first
    char *const words = cli_copy(list);
    for (char *word = words; word != NULL && code == CLI_OK;) {
        char *const comma = strchr(word, ',');
        if (comma != NULL) *comma = 0;
        if (!take_word(&it, &all, word)) code = refuse_word(args, &all, word);
        word = comma != NULL ? comma + 1 : NULL;
    }
    free(words);
    free(it.slots);
    columns_destroy(&all);
    return code;
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
