// Columns of results: everything that a State of a model can be asked for.
#include "table/columns.h"

#include <string.h>

TAL_PRINTF(5, 6)

static void add_column(cli_columns *it, column_kind kind, int i, int j, const char *fmt, ...)
{
    it->list = cli_resize(it->list, (size_t)(it->num + 1), sizeof *it->list);
    column *const c = &it->list[it->num++];
    *c = (column){.kind = kind, .i = i, .j = j};
    va_list list;
    va_start(list, fmt);
    vsnprintf(c->name, sizeof c->name, fmt, list);
    va_end(list);
}

static void set_unit(const cli_columns *it, const char *unit)
{
    column *const c = &it->list[it->num - 1];
    snprintf(c->unit, sizeof c->unit, "%s", unit);
}

static void add_named(cli_columns *it, column_kind kind, const char *name, const char *unit)
{
    add_column(it, kind, 0, 0, "%s", name);
    set_unit(it, unit);
}

// `state` is NULL in a model without a pose, which has no units of coordinates; commands that need
// the pose report why.
static void add_coordinates(cli_columns *it, const cli_model *model, const tal_state *state)
{
    for (int slot = 0; slot < tal_state_nq(model->state); ++slot) {
        int i = -1;
        char name[TAL_COORDINATE_NAME_SIZE];
        const tal_body_ix body = tal_matter_q_owner(model->matter, model->state, slot, &i);
        snprintf(name, sizeof name, "q%d", slot);
        if (body.i >= 0) {
            (void)tal_body_coordinate_name(model->matter, model->state, body, i, name);
        }
        add_column(it, COLUMN_Q, slot, 0, "%s", name);
        if (body.i >= 0 && state != NULL) {
            set_unit(it, tal_body_q_unit(model->matter, state, body, i));
        }
    }
}

// Speeds are named after their body: "<body>.u<i>"; so are their rates, "<body>.udot<i>".
static void add_speeds(cli_columns *it, const cli_model *model, const tal_state *state,
                       column_kind kind)
{
    const char *const letter = kind == COLUMN_U ? "u" : "udot";
    for (int slot = 0; slot < tal_state_nu(model->state); ++slot) {
        int i = -1;
        const tal_body_ix body = tal_matter_u_owner(model->matter, model->state, slot, &i);
        if (body.i < 0) {
            add_column(it, kind, slot, 0, "%s%d", letter, slot);
            continue;
        }
        add_column(it, kind, slot, 0, "%s.%s%d", tal_body_name(model->matter, body), letter, i);
        if (state == NULL) continue;
        char unit[TAL_UNIT_SIZE];
        snprintf(unit, sizeof unit, "%s%s", tal_body_u_unit(model->matter, state, body, i),
                 kind == COLUMN_U ? "" : "^2");
        set_unit(it, unit);
    }
}

// Variables of forces and measures are named after the group that they are declared in.
static void add_z(cli_columns *it, const cli_model *model)
{
    for (int slot = 0; slot < tal_state_nz(model->state); ++slot) {
        int i = -1;
        const tal_group_ix group =
            tal_state_slot_owner(model->system, model->state, TAL_POOL_Z, slot, &i);
        if (group.i < 0) {
            add_column(it, COLUMN_Z, slot, 0, "z%d", slot);
        } else {
            add_column(it, COLUMN_Z, slot, 0, "%s[%d]", tal_group_name(model->system, group), i);
        }
    }
}

static void add_measures(cli_columns *it, const cli_model *model, const tal_state *state)
{
    for (int i = 0; i < tal_system_num_measures(model->system); ++i) {
        const tal_measure_ix measure = {i};
        const int size = tal_measure_size(model->system, measure);
        const char *const name = tal_measure_name(model->system, measure);
        char unit[TAL_UNIT_SIZE] = "";
        if (state != NULL) (void)tal_matter_measure_unit(model->matter, state, measure, unit);
        for (int j = 0; j < size; ++j) {
            if (size == 1) {
                add_column(it, COLUMN_MEASURE, i, j, "%s", name);
            } else {
                add_column(it, COLUMN_MEASURE, i, j, "%s[%d]", name, j);
            }
            set_unit(it, unit);
        }
    }
}

static bool has_force(const cli_model *model, const char *kind)
{
    for (int i = 0; i < tal_forces_num(model->forces); ++i) {
        if (strcmp(tal_force_kind(model->forces, (tal_force_ix){i}), kind) == 0) return true;
    }
    return false;
}

static void add_energies(cli_columns *it, const cli_model *model)
{
    add_named(it, COLUMN_KINETIC_ENERGY, "kinetic_energy", "J");
    add_named(it, COLUMN_POTENTIAL_ENERGY, "potential_energy", "J");
    add_named(it, COLUMN_TOTAL_ENERGY, "total_energy", "J");
    const bool has_chain = has_force(model, "thermostat");
    if (!has_chain && !has_force(model, "langevin")) return;
    add_named(it, COLUMN_TEMPERATURE, "temperature", "J");
    if (!has_chain) return; // what a Langevin bath took is not known
    add_named(it, COLUMN_BATH_ENERGY, "bath_energy", "J");
    add_named(it, COLUMN_CONSERVED_ENERGY, "conserved_energy", "J");
}

static void add_poses(cli_columns *it, const cli_model *model)
{
    static const char *const parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    for (int b = 1; b < tal_matter_num_bodies(model->matter); ++b) {
        const char *const name = tal_body_name(model->matter, (tal_body_ix){b});
        for (int j = 0; j < 7; ++j) {
            add_column(it, COLUMN_POSE, b, j, "%s.%s", name, parts[j]);
            set_unit(it, j < 3 ? "m" : "1");
        }
    }
}

static void add_reactions(cli_columns *it, const cli_model *model)
{
    static const char *const parts[] = {"fx", "fy", "fz", "mx", "my", "mz"};
    for (int b = 1; b < tal_matter_num_bodies(model->matter); ++b) {
        const char *const name = tal_body_name(model->matter, (tal_body_ix){b});
        for (int j = 0; j < 6; ++j) {
            add_column(it, COLUMN_REACTION, b, j, "%s.reaction_%s", name, parts[j]);
            set_unit(it, j < 3 ? "N" : "N m");
        }
    }
}

// Of a contact element: the force on each of its surfaces. Of a smooth contact or an exponential
// spring: the force on what it holds up.
static void add_contacts(cli_columns *it, const cli_model *model)
{
    for (int i = 0; i < tal_forces_num(model->forces); ++i) {
        const tal_force_ix force = {i};
        const char *const kind = tal_force_kind(model->forces, force);
        const char *const name = tal_force_name(model->forces, force);
        const bool is_contact = strcmp(kind, "contact") == 0;
        const int surfaces = is_contact ? tal_contact_num_surfaces(model->forces, force) : 1;
        if (!is_contact && strcmp(kind, "smooth contact") != 0 &&
            strcmp(kind, "exponential spring") != 0) {
            continue;
        }
        for (int j = 0; j < 3 * surfaces; ++j) {
            const tal_contact_surface_ix surface = {j / 3};
            const char *const owner =
                is_contact ? tal_contact_surface_name(model->forces, force, surface) : "";
            add_column(it, COLUMN_CONTACT, i, j, "%s%s%s.f%c", name, owner[0] != 0 ? "." : "",
                       owner, "xyz"[j % 3]);
            set_unit(it, "N");
        }
    }
}

int columns_all(const cli_args *args, const cli_model *model, cli_columns *out)
{
    memset(out, 0, sizeof *out);
    tal_state *const state = cli_state_copy(args, model);
    if (state == NULL) return CLI_FAILED;
    const tal_status st = tal_system_realize(model->system, state, TAL_STAGE_POSITION);
    const tal_state *const posed = st == TAL_OK ? state : NULL;
    add_named(out, COLUMN_TIME, "time", "s");
    add_coordinates(out, model, posed);
    add_speeds(out, model, posed, COLUMN_U);
    add_speeds(out, model, posed, COLUMN_UDOT);
    add_z(out, model);
    add_measures(out, model, posed);
    add_energies(out, model);
    add_named(out, COLUMN_POSITION_ERROR, "position_error", "m or rad");
    add_named(out, COLUMN_VELOCITY_ERROR, "velocity_error", "m/s or rad/s");
    add_poses(out, model);
    add_reactions(out, model);
    add_contacts(out, model);
    tal_state_destroy(state);
    return CLI_OK;
}
